//! Attributes of the nvvm dialect, which upstream writes `#nvvm<kind word>`.

use sutura_ir::asm::parse::{AsmParser, DirectiveArg, DirectiveDef, OpParts, ParamParser};
use sutura_ir::asm::print::Printer;
use sutura_ir::{Attr, OpRef, Reported};

crate::words::words! { "nvvm", parse;
    /// From which lane `nvvm.shfl.sync` takes the value.
    ShuffleKind = "shfl_kind", "NVVM shuffle kind";
    {
        /// The lane whose number differs in the bits of the offset.
        Bfly => "bfly",
        /// The lane so many below.
        Up => "up",
        /// The lane so many above.
        Down => "down",
        /// The lane of this number.
        Idx => "idx",
    }
}

crate::words::words! { "nvvm", parse;
    /// Which caches `nvvm.cp.async.shared.global` leaves what it reads in.
    CacheModifier = "load_cache_modifier", "NVVM load cache modifier";
    {
        /// All.
        Ca => "ca",
        /// The one that all multiprocessors share.
        Cg => "cg",
    }
}

/// Reads what follows `#nvvm`.
pub(super) fn parse(p: &mut dyn ParamParser) -> Result<Attr, Reported> {
    p.punct("<")?;
    let loc = p.loc();
    let kind = p.any_keyword()?;
    if !matches!(kind.as_str(), "shfl_kind" | "load_cache_modifier") {
        return Err(p.beyond_subset(loc, &format!("unknown attribute `{kind}` in dialect `nvvm`")));
    }
    let loc = p.loc();
    let word = p.enum_word()?;
    let attr = match kind.as_str() {
        "shfl_kind" => ShuffleKind::from_keyword(&word).map(|kind| p.cx().ext_attr(kind)),
        _ => CacheModifier::from_keyword(&word).map(|modifier| p.cx().ext_attr(modifier)),
    };
    let attr = attr.ok_or_else(|| p.error_at(loc, &format!("`{word}` is no case of `{kind}`")))?;
    p.punct(">")?;
    Ok(attr)
}

/// The word alone, behind two blanks, as upstream writes it.
pub(super) const KIND: DirectiveDef = DirectiveDef { parse: parse_kind, print: print_kind };

fn parse_kind(p: &mut dyn AsmParser, parts: &mut OpParts, _: &[DirectiveArg]) -> Result<(), Reported> {
    let loc = p.loc();
    let word = p.enum_word()?;
    let Some(kind) = ShuffleKind::from_keyword(&word) else {
        return Err(p.error_at(loc, &format!("expected `bfly`, `up`, `down` or `idx`, found `{word}`")));
    };
    parts.set_prop(p.cx(), "kind", p.cx().ext_attr(kind));
    Ok(())
}

fn print_kind(p: &mut Printer<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    if let Some(kind) = op.prop("kind").and_then(|a| op.cx.attr_as::<ShuffleKind>(a)) {
        p.text("  ");
        p.text(kind.keyword());
    }
}

/// The word alone, behind two blanks, as upstream writes it.
pub(super) const CACHE: DirectiveDef = DirectiveDef { parse: parse_cache, print: print_cache };

fn parse_cache(p: &mut dyn AsmParser, parts: &mut OpParts, _: &[DirectiveArg]) -> Result<(), Reported> {
    let loc = p.loc();
    let word = p.enum_word()?;
    let Some(modifier) = CacheModifier::from_keyword(&word) else {
        return Err(p.error_at(loc, &format!("expected `ca` or `cg`, found `{word}`")));
    };
    parts.set_prop(p.cx(), "modifier", p.cx().ext_attr(modifier));
    Ok(())
}

fn print_cache(p: &mut Printer<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    if let Some(modifier) = op.prop("modifier").and_then(|a| op.cx.attr_as::<CacheModifier>(a)) {
        p.text("  ");
        p.text(modifier.keyword());
    }
}

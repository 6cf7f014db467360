//! Directives of llvm's assembly formats.

use sutura_ir::asm::parse::{AsmParser, DirectiveArg, DirectiveDef, OpParts};
use sutura_ir::asm::print::Printer;
use sutura_ir::op_def::AttrSyntax;
use sutura_ir::{OpRef, Reported, Type};

use crate::arith::IntegerOverflowFlags;

/// `custom<OverflowFlags>($overflowFlags)`: `<nsw, nuw>` for the bits of an `i32`.
pub(super) const OVERFLOW_FLAGS: DirectiveDef = DirectiveDef { parse: parse_overflow, print: print_overflow };

/// `custom<Comparison>($predicate)`: the predicate as a string.
pub(super) const COMPARISON: DirectiveDef = DirectiveDef { parse: parse_comparison, print: print_comparison };

/// `custom<InsertedType>(type($vector), type($value))`: the vector's type, from which the element's follows.
pub(super) const INSERTED_TYPE: DirectiveDef = DirectiveDef { parse: parse_inserted, print: print_inserted };

fn parse_inserted(p: &mut dyn AsmParser, parts: &mut OpParts, _: &[DirectiveArg]) -> Result<(), Reported> {
    let vector = p.ty()?;
    parts.operand_types[0] = Some(vec![vector]);
    parts.operand_types[1] = Some(vec![p.cx().element_type(vector)]);
    Ok(())
}

fn print_inserted(p: &mut Printer<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    p.types(op.operand_types().take(1));
}

const BITS: [(i64, IntegerOverflowFlags); 2] = [(1, IntegerOverflowFlags::NSW), (2, IntegerOverflowFlags::NUW)];

fn parse_overflow(p: &mut dyn AsmParser, parts: &mut OpParts, _: &[DirectiveArg]) -> Result<(), Reported> {
    let flags = IntegerOverflowFlags::parse(p)?;
    let bits = BITS.iter().filter(|(_, flag)| flags.has(*flag)).map(|(bit, _)| bit).sum();
    parts.set_prop(p.cx(), "overflowFlags", p.cx().int_attr(bits, Type::I32));
    Ok(())
}

fn print_overflow(p: &mut Printer<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    let bits = op.prop("overflowFlags").and_then(|a| op.cx.as_int(a)).unwrap_or_default();
    let set = BITS.iter().filter(|(bit, _)| bits & bit != 0).map(|(_, flag)| *flag);
    p.text(&set.fold(IntegerOverflowFlags::NONE, IntegerOverflowFlags::with).to_string());
}

fn parse_comparison(p: &mut dyn AsmParser, parts: &mut OpParts, args: &[DirectiveArg]) -> Result<(), Reported> {
    let Some(DirectiveArg::Attr(index)) = args.first().copied() else {
        return Err(p.error("a comparison is written for an attribute"));
    };
    let loc = p.loc();
    let word = p.string()?;
    let AttrSyntax::Keyword(ty, words) = parts.def.attrs[index].constraint.syntax else {
        return Err(p.error("a comparison is one of some words"));
    };
    match words.iter().find(|(w, _)| *w == word) {
        Some((_, value)) => {
            parts.set_prop_at(p.cx(), index, p.cx().int_attr(*value, ty));
            Ok(())
        }
        None => {
            let known: Vec<&str> = words.iter().map(|(w, _)| *w).collect();
            Err(p.error_at(loc, &format!("'{word}' is no predicate; they are {}", known.join(", "))))
        }
    }
}

fn print_comparison(p: &mut Printer<'_>, op: OpRef<'_>, args: &[DirectiveArg]) {
    let Some(DirectiveArg::Attr(index)) = args.first().copied() else { return };
    let syntax = op.def().map(|d| d.attrs[index].constraint.syntax);
    let value = op.prop_at(index).and_then(|a| op.cx.as_int(a));
    if let Some(AttrSyntax::Keyword(_, words)) = syntax
        && let Some((word, _)) = words.iter().find(|(_, v)| Some(*v) == value)
    {
        p.string(word);
    }
}

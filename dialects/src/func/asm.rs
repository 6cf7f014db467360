//! Directives of func's assembly formats: the name with its visibility, and the signature.

use sutura_ir::asm::parse::{AsmParser, DirectiveArg, DirectiveDef, OpParts, RegionArg};
use sutura_ir::asm::print::Printer;
use sutura_ir::op_def::OpView;
use sutura_ir::{Attr, Context, OpRef, Reported, Type};

use super::ops::FuncOp;

/// `custom<NameAndVisibility>($sym_visibility, $sym_name)`: `[public|private|nested] @name`.
pub(super) const NAME_AND_VISIBILITY: DirectiveDef = DirectiveDef { parse: parse_name, print: print_name };

/// `custom<Signature>($function_type, $arg_attrs, $res_attrs, $body)`: `(%arg: type {attrs}, …) -> (type {attrs}, …)`,
/// with types alone for a declaration.
pub(super) const SIGNATURE: DirectiveDef = DirectiveDef { parse: parse_signature, print: print_signature };

fn parse_name(p: &mut dyn AsmParser, parts: &mut OpParts, _: &[DirectiveArg]) -> Result<(), Reported> {
    for visibility in ["public", "private", "nested"] {
        if p.opt_keyword(visibility) {
            parts.set_prop(p.cx(), "sym_visibility", p.cx().string_attr(visibility));
            break;
        }
    }
    let name = p.symbol()?;
    let name = p.cx().string_attr(p.cx().str(name));
    parts.set_prop(p.cx(), "sym_name", name);
    Ok(())
}

fn print_name(p: &mut Printer<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    if let Some(visibility) = op.prop("sym_visibility").and_then(|a| op.cx.as_str(a)) {
        p.text(visibility);
        p.text(" ");
    }
    p.symbol_name(op.symbol_name().unwrap_or_default());
}

/// Types with the attributes that stand beside them.
#[derive(Default)]
struct TypeList {
    types: Vec<Type>,
    dicts: Vec<Attr>,
}

impl TypeList {
    fn push(&mut self, ty: Type, dict: Attr) {
        self.types.push(ty);
        self.dicts.push(dict);
    }

    /// The dictionaries as an array; nothing when all are empty.
    fn attr(&self, cx: &Context) -> Option<Attr> {
        self.dicts.iter().any(|d| *d != Attr::EMPTY_DICT).then(|| cx.array_attr(&self.dicts))
    }
}

fn parse_dict(p: &mut dyn AsmParser) -> Result<Attr, Reported> {
    Ok(p.opt_attr_dict()?.map_or(Attr::EMPTY_DICT, |entries| p.cx().dict(&entries)))
}

fn parse_signature(p: &mut dyn AsmParser, parts: &mut OpParts, args: &[DirectiveArg]) -> Result<(), Reported> {
    let (inputs, names) = parse_arguments(p)?;
    let results = parse_results(p)?;
    let ty = p.cx().function_type(&inputs.types, &results.types);
    parts.set_prop(p.cx(), "function_type", p.cx().type_attr(ty));
    for (name, list) in [("arg_attrs", &inputs), ("res_attrs", &results)] {
        if let Some(attr) = list.attr(p.cx()) {
            parts.set_prop(p.cx(), name, attr);
        }
    }
    let region = args.iter().find_map(|a| if let DirectiveArg::Region(i) = a { Some(*i) } else { None });
    if let (Some(region), Some(names)) = (region, names) {
        parts.region_args[region] = Some(names);
    }
    Ok(())
}

/// `(%arg: type {attrs}, …)` or `(type {attrs}, …)`; the arguments when they are named (or there are none).
fn parse_arguments(p: &mut dyn AsmParser) -> Result<(TypeList, Option<Vec<RegionArg>>), Reported> {
    let (mut list, mut names) = (TypeList::default(), Vec::new());
    p.punct("(")?;
    let mut named = None;
    while !p.opt_punct(")") {
        if !list.types.is_empty() {
            p.punct(",")?;
        }
        let loc = p.loc();
        let operand = p.opt_operand();
        if *named.get_or_insert(operand.is_some()) != operand.is_some() {
            let message =
                if operand.is_some() { "expected type instead of SSA identifier" } else { "expected SSA identifier" };
            return Err(p.error_at(loc, message));
        }
        if operand.is_some() {
            p.punct(":")?;
        }
        let ty = p.ty()?;
        let dict = parse_dict(p)?;
        let loc = p.opt_loc()?.unwrap_or(loc);
        list.push(ty, dict);
        names.extend(operand.map(|o| RegionArg { name: Some(o.name), ty, loc }));
    }
    Ok((list, named.unwrap_or(true).then_some(names)))
}

/// Nothing, `-> type`, or `-> (type {attrs}, …)`.
fn parse_results(p: &mut dyn AsmParser) -> Result<TypeList, Reported> {
    let mut list = TypeList::default();
    if !p.opt_punct("->") {
        return Ok(list);
    }
    if !p.opt_punct("(") {
        list.push(p.ty()?, Attr::EMPTY_DICT);
        return Ok(list);
    }
    while !p.opt_punct(")") {
        if !list.types.is_empty() {
            p.punct(",")?;
        }
        let ty = p.ty()?;
        let dict = parse_dict(p)?;
        list.push(ty, dict);
    }
    Ok(list)
}

/// The dictionary for argument or result `index` in an array of them.
fn dict_at<'a>(op: OpRef<'a>, dicts: Option<&[Attr]>, index: usize) -> &'a [sutura_ir::NamedAttr] {
    dicts.and_then(|d| d.get(index)).map_or(&[], |d| op.cx.entries(*d))
}

fn print_signature(p: &mut Printer<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    let func = FuncOp::from_ref(op);
    let Some((inputs, results)) = op.prop("function_type").and_then(|a| op.cx.signature(op.cx.as_type(a)?)) else {
        return;
    };
    let args = op.region(0).and_then(|r| r.entry()).map(|b| b.args());
    p.text("(");
    p.list(inputs.iter().enumerate(), |p, (i, ty)| {
        match args.and_then(|a| a.get(i)) {
            Some(arg) => p.block_arg(op.inside(), *arg),
            None => p.ty(*ty),
        }
        p.attr_dict(dict_at(op, func.arg_attrs(), i).iter().copied());
    });
    p.text(")");
    if results.is_empty() {
        return;
    }
    p.text(" -> ");
    let dicts = func.res_attrs();
    // A function type as the only result would read as the function's own type.
    let bare = results.len() == 1 && dicts.is_none() && op.cx.signature(results[0]).is_none();
    if bare {
        return p.ty(results[0]);
    }
    p.text("(");
    p.list(results.iter().enumerate(), |p, (i, ty)| {
        p.ty(*ty);
        p.attr_dict(dict_at(op, dicts, i).iter().copied());
    });
    p.text(")");
}

//! Signatures: types of arguments and results with the attributes that stand beside them.

use sutura_ir::asm::parse::{AsmParser, OpParts, RegionArg};
use sutura_ir::asm::print::Printer;
use sutura_ir::{Attr, Context, OpRef, Reported, Type};

/// Types with the attributes that stand beside them.
#[derive(Default)]
pub(crate) struct TypeList {
    pub(crate) types: Vec<Type>,
    dicts: Vec<Attr>,
}

impl TypeList {
    fn push(&mut self, ty: Type, dict: Attr) {
        self.types.push(ty);
        self.dicts.push(dict);
    }

    /// The dictionaries as an array; nothing when all are empty.
    pub(crate) fn attr(&self, cx: &Context) -> Option<Attr> {
        self.dicts.iter().any(|d| *d != Attr::EMPTY_DICT).then(|| cx.array_attr(&self.dicts))
    }
}

fn parse_dict(p: &mut dyn AsmParser) -> Result<Attr, Reported> {
    Ok(p.opt_attr_dict()?.map_or(Attr::EMPTY_DICT, |entries| p.cx().dict(&entries)))
}

/// Arguments with their types; as definitions when they are named (or there are none); whether `...` ends them.
pub(crate) type Arguments = (TypeList, Option<Vec<RegionArg>>, bool);

/// `(%arg: type {attrs}, …)` or `(type {attrs}, …)`; where `variadic`, `...` may end them.
pub(crate) fn parse_arguments(p: &mut dyn AsmParser, variadic: bool) -> Result<Arguments, Reported> {
    let (mut list, mut names) = (TypeList::default(), Vec::new());
    p.punct("(")?;
    let (mut named, mut var_arg) = (None, false);
    while !p.opt_punct(")") {
        if !list.types.is_empty() {
            p.punct(",")?;
        }
        if variadic && p.opt_punct("...") {
            p.punct(")")?;
            var_arg = true;
            break;
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
    Ok((list, named.unwrap_or(true).then_some(names), var_arg))
}

/// Nothing, `-> type`, or `-> (type {attrs}, …)`.
pub(crate) fn parse_results(p: &mut dyn AsmParser) -> Result<TypeList, Reported> {
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

/// Sets `arg_attrs` and `res_attrs`, each where there is any.
pub(crate) fn set_value_attrs(cx: &Context, parts: &mut OpParts, inputs: &TypeList, results: &TypeList) {
    for (name, list) in [("arg_attrs", inputs), ("res_attrs", results)] {
        if let Some(attr) = list.attr(cx) {
            parts.set_prop(cx, name, attr);
        }
    }
}

/// The dictionary for argument or result `index` in an array of them.
fn dict_at<'a>(op: OpRef<'a>, dicts: Option<&[Attr]>, index: usize) -> &'a [sutura_ir::NamedAttr] {
    dicts.and_then(|d| d.get(index)).map_or(&[], |d| op.cx.entries(*d))
}

/// Writes `(%arg: type {attrs}, …)`, or types alone for an op without body, and `...` for more arguments.
pub(crate) fn print_arguments(
    p: &mut Printer<'_>,
    op: OpRef<'_>,
    types: &[Type],
    dicts: Option<&[Attr]>,
    var_arg: bool,
) {
    let args = op.region(0).and_then(|r| r.entry()).map(|b| b.args());
    p.text("(");
    p.list(types.iter().enumerate(), |p, (i, ty)| {
        let arg = args.and_then(|a| a.get(i).copied());
        if let Some(arg) = arg {
            p.value(op.inside(), arg);
            p.text(": ");
        }
        p.ty(*ty);
        let dict = dict_at(op, dicts, i).iter().copied();
        match arg {
            Some(arg) => {
                p.attr_dict_of_arg(dict);
                p.arg_loc(op.inside(), arg);
            }
            None => p.attr_dict(dict),
        }
    });
    if var_arg {
        p.text(if types.is_empty() { "..." } else { ", ..." });
    }
    p.text(")");
}

/// Writes ` -> types`, or nothing without results.
pub(crate) fn print_results(p: &mut Printer<'_>, op: OpRef<'_>, types: &[Type], dicts: Option<&[Attr]>) {
    if types.is_empty() {
        return;
    }
    p.text(" -> ");
    // A function type as the only result would read as the function's own type.
    let bare = types.len() == 1 && dict_at(op, dicts, 0).is_empty() && op.cx.signature(types[0]).is_none();
    if bare {
        return p.ty(types[0]);
    }
    p.text("(");
    p.list(types.iter().enumerate(), |p, (i, ty)| {
        p.ty(*ty);
        p.attr_dict(dict_at(op, dicts, i).iter().copied());
    });
    p.text(")");
}

//! Directives that the formats of several dialects share.

use sutura_ir::asm::parse::{AsmParser, DirectiveArg, DirectiveDef, OpParts};
use sutura_ir::asm::print::Printer;
use sutura_ir::constraints::DenseI64ArrayAttr;
use sutura_ir::op_def::AttrConstraintDef;
use sutura_ir::{DYNAMIC, OpRef, Reported, Type};

/// `custom<DynamicIndexList>($dynamic, $static)`: `[%a, 4, …]`, a value where the static number is dynamic.
pub(crate) const DYNAMIC_INDEX_LIST: DirectiveDef = DirectiveDef { parse: parse_index_list, print: print_index_list };

/// `custom<ElementsOf>(type($container), type($elements))`: the container's type, from which those of the elements
/// follow; its own group may be operands or results.
pub(crate) const ELEMENTS_OF: DirectiveDef = DirectiveDef { parse: parse_elements_of, print: print_first_type };

/// An attribute dictionary, if there is one.
pub(crate) fn parse_dict(p: &mut dyn AsmParser, parts: &mut OpParts, _: &[DirectiveArg]) -> Result<(), Reported> {
    let entries = p.opt_attr_dict()?.unwrap_or_default();
    parts.add_entries(p.cx(), entries);
    Ok(())
}

/// The operand group and the attribute that an index list is written for.
fn index_list_args(args: &[DirectiveArg]) -> Option<(usize, usize)> {
    match args {
        [DirectiveArg::Operand(values), DirectiveArg::Attr(numbers)] => Some((*values, *numbers)),
        _ => None,
    }
}

fn parse_index_list(p: &mut dyn AsmParser, parts: &mut OpParts, args: &[DirectiveArg]) -> Result<(), Reported> {
    let Some((group, attr)) = index_list_args(args) else {
        return Err(p.error("an index list is written for an operand group and an attribute"));
    };
    let numbers = parse_mixed(p, parts, group, ["[", "]"])?;
    parts.set_prop_at(p.cx(), attr, p.cx().i64_array(&numbers));
    Ok(())
}

/// Values and numbers between brackets: values go to operand group `group`, and [`DYNAMIC`] stands for each.
pub(crate) fn parse_mixed(
    p: &mut dyn AsmParser,
    parts: &mut OpParts,
    group: usize,
    [open, close]: [&str; 2],
) -> Result<Vec<i64>, Reported> {
    let mut numbers = Vec::new();
    p.punct(open)?;
    while !p.opt_punct(close) {
        if !numbers.is_empty() {
            p.punct(",")?;
        }
        match p.opt_operand() {
            Some(value) => {
                parts.operands[group].push(value);
                numbers.push(DYNAMIC);
            }
            None => match p.opt_int()? {
                Some(number) => numbers.push(number),
                None => return Err(p.error("expected SSA value or integer")),
            },
        }
    }
    Ok(numbers)
}

fn print_index_list(p: &mut Printer<'_>, op: OpRef<'_>, args: &[DirectiveArg]) {
    let Some((group, attr)) = index_list_args(args) else { return };
    let numbers = op.prop_at(attr).and_then(|a| DenseI64ArrayAttr::get(op.cx, a)).unwrap_or_default();
    let mut values = op.operand_group(group).unwrap_or_default().map(|i| op.operand(i));
    p.text("[");
    p.list(numbers, |p, number| match (number == DYNAMIC).then(|| values.next()).flatten() {
        Some(value) => p.value(op.body, value),
        None => p.int(number),
    });
    p.text("]");
}

/// Gives every value of a group the type that `of` makes from its number.
fn set_types(parts: &mut OpParts, arg: DirectiveArg, ty: Type) {
    match arg {
        DirectiveArg::OperandType(i) => parts.operand_types[i] = Some(vec![ty; parts.operands[i].len()]),
        DirectiveArg::ResultType(i) => parts.result_types[i] = Some(vec![ty]),
        _ => {}
    }
}

fn parse_elements_of(p: &mut dyn AsmParser, parts: &mut OpParts, args: &[DirectiveArg]) -> Result<(), Reported> {
    let loc = p.loc();
    let container = p.ty()?;
    if !container.is_shaped(p.cx()) {
        return Err(p.error_at(loc, "expected a type with elements"));
    }
    let elem = p.cx().element_type(container);
    for (i, arg) in args.iter().enumerate() {
        set_types(parts, *arg, if i == 0 { container } else { elem });
    }
    Ok(())
}

fn print_first_type(p: &mut Printer<'_>, op: OpRef<'_>, args: &[DirectiveArg]) {
    let value = match args.first() {
        Some(DirectiveArg::OperandType(i)) => op.operand_of(*i),
        Some(DirectiveArg::ResultType(i)) => op.result_of(*i),
        _ => None,
    };
    if let Some(value) = value {
        p.ty(op.ty(value));
    }
}

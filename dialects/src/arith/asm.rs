//! Directives of arith's assembly formats. Other dialects whose ops carry the same flags register them too.

use sutura_ir::asm::parse::{AsmParser, DirectiveArg, DirectiveDef, OpParts};
use sutura_ir::asm::print::Printer;
use sutura_ir::{OpRef, Reported, Type};

use super::attrs::{FastMathFlags, IntegerOverflowFlags};
use super::verify::bool_type;

/// `custom<FastMath>($fastmath)`: `<flag, …>`.
pub const FAST_MATH: DirectiveDef = DirectiveDef { parse: parse_fast_math, print: print_fast_math };

/// `custom<OverflowFlags>($overflowFlags)`: `<flag, …>`.
pub const OVERFLOW_FLAGS: DirectiveDef = DirectiveDef { parse: parse_overflow, print: print_overflow };

/// `custom<SelectType>(type($condition), type($result))`: the type of the condition, unless it is `i1`, and the result's.
pub(super) const SELECT_TYPE: DirectiveDef = DirectiveDef { parse: parse_select_type, print: print_select_type };

fn parse_fast_math(p: &mut dyn AsmParser, parts: &mut OpParts, _: &[DirectiveArg]) -> Result<(), Reported> {
    let flags = FastMathFlags::parse(p)?;
    parts.set_prop(p.cx(), "fastmath", p.cx().ext_attr(flags));
    Ok(())
}

fn print_fast_math(p: &mut Printer<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    if let Some(flags) = op.prop("fastmath").and_then(|a| op.cx.attr_as::<FastMathFlags>(a)) {
        p.text(&flags.to_string());
    }
}

fn parse_overflow(p: &mut dyn AsmParser, parts: &mut OpParts, _: &[DirectiveArg]) -> Result<(), Reported> {
    let flags = IntegerOverflowFlags::parse(p)?;
    parts.set_prop(p.cx(), "overflowFlags", p.cx().ext_attr(flags));
    Ok(())
}

fn print_overflow(p: &mut Printer<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    if let Some(flags) = op.prop("overflowFlags").and_then(|a| op.cx.attr_as::<IntegerOverflowFlags>(a)) {
        p.text(&flags.to_string());
    }
}

fn parse_select_type(p: &mut dyn AsmParser, parts: &mut OpParts, _: &[DirectiveArg]) -> Result<(), Reported> {
    let first = p.ty()?;
    let (condition, result) = if p.opt_punct(",") { (first, p.ty()?) } else { (Type::I1, first) };
    parts.operand_types = vec![Some(vec![condition]), Some(vec![result]), Some(vec![result])];
    parts.result_types = vec![Some(vec![result])];
    Ok(())
}

fn print_select_type(p: &mut Printer<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    let (condition, result) = (op.ty(op.operand(0)), op.ty(op.result(0)));
    if condition == bool_type(op.cx, result) && result.is_shaped(op.cx) {
        p.types([condition, result]);
    } else {
        p.types([result]);
    }
}

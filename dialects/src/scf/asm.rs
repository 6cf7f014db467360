//! Directives of scf's assembly formats: the headers of loops.

use sutura_ir::asm::parse::{AsmParser, DirectiveArg, DirectiveDef, OpParts, RegionArg, UnresolvedOperand};
use sutura_ir::asm::print::Printer;
use sutura_ir::op_def::OpView;
use sutura_ir::{Attr, OpRef, Reported, Type, Value};

use super::ops::{ForOp, WhileOp};

/// `[unsigned] %i = %lb to %ub step %step [iter_args(%a = %init, …) -> (types)] [: type]`
pub(super) const FOR_HEADER: DirectiveDef = DirectiveDef { parse: parse_for, print: print_for };

/// `(%a = %init, …) : (types) -> types`
pub(super) const WHILE_HEADER: DirectiveDef = DirectiveDef { parse: parse_while, print: print_while };

/// `(%a = %init, …)`: the arguments and the operands that they begin with.
pub(super) fn parse_assignments(
    p: &mut dyn AsmParser,
) -> Result<(Vec<UnresolvedOperand>, Vec<UnresolvedOperand>), Reported> {
    let (mut args, mut inits) = (Vec::new(), Vec::new());
    p.punct("(")?;
    while !p.opt_punct(")") {
        if !args.is_empty() {
            p.punct(",")?;
        }
        args.push(p.operand()?);
        p.punct("=")?;
        inits.push(p.operand()?);
    }
    Ok((args, inits))
}

pub(super) fn region_args(args: &[UnresolvedOperand], types: &[Type]) -> Vec<RegionArg> {
    args.iter().zip(types).map(|(a, ty)| RegionArg { name: Some(a.name), ty: *ty, loc: a.loc }).collect()
}

fn print_assignments(p: &mut Printer<'_>, op: OpRef<'_>, args: &[Value], inits: impl Iterator<Item = Value>) {
    p.text("(");
    p.list(args.iter().zip(inits), |p, (arg, init)| {
        p.value(op.body, *arg);
        p.text(" = ");
        p.value(op.body, init);
    });
    p.text(")");
}

/// Number and types must agree before arguments are paired with them.
fn check_count(p: &mut dyn AsmParser, loc: sutura_ir::Loc, args: usize, types: usize) -> Result<(), Reported> {
    if args == types {
        return Ok(());
    }
    Err(p.error_at(loc, &format!("mismatch in number of loop-carried values and defined values: {args} and {types}")))
}

fn parse_for(p: &mut dyn AsmParser, parts: &mut OpParts, _: &[DirectiveArg]) -> Result<(), Reported> {
    if p.opt_keyword("unsigned") {
        parts.set_prop(p.cx(), "unsignedCmp", Attr::UNIT);
    }
    let induction = p.operand()?;
    p.punct("=")?;
    let lower = p.operand()?;
    p.keyword("to")?;
    let upper = p.operand()?;
    p.keyword("step")?;
    let step = p.operand()?;
    let (mut args, mut inits, mut types) = (vec![induction], Vec::new(), Vec::new());
    if p.opt_keyword("iter_args") {
        let loc = p.loc();
        let (carried, first) = parse_assignments(p)?;
        args.extend(carried);
        inits = first;
        p.punct("->")?;
        types = parse_type_list(p)?;
        check_count(p, loc, inits.len(), types.len())?;
    }
    let bound = if p.opt_punct(":") { p.ty()? } else { Type::INDEX };
    let arg_types: Vec<Type> = std::iter::once(bound).chain(types.iter().copied()).collect();
    parts.operands = vec![vec![lower], vec![upper], vec![step], inits];
    parts.operand_types = vec![Some(vec![bound]), Some(vec![bound]), Some(vec![bound]), Some(types.clone())];
    parts.result_types = vec![Some(types)];
    parts.region_args = vec![Some(region_args(&args, &arg_types))];
    Ok(())
}

/// `type`, or `(type, …)`
pub(super) fn parse_type_list(p: &mut dyn AsmParser) -> Result<Vec<Type>, Reported> {
    if !p.opt_punct("(") {
        return Ok(vec![p.ty()?]);
    }
    let mut types = Vec::new();
    while !p.opt_punct(")") {
        if !types.is_empty() {
            p.punct(",")?;
        }
        types.push(p.ty()?);
    }
    Ok(types)
}

fn print_for(p: &mut Printer<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    let for_op = ForOp::from_ref(op);
    if for_op.unsigned_cmp() {
        p.text("unsigned ");
    }
    let Some(args) = for_op.region().entry().map(|b| b.args()) else { return };
    let Some((induction, carried)) = args.split_first() else { return };
    p.value(op.body, *induction);
    for (word, value) in [(" = ", for_op.lower_bound()), (" to ", for_op.upper_bound()), (" step ", for_op.step())] {
        p.text(word);
        p.value(op.body, value);
    }
    if !carried.is_empty() {
        p.text(" iter_args");
        print_assignments(p, op, carried, for_op.init_args());
        p.text(" -> (");
        p.types(op.result_types());
        p.text(")");
    }
    // The blanks around the type are upstream's.
    let bound = op.ty(for_op.lower_bound());
    if bound != Type::INDEX {
        p.text("  : ");
        p.ty(bound);
    }
}

fn parse_while(p: &mut dyn AsmParser, parts: &mut OpParts, _: &[DirectiveArg]) -> Result<(), Reported> {
    let loc = p.loc();
    let (args, inits) = if p.opt_punct(":") {
        (Vec::new(), Vec::new())
    } else {
        let assignments = parse_assignments(p)?;
        p.punct(":")?;
        assignments
    };
    let ty = p.ty()?;
    let Some((inputs, results)) = p.cx().signature(ty) else {
        return Err(p.error_at(loc, "expected the loop's type, `(types) -> types`"));
    };
    let (inputs, results) = (inputs.to_vec(), results.to_vec());
    check_count(p, loc, inits.len(), inputs.len())?;
    parts.region_args = vec![Some(region_args(&args, &inputs)), None];
    parts.operands = vec![inits];
    parts.operand_types = vec![Some(inputs)];
    parts.result_types = vec![Some(results)];
    Ok(())
}

fn print_while(p: &mut Printer<'_>, op: OpRef<'_>, _: &[DirectiveArg]) {
    let while_op = WhileOp::from_ref(op);
    let args = while_op.before().entry().map_or(&[][..], |b| b.args());
    if !args.is_empty() {
        print_assignments(p, op, args, while_op.inits());
        p.text(" ");
    }
    p.text(": ");
    p.function_type(op.operand_types(), op.result_types());
}

//! What `cf.switch` and `llvm.switch` have in common: cases with a number, a block and its arguments.

use std::ops::Range;

use sutura_interp::{Fault, Flow, Frame, InterpError};
use sutura_ir::asm::parse::{AsmParser, DirectiveArg, DirectiveDef, OpParts};
use sutura_ir::asm::print::Printer;
use sutura_ir::interfaces::BranchOp;
use sutura_ir::{Op, OpRef, Reported, Rewriter, Type, Value};

use crate::constant::sign_extend;

/// `[default: ^block(…),] number: ^block(…), …`
pub(crate) const CASES_DIRECTIVE: DirectiveDef = DirectiveDef { parse: parse_cases, print: print_cases };

/// Operand groups of both ops: the value, the arguments of the default block, those of the cases.
const DEFAULT: usize = 1;
const CASES: usize = 2;

/// Numbers of the cases, in order.
pub(crate) fn case_values(op: OpRef<'_>) -> Vec<i64> {
    let Some(dense) = op.prop("case_values").and_then(|a| op.cx.dense(a)) else { return Vec::new() };
    let width = op.cx.bit_width(dense.element_type()).unwrap_or(64);
    (0..dense.len()).map(|i| sign_extend(dense.word(i), width)).collect()
}

/// Goes to the block of the case that the value is, or to the default.
pub(crate) fn choose(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let flag = frame.operand(0)?.scalar()?.as_i64().ok_or_else(|| Fault::type_mismatch("the value is no integer"))?;
    let chosen = case_values(op).iter().position(|case| *case == flag).map_or(0, |i| i + 1);
    let dest = op.successors().get(chosen).ok_or_else(|| Fault::invalid_ir(format!("has no successor {chosen}")))?;
    let args = frame.take_range(SwitchSuccessors.successor_operands(op, chosen))?;
    Ok(Flow::Branch(*dest, args))
}

/// The operands that go to each successor.
pub(crate) struct SwitchSuccessors;

impl BranchOp for SwitchSuccessors {
    fn successor_operands(&self, op: OpRef<'_>, index: usize) -> Range<usize> {
        let Some(case) = index.checked_sub(1) else { return op.operand_group(DEFAULT).unwrap_or_default() };
        let all = op.operand_group(CASES).unwrap_or_default();
        let sizes = op.prop("case_operand_segments").and_then(|a| op.cx.as_ints(a)).unwrap_or_default();
        let size = |i: usize| usize::try_from(sizes.get(i).copied().unwrap_or_default()).unwrap_or_default();
        let start = all.start + (0..case).map(size).sum::<usize>();
        start.min(all.end)..(start + size(case)).min(all.end)
    }

    fn set_successor_operands(&self, rw: &mut Rewriter<'_>, op: Op, index: usize, values: &[Value]) {
        let Some(case) = index.checked_sub(1) else { return rw.set_operand_group(op, DEFAULT, values) };
        let (cx, view) = (rw.cx(), rw.op_ref(op));
        let (own, all) = (self.successor_operands(view, index), view.operand_group(CASES).unwrap_or_default());
        let mut operands: Vec<Value> = all.clone().map(|i| view.operand(i)).collect();
        let count = view.successors().len() - 1;
        let sizes: Vec<i32> = (0..count)
            .map(|i| if i == case { values.len() } else { self.successor_operands(view, i + 1).len() } as i32)
            .collect();
        operands.splice(own.start - all.start..own.end - all.start, values.iter().copied());
        rw.set_prop(op, "case_operand_segments", Some(cx.i32_array(&sizes)));
        rw.set_operand_group(op, CASES, &operands);
    }
}

/// `^block(%a : type, …)`, arguments as part of operand group `group`.
fn parse_successor(p: &mut dyn AsmParser, parts: &mut OpParts, group: usize, to: usize) -> Result<usize, Reported> {
    let loc = p.loc();
    let Some(block) = p.opt_successor() else { return Err(p.error("expected block name")) };
    parts.successors[to].push((block, loc));
    if !p.opt_punct("(") {
        return Ok(0);
    }
    let before = parts.operands[group].len();
    loop {
        parts.operands[group].push(p.operand()?);
        if !p.opt_punct(",") {
            break;
        }
    }
    p.punct(":")?;
    loop {
        let ty = p.ty()?;
        parts.operand_types[group].get_or_insert_default().push(ty);
        if !p.opt_punct(",") {
            break;
        }
    }
    p.punct(")")?;
    Ok(parts.operands[group].len() - before)
}

/// The successor groups that a directive is given, the default one first where the directive writes it.
fn successor_groups(args: &[DirectiveArg]) -> Vec<usize> {
    args.iter().filter_map(|a| if let DirectiveArg::Successor(i) = a { Some(*i) } else { None }).collect()
}

/// Reads `[default: ^block(…),] number: ^block(…), …` up to `]`, the default case where the directive is given two
/// groups of successors.
pub(crate) fn parse_cases(p: &mut dyn AsmParser, parts: &mut OpParts, args: &[DirectiveArg]) -> Result<(), Reported> {
    let flag = parts.operand_types[0].as_ref().and_then(|t| t.first().copied()).unwrap_or(Type::I64);
    let Some(width) = p.cx().bit_width(flag).filter(|_| flag.is_integer(p.cx())) else {
        return Err(p.error("expected an integer to choose by"));
    };
    parts.operand_types[CASES].get_or_insert_default();
    let (mut numbers, mut sizes) = (Vec::new(), Vec::new());
    let groups = successor_groups(args);
    let mut more = true;
    if let [default, _] = groups[..] {
        parts.operand_types[DEFAULT].get_or_insert_default();
        p.keyword("default")?;
        p.punct(":")?;
        parse_successor(p, parts, DEFAULT, default)?;
        more = p.opt_punct(",");
    }
    let to = groups.last().copied().unwrap_or_default();
    while more {
        let loc = p.loc();
        let Some(number) = p.opt_int()? else {
            if numbers.is_empty() && groups.len() == 1 {
                break;
            }
            return Err(p.error("expected integer value"));
        };
        if width < 64 && number != sign_extend(number as u64, width) && number >> width != 0 {
            return Err(p.error_at(loc, "integer constant out of range for the type"));
        }
        numbers.push(number as u64);
        p.punct(":")?;
        sizes.push(parse_successor(p, parts, CASES, to)? as i32);
        more = p.opt_punct(",");
    }
    if !numbers.is_empty() {
        let cx = p.cx();
        let masked: Vec<u64> = numbers.iter().map(|n| n & crate::constant::mask(width)).collect();
        let values = cx.dense_attr(cx.vector_type(&[numbers.len() as i64], flag), &masked);
        let Some(values) = values else { return Err(p.error("numbers of this width are not supported")) };
        parts.set_prop(p.cx(), "case_values", values);
    }
    parts.set_prop(p.cx(), "case_operand_segments", p.cx().i32_array(&sizes));
    Ok(())
}

fn print_successor(p: &mut Printer<'_>, op: OpRef<'_>, index: usize) {
    let Some(block) = op.successors().get(index) else { return };
    p.successor(op.body, *block);
    let operands = SwitchSuccessors.successor_operands(op, index);
    if !operands.is_empty() {
        p.text("(");
        p.operands(op, operands.clone());
        p.text(" : ");
        p.types(operands.map(|i| op.ty(op.operand(i))));
        p.text(")");
    }
}

/// Writes each case on a line of its own.
pub(crate) fn print_cases(p: &mut Printer<'_>, op: OpRef<'_>, args: &[DirectiveArg]) {
    let values = case_values(op);
    let with_default = successor_groups(args).len() == 2;
    // `cf.switch` writes numbers without sign, `llvm.switch` with.
    let flag = op.operand_types().next();
    let width_mask = flag.and_then(|ty| op.cx.bit_width(ty)).map_or(u64::MAX, crate::constant::mask);
    let first = usize::from(!with_default);
    for index in first..=values.len() {
        if index != first {
            p.text(",");
        }
        p.new_line();
        p.text("  ");
        match index.checked_sub(1) {
            None => p.text("default"),
            Some(case) if with_default => p.text(&(values[case] as u64 & width_mask).to_string()),
            Some(case) => p.int(values[case]),
        }
        p.text(": ");
        print_successor(p, op, index);
    }
    // Upstream's `cf.switch` with the default case alone ends on its line.
    if !with_default || !values.is_empty() {
        p.new_line();
    }
}

//! What cf ops do when a program runs.

use sutura_interp::{Fault, FaultKind, Flow, Frame, InterpError, Interpret};
use sutura_ir::interfaces::BranchOp as _;
use sutura_ir::{DialectBuilder, OpRef};

use super::Successors;

/// Attaches the hooks.
pub(super) fn register(d: &mut DialectBuilder<'_>) {
    d.interface::<dyn Interpret>("cf.assert", &assert);
    d.interface::<dyn Interpret>("cf.br", &branch);
    d.interface::<dyn Interpret>("cf.cond_br", &cond_branch);
    d.interface::<dyn Interpret>("cf.switch", &switch);
}

fn assert(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    if frame.operand(0)?.as_bool()? {
        return Ok(Flow::Next);
    }
    let message = op.prop("msg").and_then(|a| op.cx.as_str(a)).unwrap_or_default();
    Err(Fault::new(FaultKind::Assertion, format!("fails: {message}")).into())
}

fn branch(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    go(op, frame, Successors { first_group: 0 }, 0)
}

fn cond_branch(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let side = if frame.operand(0)?.as_bool()? { 0 } else { 1 };
    go(op, frame, Successors { first_group: 1 }, side)
}

fn go(op: OpRef<'_>, frame: &mut Frame<'_>, groups: Successors, side: usize) -> Result<Flow, InterpError> {
    let dest = op.successors().get(side).ok_or_else(|| Fault::invalid_ir(format!("has no successor {side}")))?;
    let args = frame.take_range(groups.successor_operands(op, side))?;
    Ok(Flow::Branch(*dest, args))
}

fn switch(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let flag = frame.operand(0)?.scalar()?.as_i64().ok_or_else(|| Fault::type_mismatch("the value is no integer"))?;
    let chosen = crate::switch::case_values(op).iter().position(|case| *case == flag).map_or(0, |i| i + 1);
    let dest = op.successors().get(chosen).ok_or_else(|| Fault::invalid_ir(format!("has no successor {chosen}")))?;
    let args = frame.take_range(crate::switch::SwitchSuccessors.successor_operands(op, chosen))?;
    Ok(Flow::Branch(*dest, args))
}

//! What cf ops do when a program runs.

use sutura_interp::{Fault, FaultKind, Flow, Frame, InterpError, Interpret};
use sutura_ir::interfaces::BranchOp as _;
use sutura_ir::{DialectBuilder, OpRef};

use crate::branches::Successors;

/// Attaches the hooks.
pub(super) fn register(d: &mut DialectBuilder<'_>) {
    d.interface::<dyn Interpret>("cf.assert", &assert);
    d.interface::<dyn Interpret>("cf.br", &branch);
    d.interface::<dyn Interpret>("cf.cond_br", &cond_branch);
    d.interface::<dyn Interpret>("cf.switch", &crate::switch::choose);
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

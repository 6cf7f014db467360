//! What cf ops do when a program runs.

use sutura_interp::{Fault, FaultKind, Flow, Frame, InterpError, Interpret};
use sutura_ir::interfaces::BranchOp as _;
use sutura_ir::{DialectBuilder, OpRef};

use crate::branches::Successors;
use crate::cf::{AssertOp, CondBranchOp, SwitchOp};

/// Attaches the hooks.
pub(super) fn register(d: &mut DialectBuilder<'_>) {
    d.op_interface::<AssertOp<'_>, dyn Interpret>(&assert);
    d.op_interface::<crate::cf::BranchOp<'_>, dyn Interpret>(&branch);
    d.op_interface::<CondBranchOp<'_>, dyn Interpret>(&cond_branch);
    d.op_interface::<SwitchOp<'_>, dyn Interpret>(&crate::switch::choose);
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

//! What func ops do when a program runs. `func.func` itself needs no hook: calling it runs its region.

use sutura_interp::{Fault, Flow, Frame, InterpError, Interpret, YieldOp};
use sutura_ir::{DialectBuilder, OpRef};

/// Attaches the hooks.
pub(super) fn register(d: &mut DialectBuilder<'_>) {
    d.interface::<dyn Interpret>("func.call", &call);
    d.interface::<dyn Interpret>("func.return", &YieldOp);
}

fn call(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let callee = op.prop("callee").ok_or_else(|| Fault::invalid_ir("has no 'callee'"))?;
    let args = frame.take_operands()?;
    let results = frame.call_ref(callee, args)?;
    frame.set_results(results)?;
    Ok(Flow::Next)
}

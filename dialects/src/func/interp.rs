//! What func ops do when a program runs. `func.func` itself needs no hook: calling it runs its region.

use sutura_interp::{Fault, Flow, Frame, InterpError, Interpret, Value, YieldOp};
use sutura_ir::{Attr, DialectBuilder, OpRef};

use crate::func::{CallIndirectOp, CallOp, ConstantOp, ReturnOp};

/// Attaches the hooks.
pub(super) fn register(d: &mut DialectBuilder<'_>) {
    d.op_interface::<CallOp<'_>, dyn Interpret>(&call);
    d.op_interface::<CallIndirectOp<'_>, dyn Interpret>(&call_indirect);
    d.op_interface::<ConstantOp<'_>, dyn Interpret>(&constant);
    d.op_interface::<ReturnOp<'_>, dyn Interpret>(&YieldOp);
}

/// What a value of function type holds: a reference to a symbol.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct FunctionValue(pub Attr);

fn constant(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let symbol = op.prop("value").ok_or_else(|| Fault::invalid_ir("has no 'value'"))?;
    frame.lookup(symbol)?;
    frame.set(0, Value::opaque(FunctionValue(symbol)))?;
    Ok(Flow::Next)
}

fn call(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let callee = op.prop("callee").ok_or_else(|| Fault::invalid_ir("has no 'callee'"))?;
    let args = frame.take_operands()?;
    let results = frame.call_ref(callee, args)?;
    frame.set_results(results)?;
    Ok(Flow::Next)
}

fn call_indirect(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let callee = *frame.operand(0)?.as_opaque::<FunctionValue>()?;
    let args = frame.take_range(1..op.num_operands())?;
    let results = frame.call_ref(callee.0, args)?;
    frame.set_results(results)?;
    Ok(Flow::Next)
}

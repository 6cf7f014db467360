//! What scf ops do when a program runs.

use sutura_interp::{DType, Fault, FaultKind, Flow, Frame, InterpError, Interpret, Scalar, Value, Values, YieldOp};
use sutura_ir::{DialectBuilder, OpRef};

use crate::interp::region;

/// Attaches the hooks.
pub(super) fn register(d: &mut DialectBuilder<'_>) {
    d.interface::<dyn Interpret>("scf.for", &for_loop);
    d.interface::<dyn Interpret>("scf.if", &conditional);
    d.interface::<dyn Interpret>("scf.while", &while_loop);
    d.interface::<dyn Interpret>("scf.execute_region", &execute_region);
    // Both hand their operands to the op around them; `scf.while` takes the condition off.
    d.interface::<dyn Interpret>("scf.condition", &YieldOp);
    d.interface::<dyn Interpret>("scf.yield", &YieldOp);
}

/// A bound as a number of the loop's own reading.
fn bound(frame: &Frame<'_>, index: usize, unsigned: bool) -> Result<(i128, DType), Fault> {
    let scalar = frame.operand(index)?.scalar()?;
    let value = if unsigned { scalar.as_u64().map(i128::from) } else { scalar.as_i64().map(i128::from) };
    Ok((value.ok_or_else(|| Fault::type_mismatch("a loop bound is no integer"))?, scalar.dtype()))
}

fn for_loop(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let unsigned = op.prop("unsignedCmp").is_some();
    let (lower, dtype) = bound(frame, 0, unsigned)?;
    let (upper, _) = bound(frame, 1, unsigned)?;
    let (step, _) = bound(frame, 2, unsigned)?;
    if step <= 0 {
        return Err(Fault::new(FaultKind::Poison, format!("steps by {step}, which is not positive")).into());
    }
    let body = region(op, 0)?;
    let mut carried = frame.take_range(3..op.num_operands())?;
    let mut at = lower;
    while at < upper {
        let mut args = Values::with_capacity(carried.len() + 1);
        args.push(Scalar::int(at as i64, dtype).into());
        args.extend(carried);
        carried = frame.run_region(body, args)?;
        at += step;
    }
    frame.set_results(carried)?;
    Ok(Flow::Next)
}

fn conditional(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let side = region(op, if frame.operand(0)?.as_bool()? { 0 } else { 1 })?;
    // A side without blocks does nothing; the verifier sees that there are no results then.
    let values = if side.is_empty() { Values::new() } else { frame.run_region(side, Values::new())? };
    frame.set_results(values)?;
    Ok(Flow::Next)
}

fn while_loop(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let (before, after) = (region(op, 0)?, region(op, 1)?);
    let mut carried = frame.take_operands()?;
    loop {
        let mut passed = frame.run_region(before, carried)?;
        if passed.is_empty() {
            return Err(Fault::invalid_ir("the first region hands back no condition").into());
        }
        let condition: Value = passed.remove(0);
        if !condition.as_bool()? {
            frame.set_results(passed)?;
            return Ok(Flow::Next);
        }
        carried = frame.run_region(after, passed)?;
    }
}

fn execute_region(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let values = frame.run_region(region(op, 0)?, Values::new())?;
    frame.set_results(values)?;
    Ok(Flow::Next)
}

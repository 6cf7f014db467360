//! What scf ops do when a program runs.

use sutura_interp::{DType, Fault, FaultKind, Flow, Frame, InterpError, Interpret, Scalar, Value, Values, YieldOp};
use sutura_ir::name_of;
use sutura_ir::op_def::OpView;
use sutura_ir::{DialectBuilder, OpRef};

use super::parallel::ForallOp;
use crate::interp::region;
use crate::scf::{
    ConditionOp, ExecuteRegionOp, ForOp, IfOp, InParallelOp, ParallelOp, ReduceOp, ReduceReturnOp, WhileOp,
};
use crate::slices::Mixed;

/// Attaches the hooks.
pub(super) fn register(d: &mut DialectBuilder<'_>) {
    d.op_interface::<ForOp<'_>, dyn Interpret>(&for_loop);
    d.op_interface::<IfOp<'_>, dyn Interpret>(&conditional);
    d.op_interface::<WhileOp<'_>, dyn Interpret>(&while_loop);
    d.op_interface::<ExecuteRegionOp<'_>, dyn Interpret>(&execute_region);
    d.op_interface::<ParallelOp<'_>, dyn Interpret>(&parallel_loop);
    d.op_interface::<ForallOp<'_>, dyn Interpret>(&forall_loop);
    // They hand their operands to the op around them: `scf.parallel` combines those of `scf.reduce`.
    for name in [name_of::<ReduceOp<'_>>(), name_of::<ReduceReturnOp<'_>>(), name_of::<InParallelOp<'_>>()] {
        d.interface::<dyn Interpret>(name, &YieldOp);
    }
    // Both hand their operands to the op around them; `scf.while` takes the condition off.
    d.op_interface::<ConditionOp<'_>, dyn Interpret>(&YieldOp);
    d.op_interface::<crate::scf::YieldOp<'_>, dyn Interpret>(&YieldOp);
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

/// Lower bound, upper bound and step of a loop.
type Bounds = [i64; 3];

/// Calls `visit` with each tuple of induction variables, the last one the fastest.
fn each_point(bounds: &[Bounds], mut visit: impl FnMut(Values) -> Result<(), InterpError>) -> Result<(), InterpError> {
    if let Some([.., step]) = bounds.iter().find(|[.., step]| *step <= 0) {
        return Err(Fault::new(FaultKind::Poison, format!("steps by {step}, which is not positive")).into());
    }
    if bounds.iter().any(|[lower, upper, _]| lower >= upper) {
        return Ok(());
    }
    let mut at: Vec<i64> = bounds.iter().map(|[lower, ..]| *lower).collect();
    loop {
        visit(at.iter().map(|i| Value::index(*i)).collect())?;
        let Some(grows) =
            (0..at.len()).rev().find(|&d| at[d].checked_add(bounds[d][2]).is_some_and(|i| i < bounds[d][1]))
        else {
            return Ok(());
        };
        at[grows] += bounds[grows][2];
        for d in grows + 1..at.len() {
            at[d] = bounds[d][0];
        }
    }
}

/// Iterations may come in any order: here it is that of nested loops.
fn parallel_loop(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let body = region(op, 0)?;
    let last = body.entry().and_then(|block| block.ops().last());
    let reduce = last.ok_or_else(|| Fault::invalid_ir("the body has no terminator"))?;
    let inits = op.num_operands() - op.num_results();
    let rank = inits / 3;
    let number = |frame: &Frame<'_>, i: usize| bound(frame, i, false).map(|(value, _)| value as i64);
    let bounds: Result<Vec<Bounds>, Fault> =
        (0..rank).map(|d| Ok([number(frame, d)?, number(frame, rank + d)?, number(frame, 2 * rank + d)?])).collect();
    let mut carried = frame.take_range(inits..op.num_operands())?;
    each_point(&bounds?, |point| {
        let values = frame.run_region(body, point)?;
        for (i, value) in values.into_iter().enumerate() {
            let both = [carried[i].clone(), value].into_iter().collect();
            let combined = frame.run_region(region(reduce, i)?, both)?;
            carried[i] = combined.into_iter().next().ok_or_else(|| Fault::invalid_ir("a reduction returns nothing"))?;
        }
        Ok(())
    })?;
    frame.set_results(carried)?;
    Ok(Flow::Next)
}

fn forall_loop(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let forall = ForallOp::from_ref(op);
    if op.num_results() != 0 {
        return Err(Fault::unsupported("outputs by value are not interpreted").into());
    }
    let mut next = 0;
    // Dynamic bounds are operands, in the order of the lists.
    let mut numbers = |list: Vec<Mixed>| -> Result<Vec<i64>, Fault> {
        list.into_iter()
            .map(|entry| match entry {
                Mixed::Static(number) => Ok(number),
                Mixed::Value(_) => {
                    next += 1;
                    bound(frame, next - 1, false).map(|(value, _)| value as i64)
                }
            })
            .collect()
    };
    let (lower, upper, step) =
        (numbers(forall.lower_bounds())?, numbers(forall.upper_bounds())?, numbers(forall.steps())?);
    let bounds: Vec<Bounds> = (0..lower.len()).map(|d| [lower[d], upper[d], step[d]]).collect();
    let body = region(op, 0)?;
    each_point(&bounds, |point| frame.run_region(body, point).map(drop))?;
    Ok(Flow::Next)
}

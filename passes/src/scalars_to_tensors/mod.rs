//! `scalars-to-tensors`: what conditions and loops of a function of tensors decide with, and carry, as tensors of rank 0.
//!
//! Kernels work on tensors. So scalars that go into regions or out of them become tensors, and the arithmetic between an
//! element that is read and one that is made becomes a `graph.compute`.

mod arithmetic;
mod edges;

pub(crate) use edges::tensor as tensor_of;

use sutura_dialects::scf::{IfOp, WhileOp};
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::analysis::effects::is_trivially_dead;
use sutura_ir::pass::{Anchor, Pass, PassInfo, PassOptions, PassResult, PassRun, StatisticInfo};
use sutura_ir::{Body, Context, Loc, Op, OpRef, Rewriter};

use crate::functions::of_each_function;

/// The pass.
pub static SCALARS_TO_TENSORS: PassInfo = PassInfo {
    name: "ScalarsToTensors",
    argument: "scalars-to-tensors",
    summary: "Make scalars that conditions and loops use tensors of rank 0",
    description: "In functions with `scf.if` or `scf.while`: what these pass between regions becomes a tensor of rank 0 where \
                  it is a number (an index becomes an i64), and so does what decides. Numbers that are made from elements \
                  of tensors and sizes by pure arithmetic become `graph.compute`. A number that comes from elsewhere, as \
                  an argument of the function, stays.",
    anchor: Anchor::Op("builtin.module"),
    options: &[],
    statistics: &[
        StatisticInfo { name: "num-passed", description: "numbers that regions pass as tensors" },
        StatisticInfo { name: "num-computed", description: "tensors of one number that are computed" },
    ],
    create: |_: &PassOptions| Ok(Box::new(ScalarsToTensors)),
};

struct ScalarsToTensors;

impl Pass for ScalarsToTensors {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let converted =
            of_each_function(run, |cx, header, body| decides(cx, body).then(|| (header.loc, convert(cx, body))));
        let (mut passed, mut computed, mut changed) = (0, 0, false);
        for (loc, (here, made, left)) in converted.into_iter().flatten() {
            if here + made > 0 {
                run.passed(loc, format!("{here} numbers are passed as tensors, {made} are computed as such"));
            }
            for (loc, why) in left {
                run.missed(loc, why);
            }
            passed += here;
            computed += made;
            // What nothing uses is gone.
            changed = true;
        }
        run.count("num-passed", passed);
        run.count("num-computed", computed);
        Ok(PreservedAnalyses::unless(changed))
    }
}

/// Replaces tensors of one number by what computes them; why others stay.
pub(crate) fn compute_numbers(rw: &mut Rewriter<'_>) -> Vec<(Loc, String)> {
    arithmetic::convert(rw).1
}

/// True when something in the body decides.
fn decides(cx: &Context, body: &Body) -> bool {
    body.preorder().map(|op| OpRef::new(cx, body, op)).any(|op| op.is::<IfOp<'_>>() || op.is::<WhileOp<'_>>())
}

/// Converts one body: how many values are passed as tensors, how many are computed, and what stays.
fn convert(cx: &Context, body: &mut Body) -> (u64, u64, Vec<(Loc, String)>) {
    let mut rw = Rewriter::new(cx, body);
    let passed = edges::convert(&mut rw);
    let (computed, left) = arithmetic::convert(&mut rw);
    let mut ops: Vec<Op> = rw.body().preorder().collect();
    ops.reverse();
    for op in ops {
        if rw.body().is_live(op) && is_trivially_dead(rw.op_ref(op)) {
            rw.erase_op(op);
        }
    }
    (passed, computed, left)
}

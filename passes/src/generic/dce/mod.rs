//! `dce`: what nothing observable depends on is taken away, cycles through blocks and loops included.

mod plan;

use rustc_hash::{FxHashMap, FxHashSet};
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::analysis::effects::is_trivially_dead;
use sutura_ir::interfaces::BranchOp;
use sutura_ir::pass::{Anchor, Pass, PassInfo, PassOptions, PassResult, PassRun, Remarks, StatisticInfo};
use sutura_ir::{Body, Context, Op, OpRef, Rewriter, Value};

use super::counted;
use plan::{Demanded, Plan};

/// The pass.
pub static DCE: PassInfo = PassInfo {
    name: "DCE",
    argument: "dce",
    summary: "Eliminate dead code",
    description: "Assumes that no value is needed until an operation with effects, a return or a condition needs it. \
                  Erases operations without effects whose results are not needed, and block arguments that are not \
                  needed together with what branches pass to them. A value carried by a loop that is not needed is \
                  passed on unchanged, so that its computation goes away; the loop keeps its operands and results, and \
                  `canonicalize` removes them. Arguments and results of functions stay.",
    anchor: Anchor::Any,
    options: &[],
    statistics: &[
        StatisticInfo { name: "num-erased", description: "Number of operations erased" },
        StatisticInfo { name: "num-block-args", description: "Number of block arguments erased" },
        StatisticInfo { name: "num-carried", description: "Number of dead values that a loop passes on unchanged" },
    ],
    create,
};

struct Dce;

fn create(_: &PassOptions) -> Result<Box<dyn Pass>, String> {
    Ok(Box::new(Dce))
}

impl Pass for Dce {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let cx = run.cx;
        let demanded = run.analysis::<Demanded>();
        // All are made before anything changes.
        let plans = run.for_each_body(|at| {
            let body = &*at.body;
            (body.id(), Plan::new(cx, body, &|value| *demanded.fact(body, value)))
        });
        let plans: FxHashMap<u64, Plan> = plans.into_iter().collect();
        let counts = run.for_each_body(|at| {
            let counts = carry_out(cx, at.body, &plans[&at.body.id()], at.remarks);
            let loc = at.header.loc;
            if counts.block_args > 0 {
                let what = counted(counts.block_args, "block argument");
                at.remarks.passed(loc, || format!("{what} erased: nothing needs the values"));
            }
            if counts.carried > 0 {
                let what = counted(counts.carried, "value");
                at.remarks.passed(loc, || format!("{what} of loops passed on unchanged: nothing needs the new ones"));
            }
            counts
        });
        let sum = |field: fn(&Counts) -> u64| counts.iter().map(field).sum::<u64>();
        let (erased, args, carried) = (sum(|c| c.erased), sum(|c| c.block_args), sum(|c| c.carried));
        run.count("num-erased", erased);
        run.count("num-block-args", args);
        run.count("num-carried", carried);
        Ok(PreservedAnalyses::unless(erased + args + carried > 0))
    }
}

#[derive(Default)]
struct Counts {
    erased: u64,
    block_args: u64,
    carried: u64,
}

fn carry_out(cx: &Context, body: &mut Body, plan: &Plan, remarks: &mut Remarks) -> Counts {
    let mut counts = Counts::default();
    for &(terminator, operand, value) in &plan.carried {
        Rewriter::new(cx, body).set_operand(terminator, operand, value);
    }
    for &branch in &plan.branches {
        stop_passing(cx, body, branch, &plan.args);
    }
    counts.erased = erase_dead(cx, body, remarks);
    counts.carried = plan.carried.iter().filter(|(op, ..)| body.is_live(*op)).count() as u64;
    for block in &plan.blocks {
        for index in (0..body.block_args(*block).len()).rev() {
            if plan.args.contains(&body.block_args(*block)[index]) {
                Rewriter::new(cx, body).erase_block_arg(*block, index);
                counts.block_args += 1;
            }
        }
    }
    counts
}

/// The branch passes nothing to arguments that go away.
fn stop_passing(cx: &Context, body: &mut Body, branch: Op, doomed: &FxHashSet<Value>) {
    for successor in 0..body.successors(branch).len() {
        let op = OpRef::new(cx, body, branch);
        let interface = op.interface::<dyn BranchOp>().expect("planned through it");
        let operands = interface.successor_operands(op, successor);
        let args = body.block_args(body.successors(branch)[successor]);
        let made = args.len().saturating_sub(operands.len());
        let kept: Vec<Value> = operands
            .clone()
            .zip(&args[made..])
            .filter(|(_, a)| !doomed.contains(a))
            .map(|(i, _)| op.operand(i))
            .collect();
        if kept.len() < operands.len() {
            interface.set_successor_operands(&mut Rewriter::new(cx, body), branch, successor, &kept);
        }
    }
}

/// Erases what nothing uses, and what nothing uses then.
fn erase_dead(cx: &Context, body: &mut Body, remarks: &mut Remarks) -> u64 {
    let mut pending: Vec<Op> = body.preorder().collect();
    let mut erased = 0;
    while let Some(op) = pending.pop() {
        if !body.is_live(op) || !is_trivially_dead(OpRef::new(cx, body, op)) {
            continue;
        }
        let users: Vec<Op> = std::iter::once(op).chain(body.preorder_in(op)).collect();
        let used: Vec<Op> =
            users.iter().flat_map(|u| body.operands(*u)).filter_map(|value| body.defining_op(value)).collect();
        erased += users.len() as u64;
        let name = body.name(op);
        remarks.passed(body.loc(op), || format!("'{}' is erased: nothing needs its results", name.as_str(cx)));
        Rewriter::new(cx, body).erase_op(op);
        pending.extend(used);
    }
    erased
}

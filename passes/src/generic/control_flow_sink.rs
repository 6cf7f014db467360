//! `control-flow-sink`: what only one side of a condition uses is computed there.

use rustc_hash::FxHashSet;
use sutura_ir::analysis::effects::is_memory_effect_free;
use sutura_ir::analysis::{AliasAnalysis, PreservedAnalyses};
use sutura_ir::interfaces::{RegionBranchOp, RegionTarget};
use sutura_ir::pass::{Anchor, Pass, PassInfo, PassOptions, PassResult, PassRun, Remarks, StatisticInfo};
use sutura_ir::smallvec::SmallVec;
use sutura_ir::{Body, Context, Op, OpRef, Region, Rewriter, Traits};

/// The pass.
pub static CONTROL_FLOW_SINK: PassInfo = PassInfo {
    name: "ControlFlowSink",
    argument: "control-flow-sink",
    summary: "Sink operations into conditional blocks",
    description: "Moves an operation without effect on memory into a region that runs at most once each time the \
                  operation around it does, when nothing outside the region uses its results: it is not executed \
                  then where it is not needed.",
    anchor: Anchor::Any,
    options: &[],
    statistics: &[StatisticInfo { name: "num-sunk", description: "Number of operations sunk" }],
    create,
};

struct ControlFlowSink;

fn create(_: &PassOptions) -> Result<Box<dyn Pass>, String> {
    Ok(Box::new(ControlFlowSink))
}

impl Pass for ControlFlowSink {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let cx = run.cx;
        let sunk: u64 = run.for_each_body(|at| sink_all(cx, at.body, at.remarks)).into_iter().sum();
        run.count("num-sunk", sunk);
        // Branches stay.
        Ok(PreservedAnalyses::unless(sunk > 0).and::<AliasAnalysis>())
    }
}

fn sink_all(cx: &Context, body: &mut Body, remarks: &mut Remarks) -> u64 {
    let ops: Vec<Op> = body.preorder().filter(|op| body.regions(*op).len() > 0).collect();
    let mut sunk = 0;
    for op in ops {
        for region in conditional_regions(OpRef::new(cx, body, op)) {
            sunk += sink_into(cx, body, op, region, remarks);
        }
    }
    sunk
}

/// Regions that run at most once when `op` does, and may not run.
fn conditional_regions(op: OpRef<'_>) -> SmallVec<[Region; 2]> {
    let Some(branch) = op.interface::<dyn RegionBranchOp>() else { return SmallVec::new() };
    let unknown: SmallVec<[_; 4]> = op.operands().map(|_| None).collect();
    let first = branch.begin(op, &unknown);
    let after: Vec<SmallVec<[RegionTarget; 4]>> = op
        .regions()
        .enumerate()
        .map(|(index, region)| {
            let ends = region.blocks().filter_map(|b| b.terminator()).filter(|t| t.successors().is_empty());
            ends.flat_map(|end| {
                let unknown: SmallVec<[_; 4]> = end.operands().map(|_| None).collect();
                branch.after(op, index, end, &unknown)
            })
            .collect()
        })
        .collect();
    let runs_again = |region: usize| {
        let mut seen = vec![false; after.len()];
        let mut pending = after[region].clone();
        while let Some(target) = pending.pop() {
            match target {
                RegionTarget::Region(next) if next == region => return true,
                RegionTarget::Region(next) if !std::mem::replace(&mut seen[next], true) => {
                    pending.extend(after[next].iter().copied());
                }
                _ => {}
            }
        }
        false
    };
    let is_conditional = |index: usize| first[..] != [RegionTarget::Region(index)] && !runs_again(index);
    op.regions().enumerate().filter(|(i, _)| is_conditional(*i)).map(|(_, r)| r.region).collect()
}

/// Moves what only `region` of `around` uses to its start.
fn sink_into(cx: &Context, body: &mut Body, around: Op, region: Region, remarks: &mut Remarks) -> u64 {
    let Some(entry) = body.region_entry(region) else { return 0 };
    let mut pending: Vec<Op> = body.blocks(region).flat_map(|b| body.ops(b).collect::<Vec<_>>()).collect();
    let inside = pending.clone();
    pending.extend(inside.into_iter().flat_map(|op| body.preorder_in(op)));
    let mut sunk = 0;
    let mut stay: FxHashSet<Op> = FxHashSet::default();
    while let Some(user) = pending.pop() {
        let definitions: SmallVec<[Op; 4]> = body.operands(user).filter_map(|v| body.defining_op(v)).collect();
        for op in definitions {
            let view = OpRef::new(cx, body, op);
            if body.op_block(op) != body.op_block(around) || !is_used_only_in(view, region) {
                continue;
            }
            let (loc, name) = (view.loc(), body.name(op).as_str(cx));
            if !is_memory_effect_free(view) {
                if stay.insert(op) {
                    remarks.missed(loc, || format!("'{name}' stays: it may read or write memory"));
                }
                continue;
            }
            let target = body.name(around).as_str(cx);
            remarks.passed(loc, || format!("'{name}' is moved into the region of '{target}' that uses it"));
            let first = body.first_op(entry).expect("its user is in the region");
            Rewriter::new(cx, body).move_before(op, first);
            sunk += 1;
            pending.push(op);
            pending.extend(body.preorder_in(op));
        }
    }
    sunk
}

/// All uses of `op`, which is no terminator, are in `region`.
fn is_used_only_in(op: OpRef<'_>, region: Region) -> bool {
    let body = op.body;
    let is_inside = |user: Op| {
        let at = body.op_block(user).and_then(|b| body.block_region(b));
        at.is_some_and(|r| body.is_region_within(region, r))
    };
    !op.has_trait(Traits::Terminator) && op.results().all(|r| body.uses(r).all(|u| is_inside(u.owner)))
}

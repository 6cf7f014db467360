//! `strip-debuginfo`: forgets all locations.

use sutura_ir::analysis::{AliasAnalysis, CallGraph, DominanceInfo, Liveness, PreservedAnalyses};
use sutura_ir::pass::{Anchor, Pass, PassInfo, PassOptions, PassResult, PassRun};
use sutura_ir::{Block, Body, Context, Loc, Op, Region, Rewriter};

use super::counted;

/// The pass.
pub static STRIP_DEBUGINFO: PassInfo = PassInfo {
    name: "StripDebugInfo",
    argument: "strip-debuginfo",
    summary: "Strip debug info from all operations",
    description: "Replaces the location of every operation and block argument by the unknown location.",
    anchor: Anchor::Any,
    options: &[],
    statistics: &[],
    create,
};

struct StripDebugInfo;

fn create(_: &PassOptions) -> Result<Box<dyn Pass>, String> {
    Ok(Box::new(StripDebugInfo))
}

impl Pass for StripDebugInfo {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let cx = run.cx;
        run.for_each_body(|at| {
            let loc = at.header.loc;
            let stripped = strip(cx, at.body);
            if stripped > 0 {
                at.remarks.passed(loc, || format!("{} of operations and arguments go", counted(stripped, "location")));
            }
        });
        run.header.loc = Loc::UNKNOWN;
        let kept = PreservedAnalyses::none().and::<AliasAnalysis>().and::<CallGraph>();
        Ok(kept.and::<DominanceInfo>().and::<Liveness>())
    }
}

/// Number of ops and arguments that had a location.
fn strip(cx: &Context, body: &mut Body) -> u64 {
    let ops: Vec<Op> = body.preorder().collect();
    let regions: Vec<Region> = body.owner_regions().chain(ops.iter().flat_map(|op| body.regions(*op))).collect();
    let blocks: Vec<Block> = regions.into_iter().flat_map(|r| body.blocks(r)).collect();
    let args = blocks.iter().flat_map(|block| body.block_args(*block)).map(|arg| body.value_loc(*arg));
    let located = ops.iter().map(|op| body.loc(*op)).chain(args).filter(|loc| *loc != Loc::UNKNOWN).count();
    let mut rewriter = Rewriter::new(cx, body);
    for op in ops {
        rewriter.set_loc(op, Loc::UNKNOWN);
    }
    for block in blocks {
        for index in 0..rewriter.body().block_args(block).len() {
            rewriter.set_arg_loc(block, index, Loc::UNKNOWN);
        }
    }
    located as u64
}

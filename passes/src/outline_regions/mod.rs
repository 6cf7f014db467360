//! `outline-regions`: what conditions and loops do, as functions that they call.
//!
//! Passes on functions of tensors look at one block. So each region becomes a function of its own: what it uses from around is
//! passed to it, and sizes keep the names that they have, as the new function's own symbols.

mod region;

use sutura_dialects::func::FuncOp;
use sutura_dialects::scf::{IfOp, WhileOp};
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::pass::{Anchor, Pass, PassInfo, PassOptions, PassResult, PassRun, StatisticInfo};
use sutura_ir::{Context, Op, OpRef, Rewriter};

/// The pass.
pub static OUTLINE_REGIONS: PassInfo = PassInfo {
    name: "OutlineRegions",
    argument: "outline-regions",
    summary: "Make what conditions and loops do functions that they call",
    description: "Each region of an `scf.if` or `scf.while` in a function becomes a private function, which the region calls. \
                  What it uses from around becomes arguments; constants are copied. Values that a region hands on as it \
                  got them are not passed through. Regions that do nothing, or a single call, stay; so do those that use \
                  something else than ranked tensors from around, with a remark.",
    anchor: Anchor::Op("builtin.module"),
    options: &[],
    statistics: &[StatisticInfo { name: "num-outlined", description: "regions that became functions" }],
    create: |_: &PassOptions| Ok(Box::new(OutlineRegions)),
};

struct OutlineRegions;

impl Pass for OutlineRegions {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let cx = run.cx;
        let is_function = |op: &Op, run: &PassRun<'_>| OpRef::new(cx, run.body, *op).is::<FuncOp<'_>>();
        let ops: Vec<Op> = run.body.entry_block().into_iter().flat_map(|block| run.body.ops(block)).collect();
        let mut open: Vec<Op> = ops.into_iter().filter(|op| is_function(op, run)).collect();
        let mut outlined = 0;
        // What was outlined may have conditions and loops itself.
        while let Some(function) = open.pop() {
            for (op, number) in regions(cx, run, function) {
                let name = free_name(cx, run, function, op, number);
                let made = run.body.nested_mut(function).map(|body| region::outline(cx, body, (op, number), &name));
                let loc = run.body.loc(function);
                match made {
                    Some(Ok(Some((state, inside)))) => {
                        let mut rw = Rewriter::new(cx, run.body);
                        rw.set_after(function);
                        open.push(rw.create_isolated(state, inside));
                        run.passed(loc, format!("a region is the function @{name} now"));
                        outlined += 1;
                    }
                    Some(Err((loc, why))) => run.missed(loc, why),
                    _ => {}
                }
            }
        }
        run.count("num-outlined", outlined);
        Ok(PreservedAnalyses::unless(outlined > 0))
    }
}

/// The regions of conditions and loops in a function that lie in no other one.
fn regions(cx: &Context, run: &PassRun<'_>, function: Op) -> Vec<(Op, usize)> {
    let Some(body) = run.body.nested(function) else { return Vec::new() };
    let blocks = body.owner_regions().flat_map(|region| body.blocks(region));
    let ops = blocks.flat_map(|block| body.ops(block)).map(|op| OpRef::new(cx, body, op));
    let ops = ops.filter(|op| op.is::<IfOp<'_>>() || op.is::<WhileOp<'_>>());
    ops.flat_map(|op| (0..op.regions().len()).map(move |number| (op.op, number))).collect()
}

/// A name for the function of a region that no symbol has.
fn free_name(cx: &Context, run: &PassRun<'_>, function: Op, op: Op, number: usize) -> String {
    let owner = OpRef::new(cx, run.body, function);
    let inside = run.body.nested(function).expect("it has regions");
    let words = if OpRef::new(cx, inside, op).is::<IfOp<'_>>() { ["then", "else"] } else { ["before", "after"] };
    let base = format!("{}_{}", owner.symbol_name().unwrap_or("function"), words[number.min(1)]);
    let taken = |name: &str| {
        let mut beside = run.body.entry_block().into_iter().flat_map(|block| run.body.ops(block));
        beside.any(|op| OpRef::new(cx, run.body, op).symbol_name() == Some(name))
    };
    let numbered = (0..).map(|n| if n == 0 { base.clone() } else { format!("{base}{n}") });
    numbered.into_iter().find(|name| !taken(name)).unwrap_or(base)
}

//! `outline-regions`: what conditions and loops do, as functions that they call.
//!
//! Passes on functions of tensors look at one block. So each region becomes a function of its own: what it uses from around is
//! passed to it, and sizes keep the names that they have, as the new function's own symbols.

mod region;

use rustc_hash::FxHashSet;
use sutura_dialects::func::FuncOp;
use sutura_dialects::scf::{IfOp, WhileOp};
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::pass::{Anchor, Pass, PassInfo, PassOptions, PassResult, PassRun, StatisticInfo};
use sutura_ir::{Body, Context, Op, OpRef, Rewriter};

/// The pass.
pub static OUTLINE_REGIONS: PassInfo = PassInfo {
    name: "OutlineRegions",
    argument: "outline-regions",
    summary: "Make what conditions and loops do functions that they call",
    description: "Each region of an `scf.if` or `scf.while` in a function becomes a private function, which the region calls. \
                  What it uses from around becomes arguments; constants are copied. Values that a region hands on as it \
                  got them are not passed through, and what nothing uses is erased. Regions that do nothing, or a single \
                  call, stay; so do those that use something else than ranked tensors from around, with a remark.",
    anchor: Anchor::Op("builtin.module"),
    options: &[],
    statistics: &[StatisticInfo { name: "num-outlined", description: "regions that became functions" }],
    create: |_: &PassOptions| Ok(Box::new(OutlineRegions)),
};

struct OutlineRegions;

impl Pass for OutlineRegions {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let cx = run.cx;
        let ops: Vec<Op> = run.body.entry_block().into_iter().flat_map(|block| run.body.ops(block)).collect();
        let symbols = ops.iter().filter_map(|op| OpRef::new(cx, run.body, *op).symbol_name());
        let mut taken: FxHashSet<String> = symbols.map(str::to_owned).collect();
        let (mut outlined, mut erased) = (0, false);
        for function in
            ops.into_iter().filter(|op| OpRef::new(cx, run.body, *op).is::<FuncOp<'_>>()).collect::<Vec<_>>()
        {
            for region in regions(cx, run.body, function, &mut taken) {
                let Some(body) = run.body.nested_mut(function) else { continue };
                erased |= region::erase_dead(cx, body, region.owner, region.number);
                let made = region::outline(cx, body, (region.owner, region.number), &region.name);
                let loc = run.body.loc(function);
                match made {
                    Ok(Some((state, inside))) => {
                        let mut rw = Rewriter::new(cx, run.body);
                        rw.set_after(function);
                        rw.create_isolated(state, inside);
                        run.passed(loc, format!("a region is the function @{} now", region.name));
                        outlined += 1;
                    }
                    Ok(None) => {}
                    Err((loc, why)) => run.missed(loc, why),
                }
            }
        }
        run.count("num-outlined", outlined);
        Ok(PreservedAnalyses::unless(erased || outlined > 0))
    }
}

/// A region, and the name of the function that it becomes.
struct Candidate {
    owner: Op,
    number: usize,
    name: String,
}

/// The regions of conditions and loops in a function, those in others before these: so what is moved is never moved again.
fn regions(cx: &Context, module: &Body, function: Op, taken: &mut FxHashSet<String>) -> Vec<Candidate> {
    let Some(body) = module.nested(function) else { return Vec::new() };
    let prefix = OpRef::new(cx, module, function).symbol_name().unwrap_or("function");
    let words = |op: OpRef<'_>| match () {
        () if op.is::<IfOp<'_>>() => Some(["then", "else"]),
        () if op.is::<WhileOp<'_>>() => Some(["before", "after"]),
        () => None,
    };
    let ops = body.preorder().filter_map(|op| Some((op, words(OpRef::new(cx, body, op))?)));
    let mut found = Vec::new();
    for (count, (op, words)) in ops.enumerate() {
        let regions = OpRef::new(cx, body, op).regions().len();
        for (number, word) in words.iter().enumerate().take(regions) {
            let name = free_name(&format!("{prefix}_{word}"), count, taken);
            found.push(Candidate { owner: op, number, name });
        }
    }
    found.reverse();
    found
}

/// A name that no symbol has: `base` with the number of the op, unless that is 0 or taken.
fn free_name(base: &str, count: usize, taken: &mut FxHashSet<String>) -> String {
    let numbered = (count..).map(|n| if n == 0 { base.to_owned() } else { format!("{base}{n}") });
    let name = numbered.into_iter().find(|name| !taken.contains(name)).expect("there are more numbers than symbols");
    taken.insert(name.clone());
    name
}

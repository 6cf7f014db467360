//! `cse`: an op that computes what one that dominates it has computed already is replaced by that one.

mod equivalence;
mod table;
mod walk;

use sutura_ir::analysis::{AliasAnalysis, DominanceInfo, PreservedAnalyses};
use sutura_ir::pass::{Anchor, Pass, PassInfo, PassOptions, PassResult, PassRun, StatisticInfo};

/// The pass.
pub static CSE: PassInfo = PassInfo {
    name: "CSE",
    argument: "cse",
    summary: "Eliminate common sub-expressions",
    description: "Replaces an operation by an equivalent one that dominates it, and erases dead operations on the way. \
                  Operations without memory effects are considered, and operations that only read memory when nothing \
                  can have written in between. Remarks say what was merged with what, and which reads stay.",
    anchor: Anchor::Any,
    options: &[],
    statistics: &[
        StatisticInfo { name: "num-cse'd", description: "Number of operations CSE'd" },
        StatisticInfo { name: "num-dce'd", description: "Number of operations DCE'd" },
    ],
    create,
};

struct Cse;

fn create(_: &PassOptions) -> Result<Box<dyn Pass>, String> {
    Ok(Box::new(Cse))
}

impl Pass for Cse {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let counts = run.for_each_body(walk::eliminate);
        let replaced: u64 = counts.iter().map(|c| c.replaced).sum();
        let erased: u64 = counts.iter().map(|c| c.erased).sum();
        run.count("num-cse'd", replaced);
        run.count("num-dce'd", erased);
        // Ops are only taken out, so that what dominates what stays as it is, and so do branches.
        let changed = replaced + erased > 0;
        Ok(PreservedAnalyses::unless(changed).and::<DominanceInfo>().and::<AliasAnalysis>())
    }
}

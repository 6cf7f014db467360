//! `reconcile-unrealized-casts`: removes casts between type systems that cancel out.

use sutura_ir::Op;
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::builtin::UnrealizedConversionCastOp;
use sutura_ir::pass::{Anchor, Pass, PassInfo, PassOptions, PassResult, PassRun, StatisticInfo};
use sutura_ir::rewrite::conversion::reconcile_unrealized_casts;
use sutura_ir::{Body, Context, OpRef};

/// The pass.
pub static RECONCILE_UNREALIZED_CASTS: PassInfo = PassInfo {
    name: "ReconcileUnrealizedCastsPass",
    argument: "reconcile-unrealized-casts",
    summary: "Simplify and eliminate unrealized conversion casts",
    description: "A chain of `builtin.unrealized_conversion_cast` that leads back to the types it began with is replaced by \
                  its first operands; casts that nothing uses go. A cast that is left, as part of an incomplete conversion, \
                  stays, with a remark.",
    anchor: Anchor::Any,
    options: &[],
    statistics: &[StatisticInfo { name: "num-removed", description: "Number of casts removed" }],
    create: |_: &PassOptions| Ok(Box::new(Reconcile)),
};

struct Reconcile;

/// What happened in one body.
struct Done {
    removed: u64,
    /// Where the casts stood that are removed.
    gone: Vec<sutura_ir::Loc>,
    /// Locations of the casts that are left.
    left: Vec<sutura_ir::Loc>,
}

impl Pass for Reconcile {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let cx = run.cx;
        let done = run.for_each_body(|at| reconcile(cx, at.body));
        let removed = done.iter().map(|d| d.removed).sum();
        for loc in done.iter().flat_map(|d| &d.gone) {
            run.passed(*loc, "this cast is removed: it cancels out, or nothing uses it");
        }
        for loc in done.into_iter().flat_map(|d| d.left) {
            run.missed(loc, "this cast stays: nothing casts its result back");
        }
        run.count("num-removed", removed);
        Ok(PreservedAnalyses::unless(removed > 0))
    }
}

fn reconcile(cx: &Context, body: &mut Body) -> Done {
    let is_cast = |op: &Op| OpRef::new(cx, body, *op).is::<UnrealizedConversionCastOp<'_>>();
    let casts: Vec<Op> = body.preorder().filter(is_cast).collect();
    let locs: Vec<sutura_ir::Loc> = casts.iter().map(|op| body.loc(*op)).collect();
    let left = reconcile_unrealized_casts(cx, body, &casts);
    let gone = casts.iter().zip(locs).filter(|(op, _)| !body.is_live(**op)).map(|(_, loc)| loc).collect();
    let removed = (casts.len() - left.len()) as u64;
    Done { removed, gone, left: left.into_iter().map(|op| body.loc(op)).collect() }
}

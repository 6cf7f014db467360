//! `loop-invariant-code-motion`: what computes the same in every iteration is computed once, before the loop.

use rustc_hash::FxHashMap;
use sutura_ir::analysis::dominance::reverse_post_order;
use sutura_ir::analysis::effects::{effects, is_speculatable};
use sutura_ir::analysis::{AliasAnalysis, PreservedAnalyses};
use sutura_ir::interfaces::{EffectKind, LoopLike, RegionBranchOp, RegionTarget};
use sutura_ir::pass::{Anchor, BodyRun, Pass, PassInfo, PassOptions, PassResult, PassRun, StatisticInfo};
use sutura_ir::{Attr, Block, Body, Context, Loc, Op, OpRef, Rewriter, Traits, Value};

/// The pass.
pub static LOOP_INVARIANT_CODE_MOTION: PassInfo = PassInfo {
    name: "LoopInvariantCodeMotion",
    argument: "loop-invariant-code-motion",
    summary: "Hoist loop invariant instructions outside of the loop",
    description: "Moves an operation before the loop around it when all that it uses is defined outside the loop, the \
                  loop does not write what it reads (by alias analysis), and it may be executed even if the loop runs \
                  no iteration, or the first iteration surely executes it. Inner loops come first, so that an \
                  operation may leave several. Operations that write, make or free memory stay. A remark says why an \
                  invariant operation stays.",
    anchor: Anchor::Any,
    options: &[],
    statistics: &[
        StatisticInfo { name: "num-hoisted", description: "Number of operations moved out of a loop" },
        StatisticInfo {
            name: "num-not-speculatable",
            description: "Number of invariant operations that stay because the loop may not run them",
        },
        StatisticInfo {
            name: "num-written",
            description: "Number of invariant reads that stay because the loop may write what they read",
        },
    ],
    create,
};

struct LoopInvariantCodeMotion;

fn create(_: &PassOptions) -> Result<Box<dyn Pass>, String> {
    Ok(Box::new(LoopInvariantCodeMotion))
}

impl Pass for LoopInvariantCodeMotion {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let outcomes = run.for_each_body(hoist_all);
        let found: Vec<(Loc, String, Verdict)> = outcomes.into_iter().flatten().collect();
        for (loc, name, verdict) in &found {
            match verdict {
                Verdict::Hoist => run.passed(*loc, format!("'{name}' is moved before the loop")),
                Verdict::MayNotRun => {
                    run.missed(*loc, format!("'{name}' stays: the loop may not execute it, and it may be undefined"));
                }
                Verdict::Written => run.missed(*loc, format!("'{name}' stays: the loop may write what it reads")),
            }
        }
        let count = |verdict| found.iter().filter(|f| f.2 == verdict).count() as u64;
        let hoisted = count(Verdict::Hoist);
        run.count("num-hoisted", hoisted);
        run.count("num-not-speculatable", count(Verdict::MayNotRun));
        run.count("num-written", count(Verdict::Written));
        Ok(PreservedAnalyses::unless(hoisted > 0).and::<AliasAnalysis>())
    }
}

/// What becomes of an op that is the same in all iterations.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Hoist,
    MayNotRun,
    Written,
}

fn hoist_all(run: &mut BodyRun<'_>) -> Vec<(Loc, String, Verdict)> {
    let (cx, body) = (run.cx, &*run.body);
    let is_loop = |op: &Op| OpRef::new(cx, body, *op).interface::<dyn LoopLike>().is_some();
    let loops: Vec<Op> = body.postorder().into_iter().filter(is_loop).collect();
    let mut found = Vec::new();
    if loops.is_empty() {
        return found;
    }
    // Branches stay as they are, so that this stays true.
    let aliases = run.analysis::<AliasAnalysis>();
    for around in loops {
        hoist_from(cx, run.body, around, &aliases, &mut found);
    }
    found
}

fn hoist_from(
    cx: &Context,
    body: &mut Body,
    around: Op,
    aliases: &AliasAnalysis,
    found: &mut Vec<(Loc, String, Verdict)>,
) {
    let view = OpRef::new(cx, body, around);
    let interface = view.interface::<dyn LoopLike>().expect("a loop");
    let regions: Vec<usize> = interface.loop_regions(view).into_iter().collect();
    let entries: Vec<Block> = regions.iter().filter_map(|index| Some(view.region(*index)?.entry()?.block)).collect();
    let first = first_block(view);
    // Definitions come before uses, so that an op follows what it uses out of the loop in one go.
    let mut written: FxHashMap<Value, bool> = FxHashMap::default();
    let blocks: Vec<Block> = entries.iter().flat_map(|entry| reverse_post_order(body, *entry)).collect();
    for block in blocks {
        // True as long as everything before is executed as soon as the loop begins.
        let mut surely = first == Some(block);
        let mut next = body.first_op(block);
        while let Some(op) = next {
            next = body.next_op(op);
            let view = OpRef::new(cx, body, around);
            let is_written = &mut |value| *written.entry(value).or_insert_with(|| aliases.mod_ref(view, value).writes);
            let verdict = judge(view, interface, OpRef::new(cx, body, op), is_written, surely);
            if verdict == Some(Verdict::Hoist) {
                Rewriter::new(cx, body).move_before(op, around);
            } else {
                surely = surely && goes_on(OpRef::new(cx, body, op));
            }
            let name = || body.name(op).as_str(cx).to_string();
            found.extend(verdict.map(|verdict| (body.loc(op), name(), verdict)));
        }
    }
}

/// The block that is surely executed when the loop is.
fn first_block(around: OpRef<'_>) -> Option<Block> {
    let operands: Vec<Option<Attr>> = around.operands().map(|v| around.constant(v)).collect();
    let targets = around.interface::<dyn RegionBranchOp>()?.begin(around, &operands);
    match targets[..] {
        [RegionTarget::Region(index)] => Some(around.region(index)?.entry()?.block),
        _ => None,
    }
}

/// True when what comes behind `op` is surely executed, unless `op` is undefined.
fn goes_on(op: OpRef<'_>) -> bool {
    is_speculatable(op) || (op.regions().len() == 0 && effects(op).is_some())
}

/// What to do with `op` if it does the same in all iterations of the loop `around`; `None` if it does not.
fn judge(
    around: OpRef<'_>,
    interface: &dyn LoopLike,
    op: OpRef<'_>,
    is_written: &mut dyn FnMut(Value) -> bool,
    surely: bool,
) -> Option<Verdict> {
    if op.has_trait(Traits::Terminator) || !uses_only_invariants(around, interface, op) {
        return None;
    }
    let effects = effects(op)?;
    if effects.iter().any(|e| e.kind != EffectKind::Read) {
        return None;
    }
    if effects.iter().any(|effect| effect.value.is_none_or(&mut *is_written)) {
        return Some(Verdict::Written);
    }
    Some(if surely || is_speculatable(op) { Verdict::Hoist } else { Verdict::MayNotRun })
}

fn uses_only_invariants(around: OpRef<'_>, interface: &dyn LoopLike, op: OpRef<'_>) -> bool {
    let body = op.body;
    let is_own = |value| body.value_block(value).and_then(|b| body.block_parent(b));
    let uses_only_invariants = |user: Op| {
        body.operands(user).all(|value| {
            interface.is_invariant(around, value) || is_own(value).is_some_and(|parent| body.is_ancestor(op.op, parent))
        })
    };
    uses_only_invariants(op.op) && body.preorder_in(op.op).all(uses_only_invariants)
}

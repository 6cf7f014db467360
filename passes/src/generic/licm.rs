//! `loop-invariant-code-motion`: what computes the same in every iteration is computed once, before the loop.

use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::analysis::dominance::reverse_post_order;
use sutura_ir::analysis::effects::{is_memory_effect_free, is_speculatable};
use sutura_ir::interfaces::LoopLike;
use sutura_ir::pass::{Anchor, Pass, PassInfo, PassOptions, PassResult, PassRun, StatisticInfo, for_each_body};
use sutura_ir::{Body, Context, Op, OpRef, Rewriter, Traits};

/// The pass.
pub static LOOP_INVARIANT_CODE_MOTION: PassInfo = PassInfo {
    name: "LoopInvariantCodeMotion",
    argument: "loop-invariant-code-motion",
    summary: "Hoist loop invariant instructions outside of the loop",
    description: "Moves an operation before the loop around it when all that it uses is defined outside the loop, it \
                  has no effect on memory, and it may be executed even if the loop runs no iteration. Inner loops come \
                  first, so that an operation may leave several.",
    anchor: Anchor::Any,
    options: &[],
    statistics: &[
        StatisticInfo { name: "num-hoisted", description: "Number of operations moved out of a loop" },
        StatisticInfo {
            name: "num-not-speculatable",
            description: "Number of invariant operations that stay because the loop may not run",
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
        let cx = run.cx;
        let counts = for_each_body(run.header.name, run.body, |_, body| hoist_all(cx, body));
        let hoisted: u64 = counts.iter().map(|c| c.hoisted).sum();
        run.count("num-hoisted", hoisted);
        run.count("num-not-speculatable", counts.iter().map(|c| c.not_speculatable).sum());
        Ok(PreservedAnalyses::unless(hoisted > 0))
    }
}

#[derive(Clone, Copy, Default)]
struct Counts {
    hoisted: u64,
    not_speculatable: u64,
}

fn hoist_all(cx: &Context, body: &mut Body) -> Counts {
    let mut counts = Counts::default();
    let is_loop = |op: &Op| OpRef::new(cx, body, *op).interface::<dyn LoopLike>().is_some();
    let loops: Vec<Op> = body.postorder().into_iter().filter(is_loop).collect();
    for around in loops {
        hoist_from(cx, body, around, &mut counts);
    }
    counts
}

fn hoist_from(cx: &Context, body: &mut Body, around: Op, counts: &mut Counts) {
    let view = OpRef::new(cx, body, around);
    let interface = view.interface::<dyn LoopLike>().expect("a loop");
    let entries = interface.loop_regions(view).into_iter().filter_map(|r| view.region(r)?.entry());
    // Definitions come before uses, so that an op follows what it uses out of the loop in one go.
    let blocks: Vec<_> = entries.flat_map(|e| reverse_post_order(body, e.block)).collect();
    for block in blocks {
        let mut next = body.first_op(block);
        while let Some(op) = next {
            next = body.next_op(op);
            let (op_view, loop_view) = (OpRef::new(cx, body, op), OpRef::new(cx, body, around));
            if !is_invariant(loop_view, interface, op_view) {
                continue;
            }
            if is_speculatable(op_view) {
                Rewriter::new(cx, body).move_before(op, around);
                counts.hoisted += 1;
            } else {
                counts.not_speculatable += 1;
            }
        }
    }
}

/// The op does the same in all iterations, whenever it is executed.
fn is_invariant(around: OpRef<'_>, interface: &dyn LoopLike, op: OpRef<'_>) -> bool {
    if op.has_trait(Traits::Terminator) || !is_memory_effect_free(op) {
        return false;
    }
    let body = op.body;
    let is_own = |value| body.value_block(value).and_then(|b| body.block_parent(b));
    let uses_only_invariants = |user: Op| {
        body.operands(user).all(|value| {
            interface.is_invariant(around, value) || is_own(value).is_some_and(|parent| body.is_ancestor(op.op, parent))
        })
    };
    uses_only_invariants(op.op) && body.preorder_in(op.op).all(uses_only_invariants)
}

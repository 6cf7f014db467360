//! A normal form: the order of ops that only compute does not matter, so each stands where it is needed first; constants
//! that nothing uses are gone.

use rustc_hash::FxHashSet;
use sutura_ir::analysis::effects::is_memory_effect_free;
use sutura_ir::asm::print::attr_text;
use sutura_ir::{Block, Body, Context, Op, OpRef, Rewriter, Traits};

/// Brings the ops of all blocks of a body, and of those inside, into the order of need.
pub(super) fn normalize(cx: &Context, body: &mut Body) {
    let ops: Vec<Op> = body.preorder().collect();
    let mut blocks: Vec<Block> = Vec::new();
    for block in ops.iter().filter_map(|op| body.op_block(*op)) {
        if !blocks.contains(&block) {
            blocks.push(block);
        }
    }
    for block in blocks {
        let order = order_of_need(cx, body, block);
        let mut rw = Rewriter::new(cx, body);
        for op in order {
            if rw.op_ref(op).has_trait(Traits::ConstantLike) && is_dead(rw.body(), op) {
                rw.erase_op(op);
            } else {
                rw.move_to_end(op, block);
            }
        }
    }
    for op in ops {
        if body.is_live(op)
            && let Some(inside) = body.nested_mut(op)
        {
            normalize(cx, inside);
        }
    }
}

fn order_of_need(cx: &Context, body: &Body, block: Block) -> Vec<Op> {
    let ops: Vec<Op> = body.ops(block).collect();
    let (moving, fixed): (Vec<Op>, Vec<Op>) = ops.iter().partition(|op| only_computes(OpRef::new(cx, body, **op)));
    let mut need = Need { body, moving: moving.iter().copied().collect(), order: Vec::new() };
    let (last, rest) = fixed.split_last().map_or((None, &[][..]), |(last, rest)| (Some(*last), rest));
    for op in rest.iter().copied() {
        need.place(op);
    }
    // What only the terminator needs follows what nothing, or only another block, needs.
    let elsewhere =
        |op: &Op| body.results(*op).flat_map(|r| body.uses(r)).all(|u| body.op_block(u.owner) != Some(block));
    let mut rest: Vec<Op> = moving.into_iter().filter(|op| need.moving.contains(op) && elsewhere(op)).collect();
    rest.sort_by_cached_key(|op| value_text(cx, body, *op));
    for op in rest {
        need.place(op);
    }
    last.into_iter().for_each(|op| need.place(op));
    need.order
}

fn is_dead(body: &Body, op: Op) -> bool {
    body.results(op).all(|r| body.is_unused(r))
}

/// The value of a constant as text; empty for other ops.
fn value_text(cx: &Context, body: &Body, op: Op) -> String {
    let value = OpRef::new(cx, body, op).prop("value");
    value.map(|attr| attr_text(cx, attr)).unwrap_or_default()
}

fn only_computes(op: OpRef<'_>) -> bool {
    op.regions().len() == 0
        && op.successors().is_empty()
        && !op.has_trait(Traits::Terminator)
        && is_memory_effect_free(op)
}

struct Need<'a> {
    body: &'a Body,
    /// Ops of the block that may move and have no place yet.
    moving: FxHashSet<Op>,
    order: Vec<Op>,
}

impl Need<'_> {
    /// Places `op` behind what it, or an op inside it, uses.
    fn place(&mut self, op: Op) {
        self.moving.remove(&op);
        let mut users = vec![op];
        while let Some(user) = users.pop() {
            for value in self.body.operands(user) {
                if let Some(needed) = self.body.defining_op(value).filter(|op| self.moving.contains(op)) {
                    self.place(needed);
                }
            }
            let inside = self.body.regions(user).flat_map(|r| self.body.blocks(r)).flat_map(|b| self.body.ops(b));
            let inside: Vec<Op> = inside.collect();
            users.extend(inside.into_iter().rev());
        }
        self.order.push(op);
    }
}

//! Liveness: which values may still be used at a place.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::analysis::Analysis;
use crate::body::{Block, Body, Op, OpHeader, Value};
use crate::context::Context;
use crate::interfaces::LoopLike;
use crate::op_ref::OpRef;

/// The values of one body that are live where its blocks begin and end. Valid until ops, operands or blocks change.
///
/// A value that is used in a nested region and defined outside is live in the region from its start to the use, and in
/// a region that a loop runs many times, throughout.
#[derive(Debug)]
pub struct Liveness {
    live_in: FxHashMap<Block, FxHashSet<Value>>,
    live_out: FxHashMap<Block, FxHashSet<Value>>,
}

impl Analysis for Liveness {
    const NAME: &'static str = "Liveness";

    fn build(cx: &Context, _: &OpHeader, body: &Body) -> Self {
        Self::new(cx, body)
    }
}

impl Liveness {
    /// Liveness in `body`, nested bodies left out.
    pub fn new(cx: &Context, body: &Body) -> Self {
        let mut found = Self { live_in: FxHashMap::default(), live_out: FxHashMap::default() };
        let in_ops = body.preorder().flat_map(|op| body.regions(op));
        let blocks: Vec<Block> = body.owner_regions().chain(in_ops).flat_map(|r| body.blocks(r)).collect();
        let mut predecessors: FxHashMap<Block, Vec<Block>> = FxHashMap::default();
        for &block in &blocks {
            for &next in body.block_successors(block) {
                predecessors.entry(next).or_default().push(block);
            }
        }
        for &block in &blocks {
            let results = body.ops(block).flat_map(|op| body.results(op));
            for value in body.block_args(block).iter().copied().chain(results) {
                found.add(cx, body, &predecessors, block, value);
            }
        }
        found
    }

    /// Follows `value`, defined in block `home`, from its uses up.
    fn add(
        &mut self,
        cx: &Context,
        body: &Body,
        predecessors: &FxHashMap<Block, Vec<Block>>,
        home: Block,
        value: Value,
    ) {
        let mut pending: Vec<Block> = body.uses(value).filter_map(|u| body.op_block(u.owner)).collect();
        while let Some(block) = pending.pop() {
            if block == home || !self.live_in.entry(block).or_default().insert(value) {
                continue;
            }
            for &from in predecessors.get(&block).into_iter().flatten() {
                self.live_out.entry(from).or_default().insert(value);
                pending.push(from);
            }
            if body.block_region(block) == body.block_region(home) {
                continue;
            }
            let Some(around) = body.block_parent(block) else { continue };
            pending.extend(body.op_block(around));
            self.keep_in_loop(cx, body, around, block, value, &mut pending);
        }
    }

    /// What an iteration of the loop `around` uses, the next one may use too.
    fn keep_in_loop(
        &mut self,
        cx: &Context,
        body: &Body,
        around: Op,
        block: Block,
        value: Value,
        pending: &mut Vec<Block>,
    ) {
        let op = OpRef::new(cx, body, around);
        let Some(interface) = op.interface::<dyn LoopLike>() else { return };
        let repeated: Vec<_> =
            interface.loop_regions(op).into_iter().filter_map(|i| op.region(i)).map(|r| r.region).collect();
        if !body.block_region(block).is_some_and(|r| repeated.contains(&r)) {
            return;
        }
        for block in repeated.into_iter().flat_map(|r| body.blocks(r)) {
            self.live_out.entry(block).or_default().insert(value);
            pending.push(block);
        }
    }

    /// True when `value`, defined before, may be used in `block` or later.
    pub fn is_live_in(&self, value: Value, block: Block) -> bool {
        self.live_in.get(&block).is_some_and(|live| live.contains(&value))
    }

    /// True when `value` may be used behind the end of `block`.
    pub fn is_live_out(&self, value: Value, block: Block) -> bool {
        self.live_out.get(&block).is_some_and(|live| live.contains(&value))
    }

    /// The values that are live where `block` begins, in order of their numbers. The block's own arguments are not
    /// among them.
    pub fn live_in(&self, block: Block) -> Vec<Value> {
        sorted(self.live_in.get(&block))
    }

    /// The values that are live where `block` ends, in order of their numbers.
    pub fn live_out(&self, block: Block) -> Vec<Value> {
        sorted(self.live_out.get(&block))
    }

    /// The last op of `block` that uses `value`, itself or in one of its regions.
    pub fn last_use(&self, body: &Body, value: Value, block: Block) -> Option<Op> {
        let within = |user: Op| {
            let mut at = user;
            while body.op_block(at) != Some(block) {
                at = body.parent_op(at)?;
            }
            Some(at)
        };
        let users = body.uses(value).filter_map(|u| within(u.owner));
        users.reduce(|a, b| if body.is_before_in_block(a, b) { b } else { a })
    }

    /// True when nothing uses `value` after `op`, whose block it is defined in or live in.
    pub fn is_dead_after(&self, body: &Body, value: Value, op: Op) -> bool {
        let Some(block) = body.op_block(op) else { return true };
        let is_later = |last: Op| last != op && body.is_before_in_block(op, last);
        !self.is_live_out(value, block)
            && !self.last_use(body, value, block).is_some_and(is_later)
            && (body.defining_op(value) != Some(op) || body.is_unused(value))
    }
}

fn sorted(values: Option<&FxHashSet<Value>>) -> Vec<Value> {
    let mut values: Vec<Value> = values.into_iter().flatten().copied().collect();
    values.sort_unstable_by_key(|value| value.index());
    values
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::{Builder, OpState};
    use crate::location::Loc;
    use crate::registry::Registry;

    /// Blocks with the given successors. The first defines a value in block `home`, which is used in the blocks `uses`.
    fn program(cx: &Context, edges: &[&[usize]], home: usize, uses: &[usize]) -> (Body, Vec<Block>, Value, Vec<Op>) {
        let mut body = Body::new(1);
        let region = body.region();
        let mut b = Builder::new(cx, &mut body);
        let blocks: Vec<Block> = edges.iter().map(|_| b.create_block(region, &[])).collect();
        b.set_to_end(blocks[home]);
        let def = b.create(OpState::new(cx.op_name("t.def"), Loc::UNKNOWN).results([cx.int_type(32)]));
        let value = b.body().result(def, 0);
        let mut users = Vec::new();
        for &at in uses {
            b.set_to_end(blocks[at]);
            users.push(b.create(OpState::new(cx.op_name("t.use"), Loc::UNKNOWN).operands([value])));
        }
        for (block, targets) in blocks.iter().zip(edges) {
            b.set_to_end(*block);
            let state = OpState::new(cx.op_name("t.br"), Loc::UNKNOWN).successors(targets.iter().map(|t| blocks[*t]));
            b.create(state);
        }
        (body, blocks, value, users)
    }

    /// By definition: a use is reached from the start of `from` without passing the definition.
    fn reaches_use(edges: &[&[usize]], home: usize, uses: &[usize], from: usize) -> bool {
        let (mut seen, mut pending) = (vec![false; edges.len()], vec![from]);
        while let Some(at) = pending.pop() {
            if at == home || std::mem::replace(&mut seen[at], true) {
                continue;
            }
            if uses.contains(&at) {
                return true;
            }
            pending.extend(edges[at]);
        }
        false
    }

    #[test]
    fn agrees_with_the_definition() {
        let graphs: &[&[&[usize]]] =
            &[&[&[1, 2], &[3], &[3], &[]], &[&[1], &[2, 4], &[3], &[1], &[]], &[&[1, 2], &[2], &[1, 3], &[]]];
        let cx = Context::new(Registry::default());
        for edges in graphs {
            for (home, used) in (0..edges.len()).flat_map(|h| (0..edges.len()).map(move |u| (h, u))) {
                let (body, blocks, value, _) = program(&cx, edges, home, &[used]);
                let liveness = Liveness::new(&cx, &body);
                for (at, &block) in blocks.iter().enumerate() {
                    let live_in = reaches_use(edges, home, &[used], at);
                    let live_out = edges[at].iter().any(|next| reaches_use(edges, home, &[used], *next));
                    assert_eq!(liveness.is_live_in(value, block), live_in, "in {at}: {home} to {used} of {edges:?}");
                    assert_eq!(liveness.is_live_out(value, block), live_out, "out {at}: {home} to {used} of {edges:?}");
                    assert_eq!(liveness.live_in(block), if live_in { vec![value] } else { vec![] });
                    assert_eq!(liveness.live_out(block), if live_out { vec![value] } else { vec![] });
                }
            }
        }
    }

    #[test]
    fn the_last_use_ends_a_value() {
        let cx = Context::new(Registry::default());
        let (body, blocks, value, users) = program(&cx, &[&[1], &[]], 0, &[0, 0, 1]);
        let liveness = Liveness::new(&cx, &body);
        assert_eq!(liveness.last_use(&body, value, blocks[0]), Some(users[1]));
        assert!(!liveness.is_dead_after(&body, value, users[1]), "the next block uses it");
        assert!(liveness.is_dead_after(&body, value, users[2]));
        let (body, _, value, users) = program(&cx, &[&[]], 0, &[0, 0]);
        let liveness = Liveness::new(&cx, &body);
        assert!(!liveness.is_dead_after(&body, value, body.defining_op(value).expect("defined")));
        assert!(!liveness.is_dead_after(&body, value, users[0]));
        assert!(liveness.is_dead_after(&body, value, users[1]));
    }

    #[test]
    fn uses_in_regions_count_around() {
        let cx = Context::new(Registry::default());
        let (mut body, blocks, value, users) = program(&cx, &[&[1], &[]], 0, &[1]);
        let mut b = Builder::new(&cx, &mut body);
        b.set_before(users[0]);
        let around = b.create(OpState::new(cx.op_name("t.scope"), Loc::UNKNOWN).regions(1));
        let region = b.body().regions(around).next().expect("a region");
        let inner = b.create_block(region, &[]);
        b.set_to_end(inner);
        let nested = b.create(OpState::new(cx.op_name("t.use"), Loc::UNKNOWN).operands([value]));
        let liveness = Liveness::new(&cx, &body);
        assert!(liveness.is_live_in(value, inner) && !liveness.is_live_out(value, inner));
        assert!(liveness.is_live_in(value, blocks[1]) && liveness.is_live_out(value, blocks[0]));
        assert_eq!(liveness.last_use(&body, value, inner), Some(nested));
        assert!(liveness.is_dead_after(&body, value, nested), "within its region");
        assert!(!liveness.is_dead_after(&body, value, around), "the op after it uses it too");
    }
}

//! Dominance: which definitions are certain to have been executed before a use.
//!
//! Dominator trees after Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm" (2001). Only regions with
//! more than one block need one; everything else is a comparison of positions.

use rustc_hash::FxHashSet;

use crate::analysis::Analysis;
use crate::body::{Block, Body, Op, OpHeader, Region, Value, ValueKind};
use crate::context::Context;
use crate::op_def::Traits;
use crate::registry::OpName;

/// Marks a block that no path from the entry reaches.
const UNREACHABLE: u32 = u32::MAX;

/// Dominance in all regions of one body. Valid until ops or blocks are moved, added or removed.
#[derive(Debug)]
pub struct DominanceInfo {
    /// Position of each op among all ops of the body, by op index: comparable within a block.
    order: Vec<u32>,
    /// Immediate dominator of each block as block index plus one, by block index. The entry's is itself.
    idom: Vec<u32>,
    /// Position of each block in reverse post-order of its region, by block index; [`UNREACHABLE`] if not reached.
    rpo: Vec<u32>,
    /// Pre-order number in the dominator tree and size of the subtree, by block index.
    subtree: Vec<(u32, u32)>,
    /// True for regions in which an op sees only what comes before it, by region index.
    ordered: Vec<bool>,
    /// How regions lie in one another, by region index.
    nesting: Vec<Nesting>,
}

/// Where a region lies.
#[derive(Clone, Copy, Debug, Default)]
struct Nesting {
    /// Number of regions of the body around it.
    depth: u32,
    /// The region around it.
    parent: u32,
    /// A region further out, so that any of those around is reached in logarithmically many steps, after Myers, "An
    /// Applicative Random-Access Stack" (1983).
    jump: u32,
}

impl Analysis for DominanceInfo {
    const NAME: &'static str = "DominanceInfo";

    fn build(cx: &Context, header: &OpHeader, body: &Body) -> Self {
        Self::new(cx, header.name, body)
    }
}

/// True when ops in the regions of an op called `name` are executed in order, so that dominance means something. As in
/// MLIR, nothing is assumed of ops that are not registered.
pub fn has_ssa_dominance(cx: &Context, name: OpName) -> bool {
    name.def(cx).is_some_and(|def| !def.traits.has(Traits::GraphRegion))
}

impl DominanceInfo {
    /// Dominance in the body owned by an op called `owner`.
    pub fn new(cx: &Context, owner: OpName, body: &Body) -> Self {
        let mut info = Self {
            order: vec![0; body.op_slots()],
            idom: vec![0; body.block_slots()],
            rpo: vec![UNREACHABLE; body.block_slots()],
            subtree: vec![(0, 1); body.block_slots()],
            ordered: vec![true; body.region_slots()],
            nesting: vec![Nesting::default(); body.region_slots()],
        };
        let owner_kind = has_ssa_dominance(cx, owner);
        for region in body.owner_regions() {
            let own = region.index() as u32;
            info.nesting[region.index()] = Nesting { depth: 0, parent: own, jump: own };
            info.add_region(body, region, owner_kind);
        }
        for (position, op) in body.preorder().enumerate() {
            info.order[op.index()] = position as u32;
            let kind = body.regions(op).len() == 0 || has_ssa_dominance(cx, body.name(op));
            for region in body.regions(op) {
                info.nest(body, region, op);
                info.add_region(body, region, kind);
            }
        }
        info
    }

    /// Notes where a region of `op` lies; those around it are noted already.
    fn nest(&mut self, body: &Body, region: Region, op: Op) {
        let Some(parent) = body.op_block(op).and_then(|b| body.block_region(b)) else { return };
        let around = self.nesting[parent.index()];
        let jump = self.nesting[around.jump as usize];
        let next = self.nesting[jump.jump as usize];
        let own = parent.index() as u32;
        let jump = if around.depth - jump.depth == jump.depth - next.depth { jump.jump } else { own };
        self.nesting[region.index()] = Nesting { depth: around.depth + 1, parent: own, jump };
    }

    /// The op of `region` in which what lies in `inner` lies, with its block.
    fn ancestor_in(&self, body: &Body, region: Region, inner: Region) -> Option<(Block, Op)> {
        let target = self.nesting[region.index()].depth + 1;
        let mut at = inner.index();
        if self.nesting[at].depth < target {
            return None;
        }
        while self.nesting[at].depth > target {
            let here = self.nesting[at];
            let far = self.nesting[here.jump as usize].depth >= target;
            at = (if far { here.jump } else { here.parent }) as usize;
        }
        let op = body.region_parent(body.region_at(at))?;
        let block = body.op_block(op)?;
        (body.block_region(block) == Some(region)).then_some((block, op))
    }

    fn add_region(&mut self, body: &Body, region: Region, ordered: bool) {
        self.ordered[region.index()] = ordered;
        let Some(entry) = body.region_entry(region) else { return };
        self.rpo[entry.index()] = 0;
        self.idom[entry.index()] = entry.index() as u32 + 1;
        if body.next_block(entry).is_some() {
            self.build_tree(body, entry);
        }
    }

    fn build_tree(&mut self, body: &Body, entry: Block) {
        let order = reverse_post_order(body, entry);
        for (i, block) in order.iter().enumerate() {
            self.rpo[block.index()] = i as u32;
        }
        let mut predecessors: Vec<Vec<Block>> = vec![Vec::new(); order.len()];
        for &block in &order {
            for &succ in body.block_successors(block) {
                // A successor in another region is an error that the verifier reports.
                if body.block_region(succ) == body.block_region(entry) {
                    predecessors[self.rpo[succ.index()] as usize].push(block);
                }
            }
        }
        let mut changed = true;
        while changed {
            changed = false;
            for (i, &block) in order.iter().enumerate().skip(1) {
                let mut new: Option<Block> = None;
                for &pred in &predecessors[i] {
                    if self.idom[pred.index()] != 0 {
                        new = Some(new.map_or(pred, |n| self.intersect(body, n, pred)));
                    }
                }
                let new = new.expect("a block in the order has a predecessor before it").index() as u32 + 1;
                if self.idom[block.index()] != new {
                    self.idom[block.index()] = new;
                    changed = true;
                }
            }
        }
        self.number_tree(&order);
    }

    /// Numbers the dominator tree so that a look at two intervals answers a query.
    fn number_tree(&mut self, order: &[Block]) {
        let parent_of = |info: &Self, block: &Block| info.idom[block.index()] as usize - 1;
        for block in order.iter().skip(1).rev() {
            let parent = parent_of(self, block);
            self.subtree[parent].1 += self.subtree[block.index()].1;
        }
        // Number for the next child of each block, by position in the order.
        let mut next: Vec<u32> = vec![1; order.len()];
        for (i, block) in order.iter().enumerate().skip(1) {
            let parent = self.rpo[parent_of(self, block)] as usize;
            let number = next[parent];
            next[parent] += self.subtree[block.index()].1;
            next[i] = number + 1;
            self.subtree[block.index()].0 = number;
        }
    }

    /// The nearest block that dominates both.
    fn intersect(&self, body: &Body, mut a: Block, mut b: Block) -> Block {
        while a != b {
            while self.rpo[a.index()] > self.rpo[b.index()] {
                a = self.parent(body, a);
            }
            while self.rpo[b.index()] > self.rpo[a.index()] {
                b = self.parent(body, b);
            }
        }
        a
    }

    fn parent(&self, body: &Body, block: Block) -> Block {
        body.block_at(self.idom[block.index()] as usize - 1)
    }

    /// The block that dominates `block` and is dominated by all others that do; `None` for an entry block and for one
    /// that is not reached.
    pub fn immediate_dominator(&self, body: &Body, block: Block) -> Option<Block> {
        (self.rpo[block.index()] != 0 && self.idom[block.index()] != 0).then(|| self.parent(body, block))
    }

    /// True when a path from its region's entry reaches the block.
    pub fn is_reachable(&self, block: Block) -> bool {
        self.rpo[block.index()] != UNREACHABLE
    }

    /// True when ops in the region are executed in order.
    pub fn is_ordered(&self, region: Region) -> bool {
        self.ordered[region.index()]
    }

    /// Position of an op: smaller than that of every later op of its block.
    pub fn position(&self, op: Op) -> u32 {
        self.order[op.index()]
    }

    /// True when every path from the entry of their common region to `b` leads through `a`, or they are one. A block
    /// that is not reached is dominated by every other.
    pub fn block_dominates(&self, a: Block, b: Block) -> bool {
        if a == b || !self.is_reachable(b) {
            return true;
        }
        let (from, size) = self.subtree[a.index()];
        let at = self.subtree[b.index()].0;
        self.is_reachable(a) && from <= at && at < from + size
    }

    /// True when `value` may be used by `user`.
    pub fn value_dominates(&self, body: &Body, value: Value, user: Op) -> bool {
        let (block, definition) = match body.value_kind(value) {
            ValueKind::Arg(block, _) => (block, None),
            ValueKind::Result(op, _) => match body.op_block(op) {
                Some(block) => (block, Some(op)),
                None => return false,
            },
            ValueKind::Placeholder => return false,
        };
        let Some(use_block) = body.op_block(user) else { return false };
        if block == use_block {
            return definition.is_none_or(|d| self.comes_before(body, block, d, user));
        }
        let Some(region) = body.block_region(block) else { return false };
        let Some(inner) = body.block_region(use_block) else { return false };
        let found = if inner == region { Some((use_block, user)) } else { self.ancestor_in(body, region, inner) };
        let Some((use_block, user)) = found else { return false };
        if block == use_block {
            // An op's results are not visible in its own regions.
            return definition.is_none_or(|d| self.comes_before(body, block, d, user));
        }
        self.block_dominates(block, use_block)
    }

    fn comes_before(&self, body: &Body, block: Block, definition: Op, user: Op) -> bool {
        let ordered = body.block_region(block).is_none_or(|r| self.is_ordered(r));
        !ordered || self.position(definition) < self.position(user)
    }
}

/// Blocks that are reachable from `entry`, each before its successors but for back edges.
pub fn reverse_post_order(body: &Body, entry: Block) -> Vec<Block> {
    let region = body.block_region(entry);
    let mut seen = FxHashSet::from_iter([entry]);
    let mut order = Vec::new();
    let mut stack = vec![(entry, 0)];
    while let Some((block, next)) = stack.last_mut() {
        match body.block_successors(*block).get(*next) {
            Some(&succ) => {
                *next += 1;
                if body.block_region(succ) == region && seen.insert(succ) {
                    stack.push((succ, 0));
                }
            }
            None => {
                order.push(*block);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::{Builder, OpState};
    use crate::location::Loc;
    use crate::registry::Registry;

    /// A region of blocks with the given successors; every block ends in an unregistered op.
    fn cfg(cx: &Context, edges: &[&[usize]]) -> (Body, Vec<Block>) {
        let mut body = Body::new(1);
        let region = body.region();
        let mut b = Builder::new(cx, &mut body);
        let blocks: Vec<Block> = edges.iter().map(|_| b.create_block(region, &[])).collect();
        for (block, targets) in blocks.iter().zip(edges) {
            b.set_to_end(*block);
            let state = OpState::new(cx.op_name("t.br"), Loc::UNKNOWN).successors(targets.iter().map(|t| blocks[*t]));
            b.create(state);
        }
        (body, blocks)
    }

    /// Dominance by definition: `a` dominates `b` when `b` is not reached without `a`.
    fn dominates_slowly(edges: &[&[usize]], a: usize, b: usize) -> bool {
        let mut seen = vec![false; edges.len()];
        let mut pending = if a == 0 { vec![] } else { vec![0] };
        while let Some(at) = pending.pop() {
            if !std::mem::replace(&mut seen[at], true) {
                pending.extend(edges[at].iter().copied().filter(|t| *t != a));
            }
        }
        !seen[b]
    }

    #[test]
    fn agrees_with_the_definition() {
        let graphs: &[&[&[usize]]] = &[
            &[&[1, 2], &[3], &[3], &[]],
            &[&[1], &[2, 4], &[3], &[1], &[]],
            // Irreducible: two entries into the loop of 1 and 2.
            &[&[1, 2], &[2], &[1, 3], &[]],
            &[&[5, 4], &[2], &[1, 3], &[2], &[2, 3], &[1]],
            &[&[1], &[], &[1]],
        ];
        let cx = Context::new(Registry::default());
        for edges in graphs {
            let (body, blocks) = cfg(&cx, edges);
            let info = DominanceInfo::new(&cx, cx.op_name("t.f"), &body);
            for (a, &block_a) in blocks.iter().enumerate() {
                for (b, &block_b) in blocks.iter().enumerate() {
                    let expected = a == b || dominates_slowly(edges, a, b);
                    assert_eq!(info.block_dominates(block_a, block_b), expected, "{a} over {b} in {edges:?}");
                }
            }
        }
    }

    #[test]
    fn unreachable_blocks_are_told_apart() {
        let cx = Context::new(Registry::default());
        let (body, blocks) = cfg(&cx, &[&[1], &[], &[1]]);
        let info = DominanceInfo::new(&cx, cx.op_name("t.f"), &body);
        assert!(info.is_reachable(blocks[1]) && !info.is_reachable(blocks[2]));
        assert_eq!(info.immediate_dominator(&body, blocks[1]), Some(blocks[0]));
        assert_eq!(info.immediate_dominator(&body, blocks[2]), None);
    }
}

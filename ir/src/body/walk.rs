//! Walks over one body, nested bodies left out.

use super::{Block, Body, Op, Region};

/// Operations of a region tree, each before those in its regions. Iterative: depth costs no stack.
#[derive(Clone, Debug)]
pub struct PreOrder<'b> {
    body: &'b Body,
    /// What is still to visit, innermost last.
    pending: Vec<Pending>,
}

#[derive(Clone, Copy, Debug)]
enum Pending {
    Op(Op),
    Block(Block),
    Region(Region),
}

impl Iterator for PreOrder<'_> {
    type Item = Op;

    fn next(&mut self) -> Option<Op> {
        loop {
            match self.pending.pop()? {
                Pending::Op(op) => {
                    if let Some(next) = self.body.next_op(op) {
                        self.pending.push(Pending::Op(next));
                    }
                    for region in self.body.regions(op).rev() {
                        self.pending.push(Pending::Region(region));
                    }
                    return Some(op);
                }
                Pending::Block(block) => {
                    if let Some(next) = self.body.next_block(block) {
                        self.pending.push(Pending::Block(next));
                    }
                    if let Some(first) = self.body.first_op(block) {
                        self.pending.push(Pending::Op(first));
                    }
                }
                Pending::Region(region) => {
                    if let Some(first) = self.body.region_entry(region) {
                        self.pending.push(Pending::Block(first));
                    }
                }
            }
        }
    }
}

impl Body {
    /// All operations of the body, each before those in its regions.
    pub fn preorder(&self) -> PreOrder<'_> {
        let mut pending: Vec<_> = self.owner_regions().map(Pending::Region).collect();
        pending.reverse();
        PreOrder { body: self, pending }
    }

    /// Operations inside `op`, without `op` itself and without nested bodies.
    pub fn preorder_in(&self, op: Op) -> PreOrder<'_> {
        let pending = self.regions(op).rev().map(Pending::Region).collect();
        PreOrder { body: self, pending }
    }

    /// All operations of the body, each after those in its regions; nested regions first to last.
    pub fn postorder(&self) -> Vec<Op> {
        let mut order = Vec::with_capacity(self.op_count());
        // Reverse pre-order with reversed siblings is post-order.
        let mut pending: Vec<Pending> = self.owner_regions().map(Pending::Region).collect();
        while let Some(item) = pending.pop() {
            match item {
                Pending::Op(op) => {
                    order.push(op);
                    pending.extend(self.regions(op).map(Pending::Region));
                }
                Pending::Block(block) => pending.extend(self.ops(block).map(Pending::Op)),
                Pending::Region(region) => pending.extend(self.blocks(region).map(Pending::Block)),
            }
        }
        order.reverse();
        order
    }

    /// True when `inner` lies inside `outer` (or is it), both in this body.
    pub fn is_ancestor(&self, outer: Op, inner: Op) -> bool {
        std::iter::successors(Some(inner), |o| self.parent_op(*o)).any(|o| o == outer)
    }

    /// True when `region` lies inside `outer`, or is it.
    pub fn is_region_within(&self, outer: Region, region: Region) -> bool {
        let mut at = Some(region);
        while let Some(region) = at {
            if region == outer {
                return true;
            }
            at = self.region_parent(region).and_then(|op| self.op_block(op)).and_then(|b| self.block_region(b));
        }
        false
    }
}

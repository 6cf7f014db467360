//! Which store a load sees: block arguments where paths with different ones meet, after Cytron et al., "Efficiently
//! Computing Static Single Assignment Form and the Control Dependence Graph" (1991).

use rustc_hash::{FxHashMap, FxHashSet};
use sutura_ir::analysis::DominanceInfo;
use sutura_ir::{Block, Body, Op, Value};

use super::uses::{SlotUses, UseKind};

/// What of the control flow of a body the promotion of all its slots needs.
pub(super) struct Flow {
    /// Branches to each block, with the number of the successor.
    predecessors: FxHashMap<Block, Vec<(Op, usize)>>,
    /// Dominance frontier of each block that has one.
    frontier: FxHashMap<Block, Vec<Block>>,
}

impl Flow {
    pub(super) fn new(body: &Body, dominance: &DominanceInfo) -> Self {
        let mut flow = Self { predecessors: FxHashMap::default(), frontier: FxHashMap::default() };
        let regions: Vec<_> = body.owner_regions().chain(body.preorder().flat_map(|op| body.regions(op))).collect();
        for block in regions.iter().flat_map(|r| body.blocks(*r)) {
            let Some(branch) = body.last_op(block) else { continue };
            for (index, &target) in body.successors(branch).iter().enumerate() {
                flow.predecessors.entry(target).or_default().push((branch, index));
            }
        }
        for block in regions.into_iter().flat_map(|r| body.blocks(r)) {
            flow.add_to_frontiers(body, dominance, block);
        }
        flow
    }

    fn add_to_frontiers(&mut self, body: &Body, dominance: &DominanceInfo, block: Block) {
        let Some(branches) = self.predecessors.get(&block) else { return };
        let end = dominance.immediate_dominator(body, block);
        for &(branch, _) in branches {
            let mut at = body.op_block(branch).filter(|b| dominance.is_reachable(*b));
            while let Some(runner) = at.filter(|_| at != end) {
                let frontier = self.frontier.entry(runner).or_default();
                if frontier.last() != Some(&block) {
                    frontier.push(block);
                }
                at = dominance.immediate_dominator(body, runner);
            }
        }
    }

    pub(super) fn predecessors(&self, block: Block) -> &[(Op, usize)] {
        self.predecessors.get(&block).map_or(&[], Vec::as_slice)
    }
}

/// Where a value comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Definition {
    /// Nothing was stored.
    Default,
    Stored(Value),
    /// The argument of the merge of this number.
    Merge(usize),
}

/// The definitions that reach the loads of one slot.
pub(super) struct Reaching {
    merges: Vec<Block>,
    loads: FxHashMap<Value, Definition>,
    /// At the end of the blocks that branch to a merge.
    ends: FxHashMap<Block, Definition>,
}

impl Reaching {
    pub(super) fn new(body: &Body, dominance: &DominanceInfo, flow: &Flow, alloc: Op, uses: &SlotUses) -> Self {
        let own = body.op_block(alloc).expect("checked: it is in a block");
        // What each block leaves in the slot, if it writes it.
        let mut last: FxHashMap<Block, Definition> = FxHashMap::default();
        last.insert(own, Definition::Default);
        let mut loaded_first: Vec<Block> = Vec::new();
        for (block, sites) in uses.by_block() {
            let mut defined = block == own;
            for site in sites {
                match site.kind {
                    UseKind::Store(value) => {
                        defined = true;
                        last.insert(block, Definition::Stored(value));
                    }
                    UseKind::Load(_) if !defined => loaded_first.push(block),
                    UseKind::Load(_) | UseKind::Drop => {}
                }
            }
        }
        let live_in = live_in(body, flow, &last, loaded_first);
        let merges = merges(flow, &last, &live_in);
        let mut reaching = Self { merges, loads: FxHashMap::default(), ends: FxHashMap::default() };
        let numbers: FxHashMap<Block, usize> = reaching.merges.iter().enumerate().map(|(i, b)| (*b, i)).collect();
        let mut search = Search { body, dominance, numbers: &numbers, last: &last, starts: FxHashMap::default() };
        for (block, sites) in uses.by_block() {
            let mut at = if block == own { Some(Definition::Default) } else { None };
            for site in sites {
                match site.kind {
                    UseKind::Load(result) => {
                        let definition = *at.get_or_insert_with(|| search.at_start(block));
                        reaching.loads.insert(result, definition);
                    }
                    UseKind::Store(value) => at = Some(Definition::Stored(value)),
                    UseKind::Drop => {}
                }
            }
        }
        for block in reaching.merges.iter().flat_map(|b| flow.predecessors(*b)) {
            let from = body.op_block(block.0).expect("a terminator is in a block");
            reaching.ends.insert(from, search.at_end(from));
        }
        reaching
    }

    /// Blocks that get an argument.
    pub(super) fn merges(&self) -> &[Block] {
        &self.merges
    }

    pub(super) fn at_load(&self, result: Value) -> Definition {
        self.loads[&result]
    }

    pub(super) fn at_end(&self, block: Block) -> Definition {
        self.ends[&block]
    }

    /// Follows values that are themselves loaded from the slot to where they come from.
    pub(super) fn resolve(&self, mut definition: Definition) -> Definition {
        while let Definition::Stored(value) = definition {
            let Some(next) = self.loads.get(&value) else { break };
            definition = *next;
        }
        definition
    }

    pub(super) fn needs_default(&self) -> bool {
        self.loads.values().chain(self.ends.values()).any(|d| *d == Definition::Default)
    }
}

/// Blocks at whose start it matters what the slot holds.
fn live_in(body: &Body, flow: &Flow, last: &FxHashMap<Block, Definition>, loads: Vec<Block>) -> FxHashSet<Block> {
    let mut live: FxHashSet<Block> = loads.iter().copied().collect();
    let mut pending: Vec<Block> = live.iter().copied().collect();
    while let Some(block) = pending.pop() {
        for from in flow.predecessors(block).iter().filter_map(|(branch, _)| body.op_block(*branch)) {
            if !last.contains_key(&from) && live.insert(from) {
                pending.push(from);
            }
        }
    }
    live
}

/// Blocks in which different definitions may meet, by number.
fn merges(flow: &Flow, last: &FxHashMap<Block, Definition>, live_in: &FxHashSet<Block>) -> Vec<Block> {
    let mut found: FxHashSet<Block> = FxHashSet::default();
    let mut pending: Vec<Block> = last.keys().copied().collect();
    while let Some(block) = pending.pop() {
        for &next in flow.frontier.get(&block).into_iter().flatten() {
            if live_in.contains(&next) && found.insert(next) {
                pending.push(next);
            }
        }
    }
    let mut merges: Vec<Block> = found.into_iter().collect();
    merges.sort_unstable_by_key(|b| b.index());
    merges
}

/// Finds what the slot holds at the start and end of blocks, up the dominator tree.
struct Search<'s> {
    body: &'s Body,
    dominance: &'s DominanceInfo,
    numbers: &'s FxHashMap<Block, usize>,
    last: &'s FxHashMap<Block, Definition>,
    starts: FxHashMap<Block, Definition>,
}

impl Search<'_> {
    fn at_end(&mut self, block: Block) -> Definition {
        self.last.get(&block).copied().unwrap_or_else(|| self.at_start(block))
    }

    fn at_start(&mut self, block: Block) -> Definition {
        let mut path = Vec::new();
        let mut at = block;
        let found = loop {
            if let Some(number) = self.numbers.get(&at) {
                break Definition::Merge(*number);
            }
            if let Some(known) = self.starts.get(&at) {
                break *known;
            }
            path.push(at);
            // A block that is not reached branches here: what it would pass on never matters.
            let Some(above) = self.dominance.immediate_dominator(self.body, at) else { break Definition::Default };
            if let Some(left) = self.last.get(&above) {
                break *left;
            }
            at = above;
        };
        self.starts.extend(path.into_iter().map(|block| (block, found)));
        found
    }
}

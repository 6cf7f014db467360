//! The walk over one body: blocks in the order of the dominator tree, each opening a scope.

use std::sync::Arc;

use rustc_hash::FxHashMap;
use sutura_ir::analysis::dominance::has_ssa_dominance;
use sutura_ir::analysis::effects::{effects, is_trivially_dead};
use sutura_ir::analysis::{AliasAnalysis, Analyses, DominanceInfo};
use sutura_ir::body::OpHeader;
use sutura_ir::interfaces::{EffectKind, RegionBranchOp, RegionTarget};
use sutura_ir::pass::{BodyRun, Remarks};
use sutura_ir::smallvec::SmallVec;
use sutura_ir::{Block, Body, Context, Loc, Op, OpRef, Region, Rewriter, Traits, Value};

use super::super::place;
use super::equivalence::{equivalent, hash};
use super::table::ScopedTable;

/// A read is not compared with an earlier one when there are more ops between.
const MOST_OPS_BETWEEN: usize = 256;

/// What was done to a body.
#[derive(Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) replaced: u64,
    pub(super) erased: u64,
}

/// Replaces ops of the body by equivalent ones; nested bodies are left out.
pub(super) fn eliminate(run: &mut BodyRun<'_>) -> Counts {
    let body = &*run.body;
    let branches = body.owner_regions().any(|r| has_blocks(body, r, 2))
        || body.preorder().any(|op| body.regions(op).any(|r| has_blocks(body, r, 2)));
    let dominance = branches.then(|| run.analysis::<DominanceInfo>());
    let BodyRun { cx, header, body, analyses, remarks, .. } = run;
    let mut walk = Walk {
        cx,
        children: dominance.map(|d| dominator_children(body, &d)).unwrap_or_default(),
        table: ScopedTable::default(),
        header,
        analyses,
        remarks,
        aliases: None,
        writes: 0,
        counts: Counts::default(),
        work: Vec::new(),
    };
    let ordered = has_ssa_dominance(cx, header.name);
    walk.work.extend(body.owner_regions().rev().map(|region| Work::Region { region, ordered }));
    walk.run(body);
    walk.counts
}

/// The innermost op around `op` whose regions use nothing from outside.
fn closed_around(cx: &Context, body: &Body, op: Op) -> Option<Op> {
    let mut around = body.parent_op(op);
    while let Some(parent) = around {
        if body.name(parent).traits(cx).has(Traits::ClosedRegions) {
            return Some(parent);
        }
        around = body.parent_op(parent);
    }
    None
}

/// The ops that are executed between `old` and `op`, or hold some that are; `None` when that cannot be told, or when
/// there are many.
fn ops_between(cx: &Context, body: &Body, old: Op, op: Op) -> Option<Vec<Op>> {
    let home = body.op_block(old)?;
    let mut found = Vec::new();
    let mut budget = MOST_OPS_BETWEEN;
    let mut add = |between: Op, found: &mut Vec<Op>| {
        budget = budget.checked_sub(1 + body.preorder_in(between).take(MOST_OPS_BETWEEN).count())?;
        found.push(between);
        Some(())
    };
    let mut at = op;
    loop {
        let is_home = body.op_block(at) == Some(home);
        let mut before = body.prev_op(at);
        while let Some(between) = before.filter(|b| !is_home || *b != old) {
            add(between, &mut found)?;
            before = body.prev_op(between);
        }
        if is_home {
            return Some(found);
        }
        let around = body.parent_op(at)?;
        if !runs_once(OpRef::new(cx, body, around)) {
            // Anything in it may be executed before.
            add(around, &mut found)?;
        }
        at = around;
    }
}

/// True when `op` executes at most one of its regions, once, and each is a single block.
fn runs_once(op: OpRef<'_>) -> bool {
    let Some(interface) = op.interface::<dyn RegionBranchOp>() else { return false };
    op.regions().enumerate().all(|(index, region)| {
        region.blocks().count() <= 1
            && region.entry().and_then(|block| block.ops().last()).is_none_or(|terminator| {
                let unknown = vec![None; terminator.num_operands()];
                interface.after(op, index, terminator, &unknown).iter().all(|t| *t == RegionTarget::Parent)
            })
    })
}

fn has_blocks(body: &Body, region: Region, at_least: usize) -> bool {
    body.blocks(region).take(at_least).count() == at_least
}

/// The blocks that each block dominates immediately, in their order.
fn dominator_children(body: &Body, dominance: &DominanceInfo) -> FxHashMap<Block, Vec<Block>> {
    let mut children: FxHashMap<Block, Vec<Block>> = FxHashMap::default();
    let nested = body.preorder().flat_map(|op| body.regions(op));
    for block in body.owner_regions().chain(nested).flat_map(|r| body.blocks(r)) {
        if let Some(parent) = dominance.immediate_dominator(body, block) {
            children.entry(parent).or_default().push(block);
        }
    }
    children
}

/// What is still to do; the last one comes first.
enum Work {
    Region {
        region: Region,
        ordered: bool,
    },
    /// A block and those that it dominates.
    Tree {
        block: Block,
        ordered: bool,
    },
    /// An op and those after it.
    Ops {
        op: Op,
        ordered: bool,
    },
    /// An op whose regions are done.
    Finish {
        op: Op,
        ordered: bool,
    },
    CloseScope,
}

struct Walk<'r> {
    cx: &'r Context,
    /// Blocks by the block that dominates them immediately; empty where no region has several.
    children: FxHashMap<Block, Vec<Block>>,
    table: ScopedTable,
    /// The op that owns the body.
    header: &'r OpHeader,
    analyses: &'r mut Analyses,
    remarks: &'r mut Remarks,
    /// Asked for when it is needed first. Branches stay, so that it stays true.
    aliases: Option<Arc<AliasAnalysis>>,
    /// Ops met so far that may have written memory.
    writes: u64,
    counts: Counts,
    work: Vec<Work>,
}

impl Walk<'_> {
    fn run(&mut self, body: &mut Body) {
        while let Some(work) = self.work.pop() {
            match work {
                Work::Region { region, ordered } => self.enter_region(body, region, ordered),
                Work::Tree { block, ordered } => self.enter_block(body, block, ordered),
                Work::Ops { op, ordered } => self.ops_from(body, op, ordered),
                Work::Finish { op, ordered } => self.simplify(body, op, ordered),
                Work::CloseScope => self.table.close(),
            }
        }
    }

    fn enter_region(&mut self, body: &Body, region: Region, ordered: bool) {
        let Some(entry) = body.region_entry(region) else { return };
        // What is written in one region may or may not have happened when the next begins.
        self.writes += 1;
        self.work.push(Work::Tree { block: entry, ordered });
    }

    fn enter_block(&mut self, body: &Body, block: Block, ordered: bool) {
        self.table.open();
        // Another block may have run in between.
        self.writes += 1;
        self.work.push(Work::CloseScope);
        let children = self.children.get(&block).map_or(&[][..], Vec::as_slice);
        self.work.extend(children.iter().rev().map(|&block| Work::Tree { block, ordered }));
        if let Some(op) = body.first_op(block) {
            self.work.push(Work::Ops { op, ordered });
        }
    }

    /// Goes through ops up to one with regions, whose regions come first.
    fn ops_from(&mut self, body: &mut Body, first: Op, ordered: bool) {
        let mut at = Some(first);
        while let Some(op) = at {
            at = body.next_op(op);
            if body.regions(op).len() == 0 {
                self.simplify(body, op, ordered);
                continue;
            }
            self.work.extend(at.map(|op| Work::Ops { op, ordered }));
            self.work.push(Work::Finish { op, ordered });
            let inner = has_ssa_dominance(self.cx, body.name(op));
            self.work.extend(body.regions(op).rev().map(|region| Work::Region { region, ordered: inner }));
            return;
        }
    }

    fn simplify(&mut self, body: &mut Body, op: Op, ordered: bool) {
        let view = OpRef::new(self.cx, body, op);
        let Some(def) = view.def() else {
            self.writes += 1;
            return;
        };
        if def.traits.has(Traits::Terminator) {
            return;
        }
        if is_trivially_dead(view) {
            let (cx, name) = (self.cx, body.name(op));
            self.remarks.passed(body.loc(op), || format!("'{}' is erased: nothing needs its results", name.as_str(cx)));
            Rewriter::new(self.cx, body).erase_op(op);
            self.counts.erased += 1;
            return;
        }
        let branches_inside = body.regions(op).any(|r| has_blocks(body, r, 2));
        match self.reads_at(view) {
            Some(reads) if !branches_inside => self.look_up(body, op, ordered, reads),
            _ => {}
        }
    }

    /// For an op that may be replaced: the number of writes before it if it reads memory, else `None` inside. Counts
    /// the op if it may write.
    fn reads_at(&mut self, op: OpRef<'_>) -> Option<Option<u64>> {
        let leaf = op.regions().len() == 0;
        if leaf && op.has_trait(Traits::Pure) {
            return Some(None);
        }
        let Some(effects) = effects(op) else {
            self.writes += 1;
            return None;
        };
        if effects.iter().any(|e| matches!(e.kind, EffectKind::Write | EffectKind::Free)) {
            self.writes += 1;
            return None;
        }
        if effects.iter().any(|e| e.kind == EffectKind::Allocate) {
            return None;
        }
        Some((!effects.is_empty()).then_some(self.writes))
    }

    fn look_up(&mut self, body: &mut Body, op: Op, ordered: bool, reads: Option<u64>) {
        let hash = hash(self.cx, body, op);
        let closed = closed_around(self.cx, body, op);
        let reachable = |other| closed.is_none_or(|around| body.is_ancestor(around, other));
        let found = self.table.find(hash, |other| equivalent(self.cx, body, other, op) && reachable(other));
        match found {
            None => self.table.insert(hash, op, reads),
            // Memory may have changed since: the later op is the one to refer to from here on.
            Some((old, writes)) if writes != reads && !(ordered && self.reads_the_same(body, old, op)) => {
                self.say_not_merged(body, old, op);
                self.table.shadow(hash, old, op, reads);
            }
            Some((old, _)) => self.replace(body, op, old, ordered),
        }
    }

    /// Says that `op`, which reads memory, stays although `old` is the same op.
    fn say_not_merged(&mut self, body: &Body, old: Op, op: Op) {
        let (cx, name, loc) = (self.cx, body.name(op), body.loc(op));
        let text = || {
            let at = place(cx, body.loc(old), loc);
            format!("'{}' is not merged with the one at {at}: what it reads may be written in between", name.as_str(cx))
        };
        self.remarks.missed(loc, text);
    }

    /// True when nothing between `old` and `op`, which reads memory, may write what `op` reads. Looks at ops only where
    /// they are executed one after the other: `old` must be in the block of `op` or in one around it.
    fn reads_the_same(&mut self, body: &Body, old: Op, op: Op) -> bool {
        let Some(effects) = effects(OpRef::new(self.cx, body, op)) else { return false };
        let Some(read) = effects.iter().map(|e| e.value).collect::<Option<SmallVec<[Value; 2]>>>() else {
            return false;
        };
        let around = body.parent_op(old).map_or(self.header.name, |parent| body.name(parent));
        if !has_ssa_dominance(self.cx, around) {
            return false;
        }
        let Some(between) = ops_between(self.cx, body, old, op) else { return false };
        let analysis = self.aliases.get_or_insert_with(|| self.analyses.get(self.cx, self.header, body));
        let writes = |between: Op| {
            let view = OpRef::new(self.cx, body, between);
            read.iter().any(|value| analysis.mod_ref(view, *value).writes)
        };
        !between.into_iter().any(writes)
    }

    fn replace(&mut self, body: &mut Body, op: Op, by: Op, ordered: bool) {
        let results: Vec<_> = body.results(op).zip(body.results(by)).collect();
        let loc = body.loc(op);
        let (cx, name, other) = (self.cx, body.name(op), body.loc(by));
        let text = || format!("'{}' is merged with the one at {}", name.as_str(cx), place(cx, other, loc));
        self.remarks.passed(loc, text);
        let mut rewriter = Rewriter::new(self.cx, body);
        for (old, new) in results {
            if ordered {
                rewriter.replace_all_uses(old, new);
            } else {
                // Without an order of execution an op that uses the result may be in the table already, under the
                // hash of its operands.
                let table = &self.table;
                rewriter.replace_uses_if(old, new, |_, user, _| !table.contains(user));
            }
        }
        if rewriter.body().loc(by) == Loc::UNKNOWN {
            rewriter.set_loc(by, loc);
        }
        self.counts.replaced += 1;
        if rewriter.body().results(op).all(|r| rewriter.body().is_unused(r)) {
            rewriter.erase_op(op);
        }
    }
}

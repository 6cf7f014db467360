//! Alias analysis: whether two values refer to the same memory, and what an op does to the memory of a value.
//!
//! Knows no dialect. The memory of a value is traced back to where it comes from, through views, through the
//! arguments of blocks and through ops that pass values between their regions; what is found there is an allocation, an
//! argument of a callable, or a value of which nothing is known.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::analysis::Analysis;
use crate::analysis::effects::for_each_effect;
use crate::body::{Block, Body, Op, OpHeader, Value, ValueKind};
use crate::context::Context;
use crate::interfaces::control_flow::target_values;
use crate::interfaces::{
    BranchOp, CallableOp, DistinctObjects, Effect, EffectKind, MemoryEffects, RegionBranchOp, RegionTarget, ViewLike,
};
use crate::op_ref::OpRef;
use crate::registry::OpName;

/// How the memory of two values lies to each other.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Alias {
    /// It is different memory.
    No,
    /// Nothing is known.
    May,
    /// It overlaps (unless one has no elements), but need not be the same.
    Partial,
    /// It is the same.
    Must,
}

impl Alias {
    /// What holds when one of two answers does.
    fn or(self, other: Self) -> Self {
        match (self, other) {
            (a, b) if a == b => a,
            (Self::Partial, Self::Must) | (Self::Must, Self::Partial) => Self::Partial,
            _ => Self::May,
        }
    }

    /// `no`, `may`, `partial` or `must`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::No => "no",
            Self::May => "may",
            Self::Partial => "partial",
            Self::Must => "must",
        }
    }
}

/// What an op may do to memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct ModRef {
    /// It may depend on what the memory holds.
    pub reads: bool,
    /// It may change what the memory holds, or end its life.
    pub writes: bool,
}

impl ModRef {
    /// It may do anything.
    pub const BOTH: Self = Self { reads: true, writes: true };

    /// `none`, `ref`, `mod` or `mod-ref`.
    pub fn as_str(self) -> &'static str {
        match (self.reads, self.writes) {
            (false, false) => "none",
            (true, false) => "ref",
            (false, true) => "mod",
            (true, true) => "mod-ref",
        }
    }
}

/// Where the memory of a value comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Base {
    value: Value,
    /// Only a part of it may be referred to.
    part: bool,
    /// The value may be that of an earlier iteration.
    carried: bool,
    /// It was not followed to the end.
    lost: bool,
}

type Bases = SmallVec<[Base; 4]>;

/// Values that are followed for one question; what is behind is not known.
const MOST_VALUES: usize = 32;

/// Uses of an allocation that are looked at to find out who may know its address.
const MOST_USES: usize = 64;

/// Alias analysis of one body, nested bodies left out. Valid until blocks or their terminators change.
#[derive(Debug)]
pub struct AliasAnalysis {
    /// The branches to each block, with the number of the successor.
    predecessors: FxHashMap<Block, SmallVec<[(Op, usize); 2]>>,
    /// The body belongs to a callable: its arguments exist before anything that it allocates.
    is_callable: bool,
}

impl Analysis for AliasAnalysis {
    const NAME: &'static str = "AliasAnalysis";

    fn build(cx: &Context, header: &OpHeader, body: &Body) -> Self {
        Self::new(cx, header.name, body)
    }
}

impl AliasAnalysis {
    /// Aliases in `body`, which an op called `owner` owns.
    pub fn new(cx: &Context, owner: OpName, body: &Body) -> Self {
        let mut predecessors: FxHashMap<Block, SmallVec<[(Op, usize); 2]>> = FxHashMap::default();
        for op in body.preorder() {
            for (index, &block) in body.successors(op).iter().enumerate() {
                predecessors.entry(block).or_default().push((op, index));
            }
        }
        let is_callable = owner.info(cx).is_some_and(|info| info.interface::<dyn CallableOp>().is_some());
        Self { predecessors, is_callable }
    }

    /// How the memory of `a` and that of `b`, values of `body`, lie to each other.
    pub fn alias(&self, cx: &Context, body: &Body, a: Value, b: Value) -> Alias {
        let search = Search { cx, body, analysis: self };
        search.alias(a, b)
    }

    /// What `op`, with the ops in its regions, may do to the memory of `value`. Making memory does nothing to it.
    pub fn mod_ref(&self, op: OpRef<'_>, value: Value) -> ModRef {
        let search = Search { cx: op.cx, body: op.body, analysis: self };
        let is_private = || search.bases(value).iter().all(|base| !base.lost && search.is_private(base.value));
        let mut found = ModRef::default();
        let known = for_each_effect(op, &mut |_, effect| {
            let touches = match effect {
                Effect { kind: EffectKind::Allocate, .. } => false,
                Effect { value: Some(at), .. } => search.alias(at, value) != Alias::No,
                Effect { value: None, .. } => !is_private(),
            };
            if touches {
                match effect.kind {
                    EffectKind::Read => found.reads = true,
                    _ => found.writes = true,
                }
            }
            found != ModRef::BOTH
        });
        // Ops in the regions of one that is not known may use the value; others do not know private memory.
        let may_do_anything = !known && found != ModRef::BOTH && (op.regions().len() > 0 || !is_private());
        if may_do_anything { ModRef::BOTH } else { found }
    }
}

struct Search<'a> {
    cx: &'a Context,
    body: &'a Body,
    analysis: &'a AliasAnalysis,
}

impl Search<'_> {
    fn alias(&self, a: Value, b: Value) -> Alias {
        if a == b {
            return Alias::Must;
        }
        let (bases_a, bases_b) = (self.bases(a), self.bases(b));
        let pairs = bases_a.iter().flat_map(|x| bases_b.iter().map(|y| self.alias_of_bases(*x, *y)));
        pairs.reduce(Alias::or).unwrap_or(Alias::May)
    }

    fn alias_of_bases(&self, a: Base, b: Base) -> Alias {
        if a.lost || b.lost {
            return Alias::May;
        }
        if a.value == b.value {
            return match (a.carried || b.carried, a.part, b.part) {
                (true, ..) | (_, true, true) => Alias::May,
                (_, false, false) => Alias::Must,
                _ => Alias::Partial,
            };
        }
        let is_new_to = |a: Value, b: Value| {
            self.is_allocated(a) && (self.is_allocated(b) || self.comes_from_caller(b) || self.is_private(a))
        };
        let apart = is_new_to(a.value, b.value) || is_new_to(b.value, a.value) || self.are_distinct(a.value, b.value);
        if apart { Alias::No } else { Alias::May }
    }

    /// Where the memory of `value` may come from.
    fn bases(&self, value: Value) -> Bases {
        let mut bases = Bases::new();
        let mut seen: SmallVec<[Base; 8]> = SmallVec::new();
        let mut pending: SmallVec<[Base; 4]> = SmallVec::new();
        pending.push(Base { value, part: false, carried: false, lost: false });
        while let Some(at) = pending.pop() {
            if seen.contains(&at) {
                continue;
            }
            seen.push(at);
            let lost = seen.len() > MOST_VALUES;
            match self.sources(at).filter(|_| !lost) {
                Some(sources) => pending.extend(sources),
                None => bases.push(Base { carried: at.carried && !self.is_made_once(at.value), lost, ..at }),
            }
        }
        bases
    }

    /// The values that `at` is one of, or a part of; `None` when it is a base.
    fn sources(&self, at: Base) -> Option<Bases> {
        match self.body.value_kind(at.value) {
            ValueKind::Result(op, _) => {
                let op = OpRef::new(self.cx, self.body, op);
                if let Some(view) = op.interface::<dyn ViewLike>() {
                    let part = at.part || !view.is_whole(op);
                    return Some(SmallVec::from_elem(Base { value: view.source(op), part, ..at }, 1));
                }
                self.passed(at, op, RegionTarget::Parent)
            }
            ValueKind::Arg(block, index) => {
                let region = self.body.block_region(block)?;
                if self.body.region_entry(region) != Some(block) {
                    return self.passed_by_branches(at, block, index as usize);
                }
                let op = OpRef::new(self.cx, self.body, self.body.region_parent(region)?);
                let number = op.regions().position(|r| r.region == region)?;
                self.passed(at, op, RegionTarget::Region(number))
            }
            ValueKind::Placeholder => None,
        }
    }

    /// What branches pass to argument `index` of `block`.
    fn passed_by_branches(&self, at: Base, block: Block, index: usize) -> Option<Bases> {
        let mut found = Bases::new();
        for &(branch, successor) in self.analysis.predecessors.get(&block)? {
            let op = OpRef::new(self.cx, self.body, branch);
            let operands = op.interface::<dyn BranchOp>()?.successor_operands(op, successor);
            let produced = self.body.block_args(block).len().checked_sub(operands.len())?;
            let operand = operands.start + index.checked_sub(produced)?;
            found.push(Base { value: op.operand(operand), carried: true, ..at });
        }
        Some(found)
    }

    /// What `op` and the terminators in its regions pass to `at`, a value of `target`.
    fn passed(&self, at: Base, op: OpRef<'_>, target: RegionTarget) -> Option<Bases> {
        let interface = op.interface::<dyn RegionBranchOp>()?;
        let inputs = interface.inputs(op, target);
        let index = target_values(op, target).iter().position(|v| *v == at.value)?.checked_sub(inputs.start)?;
        (index < inputs.len()).then_some(())?;
        let unknown: SmallVec<[Option<crate::attrs::Attr>; 8]> = op.operands().map(|_| None).collect();
        let mut found = Bases::new();
        if interface.begin(op, &unknown).contains(&target) {
            let operand = interface.begin_operands(op, target).start + index;
            found.push(Base { value: op.operand(operand), ..at });
        }
        let mut repeats = false;
        for (number, region) in op.regions().enumerate() {
            for terminator in region.blocks().filter_map(|b| b.ops().last()) {
                if !self.body.successors(terminator.op).is_empty() {
                    continue;
                }
                let unknown: SmallVec<[Option<crate::attrs::Attr>; 8]> = terminator.operands().map(|_| None).collect();
                let targets = interface.after(op, number, terminator, &unknown);
                repeats |= targets.iter().any(|t| *t != RegionTarget::Parent);
                if targets.contains(&target) {
                    let operand = interface.passed_operands(op, terminator, target).start + index;
                    found.push(Base { value: terminator.operand(operand), ..at });
                }
            }
        }
        found.iter_mut().for_each(|base| base.carried |= repeats);
        Some(found)
    }

    /// True when there is only one such value each time the body runs.
    fn is_made_once(&self, value: Value) -> bool {
        // Nothing branches to an entry block.
        self.body.value_block(value).is_some_and(|block| {
            let region = self.body.block_region(block);
            region.is_some_and(|r| self.body.region_parent(r).is_none() && self.body.region_entry(r) == Some(block))
        })
    }

    /// True when `value` refers to memory that its op makes.
    fn is_allocated(&self, value: Value) -> bool {
        let Some(op) = self.body.defining_op(value) else { return false };
        let op = OpRef::new(self.cx, self.body, op);
        let allocates = |e: &Effect| e.kind == EffectKind::Allocate && e.value == Some(value);
        op.interface::<dyn MemoryEffects>().is_some_and(|i| i.effects(op).iter().any(allocates))
    }

    /// True when `value` is an argument of the callable.
    fn comes_from_caller(&self, value: Value) -> bool {
        let is_argument = matches!(self.body.value_kind(value), ValueKind::Arg(..));
        self.analysis.is_callable && is_argument && self.is_made_once(value)
    }

    fn are_distinct(&self, a: Value, b: Value) -> bool {
        let Some(op) = self.body.defining_op(a) else { return false };
        let is_marked = || OpRef::new(self.cx, self.body, op).interface::<dyn DistinctObjects>().is_some();
        self.body.defining_op(b) == Some(op) && is_marked()
    }

    /// True when `value` is memory made here whose address goes nowhere but to ops that access the memory, and to
    /// views of it that do not either.
    fn is_private(&self, value: Value) -> bool {
        if !self.is_allocated(value) {
            return false;
        }
        let mut pending: SmallVec<[Value; 4]> = SmallVec::from_elem(value, 1);
        let mut looked_at = 0;
        while let Some(value) = pending.pop() {
            for user in self.body.uses(value) {
                looked_at += 1;
                if looked_at > MOST_USES {
                    return false;
                }
                let op = OpRef::new(self.cx, self.body, user.owner);
                if op.interface::<dyn ViewLike>().is_some_and(|view| view.source(op) == value) {
                    pending.extend(op.results());
                } else if !only_accesses(op, value) {
                    return false;
                }
            }
        }
        true
    }
}

/// True when `op` uses `value` once, to read, write or free its memory, and does not make memory of its own of it.
fn only_accesses(op: OpRef<'_>, value: Value) -> bool {
    let Some(interface) = op.interface::<dyn MemoryEffects>() else { return false };
    let effects = interface.effects(op);
    op.regions().len() == 0
        && op.operands().filter(|v| *v == value).count() == 1
        && effects.iter().any(|e| e.value == Some(value) && e.kind != EffectKind::Allocate)
        && effects.iter().all(|e| e.kind != EffectKind::Allocate)
}

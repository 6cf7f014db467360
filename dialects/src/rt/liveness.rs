//! When each temporary buffer is in use, and whether the order of a plan keeps those apart that are in use together.

use std::collections::{BTreeMap, BTreeSet};

use rustc_hash::FxHashMap;
use sutura_ir::{BlockRef, Body, Context, Op, OpRef, OpView, Value};

use super::ops::{AllocOp, ExchangeOp, IfOp, ViewOp, WhileOp};

/// The first and the last op that use a buffer, as positions in the program, counted through the regions of conditions and
/// loops. What is used in a loop and around it, or in several iterations, is in use in all of the loop. Of temporaries that
/// change their memory each may have that of the other, so that both are in use where one is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Interval {
    /// First use.
    pub first: usize,
    /// Last use.
    pub last: usize,
}

impl Interval {
    /// True when both are in use at some op.
    pub fn overlaps(self, other: Self) -> bool {
        self.first <= other.last && other.first <= self.last
    }
}

/// The temporaries of a program, in the order of the text, with the intervals in which they are in use.
#[derive(Clone, Debug)]
pub struct BufferUses {
    /// The allocations; one that is never used has no interval.
    pub allocs: Vec<(Op, Option<Interval>)>,
    index: FxHashMap<Value, usize>,
}

/// The buffer that `value` is a view of, through any number of views.
pub fn root_buffer(cx: &Context, body: &Body, mut value: Value) -> Value {
    while let Some(view) = body.defining_op(value).and_then(|op| OpRef::new(cx, body, op).as_::<ViewOp<'_>>()) {
        value = view.buffer();
    }
    value
}

impl BufferUses {
    /// Of the program with this block.
    pub fn of(block: BlockRef<'_>) -> Self {
        let (cx, body) = (block.cx, block.body);
        let mut uses = Self { allocs: Vec::new(), index: FxHashMap::default() };
        for alloc in block.ops().filter_map(|op| op.as_::<AllocOp<'_>>()) {
            // What it lies after is no use of the contents.
            uses.index.insert(alloc.buffer(), uses.allocs.len());
            uses.allocs.push((alloc.op_ref().op, None));
        }
        let mut position = 0;
        let mut loops = Vec::new();
        uses.follow(block, &mut position, &mut loops);
        let groups = uses.exchanged(block);
        uses.unite(&groups);
        // Those inside come first, so that what they stretch is seen by those around.
        for (first, last) in loops {
            uses.stretch(cx, body, first, last);
            uses.unite(&groups);
        }
        uses
    }

    /// The temporaries that change their memory with each other, directly or through others.
    fn exchanged(&self, block: BlockRef<'_>) -> Vec<Vec<usize>> {
        let (cx, body) = (block.cx, block.body);
        let mut others: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        for op in body.preorder() {
            let Some(exchange) = OpRef::new(cx, body, op).as_::<ExchangeOp<'_>>() else { continue };
            let Some((a, b)) = self.number(exchange.first()).zip(self.number(exchange.second())) else { continue };
            others.entry(a).or_default().push(b);
            others.entry(b).or_default().push(a);
        }
        let (mut groups, mut seen) = (Vec::new(), BTreeSet::new());
        for start in others.keys() {
            let (mut group, mut open) = (Vec::new(), vec![*start]);
            while let Some(alloc) = open.pop() {
                if seen.insert(alloc) {
                    group.push(alloc);
                    open.extend(&others[&alloc]);
                }
            }
            if !group.is_empty() {
                groups.push(group);
            }
        }
        groups
    }

    /// Each of a group is in use where one of them is.
    fn unite(&mut self, groups: &[Vec<usize>]) {
        for group in groups {
            let intervals = || group.iter().filter_map(|alloc| self.allocs[*alloc].1);
            let first = intervals().map(|interval| interval.first).min();
            let last = intervals().map(|interval| interval.last).max();
            let Some((first, last)) = first.zip(last) else { continue };
            group.iter().for_each(|alloc| self.allocs[*alloc].1 = Some(Interval { first, last }));
        }
    }

    /// Counts the ops of a block, notes what they use, and where loops begin and end.
    fn follow(&mut self, block: BlockRef<'_>, position: &mut usize, loops: &mut Vec<(usize, usize)>) {
        let (cx, body) = (block.cx, block.body);
        for op in block.ops() {
            if op.is::<AllocOp<'_>>() {
                continue;
            }
            let first = *position;
            *position += 1;
            if op.is::<IfOp<'_>>() || op.is::<WhileOp<'_>>() {
                op.operands().for_each(|operand| self.touch(root_buffer(cx, body, operand), first));
                for inside in op.regions().flat_map(|region| region.blocks()) {
                    self.follow(inside, position, loops);
                    // Between the regions, and behind them, the loop looks at its condition.
                    op.operands().for_each(|operand| self.touch(root_buffer(cx, body, operand), *position));
                    *position += 1;
                }
                if op.is::<WhileOp<'_>>() {
                    loops.push((first, *position - 1));
                }
                continue;
            }
            op.walk(&mut |inner| {
                // A view reads and writes nothing; what uses it counts.
                if !inner.is::<ViewOp<'_>>() {
                    inner.operands().for_each(|operand| self.touch(root_buffer(cx, body, operand), first));
                }
            });
        }
    }

    /// What a loop uses is in use in all of it, unless it is made anew in each iteration.
    fn stretch(&mut self, cx: &Context, body: &Body, first: usize, last: usize) {
        for (op, interval) in &mut self.allocs {
            let alloc = OpRef::new(cx, body, *op).as_::<AllocOp<'_>>();
            let anew = alloc.is_some_and(|alloc| alloc.each_iteration());
            let Some(interval) = interval else { continue };
            let inside = first <= interval.first && interval.last <= last;
            let apart = interval.last < first || last < interval.first;
            let unaffected = apart || (inside && anew);
            if !unaffected {
                *interval = Interval { first: interval.first.min(first), last: interval.last.max(last) };
            }
        }
    }

    fn touch(&mut self, root: Value, position: usize) {
        if let Some(&alloc) = self.index.get(&root) {
            let interval = self.allocs[alloc].1.get_or_insert(Interval { first: position, last: position });
            interval.last = position;
        }
    }

    /// Number of the allocation that defines `value`.
    pub fn number(&self, value: Value) -> Option<usize> {
        self.index.get(&value).copied()
    }

    /// Two allocations that are in use together although neither lies after the other, if there are such.
    pub fn unordered_pair(&self, cx: &Context, body: &Body) -> Option<(Op, Op)> {
        let words = self.allocs.len().div_ceil(64);
        let mut before: Vec<Vec<u64>> = Vec::with_capacity(self.allocs.len());
        for (i, (op, interval)) in self.allocs.iter().enumerate() {
            let mut row = vec![0u64; words];
            for lower in OpRef::new(cx, body, *op).operands().filter_map(|v| self.number(v)).filter(|j| *j < i) {
                row.iter_mut().zip(&before[lower]).for_each(|(a, b)| *a |= b);
                row[lower / 64] |= 1 << (lower % 64);
            }
            let Some(interval) = interval else {
                before.push(row);
                continue;
            };
            for (j, (other, used)) in self.allocs[..i].iter().enumerate() {
                let together = used.is_some_and(|used| used.overlaps(*interval));
                let ordered = row[j / 64] >> (j % 64) & 1 == 1;
                if together && !ordered {
                    return Some((*other, *op));
                }
            }
            before.push(row);
        }
        None
    }
}

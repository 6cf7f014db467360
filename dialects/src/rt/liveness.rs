//! When each temporary buffer is in use, and whether the order of a plan keeps those apart that are in use together.

use rustc_hash::FxHashMap;
use sutura_ir::{BlockRef, Body, Context, Op, OpRef, Value};

use super::ops::{AllocOp, ViewOp};

/// The first and the last op of the program's block that use a buffer, as positions in the block.
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
        for (position, op) in block.ops().enumerate() {
            if let Some(alloc) = op.as_::<AllocOp<'_>>() {
                // What it lies after is no use of the contents.
                uses.index.insert(alloc.buffer(), uses.allocs.len());
                uses.allocs.push((op.op, None));
                continue;
            }
            op.walk(&mut |inner| {
                // A view reads and writes nothing; what uses it counts.
                if inner.is::<ViewOp<'_>>() {
                    return;
                }
                for operand in inner.operands() {
                    uses.touch(root_buffer(cx, body, operand), position);
                }
            });
        }
        uses
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

//! The pieces of a kernel's body that groups with partial windows have a copy of.
//!
//! A group of which all windows are full needs no masks, so what masks would slow down is lowered twice. A long body has few
//! such places: attention brings its queries near, goes over the keys and values, and stores its results; only the first and
//! the last of these depend on how many queries a group has. So what lies between them is lowered once, which takes half the
//! code and half the time that LLVM needs for it. Values of a piece that is lowered twice do not leave it.

use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;

use sutura_dialects::gir::ops::{ForOp, LoadOp, SliceOp};
use sutura_dialects::gir::types::{TileType, ViewType};
use sutura_ir::{Block, Body, Op, OpRef, OpView, Value};

use super::kernel::{Lowering, slice_axes};

/// Operations of a body that follow one another, without the body's terminator.
pub(super) struct Piece {
    pub(super) ops: Vec<Op>,
    /// Whether groups with partial windows have a copy of their own.
    pub(super) twice: bool,
}

/// Positions of operations that are lowered twice.
type Span = RangeInclusive<usize>;

impl<'a> Lowering<'a, '_> {
    /// The pieces of a body on a CPU; `None` where all loops would be in those that are lowered twice.
    pub(super) fn pieces(&mut self, body: &'a Body, block: Block) -> Option<Vec<Piece>> {
        if self.gpu.is_some() {
            return None;
        }
        let ops = body.ops(block).map(|op| OpRef::new(self.kernel.op.cx, body, op));
        let ops = self.places_first(ops.filter(|op| op.name_str() != "gir.yield").collect());
        if ops.iter().any(asks_for_next_rows) {
            return None;
        }
        let partial: Vec<Span> =
            (0..ops.len()).filter(|at| self.has_partial_window(ops[*at])).map(|at| at..=at).collect();
        let spans = closed(partial, &self.flows(&ops));
        let once = |at: &usize| !spans.iter().any(|span| span.contains(at));
        if !(0..ops.len()).filter(once).any(|at| ops[at].is::<ForOp<'_>>()) {
            return None;
        }
        let mut pieces: Vec<Piece> = Vec::new();
        for (at, op) in ops.iter().enumerate() {
            let twice = !once(&at);
            match pieces.last_mut().filter(|piece| piece.twice == twice) {
                Some(piece) => piece.ops.push(op.op),
                None => pieces.push(Piece { ops: vec![op.op], twice }),
            }
        }
        Some(pieces)
    }

    /// The operations, first those that name memory, positions and constants for the whole group: so no piece has them for itself.
    fn places_first(&mut self, ops: Vec<OpRef<'a>>) -> Vec<OpRef<'a>> {
        let mut known: HashSet<Value> = HashSet::new();
        let (mut places, mut others) = (Vec::new(), Vec::new());
        for op in ops {
            let place = matches!(
                op.name_str(),
                "arith.constant" | "gir.index" | "gir.identity" | "gir.alloc" | "gir.fill" | "gir.slice"
            );
            let depends = op.operands().any(|value| !known.contains(&value) && !self.held.contains_key(&value));
            if place && !depends && !self.has_partial_window(op) {
                known.extend(op.results());
                places.push(op);
            } else {
                others.push(op);
            }
        }
        places.extend(others);
        places
    }

    /// Whether an operation, or one inside it, names a window that only some groups have whole.
    fn has_partial_window(&mut self, op: OpRef<'a>) -> bool {
        let mut slices = Vec::new();
        op.walk(&mut |op| slices.extend(op.as_::<SliceOp<'_>>()));
        slices.into_iter().any(|slice| self.is_partial(&slice))
    }

    fn is_partial(&mut self, slice: &SliceOp<'a>) -> bool {
        let op = slice.op_ref();
        let Some(view) = op.cx.type_as::<ViewType>(op.ty(slice.view())) else { return false };
        slice_axes(slice).into_iter().any(|(dim, extent, step)| {
            let offset = slice.offsets().nth(dim).expect("verified");
            let (below, above) = self.open_ends(offset, &view.dims[dim], &extent, step);
            self.judged.contains(&offset) && (below || above)
        })
    }

    /// What operations take from earlier ones.
    fn flows(&self, ops: &[OpRef<'a>]) -> Vec<Flow> {
        let mut made_at: HashMap<Value, usize> = HashMap::new();
        let mut flows = Vec::new();
        for (at, op) in ops.iter().enumerate() {
            op.walk(&mut |inner| {
                for value in inner.operands().filter(|value| !self.held.contains_key(value)) {
                    let Some(&from) = made_at.get(&value) else { continue };
                    let tile = op.cx.type_as::<TileType>(op.ty(value));
                    let lazy = tile.is_some_and(|tile| !self.machine.in_registers(tile));
                    flows.push(Flow { from, to: at, lazy });
                }
            });
            made_at.extend(op.results().map(|result| (result, at)));
        }
        flows
    }
}

/// A value goes from one operation to a later one.
struct Flow {
    from: usize,
    to: usize,
    /// It is computed where it is first needed: one copy cannot leave it to the other.
    lazy: bool,
}

/// Whether an operation asks memory for the rows of the next group: those are found for a body as a whole.
fn asks_for_next_rows(op: &OpRef<'_>) -> bool {
    op.as_::<LoadOp<'_>>().is_some_and(|load| load.prefetch().is_some() || load.next().is_some())
}

/// Spans grown until no value leaves them, and none that is computed where it is needed comes into them.
fn closed(mut spans: Vec<Span>, flows: &[Flow]) -> Vec<Span> {
    loop {
        let before = spans.clone();
        for span in &mut spans {
            for flow in flows {
                if span.contains(&flow.from) || (flow.lazy && span.contains(&flow.to)) {
                    *span = flow.from.min(*span.start())..=flow.to.max(*span.end());
                }
            }
        }
        spans = merged(spans);
        if spans == before {
            return spans;
        }
    }
}

/// Spans that overlap, or follow one another, as one.
fn merged(mut spans: Vec<Span>) -> Vec<Span> {
    spans.sort_by_key(|span| *span.start());
    let mut merged: Vec<Span> = Vec::new();
    for span in spans {
        match merged.last_mut() {
            Some(last) if *span.start() <= last.end() + 1 => *last = *last.start()..=*last.end().max(span.end()),
            _ => merged.push(span),
        }
    }
    merged
}

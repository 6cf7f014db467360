//! Tiles in a cache are read when they are needed, which may be after the memory that they were loaded from has changed.
//!
//! A kernel that would see the change is refused: what it means is what the memory held at the load.

use sutura_dialects::gir::ops::SliceOp;
use sutura_ir::{OpRef, OpView, Value};

use super::kernel::{Lowered, Lowering};
use super::memory::{Origin, SliceVal, Window};
use super::strip::{NodeId, Sink};

/// What was stored so far, and what was read in a loop that does not load it anew.
#[derive(Default)]
pub(super) struct Hazards {
    /// Memory that was stored into, in order.
    writes: Vec<Value>,
    /// Memory whose tile was loaded outside a loop and read in it, and the loops around the load.
    outlasting: Vec<(Value, usize)>,
}

impl Hazards {
    /// How many stores have been done.
    pub(super) fn writes(&self) -> usize {
        self.writes.len()
    }

    fn is_stale(&self, origin: Origin) -> bool {
        self.writes[origin.writes..].contains(&origin.root)
    }
}

const HELP: &str = "store the tile to an allocation of its own first, and load it from there";

impl<'a> Lowering<'a, '_> {
    /// Loads that a node still reads, each with the loops around it.
    fn reads(&self, node: NodeId) -> Vec<(Origin, usize)> {
        let loads = self.strips.reachable(node).into_iter();
        let loads = loads.filter_map(|id| Some((self.strips.nodes[id].origin()?, self.strips.depth_of(id))));
        loads.collect()
    }

    /// True when something waits that reads the memory of `slice`.
    pub(super) fn waits_for(&self, slice: &SliceVal) -> bool {
        let Some(target) = slice.origin else { return false };
        self.pending.iter().any(|sink| self.reads(sink.node()).iter().any(|(origin, _)| origin.root == target.root))
    }

    /// True when something waits that writes the memory of `slice`.
    pub(super) fn is_written_later(&self, slice: &SliceVal) -> bool {
        let root = slice.origin.map(|origin| origin.root);
        let writes = |sink: &Sink| matches!(sink, Sink::Store { slice, .. } if slice.origin.map(|o| o.root) == root);
        root.is_some() && self.pending.iter().any(writes)
    }

    /// True when what waits writes the memory of `slice`, and not the elements of a store with these windows, one by one: it must be
    /// done before.
    pub(super) fn is_overtaken(&self, slice: &SliceVal, windows: (Window, Window)) -> bool {
        let Some(target) = slice.origin else { return false };
        self.pending.iter().any(|sink| {
            let Sink::Store { node, slice, .. } = sink else { return false };
            let Some(origin) = slice.origin.filter(|origin| origin.root == target.root) else { return false };
            let strip = &self.strips.nodes[*node];
            !self.same(origin, target) || (strip.window, strip.row_window) != windows
        })
    }

    /// Checks that a loop reads what was there at the loads, and that none of its stores gets in the way.
    pub(super) fn check_order(&mut self, op: OpRef<'a>, sinks: &[Sink]) -> Lowered<'a, ()> {
        let reads: Vec<(Origin, usize)> = sinks.iter().flat_map(|sink| self.reads(sink.node())).collect();
        if reads.iter().any(|(origin, _)| self.hazards.is_stale(*origin)) {
            return self.fail(op, format!("needs a tile of memory that was written after the tile was loaded; {HELP}"));
        }
        let targets: Vec<SliceVal> = (sinks.iter())
            .filter_map(|sink| if let Sink::Store { slice, .. } = sink { Some(slice.clone()) } else { None })
            .collect();
        for target in &targets {
            let Some(target) = target.origin else { continue };
            let clash = reads.iter().any(|(origin, _)| origin.root == target.root && !self.same(*origin, target));
            if clash {
                let message = "needs a tile of memory of which another part is written at the same time";
                return self.fail(op, format!("{message}; {HELP}"));
            }
        }
        let depth = self.strips.depth;
        let outer = reads.iter().filter(|(_, around)| *around < depth).map(|(origin, around)| (origin.root, *around));
        self.hazards.outlasting.extend(outer);
        targets.iter().try_for_each(|target| self.writes_to(op, target))
    }

    /// Notes a store that is done now.
    pub(super) fn writes_to(&mut self, op: OpRef<'a>, slice: &SliceVal) -> Lowered<'a, ()> {
        let Some(target) = slice.origin else { return Ok(()) };
        let depth = self.strips.depth;
        if self.hazards.outlasting.iter().any(|(root, around)| *root == target.root && *around < depth) {
            let message = "writes memory that the next trip of the loop needs as it was before";
            return self.fail(op, format!("{message}; {HELP}"));
        }
        self.hazards.writes.push(target.root);
        Ok(())
    }

    /// True when both are the same elements in the same order.
    fn same(&self, a: Origin, b: Origin) -> bool {
        if a.slice == b.slice {
            return true;
        }
        let (cx, body) = (self.kernel.op.cx, self.kernel.op.inside());
        let slice = |value: Value| {
            let made = body.defining_op(value).map(|op| OpRef::new(cx, body, op));
            made.and_then(|op| op.as_::<SliceOp<'_>>())
        };
        let (Some(a), Some(b)) = (slice(a.slice), slice(b.slice)) else { return false };
        let (a, b) = (a.op_ref(), b.op_ref());
        a.operands().eq(b.operands())
            && a.body.props(a.op) == b.body.props(b.op)
            && a.result_types().eq(b.result_types())
    }
}

//! Keeping a row where it will be stored.
//!
//! What a group computes in one loop and stores, changed by numbers of the row, in its last, lies in the output meanwhile: so
//! the output's lines come while the processor computes, and not when it has nothing else to do, and there is less to hold
//! in its caches. Where stores go past the caches the output is not brought near, and the row is kept in scratch.

use rustc_hash::FxHashSet;
use sutura_dialects::gir::kernel::Mode;
use sutura_dialects::gir::ops::{SliceOp, StoreOp};
use sutura_dialects::gir::types::TileType;
use sutura_ir::{OpRef, OpView, Type, Value};

use super::extremes;
use crate::gir_lowering::kernel::{Held, Lowered, Lowering};
use crate::gir_lowering::memory::SliceVal;
use crate::gir_lowering::strip::{Node, NodeId, Sink};

/// A row of an output.
pub(in crate::gir_lowering) struct OutputRow {
    pub(in crate::gir_lowering) slice: SliceVal,
    /// True at run time when the row is stored past the caches; `None` when it never is.
    pub(in crate::gir_lowering) stream: Option<Value>,
}

impl<'a> Lowering<'a, '_> {
    /// The row of the output that a strip, whose elements `value` names and a loop with `sinks` computes, can lie in until
    /// the group's only store takes it from there; `kept` are all that the loop keeps.
    pub(in crate::gir_lowering) fn row_of_output(
        &mut self,
        (id, value): (NodeId, Value),
        sinks: &[Sink],
        kept: &[NodeId],
    ) -> Lowered<'a, Option<OutputRow>> {
        // A loop that is run again must find what it read, and an output may take the place of an input.
        let once = |sink: &Sink| match sink {
            Sink::Reduce { kind, .. } => !extremes::is_extreme(*kind),
            Sink::Keep { .. } => true,
            Sink::Store { .. } => false,
        };
        let strip = &self.strips.nodes[id];
        let plain = strip.rows == 1 && strip.window.is_full() && strip.row_window.is_full();
        let here = self.pending.is_empty() && self.strips.depth == self.ahead_depth;
        let fits = plain && here && sinks.iter().all(once) && self.store_that_follows().is_some();
        if !fits || !self.read_no_more(sinks, kept) {
            return Ok(None);
        }
        let Some(store) = self.remaining().find_map(|op| op.as_::<StoreOp>()) else { return Ok(None) };
        let op = store.op_ref();
        let ty = |value: Value| op.cx.type_as::<TileType>(op.ty(value));
        let (Some(stored), Some(kept)) = (ty(store.tile()), ty(value)) else { return Ok(None) };
        let alike = (stored.elem, &stored.rows, &stored.cols) == (kept.elem, &kept.rows, &kept.cols);
        let only_written = self.parameter(op, store.slice()).is_some_and(|(_, mode)| mode == Mode::Out);
        if !alike || !only_written || kept.elem == Type::I1 {
            return Ok(None);
        }
        let slice = op.at(op.body.defining_op(store.slice()).expect("a parameter's"));
        let known = |v: Value| matches!(self.held.get(&v), Some(Held::Index(_) | Held::View(_)));
        if !slice.is::<SliceOp>() || !slice.operands().all(known) {
            return Ok(None);
        }
        self.op(slice)?;
        let Some(Held::Slice(row)) = self.held.get(&store.slice()) else { return Ok(None) };
        let whole =
            row.col.is_contiguous() && row.col.window.is_full() && row.row.window.is_full() && row.exists.is_none();
        Ok(whole.then(|| OutputRow { slice: row.clone(), stream: self.streams_where(&store) }))
    }

    /// Operations of the row that are still to come.
    pub(super) fn remaining(&self) -> impl Iterator<Item = OpRef<'a>> {
        let (cx, body) = (self.kernel.op.cx, self.kernel.op.inside());
        let ops = self.rows_block.into_iter().flat_map(move |block| body.ops(block));
        ops.filter(|op| !self.done.contains(op)).map(move |op| OpRef::new(cx, body, op))
    }

    /// Whether all that is still to come is computed from what is kept and from numbers of the row.
    fn read_no_more(&self, sinks: &[Sink], kept: &[NodeId]) -> bool {
        let reduced = sinks.iter().filter_map(|sink| match sink {
            Sink::Reduce { result, .. } => Some(*result),
            _ => None,
        });
        let coming: FxHashSet<Value> = self.remaining().flat_map(|op| op.results()).chain(reduced).collect();
        let fits = |value: Value| match self.held.get(&value) {
            Some(Held::Strip(id)) => {
                kept.contains(id) || matches!(self.strips.nodes[*id].node, Node::OfRegisters(_) | Node::Fill(_))
            }
            Some(_) => true,
            None => coming.contains(&value),
        };
        self.remaining().all(|op| op.operands().all(fits))
    }
}

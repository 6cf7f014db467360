//! Keeping a row where it will be stored, as `gir.home` says.
//!
//! What a group computes in one loop and stores, changed by numbers of the row, in its last, lies in the output meanwhile: so
//! the output's lines come while the processor computes, and not when it has nothing else to do, and there is less to hold
//! in its caches. Where stores go past the caches the output is not brought near, and the row is kept in scratch.

use sutura_dialects::gir::ops::{HomeOp, StoreOp};
use sutura_ir::{OpView, Value};

use super::extremes;
use crate::gir_lowering::kernel::{Held, Lowering};
use crate::gir_lowering::memory::SliceVal;
use crate::gir_lowering::strip::{NodeId, Sink};

/// A row of an output.
pub(in crate::gir_lowering) struct OutputRow {
    pub(in crate::gir_lowering) slice: SliceVal,
    /// True at run time when the row is stored past the caches; `None` when it never is.
    pub(in crate::gir_lowering) stream: Option<Value>,
}

impl<'a> Lowering<'a, '_> {
    /// Notes where a strip lives. Threads of a GPU have their columns in registers, or in memory of the block.
    pub(in crate::gir_lowering) fn lives_in(&mut self, home: &HomeOp<'a>, id: NodeId) {
        if self.gpu.is_none() {
            self.homes.insert(id, *home);
        }
    }

    /// The row of the output in which a strip lives that a loop with `sinks` computes.
    pub(in crate::gir_lowering) fn row_of_output(&mut self, id: NodeId, sinks: &[Sink]) -> Option<OutputRow> {
        let home = *self.homes.get(&id)?;
        let op = home.op_ref();
        let row = self.row_at(&home, id, sinks).map_err(|why| {
            let note = (op.loc(), format!("the tile lies in scratch, not in the output: {why}"));
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        });
        let store = op.body.uses(home.slice()).find_map(|user| op.at(user.owner).as_::<StoreOp>());
        Some(OutputRow { slice: row.ok()?, stream: store.and_then(|store| self.streams_where(&store)) })
    }

    fn row_at(&self, home: &HomeOp<'a>, id: NodeId, sinks: &[Sink]) -> Result<SliceVal, &'static str> {
        let again = |sink: &Sink| matches!(sink, Sink::Reduce { kind, .. } if extremes::is_extreme(*kind));
        if sinks.iter().any(again) {
            return Err("the loop that computes it finds an extreme, for which it may run again");
        }
        let strip = &self.strips.nodes[id];
        let Some(Held::Slice(row)) = self.held.get(&home.slice()) else { return Err("nothing is known of its place") };
        let whole = [strip.window, strip.row_window, row.col.window, row.row.window].iter().all(|part| part.is_full());
        match whole && row.exists.is_none() && strip.rows == 1 {
            true => Ok(row.clone()),
            false if strip.rows != 1 => Err("it has several rows"),
            false if self.one_copy => Err("a part of it may lie outside"),
            false => Err("in some groups a part of it lies outside"),
        }
    }
}

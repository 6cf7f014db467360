//! The stages of a region, one after another on tiles: what is read from memory once, made, and written.

use std::collections::{HashMap, HashSet};

use sutura_dialects::gir::types::Space;
use sutura_ir::affine::AffineExpr;
use sutura_ir::{Attr, OpRef, Value};

use super::kernel::{Built, Emit};
use super::region::FusedRegion;
use super::tiles::{Frame, Number, Tile, zero};
use crate::region::cost::value_text;
use crate::region::{Access, Nest, Stage};

/// A tile that was read.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Read {
    tensor: Value,
    index: Vec<AffineExpr>,
    outside: Option<Attr>,
    space: Space,
    padded: bool,
}

impl Read {
    fn on(frame: &Frame, read: &Access, index: &[AffineExpr]) -> Self {
        let (space, padded) = (frame.space.clone(), frame.padded);
        Self { tensor: read.value, index: index.to_vec(), outside: read.oob, space, padded }
    }
}

/// What a kernel has computed and read so far.
#[derive(Clone, Default)]
pub(super) struct Known {
    /// By number among the region's values.
    pub(super) made: HashMap<usize, Number>,
    read: HashMap<Read, Tile>,
    /// Indices that were read, by symbol.
    pub(super) picked: HashMap<usize, Value>,
    /// Memory of tensors.
    pub(super) views: HashMap<Value, Value>,
    /// Values of the region that an earlier kernel has written.
    pub(super) stored: HashSet<Value>,
}

impl Known {
    /// The start of a kernel before which others have written some values.
    pub(super) fn of_stored(stored: HashSet<Value>) -> Self {
        Self { stored, ..Self::default() }
    }

    /// The memory of a tensor that `op` reads or writes.
    ///
    /// # Errors
    /// The kernel has none: it makes the tensor, but not before what reads it. A region whose scheme ends so is lowered otherwise.
    pub(super) fn view(&self, op: OpRef<'_>, tensor: Value) -> Built<Value> {
        let Some(view) = self.views.get(&tensor) else {
            let name = value_text(op.cx, op.body, tensor);
            return Emit::unsupported(
                op,
                &format!("needs {name}, which its kernel has not in memory and has not made"),
            );
        };
        Ok(*view)
    }

    /// What is known of a part of a dim: all but what was made or read for more of it.
    pub(super) fn of_part(&self, nest: &Nest<'_>, dim: usize) -> Self {
        let along = nest.stages.iter().filter(|stage| stage.parallel().any(|d| d == dim));
        let gone: HashSet<usize> = along.flat_map(|stage| stage.results.iter().filter_map(|r| r.slot)).collect();
        let mut part = self.clone();
        part.made.retain(|slot, _| !gone.contains(slot));
        part.read.retain(|Read { index, .. }, _| !index.iter().any(|expr| nest.mentions_expr(*expr, dim)));
        for pick in nest.stages.iter().flat_map(|stage| &stage.picks) {
            if nest.mentions(&pick.access, dim) {
                part.picked.remove(&pick.symbol);
            }
        }
        part
    }

    /// The start of a block of its own.
    pub(super) fn of_views(&self) -> Self {
        Self { views: self.views.clone(), ..Self::default() }
    }

    /// Takes over what was made inside a block and has no columns.
    pub(super) fn learn_without_columns(&mut self, inside: Self) {
        let columns = |number: &Number| matches!(number, Number::Tile(tile) if tile.shape.cols);
        for (slot, number) in inside.made.into_iter().filter(|(_, number)| !columns(number)) {
            self.made.entry(slot).or_insert(number);
        }
    }

    /// Makes known a tile of what a stage reads of a tensor.
    pub(super) fn learn_read(&mut self, frame: &Frame, read: &Access, tile: Tile) {
        self.read.insert(Read::on(frame, read, &read.index), tile);
    }

    /// The tile of one of the region's values, by its number.
    pub(super) fn tile(&self, slot: usize) -> Option<Number> {
        self.made.get(&slot).copied()
    }
}

/// A region whose stages are emitted.
#[derive(Clone, Copy)]
pub(super) struct Walk<'r, 'a> {
    pub(super) region: &'r FusedRegion<'a>,
    pub(super) nest: &'r Nest<'a>,
}

impl Walk<'_, '_> {
    /// The arguments of a stage: what was made before, or is read now.
    pub(super) fn args(
        &self,
        e: &mut Emit<'_>,
        frame: &Frame,
        stage: &Stage<'_>,
        known: &mut Known,
    ) -> Built<Vec<Number>> {
        self.picks(e, frame, stage, known)?;
        stage.inputs.iter().map(|read| self.arg(e, frame, (stage.op, read), known)).collect()
    }

    /// Reads the indices that a stage mentions, those that are known left out, and makes them known to index arithmetic.
    pub(super) fn picks(&self, e: &mut Emit<'_>, frame: &Frame, stage: &Stage<'_>, known: &mut Known) -> Built<()> {
        for pick in &stage.picks {
            let index = match known.picked.get(&pick.symbol) {
                Some(index) => *index,
                None => {
                    let view = known.view(stage.op, pick.access.value)?;
                    e.pick(self.nest, frame, pick, view)
                }
            };
            known.picked.insert(pick.symbol, index);
            e.picked.insert(pick.symbol, index);
        }
        Ok(())
    }

    /// What an op reads: made before, or read now.
    pub(super) fn arg(
        &self,
        e: &mut Emit<'_>,
        frame: &Frame,
        (op, read): (OpRef<'_>, &Access),
        known: &mut Known,
    ) -> Built<Number> {
        if let Some(made) = read.slot.and_then(|slot| known.made.get(&slot)) {
            return Ok(self.guarded(e, frame, read, *made));
        }
        // What was packed is known, while the tensor may be no view of the kernel.
        if let Some(tile) = known.read.get(&Read::on(frame, read, &read.index)) {
            return Ok(Number::Tile(*tile));
        }
        let view = known.view(op, read.value)?;
        // What another kernel has written is read as it was written.
        let stored =
            self.nest.made.get(&read.value).filter(|_| read.slot.is_some() && known.stored.contains(&read.value));
        let index = stored.map_or(&read.index, |(maker, result)| &self.nest.stages[*maker].results[*result].index);
        if index.iter().any(|expr| e.unread(*expr).is_some()) {
            let name = value_text(op.cx, op.body, read.value);
            return Emit::unsupported(op, &format!("reads {name} at an index that its kernel has not read"));
        }
        let edges = self.nest.edges(&self.region.facts, read, frame.col.as_ref().map(|axis| axis.dim));
        let elem = e.view_elem(view);
        let load = || {
            let pad = read.oob.or_else(|| frame.padded.then(|| zero(self.nest.cx, elem)));
            e.load(self.nest, frame, (view, index), (pad, &edges))
        };
        Ok(Number::Tile(*known.read.entry(Read::on(frame, read, index)).or_insert_with(load)))
    }

    /// What was made where it exists, else the number that is read outside.
    fn guarded(&self, e: &mut Emit<'_>, frame: &Frame, read: &Access, made: Number) -> Number {
        let Some(outside) = read.oob else { return made };
        let elem = self.nest.cx.element_type(self.nest.body.ty(read.value));
        let inside = read.guard.iter().map(|(expr, size)| e.in_range(frame, *expr, size));
        let inside: Vec<Tile> = inside.collect();
        e.where_all(frame, &inside, made, Number::Constant(outside, elem))
    }

    /// What the function of a stage makes.
    pub(super) fn numbers(
        &self,
        e: &mut Emit<'_>,
        frame: &Frame,
        stage: &Stage<'_>,
        known: &mut Known,
    ) -> Built<Vec<Number>> {
        e.loc = stage.op.loc();
        let args = self.args(e, frame, stage, known)?;
        e.scalars(frame, &self.region.facts, (self.nest, stage), &args)
    }
}

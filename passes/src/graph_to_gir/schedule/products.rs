//! Contractions of tiles, and the factors that are packed for them.

use sutura_dialects::gir::ops::{ContractOp, LoadOp, StoreOp};
use sutura_dialects::gir::types::{TileType, ViewType};
use sutura_dialects::schedule::{Dim, Place, Tile as TileTree};
use sutura_ir::{Attr, Type, Value};

use super::super::kernel::{Built, Emit};
use super::super::stages::Known;
use super::super::tiles::{Covers, Frame, Number, Shape, Tile, zero};
use super::nodes::{Inside, State};
use super::ranges::{Range, Ranges};
use super::sums::Sum;
use crate::region::contract::narrow_factors;

/// Where an operand lies that was packed.
#[derive(Clone)]
pub(super) struct PackedView {
    pub(super) view: Value,
    pub(super) loops: Vec<PackedLoop>,
    /// The places of a sum that a tile has lie side by side, column by column.
    pub(super) grouped: bool,
}

/// A loop that has a dimension of what was packed.
#[derive(Clone, Copy)]
pub(super) struct PackedLoop {
    pub(super) dim: usize,
    /// The trip or index with which it began, if that is not 0.
    pub(super) first: Option<Value>,
}

impl Inside<'_, '_> {
    /// One contraction: of a column of one factor and a row of the other, or of as many as a loop has left of a dim that is summed
    /// over.
    pub(super) fn contract(
        &self,
        e: &mut Emit<'_>,
        ranges: &Ranges,
        (place, frame): (&Place, &Frame),
        known: &mut Known,
        state: &mut State,
    ) -> Built<()> {
        let (stage, key) = (self.stage(place), (place.stage.number, 0));
        e.loc = stage.op.loc();
        let col = place.tile.cols.map_or(usize::MAX, |dim| dim.0);
        let rhs = usize::from(!self.nest().mentions(&stage.inputs[0], col));
        let several = |dim: &&usize| matches!(ranges.0[**dim], Range::Tile { .. });
        let sum = stage.reduced.iter().find(several).map(|dim| Dim(*dim));
        let left = TileTree { cols: sum, ..place.tile.clone() };
        let right = TileTree { rows: sum, ..place.tile.clone() };
        let a = self.factor(e, ranges, (place, 1 - rhs), &left, (known, state))?;
        let b = self.factor(e, ranges, (place, rhs), &right, (known, state))?;
        let sum = match state.sums.get(&key) {
            Some(Sum::Carried(sum)) => *sum,
            _ => {
                let zero = zero(self.nest().cx, self.of.elem(key, true));
                e.fill(frame, zero, self.of.elem(key, true), Shape { rows: frame.row.is_some(), cols: true })
            }
        };
        // Where no loop inside takes over what was summed, it is relative to the extreme of the loop's last trip.
        let sum = self.rescaled(e, frame, key, sum, state);
        let narrow = narrow_factors(self.nest(), stage);
        let unsigned = narrow.map(|narrow| [1 - rhs, rhs].map(|input| narrow.unsigned[input])).unwrap_or_default();
        let flags = ["unsigned_lhs", "unsigned_rhs"].into_iter().zip(unsigned).filter(|(_, unsigned)| *unsigned);
        let cx = e.b.cx();
        let made = ContractOp::state(&e.b, e.loc, a, b, sum.value);
        let made = flags.fold(made, |made, (flag, _)| made.prop(cx.ident(flag), Attr::UNIT));
        let interleave = self.interleaved(e, (place.stage.number, rhs), &right, ranges);
        let interleave = interleave.map(|group| (cx.ident("interleave"), cx.int_attr(group, Type::I64)));
        let op = e.b.create(interleave.into_iter().fold(made, |made, (name, group)| made.prop(name, group)));
        let value = e.b.body().result(op, 0);
        // Of what is packed all columns exist, and of what is near all rows; of what is read as it lies columns are whole.
        // What is kept in memory has all rows of a tile.
        let whole = place.tile.padded || state.near.contains_key(&(key.0, 1 - rhs)) || state.borrowed.contains(&key);
        let window = if whole { Covers::All } else { Covers::Rows };
        let sum = Tile { value, window, ..sum };
        match state.sums.get_mut(&key) {
            Some(entry) => *entry = Sum::Carried(sum),
            None => self.finish(e, frame, (stage, 0), Number::Tile(sum), known, state)?,
        }
        Ok(())
    }

    /// How many places of the sum lie side by side in each column of the tile of a packed factor, where a contraction takes several of such
    /// groups: a row of the tile has one of them.
    fn interleaved(&self, e: &Emit<'_>, at: (usize, usize), tile: &TileTree, ranges: &Ranges) -> Option<i64> {
        let packed = self.packed.get(&at).filter(|packed| packed.grouped)?;
        let Range::Tile { by, .. } = ranges.0[tile.rows?.0] else { return None };
        let view: &ViewType = e.b.cx().type_as(e.b.body().ty(packed.view)).expect("a view");
        view.dims.last()?.as_const().filter(|group| by > *group)
    }

    /// The tile of a factor: of what is near, of what was packed, or of the tensor.
    fn factor(
        &self,
        e: &mut Emit<'_>,
        ranges: &Ranges,
        (place, input): (&Place, usize),
        tile: &TileTree,
        (known, state): (&Known, &State),
    ) -> Built<Value> {
        let (stage, frame) = (self.stage(place), self.of.frame(e, ranges, tile));
        let at = (place.stage.number, input);
        if let Some(near) = state.near.get(&at) {
            return Ok(self.of.load_near(e, &frame, near)?.value);
        }
        let interleave = if state.panels.contains_key(&at) { None } else { self.interleaved(e, at, tile, ranges) };
        if let Some((group, packed)) = interleave.zip(self.packed.get(&at)) {
            return Ok(e.load_interleaved(packed, ranges, (&frame, group), self.of.factor_elem(at)));
        }
        if let Some(packed) = state.panels.get(&at).or_else(|| self.packed.get(&at)) {
            let elem = self.of.factor_elem(at);
            return Ok(e.load_packed(packed, ranges, &frame, (elem, None)).value);
        }
        let shape = Shape { rows: frame.row.is_some(), cols: frame.col.is_some() };
        let access = &stage.inputs[input];
        let view = known.view(stage.op, access.value)?;
        let padded = frame.padded || state.borrowed.contains(&(at.0, 0));
        let outside = padded.then(|| zero(self.nest().cx, e.view_elem(view)));
        let read = e.load(self.nest(), &frame, (view, &access.index), (outside, &[]));
        Ok(e.realise(&frame, Number::Tile(read), shape, None).value)
    }

    /// Writes what is packed.
    pub(super) fn pack(
        &self,
        e: &mut Emit<'_>,
        ranges: &Ranges,
        frame: &Frame,
        (number, packed): (Number, &PackedView),
    ) {
        let shape = Shape { rows: frame.row.is_some(), cols: frame.col.is_some() };
        let tile = e.realise(frame, number, shape, None);
        let slice = e.packed_slice(packed, ranges, (frame, shape));
        StoreOp::build(&mut e.b, e.loc, tile.value, slice);
    }
}

impl Emit<'_> {
    /// A tile of a packed operand, and what it is outside.
    pub(super) fn load_packed(
        &mut self,
        packed: &PackedView,
        ranges: &Ranges,
        frame: &Frame,
        (elem, outside): (Type, Option<Attr>),
    ) -> Tile {
        let shape = Shape { rows: frame.row.is_some(), cols: frame.col.is_some() };
        let slice = self.packed_window(packed, ranges, frame);
        let ty = self.b.cx().ext_type(frame.tile_type(shape, elem));
        let value = LoadOp::value(&mut self.b, self.loc, slice, outside, ty);
        Tile { value, shape, elem, window: Covers::All, cached: false }
    }

    /// A tile of a packed operand whose rows have `group` places of the sum of each column, side by side.
    fn load_interleaved(
        &mut self,
        packed: &PackedView,
        ranges: &Ranges,
        (frame, group): (&Frame, i64),
        elem: Type,
    ) -> Value {
        let cx = self.b.cx();
        let ty: &ViewType = cx.type_as(self.b.body().ty(packed.view)).expect("a view");
        let mut dims = ty.dims.clone();
        let (places, columns) = (dims.pop(), dims.pop());
        dims.push(places.zip(columns).map_or(1.into(), |(places, columns)| places.mul(&columns)));
        let sum = frame.row.as_ref().expect("a contraction takes several places").dim;
        let mut offsets: Vec<Value> = packed.loops.iter().map(|l| self.trip_of(l, ranges)).collect();
        let along = packed.loops.iter().position(|l| l.dim == sum).expect("it is packed along the sum");
        let Range::Tile { by, .. } = ranges.0[sum] else { unreachable!("a trip has several places") };
        offsets[along] = self.scaled(offsets[along], by / group, None);
        offsets.push(self.constant(0));
        let (rows, cols) = frame.extents(Shape { rows: true, cols: true });
        let (rows, cols) = (rows.floordiv(group), cols.scale(group));
        let view = self.reshaped(packed.view, &dims);
        let last = offsets.len() as i64 - 1;
        let slice = self.window(view, &offsets, (Some(along as i64), Some(last)), (rows.clone(), cols.clone()));
        let ty = cx.ext_type(TileType { space: frame.space.clone(), elem, rows, cols });
        LoadOp::value(&mut self.b, self.loc, slice, None, ty)
    }

    /// The trip or index of a loop in which an operand was packed, counted from where it began.
    fn trip_of(&mut self, l: &PackedLoop, ranges: &Ranges) -> Value {
        let now = match ranges.0[l.dim] {
            Range::Tile { trip, .. } | Range::Block { trip, .. } | Range::Part { trip, .. } => trip,
            Range::Index(index) => index,
            Range::Whole | Range::Needed { .. } => {
                unreachable!("the loops that an operand was packed in are around where it is read")
            }
        };
        l.first.map_or(now, |first| self.less(now, first))
    }

    /// The part of a packed operand that a tile has.
    pub(super) fn packed_window(&mut self, packed: &PackedView, ranges: &Ranges, frame: &Frame) -> Value {
        let shape = Shape { rows: frame.row.is_some(), cols: frame.col.is_some() };
        self.packed_slice(packed, ranges, (frame, shape))
    }

    /// The part of a packed operand at the place of the loops that it was packed in; the rows of a frame are along one of them.
    fn packed_slice(&mut self, packed: &PackedView, ranges: &Ranges, (frame, shape): (&Frame, Shape)) -> Value {
        let row = frame.row.as_ref().filter(|_| shape.rows);
        let along = row.filter(|_| !packed.grouped).and_then(|row| packed.loops.iter().position(|l| l.dim == row.dim));
        let at = |(number, l): (usize, &PackedLoop)| match row {
            Some(row) if along == Some(number) => l.first.map_or(row.base, |first| self.less(row.base, first)),
            _ => self.trip_of(l, ranges),
        };
        let mut offsets: Vec<Value> = packed.loops.iter().enumerate().map(at).collect();
        offsets.push(self.constant(0));
        if packed.grouped {
            offsets.push(self.constant(0));
            let (rows, cols) = (offsets.len() as i64 - 1, offsets.len() as i64 - 2);
            let extents = frame.extents(Shape { rows: true, ..shape });
            return self.window(packed.view, &offsets, (Some(rows), Some(cols)), extents);
        }
        let rows = along.map(|number| number as i64);
        let extents = frame.extents(Shape { rows: rows.is_some(), ..shape });
        self.window(packed.view, &offsets, (rows, Some(offsets.len() as i64 - 1)), extents)
    }
}

//! Parts of what is combined: numbers that a kernel writes for another one to join.

use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::gir::ops::{BinaryOp, LoadOp, StoreOp, TransposeOp};
use sutura_dialects::schedule::Place;
use sutura_ir::Value;
use sutura_ir::affine::AffineExpr;

use super::super::kernel::{Built, Emit};
use super::super::scalars::tile_combiner;
use super::super::stages::Known;
use super::super::tiles::{Covers, Frame, Number, Tile, zero};
use super::nodes::{Inside, State};
use super::ranges::Ranges;
use crate::region::Nest;

/// A number that a kernel writes for another one to combine.
pub(super) struct Partial {
    /// Where parts are kept: their number, then the dimensions of the value.
    pub(super) view: Value,
    /// One expression per dimension of the value.
    pub(super) index: Vec<AffineExpr>,
    /// The part.
    pub(super) part: Value,
}

/// Where the parts of a stage's results are.
pub(super) struct Joined {
    pub(super) count: Poly,
    /// One per result.
    pub(super) views: Vec<Value>,
}

impl Inside<'_, '_> {
    /// The sums of all parts, one after another.
    pub(super) fn join(
        &self,
        e: &mut Emit<'_>,
        ranges: &Ranges,
        places: &[&Place],
        known: &mut Known,
        state: &mut State,
    ) -> Built<()> {
        let cx = self.nest().cx;
        let (mut keys, mut inits) = (Vec::new(), Vec::new());
        for place in places {
            let (stage, frame) = (self.stage(place), self.of.frame(e, ranges, &place.tile));
            for key in self.of.keys(place.stage.number) {
                let elem = self.of.elem(key, true);
                let shape = frame.shape(self.nest(), &stage.results[key.1].index);
                inits.push(e.fill(&frame, stage.combiners[key.1].identity(cx, elem), elem, shape));
                keys.push((key, frame.clone()));
            }
        }
        let values: Vec<Value> = inits.iter().map(|tile| tile.value).collect();
        let count = &self.joined[&keys[0].0.0].count;
        let sums = e.for_loop(count, &values, &mut |e, part, carried| {
            let mut next = Vec::new();
            for (((key, frame), init), old) in keys.iter().zip(&inits).zip(carried) {
                let stage = &self.nest().stages[key.0];
                let view = self.joined[&key.0].views[key.1];
                let tile = e.load_part(self.nest(), frame, &stage.results[key.1].index, (view, part), init);
                let combiner = tile_combiner(cx, stage.combiners[key.1], init.elem);
                let Some(combiner) = combiner else {
                    return Emit::unsupported(stage.op, "combines numbers in a way that tiles do not");
                };
                next.push(BinaryOp::value(&mut e.b, e.loc, combiner.binary(), *old, tile));
            }
            Ok(next)
        })?;
        let tiles = sums.into_iter().zip(&inits).map(|(value, init)| Tile { value, window: Covers::All, ..*init });
        for ((key, frame), tile) in keys.iter().zip(tiles) {
            let stage = &self.nest().stages[key.0];
            let tile = e.converted(tile, self.of.elem(*key, false));
            self.made(e, frame, (stage, key.1), Number::Tile(tile), known, state)?;
        }
        Ok(())
    }
}

impl Emit<'_> {
    /// Writes a number as a part.
    pub(super) fn store_part(&mut self, nest: &Nest<'_>, frame: &Frame, number: Number, to: &Partial) {
        let (slice, shape, turned) = self.slice_behind(nest, frame, (to.view, &[to.part]), &to.index, &[]);
        let tile = self.realise(frame, number, shape, None);
        let tile = if shape.cols { tile } else { self.in_registers(frame, tile) };
        let value = if turned { TransposeOp::value(&mut self.b, self.loc, tile.value) } else { tile.value };
        StoreOp::build(&mut self.b, self.loc, value, slice);
    }

    /// Reads a part of a number.
    fn load_part(
        &mut self,
        nest: &Nest<'_>,
        frame: &Frame,
        index: &[AffineExpr],
        (view, part): (Value, Value),
        like: &Tile,
    ) -> Value {
        let (slice, ..) = self.slice_behind(nest, frame, (view, &[part]), index, &[]);
        let pad = like.shape.cols.then(|| zero(nest.cx, like.elem));
        let ty = self.b.body().ty(like.value);
        LoadOp::value(&mut self.b, self.loc, slice, pad, ty)
    }
}

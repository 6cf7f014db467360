//! What loops combine: numbers that they carry, or keep in memory of the group where these are as many as a row, or more.

use sutura_dialects::gir::constraints::Axis as Direction;
use sutura_dialects::gir::ops::{BinaryOp, ReduceOp, ScanOp};
use sutura_dialects::graph::Joint;
use sutura_dialects::graph::form::Scan;
use sutura_dialects::schedule::{Loop, Place, Split};

use super::super::kernel::{Built, Emit};
use super::super::scalars::{accumulator, identity, result_elem, tile_combiner};
use super::super::stages::Known;
use super::super::tiles::{Axis, Covers, Frame, Number, Shape, Target, Tile};
use super::bring::readers;
use super::flow::Key;
use super::near::Near;
use super::nodes::{Inside, State, path_to};
use super::ranges::Ranges;
use crate::region::contract::check_product;
use crate::region::{Access, Stage};

/// What combines along a loop.
#[derive(Clone)]
pub(super) enum Sum {
    /// Carried by the loop.
    Carried(Tile),
    /// Kept in memory, from where a tile is read and where it is put back.
    Kept { near: Near, now: Option<Tile>, next: Option<Tile> },
}

impl Inside<'_, '_> {
    /// Starts a combination with its identity: in memory where it is more than a tile in registers, as there are loops over `path`
    /// between the loop along which it is combined and its place.
    pub(super) fn start(
        &self,
        e: &mut Emit<'_>,
        ranges: &Ranges,
        (place, key): (&Place, Key),
        (path, l): (&[&Loop], &Loop),
    ) -> Built<Sum> {
        let (cx, stage) = (self.nest().cx, self.stage(place));
        let wide = accumulator(cx, stage, key.1);
        let mut frame = self.of.frame(e, ranges, &place.tile);
        let result = &stage.results[key.1];
        let mut shape = frame.shape(self.nest(), &result.index);
        if let Some(col) = frame.col.as_mut().filter(|_| place.columnwise) {
            shape.cols = true;
            let inside = path_to(&l.body, key.0).unwrap_or_default();
            let tiles = inside.into_iter().rev().chain([l]).find(|l| l.dim.0 == col.dim).map(|l| l.split);
            col.extent = if let Some(Split::By(by)) = tiles { by.into() } else { 1.into() };
        }
        let in_registers = !shape.cols || place.contract || frame.space == frame.registers;
        if path.is_empty() && in_registers {
            return Ok(Sum::Carried(e.fill(&frame, identity(cx, stage, key.1), wide, shape)));
        }
        let near = self.of.near_sum(e, ranges, (result, wide), (&l.body, path.is_empty()))?;
        self.along(e, ranges, path, &mut |e, ranges| {
            let frame = self.of.frame(e, ranges, &place.tile);
            let nothing = Number::Constant(identity(cx, stage, key.1), wide);
            self.of.store_near(e, &frame, nothing, &near)
        })?;
        Ok(Sum::Kept { near, now: None, next: None })
    }

    /// Ends a combination.
    pub(super) fn end(
        &self,
        e: &mut Emit<'_>,
        ranges: &Ranges,
        (place, key, sum): (&Place, Key, Sum),
        path: &[&Loop],
        known: &mut Known,
        state: &mut State,
    ) -> Built<()> {
        let stage = self.stage(place);
        e.loc = stage.op.loc();
        let (written, value) = (self.writes.contains(&stage.results[key.1].value), &stage.results[key.1]);
        match sum {
            Sum::Kept { near, .. } if !path.is_empty() => {
                if written || self.is_relative(key, state) {
                    let known = &*known;
                    self.along(e, ranges, path, &mut |e, ranges| {
                        let frame = self.of.frame(e, ranges, &place.tile);
                        let tile = self.of.load_near(e, &frame, &near)?;
                        let tile = self.complete(e, &frame, key, tile, (known, state))?;
                        self.of.store_near(e, &frame, Number::Tile(tile), &near)?;
                        if written {
                            let clauses = self.said.of_store(value.value);
                            let view = known.view(stage.op, value.value)?;
                            let to = Target { clauses, ..Target::of(view, &value.index) };
                            e.store(self.nest(), &frame, Number::Tile(tile), to);
                        }
                        Ok(())
                    })?;
                }
                let slot = value.slot.into_iter();
                state.near.extend(slot.flat_map(|slot| readers(self.nest(), slot)).map(|at| (at, near.clone())));
                Ok(())
            }
            sum => {
                let frame = self.of.frame(e, ranges, &place.tile);
                let tile = match sum {
                    Sum::Carried(tile) if place.columnwise => self.along_columns(e, key, tile),
                    Sum::Carried(tile) => tile,
                    Sum::Kept { near, .. } => self.of.load_near(e, &frame, &near)?,
                };
                let tile = self.complete(e, &frame, key, tile, (known, state))?;
                self.finish(e, &frame, (stage, key.1), Number::Tile(tile), known, state)
            }
        }
    }

    /// A number of the accumulator's type that is combined in this kernel.
    pub(super) fn finish(
        &self,
        e: &mut Emit<'_>,
        frame: &Frame,
        (stage, r): (&Stage<'_>, usize),
        number: Number,
        known: &mut Known,
        state: &mut State,
    ) -> Built<()> {
        let value = stage.results[r].value;
        if let Some(partial) = self.partial.get(&value) {
            e.store_part(self.nest(), frame, number, partial);
            return Ok(());
        }
        let number = match number {
            Number::Tile(tile) => Number::Tile(e.converted(tile, result_elem(self.nest().cx, stage, r))),
            constant => constant,
        };
        self.made(e, frame, (stage, r), number, known, state)
    }

    /// What is combined so far: within a row, or with what a loop carries from row to row.
    pub(super) fn scan(
        &self,
        e: &mut Emit<'_>,
        frame: &Frame,
        (key, scan): (Key, Scan),
        number: Number,
        state: &mut State,
    ) -> Built<Number> {
        let (cx, stage) = (self.nest().cx, &self.nest().stages[key.0]);
        let (wide, elem) = (accumulator(cx, stage, key.1), result_elem(cx, stage, key.1));
        let Some(combiner) = tile_combiner(cx, stage.combiners[key.1], wide) else {
            return Emit::unsupported(stage.op, "combines numbers in a way that tiles do not");
        };
        let shape = frame.shape(self.nest(), &stage.results[key.1].index);
        let tile = match state.sums.get(&key) {
            Some(Sum::Carried(sum)) => {
                let sum = *sum;
                let tile = e.realise(frame, number, shape, Some(sum));
                let tile = e.converted(tile, wide);
                let value = BinaryOp::value(&mut e.b, e.loc, combiner.binary(), sum.value, tile.value);
                state.sums.insert(key, Sum::Carried(Tile { value, ..sum }));
                if scan.exclusive { sum } else { Tile { value, ..sum } }
            }
            None if frame.col.as_ref().is_some_and(|col| col.dim == scan.dim) => {
                let tile = e.realise(frame, number, shape, None);
                let tile = e.converted(tile, wide);
                let (b, cols) = (&mut e.b, Direction::Cols);
                let value = ScanOp::value(b, e.loc, combiner, cols, scan.exclusive, scan.reverse, tile.value);
                Tile { value, ..tile }
            }
            // Along a single element.
            None if self.nest().is_unit(scan.dim) && !scan.exclusive => return Ok(number),
            None if self.nest().is_unit(scan.dim) => {
                return Ok(Number::Constant(stage.combiners[key.1].identity(cx, elem), elem));
            }
            _ => return Emit::unsupported(stage.op, "runs along a dimension that the kernel has in parts"),
        };
        Ok(Number::Tile(e.converted(tile, elem)))
    }

    /// One contribution to a combination.
    pub(super) fn combine(
        &self,
        e: &mut Emit<'_>,
        frame: &Frame,
        key: Key,
        number: Number,
        known: &mut Known,
        state: &mut State,
    ) -> Built<()> {
        let (cx, stage) = (self.nest().cx, &self.nest().stages[key.0]);
        let wide = accumulator(cx, stage, key.1);
        let Some(combiner) = tile_combiner(cx, stage.combiners[key.1], wide) else {
            return Emit::unsupported(stage.op, "combines numbers in a way that tiles do not");
        };
        let along = frame.col.as_ref().is_some_and(|col| stage.reduced.contains(&col.dim));
        let rows = frame.row.is_some();
        let shape =
            if along { Shape { rows, cols: true } } else { frame.shape(self.nest(), &stage.results[key.1].index) };
        let old = match state.sums.get(&key) {
            Some(Sum::Carried(tile) | Sum::Kept { now: Some(tile), .. }) => Some(*tile),
            _ => None,
        };
        let columnwise = old.is_some_and(|old| along && old.shape.cols);
        let like = old.filter(|old| old.shape == shape);
        let tile = e.realise(frame, number, shape, like);
        let mut tile = e.converted(tile, wide);
        let masked = self.is_of_zeroes(key.0, state)
            || self.is_masked(key.0, tile, state)
            || self.is_of_padded_factors(key.0, frame, state);
        if along && tile.window == Covers::All && self.reaches_beyond(frame) && !masked {
            // A number that is the same in each column, or counts them, does not end where columns do.
            let Axis { dim, .. } = frame.col.as_ref().expect("it is combined along the columns");
            let inside = e.in_range(frame, cx.affine_dim(*dim as u32), &self.nest().extents[*dim]);
            let nothing = Number::Constant(stage.combiners[key.1].identity(cx, wide), wide);
            let number = e.where_all(frame, &[inside], Number::Tile(tile), nothing);
            tile = e.realise(frame, number, shape, None);
            self.masked(key.0, tile, known, state);
        }
        if along && !columnwise {
            let cached = frame.space != frame.registers;
            tile = Tile { cached, ..self.along_columns(e, key, tile) };
        }
        let Some(old) = old else {
            return self.finish(e, frame, (stage, key.1), Number::Tile(tile), known, state);
        };
        let old = self.rescaled(e, frame, key, old, state);
        let tile = e.in_registers(frame, tile);
        let value = BinaryOp::value(&mut e.b, e.loc, combiner.binary(), old.value, tile.value);
        let sum = Tile { value, ..old };
        match state.sums.get_mut(&key) {
            Some(Sum::Kept { next, .. }) => *next = Some(sum),
            _ => drop(state.sums.insert(key, Sum::Carried(sum))),
        }
        self.moved_origin(e, frame, (key, old, sum), known, state)
    }

    /// True for products of two factors that are both padded with zeros beyond the columns of a frame: so their sum need not ask for the end.
    fn is_of_padded_factors(&self, number: usize, frame: &Frame, state: &State) -> bool {
        let (nest, stage) = (self.nest(), &self.nest().stages[number]);
        let Some(col) = frame.col.as_ref().filter(|_| frame.padded).map(|col| col.dim) else { return false };
        // A tensor that is longer than the dim has numbers where the dim ends.
        let ends_with_dim = |read: &Access| {
            let sizes =
                nest.shapes.get(&read.value).cloned().unwrap_or_else(|| self.of.region.view(nest, read.value).dims);
            let at = read.index.iter().position(|e| nest.plain(*e) == Some(col));
            at.is_some_and(|at| self.of.region.facts.prove_equal(&sizes[at], &nest.extents[col]))
        };
        let padded = |(input, read): (usize, &Access)| {
            let as_it_lies = read.slot.is_none() && read.oob.is_none() && read.guard.is_empty();
            as_it_lies && !state.near.contains_key(&(number, input)) && ends_with_dim(read)
        };
        check_product(nest, stage).is_ok() && stage.picks.is_empty() && stage.inputs.iter().enumerate().all(padded)
    }

    /// What the columns of a tile are together.
    fn along_columns(&self, e: &mut Emit<'_>, key: Key, tile: Tile) -> Tile {
        let (cx, stage) = (self.nest().cx, &self.nest().stages[key.0]);
        let combiner = tile_combiner(cx, stage.combiners[key.1], tile.elem).expect("it is combined so");
        let value = ReduceOp::value(&mut e.b, e.loc, combiner, Direction::Cols, tile.value);
        Tile { value, shape: Shape { cols: false, ..tile.shape }, window: Covers::All, ..tile }
    }

    /// One contribution to a state, joined by the region that joins two states.
    pub(super) fn join_states(
        &self,
        e: &mut Emit<'_>,
        frame: &Frame,
        (number, joint): (usize, Joint<'_>),
        contribution: &[Number],
        known: &mut Known,
        state: &mut State,
    ) -> Built<()> {
        let (nest, facts) = (self.nest(), &self.of.region.facts);
        let stage = &nest.stages[number];
        let mut old: Vec<Tile> = Vec::with_capacity(stage.results.len());
        for key in self.of.keys(number) {
            match state.sums.get(&key) {
                Some(Sum::Carried(tile)) => old.push(*tile),
                _ => return Emit::unsupported(stage.op, "combines by a region what no loop carries"),
            }
        }
        let args: Vec<Number> = old.iter().copied().map(Number::Tile).chain(contribution.iter().copied()).collect();
        let joined = e.function(frame, facts, (nest, stage), joint.body, &args)?;
        let realised = |(number, like): (Number, &Tile)| e.realise(frame, number, like.shape, Some(*like));
        let next: Vec<Tile> = joined.into_iter().zip(&old).map(realised).collect();
        for ((key, old), next) in self.of.keys(number).zip(old).zip(next) {
            let next = Tile { value: next.value, ..old };
            state.sums.insert(key, Sum::Carried(next));
            if let Some(scan) = stage.scan {
                let made = if scan.exclusive { old } else { next };
                let made = e.converted(made, result_elem(nest.cx, stage, key.1));
                self.made(e, frame, (stage, key.1), Number::Tile(made), known, state)?;
            }
        }
        Ok(())
    }

    /// True when the last tile of columns has more than there are.
    pub(super) fn reaches_beyond(&self, frame: &Frame) -> bool {
        frame.col.as_ref().is_some_and(|col| self.axis_reaches_beyond(col))
    }

    /// Whether rows or columns may reach beyond the end of their dim.
    pub(super) fn axis_reaches_beyond(&self, axis: &Axis) -> bool {
        let (extent, by) = (&self.nest().extents[axis.dim], axis.extent.as_const());
        let whole = self.of.region.facts.prove_equal(&axis.extent, extent);
        !whole && by.is_none_or(|by| !self.of.region.facts.divisible(extent, by))
    }
}

//! What one group of a row region runs: loops over its inner dims, and in each the stages phase by phase.
//!
//! A phase ends where something is combined along the loop's dim: what needs the result runs through the dim again, and
//! computes again what it needs of earlier phases. Numbers that are combined along loops are carried by them, or kept in
//! memory of the group where they have as many elements as a row. All stages of a kernel share its grid, as in AStitch
//! (ASPLOS 2022), where tiles follow from the reductions.

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;
use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::gir::constraints::{Axis as Direction, Scope};
use sutura_dialects::gir::ops::{AllocOp, BinaryOp, IndexOp, ReduceOp, ScanOp, StoreOp};
use sutura_dialects::gir::types::{Space, ViewType};
use sutura_dialects::graph::maps;
use sutura_ir::affine::{AffineExpr, AffineOp};
use sutura_ir::{Type, Value};

use super::kernel::{Built, Emit};
use super::scalars::{accumulator, result_elem, tile_combiner};
use super::stages::{Known, Walk};
use super::tiles::{Covers, Frame, Number, Shape, Tile};
use crate::region::{Nest, Scan, Stage};

/// A dim of which each group has one of several parts, as even as they can be.
#[derive(Clone, Copy)]
pub(super) struct Parts {
    /// The dim, one that is looped over.
    pub(super) dim: usize,
    /// Number of parts.
    pub(super) count: i64,
    /// The group's part.
    pub(super) index: Value,
}

/// A number that a kernel writes for another one to combine.
#[derive(Clone)]
pub(super) struct Partial {
    /// Where parts are kept.
    pub(super) view: Value,
    /// One expression per dimension of it but that of the parts.
    pub(super) index: Vec<AffineExpr>,
    /// The part, and the dimension that counts parts.
    pub(super) part: (Value, usize),
}

/// The stages of a kernel, as loops.
pub(super) struct Group<'r, 'a> {
    pub(super) walk: Walk<'r, 'a>,
    /// What the kernel writes.
    pub(super) writes: Vec<Value>,
    /// Results that are written as parts.
    pub(super) partial: HashMap<Value, Partial>,
    pub(super) parts: Option<Parts>,
}

/// What combines along a loop.
#[derive(Clone)]
enum Sum {
    /// Carried by the loop.
    Carried(Tile),
    /// As many elements as a row: kept in memory, from where it is read at the start of a trip.
    Kept { view: Value, now: Tile, next: Option<Tile> },
}

type Key = (usize, usize);

/// What goes on beside the values that are known.
#[derive(Default)]
pub(super) struct State {
    sums: IndexMap<Key, Sum>,
    written: HashSet<Value>,
}

impl<'a> Group<'_, 'a> {
    fn nest(&self) -> &Nest<'a> {
        self.walk.nest
    }

    /// Emits `stages`, which run through no dims but those that the frame fixes or tiles, and `loops`.
    pub(super) fn run(
        &self,
        e: &mut Emit<'_>,
        frame: &Frame,
        (stages, loops): (&[usize], &[usize]),
        known: &mut Known,
        state: &mut State,
    ) -> Built<()> {
        let Some((&dim, inner)) = loops.split_first() else { return self.innermost(e, frame, stages, known, state) };
        let phase = self.phases(stages, dim, known);
        let has = |s: &usize| self.nest().stages[*s].dims.contains(&dim);
        for now in 0..=phase.values().copied().max().unwrap_or(0) {
            let outside: Vec<usize> = stages.iter().copied().filter(|s| !has(s) && phase[s] == now).collect();
            if !outside.is_empty() {
                // What an earlier phase made inside another loop is made again here.
                let needed = needed(self.nest(), stages, &outside, known);
                self.run(e, frame, (&needed, inner), known, state)?;
            }
            let wanted = |s: &usize| has(s) && phase[s] == now && self.is_wanted(*s, dim, state);
            let wanted: Vec<usize> = stages.iter().copied().filter(wanted).collect();
            if !wanted.is_empty() {
                let needed = needed(self.nest(), stages, &wanted, known);
                self.one_loop(e, frame, (dim, &needed, inner), known, state)?;
            }
        }
        Ok(())
    }

    /// Number of combinations along `dim` that must be done before each stage.
    fn phases(&self, stages: &[usize], dim: usize, known: &Known) -> HashMap<usize, usize> {
        phases(self.nest(), stages, dim, &|v| known.has(self.nest(), v))
    }

    /// True for a stage for whose sake a loop over `dim` runs.
    fn is_wanted(&self, stage: usize, dim: usize, state: &State) -> bool {
        let this = &self.nest().stages[stage];
        let writes = |v: Value| self.writes.contains(&v) && !state.written.contains(&v);
        this.reduced.contains(&dim)
            || (0..this.results.len()).any(|r| state.sums.contains_key(&(stage, r)))
            || this.results.iter().any(|r| writes(r.value))
    }

    fn one_loop(
        &self,
        e: &mut Emit<'_>,
        frame: &Frame,
        (dim, stages, inner): (usize, &[usize], &[usize]),
        known: &mut Known,
        state: &mut State,
    ) -> Built<()> {
        let mut started = Vec::new();
        for &s in stages {
            let stage = &self.nest().stages[s];
            for r in 0..stage.results.len() {
                if stage.combines_along(dim) && !state.sums.contains_key(&(s, r)) {
                    let sum = self.start(e, frame, stage, r)?;
                    state.sums.insert((s, r), sum);
                    started.push((s, r));
                }
            }
        }
        let carried = state.sums.iter().filter_map(|(key, sum)| match sum {
            Sum::Carried(tile) if stages.contains(&key.0) => Some((*key, *tile)),
            _ => None,
        });
        let carried: Vec<(Key, Tile)> = carried.collect();
        let inits: Vec<Value> = carried.iter().map(|(_, tile)| tile.value).collect();
        let (lo, hi) = self.bounds(e, dim);
        let ends = e.for_range((lo, hi), &inits, &mut |e, index, values| {
            let mut frame = frame.clone();
            frame.fixed[dim] = Some(self.at_trip(e, (dim, stages), index, hi));
            for ((key, tile), value) in carried.iter().zip(values) {
                state.sums.insert(*key, Sum::Carried(Tile { value: *value, ..*tile }));
            }
            self.run(e, &frame, (stages, inner), &mut known.clone(), state)?;
            let next = carried.iter().map(|(key, _)| match &state.sums[key] {
                Sum::Carried(tile) => tile.value,
                Sum::Kept { .. } => unreachable!("what is carried stays so"),
            });
            Ok(next.collect())
        })?;
        for ((key, tile), value) in carried.iter().zip(ends) {
            state.sums.insert(*key, Sum::Carried(Tile { value, ..*tile }));
        }
        for key in started {
            let sum = state.sums.shift_remove(&key).expect("put there above");
            // What is combined as it goes has been made on the way.
            if self.nest().stages[key.0].scan.is_some() {
                continue;
            }
            self.end(e, frame, key, sum, known, state)?;
        }
        Ok(())
    }

    /// The index of a trip: where something runs backward, the first trip has the last index.
    fn at_trip(&self, e: &mut Emit<'_>, (dim, stages): (usize, &[usize]), trip: Value, end: Value) -> Value {
        let backward = |s: &usize| self.nest().stages[*s].scan.is_some_and(|scan| scan.dim == dim && scan.reverse);
        if !stages.iter().any(backward) {
            return trip;
        }
        e.counted_back(end, trip)
    }

    /// The indices that a loop runs through: all of the dim, or the group's part of it.
    fn bounds(&self, e: &mut Emit<'_>, dim: usize) -> (Value, Value) {
        let extent = e.size(&self.nest().extents[dim]);
        let Some(parts) = self.parts.filter(|p| p.dim == dim) else { return (e.constant(0), extent) };
        let cx = e.b.cx();
        let edge = |e: &mut Emit<'_>, after: i64| {
            let part = cx.affine_binary(AffineOp::Add, cx.affine_dim(0), cx.affine_const(after));
            let before = cx.affine_binary(AffineOp::Mul, part, cx.affine_symbol(0));
            let expr = cx.affine_binary(AffineOp::FloorDiv, before, cx.affine_const(parts.count));
            let map = cx.affine_map(1, 1, &[expr]);
            IndexOp::value(&mut e.b, e.loc, map, &[parts.index, extent])
        };
        (edge(e, 0), edge(e, 1))
    }

    /// Starts a combination with its identity.
    fn start(&self, e: &mut Emit<'_>, frame: &Frame, stage: &Stage<'_>, result: usize) -> Built<Sum> {
        let cx = self.nest().cx;
        let wide = accumulator(cx, stage, result);
        let identity = stage.combiners[result].identity(cx, wide);
        let shape = frame.shape(self.nest(), &stage.results[result].index);
        let tile = e.fill(frame, identity, wide, shape);
        if !shape.cols || frame.space == frame.registers {
            return Ok(Sum::Carried(tile));
        }
        let columns = frame.col.as_ref().expect("the tile has columns").extent.clone();
        let view = e.alloc(ViewType::new(&frame.space, wide, vec![columns]));
        let slice = e.row_of(view);
        StoreOp::build(&mut e.b, e.loc, tile.value, slice);
        Ok(Sum::Kept { view, now: tile, next: None })
    }

    /// What has been combined along a loop becomes a value, or is written as a part.
    fn end(
        &self,
        e: &mut Emit<'_>,
        frame: &Frame,
        (s, r): Key,
        sum: Sum,
        known: &mut Known,
        state: &mut State,
    ) -> Built<()> {
        let stage = &self.nest().stages[s];
        e.loc = stage.op.loc();
        let tile = match sum {
            Sum::Carried(tile) => tile,
            Sum::Kept { view, now, .. } => e.load_row(view, now),
        };
        self.finish(e, frame, (stage, r), Number::Tile(tile), known, state)
    }

    /// A number of the accumulator's type that is combined in this kernel.
    fn finish(
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

    /// Notes a value, and writes it if that is this kernel's to do.
    pub(super) fn made(
        &self,
        e: &mut Emit<'_>,
        frame: &Frame,
        (stage, r): (&Stage<'_>, usize),
        number: Number,
        known: &mut Known,
        state: &mut State,
    ) -> Built<()> {
        let write = &stage.results[r];
        known.made.extend(write.slot.map(|slot| (slot, number)));
        if !stage.copy && self.writes.contains(&write.value) && state.written.insert(write.value) {
            e.store(self.nest(), frame, number, known.view(stage.op, write.value)?, &write.index);
        }
        Ok(())
    }

    // ---- inside all loops

    fn innermost(
        &self,
        e: &mut Emit<'_>,
        frame: &Frame,
        stages: &[usize],
        known: &mut Known,
        state: &mut State,
    ) -> Built<()> {
        let here = |key: &Key| stages.contains(&key.0);
        // All that is kept is read before anything is written: then one pass over the columns does both.
        for (key, sum) in &mut state.sums {
            if let Sum::Kept { view, now, next } = sum
                && here(key)
            {
                *now = e.load_row(*view, *now);
                *next = None;
            }
        }
        for &s in stages {
            let stage = &self.nest().stages[s];
            if stage.results.iter().all(|r| r.slot.is_some_and(|slot| known.made.contains_key(&slot))) {
                continue;
            }
            e.loc = stage.op.loc();
            let args = self.walk.args(e, frame, stage, known)?;
            let numbers = e.scalars(frame, &self.walk.region.facts, (self.nest(), stage), &args)?;
            e.loc = stage.op.loc();
            for (r, number) in numbers.into_iter().enumerate() {
                match stage.scan {
                    _ if stage.reduces() => self.combine(e, frame, (s, r), number, known, state)?,
                    None => self.made(e, frame, (stage, r), number, known, state)?,
                    Some(scan) => {
                        let number = self.scan(e, frame, ((s, r), scan), number, state)?;
                        self.made(e, frame, (stage, r), number, known, state)?;
                    }
                }
            }
        }
        for (key, sum) in &state.sums {
            if let Sum::Kept { view, next: Some(next), .. } = sum
                && here(key)
            {
                let slice = e.row_of(*view);
                StoreOp::build(&mut e.b, e.loc, next.value, slice);
            }
        }
        Ok(())
    }

    /// What is combined so far: within a row, or with what a loop carries from row to row.
    fn scan(
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
    fn combine(
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
        let shape = if along {
            Shape { rows: false, cols: true }
        } else {
            frame.shape(self.nest(), &stage.results[key.1].index)
        };
        let like = match state.sums.get(&key) {
            Some(Sum::Carried(tile) | Sum::Kept { now: tile, .. }) if tile.shape == shape => Some(*tile),
            _ => None,
        };
        let tile = e.realise(frame, number, shape, like);
        let mut tile = e.converted(tile, wide);
        if along {
            let value = ReduceOp::value(&mut e.b, e.loc, combiner, Direction::Cols, tile.value);
            tile = Tile {
                value,
                shape: Shape::SCALAR,
                elem: wide,
                window: Covers::All,
                cached: frame.space != frame.registers,
            };
        }
        let old = match state.sums.get(&key) {
            None => {
                return self.finish(e, frame, (stage, key.1), Number::Tile(tile), known, state);
            }
            Some(Sum::Carried(old) | Sum::Kept { now: old, .. }) => *old,
        };
        let tile = e.in_registers(frame, tile);
        let value = BinaryOp::value(&mut e.b, e.loc, combiner.binary(), old.value, tile.value);
        let sum = Tile { value, ..old };
        match state.sums.get_mut(&key) {
            Some(Sum::Kept { next, .. }) => *next = Some(sum),
            _ => drop(state.sums.insert(key, Sum::Carried(sum))),
        }
        Ok(())
    }
}

/// Number of combinations along `dim`, of those in `stages`, that must be done before each of them.
pub(super) fn phases(
    nest: &Nest<'_>,
    stages: &[usize],
    dim: usize,
    known: &dyn Fn(Value) -> bool,
) -> HashMap<usize, usize> {
    let mut phase: HashMap<usize, usize> = HashMap::new();
    for &s in stages {
        let makers = nest.stages[s].inputs.iter().filter(|read| !known(read.value));
        let after = makers.filter_map(|read| {
            let (maker, _) = nest.made.get(&read.value)?;
            Some(phase.get(maker)? + usize::from(nest.stages[*maker].reduced.contains(&dim)))
        });
        let after = after.max().unwrap_or(0);
        phase.insert(s, after);
    }
    phase
}

/// Those of `stages` from which `wanted` are computed, where some values are known.
pub(super) fn needed(nest: &Nest<'_>, stages: &[usize], wanted: &[usize], known: &Known) -> Vec<usize> {
    needed_unless(nest, stages, wanted, &|v| known.has(nest, v))
}

/// The same where `known` says which values are.
pub(super) fn needed_unless(
    nest: &Nest<'_>,
    stages: &[usize],
    wanted: &[usize],
    known: &dyn Fn(Value) -> bool,
) -> Vec<usize> {
    let mut found: HashSet<usize> = wanted.iter().copied().collect();
    let mut open = wanted.to_vec();
    while let Some(s) = open.pop() {
        for read in nest.stages[s].inputs.iter().filter(|read| !known(read.value)) {
            if let Some((maker, _)) = nest.made.get(&read.value)
                && found.insert(*maker)
            {
                open.push(*maker);
            }
        }
    }
    stages.iter().copied().filter(|s| found.contains(s)).collect()
}

impl Emit<'_> {
    /// Memory of the group, as long as the kernel runs.
    pub(super) fn alloc(&mut self, ty: ViewType) -> Value {
        let cx = self.b.cx();
        let ty = cx.ext_type(ty);
        let loc = self.loc;
        self.at_start(|b| AllocOp::value(b, loc, Scope::Unit, ty))
    }

    /// The index as far from the end as `trip` is from the start.
    pub(super) fn counted_back(&mut self, end: Value, trip: Value) -> Value {
        let cx = self.b.cx();
        let back = cx.affine_binary(AffineOp::Mul, cx.affine_dim(1), cx.affine_const(-1));
        let last = cx.affine_binary(AffineOp::Add, cx.affine_dim(0), cx.affine_const(-1));
        let map = cx.affine_map(2, 0, &[cx.affine_binary(AffineOp::Add, last, back)]);
        IndexOp::value(&mut self.b, self.loc, map, &[end, trip])
    }

    /// All of a view of one dimension, as one row.
    fn row_of(&mut self, view: Value) -> Value {
        let zero = self.constant(0);
        let cx = self.b.cx();
        let ty: &ViewType = cx.type_as(self.b.body().ty(view)).expect("a view");
        self.window(view, &[zero], Some(0), (1.into(), ty.dims[0].clone()))
    }

    fn load_row(&mut self, view: Value, like: Tile) -> Tile {
        let slice = self.row_of(view);
        let ty = self.b.body().ty(like.value);
        let value = sutura_dialects::gir::ops::LoadOp::value(&mut self.b, self.loc, slice, None, ty);
        Tile { value, ..like }
    }

    /// Writes a number as a part.
    fn store_part(&mut self, nest: &Nest<'_>, frame: &Frame, number: Number, to: &Partial) {
        let shape = frame.shape(nest, &to.index);
        let mut offsets = Vec::new();
        let mut col = None;
        for (i, expr) in to.index.iter().enumerate() {
            let at = i + usize::from(i >= to.part.1);
            if frame.col.as_ref().is_some_and(|a| maps::mentions(nest.cx, *expr, a.dim)) {
                col = Some(at as i64);
            }
            offsets.push(self.index(*expr, &|d| frame.value(d)));
        }
        offsets.insert(to.part.1, to.part.0);
        let extents = frame.extents(shape);
        let slice = self.window(to.view, &offsets, col, extents);
        let tile = self.realise(frame, number, shape, None);
        let tile = if shape.cols { tile } else { self.in_registers(frame, tile) };
        StoreOp::build(&mut self.b, self.loc, tile.value, slice);
    }

    /// A window of a view with columns along `col`.
    pub(super) fn window(
        &mut self,
        view: Value,
        offsets: &[Value],
        col: Option<i64>,
        (rows, cols): (Poly, Poly),
    ) -> Value {
        use sutura_dialects::gir::ops::SliceOp;
        use sutura_dialects::gir::types::SliceType;
        let cx = self.b.cx();
        let ty: &ViewType = cx.type_as(self.b.body().ty(view)).expect("a view");
        let ty = cx.ext_type(SliceType { space: ty.space.clone(), elem: ty.elem, rows, cols });
        let state = SliceOp::state(&self.b, self.loc, view, offsets, None, col, ty);
        let op = self.b.create(state);
        self.b.body().result(op, 0)
    }

    /// The space of a view.
    pub(super) fn space_of(&self, view: Value) -> Space {
        self.b.cx().type_as::<ViewType>(self.b.body().ty(view)).expect("a view").space.clone()
    }

    /// Type of the elements of a view.
    pub(super) fn view_elem(&self, view: Value) -> Type {
        self.b.cx().type_as::<ViewType>(self.b.body().ty(view)).expect("a view").elem
    }
}

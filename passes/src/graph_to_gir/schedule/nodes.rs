//! The inside of a kernel, node by node.
//!
//! Numbers that are combined along loops are carried by them, or kept in memory of the group where they have as many elements as
//! a row. What was made stays known to the nodes that follow, up to the end of the loop it was made in.

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;
use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::gir::constraints::{Axis as Direction, Scope};
use sutura_dialects::gir::ops::{AllocOp, BinaryOp, IndexOp, LoadOp, ReduceOp, ScanOp, SliceOp, StoreOp};
use sutura_dialects::gir::types::{SliceType, Space, ViewType};
use sutura_dialects::graph::maps;
use sutura_dialects::schedule::{Bring, Loop, Node, Place, Split, Tile as TileTree, walk};
use sutura_ir::affine::{AffineExpr, AffineOp};
use sutura_ir::{Type, Value};

use super::super::kernel::{Built, Emit};
use super::super::scalars::{accumulator, result_elem, tile_combiner};
use super::super::stages::Known;
use super::super::tiles::{Axis, Covers, Frame, Number, Shape, Tile, zero};
use super::Region;
use super::flow::Key;
use super::near::Near;
use super::ranges::{Range, Ranges};
use crate::region::{Nest, Scan, Stage};

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

/// Where an operand lies that was packed.
pub(super) struct PackedView {
    pub(super) view: Value,
    pub(super) loops: Vec<(usize, Split)>,
}

/// What the nodes of a kernel share.
pub(super) struct Inside<'r, 'a> {
    pub(super) of: Region<'r, 'a>,
    /// What the kernel writes.
    pub(super) writes: Vec<Value>,
    /// Results that are written as parts.
    pub(super) partial: HashMap<Value, Partial>,
    /// Stages whose parts are joined.
    pub(super) joined: HashMap<usize, Joined>,
    /// Operands that were packed before.
    pub(super) packed: HashMap<(usize, usize), PackedView>,
    /// Where an operand is packed.
    pub(super) packs: Option<PackedView>,
}

/// What combines along a loop.
#[derive(Clone)]
enum Sum {
    /// Carried by the loop.
    Carried(Tile),
    /// As many elements as a row: kept in memory, from where it is read at the start of a trip.
    Kept { view: Value, now: Tile, next: Option<Tile> },
}

/// What goes on beside the values that are known.
#[derive(Default)]
pub(super) struct State {
    sums: IndexMap<Key, Sum>,
    written: HashSet<Value>,
    /// Operands in memory of the group.
    near: HashMap<(usize, usize), Near>,
}

impl<'a> Inside<'_, 'a> {
    fn nest(&self) -> &Nest<'a> {
        self.of.nest
    }

    fn stage(&self, place: &Place) -> &Stage<'a> {
        &self.nest().stages[place.stage.number]
    }

    /// Emits nodes, one after another.
    pub(super) fn nodes(
        &self,
        e: &mut Emit<'_>,
        ranges: &Ranges,
        mut nodes: &[Node],
        known: &mut Known,
        state: &mut State,
    ) -> Built<()> {
        while let Some(node) = nodes.first() {
            let alike = nodes.iter().take_while(|n| std::mem::discriminant(*n) == std::mem::discriminant(node)).count();
            let (run, rest) = match node {
                Node::Place(_) | Node::Join(_) => nodes.split_at(alike),
                _ => nodes.split_at(1),
            };
            nodes = rest;
            let places = || {
                run.iter().filter_map(|n| match n {
                    Node::Place(place) | Node::Join(place) => Some(place),
                    _ => None,
                })
            };
            match node {
                Node::Place(_) => self.places(e, ranges, &places().collect::<Vec<_>>(), known, state)?,
                Node::Join(_) => self.join(e, ranges, &places().collect::<Vec<_>>(), known, state)?,
                Node::Loop(l) => self.one_loop(e, ranges, l, known, state)?,
                Node::Operand(operand) if operand.to == Bring::Cache => {
                    let near = self.of.bring_near(e, ranges, operand, known)?;
                    state.near.insert((operand.stage.number, operand.input), near);
                }
                Node::Operand(operand) => {
                    let frame = self.of.frame(e, ranges, &operand.tile);
                    let stage = &self.nest().stages[operand.stage.number];
                    e.loc = stage.op.loc();
                    let number = self.of.arg(e, &frame, (stage.op, &stage.inputs[operand.input]), known)?;
                    if operand.to == Bring::Pack {
                        self.pack(e, ranges, &frame, number);
                    }
                }
            }
        }
        Ok(())
    }

    // ---- loops

    fn one_loop(&self, e: &mut Emit<'_>, ranges: &Ranges, l: &Loop, known: &mut Known, state: &mut State) -> Built<()> {
        let dim = l.dim.0;
        let mut inside: Vec<&Place> = Vec::new();
        walk(&l.body, &mut |node| {
            if let Node::Place(place) = node
                && inside.iter().all(|other| other.stage.number != place.stage.number)
            {
                inside.push(place);
            }
        });
        inside.sort_by_key(|place| place.stage.number);
        let mut started = Vec::new();
        for place in &inside {
            let stage = self.stage(place);
            for key in self.of.keys(place.stage.number) {
                if stage.combines_along(dim) && !state.sums.contains_key(&key) {
                    let frame = self.of.frame(e, ranges, &place.tile);
                    let sum = self.start(e, &frame, stage, key.1)?;
                    state.sums.insert(key, sum);
                    started.push((key, *place));
                }
            }
        }
        if self.of.region.facts.range(&self.nest().extents[dim]).1 > 0 {
            self.trips(e, ranges, (l, &inside), known, state)?;
        }
        for (key, place) in started {
            let sum = state.sums.shift_remove(&key).expect("put there above");
            // What is combined as it goes has been made on the way.
            if self.stage(place).scan.is_some() {
                continue;
            }
            let frame = self.of.frame(e, ranges, &place.tile);
            e.loc = self.stage(place).op.loc();
            let tile = match sum {
                Sum::Carried(tile) => tile,
                Sum::Kept { view, now, .. } => e.load_row(view, now),
            };
            self.finish(e, &frame, (self.stage(place), key.1), Number::Tile(tile), known, state)?;
        }
        Ok(())
    }

    /// The trips of a loop, which carry what is combined in it.
    fn trips(
        &self,
        e: &mut Emit<'_>,
        ranges: &Ranges,
        (l, inside): (&Loop, &[&Place]),
        known: &Known,
        state: &mut State,
    ) -> Built<()> {
        let dim = l.dim.0;
        let here = |key: &Key| inside.iter().any(|place| place.stage.number == key.0);
        let carried = state.sums.iter().filter_map(|(key, sum)| match sum {
            Sum::Carried(tile) if here(key) => Some((*key, tile.value)),
            _ => None,
        });
        let (keys, inits): (Vec<Key>, Vec<Value>) = carried.unzip();
        let (range, by_index) = (ranges.0[dim], l.split == Split::One);
        let bounds = match by_index {
            true => self.of.bounds(e, dim, range),
            false => {
                let count = self.of.tiles_of(l, range)?;
                (e.constant(0), e.size(&count))
            }
        };
        let carry = |state: &mut State, values: &[Value]| {
            for (key, value) in keys.iter().zip(values) {
                if let Some(Sum::Carried(tile)) = state.sums.get_mut(key) {
                    tile.value = *value;
                }
            }
        };
        let ends = e.for_range(bounds, &inits, &mut |e, trip, values| {
            let range = match (range, l.split) {
                (_, Split::One) => Range::Index(self.at_trip(e, (dim, inside), trip, bounds.1)),
                (Range::Tile { base, .. }, Split::By(by)) => {
                    Range::Tile { trip, base: e.scaled(trip, by, Some(base)), by }
                }
                _ => Ranges::of_trip(e, l, trip),
            };
            carry(state, values);
            let near = state.near.clone();
            self.nodes(e, &ranges.with(dim, range), &l.body, &mut known.of_part(self.nest(), dim), state)?;
            state.near = near;
            let next = keys.iter().map(|key| match &state.sums[key] {
                Sum::Carried(tile) => tile.value,
                Sum::Kept { .. } => unreachable!("what is carried stays so"),
            });
            Ok(next.collect())
        })?;
        carry(state, &ends);
        Ok(())
    }

    /// The index of a trip: where something runs backward, the first trip has the last index.
    fn at_trip(&self, e: &mut Emit<'_>, (dim, inside): (usize, &[&Place]), trip: Value, end: Value) -> Value {
        let backward = |place: &&Place| self.stage(place).scan.is_some_and(|scan| scan.dim == dim && scan.reverse);
        if inside.iter().any(backward) { e.counted_back(end, trip) } else { trip }
    }

    // ---- what is combined

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
    fn made(
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

    /// The sums of all parts, one after another.
    fn join(
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

    // ---- stages

    fn places(
        &self,
        e: &mut Emit<'_>,
        ranges: &Ranges,
        places: &[&Place],
        known: &mut Known,
        state: &mut State,
    ) -> Built<()> {
        let here = |key: &Key| places.iter().any(|place| place.stage.number == key.0);
        // All that is kept is read before anything is written: then one pass over the columns does both.
        for (key, sum) in &mut state.sums {
            if let Sum::Kept { view, now, next } = sum
                && here(key)
            {
                *now = e.load_row(*view, *now);
                *next = None;
            }
        }
        for place in places {
            let stage = self.stage(place);
            if stage.results.iter().all(|r| r.slot.is_some_and(|slot| known.made.contains_key(&slot))) {
                continue;
            }
            let frame = self.of.frame(e, ranges, &place.tile);
            if place.contract {
                self.contract(e, ranges, (place, &frame), known, state)?;
                continue;
            }
            let numbers = self.of.numbers(e, &frame, stage, known)?;
            e.loc = stage.op.loc();
            for (r, number) in numbers.into_iter().enumerate() {
                let key = (place.stage.number, r);
                match stage.scan {
                    _ if stage.reduces() => self.combine(e, &frame, key, number, known, state)?,
                    None => self.made(e, &frame, (stage, r), number, known, state)?,
                    Some(scan) => {
                        let number = self.scan(e, &frame, (key, scan), number, state)?;
                        self.made(e, &frame, (stage, r), number, known, state)?;
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
        if along && tile.window == Covers::All && self.reaches_beyond(frame) {
            // A number that is the same in each column, or counts them, does not end where columns do.
            let Axis { dim, .. } = frame.col.as_ref().expect("it is combined along the columns");
            let inside = e.in_range(frame, cx.affine_dim(*dim as u32), &self.nest().extents[*dim]);
            let nothing = Number::Constant(stage.combiners[key.1].identity(cx, wide), wide);
            let number = e.where_all(frame, &[inside], Number::Tile(tile), nothing);
            tile = e.realise(frame, number, shape, None);
        }
        if along {
            let value = ReduceOp::value(&mut e.b, e.loc, combiner, Direction::Cols, tile.value);
            let cached = frame.space != frame.registers;
            tile = Tile { value, shape: Shape::SCALAR, elem: wide, window: Covers::All, cached };
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

    /// True when the last tile of columns has more than there are.
    fn reaches_beyond(&self, frame: &Frame) -> bool {
        let Some(col) = frame.col.as_ref() else { return false };
        let (extent, by) = (&self.nest().extents[col.dim], col.extent.as_const());
        let whole = self.of.region.facts.prove_equal(&col.extent, extent);
        !whole && by.is_none_or(|by| !self.of.region.facts.divisible(extent, by))
    }

    // ---- products

    /// One contraction of a column of one factor and a row of the other.
    fn contract(
        &self,
        e: &mut Emit<'_>,
        ranges: &Ranges,
        (place, frame): (&Place, &Frame),
        known: &mut Known,
        state: &mut State,
    ) -> Built<()> {
        use sutura_dialects::gir::ops::ContractOp;
        let (stage, key) = (self.stage(place), (place.stage.number, 0));
        e.loc = stage.op.loc();
        let col = place.tile.cols.map_or(usize::MAX, |dim| dim.0);
        let rhs = usize::from(!self.nest().mentions(&stage.inputs[0], col));
        let rows = TileTree { cols: None, ..place.tile.clone() };
        let cols = TileTree { rows: None, ..place.tile.clone() };
        let near = state.near.get(&(key.0, 1 - rhs)).cloned();
        let a = match &near {
            Some(near) => {
                let frame = self.of.frame(e, ranges, &rows);
                self.of.load_near(e, ranges, &frame, near)?
            }
            None => self.factor(e, ranges, (place, 1 - rhs), &rows, known)?,
        };
        let b = self.factor(e, ranges, (place, rhs), &cols, known)?;
        let sum = match state.sums.get(&key) {
            Some(Sum::Carried(sum)) => *sum,
            _ => {
                let zero = zero(self.nest().cx, self.of.elem(key, true));
                e.fill(frame, zero, self.of.elem(key, true), Shape { rows: frame.row.is_some(), cols: true })
            }
        };
        let value = ContractOp::value(&mut e.b, e.loc, a, b, sum.value);
        // Of what is packed all columns exist, and all rows; of what is read as it lies columns are whole.
        let window = if near.is_some() { Covers::All } else { Covers::Rows };
        let sum = Tile { value, window, ..sum };
        match state.sums.get_mut(&key) {
            Some(entry) => *entry = Sum::Carried(sum),
            None => self.finish(e, frame, (stage, 0), Number::Tile(sum), known, state)?,
        }
        Ok(())
    }

    /// The tile of a factor: of what was packed, or of the tensor.
    fn factor(
        &self,
        e: &mut Emit<'_>,
        ranges: &Ranges,
        (place, input): (&Place, usize),
        tile: &TileTree,
        known: &Known,
    ) -> Built<Value> {
        let (stage, frame) = (self.stage(place), self.of.frame(e, ranges, tile));
        let shape = Shape { rows: frame.row.is_some(), cols: frame.col.is_some() };
        if let Some(packed) = self.packed.get(&(place.stage.number, input)) {
            let (rows, cols) = frame.extents(shape);
            let slice = self.packed_slice(e, packed, ranges, (rows, cols));
            let elem = self.of.elem((place.stage.number, 0), false);
            let ty = self.nest().cx.ext_type(frame.tile_type(shape, elem));
            return Ok(LoadOp::value(&mut e.b, e.loc, slice, None, ty));
        }
        let access = &stage.inputs[input];
        let read = e.load(self.nest(), &frame, known.view(stage.op, access.value)?, &access.index, None);
        Ok(e.realise(&frame, Number::Tile(read), shape, None).value)
    }

    /// Writes what is packed.
    fn pack(&self, e: &mut Emit<'_>, ranges: &Ranges, frame: &Frame, number: Number) {
        let packed = self.packs.as_ref().expect("a kernel that packs has memory for it");
        let shape = Shape { rows: false, cols: frame.col.is_some() };
        let tile = e.realise(frame, number, shape, None);
        let slice = self.packed_slice(e, packed, ranges, frame.extents(shape));
        StoreOp::build(&mut e.b, e.loc, tile.value, slice);
    }

    /// The part of a packed operand at the place of the loops that it was packed in.
    fn packed_slice(&self, e: &mut Emit<'_>, packed: &PackedView, ranges: &Ranges, extents: (Poly, Poly)) -> Value {
        let at = |(dim, split): &(usize, Split)| match (ranges.0[*dim], split) {
            (Range::Tile { trip, .. } | Range::Block { trip, .. } | Range::Part { trip, .. }, _) => trip,
            (Range::Index(index), _) => index,
            (Range::Whole, _) => unreachable!("the loops that an operand was packed in are around where it is read"),
        };
        let mut offsets: Vec<Value> = packed.loops.iter().map(at).collect();
        offsets.push(e.constant(0));
        e.window(packed.view, &offsets, Some(offsets.len() as i64 - 1), extents)
    }
}

impl Emit<'_> {
    /// Memory of the group, as long as the kernel runs.
    pub(in super::super) fn alloc(&mut self, ty: ViewType) -> Value {
        let cx = self.b.cx();
        let ty = cx.ext_type(ty);
        let loc = self.loc;
        self.at_start(|b| AllocOp::value(b, loc, Scope::Unit, ty))
    }

    /// The index as far from the end as `trip` is from the start.
    pub(in super::super) fn counted_back(&mut self, end: Value, trip: Value) -> Value {
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
        let value = LoadOp::value(&mut self.b, self.loc, slice, None, ty);
        Tile { value, ..like }
    }

    /// Offsets of a part of a value, and which of them is along the columns.
    fn part_offsets(
        &mut self,
        nest: &Nest<'_>,
        frame: &Frame,
        index: &[AffineExpr],
        part: Value,
    ) -> (Vec<Value>, Option<i64>) {
        let (mut offsets, mut col) = (vec![part], None);
        for expr in index {
            if frame.col.as_ref().is_some_and(|a| maps::mentions(nest.cx, *expr, a.dim)) {
                col = Some(offsets.len() as i64);
            }
            offsets.push(self.index(*expr, &|d| frame.value(d)));
        }
        (offsets, col)
    }

    /// Writes a number as a part.
    fn store_part(&mut self, nest: &Nest<'_>, frame: &Frame, number: Number, to: &Partial) {
        let shape = frame.shape(nest, &to.index);
        let (offsets, col) = self.part_offsets(nest, frame, &to.index, to.part);
        let slice = self.window(to.view, &offsets, col, frame.extents(shape));
        let tile = self.realise(frame, number, shape, None);
        let tile = if shape.cols { tile } else { self.in_registers(frame, tile) };
        StoreOp::build(&mut self.b, self.loc, tile.value, slice);
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
        let (offsets, col) = self.part_offsets(nest, frame, index, part);
        let slice = self.window(view, &offsets, col, frame.extents(like.shape));
        let pad = like.shape.cols.then(|| zero(nest.cx, like.elem));
        let ty = self.b.body().ty(like.value);
        LoadOp::value(&mut self.b, self.loc, slice, pad, ty)
    }

    /// A window of a view with columns along `col`.
    pub(in super::super) fn window(
        &mut self,
        view: Value,
        offsets: &[Value],
        col: Option<i64>,
        (rows, cols): (Poly, Poly),
    ) -> Value {
        let cx = self.b.cx();
        let ty: &ViewType = cx.type_as(self.b.body().ty(view)).expect("a view");
        let ty = cx.ext_type(SliceType { space: ty.space.clone(), elem: ty.elem, rows, cols });
        let state = SliceOp::state(&self.b, self.loc, view, offsets, None, col, ty);
        let op = self.b.create(state);
        self.b.body().result(op, 0)
    }

    /// The space of a view.
    pub(in super::super) fn space_of(&self, view: Value) -> Space {
        self.b.cx().type_as::<ViewType>(self.b.body().ty(view)).expect("a view").space.clone()
    }

    /// Type of the elements of a view.
    pub(in super::super) fn view_elem(&self, view: Value) -> Type {
        self.b.cx().type_as::<ViewType>(self.b.body().ty(view)).expect("a view").elem
    }
}

//! The inside of a kernel, node by node.
//!
//! Numbers that are combined along loops are carried by them, or kept in memory of the group where they have as many elements as
//! a row. What was made stays known to the nodes that follow, up to the end of the loop it was made in.

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;
use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::gir::constraints::Scope;
use sutura_dialects::gir::ops::{AllocOp, IndexOp, SliceOp, StoreOp, SyncOp};
use sutura_dialects::gir::types::{SliceType, ViewType};
use sutura_dialects::schedule::{Bring, Loop, Node, Operand, Place, Split, walk};
use sutura_ir::affine::AffineOp;
use sutura_ir::{Type, Value};

use super::super::kernel::{Built, Emit};
use super::super::stages::Known;
use super::super::tiles::{Frame, Number};
use super::Region;
use super::flow::Key;
use super::near::Near;
use super::parts::{Joined, Partial};
use super::products::PackedView;
use super::ranges::{Range, Ranges};
use super::sums::Sum;
use crate::region::{Nest, Stage};

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
    /// The units of a group, where it has several.
    pub(super) units: Option<Units>,
}

/// The units of a group.
pub(super) struct Units {
    /// The dim that they share.
    pub(super) dim: usize,
    /// The number of the unit.
    pub(super) unit: Value,
    pub(super) count: i64,
    /// What the group has of the dim.
    pub(super) around: Range,
}

/// What goes on beside the values that are known.
#[derive(Default)]
pub(super) struct State {
    pub(super) sums: IndexMap<Key, Sum>,
    written: HashSet<Value>,
    /// Operands in memory of the group.
    pub(super) near: HashMap<(usize, usize), Near>,
    /// Memory of the group for a value, by its number, while its maker is emitted.
    filled: HashMap<usize, Near>,
}

impl<'a> Inside<'_, 'a> {
    pub(super) fn nest(&self) -> &Nest<'a> {
        self.of.nest
    }

    pub(super) fn stage(&self, place: &Place) -> &Stage<'a> {
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
        let mut shared = false;
        while let Some(node) = nodes.first() {
            // What units bring near for each other is there when all have brought their share.
            if shared && !self.is_shared(node) {
                SyncOp::build(&mut e.b, e.loc);
            }
            shared = self.is_shared(node);
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
                    let near = match &self.units {
                        Some(units) if self.is_shared(node) => {
                            let packed = self.packed.get(&(operand.stage.number, operand.input));
                            self.of.bring_shared(e, ranges, (operand, packed), known, units)?
                        }
                        _ if operand.body.is_empty() => self.of.bring_near(e, ranges, operand, known)?,
                        _ => self.make_near(e, ranges, operand, known, state)?,
                    };
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

    /// True for an operand that a group's units bring near together.
    fn is_shared(&self, node: &Node) -> bool {
        let shared = self.of.region.machine.group_space();
        matches!(node, Node::Operand(operand) if operand.to == Bring::Cache && shared.is_some_and(|s| **s == *operand.tile.space))
    }

    /// An operand in memory of the group, made there.
    fn make_near(
        &self,
        e: &mut Emit<'_>,
        ranges: &Ranges,
        operand: &Operand,
        known: &Known,
        state: &mut State,
    ) -> Built<Near> {
        let near = self.of.near_for(e, ranges, operand)?;
        let slot = self.nest().stages[operand.stage.number].inputs[operand.input].slot;
        let slot = slot.expect("what has a body is made in the region");
        let outer = state.filled.insert(slot, near.clone());
        self.nodes(e, ranges, &operand.body, &mut known.of_memory(), state)?;
        state.filled.remove(&slot);
        state.filled.extend(outer.map(|outer| (slot, outer)));
        Ok(near)
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
                if stage.scatter.is_none() && stage.combines_along(dim) && !state.sums.contains_key(&key) {
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
                // What is packed in tiles of a dim counts them from its start.
                _ => {
                    let packed = self.packed.values().flat_map(|packed| &packed.loops).any(|(d, _)| *d == dim);
                    Ranges::within(e, l, (range, trip), packed)
                }
            };
            carry(state, values);
            let near = state.near.clone();
            self.nodes(e, &ranges.with(dim, range), &l.body, &mut known.of_part(self.nest(), dim), state)?;
            state.near = near;
            // The next trip brings something else near.
            if l.body.iter().any(|node| self.is_shared(node)) {
                SyncOp::build(&mut e.b, e.loc);
            }
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
        if let Some(near) = write.slot.and_then(|slot| state.filled.get(&slot)) {
            self.of.store_near(e, frame, number, near)?;
        }
        if !stage.copy && self.writes.contains(&write.value) && state.written.insert(write.value) {
            e.store(self.nest(), frame, number, known.view(stage.op, write.value)?, &write.index);
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
            if let Some(scatter) = &stage.scatter {
                self.scatter(e, &frame, (stage, scatter), numbers, known)?;
                continue;
            }
            if let Some(joint) = stage.joint {
                self.join_states(e, &frame, (place.stage.number, joint), &numbers, known, state)?;
                continue;
            }
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
}

impl Emit<'_> {
    /// Memory of a unit, or of the group, as long as the kernel runs.
    pub(in super::super) fn alloc(&mut self, scope: Scope, ty: ViewType) -> Value {
        let cx = self.b.cx();
        let ty = cx.ext_type(ty);
        let loc = self.loc;
        self.at_start(|b| AllocOp::value(b, loc, scope, ty))
    }

    /// The index as far from the end as `trip` is from the start.
    pub(in super::super) fn counted_back(&mut self, end: Value, trip: Value) -> Value {
        let cx = self.b.cx();
        let back = cx.affine_binary(AffineOp::Mul, cx.affine_dim(1), cx.affine_const(-1));
        let last = cx.affine_binary(AffineOp::Add, cx.affine_dim(0), cx.affine_const(-1));
        let map = cx.affine_map(2, 0, &[cx.affine_binary(AffineOp::Add, last, back)]);
        IndexOp::value(&mut self.b, self.loc, map, &[end, trip])
    }

    /// A window of a view with rows and columns along some of its dimensions.
    pub(in super::super) fn window(
        &mut self,
        view: Value,
        offsets: &[Value],
        (row, col): (Option<i64>, Option<i64>),
        (rows, cols): (Poly, Poly),
    ) -> Value {
        let cx = self.b.cx();
        let ty: &ViewType = cx.type_as(self.b.body().ty(view)).expect("a view");
        let ty = cx.ext_type(SliceType { space: ty.space.clone(), elem: ty.elem, rows, cols });
        let state = SliceOp::state(&self.b, self.loc, view, offsets, row, col, ty);
        let op = self.b.create(state);
        self.b.body().result(op, 0)
    }

    /// Type of the elements of a view.
    pub(in super::super) fn view_elem(&self, view: Value) -> Type {
        self.b.cx().type_as::<ViewType>(self.b.body().ty(view)).expect("a view").elem
    }
}

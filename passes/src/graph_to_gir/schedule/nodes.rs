//! The inside of a kernel, node by node.
//!
//! Numbers that are combined along loops are carried by them, or kept in memory of the group where they have as many elements as
//! a row. What was made stays known to the nodes that follow, up to the end of the loop it was made in.

use std::collections::{HashMap, HashSet};

use indexmap::IndexMap;
use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::gir::constraints::Scope;
use sutura_dialects::gir::ops::{AllocOp, IndexOp, SliceOp, SyncOp};
use sutura_dialects::gir::types::{SliceType, ViewType};
use sutura_dialects::schedule::{Bring, Loop, Node, Place, Split, walk};
use sutura_ir::affine::AffineOp;
use sutura_ir::{Type, Value};

use super::super::kernel::{Built, Emit};
use super::super::stages::Known;
use super::super::tiles::{Covers, Frame, Number, Target, Tile};
use super::caches::Said;
use super::copies::{asynchronous, is_asynchronous};
use super::flow::Key;
use super::near::Near;
use super::online::{Online, Running};
use super::parts::{Joined, Partial};
use super::products::PackedView;
use super::ranges::{Counted, Range, Ranges};
use super::sums::Sum;
use super::{REFUSED, Region};
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
    /// Dims whose tiles are counted from the start of the dim.
    pub(super) counted: Vec<usize>,
    /// The units of a group, where it has several.
    pub(super) units: Option<Units>,
    /// What is said of the caches.
    pub(super) said: Said,
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
    /// Those that are kept in memory, and that the loop that is emitted carries meanwhile.
    pub(super) borrowed: Vec<Key>,
    written: HashSet<Value>,
    /// Slices of outputs in which a tile lives that is known.
    pub(super) homes: HashMap<Value, Value>,
    /// Operands in memory of the group.
    pub(super) near: HashMap<(usize, usize), Near>,
    /// Operands in panels in memory of the group.
    pub(super) panels: HashMap<(usize, usize), PackedView>,
    /// Whether all of an operand in panels is finite, where a loop asks for it.
    pub(super) finite: HashMap<(usize, usize), Value>,
    /// Memory of the group for a value, by its number, while its maker is emitted.
    pub(super) filled: HashMap<usize, Near>,
    /// Memory of a value near that is made last, until then for what it is made of.
    pub(super) lent: Option<Near>,
    /// Values that are read behind what is made near.
    pub(super) behind: Vec<usize>,
    /// Values that were made near in the loop or body that is emitted.
    pub(super) own: Vec<usize>,
    /// An extreme that is used while it is combined.
    pub(super) online: Option<Running>,
    /// What was online in the loop that ends.
    pub(super) ends: Option<Online>,
    /// Operands that units brought near for each other in the loop or body that is emitted.
    pub(super) brought: Vec<(usize, usize)>,
    /// What was read ahead of operands, in registers.
    pub(super) ahead: HashMap<(usize, usize), Tile>,
    /// Operands that are on their way to memory of the group, the oldest one first.
    pub(super) flight: Vec<((usize, usize), Near)>,
    /// What the next trip has of each dim, for the nodes of a loop that are emitted next.
    pub(super) next_trip: Option<Ranges>,
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
        let (list, next_trip, mut waits) = (nodes, state.next_trip.take(), false);
        let mut copied = next_trip.as_ref().map_or(vec![], |_| asynchronous(list));
        while let Some(node) = nodes.first() {
            // What units bring near for each other is there when all have brought their share.
            if waits && !self.is_shared(node) {
                SyncOp::build(&mut e.b, e.loc);
                waits = false;
            }
            waits |= self.is_for_others(node);
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
                    state.behind = self.read_in(nodes);
                    self.cache(e, ranges, (operand, nodes), known, state)?;
                    if self.is_shared(node) && !nodes.first().is_some_and(|next| self.is_shared(next)) {
                        self.read_next(e, (ranges, nodes), (next_trip.as_ref(), list), known, state)?;
                    }
                }
                Node::Operand(operand) => self.operand(e, ranges, operand, known, state)?,
            }
            let done = list.len() - nodes.len();
            let over: Vec<_> = copied.extract_if(.., |copy| copy.last < done).collect();
            if let Some(next) = next_trip.as_ref().filter(|_| !over.is_empty()) {
                self.copy_next(e, next, &over, known, state)?;
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
        let online = Online::of(self.nest(), l).or_else(|why| Emit::unsupported(self.of.region.op, &why))?;
        let mut started = Vec::new();
        for place in &inside {
            let stage = self.stage(place);
            for key in self.of.keys(place.stage.number) {
                if stage.scatter.is_none() && stage.combines_along(dim) && !state.sums.contains_key(&key) {
                    let path = self.between(l, place);
                    let sum = self.start(e, ranges, (place, key), (&path, l))?;
                    state.sums.insert(key, sum);
                    started.push((key, *place, path));
                }
            }
        }
        let outer = online.clone().map(|online| state.online.replace(Running::new(online)));
        // In a part of a dim there is something, or nothing comes here.
        let part = !matches!(ranges.0[dim], Range::Whole | Range::Index(_));
        if part || self.of.region.facts.range(&self.nest().extents[dim]).1 > 0 {
            let started: Vec<Key> = started.iter().map(|(key, ..)| *key).collect();
            let borrowed = self.borrow(e, ranges, (l, &inside, &started), state)?;
            self.trips(e, ranges, (l, &inside), known, state)?;
            state.borrowed.retain(|key| borrowed.iter().all(|(own, ..)| own != key));
            self.give_back(e, ranges, borrowed, state)?;
        }
        if let Some(outer) = outer {
            state.online = outer;
        }
        let outer = std::mem::replace(&mut state.ends, online);
        for (key, place, path) in started {
            let sum = state.sums.shift_remove(&key).expect("put there above");
            // What is combined as it goes has been made on the way.
            if self.stage(place).scan.is_none() {
                self.end(e, ranges, (place, key, sum), &path, known, state)?;
            }
        }
        state.ends = outer;
        Ok(())
    }

    /// The loops between a loop and a place in it that run over dims of what is made there.
    fn between<'l>(&self, l: &'l Loop, place: &Place) -> Vec<&'l Loop> {
        let stage = self.stage(place);
        let parallel = |l: &&Loop| stage.parallel().any(|dim| dim == l.dim.0) && !stage.combines_along(l.dim.0);
        path_to(&l.body, place.stage.number).unwrap_or_default().into_iter().filter(parallel).collect()
    }

    /// Of what is kept in memory a loop carries what it combines in one tile in registers.
    fn borrow<'p>(
        &self,
        e: &mut Emit<'_>,
        ranges: &Ranges,
        (l, inside, started): (&Loop, &[&'p Place], &[Key]),
        state: &mut State,
    ) -> Built<Vec<(Key, &'p Place, Sum)>> {
        let mut borrowed = Vec::new();
        for place in inside {
            let (stage, frame) = (self.stage(place), self.of.frame(e, ranges, &place.tile));
            for key in self.of.keys(place.stage.number) {
                if started.contains(&key) || !stage.combines_along(l.dim.0) || !self.between(l, place).is_empty() {
                    continue;
                }
                let sum = match state.sums.get(&key) {
                    Some(Sum::Carried(sum)) => *sum,
                    Some(Sum::Kept { near, .. }) if frame.space == frame.registers || place.tile.cols.is_none() => {
                        self.of.load_near(e, &frame, near)?
                    }
                    _ => continue,
                };
                let sum = self.rescaled(e, &frame, key, sum, state);
                let kept = state.sums.insert(key, Sum::Carried(sum)).expect("it is there");
                if matches!(kept, Sum::Kept { .. }) {
                    state.borrowed.push(key);
                    borrowed.push((key, *place, kept));
                }
            }
        }
        Ok(borrowed)
    }

    fn give_back(
        &self,
        e: &mut Emit<'_>,
        ranges: &Ranges,
        borrowed: Vec<(Key, &Place, Sum)>,
        state: &mut State,
    ) -> Built<()> {
        for (key, place, kept) in borrowed {
            let frame = self.of.frame(e, ranges, &place.tile);
            if let (Some(Sum::Carried(sum)), Sum::Kept { near, .. }) = (state.sums.insert(key, kept.clone()), &kept) {
                self.of.store_near(e, &frame, Number::Tile(sum), near)?;
            }
        }
        Ok(())
    }

    /// Goes along loops, and does something in the innermost one.
    pub(super) fn along(
        &self,
        e: &mut Emit<'_>,
        ranges: &Ranges,
        path: &[&Loop],
        inside: &mut dyn FnMut(&mut Emit<'_>, &Ranges) -> Built<()>,
    ) -> Built<()> {
        let Some((l, rest)) = path.split_first() else { return inside(e, ranges) };
        let range = ranges.0[l.dim.0];
        let bounds = self.bounds_of(e, ranges, l)?;
        e.unroll = l.unroll;
        e.for_range(bounds, &[], &mut |e, trip, _| {
            let range = self.range_of(e, l, (range, trip));
            self.along(e, &ranges.with(l.dim.0, range), rest, inside)?;
            Ok(vec![])
        })?;
        Ok(())
    }

    /// The trips of a loop: from one number to below another.
    fn bounds_of(&self, e: &mut Emit<'_>, ranges: &Ranges, l: &Loop) -> Built<(Value, Value)> {
        let range = ranges.0[l.dim.0];
        if l.inside {
            return self.of.bounds_inside(e, ranges, l);
        }
        if l.split == Split::One {
            return Ok(self.of.bounds(e, l.dim.0, range));
        }
        if self.ends_with_dim(l, range)
            && let Some(bounds) = self.of.ending_bounds(e, l, range)
        {
            return Ok(bounds);
        }
        let count = self.of.tiles_of(l, range)?;
        if let (Range::Needed { .. }, Split::By(by)) = (range, l.split) {
            return Ok((e.constant(0), self.of.last_needed(e, range, (&count, by))));
        }
        Ok((e.constant(0), e.size(&count)))
    }

    /// What a trip has of a dim. What is packed in tiles of a dim counts them from its start.
    pub(super) fn range_of(&self, e: &mut Emit<'_>, l: &Loop, (range, trip): (Range, Value)) -> Range {
        let dim = l.dim.0;
        let packed = || self.packed.values().flat_map(|packed| &packed.loops).any(|l| l.dim == dim);
        match (l.split, range) {
            (Split::One, Range::Needed { .. }) => {
                self.of.within(e, l, (range, trip), Counted { absolute: false, ending: false })
            }
            (Split::One, _) => Range::Index(trip),
            _ => {
                let absolute = self.counted.contains(&dim) || packed();
                self.of.within(e, l, (range, trip), Counted { absolute, ending: self.ends_with_dim(l, range) })
            }
        }
    }

    /// Units of a group make as many trips as the others.
    fn ends_with_dim(&self, l: &Loop, range: Range) -> bool {
        self.units.is_none() && self.of.ends_with_dim(l, range)
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
        let (keys, mut inits): (Vec<Key>, Vec<Value>) = carried.unzip();
        let range = ranges.0[dim];
        let bounds = match l.split {
            Split::By(by) if l.reach => self.bounds_reached(e, ranges, (l, by), known, state)?,
            _ => self.bounds_of(e, ranges, l)?,
        };
        let ahead = self.wait_in_registers(e, ranges, (l, bounds.0), known, &mut inits)?;
        let copied = asynchronous(&l.body);
        self.copy_first(e, ranges, (l, bounds.0), (&copied, known), state)?;
        let carry = |state: &mut State, values: &[Value]| {
            for (key, value) in keys.iter().zip(values) {
                if let Some(Sum::Carried(tile)) = state.sums.get_mut(key) {
                    tile.value = *value;
                }
            }
        };
        e.unroll = l.unroll;
        let ends = e.for_range(bounds, &inits, &mut |e, trip, values| {
            let trip = if l.split == Split::One { self.at_trip(e, (dim, inside), trip, bounds.1) } else { trip };
            let range = self.range_of(e, l, (range, trip));
            carry(state, values);
            let waiting = ahead.iter().zip(&values[keys.len()..]);
            state.ahead.extend(waiting.map(|((at, tile), value)| (*at, Tile { value: *value, ..*tile })));
            state.next_trip = (!ahead.is_empty() || !copied.is_empty()).then(|| self.of_next_trip(e, ranges, l, trip));
            let ranges = ranges.with(dim, range);
            self.inside(state, |state| self.nodes(e, &ranges, &l.body, &mut known.of_part(self.nest(), dim), state))?;
            // The next trip brings something else near.
            if l.body.iter().any(|node| self.is_for_others(node) && !is_asynchronous(node)) {
                SyncOp::build(&mut e.b, e.loc);
            }
            let read = ahead.iter().map(|(at, _)| state.ahead.remove(at).expect("read by a trip for the next").value);
            let read: Vec<Value> = read.collect();
            let next = keys.iter().map(|key| match &state.sums[key] {
                Sum::Carried(tile) => tile.value,
                Sum::Kept { .. } => unreachable!("what is carried stays so"),
            });
            Ok(next.chain(read).collect())
        })?;
        self.land_all(e, &copied, state);
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
        let number = self.at_home(e, frame, (stage, write.value), number, (known, state))?;
        known.made.extend(write.slot.map(|slot| (slot, number)));
        if let Some(near) = write.slot.and_then(|slot| state.filled.get(&slot)) {
            if matches!(number, Number::Tile(tile) if tile.window != Covers::All) {
                let message =
                    format!("{REFUSED}: it keeps tiles near that may reach beyond a tensor, and are not padded");
                return Emit::unsupported(self.of.region.op, &message);
            }
            let number = match near.nothing {
                Some(extreme) => self.ended(e, frame, extreme, number),
                None if near.is_shared() => self.zero_beyond(e, frame, write, number, state),
                None => number,
            };
            self.of.store_near(e, frame, number, near)?;
        }
        if !stage.copy && self.writes.contains(&write.value) && state.written.insert(write.value) {
            let to = Target {
                slice: state.homes.remove(&write.value),
                clauses: self.said.of_store(write.value),
                ..Target::of(known.view(stage.op, write.value)?, &write.index)
            };
            e.store(self.nest(), frame, number, to);
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
        // All that is kept is read before anything is written: then one pass over the columns does both.
        let frame_of = |e: &mut Emit<'_>, key: &Key| {
            let place = places.iter().find(|place| place.stage.number == key.0);
            place.map(|place| self.of.frame(e, ranges, &place.tile))
        };
        for (key, sum) in &mut state.sums {
            if let Sum::Kept { near, now, next } = sum
                && let Some(frame) = frame_of(e, key)
            {
                (*now, *next) = (Some(self.of.load_near(e, &frame, near)?), None);
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
            self.read_near(e, ranges, (place.stage.number, &frame), known, state)?;
            self.made_relative(place.stage.number, known, state);
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
            if let Sum::Kept { near, next: Some(next), .. } = sum
                && let Some(frame) = frame_of(e, key)
            {
                self.of.store_near(e, &frame, Number::Tile(*next), near)?;
            }
        }
        Ok(())
    }
}

/// The loops around the place of a stage, outermost first.
pub(super) fn path_to(nodes: &[Node], stage: usize) -> Option<Vec<&Loop>> {
    nodes.iter().find_map(|node| match node {
        Node::Place(place) => (place.stage.number == stage).then(Vec::new),
        Node::Operand(operand) => path_to(&operand.body, stage),
        Node::Loop(l) => path_to(&l.body, stage).map(|mut path| {
            path.insert(0, l);
            path
        }),
        Node::Join(_) => None,
    })
}

impl Emit<'_> {
    /// The first index less the second.
    pub(in super::super) fn less(&mut self, a: Value, b: Value) -> Value {
        let cx = self.b.cx();
        let less = cx.affine_binary(AffineOp::Mul, cx.affine_dim(1), cx.affine_const(-1));
        self.index(cx.affine_binary(AffineOp::Add, cx.affine_dim(0), less), &|at| if at == 0 { a } else { b })
    }

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
        let state = SliceOp::state(&self.b, self.loc, view, offsets, row, col, None, ty);
        let op = self.b.create(state);
        self.b.body().result(op, 0)
    }

    /// Type of the elements of a view.
    pub(in super::super) fn view_elem(&self, view: Value) -> Type {
        self.b.cx().type_as::<ViewType>(self.b.body().ty(view)).expect("a view").elem
    }
}

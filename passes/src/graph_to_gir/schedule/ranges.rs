//! What loops have left of the region's dims at one place of a kernel, and the bounds of loops that follow.

use std::collections::HashSet;

use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::gir::ops::IndexOp;
use sutura_dialects::gir::types::Space;
use sutura_dialects::schedule::{Bring, Dim, Loop, Node, Place, Split, Tile as TileTree, walk};
use sutura_ir::Value;
use sutura_ir::affine::AffineOp;

use super::super::kernel::{Built, Emit};
use super::super::stages::Walk;
use super::super::tiles::{Axis, Frame};
use super::Region;
use crate::region::Access;

/// What is left of a dim.
#[derive(Clone, Copy, Debug)]
pub(super) enum Range {
    /// All of it.
    Whole,
    /// One index.
    Index(Value),
    /// So many indices from `base` on, the `trip`-th ones of a loop; `whole` if none of its trips reaches beyond the end of the dim,
    /// `ending` if the loop ends with the dim.
    Tile { trip: Value, base: Value, by: i64, whole: bool, ending: bool },
    /// The same, of which a loop takes one index after the other.
    Block { trip: Value, by: i64 },
    /// One of so many parts.
    Part { trip: Value, count: i64 },
    /// What is needed of it for something that is read near: of `most` indices from `start` on those from `first` on, counted from there, and
    /// before `end`. `whole` if none of them is beyond the end of the dim, and nothing is left out.
    Needed { start: Value, first: Value, end: Value, most: i64, whole: bool },
}

/// What is left of each dim.
#[derive(Clone)]
pub(super) struct Ranges(pub(super) Vec<Range>);

impl Ranges {
    /// All of each dim; of one that is 1 long its index.
    pub(super) fn whole(e: &mut Emit<'_>, walk: &Walk<'_, '_>) -> Self {
        let nest = walk.nest;
        let range = |d| if nest.is_unit(d) { Range::Index(e.constant(0)) } else { Range::Whole };
        Self((0..nest.extents.len()).map(range).collect())
    }

    /// The same with another range of a dim.
    pub(super) fn with(&self, dim: usize, range: Range) -> Self {
        let mut ranges = self.clone();
        ranges.0[dim] = range;
        ranges
    }
}

/// How trips of a loop over tiles of what another loop has of its dim are counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Counted {
    /// What is inside counts them from the start of the dim.
    pub(super) absolute: bool,
    /// The loop counts them from there, and ends with the dim.
    pub(super) ending: bool,
}

/// Whether what is inside a loop takes its dim index by index, and not in tiles.
pub(super) fn gone_through(l: &Loop) -> bool {
    let (mut by_index, mut in_tiles) = (false, false);
    let tiled = |tile: &TileTree| tile.rows == Some(l.dim) || tile.cols == Some(l.dim);
    walk(&l.body, &mut |node| match node {
        Node::Loop(inner) if inner.dim == l.dim && inner.split == Split::One => by_index = true,
        Node::Loop(inner) => in_tiles |= inner.dim == l.dim,
        Node::Place(place) | Node::Join(place) => in_tiles |= tiled(&place.tile),
        Node::Operand(operand) => in_tiles |= operand.to != Bring::Cache && tiled(&operand.tile),
    });
    by_index && !in_tiles
}

impl Region<'_, '_> {
    /// What trip `trip` of a loop has of a dim of which all is left.
    pub(super) fn of_trip(&self, e: &mut Emit<'_>, l: &Loop, trip: Value) -> Range {
        match l.split {
            Split::One => Range::Index(trip),
            Split::Even(count) => Range::Part { trip, count },
            Split::By(by) if gone_through(l) => Range::Block { trip, by },
            Split::By(by) => {
                let whole = self.region.facts.divisible(&self.nest.extents[l.dim.0], by);
                Range::Tile { trip, base: e.scaled(trip, by, None), by, whole, ending: false }
            }
        }
    }

    /// What a trip of a loop inside another one has of its dim.
    pub(super) fn within(&self, e: &mut Emit<'_>, l: &Loop, (around, trip): (Range, Value), counted: Counted) -> Range {
        let Counted { absolute, ending } = counted;
        match (around, l.split) {
            (Range::Tile { trip: outer, by: of, .. }, Split::By(by)) if ending => {
                let base = e.scaled(trip, by, None);
                let trip = if absolute { trip } else { e.scaled(outer, -(of / by), Some(trip)) };
                Range::Tile { trip, base, by, whole: false, ending }
            }
            (Range::Tile { trip: outer, base, by: of, whole, ending }, Split::By(by)) => {
                let base = e.scaled(trip, by, Some(base));
                let trip = if absolute { e.scaled(outer, of / by, Some(trip)) } else { trip };
                Range::Tile { trip, base, by, whole, ending }
            }
            (Range::Needed { start, .. }, Split::One) => Range::Index(e.scaled(trip, 1, Some(start))),
            (Range::Needed { start, first, whole, .. }, Split::By(by)) => {
                let begin = e.scaled(first, 1, Some(start));
                Range::Tile { trip, base: e.scaled(trip, by, Some(begin)), by, whole, ending: false }
            }
            _ => self.of_trip(e, l, trip),
        }
    }

    /// True for a loop over tiles with rows that would go on where the dim has ended, and of whose tiles nothing is read elsewhere.
    /// Its trips are counted from the start of the dim, as those of the loop around it are; a loop inside a loop that ends so has
    /// what that one has.
    pub(super) fn ends_with_dim(&self, l: &Loop, around: Range) -> bool {
        let (Range::Tile { by: of, whole: false, ending: false, .. }, Split::By(by)) = (around, l.split) else {
            return false;
        };
        let rows = |place: &Place| place.contract || place.tile.rows.is_some() && !place.tile.padded;
        let (mut tiled, mut placed, mut looped) = (false, HashSet::new(), HashSet::new());
        walk(&l.body, &mut |node| match node {
            Node::Place(place) | Node::Join(place) => {
                tiled |= rows(place);
                placed.insert(place.stage.number);
            }
            Node::Loop(inner) => drop(looped.insert(inner.dim.0)),
            Node::Operand(_) => {}
        });
        let inside = |s: &usize| {
            let stage = &self.nest.stages[*s];
            let combined = |dim: &usize| self.nest.is_unit(*dim) || looped.contains(dim);
            stage.scan.is_none() && stage.reduced.iter().all(combined)
        };
        let readers = |s: usize| {
            let made = move |read: &Access| self.nest.maker(read) == Some(s);
            (0..self.nest.stages.len()).filter(move |other| self.nest.stages[*other].inputs.iter().any(made))
        };
        let closed = placed.iter().all(|s| inside(s) && readers(*s).all(|reader| placed.contains(&reader)));
        tiled && closed && of > by && of % by == 0 && !gone_through(l)
    }

    /// The trips of a loop that ends with its dim.
    pub(super) fn ending_bounds(&self, e: &mut Emit<'_>, l: &Loop, around: Range) -> Option<(Value, Value)> {
        let (Range::Tile { trip, by: of, .. }, Split::By(by)) = (around, l.split) else { return None };
        let count = of / by;
        let all = self.nest.extents[l.dim.0].ceildiv(by);
        Some((e.scaled(trip, count, None), e.block_end((trip, count), count, Some(&all))))
    }

    /// What a tile of these dims is computed on.
    pub(super) fn frame(&self, e: &mut Emit<'_>, ranges: &Ranges, tile: &TileTree) -> Frame {
        let nest = self.nest;
        let fixed = ranges.0.iter().map(|range| match range {
            Range::Index(index) => Some(*index),
            _ => None,
        });
        let fixed = fixed.collect();
        let mut axis = |dim: Option<Dim>| {
            let Dim(dim) = dim?;
            Some(match ranges.0[dim] {
                Range::Tile { base, by, .. } => Axis { dim, base, extent: by.into() },
                Range::Index(base) => Axis { dim, base, extent: 1.into() },
                _ => Axis { dim, base: e.constant(0), extent: nest.extents[dim].clone() },
            })
        };
        let (row, col) = (axis(tile.rows), axis(tile.cols));
        let is_part = |dim: &Dim| matches!(ranges.0[dim.0], Range::Tile { .. });
        let partial = tile.rows.iter().chain(&tile.cols).any(is_part);
        let registers = self.region.machine.registers.clone();
        let space = if tile.space.is_empty() { registers.clone() } else { Space::from(tile.space.as_str()) };
        Frame { fixed, row, col, space, registers, partial, padded: tile.padded }
    }

    /// The indices that a loop runs through one by one: those that are left of its dim.
    pub(super) fn bounds(&self, e: &mut Emit<'_>, dim: usize, range: Range) -> (Value, Value) {
        let extent = &self.nest.extents[dim];
        match range {
            Range::Part { trip, count } => {
                let size = e.size(extent);
                (e.part_edge(trip, size, (0, count)), e.part_edge(trip, size, (1, count)))
            }
            Range::Block { trip, by } => {
                let (first, whole) = (e.scaled(trip, by, None), self.region.facts.divisible(extent, by));
                (first, e.block_end((trip, by), by, (!whole).then_some(extent)))
            }
            Range::Tile { base, by, whole, .. } => (base, e.block_end((base, 1), by, (!whole).then_some(extent))),
            Range::Needed { first, end, .. } => (first, end),
            Range::Whole | Range::Index(_) => {
                let size = e.size(extent);
                (e.constant(0), size)
            }
        }
    }

    /// How many trips a loop makes of a dim of which all is left.
    pub(super) fn trips(&self, l: &Loop) -> Poly {
        let extent = &self.nest.extents[l.dim.0];
        match l.split {
            Split::One => extent.clone(),
            Split::By(by) => extent.ceildiv(by),
            Split::Even(count) => count.into(),
        }
    }

    /// The range of a loop over tiles of what is left of a dim, and the number of its trips.
    ///
    /// # Errors
    /// When nothing can be divided so.
    pub(super) fn tiles_of(&self, l: &Loop, range: Range) -> Built<Poly> {
        match (range, l.split) {
            (Range::Whole, Split::By(by)) => Ok(self.nest.extents[l.dim.0].ceildiv(by)),
            (Range::Tile { by: outer, .. }, Split::By(by)) if outer % by == 0 => Ok((outer / by).into()),
            (Range::Needed { most, .. }, Split::By(by)) if most % by == 0 => Ok((most / by).into()),
            _ => Emit::unsupported(
                self.region.op,
                &format!(
                    "has a schedule that divides what a loop has left of d{} in a way that has no bounds",
                    l.dim.0
                ),
            ),
        }
    }
}

impl Emit<'_> {
    /// The index behind the last of a block of so many indices from `factor * at` on, in a dim that may end before.
    fn block_end(&mut self, (at, factor): (Value, i64), by: i64, extent: Option<&Poly>) -> Value {
        let cx = self.b.cx();
        let start = cx.affine_binary(AffineOp::Mul, cx.affine_dim(0), cx.affine_const(factor));
        let end = cx.affine_binary(AffineOp::Add, start, cx.affine_const(by));
        match extent {
            None => IndexOp::value(&mut self.b, self.loc, cx.affine_map(1, 0, &[end]), &[at]),
            Some(extent) => {
                let size = self.size(extent);
                let map = cx.affine_map(1, 1, &[end, cx.affine_symbol(0)]);
                IndexOp::value(&mut self.b, self.loc, map, &[at, size])
            }
        }
    }

    /// Where part `trip + after` of `count` begins.
    fn part_edge(&mut self, trip: Value, size: Value, (after, count): (i64, i64)) -> Value {
        let cx = self.b.cx();
        let part = cx.affine_binary(AffineOp::Add, cx.affine_dim(0), cx.affine_const(after));
        let before = cx.affine_binary(AffineOp::Mul, part, cx.affine_symbol(0));
        let expr = cx.affine_binary(AffineOp::FloorDiv, before, cx.affine_const(count));
        IndexOp::value(&mut self.b, self.loc, cx.affine_map(1, 1, &[expr]), &[trip, size])
    }
}

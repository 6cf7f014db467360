//! What the region makes, in memory of the group, for a window that reads it elsewhere than it is made.
//!
//! How much of it is needed follows from what is left of the dims that move the window: indices of a tensor, some of which lie outside
//! of it. The body makes those inside; the others get the number that is read there.

use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::gir::constraints::Scope;
use sutura_dialects::gir::ops::{FillOp, IndexOp, StoreOp};
use sutura_dialects::gir::types::TileType;
use sutura_dialects::graph::maps;
use sutura_dialects::schedule::{Node, Operand};
use sutura_ir::affine::{AffineExpr, AffineOp};
use sutura_ir::{Attr, Value};

use super::super::kernel::{Built, Emit};
use super::super::stages::Known;
use super::super::tiles::zero;
use super::near::{Near, NearDim, tile_in};
use super::nodes::{Inside, State};
use super::ranges::{Range, Ranges};
use super::{REFUSED, Region};
use crate::region::Access;

/// What a window needs of a dim that it reads elsewhere than it is made.
struct Needed {
    /// The dim of what is made.
    dim: usize,
    /// Its number among the dimensions of the tensor.
    at: usize,
    /// How many indices the window reads: no more of them than there are results.
    count: Value,
    range: Range,
}

impl Inside<'_, '_> {
    /// Makes what a window reads, in memory of the group.
    pub(super) fn make_for_window(
        &self,
        e: &mut Emit<'_>,
        ranges: &Ranges,
        (operand, later): (&Operand, &[Node]),
        known: &Known,
        state: &mut State,
    ) -> Built<()> {
        let nest = self.nest();
        let at = (operand.stage.number, operand.input);
        let read = &nest.stages[at.0].inputs[at.1];
        let (maker, result) = nest.moved_maker(read).expect("the region makes it");
        let made = &nest.stages[maker].results[result];
        e.loc = nest.stages[at.0].op.loc();
        let mut dims = self.of.near_dims(e, ranges, read, Some(&operand.body))?;
        let (mut of_body, mut all) = (ranges.clone(), Vec::new());
        for (number, dim) in
            dims.iter_mut().enumerate().filter(|(number, _)| made.index[*number] != read.index[*number])
        {
            let needed = self.of.needed(e, (ranges, read, made), (number, dim), (operand, later))?;
            of_body.0[needed.dim] = needed.range;
            all.push(needed);
        }
        let elem = nest.cx.element_type(nest.body.ty(made.value));
        let near = self.of.near_memory(e, operand, Scope::Unit, (elem, dims))?;
        let slot = made.slot.expect("what is made has a number");
        let outer = state.filled.insert(slot, self.of.by_maker(&near, &all));
        let mut inside = known.clone();
        self.inside(state, |state| self.nodes(e, &of_body, &operand.body, &mut inside, state))?;
        state.filled.remove(&slot);
        state.filled.extend(outer.map(|outer| (slot, outer)));
        let edges = nest.edges(&self.of.region.facts, read, None);
        if edges.iter().any(|edge| all.iter().all(|needed| needed.at != *edge)) {
            let message = format!("{REFUSED}: a window leaves what is made near along a dim that both go along");
            return Emit::unsupported(self.of.region.op, &message);
        }
        // The last tile of results reads beyond what is needed, and nobody looks at what it makes of that.
        let pad = read.oob.unwrap_or_else(|| zero(nest.cx, elem));
        for needed in all.iter().filter(|needed| edges.contains(&needed.at) || near.dims[needed.at].clipped) {
            self.of.fill_outside(e, &near, needed, pad)?;
        }
        state.near.insert(at, near);
        Ok(())
    }
}

impl Region<'_, '_> {
    /// What a window needs along a dimension of what is made; there is room for whole tiles of it.
    fn needed(
        &self,
        e: &mut Emit<'_>,
        (ranges, read, made): (&Ranges, &Access, &Access),
        (at, near): (usize, &mut NearDim),
        (operand, later): (&Operand, &[Node]),
    ) -> Built<Needed> {
        let nest = self.nest;
        let (Some(dim), Some(count)) = (nest.plain(made.index[at]), near.count.as_const()) else {
            let message = format!("{REFUSED}: how much a window reads of what is made near is not known");
            return Emit::unsupported(self.region.op, &message);
        };
        let linear = maps::linear(nest.cx, read.index[at], nest.extents.len()).filter(|l| l.symbols.is_empty());
        let Some(linear) = linear else {
            let message = format!("{REFUSED}: a window moves in unequal steps over what is made near");
            return Emit::unsupported(self.region.op, &message);
        };
        let (tile, size) = (tile_in(&operand.body, dim), nest.extents[dim].clone());
        let whole_tiles = |count: i64| if tile > 1 { count.saturating_add(tile - 1) / tile * tile } else { count };
        // No index that moves the window is negative.
        let (before, first) = ((-linear.constant).max(0), linear.constant.max(0));
        let known = size.as_const().filter(|_| self.is_whole(ranges, read.index[at]));
        let (most, whole) = match known {
            Some(size) => {
                let inside = (count - before).min(size.saturating_sub(first)).max(1);
                near.start = e.constant(linear.constant);
                (whole_tiles(inside), first.saturating_add(whole_tiles(inside)) <= size)
            }
            None => (whole_tiles(count), false),
        };
        let room = if tile > 1 { before.saturating_add(most) } else { most };
        let start = near.start;
        let read = self.end_of(e, ranges, near, later).unwrap_or_else(|| e.constant(count));
        near.count = count.max(room).into();
        let (first, end) = self.inside_of(e, start, (count, read), &size);
        let count = read;
        Ok(Needed { dim, at, count, range: Range::Needed { start, first, end, most, whole } })
    }

    /// Whether loops have left all of the dims in an index, or are loops of one trip.
    fn is_whole(&self, ranges: &Ranges, expr: AffineExpr) -> bool {
        let nest = self.nest;
        let all = |dim: usize| match ranges.0[dim] {
            Range::Whole => true,
            Range::Index(_) => nest.is_unit(dim),
            Range::Tile { by, .. } | Range::Block { by, .. } => {
                nest.extents[dim].as_const().is_some_and(|all| all <= by)
            }
            Range::Part { .. } | Range::Needed { .. } => false,
        };
        (0..nest.extents.len()).all(|dim| all(dim) || !nest.mentions_expr(expr, dim))
    }

    /// Of so many indices from `start` on the first that is not negative, and that behind the last below a size, counted from there.
    fn inside_of(&self, e: &mut Emit<'_>, start: Value, (most, count): (i64, Value), size: &Poly) -> (Value, Value) {
        let cx = self.nest.cx;
        let (d0, zero) = (cx.affine_dim(0), cx.affine_const(0));
        let less = |expr: AffineExpr| cx.affine_binary(AffineOp::Mul, expr, cx.affine_const(-1));
        let missing = IndexOp::value(&mut e.b, e.loc, cx.affine_map(1, 0, &[zero, d0]), &[start]);
        let first = IndexOp::value(&mut e.b, e.loc, cx.affine_map(1, 0, &[less(d0)]), &[missing]);
        let size = e.size(size);
        let room = cx.affine_binary(AffineOp::Add, cx.affine_symbol(0), less(d0));
        let ends = [cx.affine_const(most), room, cx.affine_dim(1)];
        let end = IndexOp::value(&mut e.b, e.loc, cx.affine_map(2, 1, &ends), &[start, count, size]);
        (first, end)
    }

    /// How many tiles a loop has of what is needed.
    pub(super) fn last_needed(&self, e: &mut Emit<'_>, range: Range, (count, by): (&Poly, i64)) -> Value {
        let Range::Needed { first, end, whole: false, .. } = range else { return e.size(count) };
        let Some(count) = count.as_const() else { return e.size(count) };
        let cx = self.nest.cx;
        let less = cx.affine_binary(AffineOp::Mul, cx.affine_dim(0), cx.affine_const(-1));
        let left = cx.affine_binary(AffineOp::Add, cx.affine_dim(1), less);
        let tiles = cx.affine_binary(AffineOp::CeilDiv, left, cx.affine_const(by));
        IndexOp::value(&mut e.b, e.loc, cx.affine_map(2, 0, &[cx.affine_const(count), tiles]), &[first, end])
    }

    /// The same memory, as what makes it goes along it.
    fn by_maker(&self, near: &Near, all: &[Needed]) -> Near {
        let mut near = near.clone();
        for needed in all {
            let dim = &mut near.dims[needed.at];
            if !dim.moving.is_empty() {
                dim.moving = vec![(needed.dim, 1, Some(dim.start))];
            }
        }
        near
    }

    /// Writes the number that is read outside where a window reads there along a dimension.
    fn fill_outside(&self, e: &mut Emit<'_>, near: &Near, needed: &Needed, pad: Attr) -> Built<()> {
        let Range::Needed { first, end, .. } = needed.range else { return Ok(()) };
        let zero = e.constant(0);
        for bounds in [(zero, first), (end, needed.count)] {
            self.fill_lines(e, near, (needed.at, bounds), pad, &mut Vec::new())?;
        }
        Ok(())
    }

    /// Fills lines, each at `offsets` along the dimensions before the last, with one number.
    fn fill_lines(
        &self,
        e: &mut Emit<'_>,
        near: &Near,
        (at, bounds): (usize, (Value, Value)),
        pad: Attr,
        offsets: &mut Vec<Value>,
    ) -> Built<()> {
        let number = offsets.len();
        let kept: Vec<usize> = (0..near.dims.len()).filter(|number| near.keeps(*number)).collect();
        if number + 1 == kept.len() {
            let cols = near.dims[kept[number]].count.clone();
            offsets.push(e.constant(0));
            let ty = TileType { space: near.space.clone(), elem: near.elem, rows: 1.into(), cols: cols.clone() };
            let line = FillOp::value(&mut e.b, e.loc, pad, self.nest.cx.ext_type(ty));
            let slice = e.window(near.view, offsets, (None, Some(number as i64)), (1.into(), cols));
            StoreOp::build(&mut e.b, e.loc, line, slice);
            offsets.pop();
            return Ok(());
        }
        let bounds_here =
            if kept[number] == at { bounds } else { (e.constant(0), e.size(&near.dims[kept[number]].count)) };
        e.for_range(bounds_here, &[], &mut |e, index, _| {
            offsets.push(index);
            self.fill_lines(e, near, (at, bounds), pad, offsets)?;
            offsets.pop();
            Ok(vec![])
        })?;
        Ok(())
    }
}

//! Operands in memory of the group: all that what follows reads of a tensor, padded, so that what reads it asks for no bounds; or
//! of what the region makes, tile by tile.
//!
//! How much that is follows from the tensor's indices and from what loops have left of the dims in them, as bounds of Halide's
//! `compute_at` do (Ragan-Kelley et al., PLDI 2013).

use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::gir::constraints::Scope;
use sutura_dialects::gir::ops::{IndexOp, LoadOp, SliceOp, StoreOp};
use sutura_dialects::gir::types::{SliceType, Space, TileType, ViewType};
use sutura_dialects::schedule::{Node, Operand, Split, walk};
use sutura_ir::affine::{AffineExpr, AffineOp};
use sutura_ir::{Attr, Type, Value};

use super::super::kernel::{Built, Emit};
use super::super::stages::Known;
use super::super::tiles::{Covers, Frame, Number, Shape, Tile, zero};
use super::describe::called;
use super::nodes::Units;
use super::ranges::{Range, Ranges};
use super::{REFUSED, Region};
use crate::region::Access;
use crate::region::cost::element_bytes;

/// Most bytes of an operand near; code generation gives a thread no more.
pub(super) const MOST_NEAR: i64 = 1 << 20;

/// An operand that a group has brought near.
#[derive(Clone)]
pub(super) struct Near {
    pub(super) view: Value,
    pub(super) space: Space,
    scope: Scope,
    pub(super) elem: Type,
    /// One per dimension of the tensor.
    pub(super) dims: Vec<NearDim>,
    /// The stage whose identity lies beyond the end of the dim along which it combines.
    pub(super) nothing: Option<usize>,
}

/// A dimension of what was brought near.
#[derive(Clone)]
pub(super) struct NearDim {
    /// Dims that move along it, each with its factor and where it began, if that is not 0.
    pub(super) moving: Vec<(usize, i64, Option<Value>)>,
    /// The index in the tensor where it begins.
    pub(super) start: Value,
    /// How many indices there are.
    pub(super) count: Poly,
    /// The last of several blocks may reach beyond what there is.
    pub(super) clipped: bool,
}

impl Near {
    /// True for memory that the units of a group have together.
    pub(super) fn is_shared(&self) -> bool {
        self.scope == Scope::Group
    }

    /// True for a dimension of the tensor that the memory has too.
    pub(super) fn keeps(&self, dim: usize) -> bool {
        keeps(&self.dims, dim)
    }
}

/// Elements from a row to the next: what is read column by column lies in different sets of a cache.
fn apart(row: &Poly, bytes: i64) -> Poly {
    let in_same_sets = |row: &i64| row.saturating_mul(bytes) % SETS == 0 && *row > 0;
    row.as_const().filter(in_same_sets).map_or_else(|| row.clone(), |row| (row + LINE / bytes).into())
}

/// Bytes of a line of a cache, and of so many lines that the next one may lie in a set of the first.
const LINE: i64 = 64;
const SETS: i64 = 1024;

/// The most indices of a dim that a loop inside takes at a time.
pub(super) fn tile_in(body: &[Node], dim: usize) -> i64 {
    let mut most = 1;
    walk(body, &mut |node| {
        if let Node::Loop(l) = node
            && let Split::By(by) = l.split
            && l.dim.0 == dim
        {
            most = most.max(by);
        }
    });
    most
}

/// The memory has no dimensions along which nothing moves; but the last one, in which lines lie.
fn keeps(dims: &[NearDim], dim: usize) -> bool {
    !dims[dim].moving.is_empty() || dim + 1 == dims.len()
}

/// The tensor that is copied from.
struct From {
    tensor: Value,
    /// What is read outside of it.
    pad: Option<Attr>,
    /// Dimensions that are read at one index, which may lie outside.
    edges: Vec<usize>,
    /// How many indices of each dimension are copied, if that is less than there is room for.
    ends: Vec<Option<Value>>,
}

impl Region<'_, '_> {
    /// Brings near what the nodes that follow read of an operand: `later` in it, where they end with their dims.
    pub(super) fn bring_near(
        &self,
        e: &mut Emit<'_>,
        ranges: &Ranges,
        (operand, later): (&Operand, &[Node]),
        known: &Known,
    ) -> Built<Near> {
        let stage = &self.nest.stages[operand.stage.number];
        let access = &stage.inputs[operand.input];
        e.loc = stage.op.loc();
        let tensor = known.view(stage.op, access.value)?;
        let dims = self.near_dims(e, ranges, access, None)?;
        let last = dims.len() - 1;
        let mut edges = self.nest.edges(&self.region.facts, access, None);
        // The last block of a dim reaches beyond the tensor, and nobody looks at what it reads there.
        edges.extend((0..last).filter(|at| dims[*at].clipped));
        edges.retain(|at| *at != last);
        edges.sort_unstable();
        edges.dedup();
        let elem = e.view_elem(tensor);
        let outside = !edges.is_empty() || dims.last().is_some_and(|dim| dim.clipped);
        let pad = access.oob.or_else(|| outside.then(|| zero(self.nest.cx, elem)));
        let ends = dims.iter().map(|dim| self.end_of(e, ranges, dim, later)).collect();
        let from = From { tensor, pad, edges, ends };
        let near = self.near_memory(e, operand, Scope::Unit, (elem, dims))?;
        let mut at = Vec::new();
        self.copy(e, &from, &near, &mut at)?;
        Ok(near)
    }

    /// Memory for what the loops that follow read of an operand that the region makes.
    /// It is that of `others` that nothing reads any more, if it is alike.
    pub(super) fn near_for(
        &self,
        e: &mut Emit<'_>,
        ranges: &Ranges,
        (operand, units): (&Operand, Option<&Units>),
        others: &[Near],
    ) -> Built<Near> {
        let stage = &self.nest.stages[operand.stage.number];
        let access = &stage.inputs[operand.input];
        e.loc = stage.op.loc();
        // Units that share memory have each a part of it.
        let of_group = units.map(|units| ranges.with(units.dim, units.around));
        let dims = self.near_dims(e, of_group.as_ref().unwrap_or(ranges), access, Some(&operand.body))?;
        let scope = if units.is_some() { Scope::Group } else { Scope::Unit };
        let elem = self.nest.cx.element_type(self.nest.body.ty(access.value));
        let counts = |dims: &[NearDim]| dims.iter().map(|dim| dim.count.clone()).collect::<Vec<_>>();
        let alike = |other: &&Near| {
            other.elem == elem && *other.space == *operand.tile.space && counts(&other.dims) == counts(&dims)
        };
        match others.iter().find(alike) {
            Some(other) => Ok(Near { dims, nothing: None, ..other.clone() }),
            None => self.near_memory(e, operand, scope, (elem, dims)),
        }
    }

    /// Memory for what a loop sums up, in tiles or as a whole.
    pub(super) fn near_sum(
        &self,
        e: &mut Emit<'_>,
        ranges: &Ranges,
        (result, elem): (&Access, Type),
        (body, whole): (&[Node], bool),
    ) -> Built<Near> {
        let dims = self.near_dims(e, ranges, result, Some(body))?;
        let counts = (0..dims.len()).filter(|number| keeps(&dims, *number)).map(|number| dims[number].count.clone());
        let (counts, space) = (counts.collect(), self.region.machine.cache.clone());
        let view = match whole {
            true => e.alloc(Scope::Unit, ViewType::new(&space, elem, counts)),
            false => self.memory(e, (Scope::Unit, &space), elem, counts, result.value)?,
        };
        Ok(Near { view, space, scope: Scope::Unit, elem, dims, nothing: None })
    }

    pub(super) fn near_memory(
        &self,
        e: &mut Emit<'_>,
        operand: &Operand,
        scope: Scope,
        (elem, dims): (Type, Vec<NearDim>),
    ) -> Built<Near> {
        let access = &self.nest.stages[operand.stage.number].inputs[operand.input];
        let counts = self.near_counts(operand, scope, (elem, &dims));
        let view = self.memory(e, (scope, &operand.tile.space), elem, counts, access.value)?;
        Ok(Near { view, space: operand.tile.space.as_str().into(), scope, elem, dims, nothing: None })
    }

    /// The sizes of the memory of an operand.
    fn near_counts(&self, operand: &Operand, scope: Scope, (elem, dims): (Type, &[NearDim])) -> Vec<Poly> {
        let counts = (0..dims.len()).filter(|number| keeps(dims, *number)).map(|number| dims[number].count.clone());
        let mut counts: Vec<Poly> = counts.collect();
        match (&mut counts[..], operand.pitch) {
            ([.., last], Some(pitch)) => *last = pitch.into(),
            ([_, .., last], None) if scope == Scope::Unit && !operand.body.is_empty() => {
                *last = apart(last, element_bytes(self.nest.cx, elem));
            }
            _ => {}
        }
        counts
    }

    /// What lies for an operand where another one lay, if that memory is alike.
    pub(super) fn near_over(
        &self,
        e: &Emit<'_>,
        operand: &Operand,
        (elem, dims): (Type, &[NearDim]),
        other: &Near,
    ) -> Option<Near> {
        let ty: &ViewType = e.b.cx().type_as(e.b.body().ty(other.view)).expect("a view");
        let alike = ty.dims == self.near_counts(operand, other.scope, (elem, dims)) && other.elem == elem;
        let same_space = *other.space == *operand.tile.space;
        (alike && same_space).then(|| Near { dims: dims.to_vec(), nothing: None, ..other.clone() })
    }

    /// Memory near for what is read of a tensor.
    pub(super) fn memory(
        &self,
        e: &mut Emit<'_>,
        (scope, space): (Scope, &str),
        elem: Type,
        dims: Vec<Poly>,
        tensor: Value,
    ) -> Built<Value> {
        let elements = Poly::product(&dims);
        let bytes =
            self.region.facts.range(&elements).1 * i128::from(self.nest.cx.bit_width(elem).unwrap_or(64).div_ceil(8));
        let (most, of) = match scope {
            Scope::Unit => (MOST_NEAR, "a thread's scratch"),
            Scope::Group => (self.region.machine.group_bytes, "a group's memory"),
        };
        if bytes > i128::from(most) {
            let name = called(self.nest, tensor);
            let why = format!(
                "{REFUSED}: keeps {elements} elements of {name} near, which are more than the {most} bytes that fit {of}"
            );
            return Emit::unsupported(self.region.op, &why);
        }
        Ok(e.alloc(scope, ViewType::new(&Space::from(space), elem, dims)))
    }

    /// With a body that makes what lies there, there is room for the most that it makes, in whole tiles.
    pub(super) fn near_dims(
        &self,
        e: &mut Emit<'_>,
        ranges: &Ranges,
        access: &Access,
        made: Option<&[Node]>,
    ) -> Built<Vec<NearDim>> {
        access.index.iter().map(|expr| self.near_dim(e, ranges, *expr, made)).collect()
    }

    /// What an index of a tensor runs through while what loops have left of its dims is run through.
    fn near_dim(&self, e: &mut Emit<'_>, ranges: &Ranges, expr: AffineExpr, made: Option<&[Node]>) -> Built<NearDim> {
        let fixed = |dim: usize| matches!(ranges.0[dim], Range::Index(_));
        let Some(steps) = self.nest.steps(expr, &fixed) else {
            return Emit::unsupported(self.region.op, "brings near what is read at an index of unequal steps");
        };
        let (mut moving, mut count, mut clipped) = (Vec::new(), Poly::constant(1), false);
        for (dim, factor) in steps {
            let (base, extent) = match ranges.0[dim] {
                Range::Index(_) => continue,
                Range::Whole => {
                    let extent = &self.nest.extents[dim];
                    let room = |body| {
                        let tile = tile_in(body, dim);
                        self.room(extent).ceildiv(tile).scale(tile)
                    };
                    (None, made.map_or_else(|| extent.clone(), room))
                }
                Range::Tile { base, by, .. } => (Some(base), by.into()),
                Range::Block { trip, by } => (Some(e.scaled(trip, by, None)), by.into()),
                Range::Needed { start, first, most, .. } => (Some(e.scaled(first, 1, Some(start))), most.into()),
                Range::Part { .. } => {
                    return Emit::unsupported(self.region.op, "brings near what a part of a dim reads");
                }
            };
            clipped |= match ranges.0[dim] {
                Range::Tile { whole, .. } => !whole,
                Range::Block { by, .. } => !self.region.facts.divisible(&self.nest.extents[dim], by),
                Range::Needed { whole, .. } => !whole,
                _ => false,
            };
            if factor < 0 {
                return Emit::unsupported(self.region.op, "brings near what is read backward");
            }
            count = count.add(&extent.sub(&1.into()).scale(factor));
            moving.push((dim, factor, base));
        }
        let first = e.constant(0);
        let value_of = |dim: usize| match ranges.0[dim] {
            Range::Index(index) => index,
            _ => moving.iter().find(|(d, ..)| *d == dim).and_then(|(.., base)| *base).unwrap_or(first),
        };
        let start = e.index(expr, &value_of);
        Ok(NearDim { moving, start, count, clipped })
    }

    /// How many indices of a dimension are read, where a block may reach beyond the end of its dim: those of whole tiles.
    pub(super) fn end_of(&self, e: &mut Emit<'_>, ranges: &Ranges, near: &NearDim, later: &[Node]) -> Option<Value> {
        let count = near.count.as_const().filter(|_| near.clipped)?;
        let mut moving = near.moving.iter().filter_map(|(dim, factor, base)| Some((*dim, *factor, (*base)?)));
        let ((dim, factor, base), None) = (moving.next()?, moving.next()) else { return None };
        let (by, tile) = match ranges.0[dim] {
            Range::Block { by, .. } => (by, 1),
            Range::Tile { by, .. } => (by, self.tile_that_ends(later, dim, ranges.0[dim])?),
            Range::Needed { first, end, most, .. } => {
                return Some(self.end_of_needed(e, (first, end), (count, most, factor), tile_in(later, dim)));
            }
            _ => return None,
        };
        let cx = self.nest.cx;
        let constant = |value: i64| cx.affine_const(value);
        let left = cx.affine_binary(AffineOp::Mul, cx.affine_dim(0), constant(-1));
        let left = cx.affine_binary(AffineOp::Add, cx.affine_symbol(0), left);
        let tiles = cx.affine_binary(AffineOp::CeilDiv, left, constant(tile));
        let moved = cx.affine_binary(AffineOp::Mul, tiles, constant(tile.checked_mul(factor)?));
        let end = cx.affine_binary(AffineOp::Add, moved, constant(count - by.checked_mul(factor)?));
        let size = e.size(&self.nest.extents[dim]);
        Some(IndexOp::value(&mut e.b, e.loc, cx.affine_map(1, 1, &[constant(count), end]), &[base, size]))
    }

    /// The same for what is read for indices that are needed, at most `most`, in whole tiles.
    fn end_of_needed(
        &self,
        e: &mut Emit<'_>,
        (first, end): (Value, Value),
        (count, most, factor): (i64, i64, i64),
        tile: i64,
    ) -> Value {
        let cx = self.nest.cx;
        let constant = |value: i64| cx.affine_const(value);
        let left = cx.affine_binary(AffineOp::Mul, cx.affine_dim(0), constant(-1));
        let left = cx.affine_binary(AffineOp::Add, cx.affine_dim(1), left);
        let tiles = cx.affine_binary(AffineOp::CeilDiv, left, constant(tile));
        let moved = cx.affine_binary(AffineOp::Mul, tiles, constant(tile.saturating_mul(factor)));
        let window = constant(count.saturating_sub(most.saturating_mul(factor)));
        let last = cx.affine_binary(AffineOp::Add, moved, window);
        IndexOp::value(&mut e.b, e.loc, cx.affine_map(2, 0, &[constant(count), last]), &[first, end])
    }

    /// The tile of a loop that ends with its dim, if it is the one that is over tiles of it.
    fn tile_that_ends(&self, later: &[Node], dim: usize, around: Range) -> Option<i64> {
        let mut loops = Vec::new();
        walk(later, &mut |node| match node {
            Node::Loop(l) if l.dim.0 == dim => loops.push((self.ends_with_dim(l, around), l.split)),
            _ => {}
        });
        match loops[..] {
            [(true, Split::By(by))] => Some(by),
            _ => None,
        }
    }

    /// Copies line by line, each at `at` along the dimensions before the last.
    fn copy(&self, e: &mut Emit<'_>, from: &From, near: &Near, at: &mut Vec<Value>) -> Built<()> {
        let Some(dim) = near.dims.get(at.len() + 1).map(|_| &near.dims[at.len()]) else {
            self.copy_line(e, from, near, at);
            return Ok(());
        };
        if dim.count.as_const() == Some(1) {
            at.push(e.constant(0));
            self.copy(e, from, near, at)?;
            at.pop();
            return Ok(());
        }
        let end = from.ends[at.len()].unwrap_or_else(|| e.size(&dim.count));
        let first = e.constant(0);
        e.for_range((first, end), &[], &mut |e, index, _| {
            at.push(index);
            self.copy(e, from, near, at)?;
            at.pop();
            Ok(vec![])
        })?;
        Ok(())
    }

    fn copy_line(&self, e: &mut Emit<'_>, &From { tensor, pad, ref edges, .. }: &From, near: &Near, at: &[Value]) {
        let cx = self.nest.cx;
        let last = near.dims.len() - 1;
        let mut offsets: Vec<Value> = Vec::with_capacity(near.dims.len());
        for (dim, index) in near.dims.iter().zip(at) {
            offsets.push(if dim.count.as_const() == Some(1) {
                dim.start
            } else {
                e.scaled(*index, 1, Some(dim.start))
            });
        }
        offsets.push(near.dims[last].start);
        let extents = (Poly::constant(1), near.dims[last].count.clone());
        let ty: &ViewType = cx.type_as(e.b.body().ty(tensor)).expect("a view");
        let slice = SliceType { space: ty.space.clone(), elem: near.elem, rows: 1.into(), cols: extents.1.clone() };
        let clips: Vec<i64> = edges.iter().map(|dim| *dim as i64).collect();
        let (cols, clips) = (Some(last as i64), Some(&clips[..]).filter(|clips| !clips.is_empty()));
        let state = SliceOp::state(&e.b, e.loc, tensor, &offsets, None, cols, clips, cx.ext_type(slice));
        let op = e.b.create(state);
        let slice = e.b.body().result(op, 0);
        let tile = TileType { space: near.space.clone(), elem: near.elem, rows: 1.into(), cols: extents.1.clone() };
        let line = LoadOp::value(&mut e.b, e.loc, slice, pad, cx.ext_type(tile));
        let kept = near.dims.iter().enumerate().filter(|(number, _)| near.keeps(*number));
        let first = e.constant(0);
        let offsets: Vec<Value> = kept.map(|(number, _)| at.get(number).copied().unwrap_or(first)).collect();
        let slice = e.window(near.view, &offsets, (None, Some(offsets.len() as i64 - 1)), extents);
        StoreOp::build(&mut e.b, e.loc, line, slice);
    }

    /// The tile of what was brought near that lies along the axes of a frame.
    pub(super) fn load_near(&self, e: &mut Emit<'_>, frame: &Frame, near: &Near) -> Built<Tile> {
        let (slice, shape) = self.near_slice(e, frame, near)?;
        let ty = self.nest.cx.ext_type(frame.tile_type(shape, near.elem));
        let value = LoadOp::value(&mut e.b, e.loc, slice, None, ty);
        Ok(Tile { value, shape, elem: near.elem, window: Covers::All, cached: false })
    }

    /// Keeps a number that was made at a frame's place.
    pub(super) fn store_near(&self, e: &mut Emit<'_>, frame: &Frame, number: Number, near: &Near) -> Built<()> {
        let (slice, shape) = self.near_slice(e, frame, near)?;
        let tile = e.realise(frame, number, shape, None);
        StoreOp::build(&mut e.b, e.loc, tile.value, slice);
        Ok(())
    }

    /// The part of what was brought near along the axes of a frame.
    pub(super) fn near_slice(&self, e: &mut Emit<'_>, frame: &Frame, near: &Near) -> Built<(Value, Shape)> {
        let cx = self.nest.cx;
        let axis = |dim: usize| [&frame.row, &frame.col].into_iter().flatten().find(|axis| axis.dim == dim);
        let now = |dim: usize| axis(dim).map(|axis| axis.base).or(frame.fixed[dim]);
        let (mut offsets, mut along) = (Vec::with_capacity(near.dims.len()), [None, None]);
        let kept = near.dims.iter().enumerate().filter(|(number, _)| near.keeps(*number));
        for (number, dim) in kept.map(|(_, dim)| dim).enumerate() {
            let (mut sum, mut values) = (cx.affine_const(0), Vec::new());
            for (moving, factor, base) in &dim.moving {
                let Some(now) = now(*moving) else {
                    return Emit::unsupported(self.region.op, "reads what was brought near at no one index");
                };
                for (axis, found) in [&frame.row, &frame.col].into_iter().zip(&mut along) {
                    if axis.as_ref().is_some_and(|axis| axis.dim == *moving) {
                        *found = Some((number as i64, *factor));
                    }
                }
                // A tile that was brought near as a whole begins where that does.
                if *base == Some(now) {
                    continue;
                }
                let mut moved = cx.affine_dim(values.len() as u32);
                values.push(now);
                if let Some(base) = base {
                    let less = cx.affine_binary(AffineOp::Mul, cx.affine_dim(values.len() as u32), cx.affine_const(-1));
                    moved = cx.affine_binary(AffineOp::Add, moved, less);
                    values.push(*base);
                }
                let moved = cx.affine_binary(AffineOp::Mul, moved, cx.affine_const(*factor));
                sum = cx.affine_binary(AffineOp::Add, sum, moved);
            }
            offsets.push(match values.is_empty() {
                true => e.constant(0),
                false => e.index(sum, &|at| values[at]),
            });
        }
        let shape = Shape { rows: along[0].is_some(), cols: along[1].is_some() };
        let (rows, cols) = frame.extents(shape);
        let slice = SliceType { space: near.space.clone(), elem: near.elem, rows, cols };
        let [row, col] = along.map(|axis| axis.map(|(dim, _)| dim));
        let mut state = SliceOp::state(&e.b, e.loc, near.view, &offsets, row, col, None, cx.ext_type(slice));
        for (name, axis) in [("row_step", along[0]), ("col_step", along[1])] {
            if let Some((_, step)) = axis.filter(|(_, step)| *step != 1) {
                state = state.prop(cx.ident(name), cx.int_attr(step, Type::I64));
            }
        }
        let op = e.b.create(state);
        Ok((e.b.body().result(op, 0), shape))
    }
}

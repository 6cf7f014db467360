//! Operands in memory of the group: all that what follows reads of a tensor, padded, so that what reads it asks for no bounds.
//!
//! How much that is follows from the tensor's indices and from what loops have left of the dims in them, as bounds of Halide's
//! `compute_at` do (Ragan-Kelley et al., PLDI 2013).

use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::gir::ops::{IndexOp, LoadOp, SliceOp, StoreOp};
use sutura_dialects::gir::types::{SliceType, Space, TileType, ViewType};
use sutura_dialects::graph::maps;
use sutura_dialects::schedule::Operand;
use sutura_ir::affine::{AffineExpr, AffineOp};
use sutura_ir::{Attr, Type, Value};

use super::super::kernel::{Built, Emit};
use super::super::stages::Known;
use super::super::tiles::{Frame, Shape, zero};
use super::Region;
use super::ranges::{Range, Ranges};
use crate::region::Edge;
use crate::region::cost::value_text;

/// Most bytes of an operand near; code generation gives a thread no more.
const MOST_NEAR: i64 = 1 << 20;

/// An operand that a group has brought near.
#[derive(Clone)]
pub(super) struct Near {
    view: Value,
    space: Space,
    elem: Type,
    /// One per dimension of the tensor.
    dims: Vec<NearDim>,
}

/// A dimension of what was brought near.
#[derive(Clone)]
struct NearDim {
    /// Dims that move along it, each with its factor and where it began.
    moving: Vec<(usize, i64, Value)>,
    /// The index in the tensor where it begins.
    start: Value,
    /// How many indices there are.
    count: Poly,
    /// The last of several blocks may reach beyond what there is.
    clipped: bool,
}

/// The tensor that is copied from.
struct From {
    tensor: Value,
    /// What is read outside of it.
    pad: Option<Attr>,
    /// A dimension that is read at one index, which may lie outside.
    edge: Option<usize>,
}

impl Region<'_, '_> {
    /// Brings near what the loops that follow read of an operand.
    pub(super) fn bring_near(
        &self,
        e: &mut Emit<'_>,
        ranges: &Ranges,
        operand: &Operand,
        known: &Known,
    ) -> Built<Near> {
        let stage = &self.nest.stages[operand.stage.number];
        let access = &stage.inputs[operand.input];
        e.loc = stage.op.loc();
        let tensor = known.view(stage.op, access.value)?;
        let dims = access.index.iter().map(|expr| self.near_dim(e, ranges, *expr)).collect::<Built<Vec<_>>>()?;
        let mut edges: Vec<usize> = match self.nest.edge(&self.region.facts, access, operand.tile.cols.map(|dim| dim.0))
        {
            Edge::Nowhere => vec![],
            Edge::At(dim) => vec![dim],
            Edge::Joined(dims) => dims.collect(),
            Edge::Apart(_) => (0..dims.len() - 1).collect(),
        };
        // The last block of a dim reaches beyond the tensor, and nobody looks at what it reads there.
        let beyond = |at: &usize| dims[*at].clipped && !edges.contains(at);
        let beyond: Vec<usize> = (0..dims.len() - 1).filter(beyond).collect();
        edges.extend(beyond);
        if edges.len() > 1 {
            return Emit::unsupported(stage.op, "reads outside along several dimensions that are not the last");
        }
        let (space, elem) = (Space::from(operand.tile.space.as_str()), e.view_elem(tensor));
        let elements = Poly::product(dims.iter().map(|dim| &dim.count));
        let bytes =
            self.region.facts.range(&elements).1 * i128::from(self.nest.cx.bit_width(elem).unwrap_or(64).div_ceil(8));
        if bytes > i128::from(MOST_NEAR) {
            let name = value_text(self.nest.cx, self.nest.body, access.value);
            let why = format!(
                "keeps {elements} elements of {name} near, which are more than the {MOST_NEAR} bytes that fit a thread's scratch"
            );
            return Emit::unsupported(stage.op, &why);
        }
        let outside = edges.len() == 1 || dims.last().is_some_and(|dim| dim.clipped);
        let pad = access.oob.or_else(|| outside.then(|| zero(self.nest.cx, elem)));
        let from = From { tensor, pad, edge: edges.first().copied() };
        let counts = dims.iter().map(|dim| dim.count.clone()).collect();
        let view = e.alloc(ViewType::new(&space, elem, counts));
        let near = Near { view, space, elem, dims };
        let mut at = Vec::new();
        self.copy(e, &from, &near, &mut at)?;
        Ok(near)
    }

    /// What an index of a tensor runs through while what loops have left of its dims is run through.
    fn near_dim(&self, e: &mut Emit<'_>, ranges: &Ranges, expr: AffineExpr) -> Built<NearDim> {
        let linear = maps::linear(self.nest.cx, expr, self.nest.extents.len()).filter(|l| l.symbols.is_empty());
        let Some(linear) = linear else {
            return Emit::unsupported(self.region.op, "brings near what is read at an index of unequal steps");
        };
        let (mut moving, mut count, mut clipped) = (Vec::new(), Poly::constant(1), false);
        for (dim, factor) in linear.factors.iter().copied().enumerate().filter(|(_, factor)| *factor != 0) {
            let (base, extent) = match ranges.0[dim] {
                Range::Index(_) => continue,
                Range::Whole => (e.constant(0), self.nest.extents[dim].clone()),
                Range::Tile { base, by, .. } => (base, by.into()),
                Range::Block { trip, by } => (e.scaled(trip, by, None), by.into()),
                Range::Part { .. } => {
                    return Emit::unsupported(self.region.op, "brings near what a part of a dim reads");
                }
            };
            if let Range::Tile { by, .. } | Range::Block { by, .. } = ranges.0[dim] {
                clipped |= !self.region.facts.divisible(&self.nest.extents[dim], by);
            }
            if factor < 0 {
                return Emit::unsupported(self.region.op, "brings near what is read backward");
            }
            count = count.add(&extent.sub(&1.into()).scale(factor));
            moving.push((dim, factor, base));
        }
        let value_of = |dim: usize| match ranges.0[dim] {
            Range::Index(index) => index,
            _ => moving.iter().find(|(d, ..)| *d == dim).map(|(.., base)| *base).expect("every dim is one of both"),
        };
        let start = e.index(expr, &value_of);
        Ok(NearDim { moving, start, count, clipped })
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
        e.for_loop(&dim.count, &[], &mut |e, index, _| {
            at.push(index);
            self.copy(e, from, near, at)?;
            at.pop();
            Ok(vec![])
        })?;
        Ok(())
    }

    fn copy_line(&self, e: &mut Emit<'_>, &From { tensor, pad, edge }: &From, near: &Near, at: &[Value]) {
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
        let row = edge.map(|dim| dim as i64);
        let state = SliceOp::state(&e.b, e.loc, tensor, &offsets, row, Some(last as i64), cx.ext_type(slice));
        let op = e.b.create(state);
        let slice = e.b.body().result(op, 0);
        let tile = TileType { space: near.space.clone(), elem: near.elem, rows: 1.into(), cols: extents.1.clone() };
        let line = LoadOp::value(&mut e.b, e.loc, slice, pad, cx.ext_type(tile));
        let mut offsets = at.to_vec();
        offsets.push(e.constant(0));
        let slice = e.window(near.view, &offsets, Some(last as i64), extents);
        StoreOp::build(&mut e.b, e.loc, line, slice);
    }

    /// The tile of what was brought near that lies along the rows of a frame.
    pub(super) fn load_near(&self, e: &mut Emit<'_>, ranges: &Ranges, frame: &Frame, near: &Near) -> Built<Value> {
        let cx = self.nest.cx;
        let rows = frame.row.as_ref();
        let (mut offsets, mut along) = (Vec::with_capacity(near.dims.len()), None);
        for (number, dim) in near.dims.iter().enumerate() {
            let (mut sum, mut values) = (cx.affine_const(0), Vec::new());
            for (moving, factor, base) in &dim.moving {
                let now = match ranges.0[*moving] {
                    Range::Index(index) => index,
                    Range::Tile { base, .. } if rows.is_some_and(|axis| axis.dim == *moving) => base,
                    _ => return Emit::unsupported(self.region.op, "reads what was brought near at no one index"),
                };
                if let Some(axis) = rows.filter(|axis| axis.dim == *moving) {
                    debug_assert_eq!(axis.base, now);
                    along = Some((number as i64, *factor));
                }
                let [a, b] = [0, 1].map(|i| cx.affine_dim(values.len() as u32 + i));
                let less = cx.affine_binary(AffineOp::Mul, b, cx.affine_const(-1));
                let moved = cx.affine_binary(AffineOp::Add, a, less);
                let moved = cx.affine_binary(AffineOp::Mul, moved, cx.affine_const(*factor));
                sum = cx.affine_binary(AffineOp::Add, sum, moved);
                values.extend([now, *base]);
            }
            offsets.push(match values.is_empty() {
                true => e.constant(0),
                false => IndexOp::value(&mut e.b, e.loc, cx.affine_map(values.len() as u32, 0, &[sum]), &values),
            });
        }
        let shape = Shape { rows: along.is_some(), cols: false };
        let (height, _) = frame.extents(shape);
        let slice = SliceType { space: near.space.clone(), elem: near.elem, rows: height, cols: 1.into() };
        let row = along.map(|(dim, _)| dim);
        let mut state = SliceOp::state(&e.b, e.loc, near.view, &offsets, row, None, cx.ext_type(slice));
        if let Some((_, step)) = along.filter(|(_, step)| *step != 1) {
            state = state.prop(cx.ident("row_step"), cx.int_attr(step, Type::I64));
        }
        let op = e.b.create(state);
        let slice = e.b.body().result(op, 0);
        let ty = cx.ext_type(frame.tile_type(shape, near.elem));
        Ok(LoadOp::value(&mut e.b, e.loc, slice, None, ty))
    }
}

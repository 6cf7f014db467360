//! Tiles of a region: where a tensor is read and written, and scalar functions applied to whole tiles.

use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::gir::constraints::Axis as Direction;
use sutura_dialects::gir::kinds::{BinaryKind, CompareKind, TernaryKind};
use sutura_dialects::gir::ops::*;
use sutura_dialects::gir::types::{SliceType, Space, TileType, ViewType};
use sutura_dialects::graph::maps;
use sutura_ir::affine::AffineExpr;
use sutura_ir::{Attr, OpRef, Type, Value};

use super::kernel::{Built, Emit};
use crate::region::Nest;

/// A dim along which tiles extend.
#[derive(Clone)]
pub(super) struct Axis {
    /// The region's dim.
    pub(super) dim: usize,
    /// Index of the tile's first element.
    pub(super) base: Value,
    /// Elements of a tile.
    pub(super) extent: Poly,
}

/// What the dims of a region are at one place of a kernel.
#[derive(Clone)]
pub(super) struct Frame {
    /// Indices of the dims that are no axis.
    pub(super) fixed: Vec<Option<Value>>,
    /// Dim along which tiles have rows.
    pub(super) row: Option<Axis>,
    /// Dim along which tiles have columns.
    pub(super) col: Option<Axis>,
    /// Space of tiles that have columns.
    pub(super) space: Space,
    /// Space of other tiles.
    pub(super) registers: Space,
    /// Tiles may reach beyond the end of their tensors.
    pub(super) partial: bool,
    /// What lies beyond is read as zero, so that all tiles are whole.
    pub(super) padded: bool,
}

/// The axes along which a tile extends.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Shape {
    pub(super) rows: bool,
    pub(super) cols: bool,
}

impl Shape {
    /// One element.
    pub(super) const SCALAR: Self = Self { rows: false, cols: false };

    fn or(self, other: Self) -> Self {
        Self { rows: self.rows || other.rows, cols: self.cols || other.cols }
    }
}

/// Which elements of a tile exist. Tiles that are computed with together take the window of the narrowest one.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Covers {
    /// All.
    All,
    /// Rows up to the end of the left factor of a product, all columns.
    Rows,
    /// What lies in a tensor.
    Tensor,
}

/// A tile of a kernel.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tile {
    pub(super) value: Value,
    pub(super) shape: Shape,
    pub(super) elem: Type,
    /// Which of its elements exist.
    pub(super) window: Covers,
    /// An element per row that lies in the space of the columns: what was just combined.
    pub(super) cached: bool,
}

/// Clauses of a store or a load by the names of the attributes that hold them.
pub(super) type Clauses = Vec<(&'static str, Attr)>;

/// Where a number is written.
pub(super) struct Target<'t> {
    pub(super) view: Value,
    pub(super) index: &'t [AffineExpr],
    /// The window, where it is known.
    pub(super) slice: Option<Value>,
    /// What the store says.
    pub(super) clauses: Clauses,
}

impl<'t> Target<'t> {
    /// The window of a view that an access names.
    pub(super) fn of(view: Value, index: &'t [AffineExpr]) -> Self {
        Self { view, index, slice: None, clauses: Vec::new() }
    }
}

/// A number in a scalar function: a tile, or a constant that takes whatever shape is needed.
#[derive(Clone, Copy, Debug)]
pub(super) enum Number {
    Tile(Tile),
    Constant(Attr, Type),
}

impl Number {
    /// Type of its elements.
    pub(super) fn elem(&self) -> Type {
        match self {
            Self::Tile(tile) => tile.elem,
            Self::Constant(_, elem) => *elem,
        }
    }

    fn shape(&self) -> Shape {
        match self {
            Self::Tile(tile) => tile.shape,
            Self::Constant(..) => Shape::SCALAR,
        }
    }
}

impl Frame {
    /// Extents of a tile.
    pub(super) fn extents(&self, shape: Shape) -> (Poly, Poly) {
        let extent = |axis: &Option<Axis>, on: bool| match axis {
            Some(axis) if on => axis.extent.clone(),
            _ => Poly::constant(1),
        };
        (extent(&self.row, shape.rows), extent(&self.col, shape.cols))
    }

    /// Type of a tile.
    pub(super) fn tile_type(&self, shape: Shape, elem: Type) -> TileType {
        let (rows, cols) = self.extents(shape);
        let space = if shape.cols { self.space.clone() } else { self.registers.clone() };
        TileType { space, elem, rows, cols }
    }

    /// Value of a dim: its index, or that of the first element of a tile.
    pub(super) fn value(&self, dim: usize) -> Value {
        let axis = [&self.row, &self.col].into_iter().flatten().find(|a| a.dim == dim);
        axis.map(|a| a.base).or(self.fixed[dim]).expect("every dim of the region has its place in the kernel")
    }

    /// Axes along which an access extends.
    pub(super) fn shape(&self, nest: &Nest<'_>, index: &[AffineExpr]) -> Shape {
        let along = |axis: &Option<Axis>| {
            axis.as_ref().is_some_and(|a| index.iter().any(|e| maps::mentions(nest.cx, *e, a.dim)))
        };
        Shape { rows: along(&self.row), cols: along(&self.col) }
    }
}

impl Emit<'_> {
    /// The view under other sizes, whose product is the same.
    pub(super) fn reshaped(&mut self, view: Value, sizes: &[Poly]) -> Value {
        let cx = self.b.cx();
        let ty: &ViewType = cx.type_as(self.b.body().ty(view)).expect("a view");
        if ty.dims == sizes {
            return view;
        }
        let ty = cx.ext_type(ViewType { dims: sizes.to_vec(), strides: None, ..ty.clone() });
        IdentityOp::value(&mut self.b, self.loc, view, ty)
    }

    /// The window of a view that an access names, and whether rows of the tile are its columns: a tile in registers takes
    /// what lies side by side in memory as its vectors, and is turned there.
    ///
    /// `edges` are dimensions of the view whose one index may lie outside.
    pub(super) fn slice(
        &mut self,
        nest: &Nest<'_>,
        frame: &Frame,
        view: Value,
        index: &[AffineExpr],
        edges: &[usize],
    ) -> (Value, Shape, bool) {
        self.slice_behind(nest, frame, (view, &[]), index, edges)
    }

    /// The window behind indices of dimensions that the view has before those of the access.
    pub(super) fn slice_behind(
        &mut self,
        nest: &Nest<'_>,
        frame: &Frame,
        (view, before): (Value, &[Value]),
        index: &[AffineExpr],
        edges: &[usize],
    ) -> (Value, Shape, bool) {
        let cx = self.b.cx();
        let shape = frame.shape(nest, index);
        let mut offsets = before.to_vec();
        let mut along: [Option<(i64, i64)>; 2] = [None, None];
        for (dim, expr) in (before.len()..).zip(index) {
            for (axis, found) in [&frame.row, &frame.col].into_iter().zip(&mut along) {
                let Some(axis) = axis.as_ref().filter(|a| maps::mentions(cx, *expr, a.dim)) else { continue };
                let linear = maps::linear(cx, *expr, nest.extents.len()).expect("checked by the region's scheme");
                *found = Some((dim as i64, linear.factors[axis.dim]));
            }
            offsets.push(self.index(*expr, &|d| frame.value(d)));
        }
        let ty: &ViewType = cx.type_as(self.b.body().ty(view)).expect("a view");
        let (mut rows, mut cols) = frame.extents(shape);
        let last = Some((ty.dims.len() as i64 - 1, 1));
        let turned = frame.space == frame.registers && along[1].is_some() && along[0].is_some() && along[0] == last;
        if turned {
            along.swap(0, 1);
            std::mem::swap(&mut rows, &mut cols);
        }
        let slice = cx.ext_type(SliceType { space: ty.space.clone(), elem: ty.elem, rows, cols });
        let [row, col] = along;
        let fixed = |dim: &i64| [row, col].iter().flatten().all(|(along, _)| along != dim);
        let clips: Vec<i64> = edges.iter().map(|dim| *dim as i64).filter(fixed).collect();
        let clips = Some(&clips[..]).filter(|clips| !clips.is_empty());
        let [rows, cols] = [row, col].map(|along| along.map(|(dim, _)| dim));
        let mut state = SliceOp::state(&self.b, self.loc, view, &offsets, rows, cols, clips, slice);
        for (name, step) in [("row_step", row), ("col_step", col)] {
            if let Some((_, step)) = step.filter(|(_, step)| *step != 1) {
                state = state.prop(cx.ident(name), cx.int_attr(step, Type::I64));
            }
        }
        let op = self.b.create(state);
        (self.b.body().result(op, 0), shape, turned)
    }

    /// Reads the window of a view that an access names, and `pad` where that lies outside, along the columns or at one of some edges.
    pub(super) fn load(
        &mut self,
        nest: &Nest<'_>,
        frame: &Frame,
        (view, index): (Value, &[AffineExpr]),
        (pad, edges): (Option<Attr>, &[usize]),
    ) -> Tile {
        let cx = self.b.cx();
        let (slice, shape, turned) = self.slice(nest, frame, view, index, edges);
        let elem = cx.type_as::<ViewType>(self.b.body().ty(view)).expect("a view").elem;
        let mut ty = frame.tile_type(shape, elem);
        if turned {
            std::mem::swap(&mut ty.rows, &mut ty.cols);
        }
        let state = LoadOp::state(&self.b, self.loc, slice, pad, cx.ext_type(ty));
        let clauses = std::mem::take(&mut self.asked).into_iter();
        let load = self.b.create(clauses.fold(state, |state, (name, clause)| state.prop(cx.ident(name), clause)));
        let mut value = self.b.body().result(load, 0);
        if turned {
            value = TransposeOp::value(&mut self.b, self.loc, value);
        }
        let whole = !frame.partial || shape == Shape::SCALAR || pad.is_some();
        let window = if whole { Covers::All } else { Covers::Tensor };
        Tile { value, shape, elem, window, cached: false }
    }

    /// Writes a number to the window of a view that an access names.
    pub(super) fn store(&mut self, nest: &Nest<'_>, frame: &Frame, number: Number, to: Target<'_>) {
        self.store_at(nest, frame, number, to, &[]);
    }

    /// Writes a number to what of the window of a view that an access names lies inside, along the columns and at its edges.
    pub(super) fn store_within(
        &mut self,
        nest: &Nest<'_>,
        frame: &Frame,
        number: Number,
        (view, index): (Value, &[AffineExpr]),
        edges: &[usize],
    ) {
        self.store_at(nest, frame, number, Target::of(view, index), edges);
    }

    fn store_at(&mut self, nest: &Nest<'_>, frame: &Frame, number: Number, to: Target<'_>, edges: &[usize]) {
        let (slice, shape, turned) = match to.slice {
            Some(slice) => (slice, frame.shape(nest, to.index), false),
            None => self.slice(nest, frame, to.view, to.index, edges),
        };
        let mut value = self.realise(frame, number, shape, None).value;
        if turned {
            value = TransposeOp::value(&mut self.b, self.loc, value);
        }
        let cx = self.b.cx();
        let state = StoreOp::state(&self.b, self.loc, value, slice);
        let state = to.clauses.into_iter().fold(state, |state, (name, clause)| state.prop(cx.ident(name), clause));
        self.b.create(state);
    }

    /// A tile of one value.
    pub(super) fn fill(&mut self, frame: &Frame, value: Attr, elem: Type, shape: Shape) -> Tile {
        let ty = self.b.cx().ext_type(frame.tile_type(shape, elem));
        let value = FillOp::value(&mut self.b, self.loc, value, ty);
        Tile { value, shape, elem, window: Covers::All, cached: false }
    }

    /// A number as tile of the given shape, with the window of `like` where one is given.
    pub(super) fn realise(&mut self, frame: &Frame, number: Number, shape: Shape, like: Option<Tile>) -> Tile {
        let tile = match number {
            Number::Tile(tile) if tile.shape == shape && like.is_none_or(|l| tile.window >= l.window) => {
                return tile;
            }
            // Along an axis of one element there is nothing to repeat.
            Number::Tile(tile)
                if like.is_none()
                    && tile.window == Covers::All
                    && frame.extents(tile.shape) == frame.extents(shape) =>
            {
                return Tile { shape, ..tile };
            }
            Number::Tile(tile) => tile,
            Number::Constant(value, elem) if like.is_none() || shape == Shape::SCALAR => {
                return self.fill(frame, value, elem, shape);
            }
            Number::Constant(value, elem) => self.fill(frame, value, elem, Shape::SCALAR),
        };
        let like = match like {
            Some(like) => like,
            None => {
                let zero = zero(self.b.cx(), tile.elem);
                self.fill(frame, zero, tile.elem, shape)
            }
        };
        let value = BroadcastOp::value(&mut self.b, self.loc, tile.value, like.value);
        Tile { value, shape, elem: tile.elem, window: like.window, cached: false }
    }

    /// Numbers as tiles of one shape and one window.
    pub(super) fn agree(&mut self, frame: &Frame, numbers: &[Number]) -> Vec<Tile> {
        let shape = numbers.iter().fold(Shape::SCALAR, |shape, n| shape.or(n.shape()));
        let whole = numbers.iter().filter_map(|n| match n {
            Number::Tile(tile) if tile.shape == shape => Some(*tile),
            _ => None,
        });
        // The first of those with the narrowest window.
        let like = whole.rev().max_by_key(|t| t.window).map(|like| self.in_registers(frame, like));
        let tiles: Vec<Tile> = numbers.iter().map(|n| self.realise(frame, *n, shape, like)).collect();
        tiles.into_iter().map(|t| self.in_registers(frame, t)).collect()
    }

    /// The tile, moved to registers if it is what was combined in the space of the columns.
    pub(super) fn in_registers(&mut self, frame: &Frame, tile: Tile) -> Tile {
        if !tile.cached {
            return tile;
        }
        let ty = self.b.cx().ext_type(frame.tile_type(tile.shape, tile.elem));
        let known = self.moved.get(&tile.value).copied();
        let value = known.unwrap_or_else(|| MoveOp::value(&mut self.b, self.loc, tile.value, ty));
        self.moved.insert(tile.value, value);
        Tile { value, cached: false, ..tile }
    }

    /// The values of an expression in the region's dims.
    pub(super) fn indices(&mut self, frame: &Frame, expr: AffineExpr) -> Tile {
        let cx = self.b.cx();
        let base = self.index(expr, &|d| frame.value(d));
        let axes = [(Direction::Rows, &frame.row), (Direction::Cols, &frame.col)];
        let along: Vec<_> = axes
            .into_iter()
            .filter_map(|(direction, axis)| Some((direction, axis.as_ref()?.dim)))
            .filter(|(_, dim)| maps::mentions(cx, expr, *dim))
            .collect();
        let linear = maps::linear(cx, expr, frame.fixed.len());
        let shape = |direction| Shape { rows: direction == Direction::Rows, cols: direction == Direction::Cols };
        match (&along[..], linear) {
            ([], _) => self.count(frame, Direction::Cols, base, Shape::SCALAR),
            ([(direction, dim)], Some(linear)) if linear.factors[*dim] == 1 => {
                self.count(frame, *direction, base, shape(*direction))
            }
            (_, Some(linear)) => {
                let mut sum = self.count(frame, Direction::Cols, base, Shape::SCALAR);
                for (direction, dim) in along {
                    let zero = self.constant(0);
                    let count = self.count(frame, direction, zero, shape(direction));
                    let factor = Number::Constant(cx.index_attr(linear.factors[dim]), Type::INDEX);
                    let product = self.index_op(frame, BinaryKind::MulI, Number::Tile(count), factor);
                    sum = self.index_op(frame, BinaryKind::AddI, Number::Tile(sum), Number::Tile(product));
                }
                sum
            }
            (_, None) => unreachable!("regions compute with linear indices along tiles"),
        }
    }

    fn index_op(&mut self, frame: &Frame, kind: BinaryKind, a: Number, b: Number) -> Tile {
        let tiles = self.agree(frame, &[a, b]);
        let value = BinaryOp::value(&mut self.b, self.loc, kind, tiles[0].value, tiles[1].value);
        Tile { value, ..tiles[0] }
    }

    /// True where an expression in the region's dims is an index of a dimension of that size.
    pub(super) fn in_range(&mut self, frame: &Frame, expr: AffineExpr, size: &Poly) -> Tile {
        let index = self.indices(frame, expr);
        let size = self.size_tile(frame, size);
        let below = self.index_compare(frame, CompareKind::Slt, Number::Tile(index), Number::Tile(size));
        let cx = self.b.cx();
        // An index is never negative.
        if maps::plain_dim(cx, expr).is_some() || maps::constant(cx, expr).is_some_and(|index| index >= 0) {
            return below;
        }
        let zero = Number::Constant(cx.index_attr(0), Type::INDEX);
        let above = self.index_compare(frame, CompareKind::Sge, Number::Tile(index), zero);
        let value = BinaryOp::value(&mut self.b, self.loc, BinaryKind::And, above.value, below.value);
        Tile { value, ..above }
    }

    pub(super) fn index_compare(&mut self, frame: &Frame, kind: CompareKind, a: Number, b: Number) -> Tile {
        let tiles = self.agree(frame, &[a, b]);
        let value = CompareOp::value(&mut self.b, self.loc, kind, tiles[0].value, tiles[1].value);
        Tile { value, elem: Type::I1, ..tiles[0] }
    }

    /// The one number where all `conditions` hold, else the other.
    pub(super) fn where_all(&mut self, frame: &Frame, conditions: &[Tile], then: Number, other: Number) -> Number {
        conditions.iter().fold(then, |then, condition| {
            let tiles = self.agree(frame, &[Number::Tile(*condition), then, other]);
            let [condition, then, other] = tiles[..] else { unreachable!("as many as were given") };
            let select = TernaryKind::Select;
            let value = TernaryOp::value(&mut self.b, self.loc, select, condition.value, then.value, other.value);
            Number::Tile(Tile { value, ..then })
        })
    }

    /// A tile that counts from `base` on.
    fn count(&mut self, frame: &Frame, direction: Direction, base: Value, shape: Shape) -> Tile {
        let ty = self.b.cx().ext_type(frame.tile_type(shape, Type::INDEX));
        let value = IotaOp::value(&mut self.b, self.loc, direction, base, ty);
        Tile { value, shape, elem: Type::INDEX, window: Covers::All, cached: false }
    }

    /// A size as tile.
    pub(super) fn size_tile(&mut self, frame: &Frame, size: &Poly) -> Tile {
        let base = self.size(size);
        self.count(frame, Direction::Cols, base, Shape::SCALAR)
    }

    /// The error that an op cannot be part of a kernel.
    pub(super) fn unsupported<T>(op: OpRef<'_>, message: &str) -> Built<T> {
        Err(Box::new(op.error(message)))
    }
}

/// The number 0.
pub(super) fn zero(cx: &sutura_ir::Context, elem: Type) -> Attr {
    if elem.is_float(cx) { cx.float_attr(0.0, elem) } else { cx.int_attr(0, elem) }
}

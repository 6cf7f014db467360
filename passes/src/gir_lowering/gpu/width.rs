//! How many neighbouring columns a thread takes at once.
//!
//! A thread reads and writes a vector in one access where its address is a multiple of its size and all of its elements exist
//! or none. That holds for two or four elements if every offset and size that takes part is a multiple of as many: most are
//! known to be, or known not to be; of some sizes only the launch knows, so that the kernel is lowered twice and asks once.

use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::gir::ops::SliceOp;
use sutura_dialects::gir::types::{SliceType, TileType, ViewType};
use sutura_ir::{OpRef, OpView, Value};

use crate::gir_lowering::kernel::Lowering;
use crate::gir_lowering::memory::SliceVal;
use crate::row_threads::MOST_LANES;

/// Bytes of the widest access of a thread.
const ACCESS_BYTES: i64 = 16;

/// Elements that a thread takes at once, if the sizes in `multiples` are multiples of as many.
pub(in crate::gir_lowering) struct Width {
    pub(in crate::gir_lowering) lanes: i64,
    pub(in crate::gir_lowering) multiples: Vec<Poly>,
}

impl Width {
    const ONE: Self = Self { lanes: 1, multiples: Vec::new() };

    /// Adds a number that must be a multiple of `lanes`; false where it is not one.
    fn require(&mut self, lowering: &Lowering<'_, '_>, number: &Poly) -> bool {
        if lowering.bounds.facts.divisible(number, self.lanes) {
            return true;
        }
        // Of a constant, and of what moves with a loop, nothing more is known at the launch.
        let sizes = number.symbols().iter().all(|name| lowering.bounds.variable_named(name).is_none());
        if number.as_const().is_some() || !sizes {
            return false;
        }
        if !self.multiples.contains(number) {
            self.multiples.push(number.clone());
        }
        true
    }
}

impl<'a> Lowering<'a, '_> {
    /// The most elements that each access along columns allows.
    pub(in crate::gir_lowering) fn width(&mut self) -> Width {
        let mut lanes = MOST_LANES;
        while lanes > 1 {
            if let Some(width) = self.width_of(lanes) {
                return width;
            }
            lanes /= 2;
        }
        Width::ONE
    }

    fn width_of(&mut self, lanes: i64) -> Option<Width> {
        let mut width = Width { lanes, multiples: Vec::new() };
        let body = self.kernel.op.inside();
        for op in body.preorder() {
            let op = OpRef::new(self.kernel.op.cx, body, op);
            if let Some(slice) = op.as_::<SliceOp>()
                && !self.slice_allows(&slice, &mut width)
            {
                return None;
            }
            for value in op.results() {
                let Some(tile) = op.cx.type_as::<TileType>(op.ty(value)) else { continue };
                if tile.cols.as_const() != Some(1) && !width.require(self, &tile.cols) {
                    return None;
                }
            }
        }
        Some(width)
    }

    /// Whether vectors along the columns of a slice are aligned, and whole or absent.
    fn slice_allows(&mut self, slice: &SliceOp<'a>, width: &mut Width) -> bool {
        let op = slice.op_ref();
        let (Some(ty), Some(view)) =
            (op.cx.type_as::<SliceType>(op.ty(slice.slice())), op.cx.type_as::<ViewType>(op.ty(slice.view())))
        else {
            return false;
        };
        let Some(col) = slice.col_dim().map(|dim| dim as usize).filter(|_| ty.cols.as_const() != Some(1)) else {
            return true;
        };
        let strides = view.element_strides();
        let contiguous = slice.col_step() == 1 && strides[col].as_const() == Some(1);
        let offsets: Vec<Value> = slice.offsets().collect();
        let Some(from) = self.bounds.expr(offsets[col]) else { return false };
        // A column that lies before the view would leave a vector with some of its elements.
        if self.open_ends(offsets[col], &view.dims[col], &ty.cols, slice.col_step()).0 {
            return false;
        }
        if !contiguous {
            // Each element has an access of its own; that all exist or none is what counts.
            return slice.col_step() == 1 && width.require(self, &view.dims[col]) && width.require(self, &from);
        }
        let along = width.require(self, &view.dims[col]) && width.require(self, &from) && width.require(self, &ty.cols);
        along && self.aligned_along(slice, col, width)
    }

    /// Whether vectors along a dimension, whose neighbours lie side by side, are aligned if their first is, and no longer than an
    /// access.
    fn aligned_along(&mut self, slice: &SliceOp<'a>, along: usize, width: &mut Width) -> bool {
        let op = slice.op_ref();
        let (Some(ty), Some(view)) =
            (op.cx.type_as::<SliceType>(op.ty(slice.slice())), op.cx.type_as::<ViewType>(op.ty(slice.view())))
        else {
            return false;
        };
        let bits = op.cx.bit_width(crate::gir_lowering::memory::stored(view.elem)).map_or(64, i64::from);
        if width.lanes * bits > 8 * ACCESS_BYTES {
            return false;
        }
        let extents = [(slice.row_dim(), &ty.rows), (slice.col_dim(), &ty.cols)];
        let strides = view.element_strides();
        strides.iter().zip(slice.offsets()).enumerate().filter(|(dim, _)| *dim != along).all(
            |(dim, (stride, offset))| {
                let fixed = self.bounds.expr(offset).is_some_and(|at| at.as_const() == Some(0));
                let moves = extents.iter().any(|(of, extent)| *of == Some(dim as i64) && extent.as_const() != Some(1));
                (fixed && !moves) || width.require(self, stride)
            },
        )
    }

    /// Neighbours along the columns that every thread reads at once where all read the same elements.
    pub(in crate::gir_lowering) fn lanes_of_all(&mut self, op: OpRef<'a>, slice: Value) -> i64 {
        let made = op.body.defining_op(slice).map(|made| op.at(made));
        let Some(slice) = made.and_then(|made| made.as_::<SliceOp<'a>>()).filter(|_| self.gpu.is_some()) else {
            return self.e.lanes;
        };
        let ty: Option<&SliceType> = op.cx.type_as(op.ty(slice.slice()));
        let Some(cols) = ty.and_then(|ty| ty.cols.as_const()) else { return 1 };
        let allows = |this: &mut Self, lanes: i64| {
            let mut width = Width { lanes, multiples: Vec::new() };
            cols % lanes == 0 && this.slice_allows(&slice, &mut width) && width.multiples.is_empty()
        };
        [MOST_LANES, 2].into_iter().find(|lanes| allows(self, *lanes)).unwrap_or(1)
    }

    /// Neighbours along the rows of a tile that a thread reads at once, for each of its columns: where columns lie apart in memory,
    /// and rows side by side.
    pub(in crate::gir_lowering) fn rows_at_once(&mut self, op: OpRef<'a>, named: Value, slice: &SliceVal) -> i64 {
        let whole = slice.row.window.is_full() && slice.col.window.is_full() && slice.exists.is_none();
        let made = op.body.defining_op(named).map(|made| op.at(made));
        let Some(this) = made.and_then(|made| made.as_::<SliceOp<'a>>()).filter(|_| self.gpu.is_some()) else {
            return 1;
        };
        let extents = |ty: &SliceType| Some((ty.rows.as_const()?, ty.cols.as_const()?));
        let extents = op.cx.type_as(op.ty(named)).and_then(extents);
        let (Some((rows, cols)), Some(dim)) = (extents, this.row_dim().map(|dim| dim as usize)) else { return 1 };
        let lanes = self.e.lanes_of_columns(cols);
        let all_threads = cols % self.e.with_lanes(lanes, |e| e.columns()) == 0;
        let first = this.offsets().nth(dim).and_then(|offset| self.bounds.expr(offset));
        let Some(first) = first.filter(|_| whole && all_threads && slice.row.is_contiguous()) else { return 1 };
        let allows = |it: &mut Self, lanes: i64| {
            let mut width = Width { lanes, multiples: Vec::new() };
            let along = rows % lanes == 0 && width.require(it, &first) && it.aligned_along(&this, dim, &mut width);
            along && width.multiples.is_empty()
        };
        [MOST_LANES, 2].into_iter().find(|lanes| allows(self, *lanes)).unwrap_or(1)
    }
}

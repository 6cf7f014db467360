//! Views, slices and windows: addresses and masks.

use sutura_dialects::gir::types::ViewType;
use sutura_ir::{Type, Value};

use super::emit::{Emit, Pred};

/// Memory with its sizes as i64 values.
#[derive(Clone)]
pub(super) struct ViewVal {
    pub(super) ptr: Value,
    pub(super) elem: Type,
    /// Sizes of the dimensions.
    pub(super) dims: Vec<Value>,
    /// Distance in elements between neighbours along each dimension.
    pub(super) strides: Vec<Value>,
    /// The same as constants, where they are known: the innermost dimension is contiguous, and others before dimensions of 1.
    pub(super) known: Vec<Option<i64>>,
    pub(super) ty: ViewType,
}

/// Positions `[lo, hi)` of an axis that exist; `None` where all of the extent does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub(super) struct Window {
    pub(super) lo: Option<Value>,
    pub(super) hi: Option<Value>,
}

impl Window {
    pub(super) const FULL: Self = Self { lo: None, hi: None };

    pub(super) fn is_full(self) -> bool {
        self == Self::FULL
    }
}

/// One axis of a slice.
#[derive(Clone, Copy)]
pub(super) struct AxisVal {
    /// Elements in memory between neighbours of the slice; `None` when the axis has one position.
    pub(super) stride: Option<Value>,
    /// The same as a constant, where it is known.
    pub(super) step: Option<i64>,
    pub(super) window: Window,
}

impl AxisVal {
    /// Neighbours are adjacent in memory.
    pub(super) fn is_contiguous(&self) -> bool {
        self.step == Some(1)
    }
}

/// What a slice is part of, as far as the kernel's text says it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Origin {
    /// Address of the memory: views of one buffer have the same.
    pub(super) root: Value,
    /// The `gir.slice`.
    pub(super) slice: Value,
    /// For a tile that is read when it is needed: how many stores had been done when it was loaded.
    pub(super) writes: usize,
}

/// A window of a view.
#[derive(Clone)]
pub(super) struct SliceVal {
    /// Address of position (0, 0), which need not exist.
    pub(super) base: Value,
    pub(super) elem: Type,
    pub(super) row: AxisVal,
    pub(super) col: AxisVal,
    /// Which part of which memory it is; `None` for scratch that only the lowering knows.
    pub(super) origin: Option<Origin>,
    /// False (at run time) when a fixed offset lies outside the view, so that nothing exists; `None` when it never does.
    pub(super) exists: Option<Value>,
}

/// The type by which an element is held in memory: truth values take a byte, indices eight.
pub(super) fn stored(elem: Type) -> Type {
    match elem {
        Type::I1 => Type::I8,
        Type::INDEX => Type::I64,
        other => other,
    }
}

impl Emit<'_> {
    /// Element type as a computation sees it, from the byte in memory.
    pub(super) fn loaded(&mut self, value: Value, elem: Type) -> Value {
        if elem != Type::I1 {
            return value;
        }
        let ty = self.cx().with_element_type(self.ty(value), Type::I1);
        self.op1("arith.trunci", &[value], ty, &[])
    }

    pub(super) fn storable(&mut self, value: Value, elem: Type) -> Value {
        if elem != Type::I1 {
            return value;
        }
        let ty = self.cx().with_element_type(self.ty(value), Type::I8);
        self.op1("arith.extui", &[value], ty, &[])
    }

    /// Address of position (row, col) of a slice.
    pub(super) fn address(&mut self, slice: &SliceVal, row: Option<Value>, col: Option<Value>) -> Value {
        let mut ptr = slice.base;
        for (at, axis) in [(row, slice.row), (col, slice.col)] {
            let (Some(at), Some(stride)) = (at, axis.stride) else { continue };
            let offset = if axis.is_contiguous() { at } else { self.muli(at, stride) };
            ptr = self.gep(ptr, offset, stored(slice.elem));
        }
        ptr
    }

    /// One element.
    pub(super) fn load_scalar(&mut self, slice: &SliceVal, row: Option<Value>, col: Option<Value>) -> Value {
        let ptr = self.address(slice, row, col);
        let value = self.load(ptr, stored(slice.elem));
        self.loaded(value, slice.elem)
    }

    /// Stores one element.
    pub(super) fn store_scalar(&mut self, value: Value, slice: &SliceVal, row: Option<Value>, col: Option<Value>) {
        let ptr = self.address(slice, row, col);
        let value = self.storable(value, slice.elem);
        self.store(value, ptr);
    }

    /// Addresses of `lanes` neighbours along the columns of a slice that is not contiguous there.
    fn lane_addresses(&mut self, slice: &SliceVal, ptr: Value) -> Value {
        let lanes = self.lane_numbers();
        let Some(stride) = slice.col.stride else {
            let zero = self.i64(0);
            let zeros = self.broadcast(zero);
            return self.gep(ptr, zeros, stored(slice.elem));
        };
        let strides = self.broadcast(stride);
        let offsets = self.muli(lanes, strides);
        self.gep(ptr, offsets, stored(slice.elem))
    }

    fn all_lanes(&mut self) -> Value {
        let on = self.cx().bool_attr(true);
        self.splat(on)
    }

    /// `lanes` neighbours from column `col` on, those that `mask` leaves out as zero.
    pub(super) fn load_vector(
        &mut self,
        slice: &SliceVal,
        row: Option<Value>,
        col: Option<Value>,
        mask: Option<Value>,
    ) -> Value {
        let ptr = self.address(slice, row, col);
        let elem = stored(slice.elem);
        let ty = self.vec_type(elem);
        let value = match (slice.col.step, mask) {
            (Some(1), None) => self.load(ptr, ty),
            (Some(1), Some(mask)) => {
                let zero = self.zero(elem);
                self.masked_load(ptr, mask, zero)
            }
            (Some(2), mask) if self.lanes > 1 && self.spread.is_none() => self.load_every_second(ptr, elem, mask),
            (_, mask) if self.spread.is_some() => {
                let zero = self.zero(elem);
                self.load_each((ptr, slice.col.stride), mask, zero)
            }
            (_, mask) => {
                let mask = mask.unwrap_or_else(|| self.all_lanes());
                let (ptrs, zero) = (self.lane_addresses(slice, ptr), self.zero(elem));
                self.gather(ptrs, mask, zero)
            }
        };
        self.loaded(value, slice.elem)
    }

    /// Every second element from `ptr` on: two loads and a shuffle, much cheaper than a gather. What lies between is not
    /// touched, since the last of it need not exist.
    fn load_every_second(&mut self, ptr: Value, elem: Type, mask: Option<Value>) -> Value {
        let lanes = self.lanes;
        let mask = mask.unwrap_or_else(|| self.all_lanes());
        let none = self.cx().bool_attr(false);
        let none = self.splat(none);
        let mut halves = Vec::new();
        for half in 0..2 {
            let wanted = |lane: i64| if lane % 2 == 0 { (half * lanes + lane) / 2 } else { lanes };
            let mask = self.shuffle(mask, none, (0..lanes).map(wanted));
            let at = self.i64(half * lanes);
            let (ptr, zero) = (self.gep(ptr, at, elem), self.zero(elem));
            halves.push(self.masked_load(ptr, mask, zero));
        }
        self.shuffle(halves[0], halves[1], (0..lanes).map(|lane| 2 * lane))
    }

    /// Stores `lanes` neighbours from column `col` on, those that `mask` lets.
    pub(super) fn store_vector(
        &mut self,
        value: Value,
        slice: &SliceVal,
        row: Option<Value>,
        col: Option<Value>,
        mask: Option<Value>,
    ) {
        let ptr = self.address(slice, row, col);
        let value = self.storable(value, slice.elem);
        match (slice.col.is_contiguous(), mask) {
            (true, None) if self.spread.is_none() => {
                let bits = self.as_bits(value);
                self.store(bits, ptr);
            }
            (true, None) => self.store(value, ptr),
            (true, Some(mask)) => self.masked_store(value, ptr, mask),
            (false, mask) if self.spread.is_some() => self.store_each(value, (ptr, slice.col.stride), mask),
            (false, mask) => {
                let mask = mask.unwrap_or_else(|| self.all_lanes());
                let ptrs = self.lane_addresses(slice, ptr);
                self.scatter(value, ptrs, mask);
            }
        }
    }

    /// A vector of zeros.
    pub(super) fn zero(&mut self, elem: Type) -> Value {
        let cx = self.cx();
        let zero = if elem.is_float(cx) { cx.float_attr(0.0, elem) } else { cx.int_attr(0, elem) };
        self.splat(zero)
    }

    /// Lanes whose column, counted from `col`, lies in `[lo, hi)`.
    pub(super) fn column_mask(&mut self, col: Value, window: Window) -> Option<Value> {
        let mut mask = None;
        for (bound, pred) in [(window.hi, Pred::Slt), (window.lo, Pred::Sge)] {
            let Some(bound) = bound else { continue };
            let lanes = self.narrow_lane_numbers();
            let bound = self.lanes_before(bound, col);
            let inside = self.cmpi(pred, lanes, bound);
            mask = Some(self.both(mask, inside));
        }
        mask
    }

    /// How many lanes, the first of which has column `col`, come before column `bound`; in each lane. As i32: indices of
    /// 64 bits would take two vectors for the lanes of one of 32-bit elements.
    fn lanes_before(&mut self, bound: Value, col: Value) -> Value {
        let count = self.subi(bound, col);
        let (none, all) = (self.i64(0), self.i64(self.lanes));
        let count = self.maxi(count, none);
        let count = self.mini(count, all);
        let count = self.op1("arith.trunci", &[count], Type::I32, &[]);
        self.broadcast(count)
    }

    /// Both conditions.
    pub(super) fn both(&mut self, a: Option<Value>, b: Value) -> Value {
        match a {
            Some(a) => {
                let ty = self.ty(a);
                self.op1("arith.andi", &[a, b], ty, &[])
            }
            None => b,
        }
    }
}

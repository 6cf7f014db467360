//! Registers that only multiply matrices: those of AMX.
//!
//! A register holds up to 16 rows of 64 bytes; a tile of gir is a grid of them. They are loaded from memory and stored there, set to zero,
//! and multiplied: a row of the left factor has places of the sum one after another, a row of the right one the places of a word of each
//! column. LLVM chooses the registers and says their forms to the processor.
//!
//! What of a tile does not exist goes through scratch: no row of a register can be left out when it is loaded or stored.

use sutura_dialects::gir::ops::{LoadOp, StoreOp};
use sutura_dialects::gir::types::TileType;
use sutura_ir::{Attr, OpRef, OpView, Type, Value};

use super::emit::{Emit, Pred};
use super::kernel::{Lowered, Lowering, Scratch};
use super::memory::{AxisVal, SliceVal, Window};
use super::tile::{Parts, RegTile};

/// Most rows of a register, and most bytes of a row.
const ROWS: i64 = 16;
const ROW_BYTES: i64 = 64;

/// The registers of a tile: all of one form.
#[derive(Clone, Copy)]
struct Form {
    down: i64,
    across: i64,
    rows: i64,
    cols: i64,
    row_bytes: i64,
}

impl Form {
    fn of(elem_bytes: i64, (rows, cols): (i64, i64)) -> Result<Self, String> {
        let of = |down: i64, across: i64| {
            let (rows, cols) = (rows / down, cols / across);
            Self { down, across, rows, cols, row_bytes: cols * elem_bytes }
        };
        let parts = |all: i64, most: i64| (all.saturating_add(most - 1) / most).max(1);
        let form = of(parts(rows, ROWS), parts(cols.saturating_mul(elem_bytes), ROW_BYTES));
        let whole = form.rows * form.down == rows && form.cols * form.across == cols;
        if !whole || form.row_bytes % WORD_BYTES != 0 || rows == 0 || cols == 0 {
            return Err(format!(
                "a tile of {rows}x{cols} elements does not fill registers of up to 16 rows of 64 bytes"
            ));
        }
        Ok(form)
    }
}

/// Bytes of a word: as many as an element of a sum has.
const WORD_BYTES: i64 = 4;

impl<'a> Lowering<'a, '_> {
    fn form(&self, op: OpRef<'a>, ty: &TileType) -> Lowered<'a, Form> {
        let bytes = op.cx.bit_width(ty.elem).map_or(8, |bits| i64::from(bits.div_ceil(8)));
        let form = ty.extents().ok_or_else(|| "a tile in registers needs constant extents".to_owned());
        self.at(op, form.and_then(|extents| Form::of(bytes, extents)))
    }

    /// A tile that is loaded to be multiplied.
    pub(super) fn load_matrix(&mut self, this: &LoadOp<'a>, slice: &SliceVal) -> Lowered<'a, RegTile> {
        let op = this.op_ref();
        let ty = self.tile_type(op, this.tile());
        let form = self.form(op, ty)?;
        if !slice.col.is_contiguous() || !slice.col.window.is_full() {
            return self.fail(
                op,
                "columns of a tile that is multiplied do not lie side by side in memory, or do not all exist",
            );
        }
        let whole = slice.row.window.is_full() && slice.exists.is_none();
        if !whole && !this.pad().is_some_and(|pad| self.e.is_zero(pad)) {
            return self.fail(op, "rows of a tile that is multiplied may not exist, and are not zero there");
        }
        let (rows, cols) = (form.rows * form.down, form.cols * form.across);
        let from = if whole {
            slice.clone()
        } else {
            let scratch = self.matrix_scratch(op, (rows, cols), ty.elem)?;
            let copied = self.e.rows_that_exist((slice, &scratch), form);
            self.at(op, copied)?;
            scratch
        };
        Ok(self.e.load_registers(&from, form, ty.elem))
    }

    /// Stores sums.
    pub(super) fn store_matrix(&mut self, this: &StoreOp<'a>, tile: &RegTile, slice: &SliceVal) -> Lowered<'a, ()> {
        let op = this.op_ref();
        let form = self.form(op, self.tile_type(op, this.tile()))?;
        let whole = slice.row.window.is_full() && slice.col.window.is_full() && slice.exists.is_none();
        if whole && slice.col.is_contiguous() {
            self.e.store_registers(tile, slice, form);
            return Ok(());
        }
        let scratch = self.matrix_scratch(op, (tile.rows, tile.cols), tile.elem)?;
        self.e.store_registers(tile, &scratch, form);
        let lanes = self.e.lanes_of_columns(tile.cols);
        let stored = self.e.with_lanes(lanes, |e| e.store_from(&scratch, slice, (tile.rows, tile.cols)));
        self.at(op, stored)
    }

    fn matrix_scratch(&mut self, op: OpRef<'a>, (rows, cols): (i64, i64), elem: Type) -> Lowered<'a, SliceVal> {
        let scratch = self.scratch(&(rows * cols).into(), elem, sutura_dialects::gir::constraints::Scope::Unit);
        let Some(Scratch { ptr, .. }) = scratch else {
            return self.fail(op, "a tile of a product does not fit into a thread's scratch");
        };
        let row = AxisVal { stride: Some(self.e.i64(cols)), step: Some(cols), window: Window::FULL };
        let col = AxisVal { stride: Some(self.e.i64(1)), step: Some(1), window: Window::FULL };
        Ok(SliceVal { base: ptr, elem, row, col, origin: None, exists: None })
    }

    /// `acc + lhs . rhs` of tiles in registers that only multiply, by the instruction `name`.
    pub(super) fn multiply_matrices(
        &mut self,
        op: OpRef<'a>,
        name: &str,
        (lhs, rhs, acc): (&RegTile, &RegTile, &RegTile),
    ) -> Lowered<'a, RegTile> {
        let mut forms = Vec::new();
        for operand in op.operands() {
            forms.push(self.form(op, self.tile_type(op, operand))?);
        }
        let [a, b, c] = forms[..] else { return self.fail(op, "takes two factors and sums") };
        let fits = (a.across, a.down, b.across) == (b.down, c.down, c.across) && a.rows == c.rows;
        let words = b.row_bytes == c.row_bytes && b.rows * WORD_BYTES == a.row_bytes;
        if !fits || !words {
            return self.fail(op, format!("the registers of its tiles are not such as '{name}' multiplies"));
        }
        let (Parts::Vectors(left), Parts::Vectors(right), Parts::Vectors(sums)) = (&lhs.parts, &rhs.parts, &acc.parts)
        else {
            return self.fail(op, "a tile of a product is not in registers");
        };
        let sizes = [c.rows, c.row_bytes, a.row_bytes].map(|size| self.e.i16(size));
        let mut sums = sums.clone();
        for (left, sums) in left.iter().zip(&mut sums) {
            for (left, right) in left.iter().zip(right) {
                for (sum, right) in sums.iter_mut().zip(right) {
                    *sum = self.e.matrix(name, &[&sizes[..], &[*sum, *left, *right]].concat());
                }
            }
        }
        Ok(RegTile { parts: Parts::Vectors(sums), ..acc.clone() })
    }

    /// Sums that are zero.
    pub(super) fn zero_matrix(&mut self, op: OpRef<'a>, value: Attr) -> Lowered<'a, RegTile> {
        if !self.e.is_zero(value) {
            return self.fail(op, "registers that only multiply begin with zero");
        }
        let ty = self.tile_type(op, op.result(0));
        let form = self.form(op, ty)?;
        let sizes = [form.rows, form.row_bytes].map(|size| self.e.i16(size));
        let of_row =
            |e: &mut Emit<'_>| (0..form.across).map(|_| e.matrix("llvm.x86.tilezero.internal", &sizes)).collect();
        let parts = (0..form.down).map(|_| of_row(&mut self.e)).collect();
        Ok(in_registers(ty.elem, form, parts))
    }
}

fn in_registers(elem: Type, form: Form, parts: Vec<Vec<Value>>) -> RegTile {
    let (rows, cols) = (form.rows * form.down, form.cols * form.across);
    RegTile { elem, rows, cols, parts: Parts::Vectors(parts), row_window: Window::FULL, col_window: Window::FULL }
}

impl Emit<'_> {
    fn i16(&mut self, value: i64) -> Value {
        let number = self.cx().int_attr(value, Type::I16);
        self.constant(number, Type::I16)
    }

    fn intrinsic(&mut self, name: &str, operands: &[Value], results: &[Type]) -> Option<Value> {
        let cx = self.cx();
        let segments = cx.i32_array(&[operands.len() as i32, 0]);
        let none = cx.i32_array(&[]);
        let props = [("intrin", cx.string_attr(name)), ("op_bundle_sizes", none), ("operandSegmentSizes", segments)];
        let op = self.op("llvm.call_intrinsic", operands, results, &props);
        self.b.body().results(op).next()
    }

    /// An instruction that makes a register.
    fn matrix(&mut self, name: &str, operands: &[Value]) -> Value {
        let ty = self.cx().ext_type(sutura_dialects::llvm::types::X86AmxType);
        self.intrinsic(name, operands, &[ty]).expect("it has a result")
    }

    /// Bytes from a row of a slice to the next.
    fn pitch(&mut self, slice: &SliceVal) -> Value {
        let bytes = self.cx().bit_width(slice.elem).map_or(8, |bits| i64::from(bits.div_ceil(8)));
        match slice.row.stride {
            Some(stride) => {
                let bytes = self.i64(bytes);
                self.muli(stride, bytes)
            }
            // There is one row.
            None => self.i64(ROW_BYTES),
        }
    }

    fn corner(&mut self, slice: &SliceVal, (row, col): (i64, i64)) -> Value {
        let (row, col) = (self.i64(row), self.i64(col));
        self.address(slice, Some(row), Some(col))
    }

    fn load_registers(&mut self, slice: &SliceVal, form: Form, elem: Type) -> RegTile {
        let (pitch, sizes) = (self.pitch(slice), [form.rows, form.row_bytes].map(|size| self.i16(size)));
        let mut parts = Vec::new();
        for down in 0..form.down {
            let mut row = Vec::new();
            for across in 0..form.across {
                let ptr = self.corner(slice, (down * form.rows, across * form.cols));
                row.push(self.matrix("llvm.x86.tileloadd64.internal", &[sizes[0], sizes[1], ptr, pitch]));
            }
            parts.push(row);
        }
        in_registers(elem, form, parts)
    }

    fn store_registers(&mut self, tile: &RegTile, slice: &SliceVal, form: Form) {
        let (pitch, sizes) = (self.pitch(slice), [form.rows, form.row_bytes].map(|size| self.i16(size)));
        let Parts::Vectors(parts) = &tile.parts else { return };
        for (down, row) in parts.iter().enumerate() {
            for (across, register) in row.iter().enumerate() {
                let ptr = self.corner(slice, (down as i64 * form.rows, across as i64 * form.cols));
                let operands = [sizes[0], sizes[1], ptr, pitch, *register];
                self.intrinsic("llvm.x86.tilestored64.internal", &operands, &[]);
            }
        }
    }

    /// Whether a row, counted at run time, lies in a window.
    fn row_lies_in(&mut self, row: Value, window: Window) -> Option<Value> {
        let below = window.hi.map(|hi| self.cmpi(Pred::Slt, row, hi));
        let above = window.lo.map(|lo| self.cmpi(Pred::Sge, row, lo));
        match (below, above) {
            (Some(below), Some(above)) => Some(self.both(Some(below), above)),
            (below, above) => below.or(above),
        }
    }

    fn each_row(&mut self, rows: i64, body: impl FnOnce(&mut Self, Value) -> Result<(), String>) -> Result<(), String> {
        let (from, to, by) = (self.i64(0), self.i64(rows), self.i64(1));
        self.for_loop((from, to, by), &[], |e, row, _| body(e, row).map(|()| vec![]))?;
        Ok(())
    }

    /// Copies rows of words, and zeros where there is no row.
    fn rows_that_exist(&mut self, (slice, scratch): (&SliceVal, &SliceVal), form: Form) -> Result<(), String> {
        let words = self.cx().vector_type(&[form.row_bytes / WORD_BYTES], Type::I32);
        let align = self.alignment(slice.elem);
        self.each_row(form.rows * form.down, |e, row| {
            let mut exists = e.row_lies_in(row, slice.row.window);
            if let Some(some) = slice.exists {
                exists = Some(e.both(exists, some));
            }
            for across in 0..form.across {
                let col = e.i64(across * form.cols);
                let read = |e: &mut Self| {
                    let ptr = e.address(slice, Some(row), Some(col));
                    e.op1("llvm.load", &[ptr], words, &[("alignment", align)])
                };
                let value = match exists {
                    None => read(e),
                    Some(exists) => {
                        let zeros =
                            e.cx().splat_attr(words, e.cx().int_attr(0, Type::I32)).expect("a vector of numbers");
                        e.if_else(exists, &[words], |e| Ok(vec![read(e)]), |e| Ok(vec![e.constant(zeros, words)]))?[0]
                    }
                };
                let to = e.address(scratch, Some(row), Some(col));
                e.op("llvm.store", &[value, to], &[], &[("alignment", align)]);
            }
            Ok(())
        })
    }

    /// Stores what exists of a tile that lies in scratch.
    fn store_from(&mut self, scratch: &SliceVal, slice: &SliceVal, (rows, cols): (i64, i64)) -> Result<(), String> {
        self.each_row(rows, |e, row| {
            let mut exists = e.row_lies_in(row, slice.row.window);
            if let Some(some) = slice.exists {
                exists = Some(e.both(exists, some));
            }
            let store = |e: &mut Self| {
                for chunk in 0..e.chunks(cols) {
                    let (mask, col) = (e.chunk_mask(chunk, cols, slice.col.window), e.own_column(chunk));
                    let value = e.load_vector(scratch, Some(row), Some(col), None);
                    e.store_vector(value, slice, Some(row), Some(col), mask);
                }
                Ok(vec![])
            };
            match exists {
                None => store(e)?,
                Some(exists) => e.if_else(exists, &[], store, |_| Ok(vec![]))?,
            };
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::Form;

    #[test]
    fn tiles_fill_registers() {
        let form = |bytes, extents| Form::of(bytes, extents).map(|f| (f.down, f.across, f.rows, f.row_bytes)).ok();
        assert_eq!(form(4, (32, 32)), Some((2, 2, 16, 64)));
        assert_eq!(form(2, (32, 32)), Some((2, 1, 16, 64)));
        assert_eq!(form(1, (16, 128)), Some((1, 2, 16, 64)));
        assert_eq!(form(4, (1, 16)), Some((1, 1, 1, 64)));
        assert_eq!(form(2, (4, 4)), Some((1, 1, 4, 8)));
        assert_eq!(form(4, (17, 16)), None, "not in registers of equal height");
        assert_eq!(form(1, (4, 65)), None);
        assert_eq!(form(1, (4, 6)), None, "no whole words");
    }
}

//! Instructions that `target.intrinsic` may name: what each is emitted as.
//!
//! An instruction of dot products takes vectors of words. A word holds as many narrow numbers as fit into an element of the accumulator,
//! and the instruction adds their products to that element. Their order in memory is that of the right factor's panels; of the left
//! factor a word is a number of its row, which all lanes get.

use sutura_dialects::gir::ops::{ContractOp, IntrinsicOp, LoadOp};
use sutura_dialects::target::constraints::Order;
use sutura_dialects::target::{contracts, ops as target};
use sutura_ir::{OpRef, OpView, Type, Value};

use super::emit::Emit;
use super::kernel::{Lowered, Lowering};
use super::memory::SliceVal;
use super::tile::{Parts, RegTile};

/// How an instruction is emitted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    /// Upstream's multiplication and addition of vectors, with one rounding.
    Fused,
    /// An intrinsic of LLVM that takes an accumulator and two vectors of words.
    Dot,
    /// An intrinsic of LLVM that takes sizes, an accumulator and two registers of AMX.
    Matrix,
}

/// What `emit` may name: a name, or with a star what names begin with.
const ENTRIES: &[(&str, Form)] = &[
    ("vector.fma", Form::Fused),
    ("llvm.x86.avx512.vpdpbusd.*", Form::Dot),
    ("llvm.x86.avx512bf16.dpbf16ps.*", Form::Dot),
    ("llvm.x86.avx2.vpdpbssd.*", Form::Dot),
    ("llvm.x86.avx2.vpdpbuud.*", Form::Dot),
    ("llvm.aarch64.neon.sdot.*", Form::Dot),
    ("llvm.aarch64.neon.udot.*", Form::Dot),
    ("llvm.aarch64.neon.usdot.*", Form::Dot),
    ("llvm.aarch64.neon.bfdot.*", Form::Dot),
    ("llvm.x86.tdpbf16ps.internal", Form::Matrix),
    ("llvm.x86.tdpbssd.internal", Form::Matrix),
    ("llvm.x86.tdpbsud.internal", Form::Matrix),
    ("llvm.x86.tdpbusd.internal", Form::Matrix),
    ("llvm.x86.tdpbuud.internal", Form::Matrix),
];

/// Bits of a word.
const WORD: u32 = 32;

fn form_of(emit: &str) -> Option<Form> {
    let named = |entry: &str| match entry.strip_suffix('*') {
        Some(start) => emit.starts_with(start),
        None => emit == entry,
    };
    ENTRIES.iter().find(|(entry, _)| named(entry)).map(|(_, form)| *form)
}

/// An intrinsic of LLVM for dot products.
#[derive(Clone, Copy)]
pub(super) struct Dot<'a> {
    name: &'a str,
    order: Order,
}

/// What contracts tiles in registers.
#[derive(Clone, Copy)]
pub(super) enum Contraction<'a> {
    Fused,
    Dot(Dot<'a>),
    /// The intrinsic's name.
    Matrix(&'a str),
}

/// The intrinsic `name` of the machine `op`, if `op` is one that has it.
fn intrinsic_called<'a>(op: OpRef<'a>, name: &str) -> Option<target::IntrinsicOp<'a>> {
    op.as_::<target::MachineOp>()?;
    let found = op.region(0)?.entry()?.ops().find(|o| o.symbol_name() == Some(name))?;
    found.as_::<target::IntrinsicOp>()
}

impl<'a> Lowering<'a, '_> {
    /// The operations beside the kernel.
    fn siblings(&self) -> impl Iterator<Item = OpRef<'a>> + use<'a> {
        let kernel = self.kernel.op;
        let block = kernel.body.op_block(kernel.op);
        block.into_iter().flat_map(move |b| kernel.body.ops(b)).map(move |op| kernel.at(op))
    }

    /// How an operation contracts tiles; `None` for one that does not.
    pub(super) fn contraction(&self, op: OpRef<'a>) -> Lowered<'a, Option<Contraction<'a>>> {
        if op.is::<ContractOp>() {
            return Ok(Some(Contraction::Fused));
        }
        let Some(this) = op.as_::<IntrinsicOp>() else { return Ok(None) };
        let name = this.callee();
        let Some(intrinsic) = self.siblings().find_map(|o| intrinsic_called(o, name)) else {
            return self.fail(op, format!("no machine of the module has an intrinsic @{name}"));
        };
        let means = contracts(intrinsic).is_some();
        match form_of(intrinsic.emit()) {
            Some(Form::Fused) => Ok(means.then_some(Contraction::Fused)),
            Some(Form::Dot) if means && self.gpu.is_none() => {
                let order = intrinsic.order().unwrap_or(Order::LeftFirst);
                Ok(Some(Contraction::Dot(Dot { name: intrinsic.emit(), order })))
            }
            Some(Form::Matrix) if means && self.gpu.is_none() => Ok(Some(Contraction::Matrix(intrinsic.emit()))),
            _ => {
                let emit = intrinsic.emit();
                self.fail(op, format!("a {} has no instruction '{emit}' for @{name}", self.processor()))
            }
        }
    }

    /// Which factor of dot products a loaded tile is, where it is nothing else.
    pub(super) fn factor_of_dots(&self, load: &LoadOp<'a>) -> Lowered<'a, Option<usize>> {
        let op = load.op_ref();
        let mut factor = None;
        for used in op.body.uses(op.result(0)) {
            let dot = matches!(self.contraction(op.at(used.owner))?, Some(Contraction::Dot(_)));
            if !dot || used.index > 1 || factor.is_some_and(|factor| factor != used.index) {
                return Ok(None);
            }
            factor = Some(used.index);
        }
        Ok(factor)
    }

    /// Numbers of a word, where so many columns of a left factor lie in words.
    pub(super) fn group_of_words(&self, slice: &SliceVal, cols: i64) -> Option<i64> {
        let group = i64::from(WORD) / i64::from(self.e.cx().bit_width(slice.elem).unwrap_or(WORD));
        (slice.col.is_contiguous() && slice.col.window.is_full() && cols % group == 0).then_some(group)
    }

    /// The words of a factor of dot products.
    pub(super) fn load_words(
        &mut self,
        op: OpRef<'a>,
        (slice, factor): (&SliceVal, usize),
        (rows, cols): (i64, i64),
    ) -> Lowered<'a, RegTile> {
        let bits = i64::from(op.cx.bit_width(slice.elem).unwrap_or(WORD));
        let group = i64::from(WORD) / bits;
        let (along, across, places) =
            if factor == 0 { (slice.col, slice.row, cols) } else { (slice.row, slice.col, rows) };
        if !along.is_contiguous() || !along.window.is_full() || places % group != 0 {
            return self
                .fail(op, format!("what a dot product sums does not lie side by side in memory, {group} by {group}"));
        }
        if factor == 1 && (across.step != Some(group) || !across.window.is_full() || places != group) {
            return self.fail(op, "the right factor of a dot product does not lie in words, column by column");
        }
        let lanes = self.e.lanes_of_columns(cols);
        let tile = match factor {
            0 => self.e.left_words(slice, (rows, cols), group),
            _ => self.e.with_lanes(lanes, |e| e.right_words(slice, (rows, cols))),
        };
        self.at(op, tile)
    }
}

impl Emit<'_> {
    /// For each row its words, as numbers.
    pub(super) fn left_words(
        &mut self,
        slice: &SliceVal,
        (rows, cols): (i64, i64),
        group: i64,
    ) -> Result<RegTile, String> {
        let per_row = cols / group;
        let load = |e: &mut Self| {
            let mut words = Vec::new();
            for row in 0..rows {
                let at = slice.row.stride.map(|_| e.clamped_row(row, slice.row.window));
                for word in 0..per_row {
                    let col = e.i64(word * group);
                    let ptr = e.address(slice, at, Some(col));
                    words.push(e.load_word(ptr, Type::I32, slice.elem));
                }
            }
            words
        };
        let words = match self.non_empty(slice, rows, cols) {
            None => load(self),
            Some(exists) => {
                let types = vec![Type::I32; (rows * per_row) as usize];
                let zeros = |e: &mut Self| {
                    let zero = e.cx().int_attr(0, Type::I32);
                    Ok(types.iter().map(|ty| e.constant(zero, *ty)).collect())
                };
                self.if_else(exists, &types, |e| Ok(load(e)), zeros)?
            }
        };
        let parts = Parts::Scalars(words.chunks(per_row.max(1) as usize).map(<[Value]>::to_vec).collect());
        let (row_window, col_window) = (slice.row.window, slice.col.window);
        Ok(RegTile { elem: slice.elem, rows, cols, parts, row_window, col_window })
    }

    /// The words of all columns, as vectors.
    fn right_words(&mut self, slice: &SliceVal, (rows, cols): (i64, i64)) -> Result<RegTile, String> {
        let ty = self.vec_type(Type::I32);
        let load = |chunk: i64, e: &mut Self| {
            let col = e.own_column(chunk);
            let ptr = e.address(slice, None, Some(col));
            e.load_word(ptr, ty, slice.elem)
        };
        let words = (0..self.chunks(cols)).map(|chunk| load(chunk, self)).collect();
        let (row_window, col_window) = (slice.row.window, slice.col.window);
        Ok(RegTile { elem: slice.elem, rows, cols, parts: Parts::Vectors(vec![words]), row_window, col_window })
    }

    /// Words that lie where elements do.
    fn load_word(&mut self, ptr: Value, ty: Type, elem: Type) -> Value {
        let align = self.alignment(elem);
        self.op1("llvm.load", &[ptr], ty, &[("alignment", align)])
    }

    /// `acc + lhs . rhs` of tiles of words.
    pub(super) fn dot_tiles(
        &mut self,
        dot: Dot<'_>,
        (lhs, rhs, acc): (&RegTile, &RegTile, &RegTile),
    ) -> Result<RegTile, String> {
        let (Parts::Vectors(right), Parts::Vectors(sums)) = (&rhs.parts, &acc.parts) else {
            return Err("a dot product takes vectors of its right factor and of sums".to_string());
        };
        let in_words = right.iter().flatten().all(|vector| self.cx().element_type(self.ty(*vector)) == Type::I32);
        if !in_words {
            return Err("the right factor of a dot product is computed, and not read in words".to_string());
        }
        let left = self.words_of(lhs);
        let mut sums = sums.clone();
        for (word, right) in right.iter().enumerate() {
            let right: Vec<Value> = right.iter().map(|vector| self.narrow_lanes(*vector, rhs.elem)).collect();
            for (row, sums) in sums.iter_mut().enumerate() {
                let a = self.broadcast(left[row][word]);
                let a = self.narrow_lanes(a, lhs.elem);
                for (sum, b) in sums.iter_mut().zip(&right) {
                    *sum = self.dot(dot, *sum, (a, *b));
                }
            }
        }
        let parts = Parts::Vectors(sums);
        Ok(RegTile { parts, row_window: lhs.row_window, col_window: rhs.col_window, ..acc.clone() })
    }

    /// The words of a left factor, of one that was computed made of its elements.
    fn words_of(&mut self, tile: &RegTile) -> Vec<Vec<Value>> {
        let group = i64::from(WORD / self.cx().bit_width(tile.elem).unwrap_or(WORD));
        let whole = self.cx().vector_type(&[group], tile.elem);
        let one = self.cx().vector_type(&[1], Type::I32);
        let first = self.cx().i64_array(&[0]);
        let word = |e: &mut Self, numbers: Value| {
            let word = e.op1("vector.bitcast", &[numbers], one, &[]);
            e.op1("vector.extract", &[word], Type::I32, &[("static_position", first)])
        };
        match &tile.parts {
            Parts::Scalars(rows) if rows.iter().flatten().all(|value| self.ty(*value) == Type::I32) => rows.clone(),
            Parts::Scalars(rows) => {
                let of = |e: &mut Self, numbers: &[Value]| {
                    let zero = e.zero_of(whole, tile.elem);
                    let filled = numbers.iter().enumerate().fold(zero, |vector, (at, number)| {
                        let position = e.cx().i64_array(&[at as i64]);
                        e.op1("vector.insert", &[*number, vector], whole, &[("static_position", position)])
                    });
                    word(e, filled)
                };
                rows.iter().map(|row| row.chunks(group as usize).map(|numbers| of(self, numbers)).collect()).collect()
            }
            Parts::Vectors(rows) => {
                let mut words = Vec::new();
                for row in rows {
                    let mut line = Vec::new();
                    for at in (0..tile.cols).step_by(group as usize) {
                        let lanes = self.cx().shape(self.ty(row[0])).map_or(1, |shape| shape[0]);
                        let vector = row[(at / lanes) as usize];
                        let numbers = self.shuffle(vector, vector, (0..group).map(|lane| at % lanes + lane));
                        line.push(word(self, numbers));
                    }
                    words.push(line);
                }
                words
            }
        }
    }

    fn zero_of(&mut self, ty: Type, elem: Type) -> Value {
        let cx = self.cx();
        let zero = if elem.is_float(cx) { cx.float_attr(0.0, elem) } else { cx.int_attr(0, elem) };
        let zeros = cx.splat_attr(ty, zero).expect("a vector of numbers");
        self.constant(zeros, ty)
    }

    /// A vector of words as one of the numbers in them.
    fn narrow_lanes(&mut self, words: Value, elem: Type) -> Value {
        let bits = self.cx().bit_width(elem).unwrap_or(WORD);
        let ty = self.cx().vector_type(&[self.lanes * i64::from(WORD / bits)], elem);
        self.op1("vector.bitcast", &[words], ty, &[])
    }

    fn dot(&mut self, dot: Dot<'_>, acc: Value, (left, right): (Value, Value)) -> Value {
        let cx = self.cx();
        let none = cx.i32_array(&[]);
        let segments = cx.i32_array(&[3, 0]);
        let props =
            [("intrin", cx.string_attr(dot.name)), ("op_bundle_sizes", none), ("operandSegmentSizes", segments)];
        let operands = match dot.order {
            Order::LeftFirst => [acc, left, right],
            Order::RightFirst => [acc, right, left],
        };
        let ty = self.ty(acc);
        self.op1("llvm.call_intrinsic", &operands, ty, &props)
    }
}

#[cfg(test)]
mod tests {
    use super::{Form, form_of};

    #[test]
    fn names_have_one_form_and_others_have_none() {
        assert_eq!(form_of("vector.fma"), Some(Form::Fused));
        assert_eq!(form_of("llvm.x86.avx512.vpdpbusd.512"), Some(Form::Dot));
        assert_eq!(form_of("llvm.x86.tdpbf16ps.internal"), Some(Form::Matrix));
        assert_eq!(form_of("llvm.x86.tdpbf16ps"), None, "registers are LLVM's to choose");
        // It saturates, so no sum of it is right.
        assert_eq!(form_of("llvm.x86.avx512.vpdpbusds.512"), None);
        assert_eq!(form_of("llvm.x86.avx512.pmaddubs.w.512"), None);
        assert_eq!(form_of("vector.fmaa"), None);
    }
}

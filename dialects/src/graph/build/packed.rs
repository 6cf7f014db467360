//! Matrices that are stored in blocks of a few bits for each number.

use sutura_ir::affine::AffineOp;
use sutura_ir::{Type, Value};

use super::super::structured::IteratorKind;
use super::{Built, ComputeInput, ComputeResult, GraphBuilder, Scalars, SliceBounds, fail};
use crate::r#dyn::Poly;

/// How a matrix is stored in blocks of integers of a few bits.
#[derive(Clone, Copy, Debug)]
pub struct Blocks {
    /// Numbers of a row.
    pub length: i64,
    /// Numbers that share a scale.
    pub block: i64,
    /// Bits of a number: 2, 4 or 8, packed from the low end of each byte.
    pub bits: i64,
}

impl GraphBuilder<'_, '_> {
    /// The matrix of `rows` rows whose blocks are in `packed: [rows, blocks, bytes]`, with `scales` and perhaps zero points: packed
    /// like it, each row by itself, or numbers. Without zero points they are half of what the bits hold.
    ///
    /// # Errors
    /// When shapes do not fit.
    pub fn unpacked(&mut self, packed: Value, scales: Value, zeros: Option<Value>, rows: i64, of: &Blocks) -> Built {
        let Blocks { length, block, bits } = *of;
        let (count, each) = ((length + block - 1) / block, 8 / bits);
        let bytes = block / each;
        let packed = self.laid_out(packed, &[rows, count, bytes], "packed numbers")?;
        let scales = self.laid_out(scales, &[rows, count], "scales")?;
        let wide_zeros = zeros.is_some_and(|zeros| self.elem(zeros).is_float(self.cx()));
        let zeros = match zeros {
            Some(zeros) if wide_zeros => Some(self.laid_out(zeros, &[rows, count], "zero points")?),
            Some(zeros) => Some(self.laid_out(zeros, &[rows, (count + each - 1) / each], "zero points")?),
            None => None,
        };
        let cx = self.cx();
        let part = |op, expr, by| cx.affine_binary(op, expr, cx.affine_const(by));
        let (row, number, at) = (self.dim(0), self.dim(1), self.dim(2));
        let mut inputs = vec![
            ComputeInput { value: packed, index: vec![row, number, part(AffineOp::FloorDiv, at, each)], oob: None },
            ComputeInput { value: scales, index: vec![row, number], oob: None },
        ];
        let byte_of_zero = if wide_zeros { number } else { part(AffineOp::FloorDiv, number, each) };
        inputs.extend(zeros.map(|value| ComputeInput { value, index: vec![row, byte_of_zero], oob: None }));
        let elem = self.elem(scales);
        let shape = [rows, count, block].map(|size| Some(size.into())).to_vec();
        let result = ComputeResult { shape, elem, index: self.dims(0..3), combiner: None };
        let op = self.compute(&[IteratorKind::Parallel; 3], inputs, vec![result], |s, args| {
            let (of, place) = (s.index(1), s.index(2));
            let (of, place) = (s.cast(of, Type::I32), s.cast(place, Type::I32));
            let number = bits_at(s, args[0], place, bits);
            let zero = match args.get(2) {
                None => s.number((1i64 << (bits - 1)) as f64, Type::F32),
                Some(zero) if wide_zeros => s.cast(*zero, Type::F32),
                Some(zero) => {
                    let zero = bits_at(s, *zero, of, bits);
                    s.cast(zero, Type::F32)
                }
            };
            let (number, scale) = (s.cast(number, Type::F32), s.cast(args[1], Type::F32));
            let difference = s.sub(number, zero);
            let product = s.mul(difference, scale);
            vec![s.cast(product, elem)]
        });
        let blocks = self.b.body().result(op, 0);
        let matrix = self.reshape_to(blocks, &[Some(rows.into()), Some((count * block).into())])?;
        if count * block == length {
            return Ok(matrix);
        }
        // The last block may reach beyond the row.
        self.slice(matrix, &[1], &SliceBounds::Known(vec![0], vec![length]), &[1])
    }

    /// The tensor in a shape that is known; one that has these elements in a row is reshaped.
    fn laid_out(&mut self, x: Value, sizes: &[i64], what: &str) -> Built {
        let shape = self.shape(x);
        if shape.len() != sizes.len() {
            let count = sizes.iter().product::<i64>();
            let given = shape.iter().map(|size| size.as_ref().and_then(Poly::as_const)).product::<Option<i64>>();
            if given.is_none_or(|given| given != count) {
                return fail(format!("the {what} do not have the sizes {sizes:?}"));
            }
            let sizes: Vec<Option<Poly>> = sizes.iter().map(|size| Some((*size).into())).collect();
            return self.reshape_to(x, &sizes);
        }
        for (d, (size, wanted)) in shape.iter().zip(sizes).enumerate() {
            self.unify(size, &Some((*wanted).into()), || format!("dimension {d} of the {what}"))?;
        }
        Ok(x)
    }
}

/// The integer of `bits` bits at a place among those that are packed in bytes, of the byte that has it; as one of 32 bits.
fn bits_at(s: &mut Scalars<'_, '_>, byte: Value, place: Value, bits: i64) -> Value {
    let byte = s.cast(byte, Type::I32);
    if bits == 8 {
        return byte;
    }
    let (each, width, mask) =
        (s.int(8 / bits - 1, Type::I32), s.int(bits, Type::I32), s.int((1 << bits) - 1, Type::I32));
    let within = s.bits("arith.andi", place, each);
    let shift = s.mul(within, width);
    let low = s.bits("arith.shrui", byte, shift);
    s.bits("arith.andi", low, mask)
}

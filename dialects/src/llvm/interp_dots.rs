//! What instructions for dot products do when a program runs: each lane of an accumulator gets the products of its group of narrow lanes.

use sutura_interp::{DType, Fault, Flow, Frame, InterpError, Scalar, Value};

use super::interp::next;
use crate::vector::interp::vector;

/// How an instruction reads its two factors.
#[derive(Clone, Copy)]
enum Kind {
    /// Integers, and whether those of each factor have no sign; sums wrap.
    Integers([bool; 2]),
    /// Floats of 16 bits: products are added to `f32` one after the other, the odd ones first; numbers below the normal ones are zero.
    Floats,
}

/// The beginnings of names.
const DOTS: &[(&str, Kind)] = &[
    ("llvm.x86.avx512.vpdpbusd.", Kind::Integers([true, false])),
    ("llvm.x86.avx2.vpdpbssd.", Kind::Integers([false, false])),
    ("llvm.x86.avx2.vpdpbuud.", Kind::Integers([true, true])),
    ("llvm.aarch64.neon.sdot.", Kind::Integers([false, false])),
    ("llvm.aarch64.neon.udot.", Kind::Integers([true, true])),
    ("llvm.aarch64.neon.usdot.", Kind::Integers([true, false])),
    ("llvm.x86.avx512bf16.dpbf16ps.", Kind::Floats),
    ("llvm.aarch64.neon.bfdot.", Kind::Floats),
];

/// What the intrinsic `name` makes of an accumulator and two factors, the operands with these numbers; `None` where it is no dot product.
pub(super) fn dot(name: &str, operands: &[usize], frame: &mut Frame<'_>) -> Option<Result<Flow, InterpError>> {
    let (_, kind) = DOTS.iter().find(|(begin, _)| name.starts_with(begin))?;
    Some(summed(*kind, operands, frame))
}

fn summed(kind: Kind, operands: &[usize], frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let [acc, a, b] = *operands else {
        return Err(Fault::invalid_ir("a dot product takes an accumulator and two factors").into());
    };
    let (mut sums, a, b) = (vector(frame, acc)?, vector(frame, a)?, vector(frame, b)?);
    let group = a.len() / sums.len().max(1);
    if a.len() != b.len() || group * sums.len() != a.len() {
        return Err(Fault::invalid_ir(
            "both factors of a dot product have as many lanes, a multiple of the accumulator's",
        )
        .into());
    }
    for lane in 0..sums.len() {
        let mut sum = sums.data().read(lane)?;
        for at in (lane * group..(lane + 1) * group).rev() {
            sum = added(kind, sum, (a.data().read(at)?, b.data().read(at)?));
        }
        sums.data_mut().set(lane, Some(sum));
    }
    next(frame, Value::Vector(sums))
}

fn added(kind: Kind, sum: Scalar, (a, b): (Scalar, Scalar)) -> Scalar {
    match kind {
        Kind::Integers(unsigned) => {
            let number = |s: Scalar, unsigned: bool| match unsigned {
                true => s.as_u64().unwrap_or(0) as i64,
                false => s.as_i64().unwrap_or(0),
            };
            let product = number(a, unsigned[0]).wrapping_mul(number(b, unsigned[1]));
            Scalar::int(sum.as_i64().unwrap_or(0).wrapping_add(product), sum.dtype())
        }
        Kind::Floats => {
            let number = |s: Scalar| normal(s.to_f64_lossy() as f32);
            let sum = number(a).mul_add(number(b), normal(f32::from_bits(sum.bits() as u32)));
            Scalar::from_bits(DType::F32, normal(sum).to_bits().into())
        }
    }
}

/// The number, or a zero of its sign where it is below the normal ones.
pub(super) fn normal(number: f32) -> f32 {
    if number.is_subnormal() { 0.0_f32.copysign(number) } else { number }
}

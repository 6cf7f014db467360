//! Folding of math operations.
//!
//! Only functions whose result every machine gives alike are folded: exponentials, logarithms and their kin are
//! approximations, and a folded one would differ from a computed one.

use sutura_ir::float::{from_f64, to_f64};
use sutura_ir::op_def::{Fold, FoldValue};
use sutura_ir::smallvec::{SmallVec, smallvec};
use sutura_ir::types::FloatKind;
use sutura_ir::{Attr, OpRef};

use super::ops::*;
use crate::constant::{self, mask, sign_extend};

fn kind_of(op: OpRef<'_>) -> Option<FloatKind> {
    use FloatKind::{BF16, F16, F32, F64};
    let elem = op.cx.element_type(op.ty(op.result(0)));
    op.cx.float_kind(elem).filter(|k| matches!(k, F16 | BF16 | F32 | F64))
}

/// Folds float operands by their bits.
fn bits(op: OpRef<'_>, constants: &[Option<Attr>], f: impl Fn(&[u64], u64) -> u64) -> Option<Attr> {
    let sign = 1u64 << (kind_of(op)?.bits() - 1);
    let inputs: SmallVec<[Attr; 3]> = constants.iter().copied().collect::<Option<_>>()?;
    constant::map(op.cx, op.ty(op.result(0)), &inputs, |w| Some(f(w, sign)))
}

/// Folds a float operand by its value, rounding once; a result that is NaN is left to the machine.
fn value(op: OpRef<'_>, constants: &[Option<Attr>], f: impl Fn(f64) -> f64) -> Option<Attr> {
    let kind = kind_of(op)?;
    constant::map(op.cx, op.ty(op.result(0)), &[constants[0]?], |w| {
        let result = f(to_f64(kind, w[0]));
        (!result.is_nan()).then(|| from_f64(kind, result))
    })
}

/// Folds an integer operand by its bits and their number.
fn int(op: OpRef<'_>, constants: &[Option<Attr>], f: impl Fn(u64, u32) -> u64) -> Option<Attr> {
    let ty = op.ty(op.result(0));
    let width = constant::int_width(op.cx, ty)?;
    constant::map(op.cx, ty, &[constants[0]?], |w| Some(f(w[0], width)))
}

/// Implements folding to a constant by a function of the op and its constants.
macro_rules! folds {
    ($($op:ident => $fold:expr;)*) => {$(
        impl Fold for $op<'_> {
            fn fold(op: OpRef<'_>, constants: &[Option<Attr>]) -> Option<SmallVec<[FoldValue; 1]>> {
                let fold: fn(OpRef<'_>, &[Option<Attr>]) -> Option<Attr> = $fold;
                Some(smallvec![FoldValue::Attr(fold(op, constants)?)])
            }
        }
    )*};
}

folds! {
    AbsFOp => |op, c| bits(op, c, |w, sign| w[0] & !sign);
    CopySignOp => |op, c| bits(op, c, |w, sign| (w[0] & !sign) | (w[1] & sign));
    CeilOp => |op, c| value(op, c, f64::ceil);
    FloorOp => |op, c| value(op, c, f64::floor);
    TruncOp => |op, c| value(op, c, f64::trunc);
    RoundOp => |op, c| value(op, c, f64::round);
    RoundEvenOp => |op, c| value(op, c, f64::round_ties_even);
    SqrtOp => |op, c| value(op, c, f64::sqrt);
    AbsIOp => |op, c| int(op, c, |word, width| sign_extend(word, width).unsigned_abs());
    CountLeadingZerosOp => |op, c| int(op, c, |word, width| u64::from(word.leading_zeros() - (64 - width)));
    CountTrailingZerosOp => |op, c| int(op, c, |word, width| u64::from(word.trailing_zeros().min(width)));
    CtPopOp => |op, c| int(op, c, |word, width| u64::from((word & mask(width)).count_ones()));
}

//! Arithmetic with two results or with scales.

use std::borrow::Cow;

use sutura_ir::constraints::*;
use sutura_ir::interfaces::ResultNames;
use sutura_ir::op_def::Verify;
use sutura_ir::smallvec::{SmallVec, smallvec};
use sutura_ir::{Diagnostic, Diagnostics, OpRef, Reported, Type, op};

use super::attrs::{FastMathFlags, RoundingMode};

type Names = SmallVec<[(usize, Cow<'static, str>); 1]>;

/// The names of two results.
pub(super) struct Two(pub(super) &'static str, pub(super) &'static str);

impl ResultNames for Two {
    fn names(&self, _: OpRef<'_>) -> Names {
        smallvec![(0, self.0.into()), (1, self.1.into())]
    }
}

/// The sum, and whether it overflows as unsigned integers.
///
/// ```mlir
/// %sum, %overflow = arith.addui_extended %a, %b : i32, i1
/// ```
#[op(
    "arith.addui_extended",
    traits(Pure, Commutative, Elementwise),
    format = "$lhs `,` $rhs attr-dict `:` type($sum) `,` type($overflow)",
    verify
)]
pub struct AddUIExtendedOp<T: SignlessIntegerOrIndexLike> {
    lhs: Operand<T>,
    rhs: Operand<T>,
    sum: Res<T>,
    overflow: Res<BoolLike>,
}

impl Verify for AddUIExtendedOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let (sum, overflow) = (op.ty(op.result(0)), op.ty(op.result(1)));
        if op.cx.shape(sum) == op.cx.shape(overflow) {
            return Ok(());
        }
        let message = "failed to verify that if an operand is non-scalar, then all results must be non-scalar";
        Err(diags.report(op.error(message)))
    }
}

/// The low and the high half of the product of signed integers.
#[op("arith.mulsi_extended", traits(Pure, Commutative, Elementwise), format = "$lhs `,` $rhs attr-dict `:` type($lhs)")]
pub struct MulSIExtendedOp<T: SignlessIntegerOrIndexLike> {
    lhs: Operand<T>,
    rhs: Operand<T>,
    low: Res<T>,
    high: Res<T>,
}

/// The low and the high half of the product of unsigned integers.
#[op("arith.mului_extended", traits(Pure, Commutative, Elementwise), format = "$lhs `,` $rhs attr-dict `:` type($lhs)")]
pub struct MulUIExtendedOp<T: SignlessIntegerOrIndexLike> {
    lhs: Operand<T>,
    rhs: Operand<T>,
    low: Res<T>,
    high: Res<T>,
}

/// Converts to a wider floating-point type and multiplies by a power of two.
#[op(
    "arith.scaling_extf",
    traits(Pure, Elementwise, SameOperandsAndResultShape),
    format = "$in `,` $scale (`fastmath` `` custom<FastMath>($fastmath)^)? attr-dict `:` type($in) `,` type($scale) \
              `to` type($out)",
    verify
)]
pub struct ScalingExtFOp {
    #[name("in")]
    input: Operand<FloatLike>,
    scale: Operand<FloatLike>,
    #[name("out")]
    output: Res<FloatLike>,
    /// What may be assumed.
    fastmath: OptAttr<FastMathFlags>,
}

/// Divides by a power of two and converts to a narrower floating-point type, rounding.
#[op(
    "arith.scaling_truncf",
    traits(Pure, Elementwise, SameOperandsAndResultShape),
    format = "$in `,` $scale ($roundingmode^)? (`fastmath` `` custom<FastMath>($fastmath)^)? attr-dict `:` type($in) \
              `,` type($scale) `to` type($out)",
    verify
)]
pub struct ScalingTruncFOp {
    #[name("in")]
    input: Operand<FloatLike>,
    scale: Operand<FloatLike>,
    #[name("out")]
    output: Res<FloatLike>,
    /// How to round; to the nearest, ties to even, when absent.
    roundingmode: OptAttr<RoundingMode>,
    /// What may be assumed.
    fastmath: OptAttr<FastMathFlags>,
}

/// One of the types is wider than the other.
fn verify_width(op: OpRef<'_>, narrow: Type, wide: Type) -> Result<(), Diagnostic> {
    let bits = |ty| op.cx.bit_width(op.cx.element_type(ty));
    if bits(narrow) < bits(wide) {
        return Ok(());
    }
    let [from, scale, to] = [op.operand(0), op.operand(1), op.result(0)].map(|v| crate::show::ty(op.cx, op.ty(v)));
    Err(op.error(format!("operand types '{from}', '{scale}' and result type '{to}' are cast incompatible")))
}

impl Verify for ScalingExtFOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        verify_width(op, op.ty(op.operand(0)), op.ty(op.result(0))).map_err(|d| diags.report(d))
    }
}

impl Verify for ScalingTruncFOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        verify_width(op, op.ty(op.result(0)), op.ty(op.operand(0))).map_err(|d| diags.report(d))
    }
}

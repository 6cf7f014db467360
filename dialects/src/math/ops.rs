//! Operations of the math dialect.

use sutura_ir::constraints::*;
use sutura_ir::op_def::{InferInput, InferTypes, Verify};
use sutura_ir::smallvec::{SmallVec, smallvec};
use sutura_ir::{Diagnostics, OpRef, Reported, Type, op};

use crate::arith::FastMathFlags;

/// A function of one float.
macro_rules! float_unary {
    ($($(#[$doc:meta])* $ident:ident = $name:literal $(, $flag:ident)*;)*) => {$(
        $(#[$doc])*
        #[op(
            $name,
            traits(Pure, SameOperandsAndResultType, Elementwise),
            format = "$operand (`fastmath` `` custom<FastMath>($fastmath)^)? attr-dict `:` type($result)"
            $(, $flag)*
        )]
        pub struct $ident {
            operand: Operand<FloatLike>,
            /// What may be assumed.
            #[default(FastMathFlags::NONE)]
            fastmath: Attr<FastMathFlags>,
            result: Res<FloatLike>,
        }
    )*};
}

/// A function of two floats.
macro_rules! float_binary {
    ($($(#[$doc:meta])* $ident:ident = $name:literal $(, $flag:ident)*;)*) => {$(
        $(#[$doc])*
        #[op(
            $name,
            traits(Pure, SameOperandsAndResultType, Elementwise),
            format = "$lhs `,` $rhs (`fastmath` `` custom<FastMath>($fastmath)^)? attr-dict `:` type($result)"
            $(, $flag)*
        )]
        pub struct $ident {
            lhs: Operand<FloatLike>,
            rhs: Operand<FloatLike>,
            /// What may be assumed.
            #[default(FastMathFlags::NONE)]
            fastmath: Attr<FastMathFlags>,
            result: Res<FloatLike>,
        }
    )*};
}

/// A function of one integer.
macro_rules! int_unary {
    ($($(#[$doc:meta])* $ident:ident = $name:literal;)*) => {$(
        $(#[$doc])*
        #[op(
            $name,
            traits(Pure, SameOperandsAndResultType, Elementwise),
            format = "$operand attr-dict `:` type($result)",
            fold
        )]
        pub struct $ident {
            operand: Operand<SignlessIntegerOrIndexLike>,
            result: Res<SignlessIntegerOrIndexLike>,
        }
    )*};
}

/// A question about one float.
macro_rules! float_class {
    ($($(#[$doc:meta])* $ident:ident = $name:literal;)*) => {$(
        $(#[$doc])*
        #[op(
            $name,
            traits(Pure, Elementwise),
            format = "$operand (`fastmath` `` custom<FastMath>($fastmath)^)? attr-dict `:` type($operand)",
            verify,
            infer
        )]
        pub struct $ident {
            operand: Operand<FloatLike>,
            /// What may be assumed.
            #[default(FastMathFlags::NONE)]
            fastmath: Attr<FastMathFlags>,
            result: Res<BoolLike>,
        }

        impl Verify for $ident<'_> {
            fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
                verify_class(op, diags)
            }
        }

        impl InferTypes for $ident<'_> {
            fn infer(input: InferInput<'_>) -> Result<SmallVec<[Type; 2]>, String> {
                infer_class(input)
            }
        }
    )*};
}

float_unary! {
    /// Absolute value: clears the sign.
    AbsFOp = "math.absf", fold;
    /// Arc cosine.
    AcosOp = "math.acos";
    /// Arc sine.
    AsinOp = "math.asin";
    /// Arc tangent.
    AtanOp = "math.atan";
    /// Cube root.
    CbrtOp = "math.cbrt";
    /// The least integer that is not below.
    CeilOp = "math.ceil", fold;
    /// Cosine.
    CosOp = "math.cos";
    /// Hyperbolic cosine.
    CoshOp = "math.cosh";
    /// Error function.
    ErfOp = "math.erf";
    /// Complementary error function, one minus the error function.
    ErfcOp = "math.erfc";
    /// Exponential.
    ExpOp = "math.exp";
    /// Power of two.
    Exp2Op = "math.exp2";
    /// Exponential minus one.
    ExpM1Op = "math.expm1";
    /// The greatest integer that is not above.
    FloorOp = "math.floor", fold;
    /// Natural logarithm.
    LogOp = "math.log";
    /// Decimal logarithm.
    Log10Op = "math.log10";
    /// Natural logarithm of one plus the operand.
    Log1pOp = "math.log1p";
    /// Binary logarithm.
    Log2Op = "math.log2";
    /// The nearest integer, ties away from zero.
    RoundOp = "math.round", fold;
    /// The nearest integer, ties to even.
    RoundEvenOp = "math.roundeven", fold;
    /// One divided by the square root.
    RsqrtOp = "math.rsqrt";
    /// Sine.
    SinOp = "math.sin";
    /// Hyperbolic sine.
    SinhOp = "math.sinh";
    /// Square root.
    SqrtOp = "math.sqrt", fold;
    /// Tangent.
    TanOp = "math.tan";
    /// Hyperbolic tangent.
    TanhOp = "math.tanh";
    /// The nearest integer toward zero.
    TruncOp = "math.trunc", fold;
}

float_binary! {
    /// Angle of the point (rhs, lhs).
    Atan2Op = "math.atan2";
    /// The first operand with the sign of the second.
    CopySignOp = "math.copysign", fold;
    /// The first operand to the power of the second.
    PowFOp = "math.powf";
}

float_class! {
    /// True for neither infinity nor NaN.
    IsFiniteOp = "math.isfinite";
    /// True for an infinity.
    IsInfOp = "math.isinf";
    /// True for NaN.
    IsNaNOp = "math.isnan";
}

int_unary! {
    /// Absolute value; that of the least integer is itself.
    AbsIOp = "math.absi";
    /// Number of zero bits above the highest one.
    CountLeadingZerosOp = "math.ctlz";
    /// Number of zero bits below the lowest one.
    CountTrailingZerosOp = "math.cttz";
    /// Number of one bits.
    CtPopOp = "math.ctpop";
}

/// `a * b + c`, rounded once.
///
/// ```mlir
/// %d = math.fma %a, %b, %c : f32
/// ```
#[op(
    "math.fma",
    traits(Pure, SameOperandsAndResultType, Elementwise),
    format = "$a `,` $b `,` $c (`fastmath` `` custom<FastMath>($fastmath)^)? attr-dict `:` type($result)"
)]
pub struct FmaOp {
    a: Operand<FloatLike>,
    b: Operand<FloatLike>,
    c: Operand<FloatLike>,
    /// What may be assumed.
    #[default(FastMathFlags::NONE)]
    fastmath: Attr<FastMathFlags>,
    result: Res<FloatLike>,
}

/// A signed integer to the power of another.
#[op(
    "math.ipowi",
    traits(Pure, SameOperandsAndResultType, Elementwise),
    format = "$lhs `,` $rhs attr-dict `:` type($result)"
)]
pub struct IPowIOp {
    lhs: Operand<SignlessIntegerOrIndexLike>,
    rhs: Operand<SignlessIntegerOrIndexLike>,
    result: Res<SignlessIntegerOrIndexLike>,
}

/// A float to the power of a signed integer.
#[op(
    "math.fpowi",
    traits(Pure, Elementwise),
    format = "$lhs `,` $rhs (`fastmath` `` custom<FastMath>($fastmath)^)? attr-dict `:` type($lhs) `,` type($rhs)"
)]
pub struct FPowIOp<T: FloatLike> {
    lhs: Operand<T>,
    rhs: Operand<SignlessIntegerLike>,
    /// What may be assumed.
    #[default(FastMathFlags::NONE)]
    fastmath: Attr<FastMathFlags>,
    result: Res<T>,
}

fn verify_class(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
    if op.cx.with_element_type(op.ty(op.operand(0)), Type::I1) == op.ty(op.result(0)) {
        return Ok(());
    }
    let message = "failed to verify that result type has i1 element type and same shape as operands";
    Err(diags.report(op.error(message)))
}

fn infer_class(input: InferInput<'_>) -> Result<SmallVec<[Type; 2]>, String> {
    let operand = input.operands.first().ok_or("the op has no operand")?;
    Ok(smallvec![input.cx.with_element_type(*operand, Type::I1)])
}

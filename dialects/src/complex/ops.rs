//! Operations of the complex dialect.

use sutura_ir::constraints::*;
use sutura_ir::op_def::{InferInput, InferTypes, Verify};
use sutura_ir::smallvec::{SmallVec, smallvec};
use sutura_ir::{Diagnostics, OpRef, Reported, Type, op};

use super::verify;
use crate::arith::FastMathFlags;

/// A function of one complex number that is a complex number.
macro_rules! unary {
    ($($(#[$doc:meta])* $ident:ident = $name:literal $(, $flag:ident)*;)*) => {$(
        $(#[$doc])*
        #[op(
            $name,
            traits(Pure, SameOperandsAndResultType, Elementwise),
            format = "$complex (`fastmath` `` custom<FastMath>($fastmath)^)? attr-dict `:` type($complex)"
            $(, $flag)*
        )]
        pub struct $ident {
            complex: Operand<AnyComplex>,
            /// What may be assumed.
            #[default(FastMathFlags::NONE)]
            fastmath: Attr<FastMathFlags>,
            result: Res<AnyComplex>,
        }
    )*};
}

/// A function of one complex number that is a real one.
macro_rules! real {
    ($($(#[$doc:meta])* $ident:ident = $name:literal $(, $flag:ident)*;)*) => {$(
        $(#[$doc])*
        #[op(
            $name,
            traits(Pure, Elementwise),
            format = "$complex (`fastmath` `` custom<FastMath>($fastmath)^)? attr-dict `:` type($complex)",
            verify,
            infer
            $(, $flag)*
        )]
        pub struct $ident {
            complex: Operand<AnyComplex>,
            /// What may be assumed.
            #[default(FastMathFlags::NONE)]
            fastmath: Attr<FastMathFlags>,
            result: Res<AnyFloat>,
        }

        impl Verify for $ident<'_> {
            fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
                verify::real(op, diags)
            }
        }

        impl InferTypes for $ident<'_> {
            fn infer(input: InferInput<'_>) -> Result<SmallVec<[Type; 2]>, String> {
                verify::infer_part(&input)
            }
        }
    )*};
}

/// A function of two complex numbers.
macro_rules! binary {
    ($($(#[$doc:meta])* $ident:ident = $name:literal $([$mark:ident])? $(, $flag:ident)*;)*) => {$(
        $(#[$doc])*
        #[op(
            $name,
            traits(Pure, SameOperandsAndResultType, Elementwise $(, $mark)?),
            format = "$lhs `,` $rhs (`fastmath` `` custom<FastMath>($fastmath)^)? attr-dict `:` type($result)"
            $(, $flag)*
        )]
        pub struct $ident {
            lhs: Operand<AnyComplex>,
            rhs: Operand<AnyComplex>,
            /// What may be assumed.
            #[default(FastMathFlags::NONE)]
            fastmath: Attr<FastMathFlags>,
            result: Res<AnyComplex>,
        }
    )*};
}

/// A comparison of two complex numbers.
macro_rules! comparison {
    ($($(#[$doc:meta])* $ident:ident = $name:literal;)*) => {$(
        $(#[$doc])*
        #[op(
            $name,
            traits(Pure, Elementwise, Commutative),
            format = "$lhs `,` $rhs attr-dict `:` type($lhs)",
            verify,
            infer
        )]
        pub struct $ident<T: AnyComplex> {
            lhs: Operand<T>,
            rhs: Operand<T>,
            result: Res<I1>,
        }

        impl Verify for $ident<'_> {
            fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
                verify::comparison(op, diags)
            }
        }

        impl InferTypes for $ident<'_> {
            fn infer(_: InferInput<'_>) -> Result<SmallVec<[Type; 2]>, String> {
                Ok(smallvec![Type::I1])
            }
        }
    )*};
}

/// A complex number: the list of its real and its imaginary part.
///
/// ```mlir
/// %z = complex.constant [0.1 : f32, -1.0 : f32] : complex<f32>
/// ```
#[op("complex.constant", traits(Pure, ConstantLike), format = "$value attr-dict `:` type($complex)", verify)]
pub struct ConstantOp {
    /// Two floats of the type of the parts.
    #[name("value")]
    parts: Attr<ArrayAttr>,
    complex: Res<AnyComplex>,
}

/// The complex number with these parts.
#[op(
    "complex.create",
    traits(Pure, Elementwise),
    format = "$real `,` $imaginary attr-dict `:` custom<OfParts>(type($real), type($imaginary), type($complex))",
    verify,
    fold
)]
pub struct CreateOp {
    real: Operand<AnyFloat>,
    imaginary: Operand<AnyFloat>,
    complex: Res<AnyComplex>,
}

unary! {
    /// The conjugate: the imaginary part negated.
    ConjOp = "complex.conj", fold;
    /// Cosine.
    CosOp = "complex.cos";
    /// Exponential.
    ExpOp = "complex.exp";
    /// Natural logarithm, whose imaginary part is in `[-pi, pi]`.
    LogOp = "complex.log";
    /// Both parts negated.
    NegOp = "complex.neg", fold;
    /// Sine.
    SinOp = "complex.sin";
    /// The square root whose real part is not negative.
    SqrtOp = "complex.sqrt";
}

real! {
    /// The magnitude; computed without overflow in between.
    AbsOp = "complex.abs";
    /// The angle in `[-pi, pi]`.
    AngleOp = "complex.angle";
    /// The imaginary part.
    ImOp = "complex.im", fold;
    /// The real part.
    ReOp = "complex.re", fold;
}

binary! {
    /// The sum.
    AddOp = "complex.add" [Commutative], fold;
    /// The quotient, by Smith's formula. A divisor of zero divides each part.
    DivOp = "complex.div";
    /// The product, by the plain formula.
    MulOp = "complex.mul" [Commutative], fold;
    /// The difference.
    SubOp = "complex.sub", fold;
}

comparison! {
    /// True when both parts are equal.
    EqualOp = "complex.eq";
    /// True when a part differs, or is NaN.
    NotEqualOp = "complex.neq";
}

//! Operations of the arith dialect.

use sutura_ir::constraints::*;
use sutura_ir::op;

use super::attrs::{CmpFPredicate, CmpIPredicate, FastMathFlags, IntegerOverflowFlags, RoundingMode};

sutura_ir::type_constraints! {
    /// `iN`, or a vector or tensor of it.
    pub SignlessFixedWidthIntegerLike = "signless-fixed-width-integer-like",
        |cx, ty| is_like(cx, ty, |cx, e| e.is_signless_integer(cx));
    /// What `index_cast` converts.
    pub IndexCastable = "signless-integer-like or memref of signless-integer",
        |cx, ty| is_signless_integer_or_index(cx, cx.element_type(ty));
    /// What `bitcast` converts.
    pub Bitcastable = "signless-integer-or-float-like or memref of signless-integer or float",
        |cx, ty| {
            let elem = cx.element_type(ty);
            elem.is_signless_integer(cx) || elem.is_float(cx)
        };
}

/// An integer, float or dense constant.
///
/// ```mlir
/// %0 = arith.constant 42 : i32
/// %1 = arith.constant dense<0.0> : vector<4xf32>
/// ```
#[op("arith.constant", traits(Pure, ConstantLike), format = "attr-dict $value", verify)]
pub struct ConstantOp {
    /// The constant; its type is the result's.
    #[name("value")]
    constant: Attr<TypedAttr>,
    result: Res<AnyType>,
}

// ---- integers

/// Two operands of one integer type, and a result of the same.
macro_rules! int_binary {
    ($($(#[$doc:meta])* $ident:ident = $name:literal, [$($trait:ident),*] $(, $flag:ident)*;)*) => {$(
        $(#[$doc])*
        #[op(
            $name,
            traits(SameOperandsAndResultType, Elementwise $(, $trait)*),
            format = "$lhs `,` $rhs attr-dict `:` type($result)",
            fold
            $(, $flag)*
        )]
        pub struct $ident {
            lhs: Operand<SignlessIntegerOrIndexLike>,
            rhs: Operand<SignlessIntegerOrIndexLike>,
            result: Res<SignlessIntegerOrIndexLike>,
        }
    )*};
}

/// The same with a promise about overflow.
macro_rules! int_binary_with_overflow {
    ($($(#[$doc:meta])* $ident:ident = $name:literal, [$($trait:ident),*] $(, $flag:ident)*;)*) => {$(
        $(#[$doc])*
        #[op(
            $name,
            traits(Pure, SameOperandsAndResultType, Elementwise $(, $trait)*),
            format = "$lhs `,` $rhs (`overflow` `` custom<OverflowFlags>($overflowFlags)^)? attr-dict `:` type($result)",
            fold
            $(, $flag)*
        )]
        pub struct $ident {
            lhs: Operand<SignlessIntegerOrIndexLike>,
            rhs: Operand<SignlessIntegerOrIndexLike>,
            /// Overflows that do not happen.
            #[name("overflowFlags")]
            #[default(IntegerOverflowFlags::NONE)]
            overflow_flags: Attr<IntegerOverflowFlags>,
            result: Res<SignlessIntegerOrIndexLike>,
        }
    )*};
}

/// The same with a promise that nothing is lost.
macro_rules! int_binary_with_exact {
    ($($(#[$doc:meta])* $ident:ident = $name:literal, [$($trait:ident),*] $(, $flag:ident)*;)*) => {$(
        $(#[$doc])*
        #[op(
            $name,
            traits(SameOperandsAndResultType, Elementwise $(, $trait)*),
            format = "$lhs `,` $rhs (`exact` $isExact^)? attr-dict `:` type($result)",
            fold
            $(, $flag)*
        )]
        pub struct $ident {
            lhs: Operand<SignlessIntegerOrIndexLike>,
            rhs: Operand<SignlessIntegerOrIndexLike>,
            /// The bits that the result drops are zero; otherwise it is poison.
            #[name("isExact")]
            #[absent]
            is_exact: Flag,
            result: Res<SignlessIntegerOrIndexLike>,
        }
    )*};
}

int_binary_with_overflow! {
    /// Integer addition, wrapping.
    AddIOp = "arith.addi", [Commutative], canonicalize;
    /// Integer subtraction, wrapping.
    SubIOp = "arith.subi", [], canonicalize;
    /// Integer multiplication, wrapping.
    MulIOp = "arith.muli", [Commutative], canonicalize;
    /// Shift to the left, filling with zeros. Poison when the amount is not below the width.
    ShLIOp = "arith.shli", [];
}

int_binary_with_exact! {
    /// Unsigned division, rounding toward zero. Undefined for a zero divisor.
    DivUIOp = "arith.divui", [];
    /// Signed division, rounding toward zero. Undefined for a zero divisor and on overflow.
    DivSIOp = "arith.divsi", [];
    /// Shift to the right, filling with zeros. Poison when the amount is not below the width.
    ShRUIOp = "arith.shrui", [Pure];
    /// Shift to the right, filling with the sign. Poison when the amount is not below the width.
    ShRSIOp = "arith.shrsi", [Pure];
}

int_binary! {
    /// Unsigned division, rounding up. Undefined for a zero divisor.
    CeilDivUIOp = "arith.ceildivui", [];
    /// Signed division, rounding up. Undefined for a zero divisor and on overflow.
    CeilDivSIOp = "arith.ceildivsi", [];
    /// Signed division, rounding down. Undefined for a zero divisor and on overflow.
    FloorDivSIOp = "arith.floordivsi", [Pure];
    /// Remainder of unsigned division. Undefined for a zero divisor.
    RemUIOp = "arith.remui", [Pure];
    /// Remainder of signed division, with the sign of the dividend. Undefined for a zero divisor.
    RemSIOp = "arith.remsi", [Pure];
    /// Bitwise and.
    AndIOp = "arith.andi", [Pure, Commutative, Idempotent], canonicalize;
    /// Bitwise or.
    OrIOp = "arith.ori", [Pure, Commutative, Idempotent], canonicalize;
    /// Bitwise exclusive or.
    XOrIOp = "arith.xori", [Pure, Commutative], canonicalize;
    /// The larger of two signed integers.
    MaxSIOp = "arith.maxsi", [Pure, Commutative];
    /// The larger of two unsigned integers.
    MaxUIOp = "arith.maxui", [Pure, Commutative];
    /// The smaller of two signed integers.
    MinSIOp = "arith.minsi", [Pure, Commutative];
    /// The smaller of two unsigned integers.
    MinUIOp = "arith.minui", [Pure, Commutative];
}

// ---- floats

/// Two operands of one floating-point type, and a result of the same.
macro_rules! float_binary {
    ($($(#[$doc:meta])* $ident:ident = $name:literal, [$($trait:ident),*] $(, $flag:ident)*;)*) => {$(
        $(#[$doc])*
        #[op(
            $name,
            traits(Pure, SameOperandsAndResultType, Elementwise $(, $trait)*),
            format = "$lhs `,` $rhs (`fastmath` `` custom<FastMath>($fastmath)^)? attr-dict `:` type($result)",
            fold
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

float_binary! {
    /// Floating-point addition.
    AddFOp = "arith.addf", [Commutative];
    /// Floating-point subtraction.
    SubFOp = "arith.subf", [];
    /// Floating-point multiplication.
    MulFOp = "arith.mulf", [Commutative], canonicalize;
    /// Floating-point division.
    DivFOp = "arith.divf", [], canonicalize;
    /// Remainder of floating-point division, with the sign of the dividend.
    RemFOp = "arith.remf", [];
    /// The larger of two floats; NaN when one is, and -0 is below +0.
    MaximumFOp = "arith.maximumf", [Commutative];
    /// The smaller of two floats; NaN when one is, and -0 is below +0.
    MinimumFOp = "arith.minimumf", [Commutative];
    /// The larger of two floats; the other when one is NaN.
    MaxNumFOp = "arith.maxnumf", [Commutative];
    /// The smaller of two floats; the other when one is NaN.
    MinNumFOp = "arith.minnumf", [Commutative];
}

/// Floating-point negation: flips the sign, of a NaN too.
#[op(
    "arith.negf",
    traits(Pure, SameOperandsAndResultType, Elementwise),
    format = "$operand (`fastmath` `` custom<FastMath>($fastmath)^)? attr-dict `:` type($result)",
    fold
)]
pub struct NegFOp {
    operand: Operand<FloatLike>,
    /// What may be assumed.
    #[default(FastMathFlags::NONE)]
    fastmath: Attr<FastMathFlags>,
    result: Res<FloatLike>,
}

// ---- comparison and selection

/// Integer comparison.
///
/// ```mlir
/// %less = arith.cmpi slt, %a, %b : i32
/// ```
#[op(
    "arith.cmpi",
    traits(Pure, SameTypeOperands, Elementwise),
    format = "$predicate `,` $lhs `,` $rhs attr-dict `:` type($lhs)",
    verify,
    infer,
    fold,
    canonicalize
)]
pub struct CmpIOp {
    /// Which comparison.
    predicate: Attr<CmpIPredicate>,
    lhs: Operand<SignlessIntegerOrIndexLike>,
    rhs: Operand<SignlessIntegerOrIndexLike>,
    result: Res<BoolLike>,
}

/// Floating-point comparison.
///
/// ```mlir
/// %less = arith.cmpf olt, %a, %b : f32
/// ```
#[op(
    "arith.cmpf",
    traits(Pure, SameTypeOperands, Elementwise),
    format = "$predicate `,` $lhs `,` $rhs (`fastmath` `` custom<FastMath>($fastmath)^)? attr-dict `:` type($lhs)",
    verify,
    infer,
    fold,
    canonicalize
)]
pub struct CmpFOp {
    /// Which comparison.
    predicate: Attr<CmpFPredicate>,
    lhs: Operand<FloatLike>,
    rhs: Operand<FloatLike>,
    /// What may be assumed.
    #[default(FastMathFlags::NONE)]
    fastmath: Attr<FastMathFlags>,
    result: Res<BoolLike>,
}

/// One of two values, by a condition: `i1`, or element by element.
///
/// ```mlir
/// %x = arith.select %cond, %a, %b : i32
/// %y = arith.select %mask, %v, %w : vector<4xi1>, vector<4xf32>
/// ```
#[op(
    "arith.select",
    traits(Pure, Elementwise),
    format = "$condition `,` $true_value `,` $false_value attr-dict `:` custom<SelectType>(type($condition), type($result))",
    verify,
    fold,
    canonicalize
)]
pub struct SelectOp<T: AnyType> {
    condition: Operand<BoolLike>,
    true_value: Operand<T>,
    false_value: Operand<T>,
    result: Res<T>,
}

// ---- casts

/// A conversion of `$from` to `$to`, element by element.
macro_rules! cast {
    ($($(#[$doc:meta])* $ident:ident = $name:literal, $from:ident => $to:ident $(, $flag:ident)*;)*) => {$(
        $(#[$doc])*
        #[op(
            $name,
            traits(Pure, Elementwise, SameOperandsAndResultShape),
            format = "$in attr-dict `:` type($in) `to` type($out)",
            verify,
            fold
            $(, $flag)*
        )]
        pub struct $ident {
            #[name("in")]
            input: Operand<$from>,
            #[name("out")]
            output: Res<$to>,
        }
    )*};
}

cast! {
    /// Widens an integer, filling with zeros.
    ExtUIOp = "arith.extui", SignlessFixedWidthIntegerLike => SignlessFixedWidthIntegerLike, canonicalize;
    /// Widens an integer, filling with the sign.
    ExtSIOp = "arith.extsi", SignlessFixedWidthIntegerLike => SignlessFixedWidthIntegerLike, canonicalize;
    /// The nearest float to an unsigned integer.
    UIToFPOp = "arith.uitofp", SignlessFixedWidthIntegerLike => FloatLike;
    /// The nearest float to a signed integer.
    SIToFPOp = "arith.sitofp", SignlessFixedWidthIntegerLike => FloatLike;
    /// Rounds a float toward zero to an unsigned integer. Poison when it does not fit.
    FPToUIOp = "arith.fptoui", FloatLike => SignlessFixedWidthIntegerLike;
    /// Rounds a float toward zero to a signed integer. Poison when it does not fit.
    FPToSIOp = "arith.fptosi", FloatLike => SignlessFixedWidthIntegerLike;
    /// Converts between `index` and signed integers, widening by the sign or dropping high bits.
    IndexCastOp = "arith.index_cast", IndexCastable => IndexCastable, canonicalize;
    /// Converts between `index` and unsigned integers, widening by zeros or dropping high bits.
    IndexCastUIOp = "arith.index_castui", IndexCastable => IndexCastable, canonicalize;
    /// Takes the bits as they are for another type of the same width.
    BitcastOp = "arith.bitcast", Bitcastable => Bitcastable;
}

/// Narrows an integer, dropping high bits.
#[op(
    "arith.trunci",
    traits(Pure, Elementwise, SameOperandsAndResultShape),
    format = "$in (`overflow` `` custom<OverflowFlags>($overflowFlags)^)? attr-dict `:` type($in) `to` type($out)",
    verify,
    fold,
    canonicalize
)]
pub struct TruncIOp {
    #[name("in")]
    input: Operand<SignlessFixedWidthIntegerLike>,
    /// Overflows that do not happen.
    #[name("overflowFlags")]
    #[default(IntegerOverflowFlags::NONE)]
    overflow_flags: Attr<IntegerOverflowFlags>,
    #[name("out")]
    output: Res<SignlessFixedWidthIntegerLike>,
}

/// Converts to a wider floating-point type, exactly.
#[op(
    "arith.extf",
    traits(Pure, Elementwise, SameOperandsAndResultShape),
    format = "$in (`fastmath` `` custom<FastMath>($fastmath)^)? attr-dict `:` type($in) `to` type($out)",
    verify,
    fold
)]
pub struct ExtFOp {
    #[name("in")]
    input: Operand<FloatLike>,
    #[name("out")]
    output: Res<FloatLike>,
    /// What may be assumed.
    fastmath: OptAttr<FastMathFlags>,
}

/// Converts to a narrower floating-point type, rounding.
#[op(
    "arith.truncf",
    traits(Pure, Elementwise, SameOperandsAndResultShape),
    format = "$in ($roundingmode^)? (`fastmath` `` custom<FastMath>($fastmath)^)? attr-dict `:` type($in) `to` type($out)",
    verify,
    fold,
    canonicalize
)]
pub struct TruncFOp {
    #[name("in")]
    input: Operand<FloatLike>,
    #[name("out")]
    output: Res<FloatLike>,
    /// How to round; to the nearest, ties to even, when absent.
    roundingmode: OptAttr<RoundingMode>,
    /// What may be assumed.
    fastmath: OptAttr<FastMathFlags>,
}

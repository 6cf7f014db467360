//! Computations: arithmetic, bits, comparisons, conversions, composites, and the extended instructions for shaders.

use sutura_ir::constraints::*;
use sutura_ir::op;

use super::ops::{
    IntegerLike, ScalarOrVector, SpirvBoolLike, SpirvComposite, SpirvFloatLike, SpirvInteger, SpirvPointer,
    SpirvStruct, SpirvType, SpirvVector,
};

/// Operands and a result of one type.
macro_rules! same_type {
    ($($(#[$doc:meta])* $ident:ident = $name:literal, $constraint:ident, $format:literal, $($operand:ident),*;)*) => {$(
        $(#[$doc])*
        #[op($name, traits(Pure), format = $format)]
        pub struct $ident<T: $constraint> {
            $($operand: Operand<T>,)*
            result: Res<T>,
        }
    )*};
}

same_type! {
    /// Floating-point addition.
    FAddOp = "spirv.FAdd", SpirvFloatLike, "operands attr-dict `:` type($result)", operand1, operand2;
    /// Floating-point subtraction.
    FSubOp = "spirv.FSub", SpirvFloatLike, "operands attr-dict `:` type($result)", operand1, operand2;
    /// Floating-point multiplication.
    FMulOp = "spirv.FMul", SpirvFloatLike, "operands attr-dict `:` type($result)", operand1, operand2;
    /// Floating-point division.
    FDivOp = "spirv.FDiv", SpirvFloatLike, "operands attr-dict `:` type($result)", operand1, operand2;
    /// Floating-point remainder, with the sign of the dividend.
    FRemOp = "spirv.FRem", SpirvFloatLike, "operands attr-dict `:` type($result)", operand1, operand2;
    /// Floating-point negation.
    FNegateOp = "spirv.FNegate", SpirvFloatLike, "operands attr-dict `:` type($result)", operand;
    /// Integer addition.
    IAddOp = "spirv.IAdd", IntegerLike, "operands attr-dict `:` type($result)", operand1, operand2;
    /// Integer subtraction.
    ISubOp = "spirv.ISub", IntegerLike, "operands attr-dict `:` type($result)", operand1, operand2;
    /// Integer multiplication.
    IMulOp = "spirv.IMul", IntegerLike, "operands attr-dict `:` type($result)", operand1, operand2;
    /// Signed division.
    SDivOp = "spirv.SDiv", IntegerLike, "operands attr-dict `:` type($result)", operand1, operand2;
    /// Signed remainder, with the sign of the dividend.
    SRemOp = "spirv.SRem", IntegerLike, "operands attr-dict `:` type($result)", operand1, operand2;
    /// Unsigned division.
    UDivOp = "spirv.UDiv", IntegerLike, "operands attr-dict `:` type($result)", operand1, operand2;
    /// Unsigned remainder.
    UModOp = "spirv.UMod", IntegerLike, "operands attr-dict `:` type($result)", operand1, operand2;
    /// Integer negation.
    SNegateOp = "spirv.SNegate", IntegerLike, "operands attr-dict `:` type($result)", operand;
    /// Bitwise and.
    BitwiseAndOp = "spirv.BitwiseAnd", IntegerLike, "operands attr-dict `:` type($result)", operand1, operand2;
    /// Bitwise or.
    BitwiseOrOp = "spirv.BitwiseOr", IntegerLike, "operands attr-dict `:` type($result)", operand1, operand2;
    /// Bitwise exclusive or.
    BitwiseXorOp = "spirv.BitwiseXor", IntegerLike, "operands attr-dict `:` type($result)", operand1, operand2;
    /// Bitwise complement.
    NotOp = "spirv.Not", IntegerLike, "$operand `:` type($operand) attr-dict", operand;
    /// Number of bits that are set.
    BitCountOp = "spirv.BitCount", IntegerLike, "$operand `:` type($operand) attr-dict", operand;
    /// Bits in reverse order.
    BitReverseOp = "spirv.BitReverse", IntegerLike, "$operand `:` type($operand) attr-dict", operand;
    /// Logical and.
    LogicalAndOp = "spirv.LogicalAnd", SpirvBoolLike, "$operand1 `,` $operand2 `:` type($operand1) attr-dict",
        operand1, operand2;
    /// Logical or.
    LogicalOrOp = "spirv.LogicalOr", SpirvBoolLike, "$operand1 `,` $operand2 `:` type($operand1) attr-dict",
        operand1, operand2;
    /// Both or none.
    LogicalEqualOp = "spirv.LogicalEqual", SpirvBoolLike, "$operand1 `,` $operand2 `:` type($operand1) attr-dict",
        operand1, operand2;
    /// One but not both.
    LogicalNotEqualOp = "spirv.LogicalNotEqual", SpirvBoolLike, "$operand1 `,` $operand2 `:` type($operand1) attr-dict",
        operand1, operand2;
    /// Logical negation.
    LogicalNotOp = "spirv.LogicalNot", SpirvBoolLike, "$operand `:` type($operand) attr-dict", operand;
    /// Absolute value.
    GLFAbsOp = "spirv.GL.FAbs", SpirvFloatLike, "$operand `:` type($operand) attr-dict", operand;
    /// Toward minus infinity to a whole number.
    GLFloorOp = "spirv.GL.Floor", SpirvFloatLike, "$operand `:` type($operand) attr-dict", operand;
    /// Toward infinity to a whole number.
    GLCeilOp = "spirv.GL.Ceil", SpirvFloatLike, "$operand `:` type($operand) attr-dict", operand;
    /// To the nearest whole number, ties to even.
    GLRoundEvenOp = "spirv.GL.RoundEven", SpirvFloatLike, "$operand `:` type($operand) attr-dict", operand;
    /// Square root.
    GLSqrtOp = "spirv.GL.Sqrt", SpirvFloatLike, "$operand `:` type($operand) attr-dict", operand;
    /// Reciprocal of the square root.
    GLInverseSqrtOp = "spirv.GL.InverseSqrt", SpirvFloatLike, "$operand `:` type($operand) attr-dict", operand;
    /// Multiplication and addition.
    GLFmaOp = "spirv.GL.Fma", SpirvFloatLike, "operands attr-dict `:` type($result)", x, y, z;
    /// Absolute value.
    GLSAbsOp = "spirv.GL.SAbs", IntegerLike, "$operand `:` type($operand) attr-dict", operand;
    /// Number of the highest bit that is set, -1 without one; of 32 bits.
    GLFindUMsbOp = "spirv.GL.FindUMsb", IntegerLike, "$operand `:` type($operand) attr-dict", operand;
    /// Number of the lowest bit that is set, -1 without one.
    GLFindILsbOp = "spirv.GL.FindILsb", IntegerLike, "$operand `:` type($operand) attr-dict", operand;
}

/// Both parts of a result, as a struct.
macro_rules! extended {
    ($($(#[$doc:meta])* $ident:ident = $name:literal;)*) => {$(
        $(#[$doc])*
        #[op($name, traits(Pure), format = "custom<Extended>($operand1, $operand2, type($operand1), type($operand2), type($result)) \
                                            attr-dict", verify)]
        pub struct $ident<T: IntegerLike> {
            operand1: Operand<T>,
            operand2: Operand<T>,
            result: Res<SpirvStruct>,
        }
    )*};
}

extended! {
    /// Sum and carry.
    IAddCarryOp = "spirv.IAddCarry";
    /// Difference and borrow.
    ISubBorrowOp = "spirv.ISubBorrow";
    /// Lower and upper half of the unsigned product.
    UMulExtendedOp = "spirv.UMulExtended";
    /// Lower and upper half of the signed product.
    SMulExtendedOp = "spirv.SMulExtended";
}

/// Shifts; the amount may have another width.
macro_rules! shift {
    ($($(#[$doc:meta])* $ident:ident = $name:literal;)*) => {$(
        $(#[$doc])*
        #[op(
            $name,
            traits(Pure, SameOperandsAndResultShape),
            format = "operands attr-dict `:` type($operand1) `,` type($operand2)"
        )]
        pub struct $ident<T: IntegerLike> {
            operand1: Operand<T>,
            operand2: Operand<IntegerLike>,
            result: Res<T>,
        }
    )*};
}

shift! {
    /// To the left.
    ShiftLeftLogicalOp = "spirv.ShiftLeftLogical";
    /// To the right, filling with zeros.
    ShiftRightLogicalOp = "spirv.ShiftRightLogical";
    /// To the right, filling with the sign.
    ShiftRightArithmeticOp = "spirv.ShiftRightArithmetic";
}

/// Comparisons, and questions about a number.
macro_rules! question {
    ($($(#[$doc:meta])* $ident:ident = $name:literal, $constraint:ident, $format:literal, $($operand:ident),*;)*) => {$(
        $(#[$doc])*
        #[op($name, traits(Pure, SameOperandsAndResultShape), format = $format, infer)]
        pub struct $ident<T: $constraint> {
            $($operand: Operand<T>,)*
            result: Res<SpirvBoolLike>,
        }

        impl sutura_ir::op_def::InferTypes for $ident<'_> {
            fn infer(
                input: sutura_ir::op_def::InferInput<'_>,
            ) -> Result<sutura_ir::smallvec::SmallVec<[sutura_ir::Type; 2]>, String> {
                let operand = input.operands.first().copied().ok_or("expects an operand")?;
                Ok([input.cx.with_element_type(operand, sutura_ir::Type::I1)].into_iter().collect())
            }
        }
    )*};
}

question! {
    /// Ordered and equal.
    FOrdEqualOp = "spirv.FOrdEqual", SpirvFloatLike, "$operand1 `,` $operand2 `:` type($operand1) attr-dict",
        operand1, operand2;
    /// Ordered and not equal.
    FOrdNotEqualOp = "spirv.FOrdNotEqual", SpirvFloatLike, "$operand1 `,` $operand2 `:` type($operand1) attr-dict",
        operand1, operand2;
    /// Ordered and less than.
    FOrdLessThanOp = "spirv.FOrdLessThan", SpirvFloatLike, "$operand1 `,` $operand2 `:` type($operand1) attr-dict",
        operand1, operand2;
    /// Ordered and less than or equal.
    FOrdLessThanEqualOp = "spirv.FOrdLessThanEqual", SpirvFloatLike,
        "$operand1 `,` $operand2 `:` type($operand1) attr-dict", operand1, operand2;
    /// Ordered and greater than.
    FOrdGreaterThanOp = "spirv.FOrdGreaterThan", SpirvFloatLike,
        "$operand1 `,` $operand2 `:` type($operand1) attr-dict", operand1, operand2;
    /// Ordered and greater than or equal.
    FOrdGreaterThanEqualOp = "spirv.FOrdGreaterThanEqual", SpirvFloatLike,
        "$operand1 `,` $operand2 `:` type($operand1) attr-dict", operand1, operand2;
    /// Unordered or equal.
    FUnordEqualOp = "spirv.FUnordEqual", SpirvFloatLike, "$operand1 `,` $operand2 `:` type($operand1) attr-dict",
        operand1, operand2;
    /// Unordered or not equal.
    FUnordNotEqualOp = "spirv.FUnordNotEqual", SpirvFloatLike, "$operand1 `,` $operand2 `:` type($operand1) attr-dict",
        operand1, operand2;
    /// Unordered or less than.
    FUnordLessThanOp = "spirv.FUnordLessThan", SpirvFloatLike, "$operand1 `,` $operand2 `:` type($operand1) attr-dict",
        operand1, operand2;
    /// Unordered or less than or equal.
    FUnordLessThanEqualOp = "spirv.FUnordLessThanEqual", SpirvFloatLike,
        "$operand1 `,` $operand2 `:` type($operand1) attr-dict", operand1, operand2;
    /// Unordered or greater than.
    FUnordGreaterThanOp = "spirv.FUnordGreaterThan", SpirvFloatLike,
        "$operand1 `,` $operand2 `:` type($operand1) attr-dict", operand1, operand2;
    /// Unordered or greater than or equal.
    FUnordGreaterThanEqualOp = "spirv.FUnordGreaterThanEqual", SpirvFloatLike,
        "$operand1 `,` $operand2 `:` type($operand1) attr-dict", operand1, operand2;
    /// Equal.
    IEqualOp = "spirv.IEqual", IntegerLike, "$operand1 `,` $operand2 `:` type($operand1) attr-dict",
        operand1, operand2;
    /// Not equal.
    INotEqualOp = "spirv.INotEqual", IntegerLike, "$operand1 `,` $operand2 `:` type($operand1) attr-dict",
        operand1, operand2;
    /// Signed less than.
    SLessThanOp = "spirv.SLessThan", IntegerLike, "$operand1 `,` $operand2 `:` type($operand1) attr-dict",
        operand1, operand2;
    /// Signed less than or equal.
    SLessThanEqualOp = "spirv.SLessThanEqual", IntegerLike, "$operand1 `,` $operand2 `:` type($operand1) attr-dict",
        operand1, operand2;
    /// Signed greater than.
    SGreaterThanOp = "spirv.SGreaterThan", IntegerLike, "$operand1 `,` $operand2 `:` type($operand1) attr-dict",
        operand1, operand2;
    /// Signed greater than or equal.
    SGreaterThanEqualOp = "spirv.SGreaterThanEqual", IntegerLike,
        "$operand1 `,` $operand2 `:` type($operand1) attr-dict", operand1, operand2;
    /// Unsigned less than.
    ULessThanOp = "spirv.ULessThan", IntegerLike, "$operand1 `,` $operand2 `:` type($operand1) attr-dict",
        operand1, operand2;
    /// Unsigned less than or equal.
    ULessThanEqualOp = "spirv.ULessThanEqual", IntegerLike, "$operand1 `,` $operand2 `:` type($operand1) attr-dict",
        operand1, operand2;
    /// Unsigned greater than.
    UGreaterThanOp = "spirv.UGreaterThan", IntegerLike, "$operand1 `,` $operand2 `:` type($operand1) attr-dict",
        operand1, operand2;
    /// Unsigned greater than or equal.
    UGreaterThanEqualOp = "spirv.UGreaterThanEqual", IntegerLike,
        "$operand1 `,` $operand2 `:` type($operand1) attr-dict", operand1, operand2;
    /// Not a number.
    IsNanOp = "spirv.IsNan", SpirvFloatLike, "$operand `:` type($operand) attr-dict", operand;
    /// Infinite.
    IsInfOp = "spirv.IsInf", SpirvFloatLike, "$operand `:` type($operand) attr-dict", operand;
}

/// One of two values, or of each pair of elements.
#[op("spirv.Select", traits(Pure), format = "operands attr-dict `:` type($condition) `,` type($result)", verify)]
pub struct SelectOp<T: SpirvType> {
    condition: Operand<SpirvBoolLike>,
    true_value: Operand<T>,
    false_value: Operand<T>,
    result: Res<T>,
}

/// Conversions.
macro_rules! cast {
    ($($(#[$doc:meta])* $ident:ident = $name:literal, $from:ident => $to:ident, [$($trait:ident),*];)*) => {$(
        $(#[$doc])*
        #[op($name, traits($($trait),*), format = "$operand attr-dict `:` type($operand) `to` type($result)")]
        pub struct $ident {
            operand: Operand<$from>,
            result: Res<$to>,
        }
    )*};
}

cast! {
    /// The same bits as another type.
    BitcastOp = "spirv.Bitcast", ScalarOrVector => ScalarOrVector, [Pure];
    /// Toward zero to a signed integer.
    ConvertFToSOp = "spirv.ConvertFToS", SpirvFloatLike => IntegerLike, [Pure, SameOperandsAndResultShape];
    /// Toward zero to an unsigned integer.
    ConvertFToUOp = "spirv.ConvertFToU", SpirvFloatLike => IntegerLike, [Pure, SameOperandsAndResultShape];
    /// The nearest float to a signed integer.
    ConvertSToFOp = "spirv.ConvertSToF", IntegerLike => SpirvFloatLike, [Pure, SameOperandsAndResultShape];
    /// The nearest float to an unsigned integer.
    ConvertUToFOp = "spirv.ConvertUToF", IntegerLike => SpirvFloatLike, [Pure, SameOperandsAndResultShape];
    /// A float of another width.
    FConvertOp = "spirv.FConvert", SpirvFloatLike => SpirvFloatLike, [Pure, SameOperandsAndResultShape];
    /// An integer of another width, filled with the sign.
    SConvertOp = "spirv.SConvert", IntegerLike => IntegerLike, [Pure, SameOperandsAndResultShape];
    /// An integer of another width, filled with zeros.
    UConvertOp = "spirv.UConvert", IntegerLike => IntegerLike, [Pure, SameOperandsAndResultShape];
    /// The pointer that a number stands for.
    ConvertUToPtrOp = "spirv.ConvertUToPtr", SpirvInteger => SpirvPointer, [];
    /// The number that stands for a pointer.
    ConvertPtrToUOp = "spirv.ConvertPtrToU", SpirvPointer => SpirvInteger, [];
}

// ---- composites

/// A composite of its parts.
#[op(
    "spirv.CompositeConstruct",
    traits(Pure),
    format = "$constituents attr-dict `:` `(` type(operands) `)` `->` type($result)",
    verify
)]
pub struct CompositeConstructOp {
    constituents: Operands<SpirvType>,
    result: Res<SpirvComposite>,
}

/// A part of a composite.
///
/// ```mlir
/// %x = spirv.CompositeExtract %v[1 : i32] : vector<4xf32>
/// ```
#[op(
    "spirv.CompositeExtract",
    traits(Pure),
    format = "$composite `` $indices `:` custom<PartType>(type($composite), type($component), $indices) attr-dict",
    verify
)]
pub struct CompositeExtractOp {
    composite: Operand<SpirvComposite>,
    indices: Attr<ArrayAttr>,
    component: Res<SpirvType>,
}

/// A composite with one part replaced.
///
/// ```mlir
/// %w = spirv.CompositeInsert %x, %v[1 : i32] : f32 into vector<4xf32>
/// ```
#[op(
    "spirv.CompositeInsert",
    traits(Pure),
    format = "$object `,` $composite `` $indices attr-dict `:` type($object) `into` type($composite)",
    verify
)]
pub struct CompositeInsertOp<T: SpirvComposite> {
    object: Operand<SpirvType>,
    composite: Operand<T>,
    indices: Attr<ArrayAttr>,
    result: Res<T>,
}

/// The element whose number is `index`.
#[op(
    "spirv.VectorExtractDynamic",
    traits(Pure),
    format = "$vector `[` $index `]` attr-dict `:` type($vector) `,` type($index)",
    infer
)]
pub struct VectorExtractDynamicOp {
    vector: Operand<SpirvVector>,
    index: Operand<SpirvInteger>,
    result: Res<ScalarOrVector>,
}

/// The vector with the element whose number is `index` replaced.
#[op(
    "spirv.VectorInsertDynamic",
    traits(Pure),
    format = "custom<InsertDynamic>($vector, $component, $index, type($vector), type($component), type($index)) attr-dict"
)]
pub struct VectorInsertDynamicOp<T: SpirvVector> {
    vector: Operand<T>,
    component: Operand<ScalarOrVector>,
    index: Operand<SpirvInteger>,
    result: Res<T>,
}

/// Elements of two vectors, one after the other, by number.
///
/// ```mlir
/// %s = spirv.VectorShuffle [0 : i32, 5 : i32] %a, %b : vector<4xf32>, vector<4xf32> -> vector<2xf32>
/// ```
#[op(
    "spirv.VectorShuffle",
    traits(Pure),
    format = "$components $vector1 `,` $vector2 attr-dict `:` type($vector1) `,` type($vector2) `->` type($result)",
    verify
)]
pub struct VectorShuffleOp {
    vector1: Operand<SpirvVector>,
    vector2: Operand<SpirvVector>,
    /// -1 for an element of which nothing is known.
    components: Attr<ArrayAttr>,
    result: Res<SpirvVector>,
}

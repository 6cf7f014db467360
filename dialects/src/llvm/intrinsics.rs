//! Intrinsics of LLVM that are operations of their own: functions of numbers, reductions, and memory.

use sutura_ir::constraints::*;
use sutura_ir::op;

use super::attrs::FastmathFlags;
use super::ops::{LlvmBool, LlvmFloat, LlvmInteger, LlvmPointer, LlvmPointerVector, LlvmType};

sutura_ir::type_constraints! {
    /// A vector of anything that LLVM has.
    pub LlvmVector = "LLVM dialect-compatible vector type",
        |cx, ty| cx.shape(ty).is_some() && super::types::is_llvm_type(cx, ty);
    /// A vector of integers.
    pub LlvmIntegerVector = "LLVM dialect-compatible vector of signless integer",
        |cx, ty| cx.shape(ty).is_some() && cx.element_type(ty).is_signless_integer(cx);
    /// A vector of floats.
    pub LlvmFloatVector = "LLVM dialect-compatible vector of floating-point",
        |cx, ty| cx.shape(ty).is_some() && cx.element_type(ty).is_float(cx);
    /// A mask.
    pub LlvmMask = "LLVM dialect-compatible vector of 1-bit signless integer",
        |cx, ty| cx.shape(ty).is_some() && cx.element_type(ty) == sutura_ir::Type::I1;
}

// ---- functions of numbers

/// Functions of floats, with what may be assumed of them.
macro_rules! float_functions {
    ($($(#[$doc:meta])* $ident:ident = $name:literal ($($operand:ident),+);)*) => {$(
        $(#[$doc])*
        #[op(
            $name,
            traits(Pure, SameOperandsAndResultType),
            format = "`(` operands `)` attr-dict `:` functional-type(operands, results)"
        )]
        pub struct $ident {
            $($operand: Operand<LlvmFloat>,)+
            /// What may be assumed.
            #[name("fastmathFlags")]
            #[default(FastmathFlags::NONE)]
            fastmath_flags: Attr<FastmathFlags>,
            res: Res<LlvmFloat>,
        }
    )*};
}

float_functions! {
    /// Inverse cosine.
    ACosOp = "llvm.intr.acos"(arg);
    /// Inverse sine.
    ASinOp = "llvm.intr.asin"(arg);
    /// Inverse tangent.
    ATanOp = "llvm.intr.atan"(arg);
    /// Angle of the point (b, a).
    ATan2Op = "llvm.intr.atan2"(a, b);
    /// The next integer up.
    FCeilOp = "llvm.intr.ceil"(arg);
    /// The magnitude of one number with the sign of another.
    CopySignOp = "llvm.intr.copysign"(a, b);
    /// Cosine.
    CosOp = "llvm.intr.cos"(arg);
    /// Hyperbolic cosine.
    CoshOp = "llvm.intr.cosh"(arg);
    /// e to a power.
    ExpOp = "llvm.intr.exp"(arg);
    /// 10 to a power.
    Exp10Op = "llvm.intr.exp10"(arg);
    /// 2 to a power.
    Exp2Op = "llvm.intr.exp2"(arg);
    /// Magnitude.
    FAbsOp = "llvm.intr.fabs"(arg);
    /// The next integer down.
    FFloorOp = "llvm.intr.floor"(arg);
    /// a·b + c with one rounding.
    FMAOp = "llvm.intr.fma"(a, b, c);
    /// a·b + c with one rounding or two.
    FMulAddOp = "llvm.intr.fmuladd"(a, b, c);
    /// Natural logarithm.
    LogOp = "llvm.intr.log"(arg);
    /// Logarithm to base 10.
    Log10Op = "llvm.intr.log10"(arg);
    /// Logarithm to base 2.
    Log2Op = "llvm.intr.log2"(arg);
    /// The larger number; NaN if one is NaN.
    MaximumOp = "llvm.intr.maximum"(a, b);
    /// The larger number; the other one if one is NaN.
    MaxNumOp = "llvm.intr.maxnum"(a, b);
    /// The smaller number; NaN if one is NaN.
    MinimumOp = "llvm.intr.minimum"(a, b);
    /// The smaller number; the other one if one is NaN.
    MinNumOp = "llvm.intr.minnum"(a, b);
    /// An integer by the rounding mode, without an exception.
    NearbyintOp = "llvm.intr.nearbyint"(arg);
    /// a to the power b.
    PowOp = "llvm.intr.pow"(a, b);
    /// An integer by the rounding mode.
    RintOp = "llvm.intr.rint"(arg);
    /// The nearest integer, halves away from zero.
    RoundOp = "llvm.intr.round"(arg);
    /// The nearest integer, halves to even.
    RoundEvenOp = "llvm.intr.roundeven"(arg);
    /// Sine.
    SinOp = "llvm.intr.sin"(arg);
    /// Hyperbolic sine.
    SinhOp = "llvm.intr.sinh"(arg);
    /// Square root.
    SqrtOp = "llvm.intr.sqrt"(arg);
    /// Tangent.
    TanOp = "llvm.intr.tan"(arg);
    /// Hyperbolic tangent.
    TanhOp = "llvm.intr.tanh"(arg);
    /// The next integer toward zero.
    FTruncOp = "llvm.intr.trunc"(arg);
}

/// A float to an integer power.
#[op("llvm.intr.powi", traits(Pure), format = "`(` operands `)` attr-dict `:` functional-type(operands, results)")]
pub struct PowIOp<T: LlvmFloat> {
    val: Operand<T>,
    power: Operand<AnySignlessInteger>,
    /// What may be assumed.
    #[name("fastmathFlags")]
    #[default(FastmathFlags::NONE)]
    fastmath_flags: Attr<FastmathFlags>,
    res: Res<T>,
}

/// Functions of integers.
macro_rules! integer_functions {
    ($($(#[$doc:meta])* $ident:ident = $name:literal ($($operand:ident),+);)*) => {$(
        $(#[$doc])*
        #[op(
            $name,
            traits(Pure, SameOperandsAndResultType),
            format = "`(` operands `)` attr-dict `:` functional-type(operands, results)"
        )]
        pub struct $ident {
            $($operand: Operand<LlvmInteger>,)+
            res: Res<LlvmInteger>,
        }
    )*};
}

integer_functions! {
    /// The bits in reverse order.
    BitReverseOp = "llvm.intr.bitreverse"(arg);
    /// The bytes in reverse order.
    ByteSwapOp = "llvm.intr.bswap"(arg);
    /// Number of set bits.
    CtPopOp = "llvm.intr.ctpop"(arg);
    /// The larger number, signed.
    SMaxOp = "llvm.intr.smax"(a, b);
    /// The smaller number, signed.
    SMinOp = "llvm.intr.smin"(a, b);
    /// The larger number, unsigned.
    UMaxOp = "llvm.intr.umax"(a, b);
    /// The smaller number, unsigned.
    UMinOp = "llvm.intr.umin"(a, b);
}

/// Functions of integers with a case that gives poison on request.
macro_rules! guarded_integer_functions {
    ($($(#[$doc:meta])* $ident:ident = $name:literal, $flag:ident;)*) => {$(
        $(#[$doc])*
        #[op($name, traits(Pure, SameOperandsAndResultType))]
        pub struct $ident {
            arg: Operand<LlvmInteger>,
            /// The special case is poison.
            $flag: Attr<BoolAttr>,
            res: Res<LlvmInteger>,
        }
    )*};
}

guarded_integer_functions! {
    /// Magnitude; that of the smallest number is itself, or poison.
    AbsOp = "llvm.intr.abs", is_int_min_poison;
    /// Number of leading zeros; for zero the width, or poison.
    CountLeadingZerosOp = "llvm.intr.ctlz", is_zero_poison;
    /// Number of trailing zeros; for zero the width, or poison.
    CountTrailingZerosOp = "llvm.intr.cttz", is_zero_poison;
}

/// Functions of integers that give their result and whether it overflowed.
macro_rules! overflowing {
    ($($(#[$doc:meta])* $ident:ident = $name:literal;)*) => {$(
        $(#[$doc])*
        #[op($name, traits(Pure, SameTypeOperands), verify)]
        pub struct $ident {
            a: Operand<LlvmInteger>,
            b: Operand<LlvmInteger>,
            res: Res<LlvmType>,
        }
    )*};
}

overflowing! {
    /// Signed addition.
    SAddWithOverflowOp = "llvm.intr.sadd.with.overflow";
    /// Unsigned addition.
    UAddWithOverflowOp = "llvm.intr.uadd.with.overflow";
    /// Signed subtraction.
    SSubWithOverflowOp = "llvm.intr.ssub.with.overflow";
    /// Unsigned subtraction.
    USubWithOverflowOp = "llvm.intr.usub.with.overflow";
    /// Signed multiplication.
    SMulWithOverflowOp = "llvm.intr.smul.with.overflow";
    /// Unsigned multiplication.
    UMulWithOverflowOp = "llvm.intr.umul.with.overflow";
}

/// Whether a float is of some classes, each a bit: NaNs, infinities, normal and subnormal numbers, zeros.
#[op("llvm.intr.is.fpclass", traits(Pure), verify)]
pub struct IsFPClassOp {
    #[name("in")]
    input: Operand<LlvmFloat>,
    /// The classes.
    bit: Attr<I32Attr>,
    res: Res<LlvmBool>,
}

// ---- reductions

/// Reductions of integers.
macro_rules! integer_reductions {
    ($($(#[$doc:meta])* $ident:ident = $name:literal;)*) => {$(
        $(#[$doc])*
        #[op($name, traits(Pure, SameOperandsAndResultElementType))]
        pub struct $ident {
            #[name("in")]
            input: Operand<LlvmIntegerVector>,
            res: Res<AnySignlessInteger>,
        }
    )*};
}

integer_reductions! {
    /// Sum of all elements.
    ReduceAddOp = "llvm.intr.vector.reduce.add";
    /// Bitwise and of all elements.
    ReduceAndOp = "llvm.intr.vector.reduce.and";
    /// Product of all elements.
    ReduceMulOp = "llvm.intr.vector.reduce.mul";
    /// Bitwise or of all elements.
    ReduceOrOp = "llvm.intr.vector.reduce.or";
    /// Largest element, signed.
    ReduceSMaxOp = "llvm.intr.vector.reduce.smax";
    /// Smallest element, signed.
    ReduceSMinOp = "llvm.intr.vector.reduce.smin";
    /// Largest element, unsigned.
    ReduceUMaxOp = "llvm.intr.vector.reduce.umax";
    /// Smallest element, unsigned.
    ReduceUMinOp = "llvm.intr.vector.reduce.umin";
    /// Bitwise exclusive or of all elements.
    ReduceXorOp = "llvm.intr.vector.reduce.xor";
}

/// Reductions of floats to the largest or smallest.
macro_rules! extremes {
    ($($(#[$doc:meta])* $ident:ident = $name:literal;)*) => {$(
        $(#[$doc])*
        #[op(
            $name,
            traits(Pure, SameOperandsAndResultElementType),
            format = "`(` operands `)` attr-dict `:` functional-type(operands, results)"
        )]
        pub struct $ident {
            #[name("in")]
            input: Operand<LlvmFloatVector>,
            /// What may be assumed.
            #[name("fastmathFlags")]
            #[default(FastmathFlags::NONE)]
            fastmath_flags: Attr<FastmathFlags>,
            res: Res<AnyFloat>,
        }
    )*};
}

extremes! {
    /// Largest element that is not NaN.
    ReduceFMaxOp = "llvm.intr.vector.reduce.fmax";
    /// Smallest element that is not NaN.
    ReduceFMinOp = "llvm.intr.vector.reduce.fmin";
    /// Largest element; NaN if one is NaN.
    ReduceFMaximumOp = "llvm.intr.vector.reduce.fmaximum";
    /// Smallest element; NaN if one is NaN.
    ReduceFMinimumOp = "llvm.intr.vector.reduce.fminimum";
}

/// Reductions of floats from a start value on, in order unless `reassoc` is set.
macro_rules! float_reductions {
    ($($(#[$doc:meta])* $ident:ident = $name:literal;)*) => {$(
        $(#[$doc])*
        #[op($name, traits(Pure, SameOperandsAndResultElementType))]
        pub struct $ident {
            start_value: Operand<AnyFloat>,
            input: Operand<LlvmFloatVector>,
            /// What may be assumed.
            #[name("fastmathFlags")]
            #[default(FastmathFlags::NONE)]
            fastmath_flags: Attr<FastmathFlags>,
            res: Res<AnyFloat>,
        }
    )*};
}

float_reductions! {
    /// Start value plus all elements.
    ReduceFAddOp = "llvm.intr.vector.reduce.fadd";
    /// Start value times all elements.
    ReduceFMulOp = "llvm.intr.vector.reduce.fmul";
}

// ---- masked memory

/// Reads those elements of a vector in memory that the mask names; the others are those of `pass_thru`, or poison.
///
/// ```mlir
/// %v = llvm.intr.masked.load %p, %m, %z {alignment = 4 : i32}
///   : (!llvm.ptr, vector<8xi1>, vector<8xf32>) -> vector<8xf32>
/// ```
#[op("llvm.intr.masked.load", format = "operands attr-dict `:` functional-type(operands, results)", verify)]
pub struct MaskedLoadOp {
    data: Operand<LlvmPointer>,
    mask: Operand<LlvmMask>,
    pass_thru: OptOperand<LlvmVector>,
    /// In bytes.
    alignment: Attr<I32Attr>,
    /// The memory will not be read again soon.
    #[absent]
    nontemporal: Flag,
    res: Res<LlvmVector>,
}

/// Writes those elements of a vector that the mask names.
///
/// ```mlir
/// llvm.intr.masked.store %v, %p, %m {alignment = 4 : i32} : vector<8xf32>, vector<8xi1> into !llvm.ptr
/// ```
#[op(
    "llvm.intr.masked.store",
    format = "$value `,` $data `,` $mask attr-dict `:` type($value) `,` type($mask) `into` type($data)",
    verify
)]
pub struct MaskedStoreOp {
    #[name("value")]
    stored: Operand<LlvmVector>,
    data: Operand<LlvmPointer>,
    mask: Operand<LlvmMask>,
    /// In bytes.
    alignment: Attr<I32Attr>,
}

/// Reads an element from each pointer that the mask names; the others are those of `pass_thru`, or poison.
#[op("llvm.intr.masked.gather", format = "operands attr-dict `:` functional-type(operands, results)", verify)]
pub struct MaskedGatherOp {
    ptrs: Operand<LlvmPointerVector>,
    mask: Operand<LlvmMask>,
    pass_thru: OptOperand<LlvmVector>,
    /// In bytes.
    alignment: Attr<I32Attr>,
    res: Res<LlvmVector>,
}

/// Writes an element to each pointer that the mask names, from the first on: the last write to an address stays.
#[op(
    "llvm.intr.masked.scatter",
    format = "$value `,` $ptrs `,` $mask attr-dict `:` type($value) `,` type($mask) `into` type($ptrs)",
    verify
)]
pub struct MaskedScatterOp {
    #[name("value")]
    stored: Operand<LlvmVector>,
    ptrs: Operand<LlvmPointerVector>,
    mask: Operand<LlvmMask>,
    /// In bytes.
    alignment: Attr<I32Attr>,
}

/// Reads consecutive elements into the lanes that the mask names; the others are those of `pass_thru`.
#[op("llvm.intr.masked.expandload")]
pub struct ExpandLoadOp<T: LlvmVector> {
    ptr: Operand<LlvmPointer>,
    mask: Operand<LlvmMask>,
    pass_thru: Operand<T>,
    /// One dictionary per argument.
    #[absent]
    arg_attrs: OptAttr<DictArrayAttr>,
    /// One dictionary per result.
    #[absent]
    res_attrs: OptAttr<DictArrayAttr>,
    res: Res<T>,
}

/// Writes the lanes that the mask names to consecutive elements.
#[op("llvm.intr.masked.compressstore")]
pub struct CompressStoreOp {
    #[name("value")]
    stored: Operand<LlvmVector>,
    ptr: Operand<LlvmPointer>,
    mask: Operand<LlvmMask>,
    /// One dictionary per argument.
    #[absent]
    arg_attrs: OptAttr<DictArrayAttr>,
    /// One dictionary per result.
    #[absent]
    res_attrs: OptAttr<DictArrayAttr>,
}

// ---- the stack

/// Where the stack ends.
#[op("llvm.intr.stacksave", format = "attr-dict `:` type($res)")]
pub struct StackSaveOp {
    res: Res<LlvmPointer>,
}

/// Frees what was allocated on the stack since [`StackSaveOp`].
#[op("llvm.intr.stackrestore", format = "$ptr attr-dict `:` type($ptr)")]
pub struct StackRestoreOp {
    ptr: Operand<LlvmPointer>,
}

/// From here on the memory of an allocation is used.
#[op("llvm.intr.lifetime.start", format = "$ptr attr-dict `:` type($ptr)")]
pub struct LifetimeStartOp {
    ptr: Operand<LlvmPointer>,
}

/// From here on the memory of an allocation is not used.
#[op("llvm.intr.lifetime.end", format = "$ptr attr-dict `:` type($ptr)")]
pub struct LifetimeEndOp {
    ptr: Operand<LlvmPointer>,
}

/// Advises to bring a line of memory near. Reads nothing: any address will do.
///
/// ```mlir
/// "llvm.intr.prefetch"(%p) <{cache = 1 : i32, hint = 3 : i32, rw = 0 : i32}> : (!llvm.ptr) -> ()
/// ```
#[op("llvm.intr.prefetch", verify)]
pub struct PrefetchOp {
    addr: Operand<LlvmPointer>,
    /// 0 for what will be read, 1 for what will be written.
    rw: Attr<I32Attr>,
    /// How near, from 0 to 3, the nearest.
    hint: Attr<I32Attr>,
    /// 0 for instructions, 1 for data.
    cache: Attr<I32Attr>,
}

// ---- whole memory

/// Copies of memory.
macro_rules! copies {
    ($($(#[$doc:meta])* $ident:ident = $name:literal;)*) => {$(
        $(#[$doc])*
        #[op($name)]
        pub struct $ident {
            dst: Operand<LlvmPointer>,
            src: Operand<LlvmPointer>,
            /// Number of bytes.
            len: Operand<AnySignlessInteger>,
            /// Must happen.
            #[name("isVolatile")]
            is_volatile: Attr<BoolAttr>,
            #[absent]
            access_groups: OptAttr<ArrayAttr>,
            #[absent]
            alias_scopes: OptAttr<ArrayAttr>,
            #[absent]
            noalias_scopes: OptAttr<ArrayAttr>,
            #[absent]
            tbaa: OptAttr<ArrayAttr>,
            /// One dictionary per argument.
            #[absent]
            arg_attrs: OptAttr<DictArrayAttr>,
            /// One dictionary per result.
            #[absent]
            res_attrs: OptAttr<DictArrayAttr>,
        }
    )*};
}

copies! {
    /// Copies bytes between places that do not overlap, or are the same.
    MemcpyOp = "llvm.intr.memcpy";
    /// Copies bytes between places that may overlap.
    MemmoveOp = "llvm.intr.memmove";
}

/// Sets bytes to one value.
#[op("llvm.intr.memset")]
pub struct MemsetOp {
    dst: Operand<LlvmPointer>,
    val: Operand<I8>,
    /// Number of bytes.
    len: Operand<AnySignlessInteger>,
    /// Must happen.
    #[name("isVolatile")]
    is_volatile: Attr<BoolAttr>,
    #[absent]
    access_groups: OptAttr<ArrayAttr>,
    #[absent]
    alias_scopes: OptAttr<ArrayAttr>,
    #[absent]
    noalias_scopes: OptAttr<ArrayAttr>,
    #[absent]
    tbaa: OptAttr<ArrayAttr>,
    /// One dictionary per argument.
    #[absent]
    arg_attrs: OptAttr<DictArrayAttr>,
    /// One dictionary per result.
    #[absent]
    res_attrs: OptAttr<DictArrayAttr>,
}

// ---- vectors

/// An element of a vector.
///
/// ```mlir
/// %x = llvm.extractelement %v[%i : i64] : vector<8xf32>
/// ```
#[op(
    "llvm.extractelement",
    traits(Pure),
    format = "$vector `[` $position `:` type($position) `]` attr-dict `:` type($vector)",
    verify,
    infer
)]
pub struct ExtractElementOp {
    vector: Operand<LlvmVector>,
    position: Operand<AnySignlessInteger>,
    res: Res<LlvmType>,
}

/// A vector with one element replaced.
///
/// ```mlir
/// %w = llvm.insertelement %x, %v[%i : i64] : vector<8xf32>
/// ```
#[op(
    "llvm.insertelement",
    traits(Pure),
    format = "$value `,` $vector `[` $position `:` type($position) `]` attr-dict `:` \
              custom<InsertedType>(type($vector), type($value))",
    verify
)]
pub struct InsertElementOp<T: LlvmVector> {
    vector: Operand<T>,
    #[name("value")]
    inserted: Operand<LlvmType>,
    position: Operand<AnySignlessInteger>,
    res: Res<T>,
}

/// Picks elements from two vectors, one after the other; -1 leaves an element undefined.
///
/// ```mlir
/// %s = llvm.shufflevector %a, %b [0, 4, 1, 5] : vector<4xf32>
/// ```
#[op("llvm.shufflevector", traits(Pure), format = "$v1 `,` $v2 $mask attr-dict `:` type($v1)", verify, infer)]
pub struct ShuffleVectorOp<T: LlvmVector> {
    v1: Operand<T>,
    v2: Operand<T>,
    /// For each element of the result the one that it comes from.
    mask: Attr<DenseI32ArrayAttr>,
    res: Res<LlvmVector>,
}

/// The value, or any fixed one where it is poison or undefined.
#[op("llvm.freeze", traits(Pure, SameOperandsAndResultType), format = "$val attr-dict `:` type($val)")]
pub struct FreezeOp {
    val: Operand<LlvmType>,
    res: Res<LlvmType>,
}

sutura_ir::attr_constraints! {
    /// An integer of any type.
    pub AnyIntegerAttr = "arbitrary integer attribute", sutura_ir::op_def::AttrSyntax::Plain;
    get |cx, attr| -> i64 { cx.as_int(attr) }
    set |cx, value: i64| { cx.int_attr(value, sutura_ir::Type::I64) }
}

/// Copies a known number of bytes between places that do not overlap, or are the same, without a call.
#[op("llvm.intr.memcpy.inline")]
pub struct MemcpyInlineOp {
    dst: Operand<LlvmPointer>,
    src: Operand<LlvmPointer>,
    /// Number of bytes.
    len: Attr<AnyIntegerAttr>,
    /// Must happen.
    #[name("isVolatile")]
    is_volatile: Attr<BoolAttr>,
    #[absent]
    access_groups: OptAttr<ArrayAttr>,
    #[absent]
    alias_scopes: OptAttr<ArrayAttr>,
    #[absent]
    noalias_scopes: OptAttr<ArrayAttr>,
    #[absent]
    tbaa: OptAttr<ArrayAttr>,
    /// One dictionary per argument.
    #[absent]
    arg_attrs: OptAttr<DictArrayAttr>,
    /// One dictionary per result.
    #[absent]
    res_attrs: OptAttr<DictArrayAttr>,
}

/// Sets a known number of bytes to one value, without a call.
#[op("llvm.intr.memset.inline")]
pub struct MemsetInlineOp {
    dst: Operand<LlvmPointer>,
    val: Operand<I8>,
    /// Number of bytes.
    len: Attr<AnyIntegerAttr>,
    /// Must happen.
    #[name("isVolatile")]
    is_volatile: Attr<BoolAttr>,
    #[absent]
    access_groups: OptAttr<ArrayAttr>,
    #[absent]
    alias_scopes: OptAttr<ArrayAttr>,
    #[absent]
    noalias_scopes: OptAttr<ArrayAttr>,
    #[absent]
    tbaa: OptAttr<ArrayAttr>,
    /// One dictionary per argument.
    #[absent]
    arg_attrs: OptAttr<DictArrayAttr>,
    /// One dictionary per result.
    #[absent]
    res_attrs: OptAttr<DictArrayAttr>,
}

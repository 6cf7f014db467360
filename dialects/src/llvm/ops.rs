//! Computations and control flow of the llvm dialect.

use sutura_ir::constraints::*;
use sutura_ir::{Builder, Loc, Op, Type, TypeData, Value, op};

use super::attrs::{Dereferenceable, FCmpPredicate, FastmathFlags, ICmpPredicate};
use super::loops::LoopAnnotation;
use super::types::{ArrayType, StructType, is_llvm_type, is_pointer};

sutura_ir::type_constraints! {
    /// A type that LLVM has.
    pub LlvmType = "LLVM dialect-compatible type", |cx, ty| is_llvm_type(cx, ty);
    /// A pointer.
    pub LlvmPointer = "LLVM pointer type", |cx, ty| is_pointer(cx, ty);
    /// A pointer, or a vector of pointers.
    pub LlvmPointerLike = "LLVM pointer type or LLVM dialect-compatible vector of LLVM pointer type",
        |cx, ty| is_pointer(cx, cx.element_type(ty));
    /// A vector of pointers.
    pub LlvmPointerVector = "LLVM dialect-compatible vector of LLVM pointer type",
        |cx, ty| cx.shape(ty).is_some() && is_pointer(cx, cx.element_type(ty));
    /// A signless integer, or a vector of them.
    pub LlvmInteger = "signless integer or LLVM dialect-compatible vector of signless integer",
        |cx, ty| scalar_or_vector(cx, ty, |cx, e| e.is_signless_integer(cx));
    /// A float, or a vector of floats.
    pub LlvmFloat = "floating point LLVM type or LLVM dialect-compatible vector of floating point LLVM type",
        |cx, ty| scalar_or_vector(cx, ty, |cx, e| e.is_float(cx));
    /// `i1`, or a vector of it.
    pub LlvmBool = "1-bit signless integer or LLVM dialect-compatible vector of 1-bit signless integer",
        |cx, ty| scalar_or_vector(cx, ty, |_, e| e == Type::I1);
    /// A signless integer or pointer, or a vector of them.
    pub LlvmComparable = "signless integer or LLVM dialect-compatible vector of signless integer or LLVM pointer type \
                          or LLVM dialect-compatible vector of LLVM pointer type",
        |cx, ty| scalar_or_vector(cx, ty, |cx, e| e.is_signless_integer(cx) || is_pointer(cx, e));
    /// A struct or an array.
    pub LlvmAggregate = "LLVM aggregate type",
        |cx, ty| cx.type_as::<StructType>(ty).is_some() || cx.type_as::<ArrayType>(ty).is_some();
}

fn scalar_or_vector(cx: &sutura_ir::Context, ty: Type, elem: fn(&sutura_ir::Context, Type) -> bool) -> bool {
    elem(cx, ty) || matches!(cx.type_data(ty), TypeData::Vector { elem: e, .. } if elem(cx, e))
}

// ---- arithmetic

/// Two operands of one integer type, and a result of the same.
macro_rules! int_binary {
    ($($(#[$doc:meta])* $ident:ident = $name:literal, [$($trait:ident),*];)*) => {$(
        $(#[$doc])*
        #[op($name, traits(SameOperandsAndResultType $(, $trait)*), format = "$lhs `,` $rhs attr-dict `:` type($res)")]
        pub struct $ident {
            lhs: Operand<LlvmInteger>,
            rhs: Operand<LlvmInteger>,
            res: Res<LlvmInteger>,
        }
    )*};
}

/// The same with a promise about overflow: 1 no signed, 2 no unsigned overflow.
macro_rules! int_binary_with_overflow {
    ($($(#[$doc:meta])* $ident:ident = $name:literal, [$($trait:ident),*];)*) => {$(
        $(#[$doc])*
        #[op(
            $name,
            traits(Pure, SameOperandsAndResultType $(, $trait)*),
            format = "$lhs `,` $rhs (`overflow` `` custom<OverflowFlags>($overflowFlags)^)? attr-dict `:` type($res)"
        )]
        pub struct $ident {
            lhs: Operand<LlvmInteger>,
            rhs: Operand<LlvmInteger>,
            /// Overflows that do not happen.
            #[name("overflowFlags")]
            #[default(0)]
            overflow_flags: Attr<I32Attr>,
            res: Res<LlvmInteger>,
        }
    )*};
}

/// The same with a promise that nothing is lost.
macro_rules! int_binary_with_exact {
    ($($(#[$doc:meta])* $ident:ident = $name:literal, [$($trait:ident),*];)*) => {$(
        $(#[$doc])*
        #[op(
            $name,
            traits(SameOperandsAndResultType $(, $trait)*),
            format = "(`exact` $isExact^)? $lhs `,` $rhs attr-dict `:` type($res)"
        )]
        pub struct $ident {
            lhs: Operand<LlvmInteger>,
            rhs: Operand<LlvmInteger>,
            /// The bits that the result drops are zero.
            #[name("isExact")]
            #[absent]
            is_exact: Flag,
            res: Res<LlvmInteger>,
        }
    )*};
}

int_binary_with_overflow! {
    /// Integer addition.
    AddOp = "llvm.add", [Commutative];
    /// Integer subtraction.
    SubOp = "llvm.sub", [];
    /// Integer multiplication.
    MulOp = "llvm.mul", [Commutative];
    /// Shift to the left.
    ShlOp = "llvm.shl", [];
}

int_binary_with_exact! {
    /// Unsigned division.
    UDivOp = "llvm.udiv", [];
    /// Signed division.
    SDivOp = "llvm.sdiv", [];
    /// Shift to the right, filling with zeros.
    LShrOp = "llvm.lshr", [Pure];
    /// Shift to the right, filling with the sign.
    AShrOp = "llvm.ashr", [Pure];
}

int_binary! {
    /// Unsigned remainder.
    URemOp = "llvm.urem", [];
    /// Signed remainder.
    SRemOp = "llvm.srem", [];
    /// Bitwise and.
    AndOp = "llvm.and", [Pure];
    /// Bitwise exclusive or.
    XOrOp = "llvm.xor", [Pure];
}

/// Bitwise or.
#[op(
    "llvm.or",
    traits(Pure, SameOperandsAndResultType),
    format = "(`disjoint` $isDisjoint^)? $lhs `,` $rhs attr-dict `:` type($res)"
)]
pub struct OrOp {
    lhs: Operand<LlvmInteger>,
    rhs: Operand<LlvmInteger>,
    /// No bit is set in both operands.
    #[name("isDisjoint")]
    #[absent]
    is_disjoint: Flag,
    res: Res<LlvmInteger>,
}

/// Two operands of one floating-point type, and a result of the same.
macro_rules! float_binary {
    ($($(#[$doc:meta])* $ident:ident = $name:literal;)*) => {$(
        $(#[$doc])*
        #[op($name, traits(Pure, SameOperandsAndResultType), format = "$lhs `,` $rhs attr-dict `:` type($res)")]
        pub struct $ident {
            lhs: Operand<LlvmFloat>,
            rhs: Operand<LlvmFloat>,
            /// What may be assumed.
            #[name("fastmathFlags")]
            #[default(FastmathFlags::NONE)]
            fastmath_flags: Attr<FastmathFlags>,
            res: Res<LlvmFloat>,
        }
    )*};
}

float_binary! {
    /// Floating-point addition.
    FAddOp = "llvm.fadd";
    /// Floating-point subtraction.
    FSubOp = "llvm.fsub";
    /// Floating-point multiplication.
    FMulOp = "llvm.fmul";
    /// Floating-point division.
    FDivOp = "llvm.fdiv";
    /// Floating-point remainder.
    FRemOp = "llvm.frem";
}

/// Floating-point negation.
#[op("llvm.fneg", traits(Pure, SameOperandsAndResultType), format = "$operand attr-dict `:` type($res)")]
pub struct FNegOp {
    operand: Operand<LlvmFloat>,
    /// What may be assumed.
    #[name("fastmathFlags")]
    #[default(FastmathFlags::NONE)]
    fastmath_flags: Attr<FastmathFlags>,
    res: Res<LlvmFloat>,
}

/// Comparison of integers or pointers.
#[op(
    "llvm.icmp",
    traits(Pure, SameTypeOperands),
    format = "custom<Comparison>($predicate) $lhs `,` $rhs attr-dict `:` type($lhs)",
    infer,
    verify
)]
pub struct ICmpOp {
    /// Which comparison.
    predicate: Attr<ICmpPredicate>,
    lhs: Operand<LlvmComparable>,
    rhs: Operand<LlvmComparable>,
    res: Res<LlvmBool>,
}

/// Comparison of floats.
#[op(
    "llvm.fcmp",
    traits(Pure, SameTypeOperands),
    format = "custom<Comparison>($predicate) $lhs `,` $rhs attr-dict `:` type($lhs)",
    infer,
    verify
)]
pub struct FCmpOp {
    /// Which comparison.
    predicate: Attr<FCmpPredicate>,
    lhs: Operand<LlvmFloat>,
    rhs: Operand<LlvmFloat>,
    /// What may be assumed.
    #[name("fastmathFlags")]
    #[default(FastmathFlags::NONE)]
    fastmath_flags: Attr<FastmathFlags>,
    res: Res<LlvmBool>,
}

/// One of two values.
#[op("llvm.select", traits(Pure), format = "operands attr-dict `:` type($condition) `,` type($res)")]
pub struct SelectOp<T: LlvmType> {
    condition: Operand<LlvmBool>,
    #[name("trueValue")]
    true_value: Operand<T>,
    #[name("falseValue")]
    false_value: Operand<T>,
    /// What may be assumed.
    #[name("fastmathFlags")]
    #[default(FastmathFlags::NONE)]
    fastmath_flags: Attr<FastmathFlags>,
    res: Res<T>,
}

// ---- casts

/// A conversion of `$from` to `$to`.
macro_rules! cast {
    ($($(#[$doc:meta])* $ident:ident = $name:literal, $from:ident => $to:ident;)*) => {$(
        $(#[$doc])*
        #[op($name, traits(Pure), format = "$arg attr-dict `:` type($arg) `to` type($res)")]
        pub struct $ident {
            arg: Operand<$from>,
            res: Res<$to>,
        }
    )*};
}

/// The same with a promise that the operand is not negative.
macro_rules! cast_with_nneg {
    ($($(#[$doc:meta])* $ident:ident = $name:literal, $from:ident => $to:ident;)*) => {$(
        $(#[$doc])*
        #[op($name, traits(Pure), format = "(`nneg` $nonNeg^)? $arg attr-dict `:` type($arg) `to` type($res)")]
        pub struct $ident {
            arg: Operand<$from>,
            /// The operand is not negative.
            #[name("nonNeg")]
            #[absent]
            non_neg: Flag,
            res: Res<$to>,
        }
    )*};
}

cast! {
    /// Widens an integer, filling with the sign.
    SExtOp = "llvm.sext", LlvmInteger => LlvmInteger;
    /// Widens a float.
    FPExtOp = "llvm.fpext", LlvmFloat => LlvmFloat;
    /// Narrows a float.
    FPTruncOp = "llvm.fptrunc", LlvmFloat => LlvmFloat;
    /// The nearest float to a signed integer.
    SIToFPOp = "llvm.sitofp", LlvmInteger => LlvmFloat;
    /// Rounds a float toward zero to a signed integer.
    FPToSIOp = "llvm.fptosi", LlvmFloat => LlvmInteger;
    /// Rounds a float toward zero to an unsigned integer.
    FPToUIOp = "llvm.fptoui", LlvmFloat => LlvmInteger;
    /// The address that a pointer holds.
    PtrToIntOp = "llvm.ptrtoint", LlvmPointerLike => LlvmInteger;
    /// Takes the bits as they are for another type of the same width.
    BitcastOp = "llvm.bitcast", LlvmType => LlvmType;
    /// The same memory as a pointer of another address space.
    AddrSpaceCastOp = "llvm.addrspacecast", LlvmPointerLike => LlvmPointerLike;
}

/// The pointer that holds an address.
#[op(
    "llvm.inttoptr",
    traits(Pure),
    format = "$arg (`dereferenceable` `` custom<Dereferenceable>($dereferenceable)^)? attr-dict `:` type($arg) `to` \
              type($res)"
)]
pub struct IntToPtrOp {
    arg: Operand<LlvmInteger>,
    /// What may be read from the pointer.
    #[absent]
    dereferenceable: OptAttr<Dereferenceable>,
    res: Res<LlvmPointerLike>,
}

cast_with_nneg! {
    /// Widens an integer, filling with zeros.
    ZExtOp = "llvm.zext", LlvmInteger => LlvmInteger;
    /// The nearest float to an unsigned integer.
    UIToFPOp = "llvm.uitofp", LlvmInteger => LlvmFloat;
}

/// Narrows an integer.
#[op(
    "llvm.trunc",
    traits(Pure),
    format = "$arg (`overflow` `` custom<OverflowFlags>($overflowFlags)^)? attr-dict `:` type($arg) `to` type($res)"
)]
pub struct TruncOp {
    arg: Operand<LlvmInteger>,
    /// Overflows that do not happen: 1 no signed, 2 no unsigned.
    #[name("overflowFlags")]
    #[default(0)]
    overflow_flags: Attr<I32Attr>,
    res: Res<LlvmInteger>,
}

// ---- aggregates and constants

/// A struct or array with one field replaced.
#[op(
    "llvm.insertvalue",
    traits(Pure),
    format = "$value `,` $container `` $position attr-dict `:` type($container) custom<Field>(type($value), $position)",
    verify
)]
pub struct InsertValueOp<T: LlvmAggregate> {
    container: Operand<T>,
    #[name("value")]
    inserted: Operand<LlvmType>,
    /// Path to the field.
    position: Attr<DenseI64ArrayAttr>,
    res: Res<T>,
}

/// A field of a struct or array.
#[op(
    "llvm.extractvalue",
    traits(Pure),
    format = "$container `` $position attr-dict `:` type($container) custom<Field>(type($res), $position)",
    verify
)]
pub struct ExtractValueOp {
    container: Operand<LlvmAggregate>,
    /// Path to the field.
    position: Attr<DenseI64ArrayAttr>,
    res: Res<LlvmType>,
}

/// A constant.
///
/// ```mlir
/// %0 = llvm.mlir.constant(42 : i64) : i64
/// ```
#[op("llvm.mlir.constant", traits(Pure, ConstantLike), format = "`(` $value `)` attr-dict `:` type($res)")]
pub struct ConstantOp {
    #[name("value")]
    constant: Attr<AnyAttr>,
    res: Res<LlvmType>,
}

/// Zero bits: a number, a null pointer, an aggregate of such.
#[op("llvm.mlir.zero", traits(Pure), format = "attr-dict `:` type($res)")]
pub struct ZeroOp {
    res: Res<LlvmType>,
}

/// A value of which nothing is known.
#[op("llvm.mlir.undef", traits(Pure), format = "attr-dict `:` type($res)")]
pub struct UndefOp {
    res: Res<LlvmType>,
}

/// A value that makes everything computed from it one.
#[op("llvm.mlir.poison", traits(Pure), format = "attr-dict `:` type($res)")]
pub struct PoisonOp {
    res: Res<LlvmType>,
}

// ---- control flow

/// Goes to a block.
#[op("llvm.br", traits(Pure, Terminator), format = "$dest (`(` $destOperands^ `:` type($destOperands) `)`)? attr-dict")]
pub struct BrOp {
    /// Arguments of the block.
    #[name("destOperands")]
    dest_operands: Operands<LlvmType>,
    /// What is known of the loop that this branch closes.
    #[absent]
    loop_annotation: OptAttr<LoopAnnotation>,
    dest: Successor,
}

/// Goes to one of two blocks.
#[op(
    "llvm.cond_br",
    traits(Pure, Terminator, AttrSizedOperandSegments),
    format = "$condition (`weights` `(` $branch_weights^ `)`)? `,` \
              $trueDest (`(` $trueDestOperands^ `:` type($trueDestOperands) `)`)? `,` \
              $falseDest (`(` $falseDestOperands^ `:` type($falseDestOperands) `)`)? attr-dict"
)]
pub struct CondBrOp {
    condition: Operand<I1>,
    /// Arguments of the block for true.
    #[name("trueDestOperands")]
    true_operands: Operands<LlvmType>,
    /// Arguments of the block for false.
    #[name("falseDestOperands")]
    false_operands: Operands<LlvmType>,
    /// How often each side is taken.
    branch_weights: OptAttr<DenseI32ArrayAttr>,
    /// What is known of the loop that this branch closes.
    #[absent]
    loop_annotation: OptAttr<LoopAnnotation>,
    #[name("trueDest")]
    true_dest: Successor,
    #[name("falseDest")]
    false_dest: Successor,
}

/// Goes to the block of the case whose number is the value, else to the default one.
///
/// ```mlir
/// llvm.switch %x : i32, ^bb1 [
///   42: ^bb2(%a : f32),
///   7: ^bb3
/// ]
/// ```
#[op(
    "llvm.switch",
    traits(Pure, Terminator, AttrSizedOperandSegments),
    format = "$value `:` type($value) `,` $defaultDestination (`(` $defaultOperands^ `:` type($defaultOperands) `)`)? \
              `[` custom<SwitchCases>($case_values, $case_operand_segments, $caseDestinations, $caseOperands, \
              type($caseOperands)) `]` attr-dict",
    verify
)]
pub struct SwitchOp {
    #[name("value")]
    condition: Operand<AnySignlessInteger>,
    /// Arguments of the default block.
    #[name("defaultOperands")]
    default_operands: Operands<LlvmType>,
    /// Arguments of the blocks of the cases, one block after the other.
    #[name("caseOperands")]
    case_operands: Operands<LlvmType>,
    /// Numbers of the cases, as a vector.
    case_values: OptAttr<AnyAttr>,
    /// For each case how many of `caseOperands` are its.
    case_operand_segments: Attr<DenseI32ArrayAttr>,
    /// How often each is taken, the default first.
    branch_weights: OptAttr<DenseI32ArrayAttr>,
    #[name("defaultDestination")]
    default_destination: Successor,
    #[name("caseDestinations")]
    case_destinations: Successors,
}

/// Ends a function.
#[op("llvm.return", traits(Pure, Terminator, ReturnLike), format = "attr-dict ($arg^ `:` type($arg))?")]
pub struct ReturnOp {
    arg: OptOperand<LlvmType>,
}

/// Is never reached.
#[op("llvm.unreachable", traits(Terminator), format = "attr-dict")]
pub struct UnreachableOp;

/// Calls an intrinsic of LLVM by name.
///
/// ```mlir
/// %r = llvm.call_intrinsic "llvm.fma.v8f32"(%a, %b, %c) : (vector<8xf32>, vector<8xf32>, vector<8xf32>) -> vector<8xf32>
/// ```
#[op(
    "llvm.call_intrinsic",
    traits(AttrSizedOperandSegments),
    format = "custom<CallIntrinsic>($intrin, $args, $op_bundle_operands, $op_bundle_sizes, $op_bundle_tags, $arg_attrs, \
              $res_attrs, type($args), type($op_bundle_operands), type($results), attr-dict)"
)]
pub struct CallIntrinsicOp {
    /// Name, such as `llvm.fma.v8f32`.
    intrin: Attr<StrAttr>,
    args: Operands<LlvmType>,
    /// What may be assumed.
    #[name("fastmathFlags")]
    #[default(FastmathFlags::NONE)]
    fastmath_flags: Attr<FastmathFlags>,
    /// Operands of operand bundles, one bundle after the other.
    op_bundle_operands: Operands<LlvmType>,
    /// Number of operands of each bundle.
    op_bundle_sizes: Attr<DenseI32ArrayAttr>,
    /// Name of each bundle.
    #[absent]
    op_bundle_tags: OptAttr<ArrayAttr>,
    /// One dictionary per argument.
    #[absent]
    arg_attrs: OptAttr<DictArrayAttr>,
    /// One dictionary per result.
    #[absent]
    res_attrs: OptAttr<DictArrayAttr>,
    results: OptRes<LlvmType>,
}

impl CallIntrinsicOp<'_> {
    /// A call without operand bundles.
    pub fn call(b: &mut Builder<'_>, loc: Loc, intrinsic: &str, args: &[Value], result: Option<Type>) -> Op {
        Self::build(b, loc, intrinsic, args, &[], &[], result)
    }
}

//! Operations of the vector dialect.

use sutura_ir::constraints::*;
use sutura_ir::{Type, TypeData, op};

use super::attrs::CombiningKind;
use crate::arith::FastMathFlags;
use crate::memref::AlignmentAttr;
use crate::slices::{Mixed, mixed};

sutura_ir::type_constraints! {
    /// A vector without scalable dimensions.
    pub AnyFixedVectorOfAnyRank = "fixed-length vector of any type values",
        |cx, ty| matches!(cx.type_data(ty), TypeData::Vector { scalable, .. } if !cx.ints(scalable).contains(&1));
    /// A vector of floats.
    pub FloatVector = "vector of floating-point values",
        |cx, ty| matches!(cx.type_data(ty), TypeData::Vector { elem, .. } if elem.is_float(cx));
    /// A mask.
    pub MaskVector = "vector of 1-bit signless integer values",
        |cx, ty| matches!(cx.type_data(ty), TypeData::Vector { elem: Type::I1, .. });
    /// A mask of at least one dimension.
    pub NonZeroRankMaskVector = "vector of 1-bit signless integer values",
        |cx, ty| matches!(cx.type_data(ty), TypeData::Vector { elem: Type::I1, .. })
            && cx.shape(ty).is_some_and(|s| !s.is_empty());
    /// Indices.
    pub IndexVector = "vector of index values of ranks 1",
        |cx, ty| matches!(cx.type_data(ty), TypeData::Vector { elem: Type::INDEX, .. })
            && cx.shape(ty).is_some_and(|s| s.len() == 1);
}

// ---- making and rearranging

/// Repeats a value along new leading dimensions, and along dimensions of size one.
///
/// ```mlir
/// %v = vector.broadcast %x : f32 to vector<8xf32>
/// ```
#[op(
    "vector.broadcast",
    traits(Pure),
    format = "$source attr-dict `:` type($source) `to` type($vector)",
    verify,
    fold,
    canonicalize
)]
pub struct BroadcastOp {
    source: Operand<AnyType>,
    vector: Res<AnyVectorOfAnyRank>,
}

/// The same elements, in row-major order, in another shape.
#[op(
    "vector.shape_cast",
    traits(Pure),
    format = "$source attr-dict `:` type($source) `to` type($result)",
    verify,
    fold,
    canonicalize
)]
pub struct ShapeCastOp {
    source: Operand<AnyVectorOfAnyRank>,
    result: Res<AnyVectorOfAnyRank>,
}

/// The same bits as elements of another width.
#[op(
    "vector.bitcast",
    traits(Pure),
    format = "$source attr-dict `:` type($source) `to` type($result)",
    verify,
    fold,
    canonicalize
)]
pub struct BitCastOp {
    source: Operand<AnyVectorOfAnyRank>,
    result: Res<AnyVectorOfAnyRank>,
}

/// Reorders dimensions: dimension `i` of the result is dimension `permutation[i]` of the operand.
///
/// ```mlir
/// %t = vector.transpose %v, [1, 0] : vector<2x4xf32> to vector<4x2xf32>
/// ```
#[op(
    "vector.transpose",
    traits(Pure),
    format = "$vector `,` $permutation attr-dict `:` type($vector) `to` type($result)",
    verify,
    infer,
    fold,
    canonicalize
)]
pub struct TransposeOp {
    vector: Operand<AnyVectorOfAnyRank>,
    permutation: Attr<DenseI64ArrayAttr>,
    result: Res<AnyVectorOfAnyRank>,
}

/// Picks from the leading dimensions of two vectors, one after the other; -1 leaves an element undefined.
///
/// ```mlir
/// %s = vector.shuffle %a, %b [0, 4, 1, 5] : vector<4xf32>, vector<4xf32>
/// ```
#[op("vector.shuffle", traits(Pure), format = "operands $mask attr-dict `:` type(operands)", verify, infer, fold)]
pub struct ShuffleOp {
    v1: Operand<AnyFixedVectorOfAnyRank>,
    v2: Operand<AnyFixedVectorOfAnyRank>,
    /// For each leading position of the result the one that it comes from.
    mask: Attr<DenseI64ArrayAttr>,
    vector: Res<AnyVectorOfNonZeroRank>,
}

/// An element, or a vector of the trailing dimensions.
///
/// ```mlir
/// %x = vector.extract %v[0, %i] : f32 from vector<2x4xf32>
/// ```
#[op(
    "vector.extract",
    traits(Pure),
    format = "$source `` custom<DynamicIndexList>($dynamic_position, $static_position) attr-dict `:` type($result) \
              `from` type($source)",
    verify,
    infer,
    fold,
    canonicalize
)]
pub struct ExtractOp {
    source: Operand<AnyVectorOfAnyRank>,
    dynamic_position: Operands<Index>,
    static_position: Attr<DenseI64ArrayAttr>,
    result: Res<AnyType>,
}

impl ExtractOp<'_> {
    /// Indices into the leading dimensions.
    pub fn position(self) -> Vec<Mixed> {
        mixed(self.0, 1, "static_position")
    }
}

/// The vector with an element, or a vector of the trailing dimensions, replaced.
///
/// ```mlir
/// %w = vector.insert %x, %v [0, %i] : f32 into vector<2x4xf32>
/// ```
#[op(
    "vector.insert",
    traits(Pure),
    format = "$valueToStore `,` $dest custom<DynamicIndexList>($dynamic_position, $static_position) attr-dict `:` \
              type($valueToStore) `into` type($dest)",
    verify,
    fold,
    canonicalize
)]
pub struct InsertOp<T: AnyVectorOfAnyRank> {
    #[name("valueToStore")]
    stored: Operand<AnyType>,
    dest: Operand<T>,
    dynamic_position: Operands<Index>,
    static_position: Attr<DenseI64ArrayAttr>,
    result: Res<T>,
}

impl InsertOp<'_> {
    /// Indices into the leading dimensions.
    pub fn position(self) -> Vec<Mixed> {
        mixed(self.0, 2, "static_position")
    }
}

/// A vector of these elements, in row-major order.
#[op(
    "vector.from_elements",
    traits(Pure),
    format = "$elements attr-dict `:` custom<ElementsOf>(type($dest), type($elements))",
    verify,
    fold,
    canonicalize
)]
pub struct FromElementsOp {
    elements: Operands<AnyType>,
    dest: Res<AnyFixedVectorOfAnyRank>,
}

/// A part of the leading dimensions.
///
/// ```mlir
/// %p = vector.extract_strided_slice %v {offsets = [0, 2], sizes = [1, 2], strides = [1, 1]}
///        : vector<2x4xf32> to vector<1x2xf32>
/// ```
#[op(
    "vector.extract_strided_slice",
    traits(Pure),
    format = "$source attr-dict `:` type($source) `to` type($result)",
    verify,
    infer,
    fold,
    canonicalize
)]
pub struct ExtractStridedSliceOp {
    source: Operand<AnyVectorOfNonZeroRank>,
    offsets: Attr<I64ArrayAttr>,
    sizes: Attr<I64ArrayAttr>,
    strides: Attr<I64ArrayAttr>,
    result: Res<AnyVectorOfNonZeroRank>,
}

/// A vector with a part replaced.
#[op(
    "vector.insert_strided_slice",
    traits(Pure),
    format = "$valueToStore `,` $dest attr-dict `:` type($valueToStore) `into` type($dest)",
    verify,
    fold,
    canonicalize
)]
pub struct InsertStridedSliceOp<T: AnyVectorOfNonZeroRank> {
    #[name("valueToStore")]
    stored: Operand<AnyVectorOfNonZeroRank>,
    dest: Operand<T>,
    offsets: Attr<I64ArrayAttr>,
    strides: Attr<I64ArrayAttr>,
    result: Res<T>,
}

/// 0, 1, 2, …
#[op("vector.step", traits(Pure), format = "attr-dict `:` type($result)")]
pub struct StepOp {
    result: Res<IndexVector>,
}

/// True at positions that lie below the operand in every dimension.
///
/// ```mlir
/// %m = vector.create_mask %n : vector<8xi1>
/// ```
#[op("vector.create_mask", traits(Pure), format = "$operands attr-dict `:` type($result)", verify, canonicalize)]
pub struct CreateMaskOp {
    operands: Operands<Index>,
    result: Res<MaskVector>,
}

/// The same with constant bounds.
#[op("vector.constant_mask", traits(Pure), format = "$mask_dim_sizes attr-dict `:` type($result)", verify)]
pub struct ConstantMaskOp {
    mask_dim_sizes: Attr<DenseI64ArrayAttr>,
    result: Res<MaskVector>,
}

// ---- computing

/// `lhs * rhs + acc`, rounded once.
#[op("vector.fma", traits(Pure, Elementwise), format = "$lhs `,` $rhs `,` $acc attr-dict `:` type($lhs)")]
pub struct FMAOp<T: FloatVector> {
    lhs: Operand<T>,
    rhs: Operand<T>,
    acc: Operand<T>,
    result: Res<T>,
}

/// Combines all elements of a vector, beginning with an accumulator if there is one.
///
/// ```mlir
/// %sum = vector.reduction <add>, %v, %acc : vector<8xf32> into f32
/// ```
#[op(
    "vector.reduction",
    traits(Pure),
    format = "custom<Kind>($kind) `,` $vector (`,` $acc^)? (`fastmath` `` custom<FastMath>($fastmath)^)? attr-dict \
              `:` type($vector) `into` type($dest)",
    verify
)]
pub struct ReductionOp<T: AnyType> {
    /// How elements are combined.
    kind: Attr<CombiningKind>,
    vector: Operand<AnyVectorOfAnyRank>,
    acc: OptOperand<T>,
    /// What may be assumed.
    #[default(FastMathFlags::NONE)]
    fastmath: Attr<FastMathFlags>,
    dest: Res<T>,
}

/// The products of all pairs of elements of two vectors, or of the elements of a vector and a scalar, combined with an
/// accumulator if there is one.
///
/// ```mlir
/// %acc2 = vector.outerproduct %a, %b, %acc : vector<4xf32>, vector<8xf32>
/// ```
#[op(
    "vector.outerproduct",
    traits(Pure),
    format = "$lhs `,` $rhs (`,` $acc^)? custom<OuterProductDict>($kind, attr-dict) `:` \
              custom<OuterProductTypes>(type($lhs), type($rhs), type($acc), type($result))",
    verify,
    infer
)]
pub struct OuterProductOp {
    lhs: Operand<AnyVectorOfNonZeroRank>,
    rhs: Operand<AnyType>,
    acc: OptOperand<AnyVectorOfNonZeroRank>,
    /// How products are combined with the accumulator.
    #[default(CombiningKind::Add)]
    kind: Attr<CombiningKind>,
    result: Res<AnyVectorOfNonZeroRank>,
}

// ---- memory

/// Reads a vector from consecutive elements.
///
/// ```mlir
/// %v = vector.load %m[%i, %j] : memref<?x?xf32>, vector<8xf32>
/// ```
#[op(
    "vector.load",
    format = "$base `[` $indices `]` attr-dict `:` type($base) `,` type($result)",
    verify,
    canonicalize
)]
pub struct LoadOp {
    base: Operand<AnyMemRef>,
    indices: Operands<Index>,
    /// The elements will not be read again soon.
    #[default(false)]
    #[absent]
    nontemporal: Attr<BoolAttr>,
    alignment: OptAttr<AlignmentAttr>,
    result: Res<AnyVectorOfAnyRank>,
}

/// Writes a vector to consecutive elements.
///
/// ```mlir
/// vector.store %v, %m[%i, %j] : memref<?x?xf32>, vector<8xf32>
/// ```
#[op(
    "vector.store",
    format = "$valueToStore `,` $base `[` $indices `]` attr-dict `:` type($base) `,` type($valueToStore)",
    verify,
    canonicalize
)]
pub struct StoreOp {
    #[name("valueToStore")]
    stored: Operand<AnyVectorOfAnyRank>,
    base: Operand<AnyMemRef>,
    indices: Operands<Index>,
    /// The elements will not be read again soon.
    #[default(false)]
    #[absent]
    nontemporal: Attr<BoolAttr>,
    alignment: OptAttr<AlignmentAttr>,
}

/// Reads those elements for which the mask is true; the others are those of `pass_thru`.
#[op(
    "vector.maskedload",
    format = "$base `[` $indices `]` `,` $mask `,` $pass_thru attr-dict `:` type($base) `,` type($mask) `,` \
              type($pass_thru) `into` type($result)",
    verify,
    canonicalize
)]
pub struct MaskedLoadOp {
    base: Operand<AnyMemRef>,
    indices: Operands<Index>,
    mask: Operand<NonZeroRankMaskVector>,
    pass_thru: Operand<AnyVectorOfNonZeroRank>,
    alignment: OptAttr<AlignmentAttr>,
    result: Res<AnyVectorOfNonZeroRank>,
}

/// Writes those elements for which the mask is true.
#[op(
    "vector.maskedstore",
    format = "$base `[` $indices `]` `,` $mask `,` $valueToStore attr-dict `:` type($base) `,` type($mask) `,` \
              type($valueToStore)",
    verify,
    canonicalize
)]
pub struct MaskedStoreOp {
    base: Operand<AnyMemRef>,
    indices: Operands<Index>,
    mask: Operand<NonZeroRankMaskVector>,
    #[name("valueToStore")]
    stored: Operand<AnyVectorOfNonZeroRank>,
    alignment: OptAttr<AlignmentAttr>,
}

/// Reads a vector from a memref or tensor, along the dimensions that the map picks; elements out of bounds (or masked
/// off) are the padding.
///
/// The custom form may leave out a map that picks the trailing dimensions in order, and bounds that are all unknown.
///
/// ```mlir
/// %v = vector.transfer_read %m[%i, %j], %pad {in_bounds = [true], permutation_map = affine_map<(d0, d1) -> (d0)>}
///        : memref<?x?xf32>, vector<8xf32>
/// ```
#[op(
    "vector.transfer_read",
    traits(AttrSizedOperandSegments),
    format = "$base `[` $indices `]` `,` $padding (`,` $mask^)? \
              custom<TransferDict>($permutation_map, $in_bounds, attr-dict) `:` \
              custom<ReadTypes>(type($base), type($padding), type($mask), type($vector))",
    verify
)]
pub struct TransferReadOp {
    base: Operand<AnyShaped>,
    indices: Operands<Index>,
    /// From the dimensions of the base to those of the vector; a constant 0 repeats.
    permutation_map: Attr<AffineMapAttr>,
    padding: Operand<AnyType>,
    mask: OptOperand<NonZeroRankMaskVector>,
    /// For each dimension of the vector, whether all its elements are known to lie inside.
    in_bounds: Attr<BoolArrayAttr>,
    vector: Res<AnyVectorOfAnyRank>,
}

/// Writes a vector to a memref, or gives the tensor with it written; elements out of bounds (or masked off) are not
/// written.
#[op(
    "vector.transfer_write",
    traits(AttrSizedOperandSegments),
    format = "$valueToStore `,` $base `[` $indices `]` (`,` $mask^)? \
              custom<TransferDict>($permutation_map, $in_bounds, attr-dict) `:` \
              custom<WriteTypes>(type($valueToStore), type($base), type($mask), type($result))",
    verify
)]
pub struct TransferWriteOp {
    #[name("valueToStore")]
    stored: Operand<AnyVectorOfAnyRank>,
    base: Operand<AnyShaped>,
    indices: Operands<Index>,
    /// From the dimensions of the base to those of the vector.
    permutation_map: Attr<AffineMapAttr>,
    mask: OptOperand<NonZeroRankMaskVector>,
    /// For each dimension of the vector, whether all its elements are known to lie inside.
    in_bounds: Attr<BoolArrayAttr>,
    result: OptRes<AnyRankedTensor>,
}

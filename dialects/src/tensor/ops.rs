//! Operations of the tensor dialect.

use sutura_ir::constraints::*;
use sutura_ir::{Type, TypeData, op};

use crate::slices::Slice;

sutura_ir::type_constraints! {
    /// A shape: integers or indices in one dimension.
    pub ShapeTensor = "1D tensor of signless integer or index values",
        |cx, ty| cx.shape(ty).is_some_and(|s| s.len() == 1) && ty.is_tensor(cx)
            && (cx.element_type(ty) == Type::INDEX || cx.element_type(ty).is_signless_integer(cx));
    /// A tensor that has a dimension, or may have.
    pub AnyNon0RankedOrUnrankedTensor = "non-0-ranked or unranked tensor",
        |cx, ty| ty.is_tensor(cx) && cx.shape(ty).is_none_or(|s| !s.is_empty());
    /// A ranked tensor of static shape.
    pub AnyStaticShapeTensor = "statically shaped tensor of any type values",
        |cx, ty| matches!(cx.type_data(ty), TypeData::RankedTensor { .. }) && cx.num_elements(ty).is_some();
}

/// Changes what is known of a tensor's shape; dimensions that become static are checked by no one.
///
/// ```mlir
/// %1 = tensor.cast %0 : tensor<?x4xf32> to tensor<8x4xf32>
/// ```
#[op("tensor.cast", traits(Pure), format = "$source attr-dict `:` type($source) `to` type($dest)", canonicalize)]
pub struct CastOp {
    source: Operand<AnyTensor>,
    dest: Res<AnyTensor>,
}

/// Size of a dimension.
///
/// ```mlir
/// %n = tensor.dim %t, %c0 : tensor<?x4xf32>
/// ```
#[op("tensor.dim", traits(Pure), format = "attr-dict $source `,` $index `:` type($source)", fold, canonicalize)]
pub struct DimOp {
    source: Operand<AnyNon0RankedOrUnrankedTensor>,
    index: Operand<Index>,
    result: Res<Index>,
}

/// Number of dimensions.
#[op("tensor.rank", traits(Pure), format = "$tensor attr-dict `:` type($tensor)", fold)]
pub struct RankOp {
    tensor: Operand<AnyTensor>,
    result: Res<Index>,
}

/// A tensor of this shape whose elements are whatever they are.
///
/// ```mlir
/// %0 = tensor.empty(%n) : tensor<?x4xf32>
/// ```
#[op("tensor.empty", traits(Pure), format = "`(` $dynamicSizes `)` attr-dict `:` type($result)", verify, canonicalize)]
pub struct EmptyOp {
    /// Sizes of the dynamic dimensions, in order.
    #[name("dynamicSizes")]
    dynamic_sizes: Operands<Index>,
    result: Res<AnyRankedTensor>,
}

/// One element.
///
/// ```mlir
/// %x = tensor.extract %t[%i, %j] : tensor<?x4xf32>
/// ```
#[op(
    "tensor.extract",
    traits(Pure),
    format = "$tensor `[` $indices `]` attr-dict `:` type($tensor)",
    verify,
    infer,
    fold,
    canonicalize
)]
pub struct ExtractOp {
    tensor: Operand<AnyRankedTensor>,
    indices: Operands<Index>,
    result: Res<AnyType>,
}

/// The tensor with one element replaced.
///
/// ```mlir
/// %u = tensor.insert %x into %t[%i] : tensor<?xf32>
/// ```
#[op(
    "tensor.insert",
    traits(Pure),
    format = "$scalar `into` $dest `[` $indices `]` attr-dict `:` custom<ElementsOf>(type($dest), type($scalar))",
    verify,
    fold
)]
pub struct InsertOp<T: AnyRankedTensor> {
    scalar: Operand<AnyType>,
    dest: Operand<T>,
    indices: Operands<Index>,
    result: Res<T>,
}

/// A tensor of these elements, in row-major order.
///
/// ```mlir
/// %t = tensor.from_elements %a, %b : tensor<2xf32>
/// ```
#[op(
    "tensor.from_elements",
    traits(Pure),
    format = "$elements attr-dict `:` custom<ElementsOf>(type($result), type($elements))",
    verify,
    fold
)]
pub struct FromElementsOp {
    elements: Operands<AnyType>,
    result: Res<AnyStaticShapeTensor>,
}

/// A tensor all of whose elements are one value.
#[op(
    "tensor.splat",
    traits(Pure),
    format = "$input (`[` $dynamicSizes^ `]`)? attr-dict `:` custom<ElementsOf>(type($aggregate), type($input))",
    verify,
    fold
)]
pub struct SplatOp {
    input: Operand<AnyType>,
    /// Sizes of the dynamic dimensions, in order.
    #[name("dynamicSizes")]
    dynamic_sizes: Operands<Index>,
    aggregate: Res<AnyRankedTensor>,
}

/// A tensor whose elements a region computes from their indices.
#[op(
    "tensor.generate",
    traits(SingleBlock, RecursiveMemoryEffects),
    format = "$dynamicExtents $body attr-dict `:` type($result)",
    implicit_terminator = "tensor.yield",
    verify,
    verify_regions
)]
pub struct GenerateOp {
    /// Sizes of the dynamic dimensions, in order.
    #[name("dynamicExtents")]
    dynamic_extents: Operands<Index>,
    result: Res<AnyRankedTensor>,
    /// Takes one index per dimension, yields the element.
    body: Region,
}

/// A part of a tensor: from offsets, of sizes, with strides. Dimensions of size one may be dropped.
///
/// ```mlir
/// %s = tensor.extract_slice %t[%i, 0] [1, 4] [1, 1] : tensor<?x4xf32> to tensor<4xf32>
/// ```
#[op(
    "tensor.extract_slice",
    traits(Pure, AttrSizedOperandSegments),
    format = "$source `` custom<DynamicIndexList>($offsets, $static_offsets) \
              custom<DynamicIndexList>($sizes, $static_sizes) custom<DynamicIndexList>($strides, $static_strides) \
              attr-dict `:` type($source) `to` type($result)",
    verify,
    fold,
    canonicalize
)]
pub struct ExtractSliceOp {
    source: Operand<AnyRankedTensor>,
    offsets: Operands<Index>,
    sizes: Operands<Index>,
    strides: Operands<Index>,
    static_offsets: Attr<DenseI64ArrayAttr>,
    static_sizes: Attr<DenseI64ArrayAttr>,
    static_strides: Attr<DenseI64ArrayAttr>,
    result: Res<AnyRankedTensor>,
}

impl ExtractSliceOp<'_> {
    /// Offsets, sizes and strides.
    pub fn slice(self) -> Slice {
        Slice::of(self.0, 1)
    }
}

/// A tensor with a part of it replaced.
///
/// ```mlir
/// %u = tensor.insert_slice %s into %t[%i, 0] [1, 4] [1, 1] : tensor<4xf32> into tensor<?x4xf32>
/// ```
#[op(
    "tensor.insert_slice",
    traits(Pure, AttrSizedOperandSegments),
    format = "$source `into` $dest `` custom<DynamicIndexList>($offsets, $static_offsets) \
              custom<DynamicIndexList>($sizes, $static_sizes) custom<DynamicIndexList>($strides, $static_strides) \
              attr-dict `:` type($source) `into` type($dest)",
    verify,
    fold,
    canonicalize
)]
pub struct InsertSliceOp<T: AnyRankedTensor> {
    source: Operand<AnyRankedTensor>,
    dest: Operand<T>,
    offsets: Operands<Index>,
    sizes: Operands<Index>,
    strides: Operands<Index>,
    static_offsets: Attr<DenseI64ArrayAttr>,
    static_sizes: Attr<DenseI64ArrayAttr>,
    static_strides: Attr<DenseI64ArrayAttr>,
    result: Res<T>,
}

impl InsertSliceOp<'_> {
    /// Offsets, sizes and strides.
    pub fn slice(self) -> Slice {
        Slice::of(self.0, 2)
    }
}

/// Splits dimensions.
///
/// ```mlir
/// %e = tensor.expand_shape %t [[0, 1], [2]] output_shape [%n, 2, 4] : tensor<?x4xf32> into tensor<?x2x4xf32>
/// ```
#[op(
    "tensor.expand_shape",
    traits(Pure),
    format = "$src $reassociation `output_shape` custom<DynamicIndexList>($output_shape, $static_output_shape) \
              attr-dict `:` type($src) `into` type($result)",
    verify,
    fold,
    canonicalize
)]
pub struct ExpandShapeOp {
    src: Operand<AnyRankedTensor>,
    /// For each dimension of the source those of the result that it becomes.
    reassociation: Attr<IndexListArrayAttr>,
    output_shape: Operands<Index>,
    static_output_shape: Attr<DenseI64ArrayAttr>,
    result: Res<AnyRankedTensor>,
}

/// Merges neighbouring dimensions.
///
/// ```mlir
/// %c = tensor.collapse_shape %t [[0, 1], [2]] : tensor<?x2x4xf32> into tensor<?x4xf32>
/// ```
#[op(
    "tensor.collapse_shape",
    traits(Pure),
    format = "$src $reassociation attr-dict `:` type($src) `into` type($result)",
    verify,
    fold,
    canonicalize
)]
pub struct CollapseShapeOp {
    src: Operand<AnyRankedTensor>,
    /// For each dimension of the result those of the source that become it.
    reassociation: Attr<IndexListArrayAttr>,
    result: Res<AnyRankedTensor>,
}

/// Inserts a part into an output of `scf.forall`, together with the other iterations.
#[op(
    "tensor.parallel_insert_slice",
    traits(AttrSizedOperandSegments),
    format = "$source `into` $dest `` custom<DynamicIndexList>($offsets, $static_offsets) \
              custom<DynamicIndexList>($sizes, $static_sizes) custom<DynamicIndexList>($strides, $static_strides) \
              attr-dict `:` type($source) `into` type($dest)",
    parents("scf.forall.in_parallel"),
    verify
)]
pub struct ParallelInsertSliceOp {
    source: Operand<AnyRankedTensor>,
    dest: Operand<AnyRankedTensor>,
    offsets: Operands<Index>,
    sizes: Operands<Index>,
    strides: Operands<Index>,
    static_offsets: Attr<DenseI64ArrayAttr>,
    static_sizes: Attr<DenseI64ArrayAttr>,
    static_strides: Attr<DenseI64ArrayAttr>,
}

/// Tensors one after the other along a dimension.
///
/// ```mlir
/// %c = tensor.concat dim(0) %a, %b : (tensor<3x6xf32>, tensor<2x6xf32>) -> tensor<5x6xf32>
/// ```
#[op(
    "tensor.concat",
    traits(Pure),
    format = "`dim` `(` $dim `)` $inputs attr-dict `:` functional-type(operands, results)",
    verify,
    fold
)]
pub struct ConcatOp {
    dim: Attr<I64Attr>,
    inputs: Operands<AnyRankedTensor>,
    result: Res<AnyRankedTensor>,
}

/// The same elements, in row-major order, in a shape that is computed.
///
/// ```mlir
/// %r = tensor.reshape %t(%shape) : (tensor<?xf32>, tensor<2xindex>) -> tensor<?x?xf32>
/// ```
#[op(
    "tensor.reshape",
    traits(Pure),
    format = "$source `(` $shape `)` attr-dict `:` functional-type(operands, results)",
    verify
)]
pub struct ReshapeOp {
    source: Operand<AnyTensor>,
    shape: Operand<ShapeTensor>,
    result: Res<AnyTensor>,
}

/// A tensor with padding around it, whose elements a region computes from their indices.
///
/// ```mlir
/// %p = tensor.pad %t low[0, 1] high[%n, 1] {
/// ^bb0(%i: index, %j: index):
///   tensor.yield %zero : f32
/// } : tensor<?x4xf32> to tensor<?x6xf32>
/// ```
#[op(
    "tensor.pad",
    traits(Pure, SingleBlock, AttrSizedOperandSegments),
    format = "$source (`nofold` $nofold^)? `low` `` custom<DynamicIndexList>($low, $static_low) \
              `high` `` custom<DynamicIndexList>($high, $static_high) $region attr-dict `:` type($source) `to` \
              type($result)",
    implicit_terminator = "tensor.yield",
    verify,
    verify_regions,
    fold
)]
pub struct PadOp {
    source: Operand<AnyRankedTensor>,
    low: Operands<Index>,
    high: Operands<Index>,
    static_low: Attr<DenseI64ArrayAttr>,
    static_high: Attr<DenseI64ArrayAttr>,
    /// Keeps the op even if it pads nothing.
    #[absent]
    nofold: Flag,
    result: Res<AnyRankedTensor>,
    region: Region,
}

/// Ends the region of `tensor.pad` and `tensor.generate` with the element.
#[op(
    "tensor.yield",
    traits(Pure, Terminator, ReturnLike),
    format = "$value attr-dict `:` type($value)",
    parents("tensor.generate", "tensor.pad")
)]
pub struct YieldOp {
    #[name("value")]
    element: Operand<AnyType>,
}

//! Operations of the memref dialect.

use sutura_ir::affine::{AffineExpr, AffineExprData, AffineMap};
use sutura_ir::constraints::*;
use sutura_ir::op_def::AttrSyntax::{Plain, Untyped};
use sutura_ir::op_def::{InferInput, InferTypes};
use sutura_ir::smallvec::{SmallVec, smallvec};
use sutura_ir::{Context, Type, TypeData, op};

use super::layout::{StridedLayout, plus, strided_layout, times};
use crate::slices::Slice;

sutura_ir::type_constraints! {
    /// A memref that has a dimension, or may have.
    pub AnyNon0RankedOrUnrankedMemRef = "unranked.memref of any type values or non-0-ranked.memref of any type values",
        |cx, ty| match cx.type_data(ty) {
            TypeData::UnrankedMemRef { .. } => true,
            TypeData::MemRef { shape, .. } => !cx.ints(shape).is_empty(),
            _ => false,
        };
    /// A ranked memref of static shape.
    pub AnyStaticShapeMemRef = "statically shaped memref of any type values",
        |cx, ty| matches!(cx.type_data(ty), TypeData::MemRef { .. }) && cx.num_elements(ty).is_some();
    /// A shape: integers or indices in one dimension.
    pub ShapeMemRef = "1D memref of signless integer or index values",
        |cx, ty| matches!(cx.type_data(ty), TypeData::MemRef { .. })
            && cx.shape(ty).is_some_and(|s| s.len() == 1)
            && (cx.element_type(ty) == Type::INDEX || cx.element_type(ty).is_signless_integer(cx));
    /// A memref of one dimension.
    pub OneDimMemRef = "1D memref of any type values",
        |cx, ty| matches!(cx.type_data(ty), TypeData::MemRef { .. }) && cx.shape(ty).is_some_and(|s| s.len() == 1);
    /// Bytes.
    pub ByteBuffer = "1D memref of 8-bit signless integer values",
        |cx, ty| matches!(cx.type_data(ty), TypeData::MemRef { .. })
            && cx.element_type(ty) == Type::I8
            && cx.shape(ty).is_some_and(|s| s.len() == 1);
}

sutura_ir::attr_constraints! {
    /// Alignment in bytes.
    pub AlignmentAttr =
        "64-bit signless integer attribute whose value is positive and whose value is a power of two > 0",
        Untyped(Type::I64);
    get |cx, attr| -> i64 {
        <I64Attr as sutura_ir::op_def::AttrConstraintDef>::get(cx, attr).filter(|n| *n > 0 && n.count_ones() == 1)
    }
    set |cx, value: i64| { cx.int_attr(value, Type::I64) }

    /// The type of a memref.
    pub MemRefTypeAttr = "memref type attribute", Plain;
    get |cx, attr| -> Type { cx.as_type(attr).filter(|ty| matches!(cx.type_data(*ty), TypeData::MemRef { .. })) }
    set |cx, value: Type| { cx.type_attr(value) }
}

/// Memory on the heap, until it is deallocated.
///
/// ```mlir
/// %m = memref.alloc(%n) {alignment = 64 : i64} : memref<?x4xf32>
/// ```
#[op(
    "memref.alloc",
    traits(AttrSizedOperandSegments),
    format = "`(` $dynamicSizes `)` (`` `[` $symbolOperands^ `]`)? attr-dict `:` type($memref)",
    verify,
    canonicalize
)]
pub struct AllocOp {
    /// Sizes of the dynamic dimensions, in order.
    #[name("dynamicSizes")]
    dynamic_sizes: Operands<Index>,
    /// Symbols of the layout map.
    #[name("symbolOperands")]
    symbol_operands: Operands<Index>,
    alignment: OptAttr<AlignmentAttr>,
    memref: Res<AnyMemRef>,
}

/// Memory on the stack, until the function returns.
#[op(
    "memref.alloca",
    traits(AttrSizedOperandSegments),
    format = "`(` $dynamicSizes `)` (`` `[` $symbolOperands^ `]`)? attr-dict `:` type($memref)",
    verify,
    canonicalize
)]
pub struct AllocaOp {
    /// Sizes of the dynamic dimensions, in order.
    #[name("dynamicSizes")]
    dynamic_sizes: Operands<Index>,
    /// Symbols of the layout map.
    #[name("symbolOperands")]
    symbol_operands: Operands<Index>,
    alignment: OptAttr<AlignmentAttr>,
    memref: Res<AnyMemRef>,
}

/// Gives memory from `memref.alloc` back.
#[op("memref.dealloc", format = "$memref attr-dict `:` type($memref)", canonicalize)]
pub struct DeallocOp {
    memref: Operand<AnyRankedOrUnrankedMemRef>,
}

/// Reads one element.
///
/// ```mlir
/// %x = memref.load %m[%i, %j] : memref<?x4xf32>
/// ```
#[op("memref.load", format = "$memref `[` $indices `]` attr-dict `:` type($memref)", verify, infer, canonicalize)]
pub struct LoadOp {
    memref: Operand<AnyMemRef>,
    indices: Operands<Index>,
    /// The element will not be read again soon.
    #[default(false)]
    #[absent]
    nontemporal: Attr<BoolAttr>,
    alignment: OptAttr<AlignmentAttr>,
    result: Res<AnyType>,
}

impl InferTypes for LoadOp<'_> {
    fn infer(input: InferInput<'_>) -> Result<SmallVec<[Type; 2]>, String> {
        let memref = input.operands.first().ok_or("the op has no operand")?;
        Ok(smallvec![input.cx.element_type(*memref)])
    }
}

/// Writes one element.
///
/// ```mlir
/// memref.store %x, %m[%i, %j] : memref<?x4xf32>
/// ```
#[op(
    "memref.store",
    format = "$value `,` $memref `[` $indices `]` attr-dict `:` custom<ElementsOf>(type($memref), type($value))",
    verify,
    canonicalize
)]
pub struct StoreOp {
    #[name("value")]
    stored: Operand<AnyType>,
    memref: Operand<AnyMemRef>,
    indices: Operands<Index>,
    /// The element will not be read again soon.
    #[default(false)]
    #[absent]
    nontemporal: Attr<BoolAttr>,
    alignment: OptAttr<AlignmentAttr>,
}

/// Size of a dimension.
#[op("memref.dim", traits(Pure), format = "attr-dict $source `,` $index `:` type($source)", fold, canonicalize)]
pub struct DimOp {
    source: Operand<AnyNon0RankedOrUnrankedMemRef>,
    index: Operand<Index>,
    result: Res<Index>,
}

/// Number of dimensions.
#[op("memref.rank", traits(Pure), format = "$memref attr-dict `:` type($memref)", fold)]
pub struct RankOp {
    memref: Operand<AnyRankedOrUnrankedMemRef>,
    result: Res<Index>,
}

/// Changes what is known of a memref's shape, strides and offset; nothing is checked.
#[op("memref.cast", traits(Pure), format = "$source attr-dict `:` type($source) `to` type($dest)")]
pub struct CastOp {
    source: Operand<AnyRankedOrUnrankedMemRef>,
    dest: Res<AnyRankedOrUnrankedMemRef>,
}

/// A part of a memref, in place: from offsets, of sizes, with strides. Dimensions of size one may be dropped.
///
/// ```mlir
/// %s = memref.subview %m[%i, 0] [1, 4] [1, 1] : memref<?x4xf32> to memref<4xf32, strided<[1], offset: ?>>
/// ```
#[op(
    "memref.subview",
    traits(Pure, AttrSizedOperandSegments),
    format = "$source `` custom<DynamicIndexList>($offsets, $static_offsets) \
              custom<DynamicIndexList>($sizes, $static_sizes) custom<DynamicIndexList>($strides, $static_strides) \
              attr-dict `:` type($source) `to` type($result)",
    verify,
    fold
)]
pub struct SubViewOp {
    source: Operand<AnyMemRef>,
    offsets: Operands<Index>,
    sizes: Operands<Index>,
    strides: Operands<Index>,
    static_offsets: Attr<DenseI64ArrayAttr>,
    static_sizes: Attr<DenseI64ArrayAttr>,
    static_strides: Attr<DenseI64ArrayAttr>,
    result: Res<AnyMemRef>,
}

impl SubViewOp<'_> {
    /// Offsets, sizes and strides.
    pub fn slice(self) -> Slice {
        Slice::of(self.0, 1)
    }

    /// Layout of the view of a memref of type `source`, no dimension dropped; `None` when the source's is not strided.
    pub fn view_layout(cx: &Context, source: Type, slice: &Slice) -> Option<StridedLayout> {
        let of = strided_layout(cx, source)?;
        let number = |m: &crate::slices::Mixed| m.as_static().unwrap_or(sutura_ir::DYNAMIC);
        let steps = slice.offsets.iter().zip(&of.strides).map(|(offset, stride)| times(number(offset), *stride));
        let strides = slice.strides.iter().zip(&of.strides).map(|(step, stride)| times(number(step), *stride));
        Some(StridedLayout { offset: steps.fold(of.offset, plus), strides: strides.collect() })
    }

    /// Type of the view of a memref of type `source`, no dimension dropped; `None` when the source's layout is not
    /// strided.
    pub fn view_type(cx: &Context, source: Type, slice: &Slice) -> Option<Type> {
        let TypeData::MemRef { elem, space, .. } = cx.type_data(source) else { return None };
        Some(Self::view_layout(cx, source, slice)?.memref_type(cx, &slice.shape(), elem, space))
    }
}

/// The same memory as another memref, with sizes and strides given anew.
///
/// ```mlir
/// %r = memref.reinterpret_cast %m to offset: [0], sizes: [%n, 4], strides: [4, 1] : memref<?xf32> to memref<?x4xf32>
/// ```
#[op(
    "memref.reinterpret_cast",
    traits(Pure, AttrSizedOperandSegments),
    format = "$source `to` `offset` `` `:` custom<DynamicIndexList>($offsets, $static_offsets) `` `,` `sizes` `` `:` \
              custom<DynamicIndexList>($sizes, $static_sizes) `` `,` `strides` `` `:` \
              custom<DynamicIndexList>($strides, $static_strides) attr-dict `:` type($source) `to` type($result)",
    verify,
    fold,
    canonicalize
)]
pub struct ReinterpretCastOp {
    source: Operand<AnyRankedOrUnrankedMemRef>,
    /// One offset, in elements.
    offsets: Operands<Index>,
    sizes: Operands<Index>,
    strides: Operands<Index>,
    static_offsets: Attr<DenseI64ArrayAttr>,
    static_sizes: Attr<DenseI64ArrayAttr>,
    static_strides: Attr<DenseI64ArrayAttr>,
    result: Res<AnyMemRef>,
}

impl ReinterpretCastOp<'_> {
    /// The offset (one entry), sizes and strides.
    pub fn slice(self) -> Slice {
        Slice::of(self.0, 1)
    }
}

/// Contiguous elements at a byte offset of a byte buffer.
///
/// ```mlir
/// %v = memref.view %bytes[%offset][%n] : memref<?xi8> to memref<?x4xf32>
/// ```
#[op(
    "memref.view",
    traits(Pure),
    format = "$source `[` $byte_shift `]` `` `[` $sizes `]` attr-dict `:` type($source) `to` type($result)",
    verify
)]
pub struct ViewOp {
    source: Operand<ByteBuffer>,
    /// Offset in bytes.
    byte_shift: Operand<Index>,
    /// Sizes of the dynamic dimensions, in order.
    sizes: Operands<Index>,
    result: Res<AnyMemRef>,
}

/// Copies all elements from one memref to another.
#[op(
    "memref.copy",
    format = "$source `,` $target attr-dict `:` type($source) `to` type($target)",
    verify,
    canonicalize
)]
pub struct CopyOp {
    source: Operand<AnyRankedOrUnrankedMemRef>,
    target: Operand<AnyRankedOrUnrankedMemRef>,
}

/// Splits dimensions, in place.
#[op(
    "memref.expand_shape",
    traits(Pure),
    format = "$src $reassociation `output_shape` custom<DynamicIndexList>($output_shape, $static_output_shape) \
              attr-dict `:` type($src) `into` type($result)",
    verify,
    fold
)]
pub struct ExpandShapeOp {
    src: Operand<AnyMemRef>,
    /// For each dimension of the source those of the result that it becomes.
    reassociation: Attr<IndexListArrayAttr>,
    output_shape: Operands<Index>,
    static_output_shape: Attr<DenseI64ArrayAttr>,
    result: Res<AnyMemRef>,
}

/// Merges neighbouring dimensions, in place.
#[op(
    "memref.collapse_shape",
    traits(Pure),
    format = "$src $reassociation attr-dict `:` type($src) `into` type($result)",
    verify,
    fold
)]
pub struct CollapseShapeOp {
    src: Operand<AnyMemRef>,
    /// For each dimension of the result those of the source that become it.
    reassociation: Attr<IndexListArrayAttr>,
    result: Res<AnyMemRef>,
}

/// A variable of the program.
///
/// ```mlir
/// memref.global "private" constant @table : memref<4xf32> = dense<[0.0, 1.0, 2.0, 3.0]>
/// memref.global @scratch : memref<16xf32> = uninitialized
/// memref.global @external : memref<4xf32>
/// ```
#[op(
    "memref.global",
    traits(Symbol),
    format = "custom<GlobalHead>($sym_visibility, $constant, $sym_name) `:` \
              custom<GlobalTypeAndValue>($type, $initial_value) attr-dict",
    verify
)]
pub struct GlobalOp {
    sym_name: Attr<SymbolNameAttr>,
    /// `public`, `private` or `nested`.
    sym_visibility: OptAttr<StrAttr>,
    /// Type of the variable.
    #[name("type")]
    ty: Attr<MemRefTypeAttr>,
    /// Elements; unit for a variable without initial value, absent for one that is defined elsewhere.
    initial_value: OptAttr<AnyAttr>,
    /// Never written.
    constant: Flag,
    alignment: OptAttr<AlignmentAttr>,
}

/// The memory of a variable of the program.
#[op("memref.get_global", traits(Pure), format = "$name `:` type($result) attr-dict")]
pub struct GetGlobalOp {
    name: Attr<FlatSymbolRefAttr>,
    result: Res<AnyStaticShapeMemRef>,
}

/// Address of a memref's memory, as an integer.
#[op(
    "memref.extract_aligned_pointer_as_index",
    traits(Pure),
    format = "$source `:` type($source) `->` type($aligned_pointer) attr-dict",
    canonicalize
)]
pub struct ExtractAlignedPointerAsIndexOp {
    source: Operand<AnyRankedOrUnrankedMemRef>,
    aligned_pointer: Res<Index>,
}

/// The same memref, whose memory is known to be aligned.
///
/// ```mlir
/// %a = memref.assume_alignment %m, 16 : memref<4xf32>
/// ```
#[op(
    "memref.assume_alignment",
    traits(Pure),
    format = "$memref `,` $alignment attr-dict `:` type($memref)",
    verify,
    fold
)]
pub struct AssumeAlignmentOp<T: AnyMemRef> {
    memref: Operand<T>,
    /// In bytes.
    alignment: Attr<I32Attr>,
    result: Res<T>,
}

/// The same memory in a shape that is computed.
///
/// ```mlir
/// %r = memref.reshape %m(%shape) : (memref<?xf32>, memref<2xi32>) -> memref<?x?xf32>
/// ```
#[op(
    "memref.reshape",
    traits(Pure),
    format = "$source `(` $shape `)` attr-dict `:` functional-type(operands, results)",
    verify
)]
pub struct ReshapeOp {
    source: Operand<AnyRankedOrUnrankedMemRef>,
    shape: Operand<ShapeMemRef>,
    result: Res<AnyRankedOrUnrankedMemRef>,
}

/// The same memory as seen in another memory space.
#[op("memref.memory_space_cast", traits(Pure), format = "$source attr-dict `:` type($source) `to` type($dest)")]
pub struct MemorySpaceCastOp {
    source: Operand<AnyRankedOrUnrankedMemRef>,
    dest: Res<AnyRankedOrUnrankedMemRef>,
}

/// The same memory with its dimensions in another order.
///
/// ```mlir
/// %t = memref.transpose %m (d0, d1) -> (d1, d0) : memref<?x4xf32> to memref<4x?xf32, strided<[1, 4]>>
/// ```
#[op(
    "memref.transpose",
    traits(Pure),
    format = "$in custom<Permutation>($permutation) attr-dict `:` type($in) `to` type($result)",
    verify,
    fold
)]
pub struct TransposeOp {
    #[name("in")]
    source: Operand<AnyMemRef>,
    /// Result `i` of the map is the dimension of the source that becomes dimension `i`.
    permutation: Attr<AffineMapAttr>,
    result: Res<AnyMemRef>,
}

impl TransposeOp<'_> {
    /// For each dimension of the result that of the source; `None` when `map` is no permutation of `rank` dimensions.
    pub fn order(cx: &Context, map: AffineMap, rank: usize) -> Option<Vec<usize>> {
        let data = cx.affine_map_data(map);
        let results = cx.map_results(map);
        if data.dims as usize != rank || data.symbols != 0 || results.len() != rank {
            return None;
        }
        let dim = |expr: &AffineExpr| match cx.affine_data(*expr) {
            AffineExprData::Dim(i) => Some(i as usize),
            _ => None,
        };
        let order: Vec<usize> = results.iter().map(dim).collect::<Option<_>>()?;
        (0..rank).all(|i| order.contains(&i)).then_some(order)
    }
}

/// Memory of another size with the same contents; the old memory is gone.
#[op(
    "memref.realloc",
    format = "$source (`(` $dynamicResultSize^ `)`)? attr-dict `:` type($source) `to` type($result)",
    verify
)]
pub struct ReallocOp {
    source: Operand<OneDimMemRef>,
    #[name("dynamicResultSize")]
    dynamic_result_size: OptOperand<Index>,
    #[absent]
    alignment: OptAttr<AlignmentAttr>,
    result: Res<OneDimMemRef>,
}

/// The same memrefs, which are known not to overlap.
#[op("memref.distinct_objects", traits(Pure), format = "$operands attr-dict `:` type($operands)", verify, infer)]
pub struct DistinctObjectsOp {
    operands: Operands<AnyMemRef>,
    results: Results<AnyMemRef>,
}

impl InferTypes for DistinctObjectsOp<'_> {
    fn infer(input: InferInput<'_>) -> Result<SmallVec<[Type; 2]>, String> {
        if input.operands.is_empty() {
            return Err("expected at least one operand".to_string());
        }
        Ok(input.operands.iter().copied().collect())
    }
}

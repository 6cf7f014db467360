//! Declarations of the operations.

use sutura_ir::constraints::{
    AffineMapArrayAttr, AnyRankedTensor, AnyType, ArrayAttr, DenseI64ArrayAttr, ElementsAttr, I64Attr, Index,
    StrArrayAttr,
};
use sutura_ir::{OpRef, op};

use super::combine::{Combiner, CombinersAttr, Joint, StateAttr};
use super::structured::IteratorsAttr;
use crate::r#dyn::ops::{SizeAttr, SizesAttr};
use crate::schedule::{TraceAttr, TreeAttr};

/// The structured form: a scalar function applied at every point of an iteration space.
///
/// `iterators` says of each iterator whether it is `parallel` or `reduce`. `maps` holds one affine map per input,
/// then one per result, from the iterators to an index of that tensor. At every point the body gets the elements that
/// the input maps name, and yields one number per result.
///
/// * An iterator's extent is the size of a dimension that an input map (of an input without `oob`) or a result map
///   reads at the plain iterator.
/// * An input map may index outside its tensor if the input has an `oob` value, which is then read; `oob` holds a number
///   or `unit` (none) per input, and is left out when no input has one. A tensor of which only the first elements are
///   read has one too, so that it does not say how far the iterator runs.
/// * A map may have symbols: symbol `i` stands for entry `i` of `sizes`, so that a tensor is read at places that depend on
///   sizes, as the second part of a concatenation is from the size of the first one on.
/// * A result map names every parallel iterator once and no other; a constant 0 stands for a dimension of size 1.
/// * With `reduce` iterators the contributions to an element, which the body yields, are joined over the reduce iterators in
///   row-major order. Either each result has a combiner of its own, one of `combiners` (`add`, `mul`, `max`, `min`, `and`,
///   `or`), that joins to its identity. Numbers are accumulated in `f32` for narrower floats and in `i32` for narrower
///   integers then; the body may yield either the accumulator's or the result's element type. `i1` is taken as unsigned.
/// * Or the region behind `combine` joins all results at once. It takes a state, one number per result, then another one,
///   and yields the state of both; what the body yields is the state of one point. `state` holds the identity, the state of
///   no points, and the laws that the region obeys (`associative`, `commutative`); what is not declared is not assumed.
///
/// Integers divided by zero are an error at run time. A signed quotient that does not fit wraps: the least number divided
/// by -1 is itself, with the remainder 0.
///
/// Broadcasting is a map that leaves iterators out; a transposition permutes them; a convolution adds two.
///
/// ```mlir
/// %sum = graph.compute ins(%x : tensor<?x256xf32>) -> tensor<?xf32>
///     {combiners = #graph.combiners<[add]>, iterators = #graph.iterators<[parallel, reduce]>,
///      maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>]} {
/// ^bb0(%e: f32):
///   graph.yield %e : f32
/// }
/// // The largest element, and the first place of it.
/// %most, %place = graph.compute ins(%x : tensor<?x256xf32>) -> tensor<?xf32>, tensor<?xindex>
///     {iterators = #graph.iterators<[parallel, reduce]>,
///      maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0)>],
///      state = #graph.state<[0xFF800000 : f32, 256 : index], laws = [associative, commutative]>} {
/// ^bb0(%e: f32):
///   %i = graph.index 1 : index
///   graph.yield %e, %i : f32, index
/// } combine {
/// ^bb0(%a: f32, %i: index, %b: f32, %j: index):
///   %more = arith.cmpf ogt, %b, %a : f32
///   %same = arith.cmpf oeq, %b, %a : f32
///   %before = arith.cmpi ult, %j, %i : index
///   %first = arith.andi %same, %before : i1
///   %second = arith.ori %more, %first : i1
///   %c = arith.select %second, %b, %a : f32
///   %k = arith.select %second, %j, %i : index
///   graph.yield %c, %k : f32, index
/// }
/// ```
#[op(
    "graph.compute",
    traits(Pure, SingleBlock, ClosedRegions),
    format = "`ins` `(` ($inputs^ `:` type($inputs))? `)` `->` type($results) attr-dict $body (`combine` $combine^)?",
    verify,
    verify_regions,
    fold,
    canonicalize
)]
pub struct ComputeOp {
    /// Tensors that are read.
    inputs: Operands<AnyRankedTensor>,
    /// How each iterator is run through.
    iterators: Attr<IteratorsAttr>,
    /// One map per input, then one per result.
    maps: Attr<AffineMapArrayAttr>,
    /// One per result where there are reduce iterators and no region joins.
    #[absent]
    combiners: OptAttr<CombinersAttr>,
    /// What a region that joins starts from, and the laws that it obeys.
    #[name("state")]
    #[absent]
    combine_state: OptAttr<StateAttr>,
    /// What each input reads outside its tensor; `unit` where it never does.
    #[default(&[])]
    oob: Attr<ArrayAttr>,
    /// What the symbols of maps stand for.
    #[default(&[])]
    sizes: Attr<SizesAttr>,
    /// Tensors that are made.
    results: Results<AnyRankedTensor>,
    /// The scalar function: a block argument per input.
    body: Region,
    /// None, or what joins two states.
    combine: Regions,
}

/// Ends the body of a structured op, of a fusion or of an operator and hands its values out.
///
/// ```mlir
/// graph.yield %v : f32
/// ```
#[op(
    "graph.yield",
    traits(Pure, Terminator, ReturnLike),
    format = "($values^ `:` type($values))? attr-dict",
    parents("graph.compute", "graph.scan", "graph.scatter", "graph.fusion", "graph.operator")
)]
pub struct YieldOp {
    /// One per result of the op around it.
    values: Operands<AnyType>,
}

/// The value of an iterator of the structured op around it.
///
/// ```mlir
/// %i = graph.index 0 : index
/// ```
#[op("graph.index", traits(Pure), format = "$iterator attr-dict `:` type($result)", parents("graph.compute"), verify)]
pub struct IndexOp {
    /// Number of the iterator.
    iterator: Attr<I64Attr>,
    /// Its value.
    result: Res<Index>,
}

/// The value of a symbolic size, for bodies that compute with it: the count of a mean, the border of a window.
///
/// ```mlir
/// %n = graph.size [4*S] : index
/// ```
#[op("graph.size", traits(Pure), format = "custom<Size>($size) attr-dict `:` type($result)", fold)]
pub struct SizeOp {
    /// The size.
    size: Attr<SizeAttr>,
    /// Its value.
    result: Res<Index>,
}

/// A tensor that is known at compile time; a large one lies in a resource.
///
/// ```mlir
/// %w = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
/// ```
#[op("graph.constant", traits(Pure, ConstantLike), format = "attr-dict $value", verify)]
pub struct ConstantOp {
    /// The elements.
    #[name("value")]
    elements: Attr<ElementsAttr>,
    /// The tensor.
    result: Res<AnyRankedTensor>,
}

/// The same elements, row-major, in another shape.
///
/// With a `shape` operand (one integer per dimension of the result) -1 stands for the one size that follows from the
/// others, and 0 for the input's size of the same dimension unless `allowzero` is set. Without one the result's type
/// gives the sizes; it leaves at most one open, which follows from the others.
///
/// ```mlir
/// %y = graph.reshape %x, %shape : tensor<?x?xf32>, tensor<3xi64> -> tensor<?x4x?xf32>
/// ```
#[op(
    "graph.reshape",
    traits(Pure),
    format = "$input (`,` $shape^)? attr-dict `:` type(operands) `->` type($result)",
    verify,
    fold,
    canonicalize
)]
pub struct ReshapeOp {
    /// The tensor.
    input: Operand<AnyRankedTensor>,
    /// Sizes of the result.
    shape: OptOperand<AnyRankedTensor>,
    /// A 0 in `shape` is a size of 0.
    allowzero: Flag,
    /// The tensor in its new shape.
    result: Res<AnyRankedTensor>,
}

/// The same elements, bit by bit, taken for elements of another type of the same width. An element of 2 to 7 bits and one of 8 bits
/// may stand for each other: the low bits are the element, and a byte has the sign above them, or zeros where there is none.
///
/// ```mlir
/// %y = graph.bitcast %x : tensor<?x4xf8E4M3FN> -> tensor<?x4xi8>
/// ```
///
/// Complex elements are taken for their parts, which lie side by side in a last dimension of size 2, and back.
///
/// ```mlir
/// %y = graph.bitcast %x : tensor<?x4xcomplex<f32>> -> tensor<?x4x2xf32>
/// ```
#[op("graph.bitcast", traits(Pure), format = "$input attr-dict `:` type($input) `->` type($result)", verify, fold)]
pub struct BitcastOp {
    /// The tensor.
    input: Operand<AnyRankedTensor>,
    /// Its bits as other elements.
    result: Res<AnyRankedTensor>,
}

/// The sizes of a tensor as a tensor of `i64`.
///
/// ```mlir
/// %s = graph.shape_of %x : tensor<?x4xf32> -> tensor<2xi64>
/// ```
#[op("graph.shape_of", traits(Pure), format = "$input attr-dict `:` type($input) `->` type($result)", verify, fold)]
pub struct ShapeOfOp {
    /// The tensor.
    input: Operand<AnyRankedTensor>,
    /// One integer per dimension.
    result: Res<AnyRankedTensor>,
}

/// Tensors behind one another along `axis`.
///
/// ```mlir
/// %y = graph.concat %a, %b {axis = 1 : i64} : tensor<2x?xf32>, tensor<2x4xf32> -> tensor<2x?xf32>
/// ```
#[op(
    "graph.concat",
    traits(Pure),
    format = "$inputs attr-dict `:` type($inputs) `->` type($result)",
    verify,
    fold,
    canonicalize
)]
pub struct ConcatOp {
    /// One tensor or more; all sizes but those along the axis are the same.
    inputs: Operands<AnyRankedTensor>,
    /// Dimension along which they follow each other.
    axis: Attr<I64Attr>,
    /// The tensor of all.
    result: Res<AnyRankedTensor>,
}

/// `input[start : end : step]` along `axes`, with the meaning that NumPy gives it: negative bounds count from the end,
/// bounds outside are clamped, a negative step goes backwards.
///
/// `starts` and `ends` are attributes, or else two operands, each with one integer per axis.
///
/// ```mlir
/// %y = graph.slice %x {axes = array<i64: 1>, ends = array<i64: 9>, starts = array<i64: 1>, steps = array<i64: 2>}
///     : tensor<2x10xf32> -> tensor<2x4xf32>
/// %z = graph.slice %x[%starts, %ends] {axes = array<i64: 1>, steps = array<i64: 1>}
///     : tensor<2x10xf32>, tensor<1xi64>, tensor<1xi64> -> tensor<2x?xf32>
/// ```
#[op(
    "graph.slice",
    traits(Pure),
    format = "$input `` (`[` $bounds^ `]`)? attr-dict `:` type(operands) `->` type($result)",
    verify,
    fold,
    canonicalize
)]
pub struct SliceOp {
    /// The tensor.
    input: Operand<AnyRankedTensor>,
    /// None, or starts and ends.
    bounds: Operands<AnyRankedTensor>,
    /// Dimensions that are cut, each once.
    axes: Attr<DenseI64ArrayAttr>,
    /// First index along each axis.
    starts: OptAttr<DenseI64ArrayAttr>,
    /// First index past the end along each axis.
    ends: OptAttr<DenseI64ArrayAttr>,
    /// Distance of neighbours along each axis, not 0.
    steps: Attr<DenseI64ArrayAttr>,
    /// The part.
    result: Res<AnyRankedTensor>,
}

/// `data` at `indices` along `axis`: the shape of `indices` takes the place of that dimension.
///
/// A negative index counts from the end; one outside is an error at run time.
///
/// ```mlir
/// %y = graph.gather %data, %indices {axis = 0 : i64} : tensor<30x256xf32>, tensor<?x?xi64> -> tensor<?x?x256xf32>
/// ```
#[op(
    "graph.gather",
    traits(Pure),
    format = "$data `,` $indices attr-dict `:` type(operands) `->` type($result)",
    verify,
    fold
)]
pub struct GatherOp {
    /// The table.
    data: Operand<AnyRankedTensor>,
    /// Integers.
    indices: Operand<AnyRankedTensor>,
    /// Dimension of the table that is indexed.
    axis: Attr<I64Attr>,
    /// The parts.
    result: Res<AnyRankedTensor>,
}

/// `data` at `indices` along `axis`, where every element of the result has an index of its own: `indices` has the shape of
/// the result, which is that of `data` but for the size along `axis`.
///
/// A negative index counts from the end; one outside is an error at run time.
///
/// ```mlir
/// %y = graph.gather_elements %x, %label {axis = 1 : i64} : tensor<?x30xf32>, tensor<?x1xi64> -> tensor<?x1xf32>
/// ```
#[op(
    "graph.gather_elements",
    traits(Pure),
    format = "$data `,` $indices attr-dict `:` type(operands) `->` type($result)",
    verify
)]
pub struct GatherElementsOp {
    /// What is read.
    data: Operand<AnyRankedTensor>,
    /// Integers.
    indices: Operand<AnyRankedTensor>,
    /// Dimension of the data that is indexed.
    axis: Attr<I64Attr>,
    /// The elements.
    result: Res<AnyRankedTensor>,
}

/// Running combination of tensors of one shape along `axis`: element `i` of a result combines the elements up to number `i`,
/// that one included.
///
/// * With `exclusive` the element itself is left out, so the first element of the result is the identity.
/// * With `reverse` it runs from the last element to the first.
/// * One tensor is combined by a `combiner`, one of `graph.compute`'s. Numbers are accumulated in `f32` for narrower floats and in
///   `i32` for narrower integers, as in `graph.compute`.
/// * Or several are combined at once, by the region behind `combine`, and `state` is its identity and its laws, as in
///   `graph.compute`. The region takes what has been combined so far, a number per tensor, then the elements of one place, and
///   yields both joined. Each number has the element type of its tensor.
///
/// ```mlir
/// %y = graph.scan %x {axis = 1 : i64, combiner = #graph.combiner<add>, exclusive} : tensor<?x30xf32> -> tensor<?x30xf32>
/// %p, %q = graph.scan %a, %b {axis = 0 : i64, state = #graph.state<[1.0 : f32, 0.0 : f32], laws = [associative]>}
///     : tensor<8xf32>, tensor<8xf32> -> tensor<8xf32>, tensor<8xf32> combine {
/// ^bb0(%f: f32, %g: f32, %c: f32, %d: f32):
///   %0 = arith.mulf %f, %c : f32
///   %1 = arith.mulf %g, %c : f32
///   %2 = arith.addf %1, %d : f32
///   graph.yield %0, %2 : f32, f32
/// }
/// ```
#[op(
    "graph.scan",
    traits(Pure, ClosedRegions),
    format = "$inputs attr-dict `:` type($inputs) `->` type($results) (`combine` $combine^)?",
    verify,
    verify_regions,
    fold
)]
pub struct ScanOp {
    /// The elements that are combined: floats, complex numbers, or integers of more than one bit.
    inputs: Operands<AnyRankedTensor>,
    /// Dimension along which it runs.
    axis: Attr<I64Attr>,
    /// How the elements of one tensor are joined.
    #[absent]
    combiner: OptAttr<Combiner>,
    /// What a region that joins starts from, and the laws that it obeys.
    #[name("state")]
    #[absent]
    combine_state: OptAttr<StateAttr>,
    /// Each element is left out of its own combination.
    exclusive: Flag,
    /// From the last element to the first.
    reverse: Flag,
    /// One per tensor, as large as that.
    results: Results<AnyRankedTensor>,
    /// None, or what joins a state and the elements of a place.
    combine: Regions,
}

impl<'a> ScanOp<'a> {
    /// What joins the elements of all tensors at once, where that is no combiner of a known name.
    pub fn joint(&self) -> Option<Joint<'a>> {
        Some(Joint { state: self.combine_state()?, body: self.combine().next()?.entry()? })
    }
}

/// `data` at `indices`, each of which names an index for several dimensions of the data: those along the last dimension
/// of `indices`, which has a constant size.
///
/// The first `batch_dims` dimensions are common to both. `data` of shape `[B…, D1…Dk, R…]` and `indices` of shape
/// `[B…, M…, k]` make `[B…, M…, R…]`. A negative index counts from the end of its dimension; one outside is an error at
/// run time.
///
/// ```mlir
/// %y = graph.gather_nd %data, %indices : tensor<30x20x8xf32>, tensor<?x2xi64> -> tensor<?x8xf32>
/// %z = graph.gather_nd %data, %indices {batch_dims = 1 : i64}
///     : tensor<?x20x8xf32>, tensor<?x5x1xi64> -> tensor<?x5x8xf32>
/// ```
#[op(
    "graph.gather_nd",
    traits(Pure),
    format = "$data `,` $indices attr-dict `:` type(operands) `->` type($result)",
    verify
)]
pub struct GatherNdOp {
    /// What is read.
    data: Operand<AnyRankedTensor>,
    /// Integers.
    indices: Operand<AnyRankedTensor>,
    /// Leading dimensions that data and indices share.
    #[default(0)]
    batch_dims: Attr<I64Attr>,
    /// The parts.
    result: Res<AnyRankedTensor>,
}

impl GatherNdOp<'_> {
    /// The dimensions of the data that are indexed; `None` where the op is not well formed.
    pub fn picked(&self, op: OpRef<'_>) -> Option<std::ops::Range<usize>> {
        let count = usize::try_from(*op.cx.shape(op.ty(self.indices()))?.last()?).ok()?;
        let first = usize::try_from(self.batch_dims()).ok()?;
        Some(first..first.checked_add(count)?)
    }
}

/// Ops that become one kernel or program.
///
/// Isolated from above, so that regions are lowered in parallel: the block's arguments stand for the inputs. The facts
/// about the symbols that its types mention are copied into it as `dyn.symbol` and `dyn.equal` ops at its entry. `schedule`
/// says how it runs: its kernels as loops around places where its stages are computed; `trace` edits that schedule, or the one
/// that a rule writes; `reasons` says what was left out and why.
///
/// ```mlir
/// %y = graph.fusion(%x : tensor<?xf32, #dyn.shape<[N]>>) -> tensor<?xf32, #dyn.shape<[N]>> {
/// ^bb0(%a: tensor<?xf32, #dyn.shape<[N]>>):
///   %N = dyn.symbol "N" : index
///   …
///   graph.yield %r : tensor<?xf32, #dyn.shape<[N]>>
/// }
/// ```
#[op(
    "graph.fusion",
    traits(Pure, IsolatedFromAbove, SingleBlock),
    format = "`(` ($inputs^ `:` type($inputs))? `)` `->` type($results) attr-dict $body",
    verify_regions
)]
pub struct FusionOp {
    /// Values that the region reads.
    inputs: Operands<AnyType>,
    /// Its kernels.
    schedule: OptAttr<TreeAttr>,
    /// Edits of its kernels.
    trace: OptAttr<TraceAttr>,
    /// Why neighbours were left out.
    reasons: OptAttr<StrArrayAttr>,
    /// Values that the region makes.
    results: Results<AnyType>,
    /// The ops.
    body: Region,
}

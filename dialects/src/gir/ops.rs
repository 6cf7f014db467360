//! Operations of the `gir` dialect. Their meaning is that of `docs/gir.md`.

use sutura_ir::constraints::*;
use sutura_ir::op;

use super::constraints::*;

/// A kernel: what one launch runs.
///
/// Arguments of the body, in order: the views, one index per entry of `dims`, one index per entry of `grid`, and the
/// unit's index when `units` is above 1. Groups are independent and run in any order.
///
/// ```mlir
/// gir.kernel @scale(%x : !gir.view<dram, f32, [M, N]> in, %y : !gir.view<dram, f32, [M, N]> out)
///     dims(%M : [0, 2147483647], %N : [1, 8192] div 4) requires([8192 - N]) grid(%i = M) units(1) {
///   %s = gir.slice %x[%i, %zero] cols(1, 1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
/// }
/// ```
#[op(
    "gir.kernel",
    traits(IsolatedFromAbove, Symbol, NoTerminator, SingleBlock, AffineScope),
    format = "$sym_name `` custom<KernelHeader>($modes, $dims, $requires, $grid, $units, $threads, $body) $body \
              attr-dict-with-keyword",
    verify_regions
)]
pub struct KernelOp {
    sym_name: Attr<SymbolNameAttr>,
    /// `in`, `out` or `inout` for each view.
    modes: Attr<ArrayAttr>,
    /// `{name, min, max, div}` for each size that the host passes.
    dims: Attr<ArrayAttr>,
    /// Sizes that must not be negative: the guard that the host checks before it selects this kernel.
    requires: Attr<SizesAttr>,
    /// Extents of the grid, outermost first.
    grid: Attr<SizesAttr>,
    /// Units in a group.
    units: Attr<I64Attr>,
    /// Threads of a device that a unit is; absent where nothing says.
    threads: OptAttr<I64Attr>,
    body: Region,
}

/// Kernels over temporaries in dram that together compute one region of the graph, run one after another.
#[op(
    "gir.program",
    traits(IsolatedFromAbove, Symbol, SymbolTable, NoTerminator, SingleBlock),
    format = "$sym_name $body attr-dict-with-keyword"
)]
pub struct ProgramOp {
    sym_name: Attr<SymbolNameAttr>,
    body: Region,
}

/// Index arithmetic: an affine map applied to its dimensions and then its symbols; of several results the least.
///
/// ```mlir
/// %row = gir.index affine_map<(d0)[s0] -> (d0 * 4 + s0)>(%i, %M)
/// %end = gir.index affine_map<(d0)[s0] -> (d0 * 16 + 16, s0)>(%i, %M)
/// ```
///
/// A least of several is the end of a loop and nothing else: a block of rows of which the last has fewer.
#[op("gir.index", traits(Pure), format = "$map `(` $args `)` attr-dict", verify, fold)]
pub struct IndexOp {
    map: Attr<AffineMapAttr>,
    args: Operands<Index>,
    result: Res<Index>,
}

/// A loop that runs in order, with values carried from trip to trip; no trip leaves the initial values.
///
/// ```mlir
/// %sum = gir.for %k = %lo to %hi carry(%acc = %zero) : !gir.tile<vec, f32, [1, 16]> {
///   gir.yield %next : !gir.tile<vec, f32, [1, 16]>
/// }
/// ```
///
/// `unroll(4)`, in front of `carry`, asks for code that has four trips side by side.
#[op(
    "gir.for",
    traits(SingleBlock, RecursiveMemoryEffects),
    format = "custom<For>($lo, $hi, $unroll, $inits, type($inits), $body) $body attr-dict",
    implicit_terminator = "gir.yield",
    verify_regions,
    infer,
    canonicalize
)]
pub struct ForOp {
    lo: Operand<Index>,
    hi: Operand<Index>,
    inits: Operands<AnyType>,
    results: Results<AnyType>,
    /// Trips that code has side by side.
    unroll: OptAttr<I64Attr>,
    body: Region,
}

/// Ends the body of a loop or of an intrinsic's meaning.
#[op("gir.yield", traits(Pure, Terminator, ReturnLike), format = "attr-dict ($args^ `:` type($args))?")]
pub struct YieldOp {
    args: Operands<AnyType>,
}

/// A two-dimensional window of a view: one offset per dimension, all dimensions but the row's and the column's fixed.
///
/// What of it lies outside the view does not exist: reductions and contractions skip it, stores leave it alone. A fixed index lies
/// inside, unless its dimension is one of `clips`: where such an index lies outside, nothing of the slice exists.
#[op(
    "gir.slice",
    traits(Pure),
    format = "$view `[` $offsets `]` (`rows` `(` $row_dim^ `)`)? (`by` $row_step^)? \
              (`cols` `(` $col_dim^ `)`)? (`by` $col_step^)? custom<Clips>($clips) \
              attr-dict `:` type($view) `->` type($slice)",
    verify
)]
pub struct SliceOp {
    view: Operand<AnyView>,
    offsets: Operands<Index>,
    /// Dimension of the view along which rows lie; absent when there is one row.
    row_dim: OptAttr<I64Attr>,
    /// Distance between rows, in indices of that dimension.
    #[default(1)]
    row_step: Attr<I64Attr>,
    /// Dimension of the view along which columns lie; absent when there is one column.
    col_dim: OptAttr<I64Attr>,
    /// Distance between columns, in indices of that dimension.
    #[default(1)]
    col_step: Attr<I64Attr>,
    /// Fixed dimensions of the view whose index may lie outside, ascending.
    clips: OptAttr<DenseI64ArrayAttr>,
    slice: Res<AnySlice>,
}

/// Moves a window of memory into a tile. Out of a cached space the move may be an alias.
///
/// With `pad`, what of the slice does not exist is filled with that value, and the tile's window is the whole tile.
///
/// `prefetch` is a permission to ask for memory before it is read; what it holds is no matter. With a number, a loop that stores
/// past the caches and is the first to read the tile asks for what lies so many bytes further on. With `next`, the rows of the
/// next group, or of the next trip of the loop around the load, are brought near while this one computes on what it has read,
/// where sizes behind `when` are not negative.
///
/// ```mlir
/// %t = gir.load %s prefetch(4096, next when(65536 - N)) : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
/// ```
#[op(
    "gir.load",
    format = "$slice (`pad` `(` $pad^ `)`)? custom<Prefetch>($prefetch, $next) attr-dict `:` type($slice) `->` type($tile)",
    verify
)]
pub struct LoadOp {
    slice: Operand<AnySlice>,
    /// Value of the elements that do not exist.
    pad: OptAttr<TypedAttr>,
    /// How many bytes ahead of what is read a loop asks for more.
    #[absent]
    prefetch: OptAttr<I64Attr>,
    /// Sizes that are not negative where the next rows are asked for.
    #[absent]
    next: OptAttr<SizesAttr>,
    tile: Res<AnyTile>,
}

/// Moves a tile into a window of memory.
///
/// With `stream`, the store may go past the caches in launches where no size behind `when` is negative: its line is not read
/// first, and is far away for whoever reads it next. With `defer`, such a store may be done while the next group of the same
/// call, or the next trip of the loop around it, computes. With `kept` it stays in the caches, whatever a pass would say.
///
/// ```mlir
/// gir.store %t, %s stream when(8*M*N - 1048576) defer : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
/// ```
#[op(
    "gir.store",
    format = "$tile `,` $slice custom<Stream>($stream, $defer, $kept) attr-dict `:` type($tile) `,` type($slice)",
    verify
)]
pub struct StoreOp {
    tile: Operand<AnyTile>,
    slice: Operand<AnySlice>,
    /// Sizes that are not negative where the store may go past the caches.
    #[absent]
    stream: OptAttr<SizesAttr>,
    /// Whether it may wait for the next group.
    #[absent]
    defer: Flag,
    /// Whether it stays in the caches.
    #[absent]
    kept: Flag,
}

/// The same tile, which from there on lies in a slice of an output: until the one `gir.store` to the slice that follows in the
/// block, nothing else touches the view. So the output's lines come while the group computes, and the tile takes no memory of its own.
///
/// Where a tile lies never changes what it is. Where the store goes past the caches, and on a GPU, it lies elsewhere.
///
/// ```mlir
/// %h = gir.home %t, %s : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
/// gir.store %r, %s : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
/// ```
#[op("gir.home", format = "$tile `,` $slice attr-dict `:` type($result) `,` type($slice)", verify)]
pub struct HomeOp<T: AnyTile> {
    tile: Operand<T>,
    slice: Operand<AnySlice>,
    result: Res<T>,
}

/// Begins to copy a window of an `in` view of the kernel into memory of the unit or the group, while the unit goes on.
///
/// What is written exists for nobody before the unit has waited for the batch of the copy (`gir.async_commit`, `gir.async_wait`),
/// and for other units before a `gir.sync` behind that; until then nobody touches the memory. What of `from` does not exist
/// leaves the memory as it was; with `zeros` it is filled with zeros.
///
/// ```mlir
/// gir.async_copy %from, %to zeros : !gir.slice<dram, f32, [4, 64]>, !gir.slice<shared, f32, [4, 64]>
/// gir.async_commit
/// gir.async_wait 0
/// ```
#[op("gir.async_copy", format = "$from `,` $to (`zeros` $zeros^)? attr-dict `:` type($from) `,` type($to)", verify)]
pub struct AsyncCopyOp {
    from: Operand<AnySlice>,
    to: Operand<AnySlice>,
    /// What does not exist is zero.
    zeros: Flag,
}

/// Ends a batch: the copies that the unit has begun since the one before.
#[op("gir.async_commit", format = "attr-dict")]
pub struct AsyncCommitOp {}

/// Waits until at most `pending` of the unit's batches, the youngest ones, are still on their way.
#[op("gir.async_wait", format = "$pending attr-dict", verify)]
pub struct AsyncWaitOp {
    pending: Attr<I64Attr>,
}

/// Moves a tile to another space.
#[op("gir.move", traits(Pure), format = "$tile attr-dict `:` type($tile) `->` type($result)", verify)]
pub struct MoveOp {
    tile: Operand<AnyTile>,
    result: Res<AnyTile>,
}

/// A view that the group, or each unit, owns until the kernel ends.
///
/// ```mlir
/// %near = gir.alloc owner("group") : !gir.view<l1, f32, [4, N]>
/// ```
#[op("gir.alloc", format = "`owner` `(` $owner `)` attr-dict `:` type($view)", verify)]
pub struct AllocOp {
    owner: Attr<ScopeAttr>,
    view: Res<AnyView>,
}

/// The same memory under other dimensions: a reshape without movement.
#[op("gir.identity", traits(Pure), format = "$view attr-dict `:` type($view) `->` type($result)", verify)]
pub struct IdentityOp {
    view: Operand<AnyView>,
    result: Res<AnyView>,
}

/// A tile that holds one value everywhere.
#[op("gir.fill", traits(Pure), format = "$value attr-dict `:` type($tile)", verify)]
pub struct FillOp {
    #[name("value")]
    constant: Attr<TypedAttr>,
    tile: Res<AnyTile>,
}

/// A tile that counts along an axis, from `base` on.
#[op("gir.iota", traits(Pure), format = "$axis `(` $base `)` attr-dict `:` type($tile)", verify)]
pub struct IotaOp {
    axis: Attr<AxisAttr>,
    base: Operand<Index>,
    tile: Res<AnyTile>,
}

/// A function of each element.
#[op("gir.unary", traits(Pure, Elementwise), format = "$kind $operand attr-dict `:` type($result)", verify)]
pub struct UnaryOp<T: AnyTile> {
    kind: Attr<UnaryKindAttr>,
    operand: Operand<T>,
    result: Res<T>,
}

/// A function of two elements at the same place.
///
/// A quotient of integers that does not fit, that of the least number by -1, is the least number; the remainder is 0. A
/// divisor of integers comes from `gir.divisor`, or is a constant other than 0.
#[op("gir.binary", traits(Pure, Elementwise), format = "$kind $lhs `,` $rhs attr-dict `:` type($result)", verify)]
pub struct BinaryOp<T: AnyTile> {
    kind: Attr<BinaryKindAttr>,
    lhs: Operand<T>,
    rhs: Operand<T>,
    result: Res<T>,
}

/// A function of three elements at the same place.
#[op(
    "gir.ternary",
    traits(Pure, Elementwise),
    format = "$kind $first `,` $second `,` $third attr-dict `:` type($first) `,` type($result)",
    verify
)]
pub struct TernaryOp<T: AnyTile> {
    kind: Attr<TernaryKindAttr>,
    first: Operand<AnyTile>,
    second: Operand<T>,
    third: Operand<T>,
    result: Res<T>,
}

/// A comparison of two elements at the same place.
#[op("gir.compare", traits(Pure, Elementwise), format = "$kind $lhs `,` $rhs attr-dict `:` type($lhs)", verify, infer)]
pub struct CompareOp<T: AnyTile> {
    kind: Attr<CompareKindAttr>,
    lhs: Operand<T>,
    rhs: Operand<T>,
    result: Res<BoolTile>,
}

/// A conversion of each element.
#[op(
    "gir.cast",
    traits(Pure, Elementwise),
    format = "$kind $operand attr-dict `:` type($operand) `->` type($result)",
    verify
)]
pub struct CastOp {
    kind: Attr<CastKindAttr>,
    operand: Operand<AnyTile>,
    result: Res<AnyTile>,
}

/// Combines the elements of each row (`cols`) or each column (`rows`). What lies outside the window is skipped.
#[op("gir.reduce", traits(Pure), format = "$combiner $axis $operand attr-dict `:` type($operand)", verify, infer)]
pub struct ReduceOp {
    combiner: Attr<CombinerAttr>,
    axis: Attr<AxisAttr>,
    #[default(Scope::Unit)]
    scope: Attr<ScopeAttr>,
    operand: Operand<AnyTile>,
    result: Res<AnyTile>,
}

/// Running combination along an axis: each element of the result combines those up to its own place, that one included.
/// With `exclusive` the element itself is left out, so the first is the combiner's identity; with `reverse` it runs from
/// the last element to the first. What lies outside the window is skipped.
///
/// ```mlir
/// %y = gir.scan "add" "cols" %t {exclusive} : !gir.tile<l1, f32, [1, N]>
/// ```
#[op("gir.scan", traits(Pure), format = "$combiner $axis $operand attr-dict `:` type($result)", verify)]
pub struct ScanOp<T: AnyTile> {
    combiner: Attr<CombinerAttr>,
    axis: Attr<AxisAttr>,
    exclusive: Flag,
    reverse: Flag,
    operand: Operand<T>,
    result: Res<T>,
}

/// Repeats a row, a column or a scalar over the extents and the window of `like`.
#[op(
    "gir.broadcast",
    traits(Pure),
    format = "$operand `like` $like attr-dict `:` type($operand) `,` type($like)",
    verify,
    infer
)]
pub struct BroadcastOp {
    operand: Operand<AnyTile>,
    like: Operand<AnyTile>,
    result: Res<AnyTile>,
}

/// Rows become columns.
#[op("gir.transpose", traits(Pure), format = "$operand attr-dict `:` type($operand)", infer)]
pub struct TransposeOp {
    operand: Operand<AnyTile>,
    result: Res<AnyTile>,
}

/// Rows of a view picked by index: row `r` of the result is row `indices[r]` of the view, from column `offset` on.
#[op(
    "gir.gather_rows",
    format = "$view `[` $indices `,` $offset `]` attr-dict `:` type($view) `,` type($indices) `->` type($tile)",
    verify
)]
pub struct GatherRowsOp {
    view: Operand<AnyView>,
    indices: Operand<AnyTile>,
    offset: Operand<Index>,
    tile: Res<AnyTile>,
}

/// One element of a tensor of indices as index of a dimension with `size` indices: a negative one counts from the end.
///
/// An element that names no index is an error that the launch reports, once it has run, for the lowest `position` that
/// has one: element number `position`, counted row by row, of the indices of `what`. The result is 0 then, which is an
/// index only where there is one: a dimension that may be empty has to be read along a window's rows.
///
/// ```mlir
/// %at = gir.pick "gather 'embed'" %index below %V at %i : !gir.tile<reg, i64, [1, 1]>
/// ```
#[op("gir.pick", format = "$what $tile `below` $size `at` $position attr-dict `:` type($tile)", verify)]
pub struct PickOp {
    tile: Operand<AnyTile>,
    size: Operand<Index>,
    position: Operand<Index>,
    /// What messages call the indices' owner.
    what: Attr<StrAttr>,
    result: Res<Index>,
}

/// Integers to divide by: the operand with 1 in place of each 0.
///
/// A 0 in the tile's window is an error that the launch reports, once it has run, as a division by zero of `what`. With
/// three indices behind `at`, the position of the tile's first element in the result of the division and the distances of
/// rows and of columns there, the report says the position, and is that of the lowest one.
///
/// ```mlir
/// %d = gir.divisor "graph.compute 'ratio'" %x at(%i, %zero, %one) : !gir.tile<vec, i32, [1, 16]>
/// %q = gir.binary "divsi" %a, %d : !gir.tile<vec, i32, [1, 16]>
/// ```
#[op("gir.divisor", format = "$what $operand (`at` `(` $position^ `)`)? attr-dict `:` type($result)", verify)]
pub struct DivisorOp<T: AnyTile> {
    /// What messages call the op that divides.
    what: Attr<StrAttr>,
    operand: Operand<T>,
    /// None, or the position of the first element, and the distances of rows and columns.
    position: Operands<Index>,
    result: Res<T>,
}

/// `acc + a . b`, with `a` of `[M, K]`, `b` of `[K, N]` and `acc` of `[M, N]`, over the window of k.
///
/// Narrow elements are widened to the accumulator's type: integers with their sign, or without where the flag of the factor says so.
///
/// With `interleave = G`, `b` is `[K / G, N * G]`: a row of it has `G` neighbouring places of k of each column, side by side. So do
/// instructions for matrices take their right factor (the layout that oneDNN and TPP call VNNI).
///
/// ```mlir
/// %r = gir.contract %a, %b, %c {unsigned_lhs} : !gir.tile<vec, i8, [12, 4]>, !gir.tile<vec, i8, [4, 32]>, !gir.tile<vec, i32, [12, 32]>
/// %s = gir.contract %d, %e, %f {interleave = 2} : !gir.tile<tmm, bf16, [16, 32]>, !gir.tile<tmm, bf16, [16, 32]>, !gir.tile<tmm, f32, [16, 16]>
/// ```
#[op(
    "gir.contract",
    traits(Pure),
    format = "$lhs `,` $rhs `,` $acc attr-dict `:` type($lhs) `,` type($rhs) `,` type($result)",
    verify
)]
pub struct ContractOp<T: AnyTile> {
    lhs: Operand<AnyTile>,
    rhs: Operand<AnyTile>,
    acc: Operand<T>,
    /// Integers of the left factor have no sign.
    #[absent]
    unsigned_lhs: Flag,
    /// Integers of the right factor have no sign.
    #[absent]
    unsigned_rhs: Flag,
    /// Places of k that lie side by side in each column of the right factor.
    #[absent]
    interleave: OptAttr<I64Attr>,
    result: Res<T>,
}

/// An instruction of the target machine, named as its description names it.
#[op("gir.intrinsic", format = "$callee `(` $args `)` attr-dict `:` functional-type($args, $results)")]
pub struct IntrinsicOp {
    callee: Attr<FlatSymbolRefAttr>,
    args: Operands<AnyType>,
    results: Results<AnyType>,
}

/// Orders all accesses of the group's units before it against those after it.
#[op("gir.sync", format = "attr-dict")]
pub struct SyncOp {}

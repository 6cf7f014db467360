//! Operations of the `rt` dialect.

use sutura_ir::constraints::*;
use sutura_ir::op;

use super::constraints::{AnyBuffer, GuardsAttr};
use crate::r#dyn::ops::SizesAttr;

/// The host program of one compiled model.
///
/// Arguments of the body are the inputs, then the outputs; both are the caller's memory. The sizes of buffers are over the
/// `symbols`, each of which the dims of the inputs determine. Before anything runs, the host solves the symbols and checks
/// that all inputs agree with them, that each symbol is within its range and a multiple of its divisor, and the further
/// constraints in `checks`; what fails is reported in the words of the model.
///
/// A symbol is `{name, min, max, div, likely}`. A check is `{kind, left, right}` with optional `dim` (the model's name of
/// the dim), `left_words`, `right_words` (what the two sizes are, in words); `kind` is `"equal"`, `"compatible"` (equal, but
/// about two dims that do not go together, as in a broadcast) or `"at_least"`.
///
/// ```mlir
/// rt.program @main(%x : !rt.buffer<f32, [B, 256]> in "x", %y : !rt.buffer<f32, [B]> out "y")
///     symbols(B : [0, 64] likely [8]) {
///   %t = rt.alloc : !rt.buffer<f32, [B, 256]>
///   rt.launch @exp(%x, %t) dims [B, 256] : !rt.buffer<f32, [B, 256]>, !rt.buffer<f32, [B, 256]>
///   rt.launch @sum(%t, %y) dims [B, 256] : !rt.buffer<f32, [B, 256]>, !rt.buffer<f32, [B]>
/// }
/// ```
#[op(
    "rt.program",
    traits(IsolatedFromAbove, Symbol, SingleBlock),
    format = "$sym_name `` custom<ProgramHeader>($symbols, $input_names, $output_names, $body) attr-dict-with-keyword $body",
    default_dialect = "rt",
    implicit_terminator = "rt.return",
    verify_regions
)]
pub struct ProgramOp {
    /// The model's name.
    sym_name: Attr<SymbolNameAttr>,
    /// Others invoke it, and nothing else calls it.
    private: Flag,
    /// The named dims.
    symbols: Attr<DictArrayAttr>,
    /// Names of the inputs.
    input_names: Attr<StrArrayAttr>,
    /// Names of the outputs.
    output_names: Attr<StrArrayAttr>,
    /// Constraints beyond those that the types of the inputs imply.
    checks: OptAttr<DictArrayAttr>,
    /// Present once the allocations that are alive at the same time are ordered by `after`.
    planned: Flag,
    body: Region,
}

/// Ends the body of a program.
#[op("rt.return", traits(Pure, Terminator, ReturnLike), parents("rt.program"), format = "attr-dict")]
pub struct ReturnOp {}

/// A buffer with contents known at compile time, such as a model's weight. It is read-only.
///
/// The elements are stored in the artifact under `name`, which is unique in the program.
///
/// ```mlir
/// %w = rt.constant "encoder.w1" = dense<1.0> : tensor<4x4xf32>
/// ```
#[op("rt.constant", parents("rt.program"), format = "$name `=` $value attr-dict", infer)]
pub struct ConstantOp {
    name: Attr<StrAttr>,
    /// The elements, of a static tensor type that gives the buffer its sizes.
    #[name("value")]
    elements: Attr<ElementsAttr>,
    buffer: Res<AnyBuffer>,
}

/// A temporary buffer in the workspace, with undefined contents.
///
/// `after` orders buffers within the workspace: this one begins where the last of them ends, and at the start of the
/// workspace when there is none. Of two buffers that are alive at the same time one must come after the other, directly or
/// through others; then no two overlap at any sizes, and the workspace needs as many bytes as the longest chain.
///
/// ```mlir
/// %t = rt.alloc : !rt.buffer<f32, [B, 256]>
/// %u = rt.alloc after(%t : !rt.buffer<f32, [B, 256]>) : !rt.buffer<f32, [B]>
/// ```
#[op(
    "rt.alloc",
    parents("rt.program"),
    format = "(`after` `(` $after^ `:` type($after) `)`)? attr-dict `:` type($buffer)",
    verify
)]
pub struct AllocOp {
    after: Operands<AnyBuffer>,
    /// Of what is written in an iteration of a loop nothing is read in a later one.
    each_iteration: Flag,
    buffer: Res<AnyBuffer>,
}

/// The same memory under other dimensions, or as elements of another type of the same width: a reshape or a bitcast without
/// movement. The number of elements must be provably equal.
///
/// With `checked` the dimensions are the same, of sizes that nothing proves to be: they are compared when the program comes
/// there, and the run ends with an error where they differ. `checked` says in words what they are sizes of.
///
/// With `front` the view is what lies at the front of the buffer: as many elements or less, provably for the most that sizes may be
/// which data decide. What lies behind it has undefined contents.
#[op(
    "rt.view",
    traits(Pure),
    parents("rt.program", "rt.select", "rt.if", "rt.while"),
    format = "$buffer attr-dict `:` type($buffer) `->` type($result)",
    verify
)]
pub struct ViewOp {
    buffer: Operand<AnyBuffer>,
    /// What is compared, in words.
    checked: OptAttr<StrAttr>,
    /// It may have less elements than the buffer.
    front: Flag,
    result: Res<AnyBuffer>,
}

/// A list of sizes in memory of the host's own, also where buffers are memory of a device.
///
/// `rt.write_sizes` and `rt.read_sizes` alone use it.
///
/// ```mlir
/// %sizes = rt.size_list : !rt.buffer<i64, [1]>
/// ```
#[op("rt.size_list", parents("rt.program"), format = "attr-dict `:` type($list)", verify)]
pub struct SizeListOp {
    list: Res<AnyBuffer>,
}

/// Writes sizes to a list, for what reads them behind a condition, or in the next iteration of a loop.
///
/// ```mlir
/// rt.write_sizes %sizes {sizes = #dyn.shape<[K]>} : !rt.buffer<i64, [1]>
/// ```
#[op("rt.write_sizes", parents("rt.program", "rt.if", "rt.while"), format = "$list attr-dict `:` type($list)", verify)]
pub struct WriteSizesOp {
    list: Operand<AnyBuffer>,
    sizes: Attr<SizesAttr>,
}

/// Reads sizes from a list. Symbols that nothing else tells have their values from there on, in its block; what is known already is
/// compared, and the run ends where it differs. Each size is at most `most`, which is checked, and memory is planned for.
///
/// ```mlir
/// rt.read_sizes %sizes {what = "scf.if 'y'", sizes = #dyn.shape<[R]>, most = #dyn.shape<[N]>} : !rt.buffer<i64, [1]>
/// ```
#[op("rt.read_sizes", parents("rt.program", "rt.if", "rt.while"), format = "$list attr-dict `:` type($list)", verify)]
pub struct ReadSizesOp {
    list: Operand<AnyBuffer>,
    /// What messages call the op that makes what has the sizes.
    what: Attr<StrAttr>,
    sizes: Attr<SizesAttr>,
    /// The most that each of them is.
    most: Attr<SizesAttr>,
}

/// Runs all groups of a kernel and waits for them. A grid without groups launches nothing.
///
/// `dims` are the values of the kernel's sizes, over the program's symbols; they must turn the types of the kernel's
/// parameters into those of the buffers, and what the kernel `requires` must hold by the ranges of the symbols or by the
/// guard of the `rt.select` around. `work` estimates the scalar operations of the whole launch; the host splits it among
/// threads only where that pays. Without it, the elements of all buffers are counted. `checks` has what messages call each thing
/// that the kernel checks of data; without it, messages say what the kernel says.
///
/// ```mlir
/// rt.launch @matmul(%x, %w, %y) dims [B, 256, 64] work [32768*B]
///     : !rt.buffer<f32, [B, 256]>, !rt.buffer<f32, [256, 64]>, !rt.buffer<f32, [B, 64]>
/// ```
#[op(
    "rt.launch",
    parents("rt.program", "rt.select", "rt.packed", "rt.if", "rt.while"),
    format = "$callee `(` $buffers `)` custom<Sizes>($dims, $work) attr-dict `:` type($buffers)",
    verify
)]
pub struct LaunchOp {
    /// The kernel: `@k` beside the program, or `@module::@k` in a module of device code.
    #[name("callee")]
    kernel: Attr<SymbolRefAttr>,
    buffers: Operands<AnyBuffer>,
    dims: Attr<SizesAttr>,
    /// One size: scalar operations of all groups together.
    work: OptAttr<SizesAttr>,
    /// One name for each check of the kernel.
    checks: OptAttr<StrArrayAttr>,
}

/// Runs the groups of several launches as one launch: those of the first, then those of the second, and so on, split among
/// threads together.
///
/// No launch touches what another one writes, so that groups may run in any order.
///
/// ```mlir
/// rt.packed {
///   rt.launch @product(%x, %q, %a) dims [M, 768] : !rt.buffer<f32, [M, 64]>, !rt.buffer<f32, [64, 768]>, !rt.buffer<f32, [M, 768]>
///   rt.launch @product(%x, %k, %b) dims [M, 256] : !rt.buffer<f32, [M, 64]>, !rt.buffer<f32, [64, 256]>, !rt.buffer<f32, [M, 256]>
/// }
/// ```
#[op(
    "rt.packed",
    traits(SingleBlock, NoTerminator, NoRegionArguments, RecursiveMemoryEffects),
    parents("rt.program", "rt.select", "rt.if", "rt.while"),
    format = "$launches attr-dict",
    default_dialect = "rt",
    verify_regions
)]
pub struct PackedOp {
    launches: Region,
}

/// Copies a whole buffer, for outputs that are an input, a constant or another output.
#[op(
    "rt.copy",
    parents("rt.program", "rt.select", "rt.if", "rt.while"),
    format = "$from `,` $to attr-dict `:` type($from) `,` type($to)",
    verify
)]
pub struct CopyOp {
    from: Operand<AnyBuffer>,
    to: Operand<AnyBuffer>,
}

/// Lets two temporaries change their memory: what one holds the other one holds afterwards, and nothing is moved.
///
/// So a loop hands on what an iteration made without a copy. What is a view of one of them is one of what it has then.
///
/// ```mlir
/// rt.exchange %x, %next : !rt.buffer<f32, [N]>
/// ```
#[op(
    "rt.exchange",
    traits(SameTypeOperands),
    parents("rt.program", "rt.if", "rt.while"),
    format = "$first `,` $second attr-dict `:` type($first)",
    verify
)]
pub struct ExchangeOp {
    first: Operand<AnyBuffer>,
    second: Operand<AnyBuffer>,
}

/// Looks at a list of sizes that a tensor was asked to have, which data tells, and reports where it is not what the program
/// was made for.
///
/// Element `i` must be `sizes[i]`. One element, the first that is -1, stands for the size that is left; a 0 stands for
/// `copied[i]`, which is -1 where a 0 has nothing to copy. The host looks, so the buffer must be its memory.
///
/// ```mlir
/// rt.expect %s {what = "graph.reshape 'y'", sizes = #dyn.shape<[N, 4]>, copied = #dyn.shape<[N, -1]>} : !rt.buffer<i64, [2]>
/// ```
#[op("rt.expect", parents("rt.program", "rt.if", "rt.while"), format = "$list attr-dict `:` type($list)", verify)]
pub struct ExpectOp {
    list: Operand<AnyBuffer>,
    /// What messages call the op that asks.
    what: Attr<StrAttr>,
    sizes: Attr<SizesAttr>,
    copied: Attr<SizesAttr>,
}

/// Runs the first version whose guard holds; the last one has no guard.
///
/// A guard is a list of sizes that must all be at least 0.
///
/// ```mlir
/// rt.select if [8192 - N] {
///   rt.launch @softmax_resident(%x, %y) dims [M, N] : !rt.buffer<f32, [M, N]>, !rt.buffer<f32, [M, N]>
/// }, {
///   rt.launch @softmax_streamed(%x, %y) dims [M, N] : !rt.buffer<f32, [M, N]>, !rt.buffer<f32, [M, N]>
/// }
/// ```
#[op(
    "rt.select",
    traits(SingleBlock, NoTerminator, NoRegionArguments, RecursiveMemoryEffects),
    parents("rt.program", "rt.if", "rt.while"),
    format = "custom<Guards>($guards) $versions attr-dict",
    default_dialect = "rt",
    verify
)]
pub struct SelectOp {
    /// One list for each version but the last.
    guards: Attr<GuardsAttr>,
    versions: Regions,
}

/// Runs another program of the module and waits for it: its inputs are read, its outputs written.
///
/// The symbols of that program are solved from the sizes of these buffers, as they are from the dims of a model's inputs.
/// `inline-programs` puts its body in the place of the call, where programs are compiled. A program that runs while it runs stays: it
/// is a recursive function of the host program.
///
/// With `most` it decides sizes: those of its outputs, of which `most` has a bound of each dimension, one output after the other. The
/// symbols among them that nothing else tells are known behind it in its block. Such outputs have place for the most that they may be.
///
/// ```mlir
/// rt.invoke @layer ins(%x, %w) outs(%y) : !rt.buffer<f32, [B, 256]>, !rt.buffer<f32, [256, 256]>, !rt.buffer<f32, [B, 256]>
/// ```
#[op(
    "rt.invoke",
    traits(AttrSizedOperandSegments),
    parents("rt.program", "rt.if", "rt.while"),
    format = "$callee `ins` `(` $inputs `)` `outs` `(` $outputs `)` attr-dict `:` type(operands)"
)]
pub struct InvokeOp {
    /// The program.
    #[name("callee")]
    program: Attr<SymbolRefAttr>,
    /// Its inputs.
    inputs: Operands<AnyBuffer>,
    /// Its outputs.
    outputs: Operands<AnyBuffer>,
    /// The most that each dimension of the outputs is, where data decide some.
    most: OptAttr<SizesAttr>,
}

/// Runs one of two sides, as a truth value in memory says. The host looks, so the buffer must be its memory.
///
/// ```mlir
/// rt.if %c : !rt.buffer<i1, []> {
///   rt.launch @long(%x, %y) dims [N] : !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>
/// } else {
///   rt.copy %x, %y : !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>
/// }
/// ```
#[op(
    "rt.if",
    traits(SingleBlock, NoTerminator, NoRegionArguments, RecursiveMemoryEffects),
    parents("rt.program", "rt.if", "rt.while"),
    format = "$condition `:` type($condition) $then `else` $otherwise attr-dict",
    default_dialect = "rt",
    verify
)]
pub struct IfOp {
    /// A buffer of one `i1`.
    condition: Operand<AnyBuffer>,
    then: Region,
    otherwise: Region,
}

/// Runs the first region, looks at the condition that it wrote, and where that is true the second one, over and over. What
/// goes from one iteration to the next lies in buffers around the loop. The host looks, so the condition must be its memory.
///
/// ```mlir
/// rt.while %c : !rt.buffer<i1, []> {
///   rt.launch @differs(%x, %y, %c) dims [N] : !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>, !rt.buffer<i1, []>
/// } do {
///   rt.launch @step(%x, %y) dims [N] : !rt.buffer<f32, [N]>, !rt.buffer<f32, [N]>
/// }
/// ```
#[op(
    "rt.while",
    traits(SingleBlock, NoTerminator, NoRegionArguments, RecursiveMemoryEffects),
    parents("rt.program", "rt.if", "rt.while"),
    format = "$condition `:` type($condition) $before `do` $after attr-dict",
    default_dialect = "rt",
    verify
)]
pub struct WhileOp {
    /// A buffer of one `i1`.
    condition: Operand<AnyBuffer>,
    /// What makes the condition.
    before: Region,
    /// What runs where it holds.
    after: Region,
}

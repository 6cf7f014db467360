//! Operations of the gpu dialect.

use sutura_ir::constraints::*;
use sutura_ir::op;

use super::attrs::{Dimension, ShuffleMode};

sutura_ir::type_constraints! {
    /// What lanes hand to each other.
    pub Shuffled = "integer or float of at most 64 bits",
        |cx, ty| cx.bit_width(ty).is_some_and(|bits| bits <= 64) && cx.shape(ty).is_none();
}

/// Code for a device: kernels, and what they share.
#[op(
    "gpu.module",
    traits(IsolatedFromAbove, Symbol, SymbolTable, NoTerminator, SingleBlock),
    format = "$sym_name (`<` $offloadingHandler^ `>`)? custom<Targets>($targets) attr-dict-with-keyword $bodyRegion"
)]
pub struct GPUModuleOp {
    sym_name: Attr<SymbolNameAttr>,
    /// Devices that it is for.
    targets: OptAttr<ArrayAttr>,
    /// How its binary is embedded into host code.
    #[name("offloadingHandler")]
    offloading_handler: OptAttr<AnyAttr>,
    #[name("bodyRegion")]
    body: Region,
}

/// A function that threads of a device run; a kernel, where it has the attribute `gpu.kernel`.
///
/// Behind its arguments the entry block has buffers of the block (`workgroup`), then buffers of the thread (`private`).
#[op(
    "gpu.func",
    traits(IsolatedFromAbove, Symbol, AffineScope),
    format = "custom<GpuFunc>($function_type, $arg_attrs, $res_attrs, $known_block_size, $known_grid_size, $body, \
              attr-dict) $body",
    verify
)]
pub struct GPUFuncOp {
    /// Types of arguments and results.
    function_type: Attr<FunctionTypeAttr>,
    #[absent]
    arg_attrs: OptAttr<DictArrayAttr>,
    #[absent]
    res_attrs: OptAttr<DictArrayAttr>,
    #[absent]
    workgroup_attrib_attrs: OptAttr<DictArrayAttr>,
    #[absent]
    private_attrib_attrs: OptAttr<DictArrayAttr>,
    /// Threads of a block, x y z, if they are known.
    #[absent]
    known_block_size: OptAttr<DenseI32ArrayAttr>,
    /// Blocks of a launch, x y z, if they are known.
    #[absent]
    known_grid_size: OptAttr<DenseI32ArrayAttr>,
    #[absent]
    known_cluster_size: OptAttr<DenseI32ArrayAttr>,
    body: Region,
}

/// Ends a function of a device.
#[op(
    "gpu.return",
    traits(Pure, Terminator, ReturnLike),
    format = "attr-dict ($operands^ `:` type($operands))?",
    parents("gpu.func")
)]
pub struct ReturnOp {
    operands: Operands<AnyType>,
}

/// Declares an operation without operands that says where in the launch a thread is, along an axis.
macro_rules! axis_op {
    ($($(#[$doc:meta])* $name:ident = $text:literal;)*) => {$(
        $(#[$doc])*
        #[op($text, traits(Pure), format = "custom<Axis>($dimension, $upper_bound) attr-dict")]
        pub struct $name {
            dimension: Attr<Dimension>,
            /// The number is below this.
            #[absent]
            upper_bound: OptAttr<IndexAttr>,
            result: Res<Index>,
        }
    )*};
}

axis_op! {
    /// Number of the thread in its block.
    ThreadIdOp = "gpu.thread_id";
    /// Number of the block in the launch.
    BlockIdOp = "gpu.block_id";
    /// Threads of a block.
    BlockDimOp = "gpu.block_dim";
    /// Blocks of the launch.
    GridDimOp = "gpu.grid_dim";
}

/// Number of the thread in its subgroup (warp, wavefront).
#[op("gpu.lane_id", traits(Pure), format = "(`upper_bound` $upper_bound^)? attr-dict")]
pub struct LaneIdOp {
    #[absent]
    upper_bound: OptAttr<IndexAttr>,
    result: Res<Index>,
}

/// Number of the thread's subgroup in its block.
#[op("gpu.subgroup_id", traits(Pure), format = "(`upper_bound` $upper_bound^)? attr-dict `:` type($result)")]
pub struct SubgroupIdOp {
    #[absent]
    upper_bound: OptAttr<IndexAttr>,
    result: Res<Index>,
}

/// Threads of a subgroup.
#[op("gpu.subgroup_size", traits(Pure), format = "(`upper_bound` $upper_bound^)? attr-dict `:` type($result)")]
pub struct SubgroupSizeOp {
    #[absent]
    upper_bound: OptAttr<IndexAttr>,
    result: Res<Index>,
}

/// Waits until all threads of the block are here; what they wrote before is seen by all after.
#[op("gpu.barrier", format = "attr-dict")]
pub struct BarrierOp {}

/// Takes the value that another thread of the subgroup has for `value`; `valid` is false where there is no such thread.
///
/// All threads of the subgroup must get here together.
///
/// ```mlir
/// %1, %valid = gpu.shuffle xor %0, %offset, %width : f32
/// ```
#[op("gpu.shuffle", format = "custom<Mode>($mode) $value `,` $offset `,` $width attr-dict `:` type($value)", infer)]
pub struct ShuffleOp {
    #[name("value")]
    exchanged: Operand<Shuffled>,
    /// Lanes, as `mode` says.
    offset: Operand<I32>,
    /// Lanes that take part: a power of two.
    width: Operand<I32>,
    mode: Attr<ShuffleMode>,
    #[name("shuffleResult")]
    result: Res<AnyType>,
    valid: Res<I1>,
}

//! Operations of the nvvm dialect.

use sutura_ir::constraints::*;
use sutura_ir::{DialectBuilder, Type, op};

use super::attrs::{CacheModifier, ShuffleKind};
use crate::llvm::types::PointerType;

sutura_ir::type_constraints! {
    /// A place in the memory of a block.
    pub SharedPointer = "LLVM pointer in address space 3",
        |cx, ty| cx.type_as::<PointerType>(ty).is_some_and(|ptr| ptr.address_space == 3);
    /// A place in the memory of the device.
    pub GlobalPointer = "LLVM pointer in address space 1",
        |cx, ty| cx.type_as::<PointerType>(ty).is_some_and(|ptr| ptr.address_space == 1);
    /// What `shfl.sync` hands from lane to lane.
    pub Exchanged = "32-bit signless integer or 32-bit float", |_, ty| ty == Type::I32 || ty == Type::F32;
}

crate::registers::registers! {
    /// Number of the thread in its block, first axis.
    ThreadIdXOp = "nvvm.read.ptx.sreg.tid.x";
    /// Number of the thread in its block, second axis.
    ThreadIdYOp = "nvvm.read.ptx.sreg.tid.y";
    /// Number of the thread in its block, third axis.
    ThreadIdZOp = "nvvm.read.ptx.sreg.tid.z";
    /// Number of the block in the launch, first axis.
    BlockIdXOp = "nvvm.read.ptx.sreg.ctaid.x";
    /// Number of the block in the launch, second axis.
    BlockIdYOp = "nvvm.read.ptx.sreg.ctaid.y";
    /// Number of the block in the launch, third axis.
    BlockIdZOp = "nvvm.read.ptx.sreg.ctaid.z";
    /// Threads of a block, first axis.
    BlockDimXOp = "nvvm.read.ptx.sreg.ntid.x";
    /// Threads of a block, second axis.
    BlockDimYOp = "nvvm.read.ptx.sreg.ntid.y";
    /// Threads of a block, third axis.
    BlockDimZOp = "nvvm.read.ptx.sreg.ntid.z";
    /// Blocks of the launch, first axis.
    GridDimXOp = "nvvm.read.ptx.sreg.nctaid.x";
    /// Blocks of the launch, second axis.
    GridDimYOp = "nvvm.read.ptx.sreg.nctaid.y";
    /// Blocks of the launch, third axis.
    GridDimZOp = "nvvm.read.ptx.sreg.nctaid.z";
    /// Number of the thread in its warp.
    LaneIdOp = "nvvm.read.ptx.sreg.laneid";
}

/// Waits until all threads of the block are here; what they wrote before is seen by all after.
#[op("nvvm.barrier0", format = "attr-dict")]
pub struct Barrier0Op {}

/// Takes the value that another thread of the warp has for `val`.
///
/// `mask_and_clamp` has the bits of the lane's number that stay as they are, from bit 8 on, and the last lane (for `up`
/// the first) that is taken from, below.
///
/// ```mlir
/// %1 = nvvm.shfl.sync bfly %all, %0, %offset, %c31 : f32 -> f32
/// ```
#[op(
    "nvvm.shfl.sync",
    format = "custom<Kind>($kind) $thread_mask `,` $val `,` $offset `,` $mask_and_clamp attr-dict \
              `:` type($val) `->` type($res)",
    verify
)]
pub struct ShflOp {
    /// The lanes that are here, a bit each.
    thread_mask: Operand<I32>,
    val: Operand<Exchanged>,
    offset: Operand<I32>,
    mask_and_clamp: Operand<I32>,
    kind: Attr<ShuffleKind>,
    /// The result has a second part: whether there was such a lane.
    return_value_and_is_valid: OptAttr<UnitAttr>,
    res: Res<AnyType>,
}

/// Begins to copy 4, 8 or 16 bytes from the device's memory to the block's, both aligned to as many, while the thread goes on.
/// With a number of bytes behind, so many of them are read, and the rest is zero.
///
/// ```mlir
/// nvvm.cp.async.shared.global %to, %from, 16, cache = cg, %bytes : !llvm.ptr<3>, !llvm.ptr<1>, i32
/// ```
#[op(
    "nvvm.cp.async.shared.global",
    format = "$dst `,` $src `,` $size `,` `cache` `=` custom<Cache>($modifier) (`,` $cpSize^)? attr-dict `:` type(operands)",
    verify
)]
pub struct CpAsyncOp {
    dst: Operand<SharedPointer>,
    src: Operand<GlobalPointer>,
    size: Attr<I32Attr>,
    modifier: Attr<CacheModifier>,
    #[name("cpSize")]
    cp_size: OptOperand<I32>,
}

/// Ends a group of the thread's copies.
#[op("nvvm.cp.async.commit.group", format = "attr-dict")]
pub struct CpAsyncCommitGroupOp {}

/// Waits until at most `n` groups of the thread's copies, the youngest ones, are still on their way.
#[op("nvvm.cp.async.wait.group", format = "$n attr-dict")]
pub struct CpAsyncWaitGroupOp {
    n: Attr<I32Attr>,
}

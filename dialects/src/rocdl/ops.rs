//! Operations of the rocdl dialect.

use sutura_ir::constraints::*;
use sutura_ir::{DialectBuilder, op};

crate::registers::registers! {
    /// Number of the work-item in its workgroup, first axis.
    ThreadIdXOp = "rocdl.workitem.id.x";
    /// Number of the work-item in its workgroup, second axis.
    ThreadIdYOp = "rocdl.workitem.id.y";
    /// Number of the work-item in its workgroup, third axis.
    ThreadIdZOp = "rocdl.workitem.id.z";
    /// Number of the workgroup in the launch, first axis.
    BlockIdXOp = "rocdl.workgroup.id.x";
    /// Number of the workgroup in the launch, second axis.
    BlockIdYOp = "rocdl.workgroup.id.y";
    /// Number of the workgroup in the launch, third axis.
    BlockIdZOp = "rocdl.workgroup.id.z";
}

/// Waits until all waves of the workgroup are here; it orders no memory, which fences around it do.
#[op("rocdl.s.barrier", format = "attr-dict")]
pub struct SBarrierOp {}

/// `in1` plus the lanes of `in0`, bits 0 to 31, that are below this one.
#[op(
    "rocdl.mbcnt.lo",
    traits(Pure),
    format = "$in0 `,` $in1 attr-dict `:` `(` type($in0) `,` type($in1) `)` `->` type($res)"
)]
pub struct MbcntLoOp {
    in0: Operand<I32>,
    in1: Operand<I32>,
    #[absent]
    arg_attrs: OptAttr<DictArrayAttr>,
    #[absent]
    res_attrs: OptAttr<DictArrayAttr>,
    res: Res<I32>,
}

/// `in1` plus the lanes of `in0`, bits 32 to 63, that are below this one.
#[op(
    "rocdl.mbcnt.hi",
    traits(Pure),
    format = "$in0 `,` $in1 attr-dict `:` `(` type($in0) `,` type($in1) `)` `->` type($res)"
)]
pub struct MbcntHiOp {
    in0: Operand<I32>,
    in1: Operand<I32>,
    #[absent]
    arg_attrs: OptAttr<DictArrayAttr>,
    #[absent]
    res_attrs: OptAttr<DictArrayAttr>,
    res: Res<I32>,
}

/// The value that the lane with number `index / 4` has for `src`.
#[op("rocdl.ds_bpermute", format = "$index `,` $src attr-dict `:` `(` type($index) `,` type($src) `)` `->` type($res)")]
pub struct DsBpermuteOp {
    index: Operand<I32>,
    src: Operand<I32>,
    res: Res<I32>,
}

/// The value that another of 32 lanes has for `src`; the constant `offset` says which: bits 0 to 4 are kept of the lane's
/// number, bits 5 to 9 set in it, bits 10 to 14 turned.
#[op(
    "rocdl.ds_swizzle",
    format = "$src `,` $offset attr-dict `:` `(` type($src) `,` type($offset) `)` `->` type($res)"
)]
pub struct DsSwizzleOp {
    src: Operand<I32>,
    offset: Operand<I32>,
    res: Res<I32>,
}

//! Constants of one number everywhere that are large: computed where they are read, not kept in the artifact, which writes
//! every element of a constant.

use sutura_dialects::graph::build::scalar;
use sutura_dialects::graph::{ComputeOp, ConstantOp, IteratorKind, IteratorsAttr, YieldOp};
use sutura_ir::{Op, OpRef, Rewriter};

/// Bytes above which a constant of one number is large.
const LARGE: u64 = 1 << 20;

/// Puts computations in place of large constants of one number. Returns how many.
pub(super) fn unfold(rw: &mut Rewriter<'_>, ops: &[Op]) -> u64 {
    let large = |op: &&Op| is_large(OpRef::new(rw.cx(), rw.body(), **op));
    let large: Vec<Op> = ops.iter().filter(large).copied().collect();
    large.iter().for_each(|op| unfold_one(rw, *op));
    large.len() as u64
}

fn is_large(op: OpRef<'_>) -> bool {
    let Some(dense) = op.as_::<ConstantOp<'_>>().and_then(|constant| op.cx.dense(constant.elements())) else {
        return false;
    };
    let width = op.cx.bit_width(dense.element_type()).unwrap_or(64).div_ceil(8);
    dense.is_splat() && (dense.len() as u64).saturating_mul(width.into()) > LARGE
}

fn unfold_one(rw: &mut Rewriter<'_>, op: Op) {
    let (cx, loc) = (rw.cx(), rw.body().loc(op));
    let result = rw.body().result(op, 0);
    let ty = rw.body().ty(result);
    let rank = cx.shape(ty).map_or(0, <[i64]>::len);
    let number = rw.op_ref(op).as_::<ConstantOp<'_>>().and_then(|constant| cx.splat_value(constant.elements()));
    let number = number.expect("it is one number everywhere");
    rw.set_before(op);
    let index: Vec<_> = (0..rank).map(|d| cx.affine_dim(d as u32)).collect();
    let map = cx.affine_map(rank as u32, 0, &index);
    let iterators = IteratorsAttr { kinds: vec![IteratorKind::Parallel; rank] };
    let state = ComputeOp::state(rw, loc, &[], iterators, &[map], &[ty], 0);
    let compute = rw.create(state);
    let region = rw.body().regions(compute).next().expect("a computation has a body");
    let block = rw.create_block(region, &[]);
    rw.set_to_end(block);
    let number = scalar::constant(rw, loc, number, cx.element_type(ty));
    YieldOp::build(rw, loc, &[number]);
    let made = rw.body().result(compute, 0);
    rw.replace_all_uses(result, made);
    rw.erase_op(op);
}

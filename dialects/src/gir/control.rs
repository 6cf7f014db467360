//! How control goes through loops of a kernel: what generic passes ask, such as the one that moves invariant loads out.

use std::ops::Range;

use sutura_ir::interfaces::{LoopLike, RegionBranchOp, RegionTarget, RegionTargets};
use sutura_ir::op_def::OpView;
use sutura_ir::registry::DialectBuilder;
use sutura_ir::smallvec::{SmallVec, smallvec};
use sutura_ir::{Attr, OpRef, Value};

use super::ops::ForOp;

/// `gir.for`: operands from the third on are carried; the first argument of the region is the index.
struct For;

/// How often a loop from `operands[0]` to `operands[1]` runs, if both are constant.
fn trips(op: OpRef<'_>, operands: &[Option<Attr>]) -> Option<i64> {
    let bound = |i: usize| op.cx.as_int(operands.get(i).copied().flatten()?);
    Some(bound(1)?.saturating_sub(bound(0)?).max(0))
}

impl RegionBranchOp for For {
    fn begin(&self, op: OpRef<'_>, operands: &[Option<Attr>]) -> RegionTargets {
        match trips(op, operands) {
            Some(0) => smallvec![RegionTarget::Parent],
            Some(_) => smallvec![RegionTarget::Region(0)],
            None => smallvec![RegionTarget::Region(0), RegionTarget::Parent],
        }
    }

    fn after(&self, op: OpRef<'_>, _: usize, _: OpRef<'_>, _: &[Option<Attr>]) -> RegionTargets {
        let constants: Vec<Option<Attr>> = op.operands().map(|v| op.constant(v)).collect();
        match trips(op, &constants) {
            Some(1) => smallvec![RegionTarget::Parent],
            _ => smallvec![RegionTarget::Region(0), RegionTarget::Parent],
        }
    }

    fn begin_operands(&self, op: OpRef<'_>, _: RegionTarget) -> Range<usize> {
        2..op.num_operands()
    }

    fn inputs(&self, op: OpRef<'_>, target: RegionTarget) -> Range<usize> {
        match target {
            RegionTarget::Parent => 0..op.num_results(),
            RegionTarget::Region(_) => 1..op.num_results() + 1,
        }
    }
}

impl LoopLike for For {
    fn loop_regions(&self, _: OpRef<'_>) -> SmallVec<[usize; 2]> {
        smallvec![0]
    }

    fn induction_vars(&self, op: OpRef<'_>) -> SmallVec<[Value; 1]> {
        ForOp::from_ref(op).body().entry().and_then(|e| e.args().first().copied()).into_iter().collect()
    }
}

pub(super) fn register(d: &mut DialectBuilder<'_>) {
    d.op_interface::<ForOp<'_>, dyn RegionBranchOp>(&For).op_interface::<ForOp<'_>, dyn LoopLike>(&For);
}

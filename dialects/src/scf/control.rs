//! How control goes through scf's regions, and what their loops run over.

use std::ops::Range;

use crate::scf::{IfOp, WhileOp};

use sutura_ir::interfaces::{
    ConditionallySpeculatable, LoopBounds, LoopLike, RegionBranchOp, RegionTarget, RegionTargets, Speculatability,
};
use sutura_ir::op_def::OpView;
use sutura_ir::smallvec::{SmallVec, smallvec};
use sutura_ir::{Attr, DialectBuilder, OpRef, Value};

use super::ops::ForOp;
use super::trip_count::{trip_count, trip_count_with};

/// Attaches the hooks.
pub(super) fn register(d: &mut DialectBuilder<'_>) {
    d.op_interface::<ForOp<'_>, dyn RegionBranchOp>(&For)
        .op_interface::<IfOp<'_>, dyn RegionBranchOp>(&If)
        .op_interface::<WhileOp<'_>, dyn RegionBranchOp>(&While)
        .op_interface::<ForOp<'_>, dyn LoopLike>(&For)
        .op_interface::<WhileOp<'_>, dyn LoopLike>(&While)
        .op_interface::<ForOp<'_>, dyn ConditionallySpeculatable>(&For)
        .op_interface::<IfOp<'_>, dyn ConditionallySpeculatable>(&If);
}

/// Operands from the fourth on are carried; the first argument of the region is the loop's own.
struct For;

impl RegionBranchOp for For {
    fn begin(&self, op: OpRef<'_>, operands: &[Option<Attr>]) -> RegionTargets {
        match trip_count_with(ForOp::from_ref(op), operands) {
            Some(0) => smallvec![RegionTarget::Parent],
            Some(_) => smallvec![RegionTarget::Region(0)],
            None => smallvec![RegionTarget::Region(0), RegionTarget::Parent],
        }
    }

    fn after(&self, op: OpRef<'_>, _: usize, _: OpRef<'_>, _: &[Option<Attr>]) -> RegionTargets {
        match trip_count(ForOp::from_ref(op)) {
            Some(1) => smallvec![RegionTarget::Parent],
            _ => smallvec![RegionTarget::Region(0), RegionTarget::Parent],
        }
    }

    fn begin_operands(&self, op: OpRef<'_>, _: RegionTarget) -> Range<usize> {
        3..op.num_operands()
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
        smallvec![ForOp::from_ref(op).induction_var()]
    }

    fn bounds(&self, op: OpRef<'_>) -> Option<SmallVec<[LoopBounds; 1]>> {
        let this = ForOp::from_ref(op);
        Some(smallvec![LoopBounds { lower: this.lower_bound(), upper: this.upper_bound(), step: this.step() }])
    }
}

impl ConditionallySpeculatable for For {
    /// Steps of one reach every end; others may pass over it and wrap around.
    fn speculatability(&self, op: OpRef<'_>) -> Speculatability {
        let step = op.constant(ForOp::from_ref(op).step()).and_then(|a| op.cx.as_int(a));
        if step == Some(1) { Speculatability::Recursively } else { Speculatability::Never }
    }
}

/// Nothing is passed into the sides.
struct If;

impl RegionBranchOp for If {
    fn begin(&self, op: OpRef<'_>, operands: &[Option<Attr>]) -> RegionTargets {
        let has_else = op.region(1).is_some_and(|r| !r.is_empty());
        let otherwise = if has_else { RegionTarget::Region(1) } else { RegionTarget::Parent };
        match operands.first().copied().flatten().and_then(|c| op.cx.as_bool(c)) {
            Some(true) => smallvec![RegionTarget::Region(0)],
            Some(false) => smallvec![otherwise],
            None => smallvec![RegionTarget::Region(0), otherwise],
        }
    }

    fn after(&self, _: OpRef<'_>, _: usize, _: OpRef<'_>, _: &[Option<Attr>]) -> RegionTargets {
        smallvec![RegionTarget::Parent]
    }

    fn begin_operands(&self, _: OpRef<'_>, _: RegionTarget) -> Range<usize> {
        0..0
    }
}

impl ConditionallySpeculatable for If {
    fn speculatability(&self, _: OpRef<'_>) -> Speculatability {
        Speculatability::Recursively
    }
}

/// The first region goes on to the second or behind the loop, the second back to the first.
struct While;

impl RegionBranchOp for While {
    fn begin(&self, _: OpRef<'_>, _: &[Option<Attr>]) -> RegionTargets {
        smallvec![RegionTarget::Region(0)]
    }

    fn after(&self, op: OpRef<'_>, region: usize, _: OpRef<'_>, operands: &[Option<Attr>]) -> RegionTargets {
        if region == 1 {
            return smallvec![RegionTarget::Region(0)];
        }
        match operands.first().copied().flatten().and_then(|c| op.cx.as_bool(c)) {
            Some(true) => smallvec![RegionTarget::Region(1)],
            Some(false) => smallvec![RegionTarget::Parent],
            None => smallvec![RegionTarget::Region(1), RegionTarget::Parent],
        }
    }

    fn begin_operands(&self, op: OpRef<'_>, _: RegionTarget) -> Range<usize> {
        0..op.num_operands()
    }

    fn passed_operands(&self, _: OpRef<'_>, terminator: OpRef<'_>, target: RegionTarget) -> Range<usize> {
        // The condition is not passed on.
        let first = usize::from(target != RegionTarget::Region(0));
        first..terminator.num_operands()
    }
}

impl LoopLike for While {
    fn loop_regions(&self, _: OpRef<'_>) -> SmallVec<[usize; 2]> {
        smallvec![0, 1]
    }
}

//! Loops.

use smallvec::SmallVec;

use crate::body::{Body, Op, Value};
use crate::op_ref::OpRef;

/// Range of an induction variable.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct LoopBounds {
    /// First value.
    pub lower: Value,
    /// End, not included.
    pub upper: Value,
    /// Distance between two values.
    pub step: Value,
}

/// An op some of whose regions run many times.
pub trait LoopLike: Send + Sync {
    /// Numbers of the regions that run many times.
    fn loop_regions(&self, op: OpRef<'_>) -> SmallVec<[usize; 2]>;

    /// Induction variables, outermost first.
    fn induction_vars(&self, _op: OpRef<'_>) -> SmallVec<[Value; 1]> {
        SmallVec::new()
    }

    /// Their ranges, in the same order, for a counted loop.
    fn bounds(&self, _op: OpRef<'_>) -> Option<SmallVec<[LoopBounds; 1]>> {
        None
    }

    /// True when `value`, of the op's body, is the same in all iterations because it is defined outside.
    fn is_invariant(&self, op: OpRef<'_>, value: Value) -> bool {
        is_defined_outside(op.body, op.op, value)
    }
}

/// True when `value` is not defined in a region of `op`, both of `body`.
pub fn is_defined_outside(body: &Body, op: Op, value: Value) -> bool {
    let mut around = body.value_block(value).and_then(|block| body.block_parent(block));
    while let Some(at) = around {
        if at == op {
            return false;
        }
        around = body.parent_op(at);
    }
    true
}

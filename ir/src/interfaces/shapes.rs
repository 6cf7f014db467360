//! Sizes of results.

use crate::body::Value;
use crate::op_ref::OpRef;

/// The size of a dimension.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DimSize {
    /// Known.
    Static(i64),
    /// An operand, of type `index`.
    Value(Value),
    /// That of a dimension of an operand.
    Of(Value, usize),
}

/// An op that can say how large its results are without computing them.
pub trait ReifyShapes: Send + Sync {
    /// Size of dimension `dim` of result `result`, a shaped type of known rank; `None` when the operands do not tell.
    fn dim_size(&self, op: OpRef<'_>, result: usize, dim: usize) -> Option<DimSize>;
}

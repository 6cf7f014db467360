//! Casts: ops that give a value another type.

use crate::context::Context;
use crate::types::Type;

/// An op that gives its operands other types, one result for each operand.
///
/// The verifier refuses types that are not compatible. Folding takes a cast to the same types away, and skips the cast
/// before one of the same name where [`CastLike::may_skip`] allows it.
pub trait CastLike: Send + Sync {
    /// True when operands of the types `from` can become results of the types `to`.
    fn are_compatible(&self, cx: &Context, from: &[Type], to: &[Type]) -> bool;

    /// True when a cast from `from` to `to` gives what one from `from` to `middle` and another one from there to `to`
    /// give, both by this op with one operand and without inherent attributes. That `to` may be `from`; the cast is
    /// no cast then. Compatibility of `from` and `to` is not asked here.
    fn may_skip(&self, _cx: &Context, _from: Type, _middle: Type, _to: Type) -> bool {
        false
    }
}

//! How often a counted loop runs.

use sutura_ir::op_def::OpView;
use sutura_ir::{Attr, Value};

use super::ops::ForOp;

/// How often a loop with constant bounds runs.
pub(super) fn trip_count(for_op: ForOp<'_>) -> Option<u128> {
    let op = for_op.op_ref();
    trip_count_by(for_op, |v| op.constant(v))
}

/// The same when operands are known to have these values; what they are defined by does not count.
pub(super) fn trip_count_with(for_op: ForOp<'_>, operands: &[Option<Attr>]) -> Option<u128> {
    let op = for_op.op_ref();
    trip_count_by(for_op, |v| op.operands().position(|o| o == v).and_then(|i| operands.get(i).copied().flatten()))
}

fn trip_count_by(for_op: ForOp<'_>, value: impl Fn(Value) -> Option<Attr>) -> Option<u128> {
    let op = for_op.op_ref();
    let constant = |v| op.cx.as_int(value(v)?);
    let unsigned = for_op.unsigned_cmp();
    let bounds = (constant(for_op.lower_bound()), constant(for_op.upper_bound()));
    let (Some(lower), Some(upper)) = bounds else {
        // The same value twice is an empty range, whatever it is.
        return (for_op.lower_bound() == for_op.upper_bound()).then_some(0);
    };
    let step = constant(for_op.step())?;
    let width = op.cx.bit_width(op.ty(for_op.lower_bound()))?;
    let wide = |v: i64| if unsigned { i128::from(v as u64 & crate::constant::mask(width)) } else { i128::from(v) };
    let (lower, upper, step) = (wide(lower), wide(upper), wide(step));
    if step <= 0 {
        return None;
    }
    Some(if lower >= upper { 0 } else { (upper - lower).unsigned_abs().div_ceil(step.unsigned_abs()) })
}

//! What is asked of the scalar functions and forms of a region's ops.

use sutura_dialects::r#dyn::Facts;
use sutura_dialects::gir::kinds::BinaryKind;
use sutura_dialects::graph::form::{Form, Symbols};
use sutura_ir::OpRef;

/// True for an op that reads at indices which are data.
pub(crate) fn reads_by_index(op: OpRef<'_>, facts: &Facts) -> bool {
    // Ops with a body know no indices but their iterators, and are most.
    let form = || Form::of(op, facts, &mut Symbols::default());
    op.region(0).is_none() && form().is_some_and(|form| !form.picks.is_empty() && form.scatter.is_none())
}

/// True for a scalar op that divides integers by what may be 0.
pub(crate) fn divides(op: OpRef<'_>) -> bool {
    let by_zero = |divisor| op.constant(divisor).and_then(|c| op.cx.as_int(c)).is_none_or(|n| n == 0);
    BinaryKind::of_scalar_op(op.name_str()).is_some_and(BinaryKind::divides_integers) && by_zero(op.operand(1))
}

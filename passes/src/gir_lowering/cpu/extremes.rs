//! Largest and smallest floats of long rows, by one comparison a vector.
//!
//! What the result must be for NaN and for zeros of both signs takes machines several instructions. So the loop compares
//! plainly, which drops NaN and takes either zero, and sums the elements beside it: a sum is NaN if an element is. Where the
//! result is zero or the sum NaN (which infinities of both signs make it too), the row is combined again, the exact way.

use sutura_dialects::gir::kinds::{BinaryKind, Combiner, CompareKind};
use sutura_ir::{Type, Value};

use crate::gir_lowering::emit::Emit;

/// Whether a combination is one of floats to the largest or smallest.
pub(in crate::gir_lowering) fn is_extreme(kind: Combiner) -> bool {
    matches!(kind, Combiner::Max | Combiner::Min)
}

/// The larger (smaller) of `old` and `value`; `old` where either is NaN, and of zeros.
pub(in crate::gir_lowering) fn quick(e: &mut Emit<'_>, kind: Combiner, old: Value, value: Value) -> Value {
    let pred = if kind == Combiner::Max { CompareKind::Ogt } else { CompareKind::Olt };
    let beyond = e.compare(pred, value, old);
    e.select(beyond, value, old)
}

/// A sum that is NaN if an element is.
pub(in crate::gir_lowering) fn probe(e: &mut Emit<'_>, old: Value, value: Value) -> Value {
    e.binary(BinaryKind::Add, old, value)
}

/// Whether a row must be combined again: `result` is zero, or a lane of `probe` is NaN.
pub(in crate::gir_lowering) fn suspicious(e: &mut Emit<'_>, result: Value, probe: Value) -> Value {
    let zero = e.cx().float_attr(0.0, e.ty(result));
    let zero = e.constant(zero, e.ty(result));
    let is_zero = e.compare(CompareKind::Oeq, result, zero);
    let lanes = e.compare(CompareKind::Uno, probe, probe);
    let or = e.cx().ext_attr(sutura_dialects::vector::CombiningKind::Or);
    let any = e.op1("vector.reduction", &[lanes], Type::I1, &[("kind", or)]);
    e.or(is_zero, any)
}

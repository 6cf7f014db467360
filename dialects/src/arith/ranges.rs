//! Comparisons of integers that were converted to floats.

use std::cmp::Ordering;

use sutura_ir::types::FloatKind;
use sutura_ir::{Context, Op, Rewriter, Type, Value};

use super::attrs::{CmpFPredicate, CmpIPredicate};
use super::ops::*;
use crate::constant;

/// An integer as a float.
struct Converted {
    value: Value,
    signed: bool,
    width: u32,
}

impl Converted {
    fn of(rw: &Rewriter<'_>, value: Value) -> Option<Self> {
        let (value, signed) = match rw.def::<SIToFPOp<'_>>(value) {
            Some(cast) => (cast.input(), true),
            None => (rw.def::<UIToFPOp<'_>>(value)?.input(), false),
        };
        let width = constant::int_width(rw.cx(), rw.body().ty(value))?;
        Some(Self { value, signed, width })
    }

    fn bounds(&self) -> (f64, f64) {
        let half = 2f64.powi(self.width as i32 - 1);
        if self.signed { (-half, half - 1.0) } else { (0.0, 2.0 * half - 1.0) }
    }

    fn predicate(&self, order: Ordering, or_equal: bool) -> CmpIPredicate {
        use CmpIPredicate as P;
        match (order, or_equal, self.signed) {
            (Ordering::Equal, false, _) => P::Eq,
            (Ordering::Equal, true, _) => P::Ne,
            (Ordering::Less, false, true) => P::Slt,
            (Ordering::Less, true, true) => P::Sle,
            (Ordering::Less, false, false) => P::Ult,
            (Ordering::Less, true, false) => P::Ule,
            (Ordering::Greater, false, true) => P::Sgt,
            (Ordering::Greater, true, true) => P::Sge,
            (Ordering::Greater, false, false) => P::Ugt,
            (Ordering::Greater, true, false) => P::Uge,
        }
    }
}

/// Bits of integers all of which a float type has.
fn exact_bits(cx: &Context, ty: Type) -> Option<u32> {
    match cx.float_kind(cx.element_type(ty))? {
        FloatKind::BF16 => Some(8),
        FloatKind::F16 => Some(11),
        FloatKind::F32 => Some(24),
        FloatKind::F64 => Some(53),
        _ => None,
    }
}

/// What a comparison comes to.
enum Outcome {
    Always(bool),
    Integers(CmpIPredicate, i64),
}

/// How integers compare with the number `c`.
fn outcome(converted: &Converted, predicate: CmpFPredicate, c: f64) -> Option<Outcome> {
    use CmpFPredicate as P;
    let (low, high) = converted.bounds();
    // Greater and not less or equal; for `==` the second is `!=`.
    let (order, or_equal) = match predicate {
        P::Oeq | P::Ueq => (Ordering::Equal, false),
        P::One | P::Une => (Ordering::Equal, true),
        P::Ogt | P::Ugt => (Ordering::Greater, false),
        P::Oge | P::Uge => (Ordering::Greater, true),
        P::Olt | P::Ult => (Ordering::Less, false),
        P::Ole | P::Ule => (Ordering::Less, true),
        P::Ord => return Some(Outcome::Always(true)),
        P::Uno => return Some(Outcome::Always(false)),
        _ => return None,
    };
    if c < low || c > high || (order == Ordering::Equal && c != c.trunc()) {
        let holds = match order {
            Ordering::Equal => or_equal,
            Ordering::Greater => c < low,
            Ordering::Less => c > high,
        };
        return Some(Outcome::Always(holds));
    }
    // Between two integers, the one that leaves the others on their sides.
    let whole = if (order == Ordering::Greater) != or_equal { c.floor() } else { c.ceil() };
    Some(Outcome::Integers(converted.predicate(order, or_equal), whole as i128 as i64))
}

/// `sitofp x < 4.5` to `x < 5`: a float that has all values of the integer's type compares as they do.
pub(super) fn comparison_of_converted(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let found = (|| {
        let compare = rw.view::<CmpFOp<'_>>(op)?;
        let converted = Converted::of(rw, compare.lhs())?;
        let bits = exact_bits(rw.cx(), rw.body().ty(compare.lhs()))?;
        (converted.width - u32::from(converted.signed) <= bits).then_some(())?;
        let c = constant::float_value(rw.cx(), rw.op_ref(op).constant(compare.rhs())?)?;
        (!c.is_nan()).then(|| (converted, compare.predicate(), c, rw.body().ty(rw.body().result(op, 0))))
    })();
    let reason = "it does not compare an integer, all of whose values the float has, with a constant";
    let (converted, predicate, c, ty) = rw.require(op, found, reason)?;
    let (cx, loc, of) = (rw.cx(), rw.body().loc(op), rw.body().ty(converted.value));
    rw.set_before(op);
    let new = match outcome(&converted, predicate, c)? {
        Outcome::Always(holds) => {
            let value = constant::int(cx, ty, -i64::from(holds))?;
            ConstantOp::value(rw, loc, value)
        }
        Outcome::Integers(predicate, whole) => {
            let whole = constant::int(cx, of, whole)?;
            let whole = ConstantOp::value(rw, loc, whole);
            CmpIOp::value(rw, loc, predicate, converted.value, whole)
        }
    };
    rw.replace_op(op, &[new]);
    Some(())
}

//! Canonical forms.

use sutura_ir::op_def::{Canonicalize, OpView};
use sutura_ir::pattern::PatternSet;
use sutura_ir::{Op, Rewriter, Value};

use super::ops::ForOp;

impl Canonicalize for ForOp<'_> {
    fn patterns(set: &mut PatternSet) {
        set.add::<ForOp<'_>>("gir-for-without-trips", without_trips);
        set.add::<ForOp<'_>>("gir-for-of-one-trip", of_one_trip);
    }
}

/// How often a loop with constant bounds runs; the same value twice is no trip, whatever it is.
fn trips(this: ForOp<'_>) -> Option<i64> {
    if this.lo() == this.hi() {
        return Some(0);
    }
    let op = this.op_ref();
    let constant = |v| op.cx.as_int(op.constant(v)?);
    Some(constant(this.hi())?.saturating_sub(constant(this.lo())?).max(0))
}

fn without_trips(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let found: Option<Vec<Value>> = {
        let this = rw.view::<ForOp<'_>>(op)?;
        (trips(this) == Some(0)).then(|| this.inits().collect())
    };
    let inits = rw.require(op, found, "its bounds are not such that it runs no trip")?;
    rw.replace_op(op, &inits);
    Some(())
}

fn of_one_trip(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let found = (|| {
        let this = rw.view::<ForOp<'_>>(op).filter(|this| trips(*this) == Some(1))?;
        let args: Vec<Value> = std::iter::once(this.lo()).chain(this.inits()).collect();
        Some((this.body().entry()?.block, args))
    })();
    let (block, args) = rw.require(op, found, "its bounds are not constants that are one apart")?;
    let end = rw.body().last_op(block)?;
    rw.inline_block_before(block, op, &args);
    let results: Vec<Value> = rw.body().operands(end).collect();
    rw.erase_op(end);
    rw.replace_op(op, &results);
    Some(())
}

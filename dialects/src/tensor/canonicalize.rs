//! Canonicalization patterns of tensor operations.

use sutura_ir::op_def::Canonicalize;
use sutura_ir::pattern::PatternSet;
use sutura_ir::{DYNAMIC, Op, Rewriter};

use super::ops::{CastOp, DimOp};

impl Canonicalize for CastOp<'_> {
    fn patterns(set: &mut PatternSet) {
        set.add::<CastOp<'_>>("cast_of_cast", cast_of_cast);
    }
}

impl Canonicalize for DimOp<'_> {
    fn patterns(set: &mut PatternSet) {
        set.add::<DimOp<'_>>("dim_of_cast", dim_of_cast);
    }
}

/// `cast (cast x)` to `cast x`, where the type between says nothing that the others do not.
fn cast_of_cast(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let (input, ty) = {
        let cast = rw.view::<CastOp<'_>>(op)?;
        let inner = rw.def::<CastOp<'_>>(cast.source())?;
        let cx = rw.cx();
        let types = [inner.source(), cast.source(), cast.dest()].map(|v| rw.body().ty(v));
        let [first, middle, last] = types.map(|ty| cx.shape(ty));
        let (first, middle, last) = (first?, middle?, last?);
        // A static size in the middle must be one that an end states, or a check would be lost.
        let implied = middle.iter().enumerate().all(|(i, d)| *d == DYNAMIC || first[i] == *d || last[i] == *d);
        let fits = first.iter().zip(last).all(|(a, b)| a == b || *a == DYNAMIC || *b == DYNAMIC);
        (implied && fits).then_some((inner.source(), types[2]))?
    };
    let loc = rw.body().loc(op);
    rw.set_before(op);
    let new = CastOp::value(rw, loc, input, ty);
    rw.replace_op(op, &[new]);
    Some(())
}

/// `dim (cast x)` to `dim x`.
fn dim_of_cast(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let source = {
        let dim = rw.view::<DimOp<'_>>(op)?;
        let source = rw.def::<CastOp<'_>>(dim.source())?.source();
        // The rank must stay known where it was.
        rw.cx().shape(rw.body().ty(source)).map(|_| source)?
    };
    rw.set_operand(op, 0, source);
    Some(())
}

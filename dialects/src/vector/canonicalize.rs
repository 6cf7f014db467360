//! Canonicalization patterns of vector operations.

use sutura_ir::op_def::Canonicalize;
use sutura_ir::pattern::PatternSet;
use sutura_ir::{Op, Rewriter};

use super::ops::{ConstantMaskOp, CreateMaskOp};
use super::types::VectorShape;

impl Canonicalize for CreateMaskOp<'_> {
    fn patterns(set: &mut PatternSet) {
        set.add::<CreateMaskOp<'_>>("mask_of_constants", mask_of_constants);
    }
}

/// `create_mask` of constants to `constant_mask`, whose bounds lie inside the vector.
fn mask_of_constants(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let found = (|| {
        let this = rw.op_ref(op);
        let ty = this.ty(this.result(0));
        let shape = VectorShape::of(rw.cx(), ty);
        // A bound beyond a scalable dimension's minimum may still be inside it.
        (!shape.scalable.contains(&1)).then_some(())?;
        let sizes = if shape.rank() == 0 { vec![1] } else { shape.sizes };
        let bounds: Vec<i64> = this
            .operands()
            .zip(sizes)
            .map(|(v, size)| Some(rw.cx().as_int(this.constant(v)?)?.clamp(0, size)))
            .collect::<Option<_>>()?;
        Some((bounds, ty))
    })();
    let (bounds, ty) = rw.require(op, found, "a bound is no constant, or a dimension is scalable")?;
    let empty = bounds.contains(&0);
    let bounds: Vec<i64> = if empty { vec![0; bounds.len()] } else { bounds };
    let loc = rw.body().loc(op);
    rw.set_before(op);
    let mask = ConstantMaskOp::value(rw, loc, &bounds, ty);
    rw.replace_op(op, &[mask]);
    Some(())
}

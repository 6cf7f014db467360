//! Canonicalization patterns of tensor operations.

use sutura_ir::op_def::Canonicalize;
use sutura_ir::pattern::PatternSet;

use super::ops::DimOp;

impl Canonicalize for DimOp<'_> {
    fn patterns(set: &mut PatternSet) {
        set.add::<DimOp<'_>>("dim_of_reified", crate::shapes::dim_of_reified);
    }
}

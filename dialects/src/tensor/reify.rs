//! Casts and sizes.

use sutura_ir::interfaces::{CastLike, ReifyShapes};
use sutura_ir::name_of;
use sutura_ir::{Context, DYNAMIC, DialectBuilder, Type};

use super::verify::are_cast_compatible;
use crate::shapes::Sizes;
use crate::tensor::{
    CastOp, CollapseShapeOp, EmptyOp, ExpandShapeOp, ExtractSliceOp, GenerateOp, InsertOp, InsertSliceOp, SplatOp,
};

/// Attaches the hooks.
pub(super) fn register(d: &mut DialectBuilder<'_>) {
    d.op_interface::<CastOp<'_>, dyn CastLike>(&Cast);
    let sizes: &[(&'static str, &'static Sizes)] = &[
        (name_of::<CastOp<'_>>(), &Sizes::Like(0)),
        (name_of::<CollapseShapeOp<'_>>(), &Sizes::Collapsed),
        (name_of::<EmptyOp<'_>>(), &Sizes::Values(0)),
        (name_of::<ExpandShapeOp<'_>>(), &Sizes::List(1, "static_output_shape")),
        (name_of::<ExtractSliceOp<'_>>(), &Sizes::List(2, "static_sizes")),
        (name_of::<GenerateOp<'_>>(), &Sizes::Values(0)),
        (name_of::<InsertOp<'_>>(), &Sizes::Like(1)),
        (name_of::<InsertSliceOp<'_>>(), &Sizes::Like(1)),
        (name_of::<SplatOp<'_>>(), &Sizes::Values(1)),
    ];
    for (name, sizes) in sizes {
        d.interface::<dyn ReifyShapes>(name, *sizes);
    }
}

struct Cast;

impl CastLike for Cast {
    fn are_compatible(&self, cx: &Context, from: &[Type], to: &[Type]) -> bool {
        matches!((from, to), ([from], [to]) if are_cast_compatible(cx, *from, *to))
    }

    /// A static size in the middle must be one that an end states, or a check would be lost.
    fn may_skip(&self, cx: &Context, from: Type, middle: Type, to: Type) -> bool {
        let [Some(from), Some(middle), Some(to)] = [from, middle, to].map(|ty| cx.shape(ty)) else { return false };
        middle.iter().enumerate().all(|(i, d)| *d == DYNAMIC || from[i] == *d || to[i] == *d)
    }
}

//! Casts and sizes.

use sutura_ir::interfaces::{CastLike, ReifyShapes};
use sutura_ir::name_of;
use sutura_ir::{Context, DialectBuilder, Type, TypeData};

use super::verify::are_cast_compatible;
use crate::memref::{
    AllocOp, AllocaOp, AssumeAlignmentOp, CastOp, CollapseShapeOp, ExpandShapeOp, MemorySpaceCastOp, ReinterpretCastOp,
    SubViewOp, ViewOp,
};
use crate::shapes::Sizes;

/// Attaches the hooks.
pub(super) fn register(d: &mut DialectBuilder<'_>) {
    d.op_interface::<CastOp<'_>, dyn CastLike>(&Cast).op_interface::<MemorySpaceCastOp<'_>, dyn CastLike>(&SpaceCast);
    let sizes: &[(&'static str, &'static Sizes)] = &[
        (name_of::<AllocOp<'_>>(), &Sizes::Values(0)),
        (name_of::<AllocaOp<'_>>(), &Sizes::Values(0)),
        (name_of::<AssumeAlignmentOp<'_>>(), &Sizes::Like(0)),
        (name_of::<CastOp<'_>>(), &Sizes::Like(0)),
        (name_of::<CollapseShapeOp<'_>>(), &Sizes::Collapsed),
        (name_of::<ExpandShapeOp<'_>>(), &Sizes::List(1, "static_output_shape")),
        (name_of::<MemorySpaceCastOp<'_>>(), &Sizes::Like(0)),
        (name_of::<ReinterpretCastOp<'_>>(), &Sizes::List(2, "static_sizes")),
        (name_of::<SubViewOp<'_>>(), &Sizes::List(2, "static_sizes")),
        (name_of::<ViewOp<'_>>(), &Sizes::Values(2)),
    ];
    for (name, sizes) in sizes {
        d.interface::<dyn ReifyShapes>(name, *sizes);
    }
}

struct Cast;

impl CastLike for Cast {
    fn are_compatible(&self, cx: &Context, from: &[Type], to: &[Type]) -> bool {
        matches!((from, to), ([from], [to]) if from == to || are_cast_compatible(cx, *from, *to))
    }

    /// Nothing is checked, so that what was cast first has the last type too when it had it at the beginning.
    fn may_skip(&self, _: &Context, from: Type, _: Type, to: Type) -> bool {
        from == to
    }
}

struct SpaceCast;

impl CastLike for SpaceCast {
    fn are_compatible(&self, cx: &Context, from: &[Type], to: &[Type]) -> bool {
        let without_space = |ty: &Type| match cx.type_data(*ty) {
            TypeData::MemRef { shape, elem, layout, .. } => Some((Some((shape, layout)), elem)),
            TypeData::UnrankedMemRef { elem, .. } => Some((None, elem)),
            _ => None,
        };
        from.len() == 1 && from.iter().map(without_space).eq(to.iter().map(without_space))
    }

    fn may_skip(&self, _: &Context, _: Type, _: Type, _: Type) -> bool {
        true
    }
}

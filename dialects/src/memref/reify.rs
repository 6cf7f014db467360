//! Casts and sizes.

use sutura_ir::interfaces::{CastLike, ReifyShapes};
use sutura_ir::{Context, DialectBuilder, Type, TypeData};

use super::verify::are_cast_compatible;
use crate::shapes::Sizes;

/// Attaches the hooks.
pub(super) fn register(d: &mut DialectBuilder<'_>) {
    d.interface::<dyn CastLike>("memref.cast", &Cast).interface::<dyn CastLike>("memref.memory_space_cast", &SpaceCast);
    let sizes: &[(&'static str, &'static Sizes)] = &[
        ("memref.alloc", &Sizes::Values(0)),
        ("memref.alloca", &Sizes::Values(0)),
        ("memref.assume_alignment", &Sizes::Like(0)),
        ("memref.cast", &Sizes::Like(0)),
        ("memref.collapse_shape", &Sizes::Collapsed),
        ("memref.expand_shape", &Sizes::List(1, "static_output_shape")),
        ("memref.memory_space_cast", &Sizes::Like(0)),
        ("memref.reinterpret_cast", &Sizes::List(2, "static_sizes")),
        ("memref.subview", &Sizes::List(2, "static_sizes")),
        ("memref.view", &Sizes::Values(2)),
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

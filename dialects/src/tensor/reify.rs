//! Casts and sizes.

use sutura_ir::interfaces::{CastLike, ReifyShapes};
use sutura_ir::{Context, DYNAMIC, DialectBuilder, Type};

use super::verify::are_cast_compatible;
use crate::shapes::Sizes;

/// Attaches the hooks.
pub(super) fn register(d: &mut DialectBuilder<'_>) {
    d.interface::<dyn CastLike>("tensor.cast", &Cast);
    let sizes: &[(&'static str, &'static Sizes)] = &[
        ("tensor.cast", &Sizes::Like(0)),
        ("tensor.collapse_shape", &Sizes::Collapsed),
        ("tensor.empty", &Sizes::Values(0)),
        ("tensor.expand_shape", &Sizes::List(1, "static_output_shape")),
        ("tensor.extract_slice", &Sizes::List(2, "static_sizes")),
        ("tensor.generate", &Sizes::Values(0)),
        ("tensor.insert", &Sizes::Like(1)),
        ("tensor.insert_slice", &Sizes::Like(1)),
        ("tensor.splat", &Sizes::Values(1)),
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

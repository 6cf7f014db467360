//! What operands, results and attributes of `rt` operations must be.

use sutura_ir::op_def::AttrSyntax;
use sutura_ir::{attr_constraints, type_constraints};

use super::types::BufferType;
use crate::r#dyn::attr::{known_dims, shape_attr};
use crate::r#dyn::poly::Poly;

type_constraints! {
    /// Memory.
    pub AnyBuffer = "buffer", |cx, ty| BufferType::of(cx, ty).is_some();
}

attr_constraints! {
    /// Conjunctions of sizes that must not be negative, one for each guarded version.
    pub GuardsAttr = "array of #dyn.shape of known sizes", AttrSyntax::Plain;
    get |cx, attr| -> Vec<Vec<Poly>> { cx.array(attr)?.iter().map(|a| known_dims(cx, *a)).collect() }
    set |cx, value: &'a [Vec<Poly>]| {
        let guards: Vec<_> = value.iter().map(|g| shape_attr(cx, g)).collect();
        cx.array_attr(&guards)
    }
}

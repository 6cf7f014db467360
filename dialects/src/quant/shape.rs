//! Sizes of casts: those of the operand, which scales and blocks may say.

use sutura_ir::{DialectBuilder, OpRef};

use super::ops::{DequantizeCastOp, QuantizeCastOp, StorageCastOp};
use super::scheme::along;
use super::uniform;
use crate::r#dyn::Poly;
use crate::graph::shape_fn::{Inferred, Requirement, ShapeEnv, ShapeFn};

struct CastShape;

impl ShapeFn for CastShape {
    fn infer(&self, op: OpRef<'_>, env: &ShapeEnv) -> Inferred {
        let mut inferred = Inferred { contents: vec![None], ..Inferred::default() };
        let mut shape = op.operands().next().and_then(|input| env.shape(op, input)).unwrap_or_default();
        let types = op.operand_types().chain(op.result_types());
        for ty in types.filter_map(|ty| uniform(op.cx, ty)) {
            for (dim, (along, size)) in along(ty, shape.len()).unwrap_or_default().iter().zip(&mut shape).enumerate() {
                let Some(wanted) = along.size().map(Poly::constant) else { continue };
                if let Some(size) = size.take().filter(|size| *size != wanted) {
                    let what = format!("size of dimension {dim} and what its scales are for");
                    inferred.required.push(Requirement { lhs: size, rhs: wanted.clone(), what });
                }
                *size = Some(wanted);
            }
        }
        inferred.shapes.push(shape);
        inferred
    }
}

/// Attaches the shape function.
pub(super) fn register(d: &mut DialectBuilder<'_>) {
    d.op_interface::<DequantizeCastOp<'_>, dyn ShapeFn>(&CastShape);
    d.op_interface::<QuantizeCastOp<'_>, dyn ShapeFn>(&CastShape);
    d.op_interface::<StorageCastOp<'_>, dyn ShapeFn>(&CastShape);
}

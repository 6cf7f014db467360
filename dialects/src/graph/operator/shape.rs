//! Shapes of the results of an operator that is applied by name.

use sutura_ir::OpRef;

use super::super::shape_fn::{Inferred, ShapeEnv, ShapeFn};
use super::{Actual, ApplyOp, bind};
use crate::r#dyn::Facts;

/// The shape function of `graph.apply`. It knows what the environment knows of operators.
pub(super) struct ApplyShape;

impl ShapeFn for ApplyShape {
    fn infer(&self, op: OpRef<'_>, env: &ShapeEnv) -> Inferred {
        let Some(apply) = op.as_::<ApplyOp<'_>>() else { return Inferred::default() };
        let Some(operator) = env.operators.get(apply.callee()) else { return Inferred::default() };
        let actual =
            |value| Actual { elem: op.cx.element_type(op.ty(value)), shape: env.shape(op, value).unwrap_or_default() };
        let inputs: Vec<Actual> = op.operands().map(actual).collect();
        // Assumptions of this op alone, which whoever asks makes his own. Most operators compare no more than shapes.
        let mut facts = if operator.broadcasts() { env.facts.clone() } else { Facts::new() };
        let attributes = op.cx.entries(op.body.attrs(op.op));
        let Ok(binding) = bind(op.cx, operator, &inputs, attributes, &mut facts) else { return Inferred::default() };
        let shapes: Vec<_> = operator.results.iter().map(|result| binding.shape(operator, &result.sizes)).collect();
        let contents = vec![None; shapes.len()];
        Inferred { shapes, contents, required: binding.required, quotients: Vec::new() }
    }
}

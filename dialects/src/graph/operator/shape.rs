//! Shapes of the results of an operator that is applied by name.

use sutura_ir::OpRef;

use super::super::shape_fn::{Inferred, ShapeEnv, ShapeFn, SymShape};
use super::{Actual, ApplyOp, bind};
use crate::r#dyn::{Facts, Poly};

/// Whether it takes what is known of sizes to tell which dimensions are stretched, or which are equal: not where those that
/// stand over each other from the right are the same, or 1. Facts are many in a large model.
fn needs_facts(inputs: &[Actual]) -> bool {
    let Some(longest) = inputs.iter().map(|input| &input.shape).max_by_key(|shape| shape.len()) else { return false };
    let one = Some(Poly::constant(1));
    let plain = |shape: &SymShape| {
        let sizes = shape.iter().rev().zip(longest.iter().rev());
        sizes.into_iter().all(|(a, b)| a == b || *a == one)
    };
    !inputs.iter().all(|input| plain(&input.shape))
}

/// The shape function of `graph.apply`. It knows what the environment knows of operators.
pub(super) struct ApplyShape;

impl ShapeFn for ApplyShape {
    fn infer(&self, op: OpRef<'_>, env: &ShapeEnv) -> Inferred {
        let Some(apply) = op.as_::<ApplyOp<'_>>() else { return Inferred::default() };
        let Some(operator) = env.operators.get(apply.callee()) else { return Inferred::default() };
        let actual =
            |value| Actual { elem: op.cx.element_type(op.ty(value)), shape: env.shape(op, value).unwrap_or_default() };
        let inputs: Vec<Actual> = op.operands().map(actual).collect();
        // Assumptions of this op alone, which whoever asks makes his own.
        let mut facts = if needs_facts(&inputs) { env.facts.clone() } else { Facts::new() };
        let attributes = op.cx.entries(op.body.attrs(op.op));
        let Ok(binding) = bind(op.cx, operator, &inputs, attributes, &mut facts) else { return Inferred::default() };
        let shapes: Vec<_> = operator.results.iter().map(|result| binding.shape(operator, &result.sizes)).collect();
        let contents = vec![None; shapes.len()];
        Inferred { shapes, contents, required: binding.required, ..Inferred::default() }
    }
}

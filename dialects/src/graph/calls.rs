//! Sizes across calls, where the symbols of the function stand for sizes of the caller, and across casts.

use sutura_ir::{OpRef, OpView};

use super::shape_fn::{Inferred, Requirement, ShapeEnv, ShapeFn, SymShape};
use crate::func::CallOp;

pub(super) struct CallShape;

impl ShapeFn for CallShape {
    /// Sizes of results are those of the function, instantiated; what the function states of its sizes is needed. A function
    /// that is not known here says nothing.
    fn infer(&self, op: OpRef<'_>, env: &ShapeEnv) -> Inferred {
        let name = CallOp::from_ref(op).callee();
        let known = env.functions.get(name).filter(|signature| signature.states_sizes());
        let Some(signature) = known else { return Inferred::default() };
        let arguments: Vec<Option<SymShape>> = op.operands().map(|value| env.shape(op, value)).collect();
        let instance = signature.instance(&arguments);
        let needs = signature.needs(name, &instance, &arguments, &env.facts).into_iter();
        let required = needs.map(|need| Requirement { lhs: need.lhs, rhs: need.rhs, what: need.what }).collect();
        let instantiate = |shape: &Option<SymShape>| -> SymShape {
            let sizes = shape.iter().flatten();
            sizes.map(|size| size.as_ref().and_then(|size| instance.size(size))).collect()
        };
        let shapes = signature.results.iter().map(instantiate).collect();
        Inferred { shapes, required, ..Inferred::default() }
    }
}

pub(super) struct CastShape;

impl ShapeFn for CastShape {
    /// A cast changes what is said of sizes, not the sizes.
    fn infer(&self, op: OpRef<'_>, env: &ShapeEnv) -> Inferred {
        let shapes = env.shape(op, op.operand(0)).into_iter().collect();
        Inferred { shapes, ..Inferred::default() }
    }
}

//! The constant factor of a product.

use sutura_dialects::graph::{ComputeForm, ReshapeOp, SizeOp, SliceOp, maps};
use sutura_ir::registry::constant_of;
use sutura_ir::{Body, Context, OpRef, Type, Value};

/// Elementwise ops through which a constant is followed.
const MAX_DEPTH: usize = 8;

/// A product's constant factor.
pub(super) struct Weights {
    /// Its number among the inputs.
    pub(super) input: usize,
    pub(super) value: Value,
    /// For each dimension of the product's result the one of the weights that runs with it.
    pub(super) runs_with: Vec<Option<usize>>,
}

impl Weights {
    /// # Errors
    /// Why there is none.
    pub(super) fn of(form: &ComputeForm<'_>) -> Result<Self, &'static str> {
        let (view, cx) = (form.op, form.op.cx);
        let is_constant = |i: &usize| is_constant(cx, view.body, view.operand(*i)) && form.oob[*i].is_none();
        let mut constants = (0..2).filter(is_constant);
        let input = constants.next().ok_or("none of its factors is a constant")?;
        if constants.next().is_some() {
            return Err("both of its factors are constants");
        }
        let own = cx.map_results(form.input_maps[input]);
        let runs_with = cx
            .map_results(form.result_maps[0])
            .iter()
            .map(|expr| {
                let iterator = maps::plain_dim(cx, *expr)?;
                own.iter().position(|own| maps::plain_dim(cx, *own) == Some(iterator))
            })
            .collect();
        Ok(Self { input, value: view.operand(input), runs_with })
    }

    /// # Errors
    /// Why scaled ones would not pay.
    pub(super) fn may_be_scaled(&self, view: OpRef<'_>, elem: Type) -> Result<(), &'static str> {
        let (cx, body) = (view.cx, view.body);
        if !body.has_one_use(self.value) {
            return Err("something else reads its weights, which would be stored twice");
        }
        let mut pending = vec![self.value];
        while let Some(value) = pending.pop() {
            if cx.element_type(body.ty(value)) != elem {
                return Err("its weights are stored in another type than they are computed in");
            }
            if let Some(op) = body.defining_op(value) {
                pending.extend(body.operands(op));
            }
        }
        Ok(())
    }
}

/// True for a constant, and for what is made of constants alone without sums: kernels that the compiler runs.
pub(super) fn is_constant(cx: &Context, body: &Body, value: Value) -> bool {
    is_made_of_constants(cx, body, value, MAX_DEPTH)
}

fn is_made_of_constants(cx: &Context, body: &Body, value: Value, depth: usize) -> bool {
    if constant_of(body, cx, value).is_some() {
        return true;
    }
    let Some(op) = body.defining_op(value).map(|op| OpRef::new(cx, body, op)).filter(|_| depth > 0) else {
        return false;
    };
    let plain = op.is::<ReshapeOp<'_>>()
        || op.is::<SliceOp<'_>>()
        || ComputeForm::of(op).is_some_and(|form| !form.has_reduction() && !has_size(op));
    let known = cx.shape(op.ty(value)).is_some_and(|sizes| sizes.iter().all(|size| *size >= 0));
    plain && known && op.operands().all(|v| is_made_of_constants(cx, body, v, depth - 1))
}

/// Whether a body computes with sizes, which a run tells.
fn has_size(op: OpRef<'_>) -> bool {
    let mut found = false;
    op.walk(&mut |inner| found |= inner.is::<SizeOp<'_>>());
    found
}

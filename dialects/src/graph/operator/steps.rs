//! Loops in the body of an operator, and ops that are taken as they are: what moves elements from one step to the next.

use sutura_ir::types::TypeData;
use sutura_ir::{Context, Diagnostic, Loc, OpRef, OpState, OpView, Traits, Type, Value};

use super::super::build::{Built, GraphBuilder};
use super::super::ops::SliceOp;
use super::lift::{Lifter, Site, sizes};
use crate::r#dyn::attr::{symbolic_shape, tensor_of};
use crate::scf::{ForOp, YieldOp};
use crate::tensor::CastOp;

/// Ops on tensors that may stand in a body as they are: sizes and element types are all that differs where they are lifted.
const MOVES: &[&str] =
    &["graph.concat", "graph.gather", "graph.scatter", "graph.slice", "tensor.dim", "tensor.from_elements"];

/// An integer or an index: what loops count with.
pub(super) fn is_number(cx: &Context, ty: Type) -> bool {
    ty == Type::INDEX || matches!(cx.type_data(ty), TypeData::Integer { .. })
}

/// Whether an op that is no structured one may stand in the body of an operator.
///
/// # Errors
/// Says why it cannot.
pub(super) fn may_stand(op: OpRef<'_>) -> Result<(), Diagnostic> {
    if let Some(this) = op.as_::<ForOp<'_>>() {
        return counts(op, this);
    }
    if op.is::<YieldOp<'_>>() {
        return Ok(());
    }
    let name = op.name_str();
    if MOVES.contains(&name) {
        return match () {
            () if op.regions().len() > 0 => {
                Err(op.error("has a region, which has no place in the body of an operator"))
            }
            () if name == "tensor.from_elements" && !op.operand_types().all(|ty| is_number(op.cx, ty)) => {
                Err(op.error("makes a tensor of something else than integers").help("'graph.compute' does"))
            }
            () if op.as_::<SliceOp<'_>>().is_some_and(|slice| slice.bounds().next().is_some()) => {
                let error = op.error("cuts at places that are no attributes, so its size has no name");
                Err(error.help("'graph.gather' and 'graph.scatter' reach what belongs to one step of a loop"))
            }
            () => Ok(()),
        };
    }
    let counts = || op.operand_types().chain(op.result_types()).all(|ty| is_number(op.cx, ty));
    if name.starts_with("arith.") && op.has_trait(Traits::Pure) && counts() {
        return Ok(());
    }
    Err(op.error("cannot stand in the body of an operator").help(format!(
        "what can: 'graph.compute', 'graph.apply', 'graph.reshape' without a shape operand, 'scf.for', {}, and 'arith' on \
         integers",
        MOVES.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ")
    )))
}

/// A loop that ends, and that carries tensors whose sizes have names, or integers.
fn counts(op: OpRef<'_>, this: ForOp<'_>) -> Result<(), Diagnostic> {
    match op.constant(this.step()).and_then(|step| op.cx.as_int(step)) {
        Some(1..) => {}
        Some(step) => return Err(op.error(format_args!("has the step {step}; it must be greater than 0"))),
        None => return Err(op.error("has a step that is no constant, so nothing says that it is greater than 0")),
    }
    match op.result_types().find(|ty| !is_number(op.cx, *ty) && symbolic_shape(op.cx, *ty).is_none()) {
        Some(ty) => {
            let ty = crate::show::ty(op.cx, ty);
            Err(op.error(format_args!(
                "carries a value of type {ty}; a loop of an operator carries tensors and integers"
            )))
        }
        None => Ok(()),
    }
}

impl Lifter<'_> {
    /// The type that stands for `ty`, of a value of `op`.
    fn ty(&self, op: OpRef<'_>, value: Value) -> Type {
        let (cx, ty) = (op.cx, op.ty(value));
        let retyped = |ty| self.operator.retyped(cx, ty, self.binding.elem);
        match symbolic_shape(cx, ty) {
            Some(_) => {
                tensor_of(cx, &self.binding.shape(self.operator, &sizes(op, value)), retyped(cx.element_type(ty)))
            }
            None => retyped(ty),
        }
    }

    /// Lifts an op that is taken as it is.
    pub(super) fn take(&mut self, g: &mut GraphBuilder<'_, '_>, op: OpRef<'_>) -> Built<()> {
        let mut state = OpState::new(op.name(), g.loc);
        for value in op.operands() {
            state.operands.push(self.value(value)?);
        }
        state.result_types.extend(op.results().map(|result| self.ty(op, result)));
        state.props.extend(op.cx.entries(op.body.props(op.op)).iter().copied());
        let made = g.b.create(state);
        let made: Vec<Value> = g.b.body().results(made).collect();
        self.values.extend(op.results().zip(made));
        Ok(())
    }

    /// Lifts a loop.
    pub(super) fn repeat(
        &mut self,
        g: &mut GraphBuilder<'_, '_>,
        this: ForOp<'_>,
        site: &mut Site<'_, '_, '_>,
    ) -> Built<()> {
        let op = this.op_ref();
        let [lower, upper, step] =
            [self.value(this.lower_bound())?, self.value(this.upper_bound())?, self.value(this.step())?];
        // What is carried has the same type in each iteration: the one that its sizes give.
        let types: Vec<Type> = op.results().map(|result| self.ty(op, result)).collect();
        let first = this.init_args().map(|value| self.value(value)).collect::<Built<Vec<Value>>>()?;
        let first = typed(g, first, &types);
        let made = ForOp::build(g.b, g.loc, lower, upper, step, &first, &types);
        let region = g.b.body().regions(made).next().expect("a loop has a region");
        let args: Vec<(Type, Loc)> =
            std::iter::once(g.b.body().ty(lower)).chain(types.iter().copied()).map(|ty| (ty, g.loc)).collect();
        let point = g.b.insert_point();
        let block = g.b.create_block(region, &args);
        g.b.set_to_end(block);
        let args = g.b.body().block_args(block).to_vec();
        if let Some(inside) = this.region().entry() {
            self.values.extend(inside.args().iter().copied().zip(args));
            let next = self.block(g, inside, site)?;
            let next = typed(g, next, &types);
            YieldOp::build(g.b, g.loc, &next);
        }
        g.b.set_insert_point(point);
        let results: Vec<Value> = g.b.body().results(made).collect();
        self.values.extend(op.results().zip(results));
        Ok(())
    }
}

/// The values with these types.
fn typed(g: &mut GraphBuilder<'_, '_>, values: Vec<Value>, types: &[Type]) -> Vec<Value> {
    let each = values.into_iter().zip(types);
    each.map(|(value, ty)| if g.b.body().ty(value) == *ty { value } else { CastOp::value(g.b, g.loc, value, *ty) })
        .collect()
}

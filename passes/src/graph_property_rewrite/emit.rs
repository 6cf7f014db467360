//! Expressions as ops.

use std::rc::Rc;

use sutura_dialects::graph::build::{ComputeInput, scalar};
use sutura_dialects::graph::{ComputeForm, ComputeOp};
use sutura_ir::affine::AffineExpr;
use sutura_ir::{Attr, Block, Loc, Op, OpRef, OpState, Rewriter, Value};

use super::expr::{Element, Expr, Kind};

/// Elements as numbers in the body of an op.
pub(crate) trait Inputs {
    /// The number; an input is added for it if none reads it.
    fn read(&mut self, rw: &mut Rewriter<'_>, element: &Element) -> Value;
    /// Whether the values that expressions name as `here` are in this body.
    fn has_values(&self) -> bool;
}

/// Inputs of an op that exists.
pub(crate) struct Grown {
    pub(crate) op: Op,
    pub(crate) block: Block,
}

impl Inputs for Grown {
    fn read(&mut self, rw: &mut Rewriter<'_>, (tensor, index): &Element) -> Value {
        let cx = rw.cx();
        let view = OpRef::new(cx, rw.body(), self.op);
        let form = ComputeForm::of(view).expect("the op has been read");
        let map = cx.affine_map(form.iterators.len() as u32, 0, index);
        let same = |i: &usize| view.operand(*i) == *tensor && form.input_maps[*i] == map && form.oob[*i].is_none();
        if let Some(input) = (0..view.num_operands()).find(same) {
            return form.body.args()[input];
        }
        let mut operands: Vec<Value> = view.operands().collect();
        let mut maps: Vec<Attr> = form.input_maps.iter().map(|m| cx.affine_map_attr(*m)).collect();
        maps.push(cx.affine_map_attr(map));
        maps.extend(form.result_maps.iter().map(|m| cx.affine_map_attr(*m)));
        let mut oob: Vec<Attr> = view.as_::<ComputeOp<'_>>().map(|c| c.oob().to_vec()).unwrap_or_default();
        let (elem, loc) = (cx.element_type(view.ty(*tensor)), view.loc());
        operands.push(*tensor);
        if !oob.is_empty() {
            oob.push(Attr::UNIT);
            rw.set_prop(self.op, "oob", Some(cx.array_attr(&oob)));
        }
        rw.set_prop(self.op, "maps", Some(cx.array_attr(&maps)));
        rw.set_operands(self.op, &operands);
        rw.add_block_arg(self.block, elem, loc)
    }

    fn has_values(&self) -> bool {
        true
    }
}

/// Inputs of an op that is being made: the elements that it reads, and their numbers.
pub(super) struct Given {
    pub(super) elements: Vec<Element>,
    pub(super) args: Vec<Value>,
}

impl Given {
    /// The elements of which `expr` is made.
    pub(super) fn collect(elements: &mut Vec<Element>, expr: &Expr) {
        match (&expr.stored, &expr.kind) {
            (Some(element), _) | (None, Kind::Read(element)) => {
                if !elements.contains(element) {
                    elements.push(element.clone());
                }
            }
            (None, Kind::Op(_, args)) => args.iter().for_each(|arg| Self::collect(elements, arg)),
            (None, Kind::Const(_) | Kind::Opaque(_)) => {}
        }
    }

    /// As inputs, at other indices.
    pub(super) fn inputs(
        elements: &[Element],
        index: &dyn Fn(&[AffineExpr]) -> Option<Vec<AffineExpr>>,
    ) -> Option<Vec<ComputeInput>> {
        elements.iter().map(|(value, at)| Some(ComputeInput { value: *value, index: index(at)?, oob: None })).collect()
    }
}

impl Inputs for Given {
    fn read(&mut self, _: &mut Rewriter<'_>, element: &Element) -> Value {
        let at = self.elements.iter().position(|e| e == element).expect("all were collected");
        self.args[at]
    }

    fn has_values(&self) -> bool {
        false
    }
}

/// Makes the ops of `expr` at the insertion point.
pub(super) fn emit(rw: &mut Rewriter<'_>, loc: Loc, inputs: &mut dyn Inputs, expr: &Expr) -> Value {
    emit_with(rw, loc, inputs, expr, &mut Vec::new())
}

/// The same; `made` has the numbers that are computed once for more than one place.
fn emit_with(
    rw: &mut Rewriter<'_>,
    loc: Loc,
    inputs: &mut dyn Inputs,
    expr: &Expr,
    made: &mut Vec<(Rc<()>, Value)>,
) -> Value {
    if let Some(value) = expr.here.filter(|_| inputs.has_values()) {
        return value;
    }
    if let Some(element) = &expr.stored {
        return inputs.read(rw, element);
    }
    if let Some((_, value)) = made.iter().find(|(once, _)| expr.is_the_same_one(once)) {
        return *value;
    }
    match &expr.kind {
        Kind::Read(element) => inputs.read(rw, element),
        Kind::Opaque(value) => *value,
        Kind::Const(value) => scalar::constant(rw, loc, *value, expr.ty),
        Kind::Op(name, args) => {
            let operands: Vec<Value> = args.iter().map(|arg| emit_with(rw, loc, inputs, arg, made)).collect();
            let cx = rw.cx();
            let mut state = OpState::new(cx.op_name(name), loc).operands(operands).results([expr.ty]);
            if !expr.flags.is_none() {
                state = state.prop(cx.ident("fastmath"), cx.ext_attr(expr.flags));
            }
            let op = rw.create(state);
            let value = rw.body().result(op, 0);
            made.extend(expr.once.clone().map(|once| (once, value)));
            value
        }
    }
}

//! What regions pass to each other, as tensors.

use sutura_dialects::arith::IndexCastOp;
use sutura_dialects::graph::ConstantOp;
use sutura_dialects::scf::{ConditionOp, IfOp, WhileOp, YieldOp};
use sutura_dialects::tensor::{ExtractOp, FromElementsOp};
use sutura_ir::{Context, Op, OpRef, OpView, Rewriter, Type, Value};

/// Converts all conditions and loops of the body; how many values changed their type.
pub(super) fn convert(rw: &mut Rewriter<'_>) -> u64 {
    let ops: Vec<Op> = rw.body().preorder().collect();
    let mut changed = 0;
    for op in ops {
        let view = rw.op_ref(op);
        let (is_loop, is_if) = (view.is::<WhileOp<'_>>(), view.is::<IfOp<'_>>());
        if view.is::<ConditionOp<'_>>() {
            decide(rw, op);
            changed += wrap(rw, op, 1);
        } else if view.is::<YieldOp<'_>>() && view.parent().is_some_and(|p| p.is::<IfOp<'_>>() || p.is::<WhileOp<'_>>())
        {
            changed += wrap(rw, op, 0);
        } else if is_loop || is_if {
            if is_if {
                decide(rw, op);
            } else {
                changed += wrap(rw, op, 0);
            }
            for block in rw.body().regions(op).filter_map(|r| rw.body().region_entry(r)).collect::<Vec<_>>() {
                for arg in rw.body().block_args(block).to_vec() {
                    match rw.body().first_op(block) {
                        Some(first) => rw.set_before(first),
                        None => rw.set_to_end(block),
                    }
                    changed += unwrap(rw, arg);
                }
            }
            for result in rw.body().results(op).collect::<Vec<_>>() {
                rw.set_after(op);
                changed += unwrap(rw, result);
            }
        }
    }
    changed
}

/// The element of the tensor that stands for a number, where it is one.
fn element(cx: &Context, ty: Type) -> Option<Type> {
    match ty {
        Type::INDEX => Some(Type::I64),
        _ => (ty.is_integer(cx) || ty.is_float(cx)).then_some(ty),
    }
}

/// Hands on tensors from the operand of this number on.
fn wrap(rw: &mut Rewriter<'_>, op: Op, first: usize) -> u64 {
    let cx = rw.cx();
    let operands: Vec<Value> = rw.body().operands(op).collect();
    let mut changed = 0;
    for (i, value) in operands.into_iter().enumerate().skip(first) {
        let ty = rw.body().ty(value);
        let Some(elem) = element(cx, ty) else { continue };
        rw.set_before(op);
        let tensor = tensor(rw, op, value, elem);
        rw.set_operand(op, i, tensor);
        changed += 1;
    }
    changed
}

/// A tensor of rank 0 of a number: the one from which it was read, a constant, or one made where the builder stands.
pub(crate) fn tensor(rw: &mut Rewriter<'_>, at: Op, value: Value, elem: Type) -> Value {
    let (cx, loc) = (rw.cx(), rw.body().loc(at));
    if let Some(known) = read_from(rw.op_ref(at), value, elem) {
        return known;
    }
    let constant = rw.op_ref(at).constant(value).and_then(|value| match cx.as_int(value) {
        Some(int) if !elem.is_float(cx) => cx.splat_attr(cx.tensor_type(&[], elem, None), cx.int_attr(int, elem)),
        _ => cx.splat_attr(cx.tensor_type(&[], elem, None), value),
    });
    if let Some(constant) = constant {
        return ConstantOp::value(rw, loc, constant);
    }
    let cast = rw.body().ty(value) != elem;
    let value = if cast { IndexCastOp::value(rw, loc, value, elem) } else { value };
    FromElementsOp::value(rw, loc, &[value], cx.tensor_type(&[], elem, None))
}

/// The tensor of rank 0 whose element a number is, as it is or as an index.
fn read_from(at: OpRef<'_>, value: Value, elem: Type) -> Option<Value> {
    let op = at.at(at.body.defining_op(value)?);
    let op = match op.as_::<IndexCastOp<'_>>() {
        Some(cast) => at.at(at.body.defining_op(cast.op_ref().operand(0))?),
        None => op,
    };
    let read = op.as_::<ExtractOp<'_>>().filter(|read| read.op_ref().num_operands() == 1)?;
    let same = at.cx.element_type(at.ty(read.tensor())) == elem && at.cx.shape(at.ty(read.tensor()))?.is_empty();
    same.then(|| read.tensor())
}

/// Makes an argument or a result a tensor, of which its users get the element.
fn unwrap(rw: &mut Rewriter<'_>, value: Value) -> u64 {
    let cx = rw.cx();
    let ty = rw.body().ty(value);
    let Some(elem) = element(cx, ty) else { return 0 };
    let loc = rw.body().value_loc(value);
    rw.set_type(value, cx.tensor_type(&[], elem, None));
    let read = ExtractOp::build(rw, loc, value, &[]);
    let number = rw.body().result(read, 0);
    let number = if elem == ty { number } else { IndexCastOp::value(rw, loc, number, ty) };
    rw.replace_all_uses(value, number);
    rw.set_operand(read, 0, value);
    1
}

/// What decides is the element of a tensor.
fn decide(rw: &mut Rewriter<'_>, op: Op) {
    let condition = rw.body().operand(op, 0);
    let read = rw.body().defining_op(condition).map(|o| rw.op_ref(o));
    // Read where it decides, so that a region does not depend on a number around it.
    let here = read.is_some_and(|read| rw.body().op_block(read.op) == rw.body().op_block(op));
    if here && read.is_some_and(|read| read.is::<ExtractOp<'_>>() && read.num_operands() == 1) {
        return;
    }
    rw.set_before(op);
    let tensor = tensor(rw, op, condition, Type::I1);
    let loc = rw.body().loc(op);
    let read = ExtractOp::build(rw, loc, tensor, &[]);
    let condition = rw.body().result(read, 0);
    rw.set_operand(op, 0, condition);
}

//! Constants that are computed from constants, in the interpreter.

use sutura_dialects::func::{FuncOp, ReturnOp};
use sutura_dialects::graph::ShapeEnv;
use sutura_dialects::graph::build::GraphBuilder;
use sutura_interp::Interpreter;
use sutura_ir::rewriter::IrMapping;
use sutura_ir::{Attr, Body, Builder, Context, Loc, Module, OpRef, OpState, Rewriter, Type, Value};

const MAIN: &str = "main";

/// The elements of the tensors that `build` makes of copies of `inputs`, which are made of constants alone; `None` where they
/// cannot be computed.
pub(crate) fn evaluate(
    cx: &Context,
    from: &Body,
    inputs: &[Value],
    build: impl FnOnce(&mut GraphBuilder<'_, '_>, &[Value]) -> Vec<Value>,
) -> Option<Vec<Attr>> {
    let mut body = Box::new(Body::new(1));
    let region = body.region();
    let mut rw = Rewriter::new(cx, &mut body);
    let block = rw.create_block(region, &[]);
    rw.set_to_end(block);
    let mut copies = IrMapping::new();
    let inputs = inputs.iter().map(|input| copy(cx, from, *input, &mut copies, &mut rw));
    let inputs = inputs.collect::<Option<Vec<_>>>()?;
    let made = build(&mut GraphBuilder::new(&mut rw, ShapeEnv::default(), Loc::UNKNOWN), &inputs);
    ReturnOp::build(&mut rw, Loc::UNKNOWN, &made);
    let types: Vec<Type> = made.iter().map(|value| rw.body().ty(*value)).collect();
    let mut module = Module::new(cx, Loc::UNKNOWN);
    let block = module.body().entry_block()?;
    let mut b = Builder::at_end(cx, module.body_mut(), block);
    let ty = cx.function_type(&[], &types);
    let state: OpState = FuncOp::state(&b, Loc::UNKNOWN, MAIN, ty, None, None, None);
    b.create_isolated(state, body);
    let values = Interpreter::new(cx, &module).call(MAIN, &[]).ok()?;
    let elements = |(value, ty): (sutura_interp::Value, &Type)| {
        let value = value.tensor().ok()?.data().clone();
        let words = (0..value.len()).map(|i| Some(value.get(i)?.bits())).collect::<Option<Vec<u64>>>()?;
        cx.dense_attr(*ty, &words)
    };
    values.into_iter().zip(&types).map(elements).collect()
}

/// Copies what makes `value`.
fn copy(cx: &Context, from: &Body, value: Value, copies: &mut IrMapping, to: &mut Rewriter<'_>) -> Option<Value> {
    if let Some(copy) = copies.get(value) {
        return Some(copy);
    }
    let op = OpRef::new(cx, from, from.defining_op(value)?);
    for operand in op.operands() {
        copy(cx, from, operand, copies, to)?;
    }
    copies.clone_op(op, to).ok()?;
    copies.get(value)
}

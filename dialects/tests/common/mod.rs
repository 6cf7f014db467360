//! Building and running small functions.
#![allow(dead_code)]

use sutura_dialects::{arith, func};
use sutura_interp::{InterpError, Interpreter, Value};
use sutura_ir::{Builder, Context, Loc, Module, Type, Value as Ssa};

pub(crate) const AT: Loc = Loc::UNKNOWN;

/// Adds `@name`; `fill` returns what the function returns.
pub(crate) fn define(
    b: &mut Builder<'_>,
    name: &str,
    inputs: &[Type],
    results: &[Type],
    fill: impl FnOnce(&mut Builder<'_>, &[Ssa]) -> Vec<Ssa>,
) {
    func::FuncOp::define(b, AT, name, inputs, results, |b| {
        let args = b.body().block_args(b.body().entry_block().unwrap()).to_vec();
        let values = fill(b, &args);
        func::ReturnOp::build(b, AT, &values);
    });
}

pub(crate) fn module(cx: &Context, fill: impl FnOnce(&mut Builder<'_>)) -> Module {
    let mut module = Module::new(cx, AT);
    let block = module.body().entry_block().unwrap();
    fill(&mut Builder::at_end(cx, module.body_mut(), block));
    module
}

/// Runs a function of one block on some arguments.
pub(crate) fn run(
    cx: &Context,
    inputs: &[Type],
    results: &[Type],
    args: &[Value],
    fill: impl FnOnce(&mut Builder<'_>, &[Ssa]) -> Vec<Ssa>,
) -> Result<Vec<Value>, InterpError> {
    let m = module(cx, |b| define(b, "main", inputs, results, fill));
    Interpreter::new(cx, &m).call("main", args)
}

pub(crate) fn context() -> Context {
    Context::new(sutura_dialects::all())
}

pub(crate) fn int(b: &mut Builder<'_>, value: i64, ty: Type) -> Ssa {
    let value = b.cx().int_attr(value, ty);
    arith::ConstantOp::value(b, AT, value)
}

pub(crate) fn ints(values: Vec<Value>) -> Vec<i64> {
    values.iter().map(|v| v.as_int().unwrap()).collect()
}

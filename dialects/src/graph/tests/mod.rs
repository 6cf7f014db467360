//! Tests of the dialect: what is built verifies, runs as NumPy would, and is refused where it is wrong.

mod run;
mod shapes;
mod slices;
mod verify;

use sutura_interp::{Interpreter, Tensor, Value as Data};
use sutura_ir::verify::VerifyOptions;
use sutura_ir::{Body, Builder, Context, Diagnostics, Loc, Module, OpState, Rewriter, Type, Value};

use super::build::{Built, GraphBuilder};
use super::shape_fn::ShapeEnv;
use crate::r#dyn::attr::tensor_of;
use crate::r#dyn::{Facts, Poly};
use crate::func::{FuncOp, ReturnOp};

pub(super) fn context() -> Context {
    Context::new(crate::all())
}

/// `tensor<…>` of sizes given as text, `?` for an unknown one.
pub(super) fn tensor(cx: &Context, sizes: &[&str], elem: Type) -> Type {
    let size = |text: &&str| (*text != "?").then(|| Poly::parse(text).expect("a size"));
    tensor_of(cx, &sizes.iter().map(size).collect::<Vec<_>>(), elem)
}

/// A module with `func.func @main`, whose body `fill` builds and whose results it returns.
pub(super) fn module(
    cx: &Context,
    inputs: &[Type],
    fill: impl FnOnce(&mut GraphBuilder<'_, '_>, &[Value]) -> Built<Vec<Value>>,
) -> Module {
    let mut body = Box::new(Body::new(1));
    let region = body.region();
    let mut rw = Rewriter::new(cx, &mut body);
    let args: Vec<(Type, Loc)> = inputs.iter().map(|ty| (*ty, Loc::UNKNOWN)).collect();
    let block = rw.create_block(region, &args);
    rw.set_to_end(block);
    let args: Vec<Value> = rw.body().block_args(block).to_vec();
    let mut g = GraphBuilder::new(&mut rw, ShapeEnv::new(Facts::new()), Loc::UNKNOWN);
    let results = fill(&mut g, &args).expect("shapes fit");
    ReturnOp::build(&mut rw, Loc::UNKNOWN, &results);
    let types: Vec<Type> = results.iter().map(|v| rw.body().ty(*v)).collect();
    let mut module = Module::new(cx, Loc::UNKNOWN);
    let block = module.body().entry_block().expect("a module has a block");
    let mut b = Builder::at_end(cx, module.body_mut(), block);
    let ty = cx.function_type(inputs, &types);
    let state: OpState = FuncOp::state(&b, Loc::UNKNOWN, "main", ty, None, None, None);
    b.create_isolated(state, body);
    module
}

/// What the verifier says.
pub(super) fn errors(cx: &Context, module: &Module) -> Vec<String> {
    let mut diags = Diagnostics::default();
    let _ = sutura_ir::verify::verify(module.op_ref(cx), VerifyOptions::default(), &mut diags);
    diags.iter().map(|d| d.message.clone()).collect()
}

/// Verifies and runs `@main`.
pub(super) fn run(cx: &Context, module: &Module, args: &[Tensor]) -> Vec<Tensor> {
    assert_eq!(errors(cx, module), [""; 0]);
    let args: Vec<Data> = args.iter().cloned().map(Data::Tensor).collect();
    let results = Interpreter::new(cx, module).call("main", &args).unwrap_or_else(|e| panic!("{e:?}"));
    results.into_iter().map(|v| v.tensor().expect("a tensor").clone()).collect()
}

pub(super) fn floats(shape: &[usize], values: &[f32]) -> Tensor {
    Tensor::from_f32(values.to_vec(), shape).expect("the elements fill the shape")
}

/// `0, 1, 2, …`
pub(super) fn count(shape: &[usize]) -> Tensor {
    let n = shape.iter().product::<usize>();
    floats(shape, &(0..n).map(|i| i as f32).collect::<Vec<_>>())
}

pub(super) fn ints(values: &[i64]) -> Tensor {
    Tensor::from_i64(values.to_vec(), &[values.len()]).expect("the elements fill the shape")
}

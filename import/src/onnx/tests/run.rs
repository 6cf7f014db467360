//! The models in `examples/`, imported and interpreted, against what onnxruntime computed.

use std::path::Path;

use sutura_interp::{Interpreter, Tensor, Value};
use sutura_ir::pass::{Event, PassRegistry, RunConfig, parse_pipeline, run_pipeline};
use sutura_ir::verify::{VerifyOptions, verify};
use sutura_ir::{Context, Diagnostics, Module, OpRef, Severity};
use sutura_runtime::npy;

use super::examples::path;
use crate::onnx::{NAME, OnnxModel, import};

const TOLERANCE: f32 = 2e-5;

fn imported(cx: &Context, name: &str) -> Module {
    let model = OnnxModel::read(&path(name)).unwrap_or_else(|e| panic!("{name}: {e}"));
    let mut diags = Diagnostics::default();
    let module = import(cx, &model, &mut diags).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert!(diags.is_empty(), "{name}: {diags:?}");
    check(cx, &module);
    module
}

fn check(cx: &Context, module: &Module) {
    let mut diags = Diagnostics::default();
    let verified = verify(module.op_ref(cx), VerifyOptions::default(), &mut diags);
    assert!(verified.is_ok(), "{:?}", diags.iter().map(|d| &d.message).collect::<Vec<_>>());
}

fn main_function<'a>(cx: &'a Context, module: &'a Module) -> OpRef<'a> {
    let block = module.body().entry_block().unwrap();
    OpRef::new(cx, module.body(), module.body().first_op(block).unwrap())
}

/// The model's names of arguments (`arg_attrs`) or results (`res_attrs`).
fn names(cx: &Context, module: &Module, which: &str) -> Vec<String> {
    let attrs = main_function(cx, module).prop(which).unwrap();
    let name = |dict: &_| cx.as_str(cx.entry(*dict, cx.ident(NAME)).unwrap()).unwrap().to_string();
    cx.array(attrs).unwrap().iter().map(name).collect()
}

fn stored(file: &Path) -> Tensor {
    let tensor = npy::read(file).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
    let shape: Vec<usize> = tensor.dims().iter().map(|d| *d as usize).collect();
    match (tensor.as_slice::<f32>(), tensor.as_slice::<i64>()) {
        (Some(values), _) => Tensor::from_f32(values.to_vec(), &shape).unwrap(),
        (_, Some(values)) => Tensor::from_i64(values.to_vec(), &shape).unwrap(),
        _ => panic!("{}: neither f32 nor i64", file.display()),
    }
}

/// Runs `@main` on the inputs in `folder` and compares with the outputs there.
fn run(cx: &Context, module: &Module, folder: &Path) {
    let file = |name: &String| folder.join(format!("{name}.npy"));
    let args: Vec<Value> = names(cx, module, "arg_attrs").iter().map(|n| Value::Tensor(stored(&file(n)))).collect();
    let results = Interpreter::new(cx, module).call("main", &args).unwrap_or_else(|e| panic!("{e:?}"));
    let outputs = names(cx, module, "res_attrs");
    assert_eq!(results.len(), outputs.len());
    for (name, result) in outputs.iter().zip(results) {
        let (got, want) = (result.tensor().unwrap().clone(), stored(&file(name)));
        assert_eq!(got.shape(), want.shape(), "{}", folder.display());
        let (got, want) = (got.data().as_f32().unwrap(), want.data().as_f32().unwrap());
        let worst = got.iter().zip(want).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(worst <= TOLERANCE, "{}: {name} differs by {worst}", folder.display());
    }
}

fn run_all(cx: &Context, module: &Module, name: &str, cases: &[&str]) {
    let folder = path(name);
    cases.iter().for_each(|case| run(cx, module, &folder.with_file_name(case)));
}

fn transform(cx: &Context, module: &mut Module, pipeline: &str) -> Vec<String> {
    let mut registry = PassRegistry::default();
    sutura_passes::register(&mut registry);
    let mut manager = parse_pipeline(cx, &registry, "test", pipeline, &mut Diagnostics::default()).unwrap();
    let config = RunConfig { verify_each: true, verify: VerifyOptions::default(), ..RunConfig::default() };
    let mut said = Vec::new();
    let (_, result) = run_pipeline(cx, module, &mut manager, &config, &mut |event| {
        if let Event::Diagnostic(diagnostic) = event
            && diagnostic.severity != Severity::Remark
        {
            said.push(diagnostic.message);
        }
    });
    assert!(result.is_ok(), "{said:?}");
    check(cx, module);
    said
}

/// Runs the model as imported, with propagated shapes, and in canonical form.
fn check_model(name: &str, cases: &[&str]) {
    let cx = Context::new(sutura_dialects::all());
    let mut module = imported(&cx, name);
    run_all(&cx, &module, name, cases);
    assert_eq!(transform(&cx, &mut module, "builtin.module(propagate-shapes)"), [""; 0]);
    run_all(&cx, &module, name, cases);
    transform(&cx, &mut module, "builtin.module(canonicalize,cse)");
    run_all(&cx, &module, name, &cases[..1]);
    let mut ops = Vec::new();
    main_function(&cx, &module).walk(&mut |op| ops.push(op.name_str()));
    // Nothing that computes shapes is left.
    assert!(!ops.iter().any(|op| ["graph.shape_of", "graph.gather", "graph.concat"].contains(op)), "{ops:?}");
    assert!(ops.contains(&"dyn.symbol"));
}

#[test]
fn mlp() {
    check_model("mlp", &["b1", "b7", "b64"]);
}

#[test]
fn cnn() {
    check_model("cnn", &["b1_h32_w32", "b2_h45_w37"]);
}

#[test]
fn encoder() {
    check_model("encoder", &["b1_s1", "b1_s17"]);
}

#[test]
fn encodings_can_be_made_explicit_and_stripped() {
    let cx = Context::new(sutura_dialects::all());
    let mut module = imported(&cx, "encoder");
    transform(&cx, &mut module, "builtin.module(propagate-shapes,materialize-encodings)");
    run_all(&cx, &module, "encoder", &["b1_s1"]);
    transform(&cx, &mut module, "builtin.module(strip-encodings)");
    run_all(&cx, &module, "encoder", &["b1_s1"]);
}

/// Runs the model as kernels and a host program, in the interpreter.
fn check_lowered(name: &str, kernels: usize, cases: &[&str]) {
    let cx = Context::new(sutura_dialects::all());
    let mut module = imported(&cx, name);
    let (inputs, outputs) = (names(&cx, &module, "arg_attrs"), names(&cx, &module, "res_attrs"));
    let pipeline = "builtin.module(propagate-shapes,expand-operators,canonicalize,cse,func.func(propagate-reshapes,stitch),convert-graph-to-gir)";
    let said = transform(&cx, &mut module, pipeline);
    let block = module.body().entry_block().unwrap();
    let count =
        module.body().ops(block).filter(|op| OpRef::new(&cx, module.body(), *op).name_str() == "gir.kernel").count();
    assert_eq!(count, kernels, "{said:#?}");
    let folder = path(name);
    for case in cases {
        let file = |name: &str| stored(&folder.with_file_name(case).join(format!("{name}.npy")));
        let args: Vec<Value> = inputs.iter().map(|name| Value::Tensor(file(name))).collect();
        let results = Interpreter::new(&cx, &module).call("main", &args).unwrap_or_else(|e| panic!("{e:?}"));
        for (output, result) in outputs.iter().zip(results) {
            let (got, want) = (result.tensor().unwrap().clone(), file(output));
            assert_eq!(got.shape(), want.shape(), "{case}");
            let (got, want) = (got.data().as_f32().unwrap(), want.data().as_f32().unwrap());
            let worst = got.iter().zip(want).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert!(worst <= TOLERANCE, "{case}: {output} differs by {worst}");
        }
    }
}

#[test]
fn encoder_as_kernels() {
    check_lowered("encoder", 14, &["b1_s1", "b1_s17"]);
}

#[test]
fn mlp_as_kernels() {
    check_lowered("mlp", 6, &["b1", "b7"]);
}

#[test]
fn cnn_as_kernels() {
    check_lowered("cnn", 21, &["b1_h32_w32", "b2_h45_w37"]);
}

//! Conversion of single operators, run by the interpreter.

use prost::Message;
use sutura_interp::{Interpreter, Tensor, Value as Data};
use sutura_ir::verify::{VerifyOptions, verify};
use sutura_ir::{Context, Diagnostics};

use super::build::{Value, info_of, ints, model, node, with};
use crate::onnx::{OnnxModel, import, proto::*};

/// Imports a model and runs it on one tensor `x`.
fn result(model: &ModelProto, x: &Tensor) -> Result<Tensor, String> {
    let model = OnnxModel::from_bytes(model.encode_to_vec(), None).map_err(|e| e.to_string())?;
    let cx = Context::new(sutura_dialects::all());
    let mut diags = Diagnostics::default();
    let module = import(&cx, &model, &mut diags).map_err(|e| e.to_string())?;
    let verified = verify(module.op_ref(&cx), VerifyOptions::default(), &mut diags);
    assert!(verified.is_ok(), "{diags:?}");
    let results = Interpreter::new(&cx, &module).call("main", &[Data::Tensor(x.clone())]);
    let results = results.map_err(|e| format!("{e:?}"))?;
    Ok(results[0].tensor().expect("a tensor").clone())
}

fn count(shape: &[usize]) -> Tensor {
    let n = shape.iter().product::<usize>();
    Tensor::from_f32((0..n).map(|i| i as f32).collect(), shape).expect("the elements fill the shape")
}

fn values(tensor: &Tensor) -> Vec<f32> {
    tensor.data().as_f32().expect("floats").to_vec()
}

/// A model whose output has any shape.
fn open(mut model: ModelProto) -> ModelProto {
    model.graph.as_mut().expect("a graph").output = vec![info_of("y", None)];
    model
}

#[test]
fn constant_tables_follow_shapes() {
    // Ranges, expansions and fills whose sizes follow from the input's shape.
    let nodes = vec![
        node("Shape", &["x"], &["s"]),
        with(node("Gather", &["s", "zero"], &["n"]), &[]),
        node("Range", &["zero", "n", "one"], &["r"]),
        with(node("Cast", &["r"], &["rf"]), &[("to", Value::Int(1))]),
        with(node("Unsqueeze", &["rf", "axis"], &["column"]), &[]),
        node("Expand", &["column", "s"], &["table"]),
        node("Add", &["table", "x"], &["y"]),
    ];
    let mut model = open(model(17, nodes));
    let graph = model.graph.as_mut().expect("a graph");
    graph.initializer = vec![ints("zero", &[], &[0]), ints("one", &[], &[1]), ints("axis", &[1], &[1])];
    let y = result(&model, &count(&[2, 4])).expect("it runs");
    assert_eq!(values(&y), [0., 1., 2., 3., 5., 6., 7., 8.]);
}

#[test]
fn splits_evenly_and_joins() {
    let nodes = vec![
        with(node("Split", &["x"], &["a", "b"]), &[("axis", Value::Int(1))]),
        with(node("Concat", &["b", "a"], &["y"]), &[("axis", Value::Int(1))]),
    ];
    let y = result(&open(model(17, nodes)), &count(&[1, 4])).expect("it runs");
    assert_eq!(values(&y), [2., 3., 0., 1.]);
}

#[test]
fn powers_and_selections() {
    let nodes = vec![
        node("Pow", &["x", "two"], &["p"]),
        node("Less", &["x", "p"], &["c"]),
        node("Where", &["c", "p", "x"], &["w"]),
        with(node("LeakyRelu", &["w"], &["l"]), &[("alpha", Value::Float(0.5))]),
        node("Clip", &["l", "", "limit"], &["y"]),
    ];
    let mut model = open(model(17, nodes));
    let graph = model.graph.as_mut().expect("a graph");
    let scalar = |name: &str, v: f32| TensorProto {
        name: Some(name.into()),
        data_type: Some(1),
        float_data: vec![v],
        ..Default::default()
    };
    graph.initializer = vec![scalar("two", 2.0), scalar("limit", 5.0)];
    let x = Tensor::from_f32(vec![-4.0, 0.5, 2.0, 3.0], &[1, 4]).expect("four elements");
    assert_eq!(values(&result(&model, &x).expect("it runs")), [5., 0.5, 4., 5.]);
}

#[test]
fn what_cannot_be_converted_is_listed_at_once() {
    let nodes = vec![
        node("MatMul", &["x", "x"], &["a"]),
        node("Relu", &["a"], &["unreached"]),
        with(node("Transpose", &["x"], &["t"]), &[("perm", Value::Ints(&[1, 0, 2]))]),
        node("Not", &["x"], &["y"]),
    ];
    let mut model = model(17, nodes);
    // Two rows of four do not multiply with themselves.
    let graph = model.graph.as_mut().expect("a graph");
    graph.input = vec![info_of("x", Some(&[2, 4]))];
    let error = result(&model, &count(&[2, 4])).expect_err("nothing fits");
    for part in ["my_MatMul", "differ: 4 and 2", "my_Transpose", "my_Not"] {
        assert!(error.contains(part), "{part} in {error}");
    }
    assert!(!error.contains("my_Relu"), "{error}");
}

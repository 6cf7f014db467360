//! Operators that routines of the runtime compute, beside what onnx's reference makes of them.

use sutura_interp::Tensor;

use super::build::{Value, info_of, ints, model, node, with};
use super::convert::{open, result, values};
use crate::onnx::proto::*;

/// A model of nodes on `x` of these dims.
fn of(opset: i64, nodes: Vec<NodeProto>, weights: Vec<TensorProto>, dims: &[i64]) -> ModelProto {
    let mut model = open(model(opset, nodes));
    let graph = model.graph.as_mut().expect("a graph");
    (graph.initializer, graph.input) = (weights, vec![info_of("x", Some(dims))]);
    model
}

fn x() -> Tensor {
    Tensor::from_f32(vec![3.0, 1.0, 2.0, 3.0, -1.0, 5.0, 0.0, 5.0], &[2, 4]).expect("eight numbers")
}

/// Values and positions that a node takes of [`x`].
fn taken(opset: i64, k: Option<i64>, attributes: &[(&str, Value)]) -> (Vec<f32>, Vec<f32>) {
    let (inputs, weights) = match k {
        Some(k) => (vec!["x", "K"], vec![ints("K", &[1], &[k])]),
        None => (vec!["x"], vec![]),
    };
    let run = |outputs: &[&str], more: Vec<NodeProto>| {
        let first = with(node("TopK", &inputs, outputs), attributes);
        let nodes = std::iter::once(first).chain(more).collect();
        values(&result(&of(opset, nodes, weights.clone(), &[2, 4]), &x()).expect("it runs"))
    };
    let to_float = with(node("Cast", &["i"], &["y"]), &[("to", Value::Int(1))]);
    (run(&["y", "i"], vec![]), run(&["v", "i"], vec![to_float]))
}

#[test]
fn the_greatest_and_the_least() {
    let greatest = (vec![3.0, 3.0, 5.0, 5.0], vec![0.0, 3.0, 1.0, 3.0]);
    assert_eq!(taken(11, Some(2), &[]), greatest);
    assert_eq!(taken(24, Some(2), &[("sorted", Value::Int(0))]), greatest);
    assert_eq!(taken(10, Some(2), &[("axis", Value::Int(1))]), greatest);
    assert_eq!(taken(7, None, &[("k", Value::Int(2))]), greatest);
    let least = (vec![1.0, 2.0, 3.0, -1.0, 0.0, 5.0], vec![1.0, 2.0, 0.0, 0.0, 2.0, 1.0]);
    assert_eq!(taken(13, Some(3), &[("largest", Value::Int(0))]), least);
    let columns = (vec![3.0, 5.0, 2.0, 5.0], vec![0.0, 1.0, 0.0, 1.0]);
    assert_eq!(taken(13, Some(1), &[("axis", Value::Int(0))]), columns);
    assert_eq!(taken(13, Some(0), &[]), (vec![], vec![]));
}

#[test]
fn wrong_numbers_of_elements_are_told() {
    let error = |weights: Vec<TensorProto>, before: Vec<NodeProto>, dims: &[i64]| {
        let nodes = before.into_iter().chain([node("TopK", &["x", "K"], &["y", "i"])]).collect();
        result(&of(13, nodes, weights, dims), &x()).expect_err("it is wrong")
    };
    let told = |error: String, words: &str| assert!(error.contains(words) && error.contains("my_TopK"), "{error}");
    told(error(vec![ints("K", &[1], &[5])], vec![], &[2, 4]), "takes 5 elements of fewer");
    told(error(vec![ints("K", &[1], &[-1])], vec![], &[2, 4]), "takes -1 elements");
    told(error(vec![ints("K", &[2], &[1, 2])], vec![], &[2, 4]), "`K` must be one number, not 2");
    let bounds = vec![ints("b", &[1], &[0]), ints("e", &[1], &[1])];
    let flat = vec![
        with(node("Cast", &["x"], &["c"]), &[("to", Value::Int(7))]),
        node("Reshape", &["c", "minus"], &["l"]),
        node("Slice", &["l", "b", "e"], &["K"]),
    ];
    let weights = bounds.into_iter().chain([ints("minus", &[1], &[-1])]).collect();
    // A number that is data, here the first element of all.
    let nodes = flat.into_iter().chain([node("TopK", &["x", "K"], &["y", "i"])]).collect();
    let found = result(&of(13, nodes, weights, &[2, 4]), &x()).expect("it runs");
    assert_eq!((found.shape(), values(&found)), (&[2, 3][..], vec![3.0, 3.0, 2.0, 5.0, 5.0, 0.0]));
}

fn close(model: &ModelProto, x: &Tensor, expected: &[f64]) {
    let y = values(&result(model, x).expect("it runs"));
    assert_eq!(y.len(), expected.len());
    assert!(y.iter().zip(expected).all(|(y, e)| (f64::from(*y) - e).abs() < 1e-6), "{y:?} {expected:?}");
}

#[test]
fn transforms() {
    let line = Tensor::from_f32(vec![1.0, 2.0, 3.0, 5.0], &[1, 4, 1]).expect("four numbers");
    let dft = |attributes: &[(&str, Value)]| with(node("DFT", &["x"], &["y"]), attributes);
    let whole = [11.0, 0.0, -2.0, 3.0, -3.0, 0.0, -2.0, -3.0];
    close(&of(17, vec![dft(&[])], vec![], &[1, 4, 1]), &line, &whole);
    close(&of(17, vec![dft(&[("onesided", Value::Int(1))])], vec![], &[1, 4, 1]), &line, &whole[..6]);
    let back: Vec<f64> = [11.0, 0.0, -2.0, -3.0, -3.0, 0.0, -2.0, 3.0].iter().map(|v| v / 4.0).collect();
    close(&of(20, vec![dft(&[("inverse", Value::Int(1))])], vec![], &[1, 4, 1]), &line, &back);
    // Cut to two elements, along an axis that is an input.
    let cut = node("DFT", &["x", "n", "axis"], &["y"]);
    let weights = || vec![ints("n", &[], &[2]), ints("axis", &[], &[-2])];
    close(&of(20, vec![cut.clone()], weights(), &[1, 4, 1]), &line, &[3.0, 0.0, -1.0, 0.0]);
    // There and back by one side.
    let half = with(node("DFT", &["x"], &["h"]), &[("onesided", Value::Int(1))]);
    let ways = [("onesided", Value::Int(1)), ("inverse", Value::Int(1))];
    let real = with(node("DFT", &["h"], &["y"]), &ways);
    close(&of(17, vec![half, real], vec![], &[1, 4, 1]), &line, &[1.0, 2.0, 3.0, 5.0]);
    let error = |node: NodeProto, weights: Vec<TensorProto>, dims: &[i64]| {
        result(&of(20, vec![node], weights, dims), &line).expect_err("it is wrong")
    };
    let told = |error: String, words: &str| assert!(error.contains(words) && error.contains("my_DFT"), "{error}");
    told(error(dft(&ways), vec![], &[1, 4, 1]), "transforms real numbers back from one side, which is not defined");
    told(error(dft(&ways[..1]), vec![], &[1, 4, 2]), "transforms one side of complex numbers, which is not defined");
    told(
        error(dft(&[]), vec![], &[1, 4, 3]),
        "needs an input whose last dim has the constant size 1 (real) or 2 (complex)",
    );
    told(error(dft(&[]), vec![], &[4]), "axis -2");
    let last = vec![ints("n", &[], &[2]), ints("axis", &[], &[2])];
    told(error(cut.clone(), last, &[1, 4, 1]), "cannot run along the last dim, which holds the parts of a number");
    told(error(cut, vec![ints("n", &[], &[0]), ints("axis", &[], &[1])], &[1, 4, 1]), "transforms lines of 0 elements");
}

//! Attention where the library's declarations do not say all, and with graphs that change scores and weights.

use sutura_interp::Tensor;

use super::build::*;
use super::convert::{open, result, values};
use crate::onnx::proto::*;

fn row(numbers: &[f32]) -> Tensor {
    Tensor::from_f32(numbers.to_vec(), &[1, 1, numbers.len(), 1]).expect("a row")
}

/// Queries, which are the keys and values too, of one number each.
fn attention(attributes: &[(&str, Value)], mask: &[f32], sizes: &[&str]) -> ModelProto {
    let mut m = open(model(24, vec![with(node("Attention", &["x", "x", "x", "mask"], &["y"]), attributes)]));
    let graph = graph(&mut m);
    graph.input = vec![sized("x", FLOAT, sizes)];
    graph.initializer = vec![floats("mask", &[1, mask.len() as i64], mask)];
    m
}

#[test]
fn a_mask_hides_the_keys_that_it_leaves_out() {
    for sizes in [["1", "1", "3", "1"], ["b", "h", "s", "1"]] {
        let masked = |mask: &[f32], x: &[f32]| result(&attention(&[], mask, &sizes), &row(x)).map(|y| values(&y));
        assert_eq!(masked(&[0.0], &[4.0, 5.0, 6.0]).expect("it runs"), [4.0; 3]);
        assert_eq!(
            masked(&[0.0, 0.0], &[4.0, 4.0, 6.0]).expect("it runs"),
            masked(&[0.0, 0.0, f32::NEG_INFINITY], &[4.0, 4.0, 6.0]).expect("it runs")
        );
        let error = masked(&[0.0; 4], &[4.0, 5.0, 6.0]).expect_err("the mask is longer");
        assert!(error.contains("keys that the mask leaves out"), "{error}");
    }
    // How many keys there are is known when it runs.
    let any = attention(&[], &[0.0, 0.0], &["b", "h", "s", "1"]);
    assert_eq!(values(&result(&any, &row(&[3.0, 3.0])).expect("it runs")), [3.0, 3.0]);
}

#[test]
fn the_softmax_may_be_of_doubles() {
    let of = |code: i64| {
        let attributes = [("softmax_precision", Value::Int(code))];
        values(
            &result(&attention(&attributes, &[0.0; 3], &["1", "1", "3", "1"]), &row(&[0.5, 1.0, -1.0]))
                .expect("it runs"),
        )
    };
    for (single, double) in of(1).into_iter().zip(of(11)) {
        assert!((single - double).abs() < 1e-6, "{single} and {double}");
    }
}

fn graph_of(nodes: Vec<NodeProto>, weights: Vec<TensorProto>) -> GraphProto {
    let info = |name: &str| ValueInfoProto { name: Some(name.into()), ..Default::default() };
    GraphProto {
        name: Some("change".into()),
        input: vec![info("s")],
        output: vec![info("c")],
        node: nodes,
        initializer: weights,
        ..Default::default()
    }
}

fn flexible(attributes: &[(&str, Value)]) -> Result<Vec<f32>, String> {
    let mut flex = with(node("FlexAttention", &["x", "x", "x"], &["y"]), attributes);
    flex.domain = Some("ai.onnx.preview".into());
    let mut m = open(model(24, vec![flex]));
    m.opset_import.push(OperatorSetIdProto { domain: Some("ai.onnx.preview".into()), version: Some(1) });
    graph(&mut m).input = vec![sized("x", FLOAT, &["b", "h", "s", "1"])];
    result(&m, &row(&[1.0, 2.0])).map(|y| values(&y))
}

#[test]
fn graphs_change_scores_and_weights() {
    let zero = || graph_of(vec![node("Mul", &["s", "none"], &["c"])], vec![floats("none", &[], &[0.0])]);
    let twice = || graph_of(vec![node("Add", &["s", "s"], &["c"])], vec![]);
    // Equal scores have equal weights.
    assert_eq!(flexible(&[("score_mod", Value::Graph(zero()))]).expect("it runs"), [1.5, 1.5]);
    let both = [("score_mod", Value::Graph(zero())), ("prob_mod", Value::Graph(twice()))];
    assert_eq!(flexible(&both).expect("it runs"), [3.0, 3.0]);
    // A weight of a graph may have a name that stands for something else around it.
    let own = || graph_of(vec![node("Mul", &["s", "x"], &["c"])], vec![floats("x", &[], &[0.0])]);
    assert_eq!(flexible(&[("score_mod", Value::Graph(own()))]).expect("it runs"), [1.5, 1.5]);
    // The second query is twice the first one.
    let plain = flexible(&[("scale", Value::Float(2.0))]).expect("it runs");
    let scaled = flexible(&[("score_mod", Value::Graph(twice()))]).expect("it runs");
    assert_eq!(plain, scaled);
    let shape = graph_of(vec![node("Shape", &["s"], &["c"])], vec![]);
    let error = flexible(&[("prob_mod", Value::Graph(shape))]).expect_err("no weights");
    assert!(error.contains("has a `prob_mod` that makes elements of i64, they must be of f32"), "{error}");
    let error = flexible(&[("softmax_precision", Value::Int(7))]).expect_err("no floats");
    assert!(error.contains("attribute `softmax_precision` is 7, it must be 1, 10, 11 or 16"), "{error}");
    let sum = graph_of(vec![node("ReduceSum", &["s"], &["c"])], vec![]);
    let error = flexible(&[("score_mod", Value::Graph(sum))]).expect_err("no scores");
    assert!(error.contains("`score_mod`") || error.contains("score_mod"), "{error}");
}

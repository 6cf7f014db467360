//! Operators of the families: what is wrong is told by name, and numbers that ONNX's own tests do not reach.

use sutura_interp::Tensor;

use super::build::{FLOAT, Value, floats, ints, model, node, sized, with};
use super::convert::{open, result, values};
use crate::onnx::proto::*;

fn counted(dims: &[usize]) -> Tensor {
    let count: usize = dims.iter().product();
    Tensor::from_f32((0..count).map(|i| i as f32).collect(), dims).expect("as many numbers")
}

/// What nodes on `x`, whose sizes are symbols, make of counted numbers of these dims.
fn made(opset: i64, nodes: Vec<NodeProto>, weights: Vec<TensorProto>, dims: &[usize]) -> Result<Vec<f32>, String> {
    let names: Vec<String> = (0..dims.len()).map(|d| format!("n{d}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut model = open(model(opset, nodes));
    let graph = model.graph.as_mut().expect("a graph");
    (graph.initializer, graph.input) = (weights, vec![sized("x", FLOAT, &names)]);
    result(&model, &counted(dims)).map(|y| values(&y))
}

fn einsum(equation: &'static str, inputs: &[&str]) -> NodeProto {
    with(node("Einsum", inputs, &["y"]), &[("equation", Value::Str(equation))])
}

#[test]
fn sums_of_products() {
    let of = |equation, inputs: &[&str], dims: &[usize]| made(12, vec![einsum(equation, inputs)], vec![], dims);
    assert_eq!(of("ii->i", &["x"], &[3, 3]).unwrap(), [0.0, 4.0, 8.0]);
    assert_eq!(of("ii", &["x"], &[3, 3]).unwrap(), [12.0]);
    assert_eq!(of("iij->j", &["x"], &[2, 2, 3]).unwrap(), [9.0, 11.0, 13.0]);
    assert_eq!(of("ba", &["x"], &[2, 3]).unwrap(), [0.0, 3.0, 1.0, 4.0, 2.0, 5.0]);
    assert_eq!(of("i j -> j i", &["x"], &[1, 2]).unwrap(), [0.0, 1.0]);
    assert_eq!(of("...i->i...", &["x"], &[2, 2]).unwrap(), [0.0, 2.0, 1.0, 3.0]);
    assert_eq!(of("ij,ij,ij->", &["x", "x", "x"], &[2, 2]).unwrap(), [36.0]);
    assert_eq!(of("ij,jk,kl->il", &["x", "x", "x"], &[2, 2]).unwrap(), [6.0, 11.0, 22.0, 39.0]);
    // A letter of one factor alone is summed before.
    assert_eq!(of("ij,kl,m...->...", &["x", "x", "x"], &[2, 2]).unwrap(), [72.0, 144.0]);
    assert_eq!(of("Ab", &["x"], &[2, 2]).unwrap(), [0.0, 1.0, 2.0, 3.0]);
    assert_eq!(of("ij->", &["x"], &[0, 2]).unwrap(), [0.0]);
}

#[test]
fn wrong_equations_are_told() {
    let told = |equation: &'static str, inputs: &[&str], words: &str| {
        let error = made(12, vec![einsum(equation, inputs)], vec![], &[2, 3]).expect_err("it is wrong");
        assert!(error.contains(words) && error.contains("my_Einsum"), "{error}");
    };
    told("ij,jk->ik", &["x"], "has 1 inputs, and 2 terms in its equation");
    told("i1->i", &["x"], "has an equation with '1' where a letter must be");
    told("ij->ii", &["x"], "has an equation whose result has `i` twice");
    told("ij->k", &["x"], "has an equation whose result has `k`, which no input has");
    told("i->i", &["x"], "has 1 letters for input 0, which has rank 2");
    told("ijk...", &["x"], "has 3 letters for input 0, which has rank 2");
    told("i...->i", &["x"], "an ellipsis for dimensions that its result leaves out");
    told("i.j->i", &["x"], "where a letter must be");
}

#[test]
fn places() {
    let one_hot = |axis: i64| {
        let weights = vec![ints("depth", &[], &[3]), ints("values", &[2], &[5, 7])];
        let hot = with(node("OneHot", &["x", "depth", "values"], &["h"]), &[("axis", Value::Int(axis))]);
        made(11, vec![hot, with(node("Cast", &["h"], &["y"]), &[("to", Value::Int(1))])], weights, &[4])
    };
    let columns = [7.0, 5.0, 5.0, 5.0, 7.0, 5.0, 5.0, 5.0, 7.0, 5.0, 5.0, 5.0];
    assert_eq!(one_hot(-1).unwrap(), columns);
    assert_eq!(one_hot(0).unwrap(), [7.0, 5.0, 5.0, 5.0, 5.0, 7.0, 5.0, 5.0, 5.0, 5.0, 7.0, 5.0]);
    let error = one_hot(2).expect_err("it is wrong");
    assert!(error.contains("axis 2 is outside a tensor of rank 2") && error.contains("my_OneHot"), "{error}");
    let reversed = |lengths: &[i64], batch: i64, dims: &[usize]| {
        let ways = [("batch_axis", Value::Int(batch)), ("time_axis", Value::Int(1 - batch))];
        let weights = vec![ints("l", &[lengths.len() as i64], lengths)];
        made(10, vec![with(node("ReverseSequence", &["x", "l"], &["y"]), &ways)], weights, dims)
    };
    assert_eq!(reversed(&[3, 2], 0, &[2, 3]).unwrap(), [2.0, 1.0, 0.0, 4.0, 3.0, 5.0]);
    assert_eq!(reversed(&[2, 0, 1], 1, &[2, 3]).unwrap(), [3.0, 1.0, 2.0, 0.0, 4.0, 5.0]);
    let error = reversed(&[4, 2], 0, &[2, 3]).expect_err("a length is beyond the end");
    assert!(error.contains("of its indices is 3"), "{error}");
}

#[test]
fn losses() {
    let loss = |targets: &[i64], attributes: &[(&str, Value)]| {
        let weights = vec![ints("t", &[targets.len() as i64], targets)];
        let node = with(node("NegativeLogLikelihoodLoss", &["x", "t"], &["y"]), attributes);
        made(13, vec![node], weights, &[2, 3])
    };
    let ignored = ("ignore_index", Value::Int(-1));
    assert_eq!(loss(&[1, 2], &[]).unwrap(), [-3.0]);
    assert_eq!(loss(&[1, -1], std::slice::from_ref(&ignored)).unwrap(), [-1.0]);
    assert_eq!(loss(&[1, -1], &[ignored, ("reduction", Value::Str("none"))]).unwrap(), [-1.0, 0.0]);
    assert_eq!(loss(&[1, 2], &[("reduction", Value::Str("sum"))]).unwrap(), [-6.0]);
    assert!(loss(&[1, -1], &[]).expect_err("no class").contains("of its indices is"));
    assert!(loss(&[1, 3], &[]).expect_err("no class").contains("of its indices is 3"));
    let error = loss(&[1, 2], &[("reduction", Value::Str("most"))]).expect_err("it is wrong");
    assert!(error.contains("has unknown `reduction` most"), "{error}");
}

/// Mean and variance.
fn moments(numbers: &[f32]) -> (f64, f64) {
    let count = numbers.len() as f64;
    let mean = numbers.iter().map(|x| f64::from(*x)).sum::<f64>() / count;
    (mean, numbers.iter().map(|x| (f64::from(*x) - mean).powi(2)).sum::<f64>() / count)
}

#[test]
fn random_numbers_have_the_moments_of_their_law() {
    let like = |op: &str, attributes: &[(&str, Value)]| {
        made(15, vec![with(node(op, &["x"], &["y"]), attributes)], vec![], &[40, 100]).expect("it runs")
    };
    let close = |(a, b): (f64, f64), (mean, variance): (f64, f64)| {
        assert!((a - mean).abs() < 0.06 && (b - variance).abs() < 0.08, "{a} {b}");
    };
    let seed = ("seed", Value::Float(3.0));
    let uniform = like("RandomUniformLike", std::slice::from_ref(&seed));
    close(moments(&uniform), (0.5, 1.0 / 12.0));
    assert!(uniform.iter().all(|x| (0.0..1.0).contains(x)));
    close(moments(&like("RandomNormalLike", std::slice::from_ref(&seed))), (0.0, 1.0));
    close(
        moments(&like("RandomNormalLike", &[("mean", Value::Float(2.0)), ("scale", Value::Float(0.5))])),
        (2.0, 0.25),
    );
    // The same seed gives the same numbers, another one others; without one a node has its own.
    assert_eq!(uniform, like("RandomUniformLike", &[seed]));
    let others = [like("RandomUniformLike", &[("seed", Value::Float(4.0))]), like("RandomUniformLike", &[])];
    assert!(others.iter().all(|other| *other != uniform));
    assert_eq!(others[1], like("RandomUniformLike", &[]));
    // Numbers of neighbours have nothing to do with each other.
    let products: Vec<f32> = uniform.windows(2).map(|pair| (pair[0] - 0.5) * (pair[1] - 0.5)).collect();
    assert!(moments(&products).0.abs() < 0.01);
}

#[test]
fn dropout_drops_in_training_alone() {
    let flag = |name: &str, value: u8| TensorProto {
        name: Some(name.into()),
        data_type: Some(9),
        raw_data: Some(vec![value].into()),
        ..Default::default()
    };
    let run = |training: u8, ratio: f32| {
        let ratio =
            TensorProto { name: Some("r".into()), data_type: Some(1), float_data: vec![ratio], ..Default::default() };
        made(13, vec![node("Dropout", &["x", "r", "t"], &["y"])], vec![ratio, flag("t", training)], &[50, 40])
    };
    let all: Vec<f32> = (0..2000).map(|i| i as f32).collect();
    assert_eq!(run(0, 0.5).unwrap(), all);
    assert_eq!(run(1, 0.0).unwrap(), all);
    let some = run(1, 0.25).unwrap();
    let kept = some.iter().zip(&all).filter(|(y, _)| **y != 0.0);
    assert!(kept.clone().all(|(y, x)| (y - x / 0.75).abs() <= 1e-3), "scaled");
    assert!((1400..1600).contains(&kept.count()));
    assert!(run(1, 1.0).expect_err("all are dropped").contains("drops a part of 1"));
}

#[test]
fn operators_of_old_opsets() {
    let run =
        |opset, node: NodeProto, weights: Vec<TensorProto>, dims: &[usize]| made(opset, vec![node], weights, dims);
    let two = || vec![floats("w", &[2], &[10.0, 20.0])];
    let add = |attributes: &[(&str, Value)]| with(node("Add", &["x", "w"], &["y"]), attributes);
    let (broadcast, first) = (("broadcast", Value::Int(1)), ("axis", Value::Int(0)));
    let rows = run(6, add(&[broadcast.clone(), first.clone()]), two(), &[2, 2]).unwrap();
    assert_eq!(rows, [10.0, 11.0, 22.0, 23.0]);
    assert_eq!(run(3, add(std::slice::from_ref(&broadcast)), two(), &[2, 2]).unwrap(), [10.0, 21.0, 12.0, 23.0]);
    let told = |error: Result<Vec<f32>, String>, words: &str| {
        let error = error.expect_err("it is wrong");
        assert!(error.contains(words), "{error}");
    };
    told(run(6, add(&[]), two(), &[2, 2]), "has operands of ranks 2 and 1, and no `broadcast`");
    told(run(6, add(&[broadcast, ("axis", Value::Int(2))]), two(), &[2, 2]), "has `axis` 2 for an operand of rank 1");
    told(run(7, add(&[first]), two(), &[2, 2]), "has attribute `axis`, which Add version 7 does not have");
    let relu = with(node("Relu", &["x"], &["y"]), &[("consumed_inputs", Value::Ints(&[0]))]);
    assert_eq!(run(1, relu, vec![], &[3]).unwrap(), [0.0, 1.0, 2.0]);
    let cast = |to| with(node("Cast", &["x"], &["y"]), &[("to", Value::Str(to))]);
    assert_eq!(run(1, cast("FLOAT"), vec![], &[2]).unwrap(), [0.0, 1.0]);
    told(run(5, cast("NUMBER"), vec![], &[2]), "casts to unknown element type NUMBER");
    let tiled = vec![floats("n", &[1], &[2.0]), floats("a", &[1], &[0.0])];
    assert_eq!(run(1, node("Tile", &["x", "n", "a"], &["y"]), tiled, &[2]).unwrap(), [0.0, 1.0, 0.0, 1.0]);
    let slopes = vec![floats("w", &[2], &[1.0, 2.0])];
    // Slopes of channels in old opsets, of the last dim in others.
    let falls = |opset| {
        let nodes = vec![node("Neg", &["x"], &["n"]), node("PRelu", &["n", "w"], &["y"])];
        made(opset, nodes, slopes.clone(), &[1, 2, 2]).unwrap()
    };
    assert_eq!(falls(6), [0.0, -1.0, -4.0, -6.0]);
    [7, 9, 16].iter().for_each(|opset| assert_eq!(falls(*opset), [0.0, -2.0, -2.0, -6.0], "opset {opset}"));
    let padded = with(node("Pad", &["x"], &["y"]), &[("paddings", Value::Ints(&[1, 0]))]);
    assert_eq!(run(1, padded, vec![], &[2]).unwrap(), [0.0, 0.0, 1.0]);
    let norm = |test: i64| {
        let weights = ["s", "b", "m", "v"].map(|name| floats(name, &[1], &[1.0])).to_vec();
        let attributes = [("is_test", Value::Int(test)), ("epsilon", Value::Float(0.0))];
        run(6, with(node("BatchNormalization", &["x", "s", "b", "m", "v"], &["y"]), &attributes), weights, &[2, 1])
    };
    assert_eq!(norm(1).unwrap(), [0.0, 1.0]);
    told(norm(0), "attribute `is_test` is 0, which is not supported; 1 is");
}

#[test]
fn powers_of_integers() {
    let power = |exponents: &[i64]| {
        let to = |code: i64| [("to", Value::Int(code))];
        let nodes = vec![
            with(node("Cast", &["x"], &["i"]), &to(7)),
            node("Sub", &["i", "one"], &["a"]),
            node("Pow", &["a", "p"], &["z"]),
            with(node("Cast", &["z"], &["y"]), &to(1)),
        ];
        let weights = vec![ints("one", &[], &[1]), ints("p", &[exponents.len() as i64], exponents)];
        made(13, nodes, weights, &[exponents.len()]).expect("it runs")
    };
    // Of -1, 0, 1, 2, 3.
    assert_eq!(power(&[5, 0, 9, 10, 4]), [-1.0, 1.0, 1.0, 1024.0, 81.0]);
    assert_eq!(power(&[-3, 7, -2, -1, 0]), [-1.0, 0.0, 1.0, 0.0, 1.0]);
    assert_eq!(power(&[-2, 1, 0, 64, 1])[3], 0.0);
}

#[test]
fn integers_without_sign_are_taken_by_their_bits_or_their_order() {
    let to = |name: &str, code: i64, from: &str| with(node("Cast", &[from], &[name]), &[("to", Value::Int(code))]);
    let run = |op: NodeProto| {
        // Of 250, 251, 252 and 253 in bytes.
        let nodes = vec![node("Add", &["x", "w"], &["s"]), to("u", 2, "s"), op, to("y", 1, "z")];
        made(18, nodes, vec![floats("w", &[], &[250.0])], &[4]).expect("it runs")
    };
    assert_eq!(run(with(node("ArgMax", &["u"], &["z"]), &[("keepdims", Value::Int(0))])), [3.0]);
    assert_eq!(run(with(node("ArgMin", &["u"], &["z"]), &[("keepdims", Value::Int(1))])), [0.0]);
    assert_eq!(run(node("BitwiseNot", &["u"], &["z"])), [5.0, 4.0, 3.0, 2.0]);
    assert_eq!(run(node("BitwiseAnd", &["u", "u"], &["z"])), [250.0, 251.0, 252.0, 253.0]);
    let product = with(node("Einsum", &["u", "u"], &["z"]), &[("equation", Value::Str("i,i->"))]);
    assert_eq!(run(product), [86.0]);
}

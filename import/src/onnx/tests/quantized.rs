//! Quantised operators: what they round, and what they refuse.

use sutura_interp::Tensor;

use super::build::{Value, floats, info_of, model, node, with};
use super::convert::{open, result, values};
use crate::onnx::proto::*;

const I8: i32 = 3;
const U8: i32 = 2;

/// A list of integers of 8 bits.
fn bytes(name: &str, element: i32, dims: &[i64], values: &[i32]) -> TensorProto {
    TensorProto {
        name: Some(name.into()),
        data_type: Some(element),
        dims: dims.to_vec(),
        int32_data: values.to_vec(),
        ..Default::default()
    }
}

fn of(opset: i64, nodes: Vec<NodeProto>, weights: Vec<TensorProto>, dims: &[i64]) -> ModelProto {
    let mut model = open(model(opset, nodes));
    let graph = model.graph.as_mut().expect("a graph");
    (graph.initializer, graph.input) = (weights, vec![info_of("x", Some(dims))]);
    model
}

fn to_float(from: &str) -> NodeProto {
    with(node("Cast", &[from], &["y"]), &[("to", Value::Int(1))])
}

fn told(error: Result<Tensor, String>, words: &str) {
    let error = error.expect_err("it is wrong");
    assert!(error.contains(words), "{error}");
}

#[test]
fn quotients_are_rounded_to_even_before_the_zero_point() {
    let x = Tensor::from_f32(vec![0.25, 0.75, -0.25, f32::NAN, f32::INFINITY, -1e9], &[2, 3]).expect("six numbers");
    let quantize = node("QuantizeLinear", &["x", "s", "z"], &["q"]);
    let weights = |zero: i32| vec![floats("s", &[], &[0.5]), bytes("z", U8, &[], &[zero])];
    let run =
        |zero| values(&result(&of(21, vec![quantize.clone(), to_float("q")], weights(zero), &[2, 3]), &x).unwrap());
    assert_eq!(run(3), [3.0, 5.0, 3.0, 3.0, 255.0, 0.0]);
    assert_eq!(run(0), [0.0, 2.0, 0.0, 0.0, 255.0, 0.0]);
}

#[test]
fn scales_are_for_a_tensor_an_axis_or_blocks() {
    let x = Tensor::from_f32(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[2, 3]).expect("six numbers");
    let quantize = |attributes: &[(&str, Value)]| with(node("QuantizeLinear", &["x", "s"], &["q"]), attributes);
    let run = |scale: TensorProto, attributes: &[(&str, Value)]| {
        let model = of(21, vec![quantize(attributes), to_float("q")], vec![scale], &[2, 3]);
        result(&model, &x).map(|y| values(&y))
    };
    let columns = || floats("s", &[3], &[1.0, 2.0, 0.5]);
    assert_eq!(run(columns(), &[]).unwrap(), [1.0, 1.0, 6.0, 4.0, 2.0, 12.0]);
    assert_eq!(
        run(floats("s", &[2], &[1.0, 2.0]), &[("axis", Value::Int(-2))]).unwrap(),
        [1.0, 2.0, 3.0, 2.0, 2.0, 3.0]
    );
    let blocks = [("axis", Value::Int(1)), ("block_size", Value::Int(2))];
    let scale = || floats("s", &[2, 2], &[1.0, 0.5, 2.0, 1.0]);
    assert_eq!(run(scale(), &blocks).unwrap(), [1.0, 2.0, 6.0, 2.0, 2.0, 6.0]);
    let error = |scale, attributes: &[(&str, Value)], words: &str| {
        let error = run(scale, attributes).expect_err("it is wrong");
        assert!(error.contains(words) && error.contains("my_QuantizeLinear"), "{error}");
    };
    error(floats("s", &[2], &[1.0, 2.0]), &[], "numbers along dimension 1 of the scale");
    error(floats("s", &[3, 2], &[1.0; 6]), &blocks, "numbers along dimension 0 of the scale");
    error(scale(), &[], "has `s` of rank 2, which needs a `block_size`");
    error(columns(), &blocks, "has blocks, for which `s` must have rank 2, not 1");
    error(columns(), &[("axis", Value::Int(2))], "axis 2");
    error(columns(), &[("block_size", Value::Int(-1))], "attribute `block_size` is -1");
    error(columns(), &[("output_dtype", Value::Int(1))], "which the operator does not allow");
    error(columns(), &[("output_dtype", Value::Int(99))], "which is no element type");
}

#[test]
fn zero_points_fit_their_scales() {
    let x = Tensor::from_f32(vec![1.0; 6], &[2, 3]).expect("six numbers");
    let quantize = |attributes: &[(&str, Value)]| with(node("QuantizeLinear", &["x", "s", "z"], &["q"]), attributes);
    let run = |zero: TensorProto, attributes: &[(&str, Value)]| {
        let weights = vec![floats("s", &[3], &[1.0, 2.0, 0.5]), zero];
        result(&of(21, vec![quantize(attributes), to_float("q")], weights, &[2, 3]), &x)
    };
    assert_eq!(values(&run(bytes("z", I8, &[3], &[1, 2, -3]), &[]).unwrap()), [2.0, 2.0, -1.0, 2.0, 2.0, -1.0]);
    told(run(bytes("z", I8, &[], &[1]), &[]), "has a zero point of rank 0 for `s`, which has rank 1");
    told(run(bytes("z", I8, &[2], &[1, 2]), &[]), "numbers along dimension 1 of the zero point");
    told(
        run(bytes("z", I8, &[3], &[0; 3]), &[("output_dtype", Value::Int(2))]),
        "has a zero point of another type than u8",
    );
    told(run(bytes("z", 6, &[3], &[0; 3]), &[]), "`z` is of i32, but it must be of i8 or u8");
    let two =
        of(13, vec![quantize(&[]), to_float("q")], vec![floats("s", &[], &[1.0]), bytes("z", 5, &[], &[0])], &[2, 3]);
    told(result(&two, &x), "`z` is of i16, but it must be of i8 or u8");
}

#[test]
fn products_take_zero_points_of_rows_and_columns() {
    let x = Tensor::from_f32(vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0], &[2, 3]).expect("six numbers");
    let quantize = || node("QuantizeLinear", &["x", "s"], &["q"]);
    let run = |zeros: Vec<TensorProto>, inputs: &[&str]| {
        let weights = vec![floats("s", &[], &[1.0]), bytes("w", I8, &[3, 2], &[1, -1, 2, -2, 3, -3])];
        let nodes = vec![quantize(), node("MatMulInteger", inputs, &["p"]), to_float("p")];
        result(&of(21, nodes, weights.into_iter().chain(zeros).collect(), &[2, 3]), &x)
    };
    assert_eq!(values(&run(vec![], &["q", "w"]).unwrap()), [14.0, -14.0, 32.0, -32.0]);
    let rows = || bytes("a", U8, &[2], &[1, 4]);
    let columns = || bytes("b", I8, &[2], &[1, -1]);
    assert_eq!(values(&run(vec![rows()], &["q", "w", "a"]).unwrap()), [8.0, -8.0, 8.0, -8.0]);
    assert_eq!(values(&run(vec![rows(), columns()], &["q", "w", "a", "b"]).unwrap()), [5.0, -5.0, 5.0, -5.0]);
    assert_eq!(values(&run(vec![columns()], &["q", "w", "", "b"]).unwrap()), [8.0, -8.0, 17.0, -17.0]);
    told(run(vec![bytes("a", U8, &[3], &[1; 3])], &["q", "w", "a"]), "the rows and the numbers of `a`");
    told(run(vec![bytes("b", I8, &[3, 1], &[1; 3])], &["q", "w", "", "b"]), "the columns and the numbers of `b`");
    told(run(vec![bytes("a", I8, &[], &[1])], &["q", "w", "a"]), "they must have one element type");
}

#[test]
fn an_empty_range_has_a_scale_of_one_step() {
    let x = Tensor::from_f32(vec![0.0, -0.0], &[1, 2]).expect("two numbers");
    let nodes = vec![node("DynamicQuantizeLinear", &["x"], &["q", "y", "z"])];
    let y = values(&result(&of(21, nodes, vec![], &[1, 2]), &x).unwrap());
    assert_eq!(y, [1.0f32 / 255.0]);
}

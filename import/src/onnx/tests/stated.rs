//! Axes and bounds that data say, where the model states what comes out: nothing is decided in the run, and what does not fit is an
//! index outside a list.

use prost::Message;
use sutura_interp::Tensor;
use sutura_ir::asm::print::PrintOptions;
use sutura_ir::asm::print::op_text;
use sutura_ir::{Context, Diagnostics};

use super::build::*;
use super::convert::{result, values};
use crate::onnx::{OnnxModel, import, proto::*};

/// A model of one node of `w` and numbers that `x` holds, whose result has these sizes.
fn by_data(op: &str, attributes: &[(&str, Value)], w: &[i64], lists: usize, stated: &[i64]) -> ModelProto {
    let count: i64 = w.iter().product();
    let numbers: Vec<f32> = (0..count).map(|i| i as f32).collect();
    let mut nodes = vec![with(node("Cast", &["x"], &["numbers"]), &[("to", Value::Int(7))])];
    let names: Vec<String> = (0..lists).map(|i| format!("l{i}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    nodes.push(node("Split", &["numbers"], &names));
    nodes.push(with(node(op, &[&["w"], &names[..]].concat(), &["r"]), attributes));
    // What keeps sizes is stated by what it makes.
    nodes.push(node("Neg", &["r"], &["n"]));
    nodes.push(node("Neg", &["n"], &["y"]));
    let mut m = model(if op == "Squeeze" || op == "Unsqueeze" { 13 } else { 18 }, nodes);
    let graph = graph(&mut m);
    if lists > 1 {
        graph.node[1].attribute = with(node("", &[], &[]), &[("num_outputs", Value::Int(lists as i64))]).attribute;
    }
    if lists == 1 {
        graph.node[1] = node("Identity", &["numbers"], &["l0"]);
    }
    graph.input = vec![sized("x", FLOAT, &[&format!("{}", lists)])];
    graph.output = vec![info_of("y", Some(stated))];
    graph.initializer = vec![floats("w", w, &numbers)];
    let loaded = OnnxModel::from_bytes(m.encode_to_vec(), None).expect("well formed");
    let cx = Context::new(sutura_dialects::all());
    let module = import(&cx, &loaded, &mut Diagnostics::default()).expect("it is imported");
    let text = op_text(module.op_ref(&cx), &PrintOptions::default());
    assert!(!text.contains("graph.non_zero"), "{text}");
    m
}

fn run(model: &ModelProto, numbers: &[f32]) -> Result<Vec<f32>, String> {
    let x = Tensor::from_f32(numbers.to_vec(), &[numbers.len()]).expect("a list");
    result(model, &x).map(|y| values(&y))
}

#[test]
fn data_pick_one_of_the_axes_that_fit() {
    let sums = by_data("ReduceSum", &[("keepdims", Value::Int(0))], &[2, 2, 1], 1, &[2, 1]);
    assert_eq!(run(&sums, &[0.0]).expect("it runs"), [2.0, 4.0]);
    assert_eq!(run(&sums, &[1.0]).expect("it runs"), [1.0, 5.0]);
    assert_eq!(run(&sums, &[-2.0]).expect("it runs"), [1.0, 5.0]);
    for wrong in [2.0, 3.0, -4.0] {
        assert!(run(&sums, &[wrong]).expect_err("it does not fit").contains("of its indices is"));
    }
    let most = by_data("ReduceMax", &[], &[2, 3], 1, &[2, 1]);
    assert_eq!(run(&most, &[-1.0]).expect("it runs"), [2.0, 5.0]);
    assert!(run(&most, &[0.0]).is_err());
    let squeezed = by_data("Squeeze", &[], &[1, 3, 1], 1, &[1, 3]);
    assert_eq!(run(&squeezed, &[2.0]).expect("it runs"), [0.0, 1.0, 2.0]);
    assert!(run(&squeezed, &[0.0]).is_err() && run(&squeezed, &[1.0]).is_err());
    let unsqueezed = by_data("Unsqueeze", &[], &[3], 1, &[3, 1]);
    assert_eq!(run(&unsqueezed, &[-1.0]).expect("it runs"), [0.0, 1.0, 2.0]);
    assert!(run(&unsqueezed, &[0.0]).is_err());
}

#[test]
fn bounds_make_what_is_stated() {
    // Starts, ends, axes and steps.
    let cut = by_data("Slice", &[], &[6], 4, &[2]);
    assert_eq!(run(&cut, &[1.0, 3.0, 0.0, 1.0]).expect("it runs"), [1.0, 2.0]);
    assert_eq!(run(&cut, &[1.0, 6.0, -1.0, 3.0]).expect("it runs"), [1.0, 4.0]);
    assert_eq!(run(&cut, &[-1.0, -9.0, 0.0, -4.0]).expect("it runs"), [5.0, 1.0]);
    for wrong in [[0.0, 3.0, 0.0, 1.0], [3.0, 1.0, 0.0, 1.0], [0.0, 2.0, 0.0, 0.0], [0.0, 2.0, 1.0, 1.0]] {
        assert!(run(&cut, &wrong).expect_err("it does not fit").contains("of its indices is"));
    }
}

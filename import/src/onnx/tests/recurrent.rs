//! LSTM, GRU and RNN: which operator of the library a node is, and what is refused by name.

use super::build::*;
use crate::onnx::{NamedInput, Op, typed_nodes};

fn layer(op: &str, attributes: &[(&str, Value)]) -> crate::onnx::proto::ModelProto {
    model(22, vec![with(node(op, &["x", "x", "x"], &["y"]), attributes)])
}

/// The operator, its attributes, and how many inputs and results have their dimensions in another order.
fn named(op: &str, attributes: &[(&str, Value)]) -> String {
    let model = read(&layer(op, attributes)).expect("a valid model");
    let nodes = typed_nodes(&model).expect("supported");
    let Op::Named { operator, inputs, attributes, permute, results, .. } = &nodes[0].op else { panic!("{nodes:?}") };
    assert!(inputs[3..].iter().all(|input| matches!(input, NamedInput::Absent(_))), "{inputs:?}");
    let attributes: Vec<String> = attributes.iter().map(|(name, value)| format!("{name} {value:?}")).collect();
    format!("{operator}: {}; {}+{} of {results}", attributes.join(", "), permute.0.len(), permute.1.len())
}

#[test]
fn directions_layouts_and_functions_are_attributes() {
    let usual = "num_directions Int(1), reverse Int(0)";
    assert_eq!(named("LSTM", &[]), format!("lstm: {usual}; 0+0 of 3"));
    assert_eq!(named("GRU", &[("layout", Value::Int(1))]), format!("gru: {usual}; 2+2 of 2"));
    assert_eq!(named("LSTM", &[("layout", Value::Int(1))]), format!("lstm: {usual}; 3+3 of 3"));
    let before = ("linear_before_reset", Value::Int(1));
    assert_eq!(named("GRU", &[before]), format!("gru_linear_before_reset: {usual}; 0+0 of 2"));
    let reverse = [("direction", Value::Str("reverse")), ("activations", Value::Strs(&["relu"]))];
    assert_eq!(named("RNN", &reverse), "rnn: num_directions Int(1), reverse Int(1), f Int(2); 0+0 of 2");
    let both = [
        ("direction", Value::Str("bidirectional")),
        ("activations", Value::Strs(&["Tanh", "Sigmoid", "Tanh", "Sigmoid"])),
        ("hidden_size", Value::Int(7)),
    ];
    let wanted = "gru: hidden_size Int(7), num_directions Int(2), reverse Int(0), f Int(1), g Int(0); 0+0 of 2";
    assert_eq!(named("GRU", &both), wanted);
}

#[test]
fn what_is_not_done_is_refused_by_name() {
    let refused = |op: &str, attribute: (&str, Value), wanted: &str| {
        let reasons = reasons(&layer(op, &[("direction", Value::Str("bidirectional")), attribute]));
        assert_eq!(reasons.len(), 1, "{reasons:?}");
        assert!(reasons[0].contains(wanted), "{}", reasons[0]);
    };
    let six = Value::Strs(&["Sigmoid", "Tanh", "Elu", "Sigmoid", "Tanh", "Elu"]);
    refused(
        "LSTM",
        ("activations", six),
        "attribute `activations` has 'Elu', which is not supported; Sigmoid, Tanh, Relu are",
    );
    refused("RNN", ("activations", Value::Strs(&["Tanh"])), "attribute `activations` has 1 words, it must have 2");
    let different = Value::Strs(&["Tanh", "Relu"]);
    refused("RNN", ("activations", different), "differs from one part of the list to the next, which is not supported");
    refused("LSTM", ("clip", Value::Float(1.0)), "attribute `clip` is not supported");
    refused("LSTM", ("input_forget", Value::Int(1)), "attribute `input_forget` is 1, which is not supported; 0 is");
    refused("GRU", ("layout", Value::Int(2)), "attribute `layout` is 2, which is not supported");
    let sideways = reasons(&layer("RNN", &[("direction", Value::Str("sideways"))]));
    assert!(sideways[0].contains("attribute `direction` is 'sideways', it must be one of"), "{sideways:?}");
}

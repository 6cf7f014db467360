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
    let lstm = format!("lstm: input_forget Int(0), {usual}");
    assert_eq!(named("LSTM", &[]), format!("{lstm}; 0+0 of 3"));
    assert_eq!(named("GRU", &[("layout", Value::Int(1))]), format!("gru: {usual}; 2+2 of 2"));
    assert_eq!(named("LSTM", &[("layout", Value::Int(1))]), format!("{lstm}; 3+3 of 3"));
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
fn functions_take_numbers_in_order_and_directions_have_their_own() {
    let one = [("activations", Value::Strs(&["elu"])), ("activation_alpha", Value::Floats(&[0.5]))];
    assert_eq!(
        named("RNN", &one),
        "rnn: num_directions Int(1), reverse Int(0), f Int(8), f_alpha Float(0.5); 0+0 of 2"
    );
    // Those that take none use none up; where the list ends, the default is meant.
    let three = [
        ("activations", Value::Strs(&["Tanh", "LeakyRelu", "HardSigmoid"])),
        ("activation_alpha", Value::Floats(&[0.25])),
        ("activation_beta", Value::Floats(&[0.75])),
    ];
    let wanted = "lstm: input_forget Int(0), num_directions Int(1), reverse Int(0), f Int(1), g Int(4), g_alpha Float(0.25), h Int(7), \
                  h_beta Float(0.75); 0+0 of 3";
    assert_eq!(named("LSTM", &three), wanted);
    let both = [
        ("direction", Value::Str("bidirectional")),
        ("activations", Value::Strs(&["Elu", "Elu"])),
        ("activation_alpha", Value::Floats(&[0.5, 2.0])),
    ];
    let wanted = "rnn: num_directions Int(2), reverse Int(0), f Int(8), f_alpha Float(0.5), f2 Int(8), f2_alpha Float(2.0); \
                  0+0 of 2";
    assert_eq!(named("RNN", &both), wanted);
    assert!(named("LSTM", &[("input_forget", Value::Int(1))]).contains("input_forget Int(1)"));
}

#[test]
fn what_is_not_done_is_refused_by_name() {
    let refused = |op: &str, attributes: &[(&str, Value)], wanted: &str| {
        let all = [&[("direction", Value::Str("bidirectional"))], attributes].concat();
        let reasons = reasons(&layer(op, &all));
        assert_eq!(reasons.len(), 1, "{reasons:?}");
        assert!(reasons[0].contains(wanted), "{}", reasons[0]);
    };
    let six = Value::Strs(&["Sigmoid", "Tanh", "Gelu", "Sigmoid", "Tanh", "Gelu"]);
    refused(
        "LSTM",
        &[("activations", six)],
        "attribute `activations` has 'Gelu', which is not supported; Sigmoid, Tanh, Relu,",
    );
    refused("RNN", &[("activations", Value::Strs(&["Tanh"]))], "attribute `activations` has 1 words, it must have 2");
    refused(
        "LSTM",
        &[("input_forget", Value::Int(2))],
        "attribute `input_forget` is 2, which is not supported; 0, 1 are",
    );
    refused("GRU", &[("layout", Value::Int(2))], "attribute `layout` is 2, which is not supported");
    let affine = ("activations", Value::Strs(&["Affine", "Tanh"]));
    let no_number = "attribute `activation_alpha` has no number for 'Affine', which is not supported";
    refused("RNN", std::slice::from_ref(&affine), no_number);
    let nan = ("activation_alpha", Value::Floats(&[f32::NAN]));
    refused("RNN", &[affine.clone(), nan], "attribute `activation_alpha` has a NaN, it must have numbers");
    let betas = ("activation_beta", Value::Floats(&[0.5]));
    let alphas = ("activation_alpha", Value::Floats(&[0.5, 0.5]));
    let too_many = "attribute `activation_alpha` has 2 numbers, and `activations` has 1 words that take one";
    refused("RNN", &[affine, alphas, betas], too_many);
    let sideways = reasons(&layer("RNN", &[("direction", Value::Str("sideways"))]));
    assert!(sideways[0].contains("attribute `direction` is 'sideways', it must be one of"), "{sideways:?}");
}

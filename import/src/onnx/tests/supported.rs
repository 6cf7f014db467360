//! What is reported as not supported.

use super::build::*;
use crate::onnx::{UnsupportedOps, proto::*};

#[test]
fn all_listed_with_names_and_hints() {
    let mut foreign = node("BeamSearch", &["x"], &["c"]);
    foreign.domain = Some("com.microsoft".into());
    let m = model(
        17,
        vec![
            node("Matmul", &["x", "x"], &["a"]),
            node("StringConcat", &["a"], &["b"]),
            foreign,
            node("ImageDecoder", &["x"], &["d"]),
            node("Gelu", &["x"], &["e"]),
            node("Relu", &["x"], &["y"]),
        ],
    );
    let list = unsupported(&m);
    let rows: Vec<_> = list.iter().map(|u| (u.node.as_str(), u.op_type.as_str(), u.reason.as_str())).collect();
    assert_eq!(
        rows,
        [
            ("`my_Matmul`", "Matmul", "operator is not supported"),
            ("`my_StringConcat`", "StringConcat", "operator is not supported"),
            ("`my_BeamSearch`", "BeamSearch", "operator is not supported"),
            ("`my_ImageDecoder`", "ImageDecoder", "operator is not supported"),
            ("`my_Gelu`", "Gelu", "does not exist in opset 17, only from 20 on"),
        ]
    );
    assert_eq!(list[0].hint.as_deref(), Some("did you mean `MatMul`?"));
    assert!(list[1].hint.as_ref().unwrap().contains("strings"));
    assert_eq!(list[2].domain, "com.microsoft");
    assert!(list[2].hint.as_ref().unwrap().contains("onnxruntime"));
    assert_eq!(list[3].hint.as_deref(), Some("images are decoded before the model, which takes their pixels"));
}

#[test]
fn domains_are_imported_and_have_their_own_operators() {
    let of = |domain: &str, op: &str, imports: Option<i64>| {
        let mut foreign = node(op, &["x"], &["y"]);
        foreign.domain = Some(domain.into());
        let mut m = model(17, vec![foreign]);
        let import = |version| OperatorSetIdProto { domain: Some(domain.into()), version: Some(version) };
        m.opset_import.extend(imports.map(import));
        reasons(&m)
    };
    assert_eq!(of("com.microsoft", "Gelu", Some(1)), [""; 0]);
    assert_eq!(
        of("com.microsoft", "Gelu", None),
        ["is of the domain `com.microsoft`, of which the model imports no opset"]
    );
    assert_eq!(of("com.microsoft", "Gelu", Some(0)), ["does not exist in opset 0, only from 1 on"]);
    assert_eq!(of("com.microsoft", "Relu", Some(1)), ["operator is not supported"]);
    assert_eq!(of("ai.onnx.ml", "Relu", Some(1)), ["operator is not supported"]);
    assert_eq!(reasons(&model(17, vec![node("com.microsoft.Gelu", &["x"], &["y"])])), ["operator is not supported"]);
}

#[test]
fn grouped_queries_say_what_they_do_not_take() {
    let of = |inputs: &[&str], attributes: &[(&str, Value)]| {
        let heads = [("num_heads", Value::Int(4)), ("kv_num_heads", Value::Int(2))];
        let mut grouped = with(with(node("GroupQueryAttention", inputs, &["y"]), &heads), attributes);
        grouped.domain = Some("com.microsoft".into());
        let mut m = model(17, vec![grouped]);
        m.opset_import.push(OperatorSetIdProto { domain: Some("com.microsoft".into()), version: Some(1) });
        reasons(&m)
    };
    let plain = ["x", "x", "x", "", "", "x", "x"];
    assert_eq!(of(&plain, &[]), [""; 0]);
    let positions = [&plain[..], &["", "", "x"]].concat();
    assert_eq!(of(&positions, &[]), ["input `position_ids` is not supported"]);
    let sink = [&plain[..], &["", "", "", "", "x"]].concat();
    assert_eq!(of(&sink, &[]), ["input `head_sink` is not supported"]);
    assert_eq!(of(&plain, &[("smooth_softmax", Value::Int(1))]), ["attribute `smooth_softmax` is not supported"]);
    let quantised = of(&plain, &[("k_quant_type", Value::Str("PER_TENSOR"))]);
    assert_eq!(quantised, ["attribute `k_quant_type` is not supported: keys and values are floats"]);
    assert_eq!(
        of(&plain, &[("do_rotary", Value::Int(1))]),
        ["has `do_rotary`, and neither `cos_cache` nor `sin_cache`"]
    );
    let half = ["x", "x", "", "", "", "x", "x"];
    assert_eq!(of(&half, &[]), ["has only one of `key` and `value`"]);
    let window = of(&plain, &[("local_window_size", Value::Int(0))]);
    assert_eq!(window, ["has a `local_window_size` that is not positive, or without `causal`"]);
}

#[test]
fn like_reasons_are_shown_together() {
    let foreign = |node: NodeProto| NodeProto { domain: Some("com.microsoft".into()), ..node };
    let nameless = NodeProto { name: None, ..node("BeamSearch", &["x"], &["y"]) };
    let m = model(17, vec![foreign(node("BeamSearch", &["x"], &["a"])), foreign(nameless)]);
    let text = UnsupportedOps(unsupported(&m)).to_string();
    assert_eq!(
        text,
        "the model uses what is not supported:\n  \
         com.microsoft.BeamSearch: `my_BeamSearch`, #1 making `y`: operator is not supported\n    \
         hint: made by onnxruntime's optimizer or quantizer; give the model it was made from"
    );
}

#[test]
fn nothing_is_differentiated() {
    let text = |m: &ModelProto| UnsupportedOps(unsupported(m)).to_string();
    let image = text(&model(20, vec![node("ImageDecoder", &["x"], &["y"])]));
    assert!(image.ends_with("hint: images are decoded before the model, which takes their pixels"), "{image}");
    assert!(
        text(&training("Gradient", &["x", "x"]))
            .ends_with("hint: nothing is differentiated; export the model with its gradients")
    );
}

/// A model of one node of the domain of training.
fn training(op_type: &str, inputs: &[&str]) -> ModelProto {
    let mut only = node(op_type, inputs, &["y"]);
    only.domain = Some("ai.onnx.preview.training".into());
    let mut m = model(17, vec![only]);
    m.opset_import.push(OperatorSetIdProto { domain: Some("ai.onnx.preview.training".into()), version: Some(1) });
    m
}

#[test]
fn a_step_of_an_optimizer_takes_all_that_each_tensor_needs() {
    assert_eq!(
        reasons(&training("Adam", &["x", "x", "x", "x", "x"])),
        ["optimizes tensors with 4 inputs each (a tensor, its gradient, 2 of the optimizer), and has 3"]
    );
}

#[test]
fn interface_mismatches() {
    let softmax = with(node("Softmax", &["x", "x"], &["y"]), &[("axis", Value::Float(1.0)), ("axes", Value::Int(1))]);
    assert_eq!(
        reasons(&model(17, vec![softmax])),
        [
            "has 2 inputs, at most 1 are allowed",
            "attribute `axis` is float, it must be int",
            "has attribute `axes`, which Softmax version 13 does not have",
        ]
    );
    assert_eq!(
        reasons(&model(17, vec![node("Concat", &["x", ""], &["y"])])),
        ["leaves out one of its inputs", "has no attribute `axis`"]
    );
    assert_eq!(reasons(&model(17, vec![node("Where", &["x", "", "x"], &["y"])])), ["has no input `X`"]);
}

#[test]
fn other_types() {
    let mut m = relu();
    let g = graph(&mut m);
    g.input.push(info("text", 8));
    g.input.push(ValueInfoProto {
        name: Some("list".into()),
        r#type: Some(TypeProto { value: Some(type_proto::Value::SequenceType(Default::default())) }),
    });
    g.sparse_initializer.push(SparseTensorProto { values: Some(floats("s", &[0], &[])) });
    g.initializer.push(TensorProto {
        name: Some("words".into()),
        data_type: Some(8),
        dims: vec![1],
        string_data: vec!["hello".into()],
        ..Default::default()
    });
    let list = unsupported(&m);
    let rows: Vec<_> = list.iter().map(|u| format!("{}: {}", u.node, u.reason)).collect();
    assert_eq!(
        rows,
        [
            "input `text`: tensors of string are not supported",
            "input `list`: is a sequence, and it is not known how many tensors it has, and of which shapes",
            "initializer `words`: tensors of string are not supported",
            "initializer `s`: sparse tensors are not supported",
        ]
    );
}

#[test]
fn bad_parameters() {
    let x = &["x"];
    let y = &["y"];
    let pool = |attributes: &[(&str, Value)]| with(node("MaxPool", x, y), attributes);
    let cases = [
        (with(node("Transpose", x, y), &[("perm", Value::Ints(&[0, 2]))]), "`perm` [0, 2] is not a permutation"),
        (
            with(node("SpaceToDepth", x, y), &[("blocksize", Value::Int(0))]),
            "has a `blocksize` of 0, which must be positive",
        ),
        (
            with(node("DepthToSpace", x, y), &[("blocksize", Value::Int(2)), ("mode", Value::Str("RCD"))]),
            "has unknown `mode` RCD",
        ),
        (with(node("Cast", x, y), &[("to", Value::Int(8))]), "casts to string, which is not supported"),
        (with(node("Cast", x, y), &[("to", Value::Int(99))]), "casts to unknown element type 99"),
        (pool(&[("kernel_shape", Value::Ints(&[0]))]), "`kernel_shape` must be positive"),
        (
            pool(&[("kernel_shape", Value::Ints(&[2, 2])), ("strides", Value::Ints(&[1]))]),
            "`strides` has 1 entries, 2 are needed",
        ),
        (
            pool(&[("kernel_shape", Value::Ints(&[2])), ("pads", Value::Ints(&[1, -1]))]),
            "negative `pads` are not supported",
        ),
        (pool(&[("kernel_shape", Value::Ints(&[2])), ("auto_pad", Value::Str("SAME"))]), "has unknown `auto_pad` SAME"),
        (with(node("ReduceSum", x, y), &[("keepdims", Value::Int(2))]), "attribute `keepdims` is 2, it must be 0 or 1"),
        (
            with(node("LayerNormalization", &["x", "x"], y), &[("stash_type", Value::Int(10))]),
            "attribute `stash_type` is 10, which is not supported; 1 is",
        ),
        (
            with(node("Constant", &[], y), &[("value_int", Value::Int(1)), ("value_float", Value::Float(1.0))]),
            "has 2 values, not one",
        ),
        (
            with(node("Constant", &[], y), &[("value_string", Value::Str("a"))]),
            "constants given as `value_string` are not supported",
        ),
    ];
    for (node, reason) in cases {
        assert_eq!(reasons(&model(17, vec![node])), [reason]);
    }
}

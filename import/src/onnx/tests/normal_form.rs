//! The same operator in different opsets has one form.

use super::build::*;
use crate::onnx::operators;
use crate::onnx::{
    AttributeKind, ElementType, OPSETS, Op, PadMode, Padding, Param, Pool, Rounding, Scalar, Slice, TensorData,
    proto::*, schema, typed_nodes,
};

/// Gives the last node's operator to `check`.
fn last(model: &ModelProto, check: impl FnOnce(&Op)) {
    let model = read(model).expect("a valid model");
    let nodes = typed_nodes(&model).unwrap_or_else(|e| panic!("{e}"));
    check(&nodes.last().expect("has nodes").op);
}

/// A one-node model with constants.
fn with_weights(opset: i64, node: NodeProto, weights: Vec<TensorProto>) -> ModelProto {
    let mut m = model(opset, vec![node]);
    graph(&mut m).initializer = weights;
    m
}

/// Both models have the operator `op`.
fn both(old: &ModelProto, new: &ModelProto, op: &Op) {
    // By what they say: an operator is tied to the model from which it was read.
    let expected = format!("{op:?}");
    last(old, |o| assert_eq!(format!("{o:?}"), expected));
    last(new, |o| assert_eq!(format!("{o:?}"), expected));
}

#[test]
fn axes_attribute_and_input() {
    for (name, op) in [
        ("Squeeze", Op::Squeeze { x: "x", axes: Some(vec![0, -1]) }),
        ("Unsqueeze", Op::Unsqueeze { x: "x", axes: vec![0, -1] }),
    ] {
        let attribute = with(node(name, &["x"], &["y"]), &[("axes", Value::Ints(&[0, -1]))]);
        let input = node(name, &["x", "axes"], &["y"]);
        let weights = vec![ints("axes", &[2], &[0, -1])];
        both(&model(12, vec![attribute]), &with_weights(13, input, weights), &op);
    }
    last(&model(13, vec![node("Squeeze", &["x"], &["y"])]), |op| {
        assert_eq!(op, &Op::Squeeze { x: "x", axes: None });
    });
}

#[test]
fn reductions() {
    for (name, changed) in [("ReduceSum", 13), ("ReduceMean", 18), ("ReduceMax", 18)] {
        let attribute = with(node(name, &["x"], &["y"]), &[("axes", Value::Ints(&[1]))]);
        let input = node(name, &["x", "axes"], &["y"]);
        let old = read(&model(changed - 1, vec![attribute])).unwrap();
        let new = read(&with_weights(changed, input, vec![ints("axes", &[1], &[1])])).unwrap();
        let (old, new) = (typed_nodes(&old).unwrap(), typed_nodes(&new).unwrap());
        assert_eq!(old[0].op, new[0].op, "{name}");
    }
    let empty = |attributes: &[(&str, Value)]| {
        let node = with(node("ReduceSum", &["x", "axes"], &["y"]), attributes);
        with_weights(18, node, vec![ints("axes", &[0], &[])])
    };
    let axes = |model: &ModelProto, expected: Option<Vec<i64>>| {
        last(model, |op| match op {
            Op::Reduce { axes, .. } => assert_eq!(axes, &expected),
            other => panic!("{other:?}"),
        });
    };
    axes(&empty(&[]), None);
    axes(&empty(&[("noop_with_empty_axes", Value::Int(1))]), Some(vec![]));
}

#[test]
fn split_slice_pad_clip() {
    let split = with(node("Split", &["x"], &["y", "z"]), &[("split", Value::Ints(&[1, 3])), ("axis", Value::Int(1))]);
    let input = with(node("Split", &["x", "sizes"], &["y", "z"]), &[("axis", Value::Int(1))]);
    both(
        &model(12, vec![split]),
        &with_weights(13, input, vec![ints("sizes", &[2], &[1, 3])]),
        &Op::Split { x: "x", axis: 1, parts: 2, sizes: Some(Param::Known(vec![1, 3])) },
    );

    let slice = with(
        node("Slice", &["x"], &["y"]),
        &[("starts", Value::Ints(&[1])), ("ends", Value::Ints(&[3])), ("axes", Value::Ints(&[0]))],
    );
    let weights = vec![ints("starts", &[1], &[1]), ints("ends", &[1], &[3]), ints("axes", &[1], &[0])];
    both(
        &model(9, vec![slice]),
        &with_weights(13, node("Slice", &["x", "starts", "ends", "axes"], &["y"]), weights),
        &Op::Slice(Slice {
            x: "x",
            starts: Param::Known(vec![1]),
            ends: Param::Known(vec![3]),
            axes: Some(Param::Known(vec![0])),
            steps: None,
        }),
    );

    let pad = with(node("Pad", &["x"], &["y"]), &[("pads", Value::Ints(&[0, 1, 0, 1])), ("value", Value::Float(2.0))]);
    let weights = vec![ints("pads", &[4], &[0, 1, 0, 1]), floats("value", &[], &[2.0])];
    both(
        &model(10, vec![pad]),
        &with_weights(13, node("Pad", &["x", "pads", "value"], &["y"]), weights),
        &Op::Pad {
            x: "x",
            mode: PadMode::Constant,
            pads: Param::Known(vec![0, 1, 0, 1]),
            value: Some(Param::Known(Scalar::Float(2.0))),
            axes: None,
        },
    );

    let clip = with(node("Clip", &["x"], &["y"]), &[("max", Value::Float(6.0))]);
    both(
        &model(10, vec![clip]),
        &with_weights(13, node("Clip", &["x", "", "six"], &["y"]), vec![floats("six", &[], &[6.0])]),
        &Op::Clip { x: "x", lower: None, upper: Some(Param::Known(Scalar::Float(6.0))) },
    );
}

#[test]
fn operators_of_the_library_are_chosen_by_version_inputs_and_attributes() {
    let named = |opset: i64, node: NodeProto| {
        let mut found = String::new();
        last(&model(opset, vec![node]), |op| {
            let Op::Named { operator, inputs, attributes, .. } = op else { panic!("{op:?}") };
            found = format!("{operator} {} {attributes:?}", inputs.len());
        });
        found
    };
    let softmax = || node("Softmax", &["x"], &["y"]);
    assert_eq!(named(12, softmax()), "softmax_from 1 [(\"axis\", Int(1))]");
    assert_eq!(named(13, softmax()), "softmax 1 [(\"axis\", Int(-1))]");
    assert_eq!(named(20, node("Gelu", &["x"], &["y"])), "gelu 1 []");
    let tanh = with(node("Gelu", &["x"], &["y"]), &[("approximate", Value::Str("tanh"))]);
    assert_eq!(named(20, tanh), "gelu_tanh 1 []");
    let norm = |inputs: &[&str]| with(node("LayerNormalization", inputs, &["y"]), &[("epsilon", Value::Float(0.5))]);
    let attributes = "[(\"axis\", Int(-1)), (\"epsilon\", Float(0.5))]";
    assert_eq!(named(17, norm(&["x", "x", "x"])), format!("layer_norm 3 {attributes}"));
    assert_eq!(named(17, norm(&["x", "x"])), format!("layer_norm_unbiased 2 {attributes}"));
    assert_eq!(named(17, norm(&["x", "x", ""])), format!("layer_norm_unbiased 2 {attributes}"));
    assert_eq!(named(14, node("Trilu", &["x"], &["y"])), "trilu 2 [(\"upper\", Int(1))]");
    assert_eq!(named(13, node("Sum", &["x", "x", "x"], &["y"])), "sum 3 []");
}

#[test]
fn dropout_is_identity() {
    let with_mask = node("Dropout", &["x"], &["y", "mask"]);
    both(&model(7, vec![with_mask.clone()]), &model(13, vec![with_mask]), &Op::Identity { x: "x" });
    let training = node("Dropout", &["x", "", "t"], &["y"]);
    let flag = |value| TensorProto {
        name: Some("t".into()),
        data_type: Some(9),
        int32_data: vec![value],
        ..Default::default()
    };
    last(&with_weights(13, training.clone(), vec![flag(0)]), |op| {
        assert_eq!(op, &Op::Identity { x: "x" });
    });
    last(&with_weights(13, training, vec![flag(1)]), |op| assert!(matches!(op, Op::Converted(_)), "{op:?}"));
}

#[test]
fn constants_are_known_through_identity() {
    let constant = |attribute| with(node("Constant", &[], &["a"]), &[attribute]);
    let shape = |m: Vec<NodeProto>| {
        let m = model(17, m);
        let mut found = None;
        last(&m, |op| match op {
            Op::Reshape { shape: Param::Known(shape), .. } => found = Some(shape.clone()),
            other => panic!("{other:?}"),
        });
        found
    };
    let reshape = |from| node("Reshape", &["x", from], &["y"]);
    let identity = node("Identity", &["a"], &["b"]);
    let value = constant(("value_ints", Value::Ints(&[2, -1])));
    assert_eq!(shape(vec![value, identity, reshape("b")]), Some(vec![2, -1]));
    let tensor = Value::Tensor(ints("", &[1], &[-1]));
    assert_eq!(shape(vec![constant(("value", tensor)), reshape("a")]), Some(vec![-1]));
    // A constant of the wrong type is told apart from a computed value.
    let floats = constant(("value_floats", Value::Floats(&[1.0])));
    assert_eq!(
        reasons(&model(17, vec![floats, reshape("a")])),
        ["input `shape` must be a list of integers, but `a` is a constant of type f32 and \
             shape [1]"]
    );
}

#[test]
fn windows() {
    let conv = |attributes: &[(&str, Value)]| {
        let node = with(node("Conv", &["x", "w"], &["y"]), attributes);
        with_weights(17, node, vec![floats("w", &[1, 1, 3, 2], &[0.0; 6])])
    };
    let window = |m: &ModelProto, check: &dyn Fn(&crate::onnx::Window)| {
        last(m, |op| match op {
            Op::Conv { window, .. } => check(window),
            other => panic!("{other:?}"),
        });
    };
    window(&conv(&[]), &|w| {
        assert_eq!((&w.kernel[..], &w.strides[..]), (&[3, 2][..], &[1, 1][..]));
        let none = || vec![0, 0];
        assert_eq!(w.padding, Padding::Explicit { before: none(), after: none() });
    });
    window(&conv(&[("pads", Value::Ints(&[1, 2, 3, 4]))]), &|w| {
        let (before, after) = (vec![1, 2], vec![3, 4]);
        assert_eq!(w.padding, Padding::Explicit { before, after });
    });
    window(&conv(&[("auto_pad", Value::Str("SAME_LOWER"))]), &|w| {
        assert_eq!(w.padding, Padding::SameLower);
    });
    assert_eq!(
        reasons(&conv(&[("kernel_shape", Value::Ints(&[2, 3]))])),
        ["`kernel_shape` is [2, 3], but the weight's kernel is [3, 2]"]
    );
}

#[test]
fn defaults() {
    let pool = with(node("AveragePool", &["x"], &["y"]), &[("kernel_shape", Value::Ints(&[2]))]);
    last(&model(9, vec![pool]), |op| {
        assert!(matches!(op, Op::Pool { function: Pool::Average { count_padding: false }, ceil: false, .. }));
    });
    let shape = vec![ints("shape", &[1], &[3])];
    last(&with_weights(17, node("ConstantOfShape", &["shape"], &["y"]), shape), |op| match op {
        Op::ConstantOfShape { shape, value } => {
            assert_eq!(shape, &Param::Known(vec![3]));
            assert_eq!(value.element, ElementType::F32);
            assert_eq!(value.data, TensorData::Packed(vec![0; 4].into()));
        }
        other => panic!("{other:?}"),
    });
    last(
        &model(
            17,
            vec![node("Cast", &["x"], &["y"])].into_iter().map(|n| with(n, &[("to", Value::Int(10))])).collect(),
        ),
        |op| {
            assert_eq!(op, &Op::Cast { x: "x", to: ElementType::F16, saturate: true, round: Rounding::Up });
        },
    );
}

/// Every version of every operator in the table reaches an [`Op`]. Operators of a family have a reader by construction; what
/// they take is tested beside them.
#[test]
fn whole_table_is_read() {
    let table = schema::operators().filter(|operator| operator.domain.is_empty());
    for operator in table.filter(|operator| operators::reader("", operator.name).is_none()) {
        for interface in &operator.versions {
            let opset = interface.since.max(*OPSETS.start());
            let mut inputs: Vec<_> = interface.inputs.iter().map(|f| f.name).collect();
            // How many keys a sample has does not go with keys of before.
            if operator.name == "Attention" {
                inputs.truncate(6);
            }
            let attributes: Vec<_> = (interface.attributes.iter())
                .filter(|rule| rule.presence == schema::Presence::Required)
                .map(|rule| (rule.name, some_value(rule)))
                .collect();
            // Without it, it trains, which is refused.
            let attributes = match interface.attribute("is_test") {
                Some(_) => [attributes, vec![("is_test", Value::Int(1))]].concat(),
                // Nothing says that it needs one.
                None if operator.name == "Reshape" && interface.since < 5 => vec![("shape", Value::Ints(&[1]))],
                None => attributes,
            };
            let needed = interface.outputs.iter().rposition(|f| f.arity != schema::Arity::Optional);
            let needed = needed.map_or(0, |last| last + 1);
            let mut outputs: Vec<_> = interface.outputs[..needed].iter().map(|f| f.name).collect();
            match outputs.first_mut() {
                Some(first) => *first = "y",
                None => outputs.push("y"),
            }
            let mut node = with(node(operator.name, &inputs, &outputs), &attributes);
            if operator.name == "Constant" && node.attribute.is_empty() {
                node = with(node, &[("value", Value::Tensor(floats("", &[], &[1.0])))]);
            }
            let mut m = model(opset, vec![node]);
            // All inputs are constants of a type that suits most of them.
            let weight = |name: &&str| match *name {
                "training_mode" => TensorProto {
                    int64_data: Vec::new(),
                    data_type: Some(9),
                    int32_data: vec![0],
                    ..ints(name, &[1], &[0])
                },
                "sequence_lens" => TensorProto {
                    int64_data: Vec::new(),
                    data_type: Some(6),
                    int32_data: vec![1],
                    ..ints(name, &[1], &[1])
                },
                "W" => floats(name, &[1, 1, 1], &[0.0]),
                _ if ["LSTM", "GRU", "RNN"].contains(&operator.name) => floats(name, &[1], &[1.0]),
                "pads" => ints(name, &[2], &[1, 1]),
                _ => ints(name, &[1], &[1]),
            };
            // Some have an input that is called as the model's is.
            graph(&mut m).input.clear();
            graph(&mut m).initializer = inputs.iter().map(weight).collect();
            assert_eq!(reasons(&m), [""; 0], "{} in opset {opset}", operator.name);
        }
    }
}

fn some_value(rule: &schema::AttributeRule) -> Value {
    match rule.kind {
        AttributeKind::Int => Value::Int(1),
        AttributeKind::Ints => Value::Ints(&[1]),
        AttributeKind::Tensor => Value::Tensor(floats("", &[], &[1.0])),
        // The type to which Cast converts.
        AttributeKind::String => Value::Str("DOUBLE"),
        other => panic!("no value of kind {other}"),
    }
}

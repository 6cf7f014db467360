//! Models made by hand, as protobuf messages.

use prost::Message;

use crate::onnx::{OnnxError, OnnxModel, Problem, Unsupported, check_supported, proto::*};

pub(super) const FLOAT: i32 = 1;
pub(super) const INT64: i32 = 7;

/// `y = Relu(x)` in opset 17, to be changed by the test.
pub(super) fn relu() -> ModelProto {
    model(17, vec![node("Relu", &["x"], &["y"])])
}

/// A model with input `x`, output `y`, both `f32[n, 4]`, and these nodes.
pub(super) fn model(opset: i64, nodes: Vec<NodeProto>) -> ModelProto {
    ModelProto {
        ir_version: Some(8),
        opset_import: vec![OperatorSetIdProto { domain: None, version: Some(opset) }],
        graph: Some(GraphProto {
            name: Some("test".into()),
            node: nodes,
            input: vec![info("x", FLOAT)],
            output: vec![info("y", FLOAT)],
            ..Default::default()
        }),
        ..Default::default()
    }
}

pub(super) fn node(op: &str, inputs: &[&str], outputs: &[&str]) -> NodeProto {
    let names = |list: &[&str]| list.iter().map(|&n| n.to_owned()).collect();
    NodeProto {
        op_type: Some(op.into()),
        name: Some(format!("my_{op}")),
        input: names(inputs),
        output: names(outputs),
        ..Default::default()
    }
}

/// Adds attributes to a node.
pub(super) fn with(mut node: NodeProto, attributes: &[(&str, Value)]) -> NodeProto {
    let attributes = attributes.iter().map(|(name, value)| attribute(name, value));
    node.attribute.extend(attributes);
    node
}

#[derive(Clone)]
pub(super) enum Value {
    Float(f32),
    Int(i64),
    Ints(&'static [i64]),
    Floats(&'static [f32]),
    Str(&'static str),
    Strs(&'static [&'static str]),
    Tensor(TensorProto),
    Graph(GraphProto),
}

fn attribute(name: &str, value: &Value) -> AttributeProto {
    let mut a = AttributeProto { name: Some(name.into()), ..Default::default() };
    let kind = match value {
        Value::Float(v) => {
            a.f = Some(*v);
            1
        }
        Value::Int(v) => {
            a.i = Some(*v);
            2
        }
        Value::Str(v) => {
            a.s = Some(v.as_bytes().into());
            3
        }
        Value::Tensor(v) => {
            a.t = Some(v.clone());
            4
        }
        Value::Graph(v) => {
            a.g = Some(v.clone());
            5
        }
        Value::Floats(v) => {
            a.floats = v.to_vec();
            6
        }
        Value::Ints(v) => {
            a.ints = v.to_vec();
            7
        }
        Value::Strs(v) => {
            a.strings = v.iter().map(|word| word.as_bytes().into()).collect();
            8
        }
    };
    a.r#type = Some(kind);
    a
}

pub(super) fn ints(name: &str, dims: &[i64], values: &[i64]) -> TensorProto {
    TensorProto {
        name: Some(name.into()),
        data_type: Some(INT64),
        dims: dims.to_vec(),
        int64_data: values.to_vec(),
        ..Default::default()
    }
}

pub(super) fn floats(name: &str, dims: &[i64], values: &[f32]) -> TensorProto {
    TensorProto {
        name: Some(name.into()),
        data_type: Some(FLOAT),
        dims: dims.to_vec(),
        raw_data: Some(values.iter().flat_map(|v| v.to_le_bytes()).collect()),
        ..Default::default()
    }
}

/// A value of type `element[n, 4]`.
pub(super) fn info(name: &str, element: i32) -> ValueInfoProto {
    sized(name, element, &["n", "4"])
}

/// A value whose sizes are numbers or names.
pub(super) fn sized(name: &str, element: i32, sizes: &[&str]) -> ValueInfoProto {
    use tensor_shape_proto::{Dimension, dimension::Value};
    let value = |size: &&str| size.parse().map_or_else(|_| Value::DimParam((*size).into()), Value::DimValue);
    let dim = sizes.iter().map(|size| Dimension { value: Some(value(size)) }).collect();
    let shape = TensorShapeProto { dim };
    ValueInfoProto {
        name: Some(name.into()),
        r#type: Some(TypeProto {
            value: Some(type_proto::Value::TensorType(type_proto::Tensor {
                elem_type: Some(element),
                shape: Some(shape),
            })),
        }),
    }
}

/// An `f32` value of this shape; without one, of any.
pub(super) fn info_of(name: &str, shape: Option<&[i64]>) -> ValueInfoProto {
    use tensor_shape_proto::{Dimension, dimension::Value};
    let dim = |size: &i64| Dimension { value: Some(Value::DimValue(*size)) };
    let shape = shape.map(|s| TensorShapeProto { dim: s.iter().map(dim).collect() });
    let tensor = type_proto::Tensor { elem_type: Some(FLOAT), shape };
    let value = Some(type_proto::Value::TensorType(tensor));
    ValueInfoProto { name: Some(name.into()), r#type: Some(TypeProto { value }) }
}

pub(super) fn graph(model: &mut ModelProto) -> &mut GraphProto {
    model.graph.as_mut().expect("made with a graph")
}

pub(super) fn read(model: &ModelProto) -> Result<OnnxModel, OnnxError> {
    OnnxModel::from_bytes(model.encode_to_vec(), None)
}

/// The problems of a model that is not valid, as text.
pub(super) fn problems(model: &ModelProto) -> Vec<String> {
    match read(model) {
        Err(OnnxError::Invalid(list)) => list.iter().map(Problem::to_string).collect(),
        other => panic!("expected an invalid model, got {other:?}"),
    }
}

/// What a valid model has that is not supported.
pub(super) fn unsupported(model: &ModelProto) -> Vec<Unsupported> {
    check_supported(&read(model).expect("a valid model"))
}

/// The reasons of [`unsupported`].
pub(super) fn reasons(model: &ModelProto) -> Vec<String> {
    unsupported(model).into_iter().map(|u| u.reason).collect()
}

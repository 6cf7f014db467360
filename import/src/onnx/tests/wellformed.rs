//! Models that decode but break ONNX's rules, and odd ones that are accepted.

use super::build::*;
use crate::onnx::{Dim, ElementType, OnnxError, ValueType, proto::*};

#[test]
fn all_problems_at_once() {
    let mut m = model(
        17,
        vec![
            node("Relu", &["missing"], &["a"]),
            node("Relu", &["later"], &["b"]),
            node("Relu", &["x"], &["later"]),
            node("Relu", &["x"], &["a"]),
            node("Relu", &["x"], &["x"]),
            node("Add", &["own", "x"], &["own"]),
        ],
    );
    graph(&mut m).initializer =
        vec![floats("w", &[3], &[1.0, 2.0]), floats("v", &[1], &[1.0]), floats("v", &[1], &[1.0])];
    assert_eq!(
        problems(&m),
        [
            "initializer `w`: holds 8 bytes, but 3 elements of f32 take 12",
            "initializer `v`: is given twice",
            "node `my_Relu` (Relu): makes `a`, which node `my_Relu` (Relu) already defines",
            "node `my_Relu` (Relu): makes `x`, which an input or initializer already defines",
            "node `my_Relu` (Relu): uses `missing`, which nothing defines",
            "node `my_Relu` (Relu): uses `later` before node `my_Relu` (Relu) makes it: \
             nodes must be in topological order",
            "node `my_Add` (Add): uses its own output `own`",
            "output `y`: is made by no node",
        ]
    );
}

#[test]
fn versions() {
    let mut m = relu();
    m.ir_version = Some(99);
    m.opset_import[0].version = Some(29);
    // Others may read it: it is not said to be wrong.
    let Err(error @ OnnxError::Unsupported(_)) = read(&m) else { panic!("these versions are not read") };
    let said = error.to_string();
    assert_eq!(
        said.lines().skip(1).map(str::trim).collect::<Vec<_>>(),
        [
            "model: ir_version 99 is not supported (1 to 14 are)",
            "model: opset 29 is not supported (1 to 28 are); onnx.version_converter can convert \
             the model",
        ]
    );
    m = relu();
    m.opset_import.clear();
    m.graph = None;
    assert_eq!(problems(&m).len(), 2);
    m = relu();
    m.opset_import[0].version = Some(0);
    assert_eq!(problems(&m), ["model: there is no opset 0"]);
    m = relu();
    m.opset_import.clear();
    assert!(problems(&m)[0].contains("does not say which version"));
    m = relu();
    m.opset_import[0].domain = Some("ai.onnx".into());
    assert_eq!(read(&m).unwrap().opset(), 17);
    m.opset_import.push(OperatorSetIdProto { domain: None, version: Some(16) });
    assert!(problems(&m)[0].contains("two versions"));
}

/// A model without an operator of ONNX's own need not say which version of those it means.
#[test]
fn models_of_other_domains() {
    let mut m = relu();
    graph(&mut m).node[0].domain = Some("my.domain".into());
    m.opset_import[0].domain = Some("my.domain".into());
    assert_eq!(reasons(&m), ["operator is not supported"]);
}

#[test]
fn subgraphs_see_outer_values() {
    let mut inner = model(17, vec![node("Relu", &["outer"], &["y"])]).graph.unwrap();
    inner.input.clear();
    let branch = |inner: &GraphProto| {
        let graph = Value::Graph(inner.clone());
        with(node("If", &["x"], &["y"]), &[("then_branch", graph)])
    };
    let before = node("Relu", &["x"], &["outer"]);
    let m = model(17, vec![before.clone(), branch(&inner)]);
    let read_model = read(&m).unwrap();
    let attribute = &read_model.graph.nodes[1].attributes["then_branch"];
    assert_eq!(attribute.graphs()[0].nodes[0].op_type, "Relu");
    let m = model(17, vec![branch(&inner), before]);
    assert!(problems(&m)[0].contains("uses `outer`"));
}

#[test]
fn attributes() {
    let mut m = relu();
    let bad =
        |name: &str, kind: i32| AttributeProto { name: Some(name.into()), r#type: Some(kind), ..Default::default() };
    let mut lies = bad("lies", 1);
    lies.i = Some(3);
    let mut reference = bad("reference", 2);
    reference.ref_attr_name = Some("outer".into());
    let mut twice = bad("twice", 2);
    twice.i = Some(1);
    graph(&mut m).node[0].attribute = vec![
        lies,
        reference,
        bad("nothing", 0),
        bad("unknown", 77),
        bad("tensor", 4),
        bad("graph", 5),
        twice.clone(),
        twice,
    ];
    let place = "node `my_Relu` (Relu)";
    assert_eq!(
        problems(&m),
        [
            format!("{place}, attribute `lies`: says it is float but holds int"),
            format!(
                "{place}, attribute `reference`: refers to function attribute `outer` outside a \
                 function"
            ),
            format!("{place}, attribute `nothing`: has neither a type nor a value"),
            format!("{place}, attribute `unknown`: has unknown attribute type 77"),
            format!("{place}, attribute `tensor`: says it is tensor but holds none"),
            format!("{place}, attribute `graph`: says it is graph but holds none"),
            format!("{place}: has attribute `twice` twice"),
        ]
    );
}

#[test]
fn tensors_in_typed_fields() {
    let tensor = |data_type: i32, dims: &[i64], int32_data: &[i32]| TensorProto {
        name: Some("w".into()),
        data_type: Some(data_type),
        dims: dims.to_vec(),
        int32_data: int32_data.to_vec(),
        ..Default::default()
    };
    let with_tensor = |t: TensorProto| {
        let mut m = relu();
        graph(&mut m).initializer = vec![t];
        m
    };
    let bytes = |t: TensorProto| {
        let model = read(&with_tensor(t)).unwrap();
        model.graph.initializers["w"].bytes().unwrap().to_vec()
    };
    assert_eq!(bytes(tensor(3, &[2], &[-1, 127])), [0xff, 0x7f]);
    assert_eq!(bytes(tensor(5, &[1], &[-2])), [0xfe, 0xff]);
    assert_eq!(bytes(tensor(10, &[1], &[0x3c00])), [0x00, 0x3c]);
    assert_eq!(bytes(tensor(9, &[2], &[1, 0])), [1, 0]);
    assert_eq!(bytes(tensor(21, &[3], &[0x21, 0x03])), [0x21, 0x03]);
    assert_eq!(bytes(tensor(6, &[0], &[])), [0u8; 0]);
    let mut u32s = tensor(12, &[1], &[]);
    u32s.uint64_data = vec![u32::MAX.into()];
    assert_eq!(bytes(u32s), [0xff; 4]);

    let bad = |t: TensorProto| problems(&with_tensor(t)).remove(0);
    assert!(bad(tensor(3, &[1], &[128])).ends_with("holds 128, which is out of the range of i8"));
    assert!(bad(tensor(9, &[1], &[2])).ends_with("holds 2, which is out of the range of bool"));
    assert!(bad(tensor(6, &[3], &[1])).ends_with("holds 1 elements, its shape takes 3"));
    assert!(bad(tensor(0, &[1], &[1])).ends_with("has unknown element type 0"));
    assert!(bad(tensor(6, &[-1], &[1])).contains("negative dim"));
    let huge = i64::MAX;
    assert!(bad(tensor(6, &[huge, huge], &[])).contains("too many elements"));
    assert!(bad(tensor(6, &[huge], &[])).contains("too many elements"));
}

#[test]
fn weights_listed_as_inputs() {
    let mut m = model(17, vec![node("Add", &["x", "w"], &["y"])]);
    let mut w = info("w", FLOAT);
    graph(&mut m).input.push(w.clone());
    graph(&mut m).initializer = vec![floats("w", &[1, 4], &[0.0; 4])];
    let model = read(&m).unwrap();
    let names: Vec<_> = model.graph.runtime_inputs().map(|i| &i.name).collect();
    assert_eq!(names, ["x"]);
    assert_eq!(model.warnings.len(), 1);
    m.ir_version = Some(3);
    assert_eq!(read(&m).unwrap().warnings, []);

    w = info("w", INT64);
    graph(&mut m).input[1] = w;
    assert!(problems(&m)[0].contains("another type or shape"));
    graph(&mut m).input[1] = info("w", FLOAT);
    graph(&mut m).initializer = vec![floats("w", &[1, 5], &[0.0; 5])];
    assert!(problems(&m)[0].contains("another type or shape"));
}

#[test]
fn dims() {
    use tensor_shape_proto::dimension::Value as DimValue;
    let with_dim = |value| {
        let mut m = relu();
        let ty = graph(&mut m).input[0].r#type.as_mut().unwrap();
        let Some(type_proto::Value::TensorType(t)) = &mut ty.value else {
            unreachable!("made so");
        };
        t.shape.as_mut().unwrap().dim[0].value = value;
        m
    };
    let dim = |value| {
        let model = read(&with_dim(value)).unwrap();
        match &model.graph.inputs[0].ty {
            ValueType::Tensor { element: ElementType::F32, shape: Some(shape) } => {
                (shape[0].clone(), model.warnings.len())
            }
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(dim(None), (Dim::Unknown, 0));
    assert_eq!(dim(Some(DimValue::DimParam(String::new()))), (Dim::Unknown, 0));
    assert_eq!(dim(Some(DimValue::DimParam("s".into()))), (Dim::Named("s".into()), 0));
    assert_eq!(dim(Some(DimValue::DimValue(0))), (Dim::Known(0), 0));
    assert_eq!(dim(Some(DimValue::DimValue(-1))), (Dim::Unknown, 1));
    assert_eq!(problems(&with_dim(Some(DimValue::DimValue(-7)))), ["input `x`: dim 0 is -7"]);
}

#[test]
fn input_needs_a_type() {
    let mut m = relu();
    graph(&mut m).input[0].r#type = None;
    assert_eq!(problems(&m), ["input `x`: has no type"]);
    // An output's type follows from the nodes.
    m = relu();
    graph(&mut m).output[0].r#type = None;
    assert_eq!(read(&m).unwrap().graph.outputs[0].ty, ValueType::Unknown);
}

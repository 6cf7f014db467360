//! The models in `examples/`.

use std::path::PathBuf;

use crate::onnx::{
    Dim, ElementType, NamedNumber, OnnxModel, Op, Param, Reduction, TypedNode, ValueInfo, ValueType, typed_nodes,
};

pub(super) fn path(name: &str) -> PathBuf {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../examples");
    root.join(name).join(format!("{name}.onnx"))
}

fn example(name: &str) -> OnnxModel {
    OnnxModel::read(&path(name)).unwrap_or_else(|e| panic!("{name}: {e}"))
}

fn count<'m>(nodes: &[TypedNode<'m>], which: impl Fn(&Op<'m>) -> bool) -> usize {
    nodes.iter().filter(|n| which(&n.op)).count()
}

/// `f32[batch, 64]`
fn signature(infos: &[ValueInfo]) -> Vec<String> {
    let dim = |d: &Dim| match d {
        Dim::Known(n) => n.to_string(),
        Dim::Named(name) => name.clone(),
        Dim::Unknown => "?".into(),
    };
    let one = |v: &ValueInfo| match &v.ty {
        ValueType::Tensor { element, shape } => {
            let shape: Vec<_> = shape.as_ref().unwrap().iter().map(dim).collect();
            format!("{}: {element}[{}]", v.name, shape.join(", "))
        }
        other => format!("{}: {other:?}", v.name),
    };
    infos.iter().map(one).collect()
}

#[test]
fn encoder() {
    let model = example("encoder");
    assert_eq!((model.ir_version, model.opset()), (8, 17));
    assert_eq!(model.warnings, []);
    let graph = &model.graph;
    assert_eq!(signature(&graph.inputs), ["x: f32[batch, seq, 256]", "mask: i64[batch, seq]"]);
    assert_eq!(signature(&graph.outputs), ["y: f32[batch, seq, 256]"]);
    assert_eq!((graph.nodes.len(), graph.initializers.len()), (92, 16));
    let weight = &graph.initializers["intermediate.dense.weight_t"];
    assert_eq!(weight.dims, [256, 1024]);
    assert_eq!(weight.bytes().unwrap().len(), 256 * 1024 * 4);

    let nodes = typed_nodes(&model).unwrap();
    assert_eq!(nodes.len(), 92);
    assert_eq!(count(&nodes, |op| matches!(op, Op::MatMul { .. })), 8);
    let mean = |op: &Op| {
        matches!(op, Op::Reduce { function: Reduction::Mean, axes, keep_dims: true, .. }
            if axes.as_deref() == Some(&[-1]))
    };
    assert_eq!(count(&nodes, mean), 2);
    // One shape is constant, three are computed from the input's.
    let known = |op: &Op| {
        matches!(op, Op::Reshape { shape: Param::Known(s), zero_copies: true, .. }
            if s == &[0, 0, 4, 64])
    };
    assert_eq!(count(&nodes, known), 1);
    let computed = |op: &Op| matches!(op, Op::Reshape { shape: Param::Value(_), .. });
    assert_eq!(count(&nodes, computed), 3);
    let cast = |op: &Op| matches!(op, Op::Cast { x: _, to: ElementType::F32, .. });
    assert_eq!(count(&nodes, cast), 1);
    let last = nodes.last().unwrap();
    let Op::Named { operator, inputs, attributes, .. } = &last.op else { panic!("{last:?}") };
    assert_eq!((*operator, inputs.len()), ("layer_norm", 3));
    let wanted = [("axis", NamedNumber::Int(-1)), ("epsilon", NamedNumber::Float(1e-5))];
    assert_eq!(attributes[..], wanted.map(|(name, value)| (name.to_string(), value)));
    assert_eq!(last.outputs().collect::<Vec<_>>(), [Some("y")]);
}

#[test]
fn mlp() {
    let model = example("mlp");
    let nodes = typed_nodes(&model).unwrap();
    assert_eq!(signature(&model.graph.inputs), ["x: f32[batch, 64]"]);
    let ops: Vec<_> = nodes.iter().map(|n| &n.op).collect();
    assert!(matches!(ops[0], Op::Gemm { alpha: 1.0, beta: 1.0, transpose_a: false, transpose_b: true, .. }));
    assert!(matches!(ops[2], Op::Gemm { alpha: 2.0, beta: 0.5, transpose_b: false, .. }));
    assert!(matches!(ops[3], Op::Named { operator: "softmax", .. }));
}

#[test]
fn cnn() {
    let model = example("cnn");
    let nodes = typed_nodes(&model).unwrap();
    assert_eq!(signature(&model.graph.inputs), ["image: f32[batch, 3, height, width]"]);
    let convs: Vec<_> = nodes
        .iter()
        .filter_map(|n| match &n.op {
            Op::Conv { group, window, .. } => Some((*group, window.kernel[0], window.strides[0], window.dilations[0])),
            _ => None,
        })
        .collect();
    assert_eq!(convs, [(1, 3, 2, 1), (16, 3, 1, 1), (1, 1, 1, 1), (2, 3, 2, 1), (1, 3, 1, 2)]);
    assert_eq!(count(&nodes, |op| matches!(op, Op::Pool { .. })), 2);
    assert_eq!(count(&nodes, |op| matches!(op, Op::Named { operator: "batch_norm", .. })), 3);
}

#[test]
fn weights_are_slices_of_the_file() {
    let file = bytes::Bytes::from(std::fs::read(path("mlp")).unwrap());
    let model = OnnxModel::from_bytes(file.clone(), None).unwrap();
    let weight = model.graph.initializers["fc1.weight"].bytes().unwrap();
    let range = file.as_ptr_range();
    assert!(range.contains(&weight.as_ptr()), "the weight was copied");
}

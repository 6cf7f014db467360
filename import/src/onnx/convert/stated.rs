//! Sizes that a model states for its values.

use rustc_hash::FxHashMap;

use super::super::model::{Dim, Graph, ValueInfo, ValueType};

/// Operators of ONNX whose result has the sizes of their first input, whatever else they take.
const KEEP_SIZES: [&str; 49] = [
    "Abs",
    "Acos",
    "Acosh",
    "Asin",
    "Asinh",
    "Atan",
    "Atanh",
    "BitwiseNot",
    "Cast",
    "CastLike",
    "Ceil",
    "Celu",
    "Clip",
    "Cos",
    "Cosh",
    "CumSum",
    "Dropout",
    "Elu",
    "Erf",
    "Exp",
    "Floor",
    "Gelu",
    "HardSigmoid",
    "HardSwish",
    "Hardmax",
    "Identity",
    "IsInf",
    "IsNaN",
    "LeakyRelu",
    "Log",
    "LogSoftmax",
    "Mish",
    "Neg",
    "Not",
    "Reciprocal",
    "Relu",
    "Round",
    "Selu",
    "Sigmoid",
    "Sign",
    "Sin",
    "Sinh",
    "Softmax",
    "Softplus",
    "Softsign",
    "Sqrt",
    "Tan",
    "Tanh",
    "ThresholdedRelu",
];

/// The sizes of values for which a model states all as numbers, and of those that become one of them without another size.
pub(super) fn sizes(graph: &Graph) -> FxHashMap<&str, Vec<i64>> {
    let mut stated: FxHashMap<&str, Vec<i64>> = FxHashMap::default();
    for info in graph.outputs.iter().chain(&graph.value_info) {
        if let Some(sizes) = numbers(info) {
            stated.entry(&info.name).or_insert(sizes);
        }
    }
    // Names are defined before they are used: what a node makes is known before what it takes.
    for node in graph.nodes.iter().rev() {
        let (Some(Some(x)), Some(Some(y))) = (node.inputs.first(), node.outputs.first()) else { continue };
        if !node.domain.is_empty() || !KEEP_SIZES.contains(&node.op_type.as_str()) {
            continue;
        }
        if let Some(sizes) = stated.get(y.as_str()).cloned() {
            stated.entry(x).or_insert(sizes);
        }
    }
    stated
}

fn numbers(info: &ValueInfo) -> Option<Vec<i64>> {
    let ValueType::Tensor { shape: Some(dims), .. } = &info.ty else { return None };
    let size = |dim: &Dim| if let Dim::Known(size) = dim { i64::try_from(*size).ok() } else { None };
    dims.iter().map(size).collect()
}

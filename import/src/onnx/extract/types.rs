//! Types of the values that a model is cut at, as ONNX writes them.

use prost::Message;
use rustc_hash::FxHashMap;
use sutura_dialects::r#dyn::Poly;
use sutura_dialects::r#dyn::attr::symbolic_shape;
use sutura_dialects::func::FuncOp;
use sutura_ir::{Context, Diagnostics, Module, OpRef, Type};

use super::super::convert::{NAME, element_type, import_with};
use super::super::model::OnnxModel;
use super::super::proto::{
    GraphProto, TensorProto, TensorShapeProto, TypeProto, ValueInfoProto, tensor_shape_proto::Dimension,
    tensor_shape_proto::dimension, type_proto,
};
use super::super::tensor::ElementType;
use super::plan::CutError;

/// The values' descriptions: of what the model states and what its import infers, the type that says more. Values of other kinds
/// than tensors have the type that the model states.
pub(super) fn described(
    cx: &Context,
    graph: &GraphProto,
    model: &OnnxModel,
    names: &[String],
) -> Result<FxHashMap<String, Vec<u8>>, CutError> {
    let (inferred, why) = match inferred(cx, model, names) {
        Ok(types) => (types, "its operation makes no tensor".to_owned()),
        Err(why) => (FxHashMap::default(), format!("the model does not state it, and it cannot be inferred: {why}")),
    };
    let described = names.iter().map(|name| {
        let ty = match (stated(graph, name), inferred.get(name)) {
            (Some(stated), Some(inferred)) if !is_tensor(&stated) || names_more(&stated, inferred) => stated,
            (_, Some(inferred)) => inferred.clone(),
            (Some(stated), None) => stated,
            (None, None) => return Err(CutError::NoType { name: name.clone(), why: why.clone() }),
        };
        let info = ValueInfoProto { name: Some(name.clone()), r#type: Some(ty) };
        Ok((name.clone(), info.encode_to_vec()))
    });
    described.collect()
}

/// The type that the model states of a value, if it is complete enough for an input.
fn stated(graph: &GraphProto, name: &str) -> Option<TypeProto> {
    let infos = graph.input.iter().chain(&graph.output).chain(&graph.value_info);
    let stated = infos.filter(|info| info.name() == name).find_map(|info| info.r#type.clone());
    let stated = stated.filter(|ty| match &ty.value {
        Some(type_proto::Value::TensorType(tensor)) => tensor.elem_type() != 0 && tensor.shape.is_some(),
        other => other.is_some(),
    });
    stated.or_else(|| graph.initializer.iter().find(|tensor| tensor.name() == name).map(of_tensor))
}

fn of_tensor(tensor: &TensorProto) -> TypeProto {
    let dims = tensor.dims.iter().map(|dim| Some(dimension::Value::DimValue(*dim)));
    tensor_type(tensor.data_type(), dims)
}

fn tensor_type(element: i32, dims: impl Iterator<Item = Option<dimension::Value>>) -> TypeProto {
    let shape = TensorShapeProto { dim: dims.map(|value| Dimension { value }).collect() };
    let tensor = type_proto::Tensor { elem_type: Some(element), shape: Some(shape) };
    TypeProto { value: Some(type_proto::Value::TensorType(tensor)) }
}

fn is_tensor(ty: &TypeProto) -> bool {
    matches!(ty.value, Some(type_proto::Value::TensorType(_)))
}

/// Whether what is stated has as many sizes that are numbers, or more: then its names of the others are the user's own.
fn names_more(stated: &TypeProto, inferred: &TypeProto) -> bool {
    numbers(stated) >= numbers(inferred)
}

fn numbers(ty: &TypeProto) -> usize {
    let Some(type_proto::Value::TensorType(tensor)) = &ty.value else { return 0 };
    let dims = tensor.shape.iter().flat_map(|shape| &shape.dim);
    dims.filter(|dim| matches!(dim.value, Some(dimension::Value::DimValue(_)))).count()
}

/// Types that the import infers, or why it does not.
fn inferred(cx: &Context, model: &OnnxModel, names: &[String]) -> Result<FxHashMap<String, TypeProto>, String> {
    let module = import_with(cx, model, names, &mut Diagnostics::default()).map_err(|error| error.to_string())?;
    Ok(signature(cx, &module).into_iter().filter_map(|(name, ty)| Some((name, of_type(cx, ty)?))).collect())
}

/// Names and types of arguments and results of the function that a model became.
fn signature(cx: &Context, module: &Module) -> Vec<(String, Type)> {
    let body = module.body();
    let ops = body.entry_block().into_iter().flat_map(|block| body.ops(block));
    let found = ops.map(|op| OpRef::new(cx, body, op)).find_map(|op| Some((op, op.as_::<FuncOp<'_>>()?)));
    let Some((op, function)) = found else { return Vec::new() };
    let named = |attr: &str, types: &[Type]| {
        let dicts = op.prop(attr).and_then(|attrs| cx.array(attrs)).unwrap_or_default();
        let name = |dict: &_| cx.as_str(cx.entry(*dict, cx.ident(NAME))?).map(str::to_owned);
        dicts.iter().zip(types).filter_map(|(dict, ty)| Some((name(dict)?, *ty))).collect::<Vec<_>>()
    };
    [named("arg_attrs", function.inputs()), named("res_attrs", function.results())].concat()
}

fn of_type(cx: &Context, ty: Type) -> Option<TypeProto> {
    let element = (1..).map_while(ElementType::from_code).find(|e| element_type(cx, *e) == Ok(cx.element_type(ty)))?;
    let dim = |size: &Option<Poly>| {
        let size = size.as_ref()?;
        Some(size.as_const().map_or_else(|| dimension::Value::DimParam(size.to_string()), dimension::Value::DimValue))
    };
    Some(tensor_type(element.code(), symbolic_shape(cx, ty)?.iter().map(dim)))
}

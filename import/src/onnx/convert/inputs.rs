//! Inputs of a model as arguments of a function: one for a tensor, one for each tensor of a sequence.

use sutura_dialects::r#dyn::Poly;
use sutura_dialects::r#dyn::attr::tensor_of;
use sutura_dialects::graph::SymShape;
use sutura_ir::types::MAX_RANK;
use sutura_ir::{Context, Type, Value};

use super::super::model::{Dim, OnnxModel, ValueType};
use super::super::support::Unsupported;
use super::items::{Item, Sequence};
use super::names::Symbols;
use super::{literal, outer, rank_message};

/// An input that a caller gives.
pub(super) struct Input<'m> {
    pub(super) name: &'m str,
    form: Form,
}

/// What an input is, and the arguments for it.
enum Form {
    Tensor(String, Type),
    /// With the type of elements, which is known of an empty one too.
    Sequence(Type, Vec<(String, Type)>),
    Optional(Option<Box<Form>>),
}

impl Input<'_> {
    /// Names and types of the arguments.
    pub(super) fn arguments(&self) -> impl Iterator<Item = (&str, Type)> {
        let mut form = &self.form;
        while let Form::Optional(Some(inner)) = form {
            form = inner;
        }
        let (one, several) = match form {
            Form::Tensor(name, ty) => (Some((name.as_str(), *ty)), &[][..]),
            Form::Sequence(_, tensors) => (None, &tensors[..]),
            Form::Optional(_) => (None, &[][..]),
        };
        one.into_iter().chain(several.iter().map(|(name, ty)| (name.as_str(), *ty)))
    }

    /// What its name stands for, with the values of its arguments.
    pub(super) fn item(&self, values: &mut impl Iterator<Item = Value>) -> Item {
        self.form.item(values)
    }
}

impl Form {
    fn item(&self, values: &mut impl Iterator<Item = Value>) -> Item {
        match self {
            Self::Tensor(..) => Item::Tensor(values.next().expect("an argument for each tensor")),
            Self::Sequence(elem, tensors) => {
                Item::Sequence(Sequence { elem: Some(*elem), tensors: values.take(tensors.len()).collect() })
            }
            Self::Optional(inner) => Item::Optional(inner.as_ref().map(|inner| Box::new(inner.item(values)))),
        }
    }
}

/// The inputs that a caller must give. Dims without a name get one.
pub(super) fn of_model<'m>(
    cx: &Context,
    model: &'m OnnxModel,
    symbols: &mut Symbols,
    unsupported: &mut Vec<Unsupported>,
) -> Vec<Input<'m>> {
    // Names first, so that no made-up name takes one of the model's.
    for info in model.graph.runtime_inputs().chain(&model.graph.outputs) {
        names_of(&info.ty, &mut |name| symbols.reserve(name));
    }
    let mut inputs = Vec::new();
    for info in model.graph.runtime_inputs() {
        match form(cx, &info.name, &info.ty, symbols) {
            Ok(form) => inputs.push(Input { name: &info.name, form }),
            Err(reason) => {
                let hint = matches!(&info.ty, ValueType::Tensor { shape: None, .. })
                    .then(|| format!("say its shape with `--shape \"{}=[N,3]\"`", info.name));
                unsupported.push(Unsupported { hint, ..outer("input", &info.name, reason) });
            }
        }
    }
    inputs
}

/// The names of dims of a type.
fn names_of(ty: &ValueType, seen: &mut impl FnMut(&str)) {
    match ty {
        ValueType::Tensor { shape: Some(dims), .. } => dims.iter().for_each(|dim| {
            if let Dim::Named(name) = dim {
                seen(name);
            }
        }),
        ValueType::Sequence { tensors: Some(tensors), .. } => tensors.iter().for_each(|ty| names_of(ty, seen)),
        ValueType::Optional { of, there: Some(true) } => names_of(of, seen),
        _ => {}
    }
}

fn form(cx: &Context, name: &str, ty: &ValueType, symbols: &mut Symbols) -> Result<Form, String> {
    match ty {
        ValueType::Optional { there: Some(false), .. } => Ok(Form::Optional(None)),
        ValueType::Optional { of, .. } => Ok(Form::Optional(Some(Box::new(form(cx, name, of, symbols)?)))),
        ValueType::Sequence { of, tensors: Some(tensors) } => {
            let ValueType::Tensor { element, .. } = **of else { return Err("is no sequence of tensors".to_owned()) };
            let tensor = |(at, ty): (usize, &ValueType)| {
                let name = format!("{name}.{at}");
                tensor_type(cx, &name, ty, symbols).map(|ty| (name, ty))
            };
            let tensors = tensors.iter().enumerate().map(tensor).collect::<Result<_, String>>()?;
            Ok(Form::Sequence(literal::element_type(cx, element)?, tensors))
        }
        tensor => Ok(Form::Tensor(name.to_owned(), tensor_type(cx, name, tensor, symbols)?)),
    }
}

fn tensor_type(cx: &Context, name: &str, ty: &ValueType, symbols: &mut Symbols) -> Result<Type, String> {
    let ValueType::Tensor { element, shape } = ty else { return Err("is no tensor of a known type".into()) };
    let elem = literal::element_type(cx, *element)?;
    let dims = shape.as_ref().ok_or("has no known rank")?;
    if dims.len() > MAX_RANK {
        return Err(rank_message(dims.len()));
    }
    let mut dim = |(i, dim): (usize, &Dim)| match dim {
        Dim::Known(size) => i64::try_from(*size).map(Poly::from).map_err(|_| format!("has a dim of size {size}")),
        Dim::Named(name) => Ok(Poly::symbol(symbols.named(name))),
        Dim::Unknown => Ok(Poly::symbol(&symbols.fresh(&format!("{name}_{i}")))),
    };
    let shape = dims.iter().enumerate().map(|d| dim(d).map(Some)).collect::<Result<SymShape, String>>()?;
    Ok(tensor_of(cx, &shape, elem))
}

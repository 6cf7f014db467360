//! Shapes of inputs that are said beside the model, as `x=[N,3]`: of tensors whose rank it leaves open, and of the tensors in a
//! sequence or an optional, whose number is no part of a type of ONNX.

use std::fmt;
use std::str::FromStr;

use super::model::{Dim, OnnxModel, ValueType};

/// What is said of an input: `NAME=SHAPE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GivenShape {
    input: String,
    shape: Given,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Given {
    /// An optional without a value: `none`.
    Nothing,
    /// A tensor's dims: `[N,3]`; `[]` is a scalar, or a sequence without tensors.
    Dims(Vec<Dim>),
    /// The dims of each tensor of a sequence: `[[N,3],[4]]`.
    Each(Vec<Vec<Dim>>),
}

impl FromStr for GivenShape {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let form = || format!("`{text}` is no `NAME=SHAPE`, as `x=[N,3]`, `x=[[N,3],[4]]` for a sequence, or `x=none`");
        // A name may hold `=`, a shape does not.
        let (input, shape) = text.rsplit_once('=').filter(|(input, _)| !input.is_empty()).ok_or_else(form)?;
        let shape = match shape.trim() {
            "none" => Given::Nothing,
            shape => {
                let inner = shape.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).ok_or_else(form)?;
                if inner.trim_start().starts_with('[') {
                    Given::Each(shapes(inner).ok_or_else(form)??)
                } else {
                    Given::Dims(dims(inner)?)
                }
            }
        };
        Ok(Self { input: input.to_owned(), shape })
    }
}

/// Shapes in brackets, with commas between them; nothing where it is not that.
fn shapes(text: &str) -> Option<Result<Vec<Vec<Dim>>, String>> {
    let inner = text.trim().strip_prefix('[')?.strip_suffix(']')?;
    let mut found = Vec::new();
    for part in inner.split(']') {
        let part = match found.len() {
            0 => part,
            _ => part.trim_start().strip_prefix(',')?.trim_start().strip_prefix('[')?,
        };
        match dims(part) {
            Ok(dims) => found.push(dims),
            Err(error) => return Some(Err(error)),
        }
    }
    Some(Ok(found))
}

fn dims(text: &str) -> Result<Vec<Dim>, String> {
    if text.trim().is_empty() { Ok(Vec::new()) } else { text.split(',').map(|dim| dim_of(dim.trim())).collect() }
}

fn dim_of(text: &str) -> Result<Dim, String> {
    let is_name = text.starts_with(|c: char| c.is_alphabetic() || c == '_') && !text.contains(['[', ']', '?']);
    match text {
        "?" => Ok(Dim::Unknown),
        name if is_name => Ok(Dim::Named(name.to_owned())),
        number => number.parse().map(Dim::Known).map_err(|_| {
            format!("`{text}` is no dim; a dim is a number, a name, or `?` for a size that each run tells")
        }),
    }
}

impl fmt::Display for Dim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Known(size) => write!(f, "{size}"),
            Self::Named(name) => f.write_str(name),
            Self::Unknown => f.write_str("?"),
        }
    }
}

impl OnnxModel {
    /// Takes what is said of shapes of inputs for their types. A name that the model has for a dim becomes the given one everywhere.
    ///
    /// # Errors
    /// There is no such input that a caller gives, or it has another rank, size or kind, or two shapes are given of one.
    pub fn give_shapes(&mut self, given: &[GivenShape]) -> Result<(), String> {
        for (at, shape) in given.iter().enumerate() {
            if given[..at].iter().any(|other| other.input == shape.input) {
                return Err(format!("two shapes are given of input `{}`", shape.input));
            }
            self.give_shape(shape)?;
        }
        Ok(())
    }

    fn give_shape(&mut self, given: &GivenShape) -> Result<(), String> {
        let name = &given.input;
        let Some(info) = self.graph.runtime_inputs().find(|info| info.name == *name) else {
            let inputs: Vec<String> = self.graph.runtime_inputs().map(|info| format!("`{}`", info.name)).collect();
            let inputs = if inputs.is_empty() {
                "the model has none".to_owned()
            } else {
                format!("there are {}", inputs.join(", "))
            };
            return Err(format!("the model has no input `{name}` that a caller gives; {inputs}"));
        };
        let mut renamed = Vec::new();
        let ty = with_shape(&info.ty, &given.shape, &mut renamed).map_err(|why| format!("input `{name}` {why}"))?;
        let graph = &mut self.graph;
        for info in graph.inputs.iter_mut().chain(&mut graph.outputs).chain(&mut graph.value_info) {
            if info.name == *name {
                info.ty = ty.clone();
            } else {
                rename(&mut info.ty, &renamed);
            }
        }
        Ok(())
    }
}

/// The type with that shape; names of dims that are others now are noted.
fn with_shape(ty: &ValueType, shape: &Given, renamed: &mut Vec<(String, Dim)>) -> Result<ValueType, String> {
    match (ty, shape) {
        (ValueType::Tensor { element, shape: stated }, Given::Dims(dims)) => {
            let shape = match stated {
                Some(stated) => Some(refined(stated, dims, renamed)?),
                None => Some(dims.clone()),
            };
            Ok(ValueType::Tensor { element: *element, shape })
        }
        (ValueType::Tensor { .. }, Given::Each(_)) => Err("is a tensor, which has one shape, as `[N,3]`".to_owned()),
        (ValueType::Optional { of, .. }, Given::Nothing) => {
            Ok(ValueType::Optional { of: of.clone(), there: Some(false) })
        }
        (_, Given::Nothing) => Err("is no optional, so it is there".to_owned()),
        (ValueType::Optional { of, .. }, given) => {
            Ok(ValueType::Optional { of: Box::new(with_shape(of, given, renamed)?), there: Some(true) })
        }
        (ValueType::Sequence { of, .. }, given) => {
            let each = match given {
                Given::Each(each) => &each[..],
                Given::Dims(dims) if dims.is_empty() => &[],
                _ => {
                    return Err("is a sequence, and has a shape for each of its tensors, as `[[N,3],[4,3]]`".to_owned());
                }
            };
            let any =
                any_sizes(of).ok_or_else(|| format!("is a sequence of what is {}, and not a tensor", of.kind()))?;
            let tensor = |dims: &Vec<Dim>| with_shape(&any, &Given::Dims(dims.clone()), &mut Vec::new());
            let tensors = each.iter().map(tensor).collect::<Result<_, _>>()?;
            Ok(ValueType::Sequence { of: of.clone(), tensors: Some(tensors) })
        }
        (other, _) => Err(format!("is {}, which has no shape", other.kind())),
    }
}

/// The type of a tensor in a sequence: each has sizes of its own, whatever names the type of all has for them.
fn any_sizes(of: &ValueType) -> Option<ValueType> {
    let ValueType::Tensor { element, shape } = of else { return None };
    let any = |dim: &Dim| if let Dim::Named(_) = dim { Dim::Unknown } else { dim.clone() };
    let shape = shape.as_ref().map(|dims| dims.iter().map(any).collect());
    Some(ValueType::Tensor { element: *element, shape })
}

/// The dims that are given, where the model states some.
fn refined(stated: &[Dim], given: &[Dim], renamed: &mut Vec<(String, Dim)>) -> Result<Vec<Dim>, String> {
    if stated.len() != given.len() {
        return Err(format!("has rank {} in the model, and the shape has rank {}", stated.len(), given.len()));
    }
    for (at, (stated, given)) in stated.iter().zip(given).enumerate() {
        match (stated, given) {
            (Dim::Known(size), Dim::Known(other)) if size == other => {}
            (Dim::Known(size), other) => return Err(format!("has size {size} in dim {at}, which `{other}` is not")),
            // What is known by a name stays so.
            (Dim::Named(name), given) if *given != Dim::Unknown => match renamed.iter().find(|(old, _)| old == name) {
                Some((_, other)) if other != given => {
                    return Err(format!(
                        "has dims that the model calls `{name}`, which cannot be `{other}` and `{given}`"
                    ));
                }
                Some(_) => {}
                None => renamed.push((name.clone(), given.clone())),
            },
            _ => {}
        }
    }
    let dim = |(stated, given): (&Dim, &Dim)| match given {
        Dim::Unknown => new_name(stated, renamed).unwrap_or(stated).clone(),
        given => given.clone(),
    };
    Ok(stated.iter().zip(given).map(dim).collect())
}

/// What a dim is called now, if it has another name.
fn new_name<'a>(dim: &Dim, renamed: &'a [(String, Dim)]) -> Option<&'a Dim> {
    renamed.iter().find(|(old, _)| matches!(dim, Dim::Named(name) if name == old)).map(|(_, new)| new)
}

/// Puts sizes in the place of names, but in sequences, where a name says of no two tensors that they have one size.
fn rename(ty: &mut ValueType, renamed: &[(String, Dim)]) {
    match ty {
        ValueType::Tensor { shape: Some(dims), .. } => {
            for dim in dims {
                if let Some(new) = new_name(dim, renamed) {
                    *dim = new.clone();
                }
            }
        }
        ValueType::Optional { of, .. } => rename(of, renamed),
        _ => {}
    }
}

//! The tensors that a run is on: those that are given, and those that are made.

use std::path::PathBuf;

use sutura_dialects::r#dyn::Poly;
use sutura_runtime::manifest::{Dim, Value};
use sutura_runtime::{ElementType, Model, Tensor};

use super::known;
use crate::args::Running;
use crate::failure::Failure;
use crate::random;
use crate::sizes::{Sizes, asked};
use crate::talk::Talk;
use crate::tensors::{self, Files, Source};

/// An input that is given, with what it says of itself.
#[derive(Clone, PartialEq)]
struct Given {
    source: Source,
    element_type: ElementType,
    dims: Vec<i64>,
}

/// What the command line says of inputs, and what the files that it names say of themselves.
pub struct Inputs<'m> {
    model: &'m Model,
    /// By the place of the input in the signature.
    given: Vec<Option<Given>>,
    /// Sizes of each run.
    pub sizes: Vec<Sizes>,
    seed: u64,
}

impl<'m> Inputs<'m> {
    /// Looks at what is given before data are read, which may be many. `whole` refuses inputs that are not given.
    ///
    /// # Errors
    /// When what is given does not fit the model.
    pub fn new(
        model: &'m Model,
        specs: &[String],
        paths: &[PathBuf],
        running: &Running,
        files: &mut Files,
        whole: bool,
    ) -> Result<Self, Failure> {
        let values = model.inputs();
        let sources = with_files(named(specs, values, "input")?, paths, files, values, "input")?;
        let mut signatures = Vec::with_capacity(sources.len());
        for (name, source) in &sources {
            let Some(value) = values.iter().find(|value| value.name == *name) else {
                // Its words are the runtime's, which also say what there is.
                model.accept(&[(name, ElementType::F32, &[])])?;
                continue;
            };
            signatures.push((name.as_str(), files.signature(value, source)?));
        }
        let all: Vec<_> = signatures.iter().map(|(name, (ty, dims))| (*name, *ty, &dims[..])).collect();
        if whole || all.len() >= values.len() {
            model.accept(&all)?;
        }
        let fixed = fixed(values, &all);
        let sizes = asked(model.manifest(), &running.dim, &fixed)?;
        let mut given: Vec<Option<Given>> = vec![None; values.len()];
        let signatures: Vec<(ElementType, Vec<i64>)> = signatures.into_iter().map(|(_, signature)| signature).collect();
        for ((name, source), (element_type, dims)) in sources.into_iter().zip(signatures) {
            let at = values.iter().position(|value| value.name == name).unwrap_or_default();
            if given[at].replace(Given { source, element_type, dims }).is_some() {
                return Err(Failure::usage(format!("the input `{name}` is given twice")));
            }
        }
        let inputs = Self { model, given, sizes, seed: running.seed };
        inputs.sizes.iter().try_for_each(|sizes| inputs.accept(sizes))?;
        Ok(inputs)
    }

    /// Whether an input is made.
    pub fn are_made(&self) -> bool {
        self.given.contains(&None)
    }

    /// Refuses inputs at sizes that the model does not take.
    fn accept(&self, sizes: &Sizes) -> Result<(), Failure> {
        let signature = |(at, value): (usize, &Value)| match &self.given[at] {
            Some(given) => Ok((given.element_type, given.dims.clone())),
            None => Ok((value.element_type, dims(value, sizes)?)),
        };
        let values = self.model.inputs();
        let all = values.iter().enumerate().map(signature).collect::<Result<Vec<_>, Failure>>()?;
        let all: Vec<_> =
            values.iter().zip(&all).map(|(value, (ty, dims))| (&value.name[..], *ty, &dims[..])).collect();
        self.model.accept(&all).map(drop).map_err(Failure::from)
    }

    /// The inputs that are given, in their places.
    ///
    /// # Errors
    /// When a file is not read.
    pub fn load(&self, files: &mut Files) -> Result<Vec<Option<Tensor>>, Failure> {
        let values = self.model.inputs().iter().zip(&self.given);
        let load = |(value, given): (&Value, &Option<Given>)| {
            given.as_ref().map(|given| files.load(value, &given.source)).transpose()
        };
        values.map(load).collect()
    }

    /// The inputs that are not given, in their places.
    ///
    /// # Errors
    /// When there is no memory for one.
    pub fn make(&self, sizes: &Sizes, talk: &Talk) -> Result<Vec<Option<Tensor>>, Failure> {
        let make = |(value, given): (&Value, &Option<_>)| {
            if given.is_some() {
                return Ok(None);
            }
            let (ty, dims) = (value.element_type, dims(value, sizes)?);
            let (how, seed) = (random::describe(ty), self.seed);
            talk.note(&format!("input      {}: {ty}{dims:?}, made of elements {how}, seed {seed}", value.name));
            Ok(Some(random::tensor(&value.name, ty, &dims, seed)?))
        };
        self.model.inputs().iter().zip(&self.given).map(make).collect()
    }
}

/// The sizes that given tensors have.
fn fixed(values: &[Value], given: &[(&str, ElementType, &[i64])]) -> Vec<(String, i64)> {
    let mut fixed: Vec<(String, i64)> = Vec::new();
    for (name, _, dims) in given {
        let Some(value) = values.iter().find(|value| value.name == *name) else { continue };
        for (dim, size) in value.dims.iter().zip(*dims) {
            if let Dim::Symbol(symbol) = dim
                && fixed.iter().all(|(known, _)| known != symbol)
            {
                fixed.push((symbol.clone(), *size));
            }
        }
    }
    fixed
}

/// Dims of an input at sizes.
fn dims(value: &Value, sizes: &Sizes) -> Result<Vec<i64>, Failure> {
    let unknown = |dim: &str| {
        let failure = Failure::usage(format!("the dim `{dim}` of the input `{}` follows from no size", value.name));
        failure.hint(format!("give the input with `-i {}=@FILE`", value.name))
    };
    let size = |dim: &Dim| match dim {
        Dim::Const(size) => Ok(*size),
        Dim::Symbol(name) => sizes.get(name).ok_or_else(|| unknown(name)),
        Dim::Expr(text) => {
            let value = Poly::parse(text).ok().and_then(|poly| poly.eval(&|name| sizes.get(name)));
            value.filter(|size| *size >= 0).ok_or_else(|| unknown(text))
        }
    };
    value.dims.iter().map(size).collect()
}

/// Where tensors come from, by the names of `values`; one without a name is the next in order.
pub(super) fn named(specs: &[String], values: &[Value], what: &str) -> Result<Vec<(String, Source)>, Failure> {
    let mut tensors = Vec::with_capacity(specs.len());
    for (i, text) in specs.iter().enumerate() {
        let spec = tensors::parse(text)?;
        let name = match spec.name {
            Some(name) => name,
            None => match values.get(i) {
                Some(value) => value.name.clone(),
                None => return Err(Failure::usage(format!("there is no {what} number {}: `{text}`", i + 1))),
            },
        };
        if what != "input" {
            known(values, &name, what)?;
        }
        tensors.push((name, spec.source));
    }
    Ok(tensors)
}

/// The same tensors and all of some files, whose names must be those of `values`.
pub(super) fn with_files(
    mut tensors: Vec<(String, Source)>,
    paths: &[PathBuf],
    files: &mut Files,
    values: &[Value],
    what: &str,
) -> Result<Vec<(String, Source)>, Failure> {
    for path in paths {
        for (name, source) in files.all(path)? {
            known(values, &name, what).map_err(|failure| Failure {
                message: format!("`{}`: {}", path.display(), failure.message),
                ..failure
            })?;
            if tensors.iter().any(|(given, _)| *given == name) {
                return Err(Failure::usage(format!("{what} `{name}` is given twice, also in `{}`", path.display())));
            }
            tensors.push((name, source));
        }
    }
    Ok(tensors)
}

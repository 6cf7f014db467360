//! `--against onnxruntime`: what onnxruntime makes of each operation on what the compiled program gave it.

use std::path::Path;

use indexmap::IndexMap;
use serde_json::json;
use sutura_import::onnx::Cut;
use sutura_run::python::Python;
use sutura_runtime::{Tensor, npy};

use super::operation::Operation;
use crate::failure::{Failure, Kind};
use crate::files::TemporaryFolder;
use crate::input::Input;
use crate::talk::Talk;

const SCRIPT: &str = include_str!("outside.py");

/// How many times the bound onnxruntime may take for its own: it approximates functions by shorter polynomials than the table of
/// docs/debugging.md allows.
pub(super) const SHARE: f64 = 4.0;

/// References by the number of the value.
pub(super) type References = IndexMap<usize, Tensor>;

/// Asks for every operation; those that onnxruntime does not run have no reference, and that is said.
pub(super) fn references(all: Operation<'_>, python: &Path, talk: &Talk) -> Result<References, Failure> {
    if !matches!(all.valued.source.input, Input::Onnx(_)) {
        return Err(Failure::usage("--against onnxruntime is for ONNX models, and the model is a program in text"));
    }
    let (mut python, _) = Python::start(python, SCRIPT).map_err(|why| {
        let failure = Failure::new(Kind::System, format!("onnxruntime cannot be asked: {why}"));
        failure.hint("`--python` names another Python; `pip install onnxruntime` installs it")
    })?;
    let folder = TemporaryFolder::new()?;
    let mut references = References::new();
    for value in 0..all.names.len() {
        let operation = Operation { value, ..all };
        match reference(operation, &mut python, folder.path(), talk) {
            Ok(tensor) => drop(references.insert(value, tensor)),
            Err(why) => talk.note(&format!("{} is not compared: {why}", operation.text())),
        }
    }
    Ok(references)
}

/// The operation alone, on what it was given.
fn reference(operation: Operation<'_>, python: &mut Python, folder: &Path, talk: &Talk) -> Result<Tensor, String> {
    let output = operation.names[operation.value];
    let given = operation.given();
    let from = given.iter().map(|(name, _)| name.clone()).collect();
    let [model, inputs, result] = ["op.onnx", "inputs.npz", "result.npy"].map(|name| folder.join(name));
    let cut = Cut { from, to: vec![output.to_owned()] };
    operation.model(&model, &cut, &talk.muted()).map_err(|failure| failure.message)?;
    let named: Vec<(&str, &Tensor)> = given.iter().map(|(name, tensor)| (name.as_str(), *tensor)).collect();
    if !named.is_empty() {
        sutura_tensors::write(&inputs, &named).map_err(|error| error.to_string())?;
    }
    let inputs = (!named.is_empty()).then_some(&inputs);
    python.ask(&json!({ "model": model, "inputs": inputs, "output": output, "result": result }))?;
    let found = npy::read(&result).map_err(|error| error.to_string())?;
    let wanted = operation.found[operation.value].element_type();
    match found.element_type() == wanted {
        true => Ok(found),
        false => Err(format!("onnxruntime makes elements of {} where {wanted} is meant", found.element_type())),
    }
}

//! What is said of the first operation that is wrong, and the folder with what it takes to look into it.

use std::path::Path;

use serde_json::json;
use sutura_import::onnx::{Cut, Node, extract};
use sutura_ir::{OpRef, Value};
use sutura_runtime::{Model, Tensor};

use super::judge::Finding;
use crate::cli::NumericsArgs;
use crate::failure::{Failure, Kind};
use crate::files::{self, say};
use crate::input::Input;
use crate::talk::Talk;
use crate::values::{Valued, file_names, write_tensor};

pub(super) struct Report<'r> {
    pub(super) valued: &'r Valued,
    /// Of the values that were compared, in the order of `found`.
    pub(super) names: &'r [&'r str],
    pub(super) inputs: (&'r Model, &'r [Tensor]),
    pub(super) found: &'r [Tensor],
    pub(super) first: &'r Finding,
}

/// The place that the operation of a value has: its node of an ONNX model.
pub(super) fn node_of(valued: &Valued, value: Value) -> Option<String> {
    let body = valued.function.body(&valued.module);
    let op = body.defining_op(value)?;
    valued.cx().loc_name(body.loc(op)).map(|name| valued.cx().str(name).to_owned())
}

impl Report<'_> {
    /// Says which operation is wrong, and fails.
    pub(super) fn tell(&self, args: &NumericsArgs, wrong: usize, talk: &Talk) -> Result<(), Failure> {
        let name = self.names[self.first.value];
        let worst = &self.first.worst;
        let elements = self.first.expected.len();
        let found = &self.found[self.first.value];
        let shape: Vec<i64> = self.first.expected.shape().iter().map(|d| *d as i64).collect();
        let detail = if found.dims() == shape {
            format!(
                "{} of {elements} elements are beyond their bounds; at {:?} it is {} where {} was expected, within {:.3e}",
                self.first.wrong, worst.index, worst.found, worst.expected, worst.bound
            )
        } else {
            format!("it has the shape {:?} where {shape:?} was expected", found.dims())
        };
        let operation = self.operation();
        if talk.is_json() {
            // JSON has no infinity.
            let number = |v: f64| if v.is_finite() { json!(v) } else { json!(v.to_string()) };
            let first = json!({
                "value": name, "operation": operation, "index": worst.index, "expected": number(worst.expected),
                "found": number(worst.found), "bound": number(worst.bound), "elements": elements,
                "elements_beyond": self.first.wrong,
            });
            let fields = json!({ "wrong": first, "more_wrong": wrong - 1 });
            talk.result("numerics", fields.as_object().cloned().unwrap_or_default())?;
        } else {
            say(&format!("first wrong operation: {operation}, which makes `{name}`"))?;
            say(&format!("  {detail}"))?;
            if wrong > 1 {
                say(&format!("  {} more computed something wrong from what they were given", wrong - 1))?;
            }
        }
        let mut failure = Failure::new(Kind::Mismatch, format!("the compiled form of {operation} is wrong"));
        match &args.output {
            Some(folder) => {
                let kept = self.keep(folder, talk)?;
                failure = failure.hint(format!("`{}` has {kept}", folder.display()));
            }
            None => failure = failure.hint("`-o DIR` keeps the operation as a model, its inputs and both results"),
        }
        Err(failure)
    }

    fn onnx_node(&self) -> Option<&Node> {
        let Input::Onnx(model) = &self.valued.source.input else { return None };
        let name = self.names[self.first.value];
        let makes = |node: &&Node| node.outputs.iter().flatten().any(|output| output == name);
        model.graph.nodes.iter().find(makes)
    }

    fn operation(&self) -> String {
        if let Some(node) = self.onnx_node() {
            return node.to_string();
        }
        let name = self.names[self.first.value];
        let value = self.valued.values.iter().find(|(known, _)| known == name).map(|(_, value)| *value);
        let body = self.valued.function.body(&self.valued.module);
        match value.and_then(|value| body.defining_op(value)) {
            Some(op) => format!("`%{name} = {}`", OpRef::new(self.valued.cx(), body, op).name_str()),
            None => format!("that of `{name}`"),
        }
    }

    /// Writes the operation as a model, what it was given and what it made; what was written, in words.
    fn keep(&self, folder: &Path, talk: &Talk) -> Result<&'static str, Failure> {
        let name = self.names[self.first.value];
        write_tensor(folder, "found", name, &self.found[self.first.value])?;
        let bytes =
            self.first.expected.data().to_le_bytes().ok_or_else(|| Failure::internal("a value is undefined"))?;
        let dims: Vec<i64> = self.first.expected.shape().iter().map(|d| *d as i64).collect();
        let ty = self.found[self.first.value].element_type();
        write_tensor(folder, "expected", name, &Tensor::from_bytes(ty, &dims, &bytes)?)?;
        let given = self.given();
        let names: Vec<&str> = given.iter().map(|(name, _)| name.as_str()).collect();
        let mut list = String::new();
        for ((name, tensor), stem) in given.iter().zip(file_names(&names)) {
            let file = write_tensor(folder, &format!("input-{stem}"), name, tensor)?;
            list.push_str(&format!("{file}\t{}\n", sutura_visible::line(name)));
        }
        files::write(&folder.join("inputs.txt"), list.as_bytes())?;
        let from: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let cut = Cut { from, to: vec![name.to_owned()] };
        match self.model(folder, &cut, talk) {
            Ok(()) => Ok("the operation as a model, its inputs, and what it made and should have made"),
            Err(failure) => {
                talk.warning(&format!("the operation is not kept as a model of its own: {}", failure.message));
                Ok("the operation's inputs, and what it made and should have made")
            }
        }
    }

    /// The tensors that the operation reads, by name, weights aside.
    fn given(&self) -> Vec<(String, &Tensor)> {
        let names: Vec<String> = match self.onnx_node() {
            Some(node) => node.inputs.iter().flatten().cloned().collect(),
            None => {
                let valued = self.valued;
                let outline = valued.function.outline(valued.cx(), &valued.module);
                let name = self.names[self.first.value];
                let value = valued.values.iter().find(|(known, _)| known == name).map(|(_, value)| *value);
                let own = value.map(|value| valued.function.name(valued.cx(), &valued.module, value));
                let node =
                    outline.nodes.into_iter().find(|node| own.as_ref().is_some_and(|own| node.gives.contains(own)));
                node.map_or_else(Vec::new, |node| node.needs)
            }
        };
        let mut given: Vec<(String, &Tensor)> = Vec::new();
        for name in names {
            if given.iter().any(|(known, _)| *known == name) {
                continue;
            }
            let value = self.valued.values.iter().find(|(known, _)| *known == name).map(|(_, value)| *value);
            let same = |other: &&str| {
                value.is_some() && self.valued.values.iter().any(|(n, v)| n == *other && Some(*v) == value)
            };
            let made = self.names.iter().position(|other| *other == name || same(other));
            let input = self.inputs.0.inputs().iter().position(|input| input.name == name);
            if let Some(tensor) = made.map(|at| &self.found[at]).or(input.map(|at| &self.inputs.1[at])) {
                given.push((name, tensor));
            }
        }
        given
    }

    fn model(&self, folder: &Path, cut: &Cut, talk: &Talk) -> Result<(), Failure> {
        let Valued { source, compilation, args, .. } = self.valued;
        match (&source.input, &source.onnx) {
            (Input::Onnx(model), Some((bytes, origin))) => {
                let part = extract(&compilation.cx, (bytes, model, origin), cut, Some("op.onnx.data"));
                let part = part.map_err(crate::extract::failure)?;
                crate::extract::write(&folder.join("op.onnx"), Some(&folder.join("op.onnx.data")), &part)
            }
            (Input::Text(text), _) => {
                let made = crate::extract::text::extract(compilation, text, &args.model, cut, talk)?;
                files::write(&folder.join("op.mlir"), made.as_bytes())
            }
            _ => Err(Failure::internal("the model's file is gone")),
        }
    }
}

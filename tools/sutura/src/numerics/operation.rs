//! One operation of a model: its place, what it was given, and itself as a model.

use std::path::Path;

use sutura_import::onnx::{Cut, Node, extract};
use sutura_ir::{OpRef, Value};
use sutura_runtime::{Model, Tensor};

use crate::failure::Failure;
use crate::files;
use crate::input::Input;
use crate::talk::Talk;
use crate::values::Valued;

/// Weights of an operation that is kept, where they do not stay where they are.
const DATA: &str = "op.onnx.data";

/// The operation that makes a value.
#[derive(Clone, Copy)]
pub(super) struct Operation<'r> {
    pub(super) valued: &'r Valued,
    /// Of the values that were compared, in the order of `found`.
    pub(super) names: &'r [&'r str],
    pub(super) inputs: (&'r Model, &'r [Tensor]),
    pub(super) found: &'r [Tensor],
    /// Which of the values.
    pub(super) value: usize,
}

/// The place that the operation of a value has: its node of an ONNX model.
pub(super) fn node_of(valued: &Valued, value: Value) -> Option<String> {
    let body = valued.function.body(&valued.module);
    let op = body.defining_op(value)?;
    valued.cx().loc_name(body.loc(op)).map(|name| valued.cx().str(name).to_owned())
}

impl Operation<'_> {
    pub(super) fn onnx_node(&self) -> Option<&Node> {
        let Input::Onnx(model) = &self.valued.source.input else { return None };
        let name = self.names[self.value];
        let makes = |node: &&Node| node.outputs.iter().flatten().any(|output| output == name);
        model.graph.nodes.iter().find(makes)
    }

    pub(super) fn text(&self) -> String {
        if let Some(node) = self.onnx_node() {
            return node.to_string();
        }
        let name = self.names[self.value];
        let value = self.valued.values.iter().find(|(known, _)| known == name).map(|(_, value)| *value);
        let body = self.valued.function.body(&self.valued.module);
        match value.and_then(|value| body.defining_op(value)) {
            Some(op) => format!("`%{name} = {}`", OpRef::new(self.valued.cx(), body, op).name_str()),
            None => format!("that of `{name}`"),
        }
    }

    /// The tensors that the operation reads, by name, weights aside.
    pub(super) fn given(&self) -> Vec<(String, &Tensor)> {
        let names: Vec<String> = match self.onnx_node() {
            Some(node) => node.inputs.iter().flatten().cloned().collect(),
            None => {
                let valued = self.valued;
                let outline = valued.function.outline(valued.cx(), &valued.module);
                let name = self.names[self.value];
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

    /// Writes the operation as a model, to `path` or, of text, beside it.
    pub(super) fn model(&self, path: &Path, cut: &Cut, talk: &Talk) -> Result<(), Failure> {
        let Valued { source, compilation, args, .. } = self.valued;
        match (&source.input, &source.onnx) {
            (Input::Onnx(model), Some((bytes, origin))) => {
                let part = extract(&compilation.cx, (bytes, model, origin), cut, Some(DATA));
                let part = part.map_err(crate::extract::failure)?;
                crate::extract::write(path, Some(&path.with_file_name(DATA)), &part)
            }
            (Input::Text(text), _) => {
                let made = crate::extract::text::extract(compilation, text, &args.model, cut, talk)?;
                files::write(&path.with_extension("mlir"), made.as_bytes())
            }
            _ => Err(Failure::internal("the model's file is gone")),
        }
    }
}

//! What is said of the first operation that is wrong, and the folder with what it takes to look into it.

use std::path::Path;

use serde_json::json;
use sutura_import::onnx::Cut;
use sutura_runtime::Tensor;

use super::judge::Finding;
use super::operation::Operation;
use crate::cli::NumericsArgs;
use crate::failure::{Failure, Kind};
use crate::files::{self, say};
use crate::talk::Talk;
use crate::values::{file_names, write_tensor};

pub(super) struct Report<'r> {
    pub(super) operation: Operation<'r>,
    pub(super) first: &'r Finding,
}

impl Report<'_> {
    /// Says which operation is wrong, and fails.
    pub(super) fn tell(&self, args: &NumericsArgs, wrong: usize, talk: &Talk) -> Result<(), Failure> {
        let Operation { names, found: all, value, .. } = self.operation;
        let name = names[value];
        let worst = &self.first.worst;
        let elements = self.first.expected.len();
        let found = &all[value];
        let shape: Vec<i64> = self.first.expected.shape().iter().map(|d| *d as i64).collect();
        let detail = if found.dims() == shape {
            format!(
                "{} of {elements} elements are beyond their bounds; at {:?} it is {} where {} was expected, within {:.3e}",
                self.first.wrong, worst.index, worst.found, worst.expected, worst.bound
            )
        } else {
            format!("it has the shape {:?} where {shape:?} was expected", found.dims())
        };
        let operation = self.operation.text();
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

    /// Writes the operation as a model, what it was given and what it made; what was written, in words.
    fn keep(&self, folder: &Path, talk: &Talk) -> Result<&'static str, Failure> {
        let Operation { names, found: all, value, .. } = self.operation;
        let name = names[value];
        write_tensor(folder, "found", name, &all[value])?;
        let bytes =
            self.first.expected.data().to_le_bytes().ok_or_else(|| Failure::internal("a value is undefined"))?;
        let dims: Vec<i64> = self.first.expected.shape().iter().map(|d| *d as i64).collect();
        let ty = all[value].element_type();
        write_tensor(folder, "expected", name, &Tensor::from_bytes(ty, &dims, &bytes)?)?;
        let given = self.operation.given();
        let names: Vec<&str> = given.iter().map(|(name, _)| name.as_str()).collect();
        let mut list = String::new();
        for ((name, tensor), stem) in given.iter().zip(file_names(&names)) {
            let file = write_tensor(folder, &format!("input-{stem}"), name, tensor)?;
            list.push_str(&format!("{file}\t{}\n", sutura_visible::line(name)));
        }
        files::write(&folder.join("inputs.txt"), list.as_bytes())?;
        let from: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let cut = Cut { from, to: vec![name.to_owned()] };
        match self.operation.model(&folder.join("op.onnx"), &cut, talk) {
            Ok(()) => Ok("the operation as a model, its inputs, and what it made and should have made"),
            Err(failure) => {
                talk.warning(&format!("the operation is not kept as a model of its own: {}", failure.message));
                Ok("the operation's inputs, and what it made and should have made")
            }
        }
    }
}

//! onnxruntime in a Python process, which times runs when it is asked to.

use std::path::Path;

use serde_json::{Value as Json, json};

use crate::args::{BenchArgs, Beside};
use crate::failure::{Failure, Kind};
use crate::python::Python;
use crate::talk::Talk;

const SCRIPT: &str = include_str!("peer.py");

/// The process, and the model that it runs.
pub(super) struct Peer {
    python: Python,
    model: String,
    version: String,
}

impl Peer {
    /// Starts it where it is wanted and there.
    pub(super) fn start(args: &BenchArgs, is_onnx: bool, talk: &Talk) -> Result<Option<Self>, Failure> {
        let model = args.onnx.as_deref().or_else(|| is_onnx.then_some(args.model.as_path()));
        let (wanted, model) = match (args.beside, model) {
            (Beside::None, _) | (Beside::Auto, None) => return Ok(None),
            (Beside::Onnxruntime, None) => {
                let failure = Failure::usage("--beside onnxruntime needs the model, and an artifact is given");
                return Err(failure.hint("give it with `--onnx MODEL.onnx`"));
            }
            (wanted, Some(model)) => (wanted, model),
        };
        match Self::begin(&args.python, model) {
            Ok(peer) => Ok(Some(peer)),
            Err(why) if wanted == Beside::Auto => {
                talk.note(&format!("onnxruntime is not timed: {why}"));
                Ok(None)
            }
            Err(why) => Err(Failure::new(Kind::System, format!("onnxruntime cannot be timed: {why}"))
                .hint("`--python` names another Python; `pip install onnxruntime` installs it")),
        }
    }

    fn begin(python: &Path, model: &Path) -> Result<Self, String> {
        let (python, hello) = Python::start(python, SCRIPT)?;
        let model = model.canonicalize().unwrap_or_else(|_| model.to_owned()).display().to_string();
        Ok(Self { python, model, version: hello["version"].as_str().unwrap_or("of unknown version").to_owned() })
    }

    /// What it is called.
    pub(super) fn name(&self) -> String {
        format!("onnxruntime {}", self.version)
    }

    /// Nanoseconds of runs on tensors of an `.npz` file.
    pub(super) fn times(&mut self, inputs: &Path, threads: usize, nanoseconds: u64) -> Result<Vec<u64>, String> {
        let inputs = inputs.display().to_string();
        let request = json!({"model": self.model, "inputs": inputs, "threads": threads, "nanoseconds": nanoseconds});
        match &self.python.ask(&request)?["times"] {
            Json::Array(times) => Ok(times.iter().filter_map(Json::as_u64).collect()),
            _ => Err("its reply is none".to_owned()),
        }
    }
}

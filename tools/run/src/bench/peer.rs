//! onnxruntime in a Python process, which times runs when it is asked to.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value as Json, json};

use crate::args::{BenchArgs, Beside};
use crate::failure::{Failure, Kind};
use crate::talk::Talk;

const SCRIPT: &str = include_str!("peer.py");

/// The process.
pub(super) struct Peer {
    child: Child,
    requests: ChildStdin,
    replies: BufReader<ChildStdout>,
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
        let mut command = Command::new(python);
        command.args(["-c", SCRIPT]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(|e| format!("`{}`: {e}", python.display()))?;
        let (Some(requests), Some(replies)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("its pipes are not there".to_owned());
        };
        let model = model.canonicalize().unwrap_or_else(|_| model.to_owned()).display().to_string();
        let mut peer = Self { child, requests, replies: BufReader::new(replies), model, version: String::new() };
        let hello = peer.reply().map_err(|_| peer.last_words())?;
        peer.version = hello["version"].as_str().unwrap_or("of unknown version").to_owned();
        Ok(peer)
    }

    /// What it is called.
    pub(super) fn name(&self) -> String {
        format!("onnxruntime {}", self.version)
    }

    /// Nanoseconds of runs on tensors of an `.npz` file.
    pub(super) fn times(&mut self, inputs: &Path, threads: usize, nanoseconds: u64) -> Result<Vec<u64>, String> {
        let inputs = inputs.display().to_string();
        let request = json!({"model": self.model, "inputs": inputs, "threads": threads, "nanoseconds": nanoseconds});
        writeln!(self.requests, "{request}").map_err(|e| e.to_string())?;
        let reply = self.reply()?;
        match (&reply["times"], reply["error"].as_str()) {
            (_, Some(error)) => Err(error.lines().next().unwrap_or_default().to_owned()),
            (Json::Array(times), _) => Ok(times.iter().filter_map(Json::as_u64).collect()),
            _ => Err("its reply is none".to_owned()),
        }
    }

    fn reply(&mut self) -> Result<Json, String> {
        let mut line = String::new();
        match self.replies.read_line(&mut line) {
            Ok(0) => Err("it ended".to_owned()),
            Ok(_) => serde_json::from_str(&line).map_err(|e| e.to_string()),
            Err(error) => Err(error.to_string()),
        }
    }

    /// The last line that it wrote to stderr, when it has ended.
    fn last_words(&mut self) -> String {
        let _ = self.child.wait();
        let lines = self.child.stderr.take().map(|stderr| BufReader::new(stderr).lines().map_while(Result::ok));
        lines.and_then(Iterator::last).unwrap_or_else(|| "Python ended without a word".to_owned())
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // It may be in the middle of a run.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

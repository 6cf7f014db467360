//! Models for those who have no compiler: artifacts.

use std::io::Read;
use std::path::Path;

use sutura_dialects::r#dyn::DimSpec;
use sutura_dialects::target::{Finder, TargetDesc, TargetError, from_file};
use sutura_ir::Context;
use sutura_runtime::Model;

use crate::failure::{Failure, Kind};
use crate::run::{Models, Ready};
use crate::talk::Talk;

/// How an artifact begins.
const MAGIC: &[u8] = b"PK\x03\x04";

/// Takes artifacts.
#[derive(Clone, Copy, Debug, Default)]
pub struct Artifacts;

impl Models for Artifacts {
    fn artifact(&self, path: &Path, _: &[DimSpec], _: &Talk) -> Result<Ready, Failure> {
        Ok(Ready::given(path))
    }

    fn machine(&self, model: &Model, file: Option<&Path>, talk: &Talk) -> Result<TargetDesc, Failure> {
        let cx = Context::new(sutura_dialects::all());
        let name = model.manifest().target.description.as_str();
        let found = match file {
            Some(file) => from_file(&cx, file),
            None => Finder::from_env(None).find(&cx, name),
        };
        Ok(found.map_err(|error| of_target(&cx, error, talk))?.desc)
    }
}

/// Whether a file begins as artifacts do: what else it holds a load finds out.
pub fn is_artifact(path: &Path) -> bool {
    let mut begin = [0; MAGIC.len()];
    let read = sutura_input::regular(path).ok().and_then(|(mut file, _)| file.read_exact(&mut begin).ok());
    read.is_some() && begin == MAGIC
}

/// A description that is not found or wrong, after the places in its text have been shown.
pub fn of_target(cx: &Context, error: TargetError, talk: &Talk) -> Failure {
    match &error {
        TargetError::Unknown { name, close, known } => {
            let failure = Failure::usage(format!("there is no target `{name}`"));
            match close {
                Some(close) => failure.hint(format!("did you mean `{close}`?")),
                None => failure.hint(format!("the targets are {}", known.join(", "))),
            }
        }
        TargetError::Io { path, error } => Failure::io("read", path, error),
        TargetError::Unreadable { path, error } => Failure::reading(path, error),
        TargetError::Malformed { origin, diagnostics } => {
            diagnostics.iter().for_each(|d| talk.diagnostic(cx, d));
            let failure = Failure::input(format!("`{origin}` describes no machine"));
            failure.hint("`sutura target show x86_avx2` prints a description to start from")
        }
        TargetError::NoHost => {
            Failure::new(Kind::Unsupported, &error).hint("name a target to compile for another machine")
        }
    }
}

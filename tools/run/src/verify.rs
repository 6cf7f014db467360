//! `verify`: whether an artifact is as it was written, and runs here.

use serde_json::{Map, json};
use sutura_runtime::{Artifact, Model, Options};

use crate::args::VerifyArgs;
use crate::failure::Failure;
use crate::files::say;
use crate::talk::Talk;

/// Compares everything in artifacts with its hashes, and loads the code.
///
/// # Errors
/// That of the first artifact that is damaged or cannot run here, after all have been looked at.
pub fn verify(args: &VerifyArgs, talk: &Talk) -> Result<(), Failure> {
    let mut failures = Vec::new();
    for path in &args.artifacts {
        let loaded = Artifact::open(path).and_then(|artifact| Model::from_artifact(artifact, Options::new()));
        let failure = loaded.as_ref().err().map(|error| error.to_string());
        if talk.is_json() {
            let fields = [("artifact", json!(path.display().to_string())), ("problem", json!(failure))];
            talk.result("verify", Map::from_iter(fields.map(|(name, value)| (name.to_owned(), value))))?;
        }
        match loaded {
            Ok(model) if !talk.is_json() => {
                say(&format!("{}: sound; {}", path.display(), model.manifest().signature()))?
            }
            Ok(_) => {}
            Err(error) => failures.push(Failure::from(error)),
        }
    }
    let Some(last) = failures.pop() else { return Ok(()) };
    failures.iter().for_each(|failure| talk.failure(failure));
    Err(last)
}

//! The last step to an artifact, or the only one: what was compiled before is taken from the cache.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Map, json};

use super::Made;
use crate::artifact;
use crate::cache::{Cache, Key, Known, Recorded, program_key};
use crate::cli::CompileArgs;
use crate::failure::Failure;
use crate::input::Source;
use crate::pipeline::Compilation;
use crate::talk::Talk;

/// Writes the artifact.
pub(super) fn write(made: &[Made], compilation: &Compilation, output: &Path, talk: &Talk) -> Result<Recorded, Failure> {
    let start = Instant::now();
    let parts = made.iter().map(|made| artifact::Part {
        name: &made.name,
        module: &made.program.module,
        interface: &made.interface,
        host: &made.host,
        device: made.device.as_deref(),
        manifest: &made.manifest,
    });
    let written = artifact::write(output, compilation, &parts.collect::<Vec<_>>())?;
    say("write", output, (written.bytes(), start.elapsed()), &targets(made), talk)?;
    Ok(written)
}

fn targets(made: &[Made]) -> Vec<&str> {
    made.iter().map(|made| made.name.as_str()).collect()
}

fn say(
    stage: &str,
    output: &Path,
    (bytes, time): (u64, Duration),
    targets: &[&str],
    talk: &Talk,
) -> Result<(), Failure> {
    talk.stage(stage, &format!("{} ({bytes} bytes)", output.display()), time);
    if !(talk.is_json() && talk.tells_stages()) {
        return Ok(());
    }
    let fields =
        [("artifact", json!(output.display().to_string())), ("bytes", json!(bytes)), ("targets", json!(targets))];
    talk.result("compile", Map::from_iter(fields.map(|(name, value)| (name.to_owned(), value))))
}

/// What the cache knows of this compilation.
pub(super) struct Before {
    key: Option<Key>,
    /// How many warnings there were before.
    warnings: usize,
}

impl Before {
    pub(super) fn of(args: &CompileArgs, compilation: &Compilation, source: &Source, talk: &Talk) -> Self {
        let key = compilation.cache.as_ref().and_then(|_| program_key(args, compilation, source, talk));
        Self { key, warnings: warnings(compilation, talk) }
    }

    /// Writes the artifact where it is known; whether that was so.
    pub(super) fn write(&self, compilation: &Compilation, output: &Path, talk: &Talk) -> Result<bool, Failure> {
        let start = Instant::now();
        let (Some(cache), Some(key)) = (&compilation.cache, &self.key) else { return Ok(false) };
        let known = Known::of(cache, key);
        cache.tell(talk);
        let Some(known) = known else { return Ok(false) };
        let written = known.write(output, &compilation.files).map_err(|e| Failure::io("write", output, &e))?;
        let Some(bytes) = written else { return Ok(false) };
        let targets: Vec<&str> = known.targets().iter().map(String::as_str).collect();
        say("cache", output, (bytes, start.elapsed()), &targets, talk)?;
        Ok(true)
    }

    /// Keeps an artifact that was compiled without a warning, which who compiles it again would not see, and of files that are
    /// as they were.
    pub(super) fn keep(
        &self,
        (args, source): (&CompileArgs, &Source),
        (made, written): (&[Made], Recorded),
        compilation: &Compilation,
        talk: &Talk,
    ) {
        let (Some(cache), Some(key)) = (&compilation.cache, &self.key) else { return };
        if warnings(compilation, talk) == self.warnings && program_key(args, compilation, source, talk) == self.key {
            written.keep(cache, key, &targets(made));
        }
    }
}

/// How many warnings there were about the model.
fn warnings(compilation: &Compilation, talk: &Talk) -> usize {
    talk.warnings() - compilation.cache.as_ref().map_or(0, Cache::warnings)
}

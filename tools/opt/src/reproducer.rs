//! Reproducers: an input with the pipeline to run on it, in the form of MLIR's.

use std::io::Write;
use std::path::{Path, PathBuf};

use sutura_ir::Module;
use sutura_ir::asm::{Resource, ResourceSection};

use crate::output;

/// Name of the section of resources.
const SECTION: &str = "mlir_reproducer";

/// How to run what a reproducer holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reproducer {
    /// The pipeline, as text.
    pub pipeline: String,
    /// Whether it runs on one thread.
    pub disable_threading: bool,
    /// Whether every pass's result is verified.
    pub verify_each: bool,
}

impl Reproducer {
    /// Takes the reproducer out of what the text of `module` said; the last one counts.
    pub(crate) fn take(module: &mut Module) -> Option<Self> {
        let sections = &mut module.text_mut().resources;
        let is_ours = |s: &ResourceSection| s.external && s.name == SECTION;
        let found = sections.iter().rev().find(|s| is_ours(s))?.clone();
        sections.retain(|s| !is_ours(s));
        let mut reproducer = Self { pipeline: String::new(), disable_threading: false, verify_each: true };
        for entry in found.entries {
            match (entry.key.as_str(), entry.value) {
                ("pipeline", Resource::String(text)) => reproducer.pipeline = text,
                ("disable_threading", Resource::Bool(value)) => reproducer.disable_threading = value,
                ("verify_each", Resource::Bool(value)) => reproducer.verify_each = value,
                _ => {}
            }
        }
        (!reproducer.pipeline.is_empty()).then_some(reproducer)
    }

    /// A file that is `program` and runs the pipeline on it.
    pub fn file(&self, program: &str) -> String {
        let quoted: String = self.pipeline.chars().map(escaped).collect();
        format!(
            "{}\n\n{{-#\n  external_resources: {{\n    {SECTION}: {{\n      pipeline: \"{quoted}\",\n      \
             disable_threading: {},\n      verify_each: {}\n    }}\n  }}\n#-}}\n",
            program.trim_end(),
            self.disable_threading,
            self.verify_each
        )
    }
}

fn escaped(c: char) -> String {
    match c {
        '"' => "\\22".to_string(),
        '\\' => "\\5C".to_string(),
        c => c.to_string(),
    }
}

/// Writes a text where nobody asked for it: in the folder for temporary files, under a name that is not taken, which begins
/// with the tool's name and what `input` is called. Returns its path.
///
/// # Errors
/// One sentence.
pub fn write_temporary(tool: &str, input: &str, part: Option<u32>, text: &str) -> Result<PathBuf, String> {
    let folder = std::env::temp_dir();
    let fail = |e: std::io::Error| format!("cannot write a reproducer into `{}`: {e}", folder.display());
    let builder_prefix = temporary_prefix(tool, input, part);
    let mut file =
        tempfile::Builder::new().prefix(&builder_prefix).suffix(".mlir").tempfile_in(&folder).map_err(fail)?;
    file.write_all(text.as_bytes()).map_err(fail)?;
    let (_, path) = file.keep().map_err(|e| fail(e.error))?;
    Ok(path)
}

/// What names of reproducers begin with.
fn temporary_prefix(tool: &str, input: &str, part: Option<u32>) -> String {
    // Names of files have a limit; what comes after it says little.
    const LONGEST: usize = 60;
    let stem = Path::new(input).file_stem().map_or_else(|| "stdin".into(), |s| s.to_string_lossy());
    let stem: String = stem.chars().filter(|c| c.is_ascii_alphanumeric() || "-_.".contains(*c)).take(LONGEST).collect();
    let part = part.map(|line| format!("-line-{line}")).unwrap_or_default();
    format!("{tool}-reproducer-{stem}{part}-")
}

/// Writes a reproducer where the command line says, else among the temporary files, and returns what to say of it.
pub(crate) fn write(
    cwd: &Path,
    file: Option<&str>,
    (input, part): (&str, Option<u32>),
    text: &str,
) -> Result<String, String> {
    let path = match file {
        Some(file) => output::write_file(&cwd.join(file), text.as_bytes()).map(|()| PathBuf::from(file))?,
        None => write_temporary("sutura-opt", input, part, text)?,
    };
    Ok(said(&path))
}

/// What to say of a reproducer.
pub fn said(path: &Path) -> String {
    let shown = path.display();
    format!("a reproducer is in `{shown}`: run it with `sutura-opt --run-reproducer {shown}`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_input() {
        let prefix = |input, part| temporary_prefix("sutura-opt", input, part);
        assert_eq!(prefix("<stdin>", None), "sutura-opt-reproducer-stdin-");
        assert_eq!(prefix("a/b.mlir", Some(7)), "sutura-opt-reproducer-b-line-7-");
        assert!(prefix(&"long".repeat(100), None).len() < 100);
    }
}

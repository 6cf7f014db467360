//! Reproducers: an input with the pipeline to run on it, in the form of MLIR's.

use std::path::{Path, PathBuf};

use sutura_ir::Module;
use sutura_ir::asm::{Resource, ResourceSection};

use crate::output;

/// Name of the section of resources.
const SECTION: &str = "mlir_reproducer";

/// How to run what a reproducer holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Reproducer {
    pub(crate) pipeline: String,
    pub(crate) disable_threading: bool,
    pub(crate) verify_each: bool,
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
    pub(crate) fn file(&self, program: &str) -> String {
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

/// Where a reproducer goes unless told otherwise: beside the output if that is a file, else where the tool runs. One
/// input has one name, so that failing again makes no further file.
pub(crate) fn default_path(input: &str, output: Option<&str>, part: Option<u32>) -> PathBuf {
    let stem = Path::new(input).file_stem().map_or_else(|| "stdin".into(), |s| s.to_string_lossy());
    let stem: String = stem.chars().filter(|c| c.is_alphanumeric() || "-_.".contains(*c)).collect();
    let part = part.map(|line| format!("-line-{line}")).unwrap_or_default();
    let folder = output.filter(|o| *o != "-" && !o.starts_with("/dev/")).and_then(|o| Path::new(o).parent());
    folder.unwrap_or(Path::new("")).join(format!("sutura-opt-reproducer-{stem}{part}.mlir"))
}

/// Writes a reproducer and returns what to say of it.
pub(crate) fn write(cwd: &Path, path: &Path, text: &str) -> Result<String, String> {
    output::write_file(&cwd.join(path), text.as_bytes())?;
    let shown = path.display();
    Ok(format!("a reproducer is in `{shown}`: run it with `sutura-opt --run-reproducer {shown}`"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_input() {
        let path = |input, output, part| default_path(input, output, part).display().to_string();
        assert_eq!(path("<stdin>", None, None), "sutura-opt-reproducer-stdin.mlir");
        assert_eq!(path("a/b.mlir", Some("-"), Some(7)), "sutura-opt-reproducer-b-line-7.mlir");
        assert_eq!(path("a/b.mlir", Some("out/c.mlir"), None), "out/sutura-opt-reproducer-b.mlir");
        assert_eq!(path("b.mlir", Some("/dev/null"), None), "sutura-opt-reproducer-b.mlir");
    }
}

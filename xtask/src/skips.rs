//! Tests that said that they lack something (`tools/skip`): libtest counts them as passed, here they are skipped.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Failure, process};

/// What `cargo xtask setup` installs, so that no test may lack it: variables of `tools/skip`.
const DEMANDED: [&str; 5] = [
    "SUTURA_REQUIRE_CROSS",
    "SUTURA_REQUIRE_DEVICES",
    "SUTURA_REQUIRE_LLVM",
    "SUTURA_REQUIRE_SPIRV",
    "SUTURA_REQUIRE_PYTHON",
];

/// The file in which tests note that they are skipped.
pub(crate) struct Notes {
    file: PathBuf,
}

impl Notes {
    /// Lets the tests that `command` runs note their skips, and demands of them what is installed.
    ///
    /// # Errors
    /// When the notes of an earlier run cannot be removed.
    pub(crate) fn of(command: &mut Command) -> Result<Self, Failure> {
        let folder =
            std::path::absolute(process::target_folder()).map_err(|error| format!("no target folder: {error}"))?;
        let file = folder.join("skipped-tests.txt");
        fs::create_dir_all(&folder).map_err(|error| format!("cannot create {}: {error}", folder.display()))?;
        if file.exists() {
            fs::remove_file(&file).map_err(|error| format!("cannot remove {}: {error}", file.display()))?;
        }
        command.env("SUTURA_SKIPS", &file);
        command.envs(DEMANDED.map(|variable| (variable, "1")));
        Ok(Self { file })
    }

    /// The tests that were skipped, each with its reasons.
    pub(crate) fn read(&self) -> Skips {
        read(&self.file)
    }
}

/// Reasons by program and test.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Skips(BTreeMap<(String, String), Vec<String>>);

impl Skips {
    pub(crate) fn count(&self) -> u64 {
        self.0.len() as u64
    }

    /// A line for each test.
    pub(crate) fn lines(&self) -> impl Iterator<Item = String> {
        self.0.iter().map(|((program, test), why)| format!("skipped: {program}: {test}: {}", why.join("; ")))
    }
}

fn read(file: &Path) -> Skips {
    // No test was skipped where there is no file.
    let text = fs::read_to_string(file).unwrap_or_default();
    let mut skips = Skips::default();
    for line in text.lines() {
        let mut columns = line.splitn(3, '\t').map(str::to_owned);
        let mut next = || columns.next().unwrap_or_default();
        let (program, test, why) = (next(), next(), next());
        let reasons = skips.0.entry((program, test)).or_default();
        if !reasons.contains(&why) {
            reasons.push(why);
        }
    }
    skips
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_that_lacks_several_things_is_skipped_once() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("notes");
        fs::write(&file, "a-1\tx::y\tno python3\na-1\tx::y\tno lit\na-1\tx::y\tno lit\nb-2\tx::y\tno lit\n").unwrap();
        let skips = read(&file);
        assert_eq!(skips.count(), 2);
        let lines: Vec<String> = skips.lines().collect();
        assert_eq!(lines, ["skipped: a-1: x::y: no python3; no lit", "skipped: b-2: x::y: no lit"]);
        assert_eq!(read(&folder.path().join("none")), Skips::default());
    }

    /// A demand that no test knows would demand nothing.
    #[test]
    fn demands_are_those_that_tests_know() {
        let known = include_str!("../../tools/skip/src/lib.rs");
        assert!(DEMANDED.iter().all(|variable| known.contains(&format!("\"{variable}\""))));
        assert!(known.contains("\"SUTURA_SKIPS\""));
    }

    /// No test says by itself that it is skipped: that would count as passed.
    #[test]
    fn every_skip_is_noted() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let mut pending = vec![root.to_path_buf()];
        let mut found = Vec::new();
        while let Some(folder) = pending.pop() {
            for entry in fs::read_dir(&folder).unwrap().flatten() {
                let (path, name) = (entry.path(), entry.file_name().to_string_lossy().into_owned());
                if path.is_dir() && name != "target" && !name.starts_with('.') && path != root.join("tools/skip") {
                    pending.push(path);
                } else if name.ends_with(".rs") && !path.starts_with(root.join("xtask")) {
                    let text = fs::read_to_string(&path).unwrap_or_default();
                    if text.contains("\"skipped: ") {
                        found.push(path);
                    }
                }
            }
        }
        assert!(found.is_empty(), "these say that tests are skipped without `sutura_skip::skipped`: {found:?}");
    }
}

//! What holds for every file of the repository: formatting keeps the program and all comments in their order, and what is
//! formatted is formatted to itself.

use std::path::{Path, PathBuf};

use libtest_mimic::{Arguments, Failed, Trial};
use sutura_fmt::{Refusal, format};
use sutura_ir::Context;

fn main() -> std::process::ExitCode {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    for folder in ["lit-tests", "examples", "targets", "benches", "docs"] {
        collect(&root.join(folder), &mut files);
    }
    files.sort();
    assert!(files.len() > 100, "only {} files in {}", files.len(), root.display());
    let trial = |file: PathBuf| {
        let name = file.strip_prefix(&root).unwrap_or(&file).display().to_string();
        Trial::test(name, move || check(&file))
    };
    libtest_mimic::run(&Arguments::from_args(), files.into_iter().map(trial).collect()).exit_code()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten() {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|e| e == "mlir") {
            files.push(path);
        }
    }
}

fn check(file: &Path) -> Result<(), Failed> {
    let text = std::fs::read_to_string(file)?;
    let once = match formatted(&text) {
        Ok(once) => once,
        // Files of the tests of other dialects, and such as are wrong and do not say so.
        Err(Refusal::Invalid(diagnostics)) => {
            assert!(!diagnostics.is_empty(), "refused without a reason");
            return match may_be_invalid(file) {
                true => Ok(()),
                false => Err(diagnostics[0].message.clone().into()),
            };
        }
        Err(Refusal::Internal(message)) => return Err(message.into()),
    };
    if comments(&text) != comments(&once) {
        return Err("comments differ".into());
    }
    let twice = formatted(&once).map_err(|refusal| format!("{refusal:?}"))?;
    if once != twice {
        return Err(similar::TextDiff::from_lines(&once, &twice).unified_diff().to_string().into());
    }
    Ok(())
}

fn formatted(text: &str) -> Result<String, Refusal> {
    let cx = Context::new(sutura_dialects::all());
    format(&cx, "test.mlir", text).map(|formatted| formatted.text)
}

fn may_be_invalid(file: &Path) -> bool {
    let name = file.to_string_lossy();
    ["standalone-dialect", "invalid", "diagnostics"].iter().any(|word| name.contains(word))
}

/// Comments, found without the parser: good enough for texts without `//` in strings and dialect types.
fn comments(text: &str) -> Vec<&str> {
    text.lines().filter_map(|line| line.find("//").map(|at| line[at..].trim_end())).collect()
}

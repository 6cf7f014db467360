//! Tables of small programs whose verdict is compared with mlir-opt's.
//!
//! A case of `tests/cases/` is
//!
//! ```text
//! == name
//! args: --split-input-file   options, blank-separated (optional)
//! status: 1                  expected exit status
//! mlir: 0                    whether mlir-opt fails, if deliberately not the same
//! stderr: was not produced   text that must be in our messages (optional)
//! --
//! the program
//! ```
//!
//! In programs, `$FILE` is the name of the file itself, `␍` a carriage return, `␉` a tab and `␠` a blank.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::run_in;

pub(super) struct Case {
    pub(super) name: String,
    pub(super) args: Vec<String>,
    status: u8,
    mlir: Option<u8>,
    stderr: Option<String>,
    pub(super) text: String,
}

pub(super) fn cases(file: &str) -> Vec<Case> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases").join(file);
    let text = std::fs::read_to_string(path).expect("a table");
    text.split("\n== ").skip(1).map(parse).collect()
}

fn parse(text: &str) -> Case {
    let (head, program) = text.split_once("\n--\n").or_else(|| Some((text.strip_suffix("\n--")?, ""))).expect("--");
    let mut lines = head.lines();
    let name = lines.next().expect("a name").to_string();
    let text = program.replace('␍', "\r").replace('␉', "\t").replace('␠', " ").replace("$FILE", INPUT);
    let text = if text.is_empty() || text.ends_with('\n') { text } else { text + "\n" };
    let mut case = Case { name, args: Vec::new(), status: u8::MAX, mlir: None, stderr: None, text };
    for line in lines {
        let (key, value) = line.split_once(": ").expect("key: value");
        match key {
            "args" => case.args = value.split_whitespace().map(str::to_string).collect(),
            "status" => case.status = value.parse().expect("a status"),
            "mlir" => case.mlir = Some(value.parse().expect("a status")),
            "stderr" => case.stderr = Some(value.to_string()),
            _ => panic!("{}: unknown key '{key}'", case.name),
        }
    }
    assert!(case.status != u8::MAX, "{}: no status", case.name);
    case
}

const INPUT: &str = "in.mlir";

/// MLIR 22's mlir-opt, if it is installed.
pub(super) fn mlir_opt() -> Option<PathBuf> {
    let folder = std::env::var_os("SUTURA_LLVM_BIN").map_or_else(|| "/usr/lib/llvm-22/bin".into(), PathBuf::from);
    let path = folder.join("mlir-opt");
    if !path.exists() {
        sutura_skip::skipped(
            sutura_skip::Need::Llvm,
            "MLIR 22's mlir-opt is not installed (SUTURA_LLVM_BIN can name a folder)",
        );
        return None;
    }
    Some(path)
}

fn args<'a>(case: &'a Case, flags: &[&'a str]) -> Vec<&'a str> {
    flags.iter().copied().chain(case.args.iter().map(String::as_str)).chain([INPUT]).collect()
}

/// Runs a table with `flags` before the arguments of each case.
pub(super) fn ours(file: &str, least: usize, flags: &[&str]) {
    let all = cases(file);
    assert!(all.len() >= least, "only {} cases in {file}", all.len());
    let mut problems = Vec::new();
    for case in &all {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join(INPUT), &case.text).expect("written");
        let done = run_in(folder.path(), &args(case, flags), "");
        if done.status as u8 != case.status {
            problems.push(format!("{}: {:?}, expected {}\n{}", case.name, done.status, case.status, done.err));
        }
        if case.stderr.as_ref().is_some_and(|wanted| !done.err.contains(wanted)) {
            problems.push(format!("{}: no {:?} in\n{}", case.name, case.stderr, done.err));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// The same through mlir-opt, of which only success and failure are compared.
pub(super) fn theirs(file: &str, flags: &[&str]) {
    let Some(tool) = mlir_opt() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    let mut problems = Vec::new();
    for case in cases(file) {
        std::fs::write(folder.path().join(INPUT), &case.text).expect("written");
        let done = Command::new(&tool).args(args(&case, flags)).current_dir(folder.path()).output().expect("it runs");
        let expected = case.mlir.unwrap_or(case.status) == 0;
        if done.status.success() != expected {
            let said = String::from_utf8_lossy(&done.stderr);
            problems.push(format!("{}: {} of mlir-opt, not as the table says\n{said}", case.name, done.status));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

//! The table of cases in `tests/cases/`, and how to run one.
//!
//! A case is
//!
//! ```text
//! == name
//! args: --ignore-case        options, blank-separated (optional)
//! llvm-args:                 options for LLVM's FileCheck, if not the same
//! status: 1                  expected exit status
//! llvm: 0                    that of LLVM's FileCheck, if deliberately not the same
//! stderr: did you mean       text that must be in our messages (optional)
//! -- check
//! CHECK: foo
//! -- input
//! foo
//! ```
//!
//! One empty line before the next case belongs to the format. For characters
//! that editors hide: `␠` blank, `␉` tab, `␍` carriage return, `␀` NUL, and `␃`
//! ends the text (so that it has no final newline).

use std::path::Path;

use sutura_filecheck::tool::{Invocation, run};

#[derive(Debug, Default)]
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) args: Vec<String>,
    pub(crate) llvm_args: Option<Vec<String>>,
    pub(crate) status: i32,
    pub(crate) llvm: Option<i32>,
    pub(crate) stderr: Option<String>,
    pub(crate) check: String,
    pub(crate) input: String,
}

/// All cases, named `file: case`.
pub(crate) fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .expect("the folder of cases")
        .map(|entry| entry.expect("a file of cases").path())
        .collect();
    files.sort();
    files.iter().flat_map(|file| parse(file)).collect()
}

fn parse(file: &Path) -> Vec<Case> {
    let text = std::fs::read_to_string(file).expect("a file of cases");
    let stem = file.file_stem().expect("a name").to_string_lossy();
    text.split("\n== ").skip(1).map(|text| parse_case(&stem, text)).collect()
}

fn parse_case(stem: &str, text: &str) -> Case {
    let (head, rest) = text.split_once("-- check\n").expect("-- check");
    let (check, input) = rest.split_once("-- input\n").expect("-- input");
    let mut head = head.lines();
    let name = head.next().expect("a name");
    let mut case = Case {
        name: format!("{stem}: {name}"),
        check: decode(check),
        // The newline before `== ` is cut, the one of the empty line is not.
        input: decode(input),
        status: -1,
        ..Case::default()
    };
    for line in head {
        let (key, value) = line.split_once(':').expect("key: value");
        let value = value.trim();
        let words = || value.split_whitespace().map(str::to_owned).collect();
        let number = || value.parse().expect("a status");
        match key {
            "args" => case.args = words(),
            "llvm-args" => case.llvm_args = Some(words()),
            "status" => case.status = number(),
            "llvm" => case.llvm = Some(number()),
            "stderr" => case.stderr = Some(value.to_owned()),
            _ => panic!("{}: unknown key '{key}'", case.name),
        }
    }
    assert!(case.status >= 0, "{}: no status", case.name);
    case
}

fn decode(text: &str) -> String {
    let text = text.split('␃').next().unwrap_or_default();
    text.replace('␠', " ").replace('␉', "\t").replace('␍', "\r").replace('␀', "\0")
}

/// Runs our command in process; returns its status and what it wrote to stderr.
pub(crate) fn run_ours(check: &[u8], input: &[u8], args: &[String]) -> (i32, String) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("check.txt"), check).expect("a check file");
    let mut args = args.to_vec();
    args.push("check.txt".into());
    let mut stderr = Vec::new();
    let status = run(Invocation {
        args: &args,
        environment_options: None,
        directory: folder.path(),
        stdin: &mut &*input,
        stdout: &mut Vec::new(),
        stderr: &mut stderr,
    });
    (status, String::from_utf8_lossy(&stderr).into_owned())
}

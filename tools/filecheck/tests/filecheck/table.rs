//! Runs the table of cases, alone and beside LLVM's FileCheck.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use crate::support::{Case, cases, run_ours};

#[test]
fn table() {
    let cases = cases();
    assert!(cases.len() >= 300, "only {} cases were found", cases.len());
    let mut problems = Vec::new();
    for case in &cases {
        let (status, stderr) = run_ours(case.check.as_bytes(), case.input.as_bytes(), &case.args);
        if status != case.status {
            problems.push(format!("{}: status {status}, expected {}\n{stderr}", case.name, case.status));
        }
        if let Some(wanted) = &case.stderr
            && !stderr.contains(wanted)
        {
            problems.push(format!("{}: no '{wanted}' in\n{stderr}", case.name));
        }
        let silent = stderr.is_empty();
        if status != 0 && silent {
            problems.push(format!("{}: failed without a message", case.name));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

/// LLVM 22's FileCheck, if it is installed.
fn reference() -> Option<PathBuf> {
    let path = match std::env::var_os("SUTURA_REFERENCE_FILECHECK") {
        Some(path) => PathBuf::from(path),
        None => PathBuf::from("/usr/lib/llvm-22/bin/FileCheck"),
    };
    path.exists().then_some(path)
}

#[test]
fn agrees_with_llvm() {
    let Some(reference) = reference() else {
        let why = "LLVM 22's FileCheck is not installed (SUTURA_REFERENCE_FILECHECK can name one)";
        return sutura_skip::skipped(sutura_skip::Need::Llvm, why);
    };
    let folder = tempfile::tempdir().expect("a temporary folder");
    let check_file = folder.path().join("check.txt");
    let run = |case: &Case| {
        std::fs::write(&check_file, &case.check).expect("a check file");
        let args = case.llvm_args.as_ref().unwrap_or(&case.args);
        let mut child = Command::new(&reference)
            .args(args)
            .arg(&check_file)
            .env_remove("FILECHECK_OPTS")
            .stdin(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("FileCheck starts");
        // It may end before it has read everything.
        let _ = child.stdin.take().expect("a pipe").write_all(case.input.as_bytes());
        let output = child.wait_with_output().expect("FileCheck ends");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    };
    let mut problems = Vec::new();
    for case in cases() {
        let (status, stderr) = run(&case);
        let expected = case.llvm.unwrap_or(case.status);
        if status != Some(expected) {
            problems.push(format!("{}: LLVM's status is {status:?}, the table says {expected}\n{stderr}", case.name));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

//! `sutura-opt` as a process: what is wrong with a call is found before anything runs, and an interrupt leaves nothing behind.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const PROGRAM: &str = "func.func @f(%a: i32) -> i32 {\n  return %a : i32\n}\n";

fn opt(args: &[&str], input: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sutura-opt"));
    command.args(args).env("NO_COLOR", "1").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the tool was built");
    // One that refuses the call reads nothing.
    let _ = child.stdin.take().expect("a pipe").write_all(input.as_bytes());
    child.wait_with_output().expect("a child")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn ends(args: &[&str], code: i32, words: &str) {
    let output = opt(args, PROGRAM);
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(code), "{args:?}\n{text}");
    assert!(text.contains(words), "{args:?}: no {words:?} in\n{text}");
    if code == 2 {
        assert!(output.stdout.is_empty(), "{args:?}");
    }
}

#[test]
fn braces_match_and_options_are_given_once() {
    for arg in ["--cse={", "--canonicalize={max-iterations=5", "--canonicalize=max-iterations=5}", "--cse=}{"] {
        ends(&[arg], 2, "of `");
    }
    ends(&["--canonicalize=max-iterations=1 max-iterations=2"], 2, "given twice");
    ends(&["--pass-pipeline=builtin.module(canonicalize{max-iterations=1 max-iterations=2})"], 2, "given twice");
    for arg in ["--canonicalize={max-iterations=5}", "--canonicalize=max-iterations=5", "--cse={}", "--cse="] {
        ends(&[arg], 0, "");
    }
    let twice = ["--pass-pipeline=builtin.module(cse)", "--pass-pipeline=builtin.module(canonicalize)"];
    ends(&twice, 0, "an earlier `--pass-pipeline` does nothing");
}

#[test]
fn pipelines_in_options_are_checked_before_anything_runs() {
    for arg in ["--inline=default-pipeline=zz", "--pass-pipeline=builtin.module(inline{default-pipeline=zz})"] {
        ends(&[arg], 2, "'zz' does not refer to a registered pass");
    }
    let inner = "--pass-pipeline=builtin.module(inline{default-pipeline=\"inline{default-pipeline=zz}\"})";
    ends(&[inner], 2, "'zz' does not refer to a registered pass");
    ends(&["--pass-pipeline=builtin.module(inline{default-pipeline=\"cse)\"})"], 2, "unexpected ')'");
    ends(&["--pass-pipeline=builtin.module(inline{default-pipeline=\"\"},inline{default-pipeline=cse})"], 0, "");
}

#[test]
fn values_are_not_empty_and_within_bounds() {
    for flag in [
        "--generate-reproducer=",
        "--mlir-pass-pipeline-crash-reproducer=",
        "--mlir-print-ir-tree-dir=",
        "--mlir-print-ir-after=",
        "--mlir-print-ir-before=",
    ] {
        ends(&[flag, "--cse"], 2, "takes a value that is not empty");
    }
    ends(&["--check-passes=10001", "--cse"], 2, "from 1 to 10000");
}

#[test]
fn a_reproducer_that_was_asked_for_and_cannot_be_written_is_an_error() {
    for file in ["/none/x", "/dev/full"] {
        ends(&[&format!("--generate-reproducer={file}"), "--cse"], 5, "cannot write");
    }
}

#[test]
fn every_message_has_a_place() {
    for (text, place) in [
        ("func.func @f() {\n \"arith.constant\"() : () -> () loc(unknown)\n return\n}\n", "<stdin>:1:1: error: "),
        ("\"arith.constant\"() : () -> () loc(unknown)\n", "<stdin>: error: "),
        ("func.func @f() {\n \"arith.constant\"() : () -> ()\n return\n}\n", "<stdin>:2:2: error: "),
    ] {
        let output = opt(&[], text);
        assert!(stderr(&output).starts_with(place), "{text}\n{}", stderr(&output));
    }
    let output = opt(&["--run-reproducer"], PROGRAM);
    assert!(stderr(&output).starts_with("<stdin>: error: the input holds no reproducer"), "{}", stderr(&output));
}

#[test]
fn names_and_arguments_hide_nothing() {
    let evil = "\u{1b}[31m\nerror: forged\u{9b}\u{202e}\r";
    let program = format!("func.func @f() {{ \u{1b}[31m \u{9b} \u{202e} }}\n// {evil}\n");
    let (flag, pass) = (format!("--{evil}"), format!("--pass-pipeline=builtin.module({evil})"));
    for args in [&[evil][..], &[&flag], &[&pass], &["--message-format=json"], &[evil, "--message-format=json"], &[]] {
        let text = stderr(&opt(args, &program));
        let hidden = text.chars().find(|c| *c != '\n' && sutura_visible::is_hidden(*c));
        assert!(!text.is_empty() && hidden.is_none() && !text.contains("\nerror: forged"), "{args:?}\n{text:?}");
    }
}

/// A program on which `--check-passes` works for long.
const LONG: &str = "func.func @f(%a: i32) -> i32 {
  %b = arith.constant 0 : index
  %e = arith.constant 1000000 : index
  %s = arith.constant 1 : index
  %r = scf.for %i = %b to %e step %s iter_args(%x = %a) -> (i32) {
    %y = arith.addi %x, %a : i32
    scf.yield %y : i32
  }
  return %r : i32
}
";

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).expect("a folder");
    entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn an_interrupt_leaves_nothing_behind() {
    for signal in ["INT", "TERM", "HUP"] {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("in.mlir"), LONG).expect("a file");
        // A job in the background ignores interrupts, and so does what it starts.
        let mut command = Command::new("env");
        command.args(["--default-signal", env!("CARGO_BIN_EXE_sutura-opt")]);
        command.current_dir(folder.path()).args(["in.mlir", "-o", "out.mlir", "--check-passes=10000", "--cse"]);
        let mut child = command.stdin(Stdio::null()).stderr(Stdio::null()).spawn().expect("the tool was built");
        let start = Instant::now();
        while names(folder.path()).len() < 2 {
            assert!(child.try_wait().expect("a child").is_none() && start.elapsed() < Duration::from_secs(60));
            std::thread::sleep(Duration::from_millis(5));
        }
        let sent = Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status();
        assert!(sent.expect("kill").success());
        assert_eq!(child.wait().expect("a child").code(), Some(130), "{signal}");
        assert_eq!(names(folder.path()), ["in.mlir"], "{signal}");
    }
}

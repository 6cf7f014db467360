//! `sutura-run` as a program. Runs of artifacts are in the tests of `sutura`, which makes them.

use std::process::{Command, Output};

fn tool(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sutura-run"));
    command.args(args).current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../..")).env("NO_COLOR", "1");
    command.output().expect("the tool was built")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).expect("UTF-8")
}

#[test]
fn help_has_the_commands_and_the_exit_codes() {
    let help = text(&tool(&["--help"]).stdout);
    for word in ["run", "bench", "inspect", "verify", "devices", "completions", "8 a result is not"] {
        assert!(help.contains(word), "no {word:?} in\n{help}");
    }
}

#[test]
fn it_knows_no_compiler() {
    let output = tool(&["run", "examples/mlp/mlp.onnx"]);
    assert_eq!(output.status.code(), Some(4));
    let said = text(&output.stderr);
    assert!(said.contains("is not a Sutura artifact") && said.contains("`sutura compile MODEL"), "{said}");
    // No library of LLVM is linked.
    let program = std::fs::read(env!("CARGO_BIN_EXE_sutura-run")).expect("the tool was built");
    let names = |name: &[u8]| program.windows(name.len()).any(|window| window == name);
    assert!(names(b"libc.so.6") && !names(b"libLLVM.so") && !names(b"libMLIR.so"));
}

#[test]
fn wrong_calls_are_usage() {
    for args in [&["walk"][..], &["run"], &["run", "x.sutura", "--threads=0"], &["run", "x.sutura", "--dim", "n"]] {
        let output = tool(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", text(&output.stderr));
        assert!(output.stdout.is_empty() && !output.stderr.is_empty());
    }
}

#[test]
fn the_processor_is_a_device() {
    let output = tool(&["devices", "--message-format=json"]);
    let first = text(&output.stdout);
    let first: serde_json::Value = serde_json::from_str(first.lines().next().expect("a line")).expect("JSON");
    assert_eq!((&first["result"], &first["id"]), (&"device".into(), &"cpu".into()));
}

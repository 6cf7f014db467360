//! What `sutura compile` says of its work: remarks.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn sutura(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sutura"));
    command.current_dir(folder).args(args).env("NO_COLOR", "1");
    command.output().expect("the tool was built")
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Compiles a model of `tests/data` to a stage; what it says on stderr.
fn compiles(folder: &Path, model: &str, args: &[&str]) -> String {
    let path = data(model);
    let output = sutura(folder, &[&["compile", path.to_str().unwrap()], args].concat());
    assert!(output.status.success(), "{args:?}\n{}", stderr(&output));
    stderr(&output)
}

/// The same, which must fail with this exit code and these words.
fn refuses(folder: &Path, model: &str, args: &[&str], code: i32, words: &str) -> String {
    let path = data(model);
    let output = sutura(folder, &[&["compile", path.to_str().unwrap()], args].concat());
    let text = stderr(&output);
    assert_eq!(output.status.code(), Some(code), "{args:?}\n{text}");
    assert!(text.contains(words), "{args:?}: no {words:?} in\n{text}");
    text
}

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name)
}

/// Names of the files in a folder, sorted.
fn files(folder: &Path) -> Vec<String> {
    let names = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

const GIR: &[&str] = &["--emit", "gir", "-o", "gir.mlir"];

#[test]
fn remarks_say_what_each_pass_did_and_where() {
    let folder = tempfile::tempdir().unwrap();
    let shown = compiles(folder.path(), "softmax_graph.mlir", &[GIR, &["-q", "--remarks"]].concat());
    let stitched = shown.lines().find(|l| l.contains("[stitch, passed]")).unwrap();
    assert!(stitched.contains("softmax_graph.mlir:7:"), "{stitched}");
    assert!(stitched.contains("a region of kind 'row' with 4 ops"), "{stitched}");
    assert!(shown.contains("[stitch, analysis] plan of @softmax: 1 region"), "{shown}");
    assert!(shown.contains("[convert-graph-to-gir, passed]"), "{shown}");
    // The same as text in a file, where stderr is left to other things.
    let quiet = compiles(folder.path(), "softmax_graph.mlir", &[GIR, &["-q", "--remarks=said.txt"]].concat());
    assert_eq!(quiet, "");
    assert_eq!(std::fs::read_to_string(folder.path().join("said.txt")).unwrap(), shown);
}

#[test]
fn remarks_in_json_are_those_of_sutura_opt() {
    let folder = tempfile::tempdir().unwrap();
    compiles(folder.path(), "softmax_graph.mlir", &[GIR, &["-q", "--remarks=said.json"]].concat());
    let text = std::fs::read_to_string(folder.path().join("said.json")).unwrap();
    let values: Vec<serde_json::Value> = text.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let stitched = values.iter().find(|v| v["pass"] == "stitch" && v["kind"] == "passed").unwrap();
    assert_eq!(stitched["location"]["line"], 7);
    assert!(stitched["message"].as_str().unwrap().contains("'row'"));
    assert!(stitched["name"].is_null());
    // As messages of the tool they have a level as well.
    let args = [GIR, &["-q", "--remarks", "--message-format=json"]].concat();
    let lines = compiles(folder.path(), "softmax_graph.mlir", &args);
    let first: serde_json::Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert_eq!(first["level"], "remark");
}

#[test]
fn remarks_that_cannot_be_written_are_refused_before_the_work() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("taken")).unwrap();
    let args = |to: &'static str| [GIR, &[to]].concat();
    let model = "softmax_graph.mlir";
    let said = refuses(folder.path(), model, &args("--remarks=no/where.txt"), 5, "there is no folder `no`");
    assert!(!said.contains("stitch"), "{said}");
    refuses(folder.path(), model, &args("--remarks=taken"), 5, "`taken` is a folder");
    refuses(folder.path(), model, &args("--remarks=/proc/said.txt"), 5, "cannot write `/proc/said.txt`");
    assert_eq!(files(folder.path()), ["taken"]);
}

//! `sutura extract`: parts of models compute what the whole does, and wrong names are said.

use std::path::{Path, PathBuf};

use sutura_ir::diagnostics::Exit;

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(name)
}

fn sutura(args: &[&str]) -> (Exit, String) {
    sutura_cli::run(&[&["sutura"], args].concat())
}

/// Runs the command, which must succeed.
fn done(args: &[&str]) {
    let (exit, said) = sutura(args);
    assert_eq!(exit, Exit::Ok, "{args:?}: {said}");
}

fn refused(args: &[&str], exit: Exit, words: &str) {
    let (found, said) = sutura(args);
    assert_eq!(found, exit, "{args:?}: {said}");
    assert!(said.contains(words), "{args:?}: no {words:?} in {said}");
}

/// The two parts of a model at a value compute, one after the other, what is stored of the whole.
#[test]
fn two_parts_are_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let mlp = path("examples/mlp/mlp.onnx");
    let (mlp, cut) = (mlp.to_str().unwrap(), "/act/Relu_output_0");
    let graph = file("mlp.mlir");
    done(&["compile", "-q", mlp, "--emit", "graph", "-o", &graph]);
    for (model, cut, end) in [(mlp, cut, "onnx"), (&*graph, "_act_Relu_output_0", "mlir")] {
        let (head, tail) = (file(&format!("head.{end}")), file(&format!("tail.{end}")));
        done(&["extract", "-q", model, "--to", cut, "-o", &head]);
        done(&["extract", "-q", model, "--from", cut, "-o", &tail]);
        let between = file("between.npy");
        let stored = |name: &str| path("examples/mlp/b7").join(name).to_str().unwrap().to_owned();
        done(&["run", "-q", &head, "-i", &format!("x=@{}", stored("x.npy")), "-o", &format!("{cut}=@{between}")]);
        let expected = format!("probabilities=@{}", stored("probabilities.npy"));
        done(&["run", "-q", &tail, "-i", &format!("{cut}=@{between}"), "--expected", &expected]);
    }
}

#[test]
fn wrong_names_are_said() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("part.onnx");
    let encoder = path("examples/encoder/encoder.onnx");
    let part = |args: &[&str], words: &str| {
        let head = ["extract", encoder.to_str().unwrap(), "-o", out.to_str().unwrap()];
        refused(&[&head, args].concat(), Exit::Usage, words);
        assert!(!out.exists());
    };
    part(&["--to", "/attention/self/Div_output_9"], "did you mean `/attention/self/Div_output_0`?");
    part(&["--from", "/attention/self/Div_output_0"], "--from lacks `mask`, on which `y` depends; `x`");
    part(&["--from", "x,mask", "--to", "/attention/self/Div_output_0"], "none of the outputs depends on `mask`");
    part(&["--from", "x,x"], "`x` is named twice");
    part(&["--to", "x"], "no operation computes `x`");
    part(&["--to", "/attention/self/Constant_12_output_0"], "depends on none of the inputs");
    let whisper = path("examples/whisper/whisper.onnx");
    let args = ["extract", whisper.to_str().unwrap(), "--to", "tokens", "-o", out.to_str().unwrap()];
    refused(&args, Exit::Usage, "is a value inside node `/decoder/Loop`");
}

#[test]
fn a_part_does_not_replace_its_model() {
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("mlp.onnx");
    std::fs::copy(path("examples/mlp/mlp.onnx"), &model).unwrap();
    let name = model.to_str().unwrap();
    refused(&["extract", name, "--to", "/act/Relu_output_0", "-o", name], Exit::Usage, "would replace the model");
    refused(&["extract", name, "--to", "/act/Relu_output_0"], Exit::Usage, "the output is missing");
}

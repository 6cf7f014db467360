//! The networks of `examples/`: each is compiled once and computes at every stored shape what onnxruntime does.

mod compiled;

use std::path::{Path, PathBuf};

use sutura_runtime::{Model, Options, Tensor, compare, npy};

use compiled::sutura;

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name)
}

fn read(path: &Path) -> Tensor {
    npy::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The folders of the stored cases, by name.
fn cases(name: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(example(name)).unwrap().map(|entry| entry.unwrap().path());
    let mut cases: Vec<PathBuf> = entries.filter(|path| path.is_dir() && !path.ends_with("__pycache__")).collect();
    cases.sort();
    cases
}

/// Compiles a network and compares all that it makes with what is stored: integers exactly, floats within `absolute` and
/// `relative`.
fn matches_onnxruntime(name: &str, absolute: f64, relative: f64) {
    let folder = tempfile::tempdir().unwrap();
    let artifact = folder.path().join("model.sutura");
    sutura(&["compile", example(name).join(format!("{name}.onnx")).to_str().unwrap(), "-q", "-o", artifact.to_str().unwrap()]);
    let model = Model::load_with(&artifact, Options::new().threads(2)).unwrap();
    let cases = cases(name);
    assert!(cases.len() >= 3, "{name} has {} cases", cases.len());
    for case in cases {
        let stored = |name: &str| read(&case.join(format!("{name}.npy")));
        let inputs: Vec<Tensor> = model.inputs().iter().map(|input| stored(&input.name)).collect();
        let outputs = model.run(&inputs).unwrap_or_else(|error| panic!("{}: {error}", case.display()));
        for (output, made) in model.outputs().iter().zip(&outputs) {
            let comparison = compare::compare(made, &stored(&output.name)).unwrap();
            let place = format!("{} of {}", output.name, case.display());
            assert!(comparison.within(absolute, relative), "{place}: {comparison:?}");
        }
    }
}

#[test]
fn resnet50() {
    matches_onnxruntime("resnet50", 1e-4, 1e-5);
}

#[test]
fn mobilenet_v3() {
    matches_onnxruntime("mobilenet_v3", 1e-4, 1e-5);
}

/// As many boxes are selected as data decide.
#[test]
fn yolo() {
    matches_onnxruntime("yolo", 2e-3, 1e-5);
}

/// A loop in the model decodes, with caches.
#[test]
fn whisper() {
    matches_onnxruntime("whisper", 1e-4, 1e-5);
}

#[test]
fn llama() {
    matches_onnxruntime("llama", 1e-4, 1e-5);
}

//! The networks of `examples/`: each is compiled once and computes at every stored shape what onnxruntime does.

use std::path::{Path, PathBuf};
use std::process::Command;

use sutura_dialects::rt::{BufferType, CopyOp, ExchangeOp, WhileOp};
use sutura_grammar::{ParseOptions, parse_module};
use sutura_ir::pass::{PassRegistry, RunConfig, parse_pipeline, run_pipeline};
use sutura_ir::{Context, Diagnostics, OpRef};
use sutura_runtime::{Model, Options, Tensor, compare, npy};

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

fn compile(name: &str, output: &Path, more: &[&str]) {
    let onnx = example(name).join(format!("{name}.onnx"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_sutura"));
    let done = command.args(["compile", "-q"]).arg(onnx).arg("-o").arg(output).args(more).output().unwrap();
    assert!(done.status.success(), "{name}: {}", String::from_utf8_lossy(&done.stderr));
}

/// Compiles a network and compares all that it makes with what is stored: integers exactly, floats within `absolute` and
/// `relative`.
fn matches_onnxruntime(name: &str, absolute: f64, relative: f64) {
    let folder = tempfile::tempdir().unwrap();
    let artifact = folder.path().join("model.sutura");
    let remarks = folder.path().join("remarks");
    compile(name, &artifact, &["--no-cache", &format!("--remarks={}", remarks.display())]);
    // A rule's kernels that are refused give way to slower ones, and nothing but a remark says so.
    let remarks = std::fs::read_to_string(remarks).unwrap();
    let refused = remarks.lines().find(|line| line.contains("is not lowered by the rule"));
    assert_eq!(refused, None, "{name}");
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

#[test]
fn llama_of_onnxruntime() {
    matches_onnxruntime("llama_ort", 1e-4, 1e-5);
}

/// A loop over tokens writes a row of a cache where the cache lies: no op in it copies something as long as the longest text or
/// makes it anew, to take the place of what was there.
#[test]
fn appending_to_a_cache_copies_no_old_keys() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["whisper", "llama", "llama_ort"] {
        let path = folder.path().join(format!("{name}.mlir"));
        compile(name, &path, &["--emit", "gir"]);
        let cx = Context::new(sutura_dialects::all());
        let source = cx.sources().add(name.to_owned(), std::fs::read_to_string(&path).unwrap()).unwrap();
        let mut diags = Diagnostics::default();
        let mut module = parse_module(&cx, &source, &ParseOptions::default(), &mut diags).unwrap();
        let mut registry = PassRegistry::new();
        sutura_passes::register(&mut registry);
        let passes = "builtin.module(inline-programs,update-in-place)";
        let mut manager = parse_pipeline(&cx, &registry, "cache", passes, &mut diags).unwrap();
        run_pipeline(&cx, &mut module, &mut manager, &RunConfig::default(), &mut |_| {}).1.unwrap();
        let (mut loops, mut small) = (0, 0);
        module.op_ref(&cx).walk(&mut |op: OpRef<'_>| {
            loops += usize::from(op.is::<WhileOp<'_>>());
            let moves = op.is::<CopyOp<'_>>() || op.is::<ExchangeOp<'_>>();
            if !moves || !std::iter::successors(op.parent(), |op| op.parent()).any(|around| around.is::<WhileOp<'_>>())
            {
                return;
            }
            small += 1;
            for ty in op.operands().filter_map(|value| BufferType::of(&cx, op.ty(value))) {
                let long = ty.dims.iter().any(|size| size.mentions("longest"));
                assert!(!long, "{name}: an iteration moves {}", op.name_str());
            }
        });
        assert!(loops == 1 && small > 0, "{name}: {loops} loops, {small} moves");
    }
}

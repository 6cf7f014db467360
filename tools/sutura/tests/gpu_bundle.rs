//! The runner of bundles for machines with GPUs, on artifacts compiled here for the devices that every machine has.

use std::path::{Path, PathBuf};
use std::process::Command;

use sutura_runtime::device::Devices;
use sutura_runtime::{Tensor, npy};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Compiles a program of the bundle for a target, as `name` in the bundle.
fn compile(bundle: &Path, target: &str, program: &str, name: &str) {
    let folder = bundle.join("artifacts");
    std::fs::create_dir_all(&folder).unwrap();
    let source = match program {
        "encoder" => root().join("examples/encoder/encoder.onnx"),
        _ => root().join(format!("benches/gpu/programs/{program}.mlir")),
    };
    let mut command = Command::new(env!("CARGO_BIN_EXE_sutura"));
    command.arg("compile").arg(source).args(["--target", target, "-o"]).arg(folder.join(format!("{name}.sutura")));
    let done = command.output().expect("the tool was built");
    assert!(done.status.success(), "{program}: {}", String::from_utf8_lossy(&done.stderr));
}

/// What the runner says on both streams, and its exit code.
fn runner(bundle: &Path, words: &str) -> (String, u8) {
    let mut arguments: Vec<String> = words.split_whitespace().map(str::to_owned).collect();
    arguments.extend(["--bundle".to_owned(), bundle.display().to_string()]);
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let code = sutura_gpu_runner::main(&arguments, &mut out, &mut err);
    (String::from_utf8(out).unwrap() + &String::from_utf8(err).unwrap(), code)
}

fn lavapipe() -> bool {
    let Err(error) = Devices::find().select("lavapipe") else { return true };
    sutura_skip::skipped(sutura_skip::Need::Devices, error);
    false
}

/// The names that the runner has, one a line.
fn names(bundle: &Path) -> Vec<String> {
    runner(bundle, "list").0.lines().map(str::to_owned).collect()
}

#[test]
fn every_workload_is_right_on_lavapipe() {
    if !lavapipe() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let bundle = folder.path();
    let names = names(bundle);
    assert_eq!(names.len(), 11);
    names.iter().for_each(|name| compile(bundle, "lavapipe", name, name));
    let stored = bundle.join("encoder/b1_s1");
    std::fs::create_dir_all(&stored).unwrap();
    for file in ["x.npy", "mask.npy", "y.npy"] {
        std::fs::copy(root().join("examples/encoder/b1_s1").join(file), stored.join(file)).unwrap();
    }
    let (said, code) = runner(bundle, "check --device lavapipe --max-elements 5000");
    assert_eq!(code, 0, "{said}");
    assert_eq!(said.lines().filter(|line| line.starts_with("right ")).count(), names.len(), "{said}");

    let (said, code) = runner(bundle, "time --device lavapipe --only rms_norm_bf16 --totals 3000 --max-elements 3000");
    assert_eq!(code, 0, "{said}");
    // As many sizes as `shapes` says.
    let (shapes, _) = runner(bundle, "shapes --totals 3000");
    assert_eq!(said.matches(" GB/s ").count(), shapes.lines().count(), "{said}");
    let peer = |rows: u64, cols: u64, peer: &str, us: f64| {
        let size = format!(r#""rows": {rows}, "cols": {cols}"#);
        format!(r#"{{{size}, "peer": "{peer}", "median_us": {us}, "kernels": 3, "parts": [["gemm", 2.5]]}}"#)
    };
    let timings = [peer(23, 128, "eager", 1e9), peer(3, 1000, "eager", 1e9), peer(5, 512, "compile", 1e-6)].join(", ");
    let on = r#""device": "a GPU", "versions": "torch 9", "copy_gbps": 12.0"#;
    let peers = format!(r#"{{"workload": "rms_norm_bf16", {on}, "results": [{timings}]}}"#);
    std::fs::write(bundle.join("results/rms_norm_bf16.peers.json"), peers).unwrap();
    let (said, code) = runner(bundle, "report");
    assert_eq!(code, 0, "{said}");
    let report = std::fs::read_to_string(bundle.join("results/results.md")).unwrap();
    assert!(report.contains("Peers: torch 9 on a GPU, copies 12 GB/s."), "{report}");
    assert!(report.contains("| 23 x 128 |") && report.contains("| 1000000000.0 |"), "{report}");
    assert!(report.contains("eager's kernels at 23 x 128, us: `gemm` 2.5."), "{report}");
    assert!(report.contains("compile: geometric mean 0.00") && report.contains("| eager | 2 |"), "{report}");
}

/// What another program computes is found to be wrong, and every size is named; so is what does not run at all.
#[test]
fn wrong_results_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let bundle = folder.path();
    // Both have a matrix and a row.
    compile(bundle, "cpu_fibers", "rms_norm_f32", "bias_gelu_f32");
    compile(bundle, "cpu_fibers", "softmax_bf16", "softmax_bf16");
    compile(bundle, "cpu_fibers", "softmax_f32", "chain_f32");
    let check = |name: &str| runner(bundle, &format!("check --device cpu-fibers --max-elements 700 --only {name}"));
    let (said, code) = check("bias_gelu_f32");
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("WRONG   bias_gelu_f32: at 3x128 38"), "{said}");
    assert!(said.contains("FAILED  bias_gelu_f32 (cpu_fibers): 7 sizes, largest error"), "{said}");
    let (said, code) = check("chain_f32");
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("WRONG   chain_f32: the model has 1 input (`x`), but 3 were given"), "{said}");
    let (said, code) = check("softmax_bf16");
    assert_eq!(code, 0, "{said}");
    // What was compiled for others, and what was not at all.
    compile(bundle, "cuda:sm_80,rocm:gfx942", "softmax_f32", "softmax_f32");
    let (said, code) = check("softmax_f32");
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("compiled for cuda (sm_80), rocm (gfx942), and `cpu-fibers` is none of them"), "{said}");
    let (said, code) = check("layer_norm_f32");
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("layer_norm_f32.sutura`: No such file"), "{said}");
    // The report says it again.
    let (said, code) = runner(bundle, "report");
    assert_eq!(code, 1, "{said}");
    let report = std::fs::read_to_string(bundle.join("results/results.md")).unwrap();
    assert!(report.contains("**Wrong.** at 1x1 "), "{report}");
    // A time of what is wrong is none.
    let (said, code) = runner(bundle, "time --device cpu-fibers --only bias_gelu_f32 --totals 256 --max-elements 256");
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("WRONG   bias_gelu_f32: at 2x128 "), "{said}");
}

#[test]
fn a_device_that_is_not_there() {
    let folder = tempfile::tempdir().unwrap();
    let (said, code) = runner(folder.path(), "check --device none-such");
    assert_eq!(code, 3, "{said}");
    assert!(said.starts_with("error: there is no device `none-such`; there are"), "{said}");
    assert_eq!(runner(folder.path(), "report").1, 5);
}

/// Models with stored results: a right one, a wrong one that is named with its case, and a folder without a model.
#[test]
fn stored_models_are_compared() {
    let folder = tempfile::tempdir().unwrap();
    let bundle = folder.path();
    let (said, code) = runner(bundle, "models --device cpu-fibers");
    assert_eq!(code, 5, "{said}");
    assert!(said.contains("cannot read"), "{said}");
    compile(bundle, "cpu_fibers", "softmax_f32", "softmax_f32");
    let store = |name: &str, results: [f32; 2]| {
        let case = bundle.join("models").join(name).join("one_row");
        std::fs::create_dir_all(&case).unwrap();
        std::fs::copy(bundle.join("artifacts/softmax_f32.sutura"), case.with_file_name("model.sutura")).unwrap();
        for (file, row) in [("input_0.npy", [0.0, 3f32.ln()]), ("output_0.npy", results)] {
            npy::write(case.join(file), &Tensor::from_slice(&[1, 2], &row).unwrap()).unwrap();
        }
    };
    store("softmax", [0.25, 0.75]);
    let (said, code) = runner(bundle, "models --device cpu-fibers");
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("right   softmax: 1 cases") && said.contains("1 models, 0 wrong"), "{said}");
    store("wrong", [0.25, 0.76]);
    std::fs::create_dir_all(bundle.join("models/empty")).unwrap();
    let (said, code) = runner(bundle, "models --device cpu-fibers");
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("WRONG   wrong: output 0 of ") && said.contains("off at Some([0, 1]): 0.75"), "{said}");
    assert!(said.contains("WRONG   empty: ") && said.contains("3 models, 2 wrong"), "{said}");
}

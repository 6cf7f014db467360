//! What goes with the runner: `run.sh` and `peers.py`, on a machine that has neither a GPU nor artifacts.

use std::path::{Path, PathBuf};
use std::process::Command;

fn benches(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../benches/gpu").join(file)
}

/// A bundle without artifacts.
fn bundle() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in ["run.sh", "peers.py"] {
        std::fs::copy(benches(file), folder.path().join(file)).unwrap();
    }
    std::fs::copy(env!("CARGO_BIN_EXE_gpu-runner"), folder.path().join("gpu-runner")).unwrap();
    std::fs::create_dir(folder.path().join("artifacts")).unwrap();
    folder
}

/// What a command says on both streams, and its exit code.
fn said(command: &mut Command) -> (String, Option<i32>) {
    let output = command.output().unwrap();
    let text = [output.stdout, output.stderr].map(|stream| String::from_utf8_lossy(&stream).into_owned());
    (text.concat(), output.status.code())
}

fn script(bundle: &Path, arguments: &[&str]) -> (String, Option<i32>) {
    said(Command::new("sh").arg(bundle.join("run.sh")).args(arguments))
}

#[test]
fn the_script_ends_with_what_failed() {
    let bundle = bundle();
    let stale = bundle.path().join("results/softmax_f32.check.json");
    std::fs::create_dir(stale.parent().unwrap()).unwrap();
    std::fs::write(&stale, "of another day").unwrap();
    let (text, code) = script(bundle.path(), &["--device", "cpu-fibers"]);
    assert_eq!(code, Some(1), "{text}");
    // Every workload was tried.
    assert_eq!(text.matches("\nFAILED  ").count(), 11, "{text}");
    assert!(text.contains("artifacts/encoder.sutura`: No such file"), "{text}");
    let last = text.lines().rev().find(|line| line.starts_with("FAILED:")).unwrap_or_default();
    assert!(last.contains("check --device cpu-fibers --only chain_bf16 : exit code 1]"), "{text}");
    let table = std::fs::read_to_string(bundle.path().join("results/results.md")).unwrap();
    assert!(table.contains("# cpu-fibers, 20") && table.contains("**Wrong.** cannot read `"), "{table}");
    let log = std::fs::read_to_string(bundle.path().join("results/log.txt")).unwrap();
    assert!(log.contains("cpu-fibers:0 cpu-fibers") && log.contains("WRONG   encoder: cannot read `"), "{log}");
}

#[test]
fn the_script_says_that_there_is_no_device() {
    let bundle = bundle();
    let (text, code) = script(bundle.path(), &["--device", "none-such", "--no-peers"]);
    assert_eq!(code, Some(3), "{text}");
    assert_eq!(text.matches("error: there is no device `none-such`").count(), 1, "{text}");
    assert_eq!(script(bundle.path(), &["--out", "elsewhere"]).1, Some(2));
}

/// As on machines that have no torch, or no GPU for it.
#[test]
fn peers_that_are_not_there_are_no_failure() {
    let bundle = bundle();
    let out = bundle.path().join("results");
    let mut command = Command::new("python3");
    command.arg(bundle.path().join("peers.py")).arg("--runner").arg(bundle.path().join("gpu-runner"));
    command.args(["--only", "softmax_f32", "--seed", "3", "--out"]).arg(&out);
    command.env("CUDA_VISIBLE_DEVICES", "").env("HIP_VISIBLE_DEVICES", "");
    if Command::new("python3").arg("--version").output().is_err() {
        return sutura_skip::skipped(sutura_skip::Need::Python, "there is no python3");
    }
    let (text, code) = said(&mut command);
    assert_eq!(code, Some(0), "{text}");
    assert!(text.contains("peers are not measured: torch "), "{text}");
    let arguments = ["report".to_owned(), "--out".to_owned(), out.display().to_string()];
    assert_eq!(sutura_gpu_runner::main(&arguments, &mut Vec::new(), &mut Vec::new()), 0);
    let table = std::fs::read_to_string(out.join("results.md")).unwrap();
    assert!(table.contains("Peers: none on no GPU. peers are not measured: torch "), "{table}");
}

/// With a module that stands in for torch: what it is asked for, and what becomes of peers that fail or are wrong.
#[test]
fn peers_are_measured_one_by_one() {
    if Command::new("python3").arg("--version").output().is_err() {
        return sutura_skip::skipped(sutura_skip::Need::Python, "there is no python3");
    }
    let bundle = bundle();
    let out = bundle.path().join("results");
    let mut command = Command::new("python3");
    command.arg(bundle.path().join("peers.py")).arg("--runner").arg(bundle.path().join("gpu-runner"));
    command.args(["--only", "softmax_f32", "--totals", "10000", "--out"]).arg(&out);
    command.env("PYTHONPATH", Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fake_torch"));
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    let (text, code) = said(&mut command);
    assert_eq!(code, Some(0), "{text}");
    let told = std::fs::read_to_string(out.join("softmax_f32.peers.json")).unwrap();
    let told: serde_json::Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["device"], "a GPU that stands in");
    let timings = told["results"].as_array().unwrap();
    let of = |peer: &str| -> Vec<_> {
        let own = timings.iter().filter(|timing| timing["peer"] == peer);
        own.map(|timing| (timing["rows"].as_u64().unwrap(), timing["cols"].as_u64().unwrap())).collect()
    };
    // There is no memory for rows of 2048.
    assert_eq!(of("eager"), [(78, 128), (19, 512), (10, 1000), (9, 1024), (2, 4096), (2, 4097), (1, 8192)]);
    // Rows of 1024 are wrong, and with those of 4097 it fails, so it is left out from there on.
    assert_eq!(of("compile"), [(78, 128), (19, 512), (10, 1000), (2, 4096)]);
    let first = &timings[0];
    assert!((first["median_us"].as_f64().unwrap() - 78.0).abs() < 1e-6 && first["kernels"] == 1, "{first}");
    let problems = told["problems"].to_string();
    for problem in [
        "eager at 4x2048: no memory",
        "compile at 9x1024 is off",
        "compile at 2x4097: RuntimeError: it cannot be compiled",
    ] {
        assert!(problems.contains(problem), "{problems}");
    }
}

#[test]
fn shapes_are_those_that_are_timed() {
    let runner = || Command::new(env!("CARGO_BIN_EXE_gpu-runner"));
    let (text, code) = said(runner().args(["shapes", "--totals", "4097,128", "--max-elements", "4097"]));
    assert_eq!(code, Some(0), "{text}");
    let expected = ["32 128", "8 512", "4 1000", "4 1024", "2 2048", "1 4096", "1 4097", "1 128"];
    assert_eq!(text.lines().collect::<Vec<_>>(), expected);
    let (text, _) = said(runner().args(["shapes", "--only", "encoder", "--max-elements", "131072"]));
    assert_eq!(text, "1 128\n1 512\n8 64\n");
    assert_eq!(said(&mut runner()).1, Some(2));
}

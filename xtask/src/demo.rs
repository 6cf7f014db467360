//! `cargo xtask demo`: one compilation of the example encoder, then runs at four shapes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{Failure, process, setup};

const MODEL: &str = "examples/encoder/encoder.onnx";
/// The stored cases, by batch and sequence length.
const CASES: [(u32, u32); 4] = [(1, 1), (1, 17), (3, 128), (2, 500)];
/// What the outputs may differ by from onnxruntime's.
const TOLERANCE: &str = "2e-5";

pub(crate) fn run() -> Result<(), Failure> {
    setup::run()?;
    process::run(process::cargo().args(["build", "--release", "--package", "sutura"]))?;
    let target = process::target_folder();
    let sutura = target.join("release/sutura");
    let folder = target.join("demo");
    fs::create_dir_all(&folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    let artifact = folder.join("encoder.sutura");
    println!("\nCompiling the model once, for every batch size and sequence length:");
    process::run(Command::new(&sutura).args(["compile", MODEL, "-o"]).arg(&artifact))?;
    println!("\nRunning it at {} shapes without compiling again:", CASES.len());
    for (batch, seq) in CASES {
        process::run(&mut run_case(&sutura, &artifact, batch, seq))?;
    }
    println!("\nWhere to look next (each level can be read back by sutura-opt; mlir and llvm by mlir-opt):");
    for level in ["graph", "dyn", "fusion", "gir", "mlir", "llvm"] {
        println!("  {} compile --emit={level} {MODEL}", sutura.display());
    }
    Ok(())
}

fn run_case(sutura: &Path, artifact: &Path, batch: u32, seq: u32) -> Command {
    let case = PathBuf::from(format!("examples/encoder/b{batch}_s{seq}"));
    let bound = |name: &str| format!("{name}=@{}", case.join(format!("{name}.npy")).display());
    let mut command = Command::new(sutura);
    command.arg("run").arg(artifact);
    for input in ["x", "mask"] {
        command.args(["--input", &bound(input)]);
    }
    command.args(["--expected", &bound("y"), "--atol", TOLERANCE]);
    command
}

//! Writes `import/src/onnx/proto.rs` from `onnx.proto`.
//!
//! `cargo run --manifest-path import/protogen/Cargo.toml` writes the file;
//! with `--check` it only compares and fails when the file is out of date.
#![forbid(unsafe_code)]

use std::{error::Error, fs, path::Path, process::ExitCode};

const HEADER: &str = "\
// @generated from import/protogen/onnx.proto by
//   cargo run --manifest-path import/protogen/Cargo.toml
// Do not edit.

";

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let target = here.join("../src/onnx/proto.rs");
    let text = HEADER.to_owned() + &generate(here)?;
    if std::env::args().nth(1).as_deref() == Some("--check") {
        if fs::read_to_string(&target)? != text {
            eprintln!("{} is out of date", target.display());
            return Ok(ExitCode::FAILURE);
        }
    } else {
        fs::write(&target, text)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn generate(here: &Path) -> Result<String, Box<dyn Error>> {
    let out = Path::new(env!("CARGO_MANIFEST_DIR")).join("target/generated");
    fs::create_dir_all(&out)?;
    let files = protox::compile(["onnx.proto"], [here])?;
    prost_build::Config::new()
        // Zero-copy: every bytes field is a slice of the file that was read.
        .bytes(["."])
        .out_dir(&out)
        .compile_fds(files)?;
    Ok(fs::read_to_string(out.join("onnx.rs"))?)
}

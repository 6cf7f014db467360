//! `cargo xtask fuzz`: random inputs for parser, printer, verifier, passes and FileCheck.

use std::process::Command;

use crate::{Failure, coverage, process};

/// Inputs of each of the seven targets in the checks, of `onnx` a fourth: the same ones on every machine, about a minute in all.
const SMOKE: &str = "1200";

/// Runs the fuzzer with `arguments`.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    match arguments.split_first() {
        Some((first, rest)) if first == "--coverage" => coverage::run(rest),
        _ => random(arguments),
    }
}

/// The fuzzer without coverage.
pub(crate) fn random(arguments: &[String]) -> Result<(), Failure> {
    process::run(Command::new(process::built("sutura-fuzz")?).args(arguments))
}

/// The fuzzer on its first inputs.
pub(crate) fn smoke() -> Result<(), Failure> {
    run(&["--inputs".to_owned(), SMOKE.to_owned()])
}

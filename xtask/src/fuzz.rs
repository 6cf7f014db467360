//! `cargo xtask fuzz`: random inputs for parser, printer, verifier, passes and FileCheck.

use crate::{Failure, process};

/// Inputs of each of the five targets in the checks: the same ones on every machine, about a minute in all.
const SMOKE: &str = "1200";

/// Runs the fuzzer with `arguments`.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    process::run(process::cargo().args(["run", "-q", "-p", "sutura-fuzz", "--"]).args(arguments))
}

/// The fuzzer on its first inputs.
pub(crate) fn smoke() -> Result<(), Failure> {
    run(&["--inputs".to_owned(), SMOKE.to_owned()])
}

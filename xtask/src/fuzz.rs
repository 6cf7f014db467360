//! `cargo xtask fuzz`: random inputs for parser, printer, verifier, passes and FileCheck.

use crate::{Failure, process};

/// Seconds of each of the five targets in the checks.
const SMOKE: &str = "8";

/// Runs the fuzzer with `arguments`.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    process::run(process::cargo().args(["run", "-q", "-p", "sutura-fuzz", "--"]).args(arguments))
}

/// The fuzzer for a while; inputs follow from the seed, how many there are from the speed of the machine.
pub(crate) fn smoke() -> Result<(), Failure> {
    run(&["--seconds".to_owned(), SMOKE.to_owned()])
}

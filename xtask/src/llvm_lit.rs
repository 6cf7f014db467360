//! `cargo xtask llvm-lit`: the tests of `lit-tests/` under LLVM's lit and FileCheck.

use std::env;
use std::path::PathBuf;
use std::process::Command;

use crate::{Failure, process};

/// Names under which LLVM's lit is installed, by pip or by a distribution.
const NAMES: [&str; 3] = ["lit", "llvm-lit", "llvm-lit-22"];

/// Runs them with `arguments` for lit.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let Some(lit) = find() else {
        let names = NAMES.join("`, `");
        return Err(format!("none of `{names}` is in PATH: `pip install lit`, or name it with SUTURA_LLVM_LIT"));
    };
    process::run(process::cargo().args(["build", "-p", "sutura-opt"]))?;
    let folder = env::current_dir().map_err(|error| format!("cannot tell where this is: {error}"))?;
    let build = folder.join(process::target_folder()).join("debug");
    let mut command = Command::new(lit);
    command.args(["-v", "lit-tests", "-D"]).arg(format!("build={}", build.display())).args(arguments);
    process::run(&mut command)
}

/// The same as a part of the checks, where missing LLVM's lit is no failure but is said aloud.
pub(crate) fn run_if_installed() -> Result<(), Failure> {
    if find().is_some() {
        return run(&[]);
    }
    println!(
        "skipped: lit-tests under LLVM's lit, which is not installed (`pip install lit`); sutura-lit has run them"
    );
    Ok(())
}

fn find() -> Option<PathBuf> {
    if let Some(named) = env::var_os("SUTURA_LLVM_LIT") {
        return Some(PathBuf::from(named));
    }
    let path = env::var_os("PATH").unwrap_or_default();
    let mut candidates = env::split_paths(&path).flat_map(|folder| NAMES.map(|name| folder.join(name)));
    candidates.find(|candidate| candidate.is_file())
}

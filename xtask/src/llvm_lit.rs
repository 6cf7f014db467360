//! `cargo xtask llvm-lit`: the tests of `lit-tests/` under LLVM's lit and FileCheck.

use std::env;
use std::path::PathBuf;
use std::process::Command;

use crate::{Failure, process};

/// The one that is fetched where none is installed.
const PACKAGE: &str = "lit==18.1.8";

/// Names under which LLVM's lit is installed, by pip or by a distribution.
const NAMES: [&str; 3] = ["lit", "llvm-lit", "llvm-lit-22"];

/// Runs them with `arguments` for lit.
pub(crate) fn run(arguments: &[String]) -> Result<(), Failure> {
    let Some(lit) = find() else {
        let names = NAMES.join("`, `");
        return Err(format!("none of `{names}` is in PATH: `pip install lit`, or name it with SUTURA_LLVM_LIT"));
    };
    process::built("sutura-opt")?;
    let folder = env::current_dir().map_err(|error| format!("cannot tell where this is: {error}"))?;
    let build = folder.join(process::target_folder()).join("debug");
    let mut command = Command::new(lit);
    command.args(["-v", "lit-tests", "-D"]).arg(format!("build={}", build.display())).args(arguments);
    process::run(&mut command)
}

/// Lets the tests that `command` runs find LLVM's lit, fetching it where it is not there, and demands them; what cannot be had.
pub(crate) fn provide(command: &mut Command) -> Vec<Failure> {
    let fetched = if find().is_some() { Ok(None) } else { fetched().map(Some) };
    match fetched {
        Ok(folder) => {
            if let Some(folder) = folder {
                let path = env::var_os("PATH").unwrap_or_default();
                let path = env::join_paths([folder.join("bin")].into_iter().chain(env::split_paths(&path)));
                command.env("PYTHONPATH", &folder).envs(path.map(|path| ("PATH", path)));
            }
            command.env("SUTURA_REQUIRE_LIT", "1");
            Vec::new()
        }
        Err(failure) => vec![format!("tests with LLVM's lit: {failure}")],
    }
}

/// LLVM's lit from PyPI, in a folder of its own below the build.
fn fetched() -> Result<PathBuf, Failure> {
    let folder = std::path::absolute(process::target_folder().join("llvm-lit")).map_err(|error| error.to_string())?;
    if !folder.join("bin/lit").is_file() {
        let mut install = Command::new("python3");
        install.args(["-m", "pip", "install", "--quiet", "--no-deps", "--target"]).arg(&folder).arg(PACKAGE);
        process::run(&mut install)?;
    }
    Ok(folder)
}

/// The same as a part of the checks, which demand what can be fetched.
pub(crate) fn run_as_check() -> Result<(), Failure> {
    if find().is_some() {
        return run(&[]);
    }
    let folder = fetched()?;
    let mut command = process::xtask();
    process::run(command.arg("llvm-lit").env("SUTURA_LLVM_LIT", folder.join("bin/lit")).env("PYTHONPATH", folder))
}

fn find() -> Option<PathBuf> {
    if let Some(named) = env::var_os("SUTURA_LLVM_LIT") {
        return Some(PathBuf::from(named));
    }
    let path = env::var_os("PATH").unwrap_or_default();
    let mut candidates = env::split_paths(&path).flat_map(|folder| NAMES.map(|name| folder.join(name)));
    candidates.find(|candidate| candidate.is_file())
}

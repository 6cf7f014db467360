//! Running other programs.

use std::env;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::Command;

use crate::Failure;

/// The cargo that runs this program.
pub(crate) fn cargo() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo")))
}

/// This program.
pub(crate) fn xtask() -> Command {
    Command::new(env::current_exe().unwrap_or_else(|_| "xtask".into()))
}

/// Where cargo builds.
pub(crate) fn target_folder() -> PathBuf {
    env::var_os("CARGO_TARGET_DIR").map_or_else(|| PathBuf::from("target"), PathBuf::from)
}

/// Builds a program of the workspace, with the features that tests are built with, so that nothing is compiled twice; where it is.
pub(crate) fn built(program: &str) -> Result<PathBuf, Failure> {
    run(cargo().args(["build", "-q", "--workspace", "--bin", program]))?;
    Ok(target_folder().join("debug").join(program))
}

/// Shows `command` and runs it to its end.
pub(crate) fn run(command: &mut Command) -> Result<(), Failure> {
    println!("$ {}", shown(command));
    let status = command.status().map_err(|error| format!("cannot run `{}`: {error}", shown(command)))?;
    if status.success() { Ok(()) } else { Err(format!("`{}` ended with {status}", shown(command))) }
}

/// Runs `command` and gives what it prints on stdout.
pub(crate) fn output(command: &mut Command) -> Result<String, Failure> {
    let output = command.output().map_err(|error| format!("cannot run `{}`: {error}", shown(command)))?;
    if !output.status.success() {
        let stderr = String::from_utf8_lossy(&output.stderr);
        return Err(format!("`{}` ended with {}\n{}", shown(command), output.status, stderr.trim()));
    }
    String::from_utf8(output.stdout).map_err(|_| format!("`{}` printed something that is not UTF-8", shown(command)))
}

/// A command as one would type it, programs without their folder.
pub(crate) fn shown(command: &Command) -> String {
    let program = std::path::Path::new(command.get_program());
    let program = program.file_name().unwrap_or(command.get_program());
    let words = std::iter::once(program).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}

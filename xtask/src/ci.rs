//! `cargo xtask ci`: what must hold before a change lands. Every check runs, also after one that failed.

use std::process::{Command, ExitCode};

use crate::{Failure, fuzz, llvm_lit, process, setup, test, tidy};

/// Prints the tests that failed and their count as the last lines, whatever failed.
pub(crate) fn run() -> Result<ExitCode, Failure> {
    // Nothing builds without it.
    setup::run()?;
    let mut failures = Vec::new();
    let mut note = |name: &str, result: Result<(), Failure>| {
        if let Err(failure) = result {
            eprintln!("error: {failure}");
            failures.push(name.to_owned());
        }
    };
    note("format", process::run(&mut cargo(&["fmt", "--all", "--check"])));
    note("tidy", tidy::run());
    note("lock files", lock_files());
    let clippy = ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
    note("clippy", process::run(&mut cargo(&clippy)));
    let doc = ["doc", "--workspace", "--no-deps"];
    note("documentation", process::run(cargo(&doc).env("RUSTDOCFLAGS", "-D warnings")));
    let (summary, result) = test::count(&[], test::Lacking::Fails);
    note("tests", result);
    note("standalone example", standalone());
    note("LLVM's lit", llvm_lit::run_as_check());
    note("fuzzing", fuzz::smoke());
    if !failures.is_empty() {
        eprintln!("error: failed: {}", failures.join(", "));
    }
    summary.print();
    Ok(if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A lock file of a crate outside the workspace is not brought up to date by what builds the workspace.
fn lock_files() -> Result<(), Failure> {
    const MANIFESTS: [&str; 3] =
        ["examples/standalone-dialect/Cargo.toml", "fuzz/afl/Cargo.toml", "import/protogen/Cargo.toml"];
    let fetch = |manifest: &&str| process::run(&mut cargo(&["fetch", "--locked", "--manifest-path", manifest]));
    MANIFESTS.iter().try_for_each(fetch)
}

/// The example of a crate outside the workspace, built where the workspace is built.
fn standalone() -> Result<(), Failure> {
    const MANIFEST: &str = "examples/standalone-dialect/Cargo.toml";
    process::run(&mut cargo(&["fmt", "--manifest-path", MANIFEST, "--check"]))?;
    let target = process::target_folder();
    process::run(cargo(&["test", "--manifest-path", MANIFEST, "--target-dir"]).arg(target))
}

fn cargo(arguments: &[&str]) -> Command {
    let mut command = process::cargo();
    command.args(arguments);
    command
}

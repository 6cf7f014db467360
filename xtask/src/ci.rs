//! `cargo xtask ci`: what must hold before a change lands. Every check runs, also after one that failed.

use std::process::Command;

use crate::{Failure, process, setup, test, tidy};

pub(crate) fn run() -> Result<(), Failure> {
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
    let clippy = ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
    note("clippy", process::run(&mut cargo(&clippy)));
    let doc = ["doc", "--workspace", "--no-deps", "--document-private-items"];
    note("documentation", process::run(cargo(&doc).env("RUSTDOCFLAGS", "-D warnings")));
    let (summary, result) = test::count(&[]);
    note("tests", result);
    let result = if failures.is_empty() { Ok(()) } else { Err(format!("failed: {}", failures.join(", "))) };
    if let Err(failure) = &result {
        println!("{failure}");
    }
    // The last line on stdout is the count.
    println!("{summary}");
    result
}

fn cargo(arguments: &[&str]) -> Command {
    let mut command = process::cargo();
    command.args(arguments);
    command
}

//! `cargo xtask test --changed [BASE]`: the tests of what a change can affect.
//!
//! [`plan`] decides, as a function of the changed paths and of [`facts`]; this file asks git and runs what was decided. What is left
//! out is said, and what no rule knows means everything.

mod facts;
mod plan;

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, ExitCode};

use crate::test::Summary;
use crate::{Failure, process, python, setup, test, tidy};
use plan::Plan;

pub(crate) fn run(arguments: &[String]) -> Result<ExitCode, Failure> {
    let base = match arguments {
        [] => "main",
        [base] => base.as_str(),
        _ => return Err("`test --changed` takes one argument at most: what to compare with".to_owned()),
    };
    setup::run()?;
    let changed = changed(base)?;
    let plan = plan::plan(&changed, &facts::collect(Path::new(""))?);
    println!("{} changed since `{base}`:\n{plan}", count(changed.len(), "file"));
    let mut summary = Summary::default();
    let mut failures = Vec::new();
    let mut note = |result: Result<(), Failure>| {
        if let Err(failure) = result {
            eprintln!("error: {failure}");
            failures.push(failure);
        }
    };
    note(tidy::run());
    if plan.everything.is_some() {
        let (all, result) = test::count(&[], test::Lacking::Said);
        summary = all;
        note(result);
    } else {
        for arguments in plan.tests() {
            note(test::run_counted(&arguments, test::Lacking::Said, &mut summary, &[]));
        }
        note(run_lits(&plan.lits));
        if changed.iter().any(|path| python::is_of_package(path)) {
            note(python::tests_among_others(test::Lacking::Said, &mut summary));
        }
    }
    print!("{}", summary.failures());
    println!("{summary}{}", if plan.everything.is_none() { ", beside what is skipped as said above" } else { "" });
    Ok(if failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What differs from where this branch left `base`, in git and beside it, by path.
fn changed(base: &str) -> Result<Vec<String>, Failure> {
    let git = |arguments: &[&str]| process::output(Command::new("git").args(arguments));
    let left = git(&["merge-base", base, "HEAD"])?;
    // Without renames both names are listed, the one that is gone and the one that is new.
    let in_git = git(&["diff", "--name-only", "--no-renames", "-z", left.trim()])?;
    let beside = git(&["ls-files", "-z", "--others", "--exclude-standard"])?;
    let names = in_git.split('\0').chain(beside.split('\0')).filter(|name| !name.is_empty());
    let sorted: BTreeSet<String> = names.map(ToOwned::to_owned).collect();
    Ok(sorted.into_iter().collect())
}

fn run_lits(lits: &BTreeSet<String>) -> Result<(), Failure> {
    if lits.is_empty() {
        return Ok(());
    }
    process::run(process::cargo().args(["build", "-q", "--workspace", "--bin", "sutura-opt", "--bin", "sutura-lit"]))?;
    let mut command = Command::new(process::target_folder().join("debug/sutura-lit"));
    command.arg("--quiet").args(lits);
    println!("$ sutura-lit --quiet ({})", count(lits.len(), "file"));
    let status = command.status().map_err(|e| format!("cannot run sutura-lit: {e}"))?;
    if status.success() { Ok(()) } else { Err(format!("sutura-lit ended with {status}")) }
}

fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

impl Plan {
    /// The calls of `cargo test`.
    fn tests(&self) -> Vec<Vec<String>> {
        let mut calls = Vec::new();
        if !self.crates.is_empty() {
            calls.push(self.crates.iter().flat_map(|name| ["-p".to_owned(), name.clone()]).collect());
        }
        if !self.pass_tests.is_empty() {
            let mut call: Vec<String> = ["-p", plan::PASSES, "--lib", "--"].map(ToOwned::to_owned).to_vec();
            call.extend(self.pass_tests.iter().cloned());
            calls.push(call);
        }
        let of_suite = |(name, suite): &(String, String)| match suite.as_str() {
            plan::DOC => vec!["-p".to_owned(), name.clone(), "--doc".to_owned()],
            suite => vec!["-p".to_owned(), name.clone(), "--test".to_owned(), suite.to_owned()],
        };
        calls.extend(self.suites.iter().map(of_suite));
        let round_trip = |file: &String| {
            let file = file.strip_prefix("lit-tests/").unwrap_or(file);
            ["-p", plan::OPT, "--test", "roundtrip", "--", file, "--exact"].map(ToOwned::to_owned).to_vec()
        };
        calls.extend(self.round_trips.iter().map(round_trip));
        calls
    }
}

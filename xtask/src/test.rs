//! `cargo xtask test`: runs every test and closes with one line that counts them.

use std::fmt;
use std::io::{BufRead as _, BufReader};
use std::process::{ExitCode, Stdio};

use crate::failures::Failures;
use crate::{Failure, changed, llvm_lit, nvidia, process, python, setup, skips};

/// How many tests ran, over all test programs, and which failed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Summary {
    passed: u64,
    failed: u64,
    skipped: u64,
    failures: Failures,
}

impl fmt::Display for Summary {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} passed, {} failed, {} skipped", self.passed, self.failed, self.skipped)
    }
}

impl Summary {
    pub(crate) fn ran(&self) -> u64 {
        self.passed + self.failed
    }

    pub(crate) fn failed(&self) -> u64 {
        self.failed
    }

    pub(crate) fn failures(&self) -> &Failures {
        &self.failures
    }

    /// Prints what failed, then the count as the last line.
    pub(crate) fn print(&self) {
        print!("{}", self.failures);
        println!("{self}");
    }

    /// Adds a line such as `test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out`, which libtest and
    /// its imitations print at the end of each test program. Other lines count nothing.
    fn add(&mut self, line: &str) {
        self.failures.add(line);
        let Some((_, counts)) = line.strip_prefix("test result: ").and_then(|rest| rest.split_once(". ")) else {
            return;
        };
        for count in counts.split(';') {
            let mut words = count.split_whitespace();
            let (Some(number), Some(kind)) = (words.next().and_then(|word| word.parse::<u64>().ok()), words.next())
            else {
                continue;
            };
            match kind {
                "passed" => self.passed += number,
                "failed" => self.failed += number,
                "ignored" => self.skipped += number,
                _ => {}
            }
        }
    }
}

impl Summary {
    /// Adds all that pytest printed. False when no line of it counts tests.
    pub(crate) fn add_pytest(&mut self, text: &str) -> bool {
        text.lines().for_each(|line| self.failures.add(line));
        text.lines().rev().any(|line| self.add_pytests_last(line))
    }

    /// Adds pytest's last line, such as `1 failed, 95 passed, 1 skipped in 50.67s`. False for any other line.
    fn add_pytests_last(&mut self, line: &str) -> bool {
        let Some((counts, _)) = line.trim_matches(|c| c == '=' || c == ' ').rsplit_once(" in ") else { return false };
        let mut counted = false;
        for count in counts.split(", ") {
            let Some((number, kind)) = count.split_once(' ') else { return false };
            let Ok(number) = number.parse::<u64>() else { return false };
            match kind {
                "passed" => self.passed += number,
                "failed" | "error" | "errors" => self.failed += number,
                "skipped" => self.skipped += number,
                _ => continue,
            }
            counted = true;
        }
        counted
    }

    /// Tests that libtest counts as passed were skipped.
    fn skip(&mut self, tests: u64) {
        self.passed = self.passed.saturating_sub(tests);
        self.skipped += tests;
    }
}

/// Prints the count as the last line, also after a failure.
pub(crate) fn run(arguments: &[String]) -> Result<ExitCode, Failure> {
    if let Some((_, rest)) = arguments.split_first().filter(|(first, _)| *first == "--changed") {
        return changed::run(rest);
    }
    setup::run()?;
    let (summary, result) = count(arguments, Lacking::Said);
    if let Err(failure) = &result {
        eprintln!("error: {failure}");
    }
    summary.print();
    Ok(if result.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What it means that something cannot be fetched that tests need.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lacking {
    /// Those tests are skipped.
    Said,
    /// A failure: where everything can be installed, every test runs.
    Fails,
}

/// Runs the tests with their output passed on, and counts them. The result is an error when a test failed, a test program
/// did not build, or none ran.
pub(crate) fn count(arguments: &[String], lacking: Lacking) -> (Summary, Result<(), Failure>) {
    let mut summary = Summary::default();
    let all: Vec<String> = std::iter::once("--workspace".to_owned()).chain(arguments.iter().cloned()).collect();
    let rust = run_counted(&all, lacking, &mut summary, &[]);
    // A choice of tests of Rust is none of Python's.
    let python = if arguments.is_empty() { python::tests_among_others(lacking, &mut summary) } else { Ok(()) };
    let result = rust.and(python);
    if result.is_ok() && summary.passed == 0 {
        return (summary, Err("no test ran".to_owned()));
    }
    (summary, result)
}

/// `cargo test` with arguments; what ran is added to `summary`.
pub(crate) fn run_counted(
    arguments: &[String],
    lacking: Lacking,
    summary: &mut Summary,
    variables: &[(&str, &str)],
) -> Result<(), Failure> {
    let mut command = process::cargo();
    command.envs(variables.iter().copied());
    command.args(["test", "--no-fail-fast"]).args(arguments).stdout(Stdio::piped());
    // The setup came before, so no test may be skipped for lack of what it installs.
    let notes = skips::Notes::of(&mut command)?;
    let mut missing = nvidia::provide(&mut command);
    missing.extend(llvm_lit::provide(&mut command));
    missing.iter().for_each(|what| println!("skipped: {what}"));
    let shown = process::shown(&command);
    println!("$ {shown}");
    let mut child = command.spawn().map_err(|error| format!("cannot run `{shown}`: {error}"))?;
    let stdout = child.stdout.take().ok_or("cargo test has no output")?;
    for line in BufReader::new(stdout).split(b'\n') {
        let line = line.map_err(|error| format!("cannot read what `{shown}` prints: {error}"))?;
        let line = String::from_utf8_lossy(&line);
        summary.add(&line);
        println!("{line}");
    }
    let status = child.wait().map_err(|error| format!("cannot wait for `{shown}`: {error}"))?;
    let skips = notes.read();
    skips.lines().for_each(|line| println!("{line}"));
    summary.skip(skips.count());
    if lacking == Lacking::Fails && !missing.is_empty() {
        return Err(format!("what tests need could not be fetched: {}", missing.join("; ")));
    }
    if status.success() { Ok(()) } else { Err(format!("`{shown}` ended with {status}")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pytests_last_line_counts() {
        let mut summary = Summary::default();
        assert!(!summary.add_pytests_last("........F.s      [100%]"));
        assert!(!summary.add_pytests_last("FAILED tests/test_calls.py::test_x - AssertionError: 3 in 4"));
        assert!(summary.add_pytests_last("1 failed, 95 passed, 2 skipped, 4 warnings in 61.02s (0:01:01)"));
        assert!(summary.add_pytests_last("===== 1 passed, 1 error in 0.03s ====="));
        assert_eq!(summary, Summary { passed: 96, failed: 2, skipped: 2, ..Summary::default() });
    }

    #[test]
    fn only_result_lines_count() {
        let mut summary = Summary::default();
        summary.add("test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s");
        summary
            .add("test result: FAILED. 7 passed; 8 failed; 0 ignored; 0 measured; 2 filtered out; finished in 0.19s");
        summary.add("note: test result: ok. 9 passed; 0 failed");
        summary.add("100 passed, 2 failed");
        assert_eq!(summary, Summary { passed: 10, failed: 8, skipped: 1, ..Summary::default() });
        assert_eq!(summary.to_string(), "10 passed, 8 failed, 1 skipped");
        summary.skip(3);
        assert_eq!(summary.to_string(), "7 passed, 8 failed, 4 skipped");
    }
}

//! `--update`: rewrites what a failing test expects, as far as that is safe.
//!
//! A test is run; from what its failing commands say follows one change of its file; it is run again, until it passes.
//! If it does not get that far, the file is as it was. Two kinds of expectations are rewritten: comments of
//! `--verify-diagnostics` (`expected`), and FileCheck directives that no longer match a line that says nearly the same
//! (`checks`).

mod checks;
mod expected;

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::outcome::Code;
use crate::suite::{Suite, Test};

/// What became of a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Updated {
    /// It did not fail.
    NotNeeded,
    /// It passes with these changes, a unified diff; they were made unless this was a dry run.
    Changed(String),
    /// Nothing was changed, for this reason.
    Refused(String),
}

/// Steps after which a test is given up.
const MAX_STEPS: usize = 200;

/// Updates a test's file; with `dry_run` it is as before in the end.
///
/// # Errors
/// When the file cannot be read or written.
pub fn update(suite: &Suite, test: &Test, dry_run: bool) -> Result<Updated, String> {
    let fail = |e: std::io::Error| format!("{}: {e}", test.path.display());
    let outcome = suite.run(test);
    match outcome.code {
        Code::Fail => {}
        code if code.is_failure() => return Ok(Updated::Refused(format!("the test is {}", code.name()))),
        _ => return Ok(Updated::NotNeeded),
    }
    if std::fs::metadata(&test.path).map_err(fail)?.permissions().readonly() && !dry_run {
        return Ok(Updated::Refused("the file may not be written".to_string()));
    }
    let original = match String::from_utf8(std::fs::read(&test.path).map_err(fail)?) {
        Ok(text) => text,
        Err(_) => return Ok(Updated::Refused("the file is not UTF-8 text".to_string())),
    };
    *in_work() = Some((test.path.clone(), original.clone()));
    let result = converge(suite, test, &original, outcome.output);
    let changed = matches!(result, Ok(Updated::Changed(_)));
    let restored = if dry_run || !changed { give_back(&test.path, &original) } else { Ok(()) };
    *in_work() = None;
    restored.map_err(fail)?;
    result
}

/// The file that was begun last and is not done, and its text before: for an interrupt of the tool, which works on one
/// after the other.
static IN_WORK: Mutex<Option<(PathBuf, String)>> = Mutex::new(None);

fn in_work() -> MutexGuard<'static, Option<(PathBuf, String)>> {
    IN_WORK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Gives the file that is changed at the moment its text back: after an interrupt it would be half updated.
///
/// # Errors
/// When it cannot be written.
pub(crate) fn restore() -> std::io::Result<()> {
    in_work().as_ref().map_or(Ok(()), |(path, text)| give_back(path, text))
}

fn give_back(path: &Path, text: &str) -> std::io::Result<()> {
    if std::fs::read(path)? == text.as_bytes() { Ok(()) } else { replace(path, text) }
}

fn converge(suite: &Suite, test: &Test, original: &str, mut output: String) -> Result<Updated, String> {
    let fail = |e: std::io::Error| format!("{}: {e}", test.path.display());
    let mut text = original.to_string();
    for _ in 0..MAX_STEPS {
        let next = match step(&test.path, &text, &output) {
            Ok(next) if next != text => next,
            Ok(_) => return Ok(Updated::Refused("what is said of the failure changes nothing".to_string())),
            Err(reason) => return Ok(Updated::Refused(reason)),
        };
        text = next;
        replace(&test.path, &text).map_err(fail)?;
        let outcome = suite.run(test);
        match outcome.code {
            Code::Pass => return Ok(Updated::Changed(diff(&test.path, original, &text))),
            Code::Fail => output = outcome.output,
            code => return Ok(Updated::Refused(format!("with new expectations the test is {}", code.name()))),
        }
    }
    Ok(Updated::Refused(format!("the test fails still after {MAX_STEPS} changes")))
}

/// One change that follows from what the failing command said.
fn step(path: &Path, text: &str, output: &str) -> Result<String, String> {
    let said: Vec<&str> = output.lines().filter_map(|line| line.strip_prefix("# | ")).collect();
    let name = path.to_string_lossy();
    if let Some(complaints) = expected::complaints(&said, &name) {
        return expected::rewrite(text, &complaints);
    }
    match checks::failure(&said, &name) {
        Some(failure) => checks::rewrite(text, &failure),
        None => Err("neither FileCheck nor --verify-diagnostics says what is wrong with this file".to_string()),
    }
}

fn diff(path: &Path, old: &str, new: &str) -> String {
    let name = path.to_string_lossy();
    similar::TextDiff::from_lines(old, new).unified_diff().header(&name, &name).to_string()
}

/// Writes beside the file and renames.
fn replace(path: &Path, text: &str) -> std::io::Result<()> {
    // A link stays; what it leads to is replaced.
    let path = path.canonicalize()?;
    let mut temporary = path.clone().into_os_string();
    temporary.push(format!(".{}.tmp", std::process::id()));
    let temporary = PathBuf::from(temporary);
    let permissions = std::fs::metadata(&path)?.permissions();
    let written = std::fs::write(&temporary, text)
        .and_then(|()| std::fs::set_permissions(&temporary, permissions))
        .and_then(|()| std::fs::rename(&temporary, &path));
    if written.is_err() {
        // The first error says more.
        let _ = std::fs::remove_file(&temporary);
    }
    written
}

//! Test suites as `cargo test` trials.

use std::path::Path;
use std::sync::Arc;

use libtest_mimic::{Failed, Trial};

use crate::suite::{Overrides, Suite, Test};
use crate::tool::Tools;

/// One trial for each test of the suite in `root`, named by its file. Tests that
/// are unsupported here are ignored, with the reason as their kind.
///
/// `features` are there besides those of the suite's `lit.toml`. The error says
/// what is wrong with the suite; a suite without tests is wrong too.
pub fn trials(root: &Path, tools: Tools, features: &[&str]) -> Result<Vec<Trial>, String> {
    let overrides =
        Overrides { features: features.iter().map(|&feature| feature.to_owned()).collect(), ..Overrides::default() };
    trials_with(root, tools, &overrides)
}

/// [`trials`] with everything that can be changed.
pub fn trials_with(root: &Path, tools: Tools, overrides: &Overrides) -> Result<Vec<Trial>, String> {
    let suite = Arc::new(Suite::load(root, tools, overrides)?);
    let tests = suite.tests(root)?;
    if tests.is_empty() {
        return Err(format!("{}: the suite has no tests", root.display()));
    }
    Ok(tests.into_iter().map(|test| trial(&suite, test)).collect())
}

fn trial(suite: &Arc<Suite>, test: Test) -> Trial {
    let reason = suite.unsupported(&test);
    let name = test.name().to_owned();
    let suite = Arc::clone(suite);
    let run = move || {
        let outcome = suite.run(&test);
        match outcome.code.is_failure() {
            true => Err(Failed::from(format!("{}\n{}", outcome.code.name(), outcome.output))),
            false => Ok(()),
        }
    };
    let trial = Trial::test(name, run);
    match reason {
        Some(reason) => trial.with_kind(reason).with_ignored_flag(true),
        None => trial,
    }
}

//! FileCheck: checks a text against the directives in another.
//!
//! The directives, their options and their meaning are those of LLVM 22's
//! FileCheck, in pure Rust and as a library; what looks like a misspelt
//! directive is an error. `docs/testing.md` has the language and the list of
//! differences.
//!
//! ```
//! use sutura_filecheck::{Checks, Config};
//!
//! let checks = "// CHECK: %[[SUM:.*]] = arith.addi
//!               // CHECK-NEXT: return %[[SUM]]";
//! let checks = Checks::parse(checks, "test.mlir", &Config::default()).unwrap();
//! let matches = checks.run("%0 = arith.addi %a, %b : i32\nreturn %0 : i32\n").unwrap();
//! assert_eq!(matches.variable("SUM"), Some(&b"0"[..]));
//! ```
//!
//! How a check file becomes a run: `directive` finds directives, `pattern`
//! parses their texts with `expr` (numbers) and `regex`, `checks` puts
//! them in order, `run` matches them, `report` and `diag` say what
//! happened. `lint` looks for what is no directive but was meant to be one.

#![forbid(unsafe_code)]

mod checks;
mod config;
mod dag;
mod diag;
mod directive;
mod expr;
mod format;
mod fuzzy;
mod lint;
mod matcher;
mod options;
mod pattern;
mod regex;
mod report;
mod run;
mod source;
pub mod tool;
mod vars;

pub use checks::Checks;
pub use config::{Config, Verbosity};
pub use diag::{Diagnostic, Location, Severity};
pub use report::{DumpFilter, DumpOptions, Matched, Matches, Report};

/// Checks `input` with the directives in `checks`; panics with the diagnostics
/// and the annotated input if they fail. `file` and `line` name the caller.
///
/// [`filecheck!`] calls it.
#[doc(hidden)]
#[track_caller]
pub fn assert_checks(input: &[u8], checks: &[u8], config: &Config, file: &str) -> Matches {
    let render = |diagnostics: &[Diagnostic]| -> String { diagnostics.iter().map(Diagnostic::to_string).collect() };
    let checks = match Checks::parse(checks, file, config) {
        Ok(checks) => checks,
        Err(errors) => panic!("the checks do not parse\n{}", render(&errors)),
    };
    let report = checks.report(input, "<input>");
    if !report.passed() {
        let dump = report.dump(&DumpOptions::default());
        panic!("checks failed\n{}\n{dump}", render(report.diagnostics()));
    }
    match report.into_result() {
        Ok(matches) => matches,
        Err(errors) => panic!("checks failed\n{}", render(&errors)),
    }
}

/// Asserts that a text passes checks; for unit tests.
///
/// `filecheck!(input, checks)` or `filecheck!(input, checks, config)`; the
/// value is the [`Matches`]. In `checks`, line numbers are those of the literal.
///
/// ```
/// sutura_filecheck::filecheck!("a = 1\nb = 1\n", "
///     CHECK:      a = [[#N:]]
///     CHECK-NEXT: b = [[#N]]
/// ");
/// ```
#[macro_export]
macro_rules! filecheck {
    ($input:expr, $checks:expr $(,)?) => {
        $crate::filecheck!($input, $checks, $crate::Config::default())
    };
    ($input:expr, $checks:expr, $config:expr $(,)?) => {
        $crate::assert_checks(
            ::std::convert::AsRef::<[u8]>::as_ref(&$input),
            ::std::convert::AsRef::<[u8]>::as_ref(&$checks),
            &$config,
            ::std::file!(),
        )
    };
}

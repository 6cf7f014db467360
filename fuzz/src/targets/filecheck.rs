//! FileCheck on any check file and input.

use sutura_filecheck::{Checks, Config, DumpOptions};

const INPUT: &str = "-- input\n";

/// The check file and its input: what stands before and behind `-- input`.
pub(crate) fn parts(text: &str) -> (&str, &str) {
    text.split_once(INPUT).unwrap_or((text, text))
}

/// Checks one part with the other; whether it passes. Any verdict is right, as long as there is one.
pub(crate) fn check(text: &str) -> Result<bool, String> {
    let (checks, input) = parts(text);
    match Checks::parse(checks, "checks", &Config::default()) {
        Ok(checks) => {
            let report = checks.report(input.as_bytes(), "input");
            if !report.passed() && report.diagnostics().is_empty() {
                return Err("the checks failed without a message".to_string());
            }
            drop(report.dump(&DumpOptions::default()));
            report.diagnostics().iter().for_each(|d| drop(d.to_string()));
            Ok(report.passed())
        }
        Err(errors) if errors.is_empty() => Err("the checks were refused without a message".to_string()),
        Err(errors) => {
            errors.iter().for_each(|d| drop(d.to_string()));
            Ok(false)
        }
    }
}

//! Check files with inputs.

use sutura_filecheck::{Checks, Config, DumpOptions};

use crate::{Planted, Verdict};

/// Larger files say nothing new and cost time.
const MAX_TEXT: usize = 16 << 10;

/// There is a verdict, and with every failure a message.
///
/// # Errors
/// When a law is broken that is no panic.
pub fn run(input: &[u8], planted: Planted) -> Verdict {
    let Ok(text) = std::str::from_utf8(input) else { return Ok(()) };
    if text.len() > MAX_TEXT {
        return Ok(());
    }
    let passed = check(text)?;
    if planted == Planted::Yes && passed {
        // The mean length of the lines, of which there may be none.
        let (_, checked) = parts(text);
        std::hint::black_box(checked.len() / checked.matches('\n').count());
    }
    Ok(())
}

const INPUT: &str = "-- input\n";

/// The check file and its input: what stands before and behind `-- input`.
fn parts(text: &str) -> (&str, &str) {
    text.split_once(INPUT).unwrap_or((text, text))
}

/// Checks one part with the other; whether it passes. Any verdict is right, as long as there is one.
///
/// # Errors
/// When there is none.
pub fn check(text: &str) -> Result<bool, String> {
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

//! Results for people (the summary), and for programs (JSON, xunit XML).

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::json;
use sutura_visible::line;

use crate::outcome::{Code, Outcome};

/// A result with the name of its test.
#[derive(Debug)]
pub struct Reported {
    /// The name of the suite.
    pub suite: String,
    /// The name of the test in the suite.
    pub test: String,
    /// How it ended.
    pub outcome: Outcome,
}

impl Reported {
    /// `suite :: test`
    pub fn full_name(&self) -> String {
        line(&format!("{} :: {}", self.suite, self.test)).into_owned()
    }
}

/// Which tests failed, and how many ended how.
pub fn summary(results: &[Reported], elapsed: Duration) -> String {
    let mut out = String::new();
    for code in Code::ALL.into_iter().filter(|code| code.is_failure()) {
        let tests: Vec<&Reported> = results.iter().filter(|result| result.outcome.code == code).collect();
        if tests.is_empty() {
            continue;
        }
        let _ = writeln!(out, "********************\n{} Tests ({}):", code.label(), tests.len());
        for test in tests {
            let _ = writeln!(out, "  {}", test.full_name());
        }
        out.push('\n');
    }
    let _ = writeln!(out, "\nTesting Time: {:.2}s\n", elapsed.as_secs_f64());
    let _ = writeln!(out, "Total Discovered Tests: {}", results.len());
    for code in Code::ALL {
        let count = results.iter().filter(|result| result.outcome.code == code).count();
        if count > 0 {
            let percent = 100.0 * count as f64 / results.len() as f64;
            let _ = writeln!(out, "  {:<19}: {count} ({percent:.2}%)", code.label());
        }
    }
    out
}

/// The results as lit's `--output` writes them.
pub fn json(results: &[Reported], elapsed: Duration) -> String {
    let tests: Vec<_> = results
        .iter()
        .map(|result| {
            json!({
                "name": result.full_name(),
                "code": result.outcome.code.name(),
                "output": result.outcome.output,
                "elapsed": result.outcome.elapsed.as_secs_f64(),
            })
        })
        .collect();
    let report = json!({
        "__version__": [0, 1, 0],
        "elapsed": elapsed.as_secs_f64(),
        "tests": tests,
    });
    format!("{report:#}\n")
}

/// The results in the XML of xunit and JUnit.
pub fn xunit(results: &[Reported], elapsed: Duration) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let _ = writeln!(out, "<testsuites time=\"{:.2}\">", elapsed.as_secs_f64());
    let mut suites: Vec<&str> = results.iter().map(|result| result.suite.as_str()).collect();
    suites.sort_unstable();
    suites.dedup();
    for suite in suites {
        let of_suite: Vec<&Reported> = results.iter().filter(|result| result.suite == suite).collect();
        let failures = of_suite.iter().filter(|result| result.outcome.code.is_failure()).count();
        let skipped = of_suite.iter().filter(|result| result.outcome.code == Code::Unsupported).count();
        let _ = writeln!(
            out,
            "<testsuite name=\"{}\" tests=\"{}\" failures=\"{failures}\" skipped=\"{skipped}\">",
            escape(suite),
            of_suite.len()
        );
        of_suite.iter().for_each(|result| test_case(&mut out, result));
        out.push_str("</testsuite>\n");
    }
    out.push_str("</testsuites>\n");
    out
}

fn test_case(out: &mut String, result: &Reported) {
    let (folder, name) = result.test.rsplit_once('/').unwrap_or(("", &result.test));
    let class = match folder.is_empty() {
        true => result.suite.clone(),
        false => format!("{}.{}", result.suite, folder.replace('/', ".")),
    };
    let seconds = result.outcome.elapsed.as_secs_f64();
    let _ = write!(out, "<testcase classname=\"{}\" name=\"{}\" time=\"{seconds:.2}\"", escape(&class), escape(name));
    let text = escape(&result.outcome.output);
    let _ = match result.outcome.code {
        Code::Unsupported => writeln!(out, ">\n<skipped message=\"{}\"/>\n</testcase>", text.trim_end()),
        code if code.is_failure() => {
            writeln!(out, ">\n<failure message=\"{}\">{text}</failure>\n</testcase>", code.name())
        }
        _ => writeln!(out, "/>"),
    };
}

/// Text for XML; characters that XML cannot have are replaced.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(test: &str, code: Code, output: &str) -> Reported {
        let outcome = Outcome { code, output: output.into(), elapsed: Duration::from_millis(10) };
        Reported { suite: "S".into(), test: test.into(), outcome }
    }

    #[test]
    fn reports() {
        let results = [
            result("a/b.mlir", Code::Fail, "<x> & \"y\"\u{1b}"),
            result("c.mlir", Code::Pass, ""),
            result("d.mlir", Code::Unsupported, "requires: z\n"),
        ];
        let xml = xunit(&results, Duration::from_secs(1));
        assert!(xml.contains("<testsuite name=\"S\" tests=\"3\" failures=\"1\" skipped=\"1\">"), "{xml}");
        assert!(xml.contains("<testcase classname=\"S.a\" name=\"b.mlir\" time=\"0.01\">"), "{xml}");
        assert!(xml.contains("&lt;x&gt; &amp; &quot;y&quot;\u{fffd}</failure>"), "{xml}");
        assert!(xml.contains("<skipped message=\"requires: z\"/>"), "{xml}");
        let parsed: serde_json::Value =
            serde_json::from_str(&json(&results, Duration::from_secs(1))).expect("it is JSON");
        assert_eq!(parsed["tests"][0]["name"], "S :: a/b.mlir");
        assert_eq!(parsed["tests"][0]["code"], "FAIL");
        let text = summary(&results, Duration::from_secs(1));
        assert!(text.contains("Failed Tests (1):\n  S :: a/b.mlir\n"), "{text}");
        assert!(text.contains("  Passed             : 1 (33.33%)"), "{text}");
    }
}

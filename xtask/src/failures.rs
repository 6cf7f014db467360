//! Tests that failed and what they printed, said once more after all others: a long log is read from its end.

use std::fmt;

/// The most lines that are repeated of what one test printed.
const LINES: usize = 60;
/// The most tests whose lines are repeated. The names of all are.
const SHOWN: usize = 20;

/// Failed tests in the order in which they were named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Failures {
    tests: Vec<Failed>,
    /// The test whose lines are being read.
    open: Option<usize>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Failed {
    name: String,
    lines: Vec<String>,
}

impl Failures {
    /// Reads a line of libtest, of its imitations, or of pytest.
    pub(crate) fn add(&mut self, line: &str) {
        if let Some(name) = line.strip_prefix("test ").and_then(|rest| rest.strip_suffix(" ... FAILED")) {
            self.named(name);
        } else if let Some(heading) = line.strip_prefix("---- ").and_then(|rest| rest.strip_suffix(" ----")) {
            let test = self.named(heading.strip_suffix(" stdout").unwrap_or(heading));
            self.open = Some(test);
        } else if let Some(failed) = line.strip_prefix("FAILED ") {
            let (name, why) = failed.split_once(" - ").unwrap_or((failed, ""));
            let test = self.named(name);
            self.tests[test].lines.push(why.to_owned());
        } else if line == "failures:" || line.starts_with("test result: ") {
            self.open = None;
        } else if let Some(test) = self.open {
            self.tests[test].lines.push(line.to_owned());
        }
    }

    /// The place of a test, which is new when its name is. Programs with tests of one name follow each other, so a test that has
    /// lines already is another one.
    fn named(&mut self, name: &str) -> usize {
        self.open = None;
        let known = self.tests.iter().rposition(|test| test.name == name && test.lines.is_empty());
        known.unwrap_or_else(|| {
            self.tests.push(Failed { name: name.to_owned(), lines: Vec::new() });
            self.tests.len() - 1
        })
    }
}

impl fmt::Display for Failures {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, test) in self.tests.iter().enumerate() {
            writeln!(formatter, "failed: {}", test.name)?;
            let lines = if place < SHOWN { &test.lines[..] } else { &[] };
            for line in lines.iter().take(LINES).filter(|line| !line.is_empty()) {
                writeln!(formatter, "    {line}")?;
            }
            if lines.len() > LINES {
                writeln!(formatter, "    … and {} more lines, above", lines.len() - LINES)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        let mut failures = Failures::default();
        text.lines().for_each(|line| failures.add(line));
        failures.to_string()
    }

    #[test]
    fn a_failed_test_is_repeated_with_what_it_printed() {
        let log = "running 2 tests\ntest a::right ... ok\ntest a::wrong ... FAILED\n\nfailures:\n\n\
            ---- a::wrong stdout ----\n\nthread 'a::wrong' panicked at src/a.rs:3:5:\nno\n\n\nfailures:\n    a::wrong\n\n\
            test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out\nother text\n";
        assert_eq!(read(log), "failed: a::wrong\n    thread 'a::wrong' panicked at src/a.rs:3:5:\n    no\n");
    }

    #[test]
    fn tests_of_one_name_in_two_programs_are_two() {
        let log = "test x ... FAILED\n---- x stdout ----\none\ntest result: FAILED. 0\n";
        assert_eq!(read(&log.repeat(2)), "failed: x\n    one\nfailed: x\n    one\n");
    }

    #[test]
    fn a_test_of_python_is_repeated_with_its_error() {
        let log = "....F.\nFAILED tests/test_calls.py::test_x - AssertionError: 3 in 4\n1 failed, 5 passed in 0.50s\n";
        assert_eq!(read(log), "failed: tests/test_calls.py::test_x\n    AssertionError: 3 in 4\n");
    }

    #[test]
    fn the_lines_that_are_repeated_are_bounded() {
        let long = format!("---- x ----\n{}failures:\n", "line\n".repeat(LINES + 5));
        let said = read(&long);
        assert_eq!(said.lines().count(), LINES + 2);
        assert!(said.ends_with("    … and 5 more lines, above\n"), "{said}");
        let many: String = (0..=SHOWN).map(|test| format!("---- x{test} ----\nline\nfailures:\n")).collect();
        assert!(read(&many).ends_with(&format!("failed: x{SHOWN}\n")));
    }

    #[test]
    fn what_passes_is_not_repeated() {
        assert_eq!(read("test a ... ok\ntest result: ok. 1 passed; 0 failed\nFAILURES\n"), "");
    }
}

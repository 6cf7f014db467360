//! `--verify-diagnostics`: comments that say which diagnostics must come, and where.
//!
//! `// expected-error@+1 {{text}}` expects, on the next line, an error whose message contains `text`. Kinds are error,
//! warning, remark and note; places are `@+N`, `@-N`, `@above`, `@below` (the nearest line without such a comment),
//! `@unknown`, and `@other.mlir:7` for a line of another file, whose path ends so; with `-re`, parts of the text in `{{…}}` are regular expressions.

use sutura_ir::diagnostics::codes;
use sutura_ir::{Context, Diagnostic, Loc, Severity};

use crate::args::Expectations;

/// A diagnostic that is expected.
struct Expected {
    severity: Severity,
    /// Another file, by the end of its path.
    file: Option<String>,
    /// Line of the file; `None` for a diagnostic without a place.
    line: Option<u32>,
    /// Line of the comment.
    written_at: u32,
    text: Text,
    found: bool,
}

enum Text {
    Plain(String),
    Regex(String, regex_lite::Regex),
}

impl Text {
    fn matches(&self, message: &str) -> bool {
        match self {
            Self::Plain(text) => message.contains(text),
            Self::Regex(_, regex) => regex.is_match(message),
        }
    }
    fn as_str(&self) -> &str {
        match self {
            Self::Plain(text) | Self::Regex(text, _) => text,
        }
    }
}

/// What a comparison found wrong: line of the file and message.
type Complaint = (u32, String);

/// Compares `actual` with what the comments in `text`, which begins at line `first_line` of `file`, say.
pub(crate) fn compare(
    cx: &Context,
    file: &str,
    text: &str,
    first_line: u32,
    actual: &[Diagnostic],
    which: Expectations,
) -> Vec<Diagnostic> {
    let mut complaints = Vec::new();
    let mut expected = read(text, first_line, &mut complaints);
    for diagnostic in actual {
        let notes = diagnostic.notes.iter().map(|(loc, text)| (Severity::Note, *loc, text.as_str()));
        let all = std::iter::once((diagnostic.severity, diagnostic.loc, diagnostic.message.as_str())).chain(notes);
        for (severity, loc, message) in all {
            let line = line_in(cx, loc, file);
            let here = |e: &Expected| match &e.file {
                None => e.line == line,
                Some(other) => is_at(cx, loc, other, e.line),
            };
            let found = expected
                .iter_mut()
                .filter(|e| e.severity == severity && here(e) && e.text.matches(message))
                .min_by_key(|e| e.found);
            match found {
                Some(one) => one.found = true,
                None if which == Expectations::OnlyExpected => {}
                None => {
                    let place = if line.is_none() { " without a place in the file" } else { "" };
                    complaints.push((
                        line.unwrap_or(first_line),
                        format!("unexpected {}{place}: {message}", severity.word()),
                    ));
                }
            }
        }
    }
    for missing in expected.iter().filter(|e| !e.found) {
        let (word, text) = (missing.severity.word(), missing.text.as_str());
        let (line, place) = match &missing.file {
            None => (missing.line.unwrap_or(missing.written_at), String::new()),
            Some(other) => (missing.written_at, format!(" at {other}:{}", missing.line.unwrap_or_default())),
        };
        complaints.push((line, format!("expected {word} \"{text}\" was not produced{place}")));
    }
    complaints.sort_by_key(|(line, _)| *line);
    let complain = |(line, message)| Diagnostic::error(cx.file_loc(file, line, 1), message).code(codes::EXPECTATION);
    complaints.into_iter().map(complain).collect()
}

fn line_in(cx: &Context, loc: Loc, file: &str) -> Option<u32> {
    cx.file_line_col(loc).filter(|(name, ..)| cx.str(*name) == file).map(|(_, line, _)| line)
}

/// True for a place at `line` of a file whose path ends in `other`, whole names only.
fn is_at(cx: &Context, loc: Loc, other: &str, line: Option<u32>) -> bool {
    let Some((name, found, _)) = cx.file_line_col(loc) else { return false };
    let before = cx.str(name).strip_suffix(other);
    Some(found) == line && before.is_some_and(|b| b.is_empty() || b.ends_with('/'))
}

/// Reads all comments.
fn read(text: &str, first_line: u32, complaints: &mut Vec<Complaint>) -> Vec<Expected> {
    let mut all: Vec<Expected> = Vec::new();
    // Indices of comments that wait for the next line without one.
    let mut below: Vec<usize> = Vec::new();
    let mut last_plain = first_line;
    for (line, content) in (first_line..).zip(text.lines()) {
        match comment(content, line, last_plain) {
            None => {
                last_plain = line;
                for index in below.drain(..) {
                    all[index].line = Some(line);
                }
            }
            Some(Err(reason)) => complaints.push((line, reason)),
            Some(Ok((expected, is_below))) => {
                if is_below {
                    below.push(all.len());
                }
                all.push(expected);
            }
        }
    }
    for index in below {
        complaints.push((all[index].written_at, "`@below` has no line below it".to_string()));
    }
    all
}

const KINDS: [(&str, Severity); 4] = [
    ("error", Severity::Error),
    ("warning", Severity::Warning),
    ("remark", Severity::Remark),
    ("note", Severity::Note),
];

/// The comment on a line, if it has one, and whether it means the line below.
fn comment(content: &str, line: u32, last_plain: u32) -> Option<Result<(Expected, bool), String>> {
    let start = content.find("expected-")?;
    let rest = &content[start + "expected-".len()..];
    let (word, severity) = KINDS.into_iter().find(|(word, _)| rest.starts_with(word))?;
    let rest = &rest[word.len()..];
    let (is_regex, rest) = rest.strip_prefix("-re").map_or((false, rest), |rest| (true, rest));
    let rest = rest.trim_start_matches(' ');
    let (place, rest) = match rest.strip_prefix('@') {
        Some(rest) => {
            let end = rest.find([' ', '{']).unwrap_or(rest.len());
            (&rest[..end], rest[end..].trim_start_matches(' '))
        }
        None => ("", rest),
    };
    let inside = rest.strip_prefix("{{").and_then(|rest| rest.rfind("}}").map(|end| &rest[..end]));
    let Some(inside) = inside else {
        return Some(Err(format!("`expected-{word}` needs a text in `{{{{…}}}}` after it")));
    };
    let other = place.rsplit_once(':').and_then(|(file, line)| Some((file, line.parse::<u32>().ok()?)));
    let (at, is_below) = match place {
        _ if other.is_some() => (other.map(|(_, line)| line), false),
        "" => (Some(line), false),
        "unknown" => (None, false),
        "above" => (Some(last_plain), false),
        "below" => (Some(line), true),
        number => match number.parse::<i64>() {
            Ok(offset) if number.starts_with(['+', '-']) => (u32::try_from(i64::from(line) + offset).ok(), false),
            _ => {
                return Some(Err(format!(
                    "`@{number}` is no place: it is `@+N`, `@-N`, `@above`, `@below`, `@unknown` or `@FILE:LINE`"
                )));
            }
        },
    };
    let text = match is_regex {
        false => Text::Plain(inside.to_string()),
        true => match regex(inside) {
            Ok(regex) => Text::Regex(inside.to_string(), regex),
            Err(error) => return Some(Err(error)),
        },
    };
    let file = other.map(|(file, _)| file.to_string());
    Some(Ok((Expected { severity, file, line: at, written_at: line, text, found: false }, is_below)))
}

/// A pattern in which only what stands in `{{…}}` is a regular expression.
fn regex(text: &str) -> Result<regex_lite::Regex, String> {
    let mut pattern = String::new();
    let mut rest = text;
    while let Some((plain, after)) = rest.split_once("{{") {
        let (inside, after) = after.split_once("}}").ok_or_else(|| format!("missing `}}}}` in `{text}`"))?;
        pattern.push_str(&regex_lite::escape(plain));
        pattern.push_str(&format!("(?:{inside})"));
        rest = after;
    }
    pattern.push_str(&regex_lite::escape(rest));
    regex_lite::Regex::new(&pattern).map_err(|e| format!("in `{text}`: {e}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sutura_ir::Registry;

    /// Complaints about `text` when errors with these messages come at these lines.
    fn check(text: &str, actual: &[(u32, &str)], which: Expectations) -> Vec<String> {
        let cx = Context::new(Registry::default());
        let actual: Vec<Diagnostic> = actual
            .iter()
            .map(|(line, message)| match line {
                0 => Diagnostic::error(Loc::UNKNOWN, *message),
                line => Diagnostic::error(cx.file_loc("f", *line, 1), *message),
            })
            .collect();
        let found = compare(&cx, "f", text, 1, &actual, which);
        let line = |d: &Diagnostic| cx.file_line_col(d.loc).map_or(0, |(_, line, _)| line);
        found.iter().map(|d| format!("{}: {}", line(d), d.message)).collect()
    }

    #[test]
    fn places() {
        let text = "// expected-error@+1 {{one}}\na\nb // expected-error {{two}}\n// expected-error@-1 {{three}}\n\
                    // expected-error@below {{four}}\n// expected-error@above {{five}}\nc\n// expected-error@unknown {{six}}";
        let actual = [(2, "one"), (3, "the two"), (3, "three"), (7, "four"), (2, "five"), (0, "six")];
        assert_eq!(check(text, &actual, Expectations::All), Vec::<String>::new());
    }

    #[test]
    fn places_in_other_files() {
        let cx = Context::new(Registry::default());
        let at = |file: &str, line| vec![Diagnostic::error(cx.file_loc(file, line, 1), "one")];
        let text = "// expected-error @lib/other.mlir:7 {{one}}";
        let found = |actual: &[Diagnostic]| compare(&cx, "f", text, 1, actual, Expectations::All).len();
        assert_eq!(found(&at("lib/other.mlir", 7)), 0);
        assert_eq!(found(&at("/src/lib/other.mlir", 7)), 0);
        // Another line, another file, and a file whose name only ends so.
        for actual in [at("lib/other.mlir", 8), at("f", 7), at("mylib/other.mlir", 7)] {
            assert_eq!(found(&actual), 2);
        }
    }

    #[test]
    fn missing_and_unexpected() {
        let text = "a // expected-error {{one}}\n";
        assert_eq!(
            check(text, &[(1, "two"), (0, "x")], Expectations::All),
            [
                "1: unexpected error: two",
                "1: unexpected error without a place in the file: x",
                "1: expected error \"one\" was not produced"
            ]
        );
        assert_eq!(
            check(text, &[(1, "two")], Expectations::OnlyExpected),
            ["1: expected error \"one\" was not produced"]
        );
    }

    #[test]
    fn regular_expressions() {
        let text = "a // expected-error-re {{got {{[0-9]+}} (of {{a|b}})}}\n";
        assert_eq!(check(text, &[(1, "got 12 (of b)")], Expectations::All), Vec::<String>::new());
        assert_eq!(check(text, &[(1, "got x (of b)")], Expectations::All).len(), 2);
    }

    #[test]
    fn malformed_comments_are_told() {
        for text in ["// expected-error foo", "// expected-error@here {{x}}", "// expected-error-re {{{{(}}}}"] {
            assert_eq!(check(text, &[], Expectations::All).len(), 1, "{text}");
        }
    }
}

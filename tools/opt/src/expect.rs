//! `--verify-diagnostics`: comments that say which diagnostics must come, and where.
//!
//! `// expected-error@+1 {{text}}` expects, on the next line, an error whose message contains `text`. Kinds are error,
//! warning, remark and note; places are `@+N`, `@-N`, `@above`, `@below` (the nearest line without such a comment),
//! `@unknown`, and `@other.mlir:7` for a line of another file, whose path ends so; with `-re`, parts of the text in
//! `{{…}}` are regular expressions. Where a diagnostic is in another file that can be read, the comments of that file
//! count too. What looks like such a comment and is none is an error.

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

/// What a comparison found wrong: file, line of the file, message, and what would be right.
struct Complaint {
    /// Index of the file in [`Comparison::files`].
    file: usize,
    line: u32,
    message: String,
    help: Option<String>,
}

/// A file with the comments in it.
struct File {
    name: String,
    expected: Vec<Expected>,
}

struct Comparison<'c> {
    cx: &'c Context,
    /// The input, and then other files with diagnostics.
    files: Vec<File>,
    complaints: Vec<Complaint>,
    which: Expectations,
}

/// Compares `actual` with what the comments in `text`, the whole of `file`, say. `open` reads another file.
pub(crate) fn compare(
    cx: &Context,
    file: &str,
    text: &str,
    open: &dyn Fn(&str) -> Option<String>,
    actual: &[Diagnostic],
    which: Expectations,
) -> Vec<Diagnostic> {
    let mut all = Comparison { cx, files: Vec::new(), complaints: Vec::new(), which };
    all.add_file(file, text);
    for diagnostic in actual {
        let notes = diagnostic.notes.iter().map(|(loc, text)| (Severity::Note, *loc, text.as_str()));
        let each = std::iter::once((diagnostic.severity, diagnostic.loc, diagnostic.message.as_str())).chain(notes);
        each.for_each(|(severity, loc, message)| all.meet(severity, loc, message, open));
    }
    all.missing();
    all.complaints.sort_by_key(|c| (c.file, c.line));
    let complain = |c: Complaint| {
        let loc = cx.file_loc(&all.files[c.file].name, c.line, 1);
        let error = Diagnostic::error(loc, c.message).code(codes::EXPECTATION);
        c.help.into_iter().fold(error, Diagnostic::help)
    };
    all.complaints.into_iter().map(complain).collect()
}

impl Comparison<'_> {
    fn add_file(&mut self, name: &str, text: &str) {
        let mut wrong = Vec::new();
        let expected = read(text, &mut wrong);
        let file = self.files.len();
        let complaint = |(line, message)| Complaint { file, line, message, help: None };
        self.complaints.extend(wrong.into_iter().map(complaint));
        self.files.push(File { name: name.to_string(), expected });
    }

    /// Finds the comment that expects a diagnostic.
    fn meet(&mut self, severity: Severity, loc: Loc, message: &str, open: &dyn Fn(&str) -> Option<String>) {
        let cx = self.cx;
        let place = cx.file_line_col(loc).map(|(name, line, _)| (cx.str(name), line));
        if let Some((name, _)) = place
            && self.files.iter().all(|f| f.name != name)
            && let Some(text) = open(name)
        {
            self.add_file(name, &text);
        }
        let home = place.and_then(|(name, _)| self.files.iter().position(|f| f.name == name));
        let here = |file: usize, e: &Expected| match &e.file {
            Some(other) => place.is_some_and(|(name, line)| e.line == Some(line) && ends_in(name, other)),
            None => home.unwrap_or(0) == file && (home.is_some() || place.is_none()) && e.line == place.map(|p| p.1),
        };
        let all = self.files.iter_mut().enumerate().flat_map(|(i, f)| f.expected.iter_mut().map(move |e| (i, e)));
        let near: Vec<&mut Expected> =
            all.filter(|(i, e)| here(*i, e) && e.text.matches(message)).map(|(_, e)| e).collect();
        let of_other_kind = near.iter().find(|e| e.severity != severity).map(|e| e.severity.word());
        if let Some(one) = near.into_iter().filter(|e| e.severity == severity).min_by_key(|e| e.found) {
            one.found = true;
            return;
        }
        if self.which == Expectations::OnlyExpected {
            return;
        }
        let word = severity.word();
        let at = match (home, place) {
            (Some(_), _) => String::new(),
            (None, Some((name, line))) => format!(" at {name}:{line}"),
            (None, None) => " without a place in the file".to_string(),
        };
        let help = of_other_kind.map(|other| format!("`expected-{other}` with its text should be `expected-{word}`"));
        let line = home.and(place).map_or(1, |(_, line)| line);
        let message = format!("unexpected {word}{at}: {message}");
        self.complaints.push(Complaint { file: home.unwrap_or(0), line, message, help });
    }

    /// Complains of diagnostics that did not come.
    fn missing(&mut self) {
        for (file, f) in self.files.iter().enumerate() {
            for missing in f.expected.iter().filter(|e| !e.found) {
                let (word, text) = (missing.severity.word(), missing.text.as_str());
                let (line, place) = match &missing.file {
                    None => (missing.line.unwrap_or(missing.written_at), String::new()),
                    Some(other) => (missing.written_at, format!(" at {other}:{}", missing.line.unwrap_or_default())),
                };
                let message = format!("expected {word} \"{text}\" was not produced{place}");
                self.complaints.push(Complaint { file, line, message, help: None });
            }
        }
    }
}

/// True for a path that is `other` or ends in it, whole names only.
fn ends_in(path: &str, other: &str) -> bool {
    path.strip_suffix(other).is_some_and(|before| before.is_empty() || before.ends_with('/'))
}

/// Reads all comments; what is wrong with some goes to `complaints`, with their lines.
fn read(text: &str, complaints: &mut Vec<(u32, String)>) -> Vec<Expected> {
    let mut all: Vec<Expected> = Vec::new();
    // Indices of comments that wait for the next line without one.
    let mut below: Vec<usize> = Vec::new();
    let mut last_plain = None;
    for (line, content) in (1..).zip(text.lines()) {
        match comment(content, line, last_plain) {
            None => {
                last_plain = Some(line);
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
    // These are missed in any case; why is said instead.
    for index in below.into_iter().rev() {
        let wrong = all.remove(index);
        complaints.push((wrong.written_at, "`@below` has no line below it".to_string()));
    }
    all
}

const KINDS: [(&str, Severity); 4] = [
    ("error", Severity::Error),
    ("warning", Severity::Warning),
    ("remark", Severity::Remark),
    ("note", Severity::Note),
];

type Read<T> = Result<T, String>;

/// The comment on a line, if it has one, and whether it means the line below.
fn comment(content: &str, line: u32, last_plain: Option<u32>) -> Option<Read<(Expected, bool)>> {
    let start = content.find("expected-")?;
    let rest = &content[start + "expected-".len()..];
    let Some((word, severity)) = KINDS.into_iter().find(|(word, _)| rest.starts_with(word)) else {
        return misspelt(&content[..start], rest).map(Err);
    };
    Some(after_kind(word, severity, &rest[word.len()..], line, last_plain))
}

/// What to say of `// expected-eror {{…}}`.
fn misspelt(before: &str, rest: &str) -> Option<String> {
    let word = &rest[..rest.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(rest.len())];
    let after = rest[word.len()..].trim_start_matches("-re").trim_start_matches(' ');
    if !before.contains("//") || !after.starts_with(['@', '{']) {
        return None;
    }
    let close = sutura_ir::diagnostics::did_you_mean(word, KINDS.map(|(kind, _)| kind));
    let hint = match close {
        Some(close) => format!("did you mean `expected-{close}`?"),
        None => "kinds are error, warning, remark and note".to_string(),
    };
    Some(format!("`expected-{word}` is no kind of diagnostic; {hint}"))
}

fn after_kind(
    word: &str,
    severity: Severity,
    rest: &str,
    line: u32,
    last_plain: Option<u32>,
) -> Read<(Expected, bool)> {
    let (is_regex, rest) = rest.strip_prefix("-re").map_or((false, rest), |rest| (true, rest));
    let rest = rest.trim_start_matches(' ');
    let (at, rest) = match rest.strip_prefix('@') {
        Some(rest) => {
            let end = rest.find([' ', '{']).unwrap_or(rest.len());
            (&rest[..end], rest[end..].trim_start_matches(' '))
        }
        None => ("", rest),
    };
    let inside = rest.strip_prefix("{{").and_then(|rest| rest.rfind("}}").map(|end| (&rest[..end], &rest[end + 2..])));
    let Some((inside, after)) = inside else {
        return Err(format!("`expected-{word}` needs a text in `{{{{…}}}}` after it"));
    };
    if !after.trim().is_empty() {
        return Err(format!("a line ends with the `}}}}` of `expected-{word}`, not with `{}`", after.trim()));
    }
    let place = place(at, line, last_plain)?;
    let text = match is_regex {
        false => Text::Plain(inside.to_string()),
        true => Text::Regex(inside.to_string(), regex(inside)?),
    };
    let Place { file, line: at, is_below } = place;
    Ok((Expected { severity, file, line: at, written_at: line, text, found: false }, is_below))
}

/// What stands behind the `@` of a comment.
struct Place {
    file: Option<String>,
    line: Option<u32>,
    is_below: bool,
}

fn place(at: &str, line: u32, last_plain: Option<u32>) -> Read<Place> {
    let here = |line| Ok(Place { file: None, line, is_below: false });
    match at {
        "" => here(Some(line)),
        "unknown" => here(None),
        "above" => match last_plain {
            Some(above) => here(Some(above)),
            None => Err("`@above` has no line above it".to_string()),
        },
        "below" => Ok(Place { file: None, line: Some(line), is_below: true }),
        offset
            if offset.starts_with(['+', '-'])
                && offset[1..].bytes().all(|b| b.is_ascii_digit())
                && offset.len() > 1 =>
        {
            let there = offset.parse::<i64>().ok().and_then(|o| u32::try_from(i64::from(line).checked_add(o)?).ok());
            match there.filter(|l| *l != 0) {
                Some(there) => here(Some(there)),
                None => Err(format!("`@{offset}` is no line of a file")),
            }
        }
        _ => match at
            .rsplit_once(':')
            .and_then(|(file, line)| Some((file, line.parse::<u32>().ok().filter(|_| !line.starts_with('+'))?)))
        {
            Some((file, line)) => Ok(Place { file: Some(file.to_string()), line: Some(line), is_below: false }),
            None => {
                Err(format!("`@{at}` is no place: it is `@+N`, `@-N`, `@above`, `@below`, `@unknown` or `@FILE:LINE`"))
            }
        },
    }
}

/// A pattern in which only what stands in `{{…}}` is a regular expression.
fn regex(text: &str) -> Read<regex_lite::Regex> {
    let mut pattern = String::new();
    let mut rest = text;
    while let Some((plain, after)) = rest.split_once("{{") {
        let (inside, after) = after.split_once("}}").ok_or_else(|| format!("missing `}}}}` in `{text}`"))?;
        // POSIX has no classes such as `\w`; elsewhere the letter itself would be meant.
        if let Some(at) = inside.replace("\\\\", "  ").find('\\')
            && let Some(letter) = inside[at + 1..].chars().next().filter(char::is_ascii_alphanumeric)
        {
            return Err(format!(
                "`\\{letter}` is no POSIX regular expression, in `{text}`: write a class such as `[0-9]`"
            ));
        }
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
        let found = compare(&cx, "f", text, &|_| None, &actual, which);
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
        let found = |actual: &[Diagnostic]| compare(&cx, "f", text, &|_| None, actual, Expectations::All).len();
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

//! The directives of a test file.

use strsim::osa_distance;

use crate::boolexpr::Expr;

/// Something wrong with a test file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ScriptError {
    /// Counted from 1; `None` if it concerns the whole file.
    pub(crate) line: Option<usize>,
    pub(crate) message: String,
}

impl ScriptError {
    pub(crate) fn new(line: impl Into<Option<usize>>, message: impl Into<String>) -> Self {
        Self { line: line.into(), message: message.into() }
    }
}

impl std::fmt::Display for ScriptError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.line {
            Some(line) => write!(f, "line {line}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

/// What a test does, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Action {
    Run(String),
    Define {
        /// With the `%` and the braces.
        name: String,
        value: String,
        /// Whether the name must be known, rather than new.
        again: bool,
    },
}

/// A parsed test file.
#[derive(Debug, Default)]
pub(crate) struct Script {
    /// With the line each starts on.
    pub(crate) actions: Vec<(usize, Action)>,
    /// All must hold for the test to run.
    pub(crate) requires: Vec<(String, Expr)>,
    /// None may hold for the test to run.
    pub(crate) unsupported: Vec<(String, Expr)>,
    /// If one holds, the test must fail.
    pub(crate) xfail: Vec<(String, Expr)>,
    /// How often a failed test is run again.
    pub(crate) retries: Option<u32>,
}

/// A test that needs more retries than these says nothing.
const MOST_RETRIES: u32 = 100;

const KEYWORDS: [&str; 7] = ["RUN:", "DEFINE:", "REDEFINE:", "REQUIRES:", "UNSUPPORTED:", "XFAIL:", "ALLOW_RETRIES:"];

/// Parses a test file. The first error ends it.
pub(crate) fn parse(text: &[u8]) -> Result<Script, ScriptError> {
    let mut script = Script::default();
    let mut open: Option<Open> = None;
    for (i, line) in text.split(|&b| b == b'\n').enumerate() {
        let number = i + 1;
        if is_end(line) {
            break;
        }
        let Some((keyword, rest)) = find_keyword(line, number)? else {
            continue;
        };
        let rest = std::str::from_utf8(rest)
            .map_err(|_| ScriptError::new(number, format!("the text after '{keyword}' is not UTF-8")))?;
        open = script.add(open, keyword, number, rest.trim())?;
    }
    if let Some(open) = open {
        return Err(open.unfinished());
    }
    if !script.actions.iter().any(|(_, action)| matches!(action, Action::Run(_))) {
        return Err(ScriptError::new(None, "the test has no RUN: line"));
    }
    Ok(script)
}

/// A directive whose last line ended with a backslash.
struct Open {
    keyword: &'static str,
    line: usize,
    text: String,
}

impl Open {
    fn unfinished(&self) -> ScriptError {
        ScriptError::new(self.line, format!("'{}' ends with '\\' but is not continued", self.keyword))
    }
}

fn is_end(line: &[u8]) -> bool {
    let found = memmem(line, b"END.");
    found.is_some_and(|at| !preceded_by_word(line, at) && line[at + 4..].trim_ascii().is_empty())
}

fn memmem(text: &[u8], needle: &[u8]) -> Option<usize> {
    text.windows(needle.len()).position(|window| window == needle)
}

fn is_word(byte: u8) -> bool {
    byte == b'_' || byte == b'-' || byte.is_ascii_alphanumeric()
}

fn preceded_by_word(line: &[u8], at: usize) -> bool {
    at > 0 && is_word(line[at - 1])
}

/// The first keyword on a line and what follows it.
fn find_keyword(line: &[u8], number: usize) -> Result<Option<(&'static str, &[u8])>, ScriptError> {
    if !line.contains(&b':') {
        return Ok(None);
    }
    let places = KEYWORDS.iter().filter_map(|keyword| {
        let at = memmem(line, keyword.as_bytes())?;
        // DEFINE: is also the end of REDEFINE:.
        let redefine = *keyword == "DEFINE:" && line[..at].ends_with(b"RE");
        (!redefine).then_some((at, *keyword))
    });
    let Some((at, keyword)) = places.min() else {
        return match misspelt(line) {
            Some(message) => Err(ScriptError::new(number, message)),
            None => Ok(None),
        };
    };
    if preceded_by_word(line, at) {
        let start = line[..at].iter().rposition(|&b| !is_word(b)).map_or(0, |i| i + 1);
        let word = String::from_utf8_lossy(&line[start..at]).into_owned();
        return Err(ScriptError::new(
            number,
            format!("'{word}{keyword}' is not a directive, but LLVM's lit reads '{keyword}' in it"),
        ));
    }
    Ok(Some((keyword, &line[at + keyword.len()..])))
}

/// What a word with a colon at the start of a comment was probably meant to be.
fn misspelt(line: &[u8]) -> Option<String> {
    let line = std::str::from_utf8(line).ok()?;
    let body = line.trim_start_matches(|c: char| c.is_whitespace() || "/;#*!<>-%".contains(c));
    let (word, _) = body.split_once(':')?;
    let upper = !word.is_empty() && word.bytes().all(|b| b.is_ascii_uppercase() || b == b'_');
    if !upper {
        return None;
    }
    let close = |keyword: &&&str| {
        let name = keyword.trim_end_matches(':');
        name.len() > 4 && osa_distance(word, name) <= name.len() / 5
    };
    let meant = KEYWORDS.iter().find(close)?;
    Some(format!("'{word}:' is not a directive; did you mean '{meant}'?"))
}

impl Script {
    fn add(
        &mut self,
        open: Option<Open>,
        keyword: &'static str,
        number: usize,
        rest: &str,
    ) -> Result<Option<Open>, ScriptError> {
        let (line, text) = match open {
            None => (number, rest.to_owned()),
            Some(open) if open.keyword == keyword => (open.line, open.text + " " + rest),
            Some(open) => return Err(open.unfinished()),
        };
        if let Some(text) = text.strip_suffix('\\') {
            return Ok(Some(Open { keyword, line, text: text.trim_end().to_owned() }));
        }
        self.directive(keyword, line, &text).map_err(|message| ScriptError::new(line, message))?;
        Ok(None)
    }

    fn directive(&mut self, keyword: &str, line: usize, text: &str) -> Result<(), String> {
        match keyword {
            "RUN:" if text.is_empty() => return Err("empty RUN: line".into()),
            "RUN:" => self.actions.push((line, Action::Run(text.to_owned()))),
            "DEFINE:" | "REDEFINE:" => {
                let (name, value) = definition(text)?;
                let again = keyword == "REDEFINE:";
                self.actions.push((line, Action::Define { name, value, again }));
            }
            "REQUIRES:" => expressions(text, &mut self.requires)?,
            "UNSUPPORTED:" => expressions(text, &mut self.unsupported)?,
            "XFAIL:" => expressions(text, &mut self.xfail)?,
            _ if self.retries.is_some() => return Err("a second ALLOW_RETRIES: line".into()),
            _ => {
                let retries = text.parse().ok().filter(|retries| *retries <= MOST_RETRIES);
                let wrong = || format!("'{text}' is not a number of retries: those are from 0 to {MOST_RETRIES}");
                self.retries = Some(retries.ok_or_else(wrong)?);
            }
        }
        Ok(())
    }
}

/// `%{name} = value`
fn definition(text: &str) -> Result<(String, String), String> {
    let form = || format!("'{text}' is not of the form '%{{name}} = value'");
    let (name, value) = text.split_once('=').ok_or_else(form)?;
    let name = name.trim();
    let inner = name.strip_prefix("%{").and_then(|name| name.strip_suffix('}')).ok_or_else(form)?;
    if !is_name(inner) {
        return Err(format!("'{inner}' is not a name: letters, digits, '-', '_', ':', not starting with a digit"));
    }
    Ok((name.to_owned(), value.trim().to_owned()))
}

/// Whether it can stand between `%{` and `}`.
pub(crate) fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    chars.next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_' || c == '-')
        && chars.all(|c| c.is_ascii_alphanumeric() || "-_:".contains(c))
}

/// A list of expressions, separated by commas.
fn expressions(text: &str, list: &mut Vec<(String, Expr)>) -> Result<(), String> {
    for part in text.split(',') {
        let part = part.trim();
        list.push((part.to_owned(), Expr::parse(part)?));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(text: &str) -> Vec<(usize, String)> {
        let script = parse(text.as_bytes()).expect(text);
        let run = |(line, action)| match action {
            Action::Run(text) => Some((line, text)),
            Action::Define { .. } => None,
        };
        script.actions.into_iter().filter_map(run).collect()
    }

    fn error(text: &str) -> String {
        parse(text.as_bytes()).map(drop).expect_err(text).to_string()
    }

    #[test]
    fn run_lines() {
        assert_eq!(runs("// RUN: a b \n\n; RUN: c\n"), [(1, "a b".into()), (3, "c".into())]);
        assert_eq!(runs("// RUN: a \\\n// RUN:   b\\\n// RUN: c"), [(1, "a b c".into())]);
        assert_eq!(runs("# RUN: a\r\n# END.\n# RUN: b"), [(1, "a".into())]);
        assert_eq!(runs("RUN: a\n\u{fffd}\n"), [(1, "a".into())]);
    }

    #[test]
    fn definitions() {
        let script = parse(b"DEFINE: %{a} = x \\\nDEFINE: y\nREDEFINE: %{a-b:c}=\nRUN: %{a}").expect("a script");
        assert_eq!(script.actions[0], (1, Action::Define { name: "%{a}".into(), value: "x y".into(), again: false }));
        assert_eq!(script.actions[1], (3, Action::Define { name: "%{a-b:c}".into(), value: "".into(), again: true }));
    }

    #[test]
    fn errors() {
        for (text, part) in [
            ("", "no RUN: line"),
            ("REQUIRES: a", "no RUN: line"),
            ("RUN:", "line 1: empty RUN: line"),
            ("\nRUN: a \\", "line 2: 'RUN:' ends with"),
            ("RUN: a \\\nXFAIL: b\nRUN: c", "line 1: 'RUN:' ends with"),
            ("REQUIRES: a b\nRUN: a", "line 1: expected '&&'"),
            ("REQUIRES: a,\nRUN: a", "line 1: expected a feature"),
            ("DEFINE: a = b\nRUN: a", "form"),
            ("DEFINE: %{1} = b\nRUN: a", "not a name"),
            ("ALLOW_RETRIES: x\nRUN: a", "number of retries"),
            ("RUN: a\nALLOW_RETRIES: 101", "line 2: '101' is not a number of retries"),
            ("// REQUIRE: a\nRUN: a", "did you mean 'REQUIRES:'"),
            ("// UNSUPORTED: a\nRUN: a", "did you mean 'UNSUPPORTED:'"),
            ("XRUN: a\nRUN: a", "LLVM's lit reads 'RUN:'"),
        ] {
            assert!(error(text).contains(part), "{text:?}: {}", error(text));
        }
        let text = b"RUN: \xff";
        assert!(parse(text).map(drop).expect_err("bytes").to_string().contains("UTF-8"));
    }

    #[test]
    fn prose_is_no_directive() {
        assert_eq!(runs("// NOTE: a\n// HINT: b\n// SEE(x): c\n// RUN: a").len(), 1);
    }
}

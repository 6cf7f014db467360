//! Finds what was probably meant to be a directive.
//!
//! FileCheck ignores every text that is not a directive, so a misspelt check is
//! a check that is never made. Here these are errors:
//!
//! * `CHECK-NXT:`, `CHECK-FOO:`: a prefix in use with an unknown suffix, unless
//!   a RUN line declares the whole as a prefix;
//! * `CHEKC-NEXT:`, `check-next:`, `CHECKNEXT:`: close to a directive;
//! * `CHECK foo`, `CHECK-NEXT foo`, `CHECK :` at the start of a comment: no colon;
//! * `CHECK{LITRAL}:`: unknown modifiers.

use std::ops::Range;

use strsim::osa_distance as distance;

use crate::config::Config;
use crate::diag::Diagnostic;
use crate::directive::{SUFFIXES, is_word};
use crate::source::Source;

/// Reports everything misspelt outside the directives, which start at the given
/// offsets (ascending) and reach to the ends of their lines.
pub(crate) fn misspelt(source: &Source, config: &Config, directives: &[usize], errors: &mut Vec<Diagnostic>) {
    let declared = declared_prefixes(&source.text);
    let prefixes = config.effective_check_prefixes();
    let mut known: Vec<&str> = prefixes.clone();
    known.extend(config.effective_comment_prefixes());
    known.extend(declared.names.iter().map(String::as_str));
    let long = prefixes.iter().filter(|prefix| prefix.len() >= 4);
    let suffixed = long.flat_map(|prefix| SUFFIXES.map(|(suffix, _)| format!("{prefix}-{suffix}"))).collect();
    let lint = Lint { suffixed, text: &source.text, prefixes, known, any_declared: declared.open };
    let mut next = directives.iter().peekable();
    for line in 1..=source.line_count() {
        let mut range = source.line_range(line);
        while next.next_if(|&&start| start < range.start).is_some() {}
        if let Some(&&start) = next.peek() {
            range.end = range.end.min(start);
        }
        for word in words(&source.text, range.clone()) {
            let text = &source.text[word.clone()];
            if text == b"RUN" && source.text.get(word.end) == Some(&b':') {
                break;
            }
            if let Some(message) = lint.check(&range, &word) {
                errors.push(Diagnostic::error_at(source, word.start, message));
            }
        }
    }
}

fn words(text: &[u8], range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let mut at = range.start;
    std::iter::from_fn(move || {
        at += text[at..range.end].iter().take_while(|&&b| !is_word(b)).count();
        let start = at;
        at += text[at..range.end].iter().take_while(|&&b| is_word(b)).count();
        (start < at).then_some(start..at)
    })
}

struct Lint<'a> {
    text: &'a [u8],
    prefixes: Vec<&'a str>,
    /// The prefixes that are no common words, with every suffix.
    suffixed: Vec<String>,
    /// Every prefix that some run uses.
    known: Vec<&'a str>,
    /// Whether a RUN line takes prefixes from a substitution.
    any_declared: bool,
}

impl Lint<'_> {
    /// What is wrong with the word, if it seems to be meant as a directive.
    fn check(&self, line: &Range<usize>, word: &Range<usize>) -> Option<String> {
        let name = std::str::from_utf8(&self.text[word.clone()]).ok()?;
        let after = &self.text[word.end..line.end.max(word.end)];
        let colon = after.first() == Some(&b':') && after.get(1) != Some(&b':');
        let starts_comment =
            self.text[line.start..word.start].iter().all(|b| b.is_ascii_whitespace() || b"/;#*!<>-%|\"'(".contains(b));
        if self.is_directive(name, &self.prefixes) {
            return self.incomplete(name, after, colon, starts_comment);
        }
        if self.is_directive(name, &self.known) || !(colon || starts_comment) {
            return None;
        }
        if !colon && !after.first().is_none_or(u8::is_ascii_whitespace) {
            return None;
        }
        self.unknown_suffix(name, colon).or_else(|| self.close(name, colon, starts_comment))
    }

    /// Whether it is one of the prefixes, alone or with a valid suffix.
    fn is_directive(&self, name: &str, prefixes: &[&str]) -> bool {
        prefixes.iter().any(|prefix| name.strip_prefix(prefix).is_some_and(|rest| rest.is_empty() || is_suffix(rest)))
    }

    /// A correct name without the colon that makes it a directive.
    fn incomplete(&self, name: &str, after: &[u8], colon: bool, starts_comment: bool) -> Option<String> {
        if after.first() == Some(&b'{') {
            return Some(format!("unknown modifier after '{name}'; the only one is '{name}{{LITERAL}}:'"));
        }
        let ends = after.first().is_none_or(u8::is_ascii_whitespace);
        // A short prefix can be a word of a sentence.
        let is_word = name.len() < 4 || name.bytes().any(|b| b.is_ascii_lowercase());
        if colon || !ends || !starts_comment || is_word {
            return None;
        }
        Some(format!(
            "directive '{name}' without ':'; did you mean '{name}:'? \
             (start a comment about it with 'COM:')"
        ))
    }

    /// A prefix in use followed by something that is no suffix.
    fn unknown_suffix(&self, name: &str, colon: bool) -> Option<String> {
        let (prefix, rest) = self.prefixes.iter().find_map(|prefix| {
            let rest = name.strip_prefix(prefix)?;
            let rest = rest.strip_prefix('-').or_else(|| rest.strip_prefix('_'))?;
            Some((prefix, rest))
        })?;
        if rest == "COUNT" {
            return Some(format!("'{name}' has no number; did you mean '{prefix}-COUNT-<n>:'?"));
        }
        if let Some(suffix) = close_suffix(rest) {
            return Some(misspelling(name, &format!("{prefix}-{suffix}")));
        }
        if !colon || self.any_declared {
            return None;
        }
        Some(format!(
            "unknown directive '{name}:'; if '{name}' is the prefix of another run, \
             a RUN line must name it in --check-prefixes"
        ))
    }

    /// Something a letter or two away from a directive.
    fn close(&self, name: &str, colon: bool, starts_comment: bool) -> Option<String> {
        let lowercase = has_lowercase(name);
        let meant = self.suffixed.iter().find(|meant| {
            // Most words of a file differ in length already.
            meant.len().abs_diff(name.len()) <= 2
                && (name.eq_ignore_ascii_case(meant) || (!lowercase && distance(name, meant) <= 2))
        });
        if let Some(meant) = meant {
            return Some(misspelling(name, meant));
        }
        let alone = colon && starts_comment && !lowercase;
        let long = self.prefixes.iter().filter(|prefix| alone && prefix.len() >= 4);
        long.into_iter().find(|prefix| distance(name, prefix) == 1).map(|prefix| misspelling(name, prefix))
    }
}

fn has_lowercase(name: &str) -> bool {
    name.bytes().any(|b| b.is_ascii_lowercase())
}

fn misspelling(name: &str, meant: &str) -> String {
    format!("misspelled directive '{name}'; did you mean '{meant}:'?")
}

/// Whether `rest` is `-NEXT`, `-COUNT-3` or the like.
fn is_suffix(rest: &str) -> bool {
    let Some(rest) = rest.strip_prefix('-') else {
        return false;
    };
    let count = rest.strip_prefix("COUNT-");
    SUFFIXES.iter().any(|(suffix, _)| *suffix == rest)
        || count.is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
}

/// The suffix that a word is a misspelling of.
fn close_suffix(word: &str) -> Option<&'static str> {
    let upper = word.to_ascii_uppercase();
    SUFFIXES
        .iter()
        .map(|(suffix, _)| (distance(&upper, suffix), *suffix))
        .filter(|(distance, suffix)| *distance <= if suffix.len() > 3 { 2 } else { 1 })
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, suffix)| distance * 2 < suffix.len())
        .map(|(_, suffix)| suffix)
}

/// The prefixes that a file's own RUN lines name.
#[derive(Debug, Default)]
pub(crate) struct Declared {
    pub(crate) names: Vec<String>,
    /// Whether some are not known because a substitution hides them.
    pub(crate) open: bool,
}

/// Reads `--check-prefix`, `--check-prefixes` and `--comment-prefixes` options
/// wherever they are written in the text.
pub(crate) fn declared_prefixes(text: &[u8]) -> Declared {
    let mut declared = Declared::default();
    for option in ["check-prefix", "comment-prefix"] {
        for at in memchr::memmem::find_iter(text, option) {
            let rest = &text[at + option.len()..];
            let rest = rest.strip_prefix(b"es").unwrap_or(rest);
            let Some((b'=' | b' ' | b'\t', rest)) = rest.split_first() else {
                continue;
            };
            let rest = rest.trim_ascii_start();
            let is_value = |b: &&u8| is_word(**b) || b",\"'%{}$".contains(b);
            let length = rest.iter().take_while(is_value).count();
            let value = String::from_utf8_lossy(&rest[..length]).into_owned();
            for name in value.split(',') {
                let name = name.trim_matches(['"', '\'']);
                if name.contains(['%', '$', '{']) {
                    declared.open = true;
                } else if !name.is_empty() && !declared.names.iter().any(|n| n == name) {
                    declared.names.push(name.to_owned());
                }
            }
        }
    }
    declared
}

//! A pattern ready to be searched for.

use memchr::memmem;

use crate::regex::{Match, Regex, RegexError, Scratch};

/// Borrowed from the pattern, or made for the current values of variables.
#[derive(Debug)]
pub(crate) enum Held<'a, T> {
    Borrowed(&'a T),
    Owned(Box<T>),
}

impl<T> std::ops::Deref for Held<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        match self {
            Self::Borrowed(value) => value,
            Self::Owned(value) => value,
        }
    }
}

/// Plain text to be found.
#[derive(Debug)]
pub(crate) struct Literal {
    finder: memmem::Finder<'static>,
    ignore_case: bool,
}

impl Literal {
    pub(crate) fn new(bytes: Vec<u8>, ignore_case: bool) -> Self {
        Self { finder: memmem::Finder::new(&bytes).into_owned(), ignore_case }
    }

    fn find(&self, text: &[u8]) -> Option<(usize, usize)> {
        let needle = self.finder.needle();
        let start = match self.ignore_case {
            true => find_ignoring_case(text, needle),
            false => self.finder.find(text),
        };
        start.map(|start| (start, start + needle.len()))
    }
}

fn find_ignoring_case(text: &[u8], needle: &[u8]) -> Option<usize> {
    let Some(&first) = needle.first() else {
        return Some(0);
    };
    let last_start = text.len().checked_sub(needle.len())?;
    let candidates = memchr::memchr2_iter(
        first.to_ascii_lowercase(),
        first.to_ascii_uppercase(),
        &text[..=last_start.min(text.len() - 1)],
    );
    let matches = |&at: &usize| text[at..at + needle.len()].eq_ignore_ascii_case(needle);
    candidates.into_iter().find(matches)
}

/// What a directive searches for.
#[derive(Debug)]
pub(crate) enum Matcher<'a> {
    Eof,
    EmptyLine,
    Literal(Held<'a, Literal>),
    Regex(Held<'a, Regex>),
}

impl Matcher<'_> {
    /// The first match in `text` and the places of `groups`.
    pub(crate) fn find(&self, text: &[u8], groups: &[u32], scratch: &mut Scratch) -> Result<Option<Match>, RegexError> {
        let bounds = match self {
            Self::Eof => Some((text.len(), text.len())),
            Self::EmptyLine => empty_line(text),
            Self::Literal(literal) => literal.find(text),
            Self::Regex(regex) => return regex.find(text, groups, scratch),
        };
        Ok(bounds.map(|(start, end)| Match { start, end, groups: Vec::new() }))
    }
}

/// The start of the first empty line that has a newline before it. The end of
/// the text ends a line too.
fn empty_line(text: &[u8]) -> Option<(usize, usize)> {
    memchr::memchr_iter(b'\n', text)
        .map(|newline| newline + 1)
        .find(|&start| text.get(start).is_none_or(|&b| b == b'\n'))
        .map(|start| (start, start))
}

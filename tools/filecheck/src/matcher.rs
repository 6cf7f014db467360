//! A pattern ready to be searched for.

use memchr::memmem;

use crate::dag::Sought;
use crate::regex::{Haystack, Match, Regex, RegexError, Scratch};

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
    /// In lower case where that does not matter.
    finder: memmem::Finder<'static>,
}

impl Literal {
    pub(crate) fn new(mut bytes: Vec<u8>, ignore_case: bool) -> Self {
        if ignore_case {
            bytes.make_ascii_lowercase();
        }
        Self { finder: memmem::Finder::new(&bytes).into_owned() }
    }

    fn find(&self, hay: Haystack<'_>) -> Option<(usize, usize)> {
        let start = self.finder.find(hay.folded);
        start.map(|start| (start, start + self.finder.needle().len()))
    }
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
    /// What is looked for; two that look for the same find the same.
    pub(crate) fn sought(&self) -> Option<Sought> {
        match self {
            Self::Eof | Self::EmptyLine => None,
            Self::Literal(literal) => Some(Sought::Literal(literal.finder.needle().to_vec())),
            Self::Regex(regex) => Some(Sought::Regex(regex.root().clone())),
        }
    }

    /// The first match in `text` and the places of `groups`.
    pub(crate) fn find(
        &self,
        hay: Haystack<'_>,
        groups: &[u32],
        scratch: &mut Scratch,
    ) -> Result<Option<Match>, RegexError> {
        let text = hay.text;
        let bounds = match self {
            Self::Eof => Some((text.len(), text.len())),
            Self::EmptyLine => empty_line(text),
            Self::Literal(literal) => literal.find(hay),
            Self::Regex(regex) => return regex.find(hay, groups, scratch),
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

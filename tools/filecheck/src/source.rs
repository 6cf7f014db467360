//! Texts that diagnostics point into.

use std::ops::Range;
use std::sync::OnceLock;

/// A named text with a line index that is built when first needed.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) name: String,
    pub(crate) text: Vec<u8>,
    line_starts: OnceLock<Vec<usize>>,
}

/// A line and a column, both counted from 1; the column in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

impl Source {
    pub(crate) fn new(name: impl Into<String>, text: Vec<u8>) -> Self {
        Self { name: name.into(), text, line_starts: OnceLock::new() }
    }

    fn line_starts(&self) -> &[usize] {
        self.line_starts.get_or_init(|| {
            let breaks = memchr::memchr_iter(b'\n', &self.text).map(|i| i + 1);
            std::iter::once(0).chain(breaks).collect()
        })
    }

    /// Lines, counting a last one without a newline but not an empty one.
    pub(crate) fn line_count(&self) -> usize {
        let starts = self.line_starts();
        starts.len() - usize::from(starts.last() == Some(&self.text.len()))
    }

    /// The place of the byte at `offset`.
    pub(crate) fn place(&self, offset: usize) -> Place {
        let starts = self.line_starts();
        let line = starts.partition_point(|&start| start <= offset);
        Place { line, column: offset - starts[line - 1] + 1 }
    }

    /// The bytes of a line (counted from 1) without its newline.
    pub(crate) fn line_range(&self, line: usize) -> Range<usize> {
        let starts = self.line_starts();
        let start = starts.get(line - 1).copied().unwrap_or(self.text.len());
        let end = starts.get(line).map_or(self.text.len(), |&next| next - 1);
        start..end
    }

    pub(crate) fn line(&self, line: usize) -> &[u8] {
        &self.text[self.line_range(line)]
    }
}

/// The text as checks see it: `\r\n` is `\n`, and unless `keep_blanks`, every
/// run of spaces and tabs is one space.
pub(crate) fn canonicalize(text: &[u8], keep_blanks: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let byte = text[at];
        at += 1;
        match byte {
            b'\r' if text.get(at) == Some(&b'\n') => {}
            b' ' | b'\t' if !keep_blanks => {
                out.push(b' ');
                while matches!(text.get(at), Some(b' ' | b'\t')) {
                    at += 1;
                }
            }
            _ => out.push(byte),
        }
    }
    out
}

/// A part of a text that knows where it is, for parsing with good error places.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Slice<'a> {
    text: &'a [u8],
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl<'a> Slice<'a> {
    pub(crate) fn new(text: &'a [u8], range: Range<usize>) -> Self {
        Self { text, start: range.start, end: range.end }
    }

    pub(crate) fn bytes(&self) -> &'a [u8] {
        &self.text[self.start..self.end]
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.start == self.end
    }

    pub(crate) fn first(&self) -> Option<u8> {
        self.bytes().first().copied()
    }

    pub(crate) fn starts_with(&self, prefix: &str) -> bool {
        self.bytes().starts_with(prefix.as_bytes())
    }

    /// Removes `prefix` if the slice starts with it.
    pub(crate) fn eat(&mut self, prefix: &str) -> bool {
        let found = self.starts_with(prefix);
        if found {
            self.start += prefix.len();
        }
        found
    }

    pub(crate) fn find(&self, needle: &str) -> Option<usize> {
        memchr::memmem::find(self.bytes(), needle.as_bytes())
    }

    pub(crate) fn skip_blanks(&mut self) {
        while matches!(self.first(), Some(b' ' | b'\t')) {
            self.start += 1;
        }
    }

    pub(crate) fn trim_end_blanks(&mut self) {
        while matches!(self.bytes().last(), Some(b' ' | b'\t')) {
            self.end -= 1;
        }
    }

    /// The first `length` bytes; the slice keeps the rest.
    pub(crate) fn take(&mut self, length: usize) -> Slice<'a> {
        let head = Slice { end: self.start + length, ..*self };
        self.start += length;
        head
    }

    pub(crate) fn to_text(self) -> String {
        String::from_utf8_lossy(self.bytes()).into_owned()
    }
}

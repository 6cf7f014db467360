//! Messages with a place in a text, rendered as LLVM renders them.

use std::fmt::Write;
use std::ops::Range;

use sutura_visible::{line, message, visible};

use crate::source::Source;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Severity {
    /// The check fails, or cannot be made.
    Error,
    /// Something that went well, on request.
    Remark,
    /// A further place of the message before it.
    Note,
}

impl Severity {
    fn name(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Remark => "remark",
            Self::Note => "note",
        }
    }
}

/// How many bytes of a long line are shown before and after the place.
const SHOWN_BEFORE: usize = 160;
const SHOWN_AFTER: usize = 160;

/// A place in a text, with the line it is in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// The name of the text.
    pub file: String,
    /// Counted from 1.
    pub line: usize,
    /// Counted from 1, in bytes of the canonicalized text.
    pub column: usize,
    /// The line, without its newline, cut (`...`) if it is long; bytes that are
    /// not UTF-8 are replaced.
    pub text: String,
    /// How many characters of the line come before the place.
    indent: usize,
    /// How many characters are marked from the place on; at least 1.
    width: usize,
}

impl Location {
    pub(crate) fn new(source: &Source, range: Range<usize>) -> Self {
        let place = source.place(range.start);
        let line = source.line_range(place.line);
        let at = range.start.min(line.end);
        let from = match at - line.start {
            before if before > SHOWN_BEFORE => at - SHOWN_BEFORE,
            _ => line.start,
        };
        let to = line.end.min(at + SHOWN_AFTER);
        let show = |range: Range<usize>| visible(&String::from_utf8_lossy(&source.text[range])).into_owned();
        let mark = if from > line.start { "..." } else { "" };
        let before = mark.to_owned() + &show(from..at);
        let marked = show(at..range.end.clamp(at, to));
        let rest = show(at..to);
        let cut = if to < line.end { "..." } else { "" };
        Self {
            file: source.name.clone(),
            line: place.line,
            column: place.column,
            indent: before.chars().count(),
            width: marked.chars().count().max(1),
            text: format!("{before}{rest}{cut}"),
        }
    }
}

/// A message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// What is to be said.
    pub message: String,
    /// Where; `None` for what concerns a text as a whole.
    pub location: Option<Location>,
    /// What belongs to it.
    pub notes: Vec<Diagnostic>,
}

impl Diagnostic {
    /// An error that concerns no particular place.
    pub fn error(message: impl Into<String>) -> Self {
        Self { severity: Severity::Error, message: message.into(), location: None, notes: Vec::new() }
    }

    pub(crate) fn at(severity: Severity, source: &Source, range: Range<usize>, message: impl Into<String>) -> Self {
        Self { severity, message: message.into(), location: Some(Location::new(source, range)), notes: Vec::new() }
    }

    pub(crate) fn error_at(source: &Source, at: usize, message: impl Into<String>) -> Self {
        Self::at(Severity::Error, source, at..at, message)
    }

    pub(crate) fn note(mut self, source: &Source, range: Range<usize>, message: impl Into<String>) -> Self {
        self.notes.push(Self::at(Severity::Note, source, range, message));
        self
    }

    fn render_into(&self, out: &mut String) {
        let (severity, message) = (self.severity.name(), message(&self.message));
        let Some(place) = &self.location else {
            let _ = writeln!(out, "{severity}: {message}");
            return;
        };
        let _ = writeln!(out, "{}:{}:{}: {severity}: {message}", line(&place.file), place.line, place.column);
        let _ = writeln!(out, "{}", place.text);
        // A tab stays a tab, so that the mark is below its character.
        let indent = place.text.chars().take(place.indent);
        out.extend(indent.map(|c| if c == '\t' { '\t' } else { ' ' }));
        out.push('^');
        out.extend(std::iter::repeat_n('~', place.width - 1));
        out.push('\n');
    }
}

impl std::fmt::Display for Diagnostic {
    /// The message, its line with a caret, then its notes; ends with a newline.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut out = String::new();
        self.render_into(&mut out);
        for note in &self.notes {
            note.render_into(&mut out);
        }
        f.write_str(&out)
    }
}

//! What a run found, and the annotated dump of its input.

use std::collections::HashMap;
use std::fmt::Write;
use std::ops::Range;

use sutura_visible::visible;

use crate::checks::Checks;
use crate::diag::{Diagnostic, Severity};
use crate::source::Source;
use crate::vars::Values;

/// What a directive did in the input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EventKind {
    Found,
    Excluded,
    WrongLine,
    Discarded,
    Missing,
    Absent,
    Invalid,
    Fuzzy,
}

impl EventKind {
    fn marker(self) -> char {
        match self {
            Self::Found => '^',
            Self::Excluded | Self::WrongLine | Self::Discarded => '!',
            Self::Missing | Self::Absent | Self::Invalid => 'X',
            Self::Fuzzy => '?',
        }
    }

    fn note(self) -> &'static str {
        match self {
            Self::Found | Self::Absent => "",
            Self::Excluded => "error: no match expected",
            Self::WrongLine => "error: match on wrong line",
            Self::Discarded => "discard: overlaps earlier match",
            Self::Missing => "error: no match found",
            Self::Invalid => "error: match failed for invalid pattern",
            Self::Fuzzy => "possible intended match",
        }
    }

    fn is_error(self) -> bool {
        self.note().starts_with("error")
    }
}

/// One annotation of the input.
#[derive(Debug)]
pub(crate) struct Event {
    /// Index into [`Checks::checks`].
    pub(crate) check: usize,
    pub(crate) kind: EventKind,
    pub(crate) range: Range<usize>,
    /// Replaces the note of the kind.
    pub(crate) note: String,
    /// Whether it only adds to the event before it.
    pub(crate) detail: bool,
}

/// A directive's match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Matched {
    /// The line of the directive in the check file; `None` for the implicit
    /// check at the end of the input.
    pub check_line: Option<usize>,
    /// The bytes of the canonicalized input.
    pub range: Range<usize>,
}

/// What matched when all checks passed.
#[derive(Debug, Clone)]
pub struct Matches {
    matched: Vec<Matched>,
    values: Values,
}

impl Matches {
    /// The matches in the order in which they were made.
    pub fn matched(&self) -> &[Matched] {
        &self.matched
    }

    /// The last value of a string variable.
    pub fn variable(&self, name: &str) -> Option<&[u8]> {
        self.values.string(name)
    }

    /// The string variables that have a value, sorted.
    pub fn variables(&self) -> Vec<&str> {
        let mut names: Vec<&str> = self.values.string_names().collect();
        names.sort_unstable();
        names
    }
}

/// The outcome of a run.
#[derive(Debug)]
pub struct Report<'a> {
    checks: &'a Checks,
    pub(crate) input: Source,
    pub(crate) diagnostics: Vec<Diagnostic>,
    pub(crate) events: Vec<Event>,
    pub(crate) values: Values,
    pub(crate) empty_input: bool,
    /// How often `-DAG` checks looked for a match: what they cost.
    pub(crate) searches: u64,
    matched: Vec<Matched>,
}

/// Which lines of the input the dump shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DumpFilter {
    /// Lines where the annotation of an error starts.
    Error,
    /// Lines where an annotation starts.
    Annotation,
    /// Lines with annotations.
    AnnotationFull,
    /// All lines.
    All,
}

/// How the input is dumped.
#[derive(Debug, Clone, Copy)]
pub struct DumpOptions {
    /// Which lines are shown.
    pub filter: DumpFilter,
    /// How many lines around them are shown too.
    pub context: usize,
}

impl Default for DumpOptions {
    fn default() -> Self {
        Self { filter: DumpFilter::Error, context: 5 }
    }
}

/// How many bytes of a line the dump shows.
const SHOWN_COLUMNS: usize = 400;

/// The piece of an annotation that is on one line.
struct Mark {
    event: usize,
    line: usize,
    /// Columns from 1, the end exclusive.
    columns: Range<usize>,
    first: bool,
}

impl<'a> Report<'a> {
    pub(crate) fn new(checks: &'a Checks, input: Source) -> Self {
        Self {
            checks,
            input,
            diagnostics: Vec::new(),
            events: Vec::new(),
            values: Values::default(),
            empty_input: false,
            searches: 0,
            matched: Vec::new(),
        }
    }

    pub(crate) fn fail(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    pub(crate) fn matched(&mut self, check: usize, range: Range<usize>) {
        let check = &self.checks.checks[check];
        let line = (check.source == 0 && check.kind != crate::directive::Kind::Eof)
            .then(|| self.checks.sources[0].place(check.at).line);
        self.matched.push(Matched { check_line: line, range });
    }

    /// Whether every check passed.
    pub fn passed(&self) -> bool {
        let is_error = |d: &Diagnostic| d.severity == Severity::Error;
        !self.diagnostics.iter().any(is_error)
    }

    /// Whether it failed only because the input is empty.
    pub fn input_is_empty(&self) -> bool {
        self.empty_input
    }

    /// Errors, and remarks if the verbosity asks for them, in order.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// The matches, or the errors.
    pub fn into_result(self) -> Result<Matches, Vec<Diagnostic>> {
        if self.passed() {
            return Ok(Matches { matched: self.matched, values: self.values });
        }
        let is_error = |d: &Diagnostic| d.severity == Severity::Error;
        Err(self.diagnostics.into_iter().filter(is_error).collect())
    }

    /// The input with what every directive did in it.
    pub fn dump(&self, options: &DumpOptions) -> String {
        let labels = self.labels();
        let marks = self.marks();
        let lines = self.input.line_count();
        let shown = self.shown_lines(&marks, lines, options);
        let digits = lines.max(1).to_string().len();
        let label_width = labels.iter().map(String::len).max().unwrap_or(0);
        let width = (label_width + 3).max(digits + 3);
        let mut out = String::from("<<<<<<\n");
        let mut next = 0;
        let mut hidden = 0;
        for line in 1..=lines {
            let from = next;
            while marks.get(next).is_some_and(|mark| mark.line <= line) {
                next += 1;
            }
            if !shown[line - 1] {
                hidden += 1;
                continue;
            }
            ellipsis(&mut out, hidden, width);
            hidden = 0;
            let text = self.input.line(line);
            let shown = &text[..text.len().min(SHOWN_COLUMNS)];
            let shown = String::from_utf8_lossy(shown);
            let shown = visible(&shown);
            let _ = match text.len().checked_sub(SHOWN_COLUMNS + 1) {
                None => writeln!(out, "{line:>width$}: {shown} "),
                Some(more) => writeln!(out, "{line:>width$}: {shown}... ({} more)", more + 1),
            };
            self.mark_line(&mut out, &labels, &marks[from..next], width);
        }
        ellipsis(&mut out, hidden, width);
        self.mark_line(&mut out, &labels, &marks[next..], width);
        out.push_str(">>>>>>\n");
        out
    }

    /// `check:3`, or `check:3'0` if the directive has several annotations.
    fn labels(&self) -> Vec<String> {
        let mut totals: HashMap<usize, usize> = HashMap::new();
        for event in &self.events {
            *totals.entry(event.check).or_default() += 1;
        }
        let mut numbers: HashMap<usize, usize> = HashMap::new();
        let label = |event: &Event| {
            let check = &self.checks.checks[event.check];
            let kind = check.kind.abbreviation(check.count);
            let line = match check.source {
                0 => self.checks.sources[0].place(check.at).line.to_string(),
                implicit => format!("imp{implicit}"),
            };
            let number = numbers.entry(event.check).or_default();
            *number += 1;
            match totals[&event.check] {
                1 => format!("{kind}:{line}"),
                _ => format!("{kind}:{line}'{}", *number - 1),
            }
        };
        self.events.iter().map(label).collect()
    }

    /// The pieces of all annotations, sorted by line and then by event.
    fn marks(&self) -> Vec<Mark> {
        let mut marks = Vec::new();
        for (event, Event { range, .. }) in self.events.iter().enumerate() {
            let start = self.input.place(range.start);
            let end = self.input.place(range.end.max(range.start));
            for line in start.line..=end.line {
                let first = line == start.line;
                let from = if first { start.column } else { 1 };
                // The newline at the end of a line is shown as a blank.
                let to = match line == end.line {
                    true => end.column,
                    false => self.input.line_range(line).len() + 2,
                };
                if !first && from >= to {
                    continue;
                }
                // What is cut from a line is marked at its end.
                let from = self.shown_column(line, from.min(SHOWN_COLUMNS + 1));
                let to = self.shown_column(line, to.min(SHOWN_COLUMNS + 2));
                marks.push(Mark { event, line, columns: from..to.max(from + 1), first });
            }
        }
        marks.sort_by_key(|mark| (mark.line, mark.event));
        marks
    }

    /// Where a column of a line is when what hides before it is written out.
    fn shown_column(&self, line: usize, column: usize) -> usize {
        let text = self.input.line(line);
        let before = String::from_utf8_lossy(&text[..text.len().min(column - 1)]);
        column + visible(&before).len() - before.len()
    }

    fn shown_lines(&self, marks: &[Mark], lines: usize, options: &DumpOptions) -> Vec<bool> {
        if options.filter == DumpFilter::All {
            return vec![true; lines];
        }
        let mut shown = vec![false; lines];
        let mut upto = 0;
        for mark in marks {
            let wanted = match options.filter {
                DumpFilter::Error => mark.first && self.events[mark.event].kind.is_error(),
                DumpFilter::Annotation => mark.first,
                DumpFilter::AnnotationFull | DumpFilter::All => true,
            };
            if wanted {
                let from = mark.line.saturating_sub(options.context + 1).max(upto);
                let to = (mark.line + options.context).min(lines);
                shown[from.min(to)..to].fill(true);
                upto = to;
            }
        }
        // Three dots take as much room as three lines.
        let mut line = 0;
        while line < lines {
            let gap = shown[line..].iter().take_while(|&&s| !s).count();
            if gap <= 3 {
                shown[line..line + gap].fill(true);
            }
            line += gap + 1;
        }
        shown
    }

    fn mark_line(&self, out: &mut String, labels: &[String], marks: &[Mark], width: usize) {
        let widest = marks.iter().map(|mark| mark.columns.end).max().unwrap_or(1);
        for mark in marks {
            let event = &self.events[mark.event];
            let mut text = " ".repeat(mark.columns.start - 1);
            let head = match (mark.first, event.detail && event.range.is_empty()) {
                (true, true) => ' ',
                (true, false) => event.kind.marker(),
                (false, _) => '~',
            };
            text.push(head);
            text.extend(std::iter::repeat_n('~', mark.columns.len() - 1));
            let note = match event.detail || !event.note.is_empty() {
                true => event.note.as_str(),
                false => event.kind.note(),
            };
            if mark.first && !note.is_empty() {
                let _ = write!(text, "{:1$} {note}", "", widest - mark.columns.end);
            }
            let line = format!("{:<width$}  {text}", labels[mark.event]);
            let _ = writeln!(out, "{}", line.trim_end());
        }
    }
}

fn ellipsis(out: &mut String, hidden: usize, width: usize) {
    if hidden > 0 {
        for _ in 0..3 {
            let _ = writeln!(out, "{:>width$}", ".");
        }
    }
}

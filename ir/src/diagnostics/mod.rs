//! Diagnostics as values: collected by whoever runs a parser, verifier or pass, rendered only at a tool's edge.

pub mod codes;
pub mod exit;
mod render;

use crate::context::Context;
use crate::location::Loc;
pub use exit::Exit;
pub use render::{RenderStyle, render};

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Severity {
    /// The input is refused.
    Error,
    /// Something is likely wrong, work goes on.
    Warning,
    /// What a pass did or did not do.
    Remark,
    /// Belongs to the diagnostic before it.
    Note,
}

/// What a remark is about, in MLIR's terms.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum RemarkKind {
    /// Something was done.
    Passed,
    /// Something was not done.
    Missed,
    /// Something was tried and did not work.
    Failed,
    /// Something was found out.
    Analysis,
}

impl RemarkKind {
    /// All, in order.
    pub const ALL: [Self; 4] = [Self::Passed, Self::Missed, Self::Failed, Self::Analysis];

    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Missed => "missed",
            Self::Failed => "failed",
            Self::Analysis => "analysis",
        }
    }
}

/// One message with its place, notes and hint.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// Stable code, such as `E0007`, where one is assigned.
    pub code: Option<&'static str>,
    /// Where.
    pub loc: Loc,
    /// Where what is around lies: said where `loc` names neither a file nor anything else.
    pub around: Loc,
    /// What, as one sentence without a full stop.
    pub message: String,
    /// Further places and facts.
    pub notes: Vec<(Loc, String)>,
    /// What to do about it.
    pub help: Option<String>,
    /// What a remark is about.
    pub kind: Option<RemarkKind>,
    /// Argument of the pass that reported it.
    pub pass: Option<&'static str>,
}

impl Diagnostic {
    /// A diagnostic without code, notes or help.
    pub fn new(severity: Severity, loc: Loc, message: impl Into<String>) -> Self {
        Self {
            severity,
            code: None,
            loc,
            around: Loc::UNKNOWN,
            message: message.into(),
            notes: Vec::new(),
            help: None,
            kind: None,
            pass: None,
        }
    }

    /// An error.
    pub fn error(loc: Loc, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, loc, message)
    }

    /// A warning.
    pub fn warning(loc: Loc, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, loc, message)
    }

    /// A remark.
    pub fn remark(loc: Loc, message: impl Into<String>) -> Self {
        Self::new(Severity::Remark, loc, message)
    }

    /// Adds the stable code.
    #[must_use]
    pub fn code(mut self, code: &'static str) -> Self {
        self.code = Some(code);
        self
    }

    /// Says where what is around lies.
    #[must_use]
    pub(crate) fn around(mut self, loc: Loc) -> Self {
        self.around = loc;
        self
    }

    /// The place that is shown.
    pub fn place(&self, cx: &Context) -> Loc {
        if cx.has_place(self.loc) { self.loc } else { self.around }
    }

    /// Adds the stable code unless there is a closer one.
    #[must_use]
    pub fn or_code(mut self, code: &'static str) -> Self {
        self.code = self.code.or(Some(code));
        self
    }

    /// Says what a remark is about.
    #[must_use]
    pub fn kind(mut self, kind: RemarkKind) -> Self {
        self.kind = Some(kind);
        self
    }

    /// Adds a note.
    #[must_use]
    pub fn note(mut self, loc: Loc, message: impl Into<String>) -> Self {
        self.notes.push((loc, message.into()));
        self
    }

    /// Adds a hint.
    #[must_use]
    pub fn help(mut self, message: impl Into<String>) -> Self {
        self.help = Some(message.into());
        self
    }
}

/// Says that a diagnostic has been reported; the error type of everything that takes a [`Diagnostics`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reported;

impl std::fmt::Display for Reported {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an error was reported")
    }
}
impl std::error::Error for Reported {}

/// Collects diagnostics in the order in which they are reported.
#[derive(Clone, Default, Debug)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
    errors: usize,
}

impl Diagnostics {
    /// Adds a diagnostic.
    pub fn report(&mut self, diagnostic: Diagnostic) -> Reported {
        self.errors += usize::from(diagnostic.severity == Severity::Error);
        self.list.push(diagnostic);
        Reported
    }

    /// Adds an error.
    pub fn error(&mut self, loc: Loc, message: impl Into<String>) -> Reported {
        self.report(Diagnostic::error(loc, message))
    }

    /// Adds a warning.
    pub fn warning(&mut self, loc: Loc, message: impl Into<String>) {
        self.report(Diagnostic::warning(loc, message));
    }

    /// Adds a remark.
    pub fn remark(&mut self, loc: Loc, message: impl Into<String>) {
        self.report(Diagnostic::remark(loc, message));
    }

    /// Adds all of `other`, in its order.
    pub fn append(&mut self, other: Self) {
        self.errors += other.errors;
        self.list.extend(other.list);
    }

    /// Number of diagnostics reported so far.
    pub fn len(&self) -> usize {
        self.list.len()
    }

    /// Gives `code` to the errors reported since there were `from` diagnostics that have none.
    pub fn default_code(&mut self, from: usize, code: &'static str) {
        for diagnostic in self.list.iter_mut().skip(from) {
            if diagnostic.severity == Severity::Error && diagnostic.code.is_none() {
                diagnostic.code = Some(code);
            }
        }
    }

    /// Gives `help` to the errors reported since there were `from` diagnostics that have none.
    pub(crate) fn help_since(&mut self, from: usize, help: &str) {
        for diagnostic in self.list.iter_mut().skip(from) {
            if diagnostic.severity == Severity::Error && diagnostic.help.is_none() {
                diagnostic.help = Some(help.to_string());
            }
        }
    }

    /// Says where what is around lies of the diagnostics that have no place.
    pub(crate) fn default_around(&mut self, cx: &Context, loc: impl Fn() -> Loc) {
        let lost = |d: &&mut Diagnostic| !cx.has_place(d.place(cx));
        self.list.iter_mut().filter(lost).for_each(|d| d.around = loc());
    }

    /// Says of all diagnostics which pass reported them.
    pub(crate) fn reported_by(&mut self, pass: &'static str) {
        self.list.iter_mut().for_each(|d| d.pass = Some(pass));
    }

    /// Number of errors reported so far.
    pub fn errors(&self) -> usize {
        self.errors
    }

    /// `Err` when an error has been reported.
    ///
    /// # Errors
    /// When [`Diagnostics::errors`] is not zero.
    pub fn check(&self) -> Result<(), Reported> {
        if self.errors == 0 { Ok(()) } else { Err(Reported) }
    }

    /// All diagnostics, in order.
    pub fn iter(&self) -> std::slice::Iter<'_, Diagnostic> {
        self.list.iter()
    }

    /// True when nothing was reported.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Takes all diagnostics out.
    pub fn take(&mut self) -> Vec<Diagnostic> {
        self.errors = 0;
        std::mem::take(&mut self.list)
    }
}

/// The candidate closest to `name`, if it is close enough to be what was meant.
pub fn did_you_mean<'a>(name: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let length = name.chars().count();
    // Of one letter any other is a misspelling.
    let limit = if length < 2 { 0 } else { (length / 3).clamp(1, 4) };
    candidates
        .into_iter()
        // The distance is at least the difference of the lengths, and to compare long names is slow.
        .filter(|c| c.chars().count().abs_diff(length) <= limit)
        .map(|c| (strsim::damerau_levenshtein(name, c), c))
        .filter(|(distance, _)| *distance <= limit)
        .min()
        .map(|(_, c)| c)
}

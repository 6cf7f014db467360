//! Remarks gathered where no pass run is at hand.

use crate::diagnostics::{Diagnostic, RemarkKind};
use crate::location::Loc;

/// Remarks that are gathered where the [`super::PassRun`] cannot be reached: on one of several bodies, in parallel. Their text is
/// made only if somebody listens.
#[derive(Clone, Debug)]
pub struct Remarks {
    /// `None` when nobody listens.
    pub(super) list: Option<Vec<Diagnostic>>,
}

impl Remarks {
    /// True when somebody listens.
    pub fn are_wanted(&self) -> bool {
        self.list.is_some()
    }

    /// Says what was done.
    pub fn passed(&mut self, loc: Loc, message: impl FnOnce() -> String) {
        self.say(RemarkKind::Passed, loc, message);
    }

    /// Says what was not done, and why.
    pub fn missed(&mut self, loc: Loc, message: impl FnOnce() -> String) {
        self.say(RemarkKind::Missed, loc, message);
    }

    /// Says what was found out.
    pub fn remark(&mut self, loc: Loc, message: impl FnOnce() -> String) {
        self.say(RemarkKind::Analysis, loc, message);
    }

    /// Adds a note to the last remark.
    pub fn note(&mut self, loc: Loc, message: impl FnOnce() -> String) {
        if let Some(last) = self.list.iter_mut().flatten().next_back() {
            last.notes.push((loc, message()));
        }
    }

    fn say(&mut self, kind: RemarkKind, loc: Loc, message: impl FnOnce() -> String) {
        if let Some(list) = &mut self.list {
            list.push(Diagnostic::remark(loc, message()).kind(kind));
        }
    }
}

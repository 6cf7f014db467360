//! Patterns are held to their word: one applies exactly when it changes something.

use crate::diagnostics::{Diagnostic, codes};
use crate::location::Loc;

/// An internal error that names the pattern, when what it returned and what it did differ. Changes are counted, not
/// searched for: a listener hears of each.
pub(super) fn broken_word(pattern: &str, loc: Loc, applied: bool, changed: bool) -> Option<Box<Diagnostic>> {
    let (what, help) = match (applied, changed) {
        (true, true) | (false, false) => return None,
        (false, true) => (
            "changed the program and then did not apply",
            "a pattern changes nothing unless it returns `Some(())`: make all checks before the first change",
        ),
        (true, false) => (
            "says that it applied and changed nothing",
            "a pattern that finds nothing to change returns `None`: a driver would try it without end",
        ),
    };
    let message = format!("pattern '{pattern}' {what}: an internal error, please report it");
    Some(Box::new(Diagnostic::error(loc, message).code(codes::INTERNAL).help(help)))
}

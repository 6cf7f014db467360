//! The regular expressions of check patterns: POSIX extended syntax over bytes,
//! leftmost-longest, with back-references, in time linear in the input.
//!
//! Rust's usual regex engine is leftmost-first and has no back-references, so
//! `[[V:a|ab]]` would capture something else than FileCheck does. The matcher
//! here has two engines:
//!
//! * [`search`] simulates an NFA (Thompson's construction, all states in step)
//!   and finds the leftmost match, then the longest one at that place; captures
//!   of the top-level groups follow by splitting the match item by item, each
//!   item as long as the rest allows;
//! * [`backtrack`] runs only for patterns with back-references, on the places
//!   the first engine proposes, and gives up with an error after a fixed number
//!   of steps.
//!
//! Newlines are special as in `grep`: `.` and `[^x]` never match one, `^` and
//! `$` match around each of them.

mod ast;
mod backtrack;
mod parse;
mod program;
mod search;
#[cfg(test)]
mod tests;

pub(crate) use ast::Node;
pub(crate) use parse::{Options, Strictness, parse};
pub(crate) use search::{Haystack, Match, Regex, Scratch};

/// Why a syntactically valid expression could not be run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RegexError {
    /// The compiled form has more than [`program::MAX_INSTRUCTIONS`].
    TooLarge,
    /// Back-reference matching took more than [`backtrack::MAX_STEPS`].
    TooComplex,
    /// A back-reference to a group that is not complete where it is used.
    BadBackreference(u32),
}

impl std::fmt::Display for RegexError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::TooLarge => write!(
                f,
                "regular expression needs more than {} states; lower its repetition counts",
                program::MAX_INSTRUCTIONS
            ),
            Self::TooComplex => write!(
                f,
                "matching the back-references of this pattern took more than {} steps; \
                 capture in one directive and use the variable in the next",
                backtrack::MAX_STEPS
            ),
            Self::BadBackreference(group) => {
                write!(f, "back-reference '\\{group}' names a group that is not complete before it")
            }
        }
    }
}

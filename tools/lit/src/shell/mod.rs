//! The shell of RUN lines: enough of `sh` for tests, without `/bin/sh`.
//!
//! Words with quotes and backslashes, pipes, `&&`, `||`, `;`, `!`,
//! redirections and file name patterns. What a real shell would expand and this
//! one does not (`$X`, `` `x` ``, comments, background jobs) is an error, never
//! passed on as text.

mod exec;
mod lex;
mod parse;
mod process;

pub(crate) use exec::{Shell, Step};
pub(crate) use parse::{Line, parse};
pub(crate) use process::{TimedOut, end_processes, find_program, is_executable};

/// A line that this shell does not understand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ShellError {
    /// Offset in bytes in the line.
    pub(crate) at: usize,
    pub(crate) message: String,
}

impl ShellError {
    fn new(at: usize, message: impl Into<String>) -> Self {
        Self { at, message: message.into() }
    }
}

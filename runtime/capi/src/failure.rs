//! Errors on their way to C: a status to return, and a message that stays behind on the thread.

use std::cell::RefCell;
use std::ffi::{CString, c_char};
use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind};

use sutura_runtime::{Error, ErrorKind};

pub(crate) type Result<T> = std::result::Result<T, Failure>;

/// An error of the runtime, or of the way that C called it.
pub(crate) struct Failure {
    kind: ErrorKind,
    message: String,
}

impl Failure {
    pub(crate) fn usage(message: String) -> Self {
        Self { kind: ErrorKind::Usage, message }
    }

    pub(crate) fn input(message: String) -> Self {
        Self { kind: ErrorKind::Input, message }
    }

    pub(crate) fn null(what: impl Display) -> Self {
        Self::usage(format!("null pointer: {what}"))
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self { kind: error.kind(), message: error.to_string() }
    }
}

thread_local! {
    static LAST: RefCell<CString> = RefCell::default();
}

/// Runs `body`; keeps the message of its error, or of its panic, which must not reach C. Gives back the status.
pub(crate) fn guard<T>(body: impl FnOnce() -> Result<T>) -> std::result::Result<T, i32> {
    let failure = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(value)) => return Ok(value),
        Ok(Err(failure)) => failure,
        Err(_) => Failure { kind: ErrorKind::Internal, message: "internal error: the runtime panicked".into() },
    };
    let message = CString::new(failure.message.replace('\0', "\\0")).unwrap_or_default();
    LAST.with(|last| *last.borrow_mut() = message);
    Err(i32::from(failure.kind.exit_code()))
}

/// As [`guard`], for functions that return only the status.
pub(crate) fn status(body: impl FnOnce() -> Result<()>) -> i32 {
    guard(body).err().unwrap_or(0)
}

/// The message that was kept last.
pub(crate) fn last() -> *const c_char {
    LAST.with(|last| last.borrow().as_ptr())
}

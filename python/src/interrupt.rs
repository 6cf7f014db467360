//! Runs without Python's lock, which Ctrl-C ends between two launches.

use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use sutura_runtime::{Error, Result};

use crate::raise;

/// How often a run asks whether there was a signal.
const EVERY: Duration = Duration::from_millis(50);

thread_local! {
    static ASKED: Cell<Option<Instant>> = const { Cell::new(None) };
    /// What a handler of a signal raised.
    static RAISED: RefCell<Option<PyErr>> = const { RefCell::new(None) };
}

/// Whether a handler of a signal raised something; for [`sutura_runtime::Options::interrupt`].
pub(crate) fn wanted() -> bool {
    let now = Instant::now();
    let Some(asked) = ASKED.get() else {
        ASKED.set(Some(now));
        return false;
    };
    if now.duration_since(asked) < EVERY {
        return false;
    }
    ASKED.set(Some(now));
    // Python handles signals on its main thread only.
    if !is_main_thread() {
        return false;
    }
    match Python::attach(|py| py.check_signals()) {
        Ok(()) => false,
        Err(error) => {
            RAISED.set(Some(error));
            true
        }
    }
}

/// Whether this is the thread that the process began with. In a process that was forked it is the one that forked.
fn is_main_thread() -> bool {
    // SAFETY: both only return numbers.
    unsafe { libc::gettid() == libc::getpid() }
}

/// Lets pass what is not `Send`: `detach` goes on on the same thread.
struct SameThread<T>(T);

// SAFETY: `Python::detach` calls its closure on the thread that called it; `Send` stands there for "does not use Python", and the
// callers of `without_lock` pass nothing of Python.
unsafe impl<T> Send for SameThread<T> {}

impl<R, F: FnOnce() -> R> SameThread<F> {
    fn call(self) -> SameThread<R> {
        SameThread((self.0)())
    }
}

/// Does something without Python's lock. It must use nothing of Python, and memory of Python's objects only where a reference to
/// them is held meanwhile.
pub(crate) fn without_lock<T>(py: Python<'_>, work: impl FnOnce() -> Result<T>) -> PyResult<T> {
    let work = SameThread(work);
    let SameThread(result) = py.detach(move || work.call());
    result.map_err(|error| match error {
        Error::Interrupted => RAISED.take().unwrap_or_else(|| raise::error(py, &Error::Interrupted)),
        error => raise::error(py, &error),
    })
}

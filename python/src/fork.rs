//! Devices do not survive a fork: what was made of one before is neither used nor given back in the child.

use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::sync::Once;
use std::sync::atomic::{AtomicU32, Ordering};

use pyo3::PyResult;

use crate::raise;

/// How many forks lie between the process that loaded this module and this one.
static FORKS: AtomicU32 = AtomicU32::new(0);

extern "C" fn count() {
    FORKS.fetch_add(1, Ordering::Relaxed);
}

/// Counts forks from now on.
pub(crate) fn watch() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: the handler only adds to an atomic, which is allowed in a process that was forked.
        let _ = unsafe { libc::pthread_atfork(None, None, Some(count)) };
    });
}

/// Something that belongs to the process that made it.
pub(crate) struct OfProcess<T> {
    value: ManuallyDrop<T>,
    forks: u32,
}

impl<T> OfProcess<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { value: ManuallyDrop::new(value), forks: FORKS.load(Ordering::Relaxed) }
    }

    fn is_here(&self) -> bool {
        self.forks == FORKS.load(Ordering::Relaxed)
    }

    /// An error where the process was forked since. `what` begins the sentence.
    pub(crate) fn check(&self, what: &str) -> PyResult<&T> {
        if self.is_here() {
            return Ok(&self.value);
        }
        Err(raise::usage(format!(
            "{what} was made before this process was forked, and devices do not survive a fork; make it anew in each \
             process, or start processes with multiprocessing's `spawn`"
        )))
    }
}

impl<T> Deref for OfProcess<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> Drop for OfProcess<T> {
    fn drop(&mut self) {
        // What a driver holds is the parent's.
        if self.is_here() {
            // SAFETY: it is dropped here only, once.
            unsafe { ManuallyDrop::drop(&mut self.value) };
        }
    }
}

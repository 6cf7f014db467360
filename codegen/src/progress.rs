//! How far code generation is: functions that are emitted, of how many. For who waits, not for results.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Of the module that is emitted at the time, in this process.
static DONE: AtomicUsize = AtomicUsize::new(0);
static TOTAL: AtomicUsize = AtomicUsize::new(0);

/// How the remark ends that LLVM makes of each function when it has been emitted.
const EMITTED: &str = " instructions in function";

/// Functions that are emitted of the module at work, and all that it has; `None` if there is none.
pub fn emitted() -> Option<(usize, usize)> {
    let total = TOTAL.load(Ordering::Relaxed);
    (total > 0).then(|| (DONE.load(Ordering::Relaxed).min(total), total))
}

/// Functions that were emitted since the last module began.
pub fn done() -> usize {
    DONE.load(Ordering::Relaxed)
}

/// A module of so many functions is emitted while this lives.
pub(crate) struct Emitting;

impl Emitting {
    pub(crate) fn new(functions: usize) -> Self {
        DONE.store(0, Ordering::Relaxed);
        TOTAL.store(functions, Ordering::Relaxed);
        Self
    }
}

impl Drop for Emitting {
    fn drop(&mut self) {
        TOTAL.store(0, Ordering::Relaxed);
    }
}

/// Counts a remark of LLVM, if it is one about a function that has been emitted.
pub(crate) fn see(remark: &str) {
    if remark.ends_with(EMITTED) {
        DONE.fetch_add(1, Ordering::Relaxed);
    }
}

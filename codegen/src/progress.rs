//! How far code generation is: functions that are emitted, of how many. For who waits, not for results.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Of the modules that are emitted at the time, in this process.
static DONE: AtomicUsize = AtomicUsize::new(0);
static TOTAL: AtomicUsize = AtomicUsize::new(0);
/// How many [`Emitting`] live.
static LIVE: AtomicUsize = AtomicUsize::new(0);

/// How the remark ends that LLVM makes of each function when it has been emitted.
const EMITTED: &str = " instructions in function";

/// Functions that are emitted of the modules at work, and all that they have; `None` if there is none.
pub fn emitted() -> Option<(usize, usize)> {
    let total = TOTAL.load(Ordering::Relaxed);
    (total > 0).then(|| (DONE.load(Ordering::Relaxed).min(total), total))
}

/// Functions that were emitted since work last began.
pub fn done() -> usize {
    DONE.load(Ordering::Relaxed)
}

/// So many functions are emitted while this lives, beside those of others that live.
#[derive(Debug)]
pub struct Emitting(());

impl Emitting {
    /// The same for a module by itself: of modules that were counted together each is counted already.
    pub(crate) fn alone(functions: usize) -> Option<Self> {
        (LIVE.load(Ordering::Relaxed) == 0).then(|| Self::new(functions))
    }

    /// Counts from here where nothing else is at work.
    #[must_use]
    pub fn new(functions: usize) -> Self {
        if LIVE.fetch_add(1, Ordering::Relaxed) == 0 {
            DONE.store(0, Ordering::Relaxed);
        }
        TOTAL.fetch_add(functions, Ordering::Relaxed);
        Self(())
    }
}

impl Drop for Emitting {
    fn drop(&mut self) {
        if LIVE.fetch_sub(1, Ordering::Relaxed) == 1 {
            TOTAL.store(0, Ordering::Relaxed);
        }
    }
}

/// Counts a remark of LLVM, if it is one about a function that has been emitted.
pub(crate) fn see(remark: &str) {
    if remark.ends_with(EMITTED) {
        DONE.fetch_add(1, Ordering::Relaxed);
    }
}

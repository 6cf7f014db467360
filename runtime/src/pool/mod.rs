//! The process's thread pool.
//!
//! A launch splits its groups into contiguous chunks before anything runs. Which thread runs a chunk is left to
//! chance; results do not depend on it. The calling thread takes part and can do every chunk itself, so a launch
//! never waits for a free worker, concurrent launches cannot starve each other, and a launch from inside a kernel
//! cannot lock up.
//!
//! Kernels are short and come in quick succession, so an idle worker looks for the next launch for a moment before it
//! sleeps.

#![allow(unsafe_code)]

#[cfg(test)]
mod model;
mod queue;

use std::sync::{Mutex, OnceLock, PoisonError};
use std::thread;

use crate::error::{Error, Result};
pub(crate) use queue::Launch;
use queue::Pool;

/// What threads are made of.
mod sync {
    pub(super) use std::hint::spin_loop;
    pub(super) use std::sync::atomic::{AtomicUsize, Ordering};
    pub(super) use std::sync::{Arc, Condvar, Mutex, MutexGuard};
    pub(super) use std::thread::{Thread, current, park};

    pub(super) use crate::abi::KernelFn as Kernel;

    /// Of lowering the number of unfinished chunks, and of looking at it.
    pub(super) const FINISH: Ordering = Ordering::AcqRel;
    pub(super) const DONE: Ordering = Ordering::Acquire;

    pub(super) fn notify_one(wake: &Condvar) {
        wake.notify_one();
    }

    pub(super) fn unpark(caller: &Thread) {
        caller.unpark();
    }
}

/// The most threads that anyone may ask for.
pub(crate) const MAX_THREADS: usize = 1024;

/// Rounds of looking for work before sleeping, some ten microseconds.
const SPIN_ROUNDS: usize = 2_000;

/// The number of chunks for a launch: at most `threads`, each of at least `grain` groups, at least one.
pub(crate) fn chunk_count(n_groups: i64, grain: i64, threads: usize) -> usize {
    let full = n_groups / grain.max(1);
    usize::try_from(full).unwrap_or(1).clamp(1, threads.max(1))
}

/// The process's pool. It has no threads until [`reserve`] starts some.
fn global() -> &'static Pool {
    static POOL: OnceLock<Pool> = OnceLock::new();
    // With one processor, looking only takes time from whoever has the work.
    POOL.get_or_init(|| Pool::new(if available_threads() > 1 { SPIN_ROUNDS } else { 0 }))
}

/// How many threads the pool has.
static WORKERS: Mutex<usize> = Mutex::new(0);

/// Makes sure that a launch can use `threads` threads, one of them the caller's.
pub(crate) fn reserve(threads: usize) -> Result<()> {
    let pool = global();
    let mut workers = WORKERS.lock().unwrap_or_else(PoisonError::into_inner);
    while *workers + 1 < threads {
        let name = format!("sutura-{}", *workers + 1);
        thread::Builder::new().name(name).spawn(|| pool.serve(|| true)).map_err(Error::Thread)?;
        *workers += 1;
    }
    Ok(())
}

/// Runs a launch in `chunks` chunks; returns when all groups are done.
///
/// # Safety
/// The kernel and its arguments must be valid until this returns, for any split of the groups on any threads.
pub(crate) unsafe fn run(launch: Launch, chunks: usize) {
    // SAFETY: by this function's condition.
    unsafe { global().run(launch, chunks) };
}

/// The processors that this process may use.
pub(crate) fn available_threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS)
}

#[cfg(test)]
mod tests {
    use super::queue::chunk;
    use super::*;
    use proptest::prelude::*;
    use std::ffi::c_void;
    use std::sync::atomic::{AtomicU32, Ordering};

    proptest! {
        #[test]
        fn chunks_cover_all_groups_once(n_groups in 1i64..10_000, grain in -1i64..200, threads in 0usize..40) {
            let count = chunk_count(n_groups, grain, threads);
            prop_assert!(count >= 1 && count <= threads.max(1));
            let mut next = 0;
            for index in 0..count {
                let range = chunk(n_groups, count, index);
                prop_assert_eq!(range.start, next);
                prop_assert!(count == 1 || range.end - range.start >= grain.max(1));
                next = range.end;
            }
            prop_assert_eq!(next, n_groups);
        }
    }

    #[test]
    fn extreme_counts_do_not_overflow() {
        assert_eq!(chunk(i64::MAX, 3, 2).end, i64::MAX);
        assert_eq!(chunk_count(i64::MAX, 1, 8), 8);
        assert_eq!(chunk_count(0, 1, 8), 1);
        assert_eq!(chunk_count(-5, 1, 8), 1);
        assert_eq!(chunk_count(10, i64::MAX, 8), 1);
    }

    /// Counts the visits of each group.
    unsafe extern "C" fn count(bufs: *const *mut c_void, _dims: *const i64, begin: i64, end: i64) {
        // SAFETY: the test passes one buffer with a counter for each group.
        let counters = unsafe { std::slice::from_raw_parts((*bufs).cast::<AtomicU32>(), end as usize) };
        for counter in &counters[begin as usize..] {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn visits(n_groups: i64, chunks: usize) -> Vec<u32> {
        let counters: Vec<AtomicU32> = (0..n_groups).map(|_| AtomicU32::new(0)).collect();
        let bufs = [counters.as_ptr().cast_mut().cast::<c_void>()];
        let launch = Launch { kernel: count, bufs: bufs.as_ptr(), dims: std::ptr::null(), n_groups };
        // SAFETY: the buffer lives until the end of this function, and the counters are atomic.
        unsafe { run(launch, chunks) };
        counters.into_iter().map(AtomicU32::into_inner).collect()
    }

    #[test]
    fn every_group_runs_once_under_concurrent_launches() {
        reserve(4).unwrap();
        assert!(*WORKERS.lock().unwrap() >= 3);
        thread::scope(|scope| {
            for caller in 0..4 {
                scope.spawn(move || {
                    for round in 0..200 {
                        let n = (round * 7 + caller) % 97;
                        let chunks = chunk_count(n, 1, 4);
                        assert!(visits(n, chunks).iter().all(|&v| v == 1));
                    }
                });
            }
        });
        assert_eq!(global().hint.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_launch_needs_no_worker() {
        // More chunks than any pool of the tests has threads.
        assert!(visits(500, 300).iter().all(|&v| v == 1));
    }
}

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

use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Mutex, Once, PoisonError};
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

/// The pool of this process, and how many threads serve it.
struct Shared {
    pool: Pool,
    workers: Mutex<usize>,
}

/// The pool, once there is one. A process that was forked begins without: it has none of the threads, and locks and queue are as
/// they were at that moment. What it inherited is left alone.
static SHARED: AtomicPtr<Shared> = AtomicPtr::new(ptr::null_mut());

/// The most threads that [`reserve`] was asked for, in this process or in one that it was forked from.
static RESERVED: AtomicUsize = AtomicUsize::new(0);

extern "C" fn forget_after_fork() {
    SHARED.store(ptr::null_mut(), Ordering::Release);
}

/// The process's pool. It has no threads until some are started.
fn shared() -> &'static Shared {
    static WATCH_FORKS: Once = Once::new();
    // SAFETY: what is stored was leaked.
    if let Some(shared) = unsafe { SHARED.load(Ordering::Acquire).as_ref() } {
        return shared;
    }
    WATCH_FORKS.call_once(|| {
        // SAFETY: the handler only stores to an atomic, which is allowed in a process that was forked.
        let _ = unsafe { libc::pthread_atfork(None, None, Some(forget_after_fork)) };
    });
    // With one processor, looking only takes time from whoever has the work.
    let spin_rounds = if available_threads() > 1 { SPIN_ROUNDS } else { 0 };
    let new = Box::into_raw(Box::new(Shared { pool: Pool::new(spin_rounds), workers: Mutex::new(0) }));
    match SHARED.compare_exchange(ptr::null_mut(), new, Ordering::AcqRel, Ordering::Acquire) {
        // SAFETY: it was made by `Box::into_raw` and is leaked.
        Ok(_) => unsafe { &*new },
        Err(first) => {
            // SAFETY: nobody else has seen `new`, and what was stored first was leaked.
            unsafe {
                drop(Box::from_raw(new));
                &*first
            }
        }
    }
}

/// Makes sure that a launch can use `threads` threads, one of them the caller's.
pub(crate) fn reserve(threads: usize) -> Result<()> {
    RESERVED.fetch_max(threads, Ordering::Relaxed);
    start(shared(), threads)
}

fn start(shared: &'static Shared, threads: usize) -> Result<()> {
    let mut workers = shared.workers.lock().unwrap_or_else(PoisonError::into_inner);
    while *workers + 1 < threads {
        let name = format!("sutura-{}", *workers + 1);
        thread::Builder::new().name(name).spawn(|| shared.pool.serve(|| true)).map_err(Error::Thread)?;
        *workers += 1;
    }
    Ok(())
}

/// Runs a launch in `chunks` chunks; returns when all groups are done.
///
/// # Safety
/// The kernel and its arguments must be valid until this returns, for any split of the groups on any threads.
pub(crate) unsafe fn run(launch: Launch, chunks: usize) {
    // SAFETY: what is stored was leaked.
    let shared = match unsafe { SHARED.load(Ordering::Acquire).as_ref() } {
        Some(shared) => shared,
        None => restarted(),
    };
    // SAFETY: by this function's condition.
    unsafe { shared.pool.run(launch, chunks) };
}

/// The pool of a process that was forked from one that had a pool, with as many threads.
#[cold]
fn restarted() -> &'static Shared {
    let shared = shared();
    // Without more threads the caller does all itself.
    let _ = start(shared, RESERVED.load(Ordering::Relaxed));
    shared
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
    use std::sync::atomic::AtomicU32;

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
        assert!(*shared().workers.lock().unwrap() >= 3);
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
        assert_eq!(shared().pool.hint.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_forked_process_starts_threads_of_its_own() {
        reserve(3).unwrap();
        // SAFETY: the child runs launches and ends without a word to the harness.
        let child = unsafe { libc::fork() };
        if child == 0 {
            let inherited = !SHARED.load(Ordering::Acquire).is_null();
            let right = visits(1000, 3).iter().all(|&v| v == 1);
            let workers = *shared().workers.lock().unwrap();
            // SAFETY: ends this process.
            unsafe { libc::_exit(i32::from(inherited || !right || workers < 2)) };
        }
        let mut status = 0;
        // SAFETY: the child is ours, and `status` is ours to fill.
        assert_eq!(unsafe { libc::waitpid(child, &raw mut status, 0) }, child);
        assert!(libc::WIFEXITED(status) && libc::WEXITSTATUS(status) == 0, "{status:x}");
        assert!(visits(1000, 3).iter().all(|&v| v == 1));
    }

    #[test]
    fn a_launch_needs_no_worker() {
        // More chunks than any pool of the tests has threads.
        assert!(visits(500, 300).iter().all(|&v| v == 1));
    }
}

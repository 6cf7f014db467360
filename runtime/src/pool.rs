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

use std::collections::VecDeque;
use std::ffi::c_void;
use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, Thread};

use crate::abi::KernelFn;
use crate::error::{Error, Result};

/// The most threads that anyone may ask for.
pub(crate) const MAX_THREADS: usize = 1024;

/// Rounds of looking for work before sleeping, some ten microseconds.
const SPIN_ROUNDS: usize = 2_000;

/// A kernel with its arguments.
#[derive(Clone, Copy)]
pub(crate) struct Launch {
    pub(crate) kernel: KernelFn,
    pub(crate) bufs: *const *mut c_void,
    pub(crate) dims: *const i64,
    pub(crate) n_groups: i64,
}

// SAFETY: whoever makes a `Launch` vouches that the kernel may run on any thread (see `run`).
unsafe impl Send for Launch {}
// SAFETY: as above; the fields are only read.
unsafe impl Sync for Launch {}

impl Launch {
    /// # Safety
    /// The kernel and its arguments must be valid, and groups independent.
    unsafe fn run_groups(&self, groups: Range<i64>) {
        // SAFETY: by this function's condition.
        unsafe { (self.kernel)(self.bufs, self.dims, groups.start, groups.end) };
    }
}

/// The number of chunks for a launch: at most `threads`, each of at least `grain` groups, at least one.
pub(crate) fn chunk_count(n_groups: i64, grain: i64, threads: usize) -> usize {
    let full = n_groups / grain.max(1);
    usize::try_from(full).unwrap_or(1).clamp(1, threads.max(1))
}

/// Chunk `index` of `count`: contiguous, together all groups, sizes that differ by at most one.
fn chunk(n_groups: i64, count: usize, index: usize) -> Range<i64> {
    let (count, index) = (count as i64, index as i64);
    let (size, larger) = (n_groups / count, n_groups % count);
    let start = index * size + index.min(larger);
    start..start + size + i64::from(index < larger)
}

/// A launch in progress.
struct Job {
    launch: Launch,
    chunks: usize,
    unfinished: AtomicUsize,
    caller: Thread,
}

impl Job {
    /// # Safety
    /// As for `Launch::run_groups`; each chunk once.
    unsafe fn run_chunk(&self, index: usize) {
        // SAFETY: by this function's condition.
        unsafe { self.launch.run_groups(chunk(self.launch.n_groups, self.chunks, index)) };
        // Releases what the kernel wrote to the caller, which acquires it in `is_done`.
        if self.unfinished.fetch_sub(1, Ordering::AcqRel) == 1 {
            self.caller.unpark();
        }
    }

    fn is_done(&self) -> bool {
        self.unfinished.load(Ordering::Acquire) == 0
    }
}

/// A job with chunks that nobody has taken yet.
struct Pending {
    job: Arc<Job>,
    next_chunk: usize,
}

#[derive(Default)]
struct Queue {
    pending: VecDeque<Pending>,
    workers: usize,
    sleeping: usize,
}

/// The pool: a queue and the threads that serve it.
pub(crate) struct Pool {
    queue: Mutex<Queue>,
    wake: Condvar,
    /// Jobs in the queue, to be looked at without the lock.
    hint: AtomicUsize,
    spin_rounds: usize,
}

impl Pool {
    /// The process's pool. It has no threads until [`reserve`](Self::reserve) starts some.
    pub(crate) fn global() -> &'static Self {
        static POOL: OnceLock<Pool> = OnceLock::new();
        POOL.get_or_init(|| Pool {
            queue: Mutex::default(),
            wake: Condvar::new(),
            hint: AtomicUsize::new(0),
            // With one processor, looking only takes time from whoever has the work.
            spin_rounds: if available_threads() > 1 { SPIN_ROUNDS } else { 0 },
        })
    }

    /// Makes sure that a launch can use `threads` threads, one of them the caller's.
    pub(crate) fn reserve(&'static self, threads: usize) -> Result<()> {
        let mut queue = self.lock();
        while queue.workers + 1 < threads {
            let name = format!("sutura-{}", queue.workers + 1);
            thread::Builder::new().name(name).spawn(|| self.serve()).map_err(Error::Thread)?;
            queue.workers += 1;
        }
        Ok(())
    }

    /// Number of threads that the pool has started.
    #[cfg(test)]
    fn workers(&self) -> usize {
        self.lock().workers
    }

    /// Runs a launch in `chunks` chunks; returns when all groups are done.
    ///
    /// # Safety
    /// The kernel and its arguments must be valid until this returns, for any split of the groups on any threads.
    pub(crate) unsafe fn run(&self, launch: Launch, chunks: usize) {
        if launch.n_groups <= 0 {
            return;
        }
        if chunks <= 1 {
            // SAFETY: by this function's condition.
            unsafe { launch.run_groups(0..launch.n_groups) };
            return;
        }
        let job = Arc::new(Job { launch, chunks, unfinished: AtomicUsize::new(chunks), caller: thread::current() });
        self.submit(&job);
        // SAFETY: `submit` leaves chunk 0 to the caller, and `take_from` gives each of the others to one thread. The
        // arguments stay valid, because this function returns only when `unfinished` is 0, and a thread lowers it
        // after its last use of them.
        unsafe {
            job.run_chunk(0);
            while let Some(index) = self.take_from(&job) {
                job.run_chunk(index);
            }
        }
        self.wait(&job);
    }

    fn submit(&self, job: &Arc<Job>) {
        let mut queue = self.lock();
        queue.pending.push_back(Pending { job: Arc::clone(job), next_chunk: 1 });
        self.hint.store(queue.pending.len(), Ordering::Relaxed);
        let wanted = queue.sleeping.min(job.chunks - 1);
        drop(queue);
        for _ in 0..wanted {
            self.wake.notify_one();
        }
    }

    /// Takes a chunk of this job.
    fn take_from(&self, job: &Arc<Job>) -> Option<usize> {
        let mut queue = self.lock();
        let position = queue.pending.iter().position(|p| Arc::ptr_eq(&p.job, job))?;
        Some(self.take_at(&mut queue, position).1)
    }

    /// Takes a chunk of the job at `position`, which exists.
    fn take_at(&self, queue: &mut Queue, position: usize) -> (Arc<Job>, usize) {
        let pending = &mut queue.pending[position];
        let taken = (Arc::clone(&pending.job), pending.next_chunk);
        pending.next_chunk += 1;
        if pending.next_chunk == pending.job.chunks {
            queue.pending.remove(position);
            self.hint.store(queue.pending.len(), Ordering::Relaxed);
        }
        taken
    }

    fn wait(&self, job: &Job) {
        for _ in 0..self.spin_rounds {
            if job.is_done() {
                return;
            }
            std::hint::spin_loop();
        }
        while !job.is_done() {
            thread::park();
        }
    }

    /// The life of a worker.
    fn serve(&self) {
        loop {
            let (job, index) = self.next();
            // SAFETY: the caller of `run` vouches for the launch and waits until this chunk is finished.
            unsafe { job.run_chunk(index) };
        }
    }

    fn next(&self) -> (Arc<Job>, usize) {
        for _ in 0..self.spin_rounds {
            if self.hint.load(Ordering::Relaxed) > 0 {
                break;
            }
            std::hint::spin_loop();
        }
        let mut queue = self.lock();
        while queue.pending.is_empty() {
            queue.sleeping += 1;
            queue = self.wake.wait(queue).unwrap_or_else(PoisonError::into_inner);
            queue.sleeping -= 1;
        }
        self.take_at(&mut queue, 0)
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        // Nothing panics while the lock is held, and the queue would be consistent if it did.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The processors that this process may use.
pub(crate) fn available_threads() -> usize {
    thread::available_parallelism().map_or(1, usize::from).min(MAX_THREADS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
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
        unsafe { Pool::global().run(launch, chunks) };
        counters.into_iter().map(AtomicU32::into_inner).collect()
    }

    #[test]
    fn every_group_runs_once_under_concurrent_launches() {
        Pool::global().reserve(4).unwrap();
        assert!(Pool::global().workers() >= 3);
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
        assert_eq!(Pool::global().hint.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn a_launch_needs_no_worker() {
        // More chunks than any pool of the tests has threads.
        assert!(visits(500, 300).iter().all(|&v| v == 1));
    }
}

// The queue of launches and how threads share them: everything of the pool that is about threads.
//
// What threads are made of comes from `super::sync`. The pool has the standard library's; the tests in `model.rs` put this
// file beside loom's, which runs it in every order that threads and memory allow, and beside ones with a planted fault.

use std::collections::VecDeque;
use std::ffi::c_void;
use std::ops::Range;
use std::sync::PoisonError;

use super::sync::{self, Arc, AtomicUsize, Condvar, Kernel, Mutex, MutexGuard, Ordering, Thread};

/// A kernel with its arguments.
#[derive(Clone, Copy)]
pub(crate) struct Launch {
    pub(crate) kernel: Kernel,
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

/// Chunk `index` of `count`: contiguous, together all groups, sizes that differ by at most one.
pub(super) fn chunk(n_groups: i64, count: usize, index: usize) -> Range<i64> {
    let (count, index) = (count as i64, index as i64);
    let (size, larger) = (n_groups / count, n_groups % count);
    let start = index * size + index.min(larger);
    start..start + size + i64::from(index < larger)
}

/// A launch in progress.
pub(super) struct Job {
    launch: Launch,
    chunks: usize,
    unfinished: AtomicUsize,
    caller: Thread,
}

impl Job {
    pub(super) fn new(launch: Launch, chunks: usize) -> Self {
        Self { launch, chunks, unfinished: AtomicUsize::new(chunks), caller: sync::current() }
    }

    /// # Safety
    /// As for `Launch::run_groups`; each chunk once.
    unsafe fn run_chunk(&self, index: usize) {
        // SAFETY: by this function's condition.
        unsafe { self.launch.run_groups(chunk(self.launch.n_groups, self.chunks, index)) };
        // Releases what the kernel wrote to the caller, which acquires it in `is_done`.
        if self.unfinished.fetch_sub(1, sync::FINISH) == 1 {
            sync::unpark(&self.caller);
        }
    }

    fn is_done(&self) -> bool {
        self.unfinished.load(sync::DONE) == 0
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
    sleeping: usize,
}

/// The pool: a queue and the threads that serve it.
pub(crate) struct Pool {
    queue: Mutex<Queue>,
    wake: Condvar,
    /// Jobs in the queue, to be looked at without the lock.
    pub(super) hint: AtomicUsize,
    spin_rounds: usize,
}

impl Pool {
    /// A pool without threads. Who has nothing to do looks for work this often before it sleeps.
    pub(super) fn new(spin_rounds: usize) -> Self {
        Self { queue: Mutex::new(Queue::default()), wake: Condvar::new(), hint: AtomicUsize::new(0), spin_rounds }
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
        let job = Arc::new(Job::new(launch, chunks));
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

    pub(super) fn submit(&self, job: &Arc<Job>) {
        let mut queue = self.lock();
        queue.pending.push_back(Pending { job: Arc::clone(job), next_chunk: 1 });
        self.hint.store(queue.pending.len(), Ordering::Relaxed);
        let wanted = queue.sleeping.min(job.chunks - 1);
        drop(queue);
        for _ in 0..wanted {
            sync::notify_one(&self.wake);
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
            sync::spin_loop();
        }
        while !job.is_done() {
            sync::park();
        }
    }

    /// The life of a worker, as long as it goes on.
    pub(super) fn serve(&self, goes_on: impl Fn() -> bool) {
        while goes_on() {
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
            sync::spin_loop();
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

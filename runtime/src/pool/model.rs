//! The pool under loom, which runs it in every order that threads and memory allow, up to a number of times that a thread is
//! stopped where it could go on (`SUTURA_POOL_PREEMPTIONS`, 2 by default).
//!
//! The model has what the pool promises as checks: each group runs once, what kernels wrote is the caller's when a launch
//! returns, and nobody waits for ever. Copies of the pool with a planted fault show that these checks find one.

use std::ffi::c_void;
use std::process::Command;

/// Threads of a model; loom has at most five.
#[derive(Clone, Copy, Debug)]
struct Shape {
    callers: usize,
    workers: usize,
    /// Chunks of each launch.
    chunks: usize,
    /// Launches of each caller, one after the other.
    launches: usize,
    spin_rounds: usize,
}

const ONE_WORKER: Shape = Shape { callers: 1, workers: 1, chunks: 2, launches: 1, spin_rounds: 0 };

/// How often a thread is stopped in a run.
fn preemptions() -> usize {
    let set = std::env::var("SUTURA_POOL_PREEMPTIONS").ok();
    set.map_or(2, |text| text.parse().expect("SUTURA_POOL_PREEMPTIONS is a number"))
}

/// The kernel of models: adds one to the cell of each group.
unsafe fn count(bufs: *const *mut c_void, _dims: *const i64, begin: i64, end: i64) {
    for group in begin..end {
        // SAFETY: the model passes an array with a cell for each group.
        let cell = unsafe { &*(*bufs).cast::<loom::cell::UnsafeCell<u32>>().offset(group as isize) };
        // SAFETY: loom finds out whether somebody else has it.
        cell.with_mut(|value| unsafe { *value += 1 });
    }
}

/// Does nothing, for launches that wake workers.
unsafe fn nothing(_bufs: *const *mut c_void, _dims: *const i64, _begin: i64, _end: i64) {}

/// Threads that sleep and are woken. Loom has them too, but there waking a thread that waits for a lock gives it the lock.
mod park {
    use loom::sync::{Arc, Condvar, Mutex};

    #[derive(Clone)]
    pub(super) struct Thread(Arc<(Mutex<bool>, Condvar)>);

    loom::thread_local! {
        static CURRENT: Thread = Thread(Arc::new((Mutex::new(false), Condvar::new())));
    }

    pub(super) fn current() -> Thread {
        CURRENT.with(Thread::clone)
    }

    pub(super) fn park() {
        let Thread(token) = current();
        let mut given = token.0.lock().unwrap();
        while !*given {
            given = token.1.wait(given).unwrap();
        }
        *given = false;
    }

    impl Thread {
        pub(super) fn unpark(&self) {
            *self.0.0.lock().unwrap() = true;
            self.0.1.notify_one();
        }
    }
}

/// A copy of the pool on loom's threads. `$finish` and `$done` are memory orders, the others what wakes somebody.
macro_rules! pool {
    ($name:ident, $finish:ident, $done:ident, $notify:expr, $unpark:expr) => {
        mod $name {
            mod sync {
                pub(super) use loom::hint::spin_loop;
                pub(super) use loom::sync::atomic::{AtomicUsize, Ordering};
                pub(super) use loom::sync::{Arc, Condvar, Mutex, MutexGuard};
                use std::ffi::c_void;

                pub(super) use super::super::park::{Thread, current, park};

                /// With Rust's own calling convention, which a panic of loom gets through.
                pub(super) type Kernel = unsafe fn(*const *mut c_void, *const i64, i64, i64);

                pub(super) const FINISH: Ordering = Ordering::$finish;
                pub(super) const DONE: Ordering = Ordering::$done;

                pub(super) fn notify_one(wake: &Condvar) {
                    let notify: fn(&Condvar) = $notify;
                    notify(wake);
                }

                pub(super) fn unpark(caller: &Thread) {
                    let unpark: fn(&Thread) = $unpark;
                    unpark(caller);
                }
            }

            #[allow(unreachable_pub, clippy::duplicate_mod)]
            mod queue {
                include!("queue.rs");
            }

            use super::{Shape, count, nothing};
            use loom::cell::UnsafeCell;
            use loom::sync::Arc;
            use loom::sync::atomic::{AtomicBool, Ordering};
            use queue::{Job, Launch, Pool};

            /// Runs the model in all orders. Returns how many they were.
            pub(super) fn explore(shape: Shape, preemptions: usize) -> usize {
                let orders = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
                let counter = std::sync::Arc::clone(&orders);
                let mut builder = loom::model::Builder::new();
                builder.preemption_bound = Some(preemptions);
                builder.check(move || {
                    counter.fetch_add(1, Ordering::Relaxed);
                    model(shape);
                });
                orders.load(Ordering::Relaxed)
            }

            fn model(shape: Shape) {
                let pool = Arc::new(Pool::new(shape.spin_rounds));
                let ended = Arc::new(AtomicBool::new(false));
                let workers: Vec<_> = (0..shape.workers)
                    .map(|_| {
                        let (pool, ended) = (Arc::clone(&pool), Arc::clone(&ended));
                        loom::thread::spawn(move || pool.serve(|| !ended.load(Ordering::SeqCst)))
                    })
                    .collect();
                let callers: Vec<_> = (1..shape.callers)
                    .map(|_| {
                        let pool = Arc::clone(&pool);
                        loom::thread::spawn(move || launches(&pool, shape))
                    })
                    .collect();
                launches(&pool, shape);
                callers.into_iter().for_each(|caller| caller.join().unwrap());
                assert_eq!(pool.hint.load(Ordering::Relaxed), 0);
                // Nobody but the workers takes these chunks: that the model ends shows that each of them wakes up.
                ended.store(true, Ordering::SeqCst);
                let launch = Launch { kernel: nothing, bufs: std::ptr::null(), dims: std::ptr::null(), n_groups: 9 };
                pool.submit(&Arc::new(Job::new(launch, 1 + shape.workers)));
                workers.into_iter().for_each(|worker| worker.join().unwrap());
            }

            fn launches(pool: &Pool, shape: Shape) {
                for _ in 0..shape.launches {
                    let cells: Vec<UnsafeCell<u32>> = (0..shape.chunks).map(|_| UnsafeCell::new(0)).collect();
                    let bufs = [cells.as_ptr().cast_mut().cast()];
                    let n_groups = shape.chunks as i64;
                    let launch = Launch { kernel: count, bufs: bufs.as_ptr(), dims: std::ptr::null(), n_groups };
                    // SAFETY: the cells live until the launch returns.
                    unsafe { pool.run(launch, shape.chunks) };
                    for cell in &cells {
                        // They are the caller's alone again.
                        // SAFETY: loom finds out whether they are.
                        cell.with_mut(|value| unsafe { assert_eq!(*value, 1) });
                    }
                }
            }
        }
    };
}

pool!(right, AcqRel, Acquire, |wake| wake.notify_one(), |caller| caller.unpark());
pool!(finishes_relaxed, Relaxed, Acquire, |wake| wake.notify_one(), |caller| caller.unpark());
pool!(looks_relaxed, AcqRel, Relaxed, |wake| wake.notify_one(), |caller| caller.unpark());
pool!(wakes_no_worker, AcqRel, Acquire, |_| {}, |caller| caller.unpark());
pool!(wakes_no_caller, AcqRel, Acquire, |wake| wake.notify_one(), |_| {});

/// Runs the pool's model in all orders, of which there are many.
fn explore(shape: Shape) {
    let orders = right::explore(shape, preemptions());
    assert!(orders > 10 * preemptions(), "{orders} orders of {shape:?}");
    eprintln!("{orders} orders of {shape:?}, {} preemptions", preemptions());
}

#[test]
fn every_order_of_one_worker() {
    explore(ONE_WORKER);
    explore(Shape { spin_rounds: 1, ..ONE_WORKER });
    explore(Shape { launches: 2, ..ONE_WORKER });
}

#[test]
fn every_order_of_two_workers() {
    explore(Shape { workers: 2, chunks: 3, ..ONE_WORKER });
}

#[test]
fn every_order_of_two_callers() {
    explore(Shape { callers: 2, ..ONE_WORKER });
}

/// Explores a copy of the pool.
type Explore = fn(Shape, usize) -> usize;

/// The faults by name, with a word of what loom says of them.
const FAULTS: [(&str, Explore, &str); 4] = [
    ("a worker that does not publish what it wrote", finishes_relaxed::explore, "Causality violation"),
    ("a caller that does not acquire what was written", looks_relaxed::explore, "Causality violation"),
    ("a worker that is not woken", wakes_no_worker::explore, "deadlock"),
    ("a caller that is not woken", wakes_no_caller::explore, "deadlock"),
];

/// Set in the processes that the next test starts: after what loom finds, destructors may end the process.
const FAULT: &str = "SUTURA_POOL_FAULT";

/// As many as the faults need.
const FAULT_PREEMPTIONS: usize = 3;

/// What the models would not find, they could not be trusted about.
#[test]
fn planted_faults_are_found() {
    if let Ok(fault) = std::env::var(FAULT) {
        let known = FAULTS.iter().find(|(what, ..)| *what == fault);
        let explore = known.map_or(right::explore as Explore, |(_, explore, _)| *explore);
        explore(ONE_WORKER, FAULT_PREEMPTIONS);
        return;
    }
    let explored = |fault: &str| {
        let mut child = Command::new(std::env::current_exe().unwrap());
        child.args(["--exact", "pool::model::planted_faults_are_found", "--nocapture"]).env(FAULT, fault);
        let done = child.output().unwrap();
        (done.status.success(), String::from_utf8_lossy(&done.stderr).into_owned())
    };
    let (fine, said) = explored("none");
    assert!(fine, "{said}");
    for (what, _, words) in FAULTS {
        let (fine, said) = explored(what);
        assert!(!fine && said.contains(words), "{what}: {said}");
    }
}

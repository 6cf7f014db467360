//! Parts of a routine's work on the threads of the process's pool.

use std::ffi::c_void;
use std::sync::{Mutex, PoisonError};

use super::table::PARTS;
use crate::pool;

/// The threads that a call may use.
#[derive(Clone, Copy)]
pub(super) struct Threads(pub(super) usize);

type Part<'a> = &'a (dyn Fn(usize) + Sync);

/// A kernel whose buffer is a [`Part`].
unsafe extern "C" fn run_parts(bufs: *const *mut c_void, _: *const i64, begin: i64, end: i64) {
    // SAFETY: `each` passes a pointer to one.
    let part = unsafe { *(*bufs).cast::<Part<'_>>() };
    (begin..end).for_each(|index| part(index as usize));
}

impl Threads {
    /// One thread, the caller's.
    pub(super) fn one() -> Self {
        Self(1)
    }

    /// Runs `part` once for each number below `count`, in any order, and returns when all is done.
    pub(super) fn each(self, count: usize, part: Part<'_>) {
        let chunks = self.0.min(count);
        if chunks <= 1 {
            return (0..count).for_each(part);
        }
        let bufs = [(&raw const part).cast_mut().cast::<c_void>()];
        let launch =
            pool::Launch { kernel: run_parts, bufs: bufs.as_ptr(), dims: std::ptr::null(), n_groups: count as i64 };
        // SAFETY: the part may be called from any thread, each number once, and lives until this returns.
        unsafe { pool::run(launch, chunks) };
    }

    /// Runs `part` once on each of up to [`PARTS`] things.
    pub(super) fn on<T: Send>(self, things: impl Iterator<Item = T>, part: impl Fn(T) + Sync) {
        let mut count = 0;
        let mut held = [const { None }; PARTS];
        for (place, thing) in held.iter_mut().zip(things) {
            *place = Some(thing);
            count += 1;
        }
        let held = held.map(Mutex::new);
        self.each(count, &|index| {
            let thing = held[index].lock().unwrap_or_else(PoisonError::into_inner).take();
            thing.into_iter().for_each(&part);
        });
    }
}

/// The numbers below `total` of part `index` of `count`: contiguous, together all, of like length.
pub(super) fn share(total: usize, count: usize, index: usize) -> std::ops::Range<usize> {
    let (size, larger) = (total / count, total % count);
    let start = index * size + index.min(larger);
    start..start + size + usize::from(index < larger)
}

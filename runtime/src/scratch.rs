//! The memory that a run needs besides its inputs and outputs, kept for the next run.
//!
//! Fresh pages cost more than most kernels, so a model keeps as many scratch areas as it ever had runs at the same
//! time.

use std::ops::{Deref, DerefMut};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use crate::buffer::AlignedBuffer;
use crate::error::Result;
use crate::model::Blocks;

/// How often one looks whether a lock that is held for some nanoseconds is free, before one does without what it guards.
const TRIES: usize = 10_000;

/// The memory of one run.
pub(crate) struct Scratch {
    pub(crate) input_dims: Vec<i64>,
    pub(crate) symbols: Vec<i64>,
    pub(crate) output_dims: Vec<i64>,
    pub(crate) workspace: AlignedBuffer,
    /// By input: room for an aligned copy.
    pub(crate) staging: Vec<AlignedBuffer>,
    /// By output: room for a result whose memory is not aligned.
    pub(crate) results: Vec<AlignedBuffer>,
    /// For calls of recursive functions.
    pub(crate) calls: Blocks,
}

impl Default for Scratch {
    fn default() -> Self {
        Self {
            input_dims: Vec::new(),
            symbols: Vec::new(),
            output_dims: Vec::new(),
            workspace: AlignedBuffer::empty(),
            staging: Vec::new(),
            results: Vec::new(),
            calls: Blocks::default(),
        }
    }
}

/// The scratch areas of a model.
#[derive(Default)]
pub(crate) struct ScratchPool {
    areas: Mutex<Areas>,
}

#[derive(Default)]
struct Areas {
    /// Those that no run uses now.
    free: Vec<Scratch>,
    /// How many runs have one.
    leased: usize,
    /// How many had one at the same time at most.
    most: usize,
}

impl ScratchPool {
    /// Takes an area, the one used last, whose pages are most likely in the caches.
    pub(crate) fn lease(&self) -> Lease<'_> {
        let Some(mut areas) = self.try_lock() else {
            return Lease { pool: self, scratch: Scratch::default(), counted: false };
        };
        areas.leased += 1;
        areas.most = areas.most.max(areas.leased);
        Lease { pool: self, scratch: areas.free.pop().unwrap_or_default(), counted: true }
    }

    /// Gives all free memory back to the system.
    pub(crate) fn clear(&self) {
        let free = std::mem::take(&mut self.lock().free);
        drop(free);
    }

    fn lock(&self) -> MutexGuard<'_, Areas> {
        self.areas.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for nobody for long. In a process that was forked the lock may be that of a thread that is not there.
    fn try_lock(&self) -> Option<MutexGuard<'_, Areas>> {
        for _ in 0..TRIES {
            match self.areas.try_lock() {
                Ok(areas) => return Some(areas),
                Err(TryLockError::Poisoned(areas)) => return Some(areas.into_inner()),
                Err(TryLockError::WouldBlock) => std::hint::spin_loop(),
            }
        }
        None
    }
}

/// A scratch area in use; goes back to the pool when dropped.
pub(crate) struct Lease<'a> {
    pool: &'a ScratchPool,
    scratch: Scratch,
    /// Whether the pool knows of it: not of one that was made because nobody could look into the pool.
    counted: bool,
}

impl Deref for Lease<'_> {
    type Target = Scratch;

    fn deref(&self) -> &Scratch {
        &self.scratch
    }
}

impl DerefMut for Lease<'_> {
    fn deref_mut(&mut self) -> &mut Scratch {
        &mut self.scratch
    }
}

impl Drop for Lease<'_> {
    fn drop(&mut self) {
        let scratch = std::mem::take(&mut self.scratch);
        let Some(mut areas) = self.pool.try_lock() else { return };
        areas.leased -= usize::from(self.counted);
        // One that was made beside those in the pool would make it grow for ever.
        if areas.free.len() + areas.leased < areas.most {
            areas.free.push(scratch);
        }
    }
}

/// Makes a buffer hold at least `bytes`, with any content. Says whether it had to be allocated. One that was too small becomes
/// half as large again at least, as sizes that grew may go on to: a text that becomes longer would need a new one in each run,
/// and the holes that the old ones leave are memory too.
pub(crate) fn grow(buffer: &mut AlignedBuffer, bytes: usize, what: &str) -> Result<bool> {
    if buffer.len() >= bytes {
        return Ok(false);
    }
    let ample = buffer.len().saturating_add(buffer.len() / 2);
    // The old one first, so that the peak is one buffer and not two.
    *buffer = AlignedBuffer::empty();
    *buffer = match AlignedBuffer::zeroed(bytes.max(ample), what) {
        Err(_) if ample > bytes => AlignedBuffer::zeroed(bytes, what)?,
        made => made?,
    };
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_used_again() {
        let pool = ScratchPool::default();
        let first = {
            let mut lease = pool.lease();
            assert!(grow(&mut lease.workspace, 1000, "test").unwrap());
            lease.workspace.as_mut_ptr().addr()
        };
        let mut lease = pool.lease();
        assert_eq!(lease.workspace.as_mut_ptr().addr(), first);
        assert!(!grow(&mut lease.workspace, 900, "test").unwrap());
        assert!(grow(&mut lease.workspace, 1001, "test").unwrap());
        assert!(!grow(&mut lease.workspace, 1500, "test").unwrap());
        assert!(grow(&mut lease.workspace, 4000, "test").unwrap());
        assert_eq!(lease.workspace.len(), 4000);
        assert_eq!(pool.lease().workspace.len(), 0);
        drop(lease);
        pool.clear();
        assert!(pool.lock().free.is_empty());
    }

    fn free(pool: &ScratchPool) -> usize {
        pool.lock().free.len()
    }

    #[test]
    fn a_pool_has_as_many_areas_as_were_leased_at_once() {
        let pool = ScratchPool::default();
        let leases = [pool.lease(), pool.lease(), pool.lease()];
        assert_eq!(free(&pool), 0);
        drop(leases);
        assert_eq!(free(&pool), 3);
        drop([pool.lease(), pool.lease()]);
        assert_eq!(free(&pool), 3);
    }

    #[test]
    fn what_the_pool_does_not_know_makes_it_no_larger() {
        let pool = ScratchPool::default();
        drop(pool.lease());
        for _ in 0..5 {
            let guard = pool.lock();
            let unknown = pool.lease();
            assert!(!unknown.counted);
            drop(guard);
            drop(unknown);
            assert_eq!(free(&pool), 1);
        }
        // One that goes while nobody can look is gone, and the next run makes another.
        let lost = pool.lease();
        let guard = pool.lock();
        drop(lost);
        drop(guard);
        assert_eq!(free(&pool), 0);
        drop(pool.lease());
        assert_eq!(free(&pool), 1);
    }
}

//! Memory that is kept for reuse.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::buffer::{Allocation, Buffer};
use super::error::DeviceError;
use super::{ALIGNMENT, Device, Result, Shared};

/// Steps between a power of two and the next: sizes are rounded up by an eighth at most.
const STEPS: u64 = 8;

/// Memory of a device that is kept when its buffer is dropped, and reused for another of about the same size.
///
/// Clones are the same pool. A buffer is reused at once: of what was launched and is not done, only work on the same
/// stream may still use it. So threads that run at the same time, each with its stream, have pools of their own.
#[derive(Clone)]
pub struct Pool {
    shelves: Arc<Shelves>,
}

/// What a pool did and holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PoolStats {
    /// Bytes of buffers that are in use, rounded up to classes.
    pub used_bytes: u64,
    /// Bytes that wait for reuse.
    pub cached_bytes: u64,
    /// The most bytes that were ever in use.
    pub peak_bytes: u64,
    /// Requests that were served by reuse.
    pub reused: u64,
    /// Requests for which the device allocated.
    pub allocated: u64,
}

/// What a pool's clones and its buffers share.
pub(super) struct Shelves {
    device: Arc<Shared>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// What waits for reuse, by size; never an empty list.
    free: BTreeMap<u64, Vec<Allocation>>,
    stats: PoolStats,
}

impl Pool {
    pub(super) fn new(device: &Arc<Shared>) -> Self {
        Self { shelves: Arc::new(Shelves { device: device.clone(), state: Mutex::default() }) }
    }

    /// The device whose memory it is.
    pub fn device(&self) -> Device {
        Device { shared: self.shelves.device.clone() }
    }

    /// Memory with any content. Where the device has none left, what waits for reuse is freed first.
    pub fn allocate(&self, bytes: u64) -> Result<Buffer> {
        match self.allocate_keeping(bytes) {
            Err(DeviceError::OutOfMemory { .. }) if self.trim() > 0 => self.allocate_keeping(bytes),
            other => other,
        }
    }

    /// The same, but what waits for reuse is not freed.
    pub(crate) fn allocate_keeping(&self, bytes: u64) -> Result<Buffer> {
        let device = &self.shelves.device;
        if bytes == 0 {
            return Buffer::allocate(device, 0);
        }
        let limit = device.driver.info().limits.allocation_bytes;
        // Rounding up must not make impossible what is possible.
        let class = size_class(bytes).filter(|class| *class <= limit).unwrap_or(bytes);
        let allocation = match self.shelves.take(class) {
            Some(allocation) => allocation,
            None => self.fresh(class)?,
        };
        Ok(Buffer::new(device, Some(allocation), bytes, Arc::downgrade(&self.shelves)))
    }

    fn fresh(&self, bytes: u64) -> Result<Allocation> {
        let device = &self.shelves.device;
        let allocation = Allocation::new(device, bytes)?;
        let mut state = self.shelves.lock();
        state.stats.allocated += 1;
        state.stats.use_bytes(bytes);
        Ok(allocation)
    }

    /// Frees what waits for reuse, and returns how many bytes that were.
    pub fn trim(&self) -> u64 {
        let mut state = self.shelves.lock();
        let free = std::mem::take(&mut state.free);
        let bytes = std::mem::take(&mut state.stats.cached_bytes);
        // The driver may take its time; others need not wait for it.
        drop(state);
        drop(free);
        bytes
    }

    /// What the pool did and holds.
    pub fn stats(&self) -> PoolStats {
        self.shelves.lock().stats
    }
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Pool").field(&self.stats()).finish()
    }
}

impl Shelves {
    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing panics while it is held.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, class: u64) -> Option<Allocation> {
        let mut state = self.lock();
        let list = state.free.get_mut(&class)?;
        let allocation = list.pop();
        if list.is_empty() {
            state.free.remove(&class);
        }
        if allocation.is_some() {
            state.stats.cached_bytes -= class;
            state.stats.reused += 1;
            state.stats.use_bytes(class);
        }
        allocation
    }

    pub(super) fn put(&self, allocation: Allocation) {
        let mut state = self.lock();
        state.stats.used_bytes -= allocation.bytes;
        state.stats.cached_bytes += allocation.bytes;
        state.free.entry(allocation.bytes).or_default().push(allocation);
    }
}

impl PoolStats {
    fn use_bytes(&mut self, bytes: u64) {
        self.used_bytes += bytes;
        self.peak_bytes = self.peak_bytes.max(self.used_bytes);
    }
}

/// The size that is allocated for a request of so many bytes, which are not 0. None if there is no such number.
fn size_class(bytes: u64) -> Option<u64> {
    let step = (bytes.checked_next_power_of_two()? / (2 * STEPS)).max(ALIGNMENT);
    bytes.checked_next_multiple_of(step)
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::super::driver::{Driver, DriverModule, DriverStream, RawMemory, out_of_memory};
    use super::super::{DeviceInfo, select::tests::info};
    use super::*;

    /// A device with little memory, and nothing else.
    struct Small {
        info: DeviceInfo,
        left: Arc<AtomicU64>,
    }

    /// Gives the bytes back.
    struct Piece(u64, Arc<AtomicU64>);

    impl Drop for Piece {
        fn drop(&mut self) {
            self.1.fetch_add(self.0, Ordering::Relaxed);
        }
    }

    impl Driver for Small {
        fn info(&self) -> &DeviceInfo {
            &self.info
        }

        fn allocate(&self, bytes: u64) -> Result<RawMemory> {
            let taken = self.left.try_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(bytes));
            let left = taken.map_err(|_| out_of_memory(&self.info, bytes))?;
            let owner = Box::new(Piece(bytes, self.left.clone()));
            Ok(RawMemory { address: left * ALIGNMENT, handle: 0, skip: 0, _owner: owner })
        }

        fn load(&self, _: &[u8]) -> Result<Box<dyn DriverModule>> {
            unreachable!("the pool loads no code")
        }

        fn stream(&self) -> Result<Box<dyn DriverStream>> {
            unreachable!("the pool makes no stream")
        }
    }

    fn small(bytes: u64) -> Device {
        Device::new(Box::new(Small { info: info("small"), left: Arc::new(AtomicU64::new(bytes)) }))
    }

    #[test]
    fn what_waits_for_reuse_is_freed_when_memory_runs_out() {
        let device = small(8192);
        let pool = device.pool();
        drop(pool.allocate(4096).unwrap());
        let kept = pool.allocate(2048).unwrap();
        assert_eq!((device.allocated_bytes(), pool.stats().cached_bytes), (6144, 4096));
        // Only 2048 bytes are left.
        let large = pool.allocate(5120).unwrap();
        assert_eq!((device.allocated_bytes(), pool.stats().cached_bytes), (7168, 0));
        let error = pool.allocate(2048).unwrap_err();
        assert_eq!(
            error.to_string(),
            "device `small` has no memory left for 2048 bytes: 7168 of its 1073741824 bytes are allocated by this process; \
             run smaller shapes, or free models and buffers"
        );
        drop((kept, large));
        let stats = PoolStats { cached_bytes: 7168, peak_bytes: 7168, allocated: 3, ..PoolStats::default() };
        assert_eq!(pool.stats(), stats);
        drop(pool);
        assert_eq!(device.allocated_bytes(), 0);
    }

    #[test]
    fn rounding_up_makes_nothing_impossible() {
        let mut info = info("small");
        let limit = 5000;
        info.limits.allocation_bytes = limit;
        let device = Device::new(Box::new(Small { info, left: Arc::new(AtomicU64::new(1 << 20)) }));
        // Its class is 5120.
        let buffer = device.pool().allocate(4700).unwrap();
        assert_eq!((buffer.bytes(), device.allocated_bytes()), (4700, 4700));
        assert!(matches!(device.pool().allocate(limit + 1), Err(DeviceError::TooLarge { .. })));
    }

    #[test]
    fn classes_are_few_and_close() {
        assert_eq!(size_class(1), Some(256));
        assert_eq!(size_class(256), Some(256));
        assert_eq!(size_class(257), Some(512));
        assert_eq!(size_class(4097), Some(4608));
        assert_eq!(size_class((1 << 30) + 1), Some((1 << 30) + (1 << 27)));
        assert_eq!(size_class(u64::MAX), None);
        let mut classes = std::collections::BTreeSet::new();
        for bytes in (1..1 << 20).step_by(13) {
            let class = size_class(bytes).unwrap();
            assert!(class >= bytes && class - bytes < (bytes / 8).max(256), "{bytes} became {class}");
            assert_eq!(size_class(class), Some(class));
            assert_eq!(class % ALIGNMENT, 0);
            classes.insert(class);
        }
        assert!(classes.len() < 100, "{}", classes.len());
    }
}

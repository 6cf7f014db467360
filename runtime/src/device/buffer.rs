//! Memory of a device.

use std::fmt;
use std::sync::{Arc, Weak};

use std::sync::atomic::Ordering;

use super::driver::RawMemory;
use super::error::DeviceError;
use super::pool::Shelves;
use super::{ALIGNMENT, Result, Shared};

/// Memory of a device, freed, or given back to its pool, when the buffer is dropped and what was enqueued to be copied
/// from or to it is done.
pub struct Buffer {
    memory: Arc<Memory>,
    bytes: u64,
}

impl Buffer {
    pub(super) fn allocate(device: &Arc<Shared>, bytes: u64) -> Result<Self> {
        let allocation = if bytes == 0 { None } else { Some(Allocation::new(device, bytes)?) };
        Ok(Self::new(device, allocation, bytes, Weak::new()))
    }

    pub(super) fn new(device: &Arc<Shared>, allocation: Option<Allocation>, bytes: u64, home: Weak<Shelves>) -> Self {
        Self { memory: Arc::new(Memory { allocation, home, device: device.clone() }), bytes }
    }

    /// The address for kernels, aligned to [`ALIGNMENT`]. Of a buffer of no bytes it names no memory, but is not 0.
    pub fn address(&self) -> u64 {
        self.memory.allocation.as_ref().map_or(ALIGNMENT, |allocation| allocation.raw.address)
    }

    /// The size that was asked for.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(super) fn memory(&self) -> &Arc<Memory> {
        &self.memory
    }

    /// Checks that a range is within the buffer, and the buffer of this device.
    pub(super) fn check(&self, device: &Arc<Shared>, action: &'static str, offset: u64, bytes: u64) -> Result<()> {
        device.check_owner(&self.memory.device, || format!("a buffer of {} bytes", self.bytes))?;
        if offset.checked_add(bytes).is_some_and(|end| end <= self.bytes) {
            return Ok(());
        }
        Err(DeviceError::OutOfBounds { device: device.name(), action, offset, bytes, size: self.bytes })
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer({} bytes at {:#x})", self.bytes, self.address())
    }
}

/// What a buffer and the streams that copy from or to it share.
pub(crate) struct Memory {
    /// None for no bytes.
    allocation: Option<Allocation>,
    /// Where the allocation goes in the end; nowhere if it is freed.
    home: Weak<Shelves>,
    device: Arc<Shared>,
}

impl Memory {
    /// None for no bytes.
    pub(super) fn raw(&self) -> Option<&RawMemory> {
        self.allocation.as_ref().map(|allocation| &allocation.raw)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if let Some(allocation) = self.allocation.take()
            && let Some(home) = self.home.upgrade()
        {
            home.put(allocation);
        }
    }
}

/// Memory from the driver; counted by the device.
pub(super) struct Allocation {
    pub(super) raw: RawMemory,
    pub(super) bytes: u64,
    device: Arc<Shared>,
}

impl Allocation {
    /// `bytes` is not 0.
    pub(super) fn new(device: &Arc<Shared>, bytes: u64) -> Result<Self> {
        let limits = &device.driver.info().limits;
        if bytes > limits.allocation_bytes {
            let limit = limits.allocation_bytes;
            return Err(DeviceError::TooLarge { device: device.name(), bytes, limit });
        }
        let raw = device.driver.allocate(bytes).map_err(|error| match error {
            DeviceError::OutOfMemory { device: name, bytes, total, .. } => {
                let allocated = device.allocated.load(Ordering::Relaxed);
                DeviceError::OutOfMemory { device: name, bytes, allocated, total }
            }
            other => other,
        })?;
        device.allocated.fetch_add(bytes, Ordering::Relaxed);
        Ok(Self { raw, bytes, device: device.clone() })
    }
}

impl Drop for Allocation {
    fn drop(&mut self) {
        self.device.allocated.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

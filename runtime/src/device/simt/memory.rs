//! Memory of the device, and pinned memory of the host, which the device copies from and to by itself.

#![allow(unsafe_code)]

use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::Arc;

use super::Gpu;
use super::api::{Failure, OUT_OF_MEMORY};
use crate::device::driver::{RawMemory, out_of_memory};
use crate::device::{ALIGNMENT, DeviceError, Result};

struct DeviceMemory {
    gpu: Arc<Gpu>,
    address: u64,
}

impl Drop for DeviceMemory {
    fn drop(&mut self) {
        let Ok(_entered) = self.gpu.enter() else { return };
        // SAFETY: it was allocated on this device, and no work that uses it is left: streams keep what copies use, and
        // callers of launches what these use. An error is one of work before, of which its stream tells.
        let _ = unsafe { self.gpu.functions().free(self.address) };
    }
}

/// Memory for kernels' buffers, aligned.
pub(super) fn allocate(gpu: &Arc<Gpu>, bytes: u64) -> Result<RawMemory> {
    let mut memory = raw(gpu, bytes)?;
    if !memory.address.is_multiple_of(ALIGNMENT) {
        // Drivers align more than this; one that did not would get a larger block in which the address moves up.
        drop(memory);
        memory = raw(gpu, bytes.saturating_add(ALIGNMENT))?;
    }
    let address = memory.address.next_multiple_of(ALIGNMENT);
    Ok(RawMemory { address, handle: 0, skip: 0, _owner: Box::new(memory) })
}

fn raw(gpu: &Arc<Gpu>, bytes: u64) -> Result<DeviceMemory> {
    let _entered = gpu.enter()?;
    let mut address = 0;
    let size = usize::try_from(bytes).unwrap_or(usize::MAX);
    // SAFETY: the device is current, and the pointer is valid.
    let result = unsafe { gpu.functions().allocate(&raw mut address, size) };
    result.map_err(|failure| allocation_error(gpu, bytes, failure))?;
    Ok(DeviceMemory { gpu: gpu.clone(), address })
}

fn allocation_error(gpu: &Gpu, bytes: u64, failure: Failure) -> DeviceError {
    if failure.status == OUT_OF_MEMORY { out_of_memory(&gpu.info, bytes) } else { gpu.error(failure) }
}

/// Pinned memory of the host.
pub(super) struct HostMemory {
    gpu: Arc<Gpu>,
    start: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the memory belongs to this object alone, and any thread may use and free it.
unsafe impl Send for HostMemory {}

impl HostMemory {
    pub(super) fn new(gpu: &Arc<Gpu>, bytes: usize) -> Result<Self> {
        let _entered = gpu.enter()?;
        let mut pointer: *mut c_void = std::ptr::null_mut();
        // SAFETY: the device is current, and the pointer is valid.
        let result = unsafe { gpu.functions().allocate_host(&raw mut pointer, bytes, 0) };
        result.map_err(|failure| gpu.error(failure))?;
        let start = NonNull::new(pointer.cast()).ok_or_else(|| {
            gpu.error(Failure { call: "allocating pinned memory, which gave none", status: OUT_OF_MEMORY })
        })?;
        Ok(Self { gpu: gpu.clone(), start, bytes })
    }

    /// Where a range begins.
    pub(super) fn at(&self, offset: usize, bytes: usize) -> NonNull<u8> {
        let inside = offset.checked_add(bytes).is_some_and(|end| end <= self.bytes);
        assert!(inside, "only ranges that were reserved are accessed");
        // SAFETY: the offset is within the memory.
        unsafe { self.start.add(offset) }
    }
}

impl Drop for HostMemory {
    fn drop(&mut self) {
        let Ok(_entered) = self.gpu.enter() else { return };
        // SAFETY: it was allocated by this driver, and the stream that copied through it is synchronized, or has failed.
        let _ = unsafe { self.gpu.functions().free_host(self.start.as_ptr().cast()) };
    }
}

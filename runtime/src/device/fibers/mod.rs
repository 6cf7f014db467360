//! `cpu-fibers`: kernels for GPUs on the processor, one fiber for each thread, with every access checked.
//!
//! It is there to find mistakes, not to be fast. Blocks run one after the other and threads in order of their numbers, each until it waits for
//! others, so that every run is the same. Before each access `checker` looks at what `shadow` remembers of the bytes; a thread
//! whose access is wrong never makes it. `docs/devices.md` says what is found.

#![allow(unsafe_code)]

mod abi;
mod block;
mod checker;
mod fault;
mod fiber;
mod memory;
mod module;
mod shadow;
mod stream;

use std::sync::Arc;
use std::time::Instant;

use super::driver::{Driver, DriverModule, DriverStream, Opener, RawMemory};
use super::select::Found;
use super::{Backend, DeviceInfo, DeviceKind, Limits, Result};
use memory::SharedHeap;

pub use fault::FaultKind;

/// The name of the one device.
pub(super) const NAME: &str = "cpu-fibers";

/// Bytes that a block's arrays may have: more than any GPU gives.
const SHARED_BYTES: u32 = 1 << 20;

/// Threads of a block, as of other devices.
const THREADS: u32 = 1024;

/// An opened device.
struct Fibers {
    info: DeviceInfo,
    heap: SharedHeap,
    opened: Instant,
}

struct Closed(DeviceInfo);

/// The device, which every machine has.
pub(super) fn find() -> Found {
    let info = info();
    Found { info: info.clone(), index: 0, problem: None, opener: Box::new(Closed(info)) }
}

fn info() -> DeviceInfo {
    let memory_bytes = memory_of_machine();
    DeviceInfo {
        backend: Backend::Fibers,
        name: NAME.to_owned(),
        kind: DeviceKind::Cpu,
        driver: format!("sutura {}", env!("CARGO_PKG_VERSION")),
        api: format!("fibers {}", abi::VERSION),
        target: NAME.to_owned(),
        limits: Limits {
            threads_per_group: THREADS,
            groups: i32::MAX as u32,
            shared_bytes_per_group: SHARED_BYTES,
            subgroup: 32,
            subgroup_range: (1, 128),
            units: Some(1),
            memory_bytes,
            allocation_bytes: memory_bytes,
        },
        features: ["float64", "int16", "int8", "subgroup-shuffle", "subgroup-shuffle-relative"].into(),
    }
}

/// Bytes of the machine's memory, for which it has to do what a process has.
fn memory_of_machine() -> u64 {
    // SAFETY: the function only reads.
    let (pages, size) = unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), libc::sysconf(libc::_SC_PAGESIZE)) };
    match (u64::try_from(pages), u64::try_from(size)) {
        (Ok(pages), Ok(size)) if pages > 0 => pages.saturating_mul(size),
        _ => 1 << 30,
    }
}

impl Opener for Closed {
    fn open(&self) -> Result<Box<dyn Driver>> {
        Ok(Box::new(Fibers { info: self.0.clone(), heap: Arc::default(), opened: Instant::now() }))
    }
}

impl Driver for Fibers {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn allocate(&self, bytes: u64) -> Result<RawMemory> {
        memory::allocate(&self.heap, &self.info, bytes)
    }

    fn load(&self, binary: &[u8]) -> Result<Box<dyn DriverModule>> {
        Ok(Box::new(module::load(&self.info, binary)?))
    }

    fn stream(&self) -> Result<Box<dyn DriverStream>> {
        Ok(Box::new(stream::Stream::new(self.info.name.clone(), self.heap.clone(), self.opened)))
    }
}

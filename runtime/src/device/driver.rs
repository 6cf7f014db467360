//! What a backend implements. Everything that can be checked without it was checked before: ranges, owners, limits of
//! launches, sizes of zero.

#![allow(unsafe_code)]

use std::sync::Arc;
use std::time::Duration;

use super::buffer::Memory;
use super::error::DeviceError;
use super::graph::{Command, GraphState};
use super::module::{KernelInfo, KernelOptions, KernelState};
use super::stream::EventCell;
use super::{DeviceInfo, Result};

/// An opened device.
pub(crate) trait Driver: Send + Sync {
    fn info(&self) -> &DeviceInfo;

    /// Memory of the device of at least `bytes` bytes, which are not 0, at an address aligned to [`super::ALIGNMENT`].
    /// For memory that is used up the error is [`DeviceError::OutOfMemory`], whose `allocated` the caller fills in.
    fn allocate(&self, bytes: u64) -> Result<RawMemory>;

    /// Loads code; checks that the device can run it.
    fn load(&self, binary: &[u8]) -> Result<Box<dyn DriverModule>>;

    fn stream(&self) -> Result<Box<dyn DriverStream>>;

    /// How many groups of a kernel a multiprocessor has at once, where the driver can tell.
    fn resident_groups(&self, _kernel: &KernelState, _dynamic_shared: u32) -> Result<Option<u32>> {
        Ok(None)
    }
}

/// Memory of a device, freed by dropping the owner.
pub(crate) struct RawMemory {
    /// The address that kernels use.
    pub(crate) address: u64,
    /// What the backend calls it, where that is not the address.
    pub(crate) handle: u64,
    /// Bytes of what `handle` names before `address`.
    pub(crate) skip: u64,
    pub(crate) _owner: Box<dyn Send + Sync>,
}

/// Loaded code.
pub(crate) trait DriverModule: Send + Sync {
    fn kernels(&self) -> &[KernelInfo];

    /// Makes kernel `index` of [`Self::kernels`] ready to be launched.
    fn kernel(&self, index: usize, options: &KernelOptions) -> Result<RawKernel>;
}

/// A kernel that is ready to be launched.
pub(crate) struct RawKernel {
    /// What the backend calls it.
    pub(crate) handle: u64,
    pub(crate) _owner: Box<dyn Send + Sync>,
}

/// A queue of work that is done in order: what is enqueued later sees everything that was enqueued before as done.
///
/// Memory and kernels that it is given stay alive until the work is done.
pub(crate) trait DriverStream: Send {
    /// Enqueues a copy of `bytes`, which may be changed as soon as this returns.
    fn upload(&mut self, to: &Arc<Memory>, offset: u64, bytes: &[u8]) -> Result<()>;

    /// Waits for everything enqueued, then for the copy.
    fn download(&mut self, from: &Arc<Memory>, offset: u64, bytes: &mut [u8]) -> Result<()>;

    /// Enqueues a copy. The ranges do not overlap.
    fn copy(&mut self, from: (&Arc<Memory>, u64), to: (&Arc<Memory>, u64), bytes: u64) -> Result<()>;

    /// What the backend has against a launch, beyond what was checked for all.
    fn check_launch(&self, _kernel: &Arc<KernelState>, _launch: &Launch, _arguments: &[u64]) -> Result<()> {
        Ok(())
    }

    /// Enqueues a launch of 1 group or more, which was checked.
    ///
    /// # Safety
    /// As of [`super::Stream::launch`].
    unsafe fn launch(&mut self, kernel: &Arc<KernelState>, launch: &Launch, arguments: &[u64]) -> Result<()>;

    /// Enqueues that the time is taken.
    fn record(&mut self, event: &Arc<EventCell>) -> Result<()>;

    /// Waits for everything enqueued; then events have their times.
    fn synchronize(&mut self) -> Result<()>;

    /// Makes a graph of work that was checked, which is not enqueued. None where the driver has no graphs; then it is
    /// enqueued by one call after the other.
    fn instantiate(&mut self, _work: &[Command]) -> Result<Option<RawGraph>> {
        Ok(None)
    }

    /// Enqueues a graph, which is to be kept until it is done.
    ///
    /// # Safety
    /// As of [`super::Stream::replay`].
    unsafe fn launch_graph(&mut self, graph: &Arc<GraphState>) -> Result<()> {
        graph.work.iter().try_for_each(|command| match command {
            // SAFETY: the caller's promise.
            Command::Launch { kernel, launch, arguments } => unsafe { self.launch(kernel, launch, arguments) },
            Command::Copy { from, to, bytes } => self.copy((&from.0, from.1), (&to.0, to.1), *bytes),
        })
    }
}

/// Recorded work that the driver has as a graph.
pub(crate) struct RawGraph {
    /// What the backend calls it.
    pub(crate) handle: u64,
    pub(crate) _owner: Box<dyn Send + Sync>,
}

/// An event of a driver that has no clock to be read, only differences.
pub(crate) trait DriverEvent: Send + Sync {
    /// What the backend calls it.
    fn handle(&self) -> u64;

    /// The time from another event of the same device to this one; both are done.
    fn since(&self, start: &dyn DriverEvent) -> Option<Duration>;
}

/// How large a launch is.
pub(crate) struct Launch {
    pub(crate) groups: u32,
    pub(crate) dynamic_shared: u32,
}

/// An error of memory that is used up, to be completed by the caller.
pub(crate) fn out_of_memory(info: &DeviceInfo, bytes: u64) -> DeviceError {
    DeviceError::OutOfMemory { device: info.name.clone(), bytes, allocated: 0, total: info.limits.memory_bytes }
}

/// A device that was found and can be opened.
pub(crate) trait Opener: Send + Sync {
    fn open(&self) -> Result<Box<dyn Driver>>;
}

//! Work in order: it is done at once, on the thread that asks for it.

#![allow(unsafe_code)]

use std::sync::Arc;
use std::time::Instant;

use super::block::{Stacks, Stopped, run};
use super::memory::{SharedHeap, lock};
use super::module::FiberKernel;
use crate::device::buffer::Memory;
use crate::device::driver::{DriverStream, Launch};
use crate::device::module::KernelState;
use crate::device::stream::{EventCell, Time};
use crate::device::{DeviceError, Result};

pub(super) struct Stream {
    device: String,
    heap: SharedHeap,
    stacks: Stacks,
    begun: Instant,
    /// What went wrong. What kernels should have written is missing then, so nothing that comes later can be right.
    failed: Option<DeviceError>,
}

impl Stream {
    pub(super) fn new(device: String, heap: SharedHeap, begun: Instant) -> Self {
        Self { device, heap, stacks: Stacks::new(), begun, failed: None }
    }

    fn check(&self) -> Result<()> {
        self.failed.as_ref().map_or(Ok(()), |error| Err(error.clone()))
    }

    fn stopped(&self, kernel: &str, stopped: Stopped) -> DeviceError {
        let (device, kernel) = (self.device.clone(), kernel.to_owned());
        let failed = |call: &str, result| DeviceError::Driver { device: device.clone(), call: call.to_owned(), result };
        match stopped {
            Stopped::Fault(fault) => DeviceError::Fault { device, kernel, kind: fault.kind, text: fault.text },
            Stopped::NoMemory(error) => failed("making stacks for threads", error.to_string()),
            Stopped::Intervals => failed("running a kernel", "it has too many barriers to keep apart".to_owned()),
        }
    }
}

fn address(memory: &Memory) -> u64 {
    memory.raw().map_or(0, |raw| raw.address)
}

impl DriverStream for Stream {
    fn upload(&mut self, to: &Arc<Memory>, offset: u64, bytes: &[u8]) -> Result<()> {
        self.check()?;
        lock(&self.heap).upload(address(to), offset, bytes);
        Ok(())
    }

    fn download(&mut self, from: &Arc<Memory>, offset: u64, bytes: &mut [u8]) -> Result<()> {
        self.check()?;
        lock(&self.heap).download(address(from), offset, bytes);
        Ok(())
    }

    fn copy(&mut self, from: (&Arc<Memory>, u64), to: (&Arc<Memory>, u64), bytes: u64) -> Result<()> {
        self.check()?;
        lock(&self.heap).copy((address(from.0), from.1), (address(to.0), to.1), bytes);
        Ok(())
    }

    fn check_launch(&self, kernel: &Arc<KernelState>, launch: &Launch, arguments: &[u64]) -> Result<()> {
        let (device, name) = (|| self.device.clone(), || kernel.info.name.clone());
        if launch.dynamic_shared > 0 {
            let reason = "of fibers it is fixed in the library; compile the kernel with all that it needs".to_owned();
            let bytes = launch.dynamic_shared;
            return Err(DeviceError::DynamicShared { device: device(), kernel: name(), bytes, reason });
        }
        let (arguments, expected) = (arguments.len(), fiber_of(kernel).arguments);
        if arguments != expected {
            return Err(DeviceError::ArgumentCount { device: device(), kernel: name(), arguments, expected });
        }
        Ok(())
    }

    unsafe fn launch(&mut self, kernel: &Arc<KernelState>, launch: &Launch, arguments: &[u64]) -> Result<()> {
        self.check()?;
        let fiber = fiber_of(kernel);
        // SAFETY: the compiler's promise for the code; that the arguments are meant is the caller's.
        let ran = unsafe { run(fiber, launch.groups, arguments, &self.heap, &mut self.stacks) };
        ran.map_err(|stopped| {
            let error = self.stopped(&kernel.info.name, stopped);
            self.failed = Some(error.clone());
            error
        })
    }

    fn record(&mut self, event: &Arc<EventCell>) -> Result<()> {
        self.check()?;
        let ticks = u64::try_from(self.begun.elapsed().as_nanos()).unwrap_or(u64::MAX);
        // An event is recorded once.
        let _ = event.time.set(Time { ticks, mask: u64::MAX, nanoseconds_per_tick: 1.0 });
        Ok(())
    }

    fn synchronize(&mut self) -> Result<()> {
        self.check()
    }
}

/// The code of a kernel, which belongs to a device of fibers.
fn fiber_of(kernel: &KernelState) -> &FiberKernel {
    // SAFETY: the handle is the address of the kernel that its state owns.
    unsafe { &*std::ptr::with_exposed_provenance::<FiberKernel>(kernel.raw.handle as usize) }
}

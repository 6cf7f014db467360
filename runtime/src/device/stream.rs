//! Work on a device, in order.

#![allow(unsafe_code)]

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use super::buffer::Buffer;
use super::driver::{DriverEvent, DriverStream, Launch, RawGraph};
use super::error::DeviceError;
use super::graph::{Command, Graph};
use super::module::Kernel;
use super::{MAX_ARGUMENTS, Result, Shared};

/// A queue of work that is done in order: what is enqueued later sees everything before it as done. The work of two
/// streams has no order.
///
/// Functions enqueue and return, but for [`Self::download`] and [`Self::synchronize`], which wait. What is enqueued may
/// not begin before one of these. Dropping a stream waits for its work.
pub struct Stream {
    queue: Box<dyn DriverStream>,
    /// What is recorded instead of being enqueued, between the begin and the end of a capture.
    capture: Option<Vec<Command>>,
    device: Arc<Shared>,
}

impl Stream {
    pub(super) fn new(device: &Arc<Shared>) -> Result<Self> {
        Ok(Self { queue: device.driver.stream()?, capture: None, device: device.clone() })
    }

    /// Enqueues that `bytes` are copied to the buffer, from `offset` on. They are read before this returns.
    pub fn upload(&mut self, to: &Buffer, offset: u64, bytes: &[u8]) -> Result<()> {
        to.check(&self.device, "upload to", offset, bytes.len() as u64)?;
        self.not_capturing("upload")?;
        if bytes.is_empty() { Ok(()) } else { self.queue.upload(to.memory(), offset, bytes) }
    }

    /// Waits for the stream's work, and copies bytes of the buffer from `offset` on.
    pub fn download(&mut self, from: &Buffer, offset: u64, bytes: &mut [u8]) -> Result<()> {
        from.check(&self.device, "download", offset, bytes.len() as u64)?;
        self.not_capturing("download")?;
        if bytes.is_empty() { self.synchronize() } else { self.queue.download(from.memory(), offset, bytes) }
    }

    /// Enqueues a copy of `bytes` bytes between buffers, from one's offset to the other's. Ranges of one buffer must
    /// not overlap.
    pub fn copy(&mut self, from: (&Buffer, u64), to: (&Buffer, u64), bytes: u64) -> Result<()> {
        from.0.check(&self.device, "copy", from.1, bytes)?;
        to.0.check(&self.device, "copy to", to.1, bytes)?;
        if bytes == 0 {
            return Ok(());
        }
        if Arc::ptr_eq(from.0.memory(), to.0.memory()) && from.1.abs_diff(to.1) < bytes {
            let (device, size) = (self.device.name(), from.0.bytes());
            return Err(DeviceError::Overlap { device, from: from.1, to: to.1, bytes, size });
        }
        let (from, to) = ((from.0.memory(), from.1), (to.0.memory(), to.1));
        if let Some(work) = &mut self.capture {
            work.push(Command::Copy { from: (from.0.clone(), from.1), to: (to.0.clone(), to.1), bytes });
            return Ok(());
        }
        self.queue.copy(from, to, bytes)
    }

    /// Enqueues a launch of `groups` groups; of 0 nothing is launched. `arguments` are the addresses of buffers, then
    /// sizes, as the kernel's binary interface says. Shared memory of the kernel grows by `dynamic_shared` bytes, on
    /// backends that can.
    ///
    /// # Safety
    /// The kernel must be made for these arguments: it accesses memory only within buffers of this device whose
    /// addresses it is given. Until the work is done, these live, and no other stream's work or copy touches what the
    /// kernel writes, or writes what it reads. A kernel must end.
    pub unsafe fn launch(
        &mut self,
        kernel: &Kernel,
        groups: u64,
        dynamic_shared: u32,
        arguments: &[u64],
    ) -> Result<()> {
        let state = kernel.state();
        let info = kernel.info();
        self.device.check_owner(&state.device, || format!("kernel `{}`", info.name))?;
        let limits = &self.device.driver.info().limits;
        let (device, name) = (|| self.device.name(), || info.name.clone());
        if arguments.len() > MAX_ARGUMENTS {
            let (arguments, limit) = (arguments.len(), MAX_ARGUMENTS);
            return Err(DeviceError::Arguments { device: device(), kernel: name(), arguments, limit });
        }
        let shared = u64::from(info.shared_bytes) + u64::from(dynamic_shared);
        if shared > u64::from(limits.shared_bytes_per_group) {
            let limit = limits.shared_bytes_per_group;
            return Err(DeviceError::SharedMemory { device: device(), kernel: name(), bytes: shared, limit });
        }
        let groups = u32::try_from(groups)
            .ok()
            .filter(|groups| *groups <= limits.groups)
            .ok_or_else(|| DeviceError::Grid { device: device(), kernel: name(), groups, limit: limits.groups })?;
        if groups == 0 {
            return Ok(());
        }
        let launch = Launch { groups, dynamic_shared };
        self.queue.check_launch(state, &launch, arguments)?;
        if let Some(work) = &mut self.capture {
            work.push(Command::Launch { kernel: state.clone(), launch, arguments: arguments.into() });
            return Ok(());
        }
        // SAFETY: the caller's promise.
        unsafe { self.queue.launch(state, &launch, arguments) }
    }

    /// Enqueues that the time is taken, when everything before is done and nothing after has begun.
    pub fn record(&mut self) -> Result<Event> {
        self.not_capturing("record an event")?;
        let cell = Arc::new(EventCell::default());
        self.queue.record(&cell)?;
        Ok(Event { cell, device: self.device.clone() })
    }

    /// Waits for everything enqueued.
    pub fn synchronize(&mut self) -> Result<()> {
        self.not_capturing("synchronize")?;
        self.queue.synchronize()
    }

    /// From here on launches and copies between buffers are recorded and not enqueued, until [`Self::end_capture`].
    pub fn begin_capture(&mut self) -> Result<()> {
        self.not_capturing("begin to capture")?;
        self.capture = Some(Vec::new());
        Ok(())
    }

    /// Makes a graph of what was recorded. It keeps the buffers that are given here; those that launches use by their
    /// addresses should be among them.
    pub fn end_capture(&mut self, uses: &[&Buffer]) -> Result<Graph> {
        let (work, raw) = self.end_recording(uses)?;
        Ok(Graph::new(&self.device, work, raw, uses))
    }

    /// The same, but a graph that the driver has does not keep the buffers that are copied. Whoever replays it sees to
    /// it that they are alive.
    pub(crate) fn end_capture_keeping(&mut self, uses: &[&Buffer]) -> Result<Graph> {
        let (mut work, raw) = self.end_recording(uses)?;
        if raw.is_some() {
            work.retain(|command| matches!(command, Command::Launch { .. }));
        }
        Ok(Graph::new(&self.device, work, raw, uses))
    }

    /// What was recorded, and the driver's graph of it.
    fn end_recording(&mut self, uses: &[&Buffer]) -> Result<(Vec<Command>, Option<RawGraph>)> {
        let Some(work) = self.capture.take() else {
            let state = "it captures nothing; begin a capture first";
            return Err(DeviceError::Capture { device: self.device.name(), action: "end a capture", state });
        };
        for buffer in uses {
            buffer.check(&self.device, "keep", 0, 0)?;
        }
        let raw = if work.is_empty() { None } else { self.queue.instantiate(&work)? };
        Ok((work, raw))
    }

    /// Ends a capture, if there is one, and forgets what was recorded.
    pub fn cancel_capture(&mut self) {
        self.capture = None;
    }

    /// Enqueues what a graph has recorded.
    ///
    /// # Safety
    /// As of each launch that it has recorded, now and with the arguments of then: buffers whose addresses it was given
    /// live until the work is done, as those do that the graph keeps.
    pub unsafe fn replay(&mut self, graph: &Graph) -> Result<()> {
        let state = graph.state();
        self.device.check_owner(&state.device, || "a graph".to_owned())?;
        self.not_capturing("replay a graph")?;
        if state.work.is_empty() && state.raw.is_none() {
            return Ok(());
        }
        // SAFETY: the caller's promise.
        unsafe { self.queue.launch_graph(state) }
    }

    fn not_capturing(&self, action: &'static str) -> Result<()> {
        if self.capture.is_none() {
            return Ok(());
        }
        let state = "it captures a graph, which takes launches and copies between buffers; end the capture first";
        Err(DeviceError::Capture { device: self.device.name(), action, state })
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Stream").field(&self.device.name()).finish()
    }
}

/// A moment in a stream's work.
#[derive(Clone)]
pub struct Event {
    cell: Arc<EventCell>,
    device: Arc<Shared>,
}

/// Where a backend puts the time of an event.
#[derive(Default)]
pub(crate) struct EventCell {
    pub(crate) time: OnceLock<Time>,
    /// Instead of a time, where the driver only knows differences.
    pub(crate) driver: OnceLock<Arc<dyn DriverEvent>>,
}

/// A time on a device's clock.
#[derive(Clone, Copy)]
pub(crate) struct Time {
    pub(crate) ticks: u64,
    /// Bits that count; after the greatest number that they can hold the clock begins with 0 again.
    pub(crate) mask: u64,
    pub(crate) nanoseconds_per_tick: f64,
}

impl Event {
    /// The device's time from `start` to this event. None before the streams of both were synchronized, and for events
    /// of different devices.
    pub fn since(&self, start: &Self) -> Option<Duration> {
        if !Arc::ptr_eq(&self.device, &start.device) {
            return None;
        }
        if let (Some(start), Some(end)) = (start.cell.driver.get(), self.cell.driver.get()) {
            return end.since(&**start);
        }
        let (start, end) = (start.cell.time.get()?, self.cell.time.get()?);
        let ticks = end.ticks.wrapping_sub(start.ticks) & end.mask;
        let seconds = ticks as f64 * end.nanoseconds_per_tick * 1e-9;
        Duration::try_from_secs_f64(seconds).ok()
    }
}

impl fmt::Debug for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ticks = self.cell.time.get().map(|time| time.ticks);
        f.debug_tuple("Event").field(&ticks).finish()
    }
}

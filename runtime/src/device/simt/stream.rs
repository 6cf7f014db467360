//! A stream of the driver, with everything that its work uses until it is done.

#![allow(unsafe_code)]

use std::collections::VecDeque;
use std::ffi::{c_uint, c_void};
use std::sync::Arc;
use std::time::Duration;

use super::Gpu;
use super::api::{Failure, Handle, NOT_READY};
use super::graph;
use super::module::Launchable;
use super::ring::{Ring, SLOT_BYTES, SLOTS};
use crate::device::buffer::Memory;
use crate::device::driver::{DriverEvent, DriverStream, Launch, RawGraph};
use crate::device::graph::{Command, GraphState};
use crate::device::module::KernelState;
use crate::device::stream::EventCell;
use crate::device::{DeviceError, Result};

/// The stream does not wait for what others enqueue on the default stream: `CU_STREAM_NON_BLOCKING`, which is
/// `hipStreamNonBlocking`.
const NON_BLOCKING: c_uint = 1;
/// `CU_EVENT_DISABLE_TIMING`, which is `hipEventDisableTiming`.
const WITHOUT_TIME: c_uint = 2;
/// Things to be kept between two marks.
const MARK_EVERY: usize = 256;

/// An event of the driver.
struct RawEvent {
    gpu: Arc<Gpu>,
    handle: Handle,
}

impl RawEvent {
    fn new(gpu: &Arc<Gpu>, flags: c_uint) -> Result<Self> {
        let _entered = gpu.enter()?;
        let mut handle = 0;
        // SAFETY: the device is current, and the pointer is valid.
        unsafe { gpu.functions().create_event(&raw mut handle, flags) }.map_err(|failure| gpu.error(failure))?;
        Ok(Self { gpu: gpu.clone(), handle })
    }

    fn record(&self, stream: Handle) -> Result<()> {
        let _entered = self.gpu.enter()?;
        // SAFETY: both are alive, and of this device.
        unsafe { self.gpu.functions().record_event(self.handle, stream) }.map_err(|failure| self.gpu.error(failure))
    }
}

impl Drop for RawEvent {
    fn drop(&mut self) {
        let Ok(_entered) = self.gpu.enter() else { return };
        // SAFETY: it is alive; drivers allow that it was recorded and is not done.
        let _ = unsafe { self.gpu.functions().destroy_event(self.handle) };
    }
}

/// A place in a stream's work, to wait for.
pub(super) struct Mark(RawEvent);

impl Mark {
    pub(super) fn new(gpu: &Arc<Gpu>) -> Result<Self> {
        RawEvent::new(gpu, WITHOUT_TIME).map(Self)
    }

    pub(super) fn record(&self, _: &Gpu, stream: Handle) -> Result<()> {
        self.0.record(stream)
    }

    pub(super) fn wait(&self, gpu: &Gpu) -> Result<()> {
        let _entered = gpu.enter()?;
        // SAFETY: the event is alive.
        unsafe { gpu.functions().synchronize_event(self.0.handle) }.map_err(|failure| gpu.error(failure))
    }

    fn is_done(&self, gpu: &Gpu) -> Result<bool> {
        let _entered = gpu.enter()?;
        // SAFETY: the event is alive.
        match unsafe { gpu.functions().query_event(self.0.handle) } {
            Ok(()) => Ok(true),
            Err(Failure { status: NOT_READY, .. }) => Ok(false),
            Err(failure) => Err(gpu.error(failure)),
        }
    }
}

/// An event with a time.
struct Timed(RawEvent);

impl DriverEvent for Timed {
    fn handle(&self) -> u64 {
        self.0.handle
    }

    fn since(&self, start: &dyn DriverEvent) -> Option<Duration> {
        let gpu = &self.0.gpu;
        let _entered = gpu.enter().ok()?;
        let mut milliseconds = 0.0;
        // SAFETY: both events are alive, and of this device, as the caller checked; the pointer is valid.
        unsafe { gpu.functions().elapsed(&raw mut milliseconds, start.handle(), self.0.handle) }.ok()?;
        Duration::try_from_secs_f64(f64::from(milliseconds) * 1e-3).ok()
    }
}

type Kept = Vec<Arc<dyn Send + Sync>>;

pub(super) struct Stream {
    gpu: Arc<Gpu>,
    handle: Handle,
    ring: Ring,
    /// What work after the last mark uses.
    keep: Kept,
    /// What earlier work uses, which is done at the mark; the oldest first.
    marks: VecDeque<(Mark, Kept)>,
    /// Events that get their time when the stream is synchronized.
    events: Vec<(Arc<EventCell>, Arc<Timed>)>,
    /// What went wrong. Work was lost then, so nothing that comes later can be right.
    failed: Option<DeviceError>,
}

impl Stream {
    pub(super) fn new(gpu: &Arc<Gpu>) -> Result<Self> {
        let _entered = gpu.enter()?;
        let mut handle = 0;
        // SAFETY: the device is current, and the pointer is valid.
        let made = unsafe { gpu.functions().create_stream(&raw mut handle, NON_BLOCKING) };
        made.map_err(|failure| gpu.error(failure))?;
        Ok(Self {
            gpu: gpu.clone(),
            handle,
            ring: Ring::default(),
            keep: Vec::new(),
            marks: VecDeque::new(),
            events: Vec::new(),
            failed: None,
        })
    }

    fn check_alive(&self) -> Result<()> {
        self.failed.as_ref().map_or(Ok(()), |error| Err(error.clone()))
    }

    /// Remembers an error after which work is lost.
    fn note<T>(&mut self, result: Result<T>) -> Result<T> {
        if let Err(error) = &result {
            self.failed = Some(error.clone());
        }
        result
    }

    /// Does something that enqueues, unless the stream has failed.
    fn enqueue(&mut self, action: impl FnOnce(&mut Self) -> Result<(), Failure>) -> Result<()> {
        self.check_alive()?;
        let gpu = self.gpu.clone();
        let _entered = gpu.enter()?;
        let done = action(self).map_err(|failure| gpu.error(failure));
        self.note(done)
    }

    /// Keeps something until all work so far is done.
    fn keep(&mut self, all: impl IntoIterator<Item = Arc<dyn Send + Sync>>) -> Result<()> {
        for what in all {
            // A kernel that is launched again and again is kept once.
            if !self.keep.last().is_some_and(|last| Arc::ptr_eq(last, &what)) {
                self.keep.push(what);
            }
        }
        if self.keep.len() < MARK_EVERY {
            return Ok(());
        }
        let marked = self.mark();
        self.note(marked)
    }

    fn mark(&mut self) -> Result<()> {
        let mark = Mark::new(&self.gpu)?;
        mark.record(&self.gpu, self.handle)?;
        self.marks.push_back((mark, std::mem::take(&mut self.keep)));
        while let Some((mark, _)) = self.marks.front()
            && mark.is_done(&self.gpu)?
        {
            self.marks.pop_front();
        }
        Ok(())
    }

    /// Enqueues a copy from one to the other, which are to be kept.
    fn enqueue_copy(&self, from: (&Memory, u64), to: (&Memory, u64), bytes: u64) -> Result<(), Failure> {
        let (from, to) = (address(from.0) + from.1, address(to.0) + to.1);
        // SAFETY: the device is current; ranges were checked before.
        unsafe { self.gpu.functions().copy_on_device(to, from, size(bytes), self.handle) }
    }

    /// Enqueues a launch of a kernel, which is to be kept.
    ///
    /// # Safety
    /// As of [`DriverStream::launch`].
    unsafe fn enqueue_launch(&self, kernel: &KernelState, launch: &Launch, arguments: &[u64]) -> Result<(), Failure> {
        // SAFETY: the kernel belongs to this device, so to this backend.
        let launchable = unsafe { Launchable::of(kernel) };
        let [x, y, z] = launchable.size;
        // The driver reads each argument by its own pointer, and writes none of them.
        let mut pointers: Vec<*mut c_void> =
            arguments.iter().map(|argument| std::ptr::from_ref(argument).cast_mut().cast()).collect();
        // SAFETY: the device is current; the function is alive; there are as many arguments as it has, which `check` said.
        // What it does with them is the caller's promise.
        unsafe {
            self.gpu.functions().launch(
                launchable.function(),
                launch.groups,
                1,
                1,
                x,
                y,
                z,
                launch.dynamic_shared,
                self.handle,
                pointers.as_mut_ptr(),
                std::ptr::null_mut(),
            )
        }
    }

    /// Enqueues recorded work, whose parts are to be kept.
    fn enqueue_all(&self, work: &[Command]) -> Result<(), Failure> {
        work.iter().try_for_each(|command| match command {
            // SAFETY: whoever replays the graph promises what `launch` asks for.
            Command::Launch { kernel, launch, arguments } => unsafe { self.enqueue_launch(kernel, launch, arguments) },
            Command::Copy { from, to, bytes } => self.enqueue_copy((&from.0, from.1), (&to.0, to.1), *bytes),
        })
    }

    fn write_in_pieces(&mut self, to: &Memory, mut offset: u64, bytes: &[u8]) -> Result<()> {
        for piece in bytes.chunks(SLOT_BYTES) {
            let place = self.ring.reserve(&self.gpu, self.handle, piece.len())?;
            self.ring.write(place, piece);
            let (pointer, address) = (self.ring.pointer(place).as_ptr().cast_const().cast(), address(to) + offset);
            self.enqueue(|stream| {
                // SAFETY: the device is current; the range was checked before, and the piece is as large.
                unsafe { stream.gpu.functions().copy_to_device(address, pointer, piece.len(), stream.handle) }
            })?;
            offset += piece.len() as u64;
        }
        Ok(())
    }

    fn read_in_pieces(&mut self, from: &Memory, mut offset: u64, bytes: &mut [u8]) -> Result<()> {
        let mut pending = VecDeque::new();
        for piece in bytes.chunks_mut(SLOT_BYTES) {
            // The slot that `reserve` goes on to must not wait for being read.
            if pending.len() + 1 >= SLOTS
                && let Some((place, target)) = pending.pop_front()
            {
                self.ring.wait_for(&self.gpu, place)?;
                self.ring.read(place, target);
            }
            let length = piece.len();
            let place = self.ring.reserve(&self.gpu, self.handle, length)?;
            let (pointer, address) = (self.ring.pointer(place).as_ptr().cast(), address(from) + offset);
            self.enqueue(|stream| {
                // SAFETY: the device is current; the range was checked before, and the piece is as large.
                unsafe { stream.gpu.functions().copy_to_host(pointer, address, length, stream.handle) }
            })?;
            if length == SLOT_BYTES {
                self.ring.leave(&self.gpu, self.handle)?;
            }
            pending.push_back((place, piece));
            offset += length as u64;
        }
        self.synchronize()?;
        pending.into_iter().for_each(|(place, target)| self.ring.read(place, target));
        Ok(())
    }
}

impl DriverStream for Stream {
    fn upload(&mut self, to: &Arc<Memory>, offset: u64, bytes: &[u8]) -> Result<()> {
        self.check_alive()?;
        let written = self.write_in_pieces(to, offset, bytes);
        // Where it fails, the pieces before are still copied.
        let kept = self.keep([to.clone() as _]);
        written.and(kept)
    }

    fn download(&mut self, from: &Arc<Memory>, offset: u64, bytes: &mut [u8]) -> Result<()> {
        self.check_alive()?;
        // Until this returns the memory is alive, and where it fails before it waited, it is kept.
        let read = self.read_in_pieces(from, offset, bytes);
        if read.is_err() {
            self.keep.push(from.clone());
        }
        read
    }

    fn copy(&mut self, from: (&Arc<Memory>, u64), to: (&Arc<Memory>, u64), bytes: u64) -> Result<()> {
        self.enqueue(|stream| stream.enqueue_copy((from.0, from.1), (to.0, to.1), bytes))?;
        self.keep([from.0.clone() as _, to.0.clone() as _])
    }

    fn check_launch(&self, kernel: &Arc<KernelState>, launch: &Launch, arguments: &[u64]) -> Result<()> {
        // SAFETY: the kernel belongs to this device, so to this backend.
        unsafe { Launchable::of(kernel) }.check(&self.gpu, &kernel.info, launch, arguments)
    }

    unsafe fn launch(&mut self, kernel: &Arc<KernelState>, launch: &Launch, arguments: &[u64]) -> Result<()> {
        // SAFETY: the caller's promise.
        self.enqueue(|stream| unsafe { stream.enqueue_launch(kernel, launch, arguments) })?;
        self.keep([kernel.clone() as _])
    }

    fn record(&mut self, event: &Arc<EventCell>) -> Result<()> {
        self.check_alive()?;
        let timed = RawEvent::new(&self.gpu, 0)?;
        let recorded = timed.record(self.handle);
        self.note(recorded)?;
        self.events.push((event.clone(), Arc::new(Timed(timed))));
        Ok(())
    }

    fn synchronize(&mut self) -> Result<()> {
        // SAFETY: the stream is alive.
        self.enqueue(|stream| unsafe { stream.gpu.functions().synchronize_stream(stream.handle) })?;
        self.keep.clear();
        self.marks.clear();
        for (cell, timed) in self.events.drain(..) {
            // An event is recorded once, so nothing is there.
            let _ = cell.driver.set(timed);
        }
        Ok(())
    }

    fn instantiate(&mut self, work: &[Command]) -> Result<Option<RawGraph>> {
        self.check_alive()?;
        let gpu = self.gpu.clone();
        let Some(functions) = gpu.vendor.graphs() else { return Ok(None) };
        let _entered = gpu.enter()?;
        graph::instantiate(&gpu, functions, self.handle, || self.enqueue_all(work)).map(Some)
    }

    unsafe fn launch_graph(&mut self, graph: &Arc<GraphState>) -> Result<()> {
        match &graph.raw {
            // SAFETY: the graph belongs to this device, so to this backend.
            Some(raw) => self.enqueue(|stream| unsafe { graph::launch(&stream.gpu, raw, stream.handle) })?,
            None => self.enqueue(|stream| stream.enqueue_all(&graph.work))?,
        }
        self.keep([graph.clone() as _])
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        let Ok(_entered) = self.gpu.enter() else { return };
        let functions = self.gpu.functions();
        // SAFETY: the stream is alive. What it keeps is dropped after its work; nobody is left to hear of an error.
        unsafe {
            let _ = functions.synchronize_stream(self.handle);
            let _ = functions.destroy_stream(self.handle);
        }
    }
}

/// Where memory begins. It has bytes, as no command is made for none.
fn address(memory: &Memory) -> u64 {
    memory.raw().map_or(0, |raw| raw.address)
}

fn size(bytes: u64) -> usize {
    usize::try_from(bytes).unwrap_or(usize::MAX)
}

//! Recorded work that the driver launches at once.

#![allow(unsafe_code)]

use std::ffi::c_int;
use std::sync::{Arc, Mutex, PoisonError};

use super::Gpu;
use super::api::{Failure, GraphFunctions, Handle};
use crate::device::Result;
use crate::device::driver::RawGraph;

/// Only what this thread does must not disturb a capture: `CU_STREAM_CAPTURE_MODE_THREAD_LOCAL`, which is
/// `hipStreamCaptureModeThreadLocal`.
const THREAD_LOCAL: c_int = 1;

/// A graph that can be launched.
struct Executable {
    gpu: Arc<Gpu>,
    /// Drivers let only one thread at a time use it.
    handle: Mutex<Handle>,
}

impl Drop for Executable {
    fn drop(&mut self) {
        let Ok(_entered) = self.gpu.enter() else { return };
        let handle = *self.handle.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(functions) = self.gpu.vendor.graphs() {
            // SAFETY: it is alive, and no launch of it is left: streams keep it until they are done.
            let _ = unsafe { functions.destroy_executable(handle) };
        }
    }
}

/// Makes a graph of what `enqueue` enqueues on a stream. The device is current.
pub(super) fn instantiate(
    gpu: &Arc<Gpu>,
    functions: &GraphFunctions,
    stream: Handle,
    enqueue: impl FnOnce() -> Result<(), Failure>,
) -> Result<RawGraph> {
    let failed = |failure| gpu.error(failure);
    // SAFETY: the stream is alive and captures nothing, as every capture ends below.
    unsafe { functions.begin_capture(stream, THREAD_LOCAL) }.map_err(failed)?;
    let enqueued = enqueue();
    let mut captured = 0;
    // SAFETY: as above; the pointer is valid.
    let ended = unsafe { functions.end_capture(stream, &raw mut captured) };
    let mut handle = 0;
    let made = enqueued.and(ended).and_then(|()| {
        // SAFETY: the graph was captured; the pointer is valid.
        unsafe { functions.instantiate(&raw mut handle, captured, 0) }
    });
    if captured != 0 {
        // SAFETY: the graph is alive, and what was made from it does not need it.
        let _ = unsafe { functions.destroy(captured) };
    }
    made.map_err(failed)?;
    let executable = Arc::new(Executable { gpu: gpu.clone(), handle: Mutex::new(handle) });
    Ok(RawGraph { handle: Arc::as_ptr(&executable) as u64, _owner: Box::new(executable) })
}

/// Enqueues a graph. The device is current.
///
/// # Safety
/// The graph was made by [`instantiate`] for this device. What its kernels do is the caller's promise.
pub(super) unsafe fn launch(gpu: &Gpu, graph: &RawGraph, stream: Handle) -> Result<(), Failure> {
    // SAFETY: the owner in `graph` keeps what the handle points to, which `instantiate` put there.
    let executable = unsafe { &*(graph.handle as *const Executable) };
    let Some(functions) = gpu.vendor.graphs() else { unreachable!("these functions made the graph") };
    let handle = executable.handle.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: the graph and the stream are alive, and the lock keeps other threads from the graph.
    unsafe { functions.launch(*handle, stream) }
}

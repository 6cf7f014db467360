//! What a model's runs did, for reports and tests.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts since a model was loaded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Successful runs.
    pub runs: u64,
    /// Inputs that were copied because their memory was not aligned to [`ALIGNMENT`](crate::abi::ALIGNMENT).
    pub staged_inputs: u64,
    /// Outputs that were copied for the same reason.
    pub staged_outputs: u64,
    /// Bytes copied for both.
    pub staged_bytes: u64,
    /// The largest workspace that a run needed, in bytes.
    pub workspace_peak_bytes: u64,
    /// Times that a workspace had to be allocated, because none that was free was large enough.
    pub workspace_allocations: u64,
    /// Kernel launches with at least one group.
    pub launches: u64,
    /// Those of them that were split among threads.
    pub parallel_launches: u64,
    /// Runs on a device whose launches were captured as a graph.
    pub captures: u64,
    /// Runs that the driver refused to capture; they were enqueued launch by launch, as those that came after.
    pub failed_captures: u64,
    /// Runs that were replays of a graph.
    pub replays: u64,
}

/// The same, while being counted.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) runs: AtomicU64,
    pub(crate) staged_inputs: AtomicU64,
    pub(crate) staged_outputs: AtomicU64,
    pub(crate) staged_bytes: AtomicU64,
    pub(crate) workspace_peak_bytes: AtomicU64,
    pub(crate) workspace_allocations: AtomicU64,
    pub(crate) launches: AtomicU64,
    pub(crate) parallel_launches: AtomicU64,
    pub(crate) captures: AtomicU64,
    pub(crate) failed_captures: AtomicU64,
    pub(crate) replays: AtomicU64,
}

impl Counters {
    pub(crate) fn add(counter: &AtomicU64, amount: usize) {
        counter.fetch_add(amount as u64, Ordering::Relaxed);
    }

    pub(crate) fn read(&self) -> Stats {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Stats {
            runs: read(&self.runs),
            staged_inputs: read(&self.staged_inputs),
            staged_outputs: read(&self.staged_outputs),
            staged_bytes: read(&self.staged_bytes),
            workspace_peak_bytes: read(&self.workspace_peak_bytes),
            workspace_allocations: read(&self.workspace_allocations),
            launches: read(&self.launches),
            parallel_launches: read(&self.parallel_launches),
            captures: read(&self.captures),
            failed_captures: read(&self.failed_captures),
            replays: read(&self.replays),
        }
    }
}

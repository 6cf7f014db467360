//! Work that is recorded once and done again and again.

use std::fmt;
use std::sync::Arc;

use super::Shared;
use super::buffer::{Buffer, Memory};
use super::driver::{Launch, RawGraph};
use super::module::KernelState;

/// Launches and copies between buffers, recorded by [`super::Stream::begin_capture`]; [`super::Stream::replay`] enqueues
/// them as they were recorded, with the same arguments. Where the driver has graphs that costs about as much as one launch;
/// elsewhere they are enqueued one by one. Clones are the same graph.
///
/// It keeps the kernels, the buffers that are copied, and those that [`super::Stream::end_capture`] was given: a pool does
/// not reuse them while the graph lives.
#[derive(Clone)]
pub struct Graph {
    state: Arc<GraphState>,
}

/// What a graph and the streams that replay it share.
pub(crate) struct GraphState {
    /// The driver's own graph of the work, if it has graphs. It goes before what it uses.
    pub(crate) raw: Option<RawGraph>,
    pub(crate) work: Vec<Command>,
    pub(super) device: Arc<Shared>,
    _uses: Vec<Arc<Memory>>,
}

/// A piece of recorded work, with what it uses.
pub(crate) enum Command {
    Launch { kernel: Arc<KernelState>, launch: Launch, arguments: Box<[u64]> },
    Copy { from: (Arc<Memory>, u64), to: (Arc<Memory>, u64), bytes: u64 },
}

impl Graph {
    pub(super) fn new(device: &Arc<Shared>, work: Vec<Command>, raw: Option<RawGraph>, uses: &[&Buffer]) -> Self {
        let uses = uses.iter().map(|buffer| buffer.memory().clone()).collect();
        Self { state: Arc::new(GraphState { raw, work, device: device.clone(), _uses: uses }) }
    }

    pub(super) fn state(&self) -> &Arc<GraphState> {
        &self.state
    }

    /// How many launches and copies it is.
    pub fn commands(&self) -> usize {
        self.state.work.len()
    }

    /// Whether the driver has it as a graph of its own.
    pub fn is_native(&self) -> bool {
        self.state.raw.is_some()
    }
}

impl fmt::Debug for Graph {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Graph({} commands, native: {})", self.commands(), self.is_native())
    }
}

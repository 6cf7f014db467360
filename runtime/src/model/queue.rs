//! Where the runs of models are enqueued on a device: a stream, with the memory and the graphs of its runs.

#![allow(unsafe_code)]

use super::Inner;
use super::graphs::{Entry, Graphs, Key};
use super::on_device::{Buffers, Enqueued, LaunchTime, OnDevice, Until};
use super::reports::Reports;
use super::run::WrongData;
use crate::device::{Buffer, Device, DeviceError, Pool, Stream};
use crate::error::{Error, Result};
use crate::stats::Counters;

/// A run of one launch costs as much as a graph of it.
const FEWEST_LAUNCHES: usize = 2;

/// Runs come one after the other. The fields are dropped in order: the stream waits for its work before memory goes.
pub(super) struct Queue {
    stream: Stream,
    graphs: Graphs,
    /// Of one run at a time. Its address is part of what launches depend on, so it stays until it is too small.
    workspace: Option<Buffer>,
    /// Where kernels report wrong data, once a model was run that looks for it.
    reports: Option<Reports>,
    pool: Pool,
    /// What the driver said when it last refused to capture a run.
    why_not: Option<DeviceError>,
    /// Launches whose times were not known yet.
    times: Vec<LaunchTime>,
}

impl Queue {
    pub(super) fn new(device: &Device) -> Result<Self, DeviceError> {
        let (stream, pool) = (device.stream()?, device.pool());
        Ok(Self {
            stream,
            graphs: Graphs::default(),
            workspace: None,
            reports: None,
            pool,
            why_not: None,
            times: Vec::new(),
        })
    }

    pub(super) fn why_not_captured(&self) -> Option<&DeviceError> {
        self.why_not.as_ref()
    }

    pub(super) fn stream(&mut self) -> &mut Stream {
        &mut self.stream
    }

    /// Waits for everything enqueued.
    pub(super) fn synchronize(&mut self) -> Result<(), DeviceError> {
        self.stream.synchronize()?;
        self.times.drain(..).for_each(LaunchTime::settle);
        Ok(())
    }

    /// Memory for tensors of this queue's runs. What waits for reuse is freed, when there is none left, only after the
    /// work that may still use it.
    pub(super) fn allocate(&mut self, bytes: u64) -> Result<Buffer, DeviceError> {
        match self.pool.allocate_keeping(bytes) {
            Err(DeviceError::OutOfMemory { .. }) => {
                self.graphs.clear();
                self.synchronize()?;
                self.pool.trim();
                self.pool.allocate_keeping(bytes)
            }
            other => other,
        }
    }

    /// Gives memory that no tensor has back to the device.
    pub(super) fn release_memory(&mut self) -> Result<(), DeviceError> {
        self.graphs.clear();
        self.workspace = None;
        self.synchronize()?;
        self.pool.trim();
        Ok(())
    }

    fn reserve(&mut self, bytes: u64) -> Result<(), DeviceError> {
        if self.workspace.as_ref().is_none_or(|workspace| workspace.bytes() < bytes) {
            // No graph will find its workspace again.
            self.graphs.clear();
            self.workspace = None;
            self.workspace = Some(self.allocate(bytes)?);
        }
        Ok(())
    }

    /// Enqueues a run. The buffers have the sizes that the solved shapes imply, and belong to this queue. Of a model
    /// that checks data the run is over when this returns.
    pub(super) fn run(
        &mut self,
        (model, inner): (&OnDevice, &Inner),
        symbols: &[i64],
        (inputs, outputs): (&[&Buffer], &[&Buffer]),
        workspace_bytes: usize,
    ) -> Result<()> {
        self.reserve(workspace_bytes as u64)?;
        if inner.artifact.manifest().data_checks.is_empty() {
            return self.enqueue((model, inner), symbols, (inputs, outputs), Until::Reported).map(drop);
        }
        if self.reports.is_none() {
            self.reports = Some(Reports::new(model.device())?);
        }
        if let Some(reports) = &self.reports {
            reports.clear(&mut self.stream)?;
        }
        let ended = self.enqueue((model, inner), symbols, (inputs, outputs), Until::Reported)?;
        if self.wrong_data()?.is_none() {
            return Ok(());
        }
        // Now that it is known which report comes first, it is made in full, by a run that goes as far.
        self.enqueue((model, inner), symbols, (inputs, outputs), Until::Look(ended))?;
        match self.wrong_data()? {
            Some(wrong) => Err(inner.wrong_data(wrong)),
            None => Err(Error::Contract("it reports wrong data and then does not".to_owned())),
        }
    }

    /// Waits for everything enqueued: what the last run reported.
    fn wrong_data(&mut self) -> Result<Option<WrongData>, DeviceError> {
        self.synchronize()?;
        self.reports.as_ref().map_or(Ok(None), |reports| reports.read(&mut self.stream))
    }

    /// Enqueues a run; the number of the look at a condition at which it ended, if it did so before its end.
    fn enqueue(
        &mut self,
        (model, inner): (&OnDevice, &Inner),
        symbols: &[i64],
        (inputs, outputs): (&[&Buffer], &[&Buffer]),
        until: Until,
    ) -> Result<Option<usize>> {
        let counters = &inner.counters;
        let Self { stream, graphs, workspace, reports, why_not, times, .. } = self;
        let Some(workspace) = workspace else { unreachable!("it was reserved") };
        let buffers = Buffers { inputs, outputs, workspace, reports: reports.as_ref() };
        if inner.profile.is_some() {
            let done = model.enqueue(stream, inner, symbols, (&buffers, until), Some(times))?;
            Counters::add(&counters.launches, done.launches);
            return Ok(done.ended());
        }
        if !inner.options.graphs || !model.info().features.contains("graphs") {
            return enqueue(stream, (model, inner), symbols, (&buffers, until)).map(Enqueued::ended);
        }
        let addresses = buffers.all().map(Buffer::address).collect();
        let key = Key { model: model.number, symbols: symbols.to_vec(), addresses };
        match graphs.find(&key) {
            None => {
                let done = enqueue(stream, (model, inner), symbols, (&buffers, until))?;
                // What a run does that looks at a condition is not what another one does.
                let plain = done.launches < FEWEST_LAUNCHES || done.looks > 0;
                graphs.add(key, if plain { Entry::Plain } else { Entry::Seen });
                return Ok(done.ended());
            }
            Some(Entry::Plain) => {
                return enqueue(stream, (model, inner), symbols, (&buffers, until)).map(Enqueued::ended);
            }
            Some(entry @ Entry::Seen) => {
                *entry = Entry::Plain;
                if let Some(refused) = capture(stream, entry, (model, inner), symbols, &buffers)? {
                    *why_not = Some(refused);
                    Counters::add(&counters.failed_captures, 1);
                    return enqueue(stream, (model, inner), symbols, (&buffers, until)).map(Enqueued::ended);
                }
                Counters::add(&counters.captures, 1);
            }
            Some(Entry::Captured { .. }) => {}
        }
        let Some(Entry::Captured { graph, launches }) = graphs.find(&key) else { unreachable!("it was captured") };
        // SAFETY: the key says that the launches are those of a run with these buffers, which are as large as then,
        // since sizes are part of the key. They live until the work is done, as those of any run of this queue.
        unsafe { stream.replay(graph)? };
        Counters::add(&counters.launches, *launches);
        Counters::add(&counters.replays, 1);
        Ok(None)
    }
}

impl Enqueued {
    /// The number of the look at which the run ended before its end.
    fn ended(self) -> Option<usize> {
        self.stopped.then_some(self.looks)
    }
}

/// Enqueues a run launch by launch.
fn enqueue(
    stream: &mut Stream,
    (model, inner): (&OnDevice, &Inner),
    symbols: &[i64],
    buffers: (&Buffers<'_>, Until),
) -> Result<Enqueued> {
    let done = model.enqueue(stream, inner, symbols, buffers, None)?;
    Counters::add(&inner.counters.launches, done.launches);
    Ok(done)
}

/// Captures a run into `entry`. Where the driver refuses, that is returned, and the stream is as before.
fn capture(
    stream: &mut Stream,
    entry: &mut Entry,
    (model, inner): (&OnDevice, &Inner),
    symbols: &[i64],
    buffers: &Buffers<'_>,
) -> Result<Option<DeviceError>> {
    stream.begin_capture()?;
    let run = model.enqueue(stream, inner, symbols, (buffers, Until::Reported), None);
    let launches = run.inspect_err(|_| stream.cancel_capture())?.launches;
    // Tensors are the caller's, who may free them: the graph is replayed only when they are given again. What it kept
    // could not be reused, and so would never be given again.
    let kept: Vec<&Buffer> = model.constants().iter().chain([buffers.workspace]).collect();
    match stream.end_capture_keeping(&kept) {
        Ok(graph) => *entry = Entry::Captured { graph, launches },
        Err(error @ (DeviceError::Crashed { .. } | DeviceError::Lost { .. })) => return Err(Error::Device(error)),
        Err(refused) => return Ok(Some(refused)),
    }
    Ok(None)
}

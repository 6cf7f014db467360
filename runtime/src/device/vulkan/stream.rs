//! Work in order: commands are gathered in batches, a few of which the device may have at a time.

#![allow(unsafe_code)]

use std::collections::VecDeque;
use std::ptr::NonNull;
use std::sync::Arc;

use ash::vk;
use ash::vk::Handle as _;

use super::Gpu;
use super::batch::{Batch, Need, STAGING_BYTES};
use crate::device::buffer::Memory;
use crate::device::driver::{DriverStream, Launch};
use crate::device::module::KernelState;
use crate::device::stream::EventCell;
use crate::device::{DeviceError, Result};

/// Batches that the device has or is done with, beside the one that is recorded.
const MOST_FLYING: usize = 3;

pub(super) struct Stream {
    gpu: Arc<Gpu>,
    /// Never without a command.
    recording: Option<Batch>,
    /// The oldest first.
    flying: VecDeque<Batch>,
    idle: Vec<Batch>,
    /// What went wrong. Work was lost then, so nothing that comes later can be right.
    failed: Option<DeviceError>,
}

impl Stream {
    pub(super) fn new(gpu: &Arc<Gpu>) -> Self {
        Self { gpu: gpu.clone(), recording: None, flying: VecDeque::new(), idle: Vec::new(), failed: None }
    }

    /// A batch that has room.
    fn room(&mut self, need: Need) -> Result<&mut Batch> {
        if self.recording.as_ref().is_some_and(|batch| !batch.has_room(need)) {
            self.flush()?;
        }
        if let Some(error) = &self.failed {
            return Err(error.clone());
        }
        let batch = match self.recording.take() {
            Some(batch) => batch,
            None => self.fresh()?,
        };
        Ok(self.recording.insert(batch))
    }

    fn fresh(&mut self) -> Result<Batch> {
        if self.flying.len() >= MOST_FLYING {
            self.retire()?;
        }
        let mut batch = match self.idle.pop() {
            Some(batch) => batch,
            None => Batch::new(&self.gpu)?,
        };
        batch.begin()?;
        Ok(batch)
    }

    /// Gives the device what was recorded.
    fn flush(&mut self) -> Result<()> {
        let Some(mut batch) = self.recording.take() else { return Ok(()) };
        self.note(batch.submit())?;
        self.flying.push_back(batch);
        Ok(())
    }

    /// Waits for the oldest batch that the device has.
    fn retire(&mut self) -> Result<()> {
        let Some(mut batch) = self.flying.pop_front() else { return Ok(()) };
        self.note(batch.wait())?;
        self.idle.push(batch);
        Ok(())
    }

    /// Remembers an error after which work is lost.
    fn note(&mut self, result: Result<()>) -> Result<()> {
        if let Err(error) = &result {
            self.failed = Some(error.clone());
        }
        result
    }

    /// Reads in pieces.
    ///
    /// # Safety
    /// `bytes` must stay valid until the stream was synchronized, or the batches' reads were forgotten.
    unsafe fn enqueue_read(&mut self, from: &Arc<Memory>, mut offset: u64, bytes: &mut [u8]) -> Result<()> {
        for piece in bytes.chunks_mut(STAGING_BYTES) {
            let batch = self.room(Need { staging_bytes: piece.len(), ..Need::default() })?;
            let length = piece.len();
            // SAFETY: the caller's promise.
            let (staging, at) = unsafe { batch.add_read(NonNull::from(piece).cast(), length) }?;
            let (source, skip) = place(from);
            batch.copy((source, skip + offset), (staging, at), length as u64);
            batch.keep(from.clone());
            offset += length as u64;
            if length == STAGING_BYTES {
                // While the device fills this piece, the host copies the one before.
                self.flush()?;
            }
        }
        Ok(())
    }
}

impl DriverStream for Stream {
    fn upload(&mut self, to: &Arc<Memory>, mut offset: u64, bytes: &[u8]) -> Result<()> {
        for piece in bytes.chunks(STAGING_BYTES) {
            let batch = self.room(Need { staging_bytes: piece.len(), ..Need::default() })?;
            let (staging, at) = batch.add_write(piece)?;
            let (target, skip) = place(to);
            batch.copy((staging, at), (target, skip + offset), piece.len() as u64);
            batch.keep(to.clone());
            offset += piece.len() as u64;
            if piece.len() == STAGING_BYTES {
                self.flush()?;
            }
        }
        Ok(())
    }

    fn download(&mut self, from: &Arc<Memory>, offset: u64, bytes: &mut [u8]) -> Result<()> {
        // SAFETY: `bytes` is borrowed until this returns, and then everything is synchronized or forgotten.
        let done = unsafe { self.enqueue_read(from, offset, bytes) }.and_then(|()| self.synchronize());
        if done.is_err() {
            self.recording.iter_mut().chain(&mut self.flying).for_each(Batch::forget_reads);
        }
        done
    }

    fn copy(&mut self, from: (&Arc<Memory>, u64), to: (&Arc<Memory>, u64), bytes: u64) -> Result<()> {
        let batch = self.room(Need::default())?;
        let ((source, source_skip), (target, target_skip)) = (place(from.0), place(to.0));
        batch.copy((source, source_skip + from.1), (target, target_skip + to.1), bytes);
        batch.keep(from.0.clone());
        batch.keep(to.0.clone());
        Ok(())
    }

    fn check_launch(&self, kernel: &Arc<KernelState>, launch: &Launch, _: &[u64]) -> Result<()> {
        if launch.dynamic_shared > 0 {
            return Err(DeviceError::DynamicShared {
                device: self.gpu.info.name.clone(),
                kernel: kernel.info.name.clone(),
                bytes: launch.dynamic_shared,
                reason: "of Vulkan it is fixed in the binary; compile the kernel with all that it needs".to_owned(),
            });
        }
        Ok(())
    }

    unsafe fn launch(&mut self, kernel: &Arc<KernelState>, launch: &Launch, arguments: &[u64]) -> Result<()> {
        let batch = self.room(Need { argument_bytes: size_of_val(arguments), ..Need::default() })?;
        let pipeline = vk::Pipeline::from_raw(kernel.raw.handle);
        // SAFETY: the pipeline belongs to this device and is kept below; the number of groups is within the limit. What the
        // kernel accesses is the caller's promise.
        unsafe { batch.dispatch(pipeline, launch.groups, arguments) };
        batch.keep(kernel.clone());
        Ok(())
    }

    fn record(&mut self, event: &Arc<EventCell>) -> Result<()> {
        self.room(Need::default())?.add_event(event)
    }

    fn synchronize(&mut self) -> Result<()> {
        self.flush()?;
        while !self.flying.is_empty() {
            self.retire()?;
        }
        self.failed.as_ref().map_or(Ok(()), |error| Err(error.clone()))
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        // What was enqueued is done; the batches wait when they are dropped. Nobody is left to hear of an error.
        if self.failed.is_none() {
            let _ = self.flush();
        }
    }
}

/// What Vulkan calls the memory, and how far into that it begins. It has bytes, as no command is made for none.
fn place(memory: &Memory) -> (vk::Buffer, u64) {
    memory.raw().map_or((vk::Buffer::null(), 0), |raw| (vk::Buffer::from_raw(raw.handle), raw.skip))
}

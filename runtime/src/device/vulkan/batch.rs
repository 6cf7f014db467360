//! Work that is given to a device at once, with everything that it uses.

#![allow(unsafe_code)]

use std::ptr::NonNull;
use std::sync::Arc;

use ash::vk;

use super::Gpu;
use super::memory::{Block, Use};
use crate::device::stream::{EventCell, Time};
use crate::device::{DeviceError, Result};

/// Copies, launches and events of a batch.
const MOST_COMMANDS: usize = 128;
/// Bytes of argument blocks of a batch: as many as its launches usually need.
const ARGUMENT_BYTES: usize = 64 << 10;
/// Alignment of argument blocks: a line of the device's cache.
const ARGUMENT_ALIGNMENT: usize = 64;
/// Bytes that are copied through a batch. Large copies take several, so that the host fills one while the device empties
/// another.
pub(super) const STAGING_BYTES: usize = 4 << 20;
/// Copies of some devices are faster at such offsets.
const STAGING_ALIGNMENT: usize = 16;

/// What a command needs of a batch.
#[derive(Clone, Copy, Default)]
pub(super) struct Need {
    pub(super) argument_bytes: usize,
    pub(super) staging_bytes: usize,
}

/// Commands for the device. First they are recorded, then [`Self::submit`] gives them to the device, and [`Self::wait`]
/// waits until they are done; then it can record again.
pub(super) struct Batch {
    gpu: Arc<Gpu>,
    pool: vk::CommandPool,
    commands: vk::CommandBuffer,
    fence: vk::Fence,
    /// Null without timestamps.
    queries: vk::QueryPool,
    arguments: Block,
    arguments_used: usize,
    /// Made when first needed.
    staging: Option<Block>,
    staging_used: usize,
    recorded: usize,
    events: Vec<Arc<EventCell>>,
    reads: Vec<Read>,
    /// What the device uses until it is done.
    keep: Vec<Arc<dyn Send + Sync>>,
    flying: bool,
}

/// Bytes to be copied from staging memory when the device is done.
struct Read {
    offset: usize,
    to: NonNull<u8>,
    bytes: usize,
}

// SAFETY: the pointers of `reads` are used by whoever has the batch alone, while the promise of `add_read` holds.
unsafe impl Send for Batch {}

impl Batch {
    pub(super) fn new(gpu: &Arc<Gpu>) -> Result<Self> {
        let arguments = Block::new(gpu, ARGUMENT_BYTES as u64, Use::Arguments)?;
        // From here on dropping it cleans up; what is null is ignored.
        let mut batch = Self {
            gpu: gpu.clone(),
            pool: vk::CommandPool::null(),
            commands: vk::CommandBuffer::null(),
            fence: vk::Fence::null(),
            queries: vk::QueryPool::null(),
            arguments,
            arguments_used: 0,
            staging: None,
            staging_used: 0,
            recorded: 0,
            events: Vec::new(),
            reads: Vec::new(),
            keep: Vec::new(),
            flying: false,
        };
        let device = &gpu.device;
        let info = vk::CommandPoolCreateInfo::default()
            .queue_family_index(gpu.family)
            .flags(vk::CommandPoolCreateFlags::TRANSIENT);
        // SAFETY: the device is open, here and below.
        let pool = unsafe { device.create_command_pool(&info, None) };
        batch.pool = pool.map_err(|result| gpu.error("vkCreateCommandPool", result))?;
        let info = vk::CommandBufferAllocateInfo::default().command_pool(batch.pool).command_buffer_count(1);
        // SAFETY: as above.
        let commands = unsafe { device.allocate_command_buffers(&info) };
        let commands = commands.map_err(|result| gpu.error("vkAllocateCommandBuffers", result))?;
        batch.commands = commands.first().copied().unwrap_or_default();
        // SAFETY: as above.
        let fence = unsafe { device.create_fence(&vk::FenceCreateInfo::default(), None) };
        batch.fence = fence.map_err(|result| gpu.error("vkCreateFence", result))?;
        if gpu.clock.is_some() {
            let info = vk::QueryPoolCreateInfo::default()
                .query_type(vk::QueryType::TIMESTAMP)
                .query_count(MOST_COMMANDS as u32);
            // SAFETY: as above.
            let queries = unsafe { device.create_query_pool(&info, None) };
            batch.queries = queries.map_err(|result| gpu.error("vkCreateQueryPool", result))?;
        }
        Ok(batch)
    }

    /// Starts to record. Nothing of the batch is in use.
    pub(super) fn begin(&mut self) -> Result<()> {
        let (gpu, device) = (&self.gpu, &self.gpu.device);
        self.arguments_used = 0;
        self.staging_used = 0;
        self.recorded = 0;
        let flags = vk::CommandPoolResetFlags::empty();
        let info = vk::CommandBufferBeginInfo::default().flags(vk::CommandBufferUsageFlags::ONE_TIME_SUBMIT);
        // SAFETY: the commands were done before, or never submitted; the pool and its buffer belong to this batch alone.
        unsafe {
            device.reset_command_pool(self.pool, flags).map_err(|result| gpu.error("vkResetCommandPool", result))?;
            let begun = device.begin_command_buffer(self.commands, &info);
            begun.map_err(|result| gpu.error("vkBeginCommandBuffer", result))?;
            if self.queries != vk::QueryPool::null() {
                device.cmd_reset_query_pool(self.commands, self.queries, 0, MOST_COMMANDS as u32);
            }
        }
        Ok(())
    }

    /// Whether another command with such needs fits.
    pub(super) fn has_room(&self, need: Need) -> bool {
        self.recorded < MOST_COMMANDS
            && self.arguments_used + need.argument_bytes <= self.arguments.bytes
            && self.staging_used + need.staging_bytes <= STAGING_BYTES
    }

    /// Puts what follows behind everything before, also of earlier batches, in execution and in memory. Every command
    /// begins with it.
    fn barrier(&mut self) {
        self.recorded += 1;
        let stages = vk::PipelineStageFlags::COMPUTE_SHADER | vk::PipelineStageFlags::TRANSFER;
        let written = vk::AccessFlags::SHADER_WRITE | vk::AccessFlags::TRANSFER_WRITE;
        let used = written | vk::AccessFlags::SHADER_READ | vk::AccessFlags::TRANSFER_READ;
        self.memory_barrier(stages, written, stages, used);
    }

    fn memory_barrier(
        &self,
        before: vk::PipelineStageFlags,
        written: vk::AccessFlags,
        after: vk::PipelineStageFlags,
        used: vk::AccessFlags,
    ) {
        let barrier = [vk::MemoryBarrier::default().src_access_mask(written).dst_access_mask(used)];
        let flags = vk::DependencyFlags::empty();
        // SAFETY: the commands are being recorded.
        unsafe {
            self.gpu.device.cmd_pipeline_barrier(self.commands, before, after, flags, &barrier, &[], &[]);
        }
    }

    /// Keeps something until the commands are done.
    pub(super) fn keep(&mut self, what: Arc<dyn Send + Sync>) {
        self.keep.push(what);
    }

    /// Copies between buffers, which are to be kept, ranges that are within them.
    pub(super) fn copy(&mut self, from: (vk::Buffer, u64), to: (vk::Buffer, u64), bytes: u64) {
        self.barrier();
        let region = [vk::BufferCopy { src_offset: from.1, dst_offset: to.1, size: bytes }];
        // SAFETY: the commands are being recorded; ranges were checked before.
        unsafe { self.gpu.device.cmd_copy_buffer(self.commands, from.0, to.0, &region) };
    }

    /// Launches a kernel. There must be room for its arguments.
    ///
    /// # Safety
    /// The pipeline is one of this device and lives until the commands are done; the device allows so many groups; and
    /// what the kernel does with the arguments is sound.
    pub(super) unsafe fn dispatch(&mut self, pipeline: vk::Pipeline, groups: u32, arguments: &[u64]) {
        self.barrier();
        let at = self.arguments_used;
        self.arguments.write(at, bytemuck::cast_slice(arguments));
        self.arguments_used = (at + size_of_val(arguments)).next_multiple_of(ARGUMENT_ALIGNMENT);
        let address = self.arguments.address + at as u64;
        let (device, commands) = (&self.gpu.device, self.commands);
        // SAFETY: the commands are being recorded; all pipelines have this layout; the rest is the caller's promise.
        unsafe {
            device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::COMPUTE, pipeline);
            let stages = vk::ShaderStageFlags::COMPUTE;
            device.cmd_push_constants(commands, self.gpu.layout, stages, 0, &address.to_ne_bytes());
            device.cmd_dispatch(commands, groups, 1, 1);
        }
    }

    /// Staging memory, for which there must be room, and where in it `bytes` bytes were reserved.
    fn reserve(&mut self, bytes: usize) -> Result<(&mut Block, usize)> {
        let staging = match self.staging.take() {
            Some(staging) => staging,
            None => Block::new(&self.gpu, STAGING_BYTES as u64, Use::Staging)?,
        };
        let at = self.staging_used;
        self.staging_used = (at + bytes).next_multiple_of(STAGING_ALIGNMENT);
        Ok((self.staging.insert(staging), at))
    }

    /// Puts bytes, for which there must be room, into staging memory. Returns what it is called and where they are.
    pub(super) fn add_write(&mut self, from: &[u8]) -> Result<(vk::Buffer, u64)> {
        let (staging, at) = self.reserve(from.len())?;
        staging.write(at, from);
        Ok((staging.buffer, at as u64))
    }

    /// Reserves staging memory, for which there must be room; what the commands put there is copied to `to` by
    /// [`Self::wait`]. Returns what it is called and where it is.
    ///
    /// # Safety
    /// `to` must be valid for writing so many bytes until this was waited for, or [`Self::forget_reads`] was called.
    pub(super) unsafe fn add_read(&mut self, to: NonNull<u8>, bytes: usize) -> Result<(vk::Buffer, u64)> {
        let (staging, at) = self.reserve(bytes)?;
        let place = (staging.buffer, at as u64);
        self.reads.push(Read { offset: at, to, bytes });
        Ok(place)
    }

    pub(super) fn forget_reads(&mut self) {
        self.reads.clear();
    }

    /// Takes the time when everything before is done.
    pub(super) fn add_event(&mut self, event: &Arc<EventCell>) -> Result<()> {
        if self.queries == vk::QueryPool::null() {
            return Err(DeviceError::NoTimestamps { device: self.gpu.info.name.clone() });
        }
        self.barrier();
        let stage = vk::PipelineStageFlags::BOTTOM_OF_PIPE;
        let query = self.events.len() as u32;
        // SAFETY: the commands are being recorded; a batch has no more events than commands, and as many queries, all of
        // which its first command reset.
        unsafe { self.gpu.device.cmd_write_timestamp(self.commands, stage, self.queries, query) };
        self.events.push(event.clone());
        Ok(())
    }

    /// Gives the commands to the device.
    pub(super) fn submit(&mut self) -> Result<()> {
        let written = vk::AccessFlags::SHADER_WRITE | vk::AccessFlags::TRANSFER_WRITE;
        let stages = vk::PipelineStageFlags::COMPUTE_SHADER | vk::PipelineStageFlags::TRANSFER;
        self.memory_barrier(stages, written, vk::PipelineStageFlags::HOST, vk::AccessFlags::HOST_READ);
        // SAFETY: the commands are being recorded, outside any render pass.
        let ended = unsafe { self.gpu.device.end_command_buffer(self.commands) };
        ended.map_err(|result| self.gpu.error("vkEndCommandBuffer", result))?;
        self.gpu.submit(self.commands, self.fence)?;
        self.flying = true;
        Ok(())
    }

    /// Waits until the commands that were submitted are done, and does what is left to the host.
    pub(super) fn wait(&mut self) -> Result<()> {
        let (gpu, device) = (&self.gpu, &self.gpu.device);
        let fence = [self.fence];
        // SAFETY: the fence was submitted, and is used by this batch alone.
        let waited = unsafe { device.wait_for_fences(&fence, true, u64::MAX) };
        waited.map_err(|result| gpu.error("vkWaitForFences", result))?;
        // SAFETY: as above; nothing refers to the fence any more.
        unsafe { device.reset_fences(&fence) }.map_err(|result| gpu.error("vkResetFences", result))?;
        self.flying = false;
        self.read_times()?;
        for read in self.reads.drain(..) {
            if let Some(staging) = &self.staging {
                // SAFETY: the device is done, and `to` is valid by the promise of `add_read`.
                unsafe { staging.read(read.offset, read.to, read.bytes) };
            }
        }
        self.keep.clear();
        Ok(())
    }

    fn read_times(&mut self) -> Result<()> {
        let events = std::mem::take(&mut self.events);
        let Some((mask, nanoseconds_per_tick)) = self.gpu.clock.filter(|_| !events.is_empty()) else {
            return Ok(());
        };
        let mut all = vec![0u64; events.len()];
        let flags = vk::QueryResultFlags::TYPE_64;
        // SAFETY: the commands wrote this many queries and are done.
        let read = unsafe { self.gpu.device.get_query_pool_results(self.queries, 0, &mut all, flags) };
        read.map_err(|result| self.gpu.error("vkGetQueryPoolResults", result))?;
        for (event, ticks) in events.iter().zip(all) {
            // An event is recorded once, so nothing is there.
            let _ = event.time.set(Time { ticks, mask, nanoseconds_per_tick });
        }
        Ok(())
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        let device = &self.gpu.device;
        // SAFETY: the device is done with all of it, or lost, which is the one way for this wait to fail.
        unsafe {
            if self.flying {
                let _ = device.wait_for_fences(&[self.fence], true, u64::MAX);
            }
            device.destroy_query_pool(self.queries, None);
            device.destroy_fence(self.fence, None);
            device.destroy_command_pool(self.pool, None);
        }
    }
}

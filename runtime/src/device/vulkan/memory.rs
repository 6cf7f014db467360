//! Memory from Vulkan, with addresses.

#![allow(unsafe_code)]

use std::ptr::NonNull;
use std::sync::Arc;

use ash::vk;

use super::Gpu;
use crate::device::driver::{RawMemory, out_of_memory};
use crate::device::{ALIGNMENT, DeviceError, Result};

/// What memory is for.
#[derive(Clone, Copy)]
pub(super) enum Use {
    /// Kernels' buffers.
    Device,
    /// What is copied between host and device.
    Staging,
    /// What the host writes and kernels read.
    Arguments,
}

impl Use {
    /// Properties that memory should have and should not have, the best first.
    fn preferences(self) -> &'static [(Flags, Flags)] {
        match self {
            Self::Device => DEVICE,
            Self::Staging => STAGING,
            Self::Arguments => ARGUMENTS,
        }
    }
}

type Flags = vk::MemoryPropertyFlags;
const HOST: Flags = Flags::from_raw(Flags::HOST_VISIBLE.as_raw() | Flags::HOST_COHERENT.as_raw());
const CACHED: Flags = Flags::from_raw(HOST.as_raw() | Flags::HOST_CACHED.as_raw());
const NEAR: Flags = Flags::from_raw(HOST.as_raw() | Flags::DEVICE_LOCAL.as_raw());
const NONE: Flags = Flags::empty();
const DEVICE: &[(Flags, Flags)] =
    &[(Flags::DEVICE_LOCAL, Flags::HOST_VISIBLE), (Flags::DEVICE_LOCAL, NONE), (NONE, NONE)];
const STAGING: &[(Flags, Flags)] = &[(CACHED, Flags::DEVICE_LOCAL), (CACHED, NONE), (HOST, NONE)];
const ARGUMENTS: &[(Flags, Flags)] = &[(NEAR, NONE), (HOST, NONE)];

/// A buffer with memory of its own.
pub(super) struct Block {
    gpu: Arc<Gpu>,
    pub(super) buffer: vk::Buffer,
    memory: vk::DeviceMemory,
    /// Where the host sees it, if it does.
    mapped: Option<NonNull<u8>>,
    pub(super) address: u64,
    /// Bytes from the address on.
    pub(super) bytes: usize,
}

// SAFETY: the mapped memory belongs to this block alone; what is shared is only used by address or handle, which Vulkan
// allows from any thread, and destroyed once.
unsafe impl Send for Block {}
// SAFETY: as above; the host writes through `&mut self` only.
unsafe impl Sync for Block {}

impl Block {
    pub(super) fn new(gpu: &Arc<Gpu>, bytes: u64, purpose: Use) -> Result<Self> {
        let usage = vk::BufferUsageFlags::STORAGE_BUFFER
            | vk::BufferUsageFlags::SHADER_DEVICE_ADDRESS
            | vk::BufferUsageFlags::TRANSFER_SRC
            | vk::BufferUsageFlags::TRANSFER_DST;
        let info = vk::BufferCreateInfo::default().size(bytes).usage(usage);
        // SAFETY: the device is open; so below.
        let buffer = unsafe { gpu.device.create_buffer(&info, None) };
        let buffer = buffer.map_err(|result| allocation_error(gpu, "vkCreateBuffer", bytes, result))?;
        // From here on dropping it cleans up; what is null is ignored.
        let mut block = Self {
            gpu: gpu.clone(),
            buffer,
            memory: vk::DeviceMemory::null(),
            mapped: None,
            address: 0,
            bytes: usize::try_from(bytes).unwrap_or(usize::MAX),
        };
        // SAFETY: the buffer was made from this device.
        let needs = unsafe { gpu.device.get_buffer_memory_requirements(buffer) };
        let kind =
            gpu.memory_type(needs.memory_type_bits, purpose.preferences()).ok_or_else(|| DeviceError::Driver {
                device: gpu.info.name.clone(),
                call: "vkGetBufferMemoryRequirements".to_owned(),
                result: "no kind of memory fits a buffer".to_owned(),
            })?;
        let mut flags = vk::MemoryAllocateFlagsInfo::default().flags(vk::MemoryAllocateFlags::DEVICE_ADDRESS);
        let info =
            vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(kind).push_next(&mut flags);
        // SAFETY: the kind of memory exists, and addresses are enabled.
        let memory = unsafe { gpu.device.allocate_memory(&info, None) };
        block.memory = memory.map_err(|result| allocation_error(gpu, "vkAllocateMemory", bytes, result))?;
        // SAFETY: the memory is as large as the buffer needs, and neither was bound before.
        let bound = unsafe { gpu.device.bind_buffer_memory(buffer, block.memory, 0) };
        bound.map_err(|result| allocation_error(gpu, "vkBindBufferMemory", bytes, result))?;
        let info = vk::BufferDeviceAddressInfo::default().buffer(buffer);
        // SAFETY: the buffer was made for addresses and has memory.
        block.address = unsafe { gpu.device.get_buffer_device_address(&info) };
        if !matches!(purpose, Use::Device) {
            let flags = vk::MemoryMapFlags::empty();
            // SAFETY: the memory is visible to the host and not mapped.
            let mapped = unsafe { gpu.device.map_memory(block.memory, 0, vk::WHOLE_SIZE, flags) };
            let mapped = mapped.map_err(|result| allocation_error(gpu, "vkMapMemory", bytes, result))?;
            block.mapped = NonNull::new(mapped.cast());
        }
        Ok(block)
    }

    /// Copies `from` to this, from `offset` on. The device must not be using that range.
    pub(super) fn write(&mut self, offset: usize, from: &[u8]) {
        let mapped = self.range(offset, from.len());
        // SAFETY: `range` checked that so many bytes are mapped there; `&mut self` makes the host's access unique.
        unsafe { mapped.copy_from_nonoverlapping(NonNull::from(from).cast(), from.len()) };
    }

    /// Copies from this to `to`, from `offset` on.
    ///
    /// # Safety
    /// `to` must be valid for so many bytes. The device must not be writing that range.
    pub(super) unsafe fn read(&self, offset: usize, to: NonNull<u8>, bytes: usize) {
        let mapped = self.range(offset, bytes);
        // SAFETY: `range` checked that so many bytes are mapped there; the caller promises the rest.
        unsafe { mapped.copy_to_nonoverlapping(to, bytes) };
    }

    fn range(&self, offset: usize, bytes: usize) -> NonNull<u8> {
        let inside = offset.checked_add(bytes).is_some_and(|end| end <= self.bytes);
        match self.mapped {
            // SAFETY: the offset is within the mapped bytes.
            Some(mapped) if inside => unsafe { mapped.add(offset) },
            _ => unreachable!("only ranges that were reserved in mapped blocks are accessed"),
        }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: no work that uses them is left: streams keep what copies use, and callers of launches what these use.
        // Freeing memory unmaps it.
        unsafe {
            self.gpu.device.destroy_buffer(self.buffer, None);
            self.gpu.device.free_memory(self.memory, None);
        }
    }
}

/// Memory for kernels' buffers, aligned.
pub(super) fn allocate(gpu: &Arc<Gpu>, bytes: u64) -> Result<RawMemory> {
    use ash::vk::Handle as _;
    let mut block = Block::new(gpu, bytes, Use::Device)?;
    if !block.address.is_multiple_of(ALIGNMENT) {
        // The driver aligns less; then the address moves up within a larger block.
        drop(block);
        block = Block::new(gpu, bytes.saturating_add(ALIGNMENT), Use::Device)?;
    }
    let address = block.address.next_multiple_of(ALIGNMENT);
    let skip = address - block.address;
    Ok(RawMemory { address, handle: block.buffer.as_raw(), skip, _owner: Box::new(block) })
}

fn allocation_error(gpu: &Gpu, call: &str, bytes: u64, result: vk::Result) -> DeviceError {
    match result {
        vk::Result::ERROR_OUT_OF_DEVICE_MEMORY | vk::Result::ERROR_OUT_OF_HOST_MEMORY => {
            out_of_memory(&gpu.info, bytes)
        }
        _ => gpu.error(call, result),
    }
}

impl Gpu {
    fn memory_type(&self, allowed: u32, preferences: &[(Flags, Flags)]) -> Option<u32> {
        let types = self.memory.memory_types_as_slice();
        preferences.iter().find_map(|(wanted, unwanted)| {
            let fits = |flags: Flags| flags.contains(*wanted) && !flags.intersects(*unwanted);
            let found =
                types.iter().enumerate().find(|(at, kind)| allowed & (1 << at) != 0 && fits(kind.property_flags));
            found.map(|(at, _)| at as u32)
        })
    }
}

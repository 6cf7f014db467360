//! Memory of the interpreted program: allocations, and memrefs that point into them.

use sutura_ir::Attr;

use crate::buffer::{Buffer, uninitialised};
use crate::error::{Fault, FaultKind};
use crate::scalar::{DType, Scalar};
use crate::strided::{Layout, in_buffer};
use crate::tensor::{Tensor, num_elements};

/// One allocation of a [`Memory`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct BufferId(u32);

/// A value of memref type: a strided window into an allocation.
#[derive(Clone, PartialEq, Debug)]
pub struct MemRef {
    /// The allocation.
    pub buffer: BufferId,
    /// Element type: the allocation's, unless the memref reads it as something else.
    pub dtype: DType,
    /// Bytes from the allocation's start at which the layout counts from.
    pub base: i64,
    /// Where the elements lie, counted in elements of `dtype`.
    pub layout: Layout,
}

impl MemRef {
    /// Sizes of the dimensions.
    pub fn sizes(&self) -> &[usize] {
        &self.layout.sizes
    }

    /// True when elements of both may be the same bytes: when the ranges from their first to their last byte meet.
    pub fn may_overlap(&self, other: &Self) -> bool {
        let ((a, a_end), (b, b_end)) = (self.extent(), other.extent());
        self.buffer == other.buffer && a < b_end && b < a_end
    }

    /// The first byte in the allocation, and the one behind the last; nothing lies between for no elements.
    fn extent(&self) -> (i64, i64) {
        let (mut low, mut high) = (self.layout.offset, self.layout.offset);
        for (size, stride) in self.layout.sizes.iter().zip(&self.layout.strides) {
            let Some(last) = (*size as i64).checked_sub(1).filter(|last| *last >= 0) else { return (0, 0) };
            let reach = last.saturating_mul(*stride);
            low = low.saturating_add(reach.min(0));
            high = high.saturating_add(reach.max(0));
        }
        (self.byte(low), self.byte(high.saturating_add(1)))
    }

    /// The same memory through another window.
    #[must_use]
    pub fn with_layout(&self, layout: Layout) -> Self {
        Self { layout, ..self.clone() }
    }
}

#[derive(Debug)]
struct Allocation {
    /// `None` after it was freed.
    data: Option<Buffer>,
    space: Option<Attr>,
}

/// All memory of one interpreter.
#[derive(Debug)]
pub struct Memory {
    allocations: Vec<Allocation>,
    live_bytes: usize,
    peak_bytes: usize,
    /// Bytes that may be live at once.
    pub limit: usize,
}

impl Default for Memory {
    fn default() -> Self {
        Self { allocations: Vec::new(), live_bytes: 0, peak_bytes: 0, limit: 1 << 33 }
    }
}

impl Memory {
    /// Allocates a row-major memref that nothing was written to.
    ///
    /// # Errors
    /// When the memory limit would be passed.
    pub fn alloc(&mut self, dtype: DType, shape: &[usize], space: Option<Attr>) -> Result<MemRef, Fault> {
        let len = num_elements(shape)?;
        self.reserve(dtype, len)?;
        // The parts of complex numbers are there one by one, as both may be written on their own.
        let data = match dtype.part() {
            Some(part) => Buffer::undefined(part, 2 * len),
            None => Buffer::undefined(dtype, len),
        };
        Ok(self.adopt(data, dtype, shape, space))
    }

    /// Allocates a row-major memref that holds a copy of `value`.
    ///
    /// # Errors
    /// When the memory limit would be passed.
    pub fn alloc_from(&mut self, value: &Tensor, space: Option<Attr>) -> Result<MemRef, Fault> {
        if value.dtype().part().is_some() {
            let memref = self.alloc(value.dtype(), value.shape(), space)?;
            self.write(&memref, value)?;
            return Ok(memref);
        }
        self.reserve(value.dtype(), value.len())?;
        Ok(self.adopt(value.data().clone(), value.dtype(), value.shape(), space))
    }

    fn reserve(&mut self, dtype: DType, len: usize) -> Result<(), Fault> {
        let total = len.checked_mul(dtype.bytes()).and_then(|b| b.checked_add(self.live_bytes));
        match total {
            Some(total) if total <= self.limit => {
                self.live_bytes = total;
                self.peak_bytes = self.peak_bytes.max(total);
                Ok(())
            }
            _ => Err(Fault::new(
                FaultKind::Limit,
                format!("an allocation of {len} elements of {dtype} passes the limit of {} bytes", self.limit),
            )),
        }
    }

    fn adopt(&mut self, data: Buffer, dtype: DType, shape: &[usize], space: Option<Attr>) -> MemRef {
        let buffer = BufferId(self.allocations.len() as u32);
        self.allocations.push(Allocation { data: Some(data), space });
        MemRef { buffer, dtype, base: 0, layout: Layout::row_major(shape) }
    }

    /// Frees the allocation behind a memref.
    ///
    /// # Errors
    /// When it was freed before.
    pub fn free(&mut self, memref: &MemRef) -> Result<(), Fault> {
        let data = self.allocations.get_mut(memref.buffer.0 as usize).and_then(|a| a.data.take());
        let data = data.ok_or_else(|| Fault::new(FaultKind::UseAfterFree, "frees memory that was freed before"))?;
        self.live_bytes -= data.len() * data.dtype().bytes();
        Ok(())
    }

    /// Bytes allocated and not freed.
    pub fn live_bytes(&self) -> usize {
        self.live_bytes
    }

    /// The most bytes that were live at once.
    pub fn peak_bytes(&self) -> usize {
        self.peak_bytes
    }

    /// Memory space with which the allocation behind a memref was made.
    pub fn space(&self, memref: &MemRef) -> Option<Attr> {
        self.allocations.get(memref.buffer.0 as usize)?.space
    }

    /// The allocation behind a memref.
    ///
    /// # Errors
    /// When it was freed.
    pub fn buffer(&self, memref: &MemRef) -> Result<&Buffer, Fault> {
        self.allocations.get(memref.buffer.0 as usize).and_then(|a| a.data.as_ref()).ok_or_else(freed)
    }

    /// The allocation behind a memref, for writing.
    ///
    /// # Errors
    /// When it was freed.
    pub fn buffer_mut(&mut self, memref: &MemRef) -> Result<&mut Buffer, Fault> {
        self.allocations.get_mut(memref.buffer.0 as usize).and_then(|a| a.data.as_mut()).ok_or_else(freed)
    }

    /// Reads one element; `None` when nothing was written to it.
    ///
    /// # Errors
    /// When the index is out of bounds or the memory was freed.
    pub fn get(&self, memref: &MemRef, index: &[i64]) -> Result<Option<Scalar>, Fault> {
        let position = memref.layout.position(index)?;
        let buffer = self.buffer(memref)?;
        if memref.is_plain(buffer) {
            return Ok(buffer.get(in_buffer(position, buffer.len())?));
        }
        get_bytes(buffer, memref.byte(position), memref.dtype)
    }

    /// Reads one element.
    ///
    /// # Errors
    /// When the index is out of bounds, the memory was freed, or nothing was written there.
    pub fn load(&self, memref: &MemRef, index: &[i64]) -> Result<Scalar, Fault> {
        self.get(memref, index)?.ok_or_else(uninitialised)
    }

    /// Writes one element; `None` makes it undefined.
    ///
    /// # Errors
    /// When the index is out of bounds, the memory was freed, or the element type differs.
    pub fn store(&mut self, memref: &MemRef, index: &[i64], value: Option<Scalar>) -> Result<(), Fault> {
        let position = memref.layout.position(index)?;
        let buffer = self.buffer_mut(memref)?;
        if let Some(value) = value.filter(|v| v.dtype() != memref.dtype) {
            return Err(Fault::type_mismatch(format!("stores {} to memory of {}", value.dtype(), memref.dtype)));
        }
        if memref.is_plain(buffer) {
            let at = in_buffer(position, buffer.len())?;
            buffer.set(at, value);
            return Ok(());
        }
        set_bytes(buffer, memref.byte(position), memref.dtype, value)
    }

    /// A copy of the elements of a memref, undefined ones included.
    ///
    /// # Errors
    /// When the memref reaches beyond its allocation or the memory was freed.
    pub fn read(&self, memref: &MemRef) -> Result<Tensor, Fault> {
        let buffer = self.buffer(memref)?;
        if memref.is_plain(buffer) {
            return memref.layout.read(buffer);
        }
        let mut data = Buffer::undefined(memref.dtype, memref.layout.num_elements()?);
        for (at, position) in memref.layout.positions()?.into_iter().enumerate() {
            data.set(at, get_bytes(buffer, memref.byte(position), memref.dtype)?);
        }
        Tensor::new(memref.layout.sizes.clone(), data)
    }

    /// Overwrites all elements of a memref.
    ///
    /// # Errors
    /// When shapes or element types differ, the memref reaches beyond its allocation, or the memory was freed.
    pub fn write(&mut self, memref: &MemRef, value: &Tensor) -> Result<(), Fault> {
        let buffer = self.buffer_mut(memref)?;
        if memref.is_plain(buffer) {
            return memref.layout.write(buffer, value);
        }
        if value.shape() != memref.sizes() || value.dtype() != memref.dtype {
            let message = format!("elements of shape {:?} do not fit a memref of {:?}", value.shape(), memref.sizes());
            return Err(Fault::shape(message));
        }
        for (at, position) in memref.layout.positions()?.into_iter().enumerate() {
            set_bytes(buffer, memref.byte(position), memref.dtype, value.data().get(at))?;
        }
        Ok(())
    }

    // ---- addresses

    /// The address of the first element of a memref: what a pointer to it holds.
    ///
    /// Addresses count bytes within an allocation. Those of different allocations lie so far apart that no arithmetic
    /// within the size of one leads from one to another.
    ///
    /// # Errors
    /// When the offset leaves the range of addresses of one allocation.
    pub fn address(&self, memref: &MemRef) -> Result<i64, Fault> {
        let byte = memref.byte(memref.layout.offset);
        if !(-MIDDLE..MIDDLE).contains(&byte) {
            return Err(Fault::new(FaultKind::OutOfBounds, format!("byte {byte} of an allocation has no address")));
        }
        Ok(((i64::from(memref.buffer.0) + 1) << ADDRESS_BITS) + MIDDLE + byte)
    }

    /// A memref of `len` elements of type `dtype` at an address.
    ///
    /// # Errors
    /// When the address is null or was never an allocation's.
    pub fn at_address(&self, address: i64, dtype: DType, len: usize) -> Result<MemRef, Fault> {
        if address == 0 {
            return Err(Fault::new(FaultKind::OutOfBounds, "accesses memory through a null pointer"));
        }
        let number = (address >> ADDRESS_BITS) - 1;
        let known = usize::try_from(number).is_ok_and(|n| n < self.allocations.len());
        if !known {
            return Err(Fault::new(FaultKind::OutOfBounds, format!("address {address:#x} is nobody's memory")));
        }
        let base = (address & ((1 << ADDRESS_BITS) - 1)) - MIDDLE;
        let mut memref = MemRef { buffer: BufferId(number as u32), dtype, base, layout: Layout::row_major(&[len]) };
        let size = dtype.bytes() as i64;
        // Counted in elements where possible: then accesses need not go byte by byte.
        if base % size == 0 {
            (memref.base, memref.layout.offset) = (0, base / size);
        }
        Ok(memref)
    }
}

/// Bits of an address below the allocation's number.
const ADDRESS_BITS: u32 = 40;
/// Byte 0 of an allocation lies in the middle, so that an address before it still names it.
const MIDDLE: i64 = 1 << (ADDRESS_BITS - 1);

impl MemRef {
    /// True when positions of the layout are elements of the allocation.
    fn is_plain(&self, buffer: &Buffer) -> bool {
        self.base == 0 && self.dtype == buffer.dtype()
    }

    /// Byte of the allocation at which an element lies.
    fn byte(&self, position: i64) -> i64 {
        self.base.wrapping_add(position.wrapping_mul(self.dtype.bytes() as i64))
    }
}

fn byte_range(buffer: &Buffer, byte: i64, dtype: DType) -> Result<usize, Fault> {
    let (size, len) = (dtype.bytes(), buffer.len() * buffer.dtype().bytes());
    let start = usize::try_from(byte).ok().filter(|s| s.checked_add(size).is_some_and(|end| end <= len));
    start.ok_or_else(|| {
        let message =
            format!("bytes {byte} to {} lie outside the allocation of {len} bytes", byte.saturating_add(size as i64));
        Fault::new(FaultKind::OutOfBounds, message)
    })
}

fn get_bytes(buffer: &Buffer, byte: i64, dtype: DType) -> Result<Option<Scalar>, Fault> {
    let start = byte_range(buffer, byte, dtype)?;
    let mut word = [0; 16];
    let word = &mut word[..dtype.bytes()];
    let defined = buffer.read_bytes(start, word);
    Ok(defined.then(|| crate::buffer::from_le(dtype, word)))
}

fn set_bytes(buffer: &mut Buffer, byte: i64, dtype: DType, value: Option<Scalar>) -> Result<(), Fault> {
    let start = byte_range(buffer, byte, dtype)?;
    match value {
        Some(value) => buffer.write_bytes(start, &crate::buffer::le_bytes(value)[..dtype.bytes()]),
        None => {
            let size = buffer.dtype().bytes();
            for element in start / size..(start + dtype.bytes()).div_ceil(size) {
                buffer.set(element, None);
            }
            Ok(())
        }
    }
}

fn freed() -> Fault {
    Fault::new(FaultKind::UseAfterFree, "accesses memory that was freed or is not this program's")
}

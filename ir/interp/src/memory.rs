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
    /// Element type.
    pub dtype: DType,
    /// Where in the allocation the elements lie.
    pub layout: Layout,
}

impl MemRef {
    /// Sizes of the dimensions.
    pub fn sizes(&self) -> &[usize] {
        &self.layout.sizes
    }

    /// The same memory through another window.
    #[must_use]
    pub fn with_layout(&self, layout: Layout) -> Self {
        Self { buffer: self.buffer, dtype: self.dtype, layout }
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
        Ok(self.adopt(Buffer::undefined(dtype, len), shape, space))
    }

    /// Allocates a row-major memref that holds a copy of `value`.
    ///
    /// # Errors
    /// When the memory limit would be passed.
    pub fn alloc_from(&mut self, value: &Tensor, space: Option<Attr>) -> Result<MemRef, Fault> {
        self.reserve(value.dtype(), value.len())?;
        Ok(self.adopt(value.data().clone(), value.shape(), space))
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

    fn adopt(&mut self, data: Buffer, shape: &[usize], space: Option<Attr>) -> MemRef {
        let buffer = BufferId(self.allocations.len() as u32);
        let dtype = data.dtype();
        self.allocations.push(Allocation { data: Some(data), space });
        MemRef { buffer, dtype, layout: Layout::row_major(shape) }
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
        let buffer = self.buffer(memref)?;
        let at = in_buffer(memref.layout.position(index)?, buffer.len())?;
        Ok(buffer.get(at))
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
        let at = in_buffer(position, buffer.len())?;
        if let Some(value) = value.filter(|v| v.dtype() != buffer.dtype()) {
            return Err(Fault::type_mismatch(format!("stores {} to memory of {}", value.dtype(), buffer.dtype())));
        }
        buffer.set(at, value);
        Ok(())
    }

    /// A copy of the elements of a memref, undefined ones included.
    ///
    /// # Errors
    /// When the memref reaches beyond its allocation or the memory was freed.
    pub fn read(&self, memref: &MemRef) -> Result<Tensor, Fault> {
        memref.layout.read(self.buffer(memref)?)
    }

    /// Overwrites all elements of a memref.
    ///
    /// # Errors
    /// When shapes or element types differ, the memref reaches beyond its allocation, or the memory was freed.
    pub fn write(&mut self, memref: &MemRef, value: &Tensor) -> Result<(), Fault> {
        memref.layout.write(self.buffer_mut(memref)?, value)
    }
}

fn freed() -> Fault {
    Fault::new(FaultKind::UseAfterFree, "accesses memory that was freed or is not this program's")
}

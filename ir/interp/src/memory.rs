//! Memory of the interpreted program: allocations, and memrefs that point into them.

use smallvec::SmallVec;
use sutura_ir::Attr;

use crate::buffer::{Buffer, uninitialised};
use crate::error::{Fault, FaultKind};
use crate::scalar::{DType, Scalar};
use crate::tensor::{Shape, Tensor, next_index, num_elements, out_of_bounds, row_major_strides};

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
    /// First element, counted from the allocation's start.
    pub offset: i64,
    /// Sizes of the dimensions.
    pub sizes: Shape,
    /// Distance between neighbours in each dimension, in elements.
    pub strides: SmallVec<[i64; 4]>,
}

impl MemRef {
    /// Number of elements.
    ///
    /// # Errors
    /// When it overflows.
    pub fn num_elements(&self) -> Result<usize, Fault> {
        num_elements(&self.sizes)
    }

    /// Number of dimensions.
    pub fn rank(&self) -> usize {
        self.sizes.len()
    }

    /// True when the elements are row-major without gaps.
    pub fn is_contiguous(&self) -> bool {
        let dense = row_major_strides(&self.sizes);
        // The stride of a dimension of size 1 is never applied.
        self.sizes.iter().zip(self.strides.iter().zip(&dense)).all(|(&n, (&s, &d))| n <= 1 || s == d as i64)
    }

    /// Position in the allocation of an index.
    ///
    /// # Errors
    /// When the rank differs or a coordinate is out of bounds.
    pub fn position(&self, index: &[i64]) -> Result<i64, Fault> {
        if index.len() != self.rank() {
            return Err(Fault::shape(format!("{} indices for a memref of rank {}", index.len(), self.rank())));
        }
        let mut position = self.offset;
        for (dim, (&i, (&size, &stride))) in index.iter().zip(self.sizes.iter().zip(&self.strides)).enumerate() {
            if i < 0 || i as u64 >= size as u64 {
                return Err(out_of_bounds(i, dim, size));
            }
            position = position.wrapping_add(i.wrapping_mul(stride));
        }
        Ok(position)
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
        let strides = row_major_strides(shape).iter().map(|&s| s as i64).collect();
        MemRef { buffer, dtype, offset: 0, sizes: shape.into(), strides }
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
        let at = in_allocation(memref.position(index)?, buffer)?;
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
        let position = memref.position(index)?;
        let buffer = self.buffer_mut(memref)?;
        let at = in_allocation(position, buffer)?;
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
        let buffer = self.buffer(memref)?;
        let mut data = Buffer::undefined(memref.dtype, memref.num_elements()?);
        let mut at = 0;
        for_each_row(memref, buffer, |start, stride, len| {
            if stride == 1 {
                data.copy_range(at, buffer, start, len);
            } else {
                for k in 0..len {
                    data.set(at + k, buffer.get(start.wrapping_add_signed(stride * k as isize)));
                }
            }
            at += len;
        })?;
        Tensor::new(memref.sizes.clone(), data)
    }

    /// Overwrites all elements of a memref.
    ///
    /// # Errors
    /// When shapes or element types differ, the memref reaches beyond its allocation, or the memory was freed.
    pub fn write(&mut self, memref: &MemRef, value: &Tensor) -> Result<(), Fault> {
        if value.shape() != &memref.sizes[..] {
            let message = format!("shape {:?} does not fit a memref of shape {:?}", value.shape(), &memref.sizes[..]);
            return Err(Fault::shape(message));
        }
        if value.dtype() != memref.dtype {
            return Err(Fault::type_mismatch(format!("writes {} to memory of {}", value.dtype(), memref.dtype)));
        }
        let mut rows: Vec<(usize, isize, usize)> = Vec::new();
        for_each_row(memref, self.buffer(memref)?, |start, stride, len| rows.push((start, stride, len)))?;
        let buffer = self.buffer_mut(memref)?;
        let mut at = 0;
        for (start, stride, len) in rows {
            if stride == 1 {
                buffer.copy_range(start, value.data(), at, len);
            } else {
                for k in 0..len {
                    buffer.set(start.wrapping_add_signed(stride * k as isize), value.data().get(at + k));
                }
            }
            at += len;
        }
        Ok(())
    }
}

fn freed() -> Fault {
    Fault::new(FaultKind::UseAfterFree, "accesses memory that was freed or is not this program's")
}

fn in_allocation(position: i64, buffer: &Buffer) -> Result<usize, Fault> {
    usize::try_from(position).ok().filter(|&at| at < buffer.len()).ok_or_else(|| {
        let message = format!("element {position} lies outside the allocation of {} elements", buffer.len());
        Fault::new(FaultKind::OutOfBounds, message)
    })
}

/// Calls `row(first position, stride, length)` for each innermost row, in row-major order, after checking its ends.
fn for_each_row(memref: &MemRef, buffer: &Buffer, mut row: impl FnMut(usize, isize, usize)) -> Result<(), Fault> {
    if memref.num_elements()? == 0 {
        return Ok(());
    }
    let (outer, len, stride) = match memref.sizes.split_last() {
        Some((&len, outer)) => (outer, len, memref.strides[outer.len()]),
        None => (&[][..], 1, 1),
    };
    let mut index: Shape = outer.iter().map(|_| 0).collect();
    loop {
        let steps = index.iter().zip(&memref.strides).map(|(&i, &s)| (i as i64).wrapping_mul(s));
        let start = steps.fold(memref.offset, i64::wrapping_add);
        let first = in_allocation(start, buffer)?;
        in_allocation(start.wrapping_add((len as i64 - 1).wrapping_mul(stride)), buffer)?;
        row(first, stride as isize, len);
        if !next_index(&mut index, outer) {
            return Ok(());
        }
    }
}

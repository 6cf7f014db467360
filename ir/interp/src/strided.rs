//! Strided windows into row-major or other storage: what slices of tensors and memrefs have in common.

use smallvec::SmallVec;

use crate::buffer::Buffer;
use crate::error::{Fault, FaultKind};
use crate::tensor::{Shape, Tensor, next_index, num_elements, out_of_bounds, row_major_strides};

/// Where the elements of a window lie in a buffer, in elements.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Layout {
    /// The first element.
    pub offset: i64,
    /// Sizes of the dimensions.
    pub sizes: Shape,
    /// Distance between neighbours in each dimension.
    pub strides: SmallVec<[i64; 4]>,
}

impl Layout {
    /// Row-major from the start of a buffer.
    pub fn row_major(shape: &[usize]) -> Self {
        let strides = row_major_strides(shape).iter().map(|&s| s as i64).collect();
        Self { offset: 0, sizes: shape.into(), strides }
    }

    /// Number of dimensions.
    pub fn rank(&self) -> usize {
        self.sizes.len()
    }

    /// Number of elements.
    ///
    /// # Errors
    /// When it overflows.
    pub fn num_elements(&self) -> Result<usize, Fault> {
        num_elements(&self.sizes)
    }

    /// True when the elements are row-major without gaps.
    pub fn is_contiguous(&self) -> bool {
        let dense = row_major_strides(&self.sizes);
        // The stride of a dimension of size 1 is never applied.
        self.sizes.iter().zip(self.strides.iter().zip(&dense)).all(|(&n, (&s, &d))| n <= 1 || s == d as i64)
    }

    /// Position in the buffer of an index.
    ///
    /// # Errors
    /// When the rank differs or a coordinate is out of bounds.
    pub fn position(&self, index: &[i64]) -> Result<i64, Fault> {
        if index.len() != self.rank() {
            return Err(Fault::shape(format!("{} indices for a value of rank {}", index.len(), self.rank())));
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

    /// Positions of all elements, in row-major order of the indices.
    ///
    /// # Errors
    /// When there are too many.
    pub fn positions(&self) -> Result<Vec<i64>, Fault> {
        let count = self.num_elements()?;
        let mut positions = Vec::with_capacity(count);
        if count > 0 {
            let mut index: Shape = self.sizes.iter().map(|_| 0).collect();
            loop {
                let steps = index.iter().zip(&self.strides).map(|(&i, &s)| (i as i64).wrapping_mul(s));
                positions.push(steps.fold(self.offset, i64::wrapping_add));
                if !next_index(&mut index, &self.sizes) {
                    break;
                }
            }
        }
        Ok(positions)
    }

    /// The window of `sizes` points from `offsets`, `strides` apart in each dimension.
    ///
    /// # Errors
    /// When the ranks differ, a size is negative, or a point lies outside this window.
    pub fn slice(&self, offsets: &[i64], sizes: &[i64], strides: &[i64]) -> Result<Self, Fault> {
        if [offsets.len(), sizes.len(), strides.len()] != [self.rank(); 3] {
            return Err(Fault::shape(format!("a slice of rank {} of a value of rank {}", offsets.len(), self.rank())));
        }
        let mut slice = Self { offset: self.offset, sizes: Shape::new(), strides: SmallVec::new() };
        for dim in 0..self.rank() {
            let (offset, step) = (offsets[dim], strides[dim]);
            let size = usize::try_from(sizes[dim])
                .map_err(|_| Fault::new(FaultKind::OutOfBounds, format!("slice size {} is negative", sizes[dim])))?;
            let ends = [offset, offset.saturating_add(step.saturating_mul(size as i64 - 1))];
            let available = self.sizes[dim] as i64;
            if let Some(&end) = ends.iter().find(|&&e| size > 0 && !(0..available).contains(&e)) {
                return Err(out_of_bounds(end, dim, self.sizes[dim]));
            }
            slice.offset = slice.offset.wrapping_add(offset.wrapping_mul(self.strides[dim]));
            slice.sizes.push(size);
            slice.strides.push(step.wrapping_mul(self.strides[dim]));
        }
        Ok(slice)
    }

    /// The dimensions in the order that `permutation` lists them.
    ///
    /// # Errors
    /// When it is no permutation of the dimensions.
    pub fn permute(&self, permutation: &[i64]) -> Result<Self, Fault> {
        let mut seen: Shape = self.sizes.iter().map(|_| 0).collect();
        let valid = permutation.len() == self.rank()
            && permutation.iter().all(|&p| {
                let slot = usize::try_from(p).ok().and_then(|p| seen.get_mut(p));
                slot.is_some_and(|s| std::mem::replace(s, 1) == 0)
            });
        if !valid {
            return Err(Fault::invalid_ir(format!("{permutation:?} is no permutation of {} dimensions", self.rank())));
        }
        Ok(Self {
            offset: self.offset,
            sizes: permutation.iter().map(|&p| self.sizes[p as usize]).collect(),
            strides: permutation.iter().map(|&p| self.strides[p as usize]).collect(),
        })
    }

    /// Leaves out dimensions of size 1 such that those left have the sizes of `shape`, of which negative ones fit any.
    ///
    /// # Errors
    /// When there is no such choice.
    pub fn drop_unit_dims(&self, shape: &[i64]) -> Result<Self, Fault> {
        let mut reduced = Self { offset: self.offset, sizes: Shape::new(), strides: SmallVec::new() };
        let mut surplus = self.rank().checked_sub(shape.len());
        for (&size, &stride) in self.sizes.iter().zip(&self.strides) {
            let wanted = shape.get(reduced.rank());
            let fits = wanted.is_some_and(|&w| w < 0 || w == size as i64);
            // A unit dimension that would fit an unknown size is dropped while dimensions are to be dropped.
            let droppable = size == 1 && surplus.is_some_and(|s| s > 0) && wanted.is_none_or(|&w| w != 1);
            if fits && !droppable {
                reduced.sizes.push(size);
                reduced.strides.push(stride);
            } else if size == 1 {
                surplus = surplus.and_then(|s| s.checked_sub(1));
            } else {
                reduced.sizes.clear();
                break;
            }
        }
        if reduced.rank() != shape.len() {
            let message = format!("a slice of shape {:?} does not reduce to its type", &self.sizes[..]);
            return Err(Fault::shape(message));
        }
        Ok(reduced)
    }

    /// A copy of the elements, undefined ones included.
    ///
    /// # Errors
    /// When the window reaches beyond the buffer.
    pub fn read(&self, buffer: &Buffer) -> Result<Tensor, Fault> {
        let mut data = Buffer::undefined(buffer.dtype(), self.num_elements()?);
        let mut at = 0;
        self.for_each_row(buffer.len(), |start, stride, len| {
            if stride == 1 {
                data.copy_range(at, buffer, start, len);
            } else {
                for k in 0..len {
                    data.set(at + k, buffer.get(start.wrapping_add_signed(stride * k as isize)));
                }
            }
            at += len;
        })?;
        Tensor::new(self.sizes.clone(), data)
    }

    /// Overwrites the elements.
    ///
    /// # Errors
    /// When shapes or element types differ, or the window reaches beyond the buffer; then nothing is written.
    pub fn write(&self, buffer: &mut Buffer, value: &Tensor) -> Result<(), Fault> {
        if value.shape() != &self.sizes[..] {
            let message = format!("shape {:?} does not fit a window of shape {:?}", value.shape(), &self.sizes[..]);
            return Err(Fault::shape(message));
        }
        if value.dtype() != buffer.dtype() {
            let message = format!("elements of type {} do not fit storage of {}", value.dtype(), buffer.dtype());
            return Err(Fault::type_mismatch(message));
        }
        self.for_each_row(buffer.len(), |_, _, _| {})?;
        let mut at = 0;
        self.for_each_row(buffer.len(), |start, stride, len| {
            if stride == 1 {
                buffer.copy_range(start, value.data(), at, len);
            } else {
                for k in 0..len {
                    buffer.set(start.wrapping_add_signed(stride * k as isize), value.data().get(at + k));
                }
            }
            at += len;
        })
    }

    /// Calls `row(first position, stride, length)` for each innermost row, in row-major order, after checking its ends.
    fn for_each_row(&self, available: usize, mut row: impl FnMut(usize, isize, usize)) -> Result<(), Fault> {
        if self.num_elements()? == 0 {
            return Ok(());
        }
        let (outer, len, stride) = match self.sizes.split_last() {
            Some((&len, outer)) => (outer, len, self.strides[outer.len()]),
            None => (&[][..], 1, 1),
        };
        let mut index: Shape = outer.iter().map(|_| 0).collect();
        loop {
            let steps = index.iter().zip(&self.strides).map(|(&i, &s)| (i as i64).wrapping_mul(s));
            let start = steps.fold(self.offset, i64::wrapping_add);
            let first = in_buffer(start, available)?;
            in_buffer(start.wrapping_add((len as i64 - 1).wrapping_mul(stride)), available)?;
            row(first, stride as isize, len);
            if !next_index(&mut index, outer) {
                return Ok(());
            }
        }
    }
}

pub(crate) fn in_buffer(position: i64, available: usize) -> Result<usize, Fault> {
    usize::try_from(position).ok().filter(|&at| at < available).ok_or_else(|| {
        let message = format!("element {position} lies outside the allocation of {available} elements");
        Fault::new(FaultKind::OutOfBounds, message)
    })
}

impl Tensor {
    /// Layout of the elements.
    pub fn layout(&self) -> Layout {
        Layout::row_major(self.shape())
    }

    /// The elements of a window.
    ///
    /// # Errors
    /// When it reaches beyond the tensor.
    pub fn window(&self, window: &Layout) -> Result<Self, Fault> {
        window.read(self.data())
    }

    /// The dimensions in the order that `permutation` lists them.
    ///
    /// # Errors
    /// When it is no permutation of the dimensions.
    pub fn transpose(&self, permutation: &[i64]) -> Result<Self, Fault> {
        self.window(&self.layout().permute(permutation)?)
    }
}

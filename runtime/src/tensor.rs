//! Tensors: owned ones, and views of memory that the caller owns.

#![allow(unsafe_code)]

use std::fmt;
use std::marker::PhantomData;

use crate::buffer::AlignedBuffer;
use crate::element::{Element, ElementType};
use crate::error::{Error, Result};
use crate::manifest::byte_size;

/// An owned, contiguous, row-major tensor, aligned as generated code wants it.
pub struct Tensor {
    element_type: ElementType,
    dims: Vec<i64>,
    data: AlignedBuffer,
}

impl Tensor {
    /// A tensor of zeros.
    pub fn zeros(element_type: ElementType, dims: &[i64]) -> Result<Self> {
        let bytes = size(element_type, dims)?;
        let data = AlignedBuffer::zeroed(bytes, "a tensor")?;
        Ok(Self { element_type, dims: dims.to_vec(), data })
    }

    /// A tensor with a copy of these elements, the last dim varying fastest.
    pub fn from_slice<T: Element>(dims: &[i64], elements: &[T]) -> Result<Self> {
        Self::from_bytes(T::TYPE, dims, bytemuck::cast_slice(elements))
    }

    /// A tensor with a copy of these bytes, in the machine's byte order.
    pub fn from_bytes(element_type: ElementType, dims: &[i64], bytes: &[u8]) -> Result<Self> {
        check_size(element_type, dims, bytes.len())?;
        let data = AlignedBuffer::copy_of(bytes, "a tensor")?;
        Ok(Self { element_type, dims: dims.to_vec(), data })
    }

    /// Keeps the elements at the front, as a tensor of these dims, which needs no more memory.
    pub(crate) fn cut(&mut self, dims: &[i64]) -> Result<()> {
        let bytes = size(self.element_type, dims)?;
        if bytes > self.data.len() {
            let reason = format!("{self:?} cannot be cut to {dims:?}");
            return Err(Error::InvalidTensor { reason });
        }
        self.data.truncate(bytes);
        self.dims.clear();
        self.dims.extend_from_slice(dims);
        Ok(())
    }

    pub fn element_type(&self) -> ElementType {
        self.element_type
    }

    pub fn dims(&self) -> &[i64] {
        &self.dims
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.data.len() / self.element_type.bytes()
    }

    pub fn is_empty(&self) -> bool {
        self.data.len() == 0
    }

    pub fn bytes(&self) -> &[u8] {
        self.data.as_slice()
    }

    pub fn bytes_mut(&mut self) -> &mut [u8] {
        self.data.as_mut_slice()
    }

    /// The elements, if they are of this Rust type.
    pub fn as_slice<T: Element>(&self) -> Option<&[T]> {
        (T::TYPE == self.element_type).then(|| bytemuck::cast_slice(self.data.as_slice()))
    }

    /// The elements, if they are of this Rust type.
    pub fn as_mut_slice<T: Element>(&mut self) -> Option<&mut [T]> {
        (T::TYPE == self.element_type).then(|| bytemuck::cast_slice_mut(self.data.as_mut_slice()))
    }

    /// The tensor as an input.
    pub fn view(&self) -> TensorView<'_> {
        let bytes = self.data.as_slice();
        TensorView {
            element_type: self.element_type,
            dims: &self.dims,
            data: bytes.as_ptr(),
            bytes: bytes.len(),
            owner: PhantomData,
        }
    }

    /// The tensor as an output.
    pub fn view_mut(&mut self) -> TensorViewMut<'_> {
        TensorViewMut {
            element_type: self.element_type,
            dims: &self.dims,
            data: self.data.as_mut_ptr(),
            bytes: self.data.len(),
            owner: PhantomData,
        }
    }
}

impl fmt::Debug for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        describe(self.element_type, &self.dims, f)
    }
}

/// An input: contiguous row-major memory that someone else owns. Any alignment.
#[derive(Clone, Copy)]
pub struct TensorView<'a> {
    element_type: ElementType,
    dims: &'a [i64],
    data: *const u8,
    bytes: usize,
    owner: PhantomData<&'a [u8]>,
}

/// An output: contiguous row-major memory that someone else owns, aligned to its elements. Where it is aligned to
/// [`ALIGNMENT`](crate::abi::ALIGNMENT), a run writes it in place; else the result is copied there.
pub struct TensorViewMut<'a> {
    element_type: ElementType,
    dims: &'a [i64],
    data: *mut u8,
    bytes: usize,
    owner: PhantomData<&'a mut [u8]>,
}

impl<'a> TensorView<'a> {
    /// Views bytes in the machine's byte order.
    pub fn new(element_type: ElementType, dims: &'a [i64], bytes: &'a [u8]) -> Result<Self> {
        check_size(element_type, dims, bytes.len())?;
        Ok(Self { element_type, dims, data: bytes.as_ptr(), bytes: bytes.len(), owner: PhantomData })
    }

    /// Views elements.
    pub fn from_slice<T: Element>(dims: &'a [i64], elements: &'a [T]) -> Result<Self> {
        Self::new(T::TYPE, dims, bytemuck::cast_slice(elements))
    }

    /// Views memory at an address.
    ///
    /// # Safety
    /// For `'a`, `data` must be valid for reads of the bytes that element type and dims imply, and nobody may write
    /// there.
    pub unsafe fn from_raw_parts(element_type: ElementType, dims: &'a [i64], data: *const u8) -> Result<Self> {
        let bytes = size(element_type, dims)?;
        Ok(Self { element_type, dims, data, bytes, owner: PhantomData })
    }

    pub fn element_type(&self) -> ElementType {
        self.element_type
    }

    pub fn dims(&self) -> &'a [i64] {
        self.dims
    }

    pub(crate) fn as_ptr(&self) -> *const u8 {
        self.data
    }

    pub(crate) fn bytes(&self) -> &'a [u8] {
        if self.bytes == 0 {
            return &[];
        }
        // SAFETY: by the promise of `from_raw_parts`, or of the slice that it was made of.
        unsafe { std::slice::from_raw_parts(self.data, self.bytes) }
    }

    pub(crate) fn byte_len(&self) -> usize {
        self.bytes
    }
}

impl<'a> TensorViewMut<'a> {
    /// Views bytes.
    pub fn new(element_type: ElementType, dims: &'a [i64], bytes: &'a mut [u8]) -> Result<Self> {
        check_size(element_type, dims, bytes.len())?;
        Ok(Self { element_type, dims, data: bytes.as_mut_ptr(), bytes: bytes.len(), owner: PhantomData })
    }

    /// Views elements.
    pub fn from_slice<T: Element>(dims: &'a [i64], elements: &'a mut [T]) -> Result<Self> {
        Self::new(T::TYPE, dims, bytemuck::cast_slice_mut(elements))
    }

    /// Views memory at an address.
    ///
    /// # Safety
    /// For `'a`, `data` must be valid for reads and writes of the bytes that element type and dims imply, and nobody
    /// else may use them. (That it overlaps no other tensor of a call is checked by the call.)
    pub unsafe fn from_raw_parts(element_type: ElementType, dims: &'a [i64], data: *mut u8) -> Result<Self> {
        let bytes = size(element_type, dims)?;
        Ok(Self { element_type, dims, data, bytes, owner: PhantomData })
    }

    pub fn element_type(&self) -> ElementType {
        self.element_type
    }

    pub fn dims(&self) -> &'a [i64] {
        self.dims
    }

    pub(crate) fn as_mut_ptr(&mut self) -> *mut u8 {
        self.data
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        if self.bytes == 0 {
            return &mut [];
        }
        // SAFETY: by the promise of `from_raw_parts`, or of the slice that it was made of.
        unsafe { std::slice::from_raw_parts_mut(self.data, self.bytes) }
    }

    pub(crate) fn address(&self) -> usize {
        self.data.addr()
    }

    pub(crate) fn byte_len(&self) -> usize {
        self.bytes
    }
}

impl fmt::Debug for TensorView<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        describe(self.element_type, self.dims, f)
    }
}

impl fmt::Debug for TensorViewMut<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        describe(self.element_type, self.dims, f)
    }
}

fn describe(element_type: ElementType, dims: &[i64], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(f, "{element_type}{dims:?}")
}

fn size(element_type: ElementType, dims: &[i64]) -> Result<usize> {
    byte_size(element_type, dims).map_err(|reason| Error::InvalidTensor { reason: format!("it {reason}") })
}

fn check_size(element_type: ElementType, dims: &[i64], found: usize) -> Result<()> {
    let expected = size(element_type, dims)?;
    if expected == found {
        return Ok(());
    }
    let reason = format!("{element_type}{dims:?} has {expected} bytes, but {found} are given");
    Err(Error::InvalidTensor { reason })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dims_and_bytes_must_agree() {
        assert!(Tensor::from_slice(&[2, 3], &[0.0f32; 6]).is_ok());
        let error = Tensor::from_slice(&[2, 3], &[0.0f32; 5]).unwrap_err().to_string();
        assert_eq!(error, "invalid tensor: f32[2, 3] has 24 bytes, but 20 are given");
        assert!(Tensor::zeros(ElementType::F32, &[-1]).is_err());
        assert!(Tensor::zeros(ElementType::F32, &[i64::MAX, i64::MAX]).is_err());
        assert_eq!(Tensor::zeros(ElementType::F32, &[i64::MAX, 0]).unwrap().len(), 0);
        assert_eq!(Tensor::zeros(ElementType::F32, &[]).unwrap().len(), 1);
    }

    #[test]
    fn elements_are_seen_only_as_their_own_type() {
        let mut tensor = Tensor::from_slice(&[3], &[1i32, 2, 3]).unwrap();
        assert_eq!(tensor.as_slice::<i32>(), Some(&[1, 2, 3][..]));
        assert_eq!(tensor.as_slice::<f32>(), None);
        tensor.as_mut_slice::<i32>().unwrap()[0] = 9;
        assert_eq!(tensor.bytes()[..4], 9i32.to_ne_bytes());
    }
}

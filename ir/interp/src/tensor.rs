//! Tensors and vectors: a shape and shared elements, copied when written to while shared.

use std::sync::Arc;

use smallvec::SmallVec;
use sutura_ir::types::FloatKind;

use crate::buffer::Buffer;
use crate::error::{Fault, FaultKind};
use crate::scalar::{DType, Scalar};

/// Sizes of dimensions, in elements.
pub type Shape = SmallVec<[usize; 4]>;

/// A value of tensor or vector type: row-major elements, copy-on-write.
#[derive(Clone, PartialEq)]
pub struct Tensor {
    shape: Shape,
    data: Arc<Buffer>,
}

/// Number of elements of a shape.
///
/// # Errors
/// When it overflows.
pub fn num_elements(shape: &[usize]) -> Result<usize, Fault> {
    // A zero anywhere makes the product zero, even next to sizes whose product would overflow.
    if shape.contains(&0) {
        return Ok(0);
    }
    shape.iter().try_fold(1usize, |n, &d| n.checked_mul(d)).ok_or_else(|| too_large(shape))
}

fn too_large(shape: &[usize]) -> Fault {
    Fault::new(FaultKind::Limit, format!("a tensor of shape {shape:?} does not fit memory"))
}

/// Largest size of one tensor, in bytes: what a single value may take before the interpreter refuses.
const MAX_BYTES: usize = 1 << 34;

fn checked_len(dtype: DType, shape: &[usize]) -> Result<usize, Fault> {
    let len = num_elements(shape)?;
    let bytes = len.checked_mul(dtype.bytes());
    if bytes.is_none_or(|b| b > MAX_BYTES) { Err(too_large(shape)) } else { Ok(len) }
}

/// Row-major strides, in elements.
pub fn row_major_strides(shape: &[usize]) -> SmallVec<[isize; 4]> {
    let mut strides: SmallVec<[isize; 4]> = shape.iter().map(|_| 0).collect();
    let mut step = 1isize;
    for (stride, &size) in strides.iter_mut().zip(shape).rev() {
        *stride = step;
        step = step.wrapping_mul(size.max(1) as isize);
    }
    strides
}

impl Tensor {
    /// A tensor of the given elements.
    ///
    /// # Errors
    /// When their number does not fit the shape.
    pub fn new(shape: impl Into<Shape>, data: Buffer) -> Result<Self, Fault> {
        let shape = shape.into();
        if num_elements(&shape)? != data.len() {
            return Err(Fault::shape(format!(
                "{} elements do not fill a tensor of shape {:?}",
                data.len(),
                &shape[..]
            )));
        }
        Ok(Self { shape, data: Arc::new(data) })
    }

    /// A tensor of zeros.
    ///
    /// # Errors
    /// When it is too large.
    pub fn zeros(dtype: DType, shape: &[usize]) -> Result<Self, Fault> {
        Self::new(shape, Buffer::zeros(dtype, checked_len(dtype, shape)?))
    }

    /// A tensor that nothing was written to.
    ///
    /// # Errors
    /// When it is too large.
    pub fn undefined(dtype: DType, shape: &[usize]) -> Result<Self, Fault> {
        Self::new(shape, Buffer::undefined(dtype, checked_len(dtype, shape)?))
    }

    /// A tensor of copies of a number.
    ///
    /// # Errors
    /// When it is too large.
    pub fn splat(value: Scalar, shape: &[usize]) -> Result<Self, Fault> {
        Self::new(shape, Buffer::splat(value, checked_len(value.dtype(), shape)?))
    }

    /// A tensor of `f32`.
    ///
    /// # Errors
    /// When the number of elements does not fit the shape.
    pub fn from_f32(values: Vec<f32>, shape: &[usize]) -> Result<Self, Fault> {
        Self::new(shape, Buffer::from_f32(values))
    }

    /// A tensor of `i64`.
    ///
    /// # Errors
    /// When the number of elements does not fit the shape.
    pub fn from_i64(values: Vec<i64>, shape: &[usize]) -> Result<Self, Fault> {
        Self::new(shape, Buffer::from_i64(values))
    }

    /// A tensor of the numbers that `values` yields, row-major.
    ///
    /// # Errors
    /// When there are fewer than the shape holds, or of another type.
    pub fn from_scalars(
        dtype: DType,
        shape: &[usize],
        values: impl IntoIterator<Item = Scalar>,
    ) -> Result<Self, Fault> {
        let mut data = Buffer::undefined(dtype, checked_len(dtype, shape)?);
        let mut count = 0;
        for value in values.into_iter().take(data.len()) {
            if value.dtype() != dtype {
                return Err(Fault::type_mismatch(format!(
                    "an element of type {} in a tensor of {dtype}",
                    value.dtype()
                )));
            }
            data.set(count, Some(value));
            count += 1;
        }
        if count < data.len() {
            return Err(Fault::shape(format!("{count} elements do not fill a tensor of shape {shape:?}")));
        }
        Self::new(shape, data)
    }

    /// Element type.
    pub fn dtype(&self) -> DType {
        self.data.dtype()
    }

    /// Sizes of the dimensions.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Number of dimensions.
    pub fn rank(&self) -> usize {
        self.shape.len()
    }

    /// Number of elements.
    pub fn len(&self) -> usize {
        self.data.len()
    }

    /// True without elements.
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    /// The elements, row-major.
    pub fn data(&self) -> &Buffer {
        &self.data
    }

    /// The elements for writing; copied first when shared.
    pub fn data_mut(&mut self) -> &mut Buffer {
        Arc::make_mut(&mut self.data)
    }

    /// The same bits as elements of another type of the same width.
    ///
    /// # Errors
    /// When the widths differ.
    pub fn reinterpret(&self, dtype: DType) -> Result<Self, Fault> {
        Self::new(self.shape(), self.data().reinterpret(dtype)?)
    }

    /// The real (0) or imaginary (1) parts of complex elements; `None` of other elements.
    pub fn part(&self, k: usize) -> Option<Self> {
        let part = self.data.parts()?.into_iter().nth(k)?;
        Some(Self { shape: self.shape.clone(), data: Arc::new(part) })
    }

    /// Complex elements of these parts, which are floats of one type.
    ///
    /// # Errors
    /// When shapes or types do not fit.
    pub fn of_parts(re: &Self, im: &Self) -> Result<Self, Fault> {
        match (re.dtype(), im.dtype()) {
            (DType::Float(kind), other)
                if other == DType::Float(kind)
                    && matches!(kind, FloatKind::F32 | FloatKind::F64)
                    && re.shape == im.shape =>
            {
                Self::new(re.shape.clone(), Buffer::of_parts(kind, re.data(), im.data()))
            }
            _ => Err(Fault::type_mismatch(format!(
                "no complex numbers have parts of types {} and {}",
                re.dtype(),
                im.dtype()
            ))),
        }
    }

    /// Complex elements as their parts, side by side in a last dimension of size 2, and back.
    ///
    /// # Errors
    /// When the elements or the shape are not of that kind.
    pub fn interleaved(&self) -> Result<Self, Fault> {
        let mut shape = self.shape.clone();
        let dtype = match self.dtype() {
            DType::Complex(kind) => {
                shape.push(2);
                DType::Float(kind)
            }
            DType::Float(kind @ (FloatKind::F32 | FloatKind::F64)) if shape.pop() == Some(2) => DType::Complex(kind),
            other => {
                return Err(Fault::type_mismatch(format!("elements of type {other} are no parts of complex numbers")));
            }
        };
        let bytes = self.data.to_le_bytes().ok_or_else(crate::buffer::uninitialised)?;
        Self::new(shape, Buffer::from_le_bytes(dtype, &bytes)?)
    }

    /// The same elements in another shape.
    ///
    /// # Errors
    /// When the number of elements differs.
    pub fn reshape(&self, shape: &[usize]) -> Result<Self, Fault> {
        if num_elements(shape)? != self.len() {
            return Err(Fault::shape(format!("a tensor of shape {:?} cannot become {shape:?}", self.shape())));
        }
        Ok(Self { shape: shape.into(), data: self.data.clone() })
    }

    /// Row-major position of an index.
    ///
    /// # Errors
    /// When the rank differs or a coordinate is out of bounds.
    pub fn position(&self, index: &[i64]) -> Result<usize, Fault> {
        if index.len() != self.rank() {
            return Err(Fault::shape(format!("{} indices for a value of rank {}", index.len(), self.rank())));
        }
        let mut position = 0;
        for (dim, (&i, &size)) in index.iter().zip(&self.shape).enumerate() {
            if i < 0 || i as u64 >= size as u64 {
                return Err(out_of_bounds(i, dim, size));
            }
            position = position * size + i as usize;
        }
        Ok(position)
    }

    /// The element at an index.
    ///
    /// # Errors
    /// When the index is out of bounds or nothing was written there.
    pub fn at(&self, index: &[i64]) -> Result<Scalar, Fault> {
        self.data.read(self.position(index)?)
    }
}

/// The fault of an index that is not below the size of its dimension.
pub fn out_of_bounds(index: i64, dim: usize, size: usize) -> Fault {
    Fault::new(FaultKind::OutOfBounds, format!("index {index} is out of bounds for dimension {dim} with size {size}"))
}

/// Advances a row-major multi-index; false after the last one.
pub fn next_index(index: &mut [usize], shape: &[usize]) -> bool {
    for (i, &size) in index.iter_mut().zip(shape).rev() {
        *i += 1;
        if *i < size {
            return true;
        }
        *i = 0;
    }
    false
}

impl std::fmt::Debug for Tensor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        const SHOWN: usize = 16;
        for d in &self.shape {
            write!(f, "{d}x")?;
        }
        write!(f, "{} [", self.dtype())?;
        for i in 0..self.len().min(SHOWN) {
            let sep = if i == 0 { "" } else { ", " };
            match self.data.get(i) {
                Some(value) => write!(f, "{sep}{value}")?,
                None => write!(f, "{sep}undefined")?,
            }
        }
        f.write_str(if self.len() > SHOWN { ", …]" } else { "]" })
    }
}

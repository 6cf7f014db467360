//! Tensors that Python objects have: NumPy arrays, and what speaks DLPack.

use std::ops::Range;

use numpy::npyffi::{NPY_ARRAY_WRITEABLE, PyArrayObject};
use numpy::{PyUntypedArray, PyUntypedArrayMethods};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyType;
use smallvec::SmallVec;
use sutura_runtime::{ElementType, Tensor};

use crate::{dlpack, elements, raise, strided};

/// Most tensors have few dims, and short runs take less than a microsecond.
pub(crate) type Dims = SmallVec<[i64; 6]>;

/// A tensor of an object. The memory is there as long as `owner`.
pub(crate) struct Array<'py> {
    pub(crate) owner: Bound<'py, PyAny>,
    pub(crate) element_type: ElementType,
    pub(crate) dims: Dims,
    /// In bytes; none where rows lie one behind the other.
    pub(crate) strides: Option<Dims>,
    pub(crate) data: *mut u8,
    pub(crate) read_only: bool,
}

impl<'py> Array<'py> {
    /// The tensor of an object; `what` is what errors call it, such as ``input `x` ``.
    pub(crate) fn of(object: &Bound<'py, PyAny>, what: impl Fn() -> String) -> PyResult<Self> {
        if let Ok(array) = object.cast::<PyUntypedArray>() {
            return Self::of_numpy(array, &what);
        }
        if is_numpy_scalar(object)? {
            // A number that NumPy made of an array without dims.
            let array = object.py().import("numpy")?.call_method1("asarray", (object,))?;
            return Self::of_numpy(array.cast::<PyUntypedArray>()?, &what);
        }
        match dlpack::read(object, &what())? {
            Some(array) => Ok(array),
            None => Err(raise::usage(format!(
                "{} is of the type {}, which is neither a NumPy array nor gives one through DLPack; \
                 numpy.asarray(x, dtype) makes one",
                what(),
                object.get_type().name()?
            ))),
        }
    }

    fn of_numpy(array: &Bound<'py, PyUntypedArray>, what: &impl Fn() -> String) -> PyResult<Self> {
        if is_masked(array)? {
            let message = format!("{} is a masked array, and models know no masks; x.filled(value) fills it", what());
            return Err(raise::input(message));
        }
        let element_type =
            elements::of_dtype(&array.dtype()).map_err(|why| raise::input(format!("{} {why}", what())))?;
        let dims = array.shape().iter().map(|dim| *dim as i64).collect();
        let strides = (!array.is_c_contiguous()).then(|| array.strides().iter().map(|s| *s as i64).collect());
        let raw: *mut PyArrayObject = array.as_array_ptr();
        // SAFETY: it is an array, whose fields may be read while Python is attached.
        let (data, flags) = unsafe { ((*raw).fields.data.cast::<u8>(), (*raw).fields.flags) };
        let read_only = flags & NPY_ARRAY_WRITEABLE == 0;
        Ok(Self { owner: array.clone().into_any(), element_type, dims, strides, data, read_only })
    }

    /// Forgets strides that say what none say.
    pub(crate) fn simplified(mut self) -> Self {
        if self.strides.as_ref().is_some_and(|strides| strided::is_contiguous(&self.dims, strides, self.item())) {
            self.strides = None;
        }
        self
    }

    pub(crate) fn is_contiguous(&self) -> bool {
        self.strides.is_none()
    }

    /// Whether each element has memory of its own.
    pub(crate) fn is_apart(&self) -> bool {
        self.strides.as_ref().is_none_or(|strides| strided::is_apart(&self.dims, strides, self.item()))
    }

    fn item(&self) -> usize {
        self.element_type.bytes()
    }

    /// The addresses that it has a part of.
    pub(crate) fn extent(&self) -> Range<usize> {
        strided::extent(self.data.addr(), &self.dims, self.strides.as_deref(), self.item())
    }

    /// A copy whose rows lie one behind the other.
    pub(crate) fn gathered(&self) -> sutura_runtime::Result<Tensor> {
        let mut tensor = Tensor::zeros(self.element_type, &self.dims)?;
        if let Some(strides) = &self.strides {
            // SAFETY: the array has elements where its strides say, and the tensor as many.
            unsafe { strided::gather(self.data, &self.dims, strides, self.item(), tensor.bytes_mut().as_mut_ptr()) };
        } else if !tensor.is_empty() {
            // SAFETY: both have as many bytes, and the tensor is new.
            unsafe { tensor.bytes_mut().as_mut_ptr().copy_from_nonoverlapping(self.data, tensor.bytes().len()) };
        }
        Ok(tensor)
    }

    /// Takes the elements of a tensor of the same type and dims.
    pub(crate) fn take(&self, tensor: &Tensor) {
        if let Some(strides) = &self.strides {
            // SAFETY: the array has elements where its strides say, may be written, and the tensor has as many.
            unsafe { strided::scatter(tensor.bytes().as_ptr(), &self.dims, strides, self.item(), self.data) };
        } else if !tensor.is_empty() {
            // SAFETY: both have as many bytes, and the tensor is apart from the array.
            unsafe { self.data.copy_from_nonoverlapping(tensor.bytes().as_ptr(), tensor.bytes().len()) };
        }
    }
}

/// Whether it is a scalar such as `numpy.float32(1)`.
fn is_numpy_scalar(object: &Bound<'_, PyAny>) -> PyResult<bool> {
    static GENERIC: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    object.is_instance(GENERIC.import(object.py(), "numpy", "generic")?)
}

fn is_masked(array: &Bound<'_, PyUntypedArray>) -> PyResult<bool> {
    static ARRAY: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    static MASKED: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    let py = array.py();
    // Nearly all arrays are of no class of their own.
    if array.get_type().is(ARRAY.import(py, "numpy", "ndarray")?) {
        return Ok(false);
    }
    array.is_instance(MASKED.import(py, "numpy.ma", "MaskedArray")?)
}

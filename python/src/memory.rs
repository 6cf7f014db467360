//! Results: memory of the runtime that NumPy arrays and tensors of others are views of.

use std::ffi::c_int;

use numpy::npyffi::{NPY_ARRAY_CARRAY, NpyTypes, PY_ARRAY_API, npy_intp};
use numpy::{PyArrayDescr, PyArrayDescrMethods};
use pyo3::exceptions::PyBufferError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple, PyType};
use sutura_runtime::{ElementType, Tensor};

use crate::array::Dims;
use crate::{dlpack, elements, raise};

/// The memory of a result. Arrays refer to it; nobody makes one.
#[pyclass(frozen, module = "sutura._native")]
pub(crate) struct Memory {
    tensor: Tensor,
    data: *mut u8,
}

// SAFETY: the tensor owns its memory, to which `data` points. Arrays write there as Python lets them, as to any array's memory.
unsafe impl Send for Memory {}
// SAFETY: as above; nothing here reads the elements.
unsafe impl Sync for Memory {}

impl Memory {
    pub(crate) fn new(mut tensor: Tensor) -> Self {
        let data = tensor.bytes_mut().as_mut_ptr();
        Self { tensor, data }
    }

    pub(crate) fn tensor(&self) -> &Tensor {
        &self.tensor
    }

    pub(crate) fn data(&self) -> *mut u8 {
        self.data
    }
}

#[pymethods]
impl Memory {
    fn __dlpack_device__(&self) -> (c_int, c_int) {
        (dlpack::CPU, 0)
    }

    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        slf: &Bound<'py, Self>,
        stream: Option<Bound<'py, PyAny>>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(c_int, c_int)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if stream.is_some() || copy == Some(true) || dl_device.is_some_and(|device| device.0 != dlpack::CPU) {
            return Err(PyBufferError::new_err("this memory is the processor's, and is handed out without a copy"));
        }
        dlpack::give(slf, max_version.is_some_and(|(major, _)| major >= 1))
    }
}

/// A NumPy array of a tensor's memory.
pub(crate) fn into_numpy<'py>(
    py: Python<'py>,
    tensor: Tensor,
    dtype: &Bound<'py, PyArrayDescr>,
) -> PyResult<Bound<'py, PyAny>> {
    let mut dims: Dims = tensor.dims().into();
    let memory = Bound::new(py, Memory::new(tensor))?;
    let data = memory.get().data();
    // SAFETY: the dtype has the size of the tensor's elements and the dims are the tensor's, so that the array lies in its memory,
    // which its base keeps. `PyArray_NewFromDescr` takes the reference to the dtype, `PyArray_SetBaseObject` that to the base.
    unsafe {
        let class = numpy::npyffi::get_type_object(py, NpyTypes::PyArray_Type);
        let array = PY_ARRAY_API.PyArray_NewFromDescr(
            py,
            class,
            dtype.clone().into_dtype_ptr(),
            dims.len() as c_int,
            dims.as_mut_ptr().cast::<npy_intp>(),
            std::ptr::null_mut(),
            data.cast(),
            NPY_ARRAY_CARRAY,
            std::ptr::null_mut(),
        );
        let array = Bound::from_owned_ptr_or_err(py, array)?;
        if PY_ARRAY_API.PyArray_SetBaseObject(py, array.as_ptr().cast(), memory.into_ptr()) < 0 {
            return Err(PyErr::fetch(py));
        }
        Ok(array)
    }
}

/// What results are, by what the inputs were.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Numpy,
    Jax,
    Torch,
}

impl Kind {
    /// The kind of one input.
    pub(crate) fn of(object: &Bound<'_, PyAny>) -> PyResult<Self> {
        for class in object.get_type().mro().iter() {
            let module = class.cast_into::<PyType>()?.module()?;
            match module.to_string_lossy().split('.').next() {
                Some("torch") => return Ok(Self::Torch),
                Some("jax" | "jaxlib") => return Ok(Self::Jax),
                _ => {}
            }
        }
        Ok(Self::Numpy)
    }

    /// The kind of results that one input more asks for.
    pub(crate) fn and(self, other: Self) -> PyResult<Self> {
        match (self, other) {
            (kind, Self::Numpy) | (Self::Numpy, kind) => Ok(kind),
            (kind, other) if kind == other => Ok(kind),
            _ => Err(raise::usage("the inputs are tensors of jax and of torch; of which are the outputs to be?")),
        }
    }
}

/// A tensor as an object of some kind.
pub(crate) fn into_kind<'py>(py: Python<'py>, tensor: Tensor, kind: Kind) -> PyResult<Bound<'py, PyAny>> {
    let module = match kind {
        Kind::Numpy => {
            let dtype = elements::dtype(py, tensor.element_type())?;
            return into_numpy(py, tensor, &dtype);
        }
        Kind::Jax => "jax.dlpack",
        Kind::Torch => "torch",
    };
    let memory = Bound::new(py, Memory::new(tensor))?;
    py.import(module)?.call_method1("from_dlpack", (memory,))
}

/// A NumPy array with any content (zeros, at first) whose memory is aligned as models want it: no copy is made of it as an input,
/// nor as `out`.
#[pyfunction]
#[pyo3(signature = (shape, dtype=None))]
pub(crate) fn empty<'py>(
    py: Python<'py>,
    shape: &Bound<'py, PyAny>,
    dtype: Option<&Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let dims = match shape.extract::<i64>() {
        Ok(dim) => vec![dim],
        Err(_) => shape.extract::<Vec<i64>>()?,
    };
    let dtype = match dtype {
        Some(dtype) => PyArrayDescr::new(py, dtype)?,
        None => elements::dtype(py, ElementType::F32)?,
    };
    let element_type = elements::of_dtype(&dtype).map_err(|why| raise::usage(format!("the array {why}")))?;
    let tensor = Tensor::zeros(element_type, &dims).map_err(|error| raise::error(py, &error))?;
    into_numpy(py, tensor, &dtype)
}

/// One object alone, several as a tuple.
pub(crate) fn one_or_all<'py>(py: Python<'py>, mut objects: Vec<Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
    if objects.len() == 1 {
        return Ok(objects.remove(0));
    }
    Ok(PyTuple::new(py, objects)?.into_any())
}

/// The `out` among keywords, and the others.
pub(crate) fn without_out<'py>(
    keywords: &Bound<'py, PyDict>,
) -> PyResult<(Bound<'py, PyDict>, Option<Bound<'py, PyAny>>)> {
    let Some(out) = keywords.get_item("out")? else { return Ok((keywords.clone(), None)) };
    let rest = keywords.copy()?;
    rest.del_item("out")?;
    Ok((rest, (!out.is_none()).then_some(out)))
}

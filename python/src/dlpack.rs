//! DLPack's structs, and tensors that come or go through them. <https://dmlc.github.io/dlpack/latest/c_api.html>

use std::ffi::{CStr, c_int, c_void};
use std::ptr::{self, NonNull};

use pyo3::exceptions::{PyAttributeError, PyTypeError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};

use crate::array::{Array, Dims};
use crate::elements;
use crate::memory::Memory;
use crate::raise;

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DataType {
    pub(crate) code: u8,
    pub(crate) bits: u8,
    pub(crate) lanes: u16,
}

#[repr(C)]
struct Device {
    kind: c_int,
    index: c_int,
}

/// `kDLCPU`
pub(crate) const CPU: c_int = 1;

#[repr(C)]
struct Tensor {
    data: *mut c_void,
    device: Device,
    rank: c_int,
    data_type: DataType,
    shape: *mut i64,
    /// In elements; null where rows lie one behind the other.
    strides: *mut i64,
    byte_offset: u64,
}

/// `DLManagedTensor`, without a version.
#[repr(C)]
struct Managed {
    tensor: Tensor,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Managed)>,
}

#[repr(C)]
struct Version {
    major: u32,
    minor: u32,
}

/// `DLManagedTensorVersioned`
#[repr(C)]
struct Versioned {
    version: Version,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Versioned)>,
    flags: u64,
    tensor: Tensor,
}

const NAME: &CStr = c"dltensor";
const NAME_VERSIONED: &CStr = c"dltensor_versioned";
const READ_ONLY: u64 = 1;
/// The most dims that anything has.
const MOST_DIMS: c_int = 64;

/// Reads a tensor of an object that speaks DLPack; nothing where it does not. `what` is what errors call it.
pub(crate) fn read<'py>(object: &Bound<'py, PyAny>, what: &str) -> PyResult<Option<Array<'py>>> {
    let py = object.py();
    let device = match object.call_method0(pyo3::intern!(py, "__dlpack_device__")) {
        Ok(device) => device,
        Err(error) if error.is_instance_of::<PyAttributeError>(py) => return Ok(None),
        Err(error) => return Err(refused(py, what, error)),
    };
    let (kind, _): (c_int, c_int) = device.extract()?;
    if kind != CPU {
        return Err(raise::input(format!(
            "{what} is a tensor of a device (DLPack's kind {kind}); copy it to the processor first, or run on the device \
             with sutura.Session"
        )));
    }
    let capsule = capsule_of(object).map_err(|error| refused(py, what, error))?;
    // SAFETY: the array holds the capsule, which owns the tensor: nobody renames it, so its destructor frees the tensor.
    unsafe { of_capsule(capsule, what) }.map(Some)
}

/// The exception of whoever has the tensor, as the cause of ours.
fn refused(py: Python<'_>, what: &str, error: PyErr) -> PyErr {
    let ours = raise::input(format!("{what} cannot be read through DLPack: {}", error.value(py)));
    ours.set_cause(py, Some(error));
    ours
}

fn capsule_of<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyCapsule>> {
    let py = object.py();
    let method = object.getattr(pyo3::intern!(py, "__dlpack__"))?;
    let keywords = PyDict::new(py);
    keywords.set_item("max_version", (1, 0))?;
    let capsule = match method.call((), Some(&keywords)) {
        // It speaks DLPack as it was before it had versions.
        Err(error) if error.is_instance_of::<PyTypeError>(py) => method.call0()?,
        other => other?,
    };
    Ok(capsule.cast_into::<PyCapsule>()?)
}

/// # Safety
/// A capsule with one of DLPack's names holds what DLPack says.
unsafe fn of_capsule<'py>(capsule: Bound<'py, PyCapsule>, what: &str) -> PyResult<Array<'py>> {
    let pointer = |name: &CStr| {
        // SAFETY: any object may be asked.
        let valid = unsafe { ffi::PyCapsule_IsValid(capsule.as_ptr(), name.as_ptr()) } == 1;
        // SAFETY: it has this name and is not empty.
        valid.then(|| unsafe { ffi::PyCapsule_GetPointer(capsule.as_ptr(), name.as_ptr()) })
    };
    let (tensor, read_only) = if let Some(versioned) = pointer(NAME_VERSIONED) {
        // SAFETY: by this function's condition; all versions begin with these fields.
        let (version, flags) = unsafe {
            let versioned = versioned.cast::<Versioned>();
            (&(*versioned).version, (*versioned).flags)
        };
        if version.major != 1 {
            return Err(raise::unsupported(format!("{what} comes in version {} of DLPack, not in 1", version.major)));
        }
        // SAFETY: version 1 has this field, at the place.
        (unsafe { &raw const (*versioned.cast::<Versioned>()).tensor }, flags & READ_ONLY != 0)
    } else if let Some(managed) = pointer(NAME) {
        // SAFETY: by this function's condition.
        (unsafe { &raw const (*managed.cast::<Managed>()).tensor }, false)
    } else {
        return Err(raise::input(format!("{what} gave a capsule that is not DLPack's, or that was used")));
    };
    // SAFETY: by this function's condition.
    unsafe { of_tensor(&*tensor, capsule.into_any(), read_only, what) }
}

/// # Safety
/// The tensor is as DLPack says, and lives as long as `owner`.
unsafe fn of_tensor<'py>(
    tensor: &Tensor,
    owner: Bound<'py, PyAny>,
    read_only: bool,
    what: &str,
) -> PyResult<Array<'py>> {
    let DataType { code, bits, lanes } = tensor.data_type;
    let Some(element_type) = elements::of_dlpack(tensor.data_type) else {
        return Err(raise::input(format!(
            "{what} has DLPack's element type (code {code}, {bits} bits, {lanes} lanes), which no model has in memory; \
             pass a NumPy array"
        )));
    };
    if tensor.device.kind != CPU || !(0..=MOST_DIMS).contains(&tensor.rank) {
        return Err(raise::input(format!("{what} is no tensor of the processor with at most {MOST_DIMS} dimensions")));
    }
    let rank = tensor.rank as usize;
    let list = |first: *const i64| -> Dims {
        if rank == 0 {
            return Dims::new();
        }
        // SAFETY: by this function's condition there are `rank` of them.
        unsafe { std::slice::from_raw_parts(first, rank) }.into()
    };
    let dims = list(tensor.shape);
    let bytes = element_type.bytes() as i64;
    let strides =
        (!tensor.strides.is_null()).then(|| list(tensor.strides).iter().map(|stride| stride * bytes).collect());
    let data = tensor.data.cast::<u8>().wrapping_add(tensor.byte_offset as usize);
    Ok(Array { owner, element_type, dims, strides, data, read_only }.simplified())
}

/// What a tensor that is handed out needs: the dims, and who has the memory.
struct Handed {
    dims: Dims,
    _memory: Py<Memory>,
}

impl Handed {
    fn tensor(&mut self, data: *mut u8, data_type: DataType) -> Tensor {
        Tensor {
            data: data.cast(),
            device: Device { kind: CPU, index: 0 },
            rank: self.dims.len() as c_int,
            data_type,
            shape: self.dims.as_mut_ptr(),
            strides: ptr::null_mut(),
            byte_offset: 0,
        }
    }
}

/// A capsule with a tensor, for whoever asked for it.
pub(crate) fn give<'py>(memory: &Bound<'py, Memory>, versioned: bool) -> PyResult<Bound<'py, PyAny>> {
    let this = memory.get();
    let element_type = this.tensor().element_type();
    let Some(data_type) = elements::to_dlpack(element_type) else {
        return Err(raise::unsupported(format!(
            "DLPack has no {element_type} with an element in each byte; take NumPy arrays: pass the inputs as NumPy arrays"
        )));
    };
    let mut handed = Box::new(Handed { dims: this.tensor().dims().into(), _memory: memory.clone().unbind() });
    let tensor = handed.tensor(this.data(), data_type);
    let context = Box::into_raw(handed).cast();
    let (pointer, name, destructor): (*mut c_void, &CStr, ffi::PyCapsule_Destructor) = if versioned {
        let version = Version { major: 1, minor: 0 };
        let managed = Versioned { version, context, deleter: Some(free_versioned), flags: 0, tensor };
        (Box::into_raw(Box::new(managed)).cast(), NAME_VERSIONED, drop_versioned)
    } else {
        let managed = Managed { tensor, context, deleter: Some(free) };
        (Box::into_raw(Box::new(managed)).cast(), NAME, drop_unversioned)
    };
    // SAFETY: the pointer is not null and the name lives for ever; the destructor takes what it finds under that name.
    unsafe {
        let capsule = ffi::PyCapsule_New(pointer, name.as_ptr(), Some(destructor));
        Bound::from_owned_ptr_or_err(memory.py(), capsule)
    }
}

/// # Safety
/// As DLPack says: `managed` is what [`give`] made, and is not used again.
unsafe extern "C" fn free(managed: *mut Managed) {
    // SAFETY: by this function's condition both came from boxes.
    unsafe { release(Box::from_raw(managed).context) };
}

/// # Safety
/// As for [`free`].
unsafe extern "C" fn free_versioned(managed: *mut Versioned) {
    // SAFETY: by this function's condition both came from boxes.
    unsafe { release(Box::from_raw(managed).context) };
}

/// # Safety
/// The context is what [`give`] made, and is not used again.
unsafe fn release(context: *mut c_void) {
    // SAFETY: by this function's condition.
    let handed = unsafe { Box::from_raw(context.cast::<Handed>()) };
    // Whoever frees a tensor may be no thread of Python's. Where Python is gone, so is its memory.
    let _ = Python::try_attach(|_| drop(handed));
}

/// # Safety
/// Called by Python for a capsule of [`give`].
unsafe extern "C" fn drop_unversioned(capsule: *mut ffi::PyObject) {
    // SAFETY: by this function's condition; with another name it was taken.
    if let Some(managed) = unsafe { untaken(capsule, NAME) } {
        // SAFETY: nobody took it.
        unsafe { free(managed.cast().as_ptr()) };
    }
}

/// # Safety
/// As for [`drop_unversioned`].
unsafe extern "C" fn drop_versioned(capsule: *mut ffi::PyObject) {
    // SAFETY: by this function's condition; with another name it was taken.
    if let Some(managed) = unsafe { untaken(capsule, NAME_VERSIONED) } {
        // SAFETY: nobody took it.
        unsafe { free_versioned(managed.cast().as_ptr()) };
    }
}

/// # Safety
/// It is a capsule, and Python is attached.
unsafe fn untaken(capsule: *mut ffi::PyObject, name: &CStr) -> Option<NonNull<c_void>> {
    // SAFETY: by this function's condition.
    unsafe {
        if ffi::PyCapsule_IsValid(capsule, name.as_ptr()) == 0 {
            return None;
        }
        NonNull::new(ffi::PyCapsule_GetPointer(capsule, name.as_ptr()))
    }
}

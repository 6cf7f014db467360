//! The C interface to the runtime; `runtime/include/sutura.h` is its documentation and its contract.
//!
//! Built as `libsutura_rt.so` and `libsutura_rt.a`. Nothing here decides anything: every function turns its arguments
//! into those of [`sutura_runtime`], and errors into a status and a message.

#![allow(unsafe_code)]

mod failure;
mod handle;

use std::ffi::{CStr, c_char};
use std::path::Path;

use failure::{Failure, Result, guard, status};
use handle::{Handle, Info};
use sutura_runtime::{ElementType, Model, Options, TensorView, TensorViewMut, abi};

/// `sutura_model`.
pub type SuturaModel = Handle;

/// `sutura_value`.
#[repr(C)]
#[derive(Debug)]
pub struct SuturaValue {
    pub name: *const c_char,
    pub element_type: i32,
    pub rank: i32,
    pub dims: *const i64,
}

/// `sutura_tensor`.
#[repr(C)]
#[derive(Debug)]
pub struct SuturaTensor {
    pub element_type: i32,
    pub rank: i32,
    pub dims: *const i64,
    pub data: *mut u8,
}

/// See `sutura.h`.
///
/// # Safety
/// `path` is null or a C string; `model` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sutura_model_open(path: *const c_char, threads: i32, model: *mut *mut SuturaModel) -> i32 {
    status(|| {
        if path.is_null() || model.is_null() {
            return Err(Failure::null("path or model"));
        }
        // SAFETY: not null, so a C string by this function's condition.
        let path = unsafe { CStr::from_ptr(path) };
        let options = match usize::try_from(threads) {
            Ok(0) => Options::new(),
            Ok(n) => Options::new().threads(n),
            Err(_) => return Err(Failure::usage(format!("the number of threads is negative: {threads}"))),
        };
        let loaded = Model::load_with(path_of(path), options)?;
        let handle = Box::new(Handle::new(loaded));
        // SAFETY: not null, so valid for a write by this function's condition.
        unsafe { model.write(Box::into_raw(handle)) };
        Ok(())
    })
}

/// See `sutura.h`.
///
/// # Safety
/// `model` is null, or came from `sutura_model_open` and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sutura_model_close(model: *mut SuturaModel) {
    status(|| {
        if !model.is_null() {
            // SAFETY: by this function's condition it came from `Box::into_raw` and is given back once.
            drop(unsafe { Box::from_raw(model) });
        }
        Ok(())
    });
}

/// See `sutura.h`.
///
/// # Safety
/// `model` is null or an open model.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sutura_model_signature(model: *const SuturaModel) -> *const c_char {
    // SAFETY: by this function's condition.
    guard(|| Ok(unsafe { open(model) }?.signature.as_ptr())).unwrap_or(std::ptr::null())
}

/// See `sutura.h`.
///
/// # Safety
/// `model` is null or an open model.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sutura_model_input_count(model: *const SuturaModel) -> i32 {
    // SAFETY: by this function's condition.
    guard(|| Ok(unsafe { open(model) }?.inputs.len() as i32)).unwrap_or(-1)
}

/// See `sutura.h`.
///
/// # Safety
/// `model` is null or an open model.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sutura_model_output_count(model: *const SuturaModel) -> i32 {
    // SAFETY: by this function's condition.
    guard(|| Ok(unsafe { open(model) }?.outputs.len() as i32)).unwrap_or(-1)
}

/// See `sutura.h`.
///
/// # Safety
/// `model` is null or an open model; `value` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sutura_model_input(model: *const SuturaModel, index: i32, value: *mut SuturaValue) -> i32 {
    // SAFETY: by this function's condition.
    status(|| unsafe { describe(&open(model)?.inputs, "input", index, value) })
}

/// See `sutura.h`.
///
/// # Safety
/// `model` is null or an open model; `value` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sutura_model_output(model: *const SuturaModel, index: i32, value: *mut SuturaValue) -> i32 {
    // SAFETY: by this function's condition.
    status(|| unsafe { describe(&open(model)?.outputs, "output", index, value) })
}

/// See `sutura.h`.
///
/// # Safety
/// `model` is null or an open model; `inputs` holds `n_inputs` tensors with valid dims; `dims` is null or has room
/// for the output's rank.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sutura_model_output_dims(
    model: *const SuturaModel,
    inputs: *const SuturaTensor,
    n_inputs: i32,
    output: i32,
    dims: *mut i64,
) -> i32 {
    status(|| {
        // SAFETY: by this function's condition.
        let (handle, inputs) = unsafe { (open(model)?, slice(inputs, n_inputs, "inputs")?) };
        let info = at(&handle.outputs, "output", output)?;
        // SAFETY: by this function's condition.
        let input_dims = inputs.iter().map(|t| unsafe { tensor_dims(t) }).collect::<Result<Vec<_>>>()?;
        let shapes = handle.model.infer_shapes(&input_dims)?;
        let found = &shapes.outputs[info.index];
        if found.is_empty() {
            return Ok(());
        }
        if dims.is_null() {
            return Err(Failure::null("dims"));
        }
        // SAFETY: not null, so by this function's condition with room for the rank; the found dims are our own.
        unsafe { dims.copy_from_nonoverlapping(found.as_ptr(), found.len()) };
        Ok(())
    })
}

/// See `sutura.h`.
///
/// # Safety
/// `model` is null or an open model; `inputs` and `outputs` hold that many tensors, with dims and data valid for what
/// they say: inputs for reads, outputs for writes, and nobody else writes there during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sutura_model_run(
    model: *const SuturaModel,
    inputs: *const SuturaTensor,
    n_inputs: i32,
    outputs: *const SuturaTensor,
    n_outputs: i32,
) -> i32 {
    status(|| {
        // SAFETY: by this function's condition.
        unsafe {
            let handle = open(model)?;
            let inputs = slice(inputs, n_inputs, "inputs")?.iter().map(|t| input(t)).collect::<Result<Vec<_>>>()?;
            let outputs = slice(outputs, n_outputs, "outputs")?.iter().map(|t| output(t));
            let mut outputs = outputs.collect::<Result<Vec<_>>>()?;
            handle.model.run_into(&inputs, &mut outputs)?;
        }
        Ok(())
    })
}

/// See `sutura.h`.
#[unsafe(no_mangle)]
pub extern "C" fn sutura_last_error() -> *const c_char {
    failure::last()
}

/// See `sutura.h`.
#[unsafe(no_mangle)]
pub extern "C" fn sutura_version() -> *const c_char {
    const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\0");
    VERSION.as_ptr().cast()
}

fn path_of(text: &CStr) -> &Path {
    use std::os::unix::ffi::OsStrExt;
    Path::new(std::ffi::OsStr::from_bytes(text.to_bytes()))
}

/// # Safety
/// `model` is null or an open model, for as long as the result is used.
unsafe fn open<'a>(model: *const SuturaModel) -> Result<&'a Handle> {
    // SAFETY: by this function's condition.
    unsafe { model.as_ref() }.ok_or_else(|| Failure::null("model"))
}

/// # Safety
/// `first` points to `count` values, or is null.
unsafe fn slice<'a, T>(first: *const T, count: i32, what: &str) -> Result<&'a [T]> {
    let count = usize::try_from(count).map_err(|_| Failure::usage(format!("the number of {what} is negative")))?;
    if count == 0 {
        return Ok(&[]);
    }
    if first.is_null() {
        return Err(Failure::null(what));
    }
    // SAFETY: not null, so by this function's condition.
    Ok(unsafe { std::slice::from_raw_parts(first, count) })
}

fn at<'a>(infos: &'a [Info], role: &str, index: i32) -> Result<&'a Info> {
    let found = usize::try_from(index).ok().and_then(|index| infos.get(index));
    found.ok_or_else(|| Failure::usage(format!("there is no {role} {index}: the model has {}", infos.len())))
}

/// # Safety
/// `value` is null or valid for a write.
unsafe fn describe(infos: &[Info], role: &str, index: i32, value: *mut SuturaValue) -> Result<()> {
    let info = at(infos, role, index)?;
    if value.is_null() {
        return Err(Failure::null("value"));
    }
    let filled = SuturaValue {
        name: info.name.as_ptr(),
        element_type: info.element_type,
        rank: info.dims.len() as i32,
        dims: info.dims.as_ptr(),
    };
    // SAFETY: not null, so valid by this function's condition.
    unsafe { value.write(filled) };
    Ok(())
}

fn element_type(code: i32) -> Result<ElementType> {
    let found = usize::try_from(code).ok().and_then(|code| ElementType::ALL.get(code));
    found.copied().ok_or_else(|| Failure::usage(format!("there is no element type {code}")))
}

/// # Safety
/// The tensor's dims are valid, for as long as the result is used.
unsafe fn tensor_dims<'a>(tensor: &SuturaTensor) -> Result<&'a [i64]> {
    if tensor.rank > abi::MAX_RANK as i32 {
        return Err(Failure::usage(format!("a tensor has rank {}, above {}", tensor.rank, abi::MAX_RANK)));
    }
    // SAFETY: by this function's condition.
    unsafe { slice(tensor.dims, tensor.rank, "dims of a tensor") }
}

/// # Safety
/// The tensor is valid for reads, for as long as the result is used.
unsafe fn input<'a>(tensor: &SuturaTensor) -> Result<TensorView<'a>> {
    // SAFETY: by this function's condition.
    let view =
        unsafe { TensorView::from_raw_parts(element_type(tensor.element_type)?, tensor_dims(tensor)?, tensor.data) }?;
    check_data(tensor, view.dims())?;
    Ok(view)
}

/// # Safety
/// The tensor is valid for writes, for as long as the result is used.
unsafe fn output<'a>(tensor: &SuturaTensor) -> Result<TensorViewMut<'a>> {
    let element_type = element_type(tensor.element_type)?;
    // SAFETY: by this function's condition.
    let view = unsafe { TensorViewMut::from_raw_parts(element_type, tensor_dims(tensor)?, tensor.data) }?;
    check_data(tensor, view.dims())?;
    Ok(view)
}

/// Only a tensor without elements needs no memory.
fn check_data(tensor: &SuturaTensor, dims: &[i64]) -> Result<()> {
    if tensor.data.is_null() && !dims.contains(&0) {
        return Err(Failure::null("data of a tensor"));
    }
    Ok(())
}

//! What a model says of itself: its signature, its inputs and outputs.

use std::ffi::c_char;

use crate::failure::{Failure, Result, guard, status};
use crate::handle::Info;
use crate::pointers::{name, object, usable};
use crate::{SuturaModel, SuturaValue};

/// See `sutura.h`.
///
/// # Safety
/// `model` is null or an open model.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sutura_model_signature(model: *const SuturaModel) -> *const c_char {
    // SAFETY: by this function's condition.
    guard(|| Ok(unsafe { object(model, "model") }?.signature.as_ptr())).unwrap_or(std::ptr::null())
}

/// See `sutura.h`.
///
/// # Safety
/// `model` is null or an open model.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sutura_model_input_count(model: *const SuturaModel) -> i32 {
    // SAFETY: by this function's condition.
    guard(|| Ok(unsafe { object(model, "model") }?.inputs.len() as i32)).unwrap_or(-1)
}

/// See `sutura.h`.
///
/// # Safety
/// `model` is null or an open model.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sutura_model_output_count(model: *const SuturaModel) -> i32 {
    // SAFETY: by this function's condition.
    guard(|| Ok(unsafe { object(model, "model") }?.outputs.len() as i32)).unwrap_or(-1)
}

/// See `sutura.h`.
///
/// # Safety
/// `model` is null or an open model; `value` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sutura_model_input(model: *const SuturaModel, index: i32, value: *mut SuturaValue) -> i32 {
    // SAFETY: by this function's condition.
    status(|| unsafe { describe(&object(model, "model")?.inputs, "input", index, value) })
}

/// See `sutura.h`.
///
/// # Safety
/// `model` is null or an open model; `value` is null or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sutura_model_output(model: *const SuturaModel, index: i32, value: *mut SuturaValue) -> i32 {
    // SAFETY: by this function's condition.
    status(|| unsafe { describe(&object(model, "model")?.outputs, "output", index, value) })
}

/// See `sutura.h`.
///
/// # Safety
/// `model` is null or an open model; `name` is null or a C string; `index` is null, misaligned or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sutura_model_input_index(
    model: *const SuturaModel,
    name: *const c_char,
    index: *mut i32,
) -> i32 {
    // SAFETY: by this function's condition.
    status(|| unsafe { find(model, name, index, input_index) })
}

/// See `sutura.h`.
///
/// # Safety
/// As for [`sutura_model_input_index`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sutura_model_output_index(
    model: *const SuturaModel,
    name: *const c_char,
    index: *mut i32,
) -> i32 {
    // SAFETY: by this function's condition.
    status(|| unsafe { find(model, name, index, output_index) })
}

/// # Safety
/// As for [`sutura_model_input_index`].
unsafe fn find(
    model: *const SuturaModel,
    wanted: *const c_char,
    index: *mut i32,
    among: fn(&SuturaModel, &str) -> Result<usize>,
) -> Result<()> {
    // SAFETY: by this function's condition.
    let (handle, wanted) = unsafe { (object(model, "model")?, name(wanted, "name")?) };
    usable(index, "index")?;
    let found = among(handle, wanted)?;
    // SAFETY: usable, so valid by this function's condition.
    unsafe { index.write(found as i32) };
    Ok(())
}

pub(crate) fn input_index(handle: &SuturaModel, name: &str) -> Result<usize> {
    Ok(handle.model.input_index(name)?)
}

pub(crate) fn output_index(handle: &SuturaModel, name: &str) -> Result<usize> {
    Ok(handle.model.output_index(name)?)
}

pub(crate) fn at<'a>(infos: &'a [Info], role: &str, index: i32) -> Result<&'a Info> {
    let found = usize::try_from(index).ok().and_then(|index| infos.get(index));
    found.ok_or_else(|| Failure::usage(format!("there is no {role} {index}: the model has {}", infos.len())))
}

/// # Safety
/// `value` is null, misaligned or valid for a write.
unsafe fn describe(infos: &[Info], role: &str, index: i32, value: *mut SuturaValue) -> Result<()> {
    let info = at(infos, role, index)?;
    usable(value, "value")?;
    let filled = SuturaValue {
        name: info.name.as_ptr(),
        element_type: info.element_type,
        rank: info.dims.len() as i32,
        dims: info.dims.as_ptr(),
    };
    // SAFETY: usable, so valid by this function's condition.
    unsafe { value.write(filled) };
    Ok(())
}

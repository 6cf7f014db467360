//! Runs on the caller's memory.

use std::ffi::c_char;

use sutura_runtime::{TensorView, TensorViewMut};

use crate::describe::{at, input_index, output_index};
use crate::failure::{Failure, Result, status};
use crate::handle::Info;
use crate::pointers::{name, object, usable};
use crate::tensors::{Dims, Few, check_count, check_data, tensors};
use crate::{SuturaModel, SuturaTensor};

/// See `sutura.h`.
///
/// # Safety
/// `model` is null or an open model. Where `n_inputs` is the model's number of inputs, `inputs` is null, misaligned or holds
/// that many tensors, and of each that has the rank of the model's input, the dims are null, misaligned or as many. `dims` is
/// null, misaligned or has room for the output's rank.
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
        let handle = unsafe { object(model, "model") }?;
        check_count("input", n_inputs, &handle.inputs)?;
        let info = at(&handle.outputs, "output", output)?;
        if !info.dims.is_empty() {
            usable(dims, "dims")?;
        }
        let mut copies = Dims::new();
        // SAFETY: by this function's condition, as the number is the model's.
        let tensors = unsafe { tensors("input", inputs, &handle.inputs, &mut copies) }?;
        let input_dims: Vec<&[i64]> = tensors.each().map(|(_, _, dims)| dims).collect();
        let shapes = handle.model.infer_shapes(&input_dims)?;
        let found = &shapes.outputs[info.index];
        if !found.is_empty() {
            // SAFETY: usable, so by this function's condition with room for the rank; the found dims are our own.
            unsafe { dims.copy_from_nonoverlapping(found.as_ptr(), found.len()) };
        }
        Ok(())
    })
}

/// See `sutura.h`.
///
/// # Safety
/// `model` is null or an open model. Where `n_inputs` and `n_outputs` are those of the model, `inputs` and `outputs` are null,
/// misaligned or hold that many tensors, and of each that has the rank that the model wants, the dims are null, misaligned or
/// as many. Data that are neither null nor misaligned are valid for what the tensors say: inputs for reads, outputs for
/// writes, and nobody else writes there during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sutura_model_run(
    model: *const SuturaModel,
    inputs: *const SuturaTensor,
    n_inputs: i32,
    outputs: *const SuturaTensor,
    n_outputs: i32,
) -> i32 {
    // SAFETY: by this function's condition.
    status(|| unsafe { run(model, (inputs, n_inputs), (outputs, n_outputs), None) })
}

/// See `sutura.h`.
///
/// # Safety
/// As for [`sutura_model_run`]; `dims` is null, misaligned or has room for the ranks of all outputs together.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sutura_model_run_dims(
    model: *const SuturaModel,
    inputs: *const SuturaTensor,
    n_inputs: i32,
    outputs: *const SuturaTensor,
    n_outputs: i32,
    dims: *mut i64,
) -> i32 {
    // SAFETY: by this function's condition.
    status(|| unsafe { run(model, (inputs, n_inputs), (outputs, n_outputs), Some(dims)) })
}

/// See `sutura.h`.
///
/// # Safety
/// As for [`sutura_model_run`]; where a number is the model's, the names are null, misaligned or as many, each null or a C string.
/// The rank of a tensor is that of the input or output that its name says, or its dims are not looked at.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sutura_model_run_by_name(
    model: *const SuturaModel,
    input_names: *const *const c_char,
    inputs: *const SuturaTensor,
    n_inputs: i32,
    output_names: *const *const c_char,
    outputs: *const SuturaTensor,
    n_outputs: i32,
) -> i32 {
    status(|| {
        // SAFETY: by this function's condition.
        let handle = unsafe { object(model, "model") }?;
        check_count("input", n_inputs, &handle.inputs)?;
        check_count("output", n_outputs, &handle.outputs)?;
        // SAFETY: by this function's condition, as the numbers are the model's.
        let (inputs, outputs) = unsafe {
            let inputs = in_order(handle, "input", &handle.inputs, (input_names, inputs), input_index)?;
            (inputs, in_order(handle, "output", &handle.outputs, (output_names, outputs), output_index)?)
        };
        // SAFETY: as many tensors as the model has, by name, by this function's condition.
        unsafe { run(model, (inputs.as_ptr(), n_inputs), (outputs.as_ptr(), n_outputs), None) }
    })
}

/// Tensors that are given by name, in the model's order.
///
/// # Safety
/// `names` and `given` are null, misaligned, or have as many elements as `infos`; names are null or C strings.
unsafe fn in_order(
    handle: &SuturaModel,
    role: &str,
    infos: &[Info],
    (names, given): (*const *const c_char, *const SuturaTensor),
    find: fn(&SuturaModel, &str) -> Result<usize>,
) -> Result<Few<SuturaTensor>> {
    let mut places: Few<Option<&SuturaTensor>> = infos.iter().map(|_| None).collect();
    if infos.is_empty() {
        return Ok(Few::new());
    }
    usable(names, format_args!("names of {role}s"))?;
    usable(given, format_args!("{role}s"))?;
    // SAFETY: usable, so by this function's condition.
    let (names, given) =
        unsafe { (std::slice::from_raw_parts(names, infos.len()), std::slice::from_raw_parts(given, infos.len())) };
    for (number, (text, tensor)) in names.iter().zip(given).enumerate() {
        // SAFETY: by this function's condition.
        let wanted = unsafe { name(*text, format_args!("name of {role} {number}")) }?;
        if places[find(handle, wanted)?].replace(tensor).is_some() {
            return Err(Failure::usage(format!("{role} `{wanted}` is given twice")));
        }
    }
    // As many names as places, all different: none is left out.
    Ok(places.into_iter().flatten().copied().collect())
}

/// Runs a model, and writes the dims of its outputs to `dims`, if that is asked for.
///
/// # Safety
/// As for [`sutura_model_run_dims`].
unsafe fn run(
    model: *const SuturaModel,
    (inputs, n_inputs): (*const SuturaTensor, i32),
    (outputs, n_outputs): (*const SuturaTensor, i32),
    dims: Option<*mut i64>,
) -> Result<()> {
    // SAFETY: by this function's condition.
    let handle = unsafe { object(model, "model") }?;
    check_count("input", n_inputs, &handle.inputs)?;
    check_count("output", n_outputs, &handle.outputs)?;
    let ranks = handle.outputs.iter().map(|info| info.dims.len()).sum::<usize>();
    match dims {
        Some(dims) if ranks > 0 => usable(dims, "dims")?,
        None if !handle.model.manifest().decided.is_empty() => {
            let message = "data decide dimensions of this model, which sutura_model_run_dims tells";
            return Err(Failure::usage(message.to_owned()));
        }
        _ => {}
    }
    let (mut input_dims, mut output_dims) = (Dims::new(), Dims::new());
    // SAFETY: by this function's condition, as the numbers are the model's.
    let (inputs, outputs) = unsafe {
        let inputs = tensors("input", inputs, &handle.inputs, &mut input_dims)?;
        (inputs, tensors("output", outputs, &handle.outputs, &mut output_dims)?)
    };
    let (mut input_views, mut output_views) = (Few::new(), Few::new());
    for (named, tensor, dims) in inputs.each() {
        let element_type = check_data(named, tensor, dims)?;
        // SAFETY: checked; valid for reads by this function's condition.
        input_views.push(unsafe { TensorView::from_raw_parts(element_type, dims, tensor.data.cast()) }?);
    }
    for (named, tensor, dims) in outputs.each() {
        let element_type = check_data(named, tensor, dims)?;
        // SAFETY: checked; valid for writes by this function's condition. That it overlaps nothing the run checks.
        output_views.push(unsafe { TensorViewMut::from_raw_parts(element_type, dims, tensor.data.cast()) }?);
    }
    let given: Dims = output_views.iter().flat_map(|view| view.dims().iter().copied()).collect();
    let decided = handle.model.run_into(&input_views, &mut output_views)?;
    let found = decided.map_or(given, |dims| dims.into_iter().flatten().collect());
    if let Some(dims) = dims.filter(|_| ranks > 0) {
        // SAFETY: usable, so by this function's condition with room for all ranks; what was found is our own.
        unsafe { dims.copy_from_nonoverlapping(found.as_ptr(), found.len()) };
    }
    Ok(())
}

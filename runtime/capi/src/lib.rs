//! The C interface to the runtime; `runtime/include/sutura.h` is its documentation and its contract.
//!
//! Built as `libsutura_rt.so` and `libsutura_rt.a`. Nothing here decides anything: every function turns its arguments
//! into those of [`sutura_runtime`], and errors into a status and a message.

#![allow(unsafe_code)]

mod failure;
mod handle;

use std::ffi::{CStr, c_char};
use std::fmt::{self, Display, Formatter};
use std::path::Path;

use failure::{Failure, Result, guard, status};
use handle::{Handle, Info};
use smallvec::SmallVec;
use sutura_runtime::{ElementType, Model, Options, TensorView, TensorViewMut};

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
/// `path` is null or a C string; `model` is null, misaligned or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sutura_model_open(path: *const c_char, threads: i32, model: *mut *mut SuturaModel) -> i32 {
    // SAFETY: by this function's condition.
    status(|| unsafe { load(path, threads, Options::new(), model) })
}

/// See `sutura.h`.
///
/// # Safety
/// As for [`sutura_model_open`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sutura_model_open_trusted(
    path: *const c_char,
    threads: i32,
    model: *mut *mut SuturaModel,
) -> i32 {
    // SAFETY: by this function's condition.
    status(|| unsafe { load(path, threads, Options::new().trust_artifact(true), model) })
}

/// # Safety
/// As for [`sutura_model_open`].
unsafe fn load(path: *const c_char, threads: i32, options: Options, model: *mut *mut SuturaModel) -> Result<()> {
    if path.is_null() {
        return Err(Failure::null("path"));
    }
    usable(model, "model")?;
    // SAFETY: not null, so a C string by this function's condition.
    let path = unsafe { CStr::from_ptr(path) };
    let options = match usize::try_from(threads) {
        Ok(0) => options,
        Ok(n) => options.threads(n),
        Err(_) => return Err(Failure::usage(format!("the number of threads is negative: {threads}"))),
    };
    let loaded = Model::load_with(path_of(path), options)?;
    let handle = Box::new(Handle::new(loaded));
    // SAFETY: neither null nor misaligned, so valid for a write by this function's condition.
    unsafe { model.write(Box::into_raw(handle)) };
    Ok(())
}

/// See `sutura.h`.
///
/// # Safety
/// `model` is null, or came from `sutura_model_open` and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sutura_model_close(model: *mut SuturaModel) {
    status(|| {
        // An address that no model can have is left alone.
        if usable(model, "model").is_ok() {
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
        let handle = unsafe { open(model) }?;
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
    let handle = unsafe { open(model) }?;
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
/// `model` is null, misaligned, or an open model, for as long as the result is used.
unsafe fn open<'a>(model: *const SuturaModel) -> Result<&'a Handle> {
    usable(model, "model")?;
    // SAFETY: neither null nor misaligned, so by this function's condition.
    Ok(unsafe { &*model })
}

/// Neither null nor at an address where nothing of the type can be. `what` is said of an error.
fn usable<T>(pointer: *const T, what: impl Display) -> Result<()> {
    if pointer.is_null() {
        return Err(Failure::null(what));
    }
    if !pointer.is_aligned() {
        return Err(Failure::usage(format!("misaligned pointer: {what}, which needs {} bytes", align_of::<T>())));
    }
    Ok(())
}

/// Compares a number of tensors with the model's, before any of them is looked at.
fn check_count(role: &str, count: i32, infos: &[Info]) -> Result<()> {
    if usize::try_from(count) == Ok(infos.len()) {
        return Ok(());
    }
    let plural = if infos.len() == 1 { "" } else { "s" };
    let names: Vec<String> = infos.iter().map(|info| format!("`{}`", info.name.to_string_lossy())).collect();
    let names = if names.is_empty() { String::new() } else { format!(" ({})", names.join(", ")) };
    let were = if count == 1 { "was" } else { "were" };
    Err(Failure::usage(format!("the model has {} {role}{plural}{names}, but {count} {were} given", infos.len())))
}

/// The tensors of a caller, whose number and ranks are the model's. The dims are a copy: an output may lie where the caller
/// has them.
struct Given<'a> {
    role: &'a str,
    infos: &'a [Info],
    tensors: &'a [SuturaTensor],
    dims: &'a [i64],
}

/// Short runs take less than a microsecond, so that few things need no memory of their own.
type Few<T> = SmallVec<[T; 8]>;
type Dims = SmallVec<[i64; 16]>;

impl<'a> Given<'a> {
    fn each(&self) -> impl Iterator<Item = (Named<'a>, &'a SuturaTensor, &'a [i64])> {
        let mut rest = self.dims;
        self.tensors.iter().zip(self.infos).map(move |(tensor, info)| {
            let (dims, behind) = rest.split_at(info.dims.len());
            rest = behind;
            (Named { role: self.role, info }, tensor, dims)
        })
    }
}

/// How errors call a tensor. It becomes a text when there is an error only.
#[derive(Clone, Copy)]
struct Named<'a> {
    role: &'a str,
    info: &'a Info,
}

impl Display for Named<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} `{}`", self.role, self.info.name.to_string_lossy())
    }
}

/// Reads as many tensors as the model has.
///
/// # Safety
/// `first` is null, misaligned or points to as many tensors, which stay there while the result is used; dims of those that
/// have the model's rank are null, misaligned or as many.
unsafe fn tensors<'a>(
    role: &'a str,
    first: *const SuturaTensor,
    infos: &'a [Info],
    dims: &'a mut Dims,
) -> Result<Given<'a>> {
    if infos.is_empty() {
        return Ok(Given { role, infos, tensors: &[], dims: &[] });
    }
    usable(first, format_args!("{role}s"))?;
    // SAFETY: usable, so by this function's condition.
    let tensors = unsafe { std::slice::from_raw_parts(first, infos.len()) };
    for (tensor, info) in tensors.iter().zip(infos) {
        // What says no type is no tensor: its dims are not looked at.
        element_type(tensor.element_type)?;
        // SAFETY: by this function's condition.
        for dim in unsafe { dims_of(tensor, Named { role, info }) }? {
            dims.push(*dim);
        }
    }
    Ok(Given { role, infos, tensors, dims })
}

/// # Safety
/// Where the tensor has the rank that the model wants, its dims are null, misaligned or as many.
unsafe fn dims_of<'a>(tensor: &'a SuturaTensor, named: Named<'_>) -> Result<&'a [i64]> {
    let (rank, given, signature) = (named.info.dims.len(), tensor.rank, &named.info.signature);
    if usize::try_from(given) != Ok(rank) {
        let message = format!("{named} has rank {given}, but the model needs rank {rank}: [{signature}]");
        return Err(Failure::input(message));
    }
    if rank == 0 {
        return Ok(&[]);
    }
    usable(tensor.dims, format_args!("dims of {named}"))?;
    // SAFETY: usable, so by this function's condition.
    Ok(unsafe { std::slice::from_raw_parts(tensor.dims, rank) })
}

/// The tensor's type, if its memory can be what it says: only one without elements needs none.
fn check_data(named: Named<'_>, tensor: &SuturaTensor, dims: &[i64]) -> Result<ElementType> {
    let element_type = element_type(tensor.element_type)?;
    if dims.contains(&0) {
        return Ok(element_type);
    }
    if tensor.data.is_null() {
        return Err(Failure::null(format_args!("data of {named}")));
    }
    let (size, address) = (element_type.bytes(), tensor.data.addr());
    if !address.is_multiple_of(size) {
        let needs = format!("an element of type {element_type} has {size} bytes");
        return Err(Failure::usage(format!("misaligned pointer: data of {named}; {needs}")));
    }
    // Sizes that are no sizes are for the view to refuse.
    let bytes = dims.iter().try_fold(size, |bytes, dim| bytes.checked_mul(usize::try_from(*dim).ok()?));
    if bytes.is_some_and(|bytes| address.checked_add(bytes).is_none()) {
        return Err(Failure::usage(format!("data of {named} reach beyond the end of memory")));
    }
    Ok(element_type)
}

fn at<'a>(infos: &'a [Info], role: &str, index: i32) -> Result<&'a Info> {
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

fn element_type(code: i32) -> Result<ElementType> {
    let found = usize::try_from(code).ok().and_then(|code| ElementType::ALL.get(code));
    found.copied().ok_or_else(|| Failure::usage(format!("there is no element type {code}")))
}

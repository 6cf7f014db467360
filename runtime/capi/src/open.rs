//! Opening and closing models.

use std::ffi::{CStr, c_char, c_void};
use std::path::Path;

use sutura_runtime::{Artifact, Model, Options};

use crate::devices::SuturaDevice;
use crate::failure::{Failure, Result, status};
use crate::handle::Handle;
use crate::pointers::{hand_over, name, object, string, take_back, usable};
use crate::{SuturaModel, SuturaOptions};

/// What errors call an artifact that is in memory.
const MEMORY: &str = "memory";

/// See `sutura.h`.
///
/// # Safety
/// `path` is null or a C string; `model` is null, misaligned or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sutura_model_open(path: *const c_char, threads: i32, model: *mut *mut SuturaModel) -> i32 {
    // SAFETY: by this function's condition.
    status(|| unsafe { load(path, with_threads(Options::new(), threads), model) })
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
    status(|| unsafe { load(path, with_threads(Options::new().trust_artifact(true), threads), model) })
}

/// See `sutura.h`.
///
/// # Safety
/// As for [`sutura_model_open`]; `options` is null, misaligned, or points to options, whose pointers are null, misaligned, a C
/// string and an open device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sutura_model_open_with(
    path: *const c_char,
    options: *const SuturaOptions,
    model: *mut *mut SuturaModel,
) -> i32 {
    // SAFETY: by this function's condition.
    status(|| unsafe { load(path, read_options(options).map(|(options, _)| options), model) })
}

/// See `sutura.h`.
///
/// # Safety
/// `bytes` is null or valid for reads of `size` bytes; the others as for [`sutura_model_open_with`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sutura_model_open_memory(
    bytes: *const c_void,
    size: usize,
    options: *const SuturaOptions,
    model: *mut *mut SuturaModel,
) -> i32 {
    status(|| {
        usable(model, "model")?;
        // SAFETY: by this function's condition.
        let (options, trusted) = unsafe { read_options(options) }?;
        // SAFETY: by this function's condition.
        let bytes = unsafe { memory(bytes, size) }?;
        let artifact = match trusted {
            true => Artifact::from_bytes_trusted(MEMORY, bytes)?,
            false => Artifact::from_bytes(MEMORY, bytes)?,
        };
        let handle = Handle::new(Model::from_artifact(artifact, options)?);
        // SAFETY: usable, so valid by this function's condition.
        unsafe { hand_over(handle, model) };
        Ok(())
    })
}

/// See `sutura.h`.
///
/// # Safety
/// `model` is null, or came from a function that opens models and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sutura_model_close(model: *mut SuturaModel) {
    // SAFETY: by this function's condition.
    unsafe { take_back(model) };
}

/// # Safety
/// As for [`sutura_model_open`].
unsafe fn load(path: *const c_char, options: Result<Options>, model: *mut *mut SuturaModel) -> Result<()> {
    // SAFETY: by this function's condition.
    let path = unsafe { string(path, "path") }?;
    usable(model, "model")?;
    let handle = Handle::new(Model::load_with(path_of(path), options?)?);
    // SAFETY: usable, so valid by this function's condition.
    unsafe { hand_over(handle, model) };
    Ok(())
}

/// The runtime's options, and whether the artifact is trusted.
///
/// # Safety
/// As for [`sutura_model_open_with`].
unsafe fn read_options(options: *const SuturaOptions) -> Result<(Options, bool)> {
    if options.is_null() {
        return Ok((Options::new(), false));
    }
    // SAFETY: by this function's condition. The size comes first, and is looked at before all else.
    let given = unsafe { object(options.cast::<usize>(), "options") }?;
    let wanted = size_of::<SuturaOptions>();
    if *given != wanted {
        let message = format!("options have {wanted} bytes, but their size is {given}; begin with SUTURA_OPTIONS_INIT");
        return Err(Failure::usage(message));
    }
    // SAFETY: by this function's condition, as the size says that all of it is there.
    let given = unsafe { object(options, "options") }?;
    let trusted = flag(given.trusted, "trusted")?;
    if given.reserved != 0 {
        return Err(Failure::usage(format!("option reserved is {}, but must be 0", given.reserved)));
    }
    let options =
        with_threads(Options::new(), given.threads)?.trust_artifact(trusted).profile(flag(given.profile, "profile")?);
    match (given.device_name.is_null(), given.device.is_null()) {
        (true, true) => Ok((options, trusted)),
        // SAFETY: by this function's condition.
        (false, true) => Ok((options.device(unsafe { name(given.device_name, "device_name") }?), trusted)),
        (true, false) => {
            // SAFETY: by this function's condition.
            let device: &SuturaDevice = unsafe { object(given.device, "device") }?;
            Ok((options.on(&device.device), trusted))
        }
        (false, false) => Err(Failure::usage("options have both a device and a device_name; give one".to_owned())),
    }
}

fn with_threads(options: Options, threads: i32) -> Result<Options> {
    match usize::try_from(threads) {
        Ok(0) => Ok(options),
        Ok(n) => Ok(options.threads(n)),
        Err(_) => Err(Failure::usage(format!("the number of threads is negative: {threads}"))),
    }
}

fn flag(value: i32, what: &str) -> Result<bool> {
    match value {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Failure::usage(format!("option {what} is {value}, but must be 0 or 1"))),
    }
}

/// # Safety
/// `bytes` is null or valid for reads of `size` bytes, as long as the result is used.
unsafe fn memory<'a>(bytes: *const c_void, size: usize) -> Result<&'a [u8]> {
    if size == 0 {
        return Ok(&[]);
    }
    if bytes.is_null() {
        return Err(Failure::null("bytes"));
    }
    if isize::try_from(size).is_err() || bytes.addr().checked_add(size).is_none() {
        return Err(Failure::usage(format!("bytes reach beyond the end of memory: there are said to be {size}")));
    }
    // SAFETY: not null, and by this function's condition.
    Ok(unsafe { std::slice::from_raw_parts(bytes.cast(), size) })
}

fn path_of(text: &CStr) -> &Path {
    use std::os::unix::ffi::OsStrExt;
    Path::new(std::ffi::OsStr::from_bytes(text.to_bytes()))
}

//! What can be known of a caller's pointers before they are followed.

use std::ffi::{CStr, c_char};
use std::fmt::Display;

use crate::failure::{Failure, Result};

/// Neither null nor at an address where nothing of the type can be. `what` is said of an error.
pub(crate) fn usable<T>(pointer: *const T, what: impl Display) -> Result<()> {
    if pointer.is_null() {
        return Err(Failure::null(what));
    }
    if !pointer.is_aligned() {
        return Err(Failure::usage(format!("misaligned pointer: {what}, which needs {} bytes", align_of::<T>())));
    }
    Ok(())
}

/// A string of the caller that must be there.
///
/// # Safety
/// `text` is null or a C string, which stays there while the result is used.
pub(crate) unsafe fn string<'a>(text: *const c_char, what: impl Display) -> Result<&'a CStr> {
    if text.is_null() {
        return Err(Failure::null(what));
    }
    // SAFETY: not null, so a C string by this function's condition.
    Ok(unsafe { CStr::from_ptr(text) })
}

/// A string of the caller that is compared with names, which are UTF-8.
///
/// # Safety
/// As for [`string`].
pub(crate) unsafe fn name<'a>(text: *const c_char, what: impl Display) -> Result<&'a str> {
    // SAFETY: by this function's condition.
    let text = unsafe { string(text, &what) }?;
    text.to_str().map_err(|_| Failure::usage(format!("{what} is not UTF-8: `{}`", text.to_string_lossy())))
}

/// The object behind a handle of the caller.
///
/// # Safety
/// `handle` is null, misaligned, or points to a live object, for as long as the result is used.
pub(crate) unsafe fn object<'a, T>(handle: *const T, what: impl Display) -> Result<&'a T> {
    usable(handle, what)?;
    // SAFETY: neither null nor misaligned, so by this function's condition.
    Ok(unsafe { &*handle })
}

/// Hands an object to the caller, who gives it back to [`take_back`].
///
/// # Safety
/// `to` is valid for a write; [`usable`] was asked before.
pub(crate) unsafe fn hand_over<T>(object: T, to: *mut *mut T) {
    // SAFETY: by this function's condition.
    unsafe { to.write(Box::into_raw(Box::new(object))) };
}

/// Drops what [`hand_over`] gave. An address that nothing of ours can have is left alone.
///
/// # Safety
/// `handle` is null, misaligned, or from [`hand_over`] and not used again.
pub(crate) unsafe fn take_back<T>(handle: *mut T) {
    crate::failure::status(|| {
        if usable(handle, "handle").is_ok() {
            // SAFETY: by this function's condition it came from `Box::into_raw` and is given back once.
            drop(unsafe { Box::from_raw(handle) });
        }
        Ok(())
    });
}

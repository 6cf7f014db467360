//! The C interface to the runtime; `runtime/include/sutura.h` is its documentation and its contract.
//!
//! Built as `libsutura_rt.so` and `libsutura_rt.a`. Nothing here decides anything: every function turns its arguments
//! into those of [`sutura_runtime`], and errors into a status and a message.

#![allow(unsafe_code)]

mod describe;
mod devices;
mod failure;
mod handle;
mod open;
mod pointers;
mod profile;
mod run;
mod session;
mod tensors;

use std::ffi::{CString, c_char};

use sutura_runtime::ElementType;

pub use describe::*;
pub use devices::*;
use handle::Handle;
pub use open::*;
pub use profile::*;
pub use run::*;
pub use session::*;

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
#[derive(Debug, Clone, Copy)]
pub struct SuturaTensor {
    pub element_type: i32,
    pub rank: i32,
    pub dims: *const i64,
    pub data: *mut u8,
}

/// `sutura_options`.
#[repr(C)]
#[derive(Debug)]
pub struct SuturaOptions {
    pub size: usize,
    pub device_name: *const c_char,
    pub device: *const SuturaDevice,
    pub threads: i32,
    pub trusted: i32,
    pub profile: i32,
    /// What is 0, so that no byte is unnamed.
    pub reserved: i32,
}

/// See `sutura.h`.
#[unsafe(no_mangle)]
pub extern "C" fn sutura_element_size(element_type: i32) -> i32 {
    tensors::element_type(element_type).map_or(-1, |found| found.bytes() as i32)
}

/// See `sutura.h`.
#[unsafe(no_mangle)]
pub extern "C" fn sutura_element_name(element_type: i32) -> *const c_char {
    static NAMES: std::sync::LazyLock<Vec<CString>> =
        std::sync::LazyLock::new(|| ElementType::ALL.iter().map(|found| handle::c_string(found.name())).collect());
    let name = usize::try_from(element_type).ok().and_then(|number| NAMES.get(number));
    name.map_or(std::ptr::null(), |name| name.as_ptr())
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

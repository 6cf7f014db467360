//! Library routines that models call by name: what no kernel of loops computes well.
//!
//! [`table`] declares them, for the compiler too. Each has a file here with a function that is given its buffers and numbers,
//! which have been checked against the declaration. `docs/routines.md` says how one is added.
//!
//! A call passes buffers, and numbers that describe it: how many inputs and outputs there are, and whether there is scratch
//! memory; for each input and output the code of its element type (its place in [`table::ELEMENTS`]), its rank and its sizes;
//! the bytes of the scratch memory, if there is some; for each parameter how many numbers it has, and these.

#![allow(unsafe_code)]

mod call;
mod decide_size;
mod fft;
mod floats;
mod keys;
mod non_max_suppression;
mod non_zero;
mod parallel;
mod sort;
pub mod table;
mod top_k;
mod unique;

#[cfg(test)]
mod tests;

use std::ffi::c_void;

use call::Call;
use table::{ROUTINES, Routine};

/// What a routine does. An error says what is wrong with a call, which the compiler should not have made.
type Function = fn(&Call<'_>) -> Result<(), String>;

/// The functions of the table's routines, in its order.
const FUNCTIONS: [Function; ROUTINES.len()] =
    [sort::run, top_k::run, fft::run, non_zero::run, unique::run, non_max_suppression::run, decide_size::run];

/// The runtime's routine that code calls by this name.
pub(crate) fn find(symbol: &str) -> Option<usize> {
    ROUTINES.iter().position(|routine| routine.symbol() == symbol)
}

/// The routines of the table that have the name of this one, which may have another version.
pub(crate) fn of_name(symbol: &str) -> Vec<String> {
    let name = symbol.split('/').next().unwrap_or_default();
    ROUTINES.iter().filter(|routine| routine.name == name).map(Routine::symbol).collect()
}

/// Calls a routine of the table with up to `threads` threads.
///
/// # Errors
/// When the call is not as the table says.
///
/// # Safety
/// The arrays must have these lengths, and each buffer the bytes that its description says, valid for reading, and for writing
/// where it is no input; no buffer that is written overlaps another one.
pub(crate) unsafe fn call(
    routine: usize,
    bufs: *const *mut c_void,
    dims: *const i64,
    (n_bufs, n_dims): (i32, i32),
    threads: usize,
) -> Result<(), String> {
    let declared = &ROUTINES[routine];
    // SAFETY: by this function's condition.
    let call = unsafe { Call::read(declared, bufs, dims, (n_bufs, n_dims), threads) };
    let done = call.and_then(|call| if call.is_empty() { Ok(()) } else { FUNCTIONS[routine](&call) });
    done.map_err(|reason| format!("the routine `{}` {reason}", declared.symbol()))
}

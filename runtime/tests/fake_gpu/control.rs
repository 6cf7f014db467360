//! What tests ask of the driver, by thread.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ffi::{CStr, c_char};

use crate::state::Family;

#[derive(Default)]
struct Control {
    /// Calls that are to fail: the name, how many succeed before, the status.
    failures: Vec<(String, u32, i32)>,
    calls: HashMap<&'static str, u64>,
    versions: HashMap<Family, i32>,
    violations: Vec<String>,
    live: i64,
}

thread_local! {
    static CONTROL: RefCell<Control> = RefCell::default();
}

/// Counts a call, and says whether it is to fail.
pub(crate) fn begin(name: &'static str) -> Result<(), i32> {
    CONTROL.with_borrow_mut(|control| {
        *control.calls.entry(name).or_default() += 1;
        let Some(at) = control.failures.iter().position(|failure| failure.0 == name) else { return Ok(()) };
        let failure = &mut control.failures[at];
        if failure.1 > 0 {
            failure.1 -= 1;
            return Ok(());
        }
        Err(control.failures.remove(at).2)
    })
}

pub(crate) fn version(family: Family) -> i32 {
    let usual = if family == Family::Cuda { 12_040 } else { 60_241_134 };
    CONTROL.with_borrow(|control| control.versions.get(&family).copied().unwrap_or(usual))
}

pub(crate) fn violation(text: impl Into<String>) {
    CONTROL.with_borrow_mut(|control| control.violations.push(text.into()));
}

/// Objects made less objects destroyed.
pub(crate) fn count(change: i64) {
    CONTROL.with_borrow_mut(|control| control.live += change);
}

fn text(name: *const c_char) -> String {
    // SAFETY: tests give strings.
    unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned()
}

/// The next call of a name on this thread, after `after` that succeed, returns a status and does nothing.
#[unsafe(no_mangle)]
pub extern "C" fn fake_fail(name: *const c_char, after: u32, status: i32) {
    CONTROL.with_borrow_mut(|control| control.failures.push((text(name), after, status)));
}

#[unsafe(no_mangle)]
pub extern "C" fn fake_version(family: u32, version: i32) {
    let family = if family == 0 { Family::Cuda } else { Family::Hip };
    CONTROL.with_borrow_mut(|control| control.versions.insert(family, version));
}

/// How often this thread called a function.
#[unsafe(no_mangle)]
pub extern "C" fn fake_calls(name: *const c_char) -> u64 {
    let name = text(name);
    CONTROL.with_borrow(|control| control.calls.get(name.as_str()).copied().unwrap_or(0))
}

#[unsafe(no_mangle)]
pub extern "C" fn fake_live() -> i64 {
    CONTROL.with_borrow(|control| control.live)
}

/// Writes the violations of this thread, as many bytes as there is room for, and forgets them. Returns how many it wrote.
#[unsafe(no_mangle)]
pub extern "C" fn fake_violations(buffer: *mut u8, bytes: usize) -> usize {
    let all = CONTROL.with_borrow_mut(|control| std::mem::take(&mut control.violations)).join("\n");
    let length = all.len().min(bytes);
    // SAFETY: tests give a buffer of so many bytes.
    unsafe { buffer.copy_from_nonoverlapping(all.as_ptr(), length) };
    length
}

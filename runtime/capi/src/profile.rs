//! How long the launches of a model take.

use std::ffi::{CString, c_char};

use sutura_runtime::LaunchProfile;

use crate::SuturaModel;
use crate::failure::{Failure, guard, status};
use crate::handle::c_string;
use crate::pointers::{hand_over, object, take_back, usable};

/// `sutura_launch`.
#[repr(C)]
#[derive(Debug)]
pub struct SuturaLaunch {
    pub kernel: *const c_char,
    pub groups: i64,
    pub chunks: i64,
    pub calls: u64,
    pub total_ns: u64,
    pub least_ns: u64,
    pub position: i32,
}

/// `sutura_profile`: what was timed, until it was asked for.
#[derive(Debug)]
pub struct SuturaProfile {
    launches: Vec<(LaunchProfile, Option<CString>)>,
}

/// See `sutura.h`.
///
/// # Safety
/// `model` is null or an open model; `profile` is null, misaligned or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sutura_model_profile(model: *const SuturaModel, profile: *mut *mut SuturaProfile) -> i32 {
    status(|| {
        // SAFETY: by this function's condition.
        let handle = unsafe { object(model, "model") }?;
        usable(profile, "profile")?;
        if !handle.model.is_profiled() {
            let message = "the model is not profiled: open it with the option profile = 1";
            return Err(Failure::usage(message.to_owned()));
        }
        let named = |launch: LaunchProfile| {
            let name = launch.kernel.as_deref().map(c_string);
            (launch, name)
        };
        let launches = handle.model.profile().into_iter().map(named).collect();
        // SAFETY: usable, so valid by this function's condition.
        unsafe { hand_over(SuturaProfile { launches }, profile) };
        Ok(())
    })
}

/// See `sutura.h`.
///
/// # Safety
/// `model` is null or an open model.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sutura_model_clear_profile(model: *const SuturaModel) -> i32 {
    // SAFETY: by this function's condition.
    status(|| {
        unsafe { object(model, "model") }?.model.clear_profile();
        Ok(())
    })
}

/// See `sutura.h`.
///
/// # Safety
/// `profile` is null or from [`sutura_model_profile`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sutura_profile_count(profile: *const SuturaProfile) -> i32 {
    // SAFETY: by this function's condition.
    guard(|| Ok(unsafe { object(profile, "profile") }?.launches.len() as i32)).unwrap_or(-1)
}

/// See `sutura.h`.
///
/// # Safety
/// `profile` is null or from [`sutura_model_profile`]; `launch` is null, misaligned or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sutura_profile_launch(
    profile: *const SuturaProfile,
    index: i32,
    launch: *mut SuturaLaunch,
) -> i32 {
    status(|| {
        // SAFETY: by this function's condition.
        let launches = &unsafe { object(profile, "profile") }?.launches;
        let found = usize::try_from(index).ok().and_then(|index| launches.get(index));
        let none = || Failure::usage(format!("there is no launch {index}: the profile has {}", launches.len()));
        let (found, name) = found.ok_or_else(none)?;
        usable(launch, "launch")?;
        let nanoseconds = |time: std::time::Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let filled = SuturaLaunch {
            kernel: name.as_ref().map_or(std::ptr::null(), |name| name.as_ptr()),
            groups: found.groups,
            chunks: i64::try_from(found.chunks).unwrap_or(i64::MAX),
            calls: found.calls,
            total_ns: nanoseconds(found.total),
            least_ns: nanoseconds(found.least),
            position: i32::try_from(found.position).unwrap_or(i32::MAX),
        };
        // SAFETY: usable, so valid by this function's condition.
        unsafe { launch.write(filled) };
        Ok(())
    })
}

/// See `sutura.h`.
///
/// # Safety
/// `profile` is null, or from [`sutura_model_profile`] and not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sutura_profile_free(profile: *mut SuturaProfile) {
    // SAFETY: by this function's condition.
    unsafe { take_back(profile) };
}

//! The devices of this machine, and those that were opened.

use std::ffi::{CString, c_char};

use sutura_runtime::Error;
use sutura_runtime::device::{Device, DeviceError, DeviceInfo, Devices};

use crate::SuturaModel;
use crate::failure::{Failure, guard, status};
use crate::handle::c_string;
use crate::pointers::{hand_over, name, object, take_back, usable};

/// `sutura_device_info`.
#[repr(C)]
#[derive(Debug)]
pub struct SuturaDeviceInfo {
    pub id: *const c_char,
    pub name: *const c_char,
    pub kind: *const c_char,
    pub driver: *const c_char,
    pub target: *const c_char,
    pub problem: *const c_char,
    pub memory_bytes: u64,
}

/// Texts of a device, as C reads them.
#[derive(Debug)]
struct Texts {
    id: CString,
    name: CString,
    kind: CString,
    driver: CString,
    target: CString,
    problem: Option<CString>,
    memory_bytes: u64,
}

/// `sutura_device_list`: what was found.
#[derive(Debug)]
pub struct SuturaDeviceList {
    found: Vec<Texts>,
    absent: Vec<CString>,
}

/// `sutura_device`: an open device.
#[derive(Debug)]
pub struct SuturaDevice {
    pub(crate) device: Device,
    name: CString,
}

impl Texts {
    fn new(id: &str, info: &DeviceInfo, problem: Option<&str>) -> Self {
        Self {
            id: c_string(id),
            name: c_string(&info.name),
            kind: c_string(info.kind.name()),
            driver: c_string(&info.driver),
            target: c_string(&info.target),
            problem: problem.map(c_string),
            memory_bytes: info.limits.memory_bytes,
        }
    }
}

/// See `sutura.h`.
///
/// # Safety
/// `list` is null, misaligned or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sutura_devices_find(list: *mut *mut SuturaDeviceList) -> i32 {
    status(|| {
        usable(list, "list")?;
        let devices = Devices::find();
        let found = devices.all().iter().map(|found| Texts::new(&found.id(), found.info(), found.problem())).collect();
        let absent = devices.absent().iter().map(|reason| c_string(reason)).collect();
        // SAFETY: usable, so valid by this function's condition.
        unsafe { hand_over(SuturaDeviceList { found, absent }, list) };
        Ok(())
    })
}

/// See `sutura.h`.
///
/// # Safety
/// `list` is null or from [`sutura_devices_find`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sutura_devices_count(list: *const SuturaDeviceList) -> i32 {
    // SAFETY: by this function's condition.
    guard(|| Ok(unsafe { object(list, "list") }?.found.len() as i32)).unwrap_or(-1)
}

/// See `sutura.h`.
///
/// # Safety
/// `list` is null or from [`sutura_devices_find`]; `info` is null, misaligned or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sutura_devices_info(
    list: *const SuturaDeviceList,
    index: i32,
    info: *mut SuturaDeviceInfo,
) -> i32 {
    status(|| {
        // SAFETY: by this function's condition.
        let list = unsafe { object(list, "list") }?;
        let found = usize::try_from(index).ok().and_then(|index| list.found.get(index));
        let none = || Failure::usage(format!("there is no device {index}: the list has {}", list.found.len()));
        let found = found.ok_or_else(none)?;
        usable(info, "info")?;
        let filled = SuturaDeviceInfo {
            id: found.id.as_ptr(),
            name: found.name.as_ptr(),
            kind: found.kind.as_ptr(),
            driver: found.driver.as_ptr(),
            target: found.target.as_ptr(),
            problem: found.problem.as_ref().map_or(std::ptr::null(), |problem| problem.as_ptr()),
            memory_bytes: found.memory_bytes,
        };
        // SAFETY: usable, so valid by this function's condition.
        unsafe { info.write(filled) };
        Ok(())
    })
}

/// See `sutura.h`.
///
/// # Safety
/// `list` is null or from [`sutura_devices_find`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sutura_devices_absent(list: *const SuturaDeviceList, index: i32) -> *const c_char {
    let reason = guard(|| {
        // SAFETY: by this function's condition.
        let absent = &unsafe { object(list, "list") }?.absent;
        let reason = usize::try_from(index).ok().and_then(|index| absent.get(index));
        Ok(reason.map_or(std::ptr::null(), |reason| reason.as_ptr()))
    });
    reason.unwrap_or(std::ptr::null())
}

/// See `sutura.h`.
///
/// # Safety
/// `list` is null, or from [`sutura_devices_find`] and not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sutura_devices_free(list: *mut SuturaDeviceList) {
    // SAFETY: by this function's condition.
    unsafe { take_back(list) };
}

/// See `sutura.h`.
///
/// # Safety
/// `name` is null or a C string; `device` is null, misaligned or valid for a write.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sutura_device_open(wanted: *const c_char, device: *mut *mut SuturaDevice) -> i32 {
    status(|| {
        // SAFETY: by this function's condition.
        let wanted = unsafe { name(wanted, "name") }?;
        usable(device, "device")?;
        if wanted == "cpu" {
            let message = "`cpu` is the processor, which is not opened: models run on it as they are";
            return Err(Failure::usage(message.to_owned()));
        }
        let opened = Devices::find().open(wanted).map_err(|error: DeviceError| Error::from(error))?;
        let name = c_string(&opened.info().name);
        // SAFETY: usable, so valid by this function's condition.
        unsafe { hand_over(SuturaDevice { device: opened, name }, device) };
        Ok(())
    })
}

/// See `sutura.h`.
///
/// # Safety
/// `device` is null or an open device.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sutura_device_name(device: *const SuturaDevice) -> *const c_char {
    // SAFETY: by this function's condition.
    guard(|| Ok(unsafe { object(device, "device") }?.name.as_ptr())).unwrap_or(std::ptr::null())
}

/// See `sutura.h`.
///
/// # Safety
/// `device` is null, or from [`sutura_device_open`] and not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sutura_device_close(device: *mut SuturaDevice) {
    // SAFETY: by this function's condition.
    unsafe { take_back(device) };
}

/// See `sutura.h`.
///
/// # Safety
/// `model` is null or an open model.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn sutura_model_device(model: *const SuturaModel) -> *const c_char {
    // SAFETY: by this function's condition.
    guard(|| Ok(unsafe { object(model, "model") }?.device.as_ptr())).unwrap_or(std::ptr::null())
}

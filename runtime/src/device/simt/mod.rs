//! What the backends of NVIDIA and AMD share. CUDA's driver interface and HIP have the same functions under other names
//! (`api.rs`); where they differ in more, each backend says how in its [`Vendor`].
//!
//! Memory is used by address, and copied through pinned memory of the host (`ring.rs`). A stream is a stream of the
//! driver, which begins its work at once.

#![allow(unsafe_code)]

pub(crate) mod api;
pub(crate) mod elf;
mod graph;
mod memory;
pub(crate) mod module;
mod ring;
mod stream;

use std::ffi::{CStr, c_char, c_int};
use std::sync::Arc;

use super::driver::{Driver, DriverModule, DriverStream, Opener, RawMemory};
use super::module::KernelState;
use super::select::Found;
use super::{Backend, DeviceError, DeviceInfo, DeviceKind, Limits, Result};
use api::{Failure, Functions, GraphFunctions, Handle, Status};
use module::Code;

/// What one of the two interfaces does in a way of its own.
pub(crate) trait Vendor: Send + Sync {
    fn functions(&self) -> &Functions;

    /// None where the driver is too old for graphs.
    fn graphs(&self) -> Option<&GraphFunctions>;

    /// The name of a status, and its text.
    fn words(&self, status: Status) -> (String, String);

    /// What helps to find the kernel that failed with such a status, without a full stop.
    fn advice(&self) -> &'static str;

    /// The kernels of a binary; or why it is none for this device.
    fn inspect(&self, binary: &[u8], info: &DeviceInfo) -> Result<Code, String>;

    /// Loads code for the current device. With the failure comes what the driver says of it, if anything.
    fn load(&self, code: &Code) -> Result<Handle, (Failure, String)>;

    /// Opens a device: what [`Self::enter`] needs.
    fn retain(&self, device: c_int) -> Result<Handle, Failure>;

    fn release(&self, device: c_int);

    /// Makes a device that was retained current for this thread, and returns what was before.
    fn enter(&self, context: Handle) -> Result<Handle, Failure>;

    /// Makes current what was before.
    fn leave(&self, before: Handle);

    /// Allows a kernel so many bytes of dynamic shared memory, where more than by default have to be allowed.
    fn allow_shared(&self, function: Handle, bytes: u32) -> Result<(), Failure>;

    /// The most threads of a launch in x, all groups together.
    fn launch_threads(&self) -> u64;
}

/// A failure in words: the name of its status, and its text.
pub(crate) fn result_text(vendor: &dyn Vendor, status: Status) -> String {
    let (name, text) = vendor.words(status);
    if text.is_empty() { format!("{name} ({status})") } else { format!("{name} ({status}): {text}") }
}

/// A name and a text that a driver returned, either of which it may not have.
///
/// # Safety
/// Pointers that are not null are to strings that live for ever.
pub(crate) unsafe fn owned_words(name: *const c_char, text: *const c_char) -> (String, String) {
    let owned = |pointer: *const c_char| {
        // SAFETY: the caller's promise.
        (!pointer.is_null()).then(|| unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned())
    };
    (owned(name).unwrap_or_else(|| "an error that it has no name for".to_owned()), owned(text).unwrap_or_default())
}

/// A device that was found.
pub(crate) struct Listed {
    pub(crate) vendor: Arc<dyn Vendor>,
    pub(crate) device: c_int,
    pub(crate) info: DeviceInfo,
    /// Bytes of shared memory that a group may have without [`Vendor::allow_shared`].
    pub(crate) default_shared: u32,
}

impl Listed {
    pub(crate) fn found(self, index: usize, problem: Option<String>) -> Found {
        Found { info: self.info.clone(), index, problem, opener: Box::new(self) }
    }
}

/// The devices that a driver lists, each in words of `look`; or why there are none. One that does not answer is listed, and
/// cannot be opened.
pub(crate) fn list(
    vendor: &Arc<dyn Vendor>,
    backend: Backend,
    name: &str,
    look: impl Fn(&Arc<dyn Vendor>, c_int) -> Result<(Listed, Option<String>), Failure>,
) -> Result<Vec<Found>, String> {
    let words = |failure: Failure| format!("{}: {}", failure.call, result_text(&**vendor, failure.status));
    let told = |failure| format!("no {name}: {}", words(failure));
    let functions = vendor.functions();
    let mut count = 0;
    // SAFETY: the driver was initialized, and `count` is valid; so below.
    unsafe { functions.device_count(&raw mut count) }.map_err(told)?;
    if count <= 0 {
        return Err(format!("no {name}: its driver finds no hardware"));
    }
    let mut found = Vec::new();
    for ordinal in 0..count {
        let mut device = 0;
        // SAFETY: as above; the number is less than the count.
        unsafe { functions.device(&raw mut device, ordinal) }.map_err(told)?;
        let (listed, problem) = look(vendor, device).unwrap_or_else(|failure| {
            let info = silent(backend, ordinal);
            let listed = Listed { vendor: vendor.clone(), device, info, default_shared: 0 };
            (listed, Some(format!("its driver does not tell what it is: {}", words(failure))))
        });
        found.push(listed.found(found.len(), problem));
    }
    Ok(found)
}

/// A device that does not say what it is.
fn silent(backend: Backend, ordinal: c_int) -> DeviceInfo {
    DeviceInfo {
        backend,
        name: format!("device {ordinal}"),
        kind: DeviceKind::Other,
        driver: "unknown".to_owned(),
        api: "unknown".to_owned(),
        target: "unknown".to_owned(),
        limits: Limits {
            threads_per_group: 0,
            groups: 0,
            shared_bytes_per_group: 0,
            subgroup: 0,
            subgroup_range: (0, 0),
            units: None,
            memory_bytes: 0,
            allocation_bytes: 0,
        },
        features: Default::default(),
    }
}

/// The driver's name of a device.
pub(crate) fn device_name(vendor: &dyn Vendor, device: c_int) -> Result<String, Failure> {
    let mut name = [0u8; 256];
    // SAFETY: the device was listed, and the driver writes so many bytes at most.
    unsafe { vendor.functions().device_name(name.as_mut_ptr().cast(), name.len() as c_int, device) }?;
    let text = CStr::from_bytes_until_nul(&name).map_or_else(|_| String::from_utf8_lossy(&name), CStr::to_string_lossy);
    Ok(text.into_owned())
}

pub(crate) fn device_memory(vendor: &dyn Vendor, device: c_int) -> Result<u64, Failure> {
    let mut bytes = 0;
    // SAFETY: the device was listed, and the pointer is valid.
    unsafe { vendor.functions().device_memory(&raw mut bytes, device) }?;
    Ok(bytes as u64)
}

/// A number that the driver has for a device. Of one that it does not know it has none.
pub(crate) fn attribute(vendor: &dyn Vendor, device: c_int, attribute: c_int) -> Option<u32> {
    let mut value = 0;
    // SAFETY: as above.
    unsafe { vendor.functions().device_attribute(&raw mut value, attribute, device) }.ok()?;
    u32::try_from(value).ok()
}

/// An opened device.
pub(crate) struct Gpu {
    vendor: Arc<dyn Vendor>,
    device: c_int,
    context: Handle,
    info: DeviceInfo,
    default_shared: u32,
}

impl Opener for Listed {
    fn open(&self) -> Result<Box<dyn Driver>> {
        let context = self.vendor.retain(self.device).map_err(|failure| error(&*self.vendor, &self.info, failure))?;
        Ok(Box::new(Arc::new(Gpu {
            vendor: self.vendor.clone(),
            device: self.device,
            context,
            info: self.info.clone(),
            default_shared: self.default_shared,
        })))
    }
}

impl Drop for Gpu {
    fn drop(&mut self) {
        self.vendor.release(self.device);
    }
}

/// The device is current for this thread as long as this lives; then it is again what was before.
struct Entered<'a> {
    gpu: &'a Gpu,
    before: Handle,
}

impl Drop for Entered<'_> {
    fn drop(&mut self) {
        self.gpu.vendor.leave(self.before);
    }
}

impl Gpu {
    fn enter(&self) -> Result<Entered<'_>> {
        let before = self.vendor.enter(self.context).map_err(|failure| self.error(failure))?;
        Ok(Entered { gpu: self, before })
    }

    fn functions(&self) -> &Functions {
        self.vendor.functions()
    }

    fn error(&self, failure: Failure) -> DeviceError {
        error(&*self.vendor, &self.info, failure)
    }
}

fn error(vendor: &dyn Vendor, info: &DeviceInfo, failure: Failure) -> DeviceError {
    let (device, call) = (info.name.clone(), failure.call.to_owned());
    let result = result_text(vendor, failure.status);
    match cause(failure.status) {
        Some(cause) => DeviceError::Crashed { device, call, result, hint: format!("{cause}; {}", vendor.advice()) },
        None => DeviceError::Driver { device, call, result },
    }
}

/// What must have happened, where the status is one after which the device does nothing more for this process.
fn cause(status: Status) -> Option<&'static str> {
    Some(match status {
        700 => "a kernel accessed memory that is not its own: check the arguments and sizes of its launch",
        716 => {
            "a kernel accessed memory at an address that is not aligned for its type: check the offsets of its launch"
        }
        717 => "a kernel accessed another space of memory than the address is of",
        702 => "a kernel ran longer than the system allows: launch less at a time",
        710 => "a kernel found that what it asserts is not so",
        714 | 719 => "a kernel crashed",
        715 | 718 => "a kernel's code is no code of this hardware: it was damaged, or overwritten",
        46 | 214 | 220 => "the hardware failed: its driver's log (dmesg) says more",
        _ => return None,
    })
}

impl Driver for Arc<Gpu> {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn allocate(&self, bytes: u64) -> Result<RawMemory> {
        memory::allocate(self, bytes)
    }

    fn load(&self, binary: &[u8]) -> Result<Box<dyn DriverModule>> {
        Ok(Box::new(module::load(self, binary)?))
    }

    fn stream(&self) -> Result<Box<dyn DriverStream>> {
        Ok(Box::new(stream::Stream::new(self)?))
    }

    fn resident_groups(&self, kernel: &KernelState, dynamic_shared: u32) -> Result<Option<u32>> {
        module::resident_groups(self, kernel, dynamic_shared).map(Some)
    }
}

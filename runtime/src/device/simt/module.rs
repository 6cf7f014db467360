//! Loaded code, and its kernels.

#![allow(unsafe_code)]

use std::ffi::{CString, c_int};
use std::sync::{Arc, Mutex, PoisonError};

use super::Gpu;
use super::api::{Failure, Handle};
use crate::device::driver::{DriverModule, Launch, RawKernel};
use crate::device::module::KernelState;
use crate::device::{DeviceError, KernelInfo, KernelOptions, Result};

/// Attributes of functions: `CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK` and `CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES`, which
/// `HIP_FUNC_ATTRIBUTE_…` of the same names are.
const MOST_THREADS: c_int = 0;
const SHARED_BYTES: c_int = 1;
/// Bytes of every parameter: an address or a 64-bit integer.
const PARAMETER_BYTES: u32 = 8;

/// Code to be loaded.
pub(crate) struct Code {
    pub(crate) kernels: Vec<Entry>,
    /// The bytes for the driver; of text with a zero behind.
    pub(crate) image: Vec<u8>,
    /// Whether the driver compiles it, so that it may have something to say.
    pub(crate) is_source: bool,
}

/// What a binary says of a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) name: String,
    /// Threads of a group, by axis, where they are fixed.
    pub(crate) threads: Option<[u32; 3]>,
    /// Bytes of each parameter, where they are known.
    pub(crate) parameters: Option<Vec<u32>>,
    /// Threads in step, where the code is for one number of them.
    pub(crate) subgroup: Option<u32>,
}

impl Entry {
    pub(crate) fn new(name: &str) -> Self {
        Self { name: name.to_owned(), threads: None, parameters: None, subgroup: None }
    }
}

/// A module of the driver; its functions live as long as it.
struct Loaded {
    gpu: Arc<Gpu>,
    handle: Handle,
    functions: Vec<Function>,
}

struct Function {
    handle: Handle,
    entry: Entry,
    shared_bytes: u32,
    /// The most threads that a group can have with the registers that the code needs.
    most_threads: u32,
    /// Whether all the shared memory of the device was allowed to it.
    allowed: Mutex<bool>,
}

impl Drop for Loaded {
    fn drop(&mut self) {
        let Ok(_entered) = self.gpu.enter() else { return };
        // SAFETY: it is alive, and no launch of its functions is left: streams keep it until they are done.
        let _ = unsafe { self.gpu.functions().unload(self.handle) };
    }
}

pub(super) struct Module {
    loaded: Arc<Loaded>,
    kernels: Vec<KernelInfo>,
}

pub(super) fn load(gpu: &Arc<Gpu>, binary: &[u8]) -> Result<Module> {
    let refused = |reason: String| DeviceError::Binary { device: gpu.info.name.clone(), reason };
    if binary.is_empty() {
        return Err(refused("it is empty".to_owned()));
    }
    let code = gpu.vendor.inspect(binary, &gpu.info).map_err(refused)?;
    if code.kernels.is_empty() {
        return Err(refused("it has no kernel".to_owned()));
    }
    let _entered = gpu.enter()?;
    let handle = gpu.vendor.load(&code).map_err(|(failure, log)| load_error(gpu, failure, &log))?;
    let mut loaded = Loaded { gpu: gpu.clone(), handle, functions: Vec::new() };
    for entry in code.kernels {
        let function = function(gpu, handle, entry)?;
        loaded.functions.push(function);
    }
    let kernel = |function: &Function| KernelInfo {
        name: function.entry.name.clone(),
        threads_per_group: function.entry.threads.map_or(0, |threads| product(threads).unwrap_or(u32::MAX)),
        shared_bytes: function.shared_bytes,
    };
    let kernels = loaded.functions.iter().map(kernel).collect();
    Ok(Module { loaded: Arc::new(loaded), kernels })
}

/// Of code that the driver does not take the error says so, with what the driver says of it.
fn load_error(gpu: &Gpu, failure: Failure, log: &str) -> DeviceError {
    // From CUDA_ERROR_INVALID_IMAGE on to what concerns symbols: the code is at fault. HIP has the same numbers.
    if !matches!(failure.status, 200 | 209 | 218 | 221..=223 | 300..=303 | 500) {
        return gpu.error(failure);
    }
    let log = log.trim();
    let hint = match failure.status {
        209 => format!("; compile it for {}", gpu.info.target),
        222 => "; update the driver, or compile it for an older version of PTX".to_owned(),
        _ => String::new(),
    };
    let result = super::result_text(&*gpu.vendor, failure.status);
    let said = if log.is_empty() { String::new() } else { format!(": {log}") };
    DeviceError::Binary { device: gpu.info.name.clone(), reason: format!("{}: {result}{said}{hint}", failure.call) }
}

fn function(gpu: &Gpu, module: Handle, entry: Entry) -> Result<Function> {
    // A name that was read up to its zero has none.
    let name = CString::new(entry.name.as_str()).unwrap_or_default();
    let failed = |failure: Failure| match gpu.error(failure) {
        DeviceError::Driver { device, call, result } => {
            DeviceError::Driver { device, call: format!("{call} for kernel `{}`", entry.name), result }
        }
        other => other,
    };
    let mut handle = 0;
    // SAFETY: the device is current, the module is alive, the pointers are valid; so below.
    unsafe { gpu.functions().function(&raw mut handle, module, name.as_ptr()) }.map_err(failed)?;
    let attribute = |attribute| {
        let mut value = 0;
        // SAFETY: as above.
        unsafe { gpu.functions().function_attribute(&raw mut value, attribute, handle) }.map_err(failed)?;
        Ok(u32::try_from(value).unwrap_or(0))
    };
    let (most_threads, shared_bytes) = (attribute(MOST_THREADS)?, attribute(SHARED_BYTES)?);
    Ok(Function { handle, entry, shared_bytes, most_threads, allowed: Mutex::new(false) })
}

fn product(threads: [u32; 3]) -> Option<u32> {
    threads.into_iter().try_fold(1, u32::checked_mul)
}

impl DriverModule for Module {
    fn kernels(&self) -> &[KernelInfo] {
        &self.kernels
    }

    fn kernel(&self, index: usize, options: &KernelOptions) -> Result<RawKernel> {
        let (function, gpu) = (&self.loaded.functions[index], &self.loaded.gpu);
        let (device, kernel) = (|| gpu.info.name.clone(), || function.entry.name.clone());
        // Where the binary leaves it open, the options say it; that was checked.
        let size = function.entry.threads.unwrap_or([options.threads.unwrap_or(0), 1, 1]);
        let threads = product(size).unwrap_or(u32::MAX);
        if threads == 0 || threads > function.most_threads {
            let limit = function.most_threads;
            return Err(DeviceError::GroupSize { device: device(), kernel: kernel(), threads: threads.into(), limit });
        }
        if let (Some(wanted), Some(has)) = (options.subgroup, function.entry.subgroup)
            && wanted != has
        {
            let reason = format!("its code is for {has}; compile it for {wanted}");
            return Err(DeviceError::SubgroupSize { device: device(), kernel: kernel(), wanted, reason });
        }
        let parameters = function.entry.parameters.as_deref().unwrap_or_default();
        if let Some(at) = parameters.iter().position(|bytes| *bytes != PARAMETER_BYTES) {
            let (name, bytes) = (kernel(), parameters[at]);
            let reason = format!(
                "parameter {at} of kernel `{name}` has {bytes} bytes, but addresses and sizes have {PARAMETER_BYTES}"
            );
            return Err(DeviceError::Binary { device: device(), reason });
        }
        let launchable = Arc::new(Launchable { loaded: self.loaded.clone(), index, size, threads });
        Ok(RawKernel { handle: Arc::as_ptr(&launchable) as u64, _owner: Box::new(launchable) })
    }
}

/// A kernel with the size of its groups.
pub(super) struct Launchable {
    loaded: Arc<Loaded>,
    index: usize,
    pub(super) size: [u32; 3],
    threads: u32,
}

impl Launchable {
    /// What [`Module::kernel`] put into a kernel.
    ///
    /// # Safety
    /// The kernel was made by this backend.
    pub(super) unsafe fn of(kernel: &KernelState) -> &Self {
        // SAFETY: the owner in the kernel keeps what its handle points to.
        unsafe { &*(kernel.raw.handle as *const Self) }
    }

    fn entry(&self) -> &Function {
        &self.loaded.functions[self.index]
    }

    pub(super) fn function(&self) -> Handle {
        self.entry().handle
    }

    /// What is wrong with a launch, beyond what is checked for all backends. Where the kernel needs more shared memory
    /// than it may have by default, it is allowed all.
    pub(super) fn check(&self, gpu: &Gpu, info: &KernelInfo, launch: &Launch, arguments: &[u64]) -> Result<()> {
        let function = self.entry();
        let (device, kernel) = (|| gpu.info.name.clone(), || info.name.clone());
        if let Some(parameters) = &function.entry.parameters
            && parameters.len() != arguments.len()
        {
            let (arguments, expected) = (arguments.len(), parameters.len());
            return Err(DeviceError::ArgumentCount { device: device(), kernel: kernel(), arguments, expected });
        }
        let limit = gpu.vendor.launch_threads() / u64::from(self.threads);
        if u64::from(launch.groups) > limit {
            let (groups, limit) = (u64::from(launch.groups), u32::try_from(limit).unwrap_or(u32::MAX));
            return Err(DeviceError::Grid { device: device(), kernel: kernel(), groups, limit });
        }
        if function.shared_bytes.saturating_add(launch.dynamic_shared) > gpu.default_shared {
            self.allow_shared(gpu)?;
        }
        Ok(())
    }

    fn allow_shared(&self, gpu: &Gpu) -> Result<()> {
        let function = self.entry();
        // Nothing panics while it is held.
        let mut allowed = function.allowed.lock().unwrap_or_else(PoisonError::into_inner);
        if !*allowed {
            let bytes = gpu.info.limits.shared_bytes_per_group.saturating_sub(function.shared_bytes);
            let _entered = gpu.enter()?;
            gpu.vendor.allow_shared(function.handle, bytes).map_err(|failure| gpu.error(failure))?;
            *allowed = true;
        }
        Ok(())
    }
}

/// How many groups of a kernel a multiprocessor has at once.
pub(super) fn resident_groups(gpu: &Gpu, kernel: &KernelState, dynamic_shared: u32) -> Result<u32> {
    // SAFETY: the kernel belongs to this device, so to this backend.
    let launchable = unsafe { Launchable::of(kernel) };
    if launchable.entry().shared_bytes.saturating_add(dynamic_shared) > gpu.default_shared {
        launchable.allow_shared(gpu)?;
    }
    let _entered = gpu.enter()?;
    let threads = c_int::try_from(launchable.threads).unwrap_or(c_int::MAX);
    let mut groups = 0;
    // SAFETY: the device is current, the function is alive, the pointer is valid.
    let told =
        unsafe { gpu.functions().occupancy(&raw mut groups, launchable.function(), threads, dynamic_shared as usize) };
    told.map_err(|failure| gpu.error(failure))?;
    Ok(u32::try_from(groups).unwrap_or(0))
}

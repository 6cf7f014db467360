//! Devices of NVIDIA, through CUDA's driver interface. The driver's library is loaded when devices are looked for, and need
//! not be there; nothing of CUDA's toolkit is needed. Numbers of attributes and statuses are those of `cuda.h`.
//!
//! This was tested with a driver that stands in for NVIDIA's (`runtime/tests/fake_gpu`), and not on hardware yet.

#![allow(unsafe_code)]

mod cubin;
mod ptx;

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::mem::ManuallyDrop;
use std::path::Path;
use std::sync::Arc;

use libloading::Library;

use super::select::Found;
use super::simt::api::{Failure, Family, Functions, GraphFunctions, Handle, Status, check, symbol};
use super::simt::module::Code;
use super::simt::{Listed, Vendor, attribute, device_memory, device_name, elf, list, owned_words, result_text};
use super::{Backend, DeviceInfo, DeviceKind, Limits};
use crate::files::not_regular;

/// Names of the driver's library; the second is where Windows puts it for its Linux.
const LIBRARIES: [&str; 3] = ["libcuda.so.1", "/usr/lib/wsl/lib/libcuda.so.1", "libcuda.so"];
/// The variable of the environment that names another.
pub(super) const VARIABLE: &str = "SUTURA_CUDA_LIBRARY";
/// The oldest driver that is known to have everything, as `cuDriverGetVersion` counts: CUDA 11.0.
const OLDEST: c_int = 11_000;
/// Before this version graphs are not made: `cuGraphInstantiateWithFlags` came with CUDA 11.4.
const GRAPHS: c_int = 11_040;

/// `CUdevice_attribute`.
mod attributes {
    pub(super) const MAX_THREADS_PER_BLOCK: i32 = 1;
    pub(super) const MAX_GRID_DIM_X: i32 = 5;
    pub(super) const MAX_SHARED_MEMORY_PER_BLOCK: i32 = 8;
    pub(super) const WARP_SIZE: i32 = 10;
    pub(super) const MULTIPROCESSOR_COUNT: i32 = 16;
    pub(super) const INTEGRATED: i32 = 18;
    pub(super) const COMPUTE_MODE: i32 = 20;
    pub(super) const COMPUTE_CAPABILITY_MAJOR: i32 = 75;
    pub(super) const COMPUTE_CAPABILITY_MINOR: i32 = 76;
    pub(super) const MAX_SHARED_MEMORY_PER_BLOCK_OPTIN: i32 = 97;
}

/// `CU_COMPUTEMODE_PROHIBITED`.
const PROHIBITED: u32 = 2;
/// `CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES`.
const DYNAMIC_SHARED: c_int = 8;
/// `CU_JIT_ERROR_LOG_BUFFER` and `CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES`.
const LOG_OPTIONS: [c_int; 2] = [5, 6];
const LOG_BYTES: usize = 16 << 10;
/// What files begin with that hold several binaries.
const FAT_BINARY: [u8; 4] = 0xba55_ed50u32.to_le_bytes();

type Words = unsafe extern "C" fn(Status, *mut *const c_char) -> Status;

struct Cuda {
    functions: Functions,
    graphs: Option<GraphFunctions>,
    error_name: Words,
    error_text: Words,
    retain: unsafe extern "C" fn(*mut Handle, c_int) -> Status,
    release: unsafe extern "C" fn(c_int) -> Status,
    push: unsafe extern "C" fn(Handle) -> Status,
    pop: unsafe extern "C" fn(*mut Handle) -> Status,
    load: unsafe extern "C" fn(*mut Handle, *const c_void, c_uint, *mut c_int, *mut *mut c_void) -> Status,
    set_attribute: unsafe extern "C" fn(Handle, c_int, c_int) -> Status,
    version: c_int,
    /// Never unloaded: the driver has threads of its own.
    _library: ManuallyDrop<Library>,
}

/// The devices, or why there are none. `library` is to be used instead of the system's; an empty one switches CUDA off.
pub(super) fn find(library: Option<&Path>) -> Result<Vec<Found>, String> {
    if library.is_some_and(|path| path.as_os_str().is_empty()) {
        return Err(format!("no CUDA: {VARIABLE} is empty, which switches it off"));
    }
    let cuda = start(library)?;
    let version = cuda.version;
    let vendor: Arc<dyn Vendor> = Arc::new(cuda);
    list(&vendor, Backend::Cuda, "CUDA", |vendor, device| look(vendor, device, version))
}

/// Loads the first of the libraries that can be.
pub(super) fn open_library(names: &[&Path]) -> Result<ManuallyDrop<Library>, String> {
    let mut problem = String::new();
    for name in names {
        // A name without a folder is looked for by the system.
        let pipe = name.parent().filter(|folder| !folder.as_os_str().is_empty()).and_then(|_| not_regular(name));
        if let Some(reason) = pipe {
            return Err(reason);
        }
        // SAFETY: the library is the driver's, or what the user says is one.
        match unsafe { Library::new(name) } {
            Ok(library) => return Ok(ManuallyDrop::new(library)),
            // The first name is the one that should be found; of the others only some systems have one.
            Err(error) if problem.is_empty() => problem = error.to_string(),
            Err(_) => {}
        }
    }
    Err(problem)
}

fn start(path: Option<&Path>) -> Result<Cuda, String> {
    let names: Vec<&Path> = path.map_or_else(|| LIBRARIES.map(Path::new).to_vec(), |path| vec![path]);
    let library = open_library(&names)
        .map_err(|error| format!("no CUDA: {error}; install NVIDIA's driver, or name its library in {VARIABLE}"))?;
    let cuda = functions(library).map_err(|problem| format!("no CUDA: {problem}"))?;
    Ok(cuda)
}

fn functions(library: ManuallyDrop<Library>) -> Result<Cuda, String> {
    // SAFETY: these are the types that cuda.h has for the names, here and below.
    let version: unsafe extern "C" fn(*mut c_int) -> Status = unsafe { symbol(&library, "cuDriverGetVersion") }?;
    // SAFETY: as above.
    let init: unsafe extern "C" fn(c_uint) -> Status = unsafe { symbol(&library, "cuInit") }?;
    let mut has = 0;
    // SAFETY: the pointer is valid; this may be called before `cuInit`.
    let status = unsafe { version(&raw mut has) };
    if status == 0 && has < OLDEST {
        return Err(format!(
            "its driver is too old: it has CUDA {}, but {} is needed; update the driver",
            version_text(has),
            version_text(OLDEST)
        ));
    }
    let too_old = |problem: String| format!("{problem}; is that NVIDIA's driver, and new enough?");
    // SAFETY: as above.
    let cuda = unsafe {
        Cuda {
            functions: Functions::load(&library, Family::Cuda).map_err(too_old)?,
            graphs: if has < GRAPHS { None } else { GraphFunctions::load(&library, Family::Cuda).ok() },
            error_name: symbol(&library, "cuGetErrorName").map_err(too_old)?,
            error_text: symbol(&library, "cuGetErrorString").map_err(too_old)?,
            retain: symbol(&library, "cuDevicePrimaryCtxRetain").map_err(too_old)?,
            release: symbol(&library, "cuDevicePrimaryCtxRelease_v2").map_err(too_old)?,
            push: symbol(&library, "cuCtxPushCurrent_v2").map_err(too_old)?,
            pop: symbol(&library, "cuCtxPopCurrent_v2").map_err(too_old)?,
            load: symbol(&library, "cuModuleLoadDataEx").map_err(too_old)?,
            set_attribute: symbol(&library, "cuFuncSetAttribute").map_err(too_old)?,
            version: has,
            _library: library,
        }
    };
    check("cuDriverGetVersion", status)
        // SAFETY: the driver asks for nothing before.
        .and_then(|()| check("cuInit", unsafe { init(0) }))
        .map_err(|failure| format!("{}: {}", failure.call, result_text(&cuda, failure.status)))?;
    Ok(cuda)
}

fn version_text(version: c_int) -> String {
    format!("{}.{}", version / 1000, version % 1000 / 10)
}

fn look(vendor: &Arc<dyn Vendor>, device: c_int, version: c_int) -> Result<(Listed, Option<String>), Failure> {
    let number = |which| attribute(&**vendor, device, which).unwrap_or(0);
    let capability = (number(attributes::COMPUTE_CAPABILITY_MAJOR), number(attributes::COMPUTE_CAPABILITY_MINOR));
    let default_shared = number(attributes::MAX_SHARED_MEMORY_PER_BLOCK);
    let warp = number(attributes::WARP_SIZE);
    let memory_bytes = device_memory(&**vendor, device)?;
    // The kernel's module says its version, where it is readable.
    let driver = std::fs::read_to_string("/sys/module/nvidia/version");
    let mut features = [
        ("float64", (0, 0)),
        ("float16", (5, 3)),
        ("tensor-cores", (7, 0)),
        ("bfloat16", (8, 0)),
        ("async-copy", (8, 0)),
        ("float8", (8, 9)),
        ("clusters", (9, 0)),
    ]
    .into_iter()
    .filter(|(_, since)| capability >= *since)
    .map(|(name, _)| name)
    .collect::<std::collections::BTreeSet<_>>();
    if vendor.graphs().is_some() {
        features.insert("graphs");
    }
    let info = DeviceInfo {
        backend: Backend::Cuda,
        name: device_name(&**vendor, device)?,
        kind: if number(attributes::INTEGRATED) == 0 { DeviceKind::Discrete } else { DeviceKind::Integrated },
        driver: driver.map_or_else(|_| "NVIDIA".to_owned(), |version| format!("NVIDIA {}", version.trim())),
        api: format!("CUDA {}", version_text(version)),
        target: format!("sm_{}{}", capability.0, capability.1),
        limits: Limits {
            threads_per_group: number(attributes::MAX_THREADS_PER_BLOCK),
            groups: number(attributes::MAX_GRID_DIM_X),
            shared_bytes_per_group: default_shared.max(number(attributes::MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)),
            subgroup: warp,
            subgroup_range: (warp, warp),
            units: Some(number(attributes::MULTIPROCESSOR_COUNT)).filter(|units| *units > 0),
            memory_bytes,
            allocation_bytes: memory_bytes,
        },
        features,
    };
    let problem = if number(attributes::COMPUTE_MODE) == PROHIBITED {
        Some("its compute mode forbids work; `nvidia-smi -c DEFAULT` allows it".to_owned())
    } else if info.limits.threads_per_group == 0 || info.limits.groups == 0 || warp == 0 || default_shared == 0 {
        Some("its driver does not say how large groups and launches may be".to_owned())
    } else {
        None
    };
    Ok((Listed { vendor: vendor.clone(), device, info, default_shared }, problem))
}

impl Vendor for Cuda {
    fn functions(&self) -> &Functions {
        &self.functions
    }

    fn graphs(&self) -> Option<&GraphFunctions> {
        self.graphs.as_ref()
    }

    fn words(&self, status: Status) -> (String, String) {
        let (mut name, mut text) = (std::ptr::null(), std::ptr::null());
        // SAFETY: the pointers are valid; of a status that it does not know the driver sets null. Its strings are constants.
        unsafe {
            let _ = (self.error_name)(status, &raw mut name);
            let _ = (self.error_text)(status, &raw mut text);
            owned_words(name, text)
        }
    }

    fn advice(&self) -> &'static str {
        "compute-sanitizer finds the kernel, and CUDA_LAUNCH_BLOCKING=1 its launch"
    }

    fn inspect(&self, binary: &[u8], info: &DeviceInfo) -> Result<Code, String> {
        if elf::is_elf(binary) {
            return Ok(Code { kernels: cubin::kernels(binary)?, image: binary.to_vec(), is_source: false });
        }
        if binary.starts_with(&FAT_BINARY) {
            return Err(
                "it is a fat binary; give the PTX or the cubin that is in it (`cuobjdump -xelf all`)".to_owned()
            );
        }
        let text = ptx::text(binary).ok_or("it is neither an ELF file (a cubin) nor text (PTX)")?;
        let ptx = ptx::read(text)?;
        if let Some(problem) = ptx.target.and_then(|target| mismatch(&target, &info.target)) {
            return Err(problem);
        }
        let mut image = text.as_bytes().to_vec();
        image.push(0);
        Ok(Code { kernels: ptx.kernels, image, is_source: true })
    }

    fn load(&self, code: &Code) -> Result<Handle, (Failure, String)> {
        let mut log = vec![0u8; if code.is_source { LOG_BYTES } else { 0 }];
        let mut options = LOG_OPTIONS;
        // The second value is a number, passed as a pointer; the driver writes there how much it wrote.
        let mut values = [log.as_mut_ptr().cast(), std::ptr::without_provenance_mut(log.len())];
        let count = if code.is_source { options.len() as c_uint } else { 0 };
        let mut module = 0;
        // SAFETY: a device is current. The image is whole: of ELF all that its headers speak of is there, and text ends with
        // a zero. The log has as many bytes as the options say.
        let status = unsafe {
            (self.load)(&raw mut module, code.image.as_ptr().cast(), count, options.as_mut_ptr(), values.as_mut_ptr())
        };
        check("cuModuleLoadDataEx", status).map_err(|failure| {
            let end = log.iter().position(|byte| *byte == 0).unwrap_or(log.len());
            (failure, String::from_utf8_lossy(&log[..end]).into_owned())
        })?;
        Ok(module)
    }

    fn retain(&self, device: c_int) -> Result<Handle, Failure> {
        let mut context = 0;
        // SAFETY: the device was listed, and the pointer is valid.
        check("cuDevicePrimaryCtxRetain", unsafe { (self.retain)(&raw mut context, device) })?;
        Ok(context)
    }

    fn release(&self, device: c_int) {
        // SAFETY: it was retained, and everything that was made in it is gone.
        let _ = unsafe { (self.release)(device) };
    }

    fn enter(&self, context: Handle) -> Result<Handle, Failure> {
        // SAFETY: the context is retained.
        check("cuCtxPushCurrent", unsafe { (self.push)(context) })?;
        // The driver has a stack of its own of what was before.
        Ok(0)
    }

    fn leave(&self, _: Handle) {
        let mut popped = 0;
        // SAFETY: this thread pushed a context, and what it pushed since is popped.
        let _ = unsafe { (self.pop)(&raw mut popped) };
    }

    fn allow_shared(&self, function: Handle, bytes: u32) -> Result<(), Failure> {
        let bytes = c_int::try_from(bytes).unwrap_or(c_int::MAX);
        // SAFETY: the function is alive, and its device current.
        check("cuFuncSetAttribute", unsafe { (self.set_attribute)(function, DYNAMIC_SHARED, bytes) })
    }

    fn launch_threads(&self) -> u64 {
        u64::MAX
    }
}

/// Why PTX for `target` cannot run on a device of `has`, both such as `sm_90`; with an `a` it runs on that one alone.
pub(crate) fn mismatch(target: &str, has: &str) -> Option<String> {
    let (made, device) = (capability(target)?, capability(has)?);
    if made == device || made < device && !target.ends_with('a') {
        return None;
    }
    Some(format!("it is made for {target}, but the device is {has}; compile it for {has}"))
}

/// The number of a processor such as `sm_90` or `sm_90a`: later ones have higher numbers.
pub(crate) fn capability(chip: &str) -> Option<u32> {
    chip.strip_prefix("sm_")?.trim_end_matches(['a', 'f']).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::mismatch;

    #[test]
    fn newer_devices_run_older_code() {
        assert_eq!(mismatch("sm_80", "sm_80"), None);
        assert_eq!(mismatch("sm_80", "sm_120"), None);
        assert_eq!(mismatch("sm_90a", "sm_90"), None);
        assert_eq!(mismatch("something", "sm_90"), None);
        assert!(mismatch("sm_90a", "sm_100").is_some());
        let problem = mismatch("sm_90", "sm_86").unwrap();
        assert_eq!(problem, "it is made for sm_90, but the device is sm_86; compile it for sm_86");
    }
}

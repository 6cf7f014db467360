//! Devices of AMD, through HIP, the runtime library of ROCm. It is loaded when devices are looked for, and need not be
//! there; no compiler of ROCm is needed.
//!
//! This was tested with a library that stands in for AMD's (`runtime/tests/fake_gpu`), and not on hardware yet.

#![allow(unsafe_code)]

mod hsaco;
mod msgpack;

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::mem::ManuallyDrop;
use std::path::Path;
use std::sync::Arc;

use libloading::Library;

use super::cuda::open_library;
use super::select::Found;
use super::simt::api::{Failure, Family, Functions, GraphFunctions, Handle, Status, check, symbol};
use super::simt::module::Code;
use super::simt::{Listed, Vendor, attribute, device_memory, device_name, elf, list, owned_words, result_text};
use super::{Backend, DeviceInfo, DeviceKind, Limits};

/// Names of the library: the newest version that is known first; the last is where it is without being on the system's path.
const LIBRARIES: [&str; 5] =
    ["libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5", "libamdhip64.so", "/opt/rocm/lib/libamdhip64.so"];
/// The variable of the environment that names another.
pub(super) const VARIABLE: &str = "SUTURA_HIP_LIBRARY";
/// The oldest version, major and minor. Before 4.3 attributes had other numbers.
const OLDEST: (c_int, c_int) = (5, 0);
/// Before this version graphs are not made: they were incomplete.
const GRAPHS: (c_int, c_int) = (6, 0);

/// `hipDeviceAttribute_t`, as in `hip_runtime_api.h` of ROCm 5.0 (which took the numbers that 4.3 began with), 6.0 to 6.4,
/// 7.0 and 7.1: these are the same in all of them. What a device answers is checked for sense in `look`.
mod attributes {
    pub(super) const INTEGRATED: i32 = 16;
    pub(super) const MAX_GRID_DIM_X: i32 = 29;
    pub(super) const MAX_THREADS_PER_BLOCK: i32 = 56;
    pub(super) const MULTIPROCESSOR_COUNT: i32 = 63;
    pub(super) const MAX_SHARED_MEMORY_PER_BLOCK: i32 = 74;
    pub(super) const WARP_SIZE: i32 = 87;
}

/// Where `gcnArchName` is in `hipDeviceProp_t`, of which nothing else is read. Since ROCm 6 the struct has another layout,
/// and the function that fills it another symbol; the old one goes on filling the old layout. The numbers are
/// `offsetof(hipDeviceProp_tR0600, gcnArchName)` of ROCm 6.0 to 7.1, and `offsetof(hipDeviceProp_t, gcnArchName)` of 5.x.
const PROPERTIES: [(&str, usize); 2] = [("hipGetDevicePropertiesR0600", 1160), ("hipGetDeviceProperties", 396)];
/// Words for the struct: it had 1480 bytes at most, and may grow.
const PROPERTY_WORDS: usize = 2048;
const ARCH_BYTES: usize = 256;

struct Hip {
    functions: Functions,
    graphs: Option<GraphFunctions>,
    error_name: unsafe extern "C" fn(Status) -> *const c_char,
    error_text: unsafe extern "C" fn(Status) -> *const c_char,
    get_device: unsafe extern "C" fn(*mut c_int) -> Status,
    set_device: unsafe extern "C" fn(c_int) -> Status,
    load: unsafe extern "C" fn(*mut Handle, *const c_void) -> Status,
    properties: unsafe extern "C" fn(*mut c_void, c_int) -> Status,
    arch_offset: usize,
    version: c_int,
    /// Never unloaded: it has threads of its own.
    _library: ManuallyDrop<Library>,
}

/// The devices, or why there are none. `library` is to be used instead of the system's; an empty one switches HIP off.
pub(super) fn find(library: Option<&Path>) -> Result<Vec<Found>, String> {
    if library.is_some_and(|path| path.as_os_str().is_empty()) {
        return Err(format!("no ROCm: {VARIABLE} is empty, which switches it off"));
    }
    let names: Vec<&Path> = library.map_or_else(|| LIBRARIES.map(Path::new).to_vec(), |path| vec![path]);
    let library = open_library(&names)
        .map_err(|error| format!("no ROCm: {error}; install ROCm's HIP runtime, or name its library in {VARIABLE}"))?;
    let hip = Arc::new(functions(library).map_err(|problem| format!("no ROCm: {problem}"))?);
    let vendor: Arc<dyn Vendor> = hip.clone();
    list(&vendor, Backend::Rocm, "ROCm", |_, device| look(&hip, device))
}

fn functions(library: ManuallyDrop<Library>) -> Result<Hip, String> {
    // SAFETY: these are the types that hip_runtime_api.h has for the names, here and below.
    let version: unsafe extern "C" fn(*mut c_int) -> Status = unsafe { symbol(&library, "hipRuntimeGetVersion") }?;
    // SAFETY: as above.
    let init: unsafe extern "C" fn(c_uint) -> Status = unsafe { symbol(&library, "hipInit") }?;
    let mut has = 0;
    // SAFETY: the pointer is valid; this may be called before `hipInit`.
    let status = unsafe { version(&raw mut has) };
    if status == 0 && major_minor(has) < OLDEST {
        return Err(format!(
            "its HIP runtime is too old: it has version {}, but {}.{} is needed; update ROCm",
            version_text(has),
            OLDEST.0,
            OLDEST.1
        ));
    }
    let too_old = |problem: String| format!("{problem}; is that AMD's HIP runtime, and new enough?");
    let (name, arch_offset) = PROPERTIES[usize::from(major_minor(has).0 < 6)];
    // SAFETY: as above.
    let hip = unsafe {
        Hip {
            functions: Functions::load(&library, Family::Hip).map_err(too_old)?,
            graphs: if major_minor(has) < GRAPHS { None } else { GraphFunctions::load(&library, Family::Hip).ok() },
            error_name: symbol(&library, "hipGetErrorName").map_err(too_old)?,
            error_text: symbol(&library, "hipGetErrorString").map_err(too_old)?,
            get_device: symbol(&library, "hipGetDevice").map_err(too_old)?,
            set_device: symbol(&library, "hipSetDevice").map_err(too_old)?,
            load: symbol(&library, "hipModuleLoadData").map_err(too_old)?,
            properties: symbol(&library, name).map_err(too_old)?,
            arch_offset,
            version: has,
            _library: library,
        }
    };
    check("hipRuntimeGetVersion", status)
        // SAFETY: the library asks for nothing before.
        .and_then(|()| check("hipInit", unsafe { init(0) }))
        .map_err(|failure| format!("{}: {}", failure.call, result_text(&hip, failure.status)))?;
    Ok(hip)
}

/// Of `HIP_VERSION`: major * 10^7 + minor * 10^5 + patch.
fn major_minor(version: c_int) -> (c_int, c_int) {
    (version / 10_000_000, version / 100_000 % 100)
}

fn version_text(version: c_int) -> String {
    let (major, minor) = major_minor(version);
    format!("{major}.{minor}.{}", version % 100_000)
}

impl Hip {
    /// The processor with its settings, such as `gfx90a:sramecc+:xnack-`. None if what is there is no such name.
    fn arch(&self, device: c_int) -> Result<Option<String>, Failure> {
        let mut properties = vec![0u64; PROPERTY_WORDS];
        // SAFETY: the device was listed, and there is far more room than any version of the struct needs.
        check("hipGetDeviceProperties", unsafe { (self.properties)(properties.as_mut_ptr().cast(), device) })?;
        let bytes: &[u8] = bytemuck::cast_slice(&properties);
        let name = CStr::from_bytes_until_nul(&bytes[self.arch_offset..][..ARCH_BYTES]).ok();
        let name = name.and_then(|name| name.to_str().ok()).filter(|name| name.starts_with("gfx"));
        Ok(name.map(str::to_owned))
    }
}

fn look(hip: &Arc<Hip>, device: c_int) -> Result<(Listed, Option<String>), Failure> {
    let vendor: Arc<dyn Vendor> = hip.clone();
    let number = |which| attribute(&*vendor, device, which).unwrap_or(0);
    let arch = hip.arch(device)?;
    let shared = number(attributes::MAX_SHARED_MEMORY_PER_BLOCK);
    let wave = number(attributes::WARP_SIZE);
    let memory_bytes = device_memory(&*vendor, device)?;
    let processor = arch.as_deref().and_then(|arch| arch.split(':').next()).unwrap_or("");
    let mut features = std::collections::BTreeSet::from(["float16", "float64"]);
    if ["gfx908", "gfx90a", "gfx940", "gfx941", "gfx942", "gfx950"].contains(&processor) {
        features.insert("matrix-cores");
    }
    if processor.starts_with("gfx11") || processor.starts_with("gfx12") {
        features.insert("wave-matrix");
    }
    if vendor.graphs().is_some() {
        features.insert("graphs");
    }
    let info = DeviceInfo {
        backend: Backend::Rocm,
        // Some versions have no name for some devices.
        name: Some(device_name(&*vendor, device)?)
            .filter(|name| !name.is_empty())
            .unwrap_or(format!("AMD {processor}")),
        kind: if number(attributes::INTEGRATED) == 0 { DeviceKind::Discrete } else { DeviceKind::Integrated },
        driver: format!("AMD HIP runtime {}", version_text(hip.version)),
        api: format!("HIP {}.{}", major_minor(hip.version).0, major_minor(hip.version).1),
        target: arch.clone().unwrap_or_else(|| "unknown".to_owned()),
        limits: Limits {
            threads_per_group: number(attributes::MAX_THREADS_PER_BLOCK),
            groups: number(attributes::MAX_GRID_DIM_X),
            shared_bytes_per_group: shared,
            subgroup: wave,
            // Where waves of 32 are the usual ones, code can also be compiled for 64.
            subgroup_range: (wave, if wave == 32 { 64 } else { wave }),
            units: Some(number(attributes::MULTIPROCESSOR_COUNT)).filter(|units| *units > 0),
            memory_bytes,
            allocation_bytes: memory_bytes,
        },
        features,
    };
    let problem = if arch.is_none() {
        Some(unknown_answers("its processor (gcnArchName)", hip.version))
    } else if !matches!(wave, 32 | 64)
        || !(64..=4096).contains(&info.limits.threads_per_group)
        || info.limits.groups == 0
        || shared == 0
    {
        Some(unknown_answers("its limits", hip.version))
    } else {
        None
    };
    Ok((Listed { vendor, device, info, default_shared: shared }, problem))
}

fn unknown_answers(what: &str, version: c_int) -> String {
    format!("HIP {} does not tell {what} in a way that this version of Sutura knows", version_text(version))
}

impl Vendor for Hip {
    fn functions(&self) -> &Functions {
        &self.functions
    }

    fn graphs(&self) -> Option<&GraphFunctions> {
        self.graphs.as_ref()
    }

    fn words(&self, status: Status) -> (String, String) {
        // SAFETY: any status may be asked for; the strings are constants.
        unsafe { owned_words((self.error_name)(status), (self.error_text)(status)) }
    }

    fn advice(&self) -> &'static str {
        "AMD_SERIALIZE_KERNEL=3 with AMD_LOG_LEVEL=3 shows the kernel's launch"
    }

    fn inspect(&self, binary: &[u8], info: &DeviceInfo) -> Result<Code, String> {
        if !elf::is_elf(binary) {
            return Err(if binary.starts_with(b"__CLANG_OFFLOAD_BUNDLE__") || binary.starts_with(b"CCOB") {
                "it is a bundle; give the code object that is in it (`clang-offload-bundler --unbundle`)".to_owned()
            } else {
                "it is no ELF file, and so no code object of AMD (HSACO)".to_owned()
            });
        }
        let object = hsaco::read(binary)?;
        if let Some(problem) = object.target.and_then(|target| hsaco::mismatch(&target, &info.target)) {
            return Err(problem);
        }
        Ok(Code { kernels: object.kernels, image: binary.to_vec(), is_source: false })
    }

    fn load(&self, code: &Code) -> Result<Handle, (Failure, String)> {
        let mut module = 0;
        // SAFETY: a device is current. The image is whole: all that its headers speak of is there.
        let status = unsafe { (self.load)(&raw mut module, code.image.as_ptr().cast()) };
        check("hipModuleLoadData", status).map_err(|failure| (failure, String::new()))?;
        Ok(module)
    }

    fn retain(&self, device: c_int) -> Result<Handle, Failure> {
        // A device is opened by its first use; that it can be current shows that it is there.
        let context = Handle::from(device.unsigned_abs());
        self.enter(context).map(|before| self.leave(before))?;
        Ok(context)
    }

    fn release(&self, _: c_int) {}

    fn enter(&self, context: Handle) -> Result<Handle, Failure> {
        let mut before = 0;
        // SAFETY: the pointer is valid.
        check("hipGetDevice", unsafe { (self.get_device)(&raw mut before) })?;
        let device = c_int::try_from(context).unwrap_or(c_int::MAX);
        if before != device {
            // SAFETY: any number may be given.
            check("hipSetDevice", unsafe { (self.set_device)(device) })?;
        }
        Ok(Handle::from(before.unsigned_abs()))
    }

    fn leave(&self, before: Handle) {
        let before = c_int::try_from(before).unwrap_or(0);
        // SAFETY: the device was current before.
        let _ = unsafe { (self.set_device)(before) };
    }

    fn allow_shared(&self, _: Handle, _: u32) -> Result<(), Failure> {
        // By default a kernel may have all that a group can have.
        Ok(())
    }

    fn launch_threads(&self) -> u64 {
        // hipModuleLaunchKernel counts the threads of an axis in 32 bits.
        u64::from(u32::MAX)
    }
}

//! The driver that stands in, and what tests ask of it.

use std::ffi::{CString, c_char};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use libloading::Library;
use sutura_runtime::device::{Buffer, Device, Devices, Kernel, Libraries, Stream};

pub(crate) const PTX: &[u8] = include_bytes!("../data/gpu_kernels.ptx");
pub(crate) const CUBIN: &[u8] = include_bytes!("../data/gpu_kernels.cubin");
pub(crate) const HSACO: &[u8] = include_bytes!("../data/gpu_kernels.hsaco");

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Family {
    Cuda,
    Hip,
}
pub(crate) use Family::{Cuda, Hip};

impl Family {
    pub(crate) const BOTH: [Self; 2] = [Cuda, Hip];

    /// The name of its devices.
    pub(crate) fn name(self) -> &'static str {
        if self == Cuda { "cuda" } else { "rocm" }
    }

    /// Code of `affine` and `reverse`.
    pub(crate) fn kernels(self) -> &'static [u8] {
        if self == Cuda { PTX } else { HSACO }
    }

    /// Whichever name the family has for something.
    pub(crate) fn either(self, cuda: &'static str, hip: &'static str) -> &'static str {
        if self == Cuda { cuda } else { hip }
    }
}

const NAME: &str = "libfake_gpu.";

/// Removes what earlier runs compiled.
fn remove_old(folder: &Path) {
    let hour = std::time::Duration::from_secs(3600);
    for file in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let age = file.metadata().and_then(|data| data.modified()).ok().and_then(|time| time.elapsed().ok());
        if file.file_name().to_string_lossy().starts_with(NAME) && age.is_some_and(|age| age > hour) {
            // Another run may have done it.
            let _ = std::fs::remove_file(file.path());
        }
    }
}

/// Where the library is; it is compiled first.
pub(crate) fn path() -> &'static Path {
    static PATH: OnceLock<PathBuf> = OnceLock::new();
    PATH.get_or_init(|| {
        let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fake_gpu/lib.rs");
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
        remove_old(folder);
        // Each run has its own, as another may go on at the same time.
        let path = folder.join(format!("{NAME}{}.so", std::process::id()));
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let mut compile = Command::new(rustc);
        compile.args(["--edition", "2024", "--crate-type", "cdylib", "--crate-name", "fake_gpu", "-C", "opt-level=1"]);
        let output =
            compile.arg("-o").arg(&path).arg(source).output().expect("rustc compiles the driver that stands in");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        path
    })
}

fn library() -> &'static Library {
    static LIBRARY: OnceLock<Library> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        // SAFETY: it runs nothing when it is loaded.
        unsafe { Library::new(path()) }.unwrap()
    })
}

/// The function of a name.
///
/// # Safety
/// `F` is its type.
unsafe fn control<F: Copy>(name: &str) -> F {
    // SAFETY: the caller's promise.
    *unsafe { library().get::<F>(name.as_bytes()) }.unwrap()
}

/// The next call of a function on this thread, after `after` that succeed, fails with a status.
pub(crate) fn fail_after(call: &str, after: u32, status: i32) {
    // SAFETY: this is its type.
    let fail: extern "C" fn(*const c_char, u32, i32) = unsafe { control("fake_fail") };
    fail(CString::new(call).unwrap().as_ptr(), after, status);
}

pub(crate) fn fail(call: &str, status: i32) {
    fail_after(call, 0, status);
}

/// The version that the driver has for this thread.
pub(crate) fn set_version(family: Family, version: i32) {
    // SAFETY: this is its type.
    let set: extern "C" fn(u32, i32) = unsafe { control("fake_version") };
    set(u32::from(family == Hip), version);
}

/// How often this thread called a function.
pub(crate) fn calls(name: &str) -> u64 {
    // SAFETY: this is its type.
    let calls: extern "C" fn(*const c_char) -> u64 = unsafe { control("fake_calls") };
    calls(CString::new(name).unwrap().as_ptr())
}

/// What this thread made and did not destroy.
pub(crate) fn live() -> i64 {
    // SAFETY: this is its type.
    let live: extern "C" fn() -> i64 = unsafe { control("fake_live") };
    live()
}

/// What this thread did that no correct program does.
pub(crate) fn violations() -> String {
    // SAFETY: this is its type.
    let take: extern "C" fn(*mut u8, usize) -> usize = unsafe { control("fake_violations") };
    let mut text = vec![0; 4096];
    let length = take(text.as_mut_ptr(), text.len());
    String::from_utf8_lossy(&text[..length]).into_owned()
}

/// Contexts that are current for this thread.
pub(crate) fn contexts() -> u64 {
    // SAFETY: this is its type.
    let contexts: extern "C" fn() -> u64 = unsafe { control("fake_contexts") };
    contexts()
}

/// The device of HIP that is current for this thread.
pub(crate) fn current_device() -> i32 {
    // SAFETY: this is its type.
    let get: unsafe extern "C" fn(*mut i32) -> i32 = unsafe { control("hipGetDevice") };
    let mut device = -1;
    // SAFETY: the pointer is valid.
    assert_eq!(unsafe { get(&raw mut device) }, 0);
    device
}

/// The devices of the driver that stands in, and those of Vulkan.
pub(crate) fn devices() -> Devices {
    let mut libraries = Libraries::default();
    libraries.cuda = Some(path().to_owned());
    libraries.hip = Some(path().to_owned());
    Devices::find_with(&libraries)
}

/// Checks, when it is dropped, that the thread did everything right and left nothing.
pub(crate) struct Clean;

impl Drop for Clean {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            assert_eq!(violations(), "");
            assert_eq!(live(), 0, "objects of the driver are left");
            assert_eq!((contexts(), current_device()), (0, 0), "devices are left current");
        }
    }
}

/// The first device of a family.
pub(crate) fn open(family: Family) -> Device {
    devices().open(family.name()).unwrap()
}

/// A device by its name.
pub(crate) fn open_named(name: &str) -> Device {
    devices().open(name).unwrap()
}

pub(crate) fn kernel(device: &Device, family: Family, name: &str) -> Kernel {
    device.load(family.kernels()).unwrap().kernel(name).unwrap()
}

pub(crate) fn ramp(n: usize) -> Vec<f32> {
    (0..n).map(|i| i as f32 * 0.5 - 7.0).collect()
}

/// What `affine` makes of it.
pub(crate) fn affine(values: &[f32]) -> Vec<f32> {
    values.iter().map(|x| 2.0 * x + 1.0).collect()
}

pub(crate) fn floats(stream: &mut Stream, device: &Device, values: &[f32]) -> Buffer {
    let buffer = device.allocate(size_of_val(values) as u64).unwrap();
    stream.upload(&buffer, 0, bytemuck::cast_slice(values)).unwrap();
    buffer
}

pub(crate) fn read(stream: &mut Stream, buffer: &Buffer) -> Vec<f32> {
    let mut values = vec![f32::NAN; (buffer.bytes() / 4) as usize];
    stream.download(buffer, 0, bytemuck::cast_slice_mut(&mut values)).unwrap();
    values
}

/// Different everywhere, and not repeating soon.
pub(crate) fn noise(n: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    (0..n).map(|_| next()).collect()
}

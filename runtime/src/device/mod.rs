//! Devices that kernels run on: GPUs, and what stands for one.
//!
//! [`Devices::find`] looks for what this machine has, [`Devices::open`] opens one by name. Then:
//!
//! * [`Device::allocate`] gives memory with a 64-bit address, [`Pool`] memory that is kept for reuse;
//! * [`Device::load`] loads code, [`Module::kernel`] takes a kernel from it;
//! * [`Device::stream`] makes a queue of work in order: copies, launches, events that take the time.
//!
//! A device is shared between threads; a [`Stream`] is used by one thread at a time, and its `&mut self` says so.
//! What a backend has to offer is in `driver.rs`; everything that is the same for all is checked before it.
//!
//! ```no_run
//! use sutura_runtime::device::Devices;
//!
//! let device = Devices::find().open("vulkan")?;
//! let x = device.allocate(4096)?;
//! let kernel = device.load(&std::fs::read("kernels.spv").unwrap())?.kernel("relu")?;
//! let mut stream = device.stream()?;
//! stream.upload(&x, 0, &[0; 4096])?;
//! // SAFETY: `relu` uses the 1024 elements at its first argument, and `x` lives until its work is done.
//! unsafe { stream.launch(&kernel, 4, 0, &[x.address(), 1024])? };
//! stream.synchronize()?;
//! # Ok::<(), sutura_runtime::device::DeviceError>(())
//! ```

mod buffer;
pub(crate) mod cuda;
mod driver;
mod error;
mod fibers;
mod graph;
mod hip;
mod module;
mod pool;
mod select;
mod simt;
mod stream;
mod vulkan;

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub use buffer::Buffer;
pub use error::DeviceError;
pub use fibers::FaultKind;
pub use graph::Graph;
pub use module::{Kernel, KernelInfo, KernelOptions, Module};
pub use pool::{Pool, PoolStats};
pub use select::{Devices, Found, Libraries};
pub use stream::{Event, Stream};

use driver::Driver;

/// Result of functions on devices.
pub type Result<T, E = DeviceError> = std::result::Result<T, E>;

/// Alignment in bytes of every buffer's address.
pub const ALIGNMENT: u64 = 256;

/// The most arguments that a launch may have: what a kernel of any backend can be given, in 4096 bytes.
pub const MAX_ARGUMENTS: usize = 512;

/// Through what a device is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Backend {
    /// NVIDIA's GPUs, through CUDA's driver interface.
    Cuda,
    /// AMD's GPUs, through HIP.
    Rocm,
    Vulkan,
    /// The processor, with every access checked.
    Fibers,
}

impl Backend {
    /// As in the names of devices: `cuda`, `rocm`, `vulkan`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cuda => "cuda",
            Self::Rocm => "rocm",
            Self::Vulkan => "vulkan",
            Self::Fibers => fibers::NAME,
        }
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What kind of hardware a device is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DeviceKind {
    /// A GPU with memory of its own.
    Discrete,
    /// A GPU that shares the processor's memory.
    Integrated,
    /// A GPU of the host, seen from a virtual machine.
    Virtual,
    /// Any other kind.
    Other,
    /// The processor, made to look like a GPU.
    Cpu,
}

impl DeviceKind {
    /// In words: `discrete GPU`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Discrete => "discrete GPU",
            Self::Integrated => "integrated GPU",
            Self::Virtual => "virtual GPU",
            Self::Other => "other",
            Self::Cpu => "CPU",
        }
    }
}

/// What a device is.
#[derive(Clone, Debug)]
pub struct DeviceInfo {
    pub backend: Backend,
    /// The driver's name of the hardware.
    pub name: String,
    pub kind: DeviceKind,
    /// Name and version of the driver.
    pub driver: String,
    /// Name and version of the interface: `Vulkan 1.3.230`.
    pub api: String,
    /// What code has to be compiled for: `sm_90`, `gfx942:sramecc+:xnack-`, `vulkan`.
    pub target: String,
    pub limits: Limits,
    /// What the device can do beyond what every one can, by names such as `float64`; see `docs/devices.md`.
    pub features: BTreeSet<&'static str>,
}

/// Sizes that bound kernels, launches and memory.
#[derive(Clone, Debug)]
pub struct Limits {
    /// Threads of a group.
    pub threads_per_group: u32,
    /// Groups of a launch.
    pub groups: u32,
    /// Bytes of memory that the threads of a group share; what kernels of CUDA have to ask for is asked for.
    pub shared_bytes_per_group: u32,
    /// Threads that run in step, unless a kernel asks otherwise.
    pub subgroup: u32,
    /// The least and the most threads in step that a kernel can ask for.
    pub subgroup_range: (u32, u32),
    /// Multiprocessors, where the driver says how many there are; processors, if the device is the CPU.
    pub units: Option<u32>,
    /// Bytes of the device's memory.
    pub memory_bytes: u64,
    /// Bytes of one allocation.
    pub allocation_bytes: u64,
}

/// An opened device. Clones are the same device; it is closed when the last clone, and everything made from them, is
/// dropped.
#[derive(Clone)]
pub struct Device {
    shared: Arc<Shared>,
}

/// What everything that belongs to a device refers to.
struct Shared {
    /// Bytes that are allocated now.
    allocated: AtomicU64,
    driver: Box<dyn Driver>,
}

impl Device {
    fn new(driver: Box<dyn Driver>) -> Self {
        Self { shared: Arc::new(Shared { allocated: AtomicU64::new(0), driver }) }
    }

    /// What the device is.
    pub fn info(&self) -> &DeviceInfo {
        self.shared.driver.info()
    }

    /// Whether the other is a clone of this one. A device that is opened twice is two devices.
    pub fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.shared, &other.shared)
    }

    /// Bytes of the device's memory that are allocated from this object and its clones, pools included.
    pub fn allocated_bytes(&self) -> u64 {
        self.shared.allocated.load(Ordering::Relaxed)
    }

    /// Memory of the device, with any content. Dropping the buffer frees it. No bytes are no allocation.
    pub fn allocate(&self, bytes: u64) -> Result<Buffer> {
        Buffer::allocate(&self.shared, bytes)
    }

    /// Loads code: PTX text or a cubin for a device of CUDA, a code object (HSACO) for one of ROCm, the bytes of a SPIR-V
    /// module for one of Vulkan, of a library for fibers.
    pub fn load(&self, binary: &[u8]) -> Result<Module> {
        Module::load(&self.shared, binary)
    }

    /// A new queue of work.
    pub fn stream(&self) -> Result<Stream> {
        Stream::new(&self.shared)
    }

    /// A new pool of memory.
    pub fn pool(&self) -> Pool {
        Pool::new(&self.shared)
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Device").field(&self.info().name).finish()
    }
}

impl Shared {
    fn name(&self) -> String {
        self.driver.info().name.clone()
    }

    /// Whether `what` of another device was given to this one.
    fn check_owner(self: &Arc<Self>, owner: &Arc<Self>, what: impl FnOnce() -> String) -> Result<()> {
        if Arc::ptr_eq(self, owner) {
            return Ok(());
        }
        Err(DeviceError::OtherDevice { device: self.name(), what: what(), owner: owner.name() })
    }
}

#[cfg(test)]
pub(crate) use select::tests::info as info_for_tests;

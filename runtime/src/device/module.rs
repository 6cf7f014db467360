//! Code on a device.

use std::fmt;
use std::sync::Arc;

use super::driver::{DriverModule, RawKernel};
use super::error::DeviceError;
use super::{Result, Shared};

/// Code that a device has loaded.
#[derive(Clone)]
pub struct Module {
    device: Arc<Shared>,
    module: Arc<dyn DriverModule>,
}

/// What a kernel is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KernelInfo {
    /// Its entry point.
    pub name: String,
    /// Threads of a group, fixed when it was compiled. Of a module's kernel 0, where they were not: then
    /// [`KernelOptions::threads`] says how many.
    pub threads_per_group: u32,
    /// Bytes of shared memory that a group has, fixed when it was compiled.
    pub shared_bytes: u32,
}

/// What a kernel asks for. The default asks for nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct KernelOptions {
    /// Threads that run in step, where the kernel was compiled for a number of them; subgroups are full then.
    pub subgroup: Option<u32>,
    /// Threads of a group, where the kernel was compiled for any number of them.
    pub threads: Option<u32>,
}

impl KernelOptions {
    /// Asks for subgroups of so many threads.
    #[must_use]
    pub fn subgroup(mut self, threads: u32) -> Self {
        self.subgroup = Some(threads);
        self
    }

    /// Asks for groups of so many threads, in x.
    #[must_use]
    pub fn threads(mut self, threads: u32) -> Self {
        self.threads = Some(threads);
        self
    }
}

/// A kernel that is ready to be launched. Clones are the same kernel.
#[derive(Clone)]
pub struct Kernel {
    state: Arc<KernelState>,
}

/// What a kernel and the streams that launch it share.
pub(crate) struct KernelState {
    pub(crate) info: KernelInfo,
    pub(crate) raw: RawKernel,
    pub(super) device: Arc<Shared>,
}

impl Module {
    pub(super) fn load(device: &Arc<Shared>, binary: &[u8]) -> Result<Self> {
        let module = device.driver.load(binary)?.into();
        Ok(Self { device: device.clone(), module })
    }

    /// Its kernels, as the binary has them.
    pub fn kernels(&self) -> &[KernelInfo] {
        self.module.kernels()
    }

    /// A kernel by its name. The driver compiles it here, which takes a while.
    pub fn kernel(&self, name: &str) -> Result<Kernel> {
        self.kernel_with(name, &KernelOptions::default())
    }

    /// A kernel by its name, with what it asks for.
    pub fn kernel_with(&self, name: &str, options: &KernelOptions) -> Result<Kernel> {
        let all = self.kernels();
        let index = all.iter().position(|kernel| kernel.name == name).ok_or_else(|| self.unknown(name))?;
        let mut info = all[index].clone();
        info.threads_per_group = self.threads(&info, options)?;
        self.check(&info, options)?;
        let raw = self.module.kernel(index, options)?;
        Ok(Kernel { state: Arc::new(KernelState { info, raw, device: self.device.clone() }) })
    }

    /// The threads of a group, which either the binary or the options fix.
    fn threads(&self, kernel: &KernelInfo, options: &KernelOptions) -> Result<u32> {
        let reason = match (kernel.threads_per_group, options.threads) {
            (0, Some(threads)) if threads > 0 => return Ok(threads),
            (0, Some(_)) => "a group has a thread at least".to_owned(),
            (0, None) => {
                "its binary leaves it open; say it by KernelOptions::threads, or compile it for a fixed size".to_owned()
            }
            (fixed, wanted) if wanted.is_none_or(|wanted| wanted == fixed) => return Ok(fixed),
            (fixed, _) => format!("it was compiled for groups of {fixed}"),
        };
        let (device, name) = (self.device.name(), kernel.name.clone());
        Err(DeviceError::GroupThreads { device, kernel: name, threads: options.threads, reason })
    }

    fn check(&self, kernel: &KernelInfo, options: &KernelOptions) -> Result<()> {
        let limits = &self.device.driver.info().limits;
        let (device, name) = (|| self.device.name(), || kernel.name.clone());
        if kernel.threads_per_group > limits.threads_per_group {
            let (threads, limit) = (u64::from(kernel.threads_per_group), limits.threads_per_group);
            return Err(DeviceError::GroupSize { device: device(), kernel: name(), threads, limit });
        }
        if kernel.shared_bytes > limits.shared_bytes_per_group {
            let (bytes, limit) = (u64::from(kernel.shared_bytes), limits.shared_bytes_per_group);
            return Err(DeviceError::SharedMemory { device: device(), kernel: name(), bytes, limit });
        }
        let Some(wanted) = options.subgroup else { return Ok(()) };
        let (least, most) = limits.subgroup_range;
        let reason = if !wanted.is_power_of_two() {
            "that is no power of two".to_owned()
        } else if wanted < least || wanted > most {
            format!("it has {least} to {most}; compile the kernel for one of these")
        } else if !kernel.threads_per_group.is_multiple_of(wanted) {
            format!("its groups have {} threads, which is no multiple", kernel.threads_per_group)
        } else {
            return Ok(());
        };
        Err(DeviceError::SubgroupSize { device: device(), kernel: name(), wanted, reason })
    }

    fn unknown(&self, name: &str) -> DeviceError {
        let known: Vec<String> = self.kernels().iter().map(|kernel| kernel.name.clone()).collect();
        let score = |known: &String| strsim::jaro_winkler(name, known);
        let best = known.iter().max_by(|a, b| score(a).total_cmp(&score(b)));
        let suggestion = best.filter(|best| score(best) > 0.8).cloned();
        DeviceError::UnknownKernel { device: self.device.name(), name: name.to_owned(), suggestion, known }
    }
}

impl fmt::Debug for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Module").field(&self.kernels()).finish()
    }
}

impl Kernel {
    /// What the kernel is.
    pub fn info(&self) -> &KernelInfo {
        &self.state.info
    }

    /// How many groups a multiprocessor has at once, where each gets so many bytes of shared memory beyond what is fixed.
    /// None where the driver cannot tell.
    pub fn resident_groups(&self, dynamic_shared: u32) -> Result<Option<u32>> {
        self.state.device.driver.resident_groups(&self.state, dynamic_shared)
    }

    pub(super) fn state(&self) -> &Arc<KernelState> {
        &self.state
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Kernel").field(self.info()).finish()
    }
}

//! Libraries of kernels for fibers.

#![allow(unsafe_code)]

use std::collections::BTreeMap;
use std::ffi::CStr;
use std::fs::File;
use std::sync::Arc;

use libloading::os::unix::Library;
use serde::Deserialize;

use super::abi::{self, KernelFn};
use super::shadow::{MOST_SITES, MOST_THREADS};
use crate::device::driver::{DriverModule, RawKernel};
use crate::device::{DeviceError, DeviceInfo, KernelInfo, KernelOptions, Result};
use crate::host::{Unloaded, open_library};

/// What the library says of itself.
#[derive(Deserialize)]
struct Description {
    subgroup: u32,
    kernels: Vec<KernelDescription>,
    sites: Vec<Place>,
}

#[derive(Deserialize)]
struct KernelDescription {
    name: String,
    block: [u32; 3],
    arguments: usize,
    shared_bytes: u32,
    shared: Vec<Array>,
}

/// An operation of the source.
#[derive(Deserialize)]
pub(super) struct Place {
    pub(super) op: String,
    /// Which one of its name in its kernel, from 1 on.
    pub(super) ordinal: u32,
    /// Empty where the source has no places.
    pub(super) file: String,
    pub(super) line: u32,
    pub(super) column: u32,
}

/// An array of the block's memory.
#[derive(Clone, Deserialize)]
pub(super) struct Array {
    pub(super) name: String,
    pub(super) offset: u64,
    pub(super) bytes: u64,
}

/// A kernel that can be launched.
pub(super) struct FiberKernel {
    pub(super) function: KernelFn,
    pub(super) block: [u32; 3],
    pub(super) subgroup: u32,
    pub(super) arguments: usize,
    /// In the order of their offsets.
    pub(super) shared: Vec<Array>,
    pub(super) sites: Arc<[Place]>,
    _library: Arc<Loaded>,
}

impl FiberKernel {
    pub(super) fn threads(&self) -> u32 {
        self.block.iter().product()
    }

    /// Bytes that a block's memory takes, gaps between arrays included.
    pub(super) fn shared_span(&self) -> u64 {
        self.shared.iter().map(|array| array.offset + array.bytes).max().unwrap_or(0)
    }
}

/// A library, dropped before the files that it is mapped from.
struct Loaded {
    library: Library,
    _files: Vec<File>,
}

pub(super) struct Module {
    device: String,
    subgroup: u32,
    infos: Vec<KernelInfo>,
    kernels: Vec<Arc<FiberKernel>>,
}

pub(super) fn load(info: &DeviceInfo, binary: &[u8]) -> Result<Module> {
    parse(info, binary).map_err(|reason| DeviceError::Binary { device: info.name.clone(), reason })
}

fn parse(info: &DeviceInfo, binary: &[u8]) -> Result<Module, String> {
    const NAME: &str = "kernels.so";
    if binary.is_empty() {
        return Err("it is empty".to_owned());
    }
    let (files, library) = open_library(binary, NAME).map_err(|unloaded| match unloaded {
        Unloaded::NoProc => crate::Error::NoProc.to_string(),
        Unloaded::Other(reason) => reason,
    })?;
    let loaded = Arc::new(Loaded { library, _files: files });
    // SAFETY: a library that has this name has it as an i32, in every version of the interface.
    let version = unsafe { *symbol::<*const i32>(&loaded.library, abi::VERSION_SYMBOL)? };
    if version != abi::VERSION {
        let supported = abi::VERSION;
        return Err(format!("it keeps version {version} of the interface for fibers, and this is version {supported}"));
    }
    // SAFETY: version 1 of the interface says that it is a text with a zero at its end.
    let text = unsafe { CStr::from_ptr(symbol(&loaded.library, abi::KERNELS_SYMBOL)?) };
    let description: Description =
        serde_json::from_slice(text.to_bytes()).map_err(|error| format!("its description is wrong: {error}"))?;
    let subgroup = description.subgroup;
    let (least, most) = info.limits.subgroup_range;
    if !subgroup.is_power_of_two() || subgroup < least || subgroup > most {
        return Err(format!("it is for subgroups of {subgroup} threads, and the device has {least} to {most}"));
    }
    if description.sites.len() > MOST_SITES {
        return Err(format!("it has {} places, and the device knows {MOST_SITES}", description.sites.len()));
    }
    let sites: Arc<[Place]> = description.sites.into();
    let (mut infos, mut kernels) = (Vec::new(), Vec::new());
    let mut names = BTreeMap::new();
    for kernel in description.kernels {
        let name = kernel.name;
        if names.insert(name.clone(), ()).is_some() {
            return Err(format!("its description has two kernels `{name}`"));
        }
        let threads = kernel.block.iter().try_fold(1_u32, |all, size| all.checked_mul(*size));
        let threads = threads.filter(|threads| (1..MOST_THREADS).contains(threads));
        let threads = threads.ok_or_else(|| format!("kernel `{name}` has blocks of {:?} threads", kernel.block))?;
        let mut end = 0;
        for array in &kernel.shared {
            if array.offset < end || array.bytes > 1 << 30 || array.offset > 1 << 32 {
                return Err(format!("array `{}` of kernel `{name}` lies where it cannot", array.name));
            }
            end = array.offset + array.bytes;
        }
        // SAFETY: the description names functions of this type.
        let function = unsafe { symbol(&loaded.library, &name)? };
        infos.push(KernelInfo { name, threads_per_group: threads, shared_bytes: kernel.shared_bytes });
        kernels.push(Arc::new(FiberKernel {
            function,
            block: kernel.block,
            subgroup,
            arguments: kernel.arguments,
            shared: kernel.shared,
            sites: sites.clone(),
            _library: loaded.clone(),
        }));
    }
    if kernels.is_empty() {
        return Err("it has no kernel".to_owned());
    }
    Ok(Module { device: info.name.clone(), subgroup, infos, kernels })
}

/// # Safety
/// The symbol, if there is one, must be a function or the address of a variable, of type `T`.
unsafe fn symbol<T: Copy>(library: &Library, name: &str) -> Result<T, String> {
    // SAFETY: the caller names the type.
    let found = unsafe { library.get::<T>(name.as_bytes()) };
    found.map(|symbol| *symbol).map_err(|_| {
        format!("it has no `{name}`, so it is no library of `convert-gpu-to-fibers`; compile the kernels with that")
    })
}

impl DriverModule for Module {
    fn kernels(&self) -> &[KernelInfo] {
        &self.infos
    }

    fn kernel(&self, index: usize, options: &KernelOptions) -> Result<RawKernel> {
        if let Some(wanted) = options.subgroup.filter(|wanted| *wanted != self.subgroup) {
            let (device, kernel) = (self.device.clone(), self.infos[index].name.clone());
            let reason = format!("it was compiled for {}; give 'convert-gpu-to-fibers' that number", self.subgroup);
            return Err(DeviceError::SubgroupSize { device, kernel, wanted, reason });
        }
        let kernel = self.kernels[index].clone();
        Ok(RawKernel { handle: Arc::as_ptr(&kernel).expose_provenance() as u64, _owner: Box::new(kernel) })
    }
}

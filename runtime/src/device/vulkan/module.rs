//! SPIR-V modules and pipelines.

#![allow(unsafe_code)]

use std::ffi::CString;
use std::sync::Arc;

use ash::vk;
use ash::vk::Handle as _;

use super::Gpu;
use super::features::missing;
use super::spirv;
use crate::device::driver::{DriverModule, RawKernel};
use crate::device::{DeviceError, KernelInfo, KernelOptions, Result};

pub(super) struct Module {
    gpu: Arc<Gpu>,
    handle: vk::ShaderModule,
    kernels: Vec<KernelInfo>,
    sizes: Vec<[u32; 3]>,
}

pub(super) fn load(gpu: &Arc<Gpu>, binary: &[u8]) -> Result<Module> {
    let refused = |reason: String| DeviceError::Binary { device: gpu.info.name.clone(), reason };
    let words = spirv::words(binary).map_err(refused)?;
    let declarations = spirv::declarations(&words).map_err(refused)?;
    let ((major, minor), (most_major, most_minor)) = (declarations.version, gpu.spirv);
    if (major, minor) > (most_major, most_minor) {
        return Err(refused(format!(
            "it is SPIR-V {major}.{minor}, but the device takes versions up to {most_major}.{most_minor}"
        )));
    }
    let features = missing(&declarations, &gpu.info.features);
    if !features.is_empty() {
        let kernels_of = declarations.kernels.into_iter().map(|kernel| kernel.name).collect();
        return Err(DeviceError::MissingFeature { device: gpu.info.name.clone(), kernels_of, features });
    }
    let info = vk::ShaderModuleCreateInfo::default().code(&words);
    // SAFETY: the words begin with SPIR-V's header; that their content is valid is the compiler's promise.
    let handle = unsafe { gpu.device.create_shader_module(&info, None) };
    let handle = handle.map_err(|result| gpu.error("vkCreateShaderModule", result))?;
    Ok(Module { gpu: gpu.clone(), handle, kernels: declarations.kernels, sizes: declarations.sizes })
}

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: it was made from this device, and pipelines do not need it any more.
        unsafe { self.gpu.device.destroy_shader_module(self.handle, None) };
    }
}

/// Owns a pipeline.
struct Pipeline {
    gpu: Arc<Gpu>,
    handle: vk::Pipeline,
}

impl Drop for Pipeline {
    fn drop(&mut self) {
        // SAFETY: it was made from this device, and streams keep it until its launches are done.
        unsafe { self.gpu.device.destroy_pipeline(self.handle, None) };
    }
}

impl DriverModule for Module {
    fn kernels(&self) -> &[KernelInfo] {
        &self.kernels
    }

    fn kernel(&self, index: usize, options: &KernelOptions) -> Result<RawKernel> {
        let gpu = &self.gpu;
        let (kernel, size) = (&self.kernels[index], self.sizes[index]);
        for (threads, limit) in size.into_iter().zip(gpu.group_size) {
            if threads > limit {
                let (device, kernel) = (gpu.info.name.clone(), kernel.name.clone());
                return Err(DeviceError::GroupSize { device, kernel, threads: u64::from(threads), limit });
            }
        }
        // A name from SPIR-V ends where its first zero is.
        let name = CString::new(kernel.name.as_str()).unwrap_or_default();
        let mut stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(self.handle)
            .name(&name);
        let mut required = vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo::default();
        if let Some(wanted) = options.subgroup {
            self.check_subgroup(kernel, size, wanted)?;
            required.required_subgroup_size = wanted;
            stage = stage.flags(vk::PipelineShaderStageCreateFlags::REQUIRE_FULL_SUBGROUPS).push_next(&mut required);
        }
        let info = vk::ComputePipelineCreateInfo::default().stage(stage).layout(gpu.layout);
        // SAFETY: the module has this entry point, and its push constants are those of the layout.
        let made = unsafe { gpu.device.create_compute_pipelines(vk::PipelineCache::null(), &[info], None) };
        let failed = |result| gpu.error(&format!("vkCreateComputePipelines for kernel `{}`", kernel.name), result);
        let made = made.map_err(|(_, result)| failed(result))?;
        let handle = made.first().copied().ok_or_else(|| failed(vk::Result::INCOMPLETE))?;
        Ok(RawKernel { handle: handle.as_raw(), _owner: Box::new(Pipeline { gpu: gpu.clone(), handle }) })
    }
}

impl Module {
    /// What Vulkan asks beyond what was checked for all backends.
    fn check_subgroup(&self, kernel: &KernelInfo, size: [u32; 3], wanted: u32) -> Result<()> {
        let reason = match self.gpu.most_subgroups {
            None => "its driver has no VK_EXT_subgroup_size_control".to_owned(),
            Some(most) if kernel.threads_per_group / wanted > most => {
                format!("a group can have {most} subgroups, and would have {}", kernel.threads_per_group / wanted)
            }
            Some(_) if !size[0].is_multiple_of(wanted) => {
                format!("its groups have {} threads in x, which is no multiple", size[0])
            }
            Some(_) => return Ok(()),
        };
        let (device, kernel) = (self.gpu.info.name.clone(), kernel.name.clone());
        Err(DeviceError::SubgroupSize { device, kernel, wanted, reason })
    }
}

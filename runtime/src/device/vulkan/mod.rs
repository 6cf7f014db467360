//! Devices of Vulkan 1.2 and newer. The library is loaded when devices are looked for, and need not be there.
//!
//! Buffers are reached by their addresses alone: kernels get the address of an argument block as their one push constant,
//! and there are no descriptors. `docs/devices.md` has the whole binary interface of kernels.

#![allow(unsafe_code)]

mod batch;
mod features;
mod memory;
mod module;
mod spirv;
mod stream;

use std::ffi::CStr;
use std::sync::{Arc, Mutex, PoisonError};

use ash::{amd, nv, vk};

use super::driver::{Driver, DriverModule, DriverStream, Opener, RawMemory};
use super::select::Found;
use super::{Backend, DeviceError, DeviceInfo, DeviceKind, Limits, Result};
use crate::files::not_regular;
use features::{Features, Properties};

/// The oldest version that has addresses of buffers.
const OLDEST: u32 = vk::API_VERSION_1_2;
/// The newest version that this code knows.
const NEWEST: u32 = vk::API_VERSION_1_3;

/// The library and its instance.
struct Instance {
    raw: ash::Instance,
    /// Unloaded after the instance is gone.
    _entry: ash::Entry,
}

impl Drop for Instance {
    fn drop(&mut self) {
        // SAFETY: everything made from the instance holds it, and is gone.
        unsafe { self.raw.destroy_instance(None) };
    }
}

/// A device that was found; everything but `instance` is plain data.
struct Physical {
    instance: Arc<Instance>,
    handle: vk::PhysicalDevice,
    info: DeviceInfo,
    features: Features,
    group_size: [u32; 3],
    most_subgroups: Option<u32>,
    nanoseconds_per_tick: f64,
    family: Option<Family>,
    spirv: (u8, u8),
}

/// The family of queues that is used.
#[derive(Clone, Copy)]
struct Family {
    index: u32,
    timestamp_bits: u32,
}

/// An opened device.
struct Gpu {
    device: ash::Device,
    queue: Mutex<vk::Queue>,
    family: u32,
    /// One push constant, the address of the argument block.
    layout: vk::PipelineLayout,
    memory: vk::PhysicalDeviceMemoryProperties,
    info: DeviceInfo,
    group_size: [u32; 3],
    /// The most subgroups of a group, where kernels can demand their size.
    most_subgroups: Option<u32>,
    /// The bits of timestamps that count, and the nanoseconds of a tick; none without timestamps.
    clock: Option<(u64, f64)>,
    /// The newest version of SPIR-V that the device takes.
    spirv: (u8, u8),
    _instance: Arc<Instance>,
}

impl Drop for Gpu {
    fn drop(&mut self) {
        // SAFETY: everything made from the device holds it, and is gone.
        unsafe {
            self.device.destroy_pipeline_layout(self.layout, None);
            self.device.destroy_device(None);
        }
    }
}

/// The devices, GPUs first; or why there are none.
pub(super) fn find() -> Result<Vec<Found>, String> {
    let instance = instance()?;
    // SAFETY: the instance is alive; so below.
    let handles = unsafe { instance.raw.enumerate_physical_devices() };
    let handles = handles.map_err(|result| format!("Vulkan has no device: vkEnumeratePhysicalDevices: {result}"))?;
    let mut all: Vec<(Physical, Option<String>)> = handles.into_iter().map(|handle| look(&instance, handle)).collect();
    if all.is_empty() {
        return Err(format!("Vulkan has no device: its drivers find no hardware{}", chosen_drivers()));
    }
    // Stable: devices of a kind stay in the driver's order.
    all.sort_by_key(|(physical, _)| physical.info.kind);
    let found = |(index, (physical, problem)): (usize, (Physical, _))| Found {
        info: physical.info.clone(),
        index,
        problem,
        opener: Box::new(physical),
    };
    Ok(all.into_iter().enumerate().map(found).collect())
}

fn instance() -> Result<Arc<Instance>, String> {
    check_chosen_drivers()?;
    // SAFETY: the system's library of this name is Vulkan's loader.
    let entry = unsafe { ash::Entry::load() }
        .map_err(|error| format!("no Vulkan: {error}; install Vulkan's loader (Debian's libvulkan1)"))?;
    // SAFETY: the library is loaded; so below.
    let version = unsafe { entry.try_enumerate_instance_version() };
    let version = version.map_err(|result| format!("no Vulkan: vkEnumerateInstanceVersion: {result}"))?;
    let version = version.unwrap_or(vk::API_VERSION_1_0);
    if version < OLDEST {
        return Err(format!("no Vulkan 1.2: the loader has version {}", version_text(version)));
    }
    let application = vk::ApplicationInfo::default().application_name(c"sutura").api_version(NEWEST);
    let info = vk::InstanceCreateInfo::default().application_info(&application);
    // SAFETY: the structs live during the call.
    let raw = unsafe { entry.create_instance(&info, None) }.map_err(|result| match result {
        vk::Result::ERROR_INCOMPATIBLE_DRIVER => format!(
            "no Vulkan: no driver is installed (Debian's mesa-vulkan-drivers has those of AMD, Intel and the CPU){}",
            chosen_drivers()
        ),
        result => format!("no Vulkan: vkCreateInstance: {result}{}", chosen_drivers()),
    })?;
    Ok(Arc::new(Instance { raw, _entry: entry }))
}

/// The loader would wait for ever for a description of a driver from a pipe.
fn check_chosen_drivers() -> Result<(), String> {
    for name in ["VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_ADD_DRIVER_FILES"] {
        let value = std::env::var_os(name).unwrap_or_default();
        // Of a folder the loader takes what is in it.
        let files = std::env::split_paths(&value).filter(|path| !path.is_dir());
        if let Some(reason) = files.filter_map(|path| not_regular(&path)).next() {
            return Err(format!("no Vulkan: {reason}; {name} names it"));
        }
    }
    Ok(())
}

/// The drivers that the environment allows, where it says something about them.
fn chosen_drivers() -> String {
    let variables = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES"];
    let set = variables.iter().find_map(|name| std::env::var_os(name).map(|value| (name, value)));
    set.map_or_else(String::new, |(name, value)| format!("; {name} is `{}`", value.to_string_lossy()))
}

/// What a device is, and why it cannot be used, if so.
fn look(instance: &Arc<Instance>, handle: vk::PhysicalDevice) -> (Physical, Option<String>) {
    let raw = &instance.raw;
    // SAFETY: the handle is the instance's; so below.
    let core = unsafe { raw.get_physical_device_properties(handle) };
    let version = core.api_version.min(NEWEST | 0xfff);
    let new_enough = version >= OLDEST;
    // A device whose extensions cannot be listed is used without any.
    // SAFETY: as above.
    let extensions = unsafe { raw.enumerate_device_extension_properties(handle) }.unwrap_or_default();
    let known: Vec<&CStr> = extensions.iter().filter_map(|e| e.extension_name_as_c_str().ok()).collect();
    let mut properties = Properties { core, ..Properties::default() };
    let mut features = Features::default();
    let (mut subgroups, mut units) = (vk::PhysicalDeviceSubgroupSizeControlProperties::default(), None);
    if new_enough {
        features = Features::of(raw, handle, version, &known);
        let mut query = vk::PhysicalDeviceProperties2::default();
        query = query.push_next(&mut properties.v11).push_next(&mut properties.v12);
        if features.controls_subgroups() {
            query = query.push_next(&mut subgroups);
        }
        // SAFETY: the chain holds live structs, of versions and extensions that the device has.
        unsafe { raw.get_physical_device_properties2(handle, &mut query) };
        units = multiprocessors(raw, handle, &known);
    }
    let kind = match core.device_type {
        vk::PhysicalDeviceType::DISCRETE_GPU => DeviceKind::Discrete,
        vk::PhysicalDeviceType::INTEGRATED_GPU => DeviceKind::Integrated,
        vk::PhysicalDeviceType::VIRTUAL_GPU => DeviceKind::Virtual,
        vk::PhysicalDeviceType::CPU => DeviceKind::Cpu,
        _ => DeviceKind::Other,
    };
    if kind == DeviceKind::Cpu {
        units = std::thread::available_parallelism().ok().and_then(|n| u32::try_from(n.get()).ok());
    }
    // SAFETY: as above.
    let memory = unsafe { raw.get_physical_device_memory_properties(handle) };
    let heaps = memory.memory_heaps_as_slice().iter();
    let local = heaps.filter(|heap| heap.flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL));
    let memory_bytes = local.map(|heap| heap.size).max().unwrap_or(0);
    // SAFETY: as above.
    let families = unsafe { raw.get_physical_device_queue_family_properties(handle) };
    let family = best_family(&families);
    let limits = &core.limits;
    let controls = subgroups.required_subgroup_size_stages.contains(vk::ShaderStageFlags::COMPUTE);
    let subgroup = properties.v11.subgroup_size;
    let info = DeviceInfo {
        backend: Backend::Vulkan,
        name: text(core.device_name_as_c_str().ok()),
        kind,
        driver: driver_text(&properties),
        api: format!("Vulkan {}", version_text(core.api_version)),
        target: "vulkan".to_owned(),
        limits: Limits {
            threads_per_group: limits.max_compute_work_group_invocations,
            groups: limits.max_compute_work_group_count[0],
            shared_bytes_per_group: limits.max_compute_shared_memory_size,
            subgroup,
            subgroup_range: if controls {
                (subgroups.min_subgroup_size, subgroups.max_subgroup_size)
            } else {
                (subgroup, subgroup)
            },
            units,
            memory_bytes,
            allocation_bytes: properties.v11.max_memory_allocation_size.min(memory_bytes),
        },
        features: features.names(&properties),
    };
    let problem = problem(new_enough, &features, family);
    let physical = Physical {
        instance: instance.clone(),
        handle,
        info,
        features,
        group_size: limits.max_compute_work_group_size,
        most_subgroups: controls.then_some(subgroups.max_compute_workgroup_subgroups),
        nanoseconds_per_tick: f64::from(limits.timestamp_period),
        family,
        spirv: if version >= vk::API_VERSION_1_3 { (1, 6) } else { (1, 5) },
    };
    (physical, problem)
}

fn problem(new_enough: bool, features: &Features, family: Option<Family>) -> Option<String> {
    if !new_enough {
        return Some("it has no Vulkan 1.2; a newer driver may".to_owned());
    }
    let needed = [
        (features.v12.buffer_device_address, "addresses of buffers (bufferDeviceAddress)"),
        (features.core.shader_int64, "64-bit integers (shaderInt64)"),
        (u32::from(family.is_some()), "a queue for computing"),
    ];
    let lacks: Vec<&str> = needed.into_iter().filter(|(has, _)| *has == vk::FALSE).map(|(_, name)| name).collect();
    (!lacks.is_empty()).then(|| format!("it lacks {}", lacks.join(" and ")))
}

/// A family for computing, best one that does no graphics, as that does not compete with what is on the screen.
fn best_family(families: &[vk::QueueFamilyProperties]) -> Option<Family> {
    let compute = families.iter().enumerate().filter(|(_, f)| f.queue_flags.contains(vk::QueueFlags::COMPUTE));
    let (index, family) = compute.min_by_key(|(_, f)| f.queue_flags.contains(vk::QueueFlags::GRAPHICS))?;
    Some(Family { index: u32::try_from(index).ok()?, timestamp_bits: family.timestamp_valid_bits })
}

/// How many multiprocessors there are, where an extension says.
fn multiprocessors(instance: &ash::Instance, device: vk::PhysicalDevice, known: &[&CStr]) -> Option<u32> {
    let mut nvidia = vk::PhysicalDeviceShaderSMBuiltinsPropertiesNV::default();
    let mut amd = vk::PhysicalDeviceShaderCorePropertiesAMD::default();
    let mut query = vk::PhysicalDeviceProperties2::default();
    if known.contains(&nv::shader_sm_builtins::NAME) {
        query = query.push_next(&mut nvidia);
    }
    if known.contains(&amd::shader_core_properties::NAME) {
        query = query.push_next(&mut amd);
    }
    // SAFETY: the chain holds live structs, of extensions that the device has.
    unsafe { instance.get_physical_device_properties2(device, &mut query) };
    let arrays = amd.shader_engine_count * amd.shader_arrays_per_engine_count;
    [nvidia.shader_sm_count, arrays * amd.compute_units_per_shader_array].into_iter().find(|units| *units > 0)
}

fn driver_text(properties: &Properties) -> String {
    let name = text(properties.v12.driver_name_as_c_str().ok());
    let version = text(properties.v12.driver_info_as_c_str().ok());
    if name.is_empty() { format!("version {:#x}", properties.core.driver_version) } else { format!("{name} {version}") }
}

fn text(name: Option<&CStr>) -> String {
    name.map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

fn version_text(version: u32) -> String {
    let (major, minor) = (vk::api_version_major(version), vk::api_version_minor(version));
    format!("{major}.{minor}.{}", vk::api_version_patch(version))
}

fn driver_error(device: &str, call: &str, result: vk::Result) -> DeviceError {
    match result {
        vk::Result::ERROR_DEVICE_LOST => DeviceError::Lost { device: device.to_owned(), during: call.to_owned() },
        _ => DeviceError::Driver {
            device: device.to_owned(),
            call: call.to_owned(),
            result: format!("{result} ({})", result.as_raw()),
        },
    }
}

impl Opener for Physical {
    fn open(&self) -> Result<Box<dyn Driver>> {
        Ok(Box::new(Arc::new(self.gpu()?)))
    }
}

impl Physical {
    fn gpu(&self) -> Result<Gpu> {
        let failed = |call: &str, result| driver_error(&self.info.name, call, result);
        let family = self.family.ok_or_else(|| failed("opening it", vk::Result::ERROR_FEATURE_NOT_PRESENT))?;
        let raw = &self.instance.raw;
        let mut features = self.features.to_enable();
        let extensions: Vec<_> = features.extensions.iter().map(|name| name.as_ptr()).collect();
        let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(family.index).queue_priorities(&[1.0])];
        let mut head = vk::PhysicalDeviceFeatures2 { features: features.core, ..Default::default() };
        let mut device = Err(vk::Result::INCOMPLETE);
        features.chain(&mut head, |chained| {
            let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&extensions);
            // The chain's head has to be the last that is chained, as it brings a chain of its own.
            let info = vk::DeviceCreateInfo { p_next: std::ptr::from_mut(chained).cast(), ..info };
            // SAFETY: the chain holds live structs of features and extensions that the device has.
            device = unsafe { raw.create_device(self.handle, &info, None) };
        });
        let device = device.map_err(|result| failed("vkCreateDevice", result))?;
        // SAFETY: one queue of this family was asked for.
        let queue = unsafe { device.get_device_queue(family.index, 0) };
        // SAFETY: the handle is the instance's.
        let memory = unsafe { raw.get_physical_device_memory_properties(self.handle) };
        let mask = match family.timestamp_bits {
            0 => None,
            bits => Some(u64::MAX >> (64 - bits.min(64))),
        };
        let mut gpu = Gpu {
            device,
            queue: Mutex::new(queue),
            family: family.index,
            layout: vk::PipelineLayout::null(),
            memory,
            info: self.info.clone(),
            group_size: self.group_size,
            most_subgroups: self.most_subgroups,
            clock: mask.map(|mask| (mask, self.nanoseconds_per_tick)),
            spirv: self.spirv,
            _instance: self.instance.clone(),
        };
        let pushed =
            [vk::PushConstantRange { stage_flags: vk::ShaderStageFlags::COMPUTE, offset: 0, size: PUSHED_BYTES }];
        let info = vk::PipelineLayoutCreateInfo::default().push_constant_ranges(&pushed);
        // SAFETY: the device is open, and drops with `gpu` if this fails.
        let layout = unsafe { gpu.device.create_pipeline_layout(&info, None) };
        gpu.layout = layout.map_err(|result| failed("vkCreatePipelineLayout", result))?;
        Ok(gpu)
    }
}

/// Bytes of the push constants: the address of the argument block.
const PUSHED_BYTES: u32 = 8;

impl Gpu {
    fn error(&self, call: &str, result: vk::Result) -> DeviceError {
        driver_error(&self.info.name, call, result)
    }

    /// Gives work to the device.
    fn submit(&self, commands: vk::CommandBuffer, fence: vk::Fence) -> Result<()> {
        let commands = [commands];
        let work = [vk::SubmitInfo::default().command_buffers(&commands)];
        // Nothing panics while it is held.
        let queue = self.queue.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the commands are complete, the fence is not signaled, and the lock keeps others from the queue.
        let result = unsafe { self.device.queue_submit(*queue, &work, fence) };
        result.map_err(|result| self.error("vkQueueSubmit", result))
    }
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
        Ok(Box::new(stream::Stream::new(self)))
    }
}

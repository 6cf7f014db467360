//! What devices can do beyond what all can, and what SPIR-V modules need of it.

#![allow(unsafe_code)]

use std::collections::BTreeSet;
use std::ffi::CStr;

use ash::{ext, khr, vk};

use super::spirv::Declarations;

/// Extensions that are enabled where there are any, for features that kernels may need.
const EXTENSIONS: [&CStr; 4] = [
    ext::subgroup_size_control::NAME,
    khr::shader_integer_dot_product::NAME,
    khr::cooperative_matrix::NAME,
    ext::shader_atomic_float::NAME,
];

/// Structs of features: those that a device has, or those that are enabled.
#[derive(Default)]
pub(super) struct Features {
    pub(super) core: vk::PhysicalDeviceFeatures,
    v11: vk::PhysicalDeviceVulkan11Features<'static>,
    pub(super) v12: vk::PhysicalDeviceVulkan12Features<'static>,
    subgroup: Option<vk::PhysicalDeviceSubgroupSizeControlFeatures<'static>>,
    dot: Option<vk::PhysicalDeviceShaderIntegerDotProductFeatures<'static>>,
    matrix: Option<vk::PhysicalDeviceCooperativeMatrixFeaturesKHR<'static>>,
    atomic: Option<vk::PhysicalDeviceShaderAtomicFloatFeaturesEXT<'static>>,
    /// Extensions to enable.
    pub(super) extensions: Vec<&'static CStr>,
}

impl Features {
    /// What a device of this version has.
    pub(super) fn of(instance: &ash::Instance, device: vk::PhysicalDevice, version: u32, known: &[&CStr]) -> Self {
        let new = version >= vk::API_VERSION_1_3;
        let has = |name: &CStr| known.contains(&name);
        let mut all = Self {
            subgroup: (new || has(ext::subgroup_size_control::NAME)).then(Default::default),
            dot: (new || has(khr::shader_integer_dot_product::NAME)).then(Default::default),
            matrix: has(khr::cooperative_matrix::NAME).then(Default::default),
            atomic: has(ext::shader_atomic_float::NAME).then(Default::default),
            extensions: EXTENSIONS.into_iter().filter(|name| has(name)).collect(),
            ..Self::default()
        };
        let mut query = vk::PhysicalDeviceFeatures2::default();
        all.chain(&mut query, |query| {
            // SAFETY: the chain holds live structs, each of a version or an extension that the device has.
            unsafe { instance.get_physical_device_features2(device, query) };
        });
        all.core = query.features;
        all
    }

    /// Calls `f` with a head that all structs are chained to.
    pub(super) fn chain(
        &mut self,
        head: &mut vk::PhysicalDeviceFeatures2<'_>,
        f: impl FnOnce(&mut vk::PhysicalDeviceFeatures2<'_>),
    ) {
        let mut chained = vk::PhysicalDeviceFeatures2 { features: head.features, ..Default::default() };
        chained = chained.push_next(&mut self.v11).push_next(&mut self.v12);
        if let Some(subgroup) = &mut self.subgroup {
            chained = chained.push_next(subgroup);
        }
        if let Some(dot) = &mut self.dot {
            chained = chained.push_next(dot);
        }
        if let Some(matrix) = &mut self.matrix {
            chained = chained.push_next(matrix);
        }
        if let Some(atomic) = &mut self.atomic {
            chained = chained.push_next(atomic);
        }
        f(&mut chained);
        head.features = chained.features;
    }

    /// What is to be enabled of this: all that a kernel may need.
    pub(super) fn to_enable(&self) -> Self {
        let Self { core, v11, v12, .. } = self;
        Self {
            core: vk::PhysicalDeviceFeatures {
                shader_int64: core.shader_int64,
                shader_float64: core.shader_float64,
                shader_int16: core.shader_int16,
                ..Default::default()
            },
            v11: vk::PhysicalDeviceVulkan11Features {
                storage_buffer16_bit_access: v11.storage_buffer16_bit_access,
                uniform_and_storage_buffer16_bit_access: v11.uniform_and_storage_buffer16_bit_access,
                variable_pointers: v11.variable_pointers,
                variable_pointers_storage_buffer: v11.variable_pointers_storage_buffer,
                ..Default::default()
            },
            v12: vk::PhysicalDeviceVulkan12Features {
                storage_buffer8_bit_access: v12.storage_buffer8_bit_access,
                uniform_and_storage_buffer8_bit_access: v12.uniform_and_storage_buffer8_bit_access,
                shader_buffer_int64_atomics: v12.shader_buffer_int64_atomics,
                shader_shared_int64_atomics: v12.shader_shared_int64_atomics,
                shader_float16: v12.shader_float16,
                shader_int8: v12.shader_int8,
                scalar_block_layout: v12.scalar_block_layout,
                shader_subgroup_extended_types: v12.shader_subgroup_extended_types,
                buffer_device_address: v12.buffer_device_address,
                vulkan_memory_model: v12.vulkan_memory_model,
                vulkan_memory_model_device_scope: v12.vulkan_memory_model_device_scope,
                ..Default::default()
            },
            subgroup: self.subgroup.map(|from| vk::PhysicalDeviceSubgroupSizeControlFeatures {
                subgroup_size_control: from.subgroup_size_control,
                compute_full_subgroups: from.compute_full_subgroups,
                ..Default::default()
            }),
            dot: self.dot.map(|from| vk::PhysicalDeviceShaderIntegerDotProductFeatures {
                shader_integer_dot_product: from.shader_integer_dot_product,
                ..Default::default()
            }),
            matrix: self.matrix.map(|from| vk::PhysicalDeviceCooperativeMatrixFeaturesKHR {
                cooperative_matrix: from.cooperative_matrix,
                ..Default::default()
            }),
            atomic: self.atomic.map(|from| vk::PhysicalDeviceShaderAtomicFloatFeaturesEXT {
                shader_buffer_float32_atomic_add: from.shader_buffer_float32_atomic_add,
                shader_shared_float32_atomic_add: from.shader_shared_float32_atomic_add,
                ..Default::default()
            }),
            extensions: self.extensions.clone(),
        }
    }

    /// Whether kernels can demand the size of subgroups, and that these are full.
    pub(super) fn controls_subgroups(&self) -> bool {
        self.subgroup.is_some_and(|s| s.subgroup_size_control == vk::TRUE && s.compute_full_subgroups == vk::TRUE)
    }

    /// Names of what there is.
    pub(super) fn names(&self, properties: &Properties) -> BTreeSet<&'static str> {
        let Self { core, v11, v12, .. } = self;
        let flags = [
            (core.shader_float64, "float64"),
            (core.shader_int16, "int16"),
            (v12.shader_float16, "float16"),
            (v12.shader_int8, "int8"),
            (v11.storage_buffer16_bit_access, "storage16"),
            (v11.uniform_and_storage_buffer16_bit_access, "uniform-storage16"),
            (v12.storage_buffer8_bit_access, "storage8"),
            (v12.uniform_and_storage_buffer8_bit_access, "uniform-storage8"),
            (v11.variable_pointers_storage_buffer, "variable-pointers-storage"),
            (v11.variable_pointers, "variable-pointers"),
            (v12.shader_buffer_int64_atomics & v12.shader_shared_int64_atomics, "int64-atomics"),
            (v12.shader_subgroup_extended_types, "subgroup-extended-types"),
            (v12.vulkan_memory_model, "memory-model"),
            (v12.vulkan_memory_model_device_scope, "memory-model-device-scope"),
            (u32::from(self.controls_subgroups()), "subgroup-size-control"),
            (self.dot.map_or(0, |dot| dot.shader_integer_dot_product), "integer-dot-product"),
            (self.matrix.map_or(0, |matrix| matrix.cooperative_matrix), "cooperative-matrix"),
            (
                self.atomic.map_or(0, |a| a.shader_buffer_float32_atomic_add & a.shader_shared_float32_atomic_add),
                "float32-atomic-add",
            ),
        ];
        let mut names: BTreeSet<&'static str> =
            flags.into_iter().filter(|(flag, _)| *flag == vk::TRUE).map(|(_, name)| name).collect();
        let v11 = &properties.v11;
        if v11.subgroup_supported_stages.contains(vk::ShaderStageFlags::COMPUTE) {
            let has = |(flag, _): &(vk::SubgroupFeatureFlags, _)| v11.subgroup_supported_operations.contains(*flag);
            names.extend(SUBGROUP_OPERATIONS.into_iter().filter(has).map(|(_, name)| name));
        }
        let p = &properties.v12;
        let supported = [
            [p.shader_denorm_preserve_float16, p.shader_denorm_preserve_float32, p.shader_denorm_preserve_float64],
            [
                p.shader_denorm_flush_to_zero_float16,
                p.shader_denorm_flush_to_zero_float32,
                p.shader_denorm_flush_to_zero_float64,
            ],
            [
                p.shader_signed_zero_inf_nan_preserve_float16,
                p.shader_signed_zero_inf_nan_preserve_float32,
                p.shader_signed_zero_inf_nan_preserve_float64,
            ],
            [
                p.shader_rounding_mode_rte_float16,
                p.shader_rounding_mode_rte_float32,
                p.shader_rounding_mode_rte_float64,
            ],
            [
                p.shader_rounding_mode_rtz_float16,
                p.shader_rounding_mode_rtz_float32,
                p.shader_rounding_mode_rtz_float64,
            ],
        ];
        for (flags, modes) in supported.iter().zip(FLOAT_MODE_NAMES) {
            names.extend(flags.iter().zip(modes).filter(|(flag, _)| **flag == vk::TRUE).map(|(_, name)| name));
        }
        names
    }
}

/// Structs of properties that a device of version 1.2 has.
#[derive(Default)]
pub(super) struct Properties {
    pub(super) core: vk::PhysicalDeviceProperties,
    pub(super) v11: vk::PhysicalDeviceVulkan11Properties<'static>,
    pub(super) v12: vk::PhysicalDeviceVulkan12Properties<'static>,
}

const SUBGROUP_OPERATIONS: [(vk::SubgroupFeatureFlags, &str); 7] = [
    (vk::SubgroupFeatureFlags::VOTE, "subgroup-vote"),
    (vk::SubgroupFeatureFlags::ARITHMETIC, "subgroup-arithmetic"),
    (vk::SubgroupFeatureFlags::BALLOT, "subgroup-ballot"),
    (vk::SubgroupFeatureFlags::SHUFFLE, "subgroup-shuffle"),
    (vk::SubgroupFeatureFlags::SHUFFLE_RELATIVE, "subgroup-shuffle-relative"),
    (vk::SubgroupFeatureFlags::CLUSTERED, "subgroup-clustered"),
    (vk::SubgroupFeatureFlags::QUAD, "subgroup-quad"),
];

/// Names of the float modes, in the order of their numbers; each for 16, 32 and 64 bits.
const FLOAT_MODE_NAMES: [[&str; 3]; 5] = [
    ["denorm-preserve-f16", "denorm-preserve-f32", "denorm-preserve-f64"],
    ["denorm-flush-f16", "denorm-flush-f32", "denorm-flush-f64"],
    ["signed-zero-inf-nan-preserve-f16", "signed-zero-inf-nan-preserve-f32", "signed-zero-inf-nan-preserve-f64"],
    ["rounding-rte-f16", "rounding-rte-f32", "rounding-rte-f64"],
    ["rounding-rtz-f16", "rounding-rtz-f32", "rounding-rtz-f64"],
];

/// Capabilities of SPIR-V by their numbers, and the feature that each needs; the empty one is always there.
const CAPABILITIES: [(u32, &str); 36] = [
    (0, ""),  // Matrix
    (1, ""),  // Shader
    (11, ""), // Int64
    (9, "float16"),
    (10, "float64"),
    (12, "int64-atomics"),
    (22, "int16"),
    (39, "int8"),
    (61, ""), // GroupNonUniform
    (62, "subgroup-vote"),
    (63, "subgroup-arithmetic"),
    (64, "subgroup-ballot"),
    (65, "subgroup-shuffle"),
    (66, "subgroup-shuffle-relative"),
    (67, "subgroup-clustered"),
    (68, "subgroup-quad"),
    (4433, "storage16"),
    (4434, "uniform-storage16"),
    (4441, "variable-pointers-storage"),
    (4442, "variable-pointers"),
    (4448, "storage8"),
    (4449, "uniform-storage8"),
    // About floats; the modes of entry points say which widths they need.
    (4464, ""),
    (4465, ""),
    (4466, ""),
    (4467, ""),
    (4468, ""),
    (5345, "memory-model"),
    (5346, "memory-model-device-scope"),
    (5347, ""), // PhysicalStorageBufferAddresses
    (6016, "integer-dot-product"),
    (6017, "integer-dot-product"),
    (6018, "integer-dot-product"),
    (6019, "integer-dot-product"),
    (6022, "cooperative-matrix"),
    (6033, "float32-atomic-add"),
];

/// What a module needs and is not among the features, in words.
pub(super) fn missing(declarations: &Declarations, features: &BTreeSet<&'static str>) -> Vec<String> {
    let mut missing = BTreeSet::new();
    for capability in &declarations.capabilities {
        match CAPABILITIES.iter().find(|(number, _)| number == capability) {
            Some((_, "")) => {}
            Some((_, name)) if features.contains(name) => {}
            Some((_, name)) => {
                missing.insert((*name).to_owned());
            }
            None => {
                missing.insert(format!("SPIR-V capability {capability}"));
            }
        }
    }
    for (mode, width) in &declarations.float_modes {
        let index = mode - super::spirv::FLOAT_MODES.start();
        let width_index = match width {
            16 => 0,
            32 => 1,
            _ => 2,
        };
        let name = FLOAT_MODE_NAMES[index as usize][width_index];
        if !features.contains(name) {
            missing.insert(name.to_owned());
        }
    }
    missing.into_iter().collect()
}

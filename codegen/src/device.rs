//! Device code for NVIDIA and AMD: a `gpu.module` of functions in upstream dialects becomes PTX, or a code object.

use mlir_sys::{MlirOperation, mlirOperationGetFirstRegion, mlirRegionGetFirstBlock};

use crate::diagnostic::Diagnostic;
use crate::error::Error;
use crate::link::Linker;
use crate::llvm::{LlvmModule, Optimization};
use crate::mlir::{MlirModule, Module, block_operations, operation_name};
use crate::target::Target;

const MODULE: &str = "gpu.module";

/// From `arith math scf vector llvm nvvm rocdl` in a `gpu.module` to the LLVM dialect.
///
/// MLIR's own conversions of the gpu dialect are not needed, and would turn every operation of `math` into a call of a
/// vendor's library.
pub const DEVICE_PIPELINE: &str = "builtin.module(gpu.module(\
    convert-vector-to-scf,\
    convert-scf-to-cf,\
    convert-to-llvm,\
    canonicalize,\
    cse,\
    reconcile-unrealized-casts))";

/// The version of AMD's code objects: the implicit arguments of a kernel lie where it says. HIP of ROCm 5.3 and later reads it.
const CODE_OBJECT_VERSION: u64 = 500;

impl Target {
    /// A GPU of NVIDIA, such as `sm_80`, with the oldest version of PTX that both it and this crate's kernels can do with.
    ///
    /// # Errors
    /// `Cpu` for a processor that LLVM does not know.
    pub fn nvidia(chip: &str) -> Result<Self, Error> {
        let target = |version: u32| Self {
            triple: "nvptx64-nvidia-cuda".to_owned(),
            cpu: chip.to_owned(),
            features: format!("+ptx{version}"),
        };
        target(ptx_version(chip)).check().map(|()| target(ptx_version(chip)))
    }

    /// A GPU of AMD, such as `gfx942`.
    ///
    /// # Errors
    /// `Cpu` for a processor that LLVM does not know.
    pub fn amd(chip: &str) -> Result<Self, Error> {
        let target = Self { triple: "amdgcn-amd-amdhsa".to_owned(), cpu: chip.to_owned(), features: String::new() };
        target.check().map(|()| target)
    }
}

/// PTX 7.8 is read by drivers from CUDA 11.8 on; architectures that came later need the version that brought them.
fn ptx_version(chip: &str) -> u32 {
    let digits: String = chip.chars().filter(char::is_ascii_digit).collect();
    let arch_specific = chip.ends_with(['a', 'f']);
    match digits.parse::<u32>().unwrap_or(0) {
        0..=89 => 78,
        90 if !arch_specific => 78,
        90 => 80,
        100 | 101 if !arch_specific => 86,
        100 | 101 | 120 => 87,
        _ => 88,
    }
}

/// Compiles the one `gpu.module` of `text`, whose kernels have `nvvm.kernel` or `rocdl.kernel`, to assembly
/// for `target`: PTX for NVIDIA.
///
/// # Errors
/// Those of [`MlirModule::parse`], [`MlirModule::run_pipeline`], [`MlirModule::device_to_llvm`] and
/// [`LlvmModule::optimize`].
pub fn emit_device_assembly(
    text: &str,
    name: &str,
    target: &Target,
    warnings: &mut Vec<Diagnostic>,
) -> Result<String, Error> {
    let emitted = optimized(text, name, target, warnings)?.into_assembly(target, Optimization::Full)?;
    warnings.extend(emitted.warnings);
    Ok(emitted.output)
}

/// Compiles the one `gpu.module` of `text`, whose kernels have `rocdl.kernel`, to a code object (HSACO) for `target`,
/// which HIP loads. Nothing of ROCm is needed.
///
/// # Errors
/// As for [`emit_device_assembly`]; those of [`Linker::find`], and `Linker`, where `ld.lld` is missing or fails.
pub fn emit_hsaco(text: &str, name: &str, target: &Target, warnings: &mut Vec<Diagnostic>) -> Result<Vec<u8>, Error> {
    let linker = Linker::find()?;
    let emitted = optimized(text, name, target, warnings)?.into_object(target, Optimization::Full)?;
    warnings.extend(emitted.warnings);
    linker.link_device(&emitted.output)
}

/// Compiles the one `gpu.module` of `text` to optimised LLVM IR for `target`.
///
/// # Errors
/// As for [`emit_device_assembly`].
pub fn emit_device_llvm_ir(
    text: &str,
    name: &str,
    target: &Target,
    warnings: &mut Vec<Diagnostic>,
) -> Result<String, Error> {
    optimized(text, name, target, warnings)?.to_text()
}

/// Takes the one `gpu.module` of `text` as far as it can be refused: what is left is code generation.
///
/// # Errors
/// Those of [`MlirModule::parse`], [`MlirModule::run_pipeline`] and [`MlirModule::device_to_llvm`].
pub fn accept_device(text: &str, name: &str, target: &Target, warnings: &mut Vec<Diagnostic>) -> Result<(), Error> {
    translated(text, name, target, warnings).map(drop)
}

fn translated(text: &str, name: &str, target: &Target, warnings: &mut Vec<Diagnostic>) -> Result<LlvmModule, Error> {
    target.check()?;
    let mut module = MlirModule::parse(text, name)?;
    module.run_pipeline(DEVICE_PIPELINE)?;
    let llvm = module.device_to_llvm()?;
    warnings.extend(module.take_remarks());
    Ok(llvm)
}

fn optimized(text: &str, name: &str, target: &Target, warnings: &mut Vec<Diagnostic>) -> Result<LlvmModule, Error> {
    let mut llvm = translated(text, name, target, warnings)?;
    if target.triple.starts_with("amdgcn") {
        llvm.set_flag("amdhsa_code_object_version", CODE_OBJECT_VERSION)?;
    }
    llvm.optimize(target, Optimization::Full)?;
    warnings.extend(llvm.take_warnings());
    Ok(llvm)
}

/// The one `gpu.module` of a module.
pub(crate) fn device_module(module: &Module) -> Result<MlirOperation, Error> {
    // SAFETY: the operation is alive, and a `builtin.module` has a region with a block.
    let block = unsafe { mlirRegionGetFirstBlock(mlirOperationGetFirstRegion(module.operation)) };
    let found: Vec<MlirOperation> =
        block_operations(block).into_iter().filter(|op| operation_name(*op) == MODULE).collect();
    match found[..] {
        [one] => Ok(one),
        _ => Err(Error::DeviceModules { count: found.len() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processors_get_a_version_of_ptx_that_has_them() {
        for (chip, feature) in
            [("sm_75", "+ptx78"), ("sm_90", "+ptx78"), ("sm_90a", "+ptx80"), ("sm_100", "+ptx86"), ("sm_120", "+ptx87")]
        {
            assert_eq!(Target::nvidia(chip).unwrap().features, feature, "{chip}");
        }
    }

    #[test]
    fn unknown_processors_are_errors() {
        let error = Target::nvidia("sm_8O").unwrap_err().to_string();
        assert!(error.contains("did you mean `sm_80`?"), "{error}");
        assert!(matches!(Target::amd("gfx94"), Err(Error::Cpu { .. })));
        assert!(Target::amd("gfx942").is_ok());
    }
}

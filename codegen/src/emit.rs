//! The whole path from upstream dialects to each product, in one call.

use crate::diagnostic::Diagnostic;
use crate::error::Error;
use crate::llvm::{LlvmModule, Optimization};
use crate::mlir::{Form, MlirModule};
use crate::target::Target;

/// From `func arith math cf scf affine memref vector index ub llvm` to the LLVM dialect, for CPU kernels.
///
/// `convert-vector-to-llvm` is named for the x86 ops, which `convert-to-llvm` does not know; the rest of `vector` needs no
/// option. What cannot be lowered is left in place, and the translation names it.
pub const KERNEL_PIPELINE: &str = "builtin.module(\
    convert-vector-to-scf,\
    convert-scf-to-cf,\
    expand-strided-metadata,\
    lower-affine,\
    convert-vector-to-llvm{enable-x86vector},\
    convert-to-llvm,\
    canonicalize,\
    cse,\
    reconcile-unrealized-casts)";

/// Lowers `text` to the LLVM dialect, in generic form. `name` is the file in locations; `warnings` gets what is no error.
///
/// # Errors
/// Those of [`MlirModule::parse`] and [`MlirModule::run_pipeline`].
pub fn emit_llvm_dialect(text: &str, name: &str, warnings: &mut Vec<Diagnostic>) -> Result<String, Error> {
    lowered(text, name, warnings)?.to_text(Form::Generic)
}

/// Compiles `text` to optimised LLVM IR for `target`.
///
/// # Errors
/// Those of [`emit_llvm_dialect`], [`MlirModule::to_llvm`] and [`LlvmModule::optimize`].
pub fn emit_llvm_ir(text: &str, name: &str, target: &Target, warnings: &mut Vec<Diagnostic>) -> Result<String, Error> {
    optimized(text, name, target, warnings)?.to_text()
}

/// Compiles `text` to assembly for `target`.
///
/// # Errors
/// Those of [`emit_llvm_ir`] and [`LlvmModule::into_assembly`].
pub fn emit_assembly(text: &str, name: &str, target: &Target, warnings: &mut Vec<Diagnostic>) -> Result<String, Error> {
    let emitted = optimized(text, name, target, warnings)?.into_assembly(target, Optimization::Full)?;
    warnings.extend(emitted.warnings);
    Ok(emitted.output)
}

/// Compiles `text` to an object for `target`.
///
/// # Errors
/// Those of [`emit_llvm_ir`] and [`LlvmModule::into_object`].
pub fn emit_object(text: &str, name: &str, target: &Target, warnings: &mut Vec<Diagnostic>) -> Result<Vec<u8>, Error> {
    let emitted = optimized(text, name, target, warnings)?.into_object(target, Optimization::Full)?;
    warnings.extend(emitted.warnings);
    Ok(emitted.output)
}

/// Serializes the one `spirv.module` of `text` to SPIR-V, little endian.
///
/// # Errors
/// Those of [`MlirModule::parse`] and [`MlirModule::into_spirv`].
pub fn emit_spirv(text: &str, name: &str, warnings: &mut Vec<Diagnostic>) -> Result<Vec<u8>, Error> {
    let mut module = MlirModule::parse(text, name)?;
    warnings.extend(module.take_remarks());
    module.into_spirv(warnings)
}

fn lowered(text: &str, name: &str, warnings: &mut Vec<Diagnostic>) -> Result<MlirModule, Error> {
    let mut module = MlirModule::parse(text, name)?;
    module.run_pipeline(KERNEL_PIPELINE)?;
    warnings.extend(module.take_remarks());
    Ok(module)
}

fn optimized(text: &str, name: &str, target: &Target, warnings: &mut Vec<Diagnostic>) -> Result<LlvmModule, Error> {
    // A wrong target is found before minutes of work, not after.
    target.check()?;
    let mut module = lowered(text, name, warnings)?;
    let mut llvm = module.to_llvm()?;
    warnings.extend(module.take_remarks());
    llvm.optimize(target, Optimization::Full)?;
    warnings.extend(llvm.take_warnings());
    Ok(llvm)
}

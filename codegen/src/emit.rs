//! The whole path from upstream dialects to each product, in one call.

use crate::diagnostic::Diagnostic;
use crate::error::Error;
use crate::llvm::{LlvmModule, Optimization};
use crate::mlir::{Form, MlirModule};
use crate::symbols::{PROVIDED, check_defined_but};
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
    accept(text, name, target, warnings)?.into_object(warnings)
}

/// A program that MLIR has accepted and that is LLVM IR now. What is left is code generation, which takes whatever got here.
#[allow(missing_debug_implementations)]
pub struct Accepted {
    llvm: LlvmModule,
    target: Target,
}

/// Takes `text` as far as it can be refused: it is parsed, verified, lowered and translated. [`emit_object`] begins so.
///
/// # Errors
/// Those of [`emit_llvm_dialect`], [`MlirModule::to_llvm`] and [`Target::check`].
pub fn accept(text: &str, name: &str, target: &Target, warnings: &mut Vec<Diagnostic>) -> Result<Accepted, Error> {
    // A wrong target is found before minutes of work, not after.
    target.check()?;
    let mut module = lowered(text, name, warnings)?;
    let llvm = module.to_llvm()?;
    warnings.extend(module.take_remarks());
    Ok(Accepted { llvm, target: target.clone() })
}

impl Accepted {
    /// Whether the program itself calls nothing that a running process does not provide.
    ///
    /// # Errors
    /// `Undefined` with the names that are used and not defined.
    pub fn check_defined(&mut self) -> Result<(), Error> {
        let mut symbols = self.llvm.undefined()?;
        symbols.retain(|name| !PROVIDED.contains(&name.as_str()));
        if symbols.is_empty() { Ok(()) } else { Err(Error::Undefined { symbols }) }
    }

    /// Joins `text`, LLVM IR, with the code. It sees functions of the code by the second names of `renamed`; from outside only
    /// `exported` of both are seen.
    ///
    /// # Errors
    /// `Llvm` or `Rejected` where that cannot be.
    pub fn join(&mut self, text: &str, renamed: &[(&str, &str)], exported: &[String]) -> Result<(), Error> {
        self.llvm.join(text, renamed, exported)
    }

    /// Generates code for a library that is linked by others, with `provided` beside what every C library has.
    ///
    /// # Errors
    /// Those of [`into_object`](Self::into_object); `Undefined` with names that nobody provides.
    pub fn into_library_object(self, provided: &[&str], warnings: &mut Vec<Diagnostic>) -> Result<Vec<u8>, Error> {
        let object = self.into_object(warnings)?;
        check_defined_but([object.as_slice()], provided)?;
        Ok(object)
    }

    /// Generates code.
    ///
    /// # Errors
    /// Those of [`LlvmModule::optimize`] and [`LlvmModule::into_object`].
    pub fn into_object(mut self, warnings: &mut Vec<Diagnostic>) -> Result<Vec<u8>, Error> {
        self.llvm.optimize(&self.target, Optimization::Full)?;
        warnings.extend(self.llvm.take_warnings());
        let emitted = self.llvm.into_object(&self.target, Optimization::Full)?;
        warnings.extend(emitted.warnings);
        Ok(emitted.output)
    }
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
    let mut llvm = accept(text, name, target, warnings)?.llvm;
    llvm.optimize(target, Optimization::Full)?;
    warnings.extend(llvm.take_warnings());
    Ok(llvm)
}

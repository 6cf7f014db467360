//! The whole path from upstream dialects to each product, in one call.

use crate::diagnostic::Diagnostic;
use crate::error::Error;
use crate::llvm::{LlvmModule, Optimization};
use crate::mlir::{Form, MlirModule};
use crate::symbols::{PROVIDED, check_defined_but};
use crate::target::Target;

/// From `func arith math cf scf affine memref vector index ub llvm` to the LLVM dialect, for CPU kernels, in simple form.
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

/// The same for code that LLVM simplifies anyway and that has nothing for the other passes to do, as the compiler's own has: each
/// pass looks at every operation, and those that are left out take most of the time. LLVM makes the same code of both.
const SHORT_PIPELINE: &str = "builtin.module(\
    convert-scf-to-cf,\
    convert-vector-to-llvm{enable-x86vector},\
    convert-to-llvm,\
    reconcile-unrealized-casts)";

/// What the short pipeline leaves out passes for.
const NEEDS_ALL: [&str; 3] = ["memref", "affine", "vector.transfer"];

fn pipeline_for(text: &str) -> &'static str {
    if NEEDS_ALL.iter().any(|part| text.contains(part)) { KERNEL_PIPELINE } else { SHORT_PIPELINE }
}

/// Lowers `text` to the LLVM dialect, in generic form. `name` is the file in locations; `warnings` gets what is no error.
///
/// # Errors
/// Those of [`MlirModule::parse`] and [`MlirModule::run_pipeline`].
pub fn emit_llvm_dialect(text: &str, name: &str, warnings: &mut Vec<Diagnostic>) -> Result<String, Error> {
    lowered(text, name, KERNEL_PIPELINE, warnings)?.to_text(Form::Generic)
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
    let emitted = optimized(text, name, target, warnings)?.into_assembly(target, Optimization::Kernels)?;
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
    functions: usize,
}

/// Takes `text` as far as it can be refused: it is parsed, verified, lowered and translated. [`emit_object`] begins so.
///
/// # Errors
/// Those of [`emit_llvm_dialect`], [`MlirModule::to_llvm`] and [`Target::check`].
pub fn accept(text: &str, name: &str, target: &Target, warnings: &mut Vec<Diagnostic>) -> Result<Accepted, Error> {
    // A wrong target is found before minutes of work, not after.
    target.check()?;
    let mut module = lowered(text, name, pipeline_for(text), warnings)?;
    let mut llvm = module.to_llvm()?;
    warnings.extend(module.take_remarks());
    let functions = llvm.functions()?;
    Ok(Accepted { llvm, target: target.clone(), functions })
}

impl Accepted {
    /// Whether the program itself calls nothing that a running process does not provide.
    ///
    /// # Errors
    /// `Undefined` with the names that are used and not defined.
    pub fn check_defined(&mut self) -> Result<(), Error> {
        self.check_defined_but(&[])
    }

    /// The same of a part of a program: other parts have the functions `elsewhere`.
    ///
    /// # Errors
    /// As for [`check_defined`](Self::check_defined).
    pub fn check_defined_but(&mut self, elsewhere: &[String]) -> Result<(), Error> {
        let mut symbols = self.llvm.undefined()?;
        symbols.retain(|name| !PROVIDED.contains(&name.as_str()) && !elsewhere.contains(name));
        if symbols.is_empty() { Ok(()) } else { Err(Error::Undefined { symbols }) }
    }

    /// How many functions it has.
    pub fn functions(&self) -> usize {
        self.functions
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
        // The runtime that was joined has calls to inline.
        let object = self.generate(Optimization::Full, warnings)?;
        check_defined_but([object.as_slice()], provided)?;
        Ok(object)
    }

    /// Generates code.
    ///
    /// # Errors
    /// Those of [`LlvmModule::optimize`] and [`LlvmModule::into_object`].
    pub fn into_object(self, warnings: &mut Vec<Diagnostic>) -> Result<Vec<u8>, Error> {
        self.generate(Optimization::Kernels, warnings)
    }

    fn generate(mut self, how: Optimization, warnings: &mut Vec<Diagnostic>) -> Result<Vec<u8>, Error> {
        self.llvm.optimize(&self.target, how)?;
        warnings.extend(self.llvm.take_warnings());
        let emitted = self.llvm.into_object(&self.target, how)?;
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

fn lowered(text: &str, name: &str, pipeline: &str, warnings: &mut Vec<Diagnostic>) -> Result<MlirModule, Error> {
    let mut module = MlirModule::parse(text, name)?;
    module.run_pipeline(pipeline)?;
    warnings.extend(module.take_remarks());
    Ok(module)
}

fn optimized(text: &str, name: &str, target: &Target, warnings: &mut Vec<Diagnostic>) -> Result<LlvmModule, Error> {
    let mut llvm = accept(text, name, target, warnings)?.llvm;
    llvm.optimize(target, Optimization::Kernels)?;
    warnings.extend(llvm.take_warnings());
    Ok(llvm)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A loop over vectors, with a constant that is folded and a value that is computed twice.
    const LOOP: &str = r#""builtin.module"() ({
  "func.func"() <{function_type = (!llvm.ptr, i64) -> (), sym_name = "f"}> ({
  ^bb0(%p: !llvm.ptr, %n: i64):
    %zero = "arith.constant"() <{value = 0 : i64}> : () -> i64
    %one = "arith.constant"() <{value = 1 : i64}> : () -> i64
    %two = "arith.addi"(%one, %one) : (i64, i64) -> i64
    "scf.for"(%zero, %n, %one) ({
    ^bb0(%i: i64):
      %at = "arith.muli"(%i, %two) : (i64, i64) -> i64
      %again = "arith.muli"(%i, %two) : (i64, i64) -> i64
      %from = "llvm.getelementptr"(%p, %at) <{elem_type = f32, rawConstantIndices = array<i32: -2147483648>}> : (!llvm.ptr, i64) -> !llvm.ptr
      %to = "llvm.getelementptr"(%p, %again) <{elem_type = f32, rawConstantIndices = array<i32: -2147483648>}> : (!llvm.ptr, i64) -> !llvm.ptr
      %x = "llvm.load"(%from) <{alignment = 4 : i64}> : (!llvm.ptr) -> vector<16xf32>
      %y = "arith.addf"(%x, %x) : (vector<16xf32>, vector<16xf32>) -> vector<16xf32>
      "llvm.store"(%y, %to) <{alignment = 4 : i64}> : (vector<16xf32>, !llvm.ptr) -> ()
      "scf.yield"() : () -> ()
    }) : (i64, i64, i64) -> ()
    "func.return"() : () -> ()
  }) : () -> ()
}) : () -> ()
"#;

    #[test]
    fn both_pipelines_end_in_the_same_code() {
        assert_eq!(pipeline_for(LOOP), SHORT_PIPELINE);
        let object = |pipeline: &str| {
            let target = Target::host();
            let llvm = lowered(LOOP, "loop.mlir", pipeline, &mut Vec::new()).and_then(|mut module| module.to_llvm());
            let accepted = Accepted { llvm: llvm.unwrap(), target, functions: 1 };
            accepted.into_object(&mut Vec::new()).unwrap()
        };
        assert!(object(SHORT_PIPELINE) == object(KERNEL_PIPELINE));
    }

    #[test]
    fn what_the_short_pipeline_cannot_lower_gets_the_long_one() {
        for part in ["%0 = memref.alloc()", "affine.apply #map(%0)", "vector.transfer_read %0"] {
            assert_eq!(pipeline_for(part), KERNEL_PIPELINE);
        }
    }
}

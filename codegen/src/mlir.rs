//! A module of MLIR: parsed, verified, lowered, printed, translated.

use std::ffi::c_void;

use melior::Context;
use melior::dialect::DialectRegistry;
use melior::pass::PassManager;
use melior::utility::{register_all_dialects, register_all_llvm_translations, register_all_passes};
use mlir_sys::{
    MlirBlock, MlirOperation, MlirStringRef, mlirBlockGetFirstOperation, mlirOpPrintingFlagsCreate,
    mlirOpPrintingFlagsDestroy, mlirOpPrintingFlagsEnableDebugInfo, mlirOpPrintingFlagsPrintGenericOpForm,
    mlirOperationCreateParse, mlirOperationDestroy, mlirOperationGetNextInBlock, mlirOperationPrintWithFlags,
    mlirOperationVerify, mlirParsePassPipeline, mlirPassManagerGetAsOpPassManager, mlirPassManagerRunOnOp,
    mlirTranslateModuleToLLVMIR,
};

use crate::device::device_module;
use crate::diagnostic::{Collector, Diagnostic, Severity, append_text};
use crate::error::{Error, Stage};
use crate::llvm::LlvmModule;
use crate::nesting;
use crate::spirv;
use crate::worker::{Confined, run};

/// Which text [`MlirModule::to_text`] prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `"arith.addf"(%0, %1) : …`, which every reader of MLIR understands.
    Generic,
    /// The dialects' own assembly.
    Custom,
}

/// A module in an MLIR context of its own, with every upstream dialect.
pub struct MlirModule {
    module: Confined<Module>,
    remarks: Vec<Diagnostic>,
}

/// The operation lives in the context, which melior frees after `drop` has destroyed the operation.
pub(crate) struct Module {
    pub(crate) operation: MlirOperation,
    pub(crate) context: Context,
}

// SAFETY: a context without threads of its own has no affinity to a thread; `Module` is the sole owner of both parts and
// `Confined` lends it to one thread at a time.
unsafe impl Send for Module {}

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: the operation is owned and its context is alive until the fields are dropped.
        unsafe { mlirOperationDestroy(self.operation) }
    }
}

impl MlirModule {
    /// Reads `text`, which must be one `builtin.module`, and verifies it. `name` stands for the file in locations, except
    /// where the text itself has `loc("file":line:column)`.
    ///
    /// # Errors
    /// `Rejected` with MLIR's diagnostics when the text does not parse or verify, `NestedTooDeep`.
    pub fn parse(text: &str, name: &str) -> Result<Self, Error> {
        nesting::check(text, name)?;
        let (text, name) = (text.to_owned(), name.to_owned());
        let (module, remarks) = run(Stage::Parse, move || parse(text, &name))??;
        Ok(Self { module: Confined::new(module), remarks })
    }

    /// Runs MLIR's verifier on the whole module.
    ///
    /// # Errors
    /// `Rejected` with MLIR's diagnostics.
    pub fn verify(&mut self) -> Result<(), Error> {
        self.checked(Stage::Verify, |module| {
            // SAFETY: the operation is alive.
            Ok(unsafe { mlirOperationVerify(module.operation) }.then_some(()))
        })
    }

    /// Runs a pass pipeline such as `builtin.module(canonicalize,cse)`; the verifier runs behind the last, and in builds with
    /// assertions behind each.
    ///
    /// # Errors
    /// `Pipeline` when the text is wrong, `Rejected` with MLIR's diagnostics when a pass fails. Then the module is in the
    /// state that the failing pass left, and only good for printing.
    pub fn run_pipeline(&mut self, pipeline: &str) -> Result<(), Error> {
        let pipeline = pipeline.to_owned();
        self.checked(Stage::Lower, move |module| run_passes(module, &pipeline))
    }

    /// The module as text, without locations.
    pub fn to_text(&mut self, form: Form) -> Result<String, Error> {
        self.module.with(Stage::Lower, move |module| Ok(print(module.operation, form)))
    }

    /// Translates a module of the LLVM dialect to LLVM IR. This module stays as it is.
    ///
    /// # Errors
    /// `Rejected` with MLIR's diagnostics, for instance for an op of another dialect that was left over.
    pub fn to_llvm(&mut self) -> Result<LlvmModule, Error> {
        self.checked(Stage::Translate, |module| {
            register_all_llvm_translations(&module.context);
            let operation = module.operation;
            // SAFETY: the operation is alive, and mlir-sys and llvm-sys name the same C type of a context. A module that
            // comes back is new, in that context and ours.
            Ok(unsafe { LlvmModule::create(|context| mlirTranslateModuleToLLVMIR(operation, context.cast()).cast()) })
        })
    }

    /// Translates the one `gpu.module` of this module, which holds functions of the LLVM dialect, to LLVM IR.
    ///
    /// # Errors
    /// `DeviceModules` where there is not one; as for [`to_llvm`](Self::to_llvm).
    pub fn device_to_llvm(&mut self) -> Result<LlvmModule, Error> {
        self.checked(Stage::Translate, |module| {
            register_all_llvm_translations(&module.context);
            let operation = device_module(module)?;
            // SAFETY: as in `to_llvm`; the operation is a part of the module, which is alive.
            Ok(unsafe { LlvmModule::create(|context| mlirTranslateModuleToLLVMIR(operation, context.cast()).cast()) })
        })
    }

    /// Serializes the one `spirv.module` of this module to SPIR-V.
    ///
    /// # Errors
    /// `SpirvModules` where there is not one, `SpirvVersion` where it does not say what it requires, `Rejected` with MLIR's
    /// diagnostics.
    pub fn into_spirv(mut self, warnings: &mut Vec<Diagnostic>) -> Result<Vec<u8>, Error> {
        let bytes = self.checked(Stage::Serialize, spirv::serialize);
        warnings.extend(self.take_remarks());
        bytes
    }

    /// Warnings and remarks of the calls so far; each is returned once.
    pub fn take_remarks(&mut self) -> Vec<Diagnostic> {
        std::mem::take(&mut self.remarks)
    }

    /// Runs `step` with diagnostics collected: an error where one was emitted or where the step gives nothing.
    fn checked<R: Send + 'static>(
        &mut self,
        stage: Stage,
        step: impl FnOnce(&mut Module) -> Result<Option<R>, Error> + Send + 'static,
    ) -> Result<R, Error> {
        let (value, remarks) = self.module.with(stage, move |module| {
            // SAFETY: the context outlives the collector.
            let collector = unsafe { Collector::attach(module.context.to_raw()) };
            accepted(stage, step(module)?, collector.take())
        })?;
        self.remarks.extend(remarks);
        Ok(value)
    }
}

/// Errors are never passed over, even where MLIR says that it succeeded; a failure without a diagnostic gets one.
fn accepted<R>(
    stage: Stage,
    value: Option<R>,
    mut diagnostics: Vec<Diagnostic>,
) -> Result<(R, Vec<Diagnostic>), Error> {
    let failed = diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error);
    match value {
        Some(value) if !failed => Ok((value, diagnostics)),
        _ => {
            if !failed {
                let message = "MLIR gave no reason".to_owned();
                diagnostics.push(Diagnostic {
                    severity: Severity::Error,
                    location: None,
                    name: None,
                    message,
                    notes: Vec::new(),
                });
            }
            Err(Error::Rejected { stage, diagnostics })
        }
    }
}

fn parse(mut text: String, name: &str) -> Result<(Module, Vec<Diagnostic>), Error> {
    // MLIR's lexer may look at the byte after the end.
    let length = text.len();
    text.push('\0');
    let registry = DialectRegistry::new();
    register_all_dialects(&registry);
    // Without threads of its own: callers run modules in parallel, and diagnostics keep their order.
    let context = Context::new_with_registry(&registry, false);
    // SAFETY: the context outlives the collector.
    let collector = unsafe { Collector::attach(context.to_raw()) };
    // SAFETY: both strings live during the call; the text has `length` bytes and a NUL after them.
    let operation = unsafe {
        let source = MlirStringRef { data: text.as_ptr().cast(), length };
        mlirOperationCreateParse(context.to_raw(), source, string_ref(name))
    };
    let diagnostics = collector.take();
    drop(collector);
    let module = (!operation.ptr.is_null()).then(|| Module { operation, context });
    let (module, remarks) = accepted(Stage::Parse, module, diagnostics)?;
    if !is_builtin_module(module.operation) {
        let message = "the text must be one `builtin.module`".to_owned();
        let error = Diagnostic { severity: Severity::Error, location: None, name: None, message, notes: Vec::new() };
        return Err(Error::Rejected { stage: Stage::Parse, diagnostics: vec![error] });
    }
    Ok((module, remarks))
}

fn is_builtin_module(operation: MlirOperation) -> bool {
    operation_name(operation) == "builtin.module"
}

pub(crate) fn operation_name(operation: MlirOperation) -> String {
    // SAFETY: the operation is alive; its name is an interned string of known length.
    let name = unsafe {
        let name = mlir_sys::mlirIdentifierStr(mlir_sys::mlirOperationGetName(operation));
        std::slice::from_raw_parts(name.data.cast::<u8>(), name.length)
    };
    String::from_utf8_lossy(name).into_owned()
}

/// The operations of a block, in order.
pub(crate) fn block_operations(block: MlirBlock) -> Vec<MlirOperation> {
    let mut operations = Vec::new();
    // SAFETY: the block is alive, and nothing is changed while its operations are listed; a null one ends them.
    unsafe {
        let mut operation = mlirBlockGetFirstOperation(block);
        while !operation.ptr.is_null() {
            operations.push(operation);
            operation = mlirOperationGetNextInBlock(operation);
        }
    }
    operations
}

pub(crate) fn run_passes(module: &mut Module, pipeline: &str) -> Result<Option<()>, Error> {
    register_all_passes();
    let manager = PassManager::new(&module.context);
    // What MLIR's own passes leave is verified once, behind the last: that is a fifth of their time.
    manager.enable_verifier(cfg!(debug_assertions));
    let mut message = String::new();
    // SAFETY: the manager is alive and `append_text` gets the string that it expects.
    let parsed = unsafe {
        let manager = mlirPassManagerGetAsOpPassManager(manager.to_raw());
        mlirParsePassPipeline(manager, string_ref(pipeline), Some(append_text), (&raw mut message).cast::<c_void>())
    };
    if parsed.value == 0 {
        return Err(Error::Pipeline { pipeline: pipeline.to_owned(), message: message.trim().to_owned() });
    }
    // SAFETY: manager and operation are alive and of one context.
    let ran = unsafe {
        mlirPassManagerRunOnOp(manager.to_raw(), module.operation).value != 0 && mlirOperationVerify(module.operation)
    };
    Ok(ran.then_some(()))
}

fn print(operation: MlirOperation, form: Form) -> String {
    let mut text = String::new();
    // SAFETY: the operation is alive, the flags are created and destroyed here, `append_text` gets its string.
    unsafe {
        let flags = mlirOpPrintingFlagsCreate();
        mlirOpPrintingFlagsEnableDebugInfo(flags, false, false);
        if form == Form::Generic {
            mlirOpPrintingFlagsPrintGenericOpForm(flags);
        }
        mlirOperationPrintWithFlags(operation, flags, Some(append_text), (&raw mut text).cast::<c_void>());
        mlirOpPrintingFlagsDestroy(flags);
    }
    if !text.ends_with('\n') {
        text.push('\n');
    }
    text
}

pub(crate) fn string_ref(text: &str) -> MlirStringRef {
    MlirStringRef { data: text.as_ptr().cast(), length: text.len() }
}

//! A module of LLVM IR: optimised, printed, emitted.

use std::ffi::{CStr, c_void};
use std::ptr;
use std::sync::Mutex;

use llvm_sys::core::{
    LLVMAddModuleFlag, LLVMConstInt, LLVMContextCreate, LLVMContextDispose, LLVMContextSetDiagnosticHandler,
    LLVMDisposeMemoryBuffer, LLVMDisposeModule, LLVMGetBufferSize, LLVMGetBufferStart, LLVMGetDiagInfoDescription,
    LLVMGetDiagInfoSeverity, LLVMGetFirstFunction, LLVMGetFirstGlobal, LLVMGetFirstUse, LLVMGetIntrinsicID,
    LLVMGetNextFunction, LLVMGetNextGlobal, LLVMGetValueName2, LLVMInt32TypeInContext, LLVMIsDeclaration,
    LLVMPrintModuleToString, LLVMSetTarget, LLVMValueAsMetadata,
};
use llvm_sys::error::{LLVMDisposeErrorMessage, LLVMErrorRef, LLVMGetErrorMessage};
use llvm_sys::prelude::{LLVMContextRef, LLVMDiagnosticInfoRef, LLVMMemoryBufferRef, LLVMModuleRef, LLVMValueRef};
use llvm_sys::target::{LLVMDisposeTargetData, LLVMSetModuleDataLayout};
use llvm_sys::target_machine::{
    LLVMCodeGenFileType, LLVMCodeGenOptLevel, LLVMCreateTargetDataLayout, LLVMTargetMachineEmitToMemoryBuffer,
};
use llvm_sys::transforms::pass_builder::{LLVMCreatePassBuilderOptions, LLVMDisposePassBuilderOptions, LLVMRunPasses};
use llvm_sys::{LLVMDiagnosticSeverity, LLVMModuleFlagBehavior};

use crate::diagnostic::{Diagnostic, Severity, lock};
use crate::error::{Error, Stage};
use crate::long;
use crate::progress::{self, Emitting};
use crate::target::{Target, TargetMachine, owned_message};
use crate::worker::Confined;

/// How much LLVM optimises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Optimization {
    /// `default<O0>`: only what makes the code legal.
    None,
    /// What kernels of a host gain from, and the most thorough code generation.
    Kernels,
    /// `default<O3>` and the most thorough code generation.
    Full,
}

/// The passes of `default<O3>` that change kernels: functions of explicit vectors, with loops whose tiles are unrolled already. What
/// vectorises scalars, and what looks again for what was simplified before, finds nothing there and takes a third of the time. Without
/// the propagation of constants after loops are unrolled depthwise convolutions would be a tenth slower
/// (`docs/rationale/kernel-code.md`). Calls are inlined: one that stayed could be bound to another function of that name.
const KERNEL_PASSES: &CStr = c"ipsccp,cgscc(inline),function<eager-inv>(\
    sroa<modify-cfg>,early-cse<memssa>,correlated-propagation,simplifycfg,instcombine<max-iterations=1;no-verify-fixpoint>,\
    reassociate,loop-mssa(loop-instsimplify,loop-simplifycfg,loop-rotate<header-duplication>,licm<allowspeculation>,\
    simple-loop-unswitch<nontrivial;trivial>),simplifycfg,loop(loop-idiom,indvars,loop-deletion,loop-unroll-full),\
    sroa<modify-cfg>,gvn<>,sccp,bdce,instcombine<max-iterations=1;no-verify-fixpoint>,adce,dse,\
    loop-mssa(licm<allowspeculation>),\
    simplifycfg<bonus-inst-threshold=1;forward-switch-cond;switch-range-to-icmp;switch-to-lookup;no-keep-loops;\
    hoist-common-insts;sink-common-insts;speculate-blocks;simplify-cond-branch>,\
    loop-vectorize,vector-combine,loop-unroll<O3>,infer-alignment,instcombine<max-iterations=1;no-verify-fixpoint>,\
    loop-mssa(licm<allowspeculation>),loop-sink,instsimplify,div-rem-pairs,simplifycfg)";

impl Optimization {
    fn pipeline(self) -> &'static CStr {
        match self {
            Optimization::None => c"default<O0>",
            Optimization::Kernels => KERNEL_PASSES,
            Optimization::Full => c"default<O3>",
        }
    }

    fn level(self) -> LLVMCodeGenOptLevel {
        match self {
            Optimization::None => LLVMCodeGenOptLevel::LLVMCodeGenLevelNone,
            Optimization::Kernels | Optimization::Full => LLVMCodeGenOptLevel::LLVMCodeGenLevelAggressive,
        }
    }
}

/// A module in an LLVM context of its own.
pub struct LlvmModule {
    module: Confined<Module>,
    warnings: Vec<Diagnostic>,
}

pub(crate) struct Module {
    pub(crate) raw: LLVMModuleRef,
    pub(crate) context: LLVMContextRef,
    /// What LLVM reported; the context's handler holds a pointer to it, so it is boxed and freed after the context.
    reported: Box<Mutex<Vec<Diagnostic>>>,
}

// SAFETY: module and context have no affinity to a thread; `Module` is their sole owner and `Confined` lends it to one
// thread at a time.
unsafe impl Send for Module {}

impl Drop for Module {
    fn drop(&mut self) {
        // SAFETY: both are owned and freed once, the module before its context.
        unsafe {
            LLVMDisposeModule(self.raw);
            LLVMContextDispose(self.context);
        }
    }
}

impl LlvmModule {
    /// A module that `fill` makes in a new context; none where `fill` gives null.
    ///
    /// # Safety
    /// `fill` must give null or a new module in the context that it gets.
    pub(crate) unsafe fn create(fill: impl FnOnce(LLVMContextRef) -> LLVMModuleRef) -> Option<Self> {
        let reported = Box::new(Mutex::new(Vec::new()));
        // SAFETY: the handler's data is boxed and lives as long as the context.
        let context = unsafe {
            let context = LLVMContextCreate();
            let user_data = (&raw const *reported).cast_mut().cast::<c_void>();
            LLVMContextSetDiagnosticHandler(context, Some(report), user_data);
            context
        };
        let raw = fill(context);
        if raw.is_null() {
            // SAFETY: the context is ours and nothing is in it.
            unsafe { LLVMContextDispose(context) };
            return None;
        }
        Some(Self { module: Confined::new(Module { raw, context, reported }), warnings: Vec::new() })
    }

    /// Sets triple and data layout and runs LLVM's passes.
    ///
    /// # Errors
    /// What [`Target::check`] gives; `Rejected`, `Llvm` or `Fatal` from LLVM.
    pub fn optimize(&mut self, target: &Target, optimization: Optimization) -> Result<(), Error> {
        let target = target.clone();
        self.checked(Stage::Optimize, move |module| {
            let machine = module.aim(&target, optimization, Stage::Optimize)?;
            // SAFETY: module and machine are alive, the pipeline is NUL-terminated, the options are freed here.
            let error = unsafe {
                long::mark(module.raw);
                let options = LLVMCreatePassBuilderOptions();
                let error = LLVMRunPasses(module.raw, optimization.pipeline().as_ptr(), machine.raw(), options);
                LLVMDisposePassBuilderOptions(options);
                long::unmark(module.raw);
                error
            };
            // SAFETY: the error is LLVM's and not consumed yet.
            unsafe { consumed(error) }.map_err(|message| Error::Llvm { stage: Stage::Optimize, message })
        })
    }

    /// Sets a number that the whole module must agree on.
    pub(crate) fn set_flag(&mut self, name: &'static str, value: u64) -> Result<(), Error> {
        self.module.with(Stage::Translate, move |module| {
            // SAFETY: module and context are alive; the name has the length that is given.
            unsafe {
                let number = LLVMConstInt(LLVMInt32TypeInContext(module.context), value, 0);
                let behavior = LLVMModuleFlagBehavior::LLVMModuleFlagBehaviorError;
                LLVMAddModuleFlag(module.raw, behavior, name.as_ptr().cast(), name.len(), LLVMValueAsMetadata(number));
            }
            Ok(())
        })
    }

    /// Names of functions and variables that are used here and defined elsewhere, sorted; LLVM's own are none.
    pub(crate) fn undefined(&mut self) -> Result<Vec<String>, Error> {
        self.module.with(Stage::Translate, |module| {
            let mut names = Vec::new();
            // SAFETY: the module is alive, and nothing is changed while its values are listed; a null one ends the lists.
            unsafe {
                let mut function = LLVMGetFirstFunction(module.raw);
                while !function.is_null() {
                    if LLVMGetIntrinsicID(function) == 0 {
                        names.extend(undefined_name(function));
                    }
                    function = LLVMGetNextFunction(function);
                }
                let mut variable = LLVMGetFirstGlobal(module.raw);
                while !variable.is_null() {
                    names.extend(undefined_name(variable));
                    variable = LLVMGetNextGlobal(variable);
                }
            }
            names.sort();
            Ok(names)
        })
    }

    /// How many functions are defined here.
    pub(crate) fn functions(&mut self) -> Result<usize, Error> {
        self.module.with(Stage::Translate, |module| Ok(module.functions()))
    }

    /// The module as textual LLVM IR.
    pub fn to_text(&mut self) -> Result<String, Error> {
        // SAFETY: the module is alive; LLVM hands over the text.
        self.module.with(Stage::Emit, |module| Ok(unsafe { owned_message(LLVMPrintModuleToString(module.raw)) }))
    }

    /// An ELF object with position-independent code. Consumes the module: code generation changes it.
    ///
    /// # Errors
    /// As for [`optimize`](Self::optimize).
    pub fn into_object(mut self, target: &Target, optimization: Optimization) -> Result<Emitted<Vec<u8>>, Error> {
        let object = self.emit(target, optimization, LLVMCodeGenFileType::LLVMObjectFile)?;
        Ok(Emitted { output: object, warnings: self.warnings })
    }

    /// The target's assembly, as [`into_object`](Self::into_object).
    ///
    /// # Errors
    /// As for [`optimize`](Self::optimize).
    pub fn into_assembly(mut self, target: &Target, optimization: Optimization) -> Result<Emitted<String>, Error> {
        let assembly = self.emit(target, optimization, LLVMCodeGenFileType::LLVMAssemblyFile)?;
        Ok(Emitted { output: String::from_utf8_lossy(&assembly).into_owned(), warnings: self.warnings })
    }

    /// Warnings of the calls so far; each is returned once.
    pub fn take_warnings(&mut self) -> Vec<Diagnostic> {
        std::mem::take(&mut self.warnings)
    }

    fn emit(
        &mut self,
        target: &Target,
        optimization: Optimization,
        kind: LLVMCodeGenFileType,
    ) -> Result<Vec<u8>, Error> {
        let target = target.clone();
        self.checked(Stage::Emit, move |module| {
            let machine = module.aim(&target, optimization, Stage::Emit)?;
            let _emitting = Emitting::alone(module.functions());
            let (mut message, mut buffer) = (ptr::null_mut(), ptr::null_mut());
            // SAFETY: module and machine are alive, the out pointers valid; LLVM hands over a message or a buffer.
            unsafe {
                let failed = LLVMTargetMachineEmitToMemoryBuffer(
                    machine.raw(),
                    module.raw,
                    kind,
                    &raw mut message,
                    &raw mut buffer,
                );
                if failed != 0 {
                    return Err(Error::Llvm { stage: Stage::Emit, message: owned_message(message) });
                }
                Ok(owned_bytes(buffer))
            }
        })
    }

    /// Runs `step`; an error that LLVM reported meanwhile is an error, warnings are kept.
    pub(crate) fn checked<R: Send + 'static>(
        &mut self,
        stage: Stage,
        step: impl FnOnce(&mut Module) -> Result<R, Error> + Send + 'static,
    ) -> Result<R, Error> {
        let (value, warnings) = self.module.with(stage, move |module| {
            let result = step(module);
            let diagnostics = std::mem::take(&mut *lock(&module.reported));
            if diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error) {
                return Err(Error::Rejected { stage, diagnostics });
            }
            Ok((result?, diagnostics))
        })?;
        self.warnings.extend(warnings);
        Ok(value)
    }
}

/// What was emitted, with LLVM's warnings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Emitted<T> {
    pub output: T,
    pub warnings: Vec<Diagnostic>,
}

impl Module {
    /// How many functions are defined here.
    fn functions(&self) -> usize {
        let mut count = 0;
        // SAFETY: the module is alive, and nothing is changed while its functions are listed; a null one ends the list.
        unsafe {
            let mut function = LLVMGetFirstFunction(self.raw);
            while !function.is_null() {
                count += usize::from(LLVMIsDeclaration(function) == 0);
                function = LLVMGetNextFunction(function);
            }
        }
        count
    }

    /// Sets triple and data layout for `target`.
    fn aim(&mut self, target: &Target, optimization: Optimization, stage: Stage) -> Result<TargetMachine, Error> {
        let machine = TargetMachine::new(target, optimization.level(), stage)?;
        let triple = crate::target::c_string(&target.triple, "the target triple")?;
        // SAFETY: the module and the machine are alive; LLVM copies the triple and the layout.
        unsafe {
            LLVMSetTarget(self.raw, triple.as_ptr());
            let layout = LLVMCreateTargetDataLayout(machine.raw());
            LLVMSetModuleDataLayout(self.raw, layout);
            LLVMDisposeTargetData(layout);
        }
        Ok(machine)
    }
}

/// The name of a global value that is used and not defined.
///
/// # Safety
/// `value` must be a global value that is alive.
unsafe fn undefined_name(value: LLVMValueRef) -> Option<String> {
    // SAFETY: the caller vouches for the value; its name lives as long and has the length that LLVM says.
    unsafe {
        if LLVMIsDeclaration(value) == 0 || LLVMGetFirstUse(value).is_null() {
            return None;
        }
        let mut length = 0;
        let name = LLVMGetValueName2(value, &raw mut length);
        let bytes = std::slice::from_raw_parts(name.cast::<u8>(), length);
        Some(String::from_utf8_lossy(bytes).into_owned())
    }
}

/// LLVM's diagnostic handler. Remarks are left out: the optimiser's are many and nobody asked for them.
extern "C" fn report(info: LLVMDiagnosticInfoRef, user_data: *mut c_void) {
    // SAFETY: the diagnostic is valid during the call and its description is handed over; `user_data` is the box of the
    // context's `Module`.
    let (kind, message, reported) = unsafe {
        let message = owned_message(LLVMGetDiagInfoDescription(info));
        (LLVMGetDiagInfoSeverity(info), message, &*user_data.cast::<Mutex<Vec<Diagnostic>>>())
    };
    let severity = match kind {
        LLVMDiagnosticSeverity::LLVMDSError => Severity::Error,
        LLVMDiagnosticSeverity::LLVMDSWarning => Severity::Warning,
        LLVMDiagnosticSeverity::LLVMDSNote => Severity::Note,
        LLVMDiagnosticSeverity::LLVMDSRemark => return progress::see(&message),
    };
    lock(reported).push(Diagnostic { severity, location: None, name: None, message, notes: Vec::new() });
}

/// # Safety
/// `error` must be null or an error of LLVM that was not consumed yet.
pub(crate) unsafe fn consumed(error: LLVMErrorRef) -> Result<(), String> {
    if error.is_null() {
        return Ok(());
    }
    // SAFETY: the error is valid; taking its message consumes it, and the message is freed once.
    unsafe {
        let message = LLVMGetErrorMessage(error);
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        LLVMDisposeErrorMessage(message);
        Err(text)
    }
}

/// Copies a buffer that LLVM handed over and frees it.
///
/// # Safety
/// `buffer` must be valid and owned by the caller.
unsafe fn owned_bytes(buffer: LLVMMemoryBufferRef) -> Vec<u8> {
    // SAFETY: the buffer is valid until it is disposed of here.
    unsafe {
        let start = LLVMGetBufferStart(buffer).cast::<u8>();
        let bytes = std::slice::from_raw_parts(start, LLVMGetBufferSize(buffer)).to_vec();
        LLVMDisposeMemoryBuffer(buffer);
        bytes
    }
}

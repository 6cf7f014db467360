//! LLVM IR of others joined with a module, and what is not for others hidden: how a model becomes an ordinary library.

use std::ptr;

use llvm_sys::LLVMLinkage;
use llvm_sys::LLVMVisibility;
use llvm_sys::core::{
    LLVMCreateMemoryBufferWithMemoryRangeCopy, LLVMDisposeMemoryBuffer, LLVMDisposeModule, LLVMGetFirstFunction,
    LLVMGetFirstGlobal, LLVMGetLinkage, LLVMGetNamedFunctionWithLength, LLVMGetNextFunction, LLVMGetNextGlobal,
    LLVMGetValueName2, LLVMIsDeclaration, LLVMSetLinkage, LLVMSetValueName2, LLVMSetVisibility,
};
use llvm_sys::ir_reader::LLVMParseIRInContext2;
use llvm_sys::linker::LLVMLinkModules2;
use llvm_sys::prelude::{LLVMContextRef, LLVMModuleRef, LLVMValueRef};

use crate::error::{Error, Stage};
use crate::llvm::LlvmModule;
use crate::target::owned_message;

impl LlvmModule {
    /// Joins `text`, LLVM IR, with this module. It sees functions of this module by the second names of `renamed`, and no other of
    /// its names, which may be any. Of both only `exported` are seen from outside then.
    ///
    /// # Errors
    /// `Llvm` for text that is no LLVM IR, or that needs a function of `renamed` that there is not; `Rejected` where the two do not
    /// go together.
    pub(crate) fn join(&mut self, text: &str, renamed: &[(&str, &str)], exported: &[String]) -> Result<(), Error> {
        let (text, exported) = (text.to_owned(), exported.to_vec());
        let renamed: Vec<(String, String)> =
            renamed.iter().map(|(from, to)| ((*from).to_owned(), (*to).to_owned())).collect();
        self.checked(Stage::Join, move |module| {
            let refused = |message: String| Error::Llvm { stage: Stage::Join, message };
            // SAFETY: module and context are alive and used by this thread alone; the parsed module is of this context, and linking
            // consumes it. Names are given with their lengths.
            unsafe {
                let functions = find(module.raw, &renamed).map_err(|name| refused(format!("no function `{name}`")))?;
                hide(module.raw, |value| functions.iter().any(|(function, _)| *function == value));
                for (function, name) in functions {
                    LLVMSetValueName2(function, name.as_ptr().cast(), name.len());
                }
                let joined = parse(module.context, &text).map_err(refused)?;
                if LLVMLinkModules2(module.raw, joined) != 0 {
                    return Err(refused("the two modules do not go together".to_owned()));
                }
                hide(module.raw, |value| exported.iter().any(|name| name.as_bytes() == name_of(value)));
            }
            Ok(())
        })
    }
}

/// The functions with the first names.
///
/// # Safety
/// The module must be alive.
unsafe fn find(module: LLVMModuleRef, names: &[(String, String)]) -> Result<Vec<(LLVMValueRef, &String)>, &String> {
    let find = |(from, to)| {
        let from: &String = from;
        // SAFETY: the caller vouches for the module; the name has the length that is given.
        let function = unsafe { LLVMGetNamedFunctionWithLength(module, from.as_ptr().cast(), from.len()) };
        if function.is_null() { Err(from) } else { Ok((function, to)) }
    };
    names.iter().map(|(from, to)| (from, to)).map(find).collect()
}

/// Parses LLVM IR as text.
///
/// # Safety
/// The context must be alive.
unsafe fn parse(context: LLVMContextRef, text: &str) -> Result<LLVMModuleRef, String> {
    let (mut module, mut message) = (ptr::null_mut(), ptr::null_mut());
    // SAFETY: the buffer copies the text, which has the length that is given, and is freed here; the out pointers are valid.
    unsafe {
        let buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(text.as_ptr().cast(), text.len(), c"library".as_ptr());
        let failed = LLVMParseIRInContext2(context, buffer, &raw mut module, &raw mut message);
        LLVMDisposeMemoryBuffer(buffer);
        if failed != 0 {
            if !module.is_null() {
                LLVMDisposeModule(module);
            }
            return Err(owned_message(message));
        }
    }
    Ok(module)
}

/// Makes internal what is defined, but for what `keep` says.
///
/// # Safety
/// The module must be alive.
unsafe fn hide(module: LLVMModuleRef, keep: impl Fn(LLVMValueRef) -> bool) {
    let hide = |value: LLVMValueRef| {
        // SAFETY: the value is one of the module's, which is alive.
        unsafe {
            // Lists that several modules add to have a linkage of their own, which says how.
            let internal = LLVMIsDeclaration(value) == 0 && LLVMGetLinkage(value) != LLVMLinkage::LLVMAppendingLinkage;
            if internal && !keep(value) {
                LLVMSetVisibility(value, LLVMVisibility::LLVMDefaultVisibility);
                LLVMSetLinkage(value, LLVMLinkage::LLVMInternalLinkage);
            }
        }
    };
    // SAFETY: the caller vouches for the module; nothing is added or removed while its values are listed.
    unsafe {
        let mut function = LLVMGetFirstFunction(module);
        while !function.is_null() {
            hide(function);
            function = LLVMGetNextFunction(function);
        }
        let mut variable = LLVMGetFirstGlobal(module);
        while !variable.is_null() {
            hide(variable);
            variable = LLVMGetNextGlobal(variable);
        }
    }
}

/// # Safety
/// The value must be alive for as long as its name is looked at.
unsafe fn name_of<'v>(value: LLVMValueRef) -> &'v [u8] {
    let mut length = 0;
    // SAFETY: the name lives as long as the value and has the length that LLVM says.
    unsafe { std::slice::from_raw_parts(LLVMGetValueName2(value, &raw mut length).cast::<u8>(), length) }
}

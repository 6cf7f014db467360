//! Functions with a long block are not vectorized: LLVM's SLP vectorizer takes the square of a block's length.
//!
//! Host programs of hundreds of tensors have such blocks; there is nothing in them that vectors make faster. Blocks of
//! kernels are far shorter. LLVM 22 has no option that turns the vectorizer off for one function, but the vectorizer skips
//! functions with the attribute `noimplicitfloat`. Code generation gives the attribute other effects, so it is removed before.

use std::iter;

use llvm_sys::LLVMAttributeFunctionIndex;
use llvm_sys::core::{
    LLVMAddAttributeAtIndex, LLVMCreateEnumAttribute, LLVMGetEnumAttributeKindForName, LLVMGetFirstBasicBlock,
    LLVMGetFirstFunction, LLVMGetFirstInstruction, LLVMGetModuleContext, LLVMGetNextBasicBlock, LLVMGetNextFunction,
    LLVMGetNextInstruction, LLVMRemoveEnumAttributeAtIndex,
};
use llvm_sys::prelude::{LLVMModuleRef, LLVMValueRef};

/// Most instructions of a block that is vectorized.
const LENGTH: usize = 2048;
const ATTRIBUTE: &str = "noimplicitfloat";

/// Marks the functions of `module` that have a block too long to vectorize.
///
/// # Safety
/// `module` must be alive, and nobody else may use it meanwhile.
pub(crate) unsafe fn mark(module: LLVMModuleRef) {
    // SAFETY: the caller vouches for the module; the attribute is of its context.
    unsafe {
        let attribute = LLVMCreateEnumAttribute(LLVMGetModuleContext(module), kind(), 0);
        for function in functions(module).filter(|function| is_long(*function)) {
            LLVMAddAttributeAtIndex(function, LLVMAttributeFunctionIndex, attribute);
        }
    }
}

/// Takes the marks away.
///
/// # Safety
/// As for [`mark`].
pub(crate) unsafe fn unmark(module: LLVMModuleRef) {
    // SAFETY: the caller vouches for the module; an attribute that a function does not have may be removed.
    unsafe {
        for function in functions(module) {
            LLVMRemoveEnumAttributeAtIndex(function, LLVMAttributeFunctionIndex, kind());
        }
    }
}

fn kind() -> u32 {
    // SAFETY: the name has the length that is given.
    unsafe { LLVMGetEnumAttributeKindForName(ATTRIBUTE.as_ptr().cast(), ATTRIBUTE.len()) }
}

/// # Safety
/// `module` must be alive while the functions are listed, and must not get others.
unsafe fn functions(module: LLVMModuleRef) -> impl Iterator<Item = LLVMValueRef> {
    // SAFETY: the caller vouches for the module; null ends the list.
    unsafe { linked(LLVMGetFirstFunction(module), |function| LLVMGetNextFunction(function)) }
}

/// # Safety
/// `function` must be a function that is alive.
unsafe fn is_long(function: LLVMValueRef) -> bool {
    // SAFETY: the caller vouches for the function; null ends the lists.
    unsafe {
        linked(LLVMGetFirstBasicBlock(function), |block| LLVMGetNextBasicBlock(block)).any(|block| {
            let all = linked(LLVMGetFirstInstruction(block), |instruction| LLVMGetNextInstruction(instruction));
            all.take(LENGTH + 1).count() > LENGTH
        })
    }
}

/// A list of LLVM's, which null ends.
fn linked<T>(first: *mut T, next: impl Fn(*mut T) -> *mut T) -> impl Iterator<Item = *mut T> {
    let some = |pointer: *mut T| (!pointer.is_null()).then_some(pointer);
    iter::successors(some(first), move |pointer| some(next(*pointer)))
}

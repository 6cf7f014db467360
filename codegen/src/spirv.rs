//! SPIR-V from MLIR's spirv dialect.
//!
//! MLIR's C interface has no serializer, but a pass that has: `gpu-module-to-binary` serializes the `spirv.module` inside a
//! `gpu.module` with a target, and leaves the bytes in an attribute.

use mlir_sys::{
    MlirAttribute, MlirBlock, MlirOperation, MlirStringRef, mlirArrayAttrGetElement, mlirArrayAttrGetNumElements,
    mlirAttributeIsAArray, mlirAttributeIsAGPUObjectAttr, mlirAttributePrint, mlirBlockAppendOwnedOperation,
    mlirGPUObjectAttrGetObject, mlirOperationCreateParse, mlirOperationGetFirstRegion,
    mlirOperationGetInherentAttributeByName, mlirOperationRemoveFromParent, mlirRegionGetFirstBlock,
};
use std::ffi::c_void;

use crate::diagnostic::append_text;
use crate::error::Error;
use crate::mlir::{Module, block_operations, operation_name, run_passes, string_ref};

const MODULE: &str = "spirv.module";
const BINARY: &str = "gpu.binary";
const PIPELINE: &str = "builtin.module(gpu-module-to-binary)";

/// Serializes the one `spirv.module`; nothing where MLIR said why it cannot.
pub(crate) fn serialize(module: &mut Module) -> Result<Option<Vec<u8>>, Error> {
    let top = block_of(module.operation);
    let mut found = block_operations(top).into_iter().filter(|op| operation_name(*op) == MODULE);
    let (Some(spirv), None) = (found.next(), found.next()) else {
        let count = block_operations(top).into_iter().filter(|op| operation_name(*op) == MODULE).count();
        return Err(Error::SpirvModules { count });
    };
    // SAFETY: the operation is alive; a missing attribute is null.
    let vce = unsafe { mlirOperationGetInherentAttributeByName(spirv, string_ref("vce_triple")) };
    if vce.ptr.is_null() {
        return Err(Error::SpirvVersion);
    }
    // The name is not seen outside: modules inside have names of their own.
    let target = format!("#spirv.target_env<{}, #spirv.resource_limits<>>", text_of(vce));
    let wrapper = format!("gpu.module @spirv [{target}] {{}}\0");
    // SAFETY: the text lives during the call and has a NUL after it.
    let wrapper = unsafe {
        let source = MlirStringRef { data: wrapper.as_ptr().cast(), length: wrapper.len() - 1 };
        mlirOperationCreateParse(module.context.to_raw(), source, string_ref("target"))
    };
    if wrapper.ptr.is_null() {
        return Ok(None);
    }
    // SAFETY: all three are alive; what is taken out of one block is owned until it is in another.
    unsafe {
        mlirOperationRemoveFromParent(spirv);
        mlirBlockAppendOwnedOperation(block_of(wrapper), spirv);
        mlirBlockAppendOwnedOperation(top, wrapper);
    }
    if run_passes(module, PIPELINE)?.is_none() {
        return Ok(None);
    }
    let binary = block_operations(block_of(module.operation)).into_iter().find(|op| operation_name(*op) == BINARY);
    Ok(binary.and_then(object_of))
}

/// The bytes in a `gpu.binary`.
fn object_of(binary: MlirOperation) -> Option<Vec<u8>> {
    // SAFETY: the operation is alive; kinds of attributes are asked before they are taken for such; the bytes belong to
    // the context, and are copied.
    unsafe {
        let objects = mlirOperationGetInherentAttributeByName(binary, string_ref("objects"));
        if objects.ptr.is_null() || !mlirAttributeIsAArray(objects) || mlirArrayAttrGetNumElements(objects) != 1 {
            return None;
        }
        let object = mlirArrayAttrGetElement(objects, 0);
        if !mlirAttributeIsAGPUObjectAttr(object) {
            return None;
        }
        let bytes = mlirGPUObjectAttrGetObject(object);
        Some(std::slice::from_raw_parts(bytes.data.cast::<u8>(), bytes.length).to_vec())
    }
}

/// The first block of an operation's first region.
fn block_of(operation: MlirOperation) -> MlirBlock {
    // SAFETY: the operation is alive, and modules have a region with a block.
    unsafe { mlirRegionGetFirstBlock(mlirOperationGetFirstRegion(operation)) }
}

fn text_of(attribute: MlirAttribute) -> String {
    let mut text = String::new();
    // SAFETY: the attribute is alive and `append_text` gets the string that it expects.
    unsafe { mlirAttributePrint(attribute, Some(append_text), (&raw mut text).cast::<c_void>()) };
    text
}

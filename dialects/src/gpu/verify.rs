//! What gpu's operations check beyond their declarations.

use sutura_ir::op_def::{InferInput, InferTypes, OpView, Verify};
use sutura_ir::smallvec::{SmallVec, smallvec};
use sutura_ir::{Diagnostic, Diagnostics, OpRef, Reported, Type};

use super::ops::{GPUFuncOp, ShuffleOp};
use crate::show;

impl Verify for GPUFuncOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        verify_function(GPUFuncOp::from_ref(op)).map_err(|d| diags.report(d))
    }
}

fn verify_function(func: GPUFuncOp<'_>) -> Result<(), Diagnostic> {
    let op = func.op_ref();
    if op.symbol_name().is_none() {
        return Err(op.error("requires string attribute 'sym_name'"));
    }
    if func.is_kernel() && !func.results().is_empty() {
        return Err(op.error("expected void return type for kernel function"));
    }
    for (name, sizes) in [("known_block_size", func.known_block_size()), ("known_grid_size", func.known_grid_size())] {
        if sizes.is_some_and(|sizes| sizes.len() != 3 || sizes.iter().any(|size| *size < 1)) {
            return Err(op.error(format!("attribute '{name}' must have three sizes of at least 1: x, y, z")));
        }
    }
    let Some(entry) = func.body().entry() else { return Err(op.error("expected body with at least one block")) };
    let (inputs, args) = (func.inputs(), entry.args());
    let least = inputs.len() + func.workgroup_buffers();
    if args.len() < least {
        return Err(op.error(format!("expected at least {least} arguments to body region")));
    }
    for (i, (arg, expected)) in args.iter().zip(inputs).enumerate() {
        let found = op.inside().ty(*arg);
        if found != *expected {
            let (found, expected) = (show::ty(op.cx, found), show::ty(op.cx, *expected));
            return Err(
                op.error(format!("expected body region argument #{i} to be of type '{expected}', got '{found}'"))
            );
        }
    }
    Ok(())
}

impl InferTypes for ShuffleOp<'_> {
    fn infer(input: InferInput<'_>) -> Result<SmallVec<[Type; 2]>, String> {
        let value = input.operands.first().ok_or("takes a value")?;
        Ok(smallvec![*value, Type::I1])
    }
}

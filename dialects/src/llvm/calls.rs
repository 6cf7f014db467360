//! Functions as callables: what is called, what is handed back, and what may be inlined.

use std::ops::Range;

use sutura_ir::interfaces::{CallOp as CallInterface, CallableOp, Callee, Inliner};
use sutura_ir::{Block, DialectBuilder, Op, OpRef, Rewriter, Value};

use super::attrs::Linkage;
use super::ops::{BrOp, ReturnOp};
use super::symbols::{CallOp, FuncOp};

/// Attaches the hooks.
pub(super) fn register(d: &mut DialectBuilder<'_>) {
    d.op_interface::<crate::llvm::CallOp<'_>, dyn CallInterface>(&Call)
        .op_interface::<FuncOp<'_>, dyn CallableOp>(&Function);
}

struct Call;

impl CallInterface for Call {
    fn callee(&self, op: OpRef<'_>) -> Option<Callee> {
        match op.prop("callee") {
            Some(symbol) => Some(Callee::Symbol(symbol)),
            None => op.operand_of(0).map(Callee::Value),
        }
    }

    fn arguments(&self, op: OpRef<'_>) -> Range<usize> {
        let all = op.operand_group(0).unwrap_or_default();
        // Without a name the first of them is the address.
        let first = all.start + usize::from(op.prop("callee").is_none());
        first.min(all.end)..all.end
    }
}

struct Function;

impl CallableOp for Function {
    fn callable_region(&self, op: OpRef<'_>) -> Option<usize> {
        op.region(0).is_some_and(|r| !r.is_empty()).then_some(0)
    }
}

/// Returns become branches.
pub(super) struct Functions;

impl Inliner for Functions {
    fn may_inline_call(&self, call: OpRef<'_>, callable: OpRef<'_>) -> Result<(), String> {
        let reason = |text: &str| Err(text.to_string());
        let (Some(call), Some(function)) = (call.as_::<CallOp<'_>>(), callable.as_::<FuncOp<'_>>()) else {
            return reason("only calls of llvm.func are inlined");
        };
        if call.no_inline() || function.no_inline() || function.optimize_none() {
            return reason("inlining is not wanted");
        }
        // What the attributes promise would be lost, or would have to be made true by copies.
        if function.arg_attrs().is_some() || function.res_attrs().is_some() || call.arg_attrs().is_some() {
            return reason("arguments or results have attributes");
        }
        if function.personality().is_some() || call.op_bundle_operands().len() > 0 {
            return reason("the callee has a personality, or the call operand bundles");
        }
        match function.linkage() {
            Linkage::Weak | Linkage::Linkonce | Linkage::ExternWeak => reason("another definition may be linked"),
            _ => Ok(()),
        }
    }

    fn branch_to(&self, rw: &mut Rewriter<'_>, terminator: Op, dest: Block) -> bool {
        if !rw.op_ref(terminator).is::<ReturnOp<'_>>() {
            return false;
        }
        let values: Vec<Value> = rw.body().operands(terminator).collect();
        let loc = rw.body().loc(terminator);
        rw.set_before(terminator);
        BrOp::build(rw, loc, &values, dest);
        rw.erase_op(terminator);
        true
    }

    fn has_branch(&self) -> bool {
        true
    }
}

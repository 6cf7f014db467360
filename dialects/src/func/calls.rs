//! Functions as callables: what is called, what is handed back, and what may be inlined.

use std::ops::Range;

use sutura_ir::interfaces::{CallOp as CallInterface, CallableOp, Callee, Inliner};
use sutura_ir::{Block, DialectBuilder, Op, OpRef, Rewriter, Value};

use super::ops::{CallOp, FuncOp, ReturnOp};
use super::sizes::Signature;
use crate::cf;

/// Attaches the hooks.
pub(super) fn register(d: &mut DialectBuilder<'_>) {
    d.op_interface::<crate::func::CallOp<'_>, dyn CallInterface>(&Call)
        .op_interface::<FuncOp<'_>, dyn CallableOp>(&Function)
        .dialect_interface::<dyn Inliner>(&Functions);
}

struct Call;

impl CallInterface for Call {
    fn callee(&self, op: OpRef<'_>) -> Option<Callee> {
        op.prop("callee").map(Callee::Symbol)
    }

    fn arguments(&self, op: OpRef<'_>) -> Range<usize> {
        0..op.num_operands()
    }
}

struct Function;

impl CallableOp for Function {
    fn callable_region(&self, op: OpRef<'_>) -> Option<usize> {
        op.region(0).is_some_and(|r| !r.is_empty()).then_some(0)
    }
}

/// Returns become branches of cf.
struct Functions;

impl Inliner for Functions {
    fn may_inline_call(&self, call: OpRef<'_>, callable: OpRef<'_>) -> Result<(), String> {
        if call.as_::<CallOp<'_>>().is_some_and(CallOp::no_inline) {
            return Err("the call is marked 'no_inline'".to_string());
        }
        if callable.as_::<FuncOp<'_>>().is_some_and(FuncOp::no_inline) {
            return Err("the function is marked 'no_inline'".to_string());
        }
        Ok(())
    }

    fn adapts(&self, call: OpRef<'_>, callable: OpRef<'_>) -> bool {
        call.is::<CallOp<'_>>() && callable.as_::<FuncOp<'_>>().is_some_and(|f| Signature::of(f).says_anything())
    }

    fn may_adapt(&self, call: OpRef<'_>, callable: OpRef<'_>) -> Result<(), String> {
        super::adapt::may(call, callable)
    }

    fn adapt(&self, rw: &mut Rewriter<'_>, call: Op, callable: OpRef<'_>, ops: &[Op]) {
        super::adapt::adapt(rw, call, callable, ops);
    }

    fn may_inline_op(&self, op: OpRef<'_>) -> Result<(), String> {
        if op.is::<FuncOp<'_>>() { Err("it defines a function inside".to_string()) } else { Ok(()) }
    }

    fn branch_to(&self, rw: &mut Rewriter<'_>, terminator: Op, dest: Block) -> bool {
        if !rw.op_ref(terminator).is::<ReturnOp<'_>>() {
            return false;
        }
        let values: Vec<Value> = rw.body().operands(terminator).collect();
        let loc = rw.body().loc(terminator);
        rw.set_before(terminator);
        cf::BranchOp::build(rw, loc, &values, dest);
        rw.erase_op(terminator);
        true
    }

    fn has_branch(&self) -> bool {
        true
    }
}

//! Calls, what can be called, and whether it may be put in the place of the call.

use std::ops::Range;

use crate::attrs::Attr;
use crate::body::{Block, Op, Value};
use crate::op_ref::OpRef;
use crate::rewriter::Rewriter;

/// What a call calls.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Callee {
    /// The callable that this symbol reference names.
    Symbol(Attr),
    /// Whatever this value is.
    Value(Value),
}

/// An op that transfers control to a callable and comes back with its results.
pub trait CallOp: Send + Sync {
    /// What is called; `None` when it is no callable of the program.
    fn callee(&self, op: OpRef<'_>) -> Option<Callee>;

    /// Numbers of the operands that become the arguments of the callable's entry block.
    fn arguments(&self, op: OpRef<'_>) -> Range<usize>;
}

/// An op that can be called.
pub trait CallableOp: Send + Sync {
    /// Number of the region that runs when it is called; `None` for one that is defined elsewhere. Terminators of that
    /// region without successors and with [`crate::Traits::ReturnLike`] hand their operands to the caller.
    fn callable_region(&self, op: OpRef<'_>) -> Option<usize>;
}

/// What a dialect lets the inliner do with its ops. Attached to the dialect, not to an op: see
/// [`crate::Registry::attach_to_dialect`]. An op of a dialect without it is not inlined.
pub trait Inliner: Send + Sync {
    /// Whether `callable` may take the place of `call`, one of the dialect's.
    ///
    /// # Errors
    /// Says why not.
    fn may_inline_call(&self, _call: OpRef<'_>, _callable: OpRef<'_>) -> Result<(), String> {
        Ok(())
    }

    /// Whether the ops of `callable` are others where `call`, one of the dialect's, stands. Then types may differ too, and
    /// [`Inliner::adapt`] makes the copies fit. Where they are the same the types must be.
    fn adapts(&self, _call: OpRef<'_>, _callable: OpRef<'_>) -> bool {
        false
    }

    /// Whether ops of `callable` that are others at `call` can be made fit.
    ///
    /// # Errors
    /// Says why not.
    fn may_adapt(&self, _call: OpRef<'_>, _callable: OpRef<'_>) -> Result<(), String> {
        Ok(())
    }

    /// Makes `ops`, copies of all ops of `callable`, what they are where `call`, one of the dialect's, stands. The copies are in
    /// the caller's region and not yet in the place of the call. Only asked for where [`Inliner::adapts`] and
    /// [`Inliner::may_adapt`] said yes.
    fn adapt(&self, _rw: &mut Rewriter<'_>, _call: Op, _callable: OpRef<'_>, _ops: &[Op]) {}

    /// Whether `op`, of this dialect, may be copied to another callable.
    ///
    /// # Errors
    /// Says why not.
    fn may_inline_op(&self, _op: OpRef<'_>) -> Result<(), String> {
        Ok(())
    }

    /// The values that `terminator`, the copy of one that ends a callable's only block, hands to the caller. The
    /// inliner erases it. The default: its operands.
    fn returned(&self, terminator: OpRef<'_>) -> Vec<Value> {
        terminator.operands().collect()
    }

    /// Puts a branch to `dest`, whose arguments are the call's results, in the place of `terminator`. False when the
    /// dialect cannot: callables with several blocks are not inlined then.
    fn branch_to(&self, _rw: &mut Rewriter<'_>, _terminator: Op, _dest: Block) -> bool {
        false
    }

    /// True when [`Inliner::branch_to`] works.
    fn has_branch(&self) -> bool {
        false
    }
}

/// An [`Inliner`] that allows everything, for dialects of computations.
#[derive(Clone, Copy, Debug)]
pub struct InlineCallables;

impl Inliner for InlineCallables {}

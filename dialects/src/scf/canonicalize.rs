//! Canonicalization patterns of scf operations.

use sutura_ir::op_def::{Canonicalize, OpView};
use sutura_ir::pattern::PatternSet;
use sutura_ir::{Block, Op, Rewriter, Value};

use super::ops::{ForOp, IfOp};
use super::trip_count::trip_count;

impl Canonicalize for ForOp<'_> {
    fn patterns(set: &mut PatternSet) {
        set.add::<ForOp<'_>>("loop_without_iterations", loop_without_iterations);
        set.add::<ForOp<'_>>("loop_of_one_iteration", loop_of_one_iteration);
    }
}

impl Canonicalize for IfOp<'_> {
    fn patterns(set: &mut PatternSet) {
        set.add::<IfOp<'_>>("if_on_constant", if_on_constant);
    }
}

const NOT_THAT_OFTEN: &str = "bounds and step are not constants with which it runs that often";

fn loop_without_iterations(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let found: Option<Vec<Value>> = {
        let for_op = rw.view::<ForOp<'_>>(op)?;
        (trip_count(for_op) == Some(0)).then(|| for_op.init_args().collect())
    };
    let inits = rw.require(op, found, NOT_THAT_OFTEN)?;
    rw.replace_op(op, &inits);
    Some(())
}

fn loop_of_one_iteration(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let found = (|| {
        let for_op = rw.view::<ForOp<'_>>(op).filter(|for_op| trip_count(*for_op) == Some(1))?;
        let args: Vec<Value> = std::iter::once(for_op.lower_bound()).chain(for_op.init_args()).collect();
        Some((for_op.region().entry()?.block, args))
    })();
    let (block, args) = rw.require(op, found, NOT_THAT_OFTEN)?;
    replace_by_block(op, rw, block, &args)
}

fn if_on_constant(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let found = (|| {
        let if_op = rw.view::<IfOp<'_>>(op)?;
        let this = if_op.op_ref();
        let condition = rw.cx().as_bool(this.constant(if_op.condition())?)?;
        let region = if condition { if_op.then_region() } else { if_op.else_region() };
        Some(region.entry().map(|b| b.block))
    })();
    match rw.require(op, found, "the condition is no constant")? {
        Some(block) => replace_by_block(op, rw, block, &[]),
        None => {
            rw.erase_op(op);
            Some(())
        }
    }
}

/// Moves the ops of `block` before `op` and replaces `op` by what its terminator yields.
pub(super) fn replace_by_block(op: Op, rw: &mut Rewriter<'_>, block: Block, args: &[Value]) -> Option<()> {
    let terminator = rw.body().last_op(block)?;
    rw.inline_block_before(block, op, args);
    let yielded: Vec<Value> = rw.body().operands(terminator).collect();
    rw.erase_op(terminator);
    rw.replace_op(op, &yielded);
    Some(())
}

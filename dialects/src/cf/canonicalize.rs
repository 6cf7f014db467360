//! Canonicalization patterns of cf operations.

use sutura_ir::op_def::Canonicalize;
use sutura_ir::pattern::PatternSet;
use sutura_ir::{Attr, Block, Op, Rewriter, Value};

use super::ops::{AssertOp, BranchOp, CondBranchOp};
use crate::arith::SelectOp;

impl Canonicalize for AssertOp<'_> {
    fn patterns(set: &mut PatternSet) {
        set.add::<AssertOp<'_>>("assert_true", assert_true);
    }
}

impl Canonicalize for CondBranchOp<'_> {
    fn patterns(set: &mut PatternSet) {
        set.add::<CondBranchOp<'_>>("branch_on_constant", branch_on_constant);
        set.add::<CondBranchOp<'_>>("branch_to_one_block", branch_to_one_block);
    }
}

/// `assert true` goes.
fn assert_true(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let this = rw.op_ref(op);
    let holds = (this.constant(this.operand(0)) == Some(Attr::TRUE)).then_some(());
    rw.require(op, holds, "the condition is not the constant `true`")?;
    rw.erase_op(op);
    Some(())
}

/// `cond_br true, ^a, ^b` to `br ^a`.
fn branch_on_constant(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let taken = (|| {
        let branch = rw.view::<CondBranchOp<'_>>(op)?;
        let this = rw.op_ref(op);
        Some(if rw.cx().as_bool(this.constant(branch.condition())?)? {
            (branch.true_dest(), branch.true_operands().collect::<Vec<Value>>())
        } else {
            (branch.false_dest(), branch.false_operands().collect())
        })
    })();
    let (dest, operands) = rw.require(op, taken, "the condition is no constant")?;
    replace_by_branch(op, rw, dest, &operands)
}

/// `cond_br %c, ^a(%x), ^a(%y)` to `br ^a(select %c, %x, %y)`, without a `select` where the values are the same.
/// Where other branches go to the block too, the values have to be the same: the side taken says something else there.
fn branch_to_one_block(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let found = {
        let branch = rw.view::<CondBranchOp<'_>>(op)?;
        let pairs: Vec<(Value, Value)> = branch.true_operands().zip(branch.false_operands()).collect();
        (branch.true_dest() == branch.false_dest()).then_some((branch.true_dest(), branch.condition(), pairs))
    };
    let (dest, condition, pairs) = rw.require(op, found, "it goes to two different blocks")?;
    if pairs.iter().any(|(x, y)| x != y) && !is_only_branch(op, rw, dest) {
        let reason = "it passes different values, and other branches go to the block, too";
        return rw.notify_match_failure(op, || reason.to_string());
    }
    let loc = rw.body().loc(op);
    rw.set_before(op);
    let values: Vec<Value> =
        pairs.into_iter().map(|(x, y)| if x == y { x } else { SelectOp::value(rw, loc, condition, x, y) }).collect();
    replace_by_branch(op, rw, dest, &values)
}

/// True when nothing but `op` branches to `dest`.
fn is_only_branch(op: Op, rw: &Rewriter<'_>, dest: Block) -> bool {
    let body = rw.body();
    let Some(region) = body.block_region(dest) else { return false };
    let others = body.blocks(region).filter_map(|block| body.last_op(block)).filter(|branch| *branch != op);
    others.into_iter().all(|branch| !body.successors(branch).contains(&dest))
}

fn replace_by_branch(op: Op, rw: &mut Rewriter<'_>, dest: Block, operands: &[Value]) -> Option<()> {
    let loc = rw.body().loc(op);
    rw.set_before(op);
    BranchOp::build(rw, loc, operands, dest);
    rw.erase_op(op);
    Some(())
}

//! Canonicalization patterns of cf operations.

use sutura_ir::op_def::Canonicalize;
use sutura_ir::pattern::PatternSet;
use sutura_ir::{Attr, Op, Rewriter, Value};

use super::ops::{AssertOp, BranchOp, CondBranchOp};

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
    (this.constant(this.operand(0)) == Some(Attr::TRUE)).then_some(())?;
    rw.erase_op(op);
    Some(())
}

/// `cond_br true, ^a, ^b` to `br ^a`.
fn branch_on_constant(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let (dest, operands): (_, Vec<Value>) = {
        let branch = rw.view::<CondBranchOp<'_>>(op)?;
        let this = rw.op_ref(op);
        if rw.cx().as_bool(this.constant(branch.condition())?)? {
            (branch.true_dest(), branch.true_operands().collect())
        } else {
            (branch.false_dest(), branch.false_operands().collect())
        }
    };
    replace_by_branch(op, rw, dest, &operands)
}

/// `cond_br %c, ^a(%x), ^a(%x)` to `br ^a(%x)`.
fn branch_to_one_block(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let (dest, operands): (_, Vec<Value>) = {
        let branch = rw.view::<CondBranchOp<'_>>(op)?;
        let same = branch.true_dest() == branch.false_dest() && branch.true_operands().eq(branch.false_operands());
        same.then(|| (branch.true_dest(), branch.true_operands().collect()))?
    };
    replace_by_branch(op, rw, dest, &operands)
}

fn replace_by_branch(op: Op, rw: &mut Rewriter<'_>, dest: sutura_ir::Block, operands: &[Value]) -> Option<()> {
    let loc = rw.body().loc(op);
    rw.set_before(op);
    BranchOp::build(rw, loc, operands, dest);
    rw.erase_op(op);
    Some(())
}

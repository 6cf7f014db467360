//! Canonicalization patterns of cf operations.
//!
//! Blocks that only go on are passed by when regions are simplified, whatever branches to them.

mod switch;

use sutura_ir::op_def::Canonicalize;
use sutura_ir::pattern::PatternSet;
use sutura_ir::{Attr, Block, Body, Op, Region, Rewriter, Value};

use super::ops::{AssertOp, BranchOp, CondBranchOp};
use crate::arith::{ConstantOp, SelectOp};

impl Canonicalize for AssertOp<'_> {
    fn patterns(set: &mut PatternSet) {
        set.add::<AssertOp<'_>>("assert_true", assert_true);
    }
}

impl Canonicalize for CondBranchOp<'_> {
    fn patterns(set: &mut PatternSet) {
        set.add::<CondBranchOp<'_>>("branch_on_constant", branch_on_constant);
        set.add::<CondBranchOp<'_>>("branch_to_one_block", branch_to_one_block);
        set.add::<CondBranchOp<'_>>("condition_known_in_sides", condition_known_in_sides);
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
    if pairs.iter().any(|(x, y)| x != y) && edges_to(rw.body(), dest) != 2 {
        let reason = "it passes different values, and other branches go to the block, too";
        return rw.notify_match_failure(op, || reason.to_string());
    }
    let loc = rw.body().loc(op);
    rw.set_before(op);
    let values: Vec<Value> =
        pairs.into_iter().map(|(x, y)| if x == y { x } else { SelectOp::value(rw, loc, condition, x, y) }).collect();
    replace_by_branch(op, rw, dest, &values)
}

/// In a block that is entered by the true side only, the condition is true; in one of the false side, false.
fn condition_known_in_sides(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let (condition, sides) = {
        let branch = rw.view::<CondBranchOp<'_>>(op)?;
        (branch.condition(), [(branch.true_dest(), true), (branch.false_dest(), false)])
    };
    let more = (!rw.body().has_one_use(condition)).then_some(());
    rw.require(op, more, "nothing else uses the condition")?;
    let mut changed = None;
    for (dest, known) in sides {
        let region = rw.body().block_region(dest)?;
        let inside = |body: &Body, user: Op, _: usize| block_around(body, user, region) == Some(dest);
        let body = rw.body();
        if !body.uses(condition).any(|u| inside(body, u.owner, u.index)) || edges_to(body, dest) != 1 {
            continue;
        }
        let (loc, value) = (body.loc(op), rw.cx().bool_attr(known));
        rw.set_before(op);
        let value = ConstantOp::value(rw, loc, value);
        rw.replace_uses_if(condition, value, inside);
        changed = Some(());
    }
    rw.require(op, changed, "no side that this branch alone enters uses the condition")
}

/// The block of `region` that `op` is in, perhaps deep inside.
fn block_around(body: &Body, op: Op, region: Region) -> Option<Block> {
    let mut at = op;
    loop {
        let block = body.op_block(at)?;
        if body.block_region(block) == Some(region) {
            return Some(block);
        }
        at = body.parent_op(at)?;
    }
}

/// How often branches go to `dest`; the entry is entered once more.
fn edges_to(body: &Body, dest: Block) -> usize {
    let Some(region) = body.block_region(dest) else { return 0 };
    let branches = body.blocks(region).filter_map(|block| body.last_op(block));
    let edges: usize =
        branches.map(|branch| body.successors(branch).iter().filter(|next| **next == dest).count()).sum();
    edges + usize::from(body.region_entry(region) == Some(dest))
}

fn replace_by_branch(op: Op, rw: &mut Rewriter<'_>, dest: Block, operands: &[Value]) -> Option<()> {
    let loc = rw.body().loc(op);
    rw.set_before(op);
    BranchOp::build(rw, loc, operands, dest);
    rw.erase_op(op);
    Some(())
}

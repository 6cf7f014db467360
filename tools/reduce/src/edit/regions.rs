//! Regions and blocks.

use sutura_ir::interfaces::BranchOp;
use sutura_ir::{Op, OpRef, OpState, Rewriter, Value};

use super::operations::{other_value, zero_before};
use super::{Change, Substitute};

/// Ops with regions whose contents could stand in their place.
pub(super) fn offer_unwrapping(op: OpRef<'_>, out: &mut Vec<Change>) {
    if op.body.nested(op.op).is_none() && op.regions().any(|r| !r.is_empty()) {
        out.push(Change::Unwrap);
    }
}

/// Branches with a choice, and bodies with several blocks.
pub(super) fn offer_branches(op: OpRef<'_>, out: &mut Vec<Change>) {
    if op.successors().len() > 1 {
        out.extend((0..op.successors().len()).map(Change::Successor));
    }
    if op.successors().len() == 1 {
        out.push(Change::Merge);
    }
    let several = |op: OpRef<'_>| op.regions().any(|r| r.blocks().nth(1).is_some());
    if op.body.nested(op.op).is_some() && several(op) {
        out.push(Change::Blocks);
    }
}

/// Moves the ops of the first region with one block before `op` and erases `op`.
pub(super) fn unwrap(rw: &mut Rewriter<'_>, op: Op) -> Option<()> {
    let body = rw.body();
    if body.nested(op).is_some() {
        return None;
    }
    let region = body.regions(op).find(|r| body.region_entry(*r).is_some())?;
    let block = body.region_entry(region)?;
    if body.next_block(block).is_some() {
        return None;
    }
    let types: Vec<_> = body.block_args(block).iter().map(|v| body.ty(*v)).collect();
    let mut args = Vec::new();
    for ty in types {
        let value = other_value(rw.body(), op, ty, &[]).or_else(|| zero_before(rw, op, ty))?;
        args.push(value);
    }
    let last = rw.body().last_op(block);
    rw.inline_block_before(block, op, &args);
    let yielded: Vec<Value> = last.map(|l| rw.body().operands(l).collect()).unwrap_or_default();
    let results: Vec<Value> = rw.body().results(op).collect();
    for result in results {
        let ty = rw.body().ty(result);
        let value = yielded.iter().copied().find(|v| rw.body().ty(*v) == ty);
        let value = value.or_else(|| zero_before(rw, op, ty));
        rw.replace_all_uses(result, value.or_else(|| other_value(rw.body(), op, ty, &[]))?);
    }
    // What ended the region has no meaning outside it.
    if let Some(last) = last.filter(|l| rw.body().num_results(*l) == 0) {
        rw.erase_op(last);
    }
    super::operations::erase(rw, op, Substitute::Value, &[])
}

/// Replaces a branch by an unconditional one to successor `index`.
pub(super) fn always_to(rw: &mut Rewriter<'_>, op: Op, index: usize) -> Option<()> {
    let cx = rw.cx();
    let branch = cx.op_name("cf.br");
    branch.def(cx)?;
    let view = rw.op_ref(op);
    let range = view.interface::<dyn BranchOp>()?.successor_operands(view, index);
    let operands: Vec<Value> = view.operands().skip(range.start).take(range.len()).collect();
    let (loc, target) = (view.loc(), *view.successors().get(index)?);
    if view.num_results() > 0 {
        return None;
    }
    rw.set_before(op);
    rw.create(OpState::new(branch, loc).operands(operands).successors([target]));
    rw.erase_op(op);
    Some(())
}

/// Puts the ops of the only successor, which has no other predecessor, in the place of the branch.
pub(super) fn merge(rw: &mut Rewriter<'_>, op: Op) -> Option<()> {
    let body = rw.body();
    let [target] = *body.successors(op) else { return None };
    let region = body.op_block(op).and_then(|b| body.block_region(b))?;
    let into_target = body.blocks(region).flat_map(|b| body.block_successors(b)).filter(|b| **b == target).count();
    let operands: Vec<Value> = body.operands(op).collect();
    let fits = operands.len() == body.block_args(target).len() && body.num_results(op) == 0;
    if into_target != 1 || !fits || body.op_block(op) == Some(target) || body.region_entry(region) == Some(target) {
        return None;
    }
    rw.inline_block_before(target, op, &operands);
    rw.erase_op(op);
    Some(())
}

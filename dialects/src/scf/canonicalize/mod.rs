//! Canonicalization patterns of scf operations.

mod for_op;
mod if_op;
mod while_op;

use sutura_ir::body::ValueKind;
use sutura_ir::op_def::{Canonicalize, OpView};
use sutura_ir::pattern::PatternSet;
use sutura_ir::{Block, Body, Op, Region, Rewriter, Value};

use super::ops::YieldOp;
use super::parallel::ExecuteRegionOp;

impl Canonicalize for ExecuteRegionOp<'_> {
    fn patterns(set: &mut PatternSet) {
        set.add::<ExecuteRegionOp<'_>>("region_of_one_block", region_of_one_block);
    }
}

/// A region of one block is put in the place of the op.
fn region_of_one_block(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let found = (|| {
        let region = rw.view::<ExecuteRegionOp<'_>>(op)?.op_ref().region(0)?;
        (region.blocks().count() == 1 && rw.op_ref(op).prop("no_inline").is_none()).then_some(())?;
        let block = region.entry()?;
        // Control may not come out of it.
        block.ops().last()?.is::<YieldOp<'_>>().then_some(block.block)
    })();
    let reason = "its region has several blocks or does not end in 'scf.yield', or it is marked 'no_inline'";
    let block = rw.require(op, found, reason)?;
    replace_by_block(op, rw, block, &[])
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

/// True when `value` is defined outside `region`.
fn is_outside(body: &Body, value: Value, region: Region) -> bool {
    let block = match body.value_kind(value) {
        ValueKind::Arg(block, _) => Some(block),
        ValueKind::Result(op, _) => body.op_block(op),
        ValueKind::Placeholder => None,
    };
    let around = block.and_then(|block| body.block_region(block));
    around.is_some_and(|around| !body.is_region_within(region, around))
}

/// The entries of `list` for which `keep` is true.
fn kept<T: Copy>(list: impl IntoIterator<Item = T>, keep: &[bool]) -> Vec<T> {
    list.into_iter().zip(keep).filter(|(_, keep)| **keep).map(|(entry, _)| entry).collect()
}

/// Erases the arguments of `block` from the `first` on for which `keep` is false; nothing uses them.
fn erase_args(rw: &mut Rewriter<'_>, block: Block, first: usize, keep: &[bool]) {
    for (index, _) in keep.iter().enumerate().rev().filter(|(_, keep)| !**keep) {
        rw.erase_block_arg(block, first + index);
    }
}

//! Branches whose successors have an operand group each.

use std::ops::Range;

use sutura_ir::interfaces::BranchOp;
use sutura_ir::{Attr, Op, OpRef, Rewriter, Value};

/// Each successor has an operand group; those of the first successor come first.
pub(crate) struct Successors {
    pub(crate) first_group: usize,
}

impl BranchOp for Successors {
    fn successor_operands(&self, op: OpRef<'_>, index: usize) -> Range<usize> {
        op.operand_group(self.first_group + index).unwrap_or_default()
    }

    fn set_successor_operands(&self, rw: &mut Rewriter<'_>, op: Op, index: usize, values: &[Value]) {
        rw.set_operand_group(op, self.first_group + index, values);
    }

    fn taken(&self, op: OpRef<'_>, operands: &[Option<Attr>]) -> Option<usize> {
        if op.successors().len() == 1 {
            return Some(0);
        }
        let condition = op.cx.as_bool(operands.first().copied().flatten()?)?;
        Some(usize::from(!condition))
    }
}

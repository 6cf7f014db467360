//! Branches between blocks.

mod canonicalize;
mod interp;
mod ops;

use std::ops::Range;

use sutura_ir::interfaces::{
    BranchOp as BranchInterface, Effect, EffectKind, Effects, InlineCallables, Inliner, MemoryEffects,
};
use sutura_ir::{Attr, Dialect, DialectBuilder, Op, OpRef, Rewriter, Value};

pub use ops::*;

/// The cf dialect.
#[derive(Clone, Copy, Debug)]
pub struct ControlFlowDialect;

impl Dialect for ControlFlowDialect {
    const NAME: &'static str = "cf";

    fn register(d: &mut DialectBuilder<'_>) {
        d.description("Branches between blocks.").partial();
        d.directive("SwitchCases", crate::switch::CASES_DIRECTIVE);
        d.op::<AssertOp<'_>>().op::<BranchOp<'_>>().op::<CondBranchOp<'_>>().op::<SwitchOp<'_>>();
        d.interface::<dyn BranchInterface>("cf.switch", &crate::switch::SwitchSuccessors);
        d.interface::<dyn BranchInterface>("cf.br", &Successors { first_group: 0 });
        d.interface::<dyn BranchInterface>("cf.cond_br", &Successors { first_group: 1 });
        d.interface::<dyn MemoryEffects>("cf.assert", &Fails);
        d.dialect_interface::<dyn Inliner>(&InlineCallables);
        interp::register(d);
    }
}

/// Each successor has an operand group; those of the first successor come first.
struct Successors {
    first_group: usize,
}

impl BranchInterface for Successors {
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

/// Writes to no memory, but must not be removed or moved.
struct Fails;

impl MemoryEffects for Fails {
    fn effects(&self, _: OpRef<'_>) -> Effects {
        [Effect { kind: EffectKind::Write, value: None }].into_iter().collect()
    }
}

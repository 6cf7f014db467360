//! Branches between blocks.

mod canonicalize;
mod interp;
mod ops;

use sutura_ir::interfaces::{
    BranchOp as BranchInterface, Effect, EffectKind, Effects, InlineCallables, Inliner, MemoryEffects,
};
use sutura_ir::{Dialect, DialectBuilder, OpRef};

use crate::branches::Successors;

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
        d.op_interface::<SwitchOp<'_>, dyn BranchInterface>(&crate::switch::SwitchSuccessors);
        d.op_interface::<crate::cf::BranchOp<'_>, dyn BranchInterface>(&Successors { first_group: 0 });
        d.op_interface::<CondBranchOp<'_>, dyn BranchInterface>(&Successors { first_group: 1 });
        d.op_interface::<AssertOp<'_>, dyn MemoryEffects>(&Fails);
        d.dialect_interface::<dyn Inliner>(&InlineCallables);
        interp::register(d);
    }
}

/// Writes to no memory, but must not be removed or moved.
struct Fails;

impl MemoryEffects for Fails {
    fn effects(&self, _: OpRef<'_>) -> Effects {
        [Effect { kind: EffectKind::Write, value: None }].into_iter().collect()
    }
}

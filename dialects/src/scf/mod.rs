//! Structured control flow: loops and conditionals whose bodies are regions.

mod asm;
mod canonicalize;
mod control;
mod interp;
mod ops;
mod parallel;
mod switch;
mod trip_count;
pub(crate) mod verify;

use sutura_ir::interfaces::{InlineCallables, Inliner, RegionSyntax};
use sutura_ir::{Dialect, DialectBuilder};

pub use ops::*;
pub use parallel::*;
pub use switch::IndexSwitchOp;

/// The scf dialect.
#[derive(Clone, Copy, Debug)]
pub struct ScfDialect;

impl Dialect for ScfDialect {
    const NAME: &'static str = "scf";

    fn register(d: &mut DialectBuilder<'_>) {
        d.description("Structured control flow: loops and conditionals whose bodies are regions.").partial();
        d.directive("ParenthesizedArrowTypes", parallel::PARENTHESIZED_ARROW_TYPES);
        d.directive("ArrowTypes", parallel::ARROW_TYPES)
            .directive("ParallelHeader", parallel::PARALLEL_HEADER)
            .directive("ReduceOperands", parallel::REDUCE_OPERANDS)
            .directive("ForallHeader", parallel::FORALL_HEADER);
        d.directive("ForHeader", asm::FOR_HEADER).directive("WhileHeader", asm::WHILE_HEADER);
        d.op::<ForOp<'_>>().op::<IfOp<'_>>().op::<WhileOp<'_>>().op::<ConditionOp<'_>>().op::<YieldOp<'_>>();
        d.dialect_interface::<dyn Inliner>(&InlineCallables);
        control::register(d);
        d.op::<ParallelOp<'_>>().op::<ReduceOp<'_>>().op::<ReduceReturnOp<'_>>();
        d.op::<ForallOp<'_>>().op::<InParallelOp<'_>>().op::<ExecuteRegionOp<'_>>();
        d.op_interface::<ParallelOp<'_>, dyn RegionSyntax>(&parallel::WritesTerminator)
            .op_interface::<ForallOp<'_>, dyn RegionSyntax>(&parallel::WritesTerminatorOfResults);
        switch::register(d);
        interp::register(d);
    }
}

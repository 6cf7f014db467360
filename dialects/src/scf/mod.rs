//! Structured control flow: loops and conditionals whose bodies are regions.

mod asm;
mod canonicalize;
mod control;
mod interp;
mod ops;
mod trip_count;
mod verify;

use sutura_ir::interfaces::{InlineCallables, Inliner};
use sutura_ir::{Dialect, DialectBuilder};

pub use ops::*;

/// The scf dialect.
#[derive(Clone, Copy, Debug)]
pub struct ScfDialect;

impl Dialect for ScfDialect {
    const NAME: &'static str = "scf";

    fn register(d: &mut DialectBuilder<'_>) {
        d.description("Structured control flow: loops and conditionals whose bodies are regions.").partial();
        d.directive("ForHeader", asm::FOR_HEADER).directive("WhileHeader", asm::WHILE_HEADER);
        d.op::<ForOp<'_>>().op::<IfOp<'_>>().op::<WhileOp<'_>>().op::<ConditionOp<'_>>().op::<YieldOp<'_>>();
        d.dialect_interface::<dyn Inliner>(&InlineCallables);
        control::register(d);
        interp::register(d);
    }
}

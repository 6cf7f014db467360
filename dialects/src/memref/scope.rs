//! `memref.alloca_scope`: a region at whose end the stack is as before.

use std::ops::Range;

use sutura_interp::{Flow, Frame, InterpError, Interpret, Values, YieldOp};
use sutura_ir::constraints::*;
use sutura_ir::interfaces::{RegionBranchOp, RegionTarget, RegionTargets};
use sutura_ir::op_def::{Verify, VerifyRegions};
use sutura_ir::smallvec::smallvec;
use sutura_ir::{Attr, Diagnostics, DialectBuilder, OpRef, Reported, Type, op};

use crate::interp::region;
use crate::scf::verify::{entry, last_op, verify_edge};

/// Runs its region once; memory that it takes on the stack lives no longer.
///
/// ```mlir
/// %x = memref.alloca_scope -> (f32) {
///   %m = memref.alloca() : memref<4xf32>
///   %y = func.call @fill(%m) : (memref<4xf32>) -> f32
///   memref.alloca_scope.return %y : f32
/// }
/// ```
#[op(
    "memref.alloca_scope",
    traits(SingleBlock, RecursiveMemoryEffects, NoRegionArguments),
    format = "` ` (` ` `->` `(` type($results)^ `)`)? $bodyRegion attr-dict",
    implicit_terminator = "memref.alloca_scope.return",
    verify,
    verify_regions
)]
pub struct AllocaScopeOp {
    results: Results<AnyType>,
    #[name("bodyRegion")]
    body_region: Region,
}

/// Ends a `memref.alloca_scope` and hands values to it.
#[op(
    "memref.alloca_scope.return",
    traits(Pure, Terminator, ReturnLike),
    format = "attr-dict ($results^ `:` type($results))?",
    parents("memref.alloca_scope")
)]
pub struct AllocaScopeReturnOp {
    results: Operands<AnyType>,
}

/// Attaches the operations and their hooks.
pub(super) fn register(d: &mut DialectBuilder<'_>) {
    d.op::<AllocaScopeOp<'_>>().op::<AllocaScopeReturnOp<'_>>();
    d.op_interface::<crate::memref::AllocaScopeOp<'_>, dyn RegionBranchOp>(&Once)
        .op_interface::<crate::memref::AllocaScopeOp<'_>, dyn Interpret>(&run)
        .op_interface::<crate::memref::AllocaScopeReturnOp<'_>, dyn Interpret>(&YieldOp);
}

impl Verify for AllocaScopeOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        entry(op, 0, "bodyRegion").map_err(|d| diags.report(d))
    }
}

impl VerifyRegions for AllocaScopeOp<'_> {
    fn verify_regions(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let Some(last) = last_op(op, 0) else { return Ok(()) };
        let (results, handed): (Vec<Type>, Vec<Type>) = (op.result_types().collect(), last.operand_types().collect());
        let edge = verify_edge(op, "Operation memref.alloca_scope.return", "parent", &handed, &results);
        edge.map_err(|d| diags.report(d))
    }
}

/// The region runs, then what is behind.
struct Once;

impl RegionBranchOp for Once {
    fn begin(&self, _: OpRef<'_>, _: &[Option<Attr>]) -> RegionTargets {
        smallvec![RegionTarget::Region(0)]
    }

    fn after(&self, _: OpRef<'_>, _: usize, _: OpRef<'_>, _: &[Option<Attr>]) -> RegionTargets {
        smallvec![RegionTarget::Parent]
    }

    fn begin_operands(&self, _: OpRef<'_>, _: RegionTarget) -> Range<usize> {
        0..0
    }
}

/// The stack has no end that could be told: its memory lives until the function returns.
fn run(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let values = frame.run_region(region(op, 0)?, Values::new())?;
    frame.set_results(values)?;
    Ok(Flow::Next)
}

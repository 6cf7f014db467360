//! `memref.generic_atomic_rmw`: an element replaced, in one step, by what a region makes of it.

use sutura_interp::{Flow, Frame, InterpError, Interpret, YieldOp};
use sutura_ir::analysis::effects::is_memory_effect_free;
use sutura_ir::constraints::*;
use sutura_ir::interfaces::{EffectKind, MemoryEffects};
use sutura_ir::op_def::{InferInput, InferTypes, OpView, Verify, VerifyRegions};
use sutura_ir::smallvec::{SmallVec, smallvec};
use sutura_ir::{Diagnostic, Diagnostics, DialectBuilder, OpRef, Reported, Type, TypeData, op};

use crate::effects::{On, Place};
use crate::interp::region;
use crate::show;

sutura_ir::type_constraints! {
    /// A memref of numbers.
    pub NumberMemRef = "memref of signless integer or floating-point values",
        |cx, ty| matches!(cx.type_data(ty), TypeData::MemRef { elem, .. } if elem.is_signless_integer(cx) || elem.is_float(cx));
}

/// Replaces an element by what the region makes of it, without another access in between, and gives the old one.
///
/// ```mlir
/// %old = memref.generic_atomic_rmw %m[%i] : memref<10xf32> {
/// ^bb0(%current: f32):
///   %new = arith.mulf %current, %x : f32
///   memref.atomic_yield %new : f32
/// }
/// ```
#[op(
    "memref.generic_atomic_rmw",
    traits(SingleBlock),
    format = "$memref `[` $indices `]` `:` type($memref) $atomic_body attr-dict",
    verify,
    verify_regions,
    infer
)]
pub struct GenericAtomicRMWOp {
    memref: Operand<NumberMemRef>,
    indices: Operands<Index>,
    /// The old value.
    result: Res<AnyType>,
    /// Takes the old value and yields the new one.
    atomic_body: Region,
}

/// Hands the new value to the `memref.generic_atomic_rmw` around.
#[op(
    "memref.atomic_yield",
    traits(Pure, Terminator),
    format = "$result attr-dict `:` type($result)",
    parents("memref.generic_atomic_rmw"),
    verify
)]
pub struct AtomicYieldOp {
    result: Operand<AnyType>,
}

static READ_WRITE: On = On(&[(EffectKind::Read, Place::Operand(0)), (EffectKind::Write, Place::Operand(0))]);

/// Attaches the operations and their hooks.
pub(super) fn register(d: &mut DialectBuilder<'_>) {
    d.op::<GenericAtomicRMWOp<'_>>().op::<AtomicYieldOp<'_>>();
    d.op_interface::<crate::memref::GenericAtomicRMWOp<'_>, dyn MemoryEffects>(&READ_WRITE)
        .op_interface::<crate::memref::GenericAtomicRMWOp<'_>, dyn Interpret>(&run)
        .op_interface::<crate::memref::AtomicYieldOp<'_>, dyn Interpret>(&YieldOp);
}

impl InferTypes for GenericAtomicRMWOp<'_> {
    fn infer(input: InferInput<'_>) -> Result<SmallVec<[Type; 2]>, String> {
        let memref: &Type = input.operands.first().ok_or("the op has no operand")?;
        Ok(smallvec![input.cx.element_type(*memref)])
    }
}

impl Verify for GenericAtomicRMWOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        verify_rmw(GenericAtomicRMWOp::from_ref(op)).map_err(|d| diags.report(d))
    }
}

fn verify_rmw(rmw: GenericAtomicRMWOp<'_>) -> Result<(), Diagnostic> {
    let op = rmw.op_ref();
    let (memref, elem) = (op.ty(rmw.memref()), op.ty(rmw.result()));
    if op.cx.element_type(memref) != elem {
        return Err(op.error("failed to verify that result type matches element type of memref"));
    }
    let (rank, given) = (op.cx.shape(memref).map_or(0, <[i64]>::len), rmw.indices().len());
    if rank != given {
        return Err(op.error(format!("incorrect number of indices, expected {rank} but got {given}")));
    }
    match rmw.atomic_body().entry().map_or(&[][..], |block| block.args()) {
        [arg] if op.inside().ty(*arg) == elem => Ok(()),
        [_] => Err(op.error("expected block argument of the same type result type")),
        _ => Err(op.error("expected single number of entry block arguments")),
    }
}

impl VerifyRegions for GenericAtomicRMWOp<'_> {
    fn verify_regions(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let ops = op.region(0).into_iter().flat_map(|r| r.blocks()).flat_map(|b| b.ops());
        match ops.into_iter().find(|inner| !is_memory_effect_free(*inner)) {
            None => Ok(()),
            Some(inner) => {
                let message = "body of 'memref.generic_atomic_rmw' should contain only operations with no side effects";
                Err(diags.report(Diagnostic::error(inner.loc(), message)))
            }
        }
    }
}

impl Verify for AtomicYieldOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let Some(around) = op.parent().and_then(|parent| parent.as_::<GenericAtomicRMWOp<'_>>()) else { return Ok(()) };
        let (yielded, elem) = (op.ty(op.operand(0)), op.ty(around.result()));
        if yielded == elem {
            return Ok(());
        }
        let (yielded, elem) = (show::ty(op.cx, yielded), show::ty(op.cx, elem));
        let message = format!("types mismatch between yield op: '{yielded}' and its parent: '{elem}'");
        Err(diags.report(op.error(message)))
    }
}

/// Programs run in one thread: nothing comes in between.
fn run(op: OpRef<'_>, frame: &mut Frame<'_>) -> Result<Flow, InterpError> {
    let (memref, index) = (frame.memref(0)?, frame.ints(1..op.num_operands())?);
    let old = frame.memory().load(&memref, &index)?;
    let new = frame.run_region(region(op, 0)?, std::iter::once(old.into()).collect())?;
    let new = new.first().map(|value| value.scalar()).transpose()?;
    frame.memory().store(&memref, &index, new)?;
    frame.set(0, old)?;
    Ok(Flow::Next)
}

//! Effects on memory. Tiles are values, so only what touches views has any.
//!
//! They make the generic passes reduce traffic: a load whose tile nobody uses goes, equal loads without a store between
//! become one.

use smallvec::smallvec;
use sutura_ir::OpRef;
use sutura_ir::interfaces::{ConditionallySpeculatable, Effect, EffectKind, Effects, MemoryEffects, Speculatability};
use sutura_ir::name_of;
use sutura_ir::registry::DialectBuilder;

use super::types::{SliceType, ViewType};
use crate::gir::ops::{
    AllocOp, AsyncCommitOp, AsyncCopyOp, AsyncWaitOp, DivisorOp, GatherRowsOp, HomeOp, IntrinsicOp, LoadOp, PickOp,
    StoreOp, SyncOp,
};

/// Reads the memory behind its first operand.
struct Reads;
/// `gir.store` and `gir.home`: write the window that they name.
struct Writes;
/// `gir.alloc`
struct Allocates;
/// `gir.async_copy`: from the first window to the second one.
struct Copies;
/// `gir.sync`, and what ends batches of copies and waits for them: memory may be another one afterwards.
struct Orders;
/// `gir.intrinsic`: a function of tiles has no effect; one that is handed memory may do anything to it.
struct OfOperands;

impl MemoryEffects for Reads {
    fn effects(&self, op: OpRef<'_>) -> Effects {
        smallvec![Effect { kind: EffectKind::Read, value: op.operands().next() }]
    }
}

impl MemoryEffects for Writes {
    fn effects(&self, op: OpRef<'_>) -> Effects {
        smallvec![Effect { kind: EffectKind::Write, value: op.operands().nth(1) }]
    }
}

impl MemoryEffects for Copies {
    fn effects(&self, op: OpRef<'_>) -> Effects {
        let mut slices = op.operands();
        let mut effect = |kind| Effect { kind, value: slices.next() };
        smallvec![effect(EffectKind::Read), effect(EffectKind::Write)]
    }
}

impl MemoryEffects for Allocates {
    fn effects(&self, op: OpRef<'_>) -> Effects {
        smallvec![Effect { kind: EffectKind::Allocate, value: op.results().next() }]
    }
}

impl MemoryEffects for Orders {
    fn effects(&self, _: OpRef<'_>) -> Effects {
        smallvec![Effect { kind: EffectKind::Write, value: None }]
    }
}

impl MemoryEffects for OfOperands {
    fn effects(&self, op: OpRef<'_>) -> Effects {
        let is_memory = |ty| op.cx.type_as::<ViewType>(ty).is_some() || op.cx.type_as::<SliceType>(ty).is_some();
        let memory = op.operands().filter(|v| is_memory(op.ty(*v)));
        let both = |v| [EffectKind::Read, EffectKind::Write].map(|kind| Effect { kind, value: Some(v) });
        memory.flat_map(both).collect()
    }
}

/// `gir.divisor` and `gir.pick` touch no memory, but report what is wrong: where they did not stand they must not be run.
struct Checks;

impl MemoryEffects for Checks {
    fn effects(&self, _: OpRef<'_>) -> Effects {
        Effects::new()
    }
}

impl ConditionallySpeculatable for Checks {
    fn speculatability(&self, _: OpRef<'_>) -> Speculatability {
        Speculatability::Never
    }
}

pub(super) fn register(d: &mut DialectBuilder<'_>) {
    d.op_interface::<LoadOp<'_>, dyn MemoryEffects>(&Reads);
    d.op_interface::<GatherRowsOp<'_>, dyn MemoryEffects>(&Reads);
    d.op_interface::<StoreOp<'_>, dyn MemoryEffects>(&Writes);
    d.op_interface::<HomeOp<'_>, dyn MemoryEffects>(&Writes);
    d.op_interface::<AllocOp<'_>, dyn MemoryEffects>(&Allocates);
    d.op_interface::<AsyncCopyOp<'_>, dyn MemoryEffects>(&Copies);
    for name in [name_of::<SyncOp<'_>>(), name_of::<AsyncCommitOp<'_>>(), name_of::<AsyncWaitOp<'_>>()] {
        d.interface::<dyn MemoryEffects>(name, &Orders);
    }
    d.op_interface::<IntrinsicOp<'_>, dyn MemoryEffects>(&OfOperands);
    for name in [name_of::<DivisorOp<'_>>(), name_of::<PickOp<'_>>()] {
        d.interface::<dyn MemoryEffects>(name, &Checks);
        d.interface::<dyn ConditionallySpeculatable>(name, &Checks);
    }
}

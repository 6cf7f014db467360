//! Stack memory of one value that can become that value, and addresses within memory.

use sutura_ir::interfaces::{MemorySlot, PromotableAllocation, PromotableOp, SlotUse, ViewLike};
use sutura_ir::op_def::OpView;
use sutura_ir::{Builder, DialectBuilder, Loc, OpRef, Value};

use super::memory::{AllocaOp, LoadOp, StoreOp};
use super::ops::UndefOp;
use crate::effects::FirstOperand;
use crate::llvm::{AddrSpaceCastOp, GEPOp, LifetimeEndOp, LifetimeStartOp};

/// Attaches the hooks.
pub(super) fn register(d: &mut DialectBuilder<'_>) {
    d.op_interface::<AllocaOp<'_>, dyn PromotableAllocation>(&Alloca)
        .op_interface::<LoadOp<'_>, dyn PromotableOp>(&Load)
        .op_interface::<StoreOp<'_>, dyn PromotableOp>(&Store)
        .op_interface::<LifetimeStartOp<'_>, dyn PromotableOp>(&Lifetime)
        .op_interface::<LifetimeEndOp<'_>, dyn PromotableOp>(&Lifetime);
    d.op_interface::<GEPOp<'_>, dyn ViewLike>(&FirstOperand::Part)
        .op_interface::<AddrSpaceCastOp<'_>, dyn ViewLike>(&FirstOperand::Whole);
}

struct Alloca;

impl PromotableAllocation for Alloca {
    fn slot(&self, op: OpRef<'_>) -> Option<MemorySlot> {
        let alloca = AllocaOp::from_ref(op);
        let is_one = op.constant(alloca.array_size()).and_then(|n| op.cx.as_int(n)) == Some(1);
        (is_one && !alloca.inalloca()).then(|| MemorySlot { pointer: op.result(0), elem: alloca.elem_type() })
    }

    fn default_value(&self, b: &mut Builder<'_>, slot: MemorySlot) -> Option<Value> {
        Some(UndefOp::value(b, Loc::UNKNOWN, slot.elem))
    }
}

struct Load;

impl PromotableOp for Load {
    fn slot_use(&self, op: OpRef<'_>, slot: MemorySlot) -> Result<SlotUse, String> {
        let load = LoadOp::from_ref(op);
        if load.volatile() || load.ordering() != 0 {
            return Err("it is volatile or atomic".to_string());
        }
        let is_whole = op.ty(op.result(0)) == slot.elem;
        if is_whole { Ok(SlotUse::Load) } else { Err("it loads another type than is allocated".to_string()) }
    }
}

struct Store;

impl PromotableOp for Store {
    fn slot_use(&self, op: OpRef<'_>, slot: MemorySlot) -> Result<SlotUse, String> {
        let store = StoreOp::from_ref(op);
        if store.stored() == slot.pointer {
            return Err("it stores the slot's address".to_string());
        }
        if store.volatile() || store.ordering() != 0 {
            return Err("it is volatile or atomic".to_string());
        }
        if op.ty(store.stored()) != slot.elem {
            return Err("it stores a value of another type than is allocated".to_string());
        }
        Ok(SlotUse::Store(store.stored()))
    }
}

struct Lifetime;

impl PromotableOp for Lifetime {
    fn slot_use(&self, _: OpRef<'_>, _: MemorySlot) -> Result<SlotUse, String> {
        Ok(SlotUse::Drop)
    }
}

//! Memory of one element that can become a value, and views of memory.

use sutura_ir::interfaces::{DistinctObjects, MemorySlot, PromotableAllocation, PromotableOp, SlotUse, ViewLike};
use sutura_ir::name_of;
use sutura_ir::op_def::OpView;
use sutura_ir::{Builder, DialectBuilder, Loc, OpRef, TypeData, Value};

use super::ops::{LoadOp, StoreOp};
use crate::constant::uniform;
use crate::effects::{Distinct, FirstOperand};
use crate::memref::{
    AllocaOp, AssumeAlignmentOp, CastOp, CollapseShapeOp, DistinctObjectsOp, ExpandShapeOp, MemorySpaceCastOp,
    ReinterpretCastOp, ReshapeOp, SubViewOp, ViewOp,
};

/// Attaches the hooks.
pub(super) fn register(d: &mut DialectBuilder<'_>) {
    d.op_interface::<AllocaOp<'_>, dyn PromotableAllocation>(&Alloca)
        .op_interface::<LoadOp<'_>, dyn PromotableOp>(&Load)
        .op_interface::<StoreOp<'_>, dyn PromotableOp>(&Store);
    d.op_interface::<DistinctObjectsOp<'_>, dyn DistinctObjects>(&Distinct);
    for view in [name_of::<SubViewOp<'_>>(), name_of::<ReinterpretCastOp<'_>>(), name_of::<ViewOp<'_>>()] {
        d.interface::<dyn ViewLike>(view, &FirstOperand::Part);
    }
    for view in [
        name_of::<AssumeAlignmentOp<'_>>(),
        name_of::<CastOp<'_>>(),
        name_of::<CollapseShapeOp<'_>>(),
        name_of::<ExpandShapeOp<'_>>(),
        name_of::<MemorySpaceCastOp<'_>>(),
        name_of::<ReshapeOp<'_>>(),
    ] {
        d.interface::<dyn ViewLike>(view, &FirstOperand::Whole);
    }
}

struct Alloca;

impl PromotableAllocation for Alloca {
    fn slot(&self, op: OpRef<'_>) -> Option<MemorySlot> {
        let pointer = op.result(0);
        let TypeData::MemRef { elem, layout: None, .. } = op.cx.type_data(op.ty(pointer)) else { return None };
        (op.cx.num_elements(op.ty(pointer)) == Some(1)).then_some(MemorySlot { pointer, elem })
    }

    fn default_value(&self, b: &mut Builder<'_>, slot: MemorySlot) -> Option<Value> {
        // Memory that was not written holds anything; zero is one such thing.
        let value = uniform(b.cx(), slot.elem, 0)?;
        let op = crate::arith::materialize(b, Loc::UNKNOWN, value, slot.elem)?;
        Some(b.body().result(op, 0))
    }
}

struct Load;

impl PromotableOp for Load {
    fn slot_use(&self, op: OpRef<'_>, slot: MemorySlot) -> Result<SlotUse, String> {
        let is_whole = LoadOp::from_ref(op).memref() == slot.pointer && op.ty(op.result(0)) == slot.elem;
        if is_whole { Ok(SlotUse::Load) } else { Err("it does not load the slot's value".to_string()) }
    }
}

struct Store;

impl PromotableOp for Store {
    fn slot_use(&self, op: OpRef<'_>, slot: MemorySlot) -> Result<SlotUse, String> {
        let stored = StoreOp::from_ref(op).stored();
        if stored == slot.pointer {
            return Err("it stores the slot's address".to_string());
        }
        if op.ty(stored) != slot.elem {
            return Err("it stores a value of another type".to_string());
        }
        Ok(SlotUse::Store(stored))
    }
}

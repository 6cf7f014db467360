//! Vectors: their making, rearrangement, reduction, and their transfer to and from memory.

mod asm;
mod attrs;
mod canonicalize;
mod fold;
pub(crate) mod interp;
mod ops;
mod transfer;
mod types;
mod verify;

use sutura_ir::interfaces::{Effect, EffectKind, Effects, InlineCallables, Inliner, MemoryEffects};
use sutura_ir::{Dialect, DialectBuilder, OpRef};

use crate::effects::{On, Place, READS_FIRST, WRITES_SECOND};
pub use attrs::CombiningKind;
pub use ops::*;

/// The vector dialect.
#[derive(Clone, Copy, Debug)]
pub struct VectorDialect;

static READ: On = READS_FIRST;
static WRITE: On = WRITES_SECOND;
static MASKED_WRITE: On = On(&[(EffectKind::Write, Place::Operand(0))]);

impl Dialect for VectorDialect {
    const NAME: &'static str = "vector";

    fn register(d: &mut DialectBuilder<'_>) {
        d.description("Vectors: their making, rearrangement, reduction, and their transfer to and from memory.")
            .partial();
        d.directive("DynamicIndexList", crate::asm::DYNAMIC_INDEX_LIST)
            .directive("ElementsOf", crate::asm::ELEMENTS_OF)
            .directive("FastMath", crate::arith::FAST_MATH)
            .directive("OuterProductDict", asm::OUTER_PRODUCT_DICT)
            .directive("TransferDict", asm::TRANSFER_DICT)
            .directive("Kind", asm::KIND)
            .directive("OuterProductTypes", asm::OUTER_PRODUCT_TYPES)
            .directive("ReadTypes", asm::READ_TYPES)
            .directive("WriteTypes", asm::WRITE_TYPES)
            .attr("kind", CombiningKind::parse_attr)
            .materialize(crate::arith::materialize);
        d.op::<BroadcastOp<'_>>().op::<ShapeCastOp<'_>>().op::<BitCastOp<'_>>().op::<TransposeOp<'_>>();
        d.op::<ShuffleOp<'_>>().op::<ExtractOp<'_>>().op::<InsertOp<'_>>().op::<FromElementsOp<'_>>();
        d.op::<ExtractStridedSliceOp<'_>>().op::<InsertStridedSliceOp<'_>>();
        d.op::<StepOp<'_>>().op::<CreateMaskOp<'_>>().op::<ConstantMaskOp<'_>>();
        d.op::<FMAOp<'_>>().op::<ReductionOp<'_>>().op::<OuterProductOp<'_>>();
        d.op::<LoadOp<'_>>().op::<StoreOp<'_>>().op::<MaskedLoadOp<'_>>().op::<MaskedStoreOp<'_>>();
        d.op::<TransferReadOp<'_>>().op::<TransferWriteOp<'_>>();
        for name in ["vector.load", "vector.maskedload"] {
            d.interface::<dyn MemoryEffects>(name, &READ);
        }
        d.interface::<dyn MemoryEffects>("vector.store", &WRITE)
            .interface::<dyn MemoryEffects>("vector.maskedstore", &MASKED_WRITE)
            .interface::<dyn MemoryEffects>("vector.transfer_read", &Transfer { kind: EffectKind::Read, base: 0 })
            .interface::<dyn MemoryEffects>("vector.transfer_write", &Transfer { kind: EffectKind::Write, base: 1 });
        d.dialect_interface::<dyn Inliner>(&InlineCallables);
        interp::register(d);
        transfer::register(d);
    }
}

/// A transfer has an effect only on memory: tensors are values.
struct Transfer {
    kind: EffectKind,
    base: usize,
}

impl MemoryEffects for Transfer {
    fn effects(&self, op: OpRef<'_>) -> Effects {
        let base = op.operand_of(self.base).filter(|v| !op.ty(*v).is_tensor(op.cx));
        base.map(|v| Effect { kind: self.kind, value: Some(v) }).into_iter().collect()
    }
}

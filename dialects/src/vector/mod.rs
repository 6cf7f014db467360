//! Vectors: their making, rearrangement, reduction, and their transfer to and from memory.

mod asm;
mod attrs;
mod canonicalize;
mod contract;
mod fold;
pub(crate) mod interp;
mod lanes;
mod ops;
mod transfer;
mod types;
mod verify;

use sutura_ir::interfaces::{
    Effect, EffectKind, Effects, InlineCallables, Inliner, MemoryEffects, RegionSyntax, ResultNames,
};
use sutura_ir::name_of;
use sutura_ir::{Dialect, DialectBuilder, OpRef};

use crate::effects::{On, Place, READS_FIRST, WRITES_SECOND};
pub use attrs::{CombiningKind, IteratorType, Punctuation};
pub use contract::*;
pub use lanes::*;
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
            .directive("ContractTraits", contract::CONTRACT_TRAITS)
            .directive("AccumulatedType", contract::ACCUMULATED_TYPE)
            .directive("MaskResults", contract::MASK_RESULTS)
            .directive("Punctuation", asm::PUNCTUATION)
            .attr("iterator_type", IteratorType::parse_attr)
            .attr("punctuation", Punctuation::parse_attr)
            .attr("kind", CombiningKind::parse_attr)
            .materialize(crate::arith::materialize);
        d.op::<BroadcastOp<'_>>().op::<ShapeCastOp<'_>>().op::<BitCastOp<'_>>().op::<TransposeOp<'_>>();
        d.op::<ShuffleOp<'_>>().op::<ExtractOp<'_>>().op::<InsertOp<'_>>().op::<FromElementsOp<'_>>();
        d.op::<ExtractStridedSliceOp<'_>>().op::<InsertStridedSliceOp<'_>>();
        d.op::<StepOp<'_>>().op::<CreateMaskOp<'_>>().op::<ConstantMaskOp<'_>>();
        d.op::<FMAOp<'_>>().op::<ReductionOp<'_>>().op::<OuterProductOp<'_>>();
        d.op::<LoadOp<'_>>().op::<StoreOp<'_>>().op::<MaskedLoadOp<'_>>().op::<MaskedStoreOp<'_>>();
        d.op::<TransferReadOp<'_>>().op::<TransferWriteOp<'_>>();
        register_lanes(d);
        for name in [name_of::<LoadOp<'_>>(), name_of::<MaskedLoadOp<'_>>()] {
            d.interface::<dyn MemoryEffects>(name, &READ);
        }
        d.op_interface::<StoreOp<'_>, dyn MemoryEffects>(&WRITE)
            .op_interface::<MaskedStoreOp<'_>, dyn MemoryEffects>(&MASKED_WRITE)
            .op_interface::<TransferReadOp<'_>, dyn MemoryEffects>(&Transfer { kind: EffectKind::Read, base: 0 })
            .op_interface::<TransferWriteOp<'_>, dyn MemoryEffects>(&Transfer { kind: EffectKind::Write, base: 1 });
        d.dialect_interface::<dyn Inliner>(&InlineCallables);
        interp::register(d);
        transfer::register(d);
    }
}

fn register_lanes(d: &mut DialectBuilder<'_>) {
    d.op::<ContractionOp<'_>>().op::<MultiDimReductionOp<'_>>().op::<MaskOp<'_>>().op::<YieldOp<'_>>();
    d.op::<ToElementsOp<'_>>().op::<InterleaveOp<'_>>().op::<DeinterleaveOp<'_>>().op::<VectorScaleOp<'_>>();
    d.op::<ScalableInsertOp<'_>>().op::<ScalableExtractOp<'_>>().op::<PrintOp<'_>>();
    d.op::<GatherOp<'_>>().op::<ScatterOp<'_>>().op::<ExpandLoadOp<'_>>().op::<CompressStoreOp<'_>>();
    d.op_interface::<GatherOp<'_>, dyn MemoryEffects>(&Transfer { kind: EffectKind::Read, base: 0 })
        .op_interface::<ScatterOp<'_>, dyn MemoryEffects>(&Transfer { kind: EffectKind::Write, base: 0 })
        .op_interface::<ExpandLoadOp<'_>, dyn MemoryEffects>(&READ)
        .op_interface::<CompressStoreOp<'_>, dyn MemoryEffects>(&MASKED_WRITE)
        .op_interface::<PrintOp<'_>, dyn MemoryEffects>(&Prints)
        .op_interface::<MaskOp<'_>, dyn RegionSyntax>(&contract::OneLine)
        .op_interface::<VectorScaleOp<'_>, dyn ResultNames>(&"vscale")
        .op_interface::<DeinterleaveOp<'_>, dyn ResultNames>(&lanes::Halves);
}

/// Printing must happen, in order.
struct Prints;

impl MemoryEffects for Prints {
    fn effects(&self, _: OpRef<'_>) -> Effects {
        [Effect { kind: EffectKind::Write, value: None }].into_iter().collect()
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

//! Memory: allocation, access, views.

mod asm;
mod atomic;
mod canonicalize;
mod fold;
mod interp;
mod layout;
mod metadata;
mod ops;
mod reify;
mod scope;
mod slots;
mod verify;

use sutura_ir::interfaces::{EffectKind, InlineCallables, Inliner, MemoryEffects, SymbolUser};
use sutura_ir::name_of;
use sutura_ir::{Dialect, DialectBuilder};

use crate::effects::{On, Place, READS_FIRST, WRITES_SECOND};
pub use atomic::{AtomicYieldOp, GenericAtomicRMWOp};
pub(crate) use canonicalize::memory_through_cast;
pub use layout::{StridedLayout, strided_layout};
pub use metadata::ExtractStridedMetadataOp;
pub use ops::*;
pub use scope::{AllocaScopeOp, AllocaScopeReturnOp};

/// The memref dialect.
#[derive(Clone, Copy, Debug)]
pub struct MemRefDialect;

static READ: On = READS_FIRST;
static WRITE: On = WRITES_SECOND;
static ALLOCATE: On = On(&[(EffectKind::Allocate, Place::Result(0))]);
static FREE: On = On(&[(EffectKind::Free, Place::Operand(0))]);
static REALLOCATE: On = On(&[(EffectKind::Free, Place::Operand(0)), (EffectKind::Allocate, Place::Result(0))]);
static COPY: On = On(&[(EffectKind::Read, Place::Operand(0)), (EffectKind::Write, Place::Operand(1))]);

impl Dialect for MemRefDialect {
    const NAME: &'static str = "memref";

    fn register(d: &mut DialectBuilder<'_>) {
        d.description("Memory: allocation, access, views.").partial();
        d.directive("DynamicIndexList", crate::asm::DYNAMIC_INDEX_LIST)
            .directive("ElementsOf", crate::asm::ELEMENTS_OF)
            .directive("GlobalHead", asm::GLOBAL_HEAD)
            .directive("GlobalTypeAndValue", asm::GLOBAL)
            .directive("Permutation", asm::PERMUTATION)
            .materialize(crate::arith::materialize);
        d.op::<AllocOp<'_>>().op::<AllocaOp<'_>>().op::<DeallocOp<'_>>().op::<LoadOp<'_>>().op::<StoreOp<'_>>();
        d.op::<DimOp<'_>>().op::<RankOp<'_>>().op::<CastOp<'_>>().op::<SubViewOp<'_>>().op::<ReinterpretCastOp<'_>>();
        d.op::<ViewOp<'_>>().op::<CopyOp<'_>>().op::<ExpandShapeOp<'_>>().op::<CollapseShapeOp<'_>>();
        d.op::<GlobalOp<'_>>().op::<GetGlobalOp<'_>>().op::<ExtractAlignedPointerAsIndexOp<'_>>();
        for name in [name_of::<AllocOp<'_>>(), name_of::<AllocaOp<'_>>()] {
            d.interface::<dyn MemoryEffects>(name, &ALLOCATE);
        }
        d.op_interface::<DeallocOp<'_>, dyn MemoryEffects>(&FREE)
            .op_interface::<LoadOp<'_>, dyn MemoryEffects>(&READ)
            .op_interface::<StoreOp<'_>, dyn MemoryEffects>(&WRITE)
            .op_interface::<CopyOp<'_>, dyn MemoryEffects>(&COPY)
            .op_interface::<GetGlobalOp<'_>, dyn SymbolUser>(&verify::GetGlobalSymbols);
        d.op::<AssumeAlignmentOp<'_>>().op::<ReshapeOp<'_>>().op::<MemorySpaceCastOp<'_>>();
        d.op::<ReallocOp<'_>>().op::<DistinctObjectsOp<'_>>().op::<TransposeOp<'_>>();
        d.op_interface::<ReallocOp<'_>, dyn MemoryEffects>(&REALLOCATE);
        crate::names::result_names! { d,
            AllocOp => "alloc",
            AllocaOp => "alloca",
            AssumeAlignmentOp => "assume_align",
            CastOp => "cast",
            CollapseShapeOp => "collapse_shape",
            DimOp => "dim",
            ExpandShapeOp => "expand_shape",
            ExtractAlignedPointerAsIndexOp => "intptr",
            MemorySpaceCastOp => "memspacecast",
            ReinterpretCastOp => "reinterpret_cast",
            ReshapeOp => "reshape",
            SubViewOp => "subview",
            TransposeOp => "transpose",
            ViewOp => "view",
        }
        d.dialect_interface::<dyn Inliner>(&InlineCallables);
        atomic::register(d);
        metadata::register(d);
        scope::register(d);
        slots::register(d);
        interp::register(d);
        reify::register(d);
    }
}

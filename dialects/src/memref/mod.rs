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

/// What upstream calls the results of these ops.
static NAMES: &[(&str, &str)] = &[
    ("memref.alloc", "alloc"),
    ("memref.alloca", "alloca"),
    ("memref.assume_alignment", "assume_align"),
    ("memref.cast", "cast"),
    ("memref.collapse_shape", "collapse_shape"),
    ("memref.dim", "dim"),
    ("memref.expand_shape", "expand_shape"),
    ("memref.extract_aligned_pointer_as_index", "intptr"),
    ("memref.memory_space_cast", "memspacecast"),
    ("memref.reinterpret_cast", "reinterpret_cast"),
    ("memref.reshape", "reshape"),
    ("memref.subview", "subview"),
    ("memref.transpose", "transpose"),
    ("memref.view", "view"),
];

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
        for name in ["memref.alloc", "memref.alloca"] {
            d.interface::<dyn MemoryEffects>(name, &ALLOCATE);
        }
        d.interface::<dyn MemoryEffects>("memref.dealloc", &FREE)
            .interface::<dyn MemoryEffects>("memref.load", &READ)
            .interface::<dyn MemoryEffects>("memref.store", &WRITE)
            .interface::<dyn MemoryEffects>("memref.copy", &COPY)
            .interface::<dyn SymbolUser>("memref.get_global", &verify::GetGlobalSymbols);
        d.op::<AssumeAlignmentOp<'_>>().op::<ReshapeOp<'_>>().op::<MemorySpaceCastOp<'_>>();
        d.op::<ReallocOp<'_>>().op::<DistinctObjectsOp<'_>>().op::<TransposeOp<'_>>();
        d.interface::<dyn MemoryEffects>("memref.realloc", &REALLOCATE);
        crate::names::attach(d, NAMES);
        d.dialect_interface::<dyn Inliner>(&InlineCallables);
        atomic::register(d);
        metadata::register(d);
        scope::register(d);
        slots::register(d);
        interp::register(d);
        reify::register(d);
    }
}

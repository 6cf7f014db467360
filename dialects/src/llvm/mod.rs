//! The last dialect before LLVM: its types, and the operations that lowered kernels need.

mod asm;
mod asm_memory;
mod asm_symbols;
mod atomics;
mod attrs;
mod calls;
mod interp;
mod interp_bits;
mod interp_dots;
mod interp_intrinsics;
mod interp_matrix;
mod interp_memory;
mod intrinsics;
mod intrinsics_verify;
mod loops;
mod memory;
mod ops;
mod slots;
mod symbols;
pub mod types;
mod verify;

use sutura_ir::interfaces::{
    BranchOp as BranchInterface, Effect, EffectKind, Effects, Inliner, MemoryEffects, SymbolUser, WrittenDefaults,
};
use sutura_ir::name_of;
use sutura_ir::op_def::OpView;
use sutura_ir::smallvec::smallvec;
use sutura_ir::{Attr, Builder, Context, Dialect, DialectBuilder, Loc, NamedAttr, Op, OpRef, Type};

use crate::branches::Successors;
use crate::effects::{On, Place, READS_FIRST, WRITES_SECOND};
pub use atomics::*;
pub use attrs::{
    AtomicOrdering, CConv, FCmpPredicate, FastmathFlags, FramePointerKind, ICmpPredicate, Linkage, TailCallKind,
};
pub use intrinsics::*;
pub use loops::{LoopAnnotation, LoopUnroll};
pub use memory::*;
pub use ops::*;
pub use symbols::*;

/// The llvm dialect.
#[derive(Clone, Copy, Debug)]
pub struct LlvmDialect;

static READ: On = READS_FIRST;
static WRITE: On = WRITES_SECOND;
static WRITE_FIRST: On = On(&[(EffectKind::Write, Place::Operand(0))]);
static COPY: On = On(&[(EffectKind::Write, Place::Operand(0)), (EffectKind::Read, Place::Operand(1))]);
static ALLOCATE: On = On(&[(EffectKind::Allocate, Place::Result(0))]);
static NOTHING: On = On(&[]);

impl Dialect for LlvmDialect {
    const NAME: &'static str = "llvm";

    fn register(d: &mut DialectBuilder<'_>) {
        d.description("The last dialect before LLVM: its types, and the operations that lowered kernels need.")
            .partial();
        d.ty("ptr", types::parse_pointer)
            .ty("void", types::VoidType::parse)
            .ty("label", types::LabelType::parse)
            .ty("metadata", types::MetadataType::parse)
            .ty("token", types::TokenType::parse)
            .ty("x86_amx", types::X86AmxType::parse)
            .ty("ppc_fp128", types::PpcFp128Type::parse)
            .ty("target", types::parse_target)
            .ty("func", types::parse_function)
            .ty("array", types::parse_array)
            .ty("struct", types::parse_struct)
            .attr("fastmath", FastmathFlags::parse_attr)
            .attr("linkage", Linkage::parse_attr)
            .attr("cconv", CConv::parse_attr)
            .attr("tailcallkind", TailCallKind::parse_attr)
            .attr("framePointerKind", FramePointerKind::parse_attr)
            .directive("OverflowFlags", asm::OVERFLOW_FLAGS)
            .directive("FuncHead", asm_symbols::FUNC_HEAD)
            .directive("Global", asm_symbols::GLOBAL)
            .directive("Call", asm_symbols::CALL)
            .directive("OpBundles", asm_symbols::BUNDLES)
            .directive("CallIntrinsic", asm_symbols::CALL_INTRINSIC)
            .directive("Alloca", asm_memory::ALLOCA)
            .directive("NoWrapFlags", asm_memory::NO_WRAP_FLAGS)
            .directive("GEPIndices", asm_memory::GEP_INDICES)
            .directive("Ordering", asm_memory::ORDERING)
            .directive("Dereferenceable", asm_memory::DEREFERENCEABLE)
            .directive("Field", asm_memory::FIELD)
            .directive("SwitchCases", crate::switch::CASES_DIRECTIVE)
            .attr("dereferenceable", attrs::Dereferenceable::parse_attr)
            .attr("vscale_range", attrs::VScaleRange::parse_attr)
            .attr("loop_unroll", loops::LoopUnroll::parse_attr)
            .attr("loop_annotation", loops::LoopAnnotation::parse_attr)
            .directive("Comparison", asm::COMPARISON)
            .directive("InsertedType", asm::INSERTED_TYPE)
            .materialize(materialize);
        register_computations(d);
        register_functions(d);
        register_reductions(d);
        register_memory(d);
        register_control(d);
        d.dialect_interface::<dyn Inliner>(&calls::Functions);
        atomics::register(d);
        calls::register(d);
        slots::register(d);
        interp::register(d);
        interp_bits::register(d);
        interp_intrinsics::register(d);
        interp_memory::register(d);
    }
}

fn register_computations(d: &mut DialectBuilder<'_>) {
    d.op::<AddOp<'_>>().op::<SubOp<'_>>().op::<MulOp<'_>>().op::<ShlOp<'_>>();
    d.op::<UDivOp<'_>>().op::<SDivOp<'_>>().op::<LShrOp<'_>>().op::<AShrOp<'_>>();
    d.op::<URemOp<'_>>().op::<SRemOp<'_>>().op::<AndOp<'_>>().op::<OrOp<'_>>().op::<XOrOp<'_>>();
    d.op::<FAddOp<'_>>().op::<FSubOp<'_>>().op::<FMulOp<'_>>().op::<FDivOp<'_>>().op::<FRemOp<'_>>();
    d.op::<FNegOp<'_>>().op::<ICmpOp<'_>>().op::<FCmpOp<'_>>().op::<SelectOp<'_>>();
    d.op::<SExtOp<'_>>().op::<ZExtOp<'_>>().op::<TruncOp<'_>>().op::<FPExtOp<'_>>().op::<FPTruncOp<'_>>();
    d.op::<SIToFPOp<'_>>().op::<UIToFPOp<'_>>().op::<FPToSIOp<'_>>().op::<FPToUIOp<'_>>();
    d.op::<PtrToIntOp<'_>>().op::<IntToPtrOp<'_>>().op::<BitcastOp<'_>>().op::<AddrSpaceCastOp<'_>>();
    d.op::<InsertValueOp<'_>>().op::<ExtractValueOp<'_>>();
    d.op::<ConstantOp<'_>>().op::<ZeroOp<'_>>().op::<UndefOp<'_>>().op::<PoisonOp<'_>>();
    // Division is undefined for a zero divisor, so it may not be executed speculatively.
    for name in [name_of::<UDivOp<'_>>(), name_of::<SDivOp<'_>>(), name_of::<URemOp<'_>>(), name_of::<SRemOp<'_>>()] {
        d.interface::<dyn MemoryEffects>(name, &NOTHING);
    }
}

fn register_functions(d: &mut DialectBuilder<'_>) {
    d.op::<ACosOp<'_>>().op::<ASinOp<'_>>().op::<ATanOp<'_>>().op::<ATan2Op<'_>>().op::<FCeilOp<'_>>();
    d.op::<CopySignOp<'_>>().op::<CosOp<'_>>().op::<CoshOp<'_>>().op::<ExpOp<'_>>().op::<Exp10Op<'_>>();
    d.op::<Exp2Op<'_>>().op::<FAbsOp<'_>>().op::<FFloorOp<'_>>().op::<FMAOp<'_>>().op::<FMulAddOp<'_>>();
    d.op::<LogOp<'_>>().op::<Log10Op<'_>>().op::<Log2Op<'_>>().op::<MaximumOp<'_>>().op::<MaxNumOp<'_>>();
    d.op::<MinimumOp<'_>>().op::<MinNumOp<'_>>().op::<NearbyintOp<'_>>().op::<PowOp<'_>>().op::<PowIOp<'_>>();
    d.op::<RintOp<'_>>().op::<RoundOp<'_>>().op::<RoundEvenOp<'_>>().op::<SinOp<'_>>().op::<SinhOp<'_>>();
    d.op::<SqrtOp<'_>>().op::<TanOp<'_>>().op::<TanhOp<'_>>().op::<FTruncOp<'_>>();
    d.op::<BitReverseOp<'_>>().op::<ByteSwapOp<'_>>().op::<CtPopOp<'_>>().op::<AbsOp<'_>>();
    d.op::<SMaxOp<'_>>().op::<SMinOp<'_>>().op::<UMaxOp<'_>>().op::<UMinOp<'_>>();
    d.op::<CountLeadingZerosOp<'_>>().op::<CountTrailingZerosOp<'_>>().op::<IsFPClassOp<'_>>();
    d.op::<SAddWithOverflowOp<'_>>().op::<UAddWithOverflowOp<'_>>().op::<SSubWithOverflowOp<'_>>();
    d.op::<USubWithOverflowOp<'_>>().op::<SMulWithOverflowOp<'_>>().op::<UMulWithOverflowOp<'_>>();
}

fn register_reductions(d: &mut DialectBuilder<'_>) {
    d.op::<ReduceAddOp<'_>>().op::<ReduceAndOp<'_>>().op::<ReduceMulOp<'_>>().op::<ReduceOrOp<'_>>();
    d.op::<ReduceSMaxOp<'_>>().op::<ReduceSMinOp<'_>>().op::<ReduceUMaxOp<'_>>().op::<ReduceUMinOp<'_>>();
    d.op::<ReduceXorOp<'_>>().op::<ReduceFMaxOp<'_>>().op::<ReduceFMinOp<'_>>();
    d.op::<ReduceFMaximumOp<'_>>().op::<ReduceFMinimumOp<'_>>().op::<ReduceFAddOp<'_>>().op::<ReduceFMulOp<'_>>();
    d.op::<InsertElementOp<'_>>().op::<ExtractElementOp<'_>>().op::<ShuffleVectorOp<'_>>().op::<FreezeOp<'_>>();
}

fn register_memory(d: &mut DialectBuilder<'_>) {
    d.op::<GEPOp<'_>>().op::<LoadOp<'_>>().op::<StoreOp<'_>>().op::<AllocaOp<'_>>();
    d.op::<GlobalOp<'_>>().op::<AddressOfOp<'_>>();
    d.op::<MaskedLoadOp<'_>>().op::<MaskedStoreOp<'_>>().op::<MaskedGatherOp<'_>>().op::<MaskedScatterOp<'_>>();
    d.op::<ExpandLoadOp<'_>>().op::<CompressStoreOp<'_>>().op::<StackSaveOp<'_>>().op::<StackRestoreOp<'_>>();
    d.op::<LifetimeStartOp<'_>>().op::<LifetimeEndOp<'_>>().op::<PrefetchOp<'_>>();
    d.op::<MemcpyOp<'_>>().op::<MemmoveOp<'_>>().op::<MemsetOp<'_>>();
    d.op::<MemcpyInlineOp<'_>>().op::<MemsetInlineOp<'_>>();
    d.op_interface::<LoadOp<'_>, dyn MemoryEffects>(&LoadEffects)
        .op_interface::<StoreOp<'_>, dyn MemoryEffects>(&WRITE)
        .op_interface::<AllocaOp<'_>, dyn MemoryEffects>(&ALLOCATE)
        .op_interface::<MaskedLoadOp<'_>, dyn MemoryEffects>(&READ)
        .op_interface::<MaskedStoreOp<'_>, dyn MemoryEffects>(&WRITE)
        .op_interface::<MaskedGatherOp<'_>, dyn MemoryEffects>(&Anywhere(EffectKind::Read))
        .op_interface::<MaskedScatterOp<'_>, dyn MemoryEffects>(&Anywhere(EffectKind::Write))
        .op_interface::<ExpandLoadOp<'_>, dyn MemoryEffects>(&READ)
        .op_interface::<CompressStoreOp<'_>, dyn MemoryEffects>(&WRITE)
        .op_interface::<MemcpyOp<'_>, dyn MemoryEffects>(&COPY)
        .op_interface::<MemmoveOp<'_>, dyn MemoryEffects>(&COPY)
        .op_interface::<MemcpyInlineOp<'_>, dyn MemoryEffects>(&COPY)
        .op_interface::<MemsetInlineOp<'_>, dyn MemoryEffects>(&WRITE_FIRST)
        .op_interface::<MemsetOp<'_>, dyn MemoryEffects>(&WRITE_FIRST);
}

fn register_control(d: &mut DialectBuilder<'_>) {
    d.op::<FuncOp<'_>>().op::<ReturnOp<'_>>().op::<CallOp<'_>>().op::<CallIntrinsicOp<'_>>();
    d.op::<BrOp<'_>>().op::<CondBrOp<'_>>().op::<UnreachableOp<'_>>().op::<SwitchOp<'_>>();
    d.op_interface::<SwitchOp<'_>, dyn BranchInterface>(&crate::switch::SwitchSuccessors);
    d.op_interface::<BrOp<'_>, dyn BranchInterface>(&Successors { first_group: 0 })
        .op_interface::<CondBrOp<'_>, dyn BranchInterface>(&Successors { first_group: 1 })
        .op_interface::<FuncOp<'_>, dyn WrittenDefaults>(&UnnamedAddr)
        .op_interface::<GlobalOp<'_>, dyn WrittenDefaults>(&UnnamedAddr)
        .op_interface::<AddressOfOp<'_>, dyn SymbolUser>(&verify::AddressSymbols)
        .op_interface::<CallOp<'_>, dyn SymbolUser>(&verify::CallSymbols);
}

/// Upstream's custom forms always give `unnamed_addr`, 0 where nothing is written.
struct UnnamedAddr;

impl WrittenDefaults for UnnamedAddr {
    fn defaults(&self, cx: &Context) -> Vec<NamedAttr> {
        vec![NamedAttr { name: cx.ident("unnamed_addr"), value: cx.int_attr(0, Type::I64) }]
    }
}

/// A read; a volatile or ordered one also keeps its place among other accesses, and is never dropped.
struct LoadEffects;

impl MemoryEffects for LoadEffects {
    fn effects(&self, op: OpRef<'_>) -> Effects {
        let mut effects = READ.effects(op);
        let load = LoadOp::from_ref(op);
        if load.volatile() || load.ordering() != 0 {
            effects.push(Effect { kind: EffectKind::Write, value: None });
        }
        effects
    }
}

/// An effect on memory that several pointers name.
struct Anywhere(EffectKind);

impl MemoryEffects for Anywhere {
    fn effects(&self, _: OpRef<'_>) -> Effects {
        smallvec![Effect { kind: self.0, value: None }]
    }
}

fn materialize(b: &mut Builder<'_>, loc: Loc, value: Attr, ty: Type) -> Option<Op> {
    (b.cx().attr_type(value) == Some(ty)).then(|| ConstantOp::build(b, loc, value, ty))
}

//! The last dialect before LLVM: its types, and the operations that lowered kernels need.
//!
//! Functions, variables, calls and stack memory have the generic form only; their custom forms are not read.

mod asm;
mod attrs;
mod interp;
mod interp_memory;
mod memory;
mod ops;
mod symbols;
pub mod types;
mod verify;

use std::ops::Range;

use sutura_ir::interfaces::{BranchOp as BranchInterface, EffectKind, MemoryEffects, SymbolUser};
use sutura_ir::{Attr, Builder, Dialect, DialectBuilder, Loc, Op, OpRef, Type};

use crate::effects::{On, Place, READS_FIRST, WRITES_SECOND};
pub use attrs::{CConv, FCmpPredicate, FastmathFlags, FramePointerKind, ICmpPredicate, Linkage, TailCallKind};
pub use memory::*;
pub use ops::*;
pub use symbols::*;

/// The llvm dialect.
#[derive(Clone, Copy, Debug)]
pub struct LlvmDialect;

static READ: On = READS_FIRST;
static WRITE: On = WRITES_SECOND;
static ALLOCATE: On = On(&[(EffectKind::Allocate, Place::Result(0))]);
static NOTHING: On = On(&[]);

impl Dialect for LlvmDialect {
    const NAME: &'static str = "llvm";

    fn register(d: &mut DialectBuilder<'_>) {
        d.description("The last dialect before LLVM: its types, and the operations that lowered kernels need.")
            .partial();
        d.ty("ptr", types::parse_pointer)
            .ty("void", types::parse_void)
            .ty("func", types::parse_function)
            .ty("array", types::parse_array)
            .ty("struct", types::parse_struct)
            .attr("fastmath", FastmathFlags::parse_attr)
            .attr("linkage", Linkage::parse_attr)
            .attr("cconv", CConv::parse_attr)
            .attr("tailcallkind", TailCallKind::parse_attr)
            .attr("framePointerKind", FramePointerKind::parse_attr)
            .directive("OverflowFlags", asm::OVERFLOW_FLAGS)
            .directive("Comparison", asm::COMPARISON)
            .materialize(materialize);
        register_computations(d);
        register_memory(d);
        register_control(d);
        interp::register(d);
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
    for name in ["llvm.udiv", "llvm.sdiv", "llvm.urem", "llvm.srem"] {
        d.interface::<dyn MemoryEffects>(name, &NOTHING);
    }
}

fn register_memory(d: &mut DialectBuilder<'_>) {
    d.op::<GEPOp<'_>>().op::<LoadOp<'_>>().op::<StoreOp<'_>>().op::<AllocaOp<'_>>();
    d.op::<GlobalOp<'_>>().op::<AddressOfOp<'_>>();
    d.interface::<dyn MemoryEffects>("llvm.load", &READ)
        .interface::<dyn MemoryEffects>("llvm.store", &WRITE)
        .interface::<dyn MemoryEffects>("llvm.alloca", &ALLOCATE);
}

fn register_control(d: &mut DialectBuilder<'_>) {
    d.op::<FuncOp<'_>>().op::<ReturnOp<'_>>().op::<CallOp<'_>>().op::<CallIntrinsicOp<'_>>();
    d.op::<BrOp<'_>>().op::<CondBrOp<'_>>().op::<UnreachableOp<'_>>();
    d.interface::<dyn BranchInterface>("llvm.br", &Successors { first_group: 0 })
        .interface::<dyn BranchInterface>("llvm.cond_br", &Successors { first_group: 1 })
        .interface::<dyn SymbolUser>("llvm.mlir.addressof", &verify::AddressSymbols)
        .interface::<dyn SymbolUser>("llvm.call", &verify::CallSymbols);
}

/// Each successor has an operand group; those of the first successor come first.
struct Successors {
    first_group: usize,
}

impl BranchInterface for Successors {
    fn successor_operands(&self, op: OpRef<'_>, index: usize) -> Range<usize> {
        op.operand_group(self.first_group + index).unwrap_or_default()
    }
}

fn materialize(b: &mut Builder<'_>, loc: Loc, value: Attr, ty: Type) -> Option<Op> {
    (b.cx().attr_type(value) == Some(ty)).then(|| ConstantOp::build(b, loc, value, ty))
}

//! The `rt` dialect: what the host does around the kernels, decided at compile time.
//!
//! A [`ProgramOp`] is one compiled model: its inputs, outputs and constants as buffers, the temporaries between kernels,
//! the launches, and the choice between versions of a kernel by the sizes of the run. It is lowered to the functions that
//! a model's shared object exports; nothing of it is interpreted at run time.

mod asm;
mod bind;
mod build;
mod call;
mod constraints;
mod control;
mod decide;
mod effects;
mod interp;
mod kernel;
mod liveness;
mod lowered;
mod ops;
mod program;
mod types;
mod verify;

use sutura_interp::Callable;
use sutura_ir::interfaces::{MemoryEffects, SymbolUser};
use sutura_ir::name_of;
use sutura_ir::registry::{Dialect, DialectBuilder};

pub use bind::{Check, Condition, Quantity, Solution, Step, Unsolvable, Words};
pub use build::{Invocation, ProgramBuilder, ProgramHeader, invoke, launch, packed};
pub use call::{CallOp, works_on_devices};
pub use constraints::GuardsAttr;
pub use control::{MOST_NESTED, nesting};
pub use decide::{Decision, Phases, planned_bytes};
pub use kernel::{
    Access, GROUPS_ATTR, KERNEL_ATTR, KernelSignature, Launchable, OPS_ATTR, PARTS_ATTR, Param, read_checks,
    read_symbol, write_checks,
};
pub use liveness::{BufferUses, Interval, root_buffer};
pub use ops::{
    AllocOp, ConstantOp, CopyOp, ExchangeOp, ExpectOp, IfOp, InvokeOp, LaunchOp, PackedOp, ProgramOp, ReadSizesOp,
    ReturnOp, SelectOp, SizeListOp, ViewOp, WhileOp, WriteSizesOp,
};
pub use program::{Constraint, ConstraintKind, Port, ProgramInfo, Symbol};
pub use types::{ALIGNMENT, BufferType};

/// The `rt` dialect.
#[derive(Clone, Copy, Debug)]
pub struct RtDialect;

impl Dialect for RtDialect {
    const NAME: &'static str = "rt";

    fn register(d: &mut DialectBuilder<'_>) {
        d.description("The host program of a compiled model: buffers, launches of kernels, choice of versions.");
        d.ty("buffer", types::parse_buffer);
        d.directive("ProgramHeader", asm::PROGRAM_HEADER)
            .directive("Sizes", asm::SIZES)
            .directive("Guards", asm::GUARDS)
            .directive("Params", call::PARAMS);
        d.op::<ProgramOp<'_>>().op::<ReturnOp<'_>>().op::<ConstantOp<'_>>().op::<AllocOp<'_>>().op::<ViewOp<'_>>();
        d.op::<LaunchOp<'_>>().op::<PackedOp<'_>>().op::<CopyOp<'_>>().op::<SelectOp<'_>>().op::<ExpectOp<'_>>();
        d.op::<SizeListOp<'_>>().op::<WriteSizesOp<'_>>().op::<ReadSizesOp<'_>>();
        d.op::<CallOp<'_>>().op::<InvokeOp<'_>>().op::<IfOp<'_>>().op::<WhileOp<'_>>().op::<ExchangeOp<'_>>();
        d.op_interface::<ProgramOp<'_>, dyn SymbolUser>(&verify::ProgramSymbols);
        d.op_interface::<ConstantOp<'_>, dyn MemoryEffects>(&effects::ReadsConstant);
        d.op_interface::<AllocOp<'_>, dyn MemoryEffects>(&effects::Allocates);
        d.op_interface::<SizeListOp<'_>, dyn MemoryEffects>(&effects::Allocates);
        d.op_interface::<LaunchOp<'_>, dyn MemoryEffects>(&effects::ReadsAndWrites);
        d.op_interface::<WriteSizesOp<'_>, dyn MemoryEffects>(&effects::ReadsAndWrites);
        d.op_interface::<ReadSizesOp<'_>, dyn MemoryEffects>(&effects::ReadsAndWrites);
        d.op_interface::<CallOp<'_>, dyn MemoryEffects>(&call::CallEffects);
        d.op_interface::<CopyOp<'_>, dyn MemoryEffects>(&effects::Copies);
        d.op_interface::<ExchangeOp<'_>, dyn MemoryEffects>(&effects::ReadsAndWrites);
        d.op_interface::<InvokeOp<'_>, dyn MemoryEffects>(&effects::ReadsAndWrites);
        d.op_interface::<ExpectOp<'_>, dyn MemoryEffects>(&effects::ReadsAndWrites);
        for function in [
            name_of::<crate::func::FuncOp<'_>>(),
            name_of::<crate::gpu::GPUFuncOp<'_>>(),
            name_of::<crate::llvm::FuncOp<'_>>(),
            name_of::<crate::spirv::FuncOp<'_>>(),
        ] {
            d.interface::<dyn Launchable>(function, &kernel::AnnotatedFunction);
        }
        d.op_interface::<crate::gir::ops::KernelOp<'_>, dyn Launchable>(&kernel::TileKernel);
        d.op_interface::<ProgramOp<'_>, dyn Callable>(&interp::CallProgram);
        interp::register(d);
    }
}

#[cfg(test)]
mod tests;

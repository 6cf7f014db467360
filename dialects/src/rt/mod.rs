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

use sutura_interp::{Callable, Interpret};
use sutura_ir::interfaces::{MemoryEffects, SymbolUser};
use sutura_ir::registry::{Dialect, DialectBuilder};

pub use bind::{Check, Condition, Quantity, Solution, Step, Unsolvable, Words};
pub use build::{ProgramBuilder, ProgramHeader, invoke, launch, packed};
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
    AllocOp, ConstantOp, CopyOp, ExchangeOp, ExpectOp, IfOp, InvokeOp, LaunchOp, PackedOp, ProgramOp, ReturnOp,
    SelectOp, ViewOp, WhileOp,
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
        d.op::<CallOp<'_>>().op::<InvokeOp<'_>>().op::<IfOp<'_>>().op::<WhileOp<'_>>().op::<ExchangeOp<'_>>();
        d.interface::<dyn SymbolUser>("rt.program", &verify::ProgramSymbols);
        d.interface::<dyn MemoryEffects>("rt.constant", &effects::ReadsConstant);
        d.interface::<dyn MemoryEffects>("rt.alloc", &effects::Allocates);
        d.interface::<dyn MemoryEffects>("rt.launch", &effects::ReadsAndWrites);
        d.interface::<dyn MemoryEffects>("rt.call", &call::CallEffects);
        d.interface::<dyn MemoryEffects>("rt.copy", &effects::Copies);
        d.interface::<dyn MemoryEffects>("rt.exchange", &effects::ReadsAndWrites);
        d.interface::<dyn MemoryEffects>("rt.invoke", &effects::ReadsAndWrites);
        d.interface::<dyn MemoryEffects>("rt.expect", &effects::ReadsAndWrites);
        for function in ["func.func", "gpu.func", "llvm.func", "spirv.func"] {
            d.interface::<dyn Launchable>(function, &kernel::AnnotatedFunction);
        }
        d.interface::<dyn Launchable>("gir.kernel", &kernel::TileKernel);
        d.interface::<dyn Callable>("rt.program", &interp::CallProgram);
        for (name, hook) in interp::HOOKS {
            d.interface::<dyn Interpret>(name, *hook);
        }
    }
}

#[cfg(test)]
mod tests;

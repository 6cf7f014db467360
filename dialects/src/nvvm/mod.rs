//! What NVIDIA's GPUs have and LLVM's dialect has not: registers that say where a thread stands, barriers, shuffles,
//! asynchronous copies.

mod attrs;
mod ops;

use sutura_ir::interfaces::MemoryEffects;
use sutura_ir::name_of;
use sutura_ir::op_def::{OpView, Verify};
use sutura_ir::{Diagnostics, Dialect, DialectBuilder, OpRef, Reported, Type};

pub use attrs::{CacheModifier, ShuffleKind};
pub use ops::*;

use crate::llvm::types::StructType;

/// The attribute that makes a function a kernel.
pub const KERNEL: &str = "nvvm.kernel";

/// The attribute of a kernel with the threads of its blocks, x y z.
pub const REQNTID: &str = "nvvm.reqntid";

/// The nvvm dialect.
#[derive(Clone, Copy, Debug)]
pub struct NvvmDialect;

impl Dialect for NvvmDialect {
    const NAME: &'static str = "nvvm";

    fn register(d: &mut DialectBuilder<'_>) {
        d.description(
            "What NVIDIA's GPUs have beyond LLVM's dialect: where a thread stands, barriers, shuffles, copies.",
        )
        .partial();
        d.attr("", attrs::parse);
        d.directive("Kind", attrs::KIND).directive("Cache", attrs::CACHE);
        register_registers(d);
        d.op::<Barrier0Op<'_>>().op::<ShflOp<'_>>();
        d.op::<CpAsyncOp<'_>>().op::<CpAsyncCommitGroupOp<'_>>().op::<CpAsyncWaitGroupOp<'_>>();
        let copies =
            [name_of::<CpAsyncOp<'_>>(), name_of::<CpAsyncCommitGroupOp<'_>>(), name_of::<CpAsyncWaitGroupOp<'_>>()];
        for op in [name_of::<Barrier0Op<'_>>(), name_of::<ShflOp<'_>>()].into_iter().chain(copies) {
            d.interface::<dyn MemoryEffects>(op, &crate::effects::Meets);
        }
    }
}

impl Verify for ShflOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let shuffle = ShflOp::from_ref(op);
        let (given, result) = (op.ty(shuffle.val()), op.ty(shuffle.res()));
        let pair_wanted = shuffle.return_value_and_is_valid().is_some();
        let pair = op.cx.type_as::<StructType>(result).is_some_and(|s| s.fields.as_deref() == Some(&[given, Type::I1]));
        let fits = if pair_wanted { pair } else { result == given };
        if fits {
            return Ok(());
        }
        let expected = if pair_wanted {
            "a struct of the value's type and i1, as 'return_value_and_is_valid' says"
        } else {
            "the value's type; with 'return_value_and_is_valid' a struct of it and i1"
        };
        Err(diags.report(op.error(format!("expected the result to have {expected}"))))
    }
}

impl Verify for CpAsyncOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let copy = CpAsyncOp::from_ref(op);
        let fits = match copy.modifier() {
            CacheModifier::Ca => matches!(copy.size(), 4 | 8 | 16),
            CacheModifier::Cg => copy.size() == 16,
        };
        if fits {
            return Ok(());
        }
        Err(diags.report(op.error(format!("copies {} bytes: 16, and with 'ca' also 4 or 8", copy.size()))))
    }
}

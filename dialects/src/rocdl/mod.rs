//! What AMD's GPUs have and LLVM's dialect has not: where a work-item stands, barriers, values of other lanes.

mod ops;

use sutura_ir::interfaces::MemoryEffects;
use sutura_ir::name_of;
use sutura_ir::{Dialect, DialectBuilder};

pub use ops::*;

/// The attribute that makes a function a kernel.
pub const KERNEL: &str = "rocdl.kernel";

/// The attribute of a kernel with the work-items of its workgroups, x y z.
pub const REQD_WORK_GROUP_SIZE: &str = "rocdl.reqd_work_group_size";

/// The attribute of a kernel with the least and the most work-items of its workgroups, as text.
pub const FLAT_WORK_GROUP_SIZE: &str = "rocdl.flat_work_group_size";

/// The rocdl dialect.
#[derive(Clone, Copy, Debug)]
pub struct RocdlDialect;

impl Dialect for RocdlDialect {
    const NAME: &'static str = "rocdl";

    fn register(d: &mut DialectBuilder<'_>) {
        d.description(
            "What AMD's GPUs have beyond LLVM's dialect: where a work-item stands, barriers, other lanes' values.",
        )
        .partial();
        register_registers(d);
        d.op::<SBarrierOp<'_>>().op::<MbcntLoOp<'_>>().op::<MbcntHiOp<'_>>();
        d.op::<DsBpermuteOp<'_>>().op::<DsSwizzleOp<'_>>();
        for op in [name_of::<SBarrierOp<'_>>(), name_of::<DsBpermuteOp<'_>>(), name_of::<DsSwizzleOp<'_>>()] {
            d.interface::<dyn MemoryEffects>(op, &crate::effects::Meets);
        }
    }
}

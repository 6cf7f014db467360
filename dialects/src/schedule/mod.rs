//! The `schedule` dialect: how a region is computed, apart from what it computes.
//!
//! A region's normal form is the algorithm. A schedule says where its loops run and where its stages are computed.

mod attr;
mod edits;
mod ops;
#[cfg(test)]
mod tests;
mod text;
mod tree;
pub use tree::{
    Bring, Dim, Kernel, Launch, Loop, Node, Operand, Place, Prefetch, Rewrite, Runs, Split, StageName, Stored, Tile,
    Version, walk,
};
mod verify;

pub use attr::TreeAttr;
pub use edits::{
    Again, Asynchronous, Count, DimLoop, Edit, Fused, Guard, Input, Layout, LoopName, LoopNames, Parts, Primitive,
    PrimitiveInfo, SpaceName, Spot, TraceAttr, What, When,
};
pub use ops::{PlanOp, RegionOp, TraceOp};
pub use text::{MAX_LOOPS, rewrite_text, stage_text};

use sutura_ir::registry::{Dialect, DialectBuilder};

/// The `schedule` dialect.
#[derive(Clone, Copy, Debug)]
pub struct ScheduleDialect;

impl Dialect for ScheduleDialect {
    const NAME: &'static str = "schedule";

    fn register(d: &mut DialectBuilder<'_>) {
        d.description("How regions are computed: their loops, and where in them their stages are.");
        d.define_attr::<TreeAttr>();
        d.define_attr::<TraceAttr>();
        d.op::<RegionOp<'_>>();
        d.op::<TraceOp<'_>>();
        d.op::<PlanOp<'_>>();
    }
}

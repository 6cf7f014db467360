//! The `gir` dialect: tile-level dataflow programs. `docs/gir.md` says what they mean.

mod asm;
pub mod bounds;
mod canonicalize;
pub mod checks;
pub mod constraints;
mod control;
mod effects;
mod fold;
pub mod hints;
pub mod interp;
pub mod kernel;
pub mod kinds;
pub mod ops;
mod proof;
#[cfg(test)]
mod testing;
pub mod types;
mod verify;

pub use asm::DimDecl;
pub use proof::{missing_conditions, prove_kernel};

use sutura_ir::registry::{Dialect, DialectBuilder};

/// The `gir` dialect.
#[derive(Clone, Copy, Debug)]
pub struct GirDialect;

impl Dialect for GirDialect {
    const NAME: &'static str = "gir";

    fn register(d: &mut DialectBuilder<'_>) {
        use ops::*;
        d.description("Tile-level dataflow programs for CPUs, GPUs and accelerators.");
        d.op::<KernelOp>().op::<ProgramOp>().op::<IndexOp>().op::<ForOp>().op::<YieldOp>();
        d.op::<SliceOp>()
            .op::<LoadOp>()
            .op::<StoreOp>()
            .op::<HomeOp>()
            .op::<MoveOp>()
            .op::<AllocOp>()
            .op::<IdentityOp>();
        d.op::<AsyncCopyOp>().op::<AsyncCommitOp>().op::<AsyncWaitOp>();
        d.op::<FillOp>().op::<IotaOp>().op::<UnaryOp>().op::<BinaryOp>().op::<TernaryOp>();
        d.op::<CompareOp>().op::<CastOp>().op::<ReduceOp>().op::<ScanOp>().op::<BroadcastOp>();
        d.op::<TransposeOp>()
            .op::<GatherRowsOp>()
            .op::<PickOp>()
            .op::<DivisorOp>()
            .op::<ContractOp>()
            .op::<IntrinsicOp>()
            .op::<SyncOp>();
        d.ty("view", types::parse_view).ty("slice", types::parse_slice).ty("tile", types::parse_tile);
        d.directive("KernelHeader", asm::KERNEL_HEADER).directive("For", asm::FOR).directive("Clips", asm::CLIPS);
        d.directive("Stream", hints::STREAM).directive("Prefetch", hints::PREFETCH);
        control::register(d);
        effects::register(d);
        interp::register(d);
        proof::register(d);
    }
}

#[cfg(test)]
mod tests {
    use sutura_ir::asm::format::Format;
    use sutura_ir::{Context, Registry};

    /// Every assembly format names parts that its operation declares.
    #[test]
    fn formats_compile() {
        let cx = Context::new(Registry::default().with::<super::GirDialect>());
        for def in cx.registry().op_defs().filter(|d| d.dialect() == "gir") {
            let format = def.format.expect("every operation has a custom form");
            Format::compile(def, format).unwrap_or_else(|e| panic!("{}: {e}", def.name));
        }
    }
}

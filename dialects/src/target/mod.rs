//! The `target` dialect: a machine described in IR.

mod asm;
pub mod constraints;
mod desc;
mod find;
pub mod instances;
pub mod ops;
mod processor;
#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
mod verify;

pub use desc::{Contracts, RegisterTile, SpaceDesc, TargetDesc, contracts};
pub use find::{Finder, HOST, PATH_VARIABLE, Target, TargetError, embedded_names, from_file, from_text};
pub use processor::{BlockNeeds, Bound, Occupancy, ProcessorDesc};

use sutura_ir::registry::{Dialect, DialectBuilder};
use sutura_ir::{Body, Context, OpRef};

/// The `target` dialect.
#[derive(Clone, Copy, Debug)]
pub struct TargetDialect;

impl Dialect for TargetDialect {
    const NAME: &'static str = "target";

    fn register(d: &mut DialectBuilder<'_>) {
        d.description("Machines: memory spaces, units, bandwidths and tensor instructions.");
        d.op::<ops::MachineOp>().op::<ops::SpaceOp>().op::<ops::ProcessorOp>().op::<ops::IntrinsicOp>();
        d.directive("Signature", asm::SIGNATURE);
    }
}

/// The machine that a module is for: the one `target.machine` in its table; `None` when it names none.
///
/// # Errors
/// When there are several.
pub fn machine_of(module: OpRef<'_>) -> Result<Option<OpRef<'_>>, String> {
    machine_in(module.cx, module.inside())
}

/// As [`machine_of`], for what lies in the module: what a pass on it sees.
///
/// # Errors
/// When there are several.
pub fn machine_in<'a>(cx: &'a Context, module: &'a Body) -> Result<Option<OpRef<'a>>, String> {
    let ops = module.entry_block().into_iter().flat_map(|block| module.ops(block));
    let mut machines = ops.map(|op| OpRef::new(cx, module, op)).filter(|op| op.is::<ops::MachineOp>());
    match (machines.next(), machines.next()) {
        (Some(first), Some(second)) => {
            let name = |op: OpRef<'_>| op.symbol_name().unwrap_or("?").to_owned();
            Err(format!("the module describes two machines, @{} and @{}", name(first), name(second)))
        }
        (found, _) => Ok(found),
    }
}

//! Functions: definition, call, return.

mod adapt;
mod asm;
mod calls;
mod interp;
mod ops;
mod sizes;
mod verify;

use sutura_ir::interfaces::{ResultNames, SymbolUser};
use sutura_ir::{Dialect, DialectBuilder};

pub use interp::FunctionValue;
pub use ops::*;
pub use sizes::{Need, Shape, Signature, Signatures, signatures, states_sizes};

/// The func dialect.
#[derive(Clone, Copy, Debug)]
pub struct FuncDialect;

impl Dialect for FuncDialect {
    const NAME: &'static str = "func";

    fn register(d: &mut DialectBuilder<'_>) {
        d.description("Functions: definition, call, return.").partial();
        d.directive("NameAndVisibility", asm::NAME_AND_VISIBILITY)
            .directive("Signature", asm::SIGNATURE)
            .directive("CalleeType", asm::CALLEE_TYPE);
        d.op::<CallIndirectOp<'_>>().op::<FuncOp<'_>>().op::<CallOp<'_>>().op::<ConstantOp<'_>>().op::<ReturnOp<'_>>();
        d.op_interface::<CallOp<'_>, dyn SymbolUser>(&verify::CallSymbols);
        d.op_interface::<ConstantOp<'_>, dyn SymbolUser>(&verify::ConstantSymbols);
        d.op_interface::<ConstantOp<'_>, dyn ResultNames>(&"f");
        calls::register(d);
        interp::register(d);
    }
}

//! Operators that keep their name: `graph.operator` declares one, `graph.apply` applies it.
//!
//! A declaration is read once as an [`Operator`]. [`bind`] says what its symbols stand for where it is applied; verifier, shape
//! function, interpreter and [`lift`], which writes the decomposition out, all start from that.

mod bind;
mod declaration;
mod interp;
mod laws;
mod library;
mod lift;
mod nested;
mod numbers;
mod ops;
mod origin;
mod pattern;
mod shape;
mod steps;
mod verify;

use std::sync::Arc;

use indexmap::IndexMap;
use sutura_interp::Interpret;
use sutura_ir::interfaces::SymbolUser;
use sutura_ir::registry::DialectBuilder;
use sutura_ir::{Body, Context, OpRef};

pub use bind::{Actual, Binding, Number, bind};
pub use declaration::{Attribute, Formal, Group, Operator};
pub use laws::Law;
pub use library::{
    COUNT, Choice, LibraryError, Literal, Numbers, OnnxForm, OwnOperators, Unsigned, Words, from_file, from_text,
    library, link, missing, onnx_forms, onnx_forms_of, otherwise, own_from_file,
};
pub use lift::lift;
pub use nested::Find;
pub use ops::{ApplyOp, OperatorOp, ParamOp};
pub use origin::{from_operator, list_of_origins, origins};
pub use pattern::{Found, LEFT_NAME, Made, Pattern, Site, left_name, pattern, patterns};

use super::shape_fn::ShapeFn;

/// The operators that a module declares, by name.
pub type Operators = Arc<IndexMap<String, Arc<Operator>>>;

/// The operators that are declared in `module`, which lies in a module. Declarations that are not well formed are left out:
/// the verifier has refused them.
pub fn declared(cx: &Context, module: &Body) -> Operators {
    let ops = module.entry_block().into_iter().flat_map(|block| module.ops(block));
    let ops = ops.map(|op| OpRef::new(cx, module, op)).filter(|op| op.is::<OperatorOp<'_>>());
    let read = |op: OpRef<'_>| Operator::read(op).ok().map(|operator| (operator.name.clone(), Arc::new(operator)));
    Arc::new(ops.filter_map(read).collect())
}

pub(super) fn register(d: &mut DialectBuilder<'_>) {
    d.op::<OperatorOp<'_>>().op::<ApplyOp<'_>>().op::<ParamOp<'_>>();
    d.op_interface::<ApplyOp<'_>, dyn SymbolUser>(&verify::ApplySymbols)
        .op_interface::<ApplyOp<'_>, dyn ShapeFn>(&shape::ApplyShape)
        .op_interface::<ApplyOp<'_>, dyn Interpret>(&interp::ApplyHook);
}

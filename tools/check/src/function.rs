//! The functions of a module that can be called from outside.

use sutura_interp::Callable;
use sutura_ir::symbols::Visibility;
use sutura_ir::{Context, Module, OpRef, Type};

/// Names of the public functions with a body, in order; and what of the module is left out, in words.
pub(crate) fn public_functions(cx: &Context, module: &Module) -> (Vec<String>, Vec<String>) {
    let (mut functions, mut left_out) = (Vec::new(), Vec::new());
    let top = module.op_ref(cx);
    for op in top.regions().flat_map(|r| r.blocks()).flat_map(|b| b.ops()) {
        if is_function(op) && Visibility::of(op) == Visibility::Public {
            functions.extend(op.symbol_name().map(ToString::to_string));
        } else if op.name_str() == top.name_str() {
            let name = op.symbol_name().map(|n| format!(" @{n}")).unwrap_or_default();
            left_out.push(format!("functions in the nested module{name} are not run"));
        }
    }
    (functions, left_out)
}

fn is_function(op: OpRef<'_>) -> bool {
    let callable = op.attr("function_type").is_some() || op.interface::<dyn Callable>().is_some();
    callable && op.symbol_name().is_some() && op.region(0).is_some_and(|r| !r.is_empty())
}

/// The function `name`, if it has a body.
pub(crate) fn find<'a>(cx: &'a Context, module: &'a Module, name: &str) -> Option<OpRef<'a>> {
    sutura_ir::op_ref::lookup_symbol(module.op_ref(cx), cx.ident(name)).filter(|op| is_function(*op))
}

/// Types of a function's arguments.
pub(crate) fn argument_types(function: OpRef<'_>) -> Vec<Type> {
    let entry = function.region(0).and_then(|r| r.entry());
    entry.map_or_else(Vec::new, |entry| entry.args().iter().map(|arg| entry.body.ty(*arg)).collect())
}

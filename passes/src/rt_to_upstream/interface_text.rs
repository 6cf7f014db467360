//! What the code says of itself: the lengths and types that it was generated for, which a loader compares with the
//! artifact's manifest before it calls anything.

use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::llvm::constant_variable;
use sutura_dialects::llvm::types::ArrayType;
use sutura_dialects::routines::table::Routine;
use sutura_ir::asm::print::type_text;
use sutura_ir::types::{Signedness, TypeData};
use sutura_ir::{Attr, Body, Context, Loc, OpState, Type};

use super::interface::{Constant, HostInterface, Kernel, Tensor};

/// The variable that holds [`text`].
pub(super) const SYMBOL: &str = "sutura_interface";

/// The interface as the runtime's `abi` module describes it: sections in a fixed order, tensors as `f32[s0,4,?]`, with
/// symbols by their number and computed sizes as `?`.
pub(super) fn text(cx: &Context, interface: &HostInterface) -> String {
    let words = |words: Vec<String>| words.iter().fold(String::new(), |all, word| all + " " + word);
    let tensors = |tensors: &[Tensor]| words(tensors.iter().map(|t| tensor(cx, interface, t)).collect());
    let constants = words(interface.constants.iter().map(|c| constant(cx, c)).collect());
    let kernels = words(interface.kernels.iter().map(kernel).collect());
    let number = |name: &String| interface.symbols.iter().position(|symbol| symbol.name == *name);
    let decided: Vec<String> = interface.decided.iter().filter_map(number).map(|number| format!("s{number}")).collect();
    let decided = if decided.is_empty() { String::new() } else { format!("; decided{}", words(decided)) };
    let functions = interface.functions.len();
    let functions = if functions == 0 { String::new() } else { format!("; functions {functions}") };
    let inputs: Vec<Tensor> = interface.inputs.iter().chain(&interface.reserves).cloned().collect();
    format!(
        "symbols {}; inputs{}; outputs{}; constants{constants}; checks {}; data_checks {}; kernels{kernels}{decided}{functions}",
        interface.symbols.len(),
        tensors(&inputs),
        tensors(&interface.outputs),
        interface.checks.len(),
        interface.data_checks.len(),
    )
}

fn tensor(cx: &Context, interface: &HostInterface, tensor: &Tensor) -> String {
    let dim = |size: &Poly| match (size.as_const(), size.as_symbol()) {
        (Some(n), _) => n.to_string(),
        (None, Some(name)) => {
            let number = interface.symbols.iter().position(|symbol| symbol.name == *name);
            number.map_or_else(|| "?".to_owned(), |number| format!("s{number}"))
        }
        (None, None) => "?".to_owned(),
    };
    typed(cx, tensor.ty.elem, tensor.ty.dims.iter().map(dim))
}

fn constant(cx: &Context, constant: &Constant) -> String {
    let Some(ty) = cx.attr_type(constant.elements) else { return "?".to_owned() };
    typed(cx, cx.element_type(ty), cx.shape(ty).unwrap_or_default().iter().map(i64::to_string))
}

fn typed(cx: &Context, element: Type, dims: impl Iterator<Item = String>) -> String {
    format!("{}[{}]", element_name(cx, element), dims.collect::<Vec<_>>().join(","))
}

/// The element type as artifacts name it.
pub(super) fn element_name(cx: &Context, element: Type) -> String {
    match cx.type_data(element) {
        TypeData::Index => "i64".to_owned(),
        TypeData::Integer { width: 1, .. } => "bool".to_owned(),
        TypeData::Integer { width, sign: Signedness::Unsigned } => format!("u{width}"),
        TypeData::Integer { width, .. } => format!("i{width}"),
        _ => type_text(cx, element),
    }
}

fn kernel(kernel: &Kernel) -> String {
    kernel.groups_of_block.map_or_else(|| "-".to_owned(), |groups| groups.to_string())
}

/// The variable that holds the name by which code calls a routine.
pub(super) fn symbol_variable(routine: &Routine) -> String {
    format!("sutura_routine_{}_{}", routine.name, routine.version)
}

/// A variable that holds a text, ended by a zero byte.
pub(super) fn variable(cx: &Context, loc: Loc, name: &str, text: &str) -> (OpState, Body) {
    let value: Attr = cx.string_attr(&format!("{text}\0"));
    let ty = cx.ext_type(ArrayType { elem: Type::I8, len: text.len() as u64 + 1 });
    (constant_variable(cx, loc, name, ty, value), Body::new(1))
}

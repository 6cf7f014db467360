//! Text of types in messages, and words that several levels share.

use sutura_ir::{Context, Type};

/// The type as the text form writes it.
pub(crate) fn ty(cx: &Context, ty: Type) -> String {
    sutura_ir::asm::print::type_text(cx, ty)
}

/// The words for an index that is none, element `position` of the indices of `what`, which is `given` where `size` indices
/// are. The runtime uses the same.
pub(crate) fn wrong_index(what: &str, position: i64, given: i64, size: i64) -> String {
    let place = format!("{what}: element {position} of its indices is {given}");
    match size {
        ..=0 => format!("{place}, and the dimension that it indexes is empty"),
        _ => format!("{place}, which is not in [-{size}, {}]", size - 1),
    }
}

/// The words for a size that a list asks for, which is not that of the result's dimension. The runtime uses the same.
pub(crate) fn wrong_size(what: &str, position: i64, given: i64, wanted: i64) -> String {
    format!(
        "{what}: element {position} of its shape asks for {given}, and dimension {position} of the result is {wanted}"
    )
}

/// The words for a size that is another one than a program was told when it came there. The runtime uses the same.
pub(crate) fn unequal_size(what: &str, dim: i64, given: i64, wanted: i64) -> String {
    format!("{what}: dimension {dim} is {given}, and must be {wanted}")
}

/// The words for a division of integers by zero, at element `position` of the result of `what` where that is known. The
/// runtime uses the same.
pub(crate) fn division_by_zero(what: &str, position: Option<i64>) -> String {
    let place = position.map_or_else(String::new, |at| format!(" at element {at}"));
    format!("{what}: divides by zero{place}")
}

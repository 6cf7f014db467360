//! Text of types in messages.

use sutura_ir::{Context, Type};

/// The type as the text form writes it.
pub(crate) fn ty(cx: &Context, ty: Type) -> String {
    sutura_ir::asm::print::type_text(cx, ty)
}

//! Text of IR entities in messages.

use crate::attrs::Attr;
use crate::context::Context;
use crate::op_ref::OpRef;
use crate::types::Type;

pub(super) fn ty(cx: &Context, ty: Type) -> String {
    format!("{:?}", cx.type_data(ty))
}

pub(super) fn attr(cx: &Context, attr: Attr) -> String {
    format!("{:?}", cx.attr_data(attr))
}

pub(super) fn op(op: OpRef<'_>) -> String {
    format!("\"{}\"", op.name_str())
}

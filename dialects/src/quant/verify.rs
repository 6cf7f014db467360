//! What must hold of casts.

use sutura_ir::asm::print::type_text;
use sutura_ir::{Context, Diagnostics, OpRef, Reported, Type};

use super::scheme::check_type;
use super::{is_quantized, parts};
use crate::r#dyn::Poly;
use crate::r#dyn::attr::symbolic_shape;

fn check(op: OpRef<'_>, diags: &mut Diagnostics, checked: Result<(), String>) -> Result<(), Reported> {
    checked.map_err(|message| diags.report(op.error(message)))
}

/// Both are scalars, or both tensors of one shape.
fn same_shape(cx: &Context, a: Type, b: Type) -> Result<(), String> {
    let fits = match (a.is_tensor(cx), b.is_tensor(cx)) {
        (false, false) => true,
        (true, true) => cx.shape(a) == cx.shape(b),
        _ => false,
    };
    if !fits {
        let message = "failed to verify that input and result are both scalars or both tensors with matching shape";
        return Err(message.to_owned());
    }
    let (a, b) = (symbolic_shape(cx, a).unwrap_or_default(), symbolic_shape(cx, b).unwrap_or_default());
    let differ = |(a, b): (&Option<Poly>, &Option<Poly>)| match (a, b) {
        (Some(a), Some(b)) => a.sub(b).as_const().is_some_and(|difference| difference != 0),
        _ => false,
    };
    match a.iter().zip(&b).position(differ) {
        Some(dim) => Err(format!("input and result differ in dimension {dim}")),
        None => Ok(()),
    }
}

/// A cast between what is stored and what it expresses.
pub(super) fn cast(op: OpRef<'_>, stored: Type, float: Type, diags: &mut Diagnostics) -> Result<(), Reported> {
    let cx = op.cx;
    check(op, diags, same_shape(cx, stored, float))?;
    let (_, expressed) = parts(cx, cx.element_type(stored));
    let checked = match expressed {
        Some(expressed) if expressed == cx.element_type(float) => check_type(cx, stored),
        _ => Err("expressed type in quantized type expected to match float type".to_owned()),
    };
    check(op, diags, checked)
}

/// A cast between what is stored and the integers as which it is.
pub(super) fn storage_cast(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
    let cx = op.cx;
    let (from, to) = (op.ty(op.operand(0)), op.ty(op.result(0)));
    check(op, diags, same_shape(cx, from, to))?;
    let (stored, integer) = match [from, to].map(|ty| is_quantized(cx, cx.element_type(ty))) {
        [true, false] => (from, to),
        [false, true] => (to, from),
        _ => {
            let message = "failed to verify that input must be integer and result must be quantized, or vice versa";
            return Err(diags.report(op.error(message)));
        }
    };
    let (storage, _) = parts(cx, cx.element_type(stored));
    let integer = cx.element_type(integer);
    let checked = match storage {
        Some(storage) if Some(storage.width) == cx.bit_width(integer) => check_type(cx, stored),
        _ => {
            let (stored, integer) = (type_text(cx, cx.element_type(stored)), type_text(cx, integer));
            Err(format!("storage type in quantized type expected to match integer type: {stored}, {integer}"))
        }
    };
    check(op, diags, checked)
}

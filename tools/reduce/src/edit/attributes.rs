//! Attributes and constants.

use sutura_ir::symbols::SYMBOL_NAME;
use sutura_ir::{Op, OpRef, Rewriter, Traits};

use super::Change;
use super::operations::number;

/// Attributes that the op may do without: all that are discardable, and inherent ones that are optional.
pub(super) fn offer_removal(op: OpRef<'_>, out: &mut Vec<Change>) {
    let cx = op.cx;
    for entry in cx.entries(op.body.attrs(op.op)) {
        out.push(Change::Attribute(cx.str(entry.name).to_string(), false));
    }
    for entry in cx.entries(op.body.props(op.op)) {
        let name = cx.str(entry.name);
        let needed = op.def().and_then(|d| d.attr(name)).is_some_and(|a| !a.optional && a.default.is_none());
        let segments = name == "operandSegmentSizes" || name == "resultSegmentSizes";
        if !needed && !segments && name != SYMBOL_NAME {
            out.push(Change::Attribute(name.to_string(), true));
        }
    }
}

pub(super) fn remove(rw: &mut Rewriter<'_>, op: Op, name: &str, inherent: bool) {
    if inherent { rw.set_prop(op, name, None) } else { rw.set_attr(op, name, None) }
}

/// Constants that are neither 0 nor 1 everywhere.
pub(super) fn offer_constants(op: OpRef<'_>, out: &mut Vec<Change>) {
    let Some(value) = op.prop("value").filter(|_| op.has_trait(Traits::ConstantLike) && op.num_results() == 1) else {
        return;
    };
    let ty = op.ty(op.result(0));
    let is = |n| number(op.cx, ty, n) == Some(value);
    if number(op.cx, ty, 0).is_some() && !is(0) && !is(1) {
        out.extend([Change::Constant(0), Change::Constant(1)]);
    }
}

pub(super) fn set_constant(rw: &mut Rewriter<'_>, op: Op, value: i64) -> Option<()> {
    let ty = rw.body().ty(rw.body().results(op).next()?);
    let value = number(rw.cx(), ty, value)?;
    rw.set_prop(op, "value", Some(value));
    Some(())
}

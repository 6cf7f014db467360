//! What elements of less than a byte, and roundings, have no code for.

use sutura_dialects::graph::{ComputeForm, ScanOp, ScatterOp};
use sutura_ir::asm::print::type_text;
use sutura_ir::diagnostics::Diagnostic;
use sutura_ir::float::ToPower;
use sutura_ir::types::FloatKind;
use sutura_ir::{Block, Body, Context, OpRef, Type};

use super::{byte_float, narrow};

/// Refuses what the pass has no code for.
pub(super) fn check(cx: &Context, body: &Body, view: OpRef<'_>) -> Result<(), Box<Diagnostic>> {
    if let Some(form) = ComputeForm::of(view) {
        let joint = form.joint.map(|joint| joint.body.block);
        return [Some(form.body.block), joint].into_iter().flatten().try_for_each(|block| check_block(cx, body, block));
    }
    let is_narrow = |ty: Type| cx.shape(ty).is_some() && narrow::width(cx, cx.element_type(ty)).is_some();
    let region = (view.is::<ScatterOp<'_>>() || view.is::<ScanOp<'_>>()) && view.region(0).is_some();
    match view.result_types().find(|ty| region && is_narrow(*ty)) {
        Some(ty) => {
            let elem = type_text(cx, cx.element_type(ty));
            let error = view.error(format!("joins elements of {elem} by a region, for which nothing is compiled"));
            Err(Box::new(error.help("use a 'combiner', or convert the tensors to i8")))
        }
        None => Ok(()),
    }
}

fn check_block(cx: &Context, body: &Body, block: Block) -> Result<(), Box<Diagnostic>> {
    if let Some(op) = narrow::unknown(cx, block, body) {
        let narrow = op.operand_types().chain(op.result_types()).find(|ty| narrow::width(cx, *ty).is_some());
        let elem = narrow.map_or_else(String::new, |ty| type_text(cx, ty));
        return Err(Box::new(op.error(format!("computes with {elem}, for which nothing is compiled"))));
    }
    let rounds = |op: &OpRef<'_>| {
        let kind = op.result_types().next().and_then(|ty| byte_float(cx, ty));
        op.name_str() == "arith.truncf" && kind.is_some_and(|kind| kind != FloatKind::F8E8M0FNU) && mode(*op) != NEAREST
    };
    match body.ops(block).map(|op| OpRef::new(cx, body, op)).find(rounds) {
        Some(op) => {
            let elem = op.result_types().next().map_or_else(String::new, |ty| type_text(cx, ty));
            let message =
                format!("rounds to {elem} in another way than to nearest even, for which nothing is compiled");
            Err(Box::new(op.error(message)))
        }
        None => Ok(()),
    }
}

/// The number of the mode that rounds to nearest even.
const NEAREST: i64 = 0;

/// The number of the mode in which a conversion rounds.
fn mode(op: OpRef<'_>) -> i64 {
    op.prop("roundingmode").and_then(|mode| op.cx.as_int(mode)).unwrap_or(NEAREST)
}

/// How a conversion makes a power of two; `None` where it says nothing of it.
pub(super) fn to_power(op: OpRef<'_>) -> Option<ToPower> {
    match mode(op) {
        1 | 3 => Some(ToPower::Down),
        2 => Some(ToPower::Up),
        _ => None,
    }
}

//! How many bytes a launch touches: all of its views, but of what is read at an index that is picked once what lies there.

use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::gir::kernel::{KernelInfo, Mode};
use sutura_dialects::gir::ops::{IdentityOp, PickOp, SliceOp};
use sutura_dialects::gir::types::ViewType;
use sutura_ir::{Context, OpRef, OpView, Type, Value};

/// Bytes that an element takes in memory.
pub(super) fn bytes_of(cx: &Context, elem: Type) -> i64 {
    cx.bit_width(elem).map_or(8, |bits| i64::from(bits.div_ceil(8)).max(1))
}

/// Bytes that a launch of a kernel touches at most.
pub(super) fn bytes(info: &KernelInfo<'_>) -> Poly {
    let of_view = |(view, ty, mode): &(Value, &ViewType, Mode)| {
        let picked = (*mode == Mode::In).then(|| elements_picked(info, *view)).flatten();
        picked.unwrap_or_else(|| ty.elements()).scale(bytes_of(info.op.cx, ty.elem))
    };
    info.views.iter().map(of_view).fold(Poly::default(), |sum, bytes| sum.add(&bytes))
}

/// The elements of a view that windows of it have, where each is at an index that all groups pick alike.
fn elements_picked(info: &KernelInfo<'_>, view: Value) -> Option<Poly> {
    let inside = info.op.inside();
    let mut all = Poly::default();
    for used in inside.uses(view) {
        let op = OpRef::new(info.op.cx, inside, used.owner);
        if let Some(identity) = op.as_::<IdentityOp<'_>>() {
            all = all.add(&elements_picked(info, identity.result())?);
        } else {
            all = all.add(&of_window(info, &op.as_::<SliceOp<'_>>()?)?);
        }
    }
    Some(all)
}

fn of_window(info: &KernelInfo<'_>, slice: &SliceOp<'_>) -> Option<Poly> {
    let op = slice.op_ref();
    let ty: &ViewType = op.cx.type_as(op.ty(slice.view()))?;
    let along = [slice.row_dim(), slice.col_dim()].map(|dim| dim.and_then(|dim| usize::try_from(dim).ok()));
    let fixed = |dim: usize, offset: Value| !along.contains(&Some(dim)) && is_picked_once(info, offset);
    let picked: Vec<bool> = slice.offsets().enumerate().map(|(dim, offset)| fixed(dim, offset)).collect();
    let left = ty.dims.iter().zip(&picked).filter(|(_, picked)| !**picked).map(|(size, _)| size);
    picked.contains(&true).then(|| Poly::product(left))
}

/// True for an index that is read, and is the same for all groups and trips.
fn is_picked_once(info: &KernelInfo<'_>, index: Value) -> bool {
    let inside = info.op.inside();
    let maker = inside.defining_op(index).map(|op| OpRef::new(info.op.cx, inside, op));
    maker.is_some_and(|op| op.is::<PickOp<'_>>() && is_same_everywhere(info, index))
}

/// True where nothing that a value is made of is an index of a group, of a unit or of a loop.
fn is_same_everywhere(info: &KernelInfo<'_>, value: Value) -> bool {
    let inside = info.op.inside();
    match inside.defining_op(value) {
        Some(op) => OpRef::new(info.op.cx, inside, op).operands().all(|operand| is_same_everywhere(info, operand)),
        None => {
            let views = info.views.iter().map(|(view, ..)| *view);
            views.chain(info.dims.iter().map(|(size, _)| *size)).any(|known| known == value)
        }
    }
}

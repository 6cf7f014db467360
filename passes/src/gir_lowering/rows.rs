//! What comes next in a call: another group, or another row of the group.

use sutura_dialects::gir::bounds::Bounds;
use sutura_dialects::gir::kernel::KernelInfo;
use sutura_dialects::gir::ops::{ForOp, SliceOp};
use sutura_ir::Value;

/// True for a loop over the rows of a group: it begins where the group does, and carries nothing.
pub(crate) fn counts_rows<'a>(bounds: &mut Bounds<'a>, kernel: &KernelInfo<'a>, this: &ForOp<'a>) -> bool {
    let index = this.body().entry().and_then(|entry| entry.args().first().copied());
    let Some(row) = index.and_then(|index| bounds.expr(index)) else { return false };
    let variable = row.as_symbol().and_then(|name| bounds.variable_named(name));
    let of_grid = |name: &str| {
        let around = bounds.variable_named(name).map(|variable| variable.value);
        kernel.grid.iter().any(|(index, _)| Some(*index) == around)
    };
    let in_group = variable.is_some_and(|v| v.low.symbols().iter().any(|name| of_grid(name)));
    in_group && this.inits().next().is_none()
}

/// By how many positions along each dimension a slice moves where `index` counts on; `None` when it stays, or moves by what is no
/// constant.
pub(crate) fn further<'a>(bounds: &mut Bounds<'a>, slice: &SliceOp<'a>, index: Value) -> Option<Vec<(usize, i64)>> {
    let index = bounds.expr(index)?;
    let name = index.as_symbol()?.to_owned();
    let mut further = Vec::new();
    for (dim, offset) in slice.offsets().enumerate() {
        let here = bounds.expr(offset)?;
        let next = here.substitute(&|symbol| (symbol == name).then(|| index.add(&1.into())));
        let step = next.sub(&here).as_const()?;
        if step != 0 {
            further.push((dim, step));
        }
    }
    (!further.is_empty()).then_some(further)
}

//! Copies of tensors: the same numbers at other places.

use sutura_dialects::graph::{ComputeForm, maps};
use sutura_ir::affine::AffineExpr;
use sutura_ir::{Context, OpRef, Value};

use super::nest::substitute;

/// What a copy makes, as a read of what it copies.
pub(crate) struct Copied {
    pub(crate) source: Value,
    /// For each dimension of the source an expression in the dimensions of the copy.
    index: Vec<AffineExpr>,
}

impl Copied {
    /// The copy that an op is: one tensor in, the same numbers out at other places.
    pub(crate) fn of(op: OpRef<'_>) -> Option<Self> {
        let (cx, form) = (op.cx, ComputeForm::of(op)?);
        let yielded = form.yielded()?;
        let whole =
            form.is_elementwise() && form.inputs().len() == 1 && form.results().len() == 1 && form.sizes.is_empty();
        if !whole || form.body.args() != yielded.operands().collect::<Vec<_>>() {
            return None;
        }
        let results = cx.map_results(form.result_maps[0]);
        let place = |i: usize| results.iter().position(|e| maps::plain_dim(cx, *e) == Some(i));
        let places: Vec<u32> = (0..form.iterators.len()).map(|i| place(i).map(|p| p as u32)).collect::<Option<_>>()?;
        let to = |i: usize| cx.affine_dim(places[i]);
        let index = cx.map_results(form.input_maps[0]).iter().map(|e| substitute(cx, *e, &to)).collect();
        Some(Self { source: op.operand(0), index })
    }

    /// Where the source is read by what reads the copy at `read`.
    pub(crate) fn read_at(&self, cx: &Context, read: &[AffineExpr]) -> Vec<AffineExpr> {
        self.index.iter().map(|e| substitute(cx, *e, &|d| read[d])).collect()
    }
}

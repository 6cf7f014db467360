//! Indices that a kernel reads.

use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::gir::ops::{IndexOp, PickOp};
use sutura_ir::Value;
use sutura_ir::affine::AffineOp;

use super::kernel::Emit;
use super::tiles::Frame;
use crate::region::Nest;
use crate::region::nest::Pick;

impl Emit<'_> {
    /// The index that a pick reads from `view`.
    pub(super) fn pick(&mut self, nest: &Nest<'_>, frame: &Frame, pick: &Pick, view: Value) -> Value {
        let tile = self.load(nest, frame, (view, &pick.access.index), (None, &[]));
        let tile = self.in_registers(frame, tile);
        let (size, position) = (self.size(&pick.size), self.position(nest, frame, pick));
        PickOp::value(&mut self.b, self.loc, tile.value, size, position, &pick.what)
    }

    /// Which element of the indices is read, counted row by row.
    fn position(&mut self, nest: &Nest<'_>, frame: &Frame, pick: &Pick) -> Value {
        let mut position = None;
        for (expr, size) in pick.access.index.iter().zip(&nest.shapes[&pick.access.value]) {
            let index = self.index(*expr, &|d| frame.value(d));
            let Some(before) = position else {
                position = Some(index);
                continue;
            };
            position = Some(self.behind(before, index, size));
        }
        position.unwrap_or_else(|| self.constant(0))
    }

    /// Position of `index` in a dimension of that size, in row `before`.
    pub(super) fn behind(&mut self, before: Value, index: Value, size: &Poly) -> Value {
        let (cx, size) = (self.b.cx(), self.size(size));
        let rows = cx.affine_binary(AffineOp::Mul, cx.affine_dim(0), cx.affine_symbol(0));
        let map = cx.affine_map(2, 1, &[cx.affine_binary(AffineOp::Add, rows, cx.affine_dim(1))]);
        IndexOp::value(&mut self.b, self.loc, map, &[before, index, size])
    }
}

//! Divisions of integers: a divisor of 0 is told to the host, and only where a quotient is asked for.

use sutura_dialects::r#dyn::Facts;
use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::gir::kinds::CompareKind;
use sutura_dialects::gir::ops::DivisorOp;
use sutura_dialects::graph::{described, maps};
use sutura_ir::{OpRef, Type, Value};

use super::kernel::Emit;
use super::tiles::{Axis, Covers, Frame, Number, Tile};
use crate::region::form::divides;
use crate::region::{Nest, Stage};

impl Emit<'_> {
    /// The operands of `op`, a divisor that may be 0 replaced by one that is checked.
    pub(super) fn checked(
        &mut self,
        frame: &Frame,
        facts: &Facts,
        (nest, stage): (&Nest<'_>, &Stage<'_>),
        op: OpRef<'_>,
        operands: &[Number],
    ) -> Vec<Number> {
        let mut operands = operands.to_vec();
        if divides(op) {
            operands[1] = self.divisor(frame, facts, (nest, stage), operands[1]);
        }
        operands
    }

    fn divisor(
        &mut self,
        frame: &Frame,
        facts: &Facts,
        (nest, stage): (&Nest<'_>, &Stage<'_>),
        number: Number,
    ) -> Number {
        let conditions = self.where_divided(frame, facts, (nest, stage), number);
        let elem = number.elem();
        let one = Number::Constant(self.b.cx().int_attr(1, elem), elem);
        let number = self.where_all(frame, &conditions, number, one);
        let Some(tile) = self.agree(frame, &[number]).pop() else { return number };
        let what = described(stage.op);
        let position = self.position_in_result(frame, nest, stage).unwrap_or_default();
        let value = DivisorOp::value(&mut self.b, self.loc, &what, tile.value, &position);
        Number::Tile(Tile { value, ..tile })
    }

    /// Where a divisor divides something: not in what of a tile lies beyond the end of a dim, nor where there are no columns.
    fn where_divided(
        &mut self,
        frame: &Frame,
        facts: &Facts,
        (nest, stage): (&Nest<'_>, &Stage<'_>),
        number: Number,
    ) -> Vec<Tile> {
        let (shape, windowed) = match number {
            Number::Tile(tile) => (tile.shape, tile.window == Covers::Tensor),
            Number::Constant(..) => (Default::default(), false),
        };
        let mut conditions = Vec::new();
        let axes = [(&frame.row, shape.rows), (&frame.col, shape.cols)];
        for (axis, spans) in axes.into_iter().filter_map(|(axis, spans)| Some((axis.as_ref()?, spans))) {
            let size = &nest.extents[axis.dim];
            if spans && (frame.partial || frame.padded) && !windowed {
                conditions.push(self.in_range(frame, nest.dim(axis.dim), size));
            } else if !spans && stage.dims.contains(&axis.dim) && facts.range(size).0 < 1 {
                let zero = Number::Constant(self.b.cx().index_attr(0), Type::INDEX);
                let size = Number::Tile(self.size_tile(frame, size));
                conditions.push(self.index_compare(frame, CompareKind::Slt, zero, size));
            }
        }
        conditions
    }

    /// Position of a tile's first element in the result of its stage, and the distances of rows and columns there; `None`
    /// where elements of the tile are none of the result.
    fn position_in_result(&mut self, frame: &Frame, nest: &Nest<'_>, stage: &Stage<'_>) -> Option<Vec<Value>> {
        if stage.reduces() || stage.copy {
            return None;
        }
        let (mut base, mut steps) = (None, [Poly::default(), Poly::default()]);
        let axes: [&Option<Axis>; 2] = [&frame.row, &frame.col];
        for expr in &stage.results[0].index {
            let (size, dim) = match nest.plain(*expr) {
                Some(dim) => (nest.extents[dim].clone(), Some(dim)),
                None => (maps::constant(nest.cx, *expr).map(|_| Poly::constant(1))?, None),
            };
            for (step, axis) in steps.iter_mut().zip(axes) {
                *step = step.mul(&size);
                if axis.as_ref().is_some_and(|a| Some(a.dim) == dim) {
                    *step = step.add(&1.into());
                }
            }
            let index = self.index(*expr, &|d| frame.value(d));
            base = Some(match base {
                Some(before) => self.behind(before, index, &size),
                None => index,
            });
        }
        let base = base.unwrap_or_else(|| self.constant(0));
        Some(vec![base, self.size(&steps[0]), self.size(&steps[1])])
    }
}

//! Divisors of integers: machines stop at a division by zero, so what is divided by has 1 in place of each 0, and a 0 that
//! exists is told to the runtime.

use sutura_dialects::gir::kinds::{BinaryKind, Combiner};
use sutura_dialects::gir::ops::DivisorOp;
use sutura_dialects::vector::CombiningKind;
use sutura_ir::{OpRef, OpView, Type, Value};

use super::emit::{Emit, Pred, identity};
use super::kernel::Lowering;
use super::report::Reporter;
use super::tile::{Parts, RegTile};

/// How a zero among divisors is told.
#[derive(Clone, Copy)]
pub(super) struct ZeroCheck {
    reporter: Reporter,
    /// Number of the check among those of the kernel.
    check: i64,
    /// Position of the tile's first element, and distances of rows and columns.
    position: Option<[Value; 3]>,
}

impl<'a> Lowering<'a, '_> {
    /// How a divisor's zeros are told.
    pub(super) fn zero_check(&self, this: &DivisorOp<'a>) -> ZeroCheck {
        let position: Vec<Value> = this.position().map(|index| self.index(index)).collect();
        ZeroCheck { reporter: self.reporter, check: self.number_of(this.op_ref()), position: position.try_into().ok() }
    }
}

impl Emit<'_> {
    /// The divisors of a tile in registers.
    pub(super) fn checked_tile(&mut self, tile: &RegTile, check: &ZeroCheck) -> RegTile {
        let mut tile = tile.clone();
        let (cols, row_window, col_window) = (tile.cols, tile.row_window, tile.col_window);
        let scalars = tile.is_scalars();
        let (Parts::Scalars(rows) | Parts::Vectors(rows)) = &mut tile.parts;
        for (r, row) in rows.iter_mut().enumerate() {
            for (c, value) in row.iter_mut().enumerate() {
                let inside = self.row_exists(r as i64, row_window);
                let column = if scalars {
                    self.row_exists(c as i64, col_window)
                } else {
                    self.chunk_mask(c as i64, cols, col_window)
                };
                let col = if scalars { self.i64(c as i64) } else { self.own_column(c as i64) };
                *value = self.checked_divisor(*value, [inside, column], check, (r as i64, col));
            }
        }
        tile
    }

    /// Numbers with ones in place of zeros. Zeros where all `conditions` hold, of the whole or of each lane, are told;
    /// `place` is the row and the first column.
    pub(super) fn checked_divisor(
        &mut self,
        value: Value,
        conditions: [Option<Value>; 2],
        check: &ZeroCheck,
        place: (i64, Value),
    ) -> Value {
        let ones = self.ones_like(value);
        let nothing = self.op1("arith.subi", &[ones, ones], self.ty(value), &[]);
        let zeros = self.cmpi(Pred::Eq, value, nothing);
        let is_vector = self.cx().shape(self.ty(value)).is_some();
        let mut wrong = zeros;
        for condition in conditions.into_iter().flatten() {
            let spread = is_vector && self.cx().shape(self.ty(condition)).is_none();
            let condition = if spread { self.broadcast(condition) } else { condition };
            wrong = self.both(Some(wrong), condition);
        }
        let mut any = wrong;
        if is_vector {
            let kind = self.cx().ext_attr(CombiningKind::Or);
            any = self.op1("vector.reduction", &[wrong], Type::I1, &[("kind", kind)]);
        }
        let told = self.if_else(
            any,
            &[],
            |e| {
                let position = e.first_position(wrong, check, place);
                let zero = e.i64(0);
                e.report(check.reporter, check.check, [position, zero, zero]);
                Ok(vec![])
            },
            |_| Ok(vec![]),
        );
        told.expect("neither branch fails");
        self.select(zeros, ones, value)
    }

    /// The lowest position of those that are wrong; -1 where positions are not known.
    fn first_position(&mut self, wrong: Value, check: &ZeroCheck, (row, col): (i64, Value)) -> Value {
        let Some([base, row_step, col_step]) = check.position else { return self.i64(-1) };
        let row = self.i64(row);
        let down = self.muli(row, row_step);
        let start = self.addi(base, down);
        let across = self.muli(col, col_step);
        let start = self.addi(start, across);
        if self.cx().shape(self.ty(wrong)).is_none() {
            return start;
        }
        let (lanes, start, step) = (self.lane_numbers(), self.broadcast(start), self.broadcast(col_step));
        let ahead = self.muli(lanes, step);
        let positions = self.addi(start, ahead);
        let none = identity(self.cx(), Combiner::MinSI, Type::I64);
        let none = self.splat(none);
        let positions = self.select(wrong, positions, none);
        self.combine_own_lanes(Combiner::MinSI, positions)
    }

    /// A quotient or remainder of signed integers by what is not 0. The least number divided by -1 is itself, where
    /// machines stop.
    pub(super) fn divide_integers(&mut self, kind: BinaryKind, a: Value, b: Value) -> Value {
        let ty = self.ty(a);
        let unsigned = matches!(kind, BinaryKind::DivUI | BinaryKind::RemUI);
        if unsigned || self.known_number(b).is_some_and(|n| n != 0 && n != -1) {
            return self.op1(kind.scalar_op(), &[a, b], ty, &[]);
        }
        let ones = self.ones_like(b);
        let nothing = self.op1("arith.subi", &[ones, ones], ty, &[]);
        let minus = self.op1("arith.subi", &[nothing, ones], ty, &[]);
        let negates = self.cmpi(Pred::Eq, b, minus);
        let divisor = self.select(negates, ones, b);
        let result = self.op1(kind.scalar_op(), &[a, divisor], ty, &[]);
        if kind == BinaryKind::RemSI {
            return result;
        }
        let negated = self.op1("arith.subi", &[nothing, a], ty, &[]);
        self.select(negates, negated, result)
    }

    /// The constant that a value is, or that all its lanes are.
    fn known_number(&self, value: Value) -> Option<i64> {
        let (cx, body) = (self.cx(), self.b.body());
        let op = OpRef::new(cx, body, body.defining_op(value)?);
        if op.name_str() == "vector.broadcast" {
            return self.known_number(op.operand(0));
        }
        let constant = sutura_ir::registry::constant_value(op)?;
        cx.as_int(cx.splat_value(constant).unwrap_or(constant))
    }
}

//! Arithmetic of casts as ops.

use sutura_dialects::graph::build::scalar::constant;
use sutura_dialects::quant::numbers::Numbers;
use sutura_interp::num::NumOp;
use sutura_interp::{DType, Fault, Scalar};
use sutura_ir::{AttrData, Loc, Rewriter, Value};

use crate::arithmetic::number_op;

/// Makes ops at the insertion point.
pub(super) struct Ops<'s, 'b> {
    pub(super) rw: &'s mut Rewriter<'b>,
    pub(super) loc: Loc,
}

impl Numbers for Ops<'_, '_> {
    type Number = Value;

    fn op(&mut self, op: NumOp, args: &[&Value], ty: DType) -> Result<Value, Fault> {
        let cx = self.rw.cx();
        let args: Vec<Value> = args.iter().map(|value| **value).collect();
        let made = self.rw.create(number_op(cx, self.loc, op, &args, ty.to_type(cx))?);
        Ok(self.rw.body().result(made, 0))
    }

    fn constant(&mut self, value: Scalar) -> Result<Value, Fault> {
        let cx = self.rw.cx();
        let ty = value.dtype().to_type(cx);
        let attr = match value.as_i64() {
            Some(integer) => cx.int_attr(integer, ty),
            None => cx.attr(AttrData::Float { ty, bits: value.bits() }),
        };
        Ok(constant(self.rw, self.loc, attr, ty))
    }
}

//! Mathematical functions on integers and floats, element by element on vectors and tensors.

mod fold;
mod interp;
mod ops;

use sutura_ir::interfaces::{InlineCallables, Inliner};
use sutura_ir::{Dialect, DialectBuilder};

pub use ops::*;

/// The math dialect.
#[derive(Clone, Copy, Debug)]
pub struct MathDialect;

impl Dialect for MathDialect {
    const NAME: &'static str = "math";

    fn register(d: &mut DialectBuilder<'_>) {
        d.description("Mathematical functions on integers and floats, element by element on vectors and tensors.")
            .partial();
        d.directive("FastMath", crate::arith::FAST_MATH).materialize(crate::arith::materialize);
        d.op::<AbsFOp<'_>>().op::<AbsIOp<'_>>().op::<Atan2Op<'_>>().op::<AtanOp<'_>>().op::<CbrtOp<'_>>();
        d.op::<CeilOp<'_>>().op::<CopySignOp<'_>>().op::<CosOp<'_>>().op::<SinOp<'_>>().op::<TanOp<'_>>();
        d.op::<CtPopOp<'_>>().op::<CountLeadingZerosOp<'_>>().op::<CountTrailingZerosOp<'_>>();
        d.op::<ErfOp<'_>>().op::<ErfcOp<'_>>().op::<ExpOp<'_>>().op::<Exp2Op<'_>>().op::<ExpM1Op<'_>>();
        d.op::<FloorOp<'_>>().op::<FmaOp<'_>>().op::<IPowIOp<'_>>().op::<FPowIOp<'_>>().op::<PowFOp<'_>>();
        d.op::<IsFiniteOp<'_>>().op::<IsInfOp<'_>>().op::<IsNaNOp<'_>>();
        d.op::<LogOp<'_>>().op::<Log10Op<'_>>().op::<Log1pOp<'_>>().op::<Log2Op<'_>>();
        d.op::<RsqrtOp<'_>>().op::<SqrtOp<'_>>().op::<TanhOp<'_>>().op::<SinhOp<'_>>().op::<CoshOp<'_>>();
        d.op::<AsinOp<'_>>().op::<AcosOp<'_>>();
        d.op::<RoundOp<'_>>().op::<RoundEvenOp<'_>>().op::<TruncOp<'_>>();
        d.dialect_interface::<dyn Inliner>(&InlineCallables);
        interp::register(d);
    }
}

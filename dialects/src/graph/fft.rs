//! `graph.fft`.

use sutura_ir::constraints::{AnyRankedTensor, I64Attr};
use sutura_ir::diagnostics::{Diagnostics, Reported};
use sutura_ir::op_def::Verify;
use sutura_ir::{OpRef, op};

use super::routine::{self, RoutineCall, RoutineOp, constants};
use super::shape_fn::ShapeEnv;
use super::verify::{element, fail, sizes};
use crate::r#dyn::Poly;
use crate::r#dyn::ops::SizeAttr;

/// Discrete Fourier transform of lines of `input` along `axis`, of `size` elements each: element `k` of the result is the sum of
/// `x[n] * exp(-2 pi i k n / size)` over `n`.
///
/// The last dimension, of constant size, holds the real part of a number, and where it has size 2 its imaginary part; the
/// result has both. A line that is longer than `size` is cut, one that is shorter is continued by zeros. With `inverse` the
/// exponent has the other sign, and the sum is divided by `size`. With `onesided` only the elements up to number `size / 2`
/// are made, of which the others are the mirrored conjugates where the input is real; with both, only those are read, and the
/// result is real.
///
/// It is computed in f64 and rounded once to the element type, which has at least 16 bits; the table of routines states the
/// bound. The routine `fft` computes it.
///
/// ```mlir
/// %y = graph.fft %x [400] {axis = 1 : i64, onesided} : tensor<?x400x1xf32> -> tensor<?x201x2xf32>
/// ```
#[op(
    "graph.fft",
    traits(Pure),
    format = "$input custom<Size>($size) attr-dict `:` type($input) `->` type($result)",
    verify
)]
pub struct FftOp {
    /// What is transformed.
    input: Operand<AnyRankedTensor>,
    /// Elements of a line that is transformed.
    size: Attr<SizeAttr>,
    /// Dimension along which it is transformed, not the last one.
    axis: Attr<I64Attr>,
    /// The way back.
    inverse: Flag,
    /// The first half of the result and one; with `inverse`, of the input.
    onesided: Flag,
    /// Real and imaginary parts.
    result: Res<AnyRankedTensor>,
}

impl Verify for FftOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let Some(this) = op.as_::<FftOp<'_>>() else { return Ok(()) };
        let input = sizes(op, this.input());
        let parts = input.last().and_then(|size| size.as_ref()?.as_const());
        if !parts.is_some_and(|parts| (1..=2).contains(&parts)) {
            return fail(
                op,
                diags,
                "needs an input whose last dimension has the constant size 1 (real) or 2 (complex)",
            );
        }
        if usize::try_from(this.axis()).is_ok_and(|axis| axis + 1 == input.len()) {
            return fail(op, diags, "cannot run along the last dimension, which holds the parts of a number");
        }
        if op.cx.bit_width(element(op, this.input())).is_some_and(|bits| bits < 16) {
            return fail(op, diags, "transforms floats of 16 bits at least");
        }
        routine::verify(op, diags)
    }
}

pub(super) struct FftRoutine;

impl RoutineOp for FftRoutine {
    fn call(&self, op: OpRef<'_>, _: &ShapeEnv) -> Result<RoutineCall, String> {
        let this = op.as_::<FftOp<'_>>().ok_or("is no 'graph.fft'")?;
        let size = this.size().clone();
        let halved = this.onesided() && !this.inverse();
        let bins = if halved { size.floordiv(2).add(&Poly::constant(1)) } else { size.clone() };
        let (inverse, real) = (i64::from(this.inverse()), i64::from(this.onesided() && this.inverse()));
        RoutineCall::new(
            "fft",
            1,
            vec![
                constants(&[this.axis()]),
                vec![Some(size)],
                vec![Some(bins)],
                constants(&[inverse]),
                constants(&[real]),
            ],
        )
    }
}

//! `graph.top_k`.

use sutura_ir::constraints::{AnyRankedTensor, I64Attr};
use sutura_ir::diagnostics::{Diagnostics, Reported};
use sutura_ir::op_def::Verify;
use sutura_ir::{OpRef, op};

use super::routine::{self, RoutineCall, RoutineOp, constants};
use super::shape_fn::{Requirement, ShapeEnv};
use super::verify::fail;
use crate::r#dyn::Poly;
use crate::r#dyn::ops::SizeAttr;

/// Of each line of `input` along `axis` as many of the greatest elements as `size` says, sorted, the greatest first, and their
/// positions. With `smallest` the least, the least first.
///
/// Of equal elements the one at the lower position comes first. NaN is greater than every number and equal to itself; -0.0
/// equals 0.0. `size` must be at most the size of the dimension.
///
/// The routine `top_k` computes it.
///
/// ```mlir
/// %values, %positions = graph.top_k %x [5] {axis = 1 : i64} : tensor<?x30xf32> -> tensor<?x5xf32>, tensor<?x5xi64>
/// ```
#[op(
    "graph.top_k",
    traits(Pure),
    format = "$input custom<Size>($size) attr-dict `:` type($input) `->` type($values) `,` type($positions)",
    verify
)]
pub struct TopKOp {
    /// The elements.
    input: Operand<AnyRankedTensor>,
    /// How many are taken.
    size: Attr<SizeAttr>,
    /// Dimension along which they are taken.
    axis: Attr<I64Attr>,
    /// The least instead of the greatest.
    smallest: Flag,
    /// The elements that are taken.
    values: Res<AnyRankedTensor>,
    /// Where each of them is along the axis.
    positions: Res<AnyRankedTensor>,
}

impl Verify for TopKOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        routine::verify(op, diags)?;
        let Some(rest) = rest(op, &ShapeEnv::default()) else { return Ok(()) };
        if rest.as_const().is_some_and(|rest| rest < 0) {
            return fail(op, diags, "takes more elements than there are along the axis");
        }
        Ok(())
    }
}

/// How many elements of a line are left.
fn rest(op: OpRef<'_>, env: &ShapeEnv) -> Option<Poly> {
    let this = op.as_::<TopKOp<'_>>()?;
    let axis = usize::try_from(this.axis()).ok()?;
    Some(env.size(op, this.input(), axis)?.sub(this.size()))
}

pub(super) struct TopKRoutine;

impl RoutineOp for TopKRoutine {
    fn call(&self, op: OpRef<'_>, _: &ShapeEnv) -> Result<RoutineCall, String> {
        let this = op.as_::<TopKOp<'_>>().ok_or("is no 'graph.top_k'")?;
        let smallest = i64::from(this.smallest());
        RoutineCall::new(
            "top_k",
            1,
            vec![constants(&[this.axis()]), vec![Some(this.size().clone())], constants(&[smallest])],
        )
    }

    fn required(&self, op: OpRef<'_>, env: &ShapeEnv) -> Vec<Requirement> {
        let Some(rest) = rest(op, env).filter(|rest| env.facts.range(rest).0 < 0) else { return Vec::new() };
        let what = "the size along the axis less the elements that are taken".to_owned();
        vec![Requirement { lhs: rest.lesser(&Poly::default()), rhs: Poly::default(), what }]
    }
}

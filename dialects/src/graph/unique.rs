//! `graph.unique`.

use sutura_ir::constraints::{AnyRankedTensor, I64Attr};
use sutura_ir::diagnostics::{Diagnostics, Reported};
use sutura_ir::op_def::Verify;
use sutura_ir::{OpRef, op};

use super::routine::{self, RoutineCall, RoutineOp, constants};
use super::shape_fn::ShapeEnv;

/// The slices of `input` along `axis` without repetition, where each of them stands first, which of them each slice of the input
/// is, and how often each occurs.
///
/// They are in ascending order, the first elements counting most, or, with `unsorted`, in the order in which they occur first. NaN
/// is greater than every number and equal to itself; -0.0 equals 0.0. How many they are is decided by the data: at most as many as
/// there are slices. The op is no pure one, as `graph.non_zero`.
///
/// The routine `unique` computes it.
///
/// ```mlir
/// %y, %first, %inverse, %counts = graph.unique %x {axis = 0 : i64}
///     : tensor<?xf32> -> tensor<?xf32>, tensor<?xi64>, tensor<?xi64>, tensor<?xi64>
/// ```
#[op(
    "graph.unique",
    format = "$input attr-dict `:` type($input) `->` type($values) `,` type($firsts) `,` type($inverse) `,` type($counts)",
    verify
)]
pub struct UniqueOp {
    /// The slices.
    input: Operand<AnyRankedTensor>,
    /// Dimension along which they lie.
    axis: Attr<I64Attr>,
    /// In the order in which they occur first.
    unsorted: Flag,
    /// Those that differ.
    values: Res<AnyRankedTensor>,
    /// Where each of them stands first.
    firsts: Res<AnyRankedTensor>,
    /// Which of them each slice is.
    inverse: Res<AnyRankedTensor>,
    /// How often each occurs.
    counts: Res<AnyRankedTensor>,
}

impl Verify for UniqueOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        routine::verify(op, diags)
    }
}

pub(super) struct UniqueRoutine;

impl RoutineOp for UniqueRoutine {
    fn call(&self, op: OpRef<'_>, _: &ShapeEnv) -> Result<RoutineCall, String> {
        let this = op.as_::<UniqueOp<'_>>().ok_or("is no 'graph.unique'")?;
        let sorted = i64::from(!this.unsorted());
        RoutineCall::new("unique", 1, vec![constants(&[this.axis()]), constants(&[sorted]), vec![None]])
    }
}

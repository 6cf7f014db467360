//! `graph.non_zero`.

use sutura_ir::constraints::{AnyRankedTensor, StrAttr};
use sutura_ir::diagnostics::{Diagnostics, Reported};
use sutura_ir::op_def::Verify;
use sutura_ir::{OpRef, op};

use super::routine::{self, RoutineCall, RoutineOp};
use super::shape_fn::ShapeEnv;

/// Positions of the elements of `input` that are not zero, in row-major order: a column for each, whose rows are the indices
/// along the dimensions of the input.
///
/// NaN is not zero; -0.0 is. Of an input of rank 0 columns are empty, and there is one if it is not zero. How many columns there
/// are is decided by the data: at most as many as the input has elements.
///
/// The routine `non_zero` computes it.
///
/// ```mlir
/// %positions = graph.non_zero %x : tensor<?x30xf32> -> tensor<2x?xi64, #dyn.shape<[2, N]>>
/// ```
#[op("graph.non_zero", format = "$input attr-dict `:` type($input) `->` type($positions)", verify)]
pub struct NonZeroOp {
    /// What elements that are not zero stand for, in messages at run time.
    looks_for: OptAttr<StrAttr>,
    /// The elements.
    input: Operand<AnyRankedTensor>,
    /// Where those are that are not zero.
    positions: Res<AnyRankedTensor>,
}

impl Verify for NonZeroOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        routine::verify(op, diags)
    }
}

pub(super) struct NonZeroRoutine;

impl RoutineOp for NonZeroRoutine {
    fn call(&self, _: OpRef<'_>, _: &ShapeEnv) -> Result<RoutineCall, String> {
        RoutineCall::new("non_zero", 1, vec![vec![None]])
    }
}

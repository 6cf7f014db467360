//! `graph.non_max_suppression`.

use sutura_ir::constraints::AnyRankedTensor;
use sutura_ir::diagnostics::{Diagnostics, Reported};
use sutura_ir::op_def::Verify;
use sutura_ir::{OpRef, Type, Value, op};

use super::routine::{self, RoutineCall, RoutineOp, constants};
use super::shape_fn::{ShapeEnv, static_len};
use super::verify::fail;
use crate::r#dyn::attr::symbolic_shape;

/// Of each class of each batch the boxes with the greatest scores that do not overlap one another: rows of batch, class and box, in
/// the order in which they were selected.
///
/// * `scores` are `[batches, classes, boxes]`, `boxes` are `[batches, boxes, 4]`: two opposite corners, or with `centers` a center
///   and sizes. Both are `f32`, and computed in it.
/// * Boxes are looked at by falling score, those of equal score by rising number. With `filtered` only those whose score is
///   greater than `least` are.
/// * A box is not selected if what it shares with a selected one is a part greater than `overlap` of what both cover.
/// * At most `most` boxes of a class are selected.
///
/// How many there are is decided by the data: at most as many as there are scores. The op is no pure one, as
/// `graph.non_zero`.
///
/// The routine `non_max_suppression` computes it.
///
/// ```mlir
/// %rows = graph.non_max_suppression %scores, %boxes, %most, %overlap, %least {filtered}
///     : tensor<1x80x?xf32>, tensor<1x?x4xf32>, tensor<1xi64>, tensor<1xf32>, tensor<1xf32> -> tensor<?x3xi64>
/// ```
#[op("graph.non_max_suppression", format = "operands attr-dict `:` type(operands) `->` type($rows)", verify)]
pub struct NonMaxSuppressionOp {
    /// By batch, class and box.
    scores: Operand<AnyRankedTensor>,
    /// Four numbers for each box of each batch.
    boxes: Operand<AnyRankedTensor>,
    /// One integer: how many boxes of a class are selected at most.
    most: Operand<AnyRankedTensor>,
    /// One number: the part that is too much.
    overlap: Operand<AnyRankedTensor>,
    /// One number: the score that is too little.
    least: Operand<AnyRankedTensor>,
    /// Boxes are centers and sizes.
    centers: Flag,
    /// Scores are compared with `least`.
    filtered: Flag,
    /// Batch, class and box of each that is selected.
    rows: Res<AnyRankedTensor>,
}

impl Verify for NonMaxSuppressionOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let Some(this) = op.as_::<NonMaxSuppressionOp<'_>>() else { return Ok(()) };
        let shape = |value: Value| symbolic_shape(op.cx, op.ty(value)).unwrap_or_default();
        let elem = |value: Value| op.cx.element_type(op.ty(value));
        for (value, name) in [(this.scores(), "scores"), (this.boxes(), "boxes")] {
            if shape(value).len() != 3 || elem(value) != Type::F32 {
                return fail(op, diags, format_args!("needs {name} of rank 3 of f32"));
            }
        }
        let single = [
            (this.most(), "most", Type::I64),
            (this.overlap(), "overlap", Type::F32),
            (this.least(), "least", Type::F32),
        ];
        for (value, name, ty) in single {
            if static_len(&shape(value)) != Some(1) || elem(value) != ty {
                return fail(
                    op,
                    diags,
                    format_args!("needs one number of type {} as '{name}'", crate::show::ty(op.cx, ty)),
                );
            }
        }
        routine::verify(op, diags)
    }
}

pub(super) struct NonMaxSuppressionRoutine;

impl RoutineOp for NonMaxSuppressionRoutine {
    fn call(&self, op: OpRef<'_>, _: &ShapeEnv) -> Result<RoutineCall, String> {
        let this = op.as_::<NonMaxSuppressionOp<'_>>().ok_or("is no 'graph.non_max_suppression'")?;
        let flag = |flag: bool| constants(&[i64::from(flag)]);
        RoutineCall::new("non_max_suppression", 1, vec![flag(this.centers()), flag(this.filtered()), vec![None]])
    }
}

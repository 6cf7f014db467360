//! `graph.sort`.

use smallvec::SmallVec;
use sutura_ir::constraints::{AnyRankedTensor, DenseI64ArrayAttr, I64Attr};
use sutura_ir::diagnostics::{Diagnostics, Reported};
use sutura_ir::op_def::{Fold, FoldValue, Verify};
use sutura_ir::{Attr, OpRef, op};

use super::routine::{self, RoutineCall, RoutineOp, constants};
use super::shape_fn::ShapeEnv;
use crate::r#dyn::Poly;
use crate::r#dyn::attr::symbolic_shape;

/// Lines of tensors along `axis`, sorted by keys: all inputs are moved alike.
///
/// * The first inputs, one for each entry of `descending`, are the keys; where those of the first one are equal, the second one
///   decides, and so on. An entry of `descending` is 1 where the greatest comes first, else 0.
/// * What is equal keeps its order (the sort is stable).
/// * NaN is greater than every number and equal to itself: it comes last, or first where the greatest does. -0.0 equals 0.0.
///   `i1` is taken as unsigned.
///
/// The routine `sort` computes it.
///
/// ```mlir
/// %sorted, %positions = graph.sort %x, %i {axis = 1 : i64, descending = array<i64: 1>}
///     : tensor<?x30xf32>, tensor<?x30xi64> -> tensor<?x30xf32>, tensor<?x30xi64>
/// ```
#[op("graph.sort", traits(Pure), format = "$inputs attr-dict `:` type($inputs) `->` type($results)", verify, fold)]
pub struct SortOp {
    /// Keys, then what is moved with them; all of one shape.
    inputs: Operands<AnyRankedTensor>,
    /// Dimension along which they are sorted.
    axis: Attr<I64Attr>,
    /// 1 for each key whose greatest element comes first, 0 for each other one.
    descending: Attr<DenseI64ArrayAttr>,
    /// The inputs in the new order.
    results: Results<AnyRankedTensor>,
}

impl Verify for SortOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        routine::verify(op, diags)
    }
}

impl Fold for SortOp<'_> {
    /// A line of one element is sorted.
    fn fold(op: OpRef<'_>, _: &[Option<Attr>]) -> Option<SmallVec<[FoldValue; 1]>> {
        let sort = op.as_::<SortOp<'_>>()?;
        let single = |sizes: &[Option<Poly>]| {
            let size = usize::try_from(sort.axis()).ok().and_then(|axis| sizes.get(axis));
            size.and_then(|size| size.as_ref()?.as_const()).is_some_and(|size| size <= 1)
        };
        let same = sort.inputs().zip(sort.results()).all(|(input, result)| {
            let sizes = symbolic_shape(op.cx, op.ty(input)).unwrap_or_default();
            op.ty(input) == op.ty(result) && sizes.iter().all(Option::is_some) && single(&sizes)
        });
        same.then(|| sort.inputs().map(FoldValue::Value).collect())
    }
}

pub(super) struct SortRoutine;

impl RoutineOp for SortRoutine {
    fn call(&self, op: OpRef<'_>, _: &ShapeEnv) -> Result<RoutineCall, String> {
        let sort = op.as_::<SortOp<'_>>().ok_or("is no 'graph.sort'")?;
        RoutineCall::new("sort", 1, vec![constants(&[sort.axis()]), constants(&sort.descending())])
    }
}

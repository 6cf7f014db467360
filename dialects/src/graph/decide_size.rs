//! `graph.decide_size`.

use sutura_ir::constraints::AnyRankedTensor;
use sutura_ir::diagnostics::{Diagnostics, Reported};
use sutura_ir::op_def::Verify;
use sutura_ir::{Context, OpRef, Type, op};

use super::routine::{self, RoutineCall, RoutineOp};
use super::shape_fn::{ShapeEnv, static_len};
use super::verify::fail;
use crate::r#dyn::attr::symbolic_shape;

/// A tensor without elements whose first size is `number`: so a number that data tell is a size.
///
/// `places` has no elements either; its first size is the most that the number may be, for which memory is planned. Where this is an
/// argument of the program that says nothing else ([`is_reserve`]), the runtime chooses the size: it begins with a small one, and
/// repeats a run that needs more.
///
/// The routine `decide_size` computes it. The op is no pure one, as `graph.non_zero`.
///
/// ```mlir
/// %rows = graph.decide_size %number, %places
///     : tensor<i64>, tensor<?x0xi1, #dyn.shape<[P, 0]>> -> tensor<?x0xi1, #dyn.shape<[N, 0]>>
/// ```
#[op(
    "graph.decide_size",
    format = "$number `,` $places attr-dict `:` type($number) `,` type($places) `->` type($rows)",
    verify
)]
pub struct DecideSizeOp {
    /// A row for each that there is place for.
    places: Operand<AnyRankedTensor>,
    /// One integer.
    number: Operand<AnyRankedTensor>,
    /// As many rows as the number says.
    rows: Res<AnyRankedTensor>,
}

/// Whether a type is that of an argument that only says how many places there are.
pub fn is_reserve(cx: &Context, ty: Type) -> bool {
    match &symbolic_shape(cx, ty).unwrap_or_default()[..] {
        [Some(places), Some(none)] => places.as_symbol().is_some() && none.is_zero() && cx.element_type(ty) == Type::I1,
        _ => false,
    }
}

impl Verify for DecideSizeOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let Some(this) = op.as_::<DecideSizeOp<'_>>() else { return Ok(()) };
        let shape = |value| symbolic_shape(op.cx, op.ty(value)).unwrap_or_default();
        let number = op.cx.element_type(op.ty(this.number()));
        if static_len(&shape(this.number())) != Some(1) || number != Type::I64 {
            return fail(op, diags, "needs one number of type i64 as the size");
        }
        if shape(this.places()).len() != 2 || shape(this.places())[1] != Some(0.into()) {
            return fail(op, diags, "needs places of two dimensions, the second of size 0");
        }
        routine::verify(op, diags)
    }
}

pub(super) struct DecideSizeRoutine;

impl RoutineOp for DecideSizeRoutine {
    fn call(&self, _: OpRef<'_>, _: &ShapeEnv) -> Result<RoutineCall, String> {
        RoutineCall::new("decide_size", 1, vec![vec![None]])
    }
}

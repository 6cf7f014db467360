//! Tensors as values: creation, element access, slices, reshapes.

mod canonicalize;
mod fold;
mod interp;
mod ops;
mod reify;
mod verify;

use sutura_ir::interfaces::{InlineCallables, Inliner};
use sutura_ir::{Dialect, DialectBuilder};

pub use ops::*;

/// The tensor dialect.
#[derive(Clone, Copy, Debug)]
pub struct TensorDialect;

impl Dialect for TensorDialect {
    const NAME: &'static str = "tensor";

    fn register(d: &mut DialectBuilder<'_>) {
        d.description("Tensors as values: creation, element access, slices, reshapes.").partial();
        d.directive("DynamicIndexList", crate::asm::DYNAMIC_INDEX_LIST)
            .directive("ElementsOf", crate::asm::ELEMENTS_OF)
            .materialize(crate::arith::materialize);
        d.op::<CastOp<'_>>().op::<DimOp<'_>>().op::<EmptyOp<'_>>().op::<ExtractOp<'_>>().op::<InsertOp<'_>>();
        d.op::<FromElementsOp<'_>>().op::<SplatOp<'_>>().op::<RankOp<'_>>().op::<GenerateOp<'_>>();
        d.op::<ExtractSliceOp<'_>>().op::<InsertSliceOp<'_>>().op::<ExpandShapeOp<'_>>().op::<CollapseShapeOp<'_>>();
        d.op::<PadOp<'_>>().op::<YieldOp<'_>>();
        d.op::<ParallelInsertSliceOp<'_>>().op::<ConcatOp<'_>>().op::<ReshapeOp<'_>>();
        crate::names::result_names! { d,
            CastOp => "cast",
            CollapseShapeOp => "collapsed",
            ConcatOp => "concat",
            DimOp => "dim",
            ExpandShapeOp => "expanded",
            ExtractOp => "extracted",
            ExtractSliceOp => "extracted_slice",
            FromElementsOp => "from_elements",
            GenerateOp => "generated",
            InsertOp => "inserted",
            InsertSliceOp => "inserted_slice",
            PadOp => "padded",
            RankOp => "rank",
            ReshapeOp => "reshape",
            SplatOp => "splat",
        }
        d.dialect_interface::<dyn Inliner>(&InlineCallables);
        interp::register(d);
        reify::register(d);
    }
}

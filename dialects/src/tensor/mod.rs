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

/// What upstream calls the results of these ops.
static NAMES: &[(&str, &str)] = &[
    ("tensor.cast", "cast"),
    ("tensor.collapse_shape", "collapsed"),
    ("tensor.concat", "concat"),
    ("tensor.dim", "dim"),
    ("tensor.expand_shape", "expanded"),
    ("tensor.extract", "extracted"),
    ("tensor.extract_slice", "extracted_slice"),
    ("tensor.from_elements", "from_elements"),
    ("tensor.generate", "generated"),
    ("tensor.insert", "inserted"),
    ("tensor.insert_slice", "inserted_slice"),
    ("tensor.pad", "padded"),
    ("tensor.rank", "rank"),
    ("tensor.reshape", "reshape"),
    ("tensor.splat", "splat"),
];

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
        crate::names::attach(d, NAMES);
        d.dialect_interface::<dyn Inliner>(&InlineCallables);
        interp::register(d);
        reify::register(d);
    }
}

//! The `graph` dialect: tensor operators with value semantics.
//!
//! Almost everything is [`ComputeOp`], the structured form: iterators, an affine access map per operand, a scalar
//! body. What has no such form (reshape, gathers, scatters, scans, shapes as data, concatenations and slices before their sizes are
//! known, what routines of the runtime compute) has an op of its own. The sizes of tensors are symbolic, see the `dyn` dialect.

mod bitcast;
pub mod build;
mod calls;
mod canonicalize;
pub mod combine;
mod decide_size;
mod fft;
mod fold;
pub mod form;
mod gather;
mod interp;
pub mod laws;
pub mod maps;
mod movement;
mod moves;
mod naming;
mod non_max_suppression;
mod non_zero;
pub mod operator;
pub mod ops;
mod quantized;
mod routine;
mod rule;
mod scan;
mod scatter;
pub mod shape_fn;
mod sort;
pub mod structured;
mod symbolic;
#[cfg(test)]
mod tests;
mod told;
mod top_k;
mod unique;
mod verify;

use sutura_ir::builder::Builder;
use sutura_ir::interfaces::{InlineCallables, Inliner};
use sutura_ir::registry::{Dialect, DialectBuilder};
use sutura_ir::{Attr, AttrData, Loc, Op, Type};

pub use canonicalize::{drop_inputs, is_dispensable};
pub use combine::{Combiner, CombinersAttr, Joint, Law, StateAttr};
pub use decide_size::{DecideSizeOp, is_reserve};
pub use fft::FftOp;
pub use form::{Form, FormOp};
pub use gather::described;
pub use interp::compute_errors;
pub use naming::needed as needed_definitions;
pub use non_max_suppression::NonMaxSuppressionOp;
pub use non_zero::NonZeroOp;
pub use operator::{ApplyOp, Operator, OperatorOp, Operators};
pub use ops::{
    BitcastOp, ComputeOp, ConcatOp, ConstantOp, FusionOp, GatherElementsOp, GatherNdOp, GatherOp, IndexOp, ReshapeOp,
    ScanOp, ShapeOfOp, SizeOp, SliceOp, YieldOp,
};
pub use routine::{RoutineCall, RoutineOp, SIZE};
pub use scatter::ScatterOp;
pub use shape_fn::{Contents, Decided, Inferred, Quotient, Requirement, ShapeEnv, ShapeFn, SymShape};
pub use sort::SortOp;
pub use structured::{ComputeForm, IteratorKind, IteratorsAttr, MAX_ITERATORS, Structured};
pub use top_k::TopKOp;
pub use unique::UniqueOp;
pub use verify::{compatible, needless_oob};

/// The `graph` dialect.
#[derive(Clone, Copy, Debug)]
pub struct GraphDialect;

impl Dialect for GraphDialect {
    const NAME: &'static str = "graph";

    fn register(d: &mut DialectBuilder<'_>) {
        d.description("Tensor operators with value semantics: a structured form, and the few ops that have none.");
        d.directive("Size", crate::r#dyn::asm::SIZE).directive("Name", crate::r#dyn::asm::NAME);
        d.define_attr::<IteratorKind>().define_attr::<IteratorsAttr>();
        d.define_attr::<Combiner>().define_attr::<CombinersAttr>().define_attr::<Law>().define_attr::<StateAttr>();
        d.op::<ComputeOp<'_>>()
            .op::<YieldOp<'_>>()
            .op::<IndexOp<'_>>()
            .op::<SizeOp<'_>>()
            .op::<ConstantOp<'_>>()
            .op::<ReshapeOp<'_>>()
            .op::<BitcastOp<'_>>()
            .op::<ShapeOfOp<'_>>()
            .op::<ConcatOp<'_>>()
            .op::<SliceOp<'_>>()
            .op::<GatherOp<'_>>()
            .op::<GatherElementsOp<'_>>()
            .op::<ScanOp<'_>>()
            .op::<GatherNdOp<'_>>()
            .op::<ScatterOp<'_>>()
            .op::<FusionOp<'_>>()
            .op::<SortOp<'_>>()
            .op::<DecideSizeOp<'_>>()
            .op::<NonZeroOp<'_>>()
            .op::<UniqueOp<'_>>()
            .op::<NonMaxSuppressionOp<'_>>()
            .op::<TopKOp<'_>>()
            .op::<FftOp<'_>>();
        d.op_interface::<ComputeOp<'_>, dyn Structured>(&structured::ComputeStructured);
        d.materialize(materialize);
        form::register(d);
        shape_fn::register(d);
        rule::register::<ReshapeOp<'_>>(d, &moves::ReshapeRule);
        rule::register::<ConcatOp<'_>>(d, &moves::ConcatRule);
        rule::register::<SliceOp<'_>>(d, &moves::SliceRule);
        rule::register::<GatherOp<'_>>(d, &gather::GatherRule);
        rule::register::<GatherElementsOp<'_>>(d, &gather::GatherElementsRule);
        rule::register::<GatherNdOp<'_>>(d, &gather::GatherNdRule);
        rule::register::<ScanOp<'_>>(d, &scan::ScanRule);
        rule::register::<ScatterOp<'_>>(d, &scatter::ScatterRule);
        movement::register(d);
        routine::register::<SortOp<'_>>(d, &sort::SortRoutine);
        routine::register::<TopKOp<'_>>(d, &top_k::TopKRoutine);
        routine::register::<DecideSizeOp<'_>>(d, &decide_size::DecideSizeRoutine);
        routine::register::<NonZeroOp<'_>>(d, &non_zero::NonZeroRoutine);
        routine::register::<UniqueOp<'_>>(d, &unique::UniqueRoutine);
        routine::register::<NonMaxSuppressionOp<'_>>(d, &non_max_suppression::NonMaxSuppressionRoutine);
        routine::register::<FftOp<'_>>(d, &fft::FftRoutine);
        operator::register(d);
        d.dialect_interface::<dyn Inliner>(&InlineCallables);
        interp::register(d);
    }
}

/// Builds the constant that a folded tensor is.
fn materialize(b: &mut Builder<'_>, loc: Loc, value: Attr, ty: Type) -> Option<Op> {
    let elements = matches!(b.cx().attr_data(value), AttrData::Dense { .. } | AttrData::DenseResource { .. });
    (elements && b.cx().attr_type(value) == Some(ty)).then(|| ConstantOp::build(b, loc, value))
}

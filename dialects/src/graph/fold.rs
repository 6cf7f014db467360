//! Folding: values that follow from constants, and ops that do nothing.

use smallvec::SmallVec;
use sutura_ir::op_def::{Fold, FoldValue};
use sutura_ir::{Attr, AttrData, OpRef, Value};

use super::maps;
use super::ops::{ComputeOp, ConcatOp, GatherOp, ReshapeOp, ShapeOfOp, SizeOp, SliceOp};
use super::scatter::ScatterOp;
use super::shape_fn::{Contents, ShapeEnv, ShapeFn, asks_for_its_result};
use super::structured::ComputeForm;
use crate::r#dyn::{Facts, Poly};

type Folded = Option<SmallVec<[FoldValue; 1]>>;

fn value(value: Value) -> Folded {
    Some(SmallVec::from_slice(&[FoldValue::Value(value)]))
}

fn constant(attr: Attr) -> Folded {
    Some(SmallVec::from_slice(&[FoldValue::Attr(attr)]))
}

/// The results as constants, where the shape function knows every element.
fn by_contents(op: OpRef<'_>, function: &dyn ShapeFn) -> Folded {
    let inferred = function.infer(op, &ShapeEnv::new(Facts::new()));
    let results = op.results().zip(inferred.contents).map(|(result, contents)| {
        let values = known(contents.as_ref()?)?;
        let ty = op.ty(result);
        let is_static = op.cx.encoding(ty).is_none() && op.cx.shape(ty)?.iter().all(|d| *d >= 0);
        let words: Vec<u64> = values.iter().map(|v| *v as u64).collect();
        is_static.then(|| op.cx.dense_attr(ty, &words)).flatten().map(FoldValue::Attr)
    });
    results.collect()
}

fn known(contents: &Contents) -> Option<Vec<i64>> {
    contents.iter().map(|p| p.as_ref().and_then(Poly::as_const)).collect()
}

fn infer_constants(op: OpRef<'_>) -> Folded {
    by_contents(op, op.interface::<dyn ShapeFn>()?)
}

impl Fold for ComputeOp<'_> {
    /// Small integer tensors are computed at once: the arithmetic of shapes. What copies a tensor is that tensor.
    fn fold(op: OpRef<'_>, _: &[Option<Attr>]) -> Folded {
        copied(op).and_then(value).or_else(|| infer_constants(op))
    }
}

/// The tensor that an op copies as it is. Not one that comes in: an input of a declaration may be stretched by its copy.
fn copied(op: OpRef<'_>) -> Option<Value> {
    let form = ComputeForm::of(op)?;
    op.body.defining_op(form.inputs().next()?)?;
    let ([input], [result], Some(end)) = (&form.input_maps[..], &form.result_maps[..], form.yielded()) else {
        return None;
    };
    let dims = op.cx.map_results(*input);
    let in_order = dims.len() == form.iterators.len()
        && dims.iter().enumerate().all(|(i, expr)| maps::plain_dim(op.cx, *expr) == Some(i));
    let same = input == result && op.ty(op.operand(0)) == op.ty(op.result(0));
    let moves = end.operands().eq(form.body.args().iter().copied());
    (form.is_elementwise() && in_order && same && moves).then(|| op.operand(0))
}

impl Fold for ShapeOfOp<'_> {
    fn fold(op: OpRef<'_>, _: &[Option<Attr>]) -> Folded {
        infer_constants(op)
    }
}

impl Fold for GatherOp<'_> {
    fn fold(op: OpRef<'_>, _: &[Option<Attr>]) -> Folded {
        infer_constants(op)
    }
}

impl Fold for ScatterOp<'_> {
    /// Without an index nothing is written.
    fn fold(op: OpRef<'_>, _: &[Option<Attr>]) -> Folded {
        let scatter = op.as_::<ScatterOp<'_>>()?;
        let none = op.cx.shape(op.ty(scatter.indices()))?.contains(&0);
        let kept = || scatter.data().zip(op.results()).all(|(data, result)| op.ty(data) == op.ty(result));
        (none && kept()).then(|| scatter.data().map(FoldValue::Value).collect())
    }
}

impl Fold for ConcatOp<'_> {
    fn fold(op: OpRef<'_>, _: &[Option<Attr>]) -> Folded {
        match (op.num_operands(), op.operands().next()) {
            (1, Some(input)) if op.ty(input) == op.ty(op.result(0)) => value(input),
            _ => infer_constants(op),
        }
    }
}

impl Fold for SliceOp<'_> {
    fn fold(op: OpRef<'_>, _: &[Option<Attr>]) -> Folded {
        let slice = op.as_::<SliceOp<'_>>()?;
        // A slice from the start on without gaps that is as large as its input takes all of it. One that starts elsewhere
        // does so only where its type is wrong, or there is nothing to take.
        let from_start = slice.starts().is_some_and(|starts| starts.iter().all(|s| *s == 0));
        let forward = from_start && slice.steps().iter().all(|s| *s == 1);
        let whole = forward && known_type(op, slice.result());
        if whole && op.ty(slice.input()) == op.ty(slice.result()) {
            return value(slice.input());
        }
        infer_constants(op)
    }
}

/// True when the type says every size.
fn known_type(op: OpRef<'_>, value: Value) -> bool {
    crate::r#dyn::attr::symbolic_shape(op.cx, op.ty(value)).is_some_and(|s| s.iter().all(Option::is_some))
}

impl Fold for ReshapeOp<'_> {
    fn fold(op: OpRef<'_>, operands: &[Option<Attr>]) -> Folded {
        let reshape = op.as_::<ReshapeOp<'_>>()?;
        let to = op.ty(reshape.result());
        // What asks for a shape that only data tells may ask for another one.
        if !asks_for_its_result(op, &ShapeEnv::default()) {
            return None;
        }
        // Without known sizes equal types are no proof of equal shapes.
        if op.ty(reshape.input()) == to && known_type(op, reshape.result()) {
            return value(reshape.input());
        }
        let is_static = op.cx.encoding(to).is_none() && op.cx.shape(to)?.iter().all(|d| *d >= 0);
        match op.cx.attr_data(operands.first().copied().flatten()?) {
            AttrData::Dense { data, splat, .. } if is_static => {
                constant(op.cx.attr(AttrData::Dense { ty: to, data, splat }))
            }
            AttrData::DenseResource { key, .. } if is_static => {
                constant(op.cx.attr(AttrData::DenseResource { ty: to, key }))
            }
            _ => None,
        }
    }
}

impl Fold for SizeOp<'_> {
    fn fold(op: OpRef<'_>, _: &[Option<Attr>]) -> Folded {
        let size = op.as_::<SizeOp<'_>>()?.size().as_const()?;
        constant(op.cx.index_attr(size))
    }
}

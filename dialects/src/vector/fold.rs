//! Folding of vector operations.

use sutura_ir::op_def::{Fold, FoldValue, OpView};
use sutura_ir::smallvec::{SmallVec, smallvec};
use sutura_ir::{Attr, AttrData, OpRef, Type, Value};

use super::ops::*;
use super::types::VectorShape;
use crate::slices::Mixed;

type Folded = Option<FoldValue>;

/// Implements folding of the one result by a function of the op and its constants.
macro_rules! folds {
    ($($op:ident => $fold:expr;)*) => {$(
        impl Fold for $op<'_> {
            fn fold(op: OpRef<'_>, constants: &[Option<Attr>]) -> Option<SmallVec<[FoldValue; 1]>> {
                let fold: fn(OpRef<'_>, &[Option<Attr>]) -> Folded = $fold;
                Some(smallvec![fold(op, constants)?])
            }
        }
    )*};
}

folds! {
    BroadcastOp => |op, constants| same_type(op).or_else(|| splat(op, constants[0]?));
    ShapeCastOp => |op, constants| fold_shape_cast(op, constants[0]);
    BitCastOp => |op, _| same_type(op).or_else(|| undo::<BitCastOp<'_>>(op, |b| b.source()));
    TransposeOp => |op, constants| fold_transpose(op, constants[0]);
    ExtractOp => |op, constants| fold_extract(op, constants[0]);
    InsertOp => |op, _| fold_insert(op);
    FromElementsOp => |op, constants| fold_from_elements(op, constants);
}

fn def<'a, T: OpView<'a>>(op: OpRef<'a>, value: Value) -> Option<T> {
    op.at(op.body.defining_op(value)?).as_::<T>()
}

/// An op that changes nothing.
fn same_type(op: OpRef<'_>) -> Folded {
    let same = op.ty(op.operand(0)) == op.ty(op.result(0));
    same.then(|| FoldValue::Value(op.operand(0)))
}

/// An op that undoes another of kind `T`.
fn undo<'a, T: OpView<'a>>(op: OpRef<'a>, source: fn(T) -> Value) -> Folded {
    let inner = source(def::<T>(op, op.operand(0))?);
    (op.ty(inner) == op.ty(op.result(0))).then_some(FoldValue::Value(inner))
}

/// The constant all of whose elements are that of `constant`.
fn splat(op: OpRef<'_>, constant: Attr) -> Folded {
    let value = op.cx.splat_value(constant)?;
    op.cx.splat_attr(op.ty(op.result(0)), value).map(FoldValue::Attr)
}

fn fold_shape_cast(op: OpRef<'_>, constant: Option<Attr>) -> Folded {
    if let Some(found) = same_type(op).or_else(|| undo::<ShapeCastOp<'_>>(op, |s| s.source())) {
        return Some(found);
    }
    let words: Vec<u64> = op.cx.dense(constant?)?.words().collect();
    op.cx.dense_attr(op.ty(op.result(0)), &words).map(FoldValue::Attr)
}

fn fold_transpose(op: OpRef<'_>, constant: Option<Attr>) -> Folded {
    let permutation = TransposeOp::from_ref(op).permutation();
    if permutation.iter().copied().eq(0..permutation.len() as i64) {
        return Some(FoldValue::Value(op.operand(0)));
    }
    splat(op, constant?)
}

fn fold_extract(op: OpRef<'_>, constant: Option<Attr>) -> Folded {
    let extract = ExtractOp::from_ref(op);
    let (position, result) = (extract.position(), op.ty(extract.result()));
    if position.is_empty() && op.ty(extract.source()) == result {
        return Some(FoldValue::Value(extract.source()));
    }
    if let Some(constant) = constant {
        return extract_constant(op, constant, &position, result);
    }
    if let Some(broadcast) = def::<BroadcastOp<'_>>(op, extract.source()) {
        let source = op.ty(broadcast.source());
        return (source == result).then(|| FoldValue::Value(broadcast.source()));
    }
    if let Some(insert) = def::<InsertOp<'_>>(op, extract.source()) {
        let same = insert.position() == position && op.ty(insert.stored()) == result;
        return same.then(|| FoldValue::Value(insert.stored()));
    }
    let elements = def::<FromElementsOp<'_>>(op, extract.source())?;
    let at = linear_index(&VectorShape::of(op.cx, op.ty(extract.source())), &position)?;
    elements.elements().nth(at).filter(|v| op.ty(*v) == result).map(FoldValue::Value)
}

fn extract_constant(op: OpRef<'_>, constant: Attr, position: &[Mixed], result: Type) -> Folded {
    if let Some(value) = op.cx.splat_value(constant) {
        return op.cx.splat_attr(result, value).map(FoldValue::Attr);
    }
    let dense = op.cx.dense(constant)?;
    let at = linear_index(&VectorShape::of(op.cx, dense.ty()), position)?;
    (result == dense.element_type()).then(|| FoldValue::Attr(dense.attr(at)))
}

/// Place of an element in row-major order, when its position is known and inside.
fn linear_index(shape: &VectorShape, position: &[Mixed]) -> Option<usize> {
    if position.len() != shape.rank() {
        return None;
    }
    position.iter().zip(&shape.sizes).try_fold(0usize, |at, (index, size)| {
        let index = index.as_static().filter(|i| (0..*size).contains(i))?;
        Some(at * *size as usize + index as usize)
    })
}

/// Replacing all of a vector.
fn fold_insert(op: OpRef<'_>) -> Folded {
    let insert = InsertOp::from_ref(op);
    let all = insert.position().is_empty() && op.ty(insert.stored()) == op.ty(insert.result());
    all.then(|| FoldValue::Value(insert.stored()))
}

fn fold_from_elements(op: OpRef<'_>, constants: &[Option<Attr>]) -> Folded {
    let words: Vec<u64> = constants
        .iter()
        .map(|c| match op.cx.attr_data((*c)?) {
            AttrData::Integer { value, .. } => Some(value as u64),
            AttrData::Float { bits, .. } => Some(bits),
            _ => None,
        })
        .collect::<Option<_>>()?;
    op.cx.dense_attr(op.ty(op.result(0)), &words).map(FoldValue::Attr)
}

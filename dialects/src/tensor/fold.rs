//! Folding of tensor operations.

use sutura_ir::op_def::{Fold, FoldValue, OpView};
use sutura_ir::smallvec::{SmallVec, smallvec};
use sutura_ir::{Attr, AttrData, OpRef, Value};

use super::ops::*;
use crate::slices::Slice;

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
    DimOp => fold_dim;
    RankOp => |op, _| Some(FoldValue::Attr(op.cx.index_attr(op.cx.shape(op.ty(op.operand(0)))?.len() as i64)));
    ExtractOp => fold_extract;
    FromElementsOp => |op, constants| fold_from_elements(op, constants);
    SplatOp => |op, constants| Some(FoldValue::Attr(op.cx.splat_attr(op.ty(op.result(0)), constants[0]?)?));
    ExtractSliceOp => |op, constants| fold_extract_slice(op, constants[0]);
    InsertSliceOp => |op, _| fold_insert_slice(op).or_else(|| put_back(op));
    InsertOp => |op, constants| insert_into_splat(op, constants);
    ConcatOp => |op, _| if op.num_operands() == 1 { same_type(op) } else { None };
    PadOp => |op, _| fold_pad(op);
    ExpandShapeOp => |op, constants| fold_reshape::<CollapseShapeOp<'_>>(op, constants[0], |c| c.src());
    CollapseShapeOp => |op, constants| fold_reshape::<ExpandShapeOp<'_>>(op, constants[0], |e| e.src());
}

fn def<'a, T: OpView<'a>>(op: OpRef<'a>, value: Value) -> Option<T> {
    op.at(op.body.defining_op(value)?).as_::<T>()
}

fn fold_dim(op: OpRef<'_>, constants: &[Option<Attr>]) -> Folded {
    crate::shapes::fold_dim(op, constants[1]?)
}

fn fold_extract(op: OpRef<'_>, constants: &[Option<Attr>]) -> Folded {
    let extract = ExtractOp::from_ref(op);
    if let Some(splat) = def::<SplatOp<'_>>(op, extract.tensor()) {
        return Some(FoldValue::Value(splat.input()));
    }
    if let Some(value) = constants[0].and_then(|c| op.cx.splat_value(c)) {
        return Some(FoldValue::Attr(value));
    }
    let at = linear_index(op, extract, &constants[1..])?;
    if let Some(elements) = def::<FromElementsOp<'_>>(op, extract.tensor()) {
        return elements.elements().nth(at).map(FoldValue::Value);
    }
    let dense = op.cx.dense(constants[0]?)?;
    Some(FoldValue::Attr(dense.attr(at)))
}

/// Place of the extracted element in row-major order, when it is inside a static shape.
fn linear_index(op: OpRef<'_>, extract: ExtractOp<'_>, indices: &[Option<Attr>]) -> Option<usize> {
    let ty = op.ty(extract.tensor());
    op.cx.num_elements(ty)?;
    let mut at = 0usize;
    for (size, index) in op.cx.shape(ty)?.iter().zip(indices) {
        let index = op.cx.as_int((*index)?)?;
        if !(0..*size).contains(&index) {
            return None;
        }
        at = at * *size as usize + index as usize;
    }
    Some(at)
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

/// An op that changes nothing.
fn same_type(op: OpRef<'_>) -> Folded {
    (op.ty(op.operand(0)) == op.ty(op.result(0))).then(|| FoldValue::Value(op.operand(0)))
}

/// One more of the elements that are there.
fn insert_into_splat(op: OpRef<'_>, constants: &[Option<Attr>]) -> Folded {
    let (element, all) = (constants[0]?, op.cx.splat_value(constants[1]?)?);
    (element == all).then(|| FoldValue::Value(op.operand(1)))
}

fn fold_pad(op: OpRef<'_>) -> Folded {
    let pad = PadOp::from_ref(op);
    let nothing = |list: &[i64]| list.iter().all(|n| *n == 0);
    let unchanged = !pad.nofold() && nothing(&pad.static_low()) && nothing(&pad.static_high());
    if unchanged { same_type(op) } else { None }
}

/// True when two slices of the same ranks are the same part.
fn same_part(a: &Slice, b: &Slice) -> bool {
    a.offsets == b.offsets && a.sizes == b.sizes && a.strides == b.strides
}

/// What was there is put back.
fn put_back(op: OpRef<'_>) -> Folded {
    let insert = InsertSliceOp::from_ref(op);
    let extract = def::<ExtractSliceOp<'_>>(op, insert.source())?;
    let same = extract.source() == insert.dest() && same_part(&extract.slice(), &insert.slice());
    same.then(|| FoldValue::Value(insert.dest()))
}

fn fold_extract_slice(op: OpRef<'_>, source: Option<Attr>) -> Folded {
    let extract = ExtractSliceOp::from_ref(op);
    let (from, to) = (op.ty(extract.source()), op.ty(extract.result()));
    if from == to && extract.slice().is_whole(op.cx.shape(from)?) {
        return Some(FoldValue::Value(extract.source()));
    }
    // What was inserted is taken out.
    if let Some(insert) = def::<InsertSliceOp<'_>>(op, extract.source())
        && op.ty(insert.source()) == to
        && same_part(&extract.slice(), &insert.slice())
    {
        return Some(FoldValue::Value(insert.source()));
    }
    // Every part of a splat is a splat.
    let value = op.cx.splat_value(source?)?;
    op.cx.splat_attr(to, value).map(FoldValue::Attr)
}

fn fold_insert_slice(op: OpRef<'_>) -> Folded {
    let insert = InsertSliceOp::from_ref(op);
    let (part, whole) = (op.ty(insert.source()), op.ty(insert.dest()));
    let replaces_all = part == whole && insert.slice().is_whole(op.cx.shape(whole)?);
    replaces_all.then(|| FoldValue::Value(insert.source()))
}

/// A reshape that undoes another of kind `T`, does nothing, or reshapes a constant.
fn fold_reshape<'a, T: OpView<'a>>(op: OpRef<'a>, constant: Option<Attr>, source: fn(T) -> Value) -> Folded {
    let (from, to) = (op.operand(0), op.ty(op.result(0)));
    if op.ty(from) == to {
        return Some(FoldValue::Value(from));
    }
    if let Some(inner) = def::<T>(op, from) {
        let same = inner.op_ref().prop("reassociation") == op.prop("reassociation");
        if same && op.ty(source(inner)) == to {
            return Some(FoldValue::Value(source(inner)));
        }
    }
    let words: Vec<u64> = op.cx.dense(constant?)?.words().collect();
    op.cx.dense_attr(to, &words).map(FoldValue::Attr)
}

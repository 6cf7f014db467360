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
    InsertOp => |op, constants| fold_insert(op).or_else(|| insert_constant(op, constants));
    ShuffleOp => |op, constants| fold_shuffle(op, constants);
    ExtractStridedSliceOp => |op, constants| same_type(op).or_else(|| slice_constant(op, constants[0]?));
    InsertStridedSliceOp => |op, constants| fold_insert_slice(op, constants);
    FromElementsOp => |op, constants| fold_from_elements(op, constants).or_else(|| all_elements(op));
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
    // A vector that was only given dimensions of one.
    let count = |value: Value| op.cx.num_elements(op.ty(value));
    if let Some(broadcast) = def::<BroadcastOp<'_>>(op, op.operand(0))
        && op.ty(broadcast.source()) == op.ty(op.result(0))
        && count(broadcast.source()) == count(op.operand(0))
    {
        return Some(FoldValue::Value(broadcast.source()));
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
    let shape = VectorShape::of(op.cx, dense.ty());
    if result == dense.element_type() {
        return Some(FoldValue::Attr(dense.attr(linear_index(&shape, position)?)));
    }
    // A part of the last dimensions lies in one place.
    let count: usize = shape.sizes[position.len()..].iter().product::<i64>() as usize;
    let leading = VectorShape { sizes: shape.sizes[..position.len()].to_vec(), ..shape };
    let first = linear_index(&leading, position)? * count;
    let words: Vec<u64> = (first..first + count).map(|i| dense.word(i)).collect();
    op.cx.dense_attr(result, &words).map(FoldValue::Attr)
}

/// The bits of a constant number.
fn word(op: OpRef<'_>, constant: Attr) -> Option<u64> {
    match op.cx.attr_data(constant) {
        AttrData::Integer { value, .. } => Some(value as u64),
        AttrData::Float { bits, .. } => Some(bits),
        _ => None,
    }
}

/// Elements of a constant, one by one, also where all are the same.
fn words(op: OpRef<'_>, constant: Attr) -> Option<Vec<u64>> {
    let dense = op.cx.dense(constant)?;
    (dense.len() <= MOST_ELEMENTS).then(|| (0..dense.len()).map(|i| dense.word(i)).collect())
}

/// Constants of more elements are not rearranged.
const MOST_ELEMENTS: usize = 4096;

/// One element of a constant replaced.
fn insert_constant(op: OpRef<'_>, constants: &[Option<Attr>]) -> Folded {
    let insert = InsertOp::from_ref(op);
    let at = linear_index(&VectorShape::of(op.cx, op.ty(insert.dest())), &insert.position())?;
    let mut words = words(op, constants[1]?)?;
    *words.get_mut(at)? = word(op, constants[0]?)?;
    op.cx.dense_attr(op.ty(op.result(0)), &words).map(FoldValue::Attr)
}

fn fold_shuffle(op: OpRef<'_>, constants: &[Option<Attr>]) -> Folded {
    let shuffle = ShuffleOp::from_ref(op);
    let (mask, result) = (shuffle.mask(), op.ty(op.result(0)));
    let shapes = [shuffle.v1(), shuffle.v2()].map(|v| VectorShape::of(op.cx, op.ty(v)));
    let count = shapes[0].sizes.first().copied()?;
    let own = |from: i64| mask.iter().copied().eq(from..from + mask.len() as i64);
    if own(0) && op.ty(shuffle.v1()) == result {
        return Some(FoldValue::Value(shuffle.v1()));
    }
    if own(count) && op.ty(shuffle.v2()) == result {
        return Some(FoldValue::Value(shuffle.v2()));
    }
    if shapes.iter().any(|s| s.rank() != 1) {
        return None;
    }
    let mut all = words(op, constants[0]?)?;
    all.extend(words(op, constants[1]?)?);
    let picked: Vec<u64> = mask.iter().map(|i| all.get(usize::try_from(*i).ok()?).copied()).collect::<Option<_>>()?;
    op.cx.dense_attr(result, &picked).map(FoldValue::Attr)
}

/// Numbers of the elements of a part, in a vector of these sizes; dimensions that are not named are whole.
fn slice_elements(sizes: &[i64], part: &[i64], offsets: &[i64], strides: &[i64]) -> Vec<usize> {
    let mut found = vec![0usize];
    for (dim, size) in sizes.iter().enumerate() {
        let count = part[dim];
        let (offset, stride) = (offsets.get(dim).unwrap_or(&0), strides.get(dim).unwrap_or(&1));
        let places = |base: usize| (0..count).map(move |i| base * *size as usize + (offset + i * stride) as usize);
        found = found.into_iter().flat_map(places).collect();
    }
    found
}

fn slice_constant(op: OpRef<'_>, constant: Attr) -> Folded {
    if let Some(found) = splat(op, constant) {
        return Some(found);
    }
    let slice = ExtractStridedSliceOp::from_ref(op);
    let [from, to] = [op.ty(slice.source()), op.ty(op.result(0))].map(|ty| VectorShape::of(op.cx, ty).sizes);
    let words = words(op, constant)?;
    let places = slice_elements(&from, &to, &slice.offsets(), &slice.strides());
    let part: Vec<u64> = places.into_iter().map(|i| words[i]).collect();
    op.cx.dense_attr(op.ty(op.result(0)), &part).map(FoldValue::Attr)
}

fn fold_insert_slice(op: OpRef<'_>, constants: &[Option<Attr>]) -> Folded {
    let insert = InsertStridedSliceOp::from_ref(op);
    let (part, whole) = (op.ty(insert.stored()), op.ty(insert.dest()));
    if part == whole {
        return Some(FoldValue::Value(insert.stored()));
    }
    if let Some(slice) = def::<ExtractStridedSliceOp<'_>>(op, insert.stored()) {
        // What was there is put back.
        let same = slice.source() == insert.dest()
            && slice.offsets() == insert.offsets()
            && slice.strides() == insert.strides();
        if same {
            return Some(FoldValue::Value(insert.dest()));
        }
    }
    let [from, to] = [part, whole].map(|ty| VectorShape::of(op.cx, ty).sizes);
    let (stored, dest) = (constants[0]?, constants[1]?);
    if op.cx.splat_value(stored).is_some() && op.cx.splat_value(stored) == op.cx.splat_value(dest) {
        return Some(FoldValue::Value(insert.dest()));
    }
    (from.len() == to.len()).then_some(())?;
    let (values, mut words) = (words(op, stored)?, words(op, dest)?);
    let places = slice_elements(&to, &from, &insert.offsets(), &insert.strides());
    for (place, value) in places.into_iter().zip(values) {
        words[place] = value;
    }
    op.cx.dense_attr(whole, &words).map(FoldValue::Attr)
}

/// The elements of a vector, taken one by one in order, are the vector.
fn all_elements(op: OpRef<'_>) -> Folded {
    let mut source = None;
    let shape = VectorShape::of(op.cx, op.ty(op.result(0)));
    for (index, value) in op.operands().enumerate() {
        let extract = def::<ExtractOp<'_>>(op, value)?;
        let of = *source.get_or_insert(extract.source());
        let same = of == extract.source() && op.ty(of) == op.ty(op.result(0));
        (same && linear_index(&shape, &extract.position()) == Some(index)).then_some(())?;
    }
    source.map(FoldValue::Value)
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
    let words: Vec<u64> = constants.iter().map(|c| word(op, (*c)?)).collect::<Option<_>>()?;
    op.cx.dense_attr(op.ty(op.result(0)), &words).map(FoldValue::Attr)
}

//! Canonicalization patterns of vector operations: elements are taken from where they come from, and what only rearranges is
//! done once.

use sutura_ir::op_def::OpView;
use sutura_ir::{Op, OpRef, Rewriter, Type, Value, rewrite};

use super::ops::*;
use super::types::VectorShape;
use crate::memref::memory_through_cast;
use crate::slices::{Mixed, split_mixed};

crate::canonicalization::canonicalizes! {
    BroadcastOp => broadcast_of_broadcast;
    BitCastOp => bitcast_of_bitcast;
    ShapeCastOp => shape_cast_of_shape_cast, shape_cast_of_broadcast;
    TransposeOp => transpose_of_transpose, transpose_of_broadcast;
    ExtractOp => extract_at_constant, extract_of_extract, extract_of_broadcast, extract_of_insert, extract_of_transpose;
    InsertOp => insert_at_constant, insert_over_insert;
    FromElementsOp => elements_that_are_one;
    CreateMaskOp => mask_of_constants;
    ExtractStridedSliceOp => slice_of_broadcast, slice_of_slice;
    InsertStridedSliceOp => insert_over_inserted_slice;
    LoadOp => load_through_cast;
    StoreOp => store_through_cast;
    MaskedLoadOp => load_through_cast;
    MaskedStoreOp => load_through_cast;
}

fn load_through_cast(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    memory_through_cast(op, rw, &[0])
}

fn store_through_cast(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    memory_through_cast(op, rw, &[1])
}

/// True for what is no vector, and can be repeated in one.
fn is_element(rw: &Rewriter<'_>, ty: Type) -> bool {
    rw.cx().shape(ty).is_none()
}

rewrite! {
    /// Repeating a value that is repeated.
    fn broadcast_of_broadcast(rw) { BroadcastOp(BroadcastOp(x)) -> ty => BroadcastOp(x, ty) }

    /// The same bits twice seen in another way.
    fn bitcast_of_bitcast(rw) { BitCastOp(BitCastOp(x)) -> ty => BitCastOp(x, ty) }

    /// The same elements twice seen in another shape.
    fn shape_cast_of_shape_cast(rw) { ShapeCastOp(ShapeCastOp(x)) -> ty => ShapeCastOp(x, ty) }

    /// One element in any shape.
    fn shape_cast_of_broadcast(rw) { ShapeCastOp(BroadcastOp(x: of)) -> ty if is_element(rw, of) => BroadcastOp(x, ty) }

    /// One element in any order.
    fn transpose_of_broadcast(rw) { TransposeOp(BroadcastOp(x: of)) -> ty if is_element(rw, of) => BroadcastOp(x, ty) }

    /// A part of one element repeated.
    fn slice_of_broadcast(rw) {
        ExtractStridedSliceOp(BroadcastOp(x: of)) -> ty if is_element(rw, of) => BroadcastOp(x, ty)
    }
}

/// Two orders after each other are one.
fn transpose_of_transpose(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let found = (|| {
        let outer = rw.view::<TransposeOp<'_>>(op)?;
        let inner = rw.def::<TransposeOp<'_>>(outer.vector())?;
        let first: Vec<i64> = inner.permutation().to_vec();
        let order: Vec<i64> = outer.permutation().iter().map(|i| first[*i as usize]).collect();
        Some((inner.vector(), order))
    })();
    let (source, order) = rw.require(op, found, "its operand is not transposed")?;
    let loc = rw.body().loc(op);
    rw.set_before(op);
    let new = TransposeOp::value(rw, loc, source, &order);
    rw.replace_op(op, &[new]);
    Some(())
}

// ---- elements

/// The list with constants inside the vector in the place of values; `None` when there are none.
fn with_constants(op: OpRef<'_>, vector: Value, list: &[Mixed]) -> Option<Vec<Mixed>> {
    let sizes = VectorShape::of(op.cx, op.ty(vector)).sizes;
    let constant = |(entry, size): (&Mixed, &i64)| match entry {
        Mixed::Value(value) => {
            let index = op.constant(*value).and_then(|c| op.cx.as_int(c)).filter(|i| (0..*size).contains(i));
            index.map_or(*entry, Mixed::Static)
        }
        Mixed::Static(_) => *entry,
    };
    let new: Vec<Mixed> = list.iter().zip(&sizes).map(constant).collect();
    (new != list).then_some(new)
}

const NO_CONSTANT: &str = "no index is a constant inside the vector";

/// Puts an extraction in the place of `op`; the types are the same.
fn replace_by_extract(op: Op, rw: &mut Rewriter<'_>, source: Value, position: &[Mixed]) -> Option<()> {
    let old = rw.body().ty(rw.body().result(op, 0));
    let rest = VectorShape::of(rw.cx(), rw.body().ty(source)).drop_front(position.len());
    let same = (rest.vector_or_element(rw.cx()) == old && !position.is_empty()).then_some(());
    rw.require(op, same, "the result would have another type")?;
    let (values, numbers) = split_mixed(position);
    let loc = rw.body().loc(op);
    rw.set_before(op);
    let new = ExtractOp::value(rw, loc, source, &values, &numbers);
    rw.replace_op(op, &[new]);
    Some(())
}

fn extract_at_constant(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let extract = rw.view::<ExtractOp<'_>>(op)?;
    let source = extract.source();
    let found = with_constants(extract.op_ref(), source, &extract.position());
    let position = rw.require(op, found, NO_CONSTANT)?;
    replace_by_extract(op, rw, source, &position)
}

/// An element of a part is an element of the whole.
fn extract_of_extract(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let extract = rw.view::<ExtractOp<'_>>(op)?;
    let found = rw.def::<ExtractOp<'_>>(extract.source()).map(|inner| {
        let position: Vec<Mixed> = inner.position().into_iter().chain(extract.position()).collect();
        (inner.source(), position)
    });
    let (source, position) = rw.require(op, found, "its operand is no part of another vector")?;
    replace_by_extract(op, rw, source, &position)
}

/// What is taken from repeated values is one of them, or repeats fewer.
fn extract_of_broadcast(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let extract = rw.view::<ExtractOp<'_>>(op)?;
    let (position, ty) = (extract.position(), rw.body().ty(extract.result()));
    let found = rw.def::<BroadcastOp<'_>>(extract.source()).map(|broadcast| broadcast.source());
    let source = rw.require(op, found, "its operand is no repeated value")?;
    let (from, rank) = (rw.body().ty(source), rw.cx().shape(ty).map_or(0, <[i64]>::len));
    let sizes = rw.cx().shape(from).unwrap_or_default().to_vec();
    if sizes.len() <= rank && (rank > 0 || from == ty) {
        let loc = rw.body().loc(op);
        rw.set_before(op);
        let new = if from == ty { source } else { BroadcastOp::value(rw, loc, source, ty) };
        rw.replace_op(op, &[new]);
        return Some(());
    }
    // The last indices are those into the value; where it repeats along a dimension, it has one entry.
    let count = sizes.len() - rank;
    let own = &position[position.len() - count..];
    let position: Vec<Mixed> =
        own.iter().zip(&sizes).map(|(index, size)| if *size == 1 { Mixed::Static(0) } else { *index }).collect();
    replace_by_extract(op, rw, source, &position)
}

/// What has been inserted is known, and what lies beside it has not changed.
fn extract_of_insert(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let extract = rw.view::<ExtractOp<'_>>(op)?;
    let position = extract.position();
    let found = rw.def::<InsertOp<'_>>(extract.source()).map(|i| (i.stored(), i.dest(), i.position()));
    let (stored, dest, at) = rw.require(op, found, "its operand has nothing inserted")?;
    let apart = |(a, b): (&Mixed, &Mixed)| a.as_static().zip(b.as_static()).is_some_and(|(a, b)| a != b);
    if position.iter().zip(&at).any(apart) {
        return replace_by_extract(op, rw, dest, &position);
    }
    let inside = (position.len() > at.len() && position.starts_with(&at)).then_some(());
    rw.require(op, inside, "it is not known whether it takes what has been inserted")?;
    replace_by_extract(op, rw, stored, &position[at.len()..])
}

/// An element of a transposed vector is one of the vector.
fn extract_of_transpose(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let extract = rw.view::<ExtractOp<'_>>(op)?;
    let position = extract.position();
    let found = rw.def::<TransposeOp<'_>>(extract.source()).map(|t| (t.vector(), t.permutation().to_vec()));
    let found = found.filter(|(_, order)| order.len() == position.len());
    let (source, order) = rw.require(op, found, "it takes no element of a transposed vector")?;
    let mut own = position.clone();
    for (index, dim) in position.iter().zip(order) {
        own[dim as usize] = *index;
    }
    replace_by_extract(op, rw, source, &own)
}

/// Puts an insertion in the place of `op`.
fn replace_by_insert(op: Op, rw: &mut Rewriter<'_>, stored: Value, dest: Value, position: &[Mixed]) -> Option<()> {
    let (values, numbers) = split_mixed(position);
    let loc = rw.body().loc(op);
    rw.set_before(op);
    let new = InsertOp::value(rw, loc, stored, dest, &values, &numbers);
    rw.replace_op(op, &[new]);
    Some(())
}

fn insert_at_constant(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let insert = rw.view::<InsertOp<'_>>(op)?;
    let (stored, dest) = (insert.stored(), insert.dest());
    let found = with_constants(insert.op_ref(), dest, &insert.position());
    let position = rw.require(op, found, NO_CONSTANT)?;
    replace_by_insert(op, rw, stored, dest, &position)
}

/// What is inserted at the same place before does not matter.
fn insert_over_insert(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let insert = rw.view::<InsertOp<'_>>(op)?;
    let (stored, position) = (insert.stored(), insert.position());
    let inner = rw.def::<InsertOp<'_>>(insert.dest()).filter(|inner| inner.position() == position);
    let found = inner.map(|inner| inner.dest());
    let dest = rw.require(op, found, "nothing is inserted at this place before")?;
    replace_by_insert(op, rw, stored, dest, &position)
}

/// A vector all of whose elements are one value repeats it.
fn elements_that_are_one(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let (first, same) = {
        let mut elements = rw.op_ref(op).operands();
        let first = elements.next()?;
        (first, elements.all(|value| value == first))
    };
    rw.require(op, same.then_some(()), "the elements are not one value")?;
    let (loc, ty) = (rw.body().loc(op), rw.body().ty(rw.body().result(op, 0)));
    rw.set_before(op);
    let new = BroadcastOp::value(rw, loc, first, ty);
    rw.replace_op(op, &[new]);
    Some(())
}

// ---- masks and slices

/// `create_mask` of constants to `constant_mask`, whose bounds lie inside the vector.
fn mask_of_constants(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let found = mask_bounds(rw.op_ref(op));
    let (bounds, ty) = rw.require(op, found, "not all bounds are constants")?;
    let empty = bounds.contains(&0);
    let bounds: Vec<i64> = if empty { vec![0; bounds.len()] } else { bounds };
    let loc = rw.body().loc(op);
    rw.set_before(op);
    let mask = ConstantMaskOp::value(rw, loc, &bounds, ty);
    rw.replace_op(op, &[mask]);
    Some(())
}

/// Where the dimensions of a mask become false, when that is constant.
fn mask_bounds(op: OpRef<'_>) -> Option<(Vec<i64>, Type)> {
    let ty = op.ty(op.result(0));
    let shape = VectorShape::of(op.cx, ty);
    // A bound beyond a scalable dimension's minimum may still be inside it.
    (!shape.scalable.contains(&1)).then_some(())?;
    let sizes = if shape.rank() == 0 { vec![1] } else { shape.sizes };
    let bound = |(v, size): (Value, i64)| Some(op.cx.as_int(op.constant(v)?)?.clamp(0, size));
    let bounds: Vec<i64> = op.operands().zip(sizes).map(bound).collect::<Option<_>>()?;
    Some((bounds, ty))
}

/// A part of a part is a part of the whole.
fn slice_of_slice(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let found = (|| {
        let outer = rw.view::<ExtractStridedSliceOp<'_>>(op)?;
        let inner = rw.def::<ExtractStridedSliceOp<'_>>(outer.source())?;
        let [(at, sizes), (first, counts)] = [outer, inner].map(|s| (s.offsets().to_vec(), s.sizes().to_vec()));
        let simple = |s: ExtractStridedSliceOp<'_>| s.strides().iter().all(|stride| *stride == 1);
        (simple(outer) && simple(inner)).then_some(())?;
        // Dimensions that one of them does not name are whole in it.
        let len = at.len().max(first.len());
        let offset = |i: usize| at.get(i).unwrap_or(&0) + first.get(i).unwrap_or(&0);
        let size = |i: usize| sizes.get(i).or_else(|| counts.get(i)).copied();
        let offsets: Vec<i64> = (0..len).map(offset).collect();
        let sizes: Vec<i64> = (0..len).map(size).collect::<Option<_>>()?;
        Some((inner.source(), offsets, sizes))
    })();
    let (source, offsets, sizes) = rw.require(op, found, "its operand is no part of another vector")?;
    let loc = rw.body().loc(op);
    rw.set_before(op);
    let strides = vec![1; offsets.len()];
    let new = ExtractStridedSliceOp::value(rw, loc, source, &offsets, &sizes, &strides);
    rw.replace_op(op, &[new]);
    Some(())
}

/// What is inserted at the same place before does not matter.
fn insert_over_inserted_slice(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let found = (|| {
        let outer = rw.view::<InsertStridedSliceOp<'_>>(op)?;
        let inner = rw.def::<InsertStridedSliceOp<'_>>(outer.dest())?;
        let (same, body) = (rw.body().props(op) == rw.body().props(inner.op_ref().op), rw.body());
        (same && body.ty(outer.stored()) == body.ty(inner.stored())).then(|| inner.dest())
    })();
    let dest = rw.require(op, found, "nothing is inserted at this place before")?;
    rw.set_operand(op, 1, dest);
    Some(())
}

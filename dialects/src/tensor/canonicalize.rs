//! Canonicalization patterns of tensor operations.

use sutura_ir::constraints::IndexListArrayAttr;
use sutura_ir::op_def::{AttrConstraintDef, OpView};
use sutura_ir::{DYNAMIC, Op, OpRef, Rewriter, Type, TypeData, Value};

use super::ops::*;
use crate::slices::{Mixed, Slice, split_mixed};

crate::canonicalization::canonicalizes! {
    CastOp => cast_of_empty;
    DimOp => dim_of_reified;
    EmptyOp => empty_of_constant_size;
    ExtractOp => extract_through_cast;
    ExtractSliceOp => slice_at_constants;
    InsertSliceOp => slice_over_slice, insert_slice_at_constants;
    ExpandShapeOp => expand_of_expand;
    CollapseShapeOp => collapse_of_collapse;
}

fn dim_of_reified(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    crate::shapes::dim_of_reified(op, rw)
}

/// An element is where it was before a cast.
fn extract_through_cast(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let ranked = |value: &Value| matches!(rw.cx().type_data(rw.body().ty(*value)), TypeData::RankedTensor { .. });
    let found = rw.def::<CastOp<'_>>(rw.body().operand(op, 0)).map(|cast| cast.source()).filter(ranked);
    let source = rw.require(op, found, "its operand is not cast from a ranked tensor")?;
    rw.set_operand(op, 0, source);
    Some(())
}

/// The numbers that are known of sizes: those of `shape`, and constants among the values for the others.
fn known_sizes(op: OpRef<'_>, shape: &[i64], values: &[Value]) -> (Vec<i64>, Vec<Value>) {
    let (mut sizes, mut rest, mut values) = (shape.to_vec(), Vec::new(), values.iter());
    for size in sizes.iter_mut().filter(|size| **size == DYNAMIC) {
        let Some(value) = values.next() else { break };
        match op.constant(*value).and_then(|c| op.cx.as_int(c)).filter(|n| *n >= 0) {
            Some(number) => *size = number,
            None => rest.push(*value),
        }
    }
    (sizes, rest)
}

/// Sizes that are constants are part of the type.
fn empty_of_constant_size(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let old = rw.body().ty(rw.body().result(op, 0));
    let TypeData::RankedTensor { shape, elem, encoding } = rw.cx().type_data(old) else { return None };
    let values: Vec<Value> = rw.body().operands(op).collect();
    let (sizes, rest) = known_sizes(rw.op_ref(op), rw.cx().ints(shape), &values);
    let more = (rest.len() < values.len()).then_some(());
    rw.require(op, more, "no size is a constant")?;
    let (loc, new) = (rw.body().loc(op), rw.cx().tensor_type(&sizes, elem, encoding));
    rw.set_before(op);
    let empty = EmptyOp::value(rw, loc, &rest, new);
    let cast = CastOp::value(rw, loc, empty, old);
    rw.replace_op(op, &[cast]);
    Some(())
}

/// A tensor without contents is made with the type that it is cast to, when that says more.
fn cast_of_empty(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let to = rw.body().ty(rw.body().result(op, 0));
    let found = (|| {
        let empty = rw.def::<EmptyOp<'_>>(rw.body().operand(op, 0))?;
        let (from, to) = (rw.cx().shape(rw.body().ty(empty.result()))?, rw.cx().shape(to)?);
        // The values of sizes that stay unknown are kept.
        let mut values = empty.dynamic_sizes();
        let mut kept = Vec::new();
        for (from, to) in from.iter().zip(to) {
            let value = if *from == DYNAMIC { values.next() } else { None };
            match (value, *to == DYNAMIC) {
                (Some(value), true) => kept.push(value),
                (None, true) => return None,
                _ => {}
            }
        }
        Some(kept)
    })();
    let sizes = rw.require(op, found, "its operand is no `tensor.empty` of which it says more")?;
    let loc = rw.body().loc(op);
    rw.set_before(op);
    let new = EmptyOp::value(rw, loc, &sizes, to);
    rw.replace_op(op, &[new]);
    Some(())
}

/// The slice with constants in the place of values; `None` when there are none.
fn with_constants(op: OpRef<'_>, slice: &Slice) -> Option<Slice> {
    let constant = |entry: &Mixed, least: i64| match entry {
        Mixed::Value(value) => {
            let number = op.constant(*value).and_then(|c| op.cx.as_int(c)).filter(|n| *n >= least);
            number.map_or(*entry, Mixed::Static)
        }
        Mixed::Static(_) => *entry,
    };
    let list = |list: &[Mixed], least| -> Vec<Mixed> { list.iter().map(|entry| constant(entry, least)).collect() };
    let new =
        Slice { offsets: list(&slice.offsets, 0), sizes: list(&slice.sizes, 0), strides: list(&slice.strides, 1) };
    let same = new.offsets == slice.offsets && new.sizes == slice.sizes && new.strides == slice.strides;
    (!same).then_some(new)
}

/// The type of a slice of these sizes, when no dimension is dropped.
fn sliced_type(rw: &Rewriter<'_>, old: Type, slice: &Slice) -> Option<Type> {
    let TypeData::RankedTensor { shape, elem, encoding } = rw.cx().type_data(old) else { return None };
    let sizes = slice.shape();
    (rw.cx().ints(shape).len() == sizes.len()).then(|| rw.cx().tensor_type(&sizes, elem, encoding))
}

/// Offsets, sizes and strides that are constants are numbers of the op.
fn slice_at_constants(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let extract = rw.view::<ExtractSliceOp<'_>>(op)?;
    let (source, old) = (extract.source(), rw.body().ty(extract.result()));
    let found = with_constants(extract.op_ref(), &extract.slice());
    let found = found.and_then(|slice| sliced_type(rw, old, &slice).map(|ty| (slice, ty)));
    let (slice, ty) = rw.require(op, found, "no offset, size or stride is a constant")?;
    let ((offsets, at), (sizes, counts)) = (split_mixed(&slice.offsets), split_mixed(&slice.sizes));
    let (strides, steps) = split_mixed(&slice.strides);
    let loc = rw.body().loc(op);
    rw.set_before(op);
    let mut new = ExtractSliceOp::value(rw, loc, source, &offsets, &sizes, &strides, &at, &counts, &steps, ty);
    if ty != old {
        new = CastOp::value(rw, loc, new, old);
    }
    rw.replace_op(op, &[new]);
    Some(())
}

/// The same for insertion: the part is cast to what is known of its sizes.
fn insert_slice_at_constants(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let insert = rw.view::<InsertSliceOp<'_>>(op)?;
    let (mut part, dest) = (insert.source(), insert.dest());
    let old = rw.body().ty(part);
    let found = with_constants(insert.op_ref(), &insert.slice());
    let found = found.and_then(|slice| sliced_type(rw, old, &slice).map(|ty| (slice, ty)));
    let (slice, ty) = rw.require(op, found, "no offset, size or stride is a constant")?;
    let ((offsets, at), (sizes, counts)) = (split_mixed(&slice.offsets), split_mixed(&slice.sizes));
    let (strides, steps) = split_mixed(&slice.strides);
    let loc = rw.body().loc(op);
    rw.set_before(op);
    if ty != old {
        part = CastOp::value(rw, loc, part, ty);
    }
    let new = InsertSliceOp::value(rw, loc, part, dest, &offsets, &sizes, &strides, &at, &counts, &steps);
    rw.replace_op(op, &[new]);
    Some(())
}

/// What is inserted at the same place before does not matter.
fn slice_over_slice(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let found = (|| {
        let outer = rw.view::<InsertSliceOp<'_>>(op)?;
        let inner = rw.def::<InsertSliceOp<'_>>(outer.dest())?;
        let places = |insert: InsertSliceOp<'_>| insert.op_ref().operands().skip(2).collect::<Vec<_>>();
        let same = rw.body().props(op) == rw.body().props(inner.op_ref().op) && places(outer) == places(inner);
        (same && rw.body().ty(outer.source()) == rw.body().ty(inner.source())).then(|| inner.dest())
    })();
    let dest = rw.require(op, found, "nothing is inserted at this place before")?;
    rw.set_operand(op, 1, dest);
    Some(())
}

/// The groups of two groupings after each other: those of `fine` that each group of `coarse` names, together.
fn composed(op: OpRef<'_>, coarse: OpRef<'_>, fine: OpRef<'_>) -> Option<Vec<Vec<i64>>> {
    let groups = |of: OpRef<'_>| IndexListArrayAttr::get(op.cx, of.prop("reassociation")?);
    let (coarse, fine) = (groups(coarse)?, groups(fine)?);
    let joined = |group: &Vec<i64>| group.iter().flat_map(|i| fine[*i as usize].clone()).collect();
    Some(coarse.iter().map(joined).collect())
}

/// Merging twice is merging more.
fn collapse_of_collapse(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let found = (|| {
        let inner = rw.def::<CollapseShapeOp<'_>>(rw.body().operand(op, 0))?;
        Some((inner.src(), composed(rw.op_ref(op), rw.op_ref(op), inner.op_ref())?))
    })();
    let (source, groups) = rw.require(op, found, "its operand is not collapsed")?;
    let (loc, ty) = (rw.body().loc(op), rw.body().ty(rw.body().result(op, 0)));
    rw.set_before(op);
    let new = CollapseShapeOp::value(rw, loc, source, &groups, ty);
    rw.replace_op(op, &[new]);
    Some(())
}

/// Splitting twice is splitting more.
fn expand_of_expand(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let found = (|| {
        let outer = rw.view::<ExpandShapeOp<'_>>(op)?;
        let inner = rw.def::<ExpandShapeOp<'_>>(outer.src())?;
        let groups = composed(rw.op_ref(op), inner.op_ref(), outer.op_ref())?;
        let sizes: Vec<Value> = outer.output_shape().collect();
        Some((inner.src(), groups, sizes, outer.static_output_shape().to_vec()))
    })();
    let (source, groups, sizes, shape) = rw.require(op, found, "its operand is not expanded")?;
    let (loc, ty) = (rw.body().loc(op), rw.body().ty(rw.body().result(op, 0)));
    rw.set_before(op);
    let new = ExpandShapeOp::value(rw, loc, source, &groups, &sizes, &shape, ty);
    rw.replace_op(op, &[new]);
    Some(())
}

//! Canonicalization patterns of memref operations.

use sutura_ir::op_def::Canonicalize;
use sutura_ir::pattern::PatternSet;
use sutura_ir::{AttrData, Builder, DYNAMIC, Loc, Op, Rewriter, Type, TypeData, Value};

use super::ops::*;

impl Canonicalize for AllocOp<'_> {
    fn patterns(set: &mut PatternSet) {
        set.add::<AllocOp<'_>>("alloc_that_is_only_written", alloc_that_is_only_written);
        set.add::<AllocOp<'_>>("alloc_of_constant_size", |op, rw| {
            alloc_of_constant_size(op, rw, |b, loc, sizes, alignment, ty| {
                AllocOp::value(b, loc, sizes, &[], alignment, ty)
            })
        });
    }
}

impl Canonicalize for AllocaOp<'_> {
    fn patterns(set: &mut PatternSet) {
        set.add::<AllocaOp<'_>>("alloca_that_is_only_written", alloc_that_is_only_written);
        set.add::<AllocaOp<'_>>("alloca_of_constant_size", |op, rw| {
            alloc_of_constant_size(op, rw, |b, loc, sizes, alignment, ty| {
                AllocaOp::value(b, loc, sizes, &[], alignment, ty)
            })
        });
    }
}

impl Canonicalize for DimOp<'_> {
    fn patterns(set: &mut PatternSet) {
        set.add::<DimOp<'_>>("dim_of_reified", crate::shapes::dim_of_reified);
    }
}

impl Canonicalize for LoadOp<'_> {
    fn patterns(set: &mut PatternSet) {
        set.add::<LoadOp<'_>>("load_through_cast", |op, rw| memory_through_cast(op, rw, &[0]));
    }
}

impl Canonicalize for StoreOp<'_> {
    fn patterns(set: &mut PatternSet) {
        set.add::<StoreOp<'_>>("store_through_cast", |op, rw| memory_through_cast(op, rw, &[1]));
    }
}

impl Canonicalize for DeallocOp<'_> {
    fn patterns(set: &mut PatternSet) {
        set.add::<DeallocOp<'_>>("dealloc_through_cast", |op, rw| memory_through_cast(op, rw, &[0]));
    }
}

impl Canonicalize for ExtractAlignedPointerAsIndexOp<'_> {
    fn patterns(set: &mut PatternSet) {
        set.add::<Self>("pointer_through_cast", |op, rw| memory_through_cast(op, rw, &[0]));
    }
}

impl Canonicalize for ReinterpretCastOp<'_> {
    fn patterns(set: &mut PatternSet) {
        set.add::<ReinterpretCastOp<'_>>("reinterpreted_twice", reinterpreted_twice);
    }
}

impl Canonicalize for CopyOp<'_> {
    fn patterns(set: &mut PatternSet) {
        set.add::<CopyOp<'_>>("copy_through_cast", |op, rw| memory_through_cast(op, rw, &[0, 1]));
        set.add::<CopyOp<'_>>("copy_of_nothing", copy_of_nothing);
        set.add::<CopyOp<'_>>("copy_to_itself", copy_to_itself);
    }
}

/// Memory that is never read goes, with the stores into it and its deallocation.
fn alloc_that_is_only_written(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let memory = rw.body().result(op, 0);
    let mut users: Vec<Op> = rw.body().uses(memory).map(|u| u.owner).collect();
    let only_written = users.iter().all(|user| {
        let user = rw.op_ref(*user);
        let stored_into = user.as_::<StoreOp<'_>>().is_some_and(|s| s.memref() == memory && s.stored() != memory);
        stored_into || user.is::<DeallocOp<'_>>()
    });
    rw.require(op, only_written.then_some(()), "something other than a store into it, or a deallocation, uses it")?;
    users.dedup();
    for user in users {
        rw.erase_op(user);
    }
    rw.erase_op(op);
    Some(())
}

/// An allocation whose sizes are constants gets a static type, and a cast to the old one.
fn alloc_of_constant_size(
    op: Op,
    rw: &mut Rewriter<'_>,
    build: fn(&mut Builder<'_>, Loc, &[Value], Option<i64>, Type) -> Value,
) -> Option<()> {
    let found = (|| {
        let this = rw.op_ref(op);
        let cx = rw.cx();
        let old = this.ty(this.result(0));
        let TypeData::MemRef { shape, elem, layout, space } = cx.type_data(old) else { return None };
        // A layout with symbols or strides would have to change too.
        layout.is_none().then_some(())?;
        let mut operands = this.operands();
        let (mut shape, mut sizes) = (cx.ints(shape).to_vec(), Vec::new());
        for size in shape.iter_mut().filter(|d| **d == DYNAMIC) {
            let operand = operands.next()?;
            match this.constant(operand).and_then(|c| cx.as_int(c)).filter(|n| *n >= 0) {
                Some(number) => *size = number,
                None => sizes.push(operand),
            }
        }
        let new = cx.memref_type(&shape, elem, None, space);
        let alignment = this.prop("alignment").and_then(|a| match cx.attr_data(a) {
            AttrData::Integer { value, .. } => Some(value),
            _ => None,
        });
        (new != old).then_some((old, new, sizes, alignment))
    })();
    let reason = "no dynamic size is a constant, or there is a layout";
    let (old, new, sizes, alignment) = rw.require(op, found, reason)?;
    let loc = rw.body().loc(op);
    rw.set_before(op);
    let memory = build(rw, loc, &sizes, alignment, new);
    let cast = CastOp::value(rw, loc, memory, old);
    rw.replace_op(op, &[cast]);
    Some(())
}

/// Memory is used as what it was before a cast that only says less, or more, of its shape. `operands` are those of `op`
/// for which any ranked memref of the elements does.
pub(crate) fn memory_through_cast(op: Op, rw: &mut Rewriter<'_>, operands: &[usize]) -> Option<()> {
    let ranked = |value: &Value| matches!(rw.cx().type_data(rw.body().ty(*value)), TypeData::MemRef { .. });
    let before =
        |index: usize| rw.def::<CastOp<'_>>(rw.body().operand(op, index)).map(|cast| cast.source()).filter(ranked);
    let found: Vec<(usize, Value)> = operands.iter().filter_map(|index| Some((*index, before(*index)?))).collect();
    let some = (!found.is_empty()).then_some(());
    rw.require(op, some, "the memory is not cast from a ranked memref")?;
    for (index, memory) in found {
        rw.set_operand(op, index, memory);
    }
    Some(())
}

/// What says offset, sizes and strides anew does not need what was said before.
fn reinterpreted_twice(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let source = rw.body().operand(op, 0);
    let cast = rw.def::<CastOp<'_>>(source).map(|cast| cast.source());
    let found = cast.or_else(|| Some(rw.def::<ReinterpretCastOp<'_>>(source)?.source()));
    let memory = rw.require(op, found, "its operand is no other view of memory")?;
    rw.set_operand(op, 0, memory);
    Some(())
}

/// A copy of memory without elements goes.
fn copy_of_nothing(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let empty = |value: Value| rw.cx().shape(rw.body().ty(value)).is_some_and(|shape| shape.contains(&0));
    let nothing = rw.body().operands(op).any(empty).then_some(());
    rw.require(op, nothing, "it is not known to have no elements")?;
    rw.erase_op(op);
    Some(())
}

/// `copy x, x` goes.
fn copy_to_itself(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let same = (rw.body().operand(op, 0) == rw.body().operand(op, 1)).then_some(());
    rw.require(op, same, "source and target are two values")?;
    rw.erase_op(op);
    Some(())
}

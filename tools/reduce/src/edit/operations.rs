//! Operations, their operands and results.

use sutura_ir::body::OpHeader;
use sutura_ir::{Block, Body, Context, NamedAttr, Op, OpRef, OpState, Rewriter, Traits, Type, Value};

use super::{Change, Substitute, With};

/// Erases `op`. Uses of its results get other values, none of which an op of `erased` defines.
pub(super) fn erase(rw: &mut Rewriter<'_>, op: Op, substitute: Substitute, erased: &[Op]) -> Option<()> {
    if is_terminator(rw.op_ref(op)) {
        return None;
    }
    let results: Vec<Value> = rw.body().results(op).collect();
    let mut values = Vec::new();
    for result in results {
        values.push(if rw.body().is_unused(result) { result } else { stand_in(rw, op, result, substitute, erased)? });
    }
    for (i, value) in values.into_iter().enumerate() {
        let result = rw.body().result(op, i);
        if value != result {
            rw.replace_all_uses(result, value);
        }
    }
    rw.erase_op(op);
    Some(())
}

/// True for an op that ends its block; of an op that is not registered that cannot be told, so it stays if it is last
/// and has successors.
pub(super) fn is_terminator(op: OpRef<'_>) -> bool {
    op.has_trait(Traits::Terminator) || !op.successors().is_empty()
}

fn stand_in(rw: &mut Rewriter<'_>, op: Op, result: Value, substitute: Substitute, erased: &[Op]) -> Option<Value> {
    let ty = rw.body().ty(result);
    match substitute {
        Substitute::Value => other_value(rw.body(), op, ty, erased).or_else(|| zero_before(rw, op, ty)),
        Substitute::Constant => zero_before(rw, op, ty).or_else(|| other_value(rw.body(), op, ty, erased)),
    }
}

/// A value of type `ty` that can be used where `op` stands: an operand, an earlier result, an argument of a block
/// around it.
pub(super) fn other_value(body: &Body, op: Op, ty: Type, erased: &[Op]) -> Option<Value> {
    let stays = |v: &Value| body.ty(*v) == ty && body.defining_op(*v).is_none_or(|d| d != op && !erased.contains(&d));
    if let Some(operand) = body.operands(op).find(stays) {
        return Some(operand);
    }
    let mut at = Some(op);
    while let Some(inner) = at {
        let block = body.op_block(inner)?;
        if let Some(arg) = body.block_args(block).iter().copied().find(stays) {
            return Some(arg);
        }
        let before = std::iter::successors(body.prev_op(inner), |o| body.prev_op(*o));
        if let Some(result) = before.flat_map(|o| body.results(o)).find(stays) {
            return Some(result);
        }
        if let Some(arg) = entry_arg(body, block, ty) {
            return Some(arg);
        }
        at = body.parent_op(inner);
    }
    None
}

/// An argument of the entry block of the region of `block`, which dominates it.
fn entry_arg(body: &Body, block: Block, ty: Type) -> Option<Value> {
    let entry = body.region_entry(body.block_region(block)?)?;
    body.block_args(entry).iter().copied().find(|v| body.ty(*v) == ty)
}

/// A constant 0 of type `ty` before `op`.
pub(super) fn zero_before(rw: &mut Rewriter<'_>, op: Op, ty: Type) -> Option<Value> {
    let cx = rw.cx();
    let value = number(cx, ty, 0)?;
    let name = cx.op_name("arith.constant");
    name.def(cx)?;
    let loc = rw.body().loc(op);
    rw.set_before(op);
    let state = OpState::new(name, loc).results([ty]).prop(cx.ident("value"), value);
    let constant = rw.create(state);
    Some(rw.body().result(constant, 0))
}

/// The attribute of type `ty` that is `value` everywhere.
pub(super) fn number(cx: &Context, ty: Type, value: i64) -> Option<sutura_ir::Attr> {
    let elem = cx.element_type(ty);
    let scalar = if elem.is_float(cx) {
        cx.float_attr(value as f64, elem)
    } else if elem.is_signless_integer(cx) || elem == Type::INDEX {
        cx.int_attr(value, elem)
    } else {
        return None;
    };
    match cx.shape(ty) {
        None => Some(scalar),
        Some(_) if matches!(cx.type_data(ty), sutura_ir::types::TypeData::MemRef { .. }) => None,
        Some(_) => cx.splat_attr(ty, scalar),
    }
}

/// Ops whose uses a constant can take over.
pub(super) fn offer_constants(op: OpRef<'_>, out: &mut Vec<Change>) {
    let used = op.results().any(|r| !op.body.is_unused(r));
    if used && !op.has_trait(Traits::ConstantLike) && op.result_types().all(|ty| number(op.cx, ty, 0).is_some()) {
        out.push(Change::Erase(Substitute::Constant));
    }
}

/// Unused results.
pub(super) fn offer_results(op: OpRef<'_>, out: &mut Vec<Change>) {
    if op.body.nested(op.op).is_some() {
        return;
    }
    let several = op.num_results() > 1 || op.regions().len() > 0 || op.def().is_none();
    for (index, _) in op.results().enumerate().filter(|(_, r)| several && op.body.is_unused(*r)) {
        out.push(Change::Result(index, With::Alone));
        if op.regions().len() > 0 {
            out.push(Change::Result(index, With::Yielded));
            out.push(Change::Result(index, With::Carried));
        }
    }
}

/// Operands of ops that may have fewer.
pub(super) fn offer_operands(op: OpRef<'_>, out: &mut Vec<Change>) {
    let variadic = op.def().is_none_or(|d| d.operands.iter().any(|o| o.arity != sutura_ir::op_def::Arity::Single));
    if variadic && op.successors().is_empty() {
        out.extend((0..op.num_operands()).rev().map(Change::Operand));
    }
}

/// Makes `op` anew without the unused result `index`.
pub(super) fn drop_result(rw: &mut Rewriter<'_>, op: Op, index: usize, with: With) -> Option<()> {
    let body = rw.body();
    let count = body.num_results(op);
    if index >= count || !body.is_unused(body.result(op, index)) || body.nested(op).is_some() {
        return None;
    }
    if with != With::Alone {
        drop_yielded(rw, op, index);
    }
    if with == With::Carried {
        drop_carried(rw, op, count, index)?;
    }
    rebuild_without_result(rw, op, index);
    Some(())
}

fn drop_yielded(rw: &mut Rewriter<'_>, op: Op, index: usize) {
    let body = rw.body();
    let blocks: Vec<Block> = body.regions(op).flat_map(|r| body.blocks(r).collect::<Vec<_>>()).collect();
    for block in blocks {
        let Some(last) = rw.body().last_op(block) else { continue };
        if rw.body().successors(last).is_empty() && index < rw.body().num_operands(last) {
            rw.erase_operand(last, index);
        }
    }
}

/// Loops have the values that they carry as their last operands and last arguments of their blocks.
fn drop_carried(rw: &mut Rewriter<'_>, op: Op, results: usize, index: usize) -> Option<()> {
    let body = rw.body();
    let operand = (body.num_operands(op) + index).checked_sub(results)?;
    let entries: Vec<Block> = body.regions(op).filter_map(|r| body.region_entry(r)).collect();
    let initial = body.operand(op, operand);
    for block in entries {
        let args = rw.body().block_args(block);
        let at = (args.len() + index).checked_sub(results)?;
        let arg = args[at];
        if rw.body().ty(arg) == rw.body().ty(initial) {
            rw.replace_all_uses(arg, initial);
        }
        if !rw.body().is_unused(arg) {
            return None;
        }
        rw.erase_block_arg(block, at);
    }
    rw.erase_operand(op, operand);
    Some(())
}

/// Replaces `op` by one without the unused result `index`; its regions move.
pub(super) fn rebuild_without_result(rw: &mut Rewriter<'_>, op: Op, index: usize) -> Op {
    let (cx, body) = (rw.cx(), rw.body());
    let header = OpHeader { name: body.name(op), loc: body.loc(op), props: body.props(op), attrs: body.attrs(op) };
    let operands: Vec<Value> = body.operands(op).collect();
    let kept: Vec<Value> = body.results(op).enumerate().filter(|(i, _)| *i != index).map(|(_, v)| v).collect();
    let types: Vec<Type> = kept.iter().map(|v| body.ty(*v)).collect();
    let successors: Vec<Block> = body.successors(op).to_vec();
    let n_regions = body.regions(op).len();
    let props = shorter_segments(cx, rw.op_ref(op), header.props, index);
    rw.set_before(op);
    let new = rw.create_from_parts(OpHeader { props, ..header }, &operands, &types, &successors, n_regions, None);
    let pairs: Vec<_> = rw.body().regions(op).zip(rw.body().regions(new)).collect();
    for (from, to) in pairs {
        rw.take_region(from, to);
    }
    for (i, old) in kept.into_iter().enumerate() {
        let result = rw.body().result(new, i);
        rw.replace_all_uses(old, result);
    }
    rw.erase_op(op);
    new
}

/// `resultSegmentSizes` with one value less in the group of result `index`.
fn shorter_segments(cx: &Context, op: OpRef<'_>, props: sutura_ir::Attr, index: usize) -> sutura_ir::Attr {
    let Some(mut sizes) = op.prop("resultSegmentSizes").and_then(|a| cx.as_ints(a)) else { return props };
    let mut end = 0;
    let group = sizes.iter().position(|size| {
        end += size;
        (index as i64) < end
    });
    if let Some(group) = group {
        sizes[group] -= 1;
    }
    let sizes: Vec<i32> = sizes.iter().map(|s| *s as i32).collect();
    let entry = NamedAttr { name: cx.ident("resultSegmentSizes"), value: cx.i32_array(&sizes) };
    cx.with_entry(props, entry.name, Some(entry.value))
}

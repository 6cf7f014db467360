//! Patterns of `scf.if`.

use std::iter;

use sutura_ir::op_def::{Canonicalize, OpView};
use sutura_ir::pattern::PatternSet;
use sutura_ir::{Block, Body, Op, Region, Rewriter, Type, Value};

use super::{is_outside, kept, replace_by_block};
use crate::arith::{AndIOp, ConstantOp, SelectOp, XOrIOp};
use crate::constant::int_value;
use crate::scf::ops::{IfOp, YieldOp};

impl Canonicalize for IfOp<'_> {
    fn patterns(set: &mut PatternSet) {
        set.add::<IfOp<'_>>("if_on_constant", if_on_constant);
        set.add::<IfOp<'_>>("if_on_complement", if_on_complement);
        set.add::<IfOp<'_>>("empty_else", empty_else);
        set.add::<IfOp<'_>>("condition_known_inside", condition_known_inside);
        set.add::<IfOp<'_>>("results_from_outside", results_from_outside);
        set.add::<IfOp<'_>>("results_not_needed", results_not_needed);
        set.add::<IfOp<'_>>("if_in_if", if_in_if);
        set.add::<IfOp<'_>>("if_after_if", if_after_if);
    }
}

/// A side of a conditional.
#[derive(Clone)]
struct Side {
    region: Region,
    /// None: the side is empty.
    block: Option<Block>,
    yielded: Vec<Value>,
}

/// What a conditional says.
struct Parts {
    condition: Value,
    then: Side,
    otherwise: Side,
}

impl Parts {
    fn of(op: Op, rw: &Rewriter<'_>) -> Option<Self> {
        let this = rw.view::<IfOp<'_>>(op)?;
        let mut regions = rw.body().regions(op);
        let mut side = || {
            let region = regions.next()?;
            let block = rw.body().region_entry(region);
            let end = block.and_then(|block| rw.body().last_op(block));
            let yielded = end.map(|end| rw.body().operands(end).collect()).unwrap_or_default();
            Some(Side { region, block, yielded })
        };
        Some(Self { condition: this.condition(), then: side()?, otherwise: side()? })
    }
}

fn if_on_constant(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let found = (|| {
        let if_op = rw.view::<IfOp<'_>>(op)?;
        let this = if_op.op_ref();
        let condition = rw.cx().as_bool(this.constant(if_op.condition())?)?;
        let region = if condition { if_op.then_region() } else { if_op.else_region() };
        Some(region.entry().map(|b| b.block))
    })();
    match rw.require(op, found, "the condition is no constant")? {
        Some(block) => replace_by_block(op, rw, block, &[]),
        None => {
            rw.erase_op(op);
            Some(())
        }
    }
}

/// The value whose complement `value` is.
fn complement_of(rw: &Rewriter<'_>, value: Value) -> Option<Value> {
    let not = rw.def::<XOrIOp<'_>>(value)?;
    let ones = not.op_ref().constant(not.rhs())?;
    (int_value(rw.cx(), ones) == Some(-1)).then(|| not.lhs())
}

/// `if not c {A} else {B}` to `if c {B} else {A}`.
fn if_on_complement(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let parts = Parts::of(op, rw)?;
    rw.require(op, parts.otherwise.block, "there is no `else`")?;
    let found = complement_of(rw, parts.condition);
    let condition = rw.require(op, found, "the condition is no complement")?;
    let types: Vec<Type> = rw.op_ref(op).result_types().collect();
    let sides = [parts.otherwise.region, parts.then.region];
    let new = build(op, rw, condition, &types, sides)?;
    let results: Vec<Value> = rw.body().results(new).collect();
    rw.replace_op(op, &results);
    Some(())
}

/// A conditional before `op` that takes over these sides.
fn build(op: Op, rw: &mut Rewriter<'_>, condition: Value, types: &[Type], sides: [Region; 2]) -> Option<Op> {
    let (loc, attrs) = (rw.body().loc(op), rw.body().attrs(op));
    rw.set_before(op);
    let new = IfOp::build(rw, loc, condition, types);
    let props = rw.body().props(new);
    rw.set_dicts(new, props, attrs);
    let regions: Vec<Region> = rw.body().regions(new).collect();
    for (from, to) in sides.into_iter().zip(regions) {
        rw.take_region(from, to);
    }
    Some(new)
}

/// An `else` that does nothing goes.
fn empty_else(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let otherwise = Parts::of(op, rw)?.otherwise.block;
    let empty = |block: &Block| rw.body().first_op(*block) == rw.body().last_op(*block);
    let found = otherwise.filter(|block| rw.body().num_results(op) == 0 && empty(block));
    let block = rw.require(op, found, "there is no `else` that does nothing")?;
    rw.erase_block(block);
    // It may take part in what needs an op without `else`.
    let condition = rw.body().operand(op, 0);
    rw.set_operand(op, 0, condition);
    Some(())
}

/// The condition is true in the first side, and false in the second.
fn condition_known_inside(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let parts = Parts::of(op, rw)?;
    let mut changed = None;
    for (side, known) in [(&parts.then, true), (&parts.otherwise, false)] {
        let inside = |body: &Body, user: Op, _: usize| {
            let around = body.op_block(user).and_then(|block| body.block_region(block));
            around.is_some_and(|around| body.is_region_within(side.region, around))
        };
        if !is_used_within(rw.body(), parts.condition, side.region) {
            continue;
        }
        let (loc, value) = (rw.body().loc(op), rw.cx().bool_attr(known));
        rw.set_before(op);
        let value = ConstantOp::value(rw, loc, value);
        rw.replace_uses_if(parts.condition, value, inside);
        changed = Some(());
    }
    rw.require(op, changed, "nothing inside uses the condition")
}

/// Whether an op inside of `region` uses `value`, which comes from outside. It looks at the value's uses, or at the region's ops
/// where the uses are many: many ops may share one condition.
fn is_used_within(body: &Body, value: Value, region: Region) -> bool {
    const MANY: usize = 16;
    if body.uses(value).nth(MANY).is_some() {
        let mut inside = body
            .blocks(region)
            .flat_map(|block| body.ops(block))
            .flat_map(|op| iter::once(op).chain(body.preorder_in(op)));
        return inside.any(|op| body.operands(op).any(|operand| operand == value));
    }
    body.uses(value).any(|u| {
        let around = body.op_block(u.owner).and_then(|block| body.block_region(block));
        around.is_some_and(|around| body.is_region_within(region, around))
    })
}

/// A result that both sides take from outside is selected there.
fn results_from_outside(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let parts = Parts::of(op, rw)?;
    let mut changed = None;
    for (index, (&x, &y)) in parts.then.yielded.iter().zip(&parts.otherwise.yielded).enumerate() {
        let result = rw.body().result(op, index);
        let outside = is_outside(rw.body(), x, parts.then.region) && is_outside(rw.body(), y, parts.otherwise.region);
        if rw.body().is_unused(result) || !outside {
            continue;
        }
        let loc = rw.body().loc(op);
        rw.set_before(op);
        let value = if x == y { x } else { SelectOp::value(rw, loc, parts.condition, x, y) };
        rw.replace_all_uses(result, value);
        changed = Some(());
    }
    rw.require(op, changed, "no result is used that both sides take from outside")
}

/// A result that nothing uses goes, and one that is always what another one is.
fn results_not_needed(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let parts = Parts::of(op, rw)?;
    let pairs: Vec<(Value, Value)> =
        parts.then.yielded.iter().copied().zip(parts.otherwise.yielded.iter().copied()).collect();
    for (index, pair) in pairs.iter().enumerate() {
        let first = pairs.iter().position(|p| p == pair).expect("it is like itself");
        if first != index {
            let (old, new) = (rw.body().result(op, index), rw.body().result(op, first));
            rw.replace_all_uses(old, new);
        }
    }
    let results: Vec<Value> = rw.body().results(op).collect();
    let keep: Vec<bool> = results.iter().map(|result| !rw.body().is_unused(*result)).collect();
    let fewer = keep.contains(&false).then_some(());
    rw.require(op, fewer, "all results are used, and differ")?;
    for side in [&parts.then, &parts.otherwise] {
        let end = rw.body().last_op(side.block?)?;
        rw.set_operands(end, &kept(side.yielded.iter().copied(), &keep));
    }
    let types: Vec<Type> = kept(rw.op_ref(op).result_types().collect::<Vec<_>>(), &keep);
    let new = build(op, rw, parts.condition, &types, [parts.then.region, parts.otherwise.region])?;
    let made: Vec<Value> = rw.body().results(new).collect();
    for (old, new) in kept(results, &keep).into_iter().zip(made) {
        rw.replace_all_uses(old, new);
    }
    rw.erase_op(op);
    Some(())
}

/// `if c { if d {A} else {B} } else {B}` to `if (c and d) {A} else {B}`, where `B` yields values from outside and does
/// nothing else.
fn if_in_if(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let outer = Parts::of(op, rw)?;
    let block = outer.then.block?;
    let (first, last) = (rw.body().first_op(block)?, rw.body().last_op(block)?);
    let found = if rw.body().next_op(first) == Some(last) { Parts::of(first, rw) } else { None };
    let inner = rw.require(op, found, "its first side is not one `scf.if`")?;
    let only_yields =
        |side: &Side| side.block.is_none_or(|block| rw.body().first_op(block) == rw.body().last_op(block));
    let nothing = (only_yields(&outer.otherwise) && only_yields(&inner.otherwise)).then_some(());
    rw.require(op, nothing, "a second side does something")?;
    // What the inner one gives, or a value from around both, is yielded in the same way where the condition is false.
    let mut then = Vec::new();
    for (&x, &y) in outer.then.yielded.iter().zip(&outer.otherwise.yielded) {
        let index = rw.body().results(first).position(|result| result == x);
        match index {
            Some(index) if inner.otherwise.yielded[index] == y => then.push(inner.then.yielded[index]),
            _ => return rw.notify_match_failure(op, || "the second sides yield different values".to_string()),
        }
    }
    let loc = rw.body().loc(op);
    rw.set_before(op);
    let both = AndIOp::value(rw, loc, outer.condition, inner.condition);
    let end = rw.body().last_op(inner.then.block?)?;
    rw.set_operands(end, &then);
    let types: Vec<Type> = rw.op_ref(op).result_types().collect();
    let new = build(op, rw, both, &types, [inner.then.region, outer.otherwise.region])?;
    let results: Vec<Value> = rw.body().results(new).collect();
    rw.replace_op(op, &results);
    Some(())
}

/// Two conditionals after each other on the same condition, or its complement, are one.
fn if_after_if(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let found = rw.body().prev_op(op).and_then(|before| Some((before, Parts::of(before, rw)?)));
    let (before, first) = rw.require(op, found, "the op before is no `scf.if`")?;
    let mut second = Parts::of(op, rw)?;
    if complement_of(rw, second.condition) == Some(first.condition)
        || complement_of(rw, first.condition) == Some(second.condition)
    {
        std::mem::swap(&mut second.then, &mut second.otherwise);
    } else if first.condition != second.condition {
        return rw.notify_match_failure(op, || "the one before has another condition".to_string());
    }
    let types: Vec<Type> = rw.op_ref(before).result_types().chain(rw.op_ref(op).result_types()).collect();
    let count = rw.body().num_results(before);
    for (side, more) in [(&first.then, &second.then), (&first.otherwise, &second.otherwise)] {
        // Inside, the results of the first are what this side of it yields.
        for (index, value) in side.yielded.iter().enumerate() {
            let result = rw.body().result(before, index);
            rw.replace_uses_if(result, *value, |body, user, _| {
                let around = body.op_block(user).and_then(|block| body.block_region(block));
                around.is_some_and(|around| body.is_region_within(more.region, around))
            });
        }
        append(rw, side, more)?;
    }
    let new = build(op, rw, first.condition, &types, [first.then.region, first.otherwise.region])?;
    let results: Vec<Value> = rw.body().results(new).collect();
    rw.replace_op(op, &results[count..]);
    rw.replace_op(before, &results[..count]);
    Some(())
}

/// Puts the ops of a side behind those of another, which then yields what both yield.
fn append(rw: &mut Rewriter<'_>, side: &Side, more: &Side) -> Option<()> {
    let (Some(block), Some(next)) = (side.block, more.block) else {
        if more.block.is_some() {
            rw.take_region(more.region, side.region);
        }
        return Some(());
    };
    let end = rw.body().last_op(block)?;
    // Values of the first side may have been put into the second one: they are read again.
    let last = rw.body().last_op(next)?;
    let yielded: Vec<Value> = side.yielded.iter().copied().chain(rw.body().operands(last)).collect();
    let loc = rw.body().loc(end);
    rw.erase_op(end);
    rw.erase_op(last);
    rw.merge_block(next, block, &[]);
    rw.set_insert_point(sutura_ir::builder::InsertPoint::End(block));
    YieldOp::build(rw, loc, &yielded);
    Some(())
}

//! Patterns of `scf.for`.

use sutura_ir::op_def::{Canonicalize, OpView};
use sutura_ir::pattern::PatternSet;
use sutura_ir::{Op, Rewriter, Type, Value};

use super::{erase_args, is_outside, kept, replace_by_block};
use crate::scf::ops::{ForOp, YieldOp};
use crate::scf::trip_count::trip_count;

impl Canonicalize for ForOp<'_> {
    fn patterns(set: &mut PatternSet) {
        set.add::<ForOp<'_>>("loop_without_iterations", loop_without_iterations);
        set.add::<ForOp<'_>>("loop_of_one_iteration", loop_of_one_iteration);
        set.add::<ForOp<'_>>("values_that_do_not_change", values_that_do_not_change);
        set.add::<ForOp<'_>>("values_carried_twice", values_carried_twice);
        set.add::<ForOp<'_>>("last_values_from_outside", last_values_from_outside);
    }
}

const NOT_THAT_OFTEN: &str = "bounds and step are not constants with which it runs that often";

fn loop_without_iterations(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let found: Option<Vec<Value>> = {
        let for_op = rw.view::<ForOp<'_>>(op)?;
        (trip_count(for_op) == Some(0)).then(|| for_op.init_args().collect())
    };
    let inits = rw.require(op, found, NOT_THAT_OFTEN)?;
    rw.replace_op(op, &inits);
    Some(())
}

fn loop_of_one_iteration(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let found = (|| {
        let for_op = rw.view::<ForOp<'_>>(op).filter(|for_op| trip_count(*for_op) == Some(1))?;
        let args: Vec<Value> = std::iter::once(for_op.lower_bound()).chain(for_op.init_args()).collect();
        Some((for_op.region().entry()?.block, args))
    })();
    let (block, args) = rw.require(op, found, NOT_THAT_OFTEN)?;
    replace_by_block(op, rw, block, &args)
}

/// What a loop carries: first value, argument, what is yielded, result.
#[derive(Clone, Copy)]
struct Carried {
    init: Value,
    arg: Value,
    next: Value,
    result: Value,
}

fn carried(for_op: ForOp<'_>) -> Option<Vec<Carried>> {
    let op = for_op.op_ref();
    let next = for_op.region().entry()?.terminator()?.as_::<YieldOp<'_>>()?.results();
    let (inits, args) = (for_op.init_args(), for_op.iter_args());
    let all = inits.zip(args).zip(next).zip(op.results());
    Some(all.map(|(((init, arg), next), result)| Carried { init, arg: *arg, next, result }).collect())
}

/// A carried value that stays what it is at first, and one that nothing uses, is carried no more.
fn values_that_do_not_change(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let all = carried(rw.view::<ForOp<'_>>(op)?)?;
    let body = rw.body();
    let unneeded = |c: &Carried| body.is_unused(c.arg) && body.is_unused(c.result);
    let keep: Vec<bool> = all.iter().map(|c| c.next != c.arg && c.next != c.init && !unneeded(c)).collect();
    let replacements: Vec<Value> = all.iter().map(|c| c.init).collect();
    carry_only(op, rw, &all, &keep, &replacements)
}

/// What a loop that runs at least once yields from outside each time is its result.
fn last_values_from_outside(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let all = {
        let for_op = rw.view::<ForOp<'_>>(op)?;
        trip_count(for_op).filter(|trips| *trips > 0).and_then(|_| carried(for_op))
    };
    let all = rw.require(op, all, "it may not run")?;
    let region = rw.body().regions(op).next()?;
    let mut changed = None;
    for Carried { next, result, .. } in all {
        if !rw.body().is_unused(result) && is_outside(rw.body(), next, region) {
            rw.replace_all_uses(result, next);
            changed = Some(());
        }
    }
    rw.require(op, changed, "no result is used that the loop yields from outside")
}

/// Two values that begin and go on in the same way are one.
fn values_carried_twice(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let all = carried(rw.view::<ForOp<'_>>(op)?)?;
    let first: Vec<usize> = all
        .iter()
        .map(|c| all.iter().position(|d| (d.init, d.next) == (c.init, c.next)).expect("it is like itself"))
        .collect();
    let keep: Vec<bool> = first.iter().enumerate().map(|(index, first)| *first == index).collect();
    for (index, &first) in first.iter().enumerate().filter(|(index, first)| *first != index) {
        rw.replace_all_uses(all[index].arg, all[first].arg);
        rw.replace_all_uses(all[index].result, all[first].result);
    }
    let replacements: Vec<Value> = all.iter().map(|c| c.init).collect();
    carry_only(op, rw, &all, &keep, &replacements)
}

/// Makes the loop carry only some of its values; the others are `replacements` inside and behind it.
fn carry_only(op: Op, rw: &mut Rewriter<'_>, all: &[Carried], keep: &[bool], replacements: &[Value]) -> Option<()> {
    let fewer = keep.contains(&false).then_some(());
    rw.require(op, fewer, "all that it carries is needed")?;
    let ((lower, upper, step), block, from) = {
        let this = rw.view::<ForOp<'_>>(op)?;
        (
            (this.lower_bound(), this.upper_bound(), this.step()),
            this.region().entry()?.block,
            rw.body().regions(op).next()?,
        )
    };
    for ((carried, keep), replacement) in all.iter().zip(keep).zip(replacements) {
        if !keep {
            rw.replace_all_uses(carried.arg, *replacement);
        }
    }
    let end = rw.body().last_op(block)?;
    let next = kept(rw.body().operands(end).collect::<Vec<_>>(), keep);
    rw.set_operands(end, &next);
    erase_args(rw, block, 1, keep);
    let inits = kept(all.iter().map(|c| c.init), keep);
    let types: Vec<Type> = inits.iter().map(|v| rw.body().ty(*v)).collect();
    let (loc, props, attrs) = (rw.body().loc(op), rw.body().props(op), rw.body().attrs(op));
    rw.set_before(op);
    let new = ForOp::build(rw, loc, lower, upper, step, &inits, &types);
    rw.set_dicts(new, props, attrs);
    let to = rw.body().regions(new).next()?;
    rw.take_region(from, to);
    let mut results = rw.body().results(new).collect::<Vec<_>>().into_iter();
    let values: Vec<Value> = keep
        .iter()
        .zip(replacements)
        .map(|(keep, other)| if *keep { results.next().expect("one for each kept") } else { *other })
        .collect();
    rw.replace_op(op, &values);
    Some(())
}

//! Patterns of `scf.while`.

use sutura_ir::op_def::Canonicalize;
use sutura_ir::pattern::PatternSet;
use sutura_ir::{Block, Op, Region, Rewriter, Type, Value};

use super::{erase_args, is_outside, kept};
use crate::arith::{CmpIOp, ConstantOp};
use crate::scf::ops::{ConditionOp, WhileOp, YieldOp};

impl Canonicalize for WhileOp<'_> {
    fn patterns(set: &mut PatternSet) {
        set.add::<WhileOp<'_>>("condition_known_in_loop", condition_known_in_loop);
        set.add::<WhileOp<'_>>("comparison_known_in_loop", comparison_known_in_loop);
        set.add::<WhileOp<'_>>("values_from_outside", values_from_outside);
        set.add::<WhileOp<'_>>("passed_values_not_needed", passed_values_not_needed);
        set.add::<WhileOp<'_>>("arguments_not_needed", arguments_not_needed);
    }
}

/// What a loop says.
struct Parts {
    inits: Vec<Value>,
    before: (Region, Block),
    after: (Region, Block),
    /// The op that ends the first region, its condition, and what it passes on.
    end: Op,
    condition: Value,
    passed: Vec<Value>,
    /// The op that ends the second region, and what it passes back.
    back: Op,
    returned: Vec<Value>,
}

impl Parts {
    fn of(op: Op, rw: &Rewriter<'_>) -> Option<Self> {
        let this = rw.view::<WhileOp<'_>>(op)?;
        let inits = this.inits().collect();
        let body = rw.body();
        let mut regions = body.regions(op).map(|region| Some((region, body.region_entry(region)?)));
        let (before, after) = (regions.next()??, regions.next()??);
        let (end, back) = (body.last_op(before.1)?, body.last_op(after.1)?);
        let condition = rw.view::<ConditionOp<'_>>(end)?;
        let returned = rw.view::<YieldOp<'_>>(back)?.results().collect();
        let (passed, condition) = (condition.args().collect(), condition.condition());
        Some(Self { inits, before, after, end, condition, passed, back, returned })
    }

    /// Replaces the loop by one that passes only the values `keep_passed` on, and has only the arguments `keep_inits`.
    /// Nothing uses the others.
    fn keep(self, op: Op, rw: &mut Rewriter<'_>, keep_inits: &[bool], keep_passed: &[bool]) -> Option<()> {
        let mut operands = vec![self.condition];
        operands.extend(kept(self.passed, keep_passed));
        rw.set_operands(self.end, &operands);
        rw.set_operands(self.back, &kept(self.returned, keep_inits));
        erase_args(rw, self.before.1, 0, keep_inits);
        erase_args(rw, self.after.1, 0, keep_passed);
        let types: Vec<Type> = kept(rw.op_ref(op).result_types().collect::<Vec<_>>(), keep_passed);
        let (loc, attrs, inits) = (rw.body().loc(op), rw.body().attrs(op), kept(self.inits, keep_inits));
        rw.set_before(op);
        let new = WhileOp::build(rw, loc, &inits, &types);
        let props = rw.body().props(new);
        rw.set_dicts(new, props, attrs);
        let regions: Vec<Region> = rw.body().regions(new).collect();
        rw.take_region(self.before.0, regions[0]);
        rw.take_region(self.after.0, regions[1]);
        let old = kept(rw.body().results(op).collect::<Vec<_>>(), keep_passed);
        let made: Vec<Value> = rw.body().results(new).collect();
        for (old, new) in old.into_iter().zip(made) {
            rw.replace_all_uses(old, new);
        }
        rw.erase_op(op);
        Some(())
    }
}

/// Where the condition is passed on, it is true in the second region.
fn condition_known_in_loop(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let parts = Parts::of(op, rw)?;
    let args = rw.body().block_args(parts.after.1).to_vec();
    let known = args.iter().zip(&parts.passed).find(|(arg, v)| **v == parts.condition && !rw.body().is_unused(**arg));
    let known = known.map(|(arg, _)| *arg);
    let arg = rw.require(op, known, "the condition is not passed on, or not used there")?;
    let (loc, value) = (rw.body().loc(op), rw.cx().bool_attr(true));
    rw.set_before(op);
    let value = ConstantOp::value(rw, loc, value);
    rw.replace_all_uses(arg, value);
    Some(())
}

/// The second region need not compare again what the condition has compared: values that are passed on, and values from
/// outside.
fn comparison_known_in_loop(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let parts = Parts::of(op, rw)?;
    let args = rw.body().block_args(parts.after.1).to_vec();
    let compared = rw.def::<CmpIOp<'_>>(parts.condition).map(|cmp| (cmp.predicate(), [cmp.lhs(), cmp.rhs()]));
    let (predicate, operands) = rw.require(op, compared, "the condition is not the result of `arith.cmpi`")?;
    // In the second region a value is known as the arguments that it is passed to, or as itself if it is from outside.
    let names = |value: Value| -> Vec<Value> {
        let passed = parts.passed.iter().zip(&args).filter(|(v, _)| **v == value).map(|(_, arg)| *arg);
        let outside = is_outside(rw.body(), value, parts.before.0).then_some(value);
        passed.chain(outside).collect()
    };
    let [lhs, rhs] = operands.map(names);
    let mut found = None;
    for user in args.iter().flat_map(|arg| rw.body().uses(*arg)).map(|u| u.owner) {
        let Some(again) = rw.view::<CmpIOp<'_>>(user) else { continue };
        let same = lhs.contains(&again.lhs()) && rhs.contains(&again.rhs());
        if same && again.predicate() == predicate {
            found = Some((user, true));
        } else if same && again.predicate() == predicate.inverted() {
            found = Some((user, false));
        }
    }
    let found = found.filter(|(user, _)| !rw.body().is_unused(rw.body().result(*user, 0)));
    let (user, known) = rw.require(op, found, "the second region does not compare what the first one has compared")?;
    let (loc, value) = (rw.body().loc(user), rw.cx().bool_attr(known));
    rw.set_before(user);
    let value = ConstantOp::value(rw, loc, value);
    rw.replace_op(user, &[value]);
    Some(())
}

/// A passed value from outside is itself in the second region and behind the loop; an argument that is always the same
/// value from outside is that value.
fn values_from_outside(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let parts = Parts::of(op, rw)?;
    let mut changed = None;
    let mut replace = |rw: &mut Rewriter<'_>, old: Value, new: Value| {
        if !rw.body().is_unused(old) {
            rw.replace_all_uses(old, new);
            changed = Some(());
        }
    };
    let args = rw.body().block_args(parts.after.1).to_vec();
    let firsts = rw.body().block_args(parts.before.1).to_vec();
    for ((arg, init), returned) in firsts.into_iter().zip(&parts.inits).zip(&parts.returned) {
        // It goes round as it is, or is the first value again.
        let round = args.iter().position(|passed| passed == returned).is_some_and(|at| parts.passed[at] == arg);
        if init == returned || round {
            replace(rw, arg, *init);
        }
    }
    for (index, (arg, passed)) in args.iter().zip(&parts.passed).enumerate() {
        if is_outside(rw.body(), *passed, parts.before.0) {
            let result = rw.body().result(op, index);
            replace(rw, *arg, *passed);
            replace(rw, result, *passed);
        }
    }
    rw.require(op, changed, "no value from outside is passed on")
}

/// A passed value that nothing uses, and one that is passed twice, is passed no more.
fn passed_values_not_needed(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let parts = Parts::of(op, rw)?;
    let args = rw.body().block_args(parts.after.1).to_vec();
    for (index, value) in parts.passed.iter().enumerate() {
        let first = parts.passed.iter().position(|v| v == value).expect("it is like itself");
        if first != index {
            let results = (rw.body().result(op, index), rw.body().result(op, first));
            rw.replace_all_uses(args[index], args[first]);
            rw.replace_all_uses(results.0, results.1);
        }
    }
    let needed =
        |(index, arg): (usize, &Value)| !rw.body().is_unused(*arg) || !rw.body().is_unused(rw.body().result(op, index));
    let keep: Vec<bool> = args.iter().enumerate().map(needed).collect();
    let fewer = keep.contains(&false).then_some(());
    rw.require(op, fewer, "all passed values are used, and differ")?;
    let all = vec![true; parts.inits.len()];
    // What is passed back may have been one of the arguments.
    Parts::of(op, rw)?.keep(op, rw, &all, &keep)
}

/// An argument of the first region that nothing uses goes.
fn arguments_not_needed(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let parts = Parts::of(op, rw)?;
    let args = rw.body().block_args(parts.before.1);
    let keep: Vec<bool> = args.iter().map(|arg| !rw.body().is_unused(*arg)).collect();
    let fewer = keep.contains(&false).then_some(());
    rw.require(op, fewer, "all arguments of the first region are used")?;
    let all = vec![true; parts.passed.len()];
    parts.keep(op, rw, &keep, &all)
}

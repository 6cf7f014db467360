//! Simplification of regions with several blocks: blocks that are not reached, arguments that are not needed, and what
//! [`blocks`](super::blocks) does.

use rustc_hash::{FxHashMap, FxHashSet};

use super::blocks::{merge_chains, merge_identical};
use crate::analysis::dominance::reverse_post_order;
use crate::analysis::effects::would_be_trivially_dead;
use crate::body::{Block, Body, Op, Region, Value, ValueKind};
use crate::builder::Listener;
use crate::context::Context;
use crate::interfaces::BranchOp;
use crate::op_def::Traits;
use crate::op_ref::OpRef;
use crate::rewriter::Rewriter;

/// How much is done to the regions of a body.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RegionSimplify {
    /// Nothing.
    Disabled,
    /// Blocks that are not reached go, arguments that are not needed with the ops that only compute them; chains of
    /// blocks become one, and branches pass by blocks that only go on.
    Normal,
    /// And blocks that do the same become one.
    Aggressive,
}

struct Silent;
impl Listener for Silent {}

/// Simplifies all regions of `body`, nested bodies left out. True when something changed.
pub fn simplify_regions(cx: &Context, body: &mut Body) -> bool {
    simplify_regions_with(cx, body, RegionSimplify::Normal, &mut Silent)
}

/// [`simplify_regions`] with a listener.
pub(super) fn simplify_regions_with(
    cx: &Context,
    body: &mut Body,
    how: RegionSimplify,
    listener: &mut dyn Listener,
) -> bool {
    if how == RegionSimplify::Disabled {
        return false;
    }
    let in_ops = body.preorder().flat_map(|op| body.regions(op)).filter(|r| has_several_blocks(body, *r));
    let regions: Vec<Region> = body.owner_regions().filter(|r| has_several_blocks(body, *r)).chain(in_ops).collect();
    let mut changed = false;
    for region in regions {
        // An earlier region may have held this one in a block that was not reached.
        if body.region_parent(region).is_none_or(|parent| body.is_live(parent)) {
            if has_fixed_blocks(cx, body, region) {
                changed |= drop_arguments(cx, body, region, listener);
                continue;
            }
            changed |= erase_unreachable(cx, body, region, listener);
            changed |= drop_arguments(cx, body, region, listener);
            changed |= merge_chains(cx, body, region, listener);
            if how == RegionSimplify::Aggressive {
                // Blocks that are passed by now are not reached.
                changed |= erase_unreachable(cx, body, region, listener);
                changed |= merge_identical(cx, body, region, listener);
            }
        }
    }
    changed
}

fn has_several_blocks(body: &Body, region: Region) -> bool {
    body.region_entry(region).is_some_and(|entry| body.next_block(entry).is_some())
}

fn has_fixed_blocks(cx: &Context, body: &Body, region: Region) -> bool {
    body.region_parent(region).is_some_and(|op| OpRef::new(cx, body, op).has_trait(Traits::FixedBlocks))
}

fn erase_unreachable(cx: &Context, body: &mut Body, region: Region, listener: &mut dyn Listener) -> bool {
    let Some(entry) = body.region_entry(region) else { return false };
    let reached: FxHashSet<Block> = reverse_post_order(body, entry).into_iter().collect();
    let dead: Vec<Block> = body.blocks(region).filter(|b| !reached.contains(b)).collect();
    if dead.is_empty() {
        return false;
    }
    Rewriter::with_listener(cx, body, listener).erase_blocks(&dead);
    true
}

/// A branch to a block, as one of its arguments sees it.
#[derive(Clone, Copy)]
struct Incoming {
    branch: Op,
    /// Number of the successor.
    successor: usize,
    /// The branch makes the argument's value itself: no operand stands for it.
    produced: bool,
}

/// What is known of the arguments of a region's blocks.
struct Arguments {
    /// Branches from which each argument gets its value.
    incoming: FxHashMap<Value, Vec<Incoming>>,
    /// Where each branch operand goes, by op and number of the operand.
    forwarded: FxHashMap<(Op, usize), Value>,
    /// Blocks that are reached by a branch of which nothing is known.
    opaque: FxHashSet<Block>,
}

fn drop_arguments(cx: &Context, body: &mut Body, region: Region, listener: &mut dyn Listener) -> bool {
    let Some(entry) = body.region_entry(region) else { return false };
    let has_args = body.blocks(region).any(|b| b != entry && !body.block_args(b).is_empty());
    if !has_args {
        return false;
    }
    let arguments = gather(cx, body, region);
    let (live, dead) = live_values(cx, body, region, &arguments);
    let blocks: Vec<Block> = body.blocks(region).filter(|b| *b != entry && !arguments.opaque.contains(b)).collect();
    let mut doomed: Vec<(Block, usize)> = Vec::new();
    for block in blocks {
        let mut dropped = 0;
        for index in (0..body.block_args(block).len()).rev() {
            let arg = body.block_args(block)[index];
            let incoming = arguments.incoming.get(&arg).map_or(&[][..], Vec::as_slice);
            if incoming.iter().any(|i| i.produced) {
                continue;
            }
            // Operands of the dropped arguments behind this one are gone already.
            let from_end = body.block_args(block).len() - index - dropped;
            let mut rewriter = Rewriter::with_listener(cx, body, listener);
            if live.contains(&arg) {
                let Some(value) = single_value(&rewriter, arg, from_end, incoming) else { continue };
                rewriter.replace_all_uses(arg, value);
            }
            for i in incoming {
                erase_incoming(&mut rewriter, i, from_end);
            }
            dropped += 1;
            doomed.push((block, index));
        }
    }
    // Only now nothing forwards a dead argument to another dead one.
    let changed = !doomed.is_empty();
    if changed {
        erase_unused(cx, body, dead, listener);
    }
    for (block, index) in doomed {
        Rewriter::with_listener(cx, body, listener).erase_block_arg(block, index);
    }
    changed
}

fn gather(cx: &Context, body: &Body, region: Region) -> Arguments {
    let mut found =
        Arguments { incoming: FxHashMap::default(), forwarded: FxHashMap::default(), opaque: FxHashSet::default() };
    for block in body.blocks(region) {
        let Some(branch) = body.last_op(block) else { continue };
        let op = OpRef::new(cx, body, branch);
        let interface = op.interface::<dyn BranchOp>();
        for (successor, &target) in body.successors(branch).iter().enumerate() {
            let Some(interface) = interface else {
                found.opaque.insert(target);
                continue;
            };
            let operands = interface.successor_operands(op, successor);
            let args = body.block_args(target);
            let produced = args.len().saturating_sub(operands.len());
            for (index, &arg) in args.iter().enumerate() {
                let incoming = Incoming { branch, successor, produced: index < produced };
                found.incoming.entry(arg).or_default().push(incoming);
            }
            found.forwarded.extend(operands.zip(&args[produced..]).map(|(i, arg)| ((branch, i), *arg)));
        }
    }
    found
}

/// Arguments, and results of ops without effects that depend on arguments, of which something is needed.
fn live_values(cx: &Context, body: &Body, region: Region, arguments: &Arguments) -> (FxHashSet<Value>, Vec<Op>) {
    let fixed = |arg: &Value| match body.value_kind(*arg) {
        ValueKind::Arg(block, _) => arguments.opaque.contains(&block) || body.region_entry(region) == Some(block),
        _ => false,
    };
    let args: Vec<Value> = body.blocks(region).flat_map(|b| body.block_args(b).iter().copied()).collect();
    let dependent = dependent_ops(cx, body, region, &args);
    let computes: FxHashSet<Op> = dependent.iter().copied().collect();
    let is_needed = |value: &Value| {
        body.uses(*value)
            .any(|u| !arguments.forwarded.contains_key(&(u.owner, u.index)) && !computes.contains(&u.owner))
    };
    let results = dependent.iter().flat_map(|op| body.results(*op));
    let mut pending: Vec<Value> = args.into_iter().chain(results).filter(|v| fixed(v) || is_needed(v)).collect();
    let mut live: FxHashSet<Value> = pending.iter().copied().collect();
    let mut sources: FxHashMap<Value, Vec<Value>> = FxHashMap::default();
    for (&(branch, operand), &arg) in &arguments.forwarded {
        sources.entry(arg).or_default().push(body.operand(branch, operand));
    }
    while let Some(value) = pending.pop() {
        let operands = body.defining_op(value).filter(|op| computes.contains(op)).map(|op| body.operands(op));
        let forwarded = sources.get(&value).into_iter().flatten().copied();
        for source in operands.into_iter().flatten().chain(forwarded) {
            if live.insert(source) {
                pending.push(source);
            }
        }
    }
    let is_dead = |op: &Op| body.results(*op).all(|result| !live.contains(&result));
    let dead = dependent.into_iter().filter(is_dead).collect();
    (live, dead)
}

/// The ops in the blocks of `region` that depend on its arguments, and that may go when their results are not needed.
fn dependent_ops(cx: &Context, body: &Body, region: Region, args: &[Value]) -> Vec<Op> {
    let mut found = Vec::new();
    let mut seen: FxHashSet<Op> = FxHashSet::default();
    let mut pending: Vec<Value> = args.to_vec();
    while let Some(value) = pending.pop() {
        for user in body.uses(value).map(|u| u.owner) {
            let in_region = body.op_block(user).and_then(|b| body.block_region(b)) == Some(region);
            let may_go = || {
                body.num_results(user) > 0
                    && body.regions(user).len() == 0
                    && would_be_trivially_dead(OpRef::new(cx, body, user))
            };
            if in_region && !seen.contains(&user) && may_go() {
                seen.insert(user);
                found.push(user);
                pending.extend(body.results(user));
            }
        }
    }
    found
}

/// Erases those of `ops`, none of which is needed, that nothing uses any more.
fn erase_unused(cx: &Context, body: &mut Body, mut ops: Vec<Op>, listener: &mut dyn Listener) {
    loop {
        let (unused, rest): (Vec<Op>, Vec<Op>) =
            ops.into_iter().partition(|op| body.results(*op).all(|result| body.is_unused(result)));
        if unused.is_empty() {
            return;
        }
        for op in unused {
            Rewriter::with_listener(cx, body, listener).erase_op(op);
        }
        ops = rest;
    }
}

/// Number of the operand that goes to the argument `from_end` places before the end of its block's arguments.
fn operand_number(rewriter: &Rewriter<'_>, incoming: &Incoming, from_end: usize) -> usize {
    let op = rewriter.op_ref(incoming.branch);
    let interface = op.interface::<dyn BranchOp>().expect("gathered through it");
    interface.successor_operands(op, incoming.successor).end - from_end
}

/// Takes the operand that goes to that argument away.
fn erase_incoming(rewriter: &mut Rewriter<'_>, incoming: &Incoming, from_end: usize) {
    let op = rewriter.op_ref(incoming.branch);
    let interface = op.interface::<dyn BranchOp>().expect("gathered through it");
    let operands = interface.successor_operands(op, incoming.successor);
    let erased = operands.end - from_end;
    let values: Vec<Value> = operands.filter(|i| *i != erased).map(|i| op.operand(i)).collect();
    interface.set_successor_operands(rewriter, incoming.branch, incoming.successor, &values);
}

/// The one value that reaches an argument, itself left out.
fn single_value(rewriter: &Rewriter<'_>, arg: Value, from_end: usize, incoming: &[Incoming]) -> Option<Value> {
    let body = rewriter.body();
    let mut found = None;
    for i in incoming {
        let value = body.operand(i.branch, operand_number(rewriter, i, from_end));
        if value != arg && *found.get_or_insert(value) != value {
            return None;
        }
    }
    found.filter(|v| body.ty(*v) == body.ty(arg))
}

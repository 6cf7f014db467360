//! Regions that are there are taken apart, and their ops become regions in another way.

use std::collections::HashMap;

use sutura_dialects::r#dyn::Facts;
use sutura_dialects::graph::{FusionOp, YieldOp};
use sutura_dialects::target::{TargetDesc, machine_in};
use sutura_ir::{Block, BlockRef, Body, Context, IrMapping, Op, OpRef, Rewriter, Value};

use super::block::{Ops, Pricing, is_compute};
use super::cost::CostModel;
use super::outline::{is_fact, outline};
use super::quotient::Quotient;
use super::{PlannedRegion, Step};
use crate::region::cost::value_text;

/// Why a region may not be taken apart.
fn fixed(region: OpRef<'_>) -> Option<&'static str> {
    let Some(fusion) = region.as_::<FusionOp<'_>>() else { return Some("it is no region") };
    if fusion.schedule().is_some() || fusion.trace().is_some() {
        return Some("it has a schedule of its own");
    }
    let Some(entry) = fusion.body().entry() else { return Some("it has no body") };
    let known = |op: OpRef<'_>| is_fact(op) || is_compute(op) || op.is::<YieldOp<'_>>();
    (!entry.ops().all(known)).then_some("it has an op that no kernel computes")
}

/// The regions of a function that may be taken apart, in order; those that have a schedule of their own keep their ops.
pub(super) fn free(cx: &Context, function: &Body) -> Vec<Op> {
    let Some(entry) = only_block(function) else { return Vec::new() };
    function.ops(entry).filter(|op| fixed(OpRef::new(cx, function, *op)).is_none()).collect()
}

fn only_block(function: &Body) -> Option<Block> {
    let entry = function.entry_block()?;
    function.blocks(function.region()).nth(1).is_none().then_some(entry)
}

/// Puts the ops of a region in its place; those that compute, in order.
pub(super) fn inline(rw: &mut Rewriter<'_>, region: Op) -> Vec<Op> {
    let cx = rw.cx();
    let operands: Vec<Value> = rw.body().operands(region).collect();
    let inside = rw.replace_nested(region, Box::new(Body::new(1))).expect("a region is isolated");
    let block = inside.entry_block().expect("a region has a body");
    let mut mapping = IrMapping::new();
    inside.block_args(block).iter().zip(operands).for_each(|(arg, operand)| mapping.map(*arg, operand));
    rw.set_before(region);
    let (mut ops, mut yielded) = (Vec::new(), Vec::new());
    for op in inside.ops(block).map(|op| OpRef::new(cx, &inside, op)) {
        if op.is::<YieldOp<'_>>() {
            yielded = op.operands().map(|v| mapping.get(v).expect("it is made before")).collect();
        } else if !is_fact(op) {
            ops.push(mapping.clone_op(op, rw).expect("what a region reads is made before"));
        }
    }
    rw.replace_op(region, &yielded);
    ops
}

/// The numbers of a machine that a module describes, or common ones.
///
/// # Errors
/// When the description is wrong.
pub fn model_of(cx: &Context, module: &Body) -> Result<CostModel, String> {
    let machine = machine_in(cx, module).and_then(|op| op.map(TargetDesc::from_op).transpose())?;
    Ok(machine.as_ref().map_or_else(CostModel::default, CostModel::of))
}

/// Regions of a function, in order, and the kernels that their ops become instead, counted through all of them.
pub type Replaced<'r> = (&'r [Op], &'r [Vec<usize>]);

/// Makes one region of each of some kernels in place of regions of a function, and leaves the function as it was where that cannot be.
///
/// # Errors
/// As [`replan_all`].
pub fn replan(
    cx: &Context,
    function: &mut Body,
    replaced: Replaced<'_>,
    (model, basis): (&CostModel, &str),
) -> Result<(), String> {
    replan_all(cx, function, &[replaced], (model, basis))?.pop().flatten().map_or(Ok(()), Err)
}

/// Makes one region of each of some kernels in place of regions of a function, several times; why those were not made that cannot
/// be beside those before them, since each would wait for the other. `basis` is what the plan is taken for, as the regions' `reasons` say it:
/// `measured`, `predicted`.
///
/// # Errors
/// Says what cannot be a kernel, or why the regions cannot be taken apart; the function stays as it was then.
pub fn replan_all(
    cx: &Context,
    function: &mut Body,
    all: &[Replaced<'_>],
    (model, basis): (&CostModel, &str),
) -> Result<Vec<Option<String>>, String> {
    let mut copy = function.clone();
    let entry = only_block(&copy).ok_or("the function has several blocks")?;
    for region in all.iter().flat_map(|(regions, _)| *regions) {
        if let Some(why) = fixed(OpRef::new(cx, &copy, *region)) {
            return Err(format!("a region cannot be taken apart: {why}"));
        }
    }
    let why_not = match all.len() {
        1 => vec![None],
        _ => beside_each_other(cx, &copy, entry, all)?,
    };
    let mut rw = Rewriter::new(cx, &mut copy);
    let mut made: Vec<(Vec<Op>, &[Vec<usize>])> = Vec::new();
    for ((regions, kernels), _) in all.iter().zip(&why_not).filter(|(_, why_not)| why_not.is_none()) {
        made.push((regions.iter().flat_map(|region| inline(&mut rw, *region)).collect(), kernels));
    }
    let steps = {
        let facts = facts_of(cx, &copy, entry)?;
        steps(&Ops::of(cx, &copy, entry, &facts), &made, (model, basis))?
    };
    outline(&mut Rewriter::new(cx, &mut copy), entry, &steps);
    *function = copy;
    Ok(why_not)
}

fn facts_of(cx: &Context, body: &Body, block: Block) -> Result<Facts, String> {
    Facts::of_block(BlockRef { cx, body, block }).map_err(|(_, contradiction)| contradiction.to_string())
}

/// Which regions cannot become others beside those before them: a path leads out of what would be one and back into it.
fn beside_each_other(
    cx: &Context,
    body: &Body,
    entry: Block,
    all: &[Replaced<'_>],
) -> Result<Vec<Option<String>>, String> {
    let facts = facts_of(cx, body, entry)?;
    let ops = Ops::of(cx, body, entry, &facts);
    let number: HashMap<Op, usize> = ops.ops.iter().enumerate().map(|(node, view)| (view.op, node)).collect();
    let mut plan = ops.graph.apart();
    let mut why_not = Vec::with_capacity(all.len());
    for (regions, _) in all {
        let nodes: Vec<usize> = regions.iter().map(|region| number[region]).collect();
        let joined = match &nodes[..] {
            [first, second] => plan.contract(*first, *second).map(|_| ()),
            [] | [_] => Ok(()),
            [first, rest @ ..] => {
                let mut other = plan.clone();
                let joined = rest.iter().try_fold(*first, |cluster, node| other.contract(cluster, *node));
                joined.map(|_| plan = other)
            }
        };
        why_not.push(joined.err().map(|between| format!("{} stands between them", ops.name(between))));
    }
    Ok(why_not)
}

/// The ops of a block, of which some become regions.
fn steps(
    ops: &Ops<'_>,
    all: &[(Vec<Op>, &[Vec<usize>])],
    (model, basis): (&CostModel, &str),
) -> Result<Vec<Step>, String> {
    let number: HashMap<Op, usize> = ops.ops.iter().enumerate().map(|(node, view)| (view.op, node)).collect();
    let mut pricing = Pricing::new(ops, model.clone(), usize::MAX);
    let mut plan = ops.graph.apart();
    let mut regions = vec![false; ops.ops.len()];
    for (members, kernels) in all {
        let nodes: Vec<usize> = members.iter().map(|op| number[op]).collect();
        let mut named: Vec<usize> = kernels.concat();
        named.sort_unstable();
        if !named.iter().copied().eq(0..nodes.len()) {
            return Err(format!("the regions have {} ops, and each must be in one kernel", nodes.len()));
        }
        for kernel in *kernels {
            let mut kernel: Vec<usize> = kernel.iter().map(|number| nodes[*number]).collect();
            kernel.sort_unstable();
            pricing
                .kernel(&kernel)
                .map_err(|misfit| format!("{} and others are no kernel: {misfit}", ops.name(kernel[0])))?;
            let joined = kernel[1..].iter().try_fold(kernel[0], |cluster, node| plan.contract(cluster, *node));
            let cluster =
                joined.map_err(|between| format!("{} stands between ops of one kernel", ops.name(between)))?;
            regions[cluster] = true;
        }
    }
    let mut reads: HashMap<usize, Vec<(usize, Value)>> = HashMap::new();
    for (from, to, value) in &ops.reads {
        reads.entry(plan.cluster(*to)).or_default().push((*from, *value));
    }
    let step = |cluster: usize| match regions[cluster] {
        true => region(ops, &plan, cluster, (reads.get(&cluster).map_or(&[], Vec::as_slice), basis)),
        false => Step::Keep(ops.ops[cluster].op),
    };
    Ok(plan.order().into_iter().map(step).collect())
}

/// A region of what a cluster has, which `reads` these values.
fn region(ops: &Ops<'_>, plan: &Quotient, cluster: usize, (reads, basis): (&[(usize, Value)], &str)) -> Step {
    let members = plan.members(cluster);
    let mut reasons: Vec<String> = Vec::new();
    for (_, value) in reads.iter().filter(|(from, _)| plan.cluster(*from) != cluster) {
        let reason = format!("{}: {basis} to be faster apart", value_text(ops.cx, ops.body, *value));
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    let own = members.iter().map(|node| ops.ops[*node].op).collect();
    Step::Region(PlannedRegion { ops: own, outputs: ops.outputs(members), reasons })
}

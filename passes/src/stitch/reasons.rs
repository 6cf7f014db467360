//! Why a region did not take in what it reads, with what both ways cost.

use std::collections::{BTreeSet, HashSet};

use sutura_ir::Value;

use super::block::{Ops, Pricing, made_through_reshape};
use super::planner::union;
use super::quotient::Quotient;
use crate::region::cost::value_text;

/// One entry per value that `cluster` reads from another one, in the order in which they are made.
pub(super) fn reasons(ops: &Ops<'_>, plan: &Quotient, pricing: &mut Pricing<'_, '_>, cluster: usize) -> Vec<String> {
    let mut seen: HashSet<Value> = HashSet::new();
    let mut reasons: Vec<(usize, String)> = Vec::new();
    for node in plan.members(cluster) {
        for value in ops.ops[*node].operands() {
            let Some(maker) = maker(ops, value).filter(|node| plan.cluster(*node) != cluster) else { continue };
            if seen.insert(value) {
                let why = why_apart(ops, plan, pricing, (plan.cluster(maker), cluster));
                reasons.push((maker, format!("{}: {why}", value_text(ops.cx, ops.body, value))));
            }
        }
        for value in ops.ops[*node].operands() {
            if made_through_reshape(ops, value) && seen.insert(value) {
                let name = value_text(ops.cx, ops.body, value);
                reasons.push((*node, format!("{name}: it is a reshape of what another region makes")));
            }
        }
    }
    reasons.sort();
    reasons.extend(apart_from_siblings(ops, plan, pricing, cluster));
    reasons.into_iter().map(|(_, reason)| reason).collect()
}

/// Products that stand before those of `cluster`, read what they read and nothing of each other, and are kernels of their own.
fn apart_from_siblings(
    ops: &Ops<'_>,
    plan: &Quotient,
    pricing: &mut Pricing<'_, '_>,
    cluster: usize,
) -> Vec<(usize, String)> {
    let flows = |from: usize, to: usize| {
        let pair = (plan.cluster(from), plan.cluster(to));
        ops.reads.iter().any(|(a, b, _)| (plan.cluster(*a), plan.cluster(*b)) == pair)
    };
    let mut products = BTreeSet::new();
    for link in ops.graph.links.iter().filter(|link| plan.cluster(link.to) == cluster) {
        if plan.cluster(link.from) != cluster && !flows(link.from, link.to) {
            products.insert((link.from, link.to));
        }
    }
    let mut contracts = |node: usize| pricing.kernel(&[node]).is_ok_and(|p| p.scheme.kind == "contract");
    products.retain(|(from, to)| contracts(*from) && contracts(*to));
    let mut seen = BTreeSet::new();
    products.retain(|(from, _)| seen.insert(plan.cluster(*from)));
    let reason = |(from, _): (usize, usize)| {
        (from, format!("{}: {}", ops.name(from), why_apart(ops, plan, pricing, (plan.cluster(from), cluster))))
    };
    products.into_iter().map(reason).collect()
}

/// The op that makes a value, if it computes.
fn maker(ops: &Ops<'_>, value: Value) -> Option<usize> {
    ops.number(value).filter(|node| ops.graph.computes[*node])
}

/// Why two clusters are not one, and what that costs.
fn why_apart(ops: &Ops<'_>, plan: &Quotient, pricing: &mut Pricing<'_, '_>, (a, b): (usize, usize)) -> String {
    let cost = |pricing: &mut Pricing<'_, '_>, c: usize| pricing.kernel(plan.members(c)).map(|p| p.cost);
    let apart = cost(pricing, a).and_then(|x| Ok(x.and(cost(pricing, b)?))).unwrap_or_default();
    let nodes = union(plan, a, b);
    let kernel = pricing.kernel(&nodes);
    if let Some(between) = plan.between(a, b) {
        let together = kernel.map_or_else(|_| pricing.at_best(&nodes), |p| p.cost);
        return format!("{} stands between (apart {apart}; as one {together})", ops.name(between));
    }
    match kernel {
        Err(misfit) => format!("{misfit} (apart {apart}; as one at least {})", pricing.at_best(&nodes)),
        Ok(one) if one.cost.time >= apart.time => {
            format!("one kernel would not pay (apart {apart}; as one {})", one.cost)
        }
        Ok(one) => format!("other kernels with these ops pay more (apart {apart}; as one {})", one.cost),
    }
}

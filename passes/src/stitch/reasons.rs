//! Why a region did not take in what it reads, with what both ways cost.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use sutura_ir::Value;

use super::block::{Ops, Pricing, made_through_reshape};
use super::cost::Cost;
use super::planner::union;
use super::quotient::Quotient;
use crate::region::Family;
use crate::region::attention::names_softmax;
use crate::region::cost::value_text;

/// What is asked of pairs of clusters.
pub(super) struct Reasons<'r, 'a> {
    ops: &'r Ops<'a>,
    plan: &'r Quotient,
    /// Links by the cluster of their second end.
    links_to: BTreeMap<usize, Vec<(usize, usize)>>,
    /// Pairs of clusters of which the second reads what the first makes.
    flows: BTreeSet<(usize, usize)>,
    costs: BTreeMap<usize, Cost>,
    /// Weights of ops, and clusters, that may still be looked at.
    budget: u64,
}

/// For any program, and for each of its ops.
const BUDGET: u64 = 1 << 12;
const BUDGET_PER_OP: u64 = 64;

impl<'r, 'a> Reasons<'r, 'a> {
    pub(super) fn of(ops: &'r Ops<'a>, plan: &'r Quotient) -> Self {
        let mut links_to: BTreeMap<usize, Vec<(usize, usize)>> = BTreeMap::new();
        for link in &ops.graph.links {
            links_to.entry(plan.cluster(link.to)).or_default().push((link.from, link.to));
        }
        let flows = ops.reads.iter().map(|(a, b, _)| (plan.cluster(*a), plan.cluster(*b))).collect();
        let budget = BUDGET + BUDGET_PER_OP * ops.ops.len() as u64;
        Self { ops, plan, links_to, flows, costs: BTreeMap::new(), budget }
    }

    /// One entry per value that `cluster` reads from another one, in the order in which they are made.
    pub(super) fn why(&mut self, pricing: &mut Pricing<'_, '_>, cluster: usize) -> Vec<String> {
        let (ops, plan) = (self.ops, self.plan);
        let mut seen: HashSet<Value> = HashSet::new();
        let mut reasons: Vec<(usize, String)> = Vec::new();
        for node in plan.members(cluster) {
            for value in ops.ops[*node].operands() {
                let Some(maker) = maker(ops, value).filter(|node| plan.cluster(*node) != cluster) else { continue };
                if seen.insert(value) {
                    let why = self.why_apart(pricing, (plan.cluster(maker), cluster));
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
        reasons.extend(self.apart_from_siblings(pricing, cluster));
        reasons.into_iter().map(|(_, reason)| reason).collect()
    }

    /// Products that stand before those of `cluster`, read what they read and nothing of each other, and are kernels of their
    /// own.
    fn apart_from_siblings(&mut self, pricing: &mut Pricing<'_, '_>, cluster: usize) -> Vec<(usize, String)> {
        let (ops, plan) = (self.ops, self.plan);
        let links = self.links_to.get(&cluster).map_or(&[][..], Vec::as_slice);
        let apart = |(from, _): &&(usize, usize)| {
            let other = plan.cluster(*from);
            other != cluster && !self.flows.contains(&(other, cluster))
        };
        let mut products: BTreeSet<(usize, usize)> = links.iter().filter(apart).copied().collect();
        let mut contracts = |node: usize| pricing.kernel(&[node]).is_ok_and(|p| p.scheme.family == Family::Contract);
        products.retain(|(from, to)| contracts(*from) && contracts(*to));
        let mut seen = BTreeSet::new();
        products.retain(|(from, _)| seen.insert(plan.cluster(*from)));
        let mut reason = |(from, _): (usize, usize)| {
            let why = self.why_apart(pricing, (plan.cluster(from), cluster));
            (from, format!("{}: {why}", ops.name(from)))
        };
        products.into_iter().map(&mut reason).collect()
    }

    /// Attentions whose products became kernels of their own, by the last op: why they are no one kernel.
    pub(super) fn attentions_apart(&self, pricing: &mut Pricing<'_, '_>) -> Vec<(usize, String)> {
        let (ops, plan) = (self.ops, self.plan);
        let together = |chain: &[usize]| chain.iter().all(|node| plan.cluster(*node) == plan.cluster(chain[0]));
        let mut apart: BTreeMap<usize, Option<String>> = BTreeMap::new();
        for chain in &ops.graph.seeds {
            let named = chain.iter().any(|node| names_softmax(ops.ops[*node]));
            let Some(last) = chain.last().filter(|_| named) else { continue };
            let why = match pricing.kernel(chain) {
                _ if together(chain) => None,
                Err(misfit) => Some(misfit.to_string()),
                Ok(_) => continue,
            };
            apart.entry(*last).and_modify(|known| *known = known.take().and(why.clone())).or_insert(why);
        }
        let said =
            |(last, why): (usize, Option<String>)| Some((last, format!("is no one kernel of attention: {}", why?)));
        apart.into_iter().filter_map(said).collect()
    }

    fn cost(&mut self, pricing: &mut Pricing<'_, '_>, cluster: usize) -> Option<Cost> {
        if let Some(known) = self.costs.get(&cluster) {
            return Some(*known);
        }
        let cost = pricing.kernel(self.plan.members(cluster)).ok()?.cost;
        self.costs.insert(cluster, cost);
        Some(cost)
    }

    /// Why two clusters are not one, and what that costs.
    fn why_apart(&mut self, pricing: &mut Pricing<'_, '_>, (a, b): (usize, usize)) -> String {
        let (ops, plan) = (self.ops, self.plan);
        let apart = self.cost(pricing, a).and_then(|x| Some(x.and(self.cost(pricing, b)?))).unwrap_or_default();
        let nodes = union(plan, a, b);
        let weight: u64 = nodes.iter().map(|node| ops.weight(*node)).sum();
        let looked_at = weight + plan.rank(a).abs_diff(plan.rank(b)) as u64 / 8;
        if looked_at > self.budget {
            return format!("too many ops to say what one kernel would cost (apart {apart})");
        }
        self.budget -= looked_at;
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
}

/// The op that makes a value, if it computes.
fn maker(ops: &Ops<'_>, value: Value) -> Option<usize> {
    ops.number(value).filter(|node| ops.graph.computes[*node])
}

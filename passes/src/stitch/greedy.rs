//! The baseline planner: clusters that are linked become one wherever they make one kernel. After AStitch (ASPLOS'22),
//! which takes all that its rules allow.

use super::planner::{Graph, Ledger, Link, Oracle, union};
use super::quotient::Quotient;

/// What clusters have to be to become one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Rule {
    /// One kernel.
    Fits,
    /// One kernel that takes no longer than the two.
    Pays,
}

/// Contracts links in rounds, in each of which a cluster grows at most once: so clusters are about as large as what they
/// join, and the work is near linear in the number of nodes.
pub(crate) fn plan<O: Oracle>(graph: &Graph, ledger: &mut Ledger<'_, O>, rule: Rule) -> Quotient {
    let mut plan = seeded(graph, ledger, rule);
    let mut tried: Vec<(usize, usize)> = vec![(0, 0); graph.links.len()];
    loop {
        let mut grown = vec![false; graph.nodes];
        let mut changed = false;
        for (link, tried) in graph.links.iter().zip(&mut tried) {
            changed |= contract(&mut plan, ledger, rule, link, tried, &mut grown);
        }
        if !changed || ledger.is_spent() {
            return plan;
        }
    }
}

/// Every node its own cluster, but for the seeds that the rule takes.
fn seeded<O: Oracle>(graph: &Graph, ledger: &mut Ledger<'_, O>, rule: Rule) -> Quotient {
    let mut plan = graph.apart();
    for seed in &graph.seeds {
        let alone = seed.iter().all(|node| plan.members(plan.cluster(*node)).len() == 1);
        let Some(price) = alone.then(|| ledger.price(seed).ok()).flatten() else { continue };
        if rule == Rule::Pays {
            let apart = seed.iter().map(|node| ledger.price(&[*node]).unwrap_or(u64::MAX));
            if price > apart.fold(0, u64::saturating_add) {
                continue;
            }
        }
        let convex = plan.is_convex(seed);
        ledger.spend(plan.take_visited() / 8);
        if convex {
            // What comes first in a convex set is convex too, so that one after the other may be added.
            let whole = seed[1..].iter().try_fold(seed[0], |at, node| plan.contract(at, *node));
            debug_assert!(whole.is_ok(), "the seed is convex");
        }
    }
    plan
}

/// Contracts a link if the clusters at its ends allow it, and have changed since it was tried.
fn contract<O: Oracle>(
    plan: &mut Quotient,
    ledger: &mut Ledger<'_, O>,
    rule: Rule,
    link: &Link,
    tried: &mut (usize, usize),
    grown: &mut [bool],
) -> bool {
    let (a, b) = (plan.cluster(link.from), plan.cluster(link.to));
    let sizes = (plan.members(a).len(), plan.members(b).len());
    if a == b || grown[a] || grown[b] || *tried == sizes || ledger.is_spent() {
        return false;
    }
    *tried = sizes;
    let nodes = union(plan, a, b);
    let Ok(price) = ledger.price(&nodes) else { return false };
    if rule == Rule::Pays {
        let apart = [a, b].map(|c| ledger.price(plan.members(c)).unwrap_or(u64::MAX));
        if price > apart[0].saturating_add(apart[1]) {
            return false;
        }
    }
    let contracted = plan.contract(a, b);
    ledger.spend(plan.take_visited() / 8);
    match contracted {
        Ok(cluster) => {
            grown[cluster] = true;
            true
        }
        Err(_) => false,
    }
}

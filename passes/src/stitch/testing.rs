//! Random graphs, and planners held against all plans that there are.

use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use proptest::prelude::*;

use super::greedy::{self, Rule};
use super::planner::{Graph, Ledger, Link, Oracle};
use super::quotient::Quotient;
use super::search;
use crate::region::Misfit;

/// Edges of a random graph of up to `most` nodes, which are in topological order.
pub(super) fn dags(most: usize) -> impl Strategy<Value = (usize, Vec<(usize, usize)>)> {
    (2..=most).prop_flat_map(|n| {
        let edge = (0..n - 1).prop_flat_map(move |a| (Just(a), a + 1..n));
        (Just(n), prop::collection::vec(edge, 0..3 * n))
    })
}

/// A graph where all nodes but some compute, with a link for each edge between two that do and for some pairs that read
/// the same.
fn graphs(most: usize) -> impl Strategy<Value = (Graph, Kernels)> {
    (dags(most), any::<u64>()).prop_map(|((nodes, edges), seed)| {
        let computes: Vec<bool> = (0..nodes).map(|node| !hash(&(seed, "stays", node)).is_multiple_of(7)).collect();
        let mut pairs: Vec<(usize, usize)> = edges.clone();
        let readers = |from: usize| edges.iter().filter(move |e| e.0 == from).map(|e| e.1).collect::<Vec<_>>();
        for readers in (0..nodes).map(readers) {
            pairs.extend(readers.windows(2).filter(|p| p[0] < p[1]).map(|p| (p[0], p[1])));
        }
        pairs.sort_unstable();
        pairs.dedup();
        pairs.retain(|(a, b)| computes[*a] && computes[*b]);
        let link = |(from, to): (usize, usize)| {
            let h = hash(&(seed, from, to));
            Link { from, to, class: (h % 3) as u8, bytes: h % 100 }
        };
        let mut links: Vec<Link> = pairs.into_iter().map(link).collect();
        links.sort_by_key(|l| (l.class, std::cmp::Reverse(l.bytes), l.from, l.to));
        (Graph { nodes, edges, computes, links, seeds: vec![] }, Kernels { seed, asked: 0 })
    })
}

fn hash(of: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

/// Prices that follow no rule: so no plan is better than another for a reason that a planner could rely on.
#[derive(Clone, Debug)]
struct Kernels {
    seed: u64,
    asked: u64,
}

impl Oracle for Kernels {
    fn price(&mut self, nodes: &[usize]) -> Result<u64, Misfit> {
        self.asked += 1;
        let h = hash(&(self.seed, nodes));
        if nodes.len() > 1 && h.is_multiple_of(4) {
            return Err(Misfit("no kernel".into()));
        }
        let single: u64 = nodes.iter().map(|node| 50 + hash(&(self.seed, node)) % 50).sum();
        // From a third to four thirds of what they cost alone.
        Ok(if nodes.len() == 1 { single } else { single / 3 + h / 4 % single })
    }
}

/// The least price of all partitions, found by trying them.
fn brute_force(graph: &Graph, oracle: &mut Kernels) -> u64 {
    let nodes: Vec<usize> = (0..graph.nodes).filter(|node| graph.computes[*node]).collect();
    let mut leaders: Vec<usize> = (0..graph.nodes).collect();
    let mut least = u64::MAX;
    choose(graph, oracle, &nodes, &mut leaders, &mut vec![], &mut least);
    least
}

fn choose(
    graph: &Graph,
    oracle: &mut Kernels,
    left: &[usize],
    leaders: &mut Vec<usize>,
    clusters: &mut Vec<Vec<usize>>,
    least: &mut u64,
) {
    let Some((node, left)) = left.split_first() else {
        if let Some(price) = price_of(graph, oracle, leaders, clusters) {
            *least = price.min(*least);
        }
        return;
    };
    for i in 0..clusters.len() {
        clusters[i].push(*node);
        leaders[*node] = clusters[i][0];
        choose(graph, oracle, left, leaders, clusters, least);
        clusters[i].pop();
    }
    clusters.push(vec![*node]);
    leaders[*node] = *node;
    choose(graph, oracle, left, leaders, clusters, least);
    clusters.pop();
}

/// Price of a partition if every cluster is linked and a kernel, and none waits for itself.
fn price_of(graph: &Graph, oracle: &mut Kernels, leaders: &[usize], clusters: &[Vec<usize>]) -> Option<u64> {
    let linked = |cluster: &Vec<usize>| {
        let mut reached = vec![cluster[0]];
        for _ in cluster {
            for link in &graph.links {
                for (a, b) in [(link.from, link.to), (link.to, link.from)] {
                    if reached.contains(&a) && cluster.contains(&b) && !reached.contains(&b) {
                        reached.push(b);
                    }
                }
            }
        }
        reached.len() == cluster.len()
    };
    if !clusters.iter().all(linked) || !is_acyclic(graph, leaders) {
        return None;
    }
    clusters.iter().try_fold(0u64, |sum, cluster| Some(sum + oracle.price(cluster).ok()?))
}

/// Takes away clusters that wait for nothing until none is left.
fn is_acyclic(graph: &Graph, leaders: &[usize]) -> bool {
    let mut left: Vec<usize> = leaders.to_vec();
    left.sort_unstable();
    left.dedup();
    loop {
        let waits = |c: &usize| {
            graph.edges.iter().any(|(a, b)| {
                let (a, b) = (leaders[*a], leaders[*b]);
                b == *c && a != b && left.contains(&a)
            })
        };
        let next: Vec<usize> = left.iter().copied().filter(waits).collect();
        if next.is_empty() || next.len() == left.len() {
            return next.is_empty();
        }
        left = next;
    }
}

/// Every node is in one cluster, what stays is alone, no cluster waits for itself, and every cluster is a kernel.
fn check(graph: &Graph, plan: &Quotient, oracle: &mut Kernels) {
    assert!(is_acyclic(graph, plan.leaders()));
    let order = plan.order();
    let mut nodes: Vec<usize> = order.iter().flat_map(|c| plan.members(*c).iter().copied()).collect();
    nodes.sort_unstable();
    assert_eq!(nodes, (0..graph.nodes).collect::<Vec<_>>());
    for cluster in order {
        let members = plan.members(cluster);
        assert!(members.len() == 1 || members.iter().all(|node| graph.computes[*node]));
        assert!(!graph.computes[cluster] || oracle.price(members).is_ok());
    }
}

/// A large budget.
const MUCH: u64 = 1 << 40;

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, ..ProptestConfig::default() })]

    /// Whatever the graph, and wherever the budget ends, plans are partitions into kernels without cycles.
    #[test]
    fn plans_are_acyclic_partitions((graph, mut oracle) in graphs(16), budget in 0u64..600) {
        for rule in [Rule::Fits, Rule::Pays] {
            let mut ledger = Ledger::new(&mut oracle, budget);
            let plan = greedy::plan(&graph, &mut ledger, rule);
            check(&graph, &plan, &mut oracle);
        }
        let mut ledger = Ledger::new(&mut oracle, budget);
        let plan = search::plan(&graph, &mut ledger);
        check(&graph, &plan, &mut oracle);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    /// On larger graphs the search finds nothing worse than what it starts from.
    #[test]
    fn the_search_is_no_worse_than_greedy_planning((graph, mut oracle) in graphs(36)) {
        let mut prices = Vec::new();
        for rule in [Rule::Fits, Rule::Pays] {
            let mut ledger = Ledger::new(&mut oracle, MUCH);
            let plan = greedy::plan(&graph, &mut ledger, rule);
            prices.push(ledger.total(&graph, &plan));
        }
        let mut ledger = Ledger::new(&mut oracle, MUCH);
        let plan = search::plan(&graph, &mut ledger);
        prop_assert!(ledger.total(&graph, &plan) <= prices[0].min(prices[1]));
        check(&graph, &plan, &mut oracle);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, ..ProptestConfig::default() })]

    /// On graphs whose partitions can all be tried, the search finds the cheapest.
    #[test]
    fn small_plans_are_the_best((graph, mut oracle) in graphs(8)) {
        let least = brute_force(&graph, &mut oracle);
        let mut ledger = Ledger::new(&mut oracle, MUCH);
        let plan = search::plan(&graph, &mut ledger);
        prop_assert_eq!(ledger.total(&graph, &plan), least);
        check(&graph, &plan, &mut oracle);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2, ..ProptestConfig::default() })]

    /// The same with as many nodes as one window takes.
    #[test]
    fn plans_of_ten_nodes_are_the_best((graph, mut oracle) in graphs(10)) {
        let least = brute_force(&graph, &mut oracle);
        let mut ledger = Ledger::new(&mut oracle, MUCH);
        let plan = search::plan(&graph, &mut ledger);
        prop_assert_eq!(ledger.total(&graph, &plan), least);
    }
}

/// The work on a chain and on a ladder grows about as fast as they do.
#[test]
fn greedy_planning_is_near_linear() {
    let ladder = |n: usize| (0..n).flat_map(|i| [(i, i + 1), (i, i + 2)]).filter(|e| e.1 < n).collect::<Vec<_>>();
    for edges in
        [|n: usize| (1..n).map(|i| (i - 1, i)).collect::<Vec<_>>(), |n| (2..n).map(|i| (i - 2, i)).collect(), ladder]
    {
        let asked = |nodes: usize| {
            let edges = edges(nodes);
            let link = |&(from, to): &(usize, usize)| Link { from, to, class: 0, bytes: 1 };
            let links = edges.iter().map(link).collect();
            let graph = Graph { nodes, edges, computes: vec![true; nodes], links, seeds: vec![] };
            let mut all = All(0);
            let plan = greedy::plan(&graph, &mut Ledger::new(&mut all, MUCH), Rule::Fits);
            assert!(plan.order().len() <= 2);
            all.0
        };
        let (few, many) = (asked(512), asked(4096));
        assert!(many < 16 * few, "{few} nodes asked about for 512, {many} for 4096");
    }
}

/// Everything is one kernel; counts the nodes that it is asked about.
struct All(usize);

impl Oracle for All {
    fn price(&mut self, nodes: &[usize]) -> Result<u64, Misfit> {
        self.0 += nodes.len();
        Ok(1)
    }
}

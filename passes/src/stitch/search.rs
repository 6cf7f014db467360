//! The plan search: what the greedy planner leaves is replanned window by window, each of which is planned as well as can
//! be. A graph that fits into one window gets the best plan that there is.
//!
//! After the exploration of FusionStitching (arXiv 2009.10924, section on fusion exploration), which composes a plan from
//! the best few patterns of each op; here a window's plan is composed from all patterns of it, and the windows follow the
//! links between clusters of the plan at hand.

use std::collections::{BTreeSet, HashMap};

use super::exact::{self, Atoms};
use super::greedy::{self, Rule};
use super::planner::{Graph, Ledger, Link, Oracle};
use super::quotient::Quotient;

/// Rounds over all links.
const ROUNDS: usize = 4;

/// The cheapest plan found.
pub(crate) fn plan<O: Oracle>(graph: &Graph, ledger: &mut Ledger<'_, O>) -> Quotient {
    let neighbours = Neighbours::of(graph);
    let nodes: Vec<usize> = (0..graph.nodes).filter(|node| graph.computes[*node]).collect();
    if nodes.len() <= exact::MOST {
        let apart = graph.apart();
        let window = Window { clusters: nodes.clone(), atoms: nodes.iter().map(|node| vec![*node]).collect() };
        return window.best(&neighbours, &apart, ledger).map_or(apart.clone(), |(_, groups)| {
            let mut plan = apart;
            plan.regroup(&window.clusters, &groups, &|node| neighbours.edges(node));
            plan
        });
    }
    let taken = greedy::plan(graph, ledger, Rule::Fits);
    let paying = greedy::plan(graph, ledger, Rule::Pays);
    let cheaper = ledger.total(graph, &paying) < ledger.total(graph, &taken);
    let mut plan = if cheaper { paying } else { taken };
    for _ in 0..ROUNDS {
        if !improve(graph, &neighbours, ledger, &mut plan) {
            break;
        }
    }
    Quotient::of_clusters(plan.leaders(), &graph.edges)
}

/// Replans a window around each link between two clusters; true when that made the plan cheaper.
fn improve<O: Oracle>(graph: &Graph, neighbours: &Neighbours, ledger: &mut Ledger<'_, O>, plan: &mut Quotient) -> bool {
    let mut seen = BTreeSet::new();
    let mut windows: HashMap<usize, usize> = HashMap::new();
    let mut better = false;
    for link in &graph.links {
        let ends = (plan.cluster(link.from), plan.cluster(link.to));
        if ends.0 == ends.1 || ledger.is_spent() {
            continue;
        }
        let often = [ends.0, ends.1].map(|cluster| {
            let count = windows.entry(cluster).or_default();
            *count += 1;
            *count > WINDOWS
        });
        if often.contains(&true) {
            continue;
        }
        let window = Window::around(graph, neighbours, plan, link);
        let nodes: usize = window.clusters.iter().map(|c| plan.members(*c).len()).sum();
        ledger.spend(nodes as u64 / 8);
        if !seen.insert(window.atoms.clone()) {
            continue;
        }
        let now = window.clusters.iter().map(|c| ledger.price(plan.members(*c)).unwrap_or(u64::MAX));
        let now = now.fold(0, u64::saturating_add);
        let Some((price, groups)) = window.best(neighbours, plan, ledger) else { continue };
        if price < now {
            plan.regroup(&window.clusters, &groups, &|node| neighbours.edges(node));
            ledger.spend(plan.take_visited() / 16);
            better = true;
        }
    }
    better
}

/// Windows of a round at whose ends one cluster stands: what is read by many, or reads many, is looked at with the most
/// promising of them.
const WINDOWS: usize = 16;

/// Of a node with more links only the most promising count as its neighbours.
const NEAR: usize = 64;

/// Edges and links by node.
struct Neighbours {
    predecessors: Vec<Vec<usize>>,
    successors: Vec<Vec<usize>>,
    linked: Vec<Vec<usize>>,
}

impl Neighbours {
    fn of(graph: &Graph) -> Self {
        let none = || vec![vec![]; graph.nodes];
        let mut this = Self { predecessors: none(), successors: none(), linked: none() };
        for (from, to) in &graph.edges {
            this.successors[*from].push(*to);
            this.predecessors[*to].push(*from);
        }
        for Link { from, to, .. } in &graph.links {
            this.linked[*from].push(*to);
            this.linked[*to].push(*from);
        }
        this
    }

    fn edges(&self, node: usize) -> (&[usize], &[usize]) {
        (&self.predecessors[node], &self.successors[node])
    }
}

/// Clusters that are replanned together.
struct Window {
    clusters: Vec<usize>,
    /// Parts of them that stay together.
    atoms: Vec<Vec<usize>>,
}

impl Window {
    /// The clusters at a link's ends, and as many clusters linked with them as can be taken apart into single nodes. Where
    /// the two are too large for that, only the nodes at which they meet are taken out of them.
    fn around(graph: &Graph, neighbours: &Neighbours, plan: &Quotient, link: &Link) -> Self {
        let mut clusters = vec![plan.cluster(link.from), plan.cluster(link.to)];
        let size = |c: &usize| plan.members(*c).len();
        let mut nodes: usize = clusters.iter().map(size).sum();
        if nodes > exact::MOST {
            let atoms = meeting(neighbours, plan, &clusters);
            return Self { clusters, atoms };
        }
        let near = |c: &usize| plan.members(*c).iter().flat_map(|node| neighbours.linked[*node].iter().take(NEAR));
        let mut others: Vec<usize> = clusters.iter().flat_map(near).map(|node| plan.cluster(*node)).collect();
        others.sort_unstable_by_key(|c| (size(c), *c));
        others.dedup();
        for other in others {
            if graph.computes[other] && !clusters.contains(&other) && nodes + size(&other) <= exact::MOST {
                nodes += size(&other);
                clusters.push(other);
            }
        }
        clusters.sort_unstable();
        let atoms = clusters.iter().flat_map(|c| plan.members(*c)).map(|node| vec![*node]).collect();
        Self { clusters, atoms }
    }

    /// The price of the window's cheapest plan, and the nodes of its clusters.
    fn best<O: Oracle>(
        &self,
        neighbours: &Neighbours,
        plan: &Quotient,
        ledger: &mut Ledger<'_, O>,
    ) -> Option<(u64, Vec<Vec<usize>>)> {
        let atoms = self.ordered(neighbours, plan, ledger);
        let (price, clusters) = exact::best(&atoms, ledger)?;
        Some((price, clusters.into_iter().map(|set| atoms.union(set)).collect()))
    }

    /// The atoms with what must come before what. Those on a cycle of each other become one.
    fn ordered<O: Oracle>(&self, neighbours: &Neighbours, plan: &Quotient, ledger: &mut Ledger<'_, O>) -> Atoms {
        let mut groups = self.atoms.clone();
        loop {
            let (atoms, cycle) = self.relations(neighbours, plan, ledger, groups);
            let Some((a, b)) = cycle else { return atoms };
            groups = atoms.nodes;
            let gone = groups.remove(b);
            groups[a].extend(gone);
            groups[a].sort_unstable();
        }
    }

    /// Relations of the atoms `groups`, and two of them that lead to each other, the smaller number first.
    fn relations<O: Oracle>(
        &self,
        neighbours: &Neighbours,
        plan: &Quotient,
        ledger: &mut Ledger<'_, O>,
        groups: Vec<Vec<usize>>,
    ) -> (Atoms, Option<(usize, usize)>) {
        let n = groups.len();
        let number = |node: usize| groups.iter().position(|g| g.binary_search(&node).is_ok());
        let last = self.clusters.iter().map(|c| plan.rank(*c)).max().unwrap_or(0);
        let mut atoms = Atoms { before: vec![0; n], around: vec![0; n], linked: vec![0; n], nodes: vec![] };
        for (i, group) in groups.iter().enumerate() {
            let (inside, around) = self.reach(neighbours, plan, ledger, group, last);
            for node in &inside {
                let atom = number(*node).expect("the atoms are the window's nodes");
                atoms.before[atom] |= 1 << i;
            }
            for node in &around {
                let atom = number(*node).expect("the atoms are the window's nodes");
                atoms.before[atom] |= 1 << i;
                atoms.around[atom] |= 1 << i;
            }
            for node in group.iter().flat_map(|node| &neighbours.linked[*node]) {
                if let Some(other) = number(*node).filter(|other| *other != i) {
                    atoms.linked[i] |= 1 << other;
                    atoms.linked[other] |= 1 << i;
                }
            }
        }
        (0..n).for_each(|i| atoms.before[i] &= !(1 << i));
        close(&mut atoms);
        atoms.nodes = groups;
        let lead = |a: &usize, b: usize| atoms.before[*a] >> b & 1 == 1 && atoms.before[b] >> a & 1 == 1;
        let cycle = (0..n).find_map(|b| (0..b).find(|a| lead(a, b)).map(|a| (a, b)));
        (atoms, cycle)
    }

    /// Nodes of the window that follow `group` directly, and those that a path leads to which leaves the window first.
    fn reach<O: Oracle>(
        &self,
        neighbours: &Neighbours,
        plan: &Quotient,
        ledger: &mut Ledger<'_, O>,
        group: &[usize],
        last: usize,
    ) -> (Vec<usize>, Vec<usize>) {
        let (mut inside, mut around) = (Vec::new(), Vec::new());
        let mut outside: Vec<usize> = Vec::new();
        let mut seen = BTreeSet::new();
        let successors = |nodes: &[usize]| -> Vec<usize> {
            nodes.iter().flat_map(|node| neighbours.successors[*node].iter().copied()).collect()
        };
        let in_window = |node: &usize| self.clusters.contains(&plan.cluster(*node));
        for node in successors(group) {
            if in_window(&node) {
                inside.push(node);
            } else if plan.rank(plan.cluster(node)) < last && seen.insert(plan.cluster(node)) {
                outside.push(plan.cluster(node));
            }
        }
        while let Some(cluster) = outside.pop() {
            ledger.spend(plan.members(cluster).len() as u64 / 8);
            for node in successors(plan.members(cluster)) {
                let next = plan.cluster(node);
                if in_window(&node) {
                    around.push(node);
                } else if plan.rank(next) < last && seen.insert(next) {
                    outside.push(next);
                }
            }
        }
        inside.retain(|node| group.binary_search(node).is_err());
        (inside, around)
    }
}

/// What comes before what comes before an atom comes before it; a path through an outside node stays one.
fn close(atoms: &mut Atoms) {
    let n = atoms.before.len();
    for k in 0..n {
        for i in 0..n {
            if atoms.before[i] >> k & 1 == 1 {
                atoms.before[i] |= atoms.before[k];
            }
        }
    }
    // Paths around are followed on both sides.
    for i in 0..n {
        let mut around = 0;
        for k in (0..n).filter(|k| *k == i || atoms.before[i] >> k & 1 == 1) {
            let starts = atoms.around[k];
            around |= exact::bits(starts).fold(starts, |all, s| all | atoms.before[s]);
        }
        atoms.around[i] = around;
    }
}

/// The nodes at which two clusters meet, one by one, and the rest of each cluster as one atom.
fn meeting(neighbours: &Neighbours, plan: &Quotient, clusters: &[usize]) -> Vec<Vec<usize>> {
    let mut atoms: Vec<Vec<usize>> = Vec::new();
    for (i, cluster) in clusters.iter().enumerate() {
        let other = clusters[1 - i];
        let meets = |node: &usize| neighbours.linked[*node].iter().any(|l| plan.cluster(*l) == other);
        let members = plan.members(*cluster);
        let at: Vec<usize> = members.iter().copied().filter(meets).take(exact::MOST / 2 - 1).collect();
        let rest: Vec<usize> = members.iter().copied().filter(|node| !at.contains(node)).collect();
        atoms.extend(at.into_iter().map(|node| vec![node]));
        if !rest.is_empty() {
            atoms.push(rest);
        }
    }
    atoms
}

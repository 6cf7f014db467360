//! Clusters of the nodes of an acyclic graph, grown by contraction so that the graph of clusters stays acyclic.
//!
//! Every cluster has a rank, and an edge leads to a larger one; so a path between two clusters is looked for only among
//! those with ranks between theirs, and a contraction moves only these. After Pearce and Kelly's dynamic topological
//! order (ACM JEA 11, 2006).

use std::cell::Cell;
use std::collections::BTreeSet;

use sutura_ir::work::Counter;

static VISITED: Counter = Counter::new("stitching: clusters visited");

/// Clusters over the nodes `0..n`, which are numbered in topological order.
#[derive(Clone, Debug)]
pub struct Quotient {
    /// Cluster of each node, named by its first member.
    leader: Vec<usize>,
    /// Members of each cluster that is a leader, sorted.
    members: Vec<Vec<usize>>,
    succ: Vec<BTreeSet<usize>>,
    pred: Vec<BTreeSet<usize>>,
    /// A topological order of the leaders; no two have the same rank.
    rank: Vec<usize>,
    /// The cluster of each rank.
    at: Vec<Option<usize>>,
    /// Clusters that searches have come by.
    visited: Cell<u64>,
}

impl Quotient {
    /// Every node its own cluster.
    ///
    /// # Panics
    /// When an edge does not lead to a larger number.
    pub fn new(n: usize, edges: impl IntoIterator<Item = (usize, usize)>) -> Self {
        let mut this = Self {
            leader: (0..n).collect(),
            members: (0..n).map(|i| vec![i]).collect(),
            succ: vec![BTreeSet::new(); n],
            pred: vec![BTreeSet::new(); n],
            rank: (0..n).collect(),
            at: (0..n).map(Some).collect(),
            visited: Cell::new(0),
        };
        for (from, to) in edges {
            assert!(from < to && to < n, "nodes must be numbered in topological order");
            this.succ[from].insert(to);
            this.pred[to].insert(from);
        }
        this
    }

    /// The clusters that `leader` gives: the number of one member for each node.
    ///
    /// # Panics
    /// When the graph of clusters has a cycle.
    pub fn of_clusters(leader: &[usize], edges: &[(usize, usize)]) -> Self {
        let n = leader.len();
        let mut first: Vec<usize> = (0..n).collect();
        let mut members = vec![Vec::new(); n];
        for node in (0..n).rev() {
            first[leader[node]] = node;
        }
        let leader: Vec<usize> = leader.iter().map(|l| first[*l]).collect();
        (0..n).for_each(|node| members[leader[node]].push(node));
        let (mut succ, mut pred) = (vec![BTreeSet::new(); n], vec![BTreeSet::new(); n]);
        for (from, to) in edges.iter().map(|(a, b)| (leader[*a], leader[*b])).filter(|(a, b)| a != b) {
            succ[from].insert(to);
            pred[to].insert(from);
        }
        let (rank, at, visited) = (vec![0; n], vec![None; n], Cell::new(0));
        let mut this = Self { leader, members, succ, pred, rank, at, visited };
        let order = this.order();
        let clusters = (0..n).filter(|i| this.leader[*i] == *i).count();
        assert_eq!(order.len(), clusters, "the graph of clusters is acyclic");
        order.into_iter().enumerate().for_each(|(rank, cluster)| this.place(cluster, rank));
        this
    }

    fn place(&mut self, cluster: usize, rank: usize) {
        self.rank[cluster] = rank;
        self.at[rank] = Some(cluster);
    }

    /// How many clusters searches have come by since this was asked last.
    pub fn take_visited(&self) -> u64 {
        let visited = self.visited.take();
        VISITED.add(visited);
        visited
    }

    fn visit(&self, clusters: usize) {
        self.visited.set(self.visited.get() + clusters as u64);
    }

    /// Cluster of a node.
    pub fn cluster(&self, node: usize) -> usize {
        self.leader[node]
    }

    /// Cluster of each node.
    pub fn leaders(&self) -> &[usize] {
        &self.leader
    }

    /// Nodes of a cluster, in order.
    pub fn members(&self, cluster: usize) -> &[usize] {
        &self.members[cluster]
    }

    /// Clusters that follow a cluster directly.
    pub fn successors(&self, cluster: usize) -> impl Iterator<Item = usize> + '_ {
        self.succ[cluster].iter().copied()
    }

    /// Clusters that a cluster follows directly.
    pub fn predecessors(&self, cluster: usize) -> impl Iterator<Item = usize> + '_ {
        self.pred[cluster].iter().copied()
    }

    /// Place of a cluster in a topological order.
    pub fn rank(&self, cluster: usize) -> usize {
        self.rank[cluster]
    }

    /// A cluster on a path from one of two clusters to the other, beside an edge between them: then the two cannot be
    /// one.
    pub fn between(&self, a: usize, b: usize) -> Option<usize> {
        let (from, to) = if self.rank[a] < self.rank[b] { (a, b) } else { (b, a) };
        self.search(from, to).err()
    }

    /// Clusters that can be reached from `from` and have a smaller rank than `to`.
    ///
    /// # Errors
    /// One of them that leads to `to`.
    fn search(&self, from: usize, to: usize) -> Result<Vec<usize>, usize> {
        let below = |c: &usize| self.rank[*c] < self.rank[to];
        let mut found: Vec<usize> = self.successors(from).filter(below).collect();
        let mut seen: BTreeSet<usize> = found.iter().copied().collect();
        let mut next = 0;
        while let Some(&cluster) = found.get(next) {
            next += 1;
            for successor in self.successors(cluster) {
                if successor == to {
                    self.visit(next);
                    return Err(cluster);
                }
                if below(&successor) && seen.insert(successor) {
                    found.push(successor);
                }
            }
        }
        self.visit(found.len());
        Ok(found)
    }

    /// Clusters that lead to `to` and have a larger rank than `from`.
    fn leading(&self, from: usize, to: usize) -> Vec<usize> {
        let above = |c: &usize| self.rank[*c] > self.rank[from];
        let mut found: Vec<usize> = self.predecessors(to).filter(above).collect();
        let mut seen: BTreeSet<usize> = found.iter().copied().collect();
        let mut next = 0;
        while let Some(&cluster) = found.get(next) {
            next += 1;
            found.extend(self.pred[cluster].iter().copied().filter(|c| above(c) && seen.insert(*c)));
        }
        self.visit(found.len());
        found
    }

    /// Makes two clusters one, named by its first member.
    ///
    /// # Errors
    /// A cluster between them, see [`Self::between`].
    pub fn contract(&mut self, a: usize, b: usize) -> Result<usize, usize> {
        let (from, to) = if self.rank[a] < self.rank[b] { (a, b) } else { (b, a) };
        let mut behind = self.search(from, to)?;
        let mut ahead = self.leading(from, to);
        // What leads to the cluster comes before it, what it leads to behind it, in the places that they had.
        behind.sort_unstable_by_key(|c| self.rank[*c]);
        ahead.sort_unstable_by_key(|c| self.rank[*c]);
        let mut places: Vec<usize> = ahead.iter().chain(&behind).chain([&from, &to]).map(|c| self.rank[*c]).collect();
        places.sort_unstable();
        let keep = self.join(from, to);
        places.iter().for_each(|place| self.at[*place] = None);
        let moved = ahead.iter().chain([&keep]);
        moved.zip(&places).for_each(|(cluster, place)| self.place(*cluster, *place));
        behind.iter().rev().zip(places.iter().rev()).for_each(|(cluster, place)| self.place(*cluster, *place));
        Ok(keep)
    }

    /// True when no path leads from one of these clusters to another through one that is not among them: then they can become
    /// one.
    pub fn is_convex(&self, clusters: &[usize]) -> bool {
        let own: BTreeSet<usize> = clusters.iter().copied().collect();
        let last = clusters.iter().map(|c| self.rank[*c]).max().unwrap_or(0);
        let outside = |c: &usize| !own.contains(c) && self.rank[*c] < last;
        let mut pending: Vec<usize> = own.iter().flat_map(|c| self.successors(*c)).filter(outside).collect();
        let mut seen: BTreeSet<usize> = pending.iter().copied().collect();
        while let Some(cluster) = pending.pop() {
            self.visit(1);
            for next in self.successors(cluster) {
                if own.contains(&next) {
                    return false;
                }
                if outside(&next) && seen.insert(next) {
                    pending.push(next);
                }
            }
        }
        true
    }

    /// Makes `groups`, each sorted, of the nodes of `clusters`; `edges` gives the edges of a node. Only clusters with ranks
    /// between theirs move, and as many beside them as are needed to make room.
    ///
    /// # Panics
    /// When the graph of clusters has a cycle then.
    pub fn regroup<'e>(
        &mut self,
        clusters: &[usize],
        groups: &[Vec<usize>],
        edges: &dyn Fn(usize) -> (&'e [usize], &'e [usize]),
    ) {
        let ranks = || clusters.iter().map(|c| self.rank[*c]);
        let (mut low, mut high) = (ranks().min().unwrap_or(0), ranks().max().unwrap_or(0));
        for &old in clusters {
            self.at[self.rank[old]] = None;
            for next in std::mem::take(&mut self.succ[old]) {
                self.pred[next].remove(&old);
            }
            for previous in std::mem::take(&mut self.pred[old]) {
                self.succ[previous].remove(&old);
            }
            self.members[old].clear();
        }
        for group in groups {
            group.iter().for_each(|node| self.leader[*node] = group[0]);
            self.members[group[0]].clone_from(group);
        }
        for node in groups.iter().flatten() {
            let (before, behind) = edges(*node);
            before.iter().for_each(|from| self.add_edge(self.leader[*from], self.leader[*node]));
            behind.iter().for_each(|to| self.add_edge(self.leader[*node], self.leader[*to]));
        }
        let mut free = (low..=high).filter(|rank| self.at[*rank].is_none()).count();
        while free < groups.len() {
            let (left, right) = (low.checked_sub(1), Some(high + 1).filter(|rank| *rank < self.at.len()));
            assert!(left.or(right).is_some(), "there are as many ranks as nodes");
            for rank in [left, right].into_iter().flatten() {
                free += usize::from(self.at[rank].is_none());
                (low, high) = (low.min(rank), high.max(rank));
            }
        }
        self.sort(low, high, groups);
    }

    /// Gives the clusters with ranks from `low` to `high`, and new ones, ranks among these again.
    fn sort(&mut self, low: usize, high: usize, groups: &[Vec<usize>]) {
        let moved = (low..=high).filter_map(|rank| self.at[rank].take());
        let moved: Vec<usize> = moved.chain(groups.iter().map(|group| group[0])).collect();
        self.visit(moved.len());
        let own: BTreeSet<usize> = moved.iter().copied().collect();
        let mut waits: std::collections::BTreeMap<usize, usize> =
            moved.iter().map(|c| (*c, self.predecessors(*c).filter(|p| own.contains(p)).count())).collect();
        let mut free: BTreeSet<usize> = moved.iter().copied().filter(|c| waits[c] == 0).collect();
        let mut rank = low;
        while let Some(cluster) = free.pop_first() {
            self.place(cluster, rank);
            rank += 1;
            for next in self.succ[cluster].iter().filter(|next| own.contains(next)) {
                let waiting = waits.get_mut(next).expect("one of them");
                *waiting -= 1;
                if *waiting == 0 {
                    free.insert(*next);
                }
            }
        }
        assert_eq!(rank - low, moved.len(), "the graph of clusters is acyclic");
    }

    fn join(&mut self, a: usize, b: usize) -> usize {
        let (keep, gone) = (a.min(b), a.max(b));
        let nodes = std::mem::take(&mut self.members[gone]);
        nodes.iter().for_each(|n| self.leader[*n] = keep);
        self.members[keep].extend(nodes);
        self.members[keep].sort_unstable();
        for next in std::mem::take(&mut self.succ[gone]) {
            self.pred[next].remove(&gone);
            self.add_edge(keep, next);
        }
        for previous in std::mem::take(&mut self.pred[gone]) {
            self.succ[previous].remove(&gone);
            self.add_edge(previous, keep);
        }
        keep
    }

    fn add_edge(&mut self, from: usize, to: usize) {
        if from != to {
            self.succ[from].insert(to);
            self.pred[to].insert(from);
        }
    }

    /// Clusters with producers first; of those that are free at the same time the one with the first node.
    pub fn order(&self) -> Vec<usize> {
        let clusters = (0..self.leader.len()).filter(|i| self.leader[*i] == *i);
        let mut waits: Vec<usize> = self.pred.iter().map(BTreeSet::len).collect();
        let mut free: BTreeSet<usize> = clusters.filter(|c| waits[*c] == 0).collect();
        let mut order = Vec::new();
        while let Some(cluster) = free.pop_first() {
            order.push(cluster);
            for next in self.successors(cluster) {
                waits[next] -= 1;
                if waits[next] == 0 {
                    free.insert(next);
                }
            }
        }
        order
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Quotient;
    use crate::stitch::testing::dags;

    #[test]
    fn a_path_around_an_edge_keeps_its_ends_apart() {
        let mut q = Quotient::new(3, [(0, 1), (1, 2), (0, 2)]);
        assert_eq!(q.contract(0, 2), Err(1));
        assert_eq!(q.contract(0, 1), Ok(0));
        assert_eq!(q.contract(0, 2), Ok(0));
        assert_eq!(q.members(0), [0, 1, 2]);
    }

    #[test]
    fn a_path_may_lead_far_and_back() {
        let mut q = Quotient::new(6, [(0, 2), (0, 3), (3, 4), (4, 5), (1, 5), (1, 2)]);
        assert_eq!(q.contract(1, 5), Ok(1));
        // 0, 3, 4, {1, 5}, 2.
        assert_eq!(q.contract(0, 2), Err(1));
    }

    #[test]
    fn clusters_without_an_edge_become_one() {
        let mut q = Quotient::new(5, [(0, 1), (0, 2), (1, 3), (2, 4)]);
        assert_eq!(q.contract(3, 2), Ok(2));
        assert_eq!(q.order(), [0, 1, 2, 4]);
        assert_eq!(q.between(1, 4), Some(2));
    }

    /// Every edge between clusters leads to a later one and a larger rank, and every node is in one cluster.
    fn check(q: &Quotient, n: usize, edges: &[(usize, usize)]) {
        let order = q.order();
        let place = |c: usize| order.iter().position(|x| *x == c).unwrap();
        let members: usize = order.iter().map(|c| q.members(*c).len()).sum();
        assert_eq!(members, n, "every node is in one cluster");
        assert!(order.iter().all(|c| q.members(*c).iter().all(|node| q.cluster(*node) == *c)));
        for (from, to) in edges {
            let (from, to) = (q.cluster(*from), q.cluster(*to));
            assert!(from == to || (place(from) < place(to) && q.rank(from) < q.rank(to)));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]

        /// Whatever is contracted in whatever order, the graph of clusters is acyclic; a refusal is justified by a path.
        #[test]
        fn contraction_keeps_the_graph_acyclic((n, edges) in dags(24), picks in prop::collection::vec(any::<(usize, usize)>(), 0..64)) {
            let mut q = Quotient::new(n, edges.iter().copied());
            for (a, b) in picks {
                let (a, b) = (q.cluster(a % n), q.cluster(b % n));
                if a == b {
                    continue;
                }
                let mut parted: Vec<usize> = q.leaders().to_vec();
                if let Err(between) = q.contract(a, b) {
                    prop_assert!(between != a && between != b);
                    parted.iter_mut().filter(|l| **l == a).for_each(|l| *l = b);
                    let cyclic = std::panic::catch_unwind(|| Quotient::of_clusters(&parted, &edges));
                    prop_assert!(cyclic.is_err(), "a refusal for no reason");
                }
                check(&q, n, &edges);
            }
            let again = Quotient::of_clusters(q.leaders(), &edges);
            check(&again, n, &edges);
            prop_assert_eq!(again.leaders(), q.leaders());
            prop_assert_eq!(again.order(), q.order());
        }

        /// Taking clusters apart and putting them together again, some differently, keeps what holds of clusters.
        #[test]
        fn regrouping_is_like_building_anew((n, edges) in dags(24), picks in prop::collection::vec(any::<(usize, usize, bool)>(), 0..64)) {
            let mut q = Quotient::new(n, edges.iter().copied());
            let (mut before, mut behind) = (vec![vec![]; n], vec![vec![]; n]);
            for (from, to) in &edges {
                behind[*from].push(*to);
                before[*to].push(*from);
            }
            for (a, b, apart) in picks {
                let (a, b) = (q.cluster(a % n), q.cluster(b % n));
                if a != b && !apart {
                    let convex = q.is_convex(&[a, b]);
                    prop_assert_eq!(q.contract(a, b).is_ok(), convex);
                } else {
                    let mut clusters = vec![a, b];
                    clusters.dedup();
                    let groups: Vec<Vec<usize>> = clusters.iter().flat_map(|c| q.members(*c)).map(|node| vec![*node]).collect();
                    q.regroup(&clusters, &groups, &|node| (&before[node], &behind[node]));
                }
                check(&q, n, &edges);
                let again = Quotient::of_clusters(q.leaders(), &edges);
                prop_assert_eq!(again.order(), q.order());
            }
        }
    }
}

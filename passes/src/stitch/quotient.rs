//! Clusters of the nodes of an acyclic graph, grown by contracting edges so that the graph of clusters stays acyclic.

use std::collections::BTreeSet;

/// Clusters over the nodes `0..n`, which are numbered in topological order.
#[derive(Clone, Debug)]
pub struct Quotient {
    /// Cluster of each node, named by its first member.
    leader: Vec<usize>,
    /// Members of each cluster that is a leader, sorted.
    members: Vec<Vec<usize>>,
    succ: Vec<BTreeSet<usize>>,
    pred: Vec<BTreeSet<usize>>,
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
        };
        for (from, to) in edges {
            assert!(from < to && to < n, "nodes must be numbered in topological order");
            this.succ[from].insert(to);
            this.pred[to].insert(from);
        }
        this
    }

    /// Cluster of a node.
    pub fn cluster(&self, node: usize) -> usize {
        self.leader[node]
    }

    /// Nodes of a cluster, in order.
    pub fn members(&self, cluster: usize) -> &[usize] {
        &self.members[cluster]
    }

    /// Clusters that follow a cluster directly.
    pub fn successors(&self, cluster: usize) -> impl Iterator<Item = usize> + '_ {
        self.succ[cluster].iter().copied()
    }

    /// A cluster on a path from `from` to `to` other than the edge between them, if there is such a path: then the two
    /// cannot be one.
    pub fn between(&self, from: usize, to: usize) -> Option<usize> {
        let mut pending: Vec<usize> = self.successors(from).filter(|c| *c != to).collect();
        let mut seen: BTreeSet<usize> = pending.iter().copied().collect();
        // The numbers of a cluster's nodes bound nothing: a cluster may have nodes both before and behind `to`.
        while let Some(cluster) = pending.pop() {
            for next in self.successors(cluster) {
                if next == to {
                    return Some(cluster);
                }
                if seen.insert(next) {
                    pending.push(next);
                }
            }
        }
        None
    }

    /// Makes the ends of an edge one cluster, named by its first member.
    ///
    /// # Errors
    /// A cluster between them, see [`Self::between`].
    pub fn contract(&mut self, from: usize, to: usize) -> Result<usize, usize> {
        if let Some(other) = self.between(from, to) {
            return Err(other);
        }
        let (keep, gone) = (from.min(to), from.max(to));
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
        Ok(keep)
    }

    fn add_edge(&mut self, from: usize, to: usize) {
        if from != to {
            self.succ[from].insert(to);
            self.pred[to].insert(from);
        }
    }

    /// Clusters with producers first; of those that are free at the same time the one with the first node.
    pub fn order(&self) -> Vec<usize> {
        let clusters: Vec<usize> = (0..self.leader.len()).filter(|i| self.leader[*i] == *i).collect();
        let mut waits: Vec<usize> = self.pred.iter().map(BTreeSet::len).collect();
        let mut free: BTreeSet<usize> = clusters.iter().copied().filter(|c| waits[*c] == 0).collect();
        let mut order = Vec::with_capacity(clusters.len());
        while let Some(cluster) = free.pop_first() {
            order.push(cluster);
            for next in self.successors(cluster) {
                waits[next] -= 1;
                if waits[next] == 0 {
                    free.insert(next);
                }
            }
        }
        debug_assert_eq!(order.len(), clusters.len(), "the graph of clusters is acyclic");
        order
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::Quotient;

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

    /// Edges of a random graph whose nodes are in topological order.
    fn graphs() -> impl Strategy<Value = (usize, Vec<(usize, usize)>)> {
        (2usize..24).prop_flat_map(|n| {
            let edge = (0..n - 1).prop_flat_map(move |a| (Just(a), a + 1..n));
            (Just(n), prop::collection::vec(edge, 0..3 * n))
        })
    }

    proptest! {
        /// Whatever edges are contracted in whatever order, the graph of clusters is acyclic, every edge between
        /// clusters is kept, and a refusal is justified by a path.
        #[test]
        fn contraction_keeps_the_graph_acyclic((n, edges) in graphs(), picks in prop::collection::vec(any::<usize>(), 0..64)) {
            let mut q = Quotient::new(n, edges.iter().copied());
            for pick in picks {
                if edges.is_empty() {
                    break;
                }
                let (a, b) = edges[pick % edges.len()];
                let (a, b) = (q.cluster(a), q.cluster(b));
                if a != b && let Err(between) = q.contract(a, b) {
                    prop_assert!(between != a && between != b);
                }
                let order = q.order();
                let place = |c: usize| order.iter().position(|x| *x == c).unwrap();
                let clusters: std::collections::BTreeSet<usize> = (0..n).map(|i| q.cluster(i)).collect();
                prop_assert_eq!(order.len(), clusters.len());
                for (from, to) in &edges {
                    let (from, to) = (q.cluster(*from), q.cluster(*to));
                    prop_assert!(from == to || place(from) < place(to));
                }
            }
        }
    }
}

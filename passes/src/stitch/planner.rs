//! A plan is a partition of the ops that compute into clusters, each of which becomes a kernel. Planners know a graph, and
//! an oracle that says what a set of its nodes costs as one kernel; they know no op.

use std::collections::HashMap;

use sutura_ir::work::Counter;

use super::quotient::Quotient;
use crate::region::Misfit;

/// Two nodes of which a kernel may have both because it moves fewer bytes then: one reads what the other makes, or both
/// read the same.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    /// The node that stands first.
    pub(crate) from: usize,
    /// The other.
    pub(crate) to: usize,
    /// Links of a lower class are tried first.
    pub(crate) class: u8,
    /// Bytes that need not be moved; of two links of a class the one with more is tried first.
    pub(crate) bytes: u64,
}

/// What is to be partitioned.
#[derive(Clone, Debug, Default)]
pub(crate) struct Graph {
    /// Number of nodes, which are numbered in topological order.
    pub(crate) nodes: usize,
    /// What must come before what.
    pub(crate) edges: Vec<(usize, usize)>,
    /// Nodes that become parts of kernels; the others stay.
    pub(crate) computes: Vec<bool>,
    /// In the order in which they are tried.
    pub(crate) links: Vec<Link>,
    /// Sets, sorted, that may be a kernel though no chain of links leads to it.
    pub(crate) seeds: Vec<Vec<usize>>,
}

impl Graph {
    /// Every node its own cluster.
    pub(crate) fn apart(&self) -> Quotient {
        Quotient::new(self.nodes, self.edges.iter().copied())
    }
}

/// What a set of nodes costs as one kernel.
pub(crate) trait Oracle {
    /// Picoseconds that a kernel of `nodes`, which are sorted, takes.
    ///
    /// # Errors
    /// Why they make no kernel. A single node that computes always makes one.
    fn price(&mut self, nodes: &[usize]) -> Result<u64, Misfit>;

    /// How much there is to look at when a kernel with the node is priced, in ops that read at most two values.
    fn weight(&self, _node: usize) -> u64 {
        1
    }
}

static PRICED: Counter = Counter::new("stitching: ops priced");

/// What is known of sets of nodes, and how much more may be asked.
pub(crate) struct Ledger<'o, O> {
    oracle: &'o mut O,
    known: HashMap<Vec<usize>, Result<u64, Misfit>>,
    /// Weights of nodes that may still be looked at.
    budget: u64,
}

impl<'o, O: Oracle> Ledger<'o, O> {
    pub(crate) fn new(oracle: &'o mut O, budget: u64) -> Self {
        Self { oracle, known: HashMap::new(), budget }
    }

    /// Takes from the budget; false when it is spent.
    pub(crate) fn spend(&mut self, weight: u64) -> bool {
        let enough = self.budget > 0;
        self.budget = self.budget.saturating_sub(weight);
        enough
    }

    /// True when nothing more may be asked.
    pub(crate) fn is_spent(&self) -> bool {
        self.budget == 0
    }

    /// See [`Oracle::price`].
    pub(crate) fn price(&mut self, nodes: &[usize]) -> Result<u64, Misfit> {
        if let Some(known) = self.known.get(nodes) {
            return known.clone();
        }
        let weight: u64 = nodes.iter().map(|node| self.oracle.weight(*node)).sum();
        self.spend(weight + 1);
        PRICED.add(weight);
        let price = self.oracle.price(nodes);
        self.known.insert(nodes.to_vec(), price.clone());
        price
    }

    /// Price of all clusters that compute; the sum of those that fit, as every cluster of a plan does.
    pub(crate) fn total(&mut self, graph: &Graph, plan: &Quotient) -> u64 {
        let clusters = plan.order().into_iter().filter(|c| graph.computes[*c]);
        clusters.map(|c| self.price(plan.members(c)).unwrap_or(u64::MAX)).fold(0, u64::saturating_add)
    }
}

/// Nodes of two clusters, sorted.
pub(crate) fn union(plan: &Quotient, a: usize, b: usize) -> Vec<usize> {
    let mut nodes = [plan.members(a), plan.members(b)].concat();
    nodes.sort_unstable();
    nodes
}

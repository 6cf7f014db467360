//! Regions that no chain of pairs leads to: two products with the softmax between them fit only all together.

use std::collections::{BTreeMap, BTreeSet};

use sutura_ir::OpRef;

use super::Stitcher;
use crate::region::contract::is_contraction;
use crate::region::nest::Nest;

impl Stitcher<'_> {
    /// Puts each product together with the product that its left or right factor is made from, and all between them,
    /// where they fit.
    pub(super) fn seed_chains(&mut self) {
        for last in 0..self.ops.len() {
            if !self.contracts(last) {
                continue;
            }
            for factor in self.producers(last) {
                if self.contracts(factor) {
                    continue;
                }
                let chain = self.chain(factor);
                if let [first, ..] = chain[..]
                    && self.contracts(first)
                {
                    self.join([&chain[..], &[last]].concat());
                }
            }
        }
    }

    fn contracts(&self, node: usize) -> bool {
        let op: OpRef<'_> = self.ops[node];
        let results: Vec<_> = op.results().collect();
        self.computes[node]
            && Nest::of(self.facts, &[op], &results).is_ok_and(|nest| is_contraction(&nest, &nest.stages[0]))
    }

    /// Numbers of the ops that compute what an op reads.
    fn producers(&self, node: usize) -> Vec<usize> {
        let mut producers: Vec<usize> = self.edges.iter().filter(|e| e.to == node).map(|e| e.from).collect();
        producers.sort_unstable();
        producers.dedup();
        producers
    }

    /// The ops that lie on ways from a product to `node`, and these products, in order.
    fn chain(&self, node: usize) -> Vec<usize> {
        let mut behind = BTreeMap::new();
        let mut pending = vec![node];
        while let Some(next) = pending.pop() {
            if behind.contains_key(&next) {
                continue;
            }
            let producers = if self.contracts(next) { vec![] } else { self.producers(next) };
            pending.extend(&producers);
            behind.insert(next, producers);
        }
        // Producers have lower numbers, so what they are made from is known before them.
        let mut chain: BTreeSet<usize> = BTreeSet::new();
        for (next, producers) in behind {
            if producers.iter().any(|p| chain.contains(p)) || self.contracts(next) {
                chain.insert(next);
            }
        }
        chain.into_iter().collect()
    }

    /// Makes one region of `nodes` if they fit into one kernel and nothing stands between them.
    fn join(&mut self, nodes: Vec<usize>) {
        let alone = nodes.iter().all(|n| self.quotient.members(self.quotient.cluster(*n)).len() == 1);
        if !alone || nodes.len() > self.max_ops {
            return;
        }
        let Ok(kind) = self.fit(&nodes) else { return };
        let before = self.quotient.clone();
        let mut cluster = nodes[0];
        for node in &nodes[1..] {
            match self.quotient.contract(cluster, *node) {
                Ok(joined) => cluster = joined,
                Err(_) => {
                    self.quotient = before;
                    return;
                }
            }
        }
        self.kinds[cluster] = kind;
    }
}

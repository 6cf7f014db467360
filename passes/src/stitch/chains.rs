//! Regions that no chain of pairs leads to: two products with the softmax between them fit only all together.

use std::collections::{BTreeMap, BTreeSet};

use super::block::Ops;
use crate::region::contract::is_contraction;
use crate::region::nest::Nest;

/// For each product, the product that one of its factors is made from, and all between them: sets that planners try as
/// one kernel.
pub(super) fn chains(ops: &Ops<'_>) -> Vec<Vec<usize>> {
    let contracts: Vec<bool> = (0..ops.ops.len()).map(|node| contracts(ops, node)).collect();
    let mut producers = vec![BTreeSet::new(); ops.ops.len()];
    for (from, to, _) in &ops.reads {
        producers[*to].insert(*from);
    }
    let ways = Ways { contracts, producers };
    let mut chains = Vec::new();
    for last in (0..ops.ops.len()).filter(|node| ways.contracts[*node]) {
        for factor in ways.producers[last].iter().filter(|node| !ways.contracts[**node]) {
            let mut chain = ways.to(*factor);
            if chain.first().is_some_and(|first| ways.contracts[*first]) {
                chain.push(last);
                chains.extend(ways.with_readers(&chain));
                chains.push(chain);
            }
        }
    }
    chains
}

fn contracts(ops: &Ops<'_>, node: usize) -> bool {
    let op = ops.ops[node];
    let results: Vec<_> = op.results().collect();
    ops.graph.computes[node]
        && Nest::of(ops.facts, &[op], &results).is_ok_and(|nest| is_contraction(&nest, &nest.stages[0]))
}

/// Which ops are products, and which ops compute what each reads.
struct Ways {
    contracts: Vec<bool>,
    producers: Vec<BTreeSet<usize>>,
}

impl Ways {
    /// A chain with the ops behind it that read what it makes on its way, the largest score of a row for one: without them that
    /// would be written. `None` where there are none.
    fn with_readers(&self, chain: &[usize]) -> Option<Vec<usize>> {
        let (last, between) = chain.split_last()?;
        let mut all: BTreeSet<usize> = chain.iter().copied().collect();
        let mut behind = BTreeSet::from([*last]);
        for node in last + 1..self.producers.len() {
            let reads = |set: &BTreeSet<usize>| self.producers[node].iter().any(|from| set.contains(from));
            let on_the_way = self.producers[node].iter().any(|from| between.contains(from));
            if !self.contracts[node] && reads(&behind) {
                behind.insert(node);
                if on_the_way {
                    all.insert(node);
                }
            }
        }
        (all.len() > chain.len()).then(|| all.into_iter().collect())
    }

    /// The ops that lie on ways from a product to `node`, and these products, in order.
    fn to(&self, node: usize) -> Vec<usize> {
        let mut behind = BTreeMap::new();
        let mut pending = vec![node];
        while let Some(next) = pending.pop() {
            if behind.contains_key(&next) {
                continue;
            }
            let producers: Vec<usize> =
                if self.contracts[next] { vec![] } else { self.producers[next].iter().copied().collect() };
            pending.extend(&producers);
            behind.insert(next, producers);
        }
        // Producers have lower numbers, so what they are made from is known before them.
        let mut chain: BTreeSet<usize> = BTreeSet::new();
        for (next, producers) in behind {
            if producers.iter().any(|p| chain.contains(p)) || self.contracts[next] {
                chain.insert(next);
            }
        }
        chain.into_iter().collect()
    }
}

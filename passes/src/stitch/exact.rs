//! The best partition of a few atoms, by dynamic programming over the sets that may have been computed at some time: what a
//! plan costs to get there is the least that it costs to get to a smaller such set, and the kernel in between.

use super::planner::{Ledger, Oracle};

/// Most atoms; there are `2^MOST` sets.
pub(super) const MOST: usize = 10;

/// Atoms, each a set of nodes that stays together.
#[derive(Debug, Default)]
pub(super) struct Atoms {
    /// Their nodes, each sorted.
    pub(super) nodes: Vec<Vec<usize>>,
    /// Atoms that must come before each atom, as a set of bits; closed under itself.
    pub(super) before: Vec<u32>,
    /// Those of them from which a path leads to the atom through something that is no atom: they cannot be one.
    pub(super) around: Vec<u32>,
    /// Atoms that each atom is linked with.
    pub(super) linked: Vec<u32>,
}

/// Price and clusters, each a set of atoms, in an order in which they can be computed.
pub(super) type Best = (u64, Vec<u32>);

impl Atoms {
    /// The nodes of a set of atoms, sorted.
    pub(super) fn union(&self, set: u32) -> Vec<usize> {
        let mut nodes: Vec<usize> = bits(set).flat_map(|atom| self.nodes[atom].iter().copied()).collect();
        nodes.sort_unstable();
        nodes
    }

    /// True when nothing outside the set lies on a path between two of it.
    fn is_convex(&self, set: u32) -> bool {
        if bits(set).any(|atom| self.around[atom] & set != 0) {
            return false;
        }
        let around = bits(set).fold(0, |all, atom| all | self.before[atom]) & !set;
        bits(around).all(|atom| self.before[atom] & set == 0)
    }

    fn is_connected(&self, set: u32) -> bool {
        let mut reached = set & set.wrapping_neg();
        loop {
            let next = bits(reached).fold(reached, |all, atom| all | self.linked[atom]) & set;
            if next == reached {
                return reached == set;
            }
            reached = next;
        }
    }
}

/// The members of a set of bits.
pub(super) fn bits(set: u32) -> impl Iterator<Item = usize> {
    (0..32).filter(move |bit| set >> bit & 1 == 1)
}

/// The cheapest partition. Of those that cost the same the one with the fewest clusters.
pub(super) fn best<O: Oracle>(atoms: &Atoms, ledger: &mut Ledger<'_, O>) -> Option<Best> {
    let n = atoms.nodes.len();
    debug_assert!(n <= MOST, "there are too many sets of so many atoms");
    let all = (1u32 << n) - 1;
    let mut priced: Vec<(u32, u64)> = Vec::new();
    for set in 1..=all {
        if atoms.is_convex(set)
            && atoms.is_connected(set)
            && let Ok(price) = ledger.price(&atoms.union(set))
        {
            priced.push((set, price));
        }
    }
    // What it costs to have computed a set, how many clusters that are, and the last of them.
    let mut reached: Vec<Option<(u64, u32, u32)>> = vec![None; all as usize + 1];
    reached[0] = Some((0, 0, 0));
    for done in 0..all {
        let Some((cost, count, _)) = reached[done as usize] else { continue };
        let ready = |set: u32| set & done == 0 && bits(set).all(|atom| atoms.before[atom] & !(done | set) == 0);
        for (set, price) in priced.iter().filter(|(set, _)| ready(*set)) {
            let next = (cost.saturating_add(*price), count + 1, *set);
            let old = &mut reached[(done | set) as usize];
            if old.is_none_or(|o| (next.0, next.1) < (o.0, o.1)) {
                *old = Some(next);
            }
        }
    }
    let (price, ..) = reached[all as usize]?;
    let mut clusters = Vec::new();
    let mut left = all;
    while left != 0 {
        let (_, _, last) = reached[left as usize]?;
        clusters.push(last);
        left &= !last;
    }
    clusters.reverse();
    Some((price, clusters))
}

//! In which order the stages of a kernel run, and in which loops.
//!
//! A phase ends where something is combined along a loop's dim: what needs the result runs through the dim again, and computes
//! again what it needs of earlier phases. All stages of a kernel share its grid, as in AStitch (ASPLOS 2022), where tiles follow
//! from the reductions.

use std::collections::{HashMap, HashSet};

use sutura_dialects::schedule::{Node, Tile};
use sutura_ir::Value;

use super::{each, place};
use crate::region::Nest;

/// A stage and one of its results.
type Key = (usize, usize);

/// What the stages of a kernel make, as far as their order needs it.
pub(super) struct Order<'o, 'a> {
    pub(super) nest: &'o Nest<'a>,
    /// The tile that they are computed on.
    pub(super) tile: &'o Tile,
    /// Values that earlier kernels have written.
    pub(super) stored: &'o HashSet<Value>,
    /// What the kernel writes.
    pub(super) writes: &'o [Value],
    /// Results that it writes as parts.
    pub(super) partial: &'o [Key],
}

/// What has been made at a point of a kernel.
#[derive(Default)]
pub(super) struct Made {
    /// Numbers of values.
    slots: HashSet<usize>,
    /// What is being combined.
    sums: HashSet<Key>,
    written: HashSet<Value>,
}

impl Order<'_, '_> {
    /// Nodes for `stages`, which run through no dims but those that are tiled or have one index, and `loops`, outermost first.
    pub(super) fn nodes(&self, stages: &[usize], loops: &[usize], made: &mut Made) -> Vec<Node> {
        let Some((&dim, inner)) = loops.split_first() else { return self.innermost(stages, made) };
        let mut nodes = Vec::new();
        let phase = phases(self.nest, stages, dim, &|v| self.has(made, v));
        let through = |s: &usize| self.nest.stages[*s].dims.contains(&dim);
        for now in 0..=phase.values().copied().max().unwrap_or(0) {
            let outside: Vec<usize> = stages.iter().copied().filter(|s| !through(s) && phase[s] == now).collect();
            if !outside.is_empty() {
                // What an earlier phase made inside another loop is made again here.
                let needed = needed_unless(self.nest, stages, &outside, &|v| self.has(made, v));
                nodes.extend(self.nodes(&needed, inner, made));
            }
            let wanted = |s: &usize| through(s) && phase[s] == now && self.is_wanted(*s, dim, made);
            let wanted: Vec<usize> = stages.iter().copied().filter(wanted).collect();
            if !wanted.is_empty() {
                let needed = needed_unless(self.nest, stages, &wanted, &|v| self.has(made, v));
                nodes.push(self.one_loop(dim, &needed, inner, made));
            }
        }
        nodes
    }

    fn has(&self, made: &Made, value: Value) -> bool {
        let slot = self.nest.made.get(&value).and_then(|(s, r)| self.nest.stages[*s].results[*r].slot);
        slot.is_some_and(|slot| made.slots.contains(&slot)) || self.stored.contains(&value)
    }

    /// True for a stage for whose sake a loop over `dim` runs.
    fn is_wanted(&self, stage: usize, dim: usize, made: &Made) -> bool {
        let this = &self.nest.stages[stage];
        let writes = |v: Value| self.writes.contains(&v) && !made.written.contains(&v);
        this.reduced.contains(&dim)
            || (0..this.results.len()).any(|r| made.sums.contains(&(stage, r)))
            || this.results.iter().any(|r| writes(r.value))
    }

    fn one_loop(&self, dim: usize, stages: &[usize], inner: &[usize], made: &mut Made) -> Node {
        let combining = stages.iter().filter(|s| self.nest.stages[**s].combines_along(dim));
        let keys = combining.flat_map(|s| (0..self.nest.stages[*s].results.len()).map(move |r| (*s, r)));
        let started: Vec<Key> = keys.filter(|key| !made.sums.contains(key)).collect();
        made.sums.extend(&started);
        // What is made in a trip is gone behind it; that it was written is not.
        let before = made.slots.clone();
        let body = self.nodes(stages, inner, made);
        made.slots = before;
        for key in started {
            made.sums.remove(&key);
            if self.nest.stages[key.0].scan.is_none() {
                self.finish(key, made);
            }
        }
        each(dim, body)
    }

    fn innermost(&self, stages: &[usize], made: &mut Made) -> Vec<Node> {
        let mut nodes = Vec::new();
        for &s in stages {
            let stage = &self.nest.stages[s];
            if stage.results.iter().all(|r| r.slot.is_some_and(|slot| made.slots.contains(&slot))) {
                continue;
            }
            nodes.push(Node::Place(place(self.nest, s, self.tile)));
            for key in (0..stage.results.len()).map(|r| (s, r)) {
                if !stage.reduces() {
                    self.note(key, made);
                } else if !made.sums.contains(&key) {
                    self.finish(key, made);
                }
            }
        }
        nodes
    }

    fn finish(&self, key: Key, made: &mut Made) {
        if !self.partial.contains(&key) {
            self.note(key, made);
        }
    }

    fn note(&self, (s, r): Key, made: &mut Made) {
        let result = &self.nest.stages[s].results[r];
        made.slots.extend(result.slot);
        if !self.nest.stages[s].copy && self.writes.contains(&result.value) {
            made.written.insert(result.value);
        }
    }

    /// Notes a result that is joined of parts.
    pub(super) fn joined(&self, key: Key, made: &mut Made) {
        self.note(key, made);
    }
}

/// Number of combinations along `dim`, of those in `stages`, that must be done before each of them.
pub(super) fn phases(
    nest: &Nest<'_>,
    stages: &[usize],
    dim: usize,
    known: &dyn Fn(Value) -> bool,
) -> HashMap<usize, usize> {
    let mut phase: HashMap<usize, usize> = HashMap::new();
    for &s in stages {
        let makers = nest.stages[s].inputs.iter().filter(|read| !known(read.value));
        let after = makers.filter_map(|read| {
            let (maker, _) = nest.made.get(&read.value)?;
            Some(phase.get(maker)? + usize::from(nest.stages[*maker].reduced.contains(&dim)))
        });
        let after = after.max().unwrap_or(0);
        phase.insert(s, after);
    }
    phase
}

/// Those of `stages` from which `wanted` are computed, where `known` says which values are.
pub(super) fn needed_unless(
    nest: &Nest<'_>,
    stages: &[usize],
    wanted: &[usize],
    known: &dyn Fn(Value) -> bool,
) -> Vec<usize> {
    let mut found: HashSet<usize> = wanted.iter().copied().collect();
    let mut open = wanted.to_vec();
    while let Some(s) = open.pop() {
        for read in nest.stages[s].inputs.iter().filter(|read| !known(read.value)) {
            if let Some((maker, _)) = nest.made.get(&read.value)
                && found.insert(*maker)
            {
                open.push(*maker);
            }
        }
    }
    stages.iter().copied().filter(|s| found.contains(s)).collect()
}

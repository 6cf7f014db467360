//! Programs of several kernels for what is combined along rows that are many: parts, which further kernels join, and rows and
//! columns one after another.

use std::collections::{HashMap, HashSet};

use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::schedule::Kernel;
use sutura_ir::Value;

use super::super::machine::Machine;
use super::order::{needed_unless, phases};
use super::share::{Key, Share, Width};
use crate::region::Nest;

/// Makes kernels for shares of a region.
#[derive(Clone, Copy)]
pub(super) struct Shares<'r, 'a> {
    pub(super) nest: &'r Nest<'a>,
    pub(super) machine: &'r Machine,
}

impl Shares<'_, '_> {
    /// Columns of a tile of so many sums in registers: half of them, the rest is for what is added.
    pub(super) fn tile_columns(&self, sums: i64) -> i64 {
        let (registers, lanes) = self.machine.vectors;
        let each = (registers / 2 / sums.max(1)).clamp(1, 8);
        // A power of two, so that tiles begin where vectors do.
        (1 << each.ilog2()) * lanes
    }

    /// Columns of a tile of one vector.
    pub(super) fn vector_columns(&self) -> i64 {
        self.machine.vectors.1
    }

    fn value(&self, (s, r): Key) -> Value {
        self.nest.stages[s].results[r].value
    }

    /// The kernel of a share.
    pub(super) fn kernel(&self, share: &Share) -> Kernel {
        share.kernel(self.nest, self.machine)
    }

    /// Kernels for parts of a dim that is combined along: after each combination another kernel joins the parts, and what
    /// needs the result runs through the dim again.
    pub(super) fn in_parts(&self, whole: &Share, (dim, count): (usize, &Poly)) -> Vec<Kernel> {
        let nest = self.nest;
        let all = &whole.stages;
        let phase = phases(nest, all, dim, &|_| false);
        let has = |s: usize| nest.stages[s].dims.contains(&dim);
        let mut stored: HashSet<Value> = HashSet::new();
        let mut kernels = Vec::new();
        let keys = |s: usize| (0..nest.stages[s].results.len()).map(move |r| (s, r));
        // The last combination is joined behind the last phase.
        for now in 0..=phase.values().copied().max().unwrap_or(0) + 1 {
            // What is combined, and what follows without the dim.
            let sums: Vec<usize> =
                all.iter().copied().filter(|s| nest.stages[*s].reduced.contains(&dim) && phase[s] + 1 == now).collect();
            let less: Vec<usize> = all.iter().copied().filter(|s| !has(*s) && phase[s] == now).collect();
            let wanted = |value: Value| {
                let used = all.iter().any(|s| {
                    (has(*s) || phase[s] > now) && nest.stages[*s].inputs.iter().any(|read| read.value == value)
                });
                whole.writes.contains(&value) || (used && now > 0)
            };
            let writes = sums.iter().chain(&less).flat_map(|s| keys(*s)).map(|k| self.value(k));
            let writes: Vec<Value> = writes.filter(|v| wanted(*v) && !stored.contains(v)).collect();
            let joins = self.joins(whole, (dim, count), (&sums, &less), writes, &stored);
            for share in joins {
                kernels.push(self.kernel(&share));
                stored.extend(share.writes);
            }
            let ends = |s: &usize| {
                let stage = &nest.stages[*s];
                let written = stage.results.iter().any(|r| whole.writes.contains(&r.value));
                has(*s) && phase[s] == now && (stage.reduced.contains(&dim) || written)
            };
            let ends: Vec<usize> = all.iter().copied().filter(ends).collect();
            if ends.is_empty() {
                continue;
            }
            let combined = |s: &usize| nest.stages[*s].reduced.contains(&dim);
            let written = ends.iter().filter(|s| !combined(s)).flat_map(|s| keys(*s)).map(|k| self.value(k));
            let share = Share {
                stages: needed_unless(nest, all, &ends, &|v| stored.contains(&v)),
                parts: Some((dim, count.clone())),
                writes: written.filter(|v| whole.writes.contains(v)).collect(),
                partial: ends.iter().filter(|s| combined(s)).flat_map(|s| keys(*s)).collect(),
                stored: stored.clone(),
                ..whole.clone()
            };
            kernels.push(self.kernel(&share));
        }
        kernels
    }

    /// Shares that combine parts of `sums` and compute what `less`, stages without `dim`, make of them: what lies along
    /// columns in tiles of these, and numbers, of which there is one for all columns, in a kernel of their own.
    fn joins(
        &self,
        whole: &Share,
        (dim, count): (usize, &Poly),
        (sums, less): (&[usize], &[usize]),
        writes: Vec<Value>,
        stored: &HashSet<Value>,
    ) -> Vec<Share> {
        let keys = |s: &usize| (0..self.nest.stages[*s].results.len()).map(move |r| (*s, r)).collect::<Vec<_>>();
        let along = |value: &Value| {
            let (stage, result) = self.nest.made[value];
            whole.col.is_some_and(|(col, _)| self.nest.mentions(&self.nest.stages[stage].results[result], col))
        };
        let (columns, numbers): (Vec<Value>, Vec<Value>) = writes.into_iter().partition(along);
        let mut shares = Vec::new();
        for writes in [columns, numbers].into_iter().filter(|writes| !writes.is_empty()) {
            let makes = |s: &usize| keys(s).iter().any(|key| writes.contains(&self.value(*key)));
            let makers: Vec<usize> = less.iter().copied().filter(makes).collect();
            let summed: HashSet<Value> = sums.iter().flat_map(keys).map(|key| self.value(key)).collect();
            let known = |v: Value| stored.contains(&v) || summed.contains(&v);
            let stages = needed_unless(self.nest, &whole.stages, &makers, &known);
            let reads = |v: Value| stages.iter().any(|s| self.reads_of(*s, v));
            let wanted = |key: &Key| writes.contains(&self.value(*key)) || reads(self.value(*key));
            let combines: Vec<Key> = sums.iter().flat_map(keys).filter(wanted).collect();
            // What follows from no sum is computed once, and not by every part.
            let parts = (!combines.is_empty()).then(|| (dim, count.clone()));
            shares.push(Share {
                combines,
                parts,
                stored: stored.clone(),
                ..self.apart_from(whole, dim, (stages, &writes))
            });
        }
        shares
    }

    /// A share for stages that do not run through `dim`, and that make these values.
    fn apart_from(&self, whole: &Share, dim: usize, (stages, writes): (Vec<usize>, &[Value])) -> Share {
        let width = Width::Registers(self.tile_columns(2));
        let stage = |s: usize| &self.nest.stages[s];
        let through = |col: usize| {
            let made = writes.iter().map(|value| self.nest.made[value]);
            let written = made.into_iter().any(|(s, r)| self.nest.mentions(&stage(s).results[r], col));
            written || stages.iter().any(|s| stage(*s).dims.contains(&col))
        };
        let combines = |col: usize| stages.iter().any(|s| stage(*s).reduced.contains(&col));
        let col = whole.col.filter(|(col, _)| *col != dim && through(*col)).map(|(col, given)| match given {
            // A number for all columns is made by a group that has them all.
            _ if combines(col) => (col, Width::Whole),
            Width::Registers(_) => (col, given),
            _ => (col, width),
        });
        Share {
            col,
            stages,
            grid: whole.grid.clone(),
            loops: whole.loops.iter().copied().filter(|d| *d != dim).collect(),
            writes: writes.to_vec(),
            ..Share::default()
        }
    }

    /// Kernels for rows and kernels for columns, one after another: `dim` counts the rows.
    pub(super) fn apart(&self, whole: &Share, dim: usize) -> Vec<Kernel> {
        let nest = self.nest;
        let all = &whole.stages;
        let (col, _) = whole.col.expect("there is a column where columns are combined");
        let phase = phases(nest, all, dim, &|_| false);
        let has = |s: usize, d: usize| nest.stages[s].dims.contains(&d);
        let down = |s: usize| nest.stages[s].reduced.contains(&dim);
        let per_row = |s: usize| has(s, dim) && !down(s) && (nest.stages[s].reduced.contains(&col) || !has(s, col));
        let values = |s: usize| nest.stages[s].results.iter().map(|r| r.value);
        let mut stored: HashSet<Value> = HashSet::new();
        let mut kernels = Vec::new();
        for now in 0..=phase.values().copied().max().unwrap_or(0) {
            let here: Vec<usize> = all.iter().copied().filter(|s| phase[s] == now).collect();
            let output = |s: usize| values(s).any(|v| whole.writes.contains(&v));
            let rows = here.iter().copied().filter(|s| has(*s, dim) && !down(*s) && (output(*s) || per_row(*s)));
            let rows: Vec<usize> = rows.collect();
            if !rows.is_empty() {
                let share = Share {
                    stages: needed_unless(nest, all, &rows, &|v| stored.contains(&v)),
                    grid: [&[dim][..], &whole.grid].concat(),
                    col: Some((col, Width::Whole)),
                    writes: rows.iter().flat_map(|s| values(*s)).collect(),
                    stored: stored.clone(),
                    ..Share::default()
                };
                stored.extend(share.writes.iter().copied());
                kernels.push(self.kernel(&share));
            }
            // Sums, and what follows from them alone; at first also what follows from no sum.
            let combined = here.iter().copied().filter(|s| down(*s));
            let first = if now == 0 { self.without(all, &phase, dim, 0) } else { vec![] };
            let columns: Vec<usize> =
                first.into_iter().chain(combined).chain(self.without(all, &phase, dim, now + 1)).collect();
            let used =
                |v: Value| whole.writes.contains(&v) || all.iter().any(|s| phase[s] > now && self.reads_of(*s, v));
            let writes: Vec<Value> = columns.iter().flat_map(|s| values(*s)).filter(|v| used(*v)).collect();
            if !writes.is_empty() {
                let share = Share {
                    stages: needed_unless(nest, all, &columns, &|v| stored.contains(&v)),
                    writes: writes.clone(),
                    stored: stored.clone(),
                    ..whole.clone()
                };
                kernels.push(self.kernel(&share));
                stored.extend(writes);
            }
        }
        kernels
    }

    fn reads_of(&self, stage: usize, value: Value) -> bool {
        self.nest.stages[stage].inputs.iter().any(|read| read.value == value)
    }

    /// Stages without `dim` at a phase.
    fn without(&self, all: &[usize], phase: &HashMap<usize, usize>, dim: usize, now: usize) -> Vec<usize> {
        let there = |s: &usize| !self.nest.stages[*s].dims.contains(&dim) && phase[s] == now;
        all.iter().copied().filter(there).collect()
    }
}

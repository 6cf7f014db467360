//! Attention regions: two contractions, of which the second takes the softmax of the first as its left factor.
//!
//! The softmax is known by its name, which `expand-operators` leaves on the op that makes its result, and is believed where the
//! ops that its declaration lists still stand there: the kernel computes a softmax, whatever the region holds. Before it stand
//! scores summed over one dim and elementwise ops on them, behind it a product that sums over the dim along which the rows
//! ran. So the kernel keeps a tile's scores near and never writes them, after FlashAttention (Dao et al., arXiv 2205.14135).

use std::collections::HashSet;

use sutura_dialects::graph::operator::{Found, Made, Site, left_name, pattern};
use sutura_dialects::graph::{Combiner, ComputeForm};
use sutura_ir::{Op, OpRef, Type, Value};

use super::contract::{CHEAP, is_contraction};
use super::cost::{body_cost, value_text};
use super::nest::Nest;
use super::rows::check_column_access;
use super::{ContractPlan, Fit, Misfit, Windows, misfit};

/// Longest vectors of queries, keys and values whose tiles are kept near.
const WIDEST: i64 = 512;

/// Most numbers of a value that units have together, and the fewest queries of a group.
const WIDEST_SHARED: u64 = 128;
const LEAST_SHARED_ROWS: i64 = 32;

/// How a region runs as attention.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AttentionPlan {
    /// Queries by keys.
    pub scores: ContractPlan,
    /// Weights by values.
    pub values: ContractPlan,
    /// Stages of single numbers per query and key, up to the one that makes [`Self::logits`], and those they need.
    pub before: Vec<usize>,
    /// What the softmax is taken of.
    pub logits: Value,
    /// Powers are multiplied by the reciprocal of their sum; otherwise they are divided by it.
    pub reciprocal: bool,
    /// Stages behind the second product.
    pub after: Vec<usize>,
}

/// The operators that are a softmax, and whether powers are multiplied by the reciprocal of their sum.
const SOFTMAXES: [(&str, bool); 3] = [("softmax", true), ("softmax_from", true), ("softmax_by_division", false)];

/// The ops of a region with what no product leads to first: values that are made before scores are known may be summed up as these are.
pub(crate) fn factors_first(ops: Vec<OpRef<'_>>) -> Vec<OpRef<'_>> {
    let mut late: HashSet<Op> = HashSet::new();
    for op in &ops {
        let product = ComputeForm::of(*op).is_some_and(|form| !form.is_elementwise() && form.inputs().len() > 1);
        let made_late = op.operands().filter_map(|input| op.body.defining_op(input)).any(|maker| late.contains(&maker));
        if product || made_late {
            late.insert(op.op);
        }
    }
    let (last, mut first): (Vec<_>, Vec<_>) = ops.into_iter().partition(|op| late.contains(&op.op));
    first.extend(last);
    first
}

/// Whether an op says that it makes the result of a softmax.
pub(crate) fn names_softmax(op: OpRef<'_>) -> bool {
    left_name(op).is_some_and(|name| SOFTMAXES.iter().any(|(softmax, _)| *softmax == name))
}

/// The parts of a softmax.
struct Softmax {
    logits: Value,
    reciprocal: bool,
    /// All stages of it.
    stages: Vec<usize>,
}

/// Stages as a pattern sees them, that combine along a dim. The dims of a nest are those at which values are made, so what a
/// stage reads of another it reads there.
struct Along<'n, 'a> {
    nest: &'n Nest<'a>,
    dim: usize,
}

impl<'a> Site<'a> for Along<'_, 'a> {
    fn made(&mut self, tensor: Value, _: bool) -> Option<Made<'a>> {
        let (stage, result) = *self.nest.made.get(&tensor)?;
        let stage = &self.nest.stages[stage];
        let combiner = match (&stage.combiners[..], &stage.reduced[..]) {
            ([], []) => None,
            ([combiner], [dim]) if *dim == self.dim => Some(*combiner),
            _ => return None,
        };
        let inside = stage.inputs.iter().all(|read| read.oob.is_none() && read.guard.is_empty());
        if !inside || stage.joint.is_some() || stage.scan.is_some() || stage.scatter.is_some() {
            return None;
        }
        let body = stage.body?;
        let yielded = body.terminator()?.operand(result);
        let inputs = stage.inputs.iter().map(|read| (read.value, false)).collect();
        Some(Made { op: stage.op.op, body, yielded, combiner, inputs })
    }
}

/// The softmax along `dim` whose weights are `weights`, as the op that makes them says, and as is left of it.
fn softmax(nest: &Nest<'_>, weights: Value, dim: usize) -> Fit<Softmax> {
    let unnamed = || Misfit("both contract, and what lies between is no softmax".into());
    let name = named(nest, weights).ok_or_else(unnamed)?;
    let (_, reciprocal) = *SOFTMAXES.iter().find(|(softmax, _)| *softmax == name).ok_or_else(unnamed)?;
    let found = pattern(name).and_then(|p| p.find(nest.body, nest.cx, weights, &mut Along { nest, dim }));
    let Some(Found { input, ops, .. }) = found else {
        return misfit(format!("both contract, and what lies between is no longer what '{name}' stands for"));
    };
    let stages = (0..nest.stages.len()).filter(|i| ops.contains(&nest.stages[*i].op.op)).collect();
    Ok(Softmax { logits: input, reciprocal, stages })
}

/// The operator that the op which makes a value names; what only moves elements is seen through.
fn named<'a>(nest: &Nest<'a>, mut value: Value) -> Option<&'a str> {
    loop {
        let stage = &nest.stages[nest.made.get(&value)?.0];
        if let Some(name) = left_name(stage.op) {
            return Some(name);
        }
        let body = stage.body.filter(|_| !stage.reduces())?;
        let moved = body.args().iter().position(|arg| Some(*arg) == body.terminator().map(|end| end.operand(0)))?;
        value = stage.inputs[moved].value;
    }
}

/// True when a stage is `first` or is made from what it makes.
fn needs(nest: &Nest<'_>, stage: usize, first: usize) -> bool {
    let makers = nest.stages[stage].inputs.iter().filter_map(|a| nest.made.get(&a.value));
    stage == first || makers.into_iter().any(|(maker, _)| needs(nest, *maker, first))
}

impl AttentionPlan {
    /// Fits a region that has two contractions.
    ///
    /// # Errors
    /// Says what does not fit.
    pub fn of(nest: &Nest<'_>) -> Fit<Self> {
        nest.check_no_scan()?;
        nest.check_no_joint()?;
        if nest.stages.iter().any(|stage| stage.copy) {
            return misfit("both contract, and something between them is computed at several places");
        }
        let contractions: Vec<usize> =
            (0..nest.stages.len()).filter(|i| is_contraction(nest, &nest.stages[*i])).collect();
        let [first, second] = contractions[..] else { return misfit("has not exactly two contractions") };
        let (scores, values) = (ContractPlan::of_stage(nest, first)?, ContractPlan::of_stage(nest, second)?);
        let elem = |stage: usize| nest.cx.element_type(nest.body.ty(nest.stages[stage].results[0].value));
        if [first, second].iter().any(|stage| elem(*stage) != Type::F32) {
            return misfit("both contract, and one sums integers");
        }
        let (Some(query), [keys]) = (scores.row(), &scores.cols[..]) else {
            return misfit("both contract, and the first has no single dimension of keys");
        };
        if values.row() != Some(query) || values.sums != [*keys] || values.cols.len() != 1 {
            return misfit("both contract, and the second does not sum along the rows of the first");
        }
        let outer = |plan: &ContractPlan| {
            let mut dims: Vec<usize> = plan.batch.iter().chain(&plan.rows).copied().collect();
            dims.sort_unstable();
            dims
        };
        if outer(&scores) != outer(&values) || scores.sums.len() != 1 {
            return misfit("both contract, and not along the same rows");
        }
        let weights = nest.stages[second].inputs[values.lhs].value;
        let softmax = softmax(nest, weights, *keys)?;
        let makers =
            |plan: &ContractPlan, input: usize| nest.needed(nest.maker(&nest.stages[plan.stage].inputs[input]));
        let (left, right) = (makers(&scores, scores.lhs), makers(&scores, scores.rhs));
        let of_values = makers(&values, values.rhs);
        let mut plan = Self {
            scores: ContractPlan { left, right, ..scores },
            values: ContractPlan { right: of_values, ..values },
            before: vec![],
            logits: softmax.logits,
            reciprocal: softmax.reciprocal,
            after: vec![],
        };
        plan.place_others(nest, &softmax)?;
        plan.check(nest)?;
        Ok(plan)
    }

    /// Dims that a group fixes: all of the scores but queries and keys, in the order of the result.
    pub fn outer(&self) -> Vec<usize> {
        let rows = &self.values.rows[..self.values.rows.len() - 1];
        self.values.batch.iter().chain(rows).copied().collect()
    }

    /// The dim of the queries.
    pub fn query(&self) -> usize {
        *self.scores.rows.last().expect("checked when the plan was made")
    }

    /// The dim of the keys.
    pub fn key(&self) -> usize {
        self.scores.col()
    }

    /// True for a stage from which queries, keys or values are made.
    pub fn makes_factor(&self, stage: usize) -> bool {
        [&self.scores.left, &self.scores.right, &self.values.right].into_iter().any(|of| of.contains(&stage))
    }

    /// Every other stage stands before the softmax or after the second product.
    fn place_others(&mut self, nest: &Nest<'_>, softmax: &Softmax) -> Fit<()> {
        let (first, second) = (self.scores.stage, self.values.stage);
        let mut follows = vec![false; nest.stages.len()];
        follows[second] = true;
        for (i, stage) in nest.stages.iter().enumerate() {
            let makers = || stage.inputs.iter().filter_map(|a| nest.made.get(&a.value)).map(|(maker, _)| *maker);
            follows[i] |= makers().any(|maker| follows[maker]);
            if i == first || i == second || softmax.stages.contains(&i) || self.makes_factor(i) {
                continue;
            }
            let name = || value_text(nest.cx, nest.body, stage.results[0].value);
            if stage.reduces() {
                return misfit(format!("{} is combined beside the softmax", name()));
            }
            // The largest logit of a row is known where the row's sums are.
            let known = |maker: usize| follows[i] && matches!(nest.stages[maker].combiners[..], [Combiner::Max]);
            if makers().any(|maker| softmax.stages.contains(&maker) && !known(maker)) {
                return misfit(format!("{} needs numbers from within the softmax", name()));
            }
            if follows[i] { self.after.push(i) } else { self.before.push(i) }
        }
        let leads = |value: &Value| nest.made.get(value).is_some_and(|(maker, _)| needs(nest, *maker, first));
        if !leads(&self.logits) || nest.cx.element_type(nest.body.ty(self.logits)) != Type::F32 {
            return misfit("both contract, and the softmax is of something else than f32 scores");
        }
        let late = |input: &Value| nest.made.get(input).is_some_and(|(maker, _)| self.before.contains(maker));
        match self.after.iter().find(|i| nest.stages[**i].inputs.iter().any(|a| late(&a.value))) {
            Some(i) => {
                let name = value_text(nest.cx, nest.body, nest.stages[*i].results[0].value);
                misfit(format!("{name} needs numbers from before the softmax"))
            }
            None => Ok(()),
        }
    }

    /// Units of a group share keys and values, of which a block has one for each of a unit's threads, beside queries and scores.
    ///
    /// # Errors
    /// Says what does not fit their memory.
    pub(super) fn check_memory(&self, nest: &Nest<'_>, windows: Windows) -> Fit<()> {
        let Windows::Never { bytes, threads } = windows else { return Ok(()) };
        let [depth, width] =
            [self.scores.sums[0], self.values.col()].map(|dim| nest.extents[dim].as_const().unwrap_or(0));
        let width_of_tile = u64::try_from(width).map_or(0, u64::next_power_of_two).min(WIDEST_SHARED) as i64;
        let numbers = threads * depth.max(width_of_tile) + LEAST_SHARED_ROWS * (depth + threads);
        match numbers.saturating_mul(4) <= bytes {
            true => Ok(()),
            false => misfit(format!(
                "queries and keys of {depth} numbers and values of {width} do not fit the memory that units share"
            )),
        }
    }

    fn check(&self, nest: &Nest<'_>) -> Fit<()> {
        self.check_factors(nest)?;
        for dim in [self.scores.sums[0], self.values.col()] {
            if nest.extents[dim].as_const().is_none_or(|n| n > WIDEST) {
                return misfit(format!("vectors of {} numbers are not known to be kept near", nest.extents[dim]));
            }
        }
        let parallel = [&self.scores, &self.values].map(|plan| plan.parallel().collect::<Vec<_>>());
        let parts = self.before.iter().map(|i| (i, 0)).chain(self.after.iter().map(|i| (i, 1)));
        for (&i, part) in parts {
            self.check_other(nest, i, &parallel[part], [self.key(), self.values.col()][part])?;
        }
        for (stage, write) in nest.output_writes() {
            let covered = |d: &usize| nest.is_unit(*d) || write.index.iter().any(|e| nest.plain(*e) == Some(*d));
            let behind = stage == self.values.stage || self.after.contains(&stage);
            if !behind || !parallel[1].iter().all(covered) {
                let name = value_text(nest.cx, nest.body, write.value);
                return misfit(format!("{name} is used outside, and the kernel does not write it"));
            }
        }
        Ok(())
    }

    /// What queries, keys and values are made from is computed element by element where they are brought near, each for itself.
    fn check_factors(&self, nest: &Nest<'_>) -> Fit<()> {
        let (scores, values) = (&self.scores, &self.values);
        let outer = self.outer();
        let made = [
            (&scores.left, self.query(), scores.sums[0]),
            (&scores.right, self.key(), scores.sums[0]),
            (&values.right, values.col(), self.key()),
        ];
        for (number, (stages, one, other)) in made.iter().enumerate() {
            let dims = [&outer[..], &[*one, *other]].concat();
            for i in stages.iter() {
                let stage = &nest.stages[*i];
                let name = || value_text(nest.cx, nest.body, stage.results[0].value);
                let elsewhere = |(at, (of, ..)): (usize, &(&Vec<usize>, usize, usize))| at != number && of.contains(i);
                if made.iter().enumerate().any(elsewhere) {
                    return misfit(format!("{} is a part of several factors, so it is kept in memory", name()));
                }
                if stage.reduces() || nest.needed(Some(*i)).contains(&scores.stage) || body_cost(stage.body) > CHEAP {
                    return misfit(format!("{} is read many times, so it is kept in memory", name()));
                }
                scores.check_producer(nest, stage, (&dims, &[*one, *other]))?;
            }
        }
        Ok(())
    }

    fn check_other(&self, nest: &Nest<'_>, i: usize, parallel: &[usize], col: usize) -> Fit<()> {
        let stage = &nest.stages[i];
        let name = || value_text(nest.cx, nest.body, stage.results[0].value);
        if let Some(dim) = stage.dims.iter().find(|d| !parallel.contains(d) && !nest.is_unit(**d)) {
            return misfit(format!("{} runs over {}, which the product does not", name(), nest.extents[*dim]));
        }
        let all = [col, self.query()].into_iter().all(|d| stage.dims.contains(&d));
        if !all && body_cost(stage.body) > CHEAP {
            return misfit(format!("{} would be computed anew for every tile of the product", name()));
        }
        for read in stage.inputs.iter().filter(|a| !nest.made.contains_key(&a.value)) {
            if read.oob.is_some() {
                return misfit("reads outside a tensor");
            }
            check_column_access(nest, read, col)?;
            check_column_access(nest, read, self.query())?;
        }
        Ok(())
    }
}

//! Attention regions: two contractions, of which the second takes the softmax of the first as its left factor.
//!
//! What is recognised is the shape of the nest, whatever ops it came from: scores summed over one dim, elementwise ops on
//! them, the largest score of each row, exponentials of differences to it, their sum, quotients by it or products with its reciprocal, and a product that
//! sums over the dim along which the rows ran. So the kernel keeps a tile's scores near and never writes them, after
//! FlashAttention (Dao et al., arXiv 2205.14135).

use sutura_dialects::graph::Combiner;
use sutura_ir::{Op, Type, Value};

use super::contract::{CHEAP, is_contraction};
use super::cost::{body_cost, value_text};
use super::nest::Nest;
use super::rows::check_column_access;
use super::{ContractPlan, Fit, misfit};

/// Longest vectors of queries, keys and values whose tiles are kept near.
const WIDEST: i64 = 512;

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

/// A number in a stage's function, followed to where it is computed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Number {
    /// An op in the function of a stage.
    Op(usize, Op),
    /// An element of a tensor that is read, combined, or passed on from the function of a stage.
    Tensor(Value),
}

/// Follows numbers through stages, and notes through which.
struct Follow<'n, 'a> {
    nest: &'n Nest<'a>,
    passed: Vec<usize>,
}

impl Follow<'_, '_> {
    /// Where an element of a tensor comes from.
    fn tensor(&mut self, value: Value) -> Number {
        let Some(&(stage, result)) = self.nest.made.get(&value) else { return Number::Tensor(value) };
        let made = &self.nest.stages[stage];
        if made.reduces() {
            return Number::Tensor(value);
        }
        if !self.passed.contains(&stage) {
            self.passed.push(stage);
        }
        let yielded = made.body.and_then(|body| body.terminator()).map(|end| end.operand(result));
        yielded.map_or(Number::Tensor(value), |y| self.scalar(stage, y))
    }

    /// Where a number of a stage's function comes from.
    fn scalar(&mut self, stage: usize, value: Value) -> Number {
        let of = &self.nest.stages[stage];
        match of.body.and_then(|body| body.args().iter().position(|a| *a == value)) {
            Some(input) => self.tensor(of.inputs[input].value),
            None => {
                let def = of.op.body.defining_op(value).expect("a value of a function is an argument or made in it");
                Number::Op(stage, def)
            }
        }
    }

    /// The operands of an op called `name`.
    fn operands(&mut self, number: Number, name: &str) -> Option<Vec<Number>> {
        let Number::Op(stage, op) = number else { return None };
        let op = self.nest.stages[stage].op.at(op);
        (op.name_str() == name).then(|| op.operands().map(|v| self.scalar(stage, v)).collect())
    }

    /// Power and sum of a weight, and whether it is their product after the reciprocal of the sum was taken.
    fn share(&mut self, weight: Number) -> Option<(Number, Number, bool)> {
        if let Some([power, sum]) = self.operands(weight, "arith.divf").as_deref() {
            return Some((*power, *sum, false));
        }
        let factors = self.operands(weight, "arith.mulf")?;
        (0..2).find_map(|i| {
            let [one, sum] = self.operands(factors[i], "arith.divf")?[..] else { return None };
            self.is_one(one).then_some((factors[1 - i], sum, true))
        })
    }

    fn is_one(&self, number: Number) -> bool {
        let Number::Op(stage, op) = number else { return false };
        let op = self.nest.stages[stage].op.at(op);
        let value = sutura_ir::registry::constant_value(op);
        value.is_some_and(|value| value == self.nest.cx.float_attr(1.0, op.ty(op.result(0))))
    }

    /// The stage that combines along `dim` by `combiner` to make the number.
    fn combined(&self, number: Number, combiner: Combiner, dim: usize) -> Option<usize> {
        let Number::Tensor(value) = number else { return None };
        let (stage, _) = *self.nest.made.get(&value)?;
        let made = &self.nest.stages[stage];
        (made.combiners == [combiner] && made.reduced == [dim] && made.inputs.len() == 1).then_some(stage)
    }
}

/// The parts of a softmax.
struct Softmax {
    logits: Value,
    reciprocal: bool,
    /// All stages of it.
    stages: Vec<usize>,
}

/// Finds the softmax along `dim` whose weights are `weights`.
fn softmax(nest: &Nest<'_>, weights: Value, dim: usize) -> Option<Softmax> {
    let mut follow = Follow { nest, passed: Vec::new() };
    let weight = follow.tensor(weights);
    let (power, sum, reciprocal) = follow.share(weight)?;
    let added = follow.combined(sum, Combiner::Add, dim)?;
    let yields = |stage: usize| nest.stages[stage].body?.terminator().map(|end| end.operand(0));
    if follow.scalar(added, yields(added)?) != power {
        return None;
    }
    let [difference] = follow.operands(power, "math.exp")?[..] else { return None };
    let [logit, largest] = follow.operands(difference, "arith.subf")?[..] else { return None };
    let most = follow.combined(largest, Combiner::Max, dim)?;
    // The logits are a tensor of the region: what the largest one is taken of as it is.
    if nest.stages[most].body.and_then(|b| b.args().first().copied()) != yields(most) {
        return None;
    }
    let logits = nest.stages[most].inputs[0].value;
    let mut stages = std::mem::take(&mut follow.passed);
    if follow.tensor(logits) != logit {
        return None;
    }
    let before = std::mem::take(&mut follow.passed);
    stages.extend([added, most]);
    stages.retain(|stage| !before.contains(stage));
    Some(Softmax { logits, reciprocal, stages })
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
        let Some(softmax) = softmax(nest, weights, *keys) else {
            return misfit("both contract, and what lies between is no softmax");
        };
        let mut plan = Self {
            scores,
            values,
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

    /// Every other stage stands before the softmax or after the second product.
    fn place_others(&mut self, nest: &Nest<'_>, softmax: &Softmax) -> Fit<()> {
        let (first, second) = (self.scores.stage, self.values.stage);
        let mut follows = vec![false; nest.stages.len()];
        follows[second] = true;
        for (i, stage) in nest.stages.iter().enumerate() {
            let makers = || stage.inputs.iter().filter_map(|a| nest.made.get(&a.value)).map(|(maker, _)| *maker);
            follows[i] |= makers().any(|maker| follows[maker]);
            if i == first || i == second || softmax.stages.contains(&i) {
                continue;
            }
            let name = || value_text(nest.cx, nest.body, stage.results[0].value);
            if stage.reduces() {
                return misfit(format!("{} is combined beside the softmax", name()));
            }
            if makers().any(|maker| softmax.stages.contains(&maker)) {
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

    fn check(&self, nest: &Nest<'_>) -> Fit<()> {
        for plan in [&self.scores, &self.values] {
            let stage = &nest.stages[plan.stage];
            let factors = [plan.lhs, plan.rhs].map(|i| &stage.inputs[i]);
            let own = factors.iter().filter(|a| nest.made.contains_key(&a.value)).count();
            if own > usize::from(plan.stage == self.values.stage) {
                let name = value_text(nest.cx, nest.body, stage.results[0].value);
                return misfit(format!("a factor of {name} is read many times, so it is kept in memory"));
            }
        }
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

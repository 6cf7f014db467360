//! A stage that scales what a sum adds up scales the sum instead: `sum(e / s * v)` becomes `sum(e * v) / s` where `s` is the same
//! for all that is added up.
//!
//! A sum of nothing stays 0: where there may be nothing to sum over, what the sum is scaled by is read as 1 there.

use sutura_dialects::r#dyn::Facts;
use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::graph::{Combiner, IndexOp};
use sutura_dialects::schedule::{Rewrite, StageName};
use sutura_ir::affine::AffineExpr;
use sutura_ir::{OpRef, Type, Value};

use super::contract::check_product;
use super::cost::value_text;
use super::nest::{Access, Nest, Stage};
use super::{Fit, misfit};

/// How a body depends on one of its arguments, which scales with it.
struct Scaling<'s, 'a> {
    stage: &'s Stage<'a>,
    argument: Value,
}

impl<'a> Scaling<'_, 'a> {
    fn maker(&self, value: Value) -> Option<OpRef<'a>> {
        self.stage.op.body.defining_op(value).map(|op| self.stage.op.at(op))
    }

    /// True where a value is the argument times numbers that do not depend on it, or divided by such; these are of `allowed`.
    fn scales(&self, value: Value, allowed: &dyn Fn(&Self, Value) -> bool) -> bool {
        if value == self.argument {
            return true;
        }
        let Some(op) = self.maker(value) else { return false };
        let factor = |value: Value| !self.depends(value) && allowed(self, value);
        match (op.name_str(), op.operands().collect::<Vec<_>>().as_slice()) {
            ("arith.mulf", [a, b]) => self.scales(*a, allowed) && factor(*b) || factor(*a) && self.scales(*b, allowed),
            ("arith.divf", [a, b]) => self.scales(*a, allowed) && factor(*b),
            _ => false,
        }
    }

    fn depends(&self, value: Value) -> bool {
        value == self.argument || self.maker(value).is_some_and(|op| op.operands().any(|operand| self.depends(operand)))
    }

    /// A number that is 1 where all that is read is 1: an argument, or 1 divided by one.
    fn is_one_of_ones(&self, value: Value) -> bool {
        let is_argument = |value: Value| self.stage.body.is_some_and(|body| body.args().contains(&value));
        let is_one = |op: &OpRef<'_>, value: Value| {
            let number = op.constant(value).and_then(|attr| op.cx.as_f64(attr));
            number == Some(1.0)
        };
        is_argument(value)
            || self.maker(value).is_some_and(|op| {
                let operands: Vec<Value> = op.operands().collect();
                op.name_str() == "arith.divf" && is_one(&op, operands[0]) && is_argument(operands[1])
            })
    }
}

impl Nest<'_> {
    /// Lets a sum add up what a stage scales, and the stage scale the sum. The two trade places.
    ///
    /// # Errors
    /// When that would be something else.
    pub fn hoist(&mut self, facts: &Facts, scale: &StageName, sum: &StageName) -> Fit<()> {
        let (scale_at, sum_at) = (scale.number, sum.number);
        if scale_at >= sum_at || sum_at >= self.stages.len() {
            return misfit(format!(
                "stage {scale_at} is hoisted out of stage {sum_at}, and the region has {} stages",
                self.stages.len()
            ));
        }
        let (scaled, summed) = self.hoistable(facts, scale_at, sum_at)?;
        let one = self.cx.float_attr(1.0, self.elem(&self.stages[sum_at].results[0]));
        let some = self.where_some(facts, sum_at);
        let (old_scale, old_sum) = (&self.stages[scale_at], &self.stages[sum_at]);
        let index = &old_sum.results[0].index;
        let kept = Access { index: index.clone(), ..old_scale.results[0].clone() };
        let mut sum_stage = Stage { results: vec![kept.clone()], ..old_sum.clone() };
        sum_stage.inputs[summed] = old_scale.inputs[scaled].clone();
        let mut scale_stage = Stage {
            dims: old_sum.parallel().collect(),
            iterators: vec![None; old_scale.iterators.len()],
            results: old_sum.results.clone(),
            ..old_scale.clone()
        };
        for (i, read) in scale_stage.inputs.iter_mut().enumerate() {
            if i == scaled {
                *read = kept.clone();
            } else if !some.is_empty() {
                (read.oob, read.guard) = (Some(one), some.clone());
            }
        }
        (self.stages[scale_at], self.stages[sum_at]) = (sum_stage, scale_stage);
        self.rewrites.push(Rewrite::Hoist(scale.clone(), sum.clone()));
        Ok(())
    }

    /// What must hold for a sum to have something to add up, of what is not known.
    fn where_some(&self, facts: &Facts, sum: usize) -> Vec<(AffineExpr, Poly)> {
        let extents = self.stages[sum].reduced.iter().map(|dim| &self.extents[*dim]);
        let maybe_none = extents.filter(|extent| facts.range(extent).0 < 1);
        maybe_none.map(|extent| (self.cx.affine_const(0), extent.clone())).collect()
    }

    fn elem(&self, access: &Access) -> Type {
        self.cx.element_type(self.body.ty(access.value))
    }

    /// Which input of a stage it scales, and which input of a sum that is.
    fn hoistable(&self, facts: &Facts, scale_at: usize, sum_at: usize) -> Fit<(usize, usize)> {
        let (scale, sum) = (&self.stages[scale_at], &self.stages[sum_at]);
        let name = |stage: &Stage<'_>| value_text(self.cx, self.body, stage.results[0].value);
        let plain = |stage: &Stage<'_>| {
            let one_by_one = stage.scan.is_none() && stage.joint.is_none() && stage.scatter.is_none();
            one_by_one && !stage.copy && stage.picks.is_empty() && stage.results.len() == 1
        };
        if !plain(scale) || !plain(sum) || scale.reduces() || sum.combiners != [Combiner::Add] {
            return misfit(format!("{} and {} are not a stage and a sum of what it makes", name(scale), name(sum)));
        }
        let made = &scale.results[0];
        let reads = |stage: &Stage<'_>| {
            let of_made = |(_, read): &(usize, &Access)| read.slot == made.slot;
            stage.inputs.iter().enumerate().filter(of_made).map(|(i, _)| i).collect::<Vec<_>>()
        };
        let others = self.stages.iter().enumerate().filter(|(at, _)| *at != sum_at);
        let [summed] = reads(sum)[..] else {
            return misfit(format!("{} does not read {} once", name(sum), name(scale)));
        };
        if others.map(|(_, stage)| stage).any(|stage| !reads(stage).is_empty()) || self.outputs.contains(&made.value) {
            return misfit(format!("{} is used by more than {}", name(scale), name(sum)));
        }
        if sum.inputs[summed].index != made.index || sum.inputs[summed].oob.is_some() {
            return misfit(format!("{} reads {} at other places than it is made at", name(sum), name(scale)));
        }
        let identity =
            sum.body.is_none_or(|body| body.terminator().is_some_and(|end| end.operand(0) == body.args()[0]));
        if !(identity && sum.inputs.len() == 1) && check_product(self, sum).is_err() {
            return misfit(format!("{} is no sum, and no sum of products", name(sum)));
        }
        let scaled = self.scaled(facts, scale_at, sum_at)?;
        let number = [&scale.inputs[scaled], made, &sum.results[0]].map(|access| self.elem(access));
        if !(number == [Type::F32; 3] || number == [Type::F64; 3]) {
            return misfit(format!("{} is rounded to another type than {}", name(scale), name(sum)));
        }
        let late = |read: &Access| self.maker(read).is_some_and(|maker| maker >= scale_at);
        match sum.inputs.iter().enumerate().any(|(i, read)| i != summed && late(read)) {
            true => misfit(format!("{} reads what is made behind {}", name(sum), name(scale))),
            false => Ok((scaled, summed)),
        }
    }

    /// The input that a stage scales by what is the same for all that a sum adds up.
    fn scaled(&self, facts: &Facts, scale_at: usize, sum_at: usize) -> Fit<usize> {
        let (scale, sum) = (&self.stages[scale_at], &self.stages[sum_at]);
        let differs = |read: &Access| sum.reduced.iter().any(|dim| self.mentions(read, *dim));
        let body = scale.body.filter(|body| !body.ops().any(|op| op.is::<IndexOp<'_>>()));
        let always = self.where_some(facts, sum_at).is_empty();
        let allowed = |scaling: &Scaling<'_, '_>, factor: Value| always || scaling.is_one_of_ones(factor);
        let found = body.and_then(|body| {
            let yielded = body.terminator()?.operand(0);
            (0..scale.inputs.len()).find(|i| {
                let others = || scale.inputs.iter().enumerate().filter(|(other, _)| other != i).map(|(_, read)| read);
                let same = others().all(|read| !differs(read) && (always || read.slot.is_some() && read.oob.is_none()));
                same && Scaling { stage: scale, argument: body.args()[*i] }.scales(yielded, &allowed)
            })
        });
        let name = |stage: &Stage<'_>| value_text(self.cx, self.body, stage.results[0].value);
        let message = || {
            format!("{} does not scale one number by what is the same for all that {} adds up", name(scale), name(sum))
        };
        found.map_or_else(|| misfit(message()), Ok)
    }
}

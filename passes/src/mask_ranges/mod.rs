//! `mask-ranges`: masks that show a range of each row become comparisons with its ends.
//!
//! A causal mask, a sliding window and blocks show each query the keys of one range. Where the compiler knows the mask, two numbers
//! for a row say as much as a row of truth values, and a loop over keys can have them as its bounds: the tiles outside, where a softmax
//! is 0, are left out. Kernels of attention on GPUs leave out tiles in the same way, as FlashAttention-2 does (Dao,
//! arXiv 2307.08691); here nothing asks which mask it is.

mod condition;
#[cfg(test)]
mod tests;

use sutura_dialects::r#dyn::{Facts, Poly};
use sutura_dialects::graph::build::scalar::Comparison;
use sutura_dialects::graph::build::{ComputeInput, ComputeResult, GraphBuilder};
use sutura_dialects::graph::{Combiner, ComputeForm, IteratorKind, ShapeEnv, maps};
use sutura_dialects::target::{TargetDesc, machine_in};
use sutura_ir::affine::AffineExpr;
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::diagnostics::RemarkKind;
use sutura_ir::pass::{Anchor, Pass, PassInfo, PassOptions, PassResult, PassRun, StatisticInfo};
use sutura_ir::registry::constant_value;
use sutura_ir::{Body, Context, Op, OpRef, Rewriter, Type, Value};

use crate::functions::{Remark, computes, of_each_function, say};
use crate::split_products::Recipe;
use condition::Condition;

/// `mask-ranges`
pub static MASK_RANGES: PassInfo = PassInfo {
    name: "MaskRanges",
    argument: "mask-ranges",
    summary: "Compare with the ends of what known masks show",
    description: "A `graph.compute` that chooses between a number and -inf, and of whose result the largest along one dimension is \
                  taken, as a softmax does: where the compiler knows the condition, a constant mask or comparisons of indices, each \
                  row of it shows what lies between a first and a last place. If that is less than four fifths of all rows together, \
                  the first places and those behind the last become constants, and the choice compares indices with them: in place \
                  of the condition where all between is shown, else beside it. No result changes. A loop over that dimension may \
                  then leave out what lies outside (`reach` in docs/schedules.md). Nothing changes for a device.",
    anchor: Anchor::Any,
    options: &[],
    statistics: &[StatisticInfo { name: "num-masks", description: "choices that compare with the ends of a range" }],
    create: |_: &PassOptions| Ok(Box::new(MaskRanges)),
};

struct MaskRanges;

impl Pass for MaskRanges {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let machine = machine_in(run.cx, run.body).ok().flatten().and_then(|op| TargetDesc::from_op(op).ok());
        if machine.is_some_and(|machine| machine.subgroup.is_some()) {
            return Ok(PreservedAnalyses::all());
        }
        let remarks = of_each_function(run, |cx, _, body| function(cx, body));
        let made = say(run, remarks.into_iter().flatten());
        run.count("num-masks", made);
        Ok(PreservedAnalyses::unless(made > 0))
    }
}

fn function(cx: &Context, body: &mut Body) -> Vec<Remark> {
    let mut said = Vec::new();
    let Some(entry) = body.entry_block() else { return said };
    for op in computes(cx, body, entry) {
        let view = OpRef::new(cx, body, op);
        let loc = view.loc();
        match Mask::of(view) {
            None => {}
            Some(Err(why)) => said.push((RemarkKind::Missed, loc, format!("a mask stays as it is: {why}"))),
            Some(Ok(mask)) => {
                said.push((RemarkKind::Passed, loc, mask.said()));
                mask.apply(&mut Rewriter::new(cx, body), op);
            }
        }
    }
    said
}

/// Most truth values of a mask that are looked at.
const MOST: i64 = 1 << 24;

/// What each row of a mask shows.
#[derive(PartialEq, Eq, Debug)]
struct Ranges {
    /// The first place, and that behind the last one; nothing is shown from the end to the start.
    ends: [Vec<i64>; 2],
    /// Everything between is shown in each row.
    whole: bool,
}

impl Ranges {
    fn of(rows: impl Iterator<Item = Vec<bool>>, length: usize) -> Self {
        let mut ranges = Self { ends: [Vec::new(), Vec::new()], whole: true };
        for row in rows {
            let first = row.iter().position(|shown| *shown).unwrap_or(length);
            let behind = row.iter().rposition(|shown| *shown).map_or(0, |last| last + 1);
            ranges.whole &= row.get(first..behind).is_none_or(|between| between.iter().all(|shown| *shown));
            ranges.ends[0].push(first as i64);
            ranges.ends[1].push(behind as i64);
        }
        ranges
    }

    /// Places between the ends, of all rows together.
    fn places(&self) -> i64 {
        self.ends[0].iter().zip(&self.ends[1]).map(|(first, behind)| (behind - first).max(0)).sum()
    }
}

/// A choice by a mask that the compiler knows.
struct Mask {
    /// What makes the number where something is shown: what the body makes, without the choice where the ends say all of it.
    shown: Recipe,
    inputs: Vec<(Value, Vec<AffineExpr>)>,
    iterators: Vec<IteratorKind>,
    result: ComputeResult,
    /// The dim along which a row runs.
    along: usize,
    /// The other dims in which rows of the mask differ, and their extents.
    rows: Vec<(usize, i64)>,
    length: i64,
    ranges: Ranges,
}

impl Mask {
    /// `None` for an op that is no choice between a number and -inf along which a largest number is taken.
    ///
    /// # Errors
    /// Why its mask stays.
    fn of(view: OpRef<'_>) -> Option<Result<Self, String>> {
        let form = ComputeForm::of(view)?;
        let plain =
            form.of_kind(IteratorKind::Reduce).next().is_none() && form.joint.is_none() && view.num_results() == 1;
        let yielded = form.yielded().filter(|_| plain)?.operand(0);
        let select =
            view.body.defining_op(yielded).map(|op| view.at(op)).filter(|op| op.name_str() == "arith.select")?;
        let elem = view.cx.element_type(view.ty(view.result(0)));
        let nothing = |value: Value| {
            let constant = view.body.defining_op(value).and_then(|op| constant_value(view.at(op)));
            elem.is_float(view.cx) && constant == Some(Combiner::Max.identity(view.cx, elem))
        };
        let hides = match [1, 2].map(|arm| nothing(select.operand(arm))) {
            [true, false] => true,
            [false, true] => false,
            _ => return None,
        };
        let along = largest_along(&form)?;
        Some(Self::known(&form, (select, yielded), along, hides))
    }

    fn known(
        form: &ComputeForm<'_>,
        (select, yielded): (OpRef<'_>, Value),
        along: usize,
        hides: bool,
    ) -> Result<Self, String> {
        let (view, cx) = (form.op, form.op.cx);
        let condition = Condition::of(form, select.operand(0))?;
        let extents = form.extents();
        let extent = |dim: usize| extents[dim].as_ref().and_then(Poly::as_const);
        let open = || "a size that it runs along is not known".to_owned();
        let length = extent(along).ok_or_else(open)?;
        let differ = condition.dims().into_iter().filter(|dim| *dim != along);
        let rows = differ.map(|dim| Some((dim, extent(dim)?))).collect::<Option<Vec<_>>>().ok_or_else(open)?;
        let count = rows.iter().try_fold(1, |count: i64, (_, extent)| count.checked_mul(*extent));
        let count = count.filter(|count| count.checked_mul(length).is_some_and(|all| (1..=MOST).contains(&all)));
        let count = count.ok_or("it has no element, or too many to be looked at")?;
        let row = |number: i64| {
            let row = condition.row(&place(&rows, number), (along, length));
            row.into_iter().map(|holds| (holds != 0) != hides).collect()
        };
        let ranges = Ranges::of((0..count).map(row), length as usize);
        if ranges.places().saturating_mul(5) > (count * length).saturating_mul(4) {
            return Err("it shows more than four fifths of what there is".to_owned());
        }
        let number = if ranges.whole { select.operand(if hides { 2 } else { 1 }) } else { yielded };
        let computed = "what it chooses depends on where it is computed";
        let shown = Recipe::of(form, number).filter(|_| form.sizes.is_empty()).ok_or(computed)?;
        if shown.inputs.iter().any(|input| form.oob[*input].is_some()) {
            return Err("what it chooses is read beyond a tensor".to_owned());
        }
        let read = |input: &usize| (view.operand(*input), cx.map_results(form.input_maps[*input]).to_vec());
        let inputs = shown.inputs.iter().map(read).collect();
        let result = view.result(0);
        let shape = sutura_dialects::r#dyn::attr::symbolic_shape(cx, view.ty(result)).ok_or("it has no rank")?;
        let result = ComputeResult {
            shape,
            elem: cx.element_type(view.ty(result)),
            index: cx.map_results(form.result_maps[0]).to_vec(),
            combiner: None,
        };
        Ok(Self { shown, inputs, iterators: form.iterators.clone(), result, along, rows, length, ranges })
    }

    fn said(&self) -> String {
        let all = self.ranges.ends[0].len() as i64 * self.length;
        let share = self.ranges.places() * 100 / all;
        let how = if self.ranges.whole { "says all of it" } else { "is looked at beside it" };
        format!(
            "a mask of {} rows shows {share} % of {}, and the range of each row {how}",
            self.ranges.ends[0].len(),
            self.length
        )
    }

    fn apply(self, rw: &mut Rewriter<'_>, op: Op) {
        rw.set_before(op);
        let cx = rw.cx();
        let loc = rw.body().loc(op);
        let mut g = GraphBuilder::new(rw, ShapeEnv::new(Facts::new()), loc);
        let read = |(value, index): (Value, Vec<AffineExpr>)| ComputeInput { value, index, oob: None };
        let mut inputs: Vec<ComputeInput> = self.inputs.into_iter().map(read).collect();
        let own = inputs.len();
        // An end that is everywhere that of the dim is none.
        let index: Vec<AffineExpr> = self.rows.iter().map(|(dim, _)| cx.affine_dim(*dim as u32)).collect();
        let shape: Vec<i64> = self.rows.iter().map(|(_, extent)| *extent).collect();
        let mut compared = Vec::new();
        for (ends, (trivial, how)) in
            self.ranges.ends.iter().zip([(0, Comparison::GreaterOrEqual), (self.length, Comparison::Less)])
        {
            if ends.iter().any(|end| *end != trivial) {
                let words: Vec<u64> = ends.iter().map(|end| *end as u64).collect();
                let dense = cx.dense_attr(cx.tensor_type(&shape, Type::I32, None), &words);
                let table = g.constant(dense.expect("one number for each row, of which there are some"));
                inputs.push(ComputeInput { value: table, index: index.clone(), oob: None });
                compared.push(how);
            }
        }
        let nothing = Combiner::Max.identity(cx, self.result.elem);
        let (shown, along, elem) = (self.shown, self.along, self.result.elem);
        let made = g.compute(&self.iterators, inputs, vec![self.result], |s, args| {
            let number = shown.write(s, &args[..own]);
            let key = s.index(along);
            let key = s.op("arith.index_cast", &[key], Type::I32);
            let holds = compared.iter().zip(&args[own..]).map(|(how, end)| s.compare(*how, key, *end));
            let holds: Vec<Value> = holds.collect();
            let within = holds.into_iter().reduce(|a, b| s.op("arith.andi", &[a, b], Type::I1));
            let nothing = s.constant(nothing, elem);
            vec![match within {
                Some(within) => s.select(within, number, nothing),
                None => number,
            }]
        });
        let (attrs, props) = (rw.body().attrs(op), rw.body().props(made));
        rw.set_dicts(made, props, attrs);
        let new = rw.body().result(made, 0);
        rw.replace_op(op, &[new]);
    }
}

/// The indices of row `number`.
fn place(rows: &[(usize, i64)], mut number: i64) -> Vec<(usize, i64)> {
    let mut at: Vec<(usize, i64)> = rows
        .iter()
        .rev()
        .map(|(dim, extent)| {
            let index = number % extent;
            number /= extent;
            (*dim, index)
        })
        .collect();
    at.reverse();
    at
}

/// The dim of a result along which another op takes the largest number.
fn largest_along(form: &ComputeForm<'_>) -> Option<usize> {
    let (view, cx) = (form.op, form.op.cx);
    let result = view.result(0);
    let made = cx.map_results(form.result_maps[0]);
    view.body.uses(result).find_map(|used| {
        let reader = ComputeForm::of(view.at(used.owner))?;
        if reader.combiners != [Combiner::Max] {
            return None;
        }
        let read = cx.map_results(reader.input_maps[used.index]);
        let reduced = |dim: usize| reader.iterators[dim] == IteratorKind::Reduce;
        let at = read.iter().position(|expr| maps::plain_dim(cx, *expr).is_some_and(reduced))?;
        maps::plain_dim(cx, made[at])
    })
}

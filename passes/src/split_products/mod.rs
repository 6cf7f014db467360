//! `split-products`: factors of a sum of products become tensors, so that the sum is one of products of tensors.
//!
//! A product of matrices of bytes is written as `sum((a - zero) * (b - zero))`, with conversions to wider integers in one
//! body. What multiplies tiles in registers takes tensors whose elements it multiplies as they are, and computes what they are
//! made from where it packs them ([`crate::region::ContractPlan`]). So each factor becomes an elementwise op; `stitch`
//! decides whether it joins the product's region.

mod recipe;
#[cfg(test)]
pub(crate) mod tests;

use sutura_dialects::r#dyn::{Facts, Poly};
use sutura_dialects::graph::build::{ComputeInput, ComputeResult, GraphBuilder};
use sutura_dialects::graph::{Combiner, ComputeForm, IteratorKind, ShapeEnv, maps};
use sutura_ir::affine::AffineExpr;
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::diagnostics::RemarkKind;
use sutura_ir::pass::{Anchor, Pass, PassInfo, PassOptions, PassResult, PassRun, StatisticInfo};
use sutura_ir::{Body, Context, Op, OpRef, Rewriter, Type, Value};

use crate::functions::{Remark, computes, of_each_function, say};
use crate::region::contract::NARROW;
pub(crate) use recipe::Recipe;

/// `split-products`
pub static SPLIT_PRODUCTS: PassInfo = PassInfo {
    name: "SplitProducts",
    argument: "split-products",
    summary: "Make tensors of the factors of sums of products of integers",
    description: "A `graph.compute` that sums products of 32-bit integers, of which a factor is computed from elements \
                  of one tensor (a conversion from bytes, less a zero point), becomes a sum of products of two \
                  tensors, and an elementwise op for each factor that is computed. Nothing changes in what is \
                  computed. This is done only to products of matrices: every dimension that is summed over belongs to \
                  both factors, each factor has a dimension of the result of its own, and elements are read one by \
                  one; a remark says why another sum is left.",
    anchor: Anchor::Any,
    options: &[],
    statistics: &[StatisticInfo { name: "num-split", description: "sums whose factors became tensors" }],
    create: |_: &PassOptions| Ok(Box::new(SplitProducts)),
};

struct SplitProducts;

impl Pass for SplitProducts {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let outcomes = of_each_function(run, |cx, _, body| function(cx, body));
        let split = say(run, outcomes.into_iter().flatten());
        run.count("num-split", split);
        Ok(PreservedAnalyses::unless(split > 0))
    }
}

fn function(cx: &Context, body: &mut Body) -> Vec<Remark> {
    let mut said = Vec::new();
    let Some(entry) = body.entry_block() else { return said };
    let ops = computes(cx, body, entry);
    let mut rw = Rewriter::new(cx, body);
    for op in ops {
        let view = OpRef::new(cx, rw.body(), op);
        let loc = view.loc();
        match Product::of(view) {
            None => {}
            Some(Err(why)) => {
                said.push((RemarkKind::Missed, loc, format!("factors of a sum stay in its body: {why}")));
            }
            Some(Ok(product)) => {
                let made = product.factors.iter().filter(|factor| !factor.recipe.is_plain()).count();
                let number = if made == 2 { "both factors" } else { "one factor" };
                product.apply(&mut rw, op);
                said.push((RemarkKind::Passed, loc, format!("{number} of a sum of products became tensors")));
            }
        }
    }
    said
}

/// A factor: an elementwise function of tensors.
struct Factor {
    recipe: Recipe,
    /// The op's iterators that it runs through, in the order of the tensor that it is made from.
    iterators: Vec<usize>,
    inputs: Vec<(Value, Vec<AffineExpr>)>,
}

/// A sum of products with factors that are computed.
struct Product {
    factors: [Factor; 2],
    iterators: Vec<IteratorKind>,
    extents: Vec<Option<Poly>>,
    result: ComputeResult,
}

impl Product {
    /// `None` for an op that is no sum of products of 32-bit integers, or one of tensors already.
    ///
    /// # Errors
    /// Why it is left.
    fn of(view: OpRef<'_>) -> Option<Result<Self, &'static str>> {
        let (cx, form) = (view.cx, ComputeForm::of(view)?);
        let narrow = view.attr(NARROW).is_some();
        if form.combiners != [Combiner::Add] || form.joint.is_some() || view.num_results() != 1 || narrow {
            return None;
        }
        let yielded = form.yielded()?.operand(0);
        let product =
            view.body.defining_op(yielded).map(|op| view.at(op)).filter(|op| op.name_str() == "arith.muli")?;
        let elem = cx.element_type(view.ty(view.result(0)));
        if elem != Type::I32 || view.ty(yielded) != Type::I32 {
            return None;
        }
        let recipes = [0, 1].map(|side| Recipe::of(&form, product.operand(side)));
        let [Some(left), Some(right)] = recipes else { return Some(Err("a factor depends on where it is computed")) };
        if left.is_plain() && right.is_plain() {
            return None;
        }
        Some(Self::joined(view, &form, [left, right]))
    }

    fn joined(view: OpRef<'_>, form: &ComputeForm<'_>, recipes: [Recipe; 2]) -> Result<Self, &'static str> {
        if recipes[0].inputs.iter().any(|input| recipes[1].inputs.contains(input)) {
            return Err("both factors are computed from one element");
        }
        let [left, right] = recipes;
        let factors = [Factor::of(form, left)?, Factor::of(form, right)?];
        let cx = view.cx;
        let has = |factor: &Factor, i: &usize| factor.iterators.contains(i);
        if form.of_kind(IteratorKind::Reduce).any(|i| !factors.iter().all(|f| has(f, &i))) {
            return Err("a dimension that is summed over belongs to one factor alone");
        }
        let extents = form.extents();
        let wide: Vec<usize> =
            form.of_kind(IteratorKind::Parallel).filter(|i| extents[*i] != Some(Poly::constant(1))).collect();
        let own = |a: &Factor, b: &Factor| wide.iter().any(|i| has(a, i) && !has(b, i));
        if !own(&factors[0], &factors[1]) || !own(&factors[1], &factors[0]) {
            return Err("a factor has no dimension of the result of its own");
        }
        if wide.iter().any(|i| !factors.iter().any(|f| has(f, i))) {
            return Err("the result is repeated along a dimension");
        }
        let index = cx.map_results(form.result_maps[0]).to_vec();
        let shape = sutura_dialects::r#dyn::attr::symbolic_shape(cx, view.ty(view.result(0)));
        let shape = shape.ok_or("the result has no rank")?;
        let result = ComputeResult { shape, elem: Type::I32, index, combiner: Some(Combiner::Add) };
        Ok(Self { factors, iterators: form.iterators.clone(), extents, result })
    }

    fn apply(self, rw: &mut Rewriter<'_>, op: Op) {
        rw.set_before(op);
        let loc = rw.body().loc(op);
        let mut g = GraphBuilder::new(rw, ShapeEnv::new(Facts::new()), loc);
        let inputs = self.factors.iter().map(|factor| factor.tensor(&mut g, &self.extents)).collect();
        let product = g.compute(&self.iterators, inputs, vec![self.result], |s, args| vec![s.mul(args[0], args[1])]);
        let attrs = rw.body().attrs(op);
        let props = rw.body().props(product);
        rw.set_dicts(product, props, attrs);
        let new = rw.body().result(product, 0);
        rw.replace_op(op, &[new]);
    }
}

impl Factor {
    fn of(form: &ComputeForm<'_>, recipe: Recipe) -> Result<Self, &'static str> {
        let cx = form.op.cx;
        let mut inputs = Vec::new();
        for input in &recipe.inputs {
            let map = form.input_maps[*input];
            let plain = maps::is_projection(cx, map) && !maps::mentions_sizes(cx, map);
            if form.oob[*input].is_some() || !plain {
                return Err("a factor reads otherwise than element by element");
            }
            inputs.push((form.op.operand(*input), cx.map_results(map).to_vec()));
        }
        let dims = |index: &[AffineExpr]| -> Vec<usize> {
            index.iter().filter_map(|expr| maps::plain_dim(cx, *expr)).collect()
        };
        let iterators = inputs.iter().map(|(_, index)| dims(index)).max_by_key(Vec::len).unwrap_or_default();
        if inputs.iter().any(|(_, index)| dims(index).iter().any(|i| !iterators.contains(i))) {
            return Err("a factor is computed from tensors that are spread to each other");
        }
        Ok(Self { recipe, iterators, inputs })
    }

    /// The factor as an input of the product.
    fn tensor(&self, g: &mut GraphBuilder<'_, '_>, extents: &[Option<Poly>]) -> ComputeInput {
        if let (true, [(value, index)]) = (self.recipe.is_plain(), &self.inputs[..]) {
            return ComputeInput { value: *value, index: index.clone(), oob: None };
        }
        let cx = g.cx();
        let own: Vec<AffineExpr> = (0..self.iterators.len()).map(|d| g.dim(d)).collect();
        let place = |expr: &AffineExpr| {
            let at = maps::plain_dim(cx, *expr).and_then(|i| self.iterators.iter().position(|own| *own == i));
            at.map_or(*expr, |d| own[d])
        };
        let inputs = self.inputs.iter().map(|(value, index)| ComputeInput {
            value: *value,
            index: index.iter().map(place).collect(),
            oob: None,
        });
        let inputs = inputs.collect();
        let shape = self.iterators.iter().map(|i| extents[*i].clone()).collect();
        let made = ComputeResult { shape, elem: Type::I32, index: own, combiner: None };
        let kinds = vec![IteratorKind::Parallel; self.iterators.len()];
        let op = g.compute(&kinds, inputs, vec![made], |s, args| vec![self.recipe.write(s, args)]);
        let index = self.iterators.iter().map(|i| g.dim(*i)).collect();
        ComputeInput { value: g.b.body().result(op, 0), index, oob: None }
    }
}

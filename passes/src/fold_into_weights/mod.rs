//! `fold-into-weights`: what scales the result of a product by constants is done to the product's constant factor.
//!
//! A batch normalization behind a convolution is `(y - mean) * factor + bias` with numbers of each channel, and `y` a sum of
//! products with weights of each channel. So `sum(x * w) * factor = sum(x * (w * factor))`: the weights are scaled once, when
//! the model is compiled, and one addition is left for each number. The same is true of any chain of sums, differences,
//! products and quotients with constants, over several ops (the bias of the convolution is one).
//!
//! This is `sum(x * c) = sum(x) * c` of [`crate::graph_property_rewrite`] the other way round; there the factor is computed anew in
//! each run, here it is not. So this pass comes behind that one.

mod chain;
#[cfg(test)]
mod tests;

use sutura_dialects::arith::FastMathFlags;
use sutura_dialects::r#dyn::Facts;
use sutura_dialects::r#dyn::attr::symbolic_shape;
use sutura_dialects::graph::build::{ComputeInput, ComputeResult, GraphBuilder, Scalars};
use sutura_dialects::graph::{ComputeOp, IteratorKind, ShapeEnv};
use sutura_ir::affine::AffineExpr;
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::diagnostics::RemarkKind;
use sutura_ir::pass::{
    Anchor, OptionInfo, OptionKind, Pass, PassInfo, PassOptions, PassResult, PassRun, StatisticInfo,
};
use sutura_ir::{Block, Body, Context, Loc, Op, OpRef, Rewriter, Type, Value};

use crate::functions::of_each_function;
use crate::graph_property_rewrite::{Grown, Inputs, allowed_flags, clean, missing_flags};
use chain::{Chain, Kind, Term};

/// `fold-into-weights`
pub static FOLD_INTO_WEIGHTS: PassInfo = PassInfo {
    name: "FoldIntoWeights",
    argument: "fold-into-weights",
    summary: "Scale constant weights instead of the results of products",
    description: "Behind a sum of products of `f32` or `f64` with a constant factor, a convolution or a product of \
                  matrices, a chain of sums, differences, products and quotients with constants that do not vary but along \
                  dimensions of that factor becomes at most one sum: the constant factor is multiplied by the chain's \
                  factors when the model is compiled, and the chain's offset is a constant. So a batch \
                  normalization goes into the convolution before it. Needs `fast-math` with `reassoc` and `nsz`, and `arcp` \
                  where the chain divides. Remarks say what each chain cost before and after, and what is left and why.",
    anchor: Anchor::Any,
    options: &[OptionInfo {
        name: "fast-math",
        kind: OptionKind::List,
        default: "",
        help: "what is allowed, as for `graph-property-rewrite`",
    }],
    statistics: &[StatisticInfo { name: "num-folded", description: "chains that went into weights" }],
    create: |options: &PassOptions| Ok(Box::new(FoldIntoWeights { allowed: allowed_flags(options)? })),
};

struct FoldIntoWeights {
    allowed: FastMathFlags,
}

type Remark = (RemarkKind, Loc, String);

impl Pass for FoldIntoWeights {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let outcomes = of_each_function(run, |cx, _, body| self.function(cx, body));
        let mut folded = 0;
        for (kind, loc, text) in outcomes.into_iter().flatten() {
            match kind {
                RemarkKind::Passed => {
                    folded += 1;
                    run.passed(loc, text);
                }
                _ => run.missed(loc, text),
            }
        }
        run.count("num-folded", folded);
        Ok(PreservedAnalyses::unless(folded > 0))
    }
}

impl FoldIntoWeights {
    fn function(&self, cx: &Context, body: &mut Body) -> Vec<Remark> {
        let mut said = Vec::new();
        let Some(entry) = body.entry_block() else { return said };
        let is_compute = |op: &Op| OpRef::new(cx, body, *op).is::<ComputeOp<'_>>();
        let ops: Vec<Op> = body.ops(entry).filter(is_compute).collect();
        let mut rw = Rewriter::new(cx, body);
        for op in ops {
            if !rw.body().is_live(op) {
                continue;
            }
            let view = OpRef::new(cx, rw.body(), op);
            let loc = view.loc();
            let Some(chain) = Chain::of(view) else { continue };
            let needs = chain.needs();
            if !self.allowed.has(needs) {
                let missing = missing_flags(needs, self.allowed).join("`, `");
                let text =
                    format!("a chain of constants stays behind its product: it needs the fast-math flags `{missing}`");
                said.push((RemarkKind::Missed, loc, text));
                continue;
            }
            let text = chain.gain();
            if apply(&mut rw, &chain, entry).is_some() {
                said.push((RemarkKind::Passed, loc, text));
            }
        }
        said
    }
}

/// Scales the weights, and adds what is left behind the product.
fn apply(rw: &mut Rewriter<'_>, chain: &Chain, entry: Block) -> Option<()> {
    let cx = rw.cx();
    let (product, last) = (chain.product, chain.last);
    let loc = rw.body().loc(product);
    let result = rw.body().result(product, 0);
    let shape = symbolic_shape(cx, rw.body().ty(result))?;
    rw.set_before(product);
    let mut g = GraphBuilder::new(rw, ShapeEnv::new(Facts::new()), loc);
    let factor = constants(&mut g, chain, &shape, factor);
    let offset = chain.has_offset().then(|| constants(&mut g, chain, &shape, offset));
    let weights = scaled(&mut g, chain, factor);
    rw.set_operand(product, chain.weights, weights);
    // The last op of the chain reads the product, and its offset.
    let (op, x, end) = (last.op, last.input, last.end);
    rw.set_operand(op, x, result);
    let view = OpRef::new(cx, rw.body(), op);
    let block = view.body.regions(op).next().and_then(|region| view.body.blocks(region).next())?;
    let arg = rw.body().block_args(block)[x];
    let new = match offset {
        None => arg,
        Some(offset) => {
            let index: Vec<AffineExpr> = chain.dims.iter().map(|d| cx.affine_dim(*d as u32)).collect();
            let offset = Grown { op, block }.read(rw, &(offset, index));
            let behind = rw.body().defining_op(end)?;
            rw.set_after(behind);
            Scalars::new(rw, loc).add(arg, offset)
        }
    };
    rw.replace_all_uses(end, new);
    clean(rw, entry, op);
    Some(())
}

/// What `number` makes of the chain's terms, at the dimensions along which they vary.
fn constants(
    g: &mut GraphBuilder<'_, '_>,
    chain: &Chain,
    shape: &[Option<sutura_dialects::r#dyn::Poly>],
    number: fn(&mut Scalars<'_, '_>, &[Term], &[Value], Type) -> Value,
) -> Value {
    let elem = chain.elem;
    let place = |d: usize| chain.dims.iter().position(|own| *own == d).expect("it is one of the chain's");
    let inputs: Vec<ComputeInput> = chain
        .terms
        .iter()
        .flat_map(|term| &term.inputs)
        .map(|(value, dims)| {
            let index = dims.iter().map(|d| d.map_or_else(|| g.cx().affine_const(0), |d| g.dim(place(d)))).collect();
            ComputeInput { value: *value, index, oob: None }
        })
        .collect();
    let sizes = chain.dims.iter().map(|d| shape[*d].clone()).collect();
    let made = ComputeResult { shape: sizes, elem, index: g.dims(0..chain.dims.len()), combiner: None };
    let kinds = vec![IteratorKind::Parallel; chain.dims.len()];
    let op = g.compute(&kinds, inputs, vec![made], |s, args| vec![number(s, &chain.terms, args, elem)]);
    g.b.body().result(op, 0)
}

/// Each term with its number.
fn numbers<'t>(s: &mut Scalars<'_, '_>, terms: &'t [Term], args: &[Value]) -> Vec<(&'t Term, Value)> {
    let mut from = 0;
    let mut made = Vec::new();
    for term in terms {
        let own = &args[from..from + term.inputs.len()];
        from += term.inputs.len();
        made.push((term, term.recipe.write(s, own)));
    }
    made
}

/// What the chain multiplies its number by.
fn factor(s: &mut Scalars<'_, '_>, terms: &[Term], args: &[Value], elem: Type) -> Value {
    let mut all = s.number(1.0, elem);
    for (term, number) in numbers(s, terms, args) {
        all = match term.kind {
            Kind::Add | Kind::Sub => all,
            Kind::From => s.neg(all),
            Kind::Mul => s.mul(all, number),
            Kind::Div => s.div(all, number),
        };
    }
    all
}

/// What the chain makes of 0.
fn offset(s: &mut Scalars<'_, '_>, terms: &[Term], args: &[Value], elem: Type) -> Value {
    let mut all = s.number(0.0, elem);
    for (term, number) in numbers(s, terms, args) {
        all = match term.kind {
            Kind::Add => s.add(all, number),
            Kind::Sub => s.sub(all, number),
            Kind::From => s.sub(number, all),
            Kind::Mul => s.mul(all, number),
            Kind::Div => s.div(all, number),
        };
    }
    all
}

/// The weights times the factor of each of their dimensions that is one of the result.
fn scaled(g: &mut GraphBuilder<'_, '_>, chain: &Chain, factor: Value) -> Value {
    let weights = chain.weights_value;
    let (shape, rank) = (g.shape(weights), g.rank(weights));
    let own = g.dims(0..rank);
    let at = chain.places.iter().map(|d| own[*d]).collect();
    let inputs = vec![
        ComputeInput { value: weights, index: own.clone(), oob: None },
        ComputeInput { value: factor, index: at, oob: None },
    ];
    let made = ComputeResult { shape, elem: chain.elem, index: own, combiner: None };
    let kinds = vec![IteratorKind::Parallel; rank];
    let op = g.compute(&kinds, inputs, vec![made], |s, args| vec![s.mul(args[0], args[1])]);
    g.b.body().result(op, 0)
}

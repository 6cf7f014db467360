//! `fold-into-weights`: what scales the result of a product by constants is done to the product's constant factor.
//!
//! A batch normalization behind a convolution is `(y - mean) * factor + bias` with numbers of each channel, and `y` a sum of
//! products with weights of each channel. So `sum(x * w) * factor = sum(x * (w * factor))`: the weights are scaled once, when
//! the model is compiled, and one addition is left for each number. The same is true of any chain of sums, differences,
//! products and quotients with constants, over several ops (the bias of the convolution is one).
//!
//! Between the product and the chain its numbers may be moved: what a transposed convolution made is turned, gets another shape and
//! loses its margins.
//!
//! This is `sum(x * c) = sum(x) * c` of [`crate::graph_property_rewrite`] the other way round; there the factor is computed anew in
//! each run, here it is not. So this pass comes behind that one.

mod chain;
mod place;
#[cfg(test)]
mod tests;
mod weights;

use sutura_dialects::arith::FastMathFlags;
use sutura_dialects::r#dyn::Facts;
use sutura_dialects::r#dyn::attr::symbolic_shape;
use sutura_dialects::graph::build::{ComputeInput, ComputeResult, GraphBuilder, Scalars};
use sutura_dialects::graph::{ComputeForm, IteratorKind, ShapeEnv, SymShape};
use sutura_ir::affine::AffineExpr;
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::diagnostics::RemarkKind;
use sutura_ir::pass::{
    Anchor, OptionInfo, OptionKind, Pass, PassInfo, PassOptions, PassResult, PassRun, StatisticInfo,
};
use sutura_ir::{Attr, Block, Body, Context, Op, OpRef, Rewriter, Type, Value};

use crate::constants::evaluate;
use crate::functions::{Remark, computes, of_each_function, say};
use crate::graph_property_rewrite::{Grown, Inputs, allowed_flags, clean, missing_flags};
use chain::{Chain, Kind, Last, Term};

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
                  where the chain divides. A factor must lie between 2^-63 and 2^63, so only weights beyond 2^64 may become infinite. Remarks say what each chain cost before and after, and what is left and why.",
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

impl Pass for FoldIntoWeights {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let outcomes = of_each_function(run, |cx, _, body| self.function(cx, body));
        let folded = say(run, outcomes.into_iter().flatten());
        run.count("num-folded", folded);
        Ok(PreservedAnalyses::unless(folded > 0))
    }
}

impl FoldIntoWeights {
    fn function(&self, cx: &Context, body: &mut Body) -> Vec<Remark> {
        let mut said = Vec::new();
        let Some(entry) = body.entry_block() else { return said };
        let ops = computes(cx, body, entry);
        let mut rw = Rewriter::new(cx, body);
        for op in ops {
            if !rw.body().is_live(op) {
                continue;
            }
            let loc = rw.body().loc(op);
            match self.product(&mut rw, op, entry) {
                None => {}
                Some(Ok(text)) => said.push((RemarkKind::Passed, loc, text)),
                Some(Err(why)) => {
                    let text = format!("a chain of constants stays behind its product: {why}");
                    said.push((RemarkKind::Missed, loc, text));
                }
            }
        }
        said
    }

    /// `None` for an op that is no product, or that no chain scales.
    fn product(&self, rw: &mut Rewriter<'_>, op: Op, entry: Block) -> Option<Result<String, String>> {
        let chain = match Chain::of(OpRef::new(rw.cx(), rw.body(), op))? {
            Ok(chain) => chain,
            Err(why) => return Some(Err(why.to_string())),
        };
        let needs = chain.needs();
        if !self.allowed.has(needs) {
            let missing = missing_flags(needs, self.allowed).join("`, `");
            return Some(Err(format!("it needs the fast-math flags `{missing}`")));
        }
        Some(Numbers::of(OpRef::new(rw.cx(), rw.body(), op), &chain).map_err(str::to_string).map(|numbers| {
            apply(rw, &chain, numbers, entry);
            chain.gain()
        }))
    }
}

/// What a chain multiplies a product by, and adds to it.
struct Numbers {
    /// Of the dimensions of the weights.
    factor: Attr,
    /// Of the chain's dimensions.
    offset: Option<Attr>,
}

/// Factors beyond this, or below its reciprocal, might make weights infinite that were not, or lose their bits.
const MOST: f64 = (1u64 << 63) as f64;

impl Numbers {
    /// # Errors
    /// Why they are no constants to compute with.
    fn of(view: OpRef<'_>, chain: &Chain) -> Result<Self, &'static str> {
        let (cx, body) = (view.cx, view.body);
        let (whole, weights) =
            (symbolic_shape(cx, body.ty(chain.tensor)), symbolic_shape(cx, body.ty(chain.weights.value)));
        let (Some(whole), Some(weights)) = (whole, weights) else { return Err("its sizes are unknown") };
        let sizes: SymShape = chain.dims.iter().map(|d| whole[*d].clone()).collect();
        let split: SymShape = chain.places.iter().flatten().map(|d| weights[*d].clone()).collect();
        let inputs: Vec<Value> = chain.terms.iter().flat_map(|term| &term.inputs).map(|(value, _)| *value).collect();
        let has_offset = chain.has_offset();
        let made = evaluate(cx, body, &inputs, |g, inputs| {
            let factor = constants(g, chain, inputs, &sizes, factor);
            let factor = g.reshape_to(factor, &split).unwrap_or(factor);
            let offset = has_offset.then(|| constants(g, chain, inputs, &sizes, offset));
            std::iter::once(factor).chain(offset).collect()
        });
        let made = made.ok_or("its constants cannot be computed when the model is compiled")?;
        let fits = |f: f64| f == 0.0 || (1.0 / MOST..=MOST).contains(&f.abs());
        if !all(cx, made[0], &fits) {
            return Err("a factor of it is no number, or too large or small to scale weights by");
        }
        if made.get(1).is_some_and(|offset| !all(cx, *offset, &f64::is_finite)) {
            return Err("it adds what is not finite");
        }
        Ok(Self { factor: made[0], offset: made.get(1).copied() })
    }
}

/// Whether all numbers of a constant are such.
fn all(cx: &Context, constant: Attr, fits: &dyn Fn(f64) -> bool) -> bool {
    let Ok(value) = sutura_interp::constant::constant(cx, constant) else { return false };
    let Ok(tensor) = value.tensor() else { return false };
    let data = tensor.data();
    (0..data.len()).all(|i| data.get(i).is_some_and(|number| number.as_f64().is_some_and(fits)))
}

/// Scales the weights, and adds what is left behind the product.
fn apply(rw: &mut Rewriter<'_>, chain: &Chain, numbers: Numbers, entry: Block) {
    let cx = rw.cx();
    let (product, last) = (chain.product, chain.last);
    let loc = rw.body().loc(product);
    // Weights may be made between the product and the end of the chain, and the offset is made here.
    for op in std::iter::once(product).chain(chain.moves.iter().copied()) {
        rw.move_before(op, last.op);
    }
    rw.set_before(product);
    let mut g = GraphBuilder::new(rw, ShapeEnv::new(Facts::new()), loc);
    let factor = g.constant(numbers.factor);
    let offset = numbers.offset.map(|offset| g.constant(offset));
    let weights = scaled(&mut g, chain, factor);
    rw.set_operand(product, chain.weights.input, weights);
    // The last op of the chain reads the product, and its offset.
    let Last { op, input, end } = last;
    rw.set_operand(op, input, chain.tensor);
    let arg_of = |rw: &Rewriter<'_>| {
        let form = ComputeForm::of(OpRef::new(cx, rw.body(), op)).expect("the op has been read");
        (form.body.block, form.body.args()[input])
    };
    let (block, arg) = arg_of(rw);
    let new = match offset {
        None => arg,
        Some(offset) => {
            let index: Vec<AffineExpr> = chain.dims.iter().map(|d| cx.affine_dim(*d as u32)).collect();
            let offset = Grown { op, block }.read(rw, &(offset, index));
            rw.set_after_value(end);
            Scalars::new(rw, loc).add(arg, offset)
        }
    };
    rw.replace_all_uses(end, new);
    clean(rw, entry, op);
}

/// What `number` makes of the chain's terms, at the dimensions along which they vary.
fn constants(
    g: &mut GraphBuilder<'_, '_>,
    chain: &Chain,
    inputs: &[Value],
    sizes: &SymShape,
    number: fn(&mut Scalars<'_, '_>, &[Term], &[Value], Type) -> Value,
) -> Value {
    let elem = chain.elem;
    let place = |d: usize| chain.dims.iter().position(|own| *own == d).expect("it is one of the chain's");
    let read = chain.terms.iter().flat_map(|term| &term.inputs).zip(inputs);
    let inputs: Vec<ComputeInput> = read
        .map(|((_, dims), value)| {
            let index = dims.iter().map(|d| d.map_or_else(|| g.cx().affine_const(0), |d| g.dim(place(d)))).collect();
            ComputeInput { value: *value, index, oob: None }
        })
        .collect();
    let made = ComputeResult { shape: sizes.clone(), elem, index: g.dims(0..sizes.len()), combiner: None };
    let kinds = vec![IteratorKind::Parallel; sizes.len()];
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
    let weights = chain.weights.value;
    let (shape, rank) = (g.shape(weights), g.rank(weights));
    let own = g.dims(0..rank);
    let at = chain.places.iter().flatten().map(|d| own[*d]).collect();
    let inputs = vec![
        ComputeInput { value: weights, index: own.clone(), oob: None },
        ComputeInput { value: factor, index: at, oob: None },
    ];
    let made = ComputeResult { shape, elem: chain.elem, index: own, combiner: None };
    let kinds = vec![IteratorKind::Parallel; rank];
    let op = g.compute(&kinds, inputs, vec![made], |s, args| vec![s.mul(args[0], args[1])]);
    g.b.body().result(op, 0)
}

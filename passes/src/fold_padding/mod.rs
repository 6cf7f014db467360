//! `fold-padding`: what combines elements of a padded tensor reads the tensor itself, and beyond it the number that it was padded with.
//!
//! Frameworks that pad "same" write a padding before a convolution or a pool. As an op of its own it copies the tensor; as a part of the
//! read it costs what the convolution's own padding costs. A convolution that pads as well keeps one padding of both where they have
//! one number. Places of a window that read nothing but the padding are left out then.

mod places;

use sutura_dialects::r#dyn::Facts;
use sutura_dialects::r#dyn::attr::{shape_attr, symbolic_shape};
use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::graph::{ComputeForm, is_dispensable, maps, needless_oob};
use sutura_ir::affine::AffineExpr;
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::diagnostics::{Diagnostic, RemarkKind};
use sutura_ir::pass::{Anchor, Pass, PassInfo, PassOptions, PassResult, PassRun, StatisticInfo};
use sutura_ir::{Attr, BlockRef, Body, Context, Op, OpRef, Rewriter, Value};

use self::places::Places;
use crate::functions::{Remark, computes, of_each_function, say};
use crate::region::cost::value_text;

/// `fold-padding`
pub static FOLD_PADDING: PassInfo = PassInfo {
    name: "FoldPadding",
    argument: "fold-padding",
    summary: "Make paddings a part of the reads of what combines elements",
    description: "A `graph.compute` that copies a tensor, with a number around it, goes where all that reads it are \
                  `graph.compute`s that combine elements, convolutions and pools among them: each of them reads the tensor, \
                  and has the number as its `oob` value. One that has an `oob` value of its own must have the same number, \
                  and the padding may cut nothing off. A remark says why another padding stays. Places of a window that read \
                  nothing but zeros around a tensor, for all results, are left out of a sum of products with finite constant \
                  weights: a padded 3x3 convolution of a map of one place is a product.",
    anchor: Anchor::Any,
    options: &[],
    statistics: &[
        StatisticInfo { name: "num-folded", description: "paddings that became a part of reads" },
        StatisticInfo { name: "num-narrowed", description: "windows that lost places" },
    ],
    create: |_: &PassOptions| Ok(Box::new(FoldPadding)),
};

struct FoldPadding;

impl Pass for FoldPadding {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let outcomes = of_each_function(run, |cx, _, body| {
            let folded = function(cx, body)?;
            Ok((folded, narrow(cx, body)))
        });
        let (mut folded, mut narrowed) = (0, 0);
        for outcome in outcomes {
            let (paddings, windows) = outcome.map_err(|diagnostic| run.diags.report(diagnostic))?;
            folded += say(run, paddings);
            narrowed += say(run, windows);
        }
        run.count("num-folded", folded);
        run.count("num-narrowed", narrowed);
        Ok(PreservedAnalyses::unless(folded + narrowed > 0))
    }
}

/// Folds the paddings of a function, the last first, so that of two that follow each other both go.
///
/// # Errors
/// With a diagnostic, when what is stated of sizes contradicts itself.
fn function(cx: &Context, body: &mut Body) -> Result<Vec<Remark>, Diagnostic> {
    let Some(block) = body.entry_block() else { return Ok(vec![]) };
    let facts = Facts::of_block(BlockRef { cx, body, block }).map_err(|(op, contradiction)| op.error(contradiction))?;
    let mut said = Vec::new();
    let mut rw = Rewriter::new(cx, body);
    for op in computes(cx, rw.body(), block).into_iter().rev() {
        let view = OpRef::new(cx, rw.body(), op);
        let Some(padding) = Padding::of(view, &facts) else { continue };
        let (loc, name) = (view.loc(), value_text(cx, rw.body(), view.result(0)));
        match padding.readers(view) {
            Ok(readers) => {
                readers.into_iter().for_each(|reader| padding.fold_into(&mut rw, reader));
                rw.erase_op(op);
                said.push((RemarkKind::Passed, loc, format!("{name} is no tensor: what reads it pads")));
            }
            Err(why) => said.push((RemarkKind::Missed, loc, format!("{name} stays a tensor that is padded: {why}"))),
        }
    }
    Ok(said)
}

/// Leaves out places of windows that read nothing but the padding.
fn narrow(cx: &Context, body: &mut Body) -> Vec<Remark> {
    let Some(block) = body.entry_block() else { return vec![] };
    let mut said = Vec::new();
    let mut rw = Rewriter::new(cx, body);
    for op in computes(cx, rw.body(), block) {
        while let Some(places) = Places::of(OpRef::new(cx, rw.body(), op)) {
            let loc = rw.body().loc(op);
            if !places.leave_out(&mut rw, op) {
                let why = "its weights are not known to be finite";
                said.push((
                    RemarkKind::Missed,
                    loc,
                    format!("a window keeps places that read the padding alone: {why}"),
                ));
                break;
            }
            said.push((RemarkKind::Passed, loc, places.said()));
        }
    }
    said
}

/// A copy of a tensor with a number around it.
struct Padding {
    source: Value,
    /// Where an element of the padded tensor lies in the source.
    index: Vec<AffineExpr>,
    sizes: Vec<Poly>,
    number: Attr,
    /// Nothing of the source is cut off.
    whole: bool,
}

impl Padding {
    fn of(view: OpRef<'_>, facts: &Facts) -> Option<Self> {
        let (cx, form) = (view.cx, ComputeForm::of(view)?);
        if form.inputs().len() != 1 || form.results().len() != 1 || form.has_reduction() || form.joint.is_some() {
            return None;
        }
        let number = form.oob[0]?;
        let copies = form.yielded()?.operand(0) == form.body.args()[0];
        let rank = form.iterators.len();
        let written = cx.map_results(form.result_maps[0]);
        let in_order = written.len() == rank && (0..rank).all(|d| maps::plain_dim(cx, written[d]) == Some(d));
        let index = cx.map_results(form.input_maps[0]).to_vec();
        if !copies || !in_order || index.len() != rank {
            return None;
        }
        let shape = |value: Value| symbolic_shape(cx, view.ty(value)).unwrap_or_default();
        let (inner, outer) = (shape(view.operand(0)), shape(view.result(0)));
        let mut whole = true;
        for (d, expr) in index.iter().enumerate() {
            let linear = maps::linear(cx, *expr, rank)?;
            if !(0..rank).all(|other| linear.factors[other] == i64::from(other == d)) {
                return None;
            }
            let symbols = linear.symbols.iter().map(|(symbol, factor)| form.sizes[*symbol].scale(*factor));
            let moved = symbols.fold(Poly::constant(linear.constant), |sum, term| sum.add(&term));
            let behind = inner.get(d).cloned().flatten().zip(outer.get(d).cloned().flatten());
            let behind = behind.map(|(inner, outer)| outer.add(&moved).sub(&inner));
            whole &= facts.range(&moved).1 <= 0 && behind.is_some_and(|behind| facts.range(&behind).0 >= 0);
        }
        Some(Self { source: view.operand(0), index, sizes: form.sizes.clone(), number, whole })
    }

    /// What reads the padded tensor, and as which of its inputs; or why one cannot pad.
    fn readers(&self, view: OpRef<'_>) -> Result<Vec<(Op, usize)>, String> {
        let mut readers: Vec<(Op, usize)> = Vec::new();
        for used in view.body.uses(view.result(0)) {
            let reader = view.at(used.owner);
            let form = ComputeForm::of(reader).filter(|_| reader.is::<sutura_dialects::graph::ComputeOp<'_>>());
            let Some(form) = form else { return Err(format!("'{}' reads it", reader.name_str())) };
            if !form.has_reduction() {
                return Err("an operation that combines nothing reads it".to_owned());
            }
            match form.oob[used.index] {
                Some(other) if other != self.number => {
                    return Err("what reads it reads another number around it".to_owned());
                }
                Some(_) if !self.whole => {
                    return Err("what reads it pads as well, and a part of the tensor is cut off between".to_owned());
                }
                _ => {}
            }
            // Each of two reads may be all that says how far the other one runs.
            if readers.iter().any(|(op, _)| *op == reader.op) {
                return Err("one operation reads it twice".to_owned());
            }
            if !is_dispensable(reader, used.index) {
                return Err("nothing else says how far what reads it runs".to_owned());
            }
            readers.push((reader.op, used.index));
        }
        if readers.is_empty() { Err("nothing reads it".to_owned()) } else { Ok(readers) }
    }

    /// Lets an op read the source as one of its inputs.
    fn fold_into(&self, rw: &mut Rewriter<'_>, (op, input): (Op, usize)) {
        let cx = rw.cx();
        let view = OpRef::new(cx, rw.body(), op);
        let Some(form) = ComputeForm::of(view) else { return };
        let mut sizes = form.sizes.clone();
        let own = sizes.len() as u32;
        sizes.extend(self.sizes.iter().cloned());
        let read = cx.map_results(form.input_maps[input]).to_vec();
        let index: Vec<AffineExpr> = self
            .index
            .iter()
            .map(|expr| {
                let expr = maps::replace_symbols(cx, *expr, &|symbol| cx.affine_symbol(own + symbol as u32));
                maps::replace_dims(cx, expr, &|d| read[d])
            })
            .collect();
        let (dims, symbols) = (form.iterators.len() as u32, sizes.len() as u32);
        let all = form.input_maps.iter().chain(&form.result_maps).enumerate();
        let maps: Vec<Attr> = all
            .map(|(i, map)| {
                let results = if i == input { index.clone() } else { cx.map_results(*map).to_vec() };
                cx.affine_map_attr(cx.affine_map(dims, symbols, &results))
            })
            .collect();
        let mut oob: Vec<Attr> = form.oob.iter().map(|number| number.unwrap_or(Attr::UNIT)).collect();
        oob[input] = self.number;
        rw.set_operand(op, input, self.source);
        rw.set_prop(op, "maps", Some(cx.array_attr(&maps)));
        rw.set_prop(op, "sizes", (!sizes.is_empty()).then(|| shape_attr(cx, &sizes)));
        rw.set_prop(op, "oob", Some(cx.array_attr(&oob)));
        // What was cut off may be all that was padded.
        if needless_oob(OpRef::new(cx, rw.body(), op)).contains(&input) {
            oob[input] = Attr::UNIT;
            let some = oob.iter().any(|number| *number != Attr::UNIT);
            rw.set_prop(op, "oob", some.then(|| cx.array_attr(&oob)));
        }
    }
}

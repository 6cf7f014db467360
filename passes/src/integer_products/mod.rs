//! `integer-products`: sums of products of dequantized numbers become sums of products of the stored integers.
//!
//! A quantised model stands as `quantize(f(sum(dequantize(x) * dequantize(w))))`. Scales do not vary along what is summed
//! over, so `sum((x - zx) sx (w - zw) sw) = sx sw sum((x - zx) (w - zw))`, and the sum is one of integers: exact, and of
//! elements of a quarter of the size. What follows (bias, activation, the next quantization) is elementwise and joins the
//! product's region in `stitch`: this is the requantisation.
//!
//! When does every bit stay? When the floats were exact too: scales are powers of two, and no sum exceeds 2^24, the integers
//! that f32 holds. Otherwise the sum of floats rounds at every step and that of integers once at the end, which is nearer to
//! the sum of the numbers that the model means, but not the same bits: that must be allowed.

mod dequantized;
#[cfg(test)]
mod tests;

use sutura_dialects::r#dyn::attr::{symbolic_shape, tensor_of};
use sutura_dialects::r#dyn::{Facts, Poly};
use sutura_dialects::elements::scalar_type;
use sutura_dialects::graph::build::{ComputeInput, ComputeResult, GraphBuilder, Scalars};
use sutura_dialects::graph::{Combiner, ComputeForm, IteratorKind, ShapeEnv, maps};
use sutura_ir::affine::AffineExpr;
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::diagnostics::{Diagnostic, RemarkKind};
use sutura_ir::pass::{
    Anchor, OptionInfo, OptionKind, Pass, PassInfo, PassOptions, PassResult, PassRun, StatisticInfo,
};
use sutura_ir::{Attr, BlockRef, Body, Context, Op, OpRef, Rewriter, Type, Value};

use crate::functions::{Remark, computes, of_each_function, say};
use dequantized::{Dequantized, Element, Scale, Zero};

/// `integer-products`
pub static INTEGER_PRODUCTS: PassInfo = PassInfo {
    name: "IntegerProducts",
    argument: "integer-products",
    summary: "Multiply quantized numbers as the integers that are stored",
    description: "A `graph.compute` that sums products of two tensors which elementwise ops dequantize, `(x - zero) * \
                  scale` with stored integers of at most 16 bits, sums products of the differences in 32 bits, and an op \
                  behind it multiplies by the scales. Scales must not vary along what is summed over, and no sum may \
                  exceed 32 bits at any size. Where the input is read outside its tensor (padding), its zero point must \
                  be a constant: that is read there. Every bit stays where all scales are powers of two and no sum \
                  exceeds 2^24; this is always done. With `allow-rounding` it is also done where the sum of floats was \
                  rounded: then results differ by rounding, and if scales are computed also where they are NaN, \
                  infinite, or so small that numbers vanish. Remarks say what was done, what was left, and why.",
    anchor: Anchor::Any,
    options: &[OptionInfo {
        name: "allow-rounding",
        kind: OptionKind::Bool,
        default: "false",
        help: "also where results differ by rounding",
    }],
    statistics: &[StatisticInfo { name: "num-products", description: "products that became products of integers" }],
    create: |options: &PassOptions| Ok(Box::new(IntegerProducts { rounding: options.bool("allow-rounding") })),
};

struct IntegerProducts {
    rounding: bool,
}

impl Pass for IntegerProducts {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let outcomes = of_each_function(run, |cx, _, body| self.function(cx, body));
        let mut made = 0;
        for outcome in outcomes {
            let remarks = outcome.map_err(|diagnostic| run.diags.report(diagnostic))?;
            made += say(run, remarks);
        }
        run.count("num-products", made);
        Ok(PreservedAnalyses::unless(made > 0))
    }
}

impl IntegerProducts {
    /// # Errors
    /// With a diagnostic, when what is stated of sizes contradicts itself.
    fn function(&self, cx: &Context, body: &mut Body) -> Result<Vec<Remark>, Diagnostic> {
        let mut said = Vec::new();
        let Some(entry) = body.entry_block() else { return Ok(said) };
        let facts = Facts::of_block(BlockRef { cx, body, block: entry });
        let facts = facts.map_err(|(op, contradiction)| op.error(contradiction))?;
        let ops = computes(cx, body, entry);
        let mut rw = Rewriter::new(cx, body);
        for op in ops {
            let view = OpRef::new(cx, rw.body(), op);
            let loc = view.loc();
            let Some(product) = Product::of(view) else { continue };
            match product.check(cx, &facts, self.rounding) {
                Err(why) => {
                    said.push((
                        RemarkKind::Missed,
                        loc,
                        format!("a product of quantized numbers stays one of floats: {why}"),
                    ));
                }
                Ok(how) => {
                    let [a, b] = [0, 1].map(|i| cx.bit_width(product.factors[i].elem).unwrap_or(32));
                    let text = format!(
                        "a product of quantized numbers becomes one of integers: factors of 32 bits become ones of {a} and {b}; {how}"
                    );
                    if product.apply(&mut rw, op).is_none() {
                        continue;
                    }
                    said.push((RemarkKind::Passed, loc, text));
                }
            }
        }
        Ok(said)
    }
}

/// A sum of products of dequantized numbers.
struct Product {
    factors: [Dequantized; 2],
    /// What each factor reads outside its tensor.
    outside: [Option<Attr>; 2],
    iterators: Vec<IteratorKind>,
    extents: Vec<Option<Poly>>,
    result_index: Vec<AffineExpr>,
}

impl Product {
    fn of(view: OpRef<'_>) -> Option<Self> {
        let (cx, form) = (view.cx, ComputeForm::of(view)?);
        let one = view.num_results() == 1 && view.num_operands() == 2 && form.joint.is_none();
        if !one || form.combiners != [Combiner::Add] || cx.element_type(view.ty(view.result(0))) != Type::F32 {
            return None;
        }
        let yielded = form.yielded()?.operand(0);
        let product =
            view.body.defining_op(yielded).map(|op| view.at(op)).filter(|op| op.name_str() == "arith.mulf")?;
        let args = form.body.args();
        let operands: Vec<Value> = product.operands().collect();
        if operands != args && operands != [args[1], args[0]] {
            return None;
        }
        let factor = |i: usize| {
            let index = cx.map_results(form.input_maps[i]);
            Dequantized::of(view, view.operand(i), index)
        };
        Some(Self {
            factors: [factor(0)?, factor(1)?],
            outside: [form.oob[0], form.oob[1]],
            iterators: form.iterators.clone(),
            extents: form.extents(),
            result_index: cx.map_results(form.result_maps[0]).to_vec(),
        })
    }

    /// In what way bits stay.
    ///
    /// # Errors
    /// Says why it is left.
    fn check(&self, cx: &Context, facts: &Facts, rounding: bool) -> Result<&'static str, String> {
        let mut most: i128 = self.factors.iter().map(|factor| factor.most).product();
        for i in self.reduced() {
            let size = self.extents[i].as_ref().map_or(i128::MAX, |extent| facts.range(extent).1);
            most = most.saturating_mul(size.max(1));
        }
        if most > i128::from(i32::MAX) {
            return Err(match most >= 1 << 60 {
                true => "how many products are summed is not bounded, so 32 bits may not hold the sum".to_string(),
                false => format!("a sum may be {most}, which 32 bits do not hold"),
            });
        }
        for (factor, outside) in self.factors.iter().zip(&self.outside) {
            if let Scale::Read((_, index)) = &factor.scale
                && !index.iter().all(|expr| self.behind(cx, *expr).is_some())
            {
                return Err("its scales vary along what is summed over".to_string());
            }
            let Some(outside) = outside else { continue };
            let Zero::Known(zero) = factor.zero else {
                return Err("it reads around its tensor, and the zero point there is no constant".to_string());
            };
            if cx.as_f64(*outside) != Some(0.0) || factor.holds(cx, zero).is_none() {
                return Err("what it reads around its tensor is not 0".to_string());
            }
        }
        if self.factors.iter().all(|factor| factor.exact) && most <= 1 << 24 {
            return Ok("every bit stays");
        }
        if rounding {
            let tame = self.factors.iter().all(|factor| factor.tame);
            return Ok(if tame {
                "results differ by rounding"
            } else {
                "results differ by rounding if scales are ordinary numbers"
            });
        }
        Err("the sum of floats is rounded, and that of integers is not; it needs `allow-rounding`".to_string())
    }

    fn reduced(&self) -> impl Iterator<Item = usize> + '_ {
        self.iterators.iter().enumerate().filter(|(_, kind)| **kind == IteratorKind::Reduce).map(|(i, _)| i)
    }

    /// An index of the op as one of its result's dimensions; `None` where it names what is summed over.
    fn behind(&self, cx: &Context, expr: AffineExpr) -> Option<AffineExpr> {
        if let Some(constant) = maps::constant(cx, expr) {
            return Some(cx.affine_const(constant));
        }
        let iterator = maps::plain_dim(cx, expr)?;
        let at = self.result_index.iter().position(|own| maps::plain_dim(cx, *own) == Some(iterator))?;
        Some(cx.affine_dim(at as u32))
    }

    /// Changes the sum in its place, and multiplies by the scales behind it.
    fn apply(&self, rw: &mut Rewriter<'_>, op: Op) -> Option<()> {
        let cx = rw.cx();
        let view = OpRef::new(cx, rw.body(), op);
        let (loc, result) = (view.loc(), view.result(0));
        let shape = symbolic_shape(cx, view.ty(result))?;
        let scales = self.scales(cx)?;
        self.sum_integers(rw, op)?;
        rw.set_type(result, tensor_of(cx, &shape, Type::I32));
        rw.set_after(op);
        let own: Vec<AffineExpr> = (0..shape.len()).map(|d| cx.affine_dim(d as u32)).collect();
        let mut inputs = vec![ComputeInput { value: result, index: own.clone(), oob: None }];
        inputs.extend(scales.iter().flatten().map(|(value, index)| ComputeInput {
            value: *value,
            index: index.clone(),
            oob: None,
        }));
        let kinds = vec![IteratorKind::Parallel; shape.len()];
        let made = ComputeResult { shape, elem: Type::F32, index: own, combiner: None };
        let mut g = GraphBuilder::new(rw, ShapeEnv::new(Facts::new()), loc);
        let scaled = g.compute(&kinds, inputs, vec![made], |s, args| vec![self.scaled(s, args)]);
        let value = rw.body().result(scaled, 0);
        rw.replace_uses_if(result, value, |_, user, _| user != scaled);
        Some(())
    }

    /// The scales that are tensors, at the result's dimensions.
    fn scales(&self, cx: &Context) -> Option<[Option<Element>; 2]> {
        let mut found = [None, None];
        for (scale, factor) in found.iter_mut().zip(&self.factors) {
            if let Scale::Read((value, index)) = &factor.scale {
                let index = index.iter().map(|expr| self.behind(cx, *expr)).collect::<Option<Vec<_>>>()?;
                *scale = Some((*value, index));
            }
        }
        Some(found)
    }

    /// The sum times both scales; `args` has the sum, and the scales that are tensors.
    fn scaled(&self, s: &mut Scalars<'_, '_>, args: &[Value]) -> Value {
        let mut rest = args[1..].iter();
        let [a, b] = [0, 1].map(|i| match self.factors[i].scale {
            Scale::Known(scale) => s.number(scale, Type::F32),
            Scale::Read(_) => *rest.next().expect("one for each scale that is a tensor"),
        });
        let (sum, factor) = (s.cast(args[0], Type::F32), s.mul(a, b));
        s.mul(sum, factor)
    }

    /// The same op, of the stored elements.
    fn sum_integers(&self, rw: &mut Rewriter<'_>, op: Op) -> Option<()> {
        let cx = rw.cx();
        let view = OpRef::new(cx, rw.body(), op);
        let form = ComputeForm::of(view)?;
        let (block, loc, terminator) = (form.body.block, view.loc(), form.yielded()?.op);
        let (iterators, result_map) = (form.iterators.len() as u32, form.result_maps[0]);
        let old: Vec<Op> = form.body.ops().map(|op| op.op).filter(|op| *op != terminator).collect();
        let elements = self.elements();
        let count = form.sizes.len() as u32;
        let map = |index: &[AffineExpr]| {
            let mut symbols = 0;
            index.iter().for_each(|e| maps::each_symbol(cx, *e, &mut |_| symbols = count));
            cx.affine_map_attr(cx.affine_map(iterators, symbols, index))
        };
        let mut all: Vec<Attr> = elements.iter().map(|(_, index)| map(index)).collect();
        all.push(cx.affine_map_attr(result_map));
        let outside: Vec<Attr> = (0..elements.len()).map(|i| self.read_outside(cx, i)).collect();
        let operands: Vec<Value> = elements.iter().map(|(value, _)| *value).collect();
        let types: Vec<Type> = operands.iter().map(|v| scalar_type(cx, cx.element_type(rw.body().ty(*v)))).collect();
        rw.set_operands(op, &operands);
        rw.set_prop(op, "maps", Some(cx.array_attr(&all)));
        let reads_outside = self.outside.iter().any(Option::is_some);
        rw.set_prop(op, "oob", reads_outside.then(|| cx.array_attr(&outside)));
        let args: Vec<Value> = types.iter().map(|ty| rw.add_block_arg(block, *ty, loc)).collect();
        rw.set_before(terminator);
        let mut zeros = args[2..].iter();
        let mut s = Scalars::new(rw, loc);
        let differences = [0, 1].map(|i| {
            let factor = &self.factors[i];
            let wide = |s: &mut Scalars<'_, '_>, x| {
                s.op(if factor.unsigned { "arith.extui" } else { "arith.extsi" }, &[x], Type::I32)
            };
            let x = wide(&mut s, args[i]);
            let zero = match factor.zero {
                Zero::Known(0) => return x,
                Zero::Known(zero) => s.int(zero, Type::I32),
                Zero::Read(_) => {
                    let zero = *zeros.next().expect("one for each zero point that is a tensor");
                    wide(&mut s, zero)
                }
            };
            s.sub(x, zero)
        });
        let product = s.mul(differences[0], differences[1]);
        rw.set_operand(terminator, 0, product);
        old.into_iter().rev().for_each(|op| rw.erase_op(op));
        rw.erase_block_arg(block, 1);
        rw.erase_block_arg(block, 0);
        Some(())
    }

    /// What is read: the stored elements, and the zero points that are tensors.
    fn elements(&self) -> Vec<Element> {
        let zeros = self.factors.iter().filter_map(|factor| match &factor.zero {
            Zero::Read(element) => Some(element.clone()),
            Zero::Known(_) => None,
        });
        self.factors.iter().map(|factor| factor.stored.clone()).chain(zeros).collect()
    }

    /// The element that input `i` has outside its tensor: the zero point, which stands for 0.
    fn read_outside(&self, cx: &Context, i: usize) -> Attr {
        match (self.outside.get(i).copied().flatten(), self.factors.get(i).map(|factor| &factor.zero)) {
            (Some(_), Some(Zero::Known(zero))) => self.factors[i].constant(cx, *zero),
            _ => Attr::UNIT,
        }
    }
}

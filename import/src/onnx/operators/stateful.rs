//! Operators over sequences that take a state and give the next one.

use sutura_dialects::r#dyn::Poly;
use sutura_dialects::elements::accumulator_type;
use sutura_dialects::graph::build::{ComputeInput, ComputeResult, PadKind};
use sutura_dialects::graph::{Combiner, IteratorKind, SymShape};
use sutura_ir::affine::AffineOp;
use sutura_ir::{Type, Value};

use super::super::convert::{Importer, Made, fail, wrong};
use super::super::error::Reason;
use super::super::op::Op;
use super::super::reader::NodeReader;
use super::{Conversion, Convert, Family};

pub(super) const OPERATORS: Family = &[("CausalConvWithState", causal_conv), ("LinearAttention", linear_attention)];

const LINEAR: &str = "linear_attention";
const DELTA: &str = "linear_attention_delta";

// ---- attention

/// What queries read of a state to which each step adds a key times a value. Heads lie behind one another.
#[derive(Debug)]
struct LinearAttention<'m> {
    /// Queries, keys and values.
    rows: [&'m str; 3],
    past: Option<&'m str>,
    decay: Option<&'m str>,
    beta: Option<&'m str>,
    heads: i64,
    /// Heads of queries for each head of keys.
    shared: i64,
    /// 0 for the root of the size of a key.
    scale: f32,
}

fn linear_attention<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    let (fades, corrects) = match r.string("update_rule")? {
        Some("linear") => (false, false),
        Some("gated") => (true, false),
        Some("delta") => (false, true),
        None | Some("gated_delta") => (true, true),
        Some(other) => return Err(format!("has unknown `update_rule` {other}").into()),
    };
    let (decay, beta) = (r.optional(4), r.optional(5));
    for (given, wanted, name) in [(decay, fades, "decay"), (beta, corrects, "beta")] {
        if given.is_some() != wanted {
            let how = if wanted { "needs" } else { "does not take" };
            return Err(format!("has an `update_rule` that {how} the input `{name}`").into());
        }
    }
    let (queries, heads) = (r.int("q_num_heads")?, r.int("kv_num_heads")?);
    if heads < 1 || queries < 1 || queries % heads > 0 {
        return Err(format!("has {queries} heads of queries, which are no positive multiple of {heads}").into());
    }
    let rows = [r.input(0)?, r.input(1)?, r.input(2)?];
    let (past, scale) = (r.optional(3), r.float("scale")?);
    Ok(Conversion::op(LinearAttention { rows, past, decay, beta, heads, shared: queries / heads, scale }))
}

impl<'m> Convert<'m> for LinearAttention<'m> {
    fn results(&self) -> usize {
        2
    }

    fn operators(&self) -> &'static [&'static str] {
        if self.beta.is_some() { &[DELTA] } else { &[LINEAR] }
    }

    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let [query, key, value] = [0, 1, 2].map(|i| importer.value(self.rows[i]));
        let (query, key, value) = (query?, key?, value?);
        let elem = importer.g.elem(query);
        let shape = importer.g.shape(query);
        // The state says the sizes of heads best, as they are dimensions of it.
        let known = match self.past {
            Some(past) => match &importer.value(past).map(|past| importer.g.shape(past))?[..] {
                [_, _, wide, deep] => (wide.clone(), deep.clone()),
                _ => return wrong("`past_state` must have rank 4"),
            },
            None => (None, None),
        };
        let keys = by_heads(importer, key, &[self.heads], ("key", known.0))?;
        let values = by_heads(importer, value, &[self.heads], ("value", known.1))?;
        let (wide, deep) = (importer.g.shape(keys)[3].clone(), importer.g.shape(values)[3].clone());
        let queries = by_heads(importer, query, &[self.heads, self.shared], ("query", wide.clone()))?;
        let (Some(wide), Some(deep)) = (wide, deep) else { return fail("has heads of a size that depends on data") };
        let heads = Some(Poly::from(self.heads));
        let state = vec![shape[0].clone(), heads.clone(), Some(wide.clone()), Some(deep.clone())];
        let (past, state_elem) = match self.past {
            Some(past) => {
                let past = importer.value(past)?;
                same_shape(importer, past, &state, "past_state")?;
                (importer.g.cast(past, Type::F32)?, importer.g.elem(past))
            }
            None => (importer.g.generate(&state, Type::F32, |s| s.number(0.0, Type::F32))?, elem),
        };
        let steps = vec![shape[1].clone(), shape[0].clone(), heads.clone(), Some(wide.clone())];
        let decay = self.decay(importer, &steps)?;
        let mut inputs = vec![
            step_first(importer, queries)?,
            step_first(importer, keys)?,
            step_first(importer, values)?,
            decay,
            past,
        ];
        if let Some(beta) = self.beta {
            inputs.push(self.rate(importer, beta, &steps[..3])?);
        }
        let declared = importer.declared(self.operators()[0])?;
        let made = importer.g.apply(&declared, &inputs, &[])?;
        let rows = self.rows(importer, made[0], elem, &wide)?;
        let last = self.shared.saturating_mul(self.heads);
        let rows = importer.g.reshape_to(rows, &[shape[0].clone(), shape[1].clone(), Some(deep.scale(last))])?;
        Ok(vec![rows, importer.g.cast(made[1], state_elem)?])
    }
}

impl<'m> LinearAttention<'m> {
    /// Logarithms of what is left of the state in each step, for each number of a key: of a head where it has but one.
    fn decay(&self, importer: &mut Importer<'m, '_, '_>, steps: &[Option<Poly>]) -> Made {
        let shape = steps.to_vec();
        let Some(name) = self.decay else {
            return Ok(importer.g.generate(&shape, Type::F32, |s| s.number(0.0, Type::F32))?);
        };
        let decay = importer.value(name)?;
        let [batch, time, last] = &importer.g.shape(decay)[..] else { return wrong("`decay` must have rank 3") };
        let whole = steps[3].as_ref().map(|size| size.scale(self.heads));
        // One for each head, unless there is one for each number of a key.
        let heads = Some(Poly::from(self.heads));
        let by_head = *last == heads && whole != heads;
        let wanted = if by_head { heads } else { whole };
        importer.g.unify(last, &wanted, || "the last dimension of `decay` and the heads of keys".into())?;
        importer.g.unify(&steps[1], batch, || "the samples of `decay`".into())?;
        importer.g.unify(&steps[0], time, || "the steps of `decay`".into())?;
        let apart = [steps[1].clone(), steps[0].clone(), steps[2].clone(), steps[3].clone()];
        let value = if by_head { decay } else { importer.g.reshape_to(decay, &apart)? };
        let count = if by_head { 3 } else { 4 };
        let index = [1, 0, 2, 3][..count].iter().map(|d| importer.g.dim(*d)).collect();
        let inputs = vec![ComputeInput { value, index, oob: None }];
        Ok(moved(importer, inputs, shape))
    }

    /// How much of a change each step takes in.
    fn rate(&self, importer: &mut Importer<'m, '_, '_>, name: &'m str, steps: &[Option<Poly>]) -> Made {
        let value = importer.value(name)?;
        let [batch, time, last] = &importer.g.shape(value)[..] else { return wrong("`beta` must have rank 3") };
        importer.g.unify(&steps[1], batch, || "the samples of `beta`".into())?;
        importer.g.unify(&steps[0], time, || "the steps of `beta`".into())?;
        let single = *last == Some(1.into());
        if !single {
            importer.g.unify(last, &steps[2], || "the last dimension of `beta` and the heads of keys".into())?;
        }
        let head = if single { importer.cx().affine_const(0) } else { importer.g.dim(2) };
        let index = vec![importer.g.dim(1), importer.g.dim(0), head];
        Ok(moved(importer, vec![ComputeInput { value, index, oob: None }], steps.to_vec()))
    }

    /// What was read, with samples first, scaled.
    fn rows(&self, importer: &mut Importer<'m, '_, '_>, read: Value, elem: Type, size: &Poly) -> Made {
        let samples_first = importer.g.transpose(read, &[1, 0, 2, 3, 4])?;
        let scale = self.scale;
        Ok(importer.g.elementwise(&[samples_first], elem, |s, args| {
            let scaled = match scale {
                0.0 => {
                    let size = s.size(size);
                    let size = s.cast(size, Type::F32);
                    let root = s.math("math.sqrt", size);
                    s.div(args[0], root)
                }
                scale => {
                    let scale = s.number(scale.into(), Type::F32);
                    s.mul(args[0], scale)
                }
            };
            s.cast(scaled, elem)
        })?)
    }
}

/// The elements of heads, which lie behind one another in the last of three dimensions, in dimensions of their own; of this size,
/// if it is known.
fn by_heads(importer: &mut Importer<'_, '_, '_>, x: Value, heads: &[i64], (name, size): (&str, Option<Poly>)) -> Made {
    let [batch, time, last] = &importer.g.shape(x)[..] else {
        return wrong(format!("`{name}` has rank {}, it must have 3", importer.g.rank(x)));
    };
    let Some(last) = last else { return fail("has heads of a size that depends on data") };
    let count = heads.iter().fold(1_i64, |product, heads| product.saturating_mul(*heads));
    let size = size.unwrap_or_else(|| last.floordiv(count));
    let whole = Some(size.scale(count));
    importer.g.unify(&Some(last.clone()), &whole, || format!("dimension 2 of `{name}` and whole heads"))?;
    let mut shape = vec![batch.clone(), time.clone()];
    shape.extend(heads.iter().map(|heads| Some(Poly::from(*heads))));
    shape.push(Some(size));
    Ok(importer.g.reshape_to(x, &shape)?)
}

/// The tensor as f32, the second dimension first.
fn step_first(importer: &mut Importer<'_, '_, '_>, x: Value) -> Made {
    let mut order: Vec<usize> = (0..importer.g.rank(x)).collect();
    order.swap(0, 1);
    let turned = importer.g.transpose(x, &order)?;
    Ok(importer.g.cast(turned, Type::F32)?)
}

/// Elements read somewhere else, as f32.
fn moved(importer: &mut Importer<'_, '_, '_>, inputs: Vec<ComputeInput>, shape: SymShape) -> Value {
    let rank = shape.len();
    let result = ComputeResult { shape, elem: Type::F32, index: importer.g.dims(0..rank), combiner: None };
    let kinds = vec![IteratorKind::Parallel; rank];
    let op = importer.g.compute(&kinds, inputs, vec![result], |s, args| vec![s.cast(args[0], Type::F32)]);
    importer.g.b.body().result(op, 0)
}

fn same_shape(importer: &mut Importer<'_, '_, '_>, x: Value, shape: &SymShape, name: &str) -> Made<()> {
    let given = importer.g.shape(x);
    if given.len() != shape.len() {
        return wrong(format!("`{name}` has rank {}, it must have {}", given.len(), shape.len()));
    }
    for (d, (given, wanted)) in given.iter().zip(shape).enumerate() {
        importer.g.unify(wanted, given, || format!("dimension {d} of `{name}` and what the others say"))?;
    }
    Ok(())
}

// ---- convolution

/// Each channel convolved with a kernel of its own over what was before; the last elements are the next state.
#[derive(Debug)]
struct CausalConv<'m> {
    x: &'m str,
    weight: &'m str,
    bias: Option<&'m str>,
    past: Option<&'m str>,
    silu: bool,
}

fn causal_conv<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    let silu = match r.string("activation")? {
        None | Some("none") => false,
        Some("silu" | "swish") => true,
        Some(other) => return Err(format!("has unknown `activation` {other}").into()),
    };
    Ok(Conversion::op(CausalConv {
        x: r.input(0)?,
        weight: r.input(1)?,
        bias: r.optional(2),
        past: r.optional(3),
        silu,
    }))
}

impl<'m> Convert<'m> for CausalConv<'m> {
    fn results(&self) -> usize {
        2
    }

    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let (x, weight) = importer.pair(self.x, self.weight)?;
        let shape = importer.g.shape(x);
        let ([_, channels, length], [filters, one, kernel]) = (&shape[..], &importer.g.shape(weight)[..]) else {
            return wrong("needs an input and a weight of three dimensions");
        };
        importer.g.unify(channels, filters, || "channels of the input and of the weight".into())?;
        importer.g.unify(one, &Some(1.into()), || "dimension 1 of the weight and 1".into())?;
        let (Some(kernel), Some(length)) = (kernel.clone(), length.clone()) else {
            return fail("has sizes that depend on data");
        };
        let before = kernel.sub(&1.into());
        importer.not_negative(&vec![Some(before.clone())], "state")?;
        let mut state = shape.clone();
        state[2] = Some(before.clone());
        let padded = match self.past {
            Some(past) => {
                let past = importer.value(past)?;
                same_shape(importer, past, &state, "past_state")?;
                importer.g.concat(&[past, x], 2)?
            }
            None => {
                let (cx, elem) = (importer.cx(), importer.g.elem(x));
                let none = vec![Poly::default(); 3];
                let first = [Poly::default(), Poly::default(), before.clone()];
                importer.g.pad(x, &first, &none, PadKind::Constant(cx.float_attr(0.0, elem)))?
            }
        };
        let made = self.convolved(importer, padded, weight, (&shape, &kernel))?;
        let elem = importer.g.elem(x);
        let at = importer.g.dim(2);
        let at = importer.g.offset(at, &length);
        let index = vec![importer.g.dim(0), importer.g.dim(1), at];
        let result = ComputeResult { shape: state, elem, index: importer.g.dims(0..3), combiner: None };
        let inputs = vec![ComputeInput { value: padded, index, oob: None }];
        let last = importer.g.compute(&[IteratorKind::Parallel; 3], inputs, vec![result], |_, args| vec![args[0]]);
        Ok(vec![made, importer.g.b.body().result(last, 0)])
    }
}

impl<'m> CausalConv<'m> {
    fn convolved(
        &self,
        importer: &mut Importer<'m, '_, '_>,
        padded: Value,
        weight: Value,
        (shape, kernel): (&SymShape, &Poly),
    ) -> Made {
        let (cx, elem) = (importer.cx(), importer.g.elem(padded));
        let wide = accumulator_type(cx, elem);
        let at = cx.affine_binary(AffineOp::Add, importer.g.dim(2), importer.g.dim(3));
        let index = vec![importer.g.dim(0), importer.g.dim(1), at];
        let taps = vec![importer.g.dim(1), cx.affine_const(0), importer.g.dim(3)];
        let inputs = vec![
            ComputeInput { value: padded, index, oob: None },
            ComputeInput { value: weight, index: taps, oob: None },
        ];
        let kinds = [IteratorKind::Parallel, IteratorKind::Parallel, IteratorKind::Parallel, IteratorKind::Reduce];
        debug_assert!(!kernel.is_zero(), "a state of a negative size was refused");
        let combiner = Some(Combiner::Add);
        let result = ComputeResult { shape: shape.clone(), elem: wide, index: importer.g.dims(0..3), combiner };
        let op = importer.g.compute(&kinds, inputs, vec![result], |s, args| {
            let (x, weight) = (s.cast(args[0], wide), s.cast(args[1], wide));
            vec![s.mul(x, weight)]
        });
        let sums = importer.g.b.body().result(op, 0);
        let mut operands = vec![sums];
        if let Some(bias) = self.bias {
            let bias = importer.value(bias)?;
            let [count] = &importer.g.shape(bias)[..] else { return wrong("`bias` must be a list") };
            importer.g.unify(&shape[1], &count.clone(), || "channels of the input and of `bias`".into())?;
            operands.push(importer.g.unsqueeze(bias, &[1])?);
        }
        let silu = self.silu;
        Ok(importer.g.elementwise(&operands, elem, |s, args| {
            let mut x = args[0];
            if let Some(bias) = args.get(1) {
                let bias = s.cast(*bias, wide);
                x = s.add(x, bias);
            }
            let rounded = s.cast(x, elem);
            if !silu {
                return rounded;
            }
            let (x, one) = (s.cast(rounded, wide), s.number(1.0, wide));
            let minus = s.neg(x);
            let power = s.math("math.exp", minus);
            let sum = s.add(power, one);
            let made = s.div(x, sum);
            s.cast(made, elem)
        })?)
    }
}

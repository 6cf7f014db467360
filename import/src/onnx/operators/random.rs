//! Random numbers.
//!
//! The generator is Philox4x32-10: the number of an element is a function of a key and of the element's position, in integer
//! arithmetic. So it is the same at any number of threads and on every target, and at every run. The key is the seed; without one
//! it is made of the name of the node's result, so that nodes have numbers of their own.

use sutura_dialects::r#dyn::Poly;
use sutura_dialects::graph::build::scalar::Comparison;
use sutura_dialects::graph::build::{ComputeInput, ComputeResult, Scalars, SliceBounds};
use sutura_dialects::graph::{Combiner, IteratorKind, SymShape};
use sutura_ir::{Type, Value};

use super::super::convert::{Importer, Made, fail, wrong};
use super::super::error::{Reason, unsupported};
use super::super::model::Attribute;
use super::super::op::{Op, Param};
use super::super::reader::NodeReader;
use super::super::tensor::{ElementType, Scalar};
use super::{Conversion, Convert, Family, one_number};

pub(super) const OPERATORS: Family = &[
    ("Bernoulli", bernoulli),
    ("Dropout", dropout),
    ("Multinomial", multinomial),
    ("RandomNormal", |r| random(r, normal_law(r)?)),
    ("RandomNormalLike", |r| random(r, normal_law(r)?)),
    ("RandomUniform", |r| random(r, uniform_law(r)?)),
    ("RandomUniformLike", |r| random(r, uniform_law(r)?)),
];

// ---- the generator

const MULTIPLIERS: [i64; 2] = [0xD251_1F53, 0xCD9E_8D57];
const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];
const ROUNDS: u32 = 10;

/// Four numbers of 32 bits, each in an `i64`, for a position.
fn philox(s: &mut Scalars<'_, '_>, position: Value, key: u64) -> [Value; 4] {
    let (mask, half) = (s.int(0xFFFF_FFFF, Type::I64), s.int(32, Type::I64));
    let zero = s.int(0, Type::I64);
    let (low, high) = (s.bits("arith.andi", position, mask), s.bits("arith.shrui", position, half));
    let mut words = [low, high, zero, zero];
    let key = [key as u32, (key >> 32) as u32];
    for round in 0..ROUNDS {
        let product = |s: &mut Scalars<'_, '_>, word: Value, by: i64| {
            let by = s.int(by, Type::I64);
            let product = s.mul(word, by);
            (s.bits("arith.shrui", product, half), s.bits("arith.andi", product, mask))
        };
        let (first_high, first_low) = product(s, words[0], MULTIPLIERS[0]);
        let (second_high, second_low) = product(s, words[2], MULTIPLIERS[1]);
        let mixed = |s: &mut Scalars<'_, '_>, high: Value, word: Value, which: usize| {
            let key = key[which].wrapping_add(WEYL[which].wrapping_mul(round));
            let (mixed, key) = (s.bits("arith.xori", high, word), s.int(key.into(), Type::I64));
            s.bits("arith.xori", mixed, key)
        };
        words = [mixed(s, second_high, words[1], 0), second_low, mixed(s, first_high, words[3], 1), first_low];
    }
    words
}

/// A number of [0, 1) with as many bits as the type has, `f32` or `f64`.
fn uniform(s: &mut Scalars<'_, '_>, words: [Value; 2], ty: Type) -> Value {
    let shifted = |s: &mut Scalars<'_, '_>, word: Value, by: i64| {
        let by = s.int(by, Type::I64);
        s.bits("arith.shrui", word, by)
    };
    if ty != Type::F64 {
        let (bits, unit) = (shifted(s, words[0], 8), s.number(2_f64.powi(-24), ty));
        let number = s.cast(bits, ty);
        return s.mul(number, unit);
    }
    let (high, low) = (shifted(s, words[0], 5), shifted(s, words[1], 6));
    let (scale, unit) = (s.int(1 << 26, Type::I64), s.number(2_f64.powi(-53), ty));
    let high = s.mul(high, scale);
    let bits = s.add(high, low);
    let number = s.cast(bits, ty);
    s.mul(number, unit)
}

/// A number of the normal distribution, by Box and Muller.
fn normal(s: &mut Scalars<'_, '_>, words: [Value; 4], ty: Type) -> Value {
    let (number, half) = (s.cast(words[0], ty), s.number(0.5, ty));
    let (above, unit) = (s.add(number, half), s.number(2_f64.powi(-32), ty));
    let radius = s.mul(above, unit);
    let log = s.math("math.log", radius);
    let minus_two = s.number(-2.0, ty);
    let square = s.mul(log, minus_two);
    let radius = s.math("math.sqrt", square);
    let (part, round) = (uniform(s, [words[1], words[2]], ty), s.number(std::f64::consts::TAU, ty));
    let angle = s.mul(part, round);
    let cosine = s.math("math.cos", angle);
    s.mul(radius, cosine)
}

/// Row-major number of the element that is computed, of a tensor whose dimensions are the iterators.
fn position(s: &mut Scalars<'_, '_>, shape: &[Poly]) -> Value {
    let mut position = s.int(0, Type::I64);
    for (d, size) in shape.iter().enumerate() {
        let (size, index) = (s.size(size), s.index(d));
        let (size, index) = (s.cast(size, Type::I64), s.cast(index, Type::I64));
        let rows = s.mul(position, size);
        position = s.add(rows, index);
    }
    position
}

/// The type in which numbers of an element type are drawn.
fn drawn_type(elem: Type) -> Type {
    if elem == Type::F64 { Type::F64 } else { Type::F32 }
}

// ---- what nodes say

/// The key of a node: its seed, or what its result is called.
fn key(r: &NodeReader<'_, '_>) -> u64 {
    match r.attribute("seed") {
        Some(Attribute::Float(seed)) if !seed.is_nan() => seed.to_bits().into(),
        Some(Attribute::Int(seed)) => *seed as u64,
        _ => {
            let name = r.node.outputs.iter().flatten().next().map_or("", String::as_str);
            name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, b| (hash ^ u64::from(b)).wrapping_mul(0x0100_0000_01b3))
        }
    }
}

/// The element type that the attribute `dtype` names, if the node has it.
fn datatype(r: &NodeReader<'_, '_>) -> Result<Option<ElementType>, Reason> {
    let Some(code) = r.optional_int("dtype") else { return Ok(None) };
    let to = ElementType::from_code(code).ok_or_else(|| format!("makes unknown element type {code}"))?;
    if !to.is_numeric() {
        return Err(unsupported(format!("makes {to}, which is not supported")));
    }
    Ok(Some(to))
}

/// The sizes of a tensor, all of which must be known where numbers are drawn.
fn all_known(shape: &SymShape) -> Made<Vec<Poly>> {
    match shape.iter().cloned().collect() {
        Some(sizes) => Ok(sizes),
        None => fail("draws numbers for a shape that depends on data"),
    }
}

// ---- tensors of random numbers

#[derive(Clone, Copy, Debug)]
enum Law {
    /// From the first number to below the second.
    Uniform(f32, f32),
    /// Mean and deviation.
    Normal(f32, f32),
}

fn uniform_law(r: &NodeReader<'_, '_>) -> Result<Law, Reason> {
    Ok(Law::Uniform(r.float("low")?, r.float("high")?))
}

fn normal_law(r: &NodeReader<'_, '_>) -> Result<Law, Reason> {
    Ok(Law::Normal(r.float("mean")?, r.float("scale")?))
}

/// Random numbers in a shape, or in that of another tensor.
#[derive(Debug)]
struct Random<'m> {
    shape: Result<Vec<i64>, &'m str>,
    to: Option<ElementType>,
    law: Law,
    key: u64,
}

fn random<'m>(r: &NodeReader<'m, '_>, law: Law) -> Result<Op<'m>, Reason> {
    let shape = match r.interface.inputs.is_empty() {
        true => Ok(r.ints("shape").ok_or("has no attribute `shape`")?.to_vec()),
        false => Err(r.input(0)?),
    };
    Ok(Conversion::op(Random { shape, to: datatype(r)?, law, key: key(r) }))
}

impl<'m> Convert<'m> for Random<'m> {
    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let (shape, like) = match &self.shape {
            Ok(sizes) => (sizes.iter().map(|size| Some(Poly::from(*size))).collect(), None),
            Err(name) => {
                let x = importer.value(name)?;
                (importer.g.shape(x), Some(importer.g.elem(x)))
            }
        };
        importer.not_negative(&shape, "size")?;
        let sizes = all_known(&shape)?;
        let elem = match (self.to, like) {
            (Some(to), _) => importer.element(to)?,
            (None, like) => like.unwrap_or(Type::F32),
        };
        if !elem.is_float(importer.cx()) {
            return wrong("makes random numbers of a type that has no fractions");
        }
        let (law, key, ty) = (self.law, self.key, drawn_type(elem));
        Ok(vec![importer.g.generate(&shape, elem, |s| {
            let position = position(s, &sizes);
            let words = philox(s, position, key);
            let number = match law {
                Law::Uniform(low, high) => {
                    let (low, span) = (s.number(low.into(), ty), s.number(f64::from(high) - f64::from(low), ty));
                    let part = uniform(s, [words[0], words[1]], ty);
                    let above = s.mul(part, span);
                    s.add(low, above)
                }
                Law::Normal(mean, scale) => {
                    let (mean, scale) = (s.number(mean.into(), ty), s.number(scale.into(), ty));
                    let number = normal(s, words, ty);
                    let scaled = s.mul(number, scale);
                    s.add(scaled, mean)
                }
            };
            s.cast(number, elem)
        })?])
    }
}

// ---- draws

/// 1 with the probability that each element says, else 0.
#[derive(Debug)]
struct Bernoulli<'m> {
    x: &'m str,
    to: Option<ElementType>,
    key: u64,
}

fn bernoulli<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    Ok(Conversion::op(Bernoulli { x: r.input(0)?, to: datatype(r)?, key: key(r) }))
}

impl<'m> Convert<'m> for Bernoulli<'m> {
    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let x = importer.value(self.x)?;
        let elem = importer.g.elem(x);
        if !elem.is_float(importer.cx()) {
            return wrong("takes probabilities that are no floats");
        }
        let to = self.to.map_or(Ok(elem), |to| importer.element(to))?;
        let sizes = all_known(&importer.g.shape(x))?;
        let (key, ty) = (self.key, drawn_type(elem));
        Ok(vec![importer.g.elementwise(&[x], to, |s, args| {
            let position = position(s, &sizes);
            let words = philox(s, position, key);
            let (part, probability) = (uniform(s, [words[0], words[1]], ty), s.cast(args[0], ty));
            let drawn = s.compare(Comparison::Less, part, probability);
            s.cast(drawn, to)
        })?])
    }
}

/// Numbers of classes, drawn with probabilities whose logarithms a row has.
#[derive(Debug)]
struct Multinomial<'m> {
    x: &'m str,
    count: i64,
    to: ElementType,
    key: u64,
}

fn multinomial<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    let to = datatype(r)?.unwrap_or(ElementType::I32);
    if !matches!(to, ElementType::I32 | ElementType::I64) {
        return Err(format!("makes {to}, it must make i32 or i64").into());
    }
    let count = r.int("sample_size")?;
    if count < 1 {
        return Err(format!("draws {count} times, it must be at least once").into());
    }
    Ok(Conversion::op(Multinomial { x: r.input(0)?, count, to, key: key(r) }))
}

const SOFTMAX: &str = "softmax";

impl<'m> Convert<'m> for Multinomial<'m> {
    fn operators(&self) -> &'static [&'static str] {
        &[SOFTMAX]
    }

    /// The class is the number of those whose probabilities up to it are at most a random number.
    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let x = importer.value(self.x)?;
        let [rows, classes] = &importer.g.shape(x)[..] else {
            return wrong(format!("takes rows of classes, not a tensor of rank {}", importer.g.rank(x)));
        };
        if !importer.g.elem(x).is_float(importer.cx()) {
            return wrong("takes logarithms of probabilities that are no floats");
        }
        let (rows, last) = (rows.clone(), classes.as_ref().map(|classes| classes.sub(&1.into())));
        let Some(last) = last else { return fail("draws from a number of classes that depends on data") };
        importer.not_negative(&vec![Some(last.clone())], "last class")?;
        let (to, ty) = (importer.element(self.to)?, drawn_type(importer.g.elem(x)));
        let x = importer.g.cast(x, ty)?;
        let softmax = importer.declared(SOFTMAX)?;
        let probabilities = importer.g.apply(&softmax, &[x], &[])?[0];
        let sums = importer.g.scan(probabilities, 1, Combiner::Add, false, false)?;
        let total = importer.g.slice(sums, &[1], &SliceBounds::Known(vec![-1], vec![i64::MAX]), &[1])?;
        let shape = vec![rows, Some(self.count.into())];
        let (sizes, key) = (all_known(&shape)?, self.key);
        let parts = importer.g.generate(&shape, ty, |s| {
            let position = position(s, &sizes);
            let words = philox(s, position, key);
            uniform(s, [words[0], words[1]], ty)
        })?;
        let cx = importer.cx();
        let [row, draw, class] = [0, 1, 2].map(|d| importer.g.dim(d));
        let inputs = vec![
            ComputeInput { value: sums, index: vec![row, class], oob: None },
            ComputeInput { value: total, index: vec![row, cx.affine_const(0)], oob: None },
            ComputeInput { value: parts, index: vec![row, draw], oob: None },
        ];
        let result = ComputeResult { shape, elem: to, index: vec![row, draw], combiner: Some(Combiner::Add) };
        let kinds = [IteratorKind::Parallel, IteratorKind::Parallel, IteratorKind::Reduce];
        let op = importer.g.compute(&kinds, inputs, vec![result], |s, args| {
            let drawn = s.mul(args[2], args[1]);
            let passed = s.compare(Comparison::LessOrEqual, args[0], drawn);
            let (one, zero) = (s.int(1, to), s.int(0, to));
            vec![s.select(passed, one, zero)]
        });
        let drawn = importer.g.b.body().result(op, 0);
        Ok(vec![importer.g.map(drawn, |s, drawn| {
            let last = s.size(&last);
            let last = s.cast(last, to);
            s.min(drawn, last)
        })?])
    }
}

// ---- dropout

/// In training, elements that are dropped are 0 and the others are scaled; which are kept is the second result.
#[derive(Debug)]
struct Dropout<'m> {
    x: &'m str,
    ratio: Param<'m, Scalar>,
    training: Param<'m, Scalar>,
    masked: bool,
    /// Whether the mask has truth values, else elements as the tensor.
    truth: bool,
    key: u64,
}

fn dropout<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    let x = r.input(0)?;
    let training = match r.interface.since {
        ..7 => Param::Known(Scalar::Bool(!r.flag("is_test")?)),
        7..12 => Param::Known(Scalar::Bool(false)),
        _ => r.scalar_param(2)?.unwrap_or(Param::Known(Scalar::Bool(false))),
    };
    let ratio = match r.interface.since {
        ..12 => Param::Known(Scalar::Float(r.float("ratio")?.into())),
        _ => r.scalar_param(1)?.unwrap_or(Param::Known(Scalar::Float(0.5))),
    };
    if let Param::Known(Scalar::Float(ratio)) = ratio
        && !(0.0..1.0).contains(&ratio)
        && training != Param::Known(Scalar::Bool(false))
    {
        return Err(format!("drops a part of {ratio}, which must be at least 0 and below 1").into());
    }
    let masked = r.outputs_unused_from(1).is_err();
    let nothing = training == Param::Known(Scalar::Bool(false)) || ratio == Param::Known(Scalar::Float(0.0));
    if nothing && !masked {
        return Ok(Op::Identity { x });
    }
    let truth = r.interface.since >= 10;
    Ok(Conversion::op(Dropout { x, ratio, training, masked, truth, key: key(r) }))
}

impl<'m> Convert<'m> for Dropout<'m> {
    fn results(&self) -> usize {
        if self.masked { 2 } else { 1 }
    }

    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let x = importer.value(self.x)?;
        let (shape, elem) = (importer.g.shape(x), importer.g.elem(x));
        let mask_elem = if self.truth { Type::I1 } else { elem };
        if self.training == Param::Known(Scalar::Bool(false)) {
            let mask = importer.g.generate(&shape, mask_elem, |s| s.number(1.0, mask_elem))?;
            return Ok(vec![x, mask]);
        }
        let (sizes, ty, rank) = (all_known(&shape)?, drawn_type(elem), shape.len());
        let mut inputs = vec![ComputeInput { value: x, index: importer.g.dims(0..rank), oob: None }];
        let ratio = operand(importer, &self.ratio, &mut inputs)?;
        let training = operand(importer, &self.training, &mut inputs)?;
        let mut results =
            vec![ComputeResult { shape: shape.clone(), elem, index: importer.g.dims(0..rank), combiner: None }];
        if self.masked {
            results.push(ComputeResult { shape, elem: mask_elem, index: importer.g.dims(0..rank), combiner: None });
        }
        let (key, masked) = (self.key, self.masked);
        let op = importer.g.compute(&vec![IteratorKind::Parallel; rank], inputs, results, |s, args| {
            let zero = s.number(0.0, ty);
            let mut ratio = match ratio {
                Ok(number) => s.number(number, ty),
                Err(at) => s.cast(args[at], ty),
            };
            if let Err(at) = training {
                ratio = s.select(args[at], ratio, zero);
            }
            let position = position(s, &sizes);
            let words = philox(s, position, key);
            let part = uniform(s, [words[0], words[1]], ty);
            let kept = s.compare(Comparison::GreaterOrEqual, part, ratio);
            let (wide, one) = (s.cast(args[0], ty), s.number(1.0, ty));
            let rest = s.sub(one, ratio);
            let scaled = s.div(wide, rest);
            let made = s.select(kept, scaled, zero);
            let made = s.cast(made, elem);
            if masked { vec![made, s.cast(kept, mask_elem)] } else { vec![made] }
        });
        Ok(importer.g.b.body().results(op).collect())
    }
}

/// A number that is known, or the place of the operand that holds it.
fn operand<'m>(
    importer: &mut Importer<'m, '_, '_>,
    param: &Param<'m, Scalar>,
    inputs: &mut Vec<ComputeInput>,
) -> Made<Result<f64, usize>> {
    match param {
        Param::Known(Scalar::Float(number)) => Ok(Ok(*number)),
        Param::Known(Scalar::Int(number)) => Ok(Ok(*number as f64)),
        Param::Known(Scalar::Bool(number)) => Ok(Ok(f64::from(u8::from(*number)))),
        Param::Value(name) => {
            inputs.push(one_number(importer, name)?);
            Ok(Err(inputs.len() - 1))
        }
    }
}

//! Losses of classifications.

use sutura_dialects::elements::accumulator_type;
use sutura_dialects::graph::Combiner;
use sutura_dialects::graph::build::Scalars;
use sutura_dialects::graph::build::scalar::Comparison;
use sutura_ir::{NamedAttr, Type, Value};

use super::super::convert::{Importer, Made, fail, wrong};
use super::super::error::Reason;
use super::super::op::Op;
use super::super::reader::NodeReader;
use super::{Conversion, Convert, Family};

pub(super) const OPERATORS: Family =
    &[("NegativeLogLikelihoodLoss", |r| loss(r, false)), ("SoftmaxCrossEntropyLoss", |r| loss(r, true))];

const LOG_SOFTMAX: &str = "log_softmax";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Joined {
    None,
    Sum,
    Mean,
}

/// The negative logarithm of the probability of each target, times the weight of its class; 0 for targets that are ignored.
#[derive(Debug)]
struct Loss<'m> {
    x: &'m str,
    target: &'m str,
    weight: Option<&'m str>,
    ignored: Option<i64>,
    joined: Joined,
    /// `x` holds scores, whose softmax along the classes is the probability; else its logarithms.
    scores: bool,
}

fn loss<'m>(r: &NodeReader<'m, '_>, scores: bool) -> Result<Op<'m>, Reason> {
    let joined = match r.string("reduction")? {
        None | Some("mean") => Joined::Mean,
        Some("sum") => Joined::Sum,
        Some("none") => Joined::None,
        Some(other) => return Err(format!("has unknown `reduction` {other}").into()),
    };
    let (x, target, weight) = (r.input(0)?, r.input(1)?, r.optional(2));
    Ok(Conversion::op(Loss { x, target, weight, ignored: r.optional_int("ignore_index"), joined, scores }))
}

impl<'m> Convert<'m> for Loss<'m> {
    fn results(&self) -> usize {
        if self.scores { 2 } else { 1 }
    }

    fn operators(&self) -> &'static [&'static str] {
        if self.scores { &[LOG_SOFTMAX] } else { &[] }
    }

    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let (x, target) = importer.pair(self.x, self.target)?;
        check(importer, x, target)?;
        let mut logs = x;
        if self.scores {
            let declared = importer.declared(LOG_SOFTMAX)?;
            let cx = importer.cx();
            let axis = NamedAttr { name: cx.ident("axis"), value: cx.int_attr(1, Type::I64) };
            logs = importer.g.apply(&declared, &[x], &[axis])?[0];
        }
        let ignored = self.ignored;
        let places = importer.g.elementwise(&[target], Type::I64, |s, args| place(s, args[0], ignored))?;
        let column = importer.g.unsqueeze(places, &[1])?;
        let picked = importer.g.gather_elements(logs, column, 1)?;
        let picked = importer.g.squeeze(picked, &[1])?;
        let weights = match self.weight {
            None => None,
            Some(weight) => {
                let weight = importer.value(weight)?;
                let [classes] = &importer.g.shape(weight)[..] else { return wrong("`weight` must be a list") };
                let all = importer.g.shape(x)[1].clone();
                importer.g.unify(&all, &classes.clone(), || "the number of classes and of weights".into())?;
                Some(importer.g.gather(weight, places, 0))
            }
        };
        let loss = self.weighted(importer, picked, target, weights)?;
        let loss = self.join(importer, loss, target, weights)?;
        Ok(if self.scores { vec![loss, logs] } else { vec![loss] })
    }
}

/// A target for each sample and point.
fn check(importer: &mut Importer<'_, '_, '_>, x: Value, target: Value) -> Made<()> {
    let (shape, targets) = (importer.g.shape(x), importer.g.shape(target));
    if shape.len() < 2 || targets.len() + 1 != shape.len() {
        return wrong(format!("has a target of rank {} for an input of rank {}", targets.len(), shape.len()));
    }
    if !importer.g.elem(x).is_float(importer.cx()) {
        return fail("is of what holds no floats");
    }
    for (d, size) in targets.iter().enumerate() {
        let other = if d == 0 { 0 } else { d + 1 };
        importer.g.unify(&shape[other], size, || format!("dimension {other} of the input and {d} of the target"))?;
    }
    Ok(())
}

/// Which class a target is; 0 for one that is ignored. One that is negative names none, and not one from the end.
fn place(s: &mut Scalars<'_, '_>, target: Value, ignored: Option<i64>) -> Value {
    let class = s.cast(target, Type::I64);
    let (zero, none) = (s.int(0, Type::I64), s.int(i64::MAX, Type::I64));
    let negative = s.compare(Comparison::Less, class, zero);
    let known = s.select(negative, none, class);
    match ignored {
        None => known,
        Some(ignored) => {
            let ignored = s.int(ignored, Type::I64);
            let is_ignored = s.compare(Comparison::Equal, class, ignored);
            s.select(is_ignored, zero, known)
        }
    }
}

/// 0 in the place of the number where the target is ignored.
fn unless_ignored(s: &mut Scalars<'_, '_>, target: Value, number: Value, ignored: Option<i64>) -> Value {
    let Some(ignored) = ignored else { return number };
    let class = s.cast(target, Type::I64);
    let (ignored, zero) = (s.int(ignored, Type::I64), s.number(0.0, s.ty(number)));
    let is_ignored = s.compare(Comparison::Equal, class, ignored);
    s.select(is_ignored, zero, number)
}

impl Loss<'_> {
    fn weighted(
        &self,
        importer: &mut Importer<'_, '_, '_>,
        picked: Value,
        target: Value,
        weights: Option<Value>,
    ) -> Made {
        let (ignored, elem) = (self.ignored, importer.g.elem(picked));
        let operands: Vec<Value> = [picked, target].into_iter().chain(weights).collect();
        Ok(importer.g.elementwise(&operands, elem, |s, args| {
            let mut number = s.neg(args[0]);
            if let Some(weight) = args.get(2) {
                number = s.mul(number, *weight);
            }
            unless_ignored(s, args[1], number, ignored)
        })?)
    }

    fn join(&self, importer: &mut Importer<'_, '_, '_>, loss: Value, target: Value, weights: Option<Value>) -> Made {
        if self.joined == Joined::None {
            return Ok(loss);
        }
        let (elem, axes): (Type, Vec<usize>) = (importer.g.elem(loss), (0..importer.g.rank(loss)).collect());
        if self.joined == Joined::Mean && weights.is_none() && self.ignored.is_none() {
            return Ok(importer.g.mean(loss, &axes, false)?);
        }
        let wide = accumulator_type(importer.cx(), elem);
        let sum = importer.g.reduce(loss, &axes, false, Combiner::Add, wide, |s, x| s.cast(x, wide));
        if self.joined == Joined::Sum {
            return Ok(importer.g.cast(sum, elem)?);
        }
        let ignored = self.ignored;
        let operands: Vec<Value> = std::iter::once(target).chain(weights).collect();
        let counted = importer.g.elementwise(&operands, wide, |s, args| {
            let weight = args.get(1).map_or_else(|| None, |weight| Some(s.cast(*weight, wide)));
            let weight = weight.unwrap_or_else(|| s.number(1.0, wide));
            unless_ignored(s, args[0], weight, ignored)
        })?;
        let total = importer.g.reduce(counted, &axes, false, Combiner::Add, wide, |_, x| x);
        Ok(importer.g.elementwise(&[sum, total], elem, |s, args| {
            let mean = s.div(args[0], args[1]);
            s.cast(mean, elem)
        })?)
    }
}

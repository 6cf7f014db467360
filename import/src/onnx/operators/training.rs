//! One step of an optimizer, of the domain `ai.onnx.preview.training`: new values of tensors, by their gradients and by what the
//! optimizer knows of earlier steps.

use sutura_dialects::graph::build::Scalars;
use sutura_dialects::graph::build::scalar::Comparison;
use sutura_ir::{Type, Value};

use super::super::convert::{Importer, Made, fail};
use super::super::error::Reason;
use super::super::op::Op;
use super::super::reader::NodeReader;
use super::{Conversion, Convert, Family};

pub(super) const OPERATORS: Family = &[("Adagrad", adagrad), ("Adam", adam), ("Momentum", momentum)];

/// Tensors that are optimized, each with its gradient and its state.
#[derive(Debug)]
struct Optimizer<'m> {
    rate: &'m str,
    /// How many steps came before.
    count: &'m str,
    /// All tensors, then their gradients, then each state of all of them.
    tensors: Vec<&'m str>,
    norm_coefficient: f64,
    rule: Rule,
}

#[derive(Clone, Copy, Debug)]
enum Rule {
    /// The state is the sum of squared gradients.
    Adagrad { decay: f64, epsilon: f64 },
    /// The states are averages of gradients and of their squares, which fade by `alpha` and `beta`.
    Adam { alpha: f64, beta: f64, epsilon: f64, norm_coefficient_post: f64 },
    /// The state is the direction of the last step.
    Momentum { alpha: f64, beta: f64, nesterov: bool },
}

/// An attribute, with which the operators' texts calculate before anything is rounded to the type of tensors.
fn number(r: &NodeReader<'_, '_>, name: &str) -> Result<f64, Reason> {
    r.float(name).map(f64::from)
}

fn adagrad<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    read(r, Rule::Adagrad { decay: number(r, "decay_factor")?, epsilon: number(r, "epsilon")? })
}

fn adam<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    let (alpha, beta, epsilon) = (number(r, "alpha")?, number(r, "beta")?, number(r, "epsilon")?);
    read(r, Rule::Adam { alpha, beta, epsilon, norm_coefficient_post: number(r, "norm_coefficient_post")? })
}

fn momentum<'m>(r: &NodeReader<'m, '_>) -> Result<Op<'m>, Reason> {
    let nesterov = match r.string("mode")? {
        Some("nesterov") => true,
        Some("standard") => false,
        other => return Err(format!("has unknown `mode` {}", other.unwrap_or_default()).into()),
    };
    read(r, Rule::Momentum { alpha: number(r, "alpha")?, beta: number(r, "beta")?, nesterov })
}

fn read<'m>(r: &NodeReader<'m, '_>, rule: Rule) -> Result<Op<'m>, Reason> {
    let tensors: Vec<&str> = r.inputs().into_iter().skip(2).collect();
    let group = 2 + rule.states();
    if !tensors.len().is_multiple_of(group) {
        let message = format!(
            "optimizes tensors with {} inputs each (a tensor, its gradient, {} of the optimizer), and has {}",
            group,
            rule.states(),
            tensors.len()
        );
        return Err(message.into());
    }
    let norm_coefficient = number(r, "norm_coefficient")?;
    Ok(Conversion::op(Optimizer { rate: r.input(0)?, count: r.input(1)?, tensors, norm_coefficient, rule }))
}

impl Rule {
    fn states(self) -> usize {
        match self {
            Self::Adagrad { .. } | Self::Momentum { .. } => 1,
            Self::Adam { .. } => 2,
        }
    }

    /// The state after the step, of the state before it and the gradient.
    fn state(self, s: &mut Scalars<'_, '_>, which: usize, [state, gradient, count]: [Value; 3]) -> Value {
        match self {
            Self::Adagrad { .. } => {
                let square = s.mul(gradient, gradient);
                s.add(state, square)
            }
            Self::Adam { alpha, beta, .. } => {
                let fade = [alpha, beta][which];
                let news = times(s, 1.0 - fade, gradient);
                let news = if which == 0 { news } else { s.mul(news, gradient) };
                let old = times(s, fade, state);
                s.add(old, news)
            }
            Self::Momentum { alpha, beta, .. } => {
                // The first step has no direction to weigh the gradient against.
                let later = times(s, beta, gradient);
                let news = if_positive(s, count, later, gradient);
                let old = times(s, alpha, state);
                s.add(old, news)
            }
        }
    }

    /// The tensor after the step, of the gradient and the states after it.
    fn step(self, s: &mut Scalars<'_, '_>, [rate, count, x, gradient]: [Value; 4], states: &[Value]) -> Value {
        let ty = s.ty(x);
        match self {
            Self::Adagrad { decay, epsilon } => {
                let steps = s.cast(count, ty);
                let fading = times(s, decay, steps);
                let one = s.number(1.0, ty);
                let fading = s.add(one, fading);
                let rate = s.div(rate, fading);
                let way = s.mul(rate, gradient);
                less(s, x, way, (states[0], epsilon))
            }
            Self::Adam { alpha, beta, epsilon, norm_coefficient_post } => {
                let rate = adam_rate(s, rate, count, (alpha, beta), ty);
                let way = s.mul(rate, states[0]);
                let x = less(s, x, way, (states[1], epsilon));
                times(s, 1.0 - norm_coefficient_post, x)
            }
            Self::Momentum { alpha, nesterov, .. } => {
                let mut way = states[0];
                if nesterov {
                    let ahead = times(s, alpha, way);
                    way = s.add(gradient, ahead);
                }
                let way = s.mul(rate, way);
                s.sub(x, way)
            }
        }
    }
}

/// The rate of Adam, which makes up for averages that began at 0.
fn adam_rate(s: &mut Scalars<'_, '_>, rate: Value, count: Value, (alpha, beta): (f64, f64), ty: Type) -> Value {
    let steps = s.cast(count, ty);
    let one = s.number(1.0, ty);
    let [first, second] = [alpha, beta].map(|fade| {
        let fade = s.number(fade, ty);
        let faded = s.op("math.powf", &[fade, steps], ty);
        s.sub(one, faded)
    });
    let root = s.math("math.sqrt", second);
    let later = s.mul(rate, root);
    let later = s.div(later, first);
    if_positive(s, count, later, rate)
}

fn times(s: &mut Scalars<'_, '_>, factor: f64, x: Value) -> Value {
    let ty = s.ty(x);
    let factor = s.number(factor, ty);
    s.mul(factor, x)
}

fn if_positive(s: &mut Scalars<'_, '_>, count: Value, then: Value, otherwise: Value) -> Value {
    let ty = s.ty(count);
    let zero = s.int(0, ty);
    let positive = s.compare(Comparison::Less, zero, count);
    s.select(positive, then, otherwise)
}

/// `x` less a way, for each element shorter by the root of its square.
fn less(s: &mut Scalars<'_, '_>, x: Value, way: Value, (square, epsilon): (Value, f64)) -> Value {
    let ty = s.ty(x);
    let root = s.math("math.sqrt", square);
    let epsilon = s.number(epsilon, ty);
    let root = s.add(root, epsilon);
    let way = s.div(way, root);
    s.sub(x, way)
}

impl<'m> Convert<'m> for Optimizer<'m> {
    fn results(&self) -> usize {
        self.tensors.len() / (2 + self.rule.states()) * (1 + self.rule.states())
    }

    fn convert(&self, importer: &mut Importer<'m, '_, '_>) -> Made<Vec<Value>> {
        let count = self.tensors.len() / (2 + self.rule.states());
        let (rate, steps) = (importer.value(self.rate)?, importer.value(self.count)?);
        let values = self.tensors.iter().map(|name| importer.value(name)).collect::<Made<Vec<Value>>>()?;
        let mut made = vec![Vec::new(); 1 + self.rule.states()];
        for i in 0..count {
            let of_tensor: Vec<Value> = values[i..].iter().step_by(count).copied().collect();
            let [x, gradient, states @ ..] = &of_tensor[..] else { return fail("optimizes nothing") };
            let elem = importer.g.elem(*x);
            if of_tensor.iter().any(|other| importer.g.elem(*other) != elem) {
                return fail("optimizes a tensor whose gradient or state is of another element type");
            }
            let rate = importer.g.cast(rate, elem)?;
            let norm = self.norm_coefficient;
            let gradient = importer.g.elementwise(&[*x, *gradient], elem, |s, args| {
                let of_norm = times(s, norm, args[0]);
                s.add(of_norm, args[1])
            })?;
            let mut operands = vec![rate, steps, *x, gradient];
            for (which, state) in states.iter().enumerate() {
                let new = importer.g.elementwise(&[*state, gradient, steps], elem, |s, args| {
                    self.rule.state(s, which, [args[0], args[1], args[2]])
                })?;
                operands.push(new);
                made[1 + which].push(new);
            }
            made[0].push(importer.g.elementwise(&operands, elem, |s, args| {
                self.rule.step(s, [args[0], args[1], args[2], args[3]], &args[4..])
            })?);
        }
        Ok(made.concat())
    }
}

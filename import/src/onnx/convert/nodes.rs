//! Operators that compute.

use std::sync::Arc;

use sutura_dialects::arith::RoundingMode;
use sutura_dialects::elements::scalar_type;
use sutura_dialects::graph::Combiner;
use sutura_dialects::graph::build::Scalars;
use sutura_dialects::graph::build::scalar::Comparison;
use sutura_dialects::graph::operator::{Actual, COUNT, Operator, Unsigned, bind};
use sutura_ir::float::{largest, to_f64};
use sutura_ir::types::{FloatKind, TypeData};
use sutura_ir::{Attr, AttrData, Context, NamedAttr, OpState, Type, Value};

use super::super::named::{NamedInput, NamedNumber, Permutations};
use super::super::op::{Binary, Compare, Extremum, Op, Param, Pool, Reduction, Rounding, Unary};
use super::super::tensor::{ElementType, Scalar};
use super::{Importer, Made, fail, literal, windows, wrong};

impl<'m> Importer<'m, '_, '_> {
    /// The values that an operator makes.
    pub(in super::super) fn operator(&mut self, op: &Op<'m>) -> Made<Vec<Value>> {
        let value = match op {
            Op::Unary { function, x } => self.unary(*function, x)?,
            Op::Named { others, .. } => {
                let first = others.is_empty() || self.fits(op).is_ok();
                let other = if first { None } else { others.iter().find(|other| self.fits(other).is_ok()) };
                // Where none fits, the one that takes such a rank says why.
                let told = |of: &mut Self| std::iter::once(op).chain(others).find(|form| of.has_rank(form));
                let form = if first { Some(op) } else { other.or_else(|| told(self)) };
                return self.named(form.unwrap_or(op));
            }
            Op::Binary { function, a, b } => {
                let operands = self.pair(a, b)?;
                self.binary(*function, operands, a)?
            }
            Op::Compare { function, a, b } => {
                let (a, b) = self.pair(a, b)?;
                self.compared(*function, a, b)?
            }
            Op::Extremum { function, inputs } => self.extremum(*function, inputs)?,
            Op::Where { condition, x, y } => {
                let (x, y) = self.pair(x, y)?;
                let condition = self.value(condition)?;
                let elem = self.g.elem(x);
                self.g.elementwise(&[condition, x, y], elem, |s, args| s.select(args[0], args[1], args[2]))?
            }
            Op::Clip { x, lower, upper } => self.clip(x, lower.as_ref(), upper.as_ref())?,
            Op::Cast { x, to, saturate, round } => {
                let (x, to) = (self.value(x)?, self.element(*to)?);
                self.cast(x, to, *saturate, *round)?
            }
            Op::Identity { x } => self.value(x)?,
            Op::Constant { value } => self.constant(value)?,
            Op::MatMul { a, b } => {
                let (a, b) = self.pair(a, b)?;
                self.g.matmul(a, b)?
            }
            Op::Gemm { a, b, c, alpha, beta, transpose_a, transpose_b } => {
                let (a, b) = self.pair(a, b)?;
                let c = c.map(|c| self.value(c)).transpose()?;
                self.g.gemm((a, *transpose_a), (b, *transpose_b), c, (*alpha).into(), (*beta).into())?
            }
            Op::Conv { x, weight, bias, group, window } => {
                let (x, weight) = self.pair(x, weight)?;
                let bias = bias.map(|b| self.value(b)).transpose()?;
                let group = i64::try_from(*group).or_else(|_| fail("has too many groups"))?;
                let window = &windows::of_weight(window, &self.g.shape(weight))?;
                self.g.conv(x, weight, bias, group, &windows::window(window, false)?)?
            }
            Op::ConvTranspose { x, weight, bias, group, window, output_padding, output_shape } => {
                let (x, weight) = self.pair(x, weight)?;
                let bias = bias.map(|b| self.value(b)).transpose()?;
                let group = i64::try_from(*group).or_else(|_| fail("has too many groups"))?;
                let window = &windows::of_weight(window, &self.g.shape(weight))?;
                let window = windows::transposed(window, output_padding, output_shape.as_deref())?;
                self.g.conv_transpose(x, weight, bias, group, &window)?
            }
            Op::Pool { x, function, window, ceil } => {
                let (x, window) = (self.value(x)?, windows::window(window, *ceil)?);
                match function {
                    Pool::Max => self.g.max_pool(x, &window)?,
                    Pool::Average { count_padding } => self.g.average_pool(x, &window, *count_padding)?,
                }
            }
            Op::GlobalAveragePool { x } => {
                let x = self.value(x)?;
                let axes: Vec<usize> = (2..self.g.rank(x)).collect();
                self.g.mean(x, &axes, true)?
            }
            Op::Reduce { function, x, axes, keep_dims } => self.reduce(*function, x, axes.as_deref(), *keep_dims)?,
            Op::CumSum { x, axis, exclusive, reverse } => {
                let x = self.value(x)?;
                let axis = self.g.axis(*axis, self.g.rank(x))?;
                self.g.scan(x, axis, Combiner::Add, *exclusive, *reverse)?
            }
            other => return self.movement(other),
        };
        Ok(vec![value])
    }

    /// The IR's type for elements of a type of ONNX.
    pub(in super::super) fn element(&self, element: ElementType) -> Made<Type> {
        Ok(literal::element_type(self.cx(), element)?)
    }

    /// The elements of `x` converted to `to` as ONNX's `Cast` does it.
    pub(in super::super) fn cast(&mut self, x: Value, to: Type, saturate: bool, round: Rounding) -> Made {
        if self.g.elem(x) == to {
            return Ok(x);
        }
        if matches!(self.cx().type_data(to), TypeData::Float(FloatKind::F8E8M0FNU)) {
            return Ok(self.g.elementwise(&[x], to, |s, args| power_of_two(s, args[0], saturate, round, to))?);
        }
        Ok(match saturation(self.cx(), to).filter(|_| saturate) {
            Some(largest) => self.g.elementwise(&[x], to, |s, args| saturated(s, args[0], largest, to))?,
            None => self.g.cast(x, to)?,
        })
    }

    /// An operator of the library, applied by name.
    fn named(&mut self, op: &Op<'m>) -> Made<Vec<Value>> {
        let Op::Named { operator, inputs, variadic, rank, attributes, permute, unsigned, .. } = op else {
            return wrong("is no operator of the library");
        };
        let cx = self.cx();
        let declared = self.declared(operator)?;
        let given = self.shared_elem(&declared, inputs)?;
        let elem = unsigned.map_or(given, |_| scalar_type(cx, given));
        let mut values = Vec::new();
        for (i, input) in inputs.iter().enumerate() {
            values.push(match input {
                NamedInput::Value(name) => {
                    let value = self.value(name)?;
                    let value = self.permuted(value, i, &permute.0)?;
                    self.signless(value, *unsigned)?
                }
                NamedInput::Absent(number) => {
                    let elem = self.absent_elem(&declared, i, elem);
                    self.scalar(*number, elem)?
                }
            });
        }
        let attributes = self.numbers(attributes);
        self.check_rank(&declared, *rank, values.first().copied())?;
        let Some(by) = variadic else {
            let results = match self.tells_sizes(&declared, &values) {
                true => {
                    let attributes: Vec<(&str, Attr)> = attributes.iter().map(|a| (cx.str(a.name), a.value)).collect();
                    self.g.expanded(&declared.name, &values, &attributes)?
                }
                false => self.g.apply(&declared, &values, &attributes)?,
            };
            let results = results.into_iter().zip(&declared.results).enumerate();
            let back = |of: &mut Self, i: usize, result: Value, formal: Type| {
                let shared = elem != given && formal == declared.elements[0];
                let result = if shared { of.g.bitcast(result, given) } else { result };
                of.permuted(result, i, &permute.1)
            };
            return results.map(|(i, (result, formal))| back(self, i, result, formal.elem)).collect();
        };
        let joins = self.declared(by)?;
        let Some((first, rest)) = values.split_first() else { return wrong("has no input") };
        let mut joined = *first;
        for next in rest {
            let made = self.g.apply(&joins, &[joined, *next], &[])?;
            joined = made.first().copied().unwrap_or(joined);
        }
        if by == operator {
            return Ok(vec![joined]);
        }
        let count = NamedAttr { name: cx.ident(COUNT), value: cx.int_attr(values.len() as i64, Type::I64) };
        Ok(self.g.apply(&declared, &[joined], &[count])?)
    }

    /// Whether an operator computes with sizes, of which nothing is known behind its name.
    fn tells_sizes(&self, declared: &Operator, inputs: &[Value]) -> bool {
        let is_known = |value: &Value| {
            let elem = self.g.elem(*value);
            !elem.is_float(self.cx()) && self.g.contents(*value).is_some_and(|known| known.iter().all(Option::is_some))
        };
        declared.name == "size" || inputs.iter().all(is_known)
    }

    /// The first result of an operator of the library, which the conversion of a node lists as one that it applies.
    pub(in super::super) fn applied(
        &mut self,
        operator: &str,
        inputs: &[Value],
        attributes: &[(String, NamedNumber)],
    ) -> Made {
        let (declared, attributes) = (self.declared(operator)?, self.numbers(attributes));
        match self.g.apply(&declared, inputs, &attributes)?.first() {
            Some(made) => Ok(*made),
            None => fail(format!("needs a result of @{operator}, which makes none")),
        }
    }

    /// Integers without sign as signless ones, as an operator takes them.
    fn signless(&mut self, x: Value, unsigned: Option<Unsigned>) -> Made {
        let elem = self.g.elem(x);
        let signless = scalar_type(self.cx(), elem);
        let Some(unsigned) = unsigned.filter(|_| elem != signless) else { return Ok(x) };
        let bits = self.g.bitcast(x, signless);
        if unsigned == Unsigned::Bits {
            return Ok(bits);
        }
        Ok(self.g.map(bits, |s, x| {
            let width = s.cx().bit_width(signless).unwrap_or(64);
            let first = s.int(i64::MIN >> (64 - width), signless);
            s.bits("arith.xori", x, first)
        })?)
    }

    /// An operator of the library.
    pub(in super::super) fn declared(&self, operator: &str) -> Made<Arc<Operator>> {
        match self.g.env.operators.get(operator) {
            Some(declared) => Ok(declared.clone()),
            None => fail(format!("needs the operator @{operator}, which the library does not have")),
        }
    }

    /// The element type that inputs share, which those that are left out have too.
    fn shared_elem(&mut self, declared: &Operator, inputs: &[NamedInput<'m>]) -> Made<Type> {
        let mut elem = declared.elements[0];
        for (formal, input) in declared.inputs.iter().zip(inputs).rev() {
            if let NamedInput::Value(name) = input
                && formal.elem == declared.elements[0]
            {
                let value = self.value(name)?;
                elem = self.g.elem(value);
            }
        }
        Ok(elem)
    }

    /// The element type of an input that is left out, where those that share one have `elem`.
    fn absent_elem(&self, declared: &Operator, input: usize, elem: Type) -> Type {
        declared.inputs.get(input).map_or(elem, |formal| declared.retyped(self.cx(), formal.elem, elem))
    }

    fn numbers(&self, attributes: &[(String, NamedNumber)]) -> Vec<NamedAttr> {
        let cx = self.cx();
        let number = |number: &NamedNumber| match number {
            NamedNumber::Int(value) => cx.int_attr(*value, Type::I64),
            NamedNumber::Float(value) => cx.f32_attr(*value),
        };
        attributes.iter().map(|(name, value)| NamedAttr { name: cx.ident(name), value: number(value) }).collect()
    }

    fn check_rank(&self, declared: &Operator, wanted: Option<usize>, first: Option<Value>) -> Made<()> {
        let found = first.map(|value| self.g.rank(value));
        match (wanted, found) {
            (Some(wanted), Some(found)) if wanted != found => {
                let name = declared.inputs.first().map_or("", |formal| &formal.name);
                wrong(format!("'{name}' has rank {found}, it must have {wanted}"))
            }
            _ => Ok(()),
        }
    }

    /// Whether the first tensor of a node has as many dimensions as a form of it wants.
    fn has_rank(&mut self, op: &Op<'m>) -> bool {
        let Op::Named { inputs, rank: Some(rank), .. } = op else { return true };
        match inputs.first() {
            Some(NamedInput::Value(name)) => self.value(name).is_ok_and(|value| self.g.rank(value) == *rank),
            _ => true,
        }
    }

    /// Whether the tensors of a node fit a form of it. Nothing is built or assumed.
    fn fits(&mut self, op: &Op<'m>) -> Made<()> {
        let Op::Named { operator, inputs, rank, attributes, permute, unsigned, .. } = op else {
            return wrong("is no operator of the library");
        };
        let declared = self.declared(operator)?;
        let cx = self.cx();
        let taken = |elem: Type| unsigned.map_or(elem, |_| scalar_type(cx, elem));
        let elem = taken(self.shared_elem(&declared, inputs)?);
        let mut actuals = Vec::new();
        for (i, input) in inputs.iter().enumerate() {
            actuals.push(match input {
                NamedInput::Value(name) => {
                    let value = self.value(name)?;
                    if i == 0 {
                        self.check_rank(&declared, *rank, Some(value))?;
                    }
                    let (elem, shape) = (taken(self.g.elem(value)), self.g.shape(value));
                    let order = order_of(i, shape.len(), &permute.0)?;
                    let shape = order.map_or(shape.clone(), |order| order.iter().map(|d| shape[*d].clone()).collect());
                    Actual { elem, shape }
                }
                NamedInput::Absent(_) => Actual { elem: self.absent_elem(&declared, i, elem), shape: Vec::new() },
            });
        }
        let attributes = self.numbers(attributes);
        bind(self.cx(), &declared, &actuals, &attributes, &mut self.g.env.facts.clone())?;
        Ok(())
    }

    /// The value with its dimensions in the order that is listed for its number.
    fn permuted(&mut self, value: Value, number: usize, orders: &Permutations) -> Made {
        let Some(order) = order_of(number, self.g.rank(value), orders)? else { return Ok(value) };
        Ok(self.g.transpose(value, order)?)
    }

    /// A tensor of rank 0.
    pub(in super::super) fn scalar(&mut self, number: f64, elem: Type) -> Made {
        let cx = self.cx();
        let word = match cx.attr_data(literal::number(cx, Scalar::Float(number), elem)) {
            AttrData::Integer { value, .. } => Some(value as u64),
            AttrData::Float { bits, .. } => Some(bits),
            _ => None,
        };
        let dense = word.and_then(|word| cx.dense_attr(cx.tensor_type(&[], elem, None), &[word]));
        match dense {
            Some(dense) => Ok(self.g.constant(dense)),
            None => fail("has an input that is left out and has no default"),
        }
    }

    /// A value that must hold floats.
    fn float(&mut self, name: &'m str) -> Made {
        let value = self.value(name)?;
        if self.g.elem(value).is_float(self.cx()) { Ok(value) } else { fail(format!("`{name}` must hold floats")) }
    }

    pub(in super::super) fn pair(&mut self, a: &'m str, b: &'m str) -> Made<(Value, Value)> {
        Ok((self.value(a)?, self.value(b)?))
    }

    fn unary(&mut self, function: Unary, x: &'m str) -> Made {
        let math = match function {
            Unary::Ceil => Some("math.ceil"),
            Unary::Cos => Some("math.cos"),
            Unary::Erf => Some("math.erf"),
            Unary::Exp => Some("math.exp"),
            Unary::Floor => Some("math.floor"),
            Unary::Log => Some("math.log"),
            Unary::Round => Some("math.roundeven"),
            Unary::Sin => Some("math.sin"),
            Unary::Sqrt => Some("math.sqrt"),
            Unary::Tanh => Some("math.tanh"),
            _ => None,
        };
        if let Some(name) = math {
            let x = self.float(x)?;
            return Ok(self.g.map(x, |s, x| s.math(name, x))?);
        }
        let value = self.value(x)?;
        let is_bool = self.g.elem(value) == Type::I1;
        if is_bool != (function == Unary::Not) {
            return fail(format!("`{x}` has an element type that the operator does not take"));
        }
        Ok(self.g.map(value, |s, x| match function {
            Unary::Abs => s.abs(x),
            Unary::Neg => s.neg(x),
            Unary::Not => s.not(x),
            Unary::Reciprocal => s.reciprocal(x),
            _ => {
                let zero = s.number(0.0, s.ty(x));
                s.max(x, zero)
            }
        })?)
    }

    /// A comparison of two tensors that are broadcast together.
    pub(in super::super) fn compared(&mut self, function: Compare, a: Value, b: Value) -> Made {
        let comparison = comparison(function);
        Ok(self.g.elementwise(&[a, b], Type::I1, |s, args| s.compare(comparison, args[0], args[1]))?)
    }

    /// A function of two tensors that are broadcast together; the model calls the first one `a`.
    pub(in super::super) fn binary(&mut self, function: Binary, (x, y): (Value, Value), a: &str) -> Made {
        if function == Binary::Pow {
            return self.pow(x, y);
        }
        let logical = matches!(function, Binary::And | Binary::Or);
        if function == Binary::IntegerMod && self.g.elem(x).is_float(self.cx()) {
            return wrong("is a modulus of floats, which needs `fmod` to be 1 before opset 28");
        }
        if logical != (self.g.elem(x) == Type::I1) {
            return fail(format!("`{a}` has an element type that the operator does not take"));
        }
        Ok(self.g.zip(x, y, |s, x, y| match function {
            Binary::Add => s.add(x, y),
            Binary::Sub => s.sub(x, y),
            Binary::Mul => s.mul(x, y),
            Binary::And => s.bits("arith.andi", x, y),
            Binary::Or => s.bits("arith.ori", x, y),
            Binary::Mod | Binary::IntegerMod => s.modulo(x, y),
            Binary::Remainder => s.rem(x, y),
            _ => s.div(x, y),
        })?)
    }

    /// Small powers become products and roots, which are exact where the function is not.
    fn pow(&mut self, x: Value, y: Value) -> Made {
        let exponent = self.single_number(y);
        if let Some(exponent) = exponent
            && self.g.shape(y).len() <= self.g.shape(x).len()
            && (self.g.elem(x).is_float(self.cx()) || [1.0, 2.0, 3.0].contains(&exponent))
            && let Some(power) = small_power(exponent)
        {
            return Ok(self.g.map(x, |s, x| power(s, x))?);
        }
        let cx = self.cx();
        Ok(self.g.zip(x, y, |s, x, y| {
            let (base, power) = (s.ty(x), s.ty(y));
            match (base.is_float(cx), power.is_float(cx)) {
                (true, _) => {
                    let y = s.cast(y, base);
                    s.op("math.powf", &[x, y], base)
                }
                (false, false) => s.powi(x, y),
                (false, true) => {
                    let x = s.cast(x, power);
                    let result = s.op("math.powf", &[x, y], power);
                    s.cast(result, base)
                }
            }
        })?)
    }

    /// The number that all elements of a constant are.
    fn single_number(&self, value: Value) -> Option<f64> {
        let cx = self.cx();
        let constant = sutura_ir::registry::constant_of(self.g.b.body(), cx, value)?;
        let number = cx.splat_value(constant)?;
        cx.as_f64(number).or_else(|| cx.as_int(number).map(|v| v as f64))
    }

    fn extremum(&mut self, function: Extremum, inputs: &[&'m str]) -> Made {
        let values = self.values(inputs)?;
        let Some(first) = values.first() else { return wrong("has no input") };
        let elem = self.g.elem(*first);
        if values.len() == 1 {
            return Ok(*first);
        }
        Ok(self.g.elementwise(&values, elem, |s, args| {
            let join = |a, b| match function {
                Extremum::Max => s.max(a, b),
                Extremum::Min => s.min(a, b),
            };
            args.iter().copied().reduce(join).unwrap_or(args[0])
        })?)
    }

    fn clip(&mut self, x: &'m str, lower: Option<&Param<'m, Scalar>>, upper: Option<&Param<'m, Scalar>>) -> Made {
        let x = self.value(x)?;
        let (cx, elem) = (self.cx(), self.g.elem(x));
        let mut operands = vec![x];
        // Where each bound is: a number, or an operand.
        let mut bound = |param: Option<&Param<'m, Scalar>>| match param {
            None => Ok(None),
            Some(Param::Known(value)) => Ok(Some(Ok(literal::number(cx, *value, elem)))),
            Some(Param::Value(name)) => {
                let value = self.value(name)?;
                if self.g.rank(value) != 0 {
                    return wrong(format!("bound `{name}` must be one number, without dimensions"));
                }
                operands.push(value);
                Ok(Some(Err(operands.len() - 1)))
            }
        };
        let (lower, upper) = (bound(lower)?, bound(upper)?);
        Ok(self.g.elementwise(&operands, elem, |s, args| {
            let mut x = args[0];
            if let Some(lower) = lower {
                let lower = lower.map_or_else(|i| args[i], |attr| s.constant(attr, elem));
                x = s.max(x, lower);
            }
            if let Some(upper) = upper {
                let upper = upper.map_or_else(|i| args[i], |attr| s.constant(attr, elem));
                x = s.min(x, upper);
            }
            x
        })?)
    }

    pub(in super::super) fn reduce(
        &mut self,
        function: Reduction,
        x: &'m str,
        axes: Option<&[i64]>,
        keep: bool,
    ) -> Made {
        let x = self.value(x)?;
        let (rank, elem) = (self.g.rank(x), self.g.elem(x));
        let axes = match axes {
            Some(axes) => self.g.axes(axes, rank)?,
            None => (0..rank).collect(),
        };
        if axes.is_empty() {
            return Ok(x);
        }
        let sum = Combiner::Add;
        Ok(match function {
            Reduction::Mean => self.g.mean(x, &axes, keep)?,
            Reduction::Max => self.g.reduce(x, &axes, keep, Combiner::Max, elem, |_, x| x),
            Reduction::Min => self.g.reduce(x, &axes, keep, Combiner::Min, elem, |_, x| x),
            Reduction::Prod => self.g.reduce(x, &axes, keep, Combiner::Mul, elem, |_, x| x),
            Reduction::Sum => self.g.reduce(x, &axes, keep, sum, elem, |_, x| x),
            Reduction::L1 => self.g.reduce(x, &axes, keep, sum, elem, |s, x| s.abs(x)),
            Reduction::SumSquare => self.g.reduce(x, &axes, keep, sum, elem, |s, x| s.mul(x, x)),
            Reduction::LogSumExp => self.g.log_sum_exp(x, &axes, keep)?,
            Reduction::L2 => {
                let squares = self.g.reduce(x, &axes, keep, sum, elem, |s, x| s.mul(x, x));
                self.g.map(squares, |s, x| s.math("math.sqrt", x))?
            }
            Reduction::LogSum => {
                let total = self.g.reduce(x, &axes, keep, sum, elem, |_, x| x);
                self.g.map(total, |s, x| s.math("math.log", x))?
            }
        })
    }
}

fn comparison(function: Compare) -> Comparison {
    match function {
        Compare::Equal => Comparison::Equal,
        Compare::Greater => Comparison::Greater,
        Compare::GreaterOrEqual => Comparison::GreaterOrEqual,
        Compare::Less => Comparison::Less,
        Compare::LessOrEqual => Comparison::LessOrEqual,
    }
}

type Power = fn(&mut Scalars<'_, '_>, Value) -> Value;

fn small_power(exponent: f64) -> Option<Power> {
    let power: Power = match exponent {
        1.0 => |_, x| x,
        2.0 => |s, x| s.mul(x, x),
        3.0 => |s, x| {
            let square = s.mul(x, x);
            s.mul(square, x)
        },
        0.5 => |s, x| s.math("math.sqrt", x),
        -1.0 => |s, x| s.reciprocal(x),
        _ => return None,
    };
    Some(power)
}

/// The order that is listed for the dimensions of what has this number.
fn order_of(number: usize, rank: usize, orders: &Permutations) -> Made<Option<&'static [usize]>> {
    match orders.iter().find(|(listed, _)| *listed == number) {
        Some((_, order)) if order.len() != rank => {
            wrong(format!("has a tensor of rank {rank}, it must have {}", order.len()))
        }
        found => Ok(found.map(|(_, order)| *order)),
    }
}

/// The largest number of a float of one byte, to which a conversion saturates.
fn saturation(cx: &Context, to: Type) -> Option<f64> {
    match cx.type_data(to) {
        TypeData::Float(kind) if kind.bits() == 8 => Some(largest(kind)),
        _ => None,
    }
}

/// `x` as a float of one byte; what is too large, infinities included, becomes the largest number. NaN stays NaN.
fn saturated(s: &mut Scalars<'_, '_>, x: Value, largest: f64, to: Type) -> Value {
    let wide = if s.ty(x).is_float(s.cx()) { x } else { s.cast(x, Type::F32) };
    let wide = if s.cx().bit_width(s.ty(wide)).is_some_and(|bits| bits < 32) { s.cast(wide, Type::F32) } else { wide };
    let (low, high) = (s.number(-largest, s.ty(wide)), s.number(largest, s.ty(wide)));
    let above = s.max(wide, low);
    let within = s.min(above, high);
    s.cast(within, to)
}

/// `x` as a power of two. What is too large, infinity included, becomes the largest power where the conversion saturates, and NaN
/// where it does not; what is too small becomes the smallest one, or NaN. Of negative numbers ONNX says nothing: they become NaN.
fn power_of_two(s: &mut Scalars<'_, '_>, x: Value, saturate: bool, round: Rounding, to: Type) -> Value {
    let wide = if s.ty(x).is_float(s.cx()) { x } else { s.cast(x, Type::F32) };
    let wide = if s.cx().bit_width(s.ty(wide)).is_some_and(|bits| bits < 32) { s.cast(wide, Type::F32) } else { wide };
    let ty = s.ty(wide);
    let within = if saturate {
        let high = s.number(largest(FloatKind::F8E8M0FNU), ty);
        s.min(wide, high)
    } else {
        let (low, nan) = (s.number(to_f64(FloatKind::F8E8M0FNU, 0), ty), s.number(f64::NAN, ty));
        let is_low = s.compare(Comparison::Less, wide, low);
        s.select(is_low, nan, wide)
    };
    let mode = match round {
        Rounding::Nearest => return s.op("arith.truncf", &[within], to),
        Rounding::Up => RoundingMode::Upward,
        Rounding::Down => RoundingMode::Downward,
    };
    let cx = s.cx();
    let state = OpState::new(cx.op_name("arith.truncf"), s.loc()).operands([within]).results([to]);
    s.create(state.prop(cx.ident("roundingmode"), cx.int_attr(mode as i64, Type::I32)))
}

//! Scalar bodies written for one element type, for another.

use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use sutura_ir::op_ref::BlockRef;
use sutura_ir::{Attr, Context, OpRef, OpState, Type, Value};

use super::super::build::scalar::Comparison;
use super::super::build::{Built, Scalars, fail, unsupported};
use super::super::ops::{IndexOp, SizeOp, YieldOp};
use super::bind::{Binding, Number};
use super::{Operator, ParamOp};
use crate::r#dyn::Poly;

type Namesake = fn(&mut Scalars<'_, '_>, &[Value]) -> Value;

/// Ops on floats that stand for an op on integers where the elements are integers.
const NAMESAKES: &[(&str, Namesake)] = &[
    ("arith.addf", |s, a| s.add(a[0], a[1])),
    ("arith.subf", |s, a| s.sub(a[0], a[1])),
    ("arith.mulf", |s, a| s.mul(a[0], a[1])),
    ("arith.divf", |s, a| s.div(a[0], a[1])),
    ("arith.remf", |s, a| s.rem(a[0], a[1])),
    ("arith.maximumf", |s, a| s.max(a[0], a[1])),
    ("arith.minimumf", |s, a| s.min(a[0], a[1])),
    ("arith.negf", |s, a| s.neg(a[0])),
    ("math.absf", |s, a| s.abs(a[0])),
];

/// Conversions, which go where both types become the same.
const CASTS: &[&str] = &[
    "arith.extf",
    "arith.truncf",
    "arith.extsi",
    "arith.extui",
    "arith.trunci",
    "arith.sitofp",
    "arith.uitofp",
    "arith.fptosi",
    "arith.fptoui",
    "arith.index_cast",
];

/// The comparison that a predicate of `arith.cmpf` is of integers, which are never unordered.
fn comparison(predicate: i64) -> Option<Comparison> {
    Some(match predicate {
        1 | 8 => Comparison::Equal,
        2 | 9 => Comparison::Greater,
        3 | 10 => Comparison::GreaterOrEqual,
        4 | 11 => Comparison::Less,
        5 | 12 => Comparison::LessOrEqual,
        6 | 13 => Comparison::NotEqual,
        _ => return None,
    })
}

/// Whether an op on floats means something where its operands are integers.
pub(super) fn has_namesake(op: OpRef<'_>) -> bool {
    let name = op.name_str();
    let compares = || op.prop("predicate").and_then(|p| op.cx.as_int(p)).and_then(comparison).is_some();
    NAMESAKES.iter().any(|(float, _)| *float == name)
        || CASTS.contains(&name)
        || ["arith.constant", "arith.select", "graph.param", "graph.yield"].contains(&name)
        || (name == "arith.cmpf" && compares())
}

/// A value of the copy.
#[derive(Clone, Copy)]
enum Copied {
    Value(Value),
    /// A number that is known, of this type. It becomes a constant where it is first used, so that conversions cost nothing.
    Known(Number, Type),
}

/// Copies scalar ops of a declaration, with the types, sizes and attributes of an application.
pub(super) struct Numbers<'o> {
    pub(super) cx: &'o Context,
    pub(super) operator: &'o Operator,
    pub(super) binding: &'o Binding,
    /// What each iterator of the declaration became: iterators, and how far each of them runs.
    pub(super) iterators: &'o [Vec<(usize, Option<Poly>)>],
}

impl Numbers<'_> {
    /// Copies the ops of `body` and returns what it yields.
    ///
    /// # Errors
    /// When an op has no meaning on the element type, or needs a size that is not known.
    pub(super) fn copy(&self, s: &mut Scalars<'_, '_>, body: BlockRef<'_>, args: &[Value]) -> Built<Vec<Value>> {
        let args = body.args().iter().copied().zip(args.iter().map(|v| Copied::Value(*v)));
        let mut values: FxHashMap<Value, Copied> = args.collect();
        for op in body.ops() {
            if op.is::<YieldOp<'_>>() {
                return op.operands().map(|v| self.value(s, &mut values, v)).collect();
            }
            let made = self.op(s, &mut values, op)?;
            values.insert(op.result(0), made);
        }
        fail("has a body without end")
    }

    /// The copy of `value` as a value.
    fn value(&self, s: &mut Scalars<'_, '_>, values: &mut FxHashMap<Value, Copied>, value: Value) -> Built {
        match values.get(&value) {
            Some(Copied::Value(value)) => Ok(*value),
            Some(Copied::Known(number, ty)) => {
                let constant = s.constant(number_attr(self.cx, *number, *ty)?, *ty);
                values.insert(value, Copied::Value(constant));
                Ok(constant)
            }
            None => fail("uses a number from outside its body"),
        }
    }

    fn op(&self, s: &mut Scalars<'_, '_>, values: &mut FxHashMap<Value, Copied>, op: OpRef<'_>) -> Built<Copied> {
        let text = op.ty(op.result(0));
        let ty = self.operator.retyped(self.cx, text, self.binding.elem);
        if let Some(param) = op.as_::<ParamOp<'_>>() {
            let at = self.operator.attributes.iter().position(|a| a.name == param.attribute());
            return match at {
                Some(at) => Ok(Copied::Known(self.binding.attributes[at], ty)),
                None => fail(format!("reads the attribute '{}', which it does not declare", param.attribute())),
            };
        }
        if let Some(size) = op.as_::<SizeOp<'_>>() {
            let Some(size) = self.binding.poly(size.size()) else {
                return unsupported("needs a size that depends on data");
            };
            return Ok(match size.as_const() {
                Some(size) => Copied::Known(Number::Int(size), ty),
                None => Copied::Value(s.size(&size)),
            });
        }
        if let Some(index) = op.as_::<IndexOp<'_>>() {
            return self.index(s, &self.iterators[index.iterator() as usize], ty);
        }
        let name = op.name_str();
        if name == "arith.constant" {
            let number = op.prop("value").and_then(|value| Number::of(self.cx, value));
            let number = number.map(|number| number_attr(self.cx, number, ty)).transpose()?;
            return number
                .map_or_else(|| fail("has a constant that is no number"), |n| Ok(Copied::Value(s.constant(n, ty))));
        }
        let first = op.operands().next().and_then(|v| values.get(&v).copied());
        if CASTS.contains(&name) {
            return self.cast(s, op, first, ty);
        }
        if name == "arith.negf"
            && let Some(Copied::Known(number, _)) = first
        {
            return Ok(Copied::Known(negated(number), ty));
        }
        let operands = op.operands().map(|v| self.value(s, values, v)).collect::<Built<SmallVec<[Value; 3]>>>()?;
        self.arithmetic(s, op, &operands, ty).map(Copied::Value)
    }

    /// The number of a point along an iterator of the declaration: row-major where that became several.
    fn index(&self, s: &mut Scalars<'_, '_>, iterators: &[(usize, Option<Poly>)], ty: Type) -> Built<Copied> {
        let Some(((first, _), rest)) = iterators.split_first() else { return Ok(Copied::Known(Number::Int(0), ty)) };
        let mut number = s.index(*first);
        for (iterator, size) in rest {
            let Some(size) = size else { return unsupported("needs a size that depends on data") };
            let (size, index) = (s.size(size), s.index(*iterator));
            let row = s.mul(number, size);
            number = s.add(row, index);
        }
        Ok(Copied::Value(number))
    }

    fn cast(&self, s: &mut Scalars<'_, '_>, op: OpRef<'_>, from: Option<Copied>, to: Type) -> Built<Copied> {
        match from {
            Some(Copied::Known(number, _)) => Ok(Copied::Known(converted(self.cx, number, to), to)),
            Some(Copied::Value(x)) if s.ty(x) == to => Ok(Copied::Value(x)),
            Some(Copied::Value(x)) if keeps_meaning(self.cx, op.name_str(), s.ty(x), to) => {
                Ok(Copied::Value(s.op(op.name_str(), &[x], to)))
            }
            Some(Copied::Value(x)) => Ok(Copied::Value(s.cast(x, to))),
            None => fail("converts a number from outside its body"),
        }
    }

    fn arithmetic(&self, s: &mut Scalars<'_, '_>, op: OpRef<'_>, operands: &[Value], ty: Type) -> Built {
        let name = op.name_str();
        let float = op.operand_types().next().is_some_and(|ty| ty.is_float(self.cx));
        let integer = operands.first().is_some_and(|x| s.ty(*x).is_integer(self.cx));
        if float && integer && name != "arith.select" {
            if let Some((_, namesake)) = NAMESAKES.iter().find(|(float, _)| *float == name) {
                return Ok(namesake(s, operands));
            }
            let predicate = op.prop("predicate").and_then(|p| self.cx.as_int(p)).and_then(comparison);
            return match predicate.filter(|_| name == "arith.cmpf") {
                Some(comparison) => Ok(s.compare(comparison, operands[0], operands[1])),
                None => unsupported(format!("uses '{name}', which has no meaning on integers")),
            };
        }
        let mut state = OpState::new(op.name(), s.loc());
        state.operands.extend(operands.iter().copied());
        state.result_types.push(ty);
        state.props.extend(self.cx.entries(op.body.props(op.op)).iter().copied());
        Ok(s.create(state))
    }
}

/// Whether a conversion of this name goes from `from` to `to`.
fn keeps_meaning(cx: &Context, name: &str, from: Type, to: Type) -> bool {
    let (a, b) = (from.is_float(cx), to.is_float(cx));
    let bits = |ty| cx.bit_width(ty).unwrap_or(64);
    match name {
        "arith.extf" => a && b && bits(from) < bits(to),
        "arith.truncf" => a && b && bits(from) > bits(to),
        "arith.extsi" | "arith.extui" => !a && !b && bits(from) < bits(to),
        "arith.trunci" => !a && !b && bits(from) > bits(to),
        "arith.sitofp" | "arith.uitofp" => !a && b && from != Type::INDEX,
        "arith.fptosi" | "arith.fptoui" => a && !b && to != Type::INDEX,
        _ => !a && !b && (from == Type::INDEX) != (to == Type::INDEX),
    }
}

fn negated(number: Number) -> Number {
    match number {
        Number::Int(value) => Number::Int(value.wrapping_neg()),
        Number::Float(value) => Number::Float(-value),
    }
}

fn converted(cx: &Context, number: Number, to: Type) -> Number {
    match (number, to.is_float(cx)) {
        (Number::Int(value), true) => Number::Float(value as f64),
        (Number::Float(value), false) => Number::Int(value as i64),
        (same, _) => same,
    }
}

/// A number as an attribute of type `ty`, rounded to it.
///
/// # Errors
/// When `ty` holds integers and the number is none.
pub(super) fn number_attr(cx: &Context, number: Number, ty: Type) -> Built<Attr> {
    match (number, ty.is_float(cx)) {
        (Number::Int(value), true) => Ok(cx.float_attr(value as f64, ty)),
        (Number::Float(value), true) => Ok(cx.float_attr(value, ty)),
        (Number::Int(value), false) => Ok(cx.int_attr(value, ty)),
        (Number::Float(value), false) if value.fract() == 0.0 && value.abs() < 9e15 => {
            Ok(cx.int_attr(value as i64, ty))
        }
        (Number::Float(value), false) => unsupported(format!("needs the number {value} as an integer")),
    }
}

//! Scalar bodies: `arith` and `math` ops chosen by the type of their operands.

use rustc_hash::FxHashMap;
use smallvec::smallvec;
use sutura_ir::{Attr, AttrData, Builder, Context, Loc, OpState, Type, Value};

use super::super::ops::{IndexOp, SizeOp};
use crate::r#dyn::Poly;
use crate::elements::{is_unsigned, scalar_type};

/// The constant `value` of type `ty` at the builder's insertion point.
pub fn constant(b: &mut Builder<'_>, loc: Loc, value: Attr, ty: Type) -> Value {
    let state = OpState::new(b.cx().op_name("arith.constant"), loc).prop(b.cx().ident("value"), value).results([ty]);
    let op = b.create(state);
    b.body().result(op, 0)
}

/// A number as functions of elements take it: an integer without sign is signless there.
pub(super) fn signless(cx: &Context, number: Attr) -> Attr {
    match cx.attr_data(number) {
        AttrData::Integer { ty, value } if is_unsigned(cx, ty) => cx.int_attr(value, scalar_type(cx, ty)),
        _ => number,
    }
}

/// Comparisons of numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Comparison {
    Equal,
    /// True for NaN.
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// Makes scalar ops. Integers are signed but for `i1` and those that stand for elements without sign: numbers are signless in
/// the program, and what they stand for is remembered here.
pub struct Scalars<'s, 'b> {
    b: &'s mut Builder<'b>,
    loc: Loc,
    /// Numbers that stand for integers without sign, with their types.
    unsigned: FxHashMap<Value, Type>,
}

impl<'s, 'b> Scalars<'s, 'b> {
    /// Makes ops at the insertion point of `b`.
    pub fn new(b: &'s mut Builder<'b>, loc: Loc) -> Self {
        Self { b, loc, unsigned: FxHashMap::default() }
    }

    /// Context.
    pub fn cx(&self) -> &'b Context {
        self.b.cx()
    }

    /// Says that `x` stands for an element of type `elem`.
    pub fn stands_for(&mut self, x: Value, elem: Type) {
        if is_unsigned(self.cx(), elem) {
            self.unsigned.insert(x, elem);
        }
    }

    /// Type of the element that a number stands for.
    pub fn ty(&self, x: Value) -> Type {
        self.unsigned.get(&x).copied().unwrap_or_else(|| self.b.body().ty(x))
    }

    fn is_unsigned(&self, x: Value) -> bool {
        self.ty(x) == Type::I1 || self.unsigned.contains_key(&x)
    }

    fn is_float(&self, x: Value) -> bool {
        self.ty(x).is_float(self.cx())
    }

    /// Location of new ops.
    pub fn loc(&self) -> Loc {
        self.loc
    }

    /// The op with one result that `state` describes.
    pub fn create(&mut self, state: OpState) -> Value {
        let op = self.b.create(state);
        self.b.body().result(op, 0)
    }

    /// The op `name` with one result, which stands for an element of type `ty`.
    pub fn op(&mut self, name: &str, operands: &[Value], ty: Type) -> Value {
        let mut state = OpState::new(self.cx().op_name(name), self.loc);
        state.operands = operands.iter().copied().collect();
        state.result_types = smallvec![scalar_type(self.cx(), ty)];
        let op = self.b.create(state);
        let result = self.b.body().result(op, 0);
        self.stands_for(result, ty);
        result
    }

    /// The op `name` on numbers of one type, with a result of the same.
    fn same(&mut self, float: &str, int: &str, operands: &[Value]) -> Value {
        let name = if self.is_float(operands[0]) { float } else { int };
        self.op(name, operands, self.ty(operands[0]))
    }

    /// A function of one float, from `math`.
    pub fn math(&mut self, name: &str, x: Value) -> Value {
        self.op(name, &[x], self.ty(x))
    }

    /// The number `value` of type `ty`, rounded.
    pub fn number(&mut self, value: f64, ty: Type) -> Value {
        match ty.is_float(self.cx()) {
            true => self.constant(self.cx().float_attr(value, ty), ty),
            false => self.int(value as i64, ty),
        }
    }

    /// The integer `value` of type `ty`.
    pub fn int(&mut self, value: i64, ty: Type) -> Value {
        let attr = self.cx().int_attr(value, scalar_type(self.cx(), ty));
        self.constant(attr, ty)
    }

    /// A number given as attribute, which stands for an element of type `ty`.
    pub fn constant(&mut self, value: Attr, ty: Type) -> Value {
        let (value, scalar) = (signless(self.cx(), value), scalar_type(self.cx(), ty));
        let number = constant(self.b, self.loc, value, scalar);
        self.stands_for(number, ty);
        number
    }

    /// Value of iterator `i`, an `index`.
    pub fn index(&mut self, i: usize) -> Value {
        IndexOp::value(self.b, self.loc, i as i64)
    }

    /// Value of a size, an `index`.
    pub fn size(&mut self, size: &Poly) -> Value {
        match size.as_const() {
            Some(value) => self.int(value, Type::INDEX),
            None => SizeOp::value(self.b, self.loc, size),
        }
    }

    /// `a + b`
    pub fn add(&mut self, a: Value, b: Value) -> Value {
        self.same("arith.addf", "arith.addi", &[a, b])
    }

    /// `a - b`
    pub fn sub(&mut self, a: Value, b: Value) -> Value {
        self.same("arith.subf", "arith.subi", &[a, b])
    }

    /// `a * b`
    pub fn mul(&mut self, a: Value, b: Value) -> Value {
        self.same("arith.mulf", "arith.muli", &[a, b])
    }

    /// `a / b`; of integers rounded toward zero.
    pub fn div(&mut self, a: Value, b: Value) -> Value {
        let int = if self.is_unsigned(a) { "arith.divui" } else { "arith.divsi" };
        self.same("arith.divf", int, &[a, b])
    }

    /// The larger one; NaN if either is.
    pub fn max(&mut self, a: Value, b: Value) -> Value {
        let int = if self.is_unsigned(a) { "arith.maxui" } else { "arith.maxsi" };
        self.same("arith.maximumf", int, &[a, b])
    }

    /// The smaller one; NaN if either is.
    pub fn min(&mut self, a: Value, b: Value) -> Value {
        let int = if self.is_unsigned(a) { "arith.minui" } else { "arith.minsi" };
        self.same("arith.minimumf", int, &[a, b])
    }

    /// `-x`
    pub fn neg(&mut self, x: Value) -> Value {
        if self.is_float(x) {
            return self.math("arith.negf", x);
        }
        let zero = self.int(0, self.ty(x));
        self.sub(zero, x)
    }

    /// `|x|`
    pub fn abs(&mut self, x: Value) -> Value {
        if self.is_unsigned(x) {
            return x;
        }
        self.same("math.absf", "math.absi", &[x])
    }

    /// Integer quotient rounded down.
    pub fn floor_div(&mut self, a: Value, b: Value) -> Value {
        let name = if self.is_unsigned(a) { "arith.divui" } else { "arith.floordivsi" };
        self.op(name, &[a, b], self.ty(a))
    }

    /// Integer quotient rounded up.
    pub fn ceil_div(&mut self, a: Value, b: Value) -> Value {
        let name = if self.is_unsigned(a) { "arith.ceildivui" } else { "arith.ceildivsi" };
        self.op(name, &[a, b], self.ty(a))
    }

    /// Remainder with the sign of the dividend.
    pub fn rem(&mut self, a: Value, b: Value) -> Value {
        let int = if self.is_unsigned(a) { "arith.remui" } else { "arith.remsi" };
        self.same("arith.remf", int, &[a, b])
    }

    /// Remainder with the sign of the divisor; of floats zero too.
    pub fn modulo(&mut self, a: Value, b: Value) -> Value {
        let rest = self.rem(a, b);
        if self.is_unsigned(a) {
            return rest;
        }
        let zero = self.number(0.0, self.ty(a));
        let (rest_negative, divisor_negative) =
            (self.compare(Comparison::Less, rest, zero), self.compare(Comparison::Less, b, zero));
        let differ = self.bits("arith.xori", rest_negative, divisor_negative);
        let some = self.compare(Comparison::NotEqual, rest, zero);
        let adds = self.bits("arith.andi", differ, some);
        let sum = self.add(rest, b);
        let result = self.select(adds, sum, rest);
        if !self.is_float(a) {
            return result;
        }
        // Compared so, NaN is no zero.
        let none = self.compare(Comparison::Equal, rest, zero);
        let signed_zero = self.op("math.copysign", &[zero, b], self.ty(a));
        self.select(none, signed_zero, result)
    }

    /// `a` to the power of `b`, both integers: products of the squares that the bits of `b` say. It wraps around. A negative power of
    /// other numbers than 1 and -1 is 0.
    pub fn powi(&mut self, a: Value, b: Value) -> Value {
        let (ty, power) = (self.ty(a), self.ty(b));
        let (one, zero) = (self.int(1, ty), self.int(0, ty));
        let signed = !self.is_unsigned(b);
        // The sign is no bit of the number.
        let bits = self.cx().bit_width(power).unwrap_or(64) - u32::from(signed);
        let (mut product, mut square) = (one, a);
        let (none, unit) = (self.int(0, power), self.int(1, power));
        for bit in 0..bits {
            let amount = self.int(bit.into(), power);
            let moved = self.bits("arith.shrui", b, amount);
            let lowest = self.bits("arith.andi", moved, unit);
            let is_set = self.compare(Comparison::NotEqual, lowest, none);
            let next = self.mul(product, square);
            product = self.select(is_set, next, product);
            if bit + 1 < bits {
                square = self.mul(square, square);
            }
        }
        if !signed {
            return product;
        }
        let negative = self.compare(Comparison::Less, b, none);
        let is_one = self.compare(Comparison::Equal, a, one);
        let mut inverse = self.select(is_one, one, zero);
        if !self.is_unsigned(a) {
            let minus_one = self.int(-1, ty);
            let is_minus_one = self.compare(Comparison::Equal, a, minus_one);
            let odd = self.bits("arith.andi", b, unit);
            let is_odd = self.compare(Comparison::NotEqual, odd, none);
            let sign = self.select(is_odd, minus_one, one);
            inverse = self.select(is_minus_one, sign, inverse);
        }
        self.select(negative, inverse, product)
    }

    /// Bitwise and logical ops on integers: `arith.andi` and so on.
    pub fn bits(&mut self, name: &str, a: Value, b: Value) -> Value {
        self.op(name, &[a, b], self.ty(a))
    }

    /// Logical negation of an `i1`.
    pub fn not(&mut self, x: Value) -> Value {
        let one = self.int(1, Type::I1);
        self.bits("arith.xori", x, one)
    }

    /// A comparison, an `i1`. `i1`s compare as 0 and 1, integers without sign as such.
    pub fn compare(&mut self, comparison: Comparison, a: Value, b: Value) -> Value {
        use Comparison::*;
        let unsigned = self.is_unsigned(a);
        let (name, predicate) = match (self.is_float(a), comparison) {
            (true, Equal) => ("arith.cmpf", 1),
            (true, Greater) => ("arith.cmpf", 2),
            (true, GreaterOrEqual) => ("arith.cmpf", 3),
            (true, Less) => ("arith.cmpf", 4),
            (true, LessOrEqual) => ("arith.cmpf", 5),
            (true, NotEqual) => ("arith.cmpf", 13),
            (false, Equal) => ("arith.cmpi", 0),
            (false, NotEqual) => ("arith.cmpi", 1),
            (false, Less) => ("arith.cmpi", if unsigned { 6 } else { 2 }),
            (false, LessOrEqual) => ("arith.cmpi", if unsigned { 7 } else { 3 }),
            (false, Greater) => ("arith.cmpi", if unsigned { 8 } else { 4 }),
            (false, GreaterOrEqual) => ("arith.cmpi", if unsigned { 9 } else { 5 }),
        };
        let cx = self.cx();
        let state = OpState::new(cx.op_name(name), self.loc)
            .operands([a, b])
            .prop(cx.ident("predicate"), cx.int_attr(predicate, Type::I64))
            .results([Type::I1]);
        let op = self.b.create(state);
        self.b.body().result(op, 0)
    }

    /// `condition ? a : b`
    pub fn select(&mut self, condition: Value, a: Value, b: Value) -> Value {
        self.op("arith.select", &[condition, a, b], self.ty(a))
    }

    /// `1 / x`
    pub fn reciprocal(&mut self, x: Value) -> Value {
        let one = self.number(1.0, self.ty(x));
        self.div(one, x)
    }

    /// The number converted to `to`: floats to integers rounded toward zero, integers to narrower ones by their low bits, anything
    /// to `i1` by comparison with 0.
    pub fn cast(&mut self, x: Value, to: Type) -> Value {
        let (cx, from) = (self.cx(), self.ty(x));
        if from == to {
            return x;
        }
        if to == Type::I1 {
            let zero = self.number(0.0, from);
            return self.compare(Comparison::NotEqual, x, zero);
        }
        let (from_float, to_float) = (from.is_float(cx), to.is_float(cx));
        let (from_bits, to_bits) = (cx.bit_width(from).unwrap_or(64), cx.bit_width(to).unwrap_or(64));
        if self.unsigned.contains_key(&x) && to == Type::INDEX {
            let middle = self.cast(x, Type::I64);
            return self.cast(middle, to);
        }
        if (from == Type::INDEX || to == Type::INDEX) && !from_float && !to_float {
            return self.op("arith.index_cast", &[x], to);
        }
        if from == Type::INDEX || to == Type::INDEX {
            let middle = self.cast(x, Type::I64);
            return self.cast(middle, to);
        }
        let name = match (from_float, to_float) {
            (false, false) if from_bits == to_bits => {
                // The same bits, in a value of its own: `x` still stands for what it did.
                let zero = self.int(0, to);
                return self.op("arith.addi", &[x, zero], to);
            }
            (true, true) if from_bits < to_bits => "arith.extf",
            (true, true) if from_bits > to_bits => "arith.truncf",
            (true, true) => {
                // f16 and bf16 reach each other through f32.
                let wide = self.op("arith.extf", &[x], Type::F32);
                return self.op("arith.truncf", &[wide], to);
            }
            (true, false) if is_unsigned(cx, to) => "arith.fptoui",
            (true, false) => "arith.fptosi",
            (false, true) if self.is_unsigned(x) => "arith.uitofp",
            (false, true) => "arith.sitofp",
            (false, false) if from_bits > to_bits => "arith.trunci",
            (false, false) if self.is_unsigned(x) => "arith.extui",
            (false, false) => "arith.extsi",
        };
        self.op(name, &[x], to)
    }
}

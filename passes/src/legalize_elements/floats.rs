//! Floats of at most one byte as `f32`: scalar ops that read and write their bits.

use sutura_ir::float::{Format, Special, ToPower, format};
use sutura_ir::types::FloatKind;
use sutura_ir::{Attr, Builder, Loc, OpState, Type, Value};

/// Bits of the mantissa of `f32`.
const MANTISSA: u32 = 23;
/// The bias of its exponent.
const BIAS: i32 = 127;
/// All bits of an `f32` but the sign.
const MAGNITUDE: i64 = 0x7fff_ffff;
/// The bits of infinity.
const INFINITY: i64 = 0x7f80_0000;
/// The bits of NaN.
const NAN: i64 = 0x7fc0_0000;

/// Predicates of `arith.cmpi` and `arith.cmpf`.
#[derive(Clone, Copy)]
pub(super) enum Compare {
    Equal = 0,
    Unequal = 1,
    SignedLess = 2,
    SignedGreater = 4,
    SignedGreaterOrEqual = 5,
    UnsignedGreaterOrEqual = 9,
}

/// Writes scalar ops.
pub(super) struct Bits<'s, 'b> {
    pub(super) b: &'s mut Builder<'b>,
    pub(super) loc: Loc,
}

impl Bits<'_, '_> {
    /// The `f32` that a byte is in the format `kind`.
    pub(super) fn decode(&mut self, kind: FloatKind, byte: Value) -> Value {
        if kind == FloatKind::F8E8M0FNU {
            return self.decode_power(byte);
        }
        let f = format(kind);
        let sign_bit = 1 << (f.exponent + f.mantissa);
        let code = self.op("arith.extui", &[byte], Type::I32);
        let magnitude = self.masked(code, sign_bit - 1);
        // The exponent is off by the difference of the biases, also of subnormal numbers: a product puts it right.
        let moved = self.shifted("arith.shli", magnitude, MANTISSA - f.mantissa);
        let raw = self.op("arith.bitcast", &[moved], Type::F32);
        let scale = self.float(2f64.powi(BIAS - f.bias));
        let scaled = self.op("arith.mulf", &[raw, scale], Type::F32);
        let bits = self.op("arith.bitcast", &[scaled], Type::I32);
        let bits = self.with_special(&f, code, magnitude, bits);
        let sign = self.masked(code, sign_bit);
        let sign = self.shifted("arith.shli", sign, 31 - f.exponent - f.mantissa);
        let signed = self.op("arith.ori", &[bits, sign], Type::I32);
        self.op("arith.bitcast", &[signed], Type::F32)
    }

    /// The bits of what is no finite number, where `code` is such a one.
    fn with_special(&mut self, f: &Format, code: Value, magnitude: Value, bits: Value) -> Value {
        let all = (1 << (f.exponent + f.mantissa)) - 1;
        let nan = self.int(NAN);
        match f.special {
            Special::Ieee => {
                let infinite = all - (1 << f.mantissa) + 1;
                let (infinity, limit) = (self.int(INFINITY), self.int(infinite));
                let is_infinite = self.compare(Compare::Equal, magnitude, limit);
                let bits = self.select(is_infinite, infinity, bits);
                let is_nan = self.compare(Compare::SignedGreater, magnitude, limit);
                self.select(is_nan, nan, bits)
            }
            Special::NanAllOnes => {
                let ones = self.int(all);
                let is_nan = self.compare(Compare::Equal, magnitude, ones);
                self.select(is_nan, nan, bits)
            }
            Special::NanNegativeZero => {
                let negative_zero = self.int(all + 1);
                let is_nan = self.compare(Compare::Equal, code, negative_zero);
                self.select(is_nan, nan, bits)
            }
            Special::None => bits,
        }
    }

    /// The byte that is nearest to an `f32` in the format `kind`, ties to even; what is too large is infinite, or NaN, or the
    /// largest number of a format that has neither.
    pub(super) fn encode(&mut self, kind: FloatKind, number: Value) -> Value {
        if kind == FloatKind::F8E8M0FNU {
            return self.encode_power(ToPower::Nearest, number);
        }
        let f = format(kind);
        let bits = self.op("arith.bitcast", &[number], Type::I32);
        let magnitude = self.masked(bits, MAGNITUDE);
        let normal = self.rounded(&f, magnitude);
        let code = self.subnormal(&f, magnitude, normal);
        let (code, is_special) = self.overflowed(&f, code, magnitude);
        let sign = self.shifted("arith.shrui", bits, 31 - f.exponent - f.mantissa);
        let sign = self.masked(sign, 1 << (f.exponent + f.mantissa));
        let mut signed = self.op("arith.ori", &[code, sign], Type::I32);
        if f.special == Special::NanNegativeZero {
            // The sign of zero, and of NaN, would make another number of it.
            let zero = self.int(0);
            let is_zero = self.compare(Compare::Equal, code, zero);
            let unsigned = self.op("arith.ori", &[is_zero, is_special], Type::I1);
            signed = self.select(unsigned, code, signed);
        }
        self.op("arith.trunci", &[signed], Type::I8)
    }

    /// The code of a normal number: the mantissa is cut with what is cut off rounded in, and the bias changed.
    fn rounded(&mut self, f: &Format, magnitude: Value) -> Value {
        let cut = MANTISSA - f.mantissa;
        let below_half = self.int((1 << (cut - 1)) - 1);
        let last = self.shifted("arith.shrui", magnitude, cut);
        let odd = self.masked(last, 1);
        let more = self.op("arith.addi", &[below_half, odd], Type::I32);
        let sum = self.op("arith.addi", &[magnitude, more], Type::I32);
        let kept = self.shifted("arith.shrui", sum, cut);
        let bias = self.int(i64::from(BIAS - f.bias) << f.mantissa);
        self.op("arith.subi", &[kept, bias], Type::I32)
    }

    /// `code`, or where the number is below the smallest normal one how many of the smallest subnormal ones it is.
    fn subnormal(&mut self, f: &Format, magnitude: Value, code: Value) -> Value {
        let smallest = self.int(i64::from(BIAS + 1 - f.bias) << MANTISSA);
        let is_subnormal = self.compare(Compare::SignedLess, magnitude, smallest);
        // Larger ones are not converted: the integer might not hold them.
        let zero = self.int(0);
        let bits = self.select(is_subnormal, magnitude, zero);
        let positive = self.op("arith.bitcast", &[bits], Type::F32);
        let scale = self.float(2f64.powi(f.bias - 1 + f.mantissa as i32));
        let scaled = self.op("arith.mulf", &[positive, scale], Type::F32);
        let units = self.op("math.roundeven", &[scaled], Type::F32);
        let units = self.op("arith.fptosi", &[units], Type::I32);
        self.select(is_subnormal, units, code)
    }

    /// `code`, or the one of what is too large, infinite or NaN; and where it is the last.
    fn overflowed(&mut self, f: &Format, code: Value, magnitude: Value) -> (Value, Value) {
        let all = (1_i64 << (f.exponent + f.mantissa)) - 1;
        let (largest, beyond, nan) = match f.special {
            Special::Ieee => {
                let infinite = all - (1 << f.mantissa) + 1;
                (infinite - 1, infinite, infinite | 1 << (f.mantissa - 1))
            }
            Special::NanAllOnes => (all - 1, all, all),
            Special::NanNegativeZero => (all, all + 1, all + 1),
            Special::None => (all, all, all + 1),
        };
        let (largest, beyond, nan) = (self.int(largest), self.int(beyond), self.int(nan));
        let too_large = self.compare(Compare::SignedGreater, code, largest);
        let code = self.select(too_large, beyond, code);
        let infinity = self.int(INFINITY);
        let is_nan = self.compare(Compare::SignedGreater, magnitude, infinity);
        let is_infinite = self.compare(Compare::SignedGreaterOrEqual, magnitude, infinity);
        let code = self.select(is_infinite, beyond, code);
        let special = self.op("arith.ori", &[too_large, is_infinite], Type::I1);
        (self.select(is_nan, nan, code), special)
    }

    /// An `f64` as an `f32` that rounds to the same narrower number: cut off rather than rounded, with the last bit set where
    /// something was cut off.
    pub(super) fn rounded_to_odd(&mut self, wide: Value) -> Value {
        let near = self.op("arith.truncf", &[wide], Type::F32);
        let back = self.op("arith.extf", &[near], Type::F64);
        let (above, size) = (self.op("math.absf", &[back], Type::F64), self.op("math.absf", &[wide], Type::F64));
        let rounded_up = self.compare_floats(2, above, size);
        let inexact = self.compare_floats(13, back, wide);
        let bits = self.op("arith.bitcast", &[near], Type::I32);
        let less = self.op("arith.extui", &[rounded_up], Type::I32);
        let cut = self.op("arith.subi", &[bits, less], Type::I32);
        let last = self.op("arith.extui", &[inexact], Type::I32);
        let odd = self.op("arith.ori", &[cut, last], Type::I32);
        self.op("arith.bitcast", &[odd], Type::F32)
    }

    /// The op `name` with one result.
    pub(super) fn op(&mut self, name: &str, operands: &[Value], ty: Type) -> Value {
        let state = OpState::new(self.b.cx().op_name(name), self.loc).operands(operands.iter().copied()).results([ty]);
        let op = self.b.create(state);
        self.b.body().result(op, 0)
    }

    fn attr(&mut self, value: Attr, ty: Type) -> Value {
        sutura_dialects::graph::build::scalar::constant(self.b, self.loc, value, ty)
    }

    /// An integer of type `ty`.
    pub(super) fn constant(&mut self, value: i64, ty: Type) -> Value {
        let value = self.b.cx().int_attr(value, ty);
        self.attr(value, ty)
    }

    pub(super) fn int(&mut self, value: i64) -> Value {
        self.constant(value, Type::I32)
    }

    /// A float of type `ty`.
    pub(super) fn number(&mut self, value: f64, ty: Type) -> Value {
        let value = self.b.cx().float_attr(value, ty);
        self.attr(value, ty)
    }

    fn float(&mut self, value: f64) -> Value {
        self.number(value, Type::F32)
    }

    pub(super) fn masked(&mut self, value: Value, mask: i64) -> Value {
        let mask = self.int(mask);
        self.op("arith.andi", &[value, mask], Type::I32)
    }

    pub(super) fn shifted(&mut self, name: &str, value: Value, by: u32) -> Value {
        let by = self.int(by.into());
        self.op(name, &[value, by], Type::I32)
    }

    pub(super) fn select(&mut self, condition: Value, a: Value, b: Value) -> Value {
        let ty = self.b.body().ty(a);
        self.op("arith.select", &[condition, a, b], ty)
    }

    pub(super) fn compare(&mut self, how: Compare, a: Value, b: Value) -> Value {
        self.compared("arith.cmpi", how as i64, a, b)
    }

    fn compare_floats(&mut self, predicate: i64, a: Value, b: Value) -> Value {
        self.compared("arith.cmpf", predicate, a, b)
    }

    fn compared(&mut self, name: &str, predicate: i64, a: Value, b: Value) -> Value {
        let cx = self.b.cx();
        let state = OpState::new(cx.op_name(name), self.loc).operands([a, b]).results([Type::I1]);
        let op = self.b.create(state.prop(cx.ident("predicate"), cx.int_attr(predicate, Type::I64)));
        self.b.body().result(op, 0)
    }
}

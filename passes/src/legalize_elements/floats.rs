//! Floats of at most one byte as `f32`: scalar ops that read and write their bits.

use sutura_dialects::arith::CmpIPredicate;
use sutura_ir::float::{Format, Special, ToPower, format};
use sutura_ir::types::FloatKind;
use sutura_ir::{Type, Value};

use crate::arithmetic::Arithmetic;

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

impl Arithmetic<'_, '_> {
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
        let scale = self.number(2f64.powi(BIAS - f.bias), Type::F32);
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
        let nan = self.word(NAN);
        match f.special {
            Special::Ieee => {
                let infinite = all - (1 << f.mantissa) + 1;
                let (infinity, limit) = (self.word(INFINITY), self.word(infinite));
                let is_infinite = self.compare(CmpIPredicate::Eq, magnitude, limit);
                let bits = self.select(is_infinite, infinity, bits);
                let is_nan = self.compare(CmpIPredicate::Sgt, magnitude, limit);
                self.select(is_nan, nan, bits)
            }
            Special::NanAllOnes => {
                let ones = self.word(all);
                let is_nan = self.compare(CmpIPredicate::Eq, magnitude, ones);
                self.select(is_nan, nan, bits)
            }
            Special::NanNegativeZero => {
                let negative_zero = self.word(all + 1);
                let is_nan = self.compare(CmpIPredicate::Eq, code, negative_zero);
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
            let zero = self.word(0);
            let is_zero = self.compare(CmpIPredicate::Eq, code, zero);
            let unsigned = self.op("arith.ori", &[is_zero, is_special], Type::I1);
            signed = self.select(unsigned, code, signed);
        }
        self.op("arith.trunci", &[signed], Type::I8)
    }

    /// The code of a normal number: the mantissa is cut with what is cut off rounded in, and the bias changed.
    fn rounded(&mut self, f: &Format, magnitude: Value) -> Value {
        let cut = MANTISSA - f.mantissa;
        let below_half = self.word((1 << (cut - 1)) - 1);
        let last = self.shifted("arith.shrui", magnitude, cut);
        let odd = self.masked(last, 1);
        let more = self.op("arith.addi", &[below_half, odd], Type::I32);
        let sum = self.op("arith.addi", &[magnitude, more], Type::I32);
        let kept = self.shifted("arith.shrui", sum, cut);
        let bias = self.word(i64::from(BIAS - f.bias) << f.mantissa);
        self.op("arith.subi", &[kept, bias], Type::I32)
    }

    /// `code`, or where the number is below the smallest normal one how many of the smallest subnormal ones it is.
    fn subnormal(&mut self, f: &Format, magnitude: Value, code: Value) -> Value {
        let smallest = self.word(i64::from(BIAS + 1 - f.bias) << MANTISSA);
        let is_subnormal = self.compare(CmpIPredicate::Slt, magnitude, smallest);
        // Larger ones are not converted: the integer might not hold them.
        let zero = self.word(0);
        let bits = self.select(is_subnormal, magnitude, zero);
        let positive = self.op("arith.bitcast", &[bits], Type::F32);
        let scale = self.number(2f64.powi(f.bias - 1 + f.mantissa as i32), Type::F32);
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
        let (largest, beyond, nan) = (self.word(largest), self.word(beyond), self.word(nan));
        let too_large = self.compare(CmpIPredicate::Sgt, code, largest);
        let code = self.select(too_large, beyond, code);
        let infinity = self.word(INFINITY);
        let is_nan = self.compare(CmpIPredicate::Sgt, magnitude, infinity);
        let is_infinite = self.compare(CmpIPredicate::Sge, magnitude, infinity);
        let code = self.select(is_infinite, beyond, code);
        let special = self.op("arith.ori", &[too_large, is_infinite], Type::I1);
        (self.select(is_nan, nan, code), special)
    }

    pub(super) fn word(&mut self, value: i64) -> Value {
        self.int(value, Type::I32)
    }

    pub(super) fn masked(&mut self, value: Value, mask: i64) -> Value {
        let mask = self.word(mask);
        self.op("arith.andi", &[value, mask], Type::I32)
    }

    pub(super) fn shifted(&mut self, name: &str, value: Value, by: u32) -> Value {
        let by = self.word(by.into());
        self.op(name, &[value, by], Type::I32)
    }
}

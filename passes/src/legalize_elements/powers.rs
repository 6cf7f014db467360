//! `f8E8M0FNU`, which holds powers of two and NaN: a byte is the exponent of an `f32`.

use sutura_dialects::arith::CmpIPredicate;
use sutura_ir::float::ToPower;
use sutura_ir::{Type, Value};

use crate::arithmetic::Arithmetic;

/// The code of NaN.
const NAN_CODE: i64 = 0xff;
/// The bits of the least power as an `f32`, where it is subnormal: its exponent is that of zero.
const LEAST: i64 = 1 << 22;
/// Bits of the mantissa of `f32`.
const MANTISSA: u32 = 23;
/// All bits of an `f32` but the sign.
const MAGNITUDE: i64 = 0x7fff_ffff;
/// The bits of infinity.
const INFINITY: i64 = 0x7f80_0000;
/// The bits of NaN.
const NAN: i64 = 0x7fc0_0000;
/// Bits of an integer that `f64` does not hold, of 64.
const BEYOND_F64: u32 = 11;

impl Arithmetic<'_, '_> {
    /// The `f32` of a byte.
    pub(super) fn decode_power(&mut self, byte: Value) -> Value {
        let code = self.op("arith.extui", &[byte], Type::I32);
        let bits = self.shifted("arith.shli", code, MANTISSA);
        let (zero, nan_code) = (self.word(0), self.word(NAN_CODE));
        let (least, nan) = (self.word(LEAST), self.word(NAN));
        let is_least = self.compare(CmpIPredicate::Eq, code, zero);
        let bits = self.select(is_least, least, bits);
        let is_nan = self.compare(CmpIPredicate::Eq, code, nan_code);
        let bits = self.select(is_nan, nan, bits);
        self.op("arith.bitcast", &[bits], Type::F32)
    }

    /// The byte of an `f32`; `sutura_ir::float::power_of_two` says which.
    pub(super) fn encode_power(&mut self, how: ToPower, number: Value) -> Value {
        let bits = self.op("arith.bitcast", &[number], Type::I32);
        let magnitude = self.masked(bits, MAGNITUDE);
        // A mantissa that reaches the next exponent carries into it.
        let (carry, next) = match how {
            ToPower::Nearest => (1 << (MANTISSA - 1), Some(LEAST + (LEAST >> 1))),
            ToPower::Up => ((1 << MANTISSA) - 1, Some(LEAST + 1)),
            ToPower::Down => (0, None),
        };
        let carry = self.word(carry);
        let sum = self.op("arith.addi", &[magnitude, carry], Type::I32);
        let code = self.shifted("arith.shrui", sum, MANTISSA);
        // A subnormal number has the exponent of the least power, which lies in their middle.
        let least_normal = self.word(1 << MANTISSA);
        let is_subnormal = self.compare(CmpIPredicate::Slt, magnitude, least_normal);
        let low = match next {
            Some(next) => {
                let next = self.word(next);
                let reaches = self.compare(CmpIPredicate::Sge, magnitude, next);
                self.op("arith.extui", &[reaches], Type::I32)
            }
            None => self.word(0),
        };
        let code = self.select(is_subnormal, low, code);
        let (zero, infinity, nan) = (self.word(0), self.word(INFINITY), self.word(NAN_CODE));
        let is_signed = self.compare(CmpIPredicate::Slt, bits, zero);
        let some = self.compare(CmpIPredicate::Ne, magnitude, zero);
        let is_negative = self.op("arith.andi", &[is_signed, some], Type::I1);
        let is_special = self.compare(CmpIPredicate::Sge, magnitude, infinity);
        let is_none = self.op("arith.ori", &[is_negative, is_special], Type::I1);
        let code = self.select(is_none, nan, code);
        self.op("arith.trunci", &[code], Type::I8)
    }

    /// An integer as an `f32` that rounds to the same power of two: what is cut off leaves a trace in the last bit.
    pub(super) fn integer_to_odd(&mut self, number: Value, unsigned: bool) -> Value {
        let name = if unsigned { "arith.uitofp" } else { "arith.sitofp" };
        let wide = self.op(name, &[number], Type::F64);
        if self.builder().body().ty(number) != Type::I64 {
            return self.rounded_to_odd(wide);
        }
        let constant = |bits: &mut Self, value| bits.int(value, Type::I64);
        let by = constant(self, BEYOND_F64.into());
        let high = self.op("arith.shrui", &[number, by], Type::I64);
        let mask = constant(self, (1 << BEYOND_F64) - 1);
        let low = self.op("arith.andi", &[number, mask], Type::I64);
        let zero = constant(self, 0);
        let trace = self.compare(CmpIPredicate::Ne, low, zero);
        let trace = self.op("arith.extui", &[trace], Type::I64);
        let odd = self.op("arith.ori", &[high, trace], Type::I64);
        let odd = self.op("arith.uitofp", &[odd], Type::F64);
        let scale = self.number(f64::from(1 << BEYOND_F64), Type::F64);
        let cut = self.op("arith.mulf", &[odd, scale], Type::F64);
        let limit = constant(self, 1 << (64 - BEYOND_F64));
        let is_long = self.compare(CmpIPredicate::Uge, number, limit);
        let long = self.select(is_long, cut, wide);
        let wide = if unsigned {
            long
        } else {
            // No negative number is a power of two, so that how it is rounded does not count.
            let is_negative = self.compare(CmpIPredicate::Slt, number, zero);
            self.select(is_negative, wide, long)
        };
        self.rounded_to_odd(wide)
    }
}

//! The expansions' arithmetic on floats of this machine, with which their errors are measured.

use super::arith::{Arith, Cmp, Int, Wide};

/// Computes on bit patterns, the low ones of a word; a truth value is 0 or 1.
pub(super) struct Native {
    /// Whether it scales by powers of two as machines with an instruction for it do.
    pub(super) scales: bool,
}

#[inline(always)]
fn f(bits: u64) -> f32 {
    f32::from_bits(bits as u32)
}

#[inline(always)]
fn of(value: f32) -> u64 {
    value.to_bits().into()
}

#[inline(always)]
fn d(bits: u64) -> f64 {
    f64::from_bits(bits)
}

/// The float that a function of one float computes.
#[inline(always)]
pub(super) fn compute(function: impl Fn(&mut Native, u64) -> u64, x: f32) -> f32 {
    f(function(&mut Native { scales: false }, of(x)))
}

/// The float that a function of two floats computes.
#[inline(always)]
pub(super) fn compute2(function: impl Fn(&mut Native, u64, u64) -> u64, x: f32, y: f32) -> f32 {
    f(function(&mut Native { scales: false }, of(x), of(y)))
}

#[rustfmt::skip]
impl Arith for Native {
    type V = u64;

    #[inline(always)]
    fn digits(&self) -> u32 { f32::MANTISSA_DIGITS }
    #[inline(always)]
    fn c(&mut self, value: f64) -> u64 { of(value as f32) }
    #[inline(always)]
    fn l(&mut self, value: i64) -> u64 { u64::from(value as u32) }
    #[inline(always)]
    fn d(&mut self, value: f64) -> u64 { value.to_bits() }
    #[inline(always)]
    fn add(&mut self, a: u64, b: u64) -> u64 { of(f(a) + f(b)) }
    #[inline(always)]
    fn sub(&mut self, a: u64, b: u64) -> u64 { of(f(a) - f(b)) }
    #[inline(always)]
    fn mul(&mut self, a: u64, b: u64) -> u64 { of(f(a) * f(b)) }
    #[inline(always)]
    fn div(&mut self, a: u64, b: u64) -> u64 { of(f(a) / f(b)) }
    #[inline(always)]
    fn fma(&mut self, a: u64, b: u64, c: u64) -> u64 { of(f(a).mul_add(f(b), f(c))) }
    #[inline(always)]
    fn sqrt(&mut self, a: u64) -> u64 { of(f(a).sqrt()) }
    #[inline(always)]
    fn abs(&mut self, a: u64) -> u64 { of(f(a).abs()) }
    #[inline(always)]
    fn copysign(&mut self, a: u64, sign: u64) -> u64 { of(f(a).copysign(f(sign))) }
    #[inline(always)]
    fn same(&mut self, a: u64, b: u64) -> u64 { (a == b).into() }
    #[inline(always)]
    fn below(&mut self, a: u64, b: u64) -> u64 { (a < b).into() }
    #[inline(always)]
    fn select(&mut self, cond: u64, a: u64, b: u64) -> u64 { if cond == 1 { a } else { b } }
    #[inline(always)]
    fn both(&mut self, a: u64, b: u64) -> u64 { a & b }
    #[inline(always)]
    fn bits(&mut self, a: u64) -> u64 { a }
    #[inline(always)]
    fn of_bits(&mut self, a: u64) -> u64 { a }
    #[inline(always)]
    fn to_float(&mut self, a: u64) -> u64 { of(a as i32 as f32) }
    #[inline(always)]
    fn widen(&mut self, a: u64) -> u64 { f64::from(f(a)).to_bits() }
    #[inline(always)]
    fn narrow(&mut self, a: u64) -> u64 { of(d(a) as f32) }
    #[inline(always)]
    fn wide_less(&mut self, a: u64, b: u64) -> u64 { (d(a) < d(b)).into() }

    #[inline(always)]
    fn cmp(&mut self, pred: Cmp, a: u64, b: u64) -> u64 {
        let (a, b) = (f(a), f(b));
        u64::from(match pred {
            Cmp::Oeq => a == b,
            Cmp::Olt => a < b,
            Cmp::One => a.partial_cmp(&b).is_some_and(std::cmp::Ordering::is_ne),
        })
    }

    #[inline(always)]
    fn wide(&mut self, op: Wide, a: u64, b: u64) -> u64 {
        let (a, b) = (d(a), d(b));
        let result = match op {
            Wide::Add => a + b,
            Wide::Sub => a - b,
            Wide::Mul => a * b,
            Wide::Div => a / b,
        };
        result.to_bits()
    }

    #[inline(always)]
    fn int(&mut self, op: Int, a: u64, b: u64) -> u64 {
        let (a, b) = (a as u32, b as u32);
        u64::from(match op {
            Int::Add => a.wrapping_add(b),
            Int::Sub => a.wrapping_sub(b),
            Int::Mul => a.wrapping_mul(b),
            Int::MulHigh => ((u64::from(a) * u64::from(b)) >> 32) as u32,
            Int::And => a & b,
            Int::Or => a | b,
            Int::Xor => a ^ b,
            // A distance of 32 or more is poison in the IR.
            Int::Shl => a.checked_shl(b).expect("a distance below 32"),
            Int::ShrS => (a as i32).checked_shr(b).expect("a distance below 32") as u32,
            Int::ShrU => a.checked_shr(b).expect("a distance below 32"),
        })
    }

    #[inline(always)]
    fn scales(&self) -> bool { self.scales }
    #[inline(always)]
    fn scale(&mut self, a: u64, n: u64) -> u64 {
        // Exact in doubles, and then rounded once.
        of((f64::from(f(a)) * f64::from(f(n)).clamp(-400.0, 400.0).exp2()) as f32)
    }

    #[inline(always)]
    fn rarely<const N: usize>(&mut self, cond: u64, usual: [u64; N], rare: impl FnOnce(&mut Self) -> [u64; N]) -> [u64; N] {
        if cond == 1 { usual } else { rare(self) }
    }
}

/// The same arithmetic on doubles of this machine.
pub(super) struct NativeDouble;

/// The double that a function of doubles computes.
pub(super) fn compute_double<const N: usize>(
    function: impl Fn(&mut NativeDouble, [u64; N]) -> u64,
    operands: [f64; N],
) -> f64 {
    d(function(&mut NativeDouble, operands.map(f64::to_bits)))
}

fn of_d(value: f64) -> u64 {
    value.to_bits()
}

#[rustfmt::skip]
impl Arith for NativeDouble {
    type V = u64;

    fn digits(&self) -> u32 { f64::MANTISSA_DIGITS }
    fn c(&mut self, value: f64) -> u64 { of_d(value) }
    fn l(&mut self, value: i64) -> u64 { value as u64 }
    fn d(&mut self, _: f64) -> u64 { unreachable!("nothing is wider than a double") }
    fn add(&mut self, a: u64, b: u64) -> u64 { of_d(d(a) + d(b)) }
    fn sub(&mut self, a: u64, b: u64) -> u64 { of_d(d(a) - d(b)) }
    fn mul(&mut self, a: u64, b: u64) -> u64 { of_d(d(a) * d(b)) }
    fn div(&mut self, a: u64, b: u64) -> u64 { of_d(d(a) / d(b)) }
    fn fma(&mut self, a: u64, b: u64, c: u64) -> u64 { of_d(d(a).mul_add(d(b), d(c))) }
    fn sqrt(&mut self, a: u64) -> u64 { of_d(d(a).sqrt()) }
    fn abs(&mut self, a: u64) -> u64 { of_d(d(a).abs()) }
    fn copysign(&mut self, a: u64, sign: u64) -> u64 { of_d(d(a).copysign(d(sign))) }
    fn same(&mut self, a: u64, b: u64) -> u64 { (a == b).into() }
    fn below(&mut self, a: u64, b: u64) -> u64 { (a < b).into() }
    fn select(&mut self, cond: u64, a: u64, b: u64) -> u64 { if cond == 1 { a } else { b } }
    fn both(&mut self, a: u64, b: u64) -> u64 { a & b }
    fn bits(&mut self, a: u64) -> u64 { a }
    fn of_bits(&mut self, a: u64) -> u64 { a }
    fn to_float(&mut self, a: u64) -> u64 { of_d(a as i64 as f64) }
    fn widen(&mut self, _: u64) -> u64 { unreachable!("nothing is wider than a double") }
    fn narrow(&mut self, _: u64) -> u64 { unreachable!("nothing is wider than a double") }
    fn wide(&mut self, _: Wide, _: u64, _: u64) -> u64 { unreachable!("nothing is wider than a double") }
    fn wide_less(&mut self, _: u64, _: u64) -> u64 { unreachable!("nothing is wider than a double") }
    fn scales(&self) -> bool { false }
    fn scale(&mut self, _: u64, _: u64) -> u64 { unreachable!("no machine scales doubles") }

    fn cmp(&mut self, pred: Cmp, a: u64, b: u64) -> u64 {
        let (a, b) = (d(a), d(b));
        u64::from(match pred {
            Cmp::Oeq => a == b,
            Cmp::Olt => a < b,
            Cmp::One => a.partial_cmp(&b).is_some_and(std::cmp::Ordering::is_ne),
        })
    }

    fn int(&mut self, op: Int, a: u64, b: u64) -> u64 {
        let distance = u32::try_from(b).unwrap_or(u32::MAX);
        match op {
            Int::Add => a.wrapping_add(b),
            Int::Sub => a.wrapping_sub(b),
            Int::Mul => a.wrapping_mul(b),
            Int::MulHigh => ((u128::from(a) * u128::from(b)) >> 64) as u64,
            Int::And => a & b,
            Int::Or => a | b,
            Int::Xor => a ^ b,
            // A distance of 64 or more is poison in the IR.
            Int::Shl => a.checked_shl(distance).expect("a distance below 64"),
            Int::ShrS => (a as i64).checked_shr(distance).expect("a distance below 64") as u64,
            Int::ShrU => a.checked_shr(distance).expect("a distance below 64"),
        }
    }

    fn rarely<const N: usize>(&mut self, cond: u64, usual: [u64; N], rare: impl FnOnce(&mut Self) -> [u64; N]) -> [u64; N] {
        if cond == 1 { usual } else { rare(self) }
    }
}

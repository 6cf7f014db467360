//! The bit formats of the floating-point types of at most 64 bits.
//!
//! Conversion rounds to nearest even; of powers of two, which have no even ones, the middle goes to the larger. Formats without infinities turn overflow into NaN (or into the largest value
//! where the format has neither), as their definitions say.

use crate::types::FloatKind;

/// How a format spends its codes: a sign, then the exponent, then the mantissa.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// Bits of the exponent.
    pub exponent: u32,
    /// Bits of the mantissa, without the leading one.
    pub mantissa: u32,
    /// What is added to the exponent.
    pub bias: i32,
    /// What is no finite number.
    pub special: Special,
}

/// Codes of a format that are no finite numbers.
#[derive(PartialEq, Eq, Clone, Copy, Debug)]
pub enum Special {
    /// The highest exponent holds infinities and NaNs.
    Ieee,
    /// No infinity; NaN is all ones in exponent and mantissa.
    NanAllOnes,
    /// No infinity and no negative zero; NaN is the code of negative zero.
    NanNegativeZero,
    /// Every code is a number.
    None,
}

/// The format of a type.
///
/// # Panics
/// For `f80` and `f128`.
pub fn format(kind: FloatKind) -> Format {
    use FloatKind::*;
    let (exponent, mantissa, bias, special) = match kind {
        F4E2M1FN => (2, 1, 1, Special::None),
        F6E2M3FN => (2, 3, 1, Special::None),
        F6E3M2FN => (3, 2, 3, Special::None),
        F8E5M2 => (5, 2, 15, Special::Ieee),
        F8E4M3 => (4, 3, 7, Special::Ieee),
        F8E4M3FN => (4, 3, 7, Special::NanAllOnes),
        F8E5M2FNUZ => (5, 2, 16, Special::NanNegativeZero),
        F8E4M3FNUZ => (4, 3, 8, Special::NanNegativeZero),
        F8E4M3B11FNUZ => (4, 3, 11, Special::NanNegativeZero),
        F8E3M4 => (3, 4, 3, Special::Ieee),
        F8E8M0FNU => (8, 0, 127, Special::NanAllOnes),
        BF16 => (8, 7, 127, Special::Ieee),
        F16 => (5, 10, 15, Special::Ieee),
        TF32 => (8, 10, 127, Special::Ieee),
        F32 => (8, 23, 127, Special::Ieee),
        F64 => (11, 52, 1023, Special::Ieee),
        F80 | F128 => panic!("{} is wider than 64 bits", kind.keyword()),
    };
    Format { exponent, mantissa, bias, special }
}

/// The exact value of a bit pattern.
///
/// # Panics
/// For `f80` and `f128`.
pub fn to_f64(kind: FloatKind, bits: u64) -> f64 {
    if kind == FloatKind::F64 {
        return f64::from_bits(bits);
    }
    if kind == FloatKind::F8E8M0FNU {
        return if bits == 0xff { f64::NAN } else { 2f64.powi(bits as i32 - 127) };
    }
    let f = format(kind);
    let sign = if bits >> (f.exponent + f.mantissa) & 1 == 1 { -1.0 } else { 1.0 };
    let exponent = (bits >> f.mantissa) & ((1 << f.exponent) - 1);
    let mantissa = bits & ((1 << f.mantissa) - 1);
    let top = (1 << f.exponent) - 1;
    match f.special {
        Special::Ieee if exponent == top => return if mantissa == 0 { sign * f64::INFINITY } else { f64::NAN },
        Special::NanAllOnes if exponent == top && mantissa == (1 << f.mantissa) - 1 => return f64::NAN,
        Special::NanNegativeZero if sign < 0.0 && exponent == 0 && mantissa == 0 => return f64::NAN,
        _ => {}
    }
    let scale = if exponent == 0 { 1 - f.bias } else { exponent as i32 - f.bias } - f.mantissa as i32;
    let significand = if exponent == 0 { mantissa } else { mantissa | 1 << f.mantissa };
    sign * significand as f64 * 2f64.powi(scale)
}

/// The bit pattern nearest to `value`, ties to even.
///
/// # Panics
/// For `f80` and `f128`.
pub fn from_f64(kind: FloatKind, value: f64) -> u64 {
    match kind {
        FloatKind::F64 => return value.to_bits(),
        FloatKind::F32 => return u64::from((value as f32).to_bits()),
        FloatKind::F8E8M0FNU => return power_of_two(value, ToPower::Nearest),
        _ => {}
    }
    let f = format(kind);
    let negative = value.is_sign_negative();
    let sign = u64::from(negative) << (f.exponent + f.mantissa);
    if value.is_nan() {
        return nan(&f);
    }
    let magnitude = round_magnitude(&f, value.abs());
    match magnitude {
        None => overflow(&f, sign),
        Some(0) if f.special == Special::NanNegativeZero => 0,
        Some(code) => sign | code,
    }
}

/// Code of a finite non-negative value without its sign; `None` when it rounds past the largest number.
fn round_magnitude(f: &Format, value: f64) -> Option<u64> {
    if value.is_infinite() {
        return None;
    }
    if value == 0.0 {
        return Some(0);
    }
    let exponent = ((value.to_bits() >> 52) & 0x7ff) as i32 - 1023;
    let exponent = exponent.max(1 - f.bias);
    // In units of the last place at this exponent; below the smallest normal the exponent stays put. The scaling is
    // by powers of two in two steps, so that it is exact even where one factor would overflow.
    let ulp = exponent - f.mantissa as i32;
    let scaled = value * 2f64.powi(-(ulp / 2)) * 2f64.powi(-(ulp - ulp / 2));
    let units = scaled.round_ties_even() as u64;
    let code = if units < 1 << f.mantissa {
        units
    } else {
        // A carry out of the significand lands in the exponent, as it should.
        (((exponent + f.bias) as u64) << f.mantissa) + (units - (1 << f.mantissa))
    };
    (code <= largest_code(f)).then_some(code)
}

/// The largest finite number of a type.
///
/// # Panics
/// For `f80` and `f128`.
pub fn largest(kind: FloatKind) -> f64 {
    to_f64(kind, largest_code(&format(kind)))
}

/// Code of the largest finite number.
fn largest_code(f: &Format) -> u64 {
    let all = (1u64 << (f.exponent + f.mantissa)) - 1;
    match f.special {
        Special::Ieee => all - (1 << f.mantissa),
        Special::NanAllOnes => all - 1,
        Special::NanNegativeZero | Special::None => all,
    }
}

fn nan(f: &Format) -> u64 {
    match f.special {
        Special::Ieee => (((1 << f.exponent) - 1) << f.mantissa) | 1 << f.mantissa.saturating_sub(1),
        Special::NanAllOnes => (1 << (f.exponent + f.mantissa)) - 1,
        Special::NanNegativeZero => 1 << (f.exponent + f.mantissa),
        Special::None => 1 << (f.exponent + f.mantissa),
    }
}

fn overflow(f: &Format, sign: u64) -> u64 {
    match f.special {
        Special::Ieee => sign | ((1 << f.exponent) - 1) << f.mantissa,
        Special::NanAllOnes => sign | nan(f),
        Special::NanNegativeZero => nan(f),
        Special::None => sign | largest_code(f),
    }
}

/// The code of NaN in `f8E8M0FNU`.
const E8M0_NAN: u64 = 0xff;

/// How a number between two powers of two becomes one of them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ToPower {
    /// The nearer one; of the middle the larger one.
    Nearest,
    /// The larger one.
    Up,
    /// The smaller one.
    Down,
}

/// The bit pattern of a number as `f8E8M0FNU`, which holds powers of two and NaN only. What is less than the smallest power, zero of
/// either sign included, becomes it; what is negative, infinite or rounds beyond the largest becomes NaN.
pub fn power_of_two(value: f64, how: ToPower) -> u64 {
    if value == 0.0 {
        return 0;
    }
    if value.is_nan() || value < 0.0 || value.is_infinite() {
        return E8M0_NAN;
    }
    let bits = value.to_bits();
    let (exponent, fraction) = ((bits >> 52) as i32 - 1023, bits & ((1 << 52) - 1));
    let larger = match how {
        ToPower::Nearest => fraction >= 1 << 51,
        ToPower::Up => fraction > 0,
        ToPower::Down => false,
    };
    let code = exponent + i32::from(larger) + 127;
    if code >= E8M0_NAN as i32 { E8M0_NAN } else { code.max(0) as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_small_code_survives_a_round_trip() {
        for (kind, _, bits) in FloatKind::ALL {
            if bits > 16 {
                continue;
            }
            for code in 0..1u64 << bits {
                let value = to_f64(kind, code);
                if !value.is_nan() {
                    assert_eq!(from_f64(kind, value), code, "{} {code:#x} {value}", kind.keyword());
                }
            }
        }
    }

    #[test]
    fn powers_of_two_round_by_value() {
        use ToPower::{Down, Nearest, Up};
        let tiny = 2f64.powi(-127);
        let cases = [
            (1.0, [127, 127, 127]),
            (1.49, [127, 128, 127]),
            (1.5, [128, 128, 127]),
            (1.999, [128, 128, 127]),
            (tiny, [0, 0, 0]),
            (tiny * 1.499, [0, 1, 0]),
            (tiny * 1.5, [1, 1, 0]),
            (tiny / 4.0, [0, 0, 0]),
            (5e-324, [0, 0, 0]),
            (0.0, [0, 0, 0]),
            (-0.0, [0, 0, 0]),
            (2f64.powi(127) * 1.499, [254, 255, 254]),
            (2f64.powi(127) * 1.5, [255, 255, 254]),
            (2f64.powi(128), [255, 255, 255]),
            (f64::INFINITY, [255, 255, 255]),
            (f64::NAN, [255, 255, 255]),
            (-1.0, [255, 255, 255]),
            (-5e-324, [255, 255, 255]),
        ];
        for (value, codes) in cases {
            assert_eq!([Nearest, Up, Down].map(|how| power_of_two(value, how)), codes, "{value}");
        }
    }

    #[test]
    fn rounds_to_nearest_even() {
        assert_eq!(from_f64(FloatKind::F16, 1.0 + 1.0 / 2048.0), 0x3c00);
        assert_eq!(from_f64(FloatKind::F16, 1.0 + 3.0 / 2048.0), 0x3c02);
        assert_eq!(from_f64(FloatKind::BF16, f64::from(f32::MAX)), 0x7f80);
        assert_eq!(from_f64(FloatKind::F16, 65520.0), 0x7c00);
        assert_eq!(from_f64(FloatKind::F16, 65519.0), 0x7bff);
        assert_eq!(from_f64(FloatKind::F8E4M3FN, 1e9), 0x7f);
        assert_eq!(from_f64(FloatKind::F4E2M1FN, -100.0), 0xf);
        assert_eq!(from_f64(FloatKind::F16, 2f64.powi(-25)), 0);
        assert_eq!(from_f64(FloatKind::F16, 2f64.powi(-25) * 1.01), 1);
    }
}

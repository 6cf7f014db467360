//! Floats of every width as `f64` and back.

use super::keys::bits;
use crate::element::ElementType;

/// Bits of exponent and mantissa of a float of 16 bits.
fn small(elem: ElementType) -> Option<(u32, u32)> {
    match elem {
        ElementType::F16 => Some((5, 10)),
        ElementType::BF16 => Some((8, 7)),
        _ => None,
    }
}

/// Whether elements of a type are numbers to these functions.
pub(super) fn known(elem: ElementType) -> bool {
    matches!(elem, ElementType::F32 | ElementType::F64) || small(elem).is_some()
}

/// Two to the power `exponent`, which a normal number is.
fn power(exponent: i32) -> f64 {
    f64::from_bits(((exponent + 1023) as u64) << 52)
}

/// An element of a buffer of floats, exactly; NaN where the type is not known.
pub(super) fn read(elem: ElementType, bytes: &[u8], index: usize) -> f64 {
    let bits = bits(elem, bytes, index);
    match (elem, small(elem)) {
        (ElementType::F64, _) => f64::from_bits(bits),
        (ElementType::F32, _) => f64::from(f32::from_bits(bits as u32)),
        (_, Some((exponent, mantissa))) => widened(bits, exponent, mantissa),
        _ => f64::NAN,
    }
}

fn widened(bits: u64, exponent: u32, mantissa: u32) -> f64 {
    let (e, m) = (bits >> mantissa & ((1 << exponent) - 1), bits & ((1 << mantissa) - 1));
    let bias = (1 << (exponent - 1)) - 1;
    let magnitude = match e {
        e if e == (1 << exponent) - 1 && m != 0 => f64::NAN,
        e if e == (1 << exponent) - 1 => f64::INFINITY,
        0 => m as f64 * power(1 - bias - mantissa as i32),
        e => (m | 1 << mantissa) as f64 * power(e as i32 - bias - mantissa as i32),
    };
    if bits >> (exponent + mantissa) & 1 == 1 { -magnitude } else { magnitude }
}

/// The bytes of a number in an element type, rounded once to nearest, ties to even, and how many they are.
pub(super) fn bytes(elem: ElementType, value: f64) -> ([u8; 8], usize) {
    let bits = match (elem, small(elem)) {
        (ElementType::F32, _) => u64::from((value as f32).to_bits()),
        (_, Some((exponent, mantissa))) => narrowed(value, exponent, mantissa),
        _ => value.to_bits(),
    };
    (bits.to_ne_bytes(), elem.bytes())
}

fn narrowed(value: f64, exponent: u32, mantissa: u32) -> u64 {
    let sign = (value.to_bits() >> 63) << (exponent + mantissa);
    let infinity = ((1 << exponent) - 1) << mantissa;
    if value.is_nan() {
        return sign | infinity | 1 << (mantissa - 1);
    }
    let bias = (1 << (exponent - 1)) - 1;
    // The exponent of the number, or that of the least normal one of the type.
    let e = ((value.to_bits() >> 52 & 0x7ff) as i32 - 1023).max(1 - bias);
    if e > bias {
        return sign | infinity;
    }
    let steps = (value.abs() / power(e - mantissa as i32)).round_ties_even() as u64;
    // Where rounding carries, the exponent grows by itself, up to infinity.
    sign | ((((e + bias - 1) as u64) << mantissa) + steps)
}

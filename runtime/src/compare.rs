//! Comparing a result with what was expected.

use std::cmp::Ordering;

use crate::abi::MAX_RANK;
use crate::element::ElementType;
use crate::error::{Error, Result};
use crate::tensor::Tensor;

/// How far two tensors are apart.
///
/// Two NaNs are equal, as are two infinities of one sign. A NaN against a number is counted in
/// [`nan_mismatches`](Self::nan_mismatches) and makes both maxima infinite, so no tolerance accepts it.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Number of elements compared.
    pub elements: usize,
    /// Largest absolute difference.
    pub max_abs: Worst,
    /// Largest difference relative to the expected value's magnitude; infinite where 0 was expected and something
    /// else came.
    pub max_rel: Worst,
    /// Elements of which exactly one side is NaN.
    pub nan_mismatches: usize,
    /// Elements whose values differ at all.
    pub different: usize,
}

/// The largest error, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct Worst {
    pub error: f64,
    /// The first index with this error; none when all elements are equal.
    pub index: Option<Vec<i64>>,
    /// The two values there.
    pub actual: f64,
    pub expected: f64,
}

impl Comparison {
    /// Whether every element is within `absolute`, or within `relative` of the expected magnitude.
    /// (Each maximum on its own; a mixed tolerance per element needs [`all_close`].)
    pub fn within(&self, absolute: f64, relative: f64) -> bool {
        self.nan_mismatches == 0 && (self.max_abs.error <= absolute || self.max_rel.error <= relative)
    }
}

/// Compares element by element. Element types and dims must be the same.
///
/// Complex numbers are compared part by part, and the index of a part has one more number, 0 or 1.
pub fn compare(actual: &Tensor, expected: &Tensor) -> Result<Comparison> {
    check_comparable(actual, expected)?;
    let elements = actual.len();
    let parts = (parts(actual)?, parts(expected)?);
    let (actual, expected) = (parts.0.as_ref().unwrap_or(actual), parts.1.as_ref().unwrap_or(expected));
    let mut abs = Tracker::default();
    let mut rel = Tracker::default();
    let mut nan_mismatches = 0;
    let mut different = 0;
    for (at, pair) in pairs(actual, expected).enumerate() {
        let error = pair.error();
        if error.different {
            different += 1;
        }
        if error.nan_mismatch {
            nan_mismatches += 1;
        }
        abs.see(error.absolute, at);
        rel.see(error.relative, at);
    }
    let report = |tracker: Tracker| tracker.report(actual, expected);
    Ok(Comparison { elements, max_abs: report(abs), max_rel: report(rel), nan_mismatches, different })
}

/// The elements that a tolerance does not allow.
#[derive(Clone, Debug, PartialEq)]
pub struct Outside {
    /// How many there are.
    pub count: usize,
    /// The first of them, with its absolute error.
    pub first: Option<Worst>,
}

/// The elements of which `|actual - expected| <= absolute + relative * |expected|` does not hold, NaNs as in [`Comparison`].
pub fn outside(actual: &Tensor, expected: &Tensor, absolute: f64, relative: f64) -> Result<Outside> {
    check_comparable(actual, expected)?;
    let parts = (parts(actual)?, parts(expected)?);
    let (actual, expected) = (parts.0.as_ref().unwrap_or(actual), parts.1.as_ref().unwrap_or(expected));
    let is_outside = |pair: &Pair| {
        let error = pair.error();
        let magnitude = pair.expected.as_f64().abs();
        error.different
            && (error.nan_mismatch || !magnitude.is_finite() || error.absolute > absolute + relative * magnitude)
    };
    let mut wrong = pairs(actual, expected).enumerate().filter(|(_, pair)| is_outside(pair));
    let Some((at, pair)) = wrong.next() else { return Ok(Outside { count: 0, first: None }) };
    let count = 1 + wrong.count();
    let first = Tracker { error: pair.error().absolute, at: Some(at) }.report(actual, expected);
    Ok(Outside { count, first: Some(first) })
}

/// Whether [`outside`] finds no element.
pub fn all_close(actual: &Tensor, expected: &Tensor, absolute: f64, relative: f64) -> Result<bool> {
    Ok(outside(actual, expected, absolute, relative)?.count == 0)
}

fn check_comparable(actual: &Tensor, expected: &Tensor) -> Result<()> {
    if actual.element_type() == expected.element_type() && actual.dims() == expected.dims() {
        return Ok(());
    }
    Err(Error::Incomparable { left: format!("{actual:?}"), right: format!("{expected:?}") })
}

/// The parts of complex numbers, side by side in a last dimension of size 2; `None` of other numbers. Of a tensor that can have
/// no more dimensions the others become one.
fn parts(tensor: &Tensor) -> Result<Option<Tensor>> {
    let Some(part) = tensor.element_type().part() else { return Ok(None) };
    let mut dims = tensor.dims().to_vec();
    if dims.len() == MAX_RANK {
        dims = vec![i64::try_from(tensor.len()).unwrap_or(i64::MAX)];
    }
    dims.push(2);
    Tensor::from_bytes(part, &dims, tensor.bytes()).map(Some)
}

/// One element. Integers stay exact, because 64 bits do not fit a double.
#[derive(Clone, Copy)]
enum Number {
    Integer(i128),
    Float(f64),
}

impl Number {
    fn as_f64(self) -> f64 {
        match self {
            Self::Integer(v) => v as f64,
            Self::Float(v) => v,
        }
    }
}

struct Pair {
    actual: Number,
    expected: Number,
}

struct PairError {
    absolute: f64,
    relative: f64,
    nan_mismatch: bool,
    different: bool,
}

impl Pair {
    fn error(&self) -> PairError {
        const EQUAL: PairError = PairError { absolute: 0.0, relative: 0.0, nan_mismatch: false, different: false };
        let absolute = match (self.actual, self.expected) {
            (Number::Integer(a), Number::Integer(b)) => a.abs_diff(b) as f64,
            (a, b) => {
                let (a, b) = (a.as_f64(), b.as_f64());
                if a == b || (a.is_nan() && b.is_nan()) {
                    return EQUAL;
                }
                if a.is_nan() || b.is_nan() {
                    return PairError {
                        absolute: f64::INFINITY,
                        relative: f64::INFINITY,
                        nan_mismatch: true,
                        different: true,
                    };
                }
                (a - b).abs()
            }
        };
        if absolute == 0.0 {
            return EQUAL;
        }
        let magnitude = self.expected.as_f64().abs();
        // Infinity against a number: infinitely wrong, not NaN.
        let relative = if magnitude.is_infinite() { f64::INFINITY } else { absolute / magnitude };
        PairError { absolute, relative, nan_mismatch: false, different: true }
    }
}

/// Remembers the first of the largest errors.
#[derive(Default)]
struct Tracker {
    error: f64,
    at: Option<usize>,
}

impl Tracker {
    fn see(&mut self, error: f64, at: usize) {
        if error.partial_cmp(&self.error) == Some(Ordering::Greater) {
            *self = Self { error, at: Some(at) };
        }
    }

    fn report(self, actual: &Tensor, expected: &Tensor) -> Worst {
        let value = |tensor: &Tensor| self.at.map_or(0.0, |at| number(tensor, at).as_f64());
        Worst {
            error: self.error,
            index: self.at.map(|at| index_of(at, actual.dims())),
            actual: value(actual),
            expected: value(expected),
        }
    }
}

fn index_of(mut at: usize, dims: &[i64]) -> Vec<i64> {
    let mut index = vec![0; dims.len()];
    for (slot, &dim) in index.iter_mut().zip(dims).rev() {
        *slot = (at % dim as usize) as i64;
        at /= dim as usize;
    }
    index
}

fn pairs<'a>(actual: &'a Tensor, expected: &'a Tensor) -> impl Iterator<Item = Pair> + 'a {
    (0..actual.len()).map(|at| Pair { actual: number(actual, at), expected: number(expected, at) })
}

fn number(tensor: &Tensor, at: usize) -> Number {
    // Complex numbers are compared as their parts.
    let element = tensor.element_type();
    let size = element.word_bytes();
    let mut low = [0; 8];
    let bytes = &tensor.bytes()[at * size..][..size];
    if cfg!(target_endian = "little") {
        low[..size].copy_from_slice(bytes);
    } else {
        low[8 - size..].copy_from_slice(bytes);
    }
    let bits = u64::from_ne_bytes(low);
    let signed = |bits: u64| {
        let unused = 64 - element.bits();
        Number::Integer(i128::from((bits << unused) as i64 >> unused))
    };
    match element {
        ElementType::Bool | ElementType::U8 | ElementType::U16 | ElementType::U32 | ElementType::U64 => {
            Number::Integer(i128::from(bits))
        }
        ElementType::U2 | ElementType::U4 => Number::Integer(i128::from(bits & ((1 << element.bits()) - 1))),
        ElementType::I2 | ElementType::I4 => signed(bits),
        ElementType::I8 | ElementType::I16 | ElementType::I32 | ElementType::I64 => signed(bits),
        ElementType::F64 | ElementType::C128 => Number::Float(f64::from_bits(bits)),
        ElementType::F32 | ElementType::C64 => Number::Float(f64::from(f32::from_bits(bits as u32))),
        ElementType::BF16 => Number::Float(f64::from(f32::from_bits((bits as u32) << 16))),
        ElementType::F16 => Number::Float(small_float(bits, 5, 10, Special::Infinities)),
        ElementType::F8E5M2 => Number::Float(small_float(bits, 5, 2, Special::Infinities)),
        ElementType::F8E4M3FN => Number::Float(small_float(bits, 4, 3, Special::NanOfOnes)),
        ElementType::F8E4M3FNUZ => Number::Float(small_float(bits, 4, 3, Special::NanOfNegativeZero)),
        ElementType::F8E5M2FNUZ => Number::Float(small_float(bits, 5, 2, Special::NanOfNegativeZero)),
        ElementType::F8E8M0FNU => Number::Float(if bits == 0xff { f64::NAN } else { 2f64.powi(bits as i32 - 127) }),
        ElementType::F4E2M1FN => Number::Float(small_float(bits & 0xf, 2, 1, Special::None)),
    }
}

/// What the codes of a small float mean that are no finite numbers.
#[derive(Clone, Copy, PartialEq)]
enum Special {
    /// The largest exponent holds infinities and NaNs.
    Infinities,
    /// All ones are NaN (the `FN` formats of OCP's 8-bit specification).
    NanOfOnes,
    /// Every code is a number.
    None,
    /// The code of negative zero is NaN, and the bias is one more (the `FNUZ` formats).
    NanOfNegativeZero,
}

/// The value of a float with a sign bit and these many bits of exponent and mantissa.
fn small_float(bits: u64, exponent_bits: u32, mantissa_bits: u32, special: Special) -> f64 {
    let mantissa_mask = (1u64 << mantissa_bits) - 1;
    let exponent_mask = (1u64 << exponent_bits) - 1;
    let mantissa = bits & mantissa_mask;
    let exponent = bits >> mantissa_bits & exponent_mask;
    let sign = if bits >> (mantissa_bits + exponent_bits) & 1 == 1 { -1.0 } else { 1.0 };
    match special {
        Special::Infinities if exponent == exponent_mask => {
            return if mantissa == 0 { sign * f64::INFINITY } else { f64::NAN };
        }
        Special::NanOfOnes if exponent == exponent_mask && mantissa == mantissa_mask => return f64::NAN,
        Special::NanOfNegativeZero if sign < 0.0 && exponent == 0 && mantissa == 0 => return f64::NAN,
        _ => {}
    }
    let bias = (exponent_mask >> 1) as i32 + i32::from(special == Special::NanOfNegativeZero);
    let (significand, scale) =
        if exponent == 0 { (mantissa, 1 - bias) } else { (mantissa | 1 << mantissa_bits, exponent as i32 - bias) };
    sign * significand as f64 * 2f64.powi(scale - mantissa_bits as i32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floats(values: &[f32]) -> Tensor {
        Tensor::from_slice(&[values.len() as i64], values).unwrap()
    }

    #[test]
    fn finds_the_worst_element() {
        let expected = Tensor::from_slice(&[2, 2], &[1.0f32, 2.0, 100.0, 0.5]).unwrap();
        let actual = Tensor::from_slice(&[2, 2], &[1.0f32, 2.5, 101.0, 0.25]).unwrap();
        let comparison = compare(&actual, &expected).unwrap();
        assert_eq!(comparison.max_abs.error, 1.0);
        assert_eq!(comparison.max_abs.index, Some(vec![1, 0]));
        assert_eq!((comparison.max_abs.actual, comparison.max_abs.expected), (101.0, 100.0));
        assert_eq!(comparison.max_rel.error, 0.5);
        assert_eq!(comparison.max_rel.index, Some(vec![1, 1]));
        assert_eq!(comparison.different, 3);
        assert!(comparison.within(1.0, 0.0));
        assert!(!comparison.within(0.9, 0.1));
    }

    #[test]
    fn nan_equals_only_nan() {
        let comparison = compare(&floats(&[f32::NAN, 1.0]), &floats(&[f32::NAN, 1.0])).unwrap();
        assert_eq!((comparison.nan_mismatches, comparison.different), (0, 0));
        assert_eq!(comparison.max_abs.index, None);
        for (a, b) in [(f32::NAN, 1.0), (1.0, f32::NAN)] {
            let comparison = compare(&floats(&[a]), &floats(&[b])).unwrap();
            assert_eq!(comparison.nan_mismatches, 1);
            assert!(!comparison.within(f64::INFINITY, f64::INFINITY));
            assert!(!all_close(&floats(&[a]), &floats(&[b]), f64::INFINITY, 1.0).unwrap());
        }
    }

    #[test]
    fn infinities() {
        let inf = f32::INFINITY;
        assert_eq!(compare(&floats(&[inf, -inf]), &floats(&[inf, -inf])).unwrap().max_abs.error, 0.0);
        for (a, b) in [(inf, 1.0), (1.0, inf), (inf, -inf)] {
            let comparison = compare(&floats(&[a]), &floats(&[b])).unwrap();
            assert_eq!(comparison.max_abs.error, f64::INFINITY);
            assert_eq!(comparison.max_rel.error, f64::INFINITY);
            assert!(!all_close(&floats(&[a]), &floats(&[b]), 1e30, 1e30).unwrap());
        }
    }

    #[test]
    fn integers_are_exact() {
        let actual = Tensor::from_slice(&[2], &[i64::MAX, i64::MIN]).unwrap();
        let expected = Tensor::from_slice(&[2], &[i64::MAX - 1, i64::MIN]).unwrap();
        let comparison = compare(&actual, &expected).unwrap();
        assert_eq!((comparison.max_abs.error, comparison.different), (1.0, 1));
        let small = |v: &[i8]| Tensor::from_slice(&[v.len() as i64], v).unwrap();
        assert_eq!(compare(&small(&[-128]), &small(&[127])).unwrap().max_abs.error, 255.0);
    }

    #[test]
    fn shapes_must_agree() {
        let error = compare(&floats(&[1.0]), &floats(&[1.0, 2.0])).unwrap_err();
        assert_eq!(error.to_string(), "cannot compare f32[1] with f32[2]");
        let empty = Tensor::zeros(ElementType::F32, &[0, 3]).unwrap();
        assert_eq!(compare(&empty, &empty).unwrap().elements, 0);
    }

    #[test]
    fn small_floats_have_their_values() {
        let f16 = |bits| small_float(bits, 5, 10, Special::Infinities);
        assert_eq!(f16(0x3c00), 1.0);
        assert_eq!(f16(0xc000), -2.0);
        assert_eq!(f16(0x7bff), 65504.0);
        assert_eq!(f16(0x0001), 2f64.powi(-24));
        assert_eq!(f16(0x7c00), f64::INFINITY);
        assert!(f16(0x7e00).is_nan());
        assert_eq!(f16(0x8000).to_bits(), (-0.0f64).to_bits());
        let e4m3 = |bits| small_float(bits, 4, 3, Special::NanOfOnes);
        assert_eq!(e4m3(0x7e), 448.0);
        assert!(e4m3(0x7f).is_nan());
        assert_eq!(e4m3(0x01), 2f64.powi(-9));
        let e5m2 = |bits| small_float(bits, 5, 2, Special::Infinities);
        assert_eq!(e5m2(0x7b), 57344.0);
        assert_eq!(e5m2(0xfc), f64::NEG_INFINITY);
    }

    #[test]
    fn bf16_is_compared_by_value() {
        let one = Tensor::from_bytes(ElementType::BF16, &[1], &0x3f80u16.to_ne_bytes()).unwrap();
        let two = Tensor::from_bytes(ElementType::BF16, &[1], &0x4000u16.to_ne_bytes()).unwrap();
        assert_eq!(compare(&two, &one).unwrap().max_abs.error, 1.0);
    }
}

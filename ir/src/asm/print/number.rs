//! Numbers as LLVM writes them.

use num_bigint::{BigInt, BigUint, Sign};

use crate::types::FloatKind;

pub(super) fn write_int(out: &mut String, value: i64) {
    if value < 0 {
        out.push('-');
    }
    write_unsigned(out, value.unsigned_abs());
}

pub(super) fn write_unsigned(out: &mut String, mut value: u64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    out.extend(digits[at..].iter().map(|d| char::from(*d)));
}

/// An integer of at most 64 bits as stored: sign-extended, or zero-extended for unsigned types.
pub(super) fn write_element_int(out: &mut String, value: i64, unsigned: bool) {
    if unsigned { write_unsigned(out, value as u64) } else { write_int(out, value) }
}

/// Two's complement words, least significant first; unsigned values are never negative.
pub(super) fn write_big_int(out: &mut String, words: &[i64], unsigned: bool) {
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    let value = if unsigned { BigInt::from_bytes_le(Sign::Plus, &bytes) } else { BigInt::from_signed_bytes_le(&bytes) };
    out.push_str(&value.to_string());
}

/// An integer from little-endian bytes, extended from `width` bits.
pub(super) fn load_int(bytes: &[u8], width: u32, unsigned: bool) -> i64 {
    let mut raw = [0; 8];
    let n = bytes.len().min(8);
    raw[..n].copy_from_slice(&bytes[..n]);
    let shift = 64 - width.clamp(1, 64);
    let value = u64::from_le_bytes(raw) << shift;
    if unsigned { (value >> shift) as i64 } else { value as i64 >> shift }
}

/// Words of an integer wider than 64 bits, extended from `width` bits.
pub(super) fn load_words(bytes: &[u8], width: u32, unsigned: bool) -> Vec<i64> {
    bytes.chunks(8).enumerate().map(|(i, chunk)| load_int(chunk, (width - 64 * i as u32).min(64), unsigned)).collect()
}

/// Writes a float of at most 64 bits; true when it had to be hexadecimal (infinities, NaNs).
///
/// MLIR's rule: six significant digits in scientific notation when they read back as the same value, else enough digits
/// for that, else the bits.
pub(super) fn write_float(out: &mut String, kind: FloatKind, bits: u64) -> bool {
    let value = crate::float::to_f64(kind, bits);
    if !value.is_finite() {
        write_bits(out, &BigUint::from(bits));
        return true;
    }
    if let Some(short) = Decimal::short(value) {
        out.push_str(&short.scientific(SHORT_DIGITS));
        return false;
    }
    let exact = Exact::of_f64(value);
    let short = exact.rounded(SHORT_DIGITS).scientific(SHORT_DIGITS);
    let reads_back = |text: &str| {
        let read: f64 = text.parse().expect("a number");
        // A narrow type rounds from its neighbours' midpoint, which a double resolves.
        read.is_finite() && crate::float::from_f64(kind, read) == bits
    };
    if reads_back(&short) {
        out.push_str(&short);
        return false;
    }
    // LLVM's count of digits that suffice for a significand of this many bits.
    let digits = 2 + precision(kind) * 59 / 196;
    let text = exact.rounded(digits).plain(digits);
    if text.contains('.') {
        out.push_str(&text);
        return false;
    }
    write_bits(out, &BigUint::from(bits));
    true
}

/// [`write_float`] for 80 and 128 bits.
pub(super) fn write_big_float(out: &mut String, kind: FloatKind, words: &[i64]) {
    let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
    let bits = BigUint::from_bytes_le(&bytes);
    let fraction_bits = if kind == FloatKind::F80 { 64 } else { 112 };
    let fraction = &bits & ((BigUint::from(1u8) << fraction_bits) - 1u8);
    let shifted: BigUint = &bits >> fraction_bits;
    let exponent = (shifted.iter_u32_digits().next().unwrap_or(0) & 0x7fff) as i32;
    if exponent == 0x7fff {
        return write_bits(out, &bits);
    }
    // `f80` stores its leading one, `f128` does not.
    let (significand, scale) = match kind {
        FloatKind::F80 => (fraction, exponent.max(1) - 16383 - 63),
        _ if exponent == 0 => (fraction, 1 - 16383 - 112),
        _ => (fraction | BigUint::from(1u8) << 112, exponent - 16383 - 112),
    };
    let exact = Exact::of_binary(bits.bit(fraction_bits + 15), significand, scale);
    let short = exact.rounded(SHORT_DIGITS);
    if short.digits == exact.all_digits().digits {
        return out.push_str(&short.scientific(SHORT_DIGITS));
    }
    let digits = if kind == FloatKind::F80 { 21 } else { 36 };
    let text = exact.rounded(digits).plain(digits);
    if text.contains('.') { out.push_str(&text) } else { write_bits(out, &bits) }
}

const SHORT_DIGITS: usize = 6;

/// Bits of the significand, the leading one included.
fn precision(kind: FloatKind) -> usize {
    match kind {
        FloatKind::F4E2M1FN => 2,
        FloatKind::F6E2M3FN => 4,
        FloatKind::F6E3M2FN => 3,
        FloatKind::F8E5M2 | FloatKind::F8E5M2FNUZ => 3,
        FloatKind::F8E4M3 | FloatKind::F8E4M3FN | FloatKind::F8E4M3FNUZ | FloatKind::F8E4M3B11FNUZ => 4,
        FloatKind::F8E3M4 => 5,
        FloatKind::F8E8M0FNU => 1,
        FloatKind::BF16 => 8,
        FloatKind::F16 | FloatKind::TF32 => 11,
        FloatKind::F32 => 24,
        FloatKind::F64 => 53,
        FloatKind::F80 => 64,
        FloatKind::F128 => 113,
    }
}

fn write_bits(out: &mut String, bits: &BigUint) {
    out.push_str("0x");
    out.push_str(&format!("{bits:X}"));
}

/// A decimal number: `digits` are `0.d1d2… * 10^(exponent + 1)`, without trailing zeros; none for zero.
#[derive(Clone)]
struct Decimal {
    negative: bool,
    digits: Vec<u8>,
    exponent: i32,
}

/// A number as LLVM rounds it: `number * 10^exponent`.
struct Exact {
    negative: bool,
    number: BigUint,
    exponent: i32,
}

impl Exact {
    fn of_f64(value: f64) -> Self {
        let bits = value.to_bits();
        let (fraction, exponent) = (bits & ((1 << 52) - 1), (bits >> 52 & 0x7ff) as i32);
        let significand = if exponent == 0 { fraction } else { fraction | 1 << 52 };
        Self::of_binary(value.is_sign_negative(), significand.into(), exponent.max(1) - 1075)
    }

    /// `significand * 2^scale`
    fn of_binary(negative: bool, significand: BigUint, scale: i32) -> Self {
        let zeros = significand.trailing_zeros().unwrap_or(0);
        let (significand, scale) = (significand >> zeros, scale + zeros as i32);
        if scale >= 0 {
            Self { negative, number: significand << scale.unsigned_abs(), exponent: 0 }
        } else {
            Self { negative, number: significand * BigUint::from(5u8).pow(scale.unsigned_abs()), exponent: scale }
        }
    }

    fn all_digits(&self) -> Decimal {
        Decimal::of_integer(self.negative, &self.number, self.exponent)
    }

    /// At most `n` digits. What has many more bits than they need is first cut off, in powers of ten; of what is left a
    /// half is rounded up. So a number that is cut to just `n` digits is truncated, as LLVM does it.
    fn rounded(&self, n: usize) -> Decimal {
        let needed = (n as u64 * 196).div_ceil(59);
        let tens = self.number.bits().saturating_sub(needed) * 59 / 196;
        if tens == 0 {
            return self.all_digits().rounded(n);
        }
        let tens = u32::try_from(tens).expect("floats have few digits");
        let number = &self.number / BigUint::from(10u8).pow(tens);
        Decimal::of_integer(self.negative, &number, self.exponent + tens as i32).rounded(n)
    }
}

impl Decimal {
    /// A value that six digits write exactly, as those of most constants do.
    fn short(value: f64) -> Option<Self> {
        const LIMIT: u64 = 10u64.pow(SHORT_DIGITS as u32);
        let bits = value.to_bits();
        let (fraction, exponent) = (bits & ((1 << 52) - 1), (bits >> 52 & 0x7ff) as i32);
        if exponent == 0 && fraction != 0 {
            return None;
        }
        let significand = if exponent == 0 { 0 } else { fraction | 1 << 52 };
        let zeros = significand.trailing_zeros().min(52);
        let (significand, scale) = (significand >> zeros, exponent - 1075 + zeros as i32);
        // At most six digits have at most six fives, and integers of six digits need no more than twenty bits.
        let (number, scale) = match scale {
            _ if significand == 0 => (0, 0),
            -8..0 => (significand.checked_mul(5u64.pow(scale.unsigned_abs()))?, scale),
            0..20 if significand < LIMIT => (significand << scale, 0),
            _ => return None,
        };
        (number < LIMIT).then(|| Self::of_digits(value.is_sign_negative(), number, scale))
    }

    /// `number * 10^exponent`
    fn of_digits(negative: bool, mut number: u64, exponent: i32) -> Self {
        let mut digits = Vec::with_capacity(SHORT_DIGITS);
        while number != 0 {
            digits.push((number % 10) as u8);
            number /= 10;
        }
        digits.reverse();
        let exponent = digits.len() as i32 - 1 + exponent;
        Self { negative, digits, exponent }.trimmed()
    }

    /// `number * 10^exponent`
    fn of_integer(negative: bool, number: &BigUint, exponent: i32) -> Self {
        let digits: Vec<u8> = number.to_radix_be(10);
        let exponent = digits.len() as i32 - 1 + exponent;
        Self { negative, digits, exponent }.trimmed()
    }

    fn trimmed(mut self) -> Self {
        while self.digits.last() == Some(&0) {
            self.digits.pop();
        }
        if self.digits.is_empty() {
            self.exponent = 0;
        }
        self
    }

    /// At most `n` digits, a half rounded up.
    fn rounded(&self, n: usize) -> Self {
        let mut out = self.clone();
        if out.digits.len() <= n {
            return out;
        }
        let up = out.digits[n] >= 5;
        out.digits.truncate(n);
        if up {
            let kept = out.digits.iter().rposition(|d| *d != 9);
            match kept {
                Some(at) => {
                    out.digits[at] += 1;
                    out.digits.truncate(at + 1);
                }
                None => {
                    out.digits = vec![1];
                    out.exponent += 1;
                }
            }
        }
        out.trimmed()
    }

    /// `d.dddddde+XX` with `width` digits after the point (zero has one digit fewer in LLVM's count, and none here).
    fn scientific(&self, width: usize) -> String {
        let mut out = String::new();
        if self.negative {
            out.push('-');
        }
        let mut digits = self.digits.iter().map(|d| char::from(b'0' + d)).chain(std::iter::repeat('0'));
        out.extend(digits.next());
        out.push('.');
        out.extend(digits.take(width));
        out.push_str(if self.exponent < 0 { "e-" } else { "e+" });
        out.push_str(&format!("{:02}", self.exponent.unsigned_abs()));
        out
    }

    /// LLVM's default notation: plain up to three zeros of padding, unless that looks more precise than `precision`
    /// digits, otherwise `d.dE+X`.
    fn plain(&self, precision: usize) -> String {
        const MAX_PADDING: i32 = 3;
        let n = self.digits.len() as i32;
        let digit = |i: i32| char::from(b'0' + self.digits[i as usize]);
        let mut out = String::new();
        if self.negative {
            out.push('-');
        }
        // Exponent of the last digit.
        let last = self.exponent - (n - 1);
        let scientific = if last >= 0 {
            last > MAX_PADDING || (n + last) as usize > precision
        } else {
            self.exponent < 0 && -self.exponent > MAX_PADDING
        };
        if scientific {
            out.push(digit(0));
            out.push('.');
            out.extend((1..n).map(digit));
            if n == 1 {
                out.push('0');
            }
            out.push_str(if self.exponent < 0 { "E-" } else { "E+" });
            out.push_str(&self.exponent.unsigned_abs().to_string());
        } else if last >= 0 {
            out.extend((0..n).map(digit));
            out.extend((0..last).map(|_| '0'));
        } else if self.exponent >= 0 {
            out.extend((0..=self.exponent).map(digit));
            out.push('.');
            out.extend((self.exponent + 1..n).map(digit));
        } else {
            out.push_str("0.");
            out.extend((1..-self.exponent).map(|_| '0'));
            out.extend((0..n).map(digit));
        }
        out
    }
}

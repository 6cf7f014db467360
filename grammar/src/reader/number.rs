//! Numbers: literals to attributes and to the bytes of dense elements.

use num_bigint::{BigInt, BigUint, Sign};

use sutura_ir::attrs::{Attr, AttrData};
use sutura_ir::diagnostics::{Diagnostic, Reported};
use sutura_ir::float;
use sutura_ir::types::{FloatKind, Signedness, Type, TypeData};

use super::Reader;
use crate::rules::Node;

/// A number as written.
#[derive(Clone, Copy)]
pub(super) struct Literal<'t> {
    /// Without sign.
    pub(super) digits: &'t str,
    pub(super) negative: bool,
    pub(super) kind: LiteralKind,
    /// Offset of the first digit.
    pub(super) at: usize,
}

#[derive(Clone, Copy, PartialEq)]
pub(super) enum LiteralKind {
    Decimal,
    /// `digits` are without `0x`.
    Hex,
    Float,
}

impl<'t> Literal<'t> {
    pub(super) fn new(text: &'t str, at: usize) -> Self {
        let (negative, digits) = sign(text);
        let at = at + text.len() - digits.len();
        match digits.strip_prefix("0x") {
            Some(hex) => Self { digits: hex, negative, kind: LiteralKind::Hex, at },
            None if digits.contains('.') => Self { digits, negative, kind: LiteralKind::Float, at },
            None => Self { digits, negative, kind: LiteralKind::Decimal, at },
        }
    }

    fn magnitude(&self) -> BigUint {
        let radix = if self.kind == LiteralKind::Hex { 16 } else { 10 };
        BigUint::parse_bytes(self.digits.as_bytes(), radix).unwrap_or_default()
    }

    fn small(&self) -> Option<u64> {
        let radix = if self.kind == LiteralKind::Hex { 16 } else { 10 };
        u64::from_str_radix(self.digits, radix).ok()
    }
}

/// True for a number with a minus, and its digits: blanks may stand between.
fn sign(text: &str) -> (bool, &str) {
    match text.strip_prefix('-') {
        Some(digits) => (true, digits.trim_start_matches([' ', '\n'])),
        None => (false, text),
    }
}

/// The value of decimal digits, or of hexadecimal ones after `0x`; `None` when it is beyond 64 bits.
pub(crate) fn unsigned(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// The value of an integer with an optional minus.
pub(crate) fn signed(text: &str) -> Option<i64> {
    let (negative, digits) = sign(text);
    let value = i128::from(unsigned(digits)?);
    i64::try_from(if negative { -value } else { value }).ok()
}

/// Bits of a value, least significant word first: one word unless it is wider.
pub(super) enum Bits {
    Word(i64),
    Words(Vec<i64>),
}

impl<'t> Reader<'t> {
    pub(super) fn number(&mut self, node: Node<'t>, expected: Option<Type>) -> Result<Attr, Reported> {
        let mut children = node.children();
        let number = children.next().expect("a number");
        let literal = Literal::new(number.text(), number.start());
        let written = self.type_after(&mut children)?;
        let default = if literal.kind == LiteralKind::Float { Type::F64 } else { Type::I64 };
        let ty = written.or(expected).unwrap_or(default);
        let cx = self.cx;
        match cx.type_data(ty) {
            TypeData::Float(kind) => Ok(match self.float_bits(literal, kind)? {
                Bits::Word(bits) => cx.attr(AttrData::Float { ty, bits: bits as u64 }),
                Bits::Words(words) => cx.attr(AttrData::BigFloat { ty, words: cx.int_list(&words) }),
            }),
            TypeData::Index | TypeData::Integer { .. } => {
                if literal.kind == LiteralKind::Float {
                    return Err(self.error(literal.at, "floating point value not valid for specified type"));
                }
                Ok(match self.int_bits(literal, ty)? {
                    Bits::Word(value) => cx.int_attr(value, ty),
                    Bits::Words(words) => cx.attr(AttrData::BigInteger { ty, words: cx.int_list(&words) }),
                })
            }
            _ if literal.kind == LiteralKind::Float => {
                Err(self.error(literal.at, "floating point value not valid for specified type"))
            }
            _ => Err(self.error(literal.at, "integer literal not valid for specified type")),
        }
    }

    /// The value in `ty`: sign-extended, or zero-extended for unsigned types.
    pub(super) fn int_bits(&mut self, literal: Literal<'t>, ty: Type) -> Result<Bits, Reported> {
        let (width, sign) = match self.cx.type_data(ty) {
            TypeData::Integer { width, sign } => (width, sign),
            _ => (64, Signedness::Signed),
        };
        if literal.negative && sign == Signedness::Unsigned {
            let message = "negative integer literal not valid for unsigned integer type";
            return Err(self.error(literal.at, message));
        }
        let small = if width <= 64 { literal.small() } else { None };
        let bits = match small {
            Some(value) => small_int(value, literal.negative, width, sign).map(Bits::Word),
            None => big_int(&literal, width, sign),
        };
        bits.ok_or_else(|| self.error(literal.at, "integer constant out of range for attribute"))
    }

    /// The bits in the format of `kind`. A decimal literal is read as a double first, as MLIR does.
    pub(super) fn float_bits(&mut self, literal: Literal<'t>, kind: FloatKind) -> Result<Bits, Reported> {
        match literal.kind {
            LiteralKind::Decimal => {
                let error = Diagnostic::error(
                    self.loc(literal.at),
                    "unexpected decimal integer literal for a floating point value",
                );
                Err(self.report(error.help("add a trailing dot to make the literal a float")))
            }
            LiteralKind::Hex if literal.negative => {
                Err(self.error(literal.at, "hexadecimal float literal should not have a leading minus"))
            }
            LiteralKind::Hex => {
                let bits = literal.magnitude();
                if bits.bits() > u64::from(kind.bits()) {
                    return Err(self.error(literal.at, "hexadecimal float constant out of range for type"));
                }
                Ok(words(bits, kind.bits()))
            }
            LiteralKind::Float => {
                // One too large is infinite.
                let value: f64 = literal.digits.parse().unwrap_or(f64::NAN);
                let value = if literal.negative { -value } else { value };
                Ok(match kind {
                    FloatKind::F80 | FloatKind::F128 => Bits::Words(wide_float(kind, value)),
                    _ => Bits::Word(float::from_f64(kind, value) as i64),
                })
            }
        }
    }
}

fn small_int(value: u64, negative: bool, width: u32, sign: Signedness) -> Option<i64> {
    if width == 0 {
        return (value == 0).then_some(0);
    }
    let limit = 1u128 << width;
    let half = limit >> 1;
    let value = u128::from(value);
    let fits = match (negative, sign) {
        // There is no negative zero.
        (true, _) => value <= half && value != 0,
        (false, Signedness::Signed) => value < half,
        (false, _) => value < limit,
    };
    let bits = if negative { (value as i64).wrapping_neg() } else { value as i64 };
    if !fits {
        return None;
    }
    let shift = 64 - width;
    Some(if sign == Signedness::Unsigned { bits } else { (bits << shift) >> shift })
}

fn big_int(literal: &Literal<'_>, width: u32, sign: Signedness) -> Option<Bits> {
    let magnitude = literal.magnitude();
    let half = BigUint::from(1u8) << width.saturating_sub(1);
    let fits = match (literal.negative, sign) {
        (true, _) => magnitude <= half && magnitude.bits() > 0,
        (false, Signedness::Signed) => magnitude < half,
        (false, _) => magnitude.bits() <= u64::from(width),
    };
    if !fits {
        return None;
    }
    let modulus = BigInt::from(1u8) << width;
    let value = BigInt::from_biguint(if literal.negative { Sign::Minus } else { Sign::Plus }, magnitude);
    let wrapped = ((value % &modulus) + &modulus) % &modulus;
    let signed = sign != Signedness::Unsigned && wrapped.bit(u64::from(width) - 1);
    let value = if signed { wrapped - modulus } else { wrapped };
    let fill = if signed { -1i64 } else { 0 };
    let bytes = value.to_signed_bytes_le();
    let count = (width as usize).div_ceil(64);
    let mut words = vec![fill; count];
    for (i, word) in words.iter_mut().enumerate() {
        let mut raw = [if signed { 0xff } else { 0 }; 8];
        for (j, byte) in raw.iter_mut().enumerate() {
            if let Some(b) = bytes.get(8 * i + j) {
                *byte = *b;
            }
        }
        *word = i64::from_le_bytes(raw);
    }
    Some(if width <= 64 { Bits::Word(words[0]) } else { Bits::Words(words) })
}

fn words(bits: BigUint, width: u32) -> Bits {
    let mut words: Vec<i64> = bits.iter_u64_digits().map(|w| w as i64).collect();
    words.resize((width as usize).div_ceil(64), 0);
    if width <= 64 { Bits::Word(words[0]) } else { Bits::Words(words) }
}

/// A double, exactly, as `f80` or `f128`.
fn wide_float(kind: FloatKind, value: f64) -> Vec<i64> {
    let bits = value.to_bits();
    let sign = bits >> 63;
    let mut exponent = ((bits >> 52) & 0x7ff) as i64;
    if exponent == 0x7ff {
        let top = sign << 15 | 0x7fff;
        return if kind == FloatKind::F80 { vec![1 << 63, top as i64] } else { vec![0, (top << 48) as i64] };
    }
    let mut fraction = bits & ((1 << 52) - 1);
    if exponent == 0 && fraction == 0 {
        let top = (sign << 15) as i64;
        return if kind == FloatKind::F80 { vec![0, top] } else { vec![0, top << 48] };
    }
    if exponent == 0 {
        // Subnormal doubles are normal in the wider formats.
        let shift = fraction.leading_zeros() - 11;
        fraction = (fraction << shift) & ((1 << 52) - 1);
        exponent = 1 - i64::from(shift);
    }
    let exponent = (exponent - 1023 + 16383) as u64 | sign << 15;
    match kind {
        FloatKind::F80 => vec![(1 << 63 | fraction << 11) as i64, exponent as i64],
        _ => vec![(fraction << 60) as i64, (exponent << 48 | fraction >> 4) as i64],
    }
}

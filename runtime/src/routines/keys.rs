//! Elements as numbers in whose order they are sorted.

use super::call::Input;
use crate::element::ElementType;

/// The bits of an element of at most 8 bytes, by a load of one of four widths: a copy of so many bytes would be a call.
#[inline]
pub(super) fn bits(elem: ElementType, bytes: &[u8], index: usize) -> u64 {
    match elem.bytes() {
        1 => u64::from(bytes[index]),
        2 => u64::from(u16::from_ne_bytes(bytes.as_chunks().0[index])),
        4 => u64::from(u32::from_ne_bytes(bytes.as_chunks().0[index])),
        _ => u64::from_ne_bytes(bytes.as_chunks().0[index]),
    }
}

/// An element as a number: the lesser one of two elements has the lesser number, and equal elements have one. NaN is greater than
/// all others and equal to itself; -0.0 equals 0.0.
pub(super) fn ordered(elem: ElementType, bytes: &[u8], index: usize) -> u64 {
    const SIGN: u64 = 1 << 63;
    // No routine sorts complex numbers, which have no order: of such a one the bits of the real part are the number.
    let elem = elem.part().unwrap_or(elem);
    let bits = bits(elem, bytes, index);
    let signed = |shift: u32| (((bits << shift) as i64) >> shift) as u64 ^ SIGN;
    match elem {
        ElementType::Bool | ElementType::U8 | ElementType::U16 | ElementType::U32 | ElementType::U64 => bits,
        ElementType::I8 => signed(56),
        ElementType::I16 => signed(48),
        ElementType::I32 => signed(32),
        ElementType::I64 => signed(0),
        ElementType::F8E4M3FN => float(bits, 8, 0x7f, 0x7f),
        ElementType::F8E5M2 => float(bits, 8, 0x7f, 0x7d),
        // The code of negative zero is NaN, and the only one.
        ElementType::F8E4M3FNUZ | ElementType::F8E5M2FNUZ if bits == 0x80 => u64::MAX,
        ElementType::F8E4M3FNUZ | ElementType::F8E5M2FNUZ => float(bits, 8, 0x7f, 0x80),
        // Powers of two in their order, and NaN behind them.
        ElementType::F8E8M0FNU => {
            if bits == 0xff {
                u64::MAX
            } else {
                bits
            }
        }
        ElementType::F4E2M1FN => float(bits & 0xf, 4, 0x7, 0x8),
        ElementType::U2 | ElementType::U4 => bits & ((1 << elem.bits()) - 1),
        ElementType::I2 => signed(62),
        ElementType::I4 => signed(60),
        ElementType::F16 => float(bits, 16, 0x7fff, 0x7c01),
        ElementType::BF16 => float(bits, 16, 0x7fff, 0x7f81),
        ElementType::F32 | ElementType::C64 => float(bits, 32, 0x7fff_ffff, 0x7f80_0001),
        ElementType::F64 | ElementType::C128 => float(bits, 64, SIGN - 1, 0x7ff0_0000_0000_0001),
    }
}

/// Of a float of `width` bits, whose magnitudes are in `mask` and are NaN from `nan` on. Magnitudes are ordered as their bits.
fn float(bits: u64, width: u32, mask: u64, nan: u64) -> u64 {
    let magnitude = bits & mask;
    // All ones where the number is negative: which sign comes is not to be guessed.
    let negative = (bits >> (width - 1) & 1).wrapping_neg();
    if magnitude >= nan { u64::MAX } else { (1u64 << 63).wrapping_add(magnitude ^ negative).wrapping_sub(negative) }
}

/// Whether an element is zero, of either sign.
#[inline]
pub(super) fn is_zero(elem: ElementType, bytes: &[u8], index: usize) -> bool {
    if elem == ElementType::F8E8M0FNU {
        return false;
    }
    if elem == ElementType::F32 {
        return bits(elem, bytes, index) << 33 == 0;
    }
    bits(elem, bytes, index) == 0
        || (elem.is_float() || elem.bits() < 8) && ordered(elem, bytes, index) == ordered(elem, &[0; 8], 0)
}

/// The numbers of the elements of an input, the other way round where the greatest comes first.
#[derive(Clone, Copy)]
pub(super) struct Keys<'a> {
    pub(super) input: &'a Input<'a>,
    pub(super) descending: bool,
}

impl Keys<'_> {
    #[inline]
    pub(super) fn at(self, index: usize) -> u64 {
        let key = match self.input.elem {
            // What is most often asked for, without a call.
            ElementType::F32 => float(bits(ElementType::F32, self.input.bytes, index), 32, 0x7fff_ffff, 0x7f80_0001),
            elem => ordered(elem, self.input.bytes, index),
        };
        if self.descending { !key } else { key }
    }
}

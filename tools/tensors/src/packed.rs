//! Elements of less than a byte: files pack them from the low end of each byte, models have a byte for each.

use std::borrow::Cow;

use sutura_runtime::{ElementType, Tensor};

/// The bytes of a tensor as a file has them.
pub(crate) fn of(tensor: &Tensor) -> Cow<'_, [u8]> {
    let bits = tensor.element_type().bits();
    if bits >= 8 {
        return tensor.bytes().into();
    }
    let pack =
        |elements: &[u8]| elements.iter().rev().fold(0, |byte, element| byte << bits | element & ((1 << bits) - 1));
    tensor.bytes().chunks(8 / bits as usize).map(pack).collect()
}

/// A byte for each of `count` elements, with the sign above it, or zeros.
pub(crate) fn unpack(element: ElementType, packed: &[u8], count: usize) -> Vec<u8> {
    let (bits, unused) = (element.bits() as usize, 8 - element.bits());
    let is_signed = matches!(element, ElementType::I2 | ElementType::I4);
    let all = packed.iter().flat_map(|byte| (0..8).step_by(bits).map(move |at| byte >> at << unused));
    let number = |high: u8| if is_signed { (high.cast_signed() >> unused).cast_unsigned() } else { high >> unused };
    all.take(count).map(number).collect()
}

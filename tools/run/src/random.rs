//! Elements of inputs that nobody gave: the same for a seed and a name, on every machine.

use sutura_ir::float;
use sutura_runtime::{ElementType, Result, Tensor};

use crate::tensors::small_float;

/// What [`tensor`] makes, in words.
pub fn describe(ty: ElementType) -> &'static str {
    match range(ty) {
        Range::Unit => "from -1 to 1",
        Range::Scale => "from 0.5 to 1.5",
        Range::All => "any",
        Range::Bit => "0 or 1",
    }
}

/// What elements are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Range {
    /// From -1 to 1, without 1.
    Unit,
    /// Those of a type without signs.
    Scale,
    /// Every value.
    All,
    /// Integers that are likely numbers of tokens, sizes or indices, of which small ones are valid everywhere.
    Bit,
}

fn range(ty: ElementType) -> Range {
    use ElementType::*;
    match ty {
        F8E8M0FNU => Range::Scale,
        I8 | U8 | I4 | U4 | I2 | U2 => Range::All,
        Bool | I16 | U16 | I32 | U32 | I64 | U64 => Range::Bit,
        _ => Range::Unit,
    }
}

/// A tensor for the input `name`.
///
/// # Errors
/// When there is no memory for it.
pub fn tensor(name: &str, ty: ElementType, dims: &[i64], seed: u64) -> Result<Tensor> {
    let mut tensor = Tensor::zeros(ty, dims)?;
    let mut numbers = Numbers::new(name, seed);
    // A complex number is two of its parts.
    let part = ty.part().unwrap_or(ty);
    match range(part) {
        Range::All => {
            let (bits, signed) = crate::tensors::short_integer(part).unwrap_or((8, false));
            tensor.bytes_mut().iter_mut().for_each(|byte| *byte = narrow(numbers.next() >> 56, bits, signed));
        }
        Range::Bit => {
            let elements = tensor.bytes_mut().chunks_exact_mut(part.bytes());
            elements.for_each(|element| *low_byte(element) = (numbers.next() >> 63) as u8);
        }
        range => {
            let shift = if range == Range::Scale { 1.0 } else { 0.0 };
            let scale = if range == Range::Scale { 0.5 } else { 1.0 };
            let elements = tensor.bytes_mut().chunks_exact_mut(part.bytes());
            elements.for_each(|element| store(part, numbers.unit() * scale + shift, element));
        }
    }
    Ok(tensor)
}

/// The byte that holds the lowest bits.
fn low_byte(element: &mut [u8]) -> &mut u8 {
    let at = if cfg!(target_endian = "little") { 0 } else { element.len() - 1 };
    &mut element[at]
}

/// The lowest bits of a byte, with the sign above them.
fn narrow(byte: u64, bits: u32, signed: bool) -> u8 {
    let low = (byte as u8) << (8 - bits);
    if signed { (low.cast_signed() >> (8 - bits)).cast_unsigned() } else { low >> (8 - bits) }
}

/// Writes a number as a float of this type.
pub(crate) fn store(ty: ElementType, value: f64, into: &mut [u8]) {
    match ty {
        ElementType::F32 => into.copy_from_slice(&(value as f32).to_ne_bytes()),
        ElementType::F64 => into.copy_from_slice(&value.to_ne_bytes()),
        _ => {
            let bits = small_float(ty).map_or(0, |kind| float::from_f64(kind, value));
            match into {
                [byte] => *byte = bits as u8,
                _ => into.copy_from_slice(&(bits as u16).to_ne_bytes()),
            }
        }
    }
}

/// Random numbers by SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014).
struct Numbers(u64);

impl Numbers {
    fn new(name: &str, seed: u64) -> Self {
        // FNV-1a of the name: inputs that are made together differ.
        let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        Self(hash ^ seed.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From -1 to 1, without 1: 24 bits, which every wider float holds.
    fn unit(&mut self) -> f64 {
        (self.next() >> 40) as f64 / f64::from(1 << 23) - 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_depend_on_seed_and_name_and_lie_in_their_range() {
        let of = |name, seed| tensor(name, ElementType::F32, &[1000], seed).unwrap();
        assert_eq!(of("x", 1).bytes(), of("x", 1).bytes());
        assert_ne!(of("x", 1).bytes(), of("x", 2).bytes());
        assert_ne!(of("x", 1).bytes(), of("y", 1).bytes());
        let floats = of("x", 1);
        let floats = floats.as_slice::<f32>().unwrap();
        assert!(floats.iter().all(|v| (-1.0..1.0).contains(v)));
        let mean = floats.iter().sum::<f32>() / 1000.0;
        assert!(mean.abs() < 0.1, "{mean}");
    }

    #[test]
    fn integers_are_valid_in_their_type() {
        let ids = tensor("ids", ElementType::I64, &[64], 0).unwrap();
        let ids = ids.as_slice::<i64>().unwrap();
        assert!(ids.contains(&0) && ids.contains(&1) && ids.iter().all(|v| *v == 0 || *v == 1));
        let small = tensor("w", ElementType::I4, &[256], 0).unwrap();
        assert!(small.bytes().iter().all(|b| (-8..8).contains(&b.cast_signed())));
        assert!(small.bytes().contains(&0xf8));
        let unsigned = tensor("w", ElementType::U2, &[64], 0).unwrap();
        assert!(unsigned.bytes().iter().all(|b| *b < 4));
    }

    #[test]
    fn every_type_has_elements() {
        for ty in ElementType::ALL {
            let made = tensor("x", ty, &[3, 5], 7).unwrap();
            assert!(made.bytes().iter().any(|b| *b != 0), "{ty}: {}", describe(ty));
        }
    }
}

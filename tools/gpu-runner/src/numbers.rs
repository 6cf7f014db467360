//! Elements: made from a seed, rounded, compared.

/// A number as the two bytes of a bf16, rounded to nearest, ties to even.
pub(crate) fn to_bf16(value: f32) -> u16 {
    let bits = value.to_bits();
    if value.is_nan() {
        return (bits >> 16) as u16 | 0x40;
    }
    (bits.wrapping_add(0x7fff + (bits >> 16 & 1)) >> 16) as u16
}

pub(crate) fn from_bf16(bits: u16) -> f32 {
    f32::from_bits(u32::from(bits) << 16)
}

/// The number of an index in the sequence of a seed, from -8 to 8; the same whoever asks.
pub(crate) fn number(seed: u64, index: u64) -> f32 {
    // Steele, Lea and Flood's finaliser of a sequence of fixed step ("SplitMix").
    let mut x = seed.wrapping_add(index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^= x >> 31;
    (x >> 40) as f32 / (1 << 20) as f32 - 8.0
}

/// Elements as they lie in memory.
pub(crate) fn encode(values: &[f32], bf16: bool) -> Vec<u8> {
    if bf16 {
        values.iter().flat_map(|value| to_bf16(*value).to_ne_bytes()).collect()
    } else {
        bytemuck::cast_slice(values).to_vec()
    }
}

pub(crate) fn decode(bytes: &[u8], bf16: bool) -> Vec<f64> {
    if bf16 {
        bytes.chunks_exact(2).map(|two| f64::from(from_bf16(u16::from_ne_bytes([two[0], two[1]])))).collect()
    } else {
        bytes.chunks_exact(4).map(|four| f64::from(f32::from_ne_bytes([four[0], four[1], four[2], four[3]]))).collect()
    }
}

/// How far a result may be from the reference.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tolerance {
    pub(crate) absolute: f64,
    pub(crate) relative: f64,
}

/// The largest error of a comparison, as a part of what is allowed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Worst {
    /// Above 1, or NaN, it is wrong.
    pub(crate) part: f64,
    pub(crate) at: usize,
    pub(crate) found: f64,
    pub(crate) expected: f64,
    /// Elements that are off by more than is allowed.
    pub(crate) wrong: usize,
}

impl Worst {
    pub(crate) const NONE: Self = Self { part: 0.0, at: 0, found: 0.0, expected: 0.0, wrong: 0 };

    pub(crate) fn is_wrong(&self) -> bool {
        self.wrong > 0
    }

    /// Of two parts of a comparison.
    pub(crate) fn and(self, other: Self) -> Self {
        let wrong = self.wrong + other.wrong;
        let worse = if other.part.total_cmp(&self.part).is_gt() { other } else { self };
        Self { wrong, ..worse }
    }
}

/// Compares results with the reference; `first` is the number of the first.
pub(crate) fn compare(found: &[f64], expected: &[f64], first: usize, tolerance: Tolerance) -> Worst {
    let mut worst = Worst::NONE;
    for (at, (&found, &expected)) in found.iter().zip(expected).enumerate() {
        let allowed = tolerance.absolute + tolerance.relative * expected.abs();
        let error = (found - expected).abs();
        // What is no number is further off than any.
        let part = if error.is_nan() { f64::INFINITY } else { error / allowed };
        let wrong = usize::from(part > 1.0);
        worst = worst.and(Worst { part, at: first + at, found, expected, wrong });
    }
    worst
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bf16_is_rounded_to_nearest_even() {
        for (value, bits) in [
            (1.0, 0x3f80),
            (1.0 + 1.0 / 256.0, 0x3f80),
            (1.0 + 3.0 / 256.0, 0x3f82),
            (1.0 + 1.1 / 256.0, 0x3f81),
            (-2.5, 0xc020),
            (f32::INFINITY, 0x7f80),
            (f32::MAX, 0x7f80),
            (0.0, 0),
        ] {
            assert_eq!(to_bf16(value), bits, "{value}");
        }
        assert!(from_bf16(to_bf16(f32::NAN)).is_nan());
        assert_eq!(decode(&encode(&[1.5, -8.0], true), true), [1.5, -8.0]);
        assert_eq!(decode(&encode(&[1.1], false), false), [f64::from(1.1f32)]);
    }

    #[test]
    fn numbers_are_of_their_range_and_differ() {
        let all: Vec<f32> = (0..10_000).map(|index| number(1, index)).collect();
        assert!(all.iter().all(|x| (-8.0..8.0).contains(x)));
        let mean = all.iter().sum::<f32>() / 10_000.0;
        assert!(mean.abs() < 0.2, "{mean}");
        assert!(all[0] != number(2, 0) && all[0] != all[1]);
    }

    #[test]
    fn errors_are_found_wherever_they_are() {
        let tolerance = Tolerance { absolute: 1e-3, relative: 1e-2 };
        assert!(!compare(&[1.0, 2.02], &[1.0, 2.0], 0, tolerance).is_wrong());
        let worst = compare(&[1.0, 2.03, 5.0], &[1.0, 2.0, 3.0], 10, tolerance);
        assert_eq!((worst.at, worst.found, worst.expected, worst.wrong), (12, 5.0, 3.0, 2));
        for bad in [f64::NAN, f64::INFINITY] {
            let worst = compare(&[0.0, bad, 9.0], &[0.0; 3], 0, tolerance);
            assert_eq!((worst.at, worst.wrong, worst.part), (1, 2, f64::INFINITY));
        }
    }
}

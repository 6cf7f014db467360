//! Powers: the special cases of IEEE 754, and a dense sample.

use sutura_interp::Random;

use super::measure::{error, pow};

/// Zeros, ones, odd and even integers to where all are even, fractions, infinities, NaN.
pub(super) const OPERANDS: &[f32] = &[
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    -0.5,
    2.0,
    -2.0,
    3.0,
    -3.0,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
    1e-45,
    -1e-45,
    f32::MAX,
    f32::MIN,
    f32::MIN_POSITIVE,
    16_777_215.0,
    -16_777_215.0,
    16_777_216.0,
    0.999_999_94,
    1.000_000_1,
    -0.999_999_94,
    8_388_607.5,
    -4_194_303.5,
    -8_388_607.0,
    2_147_483_648.0,
];

/// Within the bound that the function states.
pub(super) const BOUND: f64 = 1.0;

fn check(x: f32, y: f32) -> f64 {
    let ulp = error(pow(x, y), f64::from(x).powf(y.into()));
    assert!(ulp < BOUND, "{x} to the {y} is {}: {ulp} ulp off", pow(x, y));
    ulp
}

#[test]
fn special_powers_are_those_of_the_standard() {
    for x in OPERANDS {
        for y in OPERANDS {
            check(*x, *y);
        }
    }
}

#[test]
fn powers_are_within_the_bound() {
    let (mut random, mut worst) = (Random::new(12345), 0f64);
    for _ in 0..100_000 {
        let state = random.next_u64();
        let (x, y) = (f32::from_bits(state as u32), f32::from_bits((state >> 32) as u32));
        check(x, y);
        // Results of every size, denormals included.
        let wanted = (state >> 11) as f64 / (1u64 << 53) as f64 * 290.0 - 155.0;
        let near_one = 1.0 + ((state >> 40) as f32 - 8_388_608.0) / 16_777_216.0;
        for base in [x.abs(), near_one] {
            let power = (wanted / f64::from(base).log2()) as f32;
            worst = worst.max(check(base, power)).max(check(-base, power.round()));
        }
    }
    assert!(worst > BOUND - 0.25, "{worst} is far below the bound");
}

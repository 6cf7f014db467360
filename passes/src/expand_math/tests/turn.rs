//! Sines and cosines of 32-bit floats of any size as doubles: arguments are reduced in 128-bit integers.

/// The binary fraction of 2/pi, 256 bits.
const TWO_OVER_PI: [u64; 4] =
    [0xa2f9_836e_4e44_1529, 0xfc27_57d1_f534_ddc0, 0xdb62_9599_3c43_9041, 0xfe51_63ab_debb_c561];

/// The 128 bits from the one of weight `2^(24 - exponent)` on; zeros stand before the point.
fn window(exponent: i32) -> u128 {
    let bit = |k: i32| match k {
        0..256 => u128::from(TWO_OVER_PI[k as usize / 64] >> (63 - k % 64) & 1),
        _ => 0,
    };
    (0..128).fold(0, |bits, i| bits << 1 | bit(exponent - 25 + i))
}

/// The windows of all exponents.
fn windows() -> &'static [u128] {
    static WINDOWS: std::sync::LazyLock<Vec<u128>> = std::sync::LazyLock::new(|| (0..128).map(window).collect());
    &WINDOWS
}

/// `x` less the nearest multiple of pi/2, and that multiple modulo 4. `x` is a 32-bit float.
fn reduce(x: f64) -> (f64, u32) {
    let magnitude = x.abs();
    if magnitude < 0.75 {
        return (x, 0);
    }
    let exponent = (magnitude.to_bits() >> 52) as i32 - 1023;
    let mantissa = (magnitude.to_bits() >> 29 & 0x7f_ffff | 0x80_0000) as u128;
    // Units of 2^-126: above are whole turns.
    let quarters = windows()[exponent.max(0) as usize].wrapping_mul(mantissa) >> (-exponent).max(0);
    let q = (quarters.wrapping_add(1 << 125) >> 126) as u32;
    let left = quarters.wrapping_sub(u128::from(q) << 126) as i128;
    let r = left as f64 * f64::from_bits((1023 - 126) << 52) * std::f64::consts::FRAC_PI_2;
    if x < 0.0 { (-r, q.wrapping_neg() & 3) } else { (r, q & 3) }
}

fn turned(r: f64, q: u32) -> f64 {
    match q & 3 {
        0 => r.sin(),
        1 => r.cos(),
        2 => -r.sin(),
        _ => -r.cos(),
    }
}

pub(super) fn sin(x: f64) -> f64 {
    if !x.is_finite() {
        return f64::NAN;
    }
    let (r, q) = reduce(x);
    turned(r, q)
}

pub(super) fn cos(x: f64) -> f64 {
    if !x.is_finite() {
        return f64::NAN;
    }
    let (r, q) = reduce(x);
    turned(r, q + 1)
}

pub(super) fn tan(x: f64) -> f64 {
    if !x.is_finite() {
        return f64::NAN;
    }
    let (r, q) = reduce(x);
    if q & 1 == 0 { r.tan() } else { -1.0 / r.tan() }
}

#[test]
fn sines_are_those_of_doubles() {
    for bits in (0..0x7f80_0000).step_by(65_537) {
        let x = f64::from(f32::from_bits(bits));
        for (own, library) in [(sin(x), x.sin()), (cos(x), x.cos()), (tan(x), x.tan()), (sin(-x), -x.sin())] {
            assert!((own - library).abs() <= 1e-13 * library.abs(), "{x:e}: {own:e} and {library:e}");
        }
    }
}

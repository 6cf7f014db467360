//! Cube roots of doubles.

use super::super::super::arith::{Arith, Cmp, Int};
use super::super::root::of_sign;
use super::product;

/// Cube root, within 0.6 ulp: a third of the exponent, two of Halley's steps, and what is missing to the cube divided by its
/// slope.
pub(in super::super::super) fn cbrt<A: Arith>(a: &mut A, x: A::V) -> A::V {
    let (magnitude, small, two54) = (a.abs(x), a.c(2f64.powi(-1000)), a.c(2f64.powi(54)));
    let is_small = a.cmp(Cmp::Olt, magnitude, small);
    let scaled = a.mul(magnitude, two54);
    let cube = a.select(is_small, scaled, magnitude);
    // The factors of the steps are out of range where the cube is near the largest double: an eighth of it is not.
    let (eighth, two) = (a.f(0.125), a.f(2.0));
    let cube = a.mul(cube, eighth);
    let bits = a.bits(cube);
    let (factor, offset) = (a.l(0x5555_5555_5555_5556), a.l(0x2a9f_7893_0000_0000));
    let third = a.int(Int::MulHigh, bits, factor);
    let guess = a.int(Int::Add, third, offset);
    let mut y = a.of_bits(guess);
    let twice = a.add(cube, cube);
    for _ in 0..2 {
        let square = a.mul(y, y);
        let own = a.mul(square, y);
        let own_twice = a.add(own, own);
        let (over, under) = (a.add(own, twice), a.add(own_twice, cube));
        let ratio = a.div(over, under);
        y = a.mul(y, ratio);
    }
    let square = product(a, y, y);
    let own = product(a, square.high, y);
    let low = a.fma(square.low, y, own.low);
    let missing = a.sub(cube, own.high);
    let missing = a.sub(missing, low);
    let three = a.f(3.0);
    let slope = a.mul(square.high, three);
    let step = a.div(missing, slope);
    let root = a.add(y, step);
    let root = a.mul(root, two);
    let two_minus18 = a.c(2f64.powi(-18));
    let unscaled = a.mul(root, two_minus18);
    let root = a.select(is_small, unscaled, root);
    of_sign(a, (x, magnitude), root)
}

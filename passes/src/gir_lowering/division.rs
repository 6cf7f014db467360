//! Division by a number that stays the same along a row, without dividing in every lane.
//!
//! With `r = 1 / d` correctly rounded, `q = x * r` and `q + (x - q * d) * r` in two fused steps is `x / d` correctly rounded,
//! so the bits are those of a division. This is Markstein's division ("Computation of elementary functions on the IBM RISC
//! System/6000 processor", IBM J. Res. Dev. 1990) with the reciprocal made once, as in Brisebarre, Muller and Raina,
//! "Accelerating correctly rounded floating-point division when the divisor is known in advance" (IEEE TC 2004). It holds
//! where no step underflows or overflows. So a vector with a number out of [`NUMBERS`], or any vector when the divisor is out
//! of [`DIVISORS`], is divided.

use sutura_ir::{Type, Value};

use super::emit::{Emit, Pred};
use super::strip::Strip;
use super::tile::{Parts, RegTile};

/// Powers of two between which the magnitudes of numbers lie: the remainder is exact from 2^(-126 + 2 * 24) on.
const NUMBERS: (i32, i32) = (-76, 76);

/// Powers of two between which the divisor's magnitude lies: quotients are normal.
const DIVISORS: (i32, i32) = (-48, 48);

/// The bits of a power of two.
const fn power(exponent: i32) -> i64 {
    ((exponent + 127) as i64) << 23
}

/// What is known of a divisor before the loop over its row.
#[derive(Clone, Copy)]
pub(super) struct Divisor {
    number: Value,
    inverse: Value,
    /// Whether its magnitude lies between [`DIVISORS`].
    tame: Value,
}

/// The divisors that a strip repeats along its rows, one for each row.
pub(super) fn divisors(e: &mut Emit<'_>, strip: &Strip, tile: &RegTile) -> Option<Vec<Divisor>> {
    let Parts::Scalars(rows) = &tile.parts else { return None };
    if strip.elem != Type::F32 {
        return None;
    }
    Some(rows.iter().map(|row| divisor(e, row[0])).collect())
}

fn divisor(e: &mut Emit<'_>, number: Value) -> Divisor {
    let one = e.cx().float_attr(1.0, Type::F32);
    let one = e.constant(one, Type::F32);
    let inverse = e.op1("arith.divf", &[one, number], Type::F32, &[]);
    let tame = lies_between(e, number, DIVISORS);
    Divisor { number, inverse, tame }
}

/// Whether the magnitude of a float, or of each in a vector, is at least one power of two and below another.
fn lies_between(e: &mut Emit<'_>, number: Value, (low, high): (i32, i32)) -> Value {
    let ty = e.cx().with_element_type(e.ty(number), Type::I32);
    let int = |e: &mut Emit<'_>, value: i64| {
        let attr = e.cx().int_attr(value, Type::I32);
        if ty == Type::I32 { e.constant(attr, ty) } else { e.splat(attr) }
    };
    let (magnitude, least, room) = (int(e, i64::from(i32::MAX)), int(e, power(low)), int(e, power(high) - power(low)));
    let bits = e.op1("arith.bitcast", &[number], ty, &[]);
    let bits = e.op1("arith.andi", &[bits, magnitude], ty, &[]);
    let above = e.op1("arith.subi", &[bits, least], ty, &[]);
    e.cmpi(Pred::Ult, above, room)
}

/// `x / d` in every lane.
pub(super) fn divide(e: &mut Emit<'_>, x: Value, divisor: &Divisor) -> Value {
    let ty = e.ty(x);
    let inside = lies_between(e, x, NUMBERS);
    let kind = e.cx().ext_attr(sutura_dialects::vector::CombiningKind::And);
    let all = e.op1("vector.reduction", &[inside], Type::I1, &[("kind", kind)]);
    let fast = e.both(Some(all), divisor.tame);
    let quotient = e.if_else(
        fast,
        &[ty],
        |e| {
            let (number, inverse) = (e.broadcast(divisor.number), e.broadcast(divisor.inverse));
            let first = e.op1("arith.mulf", &[x, inverse], ty, &[]);
            let negative = e.op1("arith.negf", &[number], ty, &[]);
            let rest = e.op1("math.fma", &[negative, first, x], ty, &[]);
            Ok(vec![e.op1("math.fma", &[rest, inverse, first], ty, &[])])
        },
        |e| {
            let number = e.broadcast(divisor.number);
            Ok(vec![e.op1("arith.divf", &[x, number], ty, &[])])
        },
    );
    quotient.expect("neither branch fails")[0]
}

#[cfg(test)]
mod tests {
    use sutura_dialects::text::parse_text;
    use sutura_interp::{Interpreter, Tensor, Value};

    use crate::testing::{context, run, text};

    /// Each row is divided by the number beside it.
    const KERNEL: &str = r#"
gir.kernel @k(%x : !gir.view<dram, f32, [M, N]> in, %d : !gir.view<dram, f32, [M]> in, %y : !gir.view<dram, f32, [M, N]> out)
    dims(%M : [0, 100], %N : [0, 100]) grid(%i = M) units(1) {
  %zero = arith.constant 0 : index
  %xs = gir.slice %x[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  %a = gir.load %xs : !gir.slice<dram, f32, [1, N]> -> !gir.tile<l1, f32, [1, N]>
  %ds = gir.slice %d[%i] : !gir.view<dram, f32, [M]> -> !gir.slice<dram, f32, [1, 1]>
  %b = gir.load %ds : !gir.slice<dram, f32, [1, 1]> -> !gir.tile<l1, f32, [1, 1]>
  %all = gir.broadcast %b like %a : !gir.tile<l1, f32, [1, 1]>, !gir.tile<l1, f32, [1, N]>
  %r = gir.binary "div" %a, %all : !gir.tile<l1, f32, [1, N]>
  %ys = gir.slice %y[%i, %zero] cols(1) : !gir.view<dram, f32, [M, N]> -> !gir.slice<dram, f32, [1, N]>
  gir.store %r, %ys : !gir.tile<l1, f32, [1, N]>, !gir.slice<dram, f32, [1, N]>
}
rt.program @main(%x : !rt.buffer<f32, [M, N]> in "x", %d : !rt.buffer<f32, [M]> in "d", %y : !rt.buffer<f32, [M, N]> out "y")
    symbols(M : [0, 100], N : [0, 100]) {
  launch @k(%x, %d, %y) dims [M, N] : !rt.buffer<f32, [M, N]>, !rt.buffer<f32, [M]>, !rt.buffer<f32, [M, N]>
}
"#;

    /// Numbers of every magnitude, and those at the limits of the two ways.
    fn numbers() -> Vec<f32> {
        let mut numbers = vec![0.0, f32::INFINITY, f32::MAX, f32::MIN_POSITIVE, 1e-45, 1.0, 3.0];
        numbers.extend((-126..=127).step_by(11).map(|e| 1.234_567_9 * f32::powi(2.0, e)));
        for limit in [-76, -48, 48, 76] {
            let power = f32::powi(2.0, limit);
            numbers.extend([power.next_down(), power, power.next_up()]);
        }
        numbers.iter().flat_map(|x| [*x, -*x]).chain([f32::NAN]).collect()
    }

    #[test]
    fn the_bits_are_those_of_a_division() {
        let cx = context();
        let mut module = parse_text(&cx, "division", KERNEL).unwrap_or_else(|e| panic!("{e}"));
        run(&cx, &mut module, "builtin.module(convert-gir-to-cpu{vector-bytes=16})").unwrap();
        assert!(text(&cx, &module).contains("math.fma"), "the fast way is there");
        let numbers = numbers();
        // Every number beside every other, and neighbours of equal kind in vectors of four.
        for group in [1, 4] {
            let row: Vec<f32> = numbers.iter().flat_map(|x| std::iter::repeat_n(*x, group)).take(100).collect();
            let x: Vec<f32> = numbers.iter().flat_map(|_| row.clone()).collect();
            let tensor = |data: Vec<f32>, shape: &[usize]| Value::Tensor(Tensor::from_f32(data, shape).unwrap());
            let args = [tensor(x, &[numbers.len(), row.len()]), tensor(numbers.clone(), &[numbers.len()])];
            let results = Interpreter::new(&cx, &module).call("main", &args).unwrap_or_else(|e| panic!("{e}"));
            let got = results[0].tensor().unwrap().data().as_f32().unwrap();
            let expected = numbers.iter().flat_map(|d| row.iter().map(move |x| (x / d, *x, *d)));
            for (got, (want, x, d)) in got.iter().zip(expected) {
                let same = got.to_bits() == want.to_bits() || got.is_nan() && want.is_nan();
                assert!(same, "{x:e} / {d:e} is {want:e}, not {got:e}");
            }
        }
    }
}

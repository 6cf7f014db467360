//! One rounding, on numbers that two would tell apart.

use sutura_dialects::text::parse_text;
use sutura_interp::{DType, Interpreter, Random, Scalar, Tensor, Value};

use crate::testing::{context, run, text};

const LANES: usize = 64;

/// Numbers of any size, and sums that lie beside the middle of two floats by less than a double tells.
fn operands() -> Vec<[f32; 3]> {
    let mut random = Random::new(7);
    let mut next = || random.next_u64();
    let special = [0.0, -0.0, 1.0, -1.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::MAX, f32::MIN, 1e-45, -1e-45];
    let mut all: Vec<[f32; 3]> =
        special.iter().flat_map(|a| special.iter().flat_map(move |b| special.map(|c| [*a, *b, c]))).collect();
    for _ in 0..3000 {
        let random = [next(), next(), next()].map(|bits| f32::from_bits(bits as u32));
        // Magnitudes near each other.
        let near = [next(), next(), next()].map(|bits| f32::from_bits(bits as u32 & 0x83ff_ffff | 0x3c00_0000));
        // A product of about half a unit in the last place of the third.
        let sign_and_mantissa = next() as u32 & 0x807f_ffff;
        let c = f32::from_bits(sign_and_mantissa | ((next() % 200 + 30) as u32) << 23);
        let exponent = c.abs().log2().floor() as i32 - 24;
        let (half, epsilon) = (exponent.div_euclid(2), f32::EPSILON);
        let a = (1.0 + epsilon) * 2f32.powi(half);
        let b = (1.0 - epsilon) * 2f32.powi(exponent - half);
        all.extend([random, near, [a, b, c], [-a, b, c], [a * 0.5, b, c], [a, b, -c], [a, 1.0 / a.abs(), c]]);
    }
    all
}

fn vector(numbers: impl Iterator<Item = f32>) -> Value {
    let scalars: Vec<_> = numbers.map(|x| Scalar::from_bits(DType::F32, x.to_bits().into())).collect();
    Value::Vector(Tensor::from_scalars(DType::F32, &[scalars.len()], scalars).unwrap())
}

#[test]
fn the_bits_are_those_of_one_rounding() {
    let cx = context();
    let source = format!(
        "func.func @main(%a: vector<{LANES}xf32>, %b: vector<{LANES}xf32>, %c: vector<{LANES}xf32>) -> vector<{LANES}xf32> {{
        %d = math.fma %a, %b, %c : vector<{LANES}xf32> return %d : vector<{LANES}xf32> }}"
    );
    let mut module = parse_text(&cx, "fma", &source).unwrap();
    run(&cx, &mut module, "builtin.module(attach-target{name=generic},expand-fma,canonicalize,cse)").unwrap();
    let printed = text(&cx, &module);
    assert!(!printed.contains("math.fma") && printed.contains("f64"), "{printed}");
    let (mut all, mut twice) = (operands(), 0);
    all.truncate(all.len() / LANES * LANES);
    for chunk in all.chunks(LANES) {
        let args = [0, 1, 2].map(|at| vector(chunk.iter().map(|x| x[at])));
        let results = Interpreter::new(&cx, &module).call("main", &args).unwrap();
        let got = results[0].vector().unwrap();
        for (lane, [a, b, c]) in chunk.iter().enumerate() {
            let got = f32::from_bits(got.data().read(lane).unwrap().bits() as u32);
            let expected = a.mul_add(*b, *c);
            let same = got.to_bits() == expected.to_bits() || (got.is_nan() && expected.is_nan());
            assert!(same, "{a:e} * {b:e} + {c:e} = {got:e}, not {expected:e}");
            let doubles = (f64::from(*a) * f64::from(*b) + f64::from(*c)) as f32;
            twice += usize::from(doubles.to_bits() != expected.to_bits() && !expected.is_nan());
        }
    }
    assert!(twice > 500, "only {twice} operands tell plain doubles from one rounding");
}

//! The expansions for doubles, against numbers of 192 bits, and what is emitted for them.

use astro_float_num::{BigFloat, Consts, RoundingMode};
use sutura_dialects::text::parse_text;
use sutura_interp::{DType, Interpreter, Random, Scalar, Tensor, Value};

use super::super::native::compute_double;
use super::functions::double as f;
use crate::testing::{context, run, text};

/// Bits of the reference.
pub(super) const PRECISION: usize = 192;
pub(super) const NEAREST: RoundingMode = RoundingMode::ToEven;

type Exact = fn(&BigFloat, &mut Consts) -> BigFloat;

/// A function of one double with its expansion.
struct Case {
    name: &'static str,
    /// The bound that the function's documentation states, in ulp.
    bound: f64,
    expanded: fn(f64) -> f64,
    exact: Exact,
    /// What it is at zeros, infinities and NaN.
    special: fn(f64) -> f64,
}

macro_rules! cases {
    ($($name:ident $bound:literal $special:expr, $exact:expr;)*) => {
        &[$(Case {
            name: stringify!($name),
            bound: $bound,
            expanded: |x| compute_double(|a, [x]| f::$name(a, x), [x]),
            exact: $exact,
            special: $special,
        }),*]
    };
}

static CASES: &[Case] = cases! {
    exp 1.0 f64::exp, |x, cc| x.exp(PRECISION, NEAREST, cc);
    exp2 1.0 f64::exp2, |x, cc| number(2.0).pow(x, PRECISION, NEAREST, cc);
    expm1 2.0 f64::exp_m1, expm1;
    log 1.0 f64::ln, |x, cc| x.ln(PRECISION, NEAREST, cc);
    log2 1.0 f64::log2, |x, cc| x.log2(PRECISION, NEAREST, cc);
    log10 1.0 f64::log10, |x, cc| x.log10(PRECISION, NEAREST, cc);
    log1p 1.0 f64::ln_1p, log1p;
    tanh 3.0 f64::tanh, |x, cc| x.tanh(PRECISION, NEAREST, cc);
    erf 1.0 libm::erf, erf;
    sin 1.0 f64::sin, |x, cc| x.sin(PRECISION, NEAREST, cc);
    cos 1.0 f64::cos, |x, cc| x.cos(PRECISION, NEAREST, cc);
    tan 2.25 f64::tan, |x, cc| x.tan(PRECISION, NEAREST, cc);
    atan 1.5 f64::atan, |x, cc| x.atan(PRECISION, NEAREST, cc);
    rsqrt 1.5 |x| 1.0 / x.sqrt(), |x, _| number(1.0).div(&x.sqrt(PRECISION, NEAREST), PRECISION, NEAREST);
    cbrt 0.6 f64::cbrt, |x, _| x.cbrt(PRECISION, NEAREST);
};

/// The bound of powers.
pub(super) const POWER: f64 = 1.0;

/// Every function of one double with its bound.
pub(super) fn bounds() -> impl Iterator<Item = (&'static str, f64)> {
    CASES.iter().map(|case| (case.name, case.bound)).chain(ROUNDING.iter().map(|(name, ..)| (*name, 0.0)))
}

/// Functions that are exact.
type Rounding = (&'static str, fn(f64) -> f64, fn(f64) -> f64);

static ROUNDING: &[Rounding] = &[
    ("round", |x| compute_double(|a, [x]| f::round(a, x), [x]), f64::round),
    ("roundeven", |x| compute_double(|a, [x]| f::roundeven(a, x), [x]), f64::round_ties_even),
    ("trunc", |x| compute_double(|a, [x]| f::trunc(a, x), [x]), f64::trunc),
    ("floor", |x| compute_double(|a, [x]| f::floor(a, x), [x]), f64::floor),
    ("ceil", |x| compute_double(|a, [x]| f::ceil(a, x), [x]), f64::ceil),
];

pub(super) fn number(x: f64) -> BigFloat {
    if !x.is_subnormal() {
        return BigFloat::from_f64(x, PRECISION);
    }
    let mut scaled = BigFloat::from_f64(x * 2f64.powi(54), PRECISION);
    let exponent = scaled.exponent().expect("a number");
    scaled.set_exponent(exponent - 54);
    scaled
}

/// Bits for sums with one of numbers that are not tiny.
const WIDE: usize = PRECISION + 128;

/// `x + a x^2 + b x^3` for an `x` whose higher powers have no bits of the sum; none for others.
fn of_tiny(x: &BigFloat, a: f64, b: f64) -> Option<BigFloat> {
    x.exponent().filter(|e| *e < -100)?;
    let p = PRECISION;
    let inner = x.mul(&number(b), p, NEAREST).add(&number(a), p, NEAREST);
    let factor = inner.mul(x, p, NEAREST).add(&number(1.0), p, NEAREST);
    Some(x.mul(&factor, p, NEAREST))
}

fn expm1(x: &BigFloat, cc: &mut Consts) -> BigFloat {
    of_tiny(x, 1.0 / 2.0, 1.0 / 6.0).unwrap_or_else(|| x.exp(WIDE, NEAREST, cc).sub(&number(1.0), WIDE, NEAREST))
}

fn log1p(x: &BigFloat, cc: &mut Consts) -> BigFloat {
    of_tiny(x, -1.0 / 2.0, 1.0 / 3.0).unwrap_or_else(|| x.add(&number(1.0), WIDE, NEAREST).ln(WIDE, NEAREST, cc))
}

/// 2 / sqrt(pi) e^(-x^2) (x + 2 x^3 / 3 + 4 x^5 / (3 5) + …), whose terms are all of one sign.
fn erf(x: &BigFloat, cc: &mut Consts) -> BigFloat {
    let p = PRECISION;
    if x.exponent().is_some_and(|e| e > 3) {
        // From 8 on a double is one.
        return number(if x.is_negative() { -1.0 } else { 1.0 });
    }
    let square = x.mul(x, p, NEAREST);
    let twice = square.mul(&number(2.0), p, NEAREST);
    let (mut term, mut sum) = (x.clone(), x.clone());
    for k in 1..600 {
        term = term.mul(&twice, p, NEAREST).div(&number(f64::from(2 * k + 1)), p, NEAREST);
        let more = sum.add(&term, p, NEAREST);
        if more == sum {
            break;
        }
        sum = more;
    }
    let decay = square.neg().exp(p, NEAREST, cc);
    let root = cc.pi(p, NEAREST).sqrt(p, NEAREST);
    sum.mul(&decay, p, NEAREST).mul(&number(2.0), p, NEAREST).div(&root, p, NEAREST)
}

/// How far `got` is from `exact`, in ulp; infinity is as far as the next power of two.
pub(super) fn error(got: f64, exact: &BigFloat) -> f64 {
    if got.is_nan() || exact.is_nan() {
        return if got.is_nan() && exact.is_nan() { 0.0 } else { f64::INFINITY };
    }
    let top = number(2f64.powi(1023)).mul(&number(2.0), PRECISION, NEAREST);
    let limited = |x: BigFloat| match x.abs() > top {
        true if x.is_negative() => top.neg(),
        true => top.clone(),
        false => x,
    };
    let value = limited(number(got));
    let exact = limited(exact.clone());
    if got != 0.0 && !exact.is_zero() && got.is_sign_negative() != exact.is_negative() {
        return f64::INFINITY;
    }
    let difference = value.sub(&exact, PRECISION, NEAREST);
    let Some((words, _, _, exponent, _)) = difference.as_raw_parts().filter(|_| !difference.is_zero()) else {
        return 0.0;
    };
    let size = exact.exponent().filter(|_| !exact.is_zero()).map_or(-1022, |e| (e - 1).clamp(-1022, 1023));
    let mantissa = *words.last().expect("a number has words") as f64 / 2f64.powi(64);
    mantissa * f64::from(exponent - (size - 52)).clamp(-1000.0, 1000.0).exp2()
}

/// Zeros, infinities, NaN.
const SPECIAL: [f64; 5] = [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN];

/// In `[low, high)`.
fn between(random: &mut Random, low: f64, high: f64) -> f64 {
    low + (high - low) * random.unit()
}

/// Doubles of every exponent, neighbours of powers of two, many where functions bend and end, and what is near multiples of pi/2.
fn inputs() -> Vec<f64> {
    let mut random = Random::new(0x9e37_79b9_7f4a_7c15);
    let mut inputs =
        vec![f64::MIN_POSITIVE, f64::from_bits(1), f64::MAX, f64::from_bits(0x000f_ffff_ffff_ffff), 0.95, 6.0];
    for power in (0..2047u64).step_by(7).map(|exponent| exponent << 52) {
        let somewhere = power | random.next_u64() >> 12;
        inputs.extend(
            [power, power.wrapping_sub(1), power + 1, somewhere].map(|bits| f64::from_bits(bits & (u64::MAX >> 1))),
        );
    }
    for limit in [1.0, 2.0, 8.0, 40.0, 800.0, 1100.0] {
        inputs.extend((0..150).map(|_| between(&mut random, 0.0, limit)));
    }
    // Where results become denormal, vanish and overflow.
    for near in [708.396, 709.782, 745.133, 1022.0, 1023.999, 1074.0, 1075.0, 36.7, 5.9, 1_073_741_824.0] {
        inputs.extend((0..40).map(|_| near + between(&mut random, -0.02, 0.02)));
    }
    for k in 1..600 {
        inputs.push(f64::from(k) * std::f64::consts::FRAC_PI_2);
    }
    // The double that is nearest to a multiple of pi/2.
    inputs.push(6_381_956_970_095_103.0 * 2f64.powi(797));
    inputs.retain(|x| x.is_finite() && *x != 0.0);
    let negative: Vec<f64> = inputs.iter().map(|x| -x).collect();
    inputs.extend(negative);
    inputs
}

#[test]
fn errors_of_doubles_are_within_the_stated_bounds() {
    let mut cc = Consts::new().unwrap();
    for case in CASES {
        let (mut worst, mut at) = (0.0, 0.0);
        for x in inputs() {
            let got = (case.expanded)(x);
            let ulp = error(got, &(case.exact)(&number(x), &mut cc));
            if ulp > worst {
                (worst, at) = (ulp, x);
            }
        }
        assert!(worst <= case.bound, "{}({at:e}) = {:e}: {worst} ulp off", case.name, (case.expanded)(at));
        // A bound that is far off would hide what becomes worse.
        assert!(worst >= case.bound - 0.75, "{}: {worst} is far below {}", case.name, case.bound);
        for x in SPECIAL {
            assert_same((case.expanded)(x), (case.special)(x), &format!("{}({x})", case.name));
        }
    }
}

#[test]
fn doubles_are_rounded_to_integers_exactly() {
    let near: Vec<f64> =
        [0.5, 1.0, 1.5, 2.5, 4_503_599_627_370_495.5, 4_503_599_627_370_497.0, 9_007_199_254_740_993.0]
            .into_iter()
            .flat_map(|x: f64| [x.next_down(), x, x.next_up()])
            .collect();
    for (name, expanded, exact) in ROUNDING {
        for x in inputs().into_iter().chain(near.iter().copied()).chain(near.iter().map(|x| -x)).chain(SPECIAL) {
            assert_same(expanded(x), exact(x), &format!("{name}({x:e})"));
        }
    }
}

fn pow(x: f64, y: f64) -> f64 {
    compute_double(|a, [x, y]| f::pow(a, x, y), [x, y])
}

#[test]
fn special_powers_of_doubles_are_those_of_the_standard() {
    let mut operands: Vec<f64> = super::special::OPERANDS.iter().map(|x| f64::from(*x)).collect();
    let wide = [
        f64::MAX,
        f64::from_bits(1),
        1.0f64.next_up(),
        1.0f64.next_down(),
        9_007_199_254_740_991.0,
        4_503_599_627_370_495.5,
    ];
    operands.extend(wide.iter().flat_map(|x| [*x, -x]));
    for x in &operands {
        for y in &operands {
            let (got, expected) = (pow(*x, *y), x.powf(*y));
            let near = (got - expected).abs() <= expected.abs() * 1e-15;
            assert!(
                near || got.to_bits() == expected.to_bits() || (got.is_nan() && expected.is_nan()),
                "{x:e} to the {y:e} is {got:e}, {expected:e}"
            );
            assert!(
                got.is_nan() || got.is_sign_negative() == expected.is_sign_negative(),
                "{x:e} to the {y:e} is {got:e}"
            );
        }
    }
}

#[test]
fn powers_of_doubles_are_within_the_bound() {
    let (mut cc, mut random, mut worst) = (Consts::new().unwrap(), Random::new(12345), 0.0f64);
    for i in 0..4_000 {
        let base = match i % 3 {
            0 => f64::from_bits(random.next_u64() >> 1).abs(),
            1 => 1.0 + between(&mut random, -1e-6, 1e-6),
            _ => between(&mut random, 0.5, 2.0),
        };
        if !base.is_finite() || base == 0.0 || base == 1.0 {
            continue;
        }
        // Results of every size, denormals included.
        let y = between(&mut random, -1080.0, 1030.0) / base.log2();
        let exact = number(base).pow(&number(y), PRECISION, NEAREST, &mut cc);
        let ulp = error(pow(base, y), &exact);
        assert!(ulp <= POWER, "{base:e} to the {y:e} is {:e}: {ulp} ulp off", pow(base, y));
        worst = worst.max(ulp);
    }
    assert!(worst > 0.5, "{worst} is far below the bound");
}

/// What is emitted computes the same bits as the functions do here, on numbers and on vectors.
#[test]
fn emitted_code_of_doubles_computes_the_same_bits() {
    let cx = context();
    let all = inputs();
    let some: Vec<f64> = all.iter().copied().step_by(401).chain(SPECIAL).chain([1e300, -1e18, 3e9]).collect();
    let functions =
        CASES.iter().map(|case| (case.name, case.expanded)).chain(ROUNDING.iter().map(|case| (case.0, case.1)));
    for (name, expanded) in functions {
        for lanes in [0, 4] {
            let ty = type_of(lanes);
            let source = format!("func.func @main(%x: {ty}) -> {ty} {{ %y = math.{name} %x : {ty} return %y : {ty} }}");
            let mut module = parse_text(&cx, name, &source).unwrap();
            // The machine that has the fewest instructions.
            run(&cx, &mut module, "builtin.module(attach-target{name=generic},expand-math)").unwrap();
            assert!(!text(&cx, &module).contains(&format!("math.{name} ")));
            for inputs in some.chunks_exact(lanes.max(1)) {
                let results = Interpreter::new(&cx, &module).call("main", &[value(lanes, inputs)]).unwrap();
                for (x, got) in inputs.iter().zip(doubles(&results[0])) {
                    assert_same(got, expanded(*x), &format!("{name}({x:e})"));
                }
            }
        }
    }
}

#[test]
fn emitted_powers_of_doubles_compute_the_same_bits() {
    let cx = context();
    let source = "func.func @main(%x: f64, %y: f64) -> f64 { %z = math.powf %x, %y : f64 return %z : f64 }";
    let mut module = parse_text(&cx, "pow", source).unwrap();
    run(&cx, &mut module, "builtin.module(func.func(expand-math))").unwrap();
    let mut main = Interpreter::new(&cx, &module);
    for x in super::special::OPERANDS.iter().map(|x| f64::from(*x)) {
        for y in super::special::OPERANDS.iter().map(|y| f64::from(*y)) {
            let results = main.call("main", &[value(0, &[x]), value(0, &[y])]).unwrap();
            assert_same(doubles(&results[0])[0], pow(x, y), &format!("{x:e} to the {y:e}"));
        }
    }
}

fn type_of(lanes: usize) -> String {
    if lanes == 0 { "f64".to_owned() } else { format!("vector<{lanes}xf64>") }
}

pub(super) fn value(lanes: usize, numbers: &[f64]) -> Value {
    let mut scalars = numbers.iter().map(|x| Scalar::from_bits(DType::F64, x.to_bits()));
    match lanes {
        0 => Value::Scalar(scalars.next().expect("one number")),
        _ => Value::Vector(Tensor::from_scalars(DType::F64, &[lanes], scalars).unwrap()),
    }
}

pub(super) fn doubles(value: &Value) -> Vec<f64> {
    match value {
        Value::Scalar(s) => vec![f64::from_bits(s.bits())],
        other => {
            let vector = other.vector().unwrap();
            let lanes = vector.shape().iter().product();
            (0..lanes).map(|i| f64::from_bits(vector.data().read(i).unwrap().bits())).collect()
        }
    }
}

pub(super) fn assert_same(got: f64, expected: f64, what: &str) {
    assert!(
        got.to_bits() == expected.to_bits() || (got.is_nan() && expected.is_nan()),
        "{what} = {got:e}, {expected:e}"
    );
}

//! The expansions against double precision, computed on floats of this machine, and what is emitted against both.

mod angle;
mod double;
mod exhaustive;
mod measure;
mod remainder;
mod special;
mod turn;

use sutura_dialects::text::parse_text;
use sutura_interp::{DType, Interpreter, Scalar, Tensor, Value};

use super::functions;
use super::native::{Native, compute, compute2};
use crate::testing::{context, run, text};
use measure::{CASES, Worst};

/// Every 16411th float of each sign, the 64 floats on each side of every power of two, and what is special.
fn inputs() -> impl Iterator<Item = f32> {
    let special = [0.0, -0.0, 1.0, -1.0, f32::INFINITY, f32::NEG_INFINITY, f32::NAN, f32::MIN_POSITIVE, 1e-45, 0.5];
    let powers =
        (0..512u32).flat_map(|exponent| (0..128).map(move |by| (exponent << 23).wrapping_add(by).wrapping_sub(64)));
    (0..=u32::MAX / 16411).map(|i| i * 16411).chain(powers).map(f32::from_bits).chain(special)
}

#[test]
fn errors_are_within_the_stated_bounds() {
    for case in CASES {
        let worst = inputs().fold(Worst::default(), |worst, x| worst.max((case.at)(x)));
        assert!(worst.ulp <= case.bound, "{}: {worst:?}", case.name);
        // A bound that is far off would hide what becomes worse.
        assert!(worst.ulp >= case.bound - 2.5, "{}: {worst:?} is far below {}", case.name, case.bound);
    }
}

/// The page of the bounds says those that are tested.
#[test]
fn the_table_of_the_documentation_is_this_one() {
    let row = |case: &measure::Case| {
        let of_double = double::bounds().find(|(name, _)| *name == case.name).expect("a function of doubles").1;
        format!("| `{}` | {} | {of_double} |", case.name, case.bound)
    };
    let mut rows: Vec<String> = CASES.iter().map(row).collect();
    rows.push(format!("| `powf` | {} | {} |", special::BOUND, double::POWER));
    rows.push(format!("| `atan2` | {} | {} |", angle::BOUNDS.0, angle::BOUNDS.1));
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the workspace").join("docs/sutura.md");
    let page = std::fs::read_to_string(path).expect("the page is there");
    assert!(page.contains(&rows.join("\n")), "docs/sutura.md must hold\n{}", rows.join("\n"));
}

/// The exponential of what is not above zero, computed on numbers, and what is emitted for it.
#[test]
fn exponentials_of_what_is_not_above_zero_are_within_their_bound() {
    let cx = context();
    let ty = type_of(&[8]);
    let source =
        format!("func.func @main(%x: {ty}) -> {ty} {{ %y = math.exp %x {{gir.nonpositive}} : {ty} return %y : {ty} }}");
    let mut module = parse_text(&cx, "exp", &source).unwrap();
    run(&cx, &mut module, "builtin.module(func.func(expand-math))").unwrap();
    let mut main = Interpreter::new(&cx, &module);
    let mut worst = 0f64;
    let not_above_zero: Vec<f32> = inputs().filter(|x| *x <= 0.0 || x.is_nan()).collect();
    for (i, x) in not_above_zero.iter().enumerate() {
        let got = compute(functions::exp_nonpositive, *x);
        let parts = measure::error(got, measure::exp(f64::from(*x))) / (2.0 + 0.05 * f64::from(x.abs().min(100.0)));
        assert!(parts <= 1.0, "e^{x} = {got}: {parts} of the bound");
        worst = worst.max(parts);
        if i % 809 == 0 {
            let results = main.call("main", &[value(&[8], &[*x; 8])]).unwrap();
            floats(&results[0]).iter().for_each(|emitted| assert_same(*emitted, got, &format!("e^{x}")));
        }
    }
    assert!(worst > 0.75, "{worst} is far below the bound");
    assert_eq!([0.0, f32::NEG_INFINITY].map(|x| compute(functions::exp_nonpositive, x)), [1.0, 0.0]);
}

/// What is emitted computes the same bits as the functions do here, on numbers and on vectors of any shape.
#[test]
fn emitted_code_computes_the_same_bits() {
    let cx = context();
    // A few of each magnitude, and what is special.
    let all: Vec<f32> = inputs().collect();
    let some: Vec<f32> = all.iter().copied().step_by(809).chain(all[all.len() - 10..].iter().copied()).collect();
    for case in CASES {
        for shape in [&[][..], &[1], &[16], &[3, 5]] {
            let ty = type_of(shape);
            let name = case.name;
            let source = format!("func.func @main(%x: {ty}) -> {ty} {{ %y = math.{name} %x : {ty} return %y : {ty} }}");
            let mut module = parse_text(&cx, name, &source).unwrap();
            // The machine that has the fewest instructions.
            run(&cx, &mut module, "builtin.module(attach-target{name=generic},expand-math)").unwrap();
            assert!(!text(&cx, &module).contains(&format!("math.{name} ")));
            for inputs in some.chunks_exact(shape.iter().product()) {
                let results = Interpreter::new(&cx, &module).call("main", &[value(shape, inputs)]).unwrap();
                for (x, got) in inputs.iter().zip(floats(&results[0])) {
                    assert_same(got, (case.expanded)(*x), &format!("{name}({x})"));
                }
            }
        }
    }
}

/// A machine that scales by powers of two computes the same bits, with its intrinsic for vectors of as many lanes as it has
/// and without for others.
#[test]
fn scaling_by_powers_of_two_computes_the_same_bits() {
    let cx = context();
    let machine = r#"target.machine @m {triple = "x86_64-unknown-linux-gnu", features = "+avx512f,+avx512vl"} {
        target.space @dram {class = "dram", owner = "all", gbps = 12 : i64} }"#;
    let of =
        |scales: bool, x: f32| f32::from_bits(functions::exp2(&mut Native { scales }, u64::from(x.to_bits())) as u32);
    for x in inputs() {
        assert_same(of(true, x), of(false, x), &format!("exp2({x})"));
    }
    for lanes in [3, 4, 8, 16] {
        let ty = type_of(&[lanes]);
        let main = format!("func.func @main(%x: {ty}) -> {ty} {{ %y = math.exp2 %x : {ty} return %y : {ty} }}");
        let mut module = parse_text(&cx, "exp2", &format!("{machine}\n{main}")).unwrap();
        run(&cx, &mut module, "builtin.module(expand-math)").unwrap();
        let called = text(&cx, &module).contains(&format!("llvm.x86.avx512.mask.scalef.ps.{}", 32 * lanes));
        assert_eq!(called, lanes != 3, "{}", text(&cx, &module));
        let some: Vec<f32> = inputs().step_by(1619).collect();
        for inputs in some.chunks_exact(lanes) {
            let results = Interpreter::new(&cx, &module).call("main", &[value(&[lanes], inputs)]).unwrap();
            for (x, got) in inputs.iter().zip(floats(&results[0])) {
                assert_same(got, of(false, *x), &format!("exp2({x})"));
            }
        }
    }
}

#[test]
fn emitted_powers_compute_the_same_bits() {
    let cx = context();
    let source = "func.func @main(%x: vector<4xf32>, %y: vector<4xf32>) -> vector<4xf32> {
        %z = math.powf %x, %y : vector<4xf32> return %z : vector<4xf32> }";
    let mut module = parse_text(&cx, "pow", source).unwrap();
    run(&cx, &mut module, "builtin.module(func.func(expand-math))").unwrap();
    for x in special::OPERANDS.chunks(4) {
        for y in special::OPERANDS {
            let operands = [value(&[4], x), value(&[4], &[*y; 4])];
            let results = Interpreter::new(&cx, &module).call("main", &operands).unwrap();
            for (x, got) in x.iter().zip(floats(&results[0])) {
                assert_same(got, compute2(functions::pow, *x, *y), &format!("{x} to the {y}"));
            }
        }
    }
}

fn type_of(shape: &[usize]) -> String {
    match shape {
        [] => "f32".to_owned(),
        _ => format!("vector<{}xf32>", shape.iter().map(usize::to_string).collect::<Vec<_>>().join("x")),
    }
}

fn value(shape: &[usize], numbers: &[f32]) -> Value {
    let mut scalars = numbers.iter().map(|x| Scalar::from_bits(DType::F32, x.to_bits().into()));
    match shape {
        [] => Value::Scalar(scalars.next().expect("one lane")),
        _ => Value::Vector(Tensor::from_scalars(DType::F32, shape, scalars).unwrap()),
    }
}

fn floats(value: &Value) -> Vec<f32> {
    match value {
        Value::Scalar(s) => vec![f32::from_bits(s.bits() as u32)],
        other => {
            let vector = other.vector().unwrap();
            let lanes = vector.shape().iter().product();
            (0..lanes).map(|i| f32::from_bits(vector.data().read(i).unwrap().bits() as u32)).collect()
        }
    }
}

fn assert_same(got: f32, expected: f32, what: &str) {
    assert!(got.to_bits() == expected.to_bits() || (got.is_nan() && expected.is_nan()), "{what} = {got}, {expected}");
}

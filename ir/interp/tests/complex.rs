//! Complex numbers: functions against values that are known, buffers, memory and comparison.

use sutura_interp::{Buffer, ComplexFn, DType, Memory, Random, Scalar, Tensor, Tolerance};
use sutura_ir::types::FloatKind;

fn number(re: f64, im: f64) -> Scalar {
    Scalar::complex(FloatKind::F64, [re.to_bits(), im.to_bits()])
}

fn parts(number: Scalar) -> [f64; 2] {
    number.parts().expect("a complex number").map(|part| part.as_f64().expect("a float"))
}

fn of(function: ComplexFn, args: &[Scalar]) -> [f64; 2] {
    parts(function.eval(args).expect("has a result"))
}

fn close([a, b]: [f64; 2], [c, d]: [f64; 2]) -> bool {
    let near = |x: f64, y: f64| x == y || (x.is_nan() && y.is_nan()) || (x - y).abs() <= 1e-15 * y.abs().max(1e-300);
    near(a, c) && near(b, d)
}

#[test]
fn arithmetic() {
    let (a, b) = (number(1.0, 2.0), number(-3.0, 0.5));
    assert_eq!(of(ComplexFn::Add, &[a, b]), [-2.0, 2.5]);
    assert_eq!(of(ComplexFn::Sub, &[a, b]), [4.0, 1.5]);
    assert_eq!(of(ComplexFn::Mul, &[a, b]), [-4.0, -5.5]);
    assert!(close(of(ComplexFn::Div, &[number(-4.0, -5.5), b]), [1.0, 2.0]));
    assert_eq!(of(ComplexFn::Conj, &[a]), [1.0, -2.0]);
    assert_eq!(of(ComplexFn::Neg, &[a]), [-1.0, -2.0]);
    assert_eq!(ComplexFn::Eq.eval(&[a, a]).unwrap(), Scalar::bool(true));
    assert_eq!(ComplexFn::Ne.eval(&[a, number(1.0, f64::NAN)]).unwrap(), Scalar::bool(true));
}

#[test]
fn nothing_overflows_in_between() {
    let (huge, tiny) = (1e300, 1e-300);
    assert!(close(of(ComplexFn::Div, &[number(huge, huge), number(huge, huge)]), [1.0, 0.0]));
    assert!(close(of(ComplexFn::Div, &[number(tiny, tiny), number(tiny, -tiny)]), [0.0, 1.0]));
    let abs = |re, im| ComplexFn::Abs.eval(&[number(re, im)]).unwrap().as_f64().unwrap();
    assert!((abs(3.0 * huge, -4.0 * huge) / (5.0 * huge) - 1.0).abs() < 1e-15);
    assert!((abs(3.0 * tiny, 4.0 * tiny) / (5.0 * tiny) - 1.0).abs() < 1e-15);
    let root = of(ComplexFn::Sqrt, &[number(-2.0 * huge, 0.0)]);
    assert_eq!(root[0], 0.0);
    assert!((root[1] / (2.0 * huge).sqrt() - 1.0).abs() < 1e-15);
    // The exponential of the real part alone would be infinite.
    let power = of(ComplexFn::Exp, &[number(710.0, 1.57)]);
    assert!(power[0].is_finite() && power[0] > 1e305);
}

#[test]
fn zeros_infinities_and_nan() {
    let (inf, nan) = (f64::INFINITY, f64::NAN);
    let abs = |re, im| ComplexFn::Abs.eval(&[number(re, im)]).unwrap().as_f64().unwrap();
    assert_eq!((abs(0.0, -0.0), abs(nan, -inf), abs(inf, inf)), (0.0, inf, inf));
    assert!(abs(nan, 1.0).is_nan() && abs(0.0, nan).is_nan());
    // As numpy: each part is divided by zero.
    assert!(close(of(ComplexFn::Div, &[number(1.0, -1.0), number(0.0, 0.0)]), [inf, -inf]));
    assert!(close(of(ComplexFn::Div, &[number(0.0, 1.0), number(0.0, -0.0)]), [nan, inf]));
    assert_eq!(of(ComplexFn::Sqrt, &[number(-4.0, -0.0)]), [0.0, -2.0]);
    assert_eq!(of(ComplexFn::Sqrt, &[number(nan, inf)]), [inf, inf]);
    assert_eq!(of(ComplexFn::Exp, &[number(inf, 0.0)]), [inf, 0.0]);
    assert_eq!(of(ComplexFn::Log, &[number(0.0, 0.0)]), [-inf, 0.0]);
    assert!(close(of(ComplexFn::Log, &[number(-1.0, 0.0)]), [0.0, std::f64::consts::PI]));
}

#[test]
fn functions_take_complex_numbers_of_one_type() {
    let other = Scalar::complex(FloatKind::F32, [0, 0]);
    let fault = ComplexFn::Add.eval(&[number(1.0, 1.0), other]).unwrap_err();
    assert!(fault.message.contains("several types"), "{}", fault.message);
    assert!(ComplexFn::Re.eval(&[Scalar::bool(true)]).is_err());
}

#[test]
fn bytes_of_buffers_are_parts_in_order() {
    let bytes: Vec<u8> = [1.0f32, -2.0, 0.5, f32::INFINITY].iter().flat_map(|x| x.to_le_bytes()).collect();
    let buffer = Buffer::from_le_bytes(DType::C64, &bytes).unwrap();
    assert_eq!(buffer.len(), 2);
    assert_eq!(buffer.read(0).unwrap().to_string(), "(1.0,-2.0)");
    assert_eq!(buffer.to_le_bytes().unwrap(), bytes);
    let tensor = Tensor::new(vec![2], buffer).unwrap();
    let apart = tensor.interleaved().unwrap();
    assert_eq!((apart.shape(), apart.dtype()), (&[2, 2][..], DType::F32));
    assert_eq!(apart.interleaved().unwrap(), tensor);
    let (re, im) = (tensor.part(0).unwrap(), tensor.part(1).unwrap());
    assert_eq!(im.data().as_f32(), Some(&[-2.0, f32::INFINITY][..]));
    assert_eq!(Tensor::of_parts(&re, &im).unwrap(), tensor);
    assert!(Tensor::of_parts(&re, &apart).is_err());
}

#[test]
fn memory_holds_parts_that_are_written_one_by_one() {
    let mut memory = Memory::default();
    let whole = memory.alloc(DType::C128, &[2], None).unwrap();
    let mut random = Random::new(7);
    assert_eq!(memory.get(&whole, &[1]).unwrap(), None);
    let value = random.scalar(DType::C128);
    memory.store(&whole, &[1], Some(value)).unwrap();
    assert_eq!(memory.load(&whole, &[1]).unwrap(), value);
    assert_eq!(memory.get(&whole, &[0]).unwrap(), None);
}

#[test]
fn parts_agree_relative_to_the_larger_one() {
    let tolerance = Tolerance { abs: 0.0, rel: 1e-6, ulp: 0 };
    assert!(tolerance.agrees(number(1.0, 1e-9), number(1.0, 2e-9)));
    assert!(!tolerance.agrees(number(1.0, 1e-3), number(1.0, 2e-3)));
    assert!(!Tolerance::EXACT.agrees(number(1.0, 1e-9), number(1.0, 2e-9)));
    assert!(!tolerance.agrees(number(f64::NAN, 1.0), number(f64::NAN, 2.0)));
}

//! Numeric ops against Rust's own arithmetic and against exact wide arithmetic.

use proptest::prelude::*;
use sutura_interp::num::{CmpF, CmpI, MathFn, NumOp, Overflow, Rounding, eval};
use sutura_interp::{DType, FaultKind, Scalar};
use sutura_ir::types::FloatKind;

const WRAP: Overflow = Overflow::WRAP;
const NSW: Overflow = Overflow { nsw: true, nuw: false };
const NUW: Overflow = Overflow { nsw: false, nuw: true };

fn int(value: i64, width: u8) -> Scalar {
    Scalar::int(value, DType::int(width))
}

/// Result of an integer op, or the kind of its fault.
fn ints(op: NumOp, width: u8, args: &[i64]) -> Result<i64, FaultKind> {
    let args: Vec<Scalar> = args.iter().map(|&a| int(a, width)).collect();
    eval(op, &args, None).map(|s| s.as_i64().unwrap()).map_err(|f| f.kind)
}

fn f32s(op: NumOp, args: &[f32]) -> f32 {
    let args: Vec<Scalar> = args.iter().map(|&a| Scalar::f32(a)).collect();
    f32::from_bits(eval(op, &args, None).unwrap().bits() as u32)
}

fn f64s(op: NumOp, args: &[f64]) -> f64 {
    let args: Vec<Scalar> = args.iter().map(|&a| Scalar::f64(a)).collect();
    f64::from_bits(eval(op, &args, None).unwrap().bits())
}

/// Bits, with every NaN the same.
fn bits(x: f32) -> u32 {
    if x.is_nan() { f32::NAN.to_bits() } else { x.to_bits() }
}

fn sign_extend(value: i128, width: u8) -> i64 {
    let shift = 128 - u32::from(width);
    ((value << shift) >> shift) as i64
}

fn any_f32() -> impl Strategy<Value = f32> {
    any::<u32>().prop_map(f32::from_bits)
}

proptest! {
    #[test]
    fn integers_wrap_at_any_width(width in 1u8..=64, a: i64, b: i64) {
        let (a, b) = (sign_extend(a.into(), width), sign_extend(b.into(), width));
        let (wa, wb) = (i128::from(a), i128::from(b));
        for (op, flagged, exact) in [
            (NumOp::AddI(WRAP), NumOp::AddI(NSW), wa + wb),
            (NumOp::SubI(WRAP), NumOp::SubI(NSW), wa - wb),
            (NumOp::MulI(WRAP), NumOp::MulI(NSW), wa * wb),
        ] {
            let wrapped = sign_extend(exact, width);
            prop_assert_eq!(ints(op, width, &[a, b]), Ok(wrapped));
            let fits = i128::from(wrapped) == exact;
            prop_assert_eq!(ints(flagged, width, &[a, b]), if fits { Ok(wrapped) } else { Err(FaultKind::Overflow) });
        }
    }

    #[test]
    fn unsigned_flags(width in 1u8..=64, a: u64, b: u64) {
        let mask = u64::MAX >> (64 - width);
        let (a, b) = (a & mask, b & mask);
        for (op, exact) in [
            (NumOp::AddI(NUW), Some(u128::from(a) + u128::from(b))),
            (NumOp::SubI(NUW), u128::from(a).checked_sub(b.into())),
            (NumOp::MulI(NUW), Some(u128::from(a) * u128::from(b))),
        ] {
            let expected = match exact {
                Some(x) if x <= mask.into() => Ok(sign_extend(x as i128, width)),
                _ => Err(FaultKind::Overflow),
            };
            prop_assert_eq!(ints(op, width, &[a as i64, b as i64]), expected);
        }
        let carry = u128::from(a) + u128::from(b) > mask.into();
        prop_assert_eq!(ints(NumOp::AddCarry, width, &[a as i64, b as i64]), Ok(-i64::from(carry)));
        let high = (u128::from(a) * u128::from(b)) >> width;
        prop_assert_eq!(ints(NumOp::MulUHigh, width, &[a as i64, b as i64]), Ok(sign_extend(high as i128, width)));
    }

    #[test]
    fn signed_division(width in 1u8..=64, a: i64, b in prop_oneof![any::<i64>(), -3i64..=3]) {
        let (a, b) = (sign_extend(a.into(), width), sign_extend(b.into(), width));
        let lowest = i64::MIN >> (64 - width);
        let run = |op| ints(op, width, &[a, b]);
        if b == 0 {
            for op in [NumOp::DivSI { exact: false }, NumOp::RemSI, NumOp::FloorDivSI, NumOp::CeilDivSI] {
                prop_assert_eq!(run(op), Err(FaultKind::DivisionByZero));
            }
        } else if b == -1 && a == lowest {
            prop_assert_eq!(run(NumOp::DivSI { exact: false }), Err(FaultKind::Overflow));
            for op in [NumOp::DivSI { exact: false }, NumOp::FloorDivSI, NumOp::CeilDivSI] {
                prop_assert_eq!(run(op.wrapping()), Ok(lowest));
            }
            prop_assert_eq!(run(NumOp::RemSI.wrapping()), Ok(0));
        } else {
            for op in [NumOp::DivSI { exact: false }, NumOp::RemSI, NumOp::FloorDivSI, NumOp::CeilDivSI] {
                prop_assert_eq!(run(op.wrapping()), run(op));
            }
            let (wa, wb) = (i128::from(a), i128::from(b));
            prop_assert_eq!(run(NumOp::DivSI { exact: false }), Ok(a / b));
            prop_assert_eq!(run(NumOp::RemSI), Ok(a % b));
            let floor = wa.div_euclid(wb) - i128::from(wb < 0 && wa.rem_euclid(wb) != 0);
            prop_assert_eq!(run(NumOp::FloorDivSI), Ok(floor as i64));
            let ceil = floor + i128::from(wa % wb != 0);
            prop_assert_eq!(run(NumOp::CeilDivSI), Ok(ceil as i64));
            let exact = if a % b == 0 { Ok(a / b) } else { Err(FaultKind::Overflow) };
            prop_assert_eq!(run(NumOp::DivSI { exact: true }), exact);
        }
    }

    #[test]
    fn unsigned_division_and_order(a: u32, b: u32, signed_b in -4i32..4) {
        for b in [b, signed_b as u32] {
            let (x, y) = (a as i32 as i64, b as i32 as i64);
            let run = |op| ints(op, 32, &[x, y]);
            let expected = |v: u32| Ok(i64::from(v as i32));
            let or_fault = |v: Option<u32>| v.map_or(Err(FaultKind::DivisionByZero), expected);
            prop_assert_eq!(run(NumOp::DivUI { exact: false }), or_fault(a.checked_div(b)));
            prop_assert_eq!(run(NumOp::RemUI), or_fault(a.checked_rem(b)));
            prop_assert_eq!(run(NumOp::CeilDivUI), or_fault((b != 0).then(|| a.div_ceil(b))));
            prop_assert_eq!(run(NumOp::MaxUI), expected(a.max(b)));
            prop_assert_eq!(run(NumOp::MinUI), expected(a.min(b)));
            prop_assert_eq!(run(NumOp::MaxSI), Ok(x.max(y)));
            prop_assert_eq!(run(NumOp::MinSI), Ok(x.min(y)));
            let holds = [x == y, x != y, x < y, x <= y, x > y, x >= y, a < b, a <= b, a > b, a >= b];
            for (number, holds) in holds.into_iter().enumerate() {
                let predicate = CmpI::from_number(number as i64).unwrap();
                prop_assert_eq!(run(NumOp::CmpI(predicate)), Ok(-i64::from(holds)));
            }
        }
    }

    #[test]
    fn shifts(a: i16, by in 0i64..40) {
        let run = |op| ints(op, 16, &[a.into(), by]);
        if by >= 16 {
            for op in [NumOp::ShLI(WRAP), NumOp::ShRSI { exact: false }, NumOp::ShRUI { exact: false }] {
                prop_assert_eq!(run(op), Err(FaultKind::Poison));
            }
        } else {
            prop_assert_eq!(run(NumOp::ShLI(WRAP)), Ok(i64::from(a << by)));
            prop_assert_eq!(run(NumOp::ShRSI { exact: false }), Ok(i64::from(a >> by)));
            prop_assert_eq!(run(NumOp::ShRUI { exact: false }), Ok(i64::from((a as u16 >> by) as i16)));
            let wide = i64::from(a) << by;
            let fits = wide == i64::from(wide as i16);
            prop_assert_eq!(run(NumOp::ShLI(NSW)).is_ok(), fits);
            let lost = a as u16 & ((1u16 << by) - 1) != 0;
            prop_assert_eq!(run(NumOp::ShRUI { exact: true }).is_err(), lost);
        }
    }

    #[test]
    fn bit_counts(a: i16) {
        let run = |op| ints(op, 16, &[a.into()]);
        prop_assert_eq!(run(NumOp::CtLz), Ok(a.leading_zeros().into()));
        prop_assert_eq!(run(NumOp::CtTz), Ok(a.trailing_zeros().into()));
        prop_assert_eq!(run(NumOp::CtPop), Ok(a.count_ones().into()));
        prop_assert_eq!(run(NumOp::AbsI), Ok(a.wrapping_abs().into()));
    }

    #[test]
    fn powers(base in -6i64..=6, exponent in -5i64..=40) {
        let got = ints(NumOp::IPowI, 32, &[base, exponent]);
        if exponent >= 0 {
            let expected = (base as i32).wrapping_pow(exponent as u32);
            prop_assert_eq!(got, Ok(expected.into()));
        } else if base == 0 {
            prop_assert!(got.is_err());
        } else {
            prop_assert_eq!(got, Ok((1.0 / (base as f64).powi(-exponent as i32)).trunc() as i64));
        }
    }

    #[test]
    fn f32_arithmetic_is_the_machine_s(a in any_f32(), b in any_f32(), c in any_f32()) {
        prop_assert_eq!(bits(f32s(NumOp::AddF, &[a, b])), bits(a + b));
        prop_assert_eq!(bits(f32s(NumOp::SubF, &[a, b])), bits(a - b));
        prop_assert_eq!(bits(f32s(NumOp::MulF, &[a, b])), bits(a * b));
        prop_assert_eq!(bits(f32s(NumOp::DivF, &[a, b])), bits(a / b));
        prop_assert_eq!(bits(f32s(NumOp::RemF, &[a, b])), bits(a % b));
        prop_assert_eq!(bits(f32s(NumOp::Fma, &[a, b, c])), bits(a.mul_add(b, c)));
        prop_assert_eq!(f32s(NumOp::NegF, &[a]).to_bits(), a.to_bits() ^ 0x8000_0000);
        prop_assert_eq!(f32s(NumOp::CopySign, &[a, b]).to_bits(), a.copysign(b).to_bits());
        let nan = a.is_nan() || b.is_nan();
        prop_assert_eq!(bits(f32s(NumOp::MaximumF, &[a, b])), bits(if nan { f32::NAN } else { a.max(b) }));
        prop_assert_eq!(bits(f32s(NumOp::MinimumF, &[a, b])), bits(if nan { f32::NAN } else { a.min(b) }));
        prop_assert_eq!(bits(f32s(NumOp::MaxNumF, &[a, b])), bits(a.max(b)));
        prop_assert_eq!(bits(f32s(NumOp::MinNumF, &[a, b])), bits(a.min(b)));
    }

    #[test]
    fn comparisons_are_ordered_or_not(a in any_f32(), b in prop_oneof![any_f32(), Just(f32::NAN), Just(0.0)]) {
        let run = |p| eval(NumOp::CmpF(p), &[Scalar::f32(a), Scalar::f32(b)], None).unwrap().as_bool().unwrap();
        let unordered = a.is_nan() || b.is_nan();
        for (p, ordered) in [(CmpF::OEQ, a == b), (CmpF::OGT, a > b), (CmpF::OGE, a >= b), (CmpF::OLT, a < b),
                             (CmpF::OLE, a <= b), (CmpF::ONE, a != b && !unordered), (CmpF::ORD, !unordered)] {
            prop_assert_eq!(run(p), ordered);
        }
        for (p, ordered) in [(CmpF::UEQ, a == b), (CmpF::UGT, a > b), (CmpF::UGE, a >= b), (CmpF::ULT, a < b),
                             (CmpF::ULE, a <= b), (CmpF::UNE, a != b), (CmpF::UNO, false)] {
            prop_assert_eq!(run(p), ordered || unordered);
        }
        prop_assert!(run(CmpF::TRUE) && !run(CmpF::FALSE));
    }

    #[test]
    fn narrow_floats_round_once(a: u16, b: u16) {
        // f16 and bf16 sums and products are exact in f64, so that one rounding from there is the reference.
        for kind in [FloatKind::F16, FloatKind::BF16] {
            let (a, b) = (Scalar::from_bits(DType::Float(kind), a.into()), Scalar::from_bits(DType::Float(kind), b.into()));
            let (x, y) = (a.as_f64().unwrap(), b.as_f64().unwrap());
            for (op, exact) in [(NumOp::AddF, x + y), (NumOp::MulF, x * y)] {
                let got = eval(op, &[a, b], None).unwrap();
                let want = Scalar::float(exact, kind);
                let both_nan = exact.is_nan() && got.as_f64().unwrap().is_nan();
                prop_assert!(got == want || both_nan, "{op:?} {a:?} {b:?}: {got:?} and {want:?}");
            }
        }
    }

    #[test]
    fn functions_are_within_one_place(x in -20.0f64..20.0) {
        use MathFn::*;
        type Reference = (MathFn, fn(f64) -> f64);
        let functions: [Reference; 12] = [
            (Exp, f64::exp), (Exp2, f64::exp2), (ExpM1, f64::exp_m1), (Tanh, f64::tanh), (Sin, f64::sin),
            (Cos, f64::cos), (Atan, f64::atan), (Sinh, f64::sinh), (Cosh, f64::cosh), (Cbrt, f64::cbrt),
            (Floor, f64::floor), (RoundEven, f64::round_ties_even),
        ];
        for (function, reference) in functions {
            let (got, want) = (f64s(NumOp::Math(function), &[x]), reference(x));
            prop_assert!(got == want || (got.to_bits() as i64 - want.to_bits() as i64).abs() <= 2, "{function:?}({x})");
            // In f32 the result is the f64 one, rounded once.
            let (y, op) = (x as f32, NumOp::Math(function));
            prop_assert_eq!(f32s(op, &[y]), f64s(op, &[f64::from(y)]) as f32);
        }
        for (function, reference) in [(Log, f64::ln as fn(f64) -> f64), (Log2, f64::log2), (Log1p, f64::ln_1p), (Sqrt, f64::sqrt)] {
            let (got, want) = (f64s(NumOp::Math(function), &[x.abs()]), reference(x.abs()));
            prop_assert!(got == want || (got.to_bits() as i64 - want.to_bits() as i64).abs() <= 2, "{function:?}({x})");
        }
    }

    #[test]
    fn integer_casts(a: i32, width in 1u8..=64) {
        let cast = |op, from: Scalar, to| eval(op, &[from], Some(to)).unwrap();
        let (wide, to) = (int(a.into(), 32), DType::int(width));
        if width >= 32 {
            prop_assert_eq!(cast(NumOp::ExtSI, wide, to).as_i64(), Some(a.into()));
            prop_assert_eq!(cast(NumOp::ExtUI, wide, to).as_u64(), Some((a as u32).into()));
        } else {
            prop_assert_eq!(cast(NumOp::TruncI(WRAP), wide, to), int(a.into(), width));
            let lossless = eval(NumOp::TruncI(NSW), &[wide], Some(to)).is_ok();
            prop_assert_eq!(lossless, sign_extend(a.into(), width) == i64::from(a));
        }
        prop_assert_eq!(cast(NumOp::IndexCast, wide, DType::Index), Scalar::index(a.into()));
        prop_assert_eq!(cast(NumOp::IndexCastUI, wide, DType::Index), Scalar::index((a as u32).into()));
        prop_assert_eq!(cast(NumOp::Bitcast, wide, DType::F32).bits(), u64::from(a as u32));
    }

    #[test]
    fn integers_become_the_nearest_float(a: i64) {
        let cast = |op, to| eval(op, &[int(a, 64)], Some(to)).unwrap();
        prop_assert_eq!(cast(NumOp::SIToFP, DType::F32), Scalar::f32(a as f32));
        prop_assert_eq!(cast(NumOp::UIToFP, DType::F32), Scalar::f32(a as u64 as f32));
        prop_assert_eq!(cast(NumOp::SIToFP, DType::F64), Scalar::f64(a as f64));
        // The nearest bf16 is nowhere farther than its neighbours.
        let near = cast(NumOp::SIToFP, DType::BF16);
        let distance = |s: Scalar| (s.as_f64().unwrap() as i128 - i128::from(a)).abs();
        for other in [near.bits().wrapping_sub(1), near.bits() + 1] {
            let other = Scalar::from_bits(DType::BF16, other);
            if other.as_f64().unwrap().is_finite() {
                prop_assert!(distance(near) <= distance(other), "{a}: {near:?} and {other:?}");
            }
        }
    }

    #[test]
    fn floats_become_integers_or_poison(x in prop_oneof![any_f32(), (-300.0f32..300.0)]) {
        let cast = |op, to| eval(op, &[Scalar::f32(x)], Some(to)).map_err(|f| f.kind);
        let whole = x.trunc();
        let signed = (-128.0..=127.0).contains(&whole).then(|| int(whole as i64, 8));
        prop_assert_eq!(cast(NumOp::FPToSI, DType::I8), signed.ok_or(FaultKind::Poison));
        let unsigned = (0.0..=255.0).contains(&whole).then(|| int(whole as i64, 8));
        prop_assert_eq!(cast(NumOp::FPToUI, DType::I8), unsigned.ok_or(FaultKind::Poison));
    }

    #[test]
    fn directed_rounding_brackets(x in any_f32()) {
        prop_assume!(x.is_finite() && x.abs() < 60000.0);
        let round = |mode| eval(NumOp::TruncF(mode), &[Scalar::f32(x)], Some(DType::F16)).unwrap().as_f64().unwrap();
        let x = f64::from(x);
        let (down, up) = (round(Rounding::Downward), round(Rounding::Upward));
        prop_assert!(down <= x && x <= up);
        let nearest = round(Rounding::ToNearestEven);
        prop_assert!(nearest == down || nearest == up);
        prop_assert_eq!(round(Rounding::TowardZero), if x > 0.0 { down } else { up });
        let away = round(Rounding::ToNearestAway);
        let outer = if x > 0.0 { up } else { down };
        let tie = (up - x) == (x - down);
        prop_assert_eq!(away, if tie { outer } else { nearest });
    }
}

#[test]
fn special_values() {
    assert_eq!(f32s(NumOp::MaximumF, &[-0.0, 0.0]).to_bits(), 0);
    assert_eq!(f32s(NumOp::MinimumF, &[0.0, -0.0]).to_bits(), 0x8000_0000);
    assert_eq!(f32s(NumOp::MaxNumF, &[f32::NAN, 1.0]), 1.0);
    assert!(f32s(NumOp::ClampF, &[f32::NAN, 0.0, 1.0]).is_nan());
    assert_eq!(f32s(NumOp::ClampF, &[7.0, 0.0, 1.0]), 1.0);
    // The smallest denormal is kept.
    let tiny = f32::from_bits(1);
    assert_eq!(f32s(NumOp::MulF, &[tiny, 1.0]), tiny);
    assert_eq!(f32s(NumOp::Math(MathFn::Rsqrt), &[4.0]), 0.5);
    // erf(0.5) to 16 digits (Abramowitz and Stegun, table 7.1, continued).
    assert!((f64s(NumOp::Math(MathFn::Erf), &[0.5]) - 0.520_499_877_813_046_5).abs() < 1e-15);
    let test = |op, x| eval(op, &[Scalar::f32(x)], None).unwrap().as_bool().unwrap();
    assert!(test(NumOp::IsNormal, f32::MIN_POSITIVE) && !test(NumOp::IsNormal, tiny));
    assert!(test(NumOp::IsInf, f32::INFINITY) && test(NumOp::IsNan, f32::NAN) && test(NumOp::IsFinite, 0.0));
    let chosen = |c| eval(NumOp::Select, &[Scalar::bool(c), Scalar::f32(1.0), Scalar::f32(2.0)], None).unwrap();
    assert_eq!((chosen(true), chosen(false)), (Scalar::f32(1.0), Scalar::f32(2.0)));
}

#[test]
fn ops_refuse_types_without_meaning() {
    let add = NumOp::AddF.with_types(&[DType::I32, DType::I32], DType::I32).unwrap_err();
    assert_eq!(add.message, "AddF has no meaning for (i32, i32) -> i32");
    assert!(NumOp::AddI(WRAP).with_types(&[DType::F32, DType::F32], DType::F32).is_err());
    assert!(NumOp::AddI(WRAP).with_types(&[DType::I32, DType::I64], DType::I32).is_err());
    assert!(NumOp::ExtSI.with_types(&[DType::I64], DType::I32).is_err());
    assert!(NumOp::Fma.with_types(&[DType::F32, DType::F32], DType::F32).is_err());
}

//! Integer arithmetic of any width up to 64 bits.

use super::{CmpI, Division, LaneFault, LaneResult, NumOp, Overflow, map1, map2, poison, try_map2};
use crate::error::{Fault, FaultKind};
use crate::scalar::DType;

/// Evaluates `op` on lanes of type `ty`.
pub(super) fn eval(op: NumOp, ty: DType, args: &[&[u64]], out: &mut [u64]) -> LaneResult {
    use NumOp::*;
    let mask = ty.mask();
    let width = ty.bits();
    // Unsigned reading of extended bits, and back.
    let u = move |x: u64| x & mask;
    // Signed reading, also of types that are kept zero-extended.
    let s = move |x: u64| ((x << (64 - width)) as i64) >> (64 - width);
    let wrap = move |x: u64| ty.wrap(x);
    match op {
        AddI(Overflow::WRAP) => map2(args, out, |a, b| wrap(a.wrapping_add(b))),
        SubI(Overflow::WRAP) => map2(args, out, |a, b| wrap(a.wrapping_sub(b))),
        MulI(Overflow::WRAP) => map2(args, out, |a, b| wrap(a.wrapping_mul(b))),
        AddI(flags) => try_map2(args, out, |a, b| {
            flagged(ty, flags, i128::from(s(a)) + i128::from(s(b)), i128::from(u(a)) + i128::from(u(b)))
        }),
        SubI(flags) => try_map2(args, out, |a, b| {
            flagged(ty, flags, i128::from(s(a)) - i128::from(s(b)), i128::from(u(a)) - i128::from(u(b)))
        }),
        MulI(flags) => try_map2(args, out, |a, b| {
            let unsigned = i128::try_from(u128::from(u(a)) * u128::from(u(b))).unwrap_or(i128::MAX);
            flagged(ty, flags, i128::from(s(a)) * i128::from(s(b)), unsigned)
        }),
        MulSHigh => map2(args, out, |a, b| wrap(((i128::from(s(a)) * i128::from(s(b))) >> width) as u64)),
        MulUHigh => map2(args, out, |a, b| wrap(((u128::from(u(a)) * u128::from(u(b))) >> width) as u64)),
        AddCarry => map2(args, out, |a, b| bool_bits(u128::from(u(a)) + u128::from(u(b)) > u128::from(mask))),
        DivSI { .. } | CeilDivSI | FloorDivSI | RemSI => {
            try_map2(args, out, |a, b| signed_division(op, width, s(a), s(b)).map(wrap))
        }
        WrappingSI(division) => try_map2(args, out, |a, b| wrapping_division(division, s(a), s(b)).map(wrap)),
        DivUI { .. } | CeilDivUI | RemUI => try_map2(args, out, |a, b| unsigned_division(op, u(a), u(b)).map(wrap)),
        AndI => map2(args, out, |a, b| a & b),
        OrI => map2(args, out, |a, b| a | b),
        XOrI => map2(args, out, |a, b| a ^ b),
        ShLI(_) | ShRSI { .. } | ShRUI { .. } => try_map2(args, out, |a, b| {
            let by = u(b);
            if by >= u64::from(width) {
                return Err(poison(format!("shifts {width} bits by {by}")));
            }
            shift(op, ty, a, s(a), u(a), by as u32).map(wrap)
        }),
        MaxSI => map2(args, out, |a, b| if s(a) >= s(b) { a } else { b }),
        MinSI => map2(args, out, |a, b| if s(a) <= s(b) { a } else { b }),
        MaxUI => map2(args, out, |a, b| if u(a) >= u(b) { a } else { b }),
        MinUI => map2(args, out, |a, b| if u(a) <= u(b) { a } else { b }),
        AbsI => map1(args[0], out, |a| wrap(s(a).wrapping_abs() as u64)),
        IPowI => try_map2(args, out, |a, b| power(s(a), s(b)).map(wrap)),
        CtLz => map1(args[0], out, |a| wrap((u(a).leading_zeros() - (64 - width)).into())),
        CtTz => map1(args[0], out, |a| wrap(u(a).trailing_zeros().min(width).into())),
        CtPop => map1(args[0], out, |a| wrap(u(a).count_ones().into())),
        CmpI(predicate) => match predicate {
            self::CmpI::Eq => map2(args, out, |a, b| bool_bits(a == b)),
            self::CmpI::Ne => map2(args, out, |a, b| bool_bits(a != b)),
            self::CmpI::Slt => map2(args, out, |a, b| bool_bits(s(a) < s(b))),
            self::CmpI::Sle => map2(args, out, |a, b| bool_bits(s(a) <= s(b))),
            self::CmpI::Sgt => map2(args, out, |a, b| bool_bits(s(a) > s(b))),
            self::CmpI::Sge => map2(args, out, |a, b| bool_bits(s(a) >= s(b))),
            self::CmpI::Ult => map2(args, out, |a, b| bool_bits(u(a) < u(b))),
            self::CmpI::Ule => map2(args, out, |a, b| bool_bits(u(a) <= u(b))),
            self::CmpI::Ugt => map2(args, out, |a, b| bool_bits(u(a) > u(b))),
            self::CmpI::Uge => map2(args, out, |a, b| bool_bits(u(a) >= u(b))),
        },
        _ => {
            let fault = Fault::type_mismatch(format!("{op:?} has no meaning for {ty}"));
            Err(LaneFault { lane: 0, fault })
        }
    }
}

/// `i1` as it is kept: sign-extended.
pub(super) fn bool_bits(value: bool) -> u64 {
    if value { u64::MAX } else { 0 }
}

fn overflow(message: &str) -> Fault {
    Fault::new(FaultKind::Overflow, message)
}

/// The exact signed and unsigned results, wrapped, unless a flag forbids it.
fn flagged(ty: DType, flags: Overflow, signed: i128, unsigned: i128) -> Result<u64, Fault> {
    let width = ty.bits();
    let (low, high) = (-(1i128 << (width - 1)), (1i128 << (width - 1)) - 1);
    if flags.nsw && !(low..=high).contains(&signed) {
        return Err(overflow("overflows as signed despite 'nsw'"));
    }
    if flags.nuw && !(0..=i128::from(ty.mask())).contains(&unsigned) {
        return Err(overflow("overflows as unsigned despite 'nuw'"));
    }
    Ok(ty.wrap(signed as u64))
}

fn division_by_zero() -> Fault {
    Fault::new(FaultKind::DivisionByZero, "divides by zero")
}

fn signed_division(op: NumOp, width: u32, a: i64, b: i64) -> Result<u64, Fault> {
    if b == 0 {
        return Err(division_by_zero());
    }
    if b == -1 && a == i64::MIN >> (64 - width) {
        // The remainder would be 0, but the division behind it overflows; LLVM leaves both undefined.
        return Err(overflow("the quotient of signed division does not fit"));
    }
    wrapping_division(
        match op {
            NumOp::RemSI => Division::Remainder,
            NumOp::FloorDivSI => Division::Floor,
            NumOp::CeilDivSI => Division::Ceil,
            NumOp::DivSI { exact: true } if a % b != 0 => return Err(inexact()),
            _ => Division::Quotient,
        },
        a,
        b,
    )
}

fn wrapping_division(division: Division, a: i64, b: i64) -> Result<u64, Fault> {
    if b == 0 {
        return Err(division_by_zero());
    }
    let (quotient, remainder) = (a.wrapping_div(b), a.wrapping_rem(b));
    let result = match division {
        Division::Quotient => quotient,
        Division::Floor => quotient - i64::from(remainder != 0 && (remainder < 0) != (b < 0)),
        Division::Ceil => quotient + i64::from(remainder != 0 && (remainder < 0) == (b < 0)),
        Division::Remainder => remainder,
    };
    Ok(result as u64)
}

fn unsigned_division(op: NumOp, a: u64, b: u64) -> Result<u64, Fault> {
    if b == 0 {
        return Err(division_by_zero());
    }
    match op {
        NumOp::RemUI => Ok(a % b),
        NumOp::CeilDivUI => Ok(a.div_ceil(b)),
        NumOp::DivUI { exact: true } if !a.is_multiple_of(b) => Err(inexact()),
        _ => Ok(a / b),
    }
}

fn inexact() -> Fault {
    overflow("loses bits despite 'exact'")
}

fn shift(op: NumOp, ty: DType, bits: u64, signed: i64, unsigned: u64, by: u32) -> Result<u64, Fault> {
    let lost = |by: u32| unsigned & ((1u64 << by) - 1) != 0;
    match op {
        NumOp::ShRSI { exact } if exact && lost(by) => Err(inexact()),
        NumOp::ShRUI { exact } if exact && lost(by) => Err(inexact()),
        NumOp::ShRSI { .. } => Ok((signed >> by) as u64),
        NumOp::ShRUI { .. } => Ok(unsigned >> by),
        NumOp::ShLI(Overflow::WRAP) => Ok(bits << by),
        NumOp::ShLI(flags) => {
            let unsigned = i128::try_from(u128::from(unsigned) << by).unwrap_or(i128::MAX);
            flagged(ty, flags, i128::from(signed) << by, unsigned)
        }
        _ => unreachable!("called for shifts only"),
    }
}

/// Integer power: wrapping for natural exponents; the truncated reciprocal for negative ones.
fn power(base: i64, exponent: i64) -> Result<u64, Fault> {
    if exponent >= 0 {
        let (mut result, mut square, mut left) = (1u64, base as u64, exponent as u64);
        while left > 0 {
            if left & 1 == 1 {
                result = result.wrapping_mul(square);
            }
            square = square.wrapping_mul(square);
            left >>= 1;
        }
        return Ok(result);
    }
    match base {
        0 => Err(division_by_zero()),
        1 => Ok(1),
        -1 => Ok(if exponent % 2 == 0 { 1 } else { u64::MAX }),
        _ => Ok(0),
    }
}

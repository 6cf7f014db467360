//! The meaning of numeric ops, once for every dialect: bit-exact on integers of any width up to 64 and on floats in
//! their own format.
//!
//! Arithmetic on floats narrower than 32 bits is done in `f32` and rounded once, to nearest even. Transcendental
//! functions are computed in `f64` and rounded once to the type. Denormals are kept. What MLIR leaves undefined is a
//! fault.
//!
//! Ops work on *lanes*: slices of `u64` that hold the bits of [`Scalar`]s, so that the op is looked at once and not
//! once per element.

mod cast;
pub(crate) mod errors;
mod float;
mod int;
mod math;

pub use errors::{Roundoff, rounding};
pub use math::MathFn;

use smallvec::SmallVec;

use crate::error::{Fault, FaultKind};
use crate::scalar::{DType, Scalar};

/// Flags of integer arithmetic whose breach is undefined.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Overflow {
    /// No signed wrap.
    pub nsw: bool,
    /// No unsigned wrap.
    pub nuw: bool,
}

impl Overflow {
    /// Wrapping arithmetic.
    pub const WRAP: Self = Self { nsw: false, nuw: false };
}

/// Integer comparisons, numbered as in `arith.cmpi`.
#[allow(missing_docs)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum CmpI {
    Eq,
    Ne,
    Slt,
    Sle,
    Sgt,
    Sge,
    Ult,
    Ule,
    Ugt,
    Uge,
}

impl CmpI {
    /// The predicate with this number.
    pub fn from_number(number: i64) -> Option<Self> {
        use CmpI::*;
        let all = [Eq, Ne, Slt, Sle, Sgt, Sge, Ult, Ule, Ugt, Uge];
        usize::try_from(number).ok().and_then(|i| all.get(i).copied())
    }
}

/// Float comparisons, numbered as in `arith.cmpf`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct CmpF(u8);

#[allow(missing_docs)]
impl CmpF {
    pub const FALSE: Self = Self(0);
    pub const OEQ: Self = Self(1);
    pub const OGT: Self = Self(2);
    pub const OGE: Self = Self(3);
    pub const OLT: Self = Self(4);
    pub const OLE: Self = Self(5);
    pub const ONE: Self = Self(6);
    pub const ORD: Self = Self(7);
    pub const UEQ: Self = Self(8);
    pub const UGT: Self = Self(9);
    pub const UGE: Self = Self(10);
    pub const ULT: Self = Self(11);
    pub const ULE: Self = Self(12);
    pub const UNE: Self = Self(13);
    pub const UNO: Self = Self(14);
    pub const TRUE: Self = Self(15);

    /// The predicate with this number.
    pub fn from_number(number: i64) -> Option<Self> {
        (0..16).contains(&number).then_some(Self(number as u8))
    }

    /// Its number.
    pub fn number(self) -> i64 {
        self.0.into()
    }

    /// The comparison of two values.
    pub fn holds(self, a: f64, b: f64) -> bool {
        // Of the ordered predicates, bit 0 is true for equal, bit 1 for greater, bit 2 for less. The unordered ones follow
        // in the same order from 8, with "only unordered" at 14.
        let (ordered, unordered) = match self.0 {
            n @ 0..=7 => (n, false),
            n @ 8..=13 => (n - 7, true),
            14 => (0, true),
            _ => (7, true),
        };
        match a.partial_cmp(&b) {
            Some(std::cmp::Ordering::Equal) => ordered & 1 != 0,
            Some(std::cmp::Ordering::Greater) => ordered & 2 != 0,
            Some(std::cmp::Ordering::Less) => ordered & 4 != 0,
            None => unordered,
        }
    }
}

/// Rounding modes of `arith.truncf`, numbered as there.
#[allow(missing_docs)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Rounding {
    ToNearestEven,
    Downward,
    Upward,
    TowardZero,
    ToNearestAway,
}

/// Signed divisions.
#[allow(missing_docs)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Division {
    Quotient,
    Floor,
    Ceil,
    Remainder,
}

/// A numeric op: one result from one to three numbers. Named after the ops of `arith` and `math`.
#[allow(missing_docs)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum NumOp {
    // integers
    AddI(Overflow),
    SubI(Overflow),
    MulI(Overflow),
    /// High half of the double-width signed product.
    MulSHigh,
    /// High half of the double-width unsigned product.
    MulUHigh,
    /// Carry of an unsigned addition, as `i1`.
    AddCarry,
    DivSI {
        exact: bool,
    },
    DivUI {
        exact: bool,
    },
    CeilDivSI,
    CeilDivUI,
    FloorDivSI,
    RemSI,
    RemUI,
    /// A signed division whose quotient wraps where it does not fit: the least number by -1.
    WrappingSI(Division),
    AndI,
    OrI,
    XOrI,
    ShLI(Overflow),
    ShRSI {
        exact: bool,
    },
    ShRUI {
        exact: bool,
    },
    MaxSI,
    MaxUI,
    MinSI,
    MinUI,
    AbsI,
    IPowI,
    CtLz,
    CtTz,
    CtPop,
    CmpI(CmpI),
    // floats
    AddF,
    SubF,
    MulF,
    DivF,
    RemF,
    NegF,
    /// NaN if either operand is; -0 is less than +0.
    MaximumF,
    /// NaN if either operand is; -0 is less than +0.
    MinimumF,
    /// The other operand if one is NaN; -0 is less than +0.
    MaxNumF,
    /// The other operand if one is NaN; -0 is less than +0.
    MinNumF,
    CmpF(CmpF),
    CopySign,
    /// `a * b + c` with one rounding (narrow formats: one in `f32`, one to the format).
    Fma,
    /// `min(max(x, low), high)`, NaN where any operand is.
    ClampF,
    IsFinite,
    IsInf,
    IsNan,
    IsNormal,
    /// A function of one float.
    Math(MathFn),
    Atan2,
    PowF,
    /// Float to the power of an integer.
    FPowI,
    // casts
    ExtSI,
    ExtUI,
    TruncI(Overflow),
    SIToFP,
    UIToFP,
    FPToSI,
    FPToUI,
    ExtF,
    TruncF(Rounding),
    Bitcast,
    IndexCast,
    IndexCastUI,
    // both
    /// The second operand where the first (`i1`) holds, else the third.
    Select,
}

impl NumOp {
    /// Number of operands.
    pub fn arity(self) -> usize {
        use NumOp::*;
        match self {
            AbsI | CtLz | CtTz | CtPop | NegF | IsFinite | IsInf | IsNan | IsNormal | Math(_) | ExtSI | ExtUI
            | TruncI(_) | SIToFP | UIToFP | FPToSI | FPToUI | ExtF | TruncF(_) | Bitcast | IndexCast | IndexCastUI => 1,
            Fma | ClampF | Select => 3,
            _ => 2,
        }
    }

    /// Result type where it follows from the operands; casts have none.
    pub fn infer(self, operands: &[DType]) -> Option<DType> {
        use NumOp::*;
        match self {
            CmpI(_) | CmpF(_) | IsFinite | IsInf | IsNan | IsNormal | AddCarry => Some(DType::I1),
            ExtSI | ExtUI | TruncI(_) | SIToFP | UIToFP | FPToSI | FPToUI | ExtF | TruncF(_) | Bitcast | IndexCast
            | IndexCastUI => None,
            Select => operands.get(1).copied(),
            _ => operands.first().copied(),
        }
    }

    /// The op with a quotient that wraps, for a signed division that is not exact; any other op as it is.
    pub fn wrapping(self) -> Self {
        match self {
            Self::DivSI { exact: false } => Self::WrappingSI(Division::Quotient),
            Self::FloorDivSI => Self::WrappingSI(Division::Floor),
            Self::CeilDivSI => Self::WrappingSI(Division::Ceil),
            Self::RemSI => Self::WrappingSI(Division::Remainder),
            other => other,
        }
    }

    /// Binds the op to its types.
    ///
    /// # Errors
    /// When the op has no meaning for them.
    pub fn with_types(self, operands: &[DType], result: DType) -> Result<Kernel, Fault> {
        let kernel = Kernel { op: self, operands: operands.iter().copied().collect(), result };
        // Complex numbers are two numbers each, and ops work on their parts.
        let complex = operands.iter().chain([&result]).any(|dtype| dtype.part().is_some());
        if operands.len() != self.arity() || complex || !kernel.types_fit() {
            let types = operands.iter().map(|t| t.to_string()).collect::<Vec<_>>().join(", ");
            return Err(Fault::type_mismatch(format!("{self:?} has no meaning for ({types}) -> {result}")));
        }
        Ok(kernel)
    }
}

/// A numeric op on known types.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kernel {
    op: NumOp,
    operands: SmallVec<[DType; 3]>,
    result: DType,
}

/// A fault with the lane in which it happened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct LaneFault {
    pub(crate) lane: usize,
    pub(crate) fault: Fault,
}

pub(crate) type LaneResult = Result<(), LaneFault>;

impl Kernel {
    /// The kernel of [`NumOp::wrapping`].
    #[must_use]
    pub fn wrapping(self) -> Self {
        Self { op: self.op.wrapping(), ..self }
    }

    /// The op.
    pub fn op(&self) -> NumOp {
        self.op
    }

    /// Types of the operands.
    pub fn operands(&self) -> &[DType] {
        &self.operands
    }

    /// Type of the result.
    pub fn result(&self) -> DType {
        self.result
    }

    fn types_fit(&self) -> bool {
        use NumOp::*;
        let first = self.operands[0];
        let rest = &self.operands[1..];
        let same = rest.iter().all(|t| *t == first);
        match self.op {
            Select => first == DType::I1 && self.operands[1] == self.operands[2] && self.result == self.operands[1],
            CmpI(_) | AddCarry => !first.is_float() && same && self.result == DType::I1,
            CmpF(_) => first.is_float() && same && self.result == DType::I1,
            IsFinite | IsInf | IsNan | IsNormal => first.is_float() && self.result == DType::I1,
            FPowI => first.is_float() && !rest[0].is_float() && self.result == first,
            AddF | SubF | MulF | DivF | RemF | NegF | MaximumF | MinimumF | MaxNumF | MinNumF | CopySign | Fma
            | ClampF | Math(_) | Atan2 | PowF => first.is_float() && same && self.result == first,
            ExtSI | ExtUI => !first.is_float() && !self.result.is_float() && first.bits() <= self.result.bits(),
            TruncI(_) => !first.is_float() && !self.result.is_float() && first.bits() >= self.result.bits(),
            SIToFP | UIToFP => !first.is_float() && self.result.is_float(),
            FPToSI | FPToUI => first.is_float() && !self.result.is_float(),
            ExtF | TruncF(_) => first.is_float() && self.result.is_float(),
            Bitcast => first.bits() == self.result.bits(),
            IndexCast | IndexCastUI => !first.is_float() && !self.result.is_float(),
            _ => !first.is_float() && same && self.result == first,
        }
    }

    /// Evaluates the op on single numbers.
    ///
    /// # Errors
    /// When the result is undefined, or a number has another type than the kernel.
    pub fn eval(&self, args: &[Scalar]) -> Result<Scalar, Fault> {
        if args.len() != self.operands.len() || args.iter().zip(&self.operands).any(|(a, t)| a.dtype() != *t) {
            return Err(Fault::type_mismatch(format!("{:?} got operands of other types", self.op)));
        }
        let mut bits = [0; 3];
        bits.iter_mut().zip(args).for_each(|(bits, arg)| *bits = arg.bits());
        self.eval_bits(bits)
    }

    /// Evaluates the op on the bits of single numbers; those beyond its operands do not count.
    pub(crate) fn eval_bits(&self, bits: [u64; 3]) -> Result<Scalar, Fault> {
        let [a, b, c] = &bits;
        let lanes = [std::slice::from_ref(a), std::slice::from_ref(b), std::slice::from_ref(c)];
        let mut out = [0];
        self.eval_lanes(&lanes[..self.operands.len()], &mut out).map_err(|e| e.fault)?;
        Ok(Scalar::from_bits(self.result, out[0]))
    }

    /// Evaluates the op on many numbers, given as the bits of [`Scalar`]s; every slice is as long as `out`.
    ///
    /// # Errors
    /// When a result is undefined, or the number or lengths of the slices do not fit.
    pub fn eval_many(&self, args: &[&[u64]], out: &mut [u64]) -> Result<(), Fault> {
        if args.len() != self.operands.len() || args.iter().any(|a| a.len() != out.len()) {
            return Err(Fault::shape(format!("{:?} got lanes that do not fit", self.op)));
        }
        self.eval_lanes(args, out).map_err(|e| e.fault)
    }

    /// Evaluates the op on lanes; every slice is as long as `out`.
    pub(crate) fn eval_lanes(&self, args: &[&[u64]], out: &mut [u64]) -> LaneResult {
        use NumOp::*;
        let op = self.op;
        match op {
            Select => {
                for (o, ((&c, &a), &b)) in out.iter_mut().zip(args[0].iter().zip(args[1]).zip(args[2])) {
                    *o = if c != 0 { a } else { b };
                }
                Ok(())
            }
            ExtSI | ExtUI | TruncI(_) | SIToFP | UIToFP | FPToSI | FPToUI | ExtF | TruncF(_) | Bitcast | IndexCast
            | IndexCastUI => cast::eval(op, self.operands[0], self.result, args[0], out),
            _ => match self.operands[0] {
                DType::Float(kind) => float::eval(op, kind, self.operands.get(1).copied(), args, out),
                ty => int::eval(op, ty, args, out),
            },
        }
    }
}

/// Evaluates a numeric op on single numbers, its result type inferred or given.
///
/// # Errors
/// When the op has no meaning for the types, or the result is undefined.
pub fn eval(op: NumOp, args: &[Scalar], result: Option<DType>) -> Result<Scalar, Fault> {
    let types: SmallVec<[DType; 3]> = args.iter().map(|a| a.dtype()).collect();
    let result = result.or_else(|| op.infer(&types));
    let result = result.ok_or_else(|| Fault::invalid_ir(format!("{op:?} needs a result type")))?;
    op.with_types(&types, result)?.eval(args)
}

pub(super) fn map1(a: &[u64], out: &mut [u64], f: impl Fn(u64) -> u64) -> LaneResult {
    for (o, &x) in out.iter_mut().zip(a) {
        *o = f(x);
    }
    Ok(())
}

pub(super) fn map2(args: &[&[u64]], out: &mut [u64], f: impl Fn(u64, u64) -> u64) -> LaneResult {
    for (o, (&x, &y)) in out.iter_mut().zip(args[0].iter().zip(args[1])) {
        *o = f(x, y);
    }
    Ok(())
}

pub(super) fn map3(args: &[&[u64]], out: &mut [u64], f: impl Fn(u64, u64, u64) -> u64) -> LaneResult {
    for (o, ((&x, &y), &z)) in out.iter_mut().zip(args[0].iter().zip(args[1]).zip(args[2])) {
        *o = f(x, y, z);
    }
    Ok(())
}

/// Like [`map2`], for a function that may fault.
pub(super) fn try_map2(args: &[&[u64]], out: &mut [u64], f: impl Fn(u64, u64) -> Result<u64, Fault>) -> LaneResult {
    for (lane, (o, (&x, &y))) in out.iter_mut().zip(args[0].iter().zip(args[1])).enumerate() {
        *o = f(x, y).map_err(|fault| LaneFault { lane, fault })?;
    }
    Ok(())
}

/// Like [`map1`], for a function that may fault.
pub(super) fn try_map1(a: &[u64], out: &mut [u64], f: impl Fn(u64) -> Result<u64, Fault>) -> LaneResult {
    for (lane, (o, &x)) in out.iter_mut().zip(a).enumerate() {
        *o = f(x).map_err(|fault| LaneFault { lane, fault })?;
    }
    Ok(())
}

pub(super) fn poison(message: impl Into<String>) -> Fault {
    Fault::new(FaultKind::Poison, message)
}

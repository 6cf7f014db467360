//! Kinds of tile operations as functions of numbers.

use sutura_interp::num::{CmpF, CmpI, MathFn, NumOp, Overflow, Rounding};
use sutura_interp::{DType, Fault, Scalar};
use sutura_ir::OpRef;

use super::tile::Combine;
use crate::gir::kinds::{BinaryKind, CastKind, Combiner, CompareKind, TernaryKind, UnaryKind};
use crate::gir::ops::{BinaryOp, CastOp, CompareOp, TernaryOp, UnaryOp};

/// The function of each element that an operation is, and the float operations that one element counts for.
pub(super) fn element_function(op: OpRef<'_>) -> Option<(NumOp, u64)> {
    if let Some(this) = op.as_::<UnaryOp<'_>>() {
        Some((unary_op(this.kind()), u64::from(!this.kind().is_integer())))
    } else if let Some(this) = op.as_::<BinaryOp<'_>>() {
        Some((binary_op(this.kind()), u64::from(!this.kind().is_integer())))
    } else if let Some(this) = op.as_::<TernaryOp<'_>>() {
        Some(match this.kind() {
            TernaryKind::Select => (NumOp::Select, 0),
            TernaryKind::Fma => (NumOp::Fma, 2),
        })
    } else if let Some(this) = op.as_::<CompareOp<'_>>() {
        Some((compare_op(this.kind()), 0))
    } else {
        op.as_::<CastOp<'_>>().map(|this| (cast_op(this.kind()), 0))
    }
}

fn unary_op(kind: UnaryKind) -> NumOp {
    use UnaryKind::*;
    NumOp::Math(match kind {
        Neg => return NumOp::NegF,
        AbsI => return NumOp::AbsI,
        Abs => MathFn::AbsF,
        Exp => MathFn::Exp,
        Exp2 => MathFn::Exp2,
        Expm1 => MathFn::ExpM1,
        Log => MathFn::Log,
        Log1p => MathFn::Log1p,
        Log2 => MathFn::Log2,
        Log10 => MathFn::Log10,
        Tan => MathFn::Tan,
        Atan => MathFn::Atan,
        Cbrt => MathFn::Cbrt,
        Tanh => MathFn::Tanh,
        Erf => MathFn::Erf,
        Sqrt => MathFn::Sqrt,
        Rsqrt => MathFn::Rsqrt,
        Sin => MathFn::Sin,
        Cos => MathFn::Cos,
        Floor => MathFn::Floor,
        Ceil => MathFn::Ceil,
        RoundEven => MathFn::RoundEven,
        Round => MathFn::Round,
        Trunc => MathFn::Trunc,
    })
}

pub(super) fn binary_op(kind: BinaryKind) -> NumOp {
    use BinaryKind::*;
    match kind {
        Add => NumOp::AddF,
        Sub => NumOp::SubF,
        Mul => NumOp::MulF,
        Div => NumOp::DivF,
        Rem => NumOp::RemF,
        Max => NumOp::MaximumF,
        Min => NumOp::MinimumF,
        MaxNum => NumOp::MaxNumF,
        MinNum => NumOp::MinNumF,
        Pow => NumOp::PowF,
        Atan2 => NumOp::Atan2,
        CopySign => NumOp::CopySign,
        AddI => NumOp::AddI(Overflow::WRAP),
        SubI => NumOp::SubI(Overflow::WRAP),
        MulI => NumOp::MulI(Overflow::WRAP),
        DivSI => NumOp::DivSI { exact: false }.wrapping(),
        FloorDivSI => NumOp::FloorDivSI.wrapping(),
        RemSI => NumOp::RemSI.wrapping(),
        DivUI => NumOp::DivUI { exact: false },
        RemUI => NumOp::RemUI,
        MaxSI => NumOp::MaxSI,
        MinSI => NumOp::MinSI,
        MaxUI => NumOp::MaxUI,
        MinUI => NumOp::MinUI,
        And => NumOp::AndI,
        Or => NumOp::OrI,
        Xor => NumOp::XOrI,
        ShL => NumOp::ShLI(Overflow::WRAP),
        ShRSI => NumOp::ShRSI { exact: false },
        ShRUI => NumOp::ShRUI { exact: false },
    }
}

fn compare_op(kind: CompareKind) -> NumOp {
    use CompareKind::*;
    match kind {
        Eq => NumOp::CmpI(CmpI::Eq),
        Ne => NumOp::CmpI(CmpI::Ne),
        Slt => NumOp::CmpI(CmpI::Slt),
        Sle => NumOp::CmpI(CmpI::Sle),
        Sgt => NumOp::CmpI(CmpI::Sgt),
        Sge => NumOp::CmpI(CmpI::Sge),
        Ult => NumOp::CmpI(CmpI::Ult),
        Ule => NumOp::CmpI(CmpI::Ule),
        Ugt => NumOp::CmpI(CmpI::Ugt),
        Uge => NumOp::CmpI(CmpI::Uge),
        Oeq => NumOp::CmpF(CmpF::OEQ),
        Ogt => NumOp::CmpF(CmpF::OGT),
        Oge => NumOp::CmpF(CmpF::OGE),
        Olt => NumOp::CmpF(CmpF::OLT),
        Ole => NumOp::CmpF(CmpF::OLE),
        One => NumOp::CmpF(CmpF::ONE),
        Une => NumOp::CmpF(CmpF::UNE),
        Uno => NumOp::CmpF(CmpF::UNO),
    }
}

fn cast_op(kind: CastKind) -> NumOp {
    use CastKind::*;
    match kind {
        ExtF => NumOp::ExtF,
        TruncF => NumOp::TruncF(Rounding::ToNearestEven),
        SIToFP => NumOp::SIToFP,
        UIToFP => NumOp::UIToFP,
        FPToSI => NumOp::FPToSI,
        FPToUI => NumOp::FPToUI,
        ExtSI => NumOp::ExtSI,
        ExtUI => NumOp::ExtUI,
        TruncI => NumOp::TruncI(Overflow::WRAP),
        IndexCast => NumOp::IndexCast,
        Bitcast => NumOp::Bitcast,
    }
}

/// A combiner on elements of type `dtype`: narrow floats are combined as `f32` and rounded once.
pub(super) fn combine(kind: Combiner, dtype: DType) -> Result<Combine, Fault> {
    let acc = if dtype.is_float() && dtype.bits() < 32 { DType::F32 } else { dtype };
    let kernel = binary_op(kind.binary()).with_types(&[acc, acc], acc)?;
    let (mut widen, mut narrow) = (None, None);
    if acc != dtype {
        widen = Some(NumOp::ExtF.with_types(&[dtype], acc)?);
        narrow = Some(NumOp::TruncF(Rounding::ToNearestEven).with_types(&[acc], dtype)?);
    }
    Ok(Combine { kernel, identity: identity(kind, acc), widen, narrow })
}

/// What leaves every element as it is.
fn identity(kind: Combiner, dtype: DType) -> Scalar {
    use Combiner::*;
    let float = |value: f64| match dtype {
        DType::Float(format) => Scalar::float(value, format),
        _ => Scalar::zero(dtype),
    };
    let bits = dtype.bits().min(64);
    match kind {
        Add => float(0.0),
        Mul => float(1.0),
        Max => float(f64::NEG_INFINITY),
        Min => float(f64::INFINITY),
        AddI | Or => Scalar::from_bits(dtype, 0),
        MulI => Scalar::from_bits(dtype, 1),
        And => Scalar::from_bits(dtype, u64::MAX),
        MaxSI => Scalar::from_bits(dtype, 1 << (bits - 1)),
        MinSI => Scalar::from_bits(dtype, (1 << (bits - 1)) - 1),
    }
}

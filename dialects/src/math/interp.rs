//! What math ops do when a program runs: computed in `f64` and rounded once, the reference that expansions into
//! arithmetic are measured against.

use sutura_interp::Elementwise;
use sutura_interp::elementwise::attach;
use sutura_interp::num::{MathFn, NumOp};
use sutura_ir::DialectBuilder;

use crate::math::{
    AbsFOp, AbsIOp, AcosOp, AsinOp, Atan2Op, AtanOp, CbrtOp, CeilOp, CopySignOp, CosOp, CoshOp, CountLeadingZerosOp,
    CountTrailingZerosOp, CtPopOp, ErfOp, ErfcOp, Exp2Op, ExpM1Op, ExpOp, FPowIOp, FloorOp, FmaOp, IPowIOp, IsFiniteOp,
    IsInfOp, IsNaNOp, Log1pOp, Log2Op, Log10Op, LogOp, PowFOp, RoundEvenOp, RoundOp, RsqrtOp, SinOp, SinhOp, SqrtOp,
    TanOp, TanhOp, TruncOp,
};

/// Attaches the hooks.
pub(super) fn register(d: &mut DialectBuilder<'_>) {
    macro_rules! functions {
        ($($of:ident => $function:ident),+ $(,)?) => {
            $(attach::<$of<'_>, _>(d, &Elementwise(|_| Ok(NumOp::Math(MathFn::$function))));)+
        };
    }
    functions! {
        AbsFOp => AbsF,
        AcosOp => Acos,
        AsinOp => Asin,
        AtanOp => Atan,
        CbrtOp => Cbrt,
        CeilOp => Ceil,
        CosOp => Cos,
        CoshOp => Cosh,
        ErfOp => Erf,
        ErfcOp => Erfc,
        ExpOp => Exp,
        Exp2Op => Exp2,
        ExpM1Op => ExpM1,
        FloorOp => Floor,
        LogOp => Log,
        Log10Op => Log10,
        Log1pOp => Log1p,
        Log2Op => Log2,
        RoundOp => Round,
        RoundEvenOp => RoundEven,
        RsqrtOp => Rsqrt,
        SinOp => Sin,
        SinhOp => Sinh,
        SqrtOp => Sqrt,
        TanOp => Tan,
        TanhOp => Tanh,
        TruncOp => Trunc,
    }
    macro_rules! others {
        ($($of:ident => $op:ident),+ $(,)?) => {
            $(attach::<$of<'_>, _>(d, &Elementwise(|_| Ok(NumOp::$op)));)+
        };
    }
    others! {
        AbsIOp => AbsI,
        Atan2Op => Atan2,
        CopySignOp => CopySign,
        CountLeadingZerosOp => CtLz,
        CtPopOp => CtPop,
        CountTrailingZerosOp => CtTz,
        FmaOp => Fma,
        FPowIOp => FPowI,
        IPowIOp => IPowI,
        IsFiniteOp => IsFinite,
        IsInfOp => IsInf,
        IsNaNOp => IsNan,
        PowFOp => PowF,
    }
}

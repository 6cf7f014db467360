//! What math ops do when a program runs: computed in `f64` and rounded once, the reference that expansions into
//! arithmetic are measured against.

use sutura_interp::Elementwise;
use sutura_interp::elementwise::attach;
use sutura_interp::num::{MathFn, NumOp};
use sutura_ir::DialectBuilder;

/// Attaches the hooks.
pub(super) fn register(d: &mut DialectBuilder<'_>) {
    macro_rules! functions {
        ($($name:literal => $function:ident),+ $(,)?) => {
            $(attach(d, $name, &Elementwise(|_| Ok(NumOp::Math(MathFn::$function))));)+
        };
    }
    functions! {
        "math.absf" => AbsF,
        "math.acos" => Acos,
        "math.asin" => Asin,
        "math.atan" => Atan,
        "math.cbrt" => Cbrt,
        "math.ceil" => Ceil,
        "math.cos" => Cos,
        "math.cosh" => Cosh,
        "math.erf" => Erf,
        "math.erfc" => Erfc,
        "math.exp" => Exp,
        "math.exp2" => Exp2,
        "math.expm1" => ExpM1,
        "math.floor" => Floor,
        "math.log" => Log,
        "math.log10" => Log10,
        "math.log1p" => Log1p,
        "math.log2" => Log2,
        "math.round" => Round,
        "math.roundeven" => RoundEven,
        "math.rsqrt" => Rsqrt,
        "math.sin" => Sin,
        "math.sinh" => Sinh,
        "math.sqrt" => Sqrt,
        "math.tan" => Tan,
        "math.tanh" => Tanh,
        "math.trunc" => Trunc,
    }
    macro_rules! others {
        ($($name:literal => $op:ident),+ $(,)?) => {
            $(attach(d, $name, &Elementwise(|_| Ok(NumOp::$op)));)+
        };
    }
    others! {
        "math.absi" => AbsI,
        "math.atan2" => Atan2,
        "math.copysign" => CopySign,
        "math.ctlz" => CtLz,
        "math.ctpop" => CtPop,
        "math.cttz" => CtTz,
        "math.fma" => Fma,
        "math.fpowi" => FPowI,
        "math.ipowi" => IPowI,
        "math.isfinite" => IsFinite,
        "math.isinf" => IsInf,
        "math.isnan" => IsNan,
        "math.powf" => PowF,
    }
}

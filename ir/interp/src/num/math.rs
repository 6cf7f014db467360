//! Functions of one float, computed in `f64`.

/// A function of one float; named after the ops of `math`.
#[allow(missing_docs)]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum MathFn {
    AbsF,
    Acos,
    Acosh,
    Asin,
    Asinh,
    Atan,
    Atanh,
    Cbrt,
    Ceil,
    Cos,
    Cosh,
    Erf,
    Erfc,
    Exp,
    Exp2,
    ExpM1,
    Floor,
    Log,
    Log10,
    Log1p,
    Log2,
    /// Half away from zero.
    Round,
    RoundEven,
    Rsqrt,
    Sin,
    Sinh,
    Sqrt,
    Tan,
    Tanh,
    Trunc,
}

impl MathFn {
    /// The function in `f64`.
    pub fn function(self) -> fn(f64) -> f64 {
        use MathFn::*;
        match self {
            AbsF => f64::abs,
            Acos => libm::acos,
            Acosh => libm::acosh,
            Asin => libm::asin,
            Asinh => libm::asinh,
            Atan => libm::atan,
            Atanh => libm::atanh,
            Cbrt => libm::cbrt,
            Ceil => f64::ceil,
            Cos => libm::cos,
            Cosh => libm::cosh,
            Erf => libm::erf,
            Erfc => libm::erfc,
            Exp => libm::exp,
            Exp2 => libm::exp2,
            ExpM1 => libm::expm1,
            Floor => f64::floor,
            Log => libm::log,
            Log10 => libm::log10,
            Log1p => libm::log1p,
            Log2 => libm::log2,
            Round => f64::round,
            RoundEven => f64::round_ties_even,
            Rsqrt => |x| 1.0 / x.sqrt(),
            Sin => libm::sin,
            Sinh => libm::sinh,
            Sqrt => f64::sqrt,
            Tan => libm::tan,
            Tanh => libm::tanh,
            Trunc => f64::trunc,
        }
    }
}

//! Functions of complex numbers as arithmetic on their parts: once, for the interpreter and for the pass that compiles them.
//!
//! Errors are stated in the unit roundoff `u` of the parts' type, relative to the magnitude of the exact result (not to each
//! part of it), where nothing overflows or underflows; `m` is the largest error of the functions of one number that are used.
//! No intermediate overflows where the result does not, but in products, whose formula is the plain one, as in numpy, and where
//! a function says so.

use smallvec::{SmallVec, smallvec};

use crate::error::Fault;
use crate::num::{CmpF, MathFn, NumOp};

/// A function of complex numbers; named after the ops of the dialect `complex`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ComplexFn {
    /// Of two parts.
    Create,
    /// The real part.
    Re,
    /// The imaginary part.
    Im,
    /// The sum, rounded in each part.
    Add,
    /// The difference, rounded in each part.
    Sub,
    /// The product `(ac - bd) + (ad + bc)i`, each step rounded: within `3u`.
    Mul,
    /// The quotient by Smith's formula, as numpy divides: within `7u` but for cancellation in one part.
    Div,
    /// Both parts negated.
    Neg,
    /// The imaginary part negated.
    Conj,
    /// The magnitude, within `4u`; infinite where a part is, also beside a NaN.
    Abs,
    /// The angle in `[-pi, pi]`: `atan2` of the parts.
    Angle,
    /// Both parts equal.
    Eq,
    /// A part differs, or is NaN.
    Ne,
    /// The exponential: within `3m + 3u`.
    Exp,
    /// The natural logarithm: within `2m + 4u`.
    Log,
    /// The square root with a real part that is not negative: within `6u`.
    Sqrt,
    /// The sine: within `2m + 6u`; infinite already where the exponential of the imaginary part's magnitude is.
    Sin,
    /// The cosine, as the sine.
    Cos,
}

/// Arithmetic on parts: numbers that are computed, steps of a program, or ops that are built.
pub trait Parts {
    /// A part, or a truth.
    type Number: Clone;

    /// One op on parts.
    ///
    /// # Errors
    /// When it cannot be done.
    fn op(&mut self, op: NumOp, args: &[&Self::Number]) -> Result<Self::Number, Fault>;

    /// A constant of the parts' type.
    ///
    /// # Errors
    /// When it cannot be made.
    fn constant(&mut self, value: f64) -> Result<Self::Number, Fault>;
}

/// The parts of a result: two of a complex number, one of any other.
pub type Made<N> = SmallVec<[N; 2]>;

impl ComplexFn {
    /// True where the result is a complex number.
    pub fn makes_complex(self) -> bool {
        !matches!(self, Self::Re | Self::Im | Self::Abs | Self::Angle | Self::Eq | Self::Ne)
    }

    /// Number of parts of all operands together.
    pub fn parts(self) -> usize {
        match self {
            Self::Add | Self::Sub | Self::Mul | Self::Div | Self::Eq | Self::Ne => 4,
            _ => 2,
        }
    }

    /// The function of these parts, real before imaginary of each operand.
    ///
    /// # Errors
    /// When there are fewer parts than it takes, or an op on them cannot be done.
    pub fn apply<P: Parts>(self, parts: &mut P, args: &[P::Number]) -> Result<Made<P::Number>, Fault> {
        let mut f = Formula(parts);
        match (self, args) {
            (Self::Create, [a, b]) => Ok(smallvec![a.clone(), b.clone()]),
            (Self::Re, [a, _]) => Ok(smallvec![a.clone()]),
            (Self::Im, [_, b]) => Ok(smallvec![b.clone()]),
            (Self::Neg, [a, b]) => Ok(smallvec![f.neg(a)?, f.neg(b)?]),
            (Self::Conj, [a, b]) => Ok(smallvec![a.clone(), f.neg(b)?]),
            (Self::Abs, [a, b]) => Ok(smallvec![f.abs(a, b)?]),
            (Self::Angle, [a, b]) => Ok(smallvec![f.op(NumOp::Atan2, &[b, a])?]),
            (Self::Exp, [a, b]) => f.exp(a, b),
            (Self::Log, [a, b]) => f.log(a, b),
            (Self::Sqrt, [a, b]) => f.sqrt(a, b),
            (Self::Sin, [a, b]) => f.sin(a, b),
            (Self::Cos, [a, b]) => f.cos(a, b),
            (Self::Add, [a, b, c, d]) => Ok(smallvec![f.add(a, c)?, f.add(b, d)?]),
            (Self::Sub, [a, b, c, d]) => Ok(smallvec![f.sub(a, c)?, f.sub(b, d)?]),
            (Self::Mul, [a, b, c, d]) => f.mul_complex([a, b, c, d]),
            (Self::Div, [a, b, c, d]) => f.div_complex([a, b, c, d]),
            (Self::Eq, [a, b, c, d]) => {
                let (re, im) = (f.cmp(CmpF::OEQ, a, c)?, f.cmp(CmpF::OEQ, b, d)?);
                Ok(smallvec![f.op(NumOp::AndI, &[&re, &im])?])
            }
            (Self::Ne, [a, b, c, d]) => {
                let (re, im) = (f.cmp(CmpF::UNE, a, c)?, f.cmp(CmpF::UNE, b, d)?);
                Ok(smallvec![f.op(NumOp::OrI, &[&re, &im])?])
            }
            _ => Err(Fault::invalid_ir(format!("{self:?} of {} parts", args.len()))),
        }
    }
}

struct Formula<'p, P>(&'p mut P);

type Number<P> = Result<<P as Parts>::Number, Fault>;
type Pair<P> = Result<Made<<P as Parts>::Number>, Fault>;

impl<P: Parts> Formula<'_, P> {
    fn op(&mut self, op: NumOp, args: &[&P::Number]) -> Number<P> {
        self.0.op(op, args)
    }

    fn add(&mut self, a: &P::Number, b: &P::Number) -> Number<P> {
        self.op(NumOp::AddF, &[a, b])
    }

    fn sub(&mut self, a: &P::Number, b: &P::Number) -> Number<P> {
        self.op(NumOp::SubF, &[a, b])
    }

    fn mul(&mut self, a: &P::Number, b: &P::Number) -> Number<P> {
        self.op(NumOp::MulF, &[a, b])
    }

    fn div(&mut self, a: &P::Number, b: &P::Number) -> Number<P> {
        self.op(NumOp::DivF, &[a, b])
    }

    fn neg(&mut self, a: &P::Number) -> Number<P> {
        self.op(NumOp::NegF, &[a])
    }

    fn math(&mut self, function: MathFn, a: &P::Number) -> Number<P> {
        self.op(NumOp::Math(function), &[a])
    }

    fn cmp(&mut self, predicate: CmpF, a: &P::Number, b: &P::Number) -> Number<P> {
        self.op(NumOp::CmpF(predicate), &[a, b])
    }

    fn select(&mut self, truth: &P::Number, a: &P::Number, b: &P::Number) -> Number<P> {
        self.op(NumOp::Select, &[truth, a, b])
    }

    fn constant(&mut self, value: f64) -> Number<P> {
        self.0.constant(value)
    }

    fn mul_complex(&mut self, [a, b, c, d]: [&P::Number; 4]) -> Pair<P> {
        let (ac, bd, ad, bc) = (self.mul(a, c)?, self.mul(b, d)?, self.mul(a, d)?, self.mul(b, c)?);
        Ok(smallvec![self.sub(&ac, &bd)?, self.add(&ad, &bc)?])
    }

    /// Smith, "Algorithm 116: Complex division", CACM 5 (1962): the part of the divisor that is smaller is divided by the
    /// larger one. A divisor of zero divides each part.
    fn div_complex(&mut self, [a, b, c, d]: [&P::Number; 4]) -> Pair<P> {
        let (c_abs, d_abs) = (self.math(MathFn::AbsF, c)?, self.math(MathFn::AbsF, d)?);
        let (zero, one) = (self.constant(0.0)?, self.constant(1.0)?);
        let real = self.cmp(CmpF::OGE, &c_abs, &d_abs)?;
        // Of a larger imaginary part the quotient is that of both numbers times -i.
        let (large, small) = (self.select(&real, c, d)?, self.select(&real, d, c)?);
        let (first, second) = (self.select(&real, a, b)?, self.select(&real, b, a)?);
        let ratio = self.div(&small, &large)?;
        let weighted = self.mul(&small, &ratio)?;
        let divisor = self.add(&large, &weighted)?;
        let scale = self.div(&one, &divisor)?;
        let (along, across) = (self.mul(&second, &ratio)?, self.mul(&first, &ratio)?);
        let sum = self.add(&first, &along)?;
        let (ahead, behind) = (self.sub(&second, &across)?, self.sub(&across, &second)?);
        let difference = self.select(&real, &ahead, &behind)?;
        let (re, im) = (self.mul(&sum, &scale)?, self.mul(&difference, &scale)?);
        let (re_zero, im_zero) = (self.div(a, &c_abs)?, self.div(b, &c_abs)?);
        let larger = self.select(&real, &c_abs, &d_abs)?;
        let by_zero = self.cmp(CmpF::OEQ, &larger, &zero)?;
        Ok(smallvec![self.select(&by_zero, &re_zero, &re)?, self.select(&by_zero, &im_zero, &im)?])
    }

    /// The larger magnitude of the parts, and the square of the smaller one divided by it.
    fn scaled(&mut self, a: &P::Number, b: &P::Number) -> Result<[P::Number; 2], Fault> {
        let (a, b) = (self.math(MathFn::AbsF, a)?, self.math(MathFn::AbsF, b)?);
        let less = self.cmp(CmpF::OLT, &a, &b)?;
        let (large, small) = (self.select(&less, &b, &a)?, self.select(&less, &a, &b)?);
        let ratio = self.div(&small, &large)?;
        let square = self.mul(&ratio, &ratio)?;
        // Of two zeros and of two infinities the ratio is NaN.
        let same = self.cmp(CmpF::OEQ, &small, &large)?;
        let one = self.constant(1.0)?;
        Ok([large, self.select(&same, &one, &square)?])
    }

    /// True where a part is infinite.
    fn infinite(&mut self, a: &P::Number, b: &P::Number) -> Number<P> {
        let infinity = self.constant(f64::INFINITY)?;
        let (a, b) = (self.math(MathFn::AbsF, a)?, self.math(MathFn::AbsF, b)?);
        let (a, b) = (self.cmp(CmpF::OEQ, &a, &infinity)?, self.cmp(CmpF::OEQ, &b, &infinity)?);
        self.op(NumOp::OrI, &[&a, &b])
    }

    fn abs(&mut self, a: &P::Number, b: &P::Number) -> Number<P> {
        let [large, square] = self.scaled(a, b)?;
        let one = self.constant(1.0)?;
        let sum = self.add(&one, &square)?;
        let root = self.math(MathFn::Sqrt, &sum)?;
        let magnitude = self.mul(&large, &root)?;
        let (infinite, infinity) = (self.infinite(a, b)?, self.constant(f64::INFINITY)?);
        self.select(&infinite, &infinity, &magnitude)
    }

    /// By the exponential of half the real part, twice: the whole one may overflow where the cosine is small.
    fn exp(&mut self, a: &P::Number, b: &P::Number) -> Pair<P> {
        let (zero, half) = (self.constant(0.0)?, self.constant(0.5)?);
        let whole = self.math(MathFn::Exp, a)?;
        let halved = self.mul(a, &half)?;
        let root = self.math(MathFn::Exp, &halved)?;
        let real = self.cmp(CmpF::OEQ, b, &zero)?;
        let (cos, sin) = (self.math(MathFn::Cos, b)?, self.math(MathFn::Sin, b)?);
        let (re, im) = (self.mul(&root, &cos)?, self.mul(&root, &sin)?);
        let (re, im) = (self.mul(&re, &root)?, self.mul(&im, &root)?);
        // Of a real number the exponential is real, also where that of the real part is infinite.
        Ok(smallvec![self.select(&real, &whole, &re)?, self.select(&real, b, &im)?])
    }

    fn log(&mut self, a: &P::Number, b: &P::Number) -> Pair<P> {
        let [large, square] = self.scaled(a, b)?;
        let half = self.constant(0.5)?;
        let (log, rest) = (self.math(MathFn::Log, &large)?, self.math(MathFn::Log1p, &square)?);
        let rest = self.mul(&rest, &half)?;
        let magnitude = self.add(&log, &rest)?;
        let (infinite, infinity) = (self.infinite(a, b)?, self.constant(f64::INFINITY)?);
        Ok(smallvec![self.select(&infinite, &infinity, &magnitude)?, self.op(NumOp::Atan2, &[b, a])?])
    }

    /// The part of the root that does not cancel, `sqrt((|z| + |a|) / 2)`, and the other one by division.
    fn sqrt(&mut self, a: &P::Number, b: &P::Number) -> Pair<P> {
        let [large, square] = self.scaled(a, b)?;
        let (zero, half, one) = (self.constant(0.0)?, self.constant(0.5)?, self.constant(1.0)?);
        let (a_abs, b_abs) = (self.math(MathFn::AbsF, a)?, self.math(MathFn::AbsF, b)?);
        let sum = self.add(&one, &square)?;
        let magnitude = self.math(MathFn::Sqrt, &sum)?;
        let share = self.div(&a_abs, &large)?;
        let sum = self.add(&magnitude, &share)?;
        let mean = self.mul(&sum, &half)?;
        let (root, scale) = (self.math(MathFn::Sqrt, &mean)?, self.math(MathFn::Sqrt, &large)?);
        let root = self.mul(&root, &scale)?;
        let twice = self.add(&root, &root)?;
        let other = self.div(&b_abs, &twice)?;
        let negative = self.cmp(CmpF::OLT, a, &zero)?;
        let (re, im) = (self.select(&negative, &other, &root)?, self.select(&negative, &root, &other)?);
        let is_zero = self.cmp(CmpF::OEQ, &large, &zero)?;
        let (re, im) = (self.select(&is_zero, &zero, &re)?, self.select(&is_zero, &zero, &im)?);
        let [re, im] = self.sqrt_of_infinity(a, &b_abs, [re, im])?;
        Ok(smallvec![re, self.op(NumOp::CopySign, &[&im, b])?])
    }

    /// Infinite where a part is: along the imaginary axis in both parts, else in that of the axis.
    fn sqrt_of_infinity(
        &mut self,
        a: &P::Number,
        b_abs: &P::Number,
        [re, im]: [P::Number; 2],
    ) -> Result<[P::Number; 2], Fault> {
        let (zero, infinity, below) =
            (self.constant(0.0)?, self.constant(f64::INFINITY)?, self.constant(f64::NEG_INFINITY)?);
        let ahead = self.cmp(CmpF::OEQ, a, &infinity)?;
        let behind = self.cmp(CmpF::OEQ, a, &below)?;
        let across = self.cmp(CmpF::OEQ, b_abs, &infinity)?;
        // A NaN beside an infinite real part stays one.
        let nothing = self.mul(b_abs, &zero)?;
        let (re, im) = (self.select(&ahead, &infinity, &re)?, self.select(&ahead, &nothing, &im)?);
        let (re, im) = (self.select(&behind, &nothing, &re)?, self.select(&behind, &infinity, &im)?);
        Ok([self.select(&across, &infinity, &re)?, self.select(&across, &infinity, &im)?])
    }

    /// Hyperbolic sine and cosine by `exp(|b|) - 1`, which does not cancel near zero.
    fn hyperbolic(&mut self, b: &P::Number) -> Result<[P::Number; 2], Fault> {
        let (one, half) = (self.constant(1.0)?, self.constant(0.5)?);
        let magnitude = self.math(MathFn::AbsF, b)?;
        let less = self.math(MathFn::ExpM1, &magnitude)?;
        let power = self.add(&less, &one)?;
        let share = self.div(&less, &power)?;
        // Of an infinite power the share is NaN, and 1 in the limit.
        let infinite = self.infinite(&power, &power)?;
        let share = self.select(&infinite, &one, &share)?;
        let reciprocal = self.div(&one, &power)?;
        let (sinh, cosh) = (self.add(&less, &share)?, self.add(&power, &reciprocal)?);
        let (sinh, cosh) = (self.mul(&sinh, &half)?, self.mul(&cosh, &half)?);
        Ok([self.op(NumOp::CopySign, &[&sinh, b])?, cosh])
    }

    fn sin(&mut self, a: &P::Number, b: &P::Number) -> Pair<P> {
        let (sin, cos) = (self.math(MathFn::Sin, a)?, self.math(MathFn::Cos, a)?);
        let [sinh, cosh] = self.hyperbolic(b)?;
        Ok(smallvec![self.mul(&sin, &cosh)?, self.mul(&cos, &sinh)?])
    }

    fn cos(&mut self, a: &P::Number, b: &P::Number) -> Pair<P> {
        let (sin, cos) = (self.math(MathFn::Sin, a)?, self.math(MathFn::Cos, a)?);
        let [sinh, cosh] = self.hyperbolic(b)?;
        let im = self.mul(&sin, &sinh)?;
        Ok(smallvec![self.mul(&cos, &cosh)?, self.neg(&im)?])
    }
}

//! The arithmetic that expansions are written in: floats of 32 or 64 bits and integers as wide; beside floats of 32 bits also
//! doubles, where 32 bits of precision are too few.

/// Predicates of `arith.cmpf` that the expansions use; all are false for NaN.
#[derive(Clone, Copy, Debug)]
pub(super) enum Cmp {
    Oeq = 1,
    Olt = 4,
    One = 6,
}

/// Operations on integers as wide as the floats; they wrap.
#[derive(Clone, Copy, Debug)]
pub(super) enum Int {
    Add,
    Sub,
    Mul,
    /// The high half of the product of unsigned integers.
    MulHigh,
    And,
    Or,
    Xor,
    Shl,
    ShrS,
    ShrU,
}

/// Operations on doubles.
#[derive(Clone, Copy, Debug)]
pub(super) enum Wide {
    Add,
    Sub,
    Mul,
    Div,
}

/// What the expansions are written in. No operation may be contracted with another: what is rounded once is a `fma`.
pub(super) trait Arith: Sized {
    /// A float, an integer or a truth value; scalar or vector.
    type V: Copy;

    /// Bits of precision of the floats: 24 or 53.
    fn digits(&self) -> u32;
    /// A float constant, rounded to the floats' precision.
    fn c(&mut self, value: f64) -> Self::V;
    /// An integer constant, of which the low bits count that the integers have.
    fn l(&mut self, value: i64) -> Self::V;
    /// A double constant.
    fn d(&mut self, value: f64) -> Self::V;
    fn add(&mut self, a: Self::V, b: Self::V) -> Self::V;
    fn sub(&mut self, a: Self::V, b: Self::V) -> Self::V;
    fn mul(&mut self, a: Self::V, b: Self::V) -> Self::V;
    fn div(&mut self, a: Self::V, b: Self::V) -> Self::V;
    /// `a * b + c`, rounded once. There is none of doubles: machines without it would need more than doubles for it.
    fn fma(&mut self, a: Self::V, b: Self::V, c: Self::V) -> Self::V;
    fn sqrt(&mut self, a: Self::V) -> Self::V;
    fn abs(&mut self, a: Self::V) -> Self::V;
    fn copysign(&mut self, a: Self::V, sign: Self::V) -> Self::V;
    fn cmp(&mut self, pred: Cmp, a: Self::V, b: Self::V) -> Self::V;
    fn wide(&mut self, op: Wide, a: Self::V, b: Self::V) -> Self::V;
    /// Whether a double is below another.
    fn wide_less(&mut self, a: Self::V, b: Self::V) -> Self::V;
    /// Whether two integers are equal.
    fn same(&mut self, a: Self::V, b: Self::V) -> Self::V;
    /// Whether an integer is below another, both unsigned.
    fn below(&mut self, a: Self::V, b: Self::V) -> Self::V;
    fn select(&mut self, cond: Self::V, a: Self::V, b: Self::V) -> Self::V;
    /// Both of two truth values.
    fn both(&mut self, a: Self::V, b: Self::V) -> Self::V;
    /// The bits of a float.
    fn bits(&mut self, a: Self::V) -> Self::V;
    /// The float of these bits.
    fn of_bits(&mut self, a: Self::V) -> Self::V;
    fn int(&mut self, op: Int, a: Self::V, b: Self::V) -> Self::V;
    /// A signed integer as float.
    fn to_float(&mut self, a: Self::V) -> Self::V;
    /// A 32-bit float as double.
    fn widen(&mut self, a: Self::V) -> Self::V;
    /// A double rounded to a 32-bit float.
    fn narrow(&mut self, a: Self::V) -> Self::V;
    /// Whether [`Self::scale`] may be called: the machine has an instruction for it.
    fn scales(&self) -> bool;
    /// `a * 2^n` for an integral float `n`, rounded once, denormal results included.
    fn scale(&mut self, a: Self::V, n: Self::V) -> Self::V;
    /// `usual` where `cond` holds and what `rare` computes elsewhere: floats and integers. What is rare is computed, for all
    /// lanes, only when a lane needs it.
    fn rarely<const N: usize>(
        &mut self,
        cond: Self::V,
        usual: [Self::V; N],
        rare: impl FnOnce(&mut Self) -> [Self::V; N],
    ) -> [Self::V; N];

    /// A float constant.
    fn f(&mut self, value: f32) -> Self::V {
        self.c(value.into())
    }

    /// An integer constant.
    fn i(&mut self, value: i32) -> Self::V {
        self.l(value.into())
    }

    /// From here on floats are integers.
    fn whole(&mut self) -> Self::V {
        let digits = self.digits();
        self.c((1u64 << (digits - 1)) as f64)
    }

    /// An integer operation with a constant.
    fn int_with(&mut self, op: Int, a: Self::V, b: i32) -> Self::V {
        let b = self.i(b);
        self.int(op, a, b)
    }

    /// `a` limited to `[low, high]`; NaN stays NaN. Written so that x86 does each side in one instruction.
    fn clamp(&mut self, a: Self::V, low: f32, high: f32) -> Self::V {
        let a = self.at_least(a, low);
        self.at_most(a, high)
    }

    /// `a`, but at least `limit`; NaN stays NaN.
    fn at_least(&mut self, a: Self::V, limit: f32) -> Self::V {
        let limit = self.f(limit);
        let below = self.cmp(Cmp::Olt, a, limit);
        self.select(below, limit, a)
    }

    /// `a`, but at most `limit`; NaN stays NaN.
    fn at_most(&mut self, a: Self::V, limit: f32) -> Self::V {
        let limit = self.f(limit);
        let above = self.cmp(Cmp::Olt, limit, a);
        self.select(above, limit, a)
    }

    /// `c[0] * x^(n-1) + … + c[n-1]`, by Horner's rule with fused steps: the fewest instructions, and loops over vectors
    /// overlap their latency.
    fn polynomial(&mut self, x: Self::V, coefficients: &[f32]) -> Self::V {
        let mut sum = self.f(coefficients[0]);
        for c in &coefficients[1..] {
            let c = self.f(*c);
            sum = self.fma(sum, x, c);
        }
        sum
    }

    /// The same with coefficients of doubles.
    fn series(&mut self, x: Self::V, coefficients: &[f64]) -> Self::V {
        let mut sum = self.c(coefficients[0]);
        for c in &coefficients[1..] {
            let c = self.c(*c);
            sum = self.fma(sum, x, c);
        }
        sum
    }

    /// The same beside floats of 32 bits, each step rounded twice.
    fn polynomial_wide(&mut self, x: Self::V, coefficients: &[f64]) -> Self::V {
        let mut sum = self.d(coefficients[0]);
        for c in &coefficients[1..] {
            let (product, c) = (self.wide(Wide::Mul, sum, x), self.d(*c));
            sum = self.wide(Wide::Add, product, c);
        }
        sum
    }
}

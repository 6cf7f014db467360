//! Logarithms of sums of exponentials.

use sutura_ir::Value;

use super::super::combine::Combiner;
use super::{Built, GraphBuilder};

impl GraphBuilder<'_, '_> {
    /// `log(sum(exp(x)))` along `axes`, shifted by the maximum where that is finite; the axes stay with size 1 if `keep`.
    ///
    /// # Errors
    /// When sizes cannot be equal.
    pub fn log_sum_exp(&mut self, x: Value, axes: &[usize], keep: bool) -> Built {
        let elem = self.elem(x);
        let largest = self.reduce(x, axes, keep, Combiner::Max, elem, |_, x| x);
        // Infinite maxima would give NaN as differences.
        let shift = self.map(largest, |s, max| {
            let (zero, infinity) = (s.number(0.0, s.ty(max)), s.number(f64::INFINITY, s.ty(max)));
            let size = s.abs(max);
            let infinite = s.compare(super::scalar::Comparison::Equal, size, infinity);
            s.select(infinite, zero, max)
        })?;
        let shifted = self.zip_kept(x, shift, axes, keep)?;
        let sum = self.reduce(shifted, axes, keep, Combiner::Add, elem, |s, x| s.math("math.exp", x));
        self.zip(sum, shift, |s, sum, shift| {
            let log = s.math("math.log", sum);
            s.add(log, shift)
        })
    }

    /// `x - shift`, where `shift` lacks the axes unless they are kept.
    fn zip_kept(&mut self, x: Value, shift: Value, axes: &[usize], keep: bool) -> Built {
        if keep {
            return self.zip(x, shift, |s, x, shift| s.sub(x, shift));
        }
        Ok(self.along_rows(x, &[shift], axes, |s, args| s.sub(args[0], args[1])))
    }
}

//! Functions of complex numbers. Bounds and errors are those of magnitudes.

use super::elements::{Elem, Kind};
use super::scalars::{Number, Scalars, limit, rounding};

impl Scalars<'_> {
    fn complex(&mut self, op: &str, args: &[&Number], elem: Elem, value: (f64, f64)) -> Number {
        self.op(&format!("complex.{op}"), args, elem, value)
    }

    /// A constant with parts that are exact.
    pub(crate) fn complex_constant(&mut self, [re, im]: [&str; 2], elem: Elem, bound: f64) -> Number {
        let (part, ty) = (elem.part().scalar(), elem.scalar());
        self.line(&format!("complex.constant [{re} : {part}, {im} : {part}] : {ty}"), (bound, 0.0))
    }

    /// A part or the magnitude: a float.
    pub(crate) fn of_complex(&mut self, x: &Number, elem: Elem) -> Number {
        let part = elem.part();
        match self.pick(4) {
            0 => self.complex("re", &[x], elem, (x.bound, x.error)),
            1 => self.complex("im", &[x], elem, (x.bound, x.error)),
            2 => self.complex("abs", &[x], elem, (x.bound, x.error + 4.0 * rounding(part, x.bound))),
            _ => {
                let right = self.in_right_half(x, elem);
                self.complex("angle", &[&right], elem, (1.6, right.error + 4.0 * rounding(part, 1.6)))
            }
        }
    }

    /// A complex number of a part.
    pub(crate) fn complex_of(&mut self, x: &Number, elem: Elem) -> Number {
        let part = elem.part();
        let other = self.constant("0.5", part, 0.5);
        let args = if self.pick(2) == 0 { [x, &other] } else { [&other, x] };
        self.complex("create", &args, elem, (x.bound + 0.5, x.error))
    }

    /// A complex number with parts of another type.
    pub(crate) fn between_complex(&mut self, x: &Number, from: Elem, to: Elem) -> Number {
        let parts = ["re", "im"].map(|part| {
            let number = self.complex(part, &[x], from, (x.bound, x.error));
            self.between_floats(number, from.part(), to.part())
        });
        let [re, im] = &parts;
        self.complex("create", &[re, im], to, (re.bound + im.bound, re.error + im.error))
    }

    /// `|re x| + 1 + i im x`, whose magnitude is at least 1 and whose angle is far from where functions jump.
    fn in_right_half(&mut self, x: &Number, elem: Elem) -> Number {
        let part = elem.part();
        let (re, im) =
            (self.complex("re", &[x], elem, (x.bound, x.error)), self.complex("im", &[x], elem, (x.bound, x.error)));
        let (size, one) = (self.op("math.absf", &[&re], part, (re.bound, re.error)), self.constant("1.0", part, 1.0));
        let bound = x.bound + 1.0;
        let right = self.op("arith.addf", &[&size, &one], part, (bound, x.error + rounding(part, bound)));
        self.complex("create", &[&right, &im], elem, (bound, right.error + x.error))
    }

    pub(crate) fn combine_complex(&mut self, a: &Number, b: &Number, elem: Elem) -> Number {
        let sum = a.bound + b.bound;
        match self.pick(5) {
            0 => self.complex("add", &[a, b], elem, (sum, a.error + b.error + rounding(elem, sum))),
            1 => self.complex("sub", &[a, b], elem, (sum, a.error + b.error + rounding(elem, sum))),
            2 => self.complex_product(a, b, elem),
            3 if a.is_exact() && b.is_exact() => self.select("complex.eq", a, b, elem),
            _ => {
                let divisor = self.in_right_half(b, elem);
                let error = a.error + a.bound * divisor.error + 8.0 * rounding(elem, a.bound);
                self.complex("div", &[a, &divisor], elem, (a.bound, error))
            }
        }
    }

    pub(crate) fn complex_product(&mut self, a: &Number, b: &Number, elem: Elem) -> Number {
        let bound = a.bound * b.bound;
        let error = a.error * (b.bound + b.error) + b.error * a.bound + 4.0 * rounding(elem, bound);
        self.complex("mul", &[a, b], elem, (bound, error))
    }

    pub(crate) fn change_complex(&mut self, x: Number, elem: Elem) -> Number {
        let x = self.below(x, elem, limit(elem));
        match self.pick(5) {
            0 => self.complex("neg", &[&x], elem, (x.bound, x.error)),
            1 => self.complex("conj", &[&x], elem, (x.bound, x.error)),
            2 => {
                let x = self.below(x, elem, 2.0);
                let most = x.bound.exp();
                self.complex("exp", &[&x], elem, (most, most * x.error.exp_m1() + 8.0 * rounding(elem, most)))
            }
            3 => {
                let x = self.below(x, elem, 2.0);
                let most = x.bound.cosh();
                let op = ["sin", "cos"][self.pick(2)];
                self.complex(op, &[&x], elem, (most, most * x.error.exp_m1() + 8.0 * rounding(elem, most)))
            }
            _ => {
                // Of the right half only, where neither jumps.
                let right = self.in_right_half(&x, elem);
                let (op, most) = match self.pick(2) {
                    0 => ("log", right.bound.ln() + 1.6),
                    _ => ("sqrt", right.bound.sqrt()),
                };
                self.complex(op, &[&right], elem, (most, right.error + 8.0 * rounding(elem, most)))
            }
        }
    }
}

/// A number of a type that is complex.
pub(crate) fn is_complex(elem: Elem) -> bool {
    matches!(elem.kind(), Kind::Complex(_))
}

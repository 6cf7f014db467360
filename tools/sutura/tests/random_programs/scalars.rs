//! Functions of numbers, with how large their values are and how far two right implementations may be apart.

use std::fmt::Write as _;

use sutura_interp::Random;
use sutura_interp::Scalar;

use super::complex::is_complex;
use super::elements::{Elem, Kind};

/// A number in a function: its name, a bound of its magnitude, and how far it may be from the same number of another right
/// implementation. Only floats have bounds; integers are exact.
#[derive(Clone, Debug)]
pub(crate) struct Number {
    pub(crate) name: String,
    pub(crate) bound: f64,
    pub(crate) error: f64,
}

impl Number {
    pub(crate) fn is_exact(&self) -> bool {
        self.error == 0.0
    }
}

/// The body of a function of numbers, as it is written.
pub(crate) struct Scalars<'r> {
    pub(crate) text: String,
    random: &'r mut Random,
    count: usize,
}

/// What a number is kept below, so that a sum or product of two is still a number of the type.
pub(crate) fn limit(elem: Elem) -> f64 {
    elem.most().min(8.0)
}

/// What rounding to the type may change.
pub(crate) fn rounding(elem: Elem, bound: f64) -> f64 {
    let least = Scalar::from_bits(elem.part().dtype(), 1).as_f64().unwrap_or(0.0).abs();
    (elem.epsilon() * bound).max(least)
}

impl<'r> Scalars<'r> {
    pub(crate) fn new(random: &'r mut Random) -> Self {
        Self { text: String::new(), random, count: 0 }
    }

    /// One of `count` ways.
    pub(crate) fn pick(&mut self, count: usize) -> usize {
        self.random.range(0, count as i64 - 1) as usize
    }

    pub(crate) fn line(&mut self, right: &str, (bound, error): (f64, f64)) -> Number {
        self.count += 1;
        let name = format!("%v{}", self.count);
        let _ = writeln!(self.text, "    {name} = {right}");
        Number { name, bound, error }
    }

    pub(crate) fn op(&mut self, op: &str, args: &[&Number], elem: Elem, value: (f64, f64)) -> Number {
        let names: Vec<&str> = args.iter().map(|arg| &*arg.name).collect();
        self.line(&format!("{op} {} : {}", names.join(", "), elem.scalar()), value)
    }

    pub(crate) fn constant(&mut self, text: &str, elem: Elem, bound: f64) -> Number {
        self.line(&format!("arith.constant {text} : {}", elem.scalar()), (bound, 0.0))
    }

    fn whole(&mut self, value: i64, elem: Elem) -> Number {
        if elem.scalar() == "i1" {
            return self.line(&format!("arith.constant {}", value & 1 == 1), (0.0, 0.0));
        }
        self.constant(&value.to_string(), elem, 0.0)
    }

    fn cast(&mut self, op: &str, x: &Number, from: &str, to: &str, value: (f64, f64)) -> Number {
        self.line(&format!("{op} {} : {from} to {to}", x.name), value)
    }

    /// A number halved until it is below `most`.
    pub(crate) fn below(&mut self, mut x: Number, elem: Elem, most: f64) -> Number {
        if x.bound <= most {
            return x;
        }
        let (half, op) = match is_complex(elem) {
            true => (self.complex_constant(["0.5", "0.0"], elem, 0.5), "complex.mul"),
            false => (self.constant("0.5", elem, 0.5), "arith.mulf"),
        };
        while x.bound > most {
            let (bound, error) = (x.bound / 2.0, x.error / 2.0);
            x = self.op(op, &[&x, &half], elem, (bound, error + rounding(elem, bound)));
        }
        x
    }

    /// The number as one of another type; `None` where that is not the same for all right implementations.
    pub(crate) fn convert(&mut self, x: Number, from: Elem, to: Elem) -> Option<Number> {
        if from == to {
            return Some(x);
        }
        match (from.kind(), to.kind()) {
            (Kind::Int { width: a, unsigned }, Kind::Int { width: b, .. }) => Some(match a.cmp(&b) {
                std::cmp::Ordering::Equal => x,
                std::cmp::Ordering::Greater => self.cast("arith.trunci", &x, from.scalar(), to.scalar(), (0.0, 0.0)),
                std::cmp::Ordering::Less => {
                    let op = if unsigned || a == 1 { "arith.extui" } else { "arith.extsi" };
                    self.cast(op, &x, from.scalar(), to.scalar(), (0.0, 0.0))
                }
            }),
            (Kind::Int { width, unsigned }, Kind::Float(_)) => {
                let mut x = x;
                if width > 2 {
                    let three = self.whole(3, from);
                    x = self.op("arith.andi", &[&x, &three], from, (0.0, 0.0));
                }
                let op = if unsigned || width == 1 { "arith.uitofp" } else { "arith.sitofp" };
                Some(self.cast(op, &x, from.scalar(), to.scalar(), (3.0, 0.0)))
            }
            (Kind::Float(_), Kind::Int { width, unsigned }) => {
                if !x.is_exact() || x.bound > 8.0 || width < 8 || from.is_power() {
                    return None;
                }
                let (op, x) = match unsigned {
                    true => ("arith.fptoui", self.op("math.absf", &[&x], from, (x.bound, 0.0))),
                    false => ("arith.fptosi", x),
                };
                Some(self.cast(op, &x, from.scalar(), to.scalar(), (0.0, 0.0)))
            }
            (Kind::Float(_), Kind::Float(_)) => Some(self.between_floats(x, from, to)),
            (Kind::Complex(_), Kind::Complex(_)) => Some(self.between_complex(&x, from, to)),
            (Kind::Complex(_), _) => {
                let part = self.of_complex(&x, from);
                self.convert(part, from.part(), to)
            }
            (_, Kind::Complex(_)) => {
                let part = self.convert(x, from, to.part())?;
                Some(self.complex_of(&part, to))
            }
        }
    }

    pub(crate) fn between_floats(&mut self, x: Number, from: Elem, to: Elem) -> Number {
        let f32 = Elem::named("f32");
        if from.is_power() && to != f32 || from != f32 && to != f32 && from.dtype().bits() == to.dtype().bits() {
            let wide = self.between_floats(x, from, f32);
            return self.between_floats(wide, f32, to);
        }
        if from.dtype().bits() < to.dtype().bits() {
            return self.cast("arith.extf", &x, from.scalar(), to.scalar(), (x.bound, x.error));
        }
        let x = self.below(x, from, limit(to));
        let value = (x.bound, x.error + rounding(to, x.bound));
        self.cast("arith.truncf", &x, from.scalar(), to.scalar(), value)
    }

    /// A random function of two numbers of a type.
    pub(crate) fn combine(&mut self, a: Number, b: Number, elem: Elem) -> Number {
        match elem.kind() {
            Kind::Int { width: 1, .. } => {
                let op = ["arith.andi", "arith.ori", "arith.xori"][self.pick(3)];
                self.op(op, &[&a, &b], elem, (0.0, 0.0))
            }
            Kind::Int { width, unsigned } => self.combine_integers(&a, &b, elem, (width, unsigned)),
            Kind::Float(_) => {
                let (a, b) = (self.below(a, elem, limit(elem)), self.below(b, elem, limit(elem)));
                self.combine_floats(&a, &b, elem)
            }
            Kind::Complex(_) => {
                let (a, b) = (self.below(a, elem, limit(elem)), self.below(b, elem, limit(elem)));
                self.combine_complex(&a, &b, elem)
            }
        }
    }

    fn combine_integers(&mut self, a: &Number, b: &Number, elem: Elem, (width, unsigned): (u32, bool)) -> Number {
        let sign = if unsigned { "u" } else { "s" };
        let plain = ["arith.addi", "arith.subi", "arith.muli", "arith.andi", "arith.ori", "arith.xori"];
        match self.pick(if width < 4 { 8 } else { 12 }) {
            at @ 0..6 => self.op(plain[at], &[a, b], elem, (0.0, 0.0)),
            6 => self.op(&format!("arith.max{sign}i"), &[a, b], elem, (0.0, 0.0)),
            7 => self.op(&format!("arith.min{sign}i"), &[a, b], elem, (0.0, 0.0)),
            8 => {
                let most = self.whole(i64::from(width) - 1, elem);
                let amount = self.op("arith.andi", &[b, &most], elem, (0.0, 0.0));
                let op = ["arith.shli".to_owned(), format!("arith.shr{sign}i")][self.pick(2)].clone();
                self.op(&op, &[a, &amount], elem, (0.0, 0.0))
            }
            9 | 10 => {
                let (seven, one) = (self.whole(7, elem), self.whole(1, elem));
                let low = self.op("arith.andi", &[b, &seven], elem, (0.0, 0.0));
                let divisor = self.op("arith.ori", &[&low, &one], elem, (0.0, 0.0));
                let op = [format!("arith.div{sign}i"), format!("arith.rem{sign}i")][self.pick(2)].clone();
                self.op(&op, &[a, &divisor], elem, (0.0, 0.0))
            }
            _ => {
                let predicate = ["lt", "le", "gt", "ge"][self.pick(4)];
                self.select(&format!("arith.cmpi {sign}{predicate},"), a, b, elem)
            }
        }
    }

    pub(crate) fn select(&mut self, compare: &str, a: &Number, b: &Number, elem: Elem) -> Number {
        let which = self.op(compare, &[a, b], elem, (0.0, 0.0));
        let text = format!("arith.select {}, {}, {} : {}", which.name, b.name, a.name, elem.scalar());
        self.line(&text, (a.bound.max(b.bound), a.error.max(b.error)))
    }

    fn combine_floats(&mut self, a: &Number, b: &Number, elem: Elem) -> Number {
        let sum = a.bound + b.bound;
        match self.pick(7) {
            0 => self.op("arith.addf", &[a, b], elem, (sum, a.error + b.error + rounding(elem, sum))),
            1 => self.op("arith.subf", &[a, b], elem, (sum, a.error + b.error + rounding(elem, sum))),
            2 => {
                let bound = a.bound * b.bound;
                let error = a.error * (b.bound + b.error) + b.error * a.bound;
                self.op("arith.mulf", &[a, b], elem, (bound, error + rounding(elem, bound)))
            }
            3 => self.op("arith.maximumf", &[a, b], elem, (a.bound.max(b.bound), a.error.max(b.error))),
            4 => self.op("arith.minimumf", &[a, b], elem, (a.bound.max(b.bound), a.error.max(b.error))),
            5 if a.is_exact() && b.is_exact() => self.select("arith.cmpf olt,", a, b, elem),
            _ => {
                // By what is at least 1.
                let one = self.constant("1.0", elem, 1.0);
                let size = self.op("math.absf", &[b], elem, (b.bound, b.error));
                let divisor = b.bound + 1.0;
                let below = self.op("arith.addf", &[&size, &one], elem, (divisor, b.error + rounding(elem, divisor)));
                let error = a.error + a.bound * below.error + rounding(elem, a.bound);
                self.op("arith.divf", &[a, &below], elem, (a.bound, error))
            }
        }
    }

    /// A random function of one number.
    pub(crate) fn change(&mut self, x: Number, elem: Elem) -> Number {
        if is_complex(elem) {
            return self.change_complex(x, elem);
        }
        if !elem.rounds() {
            let other = self.pick(3) as i64 + 1;
            let other = self.whole(other, elem);
            return self.combine(x, other, elem);
        }
        let x = self.below(x, elem, limit(elem));
        match self.pick(4) {
            0 => self.op("arith.negf", &[&x], elem, (x.bound, x.error)),
            1 => self.op("math.absf", &[&x], elem, (x.bound, x.error)),
            2 if elem.most() >= 8.0 => {
                let x = self.below(x, elem, 2.0);
                let most = x.bound.exp();
                let error = most * (x.error.exp_m1()) + 4.0 * rounding(elem, most);
                self.op("math.exp", &[&x], elem, (most, error))
            }
            _ => self.op("math.tanh", &[&x], elem, (1.0, x.error + 4.0 * rounding(elem, 1.0))),
        }
    }

    /// One.
    pub(crate) fn one(&mut self, elem: Elem) -> Number {
        match elem.kind() {
            Kind::Int { .. } => self.whole(1, elem),
            Kind::Float(_) => self.constant("1.0", elem, 1.0),
            Kind::Complex(_) => self.complex_constant(["1.0", "0.0"], elem, 1.0),
        }
    }

    /// A product, of numbers that are rounded one that is at most `most`.
    pub(crate) fn product(&mut self, a: Number, b: Number, elem: Elem, most: f64) -> Number {
        if !elem.rounds() {
            return self.op("arith.muli", &[&a, &b], elem, (0.0, 0.0));
        }
        let (a, b) = (self.below(a, elem, limit(elem)), self.below(b, elem, limit(elem)));
        let product = match is_complex(elem) {
            true => self.complex_product(&a, &b, elem),
            false => {
                let bound = a.bound * b.bound;
                let error = a.error * (b.bound + b.error) + b.error * a.bound + rounding(elem, bound);
                self.op("arith.mulf", &[&a, &b], elem, (bound, error))
            }
        };
        self.below(product, elem, most)
    }
}

//! Remainders: what is known of sizes beside that they are multiples. `T = S + 1`, where `T` is a multiple of 4, says of `S` that it
//! leaves 3 when it is divided by 4.

use super::Facts;
use crate::r#dyn::poly::{Atom, Poly, gcd};

/// All `remainder + k * modulus`; where the modulus is 0, one number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Residue {
    /// Not negative.
    pub modulus: i128,
    /// In `[0, modulus)`, unless that is 0.
    pub remainder: i128,
}

impl Residue {
    /// Any number.
    const ANY: Self = Self { modulus: 1, remainder: 0 };

    /// One number.
    fn exactly(number: i128) -> Self {
        Self { modulus: 0, remainder: number }
    }

    fn new(modulus: i128, remainder: i128) -> Self {
        let modulus = modulus.saturating_abs();
        Self { modulus, remainder: if modulus == 0 { remainder } else { remainder.rem_euclid(modulus) } }
    }

    /// Of a sum.
    fn plus(self, other: Self) -> Self {
        let Some(sum) = self.remainder.checked_add(other.remainder) else { return Self::ANY };
        Self::new(gcd(self.modulus, other.modulus), sum)
    }

    /// Of a product.
    fn times(self, other: Self) -> Self {
        let product = |a: i128, b: i128| a.checked_mul(b);
        let parts = || {
            let left = product(self.modulus, other.remainder)?;
            let (right, both) = (product(other.modulus, self.remainder)?, product(self.modulus, other.modulus)?);
            Some(Self::new(gcd(gcd(left, right), both), product(self.remainder, other.remainder)?))
        };
        parts().unwrap_or(Self::ANY)
    }

    /// Of what is one of two.
    fn either(self, other: Self) -> Self {
        let apart = self.remainder.checked_sub(other.remainder).unwrap_or(1);
        Self::new(gcd(gcd(self.modulus, other.modulus), apart), self.remainder)
    }

    /// What has both; `None` where nothing has.
    pub(super) fn and(self, other: Self) -> Option<Self> {
        match (self.modulus, other.modulus) {
            (0, _) => other.holds(self.remainder).then_some(self),
            (_, 0) => self.holds(other.remainder).then_some(other),
            (a, b) => {
                let common = gcd(a, b);
                let apart = other.remainder - self.remainder;
                if apart % common != 0 {
                    return None;
                }
                // Too large a modulus is none that helps.
                let Some(modulus) = (a / common).checked_mul(b).filter(|m| *m < 1 << 62) else { return Some(self) };
                let steps = (apart / common).rem_euclid(b / common) * inverse(a / common, b / common);
                Some(Self::new(modulus, self.remainder + a * steps.rem_euclid(b / common)))
            }
        }
    }

    /// Whether a number is among them.
    pub(super) fn holds(self, number: i128) -> bool {
        if self.modulus == 0 { number == self.remainder } else { number.rem_euclid(self.modulus) == self.remainder }
    }

    /// What remains when they are divided by a number, if that is always the same.
    pub fn by(self, divisor: i64) -> Option<i64> {
        let divisor = i128::from(divisor);
        (self.modulus % divisor == 0).then(|| self.remainder.rem_euclid(divisor) as i64)
    }

    /// All `x` for which `factor * x + constant` is among them; `None` where there is none.
    pub(super) fn of_linear(self, factor: i64, constant: i64) -> Option<Self> {
        let (factor, rest) = (i128::from(factor), self.remainder - i128::from(constant));
        if self.modulus == 0 {
            return (rest % factor == 0).then(|| Self::exactly(rest / factor));
        }
        let common = gcd(factor, self.modulus);
        if rest % common != 0 {
            return None;
        }
        let modulus = self.modulus / common;
        let solution = (rest / common).rem_euclid(modulus) * inverse(factor / common, modulus);
        Some(Self::new(modulus, solution))
    }
}

/// What a number is multiplied by to leave 1 when divided by `modulus`, to which it is coprime.
fn inverse(number: i128, modulus: i128) -> i128 {
    let (mut a, mut b) = (number.rem_euclid(modulus), modulus);
    let (mut x, mut y) = (1, 0);
    while b != 0 {
        let quotient = a / b;
        (a, b) = (b, a - quotient * b);
        (x, y) = (y, x - quotient * y);
    }
    x.rem_euclid(modulus)
}

impl Facts {
    /// What is known of the remainders of a symbol.
    pub fn residue_of(&self, name: &str) -> Residue {
        let divided = Residue::new(self.info(name).div.into(), 0);
        self.residues.get(name).and_then(|known| known.and(divided)).unwrap_or(divided)
    }

    /// States that a symbol leaves a remainder; false where it then has no value. Multiples are in what is known of the symbol.
    pub(super) fn leave(&mut self, name: &str, residue: Residue) -> bool {
        let Some(both) = self.residue_of(name).and(residue) else { return false };
        let info = self.info(name);
        let first = match both.modulus {
            0 => both.remainder,
            modulus => i128::from(info.min) + (both.remainder - i128::from(info.min)).rem_euclid(modulus),
        };
        if first < info.min.into() || first > info.max.into() {
            return false;
        }
        if both.remainder != 0 && both.modulus != 1 {
            self.residues.insert(name.into(), both);
            self.memo.clear();
        }
        true
    }

    /// What is known of the remainders of a size.
    pub fn residue(&self, size: &Poly) -> Residue {
        size.terms().fold(Residue::exactly(0), |sum, (atoms, c)| {
            let factors = atoms.iter().map(|atom| self.residue_of_atom(atom));
            sum.plus(factors.fold(Residue::exactly(c), Residue::times))
        })
    }

    fn residue_of_atom(&self, atom: &Atom) -> Residue {
        match atom {
            Atom::Symbol(name) => self.residue_of(name),
            Atom::FloorDiv(..) => Residue::ANY,
            Atom::Min(a, b) => self.residue(a).either(self.residue(b)),
        }
    }

    /// Floors of sizes whose remainder is known: `4 * ((S + 1) floordiv 4)` is `S + 1` where `S` leaves 3, and `S floordiv 4` is
    /// written by what it divides exactly.
    pub(super) fn without_known_floors(&self, size: &Poly) -> Poly {
        if self.residues.is_empty() || size.depth() == 0 {
            return size.clone();
        }
        let mut sum = Poly::default();
        for (atoms, c) in size.terms() {
            let (mut factor, mut product) = (c, Poly::constant(1));
            for atom in atoms {
                let value = match atom {
                    Atom::Symbol(name) => Poly::symbol(name),
                    Atom::Min(a, b) => self.without_known_floors(a).lesser(&self.without_known_floors(b)),
                    Atom::FloorDiv(inner, divisor) => {
                        let inner = self.without_known_floors(inner);
                        match self.residue(&inner).by(*divisor) {
                            Some(rest) if factor % i128::from(*divisor) == 0 => {
                                factor /= i128::from(*divisor);
                                inner.sub(&Poly::constant(rest))
                            }
                            Some(rest) => inner.sub(&Poly::constant(rest)).floordiv(*divisor),
                            None => inner.floordiv(*divisor),
                        }
                    }
                };
                product = product.mul(&value);
            }
            sum = sum.add(&product.mul(&Poly::of_term(Vec::new(), factor)));
        }
        if sum.excess().is_some() { size.clone() } else { sum }
    }
}

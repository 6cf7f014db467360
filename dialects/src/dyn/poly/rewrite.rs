//! Values of sizes, and sizes with parts replaced. What nothing is replaced in stays shared.

use super::arith::collect;
use super::limits::{MAX_PRODUCTS, MAX_WEIGHT};
use super::{Atom, Excess, Monomial, Poly};

impl Poly {
    /// Value for the given values of symbols; `None` when one is missing or the value does not fit 64 bits.
    pub fn eval(&self, value_of: &dyn Fn(&str) -> Option<i64>) -> Option<i64> {
        if self.is_anonymous() {
            return None;
        }
        let mut sum: i128 = 0;
        for (atoms, c) in self.terms() {
            let mut product = c;
            for atom in atoms {
                let value = match atom {
                    Atom::Symbol(name) => value_of(name)?,
                    Atom::FloorDiv(inner, divisor) => inner.eval(value_of)?.div_euclid(*divisor),
                    Atom::Min(a, b) => a.eval(value_of)?.min(b.eval(value_of)?),
                };
                product = product.checked_mul(value.into())?;
            }
            sum = sum.checked_add(product)?;
        }
        i64::try_from(sum).ok()
    }

    /// The polynomial with the factors replaced for which `replace` gives something else.
    fn map_atoms(&self, replace: &dyn Fn(&Atom) -> Option<Self>) -> Self {
        let mut terms: Vec<(Monomial, i128)> = Vec::new();
        let mut changed = false;
        for (at, term) in self.list().iter().enumerate() {
            let found: Vec<Option<Self>> = term.atoms.iter().map(replace).collect();
            if found.iter().all(Option::is_none) {
                if changed {
                    terms.push((term.atoms.clone(), term.coefficient.into()));
                }
                continue;
            }
            if !changed {
                terms.extend(self.list()[..at].iter().map(|t| (t.atoms.clone(), t.coefficient.into())));
                changed = true;
            }
            let kept = term.atoms.iter().zip(&found).filter(|(_, found)| found.is_none()).map(|(atom, _)| atom.clone());
            let kept = Self::single(Monomial::of_sorted(kept.collect()), term.coefficient);
            let product = found.iter().flatten().fold(kept, |product, value| product.mul(value));
            terms.extend(product.list().iter().map(|t| (t.atoms.clone(), t.coefficient.into())));
            if terms.len() > MAX_PRODUCTS {
                let sum = collect(terms);
                if sum.list().len() > MAX_WEIGHT as usize / 2 {
                    return Self::beyond(Excess::Weight);
                }
                terms = sum.list().iter().map(|t| (t.atoms.clone(), t.coefficient.into())).collect();
            }
        }
        if changed { collect(terms) } else { self.clone() }
    }

    /// The polynomial with symbols replaced by what `replace` gives for them.
    #[must_use]
    pub fn substitute(&self, replace: &dyn Fn(&str) -> Option<Self>) -> Self {
        self.map_atoms(&|atom| match atom {
            Atom::Symbol(name) => replace(name),
            Atom::FloorDiv(inner, divisor) => {
                let value = inner.substitute(replace);
                (!value.is_same(inner)).then(|| value.floordiv(*divisor))
            }
            Atom::Min(a, b) => {
                let (x, y) = (a.substitute(replace), b.substitute(replace));
                (!x.is_same(a) || !y.is_same(b)).then(|| x.lesser(&y))
            }
        })
    }

    /// The polynomial with each atom that is the lesser of two replaced by what `replace` gives for it, innermost first.
    #[must_use]
    pub(crate) fn substitute_min(&self, replace: &dyn Fn(&Self, &Self) -> Option<Self>) -> Self {
        if !self.has_min() {
            return self.clone();
        }
        self.map_atoms(&|atom| match atom {
            Atom::Symbol(_) => None,
            Atom::FloorDiv(inner, divisor) => {
                let value = inner.substitute_min(replace);
                (!value.is_same(inner)).then(|| value.floordiv(*divisor))
            }
            Atom::Min(a, b) => {
                let (x, y) = (a.substitute_min(replace), b.substitute_min(replace));
                let same = x.is_same(a) && y.is_same(b);
                replace(&x, &y).or_else(|| (!same).then(|| x.lesser(&y)))
            }
        })
    }

    /// Where `self = 0` says that the lesser of two sizes is one of them: the other one less that one, which is at least 0.
    pub fn ordered(&self) -> Option<Self> {
        let atom @ Atom::Min(a, b) = self.mins().next()? else { return None };
        let without = self.replace_factor(atom, &Self::default());
        let held = self.sub(&without);
        let value = match held {
            _ if held == Self::of_term(vec![atom.clone()], 1) => without.scale(-1),
            _ if held == Self::of_term(vec![atom.clone()], -1) => without,
            _ => return None,
        };
        match () {
            () if value == *a => Some(b.sub(a)),
            () if value == *b => Some(a.sub(b)),
            () => None,
        }
    }

    /// The polynomial with one atom, as factor of terms, replaced by `value`.
    #[must_use]
    pub(crate) fn replace_factor(&self, atom: &Atom, value: &Self) -> Self {
        self.map_atoms(&|held| (held == atom).then(|| value.clone()))
    }
}

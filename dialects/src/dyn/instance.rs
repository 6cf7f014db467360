//! What the symbols of a callable stand for where it is called.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::poly::{Atom, Poly};

/// Sizes of the caller in the place of the callable's symbols. The two may have the same names and mean different things.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Instance {
    values: FxHashMap<Arc<str>, Poly>,
}

impl Instance {
    /// What follows from `pairs`, each a size of the callable and the caller's that it is, and from `zeros`, sizes of the
    /// callable that are 0. Symbols that are a size by themselves are taken as they are found first; others are solved where
    /// they stand once, times a constant.
    pub fn of(pairs: &[(&Poly, &Poly)], zeros: &[Poly]) -> Self {
        let mut instance = Self::default();
        for (formal, actual) in pairs {
            if let Some(name) = formal.as_symbol() {
                instance.values.entry(name.into()).or_insert_with(|| (*actual).clone());
            }
        }
        let none = Poly::default();
        let zeros = zeros.iter().map(|zero| (zero, &none));
        let mut open: Vec<(&Poly, &Poly)> = pairs.iter().copied().chain(zeros).collect();
        loop {
            let before = instance.values.len();
            open.retain(|(formal, actual)| !instance.solve(formal, actual));
            if instance.values.len() == before {
                return instance;
            }
        }
    }

    /// Solves `formal = actual` for its one symbol without a value. True when nothing more is to be learnt from it.
    fn solve(&mut self, formal: &Poly, actual: &Poly) -> bool {
        let mut symbols = formal.symbols().into_iter().filter(|name| !self.values.contains_key(name));
        let (name, None) = (symbols.next(), symbols.next()) else { return false };
        let Some(name) = name else { return true };
        let mut factor = None;
        for (atoms, coefficient) in formal.terms().filter(|(atoms, _)| atoms.iter().any(|atom| atom.mentions(&name))) {
            match (atoms, i64::try_from(coefficient)) {
                ([Atom::Symbol(_)], Ok(c)) if factor.is_none() => factor = Some(c),
                _ => return false,
            }
        }
        let Some(factor) = factor else { return false };
        let rest = formal.sub(&Poly::symbol(&name).scale(factor));
        let Some(rest) = self.size(&rest) else { return false };
        let Some(value) = actual.sub(&rest).divide_exact(&Poly::constant(factor)) else { return false };
        self.values.insert(name, value);
        true
    }

    /// A size of the callable as the caller's; `None` where it depends on a symbol that has no value here.
    pub fn size(&self, formal: &Poly) -> Option<Poly> {
        let known = formal.symbols().iter().all(|name| self.values.contains_key(name));
        known.then(|| formal.substitute(&|name| self.values.get(name).cloned()))
    }

    /// Gives a symbol of the callable a value, where it has none.
    pub fn define(&mut self, name: &str, value: Poly) {
        self.values.entry(name.into()).or_insert(value);
    }

    /// What a symbol of the callable stands for.
    pub fn symbol(&self, name: &str) -> Option<&Poly> {
        self.values.get(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn poly(text: &str) -> Poly {
        Poly::parse(text).unwrap()
    }

    /// Names mean different things on the two sides.
    #[test]
    fn symbols_are_solved() {
        let (n, twice, sum) = (poly("N"), poly("2*M"), poly("N + 3*K - 1"));
        let (a, b, c) = (poly("M + 1"), poly("4*N"), poly("M + 6*N"));
        let found = Instance::of(&[(&n, &a), (&twice, &b), (&sum, &c)], &[poly("T - N*M")]);
        assert_eq!(found.size(&poly("N + M")), Some(poly("M + 1 + 2*N")));
        assert_eq!(found.symbol("K"), Some(&poly("2*N")));
        assert_eq!(found.symbol("T"), Some(&poly("2*N*M + 2*N")));
        assert_eq!(found.size(&poly("N*X")), None);
        assert_eq!(found.size(&poly("7")), Some(poly("7")));
    }

    /// What is no multiple, no constant times a symbol, or has two unknowns, tells nothing.
    #[test]
    fn what_is_not_solved() {
        let (odd, square, both) = (poly("2*N"), poly("M*M"), poly("X + Y"));
        let a = poly("2*N + 1");
        let found = Instance::of(&[(&odd, &a), (&square, &a), (&both, &a)], &[]);
        assert_eq!(found, Instance::default());
    }
}

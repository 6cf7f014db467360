//! What is known of symbols: ranges, divisibility, likely values, equalities.

use std::sync::Arc;

use indexmap::IndexMap;

use super::poly::{Atom, Poly};

/// Upper bound of a dimension about which nothing is stated.
pub const MAX_DIM: i64 = (1 << 31) - 1;

/// What is known of one symbol.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct SymbolInfo {
    /// Smallest value.
    pub min: i64,
    /// Largest value.
    pub max: i64,
    /// Every value is a multiple of this.
    pub div: i64,
    /// Values to expect, most likely first.
    pub likely: Vec<i64>,
}

impl Default for SymbolInfo {
    fn default() -> Self {
        Self { min: 0, max: MAX_DIM, div: 1, likely: Vec::new() }
    }
}

/// Symbols and equalities of one function, kernel or program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Facts {
    symbols: IndexMap<Arc<str>, SymbolInfo>,
    /// Rewrites of a symbol into others: the solved equalities.
    solved: IndexMap<Arc<str>, Poly>,
    /// Equalities that no symbol could be solved from, as polynomials that are zero.
    zero: Vec<Poly>,
}

/// An equality cannot hold.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Contradiction {
    /// Left-hand side after simplification.
    pub lhs: Poly,
    /// Right-hand side after simplification.
    pub rhs: Poly,
}

impl std::fmt::Display for Contradiction {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} and {} cannot be equal", self.lhs, self.rhs)
    }
}
impl std::error::Error for Contradiction {}

impl Facts {
    /// No symbols.
    pub fn new() -> Self {
        Self::default()
    }

    /// States what is known of a symbol; a second statement replaces the first.
    pub fn define(&mut self, name: &str, info: SymbolInfo) {
        self.symbols.insert(name.into(), info);
    }

    /// Symbols in the order in which they were defined.
    pub fn symbols(&self) -> impl Iterator<Item = (&Arc<str>, &SymbolInfo)> {
        self.symbols.iter()
    }

    /// What is known of a symbol; the default for one that was not defined.
    pub fn info(&self, name: &str) -> SymbolInfo {
        self.symbols.get(name).cloned().unwrap_or_default()
    }

    /// States that two sizes are equal.
    ///
    /// # Errors
    /// When that contradicts what is known.
    pub fn assume_equal(&mut self, a: &Poly, b: &Poly) -> Result<(), Contradiction> {
        let (lhs, rhs) = (self.canonical(a), self.canonical(b));
        let difference = lhs.sub(&rhs);
        if difference.is_zero() {
            return Ok(());
        }
        let (low, high) = self.range(&difference);
        if low > 0 || high < 0 {
            return Err(Contradiction { lhs, rhs });
        }
        // What all terms share says nothing; a constant that does not share it never makes zero.
        let Some(difference) = without_common_factor(&difference) else { return Err(Contradiction { lhs, rhs }) };
        match self.solve(&difference) {
            Some((name, value)) => {
                // A symbol that turns out to be a number must be able to be that number.
                let info = self.info(&name);
                if value.as_const().is_some_and(|v| v < info.min || v > info.max || v % info.div != 0) {
                    return Err(Contradiction { lhs, rhs });
                }
                self.bind(name, value);
            }
            None => self.zero.push(difference),
        }
        Ok(())
    }

    /// A symbol that occurs in `zero` once, alone and with coefficient one or minus one, and what it equals. The
    /// symbol defined last is taken, so that the model's own names survive.
    fn solve(&self, zero: &Poly) -> Option<(Arc<str>, Poly)> {
        let rank = |name: &Arc<str>| self.symbols.get_index_of(name).map_or(usize::MAX, |i| i);
        let mut best: Option<(Arc<str>, i128)> = None;
        for (atoms, c) in zero.terms() {
            let [Atom::Symbol(name)] = atoms else { continue };
            let alone = zero.terms().filter(|(a, _)| mentions(a, name)).count() == 1;
            if c.abs() == 1 && alone && best.as_ref().is_none_or(|(b, _)| rank(name) > rank(b)) {
                best = Some((name.clone(), c));
            }
        }
        let (name, c) = best?;
        let rest = zero.sub(&Poly::symbol(&name).scale(c as i64));
        Some((name, rest.scale(-(c as i64))))
    }

    fn bind(&mut self, name: Arc<str>, value: Poly) {
        let replace = |n: &str| (n == &*name).then(|| value.clone());
        for solved in self.solved.values_mut() {
            *solved = solved.substitute(&replace);
        }
        let zero = std::mem::take(&mut self.zero);
        self.zero = zero.into_iter().map(|p| p.substitute(&replace)).filter(|p| !p.is_zero()).collect();
        self.narrow(&name, &value);
        self.solved.insert(name, value);
    }

    /// A symbol that equals another shares its range and divisibility.
    fn narrow(&mut self, name: &str, value: &Poly) {
        let Some(other) = value.as_symbol() else { return };
        let (a, mut b) = (self.info(name), self.info(other));
        b.min = b.min.max(a.min);
        b.max = b.max.min(a.max);
        b.div = lcm(a.div, b.div);
        b.likely.extend(a.likely.iter().filter(|v| !b.likely.contains(v)).copied().collect::<Vec<_>>());
        self.symbols.insert(other.into(), b);
    }

    /// The size with every solved symbol replaced.
    pub fn canonical(&self, poly: &Poly) -> Poly {
        poly.substitute(&|name| self.solved.get(name).cloned())
    }

    /// Symbols that equal something else, with what they equal.
    pub fn solved(&self) -> impl Iterator<Item = (&Arc<str>, &Poly)> {
        self.solved.iter()
    }

    /// True when the two sizes are equal for all values of the symbols. False means unknown.
    pub fn prove_equal(&self, a: &Poly, b: &Poly) -> bool {
        let difference = self.canonical(&a.sub(b));
        difference.is_zero() || self.zero.iter().any(|z| is_multiple(&difference, z))
    }

    /// True when `a` is at most `b` for all values of the symbols. False means unknown.
    pub fn prove_le(&self, a: &Poly, b: &Poly) -> bool {
        self.range(&b.sub(a)).0 >= 0
    }

    /// True when `poly` is at least zero for all values of the symbols. False means unknown.
    ///
    /// Beyond [`Facts::range`] it relates a floor to what it divides: `p - (k - 1) <= k * (p floordiv k) <= p`.
    pub fn prove_non_negative(&self, poly: &Poly) -> bool {
        let mut poly = self.canonical(poly);
        // Each turn takes one floor out, or ends.
        const MOST_FLOORS: usize = 8;
        for _ in 0..MOST_FLOORS {
            if self.range(&poly).0 >= 0 {
                return true;
            }
            match self.without_floor(&poly) {
                Some(relaxed) => poly = relaxed,
                None => return false,
            }
        }
        self.range(&poly).0 >= 0
    }

    /// A multiple of something not above `poly`, in which one floor is replaced by what it divides.
    fn without_floor(&self, poly: &Poly) -> Option<Poly> {
        let floors = poly.terms().flat_map(|(atoms, _)| atoms).filter_map(|a| match a {
            Atom::FloorDiv(inner, divisor) => Some((a.clone(), inner.clone(), *divisor)),
            Atom::Symbol(_) => None,
        });
        // One that divides others comes first: in its place they may cancel.
        let floor = floors.max_by_key(|(a, ..)| depth(a));
        let (floor, inner, divisor) = floor?;
        let mut relaxed = Poly::default();
        for (atoms, c) in poly.terms() {
            let mut rest: Vec<Atom> = atoms.to_vec();
            let Some(at) = rest.iter().position(|a| *a == floor) else {
                relaxed = relaxed.add(&Poly::of_term(atoms.to_vec(), c.checked_mul(divisor.into())?));
                continue;
            };
            rest.remove(at);
            let factor = Poly::of_term(rest, c);
            let (low, high) = self.range(&factor);
            let bound = match (low >= 0, high <= 0) {
                (true, _) => inner.sub(&Poly::constant(divisor - 1)),
                (_, true) => Poly::clone(&inner),
                _ => return None,
            };
            relaxed = relaxed.add(&factor.mul(&bound));
        }
        Some(relaxed)
    }

    /// Smallest and largest value, as far as ranges of symbols tell.
    pub fn range(&self, poly: &Poly) -> (i128, i128) {
        let poly = self.canonical(poly);
        let mut sum = (0i128, 0i128);
        for (atoms, c) in poly.terms() {
            let mut product = (c, c);
            for atom in atoms {
                product = mul_ranges(product, self.atom_range(atom));
            }
            sum = (sum.0.saturating_add(product.0), sum.1.saturating_add(product.1));
        }
        sum
    }

    fn atom_range(&self, atom: &Atom) -> (i128, i128) {
        match atom {
            Atom::Symbol(name) => {
                let info = self.info(name);
                (info.min.into(), info.max.into())
            }
            Atom::FloorDiv(inner, divisor) => {
                let (low, high) = self.range(inner);
                (low.div_euclid((*divisor).into()), high.div_euclid((*divisor).into()))
            }
        }
    }

    /// True when every value is a multiple of `divisor`. False means unknown.
    pub fn divisible(&self, poly: &Poly, divisor: i64) -> bool {
        self.canonical(poly).terms().all(|(atoms, c)| {
            let mut known = c;
            for atom in atoms {
                if let Atom::Symbol(name) = atom {
                    known = known.saturating_mul(self.info(name).div.into());
                }
            }
            known % i128::from(divisor) == 0
        })
    }
}

/// How many floors an atom has within one another.
fn depth(atom: &Atom) -> usize {
    match atom {
        Atom::Symbol(_) => 0,
        Atom::FloorDiv(inner, _) => 1 + inner.terms().flat_map(|(atoms, _)| atoms).map(depth).max().unwrap_or(0),
    }
}

/// The polynomial divided by the greatest number that divides the coefficients of its symbols; `None` when that does
/// not divide the constant.
fn without_common_factor(poly: &Poly) -> Option<Poly> {
    let mut factor = 0i128;
    for (_, c) in poly.terms().filter(|(atoms, _)| !atoms.is_empty()) {
        let (mut a, mut b) = (factor, c.abs());
        while b != 0 {
            (a, b) = (b, a % b);
        }
        factor = a;
    }
    match i64::try_from(factor) {
        Ok(factor @ 2..) => poly.divide_exact(&Poly::constant(factor)),
        _ => Some(poly.clone()),
    }
}

fn mentions(atoms: &[Atom], name: &str) -> bool {
    atoms.iter().any(|a| match a {
        Atom::Symbol(n) => &**n == name,
        Atom::FloorDiv(inner, _) => inner.symbols().contains(name),
    })
}

fn is_multiple(poly: &Poly, of: &Poly) -> bool {
    let (Some((atoms, c)), Some((of_atoms, of_c))) = (poly.terms().next(), of.terms().next()) else { return false };
    if c % of_c != 0 {
        return false;
    }
    // The factor, if there is one, is what turns the first term of one into that of the other.
    let mut factor = Poly::constant(i64::try_from(c / of_c).unwrap_or(0));
    let mut rest: Vec<&Atom> = atoms.iter().collect();
    for atom in of_atoms {
        match rest.iter().position(|a| *a == atom) {
            Some(at) => rest.remove(at),
            None => return false,
        };
    }
    for atom in rest {
        match atom {
            Atom::Symbol(name) => factor = factor.mul(&Poly::symbol(name)),
            Atom::FloorDiv(..) => return false,
        }
    }
    of.mul(&factor) == *poly
}

fn mul_ranges(a: (i128, i128), b: (i128, i128)) -> (i128, i128) {
    let products = [a.0.saturating_mul(b.0), a.0.saturating_mul(b.1), a.1.saturating_mul(b.0), a.1.saturating_mul(b.1)];
    (products.into_iter().min().unwrap_or(0), products.into_iter().max().unwrap_or(0))
}

fn lcm(a: i64, b: i64) -> i64 {
    let (mut x, mut y) = (a.max(1), b.max(1));
    while y != 0 {
        (x, y) = (y, x % y);
    }
    (a.max(1) / x).saturating_mul(b.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn p(text: &str) -> Poly {
        Poly::parse(text).unwrap()
    }

    fn facts(names: &[&str]) -> Facts {
        let mut facts = Facts::new();
        names.iter().for_each(|n| facts.define(n, SymbolInfo { min: 1, ..SymbolInfo::default() }));
        facts
    }

    #[test]
    fn solves_for_the_newer_symbol() {
        let mut f = facts(&["B", "S", "t"]);
        f.assume_equal(&p("4*S"), &p("t + S")).unwrap();
        assert_eq!(f.canonical(&p("t")), p("3*S"));
        assert!(f.prove_equal(&p("B*t"), &p("3*B*S")));
        assert!(!f.prove_equal(&p("t"), &p("S")));
    }

    #[test]
    fn floors_are_close_to_what_they_divide() {
        let f = facts(&["N"]);
        let last = p("16*((N + 15) floordiv 16) - 16");
        assert!(f.prove_non_negative(&p("N - 1").sub(&last)), "the last tile begins inside");
        assert!(f.prove_non_negative(&last.add(&p("16 - N"))), "and ends at or beyond the end");
        assert!(!f.prove_non_negative(&p("N - 2").sub(&last)));
        assert!(!f.prove_non_negative(&last.add(&p("15 - N"))));
        let half = p("(N + 1) floordiv 2");
        assert!(f.prove_non_negative(&half.ceildiv(64).scale(64).sub(&half)), "tiles of a half cover it");
        assert!(f.prove_non_negative(&half.sub(&half.floordiv(2).scale(2))), "half of the half, twice, lies inside");
    }

    #[test]
    fn common_factors_cancel() {
        let mut f = facts(&["B", "S", "T"]);
        f.assume_equal(&p("4*B"), &p("8")).unwrap();
        f.assume_equal(&p("6*S"), &p("6*T + 12")).unwrap();
        assert_eq!((f.canonical(&p("B")), f.canonical(&p("T"))), (p("2"), p("S - 2")));
    }

    #[test]
    fn keeps_product_equalities() {
        let mut f = facts(&["A", "B", "C", "D"]);
        f.assume_equal(&p("A*B"), &p("C*D")).unwrap();
        assert!(f.prove_equal(&p("A*B"), &p("C*D")));
        assert!(f.prove_equal(&p("2*A*B*A"), &p("2*C*D*A")));
        assert!(!f.prove_equal(&p("A"), &p("C")));
    }

    #[test]
    fn finds_contradictions() {
        let mut f = facts(&["B"]);
        assert!(f.assume_equal(&p("4"), &p("5")).is_err());
        assert!(f.assume_equal(&p("B"), &p("0")).is_err());
        f.assume_equal(&p("B"), &p("7")).unwrap();
        assert!(f.assume_equal(&p("B"), &p("8")).is_err());
        let mut f = Facts::new();
        f.define("N", SymbolInfo { min: 8, max: 64, div: 8, likely: vec![] });
        for (a, b) in [("4*N", "4*M + 2"), ("N", "4"), ("N", "65"), ("2*N", "24")] {
            assert!(f.clone().assume_equal(&p(a), &p(b)).is_err(), "{a} = {b}");
        }
    }

    #[test]
    fn ranges_and_divisibility() {
        let mut f = Facts::new();
        f.define("N", SymbolInfo { min: 8, max: 64, div: 8, likely: vec![] });
        assert_eq!(f.range(&p("2*N - 1")), (15, 127));
        assert_eq!(f.range(&p("N floordiv 16")), (0, 4));
        assert!(f.divisible(&p("3*N + 16"), 8) && !f.divisible(&p("N + 4"), 8));
        assert!(f.prove_le(&p("N"), &p("64")) && !f.prove_le(&p("N"), &p("63")));
    }
}

//! What is known of symbols: ranges, divisibility, likely values, equalities.

use std::sync::Arc;

use indexmap::IndexMap;

use super::poly::{Atom, Poly, gcd};

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
    /// Each lesser of two that was solved from an equality instead, with what it equals.
    solved_mins: Vec<(Poly, Poly)>,
    /// What is never negative by an equality, and no symbol's range says.
    ordered: Vec<Poly>,
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
        if self.order(&difference) && self.canonical(&difference).is_zero() {
            return Ok(());
        }
        match self.solve(&difference) {
            Some((name, value)) => {
                // A symbol that turns out to be a number must be able to be that number.
                let info = self.info(&name);
                if value.as_const().is_some_and(|v| v < info.min || v > info.max || v % info.div != 0) {
                    return Err(Contradiction { lhs, rhs });
                }
                self.bind(name, value);
            }
            None => match solve_min(&difference) {
                Some((least, value)) => {
                    self.ordered.extend(least.mins().flat_map(Atom::parts).map(|part| part.sub(&value)));
                    self.solved_mins.push((least, value));
                }
                None => self.zero.push(difference),
            },
        }
        Ok(())
    }

    /// Where `zero` says that the lesser of two is one of them, that one is at most the other. Returns whether it does.
    fn order(&mut self, zero: &Poly) -> bool {
        let Some(atom @ Atom::Min(a, b)) = zero.mins().next() else { return false };
        let without = zero.replace_factor(atom, &Poly::default());
        let (a, b) = (Poly::clone(a), Poly::clone(b));
        let held = zero.sub(&without);
        let sign = match held {
            _ if held == Poly::of_term(vec![atom.clone()], 1) => -1,
            _ if held == Poly::of_term(vec![atom.clone()], -1) => 1,
            _ => return false,
        };
        let value = without.scale(sign);
        match () {
            () if value == a => self.assume_le(&a, &b),
            () if value == b => self.assume_le(&b, &a),
            () => return false,
        }
        true
    }

    /// States that one size is at most another: as range of a symbol, where one alone decides it. Nothing happens where a
    /// range would have no value left.
    fn assume_le(&mut self, low: &Poly, high: &Poly) {
        let room = self.canonical(&high.sub(low));
        let (rest, constant) = room.split_constant();
        let mut terms = rest.terms();
        let (Some(([Atom::Symbol(name)], factor)), None) = (terms.next(), terms.next()) else {
            self.ordered.push(room);
            return;
        };
        // constant + factor * name >= 0
        let mut info = self.info(name);
        let Ok(factor) = i64::try_from(factor) else { return };
        match factor {
            1.. => info.min = info.min.max(constant.div_euclid(factor).saturating_neg()),
            _ => info.max = info.max.min(constant.div_euclid(factor.saturating_neg())),
        }
        if info.min <= info.max {
            self.symbols.insert(name.clone(), info);
        }
    }

    /// A symbol that occurs in `zero` once, alone and with coefficient one or minus one, and what it equals. The
    /// symbol defined last is taken, so that the model's own names survive.
    fn solve(&self, zero: &Poly) -> Option<(Arc<str>, Poly)> {
        let rank = |name: &Arc<str>| self.symbols.get_index_of(name).map_or(usize::MAX, |i| i);
        let mut best: Option<(Arc<str>, i128)> = None;
        for (atoms, c) in zero.terms() {
            let [Atom::Symbol(name)] = atoms else { continue };
            let alone = zero.terms().filter(|(atoms, _)| atoms.iter().any(|a| a.mentions(name))).count() == 1;
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
        self.ordered.iter_mut().for_each(|p| *p = p.substitute(&replace));
        let mins = std::mem::take(&mut self.solved_mins);
        self.narrow(&name, &value);
        self.solved.insert(name, value);
        for (least, value) in mins {
            // What contradicts itself now is found out where the sizes meet.
            let _ = self.assume_equal(&least, &value);
        }
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

    /// The size with every solved symbol replaced, and the lesser of two by the one that is known to be it.
    pub fn canonical(&self, poly: &Poly) -> Poly {
        let poly = poly.substitute(&|name| self.solved.get(name).cloned());
        if !poly.has_min() {
            return poly;
        }
        poly.substitute_min(&|a, b| {
            let room = b.sub(a);
            let (low, high) = self.range(&room);
            let least = a.lesser(b);
            if let Some((_, value)) = self.solved_mins.iter().find(|(known, _)| *known == least) {
                return Some(value.clone());
            }
            match () {
                () if low >= 0 || self.ordered.contains(&room) => Some(a.clone()),
                () if high <= 0 || self.ordered.contains(&room.scale(-1)) => Some(b.clone()),
                () => None,
            }
        })
    }

    /// True when an equality says that `poly` is never negative, and perhaps no range of a symbol does.
    pub fn is_ordered(&self, poly: &Poly) -> bool {
        let poly = self.canonical(poly);
        self.ordered.iter().any(|known| self.range(&poly.sub(known)).0 >= 0)
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
        self.prove_non_negative(&b.sub(a))
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
            Atom::Symbol(_) | Atom::Min(..) => None,
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
    ///
    /// The lesser of two is related to both: `N - min(N, 4)` is never negative.
    pub fn range(&self, poly: &Poly) -> (i128, i128) {
        let poly = self.canonical(poly);
        if !poly.has_min() {
            return self.plain_range(&poly);
        }
        // Twice the work for each.
        const MOST_MINS: usize = 6;
        (self.smallest(&poly, MOST_MINS), self.smallest(&poly.scale(-1), MOST_MINS).saturating_neg())
    }

    /// A lower bound of a canonical polynomial, in which the lesser of two is taken to be either so often at most.
    fn smallest(&self, poly: &Poly, mins: usize) -> i128 {
        let plain = self.plain_range(poly).0;
        if mins == 0 {
            return plain;
        }
        let slopes = || poly.mins().map(|atom| (atom, self.slope(poly, atom)));
        // Where the polynomial falls with the lesser, each of the two gives a bound. It may be another one for each value
        // of what is decided before.
        let falling = || slopes().find(|(_, slope)| *slope == Some(false));
        let Some((atom, slope)) = slopes().find(|(_, slope)| *slope != Some(false)).or_else(falling) else {
            return plain;
        };
        let mut bounds = atom.parts().map(|part| self.smallest(&poly.replace_factor(atom, part), mins - 1));
        let (a, b) = (bounds.next().unwrap_or(plain), bounds.next().unwrap_or(plain));
        plain.max(if slope == Some(false) { a.max(b) } else { a.min(b) })
    }

    /// Whether a polynomial rises with an atom, or falls; `None` where neither is known.
    fn slope(&self, poly: &Poly, atom: &Atom) -> Option<bool> {
        let mut factor = Poly::default();
        for (atoms, c) in poly.terms() {
            if let Some(at) = atoms.iter().position(|a| a == atom) {
                let mut rest = atoms.to_vec();
                rest.remove(at);
                factor = factor.add(&Poly::of_term(rest, c));
            }
        }
        // Where it is a factor twice, or hidden in another atom, nothing is said.
        let hidden = |poly: &Poly| poly.terms().any(|(atoms, _)| atoms.iter().any(|a| holds(a, atom)));
        if hidden(&factor) || poly.terms().any(|(atoms, _)| atoms.iter().any(|a| a != atom && holds(a, atom))) {
            return None;
        }
        let (low, high) = self.plain_range(&factor);
        if low >= 0 { Some(true) } else { (high <= 0).then_some(false) }
    }

    /// The range of a canonical polynomial whose atoms are taken for independent.
    fn plain_range(&self, poly: &Poly) -> (i128, i128) {
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
            Atom::Min(a, b) => {
                let (a, b) = (self.range(a), self.range(b));
                (a.0.min(b.0), a.1.min(b.1))
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

/// The lesser of two that `zero` has once, alone and with coefficient one or minus one, and what it equals.
fn solve_min(zero: &Poly) -> Option<(Poly, Poly)> {
    let alone = |atom: &Atom| {
        let held = zero.terms().filter(|(atoms, _)| atoms.iter().any(|a| holds(a, atom)));
        held.map(|(atoms, c)| (atoms.len() == 1 && atoms[0] == *atom).then_some(c)).collect::<Option<Vec<i128>>>()
    };
    // The last one is the most complex.
    let (atom, sign) =
        zero.mins().filter_map(|atom| Some((atom, <[i128; 1]>::try_from(alone(atom)?).ok()?[0]))).last()?;
    let least = Poly::of_term(vec![atom.clone()], 1);
    match sign {
        1 => Some((least.clone(), least.sub(zero))),
        -1 => Some((least.clone(), zero.add(&least))),
        _ => None,
    }
}

/// How many floors an atom has within one another.
fn depth(atom: &Atom) -> usize {
    match atom {
        Atom::Symbol(_) => 0,
        Atom::FloorDiv(inner, _) => 1 + deepest(inner),
        Atom::Min(a, b) => deepest(a).max(deepest(b)),
    }
}

fn deepest(poly: &Poly) -> usize {
    poly.terms().flat_map(|(atoms, _)| atoms).map(depth).max().unwrap_or(0)
}

/// Whether an atom is another, or is made of it.
fn holds(atom: &Atom, other: &Atom) -> bool {
    atom == other || atom.parts().any(|part| part.terms().flat_map(|(atoms, _)| atoms).any(|a| holds(a, other)))
}

/// The polynomial divided by the greatest number that divides the coefficients of its symbols; `None` when that does
/// not divide the constant.
fn without_common_factor(poly: &Poly) -> Option<Poly> {
    let factor = poly.terms().filter(|(atoms, _)| !atoms.is_empty()).fold(0, |factor, (_, c)| gcd(factor, c));
    match i64::try_from(factor) {
        Ok(factor @ 2..) => poly.divide_exact(&Poly::constant(factor)),
        _ => Some(poly.clone()),
    }
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
            Atom::FloorDiv(..) | Atom::Min(..) => return false,
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
    fn the_lesser_of_two_is_at_most_both() {
        let mut f = Facts::new();
        f.define("N", SymbolInfo::default());
        f.define("B", SymbolInfo::default());
        assert!(f.prove_le(&p("min(N, 128)"), &p("N")) && f.prove_le(&p("min(N, 128)"), &p("128")));
        assert!(f.prove_le(&p("0"), &p("min(N, 128)")) && f.prove_non_negative(&p("B*N - B*min(N, 3)")));
        assert!(!f.prove_le(&p("N"), &p("min(N, 128)")) && !f.prove_non_negative(&p("min(N, 3) - 1")));
        assert!(f.prove_le(&p("min(N, 4) + min(B, 4)"), &p("N + 4")));
        assert!(f.prove_le(&p("min(N, 2)"), &p("min(N, 7)")) && !f.prove_le(&p("min(N, 7)"), &p("min(N, 2)")));
        assert_eq!(f.canonical(&p("max(min(N, 7), min(N, 2))")), p("min(N, 7)"));
        assert_eq!(f.range(&p("min(N, 128)")), (0, 128));
        let tiles = p("(min(N, 128) + 15) floordiv 16");
        assert!(
            f.prove_non_negative(&p("min(N, 128) - 1").sub(&tiles.scale(16).sub(&p("16")))),
            "the last tile begins inside"
        );
        f.define("N", SymbolInfo { min: 1, max: 64, ..SymbolInfo::default() });
        assert_eq!((f.canonical(&p("min(N, 1)")), f.canonical(&p("min(N, 64) + 1"))), (p("1"), p("N + 1")));
    }

    #[test]
    fn an_equality_tells_which_is_less() {
        let mut f = Facts::new();
        for name in ["N", "P", "S"] {
            f.define(name, SymbolInfo::default());
        }
        f.assume_equal(&p("min(N, 512)"), &p("N")).unwrap();
        f.assume_equal(&p("1"), &p("min(S, 1)")).unwrap();
        assert_eq!((f.info("N").max, f.info("S").min), (512, 1));
        assert!(f.prove_equal(&p("min(N, 512)"), &p("N")));
        f.assume_equal(&p("P + S"), &p("min(P + S, 512)")).unwrap();
        assert_eq!(f.canonical(&p("min(P + S, 512)")), p("P + S"));
        let mut g = Facts::new();
        g.assume_equal(&p("S"), &p("min(P + S, 12) - min(P, 12)")).unwrap();
        assert_eq!(g.canonical(&p("B*min(P + S, 12) - B*min(P, 12)")), p("B*S"));
        assert!(g.is_ordered(&p("12 - min(P, 12) - S")) && !g.prove_non_negative(&p("12 - min(P, 12) - S")));
        assert!(f.is_ordered(&p("512 - P - S")) && !f.is_ordered(&p("511 - P - S")));
        assert!(f.assume_equal(&p("min(N, 3)"), &p("4")).is_err());
        f.define("N", SymbolInfo { min: 0, max: 3, ..SymbolInfo::default() });
        assert!(f.assume_equal(&p("min(N, 5)"), &p("5")).is_err());
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

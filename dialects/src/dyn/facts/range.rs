//! Ranges of sizes, and what is proved by them.

use super::Facts;
use crate::r#dyn::poly::{Atom, Poly, gcd};

impl Facts {
    /// True when the two sizes are equal for all values of the symbols. False means unknown.
    pub fn prove_equal(&self, a: &Poly, b: &Poly) -> bool {
        let mut difference = self.canonical(&a.sub(b));
        // Each turn puts what one symbol is defined by in its place: that defined last, which others may be made of.
        const MOST_TURNS: usize = 8;
        for _ in 0..MOST_TURNS {
            if difference.is_zero() || self.zero.iter().any(|z| is_multiple(&difference, &self.canonical(z))) {
                return true;
            }
            let Some(expanded) = self.without_last_definition(&difference) else { return false };
            difference = expanded;
        }
        difference.is_zero()
    }

    fn without_last_definition(&self, size: &Poly) -> Option<Poly> {
        let mut last = None;
        if !self.definitions.is_empty() {
            size.each_symbol(&mut |name| last = last.max(self.definitions.get_index_of(name)));
        }
        let (name, definition) = self.definitions.get_index(last?)?;
        let expanded = self.canonical(&size.substitute(&|own| (own == &**name).then(|| definition.clone())));
        Some(expanded).filter(|expanded| expanded.excess().is_none())
    }

    /// True when `a` is at most `b` for all values of the symbols. False means unknown.
    pub fn prove_le(&self, a: &Poly, b: &Poly) -> bool {
        self.prove_non_negative(&b.sub(a))
    }

    /// True when `poly` is at least zero for all values of the symbols. False means unknown.
    ///
    /// Beyond [`Facts::range`] it relates a floor to what it divides: `p - (k - 1) <= k * (p floordiv k) <= p`. What is looked at is
    /// then not above `scale` times the size, which is whole: above `-scale` is enough.
    pub fn prove_non_negative(&self, poly: &Poly) -> bool {
        let poly = self.canonical(poly);
        self.not_negative_by_floors(poly.clone()) || self.not_negative_by_equality(&poly)
    }

    pub(super) fn not_negative_by_floors(&self, mut poly: Poly) -> bool {
        let mut scale = 1_i128;
        // Each turn takes one floor out, or ends.
        const MOST_FLOORS: usize = 8;
        for _ in 0..MOST_FLOORS {
            if self.range(&poly).0 > -scale {
                return true;
            }
            match self.without_floor(&poly) {
                Some((relaxed, divisor)) => (poly, scale) = (relaxed, scale.saturating_mul(divisor.into())),
                None => return false,
            }
        }
        self.range(&poly).0 > -scale
    }

    /// True when a canonical polynomial and something that is zero by an equality are no less than 0 together: what two floors
    /// are is known of neither, that they are equal may be.
    fn not_negative_by_equality(&self, poly: &Poly) -> bool {
        self.zero.iter().any(|zero| {
            let zero = self.canonical(zero);
            // An equality of other sizes says nothing here.
            let shares = zero.terms().next().is_some_and(|(atoms, _)| poly.terms().any(|(own, _)| own == atoms));
            shares && [poly.sub(&zero), poly.add(&zero)].iter().any(|rest| self.range(rest).0 >= 0)
        })
    }

    /// Something not above a multiple of `poly`, in which one floor is replaced by what it divides, and which multiple.
    fn without_floor(&self, poly: &Poly) -> Option<(Poly, i64)> {
        let floors: Vec<(&Atom, &Poly, i64)> = poly
            .terms()
            .flat_map(|(atoms, _)| atoms)
            .filter_map(|atom| match atom {
                Atom::FloorDiv(inner, divisor) => Some((atom, inner, *divisor)),
                Atom::Symbol(_) | Atom::Min(..) => None,
            })
            .collect();
        // One that divides others comes first: in its place they may cancel.
        let steps = |floor: &(&Atom, &Poly, i64)| (depth(floor.0), floor_of_floor(floor, &floors).is_some());
        let floor = *floors.iter().max_by_key(|floor| steps(floor))?;
        let (inner, divisor) = floor_of_floor(&floor, &floors).unwrap_or_else(|| (floor.1.clone(), floor.2));
        let floor = floor.0;
        let mut relaxed = Poly::default();
        for (atoms, c) in poly.terms() {
            let mut rest: Vec<Atom> = atoms.to_vec();
            let Some(at) = rest.iter().position(|a| a == floor) else {
                relaxed = relaxed.add(&Poly::of_term(atoms.to_vec(), c.checked_mul(divisor.into())?));
                continue;
            };
            rest.remove(at);
            let factor = Poly::of_term(rest, c);
            let (low, high) = self.range(&factor);
            let bound = match (low >= 0, high <= 0) {
                (true, _) => inner.sub(&Poly::constant(divisor - 1)),
                (_, true) => inner.clone(),
                _ => return None,
            };
            relaxed = relaxed.add(&factor.mul(&bound));
        }
        Some((relaxed, divisor))
    }

    /// Smallest and largest value, as far as ranges of symbols tell.
    ///
    /// The lesser of two is related to both: `N - min(N, 4)` is never negative.
    pub fn range(&self, poly: &Poly) -> (i128, i128) {
        let poly = self.canonical(poly);
        if !poly.has_min() {
            return self.plain_range(&poly);
        }
        self.memo.range(&poly, || {
            // Twice the work for each.
            const MOST_MINS: u32 = 6;
            const MOST_WEIGHT: u32 = 8192;
            let mins = MOST_MINS.min((MOST_WEIGHT / poly.weight().max(1)).checked_ilog2().unwrap_or(0)) as usize;
            let least = |poly: &Poly| self.smallest(&self.relaxed(poly, mins), mins);
            (least(&poly), least(&poly.scale(-1)).saturating_neg())
        })
    }

    /// Something not above a canonical polynomial, with at most so many lessers of two as factors, where that can be had by
    /// putting one of the two in the place of such with which the polynomial falls.
    fn relaxed(&self, poly: &Poly, mins: usize) -> Poly {
        let mut poly = poly.clone();
        // Each costs what the polynomial holds.
        const MOST_TURNS: usize = 24;
        for _ in 0..MOST_TURNS {
            if poly.mins().count() <= mins {
                break;
            }
            let Some(atom) = poly.mins().find(|atom| self.slope(&poly, atom) == Some(false)).cloned() else { break };
            let bounds = atom.parts().map(|part| poly.replace_factor(&atom, part));
            let Some(best) = bounds.max_by_key(|bound| self.plain_range(bound).0) else { break };
            poly = best;
        }
        poly
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
        // One that is held in another comes behind it, in whose place the two may cancel.
        let with = |wanted: Option<bool>| slopes().find(|(_, slope)| *slope == wanted);
        let Some((atom, slope)) = with(Some(true)).or_else(|| with(None)).or_else(|| with(Some(false))) else {
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

    pub(super) fn atom_range(&self, atom: &Atom) -> (i128, i128) {
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
        if divisor == 0 {
            return poly.is_zero();
        }
        self.common_divisor(poly) % i128::from(divisor) == 0
            || !self.residues.is_empty() && self.residue(&self.canonical(poly)).by(divisor) == Some(0)
    }

    /// A number of which every value is a multiple; 0 for what is always 0.
    pub fn common_divisor(&self, poly: &Poly) -> i128 {
        let term = |(atoms, c): (&[Atom], i128)| {
            atoms.iter().fold(c, |known, atom| match atom {
                Atom::Symbol(name) => known.saturating_mul(self.info(name).div.into()),
                _ => known,
            })
        };
        self.canonical(poly).terms().map(term).fold(0, gcd)
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

/// A floor as one of another among `floors`: with `p floordiv 8` also `(p + 16) floordiv 32` is
/// `((p floordiv 8) + 2) floordiv 4`. What is divided there, and by what.
fn floor_of_floor(floor: &(&Atom, &Poly, i64), floors: &[(&Atom, &Poly, i64)]) -> Option<(Poly, i64)> {
    let (_, inner, divisor) = floor;
    let within = |(first, of, by): &(&Atom, &Poly, i64)| {
        if by >= divisor || divisor % by != 0 {
            return None;
        }
        let more = inner.sub(of).as_const().filter(|more| more % by == 0)?;
        Some((Poly::of_term(vec![(*first).clone()], 1).add(&(more / by).into()), divisor / by))
    };
    floors.iter().filter_map(within).min_by_key(|(_, divisor)| *divisor)
}

fn deepest(poly: &Poly) -> usize {
    poly.terms().flat_map(|(atoms, _)| atoms).map(depth).max().unwrap_or(0)
}

/// Whether an atom is another, or is made of it.
pub(super) fn holds(atom: &Atom, other: &Atom) -> bool {
    atom == other || atom.parts().any(|part| part.terms().flat_map(|(atoms, _)| atoms).any(|a| holds(a, other)))
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

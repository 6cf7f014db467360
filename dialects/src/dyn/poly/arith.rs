//! Arithmetic on sizes. Sums are merged, so a sum costs what both sides have; results beyond the limits become symbols of
//! their own.

use super::limits::MAX_PRODUCTS;
use super::{Atom, Excess, Monomial, Poly, Term, gcd};

/// Most sizes of which one lesser-of-all is put in order.
const MAX_LEAVES: usize = 16;

/// Most sizes that distributing a sum over the lesser of two may give.
const MAX_SPREAD: usize = 6;

/// Sorts terms and joins those of one monomial.
pub(super) fn collect(mut terms: Vec<(Monomial, i128)>) -> Poly {
    terms.sort_by(|(a, _), (b, _)| a.cmp(b));
    let mut joined: Vec<(Monomial, i128)> = Vec::with_capacity(terms.len());
    for (atoms, c) in terms {
        match joined.last_mut() {
            Some((last, sum)) if *last == atoms => *sum = sum.saturating_add(c),
            _ => joined.push((atoms, c)),
        }
    }
    checked(joined)
}

/// Terms in order, of different monomials, some perhaps zero.
fn checked(terms: Vec<(Monomial, i128)>) -> Poly {
    let mut list = Vec::with_capacity(terms.len());
    for (atoms, c) in terms {
        match i64::try_from(c) {
            Ok(0) => {}
            Ok(coefficient) => list.push(Term { atoms, coefficient }),
            Err(_) => return Poly::beyond(Excess::Number),
        }
    }
    Poly::of_terms(list)
}

/// The product of two monomials.
fn times(a: &Monomial, b: &Monomial) -> Monomial {
    match (a.is_empty(), b.is_empty()) {
        (true, _) => return b.clone(),
        (_, true) => return a.clone(),
        _ => {}
    }
    let mut atoms = Vec::with_capacity(a.len() + b.len());
    let (mut x, mut y) = (a.iter().peekable(), b.iter().peekable());
    while let (Some(p), Some(q)) = (x.peek(), y.peek()) {
        atoms.extend(if p <= q { x.next() } else { y.next() }.cloned());
    }
    atoms.extend(x.chain(y).cloned());
    Monomial::of_sorted(atoms)
}

impl Poly {
    /// `self + sign * other`.
    fn merge(&self, other: &Self, sign: i128) -> Self {
        let (mut a, mut b) = (self.list().iter().peekable(), other.list().iter().peekable());
        let mut terms = Vec::with_capacity(self.list().len() + other.list().len());
        loop {
            let order = match (a.peek(), b.peek()) {
                (Some(x), Some(y)) => x.atoms.cmp(&y.atoms),
                (Some(_), None) => std::cmp::Ordering::Less,
                (None, Some(_)) => std::cmp::Ordering::Greater,
                (None, None) => return checked(terms),
            };
            let left = if order.is_le() { a.next() } else { None };
            let right = if order.is_ge() { b.next() } else { None };
            let of = |term: Option<&Term>| term.map_or(0, |t| i128::from(t.coefficient));
            if let Some(term) = left.or(right) {
                terms.push((term.atoms.clone(), of(left) + sign * of(right)));
            }
        }
    }

    /// Sum.
    #[must_use]
    pub fn add(&self, other: &Self) -> Self {
        match (self.is_zero(), other.is_zero()) {
            (true, _) => other.clone(),
            (_, true) => self.clone(),
            _ => self.merge(other, 1),
        }
    }

    /// Difference.
    #[must_use]
    pub fn sub(&self, other: &Self) -> Self {
        if other.is_zero() { self.clone() } else { self.merge(other, -1) }
    }

    /// Sum of many, each with its sign, at the cost of sorting all terms once.
    pub fn sum<'a>(parts: impl IntoIterator<Item = (&'a Self, i64)>) -> Self {
        let mut terms = Vec::new();
        for (part, sign) in parts {
            let signed = |t: &Term| (t.atoms.clone(), i128::from(t.coefficient) * i128::from(sign));
            terms.extend(part.list().iter().map(signed));
        }
        collect(terms)
    }

    /// Product with a constant.
    #[must_use]
    pub fn scale(&self, factor: i64) -> Self {
        match factor {
            0 => Self::default(),
            1 => self.clone(),
            _ => checked(
                self.list().iter().map(|t| (t.atoms.clone(), i128::from(t.coefficient) * i128::from(factor))).collect(),
            ),
        }
    }

    /// Product.
    #[must_use]
    pub fn mul(&self, other: &Self) -> Self {
        match (self.as_const(), other.as_const()) {
            (Some(factor), _) => return other.scale(factor),
            (_, Some(factor)) => return self.scale(factor),
            _ => {}
        }
        if self.list().len().saturating_mul(other.list().len()) > MAX_PRODUCTS {
            return Self::beyond(Excess::Weight);
        }
        let pairs = self.list().iter().flat_map(|a| other.list().iter().map(move |b| (a, b)));
        let product =
            |(a, b): (&Term, &Term)| (times(&a.atoms, &b.atoms), i128::from(a.coefficient) * i128::from(b.coefficient));
        collect(pairs.map(product).collect())
    }

    /// Product of several.
    pub fn product<'a>(factors: impl IntoIterator<Item = &'a Self>) -> Self {
        factors.into_iter().fold(Self::constant(1), |acc, f| acc.mul(f))
    }

    /// `floor(self / divisor)`; what divides exactly is taken out of the floor, common factors cancel, and a floor of a floor
    /// is one.
    ///
    /// # Panics
    /// When `divisor` is below 1.
    #[must_use]
    pub fn floordiv(&self, divisor: i64) -> Self {
        assert!(divisor >= 1, "sizes are divided by positive constants");
        if divisor == 1 {
            return self.clone();
        }
        let mut common = i128::from(divisor);
        let mut whole: Vec<(Monomial, i128)> = Vec::new();
        let mut rest: Vec<(Monomial, i128)> = Vec::new();
        for term in self.list() {
            // The remainder's coefficients are in [0, d), so equal values have equal forms.
            let c = term.coefficient;
            whole.push((term.atoms.clone(), c.div_euclid(divisor).into()));
            let left = c.rem_euclid(divisor);
            rest.push((term.atoms.clone(), left.into()));
            if !term.atoms.is_empty() {
                common = gcd(common, left.into());
            }
        }
        let whole = checked(whole);
        if rest.iter().all(|(atoms, left)| atoms.is_empty() || *left == 0) {
            return whole;
        }
        // floor((g*x + c) / (g*d)) is floor((x + floor(c / g)) / d).
        rest.iter_mut().for_each(|(_, left)| *left = left.div_euclid(common));
        let divisor = i64::try_from(i128::from(divisor) / common).unwrap_or(divisor);
        let rest = checked(rest);
        // floor((floor(p / a) + c) / d) is floor((p + c*a) / (a*d)).
        let (floor, more) = rest.split_constant();
        if let Some(Atom::FloorDiv(inner, first)) = floor.as_atom()
            && let (Some(divisor), Some(more)) = (first.checked_mul(divisor), more.checked_mul(*first))
        {
            return whole.add(&inner.add(&Self::constant(more)).floordiv(divisor));
        }
        whole.add(&Self::of_atom(Atom::FloorDiv(rest, divisor)))
    }

    /// `ceil(self / divisor)`.
    ///
    /// # Panics
    /// When `divisor` is below 1.
    #[must_use]
    pub fn ceildiv(&self, divisor: i64) -> Self {
        self.add(&Self::constant(divisor - 1)).floordiv(divisor)
    }

    /// `self mod divisor`, never negative.
    ///
    /// # Panics
    /// When `divisor` is below 1.
    #[must_use]
    pub fn rem(&self, divisor: i64) -> Self {
        self.sub(&self.floordiv(divisor).scale(divisor))
    }

    /// The lesser of two.
    #[must_use]
    pub fn lesser(&self, other: &Self) -> Self {
        self.lesser_by(other, true)
    }

    /// min(a, b) is min(a - c, b - c) + c, with what both have as c: of `a - b` one keeps what is added, the other what is taken
    /// away. What all coefficients have as factor is taken out. Leaves are `sorted` unless that is being done.
    fn lesser_by(&self, other: &Self, sorted: bool) -> Self {
        let difference = self.sub(other);
        let part = |sign: i128| {
            let kept = difference.list().iter().filter(|t| i128::from(t.coefficient).signum() == sign);
            checked(kept.map(|t| (t.atoms.clone(), i128::from(t.coefficient) * sign)).collect())
        };
        let (more, less) = (part(1), part(-1));
        let common = other.sub(&less);
        let factor = more.terms().chain(less.terms()).fold(0, |factor, (_, c)| gcd(factor, c));
        let factor = match i64::try_from(factor) {
            Ok(0) => return other.clone(),
            Ok(factor) => factor,
            Err(_) => 1,
        };
        let divided = |poly: Self| poly.divide_exact(&Self::constant(factor)).unwrap_or(poly);
        let (more, less) = (divided(more), divided(less));
        // What is left when something was taken out is a smaller problem, with leaves of its own.
        let sorted = sorted || factor > 1 || !common.is_zero();
        let least = if sorted { more.least(less) } else { more.lesser_atom(less) };
        least.scale(factor).add(&common)
    }

    /// The lesser of two without common terms or factors. The least of more than two has one form, whatever the order in which
    /// they come.
    fn least(self, other: Self) -> Self {
        let mut leaves = Vec::new();
        self.leaves(&mut leaves);
        other.leaves(&mut leaves);
        if !(3..=MAX_LEAVES).contains(&leaves.len()) {
            return self.lesser_atom(other);
        }
        // Of two that differ by a number only the lesser counts.
        let mut kept: Vec<Self> = Vec::with_capacity(leaves.len());
        for leaf in leaves {
            let room = |known: &Self| leaf.sub(known).as_const();
            if kept.iter().any(|known| room(known).is_some_and(|room| room >= 0)) {
                continue;
            }
            kept.retain(|known| room(known).is_none());
            kept.push(leaf);
        }
        kept.sort();
        let last = kept.pop().unwrap_or_default();
        kept.iter().rev().fold(last, |least, leaf| leaf.lesser_by(&least, false))
    }

    /// What a lesser of two is the least of; itself for another size.
    fn leaves(&self, leaves: &mut Vec<Self>) {
        match self.as_atom() {
            Some(Atom::Min(a, b)) if leaves.len() < MAX_LEAVES => {
                a.leaves(leaves);
                b.leaves(leaves);
            }
            _ => leaves.push(self.clone()),
        }
    }

    /// Sizes whose least is the lesser of both. Sums and positive factors are distributed over a lesser of two: 2*min(a, b) + c
    /// gives 2*a + c and 2*b + c. None where there is nothing to distribute, or too much of it.
    pub(crate) fn spread(&self, other: &Self) -> Option<Vec<Self>> {
        let is_moved = |size: &Self| size.has_min() && size.as_atom().is_none();
        if !is_moved(self) && !is_moved(other) {
            return None;
        }
        let mut leaves = self.spread_leaves()?;
        leaves.extend(other.spread_leaves()?);
        (leaves.len() <= MAX_SPREAD && leaves.iter().all(|leaf| leaf.excess().is_none())).then_some(leaves)
    }

    /// Sizes whose least this one is; none where there are too many.
    fn spread_leaves(&self) -> Option<Vec<Self>> {
        let (mins, rest): (Vec<&Term>, Vec<&Term>) = self.list().iter().partition(|term| term.as_min().is_some());
        let mut leaves = vec![Self::of_terms(rest.into_iter().cloned().collect())];
        for term in mins {
            let (a, b) = term.as_min()?;
            let mut own = a.spread_leaves()?;
            own.extend(b.spread_leaves()?);
            if own.len() * leaves.len() > MAX_SPREAD {
                return None;
            }
            let scaled: Vec<Self> = own.iter().map(|size| size.scale(term.coefficient)).collect();
            leaves = leaves.iter().flat_map(|leaf| scaled.iter().map(move |size| leaf.add(size))).collect();
        }
        Some(leaves)
    }

    /// The atom for the lesser of two.
    fn lesser_atom(self, other: Self) -> Self {
        if let (Some(a), Some(b)) = (self.as_const(), other.as_const()) {
            return Self::constant(a.min(b));
        }
        let (a, b) = if self < other { (self, other) } else { (other, self) };
        Self::of_atom(Atom::Min(a, b))
    }

    /// The greater of two.
    #[must_use]
    pub fn greater(&self, other: &Self) -> Self {
        let lesser = self.lesser(other);
        Self::sum([(self, 1), (other, 1), (&lesser, -1)])
    }

    /// `self / other` when that is a polynomial, found by division by one monomial.
    pub fn divide_exact(&self, other: &Self) -> Option<Self> {
        let [divisor] = other.list() else {
            return (self == other && !self.is_zero()).then(|| Self::constant(1));
        };
        let mut quotient = Vec::with_capacity(self.list().len());
        for term in self.list() {
            let (c, by) = (i128::from(term.coefficient), i128::from(divisor.coefficient));
            if c % by != 0 {
                return None;
            }
            let mut rest = term.atoms.to_vec();
            for atom in &*divisor.atoms {
                let at = rest.binary_search(atom).ok()?;
                rest.remove(at);
            }
            quotient.push((Monomial::of_sorted(rest), c / by));
        }
        Some(collect(quotient))
    }
}

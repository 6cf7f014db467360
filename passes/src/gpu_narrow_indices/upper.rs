//! Upper bounds: sums of products of sizes whose coefficients are not negative, so that they grow with every size.
//!
//! What stands for a size is a number; the caller knows which sizes they are. Coefficients are exact fractions, since a quotient
//! is often multiplied by its divisor again. All arithmetic is checked: what does not fit is no bound.

use std::collections::BTreeMap;

/// A number for a size.
pub(super) type Size = u32;

/// A fraction above zero, in lowest terms.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Fraction {
    over: i128,
    under: i128,
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

impl Fraction {
    fn new(over: i128, under: i128) -> Self {
        let divisor = gcd(over, under).max(1);
        Self { over: over / divisor, under: under / divisor }
    }

    fn add(self, other: Self) -> Option<Self> {
        let (a, b) = (self.over.checked_mul(other.under)?, other.over.checked_mul(self.under)?);
        Some(Self::new(a.checked_add(b)?, self.under.checked_mul(other.under)?))
    }

    fn mul(self, other: Self) -> Option<Self> {
        Some(Self::new(self.over.checked_mul(other.over)?, self.under.checked_mul(other.under)?))
    }

    fn greater(self, other: Self) -> Option<Self> {
        let more = self.over.checked_mul(other.under)? >= other.over.checked_mul(self.under)?;
        Some(if more { self } else { other })
    }

    fn ceil(self) -> i128 {
        self.over / self.under + i128::from(self.over % self.under != 0)
    }
}

/// A bound. Zero has no term.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Upper {
    terms: BTreeMap<Vec<Size>, Fraction>,
}

/// A product of sizes and a number of at least one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Monomial {
    pub(super) sizes: Vec<Size>,
    pub(super) factor: i128,
}

impl Upper {
    pub(super) const ZERO: Self = Self { terms: BTreeMap::new() };

    /// A constant; what is below zero counts as zero.
    pub(super) fn constant(value: i128) -> Self {
        let terms = (value > 0).then(|| (Vec::new(), Fraction::new(value, 1)));
        Self { terms: terms.into_iter().collect() }
    }

    pub(super) fn size(size: Size) -> Self {
        Self { terms: BTreeMap::from([(vec![size], Fraction::new(1, 1))]) }
    }

    pub(super) fn of(monomial: &Monomial) -> Self {
        Self { terms: BTreeMap::from([(monomial.sizes.clone(), Fraction::new(monomial.factor, 1))]) }
    }

    pub(super) fn is_zero(&self) -> bool {
        self.terms.is_empty()
    }

    pub(super) fn is_constant(&self) -> bool {
        self.terms.keys().all(Vec::is_empty)
    }

    /// Order in which one of two bounds is preferred: fewer sizes in a product, fewer products.
    pub(super) fn weight(&self) -> (usize, usize) {
        (self.terms.keys().map(Vec::len).max().unwrap_or(0), self.terms.len())
    }

    fn combine(&self, other: &Self, both: impl Fn(Fraction, Fraction) -> Option<Fraction>) -> Option<Self> {
        let mut result = self.clone();
        for (sizes, c) in &other.terms {
            let sum = result.terms.get(sizes).map_or(Some(*c), |old| both(*old, *c))?;
            result.terms.insert(sizes.clone(), sum);
        }
        Some(result)
    }

    pub(super) fn add(&self, other: &Self) -> Option<Self> {
        self.combine(other, Fraction::add)
    }

    /// What is at least both: the greater coefficient of each product.
    pub(super) fn join(&self, other: &Self) -> Option<Self> {
        self.combine(other, Fraction::greater)
    }

    pub(super) fn mul(&self, other: &Self) -> Option<Self> {
        let mut result = Self::ZERO;
        for (a, ca) in &self.terms {
            for (b, cb) in &other.terms {
                let mut sizes = [&a[..], &b[..]].concat();
                sizes.sort_unstable();
                result = result.add(&Self { terms: BTreeMap::from([(sizes, ca.mul(*cb)?)]) })?;
            }
        }
        Some(result)
    }

    /// Divided by the greater of `divisor` and one. A product without all sizes of the divisor stays whole: one of those may be
    /// zero. A product with all of them is zero then.
    pub(super) fn divide(&self, divisor: &Monomial) -> Option<Self> {
        let mut result = Self::ZERO;
        for (sizes, c) in &self.terms {
            let (rest, c) = match without(sizes, &divisor.sizes) {
                Some(rest) => (rest, c.mul(Fraction::new(1, divisor.factor))?),
                None => (sizes.clone(), *c),
            };
            result = result.add(&Self { terms: BTreeMap::from([(rest, c)]) })?;
        }
        Some(result)
    }

    /// With every size replaced by what bounds it.
    pub(super) fn replace(&self, bound: &impl Fn(Size) -> Option<Self>) -> Option<Self> {
        let mut result = Self::ZERO;
        for (sizes, c) in &self.terms {
            let mut product = Self { terms: BTreeMap::from([(Vec::new(), *c)]) };
            for size in sizes {
                product = product.mul(&bound(*size)?)?;
            }
            result = result.add(&product)?;
        }
        Some(result)
    }

    /// Products with their coefficients, rounded up.
    pub(super) fn rounded(&self) -> impl Iterator<Item = (&[Size], i128)> {
        self.terms.iter().map(|(sizes, c)| (&sizes[..], c.ceil()))
    }
}

/// `sizes` without those of `divisor`, if all are there.
fn without(sizes: &[Size], divisor: &[Size]) -> Option<Vec<Size>> {
    let mut rest = sizes.to_vec();
    for size in divisor {
        rest.remove(rest.iter().position(|s| s == size)?);
    }
    Some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quotient_times_its_divisor_is_what_it_was() {
        let sum = Upper::size(0).add(&Upper::constant(5)).unwrap();
        let quotient = sum.divide(&Monomial { sizes: vec![], factor: 6 }).unwrap();
        assert_eq!(quotient.mul(&Upper::constant(6)).unwrap(), sum);
        assert_eq!(quotient.rounded().map(|(_, c)| c).collect::<Vec<_>>(), [1, 1]);
    }

    #[test]
    fn division_by_a_size_takes_it_away_where_it_is() {
        let product = Upper::size(0).mul(&Upper::size(1)).unwrap().add(&Upper::size(2)).unwrap();
        let quotient = product.divide(&Monomial { sizes: vec![1], factor: 1 }).unwrap();
        assert_eq!(quotient, Upper::size(0).add(&Upper::size(2)).unwrap());
        let quotient = product.divide(&Monomial { sizes: vec![2], factor: 3 }).unwrap();
        let third = Upper::constant(1).divide(&Monomial { sizes: vec![], factor: 3 }).unwrap();
        assert_eq!(quotient, Upper::size(0).mul(&Upper::size(1)).unwrap().add(&third).unwrap());
    }

    #[test]
    fn what_does_not_fit_is_no_bound() {
        let large = Upper::constant(i128::MAX);
        assert_eq!(large.add(&large), None);
        assert_eq!(large.mul(&Upper::constant(2)), None);
        assert_eq!(large.join(&Upper::constant(2)), Some(large));
    }
}

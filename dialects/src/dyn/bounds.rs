//! Bounds of sizes of which some symbols are not known yet.

use rustc_hash::FxHashMap;

use super::facts::Facts;
use super::poly::{Atom, Poly};

/// Minima of a size that are looked into: twice the work for each.
const MOST_MINIMA: usize = 6;

/// Two sizes of which a size is the greater one: where a minimum is taken away, either of its sides is.
fn greater_of(size: &Poly) -> Option<[Poly; 2]> {
    let (sides, minimum, c) = size.terms().find_map(|(atoms, c)| match atoms {
        [Atom::Min(a, b)] if c < 0 => Some(([a, b], atoms.to_vec(), i64::try_from(c).ok()?)),
        _ => None,
    })?;
    let rest = size.sub(&Poly::of_term(minimum, c.into()));
    Some(sides.map(|side| rest.add(&side.scale(c))))
}

/// How many minima are taken away in a size, in its parts too.
fn minima(size: &Poly) -> usize {
    let mut count = 0;
    for atom in size.terms().flat_map(|(atoms, _)| atoms) {
        match atom {
            Atom::Min(a, b) => count += 1 + minima(a) + minima(b),
            Atom::FloorDiv(inner, _) => count += minima(inner),
            Atom::Symbol(_) => {}
        }
    }
    count
}

/// Sizes of which a size is the greatest one.
fn alternatives(size: &Poly) -> Vec<Poly> {
    match greater_of(size).filter(|_| minima(size) <= MOST_MINIMA) {
        Some(sizes) => sizes.iter().flat_map(alternatives).collect(),
        None => vec![size.clone()],
    }
}

/// Whether a size is at most another one whatever the symbols are; `false` where that is not known.
pub fn is_at_most(facts: &Facts, size: &Poly, other: &Poly) -> bool {
    let others: Vec<Poly> = std::iter::once(other.clone()).chain(alternatives(other)).collect();
    let below = |size: &Poly| others.iter().any(|other| facts.prove_non_negative(&other.sub(size)));
    below(size) || alternatives(size).iter().all(below)
}

/// The greater of two sizes.
pub fn greater(facts: &Facts, a: &Poly, b: &Poly) -> Poly {
    match () {
        () if is_at_most(facts, b, a) => a.clone(),
        () if is_at_most(facts, a, b) => b.clone(),
        () => a.greater(b),
    }
}

/// The most that each symbol is which is not known yet, over those that are.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Bounds {
    /// `None` for a symbol that nothing bounds.
    most: FxHashMap<String, Option<Poly>>,
}

impl Bounds {
    /// A symbol that is not known yet, and that nothing bounds so far.
    pub fn open(&mut self, symbol: &str) {
        self.most.entry(symbol.to_owned()).or_default();
    }

    /// A symbol that is not known yet, and the most that it is.
    pub fn define(&mut self, symbol: &str, most: Poly) {
        self.most.insert(symbol.to_owned(), Some(most));
    }

    /// Whether all symbols of a size are known.
    pub fn is_known(&self, size: &Poly) -> bool {
        let mut known = true;
        size.each_symbol(&mut |name| known &= !self.most.contains_key(&**name));
        known
    }

    /// A size over known symbols that is at least this one, and never negative.
    ///
    /// # Errors
    /// When none can be told.
    pub fn most(&self, facts: &Facts, size: &Poly) -> Result<Poly, String> {
        if self.is_known(size) {
            return Ok(size.clone());
        }
        let most = self.bound(facts, size, true)?;
        // A size that is negative for some values of others is none in a run in which it is that.
        let positive = facts.range(&most).0 >= 0;
        let most = if positive { most } else { most.greater(&Poly::default()) };
        if most.excess().is_some() { Err(format!("the bound of `{}` is too large", size.brief())) } else { Ok(most) }
    }

    /// An upper or a lower bound.
    ///
    /// # Errors
    /// When none can be told.
    pub fn bound(&self, facts: &Facts, size: &Poly, upper: bool) -> Result<Poly, String> {
        if self.is_known(size) {
            return Ok(size.clone());
        }
        // The greater of two sizes is bounded by the greater of their bounds, not by that of their sum.
        if let Some(sizes) = greater_of(size).filter(|_| minima(size) <= MOST_MINIMA) {
            let [a, b] = sizes;
            return Ok(greater(facts, &self.bound(facts, &a, upper)?, &self.bound(facts, &b, upper)?));
        }
        let mut sum = Poly::default();
        for (atoms, c) in size.terms() {
            let coefficient = i64::try_from(c).map_err(|_| format!("`{}` is too large", size.brief()))?;
            let upward = upper == (c > 0);
            let mut product = Poly::constant(coefficient);
            for atom in atoms {
                let single = Poly::of_term(vec![atom.clone()], 1);
                // Of factors that may be negative products have no bound that is the product of theirs.
                if atoms.len() > 1 && facts.range(&single).0 < 0 {
                    return Err(format!("a factor of `{}` may be negative", size.brief()));
                }
                product = product.mul(&self.bound_of_atom(facts, atom, &single, upward)?);
            }
            sum = sum.add(&product);
        }
        Ok(sum)
    }

    fn bound_of_atom(&self, facts: &Facts, atom: &Atom, single: &Poly, upper: bool) -> Result<Poly, String> {
        if self.is_known(single) {
            return Ok(single.clone());
        }
        Ok(match atom {
            Atom::Symbol(name) if upper => {
                let most = self.most.get(&**name).cloned().flatten();
                most.ok_or_else(|| format!("nothing bounds `{name}`, which data decide"))?
            }
            Atom::Symbol(name) => Poly::constant(facts.info(name).min),
            Atom::FloorDiv(inner, divisor) => self.bound(facts, inner, upper)?.floordiv(*divisor),
            Atom::Min(a, b) => self.bound(facts, a, upper)?.lesser(&self.bound(facts, b, upper)?),
        })
    }
}

//! Symbolic sizes: integer polynomials over named symbols, in canonical form.
//!
//! A size is a sum of monomials with integer coefficients. An atom of a monomial is a symbol, the floor of a polynomial
//! divided by a positive constant, or the lesser of two polynomials; `ceildiv`, `mod` and `max` are written with these, so
//! two sizes that are equal as polynomials are equal as values of this type.
//!
//! Sizes are shared, not copied, and know their hash, weight and depth. Operations never fail: a result that would exceed a
//! limit (see [`limits`]) is a symbol of its own, see [`Poly::excess`].

mod arith;
pub mod limits;
mod rewrite;
mod text;

#[cfg(test)]
mod tests;

use std::cmp::Ordering;
use std::collections::BTreeSet;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::Deref;
use std::sync::Arc;

use rustc_hash::FxHasher;

pub use limits::Excess;
use limits::{MAX_DEPTH, MAX_FACTORS, MAX_WEIGHT, count_size, is_anonymous};
pub use text::PolyError;
pub(super) use text::{Tokens, read};

/// What a monomial multiplies.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Atom {
    /// A symbol.
    Symbol(Arc<str>),
    /// `floor(poly / divisor)` with a divisor of at least 2.
    FloorDiv(Poly, i64),
    /// The lesser of two, made by [`Poly::lesser`]: they share no term, the coefficients of both are positive, no number divides
    /// all of them, and the first is the lesser in the order of this type. So an atom never falls where a symbol in it rises.
    Min(Poly, Poly),
}

impl Atom {
    /// The polynomials of which it is made; none for a symbol.
    pub fn parts(&self) -> impl Iterator<Item = &Poly> {
        let (first, second) = match self {
            Self::Symbol(_) => (None, None),
            Self::FloorDiv(inner, _) => (Some(inner), None),
            Self::Min(a, b) => (Some(a), Some(b)),
        };
        first.into_iter().chain(second)
    }

    /// Whether the symbol occurs in it.
    pub fn mentions(&self, name: &str) -> bool {
        match self {
            Self::Symbol(own) => &**own == name,
            _ => self.parts().any(|part| part.mentions(name)),
        }
    }
}

/// A product of atoms, sorted, each as often as its power; empty for the constant term.
#[derive(Clone, Default, Debug)]
struct Monomial(Option<Arc<[Atom]>>);

impl Monomial {
    fn of_sorted(atoms: Vec<Atom>) -> Self {
        Self((!atoms.is_empty()).then(|| atoms.into()))
    }
}

impl Deref for Monomial {
    type Target = [Atom];

    fn deref(&self) -> &[Atom] {
        self.0.as_deref().unwrap_or_default()
    }
}

impl Ord for Monomial {
    fn cmp(&self, other: &Self) -> Ordering {
        match (&self.0, &other.0) {
            (Some(a), Some(b)) if Arc::ptr_eq(a, b) => Ordering::Equal,
            _ => (**self).cmp(other),
        }
    }
}

impl PartialOrd for Monomial {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Monomial {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Monomial {}

/// A monomial with its coefficient, which is not zero.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Term {
    atoms: Monomial,
    coefficient: i64,
}

impl Term {
    /// The two of which a positive multiple of the lesser is this term.
    fn as_min(&self) -> Option<(&Poly, &Poly)> {
        match &*self.atoms {
            [Atom::Min(a, b)] if self.coefficient > 0 => Some((a, b)),
            _ => None,
        }
    }
}

/// Terms in order, with what is asked of them often.
struct Node {
    terms: Vec<Term>,
    hash: u64,
    weight: u32,
    depth: u32,
    has_min: bool,
    anonymous: bool,
    symbols: SymbolSet,
}

/// A set of symbols that may hold more than was put into it: one of 64 bits for each.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(super) struct SymbolSet(u64);

impl SymbolSet {
    pub(super) fn of(name: &str) -> Self {
        let mut hasher = FxHasher::default();
        name.hash(&mut hasher);
        Self(1 << (hasher.finish() >> 58))
    }

    pub(super) fn add(&mut self, other: Self) {
        self.0 |= other.0;
    }

    /// False where no symbol is in both.
    pub(super) fn may_share(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// An integer polynomial. Copies share it.
#[derive(Clone, Default)]
pub struct Poly(Option<Arc<Node>>);

impl From<i64> for Poly {
    fn from(value: i64) -> Self {
        Self::constant(value)
    }
}

impl PartialEq for Poly {
    fn eq(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b) || (a.hash == b.hash && a.terms == b.terms),
            (None, None) => true,
            _ => false,
        }
    }
}

impl Eq for Poly {}

impl Hash for Poly {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.as_ref().map_or(0, |node| node.hash));
    }
}

impl Ord for Poly {
    fn cmp(&self, other: &Self) -> Ordering {
        if self.is_same(other) { Ordering::Equal } else { self.list().cmp(other.list()) }
    }
}

impl PartialOrd for Poly {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Debug for Poly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{self}`")
    }
}

impl Poly {
    /// A constant.
    pub fn constant(value: i64) -> Self {
        Self::single(Monomial::default(), value)
    }

    /// A symbol.
    pub fn symbol(name: &str) -> Self {
        Self::of_atom(Atom::Symbol(name.into()))
    }

    /// `coefficient` times a product of atoms.
    pub(crate) fn of_term(mut atoms: Vec<Atom>, coefficient: i128) -> Self {
        atoms.sort();
        match i64::try_from(coefficient) {
            Ok(coefficient) => Self::single(Monomial::of_sorted(atoms), coefficient),
            Err(_) => Self::beyond(Excess::Number),
        }
    }

    fn of_atom(atom: Atom) -> Self {
        Self::single(Monomial::of_sorted(vec![atom]), 1)
    }

    fn single(atoms: Monomial, coefficient: i64) -> Self {
        if coefficient == 0 { Self::default() } else { Self::of_terms(vec![Term { atoms, coefficient }]) }
    }

    /// The sum of terms that are in order.
    fn of_terms(terms: Vec<Term>) -> Self {
        if terms.is_empty() {
            return Self::default();
        }
        let mut hasher = FxHasher::default();
        let (mut weight, mut depth, mut has_min, mut anonymous) = (0u32, 0, false, false);
        let (mut most_factors, mut symbols) = (0, SymbolSet::default());
        for term in &terms {
            term.coefficient.hash(&mut hasher);
            term.atoms.len().hash(&mut hasher);
            most_factors = most_factors.max(term.atoms.len());
            weight = weight.saturating_add(1);
            for atom in &*term.atoms {
                atom.hash(&mut hasher);
                weight = weight.saturating_add(1);
                has_min |= matches!(atom, Atom::Min(..));
                match atom {
                    Atom::Symbol(name) => {
                        anonymous |= is_anonymous(name);
                        symbols.add(SymbolSet::of(name));
                    }
                    _ => {
                        for part in atom.parts().filter_map(|part| part.0.as_deref()) {
                            weight = weight.saturating_add(part.weight);
                            depth = depth.max(part.depth + 1);
                            has_min |= part.has_min;
                            anonymous |= part.anonymous;
                            symbols.add(part.symbols);
                        }
                    }
                }
            }
        }
        count_size(weight);
        if weight > MAX_WEIGHT || most_factors > MAX_FACTORS {
            return Self::beyond(Excess::Weight);
        }
        if depth > MAX_DEPTH {
            return Self::beyond(Excess::Depth);
        }
        Self(Some(Arc::new(Node { terms, hash: hasher.finish(), weight, depth, has_min, anonymous, symbols })))
    }

    fn list(&self) -> &[Term] {
        self.0.as_ref().map_or(&[], |node| &node.terms)
    }

    /// Whether both are one in memory.
    fn is_same(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (None, None) => true,
            _ => false,
        }
    }

    /// Number of terms and factors, at any depth.
    pub fn weight(&self) -> u32 {
        self.0.as_ref().map_or(0, |node| node.weight)
    }

    /// How deep floors and lessers of two are nested.
    pub fn depth(&self) -> u32 {
        self.0.as_ref().map_or(0, |node| node.depth)
    }

    fn is_anonymous(&self) -> bool {
        self.0.as_ref().is_some_and(|node| node.anonymous)
    }

    /// The constant that the polynomial is.
    pub fn as_const(&self) -> Option<i64> {
        match self.list() {
            [] => Some(0),
            [term] if term.atoms.is_empty() => Some(term.coefficient),
            _ => None,
        }
    }

    /// The atom that the polynomial is.
    fn as_atom(&self) -> Option<&Atom> {
        match self.list() {
            [Term { atoms, coefficient: 1 }] => match &**atoms {
                [atom] => Some(atom),
                _ => None,
            },
            _ => None,
        }
    }

    /// The symbol that the polynomial is.
    pub fn as_symbol(&self) -> Option<&str> {
        match self.as_atom()? {
            Atom::Symbol(name) => Some(name),
            _ => None,
        }
    }

    /// True for zero.
    pub fn is_zero(&self) -> bool {
        self.0.is_none()
    }

    /// Monomials with their coefficients, which fit 64 bits, in canonical order.
    pub fn terms(&self) -> impl Iterator<Item = (&[Atom], i128)> {
        self.list().iter().map(|term| (&*term.atoms, term.coefficient.into()))
    }

    fn atoms(&self) -> impl Iterator<Item = &Atom> {
        self.list().iter().flat_map(|term| &*term.atoms)
    }

    /// What depends on symbols, and what is added to it.
    pub fn split_constant(&self) -> (Self, i64) {
        // The constant term is the first in order.
        match self.list() {
            [first, rest @ ..] if first.atoms.is_empty() => (Self::of_terms(rest.to_vec()), first.coefficient),
            _ => (self.clone(), 0),
        }
    }

    /// Names of all symbols, sorted.
    pub fn symbols(&self) -> BTreeSet<Arc<str>> {
        let mut names = BTreeSet::new();
        self.each_symbol(&mut |name| {
            names.insert(name.clone());
        });
        names
    }

    /// Calls `each` with every symbol, as often as it occurs.
    pub fn each_symbol(&self, each: &mut impl FnMut(&Arc<str>)) {
        let mut pending = vec![self];
        while let Some(poly) = pending.pop() {
            for atom in poly.atoms() {
                match atom {
                    Atom::Symbol(name) => each(name),
                    _ => pending.extend(atom.parts()),
                }
            }
        }
    }

    /// A set that holds all its symbols.
    pub(super) fn symbol_set(&self) -> SymbolSet {
        self.0.as_ref().map_or(SymbolSet::default(), |node| node.symbols)
    }

    /// Whether the symbol occurs in it.
    pub fn mentions(&self, name: &str) -> bool {
        self.symbol_set().may_share(SymbolSet::of(name)) && self.atoms().any(|atom| atom.mentions(name))
    }

    /// The atoms that are the lesser of two and that no other atom holds.
    pub(crate) fn mins(&self) -> impl Iterator<Item = &Atom> {
        self.atoms().filter(|atom| matches!(atom, Atom::Min(..)))
    }

    /// True when it holds the lesser of two anywhere.
    pub(crate) fn has_min(&self) -> bool {
        self.0.as_ref().is_some_and(|node| node.has_min)
    }
}

/// The greatest number that divides both.
pub(super) fn gcd(a: i128, b: i128) -> i128 {
    let (mut a, mut b) = (a.saturating_abs(), b.saturating_abs());
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

//! What is known of symbols: ranges, divisibility, likely values, equalities.

mod canonical;
mod range;
mod residues;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap};

use super::poly::limits::is_anonymous;
use super::poly::{Atom, Poly, SymbolSet, gcd};
use canonical::Memo;
use range::holds;
pub use residues::Residue;

/// Largest weight and depth of a size that takes a symbol's place everywhere. A symbol that equals more than that is kept and
/// defined by it, so that sizes made of it stay small.
const MAX_SOLVED: (u32, u32) = (192, 8);

/// Most equalities of each kind that are kept without being solved. To forget one is to know less.
const MAX_KEPT: usize = 256;

/// Whether a size is too large to stand in many places.
pub(crate) fn is_large(size: &Poly) -> bool {
    size.weight() > MAX_SOLVED.0 || size.depth() > MAX_SOLVED.1 || size.terms().any(|(atoms, _)| atoms.len() > 16)
}

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

impl SymbolInfo {
    /// True for a value that the symbol may have.
    pub fn allows(&self, value: i64) -> bool {
        (self.min..=self.max).contains(&value) && value % self.div == 0
    }

    /// States that every value is a multiple of `div` as well.
    pub fn divide_by(&mut self, div: i64) {
        self.div = lcm(div, self.div);
    }

    /// Forgets likely values that it may no longer have.
    pub fn forget_impossible(&mut self) {
        let mut likely = std::mem::take(&mut self.likely);
        likely.retain(|value| self.allows(*value));
        self.likely = likely;
    }
}

impl Default for SymbolInfo {
    fn default() -> Self {
        Self { min: 0, max: MAX_DIM, div: 1, likely: Vec::new() }
    }
}

/// Symbols and equalities of one function, kernel or program.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Facts {
    symbols: IndexMap<Arc<str>, SymbolInfo, FxBuildHasher>,
    /// Rewrites of a symbol into others: the solved equalities, as they were solved. Later ones may rewrite what they hold.
    solved: IndexMap<Arc<str>, Poly, FxBuildHasher>,
    /// The symbols of `solved`.
    solved_set: SymbolSet,
    /// Symbols that equal something [large](is_large). They are not rewritten.
    definitions: IndexMap<Arc<str>, Poly, FxBuildHasher>,
    /// Equalities that no symbol could be solved from, as polynomials that are zero.
    zero: Vec<Poly>,
    /// Each lesser of two that was solved from an equality instead, with what it equals.
    solved_mins: Vec<(Poly, Poly)>,
    /// Symbols of which more is known than what divides them.
    residues: IndexMap<Arc<str>, Residue, FxBuildHasher>,
    /// What is never negative by an equality, and no symbol's range says.
    ordered: Vec<Poly>,
    /// What was derived from all this.
    memo: Memo,
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
        self.memo.clear();
        self.symbols.insert(name.into(), info);
    }

    /// States what a new symbol is: something large that it stands for, and that is not negative. Its range and what divides it
    /// follow.
    pub fn define_as(&mut self, name: &str, value: &Poly) {
        let (low, high) = self.range(value);
        let fit = |bound: i128| bound.clamp(0, i64::MAX.into()) as i64;
        let div = i64::try_from(self.common_divisor(value)).unwrap_or(1).max(1);
        self.define(name, SymbolInfo { min: fit(low), max: fit(high), div, ..SymbolInfo::default() });
        self.definitions.insert(name.into(), value.clone());
    }

    /// Symbols in the order in which they were defined.
    pub fn symbols(&self) -> impl Iterator<Item = (&Arc<str>, &SymbolInfo)> {
        self.symbols.iter()
    }

    /// What is known of a symbol; the default for one that was not defined.
    pub fn info(&self, name: &str) -> SymbolInfo {
        match self.symbols.get(name) {
            Some(info) => info.clone(),
            // A size beyond the limits may be any number.
            None if is_anonymous(name) => SymbolInfo { min: i64::MIN, max: i64::MAX, ..SymbolInfo::default() },
            None => SymbolInfo::default(),
        }
    }

    /// States that two sizes are equal. What is beyond the limits of sizes says nothing.
    ///
    /// # Errors
    /// When that contradicts what is known.
    pub fn assume_equal(&mut self, a: &Poly, b: &Poly) -> Result<(), Contradiction> {
        let (lhs, rhs) = (self.canonical(a), self.canonical(b));
        let difference = lhs.sub(&rhs);
        if difference.is_zero() || difference.excess().is_some() {
            return Ok(());
        }
        let (low, high) = self.range(&difference);
        if low > 0 || high < 0 {
            return Err(Contradiction { lhs, rhs });
        }
        // What all terms share says nothing; a constant that does not share it never makes zero.
        let Some(difference) = without_common_factor(&difference) else { return Err(Contradiction { lhs, rhs }) };
        let difference = self.without_positive_factor(&difference);
        if !self.residue(&difference).holds(0) {
            return Err(Contradiction { lhs, rhs });
        }
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
                if is_large(&value) {
                    // What is called by a symbol alone is what it defines.
                    let (name, value) = match lhs.as_symbol() {
                        Some(own) if !rhs.mentions(own) => (own.into(), rhs),
                        _ => (name, value),
                    };
                    self.definitions.entry(name).or_insert(value);
                } else {
                    self.narrow(&name, &value).ok_or_else(|| Contradiction { lhs: lhs.clone(), rhs: rhs.clone() })?;
                    self.bind(name, value)?;
                }
            }
            None => match solve_min(&difference) {
                Some((least, value)) if self.solved_mins.len() < MAX_KEPT => {
                    for part in least.mins().flat_map(Atom::parts) {
                        self.keep_ordered(part.sub(&value));
                    }
                    self.solved_mins.push((least, value));
                    self.memo.clear();
                }
                None if self.zero.len() < MAX_KEPT => self.zero.push(difference),
                _ => {}
            },
        }
        Ok(())
    }

    /// Where `zero` says that the lesser of two is one of them, that one is at most the other. Returns whether it does.
    fn order(&mut self, zero: &Poly) -> bool {
        let room = zero.ordered();
        if let Some(room) = &room {
            self.assume_not_negative(room);
        }
        room.is_some()
    }

    /// States that a size is at least 0: as range of a symbol, where one alone decides it. Nothing happens where a range would
    /// have no value left.
    fn assume_not_negative(&mut self, size: &Poly) {
        let room = self.canonical(size);
        let (rest, constant) = room.split_constant();
        let mut terms = rest.terms();
        let (Some(([Atom::Symbol(name)], factor)), None) = (terms.next(), terms.next()) else {
            self.assume_at_least(&room, 0);
            self.keep_ordered(room);
            return;
        };
        // constant + factor * name >= 0
        let Ok(factor) = i64::try_from(factor) else { return };
        match factor {
            1.. => self.bound(name, Some(constant.div_euclid(factor).saturating_neg()), None),
            _ => self.bound(name, None, Some(constant.div_euclid(factor.saturating_neg()))),
        }
    }

    /// Puts the range of a symbol within bounds. Nothing happens where it would have no value left.
    fn bound(&mut self, name: &str, least: Option<i64>, most: Option<i64>) {
        let mut info = self.info(name);
        (info.min, info.max) = (info.min.max(least.unwrap_or(info.min)), info.max.min(most.unwrap_or(info.max)));
        if info.min <= info.max {
            info.forget_impossible();
            self.memo.clear();
            self.symbols.insert(name.into(), info);
        }
    }

    /// Raises what symbols are at least, as far as that follows from a size that is at least so much: with `p floordiv 8` at least 1,
    /// `p` is at least 8.
    pub fn assume_at_least(&mut self, size: &Poly, least: i128) {
        let size = self.canonical(size);
        for (atoms, c) in size.terms().filter(|(atoms, c)| !atoms.is_empty() && *c > 0) {
            let others = size.sub(&Poly::of_term(atoms.to_vec(), c));
            let wanted = least.saturating_sub(self.range(&others).1);
            if wanted < 1 {
                continue;
            }
            match atoms {
                [atom] => self.raise(atom, wanted.saturating_add(c - 1) / c),
                // A product above 0 has no factor that is 0.
                _ if atoms.iter().all(|atom| self.atom_range(atom).0 >= 0) => {
                    atoms.iter().for_each(|atom| self.raise(atom, 1));
                }
                _ => {}
            }
        }
    }

    fn raise(&mut self, atom: &Atom, least: i128) {
        match atom {
            Atom::Symbol(name) => self.bound(name, i64::try_from(least).ok(), None),
            Atom::FloorDiv(inner, divisor) => self.assume_at_least(inner, least.saturating_mul((*divisor).into())),
            Atom::Min(a, b) => [a, b].into_iter().for_each(|part| self.assume_at_least(part, least)),
        }
    }

    fn keep_ordered(&mut self, size: Poly) {
        if self.ordered.len() < MAX_KEPT {
            self.memo.clear();
            self.ordered.push(size);
        }
    }

    /// A symbol that occurs in `zero` once, alone and with coefficient one or minus one, and what it equals. The
    /// symbol defined last is taken, so that the model's own names survive.
    fn solve(&self, zero: &Poly) -> Option<(Arc<str>, Poly)> {
        let rank = |name: &Arc<str>| self.symbols.get_index_of(name).map_or(usize::MAX, |i| i);
        let mut occurrences: FxHashMap<Arc<str>, u32> = FxHashMap::default();
        zero.each_symbol(&mut |name| match occurrences.get_mut(name) {
            Some(times) => *times += 1,
            None => drop(occurrences.insert(name.clone(), 1)),
        });
        let mut best: Option<(Arc<str>, i128)> = None;
        for (atoms, c) in zero.terms() {
            let [Atom::Symbol(name)] = atoms else { continue };
            let alone = occurrences.get(name) == Some(&1);
            if c.abs() == 1 && alone && best.as_ref().is_none_or(|(b, _)| rank(name) > rank(b)) {
                best = Some((name.clone(), c));
            }
        }
        let (name, c) = best?;
        let rest = zero.sub(&Poly::symbol(&name).scale(c as i64));
        Some((name, rest.scale(-(c as i64))))
    }

    /// The polynomial divided by the symbols that are a factor of all of it and at least 1, so that it is zero where what is left is.
    fn without_positive_factor(&self, zero: &Poly) -> Poly {
        let mut rest = zero.clone();
        let first: Vec<Atom> = zero.terms().next().map(|(atoms, _)| atoms.to_vec()).unwrap_or_default();
        for atom in first {
            let Atom::Symbol(name) = &atom else { continue };
            if self.info(name).min >= 1
                && let Some(quotient) = rest.divide_exact(&Poly::symbol(name))
            {
                rest = quotient;
            }
        }
        rest
    }

    /// From now on `value` takes the symbol's place, where canonical forms are made. What equalities without a solution say of it
    /// may have one now.
    fn bind(&mut self, name: Arc<str>, value: Poly) -> Result<(), Contradiction> {
        let changed = |(least, value): &mut (Poly, Poly)| least.mentions(&name) || value.mentions(&name);
        let mins: Vec<(Poly, Poly)> = self.solved_mins.extract_if(.., changed).collect();
        self.solved_set.add(SymbolSet::of(&name));
        let zero: Vec<Poly> = self.zero.extract_if(.., |zero| zero.mentions(&name)).collect();
        self.solved.insert(name, value);
        self.memo.clear();
        for (least, value) in mins {
            // What contradicts itself now is found out where the sizes meet.
            let _ = self.assume_equal(&least, &value);
        }
        zero.iter().try_for_each(|zero| self.assume_equal(zero, &Poly::default()))
    }

    /// What is known of a symbol that equals a multiple of another one and a constant holds of that one as well: its range, what
    /// divides it, its likely values. `None` where the other one has no value left.
    fn narrow(&mut self, name: &str, value: &Poly) -> Option<()> {
        let (rest, constant) = value.split_constant();
        let mut terms = rest.terms();
        let (Some(([Atom::Symbol(other)], factor)), None) = (terms.next(), terms.next()) else { return Some(()) };
        let Ok(factor) = i64::try_from(factor) else { return Some(()) };
        let (own, mut info) = (self.info(name), self.info(other));
        let line = Line { factor, constant };
        let (low, high) = line.within(own.min, own.max);
        (info.min, info.max) = (info.min.max(low), info.max.min(high));
        if let Some(div) = line.divisor(own.div) {
            info.divide_by(div);
        }
        if info.max.div_euclid(info.div) * info.div < info.min {
            return None;
        }
        let residue = self.residue_of(name).of_linear(factor, constant)?;
        for value in own.likely.iter().filter_map(|value| line.solve(*value)) {
            if !info.likely.contains(&value) {
                info.likely.push(value);
            }
        }
        info.forget_impossible();
        self.memo.clear();
        let other = other.clone();
        self.symbols.insert(other.clone(), info);
        self.leave(&other, residue).then_some(())
    }

    /// Symbols that equal something else, with what they were solved to or are defined by.
    pub fn solved(&self) -> impl Iterator<Item = (&Arc<str>, &Poly)> {
        self.solved.iter().chain(&self.definitions)
    }

    /// Value of a size for the given values of symbols that neither equal nor are defined by others.
    pub fn eval(&self, size: &Poly, value_of: &dyn Fn(&str) -> Option<i64>) -> Option<i64> {
        let mut defined: FxHashMap<&str, i64> = FxHashMap::default();
        // Each is made of symbols that were there before.
        for (name, definition) in &self.definitions {
            let value = self.canonical(definition).eval(&|n| value_of(n).or_else(|| defined.get(n).copied()));
            defined.extend(value.map(|value| (&**name, value)));
        }
        self.canonical(size).eval(&|n| value_of(n).or_else(|| defined.get(n).copied()))
    }

    /// Whether something is known of the symbol.
    pub fn is_defined(&self, name: &str) -> bool {
        self.symbols.contains_key(name)
    }
}

/// `factor * x + constant`, with a factor that is not 0.
struct Line {
    factor: i64,
    constant: i64,
}

impl Line {
    /// The `x` for which it has that value.
    fn solve(&self, value: i64) -> Option<i64> {
        let multiple = i128::from(value) - i128::from(self.constant);
        let factor = i128::from(self.factor);
        (multiple % factor == 0).then(|| i64::try_from(multiple / factor).ok())?
    }

    /// The least and the greatest `x` for which it lies in a range.
    fn within(&self, min: i64, max: i64) -> (i64, i64) {
        let multiple = |bound: i64| i128::from(bound) - i128::from(self.constant);
        let factor = i128::from(self.factor);
        // What a negative factor makes larger it makes less.
        let (low, high) = if factor > 0 { (multiple(min), multiple(max)) } else { (-multiple(max), -multiple(min)) };
        let fit = |bound: i128| bound.clamp(i64::MIN.into(), i64::MAX.into()) as i64;
        (fit(-(-low).div_euclid(factor.abs())), fit(high.div_euclid(factor.abs())))
    }

    /// What divides `x` where `div` divides the whole.
    fn divisor(&self, div: i64) -> Option<i64> {
        (div > 1 && self.constant % div == 0).then(|| (i128::from(div) / gcd(div.into(), self.factor.into())) as i64)
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

/// The polynomial divided by the greatest number that divides the coefficients of its symbols; `None` when that does
/// not divide the constant.
fn without_common_factor(poly: &Poly) -> Option<Poly> {
    let factor = poly.terms().filter(|(atoms, _)| !atoms.is_empty()).fold(0, |factor, (_, c)| gcd(factor, c));
    match i64::try_from(factor) {
        Ok(factor @ 2..) => poly.divide_exact(&Poly::constant(factor)),
        _ => Some(poly.clone()),
    }
}

fn lcm(a: i64, b: i64) -> i64 {
    let (mut x, mut y) = (a.max(1), b.max(1));
    while y != 0 {
        (x, y) = (y, x % y);
    }
    (a.max(1) / x).saturating_mul(b.max(1))
}

//! Index values as sizes, and their bounds: what proves that a slice lies inside its view.
//!
//! Every index in a kernel is a size (a kernel's dim), the index of the grid or of a loop, a constant, or an affine map
//! of such, or picked from indices that the kernel reads. So it is a polynomial over the kernel's dims and one symbol per index variable, and its extreme values
//! follow by putting each variable's bound in its place.

use std::sync::Arc;

use indexmap::IndexMap;
use sutura_ir::affine::{AffineExpr, AffineExprData, AffineOp};
use sutura_ir::body::ValueKind;
use sutura_ir::{Body, Context, OpRef, Value};

use super::kernel::KernelInfo;
use super::ops::{ForOp, IndexOp, PickOp};
use crate::r#dyn::facts::Facts;
use crate::r#dyn::poly::{Atom, Poly};

/// An index variable: what a loop, the grid or the unit counts, or a pick reads.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its value in the kernel.
    pub value: Value,
    /// Smallest value.
    pub low: Poly,
    /// Values that it is not below either, where the smallest value is the largest of several; a constant first.
    floors: Vec<Poly>,
    /// Largest value; below the smallest when there is no trip.
    pub high: Poly,
    /// Values that it does not exceed either: the largest is the least of them and `high`.
    pub caps: Vec<Poly>,
}

/// True for a size in which the least of several stands.
fn has_least(poly: &Poly) -> bool {
    let mut atoms = poly.terms().flat_map(|(atoms, _)| atoms);
    atoms.any(|atom| matches!(atom, Atom::Min(..)) || atom.parts().any(has_least))
}

/// How many times a proof looks at both cases of a least of two.
const CASES: usize = 3;

/// Two sizes of which the least stands in another one, and in which none stands.
fn innermost_least(poly: &Poly) -> Option<(Poly, Poly)> {
    let mut atoms = poly.terms().flat_map(|(atoms, _)| atoms);
    atoms.find_map(|atom| {
        atom.parts().find_map(innermost_least).or_else(|| match atom {
            Atom::Min(a, b) => Some((a.clone(), b.clone())),
            _ => None,
        })
    })
}

/// Lower bounds of a size from which a least of two is subtracted: the size with each of the two in its place.
fn without_least(poly: &Poly) -> Vec<Poly> {
    let falls = |(atoms, c): (&[Atom], i128)| match atoms {
        [Atom::Min(a, b)] => c < 0 && !has_least(a) && !has_least(b),
        _ => !atoms.iter().any(|atom| atom.parts().any(has_least) || matches!(atom, Atom::Min(..))),
    };
    if !has_least(poly) || !poly.terms().all(falls) {
        return vec![];
    }
    let one = poly.substitute_min(&|a, _| Some(a.clone()));
    let other = poly.substitute_min(&|_, b| Some(b.clone()));
    let mut both = vec![one, other];
    both.sort_by_key(|floor| floor.as_const().is_none());
    both
}

impl Variable {
    /// The number that is put in its place where its least value is wanted.
    fn least(&self, floor: usize) -> &Poly {
        self.floors.get(floor).or(self.floors.first()).unwrap_or(&self.low)
    }

    /// Number of trips, when that is not negative and no cap makes them fewer.
    pub fn trips(&self) -> Poly {
        self.high.sub(&self.low).add(&1.into())
    }

    /// The polynomials that bound it.
    pub fn bounds(&self) -> impl Iterator<Item = &Poly> {
        [&self.low, &self.high].into_iter().chain(&self.caps)
    }
}

/// Polynomials of the index values of one kernel. See the module documentation.
pub struct Bounds<'a> {
    cx: &'a Context,
    body: &'a Body,
    exprs: IndexMap<Value, Poly>,
    /// Variables in the order of their scopes, outermost first.
    variables: IndexMap<Arc<str>, Variable>,
    /// What is known of the sizes.
    pub facts: Facts,
    /// Sizes that are not negative, because the host checks it.
    conditions: Vec<Poly>,
}

impl<'a> Bounds<'a> {
    /// The sizes and grid indices of a kernel.
    pub fn of_kernel(kernel: &KernelInfo<'a>) -> Self {
        let mut facts = kernel.facts();
        for condition in &kernel.requires {
            tighten(&mut facts, condition);
        }
        let mut bounds = Self {
            cx: kernel.op.cx,
            body: kernel.op.inside(),
            exprs: IndexMap::new(),
            variables: IndexMap::new(),
            conditions: kernel.requires.iter().map(|c| facts.canonical(c)).collect(),
            facts,
        };
        for (value, dim) in &kernel.dims {
            bounds.exprs.insert(*value, Poly::symbol(&dim.name));
        }
        for (value, extent) in &kernel.grid {
            bounds.variable(*value, 0.into(), extent.sub(&1.into()), vec![]);
        }
        if let Some(unit) = kernel.unit {
            bounds.variable(unit, 0.into(), (kernel.units - 1).into(), vec![]);
        }
        bounds
    }

    /// The largest value that a size has, from what is known of symbols and from what the kernel requires of the size itself.
    pub fn most(&self, size: &Poly) -> i128 {
        let size = self.facts.canonical(size);
        let required = self.conditions.iter().filter_map(|condition| condition.add(&size).as_const());
        required.map(i128::from).fold(self.facts.range(&size).1, i128::min)
    }

    fn variable(&mut self, value: Value, low: Poly, high: Poly, caps: Vec<Poly>) {
        let mut name = match self.body.value_name(value) {
            Some(name) => format!("%{}", self.cx.str(name)),
            None => format!("%{}", value.index()),
        };
        // Values of different loops may have one name.
        while self.variables.contains_key(&*name) {
            name.push('_');
        }
        let mut floors = without_least(&low);
        // What is taken from 0 is the least of 0 and of others: that is never negative.
        let zero = Poly::default();
        if has_least(&low) && !floors.contains(&zero) && self.never_negative(&low) {
            floors.insert(0, zero);
        }
        if !floors.is_empty() {
            floors.push(low.clone());
        }
        self.exprs.insert(value, Poly::symbol(&name));
        self.variables.insert(name.into(), Variable { value, low, floors, high, caps });
    }

    /// The index variable called `name` in polynomials.
    pub fn variable_named(&self, name: &str) -> Option<&Variable> {
        self.variables.get(name)
    }

    /// True when the trips of the loop with this index may differ from unit to unit: a bound of it mentions the unit, or what
    /// data decides.
    pub fn differs_by_unit(&self, index: &Poly, unit: &Poly) -> bool {
        let variable = index.as_symbol().and_then(|name| self.variable_named(name));
        let mentions = |bound: &Poly| unit.as_symbol().is_some_and(|unit| bound.symbols().contains(unit));
        variable.is_none_or(|variable| variable.bounds().any(|bound| mentions(bound) || self.is_picked(bound)))
    }

    /// True when data decides it: it mentions what a pick has read.
    pub fn is_picked(&self, poly: &Poly) -> bool {
        let picks = |variable: &Variable| match self.body.value_kind(variable.value) {
            ValueKind::Result(op, _) => OpRef::new(self.cx, self.body, op).is::<PickOp>(),
            _ => false,
        };
        poly.symbols().iter().any(|name| self.variable_named(name).is_some_and(picks))
    }

    /// The value as polynomial over dims and variables; `None` when it is not one.
    pub fn expr(&mut self, value: Value) -> Option<Poly> {
        if let Some(poly) = self.exprs.get(&value) {
            return Some(poly.clone());
        }
        let poly = match self.body.value_kind(value) {
            ValueKind::Result(op, _) => self.of_op(OpRef::new(self.cx, self.body, op))?,
            ValueKind::Arg(block, 0) => {
                let loop_op = OpRef::new(self.cx, self.body, self.body.block_parent(block)?).as_::<ForOp>()?;
                let low = self.expr(loop_op.lo())?;
                let mut ends = self.least(loop_op.hi())?;
                // Sizes alone have a least one of their own.
                if !ends.iter().flat_map(Poly::symbols).any(|name| self.variables.contains_key(&name)) {
                    ends = ends.into_iter().reduce(|a, b| a.lesser(&b)).into_iter().collect();
                }
                let mut ends = ends.into_iter().map(|end| end.sub(&1.into()));
                let high = ends.next()?;
                let caps = ends.collect();
                self.variable(value, low, high, caps);
                return self.exprs.get(&value).cloned();
            }
            _ => return None,
        };
        self.exprs.insert(value, poly.clone());
        Some(poly)
    }

    /// The polynomials of which a value is the least; `None` when it is not one of polynomials over dims and variables.
    pub fn least(&mut self, value: Value) -> Option<Vec<Poly>> {
        let ValueKind::Result(op, _) = self.body.value_kind(value) else { return Some(vec![self.expr(value)?]) };
        match OpRef::new(self.cx, self.body, op).as_::<IndexOp>() {
            Some(index) => self.of_index(&index),
            None => Some(vec![self.expr(value)?]),
        }
    }

    /// The polynomial of a value that [`Bounds::expr`] was asked for before.
    pub fn known(&self, value: Value) -> Option<Poly> {
        self.exprs.get(&value).cloned()
    }

    fn of_op(&mut self, op: OpRef<'a>) -> Option<Poly> {
        if let Some(value) = sutura_ir::registry::constant_value(op) {
            return self.cx.as_int(value).map(Poly::constant);
        }
        if let Some(pick) = op.as_::<PickOp>() {
            let size = self.expr(pick.size())?;
            // What is picked of nothing is 0, so that the size itself is the bound.
            let some = self.never_negative(&size.sub(&1.into()));
            self.variable(pick.result(), 0.into(), if some { size.sub(&1.into()) } else { size }, vec![]);
            return self.exprs.get(&pick.result()).cloned();
        }
        self.of_index(&op.as_::<IndexOp>()?)?.into_iter().reduce(|a, b| a.lesser(&b))
    }

    /// The results of a map.
    fn of_index(&mut self, index: &IndexOp<'a>) -> Option<Vec<Poly>> {
        let map = self.cx.affine_map_data(index.map());
        let inputs: Option<Vec<Poly>> = index.args().map(|v| self.expr(v)).collect();
        let (inputs, results) = (inputs?, self.cx.affine_exprs(map.results));
        results.iter().map(|result| self.of_affine(*result, map.dims as usize, &inputs)).collect()
    }

    fn of_affine(&self, expr: AffineExpr, dims: usize, inputs: &[Poly]) -> Option<Poly> {
        match self.cx.affine_data(expr) {
            AffineExprData::Const(value) => Some(value.into()),
            AffineExprData::Dim(i) => inputs.get(i as usize).cloned(),
            AffineExprData::Symbol(i) => inputs.get(dims + i as usize).cloned(),
            AffineExprData::Binary(op, a, b) => {
                let (a, b) = (self.of_affine(a, dims, inputs)?, self.of_affine(b, dims, inputs)?);
                let divisor = || b.as_const().filter(|d| *d >= 1);
                match op {
                    AffineOp::Add => Some(a.add(&b)),
                    AffineOp::Mul => Some(a.mul(&b)),
                    AffineOp::FloorDiv => Some(a.floordiv(divisor()?)),
                    AffineOp::CeilDiv => Some(a.ceildiv(divisor()?)),
                    AffineOp::Mod => Some(a.rem(divisor()?)),
                }
            }
        }
    }

    /// The largest value over all trips, as polynomial over dims only; `None` when the variables' signs are mixed.
    pub fn upper(&self, poly: &Poly) -> Option<Poly> {
        self.extreme(poly, true, (0, 0))
    }

    /// The smallest value over all trips, as polynomial over dims only.
    pub fn lower(&self, poly: &Poly) -> Option<Poly> {
        self.extreme(poly, false, (0, 0))
    }

    /// A bound for all trips, with the largest value of a variable taken to be its cap number `cap`, counted from 1 on, and the
    /// smallest to be its floor number `floor`, where it has as many: each is true, but not each is as sharp.
    fn extreme(&self, poly: &Poly, upper: bool, (cap, floor): (usize, usize)) -> Option<Poly> {
        let mut poly = poly.clone();
        // Inner variables first: their bounds may mention outer ones.
        for (name, range) in self.variables.iter().rev() {
            let (mut rising, mut falling) = (false, false);
            for (atoms, c) in poly.terms() {
                let at = atoms.iter().position(|a| a.mentions(name));
                if let Some(at) = at {
                    // Atoms hold their variables with positive factors, so only what multiplies one can turn it round.
                    let others = atoms.iter().enumerate().filter(|(i, _)| *i != at);
                    if others.into_iter().any(|(_, atom)| !self.is_natural(atom)) {
                        return None;
                    }
                }
                rising |= at.is_some() && c > 0;
                falling |= at.is_some() && c < 0;
            }
            if rising && falling {
                return None;
            }
            if rising || falling {
                let high = cap.checked_sub(1).and_then(|at| range.caps.get(at)).unwrap_or(&range.high);
                let bound = if rising == upper { high } else { range.least(floor) };
                poly = poly.substitute(&|n| (n == &**name).then(|| bound.clone()));
            }
        }
        Some(poly)
    }

    /// True when an atom is never negative.
    fn is_natural(&self, atom: &Atom) -> bool {
        let natural = |name: &Arc<str>| match self.variables.get(name) {
            Some(variable) => variable.least(0).as_const().is_some_and(|low| low >= 0),
            None => self.facts.info(name).min >= 0,
        };
        match atom {
            Atom::Symbol(name) => natural(name),
            _ => atom.parts().all(|part| part.symbols().iter().all(natural)),
        }
    }

    /// True when `poly` is at least zero for every trip and every admissible size. False means unknown.
    pub fn never_negative(&self, poly: &Poly) -> bool {
        self.never_negative_in_cases(poly, CASES)
    }

    /// The same, in both cases of the least of two, for so many of these at most.
    fn never_negative_in_cases(&self, poly: &Poly, cases: usize) -> bool {
        self.never_negative_at_ends(poly)
            || cases > 0
                && innermost_least(poly).is_some_and(|(a, b)| {
                    let with = |case: &Poly| poly.substitute_min(&|x, y| (*x == a && *y == b).then(|| case.clone()));
                    [&a, &b].into_iter().all(|case| self.never_negative_in_cases(&with(case), cases - 1))
                })
    }

    fn never_negative_at_ends(&self, poly: &Poly) -> bool {
        let caps = self.variables.values().map(|v| v.caps.len()).max().unwrap_or(0);
        let floors = self.variables.values().map(|v| v.floors.len()).max().unwrap_or(0).max(1);
        let ends = (0..=caps).flat_map(|cap| (0..floors).map(move |floor| (cap, floor)));
        ends.filter_map(|ends| self.extreme(poly, false, ends)).any(|low| {
            self.facts.prove_non_negative(&low)
                || self.conditions.iter().any(|condition| {
                    self.facts.prove_non_negative(&low.sub(condition))
                        || self.facts.prove_non_negative(&self.without_floors(&low, condition))
                })
        })
    }

    /// True when `poly` is at least zero wherever all of these variables have a value: each counts at least one trip there.
    pub fn never_negative_within(&self, poly: &Poly, around: impl IntoIterator<Item = Value>) -> bool {
        let Some(low) = self.lower(poly) else { return false };
        let mut facts = self.facts.clone();
        for value in around {
            let trips = self.known(value).and_then(|own| Some(self.variable_named(own.as_symbol()?)?.trips()));
            if let Some(trips) = trips.and_then(|trips| self.upper(&trips)) {
                facts.assume_at_least(&trips, 1);
            }
        }
        facts.prove_non_negative(&low)
    }

    /// Something not above `low`, in which floors of what a condition bounds are replaced by their extreme values: where
    /// `2400 - (M + N)` is never negative, `(M + N + 31) floordiv 32` is at most 75. [`Facts`] knows this of the range of one
    /// symbol; a condition bounds what is made of several.
    fn without_floors(&self, low: &Poly, condition: &Poly) -> Poly {
        let mut sharper = Poly::default();
        for (atoms, c) in low.terms() {
            let extreme = match atoms {
                [Atom::FloorDiv(inner, divisor)] if c < 0 => {
                    let high = self.facts.range(&inner.add(condition)).1;
                    (high < self.facts.range(inner).1).then_some((high, divisor))
                }
                [Atom::FloorDiv(inner, divisor)] => {
                    let least = self.facts.range(&inner.sub(condition)).0;
                    (least > self.facts.range(inner).0).then_some((least, divisor))
                }
                _ => None,
            };
            let extreme = extreme.and_then(|(value, divisor)| i64::try_from(value.div_euclid((*divisor).into())).ok());
            let term = match extreme {
                Some(value) => Poly::of_term(vec![], c).mul(&value.into()),
                None => Poly::of_term(atoms.to_vec(), c),
            };
            sharper = sharper.add(&term);
        }
        sharper
    }

    /// True when the two are equal for every trip and every admissible size. False means unknown.
    pub fn equal(&self, a: &Poly, b: &Poly) -> bool {
        self.facts.prove_equal(a, b)
    }
}

/// Uses a condition `c - k*N` (or `k*N - c`), which must not be negative, to narrow the range of `N`. The condition may also hold a quotient
/// in place of `N`, such as `(N + 1) floordiv 2`: then it bounds what is divided.
pub fn tighten(facts: &mut Facts, condition: &Poly) {
    let (rest, constant) = condition.split_constant();
    let mut terms = rest.terms();
    let (Some(([atom], factor)), None) = (terms.next(), terms.next()) else { return };
    let Ok(factor) = i64::try_from(factor) else { return };
    // The least that the atom is, or the most.
    let (least, most) = match factor {
        ..0 => (None, Some(constant.div_euclid(factor.saturating_neg()))),
        0 => return,
        1.. => (Some(constant.div_euclid(factor).saturating_neg()), None),
    };
    match atom {
        Atom::Symbol(name) => {
            let mut info = facts.info(name);
            (info.min, info.max) = (info.min.max(least.unwrap_or(info.min)), info.max.min(most.unwrap_or(info.max)));
            facts.define(name, info);
        }
        Atom::FloorDiv(inner, divisor) => {
            let end = |quotient: i64, rest: i64| quotient.checked_mul(*divisor)?.checked_add(rest);
            let room = match (least, most) {
                (Some(least), _) => end(least, 0).map(|least| inner.sub(&least.into())),
                (_, Some(most)) => end(most, *divisor - 1).map(|most| Poly::constant(most).sub(inner)),
                _ => None,
            };
            if let Some(room) = room {
                tighten(facts, &room);
            }
        }
        Atom::Min(..) => {}
    }
}

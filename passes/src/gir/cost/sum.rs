//! Elements that exist in a window, summed over all trips of the loops around it: as a polynomial where that is one, and
//! exactly for given sizes.

use std::collections::BTreeSet;
use std::sync::Arc;

use sutura_dialects::r#dyn::poly::{Atom, Poly};
use sutura_dialects::gir::bounds::Bounds;

/// A loop, or a dimension of the grid: its index and the first and last value of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Trip {
    pub(super) name: Arc<str>,
    pub(super) low: Poly,
    pub(super) high: Poly,
    /// What the last value does not exceed either.
    pub(super) caps: Vec<Poly>,
}

impl Trip {
    fn polys(&self) -> Vec<&Poly> {
        [&self.low, &self.high].into_iter().chain(&self.caps).collect()
    }
}

/// The positions `i` for which `0 <= offset + i * step < size`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Clip {
    pub(super) offset: Poly,
    pub(super) step: i64,
    pub(super) size: Poly,
}

/// What exists of `extent` positions: those that all clips leave.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Span {
    pub(super) extent: Poly,
    pub(super) clips: Vec<Clip>,
    /// Nothing exists where one of these is empty.
    pub(super) gates: Vec<Span>,
}

impl Span {
    pub(super) fn whole(extent: Poly) -> Self {
        Self { extent, clips: Vec::new(), gates: Vec::new() }
    }

    /// What of `extent` positions, `step` apart from `offset` on, lies within `size`.
    pub(super) fn clipped(bounds: &Bounds<'_>, extent: Poly, offset: &Poly, step: i64, size: &Poly) -> Self {
        let last = offset.add(&extent.sub(&1.into()).scale(step));
        let inside = bounds.never_negative(offset) && bounds.never_negative(&size.sub(&last).sub(&1.into()));
        let mut span = Self::whole(extent);
        if !inside {
            span.clips.push(Clip { offset: offset.clone(), step, size: size.clone() });
        }
        span
    }

    /// True when every position exists.
    pub(super) fn is_whole(&self) -> bool {
        self.clips.is_empty() && self.gates.is_empty()
    }

    /// Takes whatever lies at an offset that data decides as there: a pick has checked it.
    pub(super) fn unclip(&mut self, picked: &dyn Fn(&Poly) -> bool) {
        self.clips.retain(|clip| !picked(&clip.offset));
        self.gates.iter_mut().for_each(|gate| gate.unclip(picked));
    }

    pub(super) fn and(&self, other: &Self) -> Self {
        let mut both = self.clone();
        both.clips.extend(other.clips.iter().filter(|c| !self.clips.contains(c)).cloned());
        both.gates.extend(other.gates.iter().filter(|g| !self.gates.contains(g)).cloned());
        both
    }

    fn polys(&self) -> Vec<&Poly> {
        let mut polys = vec![&self.extent];
        polys.extend(self.clips.iter().flat_map(|c| [&c.offset, &c.size]));
        polys.extend(self.gates.iter().flat_map(|g| g.polys()));
        polys
    }

    /// The span with `replace` applied to all its polynomials.
    fn mapped(&self, replace: &dyn Fn(&Poly) -> Poly) -> Self {
        let clip = |c: &Clip| Clip { offset: replace(&c.offset), step: c.step, size: replace(&c.size) };
        Self {
            extent: replace(&self.extent),
            clips: self.clips.iter().map(clip).collect(),
            gates: self.gates.iter().map(|g| g.mapped(replace)).collect(),
        }
    }

    /// First and last-plus-one position that exist, and where they would lie without clips; `None` when an index
    /// overflows.
    fn eval(&self, env: &dyn Fn(&str) -> Option<i64>) -> Option<Place> {
        let extent = self.extent.eval(env)?.max(0);
        let (mut low, mut high) = (0, extent);
        let mut side = Side::Inside;
        for clip in &self.clips {
            let (offset, size) = (clip.offset.eval(env)?, clip.size.eval(env)?);
            let first = -(offset.div_euclid(clip.step));
            let end = -((offset.checked_sub(size)?).div_euclid(clip.step));
            if end <= 0 {
                side = Side::Behind;
            } else if first >= extent {
                side = Side::Before;
            } else if first > 0 || end < extent {
                side = Side::Across;
            }
            (low, high) = (low.max(first), high.min(end));
        }
        // Several conditions may each rule out another part of the trips.
        if self.clips.len() + self.gates.len() > 1 && side != Side::Inside {
            side = Side::Across;
        }
        for gate in &self.gates {
            let place = gate.eval(env)?;
            if place.count == 0 {
                let alone = self.clips.is_empty() && self.gates.len() == 1;
                return Some(Place { count: 0, side: if alone { place.side } else { Side::Across } });
            }
            if side == Side::Inside && place.side != Side::Inside {
                side = Side::Across;
            }
        }
        Some(Place { count: (high - low).max(0), side })
    }
}

/// How much of a span exists for one trip, and where the rest lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Place {
    count: i64,
    side: Side,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Side {
    Inside,
    Before,
    Behind,
    Across,
}

/// Loops and spans that depend on each other.
struct Group<'t> {
    trips: Vec<&'t Trip>,
    spans: Vec<&'t Span>,
}

/// Loops and spans that can be summed apart from each other.
fn groups<'t>(trips: &'t [Trip], spans: &'t [Span]) -> Vec<Group<'t>> {
    let names = |polys: Vec<&Poly>| -> BTreeSet<usize> {
        let symbols: BTreeSet<Arc<str>> = polys.into_iter().flat_map(Poly::symbols).collect();
        (0..trips.len()).filter(|i| symbols.contains(&trips[*i].name)).collect()
    };
    let mut sets: Vec<(BTreeSet<usize>, Vec<&Span>)> = Vec::new();
    let mut add = |mut set: BTreeSet<usize>, mut members: Vec<&'t Span>| {
        while let Some(at) = sets.iter().position(|(other, _)| !other.is_disjoint(&set)) {
            let (other, more) = sets.swap_remove(at);
            set.extend(other);
            members.extend(more);
        }
        sets.push((set, members));
    };
    for (i, trip) in trips.iter().enumerate() {
        let mut set = names(trip.polys());
        set.insert(i);
        add(set, Vec::new());
    }
    for span in spans {
        add(names(span.polys()), vec![span]);
    }
    let group = |(set, spans): (BTreeSet<usize>, Vec<&'t Span>)| Group {
        trips: set.into_iter().map(|i| &trips[i]).collect(),
        spans,
    };
    sets.into_iter().map(group).collect()
}

/// The sum over all trips of the product of the spans' lengths; `None` where it is not found to be a polynomial.
pub(super) fn symbolic(bounds: &Bounds<'_>, trips: &[Trip], spans: &[Span]) -> Option<Poly> {
    let mut product = Poly::constant(1);
    for group in groups(trips, spans) {
        product = product.mul(&group.symbolic(bounds)?);
    }
    Some(product)
}

/// The sum over all trips of the product of the spans' lengths.
///
/// # Errors
/// When a size has no value, or there are too many trips to look at.
pub(super) fn exact(trips: &[Trip], spans: &[Span], size: &dyn Fn(&str) -> Option<i64>) -> Result<u64, Uncounted> {
    let bind = |poly: &Poly| poly.substitute(&|name| size(name).map(Poly::constant));
    let bound = |t: &Trip| Trip {
        name: t.name.clone(),
        low: bind(&t.low),
        high: bind(&t.high),
        caps: t.caps.iter().map(bind).collect(),
    };
    let bound: Vec<Trip> = trips.iter().map(bound).collect();
    let spans: Vec<Span> = spans.iter().map(|s| s.mapped(&bind)).collect();
    let mut budget = MAX_LOOKS;
    let mut product = 1u64;
    for group in groups(&bound, &spans) {
        let lengths = || Poly::product(group.spans.iter().map(|s| &s.extent)).as_const();
        let sum = match group.blocks(&|a, b| a == b).and_then(|count| Some((count.as_const()?.max(0), lengths()?))) {
            Some((count, length)) => count.unsigned_abs().saturating_mul(length.max(0).unsigned_abs()),
            None => group.sum(0, &mut Vec::new(), &mut budget)?,
        };
        product = product.saturating_mul(sum);
    }
    Ok(product)
}

/// Trips that are looked at one by one before counting is given up.
const MAX_LOOKS: u64 = 1 << 20;

/// Why something could not be counted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Uncounted {
    /// A size has no value.
    Unknown,
    /// There are too many trips that differ.
    TooMany,
}

impl Group<'_> {
    /// Trips of a loop over blocks of an outer one, side by side and together as many as the size at which the last one ends.
    fn blocks(&self, equal: &dyn Fn(&Poly, &Poly) -> bool) -> Option<Poly> {
        let [outer, inner] = self.trips[..] else { return None };
        let ([], [cap]) = (&outer.caps[..], &inner.caps[..]) else { return None };
        let names = [&outer.name, &inner.name];
        let alone = |poly: &Poly| !names.iter().any(|name| poly.symbols().contains(*name));
        let unclipped = |s: &Span| s.is_whole() && alone(&s.extent);
        let (one, size) = (Poly::constant(1), cap.add(&1.into()));
        let width = inner.high.sub(&inner.low).add(&one).as_const().filter(|w| *w >= 1)?;
        let side_by_side = outer.low.is_zero() && inner.low == Poly::symbol(&outer.name).scale(width);
        let covers = alone(&size) && equal(&outer.high.add(&one), &size.ceildiv(width));
        (side_by_side && covers && self.spans.iter().all(|s| unclipped(s))).then_some(size)
    }

    fn symbolic(&self, bounds: &Bounds<'_>) -> Option<Poly> {
        let spans = self.spans.iter();
        let lengths = || Poly::product(self.spans.iter().map(|s| &s.extent));
        let clipped = spans.clone().any(|s| !s.clips.is_empty() || !s.gates.is_empty());
        let trip = match self.trips[..] {
            [] => return (!clipped).then(lengths),
            [trip] if trip.caps.is_empty() => trip,
            _ => return self.blocks(&|a, b| bounds.equal(a, b)).map(|count| count.mul(&lengths())),
        };
        let count = trip.high.sub(&trip.low).add(&1.into());
        if !bounds.facts.prove_non_negative(&count) {
            return None;
        }
        let alone = |poly: &Poly| !poly.symbols().contains(&trip.name);
        if !clipped && self.spans.iter().all(|s| alone(&s.extent)) {
            return Some(count.mul(&lengths()));
        }
        // Tiles that lie side by side and cover a dimension: together they hold all of it.
        let [span] = self.spans[..] else { return None };
        let ([clip], true) = (&span.clips[..], span.gates.is_empty()) else { return None };
        let width = span.extent.as_const().filter(|w| *w >= 1 && clip.step == 1)?;
        let side_by_side = trip.low.is_zero() && clip.offset == Poly::symbol(&trip.name).scale(width);
        let covers = bounds.equal(&count, &clip.size.ceildiv(width));
        (side_by_side && covers && alone(&clip.size)).then(|| clip.size.clone())
    }

    fn sum(&self, depth: usize, env: &mut Vec<(Arc<str>, i64)>, budget: &mut u64) -> Result<u64, Uncounted> {
        let Some(trip) = self.trips.get(depth) else {
            *budget = budget.checked_sub(1).ok_or(Uncounted::TooMany)?;
            return Ok(self.lengths(env)?.iter().fold(1, |n, p| u64::saturating_mul(n, p.count.unsigned_abs())));
        };
        let value = |poly: &Poly, env: &[(Arc<str>, i64)]| poly.eval(&|n| lookup(env, n)).ok_or(Uncounted::Unknown);
        let (low, mut high) = (value(&trip.low, env)?, value(&trip.high, env)?);
        for cap in &trip.caps {
            high = high.min(value(cap, env)?);
        }
        if self.spans.is_empty() && depth + 1 == self.trips.len() {
            return Ok((high - low + 1).max(0).unsigned_abs());
        }
        if depth + 1 == self.trips.len() && self.monotone(&trip.name) {
            return self.bisect(&trip.name, low, high, env, budget);
        }
        let mut sum = 0u64;
        for index in low..=high {
            env.push((trip.name.clone(), index));
            let inner = self.sum(depth + 1, env, budget);
            env.pop();
            sum = sum.saturating_add(inner?);
        }
        Ok(sum)
    }

    fn lengths(&self, env: &[(Arc<str>, i64)]) -> Result<Vec<Place>, Uncounted> {
        let places = self.spans.iter().map(|s| s.eval(&|n| lookup(env, n)));
        places.collect::<Option<Vec<Place>>>().ok_or(Uncounted::Unknown)
    }

    /// True when every limit moves one way, or not at all, as the index rises.
    fn monotone(&self, name: &str) -> bool {
        let linear = |poly: &Poly| {
            poly.terms().all(|(atoms, _)| match atoms {
                [Atom::Symbol(_)] | [] => true,
                atoms => !atoms.iter().any(|a| a.mentions(name)),
            })
        };
        let steady = |poly: &Poly| !poly.symbols().contains(name);
        fn all<'s>(spans: impl Iterator<Item = &'s Span>, test: &dyn Fn(&Span) -> bool) -> bool {
            spans.into_iter().all(|s| test(s) && all(s.gates.iter(), test))
        }
        all(self.spans.iter().copied(), &|s| {
            steady(&s.extent) && s.clips.iter().all(|c| linear(&c.offset) && steady(&c.size))
        })
    }

    /// The sum for the last loop: runs of trips for which the spans are whole, or empty on one side, are not looked at.
    fn bisect(
        &self,
        name: &Arc<str>,
        low: i64,
        high: i64,
        env: &mut Vec<(Arc<str>, i64)>,
        budget: &mut u64,
    ) -> Result<u64, Uncounted> {
        if low > high {
            return Ok(0);
        }
        *budget = budget.checked_sub(1).ok_or(Uncounted::TooMany)?;
        let mut at = |index: i64| {
            env.push((name.clone(), index));
            let places = self.lengths(env);
            env.pop();
            places
        };
        let (first, last) = (at(low)?, at(high)?);
        let product = |places: &[Place]| places.iter().fold(1u64, |n, p| n.saturating_mul(p.count.unsigned_abs()));
        let empty = first.iter().zip(&last).any(|(a, b)| a.side == b.side && a.side != Side::Across && a.count == 0);
        if empty {
            return Ok(0);
        }
        if first == last && first.iter().all(|p| p.side == Side::Inside) {
            return Ok(product(&first).saturating_mul((high - low + 1).unsigned_abs()));
        }
        if high - low <= 1 {
            let rest = if high > low { product(&last) } else { 0 };
            return Ok(product(&first).saturating_add(rest));
        }
        let middle = low + (high - low) / 2;
        Ok(self.bisect(name, low, middle, env, budget)?.saturating_add(self.bisect(
            name,
            middle + 1,
            high,
            env,
            budget,
        )?))
    }
}

fn lookup(env: &[(Arc<str>, i64)], name: &str) -> Option<i64> {
    env.iter().rev().find(|(n, _)| **n == *name).map(|(_, value)| *value)
}

//! Elements that exist in a window, summed over all trips of the loops around it: as a polynomial where that is one, and
//! exactly for given sizes.

use std::collections::BTreeSet;
use std::sync::Arc;

use sutura_dialects::r#dyn::poly::{Atom, Poly};
use sutura_dialects::gir::bounds::Bounds;
use sutura_ir::work::Counter;

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
    /// By how much each value that the last one does not exceed lies above the first.
    fn lengths(&self) -> Vec<Poly> {
        [&self.high].into_iter().chain(&self.caps).map(|last| last.sub(&self.low)).collect()
    }

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

    /// How many positions exist at every point of a box; `None` where that differs, or may.
    fn count(&self, at: &Ranges<'_>) -> Result<Option<u64>, Uncounted> {
        let extent = at.range(&self.extent)?;
        let (mut low, mut high) = (0, extent.0.max(0));
        let mut same = extent.0 == extent.1;
        for clip in &self.clips {
            let (offset, size, step) = (at.range(&clip.offset)?, at.range(&clip.size)?, i128::from(clip.step));
            let past = (extent.1 - 1).saturating_mul(step);
            if offset.0 >= size.1 || offset.1.saturating_add(past) < 0 {
                return Ok(Some(0));
            }
            if offset.0 >= 0 && offset.1.saturating_add(past) < size.0 {
                continue;
            }
            same &= offset.0 == offset.1 && size.0 == size.1;
            low = low.max(-offset.0.div_euclid(step));
            high = high.min(-(offset.0 - size.0).div_euclid(step));
        }
        for gate in &self.gates {
            match gate.count(at)? {
                Some(0) => return Ok(Some(0)),
                Some(_) => {}
                None => same = false,
            }
        }
        Ok(same.then(|| u64::try_from((high - low).max(0)).unwrap_or(u64::MAX)))
    }
}

/// Indices of loops, each between a first and a last value.
struct Ranges<'t> {
    sides: Vec<(&'t str, Range)>,
}

/// The least and the greatest of some numbers.
type Range = (i128, i128);

impl Ranges<'_> {
    /// The values of a polynomial at the points of the box, or more.
    fn range(&self, poly: &Poly) -> Result<Range, Uncounted> {
        let mut sum: Range = (0, 0);
        for (atoms, c) in poly.terms() {
            let mut product = (c, c);
            for atom in atoms {
                product = times(product, self.range_of_atom(atom)?);
            }
            sum = (sum.0.saturating_add(product.0), sum.1.saturating_add(product.1));
        }
        // Sizes that do not fit are no sizes, and leave room here to compute with.
        let fits = |n: i128| i64::try_from(n).is_ok();
        if fits(sum.0) && fits(sum.1) { Ok(sum) } else { Err(Uncounted::Unknown) }
    }

    fn range_of_atom(&self, atom: &Atom) -> Result<Range, Uncounted> {
        match atom {
            Atom::Symbol(name) => {
                let side = self.sides.iter().rev().find(|(own, _)| **own == **name);
                side.map(|(_, range)| *range).ok_or(Uncounted::Unknown)
            }
            Atom::FloorDiv(inner, divisor) => {
                let (low, high) = self.range(inner)?;
                Ok((low.div_euclid((*divisor).into()), high.div_euclid((*divisor).into())))
            }
            Atom::Min(a, b) => {
                let (a, b) = (self.range(a)?, self.range(b)?);
                Ok((a.0.min(b.0), a.1.min(b.1)))
            }
        }
    }
}

fn times(a: Range, b: Range) -> Range {
    let products = [(a.0, b.0), (a.0, b.1), (a.1, b.0), (a.1, b.1)].map(|(a, b)| a.saturating_mul(b));
    products.into_iter().fold((i128::MAX, i128::MIN), |all, n| (all.0.min(n), all.1.max(n)))
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
        let lengths: Vec<Vec<Poly>> = group.trips.iter().map(|trip| trip.lengths()).collect();
        let looked = Look { group: &group, lengths: &lengths };
        let sum = looked.sum(0, &mut Ranges { sides: Vec::new() }, &mut budget)?.ok_or(Uncounted::Unknown)?;
        product = product.saturating_mul(sum);
    }
    LOOKS.add(MAX_LOOKS - budget);
    Ok(product)
}

static LOOKS: Counter = Counter::new("costs: boxes of trips looked at");

/// Boxes of trips that are looked at before counting is given up.
const MAX_LOOKS: u64 = 1 << 14;

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
        let (one, size) = (Poly::constant(1), cap.add(&1.into()));
        let width = inner.high.sub(&inner.low).add(&one).as_const().filter(|w| *w >= 1)?;
        let side_by_side = outer.low.is_zero() && inner.low == Poly::symbol(&outer.name).scale(width);
        let covers = self.alone(&size) && equal(&outer.high.add(&one), &size.ceildiv(width));
        (side_by_side && covers).then_some(size)
    }

    /// True for what is the same in all trips.
    fn alone(&self, poly: &Poly) -> bool {
        !self.trips.iter().any(|trip| poly.symbols().contains(&trip.name))
    }

    fn symbolic(&self, bounds: &Bounds<'_>) -> Option<Poly> {
        let spans = self.spans.iter();
        let lengths = || Poly::product(self.spans.iter().map(|s| &s.extent));
        let clipped = spans.clone().any(|s| !s.clips.is_empty() || !s.gates.is_empty());
        // A loop in blocks counts on from block to block: it is one loop.
        let (trip, from_zero, count) = match self.trips[..] {
            [] => return (!clipped).then(lengths),
            [trip] if trip.caps.is_empty() => {
                let count = trip.high.sub(&trip.low).add(&1.into());
                if !bounds.facts.prove_non_negative(&count) {
                    return None;
                }
                (trip, trip.low.is_zero(), count)
            }
            _ => (*self.trips.last()?, true, self.blocks(&|a, b| bounds.equal(a, b))?),
        };
        if !clipped && self.spans.iter().all(|s| self.alone(&s.extent)) {
            return Some(count.mul(&lengths()));
        }
        // Tiles that lie side by side and cover a dimension: together they hold all of it.
        let [span] = self.spans[..] else { return None };
        let ([clip], true) = (&span.clips[..], span.gates.is_empty()) else { return None };
        let width = span.extent.as_const().filter(|w| *w >= 1 && clip.step == 1)?;
        let side_by_side = from_zero && clip.offset == Poly::symbol(&trip.name).scale(width);
        let covers = bounds.equal(&count, &clip.size.ceildiv(width));
        (side_by_side && covers && self.alone(&clip.size)).then(|| clip.size.clone())
    }
}

/// A group that is counted, with [`Trip::lengths`] of its loops.
struct Look<'g, 't> {
    group: &'g Group<'t>,
    lengths: &'g [Vec<Poly>],
}

impl<'t> Look<'_, 't> {
    /// The sum over the trips of the loops from `depth` on, which is the same at every point of a box of the outer ones; `None`
    /// where it differs, or may. A box of one point has one. A loop's trips are looked at together, and in halves where they
    /// differ, so that a loop of any length costs no more than the edges in it.
    fn sum(&self, depth: usize, outer: &mut Ranges<'t>, budget: &mut u64) -> Result<Option<u64>, Uncounted> {
        *budget = budget.checked_sub(1).ok_or(Uncounted::TooMany)?;
        let Some(trip) = self.group.trips.get(depth) else { return self.product(outer) };
        let Some(length) = self.length(depth, outer)? else { return Ok(None) };
        if length < 0 {
            return Ok(Some(0));
        }
        let low = outer.range(&trip.low)?;
        let range = (low.0, low.1 + length);
        let count = u64::try_from(length + 1).unwrap_or(u64::MAX);
        let point = low.0 == low.1 && outer.sides.iter().all(|(_, side)| side.0 == side.1);
        outer.sides.push((&trip.name, range));
        let each = self.sum(depth + 1, outer, budget);
        outer.sides.pop();
        match each? {
            Some(each) => Ok(Some(each.saturating_mul(count))),
            None if point => self.halves(depth, outer, range, budget).map(Some),
            None => Ok(None),
        }
    }

    /// The same for a range of one loop at one point of the outer ones, where its trips differ.
    fn halves(&self, depth: usize, outer: &mut Ranges<'t>, range: Range, budget: &mut u64) -> Result<u64, Uncounted> {
        let middle = range.0 + (range.1 - range.0) / 2;
        let mut sum = 0u64;
        for half in [(range.0, middle), (middle + 1, range.1)] {
            outer.sides.push((&self.group.trips[depth].name, half));
            let each = self.sum(depth + 1, outer, budget);
            outer.sides.pop();
            let count = u64::try_from(half.1 - half.0 + 1).unwrap_or(u64::MAX);
            let half = match each? {
                Some(each) => each.saturating_mul(count),
                None if half.0 < half.1 => self.halves(depth, outer, half, budget)?,
                None => return Err(Uncounted::Unknown),
            };
            sum = sum.saturating_add(half);
        }
        Ok(sum)
    }

    /// By how much the last trip of a loop lies above the first, at every point of a box of the outer ones.
    fn length(&self, depth: usize, outer: &Ranges<'t>) -> Result<Option<i128>, Uncounted> {
        let lengths = self.lengths[depth].iter().map(|length| outer.range(length));
        let lengths = lengths.collect::<Result<Vec<Range>, Uncounted>>()?;
        let shortest = lengths.iter().copied().fold((i128::MAX, i128::MAX), |all, n| (all.0.min(n.0), all.1.min(n.1)));
        // Loops without trips are alike, however far their ends lie apart.
        let same = shortest.0 == shortest.1 || shortest.1 < 0;
        Ok(same.then_some(shortest.1))
    }

    fn product(&self, at: &Ranges<'t>) -> Result<Option<u64>, Uncounted> {
        let mut product = Some(1u64);
        for span in &self.group.spans {
            match span.count(at)? {
                Some(0) => return Ok(Some(0)),
                count => product = product.zip(count).map(|(all, count)| all.saturating_mul(count)),
            }
        }
        Ok(product)
    }
}

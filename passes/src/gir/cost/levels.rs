//! Which level of memory serves what: a model of caches by footprints.
//!
//! Data that a loop touches again is found in a cache if what one trip touches fits it. So an access misses a cache as
//! often as the loops run inside which too much is touched, and once for each different element otherwise. A launch that
//! fits a cache as a whole finds its data there: the kernel before it has just written them, or the run before this one
//! has read them.

use std::collections::HashMap;

use indexmap::IndexMap;
use sutura_dialects::r#dyn::poly::{Atom, Poly};
use sutura_dialects::target::TargetDesc;
use sutura_dialects::target::constraints::Class;

use super::reach::{Access, Memory};
use super::sum::Uncounted;

/// Bytes that a level of memory serves.
#[derive(Clone, PartialEq, Debug)]
pub struct Served {
    /// Name of the space.
    pub space: String,
    /// Bytes that come from it or go to it.
    pub bytes: u64,
    /// Bytes per nanosecond; `None` where the description does not say.
    pub gbps: Option<u64>,
}

/// Bytes that a cache takes over at once.
const LINE: f64 = 64.0;

/// Where an access lies along a dimension, at given sizes.
struct Line {
    /// Loops that its offset depends on, with the distance from trip to trip; 0 for one that is not linear.
    loops: Vec<(usize, f64)>,
    /// Offset over indices of loops; constant where data decides.
    offset: Poly,
    extent: f64,
    step: f64,
    size: f64,
}

struct Placed {
    memory: Memory,
    bytes: f64,
    /// Loops around it, outermost first.
    chain: Vec<usize>,
    lines: Vec<Line>,
    store: bool,
}

/// An access as far as it does not depend on the loops inside: along each dimension where it begins, apart from a constant, that
/// constant, and how many indices it has.
#[derive(Clone, PartialEq)]
struct Region(Memory, Vec<(Poly, i64, u64)>);

impl Region {
    /// True where two accesses are to the same data, or to the most part of it.
    fn meets(&self, other: &Self) -> bool {
        let along = |((offset, at, count), (other, other_at, other_count)): (&(Poly, i64, u64), &(Poly, i64, u64))| {
            let apart = at.abs_diff(*other_at);
            offset == other && count == other_count && (apart == 0 || apart.saturating_mul(2) <= *count)
        };
        self.0 == other.0 && self.1.len() == other.1.len() && self.1.iter().zip(&other.1).all(along)
    }
}

struct Model {
    accesses: Vec<Placed>,
    /// Names of loops, and how often each runs.
    loops: Vec<(String, f64)>,
    /// For each loop the loops around it on which its start depends, with how far that moves from trip to trip.
    starts: Vec<Vec<(usize, f64)>>,
    footprints: HashMap<Vec<usize>, f64>,
}

/// Bytes of data side by side from which on processors read ahead: a page.
const PAGE: f64 = 4096.0;

/// Bytes that each level of the machine serves, nearest first, and how many lines the nearest cache does not hold of data in pieces
/// that lie apart, and are so short that nothing reads ahead.
pub(super) fn served(
    accesses: &[Access],
    desc: &TargetDesc,
    size: &dyn Fn(&str) -> Option<i64>,
) -> Result<(Vec<Served>, f64), Uncounted> {
    let mut model = Model { accesses: vec![], loops: vec![], starts: vec![], footprints: HashMap::new() };
    for access in accesses {
        let kept = access.again.as_ref().is_none_or(|name| desc.space(name).is_none_or(|s| s.class == Class::Sram));
        if kept {
            model.place(access, size)?;
        }
    }
    let all: f64 = model.accesses.iter().map(|a| a.once() * model.trips(&a.chain)).sum();
    let mut levels = Vec::new();
    let mut bytes = all;
    let nearest = desc.caches().next().and_then(|cache| cache.bytes);
    let apart = nearest.map_or(0.0, |bytes| model.lines_apart(bytes as f64));
    for cache in desc.caches() {
        levels.push(Served { space: cache.name.clone(), bytes: bytes as u64, gbps: cache.gbps });
        let capacity = cache.bytes.map_or(f64::INFINITY, |b| b as f64);
        let outermost = desc.caches().last().is_some_and(|last| last.name == cache.name);
        bytes = model.misses(capacity, if outermost { 1.0 } else { 2.0 });
    }
    if let Some(memory) = desc.of_class(Class::Dram).next() {
        levels.push(Served { space: memory.name.clone(), bytes: bytes as u64, gbps: Some(desc.dram_gbps()) });
    }
    Ok((levels, apart))
}

impl Model {
    fn place(&mut self, access: &Access, size: &dyn Fn(&str) -> Option<i64>) -> Result<(), Uncounted> {
        let bind = |poly: &Poly| poly.substitute(&|name| size(name).map(Poly::constant));
        let mut middle: Vec<(String, i64)> = Vec::new();
        let mut chain = Vec::new();
        for trip in access.trips.iter() {
            let value = |poly: &Poly| {
                let known = |n: &str| size(n).or_else(|| middle.iter().find(|(m, _)| m == n).map(|(_, v)| *v));
                poly.eval(&known).ok_or(Uncounted::Unknown)
            };
            let (low, mut high) = (value(&trip.low)?, value(&trip.high)?);
            for cap in &trip.caps {
                high = high.min(value(cap)?);
            }
            let known = self.loops.iter().position(|(name, _)| *name == *trip.name);
            chain.push(known.unwrap_or_else(|| {
                let starts = self.starts_of(&bind(&trip.low), low, &chain, &middle);
                self.starts.push(starts);
                self.loops.push((trip.name.to_string(), (high - low + 1).max(0) as f64));
                self.loops.len() - 1
            }));
            middle.push((trip.name.to_string(), low + (high - low).max(0) / 2));
        }
        let number = |poly: &Poly| bind(poly).eval(&|n| middle.iter().find(|(m, _)| m == n).map(|(_, v)| *v));
        let mut lines = Vec::new();
        for line in &access.lines {
            let (extent, size) = (number(&line.extent), number(&line.size));
            let (extent, size) = (extent.ok_or(Uncounted::Unknown)?, size.ok_or(Uncounted::Unknown)?);
            let offset = line.offset.as_ref().map(bind);
            let loops = match &offset {
                Some(offset) => self.loops_of(offset),
                None => chain.iter().map(|id| (*id, 0.0)).collect(),
            };
            lines.push(Line {
                loops,
                offset: offset.unwrap_or_default(),
                extent: extent.max(0) as f64,
                step: line.step as f64,
                size: size.max(0) as f64,
            });
        }
        self.accesses.push(Placed {
            memory: access.memory,
            bytes: access.bytes as f64,
            chain,
            lines,
            store: access.store,
        });
        Ok(())
    }

    /// The loops of a chain on which the start `low` of a loop inside depends, with how far that is from trip to trip. It is
    /// `at` in their middle: parts of a dim, for example, begin behind each other.
    fn starts_of(&self, low: &Poly, at: i64, chain: &[usize], middle: &[(String, i64)]) -> Vec<(usize, f64)> {
        let names = low.symbols();
        let outer = chain.iter().zip(middle).filter(|(_, (name, _))| names.contains(name.as_str()));
        let moved = |(id, (name, _)): (&usize, &(String, i64))| {
            let next = |n: &str| middle.iter().find(|(m, _)| m == n).map(|(m, v)| v + i64::from(m == name));
            Some((*id, (low.eval(&next)? - at).unsigned_abs() as f64))
        };
        outer.filter_map(moved).collect()
    }

    /// Loops that an offset depends on, with the distance from trip to trip: also those that move the start of one.
    fn loops_of(&self, offset: &Poly) -> Vec<(usize, f64)> {
        let mut loops = self.named_by(offset);
        for at in (0..loops.len()).rev() {
            let (id, distance) = loops[at];
            for (outer, moved) in &self.starts[id] {
                if loops.iter().all(|(known, _)| known != outer) {
                    loops.push((*outer, distance * moved));
                }
            }
        }
        loops
    }

    /// Loops whose index is in an offset.
    fn named_by(&self, offset: &Poly) -> Vec<(usize, f64)> {
        let mut loops = Vec::new();
        for (id, (name, _)) in self.loops.iter().enumerate() {
            if !offset.symbols().contains(name.as_str()) {
                continue;
            }
            let linear: Option<f64> = offset
                .terms()
                .filter(|(atoms, _)| atoms.iter().any(|a| a.mentions(name)))
                .map(|(atoms, c)| matches!(atoms, [Atom::Symbol(_)]).then_some((c as f64).abs()))
                .sum();
            loops.push((id, linear.unwrap_or(0.0)));
        }
        loops
    }

    fn trips(&self, chain: &[usize]) -> f64 {
        chain.iter().map(|id| self.loops[*id].1).product()
    }

    /// Different indices along a line in all trips of the loops from `depth` on.
    fn different(&self, access: &Placed, line: &Line, depth: usize) -> f64 {
        let inner = line.loops.iter().filter(|(id, _)| access.chain[depth..].contains(id));
        let (mut reach, mut count) = ((line.extent - 1.0).max(0.0) * line.step + 1.0, line.extent);
        for (id, distance) in inner {
            let trips = self.loops[*id].1;
            // What is not linear may go anywhere.
            reach += if *distance > 0.0 { distance * (trips - 1.0).max(0.0) } else { line.size };
            count *= trips;
        }
        count.min(reach).min(line.size).max(0.0)
    }

    /// Bytes of different lines of the cache that an access touches in all trips of the loops from `depth` on.
    fn distinct(&self, access: &Placed, depth: usize) -> f64 {
        let mut elements = 1.0;
        let mut row = access.bytes;
        let last = access.lines.len().wrapping_sub(1);
        for (i, line) in access.lines.iter().enumerate() {
            let different = self.different(access, line, depth);
            if i == last {
                let whole = different >= line.size;
                row = if whole { different * access.bytes } else { (different * access.bytes).max(LINE) };
                row = if different == 0.0 { 0.0 } else { row };
            } else {
                elements *= different;
            }
        }
        elements * row
    }

    fn region(&self, access: &Placed, depth: usize) -> Region {
        let inner = |n: &str| access.chain[depth..].iter().any(|id| self.loops[*id].0 == n);
        let line = |l: &Line| {
            let outer = l.offset.substitute(&|n| inner(n).then(Poly::default));
            let constant = outer.terms().find(|(atoms, _)| atoms.is_empty()).map_or(0, |(_, c)| c);
            let at = i64::try_from(constant).unwrap_or(0);
            (outer.sub(&at.into()), at, self.different(access, l, depth) as u64)
        };
        Region(access.memory, access.lines.iter().map(line).collect())
    }

    /// Bytes that one trip of the innermost loop of `prefix` touches.
    fn footprint(&mut self, prefix: &[usize]) -> f64 {
        if let Some(known) = self.footprints.get(prefix) {
            return *known;
        }
        let (mut seen, mut sums) = (Vec::<Region>::new(), IndexMap::<Memory, f64>::new());
        for access in self.accesses.iter().filter(|a| a.chain.starts_with(prefix)) {
            let region = self.region(access, prefix.len());
            if !seen.iter().any(|other| other.meets(&region)) {
                let sum = sums.entry(access.memory).or_default();
                // Several windows of a view together have no more than that.
                *sum = (*sum + self.distinct(access, prefix.len())).min(access.all());
                seen.push(region);
            }
        }
        let sum = sums.values().sum();
        self.footprints.insert(prefix.to_vec(), sum);
        sum
    }

    /// Bytes that do not come from a cache of this capacity; what is written back counts `written` times.
    fn misses(&mut self, capacity: f64, written: f64) -> f64 {
        if self.footprint(&[]) <= capacity {
            return 0.0;
        }
        let mut sum = 0.0;
        for at in 0..self.accesses.len() {
            sum += self.missed(at, capacity) * if self.accesses[at].store { written } else { 1.0 };
        }
        sum
    }

    /// Bytes of an access that do not come from a cache of this capacity.
    fn missed(&mut self, at: usize, capacity: f64) -> f64 {
        if self.found_again(at, capacity) {
            return 0.0;
        }
        let chain = self.accesses[at].chain.clone();
        let mut bytes = self.distinct(&self.accesses[at], chain.len());
        let mut stays = true;
        for depth in (0..chain.len()).rev() {
            let all = bytes * self.loops[chain[depth]].1;
            let fits = self.footprint(&chain[..=depth]) <= capacity;
            bytes = if fits { all.min(self.distinct(&self.accesses[at], depth)) } else { all };
            stays &= fits;
        }
        // What the kernel keeps for itself comes from nowhere, and goes nowhere while it stays in the cache.
        if stays && matches!(self.accesses[at].memory, Memory::Own(_)) { 0.0 } else { bytes }
    }

    /// Lines of data that lie apart from those before, where a cache of this capacity does not hold them.
    fn lines_apart(&mut self, capacity: f64) -> f64 {
        if self.footprint(&[]) <= capacity {
            return 0.0;
        }
        let short = |access: &Placed| self.piece(access).is_some_and(|piece| piece < PAGE);
        let short: Vec<usize> = (0..self.accesses.len()).filter(|at| short(&self.accesses[*at])).collect();
        short.into_iter().map(|at| self.missed(at, capacity) / LINE).sum()
    }

    /// Bytes side by side that an access reads before it goes to others; nothing where it goes on and on, or writes.
    fn piece(&self, access: &Placed) -> Option<f64> {
        let last = access.lines.last().filter(|_| !access.store)?;
        let moved = |line: &Line, id: usize| line.loops.iter().find(|(other, _)| *other == id).map(|(_, d)| *d);
        let moves = |id: &usize| access.lines.iter().any(|line| moved(line, *id).is_some());
        let mut along = last.extent * last.step.max(1.0);
        // Loops inside that go on where the trip before ended.
        for id in access.chain.iter().rev().filter(|id| moves(id)) {
            match moved(last, *id) {
                Some(distance) if distance > 0.0 && distance <= along => along += distance * (self.loops[*id].1 - 1.0),
                _ => break,
            }
        }
        (along < last.size).then_some((along * access.bytes).max(LINE))
    }

    /// True when an earlier access to the same data has brought them, and what lies between does not evict them.
    fn found_again(&mut self, at: usize, capacity: f64) -> bool {
        for before in 0..at {
            let (a, b) = (&self.accesses[before], &self.accesses[at]);
            if a.memory != b.memory {
                continue;
            }
            let common = a.chain.iter().zip(&b.chain).take_while(|(x, y)| x == y).count();
            let prefix = b.chain[..common].to_vec();
            let same = self.region(a, common).meets(&self.region(b, common));
            if same && self.footprint(&prefix) <= capacity {
                return true;
            }
        }
        false
    }
}

impl Placed {
    /// Bytes of the view, in whole lines of the cache.
    fn all(&self) -> f64 {
        let bytes = self.lines.iter().map(|line| line.size).product::<f64>() * self.bytes;
        (bytes / LINE).ceil() * LINE
    }

    /// Bytes in one trip.
    fn once(&self) -> f64 {
        self.lines.iter().map(|l| l.extent.min(l.size)).product::<f64>() * self.bytes
    }
}

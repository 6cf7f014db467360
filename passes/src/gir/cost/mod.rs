//! What a kernel costs: bytes of each space, operations, and the time that a machine is predicted to take.
//!
//! Counting is static. [`KernelCost::moved`] and [`KernelCost::flops`] are what the interpreter counts, as polynomials in
//! the kernel's dims where they are polynomials, and exactly at given sizes ([`KernelCost::at`]). What the levels of memory
//! serve is a model ([`Served`]). The time is the largest of what each level and the arithmetic take, as in the roofline
//! model (Williams, Waterman and Patterson, CACM 2009), and what starting takes.

mod count;
mod levels;
mod price;
mod print;
mod reach;
mod sum;
#[cfg(test)]
mod tests;
mod windows;

use indexmap::IndexMap;
use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::gir::DimDecl;
use sutura_dialects::gir::bounds::Bounds;
use sutura_dialects::gir::kernel::{KernelInfo, Mode};
use sutura_dialects::gir::types::Space;
use sutura_dialects::target::TargetDesc;
use sutura_ir::OpRef;

pub use levels::Served;
pub use print::{PRINT_GIR_COST, likely};
pub use windows::Windows;

use count::{Found, Term, What, count};
use sum::{Span, Trip, Uncounted, exact, symbolic};

/// Values of a kernel's dims by name.
pub type SizeOf<'s> = dyn Fn(&str) -> Option<i64> + 's;

/// A kernel's cost, as a function of its dims.
#[derive(Debug)]
pub struct KernelCost {
    /// The kernel's dims.
    pub dims: Vec<DimDecl>,
    found: Found,
    grid: Vec<Trip>,
    /// Units of a group.
    units: u64,
    /// Bytes of the views that are read and written, each once.
    compulsory: Vec<(Poly, u64)>,
    /// Totals that are polynomials.
    moved: IndexMap<Space, (Option<Poly>, Option<Poly>)>,
    flops: Option<Poly>,
}

/// Bytes out of and into a space.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Moved {
    /// Bytes that moves take out of it.
    pub read: u64,
    /// Bytes that moves put into it.
    pub written: u64,
}

/// Counts at given sizes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// Groups of the grid.
    pub groups: u64,
    /// Float operations, as the interpreter counts them.
    pub flops: u64,
    /// Elements to which functions are applied that take several instructions: division, `exp`, `tanh`.
    pub special: u64,
    /// Trips of loops in groups.
    pub trips: u64,
    /// Rows of which the elements of a vector are combined behind a loop.
    pub folds: u64,
    /// Syncs that units take part in.
    pub syncs: u64,
    /// Traffic of spaces, in the order in which the kernel mentions them.
    pub spaces: IndexMap<Space, Moved>,
    /// Bytes that have to be moved: every view once.
    pub compulsory: u64,
}

/// What a machine is predicted to make of a launch on one unit.
#[derive(Clone, PartialEq, Debug)]
pub struct Prediction {
    /// Levels of memory, nearest first.
    pub levels: Vec<Served>,
    /// Nanoseconds of arithmetic.
    pub compute_ns: f64,
    /// Nanoseconds to wait for data that nothing reads ahead.
    pub latency_ns: f64,
    /// Nanoseconds to start, to hand out groups, and to sync.
    pub overhead_ns: f64,
    /// Nanoseconds in all.
    pub ns: f64,
    /// Nanoseconds in which the compulsory bytes can be moved.
    pub limit_ns: f64,
}

/// Nanoseconds to call a kernel.
const CALL_NS: f64 = 50.0;
/// Nanoseconds to go on to the next group.
const GROUP_NS: f64 = 4.0;
/// Nanoseconds to count a trip of a loop and to find its windows.
const TRIP_NS: f64 = 0.3;
/// Nanoseconds to combine the elements of a vector, each step of which waits for the one before.
const FOLD_NS: f64 = 4.0;
/// Nanoseconds of a sync of several units.
const SYNC_NS: f64 = 20.0;

impl KernelCost {
    /// Counts a kernel; `machine` gives intrinsics their meaning.
    ///
    /// # Errors
    /// Says what of the kernel is not known.
    pub fn of<'a>(kernel: OpRef<'a>, machine: Option<OpRef<'a>>) -> Result<Self, String> {
        let info = KernelInfo::read(kernel)?;
        let mut bounds = Bounds::of_kernel(&info);
        let mut found = count(&info, &mut bounds, machine)?;
        let picked = |poly: &Poly| bounds.is_picked(poly);
        found.terms.iter_mut().flat_map(|term| &mut term.spans).for_each(|span| span.unclip(&picked));
        found.accesses.iter_mut().for_each(|access| access.scatter(&picked));
        let bytes = |ty| kernel.cx.bit_width(ty).map_or(8, |bits| u64::from(bits.div_ceil(8)));
        let compulsory = info.views.iter().map(|(_, view, mode)| {
            let times = if *mode == Mode::InOut { 2 } else { 1 };
            (view.elements(), times * bytes(view.elem))
        });
        let grid = info.grid.iter().filter_map(|(value, extent)| {
            let name = bounds.known(*value)?.as_symbol()?.into();
            Some(Trip { name, low: 0.into(), high: extent.sub(&1.into()), caps: vec![] })
        });
        let mut moved: IndexMap<Space, (Option<Poly>, Option<Poly>)> = IndexMap::new();
        let mut flops = Some(Poly::default());
        let zero = || (Some(Poly::default()), Some(Poly::default()));
        let add = |sum: &mut Option<Poly>, more: &Option<Poly>| {
            *sum = sum.take().zip(more.as_ref()).map(|(a, b)| a.add(b));
        };
        for term in &found.terms {
            let scaled = || {
                let scale = i64::try_from(term.scale).ok()?;
                Some(symbolic(&bounds, &term.trips, &term.spans)?.scale(scale))
            };
            match &term.what {
                What::Moved { from, to } => {
                    let bytes = scaled();
                    add(&mut moved.entry(from.clone()).or_insert_with(zero).0, &bytes);
                    add(&mut moved.entry(to.clone()).or_insert_with(zero).1, &bytes);
                }
                What::Flops => add(&mut flops, &scaled()),
                What::Special | What::Slots | What::Products | What::Folds | What::Syncs | What::Trips => {}
            }
        }
        Ok(Self {
            dims: info.dims.iter().map(|(_, dim)| dim.clone()).collect(),
            compulsory: compulsory.collect(),
            grid: grid.collect(),
            units: info.units.unsigned_abs(),
            moved,
            flops,
            found,
        })
    }

    /// Spaces with the bytes that are read from and written to them; `None` for what is no polynomial.
    pub fn moved(&self) -> impl Iterator<Item = (&Space, Option<&Poly>, Option<&Poly>)> {
        self.moved.iter().map(|(space, (read, written))| (space, read.as_ref(), written.as_ref()))
    }

    /// Float operations; `None` where they are no polynomial.
    pub fn flops(&self) -> Option<&Poly> {
        self.flops.as_ref()
    }

    /// Bytes that have to be moved: every view once.
    pub fn compulsory(&self) -> Poly {
        let bytes = |(elements, bytes): &(Poly, u64)| elements.scale(i64::try_from(*bytes).unwrap_or(i64::MAX));
        self.compulsory.iter().map(bytes).fold(Poly::default(), |sum, view| sum.add(&view))
    }

    /// Counts for given sizes.
    ///
    /// # Errors
    /// When a dim has no value, or what exists at edges differs in too many trips to be counted.
    pub fn at(&self, size: &SizeOf<'_>) -> Result<Counts, String> {
        let mut counts = Counts { groups: self.sum(&self.grid, &[], size)?, ..Counts::default() };
        for term in &self.found.terms {
            let total = || Ok::<u64, String>(self.sum(&term.trips, &term.spans, size)?.saturating_mul(term.scale));
            let add = |to: &mut u64, more: u64| *to = to.saturating_add(more);
            match &term.what {
                What::Moved { from, to } => {
                    let bytes = total()?;
                    add(&mut counts.spaces.entry(from.clone()).or_default().read, bytes);
                    add(&mut counts.spaces.entry(to.clone()).or_default().written, bytes);
                }
                What::Flops => add(&mut counts.flops, total()?),
                What::Special => add(&mut counts.special, total()?),
                What::Syncs => add(&mut counts.syncs, total()?),
                What::Trips => add(&mut counts.trips, total()?),
                What::Folds => add(&mut counts.folds, total()?),
                What::Slots | What::Products => {}
            }
        }
        for (elements, bytes) in &self.compulsory {
            let elements = elements.eval(size).ok_or_else(|| format!("the size {elements} has no value"))?;
            counts.compulsory = counts.compulsory.saturating_add(bytes.saturating_mul(elements.max(0).unsigned_abs()));
        }
        Ok(counts)
    }

    fn sum(&self, trips: &[Trip], spans: &[Span], size: &SizeOf<'_>) -> Result<u64, String> {
        exact(trips, spans, size).map_err(|why| self.uncounted(why, size))
    }

    fn uncounted(&self, why: Uncounted, size: &SizeOf<'_>) -> String {
        match (why, self.dims.iter().find(|d| size(&d.name).is_none())) {
            (Uncounted::Unknown, Some(dim)) => format!("the size '{}' has no value", dim.name),
            (Uncounted::Unknown, None) => "an index overflows at these sizes".to_string(),
            (Uncounted::TooMany, _) => "too many trips differ in what they move to count them".to_string(),
        }
    }

    /// What a machine is predicted to take for given sizes, on one unit.
    ///
    /// # Errors
    /// As [`KernelCost::at`].
    pub fn predict(&self, desc: &TargetDesc, size: &SizeOf<'_>) -> Result<Prediction, String> {
        let counts = self.at(size)?;
        let (levels, apart) =
            levels::served(&self.found.accesses, desc, size).map_err(|why| self.uncounted(why, size))?;
        let time = |bytes: u64, gbps: Option<u64>| gbps.map_or(0.0, |g| bytes as f64 / g.max(1) as f64);
        let memory_ns = levels.iter().map(|l| time(l.bytes, l.gbps)).fold(0.0, f64::max);
        // The threads of a device wait for each other's data at once.
        let waits = |ns: f64| if desc.subgroup.is_some() { 0.0 } else { ns };
        let latency_ns = waits(desc.line_ps as f64 / 1000.0 * apart);
        let compute_ns = self.compute_ns(desc, size)?;
        let syncs = counts.syncs as f64 / self.at_once(desc, counts.groups) as f64;
        let folds_ns = waits(FOLD_NS * counts.folds as f64);
        let overhead_ns =
            CALL_NS + GROUP_NS * counts.groups as f64 + TRIP_NS * counts.trips as f64 + folds_ns + SYNC_NS * syncs;
        // The nearest level that holds all of it serves it at best.
        let holds = desc.caches().find(|c| c.bytes.is_none_or(|b| b >= counts.compulsory));
        let gbps = holds.map_or(Some(desc.dram_gbps()), |cache| cache.gbps);
        let limit_ns = time(counts.compulsory, gbps);
        let ns = memory_ns.max(compute_ns).max(latency_ns) + overhead_ns;
        Ok(Prediction { levels, compute_ns, latency_ns, overhead_ns, ns, limit_ns })
    }

    /// Units that wait at the same time: of a device, whose numbers are those of all its processors, one for each of their
    /// parts, as far as there are groups; of others one.
    fn at_once(&self, desc: &TargetDesc, groups: u64) -> u64 {
        let parts = desc.processor.as_ref().map_or(1, |processor| processor.count.saturating_mul(processor.parts));
        parts.min(groups.saturating_mul(self.units)).max(1)
    }

    fn compute_ns(&self, desc: &TargetDesc, size: &SizeOf<'_>) -> Result<f64, String> {
        let lanes = desc.lanes(32);
        let mut ns = 0.0;
        for term in &self.found.terms {
            let per_ns = match term.what {
                // Peak is a multiplication and an addition in every lane.
                What::Products => desc.gflops as f64 / 2.0,
                What::Slots => desc.gops as f64,
                _ => continue,
            };
            ns += term.scale as f64 * self.vectors(term, lanes, size)? * lanes as f64 / per_ns.max(1.0);
        }
        Ok(ns)
    }

    /// Vectors that hold the elements of a term, of which columns are the last span.
    fn vectors(&self, term: &Term, lanes: u64, size: &SizeOf<'_>) -> Result<f64, String> {
        // Tiles of constant extents are computed whole, whatever of them exists.
        let constant: Option<f64> = term.spans.iter().map(|s| s.extent.as_const().map(|n| n as f64)).product();
        let elements = match constant {
            Some(each) => self.sum(&term.trips, &[], size)? as f64 * each,
            None => self.sum(&term.trips, &term.spans, size)? as f64,
        };
        let columns = term.spans.last().and_then(|s| s.extent.eval(size)).unwrap_or(1).max(1).unsigned_abs();
        Ok(elements * columns.div_ceil(lanes) as f64 / columns as f64)
    }
}

impl Prediction {
    /// Share of the time that moving the compulsory bytes would take, in percent.
    pub fn percent_of_limit(&self) -> f64 {
        if self.ns > 0.0 { 100.0 * self.limit_ns / self.ns } else { 100.0 }
    }

    /// What takes longest: a level of memory, `compute` or `latency`.
    pub fn bound(&self) -> &str {
        let time = |l: &Served| l.gbps.map_or(0.0, |g| l.bytes as f64 / g.max(1) as f64);
        let slowest = self.levels.iter().max_by(|a, b| time(a).total_cmp(&time(b)));
        match slowest.filter(|l| time(l) >= self.compute_ns.max(self.latency_ns)) {
            Some(level) => &level.space,
            None if self.latency_ns > self.compute_ns => "latency",
            None => "compute",
        }
    }
}

//! Loops over strips: all that waits on one window, vector by vector, and the rest under a mask.
//!
//! ```text
//! head   under a mask, up to where stores are aligned; only where the loop may stream
//! main   whole vectors; twice where the loop may stream: with stores past the caches, and without
//! tail   under a mask
//! ```
//!
//! Where something is combined from the last column to the first, the tail comes first and the vectors follow backward.

use sutura_dialects::gir::kinds::Combiner;
use sutura_ir::{Type, Value};

use super::extremes;
use super::pipeline::Hosting;
use crate::gir_lowering::emit::{Emit, Pred, identity};
use crate::gir_lowering::machine::Lanes;
use crate::gir_lowering::memory::{SliceVal, Window};
use crate::gir_lowering::strip::{Memo, NodeId, Sink, Strips, row_condition};
use crate::gir_lowering::tile::RegTile;

/// What a loop does beside its sinks.
#[derive(Default)]
pub(in crate::gir_lowering) struct Extras {
    /// True at run time when those of its stores that may go past the caches do; `None` when it has none.
    pub(in crate::gir_lowering) stream: Option<Value>,
    /// Every row that is stored begins where an aligned vector may.
    pub(in crate::gir_lowering) aligned: bool,
    /// Rows of the next group, with their number, to be brought near meanwhile.
    pub(in crate::gir_lowering) ahead: Vec<(SliceVal, i64)>,
    /// Rows that this loop is the first to read, with their number: where it streams it asks for what lies so many bytes ahead
    /// in them.
    pub(in crate::gir_lowering) fresh: Vec<(SliceVal, i64, i64)>,
    /// Takes stores of the group before, where that put them off.
    pub(in crate::gir_lowering) hosting: Option<Hosting>,
}

/// Registers in which a light loop combines for each reduction, and for all of them together.
const CHAINS: i64 = 4;
const ALL_CHAINS: i64 = 8;

/// A loop to be emitted.
struct Sweep<'s> {
    strips: &'s Strips,
    sinks: Vec<&'s Sink>,
    extras: &'s Extras,
    /// For each accumulator how it combines: one for each reduction and row of it, and then a probe for each of `quick`.
    kinds: Vec<(Combiner, Type)>,
    /// Accumulators of extremes that are combined by plain comparisons.
    quick: Vec<usize>,
    /// Rows of scans, each of which carries what it has combined, behind the accumulators.
    scans: Vec<(NodeId, i64)>,
    /// From the last column to the first.
    backward: bool,
    /// Its steps take stores of the group before.
    hosts: bool,
}

/// How one step of a loop is done.
#[derive(Clone, Copy, Default)]
struct Step {
    mask: Option<Value>,
    /// Stores that may go past the caches do.
    streams: bool,
    /// Brings the next group's rows near.
    ahead: bool,
}

/// Runs all `sinks`, which share a window, in one loop. Returns the results of the reductions, one tile per sink.
pub(in crate::gir_lowering) fn run_loop(
    e: &mut Emit<'_>,
    strips: &Strips,
    sinks: &[Sink],
    extras: &Extras,
) -> Result<Vec<(Value, RegTile)>, String> {
    let first = &strips.nodes[sinks[0].node()];
    let (lo, hi) = (first.window.lo.unwrap_or_else(|| e.i64(0)), first.window.hi.unwrap_or(first.cols));
    let hi = e.maxi(hi, lo);
    let mut sweep = Sweep::of(strips, sinks.iter().collect(), extras)?;
    let results = e.with_lanes(sweep.lanes(e.widths), |e| sweep.reduce(e, (lo, hi)))?;
    Ok(sweep.tiles(&results))
}

/// `floor(total / size) * size`, for a power of two.
fn multiple(e: &mut Emit<'_>, total: Value, size: i64) -> Value {
    let high_bits = e.i64(-size);
    e.op1("arith.andi", &[total, high_bits], Type::I64, &[])
}

impl<'s> Sweep<'s> {
    fn of(strips: &'s Strips, sinks: Vec<&'s Sink>, extras: &'s Extras) -> Result<Self, String> {
        let scans = strips.scans(sinks.iter().map(|sink| sink.node()));
        let mut backward = false;
        for sink in &sinks {
            strips.check_columns(sink.node())?;
            backward |= strips.backward(sink.node())?.unwrap_or(false);
        }
        Ok(Self { strips, sinks, extras, kinds: Vec::new(), quick: Vec::new(), scans, backward, hosts: false })
    }

    /// Elements of the vectors of the loop. Rows are side by side already, and a scan's vectors follow one from the other.
    fn lanes(&self, widths: Lanes) -> i64 {
        let one_row = self.sinks.iter().all(|sink| self.strips.nodes[sink.node()].rows == 1);
        if one_row && self.scans.is_empty() { widths.step } else { widths.register }
    }

    /// The whole loop; returns the numbers that its reductions result in.
    fn reduce(&mut self, e: &mut Emit<'_>, range: (Value, Value)) -> Result<Vec<Value>, String> {
        // What a store overwrites may be what it read.
        let again = !self.sinks.iter().any(|sink| matches!(sink, Sink::Store { .. }));
        let extras = self.extras;
        let values = match &extras.hosting {
            Some(hosting) => self.run_host(e, hosting, range)?,
            None => self.run(e, range, again)?,
        };
        let count = self.kinds.len() - self.quick.len();
        let mut results = self.numbers(e, &values[..count]);
        if !self.quick.is_empty() {
            self.settle(e, range, &mut results, &values[count..self.kinds.len()])?;
        }
        Ok(results)
    }

    /// The loop as a host of stores of the group before, where there are any, or as it is.
    fn run_host(&mut self, e: &mut Emit<'_>, hosting: &Hosting, range: (Value, Value)) -> Result<Vec<Value>, String> {
        let types: Vec<Type> = self.start(e, false).iter().map(|v| e.ty(*v)).collect();
        let plain = Sweep::of(self.strips, self.sinks.clone(), self.extras)?;
        let mut host = std::mem::replace(self, plain);
        (host.kinds, host.hosts) = (Vec::new(), true);
        let hosted = |e: &mut Emit<'_>| {
            hosting.begins(e);
            host.run(e, range, false)
        };
        e.if_else(hosting.pending, &types, hosted, |e| self.run(e, range, false))
    }

    /// The whole loop; returns the accumulators. Extremes are combined quickly if they may be combined again.
    fn run(&mut self, e: &mut Emit<'_>, (lo, hi): (Value, Value), again: bool) -> Result<Vec<Value>, String> {
        let mut start = self.start(e, again);
        let (streams, at) = self.head(e, lo, hi)?;
        if self.backward {
            let end = self.end_of_whole(e, at, hi);
            start = self.tail(e, (end, hi), start)?;
        }
        let (end, values) = match streams {
            None => self.main(e, (at, hi), start, false)?,
            Some(streams) => {
                let mut types = vec![Type::I64];
                types.extend(start.iter().map(|v| e.ty(*v)));
                let main = |e: &mut Emit<'_>, streams: bool| {
                    let (end, values) = self.main(e, (at, hi), start.clone(), streams)?;
                    Ok([vec![end], values].concat())
                };
                let mut results = e.if_else(streams, &types, |e| main(e, true), |e| main(e, false))?;
                let values = results.split_off(1);
                (results[0], values)
            }
        };
        if self.backward { Ok(values) } else { self.tail(e, (end, hi), values) }
    }

    /// Where whole vectors from `lo` on end.
    fn end_of_whole(&self, e: &mut Emit<'_>, lo: Value, hi: Value) -> Value {
        let total = e.subi(hi, lo);
        let whole = multiple(e, total, e.lanes);
        e.addi(lo, whole)
    }

    /// The accumulators at the start, and what scans carry there.
    fn start(&mut self, e: &mut Emit<'_>, again: bool) -> Vec<Value> {
        for sink in &self.sinks {
            let Sink::Reduce { kind, node, .. } = sink else { continue };
            let strip = &self.strips.nodes[*node];
            for _ in 0..strip.rows {
                if again && extremes::is_extreme(*kind) {
                    self.quick.push(self.kinds.len());
                }
                self.kinds.push((*kind, strip.elem));
            }
        }
        for i in &self.quick {
            self.kinds.push((Combiner::Add, self.kinds[*i].1));
        }
        let neutral = self.kinds.iter().map(|(kind, elem)| {
            let neutral = identity(e.cx(), *kind, *elem);
            e.splat(neutral)
        });
        let mut start: Vec<Value> = neutral.collect();
        for (id, _) in &self.scans {
            let scan = self.strips.scan(*id).expect("the loop has found it to be one");
            start.push(e.carry_of(scan, self.strips.nodes[*id].elem));
        }
        start
    }

    /// Combines the extremes again, the exact way, if one of them is suspicious.
    fn settle(
        &self,
        e: &mut Emit<'_>,
        range: (Value, Value),
        results: &mut [Value],
        probes: &[Value],
    ) -> Result<(), String> {
        let mut doubtful = None;
        for (i, probe) in self.quick.iter().zip(probes) {
            let one = extremes::suspicious(e, results[*i], *probe);
            doubtful = Some(doubtful.map_or(one, |others| e.or(others, one)));
        }
        let is_extreme = |sink: &&Sink| matches!(sink, Sink::Reduce { kind, .. } if extremes::is_extreme(*kind));
        let extras = Extras::default();
        let sinks = self.sinks.iter().copied().filter(is_extreme).collect();
        let mut exact = Sweep::of(self.strips, sinks, &extras)?;
        let quick: Vec<Value> = self.quick.iter().map(|i| results[*i]).collect();
        let types: Vec<Type> = quick.iter().map(|v| e.ty(*v)).collect();
        let doubtful = doubtful.expect("there are extremes");
        let again = |e: &mut Emit<'_>| {
            let values = exact.run(e, range, false)?;
            Ok(exact.numbers(e, &values))
        };
        let settled = e.if_else(doubtful, &types, again, |_| Ok(quick.clone()))?;
        for (i, value) in self.quick.iter().zip(settled) {
            results[*i] = value;
        }
        Ok(())
    }

    /// What the lanes of accumulators combine to.
    fn numbers(&self, e: &mut Emit<'_>, values: &[Value]) -> Vec<Value> {
        let kinds = self.kinds.iter().map(|(kind, _)| *kind);
        e.combine_all(&kinds.zip(values.iter().copied()).collect::<Vec<_>>())
    }

    /// Whether the loop streams (a condition at run time; `None` for never), and the column from which its whole vectors
    /// start: where it streams, the first at which stores are aligned. What lies before is done under a mask.
    fn head(&self, e: &mut Emit<'_>, lo: Value, hi: Value) -> Result<(Option<Value>, Value), String> {
        let stores = || {
            self.sinks.iter().filter_map(|s| match s {
                Sink::Store { node, slice, stream: Some(_) } => Some((slice, self.strips.nodes[*node].rows)),
                _ => None,
            })
        };
        let (Some(mut streams), Some((first, _))) = (self.extras.stream, stores().next()) else {
            return Ok((None, lo));
        };
        let (bytes, size) = (e.stream_alignment(first.elem), e.bytes(first.elem));
        let zero = e.i64(0);
        let low_bits = e.i64(bytes - 1);
        let first_row = e.address_bits(first, lo);
        for (slice, rows) in stores() {
            let row = e.address_bits(slice, lo);
            let mut differ = e.op1("arith.xori", &[row, first_row], Type::I64, &[]);
            if let Some(stride) = slice.row.stride.filter(|_| rows > 1) {
                let size = e.i64(size);
                let stride = e.muli(stride, size);
                differ = e.op1("arith.ori", &[differ, stride], Type::I64, &[]);
            }
            let differ = e.op1("arith.andi", &[differ, low_bits], Type::I64, &[]);
            let alike = e.cmpi(Pred::Eq, differ, zero);
            streams = e.both(Some(streams), alike);
        }
        let before = e.subi(zero, first_row);
        let before = e.op1("arith.andi", &[before, low_bits], Type::I64, &[]);
        // Columns before the first aligned one would be combined in an order that depends on where memory lies.
        if self.extras.aligned || !self.kinds.is_empty() || !self.scans.is_empty() {
            let none = e.cmpi(Pred::Eq, before, zero);
            return Ok((Some(e.both(Some(streams), none)), lo));
        }
        let before = e.floordiv(before, size);
        let aligned = e.addi(lo, before);
        let aligned = e.mini(aligned, hi);
        let at = e.select(streams, aligned, lo);
        let some = e.cmpi(Pred::Slt, lo, at);
        let masked = |e: &mut Emit<'_>| {
            let mask = e.column_mask(lo, Window { lo: None, hi: Some(at) });
            self.step(e, &[], lo, Step { mask, ..Step::default() });
            Ok(vec![])
        };
        e.if_else(some, &[], masked, |_| Ok(vec![]))?;
        Ok((Some(streams), at))
    }

    /// Whole vectors from `lo` on; returns where they end.
    fn main(
        &self,
        e: &mut Emit<'_>,
        (lo, hi): (Value, Value),
        start: Vec<Value>,
        streams: bool,
    ) -> Result<(Value, Vec<Value>), String> {
        // Light bodies are bound by the latency of the combination: several independent chains hide it.
        let costs = self.sinks.iter().map(|s| self.strips.nodes[s.node()].cost);
        let light = costs.fold(0, u32::saturating_add) <= 8;
        let combined = (self.kinds.len() - self.quick.len()) as i64;
        // A scan goes from vector to vector.
        let chains = match light && combined > 0 && self.scans.is_empty() {
            true => (ALL_CHAINS / combined).clamp(1, CHAINS),
            false => 1,
        };
        let unroll = (chains * e.widths.register / e.lanes).max(1);
        let step = Step { mask: None, streams, ahead: true };
        let total = e.subi(hi, lo);
        let (mut at, mut values) = (lo, start);
        if unroll > 1 {
            (at, values) = self.unrolled(e, (lo, total), values, unroll, step)?;
        }
        let end = self.end_of_whole(e, lo, hi);
        let width = e.i64(e.lanes);
        let values = e.for_loop((at, end, width), &values, |e, col, values| {
            let col = if self.backward { from_end(e, (at, end, width), col) } else { col };
            Ok(self.step(e, values, col, step))
        })?;
        Ok((end, values))
    }

    /// The main loop with `unroll` chains per accumulator, combined pairwise at its end.
    fn unrolled(
        &self,
        e: &mut Emit<'_>,
        (lo, total): (Value, Value),
        start: Vec<Value>,
        unroll: i64,
        step: Step,
    ) -> Result<(Value, Vec<Value>), String> {
        let n = start.len();
        let inits: Vec<Value> = (0..unroll).flat_map(|_| start.clone()).collect();
        let whole = multiple(e, total, e.lanes * unroll);
        let end = e.addi(lo, whole);
        let width = e.i64(e.lanes * unroll);
        let mut chains = e.for_loop((lo, end, width), &inits, |e, col, values| {
            let mut next = Vec::with_capacity(values.len());
            for (u, chain) in values.chunks(n).enumerate() {
                let further = e.i64(u as i64 * e.lanes);
                let col = e.addi(col, further);
                next.extend(self.step(e, chain, col, step));
            }
            Ok(next)
        })?;
        while chains.len() > n {
            let (low, high) = chains.split_at(chains.len() / 2);
            let pairs: Vec<(Value, Value)> = low.iter().copied().zip(high.iter().copied()).collect();
            chains = pairs.iter().enumerate().map(|(i, (a, b))| e.combine(self.kinds[i % n].0, *a, *b)).collect();
        }
        Ok((end, chains))
    }

    /// What is left of the columns, under a mask.
    fn tail(&self, e: &mut Emit<'_>, (at, hi): (Value, Value), values: Vec<Value>) -> Result<Vec<Value>, String> {
        let rest = e.cmpi(Pred::Slt, at, hi);
        let types: Vec<Type> = values.iter().map(|v| e.ty(*v)).collect();
        e.if_else(
            rest,
            &types,
            |e| {
                let mask = e.column_mask(at, Window { lo: None, hi: Some(hi) });
                Ok(self.step(e, &values, at, Step { mask, ..Step::default() }))
            },
            |_| Ok(values.clone()),
        )
    }

    /// Everything that happens at one place of the loop.
    fn step(&self, e: &mut Emit<'_>, values: &[Value], col: Value, step: Step) -> Vec<Value> {
        if let Some(hosting) = self.extras.hosting.as_ref().filter(|_| self.hosts) {
            hosting.step(e, col, step.mask);
        }
        let (values, carries) = values.split_at(self.kinds.len());
        let mut memo = Memo::behind(&self.scans, carries);
        let (mut next, mut probes) = (Vec::with_capacity(values.len()), Vec::new());
        for sink in &self.sinks {
            let strip = &self.strips.nodes[sink.node()];
            for row in 0..strip.rows {
                let value = self.strips.eval(e, &mut memo, (sink.node(), row, col), step.mask);
                match sink {
                    Sink::Reduce { .. } => {
                        let (i, old) = (next.len(), values[next.len()]);
                        let (kind, _) = self.kinds[i];
                        let kept = |e: &mut Emit<'_>, new: Value, old: Value| {
                            step.mask.map_or(new, |mask| e.select(mask, new, old))
                        };
                        let new = match self.quick.iter().position(|quick| *quick == i) {
                            None => e.combine(kind, old, value),
                            Some(probe) => {
                                let old_probe = values[values.len() - self.quick.len() + probe];
                                let new = extremes::probe(e, old_probe, value);
                                probes.push(kept(e, new, old_probe));
                                extremes::quick(e, kind, old, value)
                            }
                        };
                        next.push(kept(e, new, old));
                    }
                    Sink::Store { slice, stream: Some(_), .. } if step.streams && strip.row_window.is_full() => {
                        let at = slice.row.stride.map(|_| e.i64(row));
                        e.stream_vector(value, slice, at, col);
                    }
                    Sink::Store { slice, .. } => store(e, value, slice, strip.row_window, row, col, step.mask),
                    Sink::Keep { slice, .. } => store(e, value, slice, Window::FULL, row, col, step.mask),
                }
            }
        }
        for (slice, rows) in self.extras.ahead.iter().filter(|_| step.ahead) {
            ask(e, slice, *rows, col);
        }
        for (slice, rows, bytes) in self.extras.fresh.iter().filter(|_| step.ahead && step.streams) {
            let distance = bytes / e.bytes(slice.elem);
            let distance = e.i64(if self.backward { -distance } else { distance });
            let col = e.addi(col, distance);
            ask(e, slice, *rows, col);
        }
        next.extend(probes);
        next.extend(memo.carries(&self.scans));
        next
    }

    /// The results of the reductions, one number per row, as tiles.
    fn tiles(&self, results: &[Value]) -> Vec<(Value, RegTile)> {
        let mut results = results.iter().copied();
        let mut tiles = Vec::new();
        for sink in &self.sinks {
            let Sink::Reduce { node, result, .. } = sink else { continue };
            let strip = &self.strips.nodes[*node];
            let rows = (0..strip.rows).map(|_| vec![results.next().expect("one result per row")]).collect();
            let mut tile = RegTile::of_scalars(strip.elem, rows);
            tile.row_window = strip.row_window;
            tiles.push((*result, tile));
        }
        tiles
    }
}

/// The column as far from the end of `[at, end)` as `col` is from its start.
fn from_end(e: &mut Emit<'_>, (at, end, width): (Value, Value, Value), col: Value) -> Value {
    let sum = e.addi(at, end);
    let last = e.subi(sum, width);
    e.subi(last, col)
}

/// Asks for what lies at column `col` of some rows.
fn ask(e: &mut Emit<'_>, slice: &SliceVal, rows: i64, col: Value) {
    for row in 0..rows {
        let at = slice.row.stride.map(|_| e.i64(row));
        let ptr = e.address(slice, at, Some(col));
        e.prefetch(ptr);
    }
}

fn store(e: &mut Emit<'_>, value: Value, slice: &SliceVal, rows: Window, row: i64, col: Value, mask: Option<Value>) {
    let mask = match row_condition(e, row, rows) {
        None => mask,
        Some(exists) => {
            let all = e.broadcast(exists);
            Some(e.both(mask, all))
        }
    };
    let at = slice.row.stride.map(|_| e.i64(row));
    e.store_vector(value, slice, at, Some(col), mask);
}

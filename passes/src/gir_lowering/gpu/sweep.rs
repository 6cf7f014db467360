//! Loops over strips on the threads of a unit.
//!
//! Where a row is short enough, a thread keeps its columns in registers: the loop is unrolled, a step for each vector of the
//! unit, and what a step has computed once, also what it has read, later loops over the same columns find there. Longer rows
//! run in a loop over vectors, whose number differs from thread to thread by one at most.

use std::collections::HashMap;

use sutura_dialects::gir::kinds::Combiner;
use sutura_dialects::gir::types::TileType;
use sutura_ir::{OpRef, Type, Value};

use super::waits::Touched;
use crate::gir_lowering::emit::Emit;
use crate::gir_lowering::kernel::{Held, Lowered, Lowering};
use crate::gir_lowering::memory::Window;
use crate::gir_lowering::strip::{Memo, NodeId, Sink, row_condition};
use crate::gir_lowering::tile::RegTile;
use crate::row_threads::KEPT_ELEMENTS;

/// Vectors in which what a thread keeps of a row lies, at most: registers are shared by the threads that hide each other's
/// waiting.
const KEPT_VECTORS: i64 = 16;

/// Vectors that a loop asks for before it uses the first.
const UNROLL: i64 = 4;

/// Columns of which steps have values: the number of columns, and the window.
pub(in crate::gir_lowering) type Columns = (Value, Window);

/// What steps over columns have computed, by the step; one table for each loop around.
#[derive(Default)]
pub(in crate::gir_lowering) struct Kept {
    tables: Vec<HashMap<Columns, Vec<Memo>>>,
}

impl Kept {
    /// A loop begins: what it computes is unknown behind it.
    pub(in crate::gir_lowering) fn enter(&mut self) {
        self.tables.push(HashMap::new());
    }

    pub(in crate::gir_lowering) fn leave(&mut self) {
        self.tables.pop();
    }

    /// Takes the values of the steps over these columns, for the innermost loop.
    fn take(&mut self, columns: &Columns, steps: usize) -> Vec<Memo> {
        let known = self.tables.last_mut().and_then(|table| table.remove(columns));
        let mut memos = known.unwrap_or_default();
        memos.resize_with(steps, Memo::default);
        memos
    }

    fn put(&mut self, columns: Columns, memos: Vec<Memo>) {
        if let Some(table) = self.tables.last_mut() {
            table.insert(columns, memos);
        }
    }
}

/// Rows of scans in a loop, each of which carries what it has combined, and whether it runs from the last column to the first.
struct Scans {
    rows: Vec<(NodeId, i64)>,
    backward: bool,
}

impl<'a> Lowering<'a, '_> {
    /// Runs all `sinks`, which share a window, in one loop.
    pub(in crate::gir_lowering) fn run_on_threads(&mut self, op: OpRef<'a>, mut sinks: Vec<Sink>) -> Lowered<'a, ()> {
        let scans = self.running(op, &sinks)?;
        let steps = self.steps_in_registers(op, &sinks);
        if steps.is_none() {
            for id in self.worth_keeping(&sinks) {
                let value = self.named(id);
                if !self.has_own_columns(op, value) {
                    continue;
                }
                if let Some(slice) = self.keep_slice(id, value, None) {
                    sinks.push(Sink::Keep { node: id, slice });
                }
            }
        }
        if !self.kept_arrays.is_empty() {
            self.before_columns();
        }
        let first = &self.strips.nodes[sinks[0].node()];
        let columns = (first.cols, first.window);
        let kinds = self.accumulators(&sinks);
        let start: Vec<Value> = kinds.iter().map(|(kind, elem)| self.e.neutral(*kind, *elem)).collect();
        let sums = match steps {
            Some(steps) => self.run_unrolled(&sinks, (columns, &scans), start, steps),
            None if scans.rows.is_empty() => self.run_loop_on_threads(op, &sinks, columns, start)?,
            None => self.run_together(op, &sinks, (columns, &scans), start)?,
        };
        let pairs: Vec<(Combiner, Value)> = kinds.iter().zip(sums).map(|((kind, _), sum)| (*kind, sum)).collect();
        let results = self.e.combine_all(&pairs);
        self.hold_results(sinks, &results);
        Ok(())
    }

    /// Whether a thread has the same columns of a tile in registers as in a loop over the tile's strips: then it finds there what
    /// it has kept itself.
    fn has_own_columns(&self, op: OpRef<'a>, value: Value) -> bool {
        let ty: Option<&TileType> = op.cx.type_as(self.kernel.op.inside().ty(value));
        let cols = ty.and_then(|ty| ty.cols.as_const());
        cols.is_none_or(|cols| self.e.lanes_of_columns(cols) == self.e.lanes)
    }

    fn accumulators(&self, sinks: &[Sink]) -> Vec<(Combiner, Type)> {
        let of = |sink: &Sink| match sink {
            Sink::Reduce { kind, node, .. } => {
                let strip = &self.strips.nodes[*node];
                vec![(*kind, strip.elem); strip.rows as usize]
            }
            _ => vec![],
        };
        sinks.iter().flat_map(of).collect()
    }

    fn hold_results(&mut self, sinks: Vec<Sink>, results: &[Value]) {
        let mut results = results.iter().copied();
        for sink in sinks {
            match sink {
                Sink::Reduce { node, result, .. } => {
                    let strip = &self.strips.nodes[node];
                    let rows = (0..strip.rows).map(|_| vec![results.next().expect("one result per row")]).collect();
                    let mut tile = RegTile::of_scalars(strip.elem, rows);
                    tile.row_window = strip.row_window;
                    self.held.insert(result, Held::Tile(tile));
                }
                Sink::Keep { node, slice } => self.strips.nodes[node].stored = Some(slice),
                Sink::Store { .. } => {}
            }
        }
    }

    /// Vectors of the unit that a row takes, if a thread can keep its part of the rows in registers.
    fn steps_in_registers(&mut self, op: OpRef<'a>, sinks: &[Sink]) -> Option<i64> {
        let rows = sinks.iter().map(|sink| self.strips.nodes[sink.node()].rows).max()?;
        let named = sinks.iter().find_map(|sink| self.columns_of(op, sink))?;
        let (_, most) = self.bounds.facts.range(&named);
        let vector = self.e.columns();
        let steps = i64::try_from(most).ok()?.div_euclid(vector) + i64::from(most % i128::from(vector) != 0);
        (steps <= KEPT_VECTORS && steps * self.e.lanes * rows <= KEPT_ELEMENTS).then_some(steps.max(1))
    }

    /// The number of columns that a sink runs over, as a size.
    fn columns_of(&self, op: OpRef<'a>, sink: &Sink) -> Option<sutura_dialects::r#dyn::poly::Poly> {
        let cols = self.strips.nodes[sink.node()].cols;
        let body = self.kernel.op.inside();
        let ty = |value: Value| op.cx.type_as::<sutura_dialects::gir::types::TileType>(body.ty(value));
        let strips = self.held.iter().filter_map(|(value, held)| match held {
            Held::Strip(id) if self.strips.nodes[*id].cols == cols => ty(*value),
            _ => None,
        });
        // All of them have the same number of columns, and so, as sizes are canonical, the same polynomial.
        strips.map(|ty| ty.cols.clone()).next()
    }

    fn run_unrolled(
        &mut self,
        sinks: &[Sink],
        (columns, scans): (Columns, &Scans),
        start: Vec<Value>,
        steps: i64,
    ) -> Vec<Value> {
        let mut memos = self.kept.take(&columns, steps as usize);
        let (mut sums, mut carries) = (start, self.carries_of(scans));
        let window = Window { hi: Some(columns.1.hi.unwrap_or(columns.0)), ..columns.1 };
        let order: Vec<usize> = (0..memos.len()).collect();
        for at in if scans.backward { order.into_iter().rev().collect() } else { order } {
            let memo = &mut memos[at];
            let col = self.e.own_column(at as i64);
            let mask = self.e.column_mask(col, window);
            memo.go_on(&scans.rows, &carries);
            sums = step(&mut self.e, &self.strips, sinks, memo, &sums, (col, mask));
            carries = memo.carries(&scans.rows);
        }
        self.kept.put(columns, memos);
        sums
    }

    /// The scans that the sinks are computed from.
    fn running(&self, op: OpRef<'a>, sinks: &[Sink]) -> Lowered<'a, Scans> {
        let mut backward = false;
        for sink in sinks {
            let checked = self.strips.check_columns(sink.node());
            self.at(op, checked)?;
            backward |= self.at(op, self.strips.backward(sink.node()))?.unwrap_or(false);
        }
        Ok(Scans { rows: self.strips.scans(sinks.iter().map(Sink::node)), backward })
    }

    /// What scans carry where they begin.
    fn carries_of(&mut self, scans: &Scans) -> Vec<Value> {
        let mut carries = Vec::new();
        for (id, _) in &scans.rows {
            let scan = self.strips.scan(*id).expect("found to be one");
            carries.push(self.e.carry_of(scan, self.strips.nodes[*id].elem));
        }
        carries
    }

    /// A loop over vectors of the unit, in which all threads take part to the end: they hand values to each other.
    fn run_together(
        &mut self,
        op: OpRef<'a>,
        sinks: &[Sink],
        ((cols, window), scans): (Columns, &Scans),
        start: Vec<Value>,
    ) -> Lowered<'a, Vec<Value>> {
        let count = start.len();
        let start = [start, self.carries_of(scans)].concat();
        let (lo, hi) = (window.lo.unwrap_or_else(|| self.e.i64(0)), window.hi.unwrap_or(cols));
        let width = self.e.columns();
        let (vector, up) = (self.e.i64(width), self.e.i64(width - 1));
        let room = self.e.subi(hi, lo);
        let room = self.e.addi(room, up);
        let vectors = self.e.floordiv(room, width);
        let (none, one) = (self.e.i64(0), self.e.i64(1));
        let vectors = self.e.maxi(vectors, none);
        let window = Window { hi: Some(hi), lo: None };
        // Threads wait for each other in the loop, before they write what the step before may still be reading.
        self.enter_loop(Touched::ALL);
        let uneven = self.enter_scan();
        let strips = &self.strips;
        let values = self.e.for_loop((none, vectors, one), &start, |e, number, values| {
            let number = if scans.backward {
                let last = e.subi(vectors, one);
                e.subi(last, number)
            } else {
                number
            };
            let ahead = e.muli(number, vector);
            let begin = e.addi(lo, ahead);
            let col = e.own_column_from(begin);
            let mask = e.column_mask(col, window);
            let mut memo = Memo::behind(&scans.rows, &values[count..]);
            let sums = step(e, strips, sinks, &mut memo, &values[..count], (col, mask));
            Ok([sums, memo.carries(&scans.rows)].concat())
        });
        self.leave_uneven(uneven);
        self.leave_loop(Touched::ALL);
        let mut values = self.at(op, values)?;
        values.truncate(count);
        Ok(values)
    }

    fn run_loop_on_threads(
        &mut self,
        op: OpRef<'a>,
        sinks: &[Sink],
        (cols, window): Columns,
        start: Vec<Value>,
    ) -> Lowered<'a, Vec<Value>> {
        let hi = window.hi.unwrap_or(cols);
        // The first vector begins at a multiple of the lanes, so that none is cut in two.
        let lo = match window.lo {
            None => self.e.own_column(0),
            Some(lo) => self.e.own_column_from(lo),
        };
        let (width, wide) = (self.e.i64(self.e.columns()), self.e.i64(self.e.columns() * UNROLL));
        // Behind this column fewer than `UNROLL` vectors of this thread are left.
        let ahead = self.e.i64(self.e.columns() * (UNROLL - 1));
        let end = self.e.subi(hi, ahead);
        let many = self.e.subi(end, lo);
        let up = self.e.i64(self.e.columns() * UNROLL - 1);
        let many = self.e.addi(many, up);
        let (none, trips) = (self.e.i64(0), self.e.op1("arith.divsi", &[many, wide], Type::I64, &[]));
        let trips = self.e.maxi(trips, none);
        let done = self.e.muli(trips, wide);
        let middle = self.e.addi(lo, done);
        let result = self.strip_loops(sinks, (lo, middle, hi), (width, wide), start);
        self.at(op, result)
    }

    fn strip_loops(
        &mut self,
        sinks: &[Sink],
        (lo, middle, hi): (Value, Value, Value),
        (width, wide): (Value, Value),
        start: Vec<Value>,
    ) -> Result<Vec<Value>, String> {
        let strips = &self.strips;
        let step = |e: &mut Emit<'_>, values: &[Value], col: Value| {
            step(e, strips, sinks, &mut Memo::default(), values, (col, None))
        };
        let sums = self.e.for_loop((lo, middle, wide), &start, |e, col, values| {
            let mut values = values.to_vec();
            for u in 0..UNROLL {
                let ahead = e.i64(u * e.columns());
                let col = e.addi(col, ahead);
                values = step(e, &values, col);
            }
            Ok(values)
        })?;
        self.e.for_loop((middle, hi, width), &sums, |e, col, values| Ok(step(e, values, col)))
    }
}

/// Everything that happens at one place; returns the accumulators.
fn step(
    e: &mut Emit<'_>,
    strips: &crate::gir_lowering::strip::Strips,
    sinks: &[Sink],
    memo: &mut Memo,
    values: &[Value],
    (col, mask): (Value, Option<Value>),
) -> Vec<Value> {
    let mut next = Vec::with_capacity(values.len());
    for sink in sinks {
        let strip = &strips.nodes[sink.node()];
        for row in 0..strip.rows {
            let value = strips.eval(e, memo, (sink.node(), row, col), mask);
            match sink {
                Sink::Reduce { kind, .. } => {
                    let old = values[next.len()];
                    let new = e.combine(*kind, old, value);
                    next.push(mask.map_or(new, |mask| e.select(mask, new, old)));
                }
                Sink::Store { slice, .. } | Sink::Keep { slice, .. } => {
                    let window = if matches!(sink, Sink::Keep { .. }) { Window::FULL } else { strip.row_window };
                    let at = slice.row.stride.map(|_| e.i64(row));
                    let exists = [row_condition(e, row, window), slice.exists];
                    let inside = exists.into_iter().flatten().fold(mask, |mask, exists| {
                        let all = e.broadcast(exists);
                        Some(e.both(mask, all))
                    });
                    e.store_vector(value, slice, at, Some(col), inside);
                }
            }
        }
    }
    next
}

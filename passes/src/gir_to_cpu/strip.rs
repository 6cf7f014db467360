//! Tiles that lie in a cache: not held, but computed column by column where they are needed.
//!
//! A strip is a node of a lazy expression graph. What needs its elements, a reduction along columns or a store, waits
//! until a result is asked for; then everything that waits on the same window runs in one loop over vectors of columns,
//! with a masked tail. So a maximal run of elementwise operations, broadcasts and partial reductions is one loop.

use std::collections::HashMap;

use sutura_dialects::gir::constraints::Axis;
use sutura_dialects::gir::kinds::{BinaryKind, CastKind, Combiner, CompareKind, TernaryKind, UnaryKind};
use sutura_ir::{Attr, Type, Value};

use super::division::{Divisor, divide};
use super::emit::{Emit, Pred, identity};
use super::memory::{SliceVal, Window};
use super::tile::{Parts, RegTile};

/// Index of a node of the graph.
pub(super) type NodeId = usize;

/// What a node computes.
#[derive(Clone)]
pub(super) enum Node {
    Load(SliceVal),
    /// What lies in the window, elsewhere a number.
    Padded(SliceVal, Window, Attr),
    Fill(Attr),
    Iota {
        axis: Axis,
        base: Value,
    },
    Unary(UnaryKind, NodeId),
    Binary(BinaryKind, NodeId, NodeId),
    Ternary(TernaryKind, NodeId, NodeId, NodeId),
    /// By a number for each row.
    Divide(NodeId, Vec<Divisor>),
    Compare(CompareKind, NodeId, NodeId),
    Cast(CastKind, NodeId),
    /// A value per row, or one for all, repeated along the columns.
    OfRegisters(RegTile),
    /// One row repeated.
    RepeatRow(NodeId),
    /// All rows combined into one.
    ReduceRows(Combiner, NodeId),
}

/// A strip: what it computes, over which columns.
#[derive(Clone)]
pub(super) struct Strip {
    pub(super) node: Node,
    pub(super) elem: Type,
    pub(super) rows: i64,
    /// Number of columns.
    pub(super) cols: Value,
    pub(super) window: Window,
    pub(super) row_window: Window,
    /// Rough price of computing one element anew.
    pub(super) cost: u32,
    /// Scratch that holds the elements once a loop has computed them.
    pub(super) stored: Option<SliceVal>,
}

/// From this price on, elements that are needed again are kept instead of computed anew.
pub(super) const KEEP_COST: u32 = 12;

/// What waits for its loop.
pub(super) enum Sink {
    /// Combine along columns; the result belongs to a value of the kernel.
    Reduce { kind: Combiner, node: NodeId, result: Value },
    /// Store into memory.
    Store { node: NodeId, slice: SliceVal },
    /// Keep in scratch.
    Keep { node: NodeId, slice: SliceVal },
}

impl Sink {
    pub(super) fn node(&self) -> NodeId {
        match self {
            Self::Reduce { node, .. } | Self::Store { node, .. } | Self::Keep { node, .. } => *node,
        }
    }
}

/// The graph of one kernel body.
#[derive(Default)]
pub(super) struct Strips {
    pub(super) nodes: Vec<Strip>,
    /// For each node the loops around its definition.
    depths: Vec<usize>,
    /// Loops around the operation that is being lowered.
    pub(super) depth: usize,
}

/// Elements at one place of the loop, computed once.
type Memo = HashMap<(NodeId, i64), Value>;

impl Strips {
    pub(super) fn add(&mut self, strip: Strip) -> NodeId {
        self.nodes.push(strip);
        self.depths.push(self.depth);
        self.nodes.len() - 1
    }

    /// True for a node of the block that is being lowered: what an inner loop keeps of an outer node would be lost, or
    /// never written, if the loop made no trip.
    pub(super) fn is_local(&self, id: NodeId) -> bool {
        self.depths[id] == self.depth
    }

    /// Price of a node from its own operation and those it reads.
    pub(super) fn cost_of(&self, own: u32, inputs: &[NodeId]) -> u32 {
        let below = |id: &NodeId| if self.nodes[*id].stored.is_some() { 1 } else { self.nodes[*id].cost };
        inputs.iter().map(below).sum::<u32>().saturating_add(own)
    }

    /// Nodes from which `id` is computed, `id` first.
    pub(super) fn reachable(&self, id: NodeId) -> Vec<NodeId> {
        let (mut order, mut seen) = (vec![id], std::collections::HashSet::from([id]));
        let mut at = 0;
        while at < order.len() {
            if self.nodes[order[at]].stored.is_none() {
                for input in inputs(&self.nodes[order[at]].node) {
                    if seen.insert(input) {
                        order.push(input);
                    }
                }
            }
            at += 1;
        }
        order
    }

    /// A vector of elements of row `row` from column `col` on; lanes that `mask` leaves out mean nothing.
    pub(super) fn eval(
        &self,
        e: &mut Emit<'_>,
        memo: &mut Memo,
        (id, row, col): (NodeId, i64, Value),
        mask: Option<Value>,
    ) -> Value {
        if let Some(value) = memo.get(&(id, row)) {
            return *value;
        }
        let strip = &self.nodes[id];
        let value = match &strip.stored {
            Some(slice) => self.load(e, slice, strip, row, col, mask),
            None => self.eval_node(e, memo, strip, (row, col), mask),
        };
        memo.insert((id, row), value);
        value
    }

    fn load(
        &self,
        e: &mut Emit<'_>,
        slice: &SliceVal,
        strip: &Strip,
        row: i64,
        col: Value,
        mask: Option<Value>,
    ) -> Value {
        let at = slice.row.stride.map(|_| clamp(e, row, strip.row_window));
        e.load_vector(slice, at, Some(col), mask)
    }

    fn eval_node(
        &self,
        e: &mut Emit<'_>,
        memo: &mut Memo,
        strip: &Strip,
        (row, col): (i64, Value),
        mask: Option<Value>,
    ) -> Value {
        let mut get = |e: &mut Emit<'_>, id: NodeId| self.eval(e, memo, (id, row, col), mask);
        match &strip.node {
            Node::Load(slice) => self.load(e, slice, strip, row, col, mask),
            Node::Padded(slice, window, pad) => padded(e, slice, *window, *pad, (col, mask)),
            Node::Fill(value) => e.splat(*value),
            Node::Iota { axis, base } => iota(e, strip.elem, *axis, *base, row, col),
            Node::Unary(kind, a) => {
                let a = get(e, *a);
                e.unary(*kind, a)
            }
            Node::Binary(kind, a, b) => {
                let (a, b) = (get(e, *a), get(e, *b));
                e.binary(*kind, a, b)
            }
            Node::Divide(a, divisors) => {
                let a = get(e, *a);
                divide(e, a, &divisors[if divisors.len() == 1 { 0 } else { row as usize }])
            }
            Node::Ternary(kind, a, b, c) => {
                let (a, b, c) = (get(e, *a), get(e, *b), get(e, *c));
                e.ternary(*kind, a, b, c)
            }
            Node::Compare(kind, a, b) => {
                let (a, b) = (get(e, *a), get(e, *b));
                e.compare(*kind, a, b)
            }
            Node::Cast(kind, a) => {
                let a = get(e, *a);
                e.cast(*kind, a, strip.elem)
            }
            Node::OfRegisters(tile) => {
                let (Parts::Scalars(rows) | Parts::Vectors(rows)) = &tile.parts;
                e.broadcast(rows[if tile.rows == 1 { 0 } else { row as usize }][0])
            }
            Node::RepeatRow(a) => self.eval(e, memo, (*a, 0, col), mask),
            Node::ReduceRows(kind, a) => {
                let mut sum = None;
                for row in 0..self.nodes[*a].rows {
                    let value = self.eval(e, memo, (*a, row, col), mask);
                    let value = existing_row(e, *kind, strip.elem, value, row, self.nodes[*a].row_window);
                    sum = Some(match sum {
                        Some(sum) => e.combine(*kind, sum, value),
                        None => value,
                    });
                }
                sum.expect("a tile has rows")
            }
        }
    }
}

/// Elements of a slice of one row, and `pad` outside the window.
fn padded(e: &mut Emit<'_>, slice: &SliceVal, window: Window, pad: Attr, (col, mask): (Value, Option<Value>)) -> Value {
    let Some(inside) = e.column_mask(col, window) else { return e.load_vector(slice, None, Some(col), mask) };
    let read = e.both(mask, inside);
    let value = e.load_vector(slice, None, Some(col), Some(read));
    // Lanes that are masked off are zero already.
    let zero = e.cx().as_f64(pad).map_or_else(|| e.cx().as_int(pad) == Some(0), |x| x.to_bits() == 0);
    if zero {
        return value;
    }
    let pad = e.splat(pad);
    e.select(inside, value, pad)
}

/// The value, or the identity when row `row` does not exist.
fn existing_row(e: &mut Emit<'_>, kind: Combiner, elem: Type, value: Value, row: i64, window: Window) -> Value {
    match row_condition(e, row, window) {
        None => value,
        Some(exists) => {
            let neutral = identity(e.cx(), kind, elem);
            let neutral = e.splat(neutral);
            e.select(exists, value, neutral)
        }
    }
}

impl Emit<'_> {
    /// Whether the first row lies in the window; `None` where it always does.
    pub(super) fn first_row_exists(&mut self, window: Window) -> Option<Value> {
        row_condition(self, 0, window)
    }
}

fn row_condition(e: &mut Emit<'_>, row: i64, window: Window) -> Option<Value> {
    let at = e.i64(row);
    let mut exists = window.hi.map(|hi| e.cmpi(Pred::Slt, at, hi));
    if let Some(lo) = window.lo {
        let above = e.cmpi(Pred::Sge, at, lo);
        exists = Some(e.both(exists, above));
    }
    exists
}

/// The row to read: itself, or the nearest that exists.
fn clamp(e: &mut Emit<'_>, row: i64, window: Window) -> Value {
    let mut at = e.i64(row);
    if let Some(hi) = window.hi {
        let one = e.i64(1);
        let last = e.subi(hi, one);
        at = e.mini(at, last);
    }
    if let Some(lo) = window.lo {
        at = e.maxi(at, lo);
    }
    at
}

fn iota(e: &mut Emit<'_>, elem: Type, axis: Axis, base: Value, row: i64, col: Value) -> Value {
    let values = match axis {
        Axis::Cols => {
            let start = e.addi(base, col);
            let (lanes, start) = (e.lane_numbers(), e.broadcast(start));
            e.addi(lanes, start)
        }
        Axis::Rows => {
            let row = e.i64(row);
            let at = e.addi(base, row);
            e.broadcast(at)
        }
    };
    if elem == Type::INDEX || elem == Type::I64 { values } else { e.cast(CastKind::TruncI, values, elem) }
}

/// Nodes that a node reads directly.
pub(super) fn inputs(node: &Node) -> Vec<NodeId> {
    match node {
        Node::Load(_) | Node::Padded(..) | Node::Fill(_) | Node::Iota { .. } | Node::OfRegisters(_) => vec![],
        Node::Unary(_, a) | Node::Divide(a, _) | Node::Cast(_, a) | Node::RepeatRow(a) | Node::ReduceRows(_, a) => {
            vec![*a]
        }
        Node::Binary(_, a, b) | Node::Compare(_, a, b) => vec![*a, *b],
        Node::Ternary(_, a, b, c) => vec![*a, *b, *c],
    }
}

/// Accumulators of one loop: for each reduction, row and unrolled step a vector.
struct Accumulators {
    kinds: Vec<(Combiner, Type)>,
    values: Vec<Value>,
}

/// Runs all `sinks`, which share a window, in one loop. Returns the results of the reductions, one tile per sink.
pub(super) fn run_loop(e: &mut Emit<'_>, strips: &Strips, sinks: &[Sink]) -> Result<Vec<(Value, RegTile)>, String> {
    let first = &strips.nodes[sinks[0].node()];
    let (lo, hi) = (first.window.lo.unwrap_or_else(|| e.i64(0)), first.window.hi.unwrap_or(first.cols));
    let hi = e.maxi(hi, lo);
    let acc = start(e, strips, sinks);
    // Light bodies are bound by the latency of the combination: several independent chains hide it.
    let light = sinks.iter().map(|s| strips.nodes[s.node()].cost).sum::<u32>() <= 8;
    let unroll = if light && !acc.values.is_empty() { 4 } else { 1 };
    let total = e.subi(hi, lo);
    let (mut at, mut acc) = (lo, acc);
    if unroll > 1 {
        (at, acc) = unrolled(e, strips, sinks, (lo, total, at), acc, unroll)?;
    }
    let whole = multiple(e, total, e.lanes);
    let end = e.addi(lo, whole);
    let step = e.i64(e.lanes);
    acc.values = e.for_loop((at, end, step), &acc.values.clone(), |e, col, values| {
        Ok(step_all(e, strips, sinks, &acc.kinds, values, col, None))
    })?;
    let rest = e.cmpi(Pred::Slt, end, hi);
    let types: Vec<Type> = acc.values.iter().map(|v| e.ty(*v)).collect();
    let before = acc.values.clone();
    acc.values = e.if_else(
        rest,
        &types,
        |e| {
            let mask = e.column_mask(end, Window { lo: None, hi: Some(hi) }).expect("a partial window");
            Ok(step_all(e, strips, sinks, &acc.kinds, &before, end, Some(mask)))
        },
        |_| Ok(before.clone()),
    )?;
    Ok(finish(e, strips, sinks, &acc))
}

/// `floor(total / size) * size`
fn multiple(e: &mut Emit<'_>, total: Value, size: i64) -> Value {
    let count = e.floordiv(total, size);
    let size = e.i64(size);
    e.muli(count, size)
}

fn start(e: &mut Emit<'_>, strips: &Strips, sinks: &[Sink]) -> Accumulators {
    let mut acc = Accumulators { kinds: Vec::new(), values: Vec::new() };
    for sink in sinks {
        let Sink::Reduce { kind, node, .. } = sink else { continue };
        let strip = &strips.nodes[*node];
        for _ in 0..strip.rows {
            let neutral = identity(e.cx(), *kind, strip.elem);
            acc.kinds.push((*kind, strip.elem));
            let neutral = e.splat(neutral);
            acc.values.push(neutral);
        }
    }
    acc
}

/// The main loop with `unroll` chains per accumulator, combined pairwise at its end.
fn unrolled(
    e: &mut Emit<'_>,
    strips: &Strips,
    sinks: &[Sink],
    (lo, total, at): (Value, Value, Value),
    acc: Accumulators,
    unroll: i64,
) -> Result<(Value, Accumulators), String> {
    let n = acc.values.len();
    let inits: Vec<Value> = (0..unroll).flat_map(|_| acc.values.clone()).collect();
    let whole = multiple(e, total, e.lanes * unroll);
    let end = e.addi(lo, whole);
    let step = e.i64(e.lanes * unroll);
    let mut chains = e.for_loop((at, end, step), &inits, |e, col, values| {
        let mut next = Vec::with_capacity(values.len());
        for (u, chain) in values.chunks(n).enumerate() {
            let ahead = e.i64(u as i64 * e.lanes);
            let col = e.addi(col, ahead);
            next.extend(step_all(e, strips, sinks, &acc.kinds, chain, col, None));
        }
        Ok(next)
    })?;
    while chains.len() > n {
        let (low, high) = chains.split_at(chains.len() / 2);
        let pairs: Vec<(Value, Value)> = low.iter().copied().zip(high.iter().copied()).collect();
        chains = pairs.iter().enumerate().map(|(i, (a, b))| e.combine(acc.kinds[i % n].0, *a, *b)).collect();
    }
    Ok((end, Accumulators { values: chains, ..acc }))
}

/// Everything that happens at one place of the loop.
fn step_all(
    e: &mut Emit<'_>,
    strips: &Strips,
    sinks: &[Sink],
    kinds: &[(Combiner, Type)],
    acc: &[Value],
    col: Value,
    mask: Option<Value>,
) -> Vec<Value> {
    let mut memo = Memo::new();
    let mut next = Vec::with_capacity(acc.len());
    for sink in sinks {
        let strip = &strips.nodes[sink.node()];
        for row in 0..strip.rows {
            let value = strips.eval(e, &mut memo, (sink.node(), row, col), mask);
            match sink {
                Sink::Reduce { .. } => {
                    let old = acc[next.len()];
                    let (kind, _) = kinds[next.len()];
                    let new = e.combine(kind, old, value);
                    next.push(mask.map_or(new, |mask| e.select(mask, new, old)));
                }
                Sink::Store { slice, .. } => store(e, value, slice, strip.row_window, row, col, mask),
                Sink::Keep { slice, .. } => store(e, value, slice, Window::FULL, row, col, mask),
            }
        }
    }
    next
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

fn finish(e: &mut Emit<'_>, strips: &Strips, sinks: &[Sink], acc: &Accumulators) -> Vec<(Value, RegTile)> {
    let mut values = acc.values.iter().copied();
    let mut results = Vec::new();
    for sink in sinks {
        let Sink::Reduce { kind, node, result } = sink else { continue };
        let strip = &strips.nodes[*node];
        let rows: Vec<Vec<Value>> = (0..strip.rows)
            .map(|_| {
                let lanes = values.next().expect("one accumulator per row");
                vec![e.combine_lanes(*kind, lanes)]
            })
            .collect();
        let mut tile = RegTile::of_scalars(strip.elem, rows);
        tile.row_window = strip.row_window;
        results.push((*result, tile));
    }
    results
}

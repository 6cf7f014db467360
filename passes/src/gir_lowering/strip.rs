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
use super::memory::{Origin, SliceVal, Window};
use super::scan::Scan;
use super::tile::{Parts, RegTile};
use super::zeros::ZeroCheck;

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
    /// The exponential of what is nowhere above zero.
    ExpNonpositive(NodeId),
    Binary(BinaryKind, NodeId, NodeId),
    Ternary(TernaryKind, NodeId, NodeId, NodeId),
    /// By a number for each row.
    Divide(NodeId, Vec<Divisor>),
    /// Integers to divide by.
    Divisor(NodeId, ZeroCheck),
    Compare(CompareKind, NodeId, NodeId),
    Cast(CastKind, NodeId),
    /// A value per row, or one for all, repeated along the columns.
    OfRegisters(RegTile),
    /// One row repeated.
    RepeatRow(NodeId),
    /// All rows combined into one.
    ReduceRows(Combiner, NodeId),
    /// Each row combined up to every column.
    Scan(Scan, NodeId),
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

impl Strip {
    /// The memory that the node itself reads, or where a loop has kept it.
    pub(super) fn origin(&self) -> Option<Origin> {
        match (&self.stored, &self.node) {
            (Some(slice), _) | (None, Node::Load(slice) | Node::Padded(slice, ..)) => slice.origin,
            _ => None,
        }
    }
}

/// What waits for its loop.
pub(super) enum Sink {
    /// Combine along columns; the result belongs to a value of the kernel.
    Reduce { kind: Combiner, node: NodeId, result: Value },
    /// Store into memory, past the caches where `stream` is true at run time; `None` when it never is.
    Store { node: NodeId, slice: SliceVal, stream: Option<Value> },
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
#[derive(Clone, Default)]
pub(super) struct Strips {
    pub(super) nodes: Vec<Strip>,
    /// For each node the loops around its definition.
    depths: Vec<usize>,
    /// Loops around the operation that is being lowered.
    pub(super) depth: usize,
}

/// Elements at one place of the loop, computed once, and what scans have combined before it.
#[derive(Default)]
pub(super) struct Memo {
    values: HashMap<(NodeId, i64), Value>,
    carries: HashMap<(NodeId, i64), Value>,
}

impl Memo {
    /// The start of a place before which these rows of scans have combined these values.
    pub(super) fn behind(scans: &[(NodeId, i64)], carries: &[Value]) -> Self {
        Self { carries: scans.iter().copied().zip(carries.iter().copied()).collect(), ..Self::default() }
    }

    /// The same place, where these rows of scans have combined these values before it.
    pub(super) fn go_on(&mut self, scans: &[(NodeId, i64)], carries: &[Value]) {
        self.carries.extend(scans.iter().copied().zip(carries.iter().copied()));
    }

    /// What these rows of scans have combined up to the end of the place.
    pub(super) fn carries(&self, scans: &[(NodeId, i64)]) -> Vec<Value> {
        scans.iter().map(|row| self.carries[row]).collect()
    }
}

impl Strips {
    pub(super) fn add(&mut self, strip: Strip) -> NodeId {
        self.nodes.push(strip);
        self.depths.push(self.depth);
        self.nodes.len() - 1
    }

    /// The loops around a node's definition.
    pub(super) fn depth_of(&self, id: NodeId) -> usize {
        self.depths[id]
    }

    /// True for a node of the block that is being lowered: what an inner loop keeps of an outer node would be lost, or
    /// never written, if the loop made no trip.
    pub(super) fn is_local(&self, id: NodeId) -> bool {
        self.depths[id] == self.depth
    }

    /// Price of a node from its own operation and those it reads.
    pub(super) fn cost_of(&self, own: u32, inputs: &[NodeId]) -> u32 {
        let below = |id: &NodeId| if self.nodes[*id].stored.is_some() { 1 } else { self.nodes[*id].cost };
        inputs.iter().map(below).fold(own, u32::saturating_add)
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
        if let Some(value) = memo.values.get(&(id, row)) {
            return *value;
        }
        let strip = &self.nodes[id];
        let value = match &strip.stored {
            Some(slice) => self.load(e, slice, strip, row, col, mask),
            None => self.eval_node(e, memo, strip, (id, row, col), mask),
        };
        memo.values.insert((id, row), value);
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
        (id, row, col): (NodeId, i64, Value),
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
            Node::ExpNonpositive(a) => {
                let a = get(e, *a);
                e.exp_nonpositive(a)
            }
            Node::Binary(kind, a, b) => {
                let (a, mut b) = (get(e, *a), get(e, *b));
                if let Some(mask) = mask.filter(|_| kind.divides_integers()) {
                    let one = e.ones_like(b);
                    b = e.select(mask, b, one);
                }
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
            Node::Divisor(a, check) => {
                let a = get(e, *a);
                let exists = row_condition(e, row, strip.row_window);
                e.checked_divisor(a, [exists, mask], check, (row, col))
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
            Node::Scan(scan, a) => {
                let value = get(e, *a);
                let carry = memo.carries[&(id, row)];
                let (value, carry) = e.scan_vector(*scan, value, mask, carry);
                memo.carries.insert((id, row), carry);
                value
            }
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
                sum.unwrap_or_else(|| {
                    let neutral = identity(e.cx(), *kind, strip.elem);
                    e.splat(neutral)
                })
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
    if e.is_zero(pad) {
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

pub(super) fn row_condition(e: &mut Emit<'_>, row: i64, window: Window) -> Option<Value> {
    let at = e.i64(row);
    let mut exists = window.hi.map(|hi| e.cmpi(Pred::Slt, at, hi));
    if let Some(lo) = window.lo {
        let above = e.cmpi(Pred::Sge, at, lo);
        exists = Some(e.both(exists, above));
    }
    exists
}

/// The row to read: itself, or the nearest that exists, of which there is one: what has no rows has no columns either.
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
        Node::Unary(_, a)
        | Node::ExpNonpositive(a)
        | Node::Divide(a, _)
        | Node::Divisor(a, _)
        | Node::Cast(_, a)
        | Node::RepeatRow(a)
        | Node::ReduceRows(_, a)
        | Node::Scan(_, a) => {
            vec![*a]
        }
        Node::Binary(_, a, b) | Node::Compare(_, a, b) => vec![*a, *b],
        Node::Ternary(_, a, b, c) => vec![*a, *b, *c],
    }
}

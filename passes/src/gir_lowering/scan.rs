//! Running combinations.
//!
//! Within a vector neighbours are combined at distances of 1, 2, 4, …, as in Hillis and Steele, "Data parallel algorithms"
//! (CACM 1986). A loop over vectors carries what lies before one in every lane, so that from one vector to the next there is
//! a single combination to wait for. The order in which numbers are combined follows from the number of lanes and from
//! where a row begins and ends, and on a GPU of threads, and from nothing else.

use sutura_dialects::gir::constraints::Axis;
use sutura_dialects::gir::kinds::Combiner;
use sutura_dialects::gir::ops::ScanOp;
use sutura_ir::{Type, Value};

use super::emit::{Emit, identity};
use super::strip::{Node, NodeId, Strips};
use super::tile::{Parts, RegTile};

/// What a scan does.
#[derive(Clone, Copy)]
pub(super) struct Scan {
    pub(super) combiner: Combiner,
    /// Each element is left out of its own combination.
    pub(super) exclusive: bool,
    /// From the last element to the first.
    pub(super) reverse: bool,
}

impl Scan {
    pub(super) fn of(op: &ScanOp<'_>) -> Self {
        Self { combiner: op.combiner(), exclusive: op.exclusive(), reverse: op.reverse() }
    }
}

impl Strips {
    /// Rows of the scans from which `sinks` are computed, each once, in order.
    pub(super) fn scans(&self, sinks: impl Iterator<Item = NodeId>) -> Vec<(NodeId, i64)> {
        let mut ids: Vec<NodeId> =
            sinks.flat_map(|id| self.reachable(id)).filter(|id| self.scan(*id).is_some()).collect();
        ids.sort_unstable();
        ids.dedup();
        ids.into_iter().flat_map(|id| (0..self.nodes[id].rows).map(move |row| (id, row))).collect()
    }

    /// The scan that a node is, unless it has run before.
    pub(super) fn scan(&self, id: NodeId) -> Option<Scan> {
        match &self.nodes[id] {
            strip if strip.stored.is_some() => None,
            strip => match strip.node {
                Node::Scan(scan, _) => Some(scan),
                _ => None,
            },
        }
    }

    /// Whether a loop that computes a node must run backward; `None` where either way does.
    ///
    /// # Errors
    /// When it would have to run both ways.
    pub(super) fn backward(&self, id: NodeId) -> Result<Option<bool>, String> {
        let mut ways = self.reachable(id).into_iter().filter_map(|id| self.scan(id)).map(|scan| scan.reverse);
        let first = ways.next();
        match ways.find(|way| Some(*way) != first) {
            Some(_) => Err("needs what runs forward and what runs backward at once".to_string()),
            None => Ok(first),
        }
    }

    /// The scans of a loop's sinks run over the columns of the loop: what begins elsewhere has combined something else.
    pub(super) fn check_columns(&self, sink: NodeId) -> Result<(), String> {
        let window = self.nodes[sink].window;
        match self.scans([sink].into_iter()).iter().all(|(id, _)| self.nodes[*id].window == window) {
            true => Ok(()),
            false => Err("a scan runs over other columns than what needs it".to_string()),
        }
    }
}

impl Emit<'_> {
    /// What a scan carries before its first vector.
    pub(super) fn carry_of(&mut self, scan: Scan, elem: Type) -> Value {
        let neutral = identity(self.cx(), scan.combiner, elem);
        self.splat(neutral)
    }

    /// The scan of a vector behind what is carried, and what is carried on. Lanes that `mask` leaves out are passed over.
    pub(super) fn scan_vector(
        &mut self,
        scan: Scan,
        value: Value,
        mask: Option<Value>,
        carry: Value,
    ) -> (Value, Value) {
        let elem = self.cx().element_type(self.ty(value));
        let neutral = self.carry_of(scan, elem);
        let mut inside = match mask {
            Some(mask) => self.select(mask, value, neutral),
            None => value,
        };
        let mut distance = 1;
        while distance < self.lanes {
            let before = self.moved(inside, neutral, scan.reverse, distance);
            inside = self.combine(scan.combiner, before, inside);
            distance *= 2;
        }
        let last = if scan.reverse { 0 } else { self.lanes - 1 };
        let shown = if scan.exclusive { self.moved(inside, neutral, scan.reverse, 1) } else { inside };
        if self.spread.is_none() {
            let all = self.shuffle(inside, inside, (0..self.lanes).map(|_| last));
            return (self.combine(scan.combiner, carry, shown), self.combine(scan.combiner, carry, all));
        }
        let position = self.cx().i64_array(&[last]);
        let own = self.op1("vector.extract", &[inside], elem, &[("static_position", position)]);
        let (before, all) = self.scan_threads(scan, own);
        let (before, all) = (self.broadcast(before), self.broadcast(all));
        let ahead = self.combine(scan.combiner, carry, before);
        (self.combine(scan.combiner, ahead, shown), self.combine(scan.combiner, carry, all))
    }

    /// The vector with every lane in the place of that `distance` further on, in the direction of the scan.
    fn moved(&mut self, vector: Value, neutral: Value, reverse: bool, distance: i64) -> Value {
        let lanes = self.lanes;
        let from = |lane: i64| {
            let lane = if reverse { lane + distance } else { lane - distance };
            // Lanes of the second operand are counted on from those of the first.
            if (0..lanes).contains(&lane) { lane } else { lanes }
        };
        self.shuffle(vector, neutral, (0..lanes).map(from))
    }

    /// The scan of a tile that is held in registers; what does not exist is passed over.
    pub(super) fn scan_tile(&mut self, scan: Scan, axis: Axis, tile: &RegTile) -> RegTile {
        if tile.is_empty() {
            return tile.clone();
        }
        let tile = self.without_padding(scan.combiner, axis, tile);
        let parts = match (&tile.parts, axis) {
            (Parts::Scalars(rows), Axis::Rows) => Parts::Scalars(self.scan_rows(scan, rows)),
            (Parts::Vectors(rows), Axis::Rows) => Parts::Vectors(self.scan_rows(scan, rows)),
            (Parts::Scalars(rows), Axis::Cols) => {
                let turned = |rows: &[Vec<Value>]| -> Vec<Vec<Value>> {
                    (0..rows[0].len()).map(|c| rows.iter().map(|row| row[c]).collect()).collect()
                };
                Parts::Scalars(turned(&self.scan_rows(scan, &turned(rows))))
            }
            (Parts::Vectors(rows), Axis::Cols) => {
                Parts::Vectors(rows.iter().map(|row| self.scan_chunks(scan, tile.elem, row)).collect())
            }
        };
        RegTile { parts, ..tile }
    }

    /// Each line combined with those before it.
    fn scan_rows(&mut self, scan: Scan, lines: &[Vec<Value>]) -> Vec<Vec<Value>> {
        let mut made = lines.to_vec();
        let order: Vec<usize> =
            if scan.reverse { (0..lines.len()).rev().collect() } else { (0..lines.len()).collect() };
        let neutral = lines[0].iter().map(|like| {
            let elem = self.cx().element_type(self.ty(*like));
            let neutral = identity(self.cx(), scan.combiner, elem);
            self.like(*like, neutral)
        });
        let mut sum: Vec<Value> = neutral.collect();
        for at in order {
            let next: Vec<Value> =
                sum.iter().zip(&lines[at]).map(|(sum, value)| self.combine(scan.combiner, *sum, *value)).collect();
            made[at] = if scan.exclusive { sum } else { next.clone() };
            sum = next;
        }
        made
    }

    /// A row of vectors, one after another.
    fn scan_chunks(&mut self, scan: Scan, elem: Type, row: &[Value]) -> Vec<Value> {
        let mut carry = self.carry_of(scan, elem);
        let mut made = row.to_vec();
        let order: Vec<usize> = if scan.reverse { (0..row.len()).rev().collect() } else { (0..row.len()).collect() };
        for at in order {
            (made[at], carry) = self.scan_vector(scan, row[at], None, carry);
        }
        made
    }
}

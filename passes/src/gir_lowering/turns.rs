//! Tiles whose rows lie in memory in turns: an element of each row, then the next one of each. They are read and written in whole
//! vectors, and their rows told apart in registers.

use sutura_ir::{Type, Value};

use super::emit::Emit;
use super::memory::{AxisVal, SliceVal, Window};

/// Most rows in turns.
const MOST_ROWS: i64 = 8;

impl Emit<'_> {
    /// All rows of a slice as one, where they lie in turns; `None` where they do not, or where vectors do not hold them.
    pub(super) fn in_turns(&mut self, slice: &SliceVal, rows: i64) -> Option<SliceVal> {
        let turns = slice.row.step == Some(1) && slice.col.step == Some(rows) && slice.row.window.is_full();
        let vectors = self.spread.is_none() && self.lanes > rows && slice.elem != Type::I1;
        if !turns || !vectors || !(2..=MOST_ROWS).contains(&rows) {
            return None;
        }
        let count = self.i64(rows);
        let Window { lo, hi } = slice.col.window;
        let [lo, hi] = [lo, hi].map(|end| end.map(|end| self.muli(end, count)));
        let col = AxisVal { stride: Some(self.i64(1)), step: Some(1), window: Window { lo, hi } };
        let row = AxisVal { stride: None, step: None, window: Window::FULL };
        Some(SliceVal { row, col, ..slice.clone() })
    }

    /// The vectors of so many rows and columns, row by row.
    pub(super) fn load_in_turns(&mut self, flat: &SliceVal, (rows, cols): (i64, i64)) -> Vec<Value> {
        let (lanes, mut lines) = (self.lanes, vec![Vec::new(); rows as usize]);
        for chunk in 0..self.chunks(cols) {
            let read: Vec<Value> = (chunk * rows..(chunk + 1) * rows)
                .map(|at| {
                    let mask = self.chunk_mask(at, rows * cols, flat.col.window);
                    let col = self.own_column(at);
                    self.load_vector(flat, None, Some(col), mask)
                })
                .collect();
            for (row, line) in lines.iter_mut().enumerate() {
                let from = |lane: i64| {
                    let at = lane * rows + row as i64;
                    (at / lanes, at % lanes)
                };
                line.push(self.lanes_of(&read, &from));
            }
        }
        lines.concat()
    }

    /// Writes rows of vectors.
    pub(super) fn store_in_turns(&mut self, parts: &[Vec<Value>], flat: &SliceVal, cols: i64) {
        let (lanes, rows) = (self.lanes, parts.len() as i64);
        for chunk in 0..self.chunks(cols) {
            let made: Vec<Value> = parts.iter().map(|row| row[chunk as usize]).collect();
            for at in 0..rows {
                let from = |lane: i64| {
                    let place = at * lanes + lane;
                    (place % rows, place / rows)
                };
                let value = self.lanes_of(&made, &from);
                let mask = self.chunk_mask(chunk * rows + at, rows * cols, flat.col.window);
                let col = self.own_column(chunk * rows + at);
                self.store_vector(value, flat, None, Some(col), mask);
            }
        }
    }

    /// A vector of lanes of several others: for each lane the number of the vector, and of its lane.
    fn lanes_of(&mut self, vectors: &[Value], from: &dyn Fn(i64) -> (i64, i64)) -> Value {
        let lanes = self.lanes;
        let first = |lane: i64| if from(lane).0 == 0 { from(lane).1 } else { lane };
        let mut taken = self.shuffle(vectors[0], vectors[0], (0..lanes).map(first));
        for (number, vector) in vectors.iter().enumerate().skip(1) {
            let own = |lane: i64| match from(lane) {
                (of, at) if of == number as i64 => lanes + at,
                _ => lane,
            };
            taken = self.shuffle(taken, *vector, (0..lanes).map(own));
        }
        taken
    }
}

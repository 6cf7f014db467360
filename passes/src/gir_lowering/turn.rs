//! Transposition of tiles in registers: networks of shuffles on square blocks of vectors.
//!
//! A block of `n` vectors of `n` elements takes `n log2 n` shuffles of two operands. Inside pieces of 128 bits rows are
//! interleaved, low and high halves apart: instructions of every vector unit. Pieces then change places between rows a
//! power of two apart, as in Eklundh, "A fast computer method for matrix transposing" (IEEE TC 1972).

use sutura_ir::{Type, Value};

use super::emit::Emit;
use super::tile::{Parts, RegTile};

/// Bits within which elements are interleaved by one instruction.
const PIECE_BITS: u32 = 128;

impl Emit<'_> {
    /// The tile with rows as columns.
    pub(super) fn transpose_tile(&mut self, tile: &RegTile) -> RegTile {
        let (rows, cols) = (tile.cols, tile.rows);
        let parts = match (&tile.parts, cols) {
            (_, 0) => Parts::Vectors(vec![vec![]; rows as usize]),
            (Parts::Scalars(from), 1) => Parts::Scalars(columns(from)),
            (Parts::Scalars(from), _) => {
                let lines = columns(from);
                Parts::Vectors(lines.iter().map(|line| self.vectors_of(line, tile.elem)).collect())
            }
            (Parts::Vectors(from), 1) => Parts::Scalars(self.elements(&from[0], rows)),
            // Truth values are shuffled as bytes: their vectors are masks, which have no shuffles.
            (Parts::Vectors(from), _) if tile.elem == Type::I1 => {
                let bytes = self.each(from, "arith.extui", Type::I8);
                let turned = self.turn_blocks(&bytes, (rows, cols));
                Parts::Vectors(self.each(&turned, "arith.trunci", Type::I1))
            }
            // Of floats of 16 bits bits are shuffled: a processor that does not compute with them would convert them to do so.
            (Parts::Vectors(from), _)
                if tile.elem.is_float(self.cx()) && self.cx().bit_width(tile.elem) == Some(16) =>
            {
                let bits = self.each(from, "arith.bitcast", Type::I16);
                let turned = self.turn_blocks(&bits, (rows, cols));
                Parts::Vectors(self.each(&turned, "arith.bitcast", tile.elem))
            }
            (Parts::Vectors(from), _) => Parts::Vectors(self.turn_blocks(from, (rows, cols))),
        };
        let (row_window, col_window) = (tile.col_window, tile.row_window);
        RegTile { elem: tile.elem, rows, cols, parts, row_window, col_window }
    }

    /// A conversion of every vector.
    fn each(&mut self, rows: &[Vec<Value>], op: &str, to: Type) -> Vec<Vec<Value>> {
        let ty = self.vec_type(to);
        rows.iter().map(|row| row.iter().map(|v| self.op1(op, &[*v], ty, &[])).collect()).collect()
    }

    /// Vectors with the given elements; what pads the last one means nothing.
    fn vectors_of(&mut self, elements: &[Value], elem: Type) -> Vec<Value> {
        let ty = self.vec_type(super::emit::without_index(elem));
        let chunks = elements.chunks(self.lanes as usize);
        let vectors = chunks.map(|chunk| {
            let mut vector = self.broadcast(chunk[0]);
            for (lane, element) in chunk.iter().enumerate().skip(1) {
                let position = self.cx().i64_array(&[lane as i64]);
                vector = self.op1("vector.insert", &[*element, vector], ty, &[("static_position", position)]);
            }
            vector
        });
        vectors.collect()
    }

    /// The elements of a row of vectors, one to a line.
    fn elements(&mut self, row: &[Value], count: i64) -> Vec<Vec<Value>> {
        let element = |lane: i64| {
            let vector = row[(lane / self.lanes) as usize];
            let elem = self.cx().element_type(self.ty(vector));
            let position = self.cx().i64_array(&[lane % self.lanes]);
            vec![self.op1("vector.extract", &[vector], elem, &[("static_position", position)])]
        };
        (0..count).map(element).collect()
    }

    /// Square blocks one after another. Rows that a block lacks stand for what its columns are padded with.
    fn turn_blocks(&mut self, from: &[Vec<Value>], (rows, cols): (i64, i64)) -> Vec<Vec<Value>> {
        let lanes = self.lanes as usize;
        let mut lines = vec![Vec::new(); rows as usize];
        for above in (0..cols as usize).step_by(lanes) {
            for left in (0..rows as usize).step_by(lanes) {
                let row = |r: usize| from[(above + r).min(from.len() - 1)][left / lanes];
                let block = self.turn_block((0..lanes).map(row).collect());
                for (line, vector) in lines.iter_mut().skip(left).zip(block) {
                    line.push(vector);
                }
            }
        }
        lines
    }

    /// A block of as many vectors as they have elements.
    fn turn_block(&mut self, mut rows: Vec<Value>) -> Vec<Value> {
        let lanes = self.lanes;
        let elem = self.cx().element_type(self.ty(rows[0]));
        let bits = self.cx().bit_width(elem).unwrap_or(64).max(8);
        let piece = i64::from(PIECE_BITS / bits).clamp(1, lanes);
        for _ in 0..piece.ilog2() {
            let groups: Vec<Vec<Value>> = rows.chunks(piece as usize).map(<[Value]>::to_vec).collect();
            rows = groups.iter().flat_map(|group| self.interleave_pieces(group, piece)).collect();
        }
        let mut apart = piece;
        while apart < lanes {
            for row in (0..lanes).filter(|row| row & apart == 0) {
                let (low, high) = (row as usize, (row + apart) as usize);
                let (a, b) = (rows[low], rows[high]);
                // Lanes of the first operand, and from `lanes` on of the second.
                let of_a = |lane: i64| if lane & apart == 0 { lane } else { lanes + lane - apart };
                let of_b = |lane: i64| if lane & apart == 0 { lane + apart } else { lanes + lane };
                rows[low] = self.shuffle(a, b, (0..lanes).map(of_a));
                rows[high] = self.shuffle(a, b, (0..lanes).map(of_b));
            }
            apart *= 2;
        }
        rows
    }

    /// Interleaves each row of the first half with its fellow of the second half, piece by piece: low halves of pieces
    /// become one row, high halves the next.
    fn interleave_pieces(&mut self, rows: &[Value], piece: i64) -> Vec<Value> {
        let (lanes, (first, second)) = (self.lanes, rows.split_at(rows.len() / 2));
        let mut mixed = Vec::with_capacity(rows.len());
        for (a, b) in first.iter().zip(second) {
            for half in 0..2 {
                let lane = |lane: i64| {
                    let (start, at) = (lane - lane % piece, lane % piece);
                    start + half * piece / 2 + at / 2 + (at % 2) * lanes
                };
                mixed.push(self.shuffle(*a, *b, (0..lanes).map(lane)));
            }
        }
        mixed
    }
}

/// Columns of a grid of scalars.
fn columns(rows: &[Vec<Value>]) -> Vec<Vec<Value>> {
    (0..rows[0].len()).map(|c| rows.iter().map(|row| row[c]).collect()).collect()
}

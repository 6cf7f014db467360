//! Transposition of tiles whose columns are spread over threads: elements change threads through the block's memory.
//!
//! Rows in memory are one element longer than those of the tile, so neighbouring threads, which read neighbouring rows, read
//! from different banks.

use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::gir::ops::TransposeOp;
use sutura_ir::{OpView, Value};

use crate::gir_lowering::emit::{Emit, Pred, without_index};
use crate::gir_lowering::kernel::{Lowered, Lowering};
use crate::gir_lowering::memory::stored;
use crate::gir_lowering::tile::{Parts, RegTile};

/// A tile of `cols` columns in the block's memory.
#[derive(Clone, Copy)]
struct InMemory {
    ptr: Value,
    cols: i64,
}

impl<'a> Lowering<'a, '_> {
    /// The tile with rows as columns.
    pub(in crate::gir_lowering) fn transpose_over_threads(
        &mut self,
        this: &TransposeOp<'a>,
        tile: &RegTile,
    ) -> Lowered<'a, RegTile> {
        if tile.is_empty() {
            return Ok(self.e.transpose_tile(tile));
        }
        let (rows, cols) = (tile.rows, tile.cols);
        let elements = Poly::constant(rows * (cols + 1));
        let Some(scratch) = self.scratch_of(this.op_ref().result(0), &elements, without_index(tile.elem)) else {
            let message = format!("needs more memory than a block has, to transpose a tile of {rows} x {cols}");
            return self.fail(this.op_ref(), message);
        };
        let memory = InMemory { ptr: scratch.ptr, cols };
        let (before, after) = (self.e.lanes_of_columns(cols), self.e.lanes_of_columns(rows));
        self.e.wait_unless_met();
        self.e.with_lanes(before, |e| e.put_tile(tile, memory));
        self.e.barrier();
        let parts = self.e.with_lanes(after, |e| e.turned_parts(tile, memory));
        let (row_window, col_window) = (tile.col_window, tile.row_window);
        Ok(RegTile { elem: tile.elem, rows: cols, cols: rows, parts, row_window, col_window })
    }
}

impl Emit<'_> {
    /// Every thread stores the columns that it has; what all have is stored by one.
    fn put_tile(&mut self, tile: &RegTile, memory: InMemory) {
        match &tile.parts {
            Parts::Scalars(rows) => {
                let first = self.once(None).expect("threads have numbers");
                let put = |e: &mut Self| {
                    for (r, row) in rows.iter().enumerate() {
                        for (c, value) in row.iter().enumerate() {
                            let col = e.i64(c as i64);
                            e.put_element(*value, (r as i64, col), memory);
                        }
                    }
                    Ok(vec![])
                };
                self.if_else(first, &[], put, |_| Ok(vec![])).expect("neither branch fails");
            }
            Parts::Vectors(rows) => {
                let chunks = rows.first().map_or(0, Vec::len) as i64;
                for chunk in 0..chunks {
                    self.put_chunk(rows, chunk, memory);
                }
            }
        }
    }

    /// The columns of one vector, in all rows.
    fn put_chunk(&mut self, rows: &[Vec<Value>], chunk: i64, memory: InMemory) {
        let start = self.own_column(chunk);
        let all_exist = (chunk + 1) * self.columns() <= memory.cols;
        for lane in 0..self.lanes {
            let ahead = self.i64(lane);
            let col = self.addi(start, ahead);
            let put = |e: &mut Self| {
                for (r, row) in rows.iter().enumerate() {
                    let vector = row[chunk as usize];
                    let elem = e.cx().element_type(e.ty(vector));
                    let position = e.cx().i64_array(&[lane]);
                    let value = e.op1("vector.extract", &[vector], elem, &[("static_position", position)]);
                    e.put_element(value, (r as i64, col), memory);
                }
                Ok(vec![])
            };
            if all_exist {
                put(self).map(drop).expect("does not fail");
                continue;
            }
            let cols = self.i64(memory.cols);
            let exists = self.cmpi(Pred::Slt, col, cols);
            self.if_else(exists, &[], put, |_| Ok(vec![])).expect("neither branch fails");
        }
    }

    fn put_element(&mut self, value: Value, (row, col): (i64, Value), memory: InMemory) {
        let elem = self.ty(value);
        let row = self.i64(row * (memory.cols + 1));
        let at = self.addi(row, col);
        let ptr = self.gep(memory.ptr, at, stored(elem));
        let value = self.storable(value, elem);
        self.store(value, ptr);
    }

    /// The rows of the transposed tile: those of one column are the same for all threads.
    fn turned_parts(&mut self, tile: &RegTile, memory: InMemory) -> Parts {
        if tile.rows == 1 {
            let zero = self.i64(0);
            let scalar = |e: &mut Self, r: i64| vec![e.get_element(tile, (zero, r), memory)];
            return Parts::Scalars((0..tile.cols).map(|r| scalar(self, r)).collect());
        }
        let chunks = (tile.rows + self.columns() - 1) / self.columns();
        let rows =
            (0..tile.cols).map(|r| (0..chunks).map(|chunk| self.turned_vector(tile, r, chunk, memory)).collect());
        Parts::Vectors(rows.collect())
    }

    /// A thread's columns of a row of the transposed tile, which are rows of the tile. Beyond the last it gets that one.
    fn turned_vector(&mut self, tile: &RegTile, column: i64, chunk: i64, memory: InMemory) -> Value {
        let start = self.own_column(chunk);
        let clamps = (chunk + 1) * self.columns() > tile.rows;
        let mut vector = None;
        for lane in 0..self.lanes {
            let ahead = self.i64(lane);
            let mut row = self.addi(start, ahead);
            if clamps {
                let last = self.i64(tile.rows - 1);
                row = self.mini(row, last);
            }
            let value = self.get_element(tile, (row, column), memory);
            let whole = vector.unwrap_or_else(|| self.broadcast(value));
            let (ty, position) = (self.ty(whole), self.cx().i64_array(&[lane]));
            vector = Some(self.op1("vector.insert", &[value, whole], ty, &[("static_position", position)]));
        }
        vector.expect("a vector has a lane")
    }

    fn get_element(&mut self, tile: &RegTile, (row, col): (Value, i64), memory: InMemory) -> Value {
        let elem = without_index(tile.elem);
        let (stride, col) = (self.i64(memory.cols + 1), self.i64(col));
        let start = self.muli(row, stride);
        let at = self.addi(start, col);
        let ptr = self.gep(memory.ptr, at, stored(elem));
        let read = self.load(ptr, stored(elem));
        self.loaded(read, elem)
    }
}

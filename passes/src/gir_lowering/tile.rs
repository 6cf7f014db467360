//! Tiles held in registers: scalars, or vectors of the target's width, one row after another.

use sutura_dialects::gir::constraints::Axis;
use sutura_dialects::gir::kinds::{CastKind, Combiner};
use sutura_ir::{Type, Value};

use super::emit::{Emit, Pred, identity};
use super::memory::{SliceVal, Window, stored};

/// A tile in registers.
#[derive(Clone)]
pub(super) struct RegTile {
    pub(super) elem: Type,
    pub(super) rows: i64,
    pub(super) cols: i64,
    /// One entry per element, or per `lanes` elements of a row; what pads the last vector of a row means nothing.
    pub(super) parts: Parts,
    pub(super) row_window: Window,
    pub(super) col_window: Window,
}

#[derive(Clone)]
pub(super) enum Parts {
    /// Element by element, row by row.
    Scalars(Vec<Vec<Value>>),
    /// Vector by vector, row by row.
    Vectors(Vec<Vec<Value>>),
}

impl RegTile {
    pub(super) fn of_scalars(elem: Type, parts: Vec<Vec<Value>>) -> Self {
        let (rows, cols) = (parts.len() as i64, parts.first().map_or(0, Vec::len) as i64);
        let parts = Parts::Scalars(parts);
        Self { elem, rows, cols, parts, row_window: Window::FULL, col_window: Window::FULL }
    }

    /// All registers, row by row.
    pub(super) fn values(&self) -> Vec<Value> {
        match &self.parts {
            Parts::Scalars(rows) | Parts::Vectors(rows) => rows.concat(),
        }
    }

    /// The same tile in other registers, in the order of [`RegTile::values`].
    pub(super) fn with_values(&self, elem: Type, values: &[Value]) -> Self {
        let mut rest = values.iter().copied();
        let mut refill = |rows: &Vec<Vec<Value>>| -> Vec<Vec<Value>> {
            rows.iter().map(|row| rest.by_ref().take(row.len()).collect()).collect()
        };
        let parts = match &self.parts {
            Parts::Scalars(rows) => Parts::Scalars(refill(rows)),
            Parts::Vectors(rows) => Parts::Vectors(refill(rows)),
        };
        Self { elem, parts, ..self.clone() }
    }

    /// True for a tile without elements, and so without registers.
    pub(super) fn is_empty(&self) -> bool {
        self.rows == 0 || self.cols == 0
    }

    pub(super) fn is_scalars(&self) -> bool {
        matches!(self.parts, Parts::Scalars(_))
    }
}

impl Emit<'_> {
    /// Vectors that a row of `cols` elements takes.
    pub(super) fn chunks(&self, cols: i64) -> i64 {
        let columns = self.columns();
        cols.div_euclid(columns) + i64::from(cols.rem_euclid(columns) != 0)
    }

    /// A tile of one value.
    pub(super) fn fill_tile(&mut self, value: sutura_ir::Attr, elem: Type, rows: i64, cols: i64) -> RegTile {
        let parts = if cols == 1 {
            let v = self.constant(value, elem);
            Parts::Scalars(vec![vec![v]; rows as usize])
        } else {
            let v = self.splat(value);
            Parts::Vectors(vec![vec![v; self.chunks(cols) as usize]; rows as usize])
        };
        RegTile { elem, rows, cols, parts, row_window: Window::FULL, col_window: Window::FULL }
    }

    /// A tile that counts from `base` on.
    pub(super) fn iota_tile(&mut self, axis: Axis, base: Value, elem: Type, (rows, cols): (i64, i64)) -> RegTile {
        let narrow = |e: &mut Self, value: Value| match elem {
            Type::INDEX | Type::I64 => value,
            _ => e.cast(CastKind::TruncI, value, elem),
        };
        let mut parts = Vec::new();
        for r in 0..rows {
            let mut line = Vec::new();
            let chunks = if cols == 1 { 1 } else { self.chunks(cols) };
            for chunk in 0..chunks {
                // The one column of a tile is all threads'.
                let ahead = match axis {
                    Axis::Rows => self.i64(r),
                    Axis::Cols if cols == 1 => self.i64(0),
                    Axis::Cols => self.own_column(chunk),
                };
                let mut value = self.addi(base, ahead);
                if cols != 1 {
                    value = self.broadcast(value);
                    if axis == Axis::Cols {
                        let lanes = self.lane_numbers();
                        value = self.addi(value, lanes);
                    }
                }
                line.push(narrow(self, value));
            }
            parts.push(line);
        }
        let parts = if cols == 1 { Parts::Scalars(parts) } else { Parts::Vectors(parts) };
        RegTile { elem, rows, cols, parts, row_window: Window::FULL, col_window: Window::FULL }
    }

    /// The column window of a chunk: that of the slice, and the tile's own end.
    pub(super) fn chunk_mask(&mut self, chunk: i64, cols: i64, window: Window) -> Option<Value> {
        let mut window = window;
        if window.hi.is_none() && (chunk + 1) * self.columns() > cols {
            window.hi = Some(self.i64(cols));
        }
        let start = self.own_column(chunk);
        self.column_mask(start, window)
    }

    /// Whether any position of an axis of so many exists; `None` where all do.
    pub(super) fn some_exist(&mut self, window: Window, extent: i64) -> Option<Value> {
        if window.is_full() {
            return None;
        }
        let lo = window.lo.unwrap_or_else(|| self.i64(0));
        let hi = window.hi.unwrap_or_else(|| self.i64(extent));
        Some(self.cmpi(Pred::Slt, lo, hi))
    }

    /// The row to read for row `row` of a tile: itself, or the nearest that exists, of which there is one.
    pub(super) fn clamped_row(&mut self, row: i64, window: Window) -> Value {
        let mut at = self.i64(row);
        if let Some(hi) = window.hi {
            let one = self.i64(1);
            let last = self.subi(hi, one);
            at = self.mini(at, last);
        }
        if let Some(lo) = window.lo {
            at = self.maxi(at, lo);
        }
        at
    }

    /// True when some position of the slice exists.
    pub(super) fn non_empty(&mut self, slice: &SliceVal, rows: i64, cols: i64) -> Option<Value> {
        let mut exists = slice.exists;
        for (window, extent) in [(slice.row.window, rows), (slice.col.window, cols)] {
            if let Some(some) = self.some_exist(window, extent) {
                exists = Some(self.both(exists, some));
            }
        }
        exists
    }

    /// Reads a slice of constant extents. Rows that do not exist are read from the nearest that does: their values
    /// mean nothing, but reading them is harmless.
    pub(super) fn load_tile(
        &mut self,
        slice: &SliceVal,
        rows: i64,
        cols: i64,
        scalars: bool,
    ) -> Result<RegTile, String> {
        let types: Vec<Type> = {
            let (ty, per_row) =
                if scalars { (slice.elem, cols) } else { (self.vec_type(slice.elem), self.chunks(cols)) };
            vec![ty; (rows * per_row) as usize]
        };
        let values = match self.non_empty(slice, rows, cols) {
            None => self.load_parts(slice, rows, cols, scalars),
            Some(exists) => self.if_else(
                exists,
                &types,
                |e| Ok(e.load_parts(slice, rows, cols, scalars)),
                |e| {
                    Ok(types
                        .iter()
                        .map(|ty| {
                            let zero = if ty.is_float(e.cx()) {
                                e.cx().float_attr(0.0, *ty)
                            } else if e.cx().shape(*ty).is_some() {
                                return e.zero(slice.elem);
                            } else {
                                e.cx().int_attr(0, *ty)
                            };
                            e.constant(zero, *ty)
                        })
                        .collect())
                },
            )?,
        };
        // A row may have no columns, and so no registers.
        let per_row = values.len() / rows.max(1) as usize;
        let mut rest = values.into_iter();
        let grid: Vec<Vec<Value>> = (0..rows).map(|_| rest.by_ref().take(per_row).collect()).collect();
        let parts = if scalars { Parts::Scalars(grid) } else { Parts::Vectors(grid) };
        let (row_window, col_window) = (slice.row.window, slice.col.window);
        Ok(RegTile { elem: slice.elem, rows, cols, parts, row_window, col_window })
    }

    /// Whether a number is the zero that masked lanes of a load have, and not the negative one.
    pub(super) fn is_zero(&self, number: sutura_ir::Attr) -> bool {
        self.cx().as_f64(number).map_or_else(|| self.cx().as_int(number) == Some(0), |x| x.to_bits() == 0)
    }

    /// The tile, which was loaded, with `pad` wherever it has no element.
    pub(super) fn pad_tile(&mut self, tile: &RegTile, exists: Option<Value>, pad: sutura_ir::Attr) -> RegTile {
        let mut tile = tile.clone();
        let (cols, row_window, col_window) = (tile.cols, tile.row_window, tile.col_window);
        let scalars = tile.is_scalars();
        // Lanes that a load masks off are zero already. A processor's masked load takes the select into itself.
        let columns_done = self.spread.is_some() && !scalars && self.is_zero(pad);
        let (Parts::Scalars(rows) | Parts::Vectors(rows)) = &mut tile.parts;
        for (r, row) in rows.iter_mut().enumerate() {
            let mut inside = self.row_exists(r as i64, row_window);
            if let Some(exists) = exists {
                inside = Some(self.both(inside, exists));
            }
            for (c, value) in row.iter_mut().enumerate() {
                let column = if scalars {
                    self.row_exists(c as i64, col_window)
                } else if col_window.is_full() || columns_done {
                    None
                } else {
                    self.chunk_mask(c as i64, cols, col_window)
                };
                for condition in [inside, column].into_iter().flatten() {
                    let outside = self.like(*value, pad);
                    *value = self.select(condition, *value, outside);
                }
            }
        }
        RegTile { row_window: Window::FULL, col_window: Window::FULL, ..tile }
    }

    fn load_parts(&mut self, slice: &SliceVal, rows: i64, cols: i64, scalars: bool) -> Vec<Value> {
        if let Some(flat) = self.in_turns(slice, rows).filter(|_| !scalars) {
            return self.load_in_turns(&flat, (rows, cols));
        }
        let mut values = Vec::new();
        for row in 0..rows {
            let at = slice.row.stride.map(|_| self.clamped_row(row, slice.row.window));
            if scalars {
                values.extend(self.load_elements(slice, at, cols));
                continue;
            }
            for chunk in 0..self.chunks(cols) {
                let mask = self.chunk_mask(chunk, cols, slice.col.window);
                let col = self.own_column(chunk);
                values.push(self.load_vector(slice, at, Some(col), mask));
            }
        }
        values
    }

    /// The elements of a row one by one. Threads of a GPU, which all read the same, read as many at once as are aligned.
    fn load_elements(&mut self, slice: &SliceVal, row: Option<Value>, cols: i64) -> Vec<Value> {
        if self.spread.is_none() || self.lanes == 1 || !slice.col.is_contiguous() || !slice.col.window.is_full() {
            let at = |e: &mut Self, col| slice.col.stride.map(|_| e.clamped_row(col, slice.col.window));
            let one = |col| {
                let col = at(self, col);
                self.load_scalar(slice, row, col)
            };
            return (0..cols).map(one).collect();
        }
        let mut values = Vec::new();
        for start in (0..cols).step_by(self.lanes as usize) {
            let start = self.i64(start);
            let vector = self.load_vector(slice, row, Some(start), None);
            let elem = self.cx().element_type(self.ty(vector));
            for lane in 0..self.lanes {
                let position = self.cx().i64_array(&[lane]);
                values.push(self.op1("vector.extract", &[vector], elem, &[("static_position", position)]));
            }
        }
        values
    }

    /// Reads a slice all of which exists, and whose rows lie side by side in memory: a thread reads so many of them at once for
    /// each of its columns.
    pub(super) fn load_along_rows(&mut self, slice: &SliceVal, (rows, cols): (i64, i64), at_once: i64) -> RegTile {
        let elem = stored(slice.elem);
        let line = self.cx().vector_type(&[at_once], elem);
        let mut parts: Vec<Vec<Value>> = vec![vec![]; rows as usize];
        for chunk in 0..self.chunks(cols) {
            let first = self.own_column(chunk);
            for start in (0..rows).step_by(at_once as usize) {
                let row = self.i64(start);
                let mut vectors = vec![self.zero(elem); at_once as usize];
                for lane in 0..self.lanes {
                    let ahead = self.i64(lane);
                    let col = self.addi(first, ahead);
                    let ptr = self.address(slice, Some(row), Some(col));
                    let column = self.load(ptr, line);
                    for (i, vector) in vectors.iter_mut().enumerate() {
                        let from = self.cx().i64_array(&[i as i64]);
                        let value = self.op1("vector.extract", &[column], elem, &[("static_position", from)]);
                        let (ty, to) = (self.ty(*vector), self.cx().i64_array(&[lane]));
                        *vector = self.op1("vector.insert", &[value, *vector], ty, &[("static_position", to)]);
                    }
                }
                for (row, vector) in parts[start as usize..].iter_mut().zip(vectors) {
                    row.push(self.loaded(vector, slice.elem));
                }
            }
        }
        let parts = Parts::Vectors(parts);
        RegTile { elem: slice.elem, rows, cols, parts, row_window: Window::FULL, col_window: Window::FULL }
    }

    /// Writes a tile; what does not exist is left alone.
    pub(super) fn store_tile(&mut self, tile: &RegTile, slice: &SliceVal) -> Result<(), String> {
        match slice.exists {
            Some(exists) => {
                let (tile, slice) = (tile.clone(), SliceVal { exists: None, ..slice.clone() });
                self.if_else(exists, &[], |e| e.store_rows(&tile, &slice).map(|()| vec![]), |_| Ok(vec![]))?;
                Ok(())
            }
            None => self.store_rows(tile, slice),
        }
    }

    fn store_rows(&mut self, tile: &RegTile, slice: &SliceVal) -> Result<(), String> {
        if let (Parts::Vectors(parts), Some(flat)) = (&tile.parts, self.in_turns(slice, tile.rows)) {
            self.store_in_turns(parts, &flat, tile.cols);
            return Ok(());
        }
        for row in 0..tile.rows {
            let at = slice.row.stride.map(|_| self.i64(row));
            match self.row_exists(row, slice.row.window) {
                None => self.store_row(tile, slice, row, at)?,
                Some(exists) => {
                    self.if_else(exists, &[], |e| e.store_row(tile, slice, row, at).map(|()| vec![]), |_| Ok(vec![]))?;
                }
            }
        }
        Ok(())
    }

    pub(super) fn row_exists(&mut self, row: i64, window: Window) -> Option<Value> {
        if window.is_full() {
            return None;
        }
        let row = self.i64(row);
        let mut exists = window.hi.map(|hi| self.cmpi(Pred::Slt, row, hi));
        if let Some(lo) = window.lo {
            let above = self.cmpi(Pred::Sge, row, lo);
            exists = Some(self.both(exists, above));
        }
        exists
    }

    fn store_row(&mut self, tile: &RegTile, slice: &SliceVal, row: i64, at: Option<Value>) -> Result<(), String> {
        match &tile.parts {
            Parts::Scalars(parts) => {
                for (col, value) in parts[row as usize].iter().enumerate() {
                    let column = slice.col.stride.map(|_| self.i64(col as i64));
                    let exists = self.row_exists(col as i64, slice.col.window);
                    match self.once(exists) {
                        None => self.store_scalar(*value, slice, at, column),
                        Some(exists) => {
                            let store = |e: &mut Self| {
                                e.store_scalar(*value, slice, at, column);
                                Ok(vec![])
                            };
                            self.if_else(exists, &[], store, |_| Ok(vec![]))?;
                        }
                    }
                }
            }
            Parts::Vectors(parts) => {
                for (chunk, value) in parts[row as usize].iter().enumerate() {
                    let mask = self.chunk_mask(chunk as i64, tile.cols, slice.col.window);
                    let col = self.own_column(chunk as i64);
                    self.store_vector(*value, slice, at, Some(col), mask);
                }
            }
        }
        Ok(())
    }

    /// Applies `f` to the registers of tiles of equal form.
    pub(super) fn map_tiles(
        &mut self,
        tiles: &[&RegTile],
        elem: Type,
        mut f: impl FnMut(&mut Self, &[Value]) -> Value,
    ) -> RegTile {
        let columns: Vec<Vec<Value>> = tiles.iter().map(|t| t.values()).collect();
        let values: Vec<Value> = (0..columns[0].len())
            .map(|i| {
                let operands: Vec<Value> = columns.iter().map(|c| c[i]).collect();
                f(self, &operands)
            })
            .collect();
        tiles[0].with_values(elem, &values)
    }

    /// A scalar tile's registers as vectors, or a vector tile's as they are.
    pub(super) fn broadcast_tile(&mut self, tile: &RegTile, like: &RegTile) -> RegTile {
        let rows = |r: i64| if tile.rows == 1 { 0 } else { r as usize };
        let (like_scalars, chunks) = (like.is_scalars(), self.chunks(like.cols) as usize);
        let parts: Vec<Vec<Value>> = (0..like.rows)
            .map(|r| match &tile.parts {
                Parts::Scalars(parts) if like_scalars => {
                    let row = &parts[rows(r)];
                    (0..like.cols as usize).map(|c| row[if tile.cols == 1 { 0 } else { c }]).collect()
                }
                Parts::Scalars(parts) => vec![self.broadcast(parts[rows(r)][0]); chunks],
                Parts::Vectors(parts) => parts[rows(r)].clone(),
            })
            .collect();
        let parts = if like_scalars { Parts::Scalars(parts) } else { Parts::Vectors(parts) };
        RegTile { elem: tile.elem, parts, ..like.clone() }
    }

    /// Combines along an axis; what does not exist counts as the combination's identity.
    pub(super) fn reduce_tile(&mut self, kind: Combiner, axis: Axis, tile: &RegTile) -> RegTile {
        let tile = self.without_padding(kind, axis, tile);
        match axis {
            Axis::Rows => {
                let (Parts::Scalars(rows) | Parts::Vectors(rows)) = &tile.parts;
                let Some((first, others)) = rows.split_first() else {
                    let neutral = identity(self.cx(), kind, tile.elem);
                    return self.fill_tile(neutral, tile.elem, 1, tile.cols);
                };
                let mut sum = first.clone();
                for row in others {
                    for (acc, value) in sum.iter_mut().zip(row) {
                        *acc = self.combine(kind, *acc, *value);
                    }
                }
                let parts = match tile.parts {
                    Parts::Scalars(_) => Parts::Scalars(vec![sum]),
                    Parts::Vectors(_) => Parts::Vectors(vec![sum]),
                };
                RegTile { rows: 1, parts, row_window: Window::FULL, ..tile }
            }
            Axis::Cols => {
                let (Parts::Scalars(rows) | Parts::Vectors(rows)) = &tile.parts;
                let sums =
                    rows.iter().map(|row| row.iter().copied().reduce(|acc, value| self.combine(kind, acc, value)));
                let sums: Vec<Option<Value>> = sums.collect();
                let whole = match tile.parts {
                    Parts::Scalars(_) => sums.iter().flatten().copied().collect(),
                    Parts::Vectors(_) => {
                        self.combine_all(&sums.iter().flatten().map(|sum| (kind, *sum)).collect::<Vec<_>>())
                    }
                };
                let mut whole = whole.into_iter();
                let neutral = identity(self.cx(), kind, tile.elem);
                let mut number = |sum: Option<Value>| match sum {
                    Some(_) => whole.next().expect("one for each sum"),
                    None => self.constant(neutral, tile.elem),
                };
                let sums = sums.into_iter().map(|sum| vec![number(sum)]).collect();
                RegTile { cols: 1, parts: Parts::Scalars(sums), col_window: Window::FULL, ..tile }
            }
        }
    }

    /// The tile with the identity of `kind` wherever an element does not exist along `axis`.
    pub(super) fn without_padding(&mut self, kind: Combiner, axis: Axis, tile: &RegTile) -> RegTile {
        let neutral = identity(self.cx(), kind, tile.elem);
        let mut tile = tile.clone();
        if axis == Axis::Rows && !tile.row_window.is_full() {
            let (Parts::Scalars(rows) | Parts::Vectors(rows)) = &mut tile.parts;
            for (r, row) in rows.iter_mut().enumerate() {
                let exists = self.row_exists(r as i64, tile.row_window).expect("the window is partial");
                for value in row {
                    let neutral = self.like(*value, neutral);
                    *value = self.select(exists, *value, neutral);
                }
            }
        }
        if axis == Axis::Cols {
            match &mut tile.parts {
                Parts::Vectors(rows) => {
                    for row in rows {
                        for (chunk, value) in row.iter_mut().enumerate() {
                            if let Some(mask) = self.chunk_mask(chunk as i64, tile.cols, tile.col_window) {
                                let neutral = self.splat(neutral);
                                *value = self.select(mask, *value, neutral);
                            }
                        }
                    }
                }
                Parts::Scalars(rows) if !tile.col_window.is_full() => {
                    for row in rows {
                        for (c, value) in row.iter_mut().enumerate() {
                            let exists = self.row_exists(c as i64, tile.col_window).expect("the window is partial");
                            let neutral = self.constant(neutral, tile.elem);
                            *value = self.select(exists, *value, neutral);
                        }
                    }
                }
                Parts::Scalars(_) => {}
            }
        }
        tile
    }

    /// A constant in the form of `value`: scalar or vector.
    pub(super) fn like(&mut self, value: Value, constant: sutura_ir::Attr) -> Value {
        let ty = self.ty(value);
        if self.cx().shape(ty).is_some() { self.splat(constant) } else { self.constant(constant, ty) }
    }

    /// `acc + lhs . rhs`: row by row, k by k, each a broadcast element times vectors, fused. Narrow elements are widened first.
    pub(super) fn contract_tiles(
        &mut self,
        (lhs, rhs, acc): (&RegTile, &RegTile, &RegTile),
        unsigned: [bool; 2],
    ) -> Result<RegTile, String> {
        let [lhs, rhs] = [(lhs, unsigned[0]), (rhs, unsigned[1])].map(|(tile, unsigned)| {
            let kind = match (tile.elem.is_float(self.cx()), unsigned) {
                (true, _) => CastKind::ExtF,
                (false, true) => CastKind::ExtUI,
                (false, false) => CastKind::ExtSI,
            };
            let wide = tile.elem == acc.elem;
            if wide { tile.clone() } else { self.map_tiles(&[tile], acc.elem, |e, v| e.cast(kind, v[0], acc.elem)) }
        });
        let Parts::Scalars(left) = &lhs.parts else {
            return Err("the left operand of a contraction is held in vectors".to_string());
        };
        let (Parts::Scalars(right) | Parts::Vectors(right)) = &rhs.parts;
        let (Parts::Scalars(sums) | Parts::Vectors(sums)) = &acc.parts;
        let mut sums = sums.clone();
        let vectors = !acc.is_scalars();
        let places = (0..lhs.cols as usize).flat_map(|k| (0..sums.len()).map(move |row| (k, row)));
        let mut places: Vec<(usize, usize)> = places.collect();
        if self.spread.is_some() {
            // A row after the other: so few elements of the left factor are in registers at a time.
            places.sort_by_key(|(k, row)| (*row, *k));
        }
        let exists: Vec<Option<Value>> = (0..lhs.cols).map(|k| self.row_exists(k, lhs.col_window)).collect();
        for (k, row) in places {
            let mut a = left[row][k];
            if vectors {
                a = self.broadcast(a);
            }
            for (sum, b) in sums[row].iter_mut().zip(&right[k]) {
                let next = self.multiply_add(a, *b, *sum);
                *sum = exists[k].map_or(next, |exists| self.select(exists, next, *sum));
            }
        }
        let parts = if vectors { Parts::Vectors(sums) } else { Parts::Scalars(sums) };
        // The accumulator's rows and columns are those of the operands.
        Ok(RegTile { parts, row_window: lhs.row_window, col_window: rhs.col_window, ..acc.clone() })
    }
}

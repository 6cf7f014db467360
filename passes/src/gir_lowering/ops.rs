//! Single operations: index arithmetic, memory, and tile operations on registers or strips.

use std::collections::HashSet;

use sutura_dialects::gir::constraints::{Axis, Scope};
use sutura_dialects::gir::kernel::Mode;
use sutura_dialects::gir::kinds::{BinaryKind, Combiner, UnaryKind};
use sutura_dialects::gir::ops::*;
use sutura_dialects::gir::types::TileType;
use sutura_dialects::graph::maps;
use sutura_ir::affine::AffineExpr;
use sutura_ir::{OpRef, OpView, Type, Value};

use super::cpu::in_place::OutputRow;
use super::cpu::sweep::run_loop;
use super::division::divisors;
use super::emit::Emit;
use super::kernel::{Held, Lowered, Lowering, MANY_TERMS};
use super::memory::{AxisVal, Origin, SliceVal, Window};
use super::price;
use super::scan::Scan;
use super::strip::{Memo, Node, NodeId, Sink, Strip};
use super::tile::RegTile;
use super::units::Contraction;

/// Constant extents of a tile that is held in registers.
fn extents(ty: &TileType) -> Result<(i64, i64), String> {
    ty.extents().ok_or_else(|| "a tile in registers needs constant extents".to_string())
}

/// True for the difference between a tile and the largest element of each of its rows, or of its columns, as in a softmax.
fn below_its_largest(op: OpRef<'_>, value: Value) -> bool {
    let tile = |value: Value| {
        let home = op.body.defining_op(value).and_then(|made| op.at(made).as_::<HomeOp>());
        home.map_or(value, |home| home.tile())
    };
    let made = |value: Value| op.body.defining_op(tile(value)).map(|made| op.at(made));
    let Some(difference) = made(value).and_then(|op| op.as_::<BinaryOp>()) else { return false };
    let mut largest = difference.rhs();
    while let Some(op) = made(largest).filter(|op| op.is::<BroadcastOp>() || op.is::<MoveOp>()) {
        largest = op.operands().next().expect("both have one");
    }
    let reduced = made(largest).and_then(|op| op.as_::<ReduceOp>());
    let of_all =
        reduced.is_some_and(|it| it.combiner() == Combiner::Max && tile(it.operand()) == tile(difference.lhs()));
    difference.kind() == BinaryKind::Sub && of_all
}

/// From so many rows on, one number of each is worth a vector.
const MANY_ROWS: i64 = 4;

impl<'a> Lowering<'a, '_> {
    /// What is lowered for, in words.
    pub(super) fn processor(&self) -> &'static str {
        if self.gpu.is_some() { "GPU" } else { "CPU" }
    }

    pub(super) fn tile_type(&self, op: OpRef<'a>, value: Value) -> &'a TileType {
        op.cx.type_as::<TileType>(op.ty(value)).expect("the declaration says a tile")
    }

    /// Lowers one operation.
    pub(super) fn op(&mut self, op: OpRef<'a>) -> Lowered<'a, ()> {
        if op.results().len() == 1 && matches!(self.held.get(&op.result(0)), Some(Held::Index(_) | Held::Slice(_))) {
            return Ok(());
        }
        let mut tiles = op.results().filter_map(|value| op.cx.type_as::<TileType>(op.ty(value)));
        if let Some(message) = tiles.find_map(|ty| self.machine.too_large(ty)) {
            return self.fail(op, message);
        }
        if let Some(this) = op.as_::<IndexOp>() {
            self.index_op(&this)
        } else if op.name_str() == "arith.constant" {
            self.constant_op(op)
        } else if let Some(this) = op.as_::<SliceOp>() {
            let slice = self.slice(&this)?;
            self.hold(op, Held::Slice(slice))
        } else if let Some(this) = op.as_::<IdentityOp>() {
            self.identity_op(&this)
        } else if let Some(this) = op.as_::<AllocOp>() {
            self.alloc_op(&this)
        } else if let Some(this) = op.as_::<ForOp>() {
            self.for_loop(&this)
        } else if let Some(this) = op.as_::<LoadOp>() {
            self.load_op(&this)
        } else if let Some(this) = op.as_::<StoreOp>() {
            self.store_op(&this)
        } else if let Some(this) = op.as_::<PickOp>() {
            let index = self.pick(&this)?;
            self.hold(op, Held::Index(index))
        } else if let Some(this) = op.as_::<AsyncCopyOp>() {
            self.async_copy_op(&this)
        } else if op.is::<AsyncCommitOp>() {
            self.async_commit_op()
        } else if let Some(this) = op.as_::<AsyncWaitOp>() {
            self.async_wait_op(&this)
        } else if op.is::<SyncOp>() {
            self.sync_op(op)
        } else {
            self.value_op(op)
        }
    }

    fn hold(&mut self, op: OpRef<'a>, held: Held) -> Lowered<'a, ()> {
        self.held.insert(op.result(0), held);
        Ok(())
    }

    /// Where a group has one unit, there is no one to wait for.
    fn sync_op(&mut self, op: OpRef<'a>) -> Lowered<'a, ()> {
        if self.kernel.units == 1 {
            return Ok(());
        }
        self.flush(op)?;
        self.wait();
        Ok(())
    }

    fn index_op(&mut self, this: &IndexOp<'a>) -> Lowered<'a, ()> {
        let op = this.op_ref();
        let map = op.cx.affine_map_data(this.map());
        let values: Vec<Value> = this.args().map(|v| self.index(v)).collect();
        let (dims, symbols) = values.split_at(map.dims as usize);
        let mut least = None;
        for result in op.cx.affine_exprs(map.results) {
            let value = self.index_value(*result, dims, symbols);
            let value = self.at(op, value)?;
            least = Some(least.map_or(value, |least| self.e.mini(least, value)));
        }
        self.hold(op, Held::Index(least.expect("verified: a map has a result")))
    }

    /// An index, in which a sum of many sizes is one number, see `one_number`.
    fn index_value(&mut self, expr: AffineExpr, dims: &[Value], symbols: &[Value]) -> Result<Value, String> {
        let linear = maps::linear(self.e.cx(), expr, dims.len()).filter(|linear| linear.symbols.len() > MANY_TERMS);
        let Some(linear) = linear else { return self.e.affine(expr, dims, symbols) };
        let mut sizes = self.e.i64(linear.constant);
        for (symbol, factor) in linear.symbols {
            let factor = self.e.i64(factor);
            let term = self.e.muli(symbols[symbol], factor);
            sizes = self.e.addi(sizes, term);
        }
        let mut sum = self.one_number(sizes);
        for (dim, factor) in dims.iter().zip(linear.factors).filter(|(_, factor)| *factor != 0) {
            let factor = self.e.i64(factor);
            let term = self.e.muli(*dim, factor);
            sum = self.e.addi(sum, term);
        }
        Ok(sum)
    }

    fn constant_op(&mut self, op: OpRef<'a>) -> Lowered<'a, ()> {
        match sutura_ir::registry::constant_value(op).and_then(|a| op.cx.as_int(a)) {
            Some(value) if op.ty(op.result(0)) == Type::INDEX => {
                let value = self.e.i64(value);
                self.hold(op, Held::Index(value))
            }
            _ => self.fail(op, "only constants of type index can stand in a kernel"),
        }
    }

    fn identity_op(&mut self, this: &IdentityOp<'a>) -> Lowered<'a, ()> {
        let op = this.op_ref();
        let Some(Held::View(view)) = self.held.get(&this.view()).cloned() else {
            return self.fail(op, "the view is not memory that this kernel knows");
        };
        let ty = op.cx.type_as(op.ty(this.result())).expect("the declaration says a view");
        let view = self.view(view.ptr, ty);
        let view = self.at(op, view)?;
        self.hold(op, Held::View(view))
    }

    fn alloc_op(&mut self, this: &AllocOp<'a>) -> Lowered<'a, ()> {
        let op = this.op_ref();
        let ty: &sutura_dialects::gir::types::ViewType =
            op.cx.type_as(op.ty(this.view())).expect("the declaration says a view");
        // Both copies of a body use the same memory.
        let known = self.allocs.get(&op.result(0)).copied();
        let Some(ptr) = known.or_else(|| Some(self.scratch(&ty.elements(), ty.elem, this.owner())?.ptr)) else {
            let (size, gpu) = (ty.elements(), self.gpu.is_some());
            let place = if gpu { "a block's memory" } else { "a thread's scratch" };
            return self.fail(op, format!("an allocation of {size} elements is not known to fit into {place}"));
        };
        self.allocs.insert(op.result(0), ptr);
        let view = self.view(ptr, ty);
        let view = self.at(op, view)?;
        self.hold(op, Held::View(view))
    }

    pub(super) fn held_slice(&self, op: OpRef<'a>, value: Value) -> Lowered<'a, SliceVal> {
        match self.held.get(&value) {
            Some(Held::Slice(slice)) => Ok(slice.clone()),
            _ => self.fail(op, "the slice is not one of memory that this kernel knows"),
        }
    }

    fn load_op(&mut self, this: &LoadOp<'a>) -> Lowered<'a, ()> {
        let op = this.op_ref();
        let slice = self.held_slice(op, this.slice())?;
        let ty = self.tile_type(op, this.tile());
        // What was stored before must be there before memory that can be written is read again.
        if self.kernel.mode_of(this.slice()) != Some(Mode::In) {
            if self.pending.iter().any(|s| matches!(s, Sink::Store { .. })) {
                self.flush(op)?;
            }
            self.before_reading_writable();
        }
        if self.machine.only_multiplies(ty) {
            let tile = self.load_matrix(this, &slice)?;
            return self.hold(op, Held::Tile(tile));
        }
        if self.machine.in_registers(ty) {
            let (rows, cols) = self.at(op, extents(ty))?;
            if let Some(later) = self.rows_later(this, &slice, cols)? {
                return self.hold(op, Held::LeftRows(later));
            }
            if let Some(factor) = self.factor_of_dots(this)? {
                let tile = self.load_words(op, (&slice, factor), (rows, cols))?;
                return self.hold(op, Held::Tile(tile));
            }
            let scalars = cols == 1 || self.only_left_operand(op);
            let lanes = if scalars { self.lanes_of_all(op, this.slice()) } else { self.e.lanes_of_columns(cols) };
            let pad = this.pad();
            let at_once = if scalars { 1 } else { self.rows_at_once(op, this.slice(), &slice) };
            let tile = self.e.with_lanes(lanes, |e| {
                if at_once > 1 {
                    return Ok(e.load_along_rows(&slice, (rows, cols), at_once));
                }
                let tile = e.load_tile(&slice, rows, cols, scalars)?;
                Ok(pad.map_or(tile.clone(), |pad| e.pad_tile(&tile, slice.exists, pad)))
            });
            let tile = self.at(op, tile)?;
            return self.hold(op, Held::Tile(tile));
        }
        let (mut window, row_window) = (slice.col.window, slice.row.window);
        let cols = self.size(&ty.cols);
        let cols = self.at(op, cols)?;
        let Some(rows) = ty.rows.as_const() else { return self.fail(op, "a tile needs a constant number of rows") };
        if this.pad().is_some() && rows != 1 {
            return self.fail(op, "has a number for what lies outside the view, and more than one row in a cache");
        }
        // Rows that do not exist are read from the nearest that does, so there must be one.
        let row_exists = match this.pad() {
            Some(_) => self.e.first_row_exists(row_window),
            None => self.e.some_exist(row_window, rows),
        };
        for exists in slice.exists.into_iter().chain(row_exists) {
            let (hi, zero) = (window.hi.unwrap_or(cols), self.e.i64(0));
            window.hi = Some(self.e.select(exists, hi, zero));
        }
        let cost = price::of_load(slice.col.is_contiguous());
        let origin = slice.origin.map(|origin| Origin { writes: self.hazards.writes(), ..origin });
        let slice = SliceVal { exists: None, origin, ..slice };
        let (node, window, row_window) = match this.pad() {
            Some(pad) => (Node::Padded(slice, window, pad), Window::FULL, Window::FULL),
            None => (Node::Load(slice), window, row_window),
        };
        let id = self.strips.add(Strip { node, elem: ty.elem, rows, cols, window, row_window, cost, stored: None });
        self.reads_ahead(this.slice(), id);
        self.hold(op, Held::Strip(id))
    }

    /// True when a tile only feeds contractions from the left: then its elements are wanted one by one.
    fn only_left_operand(&self, op: OpRef<'a>) -> bool {
        let contracts = |user: OpRef<'a>| matches!(self.contraction(user), Ok(Some(_)));
        let mut uses = op.body.uses(op.result(0)).peekable();
        uses.peek().is_some() && uses.all(|u| u.index == 0 && contracts(op.at(u.owner)))
    }

    fn store_op(&mut self, this: &StoreOp<'a>) -> Lowered<'a, ()> {
        let op = this.op_ref();
        let mut slice = self.held_slice(op, this.slice())?;
        self.before_storing(this.slice());
        if self.machine.in_registers(self.tile_type(op, this.tile())) {
            let tile = self.tile(op, this.tile())?;
            let again = self.changes(this.slice()) && self.is_written_later(&slice);
            if again || self.waits_for(&slice) {
                self.flush(op)?;
            }
            self.writes_to(op, &slice)?;
            // Of an output all of the slice is written; other memory keeps what the tile has not.
            if self.changes(this.slice()) {
                slice.row.window = self.meet(tile.row_window, slice.row.window);
                slice.col.window = self.meet(tile.col_window, slice.col.window);
            }
            let lanes = self.e.lanes_of_columns(tile.cols);
            if let Some(alive) = self.alive() {
                slice.exists = Some(self.e.both(slice.exists, alive));
            }
            if self.machine.only_multiplies(self.tile_type(op, this.tile())) {
                return self.store_matrix(this, &tile, &slice);
            }
            let stored = self.e.with_lanes(lanes, |e| e.store_tile(&tile, &slice));
            return self.at(op, stored);
        }
        let node = self.strip(op, this.tile())?;
        // A store writes what exists of both: its own window joins the tile's.
        let strip = &self.strips.nodes[node];
        let (window, rows) = (strip.window, strip.row_window);
        let copy = Strip {
            window: self.meet(window, slice.col.window),
            row_window: self.meet(rows, slice.row.window),
            ..self.strips.nodes[node].clone()
        };
        let copy = match slice.exists {
            Some(exists) => {
                let (hi, zero) = (copy.window.hi.unwrap_or(copy.cols), self.e.i64(0));
                let hi = self.e.select(exists, hi, zero);
                Strip { window: Window { hi: Some(hi), ..copy.window }, ..copy }
            }
            None => copy,
        };
        if self.changes(this.slice()) && self.is_overtaken(&slice, (copy.window, copy.row_window)) {
            self.flush(op)?;
        }
        let same = copy.window == window && copy.row_window == rows;
        let node = if same { node } else { self.strips.add(copy) };
        let stream = self.streams_where(this);
        // No part of the window, or what is known of the tile at its own columns would not be found.
        self.pending.push(Sink::Store { node, slice: SliceVal { exists: self.alive(), ..slice }, stream });
        Ok(())
    }

    /// What lies in both windows.
    pub(super) fn meet(&mut self, a: Window, b: Window) -> Window {
        let join = |e: &mut Emit<'_>, x: Option<Value>, y: Option<Value>, low: bool| match (x, y) {
            (Some(x), Some(y)) if x != y => Some(if low { e.maxi(x, y) } else { e.mini(x, y) }),
            (x, y) => x.or(y),
        };
        Window { lo: join(&mut self.e, a.lo, b.lo, true), hi: join(&mut self.e, a.hi, b.hi, false) }
    }

    // ---- tile operations

    fn value_op(&mut self, op: OpRef<'a>) -> Lowered<'a, ()> {
        let Some(ty) = op.cx.type_as::<TileType>(op.ty(op.result(0))) else {
            return self.fail(op, format!("has no lowering to a {}", self.processor()));
        };
        let mut tiles = op.operands().chain(op.results()).filter_map(|value| op.cx.type_as::<TileType>(op.ty(value)));
        if tiles.any(|ty| self.machine.only_multiplies(ty)) {
            let tile = self.matrix_op(op)?;
            return self.hold(op, Held::Tile(tile));
        }
        if let Some(this) = op.as_::<ReduceOp>() {
            return self.reduce_op(&this);
        }
        if self.machine.in_registers(ty) {
            let tile = self.register_op(op, ty)?;
            self.hold(op, Held::Tile(tile))
        } else {
            let id = self.strip_op(op, ty)?;
            self.hold(op, Held::Strip(id))
        }
    }

    /// An operation on tiles in registers that only multiply.
    fn matrix_op(&mut self, op: OpRef<'a>) -> Lowered<'a, RegTile> {
        if let Some(this) = op.as_::<FillOp>() {
            return self.zero_matrix(op, this.constant());
        }
        let Some(Contraction::Matrix(name)) = self.contraction(op)? else {
            return self
                .fail(op, "computes with registers that only an intrinsic for products of matrices computes with");
        };
        let mut tiles = Vec::new();
        for operand in op.operands() {
            tiles.push(self.tile(op, operand)?);
        }
        let [a, b, acc] = &tiles[..] else { return self.fail(op, "takes two factors and sums") };
        self.multiply_matrices(op, name, (a, b, acc))
    }

    fn reduce_op(&mut self, this: &ReduceOp<'a>) -> Lowered<'a, ()> {
        let op = this.op_ref();
        if this.scope() == Scope::Group && self.kernel.units > 1 {
            return self.fail(op, format!("has no lowering to a {} across the units of a group", self.processor()));
        }
        let operand = self.tile_type(op, this.operand());
        if self.machine.in_registers(operand) {
            let tile = self.tile(op, this.operand())?;
            let lanes = self.e.lanes_of_columns(tile.cols);
            let tile = self.e.with_lanes(lanes, |e| e.reduce_tile(this.combiner(), this.axis(), &tile));
            return self.hold(op, Held::Tile(tile));
        }
        let node = self.strip(op, this.operand())?;
        if this.axis() == Axis::Cols {
            self.pending.push(Sink::Reduce { kind: this.combiner(), node, result: this.result() });
            return Ok(());
        }
        let strip = self.strips.nodes[node].clone();
        let cost = self.strips.cost_of(strip.rows as u32, &[node]);
        let id = self.strips.add(Strip {
            node: Node::ReduceRows(this.combiner(), node),
            rows: 1,
            row_window: Window::FULL,
            cost,
            stored: None,
            ..strip
        });
        self.hold(op, Held::Strip(id))
    }

    /// A tile held in registers; loops that it waits for run now.
    pub(super) fn tile(&mut self, op: OpRef<'a>, value: Value) -> Lowered<'a, RegTile> {
        if !self.held.contains_key(&value) {
            self.flush(op)?;
        }
        match self.held.get(&value).cloned() {
            Some(Held::Tile(tile)) => Ok(tile),
            Some(Held::Strip(id)) => self.strip_in_registers(op, value, id),
            _ => self.fail(op, "an operand is not a tile that this kernel has computed"),
        }
    }

    /// The elements of a strip of constant extents, all at once.
    fn strip_in_registers(&mut self, op: OpRef<'a>, value: Value, id: NodeId) -> Lowered<'a, RegTile> {
        let ty = self.tile_type(op, value);
        let (_, cols) = self.at(op, extents(ty))?;
        let lanes = self.e.lanes_of_columns(cols);
        let before = std::mem::replace(&mut self.e.lanes, lanes);
        let tile = self.strip_as_vectors(op, ty, id);
        self.e.lanes = before;
        tile
    }

    fn strip_as_vectors(&mut self, op: OpRef<'a>, ty: &TileType, id: NodeId) -> Lowered<'a, RegTile> {
        let (rows, cols) = self.at(op, extents(ty))?;
        let strip = self.strips.nodes[id].clone();
        let backward = self.at(op, self.strips.backward(id))?.unwrap_or(false);
        let checked = self.strips.check_columns(id);
        self.at(op, checked)?;
        let scans = self.strips.scans([id].into_iter());
        let mut carries = Vec::new();
        for (scan, _) in &scans {
            let kind = self.strips.scan(*scan).expect("found to be one above");
            carries.push(self.e.carry_of(kind, self.strips.nodes[*scan].elem));
        }
        let chunks = self.e.chunks(cols);
        let mut parts = vec![vec![]; rows as usize];
        for chunk in 0..chunks {
            let chunk = if backward { chunks - 1 - chunk } else { chunk };
            let at = self.e.own_column(chunk);
            let mut window = strip.window;
            if (chunk + 1) * self.e.columns() > cols && window.hi.is_none() {
                window.hi = Some(self.e.i64(cols));
            }
            let mask = self.e.column_mask(at, window);
            let mut memo = Memo::behind(&scans, &carries);
            for (row, line) in parts.iter_mut().enumerate() {
                line.push(self.strips.eval(&mut self.e, &mut memo, (id, row as i64, at), mask));
            }
            carries = memo.carries(&scans);
        }
        if backward {
            parts.iter_mut().for_each(|line| line.reverse());
        }
        let parts = super::tile::Parts::Vectors(parts);
        Ok(RegTile { elem: ty.elem, rows, cols, parts, row_window: strip.row_window, col_window: strip.window })
    }

    fn register_op(&mut self, op: OpRef<'a>, ty: &TileType) -> Lowered<'a, RegTile> {
        let (rows, cols) = self.at(op, extents(ty))?;
        if let Some(tile) = self.contract_existing(op)? {
            return Ok(tile);
        }
        let mut tiles = Vec::new();
        for operand in op.operands().filter(|v| op.cx.type_as::<TileType>(op.ty(*v)).is_some()) {
            tiles.push(self.tile(op, operand)?);
        }
        let lanes = self.e.lanes_of_columns(cols);
        let before = std::mem::replace(&mut self.e.lanes, lanes);
        let tile = self.computed(op, (ty.elem, rows, cols), tiles);
        self.e.lanes = before;
        tile
    }

    /// Whether one number per row is computed as a vector of rows: what is dear is written once then, and not for every row.
    fn turns_column(&self, op: OpRef<'a>, (elem, rows, cols): (Type, i64, i64), tiles: &[RegTile]) -> bool {
        let dear = (op.is::<UnaryOp>() || op.is::<BinaryOp>()) && price::of_element(op) >= price::TURN;
        let column = cols == 1 && rows >= MANY_ROWS && tiles.iter().all(RegTile::is_scalars);
        self.gpu.is_none() && dear && column && elem.is_float(self.e.cx())
    }

    /// What an operation computes of tiles in registers, in vectors as wide as those of its result.
    fn computed(
        &mut self,
        op: OpRef<'a>,
        (elem, rows, cols): (Type, i64, i64),
        mut tiles: Vec<RegTile>,
    ) -> Lowered<'a, RegTile> {
        if self.turns_column(op, (elem, rows, cols), &tiles) {
            let turned = tiles.iter().map(|tile| self.e.transpose_tile(tile)).collect();
            let row = self.computed(op, (elem, cols, rows), turned)?;
            return Ok(self.e.transpose_tile(&row));
        }
        let refs: Vec<&RegTile> = tiles.iter().collect();
        if let Some(this) = op.as_::<FillOp>() {
            return Ok(self.e.fill_tile(this.constant(), elem, rows, cols));
        }
        if let Some(this) = op.as_::<UnaryOp>() {
            return Ok(self.e.map_tiles(&refs, elem, |e, v| e.unary(this.kind(), v[0])));
        }
        if let Some(this) = op.as_::<BinaryOp>() {
            return Ok(self.e.map_tiles(&refs, elem, |e, v| e.binary(this.kind(), v[0], v[1])));
        }
        if let Some(this) = op.as_::<DivisorOp>() {
            let check = self.zero_check(&this);
            return Ok(self.e.checked_tile(&tiles[0], &check));
        }
        if let Some(this) = op.as_::<TernaryOp>() {
            return Ok(self.e.map_tiles(&refs, elem, |e, v| e.ternary(this.kind(), v[0], v[1], v[2])));
        }
        if let Some(this) = op.as_::<CompareOp>() {
            return Ok(self.e.map_tiles(&refs, elem, |e, v| e.compare(this.kind(), v[0], v[1])));
        }
        if let Some(this) = op.as_::<CastOp>() {
            return Ok(self.e.map_tiles(&refs, elem, |e, v| e.cast(this.kind(), v[0], elem)));
        }
        if let Some(this) = op.as_::<IotaOp>() {
            let base = self.index(this.base());
            return Ok(self.e.iota_tile(this.axis(), base, elem, (rows, cols)));
        }
        if let Some(this) = op.as_::<ScanOp>() {
            if elem == Type::I1 {
                return self.fail(op, format!("truth values have no scan on a {}", self.processor()));
            }
            return Ok(self.e.scan_tile(Scan::of(&this), this.axis(), &tiles[0]));
        }
        if op.is::<BroadcastOp>() {
            return Ok(self.e.broadcast_tile(&tiles[0], &tiles[1]));
        }
        if op.is::<MoveOp>() || op.is::<HomeOp>() {
            return Ok(tiles.remove(0));
        }
        if let Some(this) = op.as_::<TransposeOp>() {
            if self.gpu.is_some() {
                return self.transpose_over_threads(&this, &tiles[0]);
            }
            return Ok(self.e.transpose_tile(&tiles[0]));
        }
        if let Some(contraction) = self.contraction(op)? {
            let (a, b, acc) = (&tiles[0], &tiles[1], &tiles[2]);
            let unsigned = op.as_::<ContractOp>().map(|this| [this.unsigned_lhs(), this.unsigned_rhs()]);
            let result = match contraction {
                Contraction::Fused => self.e.contract_tiles((a, b, acc), unsigned.unwrap_or_default()),
                Contraction::Dot(dot) => self.e.dot_tiles(dot, (a, b, acc)),
                Contraction::Matrix(name) => {
                    Err(format!("'{name}' multiplies tiles in registers that only multiply, and these are vectors"))
                }
            };
            return self.at(op, result);
        }
        self.fail(op, format!("has no lowering to a {} on a tile in registers", self.processor()))
    }

    /// A tile as a node of the graph; a register tile becomes one that repeats its values.
    fn strip(&mut self, op: OpRef<'a>, value: Value) -> Lowered<'a, NodeId> {
        if let Some(Held::Strip(id)) = self.held.get(&value) {
            return Ok(*id);
        }
        let tile = self.tile(op, value)?;
        if tile.cols != 1 {
            return self.fail(op, "a tile in registers is used as one in a cache");
        }
        let ty = self.tile_type(op, value);
        let cols = self.size(&ty.cols);
        let cols = self.at(op, cols)?;
        let (elem, rows, row_window) = (tile.elem, tile.rows, tile.row_window);
        let node = Node::OfRegisters(tile);
        Ok(self.strips.add(Strip { node, elem, rows, cols, window: Window::FULL, row_window, cost: 0, stored: None }))
    }

    /// A division by what a row repeats needs no division in each lane.
    fn strip_binary(&mut self, kind: BinaryKind, a: NodeId, b: NodeId) -> Node {
        let strip = &self.strips.nodes[b];
        if let (BinaryKind::Div, Node::OfRegisters(tile), true) = (kind, &strip.node, self.machine.fused)
            && let Some(divisors) = divisors(&mut self.e, strip, tile)
        {
            return Node::Divide(a, divisors);
        }
        Node::Binary(kind, a, b)
    }

    fn strip_op(&mut self, op: OpRef<'a>, ty: &TileType) -> Lowered<'a, NodeId> {
        let Some(rows) = ty.rows.as_const() else { return self.fail(op, "a tile needs a constant number of rows") };
        let cols = self.size(&ty.cols);
        let cols = self.at(op, cols)?;
        let tiles: Vec<Value> = op.operands().filter(|v| op.cx.type_as::<TileType>(op.ty(*v)).is_some()).collect();
        if let Some(this) = op.as_::<BroadcastOp>() {
            return self.strip_broadcast(&this, rows, cols);
        }
        let mut ids = Vec::new();
        for value in tiles {
            ids.push(self.strip(op, value)?);
        }
        let node = if let Some(this) = op.as_::<FillOp>() {
            Node::Fill(this.constant())
        } else if let Some(this) = op.as_::<IotaOp>() {
            Node::Iota { axis: this.axis(), base: self.index(this.base()) }
        } else if let Some(this) = op.as_::<UnaryOp>() {
            match this.kind() {
                UnaryKind::Exp if below_its_largest(op, this.operand()) => Node::ExpNonpositive(ids[0]),
                kind => Node::Unary(kind, ids[0]),
            }
        } else if let Some(this) = op.as_::<BinaryOp>() {
            self.strip_binary(this.kind(), ids[0], ids[1])
        } else if let Some(this) = op.as_::<TernaryOp>() {
            Node::Ternary(this.kind(), ids[0], ids[1], ids[2])
        } else if let Some(this) = op.as_::<DivisorOp>() {
            Node::Divisor(ids[0], self.zero_check(&this))
        } else if let Some(this) = op.as_::<CompareOp>() {
            Node::Compare(this.kind(), ids[0], ids[1])
        } else if let Some(this) = op.as_::<CastOp>() {
            Node::Cast(this.kind(), ids[0])
        } else if let Some(this) = op.as_::<ScanOp>().filter(|this| this.axis() == Axis::Cols && ty.elem != Type::I1) {
            Node::Scan(Scan::of(&this), ids[0])
        } else if op.is::<MoveOp>() {
            return Ok(ids[0]);
        } else if let Some(this) = op.as_::<HomeOp>() {
            self.lives_in(&this, ids[0]);
            return Ok(ids[0]);
        } else {
            return self.fail(op, format!("has no lowering to a {} on a tile in a cache", self.processor()));
        };
        let own = if matches!(node, Node::Divide(..)) { price::DIVIDE } else { price::of_element(op) };
        let cost = self.strips.cost_of(own, &ids);
        let (mut window, mut row_window) = (Window::FULL, Window::FULL);
        for id in &ids {
            let strip = &self.strips.nodes[*id];
            let (w, r) = (strip.window, strip.row_window);
            window = self.meet(window, w);
            row_window = self.meet(row_window, r);
        }
        Ok(self.strips.add(Strip { node, elem: ty.elem, rows, cols, window, row_window, cost, stored: None }))
    }

    fn strip_broadcast(&mut self, this: &BroadcastOp<'a>, rows: i64, cols: Value) -> Lowered<'a, NodeId> {
        let op = this.op_ref();
        let like = self.strip(op, this.like())?;
        let (window, row_window) = (self.strips.nodes[like].window, self.strips.nodes[like].row_window);
        let (node, elem, cost) = if matches!(self.held.get(&this.operand()), Some(Held::Strip(_))) {
            let id = self.strip(op, this.operand())?;
            let strip = &self.strips.nodes[id];
            if strip.rows == rows {
                return Ok(id);
            }
            (Node::RepeatRow(id), strip.elem, strip.cost)
        } else {
            let tile = self.tile(op, this.operand())?;
            let elem = tile.elem;
            (Node::OfRegisters(tile), elem, 0)
        };
        Ok(self.strips.add(Strip { node, elem, rows, cols, window, row_window, cost, stored: None }))
    }

    // ---- loops over strips

    /// Runs everything that waits, one loop per window, in the order in which it came.
    pub(super) fn flush(&mut self, op: OpRef<'a>) -> Lowered<'a, ()> {
        while !self.pending.is_empty() {
            let first = &self.strips.nodes[self.pending[0].node()];
            let (window, cols) = (first.window, first.cols);
            let fits = |sink: &Sink| {
                let strip = &self.strips.nodes[sink.node()];
                strip.window == window && (strip.cols == cols || window.hi.is_some())
            };
            let mut way = None;
            for sink in self.pending.iter().filter(|sink| fits(sink)) {
                way = way.or(self.at(op, self.strips.backward(sink.node()))?);
            }
            // A loop runs one way.
            let goes = |sink: &Sink| self.strips.backward(sink.node()).is_ok_and(|own| own.is_none() || own == way);
            let (now, later) = std::mem::take(&mut self.pending)
                .into_iter()
                .partition::<Vec<Sink>, _>(|sink| fits(sink) && goes(sink));
            self.pending = later;
            self.run(op, now)?;
        }
        Ok(())
    }

    fn run(&mut self, op: OpRef<'a>, mut sinks: Vec<Sink>) -> Lowered<'a, ()> {
        self.check_order(op, &sinks)?;
        if self.gpu.is_some() {
            return self.run_on_threads(op, sinks);
        }
        let keep = self.worth_keeping(&sinks);
        for id in &keep {
            let value = self.named(*id);
            let row = self.row_of_output(*id, &sinks);
            if let Some(slice) = self.keep_slice(*id, value, row) {
                sinks.push(Sink::Keep { node: *id, slice });
            }
        }
        if self.put_off(op, &sinks)? {
            return Ok(());
        }
        let mut extras = self.extras(&sinks)?;
        extras.hosting = self.hosting(&sinks);
        let results = run_loop(&mut self.e, &self.strips, &sinks, &extras);
        for (value, tile) in self.at(op, results)? {
            self.held.insert(value, Held::Tile(tile));
        }
        if let Some(hosting) = extras.hosting {
            self.has_host(hosting, &sinks);
        }
        for sink in sinks {
            if let Sink::Keep { node, slice } = sink {
                self.strips.nodes[node].stored = Some(slice);
            }
        }
        Ok(())
    }

    /// Nodes of this loop that are dear, or have a home, and are used again afterwards.
    pub(super) fn worth_keeping(&self, sinks: &[Sink]) -> Vec<NodeId> {
        let computed: HashSet<NodeId> = sinks.iter().flat_map(|sink| self.strips.reachable(sink.node())).collect();
        let mut keep: Vec<NodeId> = Vec::new();
        for (value, held) in &self.held {
            let Held::Strip(id) = held else { continue };
            let strip = &self.strips.nodes[*id];
            let dear = strip.stored.is_none() && (strip.cost >= price::KEEP || self.homes.contains_key(id));
            let again = || self.kernel.op.inside().uses(*value).any(|u| !self.done.contains(&u.owner));
            if dear && computed.contains(id) && self.strips.is_local(*id) && again() && !keep.contains(id) {
                keep.push(*id);
            }
        }
        // The map has no order; the emitted code must.
        keep.sort_unstable();
        keep
    }

    /// The first value of the kernel that a strip is.
    pub(super) fn named(&self, id: NodeId) -> Value {
        let values = self.held.iter().filter(|(_, h)| matches!(h, Held::Strip(i) if *i == id)).map(|(v, _)| *v);
        values.min_by_key(|value| value.index()).expect("only strips of the kernel are kept")
    }

    /// Where a strip is kept: in the row of the output where it can lie there, but in scratch where that is stored past the
    /// caches. `None` when it is not known to fit, so that the strip is computed anew instead.
    pub(super) fn keep_slice(&mut self, id: NodeId, value: Value, row: Option<OutputRow>) -> Option<SliceVal> {
        // What is stored to the row afterwards overwrites the tile.
        let writes = self.hazards.writes();
        let origin = row.as_ref().and_then(|row| row.slice.origin).map(|origin| Origin { writes, ..origin });
        if let Some(OutputRow { slice, stream: None }) = row {
            return Some(SliceVal { origin, ..slice });
        }
        let ty: &TileType = self.kernel.op.cx.type_as(self.kernel.op.inside().ty(value)).expect("a tile");
        let strip = self.strips.nodes[id].clone();
        let scratch = self.scratch_of(value, &ty.cols.scale(strip.rows), strip.elem)?;
        let stride = self.e.i64(scratch.elems / strip.rows.max(1));
        let one = self.e.i64(1);
        let base = match row {
            Some(OutputRow { slice, stream: Some(far) }) => self.e.select(far, scratch.ptr, slice.base),
            _ => scratch.ptr,
        };
        let row = AxisVal { stride: (strip.rows > 1).then_some(stride), step: None, window: Window::FULL };
        let col = AxisVal { stride: Some(one), step: Some(1), window: Window::FULL };
        Some(SliceVal { base, elem: strip.elem, row, col, origin, exists: None })
    }
}

//! The walk over a kernel: what each operation moves and computes in one trip, and in which loops it stands.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::gir::bounds::Bounds;
use sutura_dialects::gir::constraints::{Axis, Scope};
use sutura_dialects::gir::kernel::KernelInfo;
use sutura_dialects::gir::ops::*;
use sutura_dialects::gir::types::{SliceType, Space, TileType, ViewType};
use sutura_dialects::target::ops as target;
use sutura_ir::{BlockRef, Context, OpRef, OpView, Type, Value};

use super::price::{flops_of, slots_of};
use super::reach::{Access, Memory, Reach};
use super::sum::{Span, Trip};
use super::windows::{Place, Windows};

/// What is counted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum What {
    /// Bytes from one space to another.
    Moved { from: Space, to: Space },
    /// Float operations, as the interpreter counts them.
    Flops,
    /// Elements to which a function is applied that takes several instructions.
    Special,
    /// Elements times the vector instructions that one takes; columns are handled by whole vectors.
    Slots,
    /// The same for multiplications and additions of products, of which each is one.
    Products,
    /// Rows of which the elements of a vector are combined, behind the loop that combines vectors.
    Folds,
    /// Syncs of a group.
    Syncs,
    /// Trips of loops.
    Trips,
}

/// So much for each element of the spans' product, in each trip of the loops.
#[derive(Clone, Debug)]
pub(super) struct Term {
    pub(super) what: What,
    pub(super) scale: u64,
    pub(super) trips: Rc<[Trip]>,
    pub(super) spans: Vec<Span>,
}

/// What is known of a tile.
#[derive(Clone, Debug)]
pub(super) struct Tile {
    pub(super) rows: Span,
    pub(super) cols: Span,
    /// Where it has values: less than the window after a broadcast of what may not exist.
    pub(super) defined: (Span, Span),
    /// It follows from no memory.
    pub(super) everywhere: bool,
}

impl Tile {
    fn of(rows: Span, cols: Span) -> Self {
        Self { defined: (rows.clone(), cols.clone()), rows, cols, everywhere: false }
    }

    fn everywhere(ty: &TileType) -> Self {
        Self { everywhere: true, ..Self::of(Span::whole(ty.rows.clone()), Span::whole(ty.cols.clone())) }
    }

    /// The tile of operands that have one window.
    fn common(tiles: &[Self]) -> Self {
        let first = tiles.iter().find(|t| !t.everywhere).unwrap_or(&tiles[0]);
        let (rows, cols) = (first.rows.clone(), first.cols.clone());
        let start = (rows.clone(), cols.clone());
        let both = |d: (Span, Span), t: &Self| (d.0.and(&t.defined.0), d.1.and(&t.defined.1));
        let defined = tiles.iter().fold(start, both);
        Self { rows, cols, defined, everywhere: first.everywhere }
    }
}

/// What the walk finds.
#[derive(Default, Debug)]
pub(super) struct Found {
    pub(super) terms: Vec<Term>,
    pub(super) accesses: Vec<Access>,
}

/// Walks over a kernel; `machine` gives intrinsics their meaning.
///
/// # Errors
/// Says what of the kernel is not known.
pub(super) fn count<'a>(
    info: &KernelInfo<'a>,
    bounds: &mut Bounds<'a>,
    machine: Option<OpRef<'a>>,
) -> Result<Found, String> {
    walked(info, bounds, machine).map(|(found, _)| found)
}

/// The same, with the windows of tiles and slices.
///
/// # Errors
/// As [`count`].
pub(super) fn walked<'a>(
    info: &KernelInfo<'a>,
    bounds: &mut Bounds<'a>,
    machine: Option<OpRef<'a>>,
) -> Result<(Found, Windows), String> {
    let entry = info.op.region(0).and_then(|r| r.entry()).ok_or("the kernel has no body")?;
    let mut walk = Walk {
        cx: info.op.cx,
        bounds,
        machine,
        tiles: HashMap::new(),
        fixed: HashSet::new(),
        slices: HashMap::new(),
        roots: info.views.iter().enumerate().map(|(i, (v, ..))| (*v, Memory::View(i))).collect(),
        trips: Rc::from([]),
        reach: Reach::default(),
        found: Found::default(),
    };
    let around: Vec<Value> = info.grid.iter().map(|(v, _)| *v).chain(info.unit).collect();
    for index in around {
        walk.enter(index)?;
    }
    walk.block(entry)?;
    walk.found.accesses = walk.reach.finish();
    let windows = walk.windows()?;
    Ok((walk.found, windows))
}

struct Walk<'w, 'a> {
    cx: &'a Context,
    bounds: &'w mut Bounds<'a>,
    machine: Option<OpRef<'a>>,
    tiles: HashMap<Value, Tile>,
    /// Tiles that code generation knows: they are the same in every group and trip.
    fixed: HashSet<Value>,
    /// Slices with their windows.
    slices: HashMap<Value, (SliceOp<'a>, Span, Span)>,
    roots: HashMap<Value, Memory>,
    /// The loops around, outermost first.
    trips: Rc<[Trip]>,
    reach: Reach,
    found: Found,
}

impl<'a> Walk<'_, 'a> {
    fn index(&mut self, value: Value) -> Result<Poly, String> {
        self.bounds.expr(value).ok_or_else(|| "uses an index that is not made of sizes and loop indices".to_string())
    }

    /// Goes into the loop that counts `index`.
    fn enter(&mut self, index: Value) -> Result<(), String> {
        let poly = self.index(index)?;
        let name = poly.as_symbol().ok_or("has an index that is none")?;
        let variable = self.bounds.variable_named(name).ok_or("has an index that is none")?;
        let trip = Trip {
            name: name.into(),
            low: variable.low.clone(),
            high: variable.high.clone(),
            caps: variable.caps.clone(),
        };
        self.set_trips(self.trips.iter().cloned().chain([trip]).collect());
        Ok(())
    }

    fn set_trips(&mut self, trips: Rc<[Trip]>) {
        self.reach.within(&trips);
        self.trips = trips;
    }

    fn term(&mut self, what: What, scale: u64, spans: Vec<Span>) {
        if scale > 0 {
            self.found.terms.push(Term { what, scale, trips: self.trips.clone(), spans });
        }
    }

    fn bytes(&self, elem: Type) -> u64 {
        // As in memory: a truth value takes a byte.
        self.cx.bit_width(elem).map_or(8, |bits| u64::from(bits.div_ceil(8)))
    }

    fn tile_type(&self, op: OpRef<'a>, value: Value) -> Result<&'a TileType, String> {
        self.cx.type_as::<TileType>(op.ty(value)).ok_or_else(|| "takes a tile".to_string())
    }

    fn tile(&self, value: Value) -> Result<Tile, String> {
        self.tiles.get(&value).cloned().ok_or_else(|| "takes a tile of which nothing is known".to_string())
    }

    fn block(&mut self, block: BlockRef<'a>) -> Result<(), String> {
        self.reach.enter_block();
        for op in block.ops() {
            self.op(op).map_err(|message| format!("'{}' {message}", op.name_str()))?;
        }
        self.reach.leave_block();
        Ok(())
    }

    fn op(&mut self, op: OpRef<'a>) -> Result<(), String> {
        if let Some(this) = op.as_::<ForOp<'_>>() {
            return self.for_loop(op, this);
        }
        if let Some(this) = op.as_::<IntrinsicOp<'_>>() {
            return self.intrinsic(op, this);
        }
        if self.memory(op)? {
            return Ok(());
        }
        if op.is::<AsyncCommitOp<'_>>() || op.is::<AsyncWaitOp<'_>>() {
            return Ok(());
        }
        if op.is::<SyncOp<'_>>() {
            self.term(What::Syncs, 1, vec![]);
            return Ok(());
        }
        self.element_op(op)
    }

    fn for_loop(&mut self, op: OpRef<'a>, this: ForOp<'a>) -> Result<(), String> {
        let entry = this.body().entry().ok_or("has no body")?;
        let (index, args) = entry.args().split_first().ok_or("has no index")?;
        let inits: Vec<Option<Tile>> = this.inits().map(|v| self.tiles.get(&v).cloned()).collect();
        let yielded: Vec<Value> = entry.terminator().map(|t| t.operands().collect()).unwrap_or_default();
        let outside = self.trips.clone();
        self.enter(*index)?;
        let inner = self.trips.clone();
        self.term(What::Trips, 1, vec![]);
        // What is carried from nowhere gets its window from what it is combined with: known after one look.
        let marks = (self.found.terms.len(), self.reach.mark());
        let mut carried = inits.clone();
        for _ in 0..2 {
            self.found.terms.truncate(marks.0);
            self.reach.reset(&marks.1);
            self.set_trips(inner.clone());
            for (arg, tile) in args.iter().zip(&carried) {
                self.tiles.extend(tile.clone().map(|t| (*arg, t)));
            }
            self.block(entry)?;
            let next = |(init, value): (&Option<Tile>, &Value)| match (init, self.tiles.get(value)) {
                (Some(init), Some(next)) if init.everywhere => Some(next.clone()),
                (init, _) => init.clone(),
            };
            carried = inits.iter().zip(&yielded).map(next).collect();
        }
        if let Some(end) = entry.terminator() {
            yielded.iter().for_each(|value| self.reach.carried(end, *value));
        }
        self.set_trips(outside);
        for (result, tile) in op.results().zip(carried) {
            self.tiles.extend(tile.map(|t| (result, t)));
        }
        self.reach.computed(op, true);
        Ok(())
    }

    /// Walks over an intrinsic's meaning in its place.
    fn intrinsic(&mut self, op: OpRef<'a>, this: IntrinsicOp<'a>) -> Result<(), String> {
        let name = this.callee();
        let entry = self.machine.and_then(|m| m.region(0)).and_then(|r| r.entry());
        let mut known = entry.into_iter().flat_map(|e| e.ops()).filter(|o| o.is::<target::IntrinsicOp<'_>>());
        let meaning = known.find(|o| o.symbol_name() == Some(name));
        let meaning = meaning.ok_or_else(|| format!("is @{name}, which no machine of the module describes"))?;
        let entry = meaning.region(0).and_then(|r| r.entry()).ok_or("has no meaning")?;
        // The body is another one: its values are numbered apart.
        let outside = std::mem::take(&mut self.tiles);
        let fixed = std::mem::take(&mut self.fixed);
        for (arg, operand) in entry.args().iter().zip(op.operands()) {
            self.tiles.extend(outside.get(&operand).cloned().map(|t| (*arg, t)));
        }
        let mut walked = Ok(());
        for inner in entry.ops().filter(|o| !o.is::<YieldOp<'_>>()) {
            walked = walked.and_then(|()| self.element_op(inner));
        }
        let inside = std::mem::replace(&mut self.tiles, outside);
        self.fixed = fixed;
        walked?;
        let yielded = entry.terminator().into_iter().flat_map(|t| t.operands());
        for (result, value) in op.results().zip(yielded) {
            self.tiles.extend(inside.get(&value).cloned().map(|t| (result, t)));
        }
        self.reach.computed(op, true);
        Ok(())
    }

    fn windows(&mut self) -> Result<Windows, String> {
        let mut slices = HashMap::new();
        for (value, (slice, rows, cols)) in std::mem::take(&mut self.slices) {
            let ty = self.cx.type_as::<SliceType>(slice.op_ref().ty(value)).ok_or("gives a slice")?;
            let offsets = slice.offsets().map(|o| self.index(o)).collect::<Result<_, _>>()?;
            let along = [(slice.row_dim(), slice.row_step()), (slice.col_dim(), slice.col_step())];
            let (space, elem) = (ty.space.clone(), ty.elem);
            slices.insert(value, Place { view: slice.view(), offsets, along, rows, cols, space, elem });
        }
        Ok(Windows { tiles: std::mem::take(&mut self.tiles), slices })
    }

    // ---- memory

    /// Handles what moves or names memory; false for other operations.
    fn memory(&mut self, op: OpRef<'a>) -> Result<bool, String> {
        if let Some(this) = op.as_::<SliceOp<'_>>() {
            self.slice(op, this)?;
        } else if let Some(this) = op.as_::<LoadOp<'_>>() {
            self.load(op, this)?;
        } else if let Some(this) = op.as_::<StoreOp<'_>>() {
            self.store(op, this)?;
        } else if let Some(this) = op.as_::<AsyncCopyOp<'_>>() {
            self.async_copy(op, this)?;
        } else if let Some(this) = op.as_::<MoveOp<'_>>() {
            let (from, to) = (self.tile_type(op, this.tile())?, self.tile_type(op, this.result())?);
            let tile = self.tile(this.tile())?;
            let what = What::Moved { from: from.space.clone(), to: to.space.clone() };
            self.term(what, self.bytes(to.elem), vec![tile.rows.clone(), tile.cols.clone()]);
            self.tiles.insert(this.result(), tile);
            self.reach.computed(op, false);
        } else if let Some(this) = op.as_::<HomeOp<'_>>() {
            let tile = self.tile(this.tile())?;
            self.tiles.insert(this.result(), tile);
            self.reach.renamed(this.tile(), this.result());
            if self.fixed.contains(&this.tile()) {
                self.fixed.insert(this.result());
            }
        } else if let Some(this) = op.as_::<GatherRowsOp<'_>>() {
            self.gather_rows(op, this)?;
        } else if op.is::<AllocOp<'_>>() {
            self.roots.insert(op.result(0), Memory::Own(op.result(0)));
        } else if let Some(this) = op.as_::<IdentityOp<'_>>() {
            let root = self.root(this.view());
            self.roots.insert(this.result(), root);
        } else {
            return Ok(false);
        }
        Ok(true)
    }

    fn root(&self, view: Value) -> Memory {
        self.roots.get(&view).copied().unwrap_or(Memory::Own(view))
    }

    fn slice(&mut self, op: OpRef<'a>, this: SliceOp<'a>) -> Result<(), String> {
        let ty = self.cx.type_as::<SliceType>(op.ty(this.slice())).ok_or("gives a slice")?;
        let view = self.cx.type_as::<ViewType>(op.ty(this.view())).ok_or("takes a view")?;
        let offsets: Vec<Poly> = this.offsets().map(|o| self.index(o)).collect::<Result<_, _>>()?;
        let span = |bounds: &Bounds<'_>, dim: Option<i64>, step: i64, extent: &Poly| match dim {
            None => Ok(Span::whole(extent.clone())),
            Some(dim) => {
                let at = usize::try_from(dim).ok().filter(|d| *d < offsets.len());
                let at = at.ok_or("runs along a dimension that its view has not")?;
                Ok::<_, &str>(Span::clipped(bounds, extent.clone(), &offsets[at], step, &view.dims[at]))
            }
        };
        let mut rows = span(self.bounds, this.row_dim(), this.row_step(), &ty.rows)?;
        for dim in this.clips().unwrap_or_default() {
            rows.gates.push(span(self.bounds, Some(dim), 1, &Poly::constant(1))?);
        }
        rows.gates.retain(|gate| !gate.is_whole());
        let cols = span(self.bounds, this.col_dim(), this.col_step(), &ty.cols)?;
        self.slices.insert(this.slice(), (this, rows, cols));
        Ok(())
    }

    fn window(&self, slice: Value) -> Result<(SliceOp<'a>, Span, Span), String> {
        self.slices.get(&slice).cloned().ok_or_else(|| "takes a slice of which nothing is known".to_string())
    }

    /// The access to memory that a slice stands for.
    fn access(&mut self, slice: SliceOp<'a>, store: bool) -> Result<Access, String> {
        let op = slice.op_ref();
        let view = self.cx.type_as::<ViewType>(op.ty(slice.view())).ok_or("takes a view")?;
        let ty = self.cx.type_as::<SliceType>(op.ty(slice.slice())).ok_or("gives a slice")?;
        let offsets: Vec<Poly> = slice.offsets().map(|o| self.index(o)).collect::<Result<_, _>>()?;
        let mut access = Access::new(self.root(slice.view()), self.bytes(view.elem), self.trips.clone(), store);
        for (i, (offset, size)) in offsets.into_iter().zip(&view.dims).enumerate() {
            let along = |dim: Option<i64>| dim.and_then(|d| usize::try_from(d).ok()) == Some(i);
            let (extent, step) = match (along(slice.row_dim()), along(slice.col_dim())) {
                (true, _) => (ty.rows.clone(), slice.row_step()),
                (_, true) => (ty.cols.clone(), slice.col_step()),
                _ => (Poly::constant(1), 1),
            };
            access.along(offset, extent, step, size.clone());
        }
        Ok(access)
    }

    fn load(&mut self, op: OpRef<'a>, this: LoadOp<'a>) -> Result<(), String> {
        let (slice, rows, cols) = self.window(this.slice())?;
        let ty = self.tile_type(op, this.tile())?;
        let from = self.cx.type_as::<SliceType>(op.ty(this.slice())).ok_or("takes a slice")?;
        let what = What::Moved { from: from.space.clone(), to: ty.space.clone() };
        self.term(what, self.bytes(ty.elem), vec![rows.clone(), cols.clone()]);
        let whole = || Tile::of(Span::whole(ty.rows.clone()), Span::whole(ty.cols.clone()));
        if this.pad().is_some() && !cols.is_whole() {
            let Tile { rows, cols, .. } = whole();
            self.term(What::Slots, MASKED_SLOTS, vec![rows, cols]);
        }
        if from.elem == Type::I1 && ty.cols.as_const() != Some(1) {
            self.term(What::Slots, TRUTH_SLOTS, vec![rows.clone(), cols.clone()]);
        }
        let tile = if this.pad().is_some() { whole() } else { Tile::of(rows, cols) };
        self.tiles.insert(this.tile(), tile);
        let access = self.access(slice, false)?;
        self.reach.loaded(op, access, ty);
        Ok(())
    }

    fn store(&mut self, op: OpRef<'a>, this: StoreOp<'a>) -> Result<(), String> {
        let (slice, rows, cols) = self.window(this.slice())?;
        let (ty, tile) = (self.tile_type(op, this.tile())?, self.tile(this.tile())?);
        let to = self.cx.type_as::<SliceType>(op.ty(this.slice())).ok_or("takes a slice")?;
        let what = What::Moved { from: ty.space.clone(), to: to.space.clone() };
        self.term(what, self.bytes(ty.elem), vec![rows.and(&tile.rows), cols.and(&tile.cols)]);
        let access = self.access(slice, true)?;
        self.reach.stored(op, access);
        Ok(())
    }

    /// Bytes go from one space to the other without a register. Zeros are no bytes that are moved.
    fn async_copy(&mut self, op: OpRef<'a>, this: AsyncCopyOp<'a>) -> Result<(), String> {
        let ((from, rows, cols), (to, to_rows, to_cols)) = (self.window(this.from())?, self.window(this.to())?);
        let ty = |slice| self.cx.type_as::<SliceType>(op.ty(slice)).ok_or("takes a slice");
        let (a, b) = (ty(this.from())?, ty(this.to())?);
        let what = What::Moved { from: a.space.clone(), to: b.space.clone() };
        self.term(what, self.bytes(b.elem), vec![rows.and(&to_rows), cols.and(&to_cols)]);
        for (slice, store) in [(from, false), (to, true)] {
            let access = self.access(slice, store)?;
            self.reach.stored(op, access);
        }
        Ok(())
    }

    fn gather_rows(&mut self, op: OpRef<'a>, this: GatherRowsOp<'a>) -> Result<(), String> {
        let ty = self.tile_type(op, this.tile())?;
        let view = self.cx.type_as::<ViewType>(op.ty(this.view())).ok_or("takes a view")?;
        let offset = self.index(this.offset())?;
        let indices = self.tile(this.indices())?;
        let width = view.dims.get(1).ok_or("takes a view of rows")?;
        let cols = Span::clipped(self.bounds, ty.cols.clone(), &offset, 1, width);
        let what = What::Moved { from: view.space.clone(), to: ty.space.clone() };
        let bytes = self.bytes(ty.elem);
        self.term(what, bytes, vec![indices.rows.clone(), cols.clone()]);
        let mut access = Access::new(self.root(this.view()), bytes, self.trips.clone(), false);
        access.scattered(ty.rows.clone(), view.dims[0].clone());
        access.along(offset, ty.cols.clone(), 1, width.clone());
        self.tiles.insert(this.tile(), Tile::of(indices.rows, cols));
        self.reach.loaded(op, access, ty);
        Ok(())
    }

    // ---- elements

    fn element_op(&mut self, op: OpRef<'a>) -> Result<(), String> {
        let Some(result) = op.results().next().filter(|v| self.cx.type_as::<TileType>(op.ty(*v)).is_some()) else {
            return Ok(());
        };
        let ty = self.tile_type(op, result)?;
        let mut ends = false;
        let fixed = self.is_fixed(op, ty);
        let tile = if op.is::<FillOp<'_>>() || op.is::<IotaOp<'_>>() {
            self.reach.made(op);
            self.tiles.insert(result, Tile::everywhere(ty));
            self.fixed.extend(fixed.then_some(result));
            return Ok(());
        } else if let Some(this) = op.as_::<ReduceOp<'_>>() {
            ends = true;
            self.reduced(op, this)?
        } else if let Some(this) = op.as_::<ScanOp<'_>>() {
            let tile = self.tile(this.operand())?;
            self.computes(op, vec![tile.rows.clone(), tile.cols.clone()])?;
            tile
        } else if let Some(this) = op.as_::<BroadcastOp<'_>>() {
            self.broadcast(op, this)?
        } else if let Some(this) = op.as_::<TransposeOp<'_>>() {
            let Tile { rows, cols, defined, everywhere } = self.tile(this.operand())?;
            Tile { rows: cols, cols: rows, defined: (defined.1, defined.0), everywhere }
        } else if let Some(this) = op.as_::<ContractOp<'_>>() {
            ends = true;
            self.contracted(op, this)?
        } else {
            let tiles = op.operands().map(|v| self.tile(v)).collect::<Result<Vec<_>, _>>()?;
            if tiles.is_empty() {
                return Err("is not known to the cost model".to_string());
            }
            let tile = Tile::common(&tiles);
            let marks = self.found.terms.len();
            self.computes(op, vec![tile.defined.0.clone(), tile.defined.1.clone()])?;
            if fixed {
                let takes_time = |term: &Term| term.what != What::Slots;
                let own = self.found.terms.split_off(marks);
                self.found.terms.extend(own.into_iter().filter(takes_time));
            }
            tile
        };
        self.tiles.insert(result, tile);
        self.fixed.extend(fixed.then_some(result));
        if op.is::<BroadcastOp<'_>>() {
            self.reach.made(op);
        } else {
            self.reach.computed(op, ends);
        }
        Ok(())
    }

    /// True for a tile that follows from numbers that code generation knows.
    fn is_fixed(&mut self, op: OpRef<'a>, ty: &TileType) -> bool {
        if ty.rows.as_const().is_none() || ty.cols.as_const().is_none() {
            return false;
        }
        if let Some(this) = op.as_::<IotaOp<'_>>() {
            return self.index(this.base()).is_ok_and(|base| base.as_const().is_some());
        }
        if let Some(this) = op.as_::<BroadcastOp<'_>>() {
            return self.fixed.contains(&this.operand());
        }
        let by_element = !(op.is::<ReduceOp<'_>>() || op.is::<ScanOp<'_>>() || op.is::<ContractOp<'_>>());
        op.is::<FillOp<'_>>() || by_element && op.operands().all(|value| self.fixed.contains(&value))
    }

    /// Counts an operation on every element of the spans' product.
    fn computes(&mut self, op: OpRef<'a>, spans: Vec<Span>) -> Result<(), String> {
        let operand = op.operands().next().ok_or("has no operand")?;
        let float = self.tile_type(op, operand)?.elem.is_float(self.cx);
        self.term(What::Flops, flops_of(op, float), spans.clone());
        let slots = slots_of(op);
        if slots >= SPECIAL_SLOTS {
            self.term(What::Special, 1, spans.clone());
        }
        self.term(What::Slots, slots, spans);
        Ok(())
    }

    fn reduced(&mut self, op: OpRef<'a>, this: ReduceOp<'a>) -> Result<Tile, String> {
        let tile = self.tile(this.operand())?;
        self.computes(op, vec![tile.rows.clone(), tile.cols.clone()])?;
        if this.scope() == Scope::Group {
            self.term(What::Syncs, 1, vec![]);
        }
        if this.axis() == Axis::Cols && tile.cols.extent.as_const() != Some(1) {
            self.term(What::Folds, 1, vec![tile.rows.clone()]);
        }
        let one = || Span::whole(1.into());
        let (rows, cols) = match this.axis() {
            Axis::Rows => (one(), tile.cols),
            Axis::Cols => (tile.rows, one()),
        };
        Ok(Tile { everywhere: tile.everywhere, ..Tile::of(rows, cols) })
    }

    fn broadcast(&mut self, op: OpRef<'a>, this: BroadcastOp<'a>) -> Result<Tile, String> {
        let (from, to) = (self.tile_type(op, this.operand())?, self.tile_type(op, this.like())?);
        let (operand, like) = (self.tile(this.operand())?, self.tile(this.like())?);
        let spread = |same: bool, span: &Span, to: &Poly| {
            if same {
                return span.clone();
            }
            let mut spread = Span::whole(to.clone());
            if !span.clips.is_empty() || !span.gates.is_empty() {
                spread.gates.push(span.clone());
            }
            spread
        };
        let rows = spread(from.rows == to.rows, &operand.defined.0, &to.rows);
        let cols = spread(from.cols == to.cols, &operand.defined.1, &to.cols);
        let defined = (like.rows.and(&rows), like.cols.and(&cols));
        Ok(Tile { defined, ..like })
    }

    fn contracted(&mut self, op: OpRef<'a>, this: ContractOp<'a>) -> Result<Tile, String> {
        let (a, mut b, acc) = (self.tile(this.lhs())?, self.tile(this.rhs())?, self.tile(this.acc())?);
        if this.interleave().is_some() {
            // All of it exists.
            let (left, sums) = (self.tile_type(op, this.lhs())?, self.tile_type(op, this.acc())?);
            let whole = Tile::of(Span::whole(left.cols.clone()), Span::whole(sums.cols.clone()));
            b = Tile { everywhere: b.everywhere, ..whole };
        }
        let k = if a.everywhere { b.rows.clone() } else { a.cols.clone() };
        let float = self.tile_type(op, this.lhs())?.elem.is_float(self.cx);
        // Columns last: they are what vectors hold.
        let spans = vec![a.rows.clone(), k, b.cols.clone()];
        self.term(What::Flops, if float { 2 } else { 0 }, spans.clone());
        self.term(What::Products, 1, spans);
        let everywhere = a.everywhere && b.everywhere;
        let product = Tile { everywhere, ..Tile::of(a.rows, b.cols) };
        Ok(Tile::common(&[product, acc]))
    }
}

/// Vector instructions to read a vector of which some columns may not exist: to find those that do, and the others' number.
const MASKED_SLOTS: u64 = 2;

/// Vector instructions to make a mask of truth values, which are bytes in memory.
const TRUTH_SLOTS: u64 = 3;

/// Vector instructions from which on a function counts as a special one.
const SPECIAL_SLOTS: u64 = 6;

//! Which rows lie in the output until they are stored there: `gir.home`.
//!
//! A loop over a row computes what is dear and needed again, and a later one changes it by numbers of the row and stores it. Which
//! ops are one loop, and what a loop keeps, follows from their order as in `convert-gir-to-cpu`.

use rustc_hash::{FxHashMap, FxHashSet};
use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::gir::bounds::Bounds;
use sutura_dialects::gir::constraints::Axis;
use sutura_dialects::gir::hints::has_contiguous_columns;
use sutura_dialects::gir::kernel::{KernelInfo, Mode};
use sutura_dialects::gir::kinds::{BinaryKind, Combiner};
use sutura_dialects::gir::ops::*;
use sutura_dialects::gir::types::{SliceType, TileType, ViewType};
use sutura_dialects::target::TargetDesc;
use sutura_dialects::target::constraints::Class;
use sutura_ir::{BlockRef, Op, OpRef, OpView, Type, Value};

use crate::gir_lowering::{price, rows};

/// What a machine says of its registers.
pub(super) struct Registers {
    /// Names of the spaces.
    names: Vec<String>,
    /// Whether a product and a sum are one instruction: then to divide a row by a number is cheap.
    fused: bool,
}

impl Registers {
    pub(super) fn of(machine: Option<&TargetDesc>) -> Self {
        match machine {
            Some(machine) => Self {
                names: machine.of_class(Class::Reg).map(|space| space.name.clone()).collect(),
                fused: machine.has_fma(),
            },
            None => Self { names: vec!["vec".into(), "reg".into()], fused: true },
        }
    }
}

/// A tile that lives in a slice.
pub(super) struct Home {
    pub(super) tile: Value,
    pub(super) slice: Value,
    /// The op in front of which it is said.
    pub(super) before: Op,
    /// Ops to be put in front of that, in order: the slice, and what its indices are computed from.
    pub(super) moved: Vec<Op>,
    /// What needs the tile from there on.
    pub(super) users: FxHashSet<Op>,
}

/// A row that a loop keeps for a later one, and where.
pub(super) struct Row {
    pub(super) made: Op,
    pub(super) home: Result<Home, String>,
}

/// The rows of a kernel that are kept, in the order of the text. A block in which a home is said already has none.
pub(super) fn rows<'a>(kernel: OpRef<'a>, registers: &Registers) -> Vec<Row> {
    let Ok(info) = KernelInfo::read(kernel) else { return Vec::new() };
    let Some(entry) = kernel.region(0).and_then(|region| region.entry()) else { return Vec::new() };
    let (bounds, mut found) = (Bounds::of_kernel(&info), Vec::new());
    let mut decider: Decider<'a, '_> = Decider {
        info: &info,
        bounds,
        registers,
        prices: FxHashMap::default(),
        same: FxHashMap::default(),
        kept: FxHashSet::default(),
    };
    if !info.grid.is_empty() {
        found.extend(decider.block(entry));
    }
    for op in entry.ops() {
        if let Some(this) = op.as_::<ForOp<'_>>()
            && let Some(body) = this.body().entry()
            && rows::counts_rows(&mut decider.bounds, &info, &this)
        {
            found.extend(decider.block(body));
        }
    }
    found
}

struct Decider<'a, 'k> {
    info: &'k KernelInfo<'a>,
    bounds: Bounds<'a>,
    registers: &'k Registers,
    /// Prices of tiles that are computed in loops over their columns.
    prices: FxHashMap<Value, u32>,
    /// Tiles that are another one.
    same: FxHashMap<Value, Value>,
    /// Tiles that a loop has kept.
    kept: FxHashSet<Value>,
}

impl<'a> Decider<'a, '_> {
    fn block(&mut self, block: BlockRef<'a>) -> Vec<Row> {
        let ops: Vec<OpRef<'a>> = block.ops().collect();
        let said = ops.iter().any(|op| op.is::<HomeOp<'_>>());
        let (mut found, mut waiting) = (Vec::new(), Vec::<OpRef<'a>>::new());
        for (at, op) in ops.iter().enumerate() {
            let needs = |sink: &OpRef<'a>| sink.results().any(|result| op.operands().any(|value| value == result));
            if op.regions().len() > 0 || waiting.iter().any(needs) {
                let loop_ = std::mem::take(&mut waiting);
                let kept = self.worth_keeping(&ops[..at], &loop_, &ops[at..]);
                if let Some(first) = kept.first().filter(|_| !said && self.stores(&ops[at..])) {
                    let home = self.home(&kept, &loop_, (&ops, at));
                    let tile = home.as_ref().map_or(*first, |home| home.tile);
                    let made = block.body.defining_op(tile).expect("an op of the block computes it");
                    found.push(Row { made, home });
                }
                self.kept.extend(kept);
            }
            self.price(*op);
            let combines = op.as_::<ReduceOp<'_>>().is_some_and(|this| this.axis() == Axis::Cols);
            if (combines || op.is::<StoreOp<'_>>()) && self.strip(*op, op.operand(0)).is_some() {
                waiting.push(*op);
            }
        }
        found
    }

    /// The type of a tile that is computed in loops over its columns.
    fn strip(&self, op: OpRef<'a>, value: Value) -> Option<&'a TileType> {
        let ty = op.cx.type_as::<TileType>(op.ty(value))?;
        let in_registers = ty.cols.as_const() == Some(1) || self.registers.names.iter().any(|name| **name == *ty.space);
        (!in_registers).then_some(ty)
    }

    fn stores(&self, ops: &[OpRef<'a>]) -> bool {
        ops.iter().any(|op| op.is::<StoreOp<'_>>() && self.strip(*op, op.operand(0)).is_some())
    }

    fn tile(&self, value: Value) -> Value {
        self.same.get(&value).copied().unwrap_or(value)
    }

    // ---- what loops keep

    /// Notes what an element costs.
    fn price(&mut self, op: OpRef<'a>) {
        let [result] = op.results().collect::<Vec<_>>()[..] else { return };
        let Some(ty) = self.strip(op, result) else { return };
        let inputs: Vec<Value> = op.operands().filter(|value| self.strip(op, *value).is_some()).collect();
        let rows = inputs.first().and_then(|value| self.strip(op, *value)).map(|ty| &ty.rows);
        let renames = op.is::<MoveOp<'_>>() || op.is::<HomeOp<'_>>();
        if renames || op.is::<BroadcastOp<'_>>() && rows == Some(&ty.rows) && inputs.first() == Some(&op.operand(0)) {
            let tile = inputs.first().map_or(result, |value| self.tile(*value));
            self.same.insert(result, tile);
            return;
        }
        let of = |value: Value| {
            let tile = self.tile(value);
            if self.kept.contains(&tile) { 1 } else { self.prices.get(&tile).copied().unwrap_or_default() }
        };
        let price = if let Some(load) = op.as_::<LoadOp<'_>>() {
            price::of_load(has_contiguous_columns(op, load.slice()))
        } else if op.is::<BroadcastOp<'_>>() {
            let repeated = self.strip(op, op.operand(0)).map(|_| self.tile(op.operand(0)));
            repeated.and_then(|tile| self.prices.get(&tile).copied()).unwrap_or_default()
        } else {
            let combined = rows.filter(|_| op.is::<ReduceOp<'_>>()).and_then(Poly::as_const);
            let own = match combined.map(u32::try_from) {
                Some(rows) => rows.unwrap_or(u32::MAX),
                None if self.divides_by_number(op) => price::DIVIDE,
                None => price::of_element(op),
            };
            inputs.iter().map(|value| of(*value)).fold(own, u32::saturating_add)
        };
        self.prices.insert(result, price);
    }

    /// A division by what a row repeats takes no division in each lane.
    fn divides_by_number(&self, op: OpRef<'a>) -> bool {
        let Some(this) = op.as_::<BinaryOp<'_>>().filter(|this| this.kind() == BinaryKind::Div) else { return false };
        let repeats = self.repeats(op, this.rhs());
        let f32 = self.strip(op, this.rhs()).is_some_and(|ty| ty.elem == Type::F32);
        self.registers.fused && f32 && repeats
    }

    /// Whether a tile repeats a number, or one for each row.
    fn repeats(&self, op: OpRef<'a>, value: Value) -> bool {
        let made = op.body.defining_op(self.tile(value)).map(|made| op.at(made));
        let broadcast = made.and_then(|made| made.as_::<BroadcastOp<'_>>());
        broadcast.is_some_and(|this| self.strip(op, this.operand()).is_none())
    }

    /// What a loop computes that is dear and that ops behind it need, in the order of the text.
    fn worth_keeping(&self, before: &[OpRef<'a>], sinks: &[OpRef<'a>], behind: &[OpRef<'a>]) -> Vec<Value> {
        let computed = self.reached(sinks);
        let mut needed = FxHashSet::default();
        for op in behind {
            op.walk(&mut |inner| needed.extend(inner.operands().map(|value| self.tile(value))));
        }
        let dear = |value: &Value| self.prices.get(value).is_some_and(|price| *price >= price::KEEP);
        let own = before.iter().flat_map(|op| op.results());
        own.filter(|value| dear(value) && !self.kept.contains(value) && needed.contains(value))
            .filter(|value| computed.contains(value))
            .collect()
    }

    /// The tiles that sinks are computed from.
    fn reached(&self, sinks: &[OpRef<'a>]) -> FxHashSet<Value> {
        let mut open: Vec<(OpRef<'a>, Value)> = sinks.iter().map(|sink| (*sink, self.tile(sink.operand(0)))).collect();
        let mut reached = FxHashSet::default();
        while let Some((op, value)) = open.pop() {
            if !reached.insert(value) || self.kept.contains(&value) {
                continue;
            }
            if let Some(made) = op.body.defining_op(value).map(|made| op.at(made)) {
                let inputs = made.operands().filter(|value| self.strip(made, *value).is_some());
                open.extend(inputs.map(|value| (made, self.tile(value))));
            }
        }
        reached
    }

    // ---- where they lie

    /// Where one of the tiles lives that a loop with `sinks` keeps for what is behind it.
    fn home(&mut self, kept: &[Value], sinks: &[OpRef<'a>], (ops, at): (&[OpRef<'a>], usize)) -> Result<Home, String> {
        let behind = &ops[at..];
        // What a loop that is run again finds must be what it found.
        let again = |this: ReduceOp<'a>| matches!(this.combiner(), Combiner::Max | Combiner::Min);
        if sinks.iter().any(|sink| sink.as_::<ReduceOp<'_>>().is_some_and(again)) {
            return Err("the loop that computes it finds an extreme, for which it may run again".to_owned());
        }
        let lengths: FxHashSet<&Poly> =
            sinks.iter().filter_map(|sink| Some(&self.strip(*sink, sink.operand(0))?.cols)).collect();
        if lengths.len() > 1 || sinks.iter().any(|sink| sink.is::<StoreOp<'_>>()) {
            return Err("more than a sum is made with it".to_owned());
        }
        let store = self.store_that_follows(behind)?;
        self.read_no_more(kept, behind)?;
        let op = store.op_ref();
        let stored = self.strip(op, store.tile()).ok_or("it is stored from registers")?;
        let alike = |value: &&Value| {
            self.strip(op, **value).is_some_and(|ty| {
                (ty.elem, &ty.rows, &ty.cols) == (stored.elem, &stored.rows, &stored.cols)
                    && ty.rows.as_const() == Some(1)
            })
        };
        let tile = *kept.iter().find(alike).ok_or("what is stored has other elements, or several rows")?;
        let slice = op.body.defining_op(store.slice()).and_then(|made| op.at(made).as_::<SliceOp<'_>>());
        let slice = slice.ok_or("nothing is known of the slice")?;
        let mode = self.info.views.iter().find(|(view, ..)| *view == slice.view()).map(|(.., mode)| *mode);
        if mode != Some(Mode::Out) {
            return Err("it is not stored to an 'out' view of the kernel under its own dimensions".to_owned());
        }
        if stored.elem == Type::I1 || !has_contiguous_columns(op, store.slice()) {
            return Err("in the output its elements do not lie side by side, as they are".to_owned());
        }
        let loads = self.reached(sinks).into_iter().filter_map(|value| op.body.defining_op(value));
        let loads = loads.filter_map(|made| op.at(made).as_::<LoadOp<'_>>()).filter(|load| load.pad().is_none());
        let slices: Vec<SliceOp<'a>> = loads
            .filter_map(|load| op.body.defining_op(load.slice()))
            .filter_map(|made| op.at(made).as_::<SliceOp<'_>>())
            .chain([slice])
            .collect();
        if slices.iter().any(|slice| !self.may_be_whole(slice)) {
            return Err("a part of it may lie outside".to_owned());
        }
        let mut moved = Vec::new();
        if !in_front(slice.op_ref(), (ops, at), &mut moved) {
            return Err("where it is stored is known too late".to_owned());
        }
        let mut users = FxHashSet::default();
        for op in behind {
            op.walk(&mut |inner| users.extend(inner.operands().any(|value| value == tile).then_some(inner.op)));
        }
        Ok(Home { tile, slice: store.slice(), before: ops[at].op, moved, users })
    }

    /// The only store of a strip in these ops, where all else that they make of strips is elementwise.
    fn store_that_follows(&self, ops: &[OpRef<'a>]) -> Result<StoreOp<'a>, String> {
        let mut found = None;
        for op in ops {
            if let Some(store) = op.as_::<StoreOp<'_>>() {
                if self.strip(*op, store.tile()).is_some() && found.replace(store).is_some() {
                    return Err("several rows are stored behind it".to_owned());
                }
                continue;
            }
            if found.is_some() && op.operands().any(|value| self.strip(*op, value).is_some()) {
                return Err(format!("'{}' needs a row when it is stored", op.name_str()));
            }
            let elementwise = op.is::<UnaryOp<'_>>()
                || op.is::<BinaryOp<'_>>()
                || op.is::<TernaryOp<'_>>()
                || op.is::<CompareOp<'_>>()
                || op.is::<CastOp<'_>>()
                || op.is::<BroadcastOp<'_>>();
            if op.regions().len() > 0 || op.results().any(|value| self.strip(*op, value).is_some()) && !elementwise {
                return Err(format!("'{}' follows, which is not elementwise", op.name_str()));
            }
        }
        found.ok_or_else(|| "no row is stored behind it".to_owned())
    }

    /// Whether these ops read only what is kept, and numbers of the row: the row is brought near once.
    fn read_no_more(&self, kept: &[Value], ops: &[OpRef<'a>]) -> Result<(), String> {
        let made: FxHashSet<Value> = ops.iter().flat_map(|op| op.results()).collect();
        for op in ops {
            for value in op.operands().filter(|value| !made.contains(value) && self.strip(*op, *value).is_some()) {
                let fill = || op.body.defining_op(value).is_some_and(|made| op.at(made).is::<FillOp<'_>>());
                if !kept.contains(&self.tile(value)) && !self.repeats(*op, value) && !fill() {
                    return Err("what is stored is computed from more than it".to_owned());
                }
            }
        }
        Ok(())
    }

    /// Whether all of a slice exists, or does where all that a group names does.
    fn may_be_whole(&mut self, slice: &SliceOp<'a>) -> bool {
        let op = slice.op_ref();
        let (Some(view), Some(ty)) =
            (op.cx.type_as::<ViewType>(op.ty(slice.view())), op.cx.type_as::<SliceType>(op.ty(slice.slice())))
        else {
            return false;
        };
        let axes = [(slice.row_dim(), &ty.rows, slice.row_step()), (slice.col_dim(), &ty.cols, slice.col_step())];
        for (dim, offset) in slice.offsets().enumerate() {
            let Some(first) = self.bounds.expr(offset) else { return false };
            let axis = axes.iter().find(|(along, ..)| *along == i64::try_from(dim).ok());
            let extent = axis.map_or_else(Poly::default, |(_, extent, step)| extent.sub(&1.into()).scale(*step));
            let room = view.dims[dim].sub(&1.into()).sub(&first.add(&extent));
            if self.bounds.never_negative(&first) && self.bounds.never_negative(&room) {
                continue;
            }
            let grid = |value: Value| self.info.grid.iter().any(|(index, _)| *index == value);
            let known = first
                .symbols()
                .iter()
                .all(|name| self.bounds.variable_named(name).is_none_or(|variable| grid(variable.value)));
            if axis.is_none() || !known {
                return false;
            }
        }
        true
    }
}

/// Whether an op stands in front of op `at`, or can be put there with index arithmetic that it needs, which `moved` gets.
fn in_front(op: OpRef<'_>, (ops, at): (&[OpRef<'_>], usize), moved: &mut Vec<Op>) -> bool {
    let behind = |made: Op| ops[at..].iter().any(|other| other.op == made);
    if !behind(op.op) || moved.contains(&op.op) {
        return true;
    }
    let free = op.is::<SliceOp<'_>>() || op.is::<IndexOp<'_>>() || op.name_str() == "arith.constant";
    let fits = free
        && op.operands().all(|value| {
            let made = op.body.defining_op(value);
            made.is_none_or(|made| in_front(op.at(made), (ops, at), moved))
        });
    moved.extend(fits.then_some(op.op));
    fits
}

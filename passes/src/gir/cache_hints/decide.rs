//! Which loads and stores of a kernel get which clauses.

use sutura_dialects::r#dyn::attr::shape_attr;
use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::gir::bounds::Bounds;
use sutura_dialects::gir::constraints::Axis;
use sutura_dialects::gir::hints::has_contiguous_columns;
use sutura_dialects::gir::kernel::{KernelInfo, Mode};
use sutura_dialects::gir::ops::{ForOp, LoadOp, ReduceOp, SliceOp, StoreOp};
use sutura_dialects::gir::types::TileType;
use sutura_dialects::target::TargetDesc;
use sutura_dialects::target::constraints::Class;
use sutura_ir::{Attr, BlockRef, Op, OpRef, OpView, Type, Value};

use super::touched::{self, bytes_of};
use crate::gir_lowering::rows;

/// How far ahead of what it computes a loop asks for what it is the first to read, in bytes: long enough for the memory to
/// answer. Processors ask ahead themselves, but not from one page to the next, and a loop with much to compute per vector
/// has too few reads in flight to make up for that.
const DISTANCE_BYTES: i64 = 4096;

/// What a machine says of its caches.
pub(super) struct Caches {
    /// Bytes that a launch touches from which on stores had better go past the caches; `None` where that never pays.
    stream: Option<i64>,
    /// Bytes that rows of the next group may take of a unit's own cache: what a group reads, keeps, writes and asks for share
    /// it.
    room: i64,
    /// A vector is no longer than a line of the nearest cache: what asks once per vector asks for all of it.
    lines_hold_vectors: bool,
    /// Names of the spaces that are registers.
    registers: Vec<String>,
}

impl Caches {
    pub(super) fn of(machine: &TargetDesc) -> Self {
        let number = |bytes: u64| i64::try_from(bytes).unwrap_or(i64::MAX);
        // What computes with scalars fills no line at once.
        let scalar = 4;
        let vector = machine.vector_bytes().max(scalar);
        Self {
            stream: machine.stream_bytes().map(number).filter(|_| vector > scalar),
            room: number(machine.own_cache_bytes()) / 4,
            lines_hold_vectors: machine.caches().next().is_some_and(|cache| cache.align >= vector),
            registers: machine.of_class(Class::Reg).map(|space| space.name.clone()).collect(),
        }
    }
}

/// Clauses by the names of the attributes that hold them.
type Clauses = Vec<(&'static str, Attr)>;

/// Clauses of a load or a store, or why it has none.
pub(super) struct Hint {
    pub(super) op: Op,
    pub(super) clauses: Clauses,
    pub(super) why: String,
}

/// What the loads and stores of a kernel are to say, in the order of the text.
pub(super) fn hints(kernel: OpRef<'_>, caches: &Caches) -> Vec<Hint> {
    let Ok(info) = KernelInfo::read(kernel) else { return Vec::new() };
    let bounds = Bounds::of_kernel(&info);
    let large = large_launch(&info, &bounds, caches);
    let mut decider = Decider { bounds, info: &info, caches, large, hints: Vec::new() };
    let next = info.grid.last().map(|(index, _)| *index);
    if let Some(entry) = kernel.region(0).and_then(|region| region.entry()) {
        decider.block(entry, next, 0);
    }
    decider.hints
}

/// The size that is not negative in launches that touch more than the caches hold; or why there is none.
fn large_launch(info: &KernelInfo<'_>, bounds: &Bounds<'_>, caches: &Caches) -> Result<Poly, String> {
    let Some(least) = caches.stream else { return Err("the machine has no caches, or no vectors".to_owned()) };
    let bytes = touched::bytes(info);
    let more = bytes.sub(&Poly::constant(least));
    if more.excess().is_some() {
        return Err("the bytes that a launch touches are more than a size may be".to_owned());
    }
    if bounds.facts.range(&bytes).1 < i128::from(least) {
        return Err(format!("no launch touches {least} bytes"));
    }
    Ok(more)
}

struct Decider<'a, 'k> {
    info: &'k KernelInfo<'a>,
    bounds: Bounds<'a>,
    caches: &'k Caches,
    /// The size that is not negative in launches that touch more than the caches hold; or why there is none.
    large: Result<Poly, String>,
    hints: Vec<Hint>,
}

/// The row that a block is about: a group, or one of the rows that a group does one after another.
struct Row {
    /// Counts the row: the next one has the next index.
    next: Value,
    /// Something of it is stored past the caches.
    streams: bool,
}

impl<'a> Decider<'a, '_> {
    /// `next` counts what the block is run for, groups or rows of one, if something does.
    fn block(&mut self, block: BlockRef<'a>, next: Option<Value>, depth: usize) {
        let deferred = next.and_then(|_| self.last_store(block));
        let streams = block.ops().any(|op| {
            op.as_::<StoreOp>()
                .is_some_and(|store| store.stream().is_some() || !store.kept() && self.condition(store).is_ok())
        });
        for op in block.ops() {
            if let Some(store) = op.as_::<StoreOp>() {
                self.store(store, deferred == Some(op.op));
            } else if let Some(load) = op.as_::<LoadOp>()
                && let Some(next) = next
            {
                self.load(load, &Row { next, streams });
            } else if let Some(this) = op.as_::<ForOp>()
                && let Some(entry) = this.body().entry()
            {
                let rows = depth == 0 && rows::counts_rows(&mut self.bounds, self.info, &this);
                self.block(entry, entry.args().first().copied().filter(|_| rows), depth + 1);
            }
        }
    }

    /// Whether a tile is one that is computed in loops over its columns.
    fn is_strip(&self, op: OpRef<'a>, tile: Value) -> bool {
        let tile = op.cx.type_as::<TileType>(op.ty(tile));
        tile.is_some_and(|ty| ty.cols.as_const() != Some(1) && !self.caches.registers.iter().any(|r| **r == *ty.space))
    }

    // ---- stores

    /// The last store of rows, behind something that is combined along a row: what is stored is computed in a loop of its own.
    fn last_store(&self, block: BlockRef<'a>) -> Option<Op> {
        let (mut combined, mut last) = (false, None);
        for op in block.ops() {
            let along_row = |this: ReduceOp<'a>| this.axis() == Axis::Cols && self.is_strip(op, this.operand());
            combined |= op.as_::<ReduceOp>().is_some_and(along_row);
            if op.as_::<StoreOp>().is_some_and(|store| combined && self.is_strip(op, store.tile())) {
                last = Some(op.op);
            }
        }
        last
    }

    /// The size that is not negative where a store may go past the caches, or why it stays in them.
    fn condition(&self, store: StoreOp<'a>) -> Result<Poly, String> {
        let op = store.op_ref();
        let more = self.large.clone()?;
        match self.info.mode_of(store.slice()) {
            Some(Mode::Out) => {}
            Some(_) => return Err("the kernel reads the view too".to_owned()),
            None => return Err("it is to memory of the kernel's own".to_owned()),
        }
        if !self.is_strip(op, store.tile()) {
            return Err("the tile lies in registers, of which a store fills no line".to_owned());
        }
        if !has_contiguous_columns(op, store.slice()) {
            return Err("its columns do not lie side by side".to_owned());
        }
        match op.cx.type_as::<TileType>(op.ty(store.tile())) {
            Some(tile) if tile.elem == Type::I1 => Err("truth values are widened when they are stored".to_owned()),
            _ => Ok(more),
        }
    }

    fn store(&mut self, store: StoreOp<'a>, last: bool) {
        let op = store.op_ref();
        let (clauses, why) = match self.condition(store) {
            // What is written is meant so.
            _ if store.stream().is_some() || store.kept() => return,
            Err(why) => (vec![], format!("the store stays in the caches: {why}")),
            Ok(more) => {
                let mut clauses = vec![("stream", shape_attr(op.cx, std::slice::from_ref(&more)))];
                let mut why = format!("the store goes past the caches where {more} is not negative");
                if last {
                    clauses.push(("defer", Attr::UNIT));
                    why += ", and may wait for the next row";
                }
                (clauses, why)
            }
        };
        self.hints.push(Hint { op: op.op, clauses, why });
    }

    // ---- loads

    fn load(&mut self, load: LoadOp<'a>, row: &Row) {
        let op = load.op_ref();
        let meant = load.prefetch().is_some() || load.next().is_some();
        if meant || self.info.mode_of(load.slice()) != Some(Mode::In) || !self.is_strip(op, load.tile()) {
            return;
        }
        let (clauses, why) = match self.ahead(load, row) {
            Ok(found) => found,
            Err(why) => (vec![], format!("nothing is asked for ahead: {why}")),
        };
        self.hints.push(Hint { op: op.op, clauses, why });
    }

    /// What a load asks for ahead, in clauses and in words, or why it asks for nothing.
    fn ahead(&mut self, load: LoadOp<'a>, row: &Row) -> Result<(Clauses, String), String> {
        let op = load.op_ref();
        if !self.caches.lines_hold_vectors {
            return Err("a vector is longer than a line".to_owned());
        }
        self.moves_on(load, row.next)?;
        let (mut clauses, mut words) = (Vec::new(), Vec::new());
        if row.streams && has_contiguous_columns(op, load.slice()) {
            clauses.push(("prefetch", op.cx.int_attr(DISTANCE_BYTES, Type::I64)));
            words.push(format!("{DISTANCE_BYTES} bytes ahead"));
        }
        match self.near(load) {
            Ok(sizes) => {
                clauses.push(("next", shape_attr(op.cx, &sizes)));
                let sizes: Vec<String> = sizes.iter().map(|size| format!(" where {size} is not negative")).collect();
                words.push(format!("the next row{}", sizes.concat()));
            }
            Err(why) if clauses.is_empty() => return Err(why),
            Err(_) => {}
        }
        Ok((clauses, format!("the load may ask for {}", words.join(", and for "))))
    }

    /// Whether the next row lies elsewhere, and where that is known before the group computes anything.
    fn moves_on(&mut self, load: LoadOp<'a>, next: Value) -> Result<(), String> {
        let op = load.op_ref();
        let made = op.body.defining_op(load.slice()).and_then(|made| op.at(made).as_::<SliceOp>());
        let slice = made.ok_or("nothing is known of the slice")?;
        for offset in slice.offsets() {
            let at = self.bounds.expr(offset).ok_or("an index is not made of sizes and loop indices")?;
            if self.bounds.is_picked(&at) {
                return Err("data decides where it is read".to_owned());
            }
        }
        match rows::further(&mut self.bounds, &slice, next) {
            Some(_) => Ok(()),
            None => Err("the next row reads the same, or lies no constant number of elements further".to_owned()),
        }
    }

    /// Sizes that are not negative where the rows of a load and the next ones are near together.
    fn near(&self, load: LoadOp<'a>) -> Result<Vec<Poly>, String> {
        let op = load.op_ref();
        let tile = op.cx.type_as::<TileType>(op.ty(load.tile())).ok_or("it gives no tile")?;
        let rows = tile.rows.as_const().ok_or("the number of rows is not constant")?;
        let room = self.caches.room / bytes_of(op.cx, tile.elem) / rows.max(1);
        let (least, most) = self.bounds.facts.range(&tile.cols);
        let left = Poly::constant(room).sub(&tile.cols);
        if least > i128::from(room) || left.excess().is_some() {
            return Err(format!("a row is longer than the {room} elements that may be near"));
        }
        Ok(if most > i128::from(room) { vec![left] } else { vec![] })
    }
}

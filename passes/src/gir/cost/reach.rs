//! What memory a kernel touches where: windows of views, and rows that lie in a cache between two passes over them.
//!
//! Operations on tiles in a cache run as passes over columns. A reduction ends a pass, for what follows needs all of it; so
//! an operation belongs to the first pass after the reductions that it depends on. What one pass makes and another one
//! uses is written and read again, and a window that was loaded is read in each pass that uses it.

use std::collections::HashMap;
use std::rc::Rc;

use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::gir::types::{Space, TileType};
use sutura_ir::{OpRef, Value};

use super::sum::Trip;

/// Memory that is accessed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Memory {
    /// A view of the kernel, by number.
    View(usize),
    /// An allocation, or a tile that is kept.
    Own(Value),
}

/// Where an access lies along one dimension of its memory.
#[derive(Clone, Debug)]
pub(super) struct Line {
    /// `None` for one that data decides.
    pub(super) offset: Option<Poly>,
    pub(super) extent: Poly,
    pub(super) step: i64,
    pub(super) size: Poly,
}

/// An access that happens in each trip of the loops around it.
#[derive(Clone, Debug)]
pub(super) struct Access {
    pub(super) memory: Memory,
    /// Bytes of an element.
    pub(super) bytes: u64,
    pub(super) trips: Rc<[Trip]>,
    pub(super) lines: Vec<Line>,
    pub(super) store: bool,
    /// It is a further pass over a tile in this space; nothing happens when that holds registers.
    pub(super) again: Option<Space>,
}

impl Access {
    pub(super) fn new(memory: Memory, bytes: u64, trips: Rc<[Trip]>, store: bool) -> Self {
        Self { memory, bytes, trips, lines: Vec::new(), store, again: None }
    }

    pub(super) fn along(&mut self, offset: Poly, extent: Poly, step: i64, size: Poly) {
        self.lines.push(Line { offset: Some(offset), extent, step, size });
    }

    /// Forgets offsets that data decides.
    pub(super) fn scatter(&mut self, picked: &dyn Fn(&Poly) -> bool) {
        for line in &mut self.lines {
            line.offset = line.offset.take().filter(|offset| !picked(offset));
        }
    }

    /// `extent` indices that data decides.
    pub(super) fn scattered(&mut self, extent: Poly, size: Poly) {
        self.lines.push(Line { offset: None, extent, step: 1, size });
    }
}

/// Block and number of a pass.
type Pass = (usize, usize);

/// A tile and the passes that use it.
#[derive(Clone, Debug)]
struct Held {
    /// The pass that makes it.
    made: Pass,
    /// First pass of its block that can use it.
    ready: usize,
    /// How it is read again; `None` for what is made anew wherever it is needed.
    read: Option<Access>,
    /// It must be written before it is read by another pass.
    computed: bool,
    passes: Vec<Pass>,
}

/// Collects accesses on the walk over a kernel.
#[derive(Default, Debug)]
pub(super) struct Reach {
    accesses: Vec<Access>,
    held: HashMap<Value, Held>,
    /// Values that are the same tile as another one.
    same: HashMap<Value, Value>,
    blocks: Vec<usize>,
    next_block: usize,
    trips: Rc<[Trip]>,
}

/// A place to go back to.
pub(super) struct Mark {
    accesses: usize,
    held: HashMap<Value, Held>,
}

impl Reach {
    pub(super) fn enter_block(&mut self) {
        self.blocks.push(self.next_block);
        self.next_block += 1;
    }

    pub(super) fn leave_block(&mut self) {
        self.blocks.pop();
    }

    pub(super) fn mark(&self) -> Mark {
        Mark { accesses: self.accesses.len(), held: self.held.clone() }
    }

    pub(super) fn reset(&mut self, mark: &Mark) {
        self.accesses.truncate(mark.accesses);
        self.held.clone_from(&mark.held);
    }

    /// Says in which loops what follows stands.
    pub(super) fn within(&mut self, trips: &Rc<[Trip]>) {
        self.trips = trips.clone();
    }

    /// Says that a value is the same tile as another one.
    pub(super) fn renamed(&mut self, tile: Value, name: Value) {
        self.same.insert(name, self.tile(tile));
    }

    fn tile(&self, value: Value) -> Value {
        self.same.get(&value).copied().unwrap_or(value)
    }

    fn block(&self) -> usize {
        self.blocks.last().copied().unwrap_or_default()
    }

    /// The pass to which an operation belongs.
    fn pass_of(&self, op: OpRef<'_>) -> Pass {
        let block = self.block();
        let ready =
            op.operands().filter_map(|v| self.held.get(&self.tile(v))).filter(|h| h.made.0 == block).map(|h| h.ready);
        (block, ready.max().unwrap_or(0))
    }

    /// Notes that a pass uses the operands of `op`.
    fn uses(&mut self, op: OpRef<'_>, pass: Pass) {
        for value in op.operands() {
            let value = self.tile(value);
            let Some(held) = self.held.get_mut(&value) else { continue };
            let Some(read) = &held.read else { continue };
            if pass == held.made || held.passes.contains(&pass) {
                continue;
            }
            // The first pass that uses what was loaded is the one that loads it.
            if !held.computed && held.passes.is_empty() && pass.0 == held.made.0 {
                held.passes.push(pass);
                continue;
            }
            if held.computed && held.passes.is_empty() {
                self.accesses.push(Access { store: true, ..read.clone() });
            }
            held.passes.push(pass);
            self.accesses.push(Access { trips: self.trips.clone(), ..read.clone() });
        }
    }

    pub(super) fn loaded(&mut self, op: OpRef<'_>, access: Access, ty: &TileType) {
        let made = self.pass_of(op);
        self.uses(op, made);
        let read = Access { again: Some(ty.space.clone()), ..access.clone() };
        self.accesses.push(access);
        // It is no pass of its own: no use is in the pass that makes it.
        let made = (made.0, usize::MAX);
        let held = Held { made, ready: 0, read: Some(read), computed: false, passes: Vec::new() };
        self.held.insert(op.result(0), held);
    }

    pub(super) fn stored(&mut self, op: OpRef<'_>, access: Access) {
        let pass = self.pass_of(op);
        self.uses(op, pass);
        self.accesses.push(access);
    }

    /// A tile that is made anew wherever it is used.
    pub(super) fn made(&mut self, op: OpRef<'_>) {
        let pass = self.pass_of(op);
        self.uses(op, pass);
        let held = Held { made: pass, ready: pass.1, read: None, computed: false, passes: Vec::new() };
        self.held.insert(op.result(0), held);
    }

    /// Tiles that an operation computes; `ends` its pass when what uses them has to wait for all of it.
    pub(super) fn computed(&mut self, op: OpRef<'_>, ends: bool) {
        let pass = self.pass_of(op);
        self.uses(op, pass);
        for result in op.results() {
            let Some(ty) = op.cx.type_as::<TileType>(op.ty(result)) else { continue };
            let bytes = op.cx.bit_width(ty.elem).map_or(8, |bits| u64::from(bits.div_ceil(8)));
            let ready = pass.1 + usize::from(ends);
            let mut read = Access::new(Memory::Own(result), bytes, self.trips.clone(), false);
            read.again = Some(ty.space.clone());
            for extent in [&ty.rows, &ty.cols] {
                read.along(0.into(), extent.clone(), 1, extent.clone());
            }
            // Single numbers stay in registers.
            let scalar = ty.extents() == Some((1, 1));
            let read = (!scalar).then_some(read);
            self.held.insert(result, Held { made: pass, ready, read, computed: true, passes: Vec::new() });
        }
    }

    /// A tile that a loop carries from trip to trip: it is read and written in each.
    pub(super) fn carried(&mut self, op: OpRef<'_>, value: Value) {
        let Some(ty) = op.cx.type_as::<TileType>(op.ty(value)).filter(|ty| ty.extents() != Some((1, 1))) else {
            return;
        };
        let bytes = op.cx.bit_width(ty.elem).map_or(8, |bits| u64::from(bits.div_ceil(8)));
        let mut read = Access::new(Memory::Own(value), bytes, self.trips.clone(), false);
        read.again = Some(ty.space.clone());
        for extent in [&ty.rows, &ty.cols] {
            read.along(0.into(), extent.clone(), 1, extent.clone());
        }
        self.accesses.push(read.clone());
        self.accesses.push(Access { store: true, ..read });
    }

    /// All accesses.
    pub(super) fn finish(&mut self) -> Vec<Access> {
        std::mem::take(&mut self.accesses)
    }
}

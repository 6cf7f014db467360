//! A load of the window that was just stored: the tile is there already, in registers or on the chip.

use std::collections::HashMap;

use sutura_dialects::gir::kernel::KernelInfo;
use sutura_dialects::gir::ops::{
    AsyncCopyOp, AsyncWaitOp, GatherRowsOp, HomeOp, IntrinsicOp, LoadOp, MoveOp, StoreOp, SyncOp,
};
use sutura_dialects::gir::types::TileType;
use sutura_ir::{BlockRef, Body, Context, Op, OpRef, Rewriter, Value};

use super::{Root, is_loop, roots, view_of};
use crate::gir::cost::Windows;

/// A store that nothing has overwritten.
#[derive(Clone, Copy, Debug)]
struct Stored {
    root: Root,
    slice: Value,
    tile: Value,
}

/// A load and the tile that takes its place.
struct Found {
    load: Op,
    tile: Value,
}

/// Replaces loads. Returns how many.
pub(super) fn forward(cx: &Context, module: &mut Body, kernel: Op) -> u64 {
    let found = {
        let op = OpRef::new(cx, module, kernel);
        let Ok(info) = KernelInfo::read(op) else { return 0 };
        // Windows of what intrinsics give are not needed: a kernel that uses them without a machine is left alone.
        let machine = sutura_dialects::target::machine_in(cx, module).ok().flatten();
        let Ok(windows) = Windows::of(op, machine) else { return 0 };
        let Some(entry) = op.region(0).and_then(|r| r.entry()) else { return 0 };
        let mut search = Search { roots: roots(&info), units: info.units, windows, found: Vec::new() };
        search.block(entry, &mut Vec::new());
        search.found
    };
    let Some(body) = module.nested_mut(kernel) else { return 0 };
    let mut rewriter = Rewriter::new(cx, body);
    // What one load is replaced with may be another load that is replaced.
    let mut replaced: HashMap<Value, Value> = HashMap::new();
    for Found { load, tile } in &found {
        let tile = replaced.get(tile).copied().unwrap_or(*tile);
        let result = rewriter.body().result(*load, 0);
        let (ty, loc) = (rewriter.body().ty(result), rewriter.body().loc(*load));
        rewriter.set_before(*load);
        let same = rewriter.body().ty(tile) == ty;
        let value = if same { tile } else { MoveOp::value(&mut rewriter, loc, tile, ty) };
        replaced.insert(result, value);
        rewriter.replace_op(*load, &[value]);
    }
    found.len() as u64
}

struct Search {
    roots: HashMap<Value, Root>,
    units: i64,
    windows: Windows,
    found: Vec<Found>,
}

impl Search {
    fn root(&self, op: OpRef<'_>, slice: Value) -> Option<Root> {
        self.roots.get(&view_of(op, slice)?).copied()
    }

    fn block(&mut self, block: BlockRef<'_>, stored: &mut Vec<Stored>) {
        for op in block.ops() {
            if let Some(store) = op.as_::<StoreOp<'_>>() {
                let Some(root) = self.root(op, store.slice()) else {
                    stored.clear();
                    continue;
                };
                stored.retain(|s| s.root != root);
                if root.is_private(self.units) && self.windows.gives(store.tile(), store.slice()) {
                    stored.push(Stored { root, slice: store.slice(), tile: store.tile() });
                }
            } else if let Some(copy) = op.as_::<AsyncCopyOp<'_>>() {
                let root = self.root(op, copy.to());
                stored.retain(|s| root.is_some_and(|root| s.root != root));
            } else if let Some(load) = op.as_::<LoadOp<'_>>() {
                if let Some(tile) = self.known(op, load, stored) {
                    self.found.push(Found { load: op.op, tile });
                }
            } else if op.is::<IntrinsicOp<'_>>() {
                if op.operands().any(|v| view_of(op, v).is_some() || self.roots.contains_key(&v)) {
                    stored.clear();
                }
            } else if is_loop(op) {
                self.loop_(op, stored);
            }
        }
    }

    /// What the loop writes is unknown in it, for a trip before may have written it, and behind it.
    fn loop_(&mut self, op: OpRef<'_>, stored: &mut Vec<Stored>) {
        let Some(entry) = op.region(0).and_then(|r| r.entry()) else { return };
        let (mut written, mut anything) = (Vec::new(), false);
        op.walk(&mut |inner| {
            let store = inner.as_::<StoreOp<'_>>().map(|store| store.slice());
            if let Some(slice) = store.or_else(|| Some(inner.as_::<AsyncCopyOp<'_>>()?.to())) {
                match self.root(inner, slice) {
                    Some(root) => written.push(root),
                    None => anything = true,
                }
            }
            anything |= inner.is::<IntrinsicOp<'_>>() && inner.operands().any(|v| self.roots.contains_key(&v));
        });
        stored.retain(|s| !anything && !written.contains(&s.root));
        self.block(entry, &mut stored.clone());
    }

    /// The tile that a load would bring.
    fn known(&self, op: OpRef<'_>, load: LoadOp<'_>, stored: &[Stored]) -> Option<Value> {
        let root = self.root(op, load.slice())?;
        let stored = stored.iter().find(|s| s.root == root)?;
        if !self.windows.same_place(stored.slice, load.slice()) {
            return None;
        }
        // Padding changes nothing where all of the window exists.
        if load.pad().is_some() && !self.windows.is_whole(load.slice()) {
            return None;
        }
        let tile = |v: Value| op.cx.type_as::<TileType>(op.ty(v));
        let (from, to) = (tile(stored.tile)?, tile(load.tile())?);
        let shapes = (from.elem, &from.rows, &from.cols) == (to.elem, &to.rows, &to.cols);
        let memory = self.windows.space_of(load.slice())?;
        // A tile that lies where the memory does is a window of it: kept in a place of its own it would take more of the space.
        if to.space == memory {
            return None;
        }
        // A move costs what the load cost if the tile lies where the memory did, and less if it lies nearer.
        let near = from.space == to.space || from.space == memory;
        (shapes && near).then_some(stored.tile)
    }
}

/// True for what reads memory.
pub(super) fn reads(op: OpRef<'_>) -> bool {
    op.is::<LoadOp<'_>>() || op.is::<GatherRowsOp<'_>>() || op.is::<IntrinsicOp<'_>>()
}

/// True for what accesses memory, or orders accesses.
pub(super) fn accesses(op: OpRef<'_>) -> bool {
    let copies = op.is::<AsyncCopyOp<'_>>() || op.is::<AsyncWaitOp<'_>>();
    reads(op) || copies || op.is::<StoreOp<'_>>() || op.is::<HomeOp<'_>>() || op.is::<SyncOp<'_>>()
}

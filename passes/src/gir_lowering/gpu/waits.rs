//! When the threads of a block wait for each other: between what some write of memory that the kernel changes, and what others
//! read of it.
//!
//! Where a group has several units its text orders them by `gir.sync`; threads of one unit wait where the lowering finds it.

use std::collections::HashMap;

use rustc_hash::FxHashSet;
use sutura_dialects::gir::kernel::Mode;
use sutura_dialects::gir::ops::{AsyncCopyOp, AsyncWaitOp, ForOp, LoadOp, SliceOp, StoreOp, SyncOp};
use sutura_dialects::gir::types::{SliceType, ViewType};
use sutura_ir::{Op, OpRef, OpView, Value};

use super::sweep::Kept;
use crate::gir_lowering::kernel::{Held, Lowering};

/// What has been done to memory that the kernel changes, since the threads of a block last waited for each other.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::gir_lowering) struct Touched {
    pub(in crate::gir_lowering) written: bool,
    pub(in crate::gir_lowering) read: bool,
}

impl Touched {
    /// Whatever may be.
    pub(in crate::gir_lowering) const ALL: Self = Self { written: true, read: true };
    const NONE: Self = Self { written: false, read: false };

    fn or(self, other: Self) -> Self {
        Self { written: self.written || other.written, read: self.read || other.read }
    }
}

impl<'a> Lowering<'a, '_> {
    /// A loop begins, in which memory is touched like this: its first operations follow the last iteration's.
    pub(in crate::gir_lowering) fn enter_loop(&mut self, inside: Touched) {
        self.kept.enter();
        if let (Some(gpu), Some(spread)) = (&mut self.gpu, &mut self.e.spread) {
            (gpu.touched, spread.met) = (gpu.touched.or(inside), false);
        }
    }

    /// A loop ends, before which memory was touched like this: it may have made no trip.
    pub(in crate::gir_lowering) fn leave_loop(&mut self, before: Touched) {
        self.kept.leave();
        if let (Some(gpu), Some(spread)) = (&mut self.gpu, &mut self.e.spread) {
            (gpu.touched, spread.met) = (gpu.touched.or(before), false);
        }
    }

    /// Before a loop of the kernel: what happened before it is waited for once, not in each trip, where a trip leaves nothing of
    /// that kind to the next. Returns what has been touched before the loop, and what a trip leaves.
    pub(in crate::gir_lowering) fn before_loop(&mut self, this: &ForOp<'a>) -> (Touched, Touched) {
        let Some(gpu) = self.gpu else { return (Touched::NONE, Touched::NONE) };
        let (inside, left) = self.touched_in(this.op_ref());
        let read = gpu.touched.written && inside.read && !left.written;
        let written = gpu.touched.read && inside.written && !left.read;
        if read || written {
            self.wait();
        }
        (self.gpu.expect("it is one").touched, left)
    }

    /// What a loop touches, and what is left of it where all units have waited for each other meanwhile. A tile in a cache may
    /// be read behind that, where it is needed.
    fn touched_in(&self, op: OpRef<'a>) -> (Touched, Touched) {
        let (mut all, mut left, mut late) = (Touched::NONE, Touched::NONE, false);
        let entry = op.region(0).and_then(|region| region.entry());
        for inner in entry.into_iter().flat_map(|block| block.ops()) {
            if inner.is::<ForOp>() {
                let (of_loop, left_by_it) = self.touched_in(inner);
                (all, left) = (all.or(of_loop), left.or(left_by_it));
            } else if inner.is::<SyncOp>() && self.kernel.units > 1 {
                left = Touched { written: false, read: late };
            }
            let load = inner.as_::<LoadOp>().filter(|load| self.changes(load.slice()));
            let read = load.is_some();
            late |= load.is_some_and(|load| !self.machine.in_registers(self.tile_type(inner, load.tile())));
            let written = inner.as_::<StoreOp>().is_some_and(|store| self.changes(store.slice()));
            let written = written || inner.is::<AsyncCopyOp>() || inner.is::<AsyncWaitOp>();
            let own = Touched { written, read };
            (all, left) = (all.or(own), left.or(own));
        }
        (all, left)
    }

    /// A loop begins, which may have more trips for some units of a group than for others. Returns what was so before.
    pub(in crate::gir_lowering) fn enter_uneven(&mut self, index: Value) -> bool {
        let by_unit = self.kernel.unit.is_some_and(|unit| self.trips_depend_on(index, unit));
        let Some(spread) = &mut self.e.spread else { return false };
        let before = spread.uneven;
        spread.uneven |= by_unit;
        before
    }

    /// A loop over the vectors of a row begins, of which units may have differently many. Returns what was so before.
    pub(super) fn enter_scan(&mut self) -> bool {
        let Some(spread) = &mut self.e.spread else { return false };
        let before = spread.uneven;
        spread.uneven |= self.kernel.units > 1;
        before
    }

    pub(in crate::gir_lowering) fn leave_uneven(&mut self, before: bool) {
        if let Some(spread) = &mut self.e.spread {
            spread.uneven = before;
        }
    }

    fn trips_depend_on(&mut self, index: Value, unit: Value) -> bool {
        let (Some(index), Some(unit)) = (self.bounds.expr(index), self.bounds.expr(unit)) else { return true };
        self.bounds.differs_by_unit(&index, &unit)
    }

    /// Whether a slice is one of memory that the kernel reads and writes.
    pub(in crate::gir_lowering) fn changes(&self, slice: Value) -> bool {
        self.kernel.mode_of(slice).is_none_or(|mode| mode == Mode::InOut)
    }

    /// A copy of the body begins.
    pub(in crate::gir_lowering) fn begin_copy(&mut self, outside: &HashMap<Value, Held>, done: &FxHashSet<Op>) {
        self.held.clone_from(outside);
        self.done.clone_from(done);
        self.existing.clear();
        self.kept = Kept::default();
        self.enter_loop(Touched::ALL);
    }

    /// All threads of the block wait for each other.
    pub(in crate::gir_lowering) fn wait(&mut self) {
        self.e.barrier();
        let read = self.reads_later();
        if let Some(gpu) = &mut self.gpu {
            gpu.touched = Touched { written: false, read };
        }
    }

    /// Whether what has been loaded of memory that the kernel changes is still to be read: tiles in a cache are read where they
    /// are needed.
    fn reads_later(&self) -> bool {
        let op = self.kernel.op;
        self.held.iter().any(|(value, held)| {
            let Held::Strip(id) = held else { return false };
            let needed = op.inside().uses(*value).any(|user| !self.done.contains(&user.owner));
            let loads = self.strips.reachable(*id).into_iter().filter_map(|id| self.strips.nodes[id].origin());
            needed && loads.into_iter().any(|origin| self.changes(origin.slice))
        })
    }

    /// Memory that the kernel writes is read: by then all threads have written what they had to.
    pub(in crate::gir_lowering) fn before_reading_writable(&mut self) {
        let Some(gpu) = self.gpu else { return };
        if gpu.touched.written {
            self.wait();
        }
        self.gpu.as_mut().expect("it is one").touched.read = true;
    }

    /// A loop over columns begins: where its columns may be other threads' than those of the loop before, which keep rows in the
    /// block's memory, these are done with them.
    pub(in crate::gir_lowering) fn before_columns(&mut self) {
        if self.gpu.is_some_and(|gpu| gpu.moves && gpu.units == 1) {
            self.e.barrier();
        }
    }

    /// Whether columns may lie before a view.
    pub(super) fn windows_begin_late(&mut self) -> bool {
        let (body, cx) = (self.kernel.op.inside(), self.kernel.op.cx);
        body.preorder().any(|op| {
            let Some(slice) = OpRef::new(cx, body, op).as_::<SliceOp>() else { return false };
            let ty: Option<&SliceType> = cx.type_as(body.ty(slice.slice()));
            let view: Option<&ViewType> = cx.type_as(body.ty(slice.view()));
            let (Some(ty), Some(view), Some(col)) = (ty, view, slice.col_dim()) else { return false };
            let offset = slice.offsets().nth(col as usize).expect("verified");
            self.open_ends(offset, &view.dims[col as usize], &ty.cols, slice.col_step()).0
        })
    }

    /// Memory is written: by then all threads have read what was there before.
    pub(in crate::gir_lowering) fn before_storing(&mut self, named: Value) {
        let Some(gpu) = self.gpu else { return };
        if self.changes(named) {
            if gpu.touched.read {
                self.wait();
            }
            self.gpu.as_mut().expect("it is one").touched.written = true;
        }
    }

    /// A copy to memory begins: by then all threads have read what was there before, and written it.
    pub(in crate::gir_lowering) fn before_copying(&mut self, named: Value) {
        if self.changes(named) && self.gpu.is_some_and(|gpu| gpu.touched.read || gpu.touched.written) {
            self.wait();
        }
    }

    /// Memory that the kernel changes has been written.
    pub(in crate::gir_lowering) fn has_written(&mut self) {
        if let Some(gpu) = &mut self.gpu {
            gpu.touched.written = true;
        }
    }

    /// False at run time in a unit that has no group, which computes what another does and stores nothing.
    pub(in crate::gir_lowering) fn alive(&self) -> Option<Value> {
        self.gpu.and_then(|gpu| gpu.alive)
    }
}

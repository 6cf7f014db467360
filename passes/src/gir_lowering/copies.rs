//! Asynchronous copies: plain ones where the machine has no others.

use sutura_dialects::gir::ops::{AsyncCommitOp, AsyncCopyOp, AsyncWaitOp, KernelOp, LoadOp, StoreOp};
use sutura_dialects::gir::types::{SliceType, TileType};
use sutura_ir::{Attr, Body, Context, Op, OpRef, OpView, Rewriter, Type};

use super::kernel::{Lowered, Lowering};
use super::machine::Machine;
use super::memory::SliceVal;

/// Puts a load and a store in the place of each copy that is none of the machine's: those whose extents are not constant, or all.
/// They are done where a copy begins; the verifier has proved that nobody touches the memory until it would end.
pub(super) fn plain_copies(cx: &Context, module: &mut Body, machine: &Machine) {
    let is_kernel = |op: &Op| OpRef::new(cx, module, *op).is::<KernelOp<'_>>();
    let kernels: Vec<Op> = module.preorder().filter(is_kernel).collect();
    for kernel in kernels {
        let Some(body) = module.nested_mut(kernel) else { continue };
        let ops: Vec<Op> = body.preorder().collect();
        let mut rewriter = Rewriter::new(cx, body);
        for op in ops {
            let view = rewriter.op_ref(op);
            let waits = view.is::<AsyncCommitOp<'_>>() || view.is::<AsyncWaitOp<'_>>();
            if waits && !machine.async_copy {
                rewriter.erase_op(op);
            } else if let Some((tile, pad)) = plain_copy(view, machine) {
                let (from, to, loc) = (view.operand(0), view.operand(1), view.loc());
                rewriter.set_before(op);
                let tile = LoadOp::value(&mut rewriter, loc, from, pad, tile);
                StoreOp::build(&mut rewriter, loc, tile, to);
                rewriter.erase_op(op);
            }
        }
    }
}

/// The tile that a plain copy goes through, and what is put where nothing exists; `None` for what the machine copies.
fn plain_copy(op: OpRef<'_>, machine: &Machine) -> Option<(Type, Option<Attr>)> {
    let copy = op.as_::<AsyncCopyOp<'_>>()?;
    let to: &SliceType = op.cx.type_as(op.ty(copy.to()))?;
    let constant = to.rows.as_const().is_some() && to.cols.as_const().is_some();
    if constant && machine.async_copy {
        return None;
    }
    let space = if constant { machine.register_space().into() } else { to.space.clone() };
    let tile = TileType { space, elem: to.elem, rows: to.rows.clone(), cols: to.cols.clone() };
    Some((op.cx.ext_type(tile), copy.zeros().then(|| zero(op.cx, to.elem))))
}

fn zero(cx: &Context, elem: Type) -> Attr {
    if elem.is_float(cx) { cx.float_attr(0.0, elem) } else { cx.int_attr(0, elem) }
}

impl<'a> Lowering<'a, '_> {
    /// A copy of constant extents: threads begin to copy vectors, or move them at once where they are not what the machine copies.
    pub(super) fn async_copy_op(&mut self, this: &AsyncCopyOp<'a>) -> Lowered<'a, ()> {
        let op = this.op_ref();
        let (from, mut to) = (self.held_slice(op, this.from())?, self.held_slice(op, this.to())?);
        let ty: &SliceType = op.cx.type_as(op.ty(this.to())).expect("the declaration says a slice");
        let (Some(rows), Some(cols)) = (ty.rows.as_const(), ty.cols.as_const()) else {
            return self.fail(op, "copies asynchronously what has no constant extents");
        };
        self.flush(op)?;
        self.before_copying(this.to());
        self.writes_to(op, &to)?;
        let (zeros, alive) = (this.zeros(), self.alive());
        if let Some(lanes) = self.e.lanes_of_copies((&from, &to), cols).filter(|_| alive.is_none()) {
            let begun = self.e.with_lanes(lanes, |e| e.begin_copies((&from, &to), (rows, cols), zeros));
            return self.at(op, begun);
        }
        if !zeros {
            to.row.window = self.meet(from.row.window, to.row.window);
            to.col.window = self.meet(from.col.window, to.col.window);
        }
        let exists = [to.exists, alive, from.exists.filter(|_| !zeros)].into_iter().flatten();
        let exists = exists.fold(None, |all, exists| Some(self.e.both(all, exists)));
        let lanes = self.e.lanes_of_columns(cols);
        let moved = self.e.with_lanes(lanes, |e| {
            let mut tile = e.load_tile(&from, rows, cols, cols == 1)?;
            if zeros {
                tile = e.pad_tile(&tile, from.exists, zero(op.cx, ty.elem));
            }
            e.store_tile(&tile, &SliceVal { exists, ..to.clone() })
        });
        self.has_written();
        self.at(op, moved)
    }

    pub(super) fn async_commit_op(&mut self) -> Lowered<'a, ()> {
        self.e.op("nvvm.cp.async.commit.group", &[], &[], &[]);
        Ok(())
    }

    /// A thread waits for its own copies; what others of its unit have copied is there when these have met.
    pub(super) fn async_wait_op(&mut self, this: &AsyncWaitOp<'a>) -> Lowered<'a, ()> {
        self.flush(this.op_ref())?;
        let pending = self.e.cx().int_attr(this.pending(), Type::I32);
        self.e.op("nvvm.cp.async.wait.group", &[], &[], &[("n", pending)]);
        self.has_written();
        Ok(())
    }
}

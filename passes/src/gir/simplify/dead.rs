//! Stores that nothing reads, memory that nothing uses, syncs that order nothing.

use std::collections::HashSet;

use sutura_dialects::gir::constraints::Scope;
use sutura_dialects::gir::kernel::KernelInfo;
use sutura_dialects::gir::ops::{AllocOp, AsyncCopyOp, IdentityOp, ReduceOp, SliceOp, StoreOp, SyncOp};
use sutura_ir::{Body, Context, Op, OpRef, Rewriter, Value};

use super::forward::{accesses, reads};
use super::{Root, each, is_loop, roots, view_of};

/// Removes allocations that nothing reads, with the stores to them. Returns how many stores and allocations went.
pub(super) fn stores(cx: &Context, module: &mut Body, kernel: Op) -> (u64, u64) {
    let (mut stores, mut rest, mut allocs) = (Vec::new(), Vec::new(), Vec::new());
    {
        let op = OpRef::new(cx, module, kernel);
        let Ok(info) = KernelInfo::read(op) else { return (0, 0) };
        let roots = roots(&info);
        let mut read: HashSet<Value> = HashSet::new();
        let own = |view: Value| match roots.get(&view) {
            Some(Root::Own(alloc, _)) => Some(*alloc),
            _ => None,
        };
        each(op, &mut |inner| {
            if reads(inner) {
                let views = inner.operands().map(|v| view_of(inner, v).unwrap_or(v));
                read.extend(views.filter_map(own));
            }
        });
        let unread = |view: Value| own(view).is_some_and(|alloc| !read.contains(&alloc));
        each(op, &mut |inner| {
            let store = inner.as_::<StoreOp<'_>>().map(|store| store.slice());
            if let Some(slice) = store.or_else(|| Some(inner.as_::<AsyncCopyOp<'_>>()?.to())) {
                if view_of(inner, slice).is_some_and(unread) {
                    stores.push(inner.op);
                }
            } else if inner.as_::<SliceOp<'_>>().is_some_and(|s| unread(s.view()))
                || inner.as_::<IdentityOp<'_>>().is_some_and(|i| unread(i.view()))
            {
                rest.push(inner.op);
            } else if inner.as_::<AllocOp<'_>>().is_some_and(|a| unread(a.view())) {
                allocs.push(inner.op);
            }
        });
    }
    let Some(body) = module.nested_mut(kernel) else { return (0, 0) };
    let mut rewriter = Rewriter::new(cx, body);
    // Users before what they use.
    stores.iter().chain(rest.iter().rev()).chain(&allocs).for_each(|op| rewriter.erase_op(*op));
    (stores.len() as u64, allocs.len() as u64)
}

/// Removes syncs that order nothing. Returns how many.
pub(super) fn syncs(cx: &Context, module: &mut Body, kernel: Op) -> u64 {
    let mut found = Vec::new();
    {
        let op = OpRef::new(cx, module, kernel);
        let Ok(info) = KernelInfo::read(op) else { return 0 };
        let roots = roots(&info);
        // Memory that one unit may write and another one read.
        let shared = roots.values().any(|root| match root {
            Root::Own(_, scope) => *scope == Scope::Group,
            Root::Param(_, mode) => *mode == sutura_dialects::gir::kernel::Mode::InOut,
        });
        let ordered = info.units > 1 && shared;
        each(op, &mut |inner| {
            if inner.is::<SyncOp<'_>>() && (!ordered || after_sync(inner)) {
                found.push(inner.op);
            }
        });
    }
    let Some(body) = module.nested_mut(kernel) else { return 0 };
    let mut rewriter = Rewriter::new(cx, body);
    found.iter().for_each(|op| rewriter.erase_op(*op));
    found.len() as u64
}

/// True when nothing accesses memory between the sync before, in the same block, and this one.
fn after_sync(sync: OpRef<'_>) -> bool {
    let mut before = sync.body.prev_op(sync.op);
    while let Some(op) = before {
        let view = sync.at(op);
        let group = view.as_::<ReduceOp<'_>>().is_some_and(|r| r.scope() == Scope::Group);
        if view.is::<SyncOp<'_>>() || group {
            return true;
        }
        if accesses(view) || is_loop(view) {
            return false;
        }
        before = sync.body.prev_op(op);
    }
    false
}

//! `gir-simplify`: rewrites that never raise a kernel's traffic, to a fixpoint.
//!
//! The order is that of the spaces, dram before memory on the chip before registers: a rewrite lowers the first in which
//! it changes anything. So they need no search, and reach a fixpoint. This is our reading of IntelliGen's monotonic memory
//! optimization (arXiv 2307.04995). Equal loads are merged by `cse`, and what a loop does not change leaves it by
//! `loop-invariant-code-motion`: both know kernels by their effects.

mod dead;
mod forward;
mod share;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use sutura_dialects::gir::constraints::Scope;
use sutura_dialects::gir::kernel::{KernelInfo, Mode};
use sutura_dialects::gir::ops::{AllocOp, ForOp, IdentityOp, KernelOp, SliceOp};
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::pass::{Anchor, Pass, PassInfo, PassOptions, PassResult, PassRun, StatisticInfo};
use sutura_ir::{Body, Context, Op, OpRef, Value};

/// `gir-simplify`
pub static GIR_SIMPLIFY: PassInfo = PassInfo {
    name: "GirSimplify",
    argument: "gir-simplify",
    summary: "Forward stores to loads, drop dead stores and syncs, and share buffers in gir kernels",
    description: "Rewrites each `gir.kernel` until nothing changes: a load of what was just stored takes the tile itself; \
                  stores to memory of the kernel's own that nothing reads go, with the memory; a `gir.sync` that orders \
                  nothing goes; allocations of one type that are not used at the same time become one. None raises the \
                  bytes moved in any space without lowering a more expensive one.",
    anchor: Anchor::Op("builtin.module"),
    options: &[],
    statistics: &[
        StatisticInfo { name: "num-forwarded", description: "loads that took the tile that was stored" },
        StatisticInfo { name: "num-stores", description: "dead stores removed" },
        StatisticInfo { name: "num-allocs", description: "allocations removed" },
        StatisticInfo { name: "num-syncs", description: "syncs removed" },
        StatisticInfo { name: "num-shared", description: "allocations that took the place of another one" },
    ],
    create,
};

struct GirSimplify;

fn create(_: &PassOptions) -> Result<Box<dyn Pass>, String> {
    Ok(Box::new(GirSimplify))
}

/// How often each rewrite was applied.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Done {
    forwarded: u64,
    stores: u64,
    allocs: u64,
    syncs: u64,
    shared: u64,
}

impl Done {
    fn counts(self) -> [(&'static str, u64); 5] {
        [
            ("num-forwarded", self.forwarded),
            ("num-stores", self.stores),
            ("num-allocs", self.allocs),
            ("num-syncs", self.syncs),
            ("num-shared", self.shared),
        ]
    }

    fn words(self) -> String {
        let words = [
            (self.forwarded, "loads took what was stored"),
            (self.stores, "dead stores went"),
            (self.allocs, "unused allocations went"),
            (self.syncs, "syncs that order nothing went"),
            (self.shared, "allocations share memory with another one"),
        ];
        let words: Vec<String> = words.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}")).collect();
        words.join(", ")
    }
}

impl Pass for GirSimplify {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let cx = run.cx;
        let is_kernel = |op: &Op| OpRef::new(cx, run.body, *op).is::<KernelOp<'_>>();
        let kernels: Vec<Op> = run.body.preorder().filter(is_kernel).collect();
        let mut changed = false;
        for kernel in kernels {
            let done = simplify(cx, run.body, kernel);
            if done == Done::default() {
                continue;
            }
            changed = true;
            let name = OpRef::new(cx, run.body, kernel).symbol_name().unwrap_or("?").to_owned();
            run.passed(run.body.loc(kernel), format!("@{name}: {}", done.words()));
            done.counts().into_iter().for_each(|(name, n)| run.count(name, n));
        }
        Ok(PreservedAnalyses::unless(changed))
    }
}

/// Rewrites a kernel to the fixpoint. Each round removes at least one operation, so it ends.
fn simplify(cx: &Context, module: &mut Body, kernel: Op) -> Done {
    let mut done = Done::default();
    loop {
        let before = done;
        done.forwarded += forward::forward(cx, module, kernel);
        let (stores, allocs) = dead::stores(cx, module, kernel);
        (done.stores, done.allocs) = (done.stores + stores, done.allocs + allocs);
        done.syncs += dead::syncs(cx, module, kernel);
        if done == before {
            break;
        }
    }
    // Last: what shares memory is harder to see through.
    done.shared = share::share(cx, module, kernel);
    done
}

/// Where memory comes from.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Root {
    /// A view of the kernel.
    Param(Value, Mode),
    /// An allocation, of a unit or of all units of the group.
    Own(Value, Scope),
}

impl Root {
    /// True when only one unit accesses the memory.
    fn is_private(self, units: i64) -> bool {
        matches!(self, Self::Own(_, scope) if scope == Scope::Unit || units == 1)
    }
}

/// Roots of all views of a kernel.
fn roots<'a>(info: &KernelInfo<'a>) -> HashMap<Value, Root> {
    let mut roots: HashMap<Value, Root> =
        info.views.iter().map(|(view, _, mode)| (*view, Root::Param(*view, *mode))).collect();
    each(info.op, &mut |op| {
        if let Some(alloc) = op.as_::<AllocOp<'_>>() {
            roots.insert(alloc.view(), Root::Own(alloc.view(), alloc.owner()));
        } else if let Some(identity) = op.as_::<IdentityOp<'_>>()
            && let Some(root) = roots.get(&identity.view()).copied()
        {
            roots.insert(identity.result(), root);
        }
    });
    roots
}

/// Calls `f` for each operation of a kernel, in order.
fn each<'a>(kernel: OpRef<'a>, f: &mut dyn FnMut(OpRef<'a>)) {
    let inside = kernel.inside();
    inside.preorder().for_each(|op| f(OpRef::new(kernel.cx, inside, op)));
}

/// The view that a slice is of.
fn view_of(op: OpRef<'_>, slice: Value) -> Option<Value> {
    let def = op.body.defining_op(slice)?;
    op.at(def).as_::<SliceOp<'_>>().map(|s| s.view())
}

/// True for a loop, which runs what lies in it any number of times.
fn is_loop(op: OpRef<'_>) -> bool {
    op.is::<ForOp<'_>>()
}

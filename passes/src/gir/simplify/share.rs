//! Allocations of one type that are not used at the same time become one.

use std::collections::HashMap;

use sutura_dialects::gir::constraints::Scope;
use sutura_dialects::gir::kernel::KernelInfo;
use sutura_dialects::gir::ops::{AllocOp, AsyncCopyOp};
use sutura_ir::{Body, Context, Op, OpRef, Rewriter, Type, Value};

use super::{Root, each, roots};

/// An allocation, and the first and last statement of the kernel's body that uses it.
struct Use {
    op: Op,
    view: Value,
    ty: Type,
    first: usize,
    last: usize,
}

/// Puts later allocations into the memory of earlier ones. Returns how many.
pub(super) fn share(cx: &Context, module: &mut Body, kernel: Op) -> u64 {
    let uses = {
        let op = OpRef::new(cx, module, kernel);
        let Ok(info) = KernelInfo::read(op) else { return 0 };
        uses(&info)
    };
    let Some(body) = module.nested_mut(kernel) else { return 0 };
    let mut rewriter = Rewriter::new(cx, body);
    let mut shared = 0;
    // Memory that is handed on: the allocation that stays, and the last statement that uses it.
    let mut free: Vec<(Value, Type, usize)> = Vec::new();
    for Use { op, view, ty, first, last } in uses {
        match free.iter_mut().find(|(_, other, end)| *other == ty && *end < first) {
            Some((kept, _, end)) => {
                rewriter.replace_op(op, &[*kept]);
                *end = last;
                shared += 1;
            }
            None => free.push((view, ty, last)),
        }
    }
    shared
}

/// Allocations that one unit has to itself, in the order of their first use. What is copied to asynchronously is written when
/// the unit waits, which no use tells.
fn uses(info: &KernelInfo<'_>) -> Vec<Use> {
    let roots = roots(info);
    let inside = info.op.inside();
    let Some(entry) = inside.entry_block() else { return Vec::new() };
    let statements: HashMap<Op, usize> = inside.ops(entry).enumerate().map(|(i, op)| (op, i)).collect();
    let mut uses: Vec<Use> = Vec::new();
    let mut spans: HashMap<Value, (usize, usize)> = HashMap::new();
    let (mut at, mut copied) = (0, Vec::new());
    each(info.op, &mut |op| {
        copied.extend(op.as_::<AsyncCopyOp<'_>>().and_then(|copy| memory_of(op, copy.to(), &roots)));
        at = statements.get(&op.op).copied().unwrap_or(at);
        for value in op.operands() {
            // Uses of slices of a view are uses of the view: they are found by what they are made from.
            if let Some(alloc) = memory_of(op, value, &roots) {
                let span = spans.entry(alloc).or_insert((at, at));
                span.1 = at;
            }
        }
    });
    each(info.op, &mut |op| {
        let Some(alloc) = op.as_::<AllocOp<'_>>() else { return };
        let private = (alloc.owner() == Scope::Unit || info.units == 1) && !copied.contains(&alloc.view());
        if let Some((first, last)) = spans.get(&alloc.view()).copied().filter(|_| private) {
            uses.push(Use { op: op.op, view: alloc.view(), ty: inside.ty(alloc.view()), first, last });
        }
    });
    // The one that stays must be defined before the others are used: the order of the text.
    uses.sort_by_key(|u| u.first);
    uses
}

/// The allocation behind a view or a slice.
fn memory_of(op: OpRef<'_>, value: Value, roots: &HashMap<Value, Root>) -> Option<Value> {
    let view = super::view_of(op, value).unwrap_or(value);
    match roots.get(&view)? {
        Root::Own(alloc, _) => Some(*alloc),
        Root::Param(..) => None,
    }
}

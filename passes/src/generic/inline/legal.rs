//! Whether a call may be replaced by the callable's body.

use sutura_ir::interfaces::{CallOp, CallableOp, Inliner, LoopLike, PromotableAllocation};
use sutura_ir::{Context, OpRef, Region, Traits};

/// Why `call` may not be replaced by the body of `callable`; `None` when it may.
pub(super) fn why_not(call: OpRef<'_>, callable: OpRef<'_>) -> Option<String> {
    check(call, callable).err()
}

/// Whether the callable's ops are others where the call stands.
pub(super) fn adapts(call: OpRef<'_>, callable: OpRef<'_>) -> bool {
    inliner(call.cx, call).is_ok_and(|hooks| hooks.adapts(call, callable))
}

fn inliner(cx: &Context, op: OpRef<'_>) -> Result<&'static dyn Inliner, String> {
    let dialect = op.name().dialect(cx);
    let hooks = cx.registry().dialect(dialect).and_then(|d| d.interface::<dyn Inliner>());
    hooks.ok_or_else(|| format!("dialect '{dialect}' of '{}' does not take part in inlining", op.name_str()))
}

fn check(call: OpRef<'_>, callable: OpRef<'_>) -> Result<(), String> {
    let cx = call.cx;
    inliner(cx, call)?.may_inline_call(call, callable)?;
    let region = callable.interface::<dyn CallableOp>().and_then(|c| callable.region(c.callable_region(callable)?));
    let region = region.ok_or("the callee has no body here")?;
    if adapts(call, callable) {
        inliner(cx, call)?.may_adapt(call, callable)?;
    } else {
        check_signature(call, callable, region.region)?;
    }
    let multiple = region.body.next_block(region.entry().expect("it has a body").block).is_some();
    if multiple {
        check_several_blocks(call)?;
    }
    // Looked for only where it matters: it takes as long as the caller has blocks.
    let mut known = None;
    let mut repeated = || *known.get_or_insert_with(|| runs_repeatedly(call));
    for block in region.blocks() {
        for op in block.ops() {
            check_op(op, &mut repeated)?;
        }
        let Some(end) = block.terminator().filter(|t| t.successors().is_empty()) else { continue };
        if !end.has_trait(Traits::ReturnLike) {
            return Err(format!("'{}' does not return to the caller", end.name_str()));
        }
        if multiple && !inliner(cx, end)?.has_branch() {
            return Err(format!("'{}' cannot become a branch, which several blocks need", end.name_str()));
        }
    }
    Ok(())
}

/// What is passed and handed back has the types that arrive.
fn check_signature(call: OpRef<'_>, callable: OpRef<'_>, region: Region) -> Result<(), String> {
    let inside = callable.inside();
    let arguments = call.interface::<dyn CallOp>().expect("it is a call").arguments(call);
    let passed = arguments.map(|i| call.ty(call.operand(i)));
    let entry = inside.region_entry(region).ok_or("the callee has no body here")?;
    let taken = inside.block_args(entry).iter().map(|v| inside.ty(*v));
    if !passed.eq(taken) {
        return Err("the types of the arguments differ".to_string());
    }
    for op in inside.blocks(region).filter_map(|b| inside.last_op(b)) {
        let end = OpRef::new(call.cx, inside, op);
        if !end.has_trait(Traits::ReturnLike) {
            continue;
        }
        let handed: Vec<_> = inliner(call.cx, end)?.returned(end).into_iter().map(|v| inside.ty(v)).collect();
        if !call.result_types().eq(handed.iter().copied()) {
            return Err("the types of the results differ".to_string());
        }
    }
    Ok(())
}

/// The region around the call must be allowed to have several blocks.
fn check_several_blocks(call: OpRef<'_>) -> Result<(), String> {
    let traits = match call.parent() {
        Some(parent) => {
            let def = parent.def().ok_or("the callee has several blocks, and what is around the call is not known")?;
            def.traits
        }
        // The caller itself: it is no symbol table, for it has a body of its own.
        None => Traits::NONE,
    };
    if traits.has(Traits::SingleBlock) || traits.has(Traits::GraphRegion) || traits.has(Traits::NoTerminator) {
        return Err("the callee has several blocks, and the region around the call has one".to_string());
    }
    Ok(())
}

/// The op, and all in it, may be copied. Memory on the stack lives until the function returns: in a loop it would pile up.
fn check_op(op: OpRef<'_>, repeated: &mut dyn FnMut() -> bool) -> Result<(), String> {
    let mut result = Ok(());
    op.walk(&mut |op| {
        if result.is_err() {
            return;
        }
        result = inliner(op.cx, op).and_then(|i| i.may_inline_op(op));
        if result.is_ok() && op.interface::<dyn PromotableAllocation>().is_some() && repeated() {
            result = Err("it allocates on the stack, and the call is in a loop".to_string());
        }
    });
    result
}

/// True when the call may be executed several times while the caller is executed once.
fn runs_repeatedly(call: OpRef<'_>) -> bool {
    let mut at = Some(call);
    while let Some(op) = at {
        if op.interface::<dyn LoopLike>().is_some() || is_in_cycle(op) {
            return true;
        }
        at = op.parent();
    }
    false
}

fn is_in_cycle(op: OpRef<'_>) -> bool {
    let Some(block) = op.body.op_block(op.op) else { return false };
    let mut seen = vec![false; op.body.block_slots()];
    let mut pending = op.body.block_successors(block).to_vec();
    while let Some(at) = pending.pop() {
        if at == block {
            return true;
        }
        if !std::mem::replace(&mut seen[at.index()], true) {
            pending.extend_from_slice(op.body.block_successors(at));
        }
    }
    false
}

//! Regions and blocks: shape, terminators, successors, dominance, symbols of a table.

use rustc_hash::FxHashMap;

use super::Report;
use crate::body::{Block, Op, Value, ValueKind};
use crate::diagnostics::{Diagnostic, codes};
use crate::interfaces::BranchOp;
use crate::op_def::{OpDef, Traits};
use crate::op_ref::OpRef;
use crate::symbols::symbol_ident;

/// Shape of the regions of `op`, before what they hold is looked at.
pub(super) fn verify_regions(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let inside = op.inside();
    for (index, region) in op.regions().enumerate() {
        let Some(entry) = region.entry() else { continue };
        // INV-21
        if op.has_trait(Traits::GraphRegion) && inside.next_block(entry.block).is_some() {
            return Err(op
                .error(format!("expects graph region #{index} to have 0 or 1 blocks"))
                .code(codes::REGION_SHAPE));
        }
        // INV-22: only blocks of the same region count; a branch from another one is reported at its place.
        let is_target = region.blocks().any(|b| inside.block_successors(b.block).contains(&entry.block));
        if is_target {
            let message = "entry block of region may not have predecessors";
            return Err(Diagnostic::error(op.loc(), message).code(codes::REGION_SHAPE));
        }
    }
    Ok(())
}

/// A block, apart from what its ops say of themselves.
pub(super) fn verify_block(owner: OpRef<'_>, block: Block, report: &mut Report) {
    let body = owner.inside();
    let parent = body.block_parent(block).map(|op| OpRef::new(owner.cx, body, op)).unwrap_or(owner);
    for &arg in body.block_args(block) {
        if let Err(reason) = owner.cx.verify_type(body.ty(arg)) {
            let message = format!("block argument of an invalid type: {reason}");
            report.error(Diagnostic::error(body.value_loc(arg), message).code(codes::PARAMS));
        }
    }
    let Some(last) = body.last_op(block) else {
        if !may_lack_terminator(parent, block) {
            // INV-23
            let message = "empty block: expect at least a terminator";
            report.error(Diagnostic::error(parent.loc(), message).code(codes::TERMINATOR));
        }
        return;
    };
    for op in body.ops(block) {
        // INV-24
        if op != last && !body.successors(op).is_empty() {
            let message = "operation with block successors must terminate its parent block";
            report.error(Diagnostic::error(body.loc(op), message).code(codes::TERMINATOR));
        }
    }
    let last = OpRef::new(owner.cx, body, last);
    for &successor in last.successors() {
        // INV-25
        if body.block_region(successor) != body.block_region(block) {
            report.error(last.error("branching to block of a different region").code(codes::BRANCH));
            return;
        }
    }
    if let Err(error) = verify_branch(last) {
        report.error(error.code(codes::BRANCH));
        return;
    }
    let might_terminate = last.def().is_none_or(|def| def.traits.has(Traits::Terminator));
    if !might_terminate && !may_lack_terminator(parent, block) {
        let message = format!("block with no terminator, has {}", crate::asm::print::generic_op_text(last));
        report.error(Diagnostic::error(last.loc(), message).code(codes::TERMINATOR));
    }
}

/// INV-27
fn verify_branch(op: OpRef<'_>) -> Result<(), Diagnostic> {
    let Some(branch) = op.interface::<dyn BranchOp>() else { return Ok(()) };
    for (i, &successor) in op.successors().iter().enumerate() {
        let passed = branch.successor_operands(op, i);
        let args = op.body.block_args(successor);
        let (count, expected) = (passed.len(), args.len());
        if count > expected {
            let message = format!("branch has {count} operands for successor #{i}, but target block has {expected}");
            return Err(op.error(message));
        }
        let arrive = &args[expected - count..];
        let differs = passed.zip(arrive).position(|(operand, arg)| op.ty(op.operand(operand)) != op.ty(*arg));
        if let Some(at) = differs {
            let message = format!("type mismatch for bb argument #{} of successor #{i}", expected - count + at);
            return Err(Diagnostic::error(op.loc(), message));
        }
    }
    Ok(())
}

/// INV-23: only the one block of a region may lack a terminator, and only where the op around says so or is unknown.
fn may_lack_terminator(parent: OpRef<'_>, block: Block) -> bool {
    let body = parent.inside();
    let alone = body.next_block(block).is_none() && body.prev_block(block).is_none();
    alone && parent.def().is_none_or(|def| def.traits.has(Traits::NoTerminator))
}

/// What needs the ops in the regions of `op` to be verified.
pub(super) fn verify_on_exit(op: OpRef<'_>, def: &OpDef) -> Result<(), Diagnostic> {
    if let Some(name) = def.implicit_terminator {
        verify_implicit_terminator(op, name).map_err(|e| e.code(codes::TERMINATOR))?;
    }
    if def.traits.has(Traits::SymbolTable) {
        verify_symbol_table(op).map_err(|e| e.or_code(codes::SYMBOL_FORM))?;
    }
    Ok(())
}

/// INV-26.
fn verify_implicit_terminator(op: OpRef<'_>, name: &str) -> Result<(), Diagnostic> {
    if op.has_trait(Traits::NoTerminator) {
        return Ok(());
    }
    for block in op.regions().filter_map(|r| r.entry()) {
        let Some(last) = block.body.last_op(block.block) else { continue };
        let found = block.body.name(last).as_str(op.cx);
        if found != name {
            let message = format!("expects regions to end with '{name}', found '{found}'");
            let note = format!("in custom textual format, the absence of terminator implies '{name}'");
            return Err(op.error(message).note(op.loc(), note));
        }
    }
    Ok(())
}

/// INV-40 and INV-41.
fn verify_symbol_table(table: OpRef<'_>) -> Result<(), Diagnostic> {
    let mut regions = table.regions();
    let (Some(region), None) = (regions.next(), regions.next()) else {
        return Err(table.error("Operations with a 'SymbolTable' must have exactly one region"));
    };
    let mut blocks = region.blocks();
    let (Some(block), None) = (blocks.next(), blocks.next()) else {
        return Err(table.error("Operations with a 'SymbolTable' must have exactly one block"));
    };
    let mut first = FxHashMap::default();
    for op in block.ops() {
        let Some(name) = symbol_ident(op) else { continue };
        if let Some(old) = first.insert(name, op.loc()) {
            let message = format!("redefinition of symbol named '{}'", table.cx.str(name));
            let error = Diagnostic::error(op.loc(), message).code(codes::REDEFINED_SYMBOL);
            return Err(error.note(old, "see existing symbol definition here"));
        }
    }
    Ok(())
}

/// The error for operand `index` of `op`, whose definition does not dominate it.
pub(super) fn dominance_error(owner: OpRef<'_>, op: Op, index: usize, value: Value) -> Diagnostic {
    let body = owner.inside();
    let error = Diagnostic::error(body.loc(op), format!("operand #{index} does not dominate this use"));
    let error = error.code(codes::DOMINANCE);
    let use_block = body.op_block(op);
    let use_region = use_block.and_then(|b| body.block_region(b));
    let block = body.value_block(value);
    let region = block.and_then(|b| body.block_region(b));
    let within = |outer, inner| match (outer, inner) {
        (Some(outer), Some(inner)) => body.is_region_within(outer, inner),
        _ => false,
    };
    let (in_parent, in_child) = (within(region, use_region), within(use_region, region));
    match body.value_kind(value) {
        ValueKind::Result(definition, _) => {
            let place = match () {
                () if block == use_block => "op in the same block",
                () if region == use_region => "op in the same region",
                () if in_parent => "op in a parent region",
                () if in_child => "op in a child region",
                () => "op is neither in a parent nor in a child region",
            };
            error.note(body.loc(definition), format!("operand defined here ({place})"))
        }
        ValueKind::Arg(block, _) => {
            let number = std::iter::successors(body.prev_block(block), |b| body.prev_block(*b)).count();
            let place = match () {
                () if region == use_region => "in the same region",
                () if in_parent => "in a parent region",
                () if in_child => "in a child region",
                () => "neither in a parent nor in a child region",
            };
            let loc = body.block_parent(block).map_or(owner.loc(), |op| body.loc(op));
            error.note(loc, format!("operand defined as a block argument (block #{number} {place})"))
        }
        ValueKind::Placeholder => error,
    }
}

//! What an op may do besides computing its results: the questions that dead code elimination, CSE and motion ask.

use smallvec::SmallVec;

use crate::body::{Block, Body, Op};
use crate::interfaces::{ConditionallySpeculatable, Effect, EffectKind, Effects, MemoryEffects, Speculatability};
use crate::op_def::Traits;
use crate::op_ref::OpRef;
use crate::symbols::symbol_ident;

/// All effects of `op` and, where it says so, of the ops in its regions; `None` when they are not known.
pub fn effects(op: OpRef<'_>) -> Option<Effects> {
    let mut all = Effects::new();
    let known = for_each_effect(op, &mut |_, effect| {
        all.push(effect);
        true
    });
    known.then_some(all)
}

/// True when executing `op` is not observable but through its results.
pub fn is_memory_effect_free(op: OpRef<'_>) -> bool {
    for_each_effect(op, &mut |_, _| false)
}

/// True when `op` may be executed where the program would not have executed it, as far as undefined behaviour and coming
/// to an end are concerned; its effects on memory are another question.
pub fn is_speculatable(op: OpRef<'_>) -> bool {
    let mut pending = vec![op];
    while let Some(op) = pending.pop() {
        let own = match op.interface::<dyn ConditionallySpeculatable>() {
            Some(interface) => interface.speculatability(op),
            None if op.has_trait(Traits::Pure) => Speculatability::Always,
            None => Speculatability::Never,
        };
        match own {
            Speculatability::Always => {}
            Speculatability::Never => return false,
            Speculatability::Recursively => {
                pending.extend(op.regions().flat_map(|r| r.blocks()).flat_map(|b| b.ops()));
            }
        }
    }
    true
}

/// True when `op` has no effect on memory and may be executed anywhere its operands are.
pub fn is_pure(op: OpRef<'_>) -> bool {
    is_memory_effect_free(op) && is_speculatable(op)
}

/// True when `op` may be erased once nothing uses its results: it neither ends a block nor defines a symbol, and only
/// reads memory or makes memory that it alone refers to.
pub fn would_be_trivially_dead(op: OpRef<'_>) -> bool {
    let traits = op.name().traits(op.cx);
    if traits.has(Traits::Terminator) || op.def().is_none() {
        return false;
    }
    if traits.has(Traits::Symbol) || symbol_ident_if_any(op) {
        return false;
    }
    for_each_effect(op, &mut |owner, effect| match effect.kind {
        EffectKind::Read => true,
        EffectKind::Allocate => effect.value.is_some_and(|v| owner.results().any(|r| r == v)),
        EffectKind::Free | EffectKind::Write => false,
    })
}

/// True when `op` can be erased as it stands.
pub fn is_trivially_dead(op: OpRef<'_>) -> bool {
    op.results().all(|r| op.body.is_unused(r)) && would_be_trivially_dead(op)
}

fn symbol_ident_if_any(op: OpRef<'_>) -> bool {
    // Only ops with regions or without results define symbols; the others need no look-up.
    op.num_results() == 0 && symbol_ident(op).is_some()
}

/// Calls `visit` with each effect until it returns false. False as well when an op's effects are not known. What lies in
/// regions is looked at from its end on, where what has effects mostly stands, and no further than needed.
pub(super) fn for_each_effect<'a>(op: OpRef<'a>, visit: &mut dyn FnMut(OpRef<'a>, Effect) -> bool) -> bool {
    // Ops that come next, each with those before it in its region, or alone.
    let mut pending: SmallVec<[OpRef<'a>; 8]> = SmallVec::new();
    let mut at = op;
    loop {
        let Some(info) = at.info() else { return false };
        let traits = info.def.traits;
        let recursive = traits.has(Traits::RecursiveMemoryEffects);
        if let Some(interface) = info.interface::<dyn MemoryEffects>() {
            if !interface.effects(at).into_iter().all(|effect| visit(at, effect)) {
                return false;
            }
        } else if !recursive && !traits.has(Traits::Pure) {
            return false;
        }
        if recursive {
            pending.extend(
                at.regions()
                    .filter_map(|region| last_of(region.body, region.body.region_last(region.region)))
                    .map(|(body, last)| OpRef::new(at.cx, body, last)),
            );
        }
        let Some(next) = pending.pop() else { return true };
        let before = next.body.prev_op(next.op).map(|op| (next.body, op));
        let before = before.or_else(|| {
            let block = next.body.op_block(next.op)?;
            last_of(next.body, next.body.prev_block(block))
        });
        pending.extend(before.map(|(body, op)| OpRef::new(next.cx, body, op)));
        at = next;
    }
}

/// The last op of a block, or of those before it.
fn last_of(body: &Body, mut block: Option<Block>) -> Option<(&Body, Op)> {
    loop {
        let here = block?;
        if let Some(op) = body.last_op(here) {
            return Some((body, op));
        }
        block = body.prev_block(here);
    }
}

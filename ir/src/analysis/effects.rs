//! What an op may do besides computing its results: the questions that dead code elimination, CSE and motion ask.

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

/// Calls `visit` with each effect until it returns false. False as well when an op's effects are not known.
pub(super) fn for_each_effect<'a>(op: OpRef<'a>, visit: &mut dyn FnMut(OpRef<'a>, Effect) -> bool) -> bool {
    let mut pending = vec![];
    let mut at = Some(op);
    while let Some(op) = at {
        let Some(info) = op.info() else { return false };
        let traits = info.def.traits;
        let recursive = traits.has(Traits::RecursiveMemoryEffects);
        if let Some(interface) = info.interface::<dyn MemoryEffects>() {
            if !interface.effects(op).into_iter().all(|effect| visit(op, effect)) {
                return false;
            }
        } else if !recursive && !traits.has(Traits::Pure) {
            return false;
        }
        if recursive {
            pending.extend(op.regions().flat_map(|r| r.blocks()).flat_map(|b| b.ops()));
        }
        at = pending.pop();
    }
    true
}

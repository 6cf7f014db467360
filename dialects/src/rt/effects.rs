//! Effects on memory.

use smallvec::smallvec;
use sutura_ir::OpRef;
use sutura_ir::interfaces::{Effect, EffectKind, Effects, MemoryEffects};

/// `rt.constant`: names memory that exists already; two with one value are still two entries of the artifact.
pub(super) struct ReadsConstant;
/// `rt.alloc`
pub(super) struct Allocates;
/// `rt.launch`: without the kernel's declaration at hand, every buffer may be read and written; `rt.expect`: it must stay
/// behind what writes the buffer, and is needed though it writes nothing; `rt.exchange`: what either holds is another thing then.
pub(super) struct ReadsAndWrites;
/// `rt.copy`
pub(super) struct Copies;

impl MemoryEffects for ReadsConstant {
    fn effects(&self, _: OpRef<'_>) -> Effects {
        Effects::new()
    }
}

impl MemoryEffects for Allocates {
    fn effects(&self, op: OpRef<'_>) -> Effects {
        smallvec![Effect { kind: EffectKind::Allocate, value: op.results().next() }]
    }
}

impl MemoryEffects for ReadsAndWrites {
    fn effects(&self, op: OpRef<'_>) -> Effects {
        let both = |value| [EffectKind::Read, EffectKind::Write].map(|kind| Effect { kind, value: Some(value) });
        op.operands().flat_map(both).collect()
    }
}

impl MemoryEffects for Copies {
    fn effects(&self, op: OpRef<'_>) -> Effects {
        let kinds = [EffectKind::Read, EffectKind::Write];
        op.operands().zip(kinds).map(|(value, kind)| Effect { kind, value: Some(value) }).collect()
    }
}

//! Memory effects that follow from an op's declaration: which group of values they are on.

use sutura_ir::interfaces::{DistinctObjects, Effect, EffectKind, Effects, MemoryEffects, ViewLike};
use sutura_ir::{OpRef, Value};

/// A declared group of operands or results.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Place {
    Operand(usize),
    Result(usize),
}

/// Effects on the first value of some groups; an absent value has none.
pub(crate) struct On(pub(crate) &'static [(EffectKind, Place)]);

impl MemoryEffects for On {
    fn effects(&self, op: OpRef<'_>) -> Effects {
        let value = |place| match place {
            Place::Operand(group) => op.operand_of(group),
            Place::Result(group) => op.result_of(group),
        };
        self.0.iter().filter_map(|(kind, place)| Some(Effect { kind: *kind, value: Some(value(*place)?) })).collect()
    }
}

/// Reads what its first operand group refers to.
pub(crate) const READS_FIRST: On = On(&[(EffectKind::Read, Place::Operand(0))]);

/// Writes what its second operand group refers to.
pub(crate) const WRITES_SECOND: On = On(&[(EffectKind::Write, Place::Operand(1))]);

/// Threads of a device meet there: it keeps its place among accesses, and no thread may skip or repeat it.
pub(crate) struct Meets;

impl MemoryEffects for Meets {
    fn effects(&self, _: OpRef<'_>) -> Effects {
        [EffectKind::Read, EffectKind::Write].map(|kind| Effect { kind, value: None }).into_iter().collect()
    }
}

/// A result that refers to the memory of the first operand, or to a part of it.
pub(crate) enum FirstOperand {
    Whole,
    Part,
}

impl ViewLike for FirstOperand {
    fn source(&self, op: OpRef<'_>) -> Value {
        op.operand(0)
    }

    fn is_whole(&self, _: OpRef<'_>) -> bool {
        matches!(self, Self::Whole)
    }
}

/// Results that do not overlap.
pub(crate) struct Distinct;

impl DistinctObjects for Distinct {}

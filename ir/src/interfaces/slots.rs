//! Memory that can become values: what the promotion of memory slots asks of ops.

use crate::body::Value;
use crate::builder::Builder;
use crate::op_ref::OpRef;
use crate::types::Type;

/// Memory that holds one value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct MemorySlot {
    /// The value that refers to the memory.
    pub pointer: Value,
    /// Type of what it holds.
    pub elem: Type,
}

/// An op that makes memory slots.
pub trait PromotableAllocation: Send + Sync {
    /// The slot it makes; `None` when what it makes is no single value.
    fn slot(&self, op: OpRef<'_>) -> Option<MemorySlot>;

    /// Makes what the slot holds before anything was stored, at the insertion point; `None` when there is no such value
    /// of the type.
    fn default_value(&self, b: &mut Builder<'_>, slot: MemorySlot) -> Option<Value>;
}

/// What an op does with a slot whose pointer it uses.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SlotUse {
    /// Its first result is what the slot holds.
    Load,
    /// The slot holds this value from here on.
    Store(Value),
    /// Nothing that matters once the slot is gone: it is erased.
    Drop,
}

/// An op that uses the pointer of a slot.
pub trait PromotableOp: Send + Sync {
    /// What it does.
    ///
    /// # Errors
    /// Says why the slot cannot be promoted because of this use.
    fn slot_use(&self, op: OpRef<'_>, slot: MemorySlot) -> Result<SlotUse, String>;
}

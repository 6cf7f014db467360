//! Interfaces: what generic code asks of an operation without knowing its dialect.
//!
//! A dialect implements one as a `static` value and attaches it to its ops when it registers.

use std::ops::Range;

use smallvec::SmallVec;

use crate::body::Value;
use crate::diagnostics::{Diagnostics, Reported};
use crate::op_ref::OpRef;
use crate::symbols::SymbolScope;

/// What an op does to memory.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum EffectKind {
    /// Makes memory that did not exist.
    Allocate,
    /// Ends the life of memory.
    Free,
    /// Depends on what memory holds.
    Read,
    /// Changes what memory holds.
    Write,
}

/// One effect, on the memory that a value refers to or, without one, on memory in general.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Effect {
    /// What happens.
    pub kind: EffectKind,
    /// An operand or result of the op.
    pub value: Option<Value>,
}

/// The effects of an op.
pub type Effects = SmallVec<[Effect; 2]>;

/// An op whose effects on memory are known. Ops with neither this, [`crate::Traits::Pure`] nor
/// [`crate::Traits::RecursiveMemoryEffects`] may do anything.
pub trait MemoryEffects: Send + Sync {
    /// All effects of the op itself; those of ops in its regions count only with
    /// [`crate::Traits::RecursiveMemoryEffects`].
    fn effects(&self, op: OpRef<'_>) -> Effects;
}

/// An op that refers to symbols.
pub trait SymbolUser: Send + Sync {
    /// Checks the references against what they name.
    ///
    /// # Errors
    /// After an error was reported.
    fn verify_symbol_uses(
        &self,
        op: OpRef<'_>,
        symbols: &SymbolScope<'_, '_>,
        diags: &mut Diagnostics,
    ) -> Result<(), Reported>;
}

/// A terminator that passes operands to the arguments of its successor blocks.
pub trait BranchOp: Send + Sync {
    /// The operands handed to successor `index`. They become its last arguments; the arguments before them are
    /// produced by the op itself.
    fn successor_operands(&self, op: OpRef<'_>, index: usize) -> Range<usize>;
}

//! Interfaces: what generic code asks of an operation without knowing its dialect.
//!
//! A dialect implements one as a `static` value and attaches it to its ops when it registers.

use std::borrow::Cow;
use std::ops::Range;

use smallvec::{SmallVec, smallvec};

use crate::attrs::NamedAttr;
use crate::body::Value;
use crate::context::Context;
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

/// An op that says how its results are called in custom form, where they have no name of their own.
pub trait ResultNames: Send + Sync {
    /// Names without `%`, each for the result at an index and those after it up to the next one that is named.
    fn names(&self, op: OpRef<'_>) -> SmallVec<[(usize, Cow<'static, str>); 1]>;
}

/// A name for all results together.
impl ResultNames for &'static str {
    fn names(&self, _: OpRef<'_>) -> SmallVec<[(usize, Cow<'static, str>); 1]> {
        smallvec![(0, Cow::Borrowed(*self))]
    }
}

/// An op whose custom form cannot tell the absence of an optional attribute from a value: that is always held then.
pub trait WrittenDefaults: Send + Sync {
    /// The attributes and the values that stand for their absence.
    fn defaults(&self, cx: &Context) -> Vec<NamedAttr>;
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

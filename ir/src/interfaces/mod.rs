//! Interfaces: what generic code asks of an operation without knowing its dialect.
//!
//! A dialect implements one as a `static` value and attaches it to its ops when it registers. Another crate may attach
//! one later, by the op's name: [`crate::Registry::attach_named`].

mod calls;
mod casts;
pub(crate) mod control_flow;
mod loops;
mod shapes;
mod slots;

use std::borrow::Cow;

use smallvec::{SmallVec, smallvec};

use crate::attrs::NamedAttr;
use crate::body::Value;
use crate::context::Context;
use crate::diagnostics::{Diagnostics, Reported};
use crate::op_ref::OpRef;
use crate::symbols::SymbolScope;
pub use calls::{CallOp, CallableOp, Callee, InlineCallables, Inliner};
pub use casts::CastLike;
pub use control_flow::{BranchOp, RegionBranchOp, RegionTarget, RegionTargets, target_values};
pub use loops::{LoopBounds, LoopLike, is_defined_outside};
pub use shapes::{DimSize, ReifyShapes};
pub use slots::{MemorySlot, PromotableAllocation, PromotableOp, SlotUse};

/// An op whose custom form cannot express everything that the op may hold. What it cannot express is printed in generic form.
pub trait CustomForm: Send + Sync {
    /// Whether the custom form expresses all of this op.
    fn says_all(&self, op: OpRef<'_>) -> bool;
}

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

/// How an op's regions stand in custom form, where that is not as usual.
pub trait RegionSyntax: Send + Sync {
    /// The one op of a region stands on the same line; its results are what the implicit terminator, which is left
    /// out, hands on.
    fn inline(&self) -> bool {
        false
    }

    /// The implicit terminator is written although it says nothing.
    fn writes_terminator(&self, _op: OpRef<'_>) -> bool {
        false
    }
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

/// An op whose result refers to (a part of) the memory that an operand refers to.
pub trait ViewLike: Send + Sync {
    /// The operand whose memory is looked at.
    fn source(&self, op: OpRef<'_>) -> Value;

    /// True when the result refers to all of that memory, whatever its shape.
    fn is_whole(&self, _op: OpRef<'_>) -> bool {
        false
    }
}

/// An op whose results refer to memory that does not overlap.
pub trait DistinctObjects: Send + Sync {}

/// Whether an op may be executed where the program would not have executed it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Speculatability {
    /// It has no undefined behaviour and always ends.
    Always,
    /// When all ops in its regions may be.
    Recursively,
    /// It must stay where it is.
    Never,
}

/// An op that may be executed speculatively under conditions; without this, an op may be if it is
/// [`crate::Traits::Pure`].
pub trait ConditionallySpeculatable: Send + Sync {
    /// Whether this op may be.
    fn speculatability(&self, op: OpRef<'_>) -> Speculatability;
}

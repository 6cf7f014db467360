//! How control goes on: between blocks, and between the regions of an op.

use std::ops::Range;

use smallvec::SmallVec;

use crate::attrs::Attr;
use crate::body::{Op, Value};
use crate::op_ref::OpRef;
use crate::rewriter::Rewriter;

/// A terminator that passes operands to the arguments of its successor blocks.
pub trait BranchOp: Send + Sync {
    /// The operands handed to successor `index`. They become its last arguments; the arguments before them are
    /// produced by the op itself.
    fn successor_operands(&self, op: OpRef<'_>, index: usize) -> Range<usize>;

    /// Hands other values to successor `index`. Those handed to other successors stay.
    fn set_successor_operands(&self, rw: &mut Rewriter<'_>, op: Op, index: usize, values: &[Value]);

    /// The successor that is taken when operands have the given constant values; `None` when they do not tell.
    fn taken(&self, _op: OpRef<'_>, _operands: &[Option<Attr>]) -> Option<usize> {
        None
    }
}

/// Where control goes from an op, or from a terminator in one of its regions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RegionTarget {
    /// Into the region of this number.
    Region(usize),
    /// Behind the op: its results are there.
    Parent,
}

/// Some targets.
pub type RegionTargets = SmallVec<[RegionTarget; 2]>;

/// An op that runs its regions and passes values between them and itself.
///
/// Every block of its regions that has no successors ends in a terminator that goes to one of [`RegionBranchOp::after`].
pub trait RegionBranchOp: Send + Sync {
    /// Where control may go when the op begins, given what is known of its operands.
    fn begin(&self, op: OpRef<'_>, operands: &[Option<Attr>]) -> RegionTargets;

    /// Where control may go behind `terminator`, which ends region `region`, given what is known of the terminator's
    /// operands.
    fn after(&self, op: OpRef<'_>, region: usize, terminator: OpRef<'_>, operands: &[Option<Attr>]) -> RegionTargets;

    /// Numbers of the op's operands that are passed on when it begins with `target`.
    fn begin_operands(&self, op: OpRef<'_>, target: RegionTarget) -> Range<usize>;

    /// Numbers of the terminator's operands that are passed to `target`.
    fn passed_operands(&self, _op: OpRef<'_>, terminator: OpRef<'_>, _target: RegionTarget) -> Range<usize> {
        0..terminator.num_operands()
    }

    /// Numbers of the entry arguments, or results, that get what is passed to `target`. The op itself makes the others.
    fn inputs(&self, op: OpRef<'_>, target: RegionTarget) -> Range<usize> {
        0..target_values(op, target).len()
    }
}

/// What gets values when control goes to `target`: the arguments of the region's entry block, or the results of `op`.
pub fn target_values(op: OpRef<'_>, target: RegionTarget) -> SmallVec<[Value; 4]> {
    match target {
        RegionTarget::Parent => op.results().collect(),
        RegionTarget::Region(index) => {
            let entry = op.region(index).and_then(|r| r.entry());
            entry.map_or_else(SmallVec::new, |block| SmallVec::from_slice(block.args()))
        }
    }
}

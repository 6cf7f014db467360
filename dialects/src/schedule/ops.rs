//! Schedules apart from their regions: what a file of schedules holds.

use sutura_ir::constraints::StrAttr;
use sutura_ir::op;

use super::{TraceAttr, TreeAttr};

/// The schedule of all regions with one algorithm.
///
/// `algorithm` is the name of what a region computes, made of its text without the names of its values: regions that do the same
/// have the same. A file of schedules is a module of such ops, as `sutura compile --emit=schedule` writes it and `--schedule`
/// takes it. Where one of these regions runs otherwise than the others, `of` names it.
///
/// ```mlir
/// schedule.region "5f0c8d7be1a94d20" = #schedule.tree<
///   version {
///     kernel {
///       loop d0 grid { place max:0 cols d1 in l1 }
///     }
///   }
/// >
/// ```
#[op("schedule.region", format = "$algorithm (`of` $place^)? `=` $tree attr-dict")]
pub struct RegionOp {
    /// The name of what the regions compute.
    algorithm: Attr<StrAttr>,
    /// The one of them that it is for, by its function and its number there, as `@main 1`; absent for all others.
    place: OptAttr<StrAttr>,
    /// Their schedule.
    tree: Attr<TreeAttr>,
}

/// Edits of the schedules of all regions with one algorithm, or with the same roles.
///
/// The roles are the name of what a region computes without sizes, types of elements, constants and scalar functions: which dims are
/// kept and which combined, and what reads and writes what along them. A trace fits each region with its algorithm, and each one with
/// its roles that no trace of its own algorithm fits. `sutura compile --emit=schedule` names both of each region.
///
/// ```mlir
/// schedule.trace "5f0c8d7be1a94d20" roles "91b7e20fd1c3a846" = #schedule.trace<
///   retile d0 of p:0 by 8
/// >
/// ```
#[op("schedule.trace", format = "$algorithm `roles` $roles `=` $trace attr-dict")]
pub struct TraceOp {
    /// The name of what the regions compute.
    algorithm: Attr<StrAttr>,
    /// The name of what regions are that the edits fit, too.
    roles: Attr<StrAttr>,
    /// The edits.
    trace: Attr<TraceAttr>,
}

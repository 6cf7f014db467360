//! Schedules apart from their regions: what a file of schedules holds.

use sutura_ir::constraints::StrAttr;
use sutura_ir::op;

use super::TreeAttr;

/// The schedule of all regions with one algorithm.
///
/// `algorithm` is the name of what a region computes, made of its text without the names of its values: regions that do the same
/// have the same. A file of schedules is a module of such ops, as `sutura compile --emit=schedule` writes it and `--schedule`
/// takes it.
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
#[op("schedule.region", format = "$algorithm `=` $tree attr-dict")]
pub struct RegionOp {
    /// The name of what the regions compute.
    algorithm: Attr<StrAttr>,
    /// Their schedule.
    tree: Attr<TreeAttr>,
}

//! Schedules apart from their regions: what a file of schedules holds.

use sutura_ir::constraints::{ArrayAttr, StrArrayAttr, StrAttr};
use sutura_ir::diagnostics::{Diagnostics, Reported};
use sutura_ir::op_def::Verify;
use sutura_ir::{OpRef, OpView, op};

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

/// Other regions for the ops of some: a step from the plan of the pass `stitch` to another plan.
///
/// `of` names regions of one function as they are when this step is taken, after the steps before it, and `algorithms` what each
/// computes. Their ops have numbers, counted through all of these regions in order, and each element of `kernels` lists those that
/// become one region. A step whose regions are not there, or compute something else, is left out.
///
/// ```mlir
/// schedule.plan ["5f0c8d7be1a94d20"] of ["@main 3"] = [array<i64: 0, 1>, array<i64: 2>]
/// ```
#[op("schedule.plan", format = "$algorithms `of` $places `=` $kernels attr-dict", verify)]
pub struct PlanOp {
    /// The names of what the regions compute.
    algorithms: Attr<StrArrayAttr>,
    /// The regions, each by its function and its number there.
    places: Attr<StrArrayAttr>,
    /// Numbers of ops, a list for each region to be made.
    kernels: Attr<ArrayAttr>,
}

impl PlanOp<'_> {
    /// The numbers of the ops of each region to be made.
    pub fn groups(self) -> Vec<Vec<usize>> {
        let cx = self.op_ref().cx;
        let numbers = |list: &_| cx.as_ints(*list).unwrap_or_default().into_iter();
        self.kernels().iter().map(|list| numbers(list).filter_map(|n| usize::try_from(n).ok()).collect()).collect()
    }
}

impl Verify for PlanOp<'_> {
    fn verify(op: OpRef<'_>, diags: &mut Diagnostics) -> Result<(), Reported> {
        let this = PlanOp::from_ref(op);
        let (regions, names) = (this.places().len(), this.algorithms().len());
        if regions != names || regions == 0 {
            return Err(
                diags.report(op.error(format!("names {regions} regions and {names} algorithms, not one for each")))
            );
        }
        let lists = this.kernels().iter().map(|list| op.cx.as_ints(*list).filter(|list| !list.is_empty()));
        let Some(lists) = lists.collect::<Option<Vec<_>>>() else {
            return Err(diags.report(op.error("needs a list of numbers for each kernel, such as 'array<i64: 0, 1>'")));
        };
        let mut numbers = lists.concat();
        numbers.sort_unstable();
        let counted = numbers.iter().zip(0..).all(|(found, expected)| *found == expected);
        if counted && !numbers.is_empty() && lists.iter().all(|list| list.is_sorted()) {
            return Ok(());
        }
        let error = op.error("kernels must have each op once, counted from 0, in order");
        Err(diags.report(error))
    }
}

//! Row regions: ops that share outer dims, the rows, and one column dim. Elementwise ops, values that are repeated, and
//! reductions along the column, one after another.

use sutura_dialects::r#dyn::Facts;
use sutura_dialects::graph::maps;

use super::cost::{body_cost, value_text};
use super::nest::{Access, Nest, Stage};
use super::{Fit, misfit};

/// What may be computed again for every row: a copy, a conversion.
const CHEAP: u32 = 1;

/// How a region runs as a grid over rows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RowPlan {
    /// Row dims, outermost first.
    pub rows: Vec<usize>,
    /// The column dim; absent when the region has no dims.
    pub col: Option<usize>,
    /// True when a stage combines along the column.
    pub reduces: bool,
}

impl RowPlan {
    /// Fits a region; makes dims of `nest` one where that makes them one column.
    ///
    /// # Errors
    /// Says why the ops are not row-compatible.
    pub fn of(nest: &mut Nest<'_>, facts: &Facts) -> Fit<Self> {
        let col = column(nest, facts)?;
        let reduces = nest.stages.iter().any(Stage::reduces);
        let plan = Self { rows: row_order(nest, col), col, reduces };
        plan.check_repeats(nest)?;
        plan.check_outputs(nest)?;
        plan.check_reads(nest, facts)?;
        Ok(plan)
    }

    /// Every stage runs through all rows, or is cheap enough to be computed again.
    fn check_repeats(&self, nest: &Nest<'_>) -> Fit<()> {
        for stage in &nest.stages {
            let missing = self.rows.iter().filter(|d| !stage.dims.contains(d) && !nest.is_unit(**d));
            let sizes: Vec<String> = missing.map(|d| nest.extents[*d].to_string()).collect();
            if !sizes.is_empty() && (stage.reduces() || body_cost(stage.body) > CHEAP) {
                let name = value_text(nest.cx, nest.body, stage.results[0].value);
                return misfit(format!("{name} would be computed ({}) times", sizes.join(") * (")));
            }
        }
        Ok(())
    }

    /// No output is written by several rows.
    fn check_outputs(&self, nest: &Nest<'_>) -> Fit<()> {
        for (_, write) in nest.output_writes() {
            let covered = |d: &usize| nest.is_unit(*d) || write.index.iter().any(|e| nest.plain(*e) == Some(*d));
            if let Some(dim) = self.rows.iter().find(|d| !covered(d)) {
                let name = value_text(nest.cx, nest.body, write.value);
                return misfit(format!("{name} is used outside but is the same for {} rows", nest.extents[*dim]));
            }
        }
        Ok(())
    }

    fn check_reads(&self, nest: &Nest<'_>, facts: &Facts) -> Fit<()> {
        for (_, read) in nest.external_reads() {
            let edges = nest.edges(facts, read, self.col).len();
            if edges > 1 {
                let name = value_text(nest.cx, nest.body, read.value);
                return misfit(format!("reads outside {name} along {edges} dimensions that are not the column's"));
            }
        }
        let Some(col) = self.col else { return Ok(()) };
        nest.check_indices(&[col])?;
        for (i, read) in nest.external_reads() {
            check_column_access(nest, read, col)?;
            let last = read.index.iter().rev().find_map(|e| nest.plain(*e).filter(|d| !nest.is_unit(*d)));
            let apart = nest.mentions(read, col) && last.is_some_and(|d| d != col);
            if apart && nest.stages[i].reduced.contains(&col) && !nest.is_unit(col) {
                let name = value_text(nest.cx, nest.body, read.value);
                return misfit(format!("combines {name} along a dimension that is not its last"));
            }
        }
        Ok(())
    }
}

/// A tensor is read along the column in one dimension, forward, in equal steps.
pub(crate) fn check_column_access(nest: &Nest<'_>, access: &Access, col: usize) -> Fit<()> {
    let along: Vec<_> = access.index.iter().filter(|e| maps::mentions(nest.cx, **e, col)).collect();
    let name = || value_text(nest.cx, nest.body, access.value);
    match along[..] {
        [] => Ok(()),
        [expr] => match maps::linear(nest.cx, *expr, nest.extents.len()) {
            Some(linear) if linear.factors[col] >= 1 => Ok(()),
            _ => misfit(format!("reads {} backward or in unequal steps", name())),
        },
        _ => misfit(format!("reads {} along a diagonal", name())),
    }
}

/// The column: what is reduced, else the innermost dim of the largest result.
fn column(nest: &mut Nest<'_>, facts: &Facts) -> Fit<Option<usize>> {
    let reduced = |nest: &Nest<'_>| {
        let mut all: Vec<usize> = nest.stages.iter().flat_map(|s| s.reduced.iter().copied()).collect();
        all.sort_unstable();
        all.dedup();
        all
    };
    if let Some(stage) = nest.stages.iter().find(|s| s.reduced.len() > 1) {
        let sizes: Vec<String> = stage.reduced.iter().map(|d| nest.extents[*d].to_string()).collect();
        return misfit(format!("combines along several dimensions ({})", sizes.join(", ")));
    }
    while let [first, second, ..] = reduced(nest)[..] {
        if nest.meet(first, second) {
            return misfit("combines along the rows of another op");
        }
        let (a, b) = (nest.extents[first].clone(), nest.extents[second].clone());
        if !facts.prove_equal(&a, &b) {
            return misfit(format!("combines along {a} columns here and along {b} there"));
        }
        nest.merge(first, second);
    }
    let Some(&col) = reduced(nest).first() else { return Ok(innermost(nest)) };
    Ok(Some(merge_columns(nest, facts, col)))
}

/// Dims that are innermost in what a stage makes and have nothing to do with the column yet become the column.
fn merge_columns(nest: &mut Nest<'_>, facts: &Facts, mut col: usize) -> usize {
    loop {
        let inner = |s: &Stage<'_>| s.results.first().and_then(|r| last_dim(nest, r));
        let fits =
            |d: &usize| *d != col && !nest.meet(*d, col) && facts.prove_equal(&nest.extents[*d], &nest.extents[col]);
        let lone = nest.stages.iter().filter(|s| !s.dims.contains(&col)).filter_map(inner).find(fits);
        // A dim of the rows that happens to be as long stays one.
        let row = |d: usize| nest.stages.iter().any(|s| s.reduces() && s.dims.contains(&d));
        let Some(dim) = lone.filter(|d| !row(*d)) else { return col };
        let (keep, gone) = (col.min(dim), col.max(dim));
        nest.merge(keep, gone);
        col = keep;
    }
}

fn last_dim(nest: &Nest<'_>, access: &Access) -> Option<usize> {
    access.index.iter().rev().find_map(|e| nest.plain(*e))
}

/// The innermost dim of the result with the most dims, one that is longer than 1 if there is.
fn innermost(nest: &Nest<'_>) -> Option<usize> {
    let dims = |a: &Access| a.index.iter().filter_map(|e| nest.plain(*e)).collect::<Vec<_>>();
    let largest = nest.stages.iter().flat_map(|s| &s.results).map(dims).rev().max_by_key(Vec::len)?;
    largest.iter().rev().find(|d| !nest.is_unit(**d)).or(largest.last()).copied()
}

/// Rows in the order in which the largest result has them, others behind.
fn row_order(nest: &Nest<'_>, col: Option<usize>) -> Vec<usize> {
    let dims = |a: &Access| a.index.iter().filter_map(|e| nest.plain(*e)).collect::<Vec<_>>();
    let mut order: Vec<usize> =
        nest.stages.iter().flat_map(|s| &s.results).map(dims).rev().max_by_key(Vec::len).unwrap_or_default();
    for dim in 0..nest.extents.len() {
        if !order.contains(&dim) {
            order.push(dim);
        }
    }
    order.retain(|d| Some(*d) != col);
    order
}

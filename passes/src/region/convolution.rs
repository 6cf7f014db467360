//! Convolutions: sums of products in which one factor is read through a window that moves over it.
//!
//! They are contractions by the same incidence as products: what indexes the weights and the result is a column, what moves the
//! window and indexes the result is a row, and what both factors are summed over are the channels and the places of the window.

use sutura_dialects::graph::maps;
use sutura_ir::Type;
use sutura_ir::affine::AffineExpr;

use super::contract::{check_sum_of_products, is_projection};
use super::nest::{Access, Nest, Stage};
use super::{ContractPlan, Fit, misfit};

/// Most bytes of the left factor that a group keeps near for one tile of rows.
const WINDOW_BYTES: i64 = 384 << 10;

/// Rows of the tile for which these are.
const TILE_ROWS: i64 = 12;

/// Most values of a window along a dim.
const LONGEST_WINDOW: i64 = 64;

/// True when a stage sums products of weights, read element by element, and of what it reads through a window.
pub fn is_convolution(nest: &Nest<'_>, stage: &Stage<'_>) -> bool {
    check_sum_of_products(nest, stage, &[Type::F32]).is_ok() && weights(nest, stage).is_some()
}

/// The input with the weights; the other one is read in equal steps.
fn weights(nest: &Nest<'_>, stage: &Stage<'_>) -> Option<usize> {
    let plain = |a: &Access| a.oob.is_none() && a.slot.is_none() && is_projection(nest, a);
    let rhs = (0..2).rev().find(|i| plain(&stage.inputs[*i]) && !plain(&stage.inputs[1 - i]))?;
    let lhs = &stage.inputs[1 - rhs];
    let linear = |e| maps::linear(nest.cx, e, nest.extents.len());
    let forward = |e| linear(e).is_some_and(|l| l.symbols.is_empty() && l.factors.iter().all(|factor| *factor >= 0));
    (lhs.slot.is_none() && lhs.guard.is_empty() && lhs.index.iter().all(|e| forward(*e))).then_some(rhs)
}

impl ContractPlan {
    /// Fits a region of a convolution, and what follows it element by element.
    ///
    /// # Errors
    /// Says what does not fit.
    pub fn windowed(nest: &Nest<'_>) -> Fit<Self> {
        let mut all = (0..nest.stages.len()).filter(|i| is_convolution(nest, &nest.stages[*i]));
        let Some(number) = all.next() else { return misfit("has no convolution") };
        if all.next().is_some() {
            return misfit("both are convolutions, and a kernel has one");
        }
        nest.check_no_scan()?;
        nest.check_no_joint()?;
        let mut plan = Self::of_window(nest, number)?;
        plan.place_others(nest);
        plan.check_window(nest)?;
        plan.check_rest(nest)?;
        Ok(plan)
    }

    /// The part that each dim of a convolution plays.
    fn of_window(nest: &Nest<'_>, number: usize) -> Fit<Self> {
        let stage = &nest.stages[number];
        let Some(rhs) = weights(nest, stage) else { return misfit("reads through no window") };
        let mut plan = Self { stage: number, lhs: 1 - rhs, rhs, ..Self::default() };
        let reads = |input: usize, dim: usize| nest.mentions(&stage.inputs[input], dim);
        for dim in stage.results[0].index.iter().filter_map(|e| nest.plain(*e)) {
            match (reads(plan.lhs, dim), reads(rhs, dim)) {
                (true, true) => plan.batch.push(dim),
                (true, false) => plan.rows.push(dim),
                (false, true) => plan.cols.push(dim),
                (false, false) => return misfit("repeats its result along a dimension"),
            }
        }
        plan.cols.retain(|d| !nest.is_unit(*d));
        // Tiles have their columns along the longest of these dims.
        let Some(col) = plan.cols.iter().copied().max_by_key(|d| nest.extents[*d].as_const().unwrap_or(i64::MAX))
        else {
            return misfit("has no dimension of the weights alone for its columns");
        };
        plan.cols.retain(|d| *d != col);
        plan.cols.push(col);
        if plan.rows.is_empty() {
            return misfit("moves its window nowhere");
        }
        // As the left factor lies: its neighbours are summed up one after another.
        let place = |dim: &usize| stage.inputs[plan.lhs].index.iter().position(|e| nest.mentions_expr(*e, *dim));
        let weights = stage.inputs[rhs].index.iter().filter_map(|e| nest.plain(*e));
        plan.sums = weights.filter(|dim| stage.reduced.contains(dim)).collect();
        plan.sums.sort_by_key(place);
        // A dim of extent 1 is summed over whether or not both factors have it.
        let shared = |d: &usize| reads(plan.lhs, *d) || nest.is_unit(*d);
        if plan.sums.len() != stage.reduced.len() || !stage.reduced.iter().all(shared) {
            return misfit("sums over a dimension that only one factor has");
        }
        Ok(plan)
    }

    /// What a window covers fits near the group.
    fn check_window(&self, nest: &Nest<'_>) -> Fit<()> {
        if !self.left.is_empty() || !self.right.is_empty() {
            return misfit("makes its factors, which are read through a window");
        }
        let lhs = &nest.stages[self.stage].inputs[self.lhs];
        let row = *self.rows.last().expect("checked when the plan was made");
        if self.rows[..self.rows.len() - 1].iter().all(|d| nest.is_unit(*d)) && nest.is_unit(row) {
            return misfit("moves its window nowhere");
        }
        let side_by_side =
            |e: &AffineExpr| nest.mentions_expr(*e, row) || nest.plain(*e).is_some_and(|dim| self.sums.contains(&dim));
        if !lhs.index.last().is_some_and(side_by_side) {
            return misfit("has rows along a dimension that is not the last of what it reads, nor are channels");
        }
        let mut bytes: i64 = 4;
        for expr in &lhs.index {
            let linear = maps::linear(nest.cx, *expr, nest.extents.len()).expect("checked when the plan was made");
            let mut covered: i64 = 1;
            for (dim, factor) in linear.factors.iter().enumerate().filter(|(_, factor)| **factor > 0) {
                let last = match self.sums.contains(&dim) {
                    true => nest.extents[dim].as_const().map(|extent| extent - 1),
                    false if dim == row => Some(TILE_ROWS - 1),
                    false => Some(0),
                };
                let Some(last) = last else {
                    return misfit(format!("sums over {} places, of which the number is open", nest.extents[dim]));
                };
                if linear.factors.iter().filter(|f| **f > 0).count() > 1 && last > LONGEST_WINDOW && dim != row {
                    return misfit(format!("has a window of {} places", last + 1));
                }
                covered = covered.saturating_add(factor.saturating_mul(last.max(0)));
            }
            bytes = bytes.saturating_mul(covered);
        }
        if bytes > WINDOW_BYTES {
            return misfit(format!(
                "reads {bytes} bytes for {TILE_ROWS} results, more than the {WINDOW_BYTES} kept near"
            ));
        }
        Ok(())
    }
}

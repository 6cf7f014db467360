//! Windows: combinations along the places of a window that moves over a tensor, where each result has places of its own, as in
//! depthwise convolutions, those by groups of few features, and pooling; and what follows them element by element.
//!
//! Nothing but the window is shared by neighbours. Rows of a tile lie along a dim that moves it: what one row reads, the next one
//! reads a place further on. Columns lie along what is last in memory: another dim that moves the window, or channels.

use sutura_ir::affine::AffineExpr;

use super::contract::is_projection;
use super::nest::{Access, Nest, Stage};
use super::{ContractPlan, Fit, misfit};

/// Most places of a window.
const MOST_PLACES: i64 = 1 << 12;

impl ContractPlan {
    /// Fits a region of one combination along a window, and of what follows it element by element. The left factor is what the
    /// window moves over. Its last dimension has the columns.
    ///
    /// # Errors
    /// Says what does not fit.
    pub fn moving(nest: &Nest<'_>) -> Fit<Self> {
        let mut all = (0..nest.stages.len()).filter(|i| nest.stages[*i].reduces());
        let Some(number) = all.next() else { return misfit("combines nothing") };
        if all.next().is_some() {
            return misfit("combines twice, and a window once");
        }
        nest.check_no_scan()?;
        nest.check_no_joint()?;
        if nest.picks_any() {
            return misfit("reads indices that are data");
        }
        let mut plan = Self::of_moving(nest, number)?;
        plan.check_moving(nest)?;
        plan.place_others(nest);
        plan.check_rest(nest)?;
        Ok(plan)
    }

    fn of_moving(nest: &Nest<'_>, number: usize) -> Fit<Self> {
        let stage = &nest.stages[number];
        if stage.results.len() != 1 || stage.inputs.iter().any(|a| a.slot.is_some()) {
            return misfit("combines several numbers, or what the region makes");
        }
        let through = |a: &Access| a.index.iter().any(|e| moves_a_window(nest, stage, *e).is_some());
        let mut windows = (0..stage.inputs.len()).filter(|i| through(&stage.inputs[*i]));
        let (Some(lhs), None) = (windows.next(), windows.next()) else {
            return misfit("reads through no window, or through several");
        };
        if stage.inputs.iter().enumerate().any(|(i, a)| i != lhs && (a.oob.is_some() || !is_projection(nest, a))) {
            return misfit("combines what its window reads with a tensor that is not read element by element");
        }
        let moving = |e: &AffineExpr| moves_a_window(nest, stage, *e);
        let Some((last, before)) = stage.inputs[lhs].index.split_last() else { return misfit("reads one number") };
        let channels = nest.plain(*last).filter(|dim| !stage.reduced.contains(dim));
        let Some(col) = channels.or_else(|| moving(last)) else {
            return misfit(
                "moves its window along a dimension that is not the last of what it reads, nor are channels",
            );
        };
        let along = before.iter().rev().map_while(|e| Some((moving(e)?, e))).enumerate();
        // Groups further out have several indices of a dim only where windows share what they read.
        let shared = along.take_while(|(number, (dim, e))| *number == 0 || overlaps(nest, stage, *dim, **e));
        let mut rows: Vec<usize> = shared.map(|(_, (dim, _))| dim).collect();
        rows.reverse();
        let order: Vec<usize> = stage.results[0].index.iter().filter_map(|e| nest.plain(*e)).collect();
        if order.iter().rev().find(|d| !nest.is_unit(**d)) != Some(&col) {
            return misfit("has columns along a dimension that is not the last of the result");
        }
        let batch = order.iter().copied().filter(|d| *d != col && !rows.contains(d)).collect();
        let rhs = (0..stage.inputs.len()).find(|i| *i != lhs).unwrap_or(lhs);
        Ok(Self {
            stage: number,
            lhs,
            rhs,
            batch,
            rows,
            cols: vec![col],
            sums: stage.reduced.clone(),
            ..Self::default()
        })
    }

    fn check_moving(&self, nest: &Nest<'_>) -> Fit<()> {
        let stage = &nest.stages[self.stage];
        let (lhs, col) = (&stage.inputs[self.lhs], self.col());
        let places = self.sums.iter().map(|d| nest.extents[*d].as_const().filter(|n| *n > 0));
        let places =
            places.collect::<Option<Vec<i64>>>().and_then(|all| all.iter().try_fold(1i64, |a, b| a.checked_mul(*b)));
        if places.is_none_or(|places| places > MOST_PLACES) {
            return misfit("has a window of too many places, or of a number that is open");
        }
        if !lhs.guard.is_empty() || nest.is_unit(col) {
            return misfit("moves its window nowhere");
        }
        let fixed = |dim: usize| self.batch.contains(&dim);
        let (mut seen, tiled) = (Vec::new(), [&self.rows[..], &[col]].concat());
        for expr in &lhs.index {
            let Some(steps) = nest.steps(*expr, &fixed).filter(|steps| steps.iter().all(|(_, step)| *step > 0)) else {
                return misfit("reads its window backward or in unequal steps");
            };
            let along: Vec<usize> = steps.into_iter().map(|(dim, _)| dim).filter(|d| tiled.contains(d)).collect();
            if along.len() > 1 || along.iter().any(|dim| seen.contains(dim)) {
                return misfit("reads its window along a diagonal");
            }
            seen.extend(along);
        }
        Ok(())
    }
}

/// Whether windows that are neighbours along a dim read the same.
fn overlaps(nest: &Nest<'_>, stage: &Stage<'_>, dim: usize, expr: AffineExpr) -> bool {
    let Some(steps) = nest.steps(expr, &|_| false) else { return false };
    let last = |place: usize| nest.extents[place].as_const().map_or(0, |extent| extent - 1);
    let places = steps.iter().filter(|(place, _)| stage.reduced.contains(place));
    let reach = places.map(|(place, step)| step.saturating_mul(last(*place))).fold(0, i64::saturating_add);
    steps.iter().any(|(moved, step)| *moved == dim && *step <= reach)
}

/// The dim of the result that moves a window along an index of what is read.
fn moves_a_window(nest: &Nest<'_>, stage: &Stage<'_>, expr: AffineExpr) -> Option<usize> {
    let places = stage.reduced.iter().any(|d| nest.mentions_expr(expr, *d));
    let mut moving = stage.parallel().filter(|d| nest.mentions_expr(expr, *d));
    moving.next().filter(|_| places && moving.next().is_none())
}

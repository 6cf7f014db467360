//! Row regions: a grid over the rows, a row of columns in the cache.

use sutura_dialects::r#dyn::Facts;
use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::gir::constraints::Axis as Direction;
use sutura_dialects::gir::ops::ReduceOp;

use super::kernel::{Built, Emit, Header, Kernel, build};
use super::region::{Arg, FusedRegion, Lowered, Step};
use super::scalars::{accumulator, result_elem, tile_combiner};
use super::stages::Walk;
use super::tiles::{Axis, Covers, Frame, Number, Shape, Tile};
use crate::region::{Access, Misfit, Nest, RowPlan, Stage};

/// Columns of a tile of a region that combines nothing along them.
const ELEMENTWISE_COLUMNS: i64 = 4096;

/// Lowers a row region; rows of at most `resident` columns are kept in the cache by a version of their own.
pub(super) fn lower(region: &FusedRegion<'_>, resident: i64) -> Built<Lowered> {
    let facts = &region.facts;
    let (nest, plan) = normal_form(region).map_err(|misfit| {
        let message = format!("is marked as a region of rows, but: {misfit}");
        Box::new(region.op.error(message))
    })?;
    let rows = Rows { region, nest: &nest, plan: &plan, facts };
    let columns = plan.col.map(|c| nest.extents[c].clone());
    let bounded = columns.as_ref().is_none_or(|n| facts.range(n).1 <= i128::from(resident));
    let mut versions = Vec::new();
    if let Some(columns) = columns.filter(|_| !bounded && rows.keeps_something()) {
        let guard = Poly::constant(resident).sub(&columns);
        versions.push((vec![guard.clone()], rows.kernel(vec![guard])?));
    }
    versions.push((vec![], rows.kernel(vec![])?));
    let args = region.tensors(&nest).into_iter().map(Arg::Tensor).collect();
    let work = region.work(&nest);
    Ok(Lowered { temporaries: vec![], steps: vec![Step { versions, args, work }] })
}

fn normal_form<'a>(region: &FusedRegion<'a>) -> Result<(Nest<'a>, RowPlan), Misfit> {
    let facts = &region.facts;
    let mut nest = Nest::of(facts, &region.ops, &region.outputs)?;
    let plan = RowPlan::of(&mut nest, facts)?;
    // Pairs of rows become one, and all dims where nothing is combined along the column.
    let reduced = |n: &Nest<'_>, d: usize| n.stages.iter().any(|s| s.reduced.contains(&d));
    if nest.collapse(facts, &|n, a, b| !reduced(n, a) && !reduced(n, b)) == 0 {
        return Ok((nest, plan));
    }
    let plan = RowPlan::of(&mut nest, facts)?;
    Ok((nest, plan))
}

struct Rows<'r, 'a> {
    region: &'r FusedRegion<'a>,
    nest: &'r Nest<'a>,
    plan: &'r RowPlan,
    facts: &'r Facts,
}

impl Rows<'_, '_> {
    /// True when something is computed in each column before and used after columns are combined.
    fn keeps_something(&self) -> bool {
        let Some(col) = self.plan.col else { return false };
        let computes = |s: &Stage<'_>| !s.reduces() && s.dims.contains(&col);
        let combined = self.nest.stages.iter().rposition(Stage::reduces);
        combined.is_some_and(|last| self.nest.stages[..last].iter().any(computes))
    }

    /// Columns of a tile, and whether the grid runs over tiles of columns.
    fn columns(&self) -> Option<(Poly, bool)> {
        let col = self.plan.col?;
        let extent = self.nest.extents[col].clone();
        let small = self.facts.range(&extent).1 <= i128::from(2 * ELEMENTWISE_COLUMNS);
        let writes_columns = self.nest.output_writes().all(|(_, write)| self.nest.mentions(write, col));
        // Tiles of columns of tensors that differ in length would not end together.
        let equal = |a: &Access| {
            let at = a.index.iter().position(|e| self.nest.mentions_expr(*e, col));
            at.is_none_or(|i| {
                let plain = self.nest.plain(a.index[i]) == Some(col);
                plain && a.oob.is_none() && self.facts.prove_equal(&self.nest.shapes[&a.value][i], &extent)
            })
        };
        let together = self.nest.external_reads().all(|(_, a)| equal(a));
        if self.plan.reduces || small || !writes_columns || !together {
            return Some((extent, false));
        }
        Some((ELEMENTWISE_COLUMNS.into(), true))
    }

    /// Rows that are more than one.
    fn grid_dims(&self) -> impl Iterator<Item = usize> + '_ {
        self.plan.rows.iter().copied().filter(|d| !self.nest.is_unit(*d))
    }

    fn kernel(&self, requires: Vec<Poly>) -> Built<Kernel> {
        let columns = self.columns();
        let mut grid: Vec<Poly> = self.grid_dims().map(|d| self.nest.extents[d].clone()).collect();
        if let (Some((tile, true)), Some(col)) = (&columns, self.plan.col) {
            grid.push(self.nest.extents[col].ceildiv(tile.as_const().expect("tiles of columns have a fixed size")));
        }
        let header = Header {
            loc: self.region.op.loc(),
            views: self.region.views(self.nest),
            grid,
            requires,
            extra: self.nest.shapes.values().flatten().cloned().chain(self.region.sizes()).collect(),
        };
        build(self.nest.cx, self.facts, header, |e| self.body(e, columns))
    }

    fn body(&self, e: &mut Emit<'_>, columns: Option<(Poly, bool)>) -> Built<()> {
        let mut frame = Frame {
            fixed: vec![None; self.nest.extents.len()],
            row: None,
            col: None,
            space: self.region.machine.cache.clone(),
            registers: self.region.machine.registers.clone(),
            partial: columns.as_ref().is_some_and(|(_, tiled)| *tiled),
        };
        let grid = e.grid.clone();
        for dim in self.plan.rows.iter().filter(|d| self.nest.is_unit(**d)) {
            frame.fixed[*dim] = Some(e.constant(0));
        }
        for (dim, index) in self.grid_dims().zip(&grid) {
            frame.fixed[dim] = Some(*index);
        }
        if let (Some((extent, tiled)), Some(dim)) = (columns, self.plan.col) {
            let base = match (tiled, grid.last()) {
                (true, Some(tile)) => e.scaled(*tile, ELEMENTWISE_COLUMNS, None),
                _ => e.constant(0),
            };
            frame.col = Some(Axis { dim, base, extent });
        }
        let walk = Walk { region: self.region, nest: self.nest };
        let mut known = walk.start(e, &self.region.tensors(self.nest));
        for stage in &self.nest.stages {
            if !stage.reduces() {
                walk.elementwise(e, &frame, stage, &mut known)?;
                continue;
            }
            e.loc = stage.op.loc();
            let args = walk.args(e, &frame, stage, &mut known);
            let mut numbers = e.scalars(&frame, self.facts, stage, &args)?;
            e.loc = stage.op.loc();
            for (i, number) in numbers.iter_mut().enumerate() {
                *number = Number::Tile(self.reduce(e, &frame, stage, i, *number)?);
            }
            walk.finish(e, &frame, stage, numbers, &mut known);
        }
        Ok(())
    }

    fn reduce(&self, e: &mut Emit<'_>, frame: &Frame, stage: &Stage<'_>, result: usize, number: Number) -> Built<Tile> {
        let cx = self.nest.cx;
        let wide = accumulator(cx, stage, result);
        let Some(combiner) = tile_combiner(cx, stage.combiners[result], wide) else {
            return Emit::unsupported(stage.op, "combines numbers in a way that tiles do not");
        };
        let row = Shape { rows: false, cols: true };
        let tile = e.realise(frame, number, row, None);
        let tile = e.converted(frame, tile, wide);
        let value = ReduceOp::value(&mut e.b, e.loc, combiner, Direction::Cols, tile.value);
        let sum = Tile { value, shape: Shape::SCALAR, elem: wide, window: Covers::All, cached: true };
        Ok(e.converted(frame, sum, result_elem(cx, stage, result)))
    }
}

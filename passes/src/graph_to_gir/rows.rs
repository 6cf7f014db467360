//! Row regions: a grid over the rows, a row of columns in the cache.

use std::collections::HashMap;

use sutura_dialects::r#dyn::Facts;
use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::gir::constraints::Axis as Direction;
use sutura_dialects::gir::ops::ReduceOp;
use sutura_ir::Value;
use sutura_ir::affine::AffineExpr;

use super::kernel::{Built, Emit, Header, Kernel, build};
use super::region::{Arg, FusedRegion, Lowered, Step};
use super::scalars::{accumulator, result_elem, tile_combiner};
use super::tiles::{Axis, Frame, Number, Shape, Tile};
use crate::region::{Misfit, Nest, RowPlan, Stage};

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

/// What a kernel has computed and read.
#[derive(Default)]
struct Known {
    made: HashMap<Value, Number>,
    read: HashMap<(Value, Vec<AffineExpr>), Tile>,
    views: HashMap<Value, Value>,
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
        if self.plan.reduces || small || !writes_columns {
            return Some((extent, false));
        }
        Some((ELEMENTWISE_COLUMNS.into(), true))
    }

    fn kernel(&self, requires: Vec<Poly>) -> Built<Kernel> {
        let columns = self.columns();
        let mut grid: Vec<Poly> = self.plan.rows.iter().map(|d| self.nest.extents[*d].clone()).collect();
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
            space: "l1",
            partial: columns.as_ref().is_some_and(|(_, tiled)| *tiled),
        };
        let grid = e.grid.clone();
        for (dim, index) in self.plan.rows.iter().zip(&grid) {
            frame.fixed[*dim] = Some(*index);
        }
        if let (Some((extent, tiled)), Some(dim)) = (columns, self.plan.col) {
            let base = match (tiled, grid.last()) {
                (true, Some(tile)) => e.scaled(*tile, ELEMENTWISE_COLUMNS, None),
                _ => e.constant(0),
            };
            frame.col = Some(Axis { dim, base, extent });
        }
        let mut known = Known::default();
        let views = e.views.clone();
        for (value, view) in self.region.tensors(self.nest).iter().zip(views) {
            let view = e.reshaped(view, &self.nest.shapes[value]);
            known.views.insert(*value, view);
        }
        for stage in &self.nest.stages {
            self.stage(e, &frame, stage, &mut known)?;
        }
        Ok(())
    }

    fn stage(&self, e: &mut Emit<'_>, frame: &Frame, stage: &Stage<'_>, known: &mut Known) -> Built<()> {
        e.loc = stage.op.loc();
        let mut args = Vec::new();
        for read in &stage.inputs {
            let number = match known.made.get(&read.value) {
                Some(number) => *number,
                None => {
                    let key = (read.value, read.index.clone());
                    let view = known.views[&read.value];
                    let load = || e.load(self.nest, frame, view, &read.index);
                    Number::Tile(*known.read.entry(key).or_insert_with(load))
                }
            };
            args.push(number);
        }
        let mut numbers = e.scalars(frame, self.facts, stage, &args)?;
        e.loc = stage.op.loc();
        if stage.reduces() {
            for (i, number) in numbers.iter_mut().enumerate() {
                *number = Number::Tile(self.reduce(e, frame, stage, i, *number)?);
            }
        }
        for (write, number) in stage.results.iter().zip(numbers) {
            known.made.insert(write.value, number);
            if self.region.outputs.contains(&write.value) {
                e.store(self.nest, frame, number, known.views[&write.value], &write.index);
            }
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
        let sum = Tile { value, shape: Shape::SCALAR, elem: wide, windowed: false, cached: true };
        Ok(e.converted(frame, sum, result_elem(cx, stage, result)))
    }
}

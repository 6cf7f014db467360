//! Windows: a group copies the padded lines that its windows cover into a cache, and computes register tiles from them. Rows and columns
//! of a tile are along the two last dims that move the window. The innermost loop runs over the window's places along the rows, so
//! that a row of a tile reuses registers that the row before has loaded.

use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::schedule::{Bring, Dim, Kernel, Launch, Loop, Node, Operand, Runs, Split, Tile, Version};

use super::super::kernel::Built;
use super::super::region::{FusedRegion, Lowered};
use super::super::schedule::{Group, emit};
use super::convolution::{GROUPS, LINE, covered, of_tile};
use super::{each, in_grid, place, stage_name};
use crate::region::cost::{element_bytes, likely_size};
use crate::region::{ContractPlan, Nest};

/// Lowers the region of a window.
pub(in super::super) fn lower(region: &FusedRegion<'_>) -> Built<Lowered> {
    let fitted = Nest::of(&region.facts, &region.ops, &region.outputs)
        .and_then(|nest| Ok((ContractPlan::moving(&nest, &region.facts)?, nest)));
    let (plan, nest) =
        fitted.map_err(|misfit| Box::new(region.op.error(format!("is no region of a window: {misfit}"))))?;
    let version = |(few, guard): (bool, Vec<Poly>)| {
        let launches = vec![Launch { kernels: vec![kernel(region, &nest, &plan, few)] }];
        Version { guard, launches, ..Version::default() }
    };
    let versions = widths(region, &nest, &plan).into_iter().map(version).collect();
    emit(&[Group::by_rule(&[(region, &nest)], versions)])
}

/// Whether a line is one vector, and the guard of the version for that, the last of which has none.
fn widths(region: &FusedRegion<'_>, nest: &Nest<'_>, plan: &ContractPlan) -> Vec<(bool, Vec<Poly>)> {
    let (extent, lanes) = (&nest.extents[plan.col()], region.machine.vectors.1.max(1));
    match region.facts.range(extent) {
        (_, high) if high <= i128::from(lanes) => vec![(true, vec![])],
        (low, _) if low > i128::from(lanes) => vec![(false, vec![])],
        _ => vec![(true, vec![Poly::constant(lanes).sub(extent)]), (false, vec![])],
    }
}

/// Rows and columns of a tile: as many as a third of the registers holds, since places are loaded beside them.
fn tile_of(region: &FusedRegion<'_>, nest: &Nest<'_>, plan: &ContractPlan, few: bool) -> (i64, i64) {
    let (registers, lanes) = region.machine.vectors;
    let (registers, lanes) = (registers.max(6), lanes.max(1));
    let vectors = if few { 1 } else { 2 };
    let most = (registers / 3 / vectors).clamp(1, 8);
    let known = plan.row().map_or(Some(1), |row| nest.extents[row].as_const());
    // Rows beyond the end are computed in vain; each row loads once more.
    let price = |rows: i64, all: i64| (all.saturating_add(rows - 1) / rows).saturating_mul(rows + 1);
    let rows = match known {
        Some(all) => (1..=most).rev().min_by_key(|rows| price(*rows, all)).unwrap_or(1),
        // Maps of short lines are those of 7 and 14.
        None => most.min(if few { 7 } else { 4 }),
    };
    (rows, vectors * lanes)
}

/// Results of a group: along a line, and lines. What their windows cover leaves room in the nearest cache.
fn block_of(region: &FusedRegion<'_>, nest: &Nest<'_>, plan: &ContractPlan, tile: (i64, i64), few: bool) -> (i64, i64) {
    let (rows, columns) = tile;
    let (row, col) = (plan.row(), plan.col());
    let read = nest.stages[plan.stage].inputs[plan.lhs].value;
    let bytes = element_bytes(nest.cx, nest.cx.element_type(nest.body.ty(read)));
    let near = |line: i64, lines: i64| {
        let some = [(Some(col), line), (row, lines)];
        let elements = covered(nest, plan, &|dim| of_tile(nest, plan, some, dim));
        elements.saturating_mul(bytes) <= region.machine.nearest_bytes / 2
    };
    let tiles = |dim: usize, by: i64| nest.extents[dim].as_const().unwrap_or(LINE).max(1).saturating_add(by - 1) / by;
    let halves = |all: i64| std::iter::successors(Some(all), |tiles| (*tiles > 1).then_some((tiles + 1) / 2));
    let along = if few { 1 } else { tiles(col, columns) };
    let line = halves(along).map(|tiles| tiles * columns).find(|line| near(*line, rows)).unwrap_or(columns);
    let Some(row) = row else { return (line, 1) };
    let groups = plan.batch.iter().map(|dim| likely_size(&region.facts, &nest.extents[*dim]));
    let groups = groups.fold(1, i64::saturating_mul);
    let all = tiles(row, rows);
    let fits = |tiles: &i64| near(line, tiles * rows) && (all / tiles).saturating_mul(groups) >= GROUPS;
    (line, halves(all).find(fits).unwrap_or(1) * rows)
}

fn kernel(region: &FusedRegion<'_>, nest: &Nest<'_>, plan: &ContractPlan, few: bool) -> Kernel {
    let (machine, col) = (region.machine, plan.col());
    let (rows, columns) = tile_of(region, nest, plan, few);
    let (line, lines) = block_of(region, nest, plan, (rows, columns), few);
    let row = plan.row().filter(|row| !nest.is_unit(*row));
    let tile = Tile { rows: row.map(Dim), cols: Some(Dim(col)), space: machine.registers.to_string(), padded: false };
    let mut body = vec![Node::Place(place(nest, plan.stage, &tile))];
    let along_rows = |dim: &usize| {
        let lhs = &nest.stages[plan.stage].inputs[plan.lhs];
        row.is_some_and(|row| lhs.index.iter().any(|e| nest.mentions_expr(*e, row) && nest.mentions_expr(*e, *dim)))
    };
    let (inner, outer): (Vec<usize>, Vec<usize>) = plan.sums.iter().partition(|dim| along_rows(dim));
    body = outer.iter().chain(&inner).rev().fold(body, |body, dim| vec![each(*dim, body)]);
    body.extend(plan.rest.iter().map(|s| Node::Place(place(nest, *s, &tile))));
    let inside =
        |dim: usize, by: i64, body: Vec<Node>| vec![Node::Loop(Loop::new(Dim(dim), Split::By(by), Runs::InTurn, body))];
    if line > columns {
        body = inside(col, columns, body);
    }
    if let Some(row) = row.filter(|_| lines > rows) {
        body = inside(row, rows, body);
    }
    let near = Tile { rows: None, cols: Some(Dim(col)), space: machine.cache.to_string(), padded: true };
    let (stage, input) = (stage_name(nest, plan.stage), plan.lhs);
    body.insert(0, Node::Operand(Operand::new((stage, input), near, Bring::Cache)));
    let others = plan.batch.iter().filter(|dim| !nest.is_unit(**dim)).map(|dim| (*dim, Split::One));
    let of_rows = row.map(|row| (row, Split::By(lines)));
    Kernel::new(in_grid(others.chain(of_rows).chain([(col, Split::By(line))]).collect(), body))
}

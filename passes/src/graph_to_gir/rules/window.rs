//! Windows: a group copies the padded lines that its windows cover into a cache, and computes register tiles from them. Rows of a tile
//! are along the last dim that moves the window, but for its columns, which are neighbours in memory. The innermost loop runs over the window's places along the rows, so
//! that a row of a tile reuses registers that the row before has loaded.

use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::schedule::{Bring, Dim, Kernel, Launch, Loop, Node, Operand, Runs, Split, Tile, Version};
use sutura_ir::affine::AffineExpr;

use super::super::kernel::Built;
use super::super::region::{FusedRegion, Lowered};
use super::super::schedule::{Group, emit};
use super::convolution::{GROUPS, LINE, covered, of_tile};
use super::line_tiles::LINES;
use super::{each, in_grid, place, stage_name};
use crate::region::cost::{element_bytes, likely_size};
use crate::region::{ContractPlan, Nest};

/// Lowers the region of a window.
pub(in super::super) fn lower(region: &FusedRegion<'_>) -> Built<Lowered> {
    let fitted =
        Nest::of(&region.facts, &region.ops, &region.outputs).and_then(|nest| Ok((ContractPlan::moving(&nest)?, nest)));
    let (plan, nest) =
        fitted.map_err(|misfit| Box::new(region.op.error(format!("is no region of a window: {misfit}"))))?;
    let version = |(few, guard): (bool, Vec<Poly>)| {
        let launches = vec![Launch { kernels: vec![kernel(region, &nest, &plan, few)] }];
        Version { guard, launches, ..Version::default() }
    };
    let versions = widths(region, &nest, &plan).into_iter().map(version).collect();
    let said = format!("is a window, which is no product and runs on vectors: {}", plan.roles(&nest));
    emit(&[Group::by_rule(&[(region, &nest)], versions)]).map(|lowered| Lowered { remarks: vec![said], ..lowered })
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

/// Rows and columns of a tile: as many as a third of the registers holds, since places are loaded beside them; a half where neighbours
/// read other vectors, which are operands then.
pub(super) fn tile_of(region: &FusedRegion<'_>, nest: &Nest<'_>, plan: &ContractPlan, few: bool) -> (i64, i64) {
    let (registers, lanes) = region.machine.vectors;
    let (registers, lanes) = (registers.max(6), lanes.max(1));
    let vectors = if few { 1 } else { 2 };
    let moved = moves(nest, plan, plan.col());
    let share = if moved { 3 } else { 2 };
    let most = (registers / share / vectors).clamp(1, 8);
    let known = plan.row().map_or(Some(1), |row| nest.extents[row].as_const());
    // Rows beyond the end are computed in vain; each row loads once more.
    let price = |rows: i64, all: i64| (all.saturating_add(rows - 1) / rows).saturating_mul(rows + 1);
    let lines = known.map_or(LINES.to_vec(), |all| vec![all]);
    let sum = |rows: i64| lines.iter().map(|all| price(rows, *all).saturating_mul(1000) / all.max(&1)).sum::<i64>();
    let rows = match known {
        // Maps of short lines are those of 7 and 14.
        None if few && moved => most.min(7),
        None if moved => most.min(4),
        _ => (1..=most).rev().min_by_key(|rows| sum(*rows)).unwrap_or(1),
    };
    (rows, vectors * lanes)
}

/// Results of a group.
struct Block {
    columns: i64,
    rows: i64,
    /// Indices of the next dim outside that moves the window.
    lines: i64,
}

/// What a group's windows cover leaves room in a cache: the nearest one, or, where there are channels, one of the next size, since lines
/// are read one after another there.
fn block_of(region: &FusedRegion<'_>, nest: &Nest<'_>, plan: &ContractPlan, tile: (i64, i64), few: bool) -> Block {
    let (rows, columns) = tile;
    let (row, col) = (plan.row(), plan.col());
    let above = plan.rows.iter().rev().nth(1).copied();
    let read = nest.stages[plan.stage].inputs[plan.lhs].value;
    let bytes = element_bytes(nest.cx, nest.cx.element_type(nest.body.ty(read)));
    let covers = |block: &Block| {
        let some = [(Some(col), block.columns), (row, block.rows), (above, block.lines)];
        covered(nest, plan, &|dim| of_tile(nest, plan, &some, dim))
    };
    let moved = moves(nest, plan, col);
    let room = if moved { region.machine.nearest_bytes } else { region.machine.near_bytes } / 2;
    let near = |block: &Block| covers(block).saturating_mul(bytes) <= room;
    let tiles = |dim: usize, by: i64| nest.extents[dim].as_const().unwrap_or(LINE).max(1).saturating_add(by - 1) / by;
    let halves = |all: i64| std::iter::successors(Some(all), |tiles| (*tiles > 1).then_some((tiles + 1) / 2));
    let with = |columns: i64, rows: i64, lines: i64| Block { columns, rows, lines };
    let along = if few || !moved { 1 } else { tiles(col, columns) };
    let line = halves(along).map(|tiles| tiles * columns).find(|line| near(&with(*line, rows, 1))).unwrap_or(columns);
    let Some(row) = row else { return with(line, 1, 1) };
    let groups = plan.batch.iter().map(|dim| likely_size(&region.facts, &nest.extents[*dim]));
    let groups = groups.fold(tiles(col, line), i64::saturating_mul);
    let (all, lines) = (tiles(row, rows), above.map_or(1, |above| tiles(above, 1)));
    let blocks = halves(all).flat_map(|tiles| halves(lines).map(move |lines| with(line, tiles * rows, lines)));
    let enough = |block: &Block| (all * rows / block.rows * lines / block.lines).saturating_mul(groups) >= GROUPS;
    // What neighbouring groups bring both is least.
    let each = |block: &Block| covers(block).saturating_mul(1 << 10) / (block.rows * block.lines);
    blocks.filter(|block| near(block) && enough(block)).min_by_key(each).unwrap_or(with(line, rows, 1))
}

/// Whether a dim moves the window.
fn moves(nest: &Nest<'_>, plan: &ContractPlan, dim: usize) -> bool {
    let lhs = &nest.stages[plan.stage].inputs[plan.lhs];
    let with = |e: &AffineExpr| plan.sums.iter().any(|sum| nest.mentions_expr(*e, *sum));
    lhs.index.iter().any(|e| nest.mentions_expr(*e, dim) && with(e))
}

/// A tile of a window's results, and what follows them.
pub(super) fn places(nest: &Nest<'_>, plan: &ContractPlan, tile: &Tile) -> Vec<Node> {
    let row = plan.row().filter(|row| !nest.is_unit(*row));
    let mut body = vec![Node::Place(place(nest, plan.stage, tile))];
    let along_rows = |dim: &usize| {
        let lhs = &nest.stages[plan.stage].inputs[plan.lhs];
        row.is_some_and(|row| lhs.index.iter().any(|e| nest.mentions_expr(*e, row) && nest.mentions_expr(*e, *dim)))
    };
    let (inner, outer): (Vec<usize>, Vec<usize>) = plan.sums.iter().partition(|dim| along_rows(dim));
    body = outer.iter().chain(&inner).rev().fold(body, |body, dim| vec![each(*dim, body)]);
    body.extend(plan.rest.iter().map(|s| Node::Place(place(nest, *s, tile))));
    body
}

fn kernel(region: &FusedRegion<'_>, nest: &Nest<'_>, plan: &ContractPlan, few: bool) -> Kernel {
    let (machine, col) = (region.machine, plan.col());
    let (rows, columns) = tile_of(region, nest, plan, few);
    let block = block_of(region, nest, plan, (rows, columns), few);
    let row = plan.row().filter(|row| !nest.is_unit(*row));
    let tile = Tile { rows: row.map(Dim), cols: Some(Dim(col)), space: machine.registers.to_string(), padded: false };
    let mut body = places(nest, plan, &tile);
    let inside =
        |dim: usize, by: i64, body: Vec<Node>| vec![Node::Loop(Loop::new(Dim(dim), Split::By(by), Runs::InTurn, body))];
    if block.columns > columns {
        body = inside(col, columns, body);
    }
    if let Some(row) = row.filter(|_| block.rows > rows) {
        body = inside(row, rows, body);
    }
    let (above, outer) = plan.rows.split_last().map_or((None, &[][..]), |(_, others)| match others.split_last() {
        Some((above, outer)) => (Some(*above).filter(|dim| !nest.is_unit(*dim)), outer),
        None => (None, others),
    });
    if let Some(above) = above {
        body = vec![each(above, body)];
    }
    let near = Tile { rows: None, cols: Some(Dim(col)), space: machine.cache.to_string(), padded: true };
    let (stage, input) = (stage_name(nest, plan.stage), plan.lhs);
    body.insert(0, Node::Operand(Operand::new((stage, input), near, Bring::Cache)));
    let others = plan.batch.iter().chain(outer).filter(|dim| !nest.is_unit(**dim)).map(|dim| (*dim, Split::One));
    let of_lines = above.map(|above| (above, Split::By(block.lines)));
    let of_rows = row.map(|row| (row, Split::By(block.rows)));
    let of_columns = [(col, Split::By(block.columns))];
    Kernel::new(in_grid(others.chain(of_lines).chain(of_rows).chain(of_columns).collect(), body))
}

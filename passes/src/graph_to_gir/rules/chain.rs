//! Chains: a group has some lines of a window's results, makes near what they are made of by tiles of a product, and moves the window
//! over it. What neighbouring groups both make are the lines between them; groups of few columns and of many lines have none.

use sutura_dialects::schedule::{Bring, Dim, Kernel, Launch, Node, Operand, Place, Split, Tile, Version};

use super::super::kernel::Built;
use super::super::region::{FusedRegion, Lowered};
use super::super::schedule::{Group, emit};
use super::convolution::{GROUPS, LINE, covered, of_tile, pack_kernel, side_by_side, sums};
use super::product::several;
use super::{each, in_grid, line_tiles, place, stage_name, window};
use crate::region::cost::likely_size;
use crate::region::{ChainPlan, Nest};

/// How a chain is shared among groups.
struct Blocks {
    /// Rows and columns of a tile of the product.
    head: (i64, i64),
    /// Rows and columns of a tile of the window.
    tail: (i64, i64),
    /// Columns of a group; all of them if nothing is said.
    columns: Option<i64>,
    /// Results of a group along a line.
    line: i64,
    /// The dim of lines of the window's results, and how many a group has.
    lines: Option<(usize, i64)>,
}

/// Lowers the region of a chain.
pub(in super::super) fn lower(region: &FusedRegion<'_>) -> Built<Lowered> {
    let fitted = Nest::of_chain(&region.facts, &region.ops, &region.outputs)
        .and_then(|nest| Ok((ChainPlan::of(&nest, &region.facts)?, nest)));
    let (plan, nest) =
        fitted.map_err(|misfit| Box::new(region.op.error(format!("is no region of a chain: {misfit}"))))?;
    let blocks = Blocks::of(region, &nest, &plan);
    let packed = pack_kernel(region.machine, &nest, &plan.head, blocks.head.1);
    let kernels = [packed, kernel(region, &nest, &plan, &blocks)];
    let launches = kernels.into_iter().map(|kernel| Launch { kernels: vec![kernel] }).collect();
    let version = Version { launches, ..Version::default() };
    let said = said(&nest, &plan, &blocks);
    emit(&[Group::by_rule(&[(region, &nest)], vec![version])]).map(|lowered| Lowered { remarks: vec![said], ..lowered })
}

impl Blocks {
    /// Rows and columns of a tile of the product. All rows of a tile are computed; lines that are whole tiles are read without a mask.
    fn head(region: &FusedRegion<'_>, nest: &Nest<'_>, plan: &ChainPlan) -> (i64, i64) {
        let (high, width) = line_tiles::of(region, nest, &plan.head);
        let line = plan.head.row().and_then(|row| nest.extents[row].as_const());
        let most = region.machine.tile(i64::MAX, width).0.max(high);
        let price = |line: i64, rows: i64| {
            let tiles = line.saturating_add(rows - 1) / rows;
            (tiles.saturating_mul(rows.max(BUSY) + LOADS), line % rows != 0)
        };
        let cheapest = |line: i64| (1..=most).rev().min_by_key(|rows| price(line, *rows));
        (line.and_then(cheapest).unwrap_or(high), width)
    }

    fn of(region: &FusedRegion<'_>, nest: &Nest<'_>, plan: &ChainPlan) -> Self {
        let (machine, facts) = (region.machine, &region.facts);
        let few = facts.range(&nest.extents[plan.tail.col()]).1 <= i128::from(machine.vectors.1);
        let head = Self::head(region, nest, plan);
        // Tiles of the window end where those of the product do.
        let tail = window::tile_of(region, nest, &plan.tail, few);
        let tail = if head.1 % tail.1 == 0 { tail } else { window::tile_of(region, nest, &plan.tail, true) };
        let row = plan.tail.row();
        let in_tiles = |all: i64, tile: i64| (all.max(1).saturating_add(tile - 1) / tile).saturating_mul(tile);
        let whole = in_tiles(row.and_then(|row| nest.extents[row].as_const()).unwrap_or(LINE), tail.0);
        let lines = plan.lines(nest);
        let all = |dim: usize| likely_size(facts, &nest.extents[dim]).max(1);
        let columns = in_tiles(all(plan.head.col()), head.1);
        let bytes = |columns: i64, line: i64, count: i64| {
            let made = |dim: Option<usize>, results: i64| {
                dim.and_then(|dim| plan.reach(nest, dim, results)).map_or(1, |(made, _)| made)
            };
            let (above, row) = (lines.map(|(above, _)| above), plan.head.row());
            let (height, width) = (made(above, count), made(row, line));
            let elements = height.saturating_mul(width).saturating_mul(columns);
            let some = [(row, width), (above, height)];
            let read = || covered(nest, &plan.head, &|dim| of_tile(nest, &plan.head, &some, dim)).saturating_mul(4);
            let read = if plan.convolves { read() } else { 0 };
            elements.saturating_mul(plan.element_bytes(nest)).saturating_add(read)
        };
        let near = |columns: i64, line: i64, count: i64| bytes(columns, line, count) <= machine.near_bytes;
        let halves = |all: i64, tile: i64| {
            let tiles = std::iter::successors(Some(all / tile), |tiles| (*tiles > 1).then_some((tiles + 1) / 2));
            tiles.map(move |tiles| tiles * tile)
        };
        let line = halves(whole, tail.0).find(|line| near(head.1, *line, 1)).unwrap_or(tail.0);
        let parallel = plan.tail.parallel().filter(|dim| Some(*dim) != row && *dim != plan.tail.col());
        let others = parallel.filter(|dim| lines.is_none_or(|(_, of)| of != *dim)).map(all).fold(1, i64::saturating_mul);
        let others = others.saturating_mul(whole / line);
        let height = lines.map_or(1, |(_, of)| all(of));
        let price = |(columns, count): &(i64, i64)| {
            let made = lines.and_then(|(above, _)| plan.reach(nest, above, *count));
            let of_lines = others.saturating_mul((height + count - 1) / count);
            let groups = of_lines.saturating_mul(all(plan.head.col()).saturating_add(columns - 1) / columns);
            let again = match made {
                Some((made, apart)) if *count < height => made.saturating_mul(1 << 10) / (apart * count).max(1),
                _ => 1 << 10,
            };
            let idle = (GROUPS - groups).max(0);
            // Of groups that make as much again the fewest.
            (again + again * idle * idle / (2 * GROUPS * GROUPS), groups)
        };
        let shares = halves(columns, head.1).flat_map(|columns| halves(height, 1).map(move |count| (columns, count)));
        let share = shares.filter(|(columns, count)| near(*columns, line, *count)).min_by_key(price);
        let (own, count) = share.unwrap_or((head.1, 1));
        let columns = (own < columns).then_some(own);
        Self { head, tail, columns, line, lines: lines.map(|(_, of)| (of, count)) }
    }
}

/// What a tile of the product costs beside its rows.
const LOADS: i64 = 2;

/// Rows that keep a processor busy.
const BUSY: i64 = 4;

/// The kernel: what is made near, and the window over it.
fn kernel(region: &FusedRegion<'_>, nest: &Nest<'_>, plan: &ChainPlan, blocks: &Blocks) -> Kernel {
    let (col, row) = (plan.tail.col(), plan.tail.row().filter(|row| !nest.is_unit(*row)));
    let registers = region.machine.registers.to_string();
    let tile = Tile { rows: row.map(Dim), cols: Some(Dim(col)), space: registers, padded: false };
    let mut body = window::places(nest, &plan.tail, &tile);
    let of_group = blocks.columns.unwrap_or(i64::MAX);
    body = several((col, blocks.tail.1, of_group), body);
    if let Some(row) = row {
        body = several((row, blocks.tail.0, blocks.line), body);
    }
    if let Some((above, _)) = blocks.lines {
        body = vec![each(above, body)];
    }
    body.insert(0, made_near(region, nest, plan, blocks));
    let lines = blocks.lines.map(|(above, count)| (above, Split::By(count)));
    let line = row.map(|row| (row, Split::By(blocks.line)));
    let columns = blocks.columns.map(|columns| (col, Split::By(columns)));
    let split = [lines, line, columns].into_iter().flatten();
    let others = plan.tail.parallel().filter(|dim| *dim != col && Some(*dim) != row && !nest.is_unit(*dim));
    let others = others.filter(|dim| blocks.lines.is_none_or(|(above, _)| above != *dim));
    Kernel::new(in_grid(others.map(|dim| (dim, Split::One)).chain(split).collect(), body))
}

/// What the window reads, made by tiles of the product: a panel of its columns for all lines.
fn made_near(region: &FusedRegion<'_>, nest: &Nest<'_>, plan: &ChainPlan, blocks: &Blocks) -> Node {
    let (head, machine) = (&plan.head, region.machine);
    let (row, col) = (head.row().expect("checked when the plan was made"), head.col());
    let tile = Tile { rows: Some(Dim(row)), cols: Some(Dim(col)), space: machine.registers.to_string(), padded: true };
    let contract = Node::Place(Place { contract: true, ..place(nest, head.stage, &tile) });
    let mut body = sums(head, None, vec![contract]);
    body.extend(head.rest.iter().map(|s| Node::Place(place(nest, *s, &tile))));
    body = several((row, blocks.head.0, i64::MAX), body);
    let own = plan.own(nest);
    body = own.iter().rev().filter(|dim| **dim != row).fold(body, |body, dim| vec![each(*dim, body)]);
    body = several((col, blocks.head.1, blocks.columns.unwrap_or(i64::MAX)), body);
    let cache = machine.cache.to_string();
    if plan.convolves {
        let near = Tile { rows: None, cols: side_by_side(nest, head), space: cache.clone(), padded: true };
        let operand = Operand::new((stage_name(nest, head.stage), head.lhs), near, Bring::Cache);
        body.insert(0, Node::Operand(operand));
    }
    let near = Tile { rows: None, cols: Some(Dim(col)), space: cache, padded: true };
    let operand = Operand::new((stage_name(nest, plan.tail.stage), plan.tail.lhs), near, Bring::Cache);
    Node::Operand(Operand { body, ..operand })
}

/// What is said of a chain.
fn said(nest: &Nest<'_>, plan: &ChainPlan, blocks: &Blocks) -> String {
    let what = if plan.convolves { "convolution" } else { "product" };
    let lines = blocks.lines.map_or(String::new(), |(_, count)| format!("{count} lines of "));
    let columns = blocks.columns.map_or(String::new(), |columns| format!(" in {columns} columns"));
    format!(
        "is a {what} of which a window reads the results: {}; then {}; a group makes near what {lines}{} results{columns} need",
        plan.head.roles(nest),
        plan.tail.roles(nest),
        blocks.line
    )
}

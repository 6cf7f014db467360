//! Chains: a group has some lines of a window's results, makes near what they are made of by tiles of a product, and moves the window
//! over it. What neighbouring groups both make are the lines between them; groups of few columns and of many lines have none.

use sutura_dialects::schedule::{Bring, Dim, Kernel, Launch, Node, Operand, Place, Split, Tile, Version};

use super::super::kernel::Built;
use super::super::region::{FusedRegion, Lowered};
use super::super::schedule::{Group, emit};
use super::convolution::{GROUPS, LINE, covered, of_tile, pack_kernel, side_by_side, sums};
use super::line_tiles::{self, BUSY, LINES};
use super::product::several;
use super::{each, in_grid, place, stage_name, window};
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
    /// What the product reads is brought near: by a window, or where lines are no whole tiles.
    brings: bool,
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
    /// Rows and columns of a tile of the product, all of which are computed.
    fn head(region: &FusedRegion<'_>, nest: &Nest<'_>, plan: &ChainPlan) -> (i64, i64) {
        let (high, width) = line_tiles::of(region, nest, &plan.head);
        let line = plan.head.row().and_then(|row| nest.extents[row].as_const());
        let lines = line.map_or(LINES.to_vec(), |line| vec![line.max(1)]);
        let most = region.machine.tile(i64::MAX, width).0.max(high);
        let busy = (BUSY / (width / region.machine.vectors.1.max(1)).max(1)).max(1);
        let of_line = |line: i64, rows: i64| {
            let tiles = line.saturating_add(rows - 1) / rows;
            tiles.saturating_mul(rows.max(busy) + LOADS).saturating_mul(1 << 10) / line
        };
        let price = |rows: i64| lines.iter().map(|line| of_line(*line, rows)).fold(0, i64::saturating_add);
        let ragged = |rows: i64| lines.iter().filter(|line| *line % rows != 0).count();
        ((1..=most).rev().min_by_key(|rows| (price(*rows), ragged(*rows))).unwrap_or(high), width)
    }

    fn of(region: &FusedRegion<'_>, nest: &Nest<'_>, plan: &ChainPlan) -> Self {
        let few = region.facts.range(&nest.extents[plan.tail.col()]).1 <= i128::from(region.machine.vectors.1);
        let head = Self::head(region, nest, plan);
        // Tiles of the window end where those of the product do.
        let tail = window::tile_of(region, nest, &plan.tail, few);
        let tail = if head.1 % tail.1 == 0 { tail } else { window::tile_of(region, nest, &plan.tail, true) };
        let read = plan.head.row().and_then(|row| nest.extents[row].as_const());
        let brings = plan.convolves || read.is_none_or(|read| read % head.0 != 0);
        let known = plan.tail.row().and_then(|row| nest.extents[row].as_const());
        let whole = in_tiles(known.unwrap_or(LINE), tail.0);
        let shares = Shares { region, nest, plan, head, brings, whole };
        let line = halves(whole, tail.0).find(|line| shares.fits(head.1, *line, 1)).unwrap_or(tail.0);
        let (own, count) = shares.best(line).unwrap_or((head.1, 1));
        let columns = (own < shares.columns()).then_some(own);
        Self { head, tail, columns, line, lines: plan.lines(nest).map(|(_, of)| (of, count)), brings }
    }
}

/// So many indices in whole tiles.
fn in_tiles(all: i64, tile: i64) -> i64 {
    (all.max(1).saturating_add(tile - 1) / tile).saturating_mul(tile)
}

/// All of so many tiles, half of them, and so on.
fn halves(all: i64, tile: i64) -> impl Iterator<Item = i64> {
    let tiles = std::iter::successors(Some(all / tile), |tiles| (*tiles > 1).then_some((tiles + 1) / 2));
    tiles.map(move |tiles| tiles * tile)
}

/// What groups can have of a chain.
struct Shares<'s, 'a> {
    region: &'s FusedRegion<'a>,
    nest: &'s Nest<'a>,
    plan: &'s ChainPlan,
    /// Rows and columns of a tile of the product.
    head: (i64, i64),
    brings: bool,
    /// Results of a line, or of a usual part of one.
    whole: i64,
}

impl Shares<'_, '_> {
    fn size(&self, dim: usize) -> i64 {
        likely_size(&self.region.facts, &self.nest.extents[dim]).max(1)
    }

    fn columns(&self) -> i64 {
        in_tiles(self.size(self.plan.head.col()), self.head.1)
    }

    /// How many lines of results there are.
    fn height(&self) -> i64 {
        self.plan.lines(self.nest).map_or(1, |(_, of)| self.size(of))
    }

    /// Whether what a group makes, and what it brings near for that, fits near.
    fn fits(&self, columns: i64, line: i64, count: i64) -> bool {
        let (nest, plan) = (self.nest, self.plan);
        let above = plan.lines(nest).map(|(above, _)| above);
        let results = |dim: usize| match dim {
            _ if Some(dim) == plan.head.row() => line,
            _ if Some(dim) == above => count,
            _ => 1,
        };
        let made = |dim: usize| (Some(dim), plan.reach(nest, dim, results(dim)).map_or(1, |(made, _)| made));
        let some: Vec<(Option<usize>, i64)> = plan.own(nest).into_iter().map(made).collect();
        let elements = some.iter().fold(columns, |all, (_, made)| all.saturating_mul(*made));
        let read = match self.brings {
            true => covered(nest, &plan.head, &|dim| of_tile(nest, &plan.head, &some, dim)).saturating_mul(4),
            false => 0,
        };
        elements.saturating_mul(plan.element_bytes(nest)).saturating_add(read) <= self.region.machine.near_bytes
    }

    /// The columns and the lines of a group, each of which has so many results of a line.
    fn best(&self, line: i64) -> Option<(i64, i64)> {
        let open = self.plan.lines(self.nest).is_some_and(|(_, of)| self.nest.extents[of].as_const().is_none());
        let most = if open { self.height().min(OPEN_LINES) } else { self.height() };
        let of_lines = |columns: i64| halves(most, 1).map(move |count| (columns, count));
        let shares = halves(self.columns(), self.head.1).flat_map(of_lines);
        let fitting = shares.filter(|(columns, count)| self.fits(*columns, line, *count));
        fitting.min_by_key(|(columns, count)| self.price(*columns, line, *count))
    }

    /// What is made for one element, in 1024ths, with what it costs to bring near what that is made of; more where threads have too few
    /// groups. Of groups that cost as much the fewest.
    fn price(&self, columns: i64, line: i64, count: i64) -> (i64, i64) {
        let (nest, plan, height) = (self.nest, self.plan, self.height());
        let lines = plan.lines(nest);
        let made = match lines.and_then(|(above, _)| plan.reach(nest, above, count)) {
            Some((made, apart)) if count < height => made.saturating_mul(1 << 10) / (apart * count).max(1),
            _ => 1 << 10,
        };
        let brought =
            if self.brings { made.saturating_mul(BROUGHT) / self.places().saturating_mul(columns).max(1) } else { 0 };
        let tiled = [plan.tail.row(), Some(plan.tail.col()), lines.map(|(_, of)| of)];
        let others = plan.tail.parallel().filter(|dim| !tiled.contains(&Some(*dim))).map(|dim| self.size(dim));
        let parts = [(self.whole, line), (height, count), (self.columns(), columns)];
        let parts = parts.into_iter().map(|(all, part)| all.saturating_add(part - 1) / part);
        let groups = others.chain(parts).fold(1, i64::saturating_mul);
        let idle = (GROUPS - groups).max(0);
        (made + brought + made * idle * idle / (2 * GROUPS * GROUPS), groups)
    }

    /// Places of the product's window: of so many sums a number that is brought near is a part.
    fn places(&self) -> i64 {
        let head = &self.plan.head;
        let lhs = &self.nest.stages[head.stage].inputs[head.lhs];
        let plain = |dim: &usize| lhs.index.iter().any(|e| self.nest.plain(*e) == Some(*dim));
        head.sums.iter().filter(|dim| !plain(dim)).map(|dim| self.size(*dim)).fold(1, i64::saturating_mul)
    }
}

/// What it costs to bring a number near, in products of a column.
const BROUGHT: i64 = 4;

/// Lines of a group at most where their number is open.
const OPEN_LINES: i64 = 32;

/// What a tile of the product costs beside its rows.
const LOADS: i64 = 2;

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
    if blocks.brings {
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
        "is a {what} whose results a window reads: {}; then {}; a group makes near what {lines}{} results{columns} need",
        plan.head.roles(nest),
        plan.tail.roles(nest),
        blocks.line
    )
}

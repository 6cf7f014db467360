//! Convolutions: a group has some lines of the result, brings near what their windows cover, and runs through the columns of the
//! packed weights with it. Rows of a register tile are neighbours along a line, whatever the window's step.

use sutura_dialects::schedule::{Bring, Dim, Kernel, Launch, Loop, Node, Operand, Place, Runs, Split, Tile, Version};
use sutura_ir::Type;

use super::super::kernel::Built;
use super::super::machine::Machine;
use super::super::region::{FusedRegion, Lowered};
use super::super::schedule::{Group, emit};
use super::super::tiles::zero;
use super::{each, in_grid, line_tiles, place, stage_name};
use crate::region::cost::likely_size;
use crate::region::{ContractPlan, Nest};

/// Results of a line from which on it is worth a pass over the weights.
const ROWS: i64 = 192;

/// Results of a group along a line where there may be more.
pub(super) const LINE: i64 = 56;

/// Groups that are left for threads.
pub(super) const GROUPS: i64 = 8;

/// Lines of a map of which those outside are left out.
const SMALL: i64 = 16;

/// How a convolution is shared among groups.
struct Blocks {
    /// Rows and columns of a register tile.
    tile: (i64, i64),
    /// Results of a group along a line.
    line: i64,
    /// Lines of a group.
    lines: i64,
    /// Each group has one tile of columns.
    columns_apart: bool,
}

/// Lowers the region of a convolution; nothing of any other.
pub(in super::super) fn lower(region: &FusedRegion<'_>) -> Option<Built<Lowered>> {
    let nest = Nest::of(&region.facts, &region.ops, &region.outputs).ok()?;
    let mut plan = ContractPlan::windowed(&nest).ok()?;
    let narrow = narrowed(region, &nest, &plan);
    plan.sums.sort_by_key(|dim| Some(*dim) != narrow);
    let version = schedule(region, &nest, &plan, narrow);
    let lowered = emit(&[Group::by_rule(&[(region, &nest)], vec![version])]);
    let said = said(region, &nest, &plan);
    Some(lowered.map(|lowered| Lowered { remarks: vec![said], ..lowered }))
}

/// The schedule of a convolution.
fn schedule(region: &FusedRegion<'_>, nest: &Nest<'_>, plan: &ContractPlan, narrow: Option<usize>) -> Version {
    let blocks = Blocks::of(region, nest, plan, line_tiles::of(region, nest, plan));
    let packed = pack_kernel(region.machine, nest, plan, blocks.tile.1);
    let kernels = [packed, kernel(region.machine, nest, plan, (&blocks, narrow))];
    let launches = kernels.into_iter().map(|kernel| Launch { kernels: vec![kernel] }).collect();
    Version { launches, ..Version::default() }
}

impl Blocks {
    /// Those with tiles of so many rows and columns.
    fn of(region: &FusedRegion<'_>, nest: &Nest<'_>, plan: &ContractPlan, (rows, width): (i64, i64)) -> Self {
        let (machine, facts) = (region.machine, &region.facts);
        let most = |dim: usize| i64::try_from(facts.range(&nest.extents[dim]).1).unwrap_or(i64::MAX);
        let (row, above) = plan.rows.split_last().expect("a convolution has rows");
        let known = nest.extents[*row].as_const();
        let whole = known.map_or((LINE / rows).max(1) * rows, |line| (line + rows - 1) / rows * rows);
        let near = |line: i64, lines: i64| {
            let some = [(Some(*row), line), (above.last().copied(), lines)];
            covered(nest, plan, &|dim| of_tile(nest, plan, &some, dim)).saturating_mul(4) <= machine.near_bytes
        };
        let line = (1..=whole / rows).rev().map(|tiles| tiles * rows).find(|line| near(*line, 1)).unwrap_or(rows);
        let height_of = above.last().map_or(1, |dim| most(*dim));
        let others = above.iter().rev().skip(1).chain(&plan.batch);
        let groups = others.map(|dim| likely_size(facts, &nest.extents[*dim])).fold(1, i64::saturating_mul);
        let wanted = (ROWS / line.max(1)).clamp(1, height_of.max(1));
        // Half the lines first where that leaves too few groups.
        let enough = |lines: i64| (height_of.saturating_add(lines - 1) / lines).saturating_mul(groups) >= GROUPS;
        let halves = std::iter::successors(Some(wanted), |lines| (*lines > 1).then_some(lines / 2));
        let fitting: Vec<i64> = halves.filter(|lines| near(line, *lines)).collect();
        let few = rows * 4 / line.max(1);
        let lines = fitting.iter().copied().find(|lines| enough(*lines) && *lines >= few);
        let columns_apart = lines.is_none();
        let lines = lines.or(fitting.first().copied()).unwrap_or(1);
        Self { tile: (rows, width), line, lines, columns_apart }
    }
}

/// Elements of the left factor that windows cover, where loops have left so many indices of each dim.
pub(super) fn covered(nest: &Nest<'_>, plan: &ContractPlan, indices: &dyn Fn(usize) -> i64) -> i64 {
    let fixed = |dim: usize| plan.batch.contains(&dim);
    let along = |expr| {
        let steps = nest.steps(expr, &fixed).expect("checked when the plan was made");
        steps.iter().fold(1i64, |sum, (dim, step)| sum.saturating_add(step.saturating_mul(indices(*dim) - 1)))
    };
    nest.stages[plan.stage].inputs[plan.lhs].index.iter().map(|e| along(*e)).fold(1, i64::saturating_mul)
}

/// So many indices of some dims, all of those that are summed over, and one of the others.
pub(super) fn of_tile(nest: &Nest<'_>, plan: &ContractPlan, some: &[(Option<usize>, i64)], dim: usize) -> i64 {
    match some.iter().find(|(of, _)| *of == Some(dim)) {
        Some((_, count)) => *count,
        None if plan.sums.contains(&dim) => nest.extents[dim].as_const().unwrap_or(i64::MAX),
        None => 1,
    }
}

/// Loops over what is summed up; over the places of a window that lie inside where `narrow` says so.
pub(super) fn sums(plan: &ContractPlan, narrow: Option<usize>, body: Vec<Node>) -> Vec<Node> {
    plan.sums.iter().rev().fold(body, |body, dim| match each(*dim, body) {
        Node::Loop(l) => vec![Node::Loop(Loop { inside: narrow == Some(*dim), ..l })],
        node => vec![node],
    })
}

/// The place of a window along which lines are left out that lie outside, since they are many of the lines of a small map. The loop
/// over it is the outermost one.
fn narrowed(region: &FusedRegion<'_>, nest: &Nest<'_>, plan: &ContractPlan) -> Option<usize> {
    let lines = *plan.rows[..plan.rows.len() - 1].last()?;
    let lhs = &nest.stages[plan.stage].inputs[plan.lhs];
    let index = lhs.index.iter().find(|e| nest.mentions_expr(**e, lines))?;
    let place = plan.sums.iter().copied().find(|dim| nest.mentions_expr(*index, *dim) && !nest.is_unit(*dim))?;
    let small = nest.extents[lines].as_const().is_none_or(|lines| lines <= SMALL);
    let outside = lhs.oob == Some(zero(nest.cx, Type::F32));
    let weights = nest.stages[plan.stage].inputs[plan.rhs].value;
    (small && outside && nest.plain(*index).is_none() && region.is_finite(weights)).then_some(place)
}

/// Dims of columns beside that of tiles.
fn outer_columns(plan: &ContractPlan) -> &[usize] {
    &plan.cols[..plan.cols.len() - 1]
}

/// Packs the weights in panels of so many columns.
pub(super) fn pack_kernel(machine: &Machine, nest: &Nest<'_>, plan: &ContractPlan, width: i64) -> Kernel {
    let space = machine.registers.to_string();
    let tile = Tile { rows: None, cols: Some(Dim(plan.col())), space, padded: true };
    let (stage, input) = (stage_name(nest, plan.stage), plan.rhs);
    let pack = Node::Operand(Operand::new((stage, input), tile, Bring::Pack));
    let outer = plan.batch.iter().chain(outer_columns(plan)).map(|dim| (*dim, Split::One));
    let grid = outer.chain([(plan.col(), Split::By(width))]).collect();
    Kernel::new(in_grid(grid, sums(plan, None, vec![pack])))
}

fn kernel(
    machine: &Machine,
    nest: &Nest<'_>,
    plan: &ContractPlan,
    (blocks, narrow): (&Blocks, Option<usize>),
) -> Kernel {
    let (row, above) = plan.rows.split_last().expect("a convolution has rows");
    let (rows, col) = (Some(Dim(*row)), Some(Dim(plan.col())));
    let tile = Tile { rows, cols: col, space: machine.registers.to_string(), padded: false };
    let contract = Node::Place(Place { contract: true, ..place(nest, plan.stage, &tile) });
    let mut body = sums(plan, narrow, vec![contract]);
    body.extend(plan.rest.iter().map(|s| Node::Place(place(nest, *s, &tile))));
    let inner =
        |dim: usize, split: Split, body: Vec<Node>| vec![Node::Loop(Loop::new(Dim(dim), split, Runs::InTurn, body))];
    if blocks.line > blocks.tile.0 {
        body = inner(*row, Split::By(blocks.tile.0), body);
    }
    if let Some(lines) = above.last() {
        body = vec![each(*lines, body)];
    }
    let columns = (plan.col(), Split::By(blocks.tile.1));
    if !blocks.columns_apart {
        body = inner(columns.0, columns.1, body);
        body = outer_columns(plan).iter().rev().fold(body, |body, dim| vec![each(*dim, body)]);
    }
    let columns: Vec<_> = outer_columns(plan).iter().map(|dim| (*dim, Split::One)).chain([columns]).collect();
    let columns = if blocks.columns_apart { columns } else { vec![] };
    let near = Tile { rows: None, cols: side_by_side(nest, plan), space: machine.cache.to_string(), padded: true };
    let (stage, input) = (stage_name(nest, plan.stage), plan.lhs);
    body.insert(0, Node::Operand(Operand::new((stage, input), near, Bring::Cache)));
    let mut grid: Vec<(usize, Split)> = plan.batch.iter().map(|dim| (*dim, Split::One)).collect();
    if let Some((lines, others)) = above.split_last() {
        grid.extend(others.iter().map(|dim| (*dim, Split::One)));
        grid.extend(columns);
        grid.push((*lines, Split::By(blocks.lines)));
    } else {
        grid.extend(columns);
    }
    grid.push((*row, Split::By(blocks.line)));
    Kernel::new(in_grid(grid, body))
}

/// The dim along which the left factor is copied: that of rows, or of channels where these lie side by side.
pub(super) fn side_by_side(nest: &Nest<'_>, plan: &ContractPlan) -> Option<Dim> {
    let last = nest.stages[plan.stage].inputs[plan.lhs].index.last()?;
    let along = |dim: &&usize| nest.mentions_expr(*last, **dim);
    plan.rows.last().into_iter().chain(&plan.sums).find(along).map(|dim| Dim(*dim))
}

/// What is said of a convolution.
fn said(region: &FusedRegion<'_>, nest: &Nest<'_>, plan: &ContractPlan) -> String {
    let blocks = Blocks::of(region, nest, plan, line_tiles::of(region, nest, plan));
    let Blocks { tile: (rows, columns), lines, line, .. } = blocks;
    format!(
        "is a convolution: {}; tiles of {rows}x{columns}, and a group keeps near what the windows of {lines} lines of {line} results \
         cover",
        plan.roles(nest)
    )
}

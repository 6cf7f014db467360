//! Regions that move columns: where tensors lie in memory along different dims, square tiles in registers run along both.
//!
//! A group has a block of such tiles that fits the nearest cache twice over, once as it is read and once as it is
//! written, so that lines of which a tile has only a part are still near when the next tile takes the rest.
//!
//! Where the innermost dim of a tensor is short (channels behind pixels), a tile has all of it as rows, and several vectors along the
//! other dim. The lowering reads and writes such interleaved rows in whole vectors.

use sutura_dialects::r#dyn::Facts;
use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::schedule::{Dim, Kernel, Loop, Node, Runs, Split, Tile};

use super::super::machine::Machine;
use super::super::region::FusedRegion;
use super::{in_grid, place};
use crate::region::form::divides;
use crate::region::nest::Stage;
use crate::region::rows::{Sharing, check_column_access};
use crate::region::{Access, Nest, RowPlan, Windows};

/// How a region is done in square tiles.
pub(super) struct Turned<'r, 'a> {
    nest: &'r Nest<'a>,
    machine: &'r Machine,
    plan: &'r RowPlan,
    /// The dims of the tiles.
    row: Block,
    col: Block,
    /// Rows and columns of a tile.
    tile: (i64, i64),
}

/// Tiles of a group along a dim.
struct Block {
    dim: usize,
    tiles: i64,
}

impl<'r, 'a> Turned<'r, 'a> {
    /// Fits a region of rows; `None` where nothing lies along another dim than the columns, or something is combined.
    /// `tiles` are those along a side of a block, or as many as fit the nearest cache.
    pub(super) fn of(
        region: &'r FusedRegion<'a>,
        nest: &'r Nest<'a>,
        plan: &'r RowPlan,
        tiles: Option<i64>,
    ) -> Option<Self> {
        let tile = tile_of(region.machine)?;
        let col = plan.col?;
        let combines = plan.reduces || !plan.loops.is_empty() || plan.sharing != Sharing::Rows;
        let row = other_dim(nest, col).filter(|row| !combines && plan.rows.contains(row))?;
        nest.check_indices(&[row, col]).ok()?;
        // What lies beyond the tensors is read as zero; an index is picked for a row, not for a tile.
        let stays = |s: &Stage| !s.picks.is_empty() || s.body.is_some_and(|body| body.ops().any(divides));
        if nest.stages.iter().any(stays) {
            return None;
        }
        let all = || nest.external_reads().chain(nest.output_writes()).map(|(_, access)| access);
        let runs = |access: &Access| {
            let both = |e| nest.mentions_expr(e, row) && nest.mentions_expr(e, col);
            let straight = |dim| check_column_access(nest, access, dim).is_ok();
            access.oob.is_none() && straight(row) && straight(col) && !access.index.iter().any(|e| both(*e))
        };
        let written =
            |access: &Access| [row, col].iter().all(|d| access.index.iter().any(|e| nest.plain(*e) == Some(*d)));
        if !all().all(runs) || !nest.output_writes().all(|(_, write)| written(write)) {
            return None;
        }
        if let Some((few, rows, wide)) = in_turns(nest, region.machine, (row, col)) {
            let (few, wide) = (Block { dim: few, tiles: 1 }, Block { dim: wide, tiles: BESIDE });
            return Some(Self {
                nest,
                machine: region.machine,
                plan,
                row: few,
                col: wide,
                tile: (rows, VECTORS * tile),
            });
        }
        let bytes =
            all().map(|a| crate::region::cost::element_bytes(nest.cx, nest.cx.element_type(nest.body.ty(a.value))));
        let most = tiles.unwrap_or_else(|| tiles_along(region.machine, tile, bytes.max().unwrap_or(8)));
        let block = |dim: usize| {
            let (_, size) = region.facts.range(&nest.extents[dim]);
            let all = Poly::constant(i64::try_from(size).unwrap_or(i64::MAX)).ceildiv(tile);
            Block { dim, tiles: most.min(all.as_const().unwrap_or(most)).max(1) }
        };
        Some(Self { nest, machine: region.machine, plan, row: block(row), col: block(col), tile: (tile, tile) })
    }

    /// Most tiles along a side of a block.
    pub(super) fn tiles_along(&self) -> i64 {
        self.row.tiles.max(self.col.tiles)
    }

    /// Sizes that must not be negative for tiles to be mostly whole; `None` where they never are.
    pub(super) fn guards(&self, facts: &Facts) -> Option<Vec<Poly>> {
        let mut guards = Vec::new();
        for (block, tile) in [(&self.row, self.tile.0), (&self.col, self.tile.1)] {
            let (extent, least) = (&self.nest.extents[block.dim], tile / 2);
            let (low, high) = facts.range(extent);
            if high < i128::from(least) {
                return None;
            }
            if low < i128::from(least) {
                guards.push(extent.sub(&least.into()));
            }
        }
        Some(guards)
    }

    /// The kernel: each group has a block of tiles.
    pub(super) fn kernel(&self) -> Kernel {
        let (nest, machine) = (self.nest, self.machine);
        let others =
            self.plan.rows.iter().copied().filter(|d| ![self.row.dim, self.col.dim].contains(d) && !nest.is_unit(*d));
        let both = [(&self.row, self.tile.0), (&self.col, self.tile.1)];
        let blocks = both.map(|(block, tile)| (block.dim, Split::By(block.tiles * tile)));
        let space = machine.registers.to_string();
        let tile = Tile { rows: Some(Dim(self.row.dim)), cols: Some(Dim(self.col.dim)), space, padded: true };
        let places = (0..nest.stages.len()).map(|s| Node::Place(place(nest, s, &tile))).collect();
        let inside = both.into_iter().rev().filter(|(block, _)| block.tiles > 1).fold(places, |body, (block, tile)| {
            let split = Split::By(tile);
            vec![Node::Loop(Loop::new(Dim(block.dim), split, Runs::InTurn, body))]
        });
        Kernel::new(in_grid(others.map(|d| (d, Split::One)).chain(blocks).collect(), inside))
    }
}

/// Vectors along the longer dim of tiles that have all of a short one, and such tiles of a group.
const VECTORS: i64 = 4;
const BESIDE: i64 = 16;

/// Indices of a dim that is short.
const SHORT: std::ops::RangeInclusive<i64> = 2..=8;

/// The short one of two dims, its extent, and the other dim, where the two are the last dims of a tensor in the order (other, short).
/// On GPUs neighbouring threads access interleaved elements together anyway.
fn in_turns(nest: &Nest<'_>, machine: &Machine, dims: (usize, usize)) -> Option<(usize, i64, usize)> {
    if machine.windows() != Windows::Near {
        return None;
    }
    let short = |dim: usize| nest.extents[dim].as_const().filter(|n| SHORT.contains(n) && *n < machine.vectors.1);
    let pairs = [(dims.0, dims.1), (dims.1, dims.0)];
    let (few, rows, wide) = pairs.into_iter().find_map(|(few, wide)| Some((few, short(few)?, wide)))?;
    let in_turns = |access: &Access| {
        let last =
            |behind: usize| access.index.len().checked_sub(1 + behind).and_then(|at| nest.plain(access.index[at]));
        last(0) == Some(few) && last(1) == Some(wide)
    };
    let mut all = nest.external_reads().chain(nest.output_writes());
    all.any(|(_, access)| in_turns(access)).then_some((few, rows, wide))
}

/// Rows and columns of a square tile: a vector's elements, as long as as many vectors fit half of the registers. `None` for a
/// machine without vectors.
fn tile_of(machine: &Machine) -> Option<i64> {
    let (registers, lanes) = machine.vectors;
    (lanes > 1 && lanes <= registers / 2).then_some(lanes)
}

/// Tiles along a side of a block of elements of so many bytes.
fn tiles_along(machine: &Machine, tile: i64, bytes: i64) -> i64 {
    let room = machine.nearest_bytes / 2 / bytes.max(1) / (tile * tile);
    1 << (room.max(1).ilog2() / 2)
}

/// The dim along which most tensors lie that do not lie along the columns, of those that have both.
fn other_dim(nest: &Nest<'_>, col: usize) -> Option<usize> {
    // A column further on, of a half of a tensor for one, is still a column.
    let moves = |e| (0..nest.extents.len()).any(|dim| !nest.is_unit(dim) && nest.mentions_expr(e, dim));
    let last = |access: &Access| access.index.iter().rev().find(|e| moves(**e)).and_then(|e| nest.plain(*e));
    let turned = |access: &Access| last(access).filter(|d| *d != col && nest.mentions(access, col));
    let accesses = nest.external_reads().chain(nest.output_writes());
    let dims: Vec<usize> = accesses.filter_map(|(_, access)| turned(access)).collect();
    let count = |dim: usize| dims.iter().filter(|d| **d == dim).count();
    // The first of those with the most.
    dims.iter().copied().rev().max_by_key(|d| count(*d))
}

//! Products of groups of several units, whose factors lie in the group's memory while all of its units need them.
//!
//! A group has a tile of the product for each unit, one below the other. Along the last of the dims that are summed over it goes
//! in blocks: every unit copies its part of a block of either factor into the group's memory, and when all have, each
//! adds what its rows and all columns of the block make. What lies beyond the end of a factor is zero there.
//!
//! Such blocks are what made products fast on GPUs: Volkov and Demmel, "Benchmarking GPUs to tune dense linear algebra" (SC 2008).

use sutura_dialects::gir::constraints::Scope;
use sutura_dialects::gir::ops::{AllocOp, ContractOp, LoadOp, SliceOp, StoreOp, SyncOp};
use sutura_dialects::gir::types::{SliceType, TileType, ViewType};
use sutura_ir::{Type, Value};

use super::contract::{Indices, Product};
use super::kernel::{Built, Emit};
use super::machine::{GroupTile, LowerTile};
use super::stages::Known;
use super::tiles::{Axis, Covers, Frame, Shape, Tile, zero};

/// Rows up to which a unit had better have rows of its own: half a group's tile would be computed in vain.
const FEW_ROWS: i64 = 32;

/// Places of a sum up to which copies and waiting are most of the work.
const FEW_PLACES: i128 = 8;

/// The memory of a group, and the unit that copies into it.
struct Stage<'t> {
    tile: &'t GroupTile,
    unit: Value,
    /// `[rows of all units, depth]`
    left: Value,
    /// `[depth, columns]`
    right: Value,
}

impl Product<'_, '_> {
    /// The tile of a group whose units share both factors, and the versions for few rows where there may be few; or why there is
    /// none. Nothing where the machine's groups have no memory for them.
    pub(super) fn shared_tile(&self) -> Option<Result<(GroupTile, Vec<LowerTile>), String>> {
        let (facts, plan, machine) = (&self.walk.region.facts, self.plan, self.walk.region.machine);
        if machine.group_tiles().is_empty() {
            return None;
        }
        let last = *plan.sums.last()?;
        let places = facts.range(&self.extent(last)).1;
        let tile = match machine.group_tile(self.tile.1, i64::try_from(places).unwrap_or(i64::MAX)) {
            Ok(tile) => tile,
            Err(why) => return Some(Err(why)),
        };
        let (least, most) = plan.row().map_or((1, 1), |row| facts.range(&self.extent(row)));
        let why = if most <= i128::from(FEW_ROWS) {
            format!("it has no more than {most} rows")
        } else if places <= FEW_PLACES {
            format!("its sums have no more than {places} places")
        } else if !plan.left.is_empty() {
            "its left factor is made by the groups".to_owned()
        } else if !self.left_lies_in_rows() {
            "the places of a sum do not lie side by side in its left factor".to_owned()
        } else {
            let few = if least <= i128::from(FEW_ROWS) { self.versions_for_few() } else { vec![] };
            return Some(Ok((tile, few)));
        };
        Some(Err(why))
    }

    /// The versions for as few rows as are not shared: the lower tiles for fewer, and one for the rest.
    fn versions_for_few(&self) -> Vec<LowerTile> {
        let all = LowerTile { rows: self.tile.0, most: FEW_ROWS };
        let mut few: Vec<LowerTile> = self
            .lower
            .iter()
            .chain([&all])
            .map(|lower| LowerTile { most: lower.most.min(FEW_ROWS), ..*lower })
            .collect();
        // Of versions for equally many rows only the first would run.
        few.dedup_by_key(|lower| lower.most);
        few
    }

    /// What is said of groups that share factors, or do not.
    pub(super) fn said_of_sharing(&self) -> Option<String> {
        let direct = || format!("a unit has a tile of {} x {} of the product for itself", self.tile.0, self.tile.1);
        match (&self.group_tile, self.shared_tile()?) {
            (Some(GroupTile { rows, columns, depth, units, space, .. }), _) => {
                let few = self.lower.last().map(|lower| format!("; up to {} rows a unit is a group", lower.most));
                let few = few.unwrap_or_default();
                let tile = format!("{} x {columns} of the product", units * rows);
                Some(format!(
                    "a group of {units} units has {tile}, and {depth} places of both factors in '{space}'{few}"
                ))
            }
            (None, Err(why)) => Some(format!("{}: {why}", direct())),
            (None, Ok(_)) => None,
        }
    }

    /// Whether the left factor is a tensor in which the places of a sum lie side by side.
    fn left_lies_in_rows(&self) -> bool {
        let lhs = &self.stage().inputs[self.plan.lhs];
        let dims: Option<Vec<usize>> = lhs.index.iter().map(|expr| self.nest.plain(*expr)).collect();
        let float = self.nest.cx.element_type(self.nest.body.ty(lhs.value)) == Type::F32;
        let inside = lhs.oob.is_none() && lhs.slot.is_none();
        float && inside && dims.is_some_and(|dims| dims.last() == self.plan.sums.last())
    }

    /// A group's tile of the product, and what follows it.
    pub(super) fn staged_body(
        &self,
        e: &mut Emit<'_>,
        known: &Known,
        packed: Option<Value>,
        tile: &GroupTile,
    ) -> Built<()> {
        let (grid, unit) = (e.grid.clone(), e.unit.expect("the header has several units"));
        let panel_dims = self.panel_dims();
        let mut indices: Indices = panel_dims.iter().copied().zip(grid.iter().copied()).collect();
        let (panel, rest) = (grid[panel_dims.len()], &grid[panel_dims.len() + 1..]);
        indices.extend(self.outer_rows().iter().copied().zip(rest.iter().copied()));
        let own = e.scaled(*grid.last().expect("row tiles are the last of the grid"), tile.units, Some(unit));
        let axis = |dim, base, extent: i64| Some(Axis { dim, base, extent: extent.into() });
        let mut frame = self.frame(e, &indices);
        let (row, col) = (e.scaled(own, tile.rows, None), e.scaled(panel, tile.columns, None));
        frame.row = axis(self.plan.row().expect("a product of several units has rows"), row, tile.rows);
        frame.col = axis(self.plan.col(), col, tile.columns);
        let stage = self.stage_of(e, unit, tile);
        let mut known = known.of_views();
        let shape = Shape { rows: true, cols: true };
        let init = e.fill(&frame, zero(self.nest.cx, Type::F32), Type::F32, shape);
        e.loc = self.stage().op.loc();
        let (last, outer) = self.plan.sums.split_last().expect("there is a sum");
        let sum = self.sum_loops(e, &mut indices, outer, &[init.value], &mut |e, indices, carried| {
            e.for_loop(&self.extent(*last).ceildiv(tile.depth), carried, &mut |e, block, carried| {
                let start = e.scaled(block, tile.depth, None);
                self.stage_left(e, (&known, &frame, indices), start, &stage)?;
                self.stage_right(e, (&known, &frame, indices), (start, panel, packed), &stage)?;
                SyncOp::build(&mut e.b, e.loc);
                let sum = self.steps(e, &stage, carried[0])?;
                SyncOp::build(&mut e.b, e.loc);
                Ok(vec![sum])
            })
        })?;
        let product = Tile { value: sum[0], shape, elem: Type::F32, window: Covers::All, cached: false };
        self.behind_product(e, &frame, product, &mut known)
    }

    fn stage_of<'t>(&self, e: &mut Emit<'_>, unit: Value, tile: &'t GroupTile) -> Stage<'t> {
        let loc = e.loc;
        let mut memory = |rows: i64, columns: i64| {
            let ty = self.nest.cx.ext_type(ViewType::new(&tile.space, Type::F32, vec![rows.into(), columns.into()]));
            e.at_start(|b| AllocOp::value(b, loc, Scope::Group, ty))
        };
        let (left, right) = (memory(tile.units * tile.rows, tile.depth), memory(tile.depth, tile.columns));
        Stage { tile, unit, left, right }
    }

    /// A unit copies the places of its own rows.
    fn stage_left(
        &self,
        e: &mut Emit<'_>,
        (known, frame, indices): (&Known, &Frame, &Indices),
        start: Value,
        stage: &Stage<'_>,
    ) -> Built<()> {
        let (lhs, tile) = (&self.stage().inputs[self.plan.lhs], stage.tile);
        let mut left = self.frame(e, indices);
        left.row.clone_from(&frame.row);
        left.col = self.places(start, tile.depth);
        let view = known.view(self.stage().op, lhs.value)?;
        let outside = zero(self.nest.cx, Type::F32).into();
        let copied = e.load(self.nest, &left, view, &lhs.index, Some(outside));
        let at = [e.scaled(stage.unit, tile.rows, None), e.constant(0)];
        let to = self.part(e, stage.left, at, (tile.rows, tile.depth));
        StoreOp::build(&mut e.b, e.loc, copied.value, to);
        Ok(())
    }

    /// A unit copies its share of the places, with all columns.
    fn stage_right(
        &self,
        e: &mut Emit<'_>,
        (known, frame, indices): (&Known, &Frame, &Indices),
        (start, panel, packed): (Value, Value, Option<Value>),
        stage: &Stage<'_>,
    ) -> Built<()> {
        let (cx, tile) = (self.nest.cx, stage.tile);
        let share = tile.depth / tile.units;
        let own = e.scaled(stage.unit, share, None);
        let first = e.scaled(start, 1, Some(own));
        let outside = zero(cx, Type::F32);
        let copied = match packed {
            Some(packed) => {
                let mut offsets: Vec<Value> = self.panel_dims().iter().map(|d| indices[d]).collect();
                offsets.push(panel);
                let (_, outer) = self.plan.sums.split_last().expect("there is a sum");
                offsets.extend(outer.iter().map(|d| indices[d]));
                offsets.extend([first, e.constant(0)]);
                let (row, col) = (offsets.len() as i64 - 2, offsets.len() as i64 - 1);
                let space = self.walk.region.machine.memory.clone();
                let ty = SliceType { space, elem: Type::F32, rows: share.into(), cols: tile.columns.into() };
                let ty = cx.ext_type(ty);
                let slice = SliceOp::value(&mut e.b, e.loc, packed, &offsets, Some(row), Some(col), ty);
                let ty = self.in_registers(share, tile.columns);
                LoadOp::value(&mut e.b, e.loc, slice, Some(outside), ty)
            }
            None => {
                let mut right = self.frame(e, indices);
                right.row = self.places(first, share);
                right.col.clone_from(&frame.col);
                let view = known.view(self.stage().op, self.rhs().value)?;
                e.load(self.nest, &right, view, &self.rhs().index, Some(outside.into())).value
            }
        };
        let at = [own, e.constant(0)];
        let to = self.part(e, stage.right, at, (share, tile.columns));
        StoreOp::build(&mut e.b, e.loc, copied, to);
        Ok(())
    }

    fn places(&self, base: Value, extent: i64) -> Option<Axis> {
        let dim = *self.plan.sums.last().expect("there is a sum");
        Some(Axis { dim, base, extent: extent.into() })
    }

    /// Adds what a unit's rows and all columns make of a block.
    fn steps(&self, e: &mut Emit<'_>, stage: &Stage<'_>, sum: Value) -> Built<Value> {
        let tile = stage.tile;
        let rows = e.scaled(stage.unit, tile.rows, None);
        let sums = e.for_loop(&(tile.depth / tile.step).into(), &[sum], &mut |e, step, carried| {
            let (place, zero) = (e.scaled(step, tile.step, None), e.constant(0));
            let mut factor = |memory, at, (rows, columns)| {
                let slice = self.part(e, memory, at, (rows, columns));
                LoadOp::value(&mut e.b, e.loc, slice, None, self.in_registers(rows, columns))
            };
            let left = factor(stage.left, [rows, place], (tile.rows, tile.step));
            let right = factor(stage.right, [place, zero], (tile.step, tile.columns));
            Ok(vec![ContractOp::value(&mut e.b, e.loc, left, right, carried[0])])
        })?;
        Ok(sums[0])
    }

    /// A part of the group's memory.
    fn part(&self, e: &mut Emit<'_>, memory: Value, at: [Value; 2], (rows, columns): (i64, i64)) -> Value {
        let space = e.space_of(memory);
        let ty = SliceType { space, elem: Type::F32, rows: rows.into(), cols: columns.into() };
        let ty = self.nest.cx.ext_type(ty);
        SliceOp::value(&mut e.b, e.loc, memory, &at, Some(0), Some(1), ty)
    }

    fn in_registers(&self, rows: i64, columns: i64) -> Type {
        let registers = &self.walk.region.machine.registers;
        self.nest.cx.ext_type(TileType::constant(registers, Type::F32, rows, columns))
    }
}

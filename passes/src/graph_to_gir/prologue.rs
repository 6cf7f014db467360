//! Products whose factors the region makes.
//!
//! A right factor is made where its panels are packed. A left factor is made and packed by the groups of the product: each
//! has a block of rows and a part of the columns, makes its rows one after another in a loop over whole rows, keeps
//! them in the cache, and runs through its panels with them. Rows are made anew for each part of the columns, so parts
//! are wide where rows are dear, see [`ContractPlan::columns_per_packing`](crate::region::ContractPlan).

use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::gir::constraints::Axis as Direction;
use sutura_dialects::gir::ops::{LoadOp, ReduceOp, SliceOp, StoreOp};
use sutura_dialects::gir::types::{SliceType, TileType, ViewType};
use sutura_ir::Value;

use super::contract::{Factors, Indices, Product};
use super::kernel::{Built, Emit};
use super::scalars::{accumulator, result_elem, tile_combiner};
use super::stages::Known;
use super::tiles::{Axis, Covers, Frame, Number, Shape, Tile};
use crate::region::Stage;
use crate::region::cost::likely_size;

/// Most tiles of rows that share a pass over the columns of a group.
const MOST_TILES: i64 = 4;

/// Fewest groups that are left for threads where rows are shared among them.
const GROUPS: i64 = 4;

/// What a group has of a product whose left factor it packs.
#[derive(Clone, Copy, Default)]
pub(super) struct Blocks {
    /// Tiles of rows.
    pub(super) tiles: i64,
    /// Panels of columns; `None` for all of an unknown number.
    pub(super) panels: Option<i64>,
}

impl Product<'_, '_> {
    /// Bytes of a packed row at most, or none where the left factor is not packed.
    fn row_bytes(&self) -> Option<i64> {
        let facts = &self.walk.region.facts;
        let most = facts.range(&self.plan.row_length(self.nest)).1;
        (!self.plan.left.is_empty()).then(|| i64::try_from(most).unwrap_or(i64::MAX).saturating_mul(4).max(1))
    }

    /// Rows that the group can keep near.
    pub(super) fn rows_near(&self) -> i64 {
        self.row_bytes().map_or(i64::MAX, |bytes| (self.walk.region.machine.near_bytes / bytes).max(1))
    }

    /// Few tiles where there are few rows, so that threads share them; and panels enough that making a row pays.
    pub(super) fn usual_blocks(&self) -> Blocks {
        let region = self.walk.region;
        let rows = self.plan.row().map_or(1, |row| likely_size(&region.facts, &self.extent(row)));
        let shared = (rows / (GROUPS * self.tile.0)).max(1);
        let tiles = MOST_TILES.min(self.rows_near() / self.tile.0).min(shared).max(1);
        let least = i64::try_from(self.plan.columns_per_packing(self.nest)).unwrap_or(i64::MAX);
        let panels = self.panels().as_const().map(|all| {
            let enough = |n: &i64| all % n == 0 && n.saturating_mul(self.tile.1) >= least;
            (1..=all).find(enough).unwrap_or(all).max(1)
        });
        Blocks { tiles, panels }
    }

    /// Parts into which the columns are cut.
    pub(super) fn column_parts(&self) -> i64 {
        let all = self.panels().as_const();
        all.zip(self.blocks.panels).map_or(1, |(all, of_group)| all / of_group)
    }

    /// What the region makes of the right factor at the place of a frame, or reads.
    pub(super) fn right_factor(&self, e: &mut Emit<'_>, frame: &Frame, known: &Known) -> Built<Number> {
        let mut known = known.of_views();
        for i in &self.plan.right {
            self.produce(e, frame, &self.nest.stages[*i], &mut known)?;
        }
        let factor = &self.stage().inputs[self.plan.rhs];
        e.loc = self.stage().op.loc();
        self.walk.arg(e, frame, (self.stage().op, factor), &mut known)
    }

    /// Rows of the left factor, packed, and their product with a part of the columns.
    pub(super) fn stitched_body(&self, e: &mut Emit<'_>, known: &Known, packed: Option<Value>) -> Built<()> {
        let grid = e.grid.clone();
        let panel_dims = self.panel_dims();
        let mut indices: Indices = panel_dims.iter().copied().zip(grid.iter().copied()).collect();
        let part = grid[panel_dims.len()];
        let rest = &grid[panel_dims.len() + 1..];
        indices.extend(self.outer_rows().iter().copied().zip(rest.iter().copied()));
        let rows = self.tile.0;
        let first = self.plan.row().map(|dim| {
            let block = *grid.last().expect("blocks of rows are the last of the grid");
            (dim, e.scaled(block, rows * self.blocks.tiles, None))
        });
        let near = e.alloc(self.near());
        self.each(e, self.blocks.tiles.into(), &mut |e, tile| {
            e.for_loop(&rows.into(), &[], &mut |e, row, _| {
                let axis = first.map(|(dim, first)| {
                    let at = e.scaled(tile, rows, Some(row));
                    Axis { dim, base: e.scaled(first, 1, Some(at)), extent: 1.into() }
                });
                self.pack_row(e, (known, &indices), axis, (near, tile, row))
            })?;
            Ok(())
        })?;
        let panels = self.blocks.panels.map_or_else(|| self.panels(), Poly::constant);
        self.each(e, panels, &mut |e, panel| {
            let panel = match self.blocks.panels {
                Some(of_group) => e.scaled(part, of_group, Some(panel)),
                None => panel,
            };
            self.each(e, self.blocks.tiles.into(), &mut |e, tile| {
                let axis = first.map(|(dim, first)| Axis {
                    dim,
                    base: e.scaled(tile, rows, Some(first)),
                    extent: rows.into(),
                });
                let factors = Factors { near: Some((near, tile)), packed };
                self.one_tile(e, (known, &indices), (panel, axis), factors)
            })
        })
    }

    /// A loop from 0 on; none for one trip.
    fn each(
        &self,
        e: &mut Emit<'_>,
        count: Poly,
        body: &mut dyn FnMut(&mut Emit<'_>, Value) -> Built<()>,
    ) -> Built<()> {
        if count.as_const() == Some(1) {
            let first = e.constant(0);
            return body(e, first);
        }
        e.for_loop(&count, &[], &mut |e, index, _| body(e, index).map(|()| vec![]))?;
        Ok(())
    }

    /// `[tiles, rows of a tile, sums…]`
    fn near(&self) -> ViewType {
        let sizes = [Poly::constant(self.blocks.tiles), self.tile.0.into()].into_iter();
        let dims = sizes.chain(self.extents(&self.plan.sums)).collect();
        ViewType::new(&self.walk.region.machine.cache, self.elem(), dims)
    }

    /// Makes a row of the left factor. A row beyond the last one is made of zeros.
    fn pack_row(
        &self,
        e: &mut Emit<'_>,
        (known, indices): (&Known, &Indices),
        row: Option<Axis>,
        (near, tile, number): (Value, Value, Value),
    ) -> Built<Vec<Value>> {
        let (last, outer) = self.plan.sums.split_last().expect("a packed factor has rows");
        self.loops_over(e, &mut indices.clone(), outer, &mut |e, indices| {
            let mut frame = self.frame(e, indices);
            frame.space = self.walk.region.machine.cache.clone();
            frame.padded = true;
            frame.row.clone_from(&row);
            frame.col = Some(Axis { dim: *last, base: e.constant(0), extent: self.extent(*last) });
            let mut known = known.of_views();
            for i in &self.plan.left {
                self.produce(e, &frame, &self.nest.stages[*i], &mut known)?;
            }
            e.loc = self.stage().op.loc();
            let factor = &self.stage().inputs[self.plan.lhs];
            let made = self.walk.arg(e, &frame, (self.stage().op, factor), &mut known)?;
            let made = e.realise(&frame, made, Shape { rows: row.is_some(), cols: true }, None);
            let mut offsets = vec![tile, number];
            offsets.extend(outer.iter().map(|d| indices[d]));
            offsets.push(e.constant(0));
            let extents = (1.into(), self.extent(*last));
            let slice = e.window(near, &offsets, Some(offsets.len() as i64 - 1), extents);
            StoreOp::build(&mut e.b, e.loc, made.value, slice);
            Ok(vec![])
        })
    }

    /// Loops over `dims`, outermost first.
    fn loops_over(
        &self,
        e: &mut Emit<'_>,
        indices: &mut Indices,
        dims: &[usize],
        body: &mut dyn FnMut(&mut Emit<'_>, &Indices) -> Built<Vec<Value>>,
    ) -> Built<Vec<Value>> {
        let Some((dim, inner)) = dims.split_first() else { return body(e, indices) };
        e.for_loop(&self.extent(*dim), &[], &mut |e, index, _| {
            indices.insert(*dim, index);
            self.loops_over(e, indices, inner, body)
        })
    }

    /// A stage of a factor, whose rows are combined whole.
    fn produce(&self, e: &mut Emit<'_>, frame: &Frame, stage: &Stage<'_>, known: &mut Known) -> Built<()> {
        let numbers = self.walk.numbers(e, frame, stage, known)?;
        e.loc = stage.op.loc();
        for (r, number) in numbers.into_iter().enumerate() {
            let number = if stage.reduces() { self.combined(e, frame, (stage, r), number)? } else { number };
            known.made.extend(stage.results[r].slot.map(|slot| (slot, number)));
        }
        Ok(())
    }

    fn combined(
        &self,
        e: &mut Emit<'_>,
        frame: &Frame,
        (stage, r): (&Stage<'_>, usize),
        number: Number,
    ) -> Built<Number> {
        let (cx, rows) = (self.nest.cx, frame.row.is_some());
        let wide = accumulator(cx, stage, r);
        let Some(combiner) = tile_combiner(cx, stage.combiners[r], wide) else {
            return Emit::unsupported(stage.op, "combines numbers in a way that tiles do not");
        };
        let tile = e.realise(frame, number, Shape { rows, cols: true }, None);
        let tile = e.converted(tile, wide);
        let value = ReduceOp::value(&mut e.b, e.loc, combiner, Direction::Cols, tile.value);
        let shape = Shape { rows, cols: false };
        let tile = Tile { value, shape, elem: wide, window: Covers::All, cached: true };
        let narrow = result_elem(cx, stage, r);
        let tile = if wide == narrow { tile } else { e.in_registers(frame, tile) };
        Ok(Number::Tile(e.converted(tile, narrow)))
    }

    /// The elements of a packed tile at one place of the sum.
    pub(super) fn near_column(&self, e: &mut Emit<'_>, (near, tile): (Value, Value), indices: &Indices) -> Value {
        let machine = &self.walk.region.machine;
        let mut offsets = vec![tile, e.constant(0)];
        offsets.extend(self.plan.sums.iter().map(|d| indices[d]));
        let rows = self.tile.0;
        let slice = SliceType { space: machine.cache.clone(), elem: self.elem(), rows: rows.into(), cols: 1.into() };
        let slice = self.nest.cx.ext_type(slice);
        let slice = SliceOp::value(&mut e.b, e.loc, near, &offsets, (rows != 1).then_some(1), None, slice);
        let ty = self.nest.cx.ext_type(TileType::constant(&machine.registers, self.elem(), rows, 1));
        LoadOp::value(&mut e.b, e.loc, slice, None, ty)
    }
}

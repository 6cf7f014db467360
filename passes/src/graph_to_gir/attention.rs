//! Attention regions: scores, softmax and weighted sum of a tile of queries without a trip to memory.
//!
//! A group copies what it reads many times into panels in the cache: keys transposed, values, the queries of its tiles.
//! Then everything else runs from there. Where all keys fit, a row of scores is complete before its softmax is taken. Where
//! they do not, keys come in blocks, and the largest score, the sum and the weighted sum so far are corrected for each, after
//! the online softmax of Milakov and Gimelshein (arXiv 1805.02867) and its use in FlashAttention (arXiv 2205.14135).

mod units;

use std::collections::HashMap;

use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::gir::constraints::{Axis as Direction, Scope};
use sutura_dialects::gir::kinds::{BinaryKind, Combiner, CompareKind, TernaryKind, UnaryKind};
use sutura_dialects::gir::ops::*;
use sutura_dialects::gir::types::{SliceType, Space, TileType, ViewType};
use sutura_ir::{Type, Value};

use self::units::Blocks;
use super::kernel::{Built, Emit, Header, Kernel, build};
use super::region::{Arg, FusedRegion, Lowered, Step};
use super::stages::{Known, Walk};
use super::tiles::{Axis, Covers, Frame, Number, Shape, Tile, zero};
use crate::region::{Access, AttentionPlan, ContractPlan, Nest};

/// Most keys of a block where not all are resident.
const BLOCK_KEYS: i64 = 256;

/// Most tiles of queries that share what a group of the streaming version packs.
const BLOCK_TILES: i64 = 8;

/// Lowers an attention region; at most `resident` keys are kept in the cache together, or with 0 what it holds.
pub(super) fn lower(region: &FusedRegion<'_>, resident: i64) -> Built<Lowered> {
    let plan = Nest::of(&region.facts, &region.ops, &region.outputs)
        .and_then(|nest| AttentionPlan::of(&nest).map(|plan| (nest, plan)));
    let (nest, plan) = plan.map_err(|misfit| {
        let message = format!("is marked as a region of attention, but: {misfit}");
        Box::new(region.op.error(message))
    })?;
    let (mut versions, mut remarks) = (Vec::new(), Vec::new());
    let blocks = Blocks::of(region, &nest, &plan);
    match &blocks {
        Some(Ok(blocks)) => versions.push((vec![], blocks.kernel(region, &nest, &plan)?)),
        _ => one_unit_versions(region, &nest, &plan, resident, &mut versions)?,
    }
    remarks.extend(blocks.map(|blocks| match blocks {
        Ok(blocks) => blocks.said(),
        Err(why) => format!("a group has one unit: {why}"),
    }));
    let args: Vec<Arg> = region.tensors(&nest).into_iter().map(Arg::Tensor).collect();
    let steps = vec![Step::of(versions, &args, &region.work(&nest))];
    Ok(Lowered { steps, remarks, ..Lowered::default() })
}

/// The versions of groups of one unit: for few and for many keys, and for few queries.
fn one_unit_versions(
    region: &FusedRegion<'_>,
    nest: &Nest<'_>,
    plan: &AttentionPlan,
    resident: i64,
    versions: &mut Vec<(Vec<Poly>, Kernel)>,
) -> Built<()> {
    let range = |dim: usize| {
        let (least, most) = region.facts.range(&nest.extents[dim]);
        (i64::try_from(least).unwrap_or(0), i64::try_from(most).unwrap_or(i64::MAX))
    };
    let (tile, lower) = region.machine.tile_and_lower(range(plan.query()), range(plan.key()).1);
    let (tile, lower) = match Attention::fitting(region, nest, plan, tile, resident) {
        // Lower tiles are as wide as the one that does not fit.
        Some(narrow) => (narrow, Vec::new()),
        None => (tile, lower),
    };
    // Where there may be more keys than queries each tile has two versions.
    let equal = region.facts.prove_equal(&nest.extents[plan.query()], &nest.extents[plan.key()]);
    let skipped = if equal { 0 } else { lower.len().saturating_sub(1) };
    for lower in &lower[skipped..] {
        let low = Attention::new(region, nest, plan, (lower.rows, tile.1), resident);
        low.versions(Some(lower.most), versions)?;
    }
    Attention::new(region, nest, plan, tile, resident).versions(None, versions)
}

struct Attention<'r, 'a> {
    walk: Walk<'r, 'a>,
    region: &'r FusedRegion<'a>,
    nest: &'r Nest<'a>,
    plan: &'r AttentionPlan,
    /// Rows and columns of a tile.
    tile: (i64, i64),
    /// Most keys that are resident: whole panels.
    resident: i64,
}

/// Memory of a group.
struct Near {
    /// `[panels, sums, columns of a tile]`
    keys: Value,
    /// `[panels, keys, columns of a tile]`
    values: Value,
    /// `[tiles, rows of a tile, panels of sums]`
    queries: Value,
    /// `[rows of a tile, keys]`
    scores: Value,
}

/// What of a row is known after some blocks of keys.
struct Running {
    /// `[tiles, rows of a tile, panels of values]`: the weighted sum.
    sums: Value,
    /// `[tiles, rows of a tile, 1]`: the largest score.
    largest: Value,
    /// `[tiles, rows of a tile, 1]`: the sum of weights.
    weights: Value,
}

/// Places of a loop: dims with their indices.
type Indices = HashMap<usize, Value>;

impl<'r, 'a> Attention<'r, 'a> {
    fn new(
        region: &'r FusedRegion<'a>,
        nest: &'r Nest<'a>,
        plan: &'r AttentionPlan,
        tile: (i64, i64),
        resident: i64,
    ) -> Self {
        let walk = Walk { region, nest };
        let mut this = Self { walk, region, nest, plan, tile, resident: 0 };
        // For each key its vector, that of its value in whole panels, and a score per row.
        let bytes = this.key_bytes();
        let fit = region.machine.near_bytes.min(region.machine.group_bytes) / bytes;
        let keys = if resident == 0 { fit } else { resident.min(fit) };
        this.resident = (keys / tile.1).max(1) * tile.1;
        this
    }

    /// A narrower tile, where a block of keys under tiles as wide as `tile` would not fit into the group's memory; the
    /// narrowest where none does.
    fn fitting(
        region: &'r FusedRegion<'a>,
        nest: &'r Nest<'a>,
        plan: &'r AttentionPlan,
        tile: (i64, i64),
        resident: i64,
    ) -> Option<(i64, i64)> {
        let fits = |tile: &(i64, i64)| {
            let this = Self::new(region, nest, plan, *tile, resident);
            this.block_bytes().saturating_add(this.tile_bytes()) <= region.machine.group_bytes
        };
        if fits(&tile) {
            return None;
        }
        let mut narrower: Vec<(i64, i64)> = region.machine.tiles().iter().copied().filter(|t| t.1 < tile.1).collect();
        narrower.sort_by_key(|(rows, columns)| std::cmp::Reverse((*columns, *rows)));
        narrower.iter().find(|tile| fits(tile)).or(narrower.last()).copied()
    }

    // ---- sizes

    /// Bytes of a key, its value and its scores.
    fn key_bytes(&self) -> i64 {
        let numbers = self.value_panels().saturating_mul(self.tile.1).saturating_add(self.depth());
        numbers.saturating_add(self.tile.0).saturating_mul(4)
    }

    /// Bytes of keys, values and scores of a block of keys.
    fn block_bytes(&self) -> i64 {
        self.block_keys().saturating_mul(self.key_bytes())
    }

    /// Bytes of the queries of a tile and of what is known of their rows.
    fn tile_bytes(&self) -> i64 {
        let panels = self.panels(self.depth()).saturating_add(self.value_panels());
        panels.saturating_mul(self.tile.1).saturating_add(2).saturating_mul(4).saturating_mul(self.tile.0)
    }

    /// Tiles of queries that share what a group of the streaming version packs.
    fn block_tiles(&self) -> i64 {
        let left = self.region.machine.group_bytes.saturating_sub(self.block_bytes());
        (left / self.tile_bytes()).clamp(1, BLOCK_TILES)
    }

    /// Numbers of a query's vector, which the plan knows.
    fn depth(&self) -> i64 {
        self.nest.extents[self.plan.scores.sums[0]].as_const().expect("checked by the plan")
    }

    /// Numbers of a value's vector.
    fn width(&self) -> i64 {
        self.nest.extents[self.plan.values.col()].as_const().expect("checked by the plan")
    }

    /// Panels of values: one where a value has no numbers, as every result is written by a store.
    fn value_panels(&self) -> i64 {
        self.panels(self.width()).max(1)
    }

    fn panels(&self, n: i64) -> i64 {
        n.div_euclid(self.tile.1) + i64::from(n.rem_euclid(self.tile.1) != 0)
    }

    fn key_count(&self) -> &'r Poly {
        &self.nest.extents[self.plan.key()]
    }

    fn query_count(&self) -> &'r Poly {
        &self.nest.extents[self.plan.query()]
    }

    fn block_keys(&self) -> i64 {
        self.resident.min(BLOCK_KEYS / self.tile.1 * self.tile.1).max(self.tile.1)
    }

    // ---- versions

    /// The version for few keys, and, unless keys are always few, the one for many; for at most `queries` if that is given.
    fn versions(&self, queries: Option<i64>, versions: &mut Vec<(Vec<Poly>, Kernel)>) -> Built<()> {
        let facts = &self.region.facts;
        let guard: Vec<Poly> = queries.map(|most| Poly::constant(most).sub(self.query_count())).into_iter().collect();
        // Where there are as many keys as queries, few queries are few keys.
        let equal = queries.is_some_and(|most| most <= self.resident)
            && facts.prove_equal(self.key_count(), self.query_count());
        let few = equal || facts.range(self.key_count()).1 <= i128::from(self.resident);
        let mut all = guard.clone();
        if !few {
            all.push(Poly::constant(self.resident).sub(self.key_count()));
        }
        // A group that runs through all queries never writes a result if there are none.
        let some = facts.range(self.query_count()).1 > 0;
        if some {
            versions.push((all.clone(), self.kernel(all, false)?));
        }
        if !few || !some {
            versions.push((guard.clone(), self.kernel(guard, true)?));
        }
        Ok(())
    }

    /// The header of a kernel whose groups each have so many queries, or all.
    fn header(&self, queries: Option<i64>, requires: Vec<Poly>) -> Header {
        let mut grid: Vec<Poly> = self.plan.outer().iter().map(|d| self.nest.extents[*d].clone()).collect();
        grid.extend(queries.map(|queries| self.query_count().ceildiv(queries)));
        Header {
            loc: self.region.op.loc(),
            views: self.region.views(self.nest),
            grid,
            units: 1,
            requires,
            extra: self.nest.sizes_of_all().into_iter().chain(self.region.sizes()).collect(),
            symbols: self.nest.symbols.clone(),
        }
    }

    fn kernel(&self, requires: Vec<Poly>, streams: bool) -> Built<Kernel> {
        let header = self.header(streams.then(|| self.tile.0 * self.block_tiles()), requires);
        build(self.nest.cx, &self.region.facts, header, |e| {
            let known = self.walk.start(e, &self.region.tensors(self.nest));
            let indices: Indices = self.plan.outer().into_iter().zip(e.grid.clone()).collect();
            match streams {
                false => self.resident_body(e, &known, &indices),
                true => self.streaming_body(e, &known, &indices),
            }
        })
    }

    // ---- places

    fn frame(&self, e: &mut Emit<'_>, indices: &Indices, row: Option<Value>, col: Option<(usize, Value)>) -> Frame {
        let mut index = |d: usize| {
            let known = indices.get(&d).copied();
            known.or_else(|| self.nest.is_unit(d).then(|| e.constant(0)))
        };
        let registers = &self.region.machine.registers;
        Frame {
            fixed: (0..self.nest.extents.len()).map(&mut index).collect(),
            row: row.map(|base| Axis { dim: self.plan.query(), base, extent: self.tile.0.into() }),
            col: col.map(|(dim, base)| Axis { dim, base, extent: self.tile.1.into() }),
            space: registers.clone(),
            registers: registers.clone(),
            partial: true,
            padded: true,
        }
    }

    fn alloc(&self, e: &mut Emit<'_>, dims: &[i64]) -> Value {
        let dims = dims.iter().map(|d| Poly::constant(*d)).collect();
        let ty = e.b.cx().ext_type(ViewType::new(&self.region.machine.cache, Type::F32, dims));
        AllocOp::value(&mut e.b, e.loc, Scope::Unit, ty)
    }

    fn near(&self, e: &mut Emit<'_>, tiles: i64, keys: i64) -> Near {
        let (rows, cols) = self.tile;
        Near {
            keys: self.alloc(e, &[keys / cols, self.depth(), cols]),
            values: self.alloc(e, &[self.value_panels(), keys, cols]),
            queries: self.alloc(e, &[tiles, rows, self.panels(self.depth()) * cols]),
            scores: self.alloc(e, &[rows, keys]),
        }
    }

    /// A window of memory of the group, of the rows and columns at its last dims.
    fn window(&self, e: &mut Emit<'_>, view: Value, offsets: &[Value], rows: i64, cols: impl Into<Poly>) -> Value {
        let space = self.region.machine.cache.clone();
        let ty = SliceType { space, elem: Type::F32, rows: rows.into(), cols: cols.into() };
        let along = offsets.len() as i64;
        let row = (rows != 1).then_some(along - 2);
        let col = (ty.cols != Poly::constant(1)).then_some(along - 1);
        let ty = e.b.cx().ext_type(ty);
        SliceOp::value(&mut e.b, e.loc, view, offsets, row, col, ty)
    }

    fn load(&self, e: &mut Emit<'_>, slice: Value, space: &Space, rows: i64, cols: impl Into<Poly>) -> Value {
        let ty = TileType { space: space.clone(), elem: Type::F32, rows: rows.into(), cols: cols.into() };
        let ty = e.b.cx().ext_type(ty);
        LoadOp::value(&mut e.b, e.loc, slice, None, ty)
    }

    /// Reads a register tile from memory of the group.
    fn near_tile(&self, e: &mut Emit<'_>, view: Value, offsets: &[Value], rows: i64, cols: i64) -> Value {
        let slice = self.window(e, view, offsets, rows, cols);
        self.load(e, slice, &self.region.machine.registers, rows, cols)
    }

    fn store(&self, e: &mut Emit<'_>, tile: Value, view: Value, offsets: &[Value], rows: i64, cols: impl Into<Poly>) {
        let slice = self.window(e, view, offsets, rows, cols);
        StoreOp::build(&mut e.b, e.loc, tile, slice);
    }

    fn fill(&self, e: &mut Emit<'_>, number: f64, rows: i64, cols: i64) -> Value {
        let cx = e.b.cx();
        let ty = cx.ext_type(TileType::constant(&self.region.machine.registers, Type::F32, rows, cols));
        FillOp::value(&mut e.b, e.loc, cx.float_attr(number, Type::F32), ty)
    }

    /// What was combined in rows, moved to registers.
    fn in_registers(&self, e: &mut Emit<'_>, column: Value) -> Value {
        let ty = TileType::constant(&self.region.machine.registers, Type::F32, self.tile.0, 1);
        let ty = e.b.cx().ext_type(ty);
        MoveOp::value(&mut e.b, e.loc, column, ty)
    }

    // ---- packing

    fn lhs(&self, plan: &ContractPlan) -> &'r Access {
        &self.nest.stages[plan.stage].inputs[plan.lhs]
    }

    fn rhs(&self, plan: &ContractPlan) -> &'r Access {
        &self.nest.stages[plan.stage].inputs[plan.rhs]
    }

    /// Reads a whole tile of a tensor, with zeros where it ends.
    fn tensor_tile(&self, e: &mut Emit<'_>, known: &Known, frame: &Frame, access: &Access, edge: bool) -> Built<Tile> {
        let view = known.view(self.nest.stages[self.plan.scores.stage].op, access.value)?;
        let pad = zero(self.nest.cx, Type::F32);
        let key = access.index.iter().position(|i| self.nest.plain(*i) == Some(self.plan.key()));
        let outside = super::tiles::Outside { pad, edge: key.filter(|_| edge) };
        let shape = Shape { rows: frame.row.is_some(), cols: frame.col.is_some() };
        let tile = e.load(self.nest, frame, view, &access.index, Some(outside));
        Ok(e.realise(frame, Number::Tile(tile), shape, None))
    }

    /// Copies keys from `first` on, transposed, and their values into panels.
    fn pack(
        &self,
        e: &mut Emit<'_>,
        (known, indices, near): (&Known, &Indices, &Near),
        first: Option<Value>,
        (panels, keys): (&Poly, &Poly),
    ) -> Built<()> {
        let (plan, cols) = (self.plan, self.tile.1);
        let depth = Poly::constant(self.depth());
        e.for_loop(panels, &[], &mut |e, panel, _| {
            let base = e.scaled(panel, cols, first);
            e.for_loop(&depth, &[], &mut |e, sum, _| {
                let mut indices = indices.clone();
                indices.insert(plan.scores.sums[0], sum);
                let frame = self.frame(e, &indices, None, Some((plan.key(), base)));
                let tile = self.tensor_tile(e, known, &frame, self.rhs(&plan.scores), false)?;
                let zero = e.constant(0);
                self.store(e, tile.value, near.keys, &[panel, sum, zero], 1, cols);
                Ok(vec![])
            })
        })?;
        let width = Poly::constant(self.value_panels());
        e.for_loop(&width, &[], &mut |e, panel, _| {
            let base = e.scaled(panel, cols, None);
            e.for_loop(keys, &[], &mut |e, key, _| {
                let mut indices = indices.clone();
                indices.insert(plan.key(), e.scaled(key, 1, first));
                let frame = self.frame(e, &indices, None, Some((plan.values.col(), base)));
                let tile = self.tensor_tile(e, known, &frame, self.rhs(&plan.values), first.is_some())?;
                let zero = e.constant(0);
                self.store(e, tile.value, near.values, &[panel, key, zero], 1, cols);
                Ok(vec![])
            })
        })?;
        Ok(())
    }

    /// Copies the queries of a tile from `base` on to place `tile`.
    fn pack_queries(
        &self,
        e: &mut Emit<'_>,
        (known, indices, near): (&Known, &Indices, &Near),
        tile: Value,
        base: Value,
    ) -> Built<()> {
        let (rows, cols) = self.tile;
        let panels = Poly::constant(self.panels(self.depth()));
        e.for_loop(&panels, &[], &mut |e, panel, _| {
            let at = e.scaled(panel, cols, None);
            let frame = self.frame(e, indices, Some(base), Some((self.plan.scores.sums[0], at)));
            let read = self.tensor_tile(e, known, &frame, self.lhs(&self.plan.scores), false)?;
            let zero = e.constant(0);
            self.store(e, read.value, near.queries, &[tile, zero, at], rows, cols);
            Ok(vec![])
        })?;
        Ok(())
    }

    // ---- the two products

    /// The logits of a tile of queries and a panel of keys.
    fn logits(
        &self,
        e: &mut Emit<'_>,
        (known, indices, near): (&Known, &Indices, &Near),
        (tile, row): (Value, Value),
        (panel, col): (Value, Value),
    ) -> Built<(Frame, Tile)> {
        let (rows, cols) = self.tile;
        let stage = &self.nest.stages[self.plan.scores.stage];
        e.loc = stage.op.loc();
        let init = self.fill(e, 0.0, rows, cols);
        let depth = Poly::constant(self.depth());
        let sum = e.for_loop(&depth, &[init], &mut |e, k, carried| {
            let zero = e.constant(0);
            let a = self.near_tile(e, near.queries, &[tile, zero, k], rows, 1);
            let b = self.near_tile(e, near.keys, &[panel, k, zero], 1, cols);
            Ok(vec![ContractOp::value(&mut e.b, e.loc, a, b, carried[0])])
        })?;
        let frame = self.frame(e, indices, Some(row), Some((self.plan.key(), col)));
        let logits = self.behind_scores(e, known, &frame, sum[0])?;
        Ok((frame, logits))
    }

    /// What follows the first product, up to the softmax.
    fn behind_scores(&self, e: &mut Emit<'_>, known: &Known, frame: &Frame, scores: Value) -> Built<Tile> {
        let shape = Shape { rows: true, cols: true };
        let scores = Tile { value: scores, shape, elem: Type::F32, window: Covers::All, cached: false };
        let mut known = known.of_views();
        let stage = &self.nest.stages[self.plan.scores.stage];
        self.walk.finish(e, frame, stage, vec![Number::Tile(scores)], &mut known)?;
        for other in &self.plan.before {
            self.walk.elementwise(e, frame, &self.nest.stages[*other], &mut known)?;
        }
        let maker = self.nest.made.get(&self.plan.logits);
        let slot = maker.and_then(|(maker, result)| self.nest.stages[*maker].results[*result].slot);
        match slot.and_then(|slot| known.tile(slot)) {
            Some(number) => Ok(e.realise(frame, number, shape, None)),
            None => Emit::unsupported(stage.op, "is followed by a softmax of what its kernel has not made"),
        }
    }

    /// Adds what `keys` keys contribute to a panel of the weighted sum.
    fn weighted(&self, e: &mut Emit<'_>, near: &Near, panel: Value, keys: &Poly, init: Value) -> Built<Value> {
        let (rows, cols) = self.tile;
        e.loc = self.nest.stages[self.plan.values.stage].op.loc();
        let sum = e.for_loop(keys, &[init], &mut |e, key, carried| {
            let zero = e.constant(0);
            let a = self.near_tile(e, near.scores, &[zero, key], rows, 1);
            let b = self.near_tile(e, near.values, &[panel, key, zero], 1, cols);
            Ok(vec![ContractOp::value(&mut e.b, e.loc, a, b, carried[0])])
        })?;
        Ok(sum[0])
    }

    /// What follows the second product, down to memory.
    fn finish(
        &self,
        e: &mut Emit<'_>,
        (known, indices): (&Known, &Indices),
        row: Value,
        panel: Value,
        sum: Value,
    ) -> Built<()> {
        let col = e.scaled(panel, self.tile.1, None);
        let frame = self.frame(e, indices, Some(row), Some((self.plan.values.col(), col)));
        self.behind_values(e, known, &frame, sum)
    }

    fn behind_values(&self, e: &mut Emit<'_>, known: &Known, frame: &Frame, sum: Value) -> Built<()> {
        let shape = Shape { rows: true, cols: true };
        let product = Tile { value: sum, shape, elem: Type::F32, window: Covers::All, cached: false };
        let mut known = known.of_views();
        let stage = &self.nest.stages[self.plan.values.stage];
        self.walk.finish(e, frame, stage, vec![Number::Tile(product)], &mut known)?;
        for other in &self.plan.after {
            self.walk.elementwise(e, frame, &self.nest.stages[*other], &mut known)?;
        }
        Ok(())
    }

    // ---- all keys resident

    fn resident_body(&self, e: &mut Emit<'_>, known: &Known, indices: &Indices) -> Built<()> {
        let (rows, cols) = self.tile;
        let near = self.near(e, 1, self.resident);
        let place = (known, indices, &near);
        let keys = self.key_count();
        let panels = keys.ceildiv(cols);
        self.pack(e, place, None, (&panels, keys))?;
        e.for_loop(&self.query_count().ceildiv(rows), &[], &mut |e, tile, _| {
            let row = e.scaled(tile, rows, None);
            let zero = e.constant(0);
            self.pack_queries(e, place, zero, row)?;
            e.for_loop(&panels, &[], &mut |e, panel, _| {
                let col = e.scaled(panel, cols, None);
                let (_, logits) = self.logits(e, place, (zero, row), (panel, col))?;
                self.store(e, logits.value, near.scores, &[zero, col], rows, cols);
                Ok(vec![])
            })?;
            self.softmax(e, &near, keys);
            let width = Poly::constant(self.value_panels());
            e.for_loop(&width, &[], &mut |e, panel, _| {
                let init = self.fill(e, 0.0, rows, cols);
                let sum = self.weighted(e, &near, panel, keys, init)?;
                self.finish(e, (known, indices), row, panel, sum)?;
                Ok(vec![])
            })
        })?;
        Ok(())
    }

    /// Rows of logits become weights, as the graph says it.
    fn softmax(&self, e: &mut Emit<'_>, near: &Near, keys: &Poly) {
        let rows = self.tile.0;
        let zero = e.constant(0);
        let read = |e: &mut Emit<'_>| {
            let slice = self.window(e, near.scores, &[zero, zero], rows, keys.clone());
            self.load(e, slice, &self.region.machine.cache, rows, keys.clone())
        };
        let logits = read(e);
        let largest = ReduceOp::value(&mut e.b, e.loc, Combiner::Max, Direction::Cols, logits);
        let largest = BroadcastOp::value(&mut e.b, e.loc, largest, logits);
        let less = BinaryOp::value(&mut e.b, e.loc, BinaryKind::Sub, logits, largest);
        let powers = UnaryOp::value(&mut e.b, e.loc, UnaryKind::Exp, less);
        let sum = ReduceOp::value(&mut e.b, e.loc, Combiner::Add, Direction::Cols, powers);
        self.store(e, powers, near.scores, &[zero, zero], rows, keys.clone());
        let powers = read(e);
        let (kind, by) = match self.plan.reciprocal {
            true => {
                let (sum, one) = (self.in_registers(e, sum), self.fill(e, 1.0, rows, 1));
                (BinaryKind::Mul, BinaryOp::value(&mut e.b, e.loc, BinaryKind::Div, one, sum))
            }
            false => (BinaryKind::Div, sum),
        };
        let by = BroadcastOp::value(&mut e.b, e.loc, by, powers);
        let weights = BinaryOp::value(&mut e.b, e.loc, kind, powers, by);
        self.store(e, weights, near.scores, &[zero, zero], rows, keys.clone());
    }

    // ---- keys in blocks

    fn streaming_body(&self, e: &mut Emit<'_>, known: &Known, indices: &Indices) -> Built<()> {
        let (rows, cols) = self.tile;
        let (keys, block_tiles) = (self.block_keys(), self.block_tiles());
        let near = self.near(e, block_tiles, keys);
        let running = Running {
            sums: self.alloc(e, &[block_tiles, rows, self.value_panels() * cols]),
            largest: self.alloc(e, &[block_tiles, rows, 1]),
            weights: self.alloc(e, &[block_tiles, rows, 1]),
        };
        let place = (known, indices, &near);
        let block = *e.grid.last().expect("blocks of queries are the last of the grid");
        let first_row = e.scaled(block, rows * block_tiles, None);
        let (tiles, width) = (Poly::constant(block_tiles), Poly::constant(self.value_panels()));
        e.for_loop(&tiles, &[], &mut |e, tile, _| {
            let row = e.scaled(tile, rows, Some(first_row));
            self.pack_queries(e, place, tile, row)?;
            self.reset(e, &running, tile, &width)
        })?;
        let (panels, all) = (Poly::constant(keys / cols), Poly::constant(keys));
        e.for_loop(&self.key_count().ceildiv(keys), &[], &mut |e, block, _| {
            let first_key = e.scaled(block, keys, None);
            self.pack(e, place, Some(first_key), (&panels, &all))?;
            e.for_loop(&tiles, &[], &mut |e, tile, _| {
                let row = e.scaled(tile, rows, Some(first_row));
                e.for_loop(&panels, &[], &mut |e, panel, _| {
                    let at = e.scaled(panel, cols, None);
                    let col = e.scaled(panel, cols, Some(first_key));
                    let (frame, logits) = self.logits(e, place, (tile, row), (panel, col))?;
                    let logits = self.only_keys(e, &frame, logits);
                    let zero = e.constant(0);
                    self.store(e, logits.value, near.scores, &[zero, at], rows, cols);
                    Ok(vec![])
                })?;
                let factor = self.online(e, &near, &running, tile, keys);
                e.for_loop(&width, &[], &mut |e, panel, _| {
                    let (zero, at) = (e.constant(0), e.scaled(panel, cols, None));
                    let before = self.near_tile(e, running.sums, &[tile, zero, at], rows, cols);
                    let factor = BroadcastOp::value(&mut e.b, e.loc, factor, before);
                    let before = BinaryOp::value(&mut e.b, e.loc, BinaryKind::Mul, before, factor);
                    let sum = self.weighted(e, &near, panel, &all, before)?;
                    self.store(e, sum, running.sums, &[tile, zero, at], rows, cols);
                    Ok(vec![])
                })
            })
        })?;
        e.for_loop(&tiles, &[], &mut |e, tile, _| {
            let row = e.scaled(tile, rows, Some(first_row));
            let zero = e.constant(0);
            let weights = self.near_tile(e, running.weights, &[tile, zero, zero], rows, 1);
            e.for_loop(&width, &[], &mut |e, panel, _| {
                let at = e.scaled(panel, cols, None);
                let sum = self.near_tile(e, running.sums, &[tile, zero, at], rows, cols);
                let weights = BroadcastOp::value(&mut e.b, e.loc, weights, sum);
                let sum = BinaryOp::value(&mut e.b, e.loc, BinaryKind::Div, sum, weights);
                self.finish(e, (known, indices), row, panel, sum)?;
                Ok(vec![])
            })
        })?;
        Ok(())
    }

    /// No key has been seen yet.
    fn reset(&self, e: &mut Emit<'_>, running: &Running, tile: Value, width: &Poly) -> Built<Vec<Value>> {
        let (rows, cols) = self.tile;
        let zero = e.constant(0);
        let none = self.fill(e, f64::NEG_INFINITY, rows, 1);
        self.store(e, none, running.largest, &[tile, zero, zero], rows, 1);
        let none = self.fill(e, 0.0, rows, 1);
        self.store(e, none, running.weights, &[tile, zero, zero], rows, 1);
        e.for_loop(width, &[], &mut |e, panel, _| {
            let at = e.scaled(panel, cols, None);
            let none = self.fill(e, 0.0, rows, cols);
            self.store(e, none, running.sums, &[tile, zero, at], rows, cols);
            Ok(vec![])
        })
    }

    /// The logits, with the smallest of all numbers where there is no key.
    fn only_keys(&self, e: &mut Emit<'_>, frame: &Frame, logits: Tile) -> Tile {
        let cx = self.nest.cx;
        let at = e.indices(frame, cx.affine_dim(self.plan.key() as u32));
        let count = e.size_tile(frame, self.key_count());
        let tiles = e.agree(frame, &[Number::Tile(at), Number::Tile(count)]);
        let there = CompareOp::value(&mut e.b, e.loc, CompareKind::Slt, tiles[0].value, tiles[1].value);
        let there = Tile { value: there, elem: Type::I1, ..tiles[0] };
        let none = Number::Constant(cx.float_attr(f64::NEG_INFINITY, Type::F32), Type::F32);
        let tiles = e.agree(frame, &[Number::Tile(there), Number::Tile(logits), none]);
        let [there, some, none] = [0, 1, 2].map(|i| tiles[i].value);
        let value = TernaryOp::value(&mut e.b, e.loc, TernaryKind::Select, there, some, none);
        Tile { value, ..tiles[1] }
    }

    /// Takes a block of logits into account; they become weights. Returns by what sums so far are to be multiplied.
    fn online(&self, e: &mut Emit<'_>, near: &Near, running: &Running, tile: Value, keys: i64) -> Value {
        let rows = self.tile.0;
        let zero = e.constant(0);
        let slice = self.window(e, near.scores, &[zero, zero], rows, keys);
        let logits = self.load(e, slice, &self.region.machine.cache, rows, keys);
        let here = ReduceOp::value(&mut e.b, e.loc, Combiner::Max, Direction::Cols, logits);
        let here = self.in_registers(e, here);
        let before = self.near_tile(e, running.largest, &[tile, zero, zero], rows, 1);
        let largest = binary(e, BinaryKind::Max, before, here);
        self.store(e, largest, running.largest, &[tile, zero, zero], rows, 1);
        let (origin, factor) = self.origin(e, before, largest);
        let origin = BroadcastOp::value(&mut e.b, e.loc, origin, logits);
        let less = binary(e, BinaryKind::Sub, logits, origin);
        let powers = exp(e, less);
        let sum = ReduceOp::value(&mut e.b, e.loc, Combiner::Add, Direction::Cols, powers);
        self.store(e, powers, near.scores, &[zero, zero], rows, keys);
        let sum = self.in_registers(e, sum);
        let weights = self.near_tile(e, running.weights, &[tile, zero, zero], rows, 1);
        let weights = binary(e, BinaryKind::Mul, weights, factor);
        let weights = binary(e, BinaryKind::Add, weights, sum);
        self.store(e, weights, running.weights, &[tile, zero, zero], rows, 1);
        factor
    }
    /// What a block's powers are taken relative to, where its rows' largest logits were and are these, and by what sums so far
    /// are to be multiplied.
    fn origin(&self, e: &mut Emit<'_>, before: Value, largest: Value) -> (Value, Value) {
        let rows = self.tile.0;
        // While all logits are negative infinity, so is the largest; a difference to it would be no number.
        let (lowest, nothing) = (self.fill(e, f64::NEG_INFINITY, rows, 1), self.fill(e, 0.0, rows, 1));
        let none = CompareOp::value(&mut e.b, e.loc, CompareKind::Oeq, largest, lowest);
        let origin = TernaryOp::value(&mut e.b, e.loc, TernaryKind::Select, none, nothing, largest);
        let factor = binary(e, BinaryKind::Sub, before, origin);
        (origin, exp(e, factor))
    }
}

fn binary(e: &mut Emit<'_>, kind: BinaryKind, a: Value, b: Value) -> Value {
    BinaryOp::value(&mut e.b, e.loc, kind, a, b)
}

fn exp(e: &mut Emit<'_>, a: Value) -> Value {
    UnaryOp::value(&mut e.b, e.loc, UnaryKind::Exp, a)
}

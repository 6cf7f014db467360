//! Attention of groups of several units, which share blocks of keys and values in the group's memory.
//!
//! Every unit has a tile of queries of its own, and for them in registers: the largest logits so far, the sums of weights and the
//! weighted sums. Along the keys the group goes in blocks. Of each every unit copies its share, first of keys, then, into the same
//! memory, of values: no unit needs both at a time, and half the memory is twice the groups on a multiprocessor. While a
//! product is computed what the next one needs is on its way from memory.
//!
//! Keys lie in rows, as in memory: copies go straight, and a thread reads several places of its own key at once. Rows are an odd
//! number of such reads long, so neighbouring threads, which read neighbouring keys, read from different banks.

use std::collections::HashMap;

use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::gir::constraints::{Axis as Direction, Scope};
use sutura_dialects::gir::kinds::{BinaryKind, Combiner, CompareKind, TernaryKind, UnaryKind};
use sutura_dialects::gir::ops::*;
use sutura_dialects::gir::types::{SliceType, Space, TileType, ViewType};
use sutura_ir::{Type, Value};

use super::kernel::{Built, Emit, Header, Kernel, build};
use super::machine::{GroupTile, Machine};
use super::region::{Arg, FusedRegion, Lowered, Step};
use super::stages::{Known, Walk};
use super::tiles::{Axis, Covers, Frame, Number, Shape, Tile, zero};
use crate::region::{Access, AttentionPlan, ContractPlan, Nest};

/// Queries up to which a group of one unit has as much to do.
const FEW_QUERIES: i128 = 16;

/// What a group has of an attention.
pub(super) struct Blocks {
    /// Queries of a unit.
    rows: i64,
    /// Keys of a block.
    keys: i64,
    /// Columns of a tile of the weighted sum.
    columns: i64,
    /// Such tiles beside each other.
    panels: i64,
    /// Numbers of a query in the group's memory.
    depth: i64,
    /// Elements from a row of a block to the next.
    pitch: i64,
    /// Places of a sum that a contraction takes.
    step: i64,
    units: i64,
    space: Space,
}

/// An attention region that is emitted.
struct Attention<'r, 'a> {
    walk: Walk<'r, 'a>,
    region: &'r FusedRegion<'a>,
    nest: &'r Nest<'a>,
    plan: &'r AttentionPlan,
}

/// Places of a loop: dims with their indices.
type Indices = HashMap<usize, Value>;

/// The memory of a group.
struct Near {
    /// `[queries of all units, depth]`
    queries: Value,
    /// `[keys, pitch]`: keys, then values.
    block: Value,
    /// `[queries of all units, keys]`
    weights: Value,
}

/// One unit of a group, and where it is.
struct Place<'p> {
    known: &'p Known,
    indices: &'p Indices,
    near: &'p Near,
    /// Its first query among those of the group, and of all.
    own_row: Value,
    row: Value,
    /// Its first key in a block.
    own_key: Value,
}

impl Blocks {
    /// What a group has where units share blocks, or why they do not. Nothing where the machine's groups have no memory for them.
    pub(super) fn of(region: &FusedRegion<'_>, nest: &Nest<'_>, plan: &AttentionPlan) -> Option<Result<Self, String>> {
        if region.machine.group_tiles().is_empty() {
            return None;
        }
        let most = region.facts.range(&nest.extents[plan.query()]).1;
        if most <= FEW_QUERIES {
            return Some(Err(format!("there are {most} queries at most")));
        }
        if !lie_in_rows(nest, plan) {
            let why = "the numbers of a query, a key or a value do not lie side by side";
            return Some(Err(why.to_owned()));
        }
        let [depth, width] = [plan.scores.sums[0], plan.values.col()].map(|dim| nest.extents[dim].as_const());
        let (depth, width) = (depth.expect("checked by the plan"), width.expect("checked by the plan"));
        if depth < 1 || width < 1 {
            return Some(Err(format!("queries and keys have {depth} numbers, and values {width}")));
        }
        let fitting = Self::fitting(region.machine, depth, width);
        Some(fitting.ok_or_else(|| format!("queries and keys of {depth} numbers and values of {width} do not fit")))
    }

    /// The most that fits the memory and the registers of a group. What is too much to be counted does not fit.
    fn fitting(machine: &Machine, depth: i64, width: i64) -> Option<Self> {
        let tiles = machine.group_tiles();
        // A thread has few keys: so few weights have to be combined, and high tiles of queries share what is read of a block.
        let keys = tiles.iter().map(|tile| tile.columns).min()?;
        let blocks = |tile: &GroupTile| {
            let of_rows = || tiles.iter().filter(|other| other.rows == tile.rows).map(|other| other.columns);
            let columns = of_rows().filter(|columns| *columns >= width).min().or_else(|| of_rows().max())?;
            let GroupTile { rows, step, units, ref space, .. } = *tile;
            let panels = width.checked_add(columns - 1)? / columns;
            let depth = depth.checked_add(step - 1)? / step * step;
            let width = panels.checked_mul(columns)?;
            let reads = depth.max(width) / step;
            let pitch = (reads + 1 - reads % 2).checked_mul(step)?;
            let blocks = Self { rows, keys, columns, panels, depth, pitch, step, units, space: space.clone() };
            // Half the registers are for logits and factors.
            let in_registers = rows.checked_mul(width)?.checked_mul(8)? <= machine.register_bytes();
            (keys % (units * step) == 0 && in_registers).then_some(blocks)
        };
        let of_keys = || tiles.iter().filter(|tile| tile.columns == keys).filter_map(&blocks);
        let fitting = |bytes: i64| of_keys().find(|blocks| blocks.bytes().is_some_and(|needed| needed <= bytes));
        machine.group_budgets().into_iter().find_map(fitting)
    }

    /// In words.
    fn said(&self) -> String {
        let Self { rows, keys, units, space, .. } = self;
        format!("a group of {units} units has {} queries, and {keys} keys and their values in '{space}'", units * rows)
    }

    /// Numbers of a value in the group's memory.
    fn width(&self) -> i64 {
        self.panels * self.columns
    }

    /// Bytes of the group's memory, if there is a number for them.
    fn bytes(&self) -> Option<i64> {
        let queries = self.units.checked_mul(self.rows)?;
        let of_queries = queries.checked_mul(self.depth.checked_add(self.keys)?)?;
        self.keys.checked_mul(self.pitch)?.checked_add(of_queries)?.checked_mul(4)
    }

    /// The one kernel of a region.
    pub(super) fn lower(&self, region: &FusedRegion<'_>, nest: &Nest<'_>, plan: &AttentionPlan) -> Built<Lowered> {
        let versions = vec![(vec![], self.kernel(region, nest, plan)?)];
        let args: Vec<Arg> = region.tensors(nest).into_iter().map(Arg::Tensor).collect();
        let steps = vec![Step::of(versions, &args, &region.work(nest))];
        Ok(Lowered { steps, remarks: vec![self.said()], ..Lowered::default() })
    }

    fn kernel(&self, region: &FusedRegion<'_>, nest: &Nest<'_>, plan: &AttentionPlan) -> Built<Kernel> {
        let walk = Walk { region, nest };
        let attention = Attention { walk, region, nest, plan };
        let header = attention.header(self.units, self.rows);
        build(nest.cx, &region.facts, header, |e| attention.units_body(e, self))
    }

    fn near(&self, e: &mut Emit<'_>) -> Near {
        let loc = e.loc;
        let mut memory = |rows: i64, columns: i64| {
            let ty = ViewType::new(&self.space, Type::F32, vec![rows.into(), columns.into()]);
            let ty = e.b.cx().ext_type(ty);
            AllocOp::value(&mut e.b, loc, Scope::Group, ty)
        };
        let queries = self.units * self.rows;
        Near {
            queries: memory(queries, self.depth),
            block: memory(self.keys, self.pitch),
            weights: memory(queries, self.keys),
        }
    }

    /// A part of the group's memory, with rows along its first dimension, or along its second.
    fn part(
        &self,
        e: &mut Emit<'_>,
        memory: Value,
        at: [Value; 2],
        (rows, columns): (i64, i64),
        turned: bool,
    ) -> Value {
        let ty = SliceType { space: self.space.clone(), elem: Type::F32, rows: rows.into(), cols: columns.into() };
        let ty = e.b.cx().ext_type(ty);
        let (row, col) = if turned { (1, 0) } else { (0, 1) };
        SliceOp::value(&mut e.b, e.loc, memory, &at, Some(row), Some(col), ty)
    }

    fn put(&self, e: &mut Emit<'_>, tile: Value, memory: Value, at: [Value; 2], extents: (i64, i64)) {
        let slice = self.part(e, memory, at, extents, false);
        StoreOp::build(&mut e.b, e.loc, tile, slice);
    }
}

/// Whether the numbers of a query, a key and a value lie side by side in memory: then copies of them read neighbours.
fn lie_in_rows(nest: &Nest<'_>, plan: &AttentionPlan) -> bool {
    let access = |stage: usize, input: usize| &nest.stages[stage].inputs[input];
    let in_rows = |access: &Access, dim: usize| {
        let float = nest.cx.element_type(nest.body.ty(access.value)) == Type::F32;
        float && access.oob.is_none() && access.index.last().and_then(|expr| nest.plain(*expr)) == Some(dim)
    };
    let (scores, values) = (&plan.scores, &plan.values);
    in_rows(access(scores.stage, scores.lhs), scores.sums[0])
        && in_rows(access(scores.stage, scores.rhs), scores.sums[0])
        && in_rows(access(values.stage, values.rhs), values.col())
}

impl<'r, 'a> Attention<'r, 'a> {
    fn units_body(&self, e: &mut Emit<'_>, blocks: &Blocks) -> Built<()> {
        let (plan, unit) = (self.plan, e.unit.expect("the header has several units"));
        let known = self.walk.start(e, &self.region.tensors(self.nest));
        let indices: Indices = plan.outer().into_iter().zip(e.grid.clone()).collect();
        let group = *e.grid.last().expect("tiles of queries are the last of the grid");
        let near = blocks.near(e);
        let tile = e.scaled(group, blocks.units, Some(unit));
        let place = Place {
            known: &known,
            indices: &indices,
            near: &near,
            own_row: e.scaled(unit, blocks.rows, None),
            row: e.scaled(tile, blocks.rows, None),
            own_key: e.scaled(unit, blocks.keys / blocks.units, None),
        };
        self.stage_queries(e, &place, blocks)?;
        let (zero, one) = (e.constant(0), e.constant(1));
        // The first block's factor is zero, and so forgets the first weights; where there is no key sums of nothing are divided by them.
        let mut carried = vec![
            self.fill(e, f64::NEG_INFINITY, blocks.rows, 1),
            self.fill(e, 1.0, blocks.rows, blocks.keys),
            self.share(e, &place, blocks, zero, (self.rhs(&plan.scores), plan.scores.sums[0], blocks.depth))?,
        ];
        carried.extend((0..blocks.panels).map(|_| self.fill(e, 0.0, blocks.rows, blocks.columns)));
        let done = e.for_loop(&self.key_count().ceildiv(blocks.keys), &carried, &mut |e, block, carried| {
            let [largest, weights, keys, sums @ ..] = carried else { unreachable!("as many as are carried") };
            let share = blocks.keys / blocks.units;
            blocks.put(e, *keys, near.block, [place.own_key, zero], (share, blocks.depth));
            let values = (self.rhs(&plan.values), plan.values.col(), blocks.width());
            let values = self.share(e, &place, blocks, block, values)?;
            SyncOp::build(&mut e.b, e.loc);
            let logits = self.block_logits(e, &place, blocks, block)?;
            SyncOp::build(&mut e.b, e.loc);
            blocks.put(e, values, near.block, [place.own_key, zero], (share, blocks.width()));
            let here = ReduceOp::value(&mut e.b, e.loc, Combiner::Max, Direction::Cols, logits);
            let now = binary(e, BinaryKind::Max, *largest, here);
            let (origin, factor) = self.origin(e, (*largest, now), blocks.rows);
            let powers = less(e, logits, origin);
            let powers = exp(e, powers);
            blocks.put(e, powers, near.weights, [place.own_row, zero], (blocks.rows, blocks.keys));
            // What the columns of a row add up to is asked once, after the last block.
            let weights = times(e, *weights, factor);
            let weights = binary(e, BinaryKind::Add, weights, powers);
            let sums: Vec<Value> = sums.iter().map(|sum| times(e, *sum, factor)).collect();
            SyncOp::build(&mut e.b, e.loc);
            let next = e.scaled(block, 1, Some(one));
            let of = (self.rhs(&plan.scores), plan.scores.sums[0], blocks.depth);
            let keys = self.share(e, &place, blocks, next, of)?;
            let sums = self.block_sums(e, &place, blocks, &sums)?;
            SyncOp::build(&mut e.b, e.loc);
            Ok([vec![now, weights, keys], sums].concat())
        })?;
        let weights = ReduceOp::value(&mut e.b, e.loc, Combiner::Add, Direction::Cols, done[1]);
        let one = self.fill(e, 1.0, blocks.rows, 1);
        let factor = binary(e, BinaryKind::Div, one, weights);
        for (panel, sum) in (0..).zip(&done[3..]) {
            let sum = times(e, *sum, factor);
            let col = e.constant(panel * blocks.columns);
            let frame = self.window_of(
                e,
                &place,
                (plan.query(), place.row, blocks.rows),
                (plan.values.col(), col, blocks.columns),
            );
            self.behind_values(e, &known, &frame, sum)?;
        }
        Ok(())
    }

    /// A window along two dims, each with its first index and its extent.
    fn window_of(
        &self,
        e: &mut Emit<'_>,
        place: &Place<'_>,
        row: (usize, Value, i64),
        col: (usize, Value, i64),
    ) -> Frame {
        let axis = |(dim, base, extent): (usize, Value, i64)| Some(Axis { dim, base, extent: extent.into() });
        Frame { row: axis(row), col: axis(col), ..self.frame(e, place.indices) }
    }

    /// A unit copies its queries.
    fn stage_queries(&self, e: &mut Emit<'_>, place: &Place<'_>, blocks: &Blocks) -> Built<()> {
        let (plan, zero) = (self.plan, e.constant(0));
        let row = (plan.query(), place.row, blocks.rows);
        let frame = self.window_of(e, place, row, (plan.scores.sums[0], zero, blocks.depth));
        let queries = self.tensor_tile(e, place.known, &frame, self.lhs(&plan.scores))?;
        let at = [place.own_row, zero];
        blocks.put(e, queries.value, place.near.queries, at, (blocks.rows, blocks.depth));
        Ok(())
    }

    /// Reads what of a block's keys or values is the unit's to copy, along so many columns of a dim.
    fn share(
        &self,
        e: &mut Emit<'_>,
        place: &Place<'_>,
        blocks: &Blocks,
        block: Value,
        (access, dim, columns): (&Access, usize, i64),
    ) -> Built<Value> {
        let (key, col) = (e.scaled(block, blocks.keys, Some(place.own_key)), e.constant(0));
        let row = (self.plan.key(), key, blocks.keys / blocks.units);
        let frame = self.window_of(e, place, row, (dim, col, columns));
        Ok(self.tensor_tile(e, place.known, &frame, access)?.value)
    }

    /// The logits of a unit's queries and a block's keys.
    fn block_logits(&self, e: &mut Emit<'_>, place: &Place<'_>, blocks: &Blocks, block: Value) -> Built<Value> {
        e.loc = self.nest.stages[self.plan.scores.stage].op.loc();
        let init = self.fill(e, 0.0, blocks.rows, blocks.keys);
        let scores = e.for_loop(&(blocks.depth / blocks.step).into(), &[init], &mut |e, step, carried| {
            let (at, zero) = (e.scaled(step, blocks.step, None), e.constant(0));
            let registers = &self.region.machine.registers;
            let left = blocks.part(e, place.near.queries, [place.own_row, at], (blocks.rows, blocks.step), false);
            let left = self.load(e, left, registers, blocks.rows, blocks.step);
            let right = blocks.part(e, place.near.block, [zero, at], (blocks.step, blocks.keys), true);
            let right = self.load(e, right, registers, blocks.step, blocks.keys);
            Ok(vec![ContractOp::value(&mut e.b, e.loc, left, right, carried[0])])
        })?;
        let key = e.scaled(block, blocks.keys, None);
        let row = (self.plan.query(), place.row, blocks.rows);
        let frame = self.window_of(e, place, row, (self.plan.key(), key, blocks.keys));
        let logits = self.behind_scores(e, place.known, &frame, scores[0])?;
        Ok(self.only_keys(e, &frame, logits).value)
    }

    /// Adds what a block's values contribute to the weighted sums.
    fn block_sums(&self, e: &mut Emit<'_>, place: &Place<'_>, blocks: &Blocks, sums: &[Value]) -> Built<Vec<Value>> {
        e.loc = self.nest.stages[self.plan.values.stage].op.loc();
        e.for_loop(&(blocks.keys / blocks.step).into(), sums, &mut |e, step, carried| {
            let at = e.scaled(step, blocks.step, None);
            let registers = &self.region.machine.registers;
            let left = blocks.part(e, place.near.weights, [place.own_row, at], (blocks.rows, blocks.step), false);
            let left = self.load(e, left, registers, blocks.rows, blocks.step);
            let mut next = Vec::new();
            for (panel, sum) in (0..).zip(carried) {
                let at = [at, e.constant(panel * blocks.columns)];
                let right = blocks.part(e, place.near.block, at, (blocks.step, blocks.columns), false);
                let right = self.load(e, right, registers, blocks.step, blocks.columns);
                next.push(ContractOp::value(&mut e.b, e.loc, left, right, *sum));
            }
            Ok(next)
        })
    }

    // ---- what any unit does

    fn key_count(&self) -> &'r Poly {
        &self.nest.extents[self.plan.key()]
    }

    fn query_count(&self) -> &'r Poly {
        &self.nest.extents[self.plan.query()]
    }

    /// The header of a kernel whose units each have so many queries.
    fn header(&self, units: i64, rows: i64) -> Header {
        let mut grid: Vec<Poly> = self.plan.outer().iter().map(|d| self.nest.extents[*d].clone()).collect();
        grid.push(self.query_count().ceildiv(units * rows));
        Header {
            loc: self.region.op.loc(),
            views: self.region.views(self.nest),
            grid,
            units,
            requires: vec![],
            extra: self.nest.sizes_of_all().into_iter().chain(self.region.sizes()).collect(),
            symbols: self.nest.symbols.clone(),
        }
    }

    /// A place without axes.
    fn frame(&self, e: &mut Emit<'_>, indices: &Indices) -> Frame {
        let mut index = |d: usize| {
            let known = indices.get(&d).copied();
            known.or_else(|| self.nest.is_unit(d).then(|| e.constant(0)))
        };
        let registers = &self.region.machine.registers;
        Frame {
            fixed: (0..self.nest.extents.len()).map(&mut index).collect(),
            row: None,
            col: None,
            space: registers.clone(),
            registers: registers.clone(),
            partial: true,
            padded: true,
        }
    }

    fn load(&self, e: &mut Emit<'_>, slice: Value, space: &Space, rows: i64, cols: impl Into<Poly>) -> Value {
        let ty = TileType { space: space.clone(), elem: Type::F32, rows: rows.into(), cols: cols.into() };
        let ty = e.b.cx().ext_type(ty);
        LoadOp::value(&mut e.b, e.loc, slice, None, ty)
    }

    fn fill(&self, e: &mut Emit<'_>, number: f64, rows: i64, cols: i64) -> Value {
        let cx = e.b.cx();
        let ty = cx.ext_type(TileType::constant(&self.region.machine.registers, Type::F32, rows, cols));
        FillOp::value(&mut e.b, e.loc, cx.float_attr(number, Type::F32), ty)
    }

    fn lhs(&self, plan: &ContractPlan) -> &'r Access {
        &self.nest.stages[plan.stage].inputs[plan.lhs]
    }

    fn rhs(&self, plan: &ContractPlan) -> &'r Access {
        &self.nest.stages[plan.stage].inputs[plan.rhs]
    }

    /// Reads a whole tile of a tensor, with zeros where it ends.
    fn tensor_tile(&self, e: &mut Emit<'_>, known: &Known, frame: &Frame, access: &Access) -> Built<Tile> {
        let view = known.view(self.nest.stages[self.plan.scores.stage].op, access.value)?;
        let pad = zero(self.nest.cx, Type::F32);
        let shape = Shape { rows: frame.row.is_some(), cols: frame.col.is_some() };
        let tile = e.load(self.nest, frame, view, &access.index, Some(pad.into()));
        Ok(e.realise(frame, Number::Tile(tile), shape, None))
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

    /// What a block's powers are taken relative to, where its rows' largest logits were and are these, and by what sums so far
    /// are to be multiplied.
    fn origin(&self, e: &mut Emit<'_>, (before, largest): (Value, Value), rows: i64) -> (Value, Value) {
        // While all logits are negative infinity, so is the largest; a difference to it would be no number.
        let (lowest, nothing) = (self.fill(e, f64::NEG_INFINITY, rows, 1), self.fill(e, 0.0, rows, 1));
        let none = CompareOp::value(&mut e.b, e.loc, CompareKind::Oeq, largest, lowest);
        let origin = TernaryOp::value(&mut e.b, e.loc, TernaryKind::Select, none, nothing, largest);
        let factor = binary(e, BinaryKind::Sub, before, origin);
        (origin, exp(e, factor))
    }
}

/// A tile with each row multiplied by a number of its own.
fn times(e: &mut Emit<'_>, tile: Value, column: Value) -> Value {
    let column = BroadcastOp::value(&mut e.b, e.loc, column, tile);
    binary(e, BinaryKind::Mul, tile, column)
}

/// A tile with a number of its own subtracted from each row.
fn less(e: &mut Emit<'_>, tile: Value, column: Value) -> Value {
    let column = BroadcastOp::value(&mut e.b, e.loc, column, tile);
    binary(e, BinaryKind::Sub, tile, column)
}

fn binary(e: &mut Emit<'_>, kind: BinaryKind, a: Value, b: Value) -> Value {
    BinaryOp::value(&mut e.b, e.loc, kind, a, b)
}

fn exp(e: &mut Emit<'_>, a: Value) -> Value {
    UnaryOp::value(&mut e.b, e.loc, UnaryKind::Exp, a)
}

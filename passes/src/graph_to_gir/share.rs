//! Kernels for a share of a row region's stages: what they read and write, their grid, and programs of several of them.

use std::cell::RefCell;
use std::collections::HashSet;

use indexmap::IndexMap;
use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::gir::kernel::Mode;
use sutura_dialects::gir::ops::{BinaryOp, LoadOp};
use sutura_dialects::gir::types::ViewType;
use sutura_ir::{Type, Value};

use super::blocks::Block;
use super::group::{Group, Partial, Parts, State, needed_unless, phases};
use super::kernel::{Built, Emit, Header, build};
use super::region::{Arg, FusedRegion, Launch};
use super::scalars::{accumulator, result_elem, tile_combiner};
use super::stages::{Known, Walk};
use super::tiles::{Axis, Covers, Frame, Number, Tile};
use crate::region::Nest;
use crate::region::cost::body_cost;

/// Columns of a group.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Width {
    /// All.
    Whole,
    /// A tile in the cache.
    Tiles(i64),
    /// A tile in registers.
    Registers(i64),
}

/// A stage and one of its results.
type Key = (usize, usize);

/// What one kernel does of a region: a mapping of some of its stages to a grid.
#[derive(Clone, Default, Debug)]
pub(super) struct Share {
    /// Stages that it computes, in order.
    pub(super) stages: Vec<usize>,
    /// Dims with one index per group.
    pub(super) grid: Vec<usize>,
    /// A dim of the grid of which a group has several indices.
    pub(super) block: Option<Block>,
    /// Dims that a group loops over, outermost first.
    pub(super) loops: Vec<usize>,
    /// The column dim, and how much of it a group has.
    pub(super) col: Option<(usize, Width)>,
    /// A dim of the loops of which a group has one part, or the tiled column; and the number of parts or tiles.
    pub(super) parts: Option<(usize, Poly)>,
    /// Values that it writes.
    pub(super) writes: Vec<Value>,
    /// Results that it writes as parts.
    pub(super) partial: Vec<Key>,
    /// Results that it combines of parts.
    pub(super) combines: Vec<Key>,
    /// Values of the region that earlier kernels have written.
    pub(super) stored: HashSet<Value>,
}

/// Makes kernels for shares of a region.
pub(super) struct Shares<'r, 'a> {
    region: &'r FusedRegion<'a>,
    nest: &'r Nest<'a>,
    /// Memory between kernels, by value and number of parts of it.
    temporaries: RefCell<IndexMap<(Value, Option<Poly>), ViewType>>,
}

impl<'r, 'a> Shares<'r, 'a> {
    pub(super) fn new(region: &'r FusedRegion<'a>, nest: &'r Nest<'a>) -> Self {
        Self { region, nest, temporaries: RefCell::default() }
    }

    /// Buffers between kernels.
    pub(super) fn temporaries(&self) -> Vec<ViewType> {
        self.temporaries.borrow().values().cloned().collect()
    }

    /// Columns of a tile of so many sums in registers: half of them, the rest is for what is added.
    pub(super) fn tile_columns(&self, sums: i64) -> i64 {
        let (registers, lanes) = self.region.machine.vectors;
        let each = (registers / 2 / sums.max(1)).clamp(1, 8);
        // A power of two, so that tiles begin where vectors do.
        (1 << each.ilog2()) * lanes
    }

    /// Columns of a tile of one vector.
    pub(super) fn vector_columns(&self) -> i64 {
        self.region.machine.vectors.1
    }

    // ---- what is where

    fn elem(&self, (s, r): Key, partial: bool) -> Type {
        let stage = &self.nest.stages[s];
        if partial { accumulator(self.nest.cx, stage, r) } else { result_elem(self.nest.cx, stage, r) }
    }

    fn value(&self, (s, r): Key) -> Value {
        self.nest.stages[s].results[r].value
    }

    /// Memory for a result, or for `parts` parts of it.
    fn place(&self, key: Key, parts: Option<&Poly>) -> (Arg, ViewType) {
        let value = self.value(key);
        if parts.is_none() && self.region.outputs.contains(&value) {
            return (Arg::Tensor(value), self.region.view(self.nest, value));
        }
        let index = &self.nest.stages[key.0].results[key.1].index;
        let extent = |e| self.nest.plain(e).map_or(1.into(), |d| self.nest.extents[d].clone());
        let dims = parts.into_iter().cloned().chain(index.iter().map(|e| extent(*e))).collect();
        let view = ViewType::new(&self.region.machine.memory, self.elem(key, parts.is_some()), dims);
        let mut all = self.temporaries.borrow_mut();
        let entry = all.entry((value, parts.cloned()));
        let at = entry.index();
        entry.or_insert(view.clone());
        (Arg::Temporary(at), view)
    }

    fn tensor(&self, value: Value) -> (Arg, ViewType) {
        match self.nest.made.get(&value) {
            Some(key) => self.place(*key, None),
            None => (Arg::Tensor(value), self.region.view(self.nest, value)),
        }
    }

    /// Tensors that a share reads: those of the region's inputs, and of what earlier kernels have written.
    fn reads(&self, share: &Share) -> Vec<Value> {
        let mut reads = Vec::new();
        for read in share.stages.iter().flat_map(|s| self.nest.stages[*s].reads()) {
            let outside = read.slot.is_none() || share.stored.contains(&read.value);
            if outside && !reads.contains(&read.value) {
                reads.push(read.value);
            }
        }
        reads
    }

    fn work(&self, share: &Share) -> Poly {
        let work = share.stages.iter().map(|s| {
            let stage = &self.nest.stages[*s];
            let points = Poly::product(stage.dims.iter().map(|d| &self.nest.extents[*d]));
            points.scale(i64::from(body_cost(stage.body)).max(1))
        });
        let parts = share.combines.iter().map(|key| self.place(*key, share.parts.as_ref().map(|p| &p.1)).1.elements());
        work.chain(parts).fold(Poly::default(), |sum, w| sum.add(&w))
    }

    // ---- one kernel

    /// The launch of a share's kernel, which `requires` sizes not to be negative.
    pub(super) fn launch(&self, share: &Share, requires: Vec<Poly>) -> Built<Launch> {
        let (nest, region) = (self.nest, self.region);
        let parts = share.parts.as_ref().map(|(_, count)| count);
        let mut ports: Vec<((Arg, ViewType), Mode)> = Vec::new();
        let reads = self.reads(share);
        ports.extend(reads.iter().map(|v| (self.tensor(*v), Mode::In)));
        ports.extend(share.combines.iter().map(|key| (self.place(*key, parts), Mode::In)));
        ports.extend(share.writes.iter().map(|v| (self.tensor(*v), Mode::Out)));
        ports.extend(share.partial.iter().map(|key| (self.place(*key, parts), Mode::Out)));
        let mut grid: Vec<Poly> = Vec::new();
        if let Some((_, count)) = self.divided(share) {
            grid.push(count.clone());
        }
        grid.extend(self.grid_dims(share).map(|d| match share.block.filter(|block| block.dim == d) {
            Some(block) => block.groups(nest),
            None => nest.extents[d].clone(),
        }));
        if let Some((col, Width::Tiles(tile) | Width::Registers(tile))) = share.col {
            grid.push(nest.extents[col].ceildiv(tile));
        }
        let header = Header {
            loc: region.op.loc(),
            views: ports.iter().map(|((_, view), mode)| (view.clone(), *mode)).collect(),
            grid,
            units: 1,
            requires,
            extra: nest.sizes_of_all().into_iter().chain(region.sizes()).collect(),
            symbols: nest.symbols.clone(),
        };
        let kernel = build(nest.cx, &region.facts, header, |e| self.body(e, share, &reads))?;
        let args = ports.into_iter().map(|((arg, _), _)| arg).collect();
        Ok(Launch { kernel, args, work: self.work(share) })
    }

    /// The dim of the loops of which a group has one part, and the number of parts.
    fn divided<'s>(&self, share: &'s Share) -> Option<&'s (usize, Poly)> {
        let tiled = |dim: usize| share.col.is_some_and(|(col, _)| col == dim);
        share.parts.as_ref().filter(|(dim, _)| share.combines.is_empty() && !tiled(*dim))
    }

    /// Dims of the grid that are longer than 1.
    fn grid_dims<'s>(&'s self, share: &'s Share) -> impl Iterator<Item = usize> + 's {
        share.grid.iter().copied().filter(|d| !self.nest.is_unit(*d))
    }

    fn body(&self, e: &mut Emit<'_>, share: &Share, reads: &[Value]) -> Built<()> {
        let mut grid = e.grid.clone().into_iter();
        let parts = self.divided(share).map(|(dim, count)| {
            let count = count.as_const().expect("parts of a loop are of fixed number");
            Parts { dim: *dim, count, index: grid.next().expect("one per part") }
        });
        let part = parts.map(|p| p.index).or(e.grid.last().copied());
        let frame = self.frame(e, share, grid);
        let (mut known, mut state) = (Known { stored: share.stored.clone(), ..Known::default() }, State::default());
        let mut views = e.views.clone().into_iter();
        let mut next = || views.next().expect("one view per port");
        for value in reads {
            let view = next();
            let view = self.shaped(e, *value, view);
            known.views.insert(*value, view);
        }
        let combined: Vec<Value> = share.combines.iter().map(|_| next()).collect();
        for value in &share.writes {
            let view = next();
            let view = self.shaped(e, *value, view);
            known.views.insert(*value, view);
        }
        let partial = share.partial.iter().map(|key| {
            let index = self.nest.stages[key.0].results[key.1].index.clone();
            let part = (part.expect("parts are written by groups that are numbered"), 0);
            (self.value(*key), Partial { view: next(), index, part })
        });
        let partial = partial.collect();
        let walk = Walk { region: self.region, nest: self.nest };
        let group = Group { walk, writes: share.writes.clone(), partial, parts };
        if !share.combines.is_empty() {
            let sums = self.combine(e, &frame, share, &combined)?;
            for (key, tile) in share.combines.iter().zip(sums) {
                let stage = &self.nest.stages[key.0];
                let tile = e.converted(tile, self.elem(*key, false));
                group.made(e, &frame, (stage, key.1), Number::Tile(tile), &mut known, &mut state)?;
            }
        }
        let all = (&share.stages[..], &share.loops[..]);
        match share.block {
            Some(block) => block.run(e, &walk, all, (frame, known), &mut |e, frame, mut known| {
                group.run(e, frame, all, &mut known, &mut State::default())
            }),
            None => group.run(e, &frame, all, &mut known, &mut state),
        }
    }

    /// The view as accesses index it.
    fn shaped(&self, e: &mut Emit<'_>, value: Value, view: Value) -> Value {
        match self.nest.shapes.get(&value) {
            Some(sizes) => e.reshaped(view, sizes),
            None => view,
        }
    }

    fn frame(&self, e: &mut Emit<'_>, share: &Share, mut grid: impl Iterator<Item = Value>) -> Frame {
        let machine = self.region.machine;
        let in_registers = matches!(share.col, Some((_, Width::Registers(_))));
        let tiled = matches!(share.col, Some((_, Width::Registers(_) | Width::Tiles(_))));
        let mut frame = Frame {
            fixed: vec![None; self.nest.extents.len()],
            row: None,
            col: None,
            space: if in_registers { machine.registers.clone() } else { machine.cache.clone() },
            registers: machine.registers.clone(),
            partial: tiled,
            padded: in_registers,
        };
        for dim in (0..self.nest.extents.len()).filter(|d| self.nest.is_unit(*d)) {
            frame.fixed[dim] = Some(e.constant(0));
        }
        for dim in self.grid_dims(share) {
            frame.fixed[dim] = grid.next();
        }
        if let Some((dim, width)) = share.col {
            let (base, extent) = match width {
                Width::Whole => (e.constant(0), self.nest.extents[dim].clone()),
                Width::Tiles(tile) | Width::Registers(tile) => {
                    let at = grid.next().expect("one per tile");
                    (e.scaled(at, tile, None), tile.into())
                }
            };
            frame.col = Some(Axis { dim, base, extent });
        }
        frame
    }

    /// The sums of all parts, one after another.
    fn combine(&self, e: &mut Emit<'_>, frame: &Frame, share: &Share, views: &[Value]) -> Built<Vec<Tile>> {
        let (_, count) = share.parts.as_ref().expect("parts are combined of a divided dim");
        let cx = self.nest.cx;
        let mut inits = Vec::new();
        for (s, r) in &share.combines {
            let stage = &self.nest.stages[*s];
            let elem = self.elem((*s, *r), true);
            let shape = frame.shape(self.nest, &stage.results[*r].index);
            inits.push(e.fill(frame, stage.combiners[*r].identity(cx, elem), elem, shape));
        }
        let values: Vec<Value> = inits.iter().map(|tile| tile.value).collect();
        let sums = e.for_loop(count, &values, &mut |e, part, carried| {
            let mut next = Vec::new();
            for (((s, r), view), (init, old)) in share.combines.iter().zip(views).zip(inits.iter().zip(carried)) {
                let stage = &self.nest.stages[*s];
                let tile = e.load_part(self.nest, frame, &stage.results[*r].index, (*view, part), init);
                let combiner = tile_combiner(cx, stage.combiners[*r], init.elem);
                let Some(combiner) = combiner else {
                    return Emit::unsupported(stage.op, "combines numbers in a way that tiles do not");
                };
                next.push(BinaryOp::value(&mut e.b, e.loc, combiner.binary(), *old, tile));
            }
            Ok(next)
        })?;
        let tile = |(value, init): (Value, &Tile)| Tile { value, window: Covers::All, ..*init };
        Ok(sums.into_iter().zip(&inits).map(tile).collect())
    }

    // ---- programs

    /// Kernels for parts of a dim that is combined along: after each combination another kernel joins the parts, and what
    /// needs the result runs through the dim again.
    pub(super) fn in_parts(
        &self,
        whole: &Share,
        (dim, count): (usize, &Poly),
        requires: &[Poly],
    ) -> Built<Vec<Launch>> {
        let nest = self.nest;
        let all = &whole.stages;
        let phase = phases(nest, all, dim, &|_| false);
        let has = |s: usize| nest.stages[s].dims.contains(&dim);
        let mut stored: HashSet<Value> = HashSet::new();
        let mut launches = Vec::new();
        let keys = |s: usize| (0..nest.stages[s].results.len()).map(move |r| (s, r));
        // The last combination is joined behind the last phase.
        for now in 0..=phase.values().copied().max().unwrap_or(0) + 1 {
            // What is combined, and what follows without the dim.
            let sums: Vec<usize> =
                all.iter().copied().filter(|s| nest.stages[*s].reduced.contains(&dim) && phase[s] + 1 == now).collect();
            let less: Vec<usize> = all.iter().copied().filter(|s| !has(*s) && phase[s] == now).collect();
            let wanted = |value: Value| {
                let used = all.iter().any(|s| {
                    (has(*s) || phase[s] > now) && nest.stages[*s].inputs.iter().any(|read| read.value == value)
                });
                whole.writes.contains(&value) || (used && now > 0)
            };
            let writes = sums.iter().chain(&less).flat_map(|s| keys(*s)).map(|k| self.value(k));
            let writes: Vec<Value> = writes.filter(|v| wanted(*v) && !stored.contains(v)).collect();
            let joins = self.joins(whole, (dim, count), (&sums, &less), writes, &stored);
            for share in joins {
                launches.push(self.launch(&share, vec![])?);
                stored.extend(share.writes);
            }
            let ends = |s: &usize| {
                let stage = &nest.stages[*s];
                let written = stage.results.iter().any(|r| whole.writes.contains(&r.value));
                has(*s) && phase[s] == now && (stage.reduced.contains(&dim) || written)
            };
            let ends: Vec<usize> = all.iter().copied().filter(ends).collect();
            if ends.is_empty() {
                continue;
            }
            let combined = |s: &usize| nest.stages[*s].reduced.contains(&dim);
            let written = ends.iter().filter(|s| !combined(s)).flat_map(|s| keys(*s)).map(|k| self.value(k));
            let share = Share {
                stages: needed_unless(nest, all, &ends, &|v| stored.contains(&v)),
                parts: Some((dim, count.clone())),
                writes: written.filter(|v| whole.writes.contains(v)).collect(),
                partial: ends.iter().filter(|s| combined(s)).flat_map(|s| keys(*s)).collect(),
                stored: stored.clone(),
                ..whole.clone()
            };
            launches.push(self.launch(&share, requires.to_vec())?);
        }
        Ok(launches)
    }

    /// Shares that combine parts of `sums` and compute what `less`, stages without `dim`, make of them: what lies along
    /// columns in tiles of these, and numbers, of which there is one for all columns, in a kernel of their own.
    fn joins(
        &self,
        whole: &Share,
        (dim, count): (usize, &Poly),
        (sums, less): (&[usize], &[usize]),
        writes: Vec<Value>,
        stored: &HashSet<Value>,
    ) -> Vec<Share> {
        let keys = |s: &usize| (0..self.nest.stages[*s].results.len()).map(move |r| (*s, r)).collect::<Vec<_>>();
        let along = |value: &Value| {
            let (stage, result) = self.nest.made[value];
            whole.col.is_some_and(|(col, _)| self.nest.mentions(&self.nest.stages[stage].results[result], col))
        };
        let (columns, numbers): (Vec<Value>, Vec<Value>) = writes.into_iter().partition(along);
        let mut shares = Vec::new();
        for writes in [columns, numbers].into_iter().filter(|writes| !writes.is_empty()) {
            let makes = |s: &usize| keys(s).iter().any(|key| writes.contains(&self.value(*key)));
            let makers: Vec<usize> = less.iter().copied().filter(makes).collect();
            let summed: HashSet<Value> = sums.iter().flat_map(keys).map(|key| self.value(key)).collect();
            let known = |v: Value| stored.contains(&v) || summed.contains(&v);
            let stages = needed_unless(self.nest, &whole.stages, &makers, &known);
            let reads = |v: Value| stages.iter().any(|s| self.reads_of(*s, v));
            let wanted = |key: &Key| writes.contains(&self.value(*key)) || reads(self.value(*key));
            let combines: Vec<Key> = sums.iter().flat_map(keys).filter(wanted).collect();
            // What follows from no sum is computed once, and not by every part.
            let parts = (!combines.is_empty()).then(|| (dim, count.clone()));
            shares.push(Share {
                combines,
                parts,
                stored: stored.clone(),
                ..self.apart_from(whole, dim, (stages, &writes))
            });
        }
        shares
    }

    /// A share for stages that do not run through `dim`, and that make these values.
    fn apart_from(&self, whole: &Share, dim: usize, (stages, writes): (Vec<usize>, &[Value])) -> Share {
        let width = Width::Registers(self.tile_columns(2));
        let stage = |s: usize| &self.nest.stages[s];
        let through = |col: usize| {
            let made = writes.iter().map(|value| self.nest.made[value]);
            let written = made.into_iter().any(|(s, r)| self.nest.mentions(&stage(s).results[r], col));
            written || stages.iter().any(|s| stage(*s).dims.contains(&col))
        };
        let combines = |col: usize| stages.iter().any(|s| stage(*s).reduced.contains(&col));
        let col = whole.col.filter(|(col, _)| *col != dim && through(*col)).map(|(col, given)| match given {
            // A number for all columns is made by a group that has them all.
            _ if combines(col) => (col, Width::Whole),
            Width::Registers(_) => (col, given),
            _ => (col, width),
        });
        Share {
            col,
            stages,
            grid: whole.grid.clone(),
            loops: whole.loops.iter().copied().filter(|d| *d != dim).collect(),
            writes: writes.to_vec(),
            ..Share::default()
        }
    }

    /// Kernels for rows and kernels for columns, one after another: `dim` counts the rows.
    pub(super) fn apart(&self, whole: &Share, dim: usize) -> Built<Vec<Launch>> {
        let nest = self.nest;
        let all = &whole.stages;
        let (col, _) = whole.col.expect("there is a column where columns are combined");
        let phase = phases(nest, all, dim, &|_| false);
        let has = |s: usize, d: usize| nest.stages[s].dims.contains(&d);
        let down = |s: usize| nest.stages[s].reduced.contains(&dim);
        let per_row = |s: usize| has(s, dim) && !down(s) && (nest.stages[s].reduced.contains(&col) || !has(s, col));
        let values = |s: usize| nest.stages[s].results.iter().map(|r| r.value);
        let mut stored: HashSet<Value> = HashSet::new();
        let mut launches = Vec::new();
        for now in 0..=phase.values().copied().max().unwrap_or(0) {
            let here: Vec<usize> = all.iter().copied().filter(|s| phase[s] == now).collect();
            let output = |s: usize| values(s).any(|v| whole.writes.contains(&v));
            let rows = here.iter().copied().filter(|s| has(*s, dim) && !down(*s) && (output(*s) || per_row(*s)));
            let rows: Vec<usize> = rows.collect();
            if !rows.is_empty() {
                let share = Share {
                    stages: needed_unless(nest, all, &rows, &|v| stored.contains(&v)),
                    grid: [&[dim][..], &whole.grid].concat(),
                    col: Some((col, Width::Whole)),
                    writes: rows.iter().flat_map(|s| values(*s)).collect(),
                    stored: stored.clone(),
                    ..Share::default()
                };
                stored.extend(share.writes.iter().copied());
                launches.push(self.launch(&share, vec![])?);
            }
            // Sums, and what follows from them alone; at first also what follows from no sum.
            let combined = here.iter().copied().filter(|s| down(*s));
            let first = if now == 0 { self.without(all, &phase, dim, 0) } else { vec![] };
            let columns: Vec<usize> =
                first.into_iter().chain(combined).chain(self.without(all, &phase, dim, now + 1)).collect();
            let used =
                |v: Value| whole.writes.contains(&v) || all.iter().any(|s| phase[s] > now && self.reads_of(*s, v));
            let writes: Vec<Value> = columns.iter().flat_map(|s| values(*s)).filter(|v| used(*v)).collect();
            if !writes.is_empty() {
                let share = Share {
                    stages: needed_unless(nest, all, &columns, &|v| stored.contains(&v)),
                    writes: writes.clone(),
                    stored: stored.clone(),
                    ..whole.clone()
                };
                launches.push(self.launch(&share, vec![])?);
                stored.extend(writes);
            }
        }
        Ok(launches)
    }

    fn reads_of(&self, stage: usize, value: Value) -> bool {
        self.nest.stages[stage].inputs.iter().any(|read| read.value == value)
    }

    /// Stages without `dim` at a phase.
    fn without(
        &self,
        all: &[usize],
        phase: &std::collections::HashMap<usize, usize>,
        dim: usize,
        now: usize,
    ) -> Vec<usize> {
        let there = |s: &usize| !self.nest.stages[*s].dims.contains(&dim) && phase[s] == now;
        all.iter().copied().filter(there).collect()
    }
}

impl Emit<'_> {
    /// Reads a part of a number.
    fn load_part(
        &mut self,
        nest: &Nest<'_>,
        frame: &Frame,
        index: &[sutura_ir::affine::AffineExpr],
        (view, part): (Value, Value),
        like: &Tile,
    ) -> Value {
        let mut offsets = vec![part];
        let mut col = None;
        for (i, expr) in index.iter().enumerate() {
            if frame.col.as_ref().is_some_and(|a| nest.mentions_expr(*expr, a.dim)) {
                col = Some(i as i64 + 1);
            }
            offsets.push(self.index(*expr, &|d| frame.value(d)));
        }
        let slice = self.window(view, &offsets, col, frame.extents(like.shape));
        let pad = like.shape.cols.then(|| super::tiles::zero(nest.cx, like.elem));
        let ty = self.b.body().ty(like.value);
        LoadOp::value(&mut self.b, self.loc, slice, pad, ty)
    }
}

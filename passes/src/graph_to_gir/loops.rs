//! Any structured op by itself: a grid over what is made, loops over what is combined.

use sutura_dialects::r#dyn::Facts;
use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::elements::accumulator_type;
use sutura_dialects::gir::ops::BinaryOp;
use sutura_dialects::graph::{Combiner, Joint, PlanAttr, Setting};
use sutura_ir::{Context, Type, Value};

use super::kernel::{Built, Emit, Kernel, build};
use super::mapping::Axis as Choices;
use super::region::{Arg, FusedRegion, Lowered, Step};
use super::scalars::{accumulator, result_elem, tile_combiner};
use super::stages::{Known, Walk};
use super::tiles::{Axis, Covers, Frame, Number, Tile, zero};
use crate::region::rows::check_column_access;
use crate::region::{Access, Edge, Nest, Scan, Scatter, Stage};

/// Columns of a tile.
const COLUMNS: i64 = 64;

/// Columns of a tile where there are few.
const FEW_COLUMNS: i64 = 16;

/// Columns of tiles that a search tries.
const TILES: [i64; 4] = [COLUMNS, 32, 128, 256];

/// What can be chosen of a region, each with the usual value first; nothing of one that cannot be lowered.
pub(super) fn axes(region: &FusedRegion<'_>) -> Vec<Choices> {
    let Ok(nest) = Nest::of(&region.facts, &region.ops, &region.outputs) else { return vec![] };
    let [stage] = &nest.stages[..] else { return vec![] };
    if stage.scatter.is_some() {
        return vec![];
    }
    let parallel = parallel(&nest, stage);
    let col = column(&nest, stage, &parallel);
    let inside = parallel.iter().filter(|d| Some(**d) != col && !nest.is_unit(**d)).count();
    let wide = col.is_some_and(|col| region.facts.range(&nest.extents[col]).1 > i128::from(FEW_COLUMNS));
    let columns = TILES.into_iter().filter(|_| wide).map(Setting::Columns).collect();
    vec![columns, (0..=inside.min(2) as i64).map(Setting::Inner).collect()]
}

/// Lowers a region of one op.
pub(super) fn lower(region: &FusedRegion<'_>, plan: &PlanAttr) -> Built<Lowered> {
    let nest = Nest::of(&region.facts, &region.ops, &region.outputs)
        .map_err(|misfit| Box::new(region.op.error(format!("cannot be lowered: {misfit}"))))?;
    let [stage] = &nest.stages[..] else {
        return Err(Box::new(region.op.error("is marked as a loop, but has several ops")));
    };
    if stage.joint.is_none()
        && let Err(misfit) = nest.check_no_scan()
    {
        return Err(Box::new(region.op.error(format!("is marked as a loop, but {misfit}"))));
    }
    let parallel = parallel(&nest, stage);
    let col = column(&nest, stage, &parallel);
    let (mut most, mut inner) = (COLUMNS, 0);
    for setting in &plan.settings {
        match *setting {
            Setting::Columns(columns) => most = columns,
            Setting::Inner(dims) => inner = usize::try_from(dims).unwrap_or(0),
            _ => {}
        }
    }
    let (known, edge) = written(&nest, stage, &region.facts, col);
    let mut versions = Vec::new();
    for (columns, requires) in widths(&nest, &region.facts, col, most) {
        let edge = edge.clone();
        let looped = Loop { walk: Walk { region, nest: &nest }, nest: &nest, stage, col, columns, inner, edge };
        let all = requires.iter().chain(&known).cloned().collect();
        versions.push((requires, looped.kernel(&parallel, all)?));
    }
    let args: Vec<Arg> = region.tensors(&nest).into_iter().map(Arg::Tensor).collect();
    let work = region.work(&nest);
    let data = stage.scatter.iter().flat_map(|scatter| scatter.data.iter().copied());
    Ok(Lowered {
        copies: data.map(Arg::Tensor).zip(stage.results.iter().map(|write| Arg::Tensor(write.value))).collect(),
        steps: vec![Step::of(versions, &args, &work)],
        ..Lowered::default()
    })
}

/// Dims of what is made, without one along which it is combined as it goes.
fn parallel(nest: &Nest<'_>, stage: &Stage<'_>) -> Vec<usize> {
    let made = stage.results[0].index.iter().filter_map(|e| nest.plain(*e));
    made.filter(|dim| stage.scan.is_none_or(|scan| scan.dim != *dim)).collect()
}

/// Columns of a tile, `most` where there are many, and the guard of the version with that many, the last of which has none:
/// where there are few columns, most of a wide tile would be masked off.
fn widths(nest: &Nest<'_>, facts: &Facts, col: Option<usize>, most: i64) -> Vec<(i64, Vec<Poly>)> {
    let Some(col) = col else { return vec![(1, vec![])] };
    let extent = &nest.extents[col];
    let few = Poly::constant(FEW_COLUMNS).sub(extent);
    match facts.range(extent) {
        (_, high) if high <= i128::from(FEW_COLUMNS) => vec![(FEW_COLUMNS, vec![])],
        (low, _) if low > i128::from(FEW_COLUMNS) => vec![(most, vec![])],
        _ => vec![(FEW_COLUMNS, vec![few]), (most, vec![])],
    }
}

/// Where writes at indices may leave the tensor, and sizes that are not negative in any run, so that a kernel may require it.
fn written(nest: &Nest<'_>, stage: &Stage<'_>, facts: &Facts, col: Option<usize>) -> (Vec<Poly>, Edge) {
    let (mut known, mut edges) = (Vec::new(), Vec::new());
    if stage.scatter.is_none() {
        return (known, Edge::Nowhere);
    }
    let write = &stage.results[0];
    let sizes = &nest.shapes[&write.value];
    for (dim, (expr, size)) in write.index.iter().zip(sizes).enumerate() {
        let Some(own) = nest.plain(*expr) else {
            // An index that is picked of nothing is none.
            edges.extend((facts.range(size).0 < 1).then_some(dim));
            continue;
        };
        let room = facts.canonical(&size.sub(&nest.extents[own]));
        if facts.range(&room).0 >= 0 || col == Some(own) {
            continue;
        }
        match facts.canonical(&room.lesser(&Poly::default())).is_zero() {
            true => known.push(room),
            false => edges.push(dim),
        }
    }
    let picked = |dims: std::ops::Range<usize>| write.index[dims].iter().all(|e| nest.plain(*e).is_none());
    let edge = match edges[..] {
        [] => Edge::Nowhere,
        [edge] => Edge::At(edge),
        [first, .., last] if picked(first..last + 1) => Edge::Joined(first..last + 1),
        _ => Edge::Apart(edges.len()),
    };
    (known, edge)
}

/// The innermost dim along which everything is read forward.
fn column(nest: &Nest<'_>, stage: &Stage<'_>, parallel: &[usize]) -> Option<usize> {
    let forward = |d: &usize| {
        stage.inputs.iter().all(|read| check_column_access(nest, read, *d).is_ok())
            && !stage.picks.iter().any(|pick| nest.mentions(&pick.access, *d))
    };
    let mut inner = parallel.iter().rev().copied().filter(forward);
    let first = inner.next();
    first.into_iter().chain(inner).find(|d| !nest.is_unit(*d)).or(first)
}

/// Type in which a result is accumulated.
fn accumulated(cx: &Context, stage: &Stage<'_>, result: usize) -> Type {
    let state = stage.joint.and_then(|joint| cx.attr_type(joint.state.identity[result]));
    state.unwrap_or_else(|| accumulator(cx, stage, result))
}

struct Loop<'r, 'a> {
    walk: Walk<'r, 'a>,
    nest: &'r Nest<'a>,
    stage: &'r Stage<'a>,
    col: Option<usize>,
    /// Columns of a tile.
    columns: i64,
    /// Dims of what is made, the innermost ones, that a group loops over.
    inner: usize,
    /// Where writes at indices may leave the tensor.
    edge: Edge,
}

impl Loop<'_, '_> {
    fn kernel(&self, parallel: &[usize], requires: Vec<Poly>) -> Built<Kernel> {
        let (region, nest) = (self.walk.region, self.nest);
        let mut grid: Vec<Poly> = self.fixed(parallel).0.iter().map(|d| nest.extents[*d].clone()).collect();
        grid.extend(self.col.map(|col| nest.extents[col].ceildiv(self.columns)));
        let header = region.header(nest, grid, requires);
        build(nest.cx, &region.facts, header, |e| self.body(e, parallel))
    }

    /// Dims that have one index in a group, and those that a group loops over.
    fn fixed(&self, parallel: &[usize]) -> (Vec<usize>, Vec<usize>) {
        let mut grid: Vec<usize> = parallel.iter().copied().filter(|d| Some(*d) != self.col).collect();
        let long = grid.iter().copied().filter(|d| !self.nest.is_unit(*d));
        let inner: Vec<usize> = long.rev().take(self.inner).collect();
        grid.retain(|d| !inner.contains(d));
        (grid, inner.into_iter().rev().collect())
    }

    fn body(&self, e: &mut Emit<'_>, parallel: &[usize]) -> Built<()> {
        let registers = &self.walk.region.machine.registers;
        let mut frame = Frame {
            fixed: vec![None; self.nest.extents.len()],
            row: None,
            col: None,
            space: registers.clone(),
            registers: registers.clone(),
            partial: true,
            padded: false,
        };
        let grid = e.grid.clone();
        let (fixed, inner) = self.fixed(parallel);
        for (dim, index) in fixed.into_iter().zip(&grid) {
            frame.fixed[dim] = Some(*index);
        }
        if let (Some(dim), Some(tile)) = (self.col, grid.last()) {
            let base = e.scaled(*tile, self.columns, None);
            frame.col = Some(Axis { dim, base, extent: self.columns.into() });
        }
        let known = self.walk.start(e, &self.walk.region.tensors(self.nest));
        self.along(e, &frame, &known, &inner)
    }

    /// Makes what a group makes, in loops over the inner dims.
    fn along(&self, e: &mut Emit<'_>, frame: &Frame, known: &Known, inner: &[usize]) -> Built<()> {
        if let Some((&dim, rest)) = inner.split_first() {
            let made = e.for_loop(&self.nest.extents[dim], &[], &mut |e, index, _| {
                let mut frame = frame.clone();
                frame.fixed[dim] = Some(index);
                self.along(e, &frame, known, rest)?;
                Ok(vec![])
            });
            return made.map(drop);
        }
        e.loc = self.stage.op.loc();
        if let Some(scatter) = &self.stage.scatter {
            return self.scattered(e, frame, known, scatter, 0);
        }
        if let Some(scan) = self.stage.scan {
            return self.scanned(e, frame, known, scan);
        }
        let numbers =
            if self.stage.reduces() { self.combined(e, frame, known)? } else { self.contribution(e, frame, known)? };
        self.walk.finish(e, frame, self.stage, numbers, &mut known.clone())
    }

    /// Writes updates at their places, in loops over those that may meet.
    fn scattered(
        &self,
        e: &mut Emit<'_>,
        frame: &Frame,
        known: &Known,
        scatter: &Scatter<'_>,
        depth: usize,
    ) -> Built<()> {
        if let Some(&dim) = self.stage.reduced.get(depth) {
            let made = e.for_loop(&self.nest.extents[dim], &[], &mut |e, index, _| {
                let mut frame = frame.clone();
                frame.fixed[dim] = Some(index);
                self.scattered(e, &frame, known, scatter, depth + 1)?;
                Ok(vec![])
            });
            return made.map(drop);
        }
        let updates = self.contribution(e, frame, known)?;
        e.loc = self.stage.op.loc();
        if let Edge::Apart(edges) = self.edge {
            let message = format!(
                "writes along {edges} dimensions of which nothing says before the run that they are long enough; constant \
                 sizes, or the same ones, would"
            );
            return Emit::unsupported(self.stage.op, &message);
        }
        let views = self.stage.results.iter().map(|write| known.view(self.stage.op, write.value));
        let views: Vec<Value> = views.collect::<Built<_>>()?;
        let places: Vec<_> = views.into_iter().zip(&self.stage.results).collect();
        let mut old = |(view, write): &(Value, &Access)| {
            let pad = zero(self.nest.cx, e.view_elem(*view));
            e.load_within(self.nest, frame, (*view, &write.index), pad, &self.edge)
        };
        let numbers = match (scatter.combiner, scatter.joins) {
            (None, None) => updates,
            (Some(combiner), _) => {
                let old = old(&places[0]);
                vec![self.joined(e, frame, combiner, old, updates[0])?]
            }
            (None, Some(joins)) => {
                let old = places.iter().map(|place| Number::Tile(old(place)));
                let args: Vec<Number> = old.collect::<Vec<_>>().into_iter().chain(updates).collect();
                e.function(frame, &self.walk.region.facts, (self.nest, self.stage), joins, &args)?
            }
        };
        e.loc = self.stage.op.loc();
        for ((view, write), number) in places.into_iter().zip(numbers) {
            e.store_within(self.nest, frame, number, (view, &write.index), &self.edge);
        }
        Ok(())
    }

    /// An update joined to what is at its place.
    fn joined(&self, e: &mut Emit<'_>, frame: &Frame, combiner: Combiner, old: Tile, update: Number) -> Built<Number> {
        let wide = accumulator_type(self.nest.cx, old.elem);
        let Some(combiner) = tile_combiner(self.nest.cx, combiner, wide) else {
            return Emit::unsupported(self.stage.op, "joins numbers in a way that tiles do not");
        };
        let update = e.realise(frame, update, old.shape, Some(old));
        let (a, b) = (e.converted(old, wide), e.converted(update, wide));
        let value = BinaryOp::value(&mut e.b, e.loc, combiner.binary(), a.value, b.value);
        Ok(Number::Tile(e.converted(Tile { value, ..a }, old.elem)))
    }

    /// What the body yields at the frame's place. What lies outside a tensor is read as a number, so that all tiles are
    /// whole; results beyond the end of theirs are not written.
    fn contribution(&self, e: &mut Emit<'_>, frame: &Frame, known: &Known) -> Built<Vec<Number>> {
        let mut args = Vec::new();
        self.walk.picks(e, frame, self.stage, &mut known.clone())?;
        for read in &self.stage.inputs {
            let view = known.view(self.stage.op, read.value)?;
            let elem = self.nest.cx.element_type(self.nest.body.ty(read.value));
            let pad = read.oob.unwrap_or_else(|| zero(self.nest.cx, elem));
            let edge = self.nest.edge(&self.walk.region.facts, read, self.col);
            if let Edge::Apart(edges) = edge {
                let message = format!("reads outside a tensor along {edges} dimensions that are not the column's");
                return Emit::unsupported(self.stage.op, &message);
            }
            args.push(Number::Tile(e.load_within(self.nest, frame, (view, &read.index), pad, &edge)));
        }
        e.scalars(frame, &self.walk.region.facts, (self.nest, self.stage), &args)
    }

    /// What is combined as it goes, written on the way.
    fn scanned(&self, e: &mut Emit<'_>, frame: &Frame, known: &Known, scan: Scan) -> Built<()> {
        let inits = self.nothing(e, frame);
        let values: Vec<Value> = inits.iter().map(|t| t.value).collect();
        let (lo, hi) = (e.constant(0), e.size(&self.nest.extents[scan.dim]));
        e.for_range((lo, hi), &values, &mut |e, trip, carried| {
            let mut frame = frame.clone();
            frame.fixed[scan.dim] = Some(if scan.reverse { e.counted_back(hi, trip) } else { trip });
            let next = self.step(e, &frame, known, &inits, carried)?;
            let made = if scan.exclusive { carried } else { &next[..] };
            let tile = |(value, init): (&Value, &Tile)| Number::Tile(Tile { value: *value, ..*init });
            let numbers = made.iter().zip(&inits).map(tile).collect();
            self.walk.finish(e, &frame, self.stage, numbers, &mut known.clone())?;
            Ok(next)
        })?;
        Ok(())
    }

    /// The results of no contributions.
    fn nothing(&self, e: &mut Emit<'_>, frame: &Frame) -> Vec<Tile> {
        let (cx, stage) = (self.nest.cx, self.stage);
        let mut inits = Vec::new();
        for (i, write) in stage.results.iter().enumerate() {
            let wide = accumulated(cx, stage, i);
            let identity = match stage.joint {
                Some(joint) => joint.state.identity[i],
                None => stage.combiners[i].identity(cx, wide),
            };
            inits.push(e.fill(frame, identity, wide, frame.shape(self.nest, &write.index)));
        }
        inits
    }

    fn combined(&self, e: &mut Emit<'_>, frame: &Frame, known: &Known) -> Built<Vec<Number>> {
        let (cx, stage) = (self.nest.cx, self.stage);
        let inits = self.nothing(e, frame);
        let values: Vec<Value> = inits.iter().map(|t| t.value).collect();
        let sums = self.loops(e, frame, known, 0, &inits, &values)?;
        let mut numbers = Vec::new();
        for (i, (value, init)) in sums.into_iter().zip(&inits).enumerate() {
            let sum = e.converted(Tile { value, ..*init }, result_elem(cx, stage, i));
            numbers.push(Number::Tile(sum));
        }
        Ok(numbers)
    }

    fn loops(
        &self,
        e: &mut Emit<'_>,
        frame: &Frame,
        known: &Known,
        depth: usize,
        forms: &[Tile],
        carried: &[Value],
    ) -> Built<Vec<Value>> {
        let Some(&dim) = self.stage.reduced.get(depth) else { return self.step(e, frame, known, forms, carried) };
        e.for_loop(&self.nest.extents[dim], carried, &mut |e, index, carried| {
            let mut frame = frame.clone();
            frame.fixed[dim] = Some(index);
            self.loops(e, &frame, known, depth + 1, forms, carried)
        })
    }

    /// Joins one contribution to what is carried.
    fn step(
        &self,
        e: &mut Emit<'_>,
        frame: &Frame,
        known: &Known,
        forms: &[Tile],
        carried: &[Value],
    ) -> Built<Vec<Value>> {
        let numbers = self.contribution(e, frame, known)?;
        e.loc = self.stage.op.loc();
        if let Some(joint) = self.stage.joint {
            return self.join(e, frame, joint, forms, carried, &numbers);
        }
        let mut next = Vec::new();
        for (i, (number, form)) in numbers.into_iter().zip(forms).enumerate() {
            let Some(combiner) = tile_combiner(self.nest.cx, self.stage.combiners[i], form.elem) else {
                return Emit::unsupported(self.stage.op, "combines numbers in a way that tiles do not");
            };
            let like = Tile { value: carried[i], window: Covers::All, ..*form };
            let tile = e.realise(frame, number, form.shape, Some(like));
            let tile = e.converted(tile, form.elem);
            next.push(BinaryOp::value(&mut e.b, e.loc, combiner.binary(), carried[i], tile.value));
        }
        Ok(next)
    }

    /// Joins one contribution to the state that is carried, by the region that joins two states.
    fn join(
        &self,
        e: &mut Emit<'_>,
        frame: &Frame,
        joint: Joint<'_>,
        forms: &[Tile],
        carried: &[Value],
        contribution: &[Number],
    ) -> Built<Vec<Value>> {
        let state: Vec<Tile> = carried
            .iter()
            .zip(forms)
            .map(|(value, form)| Tile { value: *value, window: Covers::All, ..*form })
            .collect();
        let mut args: Vec<Number> = state.iter().copied().map(Number::Tile).collect();
        args.extend_from_slice(contribution);
        let facts = &self.walk.region.facts;
        let joined = e.function(frame, facts, (self.nest, self.stage), joint.body, &args)?;
        Ok(joined.into_iter().zip(state).map(|(n, like)| e.realise(frame, n, like.shape, Some(like)).value).collect())
    }
}

//! A region in normal form: stages, each a scalar function over some of the dims of one iteration space.
//!
//! Every iterator of every op is a variable at first. An op that reads what another op of the region makes runs through
//! it as it is made, so the variables of the two become one; what is left are the dims of the region. What is read at
//! other places than it is made at is made once more there, see [`super::compose`].

use std::collections::{BTreeSet, HashMap};
use std::hash::{Hash, Hasher};

use indexmap::IndexMap;
use rustc_hash::FxHasher;
use sutura_dialects::r#dyn::Facts;
use sutura_dialects::r#dyn::attr::symbolic_shape;
use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::graph::form::{Scan, Scatter, Symbols};
use sutura_dialects::graph::{Combiner, IndexOp, IteratorKind, Joint, maps};
use sutura_dialects::schedule::{Dim, Rewrite};
use sutura_ir::affine::{AffineExpr, AffineExprData, AffineMap, AffineOp};
use sutura_ir::work::Counter;
use sutura_ir::{Attr, BlockRef, Body, Context, OpRef, Value};

use super::compose::{Composer, Moved, Unit};
use super::cost::value_text;
use super::{Fit, misfit};

static PAIRS: Counter = Counter::new("regions: pairs of dims looked at");

/// A read or a write of a tensor.
#[derive(Clone, Debug)]
pub struct Access {
    /// The tensor.
    pub value: Value,
    /// One expression in the region's dims per dimension of the tensor.
    pub index: Vec<AffineExpr>,
    /// What is read outside the tensor; absent when all that is read is known to lie inside.
    pub oob: Option<Attr>,
    /// Which of the region's values is read or made; absent for one that is read from memory.
    pub slot: Option<usize>,
    /// Expressions that must lie in `[0, size)` for a value of the region to be what is read; else it is `oob`.
    pub guard: Vec<(AffineExpr, Poly)>,
}

/// An op of the region over the region's dims.
#[derive(Clone)]
pub struct Stage<'a> {
    /// The op.
    pub op: OpRef<'a>,
    /// The dims that the op runs through; none twice.
    pub dims: Vec<usize>,
    /// The value of each iterator of the op, in the region's dims; `None` for one that has become part of a dim.
    pub iterators: Vec<Option<AffineExpr>>,
    /// The op is computed at these places for one reader, beside or instead of where it stands.
    pub copy: bool,
    /// The dims along which results are combined.
    pub reduced: Vec<usize>,
    /// What is read, one access per argument of the body.
    pub inputs: Vec<Access>,
    /// What is made.
    pub results: Vec<Access>,
    /// One per result where dims are reduced, or one scanned, and nothing joins all results at once.
    pub combiners: Vec<Combiner>,
    /// What joins the contributions to all results at once, of reduced dims or of one scanned.
    pub joint: Option<Joint<'a>>,
    /// The dim along which what is read is combined as it goes; it is none of those that are reduced.
    pub scan: Option<Scan>,
    /// Results are written at indices that are read, over what is there; the dims that are reduced are gone through in order.
    pub scatter: Option<Scatter<'a>>,
    /// The scalar function; absent where results are what is read.
    pub body: Option<BlockRef<'a>>,
    /// The indices that accesses mention as symbols; one by which another one is picked comes before it.
    pub picks: Vec<Pick>,
}

/// An index that is read from a tensor. A negative one counts from the end; one that is none is reported.
#[derive(Clone, Debug)]
pub struct Pick {
    /// The symbol that stands for it.
    pub symbol: usize,
    /// Where it is read.
    pub access: Access,
    /// How many indices there are.
    pub size: Poly,
    /// What messages call the op that reads by index.
    pub what: String,
}

impl Stage<'_> {
    /// True when results are combined along a dim.
    pub fn reduces(&self) -> bool {
        !self.reduced.is_empty()
    }

    /// True when results along a dim are made of more than one element of it.
    pub fn combines_along(&self, dim: usize) -> bool {
        self.reduced.contains(&dim) || self.scan.is_some_and(|scan| scan.dim == dim)
    }

    /// Dims that index the results.
    pub fn parallel(&self) -> impl Iterator<Item = usize> + '_ {
        self.dims.iter().copied().filter(|d| !self.reduced.contains(d))
    }

    /// What is read: tensors, and indices.
    pub fn reads(&self) -> impl Iterator<Item = &Access> {
        self.inputs.iter().chain(self.picks.iter().map(|pick| &pick.access))
    }

    /// Expressions in the region's dims whose value the stage computes with.
    fn indices(&self) -> impl Iterator<Item = AffineExpr> + '_ {
        let index = |op: OpRef<'_>| Some(op.as_::<IndexOp<'_>>()?.iterator() as usize);
        let computed =
            self.body.into_iter().flat_map(|body| body.ops()).filter_map(index).filter_map(|i| self.iterators[i]);
        computed.chain(self.inputs.iter().flat_map(|a| a.guard.iter().map(|(expr, _)| *expr)))
    }
}

/// A region in normal form.
#[derive(Clone)]
pub struct Nest<'a> {
    /// Context.
    pub cx: &'a Context,
    /// Where the ops are.
    pub body: &'a Body,
    /// Extents of the dims.
    pub extents: Vec<Poly>,
    /// The ops, producers first.
    pub stages: Vec<Stage<'a>>,
    /// Stage and result that make a value of the region.
    pub made: HashMap<Value, (usize, usize)>,
    /// Values that are used outside.
    pub outputs: Vec<Value>,
    /// Sizes of every tensor that is read from or written to memory, as the accesses index it.
    pub shapes: IndexMap<Value, Vec<Poly>>,
    /// What accesses mention as symbols.
    pub symbols: Symbols,
    /// How the form has become another one since it was made.
    pub rewrites: Vec<Rewrite>,
}

/// Sizes of a tensor.
pub fn sizes(cx: &Context, body: &Body, facts: &Facts, value: Value) -> Fit<Vec<Poly>> {
    let shape = symbolic_shape(cx, body.ty(value)).unwrap_or_default();
    let known: Option<Vec<Poly>> = shape.iter().map(|d| Some(facts.canonical(d.as_ref()?))).collect();
    known.ok_or_else(|| super::Misfit(format!("a size of {} is not known", value_text(cx, body, value))))
}

/// The expression with dimension `i` replaced by `to(i)`.
pub fn substitute(cx: &Context, expr: AffineExpr, to: &dyn Fn(usize) -> AffineExpr) -> AffineExpr {
    match cx.affine_data(expr) {
        AffineExprData::Dim(i) => to(i as usize),
        AffineExprData::Const(_) | AffineExprData::Symbol(_) => expr,
        AffineExprData::Binary(op, a, b) => cx.affine_binary(op, substitute(cx, a, to), substitute(cx, b, to)),
    }
}

impl<'a> Nest<'a> {
    /// The normal form of `ops`, which stand in order, with the values that are used outside.
    ///
    /// # Errors
    /// When an op has no structured form, or reads a value of the region otherwise than it is made.
    pub fn of(facts: &Facts, ops: &[OpRef<'a>], outputs: &[Value]) -> Fit<Self> {
        Self::composed(facts, ops, outputs, Moved::Refused)
    }

    /// The same of a chain, in which combined numbers are read elsewhere than they are made: such a read is one of memory, and
    /// [`Nest::moved_maker`] makes what is read.
    ///
    /// # Errors
    /// When an op has no structured form.
    pub fn of_chain(facts: &Facts, ops: &[OpRef<'a>], outputs: &[Value]) -> Fit<Self> {
        Self::composed(facts, ops, outputs, Moved::Kept)
    }

    /// The form of [`Nest::of`], or else of [`Nest::of_chain`].
    ///
    /// # Errors
    /// Those of [`Nest::of`] where there is neither.
    pub fn of_any(facts: &Facts, ops: &[OpRef<'a>], outputs: &[Value]) -> Fit<Self> {
        Self::of(facts, ops, outputs).or_else(|misfit| Self::of_chain(facts, ops, outputs).map_err(|_| misfit))
    }

    fn composed(facts: &Facts, ops: &[OpRef<'a>], outputs: &[Value], moved: Moved) -> Fit<Self> {
        let (cx, body) = (ops[0].cx, ops[0].body);
        let mut composer = Composer::of(facts, ops, moved)?;
        let mut nest = Self {
            cx,
            body,
            extents: Vec::new(),
            stages: Vec::new(),
            made: HashMap::new(),
            outputs: outputs.to_vec(),
            shapes: IndexMap::new(),
            symbols: composer.symbols.clone(),
            rewrites: Vec::new(),
        };
        let mut numbers = HashMap::new();
        let needed = composer.needed(outputs);
        for unit in needed {
            nest.add_stage(facts, &unit, |i| composer.class(unit.first + i), &mut numbers)?;
        }
        nest.leave_out_single_places();
        nest.split_groups();
        Ok(nest)
    }

    /// Removes dims of extent 1 from sums of dims: `d2 + d5` is `d2` where `d5` is always 0. A window of one place is none then.
    fn leave_out_single_places(&mut self) {
        let cx = self.cx;
        let single: Vec<bool> = (0..self.extents.len()).map(|dim| self.is_unit(dim)).collect();
        let to = |dim: usize| if single[dim] { cx.affine_const(0) } else { cx.affine_dim(dim as u32) };
        let reads = self.stages.iter_mut().flat_map(|stage| &mut stage.inputs).filter(|read| read.slot.is_none());
        for expr in reads.flat_map(|read| &mut read.index) {
            if matches!(cx.affine_data(*expr), AffineExprData::Binary(..)) {
                *expr = substitute(cx, *expr, &to);
            }
        }
    }

    fn add_stage(
        &mut self,
        facts: &Facts,
        unit: &Unit<'a>,
        mut class: impl FnMut(usize) -> usize,
        numbers: &mut HashMap<usize, usize>,
    ) -> Fit<()> {
        let (cx, body, form) = (self.cx, self.body, &unit.form);
        let mut dims = Vec::new();
        for (i, extent) in unit.extents.iter().enumerate() {
            let next = self.extents.len();
            let dim = *numbers.entry(class(i)).or_insert(next);
            if dim == next {
                self.extents.push(extent.clone());
            } else if !facts.prove_equal(&self.extents[dim], extent) {
                return misfit(format!("{} and {extent} are not known to be equal", self.extents[dim]));
            }
            if dims.contains(&dim) {
                return misfit("a value is read at two places at once");
            }
            dims.push(dim);
        }
        let to = |i: usize| cx.affine_dim(dims[i] as u32);
        let local = |e: &AffineExpr| substitute(cx, *e, &to);
        let index = |map: AffineMap| cx.map_results(map).iter().map(local).collect::<Vec<_>>();
        let inputs: Vec<Access> = form
            .inputs
            .iter()
            .copied()
            .zip(&form.input_maps)
            .zip(&unit.reads)
            .map(|((value, map), read)| Access {
                value,
                index: index(*map),
                oob: read.oob,
                slot: read.slot,
                guard: read.guard.iter().map(|(expr, size)| (local(expr), size.clone())).collect(),
            })
            .collect();
        let write = |((value, map), slot): ((Value, &AffineMap), usize)| Access {
            value,
            index: index(*map),
            oob: None,
            slot: Some(slot),
            guard: vec![],
        };
        let results: Vec<Access> = form.results().zip(&form.result_maps).zip(unit.slot..).map(write).collect();
        let picks: Vec<Pick> = form
            .picks
            .iter()
            .map(|pick| {
                let index = pick.index.iter().map(local).collect();
                let access = Access { value: pick.indices, index, oob: None, slot: None, guard: vec![] };
                Pick { symbol: pick.symbol, access, size: pick.size.clone(), what: pick.what.clone() }
            })
            .collect();
        let picked = picks.iter().map(|pick| &pick.access);
        let written = results.iter().filter(|a| !unit.copy && self.outputs.contains(&a.value));
        for access in inputs.iter().filter(|a| a.slot.is_none()).chain(picked).chain(written) {
            self.shapes.insert(access.value, sizes(cx, body, facts, access.value)?);
        }
        if !unit.copy {
            let stage = self.stages.len();
            self.made.extend(form.results().enumerate().map(|(r, value)| (value, (stage, r))));
        }
        let reduced = form.of_kind(IteratorKind::Reduce).map(|i| dims[i]).collect();
        let combiners = form.combiners.clone();
        let scan = form.scan.map(|scan| Scan { dim: dims[scan.dim], ..scan });
        let iterators = unit.values.iter().map(|e| Some(local(e))).collect();
        let (op, copy, body, joint, scatter) = (form.op, unit.copy, form.body, form.joint, form.scatter.clone());
        self.stages.push(Stage {
            op,
            dims,
            iterators,
            copy,
            reduced,
            inputs,
            results,
            combiners,
            joint,
            scan,
            scatter,
            body,
            picks,
        });
        Ok(())
    }

    /// The stage that makes what an access reads; `None` for one of memory.
    pub fn maker(&self, access: &Access) -> Option<usize> {
        let makes = |s: &Stage<'_>| access.slot.is_some() && s.results.iter().any(|r| r.slot == access.slot);
        self.stages.iter().position(makes)
    }

    /// The stage and the result that make what an access reads elsewhere than it is made.
    pub fn moved_maker(&self, access: &Access) -> Option<(usize, usize)> {
        self.made.get(&access.value).copied().filter(|_| access.slot.is_none())
    }

    /// Some of the stages, in order, as a form of their own with the same dims: what others make is read from memory.
    pub fn part(&self, stages: &[usize], outputs: &[Value]) -> Self {
        let own = |(value, (stage, result)): (&Value, &(usize, usize))| {
            Some((*value, (stages.iter().position(|s| s == stage)?, *result)))
        };
        Self {
            stages: stages.iter().map(|s| self.stages[*s].clone()).collect(),
            made: self.made.iter().filter_map(own).collect(),
            outputs: outputs.to_vec(),
            ..self.clone()
        }
    }

    /// A stage and those that it is computed from, in order; nothing for no stage.
    pub fn needed(&self, stage: Option<usize>) -> Vec<usize> {
        let (mut found, mut open) = (BTreeSet::from_iter(stage), Vec::from_iter(stage));
        while let Some(at) = open.pop() {
            let makers = self.stages[at].inputs.iter().filter_map(|a| self.maker(a));
            open.extend(makers.filter(|maker| found.insert(*maker)));
        }
        found.into_iter().collect()
    }

    /// Everything that is computed from indices is linear along the dims of tiles.
    ///
    /// # Errors
    /// Names the expression that is not.
    pub fn check_indices(&self, dims: &[usize]) -> Fit<()> {
        self.check_indices_of(self.stages.iter(), dims)
    }

    /// Everything that `stages` compute from indices is linear along the dims of tiles.
    ///
    /// # Errors
    /// Names the expression that is not.
    pub fn check_indices_of<'s>(&self, stages: impl Iterator<Item = &'s Stage<'a>>, dims: &[usize]) -> Fit<()>
    where
        'a: 's,
    {
        for expr in stages.flat_map(Stage::indices) {
            let along = dims.iter().any(|d| self.mentions_expr(expr, *d));
            if along && maps::linear(self.cx, expr, self.extents.len()).is_none() {
                return misfit("computes with an index that does not go in equal steps along the columns");
            }
        }
        Ok(())
    }

    /// Dimensions along which a read may leave its tensor, but for that along which the columns move.
    pub fn edges(&self, facts: &Facts, read: &Access, col: Option<usize>) -> Vec<usize> {
        if read.oob.is_none() || read.slot.is_some() {
            return Vec::new();
        }
        let sizes = &self.shapes[&read.value];
        let along = |e: AffineExpr| col.is_some_and(|col| self.mentions_expr(e, col));
        let leaves = |(dim, expr): &(usize, &AffineExpr)| {
            !along(**expr) && !self.symbols.inside(self.cx, facts, **expr, &self.extents, &sizes[*dim])
        };
        read.index.iter().enumerate().filter(leaves).map(|(dim, _)| dim).collect()
    }

    /// Sizes that a stage's reads mention: where they are, and where they end.
    pub fn sizes_in_reads(&self, stage: &Stage<'_>) -> Vec<Poly> {
        let mut sizes: Vec<Poly> = stage.picks.iter().map(|pick| pick.size.clone()).collect();
        let values = stage.iterators.iter().copied().flatten();
        for expr in values.chain(stage.reads().flat_map(|read| read.index.iter().copied())) {
            sizes.extend(self.symbols.sizes_in(self.cx, expr));
        }
        for (expr, size) in stage.inputs.iter().flat_map(|read| &read.guard) {
            sizes.extend(self.symbols.sizes_in(self.cx, *expr).into_iter().chain([size.clone()]));
        }
        sizes
    }

    /// Sizes that a kernel of all stages needs to know where things are.
    pub fn sizes_of_all(&self) -> Vec<Poly> {
        let all = self.shapes.values().chain([&self.extents]).flatten().cloned();
        all.chain(self.stages.iter().flat_map(|stage| self.sizes_in_reads(stage))).collect()
    }

    /// True when something is read at an index that is read.
    pub fn picks_any(&self) -> bool {
        self.stages.iter().any(|s| !s.picks.is_empty())
    }

    /// The dim along which a stage combines as it goes, where that is longer than 1: along a single element it copies.
    pub fn scanned(&self, stage: &Stage<'_>) -> Option<usize> {
        stage.scan.map(|scan| scan.dim).filter(|dim| !self.is_unit(*dim))
    }

    /// Nothing is combined as it goes.
    ///
    /// # Errors
    /// Names what is.
    pub fn check_no_scan(&self) -> Fit<()> {
        match self.stages.iter().find(|s| s.scan.is_some()) {
            Some(stage) => {
                let name = value_text(self.cx, self.body, stage.results[0].value);
                misfit(format!("{name} is a running combination, which is made in rows"))
            }
            None => Ok(()),
        }
    }

    /// Every result is joined by itself, by a combiner that tiles have, and written where it belongs.
    ///
    /// # Errors
    /// Names what is not.
    pub fn check_no_joint(&self) -> Fit<()> {
        if self.stages.iter().any(|s| s.scatter.is_some()) {
            return misfit("writes at indices that are data, which only a loop of its own does");
        }
        match self.stages.iter().find(|s| s.joint.is_some()) {
            Some(_) => misfit("combines by a region, which only a loop of its own does"),
            None => Ok(()),
        }
    }

    /// Value of a dim as expression.
    pub fn dim(&self, dim: usize) -> AffineExpr {
        self.cx.affine_dim(dim as u32)
    }

    /// The dim that an expression is.
    pub fn plain(&self, expr: AffineExpr) -> Option<usize> {
        maps::plain_dim(self.cx, expr)
    }

    /// True when an access depends on the dim.
    pub fn mentions(&self, access: &Access, dim: usize) -> bool {
        access.index.iter().any(|e| maps::mentions(self.cx, *e, dim))
    }

    /// True when an expression depends on the dim.
    pub fn mentions_expr(&self, expr: AffineExpr, dim: usize) -> bool {
        maps::mentions(self.cx, expr, dim)
    }

    /// The dims that move an index, each with its step, while those that are `fixed` do not; `None` where the steps are unequal.
    pub fn steps(&self, expr: AffineExpr, fixed: &dyn Fn(usize) -> bool) -> Option<Vec<(usize, i64)>> {
        let moves = |e: AffineExpr| (0..self.extents.len()).any(|dim| !fixed(dim) && self.mentions_expr(e, dim));
        let (mut open, mut steps) = (vec![expr], vec![0; self.extents.len()]);
        while let Some(term) = open.pop() {
            match self.cx.affine_data(term) {
                _ if !moves(term) => {}
                AffineExprData::Binary(AffineOp::Add, a, b) => open.extend([a, b]),
                _ => {
                    let linear = maps::linear(self.cx, term, self.extents.len()).filter(|l| l.symbols.is_empty())?;
                    for (step, factor) in steps.iter_mut().zip(linear.factors) {
                        *step = factor.checked_add(*step)?;
                    }
                }
            }
        }
        let moving = steps.into_iter().enumerate().filter(|(dim, step)| *step != 0 && !fixed(*dim));
        Some(moving.collect())
    }

    /// True for an extent that is 1.
    pub fn is_unit(&self, dim: usize) -> bool {
        self.extents[dim].as_const() == Some(1)
    }

    /// Reads of tensors that the region does not make, with their stages.
    pub fn external_reads(&self) -> impl Iterator<Item = (usize, &Access)> {
        let all = self.stages.iter().enumerate().flat_map(|(i, s)| s.reads().map(move |a| (i, a)));
        all.filter(|(_, a)| a.slot.is_none())
    }

    /// Writes of values that are used outside, with their stages.
    pub fn output_writes(&self) -> impl Iterator<Item = (usize, &Access)> {
        let made = self.stages.iter().enumerate().filter(|(_, s)| !s.copy);
        let all = made.flat_map(|(i, s)| s.results.iter().map(move |a| (i, a)));
        all.filter(|(_, a)| self.outputs.contains(&a.value))
    }

    /// Tensors that are read from memory, in order of their first use.
    pub fn inputs(&self) -> Vec<Value> {
        let mut inputs: Vec<Value> = Vec::new();
        for (_, access) in self.external_reads() {
            if !inputs.contains(&access.value) {
                inputs.push(access.value);
            }
        }
        inputs
    }

    /// True when some stage runs through both dims.
    pub fn meet(&self, a: usize, b: usize) -> bool {
        self.stages.iter().any(|s| s.dims.contains(&a) && s.dims.contains(&b))
    }

    /// Makes the form another one of the same, as a schedule says.
    ///
    /// # Errors
    /// When that would change what is computed, or when there is no such dim or stage.
    pub fn rewrite(&mut self, facts: &Facts, rewrite: &Rewrite) -> Fit<()> {
        match rewrite {
            Rewrite::Join(first, second) => self.join(facts, *first, *second),
            Rewrite::Fuse(outer, inner) => self.fuse(facts, *outer, *inner),
            Rewrite::Hoist(scale, sum) => self.hoist(facts, scale, sum),
        }
    }

    fn join(&mut self, facts: &Facts, first: Dim, second: Dim) -> Fit<()> {
        let what = format!("'join {first} {second}'");
        self.check_dims(&what, [first, second])?;
        let (a, b) = (&self.extents[first.0], &self.extents[second.0]);
        if self.meet(first.0, second.0) {
            return misfit(format!("{what} would make dims one that a stage runs through both"));
        }
        if !facts.prove_equal(a, b) {
            return misfit(format!("{what} would make dims one that are not known to be equally long: {a} and {b}"));
        }
        self.merge(first.0, second.0);
        Ok(())
    }

    fn fuse(&mut self, facts: &Facts, outer: Dim, inner: Dim) -> Fit<()> {
        let what = format!("'fuse {outer} {inner}'");
        self.check_dims(&what, [outer, inner])?;
        if !self.side_by_side(facts, outer.0, inner.0) {
            return misfit(format!(
                "{what} would make dims one that do not lie side by side in all memory and in all stages"
            ));
        }
        self.collapse_pair(outer.0, inner.0);
        Ok(())
    }

    fn check_dims(&self, what: &str, dims: [Dim; 2]) -> Fit<()> {
        match dims.into_iter().find(|dim| dim.0 >= self.extents.len()) {
            Some(dim) => misfit(format!("{what} names {dim}, and there are {} dims", self.extents.len())),
            None => Ok(()),
        }
    }

    /// Makes two dims that no stage runs through both, and whose extents are equal, one.
    pub fn merge(&mut self, keep: usize, gone: usize) {
        self.rewrites.push(Rewrite::Join(Dim(keep), Dim(gone)));
        self.extents.remove(gone);
        let number = |d: usize| {
            let d = if d == gone { keep } else { d };
            d - usize::from(d > gone)
        };
        self.renumber(&number);
    }

    pub(super) fn renumber(&mut self, number: &dyn Fn(usize) -> usize) {
        let cx = self.cx;
        let to = |d: usize| cx.affine_dim(number(d) as u32);
        for stage in &mut self.stages {
            let scanned = stage.scan.iter_mut().map(|scan| &mut scan.dim);
            stage.dims.iter_mut().chain(&mut stage.reduced).chain(scanned).for_each(|d| *d = number(*d));
            let iterators = stage.iterators.iter_mut().flatten();
            let picked = stage.picks.iter_mut().map(|pick| &mut pick.access);
            let accesses = stage.inputs.iter_mut().chain(&mut stage.results).chain(picked);
            let read = accesses.flat_map(|a| a.index.iter_mut().chain(a.guard.iter_mut().map(|(expr, _)| expr)));
            iterators.chain(read).for_each(|e| *e = substitute(cx, *e, &to));
        }
    }

    /// Makes pairs of dims that lie side by side in all of memory one dim, as long as `allowed` says so. Returns the
    /// number of pairs.
    pub fn collapse(&mut self, facts: &Facts, allowed: &dyn Fn(&Self, usize, usize) -> bool) -> usize {
        let mut count = 0;
        'again: loop {
            let stages = self.stages_of_dims();
            for outer in 0..self.extents.len() {
                for inner in 0..self.extents.len() {
                    if outer == inner || stages[outer] != stages[inner] {
                        continue;
                    }
                    PAIRS.add(1);
                    if allowed(self, outer, inner) && self.side_by_side(facts, outer, inner) {
                        self.collapse_pair(outer, inner);
                        count += 1;
                        continue 'again;
                    }
                }
            }
            return count;
        }
    }

    /// For each dim a hash of the stages that it is a dim of, and of those that combine along it: dims that can be one have
    /// the same. There may be as many dims as stages, and to look at each stage for each pair is a cube.
    fn stages_of_dims(&self) -> Vec<u64> {
        let mut hashers = vec![FxHasher::default(); self.extents.len()];
        for (i, stage) in self.stages.iter().enumerate() {
            for dim in &stage.dims {
                (i, stage.reduced.contains(dim)).hash(&mut hashers[*dim]);
            }
        }
        hashers.iter().map(Hasher::finish).collect()
    }

    /// Positions of the pair in an access; `Some(None)` when it mentions neither.
    fn pair_at(&self, facts: &Facts, access: &Access, outer: usize, inner: usize) -> Option<Option<(usize, usize)>> {
        if !self.mentions(access, outer) && !self.mentions(access, inner) {
            return Some(None);
        }
        let at = |dim| access.index.iter().position(|e| self.plain(*e) == Some(dim));
        let count = |dim| access.index.iter().filter(|e| maps::mentions(self.cx, **e, dim)).count();
        let (i, j) = (at(outer)?, at(inner)?);
        let sizes = &self.shapes[&access.value];
        let between = i < j && (i + 1..j).all(|d| sizes[d].as_const() == Some(1));
        let whole = facts.prove_equal(&sizes[j], &self.extents[inner]);
        (between && whole && count(outer) == 1 && count(inner) == 1 && access.oob.is_none()).then_some(Some((i, j)))
    }

    fn side_by_side(&self, facts: &Facts, outer: usize, inner: usize) -> bool {
        let together = |s: &Stage<'_>| {
            let parallel = |d| !s.reduced.contains(&d);
            if s.scan.is_some_and(|scan| [outer, inner].contains(&scan.dim)) {
                return false;
            }
            s.dims.contains(&outer) == s.dims.contains(&inner) && parallel(outer) == parallel(inner)
        };
        let apart = |e| !self.mentions_expr(e, outer) && !self.mentions_expr(e, inner);
        let free = |s: &Stage<'_>| s.indices().all(apart);
        if !self.stages.iter().all(|s| together(s) && free(s)) {
            return false;
        }
        let mut at: HashMap<Value, Option<(usize, usize)>> = HashMap::new();
        self.external_reads().chain(self.output_writes()).all(|(_, access)| {
            let Some(pair) = self.pair_at(facts, access, outer, inner) else { return false };
            *at.entry(access.value).or_insert(pair) == pair
        })
    }

    fn collapse_pair(&mut self, outer: usize, inner: usize) {
        self.rewrites.push(Rewrite::Fuse(Dim(outer), Dim(inner)));
        let mut at = IndexMap::new();
        for (_, access) in self.external_reads().chain(self.output_writes()) {
            let place = |dim| access.index.iter().position(|e| self.plain(*e) == Some(dim));
            if let (Some(i), Some(j)) = (place(outer), place(inner)) {
                at.insert(access.value, (i, j));
            }
        }
        for (value, (i, j)) in &at {
            let sizes = &mut self.shapes[value];
            sizes[*j] = sizes[*i].mul(&sizes[*j]);
            sizes.remove(*i);
        }
        let cx = self.cx;
        let plain = |e: &AffineExpr, dim| maps::plain_dim(cx, *e) == Some(dim);
        for stage in &mut self.stages {
            stage.dims.retain(|d| *d != outer);
            stage.reduced.retain(|d| *d != outer);
            let gone = |e: &Option<AffineExpr>| {
                e.is_some_and(|e| maps::mentions(cx, e, outer) || maps::mentions(cx, e, inner))
            };
            stage.iterators.iter_mut().filter(|d| gone(d)).for_each(|d| *d = None);
            let picked = stage.picks.iter_mut().map(|pick| &mut pick.access);
            for access in stage.inputs.iter_mut().chain(&mut stage.results).chain(picked) {
                access.index.retain(|e| !plain(e, outer));
            }
        }
        self.extents[inner] = self.extents[outer].mul(&self.extents[inner]);
        self.extents.remove(outer);
        self.renumber(&|d| d - usize::from(d > outer));
    }
}

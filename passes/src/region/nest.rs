//! A region in normal form: stages, each a scalar function over some of the dims of one iteration space.
//!
//! Every iterator of every op is a variable at first. An op that reads what another op of the region makes runs through
//! it as it is made, so the variables of the two become one; what is left are the dims of the region.

use std::collections::HashMap;

use indexmap::IndexMap;
use sutura_dialects::r#dyn::Facts;
use sutura_dialects::r#dyn::attr::symbolic_shape;
use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::graph::{Combiner, ComputeForm, IndexOp, IteratorKind, maps};
use sutura_ir::affine::{AffineExpr, AffineExprData, AffineMap};
use sutura_ir::{Attr, BlockRef, Body, Context, OpRef, Value};

use super::cost::value_text;
use super::{Fit, misfit};

/// A read or a write of a tensor.
#[derive(Clone, Debug)]
pub struct Access {
    /// The tensor.
    pub value: Value,
    /// One expression in the region's dims per dimension of the tensor.
    pub index: Vec<AffineExpr>,
    /// What is read outside the tensor.
    pub oob: Option<Attr>,
}

/// An op of the region over the region's dims.
#[derive(Clone)]
pub struct Stage<'a> {
    /// The op.
    pub op: OpRef<'a>,
    /// The dims that the op runs through; none twice.
    pub dims: Vec<usize>,
    /// The dim that each iterator is; `None` for one that has become part of a dim.
    pub iterators: Vec<Option<usize>>,
    /// The dims along which results are combined.
    pub reduced: Vec<usize>,
    /// What is read, one access per argument of the body.
    pub inputs: Vec<Access>,
    /// What is made.
    pub results: Vec<Access>,
    /// One per result where dims are reduced.
    pub combiners: Vec<Combiner>,
    /// The scalar function.
    pub body: BlockRef<'a>,
}

impl Stage<'_> {
    /// True when results are combined along a dim.
    pub fn reduces(&self) -> bool {
        !self.reduced.is_empty()
    }

    /// Dims that index the results.
    pub fn parallel(&self) -> impl Iterator<Item = usize> + '_ {
        self.dims.iter().copied().filter(|d| !self.reduced.contains(d))
    }

    /// Dims whose index the body computes with.
    fn indices(&self) -> impl Iterator<Item = usize> + '_ {
        let index = |op: OpRef<'_>| Some(op.as_::<IndexOp<'_>>()?.iterator() as usize);
        self.body.ops().filter_map(index).filter_map(|i| self.iterators[i])
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
}

/// Disjoint sets of variables.
struct Sets(Vec<usize>);

impl Sets {
    fn find(&mut self, mut x: usize) -> usize {
        while self.0[x] != x {
            self.0[x] = self.0[self.0[x]];
            x = self.0[x];
        }
        x
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        self.0[a.max(b)] = a.min(b);
    }
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
        let (cx, body) = (ops[0].cx, ops[0].body);
        let mut forms = Vec::with_capacity(ops.len());
        for op in ops {
            match ComputeForm::of(*op) {
                Some(form) => forms.push(form),
                None => return misfit(format!("'{}' has no structured form", op.name_str())),
            }
        }
        let mut made = HashMap::new();
        for (i, form) in forms.iter().enumerate() {
            made.extend(form.results().enumerate().map(|(r, value)| (value, (i, r))));
        }
        let first: Vec<usize> =
            forms.iter().scan(0, |sum, form| Some(std::mem::replace(sum, *sum + form.iterators.len()))).collect();
        let total = forms.iter().map(|f| f.iterators.len()).sum();
        let mut sets = Sets((0..total).collect());
        for (i, form) in forms.iter().enumerate() {
            for (input, value) in form.inputs().enumerate() {
                if let Some(&(p, r)) = made.get(&value) {
                    link(facts, (form, first[i], input), (&forms[p], first[p], r), &mut sets)?;
                }
            }
        }
        let mut nest = Self {
            cx,
            body,
            extents: Vec::new(),
            stages: Vec::new(),
            made,
            outputs: outputs.to_vec(),
            shapes: IndexMap::new(),
        };
        let mut numbers = HashMap::new();
        for (form, first) in forms.iter().zip(first) {
            nest.add_stage(facts, form, |i| sets.find(first + i), &mut numbers)?;
        }
        Ok(nest)
    }

    fn add_stage(
        &mut self,
        facts: &Facts,
        form: &ComputeForm<'a>,
        mut class: impl FnMut(usize) -> usize,
        numbers: &mut HashMap<usize, usize>,
    ) -> Fit<()> {
        let (cx, body) = (self.cx, self.body);
        let mut dims = Vec::new();
        for (i, extent) in form.extents().into_iter().enumerate() {
            let Some(extent) = extent.map(|e| facts.canonical(&e)) else {
                return misfit(format!("the extent of iterator d{i} of '{}' is not known", form.op.name_str()));
            };
            let next = self.extents.len();
            let dim = *numbers.entry(class(i)).or_insert(next);
            if dim == next {
                self.extents.push(extent);
            } else if !facts.prove_equal(&self.extents[dim], &extent) {
                return misfit(format!("{} and {extent} are not known to be equal", self.extents[dim]));
            }
            if dims.contains(&dim) {
                return misfit("a value is read at two places at once");
            }
            dims.push(dim);
        }
        let to = |i: usize| cx.affine_dim(dims[i] as u32);
        let index = |map: AffineMap| cx.map_results(map).iter().map(|e| substitute(cx, *e, &to)).collect::<Vec<_>>();
        let read =
            |((value, map), oob): ((Value, &AffineMap), &Option<Attr>)| Access { value, index: index(*map), oob: *oob };
        let inputs: Vec<Access> = form.inputs().zip(&form.input_maps).zip(&form.oob).map(read).collect();
        let write = |(value, map): (Value, &AffineMap)| Access { value, index: index(*map), oob: None };
        let results: Vec<Access> = form.results().zip(&form.result_maps).map(write).collect();
        let external = inputs.iter().filter(|a| !self.made.contains_key(&a.value));
        for access in external.chain(results.iter().filter(|a| self.outputs.contains(&a.value))) {
            self.shapes.insert(access.value, sizes(cx, body, facts, access.value)?);
        }
        let reduced = form.of_kind(IteratorKind::Reduce).map(|i| dims[i]).collect();
        let combiners = form.combiners.clone();
        let iterators = dims.iter().copied().map(Some).collect();
        self.stages.push(Stage { op: form.op, dims, iterators, reduced, inputs, results, combiners, body: form.body });
        Ok(())
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

    /// True for an extent that is 1.
    pub fn is_unit(&self, dim: usize) -> bool {
        self.extents[dim].as_const() == Some(1)
    }

    /// Reads of tensors that the region does not make, with their stages.
    pub fn external_reads(&self) -> impl Iterator<Item = (usize, &Access)> {
        let all = self.stages.iter().enumerate().flat_map(|(i, s)| s.inputs.iter().map(move |a| (i, a)));
        all.filter(|(_, a)| !self.made.contains_key(&a.value))
    }

    /// Writes of values that are used outside, with their stages.
    pub fn output_writes(&self) -> impl Iterator<Item = (usize, &Access)> {
        let all = self.stages.iter().enumerate().flat_map(|(i, s)| s.results.iter().map(move |a| (i, a)));
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

    /// Makes two dims that no stage runs through both, and whose extents are equal, one.
    pub fn merge(&mut self, keep: usize, gone: usize) {
        self.extents.remove(gone);
        let number = |d: usize| {
            let d = if d == gone { keep } else { d };
            d - usize::from(d > gone)
        };
        self.renumber(&number);
    }

    fn renumber(&mut self, number: &dyn Fn(usize) -> usize) {
        let cx = self.cx;
        let to = |d: usize| cx.affine_dim(number(d) as u32);
        for stage in &mut self.stages {
            let iterators = stage.iterators.iter_mut().flatten();
            stage.dims.iter_mut().chain(&mut stage.reduced).chain(iterators).for_each(|d| *d = number(*d));
            for access in stage.inputs.iter_mut().chain(&mut stage.results) {
                access.index.iter_mut().for_each(|e| *e = substitute(cx, *e, &to));
            }
        }
    }

    /// Makes pairs of dims that lie side by side in all of memory one dim, as long as `allowed` says so. Returns the
    /// number of pairs.
    pub fn collapse(&mut self, facts: &Facts, allowed: &dyn Fn(&Self, usize, usize) -> bool) -> usize {
        let mut count = 0;
        'again: loop {
            for outer in 0..self.extents.len() {
                for inner in 0..self.extents.len() {
                    if outer != inner && allowed(self, outer, inner) && self.side_by_side(facts, outer, inner) {
                        self.collapse_pair(outer, inner);
                        count += 1;
                        continue 'again;
                    }
                }
            }
            return count;
        }
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
            s.dims.contains(&outer) == s.dims.contains(&inner) && parallel(outer) == parallel(inner)
        };
        let free = |s: &Stage<'_>| s.indices().all(|d| d != outer && d != inner);
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
            let gone = |d: &Option<usize>| *d == Some(outer) || *d == Some(inner);
            stage.iterators.iter_mut().filter(|d| gone(d)).for_each(|d| *d = None);
            for access in stage.inputs.iter_mut().chain(&mut stage.results) {
                access.index.retain(|e| !plain(e, outer));
            }
        }
        self.extents[inner] = self.extents[outer].mul(&self.extents[inner]);
        self.extents.remove(outer);
        self.renumber(&|d| d - usize::from(d > outer));
    }
}

/// Joins the variables of a reader with those of what it reads.
fn link(
    facts: &Facts,
    (reader, reader_first, input): (&ComputeForm<'_>, usize, usize),
    (maker, maker_first, result): (&ComputeForm<'_>, usize, usize),
    sets: &mut Sets,
) -> Fit<()> {
    let (cx, body) = (reader.op.cx, reader.op.body);
    let value = reader.op.operand(input);
    let name = || value_text(cx, body, value);
    if reader.oob[input].is_some() {
        return misfit(format!("reads outside {}", name()));
    }
    let sizes = sizes(cx, body, facts, value)?;
    let read = cx.map_results(reader.input_maps[input]);
    let written = cx.map_results(maker.result_maps[result]);
    for (dim, (r, w)) in read.iter().zip(written).enumerate() {
        match (maps::plain_dim(cx, *r), maps::plain_dim(cx, *w)) {
            (Some(r), Some(w)) => sets.join(reader_first + r, maker_first + w),
            // A size of 1: there is one place to read.
            _ if sizes[dim].as_const() == Some(1) => {}
            (Some(_), None) => {}
            (None, _) => return misfit(format!("reads {} otherwise than element by element", name())),
        }
    }
    Ok(())
}

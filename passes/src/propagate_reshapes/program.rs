//! The ops of a function in dims: what each runs through, where it reads, and which reshapes can be seen through.

use std::collections::HashMap;

use sutura_dialects::r#dyn::Facts;
use sutura_dialects::r#dyn::attr::symbolic_shape;
use sutura_dialects::graph::{ComputeForm, IndexOp, IteratorKind, ReshapeOp, maps};
use sutura_ir::op_def::Traits;
use sutura_ir::{BlockRef, Op, OpRef, Value};

use super::dims::{Conflict, Dims, Why};
use crate::region::{Windows, fit};
use crate::stitch::is_compute;

/// A `graph.compute`.
pub(super) struct Computation<'a> {
    pub(super) form: ComputeForm<'a>,
    /// A dim per iterator.
    pub(super) iterators: Vec<usize>,
    /// One per input.
    pub(super) reads: Vec<Read>,
    /// It sums what it makes of several tensors.
    product: bool,
}

/// How an input is read.
pub(super) struct Read {
    /// One per dimension of the tensor.
    pub(super) dims: Vec<usize>,
    /// The tensor has these dims for all that read it so, and for what makes it: a kernel may do both.
    pub(super) linked: bool,
}

/// Why a reshape stays.
pub(super) enum Stays {
    /// Nothing but products read it.
    Products,
    /// The op combines along a dimension of size 1.
    Combined(Op),
    /// The op reads outside it along a dimension of size 1.
    Outside(Op),
    /// Sizes do not agree.
    Conflict(Conflict),
}

/// The ops of a function.
pub(super) struct Program<'a, 'f> {
    pub(super) block: BlockRef<'a>,
    facts: &'f Facts,
    pub(super) dims: Dims<'f>,
    pub(super) computations: Vec<Computation<'a>>,
    /// Dims of tensors.
    pub(super) tensors: HashMap<Value, Vec<usize>>,
    /// The computation that makes a tensor; none for an op without a structured form.
    makers: HashMap<Value, Option<usize>>,
    /// Computations that read a tensor, with the number of the input.
    readers: HashMap<Value, Vec<(usize, usize)>>,
    /// What reshapes make that are seen through, with what an op makes that they reshape.
    pub(super) seen_through: HashMap<Value, Value>,
}

impl<'a, 'f> Program<'a, 'f> {
    pub(super) fn of(block: BlockRef<'a>, facts: &'f Facts) -> Self {
        let mut this = Self {
            block,
            facts,
            dims: Dims::new(facts),
            computations: vec![],
            tensors: HashMap::new(),
            makers: HashMap::new(),
            readers: HashMap::new(),
            seen_through: HashMap::new(),
        };
        for op in block.ops() {
            if let Some(form) = ComputeForm::of(op) {
                this.computation(form);
            } else if is_compute(op) {
                this.whole(op);
            }
        }
        this
    }

    /// Sees through all reshapes that it can, and says of each, in order, whether that was so.
    pub(super) fn see_through(&mut self) -> Vec<(ReshapeOp<'a>, Result<(), Stays>)> {
        let reshapes: Vec<ReshapeOp<'a>> = self.block.ops().filter_map(OpRef::as_::<ReshapeOp<'a>>).collect();
        let mut outcomes = Vec::new();
        for reshape in reshapes {
            if let Some(outcome) = self.reshape(reshape) {
                outcomes.push((reshape, outcome));
            }
        }
        outcomes
    }

    /// What an op of a kernel makes that a tensor is a reshape of.
    pub(super) fn made_from(&self, mut value: Value) -> Option<Value> {
        let body = self.block.body;
        while !self.is_made(value) {
            let def = OpRef::new(self.block.cx, body, body.defining_op(value)?);
            value = def.as_::<ReshapeOp<'_>>().filter(|r| r.shape().is_none())?.input();
        }
        Some(value)
    }

    /// True for a tensor that an op of a kernel makes.
    pub(super) fn is_made(&self, value: Value) -> bool {
        self.makers.contains_key(&value)
    }

    /// A dim for each dimension of a tensor.
    fn dims_of(&mut self, value: Value) -> Vec<usize> {
        let shape = symbolic_shape(self.block.cx, self.block.body.ty(value)).unwrap_or_default();
        shape.iter().map(|size| self.dims.add(size.as_ref())).collect()
    }

    fn fix_all(&mut self, dims: &[usize], why: Why) {
        dims.iter().for_each(|dim| self.dims.fix(*dim, why));
    }

    /// An op that computes and has no structured form keeps its dims.
    fn whole(&mut self, op: OpRef<'a>) {
        for value in op.operands().chain(op.results()) {
            let dims = match self.tensors.get(&value) {
                Some(dims) => dims.clone(),
                None => self.dims_of(value),
            };
            self.fix_all(&dims, Why::Unstructured(op.op));
            self.tensors.insert(value, dims);
        }
        self.makers.extend(op.results().map(|value| (value, None)));
    }

    fn computation(&mut self, form: ComputeForm<'a>) {
        let (number, op) = (self.computations.len(), form.op.op);
        let iterators: Vec<usize> = form.extents().iter().map(|e| self.dims.add(e.as_ref())).collect();
        let mut this = Computation { product: is_product(&form), form, iterators, reads: vec![] };
        if this.product {
            self.fix_all(&this.iterators, Why::Product(op));
        }
        for index in this.form.body.ops().filter_map(OpRef::as_::<IndexOp<'_>>) {
            self.dims.fix(this.iterators[index.iterator() as usize], Why::Index(op));
        }
        for (input, value) in this.form.inputs().enumerate() {
            let read = self.read(&this, input, value);
            this.reads.push(read);
            self.readers.entry(value).or_default().push((number, input));
        }
        for (value, map) in this.form.results().zip(&this.form.result_maps) {
            let dim = |expr: &_| maps::plain_dim(this.form.op.cx, *expr);
            let dims = this.form.op.cx.map_results(*map).iter().map(|expr| match dim(expr) {
                Some(i) => this.iterators[i],
                None => self.dims.add(Some(&1.into())),
            });
            let dims: Vec<usize> = dims.collect();
            self.tensors.insert(value, dims);
            self.makers.insert(value, Some(number));
        }
        self.computations.push(this);
    }

    /// The dims along which an input is read, which are those of the tensor where a kernel may do both.
    fn read(&mut self, reader: &Computation<'a>, input: usize, value: Value) -> Read {
        let (cx, op) = (reader.form.op.cx, reader.form.op.op);
        let linked = self.is_linked(reader, value);
        let dims = match self.tensors.get(&value).filter(|_| linked) {
            Some(dims) => dims.clone(),
            None => self.dims_of(value),
        };
        if linked {
            self.tensors.insert(value, dims.clone());
        }
        let outside = reader.form.oob[input].is_some();
        for (dim, expr) in dims.iter().zip(cx.map_results(reader.form.input_maps[input])) {
            if let Some(i) = maps::plain_dim(cx, *expr) {
                let iterator = reader.iterators[i];
                if outside && !self.dims.same_size(*dim, iterator) {
                    self.fix_all(&[*dim, iterator], Why::Outside(op));
                } else {
                    self.dims.join(*dim, iterator);
                }
            } else if !self.dims.is_unit(*dim) || outside {
                let mentioned = (0..reader.iterators.len()).filter(|i| maps::mentions(cx, *expr, *i));
                let mentioned: Vec<usize> = mentioned.map(|i| reader.iterators[i]).chain([*dim]).collect();
                self.fix_all(&mentioned, Why::Place(op));
            }
        }
        Read { dims, linked }
    }

    /// True where one kernel may make a tensor and read it, or read it for several ops: then it keeps one form. A
    /// reshape between a product and what no kernel joins with it costs nothing.
    fn is_linked(&self, reader: &Computation<'a>, value: Value) -> bool {
        let op = reader.form.op;
        let Some(maker) = self.makers.get(&value) else {
            let constant = |def: Op| op.at(def).has_trait(Traits::ConstantLike);
            return !reader.product && !op.body.defining_op(value).is_some_and(constant);
        };
        let Some(maker) = maker.map(|number| &self.computations[number]) else { return true };
        match (maker.product, reader.product) {
            (false, false) => true,
            // A product reads through a copy.
            (false, true) if is_copy(&maker.form) => true,
            _ => self.fits(&[maker.form.op, op]),
        }
    }

    /// True when ops would be one kernel.
    fn fits(&self, ops: &[OpRef<'a>]) -> bool {
        let used = |v: &Value| self.block.body.uses(*v).any(|u| ops.iter().all(|op| op.op != u.owner));
        let outputs: Vec<Value> = ops.iter().flat_map(|op| op.results()).filter(used).collect();
        fit(self.facts, ops, &outputs, Windows::Near).is_ok()
    }

    /// Sees through a reshape if it can; nothing for one that joins no ops.
    fn reshape(&mut self, reshape: ReshapeOp<'a>) -> Option<Result<(), Stays>> {
        let result = reshape.result();
        let input = self.made_from(result)?;
        if self.makers[&input].is_some_and(|number| !self.computes_in_kernel(number)) {
            return None;
        }
        let all = self.readers.get(&result)?.clone();
        let linked = |(number, at): &(usize, usize)| self.computations[*number].reads[*at].linked;
        let readers: Vec<(usize, usize)> = all.into_iter().filter(linked).collect();
        if readers.iter().all(|(number, _)| self.feeds_products(*number)) {
            return Some(Err(Stays::Products));
        }
        if let Some(stays) = readers.iter().find_map(|(number, at)| self.needs_units(*number, *at)) {
            return Some(Err(stays));
        }
        let many = |dims: &[usize]| dims.iter().copied().filter(|d| !self.dims.is_unit(*d)).collect::<Vec<_>>();
        let (from, to) = (many(&self.tensors[&input]), many(self.tensors.get(&result)?));
        let saved = self.dims.save();
        if let Err(conflict) = self.dims.equate(&from, &to) {
            self.dims.restore(saved);
            return Some(Err(Stays::Conflict(conflict)));
        }
        self.seen_through.insert(result, input);
        Some(Ok(()))
    }

    /// False for a product that is a loop of its own.
    fn computes_in_kernel(&self, number: usize) -> bool {
        let maker = &self.computations[number];
        !maker.product || self.fits(&[maker.form.op])
    }

    /// True for a copy that only products read: it is a part of how they read.
    fn feeds_products(&self, number: usize) -> bool {
        let this = &self.computations[number];
        let body = self.block.body;
        let maker = |op: Op| body.results(op).next().and_then(|v| *self.makers.get(&v)?);
        let product = |op: Op| maker(op).is_some_and(|number| self.computations[number].product);
        is_copy(&this.form) && this.form.results().all(|v| body.uses(v).all(|u| product(u.owner)))
    }

    /// Why a reader would do something else without the dimensions of size 1 of an input.
    fn needs_units(&self, number: usize, input: usize) -> Option<Stays> {
        let Computation { form, reads, .. } = &self.computations[number];
        let cx = form.op.cx;
        let exprs = cx.map_results(form.input_maps[input]).iter();
        let units = reads[input].dims.iter().zip(exprs).filter(|(dim, _)| self.dims.is_unit(**dim));
        let needed = |(_, expr): (&usize, &_)| match maps::plain_dim(cx, *expr) {
            Some(i) if form.iterators[i] == IteratorKind::Reduce => Some(Stays::Combined(form.op.op)),
            _ => {
                let outside = form.oob[input].is_some() && maps::constant(cx, *expr) != Some(0);
                outside.then_some(Stays::Outside(form.op.op))
            }
        };
        units.into_iter().find_map(needed)
    }
}

/// True for an op that combines what it makes of several tensors.
fn is_product(form: &ComputeForm<'_>) -> bool {
    let cx = form.op.cx;
    let combined = |map: &_| {
        let exprs = cx.map_results(*map);
        form.of_kind(IteratorKind::Reduce).any(|i| exprs.iter().any(|e| maps::mentions(cx, *e, i)))
    };
    form.input_maps.iter().filter(|map| combined(map)).count() > 1
}

/// True for an op that hands on what it reads from one tensor.
fn is_copy(form: &ComputeForm<'_>) -> bool {
    let yields = |end: OpRef<'_>| form.body.args() == end.operands().collect::<Vec<_>>();
    form.is_elementwise() && form.inputs().len() == 1 && form.yielded().is_some_and(yields)
}

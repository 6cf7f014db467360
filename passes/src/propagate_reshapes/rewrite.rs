//! Ops over the leaves of their dims: what they become, and the reshapes that are left at the edges.

use std::collections::{HashMap, HashSet};

use sutura_dialects::r#dyn::attr::{symbolic_shape, tensor_of};
use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::graph::{IndexOp, IteratorKind, IteratorsAttr, ReshapeOp, maps};
use sutura_ir::affine::{AffineExpr, AffineMap};
use sutura_ir::{Attr, Op, OpRef, Rewriter, Type, Value};

use super::program::{Computation, Program, Read};
use crate::region::nest::substitute;

/// What an op becomes.
pub(super) struct Change {
    op: Op,
    /// Kinds of its iterators.
    iterators: Vec<IteratorKind>,
    maps: Vec<AffineMap>,
    /// Its inputs, each in the shape in which it is read; `None` for one that comes as it is.
    inputs: Vec<(Value, Option<Type>)>,
    /// Types of its results before and after.
    results: Vec<(Type, Type)>,
    /// Ops that ask for the index of an iterator, with the iterator's new number.
    indices: Vec<(Op, usize)>,
    /// It runs through more dims than before.
    pub(super) expanded: bool,
}

/// An input in its new form.
struct Input {
    value: Value,
    ty: Option<Type>,
    index: Vec<AffineExpr>,
}

impl Program<'_, '_> {
    /// What ops become because of the reshapes that are seen through, in order.
    pub(super) fn changes(&self) -> Vec<Change> {
        self.computations.iter().filter(|c| self.is_changed(c)).map(|c| self.change(c)).collect()
    }

    fn is_changed(&self, this: &Computation<'_>) -> bool {
        let through = |(value, read): (Value, &Read)| read.linked && self.seen_through.contains_key(&value);
        this.iterators.iter().any(|d| self.dims.is_split(*d)) || this.form.inputs().zip(&this.reads).any(through)
    }

    fn change(&self, this: &Computation<'_>) -> Change {
        let form = &this.form;
        let cx = form.op.cx;
        let (mut first, mut iterators) = (Vec::new(), Vec::new());
        for (kind, dim) in form.iterators.iter().zip(&this.iterators) {
            first.push(iterators.len());
            iterators.extend(self.dims.leaves(*dim).iter().map(|_| *kind));
        }
        let count = iterators.len() as u32;
        let inputs: Vec<Input> = (0..this.reads.len()).map(|input| self.input(this, input, &first)).collect();
        let mut all: Vec<AffineMap> = Vec::new();
        for (input, old) in inputs.iter().zip(&form.input_maps) {
            all.push(cx.affine_map(count, cx.affine_map_data(*old).symbols, &input.index));
        }
        let mut results = Vec::new();
        for (value, map) in form.results().zip(&form.result_maps) {
            let index = self.indices(this, cx.map_results(*map), &first).concat();
            all.push(cx.affine_map(count, 0, &index));
            let ty = form.op.ty(value);
            results.push((ty, self.split_type(ty, &self.tensors[&value]).unwrap_or(ty)));
        }
        let number = |index: OpRef<'_>| Some((index.op, first[index.as_::<IndexOp<'_>>()?.iterator() as usize]));
        Change {
            op: form.op.op,
            expanded: iterators.len() > form.iterators.len(),
            iterators,
            maps: all,
            inputs: inputs.into_iter().map(|input| (input.value, input.ty)).collect(),
            results,
            indices: form.body.ops().filter_map(number).collect(),
        }
    }

    /// For each dimension of a tensor the expressions of its leaves.
    fn indices(&self, this: &Computation<'_>, exprs: &[AffineExpr], first: &[usize]) -> Vec<Vec<AffineExpr>> {
        let cx = this.form.op.cx;
        let whole = |i: usize| cx.affine_dim(first[i] as u32);
        let leaves = |expr: &AffineExpr| match maps::plain_dim(cx, *expr) {
            Some(i) => {
                let count = self.dims.leaves(this.iterators[i]).len();
                (first[i]..first[i] + count).map(|i| cx.affine_dim(i as u32)).collect()
            }
            None => vec![substitute(cx, *expr, &whole)],
        };
        exprs.iter().map(leaves).collect()
    }

    fn input(&self, this: &Computation<'_>, input: usize, first: &[usize]) -> Input {
        let (form, read) = (&this.form, &this.reads[input]);
        let (cx, value) = (form.op.cx, form.op.operand(input));
        let own = self.indices(this, cx.map_results(form.input_maps[input]), first);
        if let Some(&source) = self.seen_through.get(&value).filter(|_| read.linked) {
            let many = own.into_iter().zip(&read.dims).filter(|(_, dim)| !self.dims.is_unit(**dim));
            let mut leaves = many.flat_map(|(exprs, _)| exprs);
            let mut index = Vec::new();
            for dim in &self.tensors[&source] {
                if self.dims.is_unit(*dim) {
                    index.push(cx.affine_const(0));
                } else {
                    index.extend(leaves.by_ref().take(self.dims.leaves(*dim).len()));
                }
            }
            return Input { value: source, ty: None, index };
        }
        let ty = form.op.ty(value);
        // What makes a tensor, and what else reads it, gives it the same shape.
        let as_read = || Some(self.split_type(ty, &read.dims).unwrap_or(ty));
        let ty = if read.linked && self.is_made(value) { None } else { as_read() };
        Input { value, ty, index: own.concat() }
    }

    /// The type with the leaves of these dims as dimensions; `None` where none is split.
    fn split_type(&self, ty: Type, dims: &[usize]) -> Option<Type> {
        if !dims.iter().any(|d| self.dims.is_split(*d)) {
            return None;
        }
        let cx = self.block.cx;
        let mut sizes: Vec<Option<Poly>> = Vec::new();
        for (dim, size) in dims.iter().zip(symbolic_shape(cx, ty)?) {
            match self.dims.is_split(*dim) {
                true => sizes.extend(self.dims.leaves(*dim).iter().map(|leaf| Some(self.dims.extent(*leaf).clone()))),
                false => sizes.push(size),
            }
        }
        Some(tensor_of(cx, &sizes, cx.element_type(ty)))
    }
}

/// Reshapes that have been made: of what, to which type.
#[derive(Default)]
struct Made(HashMap<(Value, Type), Value>);

impl Made {
    /// The value in a shape, made before the insertion point if it is not there.
    fn shaped(&mut self, rw: &mut Rewriter<'_>, op: Op, value: Value, ty: Type) -> Value {
        let mut base = value;
        while rw.body().ty(base) != ty {
            let Some(input) = rw.def::<ReshapeOp<'_>>(base).map(|r| r.input()) else { break };
            base = input;
        }
        if rw.body().ty(base) == ty {
            return base;
        }
        if let Some(known) = self.0.get(&(base, ty)) {
            return *known;
        }
        let loc = rw.body().loc(op);
        let made = ReshapeOp::value(rw, loc, base, None, false, ty);
        self.0.insert((base, ty), made);
        made
    }
}

/// Changes ops. Reshapes of what they make are left for those that read it as it was.
pub(super) fn apply(rw: &mut Rewriter<'_>, changes: &[Change]) {
    let changed: HashSet<Op> = changes.iter().map(|c| c.op).collect();
    let mut made = Made::default();
    for change in changes {
        for (i, (before, after)) in change.results.iter().enumerate().filter(|(_, (before, after))| before != after) {
            let value = rw.body().result(change.op, i);
            rw.set_type(value, *after);
            // A reshape takes any shape.
            let as_it_was = |body: &sutura_ir::Body, op: Op, cx| {
                !changed.contains(&op) && !OpRef::new(cx, body, op).is::<ReshapeOp<'_>>()
            };
            let cx = rw.cx();
            if rw.body().uses(value).any(|u| as_it_was(rw.body(), u.owner, cx)) {
                rw.set_after(change.op);
                let back = made.shaped(rw, change.op, value, *before);
                rw.replace_uses_if(value, back, |body, op, _| as_it_was(body, op, cx));
            }
        }
    }
    for change in changes {
        change.apply(rw, &mut made);
    }
}

impl Change {
    fn apply(&self, rw: &mut Rewriter<'_>, made: &mut Made) {
        let cx = rw.cx();
        rw.set_before(self.op);
        let inputs: Vec<Value> = self
            .inputs
            .iter()
            .map(|(value, ty)| ty.map_or(*value, |ty| made.shaped(rw, self.op, *value, ty)))
            .collect();
        rw.set_operands(self.op, &inputs);
        let iterators = IteratorsAttr { kinds: self.iterators.clone() };
        let maps: Vec<Attr> = self.maps.iter().map(|map| cx.affine_map_attr(*map)).collect();
        rw.set_prop(self.op, "iterators", Some(cx.ext_attr(iterators)));
        rw.set_prop(self.op, "maps", Some(cx.array_attr(&maps)));
        for (index, iterator) in &self.indices {
            rw.set_prop(*index, "iterator", Some(cx.int_attr(*iterator as i64, Type::I64)));
        }
    }
}

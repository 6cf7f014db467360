//! A softmax that is written as single ops.

use sutura_dialects::graph::operator::{Made, Pattern, Site, pattern};
use sutura_dialects::graph::{ApplyOp, ComputeForm, IteratorKind, maps};
use sutura_ir::affine::AffineExpr;
use sutura_ir::{Body, Context, Op, OpRef, Rewriter, Type, Value};

use super::Known;

/// What ops become, in this order.
const WRITTEN: [&str; 2] = ["softmax", "softmax_by_division"];

/// True if the op may make weights, as far as it shows by itself: a pattern ends in an elementwise op of two inputs.
pub(super) fn may_be(op: OpRef<'_>) -> bool {
    op.num_operands() == 2 && op.num_results() == 1 && ComputeForm::of(op).is_some_and(|form| form.is_elementwise())
}

/// Replaces ops by the softmax that they are, if `op` makes its weights. Returns its name.
pub(super) fn raise(cx: &Context, body: &mut Body, op: Op, known: &Known) -> Option<String> {
    if !body.is_live(op) || !may_be(OpRef::new(cx, body, op)) {
        return None;
    }
    let weights = body.result(op, 0);
    let rank = cx.shape(body.ty(weights))?.len();
    let (found, axis, name) = WRITTEN.iter().filter(|name| known.has(name)).find_map(|name| {
        let pattern = pattern(name)?;
        (0..rank).rev().find_map(|axis| Some((written(cx, body, weights, axis, pattern)?, axis, *name)))
    })?;
    let parts: Vec<_> = body.preorder().filter(|part| found.ops.contains(part)).map(|part| body.loc(part)).collect();
    let (loc, ty) = (cx.fused_loc(&parts, None), body.ty(weights));
    let mut rw = Rewriter::new(cx, body);
    rw.set_before(op);
    let mut state = ApplyOp::state(&rw, loc, name, &[found.input], &[ty]);
    state = state.attr(cx.ident("axis"), cx.int_attr(axis as i64, Type::I64));
    let made = rw.create(state);
    let result = rw.body().result(made, 0);
    rw.replace_op(op, &[result]);
    erase_unused(&mut rw, &found.ops);
    Some(name.to_string())
}

/// Erases those of `ops` whose results nothing uses, readers before what they read.
pub(super) fn erase_unused(rw: &mut Rewriter<'_>, ops: &[Op]) {
    let mut erased = true;
    while erased {
        erased = false;
        for op in ops.iter().copied() {
            if rw.body().is_live(op) && rw.body().results(op).all(|value| rw.body().is_unused(value)) {
                rw.erase_op(op);
                erased = true;
            }
        }
    }
}

/// What a softmax along `axis` that is written out is of, and its ops.
struct Written {
    input: Value,
    ops: Vec<Op>,
}

fn written(cx: &Context, body: &Body, weights: Value, axis: usize, pattern: &Pattern) -> Option<Written> {
    let rank = cx.shape(body.ty(weights))?.len();
    let found = pattern.find(body, cx, weights, &mut Tensors { cx, body, rank, axis })?;
    // What is within it is read by nothing else.
    let last = body.defining_op(weights)?;
    let within = found.ops.iter().filter(|op| **op != last).flat_map(|op| body.results(*op));
    let alone = within.flat_map(|value| body.uses(value)).all(|use_| found.ops.contains(&use_.owner));
    let fits = alone && body.ty(found.input) == body.ty(weights);
    fits.then_some(Written { input: found.input, ops: found.ops })
}

/// Ops over tensors of a rank, which are read where they are made but for the axis.
struct Tensors<'a> {
    cx: &'a Context,
    body: &'a Body,
    rank: usize,
    axis: usize,
}

impl Tensors<'_> {
    /// For each index the dimension of the softmax that it stands for, where these are all in order, or all but the axis,
    /// which is left out or has one element.
    fn dims(&self, index: &[AffineExpr]) -> Option<(Vec<(usize, AffineExpr)>, bool)> {
        let row = match index.len() {
            n if n == self.rank => maps::constant(self.cx, index[self.axis]) == Some(0),
            n if n + 1 == self.rank => true,
            _ => return None,
        };
        let others = (0..self.rank).filter(|dim| !row || *dim != self.axis);
        let kept = index.iter().enumerate().filter(|(i, _)| !row || index.len() < self.rank || *i != self.axis);
        Some((others.zip(kept.map(|(_, expr)| *expr)).collect(), row))
    }
}

impl<'a> Site<'a> for Tensors<'a> {
    fn made(&mut self, tensor: Value, row: bool) -> Option<Made<'a>> {
        let form = ComputeForm::of(OpRef::new(self.cx, self.body, self.body.defining_op(tensor)?))?;
        let plain = form.joint.is_none() && form.oob.iter().all(Option::is_none) && form.results().len() == 1;
        let reduced: Vec<usize> = form.of_kind(IteratorKind::Reduce).collect();
        let combiner = match (&reduced[..], &form.combiners[..]) {
            ([], []) => None,
            ([_], [combiner]) if row => Some(*combiner),
            _ => return None,
        };
        // Which dimension each iterator runs through.
        let mut runs: Vec<Option<usize>> = vec![None; form.iterators.len()];
        let (dims, made_row) = self.dims(self.cx.map_results(form.result_maps[0]))?;
        if !plain || made_row != row {
            return None;
        }
        for (dim, expr) in dims {
            *runs.get_mut(maps::plain_dim(self.cx, expr)?)? = Some(dim);
        }
        if let [reduced] = reduced[..] {
            runs[reduced] = Some(self.axis);
        }
        let mut inputs = Vec::with_capacity(form.input_maps.len());
        for (value, map) in form.inputs().zip(&form.input_maps) {
            let (dims, row) = self.dims(self.cx.map_results(*map))?;
            let at =
                |(dim, expr): &(usize, AffineExpr)| Some(runs.get(maps::plain_dim(self.cx, *expr)?)? == &Some(*dim));
            if !dims.iter().all(|dim| at(dim) == Some(true)) {
                return None;
            }
            inputs.push((value, row));
        }
        let yielded = form.yielded().filter(|_| runs.iter().all(Option::is_some))?.operand(0);
        Some(Made { op: form.op.op, body: form.body, yielded, combiner, inputs })
    }
}

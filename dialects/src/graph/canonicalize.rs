//! Canonical forms.

use sutura_ir::builder::OpState;
use sutura_ir::op_def::{Canonicalize, OpView};
use sutura_ir::pattern::PatternSet;
use sutura_ir::{Attr, NamedAttr, Op, OpRef, Rewriter, Type, Value};

use super::combine::CombinersAttr;
use super::ops::{ComputeOp, ConcatOp, IndexOp, ReshapeOp, SliceOp};
use super::shape_fn::{ShapeEnv, asks_for_its_result, sizes_are_determined, slice_bounds};
use crate::r#dyn::attr::symbolic_shape;
use crate::r#dyn::{Facts, Poly};

impl Canonicalize for ComputeOp<'_> {
    fn patterns(set: &mut PatternSet) {
        set.add::<ComputeOp<'_>>("graph-compute-drop-inputs", drop_inputs);
        set.add::<ComputeOp<'_>>("graph-compute-splat-inputs", splat_inputs);
        set.add::<ComputeOp<'_>>("graph-compute-name-combiners", name_combiners);
        set.add::<ComputeOp<'_>>("graph-compute-unit-index", unit_index);
    }
}

/// A region that joins each result by itself, as a combiner with a name does, becomes that name.
fn name_combiners(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let named = super::ComputeForm::of(rw.op_ref(op)).and_then(|form| form.joint?.named());
    let named = rw.require(op, named, "no region joins its results, or it is no combiner of each by itself")?;
    let cx = rw.cx();
    let old = rw.op_ref(op);
    let mut state = OpState::new(old.name(), old.loc());
    state.operands = old.operands().collect();
    state.result_types = old.result_types().collect();
    let stays = |p: &&NamedAttr| cx.str(p.name) != "state";
    state.props = cx.entries(rw.body().props(op)).iter().filter(stays).copied().collect();
    state.attrs = cx.entries(rw.body().attrs(op)).into();
    state.n_regions = 1;
    let state = state.prop(cx.ident("combiners"), cx.ext_attr(CombinersAttr { kinds: named }));
    rw.set_before(op);
    let made = rw.create(state);
    let regions = [op, made].map(|op| rw.body().regions(op).next().expect("it has a body"));
    rw.take_region(regions[0], regions[1]);
    let results: Vec<Value> = rw.body().results(made).collect();
    rw.replace_op(op, &results);
    Some(())
}

/// An input whose number the body does not use, or that is read like another one, goes, unless an iterator's extent
/// is known by nothing else. A pattern on `graph.compute`; one input goes each time.
pub fn drop_inputs(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let found = (|| {
        let compute = rw.view::<ComputeOp<'_>>(op)?;
        let view = compute.op_ref();
        let args = compute.body().entry()?.args();
        let maps = compute.maps();
        let oob = compute.oob();
        let same =
            |i: usize, j: usize| view.operand(i) == view.operand(j) && maps[i] == maps[j] && oob.get(i) == oob.get(j);
        (0..view.num_operands()).find_map(|i| {
            if let Some(j) = (0..i).find(|j| same(i, *j)) {
                return Some((i, Some(args[j])));
            }
            (view.body.is_unused(args[i]) && is_dispensable(view, i)).then_some((i, None))
        })
    })();
    let (input, twin) = rw.require(op, found, "every input is read, or gives an extent, and no two are the same")?;
    remove_input(op, input, twin, rw)
}

/// True when every iterator that this input gives an extent has it from another operand as well, or from a result type
/// that states it.
pub fn is_dispensable(view: OpRef<'_>, input: usize) -> bool {
    let Some(form) = super::ComputeForm::of(view) else { return false };
    let cx = view.cx;
    let others = form.inputs().zip(&form.input_maps).zip(&form.oob).enumerate();
    let others: Vec<_> = others.filter(|(i, (_, oob))| *i != input && oob.is_none()).map(|(_, (p, _))| p).collect();
    cx.map_results(form.input_maps[input]).iter().all(|expr| {
        let Some(iterator) = super::maps::plain_dim(cx, *expr) else { return true };
        let plain = |e: &_| super::maps::plain_dim(cx, *e) == Some(iterator);
        let read = others.iter().any(|(_, map)| cx.map_results(**map).iter().any(plain));
        let stated = form.results().zip(&form.result_maps).any(|(value, map)| {
            let at = cx.map_results(*map).iter().position(plain);
            let shape = symbolic_shape(cx, view.ty(value)).unwrap_or_default();
            at.is_some_and(|d| shape.get(d).is_some_and(Option::is_some))
        });
        form.oob[input].is_some() || read || stated
    })
}

/// Removes an input and its argument, whose uses become uses of `twin`.
fn remove_input(op: Op, input: usize, twin: Option<Value>, rw: &mut Rewriter<'_>) -> Option<()> {
    let cx = rw.cx();
    let compute = rw.view::<ComputeOp<'_>>(op)?;
    let entry = compute.body().entry()?;
    let (block, arg) = (entry.block, entry.args()[input]);
    let mut maps = compute.maps();
    maps.remove(input);
    let mut oob: Vec<Attr> = compute.oob().to_vec();
    if !oob.is_empty() {
        oob.remove(input);
    }
    if oob.iter().all(|a| *a == Attr::UNIT) {
        oob.clear();
    }
    let mut operands: Vec<Value> = compute.inputs().collect();
    operands.remove(input);
    if let Some(twin) = twin {
        rw.replace_all_uses(arg, twin);
    }
    rw.erase_block_arg(block, input);
    let maps: Vec<Attr> = maps.into_iter().map(|m| cx.affine_map_attr(m)).collect();
    rw.set_prop(op, "maps", Some(cx.array_attr(&maps)));
    rw.set_prop(op, "oob", (!oob.is_empty()).then(|| cx.array_attr(&oob)));
    rw.set_operands(op, &operands);
    Some(())
}

/// An input that holds one number everywhere becomes that constant in the body.
fn splat_inputs(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let found = (|| {
        let compute = rw.view::<ComputeOp<'_>>(op)?;
        let view = compute.op_ref();
        let args = compute.body().entry()?.args();
        let oob = compute.oob();
        (0..view.num_operands()).find_map(|i| {
            let inside = oob.get(i).is_none_or(|a| *a == Attr::UNIT);
            let number = splat_number(view, view.constant(view.operand(i))?)?;
            (inside && !view.body.is_unused(args[i])).then_some((args[i], number))
        })
    })();
    let (arg, number) = rw.require(op, found, "no input that is read is a constant of one number everywhere")?;
    let block = rw.body().value_block(arg)?;
    let (loc, ty) = (rw.body().loc(op), rw.body().ty(arg));
    rw.set_to_start(block);
    let constant = super::build::scalar::constant(rw, loc, number, ty);
    rw.replace_all_uses(arg, constant);
    Some(())
}

/// The index of an iterator that runs once is 0.
fn unit_index(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let found = (|| {
        let form = super::ComputeForm::of(rw.op_ref(op))?;
        let cx = form.op.cx;
        let once = |iterator: usize| {
            form.extent_sources(iterator).any(|(value, dim)| cx.shape(form.op.ty(value)).is_some_and(|s| s[dim] == 1))
        };
        let index =
            |inner: OpRef<'_>| inner.as_::<IndexOp<'_>>().and_then(|index| usize::try_from(index.iterator()).ok());
        form.body.ops().find(|inner| index(*inner).is_some_and(once)).map(|inner| inner.op)
    })();
    let index = rw.require(op, found, "no index is of an iterator that runs once")?;
    let (loc, zero) = (rw.body().loc(index), rw.cx().int_attr(0, Type::INDEX));
    rw.set_before(index);
    let zero = super::build::scalar::constant(rw, loc, zero, Type::INDEX);
    rw.replace_op(index, &[zero]);
    Some(())
}

/// The number of which all elements of a constant are copies.
fn splat_number(view: sutura_ir::OpRef<'_>, value: Attr) -> Option<Attr> {
    let dense = view.cx.dense(value)?;
    (dense.is_splat() && !dense.is_empty()).then(|| dense.attr(0))
}

impl Canonicalize for ReshapeOp<'_> {
    fn patterns(set: &mut PatternSet) {
        set.add::<ReshapeOp<'_>>("graph-reshape-of-reshape", reshape_of_reshape);
        set.add::<ReshapeOp<'_>>("graph-reshape-drop-shape", drop_shape);
    }
}

fn reshape_of_reshape(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let input = rw.view::<ReshapeOp<'_>>(op)?.input();
    let inner = rw.def::<ReshapeOp<'_>>(input).map(|inner| inner.input());
    let source = rw.require(op, inner, "what it reshapes is no result of `graph.reshape`")?;
    let outer = rw.view::<ReshapeOp<'_>>(op)?;
    let sizes = symbolic_shape(rw.cx(), rw.body().ty(outer.result()))?;
    // Zeros in the shape operand copy sizes of the reshape between.
    if outer.shape().is_some() || !sizes_are_determined(outer.op_ref(), source, &sizes) {
        return rw.notify_match_failure(op, || "the result's sizes do not follow from types".to_string());
    }
    rw.set_operand(op, 0, source);
    Some(())
}

/// Where types say all sizes but one, the operand is not needed.
fn drop_shape(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let shape = rw.view::<ReshapeOp<'_>>(op)?.shape();
    rw.require(op, shape, "it has no shape operand")?;
    let reshape = rw.view::<ReshapeOp<'_>>(op)?;
    let input = reshape.input();
    let sizes = symbolic_shape(rw.cx(), rw.body().ty(reshape.result()))?;
    if !sizes_are_determined(reshape.op_ref(), input, &sizes) {
        return rw.notify_match_failure(op, || "the result's sizes do not follow from types".to_string());
    }
    if !asks_for_its_result(reshape.op_ref(), &ShapeEnv::default()) {
        return rw.notify_match_failure(op, || "the operand may ask for other sizes".to_string());
    }
    rw.set_operands(op, &[input]);
    rw.set_prop(op, "allowzero", None);
    Some(())
}

impl Canonicalize for ConcatOp<'_> {
    fn patterns(set: &mut PatternSet) {
        set.add::<ConcatOp<'_>>("graph-concat-flatten", flatten_concat);
    }
}

/// Concatenations along the same axis that nothing else uses are taken apart, all at once: one that is going to be taken
/// apart itself waits, so that a chain of them is not copied at each step.
fn flatten_concat(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let concat = rw.view::<ConcatOp<'_>>(op)?;
    let axis = concat.axis();
    let outer =
        rw.body().uses(concat.result()).next().map(|user| user.owner).and_then(|op| rw.view::<ConcatOp<'_>>(op));
    let waits = outer.is_some_and(|outer| outer.axis() == axis && rw.body().has_one_use(concat.result()));
    let inner = |value: Value| {
        let inner = rw.def::<ConcatOp<'_>>(value)?;
        (inner.axis() == axis && rw.body().has_one_use(value)).then_some(inner)
    };
    if waits || !concat.inputs().any(|input| inner(input).is_some()) {
        let reason = "no input is a concatenation along the same axis that nothing else uses, or it is such an input";
        return rw.notify_match_failure(op, || reason.to_string());
    }
    let mut operands = Vec::new();
    let mut pending: Vec<Value> = concat.inputs().collect();
    pending.reverse();
    while let Some(input) = pending.pop() {
        match inner(input) {
            Some(inner) => {
                let from = pending.len();
                pending.extend(inner.inputs());
                pending[from..].reverse();
            }
            None => operands.push(input),
        }
    }
    rw.set_operands(op, &operands);
    Some(())
}

impl Canonicalize for SliceOp<'_> {
    fn patterns(set: &mut PatternSet) {
        set.add::<SliceOp<'_>>("graph-slice-constant-bounds", constant_bounds);
    }
}

/// Bounds that are constants become attributes.
fn constant_bounds(op: Op, rw: &mut Rewriter<'_>) -> Option<()> {
    let found = (|| {
        let slice = rw.view::<SliceOp<'_>>(op)?;
        slice.bounds().next()?;
        let (starts, ends) = slice_bounds(slice.op_ref(), slice, &ShapeEnv::new(Facts::new()));
        let known = |list: Vec<Option<Poly>>| list.iter().map(|p| p.as_ref()?.as_const()).collect::<Option<Vec<i64>>>();
        Some((known(starts)?, known(ends)?, slice.input()))
    })();
    let (starts, ends, input) = rw.require(op, found, "it has no operands for its bounds, or not all are constants")?;
    let cx = rw.cx();
    rw.set_operands(op, &[input]);
    rw.set_prop(op, "starts", Some(cx.i64_array(&starts)));
    rw.set_prop(op, "ends", Some(cx.i64_array(&ends)));
    Some(())
}

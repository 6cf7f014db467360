//! Slices and concatenations whose places follow from sizes, and lists of sizes, become structured ops, which compose with
//! others.

use sutura_dialects::r#dyn::attr::symbolic_shape;
use sutura_dialects::r#dyn::poly::Poly;
use sutura_dialects::graph::build::scalar::Comparison;
use sutura_dialects::graph::build::{ComputeInput, ComputeResult, GraphBuilder, zero};
use sutura_dialects::graph::shape_fn::{slice_bound, slice_bounds, slice_len, slice_range};
use sutura_dialects::graph::{ConcatOp, IteratorKind, ShapeEnv, ShapeOfOp, SliceOp};
use sutura_dialects::quant::{along, uniform};
use sutura_ir::affine::AffineOp;
use sutura_ir::types::{Signedness, TypeData};
use sutura_ir::{Op, OpState, Rewriter, Type, Value};

/// Replaces `op` if it is one that has a structured form by what is known. Returns whether it was.
pub(super) fn structured(rw: &mut Rewriter<'_>, env: &mut ShapeEnv, op: Op) -> bool {
    slice(rw, env, op) || concat(rw, env, op) || sizes(rw, env, op)
}

/// The list of a tensor's sizes, for what computes with them.
fn sizes(rw: &mut Rewriter<'_>, env: &mut ShapeEnv, op: Op) -> bool {
    let Some(shape_of) = rw.view::<ShapeOfOp<'_>>(op) else { return false };
    let (input, result) = (shape_of.input(), shape_of.result());
    let sizes: Option<Vec<Poly>> = env.shape(rw.op_ref(op), input).and_then(|shape| shape.into_iter().collect());
    let Some(sizes) = sizes.filter(|sizes| !sizes.is_empty()) else { return false };
    let elem = rw.cx().element_type(rw.body().ty(result));
    replace(rw, env, op, |g| {
        let shape = vec![Some(Poly::constant(sizes.len() as i64))];
        let results = vec![ComputeResult { index: g.dims(0..1), shape, elem, combiner: None }];
        g.compute(&[IteratorKind::Parallel], Vec::new(), results, |s, _| {
            let at = s.index(0);
            let mut value = s.size(&sizes[0]);
            for (i, size) in sizes.iter().enumerate().skip(1) {
                let (here, size) = (s.int(i as i64, Type::INDEX), s.size(size));
                let is_here = s.compare(Comparison::Equal, at, here);
                value = s.select(is_here, size, value);
            }
            vec![s.cast(value, elem)]
        })
    })
}

fn slice(rw: &mut Rewriter<'_>, env: &mut ShapeEnv, op: Op) -> bool {
    let Some(First { starts, proved }) = first_indices(rw, env, op) else { return false };
    let Some(slice) = rw.view::<SliceOp<'_>>(op) else { return false };
    let (input, result, steps, axes) = (slice.input(), slice.result(), slice.steps(), slice.axes());
    let cx = rw.cx();
    let shape = symbolic_shape(cx, rw.body().ty(result)).unwrap_or_default();
    let elem = cx.element_type(rw.body().ty(result));
    let sizes = symbolic_shape(cx, rw.body().ty(input)).unwrap_or_default();
    // A tensor read from its first element on would say how far the iterator runs.
    let shorter = |axis: i64| sizes.get(axis as usize) != shape.get(axis as usize);
    let prefix = axes.iter().enumerate().any(|(i, axis)| starts[i].is_zero() && steps[i] == 1 && shorter(*axis));
    replace(rw, env, op, |g| {
        let mut index = g.dims(0..shape.len());
        for (i, axis) in axes.iter().enumerate() {
            let expr = &mut index[*axis as usize];
            *expr = cx.affine_binary(AffineOp::Mul, *expr, cx.affine_const(steps[i]));
            *expr = g.offset(*expr, &starts[i]);
        }
        let inputs = vec![ComputeInput { value: input, index, oob: (prefix || !proved).then(|| zero(cx, elem)) }];
        let results = vec![ComputeResult { index: g.dims(0..shape.len()), shape, elem, combiner: None }];
        g.compute(&vec![IteratorKind::Parallel; results[0].shape.len()], inputs, results, |_, args| vec![args[0]])
    })
}

/// Where a slice begins.
struct First {
    /// The first index along each axis.
    starts: Vec<Poly>,
    /// Ranges of symbols alone prove that all indices lie inside. Otherwise they do because the result has as many elements as
    /// the slice takes, which who sees indices only does not know.
    proved: bool,
}

/// The beginning of a slice whose bounds follow from sizes.
fn first_indices(rw: &Rewriter<'_>, env: &ShapeEnv, op: Op) -> Option<First> {
    let view = rw.op_ref(op);
    let slice = view.as_::<SliceOp<'_>>()?;
    let (starts, ends) = slice_bounds(view, slice, env);
    let steps = slice.steps();
    let (mut first, mut proved) = (Vec::new(), true);
    for (i, axis) in slice.axes().iter().enumerate() {
        let size = env.size(view, slice.input(), *axis as usize)?;
        let start = starts[i].as_ref()?;
        let end = ends.get(i).and_then(Option::as_ref);
        let known_end = end.and_then(Poly::as_const);
        if let (Some(start), Some(end), Some(size)) = (start.as_const(), known_end, size.as_const()) {
            first.push(slice_range(start, end, steps[i], usize::try_from(size).ok()?).0.into());
            continue;
        }
        let count = env.size(view, slice.result(), *axis as usize)?;
        let taken = end.and_then(|end| slice_len(start, end, steps[i], &size, &env.facts));
        let start = slice_bound(start, steps[i], &size, &env.facts)?;
        if start.excess().is_some() || count.excess().is_some() {
            return None;
        }
        let last = start.add(&count.sub(&1.into()).scale(steps[i]));
        let (low, high) = if steps[i] > 0 { (&start, &last) } else { (&last, &start) };
        let room = size.sub(&1.into()).sub(high);
        let by_ranges = [low, &room].into_iter().all(|size| env.facts.prove_non_negative(size));
        // An end that data tells may leave fewer elements than the result has.
        if !by_ranges && !taken.is_some_and(|taken| env.facts.prove_equal(&taken, &count)) {
            return None;
        }
        proved &= by_ranges;
        first.push(start);
    }
    Some(First { starts: first, proved })
}

/// Most parts of one computation.
const PARTS: usize = 16;

/// Tensors behind one another along an axis, with their sizes along it.
struct Parts {
    axis: usize,
    /// Sizes of the whole.
    shape: Vec<Option<Poly>>,
    elem: Type,
    parts: Vec<(Value, Poly)>,
}

/// Each element is read from the part in which it lies; the other parts are read outside. So an element takes as many reads as
/// a computation has parts. Many parts are joined level by level, which takes `PARTS` reads per level.
fn concat(rw: &mut Rewriter<'_>, env: &mut ShapeEnv, op: Op) -> bool {
    let Some(mut whole) = parts(rw, env, op) else { return false };
    let result = rw.body().ty(rw.body().result(op, 0));
    let stored = stored_integers(rw, &whole);
    replace(rw, env, op, |g| {
        if let Some(integer) = stored {
            whole.elem = integer;
            for (part, _) in &mut whole.parts {
                let ty = g.cx().with_element_type(g.b.body().ty(*part), integer);
                let cast = storage_cast(g, *part, ty);
                *part = g.b.body().result(cast, 0);
            }
        }
        while whole.parts.len() > PARTS {
            let groups = whole.parts.len().div_ceil(PARTS);
            let most = whole.parts.len().div_ceil(groups);
            let mut rest = std::mem::take(&mut whole.parts).into_iter().peekable();
            while rest.peek().is_some() {
                let group: Vec<(Value, Poly)> = rest.by_ref().take(most).collect();
                let size = group.iter().fold(Poly::default(), |sum, (_, size)| sum.add(size));
                let size = g.env.facts.canonical(&size);
                let part = join(g, &whole, &group, size.clone());
                whole.parts.push((g.b.body().result(part, 0), size));
            }
        }
        let size = whole.shape[whole.axis].clone().expect("all sizes are known");
        let made = join(g, &whole, &whole.parts, size);
        match stored {
            Some(_) => storage_cast(g, g.b.body().result(made, 0), result),
            None => made,
        }
    })
}

/// The integers to move in the place of quantized elements, where the scales of these depend on the part: no number of the body could
/// be of either part.
fn stored_integers(rw: &Rewriter<'_>, whole: &Parts) -> Option<Type> {
    let cx = rw.cx();
    let uniform = uniform(cx, whole.elem)?;
    let scales = along(uniform, whole.shape.len()).ok()?;
    let other = |(part, _): &(Value, Poly)| cx.element_type(rw.body().ty(*part)) != whole.elem;
    let differ = scales.get(whole.axis).is_some_and(|along| along.count > 1) || whole.parts.iter().any(other);
    differ.then(|| cx.ty(TypeData::Integer { width: uniform.storage.width, sign: Signedness::Signless }))
}

fn storage_cast(g: &mut GraphBuilder<'_, '_>, value: Value, ty: Type) -> Op {
    let state = OpState::new(g.cx().op_name("quant.scast"), g.loc).operands([value]).results([ty]);
    g.b.create(state)
}

/// A computation of `parts` of a whole, which has `size` along the axis.
fn join(g: &mut GraphBuilder<'_, '_>, whole: &Parts, parts: &[(Value, Poly)], size: Poly) -> Op {
    let Parts { axis, elem, .. } = *whole;
    let mut shape = whole.shape.clone();
    shape[axis] = Some(size);
    let mut offsets = vec![Poly::default()];
    for (_, size) in &parts[..parts.len() - 1] {
        let last = offsets.last().expect("it has the first");
        offsets.push(g.env.facts.canonical(&last.add(size)));
    }
    let read = |((value, _), offset): (&(Value, Poly), &Poly)| {
        let mut index = g.dims(0..shape.len());
        index[axis] = g.offset(index[axis], &offset.scale(-1));
        ComputeInput { value: *value, index, oob: Some(zero(g.cx(), elem)) }
    };
    let inputs = parts.iter().zip(&offsets).map(read).collect();
    let kinds = vec![IteratorKind::Parallel; shape.len()];
    let results = vec![ComputeResult { index: g.dims(0..shape.len()), shape, elem, combiner: None }];
    g.compute(&kinds, inputs, results, |s, args| {
        let at = s.index(axis);
        let mut value = args[0];
        for (part, offset) in args.iter().zip(&offsets).skip(1) {
            let from = s.size(offset);
            let here = s.compare(Comparison::GreaterOrEqual, at, from);
            value = s.select(here, *part, value);
        }
        vec![value]
    })
}

/// The parts of a concatenation, if all sizes are known and no offset is beyond the limits of polynomials.
fn parts(rw: &Rewriter<'_>, env: &ShapeEnv, op: Op) -> Option<Parts> {
    let view = rw.op_ref(op);
    let concat = view.as_::<ConcatOp<'_>>()?;
    let shape = symbolic_shape(view.cx, view.ty(concat.result()))?;
    if shape.iter().any(Option::is_none) {
        return None;
    }
    let axis = concat.axis() as usize;
    let mut offset = Poly::default();
    let mut parts = Vec::new();
    for part in concat.inputs() {
        let size = env.size(view, part, axis)?;
        offset = env.facts.canonical(&offset.add(&size));
        if offset.excess().is_some() {
            return None;
        }
        parts.push((part, size));
    }
    Some(Parts { axis, shape, elem: view.cx.element_type(view.ty(concat.result())), parts })
}

fn replace<'b>(
    rw: &mut Rewriter<'b>,
    env: &mut ShapeEnv,
    op: Op,
    build: impl FnOnce(&mut GraphBuilder<'_, 'b>) -> Op,
) -> bool {
    rw.set_before(op);
    let loc = rw.body().loc(op);
    let mut g = GraphBuilder::new(rw, std::mem::take(env), loc);
    let new = build(&mut g);
    *env = std::mem::take(&mut g.env);
    let value = rw.body().result(new, 0);
    // A type may say a known size in more words, which a region that gets the value says too.
    let (before, now) = (rw.body().ty(rw.body().result(op, 0)), rw.body().ty(value));
    if before != now && symbolic_shape(rw.cx(), before) == symbolic_shape(rw.cx(), now) {
        rw.set_type(value, before);
    }
    rw.replace_op(op, &[value]);
    true
}

//! Where the dimensions of a product are found in what only moves its numbers.

use sutura_dialects::r#dyn::Poly;
use sutura_dialects::r#dyn::attr::symbolic_shape;
use sutura_dialects::graph::{ComputeForm, ReshapeOp, maps};
use sutura_ir::{Body, Context, OpRef, Value};

/// For each dimension of a tensor the dimensions of the product's result that it consists of, outermost first: none for one of size
/// 1; `None` where it is anything else.
pub(super) type Place = Vec<Option<Vec<usize>>>;

/// Those of the result itself.
pub(super) fn of_result(form: &ComputeForm<'_>) -> Option<Place> {
    let (cx, result) = (form.op.cx, form.op.results().next()?);
    if !maps::is_projection(cx, form.result_maps[0]) {
        return None;
    }
    let sizes = sizes(cx, form.op.body, result)?;
    Some(sizes.iter().enumerate().map(|(d, size)| Some(if is_one(size) { vec![] } else { vec![d] })).collect())
}

/// Those of what `op` makes, which reads the tensor with `place` as operand `input`; `None` for an op that does not only move its
/// numbers, or that puts others than 0 between them.
pub(super) fn behind(op: OpRef<'_>, input: usize, place: &Place) -> Option<Place> {
    let (from, to) = (sizes(op.cx, op.body, op.operand(input))?, sizes(op.cx, op.body, op.results().next()?)?);
    if op.is::<ReshapeOp<'_>>() {
        return (input == 0).then(|| reshaped(&from, &to, place));
    }
    let (cx, form) = (op.cx, ComputeForm::of(op)?);
    let copies = op.num_operands() == 1 && op.num_results() == 1 && !form.has_reduction();
    if !copies || form.yielded()?.operand(0) != form.body.args()[0] || !is_identity(&form) {
        return None;
    }
    if form.oob[0].is_some_and(|outside| cx.as_f64(outside) != Some(0.0)) {
        return None;
    }
    let read = cx.map_results(form.input_maps[0]);
    let source = |d: usize| read.iter().position(|expr| maps::plain_dim(cx, *expr) == Some(d));
    let found = |(d, size): (usize, &Option<Poly>)| {
        let source = source(d).filter(|source| size.is_some() && from[*source] == *size);
        source.map_or_else(|| is_one(size).then(Vec::new), |source| place[source].clone())
    };
    Some(to.iter().enumerate().map(found).collect())
}

/// True when iterators are the dimensions of the result.
fn is_identity(form: &ComputeForm<'_>) -> bool {
    let (cx, map) = (form.op.cx, form.result_maps[0]);
    let all = cx.map_results(map);
    all.len() == form.iterators.len() && all.iter().enumerate().all(|(d, expr)| maps::plain_dim(cx, *expr) == Some(d))
}

fn sizes(cx: &Context, body: &Body, tensor: Value) -> Option<Vec<Option<Poly>>> {
    Some(symbolic_shape(cx, body.ty(tensor))?.into_iter().collect())
}

fn is_one(size: &Option<Poly>) -> bool {
    size.as_ref().and_then(Poly::as_const) == Some(1)
}

/// Dimensions are compared from the outermost one on, as long as their products can be.
fn reshaped(from: &[Option<Poly>], to: &[Option<Poly>], place: &Place) -> Place {
    let mut made: Place = to.iter().map(|size| is_one(size).then(Vec::new)).collect();
    let real = |sizes: &[Option<Poly>]| (0..sizes.len()).filter(|d| !is_one(&sizes[*d])).collect::<Vec<usize>>();
    let (sources, targets) = (real(from), real(to));
    let (mut s, mut t) = (0, 0);
    while s < sources.len() && t < targets.len() {
        let Some((next_s, next_t)) = group((from, &sources), (to, &targets), (s, t)) else { break };
        if next_t == t + 1 {
            let parts: Option<Vec<Vec<usize>>> = sources[s..next_s].iter().map(|d| place[*d].clone()).collect();
            made[targets[t]] = parts.map(|parts| parts.concat());
        }
        (s, t) = (next_s, next_t);
    }
    made
}

/// Where the next dimensions begin, of both sides, before which as many elements lie.
fn group(
    (from, sources): (&[Option<Poly>], &[usize]),
    (to, targets): (&[Option<Poly>], &[usize]),
    (s, t): (usize, usize),
) -> Option<(usize, usize)> {
    let (mut a, mut b) = (from[sources[s]].clone()?, to[targets[t]].clone()?);
    let (mut s, mut t) = (s + 1, t + 1);
    while a != b {
        let grow_source = match (a.as_const(), b.as_const()) {
            (Some(a), Some(b)) => a < b,
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (None, None) => return None,
        };
        let (side, sizes, dims, at) =
            if grow_source { (&mut a, from, sources, &mut s) } else { (&mut b, to, targets, &mut t) };
        *side = side.mul(sizes[*dims.get(*at)?].as_ref()?);
        *at += 1;
    }
    Some((s, t))
}

//! What the verifier refuses.

use sutura_ir::affine::AffineExpr;
use sutura_ir::{Attr, Context, Type};

use super::super::build::{ComputeInput, ComputeResult, GraphBuilder};
use super::super::combine::Combiner;
use super::super::ops::{ConcatOp, GatherOp, ReshapeOp};
use super::super::structured::IteratorKind;
use super::{context, errors, module, tensor};

/// A copy of one tensor with these maps; the message of the only error.
fn refused(
    sizes: (&[&str], &[&str]),
    iterators: &[IteratorKind],
    maps: fn(&Context) -> (Vec<AffineExpr>, Vec<AffineExpr>),
    combiner: Option<Combiner>,
    oob: Option<fn(&Context) -> Attr>,
) -> String {
    let cx = context();
    let module = module(&cx, &[tensor(&cx, sizes.0, Type::F32)], |g, args| {
        let (read, written) = maps(g.cx());
        let inputs = vec![ComputeInput { value: args[0], index: read, oob: oob.map(|f| f(g.cx())) }];
        let shape = sizes.1.iter().map(|s| crate::r#dyn::Poly::parse(s).ok()).collect();
        let results = vec![ComputeResult { shape, elem: Type::F32, index: written, combiner }];
        let op = g.compute(iterators, inputs, results, |_, args| vec![args[0]]);
        Ok(vec![g.b.body().result(op, 0)])
    });
    errors(&cx, &module).remove(0)
}

const P: IteratorKind = IteratorKind::Parallel;
const R: IteratorKind = IteratorKind::Reduce;

#[test]
fn computes_must_fit() {
    let message = refused((&["N"], &["N"]), &[P, P], |cx| (vec![cx.affine_dim(0)], vec![cx.affine_dim(1)]), None, None);
    assert!(message.contains("leaves out the parallel iterator d0"), "{message}");
    let message = refused(
        (&["N"], &["N"]),
        &[R],
        |cx| (vec![cx.affine_dim(0)], vec![cx.affine_dim(0)]),
        Some(Combiner::Add),
        None,
    );
    assert!(message.contains("names the reduce iterator d0"), "{message}");
    let message = refused((&["N"], &["1"]), &[R], |cx| (vec![cx.affine_dim(0)], vec![cx.affine_const(0)]), None, None);
    assert!(message.contains("has 0 combiners, 1 are needed"), "{message}");
    let message = refused((&["3"], &["4"]), &[P], |cx| (vec![cx.affine_dim(0)], vec![cx.affine_dim(0)]), None, None);
    assert!(message.contains("iterator d0 runs over 3 and over 4"), "{message}");
    let message =
        refused((&["N"], &["N + 1"]), &[P], |cx| (vec![cx.affine_dim(0)], vec![cx.affine_dim(0)]), None, None);
    assert!(message.contains("iterator d0 runs over N and over N + 1"), "{message}");
    let message =
        refused((&["N"], &["2"]), &[P], |cx| (vec![cx.affine_const(0)], vec![cx.affine_const(0)]), None, None);
    assert!(message.contains("leaves out the parallel iterator d0"), "{message}");
}

#[test]
fn reads_outside_need_a_value() {
    use sutura_ir::affine::AffineOp::Add;
    let shifted = |cx: &Context| {
        let from = cx.affine_binary(Add, cx.affine_dim(0), cx.affine_const(-1));
        (vec![from], vec![cx.affine_dim(0)])
    };
    let message = refused((&["N"], &["N"]), &[P], shifted, None, None);
    assert!(message.contains("map of input 0 reads outside dimension 0"), "{message}");
    let plain = |cx: &Context| (vec![cx.affine_dim(0)], vec![cx.affine_dim(0)]);
    let message = refused((&["N"], &["N"]), &[P], plain, None, Some(|cx| cx.f32_attr(0.0)));
    assert!(message.contains("input 0 has an oob value but never reads outside"), "{message}");
    let message = refused((&["N"], &["N + 1"]), &[P], plain, None, Some(|cx| cx.f64_attr(0.0)));
    assert!(message.contains("must be a number of the input's element type"), "{message}");
}

/// The only error of one op over two arguments.
fn refused_op(
    types: (&[&str], &[&str]),
    build: impl FnOnce(&mut GraphBuilder<'_, '_>, &[sutura_ir::Value]) -> sutura_ir::Op,
) -> String {
    let cx = context();
    let types = [tensor(&cx, types.0, Type::F32), tensor(&cx, types.1, Type::I64)];
    let module = module(&cx, &types, |g, args| {
        let op = build(g, args);
        Ok(vec![g.b.body().result(op, 0)])
    });
    errors(&cx, &module).remove(0)
}

#[test]
fn sizes_of_concatenations_and_gathers_follow() {
    let (loc, ty) =
        (sutura_ir::Loc::UNKNOWN, |g: &GraphBuilder<'_, '_>, sizes: &[&str]| tensor(g.cx(), sizes, Type::F32));
    let message = refused_op((&["3", "N"], &["2"]), |g, a| {
        let to = ty(g, &["7", "N"]);
        ConcatOp::build(g.b, loc, &[a[0], a[0]], 0, to)
    });
    assert!(message.contains("dimension 0 of result must have size 6, not 7"), "{message}");
    let message = refused_op((&["3", "N"], &["2"]), |g, a| {
        let to = ty(g, &["3", "N"]);
        GatherOp::build(g.b, loc, a[0], a[1], 0, to)
    });
    assert!(message.contains("dimension 0 of result must have size 2, not 3"), "{message}");
    let message = refused_op((&["3", "4"], &["2"]), |g, a| {
        let to = ty(g, &["?", "?"]);
        ReshapeOp::build(g.b, loc, a[0], None, false, to)
    });
    assert!(message.contains("may leave at most one size open"), "{message}");
}

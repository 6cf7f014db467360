//! Whatever schedule the search takes means the same.

use sutura_dialects::r#dyn::SymbolInfo;
use sutura_dialects::func::FuncOp;
use sutura_dialects::graph::build::{Built, ComputeInput, ComputeResult, GraphBuilder};
use sutura_dialects::graph::{Combiner, FusionOp, IteratorKind};
use sutura_ir::affine::AffineOp;
use sutura_ir::pass::PassOptions;
use sutura_ir::{Context, Module, Op, OpRef, Rewriter, Type, Value};

use super::agree_on_all_levels;
use crate::graph_to_gir::region::FusedRegion;
use crate::graph_to_gir::rules::rows::Thresholds;
use crate::graph_to_gir::rules::variant::Variant;
use crate::graph_to_gir::search::{axes, lowered};
use crate::graph_to_gir::{CONVERT_GRAPH_TO_GIR, from_options};
use crate::testing::{any, context, copy, function, run, tensor, text};

/// Kernels of a product, without the machine's description.
fn searched(machine: &str, columns: &str) -> String {
    let cx = context();
    let (a, b) = (tensor(&cx, &["M", "7"], Type::F32), tensor(&cx, &["7", columns], Type::F32));
    let before = function(&cx, &[("M", any())], &[a, b], |g, args| Ok(vec![g.matmul(args[0], args[1])?]));
    let mut after = copy(&cx, &before);
    let pipeline = format!(
        "builtin.module(attach-target{{name={machine}}},func.func(canonicalize,stitch),convert-graph-to-gir{{search=predict}})"
    );
    run(&cx, &mut after, &pipeline).unwrap_or_else(|e| panic!("{e:?}\n{}", text(&cx, &after)));
    agree_on_all_levels(&cx, &before, &after, &[&[("M", 3)], &[("M", 13)], &[("M", 0)]]);
    let out = text(&cx, &after);
    out.split_once("gir.kernel").expect("there are kernels").1.to_owned()
}

#[test]
fn the_tile_that_wastes_least_is_taken() {
    // Of two panels of 32 columns a quarter would be computed in vain, of four of 16 nothing is saved.
    for (columns, taken, other) in [("48", "[12, 16]", "[12, 32]"), ("64", "[12, 32]", "[12, 16]")] {
        let kernels = searched("x86_avx512", columns);
        let tile = |extents: &str| format!("gir.tile<vec, f32, {extents}>");
        assert!(kernels.contains(&tile(taken)) && !kernels.contains(&tile(other)), "{kernels}");
    }
}

/// A program of one region by all schedules that its rule can write, with its functions as they were; and their names.
fn scheduled_in_all_ways(cx: &Context, before: &Module, sizes: &[&[(&str, i64)]]) -> Vec<String> {
    let mut stitched = copy(cx, before);
    let said = run(cx, &mut stitched, "builtin.module(attach-target{name=x86_avx2},func.func(canonicalize,stitch))");
    said.unwrap_or_else(|e| panic!("{e:?}"));
    let body = stitched.body();
    let ops: Vec<Op> = body.entry_block().into_iter().flat_map(|block| body.ops(block)).collect();
    let function = ops.into_iter().find(|op| OpRef::new(cx, body, *op).is::<FuncOp<'_>>()).unwrap();
    let entry = OpRef::new(cx, body, function).region(0).and_then(|r| r.entry()).unwrap();
    let fusion = entry.ops().find(|op| op.is::<FusionOp<'_>>()).unwrap();
    let mut pass = from_options(&PassOptions::new(CONVERT_GRAPH_TO_GIR.options));
    pass.thresholds = Thresholds { resident: 20, parts: 4, part_rows: 2, ..pass.thresholds };
    let config = pass.config(cx, body).unwrap();
    let region = FusedRegion::read(fusion, &config.machine).unwrap_or_else(|e| panic!("{e:?}"));
    let axes = axes(&region, &config);
    let (variants, count) = Variant::all(&axes, 96);
    assert_eq!(variants.len(), count);
    let schedule = |variant: &Variant| {
        let (_, lowered) = lowered(&region, &config, variant).unwrap_or_else(|e| panic!("{variant}: {e:?}"));
        (variant.to_string(), lowered.schedule.expect("its rule writes one"))
    };
    let schedules: Vec<_> = variants.iter().map(schedule).collect();
    let fusion = fusion.op;
    for (name, schedule) in &schedules {
        let inside = stitched.body_mut().nested_mut(function).unwrap();
        Rewriter::new(cx, inside).set_prop(fusion, "schedule", Some(cx.ext_attr(schedule.clone())));
        let mut after = copy(cx, &stitched);
        run(cx, &mut after, "builtin.module(convert-graph-to-gir)").unwrap_or_else(|e| panic!("{name}: {e:?}"));
        agree_on_all_levels(cx, before, &after, sizes);
    }
    schedules.into_iter().map(|(name, _)| name).collect()
}

/// True when there are such settings of that name.
fn has(ways: &[String], names: &[&str]) {
    for name in names {
        assert!(ways.iter().any(|way| way.contains(&format!("{name}="))), "{name}: {ways:?}");
    }
}

#[test]
fn rows_mean_the_same_by_every_schedule() {
    let cx = context();
    let x = tensor(&cx, &["M", "N"], Type::F32);
    let symbols = || [("M", SymbolInfo { min: 1, ..any() }), ("N", any())];
    let of = |build: &dyn Fn(&mut GraphBuilder<'_, '_>, Value) -> Built| {
        function(&cx, &symbols(), &[x], |g, args| Ok(vec![build(g, args[0])?]))
    };
    let elementwise = of(&|g, x| g.map(x, |s, a| s.mul(a, a)));
    let ways = scheduled_in_all_ways(&cx, &elementwise, &[&[("M", 3), ("N", 1025)], &[("M", 1), ("N", 0)]]);
    has(&ways, &["columns"]);
    let softmax = of(&|g, x| g.softmax(x, 1));
    has(
        &scheduled_in_all_ways(&cx, &softmax, &[&[("M", 3), ("N", 4)], &[("M", 2), ("N", 19)], &[("M", 2), ("N", 81)]]),
        &["resident"],
    );
    let weights = tensor(&cx, &["N"], Type::F32);
    let scaled = function(&cx, &symbols(), &[x, weights], |g, args| {
        let normal = g.softmax(args[0], 1)?;
        Ok(vec![g.zip(normal, args[1], |s, a, b| s.mul(a, b))?])
    });
    let sizes: [&[(&str, i64)]; 4] =
        [&[("M", 3), ("N", 4)], &[("M", 81), ("N", 5)], &[("M", 67), ("N", 19)], &[("M", 3), ("N", 81)]];
    has(&scheduled_in_all_ways(&cx, &scaled, &sizes), &["rows", "resident"]);
    let columns = of(&|g, x| g.mean(x, &[0], false));
    let ways = scheduled_in_all_ways(&cx, &columns, &[&[("M", 37), ("N", 19)], &[("M", 3), ("N", 33)]]);
    has(&ways, &["columns", "parts"]);
    let turned = of(&|g, x| g.transpose(x, &[1, 0]));
    has(&scheduled_in_all_ways(&cx, &turned, &[&[("M", 19), ("N", 35)], &[("M", 1), ("N", 5)]]), &["block"]);
}

#[test]
fn loops_mean_the_same_by_every_schedule() {
    let cx = context();
    let x = tensor(&cx, &["B", "2", "H", "H"], Type::F32);
    let symbols = [("B", any()), ("H", SymbolInfo { min: 4, ..any() })];
    let places = tensor(&cx, &["3", "3"], Type::F32);
    // Two windows move over one tensor, one of them turned.
    let module = function(&cx, &symbols, &[x, places], |g, args| {
        let sum = |a: u32, b: u32| cx.affine_binary(AffineOp::Add, cx.affine_dim(a), cx.affine_dim(b));
        let (batch, channel) = (cx.affine_dim(0), cx.affine_dim(1));
        let read = |value, index| ComputeInput { value, index, oob: None };
        let inputs = vec![
            read(args[0], vec![batch, channel, sum(2, 4), sum(3, 5)]),
            read(args[0], vec![batch, channel, sum(2, 5), sum(3, 4)]),
            read(args[1], vec![cx.affine_dim(4), cx.affine_dim(5)]),
        ];
        let mut shape = g.shape(args[0]);
        shape[2..].iter_mut().flatten().for_each(|size| *size = size.sub(&2.into()));
        let index = (0..4).map(|d| cx.affine_dim(d)).collect();
        let result = ComputeResult { shape, elem: Type::F32, index, combiner: Some(Combiner::Max) };
        let kinds = [[IteratorKind::Parallel; 4].as_slice(), &[IteratorKind::Reduce; 2]].concat();
        let op = g.compute(&kinds, inputs, vec![result], |s, args| {
            let both = s.mul(args[0], args[1]);
            vec![s.add(both, args[2])]
        });
        Ok(vec![g.b.body().result(op, 0)])
    });
    let sizes = [(1, 4), (1, 35), (0, 5)].map(|(b, h)| [("B", b), ("H", h)]);
    has(&scheduled_in_all_ways(&cx, &module, &sizes.each_ref().map(|s| &s[..])), &["columns", "inner"]);
}

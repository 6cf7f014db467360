//! Passes keep the meaning: a program before and after them gives the same results on random inputs.

use sutura_dialects::text::parse_text;
use sutura_interp::equivalence::{Trials, equivalent};
use sutura_ir::pass::{RunConfig, parse_pipeline, run_pipeline};
use sutura_ir::{Context, Diagnostics, Type};

#[test]
fn lowering_keeps_the_meaning() {
    let cx = Context::new(standalone_dialect::registry());
    // Doubling often enough reaches the ends of the range.
    let text = "func.func @main(%x: i8, %y: i8) -> (i8, i8) {
        %0 = sat.add %x, %x : i8
        %1 = sat.add %0, %0 : i8
        %2 = sat.add %1, %1 : i8
        %3 = sat.add %2, %2 : i8
        %4 = sat.add %3, %3 : i8
        %5 = sat.add %4, %y : i8
        return %4, %5 : i8, i8
    }";
    let before = parse_text(&cx, "main.mlir", text).expect("a program");
    let mut after = parse_text(&cx, "main.mlir", text).expect("a program");
    let pipeline = "builtin.module(lower-sat)";
    let passes = standalone_dialect::passes();
    let mut manager = parse_pipeline(&cx, &passes, "test", pipeline, &mut Diagnostics::default()).expect("a pipeline");
    run_pipeline(&cx, &mut after, &mut manager, &RunConfig::default(), &mut |_| {}).1.expect("the pass runs");
    let seeds: Vec<u64> = (0..64).collect();
    let no_sizes = |_: &Context, _: usize, _: Type| None;
    let agreement = equivalent(&cx, &before, &after, "main", Trials::new(&seeds, &no_sizes)).expect("the same results");
    assert_eq!(agreement.compared, seeds.len());
}

/// The op on tensors, between others, is compiled to a kernel, which computes the same.
#[test]
fn kernels_keep_the_meaning_of_a_form() {
    kernels_keep_the_meaning("builtin.module(func.func(stitch),convert-graph-to-gir)");
}

/// So do those of the schedules that this crate's rule writes.
#[test]
fn schedules_of_a_rule_keep_the_meaning() {
    kernels_keep_the_meaning("builtin.module(func.func(stitch,four-rows),convert-graph-to-gir)");
}

fn kernels_keep_the_meaning(pipeline: &str) {
    let cx = Context::new(standalone_dialect::registry());
    let text = "#rows = affine_map<(d0, d1) -> (d0, d1)>
        !x = tensor<7x20xf32>
        func.func @main(%x: !x, %y: !x) -> !x {
          %0 = graph.compute ins(%x, %y : !x, !x) -> !x
              {iterators = #graph.iterators<[parallel, parallel]>, maps = [#rows, #rows, #rows]} {
          ^bb0(%a: f32, %b: f32):
            %s = arith.addf %a, %b : f32
            graph.yield %s : f32
          }
          %1 = sat.flip %0 : !x
          %2 = graph.compute ins(%1, %y : !x, !x) -> !x
              {iterators = #graph.iterators<[parallel, parallel]>, maps = [#rows, #rows, #rows]} {
          ^bb0(%a: f32, %b: f32):
            %s = arith.mulf %a, %b : f32
            graph.yield %s : f32
          }
          return %2 : !x
        }";
    let before = parse_text(&cx, "main.mlir", text).expect("a program");
    let mut after = parse_text(&cx, "main.mlir", text).expect("a program");
    let passes = standalone_dialect::passes();
    let mut manager = parse_pipeline(&cx, &passes, "test", pipeline, &mut Diagnostics::default()).expect("a pipeline");
    run_pipeline(&cx, &mut after, &mut manager, &RunConfig::default(), &mut |_| {}).1.expect("the passes run");
    let seeds: Vec<u64> = (0..8).collect();
    let no_sizes = |_: &Context, _: usize, _: Type| None;
    let agreement = equivalent(&cx, &before, &after, "main", Trials::new(&seeds, &no_sizes)).expect("the same results");
    assert_eq!(agreement.compared, seeds.len());
}

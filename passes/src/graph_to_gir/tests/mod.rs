//! Regions and the kernels they become mean the same, at sizes of all kinds.

mod attention;
mod contract;
mod convolution;
mod divide;
mod gather;
mod loops;
mod moves;
mod places;
mod plans;
mod prologue;
mod reductions;
mod rows;
mod scatter;
mod search;
mod traces;

use sutura_ir::{Context, Module};

use crate::testing::{assert_equivalent, copy, run, text};

const PIPELINE: &str = "builtin.module(func.func(canonicalize,stitch),convert-graph-to-gir)";

/// Lowers, counts kernels and compares at several sizes. Returns the text.
fn check(cx: &Context, before: &Module, kernels: usize, sizes: &[&[(&str, i64)]]) -> String {
    check_with(cx, before, PIPELINE, kernels, sizes)
}

/// The same by another pipeline.
fn check_with(cx: &Context, before: &Module, pipeline: &str, kernels: usize, sizes: &[&[(&str, i64)]]) -> String {
    let mut after = copy(cx, before);
    let said = run(cx, &mut after, pipeline).unwrap_or_else(|e| panic!("{e:?}\n{}", text(cx, &after)));
    let out = text(cx, &after);
    assert_eq!(out.matches("gir.kernel").count(), kernels, "{said:?}\n{out}");
    agree_on_all_levels(cx, before, &after, sizes);
    out
}

/// Compares with the kernels, and with the functions on a CPU that they become.
fn agree_on_all_levels(cx: &Context, before: &Module, after: &Module, sizes: &[&[(&str, i64)]]) {
    let mut lowered = copy(cx, after);
    let said = run(cx, &mut lowered, "builtin.module(plan-buffers,convert-gir-to-cpu{vector-bytes=32})");
    said.unwrap_or_else(|e| panic!("{e:?}\n{}", text(cx, &lowered)));
    for symbols in sizes {
        assert_equivalent(cx, before, after, symbols);
        assert_equivalent(cx, before, &lowered, symbols);
    }
}

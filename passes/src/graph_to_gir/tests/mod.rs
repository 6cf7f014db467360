//! Regions and the kernels they become mean the same, at sizes of all kinds.

mod contract;
mod loops;
mod rows;

use sutura_ir::{Context, Module};

use crate::testing::{assert_equivalent, copy, run, text};

const PIPELINE: &str = "builtin.module(func.func(canonicalize,stitch),convert-graph-to-gir)";

/// Lowers, counts kernels and compares at several sizes. Returns the text.
fn check(cx: &Context, before: &Module, kernels: usize, sizes: &[&[(&str, i64)]]) -> String {
    let mut after = copy(cx, before);
    let said = run(cx, &mut after, PIPELINE).unwrap_or_else(|e| panic!("{e:?}\n{}", text(cx, &after)));
    let out = text(cx, &after);
    assert_eq!(out.matches("gir.kernel").count(), kernels, "{said:?}\n{out}");
    for symbols in sizes {
        assert_equivalent(cx, before, &after, symbols);
    }
    out
}

//! Row regions.

use sutura_dialects::r#dyn::SymbolInfo;
use sutura_ir::{Context, Module, Type};

use crate::testing::{any, assert_equivalent, context, copy, function, run, tensor, text};

const PIPELINE: &str = "builtin.module(func.func(stitch),convert-graph-to-gir)";

/// Lowers and compares at several sizes of `M` and `N`.
fn check(cx: &Context, before: &Module, kernels: usize) -> String {
    let mut after = copy(cx, before);
    let said = run(cx, &mut after, PIPELINE).unwrap_or_else(|e| panic!("{e:?}\n{}", text(cx, &after)));
    let out = text(cx, &after);
    assert_eq!(out.matches("gir.kernel").count(), kernels, "{said:?}\n{out}");
    for (m, n) in [(3, 17), (1, 1), (0, 5), (4, 0), (2, 64), (5, 33)] {
        assert_equivalent(cx, before, &after, &[("M", m), ("N", n)]);
    }
    out
}

#[test]
fn softmax_is_one_kernel_in_two_versions() {
    let cx = context();
    let x = tensor(&cx, &["M", "N"], Type::F32);
    let module = function(&cx, &[("M", any()), ("N", any())], &[x], |g, args| Ok(vec![g.softmax(args[0], &[1])]));
    let out = check(&cx, &module, 2);
    assert!(out.contains("select if [-N + 16384]"), "{out}");
}

#[test]
fn short_rows_need_one_version() {
    let cx = context();
    let x = tensor(&cx, &["M", "N"], Type::F32);
    let short = SymbolInfo { max: 4096, ..any() };
    let module = function(&cx, &[("M", any()), ("N", short)], &[x], |g, args| Ok(vec![g.softmax(args[0], &[1])]));
    check(&cx, &module, 1);
}

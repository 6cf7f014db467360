//! Products whose factors are made in the kernel that multiplies them.

use sutura_dialects::r#dyn::SymbolInfo;
use sutura_dialects::graph::build::GraphBuilder;
use sutura_dialects::graph::build::scalar::Comparison;
use sutura_ir::{Context, Module, Type, Value};

use super::{check, check_with};
use crate::testing::{any, context, function, tensor};

const SIZES: &[&[(&str, i64)]] =
    &[&[("M", 1)], &[("M", 12)], &[("M", 13)], &[("M", 0)], &[("M", 48)], &[("M", 61)], &[("M", 4)]];

/// Several thousand rows are likely.
fn many() -> SymbolInfo {
    SymbolInfo { likely: vec![4096], ..any() }
}

/// `make(x) . w` with `[M, 20]` and `[20, columns]`, and a vector of 20 numbers.
fn left(cx: &Context, columns: &str, make: impl Fn(&mut GraphBuilder<'_, '_>, Value, Value) -> Value) -> Module {
    let (x, w) = (tensor(cx, &["M", "20"], Type::F32), tensor(cx, &["20", columns], Type::F32));
    function(cx, &[("M", many())], &[x, w, tensor(cx, &["20"], Type::F32)], |g, args| {
        let factor = make(g, args[0], args[2]);
        Ok(vec![g.matmul(factor, args[1])?])
    })
}

/// All that fits, whether or not it pays at these sizes.
const ALL: &str = "builtin.module(func.func(canonicalize,stitch{planner=greedy}),convert-graph-to-gir)";

/// Of so many kernels one makes its left factor near.
fn stitched(cx: &Context, module: &Module, kernels: usize, sizes: &[&[(&str, i64)]]) -> String {
    let out = check_with(cx, module, ALL, kernels, sizes);
    assert!(out.contains("gir.alloc"), "{out}");
    out
}

#[test]
fn bias_and_activation_before_a_product() {
    let cx = context();
    // One panel, several that a group runs through, and parts for which rows are made anew.
    for (columns, kernels) in [("5", 2), ("70", 2), ("1600", 1)] {
        let module = left(&cx, columns, |g, x, bias| {
            let sum = g.zip(x, bias, |s, a, b| s.add(a, b)).expect("sizes agree");
            g.gelu(sum, false).expect("numbers")
        });
        stitched(&cx, &module, kernels, SIZES);
    }
}

#[test]
fn rows_are_normalised_before_a_product() {
    let cx = context();
    let norm = left(&cx, "40", |g, x, scale| g.layer_norm(x, 1, scale, Some(scale), 1e-5).expect("sizes agree"));
    stitched(&cx, &norm, 2, SIZES);
    let norm = left(&cx, "40", |g, x, scale| g.rms_norm(x, 1, scale, 1e-5).expect("sizes agree"));
    stitched(&cx, &norm, 2, SIZES);
    let softmax = left(&cx, "40", |g, x, _| g.softmax(x, 1).expect("sizes agree"));
    stitched(&cx, &softmax, 2, SIZES);
}

#[test]
fn a_prologue_and_an_epilogue() {
    let cx = context();
    let (x, w) = (tensor(&cx, &["B", "S", "20"], Type::F32), tensor(&cx, &["20", "36"], Type::F32));
    let residual = tensor(&cx, &["B", "S", "36"], Type::F32);
    let module = function(&cx, &[("B", any()), ("S", any())], &[x, w, residual], |g, args| {
        let factor = g.map(args[0], |s, x| s.math("math.tanh", x))?;
        let product = g.matmul(factor, args[1])?;
        let sum = g.zip(product, args[2], |s, a, b| s.add(a, b))?;
        Ok(vec![g.sigmoid(sum)?])
    });
    let sizes: &[&[(&str, i64)]] =
        &[&[("B", 2), ("S", 17)], &[("B", 1), ("S", 1)], &[("B", 0), ("S", 3)], &[("B", 5), ("S", 12)]];
    let out = stitched(&cx, &module, 2, sizes);
    assert!(out.contains("B*S"), "{out}");
}

#[test]
fn transposed_and_masked_factors() {
    let cx = context();
    let (x, w) = (tensor(&cx, &["20", "M"], Type::F32), tensor(&cx, &["20", "33"], Type::F32));
    let module = function(&cx, &[("M", many())], &[x, w], |g, args| {
        let turned = g.transpose(args[0], &[1, 0])?;
        let factor = g.map(turned, |s, x| {
            let (row, column, zero) = (s.index(0), s.index(1), s.number(0.0, Type::F32));
            let below = s.compare(Comparison::Less, column, row);
            s.select(below, x, zero)
        })?;
        Ok(vec![g.matmul(factor, args[1])?])
    });
    stitched(&cx, &module, 2, SIZES);
}

#[test]
fn quantised_activations_and_weights() {
    let cx = context();
    let (x, w) = (tensor(&cx, &["M", "20"], Type::I8), tensor(&cx, &["20", "33"], Type::I8));
    let module = function(&cx, &[("M", many())], &[x, w], |g, args| {
        let dequantised = |g: &mut GraphBuilder<'_, '_>, q: Value, scale: f64, zero: f64| {
            let numbers = g.cast(q, Type::F32)?;
            g.map(numbers, |s, x| {
                let (scale, zero) = (s.number(scale, Type::F32), s.number(zero, Type::F32));
                let number = s.sub(x, zero);
                s.mul(number, scale)
            })
        };
        let (a, b) = (dequantised(g, args[0], 0.5, 3.0)?, dequantised(g, args[1], 0.25, -2.0)?);
        Ok(vec![g.matmul(a, b)?])
    });
    let out = stitched(&cx, &module, 2, SIZES);
    assert!(!out.contains("rt.buffer<f32, [M, 20]>"), "{out}");
}

#[test]
fn a_right_factor_of_unknown_size_is_made_where_it_is_packed() {
    let cx = context();
    let (a, b) = (tensor(&cx, &["M", "K"], Type::F32), tensor(&cx, &["K", "N"], Type::F32));
    let module = function(&cx, &[("M", any()), ("N", any()), ("K", any())], &[a, b], |g, args| {
        let factor = g.gelu(args[1], true)?;
        Ok(vec![g.matmul(args[0], factor)?])
    });
    let sizes: &[&[(&str, i64)]] = &[
        &[("M", 13), ("N", 33), ("K", 7)],
        &[("M", 1), ("N", 1), ("K", 1)],
        &[("M", 12), ("N", 32), ("K", 0)],
        &[("M", 3), ("N", 0), ("K", 2)],
    ];
    check(&cx, &module, 2, sizes);
}

#[test]
fn rows_of_a_bounded_unknown_length() {
    let cx = context();
    let (a, b) = (tensor(&cx, &["2", "M", "K"], Type::F32), tensor(&cx, &["2", "K", "N"], Type::F32));
    let bounded = SymbolInfo { max: 300, ..any() };
    let module = function(&cx, &[("M", many()), ("N", any()), ("K", bounded)], &[a, b], |g, args| {
        let factor = g.softmax(args[0], 2)?;
        Ok(vec![g.matmul(factor, args[1])?])
    });
    let sizes: &[&[(&str, i64)]] = &[
        &[("M", 13), ("N", 33), ("K", 7)],
        &[("M", 1), ("N", 1), ("K", 1)],
        &[("M", 50), ("N", 70), ("K", 100)],
        &[("M", 3), ("N", 0), ("K", 2)],
    ];
    stitched(&cx, &module, 2, sizes);
}

/// Few rows need no version of their own: a group makes those that exist, and its tile takes the time of them.
#[test]
fn few_rows_have_no_version() {
    let cx = context();
    let module = left(&cx, "96", |g, x, _| g.gelu(x, false).expect("numbers"));
    let machine = ALL.replace("(func", "(attach-target{name=x86_avx512},func");
    let out = check_with(&cx, &module, &machine, 1, SIZES);
    assert!(!out.contains("select if") && out.contains("gir.view<l1, f32, [48, 20]>"), "{out}");
}

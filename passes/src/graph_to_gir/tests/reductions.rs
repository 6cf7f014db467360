//! Combinations along several dims, along columns, along rows and columns at once.

use sutura_dialects::r#dyn::SymbolInfo;
use sutura_dialects::graph::Combiner;
use sutura_dialects::graph::build::GraphBuilder;
use sutura_ir::{Context, Module, Type, Value};

use super::agree_on_all_levels;
use crate::testing::{any, context, copy, function, run, tensor, text};

/// Everything, with parts of so few rows and rows so short that every version runs at small sizes.
const SMALL: &str =
    "builtin.module(func.func(canonicalize,stitch),convert-graph-to-gir{parts=3 part-rows=2 resident-columns=20})";

fn check(cx: &Context, before: &Module, regions: usize, sizes: &[(i64, i64)]) -> String {
    let mut stitched = copy(cx, before);
    run(cx, &mut stitched, "builtin.module(func.func(canonicalize,stitch))").unwrap_or_else(|e| panic!("{e:?}"));
    let plan = text(cx, &stitched);
    assert_eq!(plan.matches("graph.fusion").count(), regions, "{plan}");
    let mut after = copy(cx, before);
    run(cx, &mut after, SMALL).unwrap_or_else(|e| panic!("{e:?}\n{}", text(cx, &after)));
    for (m, n) in sizes {
        agree_on_all_levels(cx, before, &after, &[&[("M", *m), ("N", *n)]]);
    }
    text(cx, &after)
}

const SIZES: &[(i64, i64)] = &[(1, 1), (2, 3), (6, 17), (7, 20), (13, 33), (3, 0)];

/// Mean and variance along `axes`, kept as sizes of 1.
fn moments(g: &mut GraphBuilder<'_, '_>, x: Value, axes: &[usize]) -> Result<(Value, Value, Value), String> {
    let mean = g.mean(x, axes, true).map_err(|e| format!("{e:?}"))?;
    let centered = g.zip(x, mean, |s, a, b| s.sub(a, b)).map_err(|e| format!("{e:?}"))?;
    let squares = g.map(centered, |s, a| s.mul(a, a)).map_err(|e| format!("{e:?}"))?;
    Ok((mean, g.mean(squares, axes, true).map_err(|e| format!("{e:?}"))?, centered))
}

fn at_least_one() -> SymbolInfo {
    SymbolInfo { min: 1, ..any() }
}

#[test]
fn statistics_of_columns_are_one_region() {
    let cx = context();
    let x = tensor(&cx, &["M", "N"], Type::F32);
    let module = function(&cx, &[("M", at_least_one()), ("N", any())], &[x], |g, args| {
        let (mean, variance, _) = moments(g, args[0], &[0]).expect("built");
        Ok(vec![mean, variance])
    });
    let out = check(&cx, &module, 1, SIZES);
    assert!(out.contains("select if"), "{out}");
}

#[test]
fn norm_of_columns_is_one_region() {
    let cx = context();
    let x = tensor(&cx, &["M", "N"], Type::F32);
    let module = function(&cx, &[("M", at_least_one()), ("N", any())], &[x], |g, args| {
        let (_, variance, centered) = moments(g, args[0], &[0]).expect("built");
        Ok(vec![g.zip(centered, variance, |s, a, b| {
            let one = s.number(1.0, Type::F32);
            let b = s.add(b, one);
            s.div(a, b)
        })?])
    });
    check(&cx, &module, 1, SIZES);
}

#[test]
fn softmax_along_the_middle_is_one_region() {
    let cx = context();
    let x = tensor(&cx, &["2", "M", "N"], Type::F32);
    let module = function(&cx, &[("M", any()), ("N", any())], &[x], |g, args| Ok(vec![g.softmax(args[0], 1)?]));
    check(&cx, &module, 1, SIZES);
}

#[test]
fn group_norm_is_one_kernel() {
    let cx = context();
    let x = tensor(&cx, &["2", "3", "M", "5", "N"], Type::F32);
    let scale = tensor(&cx, &["3", "M", "1", "1"], Type::F32);
    let module = function(&cx, &[("M", at_least_one()), ("N", at_least_one())], &[x, scale], |g, args| {
        let (_, variance, centered) = moments(g, args[0], &[2, 3, 4]).expect("built");
        let normal = g.zip(centered, variance, |s, a, b| {
            let one = s.number(1.0, Type::F32);
            let b = s.add(b, one);
            s.div(a, b)
        })?;
        let scaled = g.zip(normal, args[1], |s, a, b| s.mul(a, b))?;
        Ok(vec![scaled])
    });
    let out = check(&cx, &module, 1, &SIZES.iter().copied().filter(|s| s.1 > 0).collect::<Vec<_>>());
    assert!(!out.contains("alloc : !rt.buffer"), "{out}");
}

#[test]
fn pooling_over_images_is_one_kernel() {
    let cx = context();
    let x = tensor(&cx, &["2", "M", "3", "N"], Type::F32);
    let module = function(&cx, &[("M", at_least_one()), ("N", any())], &[x], |g, args| {
        let mean = g.mean(args[0], &[1, 2], false)?;
        Ok(vec![g.map(mean, |s, a| s.neg(a))?])
    });
    check(&cx, &module, 1, SIZES);
}

#[test]
fn layer_norm_backward_is_one_region() {
    let cx = context();
    let (x, gain) = (tensor(&cx, &["M", "N"], Type::F32), tensor(&cx, &["N"], Type::F32));
    let module = function(&cx, &[("M", any()), ("N", at_least_one())], &[x, x, gain], |g, args| {
        let (d, x) = (args[0], args[1]);
        let (_, variance, centered) = moments(g, x, &[1]).expect("built");
        let inverse = g.map(variance, |s, v| {
            let one = s.number(1.0, Type::F32);
            let v = s.add(v, one);
            s.reciprocal(v)
        })?;
        let normal = g.zip(centered, inverse, |s, a, b| s.mul(a, b))?;
        let dn = g.zip(d, args[2], |s, a, b| s.mul(a, b))?;
        let m1 = g.mean(dn, &[1], true)?;
        let both = g.zip(dn, normal, |s, a, b| s.mul(a, b))?;
        let m2 = g.mean(both, &[1], true)?;
        let lean = g.zip(normal, m2, |s, a, b| s.mul(a, b))?;
        let flat = g.zip(dn, m1, |s, a, b| s.sub(a, b))?;
        let rest = g.zip(flat, lean, |s, a, b| s.sub(a, b))?;
        let dx = g.zip(rest, inverse, |s, a, b| s.mul(a, b))?;
        let scaled = g.zip(d, normal, |s, a, b| s.mul(a, b))?;
        let dgain = g.reduce(scaled, &[0], true, Combiner::Add, Type::F32, |_, x| x);
        let dbias = g.reduce(d, &[0], true, Combiner::Add, Type::F32, |_, x| x);
        Ok(vec![dx, dgain, dbias])
    });
    let sizes: Vec<_> = SIZES.iter().copied().filter(|s| s.1 > 0).chain([(0, 3)]).collect();
    // The bias shares an input, and no value, with the rest.
    let out = check(&cx, &module, 1, &sizes);
    assert!(out.matches("}, {").count() >= 2, "three versions: {out}");
}

#[test]
fn extremes_of_everything_are_one_region() {
    let cx = context();
    let x = tensor(&cx, &["M", "N"], Type::F32);
    let module = function(&cx, &[("M", at_least_one()), ("N", at_least_one())], &[x], |g, args| {
        let high = g.reduce(args[0], &[0, 1], true, Combiner::Max, Type::F32, |_, x| x);
        let low = g.reduce(args[0], &[0, 1], true, Combiner::Min, Type::F32, |_, x| x);
        let span = g.zip(high, low, |s, a, b| s.sub(a, b))?;
        Ok(vec![g.zip(args[0], span, |s, a, b| s.mul(a, b))?, high])
    });
    check(&cx, &module, 1, &SIZES.iter().copied().filter(|s| s.1 > 0).collect::<Vec<_>>());
}

/// Sizes about the widths of tiles of 16, 64 and 128 columns.
const WIDTHS: &[i64] = &[0, 1, 15, 16, 17, 47, 48, 49, 64, 65, 127, 128, 129, 300];

#[test]
fn statistics_of_any_number_of_columns() {
    let cx = context();
    let x = tensor(&cx, &["M", "N"], Type::F32);
    let module = function(&cx, &[("M", at_least_one()), ("N", any())], &[x], |g, args| {
        let (mean, variance, _) = moments(g, args[0], &[0]).expect("built");
        Ok(vec![mean, variance])
    });
    let few_rows = [1, 5].into_iter().flat_map(|m| WIDTHS.iter().map(move |n| (m, *n)));
    let sizes: Vec<_> = few_rows.chain([(1, 100_000), (1000, 16), (1000, 17), (1000, 48), (1000, 65)]).collect();
    let out = check(&cx, &module, 1, &sizes);
    let guards = "select if [M - 6, -N + 16], [-N + 16], [M - 6, -N + 64], [-N + 64], [M - 6] {";
    assert!(out.contains(guards), "{out}");
}

#[test]
fn sums_of_no_rows() {
    let cx = context();
    let x = tensor(&cx, &["M", "N"], Type::F32);
    let module = function(&cx, &[("M", any()), ("N", any())], &[x], |g, args| {
        let sum = g.reduce(args[0], &[0], true, Combiner::Add, Type::F32, |_, x| x);
        let high = g.reduce(args[0], &[0], true, Combiner::Max, Type::F32, |_, x| x);
        Ok(vec![g.zip(sum, high, |s, a, b| s.max(a, b))?])
    });
    check(&cx, &module, 1, &WIDTHS.iter().map(|n| (0, *n)).chain([(6, 48)]).collect::<Vec<_>>());
}

#[test]
fn widths_that_no_size_takes_are_not_made() {
    let cx = context();
    let x = tensor(&cx, &["M", "N"], Type::F32);
    for (range, widths, sizes) in [
        ((0, 16), &[16][..], &[(7, 0), (7, 15), (7, 16)][..]),
        ((0, 17), &[16, 64], &[(7, 16), (2, 17)]),
        ((17, 64), &[64], &[(7, 17), (2, 48), (7, 64)]),
        ((17, 65), &[64, 128], &[(7, 17), (2, 48), (7, 65)]),
        ((65, 1000), &[128], &[(7, 65), (2, 128), (7, 200)]),
    ] {
        let symbol = SymbolInfo { min: range.0, max: range.1, ..any() };
        let module = function(&cx, &[("M", any()), ("N", symbol)], &[x], |g, args| {
            let sum = g.reduce(args[0], &[0], true, Combiner::Add, Type::F32, |_, x| x);
            Ok(vec![g.map(sum, |s, a| s.neg(a))?])
        });
        let out = check(&cx, &module, 1, sizes);
        for width in [16, 64, 128] {
            let made = out.contains(&format!("floordiv {width})"));
            assert_eq!(made, widths.contains(&width), "{width} for {range:?}: {out}");
        }
    }
}

#[test]
fn a_number_for_all_beside_normalised_rows_is_one_region() {
    let cx = context();
    let x = tensor(&cx, &["M", "N"], Type::F32);
    let module = function(&cx, &[("M", any()), ("N", any())], &[x], |g, args| {
        let rows = g.softmax(args[0], 1)?;
        let least = g.reduce(args[0], &[0, 1], false, Combiner::Min, Type::F32, |_, x| x);
        Ok(vec![rows, g.map(least, |s, a| s.neg(a))?])
    });
    check(&cx, &module, 1, SIZES);
}

/// What follows from a number for all lies along columns, or needs a number that is made of all columns again.
#[test]
fn columns_and_numbers_after_a_number_for_all() {
    let cx = context();
    let (x, v) = (tensor(&cx, &["M", "N"], Type::F32), tensor(&cx, &["N"], Type::F32));
    let module = function(&cx, &[("M", any()), ("N", any())], &[x, v], |g, args| {
        let rows = g.softmax(args[0], 1)?;
        let total = g.reduce(args[0], &[0, 1], false, Combiner::Add, Type::F32, |_, x| x);
        let shifted = g.zip(args[1], total, |s, a, b| s.add(a, b))?;
        let most = g.reduce(shifted, &[0], false, Combiner::Max, Type::F32, |_, x| x);
        let rest = g.zip(shifted, most, |s, a, b| s.sub(a, b))?;
        Ok(vec![rows, total, shifted, most, rest])
    });
    let mut after = copy(&cx, &module);
    run(&cx, &mut after, SMALL).unwrap_or_else(|e| panic!("{e:?}\n{}", text(&cx, &after)));
    for (m, n) in SIZES {
        agree_on_all_levels(&cx, &module, &after, &[&[("M", *m), ("N", *n)]]);
    }
}

#[test]
fn sums_of_rows_of_columns_and_of_their_sums() {
    let cx = context();
    let x = tensor(&cx, &["M", "N"], Type::F32);
    let module = function(&cx, &[("M", any()), ("N", any())], &[x], |g, args| {
        let rows = g.reduce(args[0], &[1], false, Combiner::Max, Type::F32, |_, x| x);
        let columns = g.reduce(args[0], &[0], false, Combiner::Add, Type::F32, |_, x| x);
        let most = g.reduce(columns, &[0], false, Combiner::Max, Type::F32, |_, x| x);
        let all = g.reduce(args[0], &[0, 1], false, Combiner::Min, Type::F32, |_, x| x);
        Ok(vec![rows, columns, most, all])
    });
    let mut after = copy(&cx, &module);
    run(&cx, &mut after, SMALL).unwrap_or_else(|e| panic!("{e:?}\n{}", text(&cx, &after)));
    for (m, n) in SIZES {
        agree_on_all_levels(&cx, &module, &after, &[&[("M", *m), ("N", *n)]]);
    }
}

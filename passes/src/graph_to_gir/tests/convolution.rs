//! Convolutions as products.

use sutura_dialects::r#dyn::SymbolInfo;
use sutura_dialects::graph::build::{Padding, Window};
use sutura_ir::Type;

use super::{PIPELINE, agree_on_all_levels, check};
use crate::testing::{any, context, copy, function, run, tensor, text};

/// What a window does along one dimension: its places, step, the distance of its places, and the padding at both ends.
type Along = (i64, i64, i64, (i64, i64));

fn window(along: &[Along]) -> Window {
    let list = |of: &dyn Fn(&Along) -> i64| along.iter().map(of).collect::<Vec<_>>();
    Window {
        kernel: list(&|a| a.0),
        strides: list(&|a| a.1),
        dilations: list(&|a| a.2),
        padding: Padding::Explicit(list(&|a| a.3.0), list(&|a| a.3.1)),
        ceil: false,
    }
}

/// A convolution of these sizes, with a bias and GELU behind it, is a kernel that packs and one that computes.
fn is_a_product(x: &[&str], w: &[&str], along: &[Along], least: i64, sizes: &[&[(&str, i64)]]) -> String {
    is_in_kernels(2, x, w, along, least, sizes)
}

fn is_in_kernels(
    kernels: usize,
    x: &[&str],
    w: &[&str],
    along: &[Along],
    least: i64,
    sizes: &[&[(&str, i64)]],
) -> String {
    let cx = context();
    let types = [tensor(&cx, x, Type::F32), tensor(&cx, w, Type::F32), tensor(&cx, &w[..1], Type::F32)];
    let names = x.iter().filter(|size| size.parse::<i64>().is_err());
    let symbols: Vec<_> =
        names.map(|name| (*name, SymbolInfo { min: if *name == "B" { 0 } else { least }, ..any() })).collect();
    let module = function(&cx, &symbols, &types, |g, args| {
        let y = g.conv(args[0], args[1], Some(args[2]), 1, &window(along))?;
        Ok(vec![g.gelu(y, false)?])
    });
    check(&cx, &module, kernels, sizes)
}

#[test]
fn windows_move_in_steps_of_any_size() {
    let same = (3, 1, 1, (1, 1));
    is_a_product(&["1", "3", "9", "30"], &["5", "3", "3", "3"], &[same; 2], 1, &[&[]]);
    is_a_product(&["2", "2", "11", "8"], &["40", "2", "3", "5"], &[(3, 2, 1, (0, 1)), (5, 3, 1, (2, 0))], 1, &[&[]]);
    is_a_product(&["1", "2", "10", "13"], &["3", "2", "2", "3"], &[(2, 1, 3, (1, 2)), (3, 1, 2, (2, 2))], 1, &[&[]]);
    // Rows and columns of the window that are nowhere inside.
    is_a_product(&["1", "1", "2", "2"], &["2", "1", "3", "3"], &[(3, 1, 1, (4, 4)); 2], 1, &[&[]]);
}

#[test]
fn sizes_may_be_open() {
    let sizes: [&[(&str, i64)]; 8] = [
        &[("B", 1), ("H", 7), ("W", 60)],
        &[("B", 2), ("H", 3), ("W", 3)],
        &[("B", 0), ("H", 5), ("W", 5)],
        &[("B", 1), ("H", 16), ("W", 49)],
        &[("B", 1), ("H", 4), ("W", 97)],
        &[("B", 1), ("H", 4), ("W", 4)],
        &[("B", 1), ("H", 4), ("W", 14)],
        &[("B", 1), ("H", 4), ("W", 20)],
    ];
    // Where the length of a line is open, tiles are high: of the last one those rows are computed that exist.
    for (features, along, width) in
        [("20", (3, 1, 1, (1, 1)), 32), ("20", (3, 2, 1, (0, 0)), 32), ("3", (3, 1, 1, (1, 1)), 16)]
    {
        let out = is_in_kernels(2, &["B", "2", "H", "W"], &[features, "2", "3", "3"], &[along; 2], 3, &sizes);
        assert!(out.contains(&format!("!gir.tile<vec, f32, [12, {width}]>")), "{out}");
    }
    is_a_product(&["B", "2", "H", "9"], &["3", "2", "3", "3"], &[(3, 1, 1, (1, 1)); 2], 3, &sizes[..1]);
}

#[test]
fn windows_of_one_and_three_dimensions() {
    is_a_product(&["2", "3", "25"], &["4", "3", "3"], &[(3, 1, 1, (1, 1))], 1, &[&[]]);
    let plain = (2, 1, 1, (0, 0));
    let (volume, weights) = (["1", "2", "4", "5", "9"], ["3", "2", "2", "2", "2"]);
    is_a_product(&volume, &weights, &[plain, plain, (2, 1, 1, (1, 0))], 1, &[&[]]);
    // Padding along the first of three dimensions is a kernel of its own.
    is_in_kernels(3, &volume, &weights, &[(2, 1, 1, (1, 1)); 3], 1, &[&[]]);
}

#[test]
fn one_weight_for_each_channel_is_no_product() {
    let cx = context();
    let types = [tensor(&cx, &["1", "4", "4", "5"], Type::F32), tensor(&cx, &["4", "1", "2", "2"], Type::F32)];
    let along = [(2, 1, 1, (1, 0)); 2];
    let module = function(&cx, &[], &types, |g, args| Ok(vec![g.conv(args[0], args[1], None, 4, &window(&along))?]));
    let mut after = copy(&cx, &module);
    run(&cx, &mut after, PIPELINE).unwrap_or_else(|e| panic!("{e:?}"));
    let out = text(&cx, &after);
    assert!(!out.contains("gir.contract "), "{out}");
    agree_on_all_levels(&cx, &module, &after, &[&[]]);
}

#[test]
fn long_sums_and_many_lines_have_groups_of_their_own() {
    // Few lines: each group has one tile of columns. Many: several lines.
    let few = is_a_product(&["1", "6", "7", "7"], &["70", "6", "3", "3"], &[(3, 1, 1, (1, 1)); 2], 1, &[&[]]);
    assert!(few.contains("gir.contract"), "{few}");
    is_a_product(&["1", "2", "40", "20"], &["33", "2", "3", "3"], &[(3, 1, 1, (1, 1)); 2], 1, &[&[]]);
}

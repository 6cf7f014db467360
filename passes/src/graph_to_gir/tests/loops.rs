//! Ops that are loops of their own.

use sutura_dialects::r#dyn::SymbolInfo;
use sutura_dialects::graph::Combiner;
use sutura_dialects::graph::build::{Padding, Window};
use sutura_ir::Type;

use super::{PIPELINE, agree_on_all_levels, check};
use crate::testing::{any, context, copy, function, run, tensor};

#[test]
fn columns_are_combined() {
    let cx = context();
    let x = tensor(&cx, &["M", "N"], Type::F32);
    let module =
        function(&cx, &[("M", any()), ("N", any())], &[x], |g, args| Ok(vec![g.mean(args[0], &[0], false)?]));
    // Many rows in parts and the parts combined, or few rows: each with tiles of 16, of 64 and of 128 columns.
    check(&cx, &module, 9, &[&[("M", 3), ("N", 70)], &[("M", 1), ("N", 1)], &[("M", 5), ("N", 0)]]);
}

fn window(kernel: &[i64], strides: &[i64], padding: Padding) -> Window {
    Window {
        kernel: kernel.to_vec(),
        strides: strides.to_vec(),
        dilations: vec![1; kernel.len()],
        padding,
        ceil: false,
    }
}

#[test]
fn convolution_and_pooling_read_outside() {
    let cx = context();
    let (x, w, bias) = (
        tensor(&cx, &["B", "2", "H", "H"], Type::F32),
        tensor(&cx, &["3", "2", "3", "3"], Type::F32),
        tensor(&cx, &["3"], Type::F32),
    );
    let symbols = [("B", any()), ("H", SymbolInfo { min: 4, ..any() })];
    let module = function(&cx, &symbols, &[x, w, bias], |g, args| {
        let padded = window(&[3, 3], &[1, 1], Padding::Explicit(vec![1, 1], vec![1, 1]));
        let y = g.conv(args[0], args[1], Some(args[2]), 1, &padded)?;
        let halved = window(&[3, 3], &[2, 2], Padding::Explicit(vec![1, 1], vec![1, 1]));
        let pooled = g.max_pool(y, &halved)?;
        let plain = window(&[2, 2], &[2, 2], Padding::Explicit(vec![0, 0], vec![0, 0]));
        Ok(vec![g.average_pool(pooled, &plain, false)?])
    });
    let mut after = copy(&cx, &module);
    run(&cx, &mut after, PIPELINE).unwrap_or_else(|e| panic!("{e:?}"));
    let sizes = [(1, 4), (2, 7), (1, 33), (0, 5)].map(|(b, h)| [("B", b), ("H", h)]);
    agree_on_all_levels(&cx, &module, &after, &sizes.each_ref().map(|s| &s[..]));
}

#[test]
fn everything_is_combined() {
    let cx = context();
    let x = tensor(&cx, &["M", "N", "3"], Type::F32);
    let module = function(&cx, &[("M", any()), ("N", any())], &[x], |g, args| {
        Ok(vec![g.reduce(args[0], &[0, 1, 2], false, Combiner::Max, Type::F32, |_, x| x)])
    });
    // One kernel for few elements; for many one that combines tiles, and one that joins them.
    check(&cx, &module, 3, &[&[("M", 3), ("N", 7)], &[("M", 1), ("N", 1)], &[("M", 2), ("N", 0)]]);
}

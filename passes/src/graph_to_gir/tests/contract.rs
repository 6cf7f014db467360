//! Contraction regions.

use sutura_ir::Type;

use super::check;
use crate::testing::{any, context, function, tensor};

const SIZES: &[&[(&str, i64)]] = &[
    &[("B", 2), ("S", 17)],
    &[("B", 1), ("S", 1)],
    &[("B", 0), ("S", 5)],
    &[("B", 3), ("S", 0)],
    &[("B", 1), ("S", 48)],
];

#[test]
fn product_with_bias_gelu_and_residual() {
    let cx = context();
    let x = tensor(&cx, &["B", "S", "20"], Type::F32);
    let (w, bias, residual) = (
        tensor(&cx, &["20", "40"], Type::F32),
        tensor(&cx, &["40"], Type::F32),
        tensor(&cx, &["B", "S", "40"], Type::F32),
    );
    let module = function(&cx, &[("B", any()), ("S", any())], &[x, w, bias, residual], |g, args| {
        let product = g.matmul(args[0], args[1])?;
        let sum = g.zip(product, args[2], |s, a, b| s.add(a, b))?;
        let gelu = g.gelu(sum, false)?;
        Ok(vec![g.zip(gelu, args[3], |s, a, b| s.add(a, b))?])
    });
    let out = check(&cx, &module, 2, SIZES);
    // Batch and sequence are the rows of one matrix.
    assert!(out.contains("(B*S + 11) floordiv 12"), "{out}");
}

#[test]
fn factors_of_unknown_sizes() {
    let cx = context();
    let (a, b) = (tensor(&cx, &["B", "K"], Type::F32), tensor(&cx, &["K", "S"], Type::F32));
    let module = function(&cx, &[("B", any()), ("S", any()), ("K", any())], &[a, b], |g, args| {
        Ok(vec![g.matmul(args[0], args[1])?])
    });
    let sizes: &[&[(&str, i64)]] = &[
        &[("B", 13), ("S", 33), ("K", 7)],
        &[("B", 1), ("S", 1), ("K", 1)],
        &[("B", 12), ("S", 32), ("K", 0)],
        &[("B", 0), ("S", 3), ("K", 2)],
    ];
    check(&cx, &module, 2, sizes);
}

//! Row regions.

use sutura_dialects::r#dyn::SymbolInfo;
use sutura_ir::Type;

use super::check;
use crate::testing::{any, context, function, tensor};

const SIZES: &[&[(&str, i64)]] = &[
    &[("M", 3), ("N", 17)],
    &[("M", 1), ("N", 1)],
    &[("M", 0), ("N", 5)],
    &[("M", 4), ("N", 0)],
    &[("M", 2), ("N", 64)],
    &[("M", 5), ("N", 33)],
];

#[test]
fn softmax_is_one_kernel_where_rows_fit() {
    let cx = context();
    let x = tensor(&cx, &["M", "N"], Type::F32);
    let module = function(&cx, &[("M", any()), ("N", any())], &[x], |g, args| Ok(vec![g.softmax(args[0], 1)?]));
    // A kernel for rows that fit; for others two that combine tiles, one behind each, and one that writes.
    let out = check(&cx, &module, 6, SIZES);
    assert!(out.contains("select if [-N + 16384]"), "{out}");
}

#[test]
fn short_rows_need_one_version() {
    let cx = context();
    let x = tensor(&cx, &["M", "N"], Type::F32);
    let short = SymbolInfo { max: 4096, ..any() };
    let module = function(&cx, &[("M", any()), ("N", short)], &[x], |g, args| Ok(vec![g.softmax(args[0], 1)?]));
    check(&cx, &module, 1, SIZES);
}

#[test]
fn layer_norm_with_residual_is_one_kernel() {
    let cx = context();
    let (x, v) = (tensor(&cx, &["M", "3", "N"], Type::F32), tensor(&cx, &["N"], Type::F32));
    let symbols = [("M", any()), ("N", SymbolInfo { min: 1, max: 1024, ..any() })];
    let module = function(&cx, &symbols, &[x, x, v, v], |g, args| {
        let sum = g.zip(args[0], args[1], |s, a, b| s.add(a, b))?;
        let normal = g.layer_norm(sum, 2, args[2], Some(args[3]), 1e-5)?;
        Ok(vec![normal, sum])
    });
    let sizes: Vec<_> = SIZES.iter().copied().filter(|s| s[1].1 > 0).collect();
    let out = check(&cx, &module, 2, &[&sizes[..], &[&[("M", 22), ("N", 9)]]].concat());
    // Rows of both outer dims are one dim of the grid.
    assert!(out.contains("= (3*M + 15) floordiv 16)") && out.contains("select if [-3*M + 64]"), "{out}");
}

/// Rows that fill blocks, that do not, and that are few.
const BLOCKS: &[&[(&str, i64)]] = &[
    &[("M", 80), ("N", 5)],
    &[("M", 65), ("N", 33)],
    &[("M", 95), ("N", 1)],
    &[("M", 64), ("N", 2)],
    &[("M", 1), ("N", 7)],
    &[("M", 0), ("N", 7)],
];

#[test]
fn vectors_are_read_once_per_block_of_rows() {
    let cx = context();
    let (x, v) = (tensor(&cx, &["M", "N"], Type::F32), tensor(&cx, &["N"], Type::F32));
    let symbols = [("M", any()), ("N", SymbolInfo { min: 1, max: 2048, ..any() })];
    let module = function(&cx, &symbols, &[x, v, v], |g, args| {
        Ok(vec![g.layer_norm(args[0], 1, args[1], Some(args[2]), 1e-5)?])
    });
    let out = check(&cx, &module, 2, BLOCKS);
    assert!(out.contains("= (M + 15) floordiv 16)") && out.contains("requires([-M + 64])"), "{out}");
}

#[test]
fn long_rows_make_short_blocks() {
    let cx = context();
    let (x, v) = (tensor(&cx, &["M", "N"], Type::F32), tensor(&cx, &["N"], Type::F32));
    for (most, rows) in [(4096, "(M + 7) floordiv 8)"), (16384, "(M + 1) floordiv 2)")] {
        let symbols = [("M", any()), ("N", SymbolInfo { min: 1, max: most, ..any() })];
        let module = function(&cx, &symbols, &[x, v], |g, args| {
            let normal = g.softmax(args[0], 1)?;
            Ok(vec![g.zip(normal, args[1], |s, a, b| s.mul(a, b))?])
        });
        let out = check(&cx, &module, 2, BLOCKS);
        assert!(out.contains(rows), "{out}");
    }
}

#[test]
fn a_mask_of_all_rows_of_a_head_is_read_once_per_block() {
    let cx = context();
    let (x, mask) = (tensor(&cx, &["M", "3", "N", "N"], Type::F32), tensor(&cx, &["M", "1", "1", "N"], Type::F32));
    let module = function(&cx, &[("M", any()), ("N", SymbolInfo { max: 512, ..any() })], &[x, mask], |g, args| {
        let masked = g.zip(args[0], args[1], |s, a, b| s.add(a, b))?;
        Ok(vec![g.softmax(masked, 3)?])
    });
    let out = check(&cx, &module, 2, &[&[("M", 2), ("N", 17)], &[("M", 1), ("N", 16)], &[("M", 0), ("N", 3)]]);
    assert!(out.contains("= M, %") && out.contains("(3*N + 15) floordiv 16)"), "{out}");
}

#[test]
fn what_is_the_same_for_few_rows_is_read_once_for_all_of_them() {
    let cx = context();
    let (x, mask) = (tensor(&cx, &["3", "M", "N"], Type::F32), tensor(&cx, &["M", "N"], Type::F32));
    let module = function(&cx, &[("M", any()), ("N", SymbolInfo { max: 512, ..any() })], &[x, mask], |g, args| {
        let masked = g.zip(args[0], args[1], |s, a, b| s.add(a, b))?;
        Ok(vec![g.softmax(masked, 2)?])
    });
    let out = check(&cx, &module, 2, &[BLOCKS, &[&[("M", 4), ("N", 3)]]].concat());
    assert!(out.contains("gir.for %arg5 = %c0 to %c3") || out.contains("grid(%arg3 = 1, "), "{out}");
}

#[test]
fn elementwise_ops_are_flattened() {
    let cx = context();
    let x = tensor(&cx, &["M", "N", "7"], Type::F32);
    let module = function(&cx, &[("M", any()), ("N", any())], &[x, x], |g, args| {
        let sum = g.zip(args[0], args[1], |s, a, b| s.add(a, b))?;
        Ok(vec![g.gelu(sum, false)?])
    });
    let out = check(&cx, &module, 1, &[&[("M", 3), ("N", 17)], &[("M", 20), ("N", 81)], &[("M", 0), ("N", 3)]]);
    assert!(out.contains("7*M*N"), "{out}");
}

#[test]
fn a_row_vector_is_repeated() {
    let cx = context();
    let (x, v) = (tensor(&cx, &["M", "N"], Type::F32), tensor(&cx, &["N"], Type::F32));
    let module = function(&cx, &[("M", any()), ("N", any())], &[x, v], |g, args| {
        let scaled = g.zip(args[0], args[1], |s, a, b| s.mul(a, b))?;
        Ok(vec![g.map(scaled, |s, x| s.neg(x))?])
    });
    check(&cx, &module, 1, &[SIZES, &[&[("M", 2), ("N", 9000)]]].concat());
}

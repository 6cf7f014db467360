//! Contractions become intrinsics where they fit, and mean the same.

use sutura_ir::Type;

use crate::testing::{any, assert_equivalent, context, copy, function, run, tensor, text};

const SIZES: &[&[(&str, i64)]] =
    &[&[("M", 0)], &[("M", 1)], &[("M", 2)], &[("M", 3)], &[("M", 4)], &[("M", 5)], &[("M", 12)], &[("M", 29)]];

/// Lowers a product of `[M, K]` and `[K, N]` for a machine; says what stays, and the text.
fn lowered(machine: &str, k: &str, n: &str) -> (Vec<String>, String) {
    let cx = context();
    let (x, w) = (tensor(&cx, &["M", k], Type::F32), tensor(&cx, &[k, n], Type::F32));
    let bias = tensor(&cx, &[n], Type::F32);
    let before = function(&cx, &[("M", any())], &[x, w, bias], |g, args| {
        let product = g.matmul(args[0], args[1])?;
        Ok(vec![g.zip(product, args[2], |s, a, b| s.add(a, b))?])
    });
    let mut after = copy(&cx, &before);
    let pipeline = format!(
        "builtin.module({machine}func.func(canonicalize,stitch),convert-graph-to-gir,tensorize,fold-launches,canonicalize,cse)"
    );
    let said = run(&cx, &mut after, &pipeline).unwrap_or_else(|e| panic!("{e:?}\n{}", text(&cx, &after)));
    for symbols in SIZES {
        assert_equivalent(&cx, &before, &after, symbols);
    }
    (said.into_iter().filter(|message| message.contains("stays")).collect(), text(&cx, &after))
}

#[test]
fn products_become_the_machines_intrinsics() {
    for (machine, wide, narrow) in [
        ("x86_avx512", "@fma_f32_12x32", "@fma_f32_12x16"),
        ("x86_avx2", "@fma_f32_6x16", "@fma_f32_6x8"),
        ("generic", "@fma_f32_4x8", "@fma_f32_4x4"),
    ] {
        let attach = format!("attach-target{{name={machine}}},");
        for (columns, name) in [("70", wide), ("3", narrow)] {
            let (said, out) = lowered(&attach, "9", columns);
            assert!(said.is_empty() && out.contains(&format!("gir.intrinsic {name}(")), "{said:?}\n{out}");
        }
    }
}

#[test]
fn what_fits_no_intrinsic_stays_and_is_said() {
    let (said, out) = lowered("", "5", "40");
    // Few rows and many have a kernel each.
    assert_eq!(said, ["'gir.contract' stays: the module describes no machine"; 2]);
    assert!(out.contains("gir.contract") && !out.contains("gir.intrinsic"), "{out}");
}

#[test]
fn a_product_of_constants_is_computed_at_compile_time_by_the_intrinsic() {
    let cx = context();
    let numbers = |rows: i64, cols: i64| {
        let ty = cx.tensor_type(&[rows, cols], Type::F32, None);
        let words: Vec<u64> = (0..rows * cols).map(|i| u64::from((i as f32 / 8.0).to_bits())).collect();
        cx.dense_attr(ty, &words).expect("one word per element")
    };
    let before = function(&cx, &[], &[], |g, _| {
        let (a, b) = (g.constant(numbers(13, 3)), g.constant(numbers(3, 33)));
        Ok(vec![g.matmul(a, b)?])
    });
    let mut after = copy(&cx, &before);
    let pipeline =
        "builtin.module(attach-target{name=x86_avx512},func.func(stitch),convert-graph-to-gir,tensorize,fold-launches)";
    run(&cx, &mut after, pipeline).unwrap_or_else(|e| panic!("{e:?}\n{}", text(&cx, &after)));
    assert_equivalent(&cx, &before, &after, &[]);
}

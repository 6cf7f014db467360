//! Contraction regions.

use sutura_dialects::gir::interp::Counters;
use sutura_interp::equivalence::argument_types;
use sutura_interp::random::{Random, random_arguments};
use sutura_interp::{Interpreter, Value};
use sutura_ir::{Context, Module, Type};

use super::check;
use crate::testing::{Sizes, any, context, copy, function, run, tensor, text};

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
    let out = check(&cx, &module, 3, SIZES);
    // Batch and sequence are the rows of one matrix.
    assert!(out.contains("(B*S + 191) floordiv 192"), "{out}");
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
        &[("B", 200), ("S", 1), ("K", 2)],
        &[("B", 385), ("S", 2), ("K", 2)],
        &[("B", 2), ("S", 2), ("K", 4097)],
    ];
    let out = check(&cx, &module, 5, sizes);
    // One row and few rows need not wait for a packed factor; groups pack their panels where those fit and rows are not many.
    assert!(out.contains("select if [-B + 1], [-B + 12], [-K + 4096, -B + 384]"), "{out}");
}

/// Panels that are not whole are packed where many rows read them, by the groups, and not for few.
#[test]
fn few_rows_read_a_factor_as_it_lies() {
    let cx = context();
    for (rows, packs) in [("17", false), ("73", true), ("200", true)] {
        let (a, b) = (tensor(&cx, &[rows, "21"], Type::F32), tensor(&cx, &["21", "31"], Type::F32));
        let module = function(&cx, &[], &[a, b], |g, args| Ok(vec![g.matmul(args[0], args[1])?]));
        let out = check(&cx, &module, 1, &[&[]]);
        assert_eq!(out.contains("gir.view<l1, f32, [21, 32]>"), packs, "{out}");
    }
}

/// Sums are cut in parts where they are long and results few: parts of many would not stay near, and short sums are done sooner.
#[test]
fn sums_are_cut_where_parts_stay_near() {
    let cx = context();
    for (rows, sum, columns, cut) in [
        (64, 8192, 64, true),
        (12, 4095, 90, true),
        (100, 4095, 300, false),
        (400, 8192, 400, false),
        (2, 2048, 64, false),
    ] {
        let (a, b) = (
            tensor(&cx, &[rows.to_string().as_str(), &sum.to_string()], Type::F32),
            tensor(&cx, &[sum.to_string().as_str(), &columns.to_string()], Type::F32),
        );
        let mut module = function(&cx, &[], &[a, b], |g, args| Ok(vec![g.matmul(args[0], args[1])?]));
        run(&cx, &mut module, "builtin.module(func.func(canonicalize,stitch),convert-graph-to-gir)")
            .expect("it is lowered");
        let (out, parts) = (text(&cx, &module), (sum + 1023) / 1024);
        assert_eq!(out.contains(&format!("gir.view<dram, f32, [{parts}, {rows}, {columns}]> out")), cut, "{out}");
    }
}

/// Widths of the products of one left factor; each has its own epilogue. The weights are constant where `constant` says so.
fn siblings(cx: &Context, widths: &[i64], constant: bool) -> Module {
    let texts: Vec<String> = widths.iter().map(i64::to_string).collect();
    let mut inputs = vec![tensor(cx, &["B", "S", "20"], Type::F32)];
    for width in &texts {
        inputs.push(tensor(cx, &[width], Type::F32));
        inputs.extend((!constant).then(|| tensor(cx, &["20", width], Type::F32)));
    }
    function(cx, &[("B", any()), ("S", any())], &inputs, |g, args| {
        let mut outputs = Vec::new();
        let mut rest = args[1..].iter();
        for (i, width) in widths.iter().enumerate() {
            let bias = *rest.next().expect("one for each product");
            let weight = match rest.as_slice() {
                [weight, ..] if !constant => {
                    rest.next();
                    *weight
                }
                _ => {
                    let number = |n: i64| ((n * 7 + i as i64) % 23 - 11) as f32;
                    let words: Vec<u64> = (0..20 * width).map(|n| u64::from(number(n).to_bits())).collect();
                    let ty = cx.tensor_type(&[20, *width], Type::F32, None);
                    g.constant(cx.dense_attr(ty, &words).expect("one word per element"))
                }
            };
            let product = g.matmul(args[0], weight)?;
            let sum = g.zip(product, bias, |s, a, b| s.add(a, b))?;
            outputs.push(if i % 2 == 0 { sum } else { g.gelu(sum, false)? });
        }
        Ok(outputs)
    })
}

#[test]
fn products_of_one_factor_are_one_launch() {
    let cx = context();
    // Constant weights are packed each by a launch of its own, others by the groups. For few rows, and for one, they need not be.
    for (widths, constant, kernels) in
        [(&[40, 40][..], true, 3), (&[40, 40, 40], true, 3), (&[64, 40, 16], true, 6), (&[40, 17, 20], false, 9)]
    {
        let module = siblings(&cx, widths, constant);
        let out = check(&cx, &module, kernels, SIZES);
        let (packed, each) = if constant { (1, 2) } else { (3, 3) };
        assert_eq!(out.matches("packed {").count(), packed, "{out}");
        assert_eq!(out.matches("launch @").count(), each * widths.len(), "{out}");
    }
}

/// One row has a version where factors are packed at run time, and few rows have one. Constant ones are packed, and tiles take the time of the rows that
/// exist: no number of rows asks for another version.
#[test]
fn versions_of_siblings_are_chosen_together() {
    let cx = context();
    let machine = "builtin.module(attach-target{name=x86_avx512},func.func(canonicalize,stitch),convert-graph-to-gir)";
    let sizes: &[&[(&str, i64)]] =
        &[&[("B", 1), ("S", 1)], &[("B", 1), ("S", 3)], &[("B", 2), ("S", 7)], &[("B", 7), ("S", 7)]];
    for (constant, packed, launches) in [(true, 1, 6), (false, 3, 9)] {
        let module = siblings(&cx, &[64, 40, 16], constant);
        let mut after = copy(&cx, &module);
        run(&cx, &mut after, machine).unwrap_or_else(|e| panic!("{e:?}\n{}", text(&cx, &after)));
        let out = text(&cx, &after);
        assert_eq!(out.contains("select if [-B*S + 1], [-B*S + 12] {"), !constant, "{out}");
        assert_eq!((out.matches("packed {").count(), out.matches("launch @").count()), (packed, launches), "{out}");
        let wide = |what: &str| out.matches(what).count();
        assert!(wide("gir.tile<vec, f32, [12, 32]>") > 0 && wide("gir.tile<vec, f32, [12, 16]>") > 0, "{out}");
        super::agree_on_all_levels(&cx, &module, &after, sizes);
    }
}

#[test]
fn one_launch_computes_the_same_bits() {
    let cx = context();
    let module = siblings(&cx, &[64, 40, 16], true);
    let lowered = |options: &str| {
        let mut lowered = copy(&cx, &module);
        let pipeline = format!("builtin.module(func.func(canonicalize,stitch{options}),convert-graph-to-gir)");
        run(&cx, &mut lowered, &pipeline).unwrap_or_else(|e| panic!("{e:?}"));
        lowered
    };
    let (together, apart) = (lowered(""), lowered("{max-ops=1}"));
    assert!(text(&cx, &together).contains("packed {") && !text(&cx, &apart).contains("packed {"));
    let types = argument_types(&cx, &module, "main").expect("a function");
    let results = |lowered: &Module| {
        let mut interpreter = Interpreter::new(&cx, lowered);
        let sizes = Sizes(&[("B", 2), ("S", 17)]);
        let args = random_arguments(&cx, &types, &sizes, &mut Random::new(1), interpreter.memory()).expect("arguments");
        let results = interpreter.call("main", &args).expect("it runs");
        let bits = |value: &Value| {
            let data = value.tensor().expect("tensors are returned").data().clone();
            (0..data.len()).map(|i| data.get(i).expect("a number").bits()).collect::<Vec<_>>()
        };
        (results.iter().map(bits).collect::<Vec<_>>(), interpreter.extension::<Counters>().launches)
    };
    let ((one, launches), (several, more)) = (results(&together), results(&apart));
    assert_eq!(one, several);
    // Each packs three factors.
    assert_eq!((launches, more), (3 + 1, 3 + 7));
}

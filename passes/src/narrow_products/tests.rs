//! Products of narrow numbers keep every bit of integers, become the machine's instructions, and are those of a machine that is a file.

use sutura_dialects::graph::build::Shifted;
use sutura_interp::Tolerance;
use sutura_interp::random::Random;
use sutura_ir::types::{FloatKind, Signedness, TypeData};
use sutura_ir::{Context, Module, Type};

use crate::split_products::tests::program;
use crate::testing::{agree, any, context, copy, function, run, tensor, text};

const KERNELS: &str = "legalize-elements,narrow-products,split-products,func.func(canonicalize,stitch),convert-graph-to-gir,tensorize,fold-launches,canonicalize,cse";
const X86: &str = include_str!("../../../targets/x86_avx512_dot.mlir");
const AMX: &str = include_str!("../../../targets/x86_amx.mlir");
const TESSERA: &str = include_str!("../../../examples/describe-your-machine/tessera.mlir");

fn unsigned(cx: &Context) -> Type {
    cx.ty(TypeData::Integer { width: 8, sign: Signedness::Unsigned })
}

/// The module, for a machine that a text describes.
fn on(cx: &Context, module: &Module, machine: &str) -> Module {
    let mut module = copy(cx, module);
    let target = sutura_dialects::target::from_text(cx, "machine.mlir", "a test", machine).expect("it describes one");
    let body = module.body_mut();
    target.attach(cx, body).expect("it has none");
    module
}

#[test]
fn products_of_bytes_keep_every_bit() {
    let cx = context();
    let mut random = Random::new(23);
    for round in 0..24 {
        let before = program(&cx, &mut random);
        let mut after = on(&cx, &before, [X86, TESSERA, AMX][round % 3]);
        run(&cx, &mut after, "builtin.module(narrow-products)").unwrap_or_else(|e| panic!("{e:?}"));
        let shown = text(&cx, &after);
        for (b, m, k, n) in [(0, 1, 2, 3), (1, 1, 0, 3), (1, 1, 1, 1), (2, 5, 7, 3), (1, 3, 20, 2)] {
            let sizes = [("B", b), ("M", m), ("K", k), ("N", n)];
            agree(&cx, (&before, &after), &sizes, Tolerance::EXACT, &shown);
        }
        let mut again = copy(&cx, &after);
        run(&cx, &mut again, "builtin.module(narrow-products)").expect("it runs on what it made");
        assert_eq!(shown, text(&cx, &again), "what it has done it does not do again");
    }
}

/// Types of both factors.
type Elems = fn(&Context) -> [Type; 2];

/// The kernels of a product of `[M, K]` and `[K, N]`, and what was said, after they were shown to compute the same.
fn kernels(machine: &str, elems: Elems, (k, n): (&str, &str), tolerance: Tolerance) -> (Vec<String>, String) {
    let cx = context();
    let elems = elems(&cx);
    let before = function(
        &cx,
        &[("M", any())],
        &[tensor(&cx, &["M", k], elems[0]), tensor(&cx, &[k, n], elems[1])],
        |g, args| {
            let [left, right] = [0, 1].map(|i| Shifted { value: args[i], zero: None });
            match elems[0].is_float(g.cx()) {
                true => Ok(vec![g.matmul(args[0], args[1])?]),
                false => Ok(vec![g.shifted_product((left, false), (right, false))?]),
            }
        },
    );
    let mut after = on(&cx, &before, machine);
    let pipeline = format!("builtin.module({KERNELS})");
    let said = run(&cx, &mut after, &pipeline).unwrap_or_else(|e| panic!("{e:?}\n{}", text(&cx, &after)));
    let shown = text(&cx, &after);
    for m in [0, 1, 2, 5, 8, 12, 29] {
        agree(&cx, (&before, &after), &[("M", m)], tolerance, &shown);
    }
    (said, shown)
}

#[test]
fn kernels_call_the_machines_instructions() {
    let kinds: [Elems; 4] = [
        |cx| [unsigned(cx), Type::I8],
        |cx| [Type::I8, unsigned(cx)],
        |_| [Type::I8, Type::I8],
        |cx| [unsigned(cx), unsigned(cx)],
    ];
    for elems in kinds {
        for (k, n) in [("1", "3"), ("8", "40"), ("17", "33")] {
            let (said, shown) = kernels(X86, elems, (k, n), Tolerance::EXACT);
            assert!(shown.contains("gir.intrinsic @vpdpbusd") && !shown.contains("vpmaddubs"), "{said:?}\n{shown}");
            let stays: Vec<_> = said.iter().filter(|line| line.contains("'gir.contract' stays")).collect();
            assert!(stays.is_empty(), "{stays:?}");
        }
    }
}

#[test]
fn registers_that_only_multiply_hand_over_their_sums() {
    let kinds: [(Elems, &str); 4] = [
        (|cx| [unsigned(cx), Type::I8], "@tdpbusd("),
        (|cx| [Type::I8, unsigned(cx)], "@tdpbsud("),
        (|_| [Type::I8, Type::I8], "@tdpbssd("),
        (|cx| [unsigned(cx), unsigned(cx)], "@tdpbuud("),
    ];
    for (elems, name) in kinds {
        for (k, n) in [("1", "3"), ("64", "16"), ("70", "33")] {
            let (said, shown) = kernels(AMX, elems, (k, n), Tolerance::EXACT);
            assert!(shown.contains(name) && !shown.contains("gir.move"), "{said:?}\n{shown}");
            let moved = said.iter().find(|line| line.contains("moved by 128") || line.contains("'gir.contract' stays"));
            assert_eq!(moved, None, "there is an instruction for all signs");
        }
    }
    let floats: Elems = |cx| [cx.ty(TypeData::Float(FloatKind::BF16)); 2];
    for (k, n) in [("9", "20"), ("32", "32"), ("65", "40")] {
        let (said, shown) = kernels(AMX, floats, (k, n), Tolerance { abs: 0.01, rel: 0.01, ulp: 0 });
        assert!(shown.contains("@tdpbf16ps("), "{said:?}\n{shown}");
    }
}

#[test]
fn a_unit_that_is_a_file_runs_through_its_meaning() {
    for (k, n) in [("1", "3"), ("5", "24"), ("12", "50")] {
        let (said, shown) = kernels(TESSERA, |_| [Type::I8, Type::I8], (k, n), Tolerance::EXACT);
        assert!(shown.contains("gir.intrinsic @mm8x24x5("), "{said:?}\n{shown}");
        // Its factors lie in its scratchpad, its sums do not leave their registers.
        assert!(shown.contains("!gir.tile<pad, i8, [5, 24]>") && !shown.contains("gir.move"), "{shown}");
    }
}

#[test]
fn a_unit_with_a_fault_in_its_meaning_is_found() {
    // It forgets what was summed before.
    let wrong = TESSERA
        .replace("gir.contract %a, %b, %c :", "gir.contract %a, %b, %z :")
        .replace("%r = gir", "%z = gir.fill 0 : i32 : !gir.tile<sums, i32, [8, 24]>\n    %r = gir");
    let cx = context();
    let types = [tensor(&cx, &["M", "9"], Type::I8), tensor(&cx, &["9", "3"], Type::I8)];
    let before = function(&cx, &[("M", any())], &types, |g, args| {
        let [left, right] = [0, 1].map(|i| Shifted { value: args[i], zero: None });
        Ok(vec![g.shifted_product((left, false), (right, false))?])
    });
    // It means no contraction any more, so nothing becomes one of it.
    let mut after = on(&cx, &before, &wrong);
    run(&cx, &mut after, &format!("builtin.module({KERNELS})")).unwrap_or_else(|e| panic!("{e:?}"));
    assert!(!text(&cx, &after).contains("gir.intrinsic"), "{}", text(&cx, &after));
}

#[test]
fn floats_of_16_bits_are_multiplied_as_they_are_or_widened() {
    let floats: Elems = |cx| [cx.ty(TypeData::Float(FloatKind::BF16)); 2];
    let tolerance = Tolerance { abs: 0.01, rel: 0.01, ulp: 0 };
    let (_, shown) = kernels(X86, floats, ("9", "20"), tolerance);
    assert!(shown.contains("gir.intrinsic @vdpbf16ps("), "{shown}");
    let (said, shown) = kernels(TESSERA, floats, ("9", "20"), tolerance);
    assert!(said.iter().any(|line| line.contains("become tensors of f32")), "{said:?}");
    assert!(!shown.contains("vdpbf16ps"), "{shown}");
}

#[test]
fn factors_are_rounded_only_where_that_is_asked_for() {
    let cx = context();
    let types = [tensor(&cx, &["M", "9"], Type::F32), tensor(&cx, &["9", "20"], Type::F32)];
    let before = function(&cx, &[("M", any())], &types, |g, args| Ok(vec![g.matmul(args[0], args[1])?]));
    let made = |options: &str| {
        let mut after = on(&cx, &before, X86);
        run(&cx, &mut after, &format!("builtin.module(narrow-products{options})")).unwrap_or_else(|e| panic!("{e:?}"));
        text(&cx, &after).split("func.func").nth(1).expect("it holds a function").to_owned()
    };
    assert!(!made("").contains("bf16") && !made("").contains("graph.narrow"));
    assert!(made("{precision=bf16}").contains("graph.narrow") && made("{precision=bf16}").contains("arith.truncf"));
}

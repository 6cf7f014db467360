//! What kernels say of the caches changes nothing that they compute, whoever wrote it.

use proptest::prelude::*;
use sutura_dialects::text::parse_text;
use sutura_interp::compare::{Tolerance, compare};
use sutura_interp::random::Random;
use sutura_interp::{Buffer, DType, Interpreter, Tensor, Value};
use sutura_ir::{Context, Module};

use crate::testing::programs::{named, program, sizes, steps};
use crate::testing::{agree, context, copy, run, text};

const MACHINE: &str = "
target.machine @m {triple = \"t\", features = \"\"} {
  target.space @vec {class = \"reg\", owner = \"unit\", bytes = 2048, vector = 64}
  target.space @l1 {class = \"sram\", owner = \"unit\", bytes = 1024, align = 64, cached}
  target.space @dram {class = \"dram\", owner = \"all\", stream = 1}
}
";

/// A softmax over rows, by groups of one or in blocks of four; `LOAD` and `STORE` stand for clauses.
fn softmax(blocks: bool) -> String {
    let (around, row, grid) = match blocks {
        false => (("", ""), "%i", "M"),
        true => (
            (
                "%lo = gir.index affine_map<(d0) -> (d0 * 4)>(%i)\n\
                 %hi = gir.index affine_map<(d0)[s0] -> (d0 * 4 + 4, s0)>(%i, %M)\n\
                 gir.for %k = %lo to %hi {\n",
                "}\n",
            ),
            "%k",
            "(M + 3) floordiv 4",
        ),
    };
    let (view, slice, tile) =
        ("!gir.view<dram, f32, [M, N]>", "!gir.slice<dram, f32, [1, N]>", "!gir.tile<l1, f32, [1, N]>");
    format!(
        "gir.kernel @k(%x : {view} in, %y : {view} out) dims(%M : [0, 100], %N : [0, 100]) grid(%i = {grid}) units(1) {{\n\
         %zero = arith.constant 0 : index\n{}\
         %in = gir.slice %x[{row}, %zero] cols(1) : {view} -> {slice}\n\
         %t = gir.load %in LOAD : {slice} -> {tile}\n\
         %m = gir.reduce \"max\" \"cols\" %t : {tile}\n\
         %mb = gir.broadcast %m like %t : !gir.tile<l1, f32, [1, 1]>, {tile}\n\
         %d = gir.binary \"sub\" %t, %mb : {tile}\n\
         %e = gir.unary \"exp\" %d : {tile}\n\
         %s = gir.reduce \"add\" \"cols\" %e : {tile}\n\
         %sb = gir.broadcast %s like %e : !gir.tile<l1, f32, [1, 1]>, {tile}\n\
         %r = gir.binary \"div\" %e, %sb : {tile}\n\
         %out = gir.slice %y[{row}, %zero] cols(1) : {view} -> {slice}\n\
         gir.store %r, %out STORE : {tile}, {slice}\n{}}}\n\
         rt.program @main(%x : !rt.buffer<f32, [M, N]> in \"x\", %y : !rt.buffer<f32, [M, N]> out \"y\")\n\
             symbols(M : [0, 100], N : [0, 100]) {{\n\
           launch @k(%x, %y) dims [M, N] work [N] : !rt.buffer<f32, [M, N]>, !rt.buffer<f32, [M, N]>\n}}\n",
        around.0, around.1
    )
}

fn results(cx: &Context, module: &Module, (m, n): (usize, usize)) -> Vec<Value> {
    let mut random = Random::new(7);
    let mut data = Buffer::undefined(DType::F32, m * n);
    (0..m * n).for_each(|i| data.set(i, Some(random.scalar(DType::F32))));
    let args = [Value::Tensor(Tensor::new(vec![m, n], data).expect("sizes fit"))];
    let called = Interpreter::new(cx, module).call("main", &args);
    called.unwrap_or_else(|e| panic!("{m}x{n}: {e}\n{}", text(cx, module)))
}

/// The kernel with clauses, and lowered, computes what it does without.
fn check(cx: &Context, source: &str, clauses: (&str, &str), pipeline: &str) -> String {
    const SIZES: [(usize, usize); 4] = [(0, 16), (1, 33), (6, 80), (9, 17)];
    let parsed = |load: &str, store: &str| {
        let source = source.replace("LOAD", load).replace("STORE", store);
        parse_text(cx, "rows", &source).unwrap_or_else(|e| panic!("{e}\n{source}"))
    };
    let (plain, said) = (parsed("", ""), parsed(clauses.0, clauses.1));
    let mut lowered = copy(cx, &said);
    run(cx, &mut lowered, &format!("builtin.module({pipeline})")).unwrap_or_else(|e| panic!("{clauses:?}: {e:?}"));
    for size in SIZES {
        let expected = results(cx, &plain, size);
        let exact = Tolerance { abs: 0.0, rel: 0.0, ulp: 0 };
        for (module, tolerance) in [(&said, exact), (&lowered, Tolerance { abs: 1e-6, rel: 1e-5, ulp: 2 })] {
            for (a, b) in expected.iter().zip(&results(cx, module, size)) {
                compare(a, b, tolerance).unwrap_or_else(|e| panic!("{clauses:?} at {size:?}: {e:?}"));
            }
        }
    }
    text(cx, &lowered)
}

#[test]
fn clauses_change_nothing_that_is_computed() {
    let cx = context();
    for blocks in [false, true] {
        let source = softmax(blocks);
        for (load, store) in [
            ("", "stream"),
            ("prefetch(64)", "stream when(M - 3)"),
            ("prefetch(next)", "stream defer"),
            ("prefetch(1000000, next when(20 - N))", "stream when(8*M*N - 1000, 90 - M) defer"),
            ("prefetch(next when(-1))", "stream when(-1) defer"),
        ] {
            // Also where a vector is a single number, and where a line holds none.
            // Without a machine the pass says which rows live in the output, and nothing else.
            for (bytes, homes) in [4, 16, 256].into_iter().flat_map(|bytes| [(bytes, ""), (bytes, "gir-cache-hints,")])
            {
                let lower = format!("{homes}convert-gir-to-cpu{{vector-bytes={bytes}}}");
                let text = check(&cx, &source, (load, store), &lower);
                assert!(text.contains("nontemporal"), "{load} {store}\n{text}");
                assert_eq!(text.contains("llvm.intr.prefetch"), load.contains("next"), "{load}\n{text}");
                assert_eq!(text.contains(" x i1 "), store.contains("defer"), "{store}\n{text}");
            }
        }
    }
}

#[test]
fn what_the_pass_writes_is_made_use_of() {
    let cx = context();
    for blocks in [false, true] {
        let source = MACHINE.to_owned() + &softmax(blocks);
        let text = check(&cx, &source, ("", ""), "gir-cache-hints,convert-gir-to-cpu");
        for part in ["nontemporal", "llvm.intr.prefetch", " x i1 "] {
            assert!(text.contains(part), "{part}\n{text}");
        }
        let plain = check(&cx, &source, ("", ""), "convert-gir-to-cpu");
        for part in ["nontemporal", "llvm.intr.prefetch", " x i1 "] {
            assert!(!plain.contains(part), "{part}\n{plain}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    /// On a machine whose launches are all large.
    #[test]
    fn random_programs_mean_the_same(steps in steps(6), at in sizes()) {
        let cx = context();
        let before = program(&cx, &steps);
        let mut module = copy(&cx, &before);
        run(&cx, &mut module, "builtin.module(func.func(stitch),convert-graph-to-gir)").expect("the program has kernels");
        let source = text(&cx, &module).replacen("module {", &format!("module {{{MACHINE}"), 1);
        let mut module = parse_text(&cx, "program", &source).unwrap_or_else(|e| panic!("{e}\n{source}"));
        for passes in ["gir-cache-hints", "canonicalize,cse,gir-simplify,loop-invariant-code-motion", "plan-buffers,convert-gir-to-cpu"] {
            run(&cx, &mut module, &format!("builtin.module({passes})")).unwrap_or_else(|e| panic!("{e:?}\n{source}"));
            agree(&cx, (&before, &module), &named(at), Tolerance { abs: 1e-3, rel: 1e-3, ulp: 0 }, passes);
        }
    }
}

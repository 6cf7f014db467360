//! Refined plans compute what the plans before them do, are the same every time, and come to an end.

use proptest::prelude::*;
use sutura_dialects::r#dyn::SymbolInfo;
use sutura_interp::Tolerance;
use sutura_ir::{Context, Module, Type};

use crate::testing::programs::{named, program, sizes, steps};
use crate::testing::{agree, any, assert_equivalent, context, copy, function, run, tensor, text};

/// Sums are made in other orders, of numbers that cancel.
const TOLERANCE: Tolerance = Tolerance { abs: 1e-3, rel: 1e-3, ulp: 0 };

/// Takes whatever is not predicted to be slower.
fn refined(cx: &Context, module: &Module, stitch: &str) -> (Module, Vec<String>) {
    let mut module = copy(cx, module);
    let pipeline = format!(
        "builtin.module(attach-target{{name=x86_avx512}},func.func(canonicalize,{stitch}),refine-fusion-plan{{least-saving=0}})"
    );
    let said = run(cx, &mut module, &pipeline).unwrap_or_else(|e| panic!("{e:?}"));
    (module, said)
}

fn regions(cx: &Context, module: &Module) -> usize {
    text(cx, module).matches("= graph.fusion(").count()
}

#[test]
fn operations_apart_become_one_region_and_narrow_products_become_two() {
    let cx = context();
    let types = [&["M", "64"][..], &["64", "2"]].map(|sizes| tensor(&cx, sizes, Type::F32));
    let many = SymbolInfo { likely: vec![4096], ..any() };
    let before = function(&cx, &[("M", many)], &types, |g, args| {
        let product = g.product(args[0], args[1], false, false)?;
        let tanh = g.map(product, |s, x| s.math("math.tanh", x))?;
        Ok(vec![g.map(tanh, |s, x| s.math("math.exp", x))?])
    });
    for (stitch, change) in [("stitch{max-ops=1}", "becomes one kernel"), ("stitch", "becomes 2 kernels")] {
        let (after, said) = refined(&cx, &before, stitch);
        assert!(said.iter().any(|words| words.starts_with(change)), "{said:?}");
        // The product stays apart from the functions, which are together.
        assert_eq!(regions(&cx, &after), 2, "{}", text(&cx, &after));
        for rows in [0, 1, 13] {
            assert_equivalent(&cx, &before, &after, &[("M", rows)]);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn refined_plans_keep_the_meaning(steps in steps(8), sizes in sizes(), apart in proptest::bool::ANY) {
        let cx = context();
        let before = program(&cx, &steps);
        let stitch = if apart { "stitch{max-ops=1}" } else { "stitch" };
        let (after, _) = refined(&cx, &before, stitch);
        prop_assert_eq!(text(&cx, &after), text(&cx, &refined(&cx, &before, stitch).0));
        agree(&cx, (&before, &after), &named(sizes), TOLERANCE, "regions");
        let mut lowered = copy(&cx, &after);
        run(&cx, &mut lowered, "builtin.module(convert-graph-to-gir)").unwrap_or_else(|e| panic!("{e:?}"));
        agree(&cx, (&before, &lowered), &named(sizes), TOLERANCE, "kernels");
    }
}

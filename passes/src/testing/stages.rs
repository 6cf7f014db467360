//! Every pass keeps the meaning of random programs, alone and behind those that run before it.

use proptest::prelude::*;
use proptest::test_runner::Config;
use sutura_interp::Tolerance;
use sutura_ir::{Context, Module};

use super::programs::{Step, named, program, program_with_weights, sizes, steps};
use super::{agree, context, copy, run, text};

/// Sums are made in other orders, of numbers that cancel.
const TOLERANCE: Tolerance = Tolerance { abs: 1e-3, rel: 1e-3, ulp: 0 };

/// Runs `passes` and compares with `before` at all of `at`.
fn keeps(cx: &Context, before: &Module, module: &mut Module, passes: &str, at: &[(i64, i64)]) {
    let said = run(cx, module, &format!("builtin.module({passes})"));
    said.unwrap_or_else(|e| panic!("{passes}: {e:?}\n{}", text(cx, module)));
    for sizes in at {
        agree(cx, (before, module), &named(*sizes), TOLERANCE, passes);
    }
}

fn cases(number: u32) -> Config {
    Config { cases: number, ..Config::default() }
}

proptest! {
    #![proptest_config(cases(12))]

    /// What is known of shapes may go, be found again and be written out.
    #[test]
    fn encodings_come_and_go(steps in steps(6), at in sizes()) {
        let cx = context();
        let before = program(&cx, &steps);
        let mut module = copy(&cx, &before);
        for passes in ["strip-encodings", "materialize-encodings", "strip-encodings", "propagate-shapes"] {
            keeps(&cx, &before, &mut module, passes, &[at]);
        }
    }

    /// Every level on the way to functions on a CPU.
    #[test]
    fn each_level_means_the_same(steps in steps(6), at in prop::collection::vec(sizes(), 2), bytes in 2u32..7) {
        let cx = context();
        let before = program(&cx, &steps);
        let mut module = copy(&cx, &before);
        let lower = format!("convert-gir-to-cpu{{vector-bytes={}}}", 1 << bytes);
        for passes in [
            "propagate-shapes",
            "func.func(canonicalize,cse)",
            "func.func(propagate-reshapes)",
            "func.func(stitch)",
            "convert-graph-to-gir",
            "fold-launches",
            "plan-buffers",
            "gir-cache-hints",
            &*lower,
            "func.func(expand-math)",
            "expand-fma",
            "expand-truncf",
            "func.func(canonicalize,cse)",
        ] {
            keeps(&cx, &before, &mut module, passes, &at);
        }
    }

    /// Constants are worked on at compile time.
    #[test]
    fn launches_on_constants_are_folded(
        steps in steps(4),
        columns in prop::sample::select(vec![1, 4, 15, 16, 17, 33]),
        rows in prop::sample::select(vec![0, 1, 3, 12, 13]),
    ) {
        let cx = context();
        let before = program_with_weights(&cx, &steps, columns);
        let mut module = copy(&cx, &before);
        let at = [(rows, columns)];
        for passes in ["func.func(stitch)", "convert-graph-to-gir", "fold-launches", "plan-buffers", "convert-gir-to-cpu"] {
            keeps(&cx, &before, &mut module, passes, &at);
        }
        if columns > 1 && steps.last().is_some_and(Step::is_product) {
            // Its weights have been packed; a single column lies packed already.
            prop_assert!(text(&cx, &module).contains("\"folded.0\""));
        }
    }

    /// However many ops a region may have, and however long a row is kept and a tile is.
    #[test]
    fn options_do_not_change_meaning(
        steps in steps(6),
        at in sizes(),
        most in 0usize..4,
        resident in 1usize..40,
        tile in (1usize..14, 1usize..40),
    ) {
        let cx = context();
        let before = program(&cx, &steps);
        let mut module = copy(&cx, &before);
        keeps(&cx, &before, &mut module, &format!("func.func(stitch{{max-ops={most}}})"), &[at]);
        let (rows, columns) = tile;
        let lower = format!(
            "convert-graph-to-gir{{resident-columns={resident} tile-rows={rows} tile-columns={columns}}}"
        );
        keeps(&cx, &before, &mut module, &lower, &[at]);
        keeps(&cx, &before, &mut module, "convert-gir-to-cpu", &[at]);
    }

    /// The same input gives the same text, and what a pass has done it does not do again.
    #[test]
    fn passes_are_deterministic_and_settle(steps in steps(8)) {
        let cx = context();
        let before = program(&cx, &steps);
        let done = |pipelines: &[&str]| {
            let mut module = copy(&cx, &before);
            for passes in pipelines {
                run(&cx, &mut module, &format!("builtin.module({passes})")).expect("the pass runs");
            }
            text(&cx, &module)
        };
        let to_gir = ["func.func(stitch)", "convert-graph-to-gir"];
        for (once, again) in [
            (&["func.func(stitch)"][..], Some("func.func(stitch)")),
            (&["propagate-shapes"], Some("propagate-shapes")),
            (&["strip-encodings"], Some("strip-encodings")),
            (&["materialize-encodings"], Some("materialize-encodings")),
            (&to_gir, Some("convert-graph-to-gir")),
            (&[to_gir[0], to_gir[1], "plan-buffers"], Some("plan-buffers")),
            (&["attach-target{name=x86_avx512}", to_gir[0], to_gir[1], "gir-cache-hints"], Some("gir-cache-hints")),
            (&[to_gir[0], to_gir[1], "convert-gir-to-cpu"], Some("convert-gir-to-cpu")),
        ] {
            let first = done(once);
            prop_assert_eq!(&first, &done(once));
            let twice: Vec<&str> = once.iter().copied().chain(again).collect();
            prop_assert_eq!(&first, &done(&twice));
        }
    }
}

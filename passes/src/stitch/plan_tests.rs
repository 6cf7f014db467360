//! Other plans compute the same, and what is no plan changes nothing.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::test_runner::Config;
use sutura_dialects::graph::FusionOp;
use sutura_dialects::schedule::TreeAttr;
use sutura_interp::Tolerance;
use sutura_ir::diagnostics::Diagnostics;
use sutura_ir::verify::{VerifyOptions, verify};
use sutura_ir::{Context, Module, Op, OpRef, Rewriter, Type};

use super::alternatives::{Change, Plan, Site, sites};
use super::cost::CostModel;
use super::replan::replan;
use crate::testing::programs::{named, program, sizes, steps};
use crate::testing::{agree, any as any_symbol, context, copy, function, run, tensor, text};

/// Sums are made in other orders, of numbers that cancel.
const TOLERANCE: Tolerance = Tolerance { abs: 1e-3, rel: 1e-3, ulp: 0 };

const CHANGES: [Change; 2] = [Change::Join, Change::Cut];

fn stitched(cx: &Context, module: &Module, options: &str) -> Module {
    let mut module = copy(cx, module);
    run(cx, &mut module, &format!("builtin.module(func.func(canonicalize,stitch{options}))")).expect("it is stitched");
    module
}

/// A product and two functions of each number of it.
fn activated(cx: &Context) -> Module {
    let types = [&["M", "64"][..], &["64", "64"]].map(|sizes| tensor(cx, sizes, Type::F32));
    function(cx, &[("M", any_symbol())], &types, |g, args| {
        let product = g.product(args[0], args[1], false, false)?;
        let tanh = g.map(product, |s, x| s.math("math.tanh", x))?;
        Ok(vec![g.map(tanh, |s, x| s.abs(x))?])
    })
}

/// The module with another plan.
fn replanned(cx: &Context, module: &Module, site: &Site, kernels: &[Vec<usize>]) -> Result<Module, String> {
    let mut module = module.clone();
    let inside = module.body_mut().nested_mut(site.function).expect("a function has a body");
    replan(cx, inside, (&site.regions, kernels), (&CostModel::default(), "measured"))?;
    let mut diags = Diagnostics::default();
    let verified = verify(module.op_ref(cx), VerifyOptions::default(), &mut diags);
    assert!(verified.is_ok(), "{:?}\n{}", diags.iter().next().map(|d| &d.message), text(cx, &module));
    Ok(module)
}

fn regions(cx: &Context, module: &Module, function: Op) -> usize {
    let inside = module.body().nested(function).expect("a function has a body");
    inside.preorder().filter(|op| OpRef::new(cx, inside, *op).is::<FusionOp<'_>>()).count()
}

proptest! {
    #![proptest_config(Config { cases: 40, ..Config::default() })]

    #[test]
    fn every_other_plan_computes_the_same(steps in steps(6), at in sizes(), most in 0..3) {
        let cx = context();
        let before = program(&cx, &steps);
        let module = stitched(&cx, &before, &format!("{{max-ops={most}}}"));
        for change in CHANGES {
            for site in sites(&cx, module.body(), change).expect("no machine").iter().take(3) {
                let number = regions(&cx, &module, site.function);
                for plan in site.others.iter().take(2) {
                    let mut other = replanned(&cx, &module, site, &plan.kernels).expect("it is legal");
                    let made = regions(&cx, &other, site.function);
                    prop_assert_eq!(made + site.now.kernels.len(), number + plan.kernels.len());
                    agree(&cx, (&before, &other), &named(at), TOLERANCE, "regions");
                    run(&cx, &mut other, "builtin.module(convert-graph-to-gir)").expect("it is lowered");
                    agree(&cx, (&before, &other), &named(at), TOLERANCE, "kernels");
                }
            }
        }
    }
}

#[test]
fn sites_are_bounded_and_always_the_same() {
    let cx = context();
    for options in ["", "{max-ops=1}", "{max-ops=3}"] {
        let module = stitched(&cx, &activated(&cx), options);
        for change in CHANGES {
            let found = sites(&cx, module.body(), change).expect("no machine");
            assert_eq!(format!("{found:?}"), format!("{:?}", sites(&cx, module.body(), change).expect("no machine")));
            let apart = options == "{max-ops=1}";
            assert_eq!(found.is_empty(), apart == (change == Change::Cut), "{change:?} {options}");
            for Site { regions, now, others, .. } in found {
                let (from, to) = if change == Change::Join { (2, 1) } else { (1, 2) };
                assert_eq!((regions.len(), now.kernels.len()), (from, from));
                assert!(
                    (1..=3).contains(&others.len()) && others.is_sorted_by(|a, b| a.predicted_ns <= b.predicted_ns)
                );
                let near = |plan: &Plan| plan.kernels.len() == to && plan.predicted_ns <= 2.0 * now.predicted_ns;
                assert!(others.iter().all(near), "{others:?}");
                // Which of the two comes first is no matter.
                let halves = |plan: &Plan| plan.kernels.iter().cloned().collect::<BTreeSet<_>>();
                assert_eq!(others.iter().map(halves).collect::<BTreeSet<_>>().len(), others.len(), "{others:?}");
            }
        }
    }
}

#[test]
fn what_was_cut_is_joined_again() {
    let cx = context();
    let module = stitched(&cx, &activated(&cx), "");
    let site = sites(&cx, module.body(), Change::Cut).expect("no machine").remove(0);
    assert_eq!(site.now.to_string(), "one kernel");
    let cut = replanned(&cx, &module, &site, &site.others[0].kernels).expect("it is legal");
    assert!(text(&cx, &cut).contains("measured to be faster apart"), "{}", text(&cx, &cut));
    let back = sites(&cx, cut.body(), Change::Join).expect("no machine").remove(0);
    assert_eq!(back.now, site.others[0]);
    let joined = replanned(&cx, &cut, &back, &back.others[0].kernels).expect("it is legal");
    assert_eq!(text(&cx, &joined), text(&cx, &module));
}

#[test]
fn what_is_no_plan_changes_nothing() {
    let cx = context();
    let module = stitched(&cx, &activated(&cx), "{max-ops=1}");
    let all: Vec<Op> = {
        let function =
            module.body().entry_block().and_then(|block| module.body().ops(block).next()).expect("a function");
        let inside = module.body().nested(function).expect("a body");
        inside.preorder().filter(|op| OpRef::new(&cx, inside, *op).is::<FusionOp<'_>>()).collect()
    };
    let mut site = sites(&cx, module.body(), Change::Join).expect("no machine").remove(0);
    assert!(all.len() > 2, "{}", text(&cx, &module));
    let refused = |site: &Site, kernels: &[Vec<usize>]| replanned(&cx, &module, site, kernels).map(|_| ());
    let partition = "the regions have 2 ops, and each must be in one kernel";
    for kernels in [&[vec![0]][..], &[vec![0], vec![0, 1]], &[vec![0], vec![2]], &[]] {
        assert_eq!(refused(&site, kernels), Err(partition.to_owned()), "{kernels:?}");
    }
    // The first and the last op, with the others between them.
    site.regions = vec![all[0], all[all.len() - 1]];
    let why = refused(&site, &[vec![0, 1]]).expect_err("it is no plan");
    assert!(why.contains("stands between") || why.contains("are no kernel"), "{why}");
    let mut module = module.clone();
    let inside = module.body_mut().nested_mut(site.function).expect("a body");
    let tree = cx.ext_attr(TreeAttr { versions: vec![] });
    Rewriter::new(&cx, inside).set_prop(all[0], "schedule", Some(tree));
    let before = format!("{:?}", inside.preorder().collect::<Vec<_>>());
    let why = replan(&cx, inside, (&[all[0]], &[vec![0]]), (&CostModel::default(), "measured"));
    assert_eq!(why, Err("a region cannot be taken apart: it has a schedule of its own".to_owned()));
    assert_eq!(format!("{:?}", inside.preorder().collect::<Vec<_>>()), before);
    let left = sites(&cx, module.body(), Change::Join).expect("no machine");
    assert!(left.iter().all(|site| !site.regions.contains(&all[0])));
}

#[test]
fn plans_have_names() {
    let name = |kernels: &[&[usize]]| {
        Plan { kernels: kernels.iter().map(|k| k.to_vec()).collect(), predicted_ns: 1.0 }.to_string()
    };
    assert_eq!(name(&[&[0, 1, 2]]), "one kernel");
    assert_eq!(name(&[&[0, 1, 2, 5], &[3, 4], &[6]]), "3 kernels (0-2,5 | 3-4 | 6)");
}

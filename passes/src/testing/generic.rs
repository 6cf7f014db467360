//! The generic passes keep the meaning of random programs with control flow, alone and one after the other, at any
//! number of threads.

use proptest::prelude::*;
use proptest::test_runner::Config;
use sutura_interp::Tolerance;
use sutura_ir::analysis::Liveness;
use sutura_ir::verify::{VerifyOptions, verify};
use sutura_ir::{Context, Diagnostics, Module};

use super::control::module_text;
use super::{agree, context, copy, run, text};
use crate::generic::ALL;

fn parse(cx: &Context, text: &str) -> Module {
    let source = cx.sources().add("random.mlir".to_string(), text.to_string()).expect("a short text");
    let mut diags = Diagnostics::default();
    let module = sutura_grammar::parse_module(cx, &source, &sutura_grammar::ParseOptions::default(), &mut diags);
    let module = module.unwrap_or_else(|_| panic!("{text}\n{:#?}", diags.take()));
    verify(module.op_ref(cx), VerifyOptions::default(), &mut diags).unwrap_or_else(|_| panic!("{:#?}", diags.take()));
    module
}

fn program(cx: &Context, seed: u64) -> Module {
    parse(cx, &module_text(seed, (seed % 4) as usize, 4 + (seed % 23) as usize))
}

fn apply(cx: &Context, module: &mut Module, passes: &str) {
    let before = text(cx, module);
    let said = run(cx, module, &format!("builtin.module({passes})"));
    said.unwrap_or_else(|e| panic!("{passes}: {e:?}\n{before}"));
}

/// The passes that only report, or forget what the interpreter does not need, take part too.
fn names() -> Vec<String> {
    let mut names: Vec<String> = ALL.iter().map(|p| p.argument.to_string()).collect();
    names.extend(MORE.iter().map(ToString::to_string));
    names
}

/// Other options than the defaults.
const MORE: &[&str] = &[
    "inline{default-pipeline=sccp max-iterations=1}",
    "canonicalize{top-down=false}",
    "canonicalize{region-simplify=aggressive}",
    "symbol-privatize{exclude=main}",
];

/// What an iteration uses, the next one needs as well; what only the loop takes is dead behind it.
#[test]
fn values_live_through_loops() {
    let cx = context();
    let mut module = parse(
        &cx,
        "func.func @main(%n: index, %x: index, %m: memref<?xindex>) {
           %c0 = arith.constant 0 : index
           %c1 = arith.constant 1 : index
           scf.for %i = %c0 to %n step %c1 {
             memref.store %x, %m[%i] : memref<?xindex>
           }
           return
         }",
    );
    let function = module.body().preorder().next().expect("a function");
    let body = module.body_mut().nested_mut(function).expect("its body");
    let liveness = Liveness::new(&cx, body);
    let entry = body.entry_block().expect("a block");
    let [n, x] = [body.block_args(entry)[0], body.block_args(entry)[1]];
    let around = body.ops(entry).nth(2).expect("the loop");
    let inner = body.regions(around).next().and_then(|r| body.region_entry(r)).expect("its block");
    assert!(liveness.is_live_in(x, inner) && liveness.is_live_out(x, inner));
    let store = body.first_op(inner).expect("the store");
    assert!(!liveness.is_dead_after(body, x, store) && liveness.is_dead_after(body, x, around));
    assert!(!liveness.is_live_in(n, inner) && liveness.is_dead_after(body, n, around));
    let i = body.block_args(inner)[0];
    assert!(!liveness.is_live_in(i, inner) && liveness.is_dead_after(body, i, store));
}

proptest! {
    #![proptest_config(Config { cases: 24, ..Config::default() })]

    #[test]
    fn each_pass_keeps_the_meaning(seed: u64) {
        let cx = context();
        let before = program(&cx, seed);
        for pass in names().iter().filter(|p| !p.starts_with("symbol-privatize") || p.contains("exclude")) {
            let mut module = copy(&cx, &before);
            apply(&cx, &mut module, pass);
            agree(&cx, (&before, &module), &[], Tolerance::EXACT, pass);
        }
    }

    #[test]
    fn pipelines_keep_the_meaning(seed: u64, picks in prop::collection::vec(any::<prop::sample::Index>(), 2..10)) {
        let cx = context();
        let before = program(&cx, seed);
        let mut module = copy(&cx, &before);
        let names = names();
        let passes: Vec<&str> = picks.iter().map(|i| i.get(&names).as_str()).filter(|p| *p != "symbol-privatize").collect();
        for pass in &passes {
            apply(&cx, &mut module, pass);
        }
        agree(&cx, (&before, &module), &[], Tolerance::EXACT, &passes.join(","));
    }

}

proptest! {
    #![proptest_config(Config { cases: 4, ..Config::default() })]

    /// The same bytes with one thread and with several.
    #[test]
    fn threads_do_not_show(seed: u64) {
        let source = module_text(seed, 12, 10);
        let with = |threads: usize, pipeline: &str| {
            let cx = context();
            let mut module = parse(&cx, &source);
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("a pool");
            let said = pool.install(|| run(&cx, &mut module, &format!("builtin.module({pipeline})")));
            (said, text(&cx, &module))
        };
        for pass in names() {
            // Those on symbol tables do not run on functions.
            let nested = if pass.starts_with("symbol-") { String::new() } else { format!(",func.func({pass})") };
            let pipeline = format!("{pass}{nested}");
            prop_assert_eq!(with(1, &pipeline), with(4, &pipeline), "{}", pipeline);
        }
    }
}

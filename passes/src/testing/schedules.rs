//! What is done to schedules keeps the meaning of their regions, or is refused.

use std::panic::{AssertUnwindSafe, catch_unwind};

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use sutura_dialects::r#dyn::SymbolInfo;
use sutura_dialects::func::FuncOp;
use sutura_dialects::graph::FusionOp;
use sutura_dialects::graph::build::{Joined, Padding, Window};
use sutura_dialects::schedule::TreeAttr;
use sutura_interp::Tolerance;
use sutura_ir::ext::VerifyParams;
use sutura_ir::{Attr, Context, Module, Op, OpRef, Rewriter, Type};

use super::edits::{Dice, edit};
use super::programs::{named, program, sizes, steps};
use super::traces::trace;
use super::{agree, any as any_symbol, context, copy, function, run, tensor, text};

/// Sums are made in other orders, of numbers that cancel.
const TOLERANCE: Tolerance = Tolerance { abs: 1e-3, rel: 1e-3, ulp: 0 };

/// So that rows are long, sums are made in parts and products have edges at sizes that the interpreter bears.
const SMALL: &[&str] = &[
    "",
    "{resident-columns=8}",
    "{parts=3 part-rows=2}",
    "{resident-columns=16 parts=2 part-rows=1 tile-rows=4 tile-columns=16}",
    "{resident-keys=8 tile-rows=2 tile-columns=4}",
];

/// The regions of `main` that have schedules.
fn scheduled(cx: &Context, module: &Module) -> Vec<(Op, Op, TreeAttr)> {
    let body = module.body();
    let mut all = Vec::new();
    for function in body.entry_block().into_iter().flat_map(|block| body.ops(block)) {
        let view = OpRef::new(cx, body, function);
        let entry = view.as_::<FuncOp<'_>>().and_then(|_| view.region(0)?.entry());
        for op in entry.into_iter().flat_map(|entry| entry.ops()) {
            let tree = op.as_::<FusionOp<'_>>().and_then(|fusion| fusion.schedule());
            all.extend(tree.map(|tree| (function, op.op, tree.clone())));
        }
    }
    all
}

fn set(cx: &Context, module: &mut Module, (function, fusion): (Op, Op), (name, attr): (&str, Option<Attr>)) {
    let inside = module.body_mut().nested_mut(function).expect("a function has a body");
    Rewriter::new(cx, inside).set_prop(fusion, name, attr);
}

/// What is changed of a region's schedule: attributes of it.
type Change = fn(&Context, &TreeAttr, &mut Dice) -> Option<Vec<(&'static str, Option<Attr>)>>;

/// An edited schedule, if it is one.
fn edited(cx: &Context, tree: &TreeAttr, dice: &mut Dice) -> Option<Vec<(&'static str, Option<Attr>)>> {
    let mut tree = tree.clone();
    for _ in 0..=dice.below(3) {
        edit(&mut tree, dice);
    }
    tree.verify_params(cx).is_ok().then(|| vec![("schedule", Some(cx.ext_attr(tree)))])
}

/// A trace of the schedule, or of the one that the rule writes again.
fn traced(cx: &Context, tree: &TreeAttr, dice: &mut Dice) -> Option<Vec<(&'static str, Option<Attr>)>> {
    let mut attrs = vec![("trace", Some(cx.ext_attr(trace(cx, tree, dice))))];
    if dice.yes() {
        attrs.push(("schedule", None));
    }
    Some(attrs)
}

/// A module and the machine that it is for; none stands for any processor.
struct Program {
    module: Module,
    machine: Option<&'static str>,
}

/// A convolution with a bias.
fn convolution(cx: &Context) -> Module {
    let types = [&["M", "2", "5", "N"][..], &["5", "2", "2", "3"], &["5"]].map(|s| tensor(cx, s, Type::F32));
    let symbols =
        [("M", SymbolInfo { max: 13, ..any_symbol() }), ("N", SymbolInfo { min: 3, max: 4096, ..any_symbol() })];
    let padding = Padding::Explicit(vec![1, 0], vec![0, 2]);
    let window = Window { kernel: vec![2, 3], strides: vec![1, 2], dilations: vec![1, 1], padding, ceil: false };
    function(cx, &symbols, &types, |g, args| Ok(vec![g.conv(args[0], args[1], Some(args[2]), 1, &window)?]))
}

/// Two products of one matrix with something behind one of them.
fn siblings(cx: &Context) -> Module {
    let types = [&["M", "9"][..], &["9", "N"], &["9", "40"], &["N"]].map(|s| tensor(cx, s, Type::F32));
    let symbols = [("M", any_symbol()), ("N", SymbolInfo { max: 4096, ..any_symbol() })];
    function(cx, &symbols, &types, |g, args| {
        let product = g.matmul(args[0], args[1])?;
        let first = g.zip(product, args[3], |s, a, b| s.add(a, b))?;
        Ok(vec![first, g.matmul(args[0], args[2])?])
    })
}

/// A product of rows that are divided by their sums.
fn made_rows(cx: &Context) -> Module {
    let types = [&["M", "9"][..], &["9", "N"]].map(|s| tensor(cx, s, Type::F32));
    let symbols = [("M", any_symbol()), ("N", SymbolInfo { max: 4096, ..any_symbol() })];
    function(cx, &symbols, &types, |g, args| {
        let rows = g.softmax(args[0], 1)?;
        Ok(vec![g.matmul(rows, args[1])?])
    })
}

/// Attention, with a number added to its scores.
fn attention(cx: &Context) -> Module {
    let types = [&["M", "5"][..], &["N", "5"], &["N", "6"], &["N"]].map(|s| tensor(cx, s, Type::F32));
    let symbols = [("M", any_symbol()), ("N", SymbolInfo { max: 4096, ..any_symbol() })];
    function(cx, &symbols, &types, |g, args| {
        let scores = g.product(args[0], args[1], false, true)?;
        let moved = g.zip(scores, args[3], |s, a, b| s.add(a, b))?;
        let weights = g.softmax(moved, 1)?;
        Ok(vec![g.matmul(weights, args[2])?])
    })
}

/// Attention of so many queries that a GPU's units share keys and values.
fn long_attention(cx: &Context) -> Module {
    let types = [&["20", "6"][..], &["N", "6"], &["N", "5"]].map(|s| tensor(cx, s, Type::F32));
    function(cx, &[("N", SymbolInfo { max: 4096, ..any_symbol() })], &types, |g, args| {
        let scores = g.product(args[0], args[1], false, true)?;
        let weights = g.softmax(scores, 1)?;
        Ok(vec![g.matmul(weights, args[2])?])
    })
}

/// A product of so many rows that a GPU's units share factors.
fn shared_factors(cx: &Context) -> Module {
    let types = [&["40", "20"][..], &["20", "N"]].map(|s| tensor(cx, s, Type::F32));
    let symbols = [("N", SymbolInfo { max: 4096, ..any_symbol() })];
    function(cx, &symbols, &types, |g, args| Ok(vec![g.matmul(args[0], args[1])?]))
}

/// Rows that are written over others, the last one at a place stays.
fn updates(cx: &Context) -> Module {
    let types = [tensor(cx, &["3", "N"], Type::F32), tensor(cx, &["M", "1"], Type::I64)];
    let types = [types[0], types[1], tensor(cx, &["M", "N"], Type::F32)];
    function(cx, &[("M", any_symbol()), ("N", any_symbol())], &types, |g, args| {
        let at = g.map(args[1], |s, x| {
            let count = s.int(3, Type::I64);
            s.rem(x, count)
        })?;
        Ok(vec![g.scatter((args[0], at, args[2]), None, Joined::Replace)?])
    })
}

/// The largest number of each row and its place, and a recurrence down the columns.
const STATES: &str = "
!x = tensor<?x?xf32, #dyn.shape<[M, N]>>
!r = tensor<?xf32, #dyn.shape<[M]>>
!i = tensor<?xi64, #dyn.shape<[M]>>
#all = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @main(%x: !x, %a: !x) -> (!r, !i, !x, !x) {
  %M = dyn.symbol \"M\" {range = [0, 4096]} : index
  %N = dyn.symbol \"N\" {range = [0, 4096]} : index
  %most, %place = graph.compute ins(%x : !x) -> !r, !i {
    iterators = #graph.iterators<[parallel, reduce]>, maps = [#all, #row, #row],
    state = #graph.state<[0xFF800000 : f32, 9223372036854775807 : i64], laws = [associative]>
  } {
  ^bb0(%e: f32):
    %i = graph.index 1 : index
    %k = arith.index_cast %i : index to i64
    graph.yield %e, %k : f32, i64
  } combine {
  ^bb0(%p: f32, %i: i64, %q: f32, %j: i64):
    %more = arith.cmpf oge, %q, %p : f32
    %c = arith.select %more, %q, %p : f32
    %k = arith.select %more, %j, %i : i64
    graph.yield %c, %k : f32, i64
  }
  %p:2 = graph.scan %x, %a {axis = 0 : i64, state = #graph.state<[1.0 : f32, 0.0 : f32], laws = [associative]>} : !x, !x -> !x, !x combine {
  ^bb0(%f: f32, %g: f32, %c: f32, %d: f32):
    %0 = arith.mulf %f, %c : f32
    %1 = arith.mulf %g, %c : f32
    %2 = arith.addf %1, %d : f32
    graph.yield %0, %2 : f32, f32
  }
  return %most, %place, %p#0, %p#1 : !r, !i, !x, !x
}
";

/// A program of a form of its own, by number.
fn special(cx: &Context, number: u8) -> Program {
    let module = match number % 9 {
        0 => convolution(cx),
        1 => siblings(cx),
        2 => made_rows(cx),
        3 => updates(cx),
        4 => sutura_dialects::text::parse_text(cx, "states.mlir", STATES).expect("it is valid"),
        5 | 6 => attention(cx),
        7 => return Program { module: long_attention(cx), machine: Some("sm_80") },
        _ => return Program { module: shared_factors(cx), machine: Some("sm_80") },
    };
    Program { module, machine: None }
}

/// A random program, and a copy with the schedules that rules write.
fn with_schedules(cx: &Context, runner: &mut TestRunner, options: &str) -> (Program, Module) {
    let before = match any::<u8>().new_tree(runner).expect("a number").current() {
        number @ 0..153 => special(cx, number),
        _ => Program { module: program(cx, &steps(4).new_tree(runner).expect("steps").current()), machine: None },
    };
    let mut module = copy(cx, &before.module);
    let pipeline = before.pipeline(&format!("schedule-regions{options}"));
    run(cx, &mut module, &pipeline).unwrap_or_else(|said| panic!("{said:?}\n{}", text(cx, &before.module)));
    (before, module)
}

impl Program {
    /// From functions to regions, and then `end`.
    fn pipeline(&self, end: &str) -> String {
        let target = self.machine.map_or(String::new(), |name| format!("attach-target{{name={name}}},"));
        format!("builtin.module({target}func.func(canonicalize,stitch{{planner=greedy}}),{end})")
    }
}

fn runner(seed: u64) -> TestRunner {
    let mut bytes = [0u8; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    TestRunner::new_with_rng(Config::default(), TestRng::from_seed(RngAlgorithm::ChaCha, &bytes))
}

/// Changes a schedule of a random program. True for one that was followed.
///
/// # Errors
/// When a program that was edited means something else, when what was refused is said in other words, or on an internal error.
fn keeps_or_refuses(cx: &Context, seed: u64, change: Change) -> Result<bool, String> {
    let (mut runner, mut dice) = (runner(seed), Dice(seed));
    let options = SMALL[dice.below(SMALL.len())];
    let programs = std::iter::repeat_with(|| {
        let (before, module) = with_schedules(cx, &mut runner, options);
        let regions = scheduled(cx, &module);
        (before, module, regions)
    });
    let found = { programs }.find(|(.., regions)| !regions.is_empty());
    let (before, mut module, regions) = found.expect("programs without schedules are few");
    let (function, fusion, tree) = &regions[dice.below(regions.len())];
    let Some(attrs) = change(cx, tree, &mut dice) else { return Ok(false) };
    // A trace becomes a schedule before, or as it is followed.
    let before_it = attrs.iter().any(|(name, _)| *name == "trace") && dice.yes();
    attrs.into_iter().for_each(|attr| set(cx, &mut module, (*function, *fusion), attr));
    let given = text(cx, &module);
    let written = if before_it { format!("schedule-regions{options},") } else { String::new() };
    let pipeline = format!("builtin.module({written}convert-graph-to-gir{options})");
    let outcome = catch_unwind(AssertUnwindSafe(|| {
        if let Err(said) = run(cx, &mut module, &pipeline) {
            let refused = |line: &String| line.contains("has a schedule") || line.contains("has a trace that");
            assert!(said.iter().any(refused), "refused in other words: {said:?}");
            return false;
        }
        let lowered = before.machine.is_none().then(|| {
            let mut lowered = copy(cx, &module);
            run(cx, &mut lowered, "builtin.module(plan-buffers,convert-gir-to-cpu{vector-bytes=32})")
                .unwrap_or_else(|said| panic!("cannot be lowered: {said:?}\n{}", text(cx, &module)));
            lowered
        });
        let before = &before.module;
        for _ in 0..3 {
            let mut at = sizes().new_tree(&mut runner).expect("sizes").current();
            // A window of three columns lies inside.
            at.1 = at.1.max(3);
            let at = named(at);
            agree(cx, (before, &module), &at, TOLERANCE, "gir");
            if let Some(lowered) = &lowered {
                agree(cx, (before, lowered), &at, TOLERANCE, "cpu");
            }
        }
        true
    }));
    outcome.map_err(|panic| {
        let said = panic.downcast_ref::<String>().map(String::as_str);
        let said = said.or(panic.downcast_ref::<&str>().copied()).unwrap_or_default();
        format!("seed {seed}: {said}\nof\n{given}")
    })
}

/// Changes from `first` on; how many were followed.
fn changes(change: Change, first: u64, number: u64) -> u64 {
    use rayon::prelude::*;
    let outcomes: Vec<_> =
        (first..first + number).into_par_iter().map(|seed| keeps_or_refuses(&context(), seed, change)).collect();
    let wrong: Vec<&String> = outcomes.iter().filter_map(|outcome| outcome.as_ref().err()).collect();
    if let Some(first) = wrong.first() {
        let seeds: Vec<&str> = wrong.iter().filter_map(|said| said.lines().next()).collect();
        panic!("{} changes went wrong:\n{}\n\n{first}", wrong.len(), seeds.join("\n"));
    }
    outcomes.iter().filter(|outcome| matches!(outcome, Ok(true))).count() as u64
}

#[test]
fn edited_schedules_keep_the_meaning_or_are_refused() {
    let followed = changes(edited, 0, 300);
    eprintln!("{followed} of 300 edits followed");
    assert!((60..290).contains(&followed), "{followed} of 300 edits followed");
}

#[test]
fn special_programs_have_the_nodes_that_they_are_for() {
    let cx = context();
    let node = [
        "cache ",
        "together {",
        " cols d1 in l1 padded {",
        "graph.scatter",
        "state = ",
        " online ",
        "hoist ",
        " columnwise",
        " units {",
    ];
    for (number, wanted) in node.into_iter().enumerate() {
        let mut program = special(&cx, number as u8);
        let pipeline = program.pipeline("schedule-regions{resident-keys=8}");
        run(&cx, &mut program.module, &pipeline).unwrap_or_else(|said| panic!("{said:?}"));
        let written = text(&cx, &program.module);
        assert!(written.contains(wanted) && written.contains("#schedule.tree<"), "{wanted} in\n{written}");
    }
}

/// `SUTURA_EDITS=0..10000`, which `cargo xtask soak` sets.
#[test]
fn edited_schedules_for_as_long_as_one_lets_it() {
    for_as_long(edited, "SUTURA_EDITS");
}

/// `SUTURA_TRACES=0..10000`, which `cargo xtask soak` sets.
#[test]
fn traces_for_as_long_as_one_lets_it() {
    for_as_long(traced, "SUTURA_TRACES");
}

fn for_as_long(change: Change, variable: &str) {
    let Ok(wanted) = std::env::var(variable) else { return };
    let (first, last) = wanted.split_once("..").expect("a range");
    let [first, last] = [first, last].map(|number| number.parse::<u64>().expect("a number"));
    eprintln!("{} of {} followed", changes(change, first, last - first), last - first);
}

#[test]
fn traces_keep_the_meaning_or_are_refused() {
    let followed = changes(traced, 0, 300);
    eprintln!("{followed} of 300 traces followed");
    assert!((60..290).contains(&followed), "{followed} of 300 traces followed");
}

#[test]
fn schedules_that_rules_write_are_followed_to_the_same_kernels() {
    let cx = context();
    for seed in 0..40 {
        let mut runner = runner(seed);
        let options = SMALL[(seed % SMALL.len() as u64) as usize];
        let (before, mut module) = with_schedules(&cx, &mut runner, options);
        let mut direct = copy(&cx, &before.module);
        let to_gir = format!("convert-graph-to-gir{options}");
        run(&cx, &mut direct, &before.pipeline(&to_gir)).unwrap_or_else(|said| panic!("{said:?}"));
        let given = text(&cx, &module);
        run(&cx, &mut module, &format!("builtin.module({to_gir})")).unwrap_or_else(|said| panic!("{said:?}\n{given}"));
        assert_eq!(text(&cx, &module), text(&cx, &direct), "{given}");
    }
}

proptest! {
    #![proptest_config(Config { cases: 12, ..Config::default() })]

    /// What a schedule's text says is what the attribute says.
    #[test]
    fn schedules_of_programs_are_read_again(seed in any::<u64>()) {
        let cx = context();
        let (_, module) = with_schedules(&cx, &mut runner(seed), "");
        let written = text(&cx, &module);
        let read = sutura_dialects::text::parse_text(&cx, "again.mlir", &written);
        prop_assert_eq!(text(&cx, &read.expect("it is read again")), written);
    }
}

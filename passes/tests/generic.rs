//! The generic passes on programs that are built by hand: control flow and memory effects that no dialect here has.

use std::ops::Range;

use sutura_ir::asm::print::{PrintOptions, module_text};
use sutura_ir::constraints::*;
use sutura_ir::interfaces::{BranchOp, Effect, EffectKind, Effects, MemoryEffects};
use sutura_ir::op_def::Canonicalize;
use sutura_ir::pass::{Event, PassRegistry, RunConfig, parse_pipeline, run_pipeline};
use sutura_ir::pattern::PatternSet;
use sutura_ir::*;

/// A function.
#[op("test.func", traits(IsolatedFromAbove, Symbol))]
struct FuncOp {
    sym_name: Attr<SymbolNameAttr>,
    sym_visibility: OptAttr<StrAttr>,
    body: Region,
}

/// Ends a function.
#[op("test.ret", traits(Terminator))]
struct RetOp {
    values: Operands<AnyType>,
}

/// Goes on in another block.
#[op("test.br", traits(Terminator))]
struct BrOp {
    args: Operands<AnyType>,
    to: Successor,
}

/// Goes on in one of two blocks.
#[op("test.cond_br", traits(Terminator))]
struct CondBrOp {
    on: Operand<I1>,
    yes: Successor,
    no: Successor,
}

/// Reads memory.
#[op("test.load")]
struct LoadOp {
    loaded: Res<AnyType>,
}

/// Writes memory.
#[op("test.store")]
struct StoreOp {
    given: Operand<AnyType>,
}

/// Uses a value, without effect on memory.
#[op("test.give", traits(Terminator, Pure))]
struct GiveOp {
    given: Operand<AnyType>,
}

/// Has a region.
#[op("test.scope", traits(RecursiveMemoryEffects, SingleBlock))]
struct ScopeOp {
    body: Region,
    out: Results<AnyType>,
}

/// Has patterns that undo each other.
#[op("test.flip", canonicalize)]
struct FlipOp {
    up: Flag,
}

impl Canonicalize for FlipOp<'_> {
    fn patterns(set: &mut PatternSet) {
        set.add::<FlipOp<'_>>("flip", |op, rw| {
            let up = rw.op_ref(op).prop("up").is_some();
            rw.set_prop(op, "up", (!up).then_some(Attr::UNIT));
            Some(())
        });
    }
}

struct Kind(EffectKind);
impl MemoryEffects for Kind {
    fn effects(&self, _: OpRef<'_>) -> Effects {
        Effects::from_elem(Effect { kind: self.0, value: None }, 1)
    }
}

struct Branch;
impl BranchOp for Branch {
    fn successor_operands(&self, op: OpRef<'_>, _: usize) -> Range<usize> {
        let first = if op.name_str() == "test.br" { 0 } else { op.num_operands() };
        first..op.num_operands()
    }

    fn set_successor_operands(&self, rw: &mut Rewriter<'_>, op: Op, _: usize, values: &[Value]) {
        let own = self.successor_operands(rw.op_ref(op), 0).start;
        let kept: Vec<Value> = rw.op_ref(op).operands().take(own).chain(values.iter().copied()).collect();
        rw.set_operands(op, &kept);
    }
}

struct TestDialect;
impl Dialect for TestDialect {
    const NAME: &'static str = "test";
    fn register(d: &mut DialectBuilder<'_>) {
        d.op::<FuncOp<'_>>().op::<RetOp<'_>>().op::<BrOp<'_>>().op::<CondBrOp<'_>>();
        d.op::<LoadOp<'_>>().op::<StoreOp<'_>>().op::<ScopeOp<'_>>().op::<GiveOp<'_>>().op::<FlipOp<'_>>();
        d.interface::<dyn MemoryEffects>("test.load", &Kind(EffectKind::Read));
        d.interface::<dyn MemoryEffects>("test.store", &Kind(EffectKind::Write));
        d.interface::<dyn BranchOp>("test.br", &Branch);
        d.interface::<dyn BranchOp>("test.cond_br", &Branch);
    }
}

struct Fixture {
    cx: Context,
    passes: PassRegistry,
}

impl Fixture {
    fn new() -> Self {
        let cx = Context::new(sutura_dialects::all().with::<TestDialect>());
        let mut passes = PassRegistry::new();
        sutura_passes::register(&mut passes);
        Self { cx, passes }
    }

    /// A module with one function; `build` fills its entry block, which has arguments of types `args`.
    fn function(&self, args: &[Type], build: impl FnOnce(&mut Builder<'_>, Block)) -> Module {
        let mut module = Module::new(&self.cx, Loc::UNKNOWN);
        self.add_function(&mut module, "f", args, build);
        module
    }

    fn add_function(
        &self,
        module: &mut Module,
        name: &str,
        args: &[Type],
        build: impl FnOnce(&mut Builder<'_>, Block),
    ) {
        let cx = &self.cx;
        let mut inside = Body::new(1);
        let region = inside.region();
        let mut b = Builder::new(cx, &mut inside);
        let args: Vec<(Type, Loc)> = args.iter().map(|t| (*t, Loc::UNKNOWN)).collect();
        let entry = b.create_block(region, &args);
        b.set_to_end(entry);
        build(&mut b, entry);
        let top = module.body().entry_block().expect("a block");
        let state = op(cx, "test.func").prop(cx.ident("sym_name"), cx.string_attr(name)).regions(1);
        Builder::at_end(cx, module.body_mut(), top).create_isolated(state, Box::new(inside));
    }

    /// Runs a pipeline; the program in generic form without its first and last lines, and what was reported, remarks
    /// apart.
    fn run(&self, module: &mut Module, pipeline: &str) -> (Vec<String>, Vec<String>) {
        let mut diags = Diagnostics::default();
        let mut manager =
            parse_pipeline(&self.cx, &self.passes, "<pipeline>", pipeline, &mut diags).expect("a pipeline");
        let config = RunConfig { verify_each: true, no_remarks: true, ..RunConfig::default() };
        let mut reported = Vec::new();
        let mut sink = |event| match event {
            Event::Diagnostic(d) if d.severity == Severity::Remark => {}
            Event::Diagnostic(d) => reported.push(d.message),
            Event::Dump(dump) => reported.push(dump.text),
            Event::Text(text) => reported.push(text),
        };
        let (_, result) = run_pipeline(&self.cx, module, &mut manager, &config, &mut sink);
        assert!(result.is_ok(), "{reported:?}");
        let options = PrintOptions { discard_value_names: true, ..PrintOptions::generic() };
        let text = module_text(&self.cx, module, &options);
        let lines: Vec<String> = text.lines().map(|l| l.trim().to_string()).collect();
        (lines[2..lines.len() - 2].to_vec(), reported)
    }
}

fn op(cx: &Context, name: &str) -> OpState {
    OpState::new(cx.op_name(name), Loc::UNKNOWN)
}

fn args(b: &Builder<'_>, block: Block) -> Vec<Value> {
    b.body().block_args(block).to_vec()
}

fn make(b: &mut Builder<'_>, name: &str, operands: &[Value], results: &[Type]) -> Vec<Value> {
    let state = op(b.cx(), name).operands(operands.iter().copied()).results(results.iter().copied());
    let made = b.create(state);
    b.body().results(made).collect()
}

fn binary(b: &mut Builder<'_>, name: &str, lhs: Value, rhs: Value) -> Value {
    let ty = b.body().ty(lhs);
    make(b, name, &[lhs, rhs], &[ty])[0]
}

fn constant(b: &mut Builder<'_>, number: i64) -> Value {
    let cx = b.cx();
    let state = op(cx, "arith.constant").prop(cx.ident("value"), cx.int_attr(number, Type::I32)).results([Type::I32]);
    let made = b.create(state);
    b.body().result(made, 0)
}

fn branch(b: &mut Builder<'_>, name: &str, operands: &[Value], to: &[Block]) {
    let state = op(b.cx(), name).operands(operands.iter().copied()).successors(to.iter().copied());
    b.create(state);
}

#[test]
fn constants_are_folded_merged_and_moved_to_the_front() {
    let fixture = Fixture::new();
    let mut module = fixture.function(&[Type::I32], |b, entry| {
        let x = args(b, entry)[0];
        let two = constant(b, 2);
        let sum = binary(b, "arith.addi", two, two);
        let first = binary(b, "arith.muli", sum, x);
        let again = constant(b, 4);
        let second = binary(b, "arith.muli", x, again);
        make(b, "test.ret", &[first, second], &[]);
    });
    let (lines, reported) = fixture.run(&mut module, "builtin.module(canonicalize)");
    assert_eq!(
        lines,
        [
            "^bb0(%arg0: i32):",
            "%0 = \"arith.constant\"() <{value = 4 : i32}> : () -> i32",
            "%1 = \"arith.muli\"(%arg0, %0) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32",
            "%2 = \"arith.muli\"(%arg0, %0) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32",
            "\"test.ret\"(%1, %2) : (i32, i32) -> ()",
        ]
    );
    assert!(reported.is_empty());
}

#[test]
fn dead_ops_go_and_effects_stay() {
    let fixture = Fixture::new();
    for pass in ["canonicalize", "cse"] {
        let mut module = fixture.function(&[Type::I32], |b, entry| {
            let x = args(b, entry)[0];
            binary(b, "arith.addi", x, x);
            make(b, "test.load", &[], &[Type::I32]);
            make(b, "test.store", &[x], &[]);
            make(b, "test.ret", &[], &[]);
        });
        let (lines, _) = fixture.run(&mut module, &format!("builtin.module({pass})"));
        assert_eq!(lines, ["^bb0(%arg0: i32):", "\"test.store\"(%arg0) : (i32) -> ()", "\"test.ret\"() : () -> ()"]);
    }
}

#[test]
fn cse_knows_commutativity() {
    let fixture = Fixture::new();
    let mut module = fixture.function(&[Type::I32, Type::I32], |b, entry| {
        let [x, y] = args(b, entry)[..] else { panic!("two arguments") };
        let values = [
            binary(b, "arith.addi", x, y),
            binary(b, "arith.addi", y, x),
            binary(b, "arith.subi", x, y),
            binary(b, "arith.subi", y, x),
        ];
        make(b, "test.ret", &values, &[]);
    });
    let (lines, _) = fixture.run(&mut module, "builtin.module(test.func(cse))");
    assert_eq!(lines.last().map(String::as_str), Some("\"test.ret\"(%0, %0, %1, %2) : (i32, i32, i32, i32) -> ()"));
}

#[test]
fn cse_of_reads_stops_at_writes() {
    let fixture = Fixture::new();
    let mut module = fixture.function(&[Type::I32], |b, entry| {
        let x = args(b, entry)[0];
        let mut values = Vec::new();
        for _ in 0..2 {
            for _ in 0..2 {
                values.extend(make(b, "test.load", &[], &[Type::I32]));
            }
            make(b, "test.store", &[x], &[]);
        }
        make(b, "test.ret", &values, &[]);
    });
    let (lines, _) = fixture.run(&mut module, "builtin.module(cse)");
    assert_eq!(lines.last().map(String::as_str), Some("\"test.ret\"(%0, %0, %1, %1) : (i32, i32, i32, i32) -> ()"));
}

#[test]
fn cse_follows_dominance() {
    let fixture = Fixture::new();
    let mut module = fixture.function(&[Type::I32, Type::I1], |b, entry| {
        let [x, on] = args(b, entry)[..] else { panic!("two arguments") };
        let region = b.body().region();
        let (left, right) = (b.create_block(region, &[]), b.create_block(region, &[]));
        b.set_to_end(entry);
        let sum = binary(b, "arith.addi", x, x);
        branch(b, "test.cond_br", &[on], &[left, right]);
        for block in [left, right] {
            b.set_to_end(block);
            let again = binary(b, "arith.addi", x, x);
            let product = binary(b, "arith.muli", again, sum);
            make(b, "test.ret", &[product], &[]);
        }
    });
    let (lines, _) = fixture.run(&mut module, "builtin.module(cse)");
    let count = |name: &str| lines.iter().filter(|l| l.contains(name)).count();
    assert_eq!((count("addi"), count("muli")), (1, 2), "{lines:#?}");
}

#[test]
fn cse_compares_regions() {
    let fixture = Fixture::new();
    let mut module = fixture.function(&[Type::I32], |b, entry| {
        let x = args(b, entry)[0];
        let mut values = Vec::new();
        for name in ["arith.addi", "arith.addi", "arith.muli"] {
            let state = op(b.cx(), "test.scope").results([Type::I32]).regions(1);
            let scope = b.create(state);
            let region = b.body().regions(scope).next().expect("a region");
            let block = b.create_block(region, &[]);
            b.set_to_end(block);
            let v = binary(b, name, x, x);
            make(b, "test.give", &[v], &[]);
            b.set_to_end(entry);
            values.push(b.body().result(scope, 0));
        }
        make(b, "test.ret", &values, &[]);
    });
    let (lines, _) = fixture.run(&mut module, "builtin.module(cse)");
    assert_eq!(lines.last().map(String::as_str), Some("\"test.ret\"(%0, %0, %1) : (i32, i32, i32) -> ()"));
}

#[test]
fn unreachable_blocks_and_unneeded_arguments_go() {
    let fixture = Fixture::new();
    let mut module = fixture.function(&[Type::I32, Type::I1], |b, entry| {
        let [x, on] = args(b, entry)[..] else { panic!("two arguments") };
        let region = b.body().region();
        let i32_arg = (Type::I32, Loc::UNKNOWN);
        // The first argument is passed on in the loop only, the second is `x` each time, the third is needed.
        let head = b.create_block(region, &[i32_arg, i32_arg, i32_arg]);
        let (body, exit) = (b.create_block(region, &[]), b.create_block(region, &[]));
        let (dead_a, dead_b) = (b.create_block(region, &[]), b.create_block(region, &[]));
        b.set_to_end(entry);
        branch(b, "test.br", &[x, x, x], &[head]);
        b.set_to_end(head);
        branch(b, "test.cond_br", &[on], &[body, exit]);
        b.set_to_end(body);
        let [dead, same, sum] = args(b, head)[..] else { panic!("three arguments") };
        let next = binary(b, "arith.addi", sum, same);
        branch(b, "test.br", &[dead, same, next], &[head]);
        b.set_to_end(exit);
        make(b, "test.ret", &[sum], &[]);
        // Two blocks that use each other's values.
        b.set_to_end(dead_a);
        let a = binary(b, "arith.addi", x, x);
        branch(b, "test.br", &[], &[dead_b]);
        b.set_to_end(dead_b);
        binary(b, "arith.addi", a, x);
        branch(b, "test.br", &[], &[dead_a]);
    });
    let (lines, reported) = fixture.run(&mut module, "builtin.module(canonicalize)");
    assert_eq!(
        lines,
        [
            "^bb0(%arg0: i32, %arg1: i1):",
            "\"test.br\"(%arg0)[^bb1] : (i32) -> ()",
            "^bb1(%0: i32):  // 2 preds: ^bb0, ^bb2",
            "\"test.cond_br\"(%arg1)[^bb2, ^bb3] : (i1) -> ()",
            "^bb2:  // pred: ^bb1",
            "%1 = \"arith.addi\"(%0, %arg0) <{overflowFlags = #arith.overflow<none>}> : (i32, i32) -> i32",
            "\"test.br\"(%1)[^bb1] : (i32) -> ()",
            "^bb3:  // pred: ^bb1",
            "\"test.ret\"(%0) : (i32) -> ()",
        ]
    );
    assert!(reported.is_empty());
}

#[test]
fn patterns_that_undo_each_other_are_told() {
    let fixture = Fixture::new();
    let build = |b: &mut Builder<'_>, _| {
        make(b, "test.flip", &[], &[]);
        make(b, "test.ret", &[], &[]);
    };
    let mut module = fixture.function(&[], build);
    let (_, reported) = fixture.run(&mut module, "builtin.module(canonicalize)");
    assert_eq!(reported.len(), 1);
    assert!(reported[0].starts_with("canonicalization did not converge"), "{reported:?}");
    let mut module = fixture.function(&[], build);
    let (_, reported) = fixture.run(&mut module, "builtin.module(canonicalize{disable-patterns=flip})");
    assert!(reported.is_empty(), "{reported:?}");
}

#[test]
fn a_pass_that_runs_on_nothing_says_so() {
    let fixture = Fixture::new();
    let mut module = fixture.function(&[], |b, _| drop(make(b, "test.ret", &[], &[])));
    let (_, reported) = fixture.run(&mut module, "builtin.module(builtin.module(test.func(cse)))");
    assert_eq!(
        reported,
        ["pass 'cse' ran on no operation: there is no 'builtin.module/builtin.module/test.func' in the input"]
    );
}

#[test]
fn output_does_not_depend_on_threads() {
    let fixture = Fixture::new();
    let run = |threads: usize| {
        let mut module = Module::new(&fixture.cx, Loc::UNKNOWN);
        for index in 0..100 {
            fixture.add_function(&mut module, &format!("f{index}"), &[Type::I32], |b, entry| {
                let x = args(b, entry)[0];
                let c = constant(b, index);
                let values = [binary(b, "arith.addi", c, x), binary(b, "arith.addi", x, c)];
                make(b, "test.ret", &values, &[]);
            });
        }
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        pool.install(|| fixture.run(&mut module, "builtin.module(test.func(canonicalize,cse),canonicalize)"))
    };
    assert_eq!(run(1), run(7));
}

#[test]
fn private_symbols_without_references_go() {
    let fixture = Fixture::new();
    let cx = &fixture.cx;
    let mut module = Module::new(cx, Loc::UNKNOWN);
    for (name, uses) in [("a", Some("b")), ("b", None), ("c", Some("d")), ("d", Some("c")), ("e", None)] {
        fixture.add_function(&mut module, name, &[], |b, _| {
            let mut state = op(cx, "test.ret");
            if let Some(uses) = uses {
                state = state.attr(cx.ident("calls"), cx.symbol_ref(uses));
            }
            b.create(state);
        });
    }
    let top = module.body().entry_block().expect("a block");
    let ops: Vec<Op> = module.body().ops(top).collect();
    let mut rewriter = Rewriter::new(cx, module.body_mut());
    for op in &ops[1..] {
        rewriter.set_prop(*op, "sym_visibility", Some(cx.string_attr("private")));
    }
    fixture.run(&mut module, "builtin.module(symbol-dce)");
    let top = module.body().entry_block().expect("a block");
    let left: Vec<_> =
        module.body().ops(top).filter_map(|op| OpRef::new(cx, module.body(), op).symbol_name()).collect();
    assert_eq!(left, ["a", "b"]);
}

//! `--debug-only` and `--debug`: what drivers and passes write down.

use super::{Done, MODULE, run, run_in};
use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::interfaces::{Effects, MemoryEffects};
use sutura_ir::pass::{Anchor, Pass, PassError, PassInfo, PassOptions, PassRegistry, PassResult, PassRun};
use sutura_ir::pattern::PatternSet;
use sutura_ir::rewrite::{FrozenPatterns, GreedyConfig, apply_patterns_greedily};
use sutura_ir::trace::Component;
use sutura_ir::{Attr, OpRef};
use sutura_opt::{Io, Opt, Status};

const REWRITER: &str = "--debug-only=greedy-rewriter";

const PRODUCTS: &str = "\
func.func @f(%x: i32, %y: i32) -> (i32, i32) {
  %c3 = arith.constant 3 : i32
  %0 = arith.muli %x, %c3 : i32
  %1 = arith.muli %0, %c3 : i32
  %2 = arith.subi %x, %y : i32
  %3 = arith.addi %x, %y : i32
  return %1, %2 : i32, i32
}
";

/// Fact V12: in any build, `--debug-only=greedy-rewriter` says which pattern was tried on which op and why it does not
/// apply.
#[test]
fn v12_the_trace_of_patterns_is_there_in_every_build() {
    let pipeline = "--pass-pipeline=builtin.module(func.func(canonicalize))";
    for flag in [REWRITER, "-debug-only=greedy-rewriter", "--debug"] {
        let done = run(&[pipeline, flag], PRODUCTS);
        assert_eq!(done.status, Status::Ok);
        let expected = "\
// -----// Trace of Canonicalizer (canonicalize) on 'func.func' @f //----- //
greedy-rewriter {
  iteration 1 {
    'arith.constant' 3 : i32 at <stdin>:2:9 -> stays: no fold, no pattern for it
    'arith.muli' at <stdin>:3:8 {
      pattern 'mul_of_product' -> does not apply: operand #0 of `MulIOp` is not the result of `MulIOp`
    } -> stays
    'arith.muli' at <stdin>:4:8 {
      pattern 'mul_of_product' {
        inserted 'arith.constant' 9 : i32 at <stdin>:4:8
        inserted 'arith.muli' at <stdin>:4:8
        replaced 'arith.muli' at <stdin>:4:8 by 'arith.muli' at <stdin>:4:8
      } -> applied
    } -> rewritten
    'arith.constant' 3 : i32 at <stdin>:2:9 -> stays: no fold, no pattern for it
    'arith.muli' at <stdin>:3:8 -> erased: nothing needs it
    'arith.constant' 3 : i32 at <stdin>:2:9 -> erased: nothing needs it
    'arith.muli' at <stdin>:4:8 {
      pattern 'mul_of_product' -> does not apply: operand #0 of `MulIOp` is not the result of `MulIOp`
    } -> stays
    'arith.constant' 9 : i32 at <stdin>:4:8 -> stays: no fold, no pattern for it
    'arith.subi' at <stdin>:5:8 {
      pattern 'sub_constant_from_offset' -> does not apply: one operand is no constant, or the other one does not add \
a constant or subtract one
      pattern 'sub_offset_from_constant' -> does not apply: one operand is no constant, or the other one does not add \
a constant or subtract one
      pattern 'sub_of_difference' -> does not apply: operand #0 of `SubIOp` is not the result of `SubIOp`
    } -> stays
    'arith.addi' at <stdin>:6:8 -> erased: nothing needs it
    'func.return' at <stdin>:7:3 -> stays: no fold, no pattern for it
  } -> something changed
  iteration 2 {
";
        assert!(done.err.starts_with(expected), "{}", done.err);
        assert!(done.err.ends_with("\n  } -> nothing changed\n} -> nothing is left to do\n\n"), "{}", done.err);
        // The program is the same, and without the flag nothing is said.
        assert_eq!(run(&[pipeline], PRODUCTS).out, done.out);
        assert_eq!(run(&[pipeline], PRODUCTS).err, "");
        assert_eq!(run(&[pipeline, "--debug=false"], PRODUCTS).err, "");
    }
}

#[test]
fn folds_and_regions_are_traced() {
    let done = run(
        &["--canonicalize", REWRITER],
        "func.func @f(%x: i32) -> i32 {
  %c2 = arith.constant 2 : i32
  %0 = arith.addi %c2, %x : i32
  %1 = arith.muli %c2, %c2 : i32
  %2 = arith.addi %0, %1 : i32
  cf.br ^next
^next:
  return %2 : i32
^never:
  return %x : i32
}",
    );
    for part in [
        "in 'func.func' @f {\n  greedy-rewriter {\n",
        "'arith.addi' at <stdin>:3:8 -> folded in place\n",
        "inserted 'arith.constant' 4 : i32 at <stdin>:4:8\n",
        "} -> folded to 'arith.constant' 4 : i32 at <stdin>:4:8\n",
        "      regions are simplified {\n",
        "erased a block of 1 operation\n",
        "erased 'cf.br' at <stdin>:6:3\n",
    ] {
        assert!(done.err.contains(part), "{part}\n{}", done.err);
    }
}

#[test]
fn conversions_are_traced() {
    let text = "func.func @f(%c: i1, %x: index) {
  scf.if %c {
    scf.while : () -> () {
      scf.condition(%c)
    } do {
      %0 = arith.addi %x, %x : index
      scf.yield
    }
  }
  return
}";
    let done = run(&["--convert-scf-to-cf", "--debug-only=dialect-conversion"], text);
    let expected = "\
// -----// Trace of SCFToControlFlowPass (convert-scf-to-cf) on 'builtin.module' //----- //
dialect-conversion {
  'func.func' @f at <stdin>:1:1 -> stays: the target says nothing of it
  inside 'func.func' @f at <stdin>:1:1 {
    'scf.if' at <stdin>:2:3 {
      pattern 'if-to-blocks' {
";
    assert!(done.err.starts_with(expected), "{}", done.err);
    for part in [
        "      'cf.cond_br' at <stdin>:2:3 -> legal\n    } -> legalized\n",
        "'scf.while' at <stdin>:3:5 {\n      pattern 'do-while-to-blocks' -> does not apply: the second region does more than hand its arguments on\n",
        "'arith.addi' at <stdin>:6:12 -> legal\n",
        "} -> done\n",
    ] {
        assert!(done.err.contains(part), "{part}\n{}", done.err);
    }
    // What fails is shown as far as it went.
    let wrong = "func.func @f() {\n  \"scf.nonesuch\"() : () -> ()\n  return\n}";
    let done = run(&["--convert-scf-to-cf", "--debug", "--allow-unregistered-dialect", "--no-reproducer"], wrong);
    assert_eq!(done.status, Status::Input);
    for part in ["'scf.nonesuch' at <stdin>:2:3 -> cannot be legalized\n", "'func.return' at", "} -> failed\n"] {
        assert!(done.err.contains(part), "{part}\n{}", done.err);
    }
}

#[test]
fn traces_are_the_same_at_any_number_of_threads() {
    let functions: String = (0..40).map(|i| PRODUCTS.replace("@f", &format!("@f{i}"))).collect();
    for pipeline in
        ["builtin.module(func.func(canonicalize,canonicalize))", "builtin.module(canonicalize,convert-scf-to-cf)"]
    {
        let pipeline = format!("--pass-pipeline={pipeline}");
        let one = run(&[&pipeline, "--debug", "--threads=1"], &functions);
        assert!(one.err.matches("pattern 'mul_of_product' {").count() == 40, "{}", one.err);
        for threads in ["--threads=2", "--threads=8"] {
            let many = run(&[&pipeline, "--debug", threads], &functions);
            assert!(many.err == one.err && many.out == one.out, "{threads}");
        }
        // In the order of the text.
        let places: Vec<usize> = (0..40).filter_map(|i| one.err.find(&format!(" @f{i} "))).collect();
        assert!(places.len() == 40 && places.is_sorted(), "{places:?}");
    }
}

#[test]
fn traces_go_with_dumps_remarks_parts_and_reproducers() {
    let folder = tempfile::tempdir().expect("a folder");
    let two = format!("{PRODUCTS}// -----\nfunc.func @g() {{\n  return\n}}\n");
    let args = [
        "--canonicalize",
        REWRITER,
        "--split-input-file",
        "--print-ir-after-change",
        "--remarks",
        "--generate-reproducer=r.mlir",
    ];
    let done = run_in(folder.path(), &args, &two);
    assert_eq!(done.status, Status::Ok);
    let at = |part: &str| done.err.find(part).unwrap_or_else(|| panic!("{part}\n{}", done.err));
    let order = [
        at("Trace of Canonicalizer"),
        at("remark: canonicalized in 2 iterations: 3 erased, 1 rewritten (mul_of_product 1)"),
        at("IR Dump After Canonicalizer"),
        at("in 'func.func' @g {"),
    ];
    assert!(order.is_sorted(), "{}", done.err);
    // A reproducer holds the pipeline, not who watches it; it is traced like any other run.
    let text = std::fs::read_to_string(folder.path().join("r.mlir")).expect("written");
    assert!(!text.contains("greedy-rewriter"), "{text}");
    let again = run(&["--run-reproducer", REWRITER], &text);
    assert!(again.err.contains("in 'func.func' @g {"), "{}", again.err);
    // With `--verify-diagnostics` and `--check-passes`, too.
    for flag in ["--verify-diagnostics", "--check-passes"] {
        let done = run(&["--canonicalize", flag, REWRITER], PRODUCTS);
        assert!(done.err.contains("pattern 'mul_of_product' {"), "{flag}\n{}", done.err);
    }
}

#[test]
fn components_that_there_are_not_are_errors() {
    for (flag, part) in [
        ("--debug-only=greedy-rewriter,greedy-rewrite", "did you mean `greedy-rewriter`? [E0402]"),
        ("--debug-only=dialect-conversions", "did you mean `dialect-conversion`?"),
        ("--debug-only=cse", "of that pass, `--remarks-filter=cse` shows what it says"),
        ("--debug-only=frob", "knows no component `frob`; there are dialect-conversion, greedy-rewriter"),
        ("--debug-only=", "knows no component ``"),
        ("--debug=perhaps", "takes `true` or `false`"),
    ] {
        let done = run(&["--canonicalize", flag], MODULE);
        assert_eq!((done.status, done.out.as_str()), (Status::Usage, ""), "{flag}");
        assert!(done.err.contains(part), "{flag}\n{}", done.err);
    }
}

#[test]
fn components_in_which_nothing_happens_are_said() {
    for (args, part) in [
        (&["--debug-only=greedy-rewriter"][..], "`--debug-only` does nothing: no pass is run [W0104]"),
        (&["--debug"], "`--debug` does nothing: no pass is run"),
        (&["--cse", "--debug"], "`--debug` does nothing: no pass that was run has steps to write down [W0104]"),
        (&["--cse", REWRITER], "`--debug-only=greedy-rewriter` does nothing: no pass that was run has steps of it"),
        (
            &["--canonicalize", "--debug-only=greedy-rewriter,dialect-conversion"],
            "`--debug-only=dialect-conversion` does",
        ),
        // The second flag narrows the first, as in MLIR's drivers.
        (&["--canonicalize", "--debug", "--debug-only=dialect-conversion"], "`--debug-only=dialect-conversion` does"),
    ] {
        let done = run(args, MODULE);
        assert_eq!(done.status, Status::Ok, "{args:?}");
        assert!(done.err.contains(part), "{args:?}\n{}", done.err);
        assert_eq!(run(&[args, &["--strict"]].concat(), MODULE).status, Status::Input, "{args:?}");
    }
    for args in [&["--canonicalize", "--debug"][..], &["--inline", REWRITER], &["--convert-scf-to-cf", "--debug"]] {
        let done = run(args, PRODUCTS);
        assert!(!done.err.contains("does nothing") && done.err.contains(" {\n"), "{args:?}\n{}", done.err);
    }
}

// ---- a tool with a pass of its own

static SCOUT: Component = Component { name: "scout", summary: "what the scout sees" };

static WITH_PATTERNS: PassInfo = PassInfo {
    name: "WithPatterns",
    argument: "test-with-patterns",
    summary: "",
    description: "",
    anchor: Anchor::Op("func.func"),
    options: &[],
    statistics: &[],
    create: |_: &PassOptions| Ok(Box::new(WithPatterns)),
};

struct WithPatterns;

impl Pass for WithPatterns {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        if let Some(lines) = run.trace.lines(&SCOUT) {
            lines.line("a function comes");
        }
        let mut set = PatternSet::new();
        set.add_fn("careful", None, 2, |op, rw| {
            let results = rw.body().num_results(op);
            rw.notify_match_failure(op, || format!("it has {results} results"))
        });
        set.add_fn("careless", Some("arith.subi"), 1, |_, _| panic!("the pattern fell over"));
        set.add_fn("liar", Some("arith.ori"), 1, |op, rw| {
            rw.set_attr(op, "seen", Some(Attr::UNIT));
            None
        });
        set.add_fn("idler", Some("arith.xori"), 1, |_, _| Some(()));
        let patterns = FrozenPatterns::new(run.cx, &set);
        let outcome = apply_patterns_greedily(run.cx, run.body, &patterns, &GreedyConfig::default(), run.trace);
        let outcome = outcome.map_err(|broken| {
            run.diags.report(*broken);
            PassError::Internal
        })?;
        Ok(PreservedAnalyses::unless(outcome.changed))
    }
}

fn run_own(args: &[&str], input: &str) -> Done {
    let folder = tempfile::tempdir().expect("a folder");
    let mut passes = PassRegistry::new().with(&WITH_PATTERNS);
    passes.add_component(&SCOUT);
    let args: Vec<String> = args.iter().map(ToString::to_string).collect();
    let (mut stdout, mut stderr, mut stdin) = (Vec::new(), Vec::new(), input.as_bytes());
    let io = Io {
        args: &args,
        stdin: &mut stdin,
        cwd: folder.path(),
        stdout: &mut stdout,
        stderr: &mut stderr,
        color: false,
    };
    let status = Opt { registry: sutura_dialects::all, passes }.run(io);
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    Done { status, out: text(stdout), err: text(stderr) }
}

/// Debug builds hold patterns to their word; these tests are of one.
#[test]
fn a_pattern_that_does_not_keep_its_word_is_named() {
    for (op, said) in [
        ("ori", "pattern 'liar' changed the program and then did not apply: an internal error"),
        ("xori", "pattern 'idler' says that it applied and changed nothing: an internal error"),
    ] {
        let text =
            format!("func.func @f(%x: i32, %z: i32) -> i32 {{\n  %y = arith.{op} %x, %z : i32\n  return %y : i32\n}}");
        let done = run_own(&["--test-with-patterns", "--no-reproducer"], &text);
        if cfg!(debug_assertions) {
            assert_eq!(done.status, Status::Internal, "{}", done.err);
            assert!(done.err.contains(&format!("<stdin>:2:8: error: {said}")), "{}", done.err);
            assert!(done.err.contains("[E0306]"), "{}", done.err);
        }
    }
}

#[test]
fn a_tool_whose_registry_is_wrong_says_so() {
    let registry = || {
        let mut registry = sutura_dialects::all();
        registry.attach_named::<dyn MemoryEffects>("arith.adi", &NoEffects);
        registry
    };
    let (mut stdout, mut stderr, mut stdin) = (Vec::new(), Vec::new(), "".as_bytes());
    let folder = tempfile::tempdir().expect("a folder");
    let io =
        Io { args: &[], stdin: &mut stdin, cwd: folder.path(), stdout: &mut stdout, stderr: &mut stderr, color: false };
    assert_eq!(Opt { registry, passes: PassRegistry::new() }.run(io), Status::Internal);
    let text = String::from_utf8(stderr).expect("UTF-8");
    let said = "interface `MemoryEffects` is attached to the operation `arith.adi`, which no dialect declares (did you \
                mean `arith.addi`?)";
    assert!(text.contains(said), "{text}");
}

struct NoEffects;

impl MemoryEffects for NoEffects {
    fn effects(&self, _: OpRef<'_>) -> Effects {
        Effects::new()
    }
}

#[test]
fn a_tool_of_ones_own_is_traced_too() {
    let text = "func.func @f(%x: i32) {\n  return\n}";
    let done = run_own(&["--test-with-patterns", "--debug-only=scout"], text);
    let expected =
        "// -----// Trace of WithPatterns (test-with-patterns) on 'func.func' @f //----- //\na function comes\n\n";
    assert!(done.err.ends_with(expected), "{}", done.err);
    let done = run_own(&["--test-with-patterns", "--debug"], text);
    assert!(done.err.contains("a function comes\ngreedy-rewriter {\n"), "{}", done.err);
    assert!(done.err.contains("pattern 'careful' -> does not apply: it has 0 results\n"), "{}", done.err);
    let done = run_own(&["--test-with-patterns", "--debug-only=scott"], text);
    assert!(done.err.contains("did you mean `scout`?"), "{}", done.err);
}

/// The last lines name the pattern that panicked and the operation.
#[test]
fn a_pattern_that_panics_is_the_last_in_the_trace() {
    let done = run_own(&["--test-with-patterns", "--debug", "--no-reproducer"], PRODUCTS);
    assert_eq!(done.status, Status::Internal);
    let (trace, after) = done.err.split_once("error:").expect("an error");
    let lines: Vec<&str> = trace.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let last = lines.iter().rposition(|line| *line == "pattern 'careless' {").expect("the pattern");
    assert_eq!(lines[last - 2], "'arith.subi' at <stdin>:5:8 {");
    assert!(!lines[last + 1..].iter().any(|line| line.contains("arith")), "{}", done.err);
    assert!(after.contains("pass 'test-with-patterns' panicked: the pattern fell over"), "{}", done.err);
}

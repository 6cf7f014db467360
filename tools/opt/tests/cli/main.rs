//! The command line without a process: exit statuses, streams, files.

mod errors;
mod expectations;
mod explains;
mod failures;
mod from_mlir_opt;
mod messages;
mod printing;
mod reports;
mod table;
mod tracing;
mod watching;

use std::path::Path;

use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::pass::{Anchor, Pass, PassError, PassInfo, PassOptions, PassRegistry, PassResult, PassRun};
use sutura_ir::{Builder, OpState, Type};
use sutura_opt::{Io, Opt, Status};

/// A pass that ends as its name says.
struct Ends(&'static str);

impl Pass for Ends {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let loc = run.header.loc;
        match self.0 {
            "unsupported" => {
                run.diags.error(loc, "this is not supported");
                Err(PassError::Unsupported)
            }
            "silent" => Err(PassError::Failed),
            "panic" => panic!("the pass fell over"),
            "breaks" => {
                let block = run.body.entry_block().expect("a block");
                let name = run.cx.op_name("arith.addi");
                Builder::at_end(run.cx, run.body, block).create(OpState::new(name, loc));
                Ok(PreservedAnalyses::none())
            }
            "unregistered" => {
                let block = run.body.entry_block().expect("a block");
                let name = run.cx.op_name("llvm.nonesuch");
                Builder::at_end(run.cx, run.body, block).create(OpState::new(name, loc));
                Ok(PreservedAnalyses::none())
            }
            "casts" => {
                let block = run.body.entry_block().expect("a block");
                let name = run.cx.op_name("builtin.unrealized_conversion_cast");
                let state = OpState::new(name, loc).results([Type::INDEX]);
                Builder::at_end(run.cx, run.body, block).create(state);
                Ok(PreservedAnalyses::none())
            }
            "lies" => {
                let block = run.body.entry_block().expect("a block");
                let name = run.cx.op_name("arith.constant");
                Builder::at_end(run.cx, run.body, block).create(OpState::new(name, loc));
                Ok(PreservedAnalyses::all())
            }
            "warns" => {
                run.diags.warning(loc, "take care");
                Ok(PreservedAnalyses::all())
            }
            "remarks" | "functions" => {
                run.remark(loc, "nothing to do");
                Ok(PreservedAnalyses::all())
            }
            _ => Err(run.diags.error(loc, "the input is wrong").into()),
        }
    }
}

macro_rules! ends {
    ($name:ident, $argument:literal) => {
        ends!($name, $argument, Anchor::Any);
    };
    ($name:ident, $argument:literal, $anchor:expr) => {
        static $name: PassInfo = PassInfo {
            name: "Ends",
            argument: concat!("test-", $argument),
            summary: "",
            description: "",
            anchor: $anchor,
            options: &[],
            statistics: &[],
            create: |_: &PassOptions| Ok(Box::new(Ends($argument))),
        };
    };
}
ends!(FAILS, "fails");
ends!(UNSUPPORTED, "unsupported");
ends!(SILENT, "silent");
ends!(PANIC, "panic");
ends!(BREAKS, "breaks");
ends!(UNREGISTERED, "unregistered");
ends!(CASTS, "casts");
ends!(LIES, "lies");
ends!(WARNS, "warns");
ends!(REMARKS, "remarks");
ends!(FUNCTIONS, "functions", Anchor::Op("func.func"));

/// The smallest program.
const MODULE: &str = "\"builtin.module\"() ({\n^bb0:\n}) : () -> ()\n";

struct Done {
    status: Status,
    out: String,
    err: String,
}

fn run_in(cwd: &Path, args: &[&str], input: &str) -> Done {
    let mut passes = PassRegistry::new();
    sutura_passes::register(&mut passes);
    let of_any = [&FAILS, &UNSUPPORTED, &SILENT, &PANIC, &BREAKS, &UNREGISTERED, &CASTS, &LIES, &WARNS, &REMARKS];
    for pass in of_any.into_iter().chain([&FUNCTIONS]) {
        passes.add(pass);
    }
    let opt = Opt { registry: sutura_dialects::all, passes };
    let args: Vec<String> = args.iter().map(ToString::to_string).collect();
    let (mut stdout, mut stderr, mut stdin) = (Vec::new(), Vec::new(), input.as_bytes());
    let io = Io { args: &args, stdin: &mut stdin, cwd, stdout: &mut stdout, stderr: &mut stderr, color: false };
    let status = opt.run(io);
    let text = |bytes| String::from_utf8(bytes).expect("UTF-8");
    let done = Done { status, out: text(stdout), err: text(stderr) };
    assert!(status == Status::Ok || !done.err.is_empty(), "{args:?} failed without a word");
    done
}

fn run(args: &[&str], input: &str) -> Done {
    let folder = tempfile::tempdir().expect("a folder");
    run_in(folder.path(), args, input)
}

#[test]
fn exit_statuses() {
    let cases: [(&[&str], Status, &str); 11] = [
        (&[], Status::Ok, ""),
        (&["--test-fails"], Status::Input, "the input is wrong"),
        (&["--test-unsupported"], Status::Unsupported, "this is not supported"),
        (&["--test-silent"], Status::Internal, "failed without saying why"),
        (&["--test-panic"], Status::Internal, "pass 'test-panic' panicked: the pass fell over [E0306]"),
        (&["--test-breaks"], Status::Verification, "pass 'test-breaks' left IR that does not verify"),
        (&["--test-breaks", "--verify-each=false"], Status::Ok, ""),
        (&["--test-warns"], Status::Ok, "warning: take care"),
        (&["--test-warns", "--strict"], Status::Input, "which `--strict` does not let pass"),
        (&["no/such/file.mlir"], Status::System, "cannot read `no/such/file.mlir`"),
        (&["--cannonicalize"], Status::Usage, "did you mean `--canonicalize`?"),
    ];
    for (args, status, part) in cases {
        let done = run(args, MODULE);
        assert_eq!(done.status, status, "{args:?}: {}", done.err);
        assert!(done.err.contains(part), "{args:?}: {}", done.err);
    }
}

/// Debug builds look.
#[test]
#[cfg(debug_assertions)]
fn passes_say_what_they_changed() {
    let done = run(&["--test-lies"], MODULE);
    assert_eq!(done.status, Status::Internal, "{}", done.err);
    assert!(done.err.contains("pass 'test-lies' changed the program and said that it had not"), "{}", done.err);
}

#[test]
fn contradicting_sizes_are_errors_of_the_input() {
    let input = "func.func @f(%x: tensor<?xf32, #dyn.shape<[N]>>) -> tensor<?xf32, #dyn.shape<[N]>> {
      %N = dyn.symbol \"N\" {range = [8, 16]} : index
      dyn.equal [N], [4]
      return %x : tensor<?xf32, #dyn.shape<[N]>>
    }";
    for pass in ["--propagate-shapes", "--stitch", "--convert-graph-to-gir"] {
        let done = run(&[pass], input);
        assert_eq!(done.status, Status::Input, "{pass}: {}", done.err);
        assert!(done.err.contains("N and 4"), "{pass}: {}", done.err);
    }
}

#[test]
fn passes_make_declared_operations_only() {
    let done = run(&["--test-unregistered"], MODULE);
    assert_eq!(done.status, Status::Verification, "{}", done.err);
    assert!(done.err.contains("unregistered operation 'llvm.nonesuch'"), "{}", done.err);
    for flag in ["--allow-unregistered-dialect", "--verify-each=false"] {
        assert_eq!(run(&["--test-unregistered", flag], MODULE).status, Status::Ok);
    }
}

#[test]
fn stdout_is_the_product() {
    let done = run(&["--canonicalize", "--timing", "--pass-statistics", "--test-warns"], MODULE);
    assert_eq!(done.status, Status::Ok);
    assert_eq!(done.out, "module {\n}\n");
    for part in ["Execution time report", "Pass statistics report", "take care"] {
        assert!(done.err.contains(part), "{}", done.err);
    }
}

#[test]
fn usage_errors() {
    let cases: [(&[&str], &str); 10] = [
        (&["--licm"], "did you mean `--loop-invariant-code-motion`?"),
        (&["a", "b"], "one input is read, not two"),
        (&["--frobnicate"], "unknown flag or pass `--frobnicate`"),
        (&["--split-input-fle"], "did you mean `--split-input-file`?"),
        (&["-o"], "`-o` needs a value"),
        (&["--threads=0"], "takes a number from 1"),
        (&["--verify-each=maybe"], "takes `true` or `false`"),
        (&["--cse", "--pass-pipeline=builtin.module(cse)"], "cannot both be given"),
        (&["--canonicalize=max-iteration=3"], "did you mean `max-iterations`?"),
        (&["--print-ir-after=cce"], "did you mean `cse`?"),
    ];
    for (args, part) in cases {
        let done = run(args, MODULE);
        assert_eq!((done.status, done.out.as_str()), (Status::Usage, ""), "{args:?}");
        assert!(done.err.contains(part), "{args:?}: {}", done.err);
    }
}

#[test]
fn a_wrong_pipeline_is_shown_whole() {
    let done = run(&["--pass-pipeline=builtin.module(any(canonicalise,cse))"], MODULE);
    assert_eq!(done.status, Status::Usage);
    let expected = "\
<pass-pipeline>:1:20: error: 'canonicalise' does not refer to a registered pass or pass pipeline [E0405]
1 │ builtin.module(any(canonicalise,cse))
  │                    ^^^^^^^^^^^^
  = help: did you mean `canonicalize`?
";
    assert_eq!(done.err, expected);
}

#[test]
fn mlirs_spellings() {
    for args in [&["-canonicalize"][..], &["--mlir-print-op-generic=false"], &["-mlir-disable-threading"]] {
        assert_eq!(run(args, MODULE).status, Status::Ok, "{args:?}");
    }
}

#[test]
fn requests_need_no_input() {
    for (flag, part) in [
        ("--help", "Exit codes: 0 done"),
        ("--list-passes", "canonicalize: Canonicalize operations\n    top-down=true|false"),
        ("--show-dialects", "Available Dialects: arith"),
        ("--version", "sutura-opt 0.1.0"),
    ] {
        let done = run(&[flag], "not read");
        assert_eq!(done.status, Status::Ok);
        assert!(done.out.contains(part), "{}", done.out);
        if flag == "--help" {
            assert!(done.out.lines().count() < 60, "the help fits a screen");
        }
    }
}

#[test]
fn files_appear_whole_or_not_at_all() {
    let folder = tempfile::tempdir().expect("a folder");
    let names = || -> Vec<String> {
        let entries = std::fs::read_dir(folder.path()).expect("readable");
        entries.map(|e| e.expect("an entry").file_name().into_string().expect("UTF-8")).collect()
    };
    let done = run_in(folder.path(), &["-o", "out.mlir", "--test-fails", "--no-reproducer"], MODULE);
    assert_eq!((done.status, names()), (Status::Input, vec![]));
    let done = run_in(folder.path(), &["-o", "out.mlir"], MODULE);
    assert_eq!((done.status, done.out.as_str(), names()), (Status::Ok, "", vec!["out.mlir".to_string()]));
    assert_eq!(std::fs::read_to_string(folder.path().join("out.mlir")).expect("readable"), "module {\n}\n");
    let done = run_in(folder.path(), &["-o", "no/such/out.mlir"], MODULE);
    assert_eq!(done.status, Status::System);
    assert!(done.err.contains("cannot write `no/such/out.mlir`"), "{}", done.err);
}

/// Nesting that would use up the stack is an error with a place; nested regions use none.
#[test]
fn deep_nesting_ends_in_words_or_in_the_program() {
    let nested = |open: &str, inner: &str, close: &str| open.repeat(100_000) + inner + &close.repeat(100_000);
    for text in [
        format!("func.func private @f(tensor<?xf32, #dyn.shape<[{}]>>)", nested("(", "N", ")")),
        format!("module attributes {{a = {}}} {{}}", nested("[", "", "]")),
        format!("func.func private @f({})", nested("tuple<", "i32", ">")),
        format!("module {{}} loc({})", nested("fused[", "\"a\"", "]")),
        format!("#m = affine_map<(d0) -> ({})>", nested("(", "d0", ")")),
    ] {
        let done = run(&[], &text);
        assert_eq!(done.status, Status::Input);
        // A size has a limit of its own, which comes first where the parser's stack holds all the brackets.
        let limits = ["at most 256 levels", "at most 64 parentheses in a size"];
        let told = limits.iter().any(|limit| done.err.contains(&format!("nesting is too deep: {limit}")));
        assert!(told, "{:.300}", done.err);
    }
    let depth = 5000;
    let text = format!("func.func @f(%c: i1) {{\n{}{}return\n}}\n", "scf.if %c {\n".repeat(depth), "}\n".repeat(depth));
    let done = run(&[], &text);
    assert_eq!((done.status, done.out.matches("scf.if").count()), (Status::Ok, depth), "{:.300}", done.err);
}

#[cfg(unix)]
#[test]
fn devices_and_links_are_written_to_and_not_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let link = |to: &str, name: &str| std::os::unix::fs::symlink(to, folder.path().join(name)).unwrap();
    link("/dev/null", "nothing");
    link("real.mlir", "linked");
    std::fs::write(folder.path().join("real.mlir"), "old").unwrap();
    for name in ["nothing", "linked"] {
        assert_eq!(run_in(folder.path(), &["-o", name], "").status, Status::Ok);
        assert!(std::fs::symlink_metadata(folder.path().join(name)).unwrap().is_symlink());
    }
    assert_eq!(std::fs::read_to_string(folder.path().join("real.mlir")).unwrap(), "module {\n}\n");
}

#[test]
fn input_that_is_no_text() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("in.mlir"), b"module {\n\xff}").expect("writable");
    let done = run_in(folder.path(), &["in.mlir"], "");
    assert_eq!(done.status, Status::Input);
    assert!(done.err.contains("cannot read `in.mlir`: it is not UTF-8 text: byte 9, line 2"), "{}", done.err);
}

#[test]
fn remarks_are_shown_when_asked_for() {
    assert_eq!(run(&["--test-remarks"], MODULE).err, "");
    assert!(run(&["--test-remarks", "--remarks"], MODULE).err.contains("remark: nothing to do"));
}

#[test]
fn dumps_have_mlirs_banners() {
    let done = run(&["--canonicalize", "--cse", "--mlir-print-ir-after-all"], MODULE);
    let expected = "\
// -----// IR Dump After Canonicalizer (canonicalize) //----- //
module {
}

// -----// IR Dump After CSE (cse) //----- //
module {
}

";
    assert_eq!(done.err, expected);
    assert_eq!(run(&["--canonicalize", "--print-ir-after-change"], MODULE).err, "");
    let done = run(&["--test-fails", "--print-ir-after-failure"], MODULE);
    assert!(done.err.contains("// -----// IR Dump After Ends Failed (test-fails) //----- //\nmodule"), "{}", done.err);
}

#[test]
fn expected_diagnostics_decide_the_status() {
    let good = &format!("// expected-error@below {{{{the input is wrong}}}}\n{MODULE}");
    assert_eq!(run(&["--test-fails", "--verify-diagnostics"], good).status, Status::Ok);
    let done = run(&["--verify-diagnostics"], good);
    assert_eq!(done.status, Status::Input);
    let first = |done: &Done| done.err.lines().next().map(|l| format!("{l}\n"));
    assert_eq!(
        first(&done).expect("a line"),
        "<stdin>:2:1: error: expected error \"the input is wrong\" was not produced [E0411]\n"
    );
    let done = run(&["--test-fails", "--verify-diagnostics"], MODULE);
    assert_eq!(first(&done).expect("a line"), "<stdin>:1:1: error: unexpected error: the input is wrong [E0411]\n");
    // Without the flag such comments mean nothing.
    assert_eq!(run(&["--test-fails"], good).status, Status::Input);
}

#[test]
fn parts_are_worked_on_one_by_one() {
    let input = &format!("{MODULE}// -----\n{MODULE}");
    let done = run(&["--split-input-file"], input);
    assert_eq!(done.out, "module {\n}\n// -----\nmodule {\n}\n");
    let done = run(&["--split-input-file", "--test-fails"], input);
    assert!(done.err.contains("<stdin>:1:1: error") && done.err.contains("<stdin>:5:1: error"), "{}", done.err);
}

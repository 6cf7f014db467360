//! `--check-passes` finds passes that change what a program means, and says what it cannot compare.

use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::pass::{Anchor, Pass, PassInfo, PassOptions, PassRegistry, PassResult, PassRun};
use sutura_ir::{Op, OpState, Rewriter};
use sutura_opt::{Io, Opt, Status};

/// Gives every op of one name another one.
struct Rename(&'static str, &'static str);

impl Pass for Rename {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let (from, to) = (run.cx.op_name(self.0), run.cx.op_name(self.1));
        let ops: Vec<Op> = run.body.preorder().filter(|op| run.body.name(*op) == from).collect();
        for op in &ops {
            let mut rw = Rewriter::new(run.cx, run.body);
            rw.set_before(*op);
            let operands: Vec<_> = rw.body().operands(*op).collect();
            let types: Vec<_> = rw.body().results(*op).map(|v| rw.body().ty(v)).collect();
            let state = OpState::new(to, rw.body().loc(*op)).operands(operands).results(types);
            rw.replace_with(*op, state);
        }
        Ok(PreservedAnalyses::unless(!ops.is_empty()))
    }
}

macro_rules! rename {
    ($info:ident, $argument:literal, $from:literal, $to:literal) => {
        static $info: PassInfo = PassInfo {
            name: "Rename",
            argument: $argument,
            summary: "",
            description: "",
            anchor: Anchor::Op("func.func"),
            options: &[],
            statistics: &[],
            create: |_: &PassOptions| Ok(Box::new(Rename($from, $to))),
        };
    };
}
rename!(ADD_TO_SUB, "test-add-to-sub", "arith.addf", "arith.subf");
rename!(MAXIMUM_TO_MAXNUM, "test-maximum-to-maxnum", "arith.maximumf", "arith.maxnumf");
rename!(UNSIGNED, "test-unsigned-division", "arith.divsi", "arith.divui");
rename!(SAME, "test-same", "arith.addi", "arith.addi");

/// Runs the tool; a reproducer goes to `r.mlir` in the folder that is returned.
fn run(text: &str, args: &[&str]) -> (Status, String, tempfile::TempDir) {
    run_as_it_is(text, &[args, &["--check-passes-reproducer=r.mlir"]].concat())
}

fn run_as_it_is(text: &str, args: &[&str]) -> (Status, String, tempfile::TempDir) {
    let mut passes = PassRegistry::new();
    sutura_passes::register(&mut passes);
    for info in [&ADD_TO_SUB, &MAXIMUM_TO_MAXNUM, &UNSIGNED, &SAME] {
        passes.add(info);
    }
    let folder = tempfile::tempdir().expect("a folder");
    let args: Vec<String> = args.iter().map(ToString::to_string).collect();
    let (mut out, mut err) = (Vec::new(), Vec::new());
    let io = Io {
        args: &args,
        stdin: &mut text.as_bytes(),
        cwd: folder.path(),
        stdout: &mut out,
        stderr: &mut err,
        color: false,
    };
    let status = Opt { registry: sutura_dialects::all, passes }.run(io);
    (status, String::from_utf8(err).expect("messages are UTF-8"), folder)
}

const SUM: &str = "func.func @sum(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
  %0 = arith.mulf %x, %y : tensor<?xf32>
  %1 = arith.addf %0, %y : tensor<?xf32>
  return %1 : tensor<?xf32>
}";

#[test]
fn the_wrong_pass_is_named() {
    let pipeline = "--pass-pipeline=builtin.module(func.func(canonicalize,test-add-to-sub,cse))";
    let (status, said, folder) = run(SUM, &["--check-passes=2", pipeline]);
    assert_eq!(status, Status::Changed, "{said}");
    assert!(said.contains("pass 'test-add-to-sub' changed the meaning of @sum [E0307]"), "{said}");
    assert!(said.contains("seed 1") && said.contains("argument 1: ") && said.contains("result 0"), "{said}");
    // The reproducer holds the program before the pass, and the pass alone; it repeats the error.
    let text = std::fs::read_to_string(folder.path().join("r.mlir")).expect("a reproducer");
    let pipeline = "builtin.module(func.func(test-add-to-sub))";
    assert!(!text.contains("arith.mulf"), "it is reduced: {text}");
    assert!(text.contains("arith.addf") && text.contains(&format!("pipeline: \"{pipeline}\"")), "{text}");
    let (status, said, _) = run(&text, &["--check-passes", &format!("--pass-pipeline={pipeline}")]);
    assert_eq!(status, Status::Changed, "{said}");
}

#[test]
fn reproducers_go_among_the_temporary_files() {
    let (status, said, folder) = run_as_it_is(SUM, &["--check-passes=1", "--test-add-to-sub"]);
    assert_eq!(status, Status::Changed, "{said}");
    let (_, rest) = said.split_once("help: `").expect("the place is told");
    let path = std::path::Path::new(rest.split('`').next().expect("quoted"));
    assert!(path.starts_with(std::env::temp_dir()), "{said}");
    std::fs::remove_file(path).expect("it is there");
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
}

#[test]
fn right_passes_are_right() {
    let (status, said, folder) = run(SUM, &["--check-passes", "--remarks", "--canonicalize", "--cse"]);
    assert_eq!(status, Status::Ok, "{said}");
    assert!(said.contains("1 functions compared, ") && said.contains("seeds 1, 2, 3"), "{said}");
    assert!(!said.contains("W01"), "{said}");
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
}

#[test]
fn edge_values_are_tried() {
    let text = "func.func @most(%x: tensor<40xf32>, %y: tensor<40xf32>) -> tensor<40xf32> {
      %0 = arith.maximumf %x, %y : tensor<40xf32>
      return %0 : tensor<40xf32>
    }";
    let (status, said, _) = run(text, &["--check-passes", "--test-maximum-to-maxnum"]);
    assert_eq!(status, Status::Changed, "only NaN tells them apart: {said}");
    assert!(said.contains("edge values"), "{said}");
}

#[test]
fn memory_is_compared() {
    let text = "func.func @add(%x: memref<4xf32>, %y: memref<4xf32>) {
      %c0 = arith.constant 0 : index
      %a = memref.load %x[%c0] : memref<4xf32>
      %b = memref.load %y[%c0] : memref<4xf32>
      %s = arith.addf %a, %b : f32
      memref.store %s, %y[%c0] : memref<4xf32>
      return
    }";
    let (status, said, _) = run(text, &["--check-passes", "--test-add-to-sub"]);
    assert_eq!(status, Status::Changed, "{said}");
    assert!(said.contains("argument 1, before and after: at [0]"), "{said}");
}

#[test]
fn sizes_that_symbols_allow_are_tried() {
    // The difference shows only where the symbol has its largest size.
    let text = "func.func @f(%x: tensor<?xf32, #dyn.shape<[N]>>) -> f32 {
      %n = dyn.symbol \"N\" {range = [1, 48]} : index
      %c48 = arith.constant 48 : index
      %full = arith.cmpi eq, %n, %c48 : index
      %one = arith.constant 1.0 : f32
      %two = arith.addf %one, %one : f32
      %r = arith.select %full, %two, %one : f32
      return %r : f32
    }";
    let (status, said, _) = run(text, &["--check-passes", "--test-add-to-sub"]);
    assert_eq!(status, Status::Changed, "{said}");
    assert!(said.contains("N = 48"), "{said}");
}

#[test]
fn undefined_inputs_prove_nothing() {
    // 0 / 0 and the like are undefined; of small positive numbers both divisions agree, of negative ones they do not.
    let text = "func.func @div(%x: i32, %y: i32) -> i32 {
      %0 = arith.divsi %x, %y : i32
      return %0 : i32
    }";
    let (status, said, _) = run(text, &["--check-passes=8", "--test-unsigned-division"]);
    assert_eq!(status, Status::Changed, "{said}");
    let never = "func.func @never(%x: i32) -> i32 {
      %c0 = arith.constant 0 : i32
      %0 = arith.divsi %x, %c0 : i32
      return %0 : i32
    }";
    let (status, said, _) = run(never, &["--check-passes", "--test-unsigned-division"]);
    assert_eq!(status, Status::Ok, "{said}");
    assert!(said.contains("@never is not checked: it has a result on none of ") && said.contains("[W0110]"), "{said}");
}

#[test]
fn what_cannot_be_run_is_said() {
    let text = "func.func private @declared()
    func.func @calls() { call @declared() : () -> () return }
    func.func @complex(%x: complex<f16>) { return }
    func.func @long() -> i32 {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %most = arith.constant 1000000000 : index
      %x = arith.constant 0 : i32
      scf.for %i = %c0 to %most step %c1 { %y = arith.addi %x, %x : i32 }
      return %x : i32
    }";
    let (status, said, _) = run(text, &["--check-passes", "--test-same"]);
    assert_eq!(status, Status::Ok, "{said}");
    for name in ["calls", "complex", "long"] {
        assert_eq!(said.matches(&format!("warning: @{name} is not checked: ")).count(), 1, "{name}: {said}");
    }
    assert!(!said.contains("@declared is not"), "it has no body: {said}");
    assert!(said.contains("nothing was checked [W0110]"), "{said}");
}

#[test]
fn usage() {
    for args in [&["--check-passes=0"][..], &["--check-passes=many"], &["--check-passes-reproducer=x.mlir"]] {
        assert_eq!(run("", args).0, Status::Usage, "{args:?}");
    }
}

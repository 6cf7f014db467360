//! The tool with passes that fall over: this program is the tool when `SUTURA_REDUCE_TEST` is set, as it is for the
//! processes that the tests start, and that those start in turn.

use std::path::Path;
use std::process::{Command, ExitCode};

use sutura_ir::analysis::PreservedAnalyses;
use sutura_ir::pass::{Anchor, Pass, PassInfo, PassOptions, PassRegistry, PassResult, PassRun};
use sutura_ir::{Op, OpState, Rewriter};

/// What a pass does when it meets `math.tanh`.
struct Guilty(&'static str);

impl Pass for Guilty {
    fn run(&self, run: &mut PassRun<'_>) -> PassResult {
        let name = run.cx.op_name("math.tanh");
        let Some(op) = run.body.preorder().find(|op| run.body.name(*op) == name) else {
            return Ok(PreservedAnalyses::all());
        };
        match self.0 {
            "panics" => panic!("a tanh of {} operands", run.body.num_operands(op)),
            "panics-twice" => {
                let among = run.body.preorder().count();
                assert!(among <= 5, "the first of {among} operations");
                panic!("another one");
            }
            "aborts" => std::process::abort(),
            "hangs" => loop {
                std::thread::sleep(std::time::Duration::from_secs(1));
            },
            "reports" => {
                let loc = run.body.loc(op);
                Err(run.diags.error(loc, "no tanh is supported here").into())
            }
            _ => {
                miscompile(run, op);
                Ok(PreservedAnalyses::none())
            }
        }
    }
}

fn miscompile(run: &mut PassRun<'_>, op: Op) {
    let mut rw = Rewriter::new(run.cx, run.body);
    let (operand, loc) = (rw.body().operand(op, 0), rw.body().loc(op));
    let ty = rw.body().ty(operand);
    let state = OpState::new(run.cx.op_name("math.exp"), loc).operands([operand]).results([ty]);
    rw.replace_with(op, state);
}

macro_rules! guilty {
    ($info:ident, $argument:literal, $what:literal) => {
        static $info: PassInfo = PassInfo {
            name: "Guilty",
            argument: $argument,
            summary: "",
            description: "",
            anchor: Anchor::Op("func.func"),
            options: &[],
            statistics: &[],
            create: |_: &PassOptions| Ok(Box::new(Guilty($what))),
        };
    };
}
guilty!(PANICS, "test-panics", "panics");
guilty!(PANICS_TWICE, "test-panics-twice", "panics-twice");
guilty!(ABORTS, "test-aborts", "aborts");
guilty!(HANGS, "test-hangs", "hangs");
guilty!(REPORTS, "test-reports", "reports");
guilty!(MISCOMPILES, "test-miscompiles", "miscompiles");

const ENV: &str = "SUTURA_REDUCE_TEST";

fn main() -> ExitCode {
    if std::env::var_os(ENV).is_some() {
        let mut passes = PassRegistry::new();
        sutura_passes::register(&mut passes);
        for info in [&PANICS, &PANICS_TWICE, &ABORTS, &HANGS, &REPORTS, &MISCOMPILES] {
            passes.add(info);
        }
        return sutura_reduce::main(sutura_dialects::all, passes);
    }
    usage();
    for pass in ["panics", "aborts"] {
        crash(&["--crash", &format!("--pass-pipeline=builtin.module(func.func(cse,test-{pass}),symbol-dce)")]);
    }
    crash(&["--crash", "--timeout=1", "--max-tests=3", "--pass-pipeline=builtin.module(func.func(cse,test-hangs))"]);
    crash(&["--diagnostic=no \\w+ is supported", "--pass-pipeline=builtin.module(func.func(cse,test-reports))"]);
    crashes_stay_apart();
    miscompiles();
    command();
    #[cfg(unix)]
    interrupted();
    ExitCode::SUCCESS
}

/// A module in which one of many functions has one `math.tanh` amid other ops, loops and branches.
fn program() -> String {
    let mut text = String::new();
    for f in 0..6 {
        text +=
            &format!("func.func @f{f}(%x: tensor<16xf32>, %y: tensor<16xf32>, %n: i32) -> (tensor<16xf32>, i32) {{\n");
        text +=
            "  %c0 = arith.constant 0 : index\n  %c4 = arith.constant 4 : index\n  %c1 = arith.constant 1 : index\n";
        text += "  %l:2 = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %x, %b = %n) -> (tensor<16xf32>, i32) {\n";
        for i in 0..12 {
            let (op, of) = if f == 3 && i == 7 { ("math.tanh", "") } else { ("arith.addf", ", %y") };
            let last = if i == 0 { "%a".to_string() } else { format!("%{}", i - 1) };
            text += &format!("    %{i} = {op} {last}{of} : tensor<16xf32>\n");
        }
        text += "    %m = arith.addi %b, %b : i32\n    scf.yield %11, %m : tensor<16xf32>, i32\n  }\n";
        if f > 0 {
            let callee = f - 1;
            text += &format!(
                "  %c:2 = call @f{callee}(%l#0, %y, %l#1) : (tensor<16xf32>, tensor<16xf32>, i32) -> (tensor<16xf32>, i32)\n"
            );
            text += "  return %c#0, %c#1 : tensor<16xf32>, i32\n}\n";
        } else {
            text += "  return %l#0, %l#1 : tensor<16xf32>, i32\n}\n";
        }
    }
    text
}

/// Status, stderr, and what was written.
fn reduce(text: &str, args: &[&str]) -> (Option<i32>, String, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let (input, output) = (folder.path().join("in.mlir"), folder.path().join("out.mlir"));
    std::fs::write(&input, text).expect("written");
    let program = std::env::current_exe().expect("this program");
    let mut command = Command::new(program);
    command.env(ENV, "1").args(args).arg(&input).arg("-o").arg(&output);
    let done = command.output().expect("started");
    let said = String::from_utf8(done.stderr).expect("UTF-8");
    let written = std::fs::read_to_string(&output).unwrap_or_default();
    (done.status.code(), said, written)
}

fn crash(args: &[&str]) {
    let (status, said, written) = reduce(&program(), args);
    assert_eq!(status, Some(0), "{said}");
    assert!(written.contains("math.tanh"), "{args:?}: {said}\n{written}");
    assert!(!written.contains("cse") && written.contains("mlir_reproducer"), "{args:?}: {written}");
    if !args.contains(&"--max-tests=3") {
        let ops = written.lines().filter(|l| l.contains(" = ") || l.contains("func")).count();
        assert!(ops <= 3, "{args:?}: {said}\n{written}");
        assert!(!written.contains("16x") && !written.contains("scf.for"), "{args:?}: {written}");
    }
    // The same again gives the same, with any number of threads.
    for threads in ["-j1", "-j3", "--threads=8"] {
        let again = reduce(&program(), &[args, &[threads]].concat());
        assert_eq!((&again.1, &again.2), (&said, &written), "{args:?} {threads}");
    }
}

/// A smaller program that crashes in another way is not the answer.
fn crashes_stay_apart() {
    let args = ["--crash", "--pass-pipeline=builtin.module(func.func(test-panics-twice))"];
    let (status, said, written) = reduce(&program(), &args);
    assert_eq!(status, Some(0), "{said}");
    let run_once = |text: &str| reduce(text, &["--run-once", args[1]]).1;
    let (before, after) = (run_once(&program()), run_once(&written));
    assert!(
        before.contains("panicked: the first of ") && after.contains("panicked: the first of 6 "),
        "{after}\n{written}"
    );
}

/// An interrupt leaves the best so far, whole.
#[cfg(unix)]
fn interrupted() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("in.mlir"), program()).expect("written");
    // A predicate that says when it has been asked a few times, and takes its time.
    let script = format!("echo >> {0}; sleep 0.05; grep -q math.tanh $0", path("asked").display());
    // A job in the background ignores interrupts, and so does what it starts.
    let mut command = Command::new("env");
    command.arg("--default-signal").arg(std::env::current_exe().expect("this program"));
    command.env(ENV, "1").args(["--test=sh", "--test-arg=-c"]).arg(format!("--test-arg={script}"));
    command.arg(path("in.mlir")).arg("-o").arg(path("out.mlir"));
    let child = command.stderr(std::process::Stdio::piped()).spawn().expect("started");
    let asked = || std::fs::read_to_string(path("asked")).map_or(0, |text| text.lines().count());
    while asked() < 8 {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("started");
    assert!(killed.success());
    let done = child.wait_with_output().expect("ended");
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(done.status.code(), Some(130), "{said}");
    assert!(said.contains("an interrupt ended it"), "{said}");
    let written = std::fs::read_to_string(path("out.mlir")).expect("there is a result");
    assert!(written.contains("math.tanh") && written.len() < program().len(), "{said}\n{written}");
    assert_eq!(reduce(&written, &["--test=grep", "--test-arg=-q", "--test-arg=tanh", "--max-tests=1"]).0, Some(0));
}

fn miscompiles() {
    let pipeline = "--pass-pipeline=builtin.module(func.func(canonicalize,test-miscompiles,cse))";
    let (status, said, written) = reduce(&program(), &["--miscompile=1", pipeline]);
    assert_eq!(status, Some(0), "{said}");
    assert!(written.contains("math.tanh") && written.contains("func.func(test-miscompiles)"), "{said}\n{written}");
    assert!(written.lines().count() <= 16 && !written.contains("call"), "{said}\n{written}");
    // Without the pass there is nothing to find.
    let (status, said, written) =
        reduce(&program(), &["--miscompile=1", "--pass-pipeline=builtin.module(func.func(cse))"]);
    assert_eq!((status, &*written), (Some(1), ""), "{said}");
    assert!(said.contains("error: the input does not fulfil the predicate: no pass changes"), "{said}");
}

/// A command decides; ops of dialects that nobody knows are reduced too.
fn command() {
    let mut text = "\"test.module\"() ({\n^bb0(%x: i32):\n".to_string();
    let mut last = "%x".to_string();
    for i in 0..40 {
        let name = if i == 23 { "guilty.op" } else { "innocent.op" };
        text += &format!("  %{i} = \"{name}\"({last}) {{a = {i}, b}} : (i32) -> i32\n");
        last = format!("%{i}");
    }
    text += "  \"test.use\"(%39) ({\n    \"test.inside\"() : () -> ()\n  }) : (i32) -> ()\n}) : () -> ()\n";
    let grep = if Path::new("/bin/grep").exists() { "/bin/grep" } else { "grep" };
    let args = [&format!("--test={grep}"), "--test-arg=-q", "--test-arg=guilty.op", "--allow-unregistered-dialect"];
    let (status, said, written) = reduce(&text, &args);
    assert_eq!(status, Some(0), "{said}");
    assert!(written.contains("guilty.op") && !written.contains("innocent"), "{written}");
    assert!(!written.contains("b}") && written.matches('"').count() <= 4, "{written}");
    assert!(said.contains("operations became 1"), "{said}");
    let (status, said, _) = reduce(&text, &["--test=no-such-program", "--allow-unregistered-dialect"]);
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("`no-such-program` cannot be run") && said.contains("`--test-arg`"), "{said}");
    let (status, said, _) = reduce(&text, &["--test=false", "--allow-unregistered-dialect"]);
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("the command ends with status 1"), "{said}");
    let (status, said, _) = reduce(&text, &["--test=true"]);
    assert_eq!(status, Some(1), "{said}");
    assert!(said.contains("the input is wrong"), "{said}");
}

fn usage() {
    let wrong: [&[&str]; 13] = [
        &[],
        &["--crash"],
        &["--crash", "--miscompile", "--pass-pipeline=builtin.module(cse)"],
        &["--crash", "--pass-pipeline=builtin.module(nonesuch)"],
        &["--miscompile=0", "--pass-pipeline=builtin.module(cse)"],
        &["--diagnostic=(", "--pass-pipeline=builtin.module(cse)"],
        &["--diagnostic"],
        &["--miscompile=1000000000000", "--pass-pipeline=builtin.module(cse)"],
        &["--crash", "-j0", "--pass-pipeline=builtin.module(cse)"],
        &["--crash", "--threads=many", "--pass-pipeline=builtin.module(cse)"],
        &["--crash", "--threads=5000", "--pass-pipeline=builtin.module(cse)"],
        &["--test-arg=x", "--crash", "--pass-pipeline=builtin.module(cse)"],
        &["--crash", "--max-test=1", "--pass-pipeline=builtin.module(cse)"],
    ];
    for args in wrong {
        let (status, said, written) = reduce("", args);
        assert_eq!((status, &*written), (Some(2), ""), "{args:?}: {said}");
        assert!(said.starts_with("error: "), "{said}");
    }
}

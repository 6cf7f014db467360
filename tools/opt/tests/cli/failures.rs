//! Reproducers.

use super::{MODULE, run_in};
use sutura_opt::Status;

const FUNCTIONS: &str = "\
func.func @f(%x: i32) -> i32 {
  %a = arith.addi %x, %x : i32
  %b = arith.addi %x, %x : i32
  return %a : i32
}
";

#[test]
fn a_failure_leaves_a_reproducer_that_fails_in_the_same_way() {
    let folder = tempfile::tempdir().expect("a folder");
    for (pass, status) in [
        ("test-fails", Status::InputErrors),
        ("test-unsupported", Status::Unsupported),
        ("test-breaks", Status::Verification),
        ("test-panic", Status::Internal),
    ] {
        let flag = format!("--{pass}");
        let done = run_in(folder.path(), &["--cse", &flag], FUNCTIONS);
        assert_eq!(done.status, status, "{pass}");
        let path = "sutura-opt-reproducer-stdin.mlir";
        let note = format!(
            "note: the pipeline failed in `{pass}` on 'builtin.module'\nnote: a reproducer is in `{path}`: run it with \
             `sutura-opt --run-reproducer {path}`\n"
        );
        assert!(done.err.ends_with(&note), "{}", done.err);
        let text = std::fs::read_to_string(folder.path().join(path)).expect("it is there");
        assert!(text.starts_with(FUNCTIONS.trim_end()), "{text}");
        assert!(text.contains(&format!("pipeline: \"builtin.module(cse,{pass})\"")), "{text}");
        let again = run_in(folder.path(), &["--run-reproducer", path], "");
        assert_eq!(again.status, status, "{}", again.err);
        assert!(!again.err.contains("a reproducer is in"), "it is one itself");
    }
    let names: Vec<_> = std::fs::read_dir(folder.path()).expect("readable").collect();
    assert_eq!(names.len(), 1, "one input has one reproducer");
}

#[test]
fn nothing_is_left_where_nothing_helps() {
    let folder = tempfile::tempdir().expect("a folder");
    let expected = &format!("// expected-error@below {{{{the input is wrong}}}}\n{MODULE}");
    for (args, input) in [
        (&["--test-fails", "--no-reproducer"][..], MODULE),
        (&["--cse"], "this is no MLIR"),
        (&["--pass-pipeline=builtin.module(nonesuch)"], MODULE),
        (&["--pass-pipeline=func.func(cse)"], MODULE),
        (&["--test-fails", "--verify-diagnostics"], expected),
    ] {
        run_in(folder.path(), args, input);
        assert_eq!(std::fs::read_dir(folder.path()).expect("readable").count(), 0, "{args:?}");
    }
}

#[test]
fn reproducers_go_where_they_are_asked_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("it is there");
    run_in(folder.path(), &["--test-fails", "--mlir-pass-pipeline-crash-reproducer=r.mlir"], MODULE);
    assert!(read("r.mlir").contains("pipeline: \"builtin.module(test-fails)\""));
    // One that is asked for comes without a failure, too, and runs.
    let done = run_in(folder.path(), &["--cse", "--mlir-generate-reproducer=ok.mlir"], FUNCTIONS);
    assert_eq!(done.status, Status::Ok);
    let again = run_in(folder.path(), &["--run-reproducer", "ok.mlir"], "");
    assert_eq!((again.status, again.out), (Status::Ok, done.out));
}

#[test]
fn local_reproducers_begin_right_before_the_failure() {
    let folder = tempfile::tempdir().expect("a folder");
    let args = [
        "--pass-pipeline=builtin.module(func.func(cse,test-fails),symbol-dce)",
        "--mlir-pass-pipeline-local-reproducer",
        "--mlir-pass-pipeline-crash-reproducer=r.mlir",
    ];
    let done = run_in(folder.path(), &args, FUNCTIONS);
    assert!(done.err.contains("the pipeline failed in `test-fails` on 'func.func' @f"), "{}", done.err);
    let text = std::fs::read_to_string(folder.path().join("r.mlir")).expect("it is there");
    assert!(text.contains("pipeline: \"builtin.module(func.func(test-fails))\""), "{text}");
    assert!(!text.contains("%b = "), "CSE has run: {text}");
    assert_eq!(run_in(folder.path(), &["--run-reproducer", "r.mlir"], "").status, Status::InputErrors);
}

#[test]
fn parts_have_reproducers_of_their_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let input = format!("{MODULE}// -----\n{MODULE}");
    run_in(folder.path(), &["--test-fails", "--split-input-file"], &input);
    for line in [1, 5] {
        assert!(folder.path().join(format!("sutura-opt-reproducer-stdin-line-{line}.mlir")).is_file());
    }
}

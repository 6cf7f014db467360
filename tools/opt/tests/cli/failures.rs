//! Reproducers.

use std::path::PathBuf;

use super::{MODULE, run_in};
use sutura_opt::Status;

const FUNCTIONS: &str = "\
func.func @f(%x: i32) -> i32 {
  %a = arith.addi %x, %x : i32
  %b = arith.addi %x, %x : i32
  return %a : i32
}
";

/// The path that the last note names, if it names one.
fn noted(err: &str) -> Option<PathBuf> {
    let (_, rest) = err.rsplit_once("note: a reproducer is in `")?;
    Some(rest.split_once('`')?.0.into())
}

#[test]
fn errors_of_the_tool_leave_a_reproducer_among_the_temporary_files() {
    let folder = tempfile::tempdir().expect("a folder");
    for (pass, status) in [("test-breaks", Status::Verification), ("test-panic", Status::Internal)] {
        let flag = format!("--{pass}");
        let done = run_in(folder.path(), &["--cse", &flag], FUNCTIONS);
        assert_eq!(done.status, status, "{pass}");
        let path = noted(&done.err).unwrap_or_else(|| panic!("a reproducer: {}", done.err));
        assert!(path.starts_with(std::env::temp_dir()), "{}", path.display());
        let shown = path.display();
        let note = format!(
            "note: the pipeline failed in `{pass}` on 'builtin.module'\nnote: a reproducer is in `{shown}`: run it with \
             `sutura-opt --run-reproducer {shown}`\n"
        );
        assert!(done.err.ends_with(&note), "{}", done.err);
        let text = std::fs::read_to_string(&path).expect("it is there");
        assert!(text.starts_with(FUNCTIONS.trim_end()), "{text}");
        assert!(text.contains(&format!("pipeline: \"builtin.module(cse,{pass})\"")), "{text}");
        let again = run_in(folder.path(), &["--run-reproducer", path.to_str().expect("UTF-8")], "");
        assert_eq!(again.status, status, "{}", again.err);
        assert_eq!(noted(&again.err), None, "it is one itself");
        std::fs::remove_file(&path).expect("it is ours");
    }
    assert_eq!(std::fs::read_dir(folder.path()).expect("readable").count(), 0, "the working folder stays as it is");
}

#[test]
fn what_is_wrong_with_the_input_leaves_none() {
    let folder = tempfile::tempdir().expect("a folder");
    for (pass, status) in [("test-fails", Status::Input), ("test-unsupported", Status::Unsupported)] {
        let done = run_in(folder.path(), &["--cse", &format!("--{pass}")], FUNCTIONS);
        assert_eq!(done.status, status, "{pass}");
        assert!(done.err.contains(&format!("the pipeline failed in `{pass}`")), "{}", done.err);
        assert_eq!(noted(&done.err), None);
    }
    assert_eq!(std::fs::read_dir(folder.path()).expect("readable").count(), 0);
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
    assert_eq!(run_in(folder.path(), &["--run-reproducer", "r.mlir"], "").status, Status::Input);
}

#[test]
fn parts_have_reproducers_of_their_own() {
    let folder = tempfile::tempdir().expect("a folder");
    let input = format!("{MODULE}// -----\n{MODULE}");
    let done = run_in(folder.path(), &["--test-panic", "--split-input-file"], &input);
    let notes: Vec<&str> = done.err.split("note: a reproducer is in `").skip(1).collect();
    assert_eq!(notes.len(), 2, "{}", done.err);
    for (note, line) in notes.iter().zip([1, 5]) {
        let path = note.split('`').next().expect("quoted");
        assert!(path.contains(&format!("sutura-opt-reproducer-stdin-line-{line}-")), "{path}");
        std::fs::remove_file(path).expect("it is there");
    }
}

//! The IR around passes and remarks.

use super::{MODULE, run, run_in};
use sutura_opt::Status;

const TWO: &str = "\
func.func @f(%x: i32) -> (i32, i32) {
  %a = arith.addi %x, %x : i32
  %b = arith.addi %x, %x : i32
  return %a, %b : i32, i32
}
func.func @g() {
  return
}
";

const ON_FUNCTIONS: &str = "--pass-pipeline=builtin.module(func.func(cse))";

#[test]
fn after_change_works_alone() {
    let done = run(&[ON_FUNCTIONS, "--mlir-print-ir-after-change"], TWO);
    assert_eq!(done.err.matches("IR Dump After CSE (cse)").count(), 1, "{}", done.err);
    assert!(done.err.contains("func.func @f"));
}

#[test]
fn module_scope_needs_no_other_flag() {
    let done = run(&[ON_FUNCTIONS, "--mlir-print-ir-after-all", "--mlir-print-ir-module-scope"], TWO);
    assert_eq!(done.status, Status::Ok);
    let expected = "\
note: nested operations are worked on one after the other, so that each dump is of one program
// -----// IR Dump After CSE (cse) ('func.func' operation: @f) //----- //
module {
  func.func @f(%x: i32) -> (i32, i32) {
    %a = arith.addi %x, %x : i32
    return %a, %a : i32, i32
  }
  func.func @g() {
    return
  }
}

// -----// IR Dump After CSE (cse) ('func.func' operation: @g) //----- //
module {
";
    assert!(done.err.starts_with(expected), "{}", done.err);
    assert!(done.err.matches("return %a, %a").count() == 2, "the second dump has what the first pass did");
}

#[test]
fn diffs_show_only_what_changed() {
    let done = run(&[ON_FUNCTIONS, "--print-ir-diff"], TWO);
    let expected = "\
// -----// IR Dump After CSE (cse) ('func.func' operation: @f) //----- //
@@ -1,5 +1,4 @@
 func.func @f(%x: i32) -> (i32, i32) {
   %a = arith.addi %x, %x : i32
-  %b = arith.addi %x, %x : i32
-  return %a, %b : i32, i32
+  return %a, %a : i32, i32
 }

// -----// IR Dump After CSE (cse) ('func.func' operation: @g) //----- //
(no change)

";
    assert_eq!(done.err, expected);
    let done = run(&[ON_FUNCTIONS, "--print-ir-diff", "--print-ir-after-change"], TWO);
    assert!(!done.err.contains("@g"), "{}", done.err);
}

#[test]
fn trees_have_a_file_for_each_pass_on_each_op() {
    let folder = tempfile::tempdir().expect("a folder");
    let pipeline = "--pass-pipeline=builtin.module(canonicalize,func.func(cse,canonicalize),symbol-dce)";
    let done = run_in(folder.path(), &[pipeline, "--print-ir-tree-dir=tree"], TWO);
    assert_eq!((done.status, done.err.as_str()), (Status::Ok, ""));
    let mut files = Vec::new();
    let mut pending = vec![folder.path().join("tree")];
    while let Some(path) = pending.pop() {
        for entry in std::fs::read_dir(path).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                pending.push(path);
            } else {
                files.push(path.strip_prefix(folder.path()).expect("inside").display().to_string());
            }
        }
    }
    files.sort();
    let expected = [
        "tree/builtin_module_no-symbol-name/0_canonicalize.mlir",
        "tree/builtin_module_no-symbol-name/1_symbol-dce.mlir",
        "tree/builtin_module_no-symbol-name/func_func_f/0_0_cse.mlir",
        "tree/builtin_module_no-symbol-name/func_func_f/0_1_canonicalize.mlir",
        "tree/builtin_module_no-symbol-name/func_func_g/0_0_cse.mlir",
        "tree/builtin_module_no-symbol-name/func_func_g/0_1_canonicalize.mlir",
    ];
    assert_eq!(files, expected);
    let text = std::fs::read_to_string(folder.path().join(expected[2])).expect("readable");
    assert!(text.contains("return %a, %a"), "{text}");
}

#[test]
fn remarks_are_filtered_by_category_and_pattern() {
    let shown = |args: &[&str]| run(&[&["--test-remarks"], args].concat(), MODULE).err;
    assert_eq!(shown(&[]), "");
    assert!(shown(&["--remarks"]).contains("remark: nothing to do"));
    assert!(shown(&["--remarks-filter=noth.ng"]).contains("nothing to do"));
    assert!(shown(&["--remarks-filter=test-rem"]).contains("nothing to do"));
    assert_eq!(shown(&["--remarks-filter=something"]), "");
    assert!(shown(&["--remarks-filter-analyse=."]).contains("nothing to do"));
    assert_eq!(shown(&["--remarks-filter-missed=."]), "");
    assert!(shown(&["--remarks-filter=("]).contains("takes a regular expression"));
}

/// As with MLIR's drivers, a test of what a pass does need not expect what the pass says of it.
#[test]
fn expected_remarks_are_compared_when_asked_for() {
    let expecting = format!("// expected-remark @below {{{{nothing to do}}}}\n{MODULE}");
    let said = |args: &[&str], text: &str| {
        let done = run(&[&["--test-remarks", "--verify-diagnostics"], args].concat(), text);
        (done.status, done.err)
    };
    assert_eq!(said(&[], MODULE), (Status::Ok, String::new()));
    assert_eq!(said(&["--remarks"], &expecting), (Status::Ok, String::new()));
    assert_eq!(said(&["--remarks-filter-missed=."], MODULE), (Status::Ok, String::new()));
    let (status, err) = said(&["--remarks-filter-analyse=."], MODULE);
    assert!(status == Status::Input && err.contains("unexpected remark: nothing to do"), "{err}");
    let (status, err) = said(&[], &expecting);
    assert!(status == Status::Input && err.contains("is compared where `--remarks` is given"), "{err}");
}

#[test]
fn remarks_go_to_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("readable");
    let done = run_in(folder.path(), &["--test-remarks", "--remark-format=yaml"], MODULE);
    assert_eq!((done.status, done.err.as_str()), (Status::Ok, ""));
    let expected = "--- !Analysis\nPass:            test-remarks\nDebugLoc:        { File: '<stdin>', Line: 1, Column: 1 }\n\
                    Args:\n  - Remark:          'nothing to do'\n...\n";
    assert_eq!(read("mlir-remarks.yaml"), expected);
    run_in(folder.path(), &["--test-remarks", "--remark-format=json", "--remarks-output-file=r.json"], MODULE);
    let value: serde_json::Value = serde_json::from_str(read("r.json").trim()).expect("JSON");
    assert_eq!((&value["kind"], &value["pass"]), (&"analysis".into(), &"test-remarks".into()));
}

#[test]
fn of_final_remarks_the_last_one_counts() {
    let twice = "--pass-pipeline=builtin.module(test-remarks,test-remarks)";
    let count = |args: &[&str]| run(&[&[twice], args].concat(), MODULE).err.matches("nothing to do").count();
    assert_eq!(count(&["--remarks"]), 2);
    assert_eq!(count(&["--remarks", "--remark-policy=all"]), 2);
    assert_eq!(count(&["--remark-policy=final"]), 1);
    assert_eq!(run(&[twice, "--remark-policy=some"], MODULE).status, Status::Usage);
}

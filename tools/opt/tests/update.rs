//! `sutura-lit --update` on tests of `sutura-opt`.

mod support;

use std::path::PathBuf;

use sutura_lit::{Overrides, Suite, Updated, update};

/// Updates a test with this text; what is said, and the text afterwards.
fn updated(text: &str, dry_run: bool) -> (Updated, String) {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("lit.toml"), "name = \"t\"\nsuffixes = [\".mlir\"]\n").expect("written");
    let file: PathBuf = folder.path().join("a.mlir");
    std::fs::write(&file, text).expect("written");
    let overrides = Overrides { output: Some(folder.path().join("out")), ..Overrides::default() };
    let suite = Suite::load(folder.path(), support::tools(), &overrides).expect("a suite");
    let tests = suite.tests(&file).expect("a test");
    let result = update(&suite, &tests[0], dry_run).expect("readable");
    (result, std::fs::read_to_string(&file).expect("still there"))
}

const STALE: &str = "// RUN: sutura-opt %s --split-input-file --verify-diagnostics
// expected-error @+2 {{'arith.addi' op says something else}}
func.func @f(%x: i32, %y: i64) {
  %0 = arith.addi %x, %y : i32
  return
}
// -----
func.func @g() {
  // expected-warning @below {{nothing of the kind}}
  return
}
// -----
func.func @h() {
  %0 = arith.nonesuch
  return
}
";

#[test]
fn expectations_follow_the_diagnostics() {
    let (result, text) = updated(STALE, false);
    let Updated::Changed(diff) = result else { panic!("{result:?}\n{text}") };
    assert!(diff.contains("-// expected-error @+2 {{'arith.addi' op says something else}}"), "{diff}");
    assert!(!text.contains("nothing of the kind") && text.contains("custom op 'arith.nonesuch' is unknown"), "{text}");
    assert_eq!(updated(&text, false).0, Updated::NotNeeded);
    let (result, text) = updated(STALE, true);
    assert!(matches!(result, Updated::Changed(_)), "{result:?}");
    assert_eq!(text, STALE, "a dry run changes nothing");
}

#[test]
fn check_lines_follow_the_output() {
    let text = "// RUN: sutura-opt %s --canonicalize | FileCheck %s
// CHECK-LABEL: func.func @f(
// CHECK-SAME:    %[[X:.*]]: i32
func.func @f(%x: i32) -> i32 {
  // CHECK: %[[Y:.*]] = arith.muli %[[X]], %[[X]] : i64
  %0 = arith.muli %x, %x : i32
  // CHECK-NEXT: return %[[Y]] : i32 loc(unknown)
  return %0 : i32
}
";
    let (result, new) = updated(text, false);
    assert!(matches!(result, Updated::Changed(_)), "{result:?}");
    assert!(new.contains("// CHECK: %[[Y:.*]] = arith.muli %[[X]], %[[X]] : i32\n"), "{new}");
    assert!(new.contains("// CHECK-NEXT: return %[[Y]] : i32\n"), "{new}");
}

#[test]
fn what_is_another_matter_is_left() {
    for check in ["CHECK: arith.subi", "CHECK-NOT: arith.muli", "CHECK: arith.{{x|y}}"] {
        let text = format!(
            "// RUN: sutura-opt %s | FileCheck %s\n// CHECK: func.func\n// {check}\nfunc.func @f(%x: i32) {{\n  \
             %0 = arith.muli %x, %x : i32\n  return\n}}\n"
        );
        let (result, new) = updated(&text, false);
        assert!(matches!(result, Updated::Refused(_)), "{check}: {result:?}\n{new}");
        assert_eq!(new, text);
    }
    let none =
        "// RUN: sutura-opt %s --verify-diagnostics\n// expected-error @below {{gone}}\nfunc.func private @f()\n";
    let (result, new) = updated(none, false);
    assert!(matches!(&result, Updated::Refused(why) if why.contains("would check nothing")), "{result:?}");
    assert_eq!(new, none);
}

#[test]
fn files_that_cannot_be_rewritten_are_left_and_said() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = |name: &str| folder.path().join(name);
    std::fs::write(path("lit.toml"), "name = \"t\"\nsuffixes = [\".mlir\"]\n").expect("written");
    std::fs::write(path("a-binary.mlir"), [b"// RUN: sutura-opt %s\n", &[0xff, 0xfe][..]].concat()).expect("written");
    std::fs::write(path("b-read-only.mlir"), STALE).expect("written");
    let mut permissions = std::fs::metadata(path("b-read-only.mlir")).expect("there").permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(path("b-read-only.mlir"), permissions).expect("set");
    std::fs::write(path("c-empty.mlir"), "").expect("written");
    let overrides = Overrides { output: Some(path("out")), ..Overrides::default() };
    let suite = Suite::load(folder.path(), support::tools(), &overrides).expect("a suite");
    let tests = suite.tests(folder.path()).expect("tests");
    let reasons: Vec<String> = tests
        .iter()
        .map(|test| match update(&suite, test, false) {
            Ok(Updated::Refused(reason)) => reason,
            other => panic!("{}: {other:?}", test.name()),
        })
        .collect();
    assert_eq!(reasons, ["the file is not UTF-8 text", "the file may not be written", "the test is UNRESOLVED"]);
    assert_eq!(std::fs::read_to_string(path("b-read-only.mlir")).expect("readable"), STALE);
    assert!(matches!(update(&suite, &tests[1], true), Ok(Updated::Refused(_) | Updated::Changed(_))));
    assert_eq!(std::fs::read_to_string(path("b-read-only.mlir")).expect("readable"), STALE, "a dry run");
}

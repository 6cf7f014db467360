//! Flags of the printer, byte for byte beside mlir-opt.

use std::process::Command;

use super::{run, table};

/// Names of values are the one thing in which we print more than mlir-opt.
const COMMON: [&str; 3] = ["--allow-unregistered-dialect", "--discard-value-names", "in.mlir"];

const FLAGS: [&[&str]; 9] = [
    &["--mlir-print-skip-regions"],
    &["--mlir-print-skip-regions", "--mlir-print-op-generic"],
    &["--mlir-print-value-users"],
    &["--mlir-print-value-users", "--mlir-print-op-generic"],
    &["--mlir-print-unique-ssa-ids"],
    &["--mlir-print-unique-ssa-ids", "--mlir-print-value-users"],
    &["--mlir-use-nameloc-as-prefix"],
    &["--mlir-pretty-debuginfo", "--mlir-print-debuginfo"],
    &["--mlir-print-local-scope", "--mlir-pretty-debuginfo", "--mlir-print-debuginfo"],
];

const PROGRAM: &str = r#"func.func @f(%lhs: i32, %c: i1, %d: i32) -> i32 {
  %sum = arith.addi %lhs, %lhs : i32 loc("sum_name")
  %sum2:2 = "test.two"(%sum) ({
    ^bb0(%x: i32 loc("argname"), %y: i32):
      %z = arith.addi %x, %y : i32 loc("z"("a.mlir":1:2))
      "test.yield"(%z) : (i32) -> ()
  }, {}) : (i32) -> (i32, i32) loc(fused["sum_name", "b.mlir":3:4])
  %unused = arith.constant 3 : i32 loc("cst name")
  "test.nothing"() : () -> () loc(unknown)
  cf.cond_br %c, ^bb1(%sum2#1 : i32), ^bb2
^bb1(%k: i32):
  %r = arith.muli %sum, %sum2#0 : i32 loc(callsite("callee"("q.mlir":2:3) at "caller.mlir":4:5))
  return %r : i32 loc(callsite("s.mlir":1:1 at callsite("t" at "u")))
^bb2:
  %q = scf.if %c -> (i32) { %z = arith.addi %lhs, %lhs : i32 scf.yield %z : i32 } else { scf.yield %sum : i32 }
  return %q : i32
}
func.func @g(%lhs: i32) -> i32 {
  %sum = arith.addi %lhs, %lhs : i32 loc("1bad name!")
  return %sum : i32
}
"#;

#[test]
fn flags_print_what_mlir_opt_prints() {
    let Some(tool) = table::mlir_opt() else { return };
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("in.mlir"), PROGRAM).expect("written");
    let mut problems = Vec::new();
    for flags in FLAGS {
        let ours = super::run_in(folder.path(), &[flags, &COMMON].concat(), "");
        assert!(ours.err.is_empty(), "{flags:?}: {}", ours.err);
        let theirs = Command::new(&tool).args(flags).args([COMMON[0], COMMON[2]]).current_dir(folder.path()).output();
        let theirs = String::from_utf8(theirs.expect("it runs").stdout).expect("UTF-8");
        if ours.out.trim_end() != theirs.trim_end() {
            problems.push(format!("{flags:?}\n---- ours\n{}\n---- mlir-opt's\n{theirs}", ours.out));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

#[test]
fn users_are_said_in_comments() {
    let done = run(&["--print-value-users"], "func.func @f(%x: i32) -> i32 {\n  return %x : i32\n}\n");
    assert!(done.out.contains("    // %x is used by %1\n    return %x : i32 // id: %1\n"), "{}", done.out);
}

#[test]
fn regions_are_skipped_however_many_there_are() {
    let regions = vec!["{}"; 50_000].join(", ");
    let done =
        run(&["--print-skip-regions", "--allow-unregistered-dialect"], &format!("\"a.b\"() ({regions}) : () -> ()"));
    assert_eq!(done.out, "module {...}\n");
    let args = ["--print-skip-regions", "--no-implicit-module", "--allow-unregistered-dialect"];
    let done = run(&args, &format!("\"builtin.module\"() ({{\n\"a.b\"() ({regions}) : () -> () }}) : () -> ()"));
    assert_eq!(done.out, "module {...}\n", "{}", done.err);
}

#[test]
fn names_come_from_locations_before_those_of_the_text() {
    let text = "func.func @f(%x: i32 loc(\"arg\")) -> i32 {\n  %y = arith.addi %x, %x : i32 loc(\"sum\")\n  return %y : i32\n}\n";
    let done = run(&["--use-nameloc-as-prefix"], text);
    assert!(done.out.contains("%sum = arith.addi %arg, %arg : i32"), "{}", done.out);
    assert!(run(&[], text).out.contains("%y = arith.addi %x, %x : i32"));
}

//! Help, lists, timing and statistics.

use serde_json::Value;

use super::{MODULE, run, run_in};
use sutura_opt::Status;

#[test]
fn the_help_fits_a_screen_and_all_of_it_is_there_too() {
    let short = run(&["--help"], "").out;
    assert!(short.lines().count() <= 40 && short.lines().all(|l| l.chars().count() <= 120), "{short}");
    let all = run(&["--help-all"], "").out;
    for flag in ["--print-ir-tree-dir=DIR", "--pass-pipeline-local-reproducer", "--remarks-filter-missed=REGEX"] {
        assert!(all.contains(flag), "{flag}");
    }
}

#[test]
fn lists_are_grouped_and_come_as_json() {
    let text = run(&["--list-passes"], "").out;
    assert!(text.starts_with("On any operation") && text.contains("\nOn func.func:\n"), "{text}");
    let json = |args: &[&str]| -> Value { serde_json::from_str(&run(args, "").out).expect("JSON") };
    let passes = json(&["--list-passes", "--format=json"]);
    let all = passes["passes"].as_array().expect("a list");
    let cse = all.iter().find(|p| p["name"] == "cse").expect("listed");
    assert_eq!(cse["class"], "CSE");
    assert!(!cse["statistics"].as_array().expect("a list").is_empty());
    let dialects = json(&["--show-dialects", "--format=json"]);
    let first = &dialects["dialects"][0];
    assert_eq!(first["name"], "arith");
    assert!(!first["operations"][0]["summary"].as_str().expect("text").is_empty());
}

#[test]
fn explanations_are_printed_whole() {
    let done = run(&["--explain=e0003"], "");
    assert_eq!(done.status, Status::Ok);
    assert!(done.out.starts_with("# E0003: use of a value") && done.out.contains("```mlir"), "{}", done.out);
}

#[test]
fn statistics_are_always_counted() {
    let text = "func.func @f(%x: i32) { %a = arith.addi %x, %x : i32 return }";
    let done = run(&["--cse", "--mlir-pass-statistics"], text);
    assert!(done.err.contains("(S) 1 num-dce'd"), "{}", done.err);
    let done = run(&["--cse", "--canonicalize", "--cse", "--mlir-pass-statistics-display=list"], text);
    assert_eq!(done.err.matches("\nCSE\n").count(), 1, "{}", done.err);
    assert!(done.err.contains("\nCSE\n  (S) 0 num-cse'd"), "{}", done.err);
}

#[test]
fn timing_as_json_goes_to_a_file_and_nowhere_else() {
    let folder = tempfile::tempdir().expect("a folder");
    let done = run_in(folder.path(), &["--cse", "--timing=json:time.json"], MODULE);
    assert_eq!((done.status, done.err.as_str(), done.out.as_str()), (Status::Ok, "", "module {\n}\n"));
    let text = std::fs::read_to_string(folder.path().join("time.json")).expect("readable");
    let value: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(value["version"], 1);
    let names: Vec<&str> =
        value["steps"].as_array().expect("a list").iter().map(|s| s["name"].as_str().expect("a name")).collect();
    assert_eq!(names, ["Parser", "Verifier", "CSE", "Output", "Rest"]);
    // As mlir-opt spells it, it is refused with the place to name.
    let done = run(&["--mlir-timing", "--mlir-output-format=json"], MODULE);
    assert_eq!(done.status, Status::Usage);
    assert!(done.err.contains("write `--timing=json:FILE`"), "{}", done.err);
}

#[test]
fn timing_as_a_list_is_sorted_and_works_alone() {
    let done = run(&["--cse", "--mlir-timing-display=list"], MODULE);
    assert!(done.err.contains("Execution time report") && done.err.contains("CSE"), "{}", done.err);
}

#[test]
fn a_profile_has_each_pass_on_each_op() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = "func.func @f() {\n  return\n}\nfunc.func @g() {\n  return\n}\n";
    let args = ["--pass-pipeline=builtin.module(func.func(cse),canonicalize)", "--profile-actions-to=p.json"];
    let done = run_in(folder.path(), &args, text);
    assert_eq!((done.status, done.err.as_str()), (Status::Ok, ""));
    let read = std::fs::read_to_string(folder.path().join("p.json")).expect("readable");
    let value: Value = serde_json::from_str(&read).expect("JSON");
    let events = value["traceEvents"].as_array().expect("a list");
    let passes: Vec<(&str, &str)> = events
        .iter()
        .filter(|e| e["cat"] == "pass")
        .map(|e| (e["name"].as_str().expect("a name"), e["args"]["on"].as_str().expect("a path")))
        .collect();
    let expected = [
        ("cse", "builtin.module / func.func @f"),
        ("cse", "builtin.module / func.func @g"),
        ("canonicalize", "builtin.module"),
    ];
    assert_eq!(passes, expected);
    for event in events {
        assert!(
            event["ph"] == "X" && event["ts"].as_f64() >= Some(0.0) && event["dur"].as_f64() >= Some(0.0),
            "{event}"
        );
    }
    let done = run(&["--cse", "--profile-actions-to=-"], MODULE);
    assert!(done.status == Status::Usage && done.err.contains("takes the name of a file"), "{}", done.err);
}

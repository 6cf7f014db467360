//! Runs the tests in `suite/`, whose folders (or `RESULT:` lines) say how each
//! must end, alone and under LLVM's lit.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use sutura_lit::{Call, Overrides, Suite, Test, Tools};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite")
}

fn tools() -> Tools {
    Tools::standard()
        .with("sleep-in-process", |_: &mut Call<'_>| {
            std::thread::sleep(Duration::from_secs(60));
            0
        })
        .with("panic", |_: &mut Call<'_>| -> i32 { panic!("on purpose") })
        .with("alternate", |call: &mut Call<'_>| {
            for i in 0..3 {
                let _ = writeln!(call.stdout, "out {i}");
                let _ = writeln!(call.stderr, "err {i}");
            }
            0
        })
}

fn load(folder: &str, timeout: Duration) -> (Suite, Vec<Test>) {
    let output = Path::new(env!("CARGO_TARGET_TMPDIR")).join("lit");
    let overrides = Overrides { output: Some(output), timeout: Some(timeout), ..Overrides::default() };
    let suite = Suite::load(&root(), tools(), &overrides).expect("the suite");
    let tests = suite.tests(&root().join(folder)).expect("tests");
    assert!(!tests.is_empty(), "no tests in {folder}");
    (suite, tests)
}

/// What must be in the result of a test: its code and parts of its output.
fn expected(test: &Test) -> (String, Vec<String>) {
    let text = std::fs::read(root().join(test.name())).expect("a test");
    let text = String::from_utf8_lossy(&text);
    let values = |keyword: &str| -> Vec<String> {
        let lines = text.lines().filter_map(|line| line.strip_prefix(keyword));
        lines.map(|line| line.trim().to_owned()).collect()
    };
    let folder = test.name().split('/').next().expect("a folder").to_uppercase();
    (values("RESULT:").pop().unwrap_or(folder), values("OUTPUT:"))
}

fn check(folder: &str, timeout: Duration) {
    let (suite, tests) = load(folder, timeout);
    let mut problems = String::new();
    for test in &tests {
        let outcome = suite.run(test);
        let (code, parts) = expected(test);
        if outcome.code.name() != code {
            problems += &format!("{}: {}, not {code}\n{}\n", test.name(), outcome.code.name(), outcome.output);
        }
        for part in parts.iter().filter(|part| !outcome.output.contains(part.as_str())) {
            problems += &format!("{}: no '{part}' in\n{}\n", test.name(), outcome.output);
        }
    }
    assert!(problems.is_empty(), "{problems}");
}

#[test]
fn results_are_as_the_folders_say() {
    for folder in ["pass", "fail", "xfail", "xpass", "unsupported", "unresolved", "strict"] {
        check(folder, Duration::from_secs(60));
    }
    assert!(!root().join("must-not-exist").exists());
}

#[test]
fn tests_that_take_too_long_are_stopped() {
    check("timeout", Duration::from_millis(300));
}

/// A suite of one test with this text, and the result.
fn run_text(text: &str) -> (&'static str, String) {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("lit.toml"), "name = 'x'\nsuffixes = ['.test']\n").expect("a file");
    std::fs::write(folder.path().join("a.test"), text).expect("a file");
    let suite = Suite::load(folder.path(), tools(), &Overrides::default()).expect("the suite");
    let tests = suite.tests(folder.path()).expect("tests");
    let outcome = suite.run(&tests[0]);
    (outcome.code.name(), outcome.output)
}

#[test]
fn a_panic_is_a_crash() {
    let (code, output) = run_text("RUN: not --crash panic");
    assert_eq!(code, "PASS", "{output}");
    let (code, output) = run_text("RUN: not panic");
    assert_eq!(code, "FAIL");
    assert!(output.contains("panicked: on purpose"), "{output}");
}

#[test]
fn outputs_of_a_tool_keep_their_order() {
    let text = "RUN: alternate 2>&1 | FileCheck %s\nCHECK: out 0\nCHECK-NEXT: err 0\nCHECK-NEXT: out 1\n";
    let (code, output) = run_text(text);
    assert_eq!(code, "PASS", "{output}");
}

#[test]
fn ten_megabytes_through_pipes() {
    let line = "0123456789".repeat(10);
    let text = format!(
        "RUN: split-file %s %t && cat %t/big | cat | sh -c 'cat' | FileCheck %s\nCHECK: last\n//--- big\n{}last\n",
        (line + "\n").repeat(100_000)
    );
    let (code, output) = run_text(&text);
    assert_eq!(code, "PASS", "{output}");
}

#[test]
fn long_output_is_cut() {
    let (code, output) = run_text(&format!("RUN: echo {} && false\n", "x".repeat(500_000)));
    assert_eq!(code, "FAIL");
    assert!(output.contains("bytes left out"));
}

#[test]
fn errors_of_suites() {
    let folder = tempfile::tempdir().expect("a folder");
    let load = |overrides: &Overrides| Suite::load(folder.path(), tools(), overrides).map(drop);
    assert!(load(&Overrides::default()).expect_err("no file").contains("lit.toml"));
    std::fs::write(folder.path().join("lit.toml"), "name = 'x'\nsuffixes = ['.test']\n").expect("a file");
    let params = BTreeMap::from([("size".to_owned(), "1".to_owned())]);
    let error = load(&Overrides { params, ..Overrides::default() }).expect_err("a parameter");
    assert!(error.contains("unknown parameter 'size'"), "{error}");
    std::fs::write(folder.path().join("a.txt"), "").expect("a file");
    let suite = Suite::load(folder.path(), tools(), &Overrides::default()).expect("the suite");
    let error = suite.tests(&folder.path().join("a.txt")).expect_err("not a test");
    assert!(error.contains("not a test"), "{error}");
}

#[test]
fn agrees_with_llvm() {
    let bin = std::env::var_os("SUTURA_LLVM_BIN").map_or("/usr/lib/llvm-22/bin".into(), PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders = std::iter::once(bin.clone()).chain(std::env::split_paths(&path));
    let Some(lit) = folders.find(|f| f.join("lit").is_file()).filter(|_| bin.join("FileCheck").exists()) else {
        let why = "LLVM's lit and FileCheck are not installed (SUTURA_LLVM_BIN can name their folder)";
        return sutura_skip::skipped(sutura_skip::Need::Lit, why);
    };
    let folder = tempfile::tempdir().expect("a folder");
    let results = folder.path().join("results.json");
    let param = |name: &str, value: &Path| format!("{name}={}", value.display());
    let status = Command::new(lit.join("lit"))
        .args(["-q", "-j2", "-D", &param("exec_root", &folder.path().join("exec"))])
        .args(["-D", &param("llvm_bin", &bin), "-o"])
        .args([results.as_path(), root().as_path()])
        .output()
        .expect("lit starts");
    let text = std::fs::read(&results)
        .unwrap_or_else(|_| panic!("lit wrote no results: {}", String::from_utf8_lossy(&status.stderr)));
    let results: serde_json::Value = serde_json::from_slice(&text).expect("JSON");
    let mut compared = 0;
    let mut problems = String::new();
    let (_, tests) = load("", Duration::ZERO);
    for test in tests {
        let folder = test.name().split('/').next().expect("a folder");
        if folder == "strict" || folder == "timeout" {
            continue;
        }
        let name = format!("sutura-lit :: {}", test.name());
        let all = results["tests"].as_array().expect("tests");
        let result = all.iter().find(|result| result["name"] == name.as_str());
        let code = result.and_then(|result| result["code"].as_str()).unwrap_or("nothing");
        compared += 1;
        if code != expected(&test).0 {
            let output = result.map(|result| result["output"].as_str().unwrap_or_default());
            problems += &format!("{name}: LLVM's lit says {code}\n{}\n", output.unwrap_or_default());
        }
    }
    assert!(compared > 20, "only {compared} tests were compared");
    assert!(problems.is_empty(), "{problems}");
}

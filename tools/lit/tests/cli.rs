//! The command `sutura-lit`.

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

fn lit(args: &[&str]) -> Output {
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite");
    let output = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cli");
    Command::new(env!("CARGO_BIN_EXE_sutura-lit"))
        .current_dir(suite)
        .arg("--output-dir")
        .arg(output)
        .args(args)
        .output()
        .expect("it starts")
}

fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn passing_tests_are_quiet() {
    let output = lit(&["pass", "xfail", "unsupported"]);
    assert_eq!(output.status.code(), Some(0), "{}", stdout(&output));
    let text = stdout(&output);
    assert!(!text.contains("PASS:"), "{text}");
    assert!(text.contains("  Expectedly Failed  : 2"), "{text}");
    assert!(text.contains("  Unsupported        : 2"), "{text}");
}

#[test]
fn failing_tests_show_what_they_did() {
    let output = lit(&["fail/status.test", "pass/line.test", "-v", "-j", "4"]);
    assert_eq!(output.status.code(), Some(1));
    let text = stdout(&output);
    let fail = text.find("FAIL: sutura-lit :: fail/status.test (1 of 2)").expect(&text);
    let pass = text.find("PASS: sutura-lit :: pass/line.test (2 of 2)").expect(&text);
    assert!(fail < pass, "{text}");
    for part in ["RUN: at line 2: false", "$ echo before", "# | before", "exit status: 1", "Failed Tests (1):"] {
        assert!(text.contains(part), "no '{part}' in {text}");
    }
}

#[test]
fn updates_are_asked_for_and_told() {
    let output = lit(&["pass/line.test", "fail/status.test", "--update", "--dry-run"]);
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("NOT UPDATED: sutura-lit :: fail/status.test: neither FileCheck nor"), "{text}");
    assert!(text.contains("0 tests updated, 1 failing tests left as they are"), "{text}");
    assert_eq!(lit(&["pass/line.test", "--dry-run"]).status.code(), Some(2));
}

#[test]
fn filters_and_names() {
    let output = lit(&[".", "--filter", "pass/[a-d]", "--filter-out", "x?pass/b", "--show-tests"]);
    let text = stdout(&output);
    let names: Vec<&str> = text.lines().collect();
    assert_eq!(
        names,
        ["sutura-lit :: pass/after_end.test", "sutura-lit :: pass/continued.test", "sutura-lit :: pass/define.test"]
    );
}

#[test]
fn parameters() {
    let output = lit(&["pass/define.test", "-D", "size=large"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("<stdin>:1:1: note: scanning from here\n# | large"), "{}", stdout(&output));
}

#[test]
fn stops_after_failures() {
    let output = lit(&["fail", "--max-failures", "1", "-j1", "-q"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stdout(&output).contains("Total Discovered Tests: 1\n"), "{}", stdout(&output));
    assert!(stdout(&output).contains("Not run"), "{}", stdout(&output));
}

#[test]
fn writes_reports() {
    let folder = tempfile::tempdir().expect("a folder");
    let (json, xml) = (folder.path().join("r.json"), folder.path().join("r.xml"));
    let path = |path: &Path| path.to_string_lossy().into_owned();
    let output = lit(&["pass", "fail/status.test", "-o", &path(&json), "--xunit-xml-output", &path(&xml), "-q"]);
    assert_eq!(output.status.code(), Some(1));
    let report: serde_json::Value = serde_json::from_slice(&std::fs::read(json).expect("a file")).expect("JSON");
    let tests = report["tests"].as_array().expect("tests");
    let names: Vec<&str> = tests.iter().filter_map(|test| test["name"].as_str()).collect();
    let mut sorted = names.clone();
    sorted.sort_unstable();
    assert_eq!(names, sorted);
    assert_eq!(tests[0]["code"], "FAIL");
    let xml = std::fs::read_to_string(xml).expect("a file");
    assert!(xml.contains("<failure message=\"FAIL\">"), "{xml}");
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 2);
}

#[test]
fn trouble_has_its_own_status() {
    for (args, part) in [
        (&["nowhere"][..], "no such file"),
        (&["/"], "no lit.toml"),
        (&["pass", "--filter", "nothing-like-it"], "leave no test"),
        (&["pass", "--filter", "("], "open group"),
        (&["pass", "-D", "size"], "NAME=VALUE"),
        (&["pass", "-D", "sise=1"], "unknown parameter 'sise'"),
        (&["lit.toml"], "not a test"),
        (&["pass/line.test", "-o", "/nonexistent/x.json"], "could not write"),
        (&["pass", "--fliter", "x"], "--filter"),
    ] {
        let output = lit(args);
        let text = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {text}");
        assert!(text.contains(part), "{args:?}: {text}");
    }
}

#[test]
fn shards_have_each_test_once() {
    let names = |args: &[&str]| -> Vec<String> {
        let output = lit(&[&["pass", "--show-tests"], args].concat());
        stdout(&output).lines().map(str::to_owned).collect()
    };
    let all = names(&[]);
    let mut parts: Vec<String> =
        ["1", "2", "3"].iter().flat_map(|shard| names(&["--num-shards=3", "--run-shard", shard])).collect();
    assert_eq!(names(&["--num-shards=3", "--run-shard=1"])[..2], [all[0].clone(), all[3].clone()]);
    parts.sort();
    assert_eq!(parts, all);
    assert_eq!(names(&["--max-tests=2"]), all[..2]);
    let mut random = names(&["--order=random"]);
    random.sort();
    assert_eq!(random, all);
    for wrong in [&["--num-shards=3"][..], &["--num-shards=3", "--run-shard=4"], &["--order=smart"], &["--run-shard=0"]]
    {
        assert_eq!(lit(&[&["pass"], wrong].concat()).status.code(), Some(2), "{wrong:?}");
    }
}

#[test]
fn failures_can_be_known() {
    let failing = ["fail/status.test", "pass/line.test"];
    let status = |args: &[&str]| lit(&[&failing, args].concat()).status.code();
    assert_eq!(status(&[]), Some(1));
    assert_eq!(status(&["--ignore-fail"]), Some(0));
    assert_eq!(status(&["--xfail=fail/status.test"]), Some(0));
    assert_eq!(status(&["--xfail=sutura-lit :: fail/status.test"]), Some(0));
    assert_eq!(status(&["--xfail=fail/status.test;pass/line.test"]), Some(1));
    assert_eq!(status(&["--xfail=fail/status.test", "--xfail-not=fail/status.test"]), Some(1));
    assert_eq!(status(&["--xfail=no/such.test"]), Some(2));
    assert_eq!(lit(&["pass", "--filter=nonesuch"]).status.code(), Some(2));
    assert_eq!(lit(&["pass", "--filter=nonesuch", "--allow-empty-runs"]).status.code(), Some(0));
}

#[test]
fn variables_are_flags() {
    let suite = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/suite");
    let run = |name: &str, value: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sutura-lit"));
        command.current_dir(&suite).env(name, value).args(["pass", "--show-tests"]).output().expect("it starts")
    };
    assert_eq!(stdout(&run("LIT_FILTER", "pass/line")), "sutura-lit :: pass/line.test\n");
    assert!(!stdout(&run("LIT_FILTER_OUT", "pass/line")).contains("pass/line.test"));
    let wrong = run("LIT_NUM_SHARDS", "many");
    assert_eq!(wrong.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("LIT_NUM_SHARDS has a wrong value, 'many'"));
}

#[test]
fn without_a_job_nothing_would_run() {
    let output = lit(&["pass", "-j", "0"]);
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(text.contains("expected a whole number from 1"), "{text}");
}

#[test]
fn help_that_cannot_be_written_is_an_error() {
    for flag in ["--help", "--version"] {
        let full = std::fs::OpenOptions::new().write(true).open("/dev/full").expect("a full device");
        let output = Command::new(env!("CARGO_BIN_EXE_sutura-lit")).arg(flag).stdout(full).output();
        assert_eq!(output.expect("it starts").status.code(), Some(2), "{flag}");
    }
}

/// A suite of one test in a folder of its own.
fn suite(test: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("lit.toml"), "name = 'x'\nsuffixes = ['.test']\n").expect("a file");
    std::fs::write(folder.path().join("a.test"), test).expect("a file");
    folder
}

#[test]
fn reports_hide_nothing() {
    let folder = suite("# RUN: printf '\\033[31m\\007\\302\\233\\342\\200\\256' && false\n");
    let output = Command::new(env!("CARGO_BIN_EXE_sutura-lit")).arg(folder.path()).output().expect("it starts");
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("\\u{1b}[31m\\u{7}\\u{9b}\\u{202e}"), "{text}");
    assert!(!text.contains(|c| !matches!(c, '\n' | '\t') && sutura_visible::is_hidden(c)), "{text:?}");
}

fn until(what: &str, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(start.elapsed() < Duration::from_secs(30), "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn an_interrupt_ends_what_runs() {
    for signal in ["INT", "TERM"] {
        let folder = suite("# RUN: sh -c 'sleep 300 & echo $! > pid.tmp; mv pid.tmp pid; wait'\n");
        // A job in the background ignores interrupts, and so does what it starts.
        let mut command = Command::new("env");
        command.args(["--default-signal", env!("CARGO_BIN_EXE_sutura-lit")]);
        let mut lit = command.arg(folder.path()).stdout(Stdio::null()).spawn().expect("it starts");
        let pid = folder.path().join("Output/pid");
        until("the test does not start", || pid.exists());
        let pid = std::fs::read_to_string(pid).expect("a number");
        let sent = Command::new("kill").args([&format!("-{signal}"), &lit.id().to_string()]).status();
        assert!(sent.expect("kill").success());
        assert_eq!(lit.wait().expect("a child").code(), Some(130));
        // One that has ended and that nobody waits for is a zombie.
        let state = || std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
        until("the process goes on", || state().is_empty() || state().contains(") Z "));
    }
}

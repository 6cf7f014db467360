//! A table of small tests whose result is compared with that of LLVM's lit.
//!
//! A case of `table.txt` is
//!
//! ```text
//! == name
//! result: PASS
//! lit: FAIL                  that of LLVM's lit, if deliberately not the same
//! --
//! RUN: true
//! ```
//!
//! The feature `there` is there; beside the tests is a file `readme.txt` with the word `content`.

use std::path::{Path, PathBuf};
use std::process::Command;

use sutura_lit::{Overrides, Suite, Tools};

struct Case {
    name: &'static str,
    result: &'static str,
    lit: &'static str,
    text: &'static str,
}

fn cases() -> Vec<Case> {
    let all: Vec<Case> = include_str!("table.txt").split("\n== ").skip(1).map(parse).collect();
    assert!(all.len() >= 150, "only {} cases", all.len());
    all
}

fn parse(text: &'static str) -> Case {
    let (head, text) = text.split_once("\n--\n").expect("--");
    let mut lines = head.lines();
    let name = lines.next().expect("a name");
    let result = lines.next().and_then(|l| l.strip_prefix("result: ")).expect("a result");
    let lit = lines.next().map_or(result, |l| l.strip_prefix("lit: ").expect("lit:"));
    Case { name, result, lit, text }
}

fn write(folder: &Path, cases: &[Case]) {
    for case in cases {
        std::fs::write(folder.join(format!("{}.test", case.name)), case.text).expect("written");
    }
    std::fs::write(folder.join("readme.txt"), "content").expect("written");
}

#[test]
fn results() {
    let folder = tempfile::tempdir().expect("a folder");
    let cases = cases();
    write(folder.path(), &cases);
    let config = "name = 't'\nsuffixes = ['.test']\nfeatures = ['there']\noutput = 'out'\ntimeout = 60\n";
    std::fs::write(folder.path().join("lit.toml"), config).expect("written");
    let suite = Suite::load(folder.path(), Tools::standard(), &Overrides::default()).expect("a suite");
    let tests = suite.tests(folder.path()).expect("tests");
    assert_eq!(tests.len(), cases.len());
    let mut problems = String::new();
    for test in &tests {
        let case = cases.iter().find(|c| test.name().strip_suffix(".test") == Some(c.name)).expect("a case");
        let outcome = suite.run(test);
        if outcome.code.name() != case.result {
            problems += &format!("{}: {}, not {}\n{}\n", case.name, outcome.code.name(), case.result, outcome.output);
        }
    }
    assert!(problems.is_empty(), "{problems}");
}

/// LLVM's lit, beside LLVM's tools or in `PATH`.
fn lit(bin: &Path) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders = std::iter::once(bin.to_path_buf()).chain(std::env::split_paths(&path));
    folders.find_map(|folder| Some(folder.join("lit")).filter(|lit| lit.is_file()))
}

#[test]
fn agrees_with_llvm() {
    let bin = std::env::var_os("SUTURA_LLVM_BIN").map_or("/usr/lib/llvm-22/bin".into(), PathBuf::from);
    let Some(lit) = lit(&bin).filter(|_| bin.join("FileCheck").exists()) else {
        let why = "LLVM's lit and FileCheck are not installed (SUTURA_LLVM_BIN can name their folder)";
        return sutura_skip::skipped(sutura_skip::Need::Lit, why);
    };
    let folder = tempfile::tempdir().expect("a folder");
    let cases = cases();
    write(folder.path(), &cases);
    let config = format!(
        "import lit.formats\nconfig.name = 't'\nconfig.suffixes = ['.test']\n\
         config.test_format = lit.formats.ShTest(execute_external=False)\n\
         config.test_source_root = {0:?}\nconfig.test_exec_root = {0:?} + '/out'\n\
         config.available_features.update(['there', 'system-linux'])\nconfig.recursiveExpansionLimit = 10\n\
         config.environment['PATH'] = {1:?} + ':' + config.environment['PATH']\n",
        folder.path().display().to_string(),
        bin.display().to_string(),
    );
    std::fs::write(folder.path().join("lit.cfg.py"), config).expect("written");
    let results = folder.path().join("results.json");
    let done = Command::new(lit).args(["-q", "-j2", "-o"]).args([results.as_path(), folder.path()]).output();
    let done = done.expect("lit starts");
    let text = std::fs::read(&results)
        .unwrap_or_else(|_| panic!("lit wrote no results: {}", String::from_utf8_lossy(&done.stderr)));
    let results: serde_json::Value = serde_json::from_slice(&text).expect("JSON");
    let mut problems = String::new();
    for case in cases {
        let name = format!("t :: {}.test", case.name);
        let all = results["tests"].as_array().expect("tests");
        let result = all.iter().find(|result| result["name"] == name.as_str());
        let code = result.and_then(|result| result["code"].as_str()).unwrap_or("nothing");
        if code != case.lit {
            let output = result.map(|result| result["output"].as_str().unwrap_or_default());
            problems += &format!("{name}: {code} of lit, not {}\n{}\n", case.lit, output.unwrap_or_default());
        }
    }
    assert!(problems.is_empty(), "{problems}");
}

//! Every pass says in remarks what it did, or did not do and why; every pattern says why it does not apply.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::run_in;
use sutura_ir::pass::PassRegistry;

/// Passes that say nothing in remarks: they change nothing, and print what they find.
const ONLY_PRINT: [&str; 3] = ["print-analysis", "print-gir-cost", "print-op-stats"];

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "mlir") {
            found.push(path);
        }
    }
}

/// Arguments of the `sutura-opt` commands in the RUN lines of a test, as far as they need nothing but the test itself.
fn commands(text: &str, file: &str) -> Vec<Vec<String>> {
    let lines = text.lines().filter_map(|line| line.trim_start_matches(['/', ' ']).strip_prefix("RUN:"));
    let commands = lines.filter_map(|line| line.split('|').next()?.trim().strip_prefix("sutura-opt "));
    let alone = |command: &&str| !["%t", "%{", "%S", "\\"].iter().any(|part| command.contains(part));
    commands.filter(alone).map(|command| words(command, file)).collect()
}

fn words(command: &str, file: &str) -> Vec<String> {
    let (mut words, mut word, mut quoted) = (Vec::new(), String::new(), false);
    for c in command.chars().chain([' ']) {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.extend(Some(std::mem::take(&mut word)).filter(|word| !word.is_empty())),
            c => word.push(c),
        }
    }
    words.retain(|word| !word.starts_with(['>', '2']));
    words.into_iter().map(|word| if word == "%s" { file.to_string() } else { word }).collect()
}

/// Each pass that is registered remarks on something in some lit test.
#[test]
fn every_pass_explains_itself() {
    let mut passes = PassRegistry::new();
    sutura_passes::register(&mut passes);
    let mut silent: BTreeSet<&str> = passes.passes().into_iter().map(|pass| pass.argument).collect();
    assert!(ONLY_PRINT.iter().all(|pass| silent.remove(pass)), "the list names a pass that there is not");
    let mut tests = Vec::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lit-tests"), &mut tests);
    // Those with remarks in their names first: most passes have one.
    tests.sort_by_key(|path| (!path.to_string_lossy().contains("remarks"), path.clone()));
    let folder = tempfile::tempdir().expect("a folder");
    let mut tried: BTreeMap<&str, usize> = BTreeMap::new();
    for path in tests {
        let text = std::fs::read_to_string(&path).expect("a test");
        for args in commands(&text, path.to_str().expect("UTF-8")) {
            let mentioned = |pass: &&&str| args.iter().any(|arg| arg.contains(**pass));
            if args.iter().any(|arg| arg.starts_with("--verify-diagnostics")) || !silent.iter().any(|p| mentioned(&p)) {
                continue;
            }
            silent.iter().filter(mentioned).for_each(|pass| *tried.entry(pass).or_default() += 1);
            let extra = ["--remark-format=json", "--remarks-output-file=remarks.json", "--no-reproducer", "-o", "-"];
            let args: Vec<&str> = args.iter().map(String::as_str).chain(extra).collect();
            let _ = std::fs::remove_file(folder.path().join("remarks.json"));
            run_in(folder.path(), &args, "");
            let remarks = std::fs::read_to_string(folder.path().join("remarks.json")).unwrap_or_default();
            silent.retain(|pass| !remarks.contains(&format!("\"pass\":\"{pass}\"")));
        }
    }
    assert!(silent.is_empty(), "no remark of {silent:?} in any lit test; of those tried are {tried:?}");
}

/// In no lit test a pattern of ours, tried on an operation, leaves it alone without a reason.
#[test]
fn every_pattern_gives_reasons() {
    let mut tests = Vec::new();
    files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../lit-tests"), &mut tests);
    let folder = tempfile::tempdir().expect("a folder");
    let (mut refused, mut without) = (0, BTreeSet::new());
    for path in tests {
        let flags = ["--debug", "--allow-unregistered-dialect", "--split-input-file", "--no-reproducer"];
        for pass in ["--canonicalize", "--convert-scf-to-cf"] {
            let args = [&[path.to_str().expect("UTF-8"), pass], &flags[..]].concat();
            let said = run_in(folder.path(), &args, "").err;
            let lines = said.lines().map(str::trim).filter(|line| line.contains("-> does not apply"));
            refused += lines.clone().count();
            without.extend(lines.filter(|line| line.ends_with("it gives no reason")).map(ToString::to_string));
        }
    }
    assert!(refused > 500, "{refused} refusals are no test");
    assert!(without.is_empty(), "{without:#?}");
}

//! The stored inputs of the coverage-guided fuzzer pass, and the fuzzer has what it needs.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use sutura_fuzz::harness::{Harness, Planted};

/// What of inputs a repository may hold, for each harness.
const MOST_BYTES: usize = 64 << 10;

fn folder(of: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(of)
}

fn corpus(harness: Harness) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = folder("corpus").join(harness.name());
    let entries = fs::read_dir(&folder).unwrap_or_else(|e| panic!("{}: {e}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    let read = |path: PathBuf| {
        let bytes = fs::read(&path).expect("an input");
        (path, bytes)
    };
    paths.into_iter().map(read).collect()
}

/// Runs one input; what a panic said is an error.
fn run(harness: Harness, input: &[u8], planted: Planted) -> Result<(), String> {
    catch_unwind(AssertUnwindSafe(|| harness.run(input, planted))).unwrap_or_else(|payload| {
        let text = payload.downcast_ref::<&str>().map(ToString::to_string);
        let text = text.or_else(|| payload.downcast_ref::<String>().cloned()).unwrap_or_default();
        Err(format!("panic: {text}"))
    })
}

/// Every stored input passes its harness, also the one with the planted fault: the fuzzer has to find that.
fn all_pass(harness: Harness) {
    let mut wrong = Vec::new();
    for (path, input) in corpus(harness) {
        for planted in [Planted::No, Planted::Yes] {
            if let Err(what) = run(harness, &input, planted) {
                wrong.push(format!("{} ({planted:?}): {what}", path.display()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn parser_passes_its_corpus() {
    all_pass(Harness::Parser);
}

#[test]
fn onnx_passes_its_corpus() {
    all_pass(Harness::Onnx);
}

#[test]
fn artifact_passes_its_corpus() {
    all_pass(Harness::Artifact);
}

#[test]
fn manifest_passes_its_corpus() {
    all_pass(Harness::Manifest);
}

#[test]
fn npy_passes_its_corpus() {
    all_pass(Harness::Npy);
}

#[test]
fn filecheck_passes_its_corpus() {
    all_pass(Harness::FileCheck);
}

#[test]
fn corpora_are_there_and_small() {
    for harness in Harness::ALL {
        let inputs = corpus(harness);
        let bytes: usize = inputs.iter().map(|(_, input)| input.len()).sum();
        assert!(inputs.len() >= 3, "{}: {} inputs", harness.name(), inputs.len());
        assert!(bytes <= MOST_BYTES, "{}: {bytes} bytes", harness.name());
    }
}

/// Each planted fault can be reached: otherwise that the fuzzer finds it proves nothing.
#[test]
fn planted_faults_are_there() {
    let inputs: [(Harness, &[u8]); 1] = [(Harness::Parser, "\"t.op\"() é : () -> ()".as_bytes())];
    for (harness, input) in inputs {
        let verdict = run(harness, input, Planted::Yes);
        assert!(verdict.as_ref().is_err_and(|what| what.starts_with("panic")), "{}: {verdict:?}", harness.name());
        assert_eq!(run(harness, input, Planted::No), Ok(()), "{}", harness.name());
    }
    // A model becomes one with a size of 0 when the right byte does. Dims stand at the end of small models.
    let mut models = corpus(Harness::Onnx);
    models.sort_by_key(|(_, model)| model.len());
    let mut changes = models.iter().filter(|(_, model)| model.len() >= 90).flat_map(|(_, model)| {
        let sizes = (model.len() - 24..model.len()).rev().filter(|at| (1..16).contains(&model[*at]));
        sizes.map(|at| zeroed(model, at))
    });
    assert!(changes.any(|model| run(Harness::Onnx, &model, Planted::Yes).is_err()), "no model gets a size of 0");
}

fn zeroed(input: &[u8], at: usize) -> Vec<u8> {
    let mut changed = input.to_vec();
    changed[at] = 0;
    changed
}

/// Tokens in AFL++'s format: a quoted text a line.
#[test]
fn dictionaries_are_well_formed() {
    for harness in Harness::ALL {
        let path = folder("dictionaries").join(format!("{}.dict", harness.name()));
        let text = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let tokens = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
        let wrong: Vec<&str> = tokens.clone().filter(|line| !is_token(line)).collect();
        assert!(wrong.is_empty() && tokens.count() >= 20, "{}: {wrong:?}", path.display());
    }
}

/// `"text"`: `\\`, `\"` and `\xNN` stand for what a line cannot hold; AFL++ takes tokens of 1 to 128 bytes.
fn is_token(line: &str) -> bool {
    let Some(inner) = line.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) else { return false };
    let (mut rest, mut length) = (inner.as_bytes(), 0);
    while let Some((first, after)) = rest.split_first() {
        rest = match (first, after) {
            (b'\\', [b'\\' | b'"', after @ ..]) => after,
            (b'\\', [b'x', a, b, after @ ..]) if a.is_ascii_hexdigit() && b.is_ascii_hexdigit() => after,
            (b'\\' | b'"', _) => return false,
            (b' '..=b'~', after) => after,
            _ => return false,
        };
        length += 1;
    }
    (1..=128).contains(&length)
}

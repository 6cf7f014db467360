//! The stored inputs of the coverage-guided fuzzer pass, and the fuzzer has what it needs.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use sutura_fuzz::harness::{Harness, Planted};
use sutura_runtime::artifact::{Contents, to_bytes, variants_to_bytes};
use sutura_runtime::{Artifact, ArtifactProblem, Error, Manifest, abi};

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
fn corpora_are_small_and_inputs_are_what_their_names_say() {
    for harness in Harness::ALL {
        let inputs = corpus(harness);
        let bytes: usize = inputs.iter().map(|(_, input)| input.len()).sum();
        assert!(inputs.len() >= 8, "{}: {} inputs", harness.name(), inputs.len());
        assert!(bytes <= MOST_BYTES, "{}: {bytes} bytes", harness.name());
    }
}

/// Each planted fault can be reached: otherwise that the fuzzer finds it proves nothing.
#[test]
fn planted_faults_are_there() {
    let zero_columns = artifact_of(&manifest(r#"{"const": 0}"#));
    let wide = manifest(r#"{"const": 4}"#).replace("\"max\": 16", &format!("\"max\": {}", i64::MAX));
    let empty_rows = b"\x93NUMPY\x01\x00\x40\x00{'descr': '<f4', 'fortran_order': False, 'shape': (3, 0), }     \n";
    let inputs: [(Harness, &[u8]); 5] = [
        (
            Harness::Parser,
            b"func.func private @f() -> ()\n%0 = \"t.op\"() : () -> tensor<9223372036854775807x9223372036854775807xf32>\n",
        ),
        (Harness::Artifact, &zero_columns),
        (Harness::Manifest, wide.as_bytes()),
        (Harness::Npy, empty_rows),
        (Harness::FileCheck, b"CHECK: a\n-- input\na"),
    ];
    for (harness, input) in inputs {
        let verdict = run(harness, input, Planted::Yes);
        assert!(verdict.as_ref().is_err_and(|what| what.starts_with("panic")), "{}: {verdict:?}", harness.name());
        assert_eq!(run(harness, input, Planted::No), Ok(()), "{}", harness.name());
    }
    let onnx = corpus(Harness::Onnx);
    let emptied =
        |input: &[u8]| (0..input.len()).any(|at| run(Harness::Onnx, &zeroed(input, at), Planted::Yes).is_err());
    assert!(onnx.iter().any(|(_, input)| emptied(input)), "no model becomes one with a size of 0");
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

/// A manifest whose input has `columns` for its second dim.
fn manifest(columns: &str) -> String {
    let text = r#"{
  "format": FORMAT, "abi": ABI, "tool": {"name": "t", "version": "0"},
  "target": {"triple": "x86_64", "features": "", "description": "x", "description_hash": "h"},
  "math": {"fast_math": [], "excess_precision": "fused", "portable": false}, "model": "m",
  "symbols": [{"name": "n", "min": 0, "max": 16, "div": 1, "likely": [1]}],
  "inputs": [{"name": "x", "element_type": "f32", "dims": [{"symbol": "n"}, COLUMNS]}],
  "outputs": [{"name": "y", "element_type": "f32", "dims": [{"expr": "2*n"}, COLUMNS]}],
  "constants": [{"name": "w", "element_type": "f32", "dims": [3]}],
  "checks": [{"kind": "divisible", "left": "n", "right": "2"}],
  "kernels": [], "source_hash": "h"
}
"#;
    let versions = text.replace("FORMAT", &sutura_runtime::manifest::FORMAT.to_string());
    versions.replace("ABI", &abi::VERSION.to_string()).replace("COLUMNS", columns)
}

fn artifact_of(manifest: &str) -> Vec<u8> {
    let manifest = Manifest::from_json(manifest.as_bytes()).expect("a manifest");
    to_bytes(&Contents { manifest: &manifest, host: b"\x7fELF", device: None, constants: &[&[1; 12]] }).expect("bytes")
}

/// The inputs that follow from the formats of today. With a new format, `cargo xtask bless` writes them anew.
fn written() -> Vec<(&'static str, Vec<u8>)> {
    let plain = manifest(r#"{"const": 4}"#);
    let device = plain
        .replace("\"math\"", "\"device\": {\"backend\": \"cuda\", \"chip\": \"sm_90\", \"subgroup\": 32}, \"math\"")
        .replace("\"model\": \"m\"", "\"model\": \"d\"");
    let read = |text: &str| Manifest::from_json(text.as_bytes()).expect("a manifest");
    let (one, two) = (read(&plain), read(&device));
    let contents = |manifest, device| Contents { manifest, host: b"\x7fELF", device, constants: &[&[1; 12]] };
    let several = [("a", contents(&one, None)), ("b", contents(&two, Some(b"ptx")))];
    vec![
        ("artifact/plain", artifact_of(&plain)),
        ("artifact/device", to_bytes(&contents(&two, Some(b".version"))).expect("bytes")),
        ("artifact/several", variants_to_bytes(&several).expect("bytes")),
        ("manifest/plain", plain.into_bytes()),
        ("manifest/device", device.into_bytes()),
        ("manifest/pretty", one.to_json()),
    ]
}

#[test]
fn inputs_of_todays_formats_are_stored() {
    let blessed = std::env::var_os("INSTA_UPDATE").is_some_and(|how| how == "always");
    for (name, bytes) in written() {
        let path = folder("corpus").join(name);
        if blessed {
            fs::write(&path, bytes).expect("the input is written");
        } else {
            let stored = fs::read(&path).unwrap_or_default();
            assert!(
                stored == bytes,
                "{}: not what is written today; `cargo xtask bless` writes it anew",
                path.display()
            );
        }
    }
}

/// Behind a checksum that is wrong the harness still looks at what is there.
#[test]
fn a_wrong_checksum_does_not_end_the_search() {
    let bytes = artifact_of(&manifest(r#"{"const": 4}"#));
    let at = bytes.windows(8).position(|w| w == b"\"const\":").expect("a dim") + b"\"const\": ".len();
    assert_eq!(bytes[at], b'4');
    let mut changed = bytes.clone();
    changed[at] = b'0';
    let problem = Artifact::from_bytes("changed", &changed).expect_err("its checksum is wrong");
    assert!(matches!(problem, Error::Artifact { problem: ArtifactProblem::Checksum(_), .. }), "{problem}");
    assert!(run(Harness::Artifact, &changed, Planted::Yes).is_err());
}

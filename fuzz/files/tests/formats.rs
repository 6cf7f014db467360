//! The stored inputs are of today's formats, and each planted fault can be reached.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use sutura_fuzz_files::{Planted, harness};
use sutura_runtime::artifact::{Contents, to_bytes, variants_to_bytes};
use sutura_runtime::{Artifact, ArtifactProblem, Error, Manifest, abi};

/// Whether the planted fault of a harness is reached, and only that.
fn fails(name: &str, input: &[u8]) -> bool {
    let harness = harness(name).expect("a harness");
    assert_eq!(harness(input, Planted::No), Ok(()), "{name}");
    catch_unwind(AssertUnwindSafe(|| harness(input, Planted::Yes))).is_err()
}

/// Otherwise that the fuzzer finds it proves nothing.
#[test]
fn planted_faults_are_there() {
    let many_columns = artifact_of(&manifest(r#"{"const": 7}"#));
    let unlikely = manifest(r#"{"const": 4}"#).replace("\"likely\": [1]", "\"likely\": [0]");
    assert!(fails("artifact", &many_columns));
    assert!(fails("manifest", unlikely.as_bytes()));
    assert!(fails("npy", &npy("(3, 0)")));
    assert!(fails("filecheck", b"CHECK: a\n-- input\na"));
}

/// A file of NumPy without elements.
fn npy(shape: &str) -> Vec<u8> {
    let header = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}\n");
    let length = u16::try_from(header.len()).expect("a short header").to_le_bytes();
    [b"\x93NUMPY\x01\x00".as_slice(), &length, header.as_bytes()].concat()
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
        ("npy/empty", npy("(0, 3)")),
    ]
}

#[test]
fn inputs_of_todays_formats_are_stored() {
    let blessed = std::env::var_os("INSTA_UPDATE").is_some_and(|how| how == "always");
    for (name, bytes) in written() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpus").join(name);
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
    changed[at] = b'7';
    let problem = Artifact::from_bytes("changed", &changed).expect_err("its checksum is wrong");
    assert!(matches!(problem, Error::Artifact { problem: ArtifactProblem::Checksum { .. }, .. }), "{problem}");
    assert!(fails("artifact", &changed));
}

//! Broken bytes: every one is an error or a model, never a panic.

use proptest::prelude::*;
use prost::Message;

use super::{build::*, examples};
use crate::onnx::{FileKind, OnnxError, OnnxModel, typed_nodes};

/// A model that uses most of the schema.
fn varied() -> Vec<u8> {
    let mut subgraph = relu().graph.unwrap();
    subgraph.input.clear();
    let pads = with(node("Pad", &["x", "pads", "", "axes"], &["p"]), &[("mode", Value::Str("edge"))]);
    let constant = with(node("Constant", &[], &["c"]), &[("value", Value::Tensor(floats("", &[2], &[1.0, 2.0])))]);
    let branch = with(node("If", &["c"], &["y"]), &[("then_branch", Value::Graph(subgraph))]);
    let mut model = model(18, vec![pads, constant, branch]);
    graph(&mut model).initializer = vec![ints("pads", &[2], &[1, 1]), ints("axes", &[1], &[0])];
    model.encode_to_vec()
}

fn read(bytes: &[u8]) -> Result<OnnxModel, OnnxError> {
    OnnxModel::from_bytes(bytes.to_vec(), None)
}

/// Goes through everything that follows reading.
fn use_it(bytes: &[u8]) {
    match read(bytes) {
        Ok(model) => match typed_nodes(&model) {
            Ok(nodes) => assert_eq!(nodes.len(), model.graph.nodes.len()),
            Err(e) => assert!(!e.to_string().is_empty()),
        },
        Err(e) => assert!(!e.to_string().is_empty()),
    }
}

#[test]
fn every_truncation_is_an_error() {
    let whole = varied();
    assert!(read(&whole).is_ok());
    for length in 0..whole.len() {
        let error = read(&whole[..length]).expect_err("the opset is the last field");
        assert!(!error.to_string().is_empty());
    }
}

#[test]
fn truncated_file_says_where() {
    let mut file = std::fs::read(examples::path("mlp")).unwrap();
    file.truncate(20_000);
    let error = read(&file).unwrap_err();
    assert!(matches!(error, OnnxError::Truncated { field: "graph", .. }), "{error}");
}

#[test]
fn other_files() {
    assert!(matches!(read(b""), Err(OnnxError::Empty)));
    let kind = |bytes: &[u8]| match read(bytes) {
        Err(OnnxError::OtherFormat { kind }) => kind,
        other => panic!("{other:?}"),
    };
    assert_eq!(kind(b"PK\x03\x04\x14\0\0\0\x08\0"), FileKind::Zip);
    assert_eq!(kind(b"\x80\x02}q\0."), FileKind::Pickle);
    assert_eq!(kind(b"func.func @main() {}\n"), FileKind::Text);
    let mut safetensors = 64u64.to_le_bytes().to_vec();
    safetensors.extend([b"{\"w\":{\"dtype\":\"F32\"" as &[u8], &[b' '; 80]].concat());
    assert_eq!(kind(&safetensors), FileKind::Safetensors);
    let message = read(b"version https://git-lfs.github.com/spec/v1\n").unwrap_err();
    assert!(message.to_string().contains("git lfs pull"), "{message}");
    assert!(matches!(read(&[0xff; 64]), Err(OnnxError::NotProtobuf { .. })));
    // A protobuf, with fields that no model has.
    assert!(matches!(read(&[0xa8, 0x3f, 0x01]), Err(OnnxError::NotProtobuf { .. })));
}

#[test]
fn corrupt_inside_is_told_from_other_files() {
    // The graph's name is cut off inside the graph, which is whole.
    let error = read(&[0x08, 8, 0x3a, 2, 0x12, 9]).unwrap_err();
    assert!(matches!(error, OnnxError::Malformed(_)), "{error}");
}

#[test]
fn nesting_has_a_limit() {
    let mut inner = relu().graph.unwrap();
    for _ in 0..200 {
        let branch = with(node("If", &["x"], &["y"]), &[("then_branch", Value::Graph(inner))]);
        inner = model(17, vec![branch]).graph.unwrap();
    }
    let mut deep = relu();
    deep.graph = Some(inner);
    assert!(matches!(read(&deep.encode_to_vec()), Err(OnnxError::Malformed(_))));
}

proptest! {
    #[test]
    fn random_bytes(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        use_it(&bytes);
    }

    #[test]
    fn changed_bytes(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let mut bytes = varied();
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        use_it(&bytes);
    }

    #[test]
    fn spliced_bytes(from in any::<prop::sample::Index>(), to in any::<prop::sample::Index>(), with in prop::collection::vec(any::<u8>(), 0..8)) {
        let mut bytes = varied();
        let (a, b) = (from.index(bytes.len()), to.index(bytes.len()));
        bytes.splice(a.min(b)..a.max(b), with);
        use_it(&bytes);
    }
}

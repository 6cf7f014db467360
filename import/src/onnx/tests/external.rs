//! Weights kept beside the model.

use std::{fs, path::Path};

use prost::Message;

use super::build::*;
use crate::onnx::{OnnxError, OnnxModel, proto::*};

/// `y = x + w` with `w: f32[4]` described by `entries`.
fn external(entries: &[(&str, &str)]) -> ModelProto {
    let mut model = model(17, vec![node("Add", &["x", "w"], &["y"])]);
    let entry =
        |&(key, value): &(&str, &str)| StringStringEntryProto { key: Some(key.into()), value: Some(value.into()) };
    graph(&mut model).initializer = vec![TensorProto {
        name: Some("w".into()),
        data_type: Some(FLOAT),
        dims: vec![4],
        data_location: Some(1),
        external_data: entries.iter().map(entry).collect(),
        ..Default::default()
    }];
    model
}

fn read_in(folder: &Path, model: &ModelProto) -> Result<OnnxModel, OnnxError> {
    let path = folder.join("model.onnx");
    fs::write(&path, model.encode_to_vec()).unwrap();
    OnnxModel::read(&path)
}

#[test]
fn read_from_an_offset() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("data")).unwrap();
    let content: Vec<u8> = (0..32).collect();
    fs::write(dir.path().join("data/w.bin"), &content).unwrap();
    let model = external(&[("location", "data/w.bin"), ("offset", "8"), ("length", "16")]);
    let model = read_in(dir.path(), &model).unwrap();
    let bytes = model.graph.initializers["w"].bytes().unwrap();
    assert_eq!(bytes[..], content[8..24]);
}

#[test]
fn bad_references() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("w.bin"), [0; 20]).unwrap();
    fs::create_dir(dir.path().join("folder")).unwrap();
    let cases: [(&[(&str, &str)], &str); 10] = [
        (&[], "without a location"),
        (&[("location", "w.bin"), ("offset", "5")], "which has 20 bytes"),
        (&[("location", "w.bin"), ("offset", "18446744073709551615")], "which has 20 bytes"),
        (&[("location", "w.bin"), ("offset", "x")], "`x` is not a number"),
        (&[("location", "w.bin"), ("length", "12")], "data are 12 bytes long"),
        (&[("location", "../w.bin")], "is refused"),
        (&[("location", "/etc/hostname")], "is refused"),
        (&[("location", "")], "is refused"),
        (&[("location", "missing.bin")], "cannot open"),
        (&[("location", "folder")], "not a regular file"),
    ];
    for (entries, expected) in cases {
        let error = read_in(dir.path(), &external(entries)).unwrap_err().to_string();
        assert!(error.contains(expected), "{entries:?}: {error}");
        assert!(error.contains("initializer `w`"), "{error}");
    }
}

#[test]
fn needs_a_folder() {
    let found = problems(&external(&[("location", "w.bin")]));
    assert_eq!(found.len(), 1);
    assert!(found[0].contains("not read from a file"), "{found:?}");
}

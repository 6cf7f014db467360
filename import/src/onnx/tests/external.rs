//! Weights kept beside the model.

use std::{fs, os::unix::fs::symlink, path::Path, process::Command};

use prost::Message;

use super::build::*;
use crate::onnx::{OnnxError, OnnxModel, Origin, proto::*};

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
    assert!(Command::new("mkfifo").arg(dir.path().join("pipe")).status().unwrap().success());
    symlink("/dev/zero", dir.path().join("zero")).unwrap();
    let cases: [(&[(&str, &str)], &str); 17] = [
        (&[], "without a location"),
        (&[("location", "w.bin"), ("offset", "5")], "which has 20 bytes"),
        (&[("location", "w.bin"), ("offset", "18446744073709551615")], "which has 20 bytes"),
        (&[("location", "w.bin"), ("offset", "x")], "`x` is not a number"),
        (&[("location", "w.bin"), ("length", "12")], "data are 12 bytes long"),
        (&[("location", "../w.bin")], "is refused"),
        (&[("location", "/etc/hostname")], "is refused"),
        (&[("location", "")], "is refused"),
        (&[("location", "missing.bin")], "cannot open"),
        (&[("location", "folder")], "is a folder, not a file"),
        (&[("location", "w.bin"), ("offset", "-4")], "offset `-4` is not a number of bytes"),
        (&[("location", "w.bin"), ("length", "99999999999999999999999")], "is not a number of bytes"),
        (&[("location", "w.bin"), ("location", "folder")], "gives the location of its external data twice"),
        (&[("location", "w\0.bin")], "it holds a NUL character"),
        (&[("location", "folder/../w.bin")], "is refused"),
        (&[("location", "pipe")], "is a pipe, not a file"),
        (&[("location", "zero")], "is a device, not a file"),
    ];
    for (entries, expected) in cases {
        let error = read_in(dir.path(), &external(entries)).unwrap_err().to_string();
        assert!(error.contains(expected), "{entries:?}: {error}");
        assert!(error.contains("initializer `w`"), "{error}");
    }
}

#[test]
fn data_are_in_the_file_or_in_the_model_and_not_in_both() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("w.bin"), [0; 16]).unwrap();
    let both: [fn(&mut TensorProto); 3] =
        [|w| w.raw_data = Some(vec![0; 16].into()), |w| w.float_data = vec![0.0; 4], |w| w.int32_data = vec![0]];
    for add in both {
        let mut model = external(&[("location", "w.bin")]);
        assert!(read_in(dir.path(), &model).is_ok());
        add(&mut graph(&mut model).initializer[0]);
        let error = read_in(dir.path(), &model).unwrap_err();
        assert!(matches!(error, OnnxError::Invalid(_)), "{error}");
        let text = error.to_string();
        assert!(text.contains("initializer `w`") && text.contains("holds data, and says"), "{text}");
    }
}

#[test]
fn needs_a_folder() {
    let found = problems(&external(&[("location", "w.bin")]));
    assert_eq!(found.len(), 1);
    assert!(found[0].contains("not read from a file"), "{found:?}");
}

/// Reads the model in `path`, whose data may also lie in `allowed`.
fn read_at(path: &Path, allowed: &[&Path]) -> Result<OnnxModel, String> {
    let allowed: Vec<_> = allowed.iter().map(|folder| folder.to_path_buf()).collect();
    let origin = Origin::new(path, &allowed).map_err(|e| e.to_string())?;
    OnnxModel::from_bytes(fs::read(path).unwrap(), Some(&origin)).map_err(|e| e.to_string())
}

#[test]
fn links_are_followed_and_where_they_lead_counts() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::create_dir_all(at("model")).unwrap();
    fs::create_dir_all(at("other/deep")).unwrap();
    fs::write(at("other/deep/w.bin"), [0; 16]).unwrap();
    symlink("../other/deep/w.bin", at("model/w.bin")).unwrap();
    symlink("../other", at("model/there")).unwrap();
    fs::write(at("model/own.bin"), [0; 16]).unwrap();
    symlink("own.bin", at("model/alias.bin")).unwrap();
    let model = |location: &str| {
        let path = at("model/model.onnx");
        fs::write(&path, external(&[("location", location)]).encode_to_vec()).unwrap();
        path
    };
    assert!(read_at(&model("alias.bin"), &[]).is_ok());
    for location in ["w.bin", "there/deep/w.bin"] {
        let path = model(location);
        let error = read_at(&path, &[]).unwrap_err();
        assert!(error.contains("initializer `w`") && error.contains("outside the model's folder"), "{error}");
        assert!(error.contains("--allow-data-from"), "{error}");
        assert!(read_at(&path, &[&at("other")]).is_ok());
        assert!(read_at(&path, &[&at("model"), &at("other/deep")]).is_ok());
        // A folder whose name begins alike is another one.
        fs::create_dir_all(at("oth")).unwrap();
        assert!(read_at(&path, &[&at("oth")]).is_err());
    }
    let path = model("../other/deep/w.bin");
    assert!(read_at(&path, &[]).unwrap_err().contains("is refused"));
    assert!(read_at(&path, &[&at("other")]).is_ok());
    assert!(read_at(&path, &[&at("none")]).unwrap_err().contains("cannot read"));
}

/// As caches of model hubs lay files out: a folder of names, whose files are links to a folder of contents.
#[test]
fn caches_of_model_hubs() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    fs::create_dir_all(at("snapshots/1a")).unwrap();
    fs::create_dir_all(at("blobs")).unwrap();
    fs::write(at("blobs/m"), external(&[("location", "model.onnx_data")]).encode_to_vec()).unwrap();
    fs::write(at("blobs/d"), [0; 16]).unwrap();
    symlink("../../blobs/m", at("snapshots/1a/model.onnx")).unwrap();
    // The data must be named as the model says: beside the link, or beside what it leads to.
    assert!(read_at(&at("snapshots/1a/model.onnx"), &[]).unwrap_err().contains("cannot open"));
    symlink("../../blobs/d", at("snapshots/1a/model.onnx_data")).unwrap();
    assert!(read_at(&at("snapshots/1a/model.onnx"), &[]).is_ok());
    fs::remove_file(at("snapshots/1a/model.onnx_data")).unwrap();
    fs::rename(at("blobs/d"), at("blobs/model.onnx_data")).unwrap();
    assert!(read_at(&at("snapshots/1a/model.onnx"), &[]).is_ok());
    // The contents of another model do not count.
    fs::create_dir_all(at("others")).unwrap();
    fs::rename(at("blobs/model.onnx_data"), at("others/d")).unwrap();
    symlink("../../others/d", at("snapshots/1a/model.onnx_data")).unwrap();
    assert!(read_at(&at("snapshots/1a/model.onnx"), &[]).unwrap_err().contains("is refused"));
}

#[test]
fn equal_ranges_are_read_once_and_others_do_not_multiply() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("w.bin"), vec![0; 4096]).unwrap();
    let many = |offset: &dyn Fn(usize) -> usize| {
        let mut model = external(&[]);
        let tensor = |i: usize| {
            let mut tensor = external(&[("location", "w.bin"), ("offset", &offset(i).to_string())]);
            let mut tensor = graph(&mut tensor).initializer.remove(0);
            tensor.name = Some(if i == 0 { "w".into() } else { format!("w{i}") });
            tensor.dims = vec![512];
            tensor
        };
        graph(&mut model).initializer = (0..100).map(tensor).collect();
        read_in(dir.path(), &model)
    };
    let shared = many(&|_| 1024).unwrap();
    let bytes = |name: &str| shared.graph.initializers[name].bytes().unwrap().as_ptr();
    assert_eq!(bytes("w"), bytes("w99"));
    let error = many(&|i| i).unwrap_err().to_string();
    assert!(error.contains("overlap"), "{error}");
}

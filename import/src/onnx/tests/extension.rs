//! Operators of a user: a file of declarations beside the library.

use std::fs;
use std::path::PathBuf;

use prost::Message;
use sutura_dialects::graph::operator::LibraryError;
use sutura_interp::{Interpreter, Tensor, Value as Data};
use sutura_ir::verify::{VerifyOptions, verify};
use sutura_ir::{Context, Diagnostics};

use super::build::*;
use super::convert::{open, values};
use crate::onnx::{Extension, ExtensionError, OnnxModel, import, proto::*};

/// `a * x + b` along an axis, which may lack `b`, and the largest element of each row of it.
const AFFINE: &str = r#"
#oni = affine_map<(o, n, i) -> (o, n, i)>
#n = affine_map<(o, n, i) -> (n)>
#oi = affine_map<(o, n, i) -> (o, i)>
!oni = tensor<?x?x?xf32, #dyn.shape<[O, N, I]>>
!oi = tensor<?x?xf32, #dyn.shape<[O, I]>>
!n = tensor<?xf32, #dyn.shape<[N]>>

graph.operator @my_affine {
  summary = "gain * a * x + b along a dimension, and the largest number of that",
  elements = [f32, f64],
  groups = {O = "before axis", I},
  attributes = {axis = -1 : i64, gain = 1.0 : f32},
  or_scalar = array<i64: 2>,
  onnx = [{domain = "my.own", op = "Affine", absent = {b = 0.0 : f32}}]
} {
^bb0(%x: !oni, %a: !n, %b: !n):
  %y = graph.compute ins(%x, %a, %b : !oni, !n, !n) -> !oni
      {iterators = #graph.iterators<[parallel, parallel, parallel]>, maps = [#oni, #n, #n, #oni]} {
  ^bb0(%e: f32, %factor: f32, %more: f32):
    %gain = graph.param "gain" : f32
    %scaled = arith.mulf %e, %factor : f32
    %gained = arith.mulf %scaled, %gain : f32
    %r = arith.addf %gained, %more : f32
    graph.yield %r : f32
  }
  %most = graph.compute ins(%y : !oni) -> !oi
      {combiners = #graph.combiners<[max]>, iterators = #graph.iterators<[parallel, reduce, parallel]>, maps = [#oni, #oi]} {
  ^bb0(%e: f32):
    graph.yield %e : f32
  }
  graph.yield %y, %most : !oni, !oi
}
"#;

fn file(folder: &tempfile::TempDir, name: &str, text: &str) -> PathBuf {
    let path = folder.path().join(name);
    fs::write(&path, text).expect("it is written");
    path
}

fn affine(inputs: &[&str], outputs: &[&str], attributes: &[(&str, Value)]) -> ModelProto {
    let mut node = with(node("Affine", inputs, outputs), attributes);
    node.domain = Some("my.own".into());
    let mut m = open(model(17, vec![node]));
    m.opset_import.push(OperatorSetIdProto { domain: Some("my.own".into()), version: Some(1) });
    graph(&mut m).input = vec![sized("x", FLOAT, &["rows", "columns"])];
    graph(&mut m).initializer = vec![floats("a", &[3], &[1.0, 10.0, 100.0]), floats("b", &[3], &[1.0, 2.0, 3.0])];
    m
}

/// What a model with such operators makes of counted numbers of these dims.
fn made(model: &ModelProto, dims: &[usize]) -> Result<Vec<f32>, String> {
    let folder = tempfile::tempdir().expect("a folder");
    let cx = Context::new(sutura_dialects::all());
    let extension = Extension::read(&cx, &[file(&folder, "own.mlir", AFFINE)]).map_err(|e| e.to_string())?;
    let mut model = OnnxModel::from_bytes(model.encode_to_vec(), None).map_err(|e| e.to_string())?;
    model.extension = Some(extension);
    let mut diags = Diagnostics::default();
    let module = import(&cx, &model, &mut diags).map_err(|e| e.to_string())?;
    assert!(verify(module.op_ref(&cx), VerifyOptions::default(), &mut diags).is_ok(), "{diags:?}");
    let count: usize = dims.iter().product();
    let x = Tensor::from_f32((0..count).map(|i| i as f32).collect(), dims).expect("as many numbers");
    let results = Interpreter::new(&cx, &module).call("main", &[Data::Tensor(x)]).map_err(|e| format!("{e:?}"))?;
    Ok(values(results[0].tensor().expect("a tensor")))
}

#[test]
fn nodes_are_operators_of_a_file() {
    let whole = affine(&["x", "a", "b"], &["y"], &[]);
    assert_eq!(made(&whole, &[2, 3]).expect("it runs"), [1.0, 12.0, 203.0, 4.0, 42.0, 503.0]);
    assert_eq!(made(&whole, &[1, 3]).expect("it runs"), [1.0, 12.0, 203.0]);
    assert!(made(&whole, &[0, 3]).expect("it runs").is_empty());
    assert!(made(&whole, &[2, 4]).is_err());
    // Attributes, an input that is left out, and the second result.
    let gained = affine(&["x", "a"], &["y"], &[("gain", Value::Float(2.0))]);
    assert_eq!(made(&gained, &[1, 3]).expect("it runs"), [0.0, 20.0, 400.0]);
    let along = affine(&["x", "a"], &["y"], &[("axis", Value::Int(0))]);
    assert_eq!(made(&along, &[3, 1]).expect("it runs"), [0.0, 10.0, 200.0]);
    let most = affine(&["x", "a", "b"], &["", "y"], &[]);
    assert_eq!(made(&most, &[2, 3]).map_err(|e| assert!(e.contains("has no output"), "{e}")), Err(()));
    let most = affine(&["x", "a", "b"], &["unused", "y"], &[]);
    assert_eq!(made(&most, &[2, 3]).expect("it runs"), [203.0, 503.0]);
}

#[test]
fn nodes_that_do_not_fit_are_told_with_their_operator() {
    let told = |model: &ModelProto, words: &str| {
        let error = made(model, &[2, 3]).expect_err("it does not fit");
        assert!(error.contains(words) && error.contains("my.own.Affine"), "{error}");
    };
    told(
        &affine(&["x", "a"], &["y"], &[("gian", Value::Float(2.0))]),
        "has attribute `gian`, which Affine version 1 does not have",
    );
    told(&affine(&["x", "a"], &["y"], &[("gain", Value::Int(2))]), "attribute `gain` is");
    told(&affine(&["x"], &["y"], &[]), "has no input `a`");
    told(&affine(&["x", "a", "b", "b"], &["y"], &[]), "has 4 inputs, at most 3 are allowed");
    told(&affine(&["x", "a"], &["y"], &[("axis", Value::Int(2))]), "axis");
    let mut wrong = affine(&["x", "n"], &["y"], &[]);
    graph(&mut wrong).initializer.push(ints("n", &[3], &[1, 2, 3]));
    told(&wrong, "i64");
    let mut none = affine(&["x", "a"], &["y"], &[]);
    none.opset_import.pop();
    let error = made(&none, &[2, 3]).expect_err("no opset");
    assert!(error.contains("my.own"), "{error}");
    // Without a file the operator is not known, and the message says what to do.
    let model = OnnxModel::from_bytes(affine(&["x", "a"], &["y"], &[]).encode_to_vec(), None).expect("well formed");
    let cx = Context::new(sutura_dialects::all());
    let error = import(&cx, &model, &mut Diagnostics::default()).expect_err("it is not declared").to_string();
    assert!(error.contains("operator is not supported") && error.contains("--operators"), "{error}");
}

#[test]
fn files_that_are_no_extension_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let cx = Context::new(sutura_dialects::all());
    let read = |texts: &[&str]| {
        let paths: Vec<PathBuf> =
            texts.iter().enumerate().map(|(i, text)| file(&folder, &format!("{i}.mlir"), text)).collect();
        Extension::read(&cx, &paths).map(drop)
    };
    let known = read(&[&AFFINE.replace(r#"domain = "my.own", op = "Affine""#, r#"op = "Relu""#)]);
    assert!(
        known.expect_err("ONNX has it").to_string().contains("declares `Relu` for models, which has a meaning already")
    );
    let twice = read(&[AFFINE, AFFINE]).expect_err("twice").to_string();
    assert!(twice.contains("declares @my_affine, which another file declares too"), "{twice}");
    let renamed = AFFINE.replace("@my_affine", "@other");
    let twice = read(&[AFFINE, &renamed]).expect_err("twice").to_string();
    assert!(twice.contains("`my.own.Affine` for models, which another file declares too"), "{twice}");
    let missing = Extension::read(&cx, &[folder.path().join("none.mlir")]).expect_err("no file");
    assert!(matches!(missing, ExtensionError::Library(LibraryError::Unreadable { .. })), "{missing}");
    for (text, words, line) in [
        (AFFINE.replace("@my_affine", "@softmax"), "@softmax is an operator of the library", 9),
        (AFFINE.replace("%scaled, %gain", "%scaled, %gone"), "undeclared", 23),
        (AFFINE.replace(r#"op = "Affine""#, r#"op = "Affine", sinec = 2 : i64"#), "'onnx' has no entry 'sinec'", 9),
        ("func.func @f() { return }".into(), "is no declaration of an operator", 1),
    ] {
        let error = read(&[&text]).expect_err("it is wrong");
        let ExtensionError::Library(LibraryError::Malformed { diagnostics, .. }) = error else { panic!("{error}") };
        let first = diagnostics.iter().next().expect("something is said");
        let (_, found, _) = cx.file_line_col(first.place(&cx)).expect("it has a place");
        assert!(first.message.contains(words) && found == line, "line {found}: {}", first.message);
    }
}

//! `--operators FILE`: nodes of a user's domain compile by the declaration of the page that explains it, at every size.

mod protobuf;

use std::path::Path;
use std::process::{Command, Output};

use protobuf::{field, number};
use sutura_runtime::{Model, Options, Tensor};

/// The page, whose first block declares `scale_to_one`.
const PAGE: &str = include_str!("../../../docs/declaring-operators.md");

/// The declaration of the page, for nodes `mine.ScaleToOne`.
fn declaration() -> String {
    let block = PAGE.split("```mlir\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a block");
    let (head, rest) = block.split_once("  attributes = {").expect("attributes");
    format!("{head}  onnx = [{{domain = \"mine\", op = \"ScaleToOne\"}}],\n  attributes = {{{rest}")
}

/// `y = mine.ScaleToOne(Relu(x))` of `rows` by `columns`, elements of the type with this number.
fn model(element: u64, attribute: &[u8]) -> Vec<u8> {
    let shape = ["rows", "columns"].map(|name| field(1, &field(2, name.as_bytes()))).concat();
    let value = |name: &str| {
        let tensor = [number(1, element), field(2, &shape)].concat();
        [field(1, name.as_bytes()), field(2, &field(1, &tensor))].concat()
    };
    let node = |op: &str, domain: &str, ends: [&str; 2], attribute: &[u8]| {
        let names = [field(1, ends[0].as_bytes()), field(2, ends[1].as_bytes()), field(3, b"scale")].concat();
        [names, field(4, op.as_bytes()), attribute.to_vec(), field(7, domain.as_bytes())].concat()
    };
    let graph = [
        field(1, &node("Relu", "", ["x", "r"], &[])),
        field(1, &node("ScaleToOne", "mine", ["r", "y"], attribute)),
        field(2, b"g"),
        field(11, &value("x")),
        field(12, &value("y")),
    ];
    let opset = |domain: &str, version: u64| field(8, &[field(1, domain.as_bytes()), number(2, version)].concat());
    [number(1, 8), field(7, &graph.concat()), opset("", 17), opset("mine", 1)].concat()
}

fn sutura(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sutura"));
    command.current_dir(folder).args(args).env("NO_COLOR", "1").output().expect("the tool was built")
}

fn fails(folder: &Path, args: &[&str], code: i32, words: &[&str]) {
    let output = sutura(folder, args);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {said}");
    words.iter().for_each(|word| assert!(said.contains(word), "{args:?}: no `{word}` in: {said}"));
}

#[test]
fn a_node_of_a_users_domain_runs_at_every_size() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    std::fs::write(path.join("m.onnx"), model(1, &[])).expect("a file");
    std::fs::write(path.join("mine.mlir"), declaration()).expect("a file");
    let compiled = sutura(path, &["compile", "m.onnx", "--operators", "mine.mlir", "-o", "m.sutura"]);
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    let checked = sutura(path, &["check", "m.onnx", "--operators=mine.mlir"]);
    let table = String::from_utf8_lossy(&checked.stdout);
    assert!(checked.status.success() && table.contains("mine.ScaleToOne"), "{table}");
    let model = Model::load_with(path.join("m.sutura"), Options::new()).expect("it loads");
    for (rows, columns) in [(2, 3), (1, 1), (0, 4), (5, 33)] {
        let x: Vec<f32> = (0..rows * columns).map(|i| (i % 7) as f32 - 2.0).collect();
        let input = Tensor::from_slice(&[rows as i64, columns as i64], &x).expect("a tensor");
        let outputs = model.run(&[input]).expect("it runs");
        let found = outputs[0].as_slice::<f32>().expect("floats");
        for (row, found) in x.chunks(columns).zip(found.chunks(columns)) {
            let most = row.iter().fold(0f32, |most, x| most.max(*x)) + 1e-6;
            for (x, y) in row.iter().zip(found) {
                assert!((x.max(0.0) / most - y).abs() < 1e-6, "{rows}x{columns}: {x} became {y}");
            }
        }
    }
}

#[test]
fn what_does_not_fit_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path();
    let write = |name: &str, bytes: &[u8]| std::fs::write(path.join(name), bytes).expect("a file");
    write("m.onnx", &model(1, &[]));
    write("mine.mlir", declaration().as_bytes());
    fails(path, &["check", "m.onnx"], 3, &["mine.ScaleToOne", "operator is not supported", "--operators"]);
    // An attribute that it does not have, and elements that it does not take.
    let attribute = field(5, &[field(1, b"axes"), number(3, 1), vec![0xa0, 0x01, 2]].concat());
    write("attribute.onnx", &model(1, &attribute));
    let with = |model: &'static str| ["check", model, "--operators", "mine.mlir"];
    fails(
        path,
        &with("attribute.onnx"),
        1,
        &["mine.ScaleToOne", "has attribute `axes`, which ScaleToOne version 1 does not have"],
    );
    write("ints.onnx", &model(6, &[]));
    fails(path, &with("ints.onnx"), 3, &["mine.ScaleToOne", "i32"]);
    // What is wrong in the file is told at its place.
    write("bad.mlir", declaration().replace("math.absf", "math.absg").as_bytes());
    fails(
        path,
        &["check", "m.onnx", "--operators", "bad.mlir"],
        1,
        &["bad.mlir:", "math.absg", "does not declare operators"],
    );
    write("relu.mlir", declaration().replace("domain = \"mine\", op = \"ScaleToOne\"", "op = \"Relu\"").as_bytes());
    fails(
        path,
        &["check", "m.onnx", "--operators", "relu.mlir"],
        1,
        &["declares `Relu` for models", "a domain of its own"],
    );
    fails(path, &["check", "m.onnx", "--operators", "none.mlir"], 5, &["none.mlir"]);
    write("text.mlir", b"func.func @main() { return }");
    fails(path, &["check", "text.mlir", "--operators", "mine.mlir"], 2, &["--operators is for ONNX models"]);
}

//! Every model of ONNX's backend tests, in `tests/data/onnx_backend`: what `check` says holds for `compile`, and every operation
//! keeps a place.
//!
//! Code is generated for a part of the models that are supported: all of them take minutes in a debug build.
//! `SUTURA_BACKEND_SHARE=1` takes all of them, `=20` each twentieth.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use rayon::prelude::*;
use sutura_ir::diagnostics::Exit;
use sutura_ir::{Context, Module, OpRef};

/// Of the models that are supported each so-many-th is compiled to an artifact.
const SHARE: usize = 16;

/// Models in a folder that is gone when this is.
struct Cases {
    folder: tempfile::TempDir,
    names: Vec<String>,
}

impl Cases {
    fn all() -> Self {
        let mut packed = &include_bytes!("data/onnx_backend/cases.xz")[..];
        let mut records = Vec::new();
        lzma_rs::xz_decompress(&mut packed, &mut records).expect("the archive is whole");
        let (folder, mut names) = (tempfile::tempdir().expect("a folder"), Vec::new());
        let mut rest = &records[..];
        while let Some(end) = rest.iter().position(|b| *b == b'\n') {
            let line = std::str::from_utf8(&rest[..end]).expect("a line");
            let (name, size) = line.split_once(' ').expect("a name and a size");
            let (model, after) = rest[end + 1..].split_at(size.parse().expect("a number"));
            std::fs::write(folder.path().join(format!("{name}.onnx")), model).expect("written");
            names.push(name.to_owned());
            rest = after;
        }
        assert!(names.len() > 2000, "{} models", names.len());
        Self { folder, names }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(format!("{name}.onnx"))
    }
}

/// The exit code of a command of the tool, with what it says.
fn sutura(command: &str, model: &Path, more: &[&str]) -> (Exit, String) {
    let path = model.to_str().expect("UTF-8");
    sutura_cli::run(&[&["sutura", command, "-q", path], more].concat())
}

fn share() -> usize {
    std::env::var("SUTURA_BACKEND_SHARE").ok().and_then(|n| n.parse().ok()).unwrap_or(SHARE).max(1)
}

#[test]
fn check_and_compile_agree() {
    let (cases, share) = (Cases::all(), share());
    let one = |(at, name): (usize, &String)| -> (Exit, Option<Exit>, Option<String>) {
        let model = cases.path(name);
        let checked = sutura("check", &model, &[]);
        let supported = checked.0 == Exit::Ok;
        if supported && at % share != 0 {
            return (checked.0, None, None);
        }
        let artifact = cases.folder.path().join(format!("{name}.sutura"));
        let compiled = sutura("compile", &model, &["-o", artifact.to_str().expect("UTF-8")]);
        let wrong = checked != compiled || artifact.exists() != supported || checked.0.is_internal();
        let _ = std::fs::remove_file(&artifact);
        let said = wrong.then(|| format!("{name}: check {checked:?}\n  compile {compiled:?}"));
        (checked.0, Some(compiled.0), said)
    };
    let outcomes: Vec<_> = cases.names.par_iter().enumerate().map(one).collect();
    let mut counts: BTreeMap<Exit, usize> = BTreeMap::new();
    outcomes.iter().for_each(|(exit, ..)| *counts.entry(*exit).or_default() += 1);
    let compiled = outcomes.iter().filter(|(_, compiled, _)| *compiled == Some(Exit::Ok)).count();
    let wrong: Vec<&str> = outcomes.iter().filter_map(|(.., said)| said.as_deref()).collect();
    println!("{} models: {counts:?} by check; {compiled} compiled, {} disagreements", outcomes.len(), wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(counts[&Exit::Ok] > 400 && counts[&Exit::Unsupported] > 1000, "{counts:?}");
    assert!(compiled >= counts[&Exit::Ok] / share / 2, "{compiled} compiled");
}

/// Operations and arguments without a name and without a place in a text.
fn without_a_place(cx: &Context, module: &Module) -> Vec<String> {
    let known = |loc| cx.loc_name(loc).is_some() || cx.file_line_col(loc).is_some();
    let mut found = Vec::new();
    module.op_ref(cx).walk(&mut |op: OpRef<'_>| {
        if !known(op.loc()) {
            found.push(op.name_str().to_owned());
        }
    });
    found.sort();
    found.dedup();
    found
}

/// What lacks a place after the import or a stage of a model, until it is refused.
fn lost(model: &Path) -> Vec<String> {
    let mut lost = Vec::new();
    // That a stage refuses the model is told elsewhere.
    sutura_cli::through_stages(model, |stage, cx, module| {
        lost.extend(without_a_place(cx, module).into_iter().map(|op| format!("{stage}: {op}")));
    });
    lost
}

#[test]
fn every_operation_keeps_a_place() {
    let cases = Cases::all();
    let examples = ["cnn/cnn.onnx", "encoder/encoder.onnx", "mlp/mlp.onnx"];
    let examples = examples.map(|name| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples").join(name));
    let mut models: Vec<PathBuf> = cases.names.iter().map(|name| cases.path(name)).collect();
    models.extend(examples);
    let found: Vec<(&PathBuf, Vec<String>)> = models.par_iter().map(|model| (model, lost(model))).collect();
    let mut by_place: BTreeMap<&str, &Path> = BTreeMap::new();
    for (model, lost) in &found {
        lost.iter().for_each(|what| {
            by_place.entry(what).or_insert(model);
        });
    }
    assert!(by_place.is_empty(), "{by_place:#?}");
}

#[test]
fn a_lost_place_is_found() {
    let cx = Context::new(sutura_dialects::all());
    let module = Module::new(&cx, sutura_ir::Loc::UNKNOWN);
    assert_eq!(without_a_place(&cx, &module), ["builtin.module"]);
}

//! Every model of ONNX's backend tests, in `tests/data/onnx_backend`: what `check` says holds for `compile`, and every operation
//! keeps a place.
//!
//! Code is generated for a part of the models that are supported: all of them take minutes in a debug build.
//! `SUTURA_BACKEND_SHARE=1` takes all of them, `=20` each twentieth.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

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

/// What becomes of a model.
struct Outcome {
    checked: Exit,
    compiled: Option<Exit>,
    /// What is wrong about it.
    wrong: Option<String>,
    seconds: f64,
}

#[test]
fn check_and_compile_agree_and_operations_keep_places() {
    let (cases, share) = (Cases::all(), share());
    let one = |(at, name): (usize, &String)| {
        let (start, model) = (Instant::now(), cases.path(name));
        let (exit, said, lost) = sutura_cli::check(&model, lost);
        let checked = (exit, said);
        let supported = exit == Exit::Ok;
        let mut wrong = lost.first().map(|place| format!("{name}: without a place after {place}"));
        let mut compiled = None;
        if !supported || at % share == 0 {
            let artifact = cases.folder.path().join(format!("{name}.sutura"));
            let done = sutura("compile", &model, &["-o", artifact.to_str().expect("UTF-8")]);
            if checked != done || artifact.exists() != supported || exit.is_internal() {
                wrong = Some(format!("{name}: check {checked:?}\n  compile {done:?}"));
            }
            let _ = std::fs::remove_file(&artifact);
            compiled = Some(done.0);
        }
        Outcome { checked: exit, compiled, wrong, seconds: start.elapsed().as_secs_f64() }
    };
    let outcomes: Vec<Outcome> = cases.names.par_iter().enumerate().map(one).collect();
    let mut counts: BTreeMap<Exit, usize> = BTreeMap::new();
    outcomes.iter().for_each(|outcome| *counts.entry(outcome.checked).or_default() += 1);
    let compiled = outcomes.iter().filter(|outcome| outcome.compiled == Some(Exit::Ok)).count();
    let wrong: Vec<&str> = outcomes.iter().filter_map(|outcome| outcome.wrong.as_deref()).collect();
    eprintln!("{} models: {counts:?} by check; {compiled} compiled, {} disagreements", outcomes.len(), wrong.len());
    let mut slow: Vec<(&String, &Outcome)> = cases.names.iter().zip(&outcomes).collect();
    slow.sort_by(|a, b| b.1.seconds.total_cmp(&a.1.seconds));
    slow.iter().take(5).for_each(|(name, outcome)| eprintln!("{name}: {:.2} s", outcome.seconds));
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(counts[&Exit::Ok] > 400 && counts[&Exit::Unsupported] > 1000, "{counts:?}");
    assert!(compiled >= counts[&Exit::Ok] / share / 2, "{compiled} compiled");
}

/// The stages after which operations of a model have no place.
fn lost(stage: &str, cx: &Context, module: &Module) -> Vec<String> {
    without_a_place(cx, module).into_iter().map(|op| format!("{stage}: {op}")).collect()
}

/// The same holds of the examples, which are larger.
#[test]
fn operations_of_the_examples_keep_places() {
    for name in ["cnn", "encoder", "mlp"] {
        let model = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../examples/{name}/{name}.onnx"));
        let (exit, said, lost) = sutura_cli::check(&model, lost);
        assert_eq!((exit, said.as_str(), &lost[..]), (Exit::Ok, "", &[][..]), "{name}");
    }
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

#[test]
fn a_lost_place_is_found() {
    let cx = Context::new(sutura_dialects::all());
    let module = Module::new(&cx, sutura_ir::Loc::UNKNOWN);
    assert_eq!(without_a_place(&cx, &module), ["builtin.module"]);
}

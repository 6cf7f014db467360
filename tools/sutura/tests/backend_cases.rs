//! Every model of ONNX's backend tests, in `tests/data/onnx_backend`: it compiles and computes what the test says, or stands with its
//! reason in `not_passing.txt`; `check` says what `compile` says; every operation keeps a place.
//!
//! What the cases show of each operator is the page `docs/operators.md`. `SUTURA_BACKEND_BLESS=1` writes the list and the page anew. The
//! list should only get shorter.

mod backend_operators;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use rayon::prelude::*;
use sutura_cli::GivenShape;
use sutura_ir::diagnostics::Exit;
use sutura_ir::{Context, Module, OpRef};
use sutura_runtime::manifest::{Dim, Value};
use sutura_runtime::{ElementType, Model, Options, Tensor};
use sutura_tensors::TensorFile;

/// Of the models that compile each so-many-th is checked too: `compile` does all that `check` does, and the rest would take minutes.
const CHECKED: usize = 16;

/// Largest absolute difference that is allowed where a case allows less: sums of f32 differ by their order.
const ROUNDING: f64 = 1e-5;

/// Two units in the last place of bf16: the cases allow less, though what they expect was rounded to it more often than ours.
const STEPS_OF_BF16: f64 = 1.0 / 64.0;

/// Cases in a folder that is gone when this is.
struct Cases {
    folder: tempfile::TempDir,
    names: Vec<String>,
    /// What goes in and out, by what it is called, as `CASE/input_0`, and shapes of sequences and optionals, as `CASE/shapes`.
    tensors: BTreeMap<String, Vec<u8>>,
}

/// What whole networks get, whose inputs are not in the archive: `i / n` for element `i` of `n`.
fn ramp(input: &Value) -> Option<Tensor> {
    let size = |dim: &Dim| if let Dim::Const(size) = dim { Some(*size) } else { None };
    let dims = input.dims.iter().map(size).collect::<Option<Vec<i64>>>()?;
    let count = dims.iter().product::<i64>();
    let bytes: Vec<u8> = (0..count).flat_map(|i| ((i as f64 / count as f64) as f32).to_ne_bytes()).collect();
    Tensor::from_bytes(input.element_type, &dims, &bytes).ok()
}

/// Whether the numbers of a case come from the generator of numpy: ONNX lets each implementation have its own.
fn is_random(name: &str) -> bool {
    name.starts_with("test_bernoulli") || name.starts_with("test_training_dropout") && !name.contains("zero_ratio")
}

/// The records of an archive.
fn records(mut packed: &[u8]) -> Vec<(String, Vec<u8>)> {
    let (mut data, mut found) = (Vec::new(), Vec::new());
    lzma_rs::xz_decompress(&mut packed, &mut data).expect("the archive is whole");
    let mut rest = &data[..];
    while let Some(end) = rest.iter().position(|b| *b == b'\n') {
        let line = std::str::from_utf8(&rest[..end]).expect("a line");
        let (name, size) = line.split_once(' ').expect("a name and a size");
        let (record, after) = rest[end + 1..].split_at(size.parse().expect("a number"));
        found.push((name.to_owned(), record.to_vec()));
        rest = after;
    }
    found
}

impl Cases {
    fn all() -> Self {
        let (folder, mut names) = (tempfile::tempdir().expect("a folder"), Vec::new());
        for (name, model) in records(include_bytes!("data/onnx_backend/cases.xz")) {
            std::fs::write(folder.path().join(format!("{name}.onnx")), model).expect("written");
            names.push(name);
        }
        assert!(names.len() > 2000, "{} models", names.len());
        let tensors = records(include_bytes!("data/onnx_backend/tensors.xz")).into_iter().collect();
        Self { folder, names, tensors }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(format!("{name}.onnx"))
    }

    /// What goes in or out of a case, with names; nothing where the archive does not have it.
    fn tensors(&self, name: &str, what: &str) -> Vec<(String, Tensor)> {
        let record = |at| self.tensors.get(&format!("{name}/{what}_{at}"));
        let read = |bytes: &Vec<u8>| {
            let mut file = TensorFile::from_bytes(Path::new("case.pb"), bytes.clone(), None).expect("a tensor");
            (file.names()[0].clone(), file.read(0).expect("a tensor that is whole"))
        };
        (0..).map_while(record).map(read).collect()
    }

    /// What the command line says of inputs that are sequences or optionals.
    fn shapes(&self, name: &str) -> Vec<GivenShape> {
        let text = self.tensors.get(&format!("{name}/shapes")).map_or(&[][..], Vec::as_slice);
        std::str::from_utf8(text).expect("text").lines().map(|line| line.parse().expect("a shape")).collect()
    }

    /// The tolerances of a case, relative and absolute, if the archive has its tensors.
    fn within(&self, name: &str) -> Option<(f64, f64)> {
        let text = std::str::from_utf8(self.tensors.get(&format!("{name}/within"))?).expect("numbers");
        let (relative, absolute) = text.split_once(' ').expect("two numbers");
        let number = |text: &str| text.parse::<f64>().expect("a number");
        Some((number(relative), number(absolute).max(ROUNDING)))
    }

    /// Runs what was compiled and compares. None if it computes what is expected; of random numbers shapes and types are.
    fn differs(&self, name: &str, artifact: &Path) -> Option<String> {
        let (relative, absolute) = self.within(name)?;
        match self.outputs(name, artifact) {
            Err(error) => Some(format!("does not run: {error}")),
            Ok(outputs) => outputs.iter().find_map(|(output, made, expected)| {
                let relative =
                    if made.element_type() == ElementType::BF16 { relative.max(STEPS_OF_BF16) } else { relative };
                match sutura_runtime::compare::compare(made, expected) {
                    Ok(comparison) if comparison.within(absolute, relative) || is_random(name) => None,
                    Ok(comparison) => Some(format!("`{output}` differs: {comparison:?}")),
                    Err(error) => Some(format!("`{output}` differs: {error}")),
                }
            }),
        }
    }

    /// The outputs of an artifact, by name, beside those that are expected.
    fn outputs(&self, name: &str, artifact: &Path) -> Result<Vec<(String, Tensor, Tensor)>, sutura_runtime::Error> {
        let model = Model::load_with(artifact, Options::new().threads(1))?;
        let mut given: BTreeMap<String, Tensor> = self.tensors(name, "input").into_iter().collect();
        let input = |input: &Value| given.remove(&input.name).or_else(|| ramp(input));
        let inputs: Vec<Tensor> = model.inputs().iter().filter_map(input).collect();
        let made = model.run(&inputs)?;
        let names = model.outputs().iter().map(|output| output.name.clone());
        let mut expected: BTreeMap<String, Tensor> = self.tensors(name, "output").into_iter().collect();
        let pairs =
            names.zip(made).filter_map(|(name, made)| expected.remove(&name).map(|wanted| (name, made, wanted)));
        let pairs = pairs.collect();
        assert!(expected.is_empty(), "{name}: outputs that were not made: {:?}", expected.keys());
        Ok(pairs)
    }
}

/// What becomes of a model.
struct Outcome {
    exit: Exit,
    /// Why it does not pass.
    reason: Option<String>,
    /// Whether its results were compared.
    compared: bool,
    /// What must not be, whatever the list says.
    fault: Option<String>,
    /// What the model uses, as `check --json` tells it.
    uses: Option<serde_json::Value>,
    seconds: f64,
}

impl Outcome {
    fn of(cases: &Cases, at: usize, name: &str) -> Self {
        let (start, model, shapes) = (Instant::now(), cases.path(name), cases.shapes(name));
        let artifact = cases.folder.path().join(format!("{name}.sutura"));
        let (exit, said, lost) = sutura_cli::compile(&model, &shapes, &artifact, lost);
        let mut fault = lost.first().map(|place| format!("{name}: without a place after {place}"));
        if exit != Exit::Ok || at.is_multiple_of(CHECKED) {
            let (checked, says, _) = sutura_cli::check(&model, &shapes, |_, _, _| Vec::new());
            if (checked, &says) != (exit, &said) || artifact.exists() != (exit == Exit::Ok) {
                fault = Some(format!("{name}: check {checked:?} {says}\n  compile {exit:?} {said}"));
            }
        }
        let compared = artifact.exists() && cases.within(name).is_some();
        let differs = if compared { cases.differs(name, &artifact) } else { None };
        if exit.is_internal() || differs.is_some() {
            fault = Some(format!("{name}: {exit:?} {said} {}", differs.as_deref().unwrap_or_default()));
        }
        let _ = std::fs::remove_file(&artifact);
        let reason = (exit != Exit::Ok).then(|| reason(&said, &model));
        let uses = sutura_cli::survey(&model, &shapes).and_then(|text| serde_json::from_str(&text).ok());
        Self { exit, reason, compared, fault, uses, seconds: start.elapsed().as_secs_f64() }
    }
}

/// What is said of a model in one line, without the path of a folder that has another name the next time.
fn reason(said: &str, model: &Path) -> String {
    let said = said.replace(&format!("`{}`: ", model.display()), "");
    // An error may have a code: `error[E0428]: `.
    let said = said.split_once(": ").filter(|(word, _)| word.starts_with("error")).map_or(&said[..], |(_, rest)| rest);
    let said = said.trim_start_matches("the model uses what is not supported:");
    // What follows may name the machine, which is another one elsewhere.
    let follows = |line: &&str| line.is_empty() || line.starts_with("hint:") || line.starts_with("error: `");
    let lines = said.lines().map(str::trim).filter(|line| !follows(line));
    lines.collect::<Vec<_>>().join(" ")
}

/// The list of cases that do not pass.
fn list_of(cases: &Cases, outcomes: &[Outcome]) -> String {
    let mut text = String::from(
        "# Cases of ONNX's backend tests that do not pass, and why: `SUTURA_BACKEND_BLESS=1 cargo test --workspace --test backend_cases`.\n",
    );
    for (name, outcome) in cases.names.iter().zip(outcomes) {
        if let Some(reason) = &outcome.reason {
            let _ = writeln!(text, "{name}: {reason}");
        }
    }
    text
}

#[test]
fn all_compile_and_compute_what_is_expected_or_are_listed() {
    let cases = Cases::all();
    let numbered = cases.names.par_iter().enumerate();
    let outcomes: Vec<Outcome> = numbered.map(|(at, name)| Outcome::of(&cases, at, name)).collect();
    let mut counts: BTreeMap<Exit, usize> = BTreeMap::new();
    outcomes.iter().for_each(|outcome| *counts.entry(outcome.exit).or_default() += 1);
    let compared = outcomes.iter().filter(|outcome| outcome.compared).count();
    let faults: Vec<&str> = outcomes.iter().filter_map(|outcome| outcome.fault.as_deref()).collect();
    eprintln!("{} models: {counts:?}; {compared} compared with what is expected", outcomes.len());
    let mut slow: Vec<(&String, &Outcome)> = cases.names.iter().zip(&outcomes).collect();
    slow.sort_by(|a, b| b.1.seconds.total_cmp(&a.1.seconds));
    slow.iter().take(5).for_each(|(name, outcome)| eprintln!("{name}: {:.2} s", outcome.seconds));
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults.join("\n"));
    // The list and the page are of processors with instructions for bf16: others refuse a few cases more.
    if !std::is_x86_feature_detected!("avx512bf16") {
        eprintln!("the list of what does not pass is not compared: this processor has no instructions for bf16");
        return;
    }
    let uses = outcomes.iter().filter_map(|outcome| Some((outcome.uses.as_ref()?, outcome.reason.is_none())));
    same("tools/sutura/tests/data/onnx_backend/not_passing.txt", &list_of(&cases, &outcomes));
    same("docs/operators.md", &backend_operators::page(uses));
}

/// The same cases for a device of this machine, which `SUTURA_BACKEND_TARGET` names (`cuda:sm_90`, any target of `sutura compile`): what
/// compiles for it computes what is expected. What is refused for it is counted by its reason, and is no failure.
#[test]
fn all_compute_what_is_expected_on_a_device() {
    let Ok(target) = std::env::var("SUTURA_BACKEND_TARGET") else { return };
    let cases = Cases::all();
    let done = AtomicUsize::new(0);
    let one = |name: &String| -> Result<bool, String> {
        let (model, artifact) = (cases.path(name), cases.folder.path().join(format!("{name}.sutura")));
        let (from, to) = (model.to_str().expect("UTF-8"), artifact.to_str().expect("UTF-8"));
        let args = ["sutura", "compile", "-q", from, "-o", to, "--target", &target];
        let (exit, said) = if cases.within(name).is_some() { sutura_cli::run(&args) } else { return Ok(false) };
        let differs = if exit == Exit::Ok { cases.differs(name, &artifact) } else { None };
        let _ = std::fs::remove_file(&artifact);
        let count = done.fetch_add(1, Ordering::Relaxed) + 1;
        if count.is_multiple_of(100) {
            eprintln!("{count} done");
        }
        match differs {
            _ if exit.is_internal() => Err(format!("{name}: {said}")),
            Some(differs) => Err(format!("{name}: {differs}")),
            None if exit == Exit::Ok => Ok(true),
            None => {
                eprintln!("refused {name}: {}", reason(&said, &model));
                Ok(false)
            }
        }
    };
    let outcomes: Vec<Result<bool, String>> = cases.names.par_iter().map(one).collect();
    let ran = outcomes.iter().filter(|outcome| matches!(outcome, Ok(true))).count();
    let wrong: Vec<&str> = outcomes.iter().filter_map(|outcome| outcome.as_ref().err().map(String::as_str)).collect();
    eprintln!("{ran} of {} compute what is expected for {target}, {} do not", done.into_inner(), wrong.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A file of the project says what was found; or it is written anew.
fn same(file: &str, found: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(file);
    if std::env::var_os("SUTURA_BACKEND_BLESS").is_some() {
        std::fs::write(&path, found).expect("written");
        return;
    }
    let listed = std::fs::read_to_string(&path).unwrap_or_default();
    let lines = |of: &str, without: &str| {
        let known: BTreeSet<&str> = without.lines().collect();
        of.lines().filter(|line| !known.contains(line)).map(|line| format!("\n  {line}")).collect::<String>()
    };
    let (new, gone) = (lines(found, &listed), lines(&listed, found));
    assert!(found == listed, "{file}: found, and not listed:{new}\nlisted, and not found any more:{gone}");
}

/// A result that is not what a case expects is found.
#[test]
fn a_wrong_number_is_found() {
    let mut cases = Cases::all();
    let artifact = cases.folder.path().join("relu.sutura");
    let (exit, said, _) = sutura_cli::compile(&cases.path("test_relu"), &[], &artifact, lost);
    assert_eq!((exit, said.as_str()), (Exit::Ok, ""));
    assert_eq!(cases.differs("test_relu", &artifact), None);
    let expected = cases.tensors.get_mut("test_relu/output_0").expect("an output");
    // The last element's sign and exponent.
    *expected.last_mut().expect("is not empty") ^= 0x40;
    let differs = cases.differs("test_relu", &artifact);
    assert!(differs.as_ref().is_some_and(|text| text.starts_with("`y` differs")), "{differs:?}");
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
        let (exit, said, lost) = sutura_cli::check(&model, &[], lost);
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

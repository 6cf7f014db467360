//! `sutura debug numerics`: the first operation whose compiled form computes something else than it means.
//!
//! One program is compiled whose outputs are all values that have names. The interpreter then goes through the operations in order,
//! each on what the compiled program computed before it; so an error is found where it arises and not where it shows.

mod judge;
mod operation;
mod outside;
mod plant;
mod report;

use std::sync::{Arc, Mutex, PoisonError};

use indexmap::IndexMap;
use serde_json::{Value as Json, json};
use sutura_dialects::graph::is_reserve;
use sutura_interp::{Interpreter, Tensor as Held, Value as HeldValue};
use sutura_ir::{Module, Value};
use sutura_runtime::Tensor;

use crate::cli::{Against, NumericsArgs};
use crate::failure::{Failure, Kind};
use crate::files::say;
use crate::graph_function::Named;
use crate::kernels::Choices;
use crate::pipeline::{Emit, Level, Stage};
use crate::talk::Talk;
use crate::values::{self, Valued};
use judge::{Judge, Verdict};
use operation::Operation;
use outside::References;

/// What makes operators that the interpreter calls as a whole visible in their parts.
const REFERENCE: Stage =
    Stage { name: "reference", level: Level::Graph, passes: "expand-operators", emit: None::<Emit> };

/// Rows of an argument that only says how many there may be.
const PLACES: usize = 1 << 20;

pub(crate) fn numerics(args: &NumericsArgs, talk: &Talk) -> Result<(), Failure> {
    // A rounding that a user asks for would be told of as an error of the compiler.
    let choices = Choices { fusion: args.fusion, ..Choices::default() };
    let valued = Valued::read(&args.model, &args.reading, &choices, talk)?;
    if let Some(folder) = &args.output {
        std::fs::create_dir_all(folder).map_err(|e| Failure::io("create", folder, &e))?;
    }
    let cx = valued.cx();
    // Values that are asked for: one for all names that it has.
    let mut wanted: IndexMap<Value, String> = IndexMap::new();
    for (name, value) in &valued.values {
        wanted.entry(*value).or_insert_with(|| name.clone());
    }
    let mut module = valued.module.clone();
    let mut compiled: Vec<Value> = wanted.keys().copied().collect();
    if let Some(name) = &args.plant_error {
        let value = planted(&valued, name)?;
        let made = plant::plant(cx, &mut module, &valued.function, value)?;
        compiled.iter_mut().filter(|v| **v == value).for_each(|v| *v = made);
    }
    let model = valued.compiled(module, &compiled, &talk.muted())?;
    let inputs = values::inputs(&model, (&args.inputs, &args.input_files), &args.running.running(&args.reading), talk)?;
    let found = values::run(&model, &inputs)?;
    let names: Vec<&str> = wanted.values().map(String::as_str).collect();
    let operation = Operation { valued: &valued, names: &names, inputs: (&model, &inputs), found: &found, value: 0 };
    let references = match args.against {
        Against::Interpreter => None,
        Against::Onnxruntime => Some(outside::references(operation, &args.python, talk)?),
    };
    let verdict = judged(&valued, &wanted, &inputs, &found, references.as_ref(), talk)?;
    let Some(first) = verdict.findings.first() else {
        whole(&valued, args.plant_error.is_some(), &inputs, talk)?;
        return agree(args, &verdict, talk);
    };
    let report = report::Report { operation: Operation { value: first.value, ..operation }, first };
    report.tell(args, verdict.findings.len(), talk)
}

/// The program as it is compiled where nothing inside it is written out: its outputs, within the errors of all operations together.
fn whole(valued: &Valued, is_changed: bool, inputs: &[Tensor], talk: &Talk) -> Result<(), Failure> {
    // An error that was planted and made no difference is in the other program alone.
    if is_changed || valued.outputs.is_empty() {
        return Ok(());
    }
    let mut wanted: IndexMap<Value, String> = IndexMap::new();
    for (name, value) in &valued.outputs {
        wanted.entry(*value).or_insert_with(|| name.clone());
    }
    let values: Vec<Value> = wanted.keys().copied().collect();
    let model = valued.compiled(valued.module.clone(), &values, &talk.muted())?;
    let found = values::run(&model, inputs)?;
    let verdict = judged(valued, &wanted, inputs, &found, None, talk)?;
    let Some(first) = verdict.findings.first() else { return Ok(()) };
    let (name, worst) = (&wanted[first.value], &first.worst);
    let failure = Failure::new(
        Kind::Mismatch,
        format!(
            "every operation is right where its result is written out, but the program as a whole makes `{name}` wrong: at {:?} it is \
             {} where {} was expected, within {:.3e}",
            worst.index, worst.found, worst.expected, worst.bound
        ),
    );
    Err(failure.hint("a fused region is compiled wrongly; `sutura extract` finds a smaller part that is wrong"))
}

/// Says that everything is right.
fn agree(args: &NumericsArgs, verdict: &Verdict, talk: &Talk) -> Result<(), Failure> {
    let (compared, closest) = (verdict.compared, verdict.closest);
    if compared == 0 {
        let failure = Failure::new(Kind::Unsupported, "no operation could be compared");
        return Err(failure.hint("the notes say why; `--against interpreter` compares every type"));
    }
    if talk.is_json() {
        let fields = json!({ "wrong": Json::Null, "compared": compared, "largest_part_of_bound": closest });
        return talk.result("numerics", fields.as_object().cloned().unwrap_or_default());
    }
    let reference = match args.against {
        Against::Interpreter => "the interpreter",
        Against::Onnxruntime => "onnxruntime",
    };
    let noun = if compared == 1 { "value agrees" } else { "values agree" };
    say(&format!(
        "{compared} {noun} with {reference} in `{}`; the largest error is {:.0} % of its bound",
        args.model.display(),
        closest * 100.0
    ))
}

/// The value that a planted error is for: one of the name, or the last one that the node of the name makes.
fn planted(valued: &Valued, name: &str) -> Result<Value, Failure> {
    if let Some((_, value)) = valued.values.iter().find(|(known, _)| known == name) {
        return Ok(*value);
    }
    let node = |(_, value): &&Named| operation::node_of(valued, *value).is_some_and(|node| node == name);
    match valued.values.iter().rfind(node) {
        Some((_, value)) => Ok(*value),
        None => valued.chosen(&[name.to_owned()]).map(|values| values[0].1),
    }
}

/// Goes through the operations on what the compiled program made.
fn judged(
    valued: &Valued,
    wanted: &IndexMap<Value, String>,
    inputs: &[Tensor],
    found: &[Tensor],
    references: Option<&References>,
    talk: &Talk,
) -> Result<Verdict, Failure> {
    let cx = valued.cx();
    let fault = |fault: sutura_interp::Fault| Failure::internal(fault.to_string());
    let mut module: Module = valued.module.clone();
    let results: Vec<Named> = wanted.iter().map(|(value, name)| (name.clone(), *value)).collect();
    valued.function.set_results(cx, &mut module, &results);
    let reference = valued.compilation.program(module).at(Level::Graph);
    let reference = valued.compilation.run(&REFERENCE, reference, &talk.muted())?.module;
    let function = crate::graph_function::GraphFunction::of(cx, &reference)?;
    let body = function.body(&reference);
    let mut watched: IndexMap<Value, (usize, Held)> = IndexMap::new();
    let mut expected = references.map(|_| IndexMap::new());
    for (number, (value, tensor)) in function.results(&reference).into_iter().zip(found).enumerate() {
        watched.entry(value).or_insert((number, judge::tensor(cx, body.ty(value), tensor).map_err(fault)?));
        if let (Some(expected), Some(reference)) = (&mut expected, references.and_then(|all| all.get(&number))) {
            expected.insert(number, judge::tensor(cx, body.ty(value), reference).map_err(fault)?);
        }
    }
    let mut given = inputs.iter();
    let mut arguments = Vec::new();
    for argument in body.block_args(function.block) {
        let ty = body.ty(*argument);
        let tensor = match given.next() {
            Some(tensor) => judge::tensor(cx, ty, tensor),
            None if is_reserve(cx, ty) => Held::zeros(sutura_interp::DType::I1, &[PLACES, 0]),
            None => return Err(Failure::internal("an input of the program is gone")),
        };
        arguments.push(HeldValue::Tensor(tensor.map_err(fault)?));
    }
    let name = sutura_ir::OpRef::new(cx, reference.body(), function.op).symbol_name().unwrap_or("main").to_owned();
    let verdict = Arc::new(Mutex::new(Verdict::default()));
    let mut interpreter = Interpreter::new(cx, &reference);
    interpreter.observe(Box::new(Judge::new(watched, verdict.clone()).against(expected)));
    let ran = interpreter.call(&name, &arguments);
    let verdict = std::mem::take(&mut *verdict.lock().unwrap_or_else(PoisonError::into_inner));
    match ran {
        // A shape that is wrong may leave nothing to go on with.
        Err(error) if verdict.findings.is_empty() => {
            Err(Failure::new(Kind::Unsupported, format!("the interpreter does not run the model: {error}")))
        }
        _ => Ok(verdict),
    }
}

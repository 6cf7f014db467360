//! Random programs of calls, conditions and loops: what is compiled computes what the interpreter does, bit by bit, and so does the
//! interpreter on host programs that run others, and on the one in which all have their place.
//!
//! `SUTURA_CONTROL=0..500` runs the programs of these seeds; `random` says what else can be asked for.

mod generate;
#[path = "../random/mod.rs"]
mod random;

use std::fmt::Write as _;
use std::ops::Range;
use std::path::Path;

use sutura_interp::{DType, Interpreter, Limits, Random, Scalar, Tensor as Expected, Value};
use sutura_ir::diagnostics::Diagnostics;
use sutura_ir::pass::{Event, PassRegistry, RunConfig, parse_pipeline, run_pipeline};
use sutura_ir::{Context, Module};
use sutura_passes::stages;
use sutura_runtime::{ElementType, Model, Tensor};

use generate::{Kind, Program, RUNS, SYMBOLS};
use random::{Compiled, Drawn, Outcome, Soak};

/// Seeds that every run of the tests takes.
const USUAL: Range<u64> = 0..8;

impl Drawn for Program {
    fn text(&self) -> &str {
        &self.text
    }

    fn forms(&self) -> &[&'static str] {
        &self.forms
    }
}

/// The program's host programs that run each other, and the one that all of them become, planned.
fn hosts(text: &str) -> Result<Vec<(Context, Module)>, String> {
    let stages = &stages::FOR_CPU[..3];
    let lowered = stages.iter().copied().chain(["inline-programs,plan-buffers"]).collect::<Vec<_>>();
    [stages, &lowered].into_iter().map(|stages| lower(text, stages)).collect()
}

fn lower(text: &str, stages: &[&str]) -> Result<(Context, Module), String> {
    let cx = Context::new(sutura_dialects::all());
    let mut module = random::module(&cx, text);
    let mut registry = PassRegistry::new();
    sutura_passes::register(&mut registry);
    for stage in stages {
        let pipeline = format!("builtin.module({stage})");
        let manager = parse_pipeline(&cx, &registry, "stage", &pipeline, &mut Diagnostics::default());
        let mut manager = manager.map_err(|_| format!("no pipeline: {stage}"))?;
        let config = RunConfig { verify_each: true, ..RunConfig::default() };
        let mut said = String::new();
        let mut sink = |event: Event| {
            if let Event::Diagnostic(diagnostic) = event {
                let _ = write!(said, "{}; ", diagnostic.message);
            }
        };
        let (_, done) = run_pipeline(&cx, &mut module, &mut manager, &config, &mut sink);
        done.map_err(|_| format!("the stage {stage}: {said}"))?;
    }
    Ok((cx, module))
}

/// An input: small numbers, zeros among them.
fn random_input(kind: Kind, sizes: &[i64; SYMBOLS], random: &mut Random) -> Expected {
    let (dtype, shape) = match kind {
        Kind::List(symbol) => (DType::I32, vec![sizes[symbol] as usize]),
        Kind::Varied | Kind::Number => (DType::I32, vec![]),
        Kind::Truth => (DType::I1, vec![]),
    };
    let (low, high) = if kind == Kind::Truth { (0, 1) } else { (-4, 9) };
    let numbers: Vec<Scalar> =
        (0..shape.iter().product()).map(|_| Scalar::int(random.range(low, high), dtype)).collect();
    Expected::from_scalars(dtype, &shape, numbers).expect("as many as there are")
}

fn given(tensor: &Expected) -> Tensor {
    let dims: Vec<i64> = tensor.shape().iter().map(|size| *size as i64).collect();
    let elem = if tensor.dtype() == DType::I1 { ElementType::Bool } else { ElementType::I32 };
    Tensor::from_bytes(elem, &dims, &tensor.data().to_le_bytes().expect("all are set")).expect("as many bytes")
}

/// The same tensors, bit by bit.
fn same(found: &[Value], wanted: &[Value]) -> bool {
    let tensors = |values: &[Value]| values.iter().map(|v| given(v.tensor().expect("a tensor"))).collect::<Vec<_>>();
    let (found, wanted) = (tensors(found), tensors(wanted));
    let same = |(a, b): (&Tensor, &Tensor)| (a.dims(), a.bytes()) == (b.dims(), b.bytes());
    found.len() == wanted.len() && found.iter().zip(&wanted).all(same)
}

/// What is meant by a program, in the forms that are interpreted.
struct Meant {
    cx: Context,
    module: Module,
    hosts: Vec<(Context, Module)>,
}

/// Compiles and runs the program of a seed, and interprets `meant`, which is its text unless a fault is planted.
fn check(seed: u64, folder: &Path, program: &Program, meant: &str, target: Option<&str>) -> Outcome {
    let loaded = match random::compile(folder, &program.text, target) {
        Ok(Compiled::Model(model)) => model,
        Ok(Compiled::Refused(said)) => return Outcome::Refused(said),
        Err(what) => return Outcome::Wrong(what),
    };
    let hosts = match hosts(&program.text) {
        Ok(hosts) => hosts,
        Err(what) => return Outcome::Wrong(what),
    };
    let cx = Context::new(sutura_dialects::all());
    let module = random::module(&cx, meant);
    let meant = Meant { cx, module, hosts };
    let wrong = (0..RUNS).find_map(|run| differs(seed, run, &loaded, program, &meant).err());
    wrong.map_or(Outcome::Same, Outcome::Wrong)
}

/// Runs what is compiled and interprets what is meant, once.
///
/// # Errors
/// What is wrong.
fn differs(seed: u64, run: usize, loaded: &Model, program: &Program, meant: &Meant) -> Result<(), String> {
    let sizes = &program.sizes[run];
    let mut random = Random::new(seed.wrapping_mul(RUNS as u64) + run as u64);
    let inputs: Vec<Expected> = program.inputs.iter().map(|kind| random_input(*kind, sizes, &mut random)).collect();
    let tensors: Vec<Tensor> = inputs.iter().map(given).collect();
    let outputs = loaded.run(&tensors).map_err(|e| format!("run {run} at {sizes:?}: {e}"))?;
    let mut interpreter = Interpreter::new(&meant.cx, &meant.module);
    interpreter.set_limits(Limits { steps: 1 << 34, ..Limits::default() });
    let values: Vec<Value> = inputs.into_iter().map(Value::Tensor).collect();
    let results = interpreter.call("main", &values);
    let results = results.map_err(|e| format!("the interpreter at {sizes:?}: {e:?}"))?;
    // Kernels are interpreted element by element.
    if sizes.iter().all(|size| *size < 8) {
        for (what, (cx, host)) in ["several host programs", "the host program"].into_iter().zip(&meant.hosts) {
            let found = Interpreter::new(cx, host).call("main", &values);
            let found = found.map_err(|e| format!("{what} interpreted at {sizes:?}: {e:?}"))?;
            if !same(&found, &results) {
                return Err(format!("{what} interpreted at {sizes:?}: {found:?}, not {results:?}"));
            }
        }
    }
    if results.len() != outputs.len() {
        return Err(format!("{} results, not {}", outputs.len(), results.len()));
    }
    for (i, (found, result)) in outputs.iter().zip(&results).enumerate() {
        let result = given(result.tensor().expect("all results are tensors"));
        if (found.dims(), found.bytes()) != (result.dims(), result.bytes()) {
            return Err(format!("run {run} at {sizes:?}, output {i}: {found:?}, not {result:?}"));
        }
    }
    Ok(())
}

#[test]
fn what_is_compiled_computes_what_the_interpreter_does() {
    let soak = Soak::new("SUTURA_CONTROL", USUAL);
    // Routines that decide sizes run on a processor only.
    let fits = |program: &Program| soak.target.is_none() || !program.forms.contains(&"decided");
    let drawn =
        |seed: u64| (0..).map(|i| generate::program(seed + i * 1_000_003)).find(fits).expect("one of them fits");
    soak.run(drawn, |seed, folder, program, target| check(seed, folder, program, &program.text, target));
}

/// The comparison sees a loop that carries one value in the place of another, and one that runs once more.
#[test]
fn a_planted_fault_is_found() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let text = |handed: &str, most: i64| {
        let list = "tensor<?xi32, #dyn.shape<[S0]>>";
        format!(
            "func.func @main(%x: {list}, %y: {list}) -> ({list}, {list}) {{\n  %from = arith.constant 0 : index\n  \
             %to = arith.constant {most} : index\n  %by = arith.constant 1 : index\n  \
             %a, %b = scf.for %i = %from to %to step %by iter_args(%p = %x, %q = %y) -> ({list}, {list}) {{\n    \
             %s = arith.addi %p, %q : {list}\n    scf.yield {handed} : {list}, {list}\n  }}\n  \
             return %a, %b : {list}, {list}\n}}\n"
        )
    };
    let right = text("%q, %s", 3);
    let program = Program {
        text: right.clone(),
        inputs: vec![Kind::List(0), Kind::List(0)],
        sizes: [[5, 0], [1, 0], [64, 0], [300, 0]],
        forms: vec![],
    };
    assert!(matches!(check(0, folder.path(), &program, &right, None), Outcome::Same));
    for wrong in [text("%s, %q", 3), text("%q, %s", 4), text("%p, %s", 3)] {
        assert!(matches!(check(0, folder.path(), &program, &wrong, None), Outcome::Wrong(_)), "{wrong}");
    }
}

/// It sees the other side of a condition whose result is as long as the side makes it.
#[test]
fn a_planted_fault_in_sizes_is_found() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let text = |first: &str, second: &str| {
        let (x, y) = ("tensor<?xi32, #dyn.shape<[S0]>>", "tensor<?xi32, #dyn.shape<[S1]>>");
        let side = |of: &str| {
            let ty = if of == "%x" { x } else { y };
            format!("    %v = tensor.cast {of} : {ty} to tensor<?xi32>\n    scf.yield %v : tensor<?xi32>\n")
        };
        let (first, second) = (side(first), side(second));
        format!(
            "func.func @main(%x: {x}, %y: {y}, %c: tensor<i1>) -> tensor<?xi32> {{\n  %f = tensor.extract %c[] : tensor<i1>\n  \
             %r = scf.if %f -> (tensor<?xi32>) {{\n{first}  }} else {{\n{second}  }}\n  return %r : tensor<?xi32>\n}}\n"
        )
    };
    let right = text("%x", "%y");
    let inputs = vec![Kind::List(0), Kind::List(1), Kind::Truth];
    let program = Program { text: right.clone(), inputs, sizes: [[5, 3], [1, 2], [64, 0], [300, 7]], forms: vec![] };
    assert!(matches!(check(0, folder.path(), &program, &right, None), Outcome::Same));
    assert!(matches!(check(0, folder.path(), &program, &text("%y", "%x"), None), Outcome::Wrong(_)));
}

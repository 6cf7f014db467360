//! Random programs over all types of elements and all forms: what is compiled computes what the interpreter does.
//!
//! Integers are compared by bits, floats within a bound that the generator derives: roundoff of the type for each operation,
//! times the length of what is summed. `SUTURA_PROGRAMS=0..2500` runs the programs of these seeds, eight parts each;
//! `SUTURA_PROGRAMS_KEEP=FOLDER` keeps those that differ or are refused.

mod complex;
mod elements;
mod generate;
mod scalars;

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write as _;
use std::ops::Range;
use std::path::{Path, PathBuf};

use sutura_grammar::ParseOptions;
use sutura_interp::{Interpreter, Limits, Random, Scalar, Tensor as Expected, Tolerance, Value, compare};
use sutura_ir::diagnostics::{Diagnostics, Exit};
use sutura_ir::{Context, Module};
use sutura_runtime::{ElementType, Model, Options, Tensor};

use elements::Elem;
use generate::{Input, Program, RUNS};

/// Independent programs in one that is compiled.
const PARTS: usize = 8;
/// Seeds that every run of the tests takes.
const USUAL: Range<u64> = 0..6;

fn seeds() -> Range<u64> {
    let Ok(text) = std::env::var("SUTURA_PROGRAMS") else { return USUAL };
    let (from, to) = text.split_once("..").expect("SUTURA_PROGRAMS is FROM..TO");
    from.parse().expect("a number")..to.parse().expect("a number")
}

fn module(cx: &Context, text: &str) -> Module {
    let source = cx.sources().add("random.mlir".to_owned(), text.to_owned()).expect("it is small");
    let mut diags = Diagnostics::default();
    sutura_grammar::parse_module(cx, &source, &ParseOptions::default(), &mut diags)
        .unwrap_or_else(|_| panic!("{:?}\n{text}", diags.iter().map(|d| d.message.clone()).collect::<Vec<_>>()))
}

fn random_input(input: &Input, sizes: &[i64], random: &mut Random) -> Expected {
    let shape: Vec<usize> = input.dims.iter().map(|dim| sizes[*dim] as usize).collect();
    let count: usize = shape.iter().product();
    let dtype = input.elem.dtype();
    let mut number = || match input.indices_of {
        Some(of) => Scalar::int(random.range(-sizes[of], sizes[of] - 1), dtype),
        None => input.elem.random(random),
    };
    let numbers: Vec<Scalar> = (0..count).map(|_| number()).collect();
    Expected::from_scalars(dtype, &shape, numbers).expect("as many as there are")
}

fn given(input: &Input, tensor: &Expected) -> Tensor {
    let dims: Vec<i64> = tensor.shape().iter().map(|size| *size as i64).collect();
    let name = input.elem.name().replace("ui", "u");
    let elem = ElementType::from_name(if name == "i1" { "bool" } else { &name }).expect("the runtime has every type");
    Tensor::from_bytes(elem, &dims, &tensor.data().to_le_bytes().expect("all are set")).expect("as many bytes")
}

/// What went wrong with one program.
struct Finding {
    seed: u64,
    what: String,
}

/// Compiles and runs the program of a seed, and interprets `meant`, which is its text unless a fault is planted; what is said if it
/// is refused.
fn check(seed: u64, folder: &Path, program: &Program, meant: &str) -> Result<Option<String>, Finding> {
    let wrong = |what: String| Finding { seed, what };
    let (model, artifact) = (folder.join("random.mlir"), folder.join("random.sutura"));
    std::fs::write(&model, &program.text).expect("a temporary file");
    let args: [PathBuf; 6] = ["sutura".into(), "compile".into(), "-q".into(), model, "-o".into(), artifact.clone()];
    match sutura_cli::run(&args) {
        (Exit::Ok, _) => {}
        (Exit::Unsupported, said) => return Ok(Some(said)),
        (exit, said) => return Err(wrong(format!("exit {exit:?}: {said}"))),
    }
    let loaded = Model::load_with(&artifact, Options::new().threads(2)).map_err(|e| wrong(e.to_string()))?;
    let cx = Context::new(sutura_dialects::all());
    let module = module(&cx, meant);
    for run in 0..RUNS {
        let sizes = &program.sizes[run];
        let mut random = Random::with_edges(seed.wrapping_mul(RUNS as u64) + run as u64);
        let expected: Vec<Expected> = program.inputs.iter().map(|i| random_input(i, sizes, &mut random)).collect();
        let inputs: Vec<Tensor> = program.inputs.iter().zip(&expected).map(|(i, t)| given(i, t)).collect();
        let outputs = loaded.run(&inputs).map_err(|e| wrong(format!("run {run} at {sizes:?}: {e}")))?;
        let mut interpreter = Interpreter::new(&cx, &module);
        interpreter.set_limits(Limits { steps: 1 << 34, ..Limits::default() });
        let values: Vec<Value> = expected.into_iter().map(Value::Tensor).collect();
        let results = interpreter.call("main", &values);
        let results = results.map_err(|e| wrong(format!("the interpreter at {sizes:?}: {e:?}")))?;
        assert_eq!((results.len(), program.outputs.len()), (outputs.len(), outputs.len()));
        for (i, ((found, result), bound)) in outputs.iter().zip(&results).zip(&program.outputs).enumerate() {
            let result = result.tensor().expect("all results are tensors");
            let bytes = sutura_interp::Buffer::from_le_bytes(result.dtype(), found.bytes());
            let found = Expected::new(result.shape(), bytes.map_err(|e| wrong(e.to_string()))?);
            let found = found.map_err(|e| wrong(format!("output {i} has other sizes: {e}")))?;
            let tolerance = Tolerance { abs: *bound, rel: 0.0, ulp: u64::from(*bound > 0.0) };
            compare(&Value::Tensor(found), &Value::Tensor(result.clone()), tolerance)
                .map_err(|e| wrong(format!("run {run} at {sizes:?}, output {i}, at most {bound:e} apart: {e}")))?;
        }
    }
    Ok(None)
}

#[test]
fn what_is_compiled_computes_what_the_interpreter_does() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (mut findings, mut refused, mut forms) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
    let seeds = seeds();
    for seed in seeds.clone() {
        let program = generate::program(seed, PARTS);
        program.forms.iter().for_each(|form| *forms.entry(*form).or_insert(0) += 1);
        let checked = check(seed, folder.path(), &program, &program.text);
        if let (Ok(Some(_)) | Err(_), Ok(folder)) = (&checked, std::env::var("SUTURA_PROGRAMS_KEEP")) {
            std::fs::write(Path::new(&folder).join(format!("{seed}.mlir")), &program.text).expect("a folder");
        }
        match checked {
            Ok(None) => {}
            Ok(Some(said)) => *refused.entry(said).or_insert(0) += 1,
            Err(finding) => findings.push(finding),
        }
    }
    let mut text = format!("programs of {} parts: {seeds:?}, forms {forms:?}, refused {refused:?}", PARTS);
    for Finding { seed, what } in &findings {
        let _ = write!(text, "\nseed {seed}: {what}");
    }
    writeln!(std::io::stdout(), "{text}").expect("a summary");
    assert!(findings.is_empty() && refused.is_empty(), "{text}");
}

/// The comparison sees a float that is off by more than its bound, and one bit of an integer.
#[test]
fn a_planted_fault_is_found() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let cases = [("i32", "arith.addi", "7", "6", 0.0), ("f32", "arith.addf", "1.0", "1.00001", 1e-6)];
    for (elem, op, right, wrong, bound) in cases {
        let text = |number: &str| {
            let ty = format!("tensor<?x{elem}, #dyn.shape<[S0]>>");
            format!(
                "func.func @main(%x: {ty}) -> {ty} {{\n  %y = graph.compute ins(%x : {ty}) -> {ty} {{\n    \
                 iterators = #graph.iterators<[parallel]>, maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>]}} {{\n  \
                 ^bb0(%e: {elem}):\n    %c = arith.constant {number} : {elem}\n    %s = {op} %e, %c : {elem}\n    \
                 graph.yield %s : {elem}\n  }}\n  return %y : {ty}\n}}\n"
            )
        };
        let program = Program {
            text: text(right),
            inputs: vec![Input { elem: Elem::named(elem), dims: vec![0], indices_of: None }],
            outputs: vec![bound],
            sizes: [vec![3], vec![1], vec![64]],
            forms: vec![],
        };
        assert!(matches!(check(0, folder.path(), &program, &text(right)), Ok(None)));
        assert!(check(0, folder.path(), &program, &text(wrong)).is_err(), "{elem}");
    }
}

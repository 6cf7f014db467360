//! Random programs over all types of elements and all forms: what is compiled computes what the interpreter does.
//!
//! Integers are compared by bits, floats within a bound that the generator derives: roundoff of the type for each operation,
//! times the length of what is summed. `SUTURA_PROGRAMS=0..2500` runs the programs of these seeds, eight parts each;
//! `SUTURA_PROGRAMS_KEEP=FOLDER` keeps those that differ or are refused.

mod complex;
mod elements;
mod generate;
#[path = "../random/mod.rs"]
mod random;
mod scalars;

use std::ops::Range;
use std::path::Path;

use sutura_interp::{Random, Scalar, Tensor as Expected, Tolerance, Value, compare};
use sutura_ir::Context;
use sutura_runtime::{ElementType, Tensor};

use elements::Elem;
use generate::{Input, Program, RUNS};
use random::{Case, Checked, Finding, compiled, given, interpreted, module};

/// Independent programs in one that is compiled.
const PARTS: usize = 8;
/// Seeds that every run of the tests takes.
const USUAL: Range<u64> = 0..6;

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

/// The runtime's type of an input's elements.
fn element_type(input: &Input) -> ElementType {
    let name = input.elem.name().replace("ui", "u");
    ElementType::from_name(if name == "i1" { "bool" } else { &name }).expect("the runtime has every type")
}

/// Compiles and runs the program of a seed, and interprets `meant`, which is its text unless a fault is planted; what is said if it
/// is refused.
fn check(seed: u64, folder: &Path, program: &Program, meant: &str) -> Checked {
    let wrong = |what: String| Finding { seed, what };
    let loaded = match compiled(&program.text, folder).map_err(wrong)? {
        Ok(loaded) => loaded,
        Err(said) => return Ok(Some(said)),
    };
    let cx = Context::new(sutura_dialects::all());
    let module = module(&cx, meant);
    for run in 0..RUNS {
        let sizes = &program.sizes[run];
        let mut random = Random::with_edges(seed.wrapping_mul(RUNS as u64) + run as u64);
        let expected: Vec<Expected> = program.inputs.iter().map(|i| random_input(i, sizes, &mut random)).collect();
        let inputs: Vec<Tensor> =
            program.inputs.iter().zip(&expected).map(|(i, t)| given(element_type(i), t)).collect();
        let outputs = loaded.run(&inputs).map_err(|e| wrong(format!("run {run} at {sizes:?}: {e}")))?;
        let values: Vec<Value> = expected.into_iter().map(Value::Tensor).collect();
        let results = interpreted(&cx, &module, &values).map_err(|e| wrong(format!("at {sizes:?}: {e}")))?;
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
    random::check_all("SUTURA_PROGRAMS", USUAL, |seed, folder| {
        let program = generate::program(seed, PARTS);
        let checked = check(seed, folder, &program, &program.text);
        Case { text: program.text, forms: program.forms, checked }
    });
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

//! One compilation, many shapes: each model of a list is compiled once, runs at random shapes, and computes what the interpreter
//! does. Integers are compared by bits, floats within roundoff for each term of a sum. Inputs and outputs lie at pages that
//! nobody may touch, and no memory is kept from one shape to the next.
//!
//! `SUTURA_SHAPES=40..240` runs all models at 200 shapes that are drawn from seed 40, as `cargo xtask soak --part shapes` does.

mod guarded;
mod list;

use std::alloc::{GlobalAlloc, Layout, System};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicIsize, Ordering};

use sutura_dialects::func::FuncOp;
use sutura_dialects::graph::is_reserve;
use sutura_grammar::ParseOptions;
use sutura_interp::{DType, Interpreter, Limits, Random, Scalar, Tensor as Expected, Tolerance, Value, compare};
use sutura_ir::diagnostics::{Diagnostics, Exit};
use sutura_ir::types::FloatKind;
use sutura_ir::{Context, Module};
use sutura_runtime::manifest::{self, Dim};
use sutura_runtime::{ElementType, Error, Model, Options, TensorView, TensorViewMut};

use guarded::{Edge, Guarded};
use list::{Listed, Sizes, models, value};

/// Shapes of each model that every run of the tests takes.
const USUAL_SHAPES: usize = 200;
/// Roundoffs for each term.
const ROUNDOFFS: f64 = 8.0;
/// Bytes that may be kept for later, such as lists of the runtime that have grown.
const KEPT: isize = 4096;

/// Counts bytes that are in use.
struct Counting;

static IN_USE: AtomicIsize = AtomicIsize::new(0);

#[allow(unsafe_code)]
// SAFETY: the system's allocator does the work.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        IN_USE.fetch_add(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: as promised to this one.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size() as isize, Ordering::Relaxed);
        // SAFETY: as promised to this one.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// Bytes in use are those of one test at a time.
static ALONE: Mutex<()> = Mutex::new(());

/// A model, compiled, and as it is meant.
struct Loaded {
    model: Model,
    cx: Context,
    meant: Module,
}

fn run_tool(args: &[&str]) {
    let args = ["sutura", "compile", "-q"].iter().chain(args).map(Into::into).collect::<Vec<std::path::PathBuf>>();
    let (exit, said) = sutura_cli::run(&args);
    assert!(matches!(exit, Exit::Ok), "{said}");
}

fn load(listed: &Listed, folder: &Path) -> Loaded {
    let onnx = list::folder().join(format!("{}.onnx", listed.name));
    let (artifact, graph) = (folder.join("model.sutura"), folder.join("graph.mlir"));
    let text = |path: &Path| path.to_str().unwrap().to_owned();
    run_tool(&[&text(&onnx), "-o", &text(&artifact)]);
    run_tool(&[&text(&onnx), "--emit", "graph", "-o", &text(&graph)]);
    let model = Model::load_with(&artifact, Options::new().threads(2)).unwrap();
    let cx = Context::new(sutura_dialects::all());
    let source = cx.sources().add("graph.mlir".to_owned(), std::fs::read_to_string(&graph).unwrap()).unwrap();
    let mut diags = Diagnostics::default();
    let meant = sutura_grammar::parse_module(&cx, &source, &ParseOptions::default(), &mut diags);
    let meant = meant.unwrap_or_else(|_| panic!("{}: {:?}", listed.name, diags.iter().next().map(|d| &d.message)));
    Loaded { model, cx, meant }
}

/// The interpreter's type of an element.
fn dtype(element: ElementType) -> DType {
    let int = |width: u8, unsigned: bool| DType::Int { width, unsigned };
    match element {
        ElementType::Bool => DType::I1,
        ElementType::I32 => int(32, false),
        ElementType::I64 => int(64, false),
        ElementType::I8 => int(8, false),
        ElementType::U8 => int(8, true),
        ElementType::F16 => DType::Float(FloatKind::F16),
        ElementType::F32 => DType::Float(FloatKind::F32),
        ElementType::F64 => DType::Float(FloatKind::F64),
        other => panic!("the list has no tensors of {}", other.name()),
    }
}

/// The inputs of a model at some sizes.
fn inputs(listed: &Listed, loaded: &Loaded, sizes: &Sizes, random: &mut Random) -> Vec<Expected> {
    let one = |input: &manifest::Value| {
        let size = |dim: &Dim| match dim {
            Dim::Const(size) => *size,
            Dim::Symbol(name) => sizes[name],
            Dim::Expr(text) => panic!("{}: an input of size {text}", listed.name),
        };
        let shape: Vec<usize> = input.dims.iter().map(|dim| size(dim) as usize).collect();
        let dtype = dtype(input.element_type);
        let number = |random: &mut Random| match (dtype, listed.integers.get(&input.name)) {
            (DType::Float(kind), _) => Scalar::float(random.unit() * 4.0 - 2.0, kind),
            (_, Some((low, high))) => {
                let (low, high) = (value(low, sizes), value(high, sizes) - 1);
                let drawn = random.range(low, high);
                Scalar::int(if drawn == 0 && listed.nonzero { high } else { drawn }, dtype)
            }
            (_, None) => panic!("{}: nothing says what `{}` is", listed.name, input.name),
        };
        let numbers: Vec<Scalar> = (0..shape.iter().product()).map(|_| number(random)).collect();
        Expected::from_scalars(dtype, &shape, numbers).unwrap()
    };
    loaded.model.inputs().iter().map(one).collect()
}

/// What no caller gives: places for numbers that data tell, more than any of the list's models finds.
fn reserves(loaded: &Loaded) -> Vec<Expected> {
    let entry = loaded.meant.op_ref(&loaded.cx).region(0).and_then(|region| region.entry());
    let main = entry.into_iter().flat_map(|entry| entry.ops()).find_map(|op| op.as_::<FuncOp<'_>>()).expect("main");
    let count = main.inputs().iter().filter(|ty| is_reserve(&loaded.cx, **ty)).count();
    vec![Expected::zeros(DType::I1, &[1 << 20, 0]).expect("it has no elements"); count]
}

fn interpreted(loaded: &Loaded, inputs: &[Expected]) -> Vec<Expected> {
    let mut interpreter = Interpreter::new(&loaded.cx, &loaded.meant);
    interpreter.set_limits(Limits { steps: 1 << 34, ..Limits::default() });
    let values: Vec<Value> = inputs.iter().cloned().chain(reserves(loaded)).map(Value::Tensor).collect();
    let results = interpreter.call("main", &values).unwrap_or_else(|error| panic!("the interpreter: {error:?}"));
    results.iter().map(|result| result.tensor().expect("all results are tensors").clone()).collect()
}

/// Runs what is compiled, with all tensors at pages that nobody may touch; again, where there was too little place for a number that
/// data tell.
///
/// # Errors
/// What the run says.
fn computed(loaded: &Loaded, inputs: &[Expected], edge: Edge) -> Result<Vec<Expected>, String> {
    loop {
        match computed_once(loaded, inputs, edge) {
            Err(Error::Outgrown { .. }) => {}
            done => return done.map_err(|error| error.to_string()),
        }
    }
}

fn computed_once(loaded: &Loaded, inputs: &[Expected], edge: Edge) -> Result<Vec<Expected>, Error> {
    let model = &loaded.model;
    let dims: Vec<Vec<i64>> = inputs.iter().map(|t| t.shape().iter().map(|size| *size as i64).collect()).collect();
    let guarded: Vec<Guarded> = inputs
        .iter()
        .map(|tensor| {
            let bytes = tensor.data().to_le_bytes().expect("all are set");
            let mut memory = Guarded::new(bytes.len(), edge, true);
            memory.bytes_mut().copy_from_slice(&bytes);
            memory
        })
        .collect();
    let views: Vec<TensorView<'_>> = model
        .inputs()
        .iter()
        .zip(guarded.iter().zip(&dims))
        .map(|(input, (memory, dims))| TensorView::new(input.element_type, dims, memory.bytes()).unwrap())
        .collect();
    let places: Vec<&[i64]> = dims.iter().map(Vec::as_slice).collect();
    let shapes: Vec<Vec<i64>> = model.allocate_outputs(&places)?.iter().map(|t| t.dims().to_vec()).collect();
    let mut memory: Vec<Guarded> = model
        .outputs()
        .iter()
        .zip(&shapes)
        .map(|(output, dims)| {
            let count = dims.iter().product::<i64>() as usize;
            Guarded::new(count * output.element_type.bytes(), edge, true)
        })
        .collect();
    let mut outputs: Vec<TensorViewMut<'_>> = model
        .outputs()
        .iter()
        .zip(memory.iter_mut().zip(&shapes))
        .map(|(output, (memory, dims))| TensorViewMut::new(output.element_type, dims, memory.bytes_mut()).unwrap())
        .collect();
    let decided = model.run_into(&views, &mut outputs)?.unwrap_or(shapes);
    let found = model.outputs().iter().zip(memory.iter().zip(&decided)).map(|(output, (memory, dims))| {
        let shape: Vec<usize> = dims.iter().map(|size| *size as usize).collect();
        let bytes = shape.iter().product::<usize>() * output.element_type.bytes();
        let data = sutura_interp::Buffer::from_le_bytes(dtype(output.element_type), &memory.bytes()[..bytes]);
        Expected::new(&shape[..], data.expect("whole elements")).expect("as many as the shape says")
    });
    Ok(found.collect())
}

/// How far a float of this tensor may be off.
fn tolerance(expected: &Expected, terms: i64) -> Tolerance {
    let DType::Float(kind) = expected.dtype() else { return Tolerance::EXACT };
    let next = Scalar::from_bits(expected.dtype(), Scalar::float(1.0, kind).bits() + 1);
    let roundoff = next.as_f64().unwrap_or(1.0) - 1.0;
    let magnitudes = (0..expected.len()).filter_map(|i| expected.data().read(i).ok()?.as_f64());
    let greatest = magnitudes.map(f64::abs).filter(|x| x.is_finite()).fold(1.0, f64::max);
    Tolerance { abs: ROUNDOFFS * roundoff * terms as f64 * greatest, rel: 0.0, ulp: 0 }
}

/// # Errors
/// What differs.
fn same(found: &[Expected], wanted: &[Expected], terms: i64) -> Result<(), String> {
    for (i, (found, wanted)) in found.iter().zip(wanted).enumerate() {
        let tolerance = tolerance(wanted, terms);
        compare(&Value::Tensor(found.clone()), &Value::Tensor(wanted.clone()), tolerance)
            .map_err(|error| format!("output {i}, at most {:e} apart: {error}", tolerance.abs))?;
    }
    Ok(())
}

/// Runs a model at so many shapes.
///
/// # Errors
/// What is wrong, and at which sizes.
fn check(listed: &Listed, folder: &Path, shapes: usize, seed: u64) -> Result<(), String> {
    let loaded = load(listed, folder);
    let mut random = Random::new(seed);
    let drawn: Vec<Sizes> = (0..shapes).map(|_| listed.draw(&mut random)).collect();
    for (i, sizes) in drawn.iter().enumerate() {
        let inputs = inputs(listed, &loaded, sizes, &mut random);
        let edge = if i % 2 == 0 { Edge::After } else { Edge::Before };
        let place = |error: String| format!("{} at {sizes:?}: {error}", listed.name);
        let found = computed(&loaded, &inputs, edge).map_err(place)?;
        same(&found, &interpreted(&loaded, &inputs), listed.terms(sizes)).map_err(place)?;
    }
    // All shapes once more, and no bytes more than after one round.
    let round = |random: &mut Random| -> Result<isize, String> {
        for sizes in &drawn {
            computed(&loaded, &inputs(listed, &loaded, sizes, random), Edge::After)?;
        }
        Ok(IN_USE.load(Ordering::Relaxed))
    };
    let (first, second) = (round(&mut random)?, round(&mut random)?);
    if second - first > KEPT {
        return Err(format!("{}: {} bytes more after another round of shapes", listed.name, second - first));
    }
    Ok(())
}

#[test]
fn one_compilation_serves_random_shapes() {
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let asked = std::env::var("SUTURA_SHAPES").ok().map(|text| {
        let (from, to) = text.split_once("..").expect("SUTURA_SHAPES is FROM..TO");
        let (from, to) = (from.parse::<u64>().expect("a number"), to.parse::<u64>().expect("a number"));
        (from, (to - from) as usize)
    });
    let (seed, shapes) = asked.unwrap_or((1, USUAL_SHAPES));
    let folder = tempfile::tempdir().unwrap();
    let mut wrong = Vec::new();
    for listed in &models() {
        if let Err(what) = check(listed, folder.path(), shapes, seed) {
            wrong.push(what);
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_list_has_forty_models_and_up_to_four_symbols() {
    let models = models();
    assert!(models.len() >= 40, "{}", models.len());
    assert!(models.iter().all(|m| (1..=4).contains(&m.ranges.len())));
    assert!(models.iter().any(|m| m.ranges.len() == 4));
}

/// The comparison sees a float that is off by more than its bound, and one bit of an integer.
#[test]
fn a_wrong_number_is_found() {
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let floats = |x: f64| {
        let numbers = [1.0, x].map(|x| Scalar::float(x, FloatKind::F32)).to_vec();
        Expected::from_scalars(DType::Float(FloatKind::F32), &[2], numbers).unwrap()
    };
    assert!(same(&[floats(2.0 + 1e-6)], &[floats(2.0)], 1).is_ok());
    assert!(same(&[floats(2.0 + 4e-6)], &[floats(2.0)], 1).is_err());
    let integers = |x: i64| Expected::from_scalars(DType::I1, &[1], vec![Scalar::int(x, DType::I1)]).unwrap();
    assert!(same(&[integers(0)], &[integers(1)], 1000).is_err());
}

/// A kernel that reads one row beyond an input ends the process: the view says one more than there is.
#[test]
#[allow(unsafe_code)]
fn a_read_beyond_an_input_is_found() {
    use std::os::unix::process::ExitStatusExt;
    let _alone = ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    const CHILD: &str = "SUTURA_SHAPES_BEYOND";
    if std::env::var_os(CHILD).is_none() {
        let mut command = std::process::Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "a_read_beyond_an_input_is_found", "--nocapture"]).env(CHILD, "1");
        let done = command.output().unwrap();
        assert_eq!(done.status.signal(), Some(libc::SIGSEGV), "{}", String::from_utf8_lossy(&done.stdout));
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let listed = models().into_iter().find(|m| m.name == "softmax").unwrap();
    let model = load(&listed, folder.path()).model;
    let memory = Guarded::new(3 * 16 * 4, Edge::After, true);
    // SAFETY: there is none; the process is to end.
    let view = unsafe { TensorView::from_raw_parts(ElementType::F32, &[4, 16], memory.as_ptr()) }.unwrap();
    let outputs = model.run_views(&[view]);
    panic!("nothing happened: {:?}", outputs.map(|outputs| outputs.len()));
}

//! Kernels, launches, traffic and float operations of a model at given sizes, as the counting interpreter sees them:
//! with every operator a kernel of its own, and stitched.
//!
//! `cargo bench -p sutura --bench traffic -- examples/encoder/encoder.onnx batch=1 seq=128`
//!
//! A load from memory counts each time, whether or not a cache would have served it.
#![allow(clippy::print_stdout)]

use std::path::Path;
use std::process::ExitCode;

use sutura_dialects::r#dyn::attr::symbolic_shape;
use sutura_dialects::gir::interp::Counters;
use sutura_import::onnx::{OnnxModel, import};
use sutura_interp::equivalence::argument_types;
use sutura_interp::random::{Random, random_arguments};
use sutura_interp::{Interpreter, Limits};
use sutura_ir::pass::{PassRegistry, RunConfig, parse_pipeline, run_pipeline};
use sutura_ir::{Context, Diagnostics, Module, Type};

/// A machine with register tiles; what is counted does not depend on which.
const SHAPES: &str =
    "attach-target{name=x86_avx512},propagate-shapes,expand-operators,canonicalize,cse,propagate-shapes";
const TILES: &str = "convert-graph-to-gir,tensorize,fold-launches,canonicalize,cse";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    match run(&args) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(args: &[String]) -> Result<(), String> {
    let (path, sizes) = args.split_first().ok_or("give a model, and a size for each of its dims: `batch=1`")?;
    let sizes = sizes.iter().map(|arg| size(arg)).collect::<Result<Vec<_>, _>>()?;
    // Cargo runs a benchmark in its package.
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path);
    println!("{:<10} {:>8} {:>14} {:>14} {:>14}", "", "launches", "read, MB", "written, MB", "Mflop");
    for (name, stitch) in [("separate", "stitch{max-ops=1}"), ("stitched", "propagate-reshapes,stitch")] {
        let counters = count(&path, stitch, &sizes)?;
        let (dram, mega) = (counters.space("dram"), |n: u64| n as f64 / 1e6);
        let (read, written, flops) = (mega(dram.read), mega(dram.written), mega(counters.flops));
        println!("{name:<10} {:>8} {read:>14.3} {written:>14.3} {flops:>14.3}", counters.launches);
    }
    Ok(())
}

fn size(arg: &str) -> Result<(String, i64), String> {
    let (name, value) = arg.split_once('=').ok_or_else(|| format!("`{arg}` is no size: write `batch=1`"))?;
    Ok((name.to_owned(), value.parse().map_err(|e| format!("`{arg}`: {e}"))?))
}

fn count(path: &Path, stitch: &str, sizes: &[(String, i64)]) -> Result<Counters, String> {
    let cx = Context::new(sutura_dialects::all());
    let mut diags = Diagnostics::default();
    let model = OnnxModel::read(path).map_err(|e| e.to_string())?;
    let mut module = import(&cx, &model, &mut diags).map_err(|e| e.to_string())?;
    let name = main_symbol(&cx, &module)?;
    let types = argument_types(&cx, &module, &name).map_err(|e| e.to_string())?;
    let mut passes = PassRegistry::new();
    sutura_passes::register(&mut passes);
    let text = format!("builtin.module({SHAPES},func.func({stitch}),{TILES})");
    let mut manager = parse_pipeline(&cx, &passes, "benchmark", &text, &mut diags).map_err(|_| said(&diags))?;
    let (_, result) = run_pipeline(&cx, &mut module, &mut manager, &RunConfig::default(), &mut |_| ());
    result.map_err(|e| format!("{e:?}"))?;
    interpret(&cx, &module, (&name, &types), sizes)
}

/// The model's function, which a program of the same name replaces.
fn main_symbol(cx: &Context, module: &Module) -> Result<String, String> {
    let root = module.op_ref(cx);
    let ops = root.region(0).and_then(|r| r.entry()).into_iter().flat_map(|b| b.ops());
    let mut names = ops.filter(|op| op.name_str() == "func.func").filter_map(|op| op.symbol_name().map(str::to_owned));
    names.next().ok_or_else(|| "the model has no function".into())
}

fn said(diags: &Diagnostics) -> String {
    diags.iter().map(|d| d.message.as_str()).collect::<Vec<_>>().join("\n")
}

fn interpret(
    cx: &Context,
    module: &Module,
    (name, types): (&str, &[Type]),
    sizes: &[(String, i64)],
) -> Result<Counters, String> {
    let value = |symbol: &str| sizes.iter().find(|(n, _)| n == symbol).map(|(_, v)| *v);
    let dims = |cx: &Context, _: usize, ty: Type| -> Option<Vec<usize>> {
        symbolic_shape(cx, ty)?.into_iter().map(|size| usize::try_from(size?.eval(&value)?).ok()).collect()
    };
    let mut interpreter = Interpreter::new(cx, module);
    interpreter.set_limits(Limits { steps: u64::MAX, ..Limits::default() });
    let args = random_arguments(cx, types, &dims, &mut Random::new(1), interpreter.memory());
    interpreter.call(name, &args.map_err(|e| e.to_string())?).map_err(|e| e.to_string())?;
    Ok(interpreter.extension::<Counters>().clone())
}

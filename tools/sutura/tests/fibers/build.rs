//! From text to libraries for fibers.

use std::path::Path;

use sutura_dialects::rt::{KERNEL_ATTR, KernelSignature};
use sutura_grammar::{ParseOptions, parse_module};
use sutura_ir::asm::print::{PrintOptions, module_text};
use sutura_ir::pass::{Event, PassRegistry, RunConfig, parse_pipeline, run_pipeline};
use sutura_ir::{Context, Diagnostics, Module, Op, OpRef, Rewriter};
use sutura_runtime::device::{Device, Devices};

/// The device.
pub(crate) fn open() -> Device {
    Devices::find().open("cpu-fibers").unwrap()
}

/// A text of this repository.
pub(crate) fn read(path: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)).unwrap()
}

/// A source of this repository, by its path, lowered by a pipeline and made a library.
pub(crate) fn compile(path: &str, pipeline: &str) -> Vec<u8> {
    compile_text(path, &read(path), pipeline)
}

/// The same of a text.
pub(crate) fn compile_text(path: &str, text: &str, pipeline: &str) -> Vec<u8> {
    let cx = Context::new(sutura_dialects::all());
    let mut module = parse(&cx, path, text);
    run(&cx, &mut module, pipeline);
    link(&cx, &module, path)
}

/// The same of a text in gir whose programs decide what kernels there are.
pub(crate) fn compile_launched(path: &str, text: &str, [to_gpu, to_fibers]: &[String; 2]) -> Vec<u8> {
    let cx = Context::new(sutura_dialects::all());
    let mut module = parse(&cx, path, text);
    run(&cx, &mut module, to_gpu);
    keep(&cx, &mut module, &["gpu.module"]);
    run(&cx, &mut module, to_fibers);
    link(&cx, &module, path)
}

fn parse(cx: &Context, path: &str, text: &str) -> Module {
    let source = cx.sources().add(path, text.to_owned()).unwrap();
    let mut diags = Diagnostics::default();
    let parsed = parse_module(cx, &source, &ParseOptions::default(), &mut diags);
    parsed.unwrap_or_else(|_| panic!("{:?}", diags.iter().collect::<Vec<_>>()))
}

fn run(cx: &Context, module: &mut Module, pipeline: &str) {
    let mut passes = PassRegistry::new();
    sutura_passes::register(&mut passes);
    let (text, mut diags) = (format!("builtin.module({pipeline})"), Diagnostics::default());
    let mut manager = parse_pipeline(cx, &passes, "test", &text, &mut diags)
        .unwrap_or_else(|_| panic!("{:?}", diags.iter().collect::<Vec<_>>()));
    let config = RunConfig { verify_each: true, no_remarks: true, ..RunConfig::default() };
    let mut said = Vec::new();
    let (_, result) = run_pipeline(cx, module, &mut manager, &config, &mut |event| {
        if let Event::Diagnostic(diagnostic) = event {
            said.push(diagnostic.message);
        }
    });
    result.unwrap_or_else(|error| panic!("{error:?}: {said:?}"));
}

fn link(cx: &Context, module: &Module, path: &str) -> Vec<u8> {
    let text = module_text(cx, module, &PrintOptions::generic());
    let mut warnings = Vec::new();
    let object = sutura_codegen::emit_object(&text, path, &sutura_codegen::Target::host(), &mut warnings);
    let object = object.unwrap_or_else(|error| panic!("{error}"));
    assert!(warnings.is_empty(), "{warnings:?}");
    let folder = tempfile::tempdir().unwrap();
    let library = folder.path().join("kernels.so");
    sutura_codegen::link_shared(&[object], &library).unwrap();
    std::fs::read(library).unwrap()
}

/// The pipeline from gir to functions for fibers.
pub(crate) fn from_gir(threads: u32, subgroup: u32) -> [String; 2] {
    [
        format!("convert-gir-to-gpu{{threads={threads} subgroup={subgroup}}}"),
        format!("gpu.module(gpu.func(expand-math,canonicalize,cse)),convert-gpu-to-fibers{{subgroup={subgroup}}}"),
    ]
}

/// A kernel of a text in gir.
pub(crate) struct GirKernel {
    pub(crate) name: String,
    pub(crate) library: Vec<u8>,
    pub(crate) signature: KernelSignature,
    /// Bytes of an element of each buffer.
    pub(crate) element_bytes: Vec<u64>,
}

/// The kernels of a source of this repository, in gir or above it, lowered for so many threads.
pub(crate) fn gir_kernels(path: &str, to_gir: &str, threads: u32, subgroup: u32) -> Vec<GirKernel> {
    let cx = Context::new(sutura_dialects::all());
    let mut module = parse(&cx, path, &read(path));
    run(&cx, &mut module, to_gir);
    // Host programs, which launch kernels by name, are not for this.
    keep(&cx, &mut module, &["gir.kernel", "target.machine"]);
    let [to_gpu, to_fibers] = from_gir(threads, subgroup);
    run(&cx, &mut module, &to_gpu);
    keep(&cx, &mut module, &["gpu.module"]);
    let mut kernels = Vec::new();
    for op in tops(&module) {
        let entry = OpRef::new(&cx, module.body(), op).region(0).and_then(|region| region.entry()).unwrap();
        for func in entry.ops().filter(|op| op.name_str() == "gpu.func") {
            let signature = KernelSignature::of_attr(&cx, func.attr(KERNEL_ATTR).unwrap()).unwrap();
            let bytes = |ty| u64::from(cx.bit_width(ty).unwrap().div_ceil(8));
            let element_bytes = signature.params.iter().map(|param| bytes(param.ty.elem)).collect();
            kernels.push((func.symbol_name().unwrap().to_owned(), signature, element_bytes));
        }
    }
    run(&cx, &mut module, &to_fibers);
    let library = link(&cx, &module, path);
    let kernel =
        |(name, signature, element_bytes)| GirKernel { name, library: library.clone(), signature, element_bytes };
    kernels.into_iter().map(kernel).collect()
}

fn tops(module: &Module) -> Vec<Op> {
    let body = module.body();
    body.entry_block().into_iter().flat_map(|block| body.ops(block)).collect()
}

/// Erases everything else from the top of a module.
fn keep(cx: &Context, module: &mut Module, names: &[&str]) {
    for op in tops(module) {
        if !names.contains(&OpRef::new(cx, module.body(), op).name_str()) {
            Rewriter::new(cx, module.body_mut()).erase_op(op);
        }
    }
}
